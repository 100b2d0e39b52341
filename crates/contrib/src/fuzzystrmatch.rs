//! fuzzystrmatch: similarity of strings by edit distance and by sound.
//!
//! Counterpart: contrib/fuzzystrmatch/fuzzystrmatch.c, adt/levenshtein.c.

mod double_metaphone;
mod metaphone;

use crate::library::Library;
use pgerror::{PgError, Result, SqlState, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::text::char_len;

pub static LIBRARY: Library =
    Library { name: "fuzzystrmatch", functions: &[FNS], ..Library::EMPTY };

/// Maximum length of the strings of an edit distance, in characters.
const CHARACTERS_MAX: usize = 255;
/// Maximum length of a word, and of its metaphone.
const METAPHONE_BYTES_MAX: usize = 255;
/// Length of a Soundex code.
const SOUNDEX_BYTES: usize = 4;

/// The codes of the letters A to Z.
const SOUNDEX: &[u8; 26] = b"01230120022455012623010202";

/// The costs of the edits.
struct Costs {
    insert: i64,
    delete: i64,
    substitute: i64,
}

const UNIT: Costs = Costs { insert: 1, delete: 1, substitute: 1 };

impl Costs {
    fn of(a: &[DatumRef<'_>]) -> Costs {
        let cost = |i: usize| i64::from(a[i].as_i32());
        Costs { insert: cost(2), delete: cost(3), substitute: cost(4) }
    }
}

/// The characters of a text, their bytes as numbers.
fn characters(cx: &dyn FnContext, mut text: &[u8]) -> Vec<u32> {
    let encoding = cx.settings().encoding;
    let mut out = Vec::with_capacity(text.len().min(CHARACTERS_MAX + 1));
    while !text.is_empty() {
        let (first, rest) = text.split_at(char_len(text, encoding).clamp(1, text.len()));
        out.push(first.iter().fold(0, |code, &byte| code << 8 | u32::from(byte)));
        text = rest;
    }
    out
}

/// A distance as a value; 22003 if it does not fit.
fn distance_value(distance: i64) -> Result<Datum> {
    let value = i32::try_from(distance)
        .map_err(|_| pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "levenshtein distance out of range"))?;
    Ok(Datum::int4(value))
}

/// The least cost of edits that make the first string the second. If that is above `limit`, the
/// result is `limit` + 1.
fn distance(
    cx: &dyn FnContext,
    a: &[DatumRef<'_>],
    costs: &Costs,
    limit: Option<i32>,
) -> Result<Datum> {
    let (from, to) = (characters(cx, a[0].as_bytes()), characters(cx, a[1].as_bytes()));
    let (m, n) = (from.len() as i64, to.len() as i64);
    if m == 0 {
        return distance_value(n.saturating_mul(costs.insert));
    }
    if n == 0 {
        return distance_value(m.saturating_mul(costs.delete));
    }
    if from.len() > CHARACTERS_MAX || to.len() > CHARACTERS_MAX {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "levenshtein argument exceeds maximum length of {CHARACTERS_MAX} characters"
        ));
    }
    let limit = limit.map(i64::from).filter(|limit| *limit >= 0);
    if let Some(limit) = limit {
        let least = if n < m { (m - n) * costs.delete } else { (n - m) * costs.insert };
        if least > limit {
            return distance_value(limit + 1);
        }
    }
    let mut ticker = InterruptTicker::default();
    let mut previous: Vec<i64> = (0..=m).map(|i| i * costs.delete).collect();
    let mut current = vec![0; previous.len()];
    for (j, y) in to.iter().enumerate() {
        ticker.tick(cx)?;
        current[0] = (j as i64 + 1) * costs.insert;
        // Sums of 510 costs fit; wrapping arithmetic, which never wraps, has no checks.
        let mut left = current[0];
        let above = previous.windows(2).zip(&mut current[1..]);
        for (x, (pair, out)) in from.iter().zip(above) {
            let substitute = pair[0].wrapping_add(if x == y { 0 } else { costs.substitute });
            let insert = pair[1].wrapping_add(costs.insert);
            left = left.wrapping_add(costs.delete).min(insert).min(substitute);
            *out = left;
        }
        std::mem::swap(&mut previous, &mut current);
    }
    let found = previous[from.len()];
    distance_value(limit.map_or(found, |limit| found.min(limit + 1)))
}

