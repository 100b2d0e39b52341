//! VACUUM of one table: removes dead rows and their index entries, freezes old ids, updates the
//! visibility map and the free space map, truncates empty pages at the end.
//!
//! Reading order: `dead` (the dead line pointers found), `delay` (cost-based), `passes` (over the
//! indexes and over the pages with dead line pointers), `shorten` (truncation). All passes read
//! pages ahead and use one small ring of buffers.
//!
//! Counterpart: vacuumlazy.c.

mod dead;
mod delay;
mod passes;
mod shorten;

use crate::backend::Backend;
use crate::desc::{IndexDesc, TableDesc};
use crate::table;
use bufmgr::Strategy;
use dead::DeadItems;
use delay::Delay;
use heap::freeze::{Cutoffs, Kept};
use heap::vacuum::{MapPage, PageReport, new_or_empty, scan_page, scan_page_without_pruning};
use heap::{HeapCx, HeapRel};
use ids::{BlockNo, MultiXid, OffsetNo, Xid};
use page::vm;
use pgerror::{PgError, Result, Severity, pg_err};
use stats::{Command, Progress};
use std::time::Duration;
use sync::Arc;
use sync::atomic::AtomicU32;

/// Parameters of a VACUUM. The defaults are those of the settings.
#[derive(Clone, Debug)]
pub struct VacuumOptions {
    pub freeze_min_age: u32,
    pub freeze_table_age: u32,
    pub multixact_freeze_min_age: u32,
    pub multixact_freeze_table_age: u32,
    pub failsafe_age: u32,
    pub multixact_failsafe_age: u32,
    /// The option DISABLE_PAGE_SKIPPING.
    pub disable_page_skipping: bool,
    /// The option INDEX_CLEANUP; `None` is AUTO.
    pub index_cleanup: Option<bool>,
    pub truncate: bool,
    /// The table has indexes that are not in the given list. Their entries are kept, and so are the
    /// dead line pointers to which they refer. INDEX_CLEANUP must be off.
    pub has_other_indexes: bool,
    /// Memory for dead TIDs, in bytes.
    pub maintenance_work_mem: usize,
    /// `norsu.vacuum_ring`, in bytes: the size of the ring of buffers; 0: no ring.
    pub ring_bytes: usize,
    /// `vacuum_cost_delay`; zero is off.
    pub cost_delay: Duration,
    /// Other threads may change it while the VACUUM runs.
    pub cost_limit: Arc<AtomicU32>,
    /// `vacuum_cost_page_hit`, `vacuum_cost_page_miss`, `vacuum_cost_page_dirty`.
    pub page_costs: [u64; 3],
    pub is_autovacuum: bool,
    pub for_wraparound: bool,
    /// `relfrozenxid` and `relminmxid` of the table before this VACUUM.
    pub rel_frozen_xid: Xid,
    pub rel_min_mxid: MultiXid,
    /// `relpages` and `reltuples` of the table before this VACUUM.
    pub rel_pages: u32,
    pub rel_tuples: f64,
}

impl Default for VacuumOptions {
    fn default() -> VacuumOptions {
        VacuumOptions {
            freeze_min_age: 50_000_000,
            freeze_table_age: 150_000_000,
            multixact_freeze_min_age: 5_000_000,
            multixact_freeze_table_age: 150_000_000,
            failsafe_age: 1_600_000_000,
            multixact_failsafe_age: 1_600_000_000,
            disable_page_skipping: false,
            index_cleanup: None,
            truncate: true,
            has_other_indexes: false,
            maintenance_work_mem: 64 << 20,
            ring_bytes: bufmgr::VACUUM_RING,
            cost_delay: Duration::ZERO,
            cost_limit: Arc::new(AtomicU32::new(200)),
            page_costs: [1, 2, 20],
            is_autovacuum: false,
            for_wraparound: false,
            rel_frozen_xid: Xid::INVALID,
            rel_min_mxid: MultiXid::INVALID,
            rel_pages: 0,
            rel_tuples: -1.0,
        }
    }
}

