//! Freezing: removes references to old XIDs and multixacts from row versions, so that their status
//! can be truncated.
//!
//! An old committed `xmin` gets the frozen bits. An old `xmax` is removed: it is a lock or an
//! aborted deleter, or else the tuple would be dead. A multixact with old members is replaced by
//! one of the members that still matter.
//!
//! WAL: `xl_heap_freeze_page`, replayed by `redo::freeze_page`.
//!
//! Counterpart: `heap_prepare_freeze_tuple`, `FreezeMultiXactId` in heapam.c.

use crate::infomask::bits_of_members;
use crate::record::{self, FreezeTuple};
use ids::{MultiXid, OffsetNo, Xid};
use page::heap_tuple::{infomask as m, infomask2 as m2, locked_upgraded, xmax_is_locked_only};
use page::{HeapTupleHeader, Page};
use pgerror::{Result, pg_err};
use txn::{Members, Transaction};

/// Cutoffs of a VACUUM, and bounds of the relation.
#[derive(Clone, Copy, Debug)]
pub struct Cutoffs {
    /// `pg_class.relfrozenxid` and `relminmxid`: older ids in the relation are corruption.
    pub relfrozenxid: Xid,
    pub relminmxid: MultiXid,
    /// Versions deleted by an older XID are dead to all snapshots.
    pub oldest_xmin: Xid,
    /// Older XIDs are frozen. Counterpart: FreezeLimit.
    pub freeze_limit: Xid,
    /// Older multixacts are replaced. Counterpart: MultiXactCutoff.
    pub multi_cutoff: MultiXid,
}

/// The oldest ids that remain in the relation: the new `relfrozenxid` and `relminmxid`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    pub xid: Xid,
    pub multi: MultiXid,
}

impl Kept {
    fn xid(&mut self, xid: Xid) {
        if xid.is_normal() && xid.precedes(self.xid) {
            self.xid = xid;
        }
    }
}

/// How a tuple is frozen, and whether nothing is left to freeze afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prepared {
    /// `None` if nothing has to be changed now.
    pub plan: Option<FreezeTuple>,
    pub totally_frozen: bool,
}

macro_rules! corrupt {
    ($($arg:tt)+) => {
        return Err(pg_err!(DATA_CORRUPTED, $($arg)+))
    };
}

/// Replacement of a multixact.
enum NewMulti {
    /// No member matters: remove it.
    Nothing,
    /// Keep it.
    Same,
    /// Only its updater matters; is it known to have committed?
    Updater(Xid, bool),
    /// These members matter: make a new multixact of them.
    Replace(Members),
}

