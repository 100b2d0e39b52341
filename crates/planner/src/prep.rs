//! Preparation of one query level: `WITH` queries, pull-up of sub-selects and subqueries, constant
//! folding, outer-join reduction. Counterpart: planner.c (subquery_planner), subselect.c
//! (SS_process_ctes).

use crate::state::{CtePlan, Planner, PlannerInfo};
use eval::Volatility;
use pgerror::Result;
use plan::expr::{CaseTestExpr, CoercionForm, Expr, RowExpr, SubLinkKind, SubPlan};
use plan::levels::{shift_levels_expr, shift_levels_query};
use plan::query::{
    CmdType, CommonTableExpr, CteMaterialize, JoinTreeNode, JoinType, Query, RangeTblEntry, RteKind,
};
use plan::walk;
use querytree::pullup::{pull_up_sublinks, pull_up_subqueries, refers_up};
use querytree::relids::Relids;
use querytree::vars::{
    conjunction, conjuncts, contains_aggs, contains_sublinks, contains_subplans,
};
use stdx::Nested;

impl Planner<'_> {
    /// Transforms the level's query before paths are created.
    pub(crate) fn prepare(&mut self, root: &mut PlannerInfo) -> Result<()> {
        self.inline_ctes(&mut root.query)?;
        self.plan_ctes(root)?;
        pull_up_sublinks(&mut root.query, self.host);
        self.inline_set_functions(&mut root.query)?;
        pull_up_subqueries(&mut root.query, self.host)?;
        flatten_join_vars(&mut root.query);
        if self.stored_forms {
            querytree::stored::read_stored_forms(&mut root.query);
        }
        self.find_trees(root)?;
        self.preprocess_expressions(root)?;
        self.push_having(root)?;
        self.reduce_outer_joins(root)?;
        let mut query = std::mem::take(&mut root.query);
        let removed = self.remove_useless_joins(&mut query);
        root.query = query;
        removed?;
        Ok(())
    }

    /// Replaces references to `WITH` queries that are referenced once, and have no side effects,
    /// by subqueries.
    fn inline_ctes(&mut self, query: &mut Query) -> Result<()> {
        let mut i = 0;
        while i < query.cte_list.len() {
            let cte = &query.cte_list[i];
            let once = match cte.materialized {
                CteMaterialize::Always => false,
                CteMaterialize::Never => true,
                CteMaterialize::Default => cte.refcount == 1,
            };
            let inline = once
                && !cte.recursive
                && !has_side_effects(&cte.query)
                && (cte.refcount <= 1 || !reads_outer_recursion(&cte.query))
                && cte.search.is_none()
                && cte.cycle.is_none()
                && !self.has_volatile(&cte.query)?;
            if !inline {
                i += 1;
                continue;
            }
            let cte = query.cte_list.remove(i);
            let mut stopped = None;
            inline_cte(query, &cte, 0, &mut || {
                stopped = stopped.take().or_else(|| self.host.check_interrupts().err());
                stopped.is_some()
            });
            if let Some(e) = stopped {
                return Err(e);
            }
        }
        Ok(())
    }

    /// Whether the query calls a volatile function at any level.
    pub(crate) fn has_volatile(&mut self, query: &Query) -> Result<bool> {
        Ok(eval::query_volatility(query, self.host)? == Volatility::Volatile)
    }

    /// Plans the remaining `WITH` queries, in order.
    fn plan_ctes(&mut self, root: &mut PlannerInfo) -> Result<()> {
        for cte in std::mem::take(&mut root.query.cte_list) {
            if cte.refcount == 0 && cte.query.command_type == CmdType::Select {
                continue;
            }
            let param = self.new_param(Oid::INVALID);
            let (plan, rows) = if cte.recursive && self_references(&cte) {
                self.plan_recursive(root, &cte)?
            } else {
                let input = root.child_input(0.0);
                let mut planned = self.plan_level((*cte.query).clone(), input)?;
                (self.plan_of(&mut planned)?, planned.rows)
            };
            let total = plan.info.total_cost;
            let init_of_cte = Vec::new();
            self.subplans.push(plan);
            let plan_id = self.subplans.len() as u32;
            root.init_plans.push(Expr::SubPlan(Box::new(SubPlan {
                kind: SubLinkKind::Cte,
                testexpr: None,
                param_ids: Vec::new(),
                plan_id,
                plan_name: format!("CTE {}", cte.ctename),
                first_col_type: Oid::INVALID,
                first_col_typmod: -1,
                first_col_collation: Oid::INVALID,
                use_hash_table: false,
                unknown_eq_false: false,
                set_param: vec![param],
                par_param: init_of_cte,
                args: Vec::new(),
                startup_cost: 0.0,
                per_call_cost: total,
            })));
            root.ctes.push(CtePlan { name: cte.ctename, plan_id, param, rows });
        }
        Ok(())
    }

    /// Folds every expression of the level and plans the sub-selects in it.
    fn preprocess_expressions(&mut self, root: &mut PlannerInfo) -> Result<()> {
        let mut query = std::mem::take(&mut root.query);
        if query.has_sub_links {
            for rte in &query.rtable {
                if let RteKind::Relation {
                    relid,
                    relkind: RelKind::Table | RelKind::MaterializedView,
                    ..
                } = &rte.kind
                {
                    root.calls = root.calls.max(self.host.relation(*relid)?.tuples);
                }
            }
        }
        root.not_null_extended = Relids::new();
        if query.grouping_sets.is_empty() {
            query
                .jointree
                .fromlist
                .iter()
                .for_each(|n| add_not_null_extended(n, &mut root.not_null_extended));
        }
        let mut failure = None;
        walk::query_exprs_mut(&mut query, &mut |e| {
            if failure.is_none() {
                let expr = std::mem::replace(
                    e,
                    Expr::CaseTest(CaseTestExpr {
                        typeid: Oid::INVALID,
                        typmod: -1,
                        collation: Oid::INVALID,
                    }),
                );
                match self.preprocess(root, expr) {
                    Ok(new) => *e = new,
                    Err(err) => failure = Some(err),
                }
            }
        });
        root.query = query;
        match failure {
            Some(e) => Err(e),
            None => Ok(()),
        }
    }

    pub(crate) fn preprocess(&mut self, root: &mut PlannerInfo, expr: Expr) -> Result<Expr> {
        self.host.check_interrupts()?;
        if let Expr::Var(_) | Expr::Const(_) | Expr::Param(_) = expr {
            return Ok(expr);
        }
        let mut expr = expr;
        self.fill_operator_functions(&mut expr)?;
        let present = |rti| root.not_null_extended.contains(&rti);
        let mut expr = self.host.fold_query(expr, &present)?;
        self.bound.extend(eval::bound_parts(&expr, self.host)?);
        if contains_sublinks(&expr) {
            self.plan_sublinks(root, &mut expr)?;
        }
        Ok(expr)
    }

    fn fill_operator_functions(&mut self, expr: &mut Expr) -> Result<()> {
        let mut failure = None;
        walk::deep_expr_mut(expr, 0, &mut |e, level| {
            let slot = match e {
                Expr::OpExpr(n) | Expr::Distinct(n) | Expr::NullIf(n) => (n.opno, &mut n.opfuncid),
                Expr::ScalarArrayOp(n) => (n.opno, &mut n.opfuncid),
                _ => return level == 0,
            };
            if !slot.1.is_valid() {
                match self.host.operator_function(slot.0) {
                    Ok(f) => *slot.1 = f,
                    Err(e) => failure = Some(e),
                }
            }
            level == 0
        });
        failure.map_or(Ok(()), Err)
    }

    /// Moves conditions without aggregates from HAVING to WHERE. Without GROUP BY there is one
    /// group even for no rows, so they are tested in both.
    fn push_having(&mut self, root: &mut PlannerInfo) -> Result<()> {
        if !root.query.grouping_sets.is_empty() {
            return Ok(());
        }
        let Some(having) = root.query.having_qual.take() else { return Ok(()) };
        let mut parts = Vec::new();
        conjuncts(having, &mut parts);
        let mut stay = Vec::new();
        let mut go = Vec::new();
        for p in parts {
            let volatile = eval::volatility(&p, self.host)? == Volatility::Volatile;
            if contains_aggs(&p) || contains_subplans(&p) || volatile {
                stay.push(p);
            } else {
                if root.query.group_clause.is_empty() {
                    stay.push(p.clone());
                }
                go.push(p);
            }
        }
        root.query.having_qual = conjunction(stay);
        if !go.is_empty() {
            go.splice(0..0, root.query.jointree.quals.take());
            root.query.jointree.quals = conjunction(go);
        }
        Ok(())
    }
}

