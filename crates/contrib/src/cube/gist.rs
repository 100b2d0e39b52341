//! The operator class `gist_cube_ops`: keys are boxes. Counterpart: contrib/cube/cube.c.

use super::functions::{self, compare, contains, gaps, hull, overlap, size};
use super::value::Cube;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::gist::{Column, Condition, Function, Groups, Ternary, strategy};

/// The strategies of orders.
const COORDINATE: u16 = 15;
const TAXICAB: u16 = 16;
const EUCLID: u16 = 17;
const CHEBYSHEV: u16 = 18;

pub(super) const SUPPORT: &[(&str, Function)] = &[
    ("g_cube_consistent", Function::Consistent(consistent)),
    ("g_cube_distance", Function::Distance(distance)),
    ("g_cube_penalty", Function::Penalty(penalty)),
    ("g_cube_picksplit", Function::PickSplit(pick_split)),
    ("g_cube_same", Function::Same(same)),
    ("g_cube_union", Function::Union(union)),
];

fn consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    let found = match (c.strategy.0, leaf) {
        (strategy::OVERLAP, _) => overlap(key, c.value),
        (strategy::SAME, true) => compare(key, c.value, Oid::INVALID).is_eq(),
        (strategy::SAME, false) => contains(key, c.value),
        (strategy::CONTAINS | strategy::OLD_CONTAINS, _) => contains(key, c.value),
        (strategy::CONTAINED_BY | strategy::OLD_CONTAINED_BY, true) => contains(c.value, key),
        (strategy::CONTAINED_BY | strategy::OLD_CONTAINED_BY, false) => overlap(key, c.value),
        _ => false,
    };
    Ok(found.into())
}

fn distance(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<(f64, bool)> {
    let gaps = || gaps(key, c.value).into_iter();
    let found = match c.strategy.0 {
        COORDINATE => coordinate(&Cube::read(key), c.value.as_i32(), leaf)?,
        TAXICAB => gaps().map(f64::abs).sum(),
        EUCLID => gaps().map(|gap| gap * gap).sum::<f64>().sqrt(),
        CHEBYSHEV => gaps().map(f64::abs).fold(0.0, f64::max),
        _ => return Err(c.unknown()),
    };
    Ok((found, false))
}

/// Bound number `n` of a box, as the operator `~>` counts them; negative numbers are for
/// descending order. Below a key, each bound can have any value within it.
fn coordinate(cube: &Cube, n: i32, leaf: bool) -> Result<f64> {
    if n == 0 {
        return Err(pg_err!(ARRAY_ELEMENT_ERROR, "zero cube index is not defined"));
    }
    let at = (n.unsigned_abs() as usize - 1) / 2;
    if at >= cube.dimensions() {
        return Ok(if n < 0 { -0.0 } else { 0.0 });
    }
    let upper = n % 2 == 0;
    let high = match (cube.is_point, leaf) {
        (true, _) => false,
        (false, true) => upper,
        (false, false) => n < 0,
    };
    let value = if high { cube.high(at) } else { cube.low(at) };
    Ok(if n < 0 { -value } else { value })
}

fn union(_: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    let (first, rest) =
        keys.split_first().ok_or_else(|| PgError::internal("a union of no keys"))?;
    Ok(rest.iter().fold(DatumRef::to_owned(*first), |all, key| hull(all.as_ref(), *key)))
}

fn penalty(_: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    Ok((size(hull(old, new).as_ref()) - size(old)) as f32)
}

/// The two boxes whose union wastes most space begin the groups; each other one joins the group
/// that it makes less larger (A. Guttman, quadratic split).
fn pick_split(_: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let (mut seeds, mut most) = ((0, 1), None);
    for a in 0..keys.len() {
        for b in a + 1..keys.len() {
            let shared = functions::intersection(keys[a], keys[b]);
            let waste = size(hull(keys[a], keys[b]).as_ref()) - size(shared.as_ref());
            if most.is_none_or(|most| waste > most) {
                (seeds, most) = ((a, b), Some(waste));
            }
        }
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let (mut left_union, mut right_union) =
        (DatumRef::to_owned(keys[seeds.0]), DatumRef::to_owned(keys[seeds.1]));
    for (n, key) in keys.iter().enumerate() {
        if n == seeds.0 {
            left.push(n);
            continue;
        }
        if n == seeds.1 {
            right.push(n);
            continue;
        }
        let with_left = hull(left_union.as_ref(), *key);
        let with_right = hull(right_union.as_ref(), *key);
        let grows = |new: &Datum, old: &Datum| size(new.as_ref()) - size(old.as_ref());
        if grows(&with_left, &left_union) < grows(&with_right, &right_union) {
            left.push(n);
            left_union = with_left;
        } else {
            right.push(n);
            right_union = with_right;
        }
    }
    Ok(Groups { left, right, left_union, right_union })
}

fn same(_: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    Ok(compare(a, b, Oid::INVALID).is_eq())
}
