//! The way to a client. `server` makes one of a socket, tests of a pipe.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// See [`Transport::outlet`].
pub type Outlet = Arc<dyn Fn(&[u8]) -> io::Result<usize> + Send + Sync>;

/// Addresses of a TCP connection; none for a Unix-domain socket.
#[derive(Clone, Copy, Default)]
pub struct Ends {
    /// The client's.
    pub peer: Option<(IpAddr, u16)>,
    /// The one at this end that the client came to.
    pub local: Option<(IpAddr, u16)>,
}

/// A connected byte stream in both directions.
pub trait Transport: Send {
    /// Waits for bytes. 0 is the end; `WouldBlock` or `TimedOut` that the time set has passed.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;
    /// Sends some of the bytes. `WouldBlock` now and then while the client takes none.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// How long `read` waits; `None` for ever.
    fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()>;
    /// How long `read` looks for bytes before it sleeps, if it sees fit.
    fn set_spin(&mut self, _span: Duration) {}
    /// What makes a waiting `read` return 0, from any thread.
    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync>;
    /// What writes to the client from any thread while nothing else does; `None` where there is no
    /// such way.
    fn outlet(&self) -> Option<Outlet> {
        None
    }
    /// Who is at the other end; `None` for a Unix-domain socket.
    fn peer(&self) -> Option<(IpAddr, u16)>;
    /// The address at this end that the client came to; `None` for a Unix-domain socket.
    fn local(&self) -> Option<(IpAddr, u16)> {
        None
    }
    /// Version, cipher and key bits of an encrypted connection.
    fn encryption(&self) -> Option<(&'static str, &'static str, u16)> {
        None
    }
    /// The operating system's user at the other end of a Unix-domain socket.
    fn peer_user(&self) -> Option<String> {
        None
    }
}