use ids::{Oid, RelKind};

fn self_references(cte: &CommonTableExpr) -> bool {
    fn any(query: &Query, name: &str, level: u32) -> bool {
        query.rtable.iter().any(|r| match &r.kind {
            RteKind::Cte { ctename, ctelevelsup, self_reference, .. } => {
                *self_reference && ctename == name && *ctelevelsup >= level
            }
            RteKind::Subquery { subquery, .. } => any(subquery, name, level + 1),
            _ => false,
        }) || query.cte_list.iter().any(|c| any(&c.query, name, level + 1))
    }
    any(&cte.query, &cte.ctename, 1)
}

/// True if the query modifies or locks rows, at any depth. Counterpart: `contain_dml`.
fn has_side_effects(query: &Query) -> bool {
    query.command_type != CmdType::Select
        || !query.row_marks.is_empty()
        || any_subquery(query, &mut has_side_effects)
}

/// True if the query reads the working table of an enclosing recursive query. If it is referenced
/// twice, both references must see the same rows. Counterpart: `contain_outer_selfref`.
fn reads_outer_recursion(query: &Query) -> bool {
    fn any(query: &Query, depth: u32) -> bool {
        query.rtable.iter().any(|rte| match rte.kind {
            RteKind::Cte { self_reference, ctelevelsup, .. } => {
                self_reference && ctelevelsup >= depth
            }
            _ => false,
        }) || any_subquery(query, &mut |sub| any(sub, depth + 1))
    }
    any(query, 1)
}

