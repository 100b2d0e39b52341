//! The fraction of documents that a query is expected to match. Counterpart: ts_selfuncs.c.

use crate::lexeme_stats::compare;
use crate::query::{Item, Operand, Operator, Query};

/// The fraction that an operand matches of which nothing is known.
pub const DEFAULT_FRACTION: f64 = 0.005;

/// A prefix is estimated by the most common lexemes if there are this many.
const LEXEMES_FOR_PREFIXES: usize = 100;

/// The most common lexemes of a column, in the order of [`compare`].
pub struct CommonLexemes<'a> {
    lexemes: Vec<&'a [u8]>,
    frequencies: &'a [f64],
    /// The least frequency.
    least: f64,
}

impl<'a> CommonLexemes<'a> {
    /// `frequencies` are those of the lexemes, then the least and the greatest one. `None` if their
    /// number is another one.
    pub fn new(lexemes: Vec<&'a [u8]>, frequencies: &'a [f64]) -> Option<CommonLexemes<'a>> {
        let (frequencies, [least, _]) = frequencies.split_at_checked(lexemes.len())? else {
            return None;
        };
        Some(CommonLexemes { lexemes, frequencies, least: *least })
    }

    /// The fraction of a lexeme that is not a common one.
    fn rare(&self) -> f64 {
        DEFAULT_FRACTION.min(self.least / 2.0)
    }

    fn exact(&self, lexeme: &[u8]) -> f64 {
        let found = self.lexemes.binary_search_by(|have| compare(have, lexeme));
        found.map_or(self.rare(), |n| self.frequencies[n])
    }

    /// The fraction of documents with a lexeme that begins with the prefix. The common lexemes are
    /// assumed to represent the others.
    fn prefix(&self, prefix: &[u8]) -> f64 {
        if self.lexemes.len() < LEXEMES_FOR_PREFIXES {
            return 4.0 * DEFAULT_FRACTION;
        }
        let (mut matched, mut all, mut count) = (0.0, 0.0, 0.0);
        for (lexeme, frequency) in self.lexemes.iter().zip(self.frequencies) {
            if lexeme.starts_with(prefix) {
                matched += frequency - matched * frequency;
                count += 1.0;
            }
            all += frequency - all * frequency;
        }
        let (matched, all) = (matched.clamp(0.0, 1.0), f64::clamp(all, 0.0, 1.0));
        let fraction = matched + (1.0 - all) * (count / self.lexemes.len() as f64);
        fraction.max(self.rare())
    }
}

fn of_operand(query: &Query<'_>, operand: Operand, common: Option<&CommonLexemes<'_>>) -> f64 {
    match common {
        Some(common) if operand.prefix => common.prefix(query.word(&operand)),
        Some(common) => common.exact(query.word(&operand)),
        None if operand.prefix => 4.0 * DEFAULT_FRACTION,
        None => DEFAULT_FRACTION,
    }
}

/// The fraction of documents that the query matches, among those that are not NULL.
pub fn fraction(payload: &[u8], common: Option<&CommonLexemes<'_>>) -> f64 {
    let query = Query::new(payload);
    // Of each expression that begins after the present item.
    let mut done: Vec<f64> = Vec::new();
    for item in (0..query.len()).rev().map(|i| query.item(i)) {
        let one = match item {
            Item::Operand(operand) => of_operand(&query, operand, common),
            Item::Stop => DEFAULT_FRACTION,
            Item::Operator { operator, .. } => {
                let right = done.pop().unwrap_or_default();
                match operator {
                    Operator::Not => 1.0 - right,
                    Operator::And | Operator::Phrase => right * done.pop().unwrap_or_default(),
                    Operator::Or => {
                        let left = done.pop().unwrap_or_default();
                        right + left - right * left
                    }
                }
            }
        };
        done.push(one.clamp(0.0, 1.0));
    }
    done.pop().unwrap_or_default()
}
