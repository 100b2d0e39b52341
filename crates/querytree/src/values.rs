//! Turns a VALUES list of one row into expressions. Counterpart: prepjointree.c
//! (`pull_up_simple_values`).

use crate::host::PlannerHost;
use crate::vars::{contains_srf, replace_rte_vars};
use eval::Volatility;
use plan::expr::Expr;
use plan::query::{JoinTreeNode, Query, RteKind};
use plan::walk;

/// If the query's FROM is only a VALUES list of one row without volatile or set-returning
/// expressions, replaces its columns by these.
pub fn pull_up_values(query: &mut Query, host: &mut dyn PlannerHost) {
    let [JoinTreeNode::Rtr(1)] = query.jointree.fromlist.as_slice() else { return };
    let [rte] = query.rtable.as_slice() else { return };
    let RteKind::Values { values_lists, .. } = &rte.kind else { return };
    let [row] = values_lists.as_slice() else { return };
    let mut fixed = |e: &Expr| {
        let volatility = eval::volatility(e, host);
        !contains_srf(e) && matches!(volatility, Ok(Volatility::Immutable | Volatility::Stable))
    };
    if !row.iter().all(&mut fixed) || uses_whole_row(query) {
        return;
    }
    let row = row.clone();
    let column = |n: i16| usize::try_from(n - 1).ok().and_then(|n| row.get(n)).cloned();
    replace_rte_vars(query, 1, &|v| column(v.varattno));
    query.jointree.fromlist.clear();
    if let RteKind::Values { values_lists, .. } = &mut query.rtable[0].kind {
        values_lists.clear();
    }
}

/// True if the query, or one of its sub-selects, refers to the whole row of its first entry.
fn uses_whole_row(query: &Query) -> bool {
    let mut found = false;
    walk::deep_query(query, 0, &mut |e, level| {
        found |= matches!(e, Expr::Var(v)
            if v.varlevelsup == level && v.varno == 1 && v.varattno <= 0);
        !found
    });
    found
}
