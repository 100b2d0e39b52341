//! btree_gin: operator classes of GIN indexes for values with an order. The key of a value is the
//! value; a comparison is a range of keys.
//!
//! Counterpart: contrib/btree_gin/btree_gin.c. The order of an enum's values is in the catalogs;
//! the value 0 is before all others (`catalog::comparer`).

use crate::library::{ByCase, Library};
use ids::StrategyNumber;
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use types::numeric::{Num, Sign, numeric_cmp};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::gin::{Column, Condition, Function, Keys, Query, Ternary};

pub static LIBRARY: Library = Library {
    name: "btree_gin",
    functions: &[FNS],
    comparisons: &[ByCase::same("gin_numeric_cmp", numeric_cmp)],
    gin: SUPPORT,
    ..Library::EMPTY
};

/// The order of two values of an enum; 0 is before all others.
fn enum_order(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Ordering> {
    match (a[0].as_oid().is_valid(), a[1].as_oid().is_valid()) {
        (true, true) => types::enums::order(cx, a),
        (p, q) => Ok(p.cmp(&q)),
    }
}

scalars! { FNS;
    "gin_enum_cmp" => |cx, a| Ok(Datum::int4(enum_order(cx, a)? as i32)),
    "gin_numeric_cmp" => |cx, a| Ok(Datum::int4(numeric_cmp(a[0], a[1], cx.collation()) as i32)),
}

const LESS: StrategyNumber = StrategyNumber(1);
const LESS_OR_EQUAL: StrategyNumber = StrategyNumber(2);
const EQUAL: StrategyNumber = StrategyNumber(3);
const GREATER_OR_EQUAL: StrategyNumber = StrategyNumber(4);
const GREATER: StrategyNumber = StrategyNumber(5);

fn extract_value(_: &Column, value: DatumRef<'_>, keys: &mut Keys) -> Result<()> {
    keys.push(value);
    Ok(())
}

/// Sets the key where the range of a comparison begins. `least` is not greater than any value.
fn extract_query(
    value: DatumRef<'_>,
    strategy: StrategyNumber,
    query: &mut Query,
    least: &Datum,
) -> Result<()> {
    match strategy {
        LESS | LESS_OR_EQUAL => query.keys.push(least.as_ref()),
        EQUAL | GREATER_OR_EQUAL | GREATER => query.keys.push(value),
        other => {
            return Err(PgError::internal(format!("unrecognized strategy number: {other}")));
        }
    }
    query.partial.push(strategy != EQUAL);
    Ok(())
}

/// Whether a key is in the range of a comparison.
fn compare_prefix(c: &Condition<'_>, _: usize, key: DatumRef<'_>) -> Ordering {
    match (c.strategy, c.column.compare.order(key, c.value, c.column.collation)) {
        (LESS, Ordering::Less) => Ordering::Equal,
        (LESS_OR_EQUAL, Ordering::Less | Ordering::Equal) => Ordering::Equal,
        (LESS | LESS_OR_EQUAL, _) => Ordering::Greater,
        (GREATER, Ordering::Equal) => Ordering::Less,
        (GREATER | GREATER_OR_EQUAL, Ordering::Less) => Ordering::Less,
        _ => Ordering::Equal,
    }
}

fn consistent(_: &Condition<'_>, _: &[bool]) -> Result<Ternary> {
    Ok(Ternary::True)
}

/// The support functions of a type: its name in the symbols, its least value.
macro_rules! types {
    ($($ty:literal $least:expr;)*) => {
        const SUPPORT: &[ByCase<Function>] = &[
            ByCase::same("gin_btree_consistent", Function::Consistent(consistent)),
            $(
                ByCase::same(
                    concat!("gin_extract_value_", $ty),
                    Function::ExtractValue(extract_value),
                ),
                ByCase::same(
                    concat!("gin_extract_query_", $ty),
                    Function::ExtractQuery(|_, value, strategy, query| {
                        extract_query(value, strategy, query, &$least)
                    }),
                ),
                ByCase::same(
                    concat!("gin_compare_prefix_", $ty),
                    Function::ComparePartial(compare_prefix),
                ),
            )*
        ];
    };
}

/// Time 0 at the greatest offset east of Greenwich.
const LEAST_TIMETZ: [u8; 12] = {
    let [a, b, c, d] = (-24 * 3600i32).to_le_bytes();
    [0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]
};

/// The least microseconds, days and months.
const LEAST_INTERVAL: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x80, 0, 0, 0, 0x80];

/// 0.0.0.0/0: family, length of the mask, address.
const LEAST_INET: [u8; 6] = [2, 0, 0, 0, 0, 0];

fn least_numeric() -> Datum {
    Num::special(Sign::NegInf).datum().unwrap_or_default()
}

types! {
    "int2" Datum::int2(i16::MIN);
    "int4" Datum::int4(i32::MIN);
    "int8" Datum::int8(i64::MIN);
    "float4" Datum::float4(f32::NEG_INFINITY);
    "float8" Datum::float8(f64::NEG_INFINITY);
    "money" Datum::int8(i64::MIN);
    "oid" Datum::Word(0);
    "timestamp" Datum::int8(i64::MIN);
    "timestamptz" Datum::int8(i64::MIN);
    "time" Datum::int8(0);
    "timetz" Datum::bytes(LEAST_TIMETZ);
    "date" Datum::int4(i32::MIN);
    "interval" Datum::bytes(LEAST_INTERVAL);
    "macaddr" Datum::bytes([0; 6]);
    "macaddr8" Datum::bytes([0; 8]);
    "inet" Datum::bytes(LEAST_INET);
    "cidr" Datum::bytes(LEAST_INET);
    "text" Datum::bytes([]);
    "bpchar" Datum::bytes([]);
    "char" Datum::Word(0);
    "bytea" Datum::bytes([]);
    "bit" Datum::bytes([0; 4]);
    "varbit" Datum::bytes([0; 4]);
    "numeric" least_numeric();
    "uuid" Datum::bytes([0; 16]);
    "name" Datum::name("");
    "bool" Datum::bool(false);
    "anyenum" Datum::oid(ids::Oid::INVALID);
}
