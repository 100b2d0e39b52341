//! Upper and lower case. Under the C collation only ASCII letters are mapped; else each character
//! to one other by the C library, or the text by ICU. Counterpart: formatting.c
//! (str_tolower).

use ids::Oid;
use ids::builtin::collation;
use locale::Locale;
use locale::unicode::{is_alnum, lower_char, upper_char};
use pgerror::{Result, pg_err};
use std::sync::Arc;
use values::datum::Datum;
use values::fn_context::FnContext;
use values::limits::allocate;
use values::settings::{Encoding, Settings};
use values::{memory, pieces};

/// The letters of a collation and their cases.
#[derive(Clone, Debug)]
pub enum Letters {
    /// Only those of ASCII.
    Ascii,
    /// Those of Unicode.
    Unicode,
    Locale(Arc<Locale>),
}

impl Letters {
    /// Those of a database's default collation.
    pub fn of_database(s: &Settings) -> Letters {
        match &s.default_locale {
            Some(locale) => Letters::Locale(locale.clone()),
            None if s.ctype_is_c || s.encoding != Encoding::Utf8 => Letters::Ascii,
            None => Letters::Unicode,
        }
    }

    /// These without ICU's rules, which depend on neighbouring characters, as trigrams have them.
    pub fn by_character(self) -> Letters {
        match self {
            Letters::Locale(locale) if locale.is_icu() => Letters::Unicode,
            other => other,
        }
    }
}

/// The letters of the call's collation. Error 42P22 if the collation is indeterminate.
pub(crate) fn letters(cx: &mut dyn FnContext, function: &str) -> Result<Letters> {
    match cx.collation() {
        Oid::INVALID => Err(pg_err!(
            INDETERMINATE_COLLATION,
            "could not determine which collation to use for {function} function"
        )
        .hint("Use the COLLATE clause to set the collation explicitly.")),
        collation::C | collation::POSIX => Ok(Letters::Ascii),
        collation::DEFAULT => Ok(Letters::of_database(cx.settings())),
        other => Ok(match cx.locale(other)? {
            Some(locale) => Letters::Locale(locale),
            None if cx.settings().encoding != Encoding::Utf8 => Letters::Ascii,
            None => Letters::Unicode,
        }),
    }
}

/// Lower case of a short text, without checks for interrupts. Text that is not UTF-8 is converted
/// byte by byte.
pub fn lower_text(text: &[u8], letters: &Letters) -> Vec<u8> {
    match (letters, std::str::from_utf8(text)) {
        (Letters::Ascii, _) | (Letters::Unicode, Err(_)) => text.to_ascii_lowercase(),
        (Letters::Unicode, Ok(text)) => {
            text.chars().map(lower_char).collect::<String>().into_bytes()
        }
        (Letters::Locale(locale), _) if locale.is_single_byte() => {
            text.iter().map(|&b| locale.lower_char(b.into()) as u8).collect()
        }
        (Letters::Locale(locale), Ok(text)) => match locale.lower_text(text.as_bytes()) {
            Some(Ok(lower)) => lower,
            Some(Err(_)) => text.as_bytes().to_vec(),
            None => text
                .chars()
                .map(|c| mapped_char(c, |c| locale.lower_char(c)))
                .collect::<String>()
                .into_bytes(),
        },
        (Letters::Locale(_), Err(_)) => text.to_ascii_lowercase(),
    }
}

/// The character that a locale's function maps another one to.
fn mapped_char(c: char, map: impl FnOnce(u32) -> u32) -> char {
    char::from_u32(map(c as u32)).unwrap_or(c)
}

/// Maps each character, or each byte if `by_byte`.
fn mapped(
    cx: &dyn FnContext,
    text: &[u8],
    by_byte: bool,
    mut map_char: impl FnMut(char) -> char,
    mut map_byte: impl FnMut(u8) -> u8,
) -> Result<Vec<u8>> {
    let mut out = allocate(text.len())?;
    match std::str::from_utf8(text) {
        Ok(s) if !by_byte => pieces::each_str(cx, s, |piece| {
            // The other case of a letter may have more bytes.
            memory::reserve(&mut out, piece.len())?;
            for c in piece.chars() {
                let mapped = map_char(c);
                match mapped.is_ascii() {
                    true => out.push(mapped as u8),
                    false => out.extend(mapped.encode_utf8(&mut [0; 4]).bytes()),
                }
            }
            Ok(())
        })?,
        _ => pieces::each(cx, text, |piece| {
            out.extend(piece.iter().map(|b| map_byte(*b)));
            Ok(())
        })?,
    }
    Ok(out)
}

