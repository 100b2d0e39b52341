//! Selectivity of equalities on columns that depend on one another. Counterpart: dependencies.c
//! (`dependencies_clauselist_selectivity`).

use crate::extsel::{StatisticsObject, unlabelled};
use crate::state::{Planner, PlannerInfo};
use eval::Volatility;
use ids::AttrNo;
use pgerror::Result;
use plan::expr::{BoolOp, Expr};
use querytree::vars::relids_of;

/// A column, or an expression of a statistics object.
#[derive(Clone, PartialEq)]
enum Key {
    Column(AttrNo),
    Expr(Expr),
}

/// A dependency of the last key on the others.
#[derive(Clone)]
struct Dependency {
    keys: Vec<Key>,
    degree: f64,
}

impl StatisticsObject {
    fn key(&self, number: AttrNo) -> Option<Key> {
        match usize::try_from(-number) {
            Ok(n) if n > 0 => self.exprs.get(n - 1).cloned().map(Key::Expr),
            _ => Some(Key::Column(number)),
        }
    }

    fn dependencies_among(&self, keys: &[Key]) -> Vec<Dependency> {
        let mut out = Vec::new();
        for d in &self.stats.dependencies {
            let own: Option<Vec<Key>> = d.columns.iter().map(|n| self.key(*n)).collect();
            if let Some(own) = own.filter(|own| own.iter().all(|k| keys.contains(k))) {
                out.push(Dependency { keys: own, degree: d.value });
            }
        }
        out
    }
}

impl Planner<'_> {
    /// Selectivity of the conditions that dependencies cover and that are not `done`; these
    /// become `done`.
    pub(crate) fn dependent_selectivity(
        &mut self,
        root: &PlannerInfo,
        quals: &[Expr],
        (rti, objects): (i32, &[StatisticsObject]),
        done: &mut [bool],
    ) -> Result<f64> {
        if objects.iter().all(|o| o.stats.dependencies.is_empty()) {
            return Ok(1.0);
        }
        let mut of_quals: Vec<Option<Key>> = Vec::with_capacity(quals.len());
        let mut keys: Vec<Key> = Vec::new();
        for (q, done) in quals.iter().zip(done.iter()) {
            let key = if *done { None } else { self.equated(q, rti, objects)? };
            if let Some(key) = key.as_ref().filter(|k| !keys.contains(k)) {
                keys.push(key.clone());
            }
            of_quals.push(key);
        }
        if keys.len() < 2 {
            return Ok(1.0);
        }
        let all: Vec<Dependency> =
            objects.iter().flat_map(|o| o.dependencies_among(&keys)).collect();
        let mut chosen: Vec<Dependency> = Vec::new();
        while let Some(strongest) = strongest(&all, &keys) {
            let last = strongest.keys.last().cloned();
            chosen.push(strongest.clone());
            keys.retain(|k| Some(k) != last.as_ref());
        }
        if chosen.is_empty() {
            return Ok(1.0);
        }
        let mut parts: Vec<(Key, f64)> = Vec::new();
        for key in chosen.iter().flat_map(|d| &d.keys) {
            if parts.iter().any(|p| p.0 == *key) {
                continue;
            }
            let mut own = Vec::new();
            for ((q, of), done) in quals.iter().zip(&of_quals).zip(done.iter_mut()) {
                if of.as_ref() == Some(key) {
                    own.push(q.clone());
                    *done = true;
                }
            }
            parts.push((key.clone(), self.independent_selectivity(root, &own)?));
        }
        // In chains of dependencies, the last ones found are applied first.
        for d in chosen.iter().rev() {
            let Some((last, others)) = d.keys.split_last() else { continue };
            let of = |k: &Key| parts.iter().find(|p| p.0 == *k).map_or(1.0, |p| p.1);
            let given: f64 = others.iter().map(of).product();
            let own = of(last);
            let dependent = if given <= own { 1.0 } else { own / given };
            let conditional = d.degree * dependent + (1.0 - d.degree) * own;
            if let Some(part) = parts.iter_mut().find(|p| p.0 == *last) {
                part.1 = conditional;
            }
        }
        Ok(parts.iter().map(|p| p.1).product::<f64>().clamp(0.0, 1.0))
    }

    /// The column, or expression of an object, that a condition equates with a value. Counterpart:
    /// `dependency_is_compatible_clause`, `dependency_is_compatible_expression`.
    fn equated(
        &mut self,
        qual: &Expr,
        rti: i32,
        objects: &[StatisticsObject],
    ) -> Result<Option<Key>> {
        let variable = match qual {
            Expr::OpExpr(op) => {
                let [l, r] = op.args.as_slice() else { return Ok(None) };
                let variable = if self.is_pseudo_constant(r)? {
                    l
                } else if self.is_pseudo_constant(l)? {
                    r
                } else {
                    return Ok(None);
                };
                if self.host.operator(op.opno)?.restrict != "eqsel" {
                    return Ok(None);
                }
                variable
            }
            Expr::ScalarArrayOp(op) => {
                let [l, r] = op.args.as_slice() else { return Ok(None) };
                let is_equality = self.host.operator(op.opno)?.restrict == "eqsel";
                if !op.use_or || !is_equality || !self.is_pseudo_constant(r)? {
                    return Ok(None);
                }
                l
            }
            Expr::Bool(b) if b.boolop == BoolOp::Or => {
                let mut key: Option<Key> = None;
                for arg in &b.args {
                    let own = self.equated(arg, rti, objects)?;
                    if own.is_none() || key.as_ref().is_some_and(|k| Some(k) != own.as_ref()) {
                        return Ok(None);
                    }
                    key = own;
                }
                return Ok(key);
            }
            Expr::Bool(b) if b.boolop == BoolOp::Not => match b.args.first() {
                Some(arg) => arg,
                None => return Ok(None),
            },
            other => other,
        };
        Ok(match unlabelled(variable) {
            Expr::Var(v) if v.varno == rti && v.varattno > 0 => Some(Key::Column(v.varattno)),
            e if objects
                .iter()
                .any(|o| !o.stats.dependencies.is_empty() && o.exprs.contains(e)) =>
            {
                Some(Key::Expr(e.clone()))
            }
            _ => None,
        })
    }

    /// Counterpart: `is_pseudo_constant_clause`.
    fn is_pseudo_constant(&mut self, e: &Expr) -> Result<bool> {
        Ok(relids_of(e).is_empty()
            && (matches!(e, Expr::Const(_) | Expr::Param(_))
                || eval::volatility(e, self.host)? != Volatility::Volatile))
    }
}

/// The widest of the dependencies among the keys; of several, the last one with the highest degree.
fn strongest<'d>(all: &'d [Dependency], keys: &[Key]) -> Option<&'d Dependency> {
    let mut best: Option<&Dependency> = None;
    for d in all.iter().filter(|d| d.keys.iter().all(|k| keys.contains(k))) {
        let weaker = best.is_some_and(|b| {
            d.keys.len() < b.keys.len() || d.keys.len() == b.keys.len() && b.degree > d.degree
        });
        if !weaker {
            best = Some(d);
        }
    }
    best
}
