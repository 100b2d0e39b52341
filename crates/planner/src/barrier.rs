//! The order of the conditions on a relation that is changed through security-barrier views: the
//! conditions of these views come before those that may reveal rows which the views hide.
//! Counterpart: the security levels of `order_qual_clauses` in createplan.c, `contain_leaked_vars`
//! in clauses.c.

use crate::state::{Planner, PlannerInfo};
use pgerror::Result;
use plan::expr::Expr;
use plan::walk;
use querytree::path::Path;
use querytree::vars::{conjuncts, contains_subplans, relids_of, substitute};

/// A condition is evaluated before the views' conditions up to this multiple of the cost of an
/// operator, if it is leakproof.
const CHEAP_OPERATORS: f64 = 10.0;

impl Planner<'_> {
    /// The conditions of a scan in the order of their security levels, and of their costs within a
    /// level; `None` if the relation is not changed through a security-barrier view.
    pub(crate) fn barriers_first(
        &mut self,
        root: &PlannerInfo,
        path: &Path,
        quals: &[Expr],
    ) -> Result<Option<Vec<Expr>>> {
        let is_restricted = |entry: &plan::query::RangeTblEntry| !entry.security_quals.is_empty();
        if quals.len() < 2 || !root.query.rtable.iter().any(is_restricted) {
            return Ok(None);
        }
        let (Some(rti), 1) = (path.relids.first(), path.relids.len()) else { return Ok(None) };
        let levels = self.barriers(root, rti)?;
        if levels.is_empty() {
            return Ok(None);
        }
        let unit = self.host.costs().cpu_operator;
        let mut ranked = Vec::with_capacity(quals.len());
        for q in quals {
            let cost = self.expr_cost(q, unit)?;
            let own = levels.iter().position(|conditions| conditions.contains(q));
            // Sub-selects of the views are not recognized.
            let is_first =
                contains_subplans(q) || cost <= CHEAP_OPERATORS * unit && !self.reveals(q)?;
            let level = if is_first { 0 } else { own.unwrap_or(levels.len()) };
            ranked.push((level, cost, own.unwrap_or(levels.len()), q));
        }
        ranked.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        Ok(Some(ranked.into_iter().map(|(_, _, _, q)| q.clone()).collect()))
    }

    /// The conditions of the views on a relation, or on the parent of a member, for each view.
    fn barriers(&mut self, root: &PlannerInfo, rti: i32) -> Result<Vec<Vec<Expr>>> {
        let mut members = root.members.append_rels.iter();
        let parent = members.find(|m| m.child == rti && m.parent > 0);
        let mut levels = Vec::new();
        for condition in &root.query.rte(rti).security_quals {
            let mut parts = Vec::new();
            conjuncts(self.host.fold(condition.clone())?, &mut parts);
            levels.push(parts);
        }
        let Some(member) = parent.filter(|_| levels.is_empty()) else { return Ok(levels) };
        for parts in &mut self.barriers(root, member.parent)? {
            for part in parts.iter_mut() {
                substitute(part, &mut |e| match e {
                    Expr::Var(v) if v.varno == member.parent && v.varattno > 0 => {
                        member.columns.get(v.varattno as usize - 1).cloned()
                    }
                    _ => None,
                });
            }
            levels.push(std::mem::take(parts));
        }
        Ok(levels)
    }

    /// True if a function or operator in the expression may reveal values of columns otherwise than
    /// by its result.
    fn reveals(&mut self, e: &Expr) -> Result<bool> {
        let is_safe = match e {
            Expr::FuncExpr(f) => self.host.function_is_leakproof(f.funcid)?,
            Expr::OpExpr(op) => self.host.operator(op.opno)?.leakproof,
            Expr::ScalarArrayOp(op) => self.host.operator(op.opno)?.leakproof,
            Expr::Var(_)
            | Expr::Const(_)
            | Expr::Param(_)
            | Expr::Bool(_)
            | Expr::Relabel(_)
            | Expr::NullTest(_)
            | Expr::BooleanTest(_)
            | Expr::Case(_)
            | Expr::CaseTest(_)
            | Expr::Coalesce(_) => true,
            _ => false,
        };
        if !is_safe {
            return Ok(!relids_of(e).is_empty());
        }
        let mut parts = Vec::new();
        walk::each_child(e, &mut |child| parts.push(child));
        for part in parts {
            if self.reveals(part)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
