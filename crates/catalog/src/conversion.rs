//! Conversion of text between encodings, through code points. Counterpart: utils/mb/mbutils.c,
//! mb/conversion_procs.

use crate::cx::CatCx;
use crate::encoding::{self, SQL_ASCII, SingleByte, UTF8};
use crate::multibyte::{self, Multibyte};
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
    source: Side,
    target: Side,
}

/// An encoding of a conversion, with its tables.
#[derive(Clone, Copy)]
enum Side {
    Utf8,
    SingleByte(&'static SingleByte),
    Multibyte(&'static Multibyte),
}

impl Side {
    /// `None` for an encoding that cannot be converted.
    fn of(encoding: i32) -> Option<Side> {
        if encoding == UTF8 {
            return Some(Side::Utf8);
        }
        let single = encoding::single_byte(encoding).map(Side::SingleByte);
        single.or_else(|| multibyte::find(encoding).map(Side::Multibyte))
    }
}

/// Error 22021 if the text is not valid in the encoding.
pub fn verify(text: &[u8], encoding: i32) -> Result<()> {
    if encoding == UTF8 {
        return verify_in(Encoding::Utf8, text);
    }
    if multibyte::find(encoding).is_some() {
        return count_multibyte(text, encoding).map(|_| ());
    }
    match text.contains(&0) {
        true => Err(invalid(&[0], encoding)),
        false => Ok(()),
    }
}

/// The number of characters in a text in a multibyte encoding other than UTF8; 22021 if it is not
/// valid.
pub fn count_multibyte(text: &[u8], encoding: i32) -> Result<usize> {
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        match multibyte::valid_length(encoding, &text[at..]) {
            Some(length) => at += length,
            None => return Err(invalid_character(&text[at..], encoding)),
        }
        count += 1;
    }
    Ok(count)
}

/// The error for an invalid character at the start of the text, which is not empty.
fn invalid_character(text: &[u8], encoding: i32) -> PgError {
    let length = match (encoding::name(encoding), text) {
        ("GB18030", [_]) => 1,
        _ => multibyte::length(encoding, text),
    };
    invalid(&text[..length.min(text.len())], encoding)
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
        match (Side::of(from), Side::of(to)) {
            (
                Some(source @ (Side::Utf8 | Side::SingleByte(_))),
                Some(target @ (Side::Utf8 | Side::SingleByte(_))),
            )
            | (Some(source @ Side::Utf8), Some(target))
            | (Some(source), Some(target @ Side::Utf8)) => {
                Ok(Some(Conversion { from, to, source, target }))
            }
            _ => Err(PgError::unsupported(format!(
                "conversion between {} and {}",
                encoding::name(from),
                encoding::name(to)
            ))),
        }
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
    /// The conversion between UTF8 and another encoding; `None` if there is none.
    pub fn with_utf8(from: i32, to: i32) -> Option<Conversion> {
        let is_possible = (from == UTF8) != (to == UTF8);
        let (source, target) = (Side::of(from)?, Side::of(to)?);
        is_possible.then_some(Conversion { from, to, source, target })
    }

    /// The converted text, which must be complete. Errors as of [`Self::append`].
    pub fn convert(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let length = self.append(text, &mut out)?;
        match self.source {
            Side::Multibyte(_) if length < text.len() => {
                Err(invalid_character(&text[length..], self.from))
            }
            _ => Ok(out),
        }
    }

    /// Appends the converted text to `out` and returns the number of bytes converted, which is less
    /// than the length of the text only if it ends within a character. 22021 for an invalid
    /// character, 22P05 for one that the other encoding does not have; `out` then has the text
    /// before it.
    pub fn append(&self, text: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        match self.source {
            Side::SingleByte(source) => self.append_single_bytes(text, source, out),
            Side::Multibyte(source) => self.append_multibyte(text, source, out),
            Side::Utf8 => self.append_utf8(text, out),
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
        let mut chars = valid.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\0' => return Err(invalid(&[0], self.from)),
                '\u{1}'..='\u{7f}' => out.push(c as u8),
                _ => match self.pair(c, chars.peek()) {
                    Some(code) => {
                        chars.next();
                        push_code(code, out);
                    }
                    None => self.push(c, c.encode_utf8(&mut bytes).as_bytes(), out)?,
                },
            }
        }
        match complete {
            Ok(bytes) => Ok(bytes),
            Err(tail) => verify_in(Encoding::Utf8, tail).map(|()| valid.len()),
        }
    }

    fn append_multibyte(
        &self,
        text: &[u8],
        source: &Multibyte,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        out.reserve(text.len());
        let mut at = 0;
        while let Some(&first) = text.get(at) {
            let rest = &text[at..];
            let Some(length) = multibyte::valid_length(self.from, rest) else {
                if first != 0 && multibyte::length(self.from, rest) > rest.len() {
                    return Ok(at);
                }
                return Err(invalid_character(rest, self.from));
            };
            at += length;
            if first < 0x80 {
                out.push(first);
                continue;
            }
            let bytes = &rest[..length];
            let Some(chars) = source.chars(bytes) else { return Err(self.untranslatable(bytes)) };
            self.push(chars.first, bytes, out)?;
            if let Some(second) = chars.second {
                self.push(second, bytes, out)?;
            }
        }
        Ok(at)
    }

    /// The code of two characters together, if the target encoding has one.
    fn pair(&self, c: char, next: Option<&char>) -> Option<u32> {
        match self.target {
            Side::Multibyte(target) => target.code_of_pair(c, *next?),
            _ => None,
        }
    }

    /// Appends a character to `out` in the target encoding. `bytes` is the character in the source
    /// encoding, for the error message.
    fn push(&self, c: char, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self.target {
            Side::Utf8 => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Side::SingleByte(target) => match target.byte_of(c) {
                Some(byte) => out.push(byte),
                None => return Err(self.untranslatable(bytes)),
            },
            Side::Multibyte(target) => match target.code(c) {
                Some(code) => push_code(code, out),
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

/// Appends the bytes of a code.
fn push_code(code: u32, out: &mut Vec<u8>) {
    let bytes = code.to_be_bytes();
    let start = bytes.iter().position(|b| *b != 0).unwrap_or(3);
    out.extend_from_slice(&bytes[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(from: &str, to: &str) -> Conversion {
        let number = |name| encoding::number(name).expect("a known encoding");
        let (from, to) = (number(from), number(to));
        Conversion::with_utf8(from, to).expect("a conversion")
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

    #[test]
    fn multibyte_text_is_converted() {
        let sjis = between("UTF8", "SJIS");
        assert_eq!(sjis.convert("a日本ｱ".as_bytes()).unwrap(), b"a\x93\xfa\x96\x7b\xb1");
        let back = between("SJIS", "UTF8");
        assert_eq!(back.convert(b"a\x93\xfa\x96\x7b\xb1").unwrap(), "a日本ｱ".as_bytes());
        let mut out = Vec::new();
        assert_eq!(back.append(b"a\x93", &mut out).unwrap(), 1);
        let error = back.convert(b"a\x93").unwrap_err();
        assert!(error.message().ends_with("encoding \"SJIS\": 0x93"), "{}", error.message());
        // Two characters have one code.
        let jis = between("UTF8", "EUC_JIS_2004");
        let code = jis.convert("\u{304b}\u{309a}".as_bytes()).unwrap();
        assert_eq!(code.len(), 2);
        let text = between("EUC_JIS_2004", "UTF8").convert(&code).unwrap();
        assert_eq!(text, "\u{304b}\u{309a}".as_bytes());
    }
}
