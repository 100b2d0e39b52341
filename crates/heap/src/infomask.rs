//! Computes `xmax` and infomask bits for an update, delete or lock of a row that may have other
//! holders.
//!
//! A plain `xmax` is one transaction. If a row has two or more holders (lockers, or lockers and an
//! updater that does not change the key), `xmax` is a multixact that lists them; at most one of
//! them is an updater.
//!
//! Conflicts of row lock modes:
//!
//! | held \ wanted | KeyShare | Share | NoKeyExclusive | Exclusive |
//! |---|---|---|---|---|
//! | KeyShare       |   |   |   | x |
//! | Share          |   |   | x | x |
//! | NoKeyExclusive |   | x | x | x |
//! | Exclusive      | x | x | x | x |
//!
//! Counterpart: `compute_new_xmax_infomask`, `DoesMultiXactIdConflict`, `Do_MultiXactIdWait` and
//! `heap_acquire_tuplock` in heapam.c.

use crate::context::{HeapRel, WaitForXact, WaitOperation, WaitPolicy};
use crate::context::{lock_not_available, wait_xid, with_context};
use crate::lock::TupleLockMode;
use ids::{MultiXid, Tid, Xid};
use page::HeapTupleHeader;
use page::heap_tuple::{infomask as m, infomask2 as m2, locked_upgraded, xmax_is_locked_only};
use pgerror::Result;
use txn::{MultiXactMember, MultiXactStatus, Transaction, TxnManager};

impl TupleLockMode {
    /// The mode of the row's heavyweight lock, which orders waiters.
    pub(crate) fn hw_mode(self) -> lmgr::LockMode {
        match self {
            TupleLockMode::KeyShare => lmgr::LockMode::AccessShare,
            TupleLockMode::Share => lmgr::LockMode::RowShare,
            TupleLockMode::NoKeyExclusive => lmgr::LockMode::Exclusive,
            TupleLockMode::Exclusive => lmgr::LockMode::AccessExclusive,
        }
    }

    /// True if these modes conflict.
    pub const fn conflicts(self, other: TupleLockMode) -> bool {
        self as u8 + other as u8 >= 3
    }

    pub(crate) const fn of(status: MultiXactStatus) -> TupleLockMode {
        match status {
            MultiXactStatus::ForKeyShare => TupleLockMode::KeyShare,
            MultiXactStatus::ForShare => TupleLockMode::Share,
            MultiXactStatus::ForNoKeyUpdate | MultiXactStatus::NoKeyUpdate => {
                TupleLockMode::NoKeyExclusive
            }
            MultiXactStatus::ForUpdate | MultiXactStatus::Update => TupleLockMode::Exclusive,
        }
    }

    /// Counterpart: `get_mxact_status_for_lock`.
    pub(crate) const fn status(self, is_update: bool) -> MultiXactStatus {
        match (self, is_update) {
            (TupleLockMode::KeyShare, _) => MultiXactStatus::ForKeyShare,
            (TupleLockMode::Share, _) => MultiXactStatus::ForShare,
            (TupleLockMode::NoKeyExclusive, false) => MultiXactStatus::ForNoKeyUpdate,
            (TupleLockMode::NoKeyExclusive, true) => MultiXactStatus::NoKeyUpdate,
            (TupleLockMode::Exclusive, false) => MultiXactStatus::ForUpdate,
            (TupleLockMode::Exclusive, true) => MultiXactStatus::Update,
        }
    }
}

/// `xmax` and the infomask bits about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NewXmax {
    pub(crate) xmax: Xid,
    pub(crate) infomask: u16,
    pub(crate) infomask2: u16,
}

/// `xmax` of a tuple and the infomask bits about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OldXmax {
    pub(crate) xmax: Xid,
    pub(crate) infomask: u16,
    pub(crate) infomask2: u16,
}

impl OldXmax {
    fn of(h: &HeapTupleHeader) -> OldXmax {
        OldXmax { xmax: h.raw_xmax, infomask: h.infomask, infomask2: h.infomask2 }
    }
}

fn lock_status(mask: u16, mask2: u16) -> Option<MultiXactStatus> {
    match mask & m::LOCK_MASK {
        m::XMAX_KEYSHR_LOCK => Some(MultiXactStatus::ForKeyShare),
        m::XMAX_SHR_LOCK => Some(MultiXactStatus::ForShare),
        m::XMAX_EXCL_LOCK if mask2 & m2::KEYS_UPDATED != 0 => Some(MultiXactStatus::ForUpdate),
        m::XMAX_EXCL_LOCK => Some(MultiXactStatus::ForNoKeyUpdate),
        _ => None,
    }
}

fn update_status(mask2: u16) -> MultiXactStatus {
    if mask2 & m2::KEYS_UPDATED != 0 {
        MultiXactStatus::Update
    } else {
        MultiXactStatus::NoKeyUpdate
    }
}

