//! Visibility of row versions.
//!
//! A version was inserted by `xmin` and deleted or updated by `xmax` (or only locked by it, by the
//! infomask). Whether these committed is looked up in pg_xact once and then cached in the infomask
//! as a *hint bit*. Functions here return hint bits as a [`Hint`]; the caller sets them, if it may
//! under its latch. The hint bit of a commit may be set only if the commit is durable whenever the
//! page is: its record is flushed, or the page's LSN is not before it (see
//! [`Visibility::committed`]).
//!
//! INVARIANT: "in progress" is tested before "committed", because a transaction sets pg_xact before
//! it leaves the proc array.
//!
//! Counterpart: heapam_visibility.c.

use crate::context::TmResult;
use ids::{CommandId, Lsn, Tid, Xid};
use page::HeapTupleHeader;
use page::heap_tuple::{infomask as m, locked_upgraded};
use pgerror::Result;
use std::cell::Cell;
use txn::{Snapshot, SnapshotKind, Transaction, TxnManager};
use wal::Wal;

/// Hint bits to be set in a tuple's infomask.
pub type Hint = u16;

/// Context of visibility tests. Made for each page.
#[derive(Clone)]
pub struct Visibility<'a> {
    pub txn: &'a Transaction,
    pub manager: &'a TxnManager,
    pub wal: &'a Wal,
    /// True if the relation is permanent. Contents of others do not survive a crash, so their hint
    /// bits need no flushed commit.
    pub permanent: bool,
    /// LSN of the page that the tuple is on.
    pub page_lsn: Lsn,
    /// The last inserter that was found committed and whose hint bit may be set on this page:
    /// adjacent tuples often have the same one. `None` at first, since the XID 0 occurs as the xmin
    /// of an aborted speculative insertion.
    pub committed_xmin: Cell<Option<Xid>>,
}

/// State of a version for VACUUM and pruning. Counterpart: `HTSV_Result`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Liveness {
    /// Not visible to any snapshot.
    Dead,
    Live,
    /// Deleted by this committed transaction; may be visible to older snapshots.
    RecentlyDead(Xid),
    InsertInProgress,
    DeleteInProgress,
}

/// Running transactions of a version that is visible to a dirty snapshot. Counterpart: xmin, xmax
/// and speculativeToken of the snapshot in `HeapTupleSatisfiesDirty`.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct DirtyInfo {
    /// In-progress inserter.
    pub xmin: Xid,
    /// In-progress deleter.
    pub xmax: Xid,
    /// Token of the insertion if it is speculative, else 0.
    pub speculative_token: u32,
}

/// State of xmin.
enum Inserter {
    Committed,
    /// Aborted or crashed: the version is not visible.
    Aborted,
    /// Inserted by this transaction.
    Own,
    InProgress,
}

/// Visibility by hint bits alone, for versions inserted and deleted before the snapshot, which are
/// the most frequent. `None`: hint bits do not suffice.
#[inline(always)]
fn by_hints(h: &HeapTupleHeader, s: &Snapshot) -> Option<bool> {
    const ENDED: u16 = m::XMAX_COMMITTED | m::XMAX_INVALID | m::XMAX_IS_MULTI | m::XMAX_LOCK_ONLY;
    if h.infomask & (ENDED | m::MOVED) == m::XMAX_COMMITTED {
        // A row lock of a release before 9.3 has the bits of a deletion.
        return (h.raw_xmax.precedes(s.xmin) && !h.xmax_locked_only()).then_some(false);
    }
    if h.infomask & (m::XMIN_COMMITTED | m::XMAX_INVALID) == m::XMIN_COMMITTED | m::XMAX_INVALID {
        return (h.xmin_frozen() || h.raw_xmin.precedes(s.xmin)).then_some(true);
    }
    None
}

impl<'a> Visibility<'a> {
    /// True if `xid` committed. Adds `bit` to `hint` then, if it may be set on the page.
    /// Counterpart: `SetHintBits`.
    #[inline]
    pub(crate) fn committed(&self, xid: Xid, bit: Hint, hint: &mut Hint) -> Result<bool> {
        let Some(commit) = self.manager.commit_lsn(xid)? else { return Ok(false) };
        if !self.permanent
            || !commit.is_valid()
            || commit <= self.page_lsn
            || commit <= self.wal.flushed()
        {
            *hint |= bit;
        }
        Ok(true)
    }

    pub(crate) fn cmin(&self, h: &HeapTupleHeader) -> CommandId {
        if h.any(m::COMBOCID) { self.txn.combo_cmin(h.raw_cid) } else { h.raw_cid }
    }

