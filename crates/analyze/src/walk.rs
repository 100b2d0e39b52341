//! Walks the expressions of whole queries, sub-selects included, and counts query levels.
//! Counterpart: nodes/nodeFuncs.c (`query_tree_walker`), rewrite/rewriteManip.c.

use plan::expr::Expr;
use plan::query::{JoinTreeNode, Query, RteKind};
use plan::walk::{each_child, each_child_mut};
use stdx::stack::deep;

/// Visits each expression; `up` is the number of sub-selects that enclose it. If `f` returns false,
/// the children of the node are skipped.
pub fn expr_deep(expr: &Expr, up: u32, f: &mut dyn FnMut(&Expr, u32) -> bool) {
    if !f(expr, up) {
        return;
    }
    each_child(expr, &mut |c| expr_deep(c, up, f));
    if let Expr::SubLink(link) = expr {
        query_deep(&link.subselect, up + 1, f);
    }
}

/// All expressions of a query and of the queries in it.
pub fn query_deep(query: &Query, up: u32, f: &mut dyn FnMut(&Expr, u32) -> bool) {
    deep(|| query_parts(query, up, f));
}

fn query_parts(query: &Query, up: u32, f: &mut dyn FnMut(&Expr, u32) -> bool) {
    for target in query.target_list.iter().chain(&query.returning_list) {
        expr_deep(&target.expr, up, f);
    }
    for item in &query.jointree.fromlist {
        jointree_deep(item, up, f);
    }
    let single =
        [&query.jointree.quals, &query.having_qual, &query.limit_offset, &query.limit_count];
    for expr in single.into_iter().flatten() {
        expr_deep(expr, up, f);
    }
    for window in &query.window_clause {
        for expr in [&window.start_offset, &window.end_offset].into_iter().flatten() {
            expr_deep(expr, up, f);
        }
    }
    if let Some(conflict) = &query.on_conflict {
        for elem in &conflict.arbiter_elems {
            expr_deep(&elem.expr, up, f);
        }
        for target in &conflict.on_conflict_set {
            expr_deep(&target.expr, up, f);
        }
        for expr in [&conflict.arbiter_where, &conflict.on_conflict_where].into_iter().flatten() {
            expr_deep(expr, up, f);
        }
    }
    for action in &query.merge_actions {
        for expr in action.condition.iter().chain(action.target_list.iter().map(|t| &t.expr)) {
            expr_deep(expr, up, f);
        }
    }
    for rte in &query.rtable {
        match &rte.kind {
            RteKind::Subquery { subquery, .. } => query_deep(subquery, up + 1, f),
            RteKind::Function { functions, .. } => {
                for function in functions {
                    expr_deep(&function.funcexpr, up, f);
                }
            }
            RteKind::Values { values_lists, .. } => {
                for expr in values_lists.iter().flatten() {
                    expr_deep(expr, up, f);
                }
            }
            RteKind::Relation { tablesample: Some(sample), .. } => {
                for expr in sample.args.iter().chain(&sample.repeatable) {
                    expr_deep(expr, up, f);
                }
            }
            RteKind::TableFunc(t) => t.exprs().for_each(|e| expr_deep(e, up, f)),
            // The alias variables of joins are copies of expressions that are visited elsewhere.
            _ => {}
        }
    }
    for cte in &query.cte_list {
        query_deep(&cte.query, up + 1, f);
    }
}

fn jointree_deep(node: &JoinTreeNode, up: u32, f: &mut dyn FnMut(&Expr, u32) -> bool) {
    match node {
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::Join(join) => {
            jointree_deep(&join.larg, up, f);
            jointree_deep(&join.rarg, up, f);
            if let Some(quals) = &join.quals {
                expr_deep(quals, up, f);
            }
        }
        JoinTreeNode::From(from) => {
            for item in &from.fromlist {
                jointree_deep(item, up, f);
            }
            if let Some(quals) = &from.quals {
                expr_deep(quals, up, f);
            }
        }
    }
}

/// As [`expr_deep`], for functions that change the nodes. Children are visited after their parent.
pub fn expr_deep_mut(expr: &mut Expr, up: u32, f: &mut dyn FnMut(&mut Expr, u32) -> bool) {
    if !f(expr, up) {
        return;
    }
    each_child_mut(expr, &mut |c| expr_deep_mut(c, up, f));
    if let Expr::SubLink(link) = expr {
        query_deep_mut(&mut link.subselect, up + 1, f);
    }
}

/// As [`query_deep`], for functions that change the nodes. The alias variables of joins are visited
/// too.
pub fn query_deep_mut(query: &mut Query, up: u32, f: &mut dyn FnMut(&mut Expr, u32) -> bool) {
    deep(|| query_parts_mut(query, up, f));
}

