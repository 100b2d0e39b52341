//! Tables that cannot have rows that satisfy the conditions on them, because of their constraints
//! or because the conditions contradict each other. Counterpart: plancat.c
//! (`relation_excluded_by_constraints`), predtest.c (`predicate_refuted_by`).

use crate::scan::renumber;
use crate::selectivity::strip;
use crate::state::{Planner, PlannerInfo};
use eval::Volatility;
use ids::strategy::btree::{EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL};
use ids::{Oid, StrategyNumber};
use pgerror::Result;
use plan::expr::{BoolOp, Const, Expr, Location, OpExpr, ScalarArrayOpExpr};
use plan::query::RteKind;
use querytree::host::ConstraintExclusion;
use querytree::path::AppendRel;
use std::cmp::Ordering;
use types::array::ArrayRef;
use types::oids;

/// Largest number of elements of an array whose elements are compared one by one.
const ELEMENTS_MAX: usize = 100;

/// How a condition is known not to hold: false, or false or NULL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refutation {
    False,
    NotTrue,
}

impl Planner<'_> {
    /// True if a member of a table cannot have rows that satisfy the conditions `quals` on the
    /// table.
    pub(crate) fn is_member_excluded(
        &mut self,
        relid: Oid,
        member: &AppendRel,
        quals: &[Expr],
    ) -> Result<bool> {
        if quals.is_empty() || self.host.costs().constraint_exclusion == ConstraintExclusion::Off {
            return Ok(false);
        }
        let quals = member.translate_all(quals)?;
        self.is_excluded(relid, member.child, &quals, false)
    }

    /// True if the conditions on a table with members contradict each other.
    pub(crate) fn is_contradiction(&mut self, quals: &[Expr]) -> Result<bool> {
        if quals.len() < 2 || self.host.costs().constraint_exclusion == ConstraintExclusion::Off {
            return Ok(false);
        }
        let mut safe = Vec::with_capacity(quals.len());
        for q in quals {
            if self.is_immutable(q)? {
                safe.push(q.clone());
            }
        }
        for q in &safe {
            if self.refutes(&safe, q, Refutation::NotTrue)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// With `constraint_exclusion = on`: true if a table, which has no members, cannot have rows
    /// that satisfy the conditions.
    pub(crate) fn is_base_excluded(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        quals: &[Expr],
    ) -> Result<bool> {
        let is_on = self.host.costs().constraint_exclusion == ConstraintExclusion::On;
        let is_target = root.query.result_relation == rti;
        if !is_on || is_target || quals.is_empty() || root.members.trees.contains(&rti) {
            return Ok(false);
        }
        match root.query.rte(rti).kind {
            RteKind::Relation { relid, .. } => {
                Ok(self.is_contradiction(quals)? || self.is_excluded(relid, rti, quals, true)?)
            }
            _ => Ok(false),
        }
    }

    fn is_excluded(&mut self, relid: Oid, rti: i32, quals: &[Expr], is_base: bool) -> Result<bool> {
        let table = self.host.relation(relid)?;
        let is_null_only = |q: &Expr| match q {
            Expr::NullTest(n) if !n.is_not && !n.argisrow => match &n.arg {
                Expr::Var(v) if v.varattno > 0 => {
                    table.columns.get(v.varattno as usize - 1).is_some_and(|c| c.not_null)
                }
                _ => false,
            },
            _ => false,
        };
        if quals.iter().any(is_null_only) {
            return Ok(true);
        }
        let mut constraints = self.host.check_constraints(relid)?;
        if is_base {
            constraints.extend(self.host.partition_constraint(relid)?);
        }
        for constraint in constraints {
            let constraint = self.host.fold(renumber(&constraint, rti))?;
            for part in plan::walk::conjuncts(constraint) {
                if self.is_immutable(&part)? && self.refutes(quals, &part, Refutation::False)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The conditions on a partition that is partitioned itself, without the alternatives of ORs
    /// that its own partition constraint excludes; `None` if it excludes the conditions.
    /// Counterpart: partprune.c (`gen_partprune_steps_internal`).
    pub(crate) fn within_partition(
        &mut self,
        relid: Oid,
        rti: i32,
        mut quals: Vec<Expr>,
    ) -> Result<Option<Vec<Expr>>> {
        if quals.is_empty() || !self.host.costs().enable_partition_pruning {
            return Ok(Some(quals));
        }
        let mut constraint = Vec::new();
        for part in self.host.partition_constraint(relid)? {
            constraint.extend(plan::walk::conjuncts(self.host.fold(renumber(&part, rti))?));
        }
        if constraint.is_empty() {
            return Ok(Some(quals));
        }
        if self.contradicts(&quals, &constraint)? {
            return Ok(None);
        }
        for q in &mut quals {
            let Expr::Bool(b) = q else { continue };
            if b.boolop != BoolOp::Or {
                continue;
            }
            let mut arms = Vec::with_capacity(b.args.len());
            for arm in &b.args {
                if !self.contradicts(&plan::walk::conjuncts(arm.clone()), &constraint)? {
                    arms.push(arm.clone());
                }
            }
            match arms.len() {
                0 => return Ok(None),
                1 => *q = arms.remove(0),
                _ => b.args = arms,
            }
        }
        Ok(Some(quals))
    }

    /// True if no row satisfies the conditions and the constraint, which is a conjunction.
    fn contradicts(&mut self, quals: &[Expr], constraint: &[Expr]) -> Result<bool> {
        let mut safe = Vec::with_capacity(quals.len());
        for q in quals {
            if self.is_immutable(q)? {
                safe.push(q.clone());
            }
        }
        for part in constraint {
            if self.is_immutable(part)? && self.refutes(&safe, part, Refutation::False)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_immutable(&mut self, e: &Expr) -> Result<bool> {
        Ok(eval::volatility(e, self.host)? == Volatility::Immutable)
    }

    /// True if `predicate` cannot hold where all of `quals` are true.
    fn refutes(&mut self, quals: &[Expr], predicate: &Expr, how: Refutation) -> Result<bool> {
        if let Some((is_or, parts)) = self.parts_of(predicate)? {
            for part in &parts {
                if self.refutes(quals, part, how)? != is_or {
                    return Ok(!is_or);
                }
            }
            return Ok(is_or && !parts.is_empty());
        }
        for q in quals {
            if self.one_refutes(q, predicate, how)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn one_refutes(&mut self, q: &Expr, predicate: &Expr, how: Refutation) -> Result<bool> {
        if let Some((is_or, parts)) = self.parts_of(q)? {
            for part in &parts {
                if self.refutes(std::slice::from_ref(part), predicate, how)? != is_or {
                    return Ok(!is_or);
                }
            }
            return Ok(is_or && !parts.is_empty());
        }
        match (q, predicate) {
            (Expr::Bool(b), p) if b.boolop == BoolOp::Not => match b.args.as_slice() {
                [negated] => self.implies(std::slice::from_ref(p), negated),
                _ => Ok(false),
            },
            (q, Expr::Bool(b)) if b.boolop == BoolOp::Not => match b.args.as_slice() {
                [negated] => self.implies(std::slice::from_ref(q), negated),
                _ => Ok(false),
            },
            (q, Expr::NullTest(n)) if !n.is_not && !n.argisrow => self.is_strict_for(q, &n.arg),
            (Expr::NullTest(n), Expr::NullTest(m)) if !n.is_not && m.is_not => {
                Ok(!n.argisrow && !m.argisrow && strip(&n.arg) == strip(&m.arg))
            }
            (Expr::NullTest(n), p) if !n.is_not && !n.argisrow && how == Refutation::NotTrue => {
                self.is_strict_for(p, &n.arg)
            }
            (Expr::OpExpr(a), Expr::OpExpr(b)) => {
                let (a, b) = (self.with_constant_last(a)?, self.with_constant_last(b)?);
                Ok(self.compared(&a, &b)?.is_some_and(|(s, t, o)| excludes(s, t, o)))
            }
            _ => Ok(false),
        }
    }

    /// True if the condition is not true where `arg` is NULL.
    fn is_strict_for(&mut self, q: &Expr, arg: &Expr) -> Result<bool> {
        let (opno, args) = match q {
            Expr::OpExpr(op) => (op.opno, op.args.as_slice()),
            Expr::ScalarArrayOp(op) if op.use_or => (op.opno, &op.args[..1]),
            Expr::NullTest(n) if n.is_not && !n.argisrow => return Ok(strip(&n.arg) == strip(arg)),
            _ => return Ok(false),
        };
        Ok(args.iter().any(|a| strip(a) == strip(arg)) && self.host.operator(opno)?.strict)
    }

    fn with_constant_last(&mut self, op: &OpExpr) -> Result<OpExpr> {
        let has_constant_first = matches!(op.args.as_slice(), [Expr::Const(_), _]);
        if !has_constant_first || !self.host.operator(op.opno)?.commutator.is_valid() {
            return Ok(op.clone());
        }
        Ok(match self.commute(&Expr::OpExpr(Box::new(op.clone())))? {
            Expr::OpExpr(commuted) => *commuted,
            _ => op.clone(),
        })
    }

    /// The parts of a condition that are joined by OR (true) or AND (false).
    fn parts_of(&mut self, e: &Expr) -> Result<Option<(bool, Vec<Expr>)>> {
        Ok(match e {
            Expr::Bool(b) if b.boolop != BoolOp::Not => {
                Some((b.boolop == BoolOp::Or, b.args.clone()))
            }
            Expr::ScalarArrayOp(op) => self.comparisons(op)?.map(|list| (op.use_or, list)),
            _ => None,
        })
    }

    /// `x op element` for each element of a constant array.
    fn comparisons(&mut self, op: &ScalarArrayOpExpr) -> Result<Option<Vec<Expr>>> {
        let [x, Expr::Const(c)] = op.args.as_slice() else { return Ok(None) };
        if c.is_null() {
            return Ok(None);
        }
        let array = ArrayRef::new(c.value.as_ref())?;
        if array.count() == 0 || array.count() > ELEMENTS_MAX {
            return Ok(None);
        }
        let element = array.elem_type();
        let info = self.host.type_info(element)?;
        let opfuncid = self.host.operator(op.opno)?.code;
        let comparison = |value: types::Datum| {
            let constant = Expr::Const(Const {
                consttype: element,
                consttypmod: -1,
                constcollid: c.constcollid,
                constlen: info.len,
                constbyval: info.by_val,
                value,
                location: Location::UNKNOWN,
            });
            Expr::OpExpr(Box::new(OpExpr {
                opno: op.opno,
                opfuncid,
                opresulttype: oids::BOOL,
                opretset: false,
                opcollid: Oid::INVALID,
                inputcollid: op.inputcollid,
                args: vec![x.clone(), constant],
                location: Location::UNKNOWN,
            }))
        };
        Ok(Some(array.iter(&info).map(|v| comparison(v.to_owned())).collect()))
    }
}

/// True if no x satisfies `x s c` and `x t d` for strategies `s` and `t`, where `o` is the order of
/// `c` and `d`.
fn excludes(s: StrategyNumber, t: StrategyNumber, o: Ordering) -> bool {
    let has_upper = |s| matches!(s, LESS | LESS_EQUAL | EQUAL);
    let has_lower = |s| matches!(s, GREATER | GREATER_EQUAL | EQUAL);
    let is_open = |s| matches!(s, LESS | GREATER);
    let below = has_upper(s) && has_lower(t);
    let above = has_lower(s) && has_upper(t);
    match o {
        Ordering::Less => below,
        Ordering::Greater => above,
        Ordering::Equal => (below || above) && (is_open(s) || is_open(t)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_that_exclude_each_other() {
        for (p, points) in crate::derive::tests::pairs() {
            let real = !points.iter().any(|(first, second)| *first && *second);
            assert_eq!(excludes(p.s, p.t, p.c.cmp(&p.d)), real, "{p:?}");
        }
    }
}
