//! Statistics of the lexemes of a tsvector column: the most common ones, counted by the lossy
//! counting algorithm of Manku and Motwani, in limited memory. Counterpart: ts_typanalyze.c.

use crate::vector::Vector;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Lexemes that are kept for each unit of the statistics target.
const LEXEMES_PER_TARGET: usize = 10;

/// The most common lexemes in the order of [`compare`], with their frequencies among the vectors
/// that are not NULL.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LexemeStats {
    pub lexemes: Vec<Box<[u8]>>,
    /// The frequencies of the lexemes; then the least and the greatest one.
    pub frequencies: Vec<f32>,
}

/// The order of lexemes in statistics: by length, then by bytes.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// Counts the lexemes of the vectors of a sample.
pub struct LexemeCounter {
    target: usize,
    /// Frequency, and most occurrences that may have been missed.
    tracked: HashMap<Box<[u8]>, (usize, usize)>,
    seen: usize,
    buckets: usize,
    vectors: usize,
}

impl LexemeCounter {
    /// A counter with a statistics target.
    pub fn new(target: usize) -> LexemeCounter {
        LexemeCounter { target, tracked: HashMap::new(), seen: 0, buckets: 1, vectors: 0 }
    }

    fn wanted(&self) -> usize {
        self.target * LEXEMES_PER_TARGET
    }

    fn bucket(&self) -> usize {
        (self.wanted() + 10) * 1000 / 7
    }

    /// Adds a vector that is not NULL.
    pub fn add(&mut self, payload: &[u8]) {
        let bucket = self.bucket();
        self.vectors += 1;
        let vector = Vector::new(payload);
        for lexeme in (0..vector.len()).map(|i| vector.lexeme(i)) {
            match self.tracked.get_mut(lexeme) {
                Some((frequency, _)) => *frequency += 1,
                None => {
                    self.tracked.insert(lexeme.into(), (1, self.buckets - 1));
                }
            }
            self.seen += 1;
            if self.seen.is_multiple_of(bucket) {
                let buckets = self.buckets;
                self.tracked.retain(|_, (frequency, missed)| *frequency + *missed > buckets);
                self.buckets += 1;
            }
        }
    }

    /// The statistics; `None` if no lexeme is frequent.
    pub fn finish(self) -> Option<LexemeStats> {
        let (vectors, wanted) = (self.vectors, self.wanted());
        let cutoff = 9 * self.seen / self.bucket();
        let tracked = self.tracked.into_iter().map(|(lexeme, t)| (lexeme, t.0));
        let mut common: Vec<(Box<[u8]>, usize)> = tracked.filter(|c| c.1 > cutoff).collect();
        common.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| compare(&a.0, &b.0)));
        let greatest = common.first()?.1;
        common.truncate(wanted);
        let least = common.last()?.1;
        common.sort_by(|a, b| compare(&a.0, &b.0));
        let share = |n: usize| (n as f64 / vectors as f64) as f32;
        let mut frequencies: Vec<f32> = common.iter().map(|c| share(c.1)).collect();
        frequencies.extend([share(least), share(greatest)]);
        Some(LexemeStats { lexemes: common.into_iter().map(|c| c.0).collect(), frequencies })
    }
}