/// `xmax` for the only holder `xid` in `mode`.
fn single_holder(xid: Xid, mode: TupleLockMode, is_update: bool) -> NewXmax {
    let keys = if mode == TupleLockMode::Exclusive { m2::KEYS_UPDATED } else { 0 };
    if is_update {
        return NewXmax { xmax: xid, infomask: 0, infomask2: keys };
    }
    let lock = match mode {
        TupleLockMode::KeyShare => m::XMAX_KEYSHR_LOCK,
        TupleLockMode::Share => m::XMAX_SHR_LOCK,
        TupleLockMode::NoKeyExclusive | TupleLockMode::Exclusive => m::XMAX_EXCL_LOCK,
    };
    NewXmax { xmax: xid, infomask: m::XMAX_LOCK_ONLY | lock, infomask2: keys }
}

/// Adds `xid` in `mode` to the holders of a row. Counterpart: `compute_new_xmax_infomask`.
#[inline]
pub(crate) fn add_holder(
    txn: &mut Transaction,
    old: &HeapTupleHeader,
    xid: Xid,
    mode: TupleLockMode,
    is_update: bool,
) -> Result<NewXmax> {
    if old.xmax_invalid() {
        return Ok(single_holder(xid, mode, is_update));
    }
    join_holders(txn, OldXmax::of(old), xid, mode, is_update)
}

/// As [`add_holder`], for a valid `xmax`.
fn join_holders(
    txn: &mut Transaction,
    old: OldXmax,
    xid: Xid,
    mode: TupleLockMode,
    is_update: bool,
) -> Result<NewXmax> {
    let mask = old.infomask;
    let only_holder = || Ok(single_holder(xid, mode, is_update));
    let status = mode.status(is_update);
    if mask & m::XMAX_IS_MULTI != 0 {
        let multi = MultiXid(old.xmax.0);
        if locked_upgraded(mask) {
            return only_holder();
        }
        let lock_only = xmax_is_locked_only(mask);
        let manager = txn.manager();
        if !manager.multixact_is_running(multi, lock_only)?
            && (lock_only || !manager.did_commit(manager.multixact_update_xid(multi)?)?)
        {
            return only_holder();
        }
        let new = txn.multixact_expand(multi, xid, status)?;
        return multi_bits(txn.manager(), new);
    }
    let holder = if mask & m::XMAX_COMMITTED != 0 {
        update_status(old.infomask2)
    } else if txn.manager().is_in_progress(old.xmax)? {
        let held = if xmax_is_locked_only(mask) {
            match lock_status(mask, old.infomask2) {
                Some(status) => status,
                // Lock-only without a lock mode: left by pg_upgrade from a release before 9.3.
                None => return only_holder(),
            }
        } else {
            update_status(old.infomask2)
        };
        if old.xmax == xid {
            // The transaction's own lock: the stronger mode counts.
            return Ok(single_holder(xid, mode.max(TupleLockMode::of(held)), is_update));
        }
        held
    } else if !xmax_is_locked_only(mask) && txn.manager().did_commit(old.xmax)? {
        update_status(old.infomask2)
    } else {
        // The transaction ended after the infomask was read.
        return only_holder();
    };
    let members =
        [MultiXactMember { xid: old.xmax, status: holder }, MultiXactMember { xid, status }];
    let new = txn.multixact_create(&members)?;
    multi_bits(txn.manager(), new)
}

/// The infomask bits of a tuple whose `xmax` is `multi`. Counterpart: `GetMultiXactIdHintBits`.
pub(crate) fn multi_bits(manager: &TxnManager, multi: MultiXid) -> Result<NewXmax> {
    let members = manager.multixact_members(multi, false)?;
    let (mask, mask2) = bits_of_members(&members);
    Ok(NewXmax { xmax: Xid(multi.0), infomask: mask, infomask2: mask2 })
}

pub(crate) fn bits_of_members(members: &[MultiXactMember]) -> (u16, u16) {
    let (mut mask, mut mask2) = (m::XMAX_IS_MULTI, 0);
    let mut strongest = TupleLockMode::KeyShare;
    for member in members {
        let mode = TupleLockMode::of(member.status);
        strongest = strongest.max(mode);
        if mode == TupleLockMode::Exclusive {
            mask2 |= m2::KEYS_UPDATED;
        }
    }
    mask |= match strongest {
        TupleLockMode::KeyShare => m::XMAX_KEYSHR_LOCK,
        TupleLockMode::Share => m::XMAX_SHR_LOCK,
        TupleLockMode::NoKeyExclusive | TupleLockMode::Exclusive => m::XMAX_EXCL_LOCK,
    };
    if !members.iter().any(|member| member.status.is_update()) {
        mask |= m::XMAX_LOCK_ONLY;
    }
    (mask, mask2)
}

