//! Cache keys and PostgreSQL's hash function for them.
//!
//! Counterpart: `CatalogCacheComputeHashValue` of catcache.c.

use super::CacheInfo;
use crate::rows::{Name, OidVector, Value};
use ids::{Oid, StrategyNumber, Xid};
use types::hash::hash_bytes;
use types::{Datum, DatumRef};

/// A borrowed lookup key.
#[derive(Clone, Copy, Debug)]
pub enum Key<'a> {
    /// A value of a by-value type, in datum representation.
    Word(u64),
    /// A `name` without trailing padding.
    Name(&'a [u8]),
    /// A `text`.
    Text(&'a [u8]),
    /// An `oidvector`.
    Oids(&'a [Oid]),
}

impl From<Oid> for Key<'_> {
    fn from(oid: Oid) -> Self {
        Key::Word(u64::from(oid.0))
    }
}

impl From<Xid> for Key<'_> {
    fn from(xid: Xid) -> Self {
        Key::Word(u64::from(xid.0))
    }
}

impl From<bool> for Key<'_> {
    fn from(b: bool) -> Self {
        Key::Word(u64::from(b))
    }
}

impl From<u8> for Key<'_> {
    fn from(c: u8) -> Self {
        Key::Word(c as i8 as i64 as u64)
    }
}

impl From<i16> for Key<'_> {
    fn from(n: i16) -> Self {
        Key::Word(i64::from(n) as u64)
    }
}

impl From<StrategyNumber> for Key<'_> {
    fn from(strategy: StrategyNumber) -> Self {
        (strategy.0 as i16).into()
    }
}

impl From<i32> for Key<'_> {
    fn from(n: i32) -> Self {
        Key::Word(i64::from(n) as u64)
    }
}

impl<'a> From<&'a str> for Key<'a> {
    fn from(name: &'a str) -> Self {
        Key::Name(name.as_bytes())
    }
}

impl<'a> From<&'a String> for Key<'a> {
    fn from(name: &'a String) -> Self {
        Key::Name(name.as_bytes())
    }
}

impl<'a> From<&'a Name> for Key<'a> {
    fn from(name: &'a Name) -> Self {
        Key::Name(name.as_bytes())
    }
}

impl<'a> From<&'a [Oid]> for Key<'a> {
    fn from(oids: &'a [Oid]) -> Self {
        Key::Oids(oids)
    }
}

impl<'a> From<&'a OidVector> for Key<'a> {
    fn from(oids: &'a OidVector) -> Self {
        Key::Oids(oids)
    }
}

impl Key<'_> {
    /// The key as a datum of its column type. Names longer than 63 bytes are truncated as on input.
    pub(crate) fn to_datum(self) -> Datum {
        match self {
            Key::Word(w) => Datum::Word(w),
            Key::Name(b) => Name::new(b).to_datum(),
            Key::Text(b) => Datum::bytes(b),
            Key::Oids(oids) => crate::rows::array::oidvector(oids),
        }
    }

    /// The key in the form stored in indexes: names without padding.
    pub(crate) fn to_index_datum(self) -> Datum {
        match self {
            Key::Name(b) => Datum::bytes(Name::new(b).as_bytes()),
            other => other.to_datum(),
        }
    }

    /// Whether `datum`, the result of [`Key::to_datum`] or a column of a row, equals this key.
    pub(crate) fn is(self, datum: DatumRef<'_>) -> bool {
        match (self, datum) {
            (Key::Word(a), DatumRef::Word(b)) => a == b,
            (Key::Name(a), DatumRef::Bytes(_)) => a == datum.as_name(),
            (Key::Text(a), DatumRef::Bytes(b)) => a == b,
            (Key::Oids(a), DatumRef::Bytes(b)) => crate::rows::array::fixed_elements(b, 4)
                .is_some_and(|b| {
                    b.len() == 4 * a.len()
                        && a.iter().zip(b.chunks_exact(4)).all(|(a, b)| a.0.to_le_bytes() == b)
                }),
            _ => false,
        }
    }

    fn hash(self) -> u32 {
        match self {
            Key::Word(w) => murmur32(w as u32),
            Key::Name(b) | Key::Text(b) => hash_bytes(b),
            Key::Oids(oids) => {
                let bytes: Vec<u8> = oids.iter().flat_map(|o| o.0.to_le_bytes()).collect();
                hash_bytes(&bytes)
            }
        }
    }
}

/// Hash of the keys of a cache entry. Counterpart: `CatalogCacheComputeHashValue`.
pub(crate) fn hash_keys(keys: &[Key<'_>]) -> u32 {
    let parts = keys.iter().enumerate();
    parts.fold(0, |hash, (i, key)| hash ^ key.hash().rotate_left(8 * i as u32))
}

/// The same hash, computed from the key columns of a row.
pub(crate) fn hash_row(cache: &CacheInfo, row: &[Datum]) -> u32 {
    let mut hash = 0;
    for (i, &attr) in cache.keys.iter().enumerate() {
        let datum = row[attr as usize - 1].as_ref();
        let part = match datum {
            DatumRef::Null => 0,
            DatumRef::Word(w) => Key::Word(w).hash(),
            DatumRef::Bytes(b) => match kind(cache, i) {
                Kind::Name => Key::Name(datum.as_name()).hash(),
                Kind::Text => Key::Text(b).hash(),
                Kind::Oids => {
                    hash_bytes(crate::rows::array::fixed_elements(b, 4).unwrap_or_default())
                }
            },
        };
        hash ^= part.rotate_left(8 * i as u32);
    }
    hash
}

/// Type of a by-reference key column.
enum Kind {
    Name,
    Text,
    Oids,
}

/// Only three caches have by-reference keys of a type other than `name`.
fn kind(cache: &CacheInfo, key: usize) -> Kind {
    if cache.id == super::PROCNAMEARGSNSP.id && key == 1 {
        Kind::Oids
    } else if cache.id == super::PARAMETERACLNAME.id || cache.id == super::REPLORIGNAME.id {
        Kind::Text
    } else {
        Kind::Name
    }
}

/// Counterpart: `murmurhash32`.
fn murmur32(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}
