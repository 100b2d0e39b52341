//! Rows of tables: scans into batches, insertion, update, deletion, row locks. Handles TOAST and
//! the free space map; the caller inserts index entries ([`crate::index::insert`]).
//!
//! Counterpart: tableam.c, heapam_handler.c.

use crate::backend::Backend;
use crate::desc::{IndexDesc, TableDesc};
pub use crate::row_lock::lock_row;
use crate::rows::{self, RowReader};
use crate::toast;
use bufmgr::Strategy;
use heap::scan::{BlockOrder, Visit, Visited};
use heap::{TmFailure, TmResult, TupleLockMode};
use ids::code::ColumnStorage;
use ids::{AttrNo, BlockNo, CommandId, OffsetNo, Tid, Xid};
use lmgr::{LockMode, LockTag, WaitPolicy};
use page::{HeapTuple, Value, varlena};
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use stats::Change;
use std::ops::Range;
use sync::Arc;
use txn::{Snapshot, SnapshotKind};
use types::{Batch, DatumRef};

/// Pages read after which a scan with conditions returns a batch with rows although there is room.
const PAGES_PER_BATCH: u32 = 64;

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

/// Outcome of an update, deletion or lock of a row. Counterpart: `TM_Result` with
/// `TM_FailureData`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowOutcome {
    Ok,
    /// The row is not visible to the command.
    Invisible,
    /// This transaction has already changed the row, in command `cmax`.
    SelfModified {
        cmax: CommandId,
    },
    /// Another transaction updated the row; `next` is the newer version (to be rechecked).
    Updated {
        next: Tid,
        xmax: Xid,
    },
    Deleted {
        xmax: Xid,
    },
    /// The row is locked by another transaction, and the caller does not wait.
    WouldBlock,
}

/// A successful update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Updated {
    pub outcome: RowOutcome,
    /// The new version.
    pub tid: Tid,
    /// False for a heap-only update, which needs no new index entries.
    pub needs_index_entries: bool,
    /// The transaction that inserted the old version, if columns were kept from it.
    pub old_xmin: Xid,
}

/// Strength of a row lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RowLock {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

/// Behaviour if another transaction has locked the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RowWait {
    #[default]
    Block,
    /// SKIP LOCKED: [`RowOutcome::WouldBlock`].
    Skip,
    /// NOWAIT: error 55P03.
    Error,
}

/// Options of a change of a row.
#[derive(Clone, Copy, Default)]
pub struct ChangeOptions<'a> {
    /// The old version must also be visible to this snapshot (referential integrity under
    /// repeatable read).
    pub crosscheck: Option<&'a Snapshot>,
    pub wait: RowWait,
    /// For updates, columns whose stored value is copied from the old version (their entries in
    /// `values` are ignored). TOASTed values then need not be read and written.
    pub keep: &'a [AttrNo],
    /// For deletions, an UPDATE moves the row to another partition.
    pub changing_partition: bool,
    /// The command number to use; `None` for the current one of the transaction. A statement keeps
    /// the number with which it started, although functions that it calls may have advanced the
    /// current one. Counterpart: `es_output_cid`.
    pub command: Option<CommandId>,
}

/// Options of a row lock.
#[derive(Clone, Copy)]
pub struct LockRow {
    pub lock: RowLock,
    pub wait: RowWait,
    /// Lock the newest version that the update chain leads to.
    pub follow: bool,
    /// As in [`ChangeOptions::command`].
    pub command: Option<CommandId>,
}

impl LockRow {
    /// Waits if necessary, and locks only the given version.
    pub fn version(lock: RowLock) -> LockRow {
        LockRow { lock, wait: RowWait::Block, follow: false, command: None }
    }
}

/// The command number of a change; marks the current command as having changed data.
pub(crate) fn command_of(be: &mut Backend, command: Option<CommandId>) -> CommandId {
    let current = be.txn.current_command(true);
    command.unwrap_or(current)
}

