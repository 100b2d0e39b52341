//! The operator classes `range_ops` and `multirange_ops` of GiST indexes. Keys are ranges; that of
//! a multirange is the range from its first to its last bound. A key that covers empty ranges
//! besides others is marked with [`CONTAINS_EMPTY`].
//!
//! Counterpart: rangetypes_gist.c.

use crate::ops;
use crate::pieces::Pieces;
use crate::stored::{
    Bounds, EMPTY, bounds, compare_bounds, empty, flags_of, is_empty, serialize, type_of,
};
use ids::builtin::ty;
use pgerror::Result;
use std::cmp::Ordering;
use values::datum::{Datum, DatumRef};
use values::gist::{Column, Condition, Function, Groups, Ternary, fetch_key, strategy};
use values::range::RangeType;

/// Flag of a key that covers empty ranges besides others; not set in values of tables.
const CONTAINS_EMPTY: u8 = 0x80;

/// The strategy of `-|-`.
const ADJACENT: u16 = strategy::SAME;

/// Least part of the keys in one group, if keys of one kind are divided.
const PART_MIN: f64 = 0.3;

/// Whether the key is empty, or covers empty ranges.
fn covers_empty(key: &[u8]) -> Result<bool> {
    Ok(flags_of(key)? & (EMPTY | CONTAINS_EMPTY) != 0)
}

/// The range between bounds as a key.
fn key_of(ty: &RangeType, b: &Bounds<'_>, contains_empty: bool) -> Result<Vec<u8>> {
    let mut out = serialize(ty, &b.0, &b.1)?;
    if let (true, Some(flags)) = (contains_empty, out.last_mut()) {
        *flags |= CONTAINS_EMPTY;
    }
    Ok(out)
}

fn consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    matches(c, key.as_bytes(), leaf).map(Ternary::from)
}

/// The stored range of a multirange may have gaps.
fn multirange_consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    // A value can be within the query although the range that covers it is not.
    let exact = leaf && c.strategy.0 != strategy::CONTAINED_BY;
    let found = matches(c, key.as_bytes(), exact)?;
    Ok(if found { Ternary::Maybe } else { Ternary::False })
}

fn matches(c: &Condition<'_>, key: &[u8], leaf: bool) -> Result<bool> {
    let ty = c.column.range()?;
    let own = bounds(ty, key)?;
    if c.strategy.0 == strategy::CONTAINS_ELEMENT {
        return Ok(own.is_some_and(|own| ops::contains_value(ty, &own, c.value)));
    }
    let query = Pieces::new(ty, c.value.as_bytes())?;
    let span = query.span();
    let both = own.zip(span);
    match c.strategy.0 {
        strategy::OVERLAP => {
            let key = Pieces::new(ty, key)?;
            return Ok(key.overlaps(&query));
        }
        ADJACENT => {
            let Some((own, span)) = both else { return Ok(false) };
            let mut cx = (c.column.context)();
            let adjacent = ops::adjacent(&mut *cx, ty, &own, &span)?;
            return Ok(adjacent || !leaf && Pieces::new(ty, key)?.overlaps(&query));
        }
        strategy::CONTAINS => {
            let key = Pieces::new(ty, key)?;
            return Ok(query.is_empty() || key.contains(&query));
        }
        strategy::CONTAINED_BY if leaf => {
            return Ok(own.is_none() || query.contains(&Pieces::new(ty, key)?));
        }
        strategy::CONTAINED_BY => {
            return Ok(covers_empty(key)? || Pieces::new(ty, key)?.overlaps(&query));
        }
        strategy::EQUAL if query.is_empty() => {
            return if leaf { is_empty(key) } else { covers_empty(key) };
        }
        strategy::EQUAL => {
            let Some((own, span)) = both else { return Ok(false) };
            return Ok(match leaf {
                true => is_same(ty, &own, &span),
                false => ops::contains(ty, &own, &span),
            });
        }
        _ => {}
    }
    let Some((own, span)) = both else {
        return match c.strategy.0 {
            strategy::LEFT..=strategy::RIGHT => Ok(false),
            _ => Err(c.unknown()),
        };
    };
    // A key above the leaves can have one of these below it unless the opposite holds for it.
    Ok(match (c.strategy.0, leaf) {
        (strategy::LEFT, true) => ops::before(ty, &own, &span),
        (strategy::LEFT, false) => !ops::overright(ty, &own, &span),
        (strategy::OVER_LEFT, true) => ops::overleft(ty, &own, &span),
        (strategy::OVER_LEFT, false) => !ops::before(ty, &span, &own),
        (strategy::OVER_RIGHT, true) => ops::overright(ty, &own, &span),
        (strategy::OVER_RIGHT, false) => !ops::before(ty, &own, &span),
        (strategy::RIGHT, true) => ops::before(ty, &span, &own),
        (strategy::RIGHT, false) => !ops::overleft(ty, &own, &span),
        _ => return Err(c.unknown()),
    })
}

