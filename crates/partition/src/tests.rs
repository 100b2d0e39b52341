//! Bounds, searches and conflicts on keys of int4 columns.

use crate::check::{Conflict, Place, conflict};
use crate::{
    Bound, Bounds, HashSupport, KeyColumn, KeySupport, Layout, NoCall, Partition, PartitionDesc,
    PartitionKey, RangeDatum,
};
use ids::Oid;
use ids::code::PartStrategy;
use plan::expr::{Const, Expr, Location};
use plan::query::JoinType;
use std::collections::BTreeSet;
use sync::Arc;
use types::{Datum, DatumRef, compare, hash_functions, oids};

fn key(strategy: PartStrategy, columns: i16) -> Arc<PartitionKey> {
    let support = match strategy {
        PartStrategy::Hash => KeySupport::Hash(HashSupport::Plain(
            hash_functions::extended("hashint4extended").expect("hash of int4"),
        )),
        _ => KeySupport::Compare(compare::lookup("btint4cmp").expect("order of int4").into()),
    };
    let expr = Expr::Const(Const {
        consttype: oids::INT4,
        consttypmod: -1,
        constcollid: Oid::INVALID,
        constlen: 4,
        constbyval: true,
        value: Datum::Null,
        location: Location::UNKNOWN,
    });
    let column = |attno| KeyColumn {
        attno,
        expr: expr.clone(),
        ty: oids::INT4,
        typmod: -1,
        opclass: Oid::INVALID,
        family: Oid::INVALID,
        input: oids::INT4,
        collation: Oid::INVALID,
        support: support.clone(),
    };
    Arc::new(PartitionKey { relid: Oid(1), strategy, columns: (1..=columns).map(column).collect() })
}

fn desc(strategy: PartStrategy, columns: i16, bounds: Vec<Bound>) -> PartitionDesc {
    let partition = |(i, bound)| Partition { oid: Oid(i), is_leaf: true, bound };
    let partitions = (100..).zip(bounds).map(partition).collect();
    PartitionDesc::new(key(strategy, columns), partitions)
}

/// A bound: `i32::MIN` is MINVALUE, `i32::MAX` MAXVALUE.
fn end(values: &[i32]) -> Vec<RangeDatum> {
    let datum = |v: &i32| match *v {
        i32::MIN => RangeDatum::Least,
        i32::MAX => RangeDatum::Greatest,
        v => RangeDatum::Value(Datum::int4(v)),
    };
    values.iter().map(datum).collect()
}

fn range(from: &[i32], to: &[i32]) -> Bound {
    Bound::Range { from: end(from), to: end(to) }
}

fn list(values: &[Option<i32>]) -> Bound {
    Bound::List(values.iter().map(|v| v.map_or(Datum::Null, Datum::int4)).collect())
}

/// The OID of the partition for a key.
fn found(desc: &PartitionDesc, key: &[Option<i32>]) -> Option<u32> {
    let key: Vec<Datum> = key.iter().map(|v| v.map_or(Datum::Null, Datum::int4)).collect();
    let key: Vec<DatumRef<'_>> = key.iter().map(Datum::as_ref).collect();
    let n = desc.find(&key, &mut NoCall).expect("search");
    for last in 0..desc.partitions.len() {
        assert_eq!(desc.find_from(last, &key, &mut NoCall).expect("search"), n);
    }
    n.map(|n| desc.partitions[n].oid.0)
}

#[test]
fn a_list_partition_is_found_by_value() {
    let bounds = vec![list(&[Some(7), None]), Bound::Default, list(&[Some(3), Some(9)])];
    let desc = desc(PartStrategy::List, 1, bounds);
    let order: Vec<u32> = desc.partitions.iter().map(|p| p.oid.0).collect();
    assert_eq!(order, [102, 100, 101]);
    let keys = [Some(7), None, Some(3), Some(9), Some(4)];
    let all = keys.map(|k| found(&desc, &[k]));
    assert_eq!(all, [Some(100), Some(100), Some(102), Some(102), Some(101)]);
    assert_eq!(
        conflict(&desc, &list(&[Some(1), Some(9)])),
        Some(Conflict::Overlap { with: 0, place: Place::Value(1) })
    );
    assert_eq!(conflict(&desc, &list(&[Some(1)])), None);
    assert_eq!(conflict(&desc, &Bound::Default), Some(Conflict::Default(2)));
}

