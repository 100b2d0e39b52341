//! How many ranges or multiranges of a column an operator matches, by the histograms that ANALYZE
//! has collected. Counterpart: rangetypes_selfuncs.c, multirangetypes_selfuncs.c.

use crate::pieces::Pieces;
use crate::stats::RangeStats;
use crate::stored::{Bound, Bounds, bounds, compare_bounds};
use ids::Oid;
use pgerror::{PgError, Result};
use values::datum::Datum;
use values::fn_context::FnContext;
use values::range::RangeType;

/// What an operator tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Test {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Left,
    Right,
    Overleft,
    Overright,
    Overlaps,
    Contains,
    ContainsValue,
    Contained,
    ValueContained,
}

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Range,
    Multirange,
    Value,
}

/// The operators, by OID.
#[rustfmt::skip]
const OPERATORS: &[(u32, Test, Kind, Kind)] = {
    use Kind::{Multirange as M, Range as R, Value as V};
    &[
        (3884, Test::Less, R, R), (3885, Test::LessEqual, R, R),
        (3886, Test::GreaterEqual, R, R), (3887, Test::Greater, R, R),
        (3888, Test::Overlaps, R, R), (3889, Test::ContainsValue, R, V),
        (3890, Test::Contains, R, R), (3891, Test::ValueContained, V, R),
        (3892, Test::Contained, R, R), (3893, Test::Left, R, R),
        (3894, Test::Right, R, R), (3895, Test::Overleft, R, R),
        (3896, Test::Overright, R, R), (2862, Test::Less, M, M),
        (2863, Test::LessEqual, M, M), (2864, Test::GreaterEqual, M, M),
        (2865, Test::Greater, M, M), (2866, Test::Overlaps, R, M),
        (2867, Test::Overlaps, M, R), (2868, Test::Overlaps, M, M),
        (2869, Test::ContainsValue, M, V), (2870, Test::Contains, M, R),
        (2871, Test::Contains, M, M), (2872, Test::ValueContained, V, M),
        (2873, Test::Contained, R, M), (2874, Test::Contained, M, M),
        (4539, Test::Contains, R, M), (4540, Test::Contained, M, R),
        (2875, Test::Overleft, R, M), (2876, Test::Overleft, M, R),
        (2877, Test::Overleft, M, M), (3585, Test::Overright, R, M),
        (4035, Test::Overright, M, R), (4142, Test::Overright, M, M),
        (4395, Test::Left, R, M), (4396, Test::Left, M, R),
        (4397, Test::Left, M, M), (4398, Test::Right, R, M),
        (4399, Test::Right, M, R), (4400, Test::Right, M, M),
    ]
};

impl Test {
    /// The test with exchanged operands.
    fn commuted(self) -> Option<Test> {
        Some(match self {
            Test::Less => Test::Greater,
            Test::Greater => Test::Less,
            Test::LessEqual => Test::GreaterEqual,
            Test::GreaterEqual => Test::LessEqual,
            Test::Left => Test::Right,
            Test::Right => Test::Left,
            Test::Overlaps => Test::Overlaps,
            Test::Contains => Test::Contained,
            Test::Contained => Test::Contains,
            Test::ContainsValue => Test::ValueContained,
            Test::ValueContained => Test::ContainsValue,
            Test::Overleft | Test::Overright => return None,
        })
    }

    /// The estimate where nothing is known.
    fn assumed(self) -> f64 {
        match self {
            Test::Overlaps => 0.01,
            Test::Contains | Test::Contained | Test::ContainsValue | Test::ValueContained => 0.005,
            _ => 1.0 / 3.0,
        }
    }
}

/// The estimate for an operator that is not listed.
const ASSUMED: f64 = 0.01;

/// `multirange <@ range`, which PostgreSQL estimates without the histogram of lengths.
const WITHOUT_LENGTHS: Oid = Oid(4540);

/// The estimate for an operator where nothing is known of its operands.
pub fn assumed(operator: Oid) -> f64 {
    OPERATORS.iter().find(|o| o.0 == operator.0).map_or(ASSUMED, |o| o.1.assumed())
}

/// A condition on a column.
pub struct Condition<'a> {
    pub operator: Oid,
    /// The column is the right operand.
    pub flipped: bool,
    pub column_type: Oid,
    /// The other operand, not NULL; `None` if it is not known.
    pub value: Option<&'a Datum>,
    pub value_type: Oid,
    /// The column's statistics; `None` if it has none.
    pub stats: Option<&'a RangeStats>,
    pub null_frac: f64,
}

