//! Look-up, containment, and change.

use super::value::{Hstore, Pair, build, encode};
use pgerror::Result;
use values::array::ArrayRef;
use values::array::payload::{build as build_array, builtin_info};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::{SetSource, VecSource};
use values::oids;

pub(super) fn text_or_null(value: Option<&[u8]>) -> Datum {
    value.map_or(Datum::Null, Datum::bytes)
}

/// The elements of a text[]; `None`: NULL.
pub(super) fn texts(array: DatumRef<'_>) -> Vec<Option<&[u8]>> {
    let elements = ArrayRef::or_empty(array).iter(&builtin_info(oids::TEXT));
    elements.map(|e| if e.is_null() { None } else { Some(e.as_bytes()) }).collect()
}

pub(super) fn fetch(a: &[DatumRef<'_>]) -> Datum {
    let hstore = Hstore::new(a[0]);
    text_or_null(hstore.find(a[1].as_bytes()).and_then(|i| hstore.value(i)))
}

fn slice_to_array(a: &[DatumRef<'_>]) -> Result<Datum> {
    let hstore = Hstore::new(a[0]);
    let keys = ArrayRef::new(a[1])?;
    let value = |key: Option<&[u8]>| hstore.value(hstore.find(key?)?);
    let values: Vec<Datum> = texts(a[1]).into_iter().map(|k| text_or_null(value(k))).collect();
    let (dims, lower) = (keys.dims(), keys.lower_bounds());
    build_array(&builtin_info(oids::TEXT), &dims, &lower, values.iter().map(Datum::as_ref))
}

fn slice_to_hstore(a: &[DatumRef<'_>]) -> Result<Datum> {
    let hstore = Hstore::new(a[0]);
    let found = texts(a[1]).into_iter().flatten().filter_map(|key| hstore.find(key));
    build(found.map(|i| Pair::new(hstore.key(i), hstore.value(i))).collect())
}

fn has(a: &[DatumRef<'_>], all: bool) -> Datum {
    let hstore = Hstore::new(a[0]);
    let mut keys = texts(a[1]).into_iter().flatten().map(|key| hstore.find(key).is_some());
    Datum::bool(if all { keys.all(|found| found) } else { keys.any(|found| found) })
}

fn is_defined(a: &[DatumRef<'_>]) -> Datum {
    let hstore = Hstore::new(a[0]);
    Datum::bool(hstore.find(a[1].as_bytes()).is_some_and(|i| hstore.value(i).is_some()))
}

/// The pairs that fulfil a condition.
fn filter(hstore: Hstore<'_>, mut keep: impl FnMut(&[u8], Option<&[u8]>) -> bool) -> Result<Datum> {
    let pairs = hstore.pairs().filter(|(key, value)| keep(key, *value));
    encode(&pairs.map(|(key, value)| Pair::new(key, value)).collect::<Vec<_>>())
}

fn delete_keys(a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut keys: Vec<&[u8]> = texts(a[1]).into_iter().flatten().collect();
    keys.sort_unstable();
    filter(Hstore::new(a[0]), |key, _| keys.binary_search(&key).is_err())
}

fn delete_pairs(a: &[DatumRef<'_>]) -> Result<Datum> {
    let other = Hstore::new(a[1]);
    filter(Hstore::new(a[0]), |key, value| other.find(key).is_none_or(|i| other.value(i) != value))
}

fn concatenate(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (first, second) = (Hstore::new(a[0]), Hstore::new(a[1]));
    // The pairs of the second come first, because the first pair with a key is kept.
    let pairs = second.pairs().chain(first.pairs());
    build(pairs.map(|(key, value)| Pair::new(key, value)).collect())
}

/// Whether all pairs of the second value are in the first.
fn contains(whole: DatumRef<'_>, part: DatumRef<'_>) -> Datum {
    let whole = Hstore::new(whole);
    let mut pairs = Hstore::new(part).pairs();
    Datum::bool(pairs.all(|(key, value)| whole.find(key).is_some_and(|i| whole.value(i) == value)))
}

fn array_of(values: Vec<Datum>) -> Result<Datum> {
    values::array::payload::of_builtin(oids::TEXT, &values)
}

fn keys(d: DatumRef<'_>) -> Vec<Datum> {
    Hstore::new(d).pairs().map(|(key, _)| Datum::bytes(key)).collect()
}

fn values_of(d: DatumRef<'_>) -> Vec<Datum> {
    Hstore::new(d).pairs().map(|(_, value)| text_or_null(value)).collect()
}

/// The pairs as rows of two columns.
struct Pairs(std::vec::IntoIter<(Datum, Datum)>);

impl SetSource for Pairs {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        let Some((key, value)) = self.0.next() else { return Ok(false) };
        out.push(key);
        out.push(value);
        Ok(true)
    }
}

fn each(d: DatumRef<'_>) -> Box<dyn SetSource> {
    let pairs = Hstore::new(d).pairs();
    let rows: Vec<_> = pairs.map(|(k, v)| (Datum::bytes(k), text_or_null(v))).collect();
    Box::new(Pairs(rows.into_iter()))
}

scalars! { FNS;
    "hstore_fetchval" => |_, a| Ok(fetch(a)),
    "hstore_slice_to_array" => |_, a| slice_to_array(a),
    "hstore_slice_to_hstore" => |_, a| slice_to_hstore(a),
    "hstore_exists" => |_, a| Ok(Datum::bool(Hstore::new(a[0]).find(a[1].as_bytes()).is_some())),
    "hstore_exists_any" => |_, a| Ok(has(a, false)),
    "hstore_exists_all" => |_, a| Ok(has(a, true)),
    "hstore_defined" => |_, a| Ok(is_defined(a)),
    "hstore_delete" => |_, a| filter(Hstore::new(a[0]), |key, _| key != a[1].as_bytes()),
    "hstore_delete_array" => |_, a| delete_keys(a),
    "hstore_delete_hstore" => |_, a| delete_pairs(a),
    "hstore_concat" => |_, a| concatenate(a),
    "hstore_contains" => |_, a| Ok(contains(a[0], a[1])),
    "hstore_contained" => |_, a| Ok(contains(a[1], a[0])),
    "hstore_akeys" => |_, a| array_of(keys(a[0])),
    "hstore_avals" => |_, a| array_of(values_of(a[0])),
}

builtins! { SETS;
    "hstore_skeys" => Srf(|_, a| Ok(VecSource::boxed(keys(a[0])))),
    "hstore_svals" => Srf(|_, a| Ok(VecSource::boxed(values_of(a[0])))),
    "hstore_each" => Srf(|_, a| Ok(each(a[0]))),
}
