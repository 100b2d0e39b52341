//! Aggregation by all strategies.

use super::fixture::{Fixture, Order, some_rows};
use super::plans::{
    COLLATION, INT4, INT4_GT, INT4_LT, INT8, Row, TEXT, V, by, constant, group_keys, is, node,
    outer, param, passing, sort_keys, sorted, targets, text,
};
use super::source::source;
use ids::code::AggKind;
use ids::{AttrNo, Oid};
use plan::expr::{AggSplit, Aggref, Expr, Location};
use plan::node::{Agg, AggPhase, AggStrategy, Plan, PlanNode};
use plan::query::SortGroupClause;
use std::collections::BTreeMap;
use types::{Datum, oids};

const TYPES: [Oid; 3] = [INT4, TEXT, INT4];

fn boxed(rows: &[Row], sizes: usize) -> Box<Plan> {
    Box::new(source(&TYPES, rows, sizes))
}

fn aggregate(function: u32, result: Oid, state: Oid, args: Vec<Expr>) -> Aggref {
    let collation = if result == TEXT { COLLATION } else { Oid::INVALID };
    Aggref {
        aggfnoid: Oid(function),
        aggtype: result,
        aggcollid: collation,
        inputcollid: collation,
        aggtranstype: state,
        aggargtypes: args.iter().map(Expr::type_oid).collect(),
        aggdirectargs: Vec::new(),
        aggstar: args.is_empty(),
        args: targets(args),
        aggorder: Vec::new(),
        aggdistinct: Vec::new(),
        aggfilter: None,
        aggvariadic: false,
        aggkind: AggKind::Normal,
        agglevelsup: 0,
        aggsplit: AggSplit::Simple,
        aggno: 0,
        aggtransno: 0,
        location: Location::UNKNOWN,
    }
}

fn expr(agg: Aggref) -> Expr {
    Expr::Aggref(Box::new(agg))
}

fn count_star() -> Expr {
    expr(aggregate(2803, INT8, INT8, Vec::new()))
}

/// `string_agg(column 2, ',' ORDER BY column 3)`.
fn ordered_texts() -> Expr {
    let comma = constant(TEXT, Datum::text(","));
    let args = vec![outer(2, TEXT), comma, outer(3, INT4)];
    let mut agg = aggregate(3538, TEXT, oids::INTERNAL, args);
    agg.args[2].ressortgroupref = 1;
    agg.args[2].resjunk = true;
    agg.aggargtypes.pop();
    agg.aggorder = vec![SortGroupClause {
        tle_sort_group_ref: 1,
        eqop: Oid(96),
        sortop: INT4_LT,
        nulls_first: false,
        hashable: true,
    }];
    expr(agg)
}

/// `count(*)`, `count(column 2)`, `sum(column 3)`, `max(column 2)`, `sum(column 1) FILTER (WHERE
/// column 3 > $0)`, `string_agg(…)`.
fn aggregates() -> Vec<Expr> {
    let mut filtered = aggregate(2108, INT8, INT8, vec![outer(1, INT4)]);
    filtered.aggfilter = Some(is(INT4_GT, outer(3, INT4), param(0)));
    vec![
        count_star(),
        expr(aggregate(2147, INT8, INT8, vec![outer(2, TEXT)])),
        expr(aggregate(2108, INT8, INT8, vec![outer(3, INT4)])),
        expr(aggregate(2129, TEXT, TEXT, vec![outer(2, TEXT)])),
        expr(filtered),
        ordered_texts(),
    ]
}