/// The fraction of the rows that satisfy the condition. Counterpart: `rangesel`, `multirangesel`.
pub fn selectivity(cx: &mut dyn FnContext, c: &Condition<'_>) -> Result<f64> {
    let default = assumed(c.operator);
    let found = OPERATORS.iter().find(|o| o.0 == c.operator.0);
    let (Some(&(_, test, mut column, mut other)), Some(value)) = (found, c.value) else {
        return Ok(default);
    };
    let test = match c.flipped {
        true => {
            std::mem::swap(&mut column, &mut other);
            test.commuted()
        }
        false => Some(test),
    };
    // As for an unknown operator.
    let Some(test) = test else { return Ok(ASSUMED) };
    if column == Kind::Value || column == Kind::Range && other == Kind::Multirange {
        return Ok(default);
    }
    let Ok(ty) = cx.range_type(c.column_type) else { return Ok(default) };
    let wanted = match (column, other) {
        (_, Kind::Value) => ty.elem.oid,
        (Kind::Multirange, Kind::Range) => ty.oid,
        _ => c.column_type,
    };
    if c.value_type != wanted {
        return Ok(default);
    }
    let constant = match other {
        Kind::Value => {
            Some((Bound::lower(value.as_ref(), true), Bound::upper(value.as_ref(), true)))
        }
        _ => Pieces::new(&ty, value.as_ref().as_bytes())?.span(),
    };
    let empty = c.stats.map_or(0.0, |s| f64::from(s.empty));
    let fraction = match constant {
        None => of_empty(test, empty),
        Some(constant) => {
            let of_bounds = match Histograms::new(&ty, c)? {
                Some(h) => h.selectivity(cx, test, constant)?,
                None => None,
            };
            let of_bounds = of_bounds.unwrap_or(test.assumed());
            // The empty range is contained in every range.
            let of_empty = if test == Test::Contained { empty } else { 0.0 };
            (1.0 - empty) * of_bounds + of_empty
        }
    };
    Ok((fraction * (1.0 - c.null_frac)).clamp(0.0, 1.0))
}

/// The fraction of ranges for which a test with the empty range succeeds.
fn of_empty(test: Test, empty: f64) -> f64 {
    match test {
        Test::Contained | Test::LessEqual => empty,
        Test::Contains | Test::GreaterEqual => 1.0,
        Test::Greater => 1.0 - empty,
        _ => 0.0,
    }
}

/// The histograms of a column.
struct Histograms<'a> {
    ty: &'a RangeType,
    lowers: Vec<Bound<'a>>,
    uppers: Vec<Bound<'a>>,
    /// `None`: ranges of any length are counted.
    lengths: Option<&'a [f64]>,
}

