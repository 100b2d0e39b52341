//! Work on relation files.

use crate::RelFork;
use ids::{BlockNo, Oid, RelFile};
use pgerror::Result;
use sync::Arc;
use vfs::Disk;

/// Settings.
#[derive(Clone, Debug)]
pub struct SmgrConfig {
    /// Blocks of a segment file; other than 131,072 only in tests.
    pub segment_blocks: u32,
    /// Most segment files kept open (`max_files_per_process` less what others need).
    pub open_files_max: usize,
    /// `fsync`: off makes every sync succeed without doing anything.
    pub fsync: bool,
}

impl Default for SmgrConfig {
    fn default() -> SmgrConfig {
        SmgrConfig { segment_blocks: crate::SEGMENT_BLOCKS, open_files_max: 900, fsync: true }
    }
}

pub struct Smgr {}

impl Smgr {
    pub fn new(_disk: Arc<dyn Disk>, _config: SmgrConfig) -> Smgr {
        todo!()
    }
    /// Makes the fork's first segment; in redo an existing one is taken. EEXIST is an error otherwise.
    pub fn create(&self, _fork: RelFork, _redo: bool) -> Result<()> {
        todo!()
    }
    pub fn exists(&self, _fork: RelFork) -> Result<bool> {
        todo!()
    }
    pub fn nblocks(&self, _fork: RelFork) -> Result<u32> {
        todo!()
    }
    /// Removes all forks. Main forks of permanent relations stay as an empty first segment
    /// until the next checkpoint.
    pub fn unlink(&self, _rel: RelFile, _redo: bool) -> Result<()> {
        todo!()
    }
    pub fn truncate(&self, _fork: RelFork, _nblocks: u32) -> Result<()> {
        todo!()
    }
    /// Makes all segments durable now.
    pub fn immediate_sync(&self, _fork: RelFork) -> Result<()> {
        todo!()
    }
    pub fn prefetch(&self, _fork: RelFork, _block: BlockNo, _count: u32) {
        todo!()
    }
    /// Forgets what is to be synced or removed of a dropped database.
    pub fn forget_database(&self, _database: Oid) {
        todo!()
    }
}
