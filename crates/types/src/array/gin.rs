//! The operator class `array_ops` of GIN indexes: the keys of an array are its elements.
//! Counterpart: ginarrayproc.c.

use crate::gin::{
    Column, Condition, Function, Keys, Query, SearchMode, Ternary, all, any, checked,
};
use ids::StrategyNumber;
use pgerror::{PgError, Result};
use values::array::payload::ArrayRef;
use values::datum::DatumRef;

const OVERLAPS: StrategyNumber = StrategyNumber(1);
const CONTAINS: StrategyNumber = StrategyNumber(2);
const CONTAINED: StrategyNumber = StrategyNumber(3);
const EQUALS: StrategyNumber = StrategyNumber(4);

/// The functions by name.
pub const FNS: &[(&str, Function)] = &[
    ("ginarrayextract", Function::ExtractValue(elements)),
    ("ginqueryarrayextract", Function::ExtractQuery(extract_query)),
    ("ginarrayconsistent", Function::Consistent(consistent)),
    ("ginarraytriconsistent", Function::TriConsistent(tri_consistent)),
];

fn elements(column: &Column, array: DatumRef<'_>, keys: &mut Keys) -> Result<()> {
    ArrayRef::new(array)?.iter(&column.key).for_each(|element| keys.push(element));
    Ok(())
}

fn extract_query(
    column: &Column,
    array: DatumRef<'_>,
    strategy: StrategyNumber,
    query: &mut Query,
) -> Result<()> {
    elements(column, array, &mut query.keys)?;
    query.mode = match strategy {
        OVERLAPS => SearchMode::Keys,
        // Every array contains an empty one.
        CONTAINS if query.keys.is_empty() => SearchMode::All,
        CONTAINS => SearchMode::Keys,
        // An empty array is contained in every one.
        CONTAINED => SearchMode::KeysOrEmpty,
        EQUALS if query.keys.is_empty() => SearchMode::KeysOrEmpty,
        EQUALS => SearchMode::Keys,
        other => return Err(unknown("ginqueryarrayextract", other)),
    };
    Ok(())
}

#[cold]
fn unknown(function: &str, strategy: StrategyNumber) -> PgError {
    PgError::internal(format!("{function}: unknown strategy number: {strategy}"))
}

fn consistent(c: &Condition<'_>, present: &[bool]) -> Result<Ternary> {
    let present: Vec<Ternary> = present.iter().map(|p| Ternary::from(*p)).collect();
    tri_consistent(c, &present)
}

fn tri_consistent(c: &Condition<'_>, present: &[Ternary]) -> Result<Ternary> {
    let keys = &c.query.keys;
    let is_null = |n: usize| keys.get(n).is_null();
    Ok(match c.strategy {
        // A NULL equals nothing.
        OVERLAPS => any(present.iter().enumerate().filter(|(n, _)| !is_null(*n)).map(|(_, p)| *p)),
        CONTAINS if (0..present.len()).any(is_null) => Ternary::False,
        CONTAINS => all(present),
        CONTAINED => Ternary::Maybe,
        // Here NULLs are equal.
        EQUALS => checked(all(present)),
        other => return Err(unknown("ginarrayconsistent", other)),
    })
}
