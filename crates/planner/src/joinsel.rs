//! Selectivity of join conditions. Counterpart: selfuncs.c (`eqjoinsel`, `neqjoinsel`,
//! `mergejoinscansel`).

use crate::arraysel;
use crate::clause::Clauses;
use crate::scalarsel::{Side, range_selectivity};
use crate::selectivity::{
    DEFAULT_CONTAINED, DEFAULT_MATCH, DEFAULT_MATCHING, DEFAULT_POSITION, DEFAULT_RANGE_ONE,
    network_column, strip,
};
use crate::state::{Planner, PlannerInfo};
use crate::variable::VariableStats;
use ids::Oid;
use ids::builtin::collation;
use pgerror::Result;
use plan::expr::Expr;
use querytree::crosstype::converted;
use querytree::host::{ColumnStats, OperatorInfo};
use querytree::relids::Relids;
use querytree::vars::relids_of;
use std::borrow::Cow;
use std::cmp::Ordering;
use types::compare::Comparer;
use types::network::estimate::inclusion;
use types::{Datum, DatumRef};

/// The most common values of two columns, compared with each other; each value has at most one
/// match. Frequencies are fractions of all rows of their column.
struct CommonValues {
    /// Number of values of the first and of the second column.
    counts: (f64, f64),
    matches: f64,
    /// Sum of the products of the frequencies of matching values.
    product: f64,
    /// Frequency of all values of a column that have a match.
    matched: (f64, f64),
    /// Frequency of the others.
    unmatched: (f64, f64),
}

/// The two operands of an equality.
struct Operands {
    a: VariableStats,
    b: VariableStats,
}

impl Operands {
    fn nulls(&self) -> (f64, f64) {
        let of = |v: &VariableStats| v.stats.as_ref().map_or(0.0, |s| s.null_frac);
        (of(&self.a), of(&self.b))
    }

    /// Compares the most common values, the first `limit` ones of the second operand. `None` if an
    /// operand has none, or their types cannot be compared.
    fn common_values(&self, cmp: &Comparer, limit: f64) -> Option<CommonValues> {
        let (Some(a), Some(b)) = (&self.a.stats, &self.b.stats) else { return None };
        if a.mcv.is_empty() || b.mcv.is_empty() {
            return None;
        }
        let used = b.mcv.len().min(limit.max(0.0) as usize);
        let mut second = Vec::with_capacity(used);
        for (value, frequency) in b.mcv[..used].iter().zip(&b.mcv_freq) {
            let value = match self.a.type_oid == self.b.type_oid {
                true => Cow::Borrowed(value),
                false => Cow::Owned(converted(value, self.b.type_oid, self.a.type_oid)?),
            };
            second.push((value, *frequency));
        }
        let mut first: Vec<(&Datum, f64)> = a.mcv.iter().zip(a.mcv_freq.iter().copied()).collect();
        let order = |x: &Datum, y: &Datum| cmp.order(x.as_ref(), y.as_ref(), collation::DEFAULT);
        first.sort_by(|x, y| order(x.0, y.0));
        second.sort_by(|x, y| order(&x.0, &y.0));
        let total = |s: &ColumnStats| s.mcv_freq.iter().sum::<f64>();
        let mut out = CommonValues {
            counts: (a.mcv.len() as f64, b.mcv.len() as f64),
            matches: 0.0,
            product: 0.0,
            matched: (0.0, 0.0),
            unmatched: (total(a), total(b)),
        };
        let mut rest = second.iter().peekable();
        for (value, frequency) in first {
            while rest.next_if(|(other, _)| order(other, value) == Ordering::Less).is_some() {}
            if let Some((_, other)) = rest.next_if(|(other, _)| order(other, value).is_eq()) {
                out.matches += 1.0;
                out.product += frequency * other;
                out.matched = (out.matched.0 + frequency, out.matched.1 + other);
                out.unmatched = (out.unmatched.0 - frequency, out.unmatched.1 - other);
            }
        }
        Some(out)
    }

