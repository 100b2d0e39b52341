//! Selectivity estimates of conditions, and estimates of the number of groups. Counterpart:
//! clausesel.c, selfuncs.c.

use crate::rel::clamp_rows;
use crate::scan::is_index_key;
use crate::state::{Planner, PlannerInfo};
use pgerror::Result;
use plan::expr::{
    BoolOp, BoolTestKind, BooleanTest, CaseTestExpr, Const, Expr, Location, OpExpr, ParamKind,
    RowCompareExpr, ScalarArrayOpExpr, Var,
};
use plan::query::RteKind;
use querytree::crosstype::{converted, scalars};
use querytree::host::ColumnStats;
use querytree::pattern::{PatternKind, next_prefix};
use querytree::relids::Relids;
use querytree::vars::{pull_vars_of, relids_of};
use std::sync::Arc;
use types::array::ArrayRef;
use types::network::estimate::{self as network_estimate, Inclusion, inclusion};
use types::ranges::estimate as range_estimate;
use types::textsearch::estimate;
use types::{Datum, DatumRef, compare::Comparer};

const DEFAULT_EQ: f64 = 0.005;
pub(crate) const DEFAULT_RANGE_ONE: f64 = 1.0 / 3.0;
const DEFAULT_RANGE_PAIR: f64 = 0.005;
pub(crate) const DEFAULT_MATCH: f64 = 0.005;
/// Defaults of the estimators `matchingsel`, `contsel`, `areasel` and `positionsel`.
pub(crate) const DEFAULT_MATCHING: f64 = 0.01;
pub(crate) const DEFAULT_CONTAINED: f64 = 0.001;
const DEFAULT_AREA: f64 = 0.005;
pub(crate) const DEFAULT_POSITION: f64 = 0.1;
const DEFAULT_UNKNOWN: f64 = 0.005;
/// Number of distinct values if there are no statistics.
const DEFAULT_DISTINCT: f64 = 200.0;
/// With this number of histogram bounds, a pattern is estimated by the histogram alone.
const LONG_HISTOGRAM: usize = 100;
/// Largest number of array elements that are estimated individually.
const ELEMENTS_MAX: usize = 100;

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
    /// Selectivity for a parameterized scan of `rti`: columns of other relations are treated as
    /// unknown constants. Counterpart: `clauselist_selectivity` with a `varRelid`.
    pub(crate) fn lookup_selectivity(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        quals: &[Expr],
    ) -> Result<f64> {
        let before = self.lookup.replace(rti);
        let selectivity = self.selectivity_all(root, quals);
        self.lookup = before;
        selectivity
    }

    /// Selectivity of conditions combined by AND. A lower and an upper bound on the same column are
    /// estimated together. Counterpart: `clauselist_selectivity`.
    pub(crate) fn selectivity_all(&mut self, root: &PlannerInfo, quals: &[Expr]) -> Result<f64> {
        let mut s = 1.0;
        // (column, selectivity of the lower bound, of the upper bound)
        let mut ranges: Vec<(Expr, Option<f64>, Option<f64>)> = Vec::new();
        for q in quals {
            match self.range_part(root, q)? {
                Some((var, is_lower, sel)) => {
                    let slot = match ranges.iter_mut().position(|r| r.0 == var) {
                        Some(i) => &mut ranges[i],
                        None => {
                            ranges.push((var, None, None));
                            ranges.last_mut().expect("just pushed")
                        }
                    };
                    let part = if is_lower { &mut slot.1 } else { &mut slot.2 };
                    *part = Some(part.map_or(sel, |old: f64| old.min(sel)));
                }
                None => s *= self.selectivity(root, q)?,
            }
        }
        for (_, lower, upper) in ranges {
            s *= match (lower, upper) {
                (Some(l), Some(u)) => {
                    let default = l == DEFAULT_RANGE_ONE && u == DEFAULT_RANGE_ONE;
                    let both = l + u - 1.0;
                    if default || both <= 0.0 { DEFAULT_RANGE_PAIR } else { both }
                }
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => 1.0,
            };
        }
        Ok(s.clamp(0.0, 1.0))
    }

    /// Selectivity of an OR clause among the rows that satisfy the restrictions extracted from it.
    /// Counterpart: orclauses.c (`consider_new_or_clause`).
    fn beside_restrictions(&mut self, root: &PlannerInfo, clause: &Expr, own: f64) -> Result<f64> {
        let mut s = own;
        if let Some((_, parts)) = root.restrictions.iter().find(|(c, _)| c == clause) {
            for p in parts {
                s /= self.selectivity(root, p)?.max(1e-9);
            }
        }
        Ok(s.min(1.0))
    }

    /// A condition such as `column < constant`: its column, whether it is a lower bound, and its
    /// selectivity.
    pub(crate) fn range_part(
        &mut self,
        root: &PlannerInfo,
        q: &Expr,
    ) -> Result<Option<(Expr, bool, f64)>> {
        let Expr::OpExpr(op) = q else { return Ok(None) };
        let [l, r] = op.args.as_slice() else { return Ok(None) };
        let info = self.host.operator(op.opno)?;
        let less = match info.restrict.as_str() {
            "scalarltsel" | "scalarlesel" => true,
            "scalargtsel" | "scalargesel" => false,
            _ => return Ok(None),
        };
        let (var, is_lower) = match (strip(l), strip(r)) {
            (v @ Expr::Var(_), Expr::Const(_) | Expr::Param(_)) => (v.clone(), !less),
            (Expr::Const(_) | Expr::Param(_), v @ Expr::Var(_)) => (v.clone(), less),
            _ => return Ok(None),
        };
        let sel = self.selectivity(root, q)?;
        Ok(Some((var, is_lower, sel)))
    }

    /// Selectivity of one condition.
    pub(crate) fn selectivity(&mut self, root: &PlannerInfo, q: &Expr) -> Result<f64> {
        self.host.check_interrupts()?;
        let s = match q {
            Expr::Const(c) => {
                if !c.is_null() && c.value.as_ref().as_bool() {
                    1.0
                } else {
                    0.0
                }
            }
            Expr::Bool(b) => match b.boolop {
                BoolOp::And => self.selectivity_all(root, &b.args)?,
                BoolOp::Or => {
                    let mut s = 0.0;
                    for a in &b.args {
                        let one = self.selectivity(root, a)?;
                        s = s + one - s * one;
                    }
                    self.beside_restrictions(root, q, s)?
                }
                BoolOp::Not => match b.args.first() {
                    Some(a) => 1.0 - self.selectivity(root, a)?,
                    None => 1.0,
                },
            },
            Expr::OpExpr(op) => self.operator_selectivity(root, op)?,
            Expr::Distinct(op) => 1.0 - self.operator_selectivity(root, op)?,
            Expr::ScalarArrayOp(op) => self.array_selectivity(root, op)?,
            Expr::RowCompare(r) => self.row_selectivity(root, r)?,
            Expr::NullTest(n) => {
                let stats = self.variable_stats(root, strip(&n.arg))?.stats;
                let frac = stats.map_or(DEFAULT_UNKNOWN, |s| s.null_frac);
                if n.is_not { 1.0 - frac } else { frac }
            }
            Expr::BooleanTest(b) => self.boolean_test_selectivity(root, b)?,
            Expr::Var(_) => self.boolean_fractions(root, q)?.map_or(0.5, |(yes, _)| yes),
            Expr::CurrentOf(_) => 1.0 / root.rels.values().next().map_or(1.0, |r| r.tuples),
            _ => 0.5,
        };
        Ok(s.clamp(0.0, 1.0))
    }

    /// Fractions of the rows with TRUE and FALSE in a boolean column, if there are statistics.
    fn boolean_fractions(
        &mut self,
        root: &PlannerInfo,
        column: &Expr,
    ) -> Result<Option<(f64, f64)>> {
        let Some(stats) = self.variable_stats(root, strip(column))?.stats else { return Ok(None) };
        let (Some(value), Some(&frequency)) = (stats.mcv.first(), stats.mcv_freq.first()) else {
            return Ok(None);
        };
        let rest = (1.0 - frequency - stats.null_frac).max(0.0);
        Ok(Some(match value.as_ref().as_bool() {
            true => (frequency, rest),
            false => (rest, frequency),
        }))
    }

    /// Selectivity of IS TRUE, IS FALSE, IS UNKNOWN and their negations. Counterpart:
    /// `booltestsel`.
    fn boolean_test_selectivity(&mut self, root: &PlannerInfo, test: &BooleanTest) -> Result<f64> {
        if let Some((yes, no)) = match strip(&test.arg) {
            Expr::Var(_) => self.boolean_fractions(root, &test.arg)?,
            _ => None,
        } {
            return Ok(match test.booltesttype {
                BoolTestKind::IsTrue => yes,
                BoolTestKind::IsNotTrue => 1.0 - yes,
                BoolTestKind::IsFalse => no,
                BoolTestKind::IsNotFalse => 1.0 - no,
                BoolTestKind::IsUnknown => 1.0 - yes - no,
                BoolTestKind::IsNotUnknown => yes + no,
            });
        }
        Ok(match test.booltesttype {
            BoolTestKind::IsUnknown => DEFAULT_UNKNOWN,
            BoolTestKind::IsNotUnknown => 1.0 - DEFAULT_UNKNOWN,
            BoolTestKind::IsTrue | BoolTestKind::IsNotFalse => self.selectivity(root, &test.arg)?,
            BoolTestKind::IsFalse | BoolTestKind::IsNotTrue => {
                1.0 - self.selectivity(root, &test.arg)?
            }
        })
    }

    /// Selectivity of `x op ANY (array)` and `x op ALL (array)`, by the elements if they are known.
    /// Counterpart: `scalararraysel`.
    fn array_selectivity(&mut self, root: &PlannerInfo, op: &ScalarArrayOpExpr) -> Result<f64> {
        let [left, right] = op.args.as_slice() else { return Ok(0.5) };
        let info = self.host.operator(op.opno)?;
        let negated = info.restrict == "neqsel";
        let element = OpExpr {
            opno: op.opno,
            opfuncid: op.opfuncid,
            opresulttype: types::oids::BOOL,
            opretset: false,
            opcollid: ids::Oid::INVALID,
            inputcollid: op.inputcollid,
            args: Vec::new(),
            location: op.location,
        };
        let mut elements: Vec<Expr> = match strip(right) {
            Expr::Array(a) if !a.multidims => a.elements.clone(),
            Expr::Const(c) if !c.is_null() => {
                let array = ArrayRef::new(c.value.as_ref())?;
                let ty = array.elem_type();
                let info = self.host.type_info(ty)?;
                let each = array.elements(&info).unwrap_or_default().into_iter().map(|value| {
                    Expr::Const(Const {
                        consttype: ty,
                        consttypmod: -1,
                        constcollid: op.inputcollid,
                        constlen: info.len,
                        constbyval: info.by_val,
                        value: value.to_owned(),
                        location: Location::UNKNOWN,
                    })
                });
                each.collect()
            }
            Expr::Const(_) => return Ok(0.0),
            // An unknown array; `array_len` gives the assumed number of elements.
            _ => Vec::new(),
        };
        let count = if elements.is_empty() { array_len(right) } else { elements.len() as f64 };
        elements.truncate(ELEMENTS_MAX);
        if elements.is_empty() {
            let one = self.operator_selectivity(
                root,
                &OpExpr { args: vec![left.clone(), unknown_like(left)], ..element.clone() },
            )?;
            return Ok(combined(&[one], count, op.use_or, negated));
        }
        let mut each = Vec::with_capacity(elements.len());
        for e in elements {
            let one = OpExpr { args: vec![left.clone(), e], ..element.clone() };
            each.push(self.operator_selectivity(root, &one)?);
        }
        Ok(combined(&each, count, op.use_or, negated))
    }

    /// Selectivity of a row comparison: that of its first columns. Counterpart: `rowcomparesel`.
    fn row_selectivity(&mut self, root: &PlannerInfo, r: &RowCompareExpr) -> Result<f64> {
        let (Some(l), Some(v), Some(&opno)) = (r.largs.first(), r.rargs.first(), r.opnos.first())
        else {
            return Ok(DEFAULT_UNKNOWN);
        };
        let first = OpExpr {
            opno,
            opfuncid: self.host.operator_function(opno)?,
            opresulttype: types::oids::BOOL,
            opretset: false,
            opcollid: ids::Oid::INVALID,
            inputcollid: r.inputcollids.first().copied().unwrap_or_default(),
            args: vec![l.clone(), v.clone()],
            location: Location::UNKNOWN,
        };
        self.operator_selectivity(root, &first)
    }

    fn operator_selectivity(&mut self, root: &PlannerInfo, op: &OpExpr) -> Result<f64> {
        let info = self.host.operator(op.opno)?;
        let [l, r] = op.args.as_slice() else { return Ok(0.5) };
        let (l, r) = (strip(l), strip(r));
        let is_ours = |e: &Expr| matches!(e, Expr::Var(v) if Some(v.varno) == self.lookup);
        let (left, right) = (relids_of(l), relids_of(r));
        let own = |relids: &Relids| self.lookup.is_some_and(|rti| relids.contains(&rti));
        if !left.is_empty()
            && !right.is_empty()
            && (left.len() > 1 || left != right)
            && !own(&left)
            && !own(&right)
        {
            return self.join_selectivity(root, l, r, &info);
        }
        let (var, other, flipped) = match (l, r) {
            (o @ Expr::Var(_), v) if is_ours(v) => (v, o, true),
            (v @ Expr::Var(_), o) => (v, o, false),
            (o, v @ Expr::Var(_)) => (v, o, true),
            _ if self.is_known(root, l)? && relids_of(r).is_empty() => (l, r, false),
            _ if self.is_known(root, r)? && relids_of(l).is_empty() => (r, l, true),
            _ => return Ok(default_selectivity(&info.restrict, op.opno)),
        };
        // An operand that depends on the same relation is not a constant.
        if let Expr::Var(own) = var {
            let mut same = Vec::new();
            pull_vars_of(own.varno, other, &mut same);
            if !same.is_empty() {
                return Ok(default_selectivity(&info.restrict, op.opno));
            }
        }
        let v = self.variable_stats(root, var)?;
        let value = match other {
            Expr::Const(c) => Some(c.value.clone()),
            Expr::Param(p) if p.paramkind == ParamKind::Extern => self.host.param_value(p.paramid),
            _ => None,
        };
        if value.as_ref().is_some_and(|d| d.is_null()) {
            return Ok(0.0);
        }
        let of_value = (value.as_ref(), other.type_oid());
        if let Some(s) = self.tested_selectivity(op, &v, &info.restrict, of_value, flipped)? {
            return Ok(s);
        }
        // Statistics are compared with the constant in the column's type.
        let near = value.as_ref().map(|d| converted(d, strip(other).type_oid(), v.type_oid));
        let comparable = near.as_ref().is_none_or(|d| d.is_some());
        let value = near.flatten().or(value);
        let cmp = self.host.type_compare(v.type_oid, op.inputcollid).ok().filter(|_| comparable);
        Ok(match info.restrict.as_str() {
            "tsmatchsel" => match &value {
                Some(Datum::Bytes(query)) if strip(other).type_oid() == types::oids::TSQUERY => {
                    let nulls = v.stats.as_ref().map_or(0.0, |s| s.null_frac);
                    estimate::fraction(query) * (1.0 - nulls)
                }
                _ => estimate::DEFAULT_FRACTION,
            },
            "eqsel" => eq_selectivity(&v, value.as_ref().map(|d| d.as_ref()), cmp),
            "neqsel" => {
                let nulls = v.stats.as_ref().map_or(0.0, |s| s.null_frac);
                1.0 - eq_selectivity(&v, value.as_ref().map(|d| d.as_ref()), cmp) - nulls
            }
            name @ ("scalarltsel" | "scalarlesel" | "scalargtsel" | "scalargesel") => {
                let less = name.starts_with("scalarl") != flipped;
                match (value.as_ref(), cmp, &v.stats) {
                    (Some(d), Some(cmp), Some(s)) => {
                        let side = Side { less, equal: name.ends_with("esel") };
                        range_selectivity(s, v.distinct, d.as_ref(), &cmp, v.type_oid, side)
                    }
                    _ => DEFAULT_RANGE_ONE,
                }
            }
            "" => 0.5,
            name => assumed_selectivity(name).unwrap_or(DEFAULT_MATCHING),
        })
    }

    /// Selectivity by estimators that do not depend on the order of values; `None` for others.
    fn tested_selectivity(
        &mut self,
        op: &OpExpr,
        v: &VariableStats,
        estimator: &str,
        value: (Option<&Datum>, ids::Oid),
        flipped: bool,
    ) -> Result<Option<f64>> {
        if let Some((kind, negated)) = PatternKind::of_estimator(estimator) {
            return self.pattern_selectivity(op, v, kind, negated, flipped).map(Some);
        }
        match estimator {
            "arraycontsel" => self.element_selectivity(op.opno, v, value, flipped).map(Some),
            "rangesel" | "multirangesel" => {
                let stats = v.stats.as_deref();
                let condition = range_estimate::Condition {
                    operator: op.opno,
                    flipped,
                    column_type: v.type_oid,
                    value: value.0,
                    value_type: value.1,
                    stats: stats.and_then(|s| s.ranges.as_ref()),
                    null_frac: stats.map_or(0.0, |s| s.null_frac),
                };
                self.host.range_selectivity(&condition).map(Some)
            }
            "networksel" => Ok(networks(op.opno, v, value, flipped)),
            "matchingsel" => {
                self.matching_selectivity(op, v, value.0.is_some() && !flipped).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Selectivity of an operator for which only its results for the most common values and the
    /// histogram bounds are known. Counterpart: `generic_restriction_selectivity`.
    fn matching_selectivity(&mut self, op: &OpExpr, v: &VariableStats, known: bool) -> Result<f64> {
        let Some(stats) = v.stats.clone().filter(|_| known) else { return Ok(DEFAULT_MATCHING) };
        let (commons, others) = self.tried(op, v, false)?;
        let weight = (stats.histogram.len() as f64 / LONG_HISTOGRAM as f64).min(1.0);
        let fraction = match others {
            Some(fraction) => fraction * weight + DEFAULT_MATCHING * (1.0 - weight),
            None => DEFAULT_MATCHING,
        };
        let rest = 1.0 - stats.null_frac - stats.mcv_freq.iter().sum::<f64>();
        Ok((fraction.clamp(0.0001, 0.9999) * rest.max(0.0) + commons).clamp(0.0, 1.0))
    }

    /// Selectivity of `column ~ pattern`: the operator is evaluated for the most common values and
    /// the histogram bounds; with a short histogram the result is combined with an estimate from
    /// the pattern. Counterpart: `patternsel_common`.
    fn pattern_selectivity(
        &mut self,
        op: &OpExpr,
        v: &VariableStats,
        kind: PatternKind,
        negated: bool,
        flipped: bool,
    ) -> Result<f64> {
        let nulls = v.stats.as_ref().map_or(0.0, |s| s.null_frac);
        let finish = |s: f64| if negated { 1.0 - s - nulls } else { s };
        let pattern = match strip(&op.args[1]) {
            Expr::Const(c) if !flipped && op.args[1].type_oid() == types::oids::TEXT => &c.value,
            _ => return Ok(finish(DEFAULT_MATCH)),
        };
        let DatumRef::Bytes(pattern) = pattern.as_ref() else { return Ok(0.0) };
        let matches = kind.matches(pattern);
        let cmp = self.host.type_compare(v.type_oid, op.inputcollid)?;
        if matches.whole {
            let value = DatumRef::Bytes(&matches.prefix);
            return Ok(finish(eq_selectivity(v, Some(value), Some(cmp))));
        }
        let positive = OpExpr { ..op.clone() };
        let (commons, others) = self.tried(&positive, v, negated)?;
        let own = match &v.stats {
            _ if matches.prefix.is_empty() => 1.0,
            Some(s) => prefix_selectivity(v, s, &matches.prefix, &cmp),
            None => DEFAULT_MATCH,
        } * matches.rest;
        let bounds = v.stats.as_ref().map_or(0, |s| s.histogram.len());
        let fraction = match others {
            Some(fraction) if bounds >= LONG_HISTOGRAM => fraction,
            Some(fraction) => {
                let weight = bounds as f64 / LONG_HISTOGRAM as f64;
                fraction * weight + own * (1.0 - weight)
            }
            None => own,
        };
        let all_common: f64 = v.stats.as_ref().map_or(0.0, |s| s.mcv_freq.iter().sum());
        let rest = (1.0 - nulls - all_common).max(0.0);
        Ok(finish(fraction.clamp(0.0001, 0.9999) * rest + commons))
    }

    /// Evaluates the operator: the fraction of all rows with a most common value that matches, and
    /// the fraction of histogram bounds that match, if there are enough. `op` may be the negated
    /// match.
    fn tried(
        &mut self,
        op: &OpExpr,
        v: &VariableStats,
        negated: bool,
    ) -> Result<(f64, Option<f64>)> {
        /// A histogram with fewer bounds is not used.
        const BOUNDS_MIN: usize = 10;
        let Some(stats) = &v.stats else { return Ok((0.0, None)) };
        // The first and the last bound are extreme values.
        let inner = match stats.histogram.len() {
            n if n >= BOUNDS_MIN => &stats.histogram[1..n - 1],
            _ => &[],
        };
        let values: Vec<Datum> = stats.mcv.iter().chain(inner).cloned().collect();
        let found = self.host.try_values(op, &values)?;
        let (of_commons, of_inner) = found.split_at(stats.mcv.len());
        let pairs = of_commons.iter().zip(&stats.mcv_freq);
        let common =
            pairs.filter(|(hit, _)| **hit != negated).map(|(_, frequency)| frequency).sum();
        let hits = of_inner.iter().filter(|hit| **hit != negated).count();
        let fraction = (!inner.is_empty()).then(|| hits as f64 / inner.len() as f64);
        Ok((common, fraction))
    }

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
            let (distinct, is_default) = default_distinct(rows);
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
        // ctid is unique.
        let unique = unique || v.varattno == -1;
        let stats = match v.varattno {
            n if n <= 0 => None,
            n if root.members.trees.contains(&v.varno) => self.host.tree_column_stats(*relid, n)?,
            n => self.host.column_stats(*relid, n)?,
        };
        let (distinct, is_default) = match &stats {
            Some(s) if unique => ((1.0 - s.null_frac) * rows, false),
            None if unique => (rows, false),
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
        if !matches!(&target.expr, Expr::Var(v) if v.varlevelsup == 0) {
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
        let Some(table) = &rel.table else { return Ok(unknown) };
        for index in &table.indexes {
            let keys = index.keys.iter().enumerate().filter(|(_, key)| key.attno == 0);
            for (at, key) in keys {
                if !is_index_key(expr, rti, key) {
                    continue;
                }
                let unique = index.unique && index.keys.len() == 1 && index.predicate.is_empty();
                let rows = rel.tuples;
                let stats = self.host.column_stats(index.oid, at as i16 + 1)?;
                let distinct = match &stats {
                    _ if unique => rows,
                    Some(s) if s.n_distinct > 0.0 => s.n_distinct,
                    Some(s) if s.n_distinct < 0.0 => -s.n_distinct * rows,
                    _ => continue,
                };
                let distinct = distinct.clamp(1.0, rows.max(1.0));
                let is_default = false;
                return Ok(VariableStats { stats, rows, distinct, is_default, unique, ..unknown });
            }
        }
        Ok(unknown)
    }
}

/// Number of distinct values if nothing is known about them, and whether it is a default: a small
/// table is assumed to have different values. Counterpart: `get_variable_numdistinct`.
fn default_distinct(rows: f64) -> (f64, bool) {
    (DEFAULT_DISTINCT.min(rows), rows >= DEFAULT_DISTINCT)
}

/// Number of elements of an array; 10 if it is unknown. Counterpart: `estimate_array_length`.
pub(crate) fn array_len(array: &Expr) -> f64 {
    match strip(array) {
        Expr::Array(a) if !a.multidims => a.elements.len() as f64,
        Expr::Const(c) if !c.is_null() => ArrayRef::or_empty(c.value.as_ref()).count() as f64,
        Expr::Const(_) => 0.0,
        _ => 10.0,
    }
}

/// A placeholder for an unknown value of the expression's type.
fn unknown_like(e: &Expr) -> Expr {
    Expr::CaseTest(CaseTestExpr {
        typeid: e.type_oid(),
        typmod: e.typmod(),
        collation: e.collation(),
    })
}

/// Selectivity of `count` comparisons combined by OR (`any`) or AND, of which `each` are known.
/// Equalities are treated as mutually exclusive under OR, and inequalities (`negated`) under AND.
fn combined(each: &[f64], count: f64, any: bool, negated: bool) -> f64 {
    let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
    let known = each.len() as f64;
    let sum = match (any, negated) {
        (true, false) => mean * count,
        (false, true) => 1.0 - (1.0 - mean) * count,
        _ => -1.0,
    };
    if (0.0..=1.0).contains(&sum) {
        return sum;
    }
    let more = (count - known).max(0.0);
    if any {
        let none: f64 = each.iter().map(|s| 1.0 - s).product();
        1.0 - none * (1.0 - mean).powf(more)
    } else {
        each.iter().product::<f64>() * mean.powf(more)
    }
}

/// The expression without RelabelType and COLLATE.
pub(crate) fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Relabel(r) => strip(&r.arg),
        Expr::Collate(c) => strip(&c.arg),
        other => other,
    }
}

/// Fraction of the values that begin with the prefix, most common values excluded. Counterpart:
/// `prefix_selectivity`.
fn prefix_selectivity(v: &VariableStats, s: &ColumnStats, prefix: &[u8], cmp: &Comparer) -> f64 {
    let start = DatumRef::Bytes(prefix);
    let Some(below) = histogram_fraction(s, start, cmp, v.type_oid) else { return DEFAULT_MATCH };
    let end = next_prefix(prefix)
        .and_then(|end| histogram_fraction(s, DatumRef::Bytes(&end), cmp, v.type_oid));
    // The histogram may be too coarse: at least the fraction that equals the prefix.
    let equal = eq_selectivity(v, Some(start), Some(cmp.clone()));
    (end.unwrap_or(1.0) - below).max(equal).max(0.0)
}

/// Default selectivity of an operator by its estimator, if nothing is known about the operands.
fn default_selectivity(estimator: &str, operator: ids::Oid) -> f64 {
    match estimator {
        "rangesel" | "multirangesel" => range_estimate::assumed(operator),
        "networksel" => inclusion(operator).map_or(DEFAULT_MATCH, Inclusion::assumed),
        "eqsel" => DEFAULT_EQ,
        "neqsel" => 1.0 - DEFAULT_EQ,
        "scalarltsel" | "scalarlesel" | "scalargtsel" | "scalargesel" => DEFAULT_RANGE_ONE,
        "" => 0.5,
        "tsmatchsel" => estimate::DEFAULT_FRACTION,
        name => assumed_selectivity(name).unwrap_or(DEFAULT_MATCH),
    }
}

/// Selectivity of an operator of inclusion between network addresses; `None` if the operator is
/// another one.
fn networks(
    operator: ids::Oid,
    v: &VariableStats,
    (value, _): (Option<&Datum>, ids::Oid),
    flipped: bool,
) -> Option<f64> {
    let inclusion = inclusion(operator)?;
    let (Some(value), Some(stats)) = (value, &v.stats) else { return Some(inclusion.assumed()) };
    let inclusion = if flipped { inclusion.commuted() } else { inclusion };
    Some(inclusion.selectivity(&network_column(stats), value))
}

/// The statistics of a column of network addresses.
pub(crate) fn network_column(stats: &ColumnStats) -> network_estimate::Column<'_> {
    network_estimate::Column {
        null_frac: stats.null_frac,
        common: &stats.mcv,
        frequencies: &stats.mcv_freq,
        histogram: &stats.histogram,
    }
}

