//! The catalogs as engine tables: opening, index scans, and changes with index maintenance.

use crate::builtin::Builtin;
use crate::cache::Key;
use crate::descriptors::{index_desc, rel_file, table_desc};
use crate::rows::{CatalogRow, Name, PgClass, Value};
use crate::shared::Catalog;
use engine::index::{Direction, IndexScan, IndexScanOptions, Inserted, ScanKey, UniqueCheck};
use engine::relmap::{SHARED, database_path};
use engine::table::{ChangeOptions, InsertOptions, RowOutcome, ScanOptions, TableScan, system};
use engine::{Backend, IndexDesc, RelMap, TableDesc, ToastDesc};
use ids::{AttrNo, Oid, RelKind, Tid};
use lmgr::LockMode;
use pgerror::{PgError, Result, SqlState};
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
    pub(crate) fn scan(
        &mut self,
        relation: Oid,
        index: Oid,
        keys: &[Key<'_>],
        each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        let open = self.open(relation)?;
        let snapshot = self.backend.catalog_snapshot();
        let mut batch = engine::table::new_batch(&open.table, &open.columns);
        if !index.is_valid() {
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
        let index = open.indexes.iter().find(|i| i.oid == index);
        let index = index
            .ok_or_else(|| PgError::internal(format!("catalog {relation} has no such index")))?;
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
                let name = index.name();
                let message = format!("duplicate key value violates unique constraint \"{name}\"");
                return Err(PgError::new(SqlState::UNIQUE_VIOLATION, message));
            }
        }
        Ok(())
    }

    fn open_for_write(&mut self, relation: Oid) -> Result<Arc<CatalogTable>> {
        let open = self.open(relation)?;
        self.backend.lock(open.table.lock_tag(), LockMode::RowExclusive)?;
        Ok(open)
    }

    /// Descriptors of the catalog. Its structure is fixed; its files may have changed.
    pub(crate) fn open(&mut self, relation: Oid) -> Result<Arc<CatalogTable>> {
        if let Some(open) = self.catalog.opened(relation) {
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
        self.catalog.install_opened(relation, generation, &open);
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
            let map = self.relation_map(class.relisshared)?;
            return map.get(class.oid).ok_or_else(|| {
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

    /// The relation map of the shared relations or of the database.
    pub(crate) fn relation_map(&mut self, shared: bool) -> Result<Arc<RelMap>> {
        if let Some(map) = self.catalog.relation_map(shared) {
            return Ok(map);
        }
        let generation = self.catalog.generation();
        let database = if shared { SHARED } else { (self.tablespace, self.catalog.database()) };
        let path = format!("{}/pg_filenode.map", database_path(database));
        let bytes = vfs::read_file(&*self.backend.storage().env.disk, &path)?;
        let map = Arc::new(RelMap::decode(&bytes, &path)?);
        self.catalog.install_relation_map(shared, generation, &map);
        Ok(map)
    }
}

/// Calls `each` for the rows of a batch, whose last column is the TID.
fn for_each_row(
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
