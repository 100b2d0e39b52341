//! Statistics of columns and expressions. Counterpart: selfuncs.c (`examine_variable`,
//! `get_variable_numdistinct`).

use crate::rel::clamp_rows;
use crate::scan::is_index_key;
use crate::state::{Planner, PlannerInfo};
use pgerror::Result;
use plan::expr::{Expr, Var};
use plan::query::RteKind;
use querytree::host::ColumnStats;
use querytree::vars::relids_of;
use std::sync::Arc;

/// Number of distinct values if there are no statistics.
const DEFAULT_DISTINCT: f64 = 200.0;

/// The column `ctid`.
pub(crate) const CTID: i16 = -1;
/// The column `tableoid`.
const TABLE_OID: i16 = -6;

/// Statistics of a column or expression. Counterpart: `VariableStatData`.
pub(crate) struct VariableStats {
    pub stats: Option<Arc<ColumnStats>>,
    pub rows: f64,
    /// Estimated number of distinct values.
    pub distinct: f64,
    /// Nothing is known about the number of distinct values.
    pub is_default: bool,
    pub type_oid: ids::Oid,
    pub unique: bool,
}

impl Planner<'_> {
    /// Statistics of a column or expression. Counterpart: `examine_variable`.
    pub(crate) fn variable_stats(
        &mut self,
        root: &PlannerInfo,
        expr: &Expr,
    ) -> Result<VariableStats> {
        let unknown = VariableStats {
            stats: None,
            rows: 1000.0,
            distinct: DEFAULT_DISTINCT,
            is_default: true,
            type_oid: expr.type_oid(),
            unique: false,
        };
        let Expr::Var(v) = expr else { return self.expression_stats(root, expr, unknown) };
        let Some(rel) = root.rels.get(&v.varno) else { return Ok(unknown) };
        let rows = rel.tuples;
        let RteKind::Relation { relid, .. } = &root.query.rte(v.varno).kind else {
            let (distinct, is_default) = match root.query.rte(v.varno).kind {
                _ if expr.type_oid() == types::oids::BOOL => (2.0, false),
                RteKind::Values { .. } if rows > 0.0 => (clamp_rows(rows), false),
                _ => default_distinct(rows),
            };
            let unknown = VariableStats { rows, distinct, is_default, ..unknown };
            return self.subquery_stats(root, v, unknown);
        };
        let unique = rel.table.as_ref().is_some_and(|t| {
            t.indexes.iter().any(|i| {
                i.unique
                    && i.predicate.is_empty()
                    && matches!(i.keys.as_slice(), [k] if k.attno == v.varattno)
            })
        });
        let unique = unique || v.varattno == CTID;
        let stats = match v.varattno {
            n if n <= 0 => None,
            n if root.members.trees.contains(&v.varno) => self.host.tree_column_stats(*relid, n)?,
            n => self.host.column_stats(*relid, n)?,
        };
        let (distinct, is_default) = match &stats {
            Some(s) if unique => ((1.0 - s.null_frac) * rows, false),
            None if unique => (rows, false),
            None if v.varattno == TABLE_OID => (1.0, false),
            Some(s) if s.n_distinct > 0.0 => (s.n_distinct, false),
            Some(s) if s.n_distinct < 0.0 => (-s.n_distinct * rows, false),
            None if expr.type_oid() == types::oids::BOOL => (2.0, false),
            _ => default_distinct(rows),
        };
        Ok(VariableStats {
            stats,
            rows,
            distinct: clamp_rows(distinct),
            is_default,
            type_oid: expr.type_oid(),
            unique,
        })
    }

    /// Statistics of a column of a subquery: those of the column below, if it is one. Counterpart:
    /// `examine_simple_variable`.
    fn subquery_stats(
        &mut self,
        root: &PlannerInfo,
        v: &Var,
        unknown: VariableStats,
    ) -> Result<VariableStats> {
        let planned = root.subquery_of.get(&v.varno).map(|i| &root.subqueries[*i]);
        let Some(level) = planned.and_then(|s| s.level.as_deref()) else { return Ok(unknown) };
        let q = &level.query;
        if level.in_set_operation || !q.grouping_sets.is_empty() {
            return Ok(unknown);
        }
        let target = q.target_list.iter().find(|t| t.resno == v.varattno && !t.resjunk);
        let Some(target) = target else { return Ok(unknown) };
        let rows = unknown.rows;
        // The only column of DISTINCT or GROUP BY is unique.
        for clauses in [&q.distinct_clause, &q.group_clause] {
            if let [only] = clauses.as_slice()
                && only.tle_sort_group_ref == target.ressortgroupref
            {
                return Ok(VariableStats {
                    distinct: rows.max(1.0),
                    is_default: false,
                    unique: true,
                    ..unknown
                });
            }
        }
        let is_barrier = matches!(
            root.query.rte(v.varno).kind,
            RteKind::Subquery { security_barrier: true, .. }
        );
        if is_barrier || !matches!(&target.expr, Expr::Var(v) if v.varlevelsup == 0) {
            return Ok(unknown);
        }
        let below = self.variable_stats(level, &target.expr)?;
        let distinct = match &below.stats {
            Some(s) if s.n_distinct > 0.0 => s.n_distinct,
            Some(s) if s.n_distinct < 0.0 => -s.n_distinct * rows,
            _ => return Ok(unknown),
        };
        let distinct = distinct.clamp(1.0, rows.max(1.0));
        Ok(VariableStats { stats: below.stats, distinct, is_default: false, ..unknown })
    }

    /// True if there are statistics, or a unique index, for the expression.
    pub(crate) fn is_known(&mut self, root: &PlannerInfo, expr: &Expr) -> Result<bool> {
        let info = self.variable_stats(root, expr)?;
        Ok(info.stats.is_some() || info.unique)
    }

    /// Statistics of an expression, from an index on it.
    fn expression_stats(
        &mut self,
        root: &PlannerInfo,
        expr: &Expr,
        unknown: VariableStats,
    ) -> Result<VariableStats> {
        let relids = relids_of(expr);
        let (Some(rti), 1) = (relids.first(), relids.len()) else { return Ok(unknown) };
        let Some(rel) = root.rels.get(&rti) else { return Ok(unknown) };
        let rows = rel.tuples;
        let (distinct, is_default) = match expr.type_oid() {
            types::oids::BOOL => (2.0, false),
            _ => default_distinct(rows),
        };
        let unknown = VariableStats { rows, distinct, is_default, ..unknown };
        let Some(table) = &rel.table else { return Ok(unknown) };
        for index in &table.indexes {
            let keys = index.keys.iter().enumerate().filter(|(_, key)| key.attno == 0);
            for (at, key) in keys {
                if !is_index_key(expr, rti, key) {
                    continue;
                }
                let unique = index.unique && index.keys.len() == 1 && index.predicate.is_empty();
                let stats = self.host.column_stats(index.oid, at as i16 + 1)?;
                let distinct = match &stats {
                    Some(s) if unique => (1.0 - s.null_frac) * rows,
                    None if unique => rows,
                    Some(s) if s.n_distinct > 0.0 => s.n_distinct,
                    Some(s) if s.n_distinct < 0.0 => -s.n_distinct * rows,
                    Some(_) => unknown.distinct,
                    None => continue,
                };
                let distinct = clamp_rows(distinct);
                return Ok(VariableStats { stats, distinct, is_default: false, unique, ..unknown });
            }
        }
        if table.statistics.is_empty() {
            return Ok(unknown);
        }
        for object in self.statistics_objects(root, rti)? {
            let at = object.exprs.iter().position(|e| e == expr);
            let Some(stats) = at.and_then(|at| object.stats.expr_stats.get(at).cloned().flatten())
            else {
                continue;
            };
            let (distinct, is_default) = match stats.n_distinct {
                n if n > 0.0 => (clamp_rows(n), false),
                n if n < 0.0 => (clamp_rows(-n * rows), false),
                _ => (unknown.distinct, unknown.is_default),
            };
            return Ok(VariableStats { stats: Some(stats), distinct, is_default, ..unknown });
        }
        Ok(unknown)
    }
}

/// Number of distinct values if nothing is known about them, and whether it is a default: a small
/// table is assumed to have different values. Counterpart: `get_variable_numdistinct`.
fn default_distinct(rows: f64) -> (f64, bool) {
    match rows {
        _ if rows <= 0.0 || rows >= DEFAULT_DISTINCT => (DEFAULT_DISTINCT, true),
        _ => (clamp_rows(rows), false),
    }
}