/// Plans the freezing of a tuple that is not dead. Counterpart: `heap_prepare_freeze_tuple`.
pub fn prepare(
    txn: &mut Transaction,
    h: &HeapTupleHeader,
    offset: OffsetNo,
    cutoffs: &Cutoffs,
    kept: &mut Kept,
) -> Result<Prepared> {
    let mut plan = FreezeTuple {
        xmax: h.raw_xmax,
        offset,
        infomask2: h.infomask2,
        infomask: h.infomask,
        flags: 0,
    };
    let mut changed = false;
    let (limit, relfrozenxid) = (cutoffs.freeze_limit, cutoffs.relfrozenxid);

    let xmin = h.xmin();
    let xmin_frozen = if !xmin.is_normal() {
        true
    } else {
        if xmin.precedes(relfrozenxid) {
            corrupt!("found xmin {xmin} from before relfrozenxid {relfrozenxid}");
        }
        if xmin.precedes(limit) {
            if !txn.manager().did_commit(xmin)? {
                corrupt!(
                    "uncommitted xmin {xmin} from before xid cutoff {limit} needs to be frozen"
                );
            }
            plan.infomask |= m::XMIN_FROZEN;
            changed = true;
            true
        } else {
            kept.xid(xmin);
            false
        }
    };

    let xmax = h.raw_xmax;
    let (mut remove_xmax, mut no_xmax) = (false, false);
    if h.xmax_is_multi() {
        match freeze_multi(txn, h, cutoffs, kept)? {
            NewMulti::Nothing => remove_xmax = true,
            NewMulti::Same => {}
            NewMulti::Updater(xid, committed) => {
                kept.xid(xid);
                plan.infomask &= !m::XMAX_BITS;
                plan.xmax = xid;
                if committed {
                    plan.infomask |= m::XMAX_COMMITTED;
                }
                changed = true;
            }
            NewMulti::Replace(members) => {
                members.iter().for_each(|member| kept.xid(member.xid));
                let multi = txn.multixact_create(&members)?;
                let (mask, mask2) = bits_of_members(&members);
                plan.infomask = plan.infomask & !m::XMAX_BITS | mask;
                plan.infomask2 = plan.infomask2 & !m2::KEYS_UPDATED | mask2;
                plan.xmax = Xid(multi.0);
                changed = true;
            }
        }
    } else if xmax.is_normal() {
        if xmax.precedes(relfrozenxid) {
            corrupt!("found xmax {xmax} from before relfrozenxid {relfrozenxid}");
        }
        if xmax.precedes(limit) {
            if !h.xmax_locked_only() && txn.manager().did_commit(xmax)? {
                corrupt!("cannot freeze committed xmax {xmax}");
            }
            remove_xmax = true;
        } else {
            kept.xid(xmax);
        }
    } else if h.xmax_invalid() || !xmax.is_valid() {
        no_xmax = true;
    } else {
        let mask = h.infomask;
        corrupt!("found xmax {xmax} (infomask 0x{mask:04x}) not frozen, not multi, not normal");
    }
    if remove_xmax {
        plan.xmax = Xid::INVALID;
        plan.infomask = plan.infomask & !m::XMAX_BITS | m::XMAX_INVALID;
        plan.infomask2 &= !(m2::HOT_UPDATED | m2::KEYS_UPDATED);
        changed = true;
    }
    if h.any(m::MOVED) && h.xvac().is_normal() {
        // No VACUUM FULL of a release before 9.0 can be running, so its XID is removed in any case.
        plan.flags |= if h.any(m::MOVED_OFF) { record::INVALID_XVAC } else { record::FREEZE_XVAC };
        plan.infomask |= m::XMIN_COMMITTED;
        changed = true;
    }
    Ok(Prepared {
        plan: changed.then_some(plan),
        totally_frozen: xmin_frozen && (remove_xmax || no_xmax),
    })
}

