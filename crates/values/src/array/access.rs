//! Subscripting: elements and slices, read and assigned. Counterpart: arrayfuncs.c, arraysubs.c.

use super::payload::{
    ArrayRef, MAX_DIMS, MAX_ELEMENTS, build, check_bounds, count_of, empty, too_large,
};
use crate::datum::{Datum, DatumRef};
use crate::fn_context::TypeInfo;
use pgerror::{Result, pg_err};

/// 2202E
pub(super) fn subscript_error(message: &str) -> pgerror::PgError {
    pg_err!(ARRAY_SUBSCRIPT_ERROR, "{message}")
}

/// Index of an element in storage order; `None` outside the bounds.
fn offset_of(dims: &[i32], lower: &[i32], subscripts: &[i32]) -> Option<usize> {
    if dims.is_empty() || dims.len() != subscripts.len() {
        return None;
    }
    let mut at = 0usize;
    for ((d, l), s) in dims.iter().zip(lower).zip(subscripts) {
        let i = i64::from(*s) - i64::from(*l);
        if i < 0 || i >= i64::from(*d) {
            return None;
        }
        at = at * *d as usize + i as usize;
    }
    Some(at)
}

impl ArrayRef<'_> {
    /// Like [`offset_of`], with the array's own bounds.
    #[inline]
    pub(super) fn offset_of(self, subscripts: &[i32]) -> Option<usize> {
        if subscripts.is_empty() || self.ndim() != subscripts.len() {
            return None;
        }
        let mut at = 0usize;
        for (n, &s) in subscripts.iter().enumerate() {
            let i = i64::from(s) - i64::from(self.lower_bound(n));
            if i < 0 || i >= i64::from(self.dim(n)) {
                return None;
            }
            at = at * self.dim(n) as usize + i as usize;
        }
        Some(at)
    }
}

/// The element at the subscripts; NULL outside the bounds or if the number of subscripts differs.
pub fn get_element<'a>(
    array: DatumRef<'a>,
    elem: &TypeInfo,
    subscripts: &[i32],
) -> Result<DatumRef<'a>> {
    let array = ArrayRef::new(array)?;
    Ok(match array.offset_of(subscripts) {
        Some(i) if !array.is_null(i) => array.nth(elem, i),
        _ => DatumRef::Null,
    })
}

/// As [`get_element`], where the element is found without reading those before it: elements of
/// fixed length in an array without NULLs. The number of elements to pass otherwise.
#[inline]
pub fn direct_element<'a>(
    array: DatumRef<'a>,
    elem: &TypeInfo,
    subscripts: &[i32],
) -> Result<std::result::Result<DatumRef<'a>, usize>> {
    let array = ArrayRef::new(array)?;
    Ok(match array.offset_of(subscripts) {
        None => Ok(DatumRef::Null),
        Some(at) if elem.len > 0 && !array.has_null_bitmap() => Ok(array.nth(elem, at)),
        Some(at) => Err(at),
    })
}

/// Indexes in storage order of the elements of a slice, ascending.
fn positions(dims: &[i32], lower: &[i32], from: &[i32], to: &[i32]) -> Vec<usize> {
    let mut out = Vec::new();
    let mut at = from.to_vec();
    loop {
        out.push(offset_of(dims, lower, &at).expect("the box lies within the bounds"));
        let mut i = at.len();
        loop {
            if i == 0 {
                return out;
            }
            i -= 1;
            if at[i] < to[i] {
                at[i] += 1;
                break;
            }
            at[i] = from[i];
        }
    }
}

/// The slice between bounds; a missing bound is the array's own. The lower bounds of the result are
/// 1. A slice that does not overlap the array is empty.
pub fn get_slice(
    array: DatumRef<'_>,
    elem: &TypeInfo,
    lower: &[Option<i32>],
    upper: &[Option<i32>],
) -> Result<Datum> {
    let a = ArrayRef::new(array)?;
    let (dims, lb) = (a.dims(), a.lower_bounds());
    if dims.is_empty() || dims.len() < lower.len() {
        return Ok(empty(elem.oid));
    }
    let (mut from, mut to) = (lb.clone(), Vec::new());
    for i in 0..dims.len() {
        let last = lb[i] + dims[i] - 1;
        from[i] = lower.get(i).copied().flatten().unwrap_or(lb[i]).max(lb[i]);
        to.push(upper.get(i).copied().flatten().unwrap_or(last).min(last));
        if to[i] < from[i] {
            return Ok(empty(elem.oid));
        }
    }
    let all = a.elements(elem)?;
    let out_dims: Vec<i32> = from.iter().zip(&to).map(|(f, t)| t - f + 1).collect();
    let chosen: Vec<DatumRef<'_>> =
        positions(&dims, &lb, &from, &to).into_iter().map(|i| all[i]).collect();
    build(elem, &out_dims, &vec![1; out_dims.len()], chosen.into_iter())
}

fn bounds_of(array: DatumRef<'_>) -> Result<(Vec<i32>, Vec<i32>)> {
    if array.is_null() {
        return Ok((Vec::new(), Vec::new()));
    }
    let a = ArrayRef::new(array)?;
    Ok((a.dims(), a.lower_bounds()))
}

