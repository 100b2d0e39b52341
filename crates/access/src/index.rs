//! An open index: insertion, build, VACUUM; the results of these operations.
//!
//! Counterpart: access/genam.h, the function types in amapi.h.

use crate::{
    Cx, Direction, HeapLiveness, IndexFile, IndexScan, ScanKey, ScanOptions, StrategyNumber,
};
use ids::{Tid, Xid};
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result};
use sync::Arc;
use types::DatumRef;
use vfs::Disk;

/// How an insertion treats duplicates. Counterpart: `IndexUniqueCheck`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UniqueCheck {
    /// Insert without a check.
    No,
    /// Do not insert if there is a live duplicate.
    Yes,
    /// Insert in any case, but report whether there may be a duplicate (deferrable constraints).
    Partial,
    /// Do not insert: check the entry that is in the index already.
    Existing,
}

/// How an entry is inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Insert {
    /// [`UniqueCheck::No`] unless the method is `unique`.
    pub check: UniqueCheck,
    /// The new row version has the same values in this index as the old one, so old versions are
    /// likely to be on the page.
    pub unchanged: bool,
}

/// Outcome of an insertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    /// Inserted (or checked). `unique`: there is certainly no duplicate; meaningful only if the
    /// check was not `No`.
    Done { unique: bool },
    /// Not inserted: the caller must wait for the end of `xid` (or of its speculative insertion)
    /// and insert again. No latch or pin is held.
    Wait { xid: Xid, speculative: Option<u32> },
    /// Not inserted: the live row at `tid` has the same key. The caller reports 23505.
    Conflict { tid: Tid },
}

/// Statistics of a vacuum of one index. Counterpart: `IndexBulkDeleteResult`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BulkDeleteResult {
    pub num_pages: u32,
    /// `num_index_tuples` is an estimate.
    pub estimated_count: bool,
    pub num_index_tuples: f64,
    pub tuples_removed: f64,
    pub pages_newly_deleted: u32,
    pub pages_deleted: u32,
    pub pages_free: u32,
}

/// Statistics of an index with a pending list; those other than its size are as of the last VACUUM.
/// Counterpart: `GinStatsData`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PendingStats {
    pub pending_pages: u32,
    pub total_pages: u32,
    pub entry_pages: u32,
    pub data_pages: u32,
    pub entries: i64,
}

/// The keys that a scan looks up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuerySize {
    /// Keys that match one index key.
    pub exact: u32,
    /// Keys that match a range of index keys.
    pub partial: u32,
    /// The condition alone requires a scan of the whole index.
    pub all: bool,
}

/// Returns whether index tuples with this heap TID are to be removed.
pub type IsDead<'a> = &'a mut dyn FnMut(Tid) -> bool;

/// Called with two live tuples of equal keys of a unique index; returns the error to raise.
pub type OnDuplicate<'a> = &'a mut dyn FnMut(IndexTuple<'_>, IndexTuple<'_>) -> PgError;

/// Called with the heap TID of each entry.
pub type OnEntry<'a> = &'a mut dyn FnMut(Tid) -> Result<()>;

/// A row to be indexed.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// One value per index column, detoasted.
    pub values: &'a [DatumRef<'a>],
    /// For columns whose values are compressed in the table: the compressed bytes with their
    /// header. Given only after [`Index::form`] has failed, or made a large entry, without them.
    pub compressed: &'a [(usize, Vec<u8>)],
    pub tid: Tid,
}

/// Parameters of a build.
pub struct BuildOptions {
    pub disk: Arc<dyn Disk>,
    /// Path for a temporary file, relative to the data directory, whose directory exists.
    pub path: String,
    /// `maintenance_work_mem` in bytes.
    pub memory_limit: usize,
    /// Estimated number of rows of the table.
    pub rows: f64,
}

