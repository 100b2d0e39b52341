//! The catalogs as engine tables: opening, index scans, and changes with index maintenance.
//!
//! LOCK ORDER: the lock of the catalog, then its descriptors, which are looked up under the lock. A
//! reader holds AccessShare during the scan, a writer RowExclusive until its transaction ends. A
//! session that replaces a file of the catalog or of its TOAST table holds AccessExclusive on the
//! catalog, from before it reads the rows. No mutex is held over a scan, which may wait. See
//! `docs/design/0012-catalog-rewrite.md`.

use crate::builtin::Builtin;
use crate::cache::Key;
use crate::descriptors::{index_desc, rel_file, table_desc};
use crate::duplicate::duplicate_key;
use crate::rows::{CatalogRow, Name, PgClass, Value};
use crate::shared::Catalog;
use engine::index::{Direction, IndexScan, IndexScanOptions, Inserted, ScanKey, UniqueCheck};
use engine::relmap::{DbKey, SHARED};
use engine::table::{ChangeOptions, InsertOptions, RowOutcome, ScanOptions, TableScan, system};
use engine::{Backend, IndexDesc, TableDesc, ToastDesc};
use ids::{AttrNo, Oid, RelKind, Tid, Xid};
use lmgr::{LockMode, LockTag};
use pgerror::{PgError, Result};
use smallvec::SmallVec;
use sync::Arc;
use types::{Datum, DatumRef};

/// An open catalog.
pub(crate) struct CatalogTable {
    pub table: Arc<TableDesc>,
    pub indexes: Vec<Arc<IndexDesc>>,
    /// All columns, followed by the row's TID.
    columns: Vec<AttrNo>,
}

/// Rows per batch.
const ROWS: usize = 64;

/// A session's access to the catalogs of its database.
pub(crate) struct EngineStore<'a> {
    pub backend: &'a mut Backend,
    pub catalog: Arc<Catalog>,
    pub tablespace: Oid,
}

