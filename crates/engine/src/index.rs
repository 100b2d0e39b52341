//! Insertion of index entries, index scans that fetch rows, searches for conflicting rows.
//!
//! Counterpart: indexam.c, `heapam_index_fetch_tuple` in heapam_handler.c, the storage part of
//! nodeIndexonlyscan.c, `check_exclusion_or_unique_constraint` in execIndexing.c.

use crate::backend::Backend;
use crate::desc::{IndexDesc, TableDesc};
use crate::liveness::{DirtySearch, Probe};
use crate::rows::{self, RowReader};
use crate::table;
use access::{Insert, Row, ScanItem, ScanOptions, ScanPage};
use bufmgr::PageReads;
use heap::scan::Visit;
use heap::visibility_map::{self, VmPin};
use ids::{AttrNo, BlockNo, OffsetNo, Tid, Xid};
use page::vm;
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use std::ops::ControlFlow;
use sync::Arc;
use txn::Snapshot;
use types::{Batch, DatumRef};

pub use access::{
    Capabilities, Direction, IndexAm, IndexColumn, IndexDef, MethodInfo, OptionKind, PendingStats,
    QuerySize, RowMember, ScanKey, StorageOption, StrategyNumber, Support, SupportFunction,
    SupportKind, TupleLayout, UniqueCheck, is_on, strategy,
};

/// Size in bytes above which an entry may not fit a page. Values that are compressed in the table
/// are then stored compressed in the index.
const LARGE_ENTRY: usize = 2000;

/// Reads of the index (of one leaf page, or of several without matches) after which a batch with
/// rows is returned although there is room.
const READS_PER_BATCH: u32 = 16;

/// Outcome of an insertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    /// The entry was inserted. `unique`: there is certainly no duplicate; meaningful only if the
    /// check was not `No`.
    Done { unique: bool },
    /// The entry was not inserted, because the live row at `tid` has the same key.
    Conflict { tid: Tid },
}

