//! `satisfies_hash_partition`: the condition in the constraint of a hash partition.
//!
//! Counterpart: partbounds.c (`satisfies_hash_partition`).

use crate::host::SystemHost;
use eval::HostCall;
use ids::code::PartStrategy;
use ids::{Oid, RelKind};
use partition::{HashCall, PartitionKey, SupportCall};
use pgerror::{Result, bail, pg_err};
use types::array::ArrayRef;
use types::{Datum, DatumRef, oids};

/// Whether a row with the key that follows the first three arguments (table, modulus, remainder)
/// belongs to the hash partition. The key may be an array.
pub fn satisfies(
    host: &mut dyn SystemHost,
    arg_types: &[Oid],
    args: &[DatumRef<'_>],
) -> Result<Datum> {
    let [table, modulus, remainder, values @ ..] = args else { return Ok(Datum::bool(false)) };
    if table.is_null() || modulus.is_null() || remainder.is_null() {
        return Ok(Datum::bool(false));
    }
    let (table, modulus, remainder) = (table.as_oid(), modulus.as_i32(), remainder.as_i32());
    check_numbers(modulus, remainder)?;
    if host.catalog().find_class(table)?.is_some() {
        host.lock_relation(table, 1)?;
    }
    let Some(rel) = host.catalog().try_relation(table)? else {
        bail!(INTERNAL_ERROR, "could not open relation with OID {table}");
    };
    let key = match rel.kind() {
        RelKind::PartitionedTable => {
            let key = partition::partition_key(&mut host.catalog(), &rel)?;
            Some(key).filter(|k| k.strategy == PartStrategy::Hash)
        }
        _ => None,
    };
    let Some(key) = key else {
        let name = rel.name();
        bail!(INVALID_PARAMETER_VALUE, "\"{name}\" is not a hash partitioned table");
    };
    let types = arg_types.get(3..).unwrap_or_default();
    let hash = match elements(host, &key, types)? {
        Some(element) => {
            let info = host.functions().type_info(element)?;
            let list: Vec<DatumRef<'_>> = match values.first() {
                Some(DatumRef::Null) | None => Vec::new(),
                Some(array) => ArrayRef::new(*array)?.iter(&info).collect(),
            };
            check_types(host, &key, &vec![element; key.columns.len()], true)?;
            check_count(&key, list.len())?;
            key.hash(&list, &mut Calls(host))?
        }
        None => {
            check_count(&key, values.len())?;
            check_types(host, &key, types, false)?;
            key.hash(values, &mut Calls(host))?
        }
    };
    Ok(Datum::bool(partition::hash_matches(hash, modulus, remainder)))
}

fn check_numbers(modulus: i32, remainder: i32) -> Result<()> {
    let wrong = if modulus <= 0 {
        "modulus for hash partition must be an integer value greater than zero"
    } else if remainder < 0 {
        "remainder for hash partition must be an integer value greater than or equal to zero"
    } else if remainder >= modulus {
        "remainder for hash partition must be less than modulus"
    } else {
        return Ok(());
    };
    bail!(INVALID_PARAMETER_VALUE, "{wrong}")
}

fn check_count(key: &PartitionKey, count: usize) -> Result<()> {
    let columns = key.columns.len();
    if columns == count {
        return Ok(());
    }
    bail!(
        INVALID_PARAMETER_VALUE,
        "number of partitioning columns ({columns}) does not match number of partition keys \
         provided ({count})"
    )
}

/// The element type of the array that a call with VARIADIC has; `None` for other calls.
fn elements(host: &mut dyn SystemHost, key: &PartitionKey, types: &[Oid]) -> Result<Option<Oid>> {
    let &[ty] = types else { return Ok(None) };
    let mut cat = host.catalog();
    if key.columns.len() == 1 && key.columns[0].ty == ty {
        return Ok(None);
    }
    Ok(cat.element_type(ty)?.valid())
}

fn check_types(
    host: &mut dyn SystemHost,
    key: &PartitionKey,
    types: &[Oid],
    quoted: bool,
) -> Result<()> {
    for (n, (column, &ty)) in (1..).zip(key.columns.iter().zip(types)) {
        let mut cat = host.catalog();
        if ty == column.ty || !quoted && cat.is_binary_coercible(ty, column.ty)? {
            continue;
        }
        let (wanted, given) = (cat.format_type(column.ty)?, cat.format_type(ty)?);
        let quote = if quoted { "\"" } else { "" };
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "column {n} of the partition key has type {quote}{wanted}{quote}, but supplied value \
             is of type {quote}{given}{quote}"
        ));
    }
    Ok(())
}

/// Calls hash functions in the session.
struct Calls<'a>(&'a mut dyn SystemHost);

impl SupportCall for Calls<'_> {
    fn hash_extended(&mut self, call: HashCall<'_>) -> Result<u64> {
        let HashCall { function, input, collation, value, seed } = call;
        let hash = self.0.call_host(&HostCall {
            function,
            collation,
            result_type: oids::INT8,
            arg_types: &[input, oids::INT8],
            args: &[value, DatumRef::Word(seed)],
        })?;
        match hash {
            Datum::Word(hash) => Ok(hash),
            _ => bail!(INTERNAL_ERROR, "function {function} returned NULL"),
        }
    }
}
