//! Ranges and multiranges: their output functions only, so that rows written by PostgreSQL can be
//! read and dumped. Counterpart: rangetypes.c, multirangetypes.c.
//!
//! The payload of a range: its type, the lower and the upper bound unless they are infinite
//! (aligned relative to the end of the type), a byte of flags. Of a multirange: its type, the
//! number of ranges, for each range but the first a 4-byte offset or length, a byte of flags for
//! each, the bounds of each, aligned.

use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use values::array::payload::read_element;
use values::datum::Datum;
use values::fn_context::{FnContext, TypeInfo};
use values::type_io::is_space;

const EMPTY: u8 = 1;
const LOWER_INCLUSIVE: u8 = 2;
const UPPER_INCLUSIVE: u8 = 4;
const LOWER_INFINITE: u8 = 8;
const UPPER_INFINITE: u8 = 16;

fn damaged() -> PgError {
    pg_err!(DATA_CORRUPTED, "stored range is truncated")
}

fn word(payload: &[u8], at: usize) -> Result<u32> {
    let bytes = payload.get(at..).and_then(|b| b.first_chunk::<4>()).ok_or_else(damaged)?;
    Ok(u32::from_le_bytes(*bytes))
}

/// Writes the range whose bounds begin at `at`; returns the offset of their end.
fn one(
    cx: &mut dyn FnContext,
    out: &mut Vec<u8>,
    elem: &TypeInfo,
    flags: u8,
    data: &[u8],
    mut at: usize,
) -> Result<usize> {
    if flags & EMPTY != 0 {
        out.extend_from_slice(b"empty");
        return Ok(at);
    }
    out.push(if flags & LOWER_INCLUSIVE != 0 { b'[' } else { b'(' });
    for (infinite, separator) in [(LOWER_INFINITE, Some(b',')), (UPPER_INFINITE, None)] {
        if flags & infinite == 0 {
            let (value, end) = read_element(elem, data, at);
            at = end;
            bound(out, &cx.type_output(elem.oid, value)?);
        }
        out.extend(separator);
    }
    out.push(if flags & UPPER_INCLUSIVE != 0 { b']' } else { b')' });
    Ok(at)
}

/// Appends a bound, in quotes if needed. Counterpart: `range_bound_escape`.
fn bound(out: &mut Vec<u8>, text: &[u8]) {
    let special =
        |c: &u8| matches!(c, b'"' | b'\\' | b'(' | b')' | b'[' | b']' | b',') || is_space(*c);
    if !text.is_empty() && !text.iter().any(special) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for c in text {
        if matches!(c, b'"' | b'\\') {
            out.push(*c);
        }
        out.push(*c);
    }
    out.push(b'"');
}

fn range_out(cx: &mut dyn FnContext, payload: &[u8]) -> Result<Datum> {
    let subtype = cx.range_subtype(Oid(word(payload, 0)?))?;
    let elem = cx.type_info(subtype)?;
    let (flags, data) = payload[4..].split_last().ok_or_else(damaged)?;
    let mut out = Vec::new();
    one(cx, &mut out, &elem, *flags, data, 0)?;
    Ok(Datum::bytes(out))
}

fn multirange_out(cx: &mut dyn FnContext, payload: &[u8]) -> Result<Datum> {
    let subtype = cx.range_subtype(Oid(word(payload, 0)?))?;
    let elem = cx.type_info(subtype)?;
    let count = word(payload, 4)? as usize;
    let mut out = vec![b'{'];
    if count > 0 {
        // Offsets are in the payload; alignment counts from the varlena header 4 bytes before it.
        let flags_at = 8 + 4 * (count - 1);
        let flags = payload.get(flags_at..flags_at + count).ok_or_else(damaged)?.to_vec();
        let step = elem.align_bytes();
        let start = (4 + flags_at + count).next_multiple_of(step) - 4;
        let data = payload.get(start..).ok_or_else(damaged)?;
        let mut at: usize = 0;
        for (i, flags) in flags.into_iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            at = one(cx, &mut out, &elem, flags, data, at.next_multiple_of(step))?;
        }
    }
    out.push(b'}');
    Ok(Datum::bytes(out))
}

scalars! { FNS;
    "range_out" => |cx, a| range_out(cx, a[0].as_bytes()),
    "multirange_out" => |cx, a| multirange_out(cx, a[0].as_bytes()),
}
