//! Relation files: the forks of a relation as segment files of 1 GB, the fsync requests for the
//! next checkpoint, and the removal of files.
//!
//! Reading order: `name` (the identity of a fork), `fdcache` (open segments, bounded), `smgr`
//! (reading, writing, extending, truncating, removing), `pending` (fsync and unlink requests).

#![forbid(unsafe_code)]

mod fdcache;
mod name;
mod pending;
mod smgr;

pub use name::RelFork;
pub use smgr::{Smgr, SmgrConfig, SyncStats};

/// Bytes of a block. Equal to `page::PAGE_SIZE`, on which this crate does not depend.
pub const BLOCK_SIZE: usize = 8192;
/// Blocks of a segment file: 1 GB. Counterpart: `RELSEG_SIZE`.
pub const SEGMENT_BLOCKS: u32 = 131_072;
