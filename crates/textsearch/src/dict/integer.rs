//! The template `intdict_template` of the extension dict_int: numbers, limited in length.
//! Counterpart: contrib/dict_int/dict_int.c.

use super::options::{Options, Setting};
use super::template::{Dictionary, Lexeme, Lexized, Phrase, unrecognized};
use pgerror::{Result, pg_err};

pub(super) struct Integers {
    /// Longest number, in bytes.
    length_max: usize,
    /// Longer numbers are stop words; otherwise their rest is cut off.
    reject_long: bool,
    /// A sign is removed.
    absolute: bool,
}

/// The number at the start of a text, 0 if there is none.
fn leading_number(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = digits.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    let number: i64 = digits[..end].parse().unwrap_or_default();
    if text.starts_with('-') { -number } else { number }
}

impl Integers {
    pub fn build(options: &Options) -> Result<Integers> {
        let mut out = Integers { length_max: 6, reject_long: false, absolute: false };
        for (name, value) in options {
            match name.as_str() {
                "maxlen" => out.length_max = Integers::length_max(value)?,
                "rejectlong" => out.reject_long = value.boolean(name)?,
                "absval" => out.absolute = value.boolean(name)?,
                _ => return Err(unrecognized("intdict", name)),
            }
        }
        Ok(out)
    }

    fn length_max(value: &Setting) -> Result<usize> {
        match usize::try_from(leading_number(&value.text())) {
            Ok(length) if length > 0 => Ok(length),
            _ => Err(pg_err!(INVALID_PARAMETER_VALUE, "maxlen value has to be >= 1")),
        }
    }
}

impl Dictionary for Integers {
    fn lexize(&self, token: &[u8], _: &mut Phrase) -> Result<Lexized> {
        if token.is_empty() {
            return Ok(None);
        }
        let number = match token {
            [b'+' | b'-', rest @ ..] if self.absolute => rest,
            token => token,
        };
        let fits = number.len() <= self.length_max;
        if !fits && self.reject_long {
            return Ok(Some(Vec::new()));
        }
        Ok(Some(vec![Lexeme::plain(&number[..number.len().min(self.length_max)])]))
    }
}
