//! Relations between ranges, and ranges made of two ranges. Counterpart: rangetypes.c, second part.

use crate::stored::{Bound, Bounds, bounds, compare_bounds, compare_values, empty, is_empty, make};
use pgerror::{PgError, Result, pg_err};
use values::datum::DatumRef;
use values::fn_context::FnContext;
use values::range::RangeType;

/// Whether bounds contain a value.
pub fn contains_value(ty: &RangeType, (lower, upper): &Bounds<'_>, value: DatumRef<'_>) -> bool {
    side_of(ty, &(*lower, *upper), value).is_eq()
}

/// Where a value is relative to bounds: before, within or after them.
pub(crate) fn side_of(
    ty: &RangeType,
    (lower, upper): &Bounds<'_>,
    value: DatumRef<'_>,
) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if !lower.infinite {
        let order = ty.compare(lower.value, value);
        if order.is_gt() || order.is_eq() && !lower.inclusive {
            return Less;
        }
    }
    if !upper.infinite {
        let order = ty.compare(upper.value, value);
        if order.is_lt() || order.is_eq() && !upper.inclusive {
            return Greater;
        }
    }
    Equal
}

/// Whether the first bounds contain all of the second.
pub fn contains(ty: &RangeType, a: &Bounds<'_>, b: &Bounds<'_>) -> bool {
    compare_bounds(ty, &a.0, &b.0).is_le() && compare_bounds(ty, &a.1, &b.1).is_ge()
}

/// Whether there is a point in both.
pub fn overlap(ty: &RangeType, a: &Bounds<'_>, b: &Bounds<'_>) -> bool {
    let begins_in = |x: &Bounds<'_>, y: &Bounds<'_>| {
        compare_bounds(ty, &x.0, &y.0).is_ge() && compare_bounds(ty, &x.0, &y.1).is_le()
    };
    begins_in(a, b) || begins_in(b, a)
}

/// Whether the first is strictly left of the second.
pub fn before(ty: &RangeType, a: &Bounds<'_>, b: &Bounds<'_>) -> bool {
    compare_bounds(ty, &a.1, &b.0).is_lt()
}

/// Whether the first does not extend to the right of the second.
pub fn overleft(ty: &RangeType, a: &Bounds<'_>, b: &Bounds<'_>) -> bool {
    compare_bounds(ty, &a.1, &b.1).is_le()
}

/// Whether the first does not extend to the left of the second.
pub fn overright(ty: &RangeType, a: &Bounds<'_>, b: &Bounds<'_>) -> bool {
    compare_bounds(ty, &a.0, &b.0).is_ge()
}

/// Whether no point lies between an upper bound and a lower bound, and none belongs to both.
/// Counterpart: `bounds_adjacent`.
pub fn bounds_meet(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    upper: &Bound<'_>,
    lower: &Bound<'_>,
) -> Result<bool> {
    match compare_values(ty, upper, lower) {
        std::cmp::Ordering::Less if ty.canonical.is_some() => {
            // Is the range between them empty?
            is_empty(&make(cx, ty, &upper.complement(), &lower.complement())?)
        }
        std::cmp::Ordering::Equal => Ok(upper.inclusive != lower.inclusive),
        _ => Ok(false),
    }
}

/// Whether one of them ends where the other one begins.
pub fn adjacent(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    a: &Bounds<'_>,
    b: &Bounds<'_>,
) -> Result<bool> {
    Ok(bounds_meet(cx, ty, &a.1, &b.0)? || bounds_meet(cx, ty, &b.1, &a.0)?)
}

/// The smaller of two lower bounds and the greater of two upper bounds.
pub fn hull<'a>(ty: &RangeType, a: &Bounds<'a>, b: &Bounds<'a>) -> Bounds<'a> {
    let lower = if compare_bounds(ty, &a.0, &b.0).is_lt() { a.0 } else { b.0 };
    let upper = if compare_bounds(ty, &a.1, &b.1).is_gt() { a.1 } else { b.1 };
    (lower, upper)
}

/// The union of two ranges. With `strict`, error 22000 if it is not one range; otherwise it
/// includes what is between them. Counterpart: `range_union_internal`.
pub fn union(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    (a, b): (&[u8], &[u8]),
    strict: bool,
) -> Result<Vec<u8>> {
    let (Some(x), Some(y)) = (bounds(ty, a)?, bounds(ty, b)?) else {
        return Ok(if is_empty(a)? { b.to_vec() } else { a.to_vec() });
    };
    if strict && !overlap(ty, &x, &y) && !adjacent(cx, ty, &x, &y)? {
        return Err(pg_err!(DATA_EXCEPTION, "result of range union would not be contiguous"));
    }
    let (lower, upper) = hull(ty, &x, &y);
    make(cx, ty, &lower, &upper)
}

/// The intersection of two ranges.
pub fn intersection(cx: &mut dyn FnContext, ty: &RangeType, a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    let (Some(x), Some(y)) = (bounds(ty, a)?, bounds(ty, b)?) else { return Ok(empty(ty)) };
    intersect_bounds(cx, ty, &x, &y)
}

/// The intersection of ranges with these bounds.
pub fn intersect_bounds(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    x: &Bounds<'_>,
    y: &Bounds<'_>,
) -> Result<Vec<u8>> {
    if !overlap(ty, x, y) {
        return Ok(empty(ty));
    }
    let lower = if compare_bounds(ty, &x.0, &y.0).is_ge() { x.0 } else { y.0 };
    let upper = if compare_bounds(ty, &x.1, &y.1).is_le() { x.1 } else { y.1 };
    make(cx, ty, &lower, &upper)
}

/// The parts before and after the second range if it cuts the first into two. Counterpart:
/// `range_split_internal`.
pub fn split(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    x: &Bounds<'_>,
    y: &Bounds<'_>,
) -> Result<Option<[Vec<u8>; 2]>> {
    if compare_bounds(ty, &x.0, &y.0).is_lt() && compare_bounds(ty, &x.1, &y.1).is_gt() {
        let left = make(cx, ty, &x.0, &y.0.complement())?;
        let right = make(cx, ty, &y.1.complement(), &x.1)?;
        return Ok(Some([left, right]));
    }
    Ok(None)
}

/// The first range without the second. Error 22000 if that is not one range. Counterpart:
/// `range_minus_internal`.
pub fn difference(cx: &mut dyn FnContext, ty: &RangeType, a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    let (Some(x), Some(y)) = (bounds(ty, a)?, bounds(ty, b)?) else { return Ok(a.to_vec()) };
    let (lower_lower, upper_upper) =
        (compare_bounds(ty, &x.0, &y.0), compare_bounds(ty, &x.1, &y.1));
    let (lower_upper, upper_lower) =
        (compare_bounds(ty, &x.0, &y.1), compare_bounds(ty, &x.1, &y.0));
    if lower_lower.is_lt() && upper_upper.is_gt() {
        return Err(pg_err!(DATA_EXCEPTION, "result of range difference would not be contiguous"));
    }
    if lower_upper.is_gt() || upper_lower.is_lt() {
        return Ok(a.to_vec());
    }
    if lower_lower.is_ge() && upper_upper.is_le() {
        return Ok(empty(ty));
    }
    if upper_upper.is_le() {
        return make(cx, ty, &x.0, &y.0.complement());
    }
    if lower_lower.is_ge() {
        return make(cx, ty, &y.1.complement(), &x.1);
    }
    Err(PgError::internal("unexpected case in range_minus"))
}