    pub(crate) fn cmax(&self, h: &HeapTupleHeader) -> CommandId {
        if h.any(m::COMBOCID) { self.txn.combo_cmax(h.raw_cid) } else { h.raw_cid }
    }

    /// The transaction that updated or deleted the version; invalid if `xmax` only locks.
    /// Counterpart: `HeapTupleHeaderGetUpdateXid`.
    pub fn update_xid(&self, h: &HeapTupleHeader) -> Result<Xid> {
        update_xid(self.manager, h)
    }

    fn multi_is_running(&self, h: &HeapTupleHeader, lock_only: bool) -> Result<bool> {
        if locked_upgraded(h.infomask) {
            return Ok(false);
        }
        self.manager.multixact_is_running(h.multi(), lock_only)
    }

    /// Current state of xmin.
    #[inline]
    fn inserter_now(&self, h: &HeapTupleHeader, hint: &mut Hint) -> Result<Inserter> {
        if h.xmin_committed() {
            return Ok(Inserter::Committed);
        }
        if h.xmin_invalid() {
            return Ok(Inserter::Aborted);
        }
        if h.any(m::MOVED) {
            return self.moved(h, hint);
        }
        let xmin = h.raw_xmin;
        if self.committed_xmin.get() == Some(xmin) {
            *hint |= m::XMIN_COMMITTED;
            return Ok(Inserter::Committed);
        }
        if self.txn.is_current(xmin) {
            return Ok(Inserter::Own);
        }
        if self.manager.is_in_progress(xmin)? {
            return Ok(Inserter::InProgress);
        }
        self.ended_xmin(xmin, hint)
    }

    /// Outcome of xmin, which has ended.
    #[inline]
    fn ended_xmin(&self, xmin: Xid, hint: &mut Hint) -> Result<Inserter> {
        if self.committed_xmin.get() == Some(xmin) {
            *hint |= m::XMIN_COMMITTED;
            return Ok(Inserter::Committed);
        }
        let before = *hint;
        if self.committed(xmin, m::XMIN_COMMITTED, hint)? {
            if *hint != before {
                self.committed_xmin.set(Some(xmin));
            }
            Ok(Inserter::Committed)
        } else {
            *hint |= m::XMIN_INVALID;
            Ok(Inserter::Aborted)
        }
    }

    /// State of a tuple moved by VACUUM FULL of a release before 9.0, by its `xvac`. No such VACUUM
    /// can be running.
    #[cold]
    fn moved(&self, h: &HeapTupleHeader, hint: &mut Hint) -> Result<Inserter> {
        let committed = self.manager.did_commit(h.xvac())?;
        if h.any(m::MOVED_OFF) != committed {
            *hint |= m::XMIN_COMMITTED;
            Ok(Inserter::Committed)
        } else {
            *hint |= m::XMIN_INVALID;
            Ok(Inserter::Aborted)
        }
    }

    /// True if the tuple is visible to `snapshot`. Counterpart: `HeapTupleSatisfiesVisibility`.
    #[inline(always)]
    pub fn visible(
        &self,
        h: &HeapTupleHeader,
        snapshot: &Snapshot,
        hint: &mut Hint,
    ) -> Result<bool> {
        match snapshot.kind {
            SnapshotKind::Mvcc => match by_hints(h, snapshot) {
                Some(visible) => Ok(visible),
                None => self.mvcc(h, snapshot, hint),
            },
            SnapshotKind::SelfNow => self.self_now(h, hint),
            SnapshotKind::Any => Ok(true),
            SnapshotKind::Toast => self.toast(h, hint),
            SnapshotKind::Dirty => Ok(self.dirty(h, hint)?.is_some()),
        }
    }

    /// Counterpart: `HeapTupleSatisfiesMVCC`.
    #[inline(never)]
    pub fn mvcc(&self, h: &HeapTupleHeader, s: &Snapshot, hint: &mut Hint) -> Result<bool> {
        let xmin = h.raw_xmin;
        if h.xmin_committed() {
            if !h.xmin_frozen() && s.in_progress(xmin, self.manager)? {
                return Ok(false);
            }
        } else {
            if h.xmin_invalid() {
                return Ok(false);
            }
            let inserter = if h.any(m::MOVED) {
                self.moved(h, hint)?
            } else if self.txn.is_current(xmin) {
                return self.own_mvcc(h, s, hint);
            } else if s.in_progress(xmin, self.manager)? {
                return Ok(false);
            } else {
                self.ended_xmin(xmin, hint)?
            };
            if !matches!(inserter, Inserter::Committed) {
                return Ok(false);
            }
        }
        if h.xmax_invalid() || h.xmax_locked_only() {
            return Ok(true);
        }
        if h.xmax_is_multi() {
            let xmax = self.update_xid(h)?;
            if self.txn.is_current(xmax) {
                return Ok(self.cmax(h) >= s.curcid);
            }
            return Ok(s.in_progress(xmax, self.manager)? || !self.manager.did_commit(xmax)?);
        }
        let xmax = h.raw_xmax;
        if h.any(m::XMAX_COMMITTED) {
            return s.in_progress(xmax, self.manager);
        }
        if self.txn.is_current(xmax) {
            return Ok(self.cmax(h) >= s.curcid);
        }
        if s.in_progress(xmax, self.manager)? {
            return Ok(true);
        }
        if !self.committed(xmax, m::XMAX_COMMITTED, hint)? {
            *hint |= m::XMAX_INVALID;
            return Ok(true);
        }
        Ok(false)
    }