#[test]
fn a_range_partition_is_found_by_position() {
    let bounds = vec![range(&[10], &[20]), range(&[i32::MIN], &[0]), range(&[20], &[30])];
    let desc = desc(PartStrategy::Range, 1, bounds);
    let all = [-5, 0, 9, 10, 19, 20, 29, 30].map(|k| found(&desc, &[Some(k)]));
    let (a, b, c) = (Some(101), Some(100), Some(102));
    assert_eq!(all, [a, None, None, b, b, c, c, None]);
    assert_eq!(found(&desc, &[None]), None);
    let overlap = |from, to| conflict(&desc, &range(&[from], &[to]));
    assert_eq!(overlap(0, 10), None);
    assert_eq!(overlap(30, i32::MAX), None);
    assert_eq!(overlap(5, 5), Some(Conflict::Empty { column: 0 }));
    let lower = Conflict::Overlap { with: 1, place: Place::Lower(0) };
    assert_eq!(overlap(15, 40), Some(lower));
    let upper = Conflict::Overlap { with: 1, place: Place::Upper(0) };
    assert_eq!(overlap(5, 11), Some(upper));
}

#[test]
fn columns_after_minvalue_have_no_meaning() {
    let bounds = vec![range(&[1, i32::MIN], &[1, 5]), range(&[1, 5], &[2, i32::MAX])];
    let desc = desc(PartStrategy::Range, 2, bounds);
    let Bounds::Range { bounds, of } = &desc.bounds else { panic!("ranges expected") };
    assert_eq!((bounds.len(), of.len()), (3, 4));
    assert_eq!(found(&desc, &[Some(1), Some(4)]), Some(100));
    assert_eq!(found(&desc, &[Some(1), Some(5)]), Some(101));
    assert_eq!(found(&desc, &[Some(2), Some(1 << 30)]), Some(101));
    assert_eq!(found(&desc, &[Some(3), Some(0)]), None);
}

/// The expected partitions are those of PostgreSQL 15 for int4 keys and four partitions.
#[test]
fn a_hash_partition_is_found_by_remainder() {
    let bound = |modulus, remainder| Bound::Hash { modulus, remainder };
    let bounds = (0..4).map(|r| bound(4, r)).collect();
    let four = desc(PartStrategy::Hash, 1, bounds);
    let all: Vec<u32> = (0..8).map(|k| found(&four, &[Some(k)]).expect("hash") - 100).collect();
    assert_eq!(all, POSTGRESQL_MODULUS_4);
    assert_eq!(found(&four, &[None]), Some(100));
    let two = desc(PartStrategy::Hash, 1, vec![bound(2, 0), bound(4, 1)]);
    assert_eq!(conflict(&two, &bound(4, 3)), None);
    assert_eq!(conflict(&two, &bound(3, 1)), Some(Conflict::NotAMultiple { modulus: 2, of: 0 }));
    let overlap = Conflict::Overlap { with: 0, place: Place::Whole };
    assert_eq!(conflict(&two, &bound(8, 6)), Some(overlap));
    assert_eq!(conflict(&two, &bound(1, 0)), Some(overlap));
}

const POSTGRESQL_MODULUS_4: [u32; 8] = [0, 0, 2, 1, 3, 1, 3, 3];

/// Cells of keys 0, 1, 2 and 3: the partition of each. Key 9 is in the default partition only.
const KEYS: [i32; 5] = [0, 1, 2, 3, 9];

