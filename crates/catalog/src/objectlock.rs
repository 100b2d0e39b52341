//! Locks that keep an object while a dependency on it is recorded, and dependents away while it is
//! dropped. Both are held until the end of the transaction.
//!
//! Counterpart: `dependencyLockAndCheckObject`, `shdepLockAndCheckObject`, `AcquireDeletionLock`.

use crate::cx::CatCx;
use crate::depend::{ObjectAddress, is_pinned};
use crate::object::ObjectClass;
use crate::rows::{CatalogRow, PgAuthid, PgClass, PgTablespace};
use crate::store::Store;
use crate::write::is_shared_catalog;
use ids::Oid;
use lmgr::{Acquired, LockMode, LockTag};
use pgerror::{PgError, Result, SqlState};

impl CatCx<'_> {
    /// Acquires a lock on the object, or on the relation of a column unless the session has a lock
    /// on it that is at least as strong. True if another session had to end its transaction first,
    /// which may have dropped the object or added dependents.
    fn lock_object(&mut self, object: ObjectAddress, mode: LockMode) -> Result<bool> {
        let database = self.session.catalog.database();
        let tag = match object.class {
            PgClass::RELATION => LockTag::relation(database, object.object),
            class if is_shared_catalog(class) => {
                LockTag::object(Oid::INVALID, class, object.object, 0)
            }
            class => LockTag::object(database, class, object.object, 0),
        };
        // No other session sees the catalogs of a new cluster.
        let Store::Engine(store) = &mut self.store else { return Ok(false) };
        if object.class == PgClass::RELATION && store.backend.holds_lock_at_least(tag, mode) {
            return Ok(false);
        }
        if store.backend.try_lock(tag, mode)? != Acquired::NotAvailable {
            return Ok(false);
        }
        store.backend.lock(tag, mode)?;
        Ok(true)
    }

    /// Keeps other sessions from dropping an object. True if it may have been dropped before, so
    /// that its name must be looked up again.
    pub fn keep_object(&mut self, object: ObjectAddress) -> Result<bool> {
        if is_pinned(object.class, object.object) {
            return Ok(false);
        }
        self.lock_object(object, LockMode::AccessShare)
    }

    /// Keeps an object that a dependency is about to refer to. 42704 if another transaction has
    /// dropped it.
    pub(crate) fn lock_referenced(&mut self, object: ObjectAddress) -> Result<()> {
        if !self.lock_object(object, LockMode::AccessShare)? {
            return Ok(());
        }
        // Classes that have no names (constraints, rules) are dropped with their relation.
        let Some(class) = ObjectClass::of(object.class) else { return Ok(()) };
        if self.find_object_row(class, object.object)?.is_some() {
            return Ok(());
        }
        let message = match object.class {
            PgClass::RELATION => "referenced relation was concurrently dropped".to_owned(),
            PgAuthid::RELATION => format!("role {} was concurrently dropped", object.object),
            PgTablespace::RELATION => {
                format!("tablespace {} was concurrently dropped", object.object)
            }
            _ => format!("referenced {} was concurrently dropped", class.noun),
        };
        Err(PgError::new(SqlState::UNDEFINED_OBJECT, message))
    }

    /// Locks objects that are to be dropped. True if another session had to end its transaction
    /// first: then names and dependents must be looked up again.
    pub fn lock_for_deletion(&mut self, objects: &[ObjectAddress]) -> Result<bool> {
        let mut waited = false;
        for object in objects {
            waited |= self.lock_object(*object, LockMode::AccessExclusive)?;
        }
        Ok(waited)
    }
}
