//! Pushes conditions on a subquery in FROM into the subquery. Counterpart: allpaths.c
//! (`subquery_is_pushdown_safe`, `qual_is_pushdown_safe`, `subquery_push_qual`).

use crate::state::{Planner, PlannerInfo};
use eval::Volatility;
use pgerror::Result;
use plan::expr::{Expr, TargetEntry, Var};
use plan::query::{CmdType, Query, RteKind, SetOpNode, SetOperation, SortGroupClause};
use querytree::vars::{
    conjunction, contains_srf, contains_sublinks, contains_subplans, pull_vars, substitute,
};

impl Planner<'_> {
    /// Pushes conditions into the subquery of entry `rti`; returns those that cannot be pushed.
    pub(crate) fn push_into_subquery(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        quals: Vec<Expr>,
    ) -> Result<Vec<Expr>> {
        let RteKind::Subquery { subquery, security_barrier, .. } = &root.query.rte(rti).kind else {
            return Ok(quals);
        };
        if quals.is_empty() || *security_barrier || !accepts_quals(subquery) {
            return Ok(quals);
        }
        let volatile_too = !depends_on_row_count(subquery);
        let mut sub = (**subquery).clone();
        let mut stay = Vec::new();
        for q in quals {
            if self.may_move(&q, rti, &sub, volatile_too)? {
                push(&mut sub, &q);
                continue;
            }
            let planned = root.subquery_of.contains_key(&rti);
            match if planned { None } else { self.run_condition(&q, rti, &sub)? } {
                Some(run) => {
                    let input = root.subquery_inputs.entry(rti).or_default();
                    input.run_conditions.push(run.condition);
                    if run.lossy {
                        stay.push(q);
                    }
                }
                None => stay.push(q),
            }
        }
        if let RteKind::Subquery { subquery, .. } = &mut root.query.rtable[rti as usize - 1].kind {
            **subquery = sub;
        }
        Ok(stay)
    }

    fn may_move(&mut self, qual: &Expr, rti: i32, sub: &Query, volatile_too: bool) -> Result<bool> {
        let volatile = eval::volatility(qual, self.host)? == Volatility::Volatile;
        if contains_subplans(qual) || (volatile && !volatile_too) {
            return Ok(false);
        }
        let mut vars = Vec::new();
        pull_vars(qual, &mut vars);
        for v in &vars {
            let Expr::Var(v) = v else { return Ok(false) };
            if v.varno != rti || v.varattno <= 0 || !self.column_accepts_quals(sub, v)? {
                return Ok(false);
            }
        }
        Ok(volatile || !vars.is_empty())
    }

    /// True if a condition on the column may be tested before the subquery's DISTINCT, window and
    /// set operations.
    pub(crate) fn column_accepts_quals(&mut self, sub: &Query, v: &Var) -> Result<bool> {
        if let Some(tree) = &sub.set_operations {
            for leaf in leaves(tree) {
                let RteKind::Subquery { subquery, .. } = &sub.rte(leaf).kind else {
                    return Ok(false);
                };
                let Some(t) = target(subquery, v.varattno) else { return Ok(false) };
                // A type modifier changes no value.
                let same = t.expr.type_oid() == v.vartype && t.expr.collation() == v.varcollid;
                if !same || !self.column_accepts_quals(subquery, v)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let Some(t) = target(sub, v.varattno) else { return Ok(false) };
        let listed = |list: &[SortGroupClause]| {
            t.ressortgroupref != 0 && list.iter().any(|c| c.tle_sort_group_ref == t.ressortgroupref)
        };
        Ok(!contains_srf(&t.expr)
            && !contains_sublinks(&t.expr)
            && (!sub.has_distinct_on || listed(&sub.distinct_clause))
            && sub.window_clause.iter().all(|w| listed(&w.partition_clause))
            && eval::volatility(&t.expr, self.host)? != Volatility::Volatile)
    }
}

/// True if the subquery's result may be filtered by filtering its input. Counterpart:
/// `subquery_is_pushdown_safe`.
fn accepts_quals(sub: &Query) -> bool {
    if sub.command_type != CmdType::Select
        || sub.limit_offset.is_some()
        || sub.limit_count.is_some()
        // With grouping sets, a grouping column may be NULL in the result.
        || !sub.grouping_sets.is_empty()
    {
        return false;
    }
    let Some(tree) = &sub.set_operations else { return true };
    !excepts(tree)
        && leaves(tree).into_iter().all(|rti| match &sub.rte(rti).kind {
            RteKind::Subquery { subquery, .. } => {
                subquery.set_operations.is_none() && accepts_quals(subquery)
            }
            _ => false,
        })
}

/// True if the query or one of its set-operation inputs has DISTINCT, window functions or
/// set-returning functions: a volatile condition must not be evaluated before these. As in
/// PostgreSQL, UNION and INTERSECT do not count.
fn depends_on_row_count(sub: &Query) -> bool {
    let own = !sub.distinct_clause.is_empty()
        || sub.has_window_funcs
        || sub.target_list.iter().any(|t| contains_srf(&t.expr));
    let arms = sub.set_operations.as_deref().map(leaves).unwrap_or_default();
    own || arms.into_iter().any(|rti| match &sub.rte(rti).kind {
        RteKind::Subquery { subquery, .. } => depends_on_row_count(subquery),
        _ => true,
    })
}

fn excepts(node: &SetOpNode) -> bool {
    match node {
        SetOpNode::Leaf(_) => false,
        SetOpNode::Op(op) => {
            op.op == SetOperation::Except || excepts(&op.larg) || excepts(&op.rarg)
        }
    }
}

fn leaves(node: &SetOpNode) -> Vec<i32> {
    match node {
        SetOpNode::Leaf(rti) => vec![*rti],
        SetOpNode::Op(op) => op.leaves(),
    }
}

fn target(sub: &Query, attno: i16) -> Option<&TargetEntry> {
    sub.target_list.iter().find(|t| t.resno == attno && !t.resjunk)
}

/// Adds the condition to the subquery, over its own expressions.
pub(crate) fn push(sub: &mut Query, qual: &Expr) {
    if let Some(tree) = &sub.set_operations {
        for leaf in leaves(tree) {
            if let RteKind::Subquery { subquery, .. } = &mut sub.rtable[leaf as usize - 1].kind {
                push(subquery, qual);
            }
        }
        return;
    }
    let mut new = qual.clone();
    substitute(&mut new, &mut |e| match e {
        Expr::Var(v) if v.varlevelsup == 0 => target(sub, v.varattno).map(|t| t.expr.clone()),
        _ => None,
    });
    let grouped = sub.has_aggs || !sub.group_clause.is_empty() || sub.having_qual.is_some();
    let clause = if grouped { &mut sub.having_qual } else { &mut sub.jointree.quals };
    let mut parts: Vec<Expr> = clause.take().into_iter().collect();
    parts.push(new);
    *clause = conjunction(parts);
}
