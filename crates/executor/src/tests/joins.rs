//! Joins of all kinds and methods.

use super::fixture::{Fixture, Order, some_rows};
use super::plans::{
    COLLATION, INT4, INT4_EQ, INT4_GT, Row, TEXT, TEXT_EQ, V, by, inner, is, node, outer, param,
    passing, sorted,
};
use super::source::source;
use ids::Oid;
use plan::expr::Expr;
use plan::node::{Plan, PlanNode};
use plan::query::JoinType;

const TYPES: [Oid; 3] = [INT4, TEXT, INT4];

const KINDS: [JoinType; 6] = [
    JoinType::Inner,
    JoinType::Left,
    JoinType::Full,
    JoinType::Right,
    JoinType::Semi,
    JoinType::Anti,
];

fn boxed(rows: &[Row], sizes: usize) -> Box<Plan> {
    Box::new(source(&TYPES, rows, sizes))
}

/// The output columns of a join: all columns, or the outer ones for a semi or anti join.
fn outputs(kind: JoinType) -> Vec<Expr> {
    let columns = |column: fn(usize, Oid) -> Expr| {
        TYPES.iter().enumerate().map(move |(i, t)| column(i + 1, *t)).collect::<Vec<_>>()
    };
    match kind {
        JoinType::Semi | JoinType::Anti => columns(outer),
        _ => [columns(outer), columns(inner)].concat(),
    }
}

/// The join of all pairs for which `on` is true.
fn joined(
    kind: JoinType,
    left: &[Row],
    right: &[Row],
    on: impl Fn(&Row, &Row) -> bool,
) -> Vec<Row> {
    let nulls = || vec![V::Null; TYPES.len()];
    let mut used = vec![false; right.len()];
    let mut out = Vec::new();
    for l in left {
        let matches: Vec<usize> = (0..right.len()).filter(|&r| on(l, &right[r])).collect();
        matches.iter().for_each(|&r| used[r] = true);
        match kind {
            JoinType::Semi if matches.is_empty() => {}
            JoinType::Semi => out.push(l.clone()),
            JoinType::Anti if matches.is_empty() => out.push(l.clone()),
            JoinType::Anti => {}
            _ => {
                out.extend(matches.iter().map(|&r| [l.clone(), right[r].clone()].concat()));
                if matches.is_empty() && matches!(kind, JoinType::Left | JoinType::Full) {
                    out.push([l.clone(), nulls()].concat());
                }
            }
        }
    }
    if matches!(kind, JoinType::Right | JoinType::Full) {
        let unmatched = right.iter().zip(&used).filter(|(_, used)| !**used);
        out.extend(unmatched.map(|(r, _)| [nulls(), r.clone()].concat()));
    }
    out
}

fn equal(a: &V, b: &V) -> bool {
    *a != V::Null && a == b
}

/// `inner.3 > $0`, which is true for every row of the first scans of large tables.
fn late_condition() -> Expr {
    is(INT4_GT, inner(3, INT4), param(0))
}

fn is_late(row: &Row, p: i32) -> bool {
    row[2].int().is_some_and(|n| n > p.into())
}

/// Numbers of rows of the two sides, and the patterns of their batches.
const SHAPES: [(usize, usize, usize); 6] =
    [(0, 5, 0), (5, 0, 1), (1, 1, 2), (17, 30, 1), (60, 45, 0), (45, 70, 2)];

fn hash_join(kind: JoinType, l: &[Row], r: &[Row], sizes: usize, late: bool, wide: bool) -> Plan {
    let clause = |column, ty, op| is(op, outer(column, ty), inner(column, ty));
    let mut clauses = vec![clause(1, INT4, INT4_EQ)];
    let (mut operators, mut collations) = (vec![INT4_EQ], vec![Oid::INVALID]);
    let mut keys = vec![outer(1, INT4)];
    if wide {
        clauses.push(clause(2, TEXT, TEXT_EQ));
        operators.push(TEXT_EQ);
        collations.push(COLLATION);
        keys.push(outer(2, TEXT));
    }
    let join = PlanNode::HashJoin {
        jointype: kind,
        outer: boxed(l, sizes),
        inner: boxed(r, (sizes + 1) % 5),
        join_qual: if late { vec![late_condition()] } else { Vec::new() },
        inner_unique: false,
        hash_clauses: clauses,
        operators,
        collations,
        outer_keys: keys.clone(),
        inner_keys: keys,
    };
    node(join, outputs(kind), Vec::new())
}

