//! Where rows come from when a cache misses.

use crate::cache::Key;
use crate::facts;
use crate::rows::CatalogRow;
use hashbrown::HashMap;
use ids::{BlockNo, Oid, Tid};
use pgerror::Result;
use sync::{Arc, RwLock};
use types::{Datum, DatumRef};

type Rows = Arc<Vec<Vec<Datum>>>;

/// A fresh cluster's catalogs in memory, for tests of the crates above that need names and types but
/// no storage. Rows can be added. Scans read all rows: caches make up for it.
#[derive(Default)]
pub struct FactStore {
    tables: RwLock<HashMap<Oid, Rows>>,
}

impl FactStore {
    pub fn new() -> FactStore {
        FactStore::default()
    }

    fn rows(&self, relation: Oid) -> Rows {
        if let Some(rows) = self.tables.read().get(&relation) {
            return rows.clone();
        }
        let rows = match facts::table(relation) {
            None => Vec::new(),
            Some(table) => table.datums(&facts::column_types(relation)).collect(),
        };
        self.tables.write().entry(relation).or_insert_with(|| Arc::new(rows)).clone()
    }

    /// Adds a row; descriptors and rows that were looked up before do not see it.
    pub fn add<R: CatalogRow>(&self, row: &R) {
        let mut rows = (*self.rows(R::RELATION)).clone();
        rows.push(row.to_row());
        self.tables.write().insert(R::RELATION, Arc::new(rows));
    }

    pub(crate) fn scan(
        &self,
        relation: Oid,
        columns: &[ids::AttrNo],
        keys: &[Key<'_>],
        each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        for (i, row) in self.rows(relation).iter().enumerate() {
            let mut pairs = columns.iter().zip(keys);
            if pairs.all(|(&c, k)| k.is(row[c as usize - 1].as_ref())) {
                let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
                each(Tid::new(BlockNo(i as u32 / 100), (i % 100) as u16 + 1), &refs)?;
            }
        }
        Ok(())
    }
}

/// The source of rows behind a `CatCx`.
pub(crate) enum Store<'a> {
    Facts(&'a FactStore),
}

impl Store<'_> {
    /// Calls `each` for the visible rows whose leading `columns` (those of the index) equal `keys`, in
    /// the index's order.
    pub(crate) fn scan(
        &mut self,
        relation: Oid,
        _index: Oid,
        columns: &[ids::AttrNo],
        keys: &[Key<'_>],
        each: &mut dyn FnMut(Tid, &[DatumRef<'_>]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Store::Facts(store) => store.scan(relation, columns, keys, each),
        }
    }
}
