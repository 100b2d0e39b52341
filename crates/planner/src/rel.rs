//! Base relations and their size estimates. Counterpart: relnode.c, plancat.c, costsize.c
//! (set_*_size_estimates).

use crate::need::{NeededExpr, columns_of};
use crate::selectivity::{array_len, strip};
use crate::state::{BaseRel, Planner, PlannerInfo};
use ids::builtin::proc;
use pgerror::{PgError, Result};
use plan::expr::{Expr, ParamKind};
use plan::query::{RangeTblEntry, RteKind, TableSample};
use querytree::relids::Relids;
use querytree::vars::relids_of_all;
use std::rc::Rc;
use types::array::ArrayRef;
use types::oids;

impl Planner<'_> {
    /// Creates the base relation of a range-table entry with its conditions, and estimates its
    /// size. A subquery is planned here.
    pub(crate) fn base_rel(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        quals: Vec<Expr>,
    ) -> Result<()> {
        if root.query.rte(rti).inh {
            self.expand(root, rti, &quals)?;
        }
        if self.is_base_excluded(root, rti, &quals)? {
            // A table without members gives no rows.
            root.members.trees.insert(rti);
        }
        if root.members.trees.contains(&rti) {
            return self.append_base_rel(root, rti, &quals);
        }
        let mut rel = BaseRel {
            rti,
            table: None,
            quals,
            tuples: 1.0,
            rows: 1.0,
            width: 0,
            lateral: Relids::new(),
        };
        match &root.query.rte(rti).kind {
            RteKind::Relation { relid, .. } => {
                let info = self.host.relation(*relid)?;
                rel.tuples = info.tuples.max(1.0);
                rel.table = Some(info);
                if let Some(sample) = sample_of(root.query.rte(rti)) {
                    // PostgreSQL's default if the percentage is not a constant.
                    let fraction = match sample.args.first() {
                        Some(Expr::Const(c)) if !c.is_null() => {
                            f64::from(c.value.as_ref().as_f32()) / 100.0
                        }
                        _ => 0.1,
                    };
                    if (0.0..=1.0).contains(&fraction) {
                        rel.tuples = (rel.tuples * fraction).max(1.0);
                    }
                    rel.lateral = relids_of_all(sample.args.iter().chain(&sample.repeatable));
                }
            }
            RteKind::Subquery { .. } => {
                self.before_subquery(root, rti);
                rel.quals = self.push_into_subquery(root, rti, rel.quals)?;
                let i = self.plan_subquery(root, rti)?;
                let s = &root.subqueries[i];
                rel.tuples = s.rows;
                rel.lateral = relids_of_all(s.params.iter().map(|(_, e)| e));
            }
            RteKind::Function { functions, .. } => {
                let mut rows: f64 = 1.0;
                for f in functions {
                    if let Expr::FuncExpr(call) = &f.funcexpr
                        && call.funcretset
                    {
                        rows = rows.max(self.srf_rows(call.funcid, &call.args)?);
                    }
                }
                rel.tuples = rows;
                rel.lateral = relids_of_all(functions.iter().map(|f| &f.funcexpr));
            }
            RteKind::Values { values_lists, .. } => {
                rel.tuples = values_lists.len() as f64;
                rel.lateral = relids_of_all(values_lists.iter().flatten());
            }
            RteKind::Cte { ctename, ctelevelsup, self_reference, .. } => {
                rel.tuples = if *self_reference {
                    root.find_work_table(ctename)?.rows
                } else {
                    root.find_cte(ctename, *ctelevelsup)?.rows
                };
            }
            RteKind::NamedTuplestore { enrtuples, .. } => rel.tuples = *enrtuples,
            RteKind::TableFunc(_) => return Err(PgError::unsupported("XMLTABLE")),
            RteKind::Result => {}
            RteKind::Join { .. } => return Err(PgError::internal("join as base relation")),
        }
        root.rels.insert(rti, rel);
        let quals = root.rel(rti)?.quals.clone();
        let selectivity = self.selectivity_all(root, &quals)?;
        if let Some(rel) = root.rels.get_mut(&rti) {
            rel.rows = clamp_rows(rel.tuples * selectivity);
        }
        Ok(())
    }

    /// Sets the width of a relation's rows, which counts the columns that are needed above.
    pub(crate) fn set_width(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        needed: &[Rc<NeededExpr>],
    ) -> Result<()> {
        self.host.check_interrupts()?;
        let mut vars = Vec::new();
        columns_of(rti, needed, &mut vars);
        let width = self.row_width(root, &vars)?;
        if let Some(rel) = root.rels.get_mut(&rti) {
            rel.width = width;
        }
        Ok(())
    }

    /// Estimated number of rows of a set-returning function: exact for `generate_series` over
    /// integer constants, the number of elements for `unnest` of an array, else `prorows`.
    /// Counterpart: `get_function_rows`.
    pub(crate) fn srf_rows(&mut self, funcid: ids::Oid, args: &[Expr]) -> Result<f64> {
        let int = |e: &Expr| match e {
            Expr::Const(c) if c.is_null() => Some(None),
            Expr::Const(c) => Some(Some(match c.consttype {
                oids::INT4 => f64::from(c.value.as_ref().as_i32()),
                _ => c.value.as_ref().as_i64() as f64,
            })),
            _ => None,
        };
        match args {
            [array] if funcid == proc::ARRAY_UNNEST => {
                return Ok(self.array_len(array).max(1.0));
            }
            [from, to, step @ ..]
                if args.iter().all(|a| matches!(a.type_oid(), oids::INT4 | oids::INT8))
                    && self.host.function(funcid)?.name == "generate_series" =>
            {
                let step = step.first().map_or(Some(Some(1.0)), int);
                if let (Some(from), Some(to), Some(step)) = (int(from), int(to), step) {
                    return Ok(match (from, to, step) {
                        (Some(from), Some(to), Some(step)) if step != 0.0 => {
                            ((to - from + step) / step).floor().max(1.0)
                        }
                        (Some(_), Some(_), Some(_)) => self.host.function_cost(funcid)?.1,
                        _ => 1.0,
                    });
                }
            }
            _ => {}
        }
        Ok(self.host.function_cost(funcid)?.1.max(1.0))
    }

    /// As [`array_len`], with the values of parameters that are known.
    fn array_len(&mut self, array: &Expr) -> f64 {
        match strip(array) {
            Expr::Param(p) if p.paramkind == ParamKind::Extern => {
                match self.host.param_value(p.paramid) {
                    Some(v) if v.is_null() => 0.0,
                    Some(v) => ArrayRef::or_empty(v.as_ref()).count() as f64,
                    None => array_len(array),
                }
            }
            _ => array_len(array),
        }
    }
}

/// The entry's TABLESAMPLE clause.
pub(crate) fn sample_of(rte: &RangeTblEntry) -> Option<&TableSample> {
    match &rte.kind {
        RteKind::Relation { tablesample, .. } => tablesample.as_deref(),
        _ => None,
    }
}

/// Rounds a row estimate to a whole number of at least 1. Counterpart: `clamp_row_est`.
pub(crate) fn clamp_rows(rows: f64) -> f64 {
    if rows.is_nan() || rows <= 1.0 { 1.0 } else { rows.min(1e100).round_ties_even() }
}
