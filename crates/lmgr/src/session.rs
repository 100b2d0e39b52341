//! A session's locks: the local lock table, which counts how often and for which owner each lock
//! is held, and acquisition and release.
//!
//! Counterpart: `LOCALLOCK`, `LockAcquireExtended` and `LockRelease` in lock.c.

use crate::fastpath::{is_strong, is_weak};
use crate::manager::{LockManager, ProcNo};
use crate::sleep::Slept;
use crate::{LockMode, LockTag, VirtualXid};
use hashbrown::{HashMap, HashSet};
use ids::{BackendNo, Oid, SubXactId};
use pgerror::{PgError, Result, Severity, pg_err};
use smallvec::SmallVec;
use std::time::Duration;
use sync::Arc;
use sync::atomic::{AtomicU32, Ordering};
use sync::wait::{Interrupt, Waiter};

/// Which end releases the lock: the session's (or an explicit release), or a (sub)transaction's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockOwner {
    Session,
    SubXact(SubXactId),
}

impl LockOwner {
    const fn code(self) -> u32 {
        match self {
            LockOwner::Session => 0,
            LockOwner::SubXact(sub) => sub.0,
        }
    }
}

/// Outcome of an acquisition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acquired {
    /// Only under [`WaitPolicy::Try`]: a conflicting lock is held or awaited.
    NotAvailable,
    /// Newly held: another session may have changed the object before, so the caller must process
    /// cache invalidations.
    New,
    /// Held already, counted once more.
    AlreadyHeld,
    /// Held already, and [`LockSession::mark_clear`] was called since: the caches are up to date.
    AlreadyClear,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitPolicy {
    Wait,
    /// Return [`Acquired::NotAvailable`] instead of waiting.
    Try,
}

#[derive(Default)]
struct Local {
    total: u32,
    /// (owner label, count). Subtransactions end in the reverse of their order, so a search from
    /// the end is short.
    owners: SmallVec<[(u32, u32); 2]>,
    /// Acquired through the fast path (and perhaps transferred to the shared table since).
    fast: bool,
    /// Counted in a strong-lock counter.
    strong: bool,
    clear: bool,
}

type Key = (LockTag, LockMode);

/// The locks of one session. Closing or dropping it releases all of them.
///
/// INVARIANT: it is closed before its slot is assigned to another session; once closed it does not
/// access the slot, however long it lives.
pub struct LockSession {
    pub(crate) manager: Arc<LockManager>,
    pub(crate) proc: ProcNo,
    database: Oid,
    pub(crate) waiter: Arc<Waiter>,
    local: HashMap<Key, Local, foldhash::fast::FixedState>,
    /// Locks owned by each subtransaction below the top level, by its label. The end of a
    /// subtransaction then needs no pass over all locks of the transaction.
    owned: HashMap<u32, HashSet<Key, foldhash::fast::FixedState>, foldhash::fast::FixedState>,
    /// The label under which each subtransaction below the top level owns locks. Labels are not
    /// subtransaction numbers, because a parent takes over the label of a committed child that
    /// owns more locks (`transfer`).
    labels: HashMap<u32, u32, foldhash::fast::FixedState>,
    last_label: u32,
    closed: bool,
    /// Setting `lock_timeout`; zero is none.
    pub(crate) lock_timeout: Duration,
    /// Setting `deadlock_timeout`; `None`: the manager's.
    pub(crate) deadlock_timeout: Option<Duration>,
    /// Deadlock errors since [`LockSession::take_deadlocks`].
    pub(crate) deadlocks: AtomicU32,
}

impl LockSession {
    pub(crate) fn new(
        manager: Arc<LockManager>,
        proc: ProcNo,
        database: Oid,
        waiter: Arc<Waiter>,
    ) -> LockSession {
        LockSession {
            manager,
            proc,
            database,
            waiter,
            local: HashMap::default(),
            owned: HashMap::default(),
            labels: HashMap::default(),
            last_label: SubXactId::TOP.0,
            closed: false,
            lock_timeout: Duration::ZERO,
            deadlock_timeout: None,
            deadlocks: AtomicU32::new(0),
        }
    }