/// All descriptors with these keys: `bounds` are those of a choice for each key.
fn descriptors(
    strategy: PartStrategy,
    bounds: &dyn Fn([usize; 4]) -> Option<Vec<Bound>>,
) -> Vec<PartitionDesc> {
    let mut out = Vec::new();
    for choice in 0..3usize.pow(4) {
        let cells = [0, 1, 2, 3].map(|key| choice / 3usize.pow(key) % 3);
        let Some(bounds) = bounds(cells) else { continue };
        let with_default = [bounds.clone(), vec![Bound::Default]].concat();
        out.extend([bounds, with_default].map(|b| desc(strategy, 1, b)));
    }
    out
}

/// Each value belongs to one of two partitions or to none.
fn value_bounds(cells: [usize; 4]) -> Option<Vec<Bound>> {
    let of = |p: usize| -> Vec<Option<i32>> {
        (0..4).filter(|key| cells[*key as usize] == p).map(Some).collect()
    };
    let lists = [of(1), of(2)];
    Some(lists.iter().filter(|l| !l.is_empty()).map(|l| list(l)).collect())
}

/// Each key begins a partition, continues that of the key before it, or belongs to none.
fn range_bounds(cells: [usize; 4]) -> Option<Vec<Bound>> {
    let mut ranges: Vec<[i32; 2]> = Vec::new();
    for (key, cell) in (0..).zip(cells) {
        match (cell, ranges.last_mut()) {
            (1, _) => ranges.push([key, key + 1]),
            (2, Some(last)) if last[1] == key => last[1] += 1,
            (2, _) => return None,
            _ => {}
        }
    }
    Some(ranges.iter().map(|[from, to]| range(&[*from], &[*to])).collect())
}

/// The pairs of partitions that a join consists of; `None` if a partition joins several ones.
fn expected_pairs(
    a: &PartitionDesc,
    b: &PartitionDesc,
    jointype: JoinType,
) -> Option<BTreeSet<(Option<usize>, Option<usize>)>> {
    let find = |d: &PartitionDesc, key: i32| {
        d.find(&[Datum::int4(key).as_ref()], &mut NoCall).expect("no call of a function")
    };
    let mut pairs = BTreeSet::new();
    for key in KEYS {
        if let (Some(a), Some(b)) = (find(a, key), find(b, key)) {
            pairs.insert((Some(a), Some(b)));
        }
    }
    let (left, right): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let distinct =
        |list: &[Option<usize>]| list.iter().collect::<BTreeSet<_>>().len() == list.len();
    if !distinct(&left) || !distinct(&right) {
        return None;
    }
    let (all_left, all_right) =
        ((0..a.partitions.len()).map(Some), (0..b.partitions.len()).map(Some));
    if matches!(jointype, JoinType::Left | JoinType::Anti | JoinType::Full) {
        pairs.extend(all_left.filter(|p| !left.contains(p)).map(|p| (p, None)));
    }
    if jointype == JoinType::Full {
        pairs.extend(all_right.filter(|p| !right.contains(p)).map(|p| (None, p)));
    }
    (!pairs.is_empty()).then_some(pairs)
}

#[test]
fn partitions_of_joins_are_those_of_a_model() {
    let lists = descriptors(PartStrategy::List, &value_bounds);
    let ranges = descriptors(PartStrategy::Range, &range_bounds);
    let mut merged = 0;
    for all in [lists, ranges] {
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let live = [a, b].map(|d| vec![true; d.partitions.len()]);
            for jointype in [JoinType::Inner, JoinType::Left, JoinType::Anti, JoinType::Full] {
                let live = [live[0].as_slice(), live[1].as_slice()];
                let found = Layout::of(a).merge(&Layout::of(b), &a.key, jointype, live);
                let pairs = found.map(|m| m.pairs.into_iter().collect::<BTreeSet<_>>());
                let expected = expected_pairs(a, b, jointype);
                merged += usize::from(expected.is_some());
                assert_eq!(pairs, expected, "{jointype:?}: {:?} and {:?}", a.bounds, b.bounds);
            }
        }
    }
    assert!(merged > 10_000, "{merged}");
}
