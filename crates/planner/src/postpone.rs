//! Output expressions that are evaluated after the sort. Counterpart: planner.c
//! (`make_sort_input_target`).

use crate::state::{Planner, PlannerInfo};
use eval::Volatility;
use pgerror::Result;
use plan::expr::{Expr, TargetEntry};
use querytree::path::PathKey;
use querytree::vars::{contains_srf, push_unique};

impl Planner<'_> {
    /// The output expressions to evaluate after the sort: volatile ones, so that their side effects
    /// happen in the sort order; with LIMIT, also expensive ones, so that they are evaluated only
    /// for the rows returned; and set-returning ones, if no sort key is set-returning.
    pub(crate) fn after_sort(
        &mut self,
        root: &PlannerInfo,
        targets: &[TargetEntry],
        order: &[PathKey],
    ) -> Result<Vec<Expr>> {
        let mut postponed = Vec::new();
        if order.is_empty() {
            return Ok(postponed);
        }
        let few = root.wants_early_rows();
        let dear = 10.0 * self.host.costs().cpu_operator;
        let sorted_sets = order.iter().any(|k| contains_srf(&k.expr));
        for t in targets {
            let listed = targets.iter().any(|x| x.ressortgroupref != 0 && x.expr == t.expr);
            if matches!(t.expr, Expr::Var(_) | Expr::Const(_)) || listed {
                continue;
            }
            let set = contains_srf(&t.expr);
            let wait = if set {
                !sorted_sets
            } else {
                eval::volatility(&t.expr, self.host)? == Volatility::Volatile
                    || few && self.quals_cost(std::slice::from_ref(&t.expr))? > dear
            };
            if wait {
                push_unique(&mut postponed, &t.expr);
            }
        }
        Ok(postponed)
    }
}
