//! COPY's binary format: a signature, then rows with a field count, then a trailer of -1.
//!
//! Counterpart: `CopyReadBinaryAttribute` of copyfromparse.c, the binary half of copyto.c.
//!
//! ```text
//! "PGCOPY\n\xff\r\n\0"  flags i32  extension length i32  extension
//! { fields i16  { length i32 (-1: NULL)  bytes } }  -1 i16
//! ```

use pgerror::{Result, bail};
use types::limits::{ALLOCATION_BYTES_MAX, buffer_full};

pub(crate) const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// The header before the first row.
pub(crate) fn header() -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    out.extend_from_slice(&[0; 8]);
    out
}

/// A callback that appends more input; false at end of input.
pub(crate) type More<'a> = dyn FnMut(&mut Vec<u8>) -> Result<bool> + 'a;

/// Buffered input of the binary format.
#[derive(Default)]
pub(crate) struct Input {
    buffer: Vec<u8>,
    at: usize,
}

impl Input {
    /// The next `n` bytes; `None` if the input ends before.
    pub(crate) fn take(&mut self, more: &mut More<'_>, n: usize) -> Result<Option<&[u8]>> {
        while self.buffer.len() - self.at < n {
            if self.at > 0 {
                self.buffer.drain(..self.at);
                self.at = 0;
            }
            if !more(&mut self.buffer)? {
                return Ok(None);
            }
        }
        let from = self.at;
        self.at += n;
        Ok(Some(&self.buffer[from..from + n]))
    }

    fn i16(&mut self, more: &mut More<'_>) -> Result<Option<i16>> {
        let bytes = self.take(more, 2)?;
        Ok(bytes.and_then(|b| b.first_chunk::<2>()).map(|b| i16::from_be_bytes(*b)))
    }

    fn i32(&mut self, more: &mut More<'_>) -> Result<Option<i32>> {
        let bytes = self.take(more, 4)?;
        Ok(bytes.and_then(|b| b.first_chunk::<4>()).map(|b| i32::from_be_bytes(*b)))
    }

    /// Reads the header; 22P04 if it is invalid. Counterpart: `ReceiveCopyBinaryHeader`.
    pub(crate) fn begin(&mut self, more: &mut More<'_>) -> Result<()> {
        if self.take(more, SIGNATURE.len())? != Some(SIGNATURE) {
            bail!(BAD_COPY_FILE_FORMAT, "COPY file signature not recognized");
        }
        let Some(flags) = self.i32(more)? else {
            bail!(BAD_COPY_FILE_FORMAT, "invalid COPY file header (missing flags)")
        };
        if flags & (1 << 16) != 0 {
            bail!(BAD_COPY_FILE_FORMAT, "invalid COPY file header (WITH OIDS)");
        }
        if (flags & !(1 << 16)) >> 16 != 0 {
            bail!(BAD_COPY_FILE_FORMAT, "unrecognized critical flags in COPY file header");
        }
        let extension = self.i32(more)?.and_then(|n| usize::try_from(n).ok());
        let Some(extension) = extension else {
            bail!(BAD_COPY_FILE_FORMAT, "invalid COPY file header (missing length)")
        };
        if self.take(more, extension)?.is_none() {
            bail!(BAD_COPY_FILE_FORMAT, "invalid COPY file header (wrong length)");
        }
        Ok(())
    }

    /// Starts a row with `wanted` fields; false at the trailer or end of input.
    pub(crate) fn row(&mut self, more: &mut More<'_>, wanted: usize) -> Result<bool> {
        let Some(count) = self.i16(more)? else { return Ok(false) };
        if count == -1 {
            if self.take(more, 1)?.is_some() {
                bail!(BAD_COPY_FILE_FORMAT, "received copy data after EOF marker");
            }
            return Ok(false);
        }
        if usize::try_from(count) != Ok(wanted) {
            bail!(BAD_COPY_FILE_FORMAT, "row field count is {count}, expected {wanted}");
        }
        Ok(true)
    }

    /// The bytes of a field; `None` for NULL.
    pub(crate) fn field(&mut self, more: &mut More<'_>) -> Result<Option<&[u8]>> {
        let Some(size) = self.i32(more)? else {
            bail!(BAD_COPY_FILE_FORMAT, "unexpected EOF in COPY data")
        };
        if size == -1 {
            return Ok(None);
        }
        let Ok(size) = usize::try_from(size) else {
            bail!(BAD_COPY_FILE_FORMAT, "invalid field size")
        };
        if size >= ALLOCATION_BYTES_MAX {
            return Err(buffer_full(0, size));
        }
        match self.take(more, size)? {
            Some(bytes) => Ok(Some(bytes)),
            None => bail!(BAD_COPY_FILE_FORMAT, "unexpected EOF in COPY data"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `copy (select 1::int2, null) to … (format binary)` from PostgreSQL 15, read in
    /// pieces.
    #[test]
    fn rows_are_parsed() {
        let mut data = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
        data.extend_from_slice(b"\0\x02\0\0\0\x02\0\x01\xff\xff\xff\xff\xff\xff");
        let mut pieces = data.chunks(3);
        let mut more = |out: &mut Vec<u8>| {
            let piece = pieces.next();
            out.extend_from_slice(piece.unwrap_or_default());
            Ok(piece.is_some())
        };
        let mut input = Input::default();
        input.begin(&mut more).unwrap();
        assert!(input.row(&mut more, 2).unwrap());
        assert_eq!(input.field(&mut more).unwrap(), Some(&[0u8, 1][..]));
        assert_eq!(input.field(&mut more).unwrap(), None);
        assert!(!input.row(&mut more, 2).unwrap());
    }

    #[test]
    fn invalid_headers_are_rejected() {
        let mut first = Some(b"a\tb\nc\td\ne\tf\n".to_vec());
        let mut more = |out: &mut Vec<u8>| match first.take() {
            Some(piece) => {
                out.extend_from_slice(&piece);
                Ok(true)
            }
            None => Ok(false),
        };
        let e = Input::default().begin(&mut more).unwrap_err();
        assert_eq!(e.message(), "COPY file signature not recognized");
    }
}
