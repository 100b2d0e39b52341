//! The last argument of the functions that encrypt and decrypt: `cipher-algo=aes256, s2k-mode=1`.
//!
//! Counterpart: pgp-pgsql.c (`parse_args`), pgp.c.

use crate::algorithms::{AES_128, BZIP2, SHA1, UNCOMPRESSED, ZIP, ZLIB, cipher_code, digest_code};
use crate::error::Fault;
use crate::s2k::{ITERATED, SALTED, SIMPLE};
use pgerror::Result;

/// What the caller of a decryption expects of the message; a difference is a notice. Negative
/// numbers are compared with nothing.
#[derive(Clone, Default)]
pub(crate) struct Expected {
    pub(crate) cipher: Option<i32>,
    pub(crate) s2k_mode: Option<i32>,
    pub(crate) s2k_count: Option<i32>,
    pub(crate) s2k_digest: Option<i32>,
    pub(crate) s2k_cipher: Option<i32>,
    pub(crate) session_key: Option<i32>,
    pub(crate) disable_mdc: Option<i32>,
    pub(crate) compression: Option<i32>,
    pub(crate) unicode: Option<i32>,
}

/// The options of a call.
#[derive(Clone)]
pub struct Options {
    /// Numbers of algorithms.
    pub(crate) cipher: u8,
    /// The cipher of the session key; that of the data by default.
    pub(crate) s2k_cipher: Option<u8>,
    pub(crate) s2k_digest: u8,
    pub(crate) s2k_mode: u8,
    pub(crate) s2k_count: Option<u32>,
    pub(crate) compression: u8,
    pub(crate) compression_level: u32,
    /// Write no hash of the data.
    pub(crate) disable_mdc: bool,
    /// Encrypt the data by a random key, and that by the key of the password.
    pub(crate) session_key: bool,
    /// The data is text.
    pub(crate) text: bool,
    /// Line ends are CR LF in the message and LF outside.
    pub(crate) convert_crlf: bool,
    pub(crate) unicode: bool,
    pub(crate) debug: bool,
    /// Whether an option with an expectation was given.
    pub(crate) expects: bool,
    pub(crate) expected: Expected,
}

impl Options {
    /// The options of a call on text or on bytes, from its argument.
    pub fn parse(text: bool, argument: &[u8]) -> Result<Options> {
        let mut options = Options {
            cipher: AES_128,
            s2k_cipher: None,
            s2k_digest: SHA1,
            s2k_mode: ITERATED,
            s2k_count: None,
            compression: UNCOMPRESSED,
            compression_level: 6,
            disable_mdc: false,
            session_key: false,
            text,
            convert_crlf: false,
            unicode: false,
            debug: false,
            expects: false,
            expected: Expected::default(),
        };
        let lower = argument.to_ascii_lowercase();
        let mut rest: &[u8] = &lower;
        while !rest.is_empty() {
            let (name, after) = word(rest);
            let after = after.strip_prefix(b"=").ok_or(Fault::Argument)?;
            let (value, after) = word(after);
            rest = match after {
                [] => after,
                [b',', after @ ..] => after,
                _ => return Err(Fault::Argument.into()),
            };
            if name.is_empty() || value.is_empty() {
                return Err(Fault::Argument.into());
            }
            options.set(name, value)?;
        }
        Ok(options)
    }

    /// Whether text is stored as UTF-8.
    pub fn unicode(&self) -> bool {
        self.unicode
    }

    fn set(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        let number = leading_number(value);
        match name {
            b"cipher-algo" => self.cipher = cipher_code(value)?,
            b"disable-mdc" => self.disable_mdc = number != 0,
            b"sess-key" => self.session_key = number != 0,
            b"s2k-mode" => self.s2k_mode = one_of(number, &[SIMPLE, SALTED, ITERATED])?,
            b"s2k-count" => match number {
                1024..=65_011_712 if self.s2k_mode == ITERATED => {
                    self.s2k_count = Some(number.unsigned_abs());
                }
                _ => return Err(Fault::Argument.into()),
            },
            b"s2k-digest-algo" => self.s2k_digest = digest_code(value)?,
            b"s2k-cipher-algo" => self.s2k_cipher = Some(cipher_code(value)?),
            b"compress-algo" => {
                self.compression = one_of(number, &[UNCOMPRESSED, ZIP, ZLIB, BZIP2])?;
            }
            b"compress-level" => match number {
                0..=9 => self.compression_level = number.unsigned_abs(),
                _ => return Err(Fault::Argument.into()),
            },
            b"convert-crlf" => self.convert_crlf = number != 0,
            b"unicode-mode" => self.unicode = number != 0,
            b"debug" => self.debug = number != 0,
            _ => return self.expect(name, value, number),
        }
        Ok(())
    }

    fn expect(&mut self, name: &[u8], value: &[u8], number: i32) -> Result<()> {
        let expected = &mut self.expected;
        let (place, number) = match name {
            b"expect-cipher-algo" => (&mut expected.cipher, known(cipher_code(value))),
            b"expect-disable-mdc" => (&mut expected.disable_mdc, Some(number)),
            b"expect-sess-key" => (&mut expected.session_key, Some(number)),
            b"expect-s2k-mode" => (&mut expected.s2k_mode, Some(number)),
            b"expect-s2k-count" => (&mut expected.s2k_count, Some(number)),
            b"expect-s2k-digest-algo" => (&mut expected.s2k_digest, known(digest_code(value))),
            b"expect-s2k-cipher-algo" => (&mut expected.s2k_cipher, known(cipher_code(value))),
            b"expect-compress-algo" => (&mut expected.compression, Some(number)),
            b"expect-unicode-mode" => (&mut expected.unicode, Some(number)),
            _ => return Err(Fault::Argument.into()),
        };
        *place = number.filter(|n| *n >= 0);
        self.expects = true;
        Ok(())
    }
}

/// The number of an algorithm, if there is one with the name.
fn known(code: Result<u8>) -> Option<i32> {
    code.ok().map(i32::from)
}

fn one_of(number: i32, allowed: &[u8]) -> Result<u8> {
    let found = allowed.iter().find(|a| i32::from(**a) == number);
    Ok(*found.ok_or(Fault::Argument)?)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn skip_spaces(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|b| is_space(**b)).count();
    &text[count..]
}

/// The next word and the text behind it, both without spaces around. A separator is a word.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = skip_spaces(text);
    let length = match text.first() {
        Some(b'=' | b',') => 1,
        _ => text.iter().take_while(|b| !is_space(**b) && !matches!(b, b'=' | b',')).count(),
    };
    let (word, rest) = text.split_at(length);
    (word, skip_spaces(rest))
}

/// The number at the start of a text, as C's `atoi` reads it; 0 if there is none.
fn leading_number(text: &[u8]) -> i32 {
    let trimmed = text.trim_ascii_start();
    let (negative, digits) = match trimmed {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, trimmed),
    };
    let digits = digits.iter().take_while(|b| b.is_ascii_digit());
    let value = digits.fold(0i64, |n, d| n.saturating_mul(10).saturating_add((d - b'0').into()));
    // A `long` that is saturated, of which an `int` is the low half.
    let value = match (negative, value) {
        (true, i64::MAX) => i64::MIN,
        (true, value) => -value,
        (false, value) => value,
    };
    value as i32
}
