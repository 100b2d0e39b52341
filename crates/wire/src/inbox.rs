//! The receive buffer, split into frames: a type byte, a length that includes itself, a body.
//!
//! Counterpart: pqcomm.c.

use crate::violation;
use pgerror::{Result, Severity};

/// Maximum length of messages that carry data. Counterpart: `PQ_LARGE_MESSAGE_LIMIT`.
const LARGE_BYTES_MAX: usize = 0x3fff_ffff;
/// Maximum length of other messages. Counterpart: `PQ_SMALL_MESSAGE_LIMIT`.
const SMALL_BYTES_MAX: usize = 10_000;
/// A larger buffer is freed when it is empty, so that idle sessions use little memory.
const KEPT_BYTES_MAX: usize = 16 * 1024;
/// Minimum free space for a read in bytes.
const READ_BYTES: usize = 8 * 1024;

/// The location of a message in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    pub kind: u8,
    start: usize,
    end: usize,
}

/// Received bytes that are not yet consumed.
#[derive(Default)]
pub struct Inbox {
    data: Vec<u8>,
    /// Number of received bytes in `data`.
    filled: usize,
    /// Number of consumed bytes in `data`.
    used: usize,
    /// Number of bytes to discard: the rest of a message that is skipped.
    skipping: usize,
}

impl Inbox {
    pub fn new() -> Inbox {
        Inbox::default()
    }

    /// Reads more data with `read`, which fills a part of the given buffer and returns the byte
    /// count. Returns that count.
    pub fn fill<E>(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        if self.used == self.filled {
            self.used = 0;
            self.filled = 0;
            if self.data.len() > KEPT_BYTES_MAX {
                self.data = Vec::new();
            }
        } else if self.used > 0 && self.data.len() - self.filled < READ_BYTES {
            self.data.copy_within(self.used..self.filled, 0);
            self.filled -= self.used;
            self.used = 0;
        }
        if self.data.len() - self.filled < READ_BYTES {
            // Doubling keeps the cost of a long message linear.
            let size = (self.data.len() * 2).max(self.filled + READ_BYTES);
            self.data.resize(size, 0);
        }
        let n = read(&mut self.data[self.filled..])?;
        self.filled += n;
        self.drop_skipped();
        Ok(n)
    }

    fn drop_skipped(&mut self) {
        let dropped = self.skipping.min(self.filled - self.used);
        self.used += dropped;
        self.skipping -= dropped;
    }

    /// Type and total length in bytes of the partly received message at the front. `next_frame` has
    /// validated its length.
    pub fn incomplete(&self) -> Option<(u8, usize)> {
        let pending = self.pending();
        let len = u32::from_be_bytes(*pending.get(1..)?.first_chunk::<4>()?) as usize;
        Some((*pending.first()?, 1 + len))
    }

    /// Discards the next `bytes` bytes, received or not.
    pub fn skip(&mut self, bytes: usize) {
        self.skipping += bytes;
        self.drop_skipped();
    }

    /// True if bytes that are still to be received are discarded.
    pub fn is_skipping(&self) -> bool {
        self.skipping > 0
    }

    /// Received bytes that are not consumed.
    pub fn pending(&self) -> &[u8] {
        &self.data[self.used..self.filled]
    }

    /// Marks bytes at the front as consumed.
    pub fn consume(&mut self, bytes: usize) {
        self.used = (self.used + bytes).min(self.filled);
    }

    /// The next message, if it is complete. Its body stays valid until the next `fill`.
    pub fn next_frame(&mut self) -> Result<Option<Frame>> {
        let pending = self.pending();
        let Some(&kind) = pending.first() else { return Ok(None) };
        let limit = match kind {
            b'Q' | b'P' | b'B' | b'F' | b'd' => LARGE_BYTES_MAX,
            b'p' => 65_535,
            b'C' | b'D' | b'E' | b'H' | b'S' | b'X' | b'c' | b'f' => SMALL_BYTES_MAX,
            _ => return Err(violation(format!("invalid frontend message type {kind}"))),
        };
        let Some(&len) = pending.get(1..).and_then(|b| b.first_chunk::<4>()) else {
            return Ok(None);
        };
        let len = u32::from_be_bytes(len) as usize;
        if !(4..=limit).contains(&len) {
            return Err(violation("invalid message length").severity(Severity::Log));
        }
        if pending.len() < 1 + len {
            return Ok(None);
        }
        let frame = Frame { kind, start: self.used + 5, end: self.used + 1 + len };
        self.used = frame.end;
        Ok(Some(frame))
    }

    pub fn body(&self, frame: Frame) -> &[u8] {
        &self.data[frame.start..frame.end]
    }
}
