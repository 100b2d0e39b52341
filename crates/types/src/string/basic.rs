//! Length, substrings, positions, padding, trimming, replacement. Counterpart: varlena.c,
//! oracle_compat.c.

use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::{PAYLOAD_BYTES_MAX, TextBuffer, allocate_payload};
use values::limits::{buffer_full, requested_length_too_large};
use values::pieces::{self, copied, joined};
use values::settings::Encoding;
use values::text::{char_count, char_len, char_offset};

fn enc(cx: &dyn FnContext) -> Encoding {
    cx.settings().encoding
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
    let after =
        start.checked_add(length).ok_or_else(|| values::type_io::out_of_range("integer"))?;
    let head = substr(text, 1, Some(start - 1), enc(cx))?;
    let tail = substr(text, after, None, enc(cx))?;
    joined(cx, &[head, new, tail])
}

/// 54000 if this number of characters of maximal length would exceed the size of a value.
fn check_characters(count: usize, encoding: Encoding) -> Result<()> {
    let longest = if encoding == Encoding::Utf8 { 4 } else { 1 };
    if count.saturating_mul(longest) > PAYLOAD_BYTES_MAX {
        return Err(requested_length_too_large());
    }
    Ok(())
}

/// 1-based position in characters, 0 if `needle` does not occur.
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
    let have = char_count(text, encoding).min(want);
    check_characters(if fill.is_empty() { have } else { want }, encoding)?;
    if have == want || fill.is_empty() {
        return copied(cx, &text[..char_offset(text, want, encoding)]);
    }
    let missing = want - have;
    let per_fill = char_count(fill, encoding).max(1);
    let part = &fill[..char_offset(fill, missing % per_fill, encoding)];
    let filled = missing / per_fill * fill.len();
    let mut out = allocate_payload(text.len() + filled + part.len())?;
    if !left {
        pieces::append(cx, &mut out, text)?;
    }
    pieces::append_repeated(cx, &mut out, fill, filled)?;
    pieces::append(cx, &mut out, part)?;
    if left {
        pieces::append(cx, &mut out, text)?;
    }
    Ok(Datum::bytes(out))
}

/// The characters in order, each as its bytes.
fn characters(text: &[u8], encoding: Encoding) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (head, tail) = rest.split_at(char_len(rest, encoding));
        rest = tail;
        Some(head)
    })
}

/// Removes characters of `set` from the ends.
fn trim<'a>(text: &'a [u8], set: &[u8], left: bool, right: bool, encoding: Encoding) -> &'a [u8] {
    let set: Vec<&[u8]> = characters(set, encoding).collect();
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

/// Replaces every occurrence of `from` by `to`.
fn replace(cx: &dyn FnContext, text: &[u8], from: &[u8], to: &[u8]) -> Result<Datum> {
    if from.is_empty() || text.len() < from.len() {
        return copied(cx, text);
    }
    let finder = memchr::memmem::Finder::new(from);
    let most = (text.len() / from.len()).saturating_mul(to.len());
    if to.len() > from.len() && most > PAYLOAD_BYTES_MAX {
        check_replaced(text, from, to, &finder)?;
    }
    let mut out = TextBuffer::with_capacity(text.len());
    let mut copied = 0;
    for (i, at) in finder.find_iter(text).enumerate() {
        pieces::append_text(cx, &mut out, &text[copied..at])?;
        pieces::append_text(cx, &mut out, to)?;
        copied = at + from.len();
        if i % 4096 == 4095 {
            cx.check_interrupts()?;
        }
    }
    pieces::append_text(cx, &mut out, &text[copied..])?;
    out.into_datum()
}

/// 54000 if the result of [`replace`] would be too long; checked before it is built.
fn check_replaced(
    text: &[u8],
    from: &[u8],
    to: &[u8],
    finder: &memchr::memmem::Finder<'_>,
) -> Result<()> {
    let (mut held, mut copied) = (0, 0);
    let mut add = |more: usize| {
        if more >= PAYLOAD_BYTES_MAX - held {
            return Err(buffer_full(held, more));
        }
        held += more;
        Ok(())
    };
    for at in finder.find_iter(text) {
        add(at - copied)?;
        add(to.len())?;
        copied = at + from.len();
    }
    add(text.len() - copied)
}