    pub fn manager(&self) -> &Arc<LockManager> {
        &self.manager
    }

    pub fn waiter(&self) -> &Arc<Waiter> {
        &self.waiter
    }

    pub fn proc(&self) -> ProcNo {
        self.proc
    }

    /// Number of deadlock errors of the session since the last call.
    #[inline]
    pub fn take_deadlocks(&self) -> u32 {
        match self.deadlocks.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.deadlocks.swap(0, Ordering::Relaxed),
        }
    }

    pub fn set_lock_timeout(&mut self, span: Duration) {
        self.lock_timeout = span;
    }

    /// Whether the session's statement is cancelled when another session has waited for one of its
    /// locks for `deadlock_timeout`.
    pub fn set_cancellable(&mut self, on: bool) {
        let slot = &self.manager.slots[self.proc as usize];
        slot.cancellable.store(on, Ordering::Release);
    }

    pub fn set_deadlock_timeout(&mut self, span: Duration) {
        self.deadlock_timeout = Some(span);
    }

    /// Sets the session's database, which is known only after start-up. Only while no lock is held.
    pub fn set_database(&mut self, database: Oid) {
        self.database = database;
        self.manager.slots[self.proc as usize].fast.lock().database = database;
    }

    /// Acquires the lock; waits for conflicting locks if `policy` allows. Errors: deadlock (40P01),
    /// lock timeout (55P03), interrupts. Counterpart: `LockAcquireExtended`.
    pub fn acquire(
        &mut self,
        tag: LockTag,
        mode: LockMode,
        owner: LockOwner,
        policy: WaitPolicy,
    ) -> Result<Acquired> {
        let label = self.label_or_new(owner);
        if let Some(local) = self.local.get_mut(&(tag, mode)) {
            let clear = local.clear;
            if local.count(label, 1) {
                self.note_owner((tag, mode), label);
            }
            return Ok(if clear { Acquired::AlreadyClear } else { Acquired::AlreadyHeld });
        }
        if self.acquire_fast(&tag, mode) {
            self.remember(tag, mode, label, true, false);
            return Ok(Acquired::New);
        }
        let strong = tag.fast_path_kind() && is_strong(mode);
        if strong {
            self.manager.strong_counter(&tag).fetch_add(1, Ordering::SeqCst);
            self.manager.transfer_fast_locks(&tag);
        }
        let outcome = self.acquire_shared(&tag, mode, policy);
        if strong && !matches!(outcome, Ok(true)) {
            self.manager.strong_counter(&tag).fetch_sub(1, Ordering::SeqCst);
        }
        if !outcome? {
            return Ok(Acquired::NotAvailable);
        }
        self.remember(tag, mode, label, false, strong);
        Ok(Acquired::New)
    }

    fn acquire_fast(&self, tag: &LockTag, mode: LockMode) -> bool {
        if !is_weak(mode) || !tag.fast_path_kind() || tag.field1 != self.database.0 {
            return false;
        }
        let mut fast = self.manager.slots[self.proc as usize].fast.lock();
        self.manager.strong_counter(tag).load(Ordering::SeqCst) == 0
            && fast.grant(Oid(tag.field2), mode)
    }

    /// False: not available under `Try`.
    fn acquire_shared(&self, tag: &LockTag, mode: LockMode, policy: WaitPolicy) -> Result<bool> {
        let mut table = self.manager.partition(tag).lock();
        let lock = table.entry(*tag).or_default();
        let blocked =
            mode.conflicts() & lock.wait_mask != 0 || lock.conflicts_with_holders(self.proc, mode);
        if !blocked {
            lock.grant(self.proc, mode);
            return Ok(true);
        }
        if policy == WaitPolicy::Try {
            if lock.is_unused() {
                table.remove(tag);
            }
            return Ok(false);
        }
        match self.sleep(table, tag, mode)? {
            Slept::Granted => Ok(true),
        }
    }

    fn remember(&mut self, tag: LockTag, mode: LockMode, label: u32, fast: bool, strong: bool) {
        let local = self.local.entry((tag, mode)).or_default();
        local.fast = fast;
        local.strong = strong;
        if local.count(label, 1) {
            self.note_owner((tag, mode), label);
        }
    }

    /// The owner's label, if it owns or owned a lock.
    fn label(&self, owner: LockOwner) -> Option<u32> {
        match owner.code() {
            code if code <= SubXactId::TOP.0 => Some(code),
            code => self.labels.get(&code).copied(),
        }
    }

    fn label_or_new(&mut self, owner: LockOwner) -> u32 {
        if let Some(label) = self.label(owner) {
            return label;
        }
        self.last_label += 1;
        self.labels.insert(owner.code(), self.last_label);
        self.last_label
    }

    fn note_owner(&mut self, key: Key, label: u32) {
        if label > SubXactId::TOP.0 {
            self.owned.entry(label).or_default().insert(key);
        }
    }

    /// Releases one acquisition by `owner`; false if there is none.
    /// Counterpart: `LockRelease`.
    pub fn release(&mut self, tag: LockTag, mode: LockMode, owner: LockOwner) -> bool {
        let Some(code) = self.label(owner) else { return false };
        let Some(local) = self.local.get_mut(&(tag, mode)) else { return false };
        let Some(at) = local.owners.iter().rposition(|(o, _)| *o == code) else { return false };
        local.owners[at].1 -= 1;
        if local.owners[at].1 == 0 {
            local.owners.swap_remove(at);
            if let Some(owned) = self.owned.get_mut(&code) {
                owned.remove(&(tag, mode));
            }
        }
        local.total -= 1;
        if local.total == 0 {
            let local = self.local.remove(&(tag, mode)).expect("looked up above");
            self.release_shared(tag, mode, &local);
        }
        true
    }

    fn release_shared(&self, tag: LockTag, mode: LockMode, local: &Local) {
        let fast = local.fast
            && self.manager.slots[self.proc as usize].fast.lock().ungrant(Oid(tag.field2), mode);
        if !fast {
            self.manager.ungrant(&tag, self.proc, mode);
        }
        if local.strong {
            self.manager.strong_counter(&tag).fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Notes that the caller has processed cache invalidations since it acquired the lock.
    pub fn mark_clear(&mut self, tag: LockTag, mode: LockMode) {
        if let Some(local) = self.local.get_mut(&(tag, mode)) {
            local.clear = true;
        }
    }

    /// From now on an acquisition of a held lock requests that the caller processes invalidations
    /// again.
    pub fn mark_all_unclear(&mut self) {
        self.local.values_mut().for_each(|l| l.clear = false);
    }

    pub fn holds(&self, tag: LockTag, mode: LockMode) -> bool {
        self.local.contains_key(&(tag, mode))
    }

    /// True if the session holds the object in `mode` or in a mode with a higher number.
    pub fn holds_at_least(&self, tag: LockTag, mode: LockMode) -> bool {
        LockMode::ALL[mode as usize - 1..].iter().any(|m| self.holds(tag, *m))
    }

    /// True if there is a waiter for a mode that conflicts with `mode`, which this session holds.
    /// Counterpart: `LockHasWaiters`.
    pub fn has_waiters(&self, tag: LockTag, mode: LockMode) -> bool {
        let table = self.manager.partition(&tag).lock();
        table.get(&tag).is_some_and(|lock| mode.conflicts() & lock.wait_mask != 0)
    }

    /// Transfers the locks of a committed subtransaction to its parent.
    pub fn transfer(&mut self, from: SubXactId, to: SubXactId) {
        let Some(child) = self.labels.remove(&from.0) else { return };
        let Some(mut keys) = self.owned.remove(&child) else { return };
        let parent = self.label_or_new(LockOwner::SubXact(to));
        if to == SubXactId::TOP {
            return self.relabel(&keys, child, parent);
        }
        // The smaller set is relabelled, so a lock that moves up through many levels is relabelled
        // at most log2(number of locks) times.
        let mut more = self.owned.remove(&parent).unwrap_or_default();
        let label = if more.len() < keys.len() {
            std::mem::swap(&mut more, &mut keys);
            self.relabel(&keys, parent, child);
            self.labels.insert(to.0, child);
            child
        } else {
            self.relabel(&keys, child, parent);
            parent
        };
        more.extend(keys);
        self.owned.insert(label, more);
    }

    fn relabel(&mut self, keys: &HashSet<Key, foldhash::fast::FixedState>, from: u32, to: u32) {
        for key in keys {
            let local = self.local.get_mut(key).expect("an owned lock is held");
            let count = local.forget(from);
            local.count(to, count);
        }
    }

    /// Releases the locks of an aborted subtransaction.
    pub fn release_subxact(&mut self, sub: SubXactId) {
        let Some(label) = self.labels.remove(&sub.0) else { return };
        let Some(keys) = self.owned.remove(&label) else { return };
        for (tag, mode) in keys {
            let local = self.local.get_mut(&(tag, mode)).expect("an owned lock is held");
            local.forget(label);
            if local.total == 0 {
                let local = self.local.remove(&(tag, mode)).expect("looked up above");
                self.release_shared(tag, mode, &local);
            }
        }
    }

    /// Releases all locks at the end of a transaction, except session-level locks and the lock on
    /// the virtual xid (see [`LockSession::end_vxid`]).
    pub fn release_transaction(&mut self) {
        if !self.local.is_empty() {
            self.release_where(|owner| owner != 0);
        }
        self.owned = HashMap::default();
        self.labels = HashMap::default();
        self.last_label = SubXactId::TOP.0;
    }

    /// Releases everything and frees the slot for another session.
    pub fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.release_where(|_| true);
        self.end_vxid();
        let slot = &self.manager.slots[self.proc as usize];
        *slot.waiter.lock() = None;
        slot.fast.lock().database = Oid::INVALID;
        slot.pid.store(0, Ordering::Relaxed);
    }

    /// `pg_advisory_unlock_all`: releases the session-level advisory locks.
    pub fn release_session_advisory(&mut self) {
        self.release_matching(|tag, owner| tag.kind == crate::LockTagKind::Advisory && owner == 0);
    }

    fn release_where(&mut self, gone: impl Fn(u32) -> bool) {
        self.release_matching(|_, owner| gone(owner));
    }

    fn release_matching(&mut self, gone: impl Fn(&LockTag, u32) -> bool) {
        let mut local = std::mem::take(&mut self.local);
        local.retain(|(tag, mode), l| {
            l.owners.retain(|(owner, _)| !gone(tag, *owner));
            l.total = l.owners.iter().map(|(_, n)| n).sum();
            if l.total == 0 {
                self.release_shared(*tag, *mode, l);
            }
            l.total != 0
        });
        self.local = local;
    }

    /// Starts a transaction with this local number and locks its virtual xid for others to wait on.
    /// Counterpart: `VirtualXactLockTableInsert`.
    pub fn begin_vxid(&mut self, local: u32) -> VirtualXid {
        let mut fast = self.manager.slots[self.proc as usize].fast.lock();
        debug_assert!(fast.local_xid == 0, "the previous transaction still runs");
        fast.local_xid = local;
        fast.vxid_is_fast = true;
        VirtualXid { backend: BackendNo(self.proc), local }
    }

    /// Counterpart: `VirtualXactLockTableCleanup`.
    pub fn end_vxid(&mut self) {
        let mut fast = self.manager.slots[self.proc as usize].fast.lock();
        let local = std::mem::take(&mut fast.local_xid);
        let was_fast = std::mem::take(&mut fast.vxid_is_fast);
        drop(fast);
        if local != 0 && !was_fast {
            let vxid = VirtualXid { backend: BackendNo(self.proc), local };
            let tag = LockTag::virtual_transaction(vxid);
            self.manager.ungrant(&tag, self.proc, LockMode::Exclusive);
        }
    }

    /// Waits for the end of the transaction with this virtual xid; without `wait` only returns
    /// whether it has ended. Counterpart: `VirtualXactLock`.
    pub fn wait_for_vxid(&mut self, vxid: VirtualXid, wait: bool) -> Result<bool> {
        if !wait {
            let runs = self.manager.vxid(vxid.backend.0) == Some(vxid);
            return Ok(!runs && self.manager.prepared_xid(vxid).is_none());
        }
        if self.manager.materialize_vxid(vxid) {
            self.wait_for_holder(LockTag::virtual_transaction(vxid))?;
        }
        // The session may have prepared the transaction, which is still running then.
        while let Some(xid) = self.manager.prepared_xid(vxid) {
            self.wait_for_holder(LockTag::transaction(xid))?;
        }
        Ok(true)
    }

    fn wait_for_holder(&mut self, tag: LockTag) -> Result<()> {
        self.acquire(tag, LockMode::Share, LockOwner::Session, WaitPolicy::Wait)?;
        self.release(tag, LockMode::Share, LockOwner::Session);
        Ok(())
    }

    /// Each lock with each of its owners.
    pub(crate) fn owned_locks(&self) -> impl Iterator<Item = (LockTag, LockMode, LockOwner)> {
        self.local.iter().flat_map(|((tag, mode), local)| {
            let owner = |label| match label {
                0 => LockOwner::Session,
                label => LockOwner::SubXact(SubXactId(label)),
            };
            local.owners.iter().map(move |(label, _)| (*tag, *mode, owner(*label)))
        })
    }

    /// True if the lock was acquired through the fast path.
    pub(crate) fn is_fast(&self, tag: LockTag, mode: LockMode) -> bool {
        self.local.get(&(tag, mode)).is_some_and(|l| l.fast)
    }

    /// Forgets the locks of the transaction, which another slot holds now.
    pub(crate) fn forget_transaction(&mut self) {
        self.local.retain(|_, l| {
            l.owners.retain(|(owner, _)| *owner == 0);
            l.total = l.owners.iter().map(|(_, n)| n).sum();
            l.total != 0
        });
        self.release_transaction();
    }
}