impl<'a> Histograms<'a> {
    /// `None` without a histogram of bounds.
    fn new(ty: &'a RangeType, c: &Condition<'a>) -> Result<Option<Histograms<'a>>> {
        let Some(stats) = c.stats.filter(|s| s.bounds.len() >= 2) else { return Ok(None) };
        let (mut lowers, mut uppers) = (Vec::new(), Vec::new());
        for range in &stats.bounds {
            let Some((lower, upper)) = bounds(ty, range.as_ref().as_bytes())? else {
                return Err(PgError::internal("bounds histogram contains an empty range"));
            };
            lowers.push(lower);
            uppers.push(upper);
        }
        let lengths = (c.operator != WITHOUT_LENGTHS).then_some(&stats.lengths[..]);
        Ok(Some(Histograms { ty, lowers, uppers, lengths }))
    }

    /// The fraction of the ranges that are not empty for which the test succeeds. `None` without
    /// the histogram of lengths that the test needs.
    fn selectivity(
        &self,
        cx: &mut dyn FnContext,
        test: Test,
        (lower, upper): Bounds<'_>,
    ) -> Result<Option<f64>> {
        let by_length = matches!(test, Test::Contains | Test::Contained);
        if by_length && self.lengths.is_some_and(|l| l.len() < 2) {
            return Ok(None);
        }
        let (lowers, uppers) = (&self.lowers[..], &self.uppers[..]);
        Ok(Some(match test {
            Test::Less => self.below(cx, &lower, lowers, false)?,
            Test::LessEqual => self.below(cx, &lower, lowers, true)?,
            Test::Greater | Test::Overright => 1.0 - self.below(cx, &lower, lowers, false)?,
            Test::GreaterEqual => 1.0 - self.below(cx, &lower, lowers, true)?,
            Test::Left => self.below(cx, &lower, uppers, false)?,
            Test::Right => 1.0 - self.below(cx, &upper, lowers, true)?,
            Test::Overleft => self.below(cx, &upper, uppers, true)?,
            Test::Overlaps | Test::ContainsValue => {
                // All ranges but those that are strictly left or right of it.
                let left = self.below(cx, &lower, uppers, false)?;
                let right = 1.0 - self.below(cx, &upper, lowers, true)?;
                1.0 - (left + right)
            }
            Test::Contains => self.containing(cx, &lower, &upper)?,
            Test::Contained if lower.infinite => self.below(cx, &upper, uppers, true)?,
            Test::Contained if upper.infinite => 1.0 - self.below(cx, &lower, lowers, false)?,
            Test::Contained => self.contained(cx, &lower, &upper)?,
            Test::ValueContained => return Ok(None),
        }))
    }

    /// The number of bounds that are less than a bound (or equal to it).
    fn rank(&self, bound: &Bound<'_>, of: &[Bound<'_>], equal: bool) -> usize {
        of.partition_point(|b| {
            let order = compare_bounds(self.ty, b, bound);
            order.is_lt() || equal && order.is_eq()
        })
    }

    /// The fraction of bounds that are less than a bound (or equal to it). Counterpart:
    /// `calc_hist_selectivity_scalar`.
    fn below(
        &self,
        cx: &mut dyn FnContext,
        bound: &Bound<'_>,
        of: &[Bound<'_>],
        equal: bool,
    ) -> Result<f64> {
        let bins = (of.len() - 1) as f64;
        let Some(bin) = self.rank(bound, of, equal).checked_sub(1) else { return Ok(0.0) };
        let within = match of.get(bin + 1) {
            Some(next) => self.position(cx, bound, &of[bin], next)?,
            None => 0.0,
        };
        Ok((bin as f64 + within) / bins)
    }

    /// The position of a bound within a bin, from 0 to 1. Counterpart: `get_position`.
    fn position(
        &self,
        cx: &mut dyn FnContext,
        bound: &Bound<'_>,
        low: &Bound<'_>,
        high: &Bound<'_>,
    ) -> Result<f64> {
        Ok(match (low.infinite, high.infinite) {
            (false, false) => {
                if bound.infinite || !self.ty.subdiff.is_valid() {
                    return Ok(0.5);
                }
                let width = cx.range_difference(self.ty, high.value, low.value)?;
                if width.is_nan() || width <= 0.0 {
                    return Ok(0.5);
                }
                let at = cx.range_difference(self.ty, bound.value, low.value)? / width;
                if at.is_nan() { 0.5 } else { at.clamp(0.0, 1.0) }
            }
            (true, false) if bound.infinite && bound.is_lower => 0.0,
            (true, false) => 1.0,
            (false, true) if bound.infinite && !bound.is_lower => 1.0,
            (false, true) => 0.0,
            (true, true) => 0.5,
        })
    }

    /// The distance from the first to the second bound. Counterpart: `get_distance`.
    fn distance(&self, cx: &mut dyn FnContext, from: &Bound<'_>, to: &Bound<'_>) -> Result<f64> {
        Ok(match (from.infinite, to.infinite) {
            (false, false) if self.ty.subdiff.is_valid() => {
                let length = cx.range_difference(self.ty, to.value, from.value)?;
                if length.is_nan() || length < 0.0 { 1.0 } else { length }
            }
            (false, false) => 1.0,
            (true, true) if from.is_lower == to.is_lower => 0.0,
            _ => f64::INFINITY,
        })
    }

    /// The fraction of ranges within finite bounds, if lengths do not depend on lower bounds.
    /// Counterpart: `calc_hist_selectivity_contained`.
    fn contained(
        &self,
        cx: &mut dyn FnContext,
        lower: &Bound<'_>,
        upper: &Bound<'_>,
    ) -> Result<f64> {
        let of = &self.lowers[..];
        let upper = upper.complement();
        let Some(bin) = self.rank(&upper, of, false).checked_sub(1) else { return Ok(0.0) };
        let last = bin.min(of.len() - 2);
        let mut width = self.position(cx, &upper, &of[last], &of[last + 1])?;
        let (mut sum, mut previous) = (0.0, 0.0);
        // From the bin with the upper bound down to that with the lower bound.
        for i in (0..=last).rev() {
            let is_final = compare_bounds(self.ty, &of[i], lower).is_lt();
            let distance = match is_final {
                true => {
                    width -= self.position(cx, lower, &of[i], &of[i + 1])?;
                    width = width.max(0.0);
                    self.distance(cx, lower, &upper)?
                }
                false => self.distance(cx, &of[i], &upper)?,
            };
            let short = length_fraction(self.lengths, previous, distance, true);
            sum += short * width / (of.len() - 1) as f64;
            if is_final {
                break;
            }
            (width, previous) = (1.0, distance);
        }
        Ok(sum)
    }

    /// The fraction of ranges that contain bounds. Counterpart: `calc_hist_selectivity_contains`.
    fn containing(
        &self,
        cx: &mut dyn FnContext,
        lower: &Bound<'_>,
        upper: &Bound<'_>,
    ) -> Result<f64> {
        let of = &self.lowers[..];
        let Some(bin) = self.rank(lower, of, true).checked_sub(1) else { return Ok(0.0) };
        let last = bin.min(of.len() - 2);
        let mut width = self.position(cx, lower, &of[last], &of[last + 1])?;
        let mut previous = self.distance(cx, lower, upper)?;
        let mut sum = 0.0;
        for low in of[..=last].iter().rev() {
            let distance = self.distance(cx, low, upper)?;
            let long = 1.0 - length_fraction(self.lengths, previous, distance, false);
            sum += long * width / (of.len() - 1) as f64;
            (width, previous) = (1.0, distance);
        }
        Ok(sum)
    }
}