fn query_parts_mut(query: &mut Query, up: u32, f: &mut dyn FnMut(&mut Expr, u32) -> bool) {
    for target in query.target_list.iter_mut().chain(&mut query.returning_list) {
        expr_deep_mut(&mut target.expr, up, f);
    }
    for item in &mut query.jointree.fromlist {
        jointree_deep_mut(item, up, f);
    }
    let single = [
        &mut query.jointree.quals,
        &mut query.having_qual,
        &mut query.limit_offset,
        &mut query.limit_count,
    ];
    for expr in single.into_iter().flatten() {
        expr_deep_mut(expr, up, f);
    }
    for window in &mut query.window_clause {
        for expr in [&mut window.start_offset, &mut window.end_offset].into_iter().flatten() {
            expr_deep_mut(expr, up, f);
        }
    }
    if let Some(conflict) = &mut query.on_conflict {
        for elem in &mut conflict.arbiter_elems {
            expr_deep_mut(&mut elem.expr, up, f);
        }
        for target in conflict.on_conflict_set.iter_mut().chain(&mut conflict.excl_rel_tlist) {
            expr_deep_mut(&mut target.expr, up, f);
        }
        let single = [&mut conflict.arbiter_where, &mut conflict.on_conflict_where];
        for expr in single.into_iter().flatten() {
            expr_deep_mut(expr, up, f);
        }
    }
    for action in &mut query.merge_actions {
        let list = action.target_list.iter_mut().map(|t| &mut t.expr);
        for expr in action.condition.iter_mut().chain(list) {
            expr_deep_mut(expr, up, f);
        }
    }
    for rte in &mut query.rtable {
        for qual in &mut rte.security_quals {
            expr_deep_mut(qual, up, f);
        }
        match &mut rte.kind {
            RteKind::Subquery { subquery, .. } => query_deep_mut(subquery, up + 1, f),
            RteKind::Function { functions, .. } => {
                for function in functions {
                    expr_deep_mut(&mut function.funcexpr, up, f);
                }
            }
            RteKind::Values { values_lists, .. } => {
                for expr in values_lists.iter_mut().flatten() {
                    expr_deep_mut(expr, up, f);
                }
            }
            RteKind::Join { joinaliasvars, .. } => {
                for expr in joinaliasvars {
                    expr_deep_mut(expr, up, f);
                }
            }
            RteKind::TableFunc(t) => t.exprs_mut().for_each(|e| expr_deep_mut(e, up, f)),
            RteKind::Relation { tablesample: Some(sample), .. } => {
                for expr in sample.args.iter_mut().chain(&mut sample.repeatable) {
                    expr_deep_mut(expr, up, f);
                }
            }
            _ => {}
        }
    }
    for cte in &mut query.cte_list {
        query_deep_mut(&mut cte.query, up + 1, f);
    }
    for check in &mut query.with_check_options {
        if let Some(qual) = &mut check.qual {
            expr_deep_mut(qual, up, f);
        }
    }
}

fn jointree_deep_mut(node: &mut JoinTreeNode, up: u32, f: &mut dyn FnMut(&mut Expr, u32) -> bool) {
    match node {
        JoinTreeNode::Rtr(_) => {}
        JoinTreeNode::Join(join) => {
            jointree_deep_mut(&mut join.larg, up, f);
            jointree_deep_mut(&mut join.rarg, up, f);
            if let Some(quals) = &mut join.quals {
                expr_deep_mut(quals, up, f);
            }
        }
        JoinTreeNode::From(from) => {
            for item in &mut from.fromlist {
                jointree_deep_mut(item, up, f);
            }
            if let Some(quals) = &mut from.quals {
                expr_deep_mut(quals, up, f);
            }
        }
    }
}

/// Whether the expression contains a window function.
pub fn contains_window(expr: &Expr) -> bool {
    plan::walk::any(expr, &mut |e| matches!(e, Expr::WindowFunc(_)))
}

/// Whether the expression, its sub-selects included, contains an aggregate of this query level.
pub fn contains_aggs(expr: &Expr) -> bool {
    contains_aggs_of_level(expr, 0)
}

/// Whether the expression contains an aggregate of the query `level` levels above.
pub fn contains_aggs_of_level(expr: &Expr, level: u32) -> bool {
    let mut hit = false;
    expr_deep(expr, level, &mut |e, up| {
        match e {
            Expr::Aggref(a) if a.agglevelsup == up => hit = true,
            Expr::GroupingFunc(g) if g.agglevelsup == up => hit = true,
            _ => {}
        }
        !hit
    });
    hit
}

/// Whether the expression contains a variable of the query `level` levels above.
pub fn contains_vars_of_level(expr: &Expr, level: u32) -> bool {
    let mut hit = false;
    expr_deep(expr, level, &mut |e, up| {
        match e {
            Expr::Var(v) if v.varlevelsup == up => hit = true,
            Expr::CurrentOf(_) if up == level => hit = true,
            _ => {}
        }
        !hit
    });
    hit
}
