//! Dimensions, search, removal, replacement. Counterpart: arrayfuncs.c, array_userfuncs.c.

use super::access::get_slice;
use super::payload::{ArrayRef, build, of_builtin};
use crate::datum::{Datum, DatumRef};
use crate::fn_context::{FnContext, InterruptTicker};
use ids::Oid;
use ids::builtin::ty as oids;
use pgerror::{Result, pg_err};

/// Lower bound and length of dimension `n` (1-based); `None` if there is no such dimension.
fn dimension(array: DatumRef<'_>, n: i32) -> Result<Option<(i32, i32)>> {
    let a = ArrayRef::header(array)?;
    let i = usize::try_from(n).ok().and_then(|n| n.checked_sub(1)).filter(|i| *i < a.ndim());
    Ok(i.map(|i| (a.lower_bound(i), a.dim(i))))
}

fn or_null(v: Option<i32>) -> Result<Datum> {
    Ok(v.map_or(Datum::Null, Datum::int4))
}

fn not_multi(array: ArrayRef<'_>, verb: &str) -> Result<()> {
    if array.ndim() > 1 {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "{verb} elements in multidimensional arrays is not supported"
        ));
    }
    Ok(())
}

fn same(
    cx: &mut dyn FnContext,
    ticker: &mut InterruptTicker,
    ty: Oid,
    a: DatumRef<'_>,
    b: DatumRef<'_>,
) -> Result<bool> {
    ticker.tick(cx)?;
    match (a.is_null(), b.is_null()) {
        (true, true) => Ok(true),
        (false, false) => {
            let collation = cx.collation();
            cx.type_equal(ty, a, b, collation)
        }
        _ => Ok(false),
    }
}

fn position(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = ArrayRef::new(a[0])?;
    not_multi(array, "searching for")?;
    if array.ndim() == 0 {
        return Ok(Datum::Null);
    }
    // An array without NULLs is not searched for one, whatever the other arguments are.
    if a[1].is_null() && !array.contains_null() {
        return Ok(Datum::Null);
    }
    let first = array.lower_bound(0);
    let start = match a.get(2) {
        Some(s) if s.is_null() => {
            return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "initial position must not be null"));
        }
        Some(s) => s.as_i32(),
        None => first,
    };
    let sought = cx.arg_type(1);
    let elem = array.element_type(cx, sought)?;
    let mut ticker = InterruptTicker::default();
    for (i, v) in array.iter(&elem).enumerate() {
        let at = first + i as i32;
        if at >= start && same(cx, &mut ticker, elem.oid, v, a[1])? {
            return Ok(Datum::int4(at));
        }
    }
    Ok(Datum::Null)
}

fn positions(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = ArrayRef::new(a[0])?;
    not_multi(array, "searching for")?;
    let sought = cx.arg_type(1);
    let elem = array.element_type(cx, sought)?;
    let first = array.lower_bounds().first().copied().unwrap_or(1);
    let mut out = Vec::new();
    let mut ticker = InterruptTicker::default();
    for (i, v) in array.iter(&elem).enumerate() {
        if same(cx, &mut ticker, elem.oid, v, a[1])? {
            crate::memory::reserve(&mut out, 1)?;
            out.push(Datum::int4(first + i as i32));
        }
    }
    of_builtin(oids::INT4, &out)
}

/// Replaces (removes, without `new`) the elements that are equal to `old`.
fn replace_elements(
    cx: &mut dyn FnContext,
    array: DatumRef<'_>,
    old: DatumRef<'_>,
    new: Option<DatumRef<'_>>,
) -> Result<Datum> {
    if array.is_null() {
        return Ok(Datum::Null);
    }
    let a = ArrayRef::new(array)?;
    if new.is_none() && a.ndim() > 1 {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "removing elements from multidimensional arrays is not supported"
        ));
    }
    let sought = cx.arg_type(1);
    let elem = a.element_type(cx, sought)?;
    let mut out = crate::memory::with_capacity(a.count())?;
    let mut changed = false;
    let mut ticker = InterruptTicker::default();
    for v in a.iter(&elem) {
        if same(cx, &mut ticker, elem.oid, v, old)? {
            changed = true;
            out.extend(new);
        } else {
            out.push(v);
        }
    }
    if !changed {
        return Ok(array.to_owned());
    }
    let mut dims = a.dims();
    if new.is_none() {
        dims[0] = out.len() as i32;
    }
    build(&elem, &dims, &a.lower_bounds(), out.into_iter())
}

fn trim(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let array = ArrayRef::new(a[0])?;
    let n = a[1].as_i32();
    let length = array.dims().first().copied().unwrap_or(0);
    if n < 0 || n > length {
        return Err(pg_err!(
            ARRAY_ELEMENT_ERROR,
            "number of elements to trim must be between 0 and {length}"
        ));
    }
    let elem = cx.type_info(array.elem_type())?;
    let last = array.lower_bounds().first().map(|l| l + length - n - 1);
    get_slice(a[0], &elem, &[None], &[last])
}

/// The bucket of a value in an array of sorted thresholds.
fn width_bucket(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let array = ArrayRef::new(a[1])?;
    if array.ndim() > 1 {
        return Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "thresholds must be one-dimensional array"));
    }
    if array.contains_null() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "thresholds array must not contain NULLs"));
    }
    let operand = cx.arg_type(0);
    let elem = array.element_type(cx, operand)?;
    let values = array.elements(&elem)?;
    let collation = cx.collation();
    let (mut low, mut high) = (0, values.len());
    while low < high {
        let mid = (low + high) / 2;
        if cx.type_compare(elem.oid, a[0], values[mid], collation)?.is_lt() {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    Ok(Datum::int4(low as i32))
}

scalars! { FNS;
    "array_ndims" => |_, a| match ArrayRef::header(a[0])?.ndim() {
        0 => Ok(Datum::Null),
        n => Ok(Datum::int4(n as i32)),
    },
    "array_dims" => |_, a| {
        let array = ArrayRef::header(a[0])?;
        if array.ndim() == 0 {
            return Ok(Datum::Null);
        }
        let pairs = array.dims().into_iter().zip(array.lower_bounds());
        let text: String = pairs.map(|(d, l)| format!("[{l}:{}]", l + d - 1)).collect();
        Ok(Datum::text(&text))
    },
    "array_lower" => |_, a| or_null(dimension(a[0], a[1].as_i32())?.map(|(l, _)| l)),
    "array_upper" => |_, a| or_null(dimension(a[0], a[1].as_i32())?.map(|(l, d)| l + d - 1)),
    "array_length" => |_, a| or_null(dimension(a[0], a[1].as_i32())?.map(|(_, d)| d)),
    "array_cardinality" => |_, a| Ok(Datum::int4(ArrayRef::header(a[0])?.count() as i32)),
    "array_position" => position,
    "array_position_start" => position,
    "array_positions" => positions,
    "array_remove" => |cx, a| replace_elements(cx, a[0], a[1], None),
    "array_replace" => |cx, a| replace_elements(cx, a[0], a[1], Some(a[2])),
    "trim_array" => trim,
    "width_bucket_array" => width_bucket,
}