/// Result of [`multi_conflict`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MultiConflict {
    /// A member of another transaction conflicts.
    pub(crate) conflicts: bool,
    /// This transaction is a member.
    pub(crate) own: bool,
}

/// True if a member of `multi` conflicts with the wanted mode. Counterpart:
/// `DoesMultiXactIdConflict`.
pub(crate) fn multi_conflict(
    txn: &Transaction,
    multi: MultiXid,
    mask: u16,
    wanted: TupleLockMode,
) -> Result<MultiConflict> {
    let mut result = MultiConflict { conflicts: false, own: false };
    if locked_upgraded(mask) {
        return Ok(result);
    }
    let manager = txn.manager();
    for member in manager.multixact_members(multi, xmax_is_locked_only(mask))? {
        if txn.is_current(member.xid) {
            result.own = true;
        } else if !result.conflicts && TupleLockMode::of(member.status).conflicts(wanted) {
            result.conflicts = if member.status.is_update() {
                !manager.did_abort(member.xid)?
            } else {
                manager.is_in_progress(member.xid)?
            };
        }
    }
    Ok(result)
}

/// A wait for the holders of a row version.
#[derive(Clone, Copy)]
pub(crate) struct RowWait<'r> {
    pub(crate) rel: &'r HeapRel,
    pub(crate) tid: Tid,
    pub(crate) operation: WaitOperation,
    pub(crate) policy: WaitPolicy,
}

/// Waits for the members of `multi` that conflict with `wanted`. Returns the number of other
/// members that are still running, including those of this transaction; `None` if the policy does
/// not allow the wait. Counterpart: `Do_MultiXactIdWait`.
pub(crate) fn wait_multi(
    txn: &Transaction,
    wait: &mut dyn WaitForXact,
    multi: MultiXid,
    wanted: TupleLockMode,
    mask: u16,
    row: RowWait<'_>,
) -> Result<Option<usize>> {
    if locked_upgraded(mask) {
        return Ok(Some(0));
    }
    let manager = txn.manager();
    let mut remain = 0;
    for member in manager.multixact_members(multi, xmax_is_locked_only(mask))? {
        if txn.is_current(member.xid) {
            remain += 1;
        } else if !TupleLockMode::of(member.status).conflicts(wanted) {
            remain += usize::from(manager.is_in_progress(member.xid)?);
        } else if row.policy == WaitPolicy::Block {
            wait_xid(wait, member.xid, row.rel, row.tid, row.operation)?;
        } else if !wait.try_wait_xid(member.xid)? {
            return Ok(None);
        }
    }
    Ok(Some(remain))
}

/// Acquires the row's heavyweight lock, unless `have` is true because it is held already; sets
/// `have`. False if `policy` is to skip and another session holds it. Counterpart:
/// `heap_acquire_tuplock`.
pub(crate) fn acquire_row(
    wait: &mut dyn WaitForXact,
    rel: &HeapRel,
    tid: Tid,
    mode: TupleLockMode,
    policy: WaitPolicy,
    have: &mut bool,
) -> Result<bool> {
    if *have {
        return Ok(true);
    }
    let hw = mode.hw_mode();
    match policy {
        WaitPolicy::Block => wait
            .lock_row(rel, tid, hw)
            .map_err(|e| with_context(e, WaitOperation::None, rel, tid))?,
        WaitPolicy::Skip => {
            if !wait.try_lock_row(rel, tid, hw)? {
                return Ok(false);
            }
        }
        WaitPolicy::Error => {
            if !wait.try_lock_row(rel, tid, hw)? {
                return Err(lock_not_available(rel));
            }
        }
    }
    *have = true;
    Ok(true)
}

/// True if two infomasks differ in the bits about the row's holders. Counterpart:
/// `xmax_infomask_changed`.
pub(crate) fn holders_changed(new: u16, old: u16) -> bool {
    const INTERESTING: u16 = m::XMAX_IS_MULTI | m::XMAX_LOCK_ONLY | m::LOCK_MASK;
    new & INTERESTING != old & INTERESTING
}

/// True if `xmax` has changed between two reads of a tuple.
pub(crate) fn xmax_changed(now: &HeapTupleHeader, before: &HeapTupleHeader) -> bool {
    holders_changed(now.infomask, before.infomask) || now.raw_xmax != before.raw_xmax
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_as_documented() {
        use TupleLockMode::*;
        let modes = [KeyShare, Share, NoKeyExclusive, Exclusive];
        let table = ["...x", "..xx", ".xxx", "xxxx"];
        for (held, row) in modes.iter().zip(table) {
            for (wanted, c) in modes.iter().zip(row.bytes()) {
                assert_eq!(held.conflicts(*wanted), c == b'x', "{held:?} {wanted:?}");
                // The modes of the heavyweight lock conflict in the same way.
                assert_eq!(held.hw_mode().conflicts_with(wanted.hw_mode()), c == b'x');
            }
        }
    }
}
