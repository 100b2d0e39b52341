//! Conversion of text between encodings. Conversion between single-byte encodings goes through
//! code points, as if through UTF8. Counterpart: utils/mb/mbutils.c, mb/conversion_procs.

use crate::cx::CatCx;
use crate::encoding::{self, SQL_ASCII, SingleByte, UTF8};
use crate::namespace::PG_CATALOG;
use crate::rows::indexes;
use pgerror::{PgError, Result, pg_err};
use types::settings::{Encoding, TextDecoder, TextEncoder};
use types::text::verify_in;

/// A conversion that is possible.
#[derive(Clone, Copy)]
pub struct Conversion {
    from: i32,
    to: i32,
    /// The tables of single-byte encodings; `None` for UTF8.
    source: Option<&'static SingleByte>,
    target: Option<&'static SingleByte>,
}

/// Error 22021 if the text is not valid in the encoding.
pub fn verify(text: &[u8], encoding: i32) -> Result<()> {
    if encoding == UTF8 {
        return verify_in(Encoding::Utf8, text);
    }
    match text.contains(&0) {
        true => Err(invalid(&[0], encoding)),
        false => Ok(()),
    }
}

fn invalid(bytes: &[u8], encoding: i32) -> PgError {
    pg_err!(
        CHARACTER_NOT_IN_REPERTOIRE,
        "invalid byte sequence for encoding \"{}\": {}",
        encoding::name(encoding),
        hex(bytes)
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("0x{b:02x}")).collect::<Vec<_>>().join(" ")
}

impl std::fmt::Debug for Conversion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", encoding::name(self.from), encoding::name(self.to))
    }
}

impl CatCx<'_> {
    /// The conversion between two encodings; `None` if the bytes stay as they are. 42883 if there
    /// is none, 0A000 between multibyte encodings other than UTF8.
    pub fn conversion(&mut self, from: i32, to: i32) -> Result<Option<Conversion>> {
        if from == to || to == SQL_ASCII || from == SQL_ASCII {
            return Ok(None);
        }
        let keys = [PG_CATALOG.into(), from.into(), to.into()];
        let rows = self.scan(indexes::PG_CONVERSION_DEFAULT_INDEX, &keys)?;
        if !rows.iter().any(|r| r.condefault) {
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "default conversion function for encoding \"{}\" to \"{}\" does not exist",
                encoding::name(from),
                encoding::name(to)
            ));
        }
        let (source, target) = (encoding::single_byte(from), encoding::single_byte(to));
        if (source.is_none() && from != UTF8) || (target.is_none() && to != UTF8) {
            return Err(PgError::unsupported(format!(
                "conversion between {} and {}",
                encoding::name(from),
                encoding::name(to)
            )));
        }
        Ok(Some(Conversion { from, to, source, target }))
    }
}

/// Conversion to the encoding of the client.
impl TextEncoder for Conversion {
    fn encode(&self, text: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.append(text, out).map(|_| ())
    }

    fn encode_lossy(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut bytes = Vec::new();
        for c in String::from_utf8_lossy(text).chars() {
            bytes.clear();
            match self.append(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut bytes) {
                Ok(_) => out.extend_from_slice(&bytes),
                Err(_) => out.push(b'?'),
            }
        }
    }
}

/// Conversion from the encoding of the client.
impl TextDecoder for Conversion {
    fn decode(&self, text: &[u8]) -> Result<Vec<u8>> {
        self.convert(text)
    }
}

impl Conversion {
    /// The conversion between UTF8 and a single-byte encoding; `None` between other encodings.
    pub fn with_utf8(from: i32, to: i32) -> Option<Conversion> {
        let (source, target) = (encoding::single_byte(from), encoding::single_byte(to));
        let is_possible = (from == UTF8 && target.is_some()) || (to == UTF8 && source.is_some());
        is_possible.then_some(Conversion { from, to, source, target })
    }

