//! Row locks: SELECT FOR UPDATE, NO KEY UPDATE, SHARE, KEY SHARE.
//!
//! A row lock is stored in the tuple's `xmax`, so the number of row locks is not limited by shared
//! memory. A session that must wait first acquires the heavyweight lock of the row, so that waiters
//! are served in order of arrival. A lock on an old version also locks the newer ones, by following
//! the update chain.
//!
//! Counterpart: `heap_lock_tuple`, `heap_lock_updated_tuple` in heapam.c.

use crate::context::{
    HeapCx, HeapRel, SetHint, TmFailure, TmResult, WaitOperation, WaitPolicy, lock_not_available,
    no_tuple, wait_xid,
};
use crate::delete::{failure, hint_xmax};
use crate::hio::pin_vm;
use crate::infomask::{self, NewXmax, RowWait, add_holder};
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

/// Result of [`lock_tuple`].
pub type Locked = Result<(), (TmResult, TmFailure)>;

/// Locks the row version at `tid` for command `cid`. `out` receives the tuple's bytes, with the
/// header: after the lock on success, before it on failure.
///
/// WAL: `xl_heap_lock`, replayed by `redo::lock`.
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

/// How to proceed with a tuple that has another holder.
enum Decision<'a> {
    /// The page is latched, and no wait is needed.
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
            TmResult::Ok => return set_lock(cx, rel, guard, &vm_slot, tid, mode, out),
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
        match decide(cx, rel, guard, tid, &h, result, options)? {
            // The page may have become all-visible while it was not latched.
            Decision::Go(g)
                if g.is_all_visible() && !visibility_map::is_pinned(&vm_slot, tid.block) =>
            {
                guard = g;
            }
            Decision::Go(g) => return set_lock(cx, rel, g, &vm_slot, tid, mode, out),
            Decision::Restart(g) => guard = g,
            Decision::Fail(g, result) => return fail(cx, rel, &g, tid, result),
            Decision::Sleep(pin) => {
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
                if infomask::xmax_changed(&now, &h) {
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
                    return set_lock(cx, rel, guard, &vm_slot, tid, mode, out);
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

/// The lock that this transaction already holds on the row.
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
                // A transaction that holds the row must not wait for its heavyweight lock: it could
                // deadlock with the session that holds that lock and waits for the row.
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

/// Decides whether a wait is needed. The latch is released for that, because it may have to read
/// other pages and multixacts.
fn decide<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: ExclusiveGuard<'a>,
    tid: Tid,
    h: &HeapTupleHeader,
    result: TmResult,
    options: LockOptions,
) -> Result<Decision<'a>> {
    let LockOptions { mode, follow_updates, .. } = options;
    let pin = guard.into_pin();
    match mode {
        TupleLockMode::KeyShare if !h.keys_updated() => {
            // The key is not updated: no wait is needed, but newer versions must be locked too.
            let updated = !h.xmax_locked_only();
            if follow_updates && updated {
                let followed = follow(cx, rel, tid, h, mode)?;
                if followed != TmResult::Ok {
                    return Ok(Decision::Fail(pin.exclusive(), followed));
                }
            }
            let guard = pin.exclusive();
            let now = header(&guard, rel, tid)?;
            let only_locked = cx.visibility(rel, guard.lsn()).only_locked(&now)?;
            if !only_locked && (now.keys_updated() || !updated) {
                return Ok(Decision::Restart(guard));
            }
            return Ok(Decision::Go(guard));
        }
        TupleLockMode::Share if h.xmax_locked_only() && !exclusively_locked(h.infomask) => {
            let guard = pin.exclusive();
            let now = header(&guard, rel, tid)?;
            if !now.xmax_locked_only() || exclusively_locked(now.infomask) {
                return Ok(Decision::Restart(guard));
            }
            return Ok(Decision::Go(guard));
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
        // This transaction is the only holder: only the mode changes.
        return relatch(rel, pin, tid, h);
    }
    if matches!(result, TmResult::Updated | TmResult::Deleted) {
        // The updater or deleter has committed: a wait does not help.
        return Ok(Decision::Fail(pin.exclusive(), result));
    }
    Ok(Decision::Sleep(pin))
}

fn relatch<'a>(
    rel: &HeapRel,
    pin: Pin<'a>,
    tid: Tid,
    before: &HeapTupleHeader,
) -> Result<Decision<'a>> {
    let guard = pin.exclusive();
    let moved = infomask::xmax_changed(&header(&guard, rel, tid)?, before);
    Ok(if moved { Decision::Restart(guard) } else { Decision::Go(guard) })
}

/// Waits for the holders; false if `policy` is to skip and a holder conflicts.
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
        let row = RowWait { rel, tid, operation, policy };
        infomask::wait_multi(cx.txn, cx.wait, multi, mode, h.infomask, row)?.is_some()
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

/// Stores this transaction's lock in the tuple.
fn set_lock<'a>(
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
        // No forward link. If there is an updater, its link is kept.
        h.ctid = tid;
    }
    if h.xmin_frozen() {
        // Left by an update that was rolled back before the row was frozen. Replay clears this
        // bit, and PostgreSQL's WAL consistency checking compares it for a frozen row.
        h.infomask &= !m::COMBOCID;
    }
    h.raw_xmax = new.xmax;
    let lock = NewLock { new, xid, kind: (RmgrId::Heap, record::heap::LOCK) };
    store(cx, rel, &mut guard, vm_slot, tid, &h, lock)?;
    copy_out(&guard, tid, out);
    Ok(Ok(()))
}

/// A lock that is to be stored.
struct NewLock {
    new: NewXmax,
    xid: Xid,
    /// The kind of its record.
    kind: (RmgrId, u8),
}

/// Stores a header with a new lock and logs it.
fn store<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'a>,
    vm_slot: &Option<VmPin<'a>>,
    tid: Tid,
    h: &HeapTupleHeader,
    NewLock { new, xid, kind }: NewLock,
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

/// Locks the versions after the one with header `h`, up to the end of the update chain.
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
    // INVARIANT: each version's xmin equals the xmax of the version before it, for the first link
    // too: the updater may have aborted during the wait, its version may have been pruned, and the
    // TID may have been reused for another row.
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

/// How a lock relates to one holder. Counterpart: `test_lockmode_for_conflict`.
enum Test {
    NoConflict,
    /// The holder is this transaction.
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
        return Ok(if conflicts { Test::Wait } else { Test::NoConflict });
    }
    // A lock ends with its transaction; an update remains.
    if status.is_update() && conflicts && manager.did_commit(xid)? {
        return Ok(Test::Conflict);
    }
    Ok(Test::NoConflict)
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
        // The version was pruned after its inserter aborted: the chain ends here.
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
                    Test::NoConflict => {}
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
            store(cx, rel, &mut guard, &vm_slot, tid, &h, NewLock { new, xid, kind })?;
        }
        let vis = cx.visibility(rel, guard.lsn());
        if h.xmax_invalid() || h.moved_partitions() || h.ctid == tid || vis.only_locked(&h)? {
            return Ok(Step::End(TmResult::Ok));
        }
        return Ok(Step::Next(h.ctid, vis.update_xid(&h)?));
    }
}

/// The status of the only holder of a tuple.
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
