//! New files of system catalogs: the changes of the relation maps that a transaction has made.
//!
//! A change is visible to the session at once, and to other sessions when the map file is written,
//! right before the commit record. The session holds AccessExclusive on the relation meanwhile, so
//! no other session uses either file.
//!
//! WAL: a crash between the map and the commit record leaves the new files in use although the
//! transaction is aborted. They contain the same rows as the old ones, each with its xmin and xmax,
//! and those that the transaction has added are invisible. So the new files must not be removed by
//! an abort, from before the map is logged.
//!
//! Counterpart: `active_local_updates` of relmapper.c.

use crate::backend::Backend;
use crate::relmap::DbKey;
use crate::storage::preserve_relation_files;
use ids::{Oid, RelFile};
use pgerror::{PgError, Result, Severity};

#[derive(Clone, Copy)]
struct MapChange {
    db: DbKey,
    relation: Oid,
    file: Oid,
}

/// What a transaction has changed of the files of system catalogs.
#[derive(Default)]
pub(crate) struct CatalogFiles {
    /// One entry per mapped relation, in the order of the first change.
    changes: Vec<MapChange>,
    /// Catalogs of which the transaction has replaced a file (heap, index, TOAST).
    replaced: Vec<Oid>,
}

impl CatalogFiles {
    /// True if the transaction has changed a relation map.
    pub(crate) fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.replaced.clear();
    }
}

impl Backend {
    /// The error of [`Self::change_mapping`] in a subtransaction.
    pub fn check_mapping_change(&self) -> Result<()> {
        match self.txn.nesting() > 1 {
            true => Err(PgError::internal("cannot change relation mapping within subtransaction")),
            false => Ok(()),
        }
    }

    /// Assigns a new file to a mapped relation, for this session at once and for all others at
    /// commit. An error in a subtransaction, as in PostgreSQL: the map has no record of levels.
    /// Counterpart: `RelationMapUpdateMap`.
    pub fn change_mapping(&mut self, db: DbKey, relation: Oid, file: Oid) -> Result<()> {
        self.check_mapping_change()?;
        let changes = &mut self.catalog_files.changes;
        match changes.iter_mut().find(|c| c.db == db && c.relation == relation) {
            Some(change) => change.file = file,
            None => changes.push(MapChange { db, relation, file }),
        }
        Ok(())
    }

    /// The file number of a mapped relation, as this session sees it. Counterpart:
    /// `RelationMapOidToFilenode`.
    pub fn mapped_file(&self, db: DbKey, relation: Oid) -> Result<Option<Oid>> {
        let own = self.catalog_files.changes.iter();
        match own.rev().find(|c| c.db == db && c.relation == relation) {
            Some(change) => Ok(Some(change.file)),
            None => self.storage().relmaps.lookup(db, relation),
        }
    }

    /// The mapped relation with this file number. Counterpart: `RelationMapFilenodeToOid`.
    pub fn mapped_relation(&self, db: DbKey, file: Oid) -> Result<Option<Oid>> {
        let changes = &self.catalog_files.changes;
        if let Some(change) = changes.iter().find(|c| c.db == db && c.file == file) {
            return Ok(Some(change.relation));
        }
        let found = self.storage().relmaps.load(db)?.find(file);
        let is_changed = |oid| changes.iter().any(|c| c.db == db && c.relation == oid);
        Ok(found.filter(|oid| !is_changed(*oid)))
    }

    /// Notes that the transaction has replaced a file of the catalog or of its TOAST table, so that
    /// this session does not use or change the descriptors that all sessions share.
    pub fn note_replaced_catalog(&mut self, catalog: Oid) {
        if !self.replaces_catalog(catalog) {
            self.catalog_files.replaced.push(catalog);
        }
    }

    /// True if the transaction has replaced a file of the catalog.
    #[inline]
    pub fn replaces_catalog(&self, catalog: Oid) -> bool {
        !self.catalog_files.replaced.is_empty() && self.catalog_files.replaced.contains(&catalog)
    }

    /// Writes the changed maps, immediately before the commit record; false if there are none. From
    /// then on the transaction must commit: see [`Self::fail_after_mapping`]. WAL: `RELMAP_UPDATE`.
    /// Counterpart: `AtEOXact_RelationMap`.
    pub(crate) fn write_relation_maps(&mut self) -> Result<bool> {
        let changes = std::mem::take(&mut self.catalog_files.changes);
        let Some(first) = changes.first().map(|c| c.db) else { return Ok(false) };
        let xid = self.txn.top_xid()?;
        self.force_sync_commit();
        for change in &changes {
            let file = RelFile::new(change.db.0, change.db.1, change.file);
            preserve_relation_files(self, file, false);
        }
        let storage = self.storage().clone();
        let other = changes.iter().map(|c| c.db).find(|db| *db != first);
        for db in std::iter::once(first).chain(other) {
            let list: Vec<(Oid, Oid)> =
                changes.iter().filter(|c| c.db == db).map(|c| (c.relation, c.file)).collect();
            let written = storage.relmaps.update(&storage.wal, &mut self.scratch, db, &list, xid);
            if let Err(e) = written {
                // Only an error before the first map is logged leaves the transaction undecided.
                let is_logged = db != first || e.fields().severity >= Severity::Panic;
                return Err(if is_logged { self.fail_after_mapping(e) } else { e });
            }
        }
        Ok(true)
    }

    /// An error between the first map and the commit record: the server goes down. Other sessions
    /// would not learn of the new files, and continue with the old ones.
    pub(crate) fn fail_after_mapping(&self, e: PgError) -> PgError {
        let e = e.severity(Severity::Panic);
        self.storage().pool.crash(&e);
        e
    }
}