#[test]
fn hash_joins_return_the_rows_of_all_kinds() {
    let mut fixture = Fixture::new();
    for kind in KINDS {
        for (left, right, sizes) in SHAPES {
            let (l, r) = (some_rows(left, 31), some_rows(right, 32));
            for (late, wide) in [(false, false), (true, false), (false, true), (true, true)] {
                let plan = hash_join(kind, &l, &r, sizes, late, wide);
                fixture.check(plan, Order::Any, |p| {
                    joined(kind, &l, &r, |a, b| {
                        equal(&a[0], &b[0])
                            && (!wide || equal(&a[1], &b[1]))
                            && (!late || is_late(b, p))
                    })
                });
            }
        }
    }
}

#[test]
fn a_hash_join_of_many_rows_spills() {
    let mut fixture = Fixture::new();
    let rows = |count: i64, from: i64| -> Vec<Row> {
        (from..from + count).map(|i| vec![V::Int(i), V::Null, V::Int(i)]).collect()
    };
    let (l, r) = (rows(900, 0), rows(2600, 300));
    for kind in [JoinType::Inner, JoinType::Full, JoinType::Anti] {
        let plan = hash_join(kind, &l, &r, 3, false, false);
        let files = fixture.check(plan, Order::Any, |_| {
            let expected = joined(kind, &l[300..], &r[..600], |a, b| a[0] == b[0]);
            let lone = |rows: &[Row], kind| joined(kind, rows, &[], |_, _| false);
            match kind {
                JoinType::Inner => expected,
                JoinType::Anti => l[..300].to_vec(),
                _ => {
                    let right = r[600..].iter();
                    let right = right.map(|r| [vec![V::Null; 3], r.clone()].concat());
                    [expected, lone(&l[..300], JoinType::Left), right.collect()].concat()
                }
            }
        });
        assert!(files > 0, "{kind:?} does not spill");
    }
}

#[test]
fn a_hash_table_is_built_again_if_a_parameter_of_its_rows_changes() {
    let mut fixture = Fixture::new();
    let l = some_rows(40, 33);
    let mut r = some_rows(12, 34);
    r.iter_mut().step_by(2).for_each(|row| row[0] = V::Param(0));
    for kind in KINDS {
        let plan = hash_join(kind, &l, &r, 1, false, false);
        fixture.check(plan, Order::Any, |p| {
            let mut r = r.clone();
            r.iter_mut().step_by(2).for_each(|row| row[0] = V::Int(p.into()));
            joined(kind, &l, &r, |a, b| equal(&a[0], &b[0]))
        });
    }
}

/// Values that occur once on the inner side.
fn unique_keys(count: i64) -> Vec<Row> {
    (0..count).map(|i| vec![V::Int(i - 3), V::Null, V::Int(i)]).collect()
}

#[test]
fn joins_with_a_unique_inner_side_stop_at_the_first_match() {
    let mut fixture = Fixture::new();
    let (l, r) = (some_rows(70, 35), unique_keys(6));
    for kind in KINDS {
        let mut plan = hash_join(kind, &l, &r, 1, false, false);
        if let PlanNode::HashJoin { inner_unique, .. } = &mut plan.node {
            *inner_unique = true;
        }
        fixture.check(plan, Order::Any, |_| joined(kind, &l, &r, |a, b| equal(&a[0], &b[0])));
        let mut plan = merge_join(kind, &l, &r, 1, false);
        if let PlanNode::MergeJoin { inner_unique, .. } = &mut plan.node {
            *inner_unique = true;
        }
        fixture.check(plan, Order::Any, |_| joined(kind, &l, &r, |a, b| equal(&a[0], &b[0])));
    }
}