impl EngineStore<'_> {
    /// As [`crate::store::Store::scan`]. Waits while another session replaces the catalog's files.
    pub(crate) fn scan(
        &mut self,
        relation: Oid,
        index: Oid,
        keys: &[Key<'_>],
        each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        let tag = self.lock_tag(relation);
        let mode = LockMode::AccessShare;
        // The transaction changes the catalog, and keeps its lock.
        if self.backend.holds_lock(tag, LockMode::RowExclusive) {
            return self.scan_locked(relation, index, keys, each);
        }
        self.backend.lock(tag, mode)?;
        let done = self.scan_locked(relation, index, keys, each);
        self.backend.unlock(tag, mode);
        done
    }

    fn scan_locked(
        &mut self,
        relation: Oid,
        index: Oid,
        keys: &[Key<'_>],
        each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        let open = self.open(relation)?;
        if index.is_valid() {
            return self.scan_index(&open, index, keys, each);
        }
        let snapshot = self.backend.catalog_snapshot();
        let mut batch = engine::table::new_batch(&open.table, &open.columns);
        let options = ScanOptions::default();
        let (table, columns) = (&open.table, &open.columns);
        let mut scan = TableScan::new(self.backend, table, snapshot, columns, options)?;
        loop {
            let more = scan.next_batch(self.backend, &mut batch, ROWS)?;
            for_each_row(&batch, each)?;
            batch.clear();
            if !more {
                return Ok(());
            }
        }
    }

    fn scan_index(
        &mut self,
        open: &CatalogTable,
        index: Oid,
        keys: &[Key<'_>],
        each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        let found = open.indexes.iter().find(|i| i.oid == index);
        let index = found.ok_or_else(|| {
            PgError::internal(format!("catalog {} has no index {index}", open.table.oid))
        })?;
        let snapshot = self.backend.catalog_snapshot();
        let mut batch = engine::table::new_batch(&open.table, &open.columns);
        let equality = index.capabilities().equality;
        let conditions = keys
            .iter()
            .enumerate()
            .map(|(column, key)| ScanKey::compare(column, equality, key.to_index_datum()));
        let mut scan = IndexScan::new(
            self.backend,
            &open.table,
            index,
            snapshot,
            conditions.collect(),
            &open.columns,
            IndexScanOptions::default(),
        )?;
        loop {
            let more = scan.next_batch(self.backend, Direction::Forward, &mut batch, ROWS)?;
            for_each_row(&batch, each)?;
            batch.clear();
            if !more {
                return Ok(());
            }
        }
    }

    pub(crate) fn lock_tag(&self, relation: Oid) -> LockTag {
        let shared = crate::write::is_shared_catalog(relation);
        LockTag::relation(if shared { Oid::INVALID } else { self.catalog.database() }, relation)
    }

    /// As [`crate::store::Store::locate`]: `tid` if the version there equals `row`, except in the
    /// columns `volatile`; otherwise the visible row that does.
    pub(crate) fn locate(
        &mut self,
        relation: Oid,
        tid: Tid,
        row: &[Datum],
        volatile: &[AttrNo],
    ) -> Result<Tid> {
        let open = self.open_for_write(relation)?;
        let is_row = |now: &[DatumRef<'_>]| {
            let mut columns = (1..).zip(now.iter().zip(row));
            columns.all(|(n, (now, old))| volatile.contains(&n) || *now == old.as_ref())
        };
        let mut same = false;
        self.version(relation, tid, &mut |now| {
            same = is_row(now);
            Ok(())
        })?;
        if same {
            return Ok(tid);
        }
        // The leading columns of an index that are passed by value; of most catalogs, all columns
        // of the unique index on the OID.
        let words = |index: &Arc<IndexDesc>| -> SmallVec<[Key<'static>; 4]> {
            let values = index.columns.iter().map(|&n| row[n as usize - 1].as_ref());
            let words = values.map_while(|value| match value {
                DatumRef::Word(word) => Some(Key::Word(word)),
                _ => None,
            });
            words.collect()
        };
        let rank = |index: &&Arc<IndexDesc>| {
            let count = words(index).len();
            (count == index.columns.len() && index.unique, count)
        };
        let Some(index) = open.indexes.iter().max_by_key(rank) else { return Ok(tid) };
        let keys = words(index);
        let (mut here, mut moved) = (false, None);
        self.scan_locked(relation, index.oid, &keys, &mut |at, now| {
            here |= at == tid;
            if moved.is_none() && is_row(now) {
                moved = Some(at);
            }
            Ok(())
        })?;
        match moved {
            Some(at) => Ok(at),
            None if here => Ok(tid),
            None => Err(PgError::internal("tuple concurrently updated")),
        }
    }

    pub(crate) fn insert(&mut self, relation: Oid, row: &[Datum]) -> Result<Tid> {
        let open = self.open_for_write(relation)?;
        let values = refs(row);
        let tid =
            engine::table::insert(self.backend, &open.table, &values, InsertOptions::default())?;
        self.insert_entries(&open, &values, tid)?;
        Ok(tid)
    }

    /// Replaces the version at `old`. The caller holds its lock ([`Self::lock_row`]) where the
    /// catalog is also changed in place.
    pub(crate) fn update(&mut self, relation: Oid, old: Tid, row: &[Datum]) -> Result<Tid> {
        let open = self.open_for_write(relation)?;
        let values = refs(row);
        let how = ChangeOptions::default();
        let updated = engine::table::update(self.backend, &open.table, old, &values, how)?;
        check(updated.outcome)?;
        if updated.needs_index_entries {
            self.insert_entries(&open, &values, updated.tid)?;
        }
        Ok(updated.tid)
    }

    /// Locks the row version at `tid` against in-place changes and updates.
    pub(crate) fn lock_row(&mut self, relation: Oid, tid: Tid) -> Result<()> {
        let open = self.open_for_write(relation)?;
        engine::inplace::lock(self.backend, &open.table, tid)
    }

    pub(crate) fn unlock_row(&mut self, relation: Oid, tid: Tid) -> Result<()> {
        let open = self.open(relation)?;
        engine::inplace::unlock(self.backend, &open.table, tid);
        Ok(())
    }

    /// Calls `each` with the version at `tid`, visible or not.
    pub(crate) fn version(
        &mut self,
        relation: Oid,
        tid: Tid,
        each: &mut dyn FnMut(&[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        let open = self.open(relation)?;
        let mut batch = engine::table::new_batch(&open.table, &open.columns);
        let mut fetch = engine::table::RowFetch::new(&open.table, &open.columns)?;
        fetch.version(self.backend, tid, &mut batch)?;
        for_each_row(&batch, &mut |_, row| each(row))
    }

    /// The id of the transaction that wrote the version at `tid`.
    pub(crate) fn row_xmin(&mut self, relation: Oid, tid: Tid) -> Result<Xid> {
        let open = self.open(relation)?;
        let columns = [system::XMIN];
        let mut batch = engine::table::new_batch(&open.table, &columns);
        let mut fetch = engine::table::RowFetch::new(&open.table, &columns)?;
        fetch.version(self.backend, tid, &mut batch)?;
        match batch.len {
            1 => Ok(Xid(batch.get(0, 0).as_oid().0)),
            _ => Err(PgError::internal(format!("catalog {relation} has no row at {tid}"))),
        }
    }

    /// Overwrites columns of the locked version at `tid`. Returns false if it is no longer the
    /// latest version or no longer equals `old`.
    pub(crate) fn overwrite(
        &mut self,
        relation: Oid,
        tid: Tid,
        old: &[Datum],
        new: &[Datum],
    ) -> Result<bool> {
        let open = self.open(relation)?;
        engine::inplace::overwrite(self.backend, &open.table, tid, &refs(old), &refs(new))
    }

    pub(crate) fn delete(&mut self, relation: Oid, tid: Tid) -> Result<()> {
        let open = self.open_for_write(relation)?;
        check(engine::table::delete(self.backend, &open.table, tid, ChangeOptions::default())?)
    }

    fn insert_entries(
        &mut self,
        open: &CatalogTable,
        values: &[DatumRef<'_>],
        tid: Tid,
    ) -> Result<()> {
        for index in &open.indexes {
            let columns: SmallVec<[DatumRef<'_>; 4]> =
                index.columns.iter().map(|&attr| values[attr as usize - 1]).collect();
            let check = if index.unique { UniqueCheck::Yes } else { UniqueCheck::No };
            let inserted = engine::index::insert(
                self.backend,
                index,
                &open.table,
                &columns,
                tid,
                check,
                false,
            )?;
            if let Inserted::Conflict { .. } = inserted {
                return Err(duplicate_key(&open.table, index, &columns));
            }
        }
        Ok(())
    }

    pub(crate) fn open_for_write(&mut self, relation: Oid) -> Result<Arc<CatalogTable>> {
        self.backend.lock(self.lock_tag(relation), LockMode::RowExclusive)?;
        self.open(relation)
    }

    /// Descriptors of the catalog, which the session has locked. Its structure is fixed; its files
    /// may have changed. Where the session itself has replaced a file, it uses descriptors of its
    /// own until the end of the transaction.
    pub(crate) fn open(&mut self, relation: Oid) -> Result<Arc<CatalogTable>> {
        let own = self.backend.replaces_catalog(relation);
        if !own && let Some(open) = self.catalog.opened(relation) {
            return Ok(open);
        }
        let generation = self.catalog.generation();
        let builtin = self.catalog.builtin();
        let class = builtin.class(relation)?;
        let toast = match class.reltoastrelid.valid() {
            Some(toast) => Some(self.toast(&builtin, toast)?),
            None => None,
        };
        let table = Arc::new(self.table(&builtin, class, toast)?);
        let mut indexes = Vec::new();
        for index in builtin.indexes_of(relation) {
            indexes.push(self.index(&builtin, index, &class.relname)?);
        }
        let count = table.tupdesc.len() as AttrNo;
        let columns = (1..=count).chain([system::CTID]).collect();
        let open = Arc::new(CatalogTable { table, indexes, columns });
        if !own {
            self.catalog.install_opened(relation, generation, &open);
        }
        Ok(open)
    }

    fn table(
        &mut self,
        builtin: &Builtin,
        class: &PgClass,
        toast: Option<ToastDesc>,
    ) -> Result<TableDesc> {
        let number = self.file_number(class)?;
        let file = rel_file(class, number, self.catalog.database(), self.tablespace);
        let schema = if class.relkind == RelKind::Toast { "pg_toast" } else { "pg_catalog" };
        let tupdesc = builtin.tupdesc(class);
        let indexes = builtin.indexes_of(class.oid);
        Ok(table_desc(class, schema, file, tupdesc, toast, indexes))
    }

    fn index(
        &mut self,
        builtin: &Builtin,
        index: &crate::rows::PgIndex,
        table: &Name,
    ) -> Result<Arc<IndexDesc>> {
        let class = builtin.class(index.indexrelid)?;
        let number = self.file_number(class)?;
        let file = rel_file(class, number, self.catalog.database(), self.tablespace);
        let def = builtin.index_def(index, class, (table.as_str(), file))?;
        let method = engine::am::by_oid(class.relam).and_then(|m| m.am);
        let am = method.ok_or_else(|| PgError::internal("catalog index of an unknown method"))?;
        Ok(Arc::new(index_desc(class, index, am, def)))
    }

    fn toast(&mut self, builtin: &Builtin, toast: Oid) -> Result<ToastDesc> {
        let class = builtin.class(toast)?;
        let table = Arc::new(self.table(builtin, class, None)?);
        let index = builtin.indexes_of(toast).first();
        let index = index.ok_or_else(|| PgError::internal("TOAST table without index"))?;
        Ok(ToastDesc { index: self.index(builtin, index, &class.relname)?, table })
    }

    /// The relation's file number: from the relation map, or from `pg_class`, which is mapped
    /// itself.
    fn file_number(&mut self, class: &PgClass) -> Result<Oid> {
        if !class.relfilenode.is_valid() {
            let key = self.map_key(class.relisshared);
            return self.backend.mapped_file(key, class.oid)?.ok_or_else(|| {
                PgError::internal(format!(
                    "could not find relation mapping for relation \"{}\", OID {}",
                    class.relname, class.oid
                ))
            });
        }
        let mut number = None;
        let index = crate::rows::indexes::PG_CLASS_OID_INDEX.oid;
        self.scan(PgClass::RELATION, index, &[class.oid.into()], &mut |_, row| {
            number = Oid::from_datum(row[PgClass::relfilenode as usize - 1]);
            Ok(())
        })?;
        number.ok_or_else(|| PgError::internal(format!("no row of pg_class for {}", class.oid)))
    }

    /// The key of the relation map of the shared relations or of the database.
    pub(crate) fn map_key(&self, shared: bool) -> DbKey {
        if shared { SHARED } else { (self.tablespace, self.catalog.database()) }
    }
}

/// Calls `each` for the rows of a batch, whose last column is the TID.
pub(crate) fn for_each_row(
    batch: &types::Batch,
    each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
) -> Result<()> {
    for row in 0..batch.len {
        let mut values: SmallVec<[DatumRef<'_>; 36]> = batch.row(row).collect();
        let tid = match values.pop() {
            Some(DatumRef::Bytes(b)) => b.first_chunk().map(|b| Tid::from_bytes(*b)),
            _ => None,
        };
        let tid = tid.ok_or_else(|| PgError::internal("catalog row without a TID"))?;
        each(tid, &values)?;
    }
    Ok(())
}

fn refs(row: &[Datum]) -> Vec<DatumRef<'_>> {
    row.iter().map(Datum::as_ref).collect()
}

/// The caller's locks exclude concurrent changes of catalog rows. Counterpart:
/// `simple_heap_update`.
fn check(outcome: RowOutcome) -> Result<()> {
    let message = match outcome {
        RowOutcome::Ok => return Ok(()),
        RowOutcome::SelfModified { .. } => "tuple already updated by self",
        RowOutcome::Updated { .. } | RowOutcome::WouldBlock => "tuple concurrently updated",
        RowOutcome::Deleted { .. } | RowOutcome::Invisible => "tuple concurrently deleted",
    };
    Err(PgError::internal(message))
}

#[cfg(test)]
mod tests;
