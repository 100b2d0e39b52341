//! PREPARE TRANSACTION, COMMIT PREPARED and ROLLBACK PREPARED in the storage layer.
//!
//! Counterpart: `PrepareTransaction` in xact.c, `FinishPreparedTransaction` in twophase.c.

use super::Backend;
use crate::storage::make_new_files_durable;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use stats::{Key, Kind};
use sync::Arc;
use twophase::{Identity, State};
use txn::{DroppedStats, INVALIDATION_BYTES, PreparedEnd, XactExtras};

/// What the crates above supply for PREPARE TRANSACTION.
pub struct PrepareExtras<'a> {
    pub gid: &'a str,
    /// The role that prepares the transaction.
    pub owner: Oid,
    /// Shared invalidation messages, which the commit will publish.
    pub invalidations: Vec<[u8; INVALIDATION_BYTES]>,
    pub relcache_init_file: bool,
    /// An error that is reported after those of the identifier.
    pub refusal: Option<PgError>,
}

/// COMMIT PREPARED or ROLLBACK PREPARED.
#[derive(Clone, Copy)]
pub struct FinishPrepared<'a> {
    pub gid: &'a str,
    pub user: Oid,
    pub is_superuser: bool,
    pub commit: bool,
}

impl Backend {
    /// Notes that the transaction uses the session's temporary objects. It cannot be prepared then.
    pub fn note_temp_access(&mut self) {
        self.accessed_temp = true;
    }

    /// True if the transaction has used temporary objects in other ways than by locking relations.
    pub fn accessed_temp(&self) -> bool {
        self.accessed_temp
    }

    /// Prepares the transaction; the session has none afterwards. After an error of severity ERROR
    /// the caller must abort the transaction. WAL: see [`txn::Transaction::prepare`].
    pub fn prepare(&mut self, extras: PrepareExtras<'_>) -> Result<()> {
        self.active.clear();
        make_new_files_durable(self)?;
        self.note_records();
        let (xid, subxacts) = self.txn.begin_prepare()?;
        let storage = self.storage.clone();
        let identity = Identity {
            xid,
            gid: extras.gid.to_owned(),
            prepared_at: storage.env.clock.pg_micros(),
            owner: extras.owner,
            database: self.database(),
        };
        let reservation = storage.two_phase.reserve(identity.clone())?;
        if let Some(refusal) = extras.refusal {
            return Err(refusal);
        }
        let locks = self.txn.locks().transaction_locks()?;
        if self.catalog_files.is_changed() {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot PREPARE a transaction that modified relation mapping"
            ));
        }
        let state = State {
            xid,
            database: identity.database,
            prepared_at: identity.prepared_at,
            owner: identity.owner,
            gid: identity.gid,
            subxacts,
            files: [self.pending.at_commit(), self.pending.at_abort()],
            stats: [self.dropped_stats(true), self.dropped_stats(false)],
            invalidations: extras.invalidations,
            relcache_init_file: extras.relcache_init_file,
            locks,
            rows: self.stats.prepared_rows(),
            oldest_member: self.txn.oldest_multixact_member(),
        };
        let bytes: Arc<[u8]> = state.encode()?.into();
        let mut logged = |at: wal::Inserted| reservation.logged(&bytes, at.end);
        self.txn.prepare(&bytes, reservation.proc(), &state.locks, &mut logged)?;
        self.stats.detach_transaction();
        self.pending.forget();
        self.forget_transaction();
        reservation.complete();
        Ok(())
    }

    /// Commits or rolls back a prepared transaction. `publish` gets the invalidation messages of a
    /// commit, before the locks are released. Errors: see [`twophase::TwoPhase::claim`].
    pub fn finish_prepared(
        &mut self,
        what: FinishPrepared<'_>,
        publish: &mut dyn FnMut(&[[u8; INVALIDATION_BYTES]]),
    ) -> Result<()> {
        let FinishPrepared { gid, user, is_superuser, commit } = what;
        let storage = self.storage.clone();
        let claim = storage.two_phase.claim(gid, user, is_superuser, self.database())?;
        let state = claim.state()?;
        let outcome = usize::from(!commit);
        let files = &state.files[outcome];
        let record = XactExtras {
            dropped_files: files.clone(),
            dropped_stats: state.stats[outcome].clone(),
            invalidations: state.invalidations.clone(),
            relcache_init_file: state.relcache_init_file,
            force_sync: false,
            // It is not known, so it may.
            access_exclusive_locks: true,
        };
        let end =
            PreparedEnd { proc: claim.proc(), xid: state.xid, subxacts: &state.subxacts, gid };
        self.txn.finish_prepared(&end, commit, &record)?;
        // From here on the outcome is decided. The order is that of `finish`.
        for file in files {
            self.txn.add_warnings(storage.drop_files(*file, false));
        }
        let dropped = record.dropped_stats.iter().filter_map(dropped_object);
        self.stats.finish_prepared(&state.rows, dropped, commit);
        if commit {
            publish(&state.invalidations);
        }
        for (tag, mode) in &state.locks {
            storage.locks.release_prepared(claim.proc(), *tag, *mode);
        }
        self.txn.add_warnings(claim.finish().into_iter().collect());
        Ok(())
    }
}

fn dropped_object(item: &DroppedStats) -> Option<(Kind, Key)> {
    let kinds =
        [Kind::Database, Kind::Relation, Kind::Function, Kind::ReplicationSlot, Kind::Subscription];
    let kind = kinds.into_iter().find(|kind| *kind as i32 == item.kind)?;
    Some((kind, Key { database: item.database, object: item.object }))
}
