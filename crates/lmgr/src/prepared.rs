//! Locks of prepared transactions. A transaction that PREPARE TRANSACTION detaches from its session
//! keeps its locks in a slot of its own, which has neither a session nor a process ID. It holds
//! locks and never waits, so it has no edge of its own in the wait-for graph.
//!
//! Counterpart: `AtPrepare_Locks`, `PostPrepare_Locks` and `lock_twophase_recover` in lock.c, the
//! dummy `PGPROC` in twophase.c.

use crate::fastpath::is_strong;
use crate::manager::{LockManager, PreparedIn, ProcNo};
use crate::session::LockSession;
use crate::{LockMode, LockOwner, LockTag, LockTagKind, VirtualXid};
use hashbrown::HashMap;
use ids::{BackendNo, Oid, Xid};
use pgerror::{Result, pg_err};
use sync::atomic::Ordering;

/// The backend number in the virtual xid of a prepared transaction after a restart, when the number
/// of its session is not known. Counterpart: `InvalidBackendId`.
const NO_BACKEND: BackendNo = BackendNo(u32::MAX);

impl LockManager {
    /// Assigns slot `proc`, which no session uses, to a prepared transaction. `vxid` is that of its
    /// session, `None` after a restart.
    pub fn begin_prepared(&self, proc: ProcNo, xid: Xid, vxid: Option<VirtualXid>) {
        let vxid = vxid.unwrap_or(VirtualXid { backend: NO_BACKEND, local: xid.0 });
        *self.slots[proc as usize].prepared.lock() = Some(PreparedIn { vxid, xid });
    }

    /// The prepared transaction has ended; its locks are released one by one
    /// ([`LockManager::release_prepared`]).
    pub fn end_prepared(&self, proc: ProcNo) {
        *self.slots[proc as usize].prepared.lock() = None;
    }

    /// Grants a lock that a prepared transaction held before a restart, without a check: it was
    /// granted then. Before sessions are served. Counterpart: `lock_twophase_recover`.
    pub fn grant_prepared(&self, proc: ProcNo, tag: LockTag, mode: LockMode) {
        if tag.fast_path_kind() && is_strong(mode) {
            self.strong_counter(&tag).fetch_add(1, Ordering::SeqCst);
        }
        let mut table = self.partition(&tag).lock();
        let lock = table.entry(tag).or_default();
        if lock.held_by(proc) & mode.bit() == 0 {
            lock.grant(proc, mode);
        }
    }

    /// Releases a lock of a prepared transaction. Counterpart: `lock_twophase_postcommit`.
    pub fn release_prepared(&self, proc: ProcNo, tag: LockTag, mode: LockMode) {
        self.ungrant(&tag, proc, mode);
        if tag.fast_path_kind() && is_strong(mode) {
            self.strong_counter(&tag).fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// The virtual xid of the prepared transaction in a slot.
    pub(crate) fn prepared_vxid(&self, proc: ProcNo) -> Option<VirtualXid> {
        self.slots[proc as usize].prepared.lock().map(|p| p.vxid)
    }

    /// The id of a prepared transaction whose session had this virtual xid. Counterpart:
    /// `TwoPhaseGetXidByVirtualXID`.
    pub(crate) fn prepared_xid(&self, vxid: VirtualXid) -> Option<Xid> {
        let prepared = self.slots.iter().filter_map(|slot| *slot.prepared.lock());
        prepared.into_iter().find(|p| p.vxid == vxid).map(|p| p.xid)
    }
}

impl LockSession {
    /// The locks of the transaction, which a prepared transaction keeps, in the order of their
    /// fields. Error 0A000 if the session holds one of the objects at session level too.
    pub fn transaction_locks(&self) -> Result<Vec<(LockTag, LockMode)>> {
        let mut owners: HashMap<LockTag, (bool, bool), foldhash::fast::FixedState> =
            HashMap::default();
        let mut locks = Vec::new();
        for (tag, mode, owner) in self.owned_locks() {
            if tag.kind == LockTagKind::VirtualTransaction {
                continue;
            }
            let (session, transaction) = owners.entry(tag).or_default();
            match owner {
                LockOwner::Session => *session = true,
                LockOwner::SubXact(_) => {
                    *transaction = true;
                    locks.push((tag, mode));
                }
            }
            if *session && *transaction {
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "cannot PREPARE while holding both session-level and transaction-level locks \
                     on the same object"
                ));
            }
        }
        locks.sort_by_key(|(t, m)| (t.kind, t.field1, t.field2, t.field3, t.field4, *m as u8));
        locks.dedup();
        Ok(locks)
    }

    /// The relations of `database` that the session has locked.
    pub fn locked_relations(&self, database: Oid) -> Vec<Oid> {
        let locks = self.owned_locks().map(|(tag, ..)| tag);
        let relations = locks.filter(|t| t.kind == LockTagKind::Relation && t.field1 == database.0);
        let mut oids: Vec<Oid> = relations.map(|t| Oid(t.field2)).collect();
        oids.sort_unstable();
        oids.dedup();
        oids
    }

    /// Moves the locks of the transaction ([`LockSession::transaction_locks`]) to the slot of a
    /// prepared transaction. Waiters continue to wait. Counterpart: `PostPrepare_Locks`.
    pub fn transfer_to_prepared(&mut self, to: ProcNo, locks: &[(LockTag, LockMode)]) {
        for (tag, mode) in locks {
            // LOCK ORDER: the partition's mutex before the slot's.
            let mut table = self.manager.partition(tag).lock();
            let slot = &self.manager.slots[self.proc as usize];
            let was_fast =
                self.is_fast(*tag, *mode) && slot.fast.lock().ungrant(Oid(tag.field2), *mode);
            let lock = table.entry(*tag).or_default();
            if !was_fast {
                lock.ungrant(self.proc, *mode);
            }
            lock.grant(to, *mode);
        }
        self.forget_transaction();
    }
}
