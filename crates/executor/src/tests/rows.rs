//! Nodes that return rows of their input: sorts, limits, duplicate removal, set operations,
//! projections.

use super::facts::TableFacts;
use super::fixture::{Fixture, Order, some_rows};
use super::plans::{
    By, INT4, INT4_DIV, INT4_EQ, INT4_GT, INT4_LT, INT4_PLUS, Row, TEXT, TEXT_EQ, TEXT_GT, TEXT_LT,
    V, by, call, group_keys, int, is, node, operator, outer, param, passing, sort_keys, sorted,
    text, var,
};
use super::source::{SIZES, source};
use ids::Oid;
use plan::expr::Expr;
use plan::node::{Plan, PlanNode, SetOpStrategy};
use plan::query::SetOperation;
use std::collections::BTreeMap;

const TYPES: [Oid; 3] = [INT4, TEXT, INT4];

fn boxed(rows: &[Row], sizes: usize) -> Box<Plan> {
    Box::new(source(&TYPES, rows, sizes))
}

#[test]
fn plans_use_the_intended_operators() {
    let facts = TableFacts::new();
    let intended = [
        (INT4_GT, ">", INT4),
        (INT4_PLUS, "+", INT4),
        (INT4_DIV, "/", INT4),
        (INT4_LT, "<", INT4),
        (INT4_EQ, "=", INT4),
        (TEXT_EQ, "=", TEXT),
        (TEXT_LT, "<", TEXT),
        (TEXT_GT, ">", TEXT),
    ];
    for (oid, name, ty) in intended {
        let found = facts.operators.iter().find(|o| o.oid == oid).expect("an operator");
        assert_eq!((found.oprname.as_str(), found.oprleft, found.oprright), (name, ty, ty));
    }
}

#[test]
fn sources_return_their_rows() {
    let mut fixture = Fixture::new();
    for count in [0, 1, 11, 1025] {
        for sizes in 0..SIZES.len() {
            let rows = some_rows(count, 1);
            fixture.check(source(&TYPES, &rows, sizes), Order::Defined, |_| rows.clone());
        }
    }
}

#[test]
fn a_sort_orders_rows_and_spills() {
    let mut fixture = Fixture::new();
    let descending = By { descending: true, nulls_first: true, ..by(2, TEXT) };
    let nulls_first = By { nulls_first: true, ..by(1, INT4) };
    let orders: [&[By]; 4] = [
        &[by(1, INT4), by(3, INT4)],
        &[descending, by(3, INT4)],
        &[nulls_first, descending, by(3, INT4)],
        &[By { descending: true, ..by(3, INT4) }],
    ];
    for (n, columns) in orders.iter().enumerate() {
        for count in [0, 1, 40, 1300] {
            let rows = some_rows(count, 2);
            let child = boxed(&rows, n);
            let plan = passing(PlanNode::Sort { child, keys: sort_keys(columns) });
            let files = fixture.check(plan, Order::Defined, |_| sorted(&rows, columns));
            assert!(count < 40 || files > 0, "a sort of {count} rows does not spill");
        }
    }
}

#[test]
fn a_sort_is_repeated_if_a_parameter_of_its_rows_changes() {
    let mut fixture = Fixture::new();
    let rows: Vec<Row> = (0..9).map(|i| vec![V::Int(i % 4), V::Null, V::Param(0)]).collect();
    let columns = [by(3, INT4), by(1, INT4)];
    let plan = passing(PlanNode::Sort { child: boxed(&rows, 1), keys: sort_keys(&columns) });
    fixture.check(plan, Order::Defined, |p| {
        let rows: Vec<Row> =
            (0..9).map(|i| vec![V::Int(i % 4), V::Null, V::Int(p.into())]).collect();
        sorted(&rows, &columns)
    });
}

#[test]
fn an_incremental_sort_orders_within_equal_prefixes() {
    let mut fixture = Fixture::new();
    let columns = [by(1, INT4), By { descending: true, ..by(3, INT4) }];
    for (sizes, count) in [(0, 30), (1, 200), (2, 1500), (3, 1500), (4, 0)] {
        let rows = sorted(&some_rows(count, 3), &[by(1, INT4)]);
        let plan = passing(PlanNode::IncrementalSort {
            child: boxed(&rows, sizes),
            keys: sort_keys(&columns),
            presorted_cols: 1,
        });
        fixture.check(plan, Order::Defined, |_| sorted(&rows, &columns));
    }
}