/// The number of subscripts between these. 54000 if there are too many.
pub(super) fn checked_length(low: i32, high: i32) -> Result<i32> {
    let len = i64::from(high) - i64::from(low) + 1;
    i32::try_from(len).ok().filter(|l| *l as usize <= MAX_ELEMENTS).ok_or_else(too_large)
}

/// The array with one element replaced. A NULL or empty array becomes one with that element; a
/// one-dimensional array is extended with NULLs as needed.
pub fn set_element(
    array: DatumRef<'_>,
    elem: &TypeInfo,
    subscripts: &[i32],
    value: DatumRef<'_>,
) -> Result<Datum> {
    if subscripts.len() > MAX_DIMS {
        return Err(super::io::too_many_dims(subscripts.len()));
    }
    let (mut dims, mut lower) = bounds_of(array)?;
    if dims.is_empty() {
        dims = vec![1; subscripts.len()];
        check_bounds(&dims, subscripts)?;
        return build(elem, &dims, subscripts, [value].into_iter());
    }
    if dims.len() != subscripts.len() {
        return Err(subscript_error("wrong number of array subscripts"));
    }
    let mut values = ArrayRef::new(array)?.elements(elem)?;
    if let [s] = *subscripts {
        let last = lower[0] + dims[0] - 1;
        if s < lower[0] {
            dims[0] = checked_length(s, last)?;
            let fill = (lower[0] - s) as usize;
            crate::memory::reserve(&mut values, fill)?;
            values.splice(0..0, std::iter::repeat_n(DatumRef::Null, fill));
            lower[0] = s;
        } else if s > last {
            dims[0] = checked_length(lower[0], s)?;
            let more = (dims[0] as usize).saturating_sub(values.len());
            crate::memory::reserve(&mut values, more)?;
            values.resize(dims[0] as usize, DatumRef::Null);
        }
        check_bounds(&dims, &lower)?;
    }
    let at = offset_of(&dims, &lower, subscripts)
        .ok_or_else(|| subscript_error("array subscript out of range"))?;
    values[at] = value;
    build(elem, &dims, &lower, values.into_iter())
}

/// The array with a slice replaced by the first elements of `source`.
pub fn set_slice(
    array: DatumRef<'_>,
    elem: &TypeInfo,
    from: &[Option<i32>],
    to: &[Option<i32>],
    source: DatumRef<'_>,
) -> Result<Datum> {
    if from.len() > MAX_DIMS {
        return Err(super::io::too_many_dims(from.len()));
    }
    let src = ArrayRef::new(source)?;
    let new = src.elements(elem)?;
    let too_small = || subscript_error("source array too small");
    let (mut dims, mut lower) = bounds_of(array)?;
    if dims.is_empty() {
        for (f, t) in from.iter().zip(to) {
            let (Some(f), Some(t)) = (*f, *t) else {
                return Err(subscript_error("array slice subscript must provide both boundaries")
                    .detail(
                        "When assigning to a slice of an empty array value, slice boundaries \
                             must be fully specified.",
                    ));
            };
            dims.push(checked_length(f, t)?);
            lower.push(f);
        }
        let count = count_of(&dims)?;
        if dims.iter().any(|&d| d < 0) || new.len() < count {
            return Err(too_small());
        }
        return build(elem, &dims, &lower, new.into_iter().take(count));
    }
    if dims.len() < from.len() {
        return Err(subscript_error("wrong number of array subscripts"));
    }
    let mut values = ArrayRef::new(array)?.elements(elem)?;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for i in 0..dims.len() {
        let last = lower[i] + dims[i] - 1;
        let (f, t) = match (from.get(i), to.get(i)) {
            (Some(f), Some(t)) => (f.unwrap_or(lower[i]), t.unwrap_or(last)),
            _ => (lower[i], last),
        };
        if f > t {
            return Err(subscript_error("upper bound cannot be less than lower bound"));
        }
        if dims.len() == 1 {
            if f < lower[0] {
                let fill = (lower[0] - f) as usize;
                dims[0] = checked_length(f, last)?;
                crate::memory::reserve(&mut values, fill)?;
                values.splice(0..0, std::iter::repeat_n(DatumRef::Null, fill));
                lower[0] = f;
            }
            if t > last {
                dims[0] = checked_length(lower[0], t)?;
                let more = (dims[0] as usize).saturating_sub(values.len());
                crate::memory::reserve(&mut values, more)?;
                values.resize(dims[0] as usize, DatumRef::Null);
            }
        } else if f < lower[i] || t > last {
            return Err(subscript_error("array subscript out of range"));
        }
        low.push(f);
        high.push(t);
    }
    let positions = positions(&dims, &lower, &low, &high);
    if new.len() < positions.len() {
        return Err(too_small());
    }
    for (position, v) in positions.into_iter().zip(new) {
        values[position] = v;
    }
    build(elem, &dims, &lower, values.into_iter())
}
