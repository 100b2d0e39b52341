//! Ranges in their stored form, and the order of their bounds. Counterpart: rangetypes.c
//! (`range_serialize`, `range_deserialize`, `range_cmp_bounds`).
//!
//! ```text
//! payload: type:u32  lower?  upper?  flags:u8
//! ```
//!
//! A bound that is infinite is left out, both are in an empty range. They are aligned relative to
//! the end of the type; a varlena with a short header is not aligned.

use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use values::array::payload::read_element;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::limits;
use values::range::RangeType;

pub const EMPTY: u8 = 0x01;
pub const LOWER_INCLUSIVE: u8 = 0x02;
pub const UPPER_INCLUSIVE: u8 = 0x04;
pub const LOWER_INFINITE: u8 = 0x08;
pub const UPPER_INFINITE: u8 = 0x10;
/// Set only by PostgreSQL before version 9.2; read, never written.
const LOWER_NULL: u8 = 0x20;
const UPPER_NULL: u8 = 0x40;

/// Length of the type before the bounds.
const TYPE_BYTES: usize = 4;

/// The longest payload of a varlena with a short header.
const SHORT_BYTES_MAX: usize = 126;

/// Whether a range with these flags has a lower bound.
pub fn has_lower(flags: u8) -> bool {
    flags & (EMPTY | LOWER_NULL | LOWER_INFINITE) == 0
}

/// Whether a range with these flags has an upper bound.
pub fn has_upper(flags: u8) -> bool {
    flags & (EMPTY | UPPER_NULL | UPPER_INFINITE) == 0
}

/// A bound of a range.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// NULL if the bound is infinite.
    pub value: DatumRef<'a>,
    pub infinite: bool,
    pub inclusive: bool,
    pub is_lower: bool,
}

impl<'a> Bound<'a> {
    /// A finite lower bound.
    pub fn lower(value: DatumRef<'a>, inclusive: bool) -> Bound<'a> {
        Bound { value, infinite: value.is_null(), inclusive, is_lower: true }
    }

    /// A finite upper bound.
    pub fn upper(value: DatumRef<'a>, inclusive: bool) -> Bound<'a> {
        Bound { value, infinite: value.is_null(), inclusive, is_lower: false }
    }

    /// The bound on the other side of the same point.
    pub fn complement(self) -> Bound<'a> {
        Bound { inclusive: !self.inclusive, is_lower: !self.is_lower, ..self }
    }
}

/// The bounds of a range that is not empty.
pub type Bounds<'a> = (Bound<'a>, Bound<'a>);

fn damaged() -> PgError {
    pg_err!(DATA_CORRUPTED, "stored range is truncated")
}

/// The 4-byte number at an offset of a payload.
pub(crate) fn word(payload: &[u8], at: usize) -> Result<u32> {
    let bytes = payload.get(at..).and_then(|b| b.first_chunk::<4>()).ok_or_else(damaged)?;
    Ok(u32::from_le_bytes(*bytes))
}

/// The type of a range or multirange.
pub fn type_of(payload: &[u8]) -> Result<Oid> {
    Ok(Oid(word(payload, 0)?))
}

/// The flags of a range.
pub fn flags_of(payload: &[u8]) -> Result<u8> {
    payload.last().copied().filter(|_| payload.len() > TYPE_BYTES).ok_or_else(damaged)
}

/// Whether a range is empty.
pub fn is_empty(payload: &[u8]) -> Result<bool> {
    Ok(flags_of(payload)? & EMPTY != 0)
}

/// The bounds with these flags at the start of `data`, and the offset of their end.
pub(crate) fn read_bounds<'a>(ty: &RangeType, flags: u8, data: &'a [u8]) -> (Bounds<'a>, usize) {
    let mut at = 0;
    let mut next = |present: bool| match present {
        true => {
            let (value, end) = read_element(&ty.elem, data, at);
            at = end;
            value
        }
        false => DatumRef::Null,
    };
    let (low, high) = (next(has_lower(flags)), next(has_upper(flags)));
    let lower = Bound {
        value: low,
        infinite: !has_lower(flags),
        inclusive: flags & LOWER_INCLUSIVE != 0,
        is_lower: true,
    };
    let upper = Bound {
        value: high,
        infinite: !has_upper(flags),
        inclusive: flags & UPPER_INCLUSIVE != 0,
        is_lower: false,
    };
    ((lower, upper), at)
}

/// The bounds of a range; `None` if it is empty.
pub fn bounds<'a>(ty: &RangeType, payload: &'a [u8]) -> Result<Option<Bounds<'a>>> {
    let flags = flags_of(payload)?;
    if flags & EMPTY != 0 {
        return Ok(None);
    }
    Ok(Some(read_bounds(ty, flags, &payload[TYPE_BYTES..payload.len() - 1]).0))
}

/// The bytes of the bounds, as they are stored.
pub(crate) fn stored_bounds(payload: &[u8]) -> &[u8] {
    &payload[TYPE_BYTES..payload.len() - 1]
}

/// A range from its flags and stored bounds.
pub(crate) fn from_stored(ty: &RangeType, flags: u8, bounds: &[u8]) -> Result<Vec<u8>> {
    let mut out = limits::allocate_payload(TYPE_BYTES + bounds.len() + 1)?;
    out.extend_from_slice(&ty.oid.0.to_le_bytes());
    out.extend_from_slice(bounds);
    out.push(flags);
    Ok(out)
}