/// True if `holds` is true for one of the query's subqueries in FROM, WITH or expressions.
fn any_subquery(query: &Query, holds: &mut dyn FnMut(&Query) -> bool) -> bool {
    let in_from = query.rtable.iter().any(|rte| match &rte.kind {
        RteKind::Subquery { subquery, .. } => stdx::stack::deep(|| holds(subquery)),
        _ => false,
    });
    if in_from || query.cte_list.iter().any(|c| stdx::stack::deep(|| holds(&c.query))) {
        return true;
    }
    let mut found = false;
    walk::query_exprs(query, &mut |e| {
        found = found
            || walk::any(
                e,
                &mut |e| matches!(e, Expr::SubLink(s) if stdx::stack::deep(|| holds(&s.subselect))),
            );
    });
    found
}

/// Replaces references to the `WITH` query in `query`, `level` levels below its definition.
///
/// A chain of `WITH` queries that each refer twice to the previous one grows exponentially: `stop`
/// is called before each copy.
fn inline_cte(
    query: &mut Query,
    cte: &CommonTableExpr,
    level: u32,
    stop: &mut dyn FnMut() -> bool,
) {
    let replace = |rte: &mut RangeTblEntry, stop: &mut dyn FnMut() -> bool| {
        if let RteKind::Cte { ctename, ctelevelsup, .. } = &rte.kind
            && *ctename == cte.ctename
            && *ctelevelsup == level
        {
            if stop() {
                return true;
            }
            let mut sub = (*cte.query).clone();
            if level > 0 {
                shift_levels_query(&mut sub, level as i32, 1);
            }
            rte.lateral = refers_up(&sub);
            rte.kind = RteKind::Subquery {
                subquery: Nested::new(sub),
                security_barrier: false,
                relid: Oid::INVALID,
            };
            return true;
        }
        false
    };
    for rte in &mut query.rtable {
        if !replace(rte, stop)
            && let RteKind::Subquery { subquery, .. } = &mut rte.kind
        {
            inline_cte(subquery, cte, level + 1, stop);
        }
    }
    for other in &mut query.cte_list {
        inline_cte(&mut other.query, cte, level + 1, stop);
    }
    walk::query_exprs_mut(query, &mut |e| {
        walk::deep_expr_mut(e, 0, &mut |e, depth| {
            if depth == 0
                && let Expr::SubLink(s) = e
            {
                inline_cte(&mut s.subselect, cte, level + 1, stop);
            }
            depth == 0
        });
    });
}

/// Replaces columns of joins by the columns of the joined relations. Counterpart:
/// `flatten_join_alias_vars`.
pub(crate) fn flatten_join_vars(query: &mut Query) {
    let joins: Vec<Option<Vec<Expr>>> = query
        .rtable
        .iter()
        .map(|r| match &r.kind {
            RteKind::Join { joinaliasvars, .. } => Some(joinaliasvars.clone()),
            _ => None,
        })
        .collect();
    if joins.iter().all(Option::is_none) {
        return;
    }
    // A join's column may be a column of a nested join: repeat until nothing changes.
    loop {
        let mut changed = false;
        walk::deep_query_mut(query, 0, &mut |e, level| {
            let Expr::Var(v) = e else { return true };
            if v.varlevelsup != level || v.varno <= 0 {
                return true;
            }
            let Some(Some(aliases)) = joins.get(v.varno as usize - 1) else { return true };
            let new = if v.varattno > 0 {
                aliases.get(v.varattno as usize - 1).cloned()
            } else {
                Some(Expr::Row(Box::new(RowExpr {
                    args: aliases.clone(),
                    row_typeid: v.vartype,
                    row_format: CoercionForm::ImplicitCast,
                    colnames: Vec::new(),
                    location: v.location,
                })))
            };
            if let Some(mut new) = new {
                if level > 0 {
                    shift_levels_expr(&mut new, level as i32, 0);
                }
                *e = new;
                changed = true;
            }
            true
        });
        if !changed {
            break;
        }
    }
}

/// Adds the entries that no outer join in the node can null-extend.
fn add_not_null_extended(node: &JoinTreeNode, out: &mut Relids) {
    match node {
        JoinTreeNode::Rtr(rti) => {
            out.insert(*rti);
        }
        JoinTreeNode::From(f) => f.fromlist.iter().for_each(|n| add_not_null_extended(n, out)),
        JoinTreeNode::Join(j) => {
            if matches!(j.jointype, JoinType::Inner | JoinType::Left) {
                add_not_null_extended(&j.larg, out);
            }
            if matches!(j.jointype, JoinType::Inner | JoinType::Right) {
                add_not_null_extended(&j.rarg, out);
            }
        }
    }
}
