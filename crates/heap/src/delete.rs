//! Deletion of rows, and abort of speculative insertions.
//!
//! Counterpart: `heap_delete`, `heap_abort_speculative` in heapam.c.

use crate::context::{
    HeapCx, HeapRel, SetHint, TmFailure, TmResult, WaitOperation, WaitPolicy, no_tuple, wait_xid,
};
use crate::hio::pin_vm;
use crate::infomask::{self, NewXmax, RowWait, add_holder};
use crate::insert::clear_all_visible;
use crate::lock::TupleLockMode;
use crate::record;
use crate::visibility_map::{self, VmPin};
use bufmgr::{ExclusiveGuard, PageEdit};
use ids::{CommandId, MultiXid, Tid, Xid};
use page::HeapTupleHeader;
use page::heap_tuple::{
    MOVED_PARTITIONS_OFFSET, infomask as m, infomask2 as m2, xmax_is_locked_only,
};
use pgerror::{PgError, Result, pg_err};
use txn::{Snapshot, Transaction};
use wal::{RegFlags, RmgrId};

/// How to delete.
#[derive(Clone, Copy, Default)]
pub struct DeleteOptions<'s> {
    /// Wait for transactions that hold the row; if false, return `BeingModified`.
    pub wait: bool,
    /// The row must also be visible to this snapshot (the transaction's own, in foreign-key
    /// checks).
    pub crosscheck: Option<&'s Snapshot>,
    /// An UPDATE moves the row to another partition.
    pub changing_partition: bool,
}

/// The command id to store for a change of the tuple by command `cid`, and whether it is a combo
/// id.
/// Counterpart: `HeapTupleHeaderAdjustCmax`.
pub(crate) fn adjust_cmax(
    txn: &mut Transaction,
    h: &HeapTupleHeader,
    cid: CommandId,
) -> Result<(CommandId, bool)> {
    if !h.xmin_committed() && txn.is_current(h.raw_xmin) {
        let cmin = if h.any(m::COMBOCID) { txn.combo_cmin(h.raw_cid) } else { h.raw_cid };
        return Ok((txn.combo_cid(cmin, cid)?, true));
    }
    Ok((cid, false))
}

/// Stores the result of [`adjust_cmax`]. Counterpart: `HeapTupleHeaderSetCmax`.
pub(crate) fn set_cmax(h: &mut HeapTupleHeader, (cid, combo): (CommandId, bool)) {
    debug_assert!(!h.any(m::MOVED));
    h.raw_cid = cid;
    if combo {
        h.infomask |= m::COMBOCID;
    } else {
        h.infomask &= !m::COMBOCID;
    }
}

/// Stores a new `xmax` and the infomask bits about it.
pub(crate) fn set_xmax(h: &mut HeapTupleHeader, new: NewXmax) {
    h.infomask = h.infomask & !(m::XMAX_BITS | m::MOVED) | new.infomask;
    h.infomask2 = h.infomask2 & !m2::KEYS_UPDATED | new.infomask2;
    h.raw_xmax = new.xmax;
}

/// The details of `result` for the caller.
pub(crate) fn failure(
    cx: &HeapCx<'_>,
    rel: &HeapRel,
    guard: &ExclusiveGuard<'_>,
    h: &HeapTupleHeader,
    result: TmResult,
) -> Result<TmFailure> {
    let vis = cx.visibility(rel, guard.lsn());
    let cmax = if result == TmResult::SelfModified { vis.cmax(h) } else { CommandId::INVALID };
    Ok(TmFailure { ctid: h.ctid, xmax: vis.update_xid(h)?, cmax, traversed: false })
}

/// After waiting for `xid`: sets the hint bit about its outcome. Counterpart: `UpdateXmaxHintBits`.
pub(crate) fn hint_xmax(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'_>,
    tid: Tid,
    xid: Xid,
) -> Result<HeapTupleHeader> {
    let h = guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
    if h.any(m::XMAX_COMMITTED | m::XMAX_INVALID) {
        return Ok(h);
    }
    let mut bits = 0;
    let vis = cx.visibility(rel, guard.lsn());
    if h.xmax_locked_only() || !vis.committed(xid, m::XMAX_COMMITTED, &mut bits)? {
        bits = m::XMAX_INVALID;
    }
    guard.hint(cx.scratch, tid.offset, bits);
    Ok(HeapTupleHeader { infomask: h.infomask | bits, ..h })
}

