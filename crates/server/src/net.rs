//! Sockets as transports of sessions.

use session::{ClientOutput, Transport};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// Time for which a write blocks before the session checks whether it was asked to end.
const WRITE_SPAN: Duration = Duration::from_millis(500);

/// A connected socket of either kind, shared with threads that may shut it down.
#[derive(Clone)]
pub(crate) enum Stream {
    Tcp(Arc<TcpStream>),
    Unix(Arc<UnixStream>),
}

impl Stream {
    pub(crate) fn tcp(stream: TcpStream) -> Stream {
        // Messages are sent completely, so Nagle's algorithm would only add delay.
        let _ = stream.set_nodelay(true);
        let _ = stream.set_write_timeout(Some(WRITE_SPAN));
        Stream::Tcp(Arc::new(stream))
    }

    pub(crate) fn unix(stream: UnixStream) -> Stream {
        let _ = stream.set_write_timeout(Some(WRITE_SPAN));
        Stream::Unix(Arc::new(stream))
    }

    /// Reads available bytes; `WouldBlock` if there are none.
    pub(crate) fn read_now(&self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => vfs::process::receive_now(&**s, buf),
            Stream::Unix(s) => vfs::process::receive_now(&**s, buf),
        }
    }

    fn shutdown_reading(&self) {
        let _ = match self {
            Stream::Tcp(s) => s.shutdown(Shutdown::Read),
            Stream::Unix(s) => s.shutdown(Shutdown::Read),
        };
    }
}

impl Transport for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => (&**s).read(buf),
            Stream::Unix(s) => (&**s).read(buf),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(s) => (&**s).write(bytes),
            Stream::Unix(s) => (&**s).write(bytes),
        }
    }

    fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.set_read_timeout(timeout),
            Stream::Unix(s) => s.set_read_timeout(timeout),
        }
    }

    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync> {
        let stream = self.clone();
        Arc::new(move || stream.shutdown_reading())
    }

    fn client_output(&self) -> Option<ClientOutput> {
        let stream = self.clone();
        Some(Arc::new(move |bytes| stream.clone().write(bytes)))
    }

    fn peer(&self) -> Option<(IpAddr, u16)> {
        match self {
            Stream::Tcp(s) => s.peer_addr().ok().map(|a| (a.ip().to_canonical(), a.port())),
            Stream::Unix(_) => None,
        }
    }

    fn local(&self) -> Option<(IpAddr, u16)> {
        match self {
            Stream::Tcp(s) => s.local_addr().ok().map(|a| (a.ip().to_canonical(), a.port())),
            Stream::Unix(_) => None,
        }
    }

    fn shut_down_writing(&mut self) {
        let _ = match self {
            Stream::Tcp(s) => s.shutdown(Shutdown::Write),
            Stream::Unix(s) => s.shutdown(Shutdown::Write),
        };
    }

    fn peer_user(&self) -> Option<String> {
        match self {
            Stream::Tcp(_) => None,
            Stream::Unix(s) => crate::user::name_of(vfs::process::socket_peer(&**s).ok()?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn both_ends_of_a_connection_have_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let stream = Stream::tcp(listener.accept().unwrap().0);
        let ends = [client.local_addr(), client.peer_addr()].map(Result::unwrap);
        let found = [stream.peer(), stream.local()].map(Option::unwrap);
        assert_eq!(found, ends.map(|end| (end.ip(), end.port())));
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(Stream::unix(one).local(), None);
    }
}