#[test]
fn a_limit_returns_the_rows_of_its_window() {
    let mut fixture = Fixture::new();
    let rows = some_rows(50, 4);
    for (offset, count) in [(0, 0), (0, 7), (3, 1), (7, 20), (49, 5), (50, 5), (80, 1)] {
        for sizes in 0..SIZES.len() {
            let plan = passing(PlanNode::Limit {
                child: boxed(&rows, sizes),
                offset: Some(int(offset)),
                count: Some(int(count)),
                with_ties: None,
            });
            fixture.check(plan, Order::Defined, |_| {
                rows.iter().skip(offset as usize).take(count as usize).cloned().collect()
            });
        }
    }
}

#[test]
fn a_limit_follows_its_parameter_and_bounds_a_sort() {
    let mut fixture = Fixture::new();
    let rows = some_rows(300, 5);
    let columns = [by(2, TEXT), by(3, INT4)];
    let child = passing(PlanNode::Sort { child: boxed(&rows, 2), keys: sort_keys(&columns) });
    let plan = passing(PlanNode::Limit {
        child: Box::new(child),
        offset: Some(int(2)),
        count: Some(param(0)),
        with_ties: None,
    });
    fixture.check(plan, Order::Defined, |p| {
        sorted(&rows, &columns).into_iter().skip(2).take(p as usize).collect()
    });
}

#[test]
fn a_limit_with_ties_returns_the_peers_of_the_last_row() {
    let mut fixture = Fixture::new();
    let rows = sorted(&some_rows(60, 6), &[by(1, INT4)]);
    for (sizes, count) in [(0, 1), (1, 5), (2, 17), (3, 59), (4, 60)] {
        let plan = passing(PlanNode::Limit {
            child: boxed(&rows, sizes),
            offset: None,
            count: Some(int(count)),
            with_ties: Some(group_keys(&[(1, INT4)])),
        });
        fixture.check(plan, Order::Defined, |_| {
            let last = &rows[count as usize - 1][0];
            let more = rows[count as usize..].iter().take_while(|r| r[0] == *last).count();
            rows[..count as usize + more].to_vec()
        });
    }
}

#[test]
fn materialized_rows_are_returned_again() {
    let mut fixture = Fixture::new();
    for (sizes, count) in [(0, 0), (1, 35), (2, 1100), (3, 1100), (4, 1)] {
        let mut rows = some_rows(count, 7);
        rows.iter_mut().for_each(|r| r[0] = V::Param(0));
        let plan = passing(PlanNode::Material { child: boxed(&rows, sizes) });
        let files = fixture.check(plan, Order::Defined, |p| {
            let with = |r: &Row| vec![V::Int(p.into()), r[1].clone(), r[2].clone()];
            rows.iter().map(with).collect()
        });
        assert!(count < 1100 || files > 0, "{count} rows do not spill");
    }
}

#[test]
fn unique_returns_the_first_of_equal_rows() {
    let mut fixture = Fixture::new();
    for (sizes, count) in [(0, 20), (1, 100), (2, 1200), (3, 1200), (4, 0)] {
        let columns = [by(1, INT4), by(2, TEXT)];
        let rows = sorted(&some_rows(count, 8), &columns);
        let keys = group_keys(&[(1, INT4), (2, TEXT)]);
        let child = boxed(&rows, sizes);
        fixture.check(passing(PlanNode::Unique { child, keys }), Order::Defined, |_| {
            let mut rows = rows.clone();
            rows.dedup_by(|a, b| a[..2] == b[..2]);
            rows
        });
    }
}

/// The rows of the operation, each with its number of copies.
fn set_operation(rows: &[Row], op: SetOperation, all: bool) -> Vec<Row> {
    let mut counts: BTreeMap<Row, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let count = counts.entry(row[..2].to_vec()).or_default();
        if row[2] == V::Int(0) { count.0 += 1 } else { count.1 += 1 }
    }
    let copies = |(l, r): (usize, usize)| match (op, all) {
        (SetOperation::Intersect, true) => l.min(r),
        (SetOperation::Intersect, false) => usize::from(l > 0 && r > 0),
        (_, true) => l.saturating_sub(r),
        (_, false) => usize::from(l > 0 && r == 0),
    };
    counts.into_iter().flat_map(|(row, n)| std::iter::repeat_n(row, copies(n))).collect()
}

