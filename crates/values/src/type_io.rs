//! What input, output, receive and send functions of all types share: constructors of their errors,
//! white space, and a reader of binary messages. Counterpart: libpq/pqformat.c.

use ids::Oid;
use pgerror::{PgError, Result, SqlState, pg_err};
use std::borrow::Cow;

/// The text for an error message; bytes that are not valid UTF-8 are replaced by U+FFFD.
pub fn lossy_text(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(text)
}

/// 22P02: `text` is not valid input of the type.
#[cold]
pub fn bad_syntax(type_name: &str, text: &[u8]) -> PgError {
    pg_err!(
        INVALID_TEXT_REPRESENTATION,
        "invalid input syntax for type {type_name}: \"{}\"",
        lossy_text(text)
    )
}

/// 22003: the number in `text` does not fit the type.
#[cold]
pub fn text_out_of_range(type_name: &str, text: &[u8]) -> PgError {
    pg_err!(
        NUMERIC_VALUE_OUT_OF_RANGE,
        "value \"{}\" is out of range for type {type_name}",
        lossy_text(text)
    )
}

/// 22003: "{what} out of range".
#[cold]
pub fn out_of_range(what: &str) -> PgError {
    pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "{what} out of range")
}

/// 22012: "division by zero".
#[cold]
pub fn division_by_zero() -> PgError {
    PgError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
}

/// C's `isspace` in the C locale.
pub const fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// `text` without white space at both ends.
pub fn trim_space(text: &[u8]) -> &[u8] {
    let Some(start) = text.iter().position(|&c| !is_space(c)) else { return &[] };
    let end = text.iter().rposition(|&c| !is_space(c)).map_or(start, |i| i + 1);
    &text[start..end]
}

/// The error message for a binary value with more bytes than its type reads. Containers (arrays,
/// rows) replace it by a message with the location of the value.
pub const EXCESS_DATA: &str = "incorrect binary data format";

/// Whether the error is [`EXCESS_DATA`].
pub fn is_excess_data(e: &PgError) -> bool {
    e.code() == SqlState::INVALID_BINARY_REPRESENTATION && e.fields().message == EXCESS_DATA
}

/// Whether the type that a binary value names differs from the expected one. Only OIDs of built-in
/// types are compared, because others are different in each database.
pub fn is_other_type(sent: Oid, expected: Oid) -> bool {
    sent != expected && sent < Oid::FIRST_GENBKI && expected < Oid::FIRST_GENBKI
}

/// Reads a binary message from the front; integers are big-endian.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader from the start of the message.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// 22P03 if bytes are left.
    pub fn end(&self) -> Result<()> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(pg_err!(INVALID_BINARY_REPRESENTATION, "{EXCESS_DATA}")),
        }
    }

    /// As [`Reader::end`], with the error of `pq_getmsgend`: 08P01.
    pub fn end_of_message(&self) -> Result<()> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(pg_err!(PROTOCOL_VIOLATION, "invalid message format")),
        }
    }

    /// The next `n` bytes; 08P01 if fewer are left.
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        if self.rest.len() < n {
            return Err(pg_err!(PROTOCOL_VIOLATION, "insufficient data left in message"));
        }
        let (head, tail) = self.rest.split_at(n);
        self.rest = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.bytes(N)?.try_into().expect("N bytes were taken"))
    }

    /// The next byte; 08P01 if there is none.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// As [`Reader::u8`], with the error of `pq_getmsgbyte`.
    pub fn byte(&mut self) -> Result<u8> {
        let (&first, tail) = (self.rest.split_first())
            .ok_or_else(|| pg_err!(PROTOCOL_VIOLATION, "no data left in message"))?;
        self.rest = tail;
        Ok(first)
    }

    /// The next 2 bytes as an integer; 08P01 if fewer are left.
    pub fn i16(&mut self) -> Result<i16> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    /// The next 4 bytes as an integer; 08P01 if fewer are left.
    pub fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// The next 4 bytes as an unsigned integer; 08P01 if fewer are left.
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// The next 8 bytes as an integer; 08P01 if fewer are left.
    pub fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// The next 8 bytes as a double; 08P01 if fewer are left.
    pub fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_be_bytes(self.array()?))
    }

    /// The bytes that have not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}