fn is_same(ty: &RangeType, a: &Bounds<'_>, b: &Bounds<'_>) -> bool {
    compare_bounds(ty, &a.0, &b.0).is_eq() && compare_bounds(ty, &a.1, &b.1).is_eq()
}

/// The range from the first to the last bound of a multirange.
fn multirange_compress(column: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    if !leaf {
        return Ok(None);
    }
    let ty = column.range()?;
    let key = match Pieces::new(ty, value.as_bytes())?.span() {
        Some(span) => key_of(ty, &span, false)?,
        None => empty(ty),
    };
    Ok(Some(Datum::bytes(key)))
}

fn union(column: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = column.range()?;
    let mut hull: Option<Bounds<'_>> = None;
    let mut with_empty = false;
    for key in keys {
        let key = key.as_bytes();
        with_empty |= covers_empty(key)?;
        if let Some(own) = bounds(ty, key)? {
            hull = Some(match hull {
                Some(hull) => ops::hull(ty, &hull, &own),
                None => own,
            });
        }
    }
    Ok(Datum::bytes(match hull {
        Some(hull) => key_of(ty, &hull, with_empty)?,
        None => empty(ty),
    }))
}

fn same(column: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if covers_empty(a)? != covers_empty(b)? || type_of(a)? != type_of(b)? {
        return Ok(false);
    }
    let ty = column.range()?;
    Ok(match (bounds(ty, a)?, bounds(ty, b)?) {
        (Some(a), Some(b)) => is_same(ty, &a, &b),
        (None, None) => true,
        _ => false,
    })
}

/// An approximation of a stored numeric.
fn numeric(payload: &[u8]) -> f64 {
    let (words, _) = payload.as_chunks::<2>();
    let Some((head, mut digits)) = words.split_first() else { return 0.0 };
    let head = u16::from_le_bytes(*head);
    let (negative, weight) = match head & 0xC000 {
        // Not a number, infinity.
        0xC000 => return if head & 0x2000 != 0 { f64::NEG_INFINITY } else { f64::INFINITY },
        0x8000 => {
            let low = i32::from(head & 0x3F);
            (head & 0x2000 != 0, if head & 0x40 != 0 { low - 64 } else { low })
        }
        sign => {
            let Some((weight, rest)) = digits.split_first() else { return 0.0 };
            digits = rest;
            (sign == 0x4000, i32::from(i16::from_le_bytes(*weight)))
        }
    };
    let places = (0..4).map(|n| 10000f64.powi(weight - n));
    let parts = digits.iter().zip(places);
    let sum: f64 = parts.map(|(d, place)| f64::from(u16::from_le_bytes(*d)) * place).sum();
    if negative { -sum } else { sum }
}