#[test]
fn set_operations_count_rows_of_both_sides() {
    let mut fixture = Fixture::new();
    for (sizes, count) in [(0, 12), (1, 80), (2, 300), (3, 1300), (4, 0)] {
        let mut rows = some_rows(count, 9);
        for (i, row) in rows.iter_mut().enumerate() {
            row[2] = V::Int((i % 5 % 2) as i64);
        }
        let by_row = sorted(&rows, &[by(1, INT4), by(2, TEXT)]);
        for op in [SetOperation::Intersect, SetOperation::Except] {
            for all in [false, true] {
                for strategy in [SetOpStrategy::Sorted, SetOpStrategy::Hashed] {
                    let is_sorted = strategy == SetOpStrategy::Sorted;
                    let plan = node(
                        PlanNode::SetOp {
                            child: boxed(if is_sorted { &by_row } else { &rows }, sizes),
                            op,
                            all,
                            strategy,
                            keys: group_keys(&[(1, INT4), (2, TEXT)]),
                            flag_col: 3,
                            num_groups: 10.0,
                        },
                        vec![outer(1, INT4), outer(2, TEXT)],
                        Vec::new(),
                    );
                    fixture.check(plan, Order::Any, |_| set_operation(&rows, op, all));
                }
            }
        }
    }
}

#[test]
fn an_append_returns_the_rows_of_all_children() {
    let mut fixture = Fixture::new();
    let parts: Vec<Vec<Row>> =
        [0, 3, 0, 900, 1].iter().map(|&n| some_rows(n, 10 + n as u64)).collect();
    let children = || parts.iter().enumerate().map(|(i, rows)| source(&TYPES, rows, i)).collect();
    let plan =
        passing(PlanNode::Append { children: children(), relations: Vec::new(), pruning: None });
    fixture.check(plan, Order::Defined, |_| parts.concat());
}

#[test]
fn a_merge_append_merges_sorted_children() {
    let mut fixture = Fixture::new();
    let columns = [By { descending: true, nulls_first: true, ..by(1, INT4) }, by(3, INT4)];
    let parts: Vec<Vec<Row>> = [40, 0, 300, 1, 7]
        .iter()
        .map(|&n| sorted(&some_rows(n, 20 + n as u64), &columns))
        .collect();
    let children = parts.iter().enumerate().map(|(i, rows)| source(&TYPES, rows, i)).collect();
    let plan = passing(PlanNode::MergeAppend {
        children,
        keys: sort_keys(&columns),
        relations: Vec::new(),
        pruning: None,
    });
    fixture.check(plan, Order::Any, |_| parts.concat());
    // Rows are merged in the order of the keys.
    let keyed: Vec<Vec<Row>> = (0..4)
        .map(|part| (0..50).map(|i| vec![V::Int(i * 4 + part), V::Null, V::Null]).collect())
        .collect();
    let children = keyed.iter().enumerate().map(|(i, rows)| source(&TYPES, rows, i)).collect();
    let plan = passing(PlanNode::MergeAppend {
        children,
        keys: sort_keys(&[by(1, INT4)]),
        relations: Vec::new(),
        pruning: None,
    });
    fixture.check(plan, Order::Defined, |_| sorted(&keyed.concat(), &[by(1, INT4)]));
}

#[test]
fn a_projection_computes_and_filters() {
    let mut fixture = Fixture::new();
    for (sizes, count) in [(0, 9), (1, 60), (2, 60), (3, 1500), (4, 1500)] {
        let rows = some_rows(count, 11);
        let sum = operator(INT4_PLUS, INT4, outer(3, INT4), param(0));
        let child = Some(boxed(&rows, sizes));
        let plan = node(
            PlanNode::Result { child, constant_qual: vec![is(INT4_GT, param(0), int(1))] },
            vec![outer(2, TEXT), sum, int(4)],
            vec![is(INT4_GT, outer(1, INT4), int(0))],
        );
        fixture.check(plan, Order::Defined, |p| {
            let kept = rows.iter().filter(|r| p > 1 && r[0].int().is_some_and(|k| k > 0));
            let made = |r: &Row| {
                vec![r[1].clone(), V::Int(r[2].int().unwrap_or_default() + i64::from(p)), V::Int(4)]
            };
            kept.map(made).collect()
        });
    }
}

