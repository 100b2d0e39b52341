//! Conversion between strings and lists: split_part, string_to_array, array_to_string, unistr.
//! Counterpart: varlena.c.

use crate::collated;
use ids::Oid;
use locale::Locale;
use pgerror::{Result, pg_err};
use std::sync::Arc;
use values::array::payload;
use values::array::{ArrayRef, TextArray};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::function::{SetSource, VecSource};
use values::limits::{TextBuffer, allocate_payload};
use values::oids;

/// The fields of `text` between separators.
fn fields<'a>(text: &'a [u8], separator: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let finder = memchr::memmem::Finder::new(separator);
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(at) = finder.find(text) else { return rest.take() };
        rest = Some(&text[at + separator.len()..]);
        Some(&text[..at])
    })
}

fn split_part(text: &[u8], separator: &[u8], n: i32) -> Result<Datum> {
    if n == 0 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "field position must not be zero"));
    }
    let part = if text.is_empty() {
        None
    } else if separator.is_empty() {
        (n.unsigned_abs() == 1).then_some(text)
    } else if n > 0 {
        fields(text, separator).nth(n as usize - 1)
    } else {
        let count = fields(text, separator).count();
        let before = count.checked_sub(n.unsigned_abs() as usize);
        before.and_then(|i| fields(text, separator).nth(i))
    };
    Ok(Datum::bytes(part.unwrap_or_default()))
}

/// The locale of the call's collation, if it takes texts of different bytes as equal.
fn loose_locale(cx: &mut dyn FnContext) -> Result<Option<Arc<Locale>>> {
    let collation = cx.collation();
    if collation < Oid::FIRST_UNPINNED {
        return Ok(None);
    }
    Ok(cx.locale(collation)?.filter(|locale| !locale.is_deterministic()))
}

/// Calls `push` with each element of string_to_array and string_to_table; false for a NULL string.
/// A NULL separator splits into characters, an empty one does not split. `loose`: see
/// [`loose_locale`].
fn elements(
    cx: &dyn FnContext,
    a: &[DatumRef<'_>],
    loose: Option<&Locale>,
    push: &mut dyn FnMut(Option<&[u8]>) -> Result<()>,
) -> Result<bool> {
    if a[0].is_null() {
        return Ok(false);
    }
    let text = a[0].as_bytes();
    let null = a.get(2).filter(|n| !n.is_null()).map(|n| n.as_bytes());
    let is_null = |part: &[u8]| match (null, loose) {
        (None, _) => false,
        (Some(null), None) => null == part,
        (Some(null), Some(locale)) => locale.is_equal(null, part),
    };
    let mut push = |part: &[u8]| push((!is_null(part)).then_some(part));
    if text.is_empty() {
        return Ok(true);
    }
    if a[1].is_null() {
        let encoding = cx.settings().encoding;
        let mut rest = text;
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(values::text::char_len(rest, encoding));
            push(head)?;
            rest = tail;
        }
    } else if a[1].as_bytes().is_empty() {
        push(text)?;
    } else if loose.is_some() {
        return Err(collated::nondeterministic(collated::SEARCHES));
    } else {
        fields(text, a[1].as_bytes()).try_for_each(push)?;
    }
    Ok(true)
}

fn to_array(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut out = TextArray::default();
    let loose = loose_locale(cx)?;
    let is_array = elements(cx, a, loose.as_deref(), &mut |part| out.push(part, cx))?;
    if is_array { out.finish() } else { Ok(Datum::Null) }
}

