//! A client connection: reads messages and buffers replies. Replies are sent when the protocol
//! requires it or when the buffer is large.

use crate::transport::{NoClient, TlsAcceptor, Transport};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::wait::{Interrupt, WaitEvent, Waiter};
use types::settings::TextEncoder;
use wire::{Frame, Inbox, backend};

/// Replies beyond this size are sent before the end of the statement.
const FLUSH_BYTES: usize = 32 * 1024;
/// Maximum length of a message before authentication, which limits the memory that such a client
/// can use.
const LOGIN_BYTES_MAX: usize = 65_536;
/// An empty reply buffer with a larger capacity is freed.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// A client connection.
pub struct Connection {
    pub transport: Box<dyn Transport>,
    /// Replies are buffered without a size limit.
    pub buffers_all: bool,
    /// Message boundaries are lost after an error within a message, so the connection must be
    /// closed.
    pub lost_sync: bool,
    pub inbox: Inbox,
    /// Messages not yet sent.
    pub out: Vec<u8>,
    /// Converts texts for the client; `None` if they are sent as they are.
    pub encoder: Option<Arc<dyn TextEncoder>>,
    timeout: Option<Duration>,
    /// Deadline for waiting for the client.
    deadline: Option<Instant>,
    /// A request to terminate that arrives at this waiter ends a blocked write.
    pub waiter: Option<Arc<Waiter>>,
    lost: bool,
    /// Number of times that `out` was sent or discarded.
    flushes: u64,
    /// Type and error of a message that is being discarded.
    refused: Option<(u8, PgError)>,
}

/// A position in the reply buffer, for [`Connection::discard_since`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    flushes: u64,
    len: usize,
}

/// The result of waiting for a message.
pub enum Received {
    Frame(Frame),
    /// The connection was closed, by the client or by the server.
    End,
    TimedOut,
    /// A message of this type was too large for the available memory; it has been discarded.
    Refused(u8, PgError),
}

impl Connection {
    pub fn new(transport: Box<dyn Transport>) -> Connection {
        Connection {
            transport,
            buffers_all: false,
            lost_sync: false,
            inbox: Inbox::new(),
            out: Vec::new(),
            encoder: None,
            timeout: None,
            deadline: None,
            waiter: None,
            lost: false,
            flushes: 0,
            refused: None,
        }
    }

    pub fn mark(&self) -> Mark {
        Mark { flushes: self.flushes, len: self.out.len() }
    }

    /// Discards the replies after the mark, unless some have been sent.
    pub fn discard_since(&mut self, mark: Mark) {
        if self.flushes == mark.flushes {
            self.out.truncate(mark.len);
        }
    }

    /// Replaces the transport by an encrypted one. On an error the connection is closed.
    pub fn encrypt(&mut self, acceptor: &dyn TlsAcceptor) -> Result<()> {
        let plain = std::mem::replace(&mut self.transport, Box::new(NoClient));
        self.transport = acceptor.accept(plain, self.deadline)?;
        // The handshake has set timeouts of its own.
        self.timeout = self.deadline.map(|_| Duration::MAX);
        Ok(())
    }

    /// Waits for bytes; false at the end.
    pub fn fill(&mut self) -> io::Result<bool> {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.set_timeout(Some(left));
        }
        let transport = &mut self.transport;
        loop {
            match self.inbox.fill(|buf| transport.read(buf)) {
                Ok(n) => return Ok(n > 0),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Sets the timeout for the next message.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        if self.timeout != timeout && self.transport.set_read_timeout(timeout).is_ok() {
            self.timeout = timeout;
        }
    }

    /// Sets the deadline for all further messages, `None` for no deadline.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
        if deadline.is_none() {
            self.set_timeout(None);
        }
    }

    /// The next message.
    pub fn receive(&mut self) -> Result<Received> {
        loop {
            if !self.inbox.is_skipping() {
                if let Some((kind, error)) = self.refused.take() {
                    return Ok(Received::Refused(kind, error));
                }
                if let Some(frame) = self.inbox.next_frame()? {
                    return Ok(Received::Frame(frame));
                }
                self.admit_message()?;
            }
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return Ok(Received::End),
                Err(e)
                    if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
                {
                    return Ok(Received::TimedOut);
                }
                Err(_) => return Ok(Received::End),
            }
        }
    }

    /// Admits a large, partly received message if there is enough memory. If not, it is skipped to
    /// its end, so that message boundaries are kept.
    fn admit_message(&mut self) -> Result<()> {
        let Some((kind, length)) = self.inbox.incomplete() else { return Ok(()) };
        if self.deadline.is_some() && length > LOGIN_BYTES_MAX {
            let message = format!("expected password response, got message type {kind}");
            return Err(wire::violation(message));
        }
        // The received part is in memory already.
        if let Err(error) = types::memory::admit(length - self.inbox.pending().len()) {
            self.refused = Some((kind, error));
            self.inbox.skip(length);
        }
        Ok(())
    }

    pub fn body(&self, frame: Frame) -> &[u8] {
        self.inbox.body(frame)
    }

    /// Sends the buffered replies.
    pub fn flush(&mut self) -> Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let mut out = std::mem::take(&mut self.out);
        if let Some(encoder) = &self.encoder {
            out = wire::recode::for_client(&out, &mut |text| {
                let mut encoded = Vec::with_capacity(text.len());
                encoder.encode_lossy(text, &mut encoded);
                encoded
            });
        }
        let sent = self.send(&out);
        self.flushes += 1;
        out.clear();
        if out.capacity() <= KEPT_BYTES_MAX {
            self.out = out;
        }
        sent
    }

    /// Notes that other code has sent replies.
    pub fn note_flush(&mut self) {
        self.flushes += 1;
    }

    /// Sends a CopyData message. A long row is sent from its own memory, without a copy of it.
    pub fn copy_data(&mut self, row: &[u8]) -> Result<()> {
        if row.len() < FLUSH_BYTES || self.buffers_all {
            types::memory::reserve(&mut self.out, row.len() + 5)?;
            backend::copy_data(&mut self.out, row);
            return self.flush_if_large();
        }
        backend::copy_data_header(&mut self.out, row.len());
        self.flush()?;
        self.send(row)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if self.lost {
            return Ok(());
        }
        self.write_all(bytes).map_err(|_| {
            self.lost = true;
            pg_err!(CONNECTION_FAILURE, "connection to client lost").severity(Severity::Fatal)
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let waiter = self.waiter.clone();
        let _shown = waiter.as_deref().map(|w| w.waiting(WaitEvent::ClientWrite));
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.transport.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    // A session that must terminate does not wait for a client that does not read.
                    if waiter.as_deref().is_some_and(|w| w.peek().contains(Interrupt::Terminate)) {
                        return Err(e);
                    }
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Sends the buffered replies if there are many.
    #[inline]
    pub fn flush_if_large(&mut self) -> Result<()> {
        if self.out.len() >= FLUSH_BYTES && !self.buffers_all { self.flush() } else { Ok(()) }
    }

    /// True if the connection to the client is lost.
    pub fn is_lost(&self) -> bool {
        self.lost
    }
}

/// The error for a client that closed the connection within a transaction or message.
pub fn unexpected_end() -> PgError {
    PgError::new(
        SqlState::CONNECTION_FAILURE,
        "unexpected EOF on client connection with an open transaction",
    )
    .severity(Severity::Fatal)
}
