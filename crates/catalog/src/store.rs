//! The storage below the caches: the source of rows on a cache miss and the target of changes.

use crate::cache::Key;
use crate::facts;
use crate::rows::CatalogRow;
use crate::tables::EngineStore;
use hashbrown::HashMap;
use ids::{BlockNo, Oid, Tid, Xid};
use pgerror::{PgError, Result};
use sync::{Arc, RwLock};
use types::{Datum, DatumRef};

/// Rows by position; a deleted row leaves `None`.
type Rows = Vec<Option<Arc<[Datum]>>>;

const ROWS_PER_PAGE: usize = 100;

/// The catalogs of a new cluster in memory, for tests of higher crates that need names and types
/// but no storage. Every scan reads all rows; the caches make repeated lookups fast. Changes are
/// visible to all sessions at once.
pub struct FactStore {
    tables: RwLock<HashMap<Oid, Rows>>,
    next_oid: RwLock<u32>,
}

impl Default for FactStore {
    fn default() -> FactStore {
        FactStore {
            tables: RwLock::new(HashMap::new()),
            next_oid: RwLock::new(Oid::FIRST_NORMAL.0),
        }
    }
}

fn row_index(tid: Tid) -> usize {
    tid.block.0 as usize * ROWS_PER_PAGE + tid.offset as usize - 1
}

impl FactStore {
    /// The catalogs of a new cluster.
    pub fn new() -> FactStore {
        FactStore::default()
    }

    fn with<T>(&self, relation: Oid, act: impl FnOnce(&mut Rows) -> T) -> T {
        let mut tables = self.tables.write();
        let rows = tables.entry(relation).or_insert_with(|| match facts::table(relation) {
            None => Vec::new(),
            Some(table) => {
                table.datums(&facts::column_types(relation)).map(|r| Some(r.into())).collect()
            }
        });
        act(rows)
    }

    /// Adds a row without an invalidation: cached results do not show it.
    pub fn add<R: CatalogRow>(&self, row: &R) {
        self.insert(R::RELATION, row.to_row());
    }

    fn insert(&self, relation: Oid, row: Vec<Datum>) -> Tid {
        self.with(relation, |rows| {
            let at = rows.len();
            rows.push(Some(row.into()));
            Tid::new(BlockNo((at / ROWS_PER_PAGE) as u32), (at % ROWS_PER_PAGE) as u16 + 1)
        })
    }

    fn delete(&self, relation: Oid, tid: Tid) -> Result<()> {
        let old = self.with(relation, |rows| rows.get_mut(row_index(tid)).and_then(Option::take));
        old.map(|_| ()).ok_or_else(|| PgError::internal("tuple already updated by self"))
    }

    fn replace(&self, relation: Oid, tid: Tid, row: Vec<Datum>) -> Result<()> {
        self.with(relation, |rows| match rows.get_mut(row_index(tid)) {
            Some(slot) => {
                *slot = Some(row.into());
                Ok(())
            }
            None => Err(PgError::internal("no such row")),
        })
    }

