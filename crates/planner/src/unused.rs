//! Replaces unused columns of a subquery in FROM by NULL. Counterpart: allpaths.c
//! (`remove_unused_subquery_outputs`).

use crate::create::null_for;
use crate::setop::is_append_relation;
use crate::state::Planner;
use eval::Volatility;
use pgerror::Result;
use plan::expr::Expr;
use plan::query::{CmdType, Query, RteKind};
use plan::walk;
use querytree::pullup::lateral_exprs;
use querytree::vars::contains_srf;
use querytree::vars::node_relids;
use std::collections::BTreeSet;

impl Planner<'_> {
    /// Replaces the columns of `sub`, the subquery of entry `rti`, that `query` does not use by
    /// NULL. Columns used by DISTINCT, GROUP BY or ORDER BY, and set-returning or volatile columns
    /// are kept.
    pub(crate) fn drop_unused_columns(
        &mut self,
        query: &Query,
        rti: i32,
        sub: &mut Query,
    ) -> Result<()> {
        // Inputs of set operations are not in FROM; all their columns are used.
        let in_from = query.jointree.fromlist.iter().any(|n| node_relids(n).contains(&rti));
        if query.command_type != CmdType::Select
            || !in_from
            || sub.command_type != CmdType::Select
            || !sub.distinct_clause.is_empty()
        {
            return Ok(());
        }
        if sub.set_operations.is_some() && !is_append_relation(sub) {
            return Ok(());
        }
        let Some(mut used) = columns_used(query, rti) else { return Ok(()) };
        if sub.set_operations.is_some() {
            let sorted = sub.target_list.iter().filter(|t| t.ressortgroupref != 0);
            used.extend(sorted.map(|t| t.resno));
            for rte in &mut sub.rtable {
                if let RteKind::Subquery { subquery, .. } = &mut rte.kind
                    && subquery.set_operations.is_none()
                    && subquery.distinct_clause.is_empty()
                {
                    self.drop_columns(&used, subquery)?;
                }
            }
            return Ok(());
        }
        self.drop_columns(&used, sub)
    }

    /// Replaces the columns that are not used by NULL.
    fn drop_columns(&mut self, used: &BTreeSet<i16>, sub: &mut Query) -> Result<()> {
        for t in &mut sub.target_list {
            let free = !t.resjunk && t.ressortgroupref == 0 && !used.contains(&t.resno);
            if free
                && !matches!(t.expr, Expr::Const(_))
                && !contains_srf(&t.expr)
                && eval::volatility(&t.expr, self.host)? != Volatility::Volatile
            {
                t.expr = null_for(&t.expr);
            }
        }
        Ok(())
    }
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
