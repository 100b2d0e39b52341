//! bytea: hex and escape formats, bit and byte access. Counterpart: varlena.c, encode.c.

use pgerror::{Result, pg_err};
use values::datum::Datum;
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::{ALLOCATION_BYTES_MAX, allocate};
use values::pieces::{self, copied, joined};
use values::settings::ByteaOutput;
use values::type_io::bad_syntax;

/// Value of a hexadecimal digit.
pub fn hex_digit(c: u8) -> Option<u8> {
    (c as char).to_digit(16).map(|d| d as u8)
}

/// Lower-case hexadecimal digits of `bytes`.
pub fn hex_encode(cx: &dyn FnContext, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = allocate(2 * bytes.len())?;
    push_hex(cx, &mut out, bytes)?;
    Ok(out)
}

/// Decodes hexadecimal digits; white space between pairs is skipped.
pub fn hex_decode(cx: &dyn FnContext, text: &[u8]) -> Result<Vec<u8>> {
    let mut out = allocate(text.len() / 2)?;
    let mut i = 0;
    let digit = |at: usize| {
        let c = text[at];
        hex_digit(c).ok_or_else(|| {
            let len = values::text::char_len(&text[at..], values::settings::Encoding::Utf8);
            let shown = String::from_utf8_lossy(&text[at..at + len]);
            pg_err!(INVALID_PARAMETER_VALUE, "invalid hexadecimal digit: \"{shown}\"")
        })
    };
    let mut ticker = InterruptTicker::default();
    while i < text.len() {
        ticker.tick(cx)?;
        if matches!(text[i], b' ' | b'\n' | b'\t' | b'\r') {
            i += 1;
            continue;
        }
        let high = digit(i)?;
        if i + 1 >= text.len() {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "invalid hexadecimal data: odd number of digits"
            ));
        }
        out.push(high << 4 | digit(i + 1)?);
        i += 2;
    }
    Ok(out)
}

/// Appends a byte as `\ooo`.
pub(crate) fn push_octal(out: &mut Vec<u8>, b: u8) {
    out.extend([b'\\', b'0' + (b >> 6), b'0' + (b >> 3 & 7), b'0' + (b & 7)]);
}

