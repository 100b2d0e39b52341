//! Run conditions of window functions, and the order in which windows are computed. Counterpart:
//! allpaths.c (`find_window_run_conditions`), planner.c (`select_active_windows`).
//!
//! Within a partition `row_number()`, `rank()`, `dense_rank()` and some counts are monotonic. If a
//! condition bounds such a value in its direction of change, it is false for all rows after the
//! first one that it rejects, and the WindowAgg node can stop. This applies only to the window that
//! is computed last, because other windows need all rows.

use crate::state::Planner;
use eval::Volatility;
use ids::builtin::opfamily::BTREE_INTEGER_OPS;
use ids::builtin::proc;
use ids::strategy::btree::{EQUAL, GREATER_EQUAL, LESS_EQUAL};
use pgerror::Result;
use plan::expr::{Expr, WindowFunc};
use plan::query::{Query, SortGroupClause, WindowClause};
use querytree::vars::{contains_sublinks, contains_subplans};
use std::cmp::Ordering;

/// Bits of a window's frame options.
const ROWS: i32 = 0x4;
const START_UNBOUNDED_PRECEDING: i32 = 0x20;
const END_UNBOUNDED_FOLLOWING: i32 = 0x100;
const EXCLUSIONS: i32 = 0x8000 | 0x10000 | 0x20000;

/// Monotonicity of a window function. Counterpart: `MonotonicFunction`.
#[derive(Clone, Copy)]
struct Monotonicity {
    increasing: bool,
    decreasing: bool,
}

/// A run condition.
pub(crate) struct RunCondition {
    /// Over columns of the subquery.
    pub condition: Expr,
    /// It is only implied by the original condition, which must be tested as well.
    pub lossy: bool,
}

fn monotonicity(f: &WindowFunc, w: &WindowClause) -> Monotonicity {
    let options = w.frame_options;
    match f.winfnoid {
        proc::WINDOW_ROW_NUMBER | proc::WINDOW_RANK | proc::WINDOW_DENSE_RANK => {
            Monotonicity { increasing: true, decreasing: false }
        }
        proc::COUNT_ANY | proc::COUNT_STAR if options & EXCLUSIONS == 0 => {
            // Without ORDER BY all rows of a partition are peers.
            let one_frame = w.order_clause.is_empty() && options & ROWS == 0;
            Monotonicity {
                increasing: one_frame || options & START_UNBOUNDED_PRECEDING != 0,
                decreasing: one_frame || options & END_UNBOUNDED_FOLLOWING != 0,
            }
        }
        _ => Monotonicity { increasing: false, decreasing: false },
    }
}

impl Planner<'_> {
    /// Converts a condition on a column of subquery `rti` to a run condition of its last window, if
    /// possible.
    pub(crate) fn run_condition(
        &mut self,
        qual: &Expr,
        rti: i32,
        sub: &Query,
    ) -> Result<Option<RunCondition>> {
        if !sub.has_window_funcs || sub.has_distinct_on || sub.has_target_srfs {
            return Ok(None);
        }
        let Expr::OpExpr(op) = qual else { return Ok(None) };
        let [l, r] = op.args.as_slice() else { return Ok(None) };
        let known = |e: &Expr| matches!(e, Expr::Const(_) | Expr::Param(_));
        let (column, on_left) = match (l, r) {
            (Expr::Var(v), value) if known(value) => (v, true),
            (value, Expr::Var(v)) if known(value) => (v, false),
            _ => return Ok(None),
        };
        let target = sub.target_list.iter().find(|t| t.resno == column.varattno && !t.resjunk);
        let Some(Expr::WindowFunc(f)) = target.map(|t| &t.expr) else { return Ok(None) };
        let last = active_windows(sub).pop();
        let Some(window) = last.filter(|w| w.winref == f.winref && column.varno == rti) else {
            return Ok(None);
        };
        if f.args.iter().any(|a| contains_sublinks(a) || contains_subplans(a))
            || eval::volatility(&Expr::WindowFunc(f.clone()), self.host)? == Volatility::Volatile
            || !self.host.operator(op.opno)?.strict
        {
            return Ok(None);
        }
        let Monotonicity { increasing, decreasing } = monotonicity(f, &window);
        let Some(strategy) = self.host.strategy(op.opno, BTREE_INTEGER_OPS)? else {
            return Ok(None);
        };
        // True for an upper bound on the function's value, false for a lower bound.
        let from_above = (strategy < EQUAL) == on_left;
        let exact = match strategy.cmp(&EQUAL) {
            Ordering::Equal => increasing && decreasing,
            _ => {
                if from_above {
                    increasing
                } else {
                    decreasing
                }
            }
        };
        if exact {
            return Ok(Some(RunCondition { condition: qual.clone(), lossy: false }));
        }
        if strategy != EQUAL || !(increasing || decreasing) {
            return Ok(None);
        }
        let bound = if increasing == on_left { LESS_EQUAL } else { GREATER_EQUAL };
        let (left, right) = (l.type_oid(), r.type_oid());
        let Some(opno) = self.host.family_operator(BTREE_INTEGER_OPS, left, right, bound)? else {
            return Ok(None);
        };
        let mut bounded = (**op).clone();
        bounded.opno = opno;
        bounded.opfuncid = self.host.operator(opno)?.code;
        Ok(Some(RunCondition { condition: Expr::OpExpr(Box::new(bounded)), lossy: true }))
    }
}

/// The windows in use, in the order of computation: windows with a common prefix of sort columns
/// are adjacent, the one with the longest list first, so that they share a sort.
pub(crate) fn active_windows(query: &Query) -> Vec<WindowClause> {
    let mut used = Vec::new();
    for t in &query.target_list {
        plan::walk::any(&t.expr, &mut |e| {
            if let Expr::WindowFunc(f) = e {
                used.push(f.winref);
            }
            false
        });
    }
    let active = query.window_clause.iter().filter(|w| used.contains(&w.winref));
    let mut active: Vec<(Vec<SortGroupClause>, WindowClause)> = active
        .map(|w| {
            let mut keys: Vec<SortGroupClause> = Vec::new();
            for c in w.partition_clause.iter().chain(&w.order_clause) {
                if !keys.contains(c) {
                    keys.push(c.clone());
                }
            }
            (keys, w.clone())
        })
        .collect();
    active.sort_by(|a, b| compare(&a.0, &b.0));
    active.into_iter().map(|(_, w)| w).collect()
}

/// Order of windows. Counterpart: `common_prefix_cmp`.
fn compare(a: &[SortGroupClause], b: &[SortGroupClause]) -> Ordering {
    for (x, y) in a.iter().zip(b) {
        let by = |c: &SortGroupClause| (c.tle_sort_group_ref, c.sortop, c.nulls_first);
        let order = by(y).cmp(&by(x));
        if order.is_ne() {
            return order;
        }
    }
    b.len().cmp(&a.len())
}
