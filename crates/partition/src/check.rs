//! Whether a new bound fits beside the bounds of the existing partitions. The caller formats the
//! errors. Counterpart: partbounds.c (`check_new_partition_bound`).

use crate::bound::{Bound, RangeDatum};
use crate::desc::{Bounds, PartitionDesc};
use crate::key::PartitionKey;

/// Why a new bound is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// There is a default partition already: this one.
    Default(usize),
    /// The lower bound is not below the upper one; the column that decides.
    Empty { column: usize },
    /// The bound overlaps that of this partition.
    Overlap { with: usize, place: Place },
    /// The new modulus is not a factor of that of the partition.
    NotAFactor { modulus: i32, of: usize },
    /// The new modulus is not a multiple of that of the partition.
    NotAMultiple { modulus: i32, of: usize },
}

/// The part of the new bound that overlaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Whole,
    Value(usize),
    Lower(usize),
    Upper(usize),
}

/// The conflict of a new bound with itself or with the partitions.
pub fn conflict(desc: &PartitionDesc, new: &Bound) -> Option<Conflict> {
    match new {
        Bound::Default => desc.default.map(Conflict::Default),
        Bound::Hash { modulus, remainder } => hash_conflict(desc, *modulus, *remainder),
        Bound::List(values) => values.iter().enumerate().find_map(|(n, value)| {
            let Bounds::List { values, null } = &desc.bounds else { return None };
            let column = &desc.key.columns[0];
            let with = if value.is_null() {
                (*null)?
            } else {
                let at = values.binary_search_by(|v| column.order(v.0.as_ref(), value.as_ref()));
                values[at.ok()?].1
            };
            Some(Conflict::Overlap { with, place: Place::Value(n) })
        }),
        Bound::Range { from, to } => range_conflict(desc, from, to),
    }
}

fn hash_conflict(desc: &PartitionDesc, modulus: i32, remainder: i32) -> Option<Conflict> {
    let Bounds::Hash { of } = &desc.bounds else { return None };
    let existing = |i: usize| match desc.partitions.get(i)?.bound {
        Bound::Hash { modulus, remainder } => Some((modulus, remainder)),
        _ => None,
    };
    let above = desc
        .partitions
        .iter()
        .take_while(|p| match p.bound {
            Bound::Hash { modulus: m, remainder: r } => (m, r) <= (modulus, remainder),
            _ => false,
        })
        .count();
    if let Some(i) = above.checked_sub(1)
        && let Some((smaller, _)) = existing(i)
        && modulus % smaller != 0
    {
        return Some(Conflict::NotAMultiple { modulus: smaller, of: i });
    }
    if let Some((greater, _)) = existing(above)
        && greater % modulus != 0
    {
        return Some(Conflict::NotAFactor { modulus: greater, of: above });
    }
    if of.is_empty() {
        return None;
    }
    let first = remainder as usize % of.len();
    let with = of.iter().skip(first).step_by(modulus as usize).find_map(|slot| *slot)?;
    Some(Conflict::Overlap { with, place: Place::Whole })
}

fn range_conflict(
    desc: &PartitionDesc,
    from: &[RangeDatum],
    to: &[RangeDatum],
) -> Option<Conflict> {
    let key: &PartitionKey = &desc.key;
    let (order, column) = key.compare_bounds(from, to);
    if order.is_ge() {
        return Some(Conflict::Empty { column });
    }
    let Bounds::Range { bounds, of } = &desc.bounds else { return None };
    let after = bounds.partition_point(|b| key.compare_bounds(b, from).0.is_le());
    if let Some(with) = of[after] {
        // The column in which the bound at or below the new lower one differs from it. An equal
        // lower bound has none.
        let column = after.checked_sub(1).map_or(0, |i| {
            let (order, column) = key.compare_bounds(&bounds[i], from);
            if order.is_eq() && of[i].is_none() { 0 } else { column }
        });
        return Some(Conflict::Overlap { with, place: Place::Lower(column) });
    }
    let (order, column) = key.compare_bounds(bounds.get(after)?, to);
    match of.get(after + 1) {
        Some(Some(with)) if order.is_lt() => {
            Some(Conflict::Overlap { with: *with, place: Place::Upper(column) })
        }
        _ => None,
    }
}
