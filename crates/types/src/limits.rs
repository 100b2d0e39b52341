//! How large a value may become, and the builders that hold what is made to it. Counterpart:
//! memutils.h, stringinfo.c.
//!
//! PostgreSQL asks for the memory of every value in one piece, and no piece may have 1 GB: that is
//! the limit of each value, row and message. Its errors are of two kinds: an allocation of a size
//! that is known beforehand ([`allocate`]), and a buffer that grows ([`TextBuffer`]). Both refuse
//! before any memory is taken.

use crate::{Datum, memory};
use pgerror::{PgError, Result, pg_err};

/// `MaxAllocSize`: the largest piece of memory.
pub const ALLOCATION_BYTES_MAX: usize = 0x3fff_ffff;

/// The length word in front of a varlena, which counts toward its size.
pub const VARLENA_HEADER_BYTES: usize = 4;

/// The largest payload of a varlena.
pub const PAYLOAD_BYTES_MAX: usize = ALLOCATION_BYTES_MAX - VARLENA_HEADER_BYTES;

/// 54000, of functions that check the size asked for themselves.
#[cold]
pub fn requested_length_too_large() -> PgError {
    pg_err!(PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// XX000: a piece of memory of which the size is beyond the limit.
#[cold]
pub fn invalid_allocation(bytes: usize) -> PgError {
    pg_err!(INTERNAL_ERROR, "invalid memory alloc request size {bytes}")
}

/// 53200: the machine, or the limit set for statements, has no more memory.
#[cold]
pub fn out_of_memory(bytes: usize) -> PgError {
    pg_err!(OUT_OF_MEMORY, "out of memory").detail(format!("Failed on request of size {bytes}."))
}

/// An empty vector with room for `bytes`, which may not be beyond the limit.
pub fn allocate(bytes: usize) -> Result<Vec<u8>> {
    if bytes > ALLOCATION_BYTES_MAX {
        return Err(invalid_allocation(bytes));
    }
    memory::with_capacity(bytes)
}

/// Room for a varlena with this payload.
pub fn allocate_payload(bytes: usize) -> Result<Vec<u8>> {
    if bytes > PAYLOAD_BYTES_MAX {
        return Err(invalid_allocation(bytes.saturating_add(VARLENA_HEADER_BYTES)));
    }
    allocate(bytes)
}

/// The last check of a function's result, whichever way it was made.
#[inline]
pub fn check_value(value: &Datum) -> Result<()> {
    match value {
        Datum::Bytes(b) if b.len() > PAYLOAD_BYTES_MAX => {
            Err(invalid_allocation(b.len() + VARLENA_HEADER_BYTES))
        }
        _ => Ok(()),
    }
}

/// A result of this size took time to make: whoever makes many looks for interrupts after each.
pub const LONG_BYTES: usize = 2048;

/// Was the value costly by its size alone?
#[inline]
pub fn is_long(value: &Datum) -> bool {
    matches!(value, Datum::Bytes(b) if b.len() >= LONG_BYTES)
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Full { held: usize, more: usize },
    Memory { bytes: usize },
}

/// Text that grows by parts. Where a part does not fit, it and all that follow are dropped and the
/// error comes at the end, so that code which writes parts need not look after each; long loops ask
/// [`TextBuffer::check`].
#[derive(Default, Debug)]
pub struct TextBuffer {
    bytes: Vec<u8>,
    fault: Option<Fault>,
}

impl TextBuffer {
    pub const fn new() -> TextBuffer {
        TextBuffer { bytes: Vec::new(), fault: None }
    }

    /// With room for `bytes`, if they are there to be had; nothing is promised.
    pub fn with_capacity(bytes: usize) -> TextBuffer {
        let mut out = TextBuffer::new();
        if bytes < ALLOCATION_BYTES_MAX && memory::admit(bytes).is_ok() {
            let _ = out.bytes.try_reserve(bytes);
        }
        out
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is held so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Room for `more` bytes; false where there is none.
    #[inline]
    fn reserve(&mut self, more: usize) -> bool {
        if self.bytes.capacity() - self.bytes.len() >= more {
            return self.fault.is_none();
        }
        self.grow(more)
    }

    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        if self.fault.is_some() {
            return false;
        }
        let held = self.bytes.len();
        // One byte stays free for the closing zero of PostgreSQL's buffer.
        if more >= ALLOCATION_BYTES_MAX - held {
            self.fault = Some(Fault::Full { held, more });
            return false;
        }
        let double = (2 * held).clamp(64, ALLOCATION_BYTES_MAX);
        let granted = |total: usize| memory::admit(total).is_ok();
        let total = [double.max(held + more), held + more].into_iter().find(|t| granted(*t));
        match total {
            Some(total) if self.bytes.try_reserve_exact(total - held).is_ok() => true,
            _ => {
                self.fault = Some(Fault::Memory { bytes: held + more });
                false
            }
        }
    }

    #[inline]
    pub fn push(&mut self, byte: u8) {
        if self.reserve(1) {
            self.bytes.push(byte);
        }
    }

    #[inline]
    pub fn extend_from_slice(&mut self, part: &[u8]) {
        if self.reserve(part.len()) {
            self.bytes.extend_from_slice(part);
        }
    }

    /// Parts that PostgreSQL prints in one call, which counts a closing zero where they do not fit.
    pub fn extend_printed(&mut self, parts: &[&[u8]]) {
        let total: usize = parts.iter().map(|p| p.len()).sum();
        let free = ALLOCATION_BYTES_MAX - 1 - self.bytes.len();
        if self.fault.is_none() && total > free {
            self.fault = Some(Fault::Full { held: self.bytes.len(), more: total + 1 });
        }
        parts.iter().for_each(|p| self.extend_from_slice(p));
    }

    /// `byte`, `count` times.
    pub fn fill(&mut self, byte: u8, count: usize) {
        if self.reserve(count) {
            self.bytes.resize(self.bytes.len() + count, byte);
        }
    }

    /// Drops what is held, and the error if there was one; the memory stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.fault = None;
    }

    /// The error, if a part did not fit.
    pub fn check(&self) -> Result<()> {
        match self.fault {
            None => Ok(()),
            Some(Fault::Full { held, more }) => Err(buffer_full(held, more)),
            Some(Fault::Memory { bytes }) => {
                memory::admit(bytes)?;
                Err(out_of_memory(bytes))
            }
        }
    }

    pub fn into_bytes(self) -> Result<Vec<u8>> {
        self.check()?;
        Ok(self.bytes)
    }

    /// As a value, which has a length word besides.
    pub fn into_datum(self) -> Result<Datum> {
        let bytes = self.into_bytes()?;
        if bytes.len() > PAYLOAD_BYTES_MAX {
            return Err(invalid_allocation(bytes.len() + VARLENA_HEADER_BYTES));
        }
        Ok(Datum::bytes(bytes))
    }
}

impl From<&[u8]> for TextBuffer {
    fn from(bytes: &[u8]) -> TextBuffer {
        let mut out = TextBuffer::new();
        out.extend_from_slice(bytes);
        out
    }
}

impl std::fmt::Write for TextBuffer {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.extend_from_slice(s.as_bytes());
        Ok(())
    }
}

/// 54000: a buffer that holds `held` bytes cannot take `more`.
#[cold]
pub fn buffer_full(held: usize, more: usize) -> PgError {
    pg_err!(PROGRAM_LIMIT_EXCEEDED, "out of memory").detail(format!(
        "Cannot enlarge string buffer containing {held} bytes by {more} more bytes."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_refuses_before_it_takes_memory() {
        let mut out = TextBuffer::from(b"abc".as_slice());
        out.fill(b' ', usize::MAX);
        out.fill(b' ', ALLOCATION_BYTES_MAX - 3);
        out.extend_from_slice(b"dropped");
        assert_eq!(out.len(), 3);
        let error = out.into_bytes().expect_err("too much");
        let detail = format!(
            "Cannot enlarge string buffer containing 3 bytes by {} more bytes.",
            usize::MAX
        );
        assert_eq!(error.fields().detail.as_deref(), Some(detail.as_str()));
    }

    #[test]
    fn sizes_are_checked_with_the_length_word() {
        assert!(allocate(ALLOCATION_BYTES_MAX + 1).is_err());
        let error = allocate_payload(PAYLOAD_BYTES_MAX + 1).expect_err("too much");
        assert_eq!(error.message(), "invalid memory alloc request size 1073741824");
    }
}
