//! What ANALYZE collects of range and multirange columns. Counterpart: rangetypes_typanalyze.c.

use crate::pieces::Pieces;
use crate::stored::{Bound, compare_bounds, serialize};
use pgerror::Result;
use values::datum::Datum;
use values::fn_context::{FnContext, InterruptTicker};
use values::range::RangeType;

/// The distribution of the ranges of a column; a multirange counts as one range without gaps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeStats {
    /// The i-th value consists of the i-th bounds of two histograms, of the lower and of the upper
    /// bounds. Empty if there were fewer than two ranges that are not empty.
    pub bounds: Vec<Datum>,
    /// A histogram of the lengths, by `subtype_diff`.
    pub lengths: Vec<f64>,
    /// Fraction of empty ranges among the values that are not NULL.
    pub empty: f32,
}

/// Indexes of the bounds of a histogram with at most `target` bins among `count` sorted values.
fn picked(count: usize, target: usize) -> impl Iterator<Item = usize> {
    let bounds = if count > target { target + 1 } else { count };
    let bins = bounds.saturating_sub(1).max(1);
    (0..bounds).map(move |i| (i as u128 * (count as u128 - 1) / bins as u128) as usize)
}

/// Collects the statistics of a sample.
#[derive(Default)]
pub struct Collector {
    lowers: Vec<Owned>,
    uppers: Vec<Owned>,
    lengths: Vec<f64>,
    count: usize,
    empty: usize,
    ticker: InterruptTicker,
}

impl Collector {
    /// Adds a value that is not NULL.
    pub fn add(&mut self, cx: &mut dyn FnContext, ty: &RangeType, value: &[u8]) -> Result<()> {
        self.ticker.tick(cx)?;
        self.count += 1;
        let Some((lower, upper)) = Pieces::new(ty, value)?.span().map(owned) else {
            self.empty += 1;
            return Ok(());
        };
        self.lengths.push(if lower.infinite || upper.infinite {
            f64::INFINITY
        } else if ty.subdiff.is_valid() {
            cx.range_difference(ty, upper.value.as_ref(), lower.value.as_ref())?
        } else {
            1.0
        });
        self.lowers.push(lower);
        self.uppers.push(upper);
        Ok(())
    }

    /// The statistics; `None` if there were no values.
    pub fn finish(self, ty: &RangeType, target: usize) -> Result<Option<RangeStats>> {
        let Collector { mut lowers, mut uppers, mut lengths, count, empty, .. } = self;
        if count == 0 {
            return Ok(None);
        }
        let mut stats =
            RangeStats { empty: (empty as f64 / count as f64) as f32, ..Default::default() };
        if lengths.len() >= 2 {
            lowers.sort_by(|a, b| compare_bounds(ty, &a.bound(true), &b.bound(true)));
            uppers.sort_by(|a, b| compare_bounds(ty, &a.bound(false), &b.bound(false)));
            lengths.sort_by(f64::total_cmp);
            for i in picked(lengths.len(), target) {
                let range = serialize(ty, &lowers[i].bound(true), &uppers[i].bound(false))?;
                stats.bounds.push(Datum::bytes(range));
                stats.lengths.push(lengths[i]);
            }
        }
        Ok(Some(stats))
    }
}

/// A bound with its own value.
struct Owned {
    value: Datum,
    infinite: bool,
    inclusive: bool,
}

impl Owned {
    fn bound(&self, is_lower: bool) -> Bound<'_> {
        let (infinite, inclusive) = (self.infinite, self.inclusive);
        Bound { value: self.value.as_ref(), infinite, inclusive, is_lower }
    }
}

fn owned((lower, upper): (Bound<'_>, Bound<'_>)) -> (Owned, Owned) {
    let one = |b: Bound<'_>| Owned {
        value: b.value.to_owned(),
        infinite: b.infinite,
        inclusive: b.inclusive,
    };
    (one(lower), one(upper))
}
