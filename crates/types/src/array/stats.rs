//! Statistics of the elements of an array column: the most common ones, and the distribution of the
//! number of distinct elements. Elements are counted by the lossy counting algorithm of Manku and
//! Motwani, in limited memory.
//!
//! Counterpart: array_typanalyze.c.

use std::collections::HashMap;
use values::array::payload::ArrayRef;
use values::compare::Comparer;
use values::datum::{Datum, DatumRef};
use values::fn_context::TypeInfo;

/// Elements that are kept for each unit of the statistics target.
const ELEMENTS_PER_TARGET: usize = 10;

/// The statistics of the elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementStats {
    /// The most common elements, ascending.
    pub elements: Vec<Datum>,
    /// Their frequencies among the arrays that are not NULL; then the least and greatest of these
    /// frequencies, and that of NULL elements.
    pub frequencies: Vec<f32>,
    /// Bounds of equally populated bins of the number of distinct elements; then their average.
    pub counts: Vec<f32>,
}

/// A counted element.
struct Tracked {
    frequency: usize,
    /// Most occurrences that may have been missed.
    missed: usize,
    /// Number of the last array with it.
    last: usize,
}

/// Counts the elements of the arrays of a sample.
pub struct ElementCounter {
    elem: TypeInfo,
    target: usize,
    tracked: HashMap<Datum, Tracked>,
    /// Number of arrays by their number of distinct elements.
    lengths: HashMap<usize, usize>,
    seen: usize,
    buckets: usize,
    nulls: usize,
    rows: usize,
}

impl ElementCounter {
    pub fn new(elem: &TypeInfo, target: usize) -> ElementCounter {
        ElementCounter {
            elem: *elem,
            target,
            tracked: HashMap::new(),
            lengths: HashMap::new(),
            seen: 0,
            buckets: 1,
            nulls: 0,
            rows: 0,
        }
    }

    fn wanted(&self) -> usize {
        self.target * ELEMENTS_PER_TARGET
    }

    fn bucket(&self) -> usize {
        (self.wanted() * 1000 / 7).max(1)
    }

    /// Adds an array that is not NULL.
    pub fn add(&mut self, array: DatumRef<'_>) {
        let (bucket, row) = (self.bucket(), self.rows);
        self.rows += 1;
        let before = self.seen;
        let mut has_null = false;
        for element in ArrayRef::or_empty(array).iter(&self.elem) {
            if element.is_null() {
                has_null = true;
                continue;
            }
            let entry = self.tracked.entry(element.to_owned());
            let missed = self.buckets - 1;
            let entry = entry.or_insert(Tracked { frequency: 0, missed, last: usize::MAX });
            if entry.last == row {
                continue;
            }
            (entry.frequency, entry.last) = (entry.frequency + 1, row);
            self.seen += 1;
            if self.seen.is_multiple_of(bucket) {
                let buckets = self.buckets;
                self.tracked.retain(|_, t| t.frequency + t.missed > buckets);
                self.buckets += 1;
            }
        }
        self.nulls += usize::from(has_null);
        *self.lengths.entry(self.seen - before).or_default() += 1;
    }

    /// The statistics; `None` if there were no arrays. `order` is the order of the elements under
    /// their collation.
    pub fn finish(self, (order, collation): (&Comparer, ids::Oid)) -> Option<ElementStats> {
        let (rows, seen, wanted) = (self.rows, self.seen, self.wanted());
        if rows == 0 {
            return None;
        }
        let cutoff = 9 * seen / self.bucket();
        let tracked = self.tracked.into_iter().map(|(e, t)| (e, t.frequency));
        let mut common: Vec<(Datum, usize)> = tracked.filter(|c| c.1 > cutoff).collect();
        let by_value = |a: &Datum, b: &Datum| order.order(a.as_ref(), b.as_ref(), collation);
        common.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| by_value(&a.0, &b.0)));
        let greatest = common.first().map_or(0, |c| c.1);
        common.truncate(wanted);
        let least = common.last().map_or(0, |c| c.1);
        common.sort_by(|a, b| by_value(&a.0, &b.0));
        let share = |n: usize| (n as f64 / rows as f64) as f32;
        let mut frequencies: Vec<f32> = common.iter().map(|c| share(c.1)).collect();
        frequencies.extend([share(least), share(greatest), share(self.nulls)]);
        let mut counts = histogram(self.lengths, rows, self.target.max(2));
        counts.push(share(seen));
        let elements = common.into_iter().map(|c| c.0).collect();
        Some(ElementStats { elements, frequencies, counts })
    }
}

/// The bounds of bins of the numbers of elements, given the number of arrays for each.
fn histogram(lengths: HashMap<usize, usize>, rows: usize, bins: usize) -> Vec<f32> {
    let mut lengths: Vec<(usize, usize)> = lengths.into_iter().collect();
    lengths.sort_unstable();
    let mut runs = lengths.into_iter();
    let mut current = (0, 0);
    // The end of the current run.
    let mut end = 0;
    let bound = |n: usize| {
        let at = n * (rows - 1) / (bins - 1);
        while end <= at {
            let Some(next) = runs.next() else { break };
            current = next;
            end += next.1;
        }
        current.0 as f32
    };
    (0..bins).map(bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compare, oids};

    /// As PostgreSQL for `select case when g % 4 = 0 then array[1, 2, 2] else array[1, g % 3] end
    /// from generate_series(0, 999) g`, with a statistics target of 2.
    #[test]
    fn elements_and_their_numbers_are_counted() {
        let info = values::builtin_types::get(oids::INT4).unwrap().info;
        let array = |v: &[i32]| {
            let v: Vec<Datum> = v.iter().map(|n| Datum::int4(*n)).collect();
            values::array::of_builtin(oids::INT4, &v).unwrap()
        };
        let all: Vec<Datum> = (0..1000)
            .map(|g| if g % 4 == 0 { array(&[1, 2, 2]) } else { array(&[1, g % 3]) })
            .collect();
        let order = compare::of_type(oids::INT4).unwrap().into();
        let mut counter = ElementCounter::new(&info, 2);
        all.iter().for_each(|array| counter.add(array.as_ref()));
        let stats = counter.finish((&order, ids::Oid(0))).unwrap();
        let ints: Vec<i32> = stats.elements.iter().map(|e| e.as_ref().as_i32()).collect();
        assert_eq!(ints, [0, 1, 2]);
        assert_eq!(stats.frequencies, [0.25, 1.0, 0.5, 0.25, 1.0, 0.0]);
        assert_eq!(stats.counts, [1.0, 2.0, 1.75]);
        assert_eq!(ElementCounter::new(&info, 2).finish((&order, ids::Oid(0))), None);
    }
}
