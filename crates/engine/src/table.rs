//! Rows of tables: scans into batches, insertion, change, row locks. TOAST and the free space map are
//! dealt with in here; indexes are the caller's business ([`crate::index::insert`]).
//!
//! Counterpart: tableam.c, heapam_handler.c.

use crate::{Backend, TableDesc};
use ids::{AttrNo, BlockNo, CommandId, Tid, Xid};
use pgerror::Result;
use std::ops::Range;
use sync::Arc;
use txn::Snapshot;
use types::{Batch, DatumRef};

/// Numbers of the system columns, for the column lists below.
pub mod system {
    use ids::AttrNo;
    pub const CTID: AttrNo = -1;
    pub const XMIN: AttrNo = -2;
    pub const CMIN: AttrNo = -3;
    pub const XMAX: AttrNo = -4;
    pub const CMAX: AttrNo = -5;
    pub const TABLEOID: AttrNo = -6;
}

/// What became of an attempt to change or lock a row. Counterpart: `TM_Result` with `TM_FailureData`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowOutcome {
    Ok,
    /// Not visible to the command at all.
    Invisible,
    /// Changed already by this transaction, in command `cmax`.
    SelfModified {
        cmax: CommandId,
    },
    /// Another transaction updated it; `next` is the newer version (to be rechecked).
    Updated {
        next: Tid,
        xmax: Xid,
    },
    Deleted {
        xmax: Xid,
    },
    /// Locked by others, and waiting was not wanted.
    WouldBlock,
}

/// A successful update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Updated {
    pub outcome: RowOutcome,
    /// The new version.
    pub tid: Tid,
    /// False for a heap-only update: no index needs a new entry.
    pub needs_index_entries: bool,
}

/// Strength of a row lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RowLock {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

/// What to do where others hold the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RowWait {
    #[default]
    Block,
    /// SKIP LOCKED: [`RowOutcome::WouldBlock`].
    Skip,
    /// NOWAIT: error 55P03.
    Error,
}

#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// Only these blocks (parallel scans, TID ranges).
    pub blocks: Option<Range<u32>>,
    /// May start in the middle, where another scan of the table is.
    pub synchronize: bool,
}

/// A sequential scan.
pub struct TableScan {
    _table: Arc<TableDesc>,
}

impl TableScan {
    /// Returns the columns in this order; system columns may be among them.
    pub fn new(
        _be: &mut Backend,
        _table: &Arc<TableDesc>,
        _snapshot: Arc<Snapshot>,
        _columns: &[AttrNo],
        _options: ScanOptions,
    ) -> Result<TableScan> {
        todo!()
    }

    /// Appends up to `rows_max` rows (and at most what fits) to `batch`, which has the scan's columns
    /// (see [`new_batch`]). False at the end.
    pub fn next_batch(
        &mut self,
        _be: &mut Backend,
        _batch: &mut Batch,
        _rows_max: usize,
    ) -> Result<bool> {
        todo!()
    }

    /// Starts again from the beginning.
    pub fn rescan(&mut self) {
        todo!()
    }

    /// Block where the scan is, for progress reports.
    pub fn block(&self) -> BlockNo {
        todo!()
    }
}

/// An empty batch of these columns of the table.
pub fn new_batch(_table: &TableDesc, _columns: &[AttrNo]) -> Batch {
    todo!()
}

/// Appends the row version at `tid` to `batch` if the snapshot sees it. (TIDs from indexes name HOT
/// chains: those go through [`crate::index::IndexScan`].)
pub fn fetch(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _tid: Tid,
    _snapshot: &Snapshot,
    _columns: &[AttrNo],
    _batch: &mut Batch,
) -> Result<bool> {
    todo!()
}

#[derive(Clone, Copy, Debug, Default)]
pub struct InsertOptions {
    /// Always new pages.
    pub skip_fsm: bool,
    /// Frozen from the start (COPY FREEZE).
    pub frozen: bool,
    /// Token of a speculative insertion (ON CONFLICT), 0 if it is a normal one.
    pub speculative_token: u32,
}

/// Inserts a row; `values` has one entry per column of the table, dropped ones included (as NULL).
pub fn insert(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _values: &[DatumRef<'_>],
    _options: InsertOptions,
) -> Result<Tid> {
    todo!()
}

/// State of a long series of insertions: its ring and its current page.
pub struct BulkInsert {}

impl BulkInsert {
    pub fn new(_be: &Backend) -> BulkInsert {
        todo!()
    }
}

/// Inserts all rows of `rows` (columns as in [`insert`]); their TIDs are appended to `tids`.
pub fn multi_insert(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _rows: &Batch,
    _options: InsertOptions,
    _bulk: &mut BulkInsert,
    _tids: &mut Vec<Tid>,
) -> Result<()> {
    todo!()
}

/// The speculative insertion at `tid` is confirmed, or taken back.
pub fn finish_speculative(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _tid: Tid,
    _keep: bool,
) -> Result<()> {
    todo!()
}

/// Replaces the version at `tid`. `crosscheck`: the old version must be visible to this snapshot too
/// (referential integrity under repeatable read).
pub fn update(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _tid: Tid,
    _values: &[DatumRef<'_>],
    _crosscheck: Option<&Snapshot>,
    _wait: RowWait,
) -> Result<Updated> {
    todo!()
}

pub fn delete(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _tid: Tid,
    _crosscheck: Option<&Snapshot>,
    _wait: RowWait,
) -> Result<RowOutcome> {
    todo!()
}

/// Locks the row at `tid`; with `follow`, the newest version that the update chain leads to. On
/// success the locked version's `columns` are appended to `batch`; its TID is returned.
pub fn lock_row(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _tid: Tid,
    _lock: RowLock,
    _wait: RowWait,
    _follow: bool,
    _columns: &[AttrNo],
    _batch: &mut Batch,
) -> Result<(RowOutcome, Tid)> {
    todo!()
}

/// Overwrites a row in place, outside of transactions' rules: same size, no new version (statistics in
/// `pg_class`, `pg_database`). Counterpart: `heap_inplace_update`.
pub fn update_in_place(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _tid: Tid,
    _values: &[DatumRef<'_>],
) -> Result<()> {
    todo!()
}

/// Number of blocks.
pub fn nblocks(_be: &Backend, _table: &Arc<TableDesc>) -> Result<u32> {
    todo!()
}
