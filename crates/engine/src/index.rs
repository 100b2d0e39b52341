//! Index entries and index scans, which fetch the rows they lead to.
//!
//! Counterpart: indexam.c, index.c (`index_build`), heapam_index_fetch.

use crate::{Backend, IndexDesc, TableDesc};
use ids::{AttrNo, Tid, Xid};
use pgerror::Result;
use std::cmp::Ordering;
use sync::Arc;
use txn::Snapshot;
use types::compare::CompareFn;
use types::{Batch, Datum, DatumRef};

/// A B-tree operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ScanOp {
    Less,
    LessEqual,
    Equal,
    GreaterEqual,
    Greater,
}

/// A condition on a column (0-based). `cmp` is for a value of another type of the operator family:
/// it is called with the condition's value first.
#[derive(Clone, Debug)]
pub enum ScanKey {
    /// `column op value`; a NULL value matches nothing.
    Compare {
        column: usize,
        op: ScanOp,
        value: Datum,
        cmp: Option<CompareFn>,
    },
    IsNull {
        column: usize,
    },
    IsNotNull {
        column: usize,
    },
    /// `column = ANY (values)`; NULLs among them are ignored.
    Any {
        column: usize,
        values: Vec<Datum>,
        cmp: Option<CompareFn>,
    },
    /// `(columns) op (values)`, compared lexicographically. A NULL ends the comparison as unknown.
    Row {
        op: ScanOp,
        members: Vec<RowMember>,
    },
}

#[derive(Clone, Debug)]
pub struct RowMember {
    pub column: usize,
    pub value: Datum,
    pub cmp: Option<CompareFn>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Forward,
    Backward,
}

/// How an insertion treats duplicates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UniqueCheck {
    /// Insert without looking.
    No,
    /// A live duplicate refuses the insertion.
    Yes,
    /// Insert anyway, but tell whether there may be a duplicate (deferrable constraints, ON CONFLICT).
    Partial,
    /// Do not insert: check the entry that is there.
    Existing,
}

/// What became of an insertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    /// `unique`: there is certainly no duplicate; says something only if the check was not `No`.
    Done { unique: bool },
    /// Nothing was inserted: the live row at `tid` has the same key.
    Conflict { tid: Tid },
}

/// Inserts the entry for the row at `tid`; `values` has one entry per index column. Waits for
/// transactions on which uniqueness depends. `unchanged`: an update that left these columns alone.
pub fn insert(
    _be: &mut Backend,
    _index: &Arc<IndexDesc>,
    _table: &Arc<TableDesc>,
    _values: &[DatumRef<'_>],
    _tid: Tid,
    _check: UniqueCheck,
    _unchanged: bool,
) -> Result<Inserted> {
    todo!()
}

/// The error for [`Inserted::Conflict`]: 23505, with the DETAIL that `print` makes of the values
/// (`Key (a, b)=(1, 2) already exists.`); `columns` are the index's definitions as text.
pub fn unique_violation(
    _index: &IndexDesc,
    _table: &TableDesc,
    _columns: &str,
    _values: Option<&str>,
) -> pgerror::PgError {
    todo!()
}

/// Rows of the table whose entries equal `values`, by a dirty look (others' uncommitted ones count): for
/// exclusion of duplicates before inserting (ON CONFLICT) and for deferred checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    pub tid: Tid,
    /// In-progress transactions on which it depends; invalid if the row is certain.
    pub waits_for: Xid,
    pub speculative_token: u32,
}