fn to_rows(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Box<dyn SetSource>> {
    let (mut out, mut ticker) = (Vec::new(), InterruptTicker::default());
    let loose = loose_locale(cx)?;
    elements(cx, a, loose.as_deref(), &mut |part| {
        ticker.tick(cx)?;
        out.push(part.map_or(Datum::Null, Datum::bytes));
        Ok(())
    })?;
    Ok(VecSource::boxed(out))
}

/// Joins the text forms of the elements; NULLs are replaced by `null`, or skipped.
pub(crate) fn join(
    cx: &mut dyn FnContext,
    array: DatumRef<'_>,
    separator: &[u8],
    null: Option<&[u8]>,
) -> Result<Datum> {
    let array = ArrayRef::new(array)?;
    let elem = cx.type_info(array.elem_type())?;
    let mut out = TextBuffer::new();
    let mut first = true;
    for (i, value) in array.iter(&elem).enumerate() {
        if value.is_null() && null.is_none() {
            continue;
        }
        let before = if first { &[] } else { separator };
        first = false;
        match value {
            DatumRef::Null => out.extend_printed(&[before, null.unwrap_or_default()]),
            v => out.extend_printed(&[before, &cx.type_output(elem.oid, v)?]),
        }
        out.check()?;
        if i % 4096 == 4095 {
            cx.check_interrupts()?;
        }
    }
    out.into_datum()
}

/// The value of `n` hexadecimal digits at the start of `text`.
fn hex_prefix(text: &[u8], n: usize) -> Option<u32> {
    text.get(..n)?.iter().try_fold(0, |code, c| Some(code << 4 | (*c as char).to_digit(16)?))
}

/// The code point of the escape at the start of `text`, and the length of the escape.
fn escape(text: &[u8]) -> Option<(u32, usize)> {
    let after = |start: usize, digits: usize| {
        let code = hex_prefix(text.get(start..)?, digits)?;
        Some((code, start + digits))
    };
    let long = match text.get(1) {
        Some(b'u') => after(2, 4),
        Some(b'U') => after(2, 8),
        Some(b'+') => after(2, 6),
        _ => None,
    };
    long.or_else(|| after(1, 4))
}

/// Unescapes `\XXXX`, `\+XXXXXX`, `\uXXXX`, `\UXXXXXXXX`.
fn unistr(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let mut out = allocate_payload(text.len())?;
    let mut high: Option<u32> = None;
    let bad_pair = || pg_err!(SYNTAX_ERROR, "invalid Unicode surrogate pair");
    let (mut rest, mut ticker) = (text, InterruptTicker::default());
    while let Some(first) = rest.first() {
        ticker.tick(cx)?;
        let plain = match rest {
            [b'\\', b'\\', ..] => 2,
            [b'\\', ..] => 0,
            _ => 1,
        };
        if plain > 0 {
            if high.is_some() {
                return Err(bad_pair());
            }
            out.push(*first);
            rest = &rest[plain..];
            continue;
        }
        let Some((code, used)) = escape(rest) else {
            return Err(pg_err!(SYNTAX_ERROR, "invalid Unicode escape")
                .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX."));
        };
        if code > 0x10ffff || code == 0 {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid Unicode code point: {code:04X}"));
        }
        rest = &rest[used..];
        let code = match (high.take(), code) {
            (None, 0xD800..0xDC00) => {
                high = Some(code);
                continue;
            }
            (Some(h), 0xDC00..0xE000) => 0x10000 + ((h - 0xD800) << 10) + (code - 0xDC00),
            (Some(_), _) | (None, 0xDC00..0xE000) => return Err(bad_pair()),
            (None, code) => code,
        };
        let c = char::from_u32(code).ok_or_else(bad_pair)?;
        // An escape is at least as long as its character, so the capacity is sufficient.
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    if high.is_some() {
        return Err(bad_pair());
    }
    Ok(Datum::bytes(out))
}

scalars! { FNS;
    "split_part" => |_, a| split_part(a[0].as_bytes(), a[1].as_bytes(), a[2].as_i32()),
    "text_to_array" => to_array,
    "text_to_array_null" => to_array,
    "array_to_text" => |cx, a| join(cx, a[0], a[1].as_bytes(), None),
    // Not strict: the third argument may be NULL.
    "array_to_text_null" => |cx, a| {
        if a[0].is_null() || a[1].is_null() {
            return Ok(Datum::Null);
        }
        let null = if a[2].is_null() { None } else { Some(a[2].as_bytes()) };
        join(cx, a[0], a[1].as_bytes(), null)
    },
    "unistr" => |cx, a| unistr(cx, a[0].as_bytes()),
}

/// The rows of pg_options_to_table: name and value of each `name=value`.
struct Options(std::vec::IntoIter<Vec<u8>>);

impl SetSource for Options {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        let Some(option) = self.0.next() else { return Ok(false) };
        let at = option.iter().position(|&c| c == b'=');
        out.push(Datum::bytes(&option[..at.unwrap_or(option.len())]));
        out.push(at.map_or(Datum::Null, |at| Datum::bytes(&option[at + 1..])));
        Ok(true)
    }
}

fn options(array: DatumRef<'_>) -> Result<Box<dyn SetSource>> {
    let text = payload::builtin_info(oids::TEXT);
    let array = ArrayRef::new(array)?;
    let options = array.iter(&text).filter(|o| !o.is_null()).map(|o| o.as_bytes().to_vec());
    Ok(Box::new(Options(options.collect::<Vec<_>>().into_iter())))
}

builtins! { SETS;
    "pg_options_to_table" => Srf(|_, a| options(a[0])),
    "text_to_table" => Srf(to_rows),
    "text_to_table_null" => Srf(to_rows),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fields_count() {
        assert!(fields(b"a,,b", b",").eq([b"a".as_slice(), b"", b"b"]));
        assert!(fields(b",", b",").eq([b"".as_slice(), b""]));
    }
}
