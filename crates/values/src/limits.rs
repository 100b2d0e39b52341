//! Size limits of values, and builders that check them. Counterpart: memutils.h, stringinfo.c.
//!
//! PostgreSQL allocates every value as one chunk of memory of less than 1 GB, which limits each
//! value, row and message. There are two kinds of errors: for an allocation whose size is known
//! beforehand ([`allocate`]), and for a buffer that grows ([`TextBuffer`]). Both are raised before
//! memory is allocated.

use crate::datum::Datum;
use crate::memory;
use pgerror::{PgError, Result, pg_err};

/// `MaxAllocSize`: the largest allocation in bytes.
pub const ALLOCATION_BYTES_MAX: usize = 0x3fff_ffff;

/// Length of a varlena's header, which counts toward its size.
pub const VARLENA_HEADER_BYTES: usize = 4;

/// The largest payload of a varlena.
pub const PAYLOAD_BYTES_MAX: usize = ALLOCATION_BYTES_MAX - VARLENA_HEADER_BYTES;

/// 54000: the error of functions that check the length of their result themselves.
#[cold]
pub fn requested_length_too_large() -> PgError {
    pg_err!(PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// XX000: an allocation that exceeds [`ALLOCATION_BYTES_MAX`].
#[cold]
pub fn invalid_allocation(bytes: usize) -> PgError {
    pg_err!(INTERNAL_ERROR, "invalid memory alloc request size {bytes}")
}

/// 53200: the machine is out of memory, or the session's memory limit is reached.
#[cold]
pub fn out_of_memory(bytes: usize) -> PgError {
    pg_err!(OUT_OF_MEMORY, "out of memory").detail(format!("Failed on request of size {bytes}."))
}

/// An empty vector with capacity for `bytes`; an error if that exceeds the limit.
pub fn allocate(bytes: usize) -> Result<Vec<u8>> {
    if bytes > ALLOCATION_BYTES_MAX {
        return Err(invalid_allocation(bytes));
    }
    memory::with_capacity(bytes)
}

/// An empty vector with capacity for a varlena's payload.
pub fn allocate_payload(bytes: usize) -> Result<Vec<u8>> {
    if bytes > PAYLOAD_BYTES_MAX {
        return Err(invalid_allocation(bytes.saturating_add(VARLENA_HEADER_BYTES)));
    }
    allocate(bytes)
}

/// Checks the size of the finished result of a function.
#[inline]
pub fn check_value(value: &Datum) -> Result<()> {
    match value {
        Datum::Bytes(b) => check_length(b.len()),
        _ => Ok(()),
    }
}

/// Checks the length in bytes of a finished payload, as [`check_value`].
#[inline]
pub fn check_length(len: usize) -> Result<()> {
    match len > PAYLOAD_BYTES_MAX {
        true => Err(invalid_allocation(len + VARLENA_HEADER_BYTES)),
        false => Ok(()),
    }
}

/// A result of this size takes so long to compute that loops check for interrupts after each such
/// result.
pub const LONG_BYTES: usize = 2048;

/// Whether the value is at least [`LONG_BYTES`] long.
#[inline]
pub fn is_long(value: &Datum) -> bool {
    matches!(value, Datum::Bytes(b) if b.len() >= LONG_BYTES)
}

#[derive(Clone, Copy, Debug)]
enum BufferError {
    Full { held: usize, more: usize },
    Memory { bytes: usize },
}

/// A buffer for text that is written in parts. A part that does not fit and all parts after it are
/// dropped, and the error is reported at the end, so that writers need not check every part. Long
/// loops call [`TextBuffer::check`].
#[derive(Default, Debug)]
pub struct TextBuffer {
    bytes: Vec<u8>,
    error: Option<BufferError>,
}

impl TextBuffer {
    /// An empty buffer.
    pub const fn new() -> TextBuffer {
        TextBuffer { bytes: Vec::new(), error: None }
    }

    /// Reserves `bytes` if they are available; a failure is not an error.
    pub fn with_capacity(bytes: usize) -> TextBuffer {
        let mut out = TextBuffer::new();
        if bytes < ALLOCATION_BYTES_MAX && memory::admit(bytes).is_ok() {
            let _ = out.bytes.try_reserve(bytes);
        }
        out
    }

    /// Number of bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the buffer has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The contents so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Reserves `more` bytes; false if they are not available.
    #[inline]
    fn reserve(&mut self, more: usize) -> bool {
        if self.bytes.capacity() - self.bytes.len() >= more {
            return self.error.is_none();
        }
        self.grow(more)
    }

    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        if self.error.is_some() {
            return false;
        }
        let held = self.bytes.len();
        // One byte stays free for the terminating zero of PostgreSQL's buffer.
        if more >= ALLOCATION_BYTES_MAX - held {
            self.error = Some(BufferError::Full { held, more });
            return false;
        }
        let double = (2 * held).clamp(64, ALLOCATION_BYTES_MAX);
        let granted = |total: usize| memory::admit(total).is_ok();
        let total = [double.max(held + more), held + more].into_iter().find(|t| granted(*t));
        match total {
            Some(total) if self.bytes.try_reserve_exact(total - held).is_ok() => true,
            _ => {
                self.error = Some(BufferError::Memory { bytes: held + more });
                false
            }
        }
    }

    /// Appends a byte.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        if self.reserve(1) {
            self.bytes.push(byte);
        }
    }

    /// Appends bytes.
    #[inline]
    pub fn extend_from_slice(&mut self, part: &[u8]) {
        if self.reserve(part.len()) {
            self.bytes.extend_from_slice(part);
        }
    }

    /// Appends parts that PostgreSQL prints in one call: if they do not fit, its error counts a
    /// terminating zero.
    pub fn extend_printed(&mut self, parts: &[&[u8]]) {
        let total: usize = parts.iter().map(|p| p.len()).sum();
        let free = ALLOCATION_BYTES_MAX - 1 - self.bytes.len();
        if self.error.is_none() && total > free {
            self.error = Some(BufferError::Full { held: self.bytes.len(), more: total + 1 });
        }
        parts.iter().for_each(|p| self.extend_from_slice(p));
    }

    /// Appends `byte` `count` times.
    pub fn fill(&mut self, byte: u8, count: usize) {
        if self.reserve(count) {
            self.bytes.resize(self.bytes.len() + count, byte);
        }
    }

    /// Drops the contents and the error, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.error = None;
    }

    /// The error if a part did not fit.
    pub fn check(&self) -> Result<()> {
        match self.error {
            None => Ok(()),
            Some(BufferError::Full { held, more }) => Err(buffer_full(held, more)),
            Some(BufferError::Memory { bytes }) => {
                memory::admit(bytes)?;
                Err(out_of_memory(bytes))
            }
        }
    }

    /// The contents, or the error if a part did not fit.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        self.check()?;
        Ok(self.bytes)
    }

    /// The contents as a datum; its size is checked with a varlena header.
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

/// 54000: a buffer of `held` bytes cannot be enlarged by `more` bytes.
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
