//! Selectivity of operators that are evaluated for the most common values and the histogram bounds,
//! among them matches of patterns. Counterpart: like_support.c, `generic_restriction_selectivity`.

use crate::scalarsel::{Inequality, Restriction, Side, believable};
use crate::selectivity::{DEFAULT_MATCH, DEFAULT_MATCHING};
use crate::state::Planner;
use pgerror::Result;
use querytree::pattern::{PatternKind, next_prefix};
use types::compare::Comparer;
use types::{Datum, DatumRef, oids};

/// With this number of histogram bounds, a pattern is estimated by the histogram alone.
const LONG_HISTOGRAM: usize = 100;

impl Planner<'_> {
    /// Selectivity of an operator for which only its results for the most common values and the
    /// histogram bounds are known.
    pub(crate) fn matching_selectivity(&mut self, c: &Restriction<'_>) -> Result<f64> {
        let Some(value) = c.value else { return Ok(DEFAULT_MATCHING) };
        let (common, all, others) = self.tried(c, value, false)?;
        let bounds = c.v.stats.as_ref().map_or(0, |s| s.histogram.len());
        let weight = (bounds as f64 / LONG_HISTOGRAM as f64).min(1.0);
        let fraction = match others {
            Some(fraction) if bounds >= LONG_HISTOGRAM => fraction,
            Some(fraction) => fraction * weight + DEFAULT_MATCHING * (1.0 - weight),
            None => DEFAULT_MATCHING,
        };
        let rest = 1.0 - c.v.nulls() - all;
        Ok((fraction.clamp(0.0001, 0.9999) * rest + common).clamp(0.0, 1.0))
    }

    /// Selectivity of `column ~ pattern`: the operator is evaluated for the most common values and
    /// the histogram bounds; with a short histogram the result is combined with an estimate from
    /// the pattern. Counterpart: `patternsel_common`.
    pub(crate) fn pattern_selectivity(
        &mut self,
        c: &Restriction<'_>,
        kind: PatternKind,
        negated: bool,
    ) -> Result<f64> {
        let default = if negated { 1.0 - DEFAULT_MATCH } else { DEFAULT_MATCH };
        let is_pattern = matches!(c.value_type, oids::TEXT | oids::BYTEA)
            && matches!(c.v.type_oid, oids::TEXT | oids::NAME | oids::BPCHAR | oids::BYTEA);
        let (Some(value), true) = (c.value, is_pattern && !c.flipped) else { return Ok(default) };
        let matches = kind.matches(value.as_ref().as_bytes());
        let cmp = self.host.type_compare(c.v.type_oid, c.op.inputcollid)?;
        let equal = |text: &[u8]| {
            c.v.equal_fraction(&mut |m| {
                let order = cmp.order(m.as_ref(), DatumRef::Bytes(text), c.op.inputcollid);
                Ok(order.is_eq())
            })
        };
        let nulls = c.v.nulls();
        let fraction = if matches.whole {
            equal(&matches.prefix)?
        } else {
            let (common, all, others) = self.tried(c, value, negated)?;
            let bounds = c.v.stats.as_ref().map_or(0, |s| s.histogram.len());
            let own = match matches.prefix.is_empty() {
                true => 1.0,
                false => prefix_selectivity(c, &matches.prefix, &cmp, equal(&matches.prefix)?)?,
            } * matches.rest;
            let fraction = match others {
                Some(fraction) if bounds >= LONG_HISTOGRAM => fraction,
                Some(fraction) => {
                    let weight = bounds as f64 / LONG_HISTOGRAM as f64;
                    fraction * weight + own * (1.0 - weight)
                }
                None => own,
            };
            fraction.clamp(0.0001, 0.9999) * (1.0 - nulls - all) + common
        };
        let fraction = if negated { 1.0 - fraction - nulls } else { fraction };
        Ok(fraction.clamp(0.0, 1.0))
    }

    /// Evaluates the operator: the fraction of all rows with a most common value that matches, that
    /// with any most common value, and the fraction of histogram bounds that match, if there are
    /// enough. The operator may be the negated match.
    fn tried(
        &mut self,
        c: &Restriction<'_>,
        value: &Datum,
        negated: bool,
    ) -> Result<(f64, f64, Option<f64>)> {
        /// A histogram with fewer bounds is not used.
        const BOUNDS_MIN: usize = 10;
        let Some(stats) = &c.v.stats else { return Ok((0.0, 0.0, None)) };
        // The first and the last bound are extreme values.
        let inner = match stats.histogram.len() {
            n if n >= BOUNDS_MIN => &stats.histogram[1..n - 1],
            _ => &[],
        };
        let values: Vec<Datum> = stats.mcv.iter().chain(inner).cloned().collect();
        let found = self.holds(c.op.opno, c, value, &values)?;
        let (of_commons, of_inner) = found.split_at(stats.mcv.len());
        let pairs = of_commons.iter().zip(&stats.mcv_freq);
        let common =
            pairs.filter(|(hit, _)| **hit != negated).map(|(_, frequency)| frequency).sum();
        let all = stats.mcv_freq.iter().sum();
        let hits = of_inner.iter().filter(|hit| **hit != negated).count();
        let fraction = (!inner.is_empty()).then(|| hits as f64 / inner.len() as f64);
        Ok((common, all, fraction))
    }
}

/// Fraction of the values that begin with the prefix, most common values excluded; `equal` is that
/// of the prefix itself. Counterpart: `prefix_selectivity`.
fn prefix_selectivity(
    c: &Restriction<'_>,
    prefix: &[u8],
    cmp: &Comparer,
    equal: f64,
) -> Result<f64> {
    let Some(stats) = c.v.stats.as_ref().filter(|s| s.histogram.len() > 1) else {
        return Ok(DEFAULT_MATCH);
    };
    let others = c.v.distinct - stats.mcv_freq.len() as f64;
    let beside = |text: &[u8], side: Side| -> Result<f64> {
        let value = Datum::bytes(text);
        let inequality = Inequality { stats, others, side };
        let mut test = |m: &Datum| {
            let order = cmp.order(m.as_ref(), value.as_ref(), c.op.inputcollid);
            Ok(if order.is_eq() { side.equal } else { order.is_lt() == side.less })
        };
        let fraction = inequality.fraction(&mut test, (&value, c.value_type), c.v.type_oid)?;
        Ok(believable(fraction, stats.histogram.len()))
    };
    let mut fraction = beside(prefix, Side { less: false, equal: true })?;
    if let Some(end) = next_prefix(prefix) {
        fraction = beside(&end, Side { less: true, equal: false })? + fraction - 1.0;
    }
    // The histogram may be too coarse.
    Ok(fraction.max(equal))
}
