//! hstore: sets of pairs of a key and a value, both texts; a value can be NULL.
//!
//! Reading order: `value` (the stored form), `io`, `access` (look-up and change), `convert`
//! (arrays, rows, json), `gin`, `gist`.
//!
//! Counterpart: contrib/hstore.

mod access;
mod convert;
mod gin;
mod gist;
mod io;
mod value;

use crate::library::{ByCase, Library};
use ids::Oid;
use pgerror::{Result, pg_err};
use std::cmp::Ordering;
use value::{Hstore, Pair};
use values::datum::{Datum, DatumRef};
use values::hash::{h32, h64, hash_bytes, hash_bytes_extended};

pub static LIBRARY: Library = Library {
    name: "hstore",
    functions: &[FNS, io::FNS, access::FNS, access::SETS, convert::FNS],
    comparisons: &[ByCase::same("hstore_cmp", compare)],
    hashes: &[ByCase::same("hstore_hash", |v, _| hash_bytes(v.as_bytes()))],
    gin: gin::SUPPORT,
    gist: gist::SUPPORT,
    declared: &["ghstore_in", "ghstore_out", SUBSCRIPT_HANDLER],
};

/// The handler of subscripts.
pub const SUBSCRIPT_HANDLER: &str = "hstore_subscript_handler";

/// The value of a key, for a subscript; NULL if the value has no such key.
pub fn element(hstore: DatumRef<'_>, key: DatumRef<'_>) -> Datum {
    match key.is_null() {
        true => Datum::Null,
        false => access::fetch(&[hstore, key]),
    }
}

/// The value with another value of a key; `hstore` may be NULL.
pub fn with_element(hstore: DatumRef<'_>, key: DatumRef<'_>, value: DatumRef<'_>) -> Result<Datum> {
    if key.is_null() {
        return Err(pg_err!(
            NULL_VALUE_NOT_ALLOWED,
            "hstore subscript in assignment must not be null"
        ));
    }
    let new = Pair::new(key.as_bytes(), (!value.is_null()).then(|| value.as_bytes()));
    let mut pairs = vec![new];
    if !hstore.is_null() {
        pairs.extend(Hstore::new(hstore).pairs().map(|(key, value)| Pair::new(key, value)));
    }
    value::build(pairs)
}

/// An order without meaning, for sorting: by the bytes of keys and values, then by their lengths.
fn compare(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    let (a, b) = (Hstore::new(a), Hstore::new(b));
    if a.len() == 0 || b.len() == 0 {
        return a.len().cmp(&b.len());
    }
    let (x, y) = (a.strings(), b.strings());
    let shared = x.len().min(y.len());
    let bytes = x[..shared].cmp(&y[..shared]).then(x.len().cmp(&y.len()));
    let counts = || a.len().cmp(&b.len());
    let entries = || {
        let both = a.entries().zip(b.entries());
        let mut orders = both.map(|(x, y)| (x.end, x.null).cmp(&(y.end, y.null)));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    bytes.then_with(counts).then_with(entries)
}

fn order(a: &[DatumRef<'_>]) -> Ordering {
    compare(a[0], a[1], Oid::INVALID)
}

scalars! { FNS;
    "hstore_eq" => |_, a| Ok(Datum::bool(order(a).is_eq())),
    "hstore_ne" => |_, a| Ok(Datum::bool(order(a).is_ne())),
    "hstore_lt" => |_, a| Ok(Datum::bool(order(a).is_lt())),
    "hstore_le" => |_, a| Ok(Datum::bool(order(a).is_le())),
    "hstore_gt" => |_, a| Ok(Datum::bool(order(a).is_gt())),
    "hstore_ge" => |_, a| Ok(Datum::bool(order(a).is_ge())),
    "hstore_cmp" => |_, a| Ok(Datum::int4(order(a) as i32)),
    "hstore_hash" => |_, a| Ok(h32(hash_bytes(a[0].as_bytes()))),
    "hstore_hash_extended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_bytes(), a[1].word()))),
}
