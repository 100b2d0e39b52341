//! Flags of words and affixes. In the files a flag is a character, two characters or a number;
//! some flags stand for properties of compound words.

use super::Side;
use pgerror::{PgError, Result, pg_err};

/// A set of the properties below.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Properties(pub u8);

/// Only in compound words.
pub(super) const ONLY_COMPOUND: u8 = 0x01;
pub(super) const BEGIN: Properties = Properties(0x02);
pub(super) const MIDDLE: Properties = Properties(0x04);
pub(super) const LAST: Properties = Properties(0x08);
/// Anywhere in compound words.
pub(super) const COMPOUND: u8 = 0x0e;
/// The properties of words.
pub(super) const OF_WORDS: u8 = 0x0f;
pub(super) const PERMITTED: u8 = 0x10;
pub(super) const FORBIDDEN: u8 = 0x20;
/// A prefix and a suffix can be on the same word.
pub(super) const CROSS_PRODUCT: u8 = 0x40;

impl Properties {
    /// Whether an affix with these properties can be on a word that is the given part of a compound
    /// word; no part for a word of its own.
    pub fn allows(self, part: Properties, side: Side) -> bool {
        let has = |p: u8| self.0 & p != 0;
        if part.0 == 0 {
            return !has(ONLY_COMPOUND);
        }
        if has(FORBIDDEN) {
            return false;
        }
        match () {
            () if part.0 & BEGIN.0 != 0 => has(BEGIN.0) || side == Side::Prefix,
            () if part.0 & MIDDLE.0 != 0 => has(MIDDLE.0),
            () if part.0 & LAST.0 != 0 => has(LAST.0) || side == Side::Suffix,
            () => true,
        }
    }

    /// With the properties that follow from them.
    pub fn completed(self, implying: u8) -> Properties {
        match self.0 & implying != 0 && self.0 & COMPOUND == 0 {
            true => Properties(self.0 | COMPOUND),
            false => self,
        }
    }
}

/// How flags are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Mode {
    #[default]
    Char,
    Long,
    Number,
}

fn error(message: String) -> PgError {
    pg_err!(CONFIG_FILE_ERROR, "{message}")
}

/// The number at the start of `text` and what follows it.
fn leading_number(text: &str) -> Option<(i64, &str)> {
    let trimmed = text.trim_start();
    let sign = usize::from(trimmed.starts_with(['+', '-']));
    let digits = trimmed[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = trimmed.split_at(sign + digits);
    number.trim_start_matches('+').parse().ok().map(|n| (n, rest))
}

/// Largest flag that is a number.
const NUMBER_MAX: i64 = 1 << 16;

/// The number of a flag and what follows it.
pub(super) fn number_flag(text: &str) -> Result<(i64, &str)> {
    let (number, rest) =
        leading_number(text).ok_or_else(|| error(format!("invalid affix flag \"{text}\"")))?;
    match (0..=NUMBER_MAX).contains(&number) {
        true => Ok((number, rest)),
        false => Err(error(format!("affix flag \"{text}\" is out of range"))),
    }
}

/// The flags in a set.
pub(super) fn split(mode: Mode, set: &str) -> Result<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = set;
    while !rest.is_empty() {
        match mode {
            Mode::Char | Mode::Long => {
                let count = if mode == Mode::Long { 2 } else { 1 };
                let flag: String = rest.chars().take(count).collect();
                if flag.chars().count() < count {
                    return Err(error(format!(
                        "invalid affix flag \"{rest}\" with \"long\" flag value"
                    )));
                }
                rest = &rest[flag.len()..];
                out.push(flag);
            }
            Mode::Number => {
                let (number, after) = number_flag(rest)?;
                out.push(number.to_string());
                rest = after_comma(after)?;
            }
        }
    }
    Ok(out)
}

/// What follows a comma, which is between two numbers.
fn after_comma(text: &str) -> Result<&str> {
    let mut comma = false;
    for (i, c) in text.char_indices() {
        let rest = &text[i..];
        match c {
            '0'..='9' if comma => return Ok(rest),
            ',' if !comma => comma = true,
            '0'..='9' | ',' => return Err(error(format!("invalid affix flag \"{rest}\""))),
            _ if c.is_whitespace() => {}
            _ => return Err(error(format!("invalid character in affix flag \"{rest}\""))),
        }
    }
    Ok("")
}

/// The number of a set of flags in a list of such sets.
pub(super) fn alias(text: &str) -> Result<(i64, &str)> {
    leading_number(text).ok_or_else(|| bad_alias(text))
}

pub(super) fn bad_alias(text: &str) -> PgError {
    error(format!("invalid affix alias \"{text}\""))
}