/// Deletes the row version at `tid` on behalf of command `cid`.
///
/// WAL: `xl_heap_delete`, redone by `redo::delete`.
pub fn delete<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    cid: CommandId,
    options: DeleteOptions<'_>,
) -> Result<Result<(), (TmResult, TmFailure)>> {
    let xid = cx.txn.current_xid()?;
    let mut have_row_lock = false;
    let result = delete_locked(cx, rel, tid, cid, xid, options, &mut have_row_lock);
    if have_row_lock {
        let mode = TupleLockMode::Exclusive.hw_mode();
        cx.wait.unlock_row(rel, tid, mode)?;
    }
    result
}

/// The mode in which a row is locked that is to be deleted.
const MODE: TupleLockMode = TupleLockMode::Exclusive;

fn delete_locked<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    cid: CommandId,
    xid: Xid,
    options: DeleteOptions<'_>,
    have_row_lock: &mut bool,
) -> Result<Result<(), (TmResult, TmFailure)>> {
    let mut vm_slot = None;
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    let mut header = loop {
        if guard.is_all_visible() && !visibility_map::is_pinned(&vm_slot, tid.block) {
            let pin = guard.into_pin();
            pin_vm(cx, rel, tid.block, &mut vm_slot)?;
            guard = pin.exclusive();
            continue;
        }
        let mut h = guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
        let mut hint = 0;
        let mut result = cx.visibility(rel, guard.lsn()).update(&h, tid, cid, &mut hint)?;
        guard.hint(cx.scratch, tid.offset, hint);
        h.infomask |= hint;
        if result == TmResult::Invisible {
            return Err(pg_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "attempted to delete invisible tuple"
            ));
        }
        if result == TmResult::BeingModified && options.wait {
            let after;
            (guard, after) =
                wait_for_holders(cx, rel, guard, tid, &mut h, &vm_slot, have_row_lock)?;
            let Some(after) = after else { continue };
            result = after;
        }
        if result == TmResult::Ok
            && let Some(snapshot) = options.crosscheck
            && !cx.visibility(rel, guard.lsn()).visible(&h, snapshot, &mut 0)?
        {
            result = TmResult::Updated;
        }
        if result != TmResult::Ok {
            return Ok(Err((result, failure(cx, rel, &guard, &h, result)?)));
        }
        break h;
    };
    let cmax = adjust_cmax(cx.txn, &header, cid)?;
    cx.txn.set_oldest_multixact_member();
    let new = add_holder(cx.txn, &header, xid, MODE, true)?;
    let cleared = clear_all_visible(cx, &guard, &vm_slot);

    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(&mut guard, 0, RegFlags::STANDARD);
    page.set_prunable(xid);
    if cleared {
        page.set_all_visible(false);
    }
    set_xmax(&mut header, new);
    header.infomask2 &= !m2::HOT_UPDATED;
    set_cmax(&mut header, cmax);
    header.ctid = tid;
    if options.changing_partition {
        header.ctid = Tid::new(ids::BlockNo::INVALID, MOVED_PARTITIONS_OFFSET);
    }
    page.set_heap_header(tid.offset, &header);
    if rel.is_logged() {
        let mut flags = 0;
        if cleared {
            flags |= record::DELETE_ALL_VISIBLE_CLEARED;
        }
        if options.changing_partition {
            flags |= record::DELETE_IS_PARTITION_MOVE;
        }
        let infobits = record::infobits(header.infomask, header.infomask2);
        let record = record::Delete { xmax: new.xmax, offset: tid.offset, infobits, flags };
        edit.main(&record.to_bytes());
        edit.log(RmgrId::Heap, record::heap::DELETE, xid)?;
    } else {
        edit.finish_unlogged();
    }
    Ok(Ok(()))
}

