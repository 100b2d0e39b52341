//! Support functions of GIN indexes on tsvector: keys of vectors and queries, and whether a row
//! with some of the keys can match. Counterpart: tsginidx.c.

use crate::execute::{Document, Execution, Match, Options, Places, requires_match};
use crate::query::{Operand, Query};
use crate::vector::Vector;
use ids::StrategyNumber;
use pgerror::Result;
use std::cmp::Ordering;
use values::datum::DatumRef;
use values::gin::{Column, Condition, Function, SearchMode, Ternary};

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

fn extract_value(_: &Column, vector: DatumRef<'_>, keys: &mut values::gin::Keys) -> Result<()> {
    vector_keys(vector.as_bytes()).into_iter().for_each(|key| keys.push(DatumRef::Bytes(key)));
    Ok(())
}

fn extract_query(
    _: &Column,
    query: DatumRef<'_>,
    _: StrategyNumber,
    out: &mut values::gin::Query,
) -> Result<()> {
    let found = query_keys(query.as_bytes());
    for key in &found.keys {
        out.keys.push(DatumRef::Bytes(key.key));
        out.partial.push(key.prefix);
    }
    out.mode = if found.whole_index { SearchMode::All } else { SearchMode::Keys };
    Ok(())
}

fn is_consistent(condition: &Condition<'_>, present: &[bool]) -> Result<Ternary> {
    let present: Vec<Ternary> = present.iter().map(|&p| p.into()).collect();
    is_tri_consistent(condition, &present)
}

fn is_tri_consistent(condition: &Condition<'_>, present: &[Ternary]) -> Result<Ternary> {
    let known = |p: &Ternary| match p {
        Ternary::False => Match::No,
        Ternary::True => Match::Yes,
        Ternary::Maybe => Match::Maybe,
    };
    let present: Vec<Match> = present.iter().map(known).collect();
    Ok(match consistent(condition.value.as_bytes(), &present)? {
        Match::No => Ternary::False,
        Match::Yes => Ternary::True,
        Match::Maybe => Ternary::Maybe,
    })
}

fn compare_partial(condition: &Condition<'_>, n: usize, key: DatumRef<'_>) -> Ordering {
    compare_prefix(condition.query.keys.get(n).as_bytes(), key.as_bytes())
}

/// The functions of the operator class `tsvector_ops`, by `pg_proc.prosrc`, under their names of
/// all versions.
pub const FNS: &[(&str, Function)] = &[
    ("gin_extract_tsvector", Function::ExtractValue(extract_value)),
    ("gin_extract_tsvector_2args", Function::ExtractValue(extract_value)),
    ("gin_extract_tsquery", Function::ExtractQuery(extract_query)),
    ("gin_extract_tsquery_5args", Function::ExtractQuery(extract_query)),
    ("gin_extract_tsquery_oldsig", Function::ExtractQuery(extract_query)),
    ("gin_tsquery_consistent", Function::Consistent(is_consistent)),
    ("gin_tsquery_consistent_6args", Function::Consistent(is_consistent)),
    ("gin_tsquery_consistent_oldsig", Function::Consistent(is_consistent)),
    ("gin_tsquery_triconsistent", Function::TriConsistent(is_tri_consistent)),
    ("gin_cmp_prefix", Function::ComparePartial(compare_partial)),
];
