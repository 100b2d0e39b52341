//! btree_gin: operator classes of GIN indexes for values with an order. The key of a value is the
//! value; a comparison is a range of keys.
//!
//! Counterpart: contrib/btree_gin/btree_gin.c. Enums are not supported, because their order is in
//! the catalogs.

use crate::library::{ByCase, Library};
use ids::StrategyNumber;
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use std::sync::Arc;
use types::compare::{self, CompareFn};
use types::numeric::{Num, Sign, numeric_cmp};
use values::datum::{Datum, DatumRef};
use values::gin::{Column, Condition, Function, Keys, Query, Ternary};

pub static LIBRARY: Library = Library {
    name: "btree_gin",
    functions: &[FNS],
    comparisons: &[ByCase::same("gin_numeric_cmp", numeric_cmp)],
    gin: SUPPORT,
    declared: &[
        "gin_enum_cmp",
        "gin_extract_value_anyenum",
        "gin_extract_query_anyenum",
        "gin_compare_prefix_anyenum",
    ],
    ..Library::EMPTY
};

scalars! { FNS;
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

/// The comparison of a query's values.
struct Order(CompareFn);

/// Sets the key where the range of a comparison begins. `least` is not greater than any value.
fn extract_query(
    value: DatumRef<'_>,
    strategy: StrategyNumber,
    query: &mut Query,
    least: &Datum,
    order: &str,
) -> Result<()> {
    let order = compare::lookup(order).ok_or_else(|| PgError::unsupported(order))?;
    query.extra = Some(Arc::new(Order(order)));
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
    let order = c.query.extra.as_ref().and_then(|e| e.downcast_ref::<Order>());
    let Some(Order(compare)) = order else { return Ordering::Greater };
    match (c.strategy, compare(key, c.value, c.column.collation)) {
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

/// The support functions of a type: its name in the symbols, its least value, its comparison.
macro_rules! types {
    ($($extract:literal $query:literal $prefix:literal $least:expr, $order:literal;)*) => {
        const SUPPORT: &[ByCase<Function>] = &[
            ByCase::same("gin_btree_consistent", Function::Consistent(consistent)),
            $(
                ByCase::same($extract, Function::ExtractValue(extract_value)),
                ByCase::same(
                    $query,
                    Function::ExtractQuery(|_, value, strategy, query| {
                        extract_query(value, strategy, query, &$least, $order)
                    }),
                ),
                ByCase::same($prefix, Function::ComparePartial(compare_prefix)),
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
    "gin_extract_value_int2" "gin_extract_query_int2" "gin_compare_prefix_int2" Datum::int2(i16::MIN),
        "btint2cmp";
    "gin_extract_value_int4" "gin_extract_query_int4" "gin_compare_prefix_int4" Datum::int4(i32::MIN),
        "btint4cmp";
    "gin_extract_value_int8" "gin_extract_query_int8" "gin_compare_prefix_int8" Datum::int8(i64::MIN),
        "btint8cmp";
    "gin_extract_value_float4" "gin_extract_query_float4" "gin_compare_prefix_float4" Datum::float4(f32::NEG_INFINITY),
        "btfloat4cmp";
    "gin_extract_value_float8" "gin_extract_query_float8" "gin_compare_prefix_float8" Datum::float8(f64::NEG_INFINITY),
        "btfloat8cmp";
    "gin_extract_value_money" "gin_extract_query_money" "gin_compare_prefix_money" Datum::int8(i64::MIN),
        "cash_cmp";
    "gin_extract_value_oid" "gin_extract_query_oid" "gin_compare_prefix_oid" Datum::Word(0),
        "btoidcmp";
    "gin_extract_value_timestamp" "gin_extract_query_timestamp" "gin_compare_prefix_timestamp" Datum::int8(i64::MIN),
        "timestamp_cmp";
    "gin_extract_value_timestamptz" "gin_extract_query_timestamptz" "gin_compare_prefix_timestamptz" Datum::int8(i64::MIN),
        "timestamp_cmp";
    "gin_extract_value_time" "gin_extract_query_time" "gin_compare_prefix_time" Datum::int8(0),
        "time_cmp";
    "gin_extract_value_timetz" "gin_extract_query_timetz" "gin_compare_prefix_timetz" Datum::bytes(LEAST_TIMETZ),
        "timetz_cmp";
    "gin_extract_value_date" "gin_extract_query_date" "gin_compare_prefix_date" Datum::int4(i32::MIN),
        "date_cmp";
    "gin_extract_value_interval" "gin_extract_query_interval" "gin_compare_prefix_interval" Datum::bytes(LEAST_INTERVAL),
        "interval_cmp";
    "gin_extract_value_macaddr" "gin_extract_query_macaddr" "gin_compare_prefix_macaddr" Datum::bytes([0; 6]),
        "macaddr_cmp";
    "gin_extract_value_macaddr8" "gin_extract_query_macaddr8" "gin_compare_prefix_macaddr8" Datum::bytes([0; 8]),
        "macaddr8_cmp";
    "gin_extract_value_inet" "gin_extract_query_inet" "gin_compare_prefix_inet" Datum::bytes(LEAST_INET),
        "network_cmp";
    "gin_extract_value_cidr" "gin_extract_query_cidr" "gin_compare_prefix_cidr" Datum::bytes(LEAST_INET),
        "network_cmp";
    "gin_extract_value_text" "gin_extract_query_text" "gin_compare_prefix_text" Datum::bytes([]),
        "bttextcmp";
    "gin_extract_value_bpchar" "gin_extract_query_bpchar" "gin_compare_prefix_bpchar" Datum::bytes([]),
        "bpcharcmp";
    "gin_extract_value_char" "gin_extract_query_char" "gin_compare_prefix_char" Datum::Word(0),
        "btcharcmp";
    "gin_extract_value_bytea" "gin_extract_query_bytea" "gin_compare_prefix_bytea" Datum::bytes([]),
        "byteacmp";
    "gin_extract_value_bit" "gin_extract_query_bit" "gin_compare_prefix_bit" Datum::bytes([0; 4]),
        "bitcmp";
    "gin_extract_value_varbit" "gin_extract_query_varbit" "gin_compare_prefix_varbit" Datum::bytes([0; 4]),
        "bitcmp";
    "gin_extract_value_numeric" "gin_extract_query_numeric" "gin_compare_prefix_numeric" least_numeric(),
        "numeric_cmp";
    "gin_extract_value_uuid" "gin_extract_query_uuid" "gin_compare_prefix_uuid" Datum::bytes([0; 16]),
        "uuid_cmp";
    "gin_extract_value_name" "gin_extract_query_name" "gin_compare_prefix_name" Datum::name(""),
        "btnamecmp";
    "gin_extract_value_bool" "gin_extract_query_bool" "gin_compare_prefix_bool" Datum::bool(false),
        "btboolcmp";
}
