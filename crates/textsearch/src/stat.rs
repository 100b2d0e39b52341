//! Statistics on the lexemes of many vectors (`ts_stat`). Counterpart: tsvector_op.c (`ts_accum`).

use crate::vector::{Vector, weight_number};
use std::collections::BTreeMap;

/// The number of documents that have each lexeme, and of its positions in them.
#[derive(Default)]
pub struct Statistics {
    /// Only positions of these weights count; all if zero.
    weights: u8,
    counts: BTreeMap<Box<[u8]>, (i32, i32)>,
}

impl Statistics {
    /// Counts positions of the weights whose letters are in `weights`; all if there are none.
    pub fn new(weights: &[u8]) -> Statistics {
        let set = weights.iter().filter_map(|c| weight_number(*c)).fold(0, |s, w| s | 1 << w);
        Statistics { weights: set, counts: BTreeMap::new() }
    }

    /// Counts a vector.
    pub fn add(&mut self, vector: Vector<'_>) {
        for i in 0..vector.len() {
            let count = match (self.weights, vector.has_positions(i)) {
                (0, false) => 1,
                (0, true) => vector.positions(i).len(),
                (set, _) => vector.positions(i).filter(|p| p.weighs(set)).count(),
            };
            if count > 0 {
                let entry = self.counts.entry(vector.lexeme(i).into()).or_default();
                entry.0 = entry.0.wrapping_add(1);
                entry.1 = entry.1.wrapping_add(count as i32);
            }
        }
    }

    /// The lexemes with their numbers of documents and positions, in reverse bytewise order.
    pub fn rows(self) -> impl Iterator<Item = (Box<[u8]>, i32, i32)> {
        self.counts
            .into_iter()
            .rev()
            .map(|(lexeme, (documents, positions))| (lexeme, documents, positions))
    }
}
