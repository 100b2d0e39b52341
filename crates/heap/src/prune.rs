//! Pruning: removal of dead row versions from a page, under the cleanup latch.
//!
//! Index entries point to the first line pointer of a HOT chain. If members at the start of the
//! chain are dead, the first line pointer becomes a *redirect* to the first live member, or *dead*
//! if no member is live (until VACUUM has removed the index entries). Line pointers of heap-only
//! members have no index entries, so they become unused at once.
//!
//! ```text
//! 1 → 2 → 3(live)      1 redirect→3, 2 unused, 3
//! 1 → 2(dead)          1 dead, 2 unused
//! ```
//!
//! WAL: `xl_heap_prune`, replayed by `redo::prune_page`.
//!
//! Counterpart: pruneheap.c.

use crate::context::{HeapCx, HeapRel};
use crate::record;
use crate::visibility::{Liveness, Visibility, update_xid};
use bufmgr::{CleanupGuard, PageEdit, Pin, ShareGuard};
use ids::{OffsetNo, Xid};
use page::space::MAX_HEAP_TUPLES_PER_PAGE;
use page::{HeapTupleHeader, LinePointer, Page};
use pgerror::Result;
use smallvec::SmallVec;
use txn::{GlobalVis, TxnManager};
use wal::{RegFlags, RmgrId};

/// The changes that pruning makes to a page. Short lists need no allocation.
#[derive(Clone, Debug, Default)]
pub struct PrunePlan {
    pub redirected: SmallVec<[(OffsetNo, OffsetNo); 16]>,
    pub dead: SmallVec<[OffsetNo; 16]>,
    pub unused: SmallVec<[OffsetNo; 32]>,
    /// Newest XID that deleted a removed version: snapshots on a standby to which that version is
    /// visible conflict with the record.
    pub latest_removed: Xid,
    /// Oldest XID whose end will make a version prunable.
    pub new_prune_xid: Xid,
    /// Tuples removed.
    pub deleted: u32,
}

impl PrunePlan {
    pub fn is_empty(&self) -> bool {
        self.redirected.is_empty() && self.dead.is_empty() && self.unused.is_empty()
    }
}

/// Which deleted versions may be removed.
pub enum Removable<'a> {
    /// Those removable by the cached horizons.
    Global(&'a mut GlobalVis),
    /// VACUUM: also those deleted before a fixed XID. VACUUM counts these as dead, so they must be
    /// pruned, or it would retry endlessly.
    Vacuum(Xid, &'a mut GlobalVis),
}

impl Removable<'_> {
    fn test(&mut self, manager: &TxnManager, xid: Xid) -> bool {
        match self {
            Removable::Global(vis) => vis.is_removable(manager, xid),
            Removable::Vacuum(limit, vis) => xid.precedes(*limit) || vis.is_removable(manager, xid),
        }
    }
}

/// True if the page is low on free space and may have prunable versions. Called by readers, under
/// the share latch.
#[inline]
pub fn may_need_pruning(page: &Page, rel: &HeapRel) -> bool {
    page.prune_xid().is_valid()
        && (page.is_full() || page.heap_free_space() < rel.prune_threshold())
}

/// Latches a page for reading; prunes it first if that looks worthwhile and no other session has it
/// pinned. Counterpart: `heap_page_prune_opt`.
#[inline]
pub fn share_pruned<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    pin: Pin<'a>,
) -> Result<ShareGuard<'a>> {
    let guard = pin.share();
    if !may_need_pruning(&guard, rel) || cx.wal.in_recovery() {
        return Ok(guard);
    }
    let xid = guard.prune_xid();
    Ok(try_prune(cx, rel, guard.into_pin(), xid)?.share())
}

#[cold]
fn try_prune<'a>(cx: &mut HeapCx<'a>, rel: &HeapRel, pin: Pin<'a>, xid: Xid) -> Result<Pin<'a>> {
    let mut vis = cx.txn.global_vis(rel.horizon);
    if !vis.is_removable(cx.txn.manager(), xid) {
        return Ok(pin);
    }
    match pin.try_cleanup() {
        Err(pin) => Ok(pin),
        Ok(mut guard) => {
            if guard.is_full() || guard.heap_free_space() < rel.prune_threshold() {
                prune(cx, rel, &mut guard, Removable::Global(&mut vis))?;
            }
            Ok(guard.into_exclusive().into_pin())
        }
    }
}