impl RowLock {
    pub(crate) const fn mode(self) -> TupleLockMode {
        match self {
            RowLock::KeyShare => TupleLockMode::KeyShare,
            RowLock::Share => TupleLockMode::Share,
            RowLock::NoKeyUpdate => TupleLockMode::NoKeyExclusive,
            RowLock::Update => TupleLockMode::Exclusive,
        }
    }
}

impl RowWait {
    pub(crate) const fn policy(self) -> heap::WaitPolicy {
        match self {
            RowWait::Block => heap::WaitPolicy::Block,
            RowWait::Skip => heap::WaitPolicy::Skip,
            RowWait::Error => heap::WaitPolicy::Error,
        }
    }
}

pub(crate) fn outcome(result: TmResult, failure: &TmFailure) -> RowOutcome {
    match result {
        TmResult::Ok => RowOutcome::Ok,
        TmResult::Invisible => RowOutcome::Invisible,
        TmResult::SelfModified => RowOutcome::SelfModified { cmax: failure.cmax },
        TmResult::Updated => RowOutcome::Updated { next: failure.ctid, xmax: failure.xmax },
        TmResult::Deleted => RowOutcome::Deleted { xmax: failure.xmax },
        TmResult::BeingModified | TmResult::WouldBlock => RowOutcome::WouldBlock,
    }
}

pub(crate) fn not_available(table: &TableDesc) -> PgError {
    pg_err!(LOCK_NOT_AVAILABLE, "could not obtain lock on row in relation \"{}\"", table.name)
}

#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// Only these blocks are scanned (parallel scans, TID ranges).
    pub blocks: Option<Range<u32>>,
    /// The scan may start at the location of another scan of the table.
    pub synchronize: bool,
    /// The scan reads a sample (TABLESAMPLE), and does not count as a sequential scan.
    pub is_sample: bool,
    pub backward: bool,
}

/// A pushed-down predicate: a comparison of a by-value column with a constant. NULL does not
/// satisfy it.
#[derive(Clone, Copy, Debug)]
pub struct WordCondition {
    pub column: AttrNo,
    pub test: fn(value: u64, constant: u64) -> bool,
    pub constant: u64,
}

/// A sequential scan.
pub struct TableScan {
    table: Arc<TableDesc>,
    conditions: SmallVec<[WordCondition; 2]>,
    /// Number of visible rows that did not satisfy the conditions.
    rows_filtered: u64,
    snapshot: Arc<Snapshot>,
    reader: RowReader,
    strategy: Strategy,
    /// The table is so large that a buffer ring is used.
    large: bool,
    options: ScanOptions,
    order: BlockOrder,
    /// First block in the order of the scan.
    base: u32,
    /// The page that is not finished, and the line pointer to continue with.
    resume: Option<(BlockNo, OffsetNo)>,
    block: BlockNo,
    synchronized: bool,
    /// Number of blocks to read ahead. It is doubled with each read.
    ahead: u32,
}

impl TableScan {
    /// A scan that returns the columns in this order; they may include system columns.
    pub fn new(
        be: &mut Backend,
        table: &Arc<TableDesc>,
        snapshot: Arc<Snapshot>,
        columns: &[AttrNo],
        options: ScanOptions,
    ) -> Result<TableScan> {
        let mut scan = TableScan {
            table: table.clone(),
            conditions: SmallVec::new(),
            rows_filtered: 0,
            snapshot,
            reader: RowReader::new(table, columns)?,
            strategy: Strategy::normal(),
            large: false,
            synchronized: false,
            options,
            order: BlockOrder::new(0, BlockNo(0), false),
            base: 0,
            resume: None,
            block: BlockNo(0),
            ahead: 1,
        };
        scan.rescan(be)?;
        Ok(scan)
    }

    /// Sets the snapshot for the next rescan: see [`TableScan::release`].
    pub fn set_snapshot(&mut self, snapshot: Arc<Snapshot>) {
        self.snapshot = snapshot;
    }