/// A merge join by columns 1 and 2 of rows that are sorted by them.
fn merge_join(kind: JoinType, l: &[Row], r: &[Row], sizes: usize, late: bool) -> Plan {
    let columns = [by(1, INT4)];
    let join = PlanNode::MergeJoin {
        jointype: kind,
        outer: boxed(&sorted(l, &columns), sizes),
        inner: boxed(&sorted(r, &columns), (sizes + 2) % 5),
        join_qual: if late { vec![late_condition()] } else { Vec::new() },
        inner_unique: false,
        merge_clauses: vec![is(INT4_EQ, outer(1, INT4), inner(1, INT4))],
        families: vec![Oid(1976)],
        collations: vec![Oid::INVALID],
        descending: vec![false],
        nulls_first: vec![false],
    };
    node(join, outputs(kind), Vec::new())
}

#[test]
fn merge_joins_return_the_rows_of_all_kinds() {
    let mut fixture = Fixture::new();
    for kind in KINDS {
        for (left, right, sizes) in SHAPES {
            let (l, r) = (some_rows(left, 41), some_rows(right, 42));
            for late in [false, true] {
                let plan = merge_join(kind, &l, &r, sizes, late);
                fixture.check(plan, Order::Any, |p| {
                    joined(kind, &l, &r, |a, b| equal(&a[0], &b[0]) && (!late || is_late(b, p)))
                });
            }
        }
    }
}

#[test]
fn nested_loops_return_the_rows_of_all_kinds() {
    let mut fixture = Fixture::new();
    // The planner never creates a nested loop for a right join.
    for kind in KINDS.into_iter().filter(|k| *k != JoinType::Right) {
        for (left, right, sizes) in SHAPES {
            let (l, r) = (some_rows(left, 51), some_rows(right, 52));
            let join = PlanNode::NestLoop {
                jointype: kind,
                outer: boxed(&l, sizes),
                inner: boxed(&r, (sizes + 3) % 5),
                join_qual: vec![is(INT4_EQ, outer(1, INT4), inner(1, INT4)), late_condition()],
                inner_unique: false,
                nest_params: Vec::new(),
            };
            let plan = node(join, outputs(kind), Vec::new());
            fixture.check(plan, Order::Any, |p| {
                joined(kind, &l, &r, |a, b| equal(&a[0], &b[0]) && is_late(b, p))
            });
        }
    }
}

/// The parameter that nested loops set from the outer row.
const NEST_PARAM: i32 = 1;

/// The inner rows for an outer row: one has its number.
fn inner_rows(number: V) -> Vec<Row> {
    vec![
        vec![number.clone(), V::Null, V::Int(2)],
        vec![V::Int(4), V::Null, number],
        vec![V::Null, V::Null, V::Int(7)],
    ]
}

#[test]
fn a_nested_loop_passes_parameters_to_its_inner_side() {
    let mut fixture = Fixture::new();
    for kind in [JoinType::Inner, JoinType::Left, JoinType::Semi, JoinType::Anti] {
        for (sizes, memoize) in [(0, false), (1, true), (2, true), (3, false)] {
            // Values repeat, so that some of them are found in the cache.
            let mut l = some_rows(80, 61);
            l.iter_mut().for_each(|row| row[2] = V::Int(row[2].int().unwrap_or(0) % 5));
            let mut inner_side = source(&TYPES, &inner_rows(V::Param(NEST_PARAM)), sizes);
            if memoize {
                inner_side = passing(PlanNode::Memoize {
                    child: Box::new(inner_side),
                    param_exprs: vec![param(NEST_PARAM)],
                    operators: vec![INT4_EQ],
                    collations: vec![Oid::INVALID],
                    binary_mode: false,
                    single_row: false,
                });
            }
            let join = PlanNode::NestLoop {
                jointype: kind,
                outer: boxed(&l, sizes),
                inner: Box::new(inner_side),
                join_qual: vec![late_condition()],
                inner_unique: false,
                nest_params: vec![(NEST_PARAM, outer(3, INT4))],
            };
            let plan = node(join, outputs(kind), Vec::new());
            fixture.check(plan, Order::Any, |p| {
                let rows = l.iter().flat_map(|row| {
                    let own = std::slice::from_ref(row);
                    joined(kind, own, &inner_rows(row[2].clone()), |_, b| is_late(b, p))
                });
                rows.collect()
            });
        }
    }
}