/// The values of [`aggregates`] for a group.
fn values(rows: &[&Row], p: i32) -> Row {
    let sum = |values: Vec<i64>| match values.is_empty() {
        true => V::Null,
        false => V::Int(values.iter().sum()),
    };
    let names: Vec<&V> = rows.iter().map(|r| &r[1]).filter(|v| **v != V::Null).collect();
    let filtered = rows.iter().filter(|r| r[2].int().is_some_and(|n| n > p.into()));
    let mut ordered = rows.to_vec();
    ordered.sort_by_key(|r| r[2].clone());
    let texts: Vec<&str> = ordered
        .iter()
        .filter_map(|r| if let V::Text(t) = &r[1] { Some(t.as_str()) } else { None })
        .collect();
    vec![
        V::Int(rows.len() as i64),
        V::Int(names.len() as i64),
        sum(rows.iter().filter_map(|r| r[2].int()).collect()),
        names.iter().max().map_or(V::Null, |v| (*v).clone()),
        sum(filtered.filter_map(|r| r[0].int()).collect()),
        if texts.is_empty() { V::Null } else { text(&texts.join(",")) },
    ]
}

fn grouped<'r>(rows: &'r [Row], columns: &[usize]) -> BTreeMap<Row, Vec<&'r Row>> {
    let mut groups: BTreeMap<Row, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = columns.iter().map(|&c| row[c - 1].clone()).collect();
        groups.entry(key).or_default().push(row);
    }
    groups
}

fn agg(child: Box<Plan>, strategy: AggStrategy, keys: &[(usize, Oid)]) -> Agg {
    Agg {
        child,
        strategy,
        split: AggSplit::Simple,
        keys: group_keys(keys),
        num_groups: 8.0,
        grouping_sets: Vec::new(),
        chain: Vec::new(),
    }
}

/// An aggregation that returns its keys, then [`aggregates`].
fn agg_node(agg: Agg, keys: &[(usize, Oid)], having: Vec<Expr>) -> Plan {
    let keys = keys.iter().map(|&(c, ty)| outer(c, ty));
    let outputs = keys.chain(aggregates()).collect();
    node(PlanNode::Agg(Box::new(agg)), outputs, having)
}

#[test]
fn plain_aggregation_returns_one_row() {
    let mut fixture = Fixture::new();
    for (sizes, count) in [(0, 0), (1, 30), (2, 1), (3, 1500), (4, 1500)] {
        let rows = some_rows(count, 71);
        let plan = agg_node(agg(boxed(&rows, sizes), AggStrategy::Plain, &[]), &[], Vec::new());
        fixture.check(plan, Order::Defined, |p| vec![values(&rows.iter().collect::<Vec<_>>(), p)]);
    }
}

#[test]
fn sorted_and_hashed_aggregation_return_a_row_for_each_group() {
    let mut fixture = Fixture::new();
    let choices: [&[(usize, Oid)]; 3] =
        [&[(1, INT4)], &[(1, INT4), (2, TEXT)], &[(3, INT4), (2, TEXT)]];
    for keys in choices {
        for (sizes, count) in [(0, 0), (1, 60), (2, 400), (3, 1100), (4, 1100)] {
            let rows = some_rows(count, 72);
            let columns: Vec<usize> = keys.iter().map(|k| k.0).collect();
            let order: Vec<_> = keys.iter().map(|k| by(k.0, k.1)).collect();
            for strategy in [AggStrategy::Sorted, AggStrategy::Hashed] {
                let is_sorted = strategy == AggStrategy::Sorted;
                let input = if is_sorted { sorted(&rows, &order) } else { rows.clone() };
                let having = vec![is(INT8_GE_INT4, count_star(), param(0))];
                let plan = agg_node(agg(boxed(&input, sizes), strategy, keys), keys, having);
                fixture.check(plan, Order::Any, |p| {
                    let groups = grouped(&rows, &columns);
                    let kept = groups.iter().filter(|g| g.1.len() as i64 > i64::from(p) - 1);
                    kept.map(|(key, rows)| [key.clone(), values(rows, p)].concat()).collect()
                });
            }
        }
    }
}

/// `>=` of int8 and int4.
const INT8_GE_INT4: Oid = Oid(430);