/// Result of a VACUUM, for `pg_class`, statistics and VERBOSE.
#[derive(Clone, Debug, Default)]
pub struct VacuumResult {
    pub pages: u32,
    pub all_visible: u32,
    pub scanned_pages: u32,
    pub removed_pages: u32,
    pub frozen_pages: u32,
    pub live_tuples: f64,
    /// Estimated number of live rows of the whole table, for `reltuples`.
    pub rel_tuples: f64,
    pub tuples_deleted: u64,
    pub recently_dead_tuples: u64,
    pub dead_items: u64,
    pub index_scans: u32,
    pub new_frozen_xid: Xid,
    pub new_min_mxid: MultiXid,
    /// The results of the indexes.
    pub indexes: Vec<IndexVacuumResult>,
    pub failsafe: bool,
    pub aggressive: bool,
    /// Rows that were deleted before this transaction id were removed.
    pub oldest_xmin: Xid,
    /// Pages with dead line pointers.
    pub dead_pages: u32,
    /// The entries of dead rows were kept, and so are their line pointers.
    pub bypassed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct IndexVacuumResult {
    pub pages: u32,
    pub tuples: f64,
    pub tuples_removed: f64,
    pub pages_newly_deleted: u32,
    pub pages_deleted: u32,
    pub pages_free: u32,
    /// `tuples` is an estimate and must not be stored in the catalog.
    pub estimated: bool,
}

/// Shorter ranges of skippable pages are read. Counterpart: `SKIP_PAGES_THRESHOLD`.
const SKIP_PAGES_MIN: u32 = 32;
/// Index vacuuming is bypassed if less than this fraction of the pages has dead line pointers.
/// Counterpart: `BYPASS_THRESHOLD_PAGES`.
const BYPASS_PAGES_SHARE: f64 = 0.02;

/// Interval between checks of the failsafe: 4 GB. Counterpart: `FAILSAFE_EVERY_PAGES`.
const FAILSAFE_EVERY_BLOCKS: u32 = (4 << 30) / page::PAGE_SIZE as u32;

/// Parameters of `pg_stat_progress_vacuum`, and the values of the first.
mod progress {
    pub(super) const PHASE: usize = 0;
    pub(super) const BLOCKS_TOTAL: usize = 1;
    pub(super) const BLOCKS_SCANNED: usize = 2;
    pub(super) const BLOCKS_VACUUMED: usize = 3;
    pub(super) const INDEX_PASSES: usize = 4;
    pub(super) const DEAD_MAX: usize = 5;
    pub(super) const DEAD: usize = 6;

    pub(super) const SCAN_HEAP: i64 = 1;
    pub(super) const VACUUM_INDEXES: i64 = 2;
    pub(super) const VACUUM_HEAP: i64 = 3;
    pub(super) const CLEAN_UP_INDEXES: i64 = 4;
    pub(super) const TRUNCATE: i64 = 5;
    pub(super) const FINAL_CLEANUP: i64 = 6;
}

struct Vacuum<'a> {
    table: &'a TableDesc,
    progress: Arc<Progress>,
    indexes: &'a [Arc<IndexDesc>],
    options: &'a VacuumOptions,
    cutoffs: Cutoffs,
    kept: Kept,
    aggressive: bool,
    /// Pages that may have unfrozen tuples were skipped, so `relfrozenxid` cannot be advanced.
    skipped_visible: bool,
    dead: DeadItems,
    dead_pages: u32,
    nonempty_pages: u32,
    stats: Vec<Option<access::BulkDeleteResult>>,
    delay: Delay,
    phase: Phase,
    result: VacuumResult,
}

/// Current phase, for the context of errors. Counterpart: `VacErrPhase`.
#[derive(Clone, Copy)]
enum Phase {
    Start,
    Scan(Option<BlockNo>, OffsetNo),
    FreeDead(Option<BlockNo>, OffsetNo),
    /// The index with this number is vacuumed.
    VacuumIndex(usize),
    CleanUpIndex(usize),
    /// The table is truncated to this number of blocks.
    Truncate(u32),
}

