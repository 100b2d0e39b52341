//! Adjusts query levels (`varlevelsup` and its equivalents) when an expression or query moves to
//! another nesting depth.
//!
//! Counterpart: rewriteManip.c.

use crate::expr::Expr;
use crate::query::{Query, RteKind};
use crate::walk::{deep_expr_mut, deep_query_mut};

/// Adds `delta` to the level of each reference that goes at least `min_level` query levels up,
/// counted from the expression. Counterpart: `IncrementVarSublevelsUp`.
pub fn shift_levels_expr(expr: &mut Expr, delta: i32, min_level: u32) {
    deep_expr_mut(expr, 0, &mut |e, level| shift_node(e, level, delta, min_level));
}

/// As [`shift_levels_expr`], for all expressions of a query and its references to WITH queries.
/// Levels are counted from the query itself: with a `min_level` of 1, references to outer queries
/// change and its own columns do not.
pub fn shift_levels_query(query: &mut Query, delta: i32, min_level: u32) {
    deep_query_mut(query, 0, &mut |e, level| shift_node(e, level, delta, min_level));
    shift_cte_refs(query, delta, min_level, 0);
}

fn shift_node(e: &mut Expr, level: u32, delta: i32, min_level: u32) -> bool {
    let shift = |up: &mut u32| {
        if *up >= level + min_level {
            *up = up.saturating_add_signed(delta);
        }
    };
    match e {
        Expr::Var(v) => shift(&mut v.varlevelsup),
        Expr::Aggref(a) => shift(&mut a.agglevelsup),
        Expr::GroupingFunc(g) => shift(&mut g.agglevelsup),
        Expr::SubLink(s) => shift_cte_refs(&mut s.subselect, delta, min_level, level + 1),
        _ => {}
    }
    true
}

fn shift_cte_refs(query: &mut Query, delta: i32, min_level: u32, level: u32) {
    stdx::stack::deep(|| shift_cte_parts(query, delta, min_level, level));
}

fn shift_cte_parts(query: &mut Query, delta: i32, min_level: u32, level: u32) {
    for cte in &mut query.cte_list {
        shift_cte_refs(&mut cte.query, delta, min_level, level + 1);
    }
    for rte in &mut query.rtable {
        match &mut rte.kind {
            RteKind::Cte { ctelevelsup, .. } if *ctelevelsup >= level + min_level => {
                *ctelevelsup = ctelevelsup.saturating_add_signed(delta);
            }
            RteKind::Subquery { subquery, .. } => {
                shift_cte_refs(subquery, delta, min_level, level + 1);
            }
            _ => {}
        }
    }
}