/// The first live row other than `except` with these key values.
/// Counterpart: `check_exclusion_or_unique_constraint`.
pub fn find_conflict(
    _be: &mut Backend,
    _index: &Arc<IndexDesc>,
    _table: &Arc<TableDesc>,
    _values: &[DatumRef<'_>],
    _except: Option<Tid>,
) -> Result<Option<Conflict>> {
    todo!()
}

#[derive(Clone, Copy, Debug, Default)]
pub struct IndexScanOptions {
    /// Take columns from the index where the heap page is all-visible (all of them must be in it).
    pub index_only: bool,
    /// The scan must be able to go back to a marked row.
    pub mark: bool,
}

/// A scan in index order that fetches rows.
pub struct IndexScan {
    _table: Arc<TableDesc>,
}

impl IndexScan {
    /// `columns` are those of the table (system columns too, unless index-only).
    pub fn new(
        _be: &mut Backend,
        _table: &Arc<TableDesc>,
        _index: &Arc<IndexDesc>,
        _snapshot: Arc<Snapshot>,
        _keys: Vec<ScanKey>,
        _columns: &[AttrNo],
        _options: IndexScanOptions,
    ) -> Result<IndexScan> {
        todo!()
    }

    /// Appends up to `rows_max` rows. False at the end (in this direction).
    pub fn next_batch(
        &mut self,
        _be: &mut Backend,
        _direction: Direction,
        _batch: &mut Batch,
        _rows_max: usize,
    ) -> Result<bool> {
        todo!()
    }

    /// TID of the row returned last.
    pub fn current(&self) -> Tid {
        todo!()
    }

    /// Starts again with other conditions.
    pub fn rescan(&mut self, _be: &mut Backend, _keys: Vec<ScanKey>) -> Result<()> {
        todo!()
    }

    pub fn mark(&mut self) {
        todo!()
    }

    pub fn restore(&mut self, _be: &mut Backend) -> Result<()> {
        todo!()
    }

    /// Rows that an index-only scan had to look up in the table.
    pub fn heap_fetches(&self) -> u64 {
        todo!()
    }
}

/// All TIDs that match, in no useful order, for bitmap scans. Calls `each`; returns their number.
pub fn scan_tids(
    _be: &mut Backend,
    _index: &Arc<IndexDesc>,
    _keys: Vec<ScanKey>,
    _each: &mut dyn FnMut(Tid),
) -> Result<u64> {
    todo!()
}

/// Appends the rows of one block's candidate TIDs (`None`: the whole page) that the snapshot sees.
pub fn bitmap_fetch(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _block: ids::BlockNo,
    _offsets: Option<&[u16]>,
    _snapshot: &Snapshot,
    _columns: &[AttrNo],
    _batch: &mut Batch,
) -> Result<()> {
    todo!()
}

/// What a build found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuildResult {
    pub heap_tuples: f64,
    pub index_tuples: f64,
    /// Some rows' HOT chains are broken for this index: it must not be used by older snapshots.
    pub broken_hot_chains: bool,
}

/// Computes the index values of a row for a build: gets the table row (all columns that the index
/// needs, in the order of `columns` given to [`build`]), appends one datum per index column; false
/// if the row does not belong into the index (partial indexes).
pub type RowToEntry<'a> =
    dyn FnMut(&mut Backend, &[DatumRef<'_>], &mut Vec<Datum>) -> Result<bool> + 'a;

/// Fills a new, empty index from the table. `columns`: what of the table `entry` needs.
pub fn build(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _index: &Arc<IndexDesc>,
    _columns: &[AttrNo],
    _entry: &mut RowToEntry<'_>,
    _print: &dyn Fn(&[DatumRef<'_>]) -> String,
) -> Result<BuildResult> {
    todo!()
}

/// Makes the file of an index without entries (unlogged indexes: also its init fork).
pub fn build_empty(_be: &mut Backend, _index: &Arc<IndexDesc>) -> Result<()> {
    todo!()
}

/// Number of levels above the leaves, for the planner.
pub fn height(_be: &mut Backend, _index: &Arc<IndexDesc>) -> Result<u32> {
    todo!()
}

/// Number of blocks.
pub fn nblocks(_be: &Backend, _index: &Arc<IndexDesc>) -> Result<u32> {
    todo!()
}

/// Orders two rows of index values.
pub fn compare(_index: &IndexDesc, _a: &[DatumRef<'_>], _b: &[DatumRef<'_>]) -> Ordering {
    todo!()
}
