//! What all sessions share of the storage layer: the parts, put together by `Engine::open`.

use bufmgr::{BufferPool, PoolConfig};
use ids::{BackendNo, Fork, Oid, Persistence, RelFile};
use lmgr::LockManager;
use pgerror::Result;
use smgr::{RelFork, Smgr};
use sync::Arc;
use sync::atomic::{AtomicBool, Ordering};
use txn::TxnManager;
use vfs::Env;
use wal::Wal;

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
    /// `norsu.bottom_up_deletion`.
    pub bottom_up: AtomicBool,
    /// `norsu.wal_update_delta`.
    pub update_delta: AtomicBool,
    /// A session's pool of temporary relations is made like this, with its own size and slot.
    pub temp_pool: PoolConfig,
    /// The server's log.
    pub log: crate::LogSink,
}

impl Storage {
    pub(crate) fn bottom_up_deletion(&self) -> bool {
        self.bottom_up.load(Ordering::Relaxed)
    }

    /// Drops buffers and files of a relation, with all forks. The main fork stays as an empty file
    /// until the next checkpoint, so that its number is not reused too early.
    pub fn drop_files(&self, file: RelFile, redo: bool) -> Result<()> {
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
