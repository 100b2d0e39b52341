//! Commit and abort, which order storage and cache invalidation.
//!
//! INVARIANT: caches are invalidated before locks are released, so that a session that waited for a
//! lock does not find stale entries.
//!
//! ```text
//! commit record with the messages → pg_xact → removal from the proc array
//!   → cache invalidation → release of locks
//! ```

use crate::cx::CatCx;
use crate::inval::Message;
use crate::session::CatSession;
use crate::shared::Catalogs;
use engine::{Backend, CommitExtras, DroppedStats, FinishPrepared, PrepareExtras};
use ids::{Lsn, Oid, Persistence};
use pgerror::{PgError, Result, pg_err};

impl CatSession {
    /// Commits the transaction with the session's invalidations in its commit record and publishes
    /// them.
    pub fn commit(
        &mut self,
        backend: &mut Backend,
        catalogs: &Catalogs,
        dropped_stats: Vec<DroppedStats>,
        force_sync: bool,
    ) -> Result<Lsn> {
        let messages = self.overlay.messages();
        let mut publish = || catalogs.publish(&messages);
        let extras = CommitExtras {
            invalidations: messages.iter().map(Message::to_bytes).collect(),
            relcache_init_file: messages.iter().any(concerns_init_file),
            dropped_stats,
            force_sync,
            publish: if messages.is_empty() { None } else { Some(&mut publish) },
        };
        let end = backend.commit(extras)?;
        self.overlay.end_transaction();
        Ok(end)
    }

    /// Prepares the transaction, with the session's invalidations in its state, and discards the
    /// session's view of its changes: they are not visible until the transaction commits.
    /// `exports`: it has exported snapshots; `messages`: it has executed LISTEN, UNLISTEN or
    /// NOTIFY. Both are errors.
    pub fn prepare(
        &mut self,
        backend: &mut Backend,
        gid: &str,
        exports: bool,
        messages: bool,
    ) -> Result<()> {
        if self.uses_temporary_objects(backend)? {
            return Err(unpreparable("operated on temporary objects"));
        }
        if exports {
            return Err(unpreparable("exported snapshots"));
        }
        let refusal = messages.then(|| unpreparable("executed LISTEN, UNLISTEN, or NOTIFY"));
        let messages = self.overlay.messages();
        backend.prepare(PrepareExtras {
            gid,
            owner: self.user,
            invalidations: messages.iter().map(Message::to_bytes).collect(),
            relcache_init_file: messages.iter().any(concerns_init_file),
            refusal,
        })?;
        self.overlay.end_transaction();
        Ok(())
    }

    /// True if the transaction has used the session's temporary objects: it has created or dropped
    /// some, or locks a temporary table.
    fn uses_temporary_objects(&mut self, backend: &mut Backend) -> Result<bool> {
        if backend.accessed_temp() || !self.temp_namespace.is_valid() {
            return Ok(backend.accessed_temp());
        }
        let database = backend.database();
        let locked = backend.txn.locks().locked_relations(database);
        for relation in locked {
            let class = CatCx::new(backend, self).find_class(relation)?;
            if class.is_some_and(|row| row.relpersistence == Persistence::Temporary) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends a prepared transaction and publishes its invalidations.
    pub fn finish_prepared(
        &mut self,
        backend: &mut Backend,
        catalogs: &Catalogs,
        what: FinishPrepared<'_>,
    ) -> Result<()> {
        backend.finish_prepared(what, &mut |messages| {
            let messages: Vec<_> = messages.iter().filter_map(Message::from_bytes).collect();
            catalogs.publish(&messages);
        })
    }

    /// Aborts the transaction and discards the session's view of its changes.
    pub fn abort(&mut self, backend: &mut Backend) -> Result<()> {
        self.overlay.end_transaction();
        backend.abort()
    }
}

/// Error 0A000: a transaction that has done this cannot be prepared.
pub fn unpreparable(what: &str) -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "cannot PREPARE a transaction that has {what}")
}

/// PostgreSQL stores descriptors of the most important catalogs in the relcache init file. A
/// standby must remove the file when one of them changes.
fn concerns_init_file(message: &Message) -> bool {
    match message {
        Message::RelCache { relation, .. } => *relation < Oid::FIRST_UNPINNED,
        _ => false,
    }
}