/// The escape format: backslashes doubled, bytes outside printable ASCII in octal. `length` is the
/// length of the result in bytes.
fn escape_encode(cx: &dyn FnContext, bytes: &[u8], length: usize) -> Result<Vec<u8>> {
    let mut out = allocate(length)?;
    pieces::each(cx, bytes, |piece| {
        for &b in piece {
            match b {
                b'\\' => out.extend_from_slice(b"\\\\"),
                0x20..=0x7e => out.push(b),
                _ => push_octal(&mut out, b),
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// Decodes the escape format.
pub fn escape_decode(cx: &dyn FnContext, text: &[u8]) -> Result<Vec<u8>> {
    let mut out = allocate(text.len())?;
    let mut rest = text;
    while !rest.is_empty() {
        // Copy up to the next backslash at once.
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        pieces::append(cx, &mut out, &rest[..plain])?;
        rest = &rest[plain..];
        let mut ticker = InterruptTicker::default();
        while let [b'\\', escaped @ ..] = rest {
            ticker.tick(cx)?;
            match escaped {
                [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', more @ ..] => {
                    out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                    rest = more;
                }
                [b'\\', more @ ..] => {
                    out.push(b'\\');
                    rest = more;
                }
                _ => {
                    return Err(pg_err!(
                        INVALID_TEXT_REPRESENTATION,
                        "invalid input syntax for type bytea"
                    ));
                }
            }
        }
    }
    Ok(out)
}

/// Parses a bytea in either format.
pub fn parse_bytea(cx: &dyn FnContext, text: &[u8]) -> Result<Vec<u8>> {
    match text {
        [b'\\', b'x', hex @ ..] => hex_decode(cx, hex),
        _ => escape_decode(cx, text),
    }
}

fn index_error(n: i64, len: i64) -> pgerror::PgError {
    pg_err!(ARRAY_SUBSCRIPT_ERROR, "index {n} out of valid range, 0..{}", len - 1)
}

fn byte_index(bytes: &[u8], n: i64) -> Result<usize> {
    if n < 0 || n >= bytes.len() as i64 {
        return Err(index_error(n, bytes.len() as i64));
    }
    Ok(n as usize)
}

fn bit_index(bytes: &[u8], n: i64) -> Result<(usize, u32)> {
    let bits = bytes.len() as i64 * 8;
    if n < 0 || n >= bits {
        return Err(index_error(n, bits));
    }
    Ok(((n / 8) as usize, (n % 8) as u32))
}

/// Bytes `start` (1-based) to `start + length - 1`; to the end without a length.
fn substr(bytes: &[u8], start: i32, length: Option<i32>) -> Result<&[u8]> {
    let begin = start.max(1) as i64 - 1;
    let end = match length {
        None => bytes.len() as i64,
        Some(n) => {
            if n < 0 {
                return Err(pg_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
            }
            (i64::from(start) + i64::from(n) - 1).max(0)
        }
    };
    let begin = begin.min(bytes.len() as i64) as usize;
    let end = end.min(bytes.len() as i64) as usize;
    Ok(&bytes[begin..end.max(begin)])
}

fn overlay(cx: &dyn FnContext, a: &[u8], b: &[u8], start: i32, length: i32) -> Result<Datum> {
    if start <= 0 {
        return Err(pg_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let after =
        start.checked_add(length).ok_or_else(|| values::type_io::out_of_range("integer"))?;
    joined(cx, &[substr(a, 1, Some(start - 1))?, b, substr(a, after, None)?])
}

fn trim<'a>(bytes: &'a [u8], set: &[u8], left: bool, right: bool) -> &'a [u8] {
    let mut out = bytes;
    while left && out.first().is_some_and(|c| set.contains(c)) {
        out = &out[1..];
    }
    while right && out.last().is_some_and(|c| set.contains(c)) {
        out = &out[..out.len() - 1];
    }
    out
}

/// 1-based position of `needle`, 0 if it does not occur.
pub fn position(hay: &[u8], needle: &[u8]) -> i32 {
    if needle.is_empty() {
        return 1;
    }
    memchr::memmem::find(hay, needle).map_or(0, |i| i as i32 + 1)
}

/// Appends lower-case hexadecimal digits.
fn push_hex(cx: &dyn FnContext, out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let pair = |b: &u8| [DIGITS[(b >> 4) as usize], DIGITS[(b & 15) as usize]];
    pieces::each(cx, bytes, |piece| {
        out.extend(piece.iter().flat_map(pair));
        Ok(())
    })
}

fn out(cx: &dyn FnContext, bytes: &[u8]) -> Result<Datum> {
    if cx.settings().bytea_output == ByteaOutput::Escape {
        let length = |b: &u8| match b {
            b'\\' => 2,
            0x20..=0x7e => 1,
            _ => 4,
        };
        let length = bytes.iter().map(length).sum::<usize>();
        if length >= ALLOCATION_BYTES_MAX {
            return Err(pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "result of bytea output conversion is too large"
            ));
        }
        return Ok(Datum::bytes(escape_encode(cx, bytes, length)?));
    }
    // PostgreSQL's allocation includes the prefix and a terminating zero byte.
    let mut out = allocate(2 * bytes.len() + 3)?;
    out.extend_from_slice(b"\\x");
    push_hex(cx, &mut out, bytes)?;
    Ok(Datum::bytes(out))
}

scalars! { FNS;
    "byteain" => |cx, a| {
        let text = a[0].as_bytes();
        parse_bytea(cx, text).map(Datum::bytes).map_err(|e| {
            if e.message().is_empty() { bad_syntax("bytea", text) } else { e }
        })
    },
    "byteaout" => |cx, a| out(cx, a[0].as_bytes()),
    "pg_mcv_list_out" => |cx, a| out(cx, a[0].as_bytes()),
    "bytearecv" => |_, a| Ok(a[0].to_owned()),
    "byteasend" => |_, a| Ok(a[0].to_owned()),
    "pg_dependencies_send" => |_, a| Ok(a[0].to_owned()),
    "pg_mcv_list_send" => |_, a| Ok(a[0].to_owned()),
    "pg_ndistinct_send" => |_, a| Ok(a[0].to_owned()),
    "byteaoctetlen" => |_, a| Ok(Datum::int4(a[0].as_bytes().len() as i32)),
    "byteacat" => |cx, a| joined(cx, &[a[0].as_bytes(), a[1].as_bytes()]),
    "bytea_substr" => |cx, a|
        copied(cx, substr(a[0].as_bytes(), a[1].as_i32(), Some(a[2].as_i32()))?),
    "bytea_substr_no_len" =>
        |cx, a| copied(cx, substr(a[0].as_bytes(), a[1].as_i32(), None)?),
    "byteaoverlay" => |cx, a| {
        overlay(cx, a[0].as_bytes(), a[1].as_bytes(), a[2].as_i32(), a[3].as_i32())
    },
    "byteaoverlay_no_len" => |cx, a| {
        let b = a[1].as_bytes();
        overlay(cx, a[0].as_bytes(), b, a[2].as_i32(), b.len() as i32)
    },
    "byteapos" => |_, a| Ok(Datum::int4(position(a[0].as_bytes(), a[1].as_bytes()))),
    "byteatrim" => |cx, a| copied(cx, trim(a[0].as_bytes(), a[1].as_bytes(), true, true)),
    "bytealtrim" => |cx, a| copied(cx, trim(a[0].as_bytes(), a[1].as_bytes(), true, false)),
    "byteartrim" => |cx, a| copied(cx, trim(a[0].as_bytes(), a[1].as_bytes(), false, true)),
    "bytea_bit_count" => |_, a| Ok(Datum::int8(
        a[0].as_bytes().iter().map(|b| i64::from(b.count_ones())).sum())),
    "byteaGetByte" => |_, a| {
        let b = a[0].as_bytes();
        Ok(Datum::int4(b[byte_index(b, a[1].as_i32().into())?].into()))
    },
    "byteaGetBit" => |_, a| {
        let (i, bit) = bit_index(a[0].as_bytes(), a[1].as_i64())?;
        Ok(Datum::int4((a[0].as_bytes()[i] >> bit & 1).into()))
    },
    "byteaSetByte" => |_, a| {
        let mut b = a[0].as_bytes().to_vec();
        let i = byte_index(&b, a[1].as_i32().into())?;
        b[i] = a[2].as_i32() as u8;
        Ok(Datum::bytes(b))
    },
    "byteaSetBit" => |_, a| {
        let mut b = a[0].as_bytes().to_vec();
        let (i, bit) = bit_index(&b, a[1].as_i64())?;
        match a[2].as_i32() {
            0 => b[i] &= !(1 << bit),
            1 => b[i] |= 1 << bit,
            _ => return Err(pg_err!(INVALID_PARAMETER_VALUE, "new bit must be 0 or 1")),
        }
        Ok(Datum::bytes(b))
    },
}