/// The result of a mapping by rules of ICU.
fn by_rules(mapped: std::result::Result<Vec<u8>, String>) -> Result<Vec<u8>> {
    mapped.map_err(|e| pg_err!(INTERNAL_ERROR, "case conversion failed: {e}"))
}

/// `text` in lower case.
pub(crate) fn lower(cx: &dyn FnContext, text: &[u8], letters: &Letters) -> Result<Vec<u8>> {
    let Letters::Locale(locale) = letters else {
        let ascii = matches!(letters, Letters::Ascii);
        return mapped(cx, text, ascii, lower_char, |b| b.to_ascii_lowercase());
    };
    if let Some(lower) = locale.lower_text(text) {
        return by_rules(lower);
    }
    let map_char = |c| mapped_char(c, |c| locale.lower_char(c));
    let map_byte = |b: u8| locale.lower_char(b.into()) as u8;
    mapped(cx, text, locale.is_single_byte(), map_char, map_byte)
}

fn upper(cx: &dyn FnContext, text: &[u8], letters: &Letters) -> Result<Vec<u8>> {
    let Letters::Locale(locale) = letters else {
        let ascii = matches!(letters, Letters::Ascii);
        return mapped(cx, text, ascii, upper_char, |b| b.to_ascii_uppercase());
    };
    if let Some(upper) = locale.upper_text(text) {
        return by_rules(upper);
    }
    let map_char = |c| mapped_char(c, |c| locale.upper_char(c));
    let map_byte = |b: u8| locale.upper_char(b.into()) as u8;
    mapped(cx, text, locale.is_single_byte(), map_char, map_byte)
}

/// As [`initcap`], by a locale.
fn initcap_by(cx: &dyn FnContext, text: &[u8], locale: &Locale) -> Result<Vec<u8>> {
    if let Some(title) = locale.title_text(text) {
        return by_rules(title);
    }
    let (mut inside, mut inside_bytes) = (false, false);
    let step = |inside: &mut bool, c: u32| {
        let out = if *inside { locale.lower_char(c) } else { locale.upper_char(c) };
        *inside = locale.is_alnum(out);
        out
    };
    let map_char = |c: char| mapped_char(c, |c| step(&mut inside, c));
    let map_byte = |b: u8| step(&mut inside_bytes, b.into()) as u8;
    mapped(cx, text, locale.is_single_byte(), map_char, map_byte)
}

/// Converts the first letter of each word to upper case, the others to lower case; words consist of
/// letters and digits.
fn initcap(cx: &dyn FnContext, text: &[u8], letters: &Letters) -> Result<Vec<u8>> {
    if let Letters::Locale(locale) = letters {
        return initcap_by(cx, text, locale);
    }
    let (mut inside, mut inside_bytes) = (false, false);
    let map_char = |c: char| {
        let out = if inside { lower_char(c) } else { upper_char(c) };
        inside = is_alnum(out);
        out
    };
    let map_byte = |c: u8| {
        let out = if inside_bytes { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
        inside_bytes = c.is_ascii_alphanumeric();
        out
    };
    mapped(cx, text, matches!(letters, Letters::Ascii), map_char, map_byte)
}

scalars! { FNS;
    "lower" => |cx, a| {
        let letters = letters(cx, "lower()")?;
        lower(cx, a[0].as_bytes(), &letters).map(Datum::bytes)
    },
    "upper" => |cx, a| {
        let letters = letters(cx, "upper()")?;
        upper(cx, a[0].as_bytes(), &letters).map(Datum::bytes)
    },
    "initcap" => |cx, a| {
        let letters = letters(cx, "initcap()")?;
        initcap(cx, a[0].as_bytes(), &letters).map(Datum::bytes)
    },
}
