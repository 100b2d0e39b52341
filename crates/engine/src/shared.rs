//! Components of the storage layer that all sessions share. `Engine::open` creates them.

use crate::relmap::RelMaps;
use bufmgr::{BufferPool, PoolConfig};
use ids::{BackendNo, Fork, Oid, Persistence, RelFile};
use lmgr::LockManager;
use pgerror::PgError;
use smgr::{RelFork, Smgr};
use std::collections::BTreeMap;
use sync::atomic::AtomicU64;
use sync::{Arc, Mutex};
use twophase::TwoPhase;
use txn::TxnManager;
use vfs::Env;
use wal::Wal;

/// Statistics of checkpoints and the background writer, for `pg_stat_bgwriter`.
#[derive(Default)]
pub struct BackgroundCounters {
    pub timed: AtomicU64,
    pub requested: AtomicU64,
    pub write_time_ms: AtomicU64,
    pub sync_time_ms: AtomicU64,
    pub buffers_checkpoint: AtomicU64,
    /// Rounds of the background writer that ended at `bgwriter_lru_maxpages`.
    pub maxwritten: AtomicU64,
}

/// Number of pages with a wrong checksum, by database (0 for shared relations).
#[derive(Default)]
pub struct DamageCounters(Mutex<BTreeMap<Oid, (u64, i64)>>);

impl DamageCounters {
    /// Counts a page that was found at this time (microseconds since 2000-01-01).
    pub(crate) fn add(&self, database: Oid, now: i64) {
        let mut map = self.0.lock();
        let entry = map.entry(database).or_default();
        *entry = (entry.0 + 1, now);
    }

    /// The number of these pages, and the time of the last one (microseconds since 2000-01-01).
    pub fn of(&self, database: Oid) -> Option<(u64, i64)> {
        self.0.lock().get(&database).copied()
    }
}

/// Shared components, in the order of their construction.
pub struct Storage {
    pub env: Env,
    pub wal: Arc<Wal>,
    pub smgr: Arc<Smgr>,
    pub pool: Arc<BufferPool>,
    pub locks: Arc<LockManager>,
    pub txns: Arc<TxnManager>,
    /// The prepared transactions.
    pub two_phase: TwoPhase,
    /// The relation maps of the shared catalogs and of the databases.
    pub relmaps: Arc<RelMaps>,
    /// The shared states of the index access methods.
    pub ams: crate::am::AmStates,
    /// Locations of sequential scans of large tables.
    pub scans: heap::scan::SyncScans,
    pub background: BackgroundCounters,
    pub damage: Arc<DamageCounters>,
    /// Cumulative statistics of relations, databases and functions.
    pub stats: Arc<stats::Stats>,
    /// Configuration of the sessions' buffer pools for temporary relations, except for size and
    /// slot.
    pub temp_pool: PoolConfig,
    /// The server's log.
    pub log: crate::config::LogSink,
}

impl Storage {
    /// Drops buffers and files of all forks of a relation. The file of the main fork is truncated
    /// and kept until the next checkpoint, so that its number is not reused too early. Returns
    /// warnings for files that cannot be removed.
    #[must_use]
    pub fn drop_files(&self, file: RelFile, redo: bool) -> Vec<PgError> {
        self.pool.drop_relation(file);
        self.smgr.unlink(file, None, redo)
    }

    /// The fork of a relation that is not temporary.
    pub fn fork(
        &self,
        file: RelFile,
        fork: Fork,
        persistence: Persistence,
    ) -> Arc<bufmgr::ForkBuffers> {
        self.pool.open(file, fork, persistence)
    }
}

/// The name of a fork for the storage manager.
pub(crate) fn fork_name(file: RelFile, fork: Fork, backend: Option<BackendNo>) -> RelFork {
    RelFork { rel: file, fork, backend }
}

/// The database field of the relation's lock tag: 0 for shared relations.
pub(crate) fn tag_database(file: RelFile) -> Oid {
    if file.tablespace == RelFile::GLOBAL_TABLESPACE { Oid::INVALID } else { file.database }
}
