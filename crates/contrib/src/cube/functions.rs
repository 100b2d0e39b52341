//! Construction, comparison, distances. A box that lacks a dimension of another one has the
//! coordinate 0 there.

use super::value::{Cube, DIMENSIONS_MAX, max, min};
use ids::Oid;
use pgerror::{Result, pg_err};
use std::cmp::Ordering;
use values::array::ArrayRef;
use values::array::payload::builtin_info;
use values::datum::{Datum, DatumRef};
use values::oids;

/// By the lesser coordinates, then by the greater ones; further dimensions are compared with 0, and
/// of boxes that are equal so far the one with more dimensions is greater.
pub(super) fn compare(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    let (a, b) = (Cube::read(a), Cube::read(b));
    let shared = a.dimensions().min(b.dimensions());
    let all = a.dimensions().max(b.dimensions());
    let order = |range: std::ops::Range<usize>| {
        let by = |x: f64, y: f64| x.partial_cmp(&y).unwrap_or(Ordering::Equal);
        let low = range.clone().map(|i| by(a.low(i), b.low(i))).find(|o| o.is_ne());
        let high = || range.clone().map(|i| by(a.high(i), b.high(i))).find(|o| o.is_ne());
        low.or_else(high).unwrap_or(Ordering::Equal)
    };
    order(0..shared)
        .then_with(|| order(shared..all))
        .then_with(|| a.dimensions().cmp(&b.dimensions()))
}

pub(super) fn contains(whole: DatumRef<'_>, part: DatumRef<'_>) -> bool {
    let (whole, part) = (Cube::read(whole), Cube::read(part));
    let shared = whole.dimensions().min(part.dimensions());
    let zero = |i: usize| part.first[i] == 0.0 && part.second[i] == 0.0;
    let further = (whole.dimensions()..part.dimensions()).all(zero);
    let fits = |i: usize| !(whole.low(i) > part.low(i) || whole.high(i) < part.high(i));
    further && (0..shared).all(fits)
}

pub(super) fn overlap(a: DatumRef<'_>, b: DatumRef<'_>) -> bool {
    let (a, b) = (Cube::read(a), Cube::read(b));
    let all = a.dimensions().max(b.dimensions());
    (0..all).all(|i| !(a.low(i) > b.high(i) || a.high(i) < b.low(i)))
}

/// The union, or the intersection, of each dimension.
fn combine(a: &[DatumRef<'_>], low: fn(f64, f64) -> f64, high: fn(f64, f64) -> f64) -> Datum {
    let (a, b) = (Cube::read(a[0]), Cube::read(a[1]));
    let all = a.dimensions().max(b.dimensions());
    let first = (0..all).map(|i| low(a.low(i), b.low(i))).collect();
    let second = (0..all).map(|i| high(a.high(i), b.high(i))).collect();
    Cube::new(first, second).datum()
}

/// The smallest box with both.
pub(super) fn hull(a: DatumRef<'_>, b: DatumRef<'_>) -> Datum {
    combine(&[a, b], min, max)
}

/// The intersection of two boxes.
pub(super) fn intersection(a: DatumRef<'_>, b: DatumRef<'_>) -> Datum {
    combine(&[a, b], max, min)
}

pub(super) fn size(d: DatumRef<'_>) -> f64 {
    let cube = Cube::read(d);
    if cube.is_point || cube.dimensions() == 0 {
        return 0.0;
    }
    cube.first.iter().zip(&cube.second).map(|(a, b)| (b - a).abs()).product()
}

/// The distance of two intervals.
fn gap(a: (f64, f64), b: (f64, f64)) -> f64 {
    let before = |x: f64| x <= b.0 && x <= b.1;
    let after = |x: f64| x > b.0 && x > b.1;
    if before(a.0) && before(a.1) {
        return min(b.0, b.1) - max(a.0, a.1);
    }
    if after(a.0) && after(a.1) {
        return min(a.0, a.1) - max(b.0, b.1);
    }
    0.0
}

/// The distances of each dimension.
pub(super) fn gaps(a: DatumRef<'_>, b: DatumRef<'_>) -> Vec<f64> {
    let (mut a, mut b) = (Cube::read(a), Cube::read(b));
    if a.dimensions() < b.dimensions() {
        std::mem::swap(&mut a, &mut b);
    }
    let at = |cube: &Cube, i: usize| match cube.first.get(i) {
        Some(first) => (*first, cube.second[i]),
        None => (0.0, 0.0),
    };
    (0..a.dimensions()).map(|i| gap(at(&a, i), at(&b, i))).collect()
}

/// The numbers of an array without NULLs.
fn elements(array: DatumRef<'_>) -> Result<Vec<f64>> {
    let array = ArrayRef::new(array)?;
    if array.contains_null() {
        return Err(pg_err!(ARRAY_ELEMENT_ERROR, "cannot work with arrays containing NULLs"));
    }
    Ok(array.iter(&builtin_info(oids::FLOAT8)).map(DatumRef::as_f64).collect())
}

fn check_dimensions(count: usize, message: &str) -> Result<()> {
    if count > DIMENSIONS_MAX {
        return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "{message}")
            .detail(format!("A cube cannot have more than {DIMENSIONS_MAX} dimensions.")));
    }
    Ok(())
}

