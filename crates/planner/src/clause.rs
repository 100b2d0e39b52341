//! Join clauses with cached properties: the search of join orders needs the same properties for
//! each pair of sets. Counterpart: restrictinfo.c (`RestrictInfo`).

use crate::join::JoinRel;
use crate::merge::MergeClause;
use crate::state::{Planner, PlannerInfo};
use eval::Volatility;
use pgerror::Result;
use plan::expr::{Expr, OpExpr};
use querytree::relids::Relids;
use querytree::vars::relids_of;
use std::rc::Rc;

/// A condition tested by a join.
pub(crate) struct Clause {
    pub expr: Rc<Expr>,
    pub relids: Relids,
    /// Cost of the test for one row.
    pub cost: f64,
    pub selectivity: f64,
    /// It bounds a column by a constant. The selectivity of a pair of such conditions is estimated
    /// together.
    is_range: bool,
    /// Equivalence class (`equivalence`).
    pub class: Option<usize>,
    /// Set if it is a binary operator with columns in both operands, without volatile functions.
    comparison: Option<Comparison>,
}

struct Comparison {
    left: Relids,
    right: Relids,
    can_hash: bool,
    can_merge: bool,
    /// The condition with its operands exchanged, if the operator has a commutator.
    commuted: Option<Rc<Expr>>,
    /// The merge clause: as written, and with the operands exchanged.
    merge: [Option<MergeClause>; 2],
}

/// Join conditions, combined by AND.
pub(crate) type Clauses = [Rc<Clause>];

impl Clause {
    /// The comparison, and whether its left operand belongs to the outer side; `None` unless one
    /// operand has columns of `l` only and the other of `r` only. Counterpart: `can_join` and
    /// `clause_sides_match_join`.
    fn across(&self, l: &JoinRel, r: &JoinRel) -> Option<(&Comparison, bool)> {
        let c = self.comparison.as_ref()?;
        if c.left.is_subset(&l.relids) && c.right.is_subset(&r.relids) {
            Some((c, true))
        } else if c.left.is_subset(&r.relids) && c.right.is_subset(&l.relids) {
            Some((c, false))
        } else {
            None
        }
    }

    /// Whether the left operand belongs to the outer side; `None` unless each side has one operand.
    pub(crate) fn is_as_written(&self, l: &JoinRel, r: &JoinRel) -> Option<bool> {
        self.across(l, r).map(|(_, as_written)| as_written)
    }

    /// The condition with the outer side on the left, if a hash join can use it.
    pub(crate) fn for_hash(&self, l: &JoinRel, r: &JoinRel) -> Option<Rc<Expr>> {
        match self.across(l, r)? {
            (c, true) if c.can_hash => Some(self.expr.clone()),
            (c, false) if c.can_hash => c.commuted.clone(),
            _ => None,
        }
    }

    /// The condition with the outer side on the left, if a merge join can use it.
    pub(crate) fn for_merge(&self, l: &JoinRel, r: &JoinRel) -> Option<&MergeClause> {
        let (c, as_written) = self.across(l, r)?;
        c.merge[usize::from(!as_written)].as_ref()
    }

    /// True if a merge join can test the condition: it is a constant, or its operator is
    /// mergejoinable and each side of the join has one of its operands.
    pub(crate) fn is_mergeable(&self, l: &JoinRel, r: &JoinRel) -> bool {
        matches!(*self.expr, Expr::Const(_)) || self.across(l, r).is_some_and(|(c, _)| c.can_merge)
    }
}

impl Planner<'_> {
    /// Computes the properties of conditions. The sizes of all relations in them must be known.
    pub(crate) fn clauses<'e>(
        &mut self,
        root: &PlannerInfo,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Vec<Rc<Clause>>> {
        exprs.into_iter().map(|e| Ok(Rc::new(self.clause(root, e)?))).collect()
    }

    fn clause(&mut self, root: &PlannerInfo, expr: &Expr) -> Result<Clause> {
        let comparison = match expr {
            Expr::OpExpr(op) => self.comparison(root, op, expr)?,
            _ => None,
        };
        Ok(Clause {
            relids: relids_of(expr),
            cost: self.quals_cost(std::slice::from_ref(expr))?,
            selectivity: self.selectivity(root, expr)?,
            is_range: self.range_part(root, expr)?.is_some(),
            class: root.class_of_equality(expr),
            comparison,
            expr: Rc::new(expr.clone()),
        })
    }

    fn comparison(
        &mut self,
        root: &PlannerInfo,
        op: &OpExpr,
        expr: &Expr,
    ) -> Result<Option<Comparison>> {
        let [a, b] = op.args.as_slice() else { return Ok(None) };
        let (left, right) = (relids_of(a), relids_of(b));
        if left.is_empty() || right.is_empty() {
            return Ok(None);
        }
        // A hash or merge join evaluates the operands once for each row of its input.
        if eval::volatility(expr, self.host)? == Volatility::Volatile {
            return Ok(None);
        }
        let info = self.host.operator(op.opno)?;
        let commuted = match info.commutator.is_valid() {
            true => Some(self.commute(expr)?),
            false => None,
        };
        let mut merge = [None, None];
        if info.can_merge {
            merge[0] = self.merge_clause(root, expr)?;
            if let Some(commuted) = &commuted {
                merge[1] = self.merge_clause(root, commuted)?;
            }
        }
        Ok(Some(Comparison {
            left,
            right,
            can_hash: self.can_hash(op)?,
            can_merge: info.can_merge,
            commuted: commuted.map(Rc::new),
            merge,
        }))
    }

    /// Selectivity of all conditions.
    pub(crate) fn clauses_selectivity(
        &mut self,
        root: &PlannerInfo,
        clauses: &Clauses,
    ) -> Result<f64> {
        if clauses.iter().filter(|c| c.is_range).count() > 1 {
            let exprs: Vec<Expr> = clauses.iter().map(|c| (*c.expr).clone()).collect();
            return self.selectivity_all(root, &exprs);
        }
        Ok(clauses.iter().map(|c| c.selectivity).product::<f64>().clamp(0.0, 1.0))
    }
}