/// Waits for the transactions that hold the row, if they conflict. Returns the outcome for the row
/// version with header `h`, which is read again; `None` if it must be examined from the start.
fn wait_for_holders<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    mut guard: ExclusiveGuard<'a>,
    tid: Tid,
    h: &mut HeapTupleHeader,
    vm_slot: &Option<VmPin<'a>>,
    have_row_lock: &mut bool,
) -> Result<(ExclusiveGuard<'a>, Option<TmResult>)> {
    let multi = MultiXid(h.raw_xmax.0);
    let sleep = if h.xmax_is_multi() {
        let c = infomask::multi_conflict(cx.txn, multi, h.infomask, MODE)?;
        c.conflicts.then_some(c.own)
    } else {
        (!cx.txn.is_current(h.raw_xmax)).then_some(false)
    };
    if let Some(own) = sleep {
        let pin = guard.into_pin();
        let policy = WaitPolicy::Block;
        // A member of the multixact does not acquire the row's heavyweight lock: a session that
        // holds that lock may be waiting for this transaction.
        if !own {
            infomask::acquire_row(cx.wait, rel, tid, MODE, policy, have_row_lock)?;
        }
        let operation = WaitOperation::Delete;
        if h.xmax_is_multi() {
            let row = RowWait { rel, tid, operation, policy };
            infomask::wait_multi(cx.txn, cx.wait, multi, MODE, h.infomask, row)?;
        } else {
            wait_xid(cx.wait, h.raw_xmax, rel, tid, operation)?;
        }
        guard = pin.exclusive();
        let now = guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
        let unpinned = guard.is_all_visible() && !visibility_map::is_pinned(vm_slot, tid.block);
        if unpinned || infomask::xmax_changed(&now, h) {
            return Ok((guard, None));
        }
        *h = now;
        if !h.xmax_is_multi() {
            *h = hint_xmax(cx, rel, &mut guard, tid, h.raw_xmax)?;
        }
    }
    let free = h.xmax_invalid()
        || xmax_is_locked_only(h.infomask)
        || cx.visibility(rel, guard.lsn()).only_locked(h)?;
    let outcome = if free {
        TmResult::Ok
    } else if h.ctid != tid {
        TmResult::Updated
    } else {
        TmResult::Deleted
    };
    Ok((guard, Some(outcome)))
}

/// Aborts a speculative insertion: the tuple is dead to all snapshots at once, although its
/// transaction goes on. The caller deletes the tuple's TOAST chunks in the same way.
/// Counterpart: `heap_abort_speculative`.
///
/// WAL: `xl_heap_delete` with IS_SUPER.
pub fn abort_speculative(cx: &mut HeapCx<'_>, rel: &HeapRel, tid: Tid) -> Result<()> {
    let xid = cx.txn.current_xid()?;
    let oldest = cx.txn.manager().horizons(rel.database).shared_oldest_nonremovable;
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    let mut header = guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
    if header.raw_xmin != xid {
        return Err(PgError::internal("attempted to kill a tuple inserted by another transaction"));
    }
    if !header.is_speculative() && !rel.is_toast {
        return Err(PgError::internal("attempted to kill a non-speculative tuple"));
    }
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(&mut guard, 0, RegFlags::STANDARD);
    // An XID that makes the page prunable now, unlike that of this transaction.
    page.set_prunable(if oldest.is_normal() { oldest } else { xid });
    header.infomask &= !(m::XMAX_BITS | m::MOVED);
    header.infomask2 &= !m2::KEYS_UPDATED;
    header.raw_xmin = Xid::INVALID;
    header.ctid = tid;
    page.set_heap_header(tid.offset, &header);
    if rel.is_logged() {
        let infobits = record::infobits(header.infomask, header.infomask2);
        let record = record::Delete {
            xmax: xid,
            offset: tid.offset,
            infobits,
            flags: record::DELETE_IS_SUPER,
        };
        edit.main(&record.to_bytes());
        edit.log(RmgrId::Heap, record::heap::DELETE, xid)?;
    } else {
        edit.finish_unlogged();
    }
    Ok(())
}