    /// Visibility of a version that this transaction inserted.
    fn own_mvcc(&self, h: &HeapTupleHeader, s: &Snapshot, hint: &mut Hint) -> Result<bool> {
        if self.cmin(h) >= s.curcid {
            return Ok(false);
        }
        if h.xmax_invalid() || h.xmax_locked_only() {
            return Ok(true);
        }
        if !self.txn.is_current(self.update_xid(h)?) {
            // The deleting subtransaction aborted.
            if !h.xmax_is_multi() {
                *hint |= m::XMAX_INVALID;
            }
            return Ok(true);
        }
        Ok(self.cmax(h) >= s.curcid)
    }

    /// True if the version is now committed or the transaction's own, and not deleted. Counterpart:
    /// `HeapTupleSatisfiesSelf`.
    pub fn self_now(&self, h: &HeapTupleHeader, hint: &mut Hint) -> Result<bool> {
        match self.inserter_now(h, hint)? {
            Inserter::Aborted | Inserter::InProgress => Ok(false),
            Inserter::Own => {
                if h.xmax_invalid() || h.xmax_locked_only() {
                    return Ok(true);
                }
                if self.txn.is_current(self.update_xid(h)?) {
                    return Ok(false);
                }
                if !h.xmax_is_multi() {
                    *hint |= m::XMAX_INVALID;
                }
                Ok(true)
            }
            Inserter::Committed => Ok(match self.deleter_now(h, hint)? {
                Deleter::None | Deleter::InProgress(_) => true,
                Deleter::Own | Deleter::Committed => false,
            }),
        }
    }

    /// Current state of the deleter of a version whose inserter committed.
    fn deleter_now(&self, h: &HeapTupleHeader, hint: &mut Hint) -> Result<Deleter> {
        if h.xmax_invalid() || h.xmax_locked_only() {
            return Ok(Deleter::None);
        }
        if h.any(m::XMAX_COMMITTED) {
            return Ok(Deleter::Committed);
        }
        let multi = h.xmax_is_multi();
        let xmax = self.update_xid(h)?;
        if self.txn.is_current(xmax) {
            return Ok(Deleter::Own);
        }
        if self.manager.is_in_progress(xmax)? {
            return Ok(Deleter::InProgress(xmax));
        }
        let mut found = 0;
        let committed = self.committed(xmax, m::XMAX_COMMITTED, &mut found)?;
        if !multi {
            *hint |= if committed { found } else { m::XMAX_INVALID };
        }
        Ok(if committed { Deleter::Committed } else { Deleter::None })
    }

    /// TOAST chunks are visible unless their insertion is known to have failed. They are read only
    /// through a TOAST pointer in a row version that has passed its own visibility test.
    /// Counterpart: `HeapTupleSatisfiesToast`.
    pub fn toast(&self, h: &HeapTupleHeader, hint: &mut Hint) -> Result<bool> {
        if h.xmin_committed() {
            return Ok(true);
        }
        if h.xmin_invalid() {
            return Ok(false);
        }
        if h.any(m::MOVED) {
            return Ok(matches!(self.moved(h, hint)?, Inserter::Committed));
        }
        // An aborted speculative insertion has an invalid xmin.
        Ok(h.raw_xmin.is_valid())
    }

