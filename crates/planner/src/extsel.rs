//! Selectivity of conditions on several columns of a table, by extended statistics. Counterpart:
//! extended_stats.c, mcv.c (`mcv_get_match_bitmap`); functional dependencies are in `depsel`.

use crate::scan::renumber;
use crate::selectivity::strip;
use crate::state::{Planner, PlannerInfo};
use ids::{AttrNo, Oid};
use pgerror::Result;
use plan::expr::{BoolOp, Expr, NullTest, OpExpr, ParamKind, ScalarArrayOpExpr};
use querytree::host::ExtendedStats;
use querytree::vars::relids_of;
use std::sync::Arc;
use types::Datum;
use types::array::ArrayRef;
use types::extstats::McvList;

/// A statistics object with its expressions over the columns of a range-table entry.
pub(crate) struct StatisticsObject {
    pub stats: Arc<ExtendedStats>,
    pub exprs: Vec<Expr>,
}

/// What a condition refers to.
#[derive(Default)]
struct Mentioned {
    columns: Vec<AttrNo>,
    exprs: Vec<Expr>,
    /// An operator of the condition may reveal the values that it is evaluated for.
    reveals: bool,
}

impl Mentioned {
    fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.exprs.is_empty()
    }
}

impl StatisticsObject {
    fn covers(&self, mentioned: &Mentioned) -> bool {
        mentioned.columns.iter().all(|c| self.stats.columns.contains(c))
            && mentioned.exprs.iter().all(|e| self.exprs.contains(e))
    }

    /// The dimension of a column or expression.
    fn dimension(&self, e: &Expr) -> Option<usize> {
        match e {
            Expr::Var(v) => self.stats.columns.iter().position(|c| *c == v.varattno),
            _ => {
                let at = self.exprs.iter().position(|x| x == e)?;
                Some(self.stats.columns.len() + at)
            }
        }
    }

    fn width(&self) -> usize {
        self.stats.columns.len() + self.exprs.len()
    }
}

/// A comparison of a variable with a known value.
struct Comparison<'a> {
    variable: &'a Expr,
    value: Datum,
    value_type: Oid,
    flipped: bool,
}

/// Sums over the items of a list of most common combinations.
#[derive(Default)]
struct Sums {
    matched: f64,
    /// As if the columns were independent.
    base: f64,
    total: f64,
}

impl Sums {
    /// Counterpart: `mcv_combine_selectivities`.
    fn combined(&self, simple: f64) -> f64 {
        let others = (simple - self.base).clamp(0.0, 1.0).min(1.0 - self.total);
        (self.matched + others).clamp(0.0, 1.0)
    }
}

fn sums(list: &McvList, hits: impl Iterator<Item = bool>) -> Sums {
    let mut out = Sums::default();
    for (item, hit) in list.items.iter().zip(hits) {
        out.total += item.frequency;
        if hit {
            out.matched += item.frequency;
            out.base += item.base_frequency;
        }
    }
    out
}

/// Estimators of operators whose results for the most common combinations are used.
fn is_comparison(estimator: &str) -> bool {
    matches!(
        estimator,
        "eqsel" | "neqsel" | "scalarltsel" | "scalarlesel" | "scalargtsel" | "scalargesel"
    )
}