    /// The converted text, which must be complete. Errors as of [`Self::append`].
    pub fn convert(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.append(text, &mut out)?;
        Ok(out)
    }

    /// Appends the converted text to `out` and returns the number of bytes converted, which is less
    /// than the length of the text only if it ends within a character. 22021 for an invalid
    /// character, 22P05 for one that the other encoding does not have; `out` then has the text
    /// before it.
    pub fn append(&self, text: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        match self.source {
            Some(source) => self.append_single_bytes(text, source, out),
            None => self.append_utf8(text, out),
        }
    }

    fn append_single_bytes(
        &self,
        text: &[u8],
        source: &SingleByte,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        out.reserve(text.len());
        for &b in text {
            match b {
                0 => return Err(invalid(&[0], self.from)),
                1..=127 => out.push(b),
                _ => match source.char_of(b) {
                    Some(c) => self.push(c, &[b], out)?,
                    None => return Err(self.untranslatable(&[b])),
                },
            }
        }
        Ok(text.len())
    }

    fn append_utf8(&self, text: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        out.reserve(text.len());
        let (valid, complete) = match std::str::from_utf8(text) {
            Ok(valid) => (valid, Ok(text.len())),
            Err(e) => {
                let (head, tail) = text.split_at(e.valid_up_to());
                let valid = std::str::from_utf8(head).unwrap_or_default();
                match e.error_len() {
                    None => (valid, Ok(head.len())),
                    Some(_) => (valid, Err(tail)),
                }
            }
        };
        let mut bytes = [0; 4];
        for c in valid.chars() {
            match c {
                '\0' => return Err(invalid(&[0], self.from)),
                '\u{1}'..='\u{7f}' => out.push(c as u8),
                _ => self.push(c, c.encode_utf8(&mut bytes).as_bytes(), out)?,
            }
        }
        match complete {
            Ok(bytes) => Ok(bytes),
            Err(tail) => verify_in(Encoding::Utf8, tail).map(|()| valid.len()),
        }
    }

    /// Appends a character to `out` in the target encoding. `bytes` is the character in the source
    /// encoding, for the error message.
    fn push(&self, c: char, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self.target {
            None => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Some(target) => match target.byte_of(c) {
                Some(byte) => out.push(byte),
                None => return Err(self.untranslatable(bytes)),
            },
        }
        Ok(())
    }

    fn untranslatable(&self, bytes: &[u8]) -> PgError {
        pg_err!(
            UNTRANSLATABLE_CHARACTER,
            "character with byte sequence {} in encoding \"{}\" has no equivalent in encoding \
             \"{}\"",
            hex(bytes),
            encoding::name(self.from),
            encoding::name(self.to)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(from: &str, to: &str) -> Conversion {
        let number = |name| encoding::number(name).expect("a known encoding");
        let (from, to) = (number(from), number(to));
        let (source, target) = (encoding::single_byte(from), encoding::single_byte(to));
        Conversion { from, to, source, target }
    }

    #[test]
    fn text_is_converted_up_to_the_first_error() {
        let mut out = Vec::new();
        let latin1 = between("UTF8", "LATIN1");
        assert_eq!(latin1.append("aé".as_bytes(), &mut out).unwrap(), 3);
        assert_eq!(out, b"a\xe9");
        assert_eq!(latin1.append(b"b\xc3", &mut out).unwrap(), 1);
        assert_eq!(out, b"a\xe9b");
        let error = latin1.append("cŁd".as_bytes(), &mut out).unwrap_err();
        assert!(error.message().contains("0xc5 0x81 in encoding \"UTF8\" has no equivalent"));
        assert_eq!(out, b"a\xe9bc");
        out.clear();
        assert_eq!(between("WIN1252", "UTF8").append(b"\x80", &mut out).unwrap(), 1);
        assert_eq!(out, "€".as_bytes());
        assert!(between("WIN1252", "UTF8").append(b"\x81", &mut out).is_err());
    }
}
