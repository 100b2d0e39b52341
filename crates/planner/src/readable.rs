//! Whether an estimate may evaluate a condition's operator for values of the statistics. Otherwise
//! an operator that prints or keeps its arguments would reveal values that the user must not read.
//! Counterpart: selfuncs.c (`statistic_proc_security_check`, and where `examine_variable` sets
//! `acl_ok`).

use crate::state::{Planner, PlannerInfo};
use ids::{AttrNo, Oid};
use pgerror::Result;
use plan::expr::Expr;
use plan::query::RteKind;
use querytree::vars::{pull_vars_of, relids_of};

impl Planner<'_> {
    /// True if the columns in the expression may be read by the role as which their table is
    /// checked, or by that of its parent in the query.
    pub(crate) fn may_read(&mut self, root: &PlannerInfo, expr: &Expr) -> Result<bool> {
        let relids = relids_of(expr);
        let (Some(rti), 1) = (relids.first(), relids.len()) else { return Ok(false) };
        if let Expr::Var(v) = expr
            && matches!(root.query.rte(rti).kind, RteKind::Subquery { .. })
        {
            let planned = root.subquery_of.get(&rti).map(|i| &root.subqueries[*i]);
            let Some(level) = planned.and_then(|s| s.level.as_deref()) else { return Ok(false) };
            let mut targets = level.query.target_list.iter();
            let target = targets.find(|t| t.resno == v.varattno && !t.resjunk);
            return match target {
                Some(target) => self.may_read(level, &target.expr),
                None => Ok(false),
            };
        }
        let mut vars = Vec::new();
        pull_vars_of(rti, expr, &mut vars);
        let numbers = |vars: &[Expr]| -> Vec<AttrNo> {
            let numbers = vars.iter().filter_map(|e| match e {
                Expr::Var(v) => Some(v.varattno),
                _ => None,
            });
            numbers.collect()
        };
        let (mut rti, mut columns) = (rti, numbers(&vars));
        loop {
            let entry = root.query.rte(rti);
            let RteKind::Relation { relid, .. } = entry.kind else { return Ok(false) };
            let is_restricted = !entry.security_quals.is_empty();
            if !is_restricted && self.may_select_all(relid, &columns, entry.check_as_user)? {
                return Ok(true);
            }
            let mut members = root.members.append_rels.iter();
            let Some(member) = members.find(|m| m.child == rti && m.parent > 0) else {
                return Ok(false);
            };
            let of_parent = |n: &AttrNo| {
                let is_column = |e: &Expr| matches!(e, Expr::Var(v) if v.varattno == *n);
                member.columns.iter().position(is_column).map(|at| at as AttrNo + 1)
            };
            let Some(of_parent) = columns.iter().map(of_parent).collect() else {
                return Ok(false);
            };
            (rti, columns) = (member.parent, of_parent);
        }
    }

    fn may_select_all(&mut self, relid: Oid, columns: &[AttrNo], role: Oid) -> Result<bool> {
        // Without columns the host would ask for the whole table, which the whole-row column needs.
        let columns = if columns.contains(&0) { &[] } else { columns };
        self.host.may_select(relid, columns, role)
    }
}
