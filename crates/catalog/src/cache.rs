//! The system caches: catalog rows by unique key, shared by all sessions of a database.
//!
//! A *cache* ([`SysCache`]) corresponds to a unique index of a catalog. Its number and the hash of
//! its keys equal PostgreSQL's, since both appear in the invalidation messages of commit records.
//!
//! INVARIANT: shared entries contain committed rows only. A lookup that misses reads the shard's
//! generation, scans with a fresh snapshot, and installs the result only if the generation is
//! unchanged. An invalidation increments the generation and removes the entry. A key whose row the
//! current transaction has changed is *dirty* for that transaction, which then uses its own overlay
//! instead (see [`crate::overlay`]).
//!
//! Counterpart: catcache.c, syscache.c.

mod ids;
mod key;
mod table;

pub use ids::{
    AGGFNOID, ALL, AMNAME, AMOID, AMOPOPID, AMOPSTRATEGY, AMPROCNUM, ATTNAME, ATTNUM,
    AUTHMEMMEMROLE, AUTHMEMROLEMEM, AUTHNAME, AUTHOID, CASTSOURCETARGET, CLAAMNAMENSP, CLAOID,
    COLLNAMEENCNSP, COLLOID, CONDEFAULT, CONNAMENSP, CONSTROID, CONVOID, DATABASEOID,
    DEFACLROLENSPOBJ, ENUMOID, ENUMTYPOIDNAME, EVENTTRIGGERNAME, EVENTTRIGGEROID, EXTENSIONOID,
    FOREIGNDATAWRAPPERNAME, FOREIGNDATAWRAPPEROID, FOREIGNSERVERNAME, FOREIGNSERVEROID,
    FOREIGNTABLEREL, INDEXRELID, LANGNAME, LANGOID, NAMESPACENAME, NAMESPACEOID, OPERNAMENSP,
    OPEROID, OPFAMILYAMNAMENSP, OPFAMILYOID, PARAMETERACLNAME, PARAMETERACLOID, PARTRELID,
    PROCNAMEARGSNSP, PROCOID, PUBLICATIONNAME, PUBLICATIONNAMESPACE, PUBLICATIONNAMESPACEMAP,
    PUBLICATIONOID, PUBLICATIONREL, PUBLICATIONRELMAP, RANGEMULTIRANGE, RANGETYPE, RELNAMENSP,
    RELOID, REPLORIGIDENT, REPLORIGNAME, RULERELNAME, SEQRELID, STATEXTDATASTXOID, STATEXTNAMENSP,
    STATEXTOID, STATRELATTINH, SUBSCRIPTIONNAME, SUBSCRIPTIONOID, SUBSCRIPTIONRELMAP,
    TABLESPACEOID, TRFOID, TRFTYPELANG, TSCONFIGMAP, TSCONFIGNAMENSP, TSCONFIGOID, TSDICTNAMENSP,
    TSDICTOID, TSPARSERNAMENSP, TSPARSEROID, TSTEMPLATENAMENSP, TSTEMPLATEOID, TYPENAMENSP,
    TYPEOID, USERMAPPINGOID, USERMAPPINGUSERSERVER,
};
pub use key::Key;
pub(crate) use key::{hash_keys, hash_row};
pub(crate) use table::{Found, Table};

use crate::rows::CatalogRow;
use ids_crate::{AttrNo, Oid, Tid};
use std::marker::PhantomData;
use std::ops::Deref;
use sync::Arc;

use ::ids as ids_crate;

/// A cached row and its TID. Dereferences to the row.
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

/// A shared reference to a cached row, as returned by lookups.
pub type Row<R> = Arc<Tuple<R>>;

/// A unique index of a catalog that serves as a cache.
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

    /// The cache without its row type.
    pub const fn info(self) -> CacheInfo {
        CacheInfo { id: self.id, relation: R::RELATION, index: self.index, keys: self.keys }
    }
}

#[cfg(test)]
mod tests;
