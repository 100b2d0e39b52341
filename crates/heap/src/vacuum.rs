//! VACUUM of single heap pages. The engine does the rest: choice of pages, index passes, cost-based
//! delay, truncation.
//!
//! First phase, [`scan_page`]: prunes, collects dead line pointers, freezes, and determines whether
//! the page is all-visible. Then the engine removes the index entries that point to the dead line
//! pointers. Second phase, [`free_dead`]: makes these line pointers unused.
//!
//! Counterpart: `lazy_scan_prune`, `lazy_scan_noprune`, `lazy_vacuum_heap_page` in vacuumlazy.c.

use crate::context::{HeapCx, HeapRel};
use crate::freeze::{self, Cutoffs, Kept};
use crate::hio::pin_vm;
use crate::prune::{self, Removable};
use crate::record::{self, FreezeTuple};
use crate::visibility::Liveness;
use crate::visibility_map::{self, VmPin};
use bufmgr::{CleanupGuard, ExclusiveGuard, PageEdit, ShareGuard};
use ids::{BlockNo, OffsetNo, Xid};
use page::space::MAX_HEAP_TUPLES_PER_PAGE;
use page::{HeapTupleHeader, LinePointer, LpFlags, Page, vm};
use pgerror::{PgError, Result, SqlState};
use wal::{RegFlags, RmgrId};

/// Result of the scan of a page.
#[derive(Clone, Debug, Default)]
pub struct PageReport {
    /// Dead line pointers, to which index entries may point.
    pub dead: Vec<OffsetNo>,
    pub removed_tuples: u32,
    pub live_tuples: u32,
    /// Deleted, but not removable yet.
    pub recently_dead_tuples: u32,
    /// The page has tuples, so it must not be truncated.
    pub has_tuples: bool,
    pub frozen_tuples: u32,
    /// Free bytes, for the free space map.
    pub free_space: usize,
    /// The page is all-visible, and all-frozen, after the scan.
    pub all_visible: bool,
    pub all_frozen: bool,
    /// Inconsistencies that were found and corrected.
    pub warnings: Vec<String>,
}

struct PageState {
    all_visible: bool,
    all_frozen: bool,
    /// Newest xmin of an all-visible page.
    cutoff: Xid,
}

impl PageState {
    /// Takes account of a live tuple.
    #[inline]
    fn add_live(&mut self, h: &HeapTupleHeader, oldest_xmin: Xid) {
        if self.all_visible {
            let xmin = h.xmin();
            if !h.xmin_committed() || !xmin.precedes(oldest_xmin) {
                self.all_visible = false;
            } else if xmin.follows(self.cutoff) {
                self.cutoff = xmin;
            }
        }
    }
}

#[cold]
fn cannot_prune(rel: &HeapRel, block: BlockNo, offset: OffsetNo) -> PgError {
    PgError::new(
        SqlState::DATA_CORRUPTED,
        format!(
            "dead row version ({block},{offset}) of relation \"{}\" cannot be pruned",
            rel.name
        ),
    )
}

/// The visibility map's part for a page.
#[derive(Clone, Copy)]
pub struct MapPage<'p, 'a> {
    /// The page's bits before it was latched.
    pub bits: u8,
    /// The pin of the map's page.
    pub pin: &'p Option<VmPin<'a>>,
}

