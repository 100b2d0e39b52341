//! Changes of catalog rows: the row, its index entries, and the invalidations.
//!
//! Counterpart: indexing.c, `CacheInvalidateHeapTuple` of inval.c, `GetNewOidWithIndex` of
//! catalog.c.

use crate::cache::{self, Key, Tuple, hash_row};
use crate::cx::CatCx;
use crate::inval::Message;
use crate::rows::{
    CatalogRow, Index, PgAttrdef, PgAttribute, PgClass, PgConstraint, PgDatabase, PgIndex,
    PgInherits, PgPartitionedTable, PgPolicy, PgRewrite, PgTrigger,
};
use ids::{Oid, Tid};
use pgerror::{PgError, Result, SqlState};
use types::{Datum, DatumRef};

/// Catalogs shared by all databases. A test compares the list with `pg_class`.
const SHARED: [u32; 11] = [1213, 1214, 1260, 1261, 1262, 2396, 2964, 3592, 6000, 6100, 6243];

/// Catalogs without a system cache whose scans may use an older snapshot. Counterpart:
/// `RelationInvalidatesSnapshotsOnly`.
const SNAPSHOT_ONLY: [u32; 7] = [2608, 2609, 2964, 1214, 2396, 3592, 3596];

/// Whether the catalog is shared by all databases.
pub fn is_shared_catalog(relation: Oid) -> bool {
    SHARED.contains(&relation.0)
}

/// The columns that are also changed in place, without a lock that excludes updates of the row.
fn in_place_columns(relation: Oid) -> &'static [ids::AttrNo] {
    match relation {
        PgClass::RELATION => &[
            PgClass::relpages,
            PgClass::reltuples,
            PgClass::relallvisible,
            PgClass::relhasindex,
            PgClass::relfrozenxid,
            PgClass::relminmxid,
        ],
        PgDatabase::RELATION => {
            &[PgDatabase::datconnlimit, PgDatabase::datfrozenxid, PgDatabase::datminmxid]
        }
        _ => &[],
    }
}