    fn version(
        &self,
        relation: Oid,
        tid: Tid,
        each: &mut dyn FnMut(&[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        let row = self.with(relation, |rows| rows.get(row_index(tid)).cloned().flatten());
        match row {
            Some(row) => each(&row.iter().map(Datum::as_ref).collect::<Vec<_>>()),
            None => Ok(()),
        }
    }

    fn scan(
        &self,
        relation: Oid,
        columns: &[ids::AttrNo],
        keys: &[Key<'_>],
        each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        let is_match = |row: &[Datum]| {
            let mut pairs = columns.iter().zip(keys);
            pairs.all(|(&c, k)| k.is(row[c as usize - 1].as_ref()))
        };
        let found: Vec<(usize, Arc<[Datum]>)> = self.with(relation, |rows| {
            let rows = rows.iter().enumerate().filter_map(|(i, r)| Some((i, r.as_ref()?)));
            rows.filter(|(_, r)| is_match(r)).map(|(i, r)| (i, r.clone())).collect()
        });
        for (i, row) in found {
            let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
            let block = BlockNo((i / ROWS_PER_PAGE) as u32);
            each(Tid::new(block, (i % ROWS_PER_PAGE) as u16 + 1), &refs)?;
        }
        Ok(())
    }
}

/// The source of catalog rows of a `CatCx`.
pub(crate) enum Store<'a> {
    Facts(&'a FactStore),
    Engine(EngineStore<'a>),
}

impl Store<'_> {
    /// Calls `each` for the visible rows whose leading index columns equal `keys`, in index order.
    /// `index` 0 reads the whole relation.
    pub(crate) fn scan(
        &mut self,
        relation: Oid,
        index: Oid,
        columns: &[ids::AttrNo],
        keys: &[Key<'_>],
        each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Store::Facts(store) => store.scan(relation, columns, keys, each),
            Store::Engine(store) => store.scan(relation, index, keys, each),
        }
    }

    /// Inserts a row and its index entries.
    pub(crate) fn insert(&mut self, relation: Oid, row: Vec<Datum>) -> Result<Tid> {
        match self {
            Store::Facts(store) => Ok(store.insert(relation, row)),
            Store::Engine(store) => store.insert(relation, &row),
        }
    }

    /// Replaces a row, whose latest version must be at `old`.
    pub(crate) fn update(&mut self, relation: Oid, old: Tid, row: Vec<Datum>) -> Result<Tid> {
        match self {
            Store::Facts(store) => {
                store.delete(relation, old)?;
                Ok(store.insert(relation, row))
            }
            Store::Engine(store) => store.update(relation, old, &row),
        }
    }

    pub(crate) fn delete(&mut self, relation: Oid, tid: Tid) -> Result<()> {
        match self {
            Store::Facts(store) => store.delete(relation, tid),
            Store::Engine(store) => store.delete(relation, tid),
        }
    }

    /// Locks a row version against in-place changes and updates by other sessions.
    pub(crate) fn lock_row(&mut self, relation: Oid, tid: Tid) -> Result<()> {
        match self {
            Store::Facts(_) => Ok(()),
            Store::Engine(store) => store.lock_row(relation, tid),
        }
    }

    pub(crate) fn unlock_row(&mut self, relation: Oid, tid: Tid) -> Result<()> {
        match self {
            Store::Facts(_) => Ok(()),
            Store::Engine(store) => store.unlock_row(relation, tid),
        }
    }

    /// Calls `each` with the row version at `tid`, visible or not.
    pub(crate) fn version(
        &mut self,
        relation: Oid,
        tid: Tid,
        each: &mut dyn FnMut(&[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Store::Facts(store) => store.version(relation, tid, each),
            Store::Engine(store) => store.version(relation, tid, each),
        }
    }

    /// The id of the transaction that wrote the row version at `tid`.
    pub(crate) fn row_xmin(&mut self, relation: Oid, tid: Tid) -> Result<Xid> {
        match self {
            Store::Facts(_) => Ok(Xid::FROZEN),
            Store::Engine(store) => store.row_xmin(relation, tid),
        }
    }

    /// Overwrites columns of a locked row in place. Returns false if the row must be looked up
    /// again.
    pub(crate) fn overwrite(
        &mut self,
        relation: Oid,
        tid: Tid,
        old: &[Datum],
        new: &[Datum],
    ) -> Result<bool> {
        match self {
            Store::Facts(store) => store.replace(relation, tid, new.to_vec()).map(|()| true),
            Store::Engine(store) => store.overwrite(relation, tid, old, new),
        }
    }

    /// An error if the session was asked to cancel or terminate.
    pub(crate) fn check_interrupts(&self) -> Result<()> {
        match self {
            Store::Facts(_) => Ok(()),
            Store::Engine(store) => store.backend.check_interrupts(),
        }
    }

    /// The file number of a mapped relation, whose `relfilenode` in `pg_class` is 0.
    pub(crate) fn mapped_file(&mut self, relation: Oid, shared: bool) -> Result<Oid> {
        match self {
            Store::Facts(_) => Ok(relation),
            Store::Engine(store) => {
                let found = store.backend.mapped_file(store.map_key(shared), relation)?;
                found.ok_or_else(|| {
                    PgError::internal(format!("could not find relation mapping for OID {relation}"))
                })
            }
        }
    }

    /// The relation, shared or of the database, that a relation map assigns this file number.
    pub(crate) fn mapped_relation(&mut self, file: Oid, shared: bool) -> Result<Option<Oid>> {
        match self {
            Store::Facts(_) => Ok(None),
            Store::Engine(store) => store.backend.mapped_relation(store.map_key(shared), file),
        }
    }

    /// The TID of the row's current version in the catalog's present file, where `tid` may have
    /// been read before the catalog was rewritten. Locks the catalog for a change.
    pub(crate) fn locate(
        &mut self,
        relation: Oid,
        tid: Tid,
        row: &[Datum],
        volatile: &[ids::AttrNo],
    ) -> Result<Tid> {
        match self {
            Store::Facts(_) => Ok(tid),
            Store::Engine(store) => store.locate(relation, tid, row, volatile),
        }
    }

    /// The next value of the cluster-wide OID counter.
    pub(crate) fn next_oid(&mut self) -> Result<Oid> {
        match self {
            Store::Facts(store) => {
                let mut next = store.next_oid.write();
                *next += 1;
                Ok(Oid(*next - 1))
            }
            Store::Engine(store) => store.backend.storage().txns.new_oid(),
        }
    }
}