/// Prunes the page. A page with damaged items is not changed; under VACUUM it is an error.
/// Counterpart: `heap_page_prune`, which raises a PANIC in that case.
pub fn prune<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut CleanupGuard<'a>,
    removable: Removable<'_>,
) -> Result<PrunePlan> {
    let mut hints = PageHints::new();
    let is_vacuum = matches!(removable, Removable::Vacuum(..));
    let mut current_offset = 0;
    let vis = cx.visibility(rel, guard.lsn());
    let plan = plan(&vis, guard, removable, &mut hints, &mut current_offset);
    cx.current_offset = current_offset;
    let plan = plan?;
    if !hints.is_empty() {
        guard.set_hints(Some(cx.scratch), |h| {
            for &(offset, bits) in &hints {
                h.set_infomask(offset, bits);
            }
            true
        });
    }
    if plan.is_empty() {
        if guard.prune_xid() != plan.new_prune_xid || guard.is_full() {
            guard.set_hints(Some(cx.scratch), |h| {
                h.set_prune_xid(plan.new_prune_xid);
                h.clear_full();
                true
            });
        }
        return Ok(plan);
    }
    let mut gone = [false; MAX_HEAP_TUPLES_PER_PAGE + 1];
    for &offset in plan.dead.iter().chain(&plan.unused) {
        gone[offset as usize] = true;
    }
    if let Err(damage) = guard.check_items(|n| gone.get(n as usize) == Some(&true)) {
        return if is_vacuum { Err(damage) } else { Ok(PrunePlan::default()) };
    }
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(guard, 0, RegFlags::STANDARD);
    execute(page, &plan.redirected, &plan.dead, &plan.unused)?;
    page.set_prune_xid(plan.new_prune_xid);
    page.set_full(false);
    if rel.is_logged() {
        let main = record::Prune {
            latest_removed: plan.latest_removed,
            redirected: plan.redirected.len() as u16,
            dead: plan.dead.len() as u16,
        };
        edit.main(&main.to_bytes());
        for (from, to) in &plan.redirected {
            edit.block_data(0, &from.to_le_bytes());
            edit.block_data(0, &to.to_le_bytes());
        }
        for offset in plan.dead.iter().chain(&plan.unused) {
            edit.block_data(0, &offset.to_le_bytes());
        }
        let xid = cx.txn.current_xid_if_any();
        let end = edit.log(RmgrId::Heap2, record::heap2::PRUNE, xid)?;
        cx.txn.note_record(end);
    } else {
        edit.finish_unlogged();
    }
    Ok(plan)
}

/// Applies a plan to the page. Counterpart: `heap_page_prune_execute`.
pub fn execute(
    page: &mut Page,
    redirected: &[(OffsetNo, OffsetNo)],
    dead: &[OffsetNo],
    unused: &[OffsetNo],
) -> Result<()> {
    for &(from, to) in redirected {
        page.set_line_pointer(from, LinePointer::redirect(to));
    }
    for &offset in dead {
        page.set_line_pointer(offset, LinePointer::DEAD);
    }
    for &offset in unused {
        page.set_line_pointer(offset, LinePointer::UNUSED);
    }
    page.repair_fragmentation()
}

/// Computes a plan.
struct Planner<'v, 'p> {
    vis: &'v Visibility<'v>,
    page: &'p Page,
    max: OffsetNo,
    /// By offset.
    states: [State; MAX_HEAP_TUPLES_PER_PAGE + 1],
    done: [bool; MAX_HEAP_TUPLES_PER_PAGE + 1],
    plan: PrunePlan,
}

/// Liveness of an item, in one byte.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum State {
    /// No tuple.
    None,
    /// A chain that starts with it needs no pruning.
    Kept,
    Dead,
    RecentlyDead,
    DeleteInProgress,
}

/// Hint bits to be set, by line pointer.
pub type PageHints = SmallVec<[(OffsetNo, u16); 32]>;

/// Computes the changes that pruning would make to the page. `hints` receives hint bits to set,
/// `current_offset` the line pointer being processed, for the context of an error; 0 at the end.
pub fn plan(
    vis: &Visibility<'_>,
    page: &Page,
    mut removable: Removable<'_>,
    hints: &mut PageHints,
    current_offset: &mut OffsetNo,
) -> Result<PrunePlan> {
    let max = page.max_offset().min(MAX_HEAP_TUPLES_PER_PAGE as OffsetNo);
    let mut states = [State::None; MAX_HEAP_TUPLES_PER_PAGE + 1];
    // In descending order: tuples are placed from the end of the page down, so this accesses memory
    // in ascending order.
    for offset in (1..=max).rev() {
        *current_offset = offset;
        let Some(h) = page.heap_header(offset) else { continue };
        if h.xmin_committed() && h.xmax_invalid() {
            states[offset as usize] = State::Kept;
            continue;
        }
        let mut hint = 0;
        states[offset as usize] = match vis.liveness(&h, &mut hint)? {
            Liveness::RecentlyDead(xmax) if removable.test(vis.manager, xmax) => State::Dead,
            Liveness::RecentlyDead(_) => State::RecentlyDead,
            Liveness::Dead => State::Dead,
            Liveness::DeleteInProgress => State::DeleteInProgress,
            Liveness::Live | Liveness::InsertInProgress => State::Kept,
        };
        if hint != 0 {
            hints.push((offset, hint));
        }
    }
    let done = [false; MAX_HEAP_TUPLES_PER_PAGE + 1];
    let mut planner = Planner { vis, page, max, states, done, plan: PrunePlan::default() };
    for offset in 1..=max {
        *current_offset = offset;
        // A chain that starts with a live member is not changed.
        if planner.states[offset as usize] == State::Kept || planner.done[offset as usize] {
            continue;
        }
        let lp = page.line_pointer(offset);
        if lp.is_used() && !lp.is_dead() {
            planner.chain(offset, lp)?;
        }
    }
    *current_offset = 0;
    Ok(planner.plan)
}

