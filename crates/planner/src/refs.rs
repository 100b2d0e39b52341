//! Expressions of a plan node expressed over its children's outputs. Counterpart: setrefs.c.

use pgerror::{PgError, Result};
use plan::expr::*;
use plan::walk;

/// The outputs of a node's children.
pub(crate) struct Below<'a> {
    pub outer: &'a [TargetEntry],
    pub inner: &'a [TargetEntry],
}

impl<'a> Below<'a> {
    pub(crate) fn one(outer: &'a [TargetEntry]) -> Below<'a> {
        Below { outer, inner: &[] }
    }

    /// Replaces every part that a child computes by a reference to it. Columns that no child has
    /// are an error: the planner forgot to ask for them.
    pub(crate) fn fix(&self, expr: &Expr) -> Result<Expr> {
        let mut e = expr.clone();
        let mut missing = None;
        self.visit(&mut e, &mut missing);
        match missing {
            None => Ok(e),
            Some(v) => {
                Err(PgError::internal(format!("column {v} not found in subplan target list")))
            }
        }
    }

    pub(crate) fn fix_all(&self, exprs: &[Expr]) -> Result<Vec<Expr>> {
        exprs.iter().map(|e| self.fix(e)).collect()
    }

    pub(crate) fn fix_targets(&self, list: &[TargetEntry]) -> Result<Vec<TargetEntry>> {
        list.iter().map(|t| Ok(TargetEntry { expr: self.fix(&t.expr)?, ..t.clone() })).collect()
    }

    fn visit(&self, e: &mut Expr, missing: &mut Option<String>) {
        // Constants and parameters cost nothing to repeat.
        if matches!(e, Expr::Const(_) | Expr::Param(_)) {
            return;
        }
        for (list, varno) in [(self.outer, Var::OUTER), (self.inner, Var::INNER)] {
            if let Some(t) = list.iter().find(|t| t.expr == *e) {
                *e = output_of(t, varno);
                return;
            }
        }
        if let Expr::Var(v) = e
            && v.varno > 0
        {
            *missing = Some(format!("{}.{}", v.varno, v.varattno));
            return;
        }
        walk::each_child_mut(e, &mut |c| self.visit(c, missing));
    }
}

/// The child's output as the node above reads it.
pub(crate) fn output_of(t: &TargetEntry, varno: i32) -> Expr {
    Expr::Var(Var {
        varno,
        varattno: t.resno,
        vartype: t.expr.type_oid(),
        vartypmod: t.expr.typmod(),
        varcollid: t.expr.collation(),
        varlevelsup: 0,
        location: t.expr.location(),
    })
}

/// Gives each expression a target-list place, in order.
pub(crate) fn targets_of(exprs: &[Expr]) -> Vec<TargetEntry> {
    exprs
        .iter()
        .enumerate()
        .map(|(i, e)| TargetEntry {
            expr: e.clone(),
            resno: i as i16 + 1,
            resname: None,
            ressortgroupref: 0,
            resorigtbl: ids::Oid::INVALID,
            resorigcol: 0,
            resjunk: false,
        })
        .collect()
}
