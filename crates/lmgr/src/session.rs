//! A session's locks: the local table that counts how often and for whom each is held.

use crate::fastpath::{is_strong, is_weak};
use crate::manager::{LockManager, ProcNo};
use crate::sleep::Slept;
use crate::{LockMode, LockTag, VirtualXid};
use hashbrown::HashMap;
use ids::{BackendNo, Oid, SubXactId};
use pgerror::{PgError, Result, Severity, pg_err};
use smallvec::SmallVec;
use std::time::Duration;
use sync::Arc;
use sync::atomic::Ordering;
use sync::wait::{Interrupt, Waiter};

/// Who gives the lock back: the session at its end (or by hand), or a (sub)transaction.
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

/// What an acquisition came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acquired {
    /// Only under [`WaitPolicy::Try`]: somebody is in the way.
    NotAvailable,
    /// Newly held: what happened before may have changed the object, so caches must be rechecked.
    New,
    /// Held already, counted once more.
    AlreadyHeld,
    /// Held already, and [`LockSession::mark_clear`] said that caches were rechecked since.
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
    owners: SmallVec<[(u32, u32); 2]>,
    /// Got through the fast path (and perhaps moved to the shared table since).
    fast: bool,
    /// Counts in a strong-lock counter.
    strong: bool,
    clear: bool,
}

/// See the crate's text. Closing or dropping it releases everything.
///
/// INVARIANT: it is closed before its slot is given to another session; then it does not touch the
/// slot any more, however long it lives.
pub struct LockSession {
    pub(crate) manager: Arc<LockManager>,
    pub(crate) proc: ProcNo,
    database: Oid,
    pub(crate) waiter: Arc<Waiter>,
    local: HashMap<(LockTag, LockMode), Local, foldhash::fast::FixedState>,
    closed: bool,
    /// Setting `lock_timeout`; zero is none.
    pub(crate) lock_timeout: Duration,
    /// Setting `deadlock_timeout`; `None`: the manager's.
    pub(crate) deadlock_timeout: Option<Duration>,
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
            closed: false,
            lock_timeout: Duration::ZERO,
            deadlock_timeout: None,
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

    pub fn set_lock_timeout(&mut self, span: Duration) {
        self.lock_timeout = span;
    }

    pub fn set_deadlock_timeout(&mut self, span: Duration) {
        self.deadlock_timeout = Some(span);
    }

    /// The session connects to `database` (known only after start-up). Only while no lock is held.
    pub fn set_database(&mut self, database: Oid) {
        self.database = database;
        self.manager.slots[self.proc as usize].fast.lock().database = database;
    }