    /// Skips rows that do not satisfy all of these conditions, starting with the next row.
    pub fn set_conditions(&mut self, conditions: impl IntoIterator<Item = WordCondition>) {
        self.conditions.clear();
        self.conditions.extend(conditions);
    }

    /// Number of visible rows that did not satisfy the conditions, since the scan was created.
    pub fn rows_filtered(&self) -> u64 {
        self.rows_filtered
    }

    /// Ends the scan and releases its snapshot and its ring. [`TableScan::set_snapshot`] and a
    /// rescan make it usable again.
    pub fn release(&mut self, be: &Backend) {
        self.snapshot = be.no_snapshot();
        self.order = BlockOrder::new(0, BlockNo(0), false);
        self.resume = None;
        self.strategy = Strategy::normal();
        self.large = false;
    }

    fn start(&mut self, be: &Backend, nblocks: u32) {
        let range = self.options.blocks.clone().unwrap_or(0..nblocks);
        self.base = range.start.min(nblocks);
        let count = range.end.min(nblocks) - self.base;
        let first = if self.synchronized {
            be.storage().scans.start(self.table.file, nblocks)
        } else if self.options.backward {
            BlockNo(count.saturating_sub(1))
        } else {
            BlockNo(0)
        };
        self.order = BlockOrder::new(count, first, self.options.backward);
        self.resume = None;
    }

    /// Appends up to `rows_max` rows to `batch`, which has the scan's columns (see [`new_batch`]);
    /// fewer if few rows satisfy the conditions, because the caller may need only the first ones.
    /// Returns false if there were none left.
    pub fn next_batch(
        &mut self,
        be: &mut Backend,
        batch: &mut Batch,
        rows_max: usize,
    ) -> Result<bool> {
        let table = self.table.clone();
        let rel = table.heap(be);
        let begin = batch.len;
        let filtered_before = self.rows_filtered;
        let mut used = bufmgr::PageReads::default();
        self.reader.begin();
        let mut pages = 0;
        while batch.len - begin < rows_max && !self.reader.is_full() {
            if pages >= PAGES_PER_BATCH && batch.len > begin {
                break;
            }
            pages += 1;
            let (block, from) = match self.resume.take() {
                Some(position) => position,
                None => match self.order.next_block() {
                    Some(block) => (BlockNo(self.base + block.0), 0),
                    None => break,
                },
            };
            if from == 0 {
                self.enter(be, block)?;
            }
            let visit = Visit { backward: self.options.backward, from, prune: true };
            let deformer = table.deformer();
            let (reader, conditions, filtered) =
                (&mut self.reader, &self.conditions[..], &mut self.rows_filtered);
            let mut cx = be.heap_cx_with(table.persistence, &mut self.strategy);
            let visited = heap::scan::visit_page(
                &mut cx,
                rel,
                block,
                &self.snapshot,
                visit,
                |offset, tuple| {
                    for c in conditions {
                        let word = deformer.word(&tuple, c.column as usize - 1)?;
                        if !word.is_some_and(|w| (c.test)(w, c.constant)) {
                            *filtered += 1;
                            return Ok(true);
                        }
                    }
                    reader.push(deformer, Tid::new(block, offset), &tuple, batch)?;
                    Ok(batch.len - begin < rows_max && !reader.is_full())
                },
            )?;
            if let Visited::Until(offset) = visited {
                self.resume = Some((block, offset));
            }
            used += self.strategy.usage.reads();
            be.add_usage(&mut self.strategy);
            self.reader.finish(be, &table, batch)?;
        }
        let rows = (batch.len - begin) as u64 + (self.rows_filtered - filtered_before);
        let counts = be.stats.relation(table.oid, table.is_shared());
        counts.returned += rows as i64;
        counts.blocks_fetched += (used.hit + used.read) as i64;
        counts.blocks_hit += used.hit as i64;
        Ok(batch.len > begin)
    }

