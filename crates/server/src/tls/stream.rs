//! An encrypted connection over a socket.
//!
//! A read from the socket may contain several records, or a part of one. Decrypted bytes are
//! returned first, and only then the socket is read, so a session never waits for the socket while
//! a complete message is here. A write encrypts all of a flush, and sends it by one call.

use rustls::ServerConnection;
use session::{ClientOutput, Encryption, Transport};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use sync::Mutex;

/// Size of the buffer for encrypted input: a complete record with its header.
const INCOMING_BYTES: usize = 18 << 10;
/// Maximum number of bytes that are encrypted before they are sent.
const OUTGOING_BYTES_MAX: usize = 64 << 10;

/// The state of a connection, and the buffers between it and the socket. The state has a lock,
/// because another thread reports a crash of the server; it is never held over a system call.
pub(super) struct Channel {
    tls: Arc<Mutex<ServerConnection>>,
    incoming: Box<[u8]>,
    /// The part of `incoming` that is not decrypted yet.
    pending: std::ops::Range<usize>,
    /// Encrypted bytes; those before `sent` are sent.
    outgoing: Vec<u8>,
    sent: usize,
}

impl Channel {
    pub(super) fn new(mut connection: ServerConnection) -> Channel {
        // The limit is that of the caller, who passes at most `OUTGOING_BYTES_MAX`.
        connection.set_buffer_limit(None);
        Channel {
            tls: Arc::new(Mutex::new(connection)),
            incoming: vec![0; INCOMING_BYTES].into(),
            pending: 0..0,
            outgoing: Vec::new(),
            sent: 0,
        }
    }

    pub(super) fn connection(&self) -> sync::MutexGuard<'_, ServerConnection> {
        self.tls.lock()
    }

    /// Reads from the socket. All earlier bytes must have been decrypted.
    pub(super) fn receive(&mut self, socket: &mut dyn Transport) -> io::Result<usize> {
        let len = socket.read(&mut self.incoming)?;
        self.pending = 0..len;
        Ok(len)
    }

    /// Processes received bytes until there are decrypted ones, or none is left.
    pub(super) fn decrypt(&mut self) -> Result<(), rustls::Error> {
        let mut tls = self.tls.lock();
        while !self.pending.is_empty() {
            let mut bytes = &self.incoming[self.pending.clone()];
            let len =
                tls.read_tls(&mut bytes).map_err(|e| rustls::Error::General(e.to_string()))?;
            self.pending.start += len;
            let state = tls.process_new_packets()?;
            if len == 0 || state.plaintext_bytes_to_read() > 0 || state.peer_has_closed() {
                break;
            }
        }
        Ok(())
    }

    /// Encrypts bytes; they are sent by [`Channel::send`].
    fn encrypt(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tls.lock().writer().write(bytes)
    }

    /// Sends everything that is encrypted. After `WouldBlock` the next call continues.
    pub(super) fn send(&mut self, socket: &mut dyn Transport) -> io::Result<()> {
        {
            let mut tls = self.tls.lock();
            while tls.wants_write() {
                tls.write_tls(&mut self.outgoing)?;
            }
        }
        while self.sent < self.outgoing.len() {
            match socket.write(&self.outgoing[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => self.sent += len,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.outgoing.clear();
        self.outgoing.shrink_to(OUTGOING_BYTES_MAX + INCOMING_BYTES);
        self.sent = 0;
        Ok(())
    }
}

/// An encrypted connection as the transport of a session.
pub(super) struct TlsStream {
    socket: Box<dyn Transport>,
    channel: Channel,
    encryption: Arc<Encryption>,
    /// Number of bytes of the present `write` that are encrypted, but not sent completely.
    accepted: usize,
}

impl TlsStream {
    pub(super) fn new(
        socket: Box<dyn Transport>,
        channel: Channel,
        encryption: Encryption,
    ) -> TlsStream {
        TlsStream { socket, channel, encryption: Arc::new(encryption), accepted: 0 }
    }
}

impl Transport for TlsStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let decrypted = self.channel.tls.lock().reader().read(buf);
            match decrypted {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                // The client closed the socket without a message of its TLS library.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                done => return done,
            }
            if self.channel.pending.is_empty() && self.channel.receive(&mut *self.socket)? == 0 {
                return Ok(0);
            }
            let decrypted = self.channel.decrypt();
            // A reply, such as the update of a key, or an alert.
            if self.channel.connection().wants_write() {
                let sent = self.channel.send(&mut *self.socket);
                sent.or_else(|e| if super::is_timeout(&e) { Ok(()) } else { Err(e) })?;
            }
            decrypted.map_err(|e| io::Error::new(io::ErrorKind::ConnectionReset, e))?;
        }
    }

    /// After `WouldBlock` the caller must pass the same bytes again, as `Connection` does: some of
    /// them may be encrypted already.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.accepted == 0 {
            let part = &bytes[..bytes.len().min(OUTGOING_BYTES_MAX)];
            self.accepted = self.channel.encrypt(part)?;
        }
        self.channel.send(&mut *self.socket)?;
        Ok(std::mem::take(&mut self.accepted))
    }

    fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(timeout)
    }

    fn set_spin(&mut self, span: Duration) {
        self.socket.set_spin(span);
    }

    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync> {
        self.socket.hangup()
    }

    fn client_output(&self) -> Option<ClientOutput> {
        let (socket, tls) = (self.socket.client_output()?, self.channel.tls.clone());
        Some(Arc::new(move |bytes| {
            let mut tls = tls.try_lock().ok_or(io::ErrorKind::WouldBlock)?;
            tls.writer().write_all(bytes)?;
            let mut encrypted = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut encrypted)?;
            }
            socket(&encrypted).map(|_| bytes.len())
        }))
    }

    fn peer(&self) -> Option<(IpAddr, u16)> {
        self.socket.peer()
    }

    fn local(&self) -> Option<(IpAddr, u16)> {
        self.socket.local()
    }

    fn encryption(&self) -> Option<Arc<Encryption>> {
        Some(self.encryption.clone())
    }

    fn peer_user(&self) -> Option<String> {
        self.socket.peer_user()
    }

    fn shut_down_writing(&mut self) {
        self.socket.shut_down_writing();
    }
}

impl Drop for TlsStream {
    /// Tells the client that the connection ends here, and not by an interruption.
    fn drop(&mut self) {
        if self.accepted == 0 {
            self.channel.connection().send_close_notify();
            let _ = self.channel.send(&mut *self.socket);
        }
        // Nothing unencrypted may follow, such as the report of a panic.
        self.socket.shut_down_writing();
    }
}
