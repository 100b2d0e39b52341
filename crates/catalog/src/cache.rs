//! The system caches: rows found by their unique keys, shared by all sessions of a database.
//!
//! A *cache* ([`SysCache`]) is a unique index of a catalog; its number and the hash of its keys are
//! PostgreSQL's, since both travel in invalidation messages within commit records.
//!
//! INVARIANT: shared entries hold committed rows only. A look-up that misses reads the shard's
//! generation, scans with a fresh snapshot, and installs what it found only if the generation is
//! unchanged; an invalidation raises the generation and removes the entry. A key whose row the
//! current transaction has changed is *dirty* there: it is looked up in the transaction's overlay
//! only (see [`crate::overlay`]).
//!
//! Counterpart: catcache.c, syscache.c.

mod ids;
mod key;
mod table;

pub use ids::*;
pub use key::Key;
pub(crate) use key::{hash_keys, hash_row};
pub(crate) use table::{Found, Table};

use crate::rows::CatalogRow;
use ids_crate::{AttrNo, Oid, Tid};
use std::marker::PhantomData;
use std::ops::Deref;
use sync::Arc;

use ::ids as ids_crate;

/// A cached row and where it lies. Derefs to the row.
#[derive(Clone, Debug)]
pub struct Tuple<R> {
    pub tid: Tid,
    pub row: R,
}

impl<R> Deref for Tuple<R> {
    type Target = R;
    fn deref(&self) -> &R {
        &self.row
    }
}

/// What look-ups give out.
pub type Row<R> = Arc<Tuple<R>>;

/// A unique index of a catalog by which rows are cached.
pub struct SysCache<R> {
    /// Counterpart: `SysCacheIdentifier`.
    pub id: u8,
    pub index: Oid,
    pub keys: &'static [AttrNo],
    row: PhantomData<fn() -> R>,
}

impl<R> Clone for SysCache<R> {
    fn clone(&self) -> SysCache<R> {
        *self
    }
}

impl<R> Copy for SysCache<R> {}

/// A [`SysCache`] without its row type.
#[derive(Clone, Copy, Debug)]
pub struct CacheInfo {
    pub id: u8,
    pub relation: Oid,
    pub index: Oid,
    pub keys: &'static [AttrNo],
}

impl<R: CatalogRow> SysCache<R> {
    const fn new(id: u8, index: u32, keys: &'static [AttrNo]) -> SysCache<R> {
        SysCache { id, index: Oid(index), keys, row: PhantomData }
    }

    pub const fn info(self) -> CacheInfo {
        CacheInfo { id: self.id, relation: R::RELATION, index: self.index, keys: self.keys }
    }
}

#[cfg(test)]
mod tests;
