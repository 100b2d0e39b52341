//! Selectivity of the operators on array columns: overlaps, contains, is contained, by the most
//! common elements. Elements are assumed to occur independently of one another.
//!
//! Counterpart: array_selfuncs.c.

use crate::selectivity::strip;
use crate::state::{Planner, PlannerInfo};
use crate::variable::VariableStats;
use ids::Oid;
use pgerror::Result;
use plan::expr::ScalarArrayOpExpr;
use querytree::vars::relids_of;
use std::cmp::Ordering;
use types::array::ArrayRef;
use types::{Comparer, Datum, oids};

const OVERLAPS: Oid = Oid(2750);
const CONTAINS: Oid = Oid(2751);
const CONTAINED: Oid = Oid(2752);

/// The default for an element that is not a common one. Counterpart: `DEFAULT_CONTAIN_SEL`.
const DEFAULT_CONTAINS: f64 = 0.005;
/// Counterpart: `DEFAULT_OVERLAP_SEL`.
const DEFAULT_OVERLAPS: f64 = 0.01;
/// Limits the work for a comparison with the distribution of numbers of elements.
const EFFORT: usize = 100;

/// The statistics of the elements.
struct Elements<'a> {
    values: &'a [Datum],
    /// One for each value, or none.
    frequencies: &'a [f64],
    least: f64,
    nulls: f64,
    counts: &'a [f64],
}

impl Planner<'_> {
    /// `flipped`: the column is the right operand.
    pub(crate) fn element_selectivity(
        &mut self,
        opno: Oid,
        v: &VariableStats,
        (value, ty): (Option<&Datum>, Oid),
        flipped: bool,
    ) -> Result<f64> {
        let default = assumed(opno);
        let Some(value) = value else { return Ok(default) };
        let opno = match opno {
            CONTAINS if flipped => CONTAINED,
            CONTAINED if flipped => CONTAINS,
            other => other,
        };
        if !matches!(opno, OVERLAPS | CONTAINS | CONTAINED) {
            return Ok(default);
        }
        let elem = self.host.type_info(ty)?.elem;
        if !elem.is_valid() || self.host.type_info(v.type_oid)?.elem != elem {
            return Ok(default);
        }
        let info = self.host.type_info(elem)?;
        let collation = ids::builtin::collation::DEFAULT;
        let Ok(order) = self.host.type_compare(elem, collation) else { return Ok(default) };
        let array = ArrayRef::new(value.as_ref())?;
        if opno == CONTAINS && array.iter(&info).any(|e| e.is_null()) {
            return Ok(0.0);
        }
        let present = array.iter(&info).filter(|e| !e.is_null());
        let mut wanted: Vec<Datum> = present.map(|e| e.to_owned()).collect();
        wanted.sort_by(|a, b| compare(&order, a, b));
        wanted.dedup_by(|a, b| compare(&order, a, b).is_eq());
        let stats = Elements::of(v);
        let selectivity = match opno {
            CONTAINED => stats.contained(&wanted, &order),
            _ => stats.contains(&wanted, &order, opno == CONTAINS),
        };
        // The frequencies are those among the arrays that are not NULL.
        let nulls = v.stats.as_ref().map_or(0.0, |s| s.null_frac);
        Ok((selectivity * (1.0 - nulls)).clamp(0.0, 1.0))
    }

    /// Selectivity of `constant = ANY (column)` and of similar conditions, by the elements; `None`
    /// if the condition has another form. Counterpart: `scalararraysel_containment`.
    pub(crate) fn any_element_selectivity(
        &mut self,
        root: &PlannerInfo,
        op: &ScalarArrayOpExpr,
    ) -> Result<Option<f64>> {
        let [left, right] = op.args.as_slice() else { return Ok(None) };
        let relids = relids_of(right);
        let varies = match self.lookup {
            Some(rti) => relids.contains(&rti),
            None => relids.len() == 1,
        };
        if !varies || !relids_of(left).is_empty() {
            return Ok(None);
        }
        let elem = self.host.type_info(right.type_oid())?.elem;
        if !elem.is_valid() {
            return Ok(None);
        }
        let equality = self.host.default_operators(elem)?.eq;
        let is_equality = op.opno == equality;
        if !equality.is_valid() || !is_equality && self.host.operator(op.opno)?.negator != equality
        {
            return Ok(None);
        }
        let Some(value) = self.known_value(left)? else { return Ok(None) };
        if value.is_null() {
            return Ok(Some(0.0));
        }
        let collation = ids::builtin::collation::DEFAULT;
        let Ok(order) = self.host.type_compare(elem, collation) else { return Ok(None) };
        let v = self.variable_stats(root, strip(right))?;
        let stats = Elements::of(&v);
        let selectivity = match op.use_or == is_equality {
            true => stats.contains(&[value], &order, true),
            false => stats.contained(&[value], &order),
        };
        let selectivity = selectivity * (1.0 - v.nulls());
        let selectivity = if is_equality { selectivity } else { 1.0 - selectivity };
        Ok(Some(selectivity.clamp(0.0, 1.0)))
    }
}

