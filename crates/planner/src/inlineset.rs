//! Inlining of set-returning SQL functions in FROM as subqueries. Counterpart: prepjointree.c
//! (`preprocess_function_rtes`), clauses.c (`inline_set_returning_function`).

use crate::state::Planner;
use eval::Volatility;
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, FuncExpr, ParamKind};
use plan::levels::shift_levels_expr;
use plan::query::{Query, RangeTblFunction, RteKind};
use plan::walk;
use querytree::vars::{contains_sublinks, relids_of};
use stdx::Nested;

impl Planner<'_> {
    /// Inlines the functions in the level's range table that can be inlined.
    pub(crate) fn inline_set_functions(&mut self, query: &mut Query) -> Result<()> {
        for i in 0..query.rtable.len() {
            let RteKind::Function { functions, funcordinality: false } = &query.rtable[i].kind
            else {
                continue;
            };
            let [function] = functions.as_slice() else { continue };
            let Some((call, sub)) = self.body_of(function)? else { continue };
            let lateral = call.args.iter().any(|a| !relids_of(a).is_empty());
            let (privileges, stored_forms) = querytree::privileges::of_query(&sub, self.host)?;
            self.stored_forms |= stored_forms;
            self.privileges.relations.extend(privileges.relations);
            self.privileges.functions.extend(privileges.functions);
            let rte = &mut query.rtable[i];
            rte.lateral |= lateral;
            rte.kind = RteKind::Subquery {
                subquery: Nested::new(sub),
                security_barrier: false,
                relid: Oid::INVALID,
            };
        }
        Ok(())
    }

    /// The folded call, and the function's body with the arguments in place of its parameters.
    fn body_of(&mut self, function: &RangeTblFunction) -> Result<Option<(FuncExpr, Query)>> {
        match &function.funcexpr {
            Expr::FuncExpr(call) if call.funcretset => {}
            _ => return Ok(None),
        }
        let folded = self.host.fold_query(function.funcexpr.clone(), &|_| false)?;
        let Expr::FuncExpr(call) = folded else { return Ok(None) };
        for a in &call.args {
            // An argument may be evaluated more or less often in the body.
            if contains_sublinks(a) || eval::volatility(a, self.host)? == Volatility::Volatile {
                return Ok(None);
            }
        }
        let columns = function.defined_columns();
        let Some(mut sub) = self.host.inline_set(&call, &columns)? else {
            return Ok(None);
        };
        walk::deep_query_mut(&mut sub, 0, &mut |e, level| {
            let Expr::Param(p) = e else { return true };
            if p.paramkind != ParamKind::Extern {
                return true;
            }
            let Some(arg) = call.args.get(p.paramid as usize - 1) else { return true };
            let mut arg = arg.clone();
            shift_levels_expr(&mut arg, level as i32 + 1, 0);
            *e = arg;
            false
        });
        Ok(Some((*call, sub)))
    }
}