    fn enter(&mut self, be: &mut Backend, block: BlockNo) -> Result<()> {
        be.check_interrupts()?;
        self.block = block;
        if !self.options.backward {
            // Reads this block and the subsequent ones that are not in the buffer pool.
            let end = self.base + self.order.nblocks();
            let main = &self.table.heap(be).main;
            let pool = be.pool(self.table.persistence);
            let count = self.ahead.min(end - block.0);
            if pool.read_ahead(main, block, count, &mut self.strategy)? > 0 {
                self.ahead = (2 * self.ahead).min(bufmgr::READ_AHEAD_MAX);
            }
        }
        if self.synchronized {
            be.storage().scans.report(self.table.file, block);
        }
        Ok(())
    }

    /// Restarts the scan, with the table's current size.
    pub fn rescan(&mut self, be: &mut Backend) -> Result<()> {
        let pool = be.pool(self.table.persistence);
        let nblocks = pool.nblocks(&self.table.heap(be).main)?;
        let large = pool.wants_bulk_read(nblocks);
        if large && !self.large {
            self.strategy = Strategy::bulk_read(pool);
        }
        self.large = large;
        if self.options.blocks.is_none() && !self.options.is_sample {
            be.stats.relation(self.table.oid, self.table.is_shared()).scans += 1;
        }
        self.synchronized = large && self.options.synchronize && self.options.blocks.is_none();
        self.start(be, nblocks);
        Ok(())
    }

    /// Current block, for progress reports.
    pub fn block(&self) -> BlockNo {
        self.block
    }
}

/// An empty batch of these columns of the table.
pub fn new_batch(table: &TableDesc, columns: &[AttrNo]) -> Batch {
    Batch::new(columns.iter().map(|c| rows::is_by_val(table, *c)))
}

/// Reads row versions by TID; reusable for the same columns.
pub struct RowFetch {
    table: Arc<TableDesc>,
    reader: RowReader,
}

impl RowFetch {
    pub fn new(table: &Arc<TableDesc>, columns: &[AttrNo]) -> Result<RowFetch> {
        Ok(RowFetch { table: table.clone(), reader: RowReader::new(table, columns)? })
    }

    /// Appends the row version at `tid` to `batch` if it is visible to the snapshot.
    pub fn fetch(
        &mut self,
        be: &mut Backend,
        tid: Tid,
        snapshot: &Snapshot,
        batch: &mut Batch,
    ) -> Result<bool> {
        let RowFetch { table, reader } = self;
        let rel = table.heap(be);
        let deformer = table.deformer();
        let before = be.reads();
        let mut cx = be.heap_cx(table.persistence);
        let found = heap::fetch_row_version(&mut cx, rel, tid, snapshot, |tuple| {
            reader.push(deformer, tid, &tuple, batch)
        })?;
        be.count_blocks(table.oid, table.is_shared(), before);
        reader.finish(be, table, batch)?;
        Ok(found.is_some())
    }

    /// Appends the version at `tid`, visible or not.
    pub fn version(&mut self, be: &mut Backend, tid: Tid, batch: &mut Batch) -> Result<bool> {
        let any = Snapshot::of_kind(SnapshotKind::Any);
        self.fetch(be, tid, &any, batch)
    }
}

/// Appends the row version at `tid` to `batch` if it is visible to the snapshot. TIDs of index
/// entries, which identify HOT chains, cannot be used: see [`crate::index::IndexScan`].
pub fn fetch(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    tid: Tid,
    snapshot: &Snapshot,
    columns: &[AttrNo],
    batch: &mut Batch,
) -> Result<bool> {
    RowFetch::new(table, columns)?.fetch(be, tid, snapshot, batch)
}

