//! The operator class of hstore for GIN indexes: the keys of a value are its keys and its values,
//! texts that begin with a letter for the kind. Counterpart: contrib/hstore/hstore_gin.c.

use super::value::Hstore;
use crate::library::ByCase;
use ids::StrategyNumber;
use pgerror::{PgError, Result};
use values::array::payload::{ArrayRef, builtin_info};
use values::datum::DatumRef;
use values::gin::{
    Column, Condition, Function, Keys, Query, SearchMode, Ternary, all, any, checked,
};
use values::oids;

const CONTAINS: StrategyNumber = StrategyNumber(7);
const EXISTS: StrategyNumber = StrategyNumber(9);
const EXISTS_ANY: StrategyNumber = StrategyNumber(10);
const EXISTS_ALL: StrategyNumber = StrategyNumber(11);

/// First bytes of keys.
const KEY: &[u8] = b"K";
const VALUE: &[u8] = b"V";
const NULL: &[u8] = b"N";

pub(super) const SUPPORT: &[ByCase<Function>] = &[
    ByCase::same("gin_extract_hstore", Function::ExtractValue(extract)),
    ByCase::same("gin_extract_hstore_query", Function::ExtractQuery(extract_query)),
    ByCase::same("gin_consistent_hstore", Function::Consistent(consistent)),
];

fn extract(_: &Column, value: DatumRef<'_>, keys: &mut Keys) -> Result<()> {
    for (key, value) in Hstore::new(value).pairs() {
        keys.push_parts(KEY, key);
        match value {
            Some(value) => keys.push_parts(VALUE, value),
            None => keys.push_parts(NULL, b""),
        }
    }
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
        EXISTS => query.keys.push_parts(KEY, value.as_bytes()),
        EXISTS_ANY | EXISTS_ALL => {
            let strings = ArrayRef::new(value)?.iter(&builtin_info(oids::TEXT));
            for string in strings.filter(|s| !s.is_null()) {
                query.keys.push_parts(KEY, string.as_bytes());
            }
        }
        other => return Err(unknown(other)),
    }
    // Everything contains an empty value, and has all of no keys.
    if query.keys.is_empty() && matches!(strategy, CONTAINS | EXISTS_ALL) {
        query.mode = SearchMode::All;
    }
    Ok(())
}

#[cold]
fn unknown(strategy: StrategyNumber) -> PgError {
    PgError::internal(format!("unrecognized strategy number: {strategy}"))
}

fn consistent(c: &Condition<'_>, present: &[bool]) -> Result<Ternary> {
    let present: Vec<Ternary> = present.iter().map(|p| Ternary::from(*p)).collect();
    Ok(match c.strategy {
        // The index does not have the pairs.
        CONTAINS => checked(all(&present)),
        EXISTS | EXISTS_ANY => any(present.iter().copied()),
        EXISTS_ALL => all(&present),
        other => return Err(unknown(other)),
    })
}
