//! What all sessions share of the storage layer: the parts, put together by `Engine::open`.

use bufmgr::{BufferPool, PoolConfig};
use ids::{BackendNo, Fork, Oid, Persistence, RelFile};
use lmgr::LockManager;
use pgerror::PgError;
use smgr::{RelFork, Smgr};
use std::collections::BTreeMap;
use sync::atomic::AtomicU64;
use sync::{Arc, Mutex};
use txn::TxnManager;
use vfs::Env;
use wal::Wal;

/// What checkpoints and the background writer have done, for `pg_stat_bgwriter`; times in
/// milliseconds.
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

/// Pages whose checksum was wrong, by database (0 for those that all share).
#[derive(Default)]
pub struct DamageCounters(Mutex<BTreeMap<Oid, (u64, i64)>>);

impl DamageCounters {
    /// Another one, at this time.
    pub(crate) fn add(&self, database: Oid, now: i64) {
        let mut map = self.0.lock();
        let entry = map.entry(database).or_default();
        *entry = (entry.0 + 1, now);
    }

    /// How many there were, and when the last one was seen (microseconds since 2000).
    pub fn of(&self, database: Oid) -> Option<(u64, i64)> {
        self.0.lock().get(&database).copied()
    }
}

/// Shared parts, in the order in which they are made.
pub struct Storage {
    pub env: Env,
    pub wal: Arc<Wal>,
    pub smgr: Arc<Smgr>,
    pub pool: Arc<BufferPool>,
    pub locks: Arc<LockManager>,
    pub txns: Arc<TxnManager>,
    /// B-tree vacuums under way.
    pub cycles: Arc<btree::VacuumCycles>,
    /// Where sequential scans of large tables are.
    pub scans: heap::scan::SyncScans,
    pub background: BackgroundCounters,
    pub damage: Arc<DamageCounters>,
    /// A session's pool of temporary relations is made like this, with its own size and slot.
    pub temp_pool: PoolConfig,
    /// The server's log.
    pub log: crate::LogSink,
}

impl Storage {
    /// Drops buffers and files of a relation, with all forks. The main fork stays as an empty file
    /// until the next checkpoint, so that its number is not reused too early. Returns warnings of
    /// what stays.
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

/// The name of a fork for the file layer.
pub(crate) fn fork_name(file: RelFile, fork: Fork, backend: Option<BackendNo>) -> RelFork {
    RelFork { rel: file, fork, backend }
}

/// The lock tag's database part: 0 for shared relations.
pub(crate) fn tag_database(file: RelFile) -> Oid {
    if file.tablespace == RelFile::GLOBAL_TABLESPACE { Oid::INVALID } else { file.database }
}