/// The newest version of the row at `tid` that is visible to the snapshot (`WHERE CURRENT OF`,
/// `currtid2`).
pub fn latest_tid(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    tid: Tid,
    snapshot: &Snapshot,
) -> Result<Tid> {
    let rel = table.heap(be);
    heap::get_latest_tid(&mut be.heap_cx(table.persistence), rel, tid, snapshot)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct InsertOptions {
    /// Existing pages are not searched for free space.
    pub skip_fsm: bool,
    /// Rows are inserted as frozen (COPY FREEZE).
    pub frozen: bool,
    /// Token of a speculative insertion (ON CONFLICT, see [`begin_speculative`]); 0 for a normal
    /// insertion.
    pub speculative_token: u32,
    /// As in [`ChangeOptions::command`].
    pub command: Option<CommandId>,
    /// The rows are copied into a new file of the table, and do not count as inserted.
    pub is_rewrite: bool,
}

impl InsertOptions {
    fn heap(self) -> heap::InsertOptions {
        heap::InsertOptions {
            skip_fsm: self.skip_fsm,
            frozen: self.frozen,
            speculative_token: self.speculative_token,
        }
    }
}

type Values<'a> = SmallVec<[Value<'a>; 16]>;

#[inline]
pub(crate) fn value(datum: DatumRef<'_>) -> Value<'_> {
    match datum {
        DatumRef::Null => Value::Null,
        DatumRef::Word(w) => Value::Word(w),
        DatumRef::Bytes(b) => Value::Bytes(b),
    }
}

/// Size limit of a row before its values are compressed or moved to the TOAST table: PostgreSQL
/// forms it in one allocation of less than 1 GB.
const TUPLE_BYTES_MAX: usize = types::limits::ALLOCATION_BYTES_MAX;

/// Forms the tuple, with TOAST. Error 54000 if the row is too large.
pub(crate) fn form(
    be: &mut Backend,
    table: &TableDesc,
    values: &[Value<'_>],
    out: &mut Vec<u8>,
) -> Result<()> {
    let bytes = |v: &Value<'_>| match v {
        Value::Bytes(b) | Value::Raw(b) => b.len(),
        _ => 0,
    };
    if values.iter().map(bytes).sum::<usize>() > TUPLE_BYTES_MAX {
        return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "tuple is too big"));
    }
    page::form::form_into(&table.tupdesc, values, out)?;
    if out.len() <= toast::TUPLE_THRESHOLD || table.is_toast {
        return Ok(());
    }
    let prepared = toast::prepare(be, table, values.to_vec())?;
    let values: Vec<Value<'_>> = prepared.values.iter().map(toast::Stored::value).collect();
    page::form::form_into(&table.tupdesc, &values, out)
}

