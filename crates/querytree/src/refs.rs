//! Replaces expressions of a plan node by references to its children's outputs. Counterpart:
//! setrefs.c.

use crate::vars::make_var;
use pgerror::{PgError, Result};
use plan::expr::{Expr, TargetEntry, Var};
use plan::node::Plan;
use plan::query::JoinType;
use plan::walk;

/// The outputs of a node's children.
///
/// INVARIANT: above an outer join, an expression over the nullable side is not replaced by a
/// reference to the value that this side computed: it must be computed from columns that may have
/// become NULL. Join conditions may use the computed value.
pub struct ChildOutputs<'a> {
    outer: Side<'a>,
    inner: Side<'a>,
}

/// The output of one child.
#[derive(Clone, Copy)]
struct Side<'a> {
    targets: &'a [TargetEntry],
    /// Only columns may be replaced by references to it.
    columns_only: bool,
}

impl Side<'_> {
    fn find(&self, e: &Expr) -> Option<&TargetEntry> {
        if self.columns_only && !matches!(e, Expr::Var(_)) {
            return None;
        }
        self.targets.iter().find(|t| t.expr == *e)
    }
}

impl<'a> ChildOutputs<'a> {
    pub fn one(outer: &'a [TargetEntry]) -> ChildOutputs<'a> {
        ChildOutputs::both(outer, &[])
    }

    pub fn both(outer: &'a [TargetEntry], inner: &'a [TargetEntry]) -> ChildOutputs<'a> {
        let side = |targets| Side { targets, columns_only: false };
        ChildOutputs { outer: side(outer), inner: side(inner) }
    }

    /// The outputs as seen by the target list and the filter above the join.
    pub fn joined(&self, jointype: JoinType) -> ChildOutputs<'a> {
        let (outer, inner) = match jointype {
            JoinType::Inner => (false, false),
            JoinType::Left | JoinType::Semi | JoinType::Anti => (false, true),
            JoinType::Right => (true, false),
            JoinType::Full => (true, true),
        };
        let side = |side: Side<'a>, columns_only| Side { columns_only, ..side };
        ChildOutputs { outer: side(self.outer, outer), inner: side(self.inner, inner) }
    }

    /// Replaces every part that a child computes by a reference to the child's output. A column
    /// that no child outputs is an internal error.
    pub fn fix(&self, expr: &Expr) -> Result<Expr> {
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

    pub fn fix_all(&self, exprs: &[Expr]) -> Result<Vec<Expr>> {
        exprs.iter().map(|e| self.fix(e)).collect()
    }

    pub fn fix_targets(&self, list: &[TargetEntry]) -> Result<Vec<TargetEntry>> {
        list.iter().map(|t| Ok(TargetEntry { expr: self.fix(&t.expr)?, ..t.clone() })).collect()
    }

    fn visit(&self, e: &mut Expr, missing: &mut Option<String>) {
        // Constants and parameters are kept as they are.
        if matches!(e, Expr::Const(_) | Expr::Param(_)) {
            return;
        }
        for (side, varno) in [(self.outer, Var::OUTER), (self.inner, Var::INNER)] {
            if let Some(t) = side.find(e) {
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

/// A reference to a child's output column.
pub fn output_of(t: &TargetEntry, varno: i32) -> Expr {
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

/// A target list of the expressions, in order.
pub fn targets_of(exprs: &[Expr]) -> Vec<TargetEntry> {
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

/// A created plan node, and its output columns as expressions over this query level.
pub struct CreatedPlan {
    pub plan: Plan,
    pub output: Vec<TargetEntry>,
}

/// A target list that returns the child's columns unchanged.
pub fn pass_through(child: &[TargetEntry]) -> Vec<TargetEntry> {
    child
        .iter()
        .map(|t| TargetEntry {
            expr: make_var(
                Var::OUTER,
                t.resno,
                t.expr.type_oid(),
                t.expr.typmod(),
                t.expr.collation(),
            ),
            ..t.clone()
        })
        .collect()
}

/// Copies names, junk flags and origins from the query's target list to the plan's.
pub fn label(plan: &mut Plan, targets: &[TargetEntry]) {
    for (have, want) in plan.info.target_list.iter_mut().zip(targets) {
        have.resname.clone_from(&want.resname);
        have.resjunk = want.resjunk;
        have.resorigtbl = want.resorigtbl;
        have.resorigcol = want.resorigcol;
        have.ressortgroupref = want.ressortgroupref;
    }
}