/// Decides about the multixact in `xmax`. Counterpart: `FreezeMultiXactId`.
fn freeze_multi(
    txn: &Transaction,
    h: &HeapTupleHeader,
    cutoffs: &Cutoffs,
    kept: &mut Kept,
) -> Result<NewMulti> {
    let (multi, mask) = (h.multi(), h.infomask);
    let (limit, relfrozenxid) = (cutoffs.freeze_limit, cutoffs.relfrozenxid);
    let manager = txn.manager();
    if !multi.is_valid() || locked_upgraded(mask) {
        return Ok(NewMulti::Nothing);
    }
    let lock_only = xmax_is_locked_only(mask);
    if multi.precedes(cutoffs.relminmxid) {
        corrupt!("found multixact {multi} from before relminmxid {}", cutoffs.relminmxid);
    }
    if multi.precedes(cutoffs.multi_cutoff) {
        if manager.multixact_is_running(multi, lock_only)? {
            let cutoff = cutoffs.multi_cutoff;
            corrupt!("multixact {multi} from before cutoff {cutoff} found to be still running");
        }
        if lock_only {
            return Ok(NewMulti::Nothing);
        }
        let xid = manager.multixact_update_xid(multi)?;
        if !xid.is_valid() {
            return Ok(NewMulti::Nothing);
        }
        if xid.precedes(relfrozenxid) {
            corrupt!("found update xid {xid} from before relfrozenxid {relfrozenxid}");
        }
        if xid.precedes(limit) {
            if manager.did_commit(xid)? {
                corrupt!("cannot freeze committed update xid {xid}");
            }
            return Ok(NewMulti::Nothing);
        }
        return Ok(NewMulti::Updater(xid, false));
    }
    let members = manager.multixact_members(multi, lock_only)?;
    if members.is_empty() {
        return Ok(NewMulti::Nothing);
    }
    if !members.iter().any(|member| member.xid.precedes(limit)) {
        if multi.precedes(kept.multi) {
            kept.multi = multi;
        }
        members.iter().for_each(|member| kept.xid(member.xid));
        return Ok(NewMulti::Same);
    }
    let mut stay = Members::new();
    let (mut updater, mut updater_committed, mut lockers) = (Xid::INVALID, false, false);
    for member in members {
        let xid = member.xid;
        let running = txn.is_current(xid) || manager.is_in_progress(xid)?;
        if !member.status.is_update() {
            if running {
                stay.push(member);
                lockers = true;
            }
            continue;
        }
        if xid.precedes(relfrozenxid) {
            corrupt!("found update xid {xid} from before relfrozenxid {relfrozenxid}");
        }
        let committed = !running && manager.did_commit(xid)?;
        if running || committed {
            if xid.precedes(limit) {
                corrupt!("found update xid {xid} from before xid cutoff {limit}");
            }
            (updater, updater_committed) = (xid, committed);
            stay.push(member);
        }
    }
    Ok(if stay.is_empty() {
        NewMulti::Nothing
    } else if updater.is_valid() && !lockers {
        NewMulti::Updater(updater, updater_committed)
    } else {
        NewMulti::Replace(stay)
    })
}

/// Applies a plan to the page. Counterpart: `heap_execute_freeze_tuple`.
pub fn execute(page: &mut Page, plan: &FreezeTuple) {
    let Some(mut h) = page.heap_header(plan.offset) else { return };
    h.raw_xmax = plan.xmax;
    if plan.flags & record::FREEZE_XVAC != 0 {
        h.raw_cid = ids::CommandId(Xid::FROZEN.0);
    }
    if plan.flags & record::INVALID_XVAC != 0 {
        h.raw_cid = ids::CommandId(Xid::INVALID.0);
    }
    h.infomask = plan.infomask;
    h.infomask2 = plan.infomask2;
    page.set_heap_header(plan.offset, &h);
}

/// True if [`prepare`] would change the tuple. Updates `kept` with the ids that remain if it is not
/// frozen. Counterpart: `heap_tuple_would_freeze`.
pub fn would_freeze(
    txn: &Transaction,
    h: &HeapTupleHeader,
    cutoffs: &Cutoffs,
    kept: &mut Kept,
) -> Result<bool> {
    let limit = cutoffs.freeze_limit;
    let mut would = false;
    let mut see = |xid: Xid, kept: &mut Kept| {
        if xid.is_normal() {
            kept.xid(xid);
            would |= xid.precedes(limit);
        }
    };
    see(h.xmin(), kept);
    if !h.xmax_is_multi() {
        if !h.xmax_invalid() || h.raw_xmax.is_normal() {
            see(h.raw_xmax, kept);
        }
    } else if h.multi().is_valid() && !locked_upgraded(h.infomask) {
        let multi = h.multi();
        if multi.precedes(kept.multi) {
            kept.multi = multi;
        }
        let members = txn.manager().multixact_members(multi, h.xmax_locked_only())?;
        members.iter().for_each(|member| see(member.xid, kept));
        would |= multi.precedes(cutoffs.multi_cutoff);
    } else {
        would = true;
    }
    Ok(would)
}

/// True if the tuple contains an id that must be frozen some day. Counterpart:
/// `heap_tuple_needs_eventual_freeze`.
pub fn needs_eventual_freeze(h: &HeapTupleHeader) -> bool {
    if h.xmin().is_normal() {
        return true;
    }
    if h.xmax_is_multi() { h.multi().is_valid() } else { h.raw_xmax.is_normal() }
}
