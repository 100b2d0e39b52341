//! The transport between session and client. `server` implements it over sockets, tests over pipes.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// A function that writes to the client from any thread; see [`Transport::client_output`].
pub type ClientOutput = Arc<dyn Fn(&[u8]) -> io::Result<usize> + Send + Sync>;

/// The addresses of a TCP connection; `None` for a Unix-domain socket.
#[derive(Clone, Copy, Default)]
pub struct Addresses {
    /// The address of the client.
    pub peer: Option<(IpAddr, u16)>,
    /// The local address.
    pub local: Option<(IpAddr, u16)>,
}

/// A connected byte stream in both directions.
pub trait Transport: Send {
    /// Waits for bytes. 0 means the end of the stream, `WouldBlock` or `TimedOut` that the timeout
    /// has passed.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;
    /// Sends some of the bytes. Returns `WouldBlock` at intervals while the client does not read.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Sets the timeout of `read`; `None` for no timeout.
    fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()>;
    /// Sets the time for which `read` may poll for bytes before it sleeps.
    fn set_spin(&mut self, _span: Duration) {}
    /// A function, callable from any thread, that makes a waiting `read` return 0.
    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync>;
    /// A function that writes to the client, callable from any thread while no other code writes;
    /// `None` if the transport has none.
    fn client_output(&self) -> Option<ClientOutput> {
        None
    }
    /// The address of the client; `None` for a Unix-domain socket.
    fn peer(&self) -> Option<(IpAddr, u16)>;
    /// The local address; `None` for a Unix-domain socket.
    fn local(&self) -> Option<(IpAddr, u16)> {
        None
    }
    /// Version, cipher and key bits of an encrypted connection.
    fn encryption(&self) -> Option<(&'static str, &'static str, u16)> {
        None
    }
    /// The operating system user of the client, for a Unix-domain socket.
    fn peer_user(&self) -> Option<String> {
        None
    }
}

/// The way to the client while a statement runs, for notices.
pub struct EarlyOutput {
    write: ClientOutput,
    /// What is to be sent first: earlier replies, and what the client has not accepted.
    pub pending: Vec<u8>,
    /// Some bytes have been sent.
    pub has_sent: bool,
}

impl EarlyOutput {
    pub fn new(write: ClientOutput, pending: Vec<u8>) -> EarlyOutput {
        EarlyOutput { write, pending, has_sent: false }
    }

    /// Sends what the client accepts now; the rest stays pending.
    pub fn send(&mut self) {
        while !self.pending.is_empty() {
            match (self.write)(&self.pending) {
                Ok(sent) if sent > 0 => {
                    self.pending.drain(..sent);
                    self.has_sent = true;
                }
                _ => break,
            }
        }
    }
}
