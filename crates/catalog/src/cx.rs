//! The lookup context: a session's view of the catalogs during one command.

use crate::cache::{Found, Key, Row, SysCache, Tuple, hash_keys};
use crate::rows::{CatalogRow, Index};
use crate::session::CatSession;
use crate::store::{FactStore, Store};
use crate::tables::EngineStore;
use engine::Backend;
use ids::Xid;
use pgerror::{PgError, Result, SqlState};
use std::any::Any;
use std::fmt;
use sync::Arc;

/// Catalog lookups and changes of a session.
pub struct CatCx<'a> {
    pub(crate) store: Store<'a>,
    pub session: &'a mut CatSession,
}

/// A list as stored in the caches.
type Rows<R> = Arc<[Row<R>]>;

impl<'a> CatCx<'a> {
    /// A context over the catalogs of the session's database.
    pub fn new(backend: &'a mut Backend, session: &'a mut CatSession) -> CatCx<'a> {
        let catalog = session.catalog.clone();
        let tablespace = session.tablespace;
        CatCx { store: Store::Engine(EngineStore { backend, catalog, tablespace }), session }
    }

    /// The storage session; an internal error where the context is over fact tables.
    pub fn backend(&mut self) -> Result<&mut Backend> {
        match &mut self.store {
            Store::Engine(store) => Ok(store.backend),
            Store::Facts(_) => Err(PgError::internal("there is no storage below these catalogs")),
        }
    }

    /// A context over the rows of a new cluster in memory.
    pub fn over_facts(store: &'a FactStore, session: &'a mut CatSession) -> CatCx<'a> {
        CatCx { store: Store::Facts(store), session }
    }

    /// The row with these keys. Counterpart: `SearchSysCache`.
    pub fn search<R: CatalogRow>(
        &mut self,
        cache: SysCache<R>,
        keys: &[Key<'_>],
    ) -> Result<Option<Row<R>>> {
        debug_assert_eq!(cache.keys.len(), keys.len(), "keys of cache {}", cache.id);
        let hash = hash_keys(keys);
        if self.session.overlay.is_dirty(cache.id, hash) {
            if let Some(found) = self.session.overlay.find(cache.id, hash, keys) {
                return Ok(typed::<R>(found));
            }
            let found = self.scan_one(cache, keys)?;
            self.session.overlay.install(cache.id, hash, keys, untyped(&found));
            return Ok(found);
        }
        match self.session.catalog.find(cache.id, hash, keys) {
            Ok(found) => Ok(typed::<R>(found)),
            Err(generation) => {
                let found = self.scan_one(cache, keys)?;
                let value = untyped(&found);
                self.session.catalog.install(generation, cache.id, hash, keys, value);
                Ok(found)
            }
        }
    }

    /// Like [`CatCx::search`]; a missing row is an internal error that names `what`, as
    /// PostgreSQL's "cache lookup failed for …".
    pub fn get<R: CatalogRow>(
        &mut self,
        cache: SysCache<R>,
        keys: &[Key<'_>],
        what: impl fmt::Display,
    ) -> Result<Row<R>> {
        self.search(cache, keys)?
            .ok_or_else(|| PgError::internal(format!("cache lookup failed for {what}")))
    }

    /// All rows whose leading keys equal `keys`, in index order. Counterpart: `SearchSysCacheList`.
    pub fn list<R: CatalogRow>(&mut self, cache: SysCache<R>, keys: &[Key<'_>]) -> Result<Rows<R>> {
        let hash = hash_keys(keys);
        let dirty = self.session.overlay.is_list_dirty(cache.id);
        let generation = if dirty {
            if let Some(found) = self.session.overlay.find_list(cache.id, hash, keys) {
                return Ok(typed_list::<R>(found));
            }
            None
        } else {
            match self.session.catalog.find_list(cache.id, hash, keys) {
                Ok(found) => return Ok(typed_list::<R>(found)),
                Err(generation) => Some(generation),
            }
        };
        let index = cache.info();
        let rows: Rows<R> = self.scan_rows(index.index, index.keys, keys)?.into();
        let value: Found = Some(Arc::new(rows.clone()));
        match generation {
            None => self.session.overlay.install_list(cache.id, hash, keys, value),
            Some(t) => self.session.catalog.install_list(t, cache.id, hash, keys, value),
        }
        Ok(rows)
    }

    /// The visible rows whose leading index columns equal `keys`, read from the catalog and not
    /// from a cache.
    pub fn scan<R: CatalogRow>(
        &mut self,
        index: Index<R>,
        keys: &[Key<'_>],
    ) -> Result<Vec<Row<R>>> {
        self.scan_rows(index.oid, index.keys, keys)
    }

    /// All visible rows of a catalog, in no particular order.
    pub fn scan_all<R: CatalogRow>(&mut self) -> Result<Vec<Row<R>>> {
        self.scan_rows(ids::Oid::INVALID, &[], &[])
    }

    /// The id of the transaction that wrote this version of a row.
    pub fn row_xmin<R: CatalogRow>(&mut self, row: &Row<R>) -> Result<Xid> {
        self.store.row_xmin(R::RELATION, row.tid)
    }

    fn scan_one<R: CatalogRow>(
        &mut self,
        cache: SysCache<R>,
        keys: &[Key<'_>],
    ) -> Result<Option<Row<R>>> {
        Ok(self.scan_rows(cache.index, cache.keys, keys)?.into_iter().next())
    }

    fn scan_rows<R: CatalogRow>(
        &mut self,
        index: ids::Oid,
        columns: &[ids::AttrNo],
        keys: &[Key<'_>],
    ) -> Result<Vec<Row<R>>> {
        let mut rows = Vec::new();
        self.store.scan(R::RELATION, index, columns, keys, &mut |tid, row| {
            rows.push(Arc::new(Tuple { tid, row: R::from_row(row)? }));
            Ok(())
        })?;
        Ok(rows)
    }
}

fn untyped<R: CatalogRow>(found: &Option<Row<R>>) -> Found {
    found.clone().map(|row| row as Arc<dyn Any + Send + Sync>)
}

fn typed<R: CatalogRow>(found: Found) -> Option<Row<R>> {
    found.map(|any| any.downcast().expect("a cache holds rows of its catalog only"))
}

fn typed_list<R: CatalogRow>(found: Found) -> Rows<R> {
    let list =
        found.map(|any| any.downcast::<Rows<R>>().expect("a cache holds its catalog's rows"));
    list.map_or_else(|| Arc::from(Vec::new()), |l| (*l).clone())
}

/// An undefined-object error (SQLSTATE class 42) with PostgreSQL's wording.
pub(crate) fn undefined(code: SqlState, message: String) -> PgError {
    PgError::new(code, message)
}