impl Drop for LockSession {
    fn drop(&mut self) {
        self.close();
    }
}

impl Local {
    /// Adds `times` acquisitions; true if `owner` had none before.
    fn count(&mut self, owner: u32, times: u32) -> bool {
        self.total += times;
        match self.owners.iter_mut().rfind(|(o, _)| *o == owner) {
            Some(entry) => entry.1 += times,
            None => {
                self.owners.push((owner, times));
                return true;
            }
        }
        false
    }

    /// Removes the owner; returns its number of acquisitions.
    fn forget(&mut self, owner: u32) -> u32 {
        let Some(at) = self.owners.iter().rposition(|(o, _)| *o == owner) else { return 0 };
        let (_, times) = self.owners.swap_remove(at);
        self.total -= times;
        times
    }
}

impl LockManager {
    pub(crate) fn ungrant(&self, tag: &LockTag, proc: ProcNo, mode: LockMode) {
        let mut table = self.partition(tag).lock();
        let Some(lock) = table.get_mut(tag) else {
            debug_assert!(false, "released a lock that is not in the table");
            return;
        };
        if lock.ungrant(proc, mode) {
            lock.wake(&self.slots);
        }
        if lock.is_unused() {
            table.remove(tag);
        }
    }
}

/// Consumes the most severe pending interrupt and returns its error; `None` if no pending
/// interrupt ends a wait.
pub fn interrupt_error(waiter: &Waiter) -> Option<PgError> {
    if waiter.take_one(Interrupt::Terminate) {
        let error = pg_err!(ADMIN_SHUTDOWN, "terminating connection due to administrator command");
        return Some(error.severity(Severity::Fatal));
    }
    // The lock timeout is reported before a statement timeout, because it is the narrower cause.
    if waiter.take_one(Interrupt::LockTimeout) {
        return Some(lock_timeout_error());
    }
    if waiter.take_one(Interrupt::StatementTimeout) {
        return Some(pg_err!(QUERY_CANCELED, "canceling statement due to statement timeout"));
    }
    if waiter.take_one(Interrupt::QueryCancel) {
        return Some(pg_err!(QUERY_CANCELED, "canceling statement due to user request"));
    }
    None
}

pub(crate) fn lock_timeout_error() -> PgError {
    pg_err!(LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout")
}
