//! Row locks: SELECT FOR UPDATE, NO KEY UPDATE, SHARE, KEY SHARE.
//!
//! A lock is an entry in the tuple's `xmax`, so there is no limit to their number. Whoever must
//! wait queues with the heavyweight lock of the row, so that the first to come is the first to be
//! served. A key-share lock on an old version also locks the newer ones: the chain is followed.
//!
//! Counterpart: `heap_lock_tuple`, `heap_lock_updated_tuple`.

use crate::context::{
    HeapCx, HeapRel, SetHint, TmFailure, TmResult, WaitOperation, WaitPolicy, lock_not_available,
    no_tuple, wait_xid,
};
use crate::delete::{failure, hint_xmax};
use crate::hio::pin_vm;
use crate::infomask::{self, NewXmax, add_holder};
use crate::record;
use crate::visibility_map::{self, VmPin};
use bufmgr::{ExclusiveGuard, PageEdit, Pin};
use ids::{CommandId, Tid, Xid};
use page::heap_tuple::{infomask as m, infomask2 as m2, xmax_is_locked_only};
use page::{HeapTupleHeader, vm};
use pgerror::{PgError, Result};
use txn::MultiXactStatus;
use wal::{RegFlags, RmgrId};

/// Strength of a row lock. Counterpart: `LockTupleMode`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum TupleLockMode {
    KeyShare = 0,
    Share = 1,
    NoKeyExclusive = 2,
    Exclusive = 3,
}

/// How to lock.
#[derive(Clone, Copy, Debug)]
pub struct LockOptions {
    pub mode: TupleLockMode,
    pub policy: WaitPolicy,
    /// Lock newer versions of the row too.
    pub follow_updates: bool,
}

/// Result of [`lock_tuple`]: the tuple's bytes when it was locked, or why it was not.
pub type Locked = Result<(), (TmResult, TmFailure)>;

/// Locks the row version at `tid` for command `cid`. On success `out` is the tuple as locked
/// (header and all); also on failure if it was there.
///
/// WAL: `xl_heap_lock`, redone by `redo::lock`.
pub fn lock_tuple<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    cid: CommandId,
    options: LockOptions,
    out: &mut Vec<u8>,
) -> Result<Locked> {
    let mut have_row_lock = false;
    let result = lock_inner(cx, rel, tid, cid, options, out, &mut have_row_lock);
    if have_row_lock {
        cx.wait.unlock_row(rel, tid, options.mode.hw_mode())?;
    }
    result
}

fn copy_out(guard: &ExclusiveGuard<'_>, tid: Tid, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(guard.item(tid.offset));
}

fn header(guard: &ExclusiveGuard<'_>, rel: &HeapRel, tid: Tid) -> Result<HeapTupleHeader> {
    guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))
}

const fn exclusively_locked(mask: u16) -> bool {
    mask & m::LOCK_MASK == m::XMAX_EXCL_LOCK
}

