//! The shared state of the lock manager: partitions, slots, strong-lock counters.
//!
//! Counterpart: lock.c, `PGPROC` in proc.h.

use crate::fastpath::FastPath;
use crate::session::LockSession;
use crate::table::Partition;
use crate::{LockMode, LockTag, VirtualXid};
use ids::{BackendNo, Oid, Xid};
use std::hash::BuildHasher;
use std::time::Duration;
use sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};
use sync::wait::Waiter;
use sync::{Arc, Mutex};

/// Index of a session's slot; the same number as in the proc array.
pub type ProcNo = u32;

pub(crate) const PARTITIONS: usize = 16;
const STRONG_COUNTERS: usize = 1024;

pub(crate) const WAIT_NONE: u8 = 0;
pub(crate) const WAIT_WAITING: u8 = 1;
pub(crate) const WAIT_GRANTED: u8 = 2;

/// The lock state of one session, on its own cache lines.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) fast: Mutex<FastPath>,
    /// The lock that the session waits for. Changed under the mutex of its partition.
    pub(crate) wait: Mutex<Option<(LockTag, LockMode)>>,
    pub(crate) status: AtomicU8,
    pub(crate) pid: AtomicI32,
    pub(crate) waiter: Mutex<Option<Arc<Waiter>>>,
    /// The session is an autovacuum worker, whose work is cancelled if others wait for its locks.
    pub(crate) cancellable: AtomicBool,
    /// The prepared transaction that holds locks here; the slot has no session then.
    pub(crate) prepared: Mutex<Option<PreparedIn>>,
}

/// The transaction in a slot of a prepared transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreparedIn {
    pub(crate) vxid: VirtualXid,
    pub(crate) xid: Xid,
}

impl Slot {
    pub(crate) fn begin_wait(&self, tag: LockTag, mode: LockMode) {
        *self.wait.lock() = Some((tag, mode));
        self.status.store(WAIT_WAITING, Ordering::Release);
    }

    pub(crate) fn end_wait(&self) {
        *self.wait.lock() = None;
        self.status.store(WAIT_NONE, Ordering::Release);
    }

    pub(crate) fn grant_wait(&self) {
        *self.wait.lock() = None;
        self.status.store(WAIT_GRANTED, Ordering::Release);
        if let Some(waiter) = &*self.waiter.lock() {
            waiter.wake();
        }
    }
}

#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

/// The instance's lock table.
pub struct LockManager {
    pub(crate) partitions: Box<[Padded<Mutex<Partition>>]>,
    strong: Box<[AtomicU32]>,
    pub(crate) slots: Box<[Slot]>,
    /// Milliseconds. Setting `deadlock_timeout`.
    deadlock_timeout: AtomicU64,
    hasher: foldhash::fast::FixedState,
    deadlocks: AtomicU64,
}

impl LockManager {
    /// `slots`: connections, workers and prepared transactions together.
    pub fn new(slots: usize) -> Arc<LockManager> {
        Arc::new(LockManager {
            partitions: (0..PARTITIONS).map(|_| Padded(Mutex::new(Partition::default()))).collect(),
            strong: (0..STRONG_COUNTERS).map(|_| AtomicU32::new(0)).collect(),
            slots: (0..slots).map(|_| Slot::default()).collect(),
            deadlock_timeout: AtomicU64::new(1000),
            hasher: foldhash::fast::FixedState::default(),
            deadlocks: AtomicU64::new(0),
        })
    }

    /// How long a session waits before it checks for a deadlock.
    pub fn set_deadlock_timeout(&self, span: Duration) {
        self.deadlock_timeout.store(span.as_millis() as u64, Ordering::Relaxed);
    }

    pub fn deadlock_timeout(&self) -> Duration {
        Duration::from_millis(self.deadlock_timeout.load(Ordering::Relaxed))
    }

    /// True if that session is waiting for a lock.
    pub fn is_waiting(&self, proc: ProcNo) -> bool {
        self.slots[proc as usize].status.load(Ordering::Relaxed) == WAIT_WAITING
    }

    /// Number of deadlock errors since the start.
    pub fn deadlocks(&self) -> u64 {
        self.deadlocks.load(Ordering::Relaxed)
    }

    pub(crate) fn count_deadlock(&self) {
        self.deadlocks.fetch_add(1, Ordering::Relaxed);
    }

    /// Assigns slot `proc`, which must not be in use, to a session. Only weak locks on relations
    /// of `database` use the fast path.
    pub fn session(
        self: &Arc<Self>,
        proc: ProcNo,
        pid: i32,
        database: Oid,
        waiter: Arc<Waiter>,
    ) -> LockSession {
        let slot = &self.slots[proc as usize];
        slot.pid.store(pid, Ordering::Relaxed);
        *slot.waiter.lock() = Some(waiter.clone());
        let fast = FastPath::new(database);
        *slot.fast.lock() = fast;
        LockSession::new(self.clone(), proc, database, waiter)
    }

    pub(crate) fn partition_no(&self, tag: &LockTag) -> usize {
        self.hasher.hash_one(tag) as usize % PARTITIONS
    }

    pub(crate) fn partition(&self, tag: &LockTag) -> &Mutex<Partition> {
        &self.partitions[self.partition_no(tag)].0
    }

    pub(crate) fn strong_counter(&self, tag: &LockTag) -> &AtomicU32 {
        &self.strong[self.hasher.hash_one(tag) as usize >> 32 & (STRONG_COUNTERS - 1)]
    }

    /// Moves the fast-path locks of all sessions on the relation to the shared table.
    /// Counterpart: `FastPathTransferRelationLocks`.
    pub(crate) fn transfer_fast_locks(&self, tag: &LockTag) {
        let mut partition = None;
        for (proc, slot) in self.slots.iter().enumerate() {
            let database = slot.fast.lock().database;
            if database.0 != tag.field1 {
                continue;
            }
            // LOCK ORDER: the partition's mutex before the slot's.
            let table = partition.get_or_insert_with(|| self.partition(tag).lock());
            let mut fast = slot.fast.lock();
            for mode in fast.take(Oid(tag.field2)) {
                table.entry(*tag).or_default().grant(proc as ProcNo, mode);
            }
        }
    }

    /// Moves the lock on a running virtual xid to the shared table, so that it can be waited for;
    /// false if that transaction has ended.
    pub(crate) fn materialize_vxid(&self, vxid: VirtualXid) -> bool {
        let tag = LockTag::virtual_transaction(vxid);
        let mut table = self.partition(&tag).lock();
        let Some(slot) = self.slots.get(vxid.backend.0 as usize) else { return false };
        let mut fast = slot.fast.lock();
        if fast.local_xid != vxid.local {
            return false;
        }
        if std::mem::replace(&mut fast.vxid_is_fast, false) {
            table.entry(tag).or_default().grant(vxid.backend.0, LockMode::Exclusive);
        }
        true
    }

    /// Virtual xid of the transaction in a slot, if one is running or prepared.
    pub fn vxid(&self, proc: ProcNo) -> Option<VirtualXid> {
        let local = self.slots.get(proc as usize)?.fast.lock().local_xid;
        match local {
            0 => self.prepared_vxid(proc),
            local => Some(VirtualXid { backend: BackendNo(proc), local }),
        }
    }
}