    /// As [`Self::self_now`], but changes in progress are visible and reported. `None`: not
    /// visible.
    /// Counterpart: `HeapTupleSatisfiesDirty`.
    pub fn dirty(&self, h: &HeapTupleHeader, hint: &mut Hint) -> Result<Option<DirtyInfo>> {
        let mut info = DirtyInfo::default();
        match self.inserter_now(h, hint)? {
            Inserter::Aborted => return Ok(None),
            Inserter::Own => {
                let live = h.xmax_invalid()
                    || h.xmax_locked_only()
                    || !self.txn.is_current(self.update_xid(h)?);
                return Ok(live.then_some(info));
            }
            Inserter::InProgress => {
                if h.is_speculative() {
                    info.speculative_token = h.speculative_token();
                }
                info.xmin = h.raw_xmin;
                return Ok(Some(info));
            }
            Inserter::Committed => {}
        }
        if h.xmax_is_multi() && !h.xmax_locked_only() && !h.xmax_invalid() {
            let xmax = self.update_xid(h)?;
            if self.txn.is_current(xmax) {
                return Ok(None);
            }
            if self.manager.is_in_progress(xmax)? {
                info.xmax = xmax;
                return Ok(Some(info));
            }
            return Ok((!self.manager.did_commit(xmax)?).then_some(info));
        }
        Ok(match self.deleter_now(h, hint)? {
            Deleter::None => Some(info),
            Deleter::InProgress(xmax) => {
                info.xmax = xmax;
                Some(info)
            }
            Deleter::Own | Deleter::Committed => None,
        })
    }

    /// Whether the command `curcid` may update, delete or lock the version at `tid`, or must wait
    /// for another transaction. Counterpart: `HeapTupleSatisfiesUpdate`.
    pub fn update(
        &self,
        h: &HeapTupleHeader,
        tid: Tid,
        curcid: CommandId,
        hint: &mut Hint,
    ) -> Result<TmResult> {
        match self.inserter_now(h, hint)? {
            Inserter::Aborted | Inserter::InProgress => return Ok(TmResult::Invisible),
            Inserter::Own => return self.update_own(h, curcid, hint),
            Inserter::Committed => {}
        }
        let own = |cmax: CommandId| {
            if cmax >= curcid { TmResult::SelfModified } else { TmResult::Invisible }
        };
        let ended = || if h.ctid != tid { TmResult::Updated } else { TmResult::Deleted };
        if h.xmax_invalid() {
            return Ok(TmResult::Ok);
        }
        if h.any(m::XMAX_COMMITTED) {
            return Ok(if h.xmax_locked_only() { TmResult::Ok } else { ended() });
        }
        if h.xmax_is_multi() {
            if locked_upgraded(h.infomask) {
                return Ok(TmResult::Ok);
            }
            if h.xmax_locked_only() {
                if self.multi_is_running(h, true)? {
                    return Ok(TmResult::BeingModified);
                }
                *hint |= m::XMAX_INVALID;
                return Ok(TmResult::Ok);
            }
            let xmax = self.update_xid(h)?;
            if self.txn.is_current(xmax) {
                return Ok(own(self.cmax(h)));
            }
            if self.multi_is_running(h, false)? {
                return Ok(TmResult::BeingModified);
            }
            if xmax.is_valid() && self.manager.did_commit(xmax)? {
                return Ok(ended());
            }
            *hint |= m::XMAX_INVALID;
            return Ok(TmResult::Ok);
        }
        let xmax = h.raw_xmax;
        if self.txn.is_current(xmax) {
            if h.xmax_locked_only() {
                return Ok(TmResult::BeingModified);
            }
            return Ok(own(self.cmax(h)));
        }
        if self.manager.is_in_progress(xmax)? {
            return Ok(TmResult::BeingModified);
        }
        if h.xmax_locked_only() || !self.committed(xmax, m::XMAX_COMMITTED, hint)? {
            *hint |= m::XMAX_INVALID;
            return Ok(TmResult::Ok);
        }
        Ok(ended())
    }

    fn update_own(
        &self,
        h: &HeapTupleHeader,
        curcid: CommandId,
        hint: &mut Hint,
    ) -> Result<TmResult> {
        if self.cmin(h) >= curcid {
            return Ok(TmResult::Invisible);
        }
        if h.xmax_invalid() {
            return Ok(TmResult::Ok);
        }
        if h.xmax_locked_only() {
            // The lock may be that of an ended subtransaction, or in a multixact.
            let running = if h.xmax_is_multi() {
                self.multi_is_running(h, true)?
            } else {
                self.manager.is_in_progress(h.raw_xmax)?
            };
            return Ok(if running { TmResult::BeingModified } else { TmResult::Ok });
        }
        let xmax = self.update_xid(h)?;
        if self.txn.is_current(xmax) {
            let later = self.cmax(h) >= curcid;
            return Ok(if later { TmResult::SelfModified } else { TmResult::Invisible });
        }
        // The deleting subtransaction aborted.
        if h.xmax_is_multi() {
            let running = self.multi_is_running(h, false)?;
            return Ok(if running { TmResult::BeingModified } else { TmResult::Ok });
        }
        *hint |= m::XMAX_INVALID;
        Ok(TmResult::Ok)
    }

