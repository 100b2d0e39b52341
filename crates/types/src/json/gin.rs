//! The operator classes of jsonb for GIN indexes. Counterpart: jsonb_gin.c.
//!
//! The keys of `jsonb_ops` are the keys of objects and the scalar values: texts that begin with a
//! byte for the kind. The keys of `jsonb_path_ops` are hashes of the scalar values, each with the
//! keys of the objects that contain it.

use super::binary::{Container, Item};
use super::gin_path::{self, Class, Wanted};
use crate::gin::{
    Column, Condition, Function, Keys, Query, SearchMode, Ternary, all, any, checked,
};
use ids::StrategyNumber;
use jsonpath::Path;
use numeric::functions;
use numeric::io::with_text;
use pgerror::{PgError, Result};
use values::array::payload::{ArrayRef, builtin_info};
use values::datum::{Datum, DatumRef};
use values::{hash, oids};

const CONTAINS: StrategyNumber = StrategyNumber(7);
const EXISTS: StrategyNumber = StrategyNumber(9);
const EXISTS_ANY: StrategyNumber = StrategyNumber(10);
const EXISTS_ALL: StrategyNumber = StrategyNumber(11);
const PATH_EXISTS: StrategyNumber = StrategyNumber(15);
const PATH_MATCHES: StrategyNumber = StrategyNumber(16);

/// First bytes of keys. Counterpart: `JGINFLAG_*`.
pub(super) const KEY: u8 = 1;
const NULL: u8 = 2;
const BOOL: u8 = 3;
const NUMBER: u8 = 4;
pub(super) const STRING: u8 = 5;
/// The text is the hash of a long one.
const HASHED: u8 = 0x10;
/// Bytes of a text above which its hash is stored. Counterpart: `JGIN_MAXLENGTH`.
const TEXT_MAX: usize = 125;

/// The functions by name.
pub const FNS: &[(&str, Function)] = &[
    ("gin_extract_jsonb", Function::ExtractValue(extract)),
    ("gin_extract_jsonb_query", Function::ExtractQuery(extract_query)),
    ("gin_consistent_jsonb", Function::Consistent(consistent)),
    ("gin_triconsistent_jsonb", Function::TriConsistent(tri_consistent)),
    ("gin_extract_jsonb_path", Function::ExtractValue(extract_path)),
    ("gin_extract_jsonb_query_path", Function::ExtractQuery(extract_query_path)),
    ("gin_consistent_jsonb_path", Function::Consistent(consistent_path)),
    ("gin_triconsistent_jsonb_path", Function::TriConsistent(tri_consistent_path)),
];

pub(super) fn push_text(kind: u8, text: &[u8], keys: &mut Keys) {
    if text.len() > TEXT_MAX {
        let digits = format!("{:08x}", hash::hash_bytes(text));
        keys.push_parts(&[kind | HASHED], digits.as_bytes());
    } else {
        keys.push_parts(&[kind], text);
    }
}

/// Appends the key of a scalar. `string`: the kind of a string.
pub(super) fn push_scalar(item: Item<'_>, string: u8, keys: &mut Keys) {
    match item {
        Item::Null => push_text(NULL, b"", keys),
        Item::Bool(true) => push_text(BOOL, b"t", keys),
        Item::Bool(false) => push_text(BOOL, b"f", keys),
        // Equal numbers have equal keys.
        Item::Number(n) => with_text(n, |text| push_text(NUMBER, without_zeros(text), keys)),
        Item::String(s) => push_text(string, s, keys),
        Item::Container(c) => push_all(c, keys),
    }
}

/// The text of a number without zeros at the end of its fraction.
fn without_zeros(text: &[u8]) -> &[u8] {
    if !text.contains(&b'.') {
        return text;
    }
    let end = text.iter().rposition(|&c| c != b'0').map_or(0, |last| last + 1);
    text[..end].strip_suffix(b".").unwrap_or(&text[..end])
}

fn push_all(c: Container<'_>, keys: &mut Keys) {
    if c.is_object() {
        for (key, value) in c.pairs() {
            push_text(KEY, key, keys);
            push_scalar(value, STRING, keys);
        }
    } else {
        // Strings in arrays are found by the operators of keys too.
        c.elements().for_each(|element| push_scalar(element, KEY, keys));
    }
}

fn extract(_: &Column, value: DatumRef<'_>, keys: &mut Keys) -> Result<()> {
    push_all(Container::new(value.as_bytes()), keys);
    Ok(())
}