/// First phase, under the cleanup latch. With `no_indexes`, dead line pointers become unused at
/// once.
pub fn scan_page<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut CleanupGuard<'a>,
    cutoffs: &Cutoffs,
    map: MapPage<'_, 'a>,
    kept: &mut Kept,
    no_indexes: bool,
) -> Result<PageReport> {
    let mut report = PageReport::default();
    let mut plans: Vec<FreezeTuple> = Vec::new();
    let mut state;
    let mut retries = 0;
    'retry: loop {
        let mut global = cx.txn.global_vis(rel.horizon);
        let removable = Removable::Vacuum(cutoffs.oldest_xmin, &mut global);
        let pruned = prune::prune(cx, rel, guard, removable)?;
        report.removed_tuples += pruned.deleted;
        report.dead.clear();
        report.live_tuples = 0;
        report.recently_dead_tuples = 0;
        report.has_tuples = false;
        plans.clear();
        let mut kept_here = *kept;
        state = PageState { all_visible: true, all_frozen: true, cutoff: Xid::INVALID };
        for offset in 1..=guard.max_offset() {
            cx.current_offset = offset;
            let lp = guard.line_pointer(offset);
            match lp.flags() {
                LpFlags::Unused => continue,
                LpFlags::Redirect => {
                    report.has_tuples = true;
                    continue;
                }
                LpFlags::Dead => {
                    report.dead.push(offset);
                    continue;
                }
                LpFlags::Normal => {}
            }
            let Some(mut h) = guard.heap_header(offset) else { continue };
            let mut hint = 0;
            let vis = cx.visibility(rel, guard.lsn());
            let liveness = vis.liveness_before(&h, cutoffs.oldest_xmin, &mut hint)?;
            if hint != 0 {
                h.infomask |= hint;
                guard.set_hints(Some(cx.scratch), |x| {
                    x.set_infomask(offset, hint);
                    true
                });
            }
            match liveness {
                // The inserter aborted after the page was pruned, so prune again. That can happen
                // at most once per tuple. If the tuple is still not pruned, the page is corrupt.
                Liveness::Dead if retries <= MAX_HEAP_TUPLES_PER_PAGE => {
                    retries += 1;
                    continue 'retry;
                }
                Liveness::Dead => {
                    return Err(cannot_prune(rel, guard.block(), offset));
                }
                Liveness::Live => {
                    report.live_tuples += 1;
                    state.add_live(&h, cutoffs.oldest_xmin);
                }
                Liveness::RecentlyDead(_) => {
                    report.recently_dead_tuples += 1;
                    state.all_visible = false;
                }
                Liveness::InsertInProgress => state.all_visible = false,
                Liveness::DeleteInProgress => {
                    report.live_tuples += 1;
                    state.all_visible = false;
                }
            }
            report.has_tuples = true;
            let prepared = freeze::prepare(cx.txn, &h, offset, cutoffs, &mut kept_here)?;
            plans.extend(prepared.plan);
            state.all_frozen &= prepared.totally_frozen;
        }
        cx.current_offset = 0;
        *kept = kept_here;
        break;
    }
    if !plans.is_empty() {
        freeze_tuples(cx, rel, guard, cutoffs.freeze_limit, &plans)?;
        report.frozen_tuples = plans.len() as u32;
    }
    if no_indexes && !report.dead.is_empty() {
        let dead = std::mem::take(&mut report.dead);
        report.removed_tuples += dead.len() as u32;
        mark_unused(cx, rel, guard, &dead)?;
        let again = check_all_visible(cx, rel, guard, cutoffs.oldest_xmin)?;
        (state.all_visible, state.all_frozen, state.cutoff) =
            (again.all_visible, again.all_frozen, again.cutoff);
    }
    if !report.dead.is_empty() {
        state.all_visible = false;
    }
    update_map(cx, rel, guard, map, &state, &mut report)?;
    report.free_space = guard.heap_free_space();
    Ok(report)
}

/// Updates PD_ALL_VISIBLE and the visibility map by the result of the scan.
fn update_map<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'a>,
    map: MapPage<'_, 'a>,
    state: &PageState,
    report: &mut PageReport,
) -> Result<()> {
    let block = guard.block();
    let (visible_before, frozen_before) =
        (map.bits & vm::ALL_VISIBLE != 0, map.bits & vm::ALL_FROZEN != 0);
    let Some(pin) = map.pin else {
        return Err(PgError::internal("visibility-map page not pinned for vacuum"));
    };
    report.all_visible = state.all_visible;
    report.all_frozen = state.all_visible && state.all_frozen;
    if state.all_visible && !visible_before {
        let mut bits = vm::ALL_VISIBLE;
        if state.all_frozen {
            bits |= vm::ALL_FROZEN;
        }
        set_all_visible(cx, guard, true);
        visibility_map::set(rel, guard, pin, state.cutoff, bits, cx.wal, cx.scratch)?;
    } else if visible_before && !guard.is_all_visible() {
        if visibility_map::clear(pin, block, vm::VALID_BITS, cx.wal, cx.scratch) {
            report.warnings.push(format!(
                "page is not marked all-visible but visibility map bit is set in relation \
                 \"{}\" page {block}",
                rel.name
            ));
        }
    } else if !report.dead.is_empty() && guard.is_all_visible() {
        report.warnings.push(format!(
            "page containing LP_DEAD items is marked as all-visible in relation \"{}\" page \
             {block}",
            rel.name
        ));
        set_all_visible(cx, guard, false);
        visibility_map::clear(pin, block, vm::VALID_BITS, cx.wal, cx.scratch);
    } else if visible_before && state.all_visible && state.all_frozen && !frozen_before {
        let bits = vm::ALL_FROZEN;
        visibility_map::set(rel, guard, pin, Xid::INVALID, bits, cx.wal, cx.scratch)?;
    }
    Ok(())
}