/// How a tuple with another holder is gone about.
enum Approach<'a> {
    /// The latch is held, and no waiting is needed.
    Go(ExclusiveGuard<'a>),
    Sleep(Pin<'a>),
    Restart(ExclusiveGuard<'a>),
    Fail(ExclusiveGuard<'a>, TmResult),
}

fn lock_inner<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    cid: CommandId,
    options: LockOptions,
    out: &mut Vec<u8>,
    have_row_lock: &mut bool,
) -> Result<Locked> {
    let LockOptions { mode, policy, follow_updates } = options;
    let mut vm_slot: Option<VmPin<'a>> = None;
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    let (mut first_time, mut skip_row_lock) = (true, false);
    loop {
        if guard.is_all_visible() && !visibility_map::is_pinned(&vm_slot, tid.block) {
            let pin = guard.into_pin();
            pin_vm(cx, rel, tid.block, &mut vm_slot)?;
            guard = pin.exclusive();
            continue;
        }
        let mut h = header(&guard, rel, tid)?;
        let mut hint = 0;
        let mut result = cx.visibility(rel, guard.lsn()).update(&h, tid, cid, &mut hint)?;
        guard.hint(cx.scratch, tid.offset, hint);
        h.infomask |= hint;
        copy_out(&guard, tid, out);
        match result {
            TmResult::Ok => return take(cx, rel, guard, &vm_slot, tid, mode, out),
            TmResult::BeingModified | TmResult::Updated | TmResult::Deleted => {}
            other => return fail(cx, rel, &guard, tid, other),
        }
        if first_time {
            first_time = false;
            match own_lock(cx, &h, mode)? {
                Own::Enough => return Ok(Ok(())),
                Own::Weaker => skip_row_lock = true,
                Own::None => {}
            }
        }
        match approach(cx, rel, guard, tid, &h, result, options)? {
            // It may have become all-visible while it was not latched.
            Approach::Go(g)
                if g.is_all_visible() && !visibility_map::is_pinned(&vm_slot, tid.block) =>
            {
                guard = g;
            }
            Approach::Go(g) => return take(cx, rel, g, &vm_slot, tid, mode, out),
            Approach::Restart(g) => guard = g,
            Approach::Fail(g, result) => return fail(cx, rel, &g, tid, result),
            Approach::Sleep(pin) => {
                let queue = !skip_row_lock;
                if queue && !infomask::acquire_row(cx.wait, rel, tid, mode, policy, have_row_lock)?
                {
                    return fail(cx, rel, &pin.exclusive(), tid, TmResult::WouldBlock);
                }
                if !sleep(cx, rel, tid, &h, mode, policy)? {
                    return fail(cx, rel, &pin.exclusive(), tid, TmResult::WouldBlock);
                }
                if follow_updates && !h.xmax_locked_only() {
                    let followed = follow(cx, rel, tid, &h, mode)?;
                    if followed != TmResult::Ok {
                        return fail(cx, rel, &pin.exclusive(), tid, followed);
                    }
                }
                guard = pin.exclusive();
                let mut now = header(&guard, rel, tid)?;
                if infomask::xmax_moved(&now, &h) {
                    continue;
                }
                if !now.xmax_is_multi() {
                    now = hint_xmax(cx, rel, &mut guard, tid, now.raw_xmax)?;
                }
                let free = now.xmax_invalid()
                    || now.xmax_locked_only()
                    || cx.visibility(rel, guard.lsn()).only_locked(&now)?;
                if free {
                    if guard.is_all_visible() && !visibility_map::is_pinned(&vm_slot, tid.block) {
                        continue;
                    }
                    return take(cx, rel, guard, &vm_slot, tid, mode, out);
                }
                result = if now.ctid != tid { TmResult::Updated } else { TmResult::Deleted };
                return fail(cx, rel, &guard, tid, result);
            }
        }
    }
}

fn fail(
    cx: &HeapCx<'_>,
    rel: &HeapRel,
    guard: &ExclusiveGuard<'_>,
    tid: Tid,
    result: TmResult,
) -> Result<Locked> {
    let h = header(guard, rel, tid)?;
    Ok(Err((result, failure(cx, rel, guard, &h, result)?)))
}

/// What our own transaction holds already.
enum Own {
    None,
    Weaker,
    Enough,
}

fn own_lock(cx: &HeapCx<'_>, h: &HeapTupleHeader, mode: TupleLockMode) -> Result<Own> {
    if h.xmax_is_multi() {
        let mut own = Own::None;
        for member in cx.txn.manager().multixact_members(h.multi(), h.xmax_locked_only())? {
            if cx.txn.is_current(member.xid) {
                if TupleLockMode::of(member.status) >= mode {
                    return Ok(Own::Enough);
                }
                // Queueing while we hold the row could deadlock with whoever queues for it.
                own = Own::Weaker;
            }
        }
        return Ok(own);
    }
    if !cx.txn.is_current(h.raw_xmax) {
        return Ok(Own::None);
    }
    let share = h.infomask & m::LOCK_MASK == m::XMAX_SHR_LOCK;
    let exclusive = exclusively_locked(h.infomask);
    let enough = match mode {
        TupleLockMode::KeyShare => true,
        TupleLockMode::Share => share || exclusive,
        TupleLockMode::NoKeyExclusive => exclusive,
        TupleLockMode::Exclusive => exclusive && h.keys_updated(),
    };
    Ok(if enough { Own::Enough } else { Own::None })
}

/// Lets the latch go where that is needed to find out whether we have to wait, and decides.
fn approach<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: ExclusiveGuard<'a>,
    tid: Tid,
    h: &HeapTupleHeader,
    result: TmResult,
    options: LockOptions,
) -> Result<Approach<'a>> {
    let LockOptions { mode, follow_updates, .. } = options;
    let pin = guard.into_pin();
    match mode {
        TupleLockMode::KeyShare if !h.keys_updated() => {
            // No update of the key: no need to wait, but newer versions must be locked as well.
            let updated = !h.xmax_locked_only();
            if follow_updates && updated {
                let followed = follow(cx, rel, tid, h, mode)?;
                if followed != TmResult::Ok {
                    return Ok(Approach::Fail(pin.exclusive(), followed));
                }
            }
            let guard = pin.exclusive();
            let now = header(&guard, rel, tid)?;
            let only_locked = cx.visibility(rel, guard.lsn()).only_locked(&now)?;
            if !only_locked && (now.keys_updated() || !updated) {
                return Ok(Approach::Restart(guard));
            }
            return Ok(Approach::Go(guard));
        }
        TupleLockMode::Share if h.xmax_locked_only() && !exclusively_locked(h.infomask) => {
            let guard = pin.exclusive();
            let now = header(&guard, rel, tid)?;
            if !now.xmax_locked_only() || exclusively_locked(now.infomask) {
                return Ok(Approach::Restart(guard));
            }
            return Ok(Approach::Go(guard));
        }
        TupleLockMode::NoKeyExclusive => {
            let harmless = if h.xmax_is_multi() {
                !infomask::multi_conflict(cx.txn, h.multi(), h.infomask, mode)?.conflicts
            } else {
                h.infomask & m::LOCK_MASK == m::XMAX_KEYSHR_LOCK
            };
            if harmless {
                return relatch(rel, pin, tid, h);
            }
        }
        _ => {}
    }
    if !h.xmax_is_multi() && cx.txn.is_current(h.raw_xmax) {
        // We are the only holder: only the strength changes.
        return relatch(rel, pin, tid, h);
    }
    if matches!(result, TmResult::Updated | TmResult::Deleted) {
        // Its successor committed: waiting does not help.
        return Ok(Approach::Fail(pin.exclusive(), result));
    }
    Ok(Approach::Sleep(pin))
}

