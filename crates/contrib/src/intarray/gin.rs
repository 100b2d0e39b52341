//! The operator class `gin__int_ops`: the keys of an array are its elements. Counterpart:
//! contrib/intarray/_int_gin.c.

use super::arrays::elements;
use super::query;
use crate::library::ByCase;
use ids::StrategyNumber;
use pgerror::{PgError, Result};
use values::datum::{Datum, DatumRef};
use values::gin::{Column, Condition, Function, Query, SearchMode, Ternary, all, checked};

const OVERLAPS: StrategyNumber = StrategyNumber(3);
const EQUALS: StrategyNumber = StrategyNumber(6);
const CONTAINS: StrategyNumber = StrategyNumber(7);
const CONTAINED: StrategyNumber = StrategyNumber(8);
const OLD_CONTAINS: StrategyNumber = StrategyNumber(13);
const OLD_CONTAINED: StrategyNumber = StrategyNumber(14);
const FULFILS: StrategyNumber = StrategyNumber(20);

pub(super) const SUPPORT: &[ByCase<Function>] = &[
    ByCase::same("ginint4_queryextract", Function::ExtractQuery(extract_query)),
    ByCase::same("ginint4_consistent", Function::Consistent(consistent)),
];

fn extract_query(
    _: &Column,
    value: DatumRef<'_>,
    strategy: StrategyNumber,
    query: &mut Query,
) -> Result<()> {
    let mut push = |key: i32| query.keys.push(Datum::int4(key).as_ref());
    if strategy == FULFILS {
        query::values(value).for_each(push);
        query.mode = match query::requires_value(value) {
            true => SearchMode::Keys,
            false => SearchMode::All,
        };
        return Ok(());
    }
    elements(value)?.into_iter().for_each(&mut push);
    query.mode = match strategy {
        OVERLAPS => SearchMode::Keys,
        // An empty array is contained in every one.
        CONTAINED | OLD_CONTAINED => SearchMode::KeysOrEmpty,
        EQUALS if query.keys.is_empty() => SearchMode::KeysOrEmpty,
        // Every array contains an empty one.
        CONTAINS | OLD_CONTAINS if query.keys.is_empty() => SearchMode::All,
        EQUALS | CONTAINS | OLD_CONTAINS => SearchMode::Keys,
        other => return Err(unknown("ginint4_queryextract", other)),
    };
    Ok(())
}

#[cold]
fn unknown(function: &str, strategy: StrategyNumber) -> PgError {
    PgError::internal(format!("{function}: unknown strategy number: {strategy}"))
}

fn consistent(c: &Condition<'_>, present: &[bool]) -> Result<Ternary> {
    let every = || {
        let present: Vec<Ternary> = present.iter().map(|p| Ternary::from(*p)).collect();
        all(&present)
    };
    Ok(match c.strategy {
        OVERLAPS => Ternary::True,
        CONTAINED | OLD_CONTAINED => Ternary::Maybe,
        EQUALS => checked(every()),
        CONTAINS | OLD_CONTAINS => every(),
        FULFILS => query::holds(c.value, present).into(),
        other => return Err(unknown("ginint4_consistent", other)),
    })
}
