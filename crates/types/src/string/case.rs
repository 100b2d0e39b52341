//! Upper and lower case. Under the C collation only ASCII letters are mapped; else each character
//! by its simple Unicode mapping, as the C library's functions do. Counterpart: formatting.c
//! (str_tolower).

use ids::Oid;
use ids::builtin::collation;
use pgerror::{Result, pg_err};
use values::datum::Datum;
use values::fn_context::FnContext;
use values::limits::allocate;
use values::settings::Encoding;
use values::{memory, pieces};

/// Whether only ASCII letters have case under the call's collation. Error 42P22 if the collation is
/// indeterminate.
pub(crate) fn ascii_only(cx: &dyn FnContext, function: &str) -> Result<bool> {
    let s = cx.settings();
    match cx.collation() {
        Oid::INVALID => Err(pg_err!(
            INDETERMINATE_COLLATION,
            "could not determine which collation to use for {function} function"
        )
        .hint("Use the COLLATE clause to set the collation explicitly.")),
        collation::C | collation::POSIX => Ok(true),
        collation::DEFAULT => Ok(s.ctype_is_c || s.encoding != Encoding::Utf8),
        _ => Ok(s.encoding != Encoding::Utf8),
    }
}

fn simple(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Lower case of one character.
#[inline]
pub fn lower_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    simple(c, c.to_lowercase())
}

/// Lower case of a short text, without checks for interrupts. `ascii`: only ASCII letters have
/// case. Text that is not UTF-8 is converted byte by byte.
pub fn lower_text(text: &[u8], ascii: bool) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(text) if !ascii => text.chars().map(lower_char).collect::<String>().into_bytes(),
        _ => text.to_ascii_lowercase(),
    }
}

/// Upper case of one character.
#[inline]
pub(crate) fn upper_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_uppercase();
    }
    simple(c, c.to_uppercase())
}

/// Maps each character, or each byte if only ASCII letters have case.
fn mapped(
    cx: &dyn FnContext,
    text: &[u8],
    ascii: bool,
    mut map_char: impl FnMut(char) -> char,
    mut map_byte: impl FnMut(u8) -> u8,
) -> Result<Vec<u8>> {
    let mut out = allocate(text.len())?;
    match std::str::from_utf8(text) {
        Ok(s) if !ascii => pieces::each_str(cx, s, |piece| {
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

/// `text` in lower case.
pub(crate) fn lower(cx: &dyn FnContext, text: &[u8], ascii: bool) -> Result<Vec<u8>> {
    mapped(cx, text, ascii, lower_char, |b| b.to_ascii_lowercase())
}

fn upper(cx: &dyn FnContext, text: &[u8], ascii: bool) -> Result<Vec<u8>> {
    mapped(cx, text, ascii, upper_char, |b| b.to_ascii_uppercase())
}

/// Converts the first letter of each word to upper case, the others to lower case; words consist of
/// letters and digits.
fn initcap(cx: &dyn FnContext, text: &[u8], ascii: bool) -> Result<Vec<u8>> {
    let (mut inside, mut inside_bytes) = (false, false);
    let map_char = |c: char| {
        let out = if inside { lower_char(c) } else { upper_char(c) };
        inside = c.is_alphanumeric();
        out
    };
    let map_byte = |c: u8| {
        let out = if inside_bytes { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
        inside_bytes = c.is_ascii_alphanumeric();
        out
    };
    mapped(cx, text, ascii, map_char, map_byte)
}

scalars! { FNS;
    "lower" => |cx, a| {
        let ascii = ascii_only(cx, "lower()")?;
        lower(cx, a[0].as_bytes(), ascii).map(Datum::bytes)
    },
    "upper" => |cx, a| {
        let ascii = ascii_only(cx, "upper()")?;
        upper(cx, a[0].as_bytes(), ascii).map(Datum::bytes)
    },
    "initcap" => |cx, a| {
        let ascii = ascii_only(cx, "initcap()")?;
        initcap(cx, a[0].as_bytes(), ascii).map(Datum::bytes)
    },
}