/// The constants of estimators that use no statistics, or have none to use.
fn assumed_selectivity(estimator: &str) -> Option<f64> {
    Some(match estimator {
        "contsel" => DEFAULT_CONTAINED,
        "areasel" | "arraycontsel" => DEFAULT_AREA,
        "positionsel" => DEFAULT_POSITION,
        "matchingsel" => DEFAULT_MATCHING,
        _ => return None,
    })
}

fn eq_selectivity(v: &VariableStats, value: Option<DatumRef<'_>>, cmp: Option<Comparer>) -> f64 {
    if v.unique {
        return 1.0 / v.rows.max(1.0);
    }
    let Some(s) = &v.stats else { return 1.0 / v.distinct.max(1.0) };
    let collation = ids::builtin::collation::DEFAULT;
    let mcv_sum: f64 = s.mcv_freq.iter().sum();
    if let (Some(value), Some(cmp)) = (value, cmp) {
        let hit = s.mcv.iter().position(|m| cmp.order(m.as_ref(), value, collation).is_eq());
        if let Some(i) = hit {
            return s.mcv_freq.get(i).copied().unwrap_or(DEFAULT_EQ);
        }
        let rest = (1.0 - mcv_sum - s.null_frac).max(0.0);
        let others = (v.distinct - s.mcv.len() as f64).max(1.0);
        let one = rest / others;
        // Not more than the frequency of the last most common value.
        return s.mcv_freq.last().map_or(one, |&least| one.min(least));
    }
    (1.0 - s.null_frac) / v.distinct.max(1.0)
}