fn extract_query(
    column: &Column,
    value: DatumRef<'_>,
    strategy: StrategyNumber,
    query: &mut Query,
) -> Result<()> {
    match strategy {
        CONTAINS => extract(column, value, &mut query.keys)?,
        EXISTS => push_text(KEY, value.as_bytes(), &mut query.keys),
        EXISTS_ANY | EXISTS_ALL => {
            let strings = ArrayRef::new(value)?.iter(&builtin_info(oids::TEXT));
            for string in strings.filter(|s| !s.is_null()) {
                push_text(KEY, string.as_bytes(), &mut query.keys);
            }
        }
        PATH_EXISTS | PATH_MATCHES => {
            return extract_jsonpath(value, strategy, Class::Parts, query);
        }
        other => return Err(unknown(other)),
    }
    // Everything contains an empty object, and has all of no keys.
    if query.keys.is_empty() && matches!(strategy, CONTAINS | EXISTS_ALL) {
        query.mode = SearchMode::All;
    }
    Ok(())
}

/// Sets the keys of a jsonpath.
fn extract_jsonpath(
    value: DatumRef<'_>,
    strategy: StrategyNumber,
    class: Class,
    query: &mut Query,
) -> Result<()> {
    let wanted = if strategy == PATH_EXISTS { Wanted::Results } else { Wanted::Truth };
    gin_path::extract(Path::new(value.as_bytes())?, class, wanted, query)
}

/// Whether a row with some of the keys of a jsonpath can satisfy it.
fn jsonpath_holds(c: &Condition<'_>, present: &[Ternary]) -> Ternary {
    let extra = c.query.extra.as_ref();
    match extra.and_then(|e| e.downcast_ref::<gin_path::Condition>()) {
        Some(condition) => condition.holds(&|n| present.get(n).copied().unwrap_or_default()),
        None => Ternary::Maybe,
    }
}

#[cold]
fn unknown(strategy: StrategyNumber) -> PgError {
    PgError::internal(format!("unrecognized strategy number: {strategy}"))
}

fn ternary(present: &[bool]) -> Vec<Ternary> {
    present.iter().map(|p| Ternary::from(*p)).collect()
}

fn consistent(c: &Condition<'_>, present: &[bool]) -> Result<Ternary> {
    tri_consistent(c, &ternary(present))
}

/// The index does not have the structure of the values, so rows are always checked.
fn tri_consistent(c: &Condition<'_>, present: &[Ternary]) -> Result<Ternary> {
    Ok(checked(match c.strategy {
        CONTAINS | EXISTS_ALL => all(present),
        EXISTS | EXISTS_ANY => any(present.iter().copied()),
        PATH_EXISTS | PATH_MATCHES => jsonpath_holds(c, present),
        other => return Err(unknown(other)),
    }))
}

/// Mixes the hash of a scalar into that of its path. Counterpart: `JsonbHashScalarValue`.
pub(super) fn mix(path: u32, item: Item<'_>) -> u32 {
    let hash = match item {
        Item::Null | Item::Container(_) => 1,
        Item::Bool(true) => 2,
        Item::Bool(false) => 4,
        Item::Number(n) => functions::hash_of(DatumRef::Bytes(n)),
        Item::String(s) => hash::hash_bytes(s),
    };
    path.rotate_left(1) ^ hash
}

fn push_paths(c: Container<'_>, path: u32, keys: &mut Keys) {
    let mut one = |path: u32, item: Item<'_>| match item {
        Item::Container(c) => push_paths(c, path, keys),
        scalar => keys.push(Datum::int4(mix(path, scalar) as i32).as_ref()),
    };
    if c.is_object() {
        c.pairs().for_each(|(key, value)| one(mix(path, Item::String(key)), value));
    } else {
        c.elements().for_each(|element| one(path, element));
    }
}

fn extract_path(_: &Column, value: DatumRef<'_>, keys: &mut Keys) -> Result<()> {
    push_paths(Container::new(value.as_bytes()), 0, keys);
    Ok(())
}

fn extract_query_path(
    column: &Column,
    value: DatumRef<'_>,
    strategy: StrategyNumber,
    query: &mut Query,
) -> Result<()> {
    match strategy {
        CONTAINS => {}
        PATH_EXISTS | PATH_MATCHES => {
            return extract_jsonpath(value, strategy, Class::Hashes, query);
        }
        other => return Err(unknown(other)),
    }
    extract_path(column, value, &mut query.keys)?;
    if query.keys.is_empty() {
        query.mode = SearchMode::All;
    }
    Ok(())
}

fn consistent_path(c: &Condition<'_>, present: &[bool]) -> Result<Ternary> {
    tri_consistent_path(c, &ternary(present))
}

fn tri_consistent_path(c: &Condition<'_>, present: &[Ternary]) -> Result<Ternary> {
    Ok(checked(match c.strategy {
        CONTAINS => all(present),
        PATH_EXISTS | PATH_MATCHES => jsonpath_holds(c, present),
        other => return Err(unknown(other)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fraction_of_a_number_ends_without_zeros() {
        for (text, expected) in
            [("1.00", "1"), ("1.50", "1.5"), ("100", "100"), ("0.0", "0"), ("NaN", "NaN")]
        {
            assert_eq!(without_zeros(text.as_bytes()), expected.as_bytes());
        }
    }
}