#[test]
fn an_error_is_raised_after_the_rows_before_it() {
    let mut fixture = Fixture::new();
    let rows: Vec<Row> = (0..30).map(|i| vec![V::Int(20 - i), text("x"), V::Int(i)]).collect();
    for sizes in 0..SIZES.len() {
        for want in [1, 4, 1024] {
            let plan = node(
                PlanNode::Result { child: Some(boxed(&rows, sizes)), constant_qual: Vec::new() },
                vec![operator(INT4_DIV, INT4, int(100), outer(1, INT4)), outer(3, INT4)],
                Vec::new(),
            );
            let (before, code) = fixture.failure(plan, want);
            assert_eq!(code, "22012");
            let numbers: Vec<V> = before.iter().map(|r| r[1].clone()).collect();
            let all: Vec<V> = (0..20).map(V::Int).collect();
            assert_eq!(numbers, all, "pattern {sizes}, {want} rows a call");
        }
    }
}

#[test]
fn a_result_without_child_returns_one_row() {
    let mut fixture = Fixture::new();
    let plan = node(
        PlanNode::Result { child: None, constant_qual: vec![is(INT4_GT, param(0), int(1))] },
        vec![param(0), int(7)],
        Vec::new(),
    );
    fixture.check(plan, Order::Defined, |p| match p > 1 {
        true => vec![vec![V::Int(p.into()), V::Int(7)]],
        false => Vec::new(),
    });
}

#[test]
fn values_are_evaluated_for_each_scan() {
    let mut fixture = Fixture::new();
    let list = |i: i32| vec![int(i), operator(INT4_PLUS, INT4, int(i), param(0))];
    let values_lists: Vec<Vec<Expr>> = (0..1500).map(list).collect();
    let plan = node(
        PlanNode::ValuesScan { scanrelid: 1, values_lists },
        vec![var(1, 2, INT4), var(1, 1, INT4)],
        vec![is(INT4_GT, var(1, 1, INT4), int(700))],
    );
    fixture.check(plan, Order::Defined, |p| {
        (701..1500).map(|i| vec![V::Int(i + i64::from(p)), V::Int(i)]).collect()
    });
}

#[test]
fn a_subquery_scan_filters_the_rows_of_its_subquery() {
    let mut fixture = Fixture::new();
    for sizes in 0..SIZES.len() {
        let rows = some_rows(1100, 12);
        let plan = node(
            PlanNode::SubqueryScan { scanrelid: 1, child: boxed(&rows, sizes) },
            vec![var(1, 3, INT4), var(1, 1, INT4)],
            vec![is(INT4_GT, var(1, 1, INT4), param(0))],
        );
        fixture.check(plan, Order::Defined, |p| {
            let kept = rows.iter().filter(|r| r[0].int().is_some_and(|k| k > p.into()));
            kept.map(|r| vec![r[2].clone(), r[0].clone()]).collect()
        });
    }
}

#[test]
fn sets_of_a_target_list_are_expanded_in_lockstep() {
    const GENERATE_SERIES: Oid = Oid(1067);
    let mut fixture = Fixture::new();
    let series = |to: Expr| call(GENERATE_SERIES, INT4, true, vec![int(1), to]);
    for (sizes, count) in [(0, 5), (1, 40), (2, 40), (3, 1100), (4, 0)] {
        let rows = some_rows(count, 13);
        for sets in [1, 2] {
            let mut outputs = vec![outer(3, INT4), series(outer(1, INT4))];
            if sets == 2 {
                outputs.push(series(param(0)));
            }
            let plan = node(PlanNode::ProjectSet { child: boxed(&rows, sizes) }, outputs, vec![]);
            fixture.check(plan, Order::Defined, |p| {
                let mut out = Vec::new();
                for row in &rows {
                    let first = row[0].int().unwrap_or_default().max(0);
                    let second = if sets == 2 { i64::from(p) } else { 0 };
                    let at = |n: i64, of: i64| if n <= of { V::Int(n) } else { V::Null };
                    for n in 1..=first.max(second) {
                        let mut made = vec![row[2].clone(), at(n, first)];
                        made.extend((sets == 2).then(|| at(n, second)));
                        out.push(made);
                    }
                }
                out
            });
        }
    }
}
