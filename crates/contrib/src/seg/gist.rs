//! The operator class `gist_seg_ops`: keys are segments. Counterpart: contrib/seg/seg.c.

use super::{Bound, Segment, compare};
use ids::Oid;
use pgerror::{PgError, Result};
use values::datum::{Datum, DatumRef};
use values::gist::{Column, Condition, Function, Groups, Ternary, keep, keep_key, strategy};

pub(super) const SUPPORT: &[(&str, Function)] = &[
    ("gseg_consistent", Function::Consistent(consistent)),
    ("gseg_compress", Function::Compress(keep)),
    ("gseg_decompress", Function::Decompress(keep_key)),
    ("gseg_penalty", Function::Penalty(penalty)),
    ("gseg_picksplit", Function::PickSplit(pick_split)),
    ("gseg_union", Function::Union(union)),
    ("gseg_same", Function::Same(same)),
];

fn over_left(a: Segment, b: Segment) -> bool {
    a.upper.value <= b.upper.value
}

fn left(a: Segment, b: Segment) -> bool {
    a.upper.value < b.lower.value
}

fn over_right(a: Segment, b: Segment) -> bool {
    a.lower.value >= b.lower.value
}

fn consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    let (own, query) = (Segment::of(key), Segment::of(c.value));
    let found = match (c.strategy.0, leaf) {
        (strategy::LEFT, true) => left(own, query),
        (strategy::LEFT, false) => !over_right(own, query),
        (strategy::OVER_LEFT, true) => over_left(own, query),
        (strategy::OVER_LEFT, false) => !left(query, own),
        (strategy::OVERLAP, _) => own.overlaps(query),
        (strategy::OVER_RIGHT, true) => over_right(own, query),
        (strategy::OVER_RIGHT, false) => !left(own, query),
        (strategy::RIGHT, true) => left(query, own),
        (strategy::RIGHT, false) => !over_left(own, query),
        (strategy::SAME, true) => compare(key, c.value, Oid::INVALID).is_eq(),
        (strategy::SAME, false) => own.contains(query),
        (strategy::CONTAINS | strategy::OLD_CONTAINS, _) => own.contains(query),
        (strategy::CONTAINED_BY | strategy::OLD_CONTAINED_BY, true) => query.contains(own),
        (strategy::CONTAINED_BY | strategy::OLD_CONTAINED_BY, false) => own.overlaps(query),
        _ => false,
    };
    Ok(found.into())
}

/// The segment from the lower of the lower bounds to the upper of the upper ones.
fn hull(a: Segment, b: Segment) -> Segment {
    let pick = |first: bool, a: Bound, b: Bound| if first { a } else { b };
    Segment {
        lower: pick(a.lower.value < b.lower.value, a.lower, b.lower),
        upper: pick(a.upper.value > b.upper.value, a.upper, b.upper),
    }
}

fn union_of(mut keys: impl Iterator<Item = Segment>) -> Result<Datum> {
    let first = keys.next().ok_or_else(|| PgError::internal("a union of no keys"))?;
    Ok(keys.fold(first, hull).datum())
}

fn union(_: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    union_of(keys.iter().map(|key| Segment::of(*key)))
}

fn length(s: Segment) -> f32 {
    (s.upper.value - s.lower.value).abs()
}

fn penalty(_: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let (old, new) = (Segment::of(old), Segment::of(new));
    Ok(length(hull(old, new)) - length(old))
}

/// By the centers: the lower half on the left.
fn pick_split(_: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let own: Vec<Segment> = keys.iter().map(|key| Segment::of(*key)).collect();
    let center = |n: &usize| own[*n].lower.value * 0.5 + own[*n].upper.value * 0.5;
    let mut left: Vec<usize> = (0..own.len()).collect();
    left.sort_by(|a, b| center(a).total_cmp(&center(b)));
    let right = left.split_off(own.len() / 2);
    let of = |group: &[usize]| union_of(group.iter().map(|n| own[*n]));
    let (left_union, right_union) = (of(&left)?, of(&right)?);
    Ok(Groups { left, right, left_union, right_union })
}

fn same(_: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    Ok(compare(a, b, Oid::INVALID).is_eq())
}