/// The Soundex code of a letter; other bytes are their own code.
fn soundex_code(byte: u8) -> u8 {
    let upper = byte.to_ascii_uppercase();
    match upper {
        b'A'..=b'Z' => SOUNDEX[usize::from(upper - b'A')],
        other => other,
    }
}

/// Empty if the text has no letter.
fn soundex(text: &[u8]) -> Vec<u8> {
    let Some(start) = text.iter().position(u8::is_ascii_alphabetic) else { return Vec::new() };
    let word = &text[start..];
    let mut out = vec![word[0].to_ascii_uppercase()];
    for pair in word.windows(2) {
        if out.len() == SOUNDEX_BYTES {
            break;
        }
        let code = soundex_code(pair[1]);
        if pair[1].is_ascii_alphabetic() && code != soundex_code(pair[0]) && code != b'0' {
            out.push(code);
        }
    }
    out.resize(SOUNDEX_BYTES, b'0');
    out
}

/// The number of equal places of the Soundex codes.
fn difference(a: &[u8], b: &[u8]) -> i32 {
    let (mut a, mut b) = (soundex(a), soundex(b));
    a.resize(SOUNDEX_BYTES, 0);
    b.resize(SOUNDEX_BYTES, 0);
    a.iter().zip(&b).filter(|(a, b)| a == b).count() as i32
}

fn metaphone(text: &[u8], length: i32) -> Result<Datum> {
    if text.is_empty() {
        return Ok(Datum::text(""));
    }
    if text.len() > METAPHONE_BYTES_MAX {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "argument exceeds the maximum length of {METAPHONE_BYTES_MAX} bytes"
        ));
    }
    if length > METAPHONE_BYTES_MAX as i32 {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "output exceeds the maximum length of {METAPHONE_BYTES_MAX} bytes"
        ));
    }
    if length <= 0 {
        return Err(PgError::new(
            SqlState::ZERO_LENGTH_CHARACTER_STRING,
            "output cannot be empty string",
        ));
    }
    Ok(Datum::bytes(metaphone::encode(text, length as usize)))
}

/// One of the codes of Double Metaphone.
fn sound_code(text: &[u8], which: usize) -> Result<Datum> {
    let codes = double_metaphone::encode(text);
    Ok(Datum::bytes(codes[which].as_slice()))
}

scalars! { FNS;
    "dmetaphone" => |_, a| sound_code(a[0].as_bytes(), 0),
    "dmetaphone_alt" => |_, a| sound_code(a[0].as_bytes(), 1),
    "levenshtein" => |cx, a| distance(cx, a, &UNIT, None),
    "levenshtein_with_costs" => |cx, a| distance(cx, a, &Costs::of(a), None),
    "levenshtein_less_equal" => |cx, a| distance(cx, a, &UNIT, Some(a[2].as_i32())),
    "levenshtein_less_equal_with_costs" => |cx, a| {
        distance(cx, a, &Costs::of(a), Some(a[5].as_i32()))
    },
    "soundex" => |_, a| Ok(Datum::bytes(soundex(a[0].as_bytes()))),
    "difference" => |_, a| Ok(Datum::int4(difference(a[0].as_bytes(), a[1].as_bytes()))),
    "metaphone" => |_, a| metaphone(a[0].as_bytes(), a[1].as_i32()),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes by PostgreSQL 15.
    #[test]
    fn codes_are_those_of_postgresql() {
        for (text, code) in [("Anne", "A500"), ("hello world!", "H464"), ("Tymczak", "T522")] {
            assert_eq!(soundex(text.as_bytes()), code.as_bytes());
        }
        assert_eq!(soundex(b"12"), b"");
        assert_eq!(difference(b"Anne", b"Andrew"), 2);
        for (text, code) in [("GUMBO", "KM"), ("Thompson", "0MPS"), ("Xylophone", "SLFN")] {
            assert_eq!(metaphone::encode(text.as_bytes(), 4), code.as_bytes(), "{text}");
        }
    }
}
