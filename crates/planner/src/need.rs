//! Columns and operands of the expressions that are evaluated above a relation: the target list and
//! join conditions. They are extracted once and passed down through the join problems. Counterpart:
//! `attr_needed` of `RelOptInfo`.

use plan::expr::Expr;
use plan::walk;
use querytree::relids::Relids;
use querytree::vars::{push_unique, relids_of};
use std::rc::Rc;

/// An expression that is evaluated above a relation.
pub(crate) struct NeededExpr {
    pub relids: Relids,
    /// Its columns, with duplicates.
    pub columns: Vec<Expr>,
    /// It is an output column, evaluated above all joins, and not a condition.
    pub always: bool,
    /// The operands with their relations, if it is a binary operator.
    pub operands: Option<[(Rc<Expr>, Relids); 2]>,
}

/// Describes conditions that are evaluated above.
pub(crate) fn needs<'e>(
    conditions: impl IntoIterator<Item = &'e Expr>,
) -> impl Iterator<Item = Rc<NeededExpr>> {
    conditions.into_iter().map(|e| Rc::new(need(e, false)))
}

/// Describes expressions that are evaluated above all joins.
pub(crate) fn target_needs<'e>(
    targets: impl IntoIterator<Item = &'e Expr>,
) -> impl Iterator<Item = Rc<NeededExpr>> {
    targets.into_iter().map(|e| Rc::new(need(e, true)))
}

fn need(e: &Expr, always: bool) -> NeededExpr {
    let mut columns = Vec::new();
    collect(e, &mut columns);
    let operands = match e {
        Expr::OpExpr(op) => match op.args.as_slice() {
            [a, b] => Some([a, b].map(|e| (Rc::new(e.clone()), relids_of(e)))),
            _ => None,
        },
        _ => None,
    };
    NeededExpr { relids: relids_of(e), columns, always, operands }
}

/// Appends the columns of an expression.
pub(crate) fn collect(expr: &Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::Var(v) if v.varlevelsup == 0 => out.push(expr.clone()),
        _ => walk::each_child(expr, &mut |c| collect(c, out)),
    }
}

/// Adds the columns of a relation that are needed, without duplicates.
pub(crate) fn columns_of(rti: i32, needed: &[Rc<NeededExpr>], out: &mut Vec<Expr>) {
    for need in needed.iter().filter(|n| n.relids.contains(&rti)) {
        let of_relation = |e: &&Expr| matches!(e, Expr::Var(v) if v.varno == rti);
        need.columns.iter().filter(of_relation).for_each(|e| push_unique(out, e));
    }
}
