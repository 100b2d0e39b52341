//! An open fork: where its blocks are in the pool.

use ids::Persistence;
use smgr::RelFork;

/// The registry's handle of a relation fork. Get it by [`crate::BufferPool::open`] and keep it.
pub struct ForkBuffers {
    name: RelFork,
    persistence: Persistence,
}

impl ForkBuffers {
    pub fn name(&self) -> RelFork {
        self.name
    }
    pub fn persistence(&self) -> Persistence {
        self.persistence
    }
    /// Are changes of it logged? (Permanent, and not skipping WAL under `wal_level = minimal`.)
    pub fn is_logged(&self) -> bool {
        todo!()
    }
    /// `wal_level = minimal`: made in this transaction, synced at commit instead of logged.
    pub fn set_skip_wal(&self, _on: bool) {
        todo!()
    }
}