impl Planner<'_> {
    /// The statistics objects of a relation.
    pub(crate) fn statistics_objects(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
    ) -> Result<Vec<StatisticsObject>> {
        let mut out = Vec::new();
        let Some(table) = root.rels.get(&rti).and_then(|rel| rel.table.clone()) else {
            return Ok(out);
        };
        let tree = root.members.trees.contains(&rti);
        for &object in &table.statistics {
            if let Some(stats) = self.host.extended_stats(object, tree)? {
                let exprs = stats.exprs.iter().map(|e| renumber(e, rti)).collect();
                out.push(StatisticsObject { stats, exprs });
            }
        }
        Ok(out)
    }

    /// Selectivity of those conditions, combined by AND or OR (`any`), that extended statistics
    /// cover, and which ones these are. Counterpart: `statext_clauselist_selectivity`.
    pub(crate) fn extended_selectivity(
        &mut self,
        root: &PlannerInfo,
        quals: &[Expr],
        any: bool,
    ) -> Result<(f64, Vec<bool>)> {
        let mut selectivity = if any { 0.0 } else { 1.0 };
        let mut done = vec![false; quals.len()];
        let relids = quals.first().map(relids_of).unwrap_or_default();
        let (Some(rti), 1) = (relids.first(), relids.len()) else { return Ok((selectivity, done)) };
        let has_objects = |rel: &crate::state::BaseRel| {
            rel.table.as_ref().is_some_and(|table| !table.statistics.is_empty())
        };
        if self.independent
            || quals.len() < 2
            || !root.rels.get(&rti).is_some_and(has_objects)
            || quals.iter().any(|q| relids_of(q) != relids)
        {
            return Ok((selectivity, done));
        }
        let objects = self.statistics_objects(root, rti)?;
        let mut mentioned = Vec::with_capacity(quals.len());
        for q in quals {
            let mut m = Mentioned::default();
            let mut usable = self.mentioned(q, rti, &mut m)?;
            if usable && m.reveals {
                usable = self.may_read(root, q)?;
            }
            mentioned.push(if usable { m } else { Mentioned::default() });
        }
        while let Some(object) = best(&objects, &mentioned) {
            let mut covered = Vec::new();
            for (i, m) in mentioned.iter_mut().enumerate() {
                if !m.is_empty() && object.covers(m) {
                    let simple = m.columns.len() + m.exprs.len() == 1;
                    covered.push((quals[i].clone(), simple));
                    done[i] = true;
                    *m = Mentioned::default();
                }
            }
            let own = match any {
                true => self.common_any(root, object, &covered)?,
                false => self.common_all(root, object, &covered)?,
            };
            selectivity = match any {
                true => selectivity + own - selectivity * own,
                false => selectivity * own,
            };
        }
        if !any {
            selectivity *= self.dependent_selectivity(root, quals, (rti, &objects), &mut done)?;
        }
        Ok((selectivity, done))
    }

    /// As [`Self::selectivity_all`], without extended statistics.
    pub(crate) fn independent_selectivity(
        &mut self,
        root: &PlannerInfo,
        quals: &[Expr],
    ) -> Result<f64> {
        let before = std::mem::replace(&mut self.independent, true);
        let selectivity = self.selectivity_all(root, quals);
        self.independent = before;
        selectivity
    }

    /// Selectivity of conditions combined by AND, by a list of most common combinations.
    fn common_all(
        &mut self,
        root: &PlannerInfo,
        object: &StatisticsObject,
        covered: &[(Expr, bool)],
    ) -> Result<f64> {
        let quals: Vec<Expr> = covered.iter().map(|c| c.0.clone()).collect();
        let simple = self.independent_selectivity(root, &quals)?;
        let Some(list) = &object.stats.mcv else { return Ok(simple) };
        let hits = self.matches(object, list, &quals, false)?;
        Ok(sums(list, hits.into_iter()).combined(simple))
    }

    /// As [`Self::common_all`], for OR: P(A or B) = P(A) + P(B) - P(A and B), for one condition
    /// after the other.
    fn common_any(
        &mut self,
        root: &PlannerInfo,
        object: &StatisticsObject,
        covered: &[(Expr, bool)],
    ) -> Result<f64> {
        let Some(list) = &object.stats.mcv else { return Ok(0.0) };
        let mut before = vec![false; list.items.len()];
        let (mut simple_all, mut all) = (0.0f64, 0.0f64);
        for (qual, is_simple) in covered {
            let qual = std::slice::from_ref(qual);
            let simple = self.independent_selectivity(root, qual)?;
            let simple_both = simple_all * simple;
            simple_all = (simple_all + simple - simple_both).clamp(0.0, 1.0);
            let hits = self.matches(object, list, qual, false)?;
            let own = match is_simple {
                true => simple,
                false => sums(list, hits.iter().copied()).combined(simple),
            };
            let both = hits.iter().zip(&before).map(|(a, b)| *a && *b);
            let both = sums(list, both).combined(simple_both);
            all = (all + own - both).clamp(0.0, 1.0);
            before.iter_mut().zip(&hits).for_each(|(b, hit)| *b |= hit);
        }
        Ok(all)
    }

    /// Collects what a condition refers to; false if it has a form for which no most common
    /// combinations are used. Counterpart: `statext_is_compatible_clause_internal`.
    fn mentioned(&mut self, qual: &Expr, rti: i32, out: &mut Mentioned) -> Result<bool> {
        let mut variable = |e: &Expr| match e {
            Expr::Var(v) => {
                out.columns.push(v.varattno);
                v.varno == rti && v.varattno > 0
            }
            _ => {
                out.exprs.push(e.clone());
                true
            }
        };
        let mut reveals = false;
        let usable = match unlabelled(qual) {
            Expr::OpExpr(op) => match self.comparison_with_value(&op.args)? {
                Some(c) => {
                    let info = self.host.operator(op.opno)?;
                    reveals = !info.leakproof;
                    is_comparison(&info.restrict) && variable(c.variable)
                }
                None => false,
            },
            Expr::ScalarArrayOp(op) => match self.comparison_with_value(&op.args)? {
                Some(c) if !c.flipped => {
                    let info = self.host.operator(op.opno)?;
                    reveals = !info.leakproof;
                    is_comparison(&info.restrict) && variable(c.variable)
                }
                _ => false,
            },
            Expr::Bool(b) => {
                for arg in &b.args {
                    if !self.mentioned(arg, rti, out)? {
                        return Ok(false);
                    }
                }
                true
            }
            Expr::NullTest(n) => variable(&n.arg),
            other => variable(other),
        };
        out.reveals |= reveals;
        out.columns.sort_unstable();
        out.columns.dedup();
        Ok(usable)
    }

    /// The operands of a comparison, if one of them is known.
    fn comparison_with_value<'e>(&mut self, args: &'e [Expr]) -> Result<Option<Comparison<'e>>> {
        let [l, r] = args else { return Ok(None) };
        for (variable, other, flipped) in [(l, r, false), (r, l, true)] {
            let is_constant = match unlabelled(other) {
                Expr::Const(_) => true,
                Expr::Param(p) => p.paramkind == ParamKind::Extern,
                _ => false,
            };
            if !is_constant {
                continue;
            }
            if let Some(value) = self.known_value(other)? {
                let (variable, value_type) = (unlabelled(variable), other.type_oid());
                return Ok(Some(Comparison { variable, value, value_type, flipped }));
            }
        }
        Ok(None)
    }

    /// The items of a list that satisfy all conditions, or one of them (`any`). Counterpart:
    /// `mcv_get_match_bitmap`.
    fn matches(
        &mut self,
        object: &StatisticsObject,
        list: &McvList,
        quals: &[Expr],
        any: bool,
    ) -> Result<Vec<bool>> {
        let mut out = vec![!any; list.items.len()];
        for q in quals {
            let hits = self.matches_of(object, list, q)?;
            for (out, hit) in out.iter_mut().zip(hits) {
                *out = if any { *out || hit } else { *out && hit };
            }
        }
        Ok(out)
    }

    fn matches_of(
        &mut self,
        object: &StatisticsObject,
        list: &McvList,
        qual: &Expr,
    ) -> Result<Vec<bool>> {
        let none = vec![false; list.items.len()];
        Ok(match unlabelled(qual) {
            Expr::OpExpr(op) => match self.comparison_with_value(&op.args)? {
                Some(c) => self.compared_items(object, list, op, &c)?,
                None => none,
            },
            Expr::ScalarArrayOp(op) => self.array_items(object, list, op)?,
            Expr::Bool(b) => match b.boolop {
                BoolOp::And => self.matches(object, list, &b.args, false)?,
                BoolOp::Or => self.matches(object, list, &b.args, true)?,
                BoolOp::Not => {
                    let hits = self.matches(object, list, &b.args, false)?;
                    hits.into_iter().map(|hit| !hit).collect()
                }
            },
            Expr::NullTest(n) => null_items(object, list, n),
            other => match object.dimension(other) {
                Some(d) => {
                    let is_true = |v: &Datum| !v.is_null() && v.as_ref().as_bool();
                    list.items.iter().map(|item| is_true(&item.values[d])).collect()
                }
                None => none,
            },
        })
    }

    /// The items for which an operator holds; it does not for NULL.
    fn compared_items(
        &mut self,
        object: &StatisticsObject,
        list: &McvList,
        op: &OpExpr,
        c: &Comparison<'_>,
    ) -> Result<Vec<bool>> {
        let mut out = vec![false; list.items.len()];
        let (Some(d), false) = (object.dimension(c.variable), c.value.is_null()) else {
            return Ok(out);
        };
        let present = |n: &usize| !list.items[*n].values[d].is_null();
        let places: Vec<usize> = (0..list.items.len()).filter(present).collect();
        let values: Vec<Datum> = places.iter().map(|n| list.items[*n].values[d].clone()).collect();
        let collation = c.variable.collation();
        let value = self.constant(c.value.clone(), c.value_type, collation)?;
        let op = OpExpr { inputcollid: collation, ..op.clone() };
        let column = (list.types[d], collation);
        let found = self.operator_holds(&op, column, value, c.flipped, &values)?;
        places.into_iter().zip(found).for_each(|(n, hit)| out[n] = hit);
        Ok(out)
    }

    /// As [`Self::compared_items`], for ANY and ALL of an array.
    fn array_items(
        &mut self,
        object: &StatisticsObject,
        list: &McvList,
        op: &ScalarArrayOpExpr,
    ) -> Result<Vec<bool>> {
        let mut out = vec![false; list.items.len()];
        let Some(c) = self.comparison_with_value(&op.args)? else { return Ok(out) };
        let (Some(d), false) = (object.dimension(c.variable), c.value.is_null()) else {
            return Ok(out);
        };
        let array = ArrayRef::new(c.value.as_ref())?;
        let value_type = array.elem_type();
        let info = self.host.type_info(value_type)?;
        let elements: Vec<Datum> = array.iter(&info).map(|e| e.to_owned()).collect();
        for (out, item) in out.iter_mut().zip(&list.items) {
            *out = !op.use_or && !item.values[d].is_null();
        }
        let one = OpExpr {
            opno: op.opno,
            opfuncid: op.opfuncid,
            opresulttype: types::oids::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: op.inputcollid,
            args: Vec::new(),
            location: op.location,
        };
        for value in elements {
            let c = Comparison { variable: c.variable, value, value_type, flipped: false };
            let hits = self.compared_items(object, list, &one, &c)?;
            for (out, hit) in out.iter_mut().zip(hits) {
                *out = if op.use_or { *out || hit } else { *out && hit };
            }
        }
        Ok(out)
    }
}

