//! The operator classes of jsonb for GIN indexes. Counterpart: jsonb_gin.c.
//!
//! The keys of `jsonb_ops` are the keys of objects and the scalar values: texts that begin with a
//! byte for the kind. The keys of `jsonb_path_ops` are hashes of the scalar values, each with the
//! keys of the objects that contain it.

use super::binary::{Container, Item};
use crate::gin::{
    Column, Condition, Function, Keys, Query, SearchMode, Ternary, all, any, checked,
};
use ids::StrategyNumber;
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

/// First bytes of keys. Counterpart: `JGINFLAG_*`.
const KEY: u8 = 1;
const NULL: u8 = 2;
const BOOL: u8 = 3;
const NUMBER: u8 = 4;
const STRING: u8 = 5;
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

fn push_text(kind: u8, text: &[u8], keys: &mut Keys) {
    if text.len() > TEXT_MAX {
        let digits = format!("{:08x}", hash::hash_bytes(text));
        keys.push_parts(&[kind | HASHED], digits.as_bytes());
    } else {
        keys.push_parts(&[kind], text);
    }
}

/// Appends the key of a scalar. `string`: the kind of a string.
fn push_scalar(item: Item<'_>, string: u8, keys: &mut Keys) {
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
            let strings = ArrayRef::new(value).iter(&builtin_info(oids::TEXT));
            for string in strings.filter(|s| !s.is_null()) {
                push_text(KEY, string.as_bytes(), &mut query.keys);
            }
        }
        other => return Err(unknown(other)),
    }
    // Everything contains an empty object, and has all of no keys.
    if query.keys.is_empty() && matches!(strategy, CONTAINS | EXISTS_ALL) {
        query.mode = SearchMode::All;
    }
    Ok(())
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
        other => return Err(unknown(other)),
    }))
}

/// Mixes the hash of a scalar into that of its path. Counterpart: `JsonbHashScalarValue`.
fn mix(path: u32, item: Item<'_>) -> u32 {
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
    if strategy != CONTAINS {
        return Err(unknown(strategy));
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
    if c.strategy != CONTAINS {
        return Err(unknown(c.strategy));
    }
    Ok(checked(all(present)))
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
