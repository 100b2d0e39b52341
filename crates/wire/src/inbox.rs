//! Bytes received and not yet used, cut into frames: a type byte, a length that counts itself, a
//! body.

use crate::violation;
use pgerror::{Result, Severity};

/// Longest message of the kinds that carry data. Counterpart: `PQ_LARGE_MESSAGE_LIMIT`.
const LARGE_BYTES_MAX: usize = 0x3fff_ffff;
/// Longest message of the other kinds. Counterpart: `PQ_SMALL_MESSAGE_LIMIT`.
const SMALL_BYTES_MAX: usize = 10_000;
/// A buffer beyond this is given back when it is empty, so that an idle session stays small.
const KEPT_BYTES_MAX: usize = 16 * 1024;
/// Read this much at a time.
const READ_BYTES: usize = 8 * 1024;

/// Where a message lies in the inbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    pub kind: u8,
    start: usize,
    end: usize,
}

/// See the module's text.
#[derive(Default)]
pub struct Inbox {
    data: Vec<u8>,
    /// Bytes of `data` that have come.
    filled: usize,
    /// Bytes of `data` that are used up.
    used: usize,
    /// Bytes that are dropped as they come: the rest of a message that nobody will read.
    skipping: usize,
}

impl Inbox {
    pub fn new() -> Inbox {
        Inbox::default()
    }

    /// Reads more by `read`, which fills a part of the buffer it is given. Returns what it
    /// returned.
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

    /// Kind and length in bytes of the message at the front, of which a part has come. `next_frame`
    /// has found its length valid.
    pub fn incomplete(&self) -> Option<(u8, usize)> {
        let pending = self.pending();
        let len = u32::from_be_bytes(*pending.get(1..)?.first_chunk::<4>()?) as usize;
        Some((*pending.first()?, 1 + len))
    }

    /// Drops the next `bytes` bytes, whether they have come or not.
    pub fn skip(&mut self, bytes: usize) {
        self.skipping += bytes;
        self.drop_skipped();
    }

    /// Are there bytes to come that are dropped?
    pub fn is_skipping(&self) -> bool {
        self.skipping > 0
    }

    /// Bytes that have come and are not used.
    pub fn pending(&self) -> &[u8] {
        &self.data[self.used..self.filled]
    }

    /// Marks bytes at the front as used.
    pub fn consume(&mut self, bytes: usize) {
        self.used = (self.used + bytes).min(self.filled);
    }

    /// The next message, if all of it has come. It stays readable until the next `fill`.
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