/// An open index. Sessions share one per definition, because it holds caches.
///
/// LOCK ORDER: index pages before heap pages. No heavyweight lock is waited for with a latch or a
/// pin of the index held.
pub trait Index: Send + Sync {
    /// Appends the row's entry to `out`, in the method's own form, for [`Index::insert`] and
    /// [`IndexBuild::add`]. False if the row needs no entry. Error: 54000 if it is too large.
    fn form(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<bool>;

    /// Inserts an entry.
    fn insert(
        &self,
        cx: &mut Cx<'_>,
        entry: &[u8],
        how: Insert,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted>;

    /// Begins a scan; does not read the file. The conditions are those that the method's
    /// capabilities allow.
    fn begin_scan(
        self: Arc<Self>,
        keys: Vec<ScanKey>,
        options: ScanOptions,
    ) -> Result<Box<dyn IndexScan>>;

    /// Begins to fill the index, whose file is empty.
    fn begin_build<'a>(
        &'a self,
        cx: &mut Cx<'_>,
        options: BuildOptions,
    ) -> Result<Box<dyn IndexBuild + 'a>>;

    /// Writes an index without entries to the empty fork `file.main`: the main fork or the init
    /// fork. WAL: as the fork is logged.
    fn build_empty(&self, cx: &mut Cx<'_>, file: &IndexFile) -> Result<()>;

    /// Removes the entries of dead rows. `stats` are those of earlier passes of this VACUUM.
    /// Counterpart: `ambulkdelete`.
    fn bulk_delete(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        is_dead: IsDead<'_>,
    ) -> Result<BulkDeleteResult>;

    /// Called once after all passes of [`Index::bulk_delete`]. `heap_tuples` is the exact number of
    /// rows, if known. `None`: nothing was done. Counterpart: `amvacuumcleanup`.
    fn vacuum_cleanup(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        heap_tuples: Option<f64>,
    ) -> Result<Option<BulkDeleteResult>>;

    /// Checks the structure of the index, which must not change concurrently; calls `on_entry`
    /// with the TID of each entry. Returns their number. Error: XX002, which describes the damage.
    fn verify(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64>;

    /// Number of levels above the leaves, for the planner; `None` if the method has no tree.
    fn height(&self, cx: &mut Cx<'_>) -> Result<Option<u32>> {
        let _ = cx;
        Ok(None)
    }

    /// Moves entries of a pending list to where scans look them up. Returns the number of pages of
    /// the list that were removed.
    fn flush_pending(&self, cx: &mut Cx<'_>) -> Result<u32> {
        let _ = cx;
        Ok(0)
    }

    /// Statistics for the planner; `None` if the method has none.
    fn pending_stats(&self, cx: &mut Cx<'_>) -> Result<Option<PendingStats>> {
        let _ = cx;
        Ok(None)
    }

    /// How many keys a scan with this condition looks up, for the planner; `None` if the method
    /// does not look up keys.
    fn query_size(
        &self,
        column: usize,
        strategy: StrategyNumber,
        value: DatumRef<'_>,
    ) -> Result<Option<QuerySize>> {
        let _ = (column, strategy, value);
        Ok(None)
    }

    /// Clears the caches, after the file was replaced or truncated.
    fn forget_caches(&self) {}
}

/// A build in progress. Dropped without `finish`, it leaves files that the end of the transaction
/// removes.
pub trait IndexBuild {
    /// Adds an entry. `dead`: its row does not count for uniqueness.
    fn add(&mut self, cx: &mut Cx<'_>, entry: &[u8], dead: bool) -> Result<()>;

    /// Adds a row in place of its entry. False if the method needs the entry.
    fn add_row(&mut self, row: &Row<'_>) -> Result<bool> {
        let _ = row;
        Ok(false)
    }

    /// Writes the index. Returns the number of entries.
    /// WAL: images of all pages, or records of the method, as the index is logged.
    fn finish(self: Box<Self>, cx: &mut Cx<'_>, on_duplicate: OnDuplicate<'_>) -> Result<u64>;
}

impl Direction {
    /// Index of the first item of a page with `count` items, in this direction.
    #[inline]
    pub fn first_of(self, count: usize) -> usize {
        match self {
            Direction::Forward => 0,
            Direction::Backward => count.saturating_sub(1),
        }
    }
}
