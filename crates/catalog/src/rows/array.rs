//! One-dimensional arrays in catalog columns.
//!
//! Counterpart: utils/array.h.
//!
//! ```text
//! payload, without the length word:
//!   ndim i32 | dataoffset i32 | elemtype u32 | dims i32.. | lbounds i32.. | data
//! ```
//! `dataoffset` is 0 without a null bitmap. Arrays in catalogs have no NULL elements.

use super::values::Text;
use ids::Oid;
use ids::builtin::ty;
use types::Datum;

/// Header size of a one-dimensional array's payload in bytes.
const HEADER: usize = 20;

/// The payload of an array with `count` elements, whose bytes are `data`, and lower bound `lower`.
/// An array without elements has no dimensions, as in PostgreSQL.
pub fn one_dimension(element: Oid, count: usize, lower: i32, data: &[u8]) -> Datum {
    if count == 0 {
        let mut out = vec![0; 12];
        out[8..12].copy_from_slice(&element.0.to_le_bytes());
        return Datum::bytes(out);
    }
    with_dimension(element, count, lower, data)
}

fn with_dimension(element: Oid, count: usize, lower: i32, data: &[u8]) -> Datum {
    let mut out = Vec::with_capacity(HEADER + data.len());
    out.extend_from_slice(&1i32.to_le_bytes());
    out.extend_from_slice(&0i32.to_le_bytes());
    out.extend_from_slice(&element.0.to_le_bytes());
    out.extend_from_slice(&(count as i32).to_le_bytes());
    out.extend_from_slice(&lower.to_le_bytes());
    out.extend_from_slice(data);
    Datum::bytes(out)
}

/// An `int2vector`: lower bound 0, one dimension even if empty.
pub fn int2vector(values: &[i16]) -> Datum {
    let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    with_dimension(ty::INT2, values.len(), 0, &data)
}

/// An `oidvector`: lower bound 0, one dimension even if empty.
pub fn oidvector(values: &[Oid]) -> Datum {
    let data: Vec<u8> = values.iter().flat_map(|v| v.0.to_le_bytes()).collect();
    with_dimension(ty::OID, values.len(), 0, &data)
}

fn word(payload: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(payload.get(at..at + 4)?.try_into().ok()?))
}

/// Number of elements and their bytes; `None` unless the array has at most one dimension and no
/// NULLs.
fn elements(payload: &[u8]) -> Option<(usize, &[u8])> {
    match (word(payload, 0)?, word(payload, 4)?) {
        (0, _) => Some((0, &[])),
        (1, 0) => Some((usize::try_from(word(payload, 12)?).ok()?, payload.get(HEADER..)?)),
        _ => None,
    }
}

/// The bytes of all elements, each `size` bytes long.
pub fn fixed_elements(payload: &[u8], size: usize) -> Option<&[u8]> {
    let (count, data) = elements(payload)?;
    data.get(..count.checked_mul(size)?)
}

/// A `text[]`. Elements have 4-byte length words and are padded to 4 bytes, the last one too: rows
/// overwritten in place must have exactly PostgreSQL's length.
pub fn text_array(values: &[Text]) -> Datum {
    let mut data: Vec<u8> = Vec::new();
    for value in values {
        data.extend_from_slice(&(((value.len() + 4) as u32) << 2).to_le_bytes());
        data.extend_from_slice(value);
        data.resize(data.len().next_multiple_of(4), 0);
    }
    one_dimension(ty::TEXT, values.len(), 1, &data)
}

/// The elements of a `text[]`, with 1-byte or 4-byte length words.
pub fn text_elements(payload: &[u8]) -> Option<Vec<Text>> {
    let (count, data) = elements(payload)?;
    let mut out = Vec::with_capacity(count.min(data.len()));
    let mut at = 0usize;
    for _ in 0..count {
        // A short element is not aligned; its first byte is never zero, padding bytes are.
        if *data.get(at)? == 0 || data[at] & 1 == 0 {
            at = at.next_multiple_of(4);
        }
        let first = *data.get(at)?;
        let (header, len) = if first & 1 == 1 {
            (1, usize::from(first >> 1))
        } else {
            (4, usize::try_from(word(data, at)? as u32 >> 2).ok()?)
        };
        out.push(Text(data.get(at + header..at + len)?.into()));
        at += len;
    }
    Some(out)
}