    /// Fraction of all pairs of rows that are equal. Counterpart: `eqjoinsel_inner`.
    fn equal_pairs(&self, cmp: Option<&Comparer>) -> f64 {
        let (nulls, distinct) = (self.nulls(), (self.a.distinct, self.b.distinct));
        let Some(c) = cmp.and_then(|cmp| self.common_values(cmp, f64::INFINITY)) else {
            let most = distinct.0.max(distinct.1).max(1.0);
            return (1.0 - nulls.0) * (1.0 - nulls.1) / most;
        };
        let others = (
            (1.0 - nulls.0 - c.matched.0 - c.unmatched.0).clamp(0.0, 1.0),
            (1.0 - nulls.1 - c.matched.1 - c.unmatched.1).clamp(0.0, 1.0),
        );
        let part = |rows: f64, values: f64| if values > 0.0 { rows / values } else { 0.0 };
        // From the point of view of one column: its unmatched common values match other values of
        // the second column, its other values match all but the matched common ones.
        let first = c.product
            + part(c.unmatched.0 * others.1, distinct.1 - c.counts.1)
            + part(others.0 * (others.1 + c.unmatched.1), distinct.1 - c.matches);
        let second = c.product
            + part(c.unmatched.1 * others.0, distinct.0 - c.counts.0)
            + part(others.1 * (others.0 + c.unmatched.0), distinct.0 - c.matches);
        first.min(second)
    }

    /// Fraction of all pairs of network addresses for which an operator of inclusion succeeds.
    fn included(&self, operator: Oid) -> Option<f64> {
        let empty = ColumnStats::default();
        let of = |v| network_column(Option::as_deref(v).unwrap_or(&empty));
        Some(inclusion(operator)?.join(&of(&self.a.stats), &of(&self.b.stats)))
    }

    /// Fraction of the rows of `a` for which an operator of inclusion succeeds with one of `rows`
    /// rows of `b`. `reversed`: `a` is the right operand.
    fn included_rows(&self, operator: Oid, rows: f64, reversed: bool) -> Option<f64> {
        let inclusion = inclusion(operator)?;
        let inclusion = if reversed { inclusion.commuted() } else { inclusion };
        let empty = ColumnStats::default();
        let of = |v| network_column(Option::as_deref(v).unwrap_or(&empty));
        Some(inclusion.semi_join(&of(&self.a.stats), &of(&self.b.stats), rows))
    }

    /// Fraction of the rows of `a` that equal one of `rows` rows of `b`. Counterpart:
    /// `eqjoinsel_semi`.
    fn rows_with_partner(&self, cmp: Option<&Comparer>, rows: f64) -> f64 {
        let nulls = self.nulls().0;
        let inner = self.b.distinct.min(rows);
        let guessed = self.a.is_default || (self.b.is_default && self.b.distinct < rows);
        let fraction = |outer: f64, inner: f64| match guessed {
            true => 0.5,
            false if outer <= inner || inner < 0.0 => 1.0,
            false => inner / outer,
        };
        let Some(c) = cmp.and_then(|cmp| self.common_values(cmp, inner)) else {
            return fraction(self.a.distinct, inner) * (1.0 - nulls);
        };
        let uncertain = (1.0 - c.matched.0 - nulls).clamp(0.0, 1.0);
        c.matched.0 + fraction(self.a.distinct - c.matches, inner - c.matches) * uncertain
    }
}