fn translate(cx: &dyn FnContext, a: &[DatumRef<'_>], encoding: Encoding) -> Result<Datum> {
    let text = a[0].as_bytes();
    check_characters(text.len(), encoding)?;
    let from: Vec<&[u8]> = characters(a[1].as_bytes(), encoding).collect();
    let to: Vec<&[u8]> = characters(a[2].as_bytes(), encoding).collect();
    let mut out = TextBuffer::with_capacity(text.len());
    let period = (1 << 20) / from.len().max(1) + 1;
    for (i, c) in characters(text, encoding).enumerate() {
        match from.iter().position(|f| *f == c) {
            None => out.extend_from_slice(c),
            Some(i) => out.extend_from_slice(to.get(i).copied().unwrap_or_default()),
        }
        if i % period == period - 1 {
            cx.check_interrupts()?;
        }
    }
    out.into_datum()
}

fn repeat(cx: &dyn FnContext, text: &[u8], count: i32) -> Result<Datum> {
    let count = count.max(0) as usize;
    let total = text.len().saturating_mul(count);
    if total > PAYLOAD_BYTES_MAX {
        return Err(requested_length_too_large());
    }
    let mut out = allocate_payload(total)?;
    pieces::append_repeated(cx, &mut out, text, total)?;
    Ok(Datum::bytes(out))
}

fn reverse(cx: &dyn FnContext, text: &[u8], encoding: Encoding) -> Result<Datum> {
    let mut out = allocate_payload(text.len())?;
    let mut end = text.len();
    let mut ticker = InterruptTicker::default();
    while end > 0 {
        ticker.tick(cx)?;
        let mut start = end - 1;
        while encoding == Encoding::Utf8 && start > 0 && text[start] & 0xC0 == 0x80 {
            start -= 1;
        }
        out.extend_from_slice(&text[start..end]);
        end = start;
    }
    Ok(Datum::bytes(out))
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

/// Code point of the first character.
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
    copied(cx, trim(a[0].as_bytes(), set, left, right, enc(cx)))
}

scalars! { FNS;
    "textlen" => |cx, a| Ok(Datum::int4(char_count(a[0].as_bytes(), enc(cx)) as i32)),
    "textoctetlen" => |_, a| Ok(Datum::int4(a[0].as_bytes().len() as i32)),
    "textcat" => |cx, a| joined(cx, &[a[0].as_bytes(), a[1].as_bytes()]),
    "text_substr" => |cx, a| copied(cx,
        substr(a[0].as_bytes(), a[1].as_i32(), Some(a[2].as_i32()), enc(cx))?),
    "text_substr_no_len" =>
        |cx, a| copied(cx, substr(a[0].as_bytes(), a[1].as_i32(), None, enc(cx))?),
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
    "replace_text" =>
        |cx, a| replace(cx, a[0].as_bytes(), a[1].as_bytes(), a[2].as_bytes()),
    "translate" => |cx, a| translate(cx, a, enc(cx)),
    "repeat" => |cx, a| repeat(cx, a[0].as_bytes(), a[1].as_i32()),
    "text_left" => |cx, a| copied(cx, end_part(a[0].as_bytes(), a[1].as_i32(), true, enc(cx))),
    "text_right" => |cx, a| copied(cx, end_part(a[0].as_bytes(), a[1].as_i32(), false, enc(cx))),
    "text_reverse" => |cx, a| reverse(cx, a[0].as_bytes(), enc(cx)),
    "ascii" => |cx, a| Ok(Datum::int4(ascii(a[0].as_bytes(), enc(cx)))),
    "chr" => |cx, a| chr(a[0].as_i32(), enc(cx)),
}