fn set_all_visible<'a>(cx: &mut HeapCx<'a>, guard: &mut ExclusiveGuard<'a>, on: bool) {
    if guard.is_all_visible() != on {
        let mut edit = PageEdit::begin(cx.wal, cx.scratch);
        edit.change(guard, 0, RegFlags::NONE).set_all_visible(on);
        edit.finish_unlogged();
    }
}

fn freeze_tuples<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'a>,
    cutoff: Xid,
    plans: &[FreezeTuple],
) -> Result<()> {
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(guard, 0, RegFlags::STANDARD);
    for plan in plans {
        freeze::execute(page, plan);
    }
    if !rel.is_logged() {
        edit.finish_unlogged();
        return Ok(());
    }
    edit.main(&record::freeze_page_main(cutoff, plans.len() as u16));
    for plan in plans {
        edit.block_data(0, &plan.to_bytes());
    }
    let xid = cx.txn.current_xid_if_any();
    let end = edit.log(RmgrId::Heap2, record::heap2::FREEZE_PAGE, xid)?;
    cx.txn.note_record(end);
    Ok(())
}

/// Makes dead line pointers unused.
fn mark_unused<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'a>,
    offsets: &[OffsetNo],
) -> Result<()> {
    if let Some(&bad) = offsets.iter().find(|&&o| {
        let lp = guard.line_pointer(o);
        !lp.is_dead() || lp.has_storage()
    }) {
        let block = guard.block();
        return Err(PgError::new(
            SqlState::DATA_CORRUPTED,
            format!("line pointer ({block},{bad}) of relation \"{}\" is not dead", rel.name),
        ));
    }
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(guard, 0, RegFlags::STANDARD);
    for &offset in offsets {
        page.set_line_pointer(offset, LinePointer::UNUSED);
    }
    page.truncate_line_pointers();
    if !rel.is_logged() {
        edit.finish_unlogged();
        return Ok(());
    }
    edit.main(&(offsets.len() as u16).to_le_bytes());
    for offset in offsets {
        edit.block_data(0, &offset.to_le_bytes());
    }
    let xid = cx.txn.current_xid_if_any();
    let end = edit.log(RmgrId::Heap2, record::heap2::VACUUM, xid)?;
    cx.txn.note_record(end);
    Ok(())
}

/// True if all tuples of the page are visible to all snapshots, and frozen. Counterpart:
/// `heap_page_is_all_visible`.
fn check_all_visible(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'_>,
    oldest_xmin: Xid,
) -> Result<PageState> {
    let mut state = PageState { all_visible: true, all_frozen: true, cutoff: Xid::INVALID };
    let none = PageState { all_visible: false, all_frozen: false, cutoff: Xid::INVALID };
    for offset in 1..=guard.max_offset() {
        cx.current_offset = offset;
        let lp = guard.line_pointer(offset);
        if !lp.is_used() || lp.is_redirected() {
            continue;
        }
        let Some(h) = guard.heap_header(offset) else { return Ok(none) };
        let vis = cx.visibility(rel, guard.lsn());
        let mut hint = 0;
        if vis.liveness_before(&h, oldest_xmin, &mut hint)? != Liveness::Live {
            return Ok(none);
        }
        let xmin = h.xmin();
        let h = page::HeapTupleHeader { infomask: h.infomask | hint, ..h };
        if !h.xmin_committed() || !xmin.precedes(oldest_xmin) {
            return Ok(none);
        }
        if hint != 0 {
            guard.set_hints(Some(cx.scratch), |x| {
                x.set_infomask(offset, hint);
                true
            });
        }
        if xmin.follows(state.cutoff) {
            state.cutoff = xmin;
        }
        state.all_frozen &= !freeze::needs_eventual_freeze(&h);
    }
    cx.current_offset = 0;
    Ok(state)
}

