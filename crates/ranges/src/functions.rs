//! Functions and operators of ranges and multiranges. A function on two values accepts a range or a
//! multirange for each of them, because a range is a list of at most one range.

use crate::aggregate;
use crate::hash;
use crate::io;
use crate::ops;
use crate::pieces::{self, Pieces};
use crate::stored::{Bound, Bounds, LOWER_INCLUSIVE, UPPER_INCLUSIVE, empty, make, type_of};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use std::sync::Arc;
use values::array::payload::ArrayRef;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::{Builtin, VecSource};
use values::range::RangeType;

/// Functions that are declared for each range type by CREATE TYPE, by `pg_proc.prosrc`. They check
/// that their arguments have the representation of the subtype, because anyone may declare them
/// otherwise.
pub const DECLARED_FOR_EACH_TYPE: &[&str] = &[
    "range_constructor2",
    "range_constructor3",
    "multirange_constructor0",
    "multirange_constructor1",
    "multirange_constructor2",
    "int4range_canonical",
    "int8range_canonical",
    "daterange_canonical",
];

/// The tables of all functions of ranges and multiranges.
pub const TABLES: &[&[Builtin]] =
    &[FNS, RELATIONS, COMPARISONS, SETS, io::FNS, hash::FNS, aggregate::AGGREGATES];

/// The range type with this OID or multirange OID, which the call site keeps.
pub fn range_type(cx: &mut dyn FnContext, ty: Oid) -> Result<Arc<RangeType>> {
    let known = cx.extra().as_ref().and_then(|e| e.downcast_ref::<Arc<RangeType>>());
    if let Some(known) = known.filter(|t| t.oid == ty || t.multirange == ty) {
        return Ok(known.clone());
    }
    let found = cx.range_type(ty)?;
    *cx.extra() = Some(Box::new(found.clone()));
    Ok(found)
}

/// The range type of a value.
pub(crate) fn type_of_value(cx: &mut dyn FnContext, value: DatumRef<'_>) -> Result<Arc<RangeType>> {
    range_type(cx, type_of(value.as_bytes())?)
}

/// The result of a function on the ranges of two values.
fn both<T>(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    f: impl FnOnce(&mut dyn FnContext, &RangeType, &Pieces<'_>, &Pieces<'_>) -> Result<T>,
) -> Result<T> {
    let ty = type_of_value(cx, a[0])?;
    let (x, y) = (Pieces::new(&ty, a[0].as_bytes())?, Pieces::new(&ty, a[1].as_bytes())?);
    f(cx, &ty, &x, &y)
}

/// A relation between the bounds of two values; false if one of them is empty.
fn spans(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    f: impl FnOnce(&RangeType, &Bounds<'_>, &Bounds<'_>) -> bool,
) -> Result<Datum> {
    both(cx, a, |_, ty, x, y| {
        let result = x.span().zip(y.span()).is_some_and(|(x, y)| f(ty, &x, &y));
        Ok(Datum::bool(result))
    })
}

fn overlap(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    both(cx, a, |_, _, x, y| Ok(Datum::bool(x.overlaps(y))))
}

fn contains(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    both(cx, a, |_, _, x, y| Ok(Datum::bool(x.contains(y))))
}

fn contained(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    both(cx, a, |_, _, x, y| Ok(Datum::bool(y.contains(x))))
}

fn before(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    spans(cx, a, ops::before)
}

fn after(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    spans(cx, a, |ty, x, y| ops::before(ty, y, x))
}

fn overleft(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    spans(cx, a, ops::overleft)
}

fn overright(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    spans(cx, a, ops::overright)
}

fn adjacent(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    both(cx, a, |cx, ty, x, y| match x.span().zip(y.span()) {
        Some((x, y)) => Ok(Datum::bool(ops::adjacent(cx, ty, &x, &y)?)),
        None => Ok(Datum::bool(false)),
    })
}

fn contains_value(
    cx: &mut dyn FnContext,
    container: DatumRef<'_>,
    value: DatumRef<'_>,
) -> Result<Datum> {
    let ty = type_of_value(cx, container)?;
    Ok(Datum::bool(Pieces::new(&ty, container.as_bytes())?.contains_value(value)))
}