impl Planner<'_> {
    /// Selectivity of a condition between two relations by its join estimator.
    pub(crate) fn join_selectivity(
        &mut self,
        root: &PlannerInfo,
        l: &Expr,
        r: &Expr,
        operator: &OperatorInfo,
    ) -> Result<f64> {
        let estimator = operator.join.as_str();
        Ok(match estimator {
            "networkjoinsel" => {
                let a = self.variable_stats(root, l)?;
                let b = self.variable_stats(root, r)?;
                Operands { a, b }.included(operator.oid).unwrap_or(DEFAULT_MATCH)
            }
            "eqjoinsel" | "neqjoinsel" => {
                let a = self.variable_stats(root, l)?;
                let b = self.variable_stats(root, r)?;
                let cmp = self.host.type_compare(a.type_oid, l.collation()).ok();
                let equal = Operands { a, b }.equal_pairs(cmp.as_ref());
                if estimator == "eqjoinsel" { equal } else { 1.0 - equal }
            }
            "scalarltjoinsel" | "scalarlejoinsel" | "scalargtjoinsel" | "scalargejoinsel" => {
                DEFAULT_RANGE_ONE
            }
            "" => 0.5,
            "contjoinsel" => DEFAULT_CONTAINED,
            "positionjoinsel" => DEFAULT_POSITION,
            "matchingjoinsel" => DEFAULT_MATCHING,
            "tsmatchjoinsel" => types::textsearch::estimate::DEFAULT_FRACTION,
            "arraycontjoinsel" => arraysel::assumed(operator.oid),
            name => arraysel::of_intarray(name).map_or(DEFAULT_MATCH, arraysel::assumed),
        })
    }

    /// Fraction of the outer rows of a semi join that match one of `inner_rows` inner rows.
    pub(crate) fn semi_selectivity(
        &mut self,
        root: &PlannerInfo,
        inner: &Relids,
        inner_rows: f64,
        quals: &Clauses,
    ) -> Result<f64> {
        let mut fraction = 1.0;
        for q in quals {
            let sides = match &*q.expr {
                Expr::OpExpr(op) => match op.args.as_slice() {
                    [a, b] => Some((strip(a), strip(b), self.host.operator(op.opno)?)),
                    _ => None,
                },
                _ => None,
            };
            let estimator = sides.as_ref().map_or("", |(_, _, info)| info.join.as_str());
            let known = matches!(estimator, "eqjoinsel" | "neqjoinsel" | "networkjoinsel");
            let (Some((a, b, info)), true) = (&sides, known) else {
                let inequality = estimator.starts_with("scalar");
                fraction *= if inequality { DEFAULT_RANGE_ONE } else { 0.5 };
                continue;
            };
            let reversed = !relids_of(a).is_empty() && relids_of(a).is_subset(inner);
            let (outer, inside) = if reversed { (b, a) } else { (a, b) };
            let a = self.variable_stats(root, outer)?;
            if estimator == "neqjoinsel" {
                // Almost every outer value differs from some inner value.
                fraction *= 1.0 - a.stats.as_ref().map_or(0.0, |s| s.null_frac);
                continue;
            }
            let b = self.variable_stats(root, inside)?;
            let cmp = self.host.type_compare(a.type_oid, outer.collation()).ok();
            let sides = Operands { a, b };
            if estimator == "networkjoinsel" {
                let found = sides.included_rows(info.oid, inner_rows, reversed);
                fraction *= found.unwrap_or(0.5);
                continue;
            }
            let with_partner = sides.rows_with_partner(cmp.as_ref(), inner_rows.max(1.0));
            // Not more rows than an inner join would return.
            fraction *= with_partner.min(inner_rows * sides.equal_pairs(cmp.as_ref()));
        }
        Ok(fraction.clamp(0.0, 1.0))
    }

    /// Fractions of the two inputs that a merge join reads before one of them ends, by the largest
    /// known values of the columns. Counterpart: `mergejoinscansel`.
    pub(crate) fn merge_fractions(
        &mut self,
        root: &PlannerInfo,
        clause: &Expr,
    ) -> Result<(f64, f64)> {
        let Expr::OpExpr(op) = clause else { return Ok((1.0, 1.0)) };
        let [l, r] = op.args.as_slice() else { return Ok((1.0, 1.0)) };
        let (l, r) = (strip(l), strip(r));
        if l.type_oid() != r.type_oid() {
            return Ok((1.0, 1.0));
        }
        let cmp = self.host.type_compare(l.type_oid(), op.inputcollid)?;
        let (a, b) = (self.variable_stats(root, l)?, self.variable_stats(root, r)?);
        let (Some(sa), Some(sb)) = (&a.stats, &b.stats) else { return Ok((1.0, 1.0)) };
        let (Some(la), Some(lb)) = (largest(sa, &cmp), largest(sb, &cmp)) else {
            return Ok((1.0, 1.0));
        };
        let side = Side { less: true, equal: true };
        let fraction = |v: &VariableStats, s: &ColumnStats, end: DatumRef<'_>| {
            (range_selectivity(v, s, &end.to_owned(), &cmp, side) + s.null_frac).clamp(0.0, 1.0)
        };
        Ok(match cmp.order(la, lb, op.inputcollid) {
            Ordering::Less => (1.0, fraction(&b, sb, la)),
            Ordering::Greater => (fraction(&a, sa, lb), 1.0),
            Ordering::Equal => (1.0, 1.0),
        })
    }
}

