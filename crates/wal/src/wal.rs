//! The handle of the log that everybody writes through.

use crate::{Compression, RecordBuilder};
use ids::{Lsn, Xid};
use page::PageRef;
use pgerror::{PgError, Result};
use sync::Arc;

/// What a record needs to be complete (`wal_level`). The numbers are those in `pg_control`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum WalLevel {
    Minimal = 0,
    Replica = 1,
    Logical = 2,
}

/// How the log reaches the disk (`wal_sync_method`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncMethod {
    Fdatasync,
    Fsync,
}

/// Settings of the log; those that may change while running have setters on [`Wal`].
#[derive(Clone)]
pub struct WalConfig {
    pub segment_size: u32,
    pub system_id: u64,
    /// Pages of WAL buffers.
    pub buffers: usize,
    pub level: WalLevel,
    pub sync_method: SyncMethod,
    pub fsync: bool,
    pub full_page_writes: bool,
    pub compression: Compression,
    /// Checksums or `wal_log_hints` are on: first hint changes log an image.
    pub log_hints: bool,
    /// Resource managers whose records carry images for checking ([`crate::RmgrId::bit`]).
    pub consistency_checking: u32,
    pub min_wal_size: u64,
    pub max_wal_size: u64,
    pub wal_keep_size: u64,
    pub init_zero: bool,
    pub recycle: bool,
    /// Microseconds; 0 is off.
    pub commit_delay: u32,
    /// Called once on the first failed write or fsync; must not return into business as usual
    /// (the server aborts; tests note it).
    pub on_panic: Arc<dyn Fn(&PgError) + Send + Sync>,
}

/// Where writing begins, as recovery found it.
#[derive(Clone, Copy, Debug)]
pub struct WalStart {
    pub timeline: u32,
    /// Where the next record may start (end of the last valid one).
    pub end: Lsn,
    /// Start of the last valid record.
    pub prev: Lsn,
    /// Redo pointer of the last checkpoint.
    pub redo: Lsn,
}

/// Where a record went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    pub start: Lsn,
    /// What pages changed by it are stamped with, and what is flushed to make it durable.
    pub end: Lsn,
}

/// Counters of `pg_stat_wal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalStats {
    pub records: u64,
    pub fpi: u64,
    pub bytes: u64,
    pub buffers_full: u64,
    pub write: u64,
    pub sync: u64,
    pub write_time_us: u64,
    pub sync_time_us: u64,
}

/// The log. One per server; lives from before recovery to after the shutdown checkpoint.
///
/// Until [`Wal::start`] the server is in recovery: insertions fail, `flush` has nothing to do.
pub struct Wal {}

impl Wal {
    /// Writes the record. `pages` lends the contents, by block id, of those registered blocks that may
    /// need an image (all but `NO_IMAGE`/`WILL_INIT` ones; those too for consistency checking). The
    /// caller holds their latches, so that neither bytes nor LSN change except for hints.
    ///
    /// An error is of severity PANIC: the caller must not go on.
    pub fn insert(
        &self,
        _record: &mut RecordBuilder,
        _pages: &[(u8, PageRef<'_>)],
        _xid: Xid,
    ) -> Result<Inserted> {
        todo!()
    }

    /// Makes everything before `lsn` durable. Group commit happens in here.
    pub fn flush(&self, _lsn: Lsn) -> Result<()> {
        todo!()
    }

    /// Everything before this is durable. In recovery: the largest position.
    pub fn flushed(&self) -> Lsn {
        todo!()
    }

    /// Everything before this is written, not necessarily durable.
    pub fn written(&self) -> Lsn {
        todo!()
    }

    /// End of what has been reserved for records so far.
    pub fn inserted(&self) -> Lsn {
        todo!()
    }

    /// Redo pointer: a page whose LSN is not after it needs an image at its next change.
    pub fn redo_ptr(&self) -> Lsn {
        todo!()
    }

    /// Are full page images being written at the moment?
    pub fn full_page_writes(&self) -> bool {
        todo!()
    }

    /// Does a change of `page_lsn`'s page need an image now? (For hint images.)
    pub fn needs_image(&self, page_lsn: Lsn) -> bool {
        self.full_page_writes() && page_lsn <= self.redo_ptr()
    }

    pub fn level(&self) -> WalLevel {
        todo!()
    }

    /// Checksums or `wal_log_hints`.
    pub fn log_hints(&self) -> bool {
        todo!()
    }

    pub fn in_recovery(&self) -> bool {
        todo!()
    }

    /// Tells the walwriter that an asynchronous commit ended at `lsn`.
    pub fn note_async_commit(&self, _lsn: Lsn) {
        todo!()
    }

    /// The walwriter's step: writes and flushes asynchronous commits and whole pages. `true` if it
    /// did something.
    pub fn background_flush(&self) -> Result<bool> {
        todo!()
    }

    /// Ends the current segment (`pg_switch_wal`); the end of the switch record.
    pub fn switch(&self) -> Result<Lsn> {
        todo!()
    }

    /// Moves the redo pointer to the current insert position: a checkpoint starts.
    pub fn begin_checkpoint(&self) -> Lsn {
        todo!()
    }

    /// A section that an online checkpoint waits for after fixing its redo pointer: between a
    /// commit record and its pg_xact bit, multixact creation, hint images.
    pub fn delay_checkpoint_start(&self) -> DelayGuard<'_> {
        todo!()
    }

    /// A section that a checkpoint waits for before it completes: truncation.
    pub fn delay_checkpoint_end(&self) -> DelayGuard<'_> {
        todo!()
    }

    pub fn stats(&self) -> WalStats {
        todo!()
    }
}

/// Ends the section that delays a checkpoint when dropped.
pub struct DelayGuard<'a> {
    _wal: &'a Wal,
}