/// Inserts a row; `values` has one value per column of the table, and NULL for dropped columns.
pub fn insert(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    values: &[DatumRef<'_>],
    options: InsertOptions,
) -> Result<Tid> {
    let values: Values<'_> = values.iter().map(|d| value(*d)).collect();
    let mut tuple = be.take_tuple();
    form(be, table, &values, &mut tuple)?;
    let rel = table.heap(be);
    let cid = command_of(be, options.command);
    let before = be.reads();
    let mut cx = be.heap_cx(table.persistence);
    let tid = heap::insert(&mut cx, rel, &mut tuple, cid, options.heap(), None);
    be.put_tuple(tuple);
    if tid.is_ok() {
        count_inserted(be, table, &options, 1, before);
    }
    tid
}

/// Counts inserted rows, and the pages that were read since `before`.
fn count_inserted(
    be: &mut Backend,
    table: &TableDesc,
    options: &InsertOptions,
    rows: u32,
    before: bufmgr::PageReads,
) {
    if !options.is_rewrite {
        be.count_change(table, Change::Insert(rows));
        be.count_blocks(table.oid, table.is_shared(), before);
    }
}

/// As [`insert`], for a row that was computed from the version at `from` of `old`. The columns
/// `same` have the values of that version. Values that are compressed inline in that version stay
/// compressed, even if the storage of their column has changed.
pub fn insert_again(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    values: &[DatumRef<'_>],
    options: InsertOptions,
    (old, from): (&Arc<TableDesc>, Tid),
    same: &[AttrNo],
) -> Result<Tid> {
    let bytes = copy_version(be, old, from)?;
    let version = bytes.as_deref().and_then(HeapTuple::from_bytes);
    let mut values: Values<'_> = values.iter().map(|d| value(*d)).collect();
    if let Some(version) = &version {
        for &column in same {
            let index = column as usize - 1;
            let stored = old.deformer().get(version, index)?;
            if matches!(stored, Value::Raw(raw) if varlena::is_compressed(raw)) {
                values[index] = stored;
            }
        }
    }
    let mut tuple = be.take_tuple();
    form(be, table, &values, &mut tuple)?;
    let rel = table.heap(be);
    let cid = command_of(be, options.command);
    let before = be.reads();
    let mut cx = be.heap_cx(table.persistence);
    let tid = heap::insert(&mut cx, rel, &mut tuple, cid, options.heap(), None);
    be.put_tuple(tuple);
    if tid.is_ok() {
        count_inserted(be, table, &options, 1, before);
    }
    tid
}

/// Index columns of storage plain whose values are compressed in the version at `tid`: index column
/// and stored bytes. They are stored unchanged in the index.
pub(crate) fn compressed_keys(
    be: &mut Backend,
    table: &TableDesc,
    index: &IndexDesc,
    tid: Tid,
) -> Result<Vec<(usize, Vec<u8>)>> {
    let attrs = &table.tupdesc.attrs;
    let is_plain = |column: AttrNo| {
        let attr = (column as usize).checked_sub(1).and_then(|i| attrs.get(i));
        attr.is_some_and(|a| a.len == -1 && a.storage == ColumnStorage::Plain)
    };
    let mut found = Vec::new();
    if !index.columns.iter().any(|&column| column > 0 && is_plain(column)) {
        return Ok(found);
    }
    let Some(bytes) = copy_version(be, table, tid)? else { return Ok(found) };
    let Some(version) = HeapTuple::from_bytes(&bytes) else { return Ok(found) };
    for (n, &column) in index.columns.iter().enumerate() {
        if column > 0
            && is_plain(column)
            && let Value::Raw(raw) = table.deformer().get(&version, column as usize - 1)?
            && varlena::is_compressed(raw)
        {
            found.push((n, raw.to_vec()));
        }
    }
    Ok(found)
}

/// State of a bulk load: its buffer ring, its current page, memory for tuples.
pub struct BulkInsert {
    inner: heap::BulkInsert,
    tuples: heap::Tuples,
}

impl BulkInsert {
    pub fn new(be: &Backend, table: &TableDesc) -> BulkInsert {
        let inner = heap::BulkInsert::new(be.pool(table.persistence));
        BulkInsert { inner, tuples: heap::Tuples::default() }
    }

    /// The state for INSERT, which uses no ring.
    pub fn without_ring() -> BulkInsert {
        let inner = heap::BulkInsert::without_ring();
        BulkInsert { inner, tuples: heap::Tuples::default() }
    }

    /// Ends the bulk load.
    pub fn finish(self, be: &Backend, table: &TableDesc) -> Result<()> {
        self.inner.finish(table.heap(be), be.pool(table.persistence))
    }
}

/// Inserts all rows of `rows` (columns as in [`insert`]). Their TIDs are appended to `tids`.
pub fn multi_insert(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    rows: &Batch,
    options: InsertOptions,
    bulk: &mut BulkInsert,
    tids: &mut Vec<Tid>,
) -> Result<()> {
    let BulkInsert { inner, tuples } = bulk;
    tuples.clear();
    let mut values = Vec::with_capacity(rows.columns.len());
    for row in 0..rows.len {
        values.clear();
        for column in &rows.columns {
            values.push(value(column.get(row)));
        }
        tuples.add(|out| {
            let base = out.len();
            page::form::form_append(&table.tupdesc, &values, out)?;
            if out.len() - base > toast::TUPLE_THRESHOLD && !table.is_toast {
                out.truncate(base);
                let prepared = toast::prepare(be, table, values.clone())?;
                let values: Vec<Value<'_>> =
                    prepared.values.iter().map(toast::Stored::value).collect();
                page::form::form_append(&table.tupdesc, &values, out)?;
            }
            Ok(())
        })?;
    }
    let rel = table.heap(be);
    let cid = command_of(be, options.command);
    let before = be.reads();
    let mut cx = be.heap_cx(table.persistence);
    heap::multi_insert(&mut cx, rel, tuples, cid, options.heap(), Some(inner), tids)?;
    count_inserted(be, table, &options, rows.len as u32, before);
    Ok(())
}

/// A token for a speculative insertion, which is locked: other transactions wait for the end of the
/// insertion instead of the end of this transaction. Counterpart:
/// `SpeculativeInsertionLockAcquire`.
pub fn begin_speculative(be: &mut Backend) -> Result<u32> {
    let xid = be.txn.current_xid()?;
    let token = be.next_speculative_token();
    let tag = LockTag::speculative(xid, token);
    let owner = be.txn.lock_owner();
    be.txn.locks().acquire(tag, LockMode::Exclusive, owner, WaitPolicy::Wait)?;
    Ok(token)
}

/// Confirms (`keep`) or aborts the speculative insertion at `tid`.
pub fn finish_speculative(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    tid: Tid,
    token: u32,
    keep: bool,
) -> Result<()> {
    let rel = table.heap(be);
    let mut cx = be.heap_cx(table.persistence);
    let result = if keep {
        heap::finish_speculative(&mut cx, rel, tid)
    } else {
        let aborted = heap::abort_speculative(&mut cx, rel, tid);
        be.count_change(table, Change::Delete);
        aborted
    };
    let xid = be.txn.current_xid()?;
    be.unlock(LockTag::speculative(xid, token), LockMode::Exclusive);
    result
}

/// A copy of the version at `tid`, visible or not.
fn copy_version(be: &mut Backend, table: &TableDesc, tid: Tid) -> Result<Option<Vec<u8>>> {
    let rel = table.heap(be);
    let mut cx = be.heap_cx(table.persistence);
    let any = Snapshot::of_kind(SnapshotKind::Any);
    heap::fetch_row_version(&mut cx, rel, tid, &any, |tuple| Ok(tuple.to_vec()))
}

/// A copy of the version at `tid` if it has values in the TOAST table.
fn copy_external(be: &mut Backend, table: &TableDesc, tid: Tid) -> Result<Option<Vec<u8>>> {
    let rel = table.heap(be);
    let mut cx = be.heap_cx(table.persistence);
    let any = Snapshot::of_kind(SnapshotKind::Any);
    let copied = heap::fetch_row_version(&mut cx, rel, tid, &any, |tuple| {
        Ok(tuple.header.has_external().then(|| tuple.to_vec()))
    })?;
    Ok(copied.flatten())
}

/// Updates the version at `tid`; `values` are as in [`insert`].
pub fn update(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    tid: Tid,
    values: &[DatumRef<'_>],
    options: ChangeOptions<'_>,
) -> Result<Updated> {
    let old_bytes = if !options.keep.is_empty() {
        copy_version(be, table, tid)?
    } else if table.toast.is_some() {
        copy_external(be, table, tid)?
    } else {
        None
    };
    // Values are pushed one by one, because `collect` would copy the whole inline array.
    let given = values;
    let mut values = Values::new();
    given.iter().for_each(|d| values.push(value(*d)));
    let old = old_bytes.as_deref().and_then(HeapTuple::from_bytes);
    let deformer = table.deformer();
    if let Some(old) = &old {
        for &column in options.keep {
            let index = column as usize - 1;
            values[index] = deformer.get(old, index)?;
        }
    }
    let mut tuple = be.take_tuple();
    page::form::form_into(&table.tupdesc, &values, &mut tuple)?;
    let old_external = old.is_some_and(|o| o.header.has_external());
    let old_xmin = old.map_or(Xid::INVALID, |o| o.header.xmin());
    let rel = table.heap(be);
    let cid = command_of(be, options.command);
    let columns =
        heap::Columns { deformer, hot_blocking: &table.indexed_columns, key: &table.key_columns };
    let persistence = table.persistence;
    let how = heap::UpdateOptions {
        columns,
        crosscheck: options.crosscheck,
        wait: options.wait == RowWait::Block,
    };
    let toasts = !table.is_toast && (tuple.len() > toast::TUPLE_THRESHOLD || old_external);
    let before = be.reads();
    let mut cx = be.heap_cx(persistence);
    let result = if !toasts {
        heap::update(&mut cx, rel, tid, &mut tuple, cid, &how)
    } else {
        // The row is locked first, so that no chunks are written for an update that fails.
        match heap::begin_update(&mut cx, rel, tid, &tuple, cid, &how) {
            Ok(Ok(pending)) => form(be, table, &values, &mut tuple).and_then(|()| {
                let cx = &mut be.heap_cx(persistence);
                heap::finish_update(cx, rel, tid, &mut tuple, pending).map(Ok)
            }),
            Ok(Err(failed)) => Ok(Err(failed)),
            Err(e) => Err(e),
        }
    };
    be.put_tuple(tuple);
    let updated = match result? {
        Ok(done) => {
            be.count_change(table, Change::Update { hot: done.hot });
            if !toasts {
                be.count_blocks(table.oid, table.is_shared(), before);
            }
            if let Some(old) = old.filter(|_| old_external) {
                let kept = kept_pointers(&values);
                toast::delete_values(be, table, &old, &|raw| kept.contains(&raw))?;
            }
            Updated {
                outcome: RowOutcome::Ok,
                tid: done.tid,
                needs_index_entries: !done.hot,
                old_xmin,
            }
        }
        Err((result, failure, _)) => {
            let outcome = outcome(result, &failure);
            Updated { outcome, tid, needs_index_entries: false, old_xmin }
        }
    };
    nowait(updated.outcome, table, options.wait)?;
    Ok(updated)
}

fn kept_pointers<'a>(values: &Values<'a>) -> Vec<&'a [u8]> {
    let raws = values.iter().filter_map(|v| match v {
        Value::Raw(raw) => Some(*raw),
        _ => None,
    });
    raws.collect()
}

fn nowait(outcome: RowOutcome, table: &TableDesc, wait: RowWait) -> Result<()> {
    if outcome == RowOutcome::WouldBlock && wait == RowWait::Error {
        return Err(not_available(table));
    }
    Ok(())
}

pub fn delete(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    tid: Tid,
    options: ChangeOptions<'_>,
) -> Result<RowOutcome> {
    let old = if table.toast.is_some() { copy_external(be, table, tid)? } else { None };
    let rel = table.heap(be);
    let cid = command_of(be, options.command);
    let before = be.reads();
    let mut cx = be.heap_cx(table.persistence);
    let how = heap::DeleteOptions {
        wait: options.wait == RowWait::Block,
        crosscheck: options.crosscheck,
        changing_partition: options.changing_partition,
    };
    match heap::delete(&mut cx, rel, tid, cid, how)? {
        Ok(()) => {
            be.count_change(table, Change::Delete);
            be.count_blocks(table.oid, table.is_shared(), before);
            if let Some(old) = old.as_deref().and_then(HeapTuple::from_bytes) {
                toast::delete_values(be, table, &old, &|_| false)?;
            }
            Ok(RowOutcome::Ok)
        }
        Err((result, failure)) => {
            let outcome = outcome(result, &failure);
            nowait(outcome, table, options.wait)?;
            Ok(outcome)
        }
    }
}

/// Number of blocks of the table.
pub fn nblocks(be: &Backend, table: &TableDesc) -> Result<u32> {
    be.pool(table.persistence).nblocks(&table.heap(be).main)
}