/// Second phase for a page: makes the `dead` line pointers, to which no index entry points any
/// more, unused; sets the visibility map if the page is then all-visible. Returns the free space of
/// the page in bytes. Counterpart: `lazy_vacuum_heap_page`.
pub fn free_dead<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    block: BlockNo,
    dead: &[OffsetNo],
    oldest_xmin: Xid,
    vm_slot: &mut Option<VmPin<'a>>,
) -> Result<usize> {
    pin_vm(cx, rel, block, vm_slot)?;
    let mut guard = cx.pool.read(&rel.main, block, cx.strategy)?.exclusive();
    mark_unused(cx, rel, &mut guard, dead)?;
    let state = check_all_visible(cx, rel, &mut guard, oldest_xmin)?;
    if state.all_visible
        && let Some(pin) = vm_slot.as_ref()
    {
        set_all_visible(cx, &mut guard, true);
        let bits = if state.all_frozen { vm::VALID_BITS } else { vm::ALL_VISIBLE };
        visibility_map::set(rel, &mut guard, pin, state.cutoff, bits, cx.wal, cx.scratch)?;
    }
    Ok(guard.heap_free_space())
}

/// Scans a page without the cleanup latch. `None` if VACUUM must wait for that latch: it is
/// `aggressive` and tuples must be frozen. Counterpart: `lazy_scan_noprune`.
pub fn scan_page_without_pruning(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    guard: &mut ShareGuard<'_>,
    cutoffs: &Cutoffs,
    aggressive: bool,
    kept: &mut Kept,
) -> Result<Option<PageReport>> {
    let mut report = PageReport::default();
    let mut kept_here = *kept;
    for offset in 1..=guard.max_offset() {
        cx.current_offset = offset;
        match guard.line_pointer(offset).flags() {
            LpFlags::Unused => continue,
            LpFlags::Redirect => {
                report.has_tuples = true;
                continue;
            }
            LpFlags::Dead => {
                report.dead.push(offset);
                continue;
            }
            LpFlags::Normal => report.has_tuples = true,
        }
        let Some(h) = guard.heap_header(offset) else { continue };
        // If it is not aggressive, `kept` notes the old ids that remain, which limit the new
        // relfrozenxid.
        if freeze::would_freeze(cx.txn, &h, cutoffs, &mut kept_here)? && aggressive {
            return Ok(None);
        }
        let vis = cx.visibility(rel, guard.lsn());
        match vis.liveness_before(&h, cutoffs.oldest_xmin, &mut 0)? {
            Liveness::Live | Liveness::DeleteInProgress => report.live_tuples += 1,
            Liveness::Dead | Liveness::RecentlyDead(_) => report.recently_dead_tuples += 1,
            Liveness::InsertInProgress => {}
        }
    }
    cx.current_offset = 0;
    *kept = kept_here;
    report.free_space = guard.heap_free_space();
    Ok(Some(report))
}

/// Handles a new or empty page; true if it is one. The caller records it in the free space map.
/// Counterpart: `lazy_scan_new_or_empty`.
pub fn new_or_empty<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'a>,
    vm_slot: &Option<VmPin<'a>>,
) -> Result<bool> {
    if guard.is_new() {
        // Left by an extension before a crash, or about to be used: not changed.
        return Ok(true);
    }
    if !Page::is_empty(guard) {
        return Ok(false);
    }
    if !guard.is_all_visible()
        && let Some(pin) = vm_slot
    {
        let mut edit = PageEdit::begin(cx.wal, cx.scratch);
        let logged = rel.is_logged();
        // An empty page may not have been logged yet. Its image makes the record of the visibility
        // map replayable.
        let flags = RegFlags::STANDARD;
        let flags =
            if logged && !guard.lsn().is_valid() { flags | RegFlags::FORCE_IMAGE } else { flags };
        let image = flags.has(RegFlags::FORCE_IMAGE);
        edit.change(guard, 0, flags).set_all_visible(true);
        if image {
            edit.log(RmgrId::Xlog, XLOG_FPI, Xid::INVALID)?;
        } else {
            edit.finish_unlogged();
        }
        let bits = vm::VALID_BITS;
        visibility_map::set(rel, guard, pin, Xid::INVALID, bits, cx.wal, cx.scratch)?;
    }
    Ok(true)
}

/// Info byte of an XLOG record that consists of page images.
const XLOG_FPI: u8 = 0xB0;