fn null_items(object: &StatisticsObject, list: &McvList, test: &NullTest) -> Vec<bool> {
    match object.dimension(&test.arg) {
        Some(d) => list.items.iter().map(|item| item.values[d].is_null() != test.is_not).collect(),
        None => vec![false; list.items.len()],
    }
}

/// The object with most common combinations that covers the most columns and expressions of the
/// conditions that it covers, at least two; of several, the narrowest. Counterpart:
/// `choose_best_statistics`.
fn best<'o>(
    objects: &'o [StatisticsObject],
    mentioned: &[Mentioned],
) -> Option<&'o StatisticsObject> {
    let mut best: Option<(&StatisticsObject, usize)> = None;
    for object in objects.iter().filter(|o| o.stats.mcv.is_some()) {
        let mut dimensions = vec![false; object.width()];
        for m in mentioned.iter().filter(|m| !m.is_empty() && object.covers(m)) {
            for column in &m.columns {
                let at = object.stats.columns.iter().position(|c| c == column);
                at.into_iter().for_each(|at| dimensions[at] = true);
            }
            m.exprs.iter().filter_map(|e| object.dimension(e)).for_each(|d| dimensions[d] = true);
        }
        let matched = dimensions.iter().filter(|d| **d).count();
        let better = match best {
            None => matched >= 2,
            Some((other, most)) => {
                matched > most || matched == most && object.width() < other.width()
            }
        };
        if better {
            best = Some((object, matched));
        }
    }
    best.map(|(object, _)| object)
}

/// The expression without a RelabelType.
pub(crate) fn unlabelled(e: &Expr) -> &Expr {
    match e {
        Expr::Relabel(_) => strip(e),
        other => other,
    }
}