fn of_arrays(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (first, second) = (elements(a[0])?, elements(a[1])?);
    check_dimensions(first.len(), "can't extend cube")?;
    if first.len() != second.len() {
        return Err(pg_err!(ARRAY_ELEMENT_ERROR, "UR and LL arrays must be of same length"));
    }
    Ok(Cube::new(first, second).datum())
}

fn of_array(a: &[DatumRef<'_>]) -> Result<Datum> {
    let corner = elements(a[0])?;
    check_dimensions(corner.len(), "array is too long")?;
    Ok(Cube::point(corner).datum())
}

fn subset(a: &[DatumRef<'_>]) -> Result<Datum> {
    let cube = Cube::read(a[0]);
    let wanted = ArrayRef::new(a[1])?;
    if wanted.contains_null() {
        return Err(pg_err!(ARRAY_ELEMENT_ERROR, "cannot work with arrays containing NULLs"));
    }
    let wanted: Vec<i32> = wanted.iter(&builtin_info(oids::INT4)).map(DatumRef::as_i32).collect();
    check_dimensions(wanted.len(), "array is too long")?;
    let out_of_bounds = || pg_err!(ARRAY_ELEMENT_ERROR, "Index out of bounds");
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for index in wanted {
        let i = usize::try_from(index).ok().and_then(|i| i.checked_sub(1));
        let i = i.filter(|i| *i < cube.dimensions()).ok_or_else(out_of_bounds)?;
        first.push(cube.first[i]);
        second.push(cube.second[i]);
    }
    Ok(Cube { first, second, is_point: cube.is_point }.datum())
}

/// The number of the coordinate counts the first corner, then the second.
fn coordinate(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (cube, number) = (Cube::read(a[0]), a[1].as_i32());
    let at = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
    let all = || cube.first.iter().chain(&cube.second);
    match at.and_then(|at| all().nth(at)) {
        Some(value) => Ok(Datum::float8(*value)),
        None => Err(pg_err!(ARRAY_ELEMENT_ERROR, "cube index {number} is out of bounds")),
    }
}

/// The number of the coordinate counts the lower and the upper one of each dimension; negative: the
/// coordinate with the opposite sign.
fn ordered_coordinate(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (cube, number) = (Cube::read(a[0]), a[1].as_i32());
    if number == 0 {
        return Err(pg_err!(ARRAY_ELEMENT_ERROR, "zero cube index is not defined"));
    }
    let at = number.unsigned_abs() as usize - 1;
    let value = if at.is_multiple_of(2) { cube.low(at / 2) } else { cube.high(at / 2) };
    Ok(Datum::float8(if number < 0 { -value } else { value }))
}

/// A lower or upper coordinate by the number of its dimension; 0 if there is no such dimension.
fn corner(a: &[DatumRef<'_>], part: fn(&Cube, usize) -> f64) -> Datum {
    let at = usize::try_from(a[1].as_i32()).ok().and_then(|n| n.checked_sub(1));
    Datum::float8(at.map_or(0.0, |at| part(&Cube::read(a[0]), at)))
}

/// Moves all sides outwards by a radius, in at least `n` dimensions.
fn enlarge(a: &[DatumRef<'_>]) -> Datum {
    let (cube, radius, n) = (Cube::read(a[0]), a[1].as_f64(), a[2].as_i32());
    let n = usize::try_from(n).unwrap_or(0).min(DIMENSIONS_MAX);
    let all = if radius > 0.0 { n.max(cube.dimensions()) } else { cube.dimensions() };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (x, y) in cube.first.iter().zip(&cube.second) {
        let (mut low, mut high) = match x >= y {
            true => (y - radius, x + radius),
            false => (x - radius, y + radius),
        };
        if low > high {
            low = (low + high) / 2.0;
            high = low;
        }
        first.push(low);
        second.push(high);
    }
    first.resize(all, -radius);
    second.resize(all, radius);
    Cube::new(first, second).datum()
}

/// The box with a further dimension.
fn extended(d: DatumRef<'_>, x: f64, y: f64) -> Result<Datum> {
    let mut cube = Cube::read(d);
    check_dimensions(cube.dimensions() + 1, "can't extend cube")?;
    cube.first.push(x);
    cube.second.push(y);
    cube.is_point = cube.is_point && x == y;
    Ok(cube.datum())
}

fn extended_by_one(d: DatumRef<'_>, x: f64) -> Result<Datum> {
    let mut cube = Cube::read(d);
    check_dimensions(cube.dimensions() + 1, "can't extend cube")?;
    cube.first.push(x);
    cube.second.push(x);
    Ok(cube.datum())
}

fn order(a: &[DatumRef<'_>]) -> Ordering {
    compare(a[0], a[1], Oid::INVALID)
}

fn float(v: f64) -> Result<Datum> {
    Ok(Datum::float8(v))
}

scalars! { COMPARISONS;
    "cube_eq" => |_, a| Ok(Datum::bool(order(a).is_eq())),
    "cube_ne" => |_, a| Ok(Datum::bool(order(a).is_ne())),
    "cube_lt" => |_, a| Ok(Datum::bool(order(a).is_lt())),
    "cube_le" => |_, a| Ok(Datum::bool(order(a).is_le())),
    "cube_gt" => |_, a| Ok(Datum::bool(order(a).is_gt())),
    "cube_ge" => |_, a| Ok(Datum::bool(order(a).is_ge())),
    "cube_cmp" => |_, a| Ok(Datum::int4(order(a) as i32)),
}

scalars! { FNS;
    "cube_contains" => |_, a| Ok(Datum::bool(contains(a[0], a[1]))),
    "cube_contained" => |_, a| Ok(Datum::bool(contains(a[1], a[0]))),
    "cube_overlap" => |_, a| Ok(Datum::bool(overlap(a[0], a[1]))),
    "cube_union" => |_, a| Ok(combine(a, min, max)),
    "cube_inter" => |_, a| Ok(combine(a, max, min)),
    "cube_size" => |_, a| float(size(a[0])),
    "cube_distance" => |_, a| float(gaps(a[0], a[1]).iter().fold(0.0, |sum, d| sum + d * d).sqrt()),
    "distance_taxicab" => |_, a| float(gaps(a[0], a[1]).iter().fold(0.0, |sum, d| sum + d.abs())),
    "distance_chebyshev" => |_, a| float(gaps(a[0], a[1]).iter().fold(0.0, |m, d| max(d.abs(), m))),
    "cube_dim" => |_, a| Ok(Datum::int4(Cube::read(a[0]).dimensions() as i32)),
    "cube_ll_coord" => |_, a| Ok(corner(a, Cube::low)),
    "cube_ur_coord" => |_, a| Ok(corner(a, Cube::high)),
    "cube_coord" => |_, a| coordinate(a),
    "cube_coord_llur" => |_, a| ordered_coordinate(a),
    "cube_is_point" => |_, a| Ok(Datum::bool(Cube::read(a[0]).has_equal_corners())),
    "cube_enlarge" => |_, a| Ok(enlarge(a)),
    "cube_subset" => |_, a| subset(a),
    "cube_a_f8_f8" => |_, a| of_arrays(a),
    "cube_a_f8" => |_, a| of_array(a),
    "cube_f8" => |_, a| Ok(Cube::point(vec![a[0].as_f64()]).datum()),
    "cube_f8_f8" => |_, a| Ok(Cube::new(vec![a[0].as_f64()], vec![a[1].as_f64()]).datum()),
    "cube_c_f8" => |_, a| extended_by_one(a[0], a[1].as_f64()),
    "cube_c_f8_f8" => |_, a| extended(a[0], a[1].as_f64(), a[2].as_f64()),
}
