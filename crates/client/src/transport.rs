//! The transport between session and client. `server` implements it over sockets, tests over pipes.

use pgerror::Result;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

/// The properties of an encrypted connection.
#[derive(Debug)]
pub struct Encryption {
    /// The version of the protocol, as in `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite, under OpenSSL's name.
    pub cipher: &'static str,
    /// Length of the key in bits.
    pub bits: u16,
    /// Hash of the server's certificate for channel binding; `None` if it has none.
    pub binding: Option<Arc<[u8]>>,
    /// Certificates of clients are requested and verified.
    pub verifies_clients: bool,
    /// The verified certificate of the client, if it sent one.
    pub client: Option<ClientCertificate>,
}

/// What is shown and compared of a client's certificate.
#[derive(Debug)]
pub struct ClientCertificate {
    /// The first common name of the subject.
    pub common_name: Option<String>,
    /// The name of the subject in the form of RFC 2253.
    pub distinguished_name: String,
    /// Subject, issuer and serial number as in `pg_stat_ssl`.
    pub subject: String,
    pub issuer: String,
    pub serial: String,
}

/// Encrypts connections. The server implements it; a reload of the configuration replaces it.
pub trait TlsAcceptor: Send + Sync {
    /// Performs the handshake as the server, and returns the encrypted connection. An error is for
    /// the log only, because the client has been informed or is gone.
    fn accept(
        &self,
        transport: Box<dyn Transport>,
        deadline: Option<Instant>,
    ) -> Result<Box<dyn Transport>>;
}

/// A transport without a client.
pub struct NoClient;

impl Transport for NoClient {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }
    fn set_read_timeout(&mut self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }
    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync> {
        Arc::new(|| {})
    }
    fn peer(&self) -> Option<(IpAddr, u16)> {
        None
    }
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
    /// The properties of an encrypted connection.
    fn encryption(&self) -> Option<Arc<Encryption>> {
        None
    }
    /// Ends the stream to the client.
    fn shut_down_writing(&mut self) {}
    /// The operating system user of the client, for a Unix-domain socket.
    fn peer_user(&self) -> Option<String> {
        None
    }
}

/// The way to the client while a statement runs, for notices. Between these parts of statements it
/// is closed, and nothing is pending.
pub struct EarlyOutput {
    write: ClientOutput,
    /// Notices may be sent.
    pub is_open: bool,
    /// What is to be sent first: earlier replies, and what the client has not accepted.
    pub pending: Vec<u8>,
    /// Some bytes have been sent.
    pub has_sent: bool,
}

/// Number of bytes that may be pending while the client does not read.
const PENDING_BYTES_MAX: usize = 1 << 20;

/// Time between two attempts to send to a client that does not read.
pub const SEND_INTERVAL: Duration = Duration::from_millis(1);

impl EarlyOutput {
    /// A way that is closed.
    pub fn new(write: ClientOutput) -> EarlyOutput {
        EarlyOutput { write, is_open: false, pending: Vec::new(), has_sent: false }
    }

    /// Sends what the client accepts now; the rest stays pending. True if so much of it is pending
    /// that the statement is to wait for the client.
    pub fn send(&mut self) -> bool {
        let mut sent = 0;
        let blocked = loop {
            let rest = &self.pending[sent..];
            if rest.is_empty() {
                break false;
            }
            match (self.write)(rest) {
                Ok(0) => break true,
                Ok(count) => sent += count,
                Err(e) => break e.kind() == io::ErrorKind::WouldBlock,
            }
        };
        self.has_sent |= sent > 0;
        self.pending.drain(..sent);
        blocked && self.pending.len() > PENDING_BYTES_MAX
    }
}