/// Vacuums the table in a transaction of its own. The caller holds ShareUpdateExclusive on the
/// table.
pub fn vacuum(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    indexes: &[Arc<IndexDesc>],
    options: &VacuumOptions,
) -> Result<VacuumResult> {
    be.txn.set_in_vacuum(options.for_wraparound);
    let txns = be.storage().txns.clone();
    let horizons = txns.horizons_for(be.database(), be.txn.proc());
    let oldest_xmin = horizons.of_kind(table.horizon());
    let oldest_multi = txns.oldest_multixact();
    let (freeze_limit, multi_cutoff) = freeze_limits(be, oldest_xmin, oldest_multi, options);
    let next = txns.next_full_xid().xid();
    let aggressive = options.disable_page_skipping
        || options.rel_frozen_xid.precedes_or_equals(before(next, options.freeze_table_age));
    let progress = be.stats.begin_progress(Command::Vacuum, table.oid);
    let mut vacuum = Vacuum {
        table,
        progress,
        indexes,
        options,
        cutoffs: Cutoffs {
            relfrozenxid: options.rel_frozen_xid,
            relminmxid: options.rel_min_mxid,
            oldest_xmin,
            freeze_limit,
            multi_cutoff,
        },
        kept: Kept { xid: oldest_xmin, multi: oldest_multi },
        aggressive,
        skipped_visible: false,
        dead: DeadItems::default(),
        dead_pages: 0,
        nonempty_pages: 0,
        stats: vec![None; indexes.len()],
        delay: Delay::new(be.waiter(), options),
        phase: Phase::Start,
        result: VacuumResult { oldest_xmin, aggressive, ..VacuumResult::default() },
    };
    let done = vacuum.run(be);
    be.stats.end_progress();
    match done {
        Ok(()) => Ok(vacuum.result),
        Err(e) => Err(vacuum.in_context(e)),
    }
}

/// The id that is `age` older.
fn before(xid: Xid, age: u32) -> Xid {
    let limit = Xid(xid.0.wrapping_sub(age));
    if limit.is_normal() { limit } else { Xid::FIRST_NORMAL }
}

fn multi_before(multi: MultiXid, age: u32) -> MultiXid {
    let limit = MultiXid(multi.0.wrapping_sub(age));
    if limit.is_valid() { limit } else { MultiXid::FIRST }
}

/// Older ids are frozen. Warns if a running or prepared transaction, or a snapshot, keeps ids from
/// being frozen for so long that wraparound comes near. Counterpart: `vacuum_set_xid_limits`.
fn freeze_limits(
    be: &mut Backend,
    oldest_xmin: Xid,
    oldest_multi: MultiXid,
    options: &VacuumOptions,
) -> (Xid, MultiXid) {
    let txns = be.storage().txns.clone();
    let max_age = txns.freeze_max_ages().0;
    let mut limit = before(oldest_xmin, options.freeze_min_age.min(max_age / 2));
    if limit.precedes(before(txns.next_full_xid().xid(), max_age)) {
        let warning = pg_err!(WARNING, "oldest xmin is far in the past").hint(
            "Close open transactions soon to avoid wraparound problems.\n\
             You might also need to commit or roll back old prepared transactions, or drop stale \
             replication slots.",
        );
        be.txn.add_warnings(vec![warning.severity(Severity::Warning)]);
        limit = oldest_xmin;
    }
    let max_age = txns.multixact_freeze_max_age();
    let mut cutoff = multi_before(oldest_multi, options.multixact_freeze_min_age.min(max_age / 2));
    let safe = multi_before(txns.next_multixact(), max_age);
    if cutoff.precedes(safe) {
        let warning = pg_err!(WARNING, "oldest multixact is far in the past")
            .hint("Close open transactions with multixacts soon to avoid wraparound problems.");
        be.txn.add_warnings(vec![warning.severity(Severity::Warning)]);
        cutoff = if oldest_multi.precedes(safe) { oldest_multi } else { safe };
    }
    (limit, cutoff)
}