/// The selectivity of an operator on arrays of which nothing is known.
pub(crate) fn assumed(opno: Oid) -> f64 {
    if opno == OVERLAPS { DEFAULT_OVERLAPS } else { DEFAULT_CONTAINS }
}

/// The array operator by which an estimator of the extension intarray, of restrictions or of joins,
/// estimates. Counterpart: contrib/intarray/_int_selfuncs.c.
pub(crate) fn of_intarray(estimator: &str) -> Option<Oid> {
    Some(match estimator {
        "_int_overlap_sel" | "_int_overlap_joinsel" => OVERLAPS,
        "_int_contains_sel" | "_int_contains_joinsel" => CONTAINS,
        "_int_contained_sel" | "_int_contained_joinsel" => CONTAINED,
        _ => return None,
    })
}

/// The fraction of arrays that fulfil a `query_int`, which is `None` if it is not known.
/// Counterpart: `_int_matchsel`.
pub(crate) fn query_selectivity(v: &VariableStats, query: Option<&Datum>) -> f64 {
    let Some(query) = query.filter(|_| v.type_oid == oids::INT4_ARRAY) else {
        return DEFAULT_CONTAINS;
    };
    let stats = Elements::of(v);
    let frequency = |value: i32| {
        let found = stats.values.binary_search_by(|e| e.as_ref().as_i32().cmp(&value));
        found.map_or(stats.rare(), |n| stats.frequencies[n])
    };
    let nulls = v.stats.as_ref().map_or(0.0, |s| s.null_frac);
    let fraction = contrib::intarray::selectivity(query.as_ref(), frequency);
    (fraction * (1.0 - nulls)).clamp(0.0, 1.0)
}

fn compare(order: &Comparer, a: &Datum, b: &Datum) -> Ordering {
    order.order(a.as_ref(), b.as_ref(), ids::builtin::collation::DEFAULT)
}