fn relatch<'a>(
    rel: &HeapRel,
    pin: Pin<'a>,
    tid: Tid,
    before: &HeapTupleHeader,
) -> Result<Approach<'a>> {
    let guard = pin.exclusive();
    let moved = infomask::xmax_moved(&header(&guard, rel, tid)?, before);
    Ok(if moved { Approach::Restart(guard) } else { Approach::Go(guard) })
}

/// Waits for the holders; false if `policy` is to skip and there are some.
fn sleep(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    h: &HeapTupleHeader,
    mode: TupleLockMode,
    policy: WaitPolicy,
) -> Result<bool> {
    let operation = WaitOperation::Lock;
    let over = if h.xmax_is_multi() {
        let multi = h.multi();
        infomask::wait_multi(cx.txn, cx.wait, multi, mode, h.infomask, rel, tid, operation, policy)?
            .is_some()
    } else if policy == WaitPolicy::Block {
        wait_xid(cx.wait, h.raw_xmax, rel, tid, operation)?;
        true
    } else {
        cx.wait.try_wait_xid(h.raw_xmax)?
    };
    if !over && policy == WaitPolicy::Error {
        return Err(lock_not_available(rel));
    }
    Ok(over)
}

/// Writes our lock into the tuple.
fn take<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    mut guard: ExclusiveGuard<'a>,
    vm_slot: &Option<VmPin<'a>>,
    tid: Tid,
    mode: TupleLockMode,
    out: &mut Vec<u8>,
) -> Result<Locked> {
    let xid = cx.txn.current_xid()?;
    let mut h = header(&guard, rel, tid)?;
    cx.txn.set_oldest_multixact_member();
    let new = add_holder(cx.txn, &h, xid, mode, false)?;
    let lock_only = xmax_is_locked_only(new.infomask);
    h.infomask &= !m::XMAX_BITS;
    h.infomask2 &= !m2::KEYS_UPDATED;
    h.infomask |= new.infomask;
    h.infomask2 |= new.infomask2;
    if lock_only {
        h.infomask2 &= !m2::HOT_UPDATED;
        // No forward link; where there is an updater, his link stays.
        h.ctid = tid;
    }
    if h.xmin_frozen() {
        // Left by an update that was rolled back before the row was frozen. Replay clears it, and
        // PostgreSQL's comparison of a frozen row minds.
        h.infomask &= !m::COMBOCID;
    }
    h.raw_xmax = new.xmax;
    store(cx, rel, &mut guard, vm_slot, tid, &h, new, xid, (RmgrId::Heap, record::heap::LOCK))?;
    copy_out(&guard, tid, out);
    Ok(Ok(()))
}

