//! Access to catalogs that store user data, such as `pg_largeobject`: scans of a range of an index,
//! in either direction and with any snapshot, and changes of rows by their TIDs. Such catalogs have
//! no caches.
//!
//! Counterpart: `systable_beginscan_ordered` of genam.c.

use crate::cache::{self, Key};
use crate::cx::CatCx;
use crate::rows::{CatalogRow, Index};
use crate::store::Store;
use crate::tables::{EngineStore, for_each_row};
use engine::Snapshot;
use engine::index::{Direction, IndexScan, IndexScanOptions, ScanKey};
use engine::table::system;
use ids::strategy::btree;
use ids::{AttrNo, Oid, Tid};
use pgerror::{PgError, Result};
use std::ops::ControlFlow;
use sync::Arc;
use types::DatumRef;

/// The rows that a scan visits, and their columns.
pub struct Range<'a, R> {
    pub index: Index<R>,
    /// Values of the leading columns of the index.
    pub keys: &'a [Key<'a>],
    /// The smallest value of the column after these.
    pub from: Option<Key<'a>>,
    /// The columns that are read.
    pub columns: &'a [AttrNo],
    pub direction: Direction,
    /// `None`: a new snapshot, in which the changes of earlier commands are visible.
    pub snapshot: Option<Arc<Snapshot>>,
    /// Number of rows that are read at once.
    pub batch_rows: usize,
}

/// Called with the TID and the columns of a row.
pub type EachRow<'f> = &'f mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<ControlFlow<()>>;

impl CatCx<'_> {
    /// Locks the catalog against a replacement of its files until the end of the transaction, so
    /// that TIDs stay valid.
    pub fn lock_for_change<R: CatalogRow>(&mut self) -> Result<()> {
        match &mut self.store {
            Store::Facts(_) => Ok(()),
            Store::Engine(store) => store.open_for_write(R::RELATION).map(|_| ()),
        }
    }

    /// Calls `each` for the rows of the range in the order of the index, until it breaks off. The
    /// catalog is locked by [`Self::lock_for_change`] or not at all.
    pub fn scan_range<R: CatalogRow>(
        &mut self,
        range: &Range<'_, R>,
        each: EachRow<'_>,
    ) -> Result<()> {
        match &mut self.store {
            Store::Facts(_) => Err(PgError::internal("fact tables have no order")),
            Store::Engine(store) => store.scan_range(R::RELATION, range, each),
        }
    }

    /// Replaces the row at `old`, which was read under [`Self::lock_for_change`].
    pub fn replace_at<R: CatalogRow>(&mut self, old: Tid, row: &R) -> Result<Tid> {
        debug_assert!(!has_caches(R::RELATION));
        self.store.update(R::RELATION, old, row.to_row())
    }

    /// Deletes the row at `old`, which was read under [`Self::lock_for_change`].
    pub fn delete_at<R: CatalogRow>(&mut self, old: Tid) -> Result<()> {
        debug_assert!(!has_caches(R::RELATION));
        self.store.delete(R::RELATION, old)
    }
}

fn has_caches(catalog: Oid) -> bool {
    cache::ALL.iter().any(|c| c.relation == catalog)
}

impl EngineStore<'_> {
    fn scan_range<R>(
        &mut self,
        relation: Oid,
        range: &Range<'_, R>,
        each: EachRow<'_>,
    ) -> Result<()> {
        let tag = self.lock_tag(relation);
        let mode = lmgr::LockMode::AccessShare;
        if self.backend.holds_lock(tag, lmgr::LockMode::RowExclusive) {
            return self.scan_range_locked(relation, range, each);
        }
        self.backend.lock(tag, mode)?;
        let done = self.scan_range_locked(relation, range, each);
        self.backend.unlock(tag, mode);
        done
    }

    fn scan_range_locked<R>(
        &mut self,
        relation: Oid,
        range: &Range<'_, R>,
        each: EachRow<'_>,
    ) -> Result<()> {
        let open = self.open(relation)?;
        let found = open.indexes.iter().find(|i| i.oid == range.index.oid);
        let index = found.ok_or_else(|| PgError::internal("catalog without the index"))?;
        let snapshot = match &range.snapshot {
            Some(snapshot) => snapshot.clone(),
            None => self.backend.catalog_snapshot(),
        };
        let mut conditions: Vec<ScanKey> = Vec::new();
        for (column, key) in range.keys.iter().enumerate() {
            conditions.push(ScanKey::compare(column, btree::EQUAL, key.to_index_datum()));
        }
        if let Some(from) = range.from {
            let (column, least) = (range.keys.len(), from.to_index_datum());
            conditions.push(ScanKey::compare(column, btree::GREATER_EQUAL, least));
        }
        let columns: Vec<AttrNo> = range.columns.iter().copied().chain([system::CTID]).collect();
        let mut batch = engine::table::new_batch(&open.table, &columns);
        let options = IndexScanOptions::default();
        let (be, table) = (&mut *self.backend, &open.table);
        let mut scan = IndexScan::new(be, table, index, snapshot, conditions, &columns, options)?;
        let mut ended = false;
        loop {
            let rows = range.batch_rows;
            let more = scan.next_batch(self.backend, range.direction, &mut batch, rows)?;
            for_each_row(&batch, &mut |tid, row| {
                if !ended {
                    ended = each(tid, row)?.is_break();
                }
                Ok(())
            })?;
            batch.clear();
            if ended || !more {
                return scan.end(self.backend);
            }
        }
    }
}