fn order(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Ordering> {
    both(cx, a, |_, _, x, y| Ok(x.compare(y)))
}

/// Whether a range constructor's flags include the lower and the upper bound.
fn inclusions(flags: &[u8]) -> Result<(bool, bool)> {
    match flags {
        [low @ (b'[' | b'('), high @ (b']' | b')')] => Ok((*low == b'[', *high == b']')),
        _ => Err(pg_err!(SYNTAX_ERROR, "invalid range bound flags")
            .hint("Valid values are \"[]\", \"[)\", \"(]\", and \"()\".")),
    }
}

/// Error 42P13 unless a value is NULL or has this representation.
fn check_form(value: DatumRef<'_>, by_val: bool, len: i16) -> Result<()> {
    let fits = match value {
        DatumRef::Null => true,
        DatumRef::Word(_) => by_val,
        DatumRef::Bytes(b) => !by_val && (len < 0 || b.len() == len as usize),
    };
    match fits {
        true => Ok(()),
        false => Err(pg_err!(
            INVALID_FUNCTION_DEFINITION,
            "function is not declared as the built-in function requires"
        )),
    }
}

/// A range of the call's result type.
fn construct(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let result = cx.result_type();
    let ty = range_type(cx, result)?;
    check_form(a[0], ty.elem.by_val, ty.elem.len)?;
    check_form(a[1], ty.elem.by_val, ty.elem.len)?;
    a.get(2).map_or(Ok(()), |flags| check_form(*flags, false, -1))?;
    let (low, high) = match a.get(2) {
        None => (true, false),
        Some(DatumRef::Null) => {
            return Err(pg_err!(
                DATA_EXCEPTION,
                "range constructor flags argument must not be null"
            ));
        }
        Some(flags) => inclusions(flags.as_bytes())?,
    };
    Ok(Datum::bytes(make(cx, &ty, &Bound::lower(a[0], low), &Bound::upper(a[1], high))?))
}

/// The multirange of the ranges in an array.
fn construct_multirange(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    check_form(a[0], false, -1)?;
    let array = ArrayRef::new(a[0])?;
    if array.ndim() > 1 {
        return Err(pg_err!(
            CARDINALITY_VIOLATION,
            "multiranges cannot be constructed from multidimensional arrays"
        ));
    }
    let ty = range_type(cx, array.elem_type())?;
    let elem = cx.type_info(ty.oid)?;
    let mut ranges = values::memory::with_capacity(array.count())?;
    for range in array.iter(&elem) {
        if range.is_null() {
            return Err(pg_err!(
                NULL_VALUE_NOT_ALLOWED,
                "multirange values cannot contain null members"
            ));
        }
        ranges.push(range.as_bytes().to_vec());
    }
    pieces::make(cx, &ty, ranges)
}

/// The bounds from the first to the last range of a value, and the type.
fn with_span<T>(
    cx: &mut dyn FnContext,
    value: DatumRef<'_>,
    f: impl FnOnce(Option<Bounds<'_>>) -> T,
) -> Result<T> {
    let ty = type_of_value(cx, value)?;
    let pieces = Pieces::new(&ty, value.as_bytes())?;
    Ok(f(pieces.span()))
}

fn lower(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    with_span(cx, a[0], |s| s.map_or(Datum::Null, |b| b.0.value.to_owned()))
}

fn upper(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    with_span(cx, a[0], |s| s.map_or(Datum::Null, |b| b.1.value.to_owned()))
}

/// Whether the bounds of a value that is not empty have a property.
fn has(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    f: impl FnOnce(&Bounds<'_>) -> bool,
) -> Result<Datum> {
    with_span(cx, a[0], |s| Datum::bool(s.is_some_and(|b| f(&b))))
}

fn merge_multirange(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = type_of_value(cx, a[0])?;
    let pieces = Pieces::new(&ty, a[0].as_bytes())?;
    Ok(Datum::bytes(match pieces.span() {
        None => empty(&ty),
        Some(_) if pieces.len() == 1 => pieces.range(0)?,
        Some((lower, upper)) => make(cx, &ty, &lower, &upper)?,
    }))
}

fn union(cx: &mut dyn FnContext, a: &[DatumRef<'_>], strict: bool) -> Result<Datum> {
    let ty = type_of_value(cx, a[0])?;
    Ok(Datum::bytes(ops::union(cx, &ty, (a[0].as_bytes(), a[1].as_bytes()), strict)?))
}

fn intersect(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = type_of_value(cx, a[0])?;
    Ok(Datum::bytes(ops::intersection(cx, &ty, a[0].as_bytes(), a[1].as_bytes())?))
}

fn minus(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = type_of_value(cx, a[0])?;
    Ok(Datum::bytes(ops::difference(cx, &ty, a[0].as_bytes(), a[1].as_bytes())?))
}

fn multirange_union(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    both(cx, a, |cx, ty, x, y| {
        if x.is_empty() || y.is_empty() {
            return Ok(a[usize::from(x.is_empty())].to_owned());
        }
        let mut ranges = x.ranges()?;
        ranges.append(&mut y.ranges()?);
        pieces::make(cx, ty, ranges)
    })
}

fn multirange_minus(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    both(cx, a, |cx, ty, x, y| {
        if x.is_empty() || y.is_empty() {
            return Ok(a[0].to_owned());
        }
        let ranges = pieces::difference(cx, ty, x, y)?;
        pieces::make(cx, ty, ranges)
    })
}

fn multirange_intersect(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    both(cx, a, |cx, ty, x, y| {
        let ranges = pieces::intersection(cx, ty, x, y)?;
        pieces::make(cx, ty, ranges)
    })
}

/// A range in the canonical form of a discrete subtype, whose values are passed by value in `len`
/// bytes: `[lower,upper)`. `next` is the successor of a value; `None` if the value has none and
/// stays as it is. An error if the successor is out of range.
pub fn canonical(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    len: i16,
    next: impl Fn(DatumRef<'_>) -> Result<Option<Datum>>,
) -> Result<Datum> {
    check_form(a[0], false, -1)?;
    let ty = type_of_value(cx, a[0])?;
    // A word of another length would not be the value.
    check_form(DatumRef::Word(0), ty.elem.by_val && ty.elem.len == len, len)?;
    let Some((mut lower, mut upper)) = crate::stored::bounds(&ty, a[0].as_bytes())? else {
        return Ok(a[0].to_owned());
    };
    let mut moved = [None, None];
    for (bound, slot) in [&lower, &upper].into_iter().zip(&mut moved) {
        // The lower bound becomes inclusive, the upper bound exclusive.
        if !bound.infinite && bound.inclusive != bound.is_lower {
            *slot = next(bound.value)?;
        }
    }
    for (bound, value) in [&mut lower, &mut upper].into_iter().zip(&moved) {
        if let Some(value) = value {
            (bound.value, bound.inclusive) = (value.as_ref(), bound.is_lower);
        }
    }
    Ok(Datum::bytes(crate::stored::serialize(&ty, &lower, &upper)?))
}

scalars! { FNS;
    "range_constructor2" => construct,
    "range_constructor3" => construct,
    "multirange_constructor0" => |cx, _| {
        let result = cx.result_type();
        let ty = range_type(cx, result)?;
        pieces::make(cx, &ty, Vec::new())
    },
    "multirange_constructor1" => |cx, a| {
        check_form(a[0], false, -1)?;
        let ty = type_of_value(cx, a[0])?;
        pieces::make(cx, &ty, vec![a[0].as_bytes().to_vec()])
    },
    "multirange_constructor2" => construct_multirange,
    "range_lower" => lower,
    "range_upper" => upper,
    "range_empty" => |cx, a| with_span(cx, a[0], |s| Datum::bool(s.is_none())),
    "range_lower_inc" => |cx, a| has(cx, a, |b| b.0.inclusive),
    "range_upper_inc" => |cx, a| has(cx, a, |b| b.1.inclusive),
    "range_lower_inf" => |cx, a| has(cx, a, |b| b.0.infinite),
    "range_upper_inf" => |cx, a| has(cx, a, |b| b.1.infinite),
    "multirange_lower" => lower,
    "multirange_upper" => upper,
    "multirange_empty" => |cx, a| with_span(cx, a[0], |s| Datum::bool(s.is_none())),
    "multirange_lower_inc" => |cx, a| has(cx, a, |b| b.0.inclusive),
    "multirange_upper_inc" => |cx, a| has(cx, a, |b| b.1.inclusive),
    "multirange_lower_inf" => |cx, a| has(cx, a, |b| b.0.infinite),
    "multirange_upper_inf" => |cx, a| has(cx, a, |b| b.1.infinite),
    "range_union" => |cx, a| union(cx, a, true),
    "range_merge" => |cx, a| union(cx, a, false),
    "range_merge_from_multirange" => merge_multirange,
    "range_intersect" => intersect,
    "range_intersect_agg_transfn" => intersect,
    "range_minus" => minus,
    "multirange_union" => multirange_union,
    "multirange_minus" => multirange_minus,
    "multirange_intersect" => multirange_intersect,
    "multirange_intersect_agg_transfn" => multirange_intersect,
    "int4range_canonical" => |cx, a| canonical(cx, a, 4, |v| {
        let next = v.as_i32().checked_add(1);
        Ok(Some(Datum::int4(next.ok_or_else(|| values::type_io::out_of_range("integer"))?)))
    }),
    "int8range_canonical" => |cx, a| canonical(cx, a, 8, |v| {
        let next = v.as_i64().checked_add(1);
        Ok(Some(Datum::int8(next.ok_or_else(|| values::type_io::out_of_range("bigint"))?)))
    }),
}

scalars! { RELATIONS;
    "range_contains_elem" => |cx, a| contains_value(cx, a[0], a[1]),
    "multirange_contains_elem" => |cx, a| contains_value(cx, a[0], a[1]),
    "elem_contained_by_range" => |cx, a| contains_value(cx, a[1], a[0]),
    "elem_contained_by_multirange" => |cx, a| contains_value(cx, a[1], a[0]),
    "range_contains" => contains,
    "range_contains_multirange" => contains,
    "multirange_contains_range" => contains,
    "multirange_contains_multirange" => contains,
    "range_contained_by" => contained,
    "range_contained_by_multirange" => contained,
    "multirange_contained_by_range" => contained,
    "multirange_contained_by_multirange" => contained,
    "range_overlaps" => overlap,
    "range_overlaps_multirange" => overlap,
    "multirange_overlaps_range" => overlap,
    "multirange_overlaps_multirange" => overlap,
    "range_before" => before,
    "range_before_multirange" => before,
    "multirange_before_range" => before,
    "multirange_before_multirange" => before,
    "range_after" => after,
    "range_after_multirange" => after,
    "multirange_after_range" => after,
    "multirange_after_multirange" => after,
    "range_overleft" => overleft,
    "range_overleft_multirange" => overleft,
    "multirange_overleft_range" => overleft,
    "multirange_overleft_multirange" => overleft,
    "range_overright" => overright,
    "range_overright_multirange" => overright,
    "multirange_overright_range" => overright,
    "multirange_overright_multirange" => overright,
    "range_adjacent" => adjacent,
    "range_adjacent_multirange" => adjacent,
    "multirange_adjacent_range" => adjacent,
    "multirange_adjacent_multirange" => adjacent,
}

macro_rules! compared {
    ($table:ident; $($range:literal $multirange:literal $test:expr;)*) => {
        scalars! { $table; $(
            $range => |cx, a| Ok($test(order(cx, a)?)),
            $multirange => |cx, a| Ok($test(order(cx, a)?)),
        )* }
    };
}

compared! { COMPARISONS;
    "range_eq" "multirange_eq" |o: Ordering| Datum::bool(o.is_eq());
    "range_ne" "multirange_ne" |o: Ordering| Datum::bool(o.is_ne());
    "range_lt" "multirange_lt" |o: Ordering| Datum::bool(o.is_lt());
    "range_le" "multirange_le" |o: Ordering| Datum::bool(o.is_le());
    "range_gt" "multirange_gt" |o: Ordering| Datum::bool(o.is_gt());
    "range_ge" "multirange_ge" |o: Ordering| Datum::bool(o.is_ge());
    "range_cmp" "multirange_cmp" |o: Ordering| Datum::int4(o as i32);
}

builtins! { SETS;
    "multirange_unnest" => Srf(|cx, a| {
        let ty = type_of_value(cx, a[0])?;
        let pieces = Pieces::new(&ty, a[0].as_bytes())?;
        let mut all = values::memory::with_capacity(pieces.len())?;
        for i in 0..pieces.len() {
            all.push(Datum::bytes(pieces.range(i)?));
        }
        Ok(VecSource::boxed(all))
    }),
}

/// Only flags that bounds can have.
pub(crate) fn written_flags(flags: u8) -> (bool, bool) {
    (flags & LOWER_INCLUSIVE != 0, flags & UPPER_INCLUSIVE != 0)
}

/// XX000: the value is no range.
pub(crate) fn not_a_range(ty: Oid) -> PgError {
    PgError::internal(format!("type {ty} is not a range type"))
}