/// Inserts the entry for the row at `tid`; `values` has one value per index column. Waits for
/// transactions on which uniqueness depends. `unchanged` is true if an update did not change these
/// columns.
pub fn insert(
    be: &mut Backend,
    index: &Arc<IndexDesc>,
    table: &Arc<TableDesc>,
    values: &[DatumRef<'_>],
    tid: Tid,
    check: UniqueCheck,
    unchanged: bool,
) -> Result<Inserted> {
    let mut entry = be.take_tuple();
    entry.clear();
    if !form(be, table, index, values, (tid, tid), &mut entry)? {
        be.put_tuple(entry);
        return Ok(Inserted::Done { unique: true });
    }
    be.txn.current_xid()?;
    let handle = index.open(be)?;
    let rel = table.heap(be);
    let how = Insert { check, unchanged };
    let before = be.reads();
    loop {
        let mut parts = be.index_parts(index.persistence());
        let cx = &parts.cx;
        let mut probe = Probe::new(cx.pool, cx.wal, parts.txn, rel, cx.strategy);
        let got = handle.insert(&mut parts.cx, &entry, how, &mut probe);
        let got = got.map_err(|e| naming_table(e, table))?;
        let outcome = match got {
            access::Inserted::Done { unique } => Inserted::Done { unique },
            access::Inserted::Conflict { tid } => Inserted::Conflict { tid },
            access::Inserted::Wait { xid, speculative } => {
                let waits = be.txn.waits();
                match speculative {
                    Some(token) => waits.wait_for_speculative(xid, token)?,
                    None => waits.wait_for_xid(xid).map_err(|e| inserting(e, tid, index.name()))?,
                }
                continue;
            }
        };
        be.put_tuple(entry);
        be.count_blocks(index.oid, index.is_shared(), before);
        return Ok(outcome);
    }
}

/// Adds the entry that waits for another transaction as error context. Counterpart:
/// `XactLockTableWaitErrorCb`.
fn inserting(error: PgError, tid: Tid, relation: &str) -> PgError {
    error.context(format!("while inserting index tuple {tid} in relation \"{relation}\""))
}

/// Forms an entry with TID `tid` for the row version at `at`. Returns false if the row needs no
/// entry.
pub(crate) fn form(
    be: &mut Backend,
    table: &TableDesc,
    index: &IndexDesc,
    values: &[DatumRef<'_>],
    (tid, at): (Tid, Tid),
    entry: &mut Vec<u8>,
) -> Result<bool> {
    let handle = index.open(be)?;
    let formed = handle.form(&Row { values, compressed: &[], tid }, entry);
    // A method without plain scans stores no whole columns.
    if formed.is_ok() && (entry.len() <= LARGE_ENTRY || !index.capabilities().plain_scan) {
        return formed;
    }
    let compressed = table::compressed_keys(be, table, index, at)?;
    if compressed.is_empty() {
        return formed;
    }
    entry.clear();
    handle.form(&Row { values, compressed: &compressed, tid }, entry)
}

/// Adds the table to an error that names only the index.
pub(crate) fn naming_table(error: PgError, table: &TableDesc) -> PgError {
    let names = &error.fields().names;
    match names.constraint.is_some() && names.table.is_none() {
        true => error.table(&*table.schema, &*table.name),
        false => error,
    }
}

/// The error for [`Inserted::Conflict`]: 23505. `key`, if the user may see it, consists of the
/// index's key columns (`a, lower(b)`) and the formatted values (`1, x`).
pub fn unique_violation(
    index: &IndexDesc,
    table: &TableDesc,
    key: Option<(&str, &str)>,
) -> PgError {
    let error = pg_err!(
        UNIQUE_VIOLATION,
        "duplicate key value violates unique constraint \"{}\"",
        index.name()
    )
    .table(&*table.schema, &*table.name)
    .constraint(index.name());
    match key {
        Some((keys, values)) => error.detail(format!("Key ({keys})=({values}) already exists.")),
        None => error,
    }
}

/// A live row with given key values, found with a dirty snapshot: uncommitted rows of other
/// transactions count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    pub tid: Tid,
    /// The running transaction on whose outcome the row depends; invalid if there is none.
    pub waits_for: Xid,
    pub speculative_token: u32,
    /// This transaction inserted the row version.
    pub own: bool,
}

impl Conflict {
    /// Waits for the transaction (or for the speculative insertion) on which the row depends.
    /// Returns false if it depends on none. The row is one of `table`.
    pub fn wait(&self, be: &mut Backend, table: &TableDesc) -> Result<bool> {
        if !self.waits_for.is_valid() {
            return Ok(false);
        }
        match self.speculative_token {
            0 => {
                let waited = be.txn.wait_for_xid(self.waits_for);
                waited.map_err(|e| inserting(e, self.tid, &table.name))?;
            }
            token => be.txn.waits().wait_for_speculative(self.waits_for, token)?,
        }
        Ok(true)
    }
}

/// The first live row with these key values (ON CONFLICT). A NULL equals no value.
/// Counterpart: `check_exclusion_or_unique_constraint`.
pub fn find_conflict(
    be: &mut Backend,
    index: &Arc<IndexDesc>,
    table: &Arc<TableDesc>,
    values: &[DatumRef<'_>],
) -> Result<Option<Conflict>> {
    let mut found = None;
    for_each_conflict(be, index, table, values, &mut |conflict| {
        found = Some(conflict);
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// Calls `each` with the live rows that have these key values, in index order, until it returns a
/// break. A NULL equals no value, unless the index has NULLS NOT DISTINCT.
///
/// LOCK ORDER: the rows are visited while the leaf of the entries is pinned. So VACUUM cannot
/// remove the entries, and no TID can be reused for another row, which would be visible to a dirty
/// snapshot. The heap page is latched for each row; there is no wait for a heavyweight lock.
pub fn for_each_conflict(
    be: &mut Backend,
    index: &Arc<IndexDesc>,
    table: &Arc<TableDesc>,
    values: &[DatumRef<'_>],
    each: &mut dyn FnMut(Conflict) -> ControlFlow<()>,
) -> Result<()> {
    let def = &index.def;
    let count = def.key_count;
    if !def.nulls_not_distinct && values[..count].iter().any(|v| v.is_null()) {
        return Ok(());
    }
    let equality = index.capabilities().equality;
    let keys = values[..count].iter().enumerate().map(|(column, v)| match v {
        DatumRef::Null => ScanKey::IsNull { column },
        v => ScanKey::compare(column, equality, DatumRef::to_owned(*v)),
    });
    let keys = keys.collect();
    for_each_live(be, index, table, keys, each)
}

/// Calls `each` with the live rows that the index finds for these operators between its keys and
/// the values, for an exclusion constraint; the rows must be checked. None if a value is NULL.
pub fn for_each_candidate(
    be: &mut Backend,
    index: &Arc<IndexDesc>,
    table: &Arc<TableDesc>,
    (values, strategies): (&[DatumRef<'_>], &[StrategyNumber]),
    each: &mut dyn FnMut(Conflict) -> ControlFlow<()>,
) -> Result<()> {
    let keys = values.iter().zip(strategies).enumerate();
    if keys.clone().any(|(_, (v, _))| v.is_null()) {
        return Ok(());
    }
    let keys = keys
        .map(|(column, (v, strategy))| ScanKey::compare(column, *strategy, DatumRef::to_owned(*v)));
    let keys = keys.collect();
    for_each_live(be, index, table, keys, each)
}

/// LOCK ORDER: as [`for_each_conflict`].
fn for_each_live(
    be: &mut Backend,
    index: &Arc<IndexDesc>,
    table: &Arc<TableDesc>,
    keys: Vec<ScanKey>,
    each: &mut dyn FnMut(Conflict) -> ControlFlow<()>,
) -> Result<()> {
    let rel = table.heap(be);
    let handle = index.open(be)?.clone();
    let mut scan = handle.begin_scan(keys, ScanOptions::default())?;
    let mut page = ScanPage::default();
    #[cfg(test)]
    let mut entries_read = be.entries_read.take();
    let (mut read, mut fetched) = (0, 0);
    let mut parts = be.index_parts(index.persistence());
    let cx = &mut parts.cx;
    let mut probe = Probe::new(cx.pool, cx.wal, parts.txn, rel, cx.strategy);
    'scan: while let Some(pin) = scan.next_page(cx, Direction::Forward, &mut page, None)? {
        (cx.check_interrupts)()?;
        #[cfg(test)]
        entries_read.iter_mut().for_each(|hook| hook());
        for item in &page.items {
            read += 1;
            let DirtySearch::Live { tid, info, own } = probe.dirty(item.tid)? else { continue };
            fetched += 1;
            let waits_for = if info.xmin.is_valid() { info.xmin } else { info.xmax };
            let speculative_token = info.speculative_token;
            if each(Conflict { tid, waits_for, speculative_token, own }).is_break() {
                break 'scan;
            }
        }
        drop(pin);
    }
    let counts = be.stats.relation(index.oid, index.is_shared());
    counts.scans += i64::from(page.searches);
    counts.returned += read;
    counts.fetched += fetched;
    Ok(())
}

#[derive(Clone, Copy, Debug, Default)]
pub struct IndexScanOptions {
    /// Columns are read from the index if the heap page is all-visible. The index must have all of
    /// them.
    pub index_only: bool,
}

/// An index scan that fetches rows in index order.
pub struct IndexScan {
    table: Arc<TableDesc>,
    index: Arc<IndexDesc>,
    snapshot: Arc<Snapshot>,
    scan: Box<dyn access::IndexScan>,
    /// The entries of the current index page.
    page: ScanPage,
    /// Index of the current entry in `page`.
    at: usize,
    mark: Mark,
    reader: RowReader,
    /// For index-only scans: index column (from 0) of each requested column.
    from_index: SmallVec<[usize; 4]>,
    index_only: bool,
    last_block: BlockNo,
    current: Tid,
    heap_fetches: u64,
    /// Number of visible rows that were fetched from the table.
    rows_fetched: u64,
    /// Pages of the index that were read for the current batch.
    index_reads: PageReads,
    /// The scan has reached its end in this direction.
    ended: Option<Direction>,
    /// Rows of the last batch whose conditions must be checked again.
    rechecks: Vec<usize>,
    scratch: Vec<u8>,
}

/// The marked entry of a scan.
enum Mark {
    None,
    /// On the current page.
    Here {
        at: usize,
    },
    /// On a page that the scan has left.
    Away {
        page: ScanPage,
        at: usize,
    },
}

impl IndexScan {
    /// `columns` are numbers of the table's columns, or of system columns unless index-only.
    pub fn new(
        be: &mut Backend,
        table: &Arc<TableDesc>,
        index: &Arc<IndexDesc>,
        snapshot: Arc<Snapshot>,
        keys: Vec<ScanKey>,
        columns: &[AttrNo],
        options: IndexScanOptions,
    ) -> Result<IndexScan> {
        let mut from_index = SmallVec::new();
        if options.index_only {
            for column in columns {
                let at = index.columns.iter().position(|c| c == column && *c != 0);
                from_index.push(at.ok_or_else(|| {
                    pg_err!(INTERNAL_ERROR, "index \"{}\" has no column {column}", index.name())
                })?);
            }
        }
        let handle = index.open(be)?.clone();
        let wanted = ScanOptions { want_tuples: options.index_only, include_killed: false };
        Ok(IndexScan {
            table: table.clone(),
            index: index.clone(),
            snapshot,
            scan: handle.begin_scan(keys, wanted)?,
            page: ScanPage::default(),
            at: 0,
            mark: Mark::None,
            reader: RowReader::new(table, columns)?,
            from_index,
            index_only: options.index_only,
            last_block: BlockNo::INVALID,
            current: Tid::INVALID,
            heap_fetches: 0,
            rows_fetched: 0,
            index_reads: PageReads::default(),
            ended: None,
            rechecks: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Appends up to `rows_max` rows; fewer if further rows are many index pages away, because the
    /// caller may need only the first ones. Returns false if there were none left in this
    /// direction.
    pub fn next_batch(
        &mut self,
        be: &mut Backend,
        direction: Direction,
        batch: &mut Batch,
        rows_max: usize,
    ) -> Result<bool> {
        let begin = batch.len;
        self.reader.begin();
        self.rechecks.clear();
        let (before, fetches_before) = (be.reads(), self.rows_fetched);
        let mut entries = 0;
        let mut reads = 0;
        while batch.len - begin < rows_max && !self.reader.is_full() {
            be.check_interrupts()?;
            if self.ended == Some(direction) {
                break;
            }
            let patient = batch.len == begin;
            let Some(item) = self.next_item(be, direction, patient, &mut reads)? else { break };
            entries += 1;
            if self.index_only && item.all_visible {
                self.push_from_index(&item, batch)?;
                self.current = item.tid;
            } else if !self.fetch(be, &item, batch)? {
                continue;
            }
            if item.recheck {
                self.rechecks.push(batch.len - 1);
            }
        }
        self.count(be, entries, self.rows_fetched - fetches_before, before);
        self.reader.finish(be, &self.table, batch)?;
        Ok(batch.len > begin)
    }

    /// Adds the work of a batch to the statistics. The pages that were read since `before` are
    /// those of the table, except for the index's.
    fn count(&mut self, be: &mut Backend, entries: i64, fetched: u64, before: PageReads) {
        let used = be.reads() - before;
        let of_index = std::mem::take(&mut self.index_reads);
        let counts = be.stats.relation(self.index.oid, self.index.is_shared());
        counts.scans += i64::from(std::mem::take(&mut self.page.searches));
        counts.returned += entries;
        counts.fetched += fetched as i64;
        counts.blocks_fetched += (of_index.hit + of_index.read) as i64;
        counts.blocks_hit += of_index.hit as i64;
        let of_table = used - of_index;
        if of_table.hit + of_table.read != 0 {
            let counts = be.stats.relation(self.table.oid, self.table.is_shared());
            counts.blocks_fetched += (of_table.hit + of_table.read) as i64;
            counts.blocks_hit += of_table.hit as i64;
        }
    }

    /// Moves to the next entry. None at the end, which `ended` then shows, and also after
    /// `READS_PER_BATCH` reads of the index unless `patient`.
    #[inline]
    fn next_item(
        &mut self,
        be: &mut Backend,
        direction: Direction,
        patient: bool,
        reads: &mut u32,
    ) -> Result<Option<ScanItem>> {
        let next = match direction {
            Direction::Forward => self.at + 1,
            Direction::Backward => self.at.wrapping_sub(1),
        };
        if let Some(item) = self.page.items.get(next) {
            self.at = next;
            return Ok(Some(*item));
        }
        while patient || *reads < READS_PER_BATCH {
            *reads += 1;
            if !self.next_page(be, direction)? {
                self.ended = Some(direction);
                return Ok(None);
            }
            self.ended = None;
            let first = direction.first_of(self.page.items.len());
            if let Some(item) = self.page.items.get(first) {
                self.at = first;
                return Ok(Some(*item));
            }
            if !patient {
                break;
            }
        }
        Ok(None)
    }

    /// Reads the next matches; none if several pages contained none. Returns false at the end.
    fn next_page(&mut self, be: &mut Backend, direction: Direction) -> Result<bool> {
        self.leave_mark();
        let before = be.reads();
        let more = self.read_page(be, direction);
        self.index_reads += be.reads() - before;
        more
    }

    fn read_page(&mut self, be: &mut Backend, direction: Direction) -> Result<bool> {
        let IndexScan { scan, page, index, table, index_only, .. } = self;
        let rel = table.heap(be);
        let mut cx = be.index_cx(index.persistence());
        if !*index_only {
            return Ok(scan.next_page(&mut cx, direction, page, None)?.is_some());
        }
        let pool = cx.pool;
        let mut slot: Option<VmPin<'_>> = None;
        let mut strategy = bufmgr::Strategy::normal().like(cx.strategy);
        let mut all_visible = |block: BlockNo| -> Result<bool> {
            let bits = visibility_map::status(pool, rel, block, &mut slot, &mut strategy)?;
            Ok(bits & vm::ALL_VISIBLE != 0)
        };
        Ok(scan.next_page(&mut cx, direction, page, Some(&mut all_visible))?.is_some())
    }

    /// Keeps the entries of the current page if one of them is marked. Called before the scan
    /// leaves the page.
    #[inline]
    fn leave_mark(&mut self) {
        if let Mark::Here { at } = self.mark {
            self.mark = Mark::Away { page: std::mem::take(&mut self.page), at };
        }
    }

    fn push_from_index(&mut self, item: &ScanItem, batch: &mut Batch) -> Result<()> {
        let Some(tuple) = self.page.tuple(item) else {
            return Err(PgError::internal("index-only scan without index tuples"));
        };
        let def = &self.index.def;
        for (column, &at) in batch.columns.iter_mut().zip(&self.from_index) {
            match def.fetched_layout().column(tuple, at, &mut self.scratch)? {
                // An index stores a `name` as cstring, whereas the table's column pads it to 64
                // bytes.
                types::DatumRef::Bytes(b) if def.columns[at].attr.len == -2 => {
                    let mut padded = [0; 64];
                    let len = b.len().min(padded.len());
                    padded[..len].copy_from_slice(&b[..len]);
                    column.push(types::DatumRef::Bytes(&padded));
                }
                value => column.push(value),
            }
        }
        batch.len += 1;
        Ok(())
    }

    fn fetch(&mut self, be: &mut Backend, item: &ScanItem, batch: &mut Batch) -> Result<bool> {
        self.heap_fetches += 1;
        let tid = item.tid;
        let prune = tid.block != std::mem::replace(&mut self.last_block, tid.block);
        let rel = self.table.heap(be);
        let deformer = self.table.deformer();
        let reader = &mut self.reader;
        let mut all_dead = false;
        let mut cx = be.heap_cx(self.table.persistence);
        let found = heap::fetch_tid(
            &mut cx,
            rel,
            tid,
            &self.snapshot,
            Some(&mut all_dead),
            prune,
            |tid, tuple| {
                reader.push(deformer, tid, &tuple, batch)?;
                Ok(tid)
            },
        )?;
        match found {
            Some(tid) => {
                self.current = tid;
                self.rows_fetched += 1;
            }
            None if all_dead => self.scan.kill(self.at, item),
            None => {}
        }
        Ok(found.is_some())
    }

    /// True if the last batch reached the end.
    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// TID of the row returned last.
    pub fn current(&self) -> Tid {
        self.current
    }

    /// The rows of the last batch whose conditions the caller must check again, because the access
    /// method is lossy: their numbers in the batch, ascending.
    pub fn rechecks(&self) -> &[usize] {
        &self.rechecks
    }

    /// Discards the current page before the scan restarts.
    fn restart(&mut self) {
        self.ended = None;
        self.mark = Mark::None;
        self.page.clear();
    }

    /// Restarts the scan with the same conditions and other values: `values[n]` is for condition
    /// number `n`, if that is a plain comparison. Values of fixed width require no allocation.
    pub fn rescan_values(&mut self, be: &mut Backend, values: &[DatumRef<'_>]) -> Result<()> {
        self.restart();
        self.scan.rescan_values(&mut be.index_cx(self.index.persistence()), values)
    }

    /// Sets the snapshot for the next rescan. So several statements can use the same scan. Between
    /// them it must have no snapshot: see [`IndexScan::release`].
    pub fn set_snapshot(&mut self, snapshot: Arc<Snapshot>) {
        self.snapshot = snapshot;
    }

    /// Ends the scan and releases its snapshot. [`IndexScan::set_snapshot`] and a rescan make it
    /// usable again.
    pub fn release(&mut self, be: &mut Backend) -> Result<()> {
        self.snapshot = be.no_snapshot();
        self.end(be)
    }

    /// Restarts the scan with other conditions.
    pub fn rescan(&mut self, be: &mut Backend, keys: Vec<ScanKey>) -> Result<()> {
        self.restart();
        self.scan.rescan(&mut be.index_cx(self.index.persistence()), keys)
    }

    /// Marks the row returned last. Requires batches of one row, and a method with marks.
    pub fn mark(&mut self) {
        if self.page.items.is_empty() {
            self.mark = Mark::None;
            return;
        }
        if !matches!(self.mark, Mark::Here { .. }) {
            self.scan.mark();
        }
        self.mark = Mark::Here { at: self.at };
    }

    /// Returns to the marked row: the next row returned is the one after it.
    pub fn restore(&mut self, be: &mut Backend) -> Result<()> {
        self.ended = None;
        match std::mem::replace(&mut self.mark, Mark::None) {
            Mark::Here { at } => self.at = at,
            Mark::Away { page, at } => {
                self.scan.restore(&mut be.index_cx(self.index.persistence()))?;
                (self.page, self.at) = (page, at);
            }
            Mark::None => {
                self.page.clear();
                return self.scan.end(&mut be.index_cx(self.index.persistence()));
            }
        }
        self.mark = Mark::Here { at: self.at };
        Ok(())
    }

    /// Ends the scan, and marks the entries that were found dead. A scan may also be dropped
    /// without this call.
    pub fn end(&mut self, be: &mut Backend) -> Result<()> {
        self.leave_mark();
        self.page.clear();
        self.scan.end(&mut be.index_cx(self.index.persistence()))
    }

    /// Number of rows that were fetched from the table.
    pub fn heap_fetches(&self) -> u64 {
        self.heap_fetches
    }
}

/// Calls `each` with all matching TIDs, and whether the conditions must be checked again for the
/// row. Returns the number of TIDs. For bitmap scans: the index pages are not pinned afterwards, so
/// the rows must be fetched by an MVCC snapshot that was taken before.
pub fn scan_tids(
    be: &mut Backend,
    index: &Arc<IndexDesc>,
    keys: Vec<ScanKey>,
    each: &mut dyn FnMut(Tid, bool),
) -> Result<u64> {
    let mut scan = index.open(be)?.clone().begin_scan(keys, ScanOptions::default())?;
    let before = be.reads();
    let mut cx = be.index_cx(index.persistence());
    let mut page = ScanPage::default();
    let mut count = 0;
    while scan.next_page(&mut cx, Direction::Forward, &mut page, None)?.is_some() {
        (cx.check_interrupts)()?;
        page.items.iter().for_each(|item| each(item.tid, item.recheck));
        count += page.items.len() as u64;
    }
    scan.end(&mut cx)?;
    let counts = be.stats.relation(index.oid, index.is_shared());
    counts.scans += i64::from(page.searches);
    counts.returned += count as i64;
    be.count_blocks(index.oid, index.is_shared(), before);
    Ok(count)
}

/// Fetches the rows of a bitmap, block by block.
pub struct BitmapFetch {
    table: Arc<TableDesc>,
    reader: RowReader,
}

impl BitmapFetch {
    pub fn new(table: &Arc<TableDesc>, columns: &[AttrNo]) -> Result<BitmapFetch> {
        Ok(BitmapFetch { table: table.clone(), reader: RowReader::new(table, columns)? })
    }

    /// Appends the visible rows of the candidate TIDs of one block (`None`: all rows of the page).
    /// Blocks beyond the end of the table are ignored.
    pub fn block(
        &mut self,
        be: &mut Backend,
        block: BlockNo,
        offsets: Option<&[OffsetNo]>,
        snapshot: &Snapshot,
        batch: &mut Batch,
    ) -> Result<()> {
        be.check_interrupts()?;
        let BitmapFetch { table, reader } = self;
        let rel = table.heap(be);
        let deformer = table.deformer();
        let (before, rows_before) = (be.reads(), batch.len);
        let mut cx = be.heap_cx(table.persistence);
        if block.0 >= cx.pool.nblocks(&rel.main)? {
            return Ok(());
        }
        match offsets {
            None => {
                let visit = Visit::WHOLE;
                heap::scan::visit_page(&mut cx, rel, block, snapshot, visit, |offset, tuple| {
                    reader.push(deformer, Tid::new(block, offset), &tuple, batch)?;
                    Ok(true)
                })?;
            }
            Some(offsets) => {
                heap::fetch_entries(&mut cx, rel, block, offsets, snapshot, |tid, tuple| {
                    reader.push(deformer, tid, &tuple, batch)
                })?;
            }
        }
        be.stats.relation(table.oid, table.is_shared()).fetched += (batch.len - rows_before) as i64;
        be.count_blocks(table.oid, table.is_shared(), before);
        reader.finish(be, table, batch)
    }
}

/// An empty batch for index-only scans of these table columns.
pub fn new_batch(table: &TableDesc, columns: &[AttrNo]) -> Batch {
    Batch::new(columns.iter().map(|c| rows::is_by_val(table, *c)))
}

/// Number of levels above the leaves, for the planner; `None` if the index is not a tree.
pub fn height(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<Option<u32>> {
    let handle = index.open(be)?;
    handle.height(&mut be.index_cx(index.persistence()))
}

/// Statistics for the planner of an index with a pending list; `None` if the method has none.
pub fn pending_stats(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<Option<PendingStats>> {
    let handle = index.open(be)?;
    handle.pending_stats(&mut be.index_cx(index.persistence()))
}

/// How many keys a scan with this condition looks up; `None` if the method does not look up keys.
pub fn query_size(
    be: &mut Backend,
    index: &Arc<IndexDesc>,
    column: usize,
    strategy: StrategyNumber,
    value: DatumRef<'_>,
) -> Result<Option<QuerySize>> {
    index.open(be)?.query_size(column, strategy, value)
}

/// Moves the entries of the pending list to where scans look them up. Returns the number of pages
/// that were removed.
pub fn flush_pending(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<u32> {
    let handle = index.open(be)?.clone();
    handle.flush_pending(&mut be.index_cx(index.persistence()))
}

/// Number of blocks of the index.
pub fn nblocks(be: &Backend, index: &IndexDesc) -> Result<u32> {
    let pool = be.pool(index.persistence());
    pool.nblocks(&pool.open(index.file(), ids::Fork::Main, index.persistence()))
}

pub use crate::build::{BuildResult, FormatKey, NewIndex, Owner, RowToEntry, build, build_empty};