/// The empty range.
pub fn empty(ty: &RangeType) -> Vec<u8> {
    [&ty.oid.0.to_le_bytes()[..], &[EMPTY]].concat()
}

/// Appends a value of the subtype; offsets count from the end of the type.
fn write_value(ty: &RangeType, out: &mut Vec<u8>, value: DatumRef<'_>) {
    let elem = &ty.elem;
    let align = |out: &mut Vec<u8>| {
        let at = (out.len() - TYPE_BYTES).next_multiple_of(elem.align_bytes());
        out.resize(TYPE_BYTES + at, 0);
    };
    match (value, elem.len) {
        (DatumRef::Bytes(b), -1) if ty.packs && b.len() <= SHORT_BYTES_MAX => {
            out.push(((b.len() + 1) << 1 | 1) as u8);
            out.extend_from_slice(b);
        }
        (DatumRef::Bytes(b), -1) => {
            align(out);
            out.extend_from_slice(&((b.len() as u32 + 4) << 2).to_le_bytes());
            out.extend_from_slice(b);
        }
        (DatumRef::Bytes(b), -2) => {
            out.extend_from_slice(b);
            out.push(0);
        }
        (DatumRef::Bytes(b), _) => {
            align(out);
            out.extend_from_slice(b);
        }
        (DatumRef::Word(w), len) => {
            align(out);
            out.extend_from_slice(&w.to_le_bytes()[..len as usize]);
        }
        (DatumRef::Null, _) => {}
    }
}

/// The range with these bounds as they are, not in canonical form. Error 22000 if they are in the
/// wrong order. Counterpart: `range_serialize`.
pub fn serialize(ty: &RangeType, lower: &Bound<'_>, upper: &Bound<'_>) -> Result<Vec<u8>> {
    let order = compare_values(ty, lower, upper);
    if order.is_gt() {
        return Err(pg_err!(
            DATA_EXCEPTION,
            "range lower bound must be less than or equal to range upper bound"
        ));
    }
    if order.is_eq() && !(lower.inclusive && upper.inclusive) {
        return Ok(empty(ty));
    }
    let size = |b: &Bound<'_>| match b.value {
        DatumRef::Bytes(b) => b.len() + 12,
        _ => 12,
    };
    let mut out = limits::allocate_payload(TYPE_BYTES + size(lower) + size(upper))?;
    out.extend_from_slice(&ty.oid.0.to_le_bytes());
    let mut flags = 0;
    for (bound, infinite, inclusive) in
        [(lower, LOWER_INFINITE, LOWER_INCLUSIVE), (upper, UPPER_INFINITE, UPPER_INCLUSIVE)]
    {
        if bound.infinite {
            flags |= infinite;
            continue;
        }
        if bound.inclusive {
            flags |= inclusive;
        }
        write_value(ty, &mut out, bound.value);
    }
    out.push(flags);
    Ok(out)
}

/// The range with these bounds in canonical form. Counterpart: `make_range`.
pub fn make(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    lower: &Bound<'_>,
    upper: &Bound<'_>,
) -> Result<Vec<u8>> {
    let plain = serialize(ty, lower, upper)?;
    match ty.canonical {
        Some(f) if !is_empty(&plain)? => match f(cx, &[DatumRef::Bytes(&plain)])? {
            Datum::Bytes(b) => Ok(b.into_vec()),
            _ => Err(PgError::internal("canonical function returned no range")),
        },
        _ => Ok(plain),
    }
}

/// The order of two bounds that are infinite or not. `None` if both are finite.
fn compare_infinite(a: &Bound<'_>, b: &Bound<'_>) -> Option<Ordering> {
    let below = |bound: &Bound<'_>| if bound.is_lower { Ordering::Less } else { Ordering::Greater };
    match (a.infinite, b.infinite) {
        (true, true) if a.is_lower == b.is_lower => Some(Ordering::Equal),
        (true, _) => Some(below(a)),
        (false, true) => Some(below(b).reverse()),
        (false, false) => None,
    }
}

/// The order of two bounds by their values only. Counterpart: `range_cmp_bound_values`.
pub fn compare_values(ty: &RangeType, a: &Bound<'_>, b: &Bound<'_>) -> Ordering {
    compare_infinite(a, b).unwrap_or_else(|| ty.compare(a.value, b.value))
}

/// The order of two bounds: which of the points that they separate come first. Counterpart:
/// `range_cmp_bounds`.
pub fn compare_bounds(ty: &RangeType, a: &Bound<'_>, b: &Bound<'_>) -> Ordering {
    let order = compare_values(ty, a, b);
    if order.is_ne() || a.infinite {
        return order;
    }
    // An exclusive bound is next to the point, on the inner side of its range.
    let side = |bound: &Bound<'_>| match (bound.inclusive, bound.is_lower) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => -1,
    };
    side(a).cmp(&side(b))
}

/// The order of two ranges of the same type: the empty range first, then by the lower and the upper
/// bound. Counterpart: `range_cmp`.
pub fn compare(ty: &RangeType, a: &[u8], b: &[u8]) -> Result<Ordering> {
    Ok(match (bounds(ty, a)?, bounds(ty, b)?) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(a), Some(b)) => compare_both(ty, &a, &b),
    })
}

/// The order by the lower, then the upper bound.
pub fn compare_both(ty: &RangeType, a: &Bounds<'_>, b: &Bounds<'_>) -> Ordering {
    compare_bounds(ty, &a.0, &b.0).then_with(|| compare_bounds(ty, &a.1, &b.1))
}
