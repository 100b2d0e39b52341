//! Lengths, parts, positions, padding, trimming, replacing.

use crate::settings::Encoding;
use crate::text::{char_count, char_len, char_offset};
use crate::{Datum, DatumRef, FnContext};
use pgerror::{PgError, Result, pg_err};

/// Largest value of a varlena type, less its header.
pub(crate) const MAX_BYTES: usize = 0x3fff_ffff - 4;

#[cold]
pub(crate) fn too_long() -> PgError {
    pg_err!(PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

fn enc(cx: &dyn FnContext) -> Encoding {
    cx.settings().encoding
}

fn bytes(b: &[u8]) -> Result<Datum> {
    Ok(Datum::bytes(b))
}

/// Characters `start` (1-based) to `start + length - 1`; to the end without a length.
pub(crate) fn substr(
    text: &[u8],
    start: i32,
    length: Option<i32>,
    encoding: Encoding,
) -> Result<&[u8]> {
    let begin = i64::from(start).max(1);
    let end = match length {
        None => i64::MAX,
        Some(n) if n < 0 => {
            return Err(pg_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        Some(n) => i64::from(start) + i64::from(n),
    };
    if end <= begin {
        return Ok(&[]);
    }
    let from = char_offset(text, (begin - 1) as usize, encoding);
    let tail = &text[from..];
    let to = match length {
        None => tail.len(),
        Some(_) => char_offset(tail, (end - begin) as usize, encoding),
    };
    Ok(&tail[..to])
}

fn overlay(cx: &dyn FnContext, a: &[DatumRef<'_>], length: i32) -> Result<Datum> {
    let (text, new, start) = (a[0].as_bytes(), a[1].as_bytes(), a[2].as_i32());
    if start <= 0 {
        return Err(pg_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let after = start.checked_add(length).ok_or_else(|| crate::form::out_of_range("integer"))?;
    let head = substr(text, 1, Some(start - 1), enc(cx))?;
    let tail = substr(text, after, None, enc(cx))?;
    bytes(&[head, new, tail].concat())
}

/// 1-based position in characters, 0 where `needle` is not there.
fn position(hay: &[u8], needle: &[u8], encoding: Encoding) -> i32 {
    match crate::bytea::position(hay, needle) {
        0 => 0,
        at => char_count(&hay[..at as usize - 1], encoding) as i32 + 1,
    }
}

fn pad(cx: &dyn FnContext, a: &[DatumRef<'_>], left: bool) -> Result<Datum> {
    let encoding = enc(cx);
    let (text, fill) = (a[0].as_bytes(), a[2].as_bytes());
    let want = a[1].as_i32().max(0) as usize;
    let have = char_count(text, encoding);
    if have >= want || fill.is_empty() {
        return bytes(&text[..char_offset(text, want, encoding)]);
    }
    let missing = want - have;
    if missing.saturating_mul(4) > MAX_BYTES {
        return Err(too_long());
    }
    let per_fill = char_count(fill, encoding).max(1);
    let mut padding = fill.repeat(missing / per_fill);
    padding.extend_from_slice(&fill[..char_offset(fill, missing % per_fill, encoding)]);
    bytes(&if left { [&padding, text].concat() } else { [text, &padding].concat() })
}

fn characters(text: &[u8], encoding: Encoding) -> Vec<&[u8]> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (head, tail) = rest.split_at(char_len(rest, encoding));
        out.push(head);
        rest = tail;
    }
    out
}

/// Drops characters of `set` from the ends.
fn trim<'a>(text: &'a [u8], set: &[u8], left: bool, right: bool, encoding: Encoding) -> &'a [u8] {
    let set = characters(set, encoding);
    let mut out = text;
    while left && !out.is_empty() {
        let len = char_len(out, encoding);
        if !set.contains(&&out[..len]) {
            break;
        }
        out = &out[len..];
    }
    while right && !out.is_empty() {
        let mut at = out.len() - 1;
        while encoding == Encoding::Utf8 && at > 0 && out[at] & 0xC0 == 0x80 {
            at -= 1;
        }
        if !set.contains(&&out[at..]) {
            break;
        }
        out = &out[..at];
    }
    out
}

/// Replaces every `from` by `to`.
pub(crate) fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while !from.is_empty() {
        let at = crate::bytea::position(rest, from);
        if at == 0 {
            break;
        }
        let at = at as usize - 1;
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn translate(text: &[u8], from: &[u8], to: &[u8], encoding: Encoding) -> Vec<u8> {
    let (from, to) = (characters(from, encoding), characters(to, encoding));
    let mut out = Vec::with_capacity(text.len());
    for c in characters(text, encoding) {
        match from.iter().position(|f| *f == c) {
            None => out.extend_from_slice(c),
            Some(i) => out.extend_from_slice(to.get(i).copied().unwrap_or_default()),
        }
    }
    out
}

fn repeat(text: &[u8], count: i32) -> Result<Datum> {
    let count = count.max(0) as usize;
    if text.len().checked_mul(count).is_none_or(|n| n > MAX_BYTES) {
        return Err(too_long());
    }
    Ok(Datum::bytes(text.repeat(count)))
}

/// The first (`left`) or last `n` characters; a negative `n` counts from the other end.
fn end_part(text: &[u8], n: i32, left: bool, encoding: Encoding) -> &[u8] {
    let len = char_count(text, encoding) as i64;
    let n = i64::from(n);
    if left {
        let keep = if n < 0 { (len + n).max(0) } else { n };
        &text[..char_offset(text, keep as usize, encoding)]
    } else {
        let drop = if n < 0 { -n } else { (len - n).max(0) };
        &text[char_offset(text, drop as usize, encoding)..]
    }
}

/// Code of the first character.
fn ascii(text: &[u8], encoding: Encoding) -> i32 {
    let Some(&first) = text.first() else { return 0 };
    if encoding != Encoding::Utf8 {
        return first.into();
    }
    let len = char_len(text, encoding);
    let c = std::str::from_utf8(&text[..len]).ok().and_then(|s| s.chars().next());
    c.map_or(first.into(), |c| c as i32)
}

fn chr(code: i32, encoding: Encoding) -> Result<Datum> {
    if code < 0 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "character number must be positive"));
    }
    if code == 0 {
        return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "null character not permitted"));
    }
    if encoding == Encoding::Utf8 {
        if code > 0x10ffff {
            return Err(pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "requested character too large for encoding: {code}"
            ));
        }
        return match char::from_u32(code as u32) {
            Some(c) => Ok(Datum::text(&c.to_string())),
            None => Err(pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "requested character not valid for encoding: {code}"
            )),
        };
    }
    match u8::try_from(code) {
        Ok(b) => Ok(Datum::bytes([b])),
        Err(_) => Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "requested character too large for encoding: {code}"
        )),
    }
}