/// Direction of an inequality, and whether it includes equality.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub less: bool,
    pub equal: bool,
}

/// Selectivity of an inequality by most common values and histogram. Counterpart: `scalarineqsel`,
/// `ineq_histogram_selectivity`.
pub(crate) fn range_selectivity(
    s: &ColumnStats,
    distinct: f64,
    value: DatumRef<'_>,
    cmp: &Comparer,
    ty: ids::Oid,
    side: Side,
) -> f64 {
    let collation = ids::builtin::collation::DEFAULT;
    let mut common = 0.0;
    for (m, f) in s.mcv.iter().zip(&s.mcv_freq) {
        let order = cmp.order(m.as_ref(), value, collation);
        if (order.is_eq() && side.equal) || (order.is_ne() && order.is_lt() == side.less) {
            common += f;
        }
    }
    let mcv_sum: f64 = s.mcv_freq.iter().sum();
    let rest = (1.0 - mcv_sum - s.null_frac).max(0.0);
    let Some(frac) = histogram_fraction(s, value, cmp, ty) else {
        return (common + rest * 0.5).clamp(0.0, 1.0);
    };
    // The fraction of the value itself. A histogram bound ends its bin, so that the fraction
    // includes the value; only the first bound begins a bin.
    let one = 1.0 / (distinct - s.mcv.len() as f64).max(1.0);
    let bins = (s.histogram.len() - 1) as f64;
    let order_with = |i: usize| cmp.order(s.histogram[i].as_ref(), value, collation);
    let inside = order_with(0).is_le() && order_with(s.histogram.len() - 1).is_ge();
    let mut upto = frac;
    if inside {
        if frac * bins <= 1.0 {
            upto += one * (1.0 - frac * bins);
        }
        if side.less != side.equal {
            upto -= one;
        }
    }
    let hist = if side.less { upto } else { 1.0 - upto };
    let least = 0.01 / bins;
    (common + rest * hist.clamp(least, 1.0 - least)).clamp(0.0, 1.0)
}

/// Fraction of the histogram below the value; `None` without a histogram.
fn histogram_fraction(
    s: &ColumnStats,
    value: DatumRef<'_>,
    cmp: &Comparer,
    ty: ids::Oid,
) -> Option<f64> {
    let collation = ids::builtin::collation::DEFAULT;
    let n = s.histogram.len();
    if n < 2 {
        return None;
    }
    let below = s.histogram.partition_point(|h| cmp.order(h.as_ref(), value, collation).is_lt());
    Some(if below == 0 {
        0.0
    } else if below == n {
        1.0
    } else {
        let (lo, hi) = (s.histogram[below - 1].as_ref(), s.histogram[below].as_ref());
        let within = match scalars(lo, hi, value, ty) {
            Some((lo, hi, v)) if hi > lo => ((v - lo) / (hi - lo)).clamp(0.0, 1.0),
            _ => 0.5,
        };
        ((below - 1) as f64 + within) / (n - 1) as f64
    })
}
