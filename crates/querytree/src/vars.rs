//! Columns in expressions: finds the relations that an expression uses, and renumbers or replaces
//! columns. Counterpart: var.c, rewriteManip.c.

use crate::relids::Relids;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{BoolExpr, BoolOp, Expr, Location, TargetEntry, Var};
pub use plan::levels::shift_levels_expr;
use plan::query::{JoinTreeNode, Query, SortGroupClause};
use plan::walk;

/// The relations of this level whose columns the expression uses, sub-selects included.
pub fn relids_of(expr: &Expr) -> Relids {
    let mut out = Relids::new();
    collect_relids(expr, &mut out);
    out
}

pub fn relids_of_all<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> Relids {
    let mut out = Relids::new();
    exprs.into_iter().for_each(|e| collect_relids(e, &mut out));
    out
}

fn collect_relids(expr: &Expr, out: &mut Relids) {
    // SubPlans have their outer columns as arguments. SubLinks have been planned before.
    match expr {
        Expr::Var(v) if v.varlevelsup == 0 => {
            out.insert(v.varno);
        }
        Expr::CurrentOf(c) => {
            out.insert(c.cvarno);
        }
        _ => walk::each_child(expr, &mut |c| collect_relids(c, out)),
    }
}

/// Adds the expression's columns of this level to `out`, without duplicates, including those in
/// aggregates and window functions.
pub fn pull_vars(expr: &Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::Var(v) if v.varlevelsup == 0 => push_unique(out, expr),
        _ => walk::each_child(expr, &mut |c| pull_vars(c, out)),
    }
}

/// As [`pull_vars`], for the columns of one relation. The search for duplicates is quadratic, so
/// columns of other relations are not collected.
pub fn pull_vars_of(rti: i32, expr: &Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::Var(v) if v.varlevelsup == 0 => {
            if v.varno == rti {
                push_unique(out, expr);
            }
        }
        _ => walk::each_child(expr, &mut |c| pull_vars_of(rti, c, out)),
    }
}

pub fn push_unique(out: &mut Vec<Expr>, expr: &Expr) {
    if !out.contains(expr) {
        out.push(expr.clone());
    }
}

pub fn contains_aggs(expr: &Expr) -> bool {
    walk::any(expr, &mut |e| match e {
        Expr::Aggref(a) => a.agglevelsup == 0,
        Expr::GroupingFunc(g) => g.agglevelsup == 0,
        _ => false,
    })
}

pub fn contains_sublinks(expr: &Expr) -> bool {
    walk::any(expr, &mut |e| matches!(e, Expr::SubLink(_)))
}

pub fn contains_subplans(expr: &Expr) -> bool {
    walk::any(expr, &mut |e| matches!(e, Expr::SubLink(_) | Expr::SubPlan(_)))
}

/// True if the expression contains a set-returning function.
pub fn contains_srf(expr: &Expr) -> bool {
    walk::any(expr, &mut |e| match e {
        Expr::FuncExpr(f) => f.funcretset,
        Expr::OpExpr(o) => o.opretset,
        _ => false,
    })
}

/// Splits a condition into its ANDed parts.
pub fn conjuncts(expr: Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::Bool(b) if b.boolop == BoolOp::And => {
            b.args.into_iter().for_each(|a| conjuncts(a, out));
        }
        other => out.push(other),
    }
}

/// The conjunction of the parts; `None` if there are none.
pub fn conjunction(mut parts: Vec<Expr>) -> Option<Expr> {
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(Expr::Bool(Box::new(BoolExpr {
            boolop: BoolOp::And,
            args: parts,
            location: Location::UNKNOWN,
        }))),
    }
}

/// Adds `offset` to every range-table index of the query's own level, so that its range table can
/// be appended to another.
pub fn offset_query(query: &mut Query, offset: i32) {
    walk::deep_query_mut(query, 0, &mut |e, level| {
        match e {
            Expr::Var(v) if v.varlevelsup == level => v.varno += offset,
            Expr::CurrentOf(c) if level == 0 => c.cvarno += offset,
            _ => {}
        }
        true
    });
    query.jointree.fromlist.iter_mut().for_each(|n| offset_join_node(n, offset));
    query.row_marks.iter_mut().for_each(|m| m.rti += offset);
}

fn offset_join_node(node: &mut JoinTreeNode, offset: i32) {
    match node {
        JoinTreeNode::Rtr(rti) => *rti += offset,
        JoinTreeNode::From(f) => f.fromlist.iter_mut().for_each(|n| offset_join_node(n, offset)),
        JoinTreeNode::Join(j) => {
            offset_join_node(&mut j.larg, offset);
            offset_join_node(&mut j.rarg, offset);
            if j.rtindex != 0 {
                j.rtindex += offset;
            }
        }
    }
}

/// Replaces the columns of range-table entry `rti` of this level by the results of `replacement`,
/// in the whole query including sub-selects; levels are adjusted.
pub fn replace_rte_vars(query: &mut Query, rti: i32, replacement: &dyn Fn(&Var) -> Option<Expr>) {
    walk::deep_query_mut(query, 0, &mut |e, level| {
        if let Expr::Var(v) = e
            && v.varno == rti
            && v.varlevelsup == level
            && let Some(mut new) = replacement(v)
        {
            if level > 0 {
                shift_levels_expr(&mut new, level as i32, 0);
            }
            *e = new;
            return false;
        }
        true
    });
}

/// A column of a range-table entry.
pub fn make_var(rti: i32, attno: i16, ty: Oid, typmod: i32, collation: Oid) -> Expr {
    Expr::Var(Var {
        varno: rti,
        varattno: attno,
        vartype: ty,
        vartypmod: typmod,
        varcollid: collation,
        varlevelsup: 0,
        location: Location::UNKNOWN,
    })
}

/// Replaces every part of the expression for which `f` returns a substitute, outermost first.
pub fn substitute(expr: &mut Expr, f: &mut dyn FnMut(&Expr) -> Option<Expr>) {
    if let Some(new) = f(expr) {
        *expr = new;
        return;
    }
    walk::each_child_mut(expr, &mut |c| substitute(c, f));
}

/// The target-list expression of a sort or group clause. Counterpart: `get_sortgroupclause_expr`.
pub fn target_for<'t>(c: &SortGroupClause, targets: &'t [TargetEntry]) -> Result<&'t Expr> {
    targets
        .iter()
        .find(|t| t.ressortgroupref == c.tle_sort_group_ref)
        .map(|t| &t.expr)
        .ok_or_else(|| PgError::internal("ORDER/GROUP BY expression not found in targetlist"))
}

/// The relations in a node of the join tree. Counterpart: `get_relids_in_jointree`.
pub fn node_relids(node: &JoinTreeNode) -> Relids {
    let mut out = Relids::new();
    fn visit(node: &JoinTreeNode, out: &mut Relids) {
        match node {
            JoinTreeNode::Rtr(r) => {
                out.insert(*r);
            }
            JoinTreeNode::From(f) => f.fromlist.iter().for_each(|n| visit(n, out)),
            JoinTreeNode::Join(j) => {
                visit(&j.larg, out);
                visit(&j.rarg, out);
            }
        }
    }
    visit(node, &mut out);
    out
}
