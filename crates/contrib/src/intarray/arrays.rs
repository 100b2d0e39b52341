//! Functions on arrays. As sets, arrays are sorted and have no element twice.

use pgerror::{Result, pg_err};
use values::array::ArrayRef;
use values::array::payload::{build, builtin_info, empty};
use values::datum::{Datum, DatumRef};
use values::oids;

/// The elements. Error 22004 if one is NULL.
pub(super) fn elements(d: DatumRef<'_>) -> Result<Vec<i32>> {
    let array = ArrayRef::new(d)?;
    if array.contains_null() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "array must not contain nulls"));
    }
    Ok(array.iter(&builtin_info(oids::INT4)).map(DatumRef::as_i32).collect())
}

fn sorted(d: DatumRef<'_>) -> Result<Vec<i32>> {
    let mut list = elements(d)?;
    list.sort_unstable();
    Ok(list)
}

fn set(d: DatumRef<'_>) -> Result<Vec<i32>> {
    let mut list = sorted(d)?;
    list.dedup();
    Ok(list)
}

/// A one-dimensional array.
pub(super) fn array(list: &[i32]) -> Result<Datum> {
    if list.is_empty() {
        return Ok(empty(oids::INT4));
    }
    let values: Vec<Datum> = list.iter().map(|v| Datum::int4(*v)).collect();
    values::array::payload::of_builtin(oids::INT4, &values)
}

/// An array with the dimensions of another one, or with fewer elements in the first dimension.
fn reshaped(like: DatumRef<'_>, list: &[i32]) -> Result<Datum> {
    let old = ArrayRef::new(like)?;
    if list.is_empty() {
        return Ok(empty(oids::INT4));
    }
    let mut dims = old.dims();
    if list.len() != old.count() {
        let mut count = list.len() as i32;
        for dim in &mut dims {
            *dim = count;
            count = 1;
        }
    }
    let values: Vec<Datum> = list.iter().map(|v| Datum::int4(*v)).collect();
    let info = builtin_info(oids::INT4);
    build(&info, &dims, &old.lower_bounds(), values.iter().map(Datum::as_ref))
}

fn contains(whole: DatumRef<'_>, part: DatumRef<'_>) -> Result<Datum> {
    let (whole, part) = (set(whole)?, set(part)?);
    Ok(Datum::bool(part.iter().all(|v| whole.binary_search(v).is_ok())))
}

fn overlap(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (first, second) = (set(a[0])?, elements(a[1])?);
    Ok(Datum::bool(second.iter().any(|v| first.binary_search(v).is_ok())))
}

fn same(a: &[DatumRef<'_>]) -> Result<bool> {
    Ok(sorted(a[0])? == sorted(a[1])?)
}

fn union(a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut all = elements(a[0])?;
    all.extend(elements(a[1])?);
    all.sort_unstable();
    all.dedup();
    array(&all)
}

fn intersection(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (mut first, second) = (set(a[0])?, set(a[1])?);
    first.retain(|v| second.binary_search(v).is_ok());
    array(&first)
}

fn subtract(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (mut first, second) = (set(a[0])?, set(a[1])?);
    first.retain(|v| second.binary_search(v).is_err());
    array(&first)
}

fn sort(d: DatumRef<'_>, direction: &[u8]) -> Result<Datum> {
    let mut list = elements(d)?;
    if list.len() < 2 {
        return Ok(d.to_owned());
    }
    match direction.to_ascii_lowercase().as_slice() {
        b"asc" => list.sort_unstable(),
        b"desc" => list.sort_unstable_by(|a, b| b.cmp(a)),
        _ => {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "second parameter must be \"ASC\" or \"DESC\""
            ));
        }
    }
    reshaped(d, &list)
}

/// Removes repetitions of adjacent elements.
fn unique(d: DatumRef<'_>) -> Result<Datum> {
    let mut list = elements(d)?;
    if list.len() < 2 {
        return Ok(d.to_owned());
    }
    list.dedup();
    reshaped(d, &list)
}

fn index_of(a: &[DatumRef<'_>]) -> Result<Datum> {
    let wanted = a[1].as_i32();
    let at = elements(a[0])?.iter().position(|v| *v == wanted);
    Ok(Datum::int4(at.map_or(0, |i| i as i32 + 1)))
}

/// `subarray(array, start, length)`; a negative start counts from the end, a negative length says
/// how many elements to omit at the end.
fn subarray(a: &[DatumRef<'_>]) -> Result<Datum> {
    let list = elements(a[0])?;
    let count = list.len() as i64;
    let start = i64::from(a[1].as_i32());
    let length = a.get(2).map_or(0, |length| i64::from(length.as_i32()));
    let start = if start > 0 { start - 1 } else { start };
    let start = if start < 0 { count + start } else { start };
    let end = match length {
        ..0 => count + length,
        0 => count,
        _ => start + length,
    };
    let (start, end) = (start.max(0), end.min(count));
    if start >= end || end <= 0 {
        return Ok(empty(oids::INT4));
    }
    array(&list[start as usize..end as usize])
}

fn push(a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut list = elements(a[0])?;
    list.push(a[1].as_i32());
    array(&list)
}

fn append(a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut list = elements(a[0])?;
    list.extend(elements(a[1])?);
    array(&list)
}

fn delete(a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut list = elements(a[0])?;
    let unwanted = a[1].as_i32();
    list.retain(|v| *v != unwanted);
    reshaped(a[0], &list)
}

fn union_element(a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut list = elements(a[0])?;
    list.push(a[1].as_i32());
    list.sort_unstable();
    list.dedup();
    array(&list)
}

scalars! { FNS;
    "_int_contains" => |_, a| contains(a[0], a[1]),
    "_int_contained" => |_, a| contains(a[1], a[0]),
    "_int_overlap" => |_, a| overlap(a),
    "_int_same" => |_, a| Ok(Datum::bool(same(a)?)),
    "_int_different" => |_, a| Ok(Datum::bool(!same(a)?)),
    "_int_union" => |_, a| union(a),
    "_int_inter" => |_, a| intersection(a),
    "intset" => |_, a| array(&[a[0].as_i32()]),
    "icount" => |_, a| Ok(Datum::int4(ArrayRef::new(a[0])?.count() as i32)),
    "sort" => |_, a| sort(a[0], a.get(1).map_or(b"asc", |d| d.as_bytes())),
    "sort_asc" => |_, a| sort(a[0], b"asc"),
    "sort_desc" => |_, a| sort(a[0], b"desc"),
    "uniq" => |_, a| unique(a[0]),
    "idx" => |_, a| index_of(a),
    "subarray" => |_, a| subarray(a),
    "intarray_push_elem" => |_, a| push(a),
    "intarray_push_array" => |_, a| append(a),
    "intarray_del_elem" => |_, a| delete(a),
    "intset_union_elem" => |_, a| union_element(a),
    "intset_subtract" => |_, a| subtract(a),
}