impl CatCx<'_> {
    /// Inserts a row. While the script of an extension runs, the new object becomes a member.
    pub fn insert<R: CatalogRow>(&mut self, row: &R) -> Result<Tid> {
        let columns = row.to_row();
        self.session.note_changed(R::RELATION, &columns, true);
        self.invalidate_row(R::RELATION, &columns);
        let tid = self.store.insert(R::RELATION, columns)?;
        if let Some(extension) = self.session.creating_extension {
            self.join_extension(row, extension)?;
        }
        Ok(tid)
    }

    /// Replaces a row that was looked up under a lock that excludes other changes. In-place changes
    /// since the lookup are kept, unless `new` changes the same column.
    pub fn update<R: CatalogRow>(&mut self, old: &Tuple<R>, new: &R) -> Result<Tid> {
        self.update_row(R::RELATION, old.tid, &old.row.to_row(), new.to_row())
    }

    /// As [`Self::update`], for the row of any catalog.
    pub(crate) fn update_row(
        &mut self,
        relation: Oid,
        old: Tid,
        old_row: &[Datum],
        mut row: Vec<Datum>,
    ) -> Result<Tid> {
        let in_place = in_place_columns(relation);
        let old = self.store.locate(relation, old, old_row, in_place)?;
        if !in_place.is_empty() {
            self.store.lock_row(relation, old)?;
            self.store.version(relation, old, &mut |now| {
                // The old version was pruned and its line pointer reused by another row.
                if now.first() != old_row.first().map(Datum::as_ref).as_ref() {
                    return Err(PgError::internal("tuple concurrently updated"));
                }
                for &column in in_place {
                    let n = column as usize - 1;
                    if row[n] == old_row[n] {
                        row[n] = now[n].to_owned();
                    }
                }
                Ok(())
            })?;
        }
        self.session.note_changed(relation, &row, false);
        self.invalidate_row(relation, old_row);
        self.invalidate_row(relation, &row);
        let tid = self.store.update(relation, old, row)?;
        if !in_place.is_empty() {
            self.store.unlock_row(relation, old)?;
        }
        Ok(tid)
    }

    /// Overwrites a row without a new version, for fixed-width columns whose change is not
    /// transactional. `change` modifies the current row; it may be called several times. The
    /// invalidation is sent with the others of the transaction. Returns false if the row does not
    /// exist.
    pub fn update_in_place<R: CatalogRow>(
        &mut self,
        index: Index<R>,
        keys: &[Key<'_>],
        mut change: impl FnMut(&mut R),
    ) -> Result<bool> {
        loop {
            let Some(old) = self.scan_locked(index, keys)? else { return Ok(false) };
            let mut new = old.row.clone();
            change(&mut new);
            let (old_row, new_row) = (old.row.to_row(), new.to_row());
            let is_in_place =
                |n: usize| in_place_columns(R::RELATION).contains(&(n as ids::AttrNo + 1));
            debug_assert!((0..new_row.len()).all(|n| new_row[n] == old_row[n] || is_in_place(n)));
            // Called even if nothing changes, to wait for a concurrent update.
            let done = self.store.overwrite(R::RELATION, old.tid, &old_row, &new_row)?;
            self.store.unlock_row(R::RELATION, old.tid)?;
            if done {
                if old_row != new_row {
                    self.invalidate_row(R::RELATION, &new_row);
                }
                return Ok(true);
            }
            self.store.check_interrupts()?;
        }
    }

    /// The row with these keys, its version locked against in-place changes and updates until
    /// [`Self::unlock`] or the end of the transaction. Counterpart: `SearchSysCacheLocked1`.
    pub fn scan_locked<R: CatalogRow>(
        &mut self,
        index: Index<R>,
        keys: &[Key<'_>],
    ) -> Result<Option<crate::cache::Row<R>>> {
        let Some(mut found) = self.scan(index, keys)?.pop() else { return Ok(None) };
        loop {
            let tid = found.tid;
            self.store.lock_row(R::RELATION, tid)?;
            // It may have been replaced or changed in place during the wait for the lock.
            match self.scan(index, keys)?.pop() {
                Some(now) if now.tid == tid => return Ok(Some(now)),
                now => {
                    self.store.unlock_row(R::RELATION, tid)?;
                    self.store.check_interrupts()?;
                    match now {
                        Some(now) => found = now,
                        None => return Ok(None),
                    }
                }
            }
        }
    }

    /// Releases the lock of [`Self::scan_locked`].
    pub fn unlock(&mut self, relation: Oid, tid: Tid) -> Result<()> {
        self.store.unlock_row(relation, tid)
    }

    /// Deletes a row that was looked up under a lock that excludes other changes.
    pub fn delete<R: CatalogRow>(&mut self, old: &Tuple<R>) -> Result<()> {
        self.delete_row(R::RELATION, old.tid, &old.row.to_row())
    }

    /// As [`Self::delete`], for the row of any catalog.
    pub(crate) fn delete_row(&mut self, relation: Oid, old: Tid, row: &[Datum]) -> Result<()> {
        self.invalidate_row(relation, row);
        let old = self.store.locate(relation, old, row, in_place_columns(relation))?;
        self.store.delete(relation, old)
    }

    /// An OID that is not in use in the catalog; `index` is the unique index on its `oid` column.
    pub fn new_oid<R: CatalogRow>(&mut self, index: Index<R>) -> Result<Oid> {
        loop {
            let oid = self.store.next_oid()?;
            if self.scan(index, &[oid.into()])?.is_empty() {
                return Ok(oid);
            }
        }
    }

    /// Makes the command's changes visible to the next command. To be called together with the
    /// engine's command counter increment.
    pub fn end_command(&mut self) {
        self.session.overlay.end_command();
    }

    /// `CommandCounterIncrement`, in the engine and in the catalog caches.
    pub fn increment_command_counter(&mut self) -> Result<()> {
        if let crate::store::Store::Engine(store) = &mut self.store {
            store.backend.command_counter_increment()?;
        }
        self.session.overlay.end_command();
        Ok(())
    }

    /// Invalidates the descriptor of a relation in all sessions.
    pub fn invalidate_relation(&mut self, relation: Oid, shared: bool) {
        let database = if shared { Oid::INVALID } else { self.session.catalog.database() };
        self.session.overlay.register(Message::RelCache { database, relation });
    }

    /// Assigns a new file to a mapped relation: see [`engine::Backend::change_mapping`].
    pub fn change_mapping(&mut self, relation: Oid, shared: bool, file: Oid) -> Result<()> {
        match &mut self.store {
            crate::store::Store::Facts(_) => Ok(()),
            crate::store::Store::Engine(store) => {
                let key = store.map_key(shared);
                store.backend.change_mapping(key, relation, file)
            }
        }
    }

    /// Invalidates all cached rows of a catalog in all sessions.
    pub fn invalidate_catalog(&mut self, catalog: Oid) {
        let database = self.database_of(catalog);
        self.session.overlay.register(Message::Catalog { database, catalog });
    }

    fn database_of(&self, catalog: Oid) -> Oid {
        match is_shared_catalog(catalog) {
            true => Oid::INVALID,
            false => self.session.catalog.database(),
        }
    }

    /// Registers the invalidations for a change of this row.
    fn invalidate_row(&mut self, relation: Oid, row: &[Datum]) {
        let database = self.database_of(relation);
        for info in cache::ALL.iter().filter(|c| c.relation == relation) {
            let hash = hash_row(info, row);
            let message = Message::CatCache { cache: info.id, database, hash };
            self.session.overlay.register(message);
        }
        if SNAPSHOT_ONLY.contains(&relation.0) {
            self.session.overlay.register(Message::Snapshot { database, relation });
        }
        let oid = |attr: ids::AttrNo| match row[attr as usize - 1].as_ref() {
            DatumRef::Word(w) => Oid(w as u32),
            _ => Oid::INVALID,
        };
        // PostgreSQL sends relcache invalidations for pg_class, pg_attribute, pg_index and foreign
        // keys here; its commands send the others. Norsu's descriptors contain more data, so more
        // rows affect them.
        let relations = match relation {
            PgClass::RELATION => {
                let shared = row[PgClass::relisshared as usize - 1] == Datum::bool(true);
                self.invalidate_relation(oid(PgClass::oid), shared);
                return;
            }
            PgAttribute::RELATION => [oid(PgAttribute::attrelid), Oid::INVALID],
            PgIndex::RELATION => [oid(PgIndex::indexrelid), oid(PgIndex::indrelid)],
            PgConstraint::RELATION => [oid(PgConstraint::conrelid), Oid::INVALID],
            PgAttrdef::RELATION => [oid(PgAttrdef::adrelid), Oid::INVALID],
            PgRewrite::RELATION => [oid(PgRewrite::ev_class), Oid::INVALID],
            PgTrigger::RELATION => [oid(PgTrigger::tgrelid), Oid::INVALID],
            PgPolicy::RELATION => [oid(PgPolicy::polrelid), Oid::INVALID],
            PgPartitionedTable::RELATION => [oid(PgPartitionedTable::partrelid), Oid::INVALID],
            PgInherits::RELATION => [oid(PgInherits::inhrelid), oid(PgInherits::inhparent)],
            _ => return,
        };
        for relation in relations.into_iter().filter(|r| r.is_valid()) {
            self.invalidate_relation(relation, false);
        }
    }

    /// The error for a row that was changed or deleted after the lookup.
    pub fn concurrently_changed(&self) -> PgError {
        PgError::new(SqlState::INTERNAL_ERROR, "tuple concurrently updated")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{PgNamespace, indexes};
    use crate::{CatSession, Catalog, FactStore};
    use ids::RelKind;

    #[test]
    fn shared_catalogs_are_those_of_pg_class() {
        let classes = crate::facts::rows::<PgClass>();
        let shared = classes.iter().filter(|c| c.relisshared && c.relkind == RelKind::Table);
        let mut shared: Vec<u32> = shared
            .filter(|c| c.relnamespace == crate::namespace::PG_CATALOG)
            .map(|c| c.oid.0)
            .collect();
        shared.sort();
        assert_eq!(shared, SHARED);
    }

    fn schema(oid: u32, name: &str) -> PgNamespace {
        PgNamespace { oid: Oid(oid), nspname: name.into(), nspowner: Oid(10), nspacl: None }
    }

    /// A transaction sees its own changes; other sessions see them after publication.
    #[test]
    fn changes_are_visible_to_others_after_publication() {
        let store = FactStore::new();
        let catalog = Catalog::new(Oid(5));
        let mut mine = CatSession::new(catalog.clone(), Oid(10));
        let mut other = CatSession::new(catalog.clone(), Oid(10));
        // The other session has a negative cache entry for the schema.
        assert_eq!(CatCx::over_facts(&store, &mut other).find_namespace("s").unwrap(), None);

        let mut cx = CatCx::over_facts(&store, &mut mine);
        let oid = cx.new_oid(indexes::PG_NAMESPACE_OID_INDEX).unwrap();
        cx.insert(&schema(oid.0, "s")).unwrap();
        cx.end_command();
        assert_eq!(cx.find_namespace("s").unwrap(), Some(oid));
        assert_eq!(CatCx::over_facts(&store, &mut other).find_namespace("s").unwrap(), None);

        let generation = catalog.generation();
        let messages = mine.overlay.messages();
        assert_eq!(messages.len(), 2, "{messages:?}");
        catalog.apply(&messages);
        mine.overlay.end_transaction();
        assert_ne!(catalog.generation(), generation);
        assert_eq!(CatCx::over_facts(&store, &mut other).find_namespace("s").unwrap(), Some(oid));

        // A rename affects both names.
        let mut cx = CatCx::over_facts(&store, &mut mine);
        let row = cx.search(cache::NAMESPACENAME, &["s".into()]).unwrap().unwrap();
        cx.update(&row, &schema(oid.0, "t")).unwrap();
        cx.end_command();
        assert_eq!(cx.find_namespace("s").unwrap(), None);
        assert_eq!(cx.find_namespace("t").unwrap(), Some(oid));
        catalog.apply(&mine.overlay.messages());
        mine.overlay.end_transaction();
        assert_eq!(CatCx::over_facts(&store, &mut other).find_namespace("s").unwrap(), None);
        assert_eq!(CatCx::over_facts(&store, &mut other).find_namespace("t").unwrap(), Some(oid));
    }

    /// Messages of an aborted subtransaction are not sent.
    #[test]
    fn messages_of_aborted_subtransactions_are_not_sent() {
        let store = FactStore::new();
        let mut session = CatSession::new(Catalog::new(Oid(5)), Oid(10));
        CatCx::over_facts(&store, &mut session).insert(&schema(20_000, "a")).unwrap();
        session.overlay.begin_subtransaction();
        CatCx::over_facts(&store, &mut session).insert(&schema(20_001, "b")).unwrap();
        session.overlay.abort_subtransaction();
        assert_eq!(session.overlay.messages().len(), 2);
    }
}
