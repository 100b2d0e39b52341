//! Outputs that wait for the sort: so that they have their effects in its order and, with LIMIT, for
//! the rows that are wanted alone. Counterpart: `make_sort_input_target`.

use crate::glob::*;
use crate::path::PathKey;
use crate::vars::*;
use eval::Volatility;
use pgerror::Result;
use plan::expr::*;

impl Glob<'_> {
    /// The outputs, not sorted by, that are computed once the rows have been sorted: so that they
    /// have their effects in that order and, with LIMIT, for the rows that are wanted alone.
    pub(crate) fn after_sort(
        &mut self,
        root: &Root,
        targets: &[TargetEntry],
        order: &[PathKey],
    ) -> Result<Vec<Expr>> {
        let mut late = Vec::new();
        if order.is_empty() {
            return Ok(late);
        }
        let few = root.wants_early_rows();
        let dear = 10.0 * self.facts.costs().cpu_operator;
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
                eval::volatility(&t.expr, self.facts)? == Volatility::Volatile
                    || few && self.quals_cost(std::slice::from_ref(&t.expr))? > dear
            };
            if wait {
                push_unique(&mut late, &t.expr);
            }
        }
        Ok(late)
    }
}