impl Vacuum<'_> {
    /// Adds the current phase to the context of an error or warning.
    /// Counterpart: `vacuum_error_callback`.
    fn in_context(&self, e: PgError) -> PgError {
        let relation = format!("relation \"{}.{}\"", self.table.schema, self.table.name);
        let within = |verb: &str, block: Option<BlockNo>, offset: OffsetNo| match (block, offset) {
            (None, _) => format!("while {verb} {relation}"),
            (Some(block), 0) => format!("while {verb} block {block} of {relation}"),
            (Some(block), offset) => {
                format!("while {verb} block {block} offset {offset} of {relation}")
            }
        };
        let index = |n: usize| self.indexes[n].name();
        let phase = match self.phase {
            Phase::Start => return e,
            Phase::Scan(block, offset) => within("scanning", block, offset),
            Phase::FreeDead(block, offset) => within("vacuuming", block, offset),
            Phase::VacuumIndex(n) => {
                format!("while vacuuming index \"{}\" of {relation}", index(n))
            }
            Phase::CleanUpIndex(n) => {
                format!("while cleaning up index \"{}\" of {relation}", index(n))
            }
            Phase::Truncate(blocks) => format!("while truncating {relation} to {blocks} blocks"),
        };
        e.context(phase)
    }

    fn run(&mut self, be: &mut Backend) -> Result<()> {
        let pages = table::nblocks(be, self.table)?;
        self.result.pages = pages;
        self.progress.set(progress::PHASE, progress::SCAN_HEAP);
        self.progress.set(progress::BLOCKS_TOTAL, pages.into());
        self.progress.set(progress::DEAD_MAX, self.dead_max());
        let pool = be.pool(self.table.persistence);
        let mut strategy = Strategy::vacuum(pool, self.options.ring_bytes).like(&be.strategy);
        let (mut block, mut next_failsafe) = (0, 0);
        // Number of blocks to read ahead; doubles with each read until pages are skipped.
        let mut ahead = 1;
        while block < pages {
            self.phase = Phase::Scan(Some(BlockNo(block)), 0);
            self.delay_point(be, &strategy)?;
            if block >= next_failsafe {
                self.check_failsafe(be);
                next_failsafe = block.saturating_add(FAILSAFE_EVERY_BLOCKS);
            }
            let skip = self.skippable(be, block, pages)?;
            if skip >= SKIP_PAGES_MIN {
                block += skip;
                ahead = 1;
                continue;
            }
            for at in block..(block + skip.max(1)).min(pages) {
                let main = &self.table.heap(be).main;
                let pool = be.pool(self.table.persistence);
                let count = ahead.min(pages - at);
                self.phase = Phase::Scan(Some(BlockNo(at)), 0);
                if pool.read_ahead(main, BlockNo(at), count, &mut strategy)? > 0 {
                    ahead = (2 * ahead).min(bufmgr::READ_AHEAD_MAX);
                }
                self.progress.set(progress::BLOCKS_SCANNED, at.into());
                self.scan(be, BlockNo(at), &mut strategy)?;
                self.delay_point(be, &strategy)?;
            }
            block += skip.max(1);
            if self.dead.is_full(self.options.maintenance_work_mem) {
                self.vacuum_indexes(be, &mut strategy)?;
                self.progress.set(progress::PHASE, progress::SCAN_HEAP);
            }
        }
        self.phase = Phase::Scan(None, 0);
        self.progress.set(progress::BLOCKS_SCANNED, pages.into());
        self.finish_passes(be, &mut strategy)?;
        self.progress.set(progress::PHASE, progress::FINAL_CLEANUP);
        let rel = self.table.heap(be);
        freespace::Fsm::new(be.pool(self.table.persistence), &rel.fsm).vacuum()?;
        self.result.rel_tuples = estimate_tuples(self.options, &self.result);
        self.shorten(be, &mut strategy)?;
        be.add_usage(&mut strategy);
        let rel = self.table.heap(be).clone();
        let pool = be.pool_arc(self.table.persistence);
        self.result.all_visible = heap::visibility_map::count(&pool, &rel, &mut be.strategy)?.0;
        if !self.skipped_visible {
            self.result.new_frozen_xid = self.kept.xid;
            self.result.new_min_mxid = self.kept.multi;
        }
        Ok(())
    }

    /// Checks for interrupts, and sleeps if the work since the last sleep has cost enough.
    fn delay_point(&self, be: &Backend, strategy: &Strategy) -> Result<()> {
        be.check_interrupts()?;
        if self.delay.is_off() {
            return Ok(());
        }
        // Only the builder of log records counts pages that become dirty.
        let mut used = be.buffer_usage();
        used += strategy.usage;
        self.delay.point(&used)?;
        be.check_interrupts()
    }

    /// The number of dead line pointers that the array of PostgreSQL 15 can hold, for the view of
    /// the progress. Counterpart: `dead_items_max_items`.
    fn dead_max(&self) -> i64 {
        let page_max = page::space::MAX_HEAP_TUPLES_PER_PAGE as i64;
        if self.has_no_indexes() {
            return page_max;
        }
        let fits = (self.options.maintenance_work_mem as i64 - 8) / 6;
        fits.min(i64::from(self.result.pages) * page_max).max(page_max)
    }

    /// Enables the failsafe if wraparound is near: then only freezing continues. Counterpart:
    /// `lazy_check_wraparound_failsafe`.
    fn check_failsafe(&mut self, be: &Backend) {
        if self.result.failsafe {
            return;
        }
        let txns = &be.storage().txns;
        // The failsafe is never enabled before autovacuum would run to prevent wraparound.
        let least = |age: u32, freeze_max: u32| age.max(freeze_max / 100 * 105);
        let (max, multi_max) = txns.freeze_max_ages();
        let next = txns.next_full_xid().xid().0;
        let limit = Xid(next.wrapping_sub(least(self.options.failsafe_age, max)));
        let limit = if limit.is_normal() { limit } else { Xid::FIRST_NORMAL };
        let next = txns.next_multixact().0;
        let multi_age = least(self.options.multixact_failsafe_age, multi_max);
        let multi_limit = multi_before(MultiXid(next), multi_age);
        self.result.failsafe = self.cutoffs.relfrozenxid.precedes(limit)
            || self.cutoffs.relminmxid.precedes(multi_limit);
        if self.result.failsafe {
            self.delay.switch_off();
        }
    }

    /// Number of pages from `block` on that need not be scanned. The last page is always scanned,
    /// to avoid useless attempts to truncate the table.
    fn skippable(&mut self, be: &mut Backend, block: u32, pages: u32) -> Result<u32> {
        if self.options.disable_page_skipping {
            return Ok(0);
        }
        let rel = self.table.heap(be);
        let pool = be.pool_arc(self.table.persistence);
        let mut slot = None;
        let (mut at, mut visible_only) = (block, false);
        while at + 1 < pages {
            let heap = BlockNo(at);
            let bits = heap::visibility_map::status(&pool, rel, heap, &mut slot, &mut be.strategy)?;
            let frozen = bits & vm::ALL_FROZEN != 0;
            if bits & vm::ALL_VISIBLE == 0 || self.aggressive && !frozen {
                break;
            }
            visible_only |= !frozen;
            at += 1;
        }
        let skip = at - block;
        self.skipped_visible |= visible_only && skip >= SKIP_PAGES_MIN;
        Ok(skip)
    }

    fn scan(&mut self, be: &mut Backend, block: BlockNo, strategy: &mut Strategy) -> Result<()> {
        let table = self.table;
        let rel = table.heap(be);
        let pool = be.pool_arc(table.persistence);
        let no_indexes = self.has_no_indexes();
        let cleanup = self.cleans_indexes();
        self.result.scanned_pages += 1;
        let mut cx = HeapCx { pool: &pool, ..be.heap_cx_with(table.persistence, strategy) };
        let seen = self.scan_block(&mut cx, rel, block);
        self.phase = Phase::Scan(Some(block), cx.current_offset);
        let Some(report) = seen? else {
            let space = page::PAGE_SIZE - page::header::HEADER_SIZE;
            return freespace::Fsm::new(&pool, &rel.fsm).record(block, space);
        };
        if let Some(session) = strategy.session() {
            for what in report.warnings {
                let warning = pg_err!(WARNING, "{what}").severity(Severity::Warning);
                session.warn(self.in_context(warning));
            }
        }
        let r = &mut self.result;
        r.live_tuples += f64::from(report.live_tuples);
        r.tuples_deleted += u64::from(report.removed_tuples);
        r.recently_dead_tuples += u64::from(report.recently_dead_tuples);
        r.frozen_pages += u32::from(report.frozen_tuples > 0);
        if report.has_tuples {
            self.nonempty_pages = block.0 + 1;
        }
        if report.dead.is_empty() || no_indexes || !cleanup {
            freespace::Fsm::new(&pool, &rel.fsm).record(block, report.free_space)?;
        }
        r.dead_items += report.dead.len() as u64;
        if !report.dead.is_empty() {
            self.dead_pages += 1;
            self.dead.add(block, &report.dead);
            self.progress.set(progress::DEAD, self.dead.len() as i64);
        }
        Ok(())
    }

    /// First phase for a page; `None` if it is new or empty.
    fn scan_block(
        &mut self,
        cx: &mut HeapCx<'_>,
        rel: &HeapRel,
        block: BlockNo,
    ) -> Result<Option<PageReport>> {
        let no_indexes = self.has_no_indexes();
        let mut slot = None;
        heap::visibility_map::pin(cx.pool, rel, block, &mut slot, cx.wal, cx.scratch, cx.strategy)?;
        let bits = heap::visibility_map::status(cx.pool, rel, block, &mut slot, cx.strategy)?;
        let mut guard = cx.pool.read(&rel.main, block, cx.strategy)?.exclusive();
        if new_or_empty(cx, rel, &mut guard, &slot)? {
            return Ok(None);
        }
        let report = match guard.into_pin().try_cleanup() {
            Ok(mut guard) => scan_page(
                cx,
                rel,
                &mut guard,
                &self.cutoffs,
                MapPage { bits, pin: &slot },
                &mut self.kept,
                no_indexes,
            )?,
            Err(pin) => {
                let again = pin.another();
                let mut guard = pin.share();
                let seen = scan_page_without_pruning(
                    cx,
                    rel,
                    &mut guard,
                    &self.cutoffs,
                    self.aggressive,
                    &mut self.kept,
                )?;
                drop(guard);
                match seen {
                    Some(report) => {
                        self.skipped_visible = true;
                        report
                    }
                    None => {
                        let mut guard = again.cleanup()?;
                        scan_page(
                            cx,
                            rel,
                            &mut guard,
                            &self.cutoffs,
                            MapPage { bits, pin: &slot },
                            &mut self.kept,
                            no_indexes,
                        )?
                    }
                }
            }
        };
        Ok(Some(report))
    }

    /// True if there are no indexes, so that dead line pointers can be reused at once.
    fn has_no_indexes(&self) -> bool {
        self.indexes.is_empty() && !self.options.has_other_indexes
    }

    fn cleans_indexes(&self) -> bool {
        assert!(!self.options.has_other_indexes || self.options.index_cleanup == Some(false));
        self.options.index_cleanup != Some(false) && !self.result.failsafe
    }
}

/// Estimated number of rows of the whole table, of which only some pages were scanned.
/// Counterpart: `vac_estimate_reltuples`.
fn estimate_tuples(before: &VacuumOptions, result: &VacuumResult) -> f64 {
    let (scanned, pages) = (result.scanned_pages, result.pages);
    if scanned == pages {
        return result.live_tuples;
    }
    // A small number of scanned pages, such as a partially filled last page, is not representative.
    let few = f64::from(scanned) < f64::from(pages) * 0.02;
    if (before.rel_pages == pages && few) || scanned <= 1 {
        return before.rel_tuples;
    }
    let density = match before.rel_pages {
        n if n > 0 && before.rel_tuples >= 0.0 => before.rel_tuples / f64::from(n),
        _ => result.live_tuples / f64::from(scanned),
    };
    (density * f64::from(pages - scanned) + result.live_tuples).round()
}