/// How much greater the first value is; `None` if the subtype has no differences.
fn difference(ty: &RangeType, a: DatumRef<'_>, b: DatumRef<'_>) -> Option<f64> {
    if !ty.subdiff.is_valid() {
        return None;
    }
    let difference = match ty.elem.oid {
        ty::INT4 | ty::DATE => f64::from(a.as_i32()) - f64::from(b.as_i32()),
        ty::INT8 => a.as_i64() as f64 - b.as_i64() as f64,
        ty::TIMESTAMP | ty::TIMESTAMPTZ => (a.as_i64() as f64 - b.as_i64() as f64) / 1e6,
        ty::FLOAT8 => a.as_f64() - b.as_f64(),
        ty::NUMERIC => numeric(a.as_bytes()) - numeric(b.as_bytes()),
        _ => return None,
    };
    // Infinities may have no difference.
    Some(if difference.is_nan() { 0.0 } else { difference.max(0.0) })
}

/// Kinds of keys that are not mixed, if that can be avoided.
fn kind(ty: &RangeType, key: &[u8]) -> Result<u8> {
    let flags = if covers_empty(key)? { 4 } else { 0 };
    Ok(match bounds(ty, key)? {
        None => 8,
        Some((lower, upper)) => flags | u8::from(lower.infinite) | u8::from(upper.infinite) << 1,
    })
}

/// How far the bounds of `new` are outside those of `old`; an infinite extension counts less the
/// fewer bounds of the key become infinite.
fn penalty(column: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let ty = column.range()?;
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let (was, is) = (kind(ty, old)?, kind(ty, new)?);
    let infinite = f64::from(f32::MAX);
    let (Some(own), Some(add)) = (bounds(ty, old)?, bounds(ty, new)?) else {
        // An empty range goes to those that are or contain empty ones, and among them to those that
        // are large already.
        let cost = match (was, is) {
            (8, 8) => 0.0,
            (8, _) => infinite,
            (7, _) => 1.0,
            (4..=6, _) => 2.0,
            (3, _) => 3.0,
            _ => 4.0 + f64::from(3 - (was & 1) - (was >> 1 & 1)),
        };
        return Ok(cost as f32);
    };
    // A bound that becomes infinite costs more than any finite extension.
    let grows = |added: bool, had: bool| if added && !had { infinite / 4.0 } else { 0.0 };
    let mut cost = grows(add.0.infinite, own.0.infinite) + grows(add.1.infinite, own.1.infinite);
    // A finite range is not put below an infinite key, unless there is no other.
    if is & 3 == 0 && was & 3 != 0 {
        cost += infinite / 16.0 * f64::from((was & 3).count_ones());
    }
    if !add.0.infinite && !own.0.infinite && compare_bounds(ty, &add.0, &own.0).is_lt() {
        cost += difference(ty, own.0.value, add.0.value).unwrap_or(1.0);
    }
    if !add.1.infinite && !own.1.infinite && compare_bounds(ty, &add.1, &own.1).is_gt() {
        cost += difference(ty, add.1.value, own.1.value).unwrap_or(1.0);
    }
    Ok(cost.min(infinite) as f32)
}

