//! Support functions of GIN indexes on tsvector: keys of vectors and queries, and whether a row
//! with some of the keys can match. Counterpart: tsginidx.c.

use crate::execute::{Document, Execution, Match, Options, Places, requires_match};
use crate::query::{Operand, Query};
use crate::vector::Vector;
use pgerror::Result;
use std::cmp::Ordering;

/// The order of keys.
pub fn compare_keys(a: &[u8], b: &[u8]) -> Ordering {
    a.cmp(b)
}

/// Whether the key begins with the prefix: `Equal` if so, `Greater` if the scan ends before it.
pub fn compare_prefix(prefix: &[u8], key: &[u8]) -> Ordering {
    match key.starts_with(prefix) {
        true => Ordering::Equal,
        false => Ordering::Greater,
    }
}

/// The keys of an indexed vector.
pub fn vector_keys(payload: &[u8]) -> Vec<&[u8]> {
    let vector = Vector::new(payload);
    (0..vector.len()).map(|i| vector.lexeme(i)).collect()
}

/// A key that a query looks for.
pub struct QueryKey<'a> {
    pub key: &'a [u8],
    /// Keys that begin with it are found too.
    pub prefix: bool,
}

/// The keys of a query, one for each operand in order of the items.
pub struct QueryKeys<'a> {
    pub keys: Vec<QueryKey<'a>>,
    /// Rows without any of the keys can match too.
    pub whole_index: bool,
}

/// The keys of a query.
pub fn query_keys(payload: &[u8]) -> QueryKeys<'_> {
    let query = Query::new(payload);
    let keys = query.operands().map(|(_, o)| QueryKey { key: query.word(&o), prefix: o.prefix });
    let whole_index = !query.is_empty() && !requires_match(query, 0);
    QueryKeys { keys: keys.collect(), whole_index }
}

struct Keys<'a> {
    /// By number of the item: whether the row has the key.
    present: Vec<Match>,
    query: Query<'a>,
}

impl Document for Keys<'_> {
    fn has(&mut self, i: usize, operand: &Operand, places: Option<&mut Places>) -> Match {
        match self.present[i] {
            // Weights and positions are not in the index.
            Match::Yes if operand.weights != 0 || places.is_some() => Match::Maybe,
            other => other,
        }
    }
}

/// Whether a row that has the keys as `present` says, in the order of [`query_keys`], matches.
/// `Maybe`: the row must be checked.
pub fn consistent(payload: &[u8], present: &[Match]) -> Result<Match> {
    let query = Query::new(payload);
    if query.is_empty() {
        return Ok(Match::No);
    }
    let mut keys = Keys { present: vec![Match::No; query.len()], query };
    for ((item, _), found) in query.operands().zip(present) {
        keys.present[item] = *found;
    }
    let options = Options { uncertain_phrases: true, ..Options::default() };
    let query = keys.query;
    Execution { query, document: &mut keys, options, interrupts: None }.run()
}
