//! Pruning: removing dead row versions from a page that one has to oneself.
//!
//! Index entries point to the first line pointer of a HOT chain, so dead members at the chain's
//! start go away and its first line pointer becomes a *redirect* to the first live one, or *dead*
//! if none is left (until VACUUM has removed the index entries). Heap-only members have no entries:
//! their line pointers are free at once.
//!
//! ```text
//! 1 → 2 → 3(live)      1 redirect→3, 2 unused, 3
//! 1 → 2(dead)          1 dead, 2 unused
//! ```
//! WAL: `xl_heap_prune`, redone by `redo::prune`. Counterpart: pruneheap.c.

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

/// What pruning a page will do. Most often it is little, and allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct PrunePlan {
    pub redirected: SmallVec<[(OffsetNo, OffsetNo); 16]>,
    pub dead: SmallVec<[OffsetNo; 16]>,
    pub unused: SmallVec<[OffsetNo; 32]>,
    /// Newest XID among the removed: standbys' snapshots that still see it conflict.
    pub latest_removed: Xid,
    /// Oldest XID that will leave something to prune.
    pub new_prune_xid: Xid,
    /// Tuples removed.
    pub deleted: u32,
}

impl PrunePlan {
    pub fn is_empty(&self) -> bool {
        self.redirected.is_empty() && self.dead.is_empty() && self.unused.is_empty()
    }
}

/// Who may be removed: by the cached horizons, or also before a fixed XID.
pub enum Removable<'a> {
    Global(&'a mut GlobalVis),
    /// VACUUM: what it later counts as dead must be pruned, or it would retry for ever.
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

/// Would pruning perhaps help? Asked by readers, under the share latch.
#[inline]
pub fn looks_crowded(page: &Page, rel: &HeapRel) -> bool {
    page.prune_xid().is_valid()
        && (page.is_full() || page.heap_free_space() < rel.prune_threshold())
}

/// Latches a page for reading; prunes it first if that looks worthwhile and nobody else has it
/// pinned. Counterpart: `heap_page_prune_opt`.
#[inline]
pub fn share_pruned<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    pin: Pin<'a>,
) -> Result<ShareGuard<'a>> {
    let guard = pin.share();
    if !looks_crowded(&guard, rel) || cx.wal.in_recovery() {
        return Ok(guard);
    }
    let xid = guard.prune_xid();
    Ok(prune_crowded(cx, rel, guard.into_pin(), xid)?.share())
}

#[cold]
fn prune_crowded<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    pin: Pin<'a>,
    xid: Xid,
) -> Result<Pin<'a>> {
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

/// Prunes the page. One whose items are damaged stays as it is, and is an error of VACUUM.
/// Counterpart: `heap_page_prune`, which ends in a PANIC there.
pub fn prune<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut CleanupGuard<'a>,
    removable: Removable<'_>,
) -> Result<PrunePlan> {
    let mut hints = PageHints::new();
    let asked_for = matches!(removable, Removable::Vacuum(..));
    let mut looking_at = 0;
    let vis = cx.visibility(rel, guard.lsn());
    let plan = plan(&vis, guard, removable, &mut hints, &mut looking_at);
    cx.looking_at = looking_at;
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
        return if asked_for { Err(damage) } else { Ok(PrunePlan::default()) };
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

/// Carries a plan out on the page. Counterpart: `heap_page_prune_execute`.
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

/// Decides what to do with each item.
struct Planner<'v, 'p> {
    vis: &'v Visibility<'v>,
    page: &'p Page,
    max: OffsetNo,
    /// By offset.
    states: [State; MAX_HEAP_TUPLES_PER_PAGE + 1],
    done: [bool; MAX_HEAP_TUPLES_PER_PAGE + 1],
    plan: PrunePlan,
}

/// Liveness in a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum State {
    /// No tuple.
    None,
    /// Nothing to do for a chain that begins with it.
    Stays,
    Dead,
    RecentlyDead,
    DeleteInProgress,
}

/// Hint bits to be set, by line pointer.
pub type PageHints = SmallVec<[(OffsetNo, u16); 32]>;

/// What pruning would do to the page, and the hint bits found on the way. In `looking_at` is left
/// which line pointer was looked at last; 0 if all were.
pub fn plan(
    vis: &Visibility<'_>,
    page: &Page,
    mut removable: Removable<'_>,
    hints: &mut PageHints,
    looking_at: &mut OffsetNo,
) -> Result<PrunePlan> {
    let max = page.max_offset().min(MAX_HEAP_TUPLES_PER_PAGE as OffsetNo);
    let mut states = [State::None; MAX_HEAP_TUPLES_PER_PAGE + 1];
    // From the end: with pd_upper falling this walks memory upwards.
    for offset in (1..=max).rev() {
        *looking_at = offset;
        let Some(h) = page.heap_header(offset) else { continue };
        if h.xmin_committed() && h.xmax_invalid() {
            states[offset as usize] = State::Stays;
            continue;
        }
        let mut hint = 0;
        states[offset as usize] = match vis.liveness(&h, &mut hint)? {
            Liveness::RecentlyDead(xmax) if removable.test(vis.manager, xmax) => State::Dead,
            Liveness::RecentlyDead(_) => State::RecentlyDead,
            Liveness::Dead => State::Dead,
            Liveness::DeleteInProgress => State::DeleteInProgress,
            Liveness::Live | Liveness::InsertInProgress => State::Stays,
        };
        if hint != 0 {
            hints.push((offset, hint));
        }
    }
    let done = [false; MAX_HEAP_TUPLES_PER_PAGE + 1];
    let mut planner = Planner { vis, page, max, states, done, plan: PrunePlan::default() };
    for offset in 1..=max {
        *looking_at = offset;
        // A chain that begins with a live member stays as it is.
        if planner.states[offset as usize] == State::Stays || planner.done[offset as usize] {
            continue;
        }
        let lp = page.line_pointer(offset);
        if lp.is_used() && !lp.is_dead() {
            planner.chain(offset, lp)?;
        }
    }
    *looking_at = 0;
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

    /// Prunes the chain that begins at `root`. Counterpart: `heap_prune_chain`.
    fn chain(&mut self, root: OffsetNo, root_lp: LinePointer) -> Result<()> {
        if let Some(h) = self.page.heap_header_if_normal(root_lp, root)
            && h.is_heap_only()
        {
            // No chain starts here. Remains of an aborted update, to which perhaps nothing leads
            // any more, are removed here; else its chain decides.
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
                    // Step over: a dead one may follow.
                    let xmax = update_xid(self.vis.manager, &h)?;
                    self.prunable(xmax);
                }
                State::DeleteInProgress => {
                    let xmax = update_xid(self.vis.manager, &h)?;
                    self.prunable(xmax);
                    break;
                }
                State::Stays | State::None => break,
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
            // Its target was removed before we came here.
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

/// Raises `latest` to the XID after which `h`'s version was invisible, unless nobody ever saw it.
/// Counterpart: `HeapTupleHeaderAdvanceLatestRemovedXid`.
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