/// The position of a length within a bin of the histogram. Counterpart: `get_len_position`, with
/// the results of PostgreSQL 15 for infinite bounds.
fn length_position(length: f64, low: f64, high: f64) -> f64 {
    match (low.is_infinite(), high.is_infinite()) {
        (false, false) if length.is_infinite() => 0.5,
        (false, false) => 1.0 - (high - length) / (high - low),
        (true, false) => 1.0,
        (true, true) => 0.0,
        (false, true) => 0.5,
    }
}

/// The average, over lengths from `from` to `to`, of the fraction of ranges that are shorter (or of
/// the same length): the area below the cumulated histogram by the width. Counterpart:
/// `calc_length_hist_frac`.
fn length_fraction(lengths: Option<&[f64]>, from: f64, to: f64, equal: bool) -> f64 {
    if to < 0.0 {
        return 0.0;
    }
    let Some(lengths) = lengths else { return 1.0 };
    if to.is_infinite() && equal {
        return 1.0;
    }
    let bins = (lengths.len() - 1) as f64;
    let below = |length: f64, limit: f64| length < limit || equal && length <= limit;
    let found = lengths.partition_point(|&l| below(l, from)).checked_sub(1);
    if found.is_some_and(|i| i >= lengths.len() - 1) {
        return 1.0;
    }
    let mut i = found.unwrap_or(0);
    let within = found.map_or(0.0, |i| length_position(from, lengths[i], lengths[i + 1]));
    let (mut at, mut share) = (from, (i as f64 + within) / bins);
    if to == from {
        return share;
    }
    let mut area = 0.0;
    // Adds the trapezoid up to the next point. One without height has no area, even if it is
    // infinitely wide.
    let mut extend = |length: f64, next: f64| {
        if share > 0.0 || next > 0.0 {
            area += 0.5 * (next + share) * (length - at);
        }
        (at, share) = (length, next);
    };
    while i < lengths.len() - 1 && below(lengths[i + 1], to) {
        // As in PostgreSQL, the share at the start of the bin.
        extend(lengths[i + 1], i as f64 / bins);
        i += 1;
    }
    let within = match lengths.get(i + 1) {
        Some(&high) if high != lengths[i] => length_position(to, lengths[i], high),
        _ => 0.0,
    };
    extend(to, (i as f64 + within) / bins);
    if area.is_infinite() && to.is_infinite() { 0.5 } else { area / (to - from) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths 0 to 100 in 10 bins: the fraction of those up to x is x / 100 within each bin.
    #[test]
    fn fractions_of_lengths() {
        let lengths: Vec<f64> = (0..=10).map(|i| f64::from(i) * 10.0).collect();
        assert!((length_fraction(Some(&lengths), 15.0, 15.0, true) - 0.15).abs() < 1e-9);
        assert_eq!(length_fraction(Some(&lengths), 0.0, f64::INFINITY, true), 1.0);
        assert_eq!(length_fraction(Some(&lengths), 200.0, 300.0, true), 1.0);
        assert_eq!(length_fraction(Some(&lengths), -5.0, -1.0, true), 0.0);
        assert!((length_fraction(Some(&lengths), 2.0, 4.0, false) - 0.03).abs() < 1e-9);
    }

    #[test]
    fn operators_are_distinct() {
        for (i, o) in OPERATORS.iter().enumerate() {
            assert!(OPERATORS[i + 1..].iter().all(|p| p.0 != o.0), "{}", o.0);
        }
        assert_eq!(assumed(Oid(3890)), 0.005);
        assert_eq!(assumed(Oid(0)), 0.01);
    }
}
