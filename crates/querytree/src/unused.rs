//! Replaces unused columns of a subquery in FROM by NULL. Counterpart: allpaths.c
//! (`remove_unused_subquery_outputs`).

use crate::host::PlannerHost;
use crate::pullup::{has_upper_vars, lateral_exprs, refers_up, subquery_rte};
use crate::vars::{contains_srf, make_var, node_relids};
use eval::Volatility;
use pgerror::Result;
use plan::expr::{Const, Expr, Location, TargetEntry};
use plan::levels::shift_levels_query;
use plan::query::{
    CmdType, FromExpr, JoinTreeNode, Query, RangeTblEntry, RteKind, SetOpNode, SetOperation,
};
use plan::walk;
use std::collections::BTreeSet;
use stdx::stack::deep;

/// Replaces the columns of `sub`, the subquery of entry `rti`, that `query` does not use by NULL.
/// Columns used by DISTINCT, GROUP BY or ORDER BY, and set-returning or volatile columns are kept.
pub fn drop_unused_columns(
    query: &Query,
    rti: i32,
    sub: &mut Query,
    host: &mut dyn PlannerHost,
) -> Result<()> {
    // Inputs of set operations are not in FROM; all their columns are used.
    let in_from = query.jointree.fromlist.iter().any(|n| node_relids(n).contains(&rti));
    if query.command_type != CmdType::Select || !in_from {
        return Ok(());
    }
    let Some(used) = columns_used(query, rti) else { return Ok(()) };
    // A volatile subquery with lateral references is evaluated for each outer row, even if only
    // columns that are not used have such references.
    let repeats = refers_up(sub) && eval::query_volatility(sub, host)? == Volatility::Volatile;
    drop_from(sub, Kept { used, repeats }, host)
}

/// Which columns are kept.
#[derive(Clone)]
struct Kept {
    used: BTreeSet<i16>,
    /// Also those that refer to other levels.
    repeats: bool,
}

/// Drops the columns of the query, or of the inputs of its UNION ALL, that are not used.
fn drop_from(sub: &mut Query, mut kept: Kept, host: &mut dyn PlannerHost) -> Result<()> {
    // DISTINCT compares all columns; DISTINCT ON only those that it names.
    let compares_all = !sub.distinct_clause.is_empty() && !sub.has_distinct_on;
    if sub.command_type != CmdType::Select || compares_all {
        return Ok(());
    }
    if sub.set_operations.is_none() {
        return drop_columns(&kept, sub, host);
    }
    if !is_append_relation(sub) {
        return Ok(());
    }
    kept.used.extend(sub.target_list.iter().filter(|t| t.ressortgroupref != 0).map(|t| t.resno));
    for rte in &mut sub.rtable {
        let RteKind::Subquery { subquery, .. } = &mut rte.kind else { continue };
        if subquery.set_operations.is_some() {
            deep(|| drop_from(subquery, kept.clone(), host))?;
        } else if subquery.distinct_clause.is_empty() {
            drop_columns(&kept, subquery, host)?;
            if evaluates_unused(subquery, &kept.used, host)? {
                select_from(rte, &kept.used);
            }
        }
    }
    Ok(())
}

/// Replaces the columns that are not used by NULL.
fn drop_columns(kept: &Kept, sub: &mut Query, host: &mut dyn PlannerHost) -> Result<()> {
    for t in &mut sub.target_list {
        let unused = !t.resjunk && t.ressortgroupref == 0 && !kept.used.contains(&t.resno);
        let repeats = kept.repeats && has_upper_vars(&t.expr);
        if unused
            && !repeats
            && !matches!(t.expr, Expr::Const(_))
            && !contains_srf(&t.expr)
            && eval::volatility(&t.expr, host)? != Volatility::Volatile
        {
            t.expr = null_for(&t.expr);
        }
    }
    Ok(())
}

/// True if a column of the query that is not used is volatile.
fn evaluates_unused(sub: &Query, used: &BTreeSet<i16>, host: &mut dyn PlannerHost) -> Result<bool> {
    for t in sub.target_list.iter().filter(|t| !t.resjunk && !used.contains(&t.resno)) {
        if eval::volatility(&t.expr, host)? == Volatility::Volatile {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes the input of a UNION ALL a query that selects the columns used from the input, which
/// evaluates all: the nodes of the members of an Append output the columns used only.
fn select_from(rte: &mut RangeTblEntry, used: &BTreeSet<i16>) {
    let RteKind::Subquery { subquery, .. } = &mut rte.kind else { return };
    let mut sub = std::mem::take(&mut **subquery);
    shift_levels_query(&mut sub, 1, 1);
    let mut target_list: Vec<TargetEntry> =
        sub.target_list.iter().filter(|t| !t.resjunk).cloned().collect();
    for t in &mut target_list {
        let e = &t.expr;
        t.expr = match used.contains(&t.resno) {
            true => make_var(1, t.resno, e.type_oid(), e.typmod(), e.collation()),
            false => null_for(e),
        };
        t.ressortgroupref = 0;
    }
    let mut inner = subquery_rte(&rte.eref.aliasname, sub);
    if let RteKind::Subquery { subquery, .. } = &inner.kind {
        inner.lateral = refers_up(subquery);
    }
    let jointree = FromExpr { fromlist: vec![JoinTreeNode::Rtr(1)], quals: None };
    **subquery = Query { rtable: vec![inner], jointree, target_list, ..Query::default() };
}

/// The columns of entry `rti` that the query uses; `None` if it has a whole-row reference.
fn columns_used(query: &Query, rti: i32) -> Option<BTreeSet<i16>> {
    let mut used = BTreeSet::new();
    let mut visit = |e: &Expr| {
        walk::any(e, &mut |e| {
            if let Expr::Var(v) = e
                && v.varno == rti
                && v.varlevelsup == 0
            {
                used.insert(v.varattno);
            }
            false
        });
    };
    walk::clause_exprs(query, &mut visit);
    lateral_exprs(query).iter().for_each(visit);
    (!used.contains(&0)).then_some(used)
}

/// A NULL constant of the expression's type.
pub fn null_for(e: &Expr) -> Expr {
    Expr::Const(Const {
        consttype: e.type_oid(),
        consttypmod: e.typmod(),
        constcollid: e.collation(),
        constlen: -1,
        constbyval: false,
        value: types::Datum::Null,
        location: Location::UNKNOWN,
    })
}

/// True if the query is a UNION ALL whose inputs need no conversion.
pub fn is_append_relation(query: &Query) -> bool {
    query.set_operations.as_deref().is_some_and(|tree| is_simple_union_all(query, tree))
}

/// True if the tree consists of UNION ALL and its inputs need no conversion. Only then does
/// PostgreSQL leave out inputs without rows; the columns then have the type modifiers of the
/// remaining input. Counterpart: `is_simple_union_all_recurse`.
pub fn is_simple_union_all(query: &Query, node: &SetOpNode) -> bool {
    let SetOpNode::Op(top) = node else { return false };
    let types = &top.col_types;
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        match node {
            SetOpNode::Op(op) if op.op == SetOperation::Union && op.all => {
                left.extend([&*op.larg, &*op.rarg]);
            }
            SetOpNode::Op(_) => return false,
            SetOpNode::Leaf(rti) => {
                let RteKind::Subquery { subquery, .. } = &query.rte(*rti).kind else {
                    return false;
                };
                let shown = subquery.target_list.iter().filter(|t| !t.resjunk);
                if !shown.map(|t| t.expr.type_oid()).eq(types.iter().copied()) {
                    return false;
                }
            }
        }
    }
    true
}