/// The largest known value of a column.
fn largest<'s>(s: &'s ColumnStats, cmp: &Comparer) -> Option<DatumRef<'s>> {
    let candidates = s.mcv.iter().chain(s.histogram.last()).map(Datum::as_ref);
    candidates.reduce(|a, b| if cmp.order(a, b, collation::DEFAULT).is_lt() { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_host::TestHost;
    use eval::Facts;
    use std::sync::Arc;
    use types::oids;

    /// A column whose common values have these frequencies, with `distinct` values in 1000 rows.
    fn column(common: &[(i32, f64)], distinct: f64) -> VariableStats {
        let stats = ColumnStats {
            null_frac: 0.0,
            width: 4,
            n_distinct: distinct,
            mcv: common.iter().map(|c| Datum::int4(c.0)).collect(),
            mcv_freq: common.iter().map(|c| c.1).collect(),
            ..ColumnStats::default()
        };
        VariableStats {
            stats: Some(Arc::new(stats)),
            rows: 1000.0,
            distinct,
            is_default: false,
            type_oid: oids::INT4,
            unique: false,
        }
    }

    /// The fractions of equal pairs, and of rows of `a` with a partner in `b`.
    fn estimates(a: VariableStats, b: VariableStats) -> (f64, f64) {
        let cmp = TestHost::new().type_compare(oids::INT4, ids::Oid::INVALID).ok();
        let sides = Operands { a, b };
        (sides.equal_pairs(cmp.as_ref()), sides.rows_with_partner(cmp.as_ref(), 1000.0))
    }

    fn assert_close(have: (f64, f64), want: (f64, f64)) {
        let close = |x: f64, y: f64| (x - y).abs() < 1e-9;
        assert!(close(have.0, want.0) && close(have.1, want.1), "{have:?}, not {want:?}");
    }

    #[test]
    fn estimates_are_exact_if_all_values_are_known() {
        let a = column(&[(3, 0.2), (1, 0.5), (2, 0.3)], 3.0);
        let b = column(&[(2, 0.9), (1, 0.1)], 2.0);
        assert_close(estimates(a, b), (0.5 * 0.1 + 0.3 * 0.9, 0.8));
    }

    #[test]
    fn a_few_common_values_decide_over_many_rare_ones() {
        let a = column(&[(7, 0.9)], 101.0);
        let b = column(&[(7, 0.6)], 41.0);
        // The rest of both columns is evenly distributed over the larger number of values.
        assert_close(estimates(a, b), (0.9 * 0.6 + 0.1 * 0.4 / 100.0, 0.9 + 0.1 * 40.0 / 100.0));
    }

    #[test]
    fn without_common_values_the_numbers_of_distinct_values_decide() {
        assert_close(estimates(column(&[], 10.0), column(&[], 4.0)), (0.1, 0.4));
        assert_close(estimates(column(&[], 4.0), column(&[], 10.0)), (0.1, 1.0));
    }
}