fn blank_trim(cx: &dyn FnContext, a: &[DatumRef<'_>], left: bool, right: bool) -> Result<Datum> {
    let set = a.get(1).map_or(b" ".as_slice(), |d| d.as_bytes());
    bytes(trim(a[0].as_bytes(), set, left, right, enc(cx)))
}

scalars! { FNS;
    "textlen" => |cx, a| Ok(Datum::int4(char_count(a[0].as_bytes(), enc(cx)) as i32)),
    "textoctetlen" => |_, a| Ok(Datum::int4(a[0].as_bytes().len() as i32)),
    "textcat" => |_, a| bytes(&[a[0].as_bytes(), a[1].as_bytes()].concat()),
    "text_substr" => |cx, a| bytes(
        substr(a[0].as_bytes(), a[1].as_i32(), Some(a[2].as_i32()), enc(cx))?),
    "text_substr_no_len" =>
        |cx, a| bytes(substr(a[0].as_bytes(), a[1].as_i32(), None, enc(cx))?),
    "textoverlay" => |cx, a| overlay(cx, a, a[3].as_i32()),
    "textoverlay_no_len" => |cx, a| {
        overlay(cx, a, char_count(a[1].as_bytes(), enc(cx)) as i32)
    },
    "textpos" =>
        |cx, a| Ok(Datum::int4(position(a[0].as_bytes(), a[1].as_bytes(), enc(cx)))),
    "text_starts_with" =>
        |_, a| Ok(Datum::bool(a[0].as_bytes().starts_with(a[1].as_bytes()))),
    "lpad" => |cx, a| pad(cx, a, true),
    "rpad" => |cx, a| pad(cx, a, false),
    "btrim" => |cx, a| blank_trim(cx, a, true, true),
    "btrim1" => |cx, a| blank_trim(cx, a, true, true),
    "ltrim" => |cx, a| blank_trim(cx, a, true, false),
    "ltrim1" => |cx, a| blank_trim(cx, a, true, false),
    "rtrim" => |cx, a| blank_trim(cx, a, false, true),
    "rtrim1" => |cx, a| blank_trim(cx, a, false, true),
    "replace_text" => |_, a| Ok(Datum::bytes(
        replace(a[0].as_bytes(), a[1].as_bytes(), a[2].as_bytes()))),
    "translate" => |cx, a| Ok(Datum::bytes(
        translate(a[0].as_bytes(), a[1].as_bytes(), a[2].as_bytes(), enc(cx)))),
    "repeat" => |_, a| repeat(a[0].as_bytes(), a[1].as_i32()),
    "text_left" => |cx, a| bytes(end_part(a[0].as_bytes(), a[1].as_i32(), true, enc(cx))),
    "text_right" => |cx, a| bytes(end_part(a[0].as_bytes(), a[1].as_i32(), false, enc(cx))),
    "text_reverse" => |cx, a| {
        let mut chars = characters(a[0].as_bytes(), enc(cx));
        chars.reverse();
        bytes(&chars.concat())
    },
    "ascii" => |cx, a| Ok(Datum::int4(ascii(a[0].as_bytes(), enc(cx)))),
    "chr" => |cx, a| chr(a[0].as_i32(), enc(cx)),
}
