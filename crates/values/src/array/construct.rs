//! Construction of arrays: append, prepend, concatenate, fill, array_agg. Counterpart:
//! array_userfuncs.c.

use super::payload::{
    ArrayRef, MAX_DIMS, build, build_1d, build_filled, builtin_info, check_bounds, count_of,
    too_large,
};
use crate::datum::{Datum, DatumRef};
use crate::fn_context::{FnContext, TypeInfo};
use crate::function::AggState;
use ids::builtin::ty as oids;
use pgerror::{Result, pg_err};

/// Element type of the array argument `i`, from its value or else from its analyzed type.
fn elem_of(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    array: usize,
    single: usize,
) -> Result<TypeInfo> {
    let added = cx.arg_type(single);
    match a[array] {
        DatumRef::Null => cx.type_info(added),
        array => ArrayRef::new(array)?.element_type(cx, added),
    }
}

/// `array` (may be NULL) with an element added at the front or at the end.
fn extend(cx: &mut dyn FnContext, a: &[DatumRef<'_>], front: bool) -> Result<Datum> {
    let (array, single) = if front { (1, 0) } else { (0, 1) };
    let elem = elem_of(cx, a, array, single)?;
    if a[array].is_null() {
        return build(&elem, &[1], &[1], [a[single]].into_iter());
    }
    let old = ArrayRef::new(a[array])?;
    let mut values = old.elements(&elem)?;
    crate::memory::reserve(&mut values, 1)?;
    let lower = match (old.ndim(), old.lower_bounds().first()) {
        (0, _) => 1,
        (1, Some(l)) => *l,
        _ => {
            return Err(pg_err!(DATA_EXCEPTION, "argument must be empty or one-dimensional array"));
        }
    };
    let end = i64::from(lower) + values.len() as i64;
    if (front && lower == i32::MIN) || (!front && end > i32::MAX.into()) {
        return Err(crate::type_io::out_of_range("integer"));
    }
    if front {
        values.insert(0, a[single]);
    } else {
        values.push(a[single]);
    }
    build(&elem, &[values.len() as i32], &[lower], values.into_iter())
}

fn incompatible(detail: &str) -> pgerror::PgError {
    pg_err!(ARRAY_SUBSCRIPT_ERROR, "cannot concatenate incompatible arrays").detail(detail)
}

fn concatenate(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    if a[0].is_null() || a[1].is_null() {
        return Ok(a[usize::from(a[0].is_null())].to_owned());
    }
    let (x, y) = (ArrayRef::new(a[0])?, ArrayRef::new(a[1])?);
    if x.elem_type() != y.elem_type() {
        return Err(pg_err!(DATATYPE_MISMATCH, "cannot concatenate incompatible arrays"));
    }
    if x.ndim() == 0 && y.ndim() > 0 {
        return Ok(a[1].to_owned());
    }
    if y.ndim() == 0 {
        return Ok(a[0].to_owned());
    }
    let (xd, yd) = (x.dims(), y.dims());
    let (xl, yl) = (x.lower_bounds(), y.lower_bounds());
    let differing = "Arrays with differing dimensions are not compatible for concatenation.";
    let (dims, lower) = if xd.len() == yd.len() {
        if xd[1..] != yd[1..] || xl[1..] != yl[1..] {
            return Err(incompatible(
                "Arrays with differing element dimensions are not compatible for concatenation.",
            ));
        }
        let mut dims = xd.clone();
        dims[0] = dims[0].checked_add(yd[0]).ok_or_else(too_large)?;
        (dims, xl)
    } else if xd.len() + 1 == yd.len() {
        if xd[..] != yd[1..] || xl[..] != yl[1..] {
            return Err(incompatible(differing));
        }
        let mut dims = yd.clone();
        dims[0] = dims[0].checked_add(1).ok_or_else(too_large)?;
        (dims, yl)
    } else if xd.len() == yd.len() + 1 {
        if xd[1..] != yd[..] || xl[1..] != yl[..] {
            return Err(incompatible(differing));
        }
        let mut dims = xd.clone();
        dims[0] = dims[0].checked_add(1).ok_or_else(too_large)?;
        (dims, xl)
    } else {
        return Err(incompatible(&format!(
            "Arrays of {} and {} dimensions are not compatible for concatenation.",
            xd.len(),
            yd.len()
        )));
    };
    let elem = cx.type_info(x.elem_type())?;
    count_of(&dims)?;
    check_bounds(&dims, &lower)?;
    let mut values = crate::memory::with_capacity(x.count() + y.count())?;
    values.extend(x.iter(&elem).chain(y.iter(&elem)));
    build(&elem, &dims, &lower, values.into_iter())
}

fn int_list(d: DatumRef<'_>, what: &str) -> Result<Vec<i32>> {
    let array = ArrayRef::new(d)?;
    if array.ndim() > 1 {
        return Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts")
            .detail("Dimension array must be one dimensional."));
    }
    if array.contains_null() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "{what} values cannot be null"));
    }
    Ok(array.iter(&builtin_info(oids::INT4)).map(|v| v.as_i32()).collect())
}