/// Stores a header with a new lock and logs it.
fn store<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'a>,
    vm_slot: &Option<VmPin<'a>>,
    tid: Tid,
    h: &HeapTupleHeader,
    new: NewXmax,
    xid: Xid,
    kind: (RmgrId, u8),
) -> Result<()> {
    let unfrozen = guard.is_all_visible()
        && vm_slot.as_ref().is_some_and(|pin| {
            visibility_map::clear(pin, tid.block, vm::ALL_FROZEN, cx.wal, cx.scratch)
        });
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    edit.change(guard, 0, RegFlags::STANDARD).set_heap_header(tid.offset, h);
    if !rel.is_logged() {
        edit.finish_unlogged();
        return Ok(());
    }
    let record = record::Lock {
        xmax: new.xmax,
        offset: tid.offset,
        infobits: record::infobits(new.infomask, h.infomask2),
        flags: if unfrozen { record::LOCK_ALL_FROZEN_CLEARED } else { 0 },
    };
    edit.main(&record.to_bytes());
    edit.log(kind.0, kind.1, xid)?;
    Ok(())
}

/// Locks the versions after the one with header `h`, as far as they were made by committed updates.
/// Counterpart: `heap_lock_updated_tuple`.
fn follow(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    h: &HeapTupleHeader,
    mode: TupleLockMode,
) -> Result<TmResult> {
    if h.moved_partitions() || h.ctid == tid {
        return Ok(TmResult::Ok);
    }
    let xid = cx.txn.current_xid()?;
    cx.txn.set_oldest_multixact_member();
    // INVARIANT: each version has the xmin that ended the one before it, the first link included:
    // the updater may have aborted while it was waited for, its version be pruned away, and another
    // row have taken the place.
    let (mut next, mut prior) = (h.ctid, crate::visibility::update_xid(cx.txn.manager(), h)?);
    loop {
        match lock_version(cx, rel, next, prior, xid, mode)? {
            Step::End(result) => return Ok(result),
            Step::Next(tid, xmax) => (next, prior) = (tid, xmax),
        }
    }
}

enum Step {
    End(TmResult),
    Next(Tid, Xid),
}

/// May we lock beside a holder? Counterpart: `test_lockmode_for_conflict`.
enum Test {
    Fine,
    /// It is our own transaction.
    Own,
    Wait,
    Conflict,
}

fn test_holder(
    cx: &HeapCx<'_>,
    status: MultiXactStatus,
    xid: Xid,
    mode: TupleLockMode,
) -> Result<Test> {
    let manager = cx.txn.manager();
    let conflicts = TupleLockMode::of(status).conflicts(mode);
    if cx.txn.is_current(xid) {
        return Ok(Test::Own);
    }
    if manager.is_in_progress(xid)? {
        return Ok(if conflicts { Test::Wait } else { Test::Fine });
    }
    // Locks end with their transaction; updates stay.
    if status.is_update() && conflicts && manager.did_commit(xid)? {
        return Ok(Test::Conflict);
    }
    Ok(Test::Fine)
}

