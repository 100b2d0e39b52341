//! The pool.

use crate::{ExclusiveGuard, ForkBuffers, Pin, Strategy};
use ids::{BackendNo, BlockNo, Fork, Oid, Persistence, RelFile};
use pgerror::{PgError, Result};
use smgr::Smgr;
use sync::Arc;
use wal::Wal;

#[derive(Clone)]
pub struct PoolConfig {
    /// At least 16.
    pub frames: usize,
    /// Data checksums are on.
    pub checksums: bool,
    pub zero_damaged_pages: bool,
    pub ignore_checksum_failure: bool,
    /// `norsu.scan_rings`.
    pub scan_rings: bool,
    /// For a session's pool of temporary relations.
    pub backend: Option<BackendNo>,
    /// Called when a page edit is left half way; must not return (the server aborts; tests note it).
    pub on_critical: Arc<dyn Fn(&PgError) + Send + Sync>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    pub reads: u64,
    pub written_by_sessions: u64,
    pub written_by_checkpoints: u64,
    pub written_by_background: u64,
    pub allocated: u64,
}

pub struct BufferPool {}

impl BufferPool {
    /// `wal` is none for a session's pool of temporary relations.
    pub fn new(
        _config: PoolConfig,
        _smgr: Arc<Smgr>,
        _wal: Option<Arc<Wal>>,
    ) -> Result<BufferPool> {
        todo!()
    }

    /// The handle of a fork, made if it is not there. Does not look at the file.
    pub fn open(&self, _rel: RelFile, _fork: Fork, _persistence: Persistence) -> Arc<ForkBuffers> {
        todo!()
    }

    /// Pins a block that exists. Reading beyond the end is an error.
    pub fn read(
        &self,
        _fork: &Arc<ForkBuffers>,
        _block: BlockNo,
        _strategy: &mut Strategy,
    ) -> Result<Pin<'_>> {
        todo!()
    }

    /// Latches a block that the caller is going to initialise: not read from disk; zeroes if it was
    /// not in the pool. Counterpart: RBM_ZERO_AND_LOCK.
    pub fn read_zeroed(
        &self,
        _fork: &Arc<ForkBuffers>,
        _block: BlockNo,
        _strategy: &mut Strategy,
    ) -> Result<ExclusiveGuard<'_>> {
        todo!()
    }

    /// As `read`; a damaged page is zeroed instead of an error. Counterpart: RBM_ZERO_ON_ERROR.
    pub fn read_zero_on_error(
        &self,
        _fork: &Arc<ForkBuffers>,
        _block: BlockNo,
        _strategy: &mut Strategy,
    ) -> Result<Pin<'_>> {
        todo!()
    }

    /// Pins a block only if it is in the pool.
    pub fn read_if_resident(
        &self,
        _fork: &Arc<ForkBuffers>,
        _block: BlockNo,
        _strategy: &mut Strategy,
    ) -> Option<Pin<'_>> {
        todo!()
    }

    /// Adds a zeroed block at the end (written to the file, so that the space is there) and latches it.
    pub fn extend(
        &self,
        _fork: &Arc<ForkBuffers>,
        _strategy: &mut Strategy,
    ) -> Result<ExclusiveGuard<'_>> {
        todo!()
    }

    /// Adds `count` zeroed blocks in one go; latches the first, the others follow it.
    pub fn extend_by(
        &self,
        _fork: &Arc<ForkBuffers>,
        _count: u32,
        _strategy: &mut Strategy,
    ) -> Result<ExclusiveGuard<'_>> {
        todo!()
    }

    /// Blocks of the fork now.
    pub fn nblocks(&self, _fork: &ForkBuffers) -> Result<u32> {
        todo!()
    }

    /// Hint: the block will be read soon.
    pub fn prefetch(&self, _fork: &ForkBuffers, _block: BlockNo, _count: u32) {
        todo!()
    }

    /// Forgets all frames of the relation, dirty or not (its files are going to be removed).
    pub fn drop_relation(&self, _rel: RelFile) {
        todo!()
    }

    pub fn drop_database(&self, _database: Oid) {
        todo!()
    }

    /// Forgets the frames from `nblocks` on, then cuts the file.
    pub fn truncate(&self, _fork: &ForkBuffers, _nblocks: u32) -> Result<()> {
        todo!()
    }

    /// Writes all dirty pages of the relation to its files (not synced).
    pub fn flush_relation(&self, _rel: RelFile) -> Result<()> {
        todo!()
    }

    pub fn flush_database(&self, _database: Oid) -> Result<()> {
        todo!()
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        todo!()
    }

    /// Does a sequential scan of so many blocks use a ring?
    pub fn wants_bulk_read(&self, nblocks: u32) -> bool {
        nblocks as usize > self.frames() / 4
    }

    pub fn smgr(&self) -> &Arc<Smgr> {
        todo!()
    }

    pub fn wal(&self) -> Option<&Arc<Wal>> {
        todo!()
    }

    pub fn stats(&self) -> PoolStats {
        todo!()
    }
}