impl Planner<'_, '_> {
    fn unused(&mut self, offset: OffsetNo) {
        self.plan.unused.push(offset);
        self.done[offset as usize] = true;
    }

    fn prunable(&mut self, xid: Xid) {
        let noted = self.plan.new_prune_xid;
        if xid.is_normal() && (!noted.is_valid() || xid.precedes(noted)) {
            self.plan.new_prune_xid = xid;
        }
    }

    fn removed(&mut self, h: &HeapTupleHeader) -> Result<()> {
        advance_latest_removed(self.vis.manager, h, &mut self.plan.latest_removed)
    }

    /// Plans the pruning of the chain that starts at `root`. Counterpart: `heap_prune_chain`.
    fn chain(&mut self, root: OffsetNo, root_lp: LinePointer) -> Result<()> {
        if let Some(h) = self.page.heap_header_if_normal(root_lp, root)
            && h.is_heap_only()
        {
            // A heap-only tuple is pruned with its chain. Except one of an aborted update, which
            // may not be reachable from any chain.
            let dead = self.states[root as usize] == State::Dead;
            if dead && !h.is_hot_updated() {
                self.unused(root);
                self.removed(&h)?;
                self.plan.deleted += 1;
            }
            return Ok(());
        }
        let mut members: SmallVec<[OffsetNo; 16]> = SmallVec::new();
        let (mut latest_dead, mut prior_xmax) = (0, Xid::INVALID);
        let mut offset = root;
        while offset >= 1 && offset <= self.max && !self.done[offset as usize] {
            let lp = self.page.line_pointer(offset);
            if lp.is_redirected() {
                if !members.is_empty() {
                    break;
                }
                members.push(offset);
                offset = lp.redirect_to();
                continue;
            }
            let Some(h) = self.page.heap_header_if_normal(lp, offset) else { break };
            if prior_xmax.is_valid() && h.xmin() != prior_xmax {
                break;
            }
            members.push(offset);
            match self.states[offset as usize] {
                State::Dead => {
                    latest_dead = offset;
                    self.removed(&h)?;
                }
                State::RecentlyDead => {
                    // Continue: a dead member may follow.
                    let xmax = update_xid(self.vis.manager, &h)?;
                    self.prunable(xmax);
                }
                State::DeleteInProgress => {
                    let xmax = update_xid(self.vis.manager, &h)?;
                    self.prunable(xmax);
                    break;
                }
                State::Kept | State::None => break,
            }
            if !h.is_hot_updated() {
                break;
            }
            offset = h.ctid.offset;
            prior_xmax = update_xid(self.vis.manager, &h)?;
        }
        if latest_dead != 0 {
            let mut i = 1;
            while i < members.len() && members[i - 1] != latest_dead {
                self.unused(members[i]);
                self.plan.deleted += 1;
                i += 1;
            }
            if root_lp.is_normal() {
                self.plan.deleted += 1;
            }
            self.done[root as usize] = true;
            if i >= members.len() {
                self.plan.dead.push(root);
            } else {
                self.plan.redirected.push((root, members[i]));
                self.done[members[i] as usize] = true;
            }
        } else if members.len() < 2 && root_lp.is_redirected() {
            // The target of the redirect has been removed.
            self.plan.dead.push(root);
            self.done[root as usize] = true;
        }
        Ok(())
    }
}

trait HeaderIfNormal {
    fn heap_header_if_normal(&self, lp: LinePointer, offset: OffsetNo) -> Option<HeapTupleHeader>;
}

impl HeaderIfNormal for Page {
    fn heap_header_if_normal(&self, lp: LinePointer, offset: OffsetNo) -> Option<HeapTupleHeader> {
        if lp.is_normal() { self.heap_header(offset) } else { None }
    }
}

/// Advances `latest` to the XID that deleted the version `h`, unless the version was never visible
/// to another transaction. Counterpart: `HeapTupleHeaderAdvanceLatestRemovedXid`.
pub fn advance_latest_removed(
    manager: &TxnManager,
    h: &HeapTupleHeader,
    latest: &mut Xid,
) -> Result<()> {
    let (xmin, xmax) = (h.xmin(), update_xid(manager, h)?);
    let committed = h.xmin_committed() || (!h.xmin_invalid() && manager.did_commit(xmin)?);
    if committed && xmax != xmin && xmax.follows(*latest) {
        *latest = xmax;
    }
    Ok(())
}