/// The rows of grouping sets over columns 1 and 2.
fn grouping_set_rows(rows: &[Row], sets: &[Vec<AttrNo>], p: i32) -> Vec<Row> {
    let mut out = Vec::new();
    for set in sets {
        let columns: Vec<usize> = set.iter().map(|c| *c as usize).collect();
        let mut groups = grouped(rows, &columns);
        if columns.is_empty() {
            groups.entry(Vec::new()).or_default();
        }
        for (key, rows) in groups {
            let value = |c: usize| {
                let at = columns.iter().position(|k| *k == c);
                at.map_or(V::Null, |at| key[at].clone())
            };
            out.push([vec![value(1), value(2)], values(&rows, p)].concat());
        }
    }
    out
}

#[test]
fn hashed_grouping_sets_are_aggregated_in_one_pass() {
    let mut fixture = Fixture::new();
    let keys = [(1, INT4), (2, TEXT)];
    let choices: [&[&[AttrNo]]; 4] =
        [&[&[1, 2], &[1], &[]], &[&[1], &[2]], &[&[]], &[&[1, 2], &[2], &[2]]];
    for sets in choices {
        let sets: Vec<Vec<AttrNo>> = sets.iter().map(|s| s.to_vec()).collect();
        for (sizes, count) in [(0, 0), (1, 50), (2, 300), (3, 1300)] {
            let rows = some_rows(count, 73);
            let mut hashed = agg(boxed(&rows, sizes), AggStrategy::Hashed, &keys);
            hashed.grouping_sets.clone_from(&sets);
            let plan = agg_node(hashed, &keys, Vec::new());
            fixture.check(plan, Order::Any, |p| grouping_set_rows(&rows, &sets, p));
        }
    }
}

/// A rollup over sorted input, a rollup with a sort of its own, and a hashed set.
#[test]
fn grouping_sets_are_aggregated_in_phases() {
    let mut fixture = Fixture::new();
    let keys = [(1, INT4), (2, TEXT)];
    let first: Vec<Vec<AttrNo>> = vec![vec![1, 2], vec![1], vec![1], vec![]];
    let second: Vec<Vec<AttrNo>> = vec![vec![2]];
    let phase = |strategy, sort, sets: &[Vec<AttrNo>]| AggPhase {
        strategy,
        sort,
        grouping_sets: sets.to_vec(),
        num_groups: 8.0,
    };
    let all = [first.clone(), second.clone()].concat();
    for (sizes, count) in [(0, 0), (1, 50), (2, 300), (3, 1300), (4, 1300)] {
        let rows = some_rows(count, 75);
        let input = sorted(&rows, &[by(1, INT4), by(2, TEXT)]);
        let mut two = agg(boxed(&input, sizes), AggStrategy::Sorted, &keys);
        two.grouping_sets.clone_from(&first);
        two.chain = vec![phase(AggStrategy::Sorted, Some(sort_keys(&[by(2, TEXT)])), &second)];
        let plan = agg_node(two, &keys, Vec::new());
        fixture.check(plan, Order::Any, |p| grouping_set_rows(&input, &all, p));
        let mut mixed = agg(boxed(&input, sizes), AggStrategy::Mixed, &keys);
        mixed.grouping_sets.clone_from(&second);
        mixed.chain = vec![phase(AggStrategy::Sorted, None, &first)];
        let plan = agg_node(mixed, &keys, Vec::new());
        fixture.check(plan, Order::Any, |p| grouping_set_rows(&input, &all, p));
    }
}

#[test]
fn group_returns_the_first_row_of_each_group() {
    let mut fixture = Fixture::new();
    for (sizes, count) in [(0, 12), (1, 90), (3, 1200)] {
        let rows = sorted(&some_rows(count, 74), &[by(2, TEXT)]);
        let child = boxed(&rows, sizes);
        let keys = group_keys(&[(2, TEXT)]);
        fixture.check(passing(PlanNode::Group { child, keys }), Order::Defined, |_| {
            let mut rows = rows.clone();
            rows.dedup_by(|a, b| a[1] == b[1]);
            rows
        });
    }
}