fn fill(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    if a[1].is_null() || a.get(2).is_some_and(|l| l.is_null()) {
        return Err(pg_err!(
            NULL_VALUE_NOT_ALLOWED,
            "dimension array or low bound array cannot be null"
        ));
    }
    let dims = int_list(a[1], "dimension")?;
    let lower = match a.get(2) {
        Some(l) => int_list(*l, "dimension")?,
        None => vec![1; dims.len()],
    };
    if lower.len() != dims.len() {
        return Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts")
            .detail("Low bound array has different size than dimensions array."));
    }
    if dims.len() > MAX_DIMS {
        return Err(super::io::too_many_dims(dims.len()));
    }
    let elem = cx.type_info(cx.arg_type(0))?;
    build_filled(cx, &elem, &dims, &lower, a[0])
}

/// Accumulates elements (or whole arrays) for array_agg and ARRAY(subquery).
pub struct Accumulator {
    elem: TypeInfo,
    values: Vec<Datum>,
    /// Dimensions and lower bounds of each accumulated array; `None` for elements.
    shape: Option<(Vec<i32>, Vec<i32>)>,
    arrays: i32,
}

impl Accumulator {
    /// An empty accumulator for elements of this type.
    pub fn new(elem: TypeInfo) -> Accumulator {
        Accumulator { elem, values: Vec::new(), shape: None, arrays: 0 }
    }

    /// Adds an element, which may be NULL.
    pub fn push(&mut self, value: DatumRef<'_>) -> Result<()> {
        crate::memory::reserve(&mut self.values, 1)?;
        self.values.push(value.to_owned());
        Ok(())
    }

    /// Adds an array as a subarray of the result.
    pub fn push_array(&mut self, array: DatumRef<'_>) -> Result<()> {
        if array.is_null() {
            return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "cannot accumulate null arrays"));
        }
        let array = ArrayRef::new(array)?;
        let shape = (array.dims(), array.lower_bounds());
        match &self.shape {
            None if array.ndim() == 0 => {
                return Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "cannot accumulate empty arrays"));
            }
            None if array.ndim() + 1 > MAX_DIMS => {
                return Err(super::io::too_many_dims(array.ndim() + 1));
            }
            None => self.shape = Some(shape),
            Some(old) if *old != shape => {
                return Err(pg_err!(
                    ARRAY_SUBSCRIPT_ERROR,
                    "cannot accumulate arrays of different dimensionality"
                ));
            }
            Some(_) => {}
        }
        self.arrays += 1;
        crate::memory::reserve(&mut self.values, array.count())?;
        self.values.extend(array.iter(&self.elem).map(DatumRef::to_owned));
        Ok(())
    }

    /// The result array.
    pub fn finish(&self) -> Result<Datum> {
        match &self.shape {
            None => build_1d(&self.elem, &self.values),
            Some((dims, lower)) => {
                let dims: Vec<i32> = [self.arrays].iter().chain(dims).copied().collect();
                let lower: Vec<i32> = [1].iter().chain(lower).copied().collect();
                count_of(&dims)?;
                build(&self.elem, &dims, &lower, self.values.iter().map(Datum::as_ref))
            }
        }
    }
}

fn gather(cx: &mut dyn FnContext, s: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    if s.is_null() {
        let elem = cx.type_info(cx.arg_type(0))?;
        *s = AggState::new(Accumulator::new(elem));
    }
    if let Some(acc) = s.get_mut::<Accumulator>() {
        acc.push(a[0])?;
    }
    Ok(())
}

fn gather_arrays(cx: &mut dyn FnContext, s: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    if s.is_null() {
        let array_type = cx.type_info(cx.arg_type(0))?;
        let elem = cx.type_info(array_type.elem)?;
        *s = AggState::new(Accumulator::new(elem));
    }
    match s.get_mut::<Accumulator>() {
        Some(acc) => acc.push_array(a[0]),
        None => Ok(()),
    }
}

fn finish(s: &AggState) -> Result<Datum> {
    s.get::<Accumulator>().map_or(Ok(Datum::Null), Accumulator::finish)
}

scalars! { FNS;
    "array_append" => |cx, a| extend(cx, a, false),
    "array_prepend" => |cx, a| extend(cx, a, true),
    "array_cat" => concatenate,
    "array_fill" => fill,
    "array_fill_with_lower_bounds" => fill,
}

builtins! { AGGREGATES;
    "array_agg_transfn" => Trans(gather),
    "array_agg_finalfn" => Final(|_, s, _| finish(s)),
    "array_agg_array_transfn" => Trans(gather_arrays),
    "array_agg_array_finalfn" => Final(|_, s, _| finish(s)),
}
