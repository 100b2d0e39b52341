//! A client's connection: messages in, messages out. Answers are collected and sent when the
//! protocol says so or when there are many.

use crate::transport::Transport;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::wait::{Interrupt, WaitEvent, Waiter};
use wire::{Frame, Inbox};

/// Answers beyond this are sent without waiting for the end of the statement.
const FLUSH_BYTES: usize = 32 * 1024;
/// Longest message of a client that has not logged in: no memory is held for strangers.
const LOGIN_BYTES_MAX: usize = 65_536;
/// A buffer of answers beyond this is given back when it is empty.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// See the module's text.
pub struct Connection {
    pub(crate) transport: Box<dyn Transport>,
    /// Answers are only collected, however many there are.
    pub(crate) held: bool,
    /// An error has come in the middle of a message: nobody knows where the next one begins.
    pub(crate) out_of_step: bool,
    pub(crate) inbox: Inbox,
    /// Messages not yet sent.
    pub out: Vec<u8>,
    timeout: Option<Duration>,
    /// When waiting for the client ends, whatever it has sent.
    deadline: Option<Instant>,
    /// Whose request to terminate ends waiting for a client that reads nothing.
    pub(crate) waiter: Option<Arc<Waiter>>,
    lost: bool,
    /// How often `out` has been emptied.
    flushes: u64,
    /// Kind and error of a message that is being dropped.
    refused: Option<(u8, PgError)>,
}

/// A place in the answers: [`Connection::take_back`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    flushes: u64,
    len: usize,
}

/// What waiting for a message brought.
pub enum Received {
    Frame(Frame),
    /// The client has closed the connection, or somebody hung up.
    End,
    TimedOut,
    /// A message of this kind was too large for the memory that is left; it has been dropped.
    Refused(u8, PgError),
}

impl Connection {
    pub fn new(transport: Box<dyn Transport>) -> Connection {
        Connection {
            transport,
            held: false,
            out_of_step: false,
            inbox: Inbox::new(),
            out: Vec::new(),
            timeout: None,
            deadline: None,
            waiter: None,
            lost: false,
            flushes: 0,
            refused: None,
        }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { flushes: self.flushes, len: self.out.len() }
    }

    /// Forgets the answers since then, unless some have been sent.
    pub(crate) fn take_back(&mut self, mark: Mark) {
        if self.flushes == mark.flushes {
            self.out.truncate(mark.len);
        }
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

    /// How long to wait for the next message.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        if self.timeout != timeout && self.transport.set_read_timeout(timeout).is_ok() {
            self.timeout = timeout;
        }
    }

    /// Until when the client must have come up with what it has to say.
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

    /// A large message of which a part has come is received if there is room for it. If not, it is
    /// dropped to the end, so that the connection stays in step.
    fn admit_message(&mut self) -> Result<()> {
        let Some((kind, length)) = self.inbox.incomplete() else { return Ok(()) };
        if self.deadline.is_some() && length > LOGIN_BYTES_MAX {
            let message = format!("expected password response, got message type {kind}");
            return Err(wire::violation(message));
        }
        // What has come is held already.
        if let Err(error) = types::memory::admit(length - self.inbox.pending().len()) {
            self.refused = Some((kind, error));
            self.inbox.skip(length);
        }
        Ok(())
    }

    pub fn body(&self, frame: Frame) -> &[u8] {
        self.inbox.body(frame)
    }

    /// Sends what has been collected.
    pub fn flush(&mut self) -> Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let sent = if self.lost { Ok(()) } else { self.send() };
        self.flushes += 1;
        self.out.clear();
        if self.out.capacity() > KEPT_BYTES_MAX {
            self.out = Vec::new();
        }
        sent.map_err(|_| {
            self.lost = true;
            pg_err!(CONNECTION_FAILURE, "connection to client lost").severity(Severity::Fatal)
        })
    }

    fn send(&mut self) -> io::Result<()> {
        let waiter = self.waiter.clone();
        let _shown = waiter.as_deref().map(|w| w.waiting(WaitEvent::ClientWrite));
        let mut rest = &self.out[..];
        while !rest.is_empty() {
            match self.transport.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    // Who is to end does not wait for a client that does not listen.
                    if waiter.as_deref().is_some_and(|w| w.peek().contains(Interrupt::Terminate)) {
                        return Err(e);
                    }
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Sends if there is much to send.
    #[inline]
    pub fn flush_if_large(&mut self) -> Result<()> {
        if self.out.len() >= FLUSH_BYTES && !self.held { self.flush() } else { Ok(()) }
    }

    /// Is nobody there any more?
    pub fn is_lost(&self) -> bool {
        self.lost
    }
}

/// 08P01: the client broke off in the middle.
pub(crate) fn unexpected_end() -> PgError {
    PgError::new(
        SqlState::CONNECTION_FAILURE,
        "unexpected EOF on client connection with an open transaction",
    )
    .severity(Severity::Fatal)
}