    /// Takes the lock, waiting if it must and may. Errors: deadlock (40P01), lock timeout (55P03),
    /// interrupts. Counterpart: `LockAcquireExtended`.
    pub fn acquire(
        &mut self,
        tag: LockTag,
        mode: LockMode,
        owner: LockOwner,
        policy: WaitPolicy,
    ) -> Result<Acquired> {
        if let Some(local) = self.local.get_mut(&(tag, mode)) {
            local.count(owner);
            return Ok(if local.clear { Acquired::AlreadyClear } else { Acquired::AlreadyHeld });
        }
        if self.acquire_fast(&tag, mode) {
            self.remember(tag, mode, owner, true, false);
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
        self.remember(tag, mode, owner, false, strong);
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

    fn remember(
        &mut self,
        tag: LockTag,
        mode: LockMode,
        owner: LockOwner,
        fast: bool,
        strong: bool,
    ) {
        let local = self.local.entry((tag, mode)).or_default();
        local.fast = fast;
        local.strong = strong;
        local.count(owner);
    }

    /// Gives back one acquisition by `owner`; false if there is none.
    /// Counterpart: `LockRelease`.
    pub fn release(&mut self, tag: LockTag, mode: LockMode, owner: LockOwner) -> bool {
        let Some(local) = self.local.get_mut(&(tag, mode)) else { return false };
        let code = owner.code();
        let Some(at) = local.owners.iter().position(|(o, _)| *o == code) else { return false };
        local.owners[at].1 -= 1;
        if local.owners[at].1 == 0 {
            local.owners.swap_remove(at);
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

    /// The caller has rechecked its caches since it took the lock.
    pub fn mark_clear(&mut self, tag: LockTag, mode: LockMode) {
        if let Some(local) = self.local.get_mut(&(tag, mode)) {
            local.clear = true;
        }
    }

    /// Caches must be rechecked at the next acquisition even of held locks.
    pub fn mark_all_unclear(&mut self) {
        self.local.values_mut().for_each(|l| l.clear = false);
    }

    pub fn holds(&self, tag: LockTag, mode: LockMode) -> bool {
        self.local.contains_key(&(tag, mode))
    }

    /// Does the session hold the object in any mode at least as strong in number?
    pub fn holds_at_least(&self, tag: LockTag, mode: LockMode) -> bool {
        LockMode::ALL[mode as usize - 1..].iter().any(|m| self.holds(tag, *m))
    }

    /// Is a lock held (in this mode by us) that somebody else waits for?
    /// Counterpart: `LockHasWaiters`.
    pub fn has_waiters(&self, tag: LockTag, mode: LockMode) -> bool {
        let table = self.manager.partition(&tag).lock();
        table.get(&tag).is_some_and(|lock| mode.conflicts() & lock.wait_mask != 0)
    }

    /// A subtransaction committed: its parent owns its locks now.
    pub fn transfer(&mut self, from: SubXactId, to: SubXactId) {
        for local in self.local.values_mut() {
            let Some(at) = local.owners.iter().position(|(o, _)| *o == from.0) else { continue };
            let (_, count) = local.owners.swap_remove(at);
            match local.owners.iter_mut().find(|(o, _)| *o == to.0) {
                Some(entry) => entry.1 += count,
                None => local.owners.push((to.0, count)),
            }
        }
    }

    /// A subtransaction aborted: its locks are gone.
    pub fn release_subxact(&mut self, sub: SubXactId) {
        self.release_where(|owner| owner == sub.0);
    }

    /// The transaction is over: all but the session's own locks are gone. The virtual xid's lock is
    /// a matter of its own, see [`LockSession::end_vxid`].
    pub fn release_transaction(&mut self) {
        if !self.local.is_empty() {
            self.release_where(|owner| owner != 0);
        }
    }

    /// Nothing is held any more, and the slot is free for another session.
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

    /// `pg_advisory_unlock_all`: gives back the session's own advisory locks.
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

    /// A transaction with this local number begins: others may wait for its virtual xid.
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

    /// Waits for the end of a transaction known by its virtual xid; without `wait` only tells
    /// whether it has ended. Counterpart: `VirtualXactLock`.
    pub fn wait_for_vxid(&mut self, vxid: VirtualXid, wait: bool) -> Result<bool> {
        if !wait {
            return Ok(self.manager.vxid(vxid.backend.0) != Some(vxid));
        }
        if self.manager.materialize_vxid(vxid) {
            let tag = LockTag::virtual_transaction(vxid);
            self.acquire(tag, LockMode::Share, LockOwner::Session, WaitPolicy::Wait)?;
            self.release(tag, LockMode::Share, LockOwner::Session);
        }
        Ok(true)
    }
}

impl Drop for LockSession {
    fn drop(&mut self) {
        self.close();
    }
}

impl Local {
    fn count(&mut self, owner: LockOwner) {
        self.total += 1;
        let code = owner.code();
        match self.owners.iter_mut().find(|(o, _)| *o == code) {
            Some(entry) => entry.1 += 1,
            None => self.owners.push((code, 1)),
        }
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

/// The error that the gravest of the pending interrupts calls for, taking it out of the word;
/// `None` if none of them ends a wait.
pub fn interrupt_error(waiter: &Waiter) -> Option<PgError> {
    if waiter.take_one(Interrupt::Terminate) {
        let error = pg_err!(ADMIN_SHUTDOWN, "terminating connection due to administrator command");
        return Some(error.severity(Severity::Fatal));
    }
    // A lock timeout is told before a statement timeout: it is the narrower cause.
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