/// Locks one version of a chain. Counterpart: the loop of `heap_lock_updated_tuple_rec`.
fn lock_version(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    prior_xmax: Xid,
    xid: Xid,
    mode: TupleLockMode,
) -> Result<Step> {
    let mut vm_slot = None;
    if tid.block.0 >= cx.pool.nblocks(&rel.main)? {
        return Ok(Step::End(TmResult::Ok));
    }
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    loop {
        if guard.is_all_visible() && !visibility_map::is_pinned(&vm_slot, tid.block) {
            let pin = guard.into_pin();
            pin_vm(cx, rel, tid.block, &mut vm_slot)?;
            guard = pin.exclusive();
            continue;
        }
        // Pruned away after its inserter aborted: the chain ends here.
        let Some(mut h) = guard.heap_header(tid.offset) else {
            return Ok(Step::End(TmResult::Ok));
        };
        if prior_xmax.is_valid() && h.xmin() != prior_xmax {
            return Ok(Step::End(TmResult::Ok));
        }
        if cx.txn.manager().did_abort(h.xmin())? {
            return Ok(Step::End(TmResult::Ok));
        }
        let mut held_by_us = false;
        if !h.xmax_invalid() {
            let holders: txn::Members = if h.xmax_is_multi() {
                cx.txn.manager().multixact_members(h.multi(), h.xmax_locked_only())?
            } else {
                let status = single_status(&h)?;
                std::iter::once(txn::MultiXactMember { xid: h.raw_xmax, status }).collect()
            };
            let mut wait_for = None;
            for holder in holders {
                match test_holder(cx, holder.status, holder.xid, mode)? {
                    Test::Fine => {}
                    Test::Own => {
                        held_by_us = true;
                        break;
                    }
                    Test::Wait => {
                        wait_for = Some(holder.xid);
                        break;
                    }
                    Test::Conflict => {
                        let updated = h.ctid != tid;
                        return Ok(Step::End(if updated {
                            TmResult::Updated
                        } else {
                            TmResult::Deleted
                        }));
                    }
                }
            }
            if let Some(other) = wait_for {
                let pin = guard.into_pin();
                wait_xid(cx.wait, other, rel, tid, WaitOperation::LockUpdated)?;
                guard = pin.exclusive();
                continue;
            }
        }
        if !held_by_us {
            let new = add_holder(cx.txn, &h, xid, mode, false)?;
            h.raw_xmax = new.xmax;
            h.infomask = h.infomask & !m::XMAX_BITS | new.infomask;
            h.infomask2 = h.infomask2 & !m2::KEYS_UPDATED | new.infomask2;
            let kind = (RmgrId::Heap2, record::heap2::LOCK_UPDATED);
            store(cx, rel, &mut guard, &vm_slot, tid, &h, new, xid, kind)?;
        }
        let vis = cx.visibility(rel, guard.lsn());
        if h.xmax_invalid() || h.moved_partitions() || h.ctid == tid || vis.only_locked(&h)? {
            return Ok(Step::End(TmResult::Ok));
        }
        return Ok(Step::Next(h.ctid, vis.update_xid(&h)?));
    }
}

/// How the single holder of a tuple holds it.
fn single_status(h: &HeapTupleHeader) -> Result<MultiXactStatus> {
    let keys = h.keys_updated();
    if !h.xmax_locked_only() {
        return Ok(if keys { MultiXactStatus::Update } else { MultiXactStatus::NoKeyUpdate });
    }
    match h.infomask & m::LOCK_MASK {
        m::XMAX_KEYSHR_LOCK => Ok(MultiXactStatus::ForKeyShare),
        m::XMAX_SHR_LOCK => Ok(MultiXactStatus::ForShare),
        m::XMAX_EXCL_LOCK if keys => Ok(MultiXactStatus::ForUpdate),
        m::XMAX_EXCL_LOCK => Ok(MultiXactStatus::ForNoKeyUpdate),
        _ => Err(PgError::internal("invalid lock status in tuple")),
    }
}