/// The groups with their unions.
fn groups(
    column: &Column,
    keys: &[DatumRef<'_>],
    left: Vec<usize>,
    right: Vec<usize>,
) -> Result<Groups> {
    let of = |group: &[usize]| group.iter().map(|n| keys[*n]).collect::<Vec<_>>();
    let (left_union, right_union) = (union(column, &of(&left))?, union(column, &of(&right))?);
    Ok(Groups { left, right, left_union, right_union })
}

fn pick_split(column: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let ty = column.range()?;
    let mut kinds = Vec::with_capacity(keys.len());
    for key in keys {
        kinds.push(kind(ty, key.as_bytes())?);
    }
    // Empty ranges apart from others, then infinite ones from finite ones, then by the kind.
    let tests: [&dyn Fn(u8) -> bool; 3] =
        [&|k| k & 12 != 0, &|k| k & 3 != 0, &|k| Some(&k) == kinds.first()];
    for test in tests {
        let (left, right): (Vec<_>, Vec<_>) = (0..keys.len()).partition(|n| !test(kinds[*n]));
        if !left.is_empty() && !right.is_empty() {
            return groups(column, keys, left, right);
        }
    }
    let mut own = Vec::with_capacity(keys.len());
    for key in keys {
        match bounds(ty, key.as_bytes())? {
            Some(bounds) => own.push(bounds),
            None => break,
        }
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    match kinds[0] & 11 {
        // All are empty, or infinite on both sides: they are the same.
        8 | 3 => {}
        1 => order.sort_by(|a, b| compare_bounds(ty, &own[*a].1, &own[*b].1)),
        2 => order.sort_by(|a, b| compare_bounds(ty, &own[*a].0, &own[*b].0)),
        _ => return divide(column, keys, &own),
    }
    let right = order.split_off(keys.len() / 2);
    groups(column, keys, order, right)
}

/// Divides finite ranges so that the groups overlap least: considers each lower bound as that of
/// the right group, and each upper bound as that of the left one. Counterpart:
/// `range_gist_double_sorting_split`.
fn divide(column: &Column, keys: &[DatumRef<'_>], own: &[Bounds<'_>]) -> Result<Groups> {
    let ty = column.range()?;
    let count = own.len();
    let mut by_lower: Vec<usize> = (0..count).collect();
    by_lower.sort_by(|a, b| compare_bounds(ty, &own[*a].0, &own[*b].0));
    let mut by_upper: Vec<usize> = (0..count).collect();
    by_upper.sort_by(|a, b| compare_bounds(ty, &own[*a].1, &own[*b].1));
    // The first `n` by lower bounds end at the greatest of their upper bounds; those after `n` by
    // upper bounds begin at the least of their lower bounds.
    let mut best: Option<(f64, usize, Vec<usize>)> = None;
    let least = ((count as f64 * PART_MIN).ceil() as usize).clamp(1, count / 2);
    for sorted in [&by_lower, &by_upper] {
        let mut greatest: Vec<usize> = Vec::with_capacity(count);
        for n in sorted.iter() {
            let last = greatest.last().copied().unwrap_or(*n);
            let more = compare_bounds(ty, &own[*n].1, &own[last].1).is_gt();
            greatest.push(if more { *n } else { last });
        }
        let mut lowest = vec![sorted[count - 1]; count];
        for at in (0..count - 1).rev() {
            let (n, next) = (sorted[at], lowest[at + 1]);
            let less = compare_bounds(ty, &own[n].0, &own[next].0).is_lt();
            lowest[at] = if less { n } else { next };
        }
        for at in least..=count - least {
            let (upper, lower) = (&own[greatest[at - 1]].1, &own[lowest[at]].0);
            let overlap = match compare_bounds(ty, upper, lower) {
                Ordering::Less => 0.0,
                _ => difference(ty, upper.value, lower.value).unwrap_or(1.0),
            };
            let balance = at.abs_diff(count / 2);
            let better = best.as_ref().is_none_or(|(known, distance, _)| {
                overlap < *known || overlap == *known && balance < *distance
            });
            if better {
                best = Some((overlap, balance, sorted[..at].to_vec()));
            }
        }
    }
    let left = best.map_or_else(|| by_lower[..count / 2].to_vec(), |(_, _, left)| left);
    let mut is_left = vec![false; count];
    left.iter().for_each(|n| is_left[*n] = true);
    let right = (0..count).filter(|n| !is_left[*n]).collect();
    groups(column, keys, left, right)
}

pub const FNS: &[(&str, Function)] = &[
    ("range_gist_consistent", Function::Consistent(consistent)),
    ("range_gist_union", Function::Union(union)),
    ("range_gist_penalty", Function::Penalty(penalty)),
    ("range_gist_picksplit", Function::PickSplit(pick_split)),
    ("range_gist_same", Function::Same(same)),
    ("range_gist_fetch", Function::Fetch(fetch_key)),
    ("multirange_gist_consistent", Function::Consistent(multirange_consistent)),
    ("multirange_gist_compress", Function::Compress(multirange_compress)),
];
