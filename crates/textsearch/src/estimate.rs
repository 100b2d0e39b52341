//! The fraction of documents that a query is assumed to match. Counterpart: ts_selfuncs.c.

use crate::query::{Item, Operator, Query};

/// The fraction that an operand matches of which nothing is known.
pub const DEFAULT_FRACTION: f64 = 0.001;

/// The fraction of documents that the query matches, without statistics of the documents.
pub fn fraction(payload: &[u8]) -> f64 {
    let query = Query::new(payload);
    // Of each expression that begins after the present item.
    let mut done: Vec<f64> = Vec::new();
    for item in (0..query.len()).rev().map(|i| query.item(i)) {
        let one = match item {
            Item::Operand(operand) if operand.prefix => 4.0 * DEFAULT_FRACTION,
            Item::Operand(_) | Item::Stop => DEFAULT_FRACTION,
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
        done.push(one);
    }
    done.pop().unwrap_or_default().clamp(0.0, 1.0)
}
