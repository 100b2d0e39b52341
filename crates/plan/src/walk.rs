//! Visiting and rewriting expression trees. Counterpart: nodeFuncs.c (walkers and mutators).
//!
//! [`each_child`] and [`each_child_mut`] visit one level: the visitor decides about each child and
//! recurses itself, so that it can count the depth and carry its own context.

mod children;

use crate::expr::{Const, Expr};
use crate::query::{FromExpr, JoinTreeNode, Query, RangeTblEntry, RteKind};
use children::Children;
use ids::{AttrNo, Oid};
use stdx::stack::deep;
use types::Datum;

/// Calls `f` on each direct sub-expression, in evaluation order. Sub-selects of SubLinks are not
/// entered (their test expressions are).
pub fn each_child<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    macro_rules! visit {
        ($($(#[$doc:meta])* $variant:ident($ty:ty) $($label:literal)*,)*) => {
            match expr {
                $(Expr::$variant(n) => n.each(f),)*
            }
        };
    }
    expression_variants!(visit)
}

/// As [`each_child`], mutable.
pub fn each_child_mut(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    macro_rules! visit {
        ($($(#[$doc:meta])* $variant:ident($ty:ty) $($label:literal)*,)*) => {
            match expr {
                $(Expr::$variant(n) => n.each_mut(f),)*
            }
        };
    }
    expression_variants!(visit)
}

/// True if `found` holds for the expression or any part of it. Sub-selects are not entered.
pub fn any(expr: &Expr, found: &mut dyn FnMut(&Expr) -> bool) -> bool {
    if found(expr) {
        return true;
    }
    let mut hit = false;
    each_child(expr, &mut |c| hit = hit || any(c, found));
    hit
}

/// Adds the sub-selects of the expression to `out`; sub-selects nested in them are left out.
pub fn sub_selects<'a>(expr: &'a Expr, out: &mut Vec<&'a Query>) {
    if let Expr::SubLink(link) = expr {
        out.push(&link.subselect);
    }
    each_child(expr, &mut |c| sub_selects(c, out));
}

/// Replaces `tableoid` by the table's OID, for an expression that is evaluated on rows being
/// written: such rows have no system columns.
pub fn fix_tableoid(expr: &mut Expr, table: Oid) {
    const TABLEOID: AttrNo = -6;
    match expr {
        Expr::Var(v) if v.varattno == TABLEOID && v.varlevelsup == 0 => {
            *expr = Expr::Const(Const {
                consttype: v.vartype,
                consttypmod: -1,
                constcollid: Oid::INVALID,
                constlen: 4,
                constbyval: true,
                value: Datum::Word(u64::from(table.0)),
                location: v.location,
            });
        }
        _ => each_child_mut(expr, &mut |c| fix_tableoid(c, table)),
    }
}

/// Visits an expression and all its parts top-down, sub-selects included. `f` gets each node with
/// its query level (`level` at the start, one more in each sub-select) and returns whether to visit
/// the node's children.
pub fn deep_expr_mut(expr: &mut Expr, level: u32, f: &mut dyn FnMut(&mut Expr, u32) -> bool) {
    if !f(expr, level) {
        return;
    }
    each_child_mut(expr, &mut |c| deep_expr_mut(c, level, f));
    if let Expr::SubLink(n) = expr {
        deep_query_mut(&mut n.subselect, level + 1, f);
    }
}

/// Visits every expression of a query as [`deep_expr_mut`] does; `level` is the query's own.
pub fn deep_query_mut(query: &mut Query, level: u32, f: &mut dyn FnMut(&mut Expr, u32) -> bool) {
    deep(|| query_parts_mut(query, level, f));
}

fn query_parts_mut(query: &mut Query, level: u32, f: &mut dyn FnMut(&mut Expr, u32) -> bool) {
    query_exprs_mut(query, &mut |e| deep_expr_mut(e, level, f));
    for cte in &mut query.cte_list {
        deep_query_mut(&mut cte.query, level + 1, f);
    }
    for rte in &mut query.rtable {
        if let RteKind::Subquery { subquery, .. } = &mut rte.kind {
            deep_query_mut(subquery, level + 1, f);
        }
    }
}

/// As [`deep_expr_mut`], read-only.
pub fn deep_expr(expr: &Expr, level: u32, f: &mut dyn FnMut(&Expr, u32) -> bool) {
    if !f(expr, level) {
        return;
    }
    each_child(expr, &mut |c| deep_expr(c, level, f));
    if let Expr::SubLink(n) = expr {
        deep_query(&n.subselect, level + 1, f);
    }
}

/// As [`deep_query_mut`], read-only.
pub fn deep_query(query: &Query, level: u32, f: &mut dyn FnMut(&Expr, u32) -> bool) {
    deep(|| {
        query_exprs(query, &mut |e| deep_expr(e, level, f));
        for cte in &query.cte_list {
            deep_query(&cte.query, level + 1, f);
        }
        for rte in &query.rtable {
            if let RteKind::Subquery { subquery, .. } = &rte.kind {
                deep_query(subquery, level + 1, f);
            }
        }
    });
}

/// The operands of a top-level AND.
pub fn conjuncts(e: Expr) -> Vec<Expr> {
    match e {
        Expr::Bool(b) if b.boolop == crate::expr::BoolOp::And => {
            b.args.into_iter().flat_map(conjuncts).collect()
        }
        e => vec![e],
    }
}

/// Calls `f` on each top-level expression of the query's own level.
pub fn query_exprs_mut(query: &mut Query, f: &mut dyn FnMut(&mut Expr)) {
    for t in query.target_list.iter_mut().chain(&mut query.returning_list) {
        f(&mut t.expr);
    }
    jointree_exprs_mut(&mut query.jointree, f);
    query.having_qual.iter_mut().for_each(&mut *f);
    query.limit_offset.iter_mut().for_each(&mut *f);
    query.limit_count.iter_mut().for_each(&mut *f);
    for w in &mut query.window_clause {
        w.start_offset.iter_mut().for_each(&mut *f);
        w.end_offset.iter_mut().for_each(&mut *f);
    }
    for w in &mut query.with_check_options {
        w.qual.iter_mut().for_each(&mut *f);
    }
    if let Some(c) = &mut query.on_conflict {
        c.arbiter_elems.iter_mut().for_each(|e| f(&mut e.expr));
        c.arbiter_where.iter_mut().for_each(&mut *f);
        c.on_conflict_set.iter_mut().for_each(|t| f(&mut t.expr));
        c.on_conflict_where.iter_mut().for_each(&mut *f);
        c.excl_rel_tlist.iter_mut().for_each(|t| f(&mut t.expr));
    }
    for action in &mut query.merge_actions {
        action.condition.iter_mut().for_each(&mut *f);
        action.target_list.iter_mut().for_each(|t| f(&mut t.expr));
    }
    for rte in &mut query.rtable {
        rte_exprs_mut(rte, f);
    }
}

/// Calls `f` on each expression of a range-table entry, but not on those of a subquery.
pub fn rte_exprs_mut(rte: &mut RangeTblEntry, f: &mut dyn FnMut(&mut Expr)) {
    rte.security_quals.iter_mut().for_each(&mut *f);
    match &mut rte.kind {
        RteKind::Relation { tablesample: Some(s), .. } => {
            s.args.iter_mut().for_each(&mut *f);
            s.repeatable.iter_mut().for_each(f);
        }
        RteKind::Join { joinaliasvars, .. } => joinaliasvars.iter_mut().for_each(f),
        RteKind::Function { functions, .. } => {
            functions.iter_mut().for_each(|rf| f(&mut rf.funcexpr));
        }
        RteKind::Values { values_lists, .. } => values_lists.iter_mut().flatten().for_each(f),
        RteKind::TableFunc(t) => t.exprs_mut().for_each(f),
        _ => {}
    }
}

/// Calls `f` on each condition of a FROM clause, innermost first.
pub fn jointree_exprs_mut(from: &mut FromExpr, f: &mut dyn FnMut(&mut Expr)) {
    for node in &mut from.fromlist {
        join_node_exprs_mut(node, f);
    }
    from.quals.iter_mut().for_each(f);
}

fn join_node_exprs_mut(node: &mut JoinTreeNode, f: &mut dyn FnMut(&mut Expr)) {
    match node {
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::From(from) => jointree_exprs_mut(from, f),
        JoinTreeNode::Join(j) => {
            join_node_exprs_mut(&mut j.larg, f);
            join_node_exprs_mut(&mut j.rarg, f);
            j.quals.iter_mut().for_each(f);
        }
    }
}

/// As [`query_exprs_mut`], read-only.
pub fn query_exprs<'a>(query: &'a Query, f: &mut dyn FnMut(&'a Expr)) {
    clause_exprs(query, f);
    for rte in &query.rtable {
        if let RteKind::Join { joinaliasvars, .. } = &rte.kind {
            joinaliasvars.iter().for_each(&mut *f);
        }
    }
}

/// As [`query_exprs`], without the alias variables of joins.
pub fn clause_exprs<'a>(query: &'a Query, f: &mut dyn FnMut(&'a Expr)) {
    for t in query.target_list.iter().chain(&query.returning_list) {
        f(&t.expr);
    }
    jointree_exprs(&query.jointree, f);
    query.having_qual.iter().for_each(&mut *f);
    query.limit_offset.iter().for_each(&mut *f);
    query.limit_count.iter().for_each(&mut *f);
    for w in &query.window_clause {
        w.start_offset.iter().for_each(&mut *f);
        w.end_offset.iter().for_each(&mut *f);
    }
    for w in &query.with_check_options {
        w.qual.iter().for_each(&mut *f);
    }
    if let Some(c) = &query.on_conflict {
        c.arbiter_elems.iter().for_each(|e| f(&e.expr));
        c.arbiter_where.iter().for_each(&mut *f);
        c.on_conflict_set.iter().for_each(|t| f(&t.expr));
        c.on_conflict_where.iter().for_each(&mut *f);
        c.excl_rel_tlist.iter().for_each(|t| f(&t.expr));
    }
    for action in &query.merge_actions {
        action.condition.iter().for_each(&mut *f);
        action.target_list.iter().for_each(|t| f(&t.expr));
    }
    for rte in &query.rtable {
        rte.security_quals.iter().for_each(&mut *f);
        match &rte.kind {
            RteKind::Relation { tablesample: Some(s), .. } => {
                s.args.iter().for_each(&mut *f);
                s.repeatable.iter().for_each(&mut *f);
            }
            RteKind::Function { functions, .. } => functions.iter().for_each(|x| f(&x.funcexpr)),
            RteKind::Values { values_lists, .. } => values_lists.iter().flatten().for_each(&mut *f),
            RteKind::TableFunc(t) => t.exprs().for_each(&mut *f),
            _ => {}
        }
    }
}

fn jointree_exprs<'a>(from: &'a FromExpr, f: &mut dyn FnMut(&'a Expr)) {
    from.fromlist.iter().for_each(|n| join_node_exprs(n, f));
    from.quals.iter().for_each(f);
}

fn join_node_exprs<'a>(node: &'a JoinTreeNode, f: &mut dyn FnMut(&'a Expr)) {
    match node {
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::From(from) => jointree_exprs(from, f),
        JoinTreeNode::Join(j) => {
            join_node_exprs(&j.larg, f);
            join_node_exprs(&j.rarg, f);
            j.quals.iter().for_each(f);
        }
    }
}
