//! Recursive unions and their working tables.

use super::fixture::{Fixture, Order};
use super::plans::{
    INT4, INT4_GT, INT4_PLUS, Row, V, group_keys, int, is, node, operator, outer, param, var,
};
use super::source::{SIZES, source};
use ids::Oid;
use plan::node::{GroupKeys, Plan, PlanNode};
use std::collections::BTreeSet;

const INT4_MOD: Oid = Oid(530);
/// The parameter that names the working table.
const WORK_TABLE: i32 = 1;

/// The numbers 3 and 5, then for each number `n` less than a limit its successor: `n + $0`, or
/// `(n + $0) % 11`.
fn numbers(sizes: usize, cyclic: bool, dedup: GroupKeys) -> Plan {
    let first = source(&[INT4], &[vec![V::Int(3)], vec![V::Int(5)]], sizes);
    let work_table = node(
        PlanNode::WorkTableScan { scanrelid: 1, wt_param: WORK_TABLE },
        vec![var(1, 1, INT4)],
        vec![is(INT4_GT, int(40), var(1, 1, INT4))],
    );
    let next = operator(INT4_PLUS, INT4, outer(1, INT4), param(0));
    let next = if cyclic { operator(INT4_MOD, INT4, next, int(11)) } else { next };
    let step = node(
        PlanNode::Result { child: Some(Box::new(work_table)), constant_qual: Vec::new() },
        vec![next],
        Vec::new(),
    );
    let union = PlanNode::RecursiveUnion {
        outer: Box::new(first),
        inner: Box::new(step),
        wt_param: WORK_TABLE,
        dedup,
        num_groups: 10.0,
    };
    node(union, vec![outer(1, INT4)], Vec::new())
}

#[test]
fn a_recursive_union_all_runs_until_a_round_is_empty() {
    let mut fixture = Fixture::new();
    for sizes in 0..SIZES.len() {
        let plan = numbers(sizes, false, GroupKeys::default());
        fixture.check(plan, Order::Any, |p| {
            let from = |mut n: i64| {
                let mut out: Vec<Row> = vec![vec![V::Int(n)]];
                while n < 40 {
                    n += i64::from(p);
                    out.push(vec![V::Int(n)]);
                }
                out
            };
            [from(3), from(5)].concat()
        });
    }
}

#[test]
fn a_recursive_union_ends_when_all_rows_are_duplicates() {
    let mut fixture = Fixture::new();
    for sizes in 0..SIZES.len() {
        let plan = numbers(sizes, true, group_keys(&[(1, INT4)]));
        fixture.check(plan, Order::Any, |p| {
            let mut seen = BTreeSet::from([3, 5]);
            let mut round: Vec<i64> = vec![3, 5];
            while !round.is_empty() {
                let next = round.iter().map(|n| (n + i64::from(p)) % 11);
                round = next.filter(|n| seen.insert(*n)).collect();
            }
            seen.into_iter().map(|n| vec![V::Int(n)]).collect()
        });
    }
}