impl<'a> Elements<'a> {
    fn of(v: &'a VariableStats) -> Elements<'a> {
        let unknown = Elements {
            values: &[],
            frequencies: &[],
            least: 2.0 * DEFAULT_CONTAINS,
            nulls: 0.0,
            counts: &[],
        };
        let Some(s) = &v.stats else { return unknown };
        let values = &s.elements[..];
        let Some((frequencies, [least, _, nulls])) = s.element_freq.split_at_checked(values.len())
        else {
            return unknown;
        };
        let (least, nulls) = (*least, *nulls);
        Elements { values, frequencies, least, nulls, counts: &s.element_counts }
    }

    /// The frequency of an element that is not a common one.
    fn rare(&self) -> f64 {
        DEFAULT_CONTAINS.min(self.least / 2.0)
    }

    fn find(&self, element: &Datum, order: &Comparer) -> Option<usize> {
        self.values.binary_search_by(|e| compare(order, e, element)).ok()
    }

    /// Fraction of the arrays with all elements, or with any of them.
    fn contains(&self, wanted: &[Datum], order: &Comparer, all: bool) -> f64 {
        let frequency =
            |e: &Datum| self.find(e, order).map_or(self.rare(), |n| self.frequencies[n]);
        let each = wanted.iter().map(frequency);
        match all {
            true => each.product(),
            false => each.fold(0.0, |any, one| any + one - any * one),
        }
    }

    /// Fraction of the arrays that have no other elements. Independent elements would imply a
    /// distribution of the number of elements; it is replaced by the known one. Counterpart:
    /// `mcelem_array_contained_selec`.
    fn contained(&self, wanted: &[Datum], order: &Comparer) -> f64 {
        let Some((average, bounds)) = self.counts.split_last() else { return DEFAULT_CONTAINS };
        if self.frequencies.is_empty() && self.values.is_empty() || bounds.len() < 2 {
            return DEFAULT_CONTAINS;
        }
        let found: Vec<Option<usize>> = wanted.iter().map(|e| self.find(e, order)).collect();
        let mut chosen: Vec<f64> =
            found.iter().map(|f| f.map_or(self.rare(), |n| self.frequencies[n])).collect();
        // The probability that no other common element occurs, and the expected number of elements
        // that are not common.
        let rest = average - self.frequencies.iter().sum::<f64>();
        let others = (0..self.values.len()).filter(|n| !found.contains(&Some(*n)));
        let none: f64 = others.map(|n| 1.0 - self.frequencies[n]).product();
        let none = none * (-rest).exp();
        let common = self.values.len();
        if common + chosen.len() > 0 && chosen.len() > EFFORT * common / (common + chosen.len()) {
            let b = common as f64;
            chosen.sort_by(|a, b| b.total_cmp(a));
            chosen.truncate((((b * b + 4.0 * EFFORT as f64 * b).sqrt() - b) / 2.0) as usize);
        }
        let n = chosen.len();
        let own = distribution(&chosen, n, 0.0);
        let all = distribution(self.frequencies, n, rest);
        let known = histogram(bounds, n);
        let part = |i: usize| if all[i] > 0.0 { known[i] * none * own[i] / all[i] } else { 0.0 };
        ((0..=n).map(part).sum::<f64>() * (1.0 - self.nulls)).clamp(0.0, 1.0)
    }
}

/// The probabilities of 0 to `m` of independent events, and of rare ones with the sum of
/// probabilities `rest`. Counterpart: `calc_distr`.
fn distribution(events: &[f64], m: usize, rest: f64) -> Vec<f64> {
    let mut row = vec![0.0; m + 1];
    row[0] = 1.0;
    for p in events {
        for j in (0..=m).rev() {
            let one_less = if j > 0 { row[j - 1] } else { 0.0 };
            row[j] = row[j] * (1.0 - p) + one_less * p;
        }
    }
    if rest <= DEFAULT_CONTAINS {
        return row;
    }
    // The number of rare events has a Poisson distribution.
    let mut out = vec![0.0; m + 1];
    let mut t = (-rest).exp();
    for i in 0..=m {
        for j in 0..=m - i {
            out[i + j] += row[j] * t;
        }
        t *= rest / (i + 1) as f64;
    }
    out
}

/// The probabilities of 0 to `n` elements by a histogram. Each bin has the same probability; a
/// bound has half of that of the values within the bin. Counterpart: `calc_hist`.
fn histogram(bounds: &[f64], n: usize) -> Vec<f64> {
    let each = 1.0 / (bounds.len() - 1) as f64;
    let (mut at, mut previous) = (0, 0.0);
    let mut out = Vec::with_capacity(n + 1);
    for k in 0..=n {
        let first = at;
        while at < bounds.len() && bounds[at] <= k as f64 {
            at += 1;
        }
        let per_value = |interval: f64| if interval > 0.0 { 0.5 / interval } else { 0.0 };
        if at == first {
            out.push(if previous > 0.0 { each / previous } else { 0.0 });
            continue;
        }
        let next = if at < bounds.len() { bounds[at] - bounds[at - 1] } else { 0.0 };
        let whole = (at - first - 1) as f64;
        out.push(each * (whole + per_value(next) + per_value(previous)));
        previous = next;
    }
    out
}