    /// State of the version, without a horizon. Counterpart: `HeapTupleSatisfiesVacuumHorizon`.
    pub fn liveness(&self, h: &HeapTupleHeader, hint: &mut Hint) -> Result<Liveness> {
        match self.inserter_now(h, hint)? {
            Inserter::Aborted => return Ok(Liveness::Dead),
            Inserter::InProgress => return Ok(Liveness::InsertInProgress),
            Inserter::Own => {
                if !h.xmax_invalid()
                    && !h.xmax_locked_only()
                    && self.txn.is_current(self.update_xid(h)?)
                {
                    return Ok(Liveness::DeleteInProgress);
                }
                return Ok(Liveness::InsertInProgress);
            }
            Inserter::Committed => {}
        }
        if h.xmax_invalid() {
            return Ok(Liveness::Live);
        }
        if h.xmax_locked_only() {
            if !h.any(m::XMAX_COMMITTED) {
                let running = if h.xmax_is_multi() {
                    self.multi_is_running(h, true)?
                } else {
                    self.manager.is_in_progress(h.raw_xmax)?
                };
                if !running {
                    *hint |= m::XMAX_INVALID;
                }
            }
            return Ok(Liveness::Live);
        }
        if h.xmax_is_multi() {
            let xmax = self.update_xid(h)?;
            if self.manager.is_in_progress(xmax)? {
                return Ok(Liveness::DeleteInProgress);
            }
            if self.manager.did_commit(xmax)? {
                return Ok(Liveness::RecentlyDead(xmax));
            }
            if !self.multi_is_running(h, false)? {
                *hint |= m::XMAX_INVALID;
            }
            return Ok(Liveness::Live);
        }
        let xmax = h.raw_xmax;
        if !h.any(m::XMAX_COMMITTED) {
            if self.manager.is_in_progress(xmax)? {
                return Ok(Liveness::DeleteInProgress);
            }
            if !self.committed(xmax, m::XMAX_COMMITTED, hint)? {
                *hint |= m::XMAX_INVALID;
                return Ok(Liveness::Live);
            }
        }
        Ok(Liveness::RecentlyDead(xmax))
    }

    /// As [`Self::liveness`]; versions deleted before `oldest_xmin` are dead.
    /// Counterpart: `HeapTupleSatisfiesVacuum`.
    pub fn liveness_before(
        &self,
        h: &HeapTupleHeader,
        oldest_xmin: Xid,
        hint: &mut Hint,
    ) -> Result<Liveness> {
        Ok(match self.liveness(h, hint)? {
            Liveness::RecentlyDead(xmax) if xmax.precedes(oldest_xmin) => Liveness::Dead,
            other => other,
        })
    }

    /// True if the version is neither updated nor deleted now. Considers not only the infomask: an
    /// updater in a multixact that has aborted does not count. Counterpart:
    /// `HeapTupleHeaderIsOnlyLocked`.
    pub fn only_locked(&self, h: &HeapTupleHeader) -> Result<bool> {
        if h.xmax_invalid() || h.xmax_locked_only() || !h.raw_xmax.is_valid() {
            return Ok(true);
        }
        if !h.xmax_is_multi() {
            return Ok(false);
        }
        let xmax = self.update_xid(h)?;
        if self.txn.is_current(xmax) || self.manager.is_in_progress(xmax)? {
            return Ok(false);
        }
        Ok(!self.manager.did_commit(xmax)?)
    }

    /// True if the version is dead to all snapshots, by hint bits and `removable` alone.
    /// Counterpart: `HeapTupleIsSurelyDead`.
    pub fn surely_dead(h: &HeapTupleHeader, removable: impl FnOnce(Xid) -> bool) -> bool {
        if !h.xmin_committed() {
            return h.xmin_invalid();
        }
        if h.xmax_invalid() || h.xmax_locked_only() || h.xmax_is_multi() {
            return false;
        }
        h.any(m::XMAX_COMMITTED) && removable(h.raw_xmax)
    }
}

enum Deleter {
    None,
    Own,
    InProgress(Xid),
    Committed,
}

/// See [`Visibility::update_xid`].
pub(crate) fn update_xid(manager: &TxnManager, h: &HeapTupleHeader) -> Result<Xid> {
    if h.xmax_invalid() || !h.xmax_is_multi() || h.xmax_locked_only() {
        return Ok(h.raw_xmax);
    }
    manager.multixact_update_xid(h.multi())
}
