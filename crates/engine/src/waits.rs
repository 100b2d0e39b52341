//! The heap's waits for other transactions, through the lock manager.

use heap::{HeapRel, WaitForXact};
use ids::{Tid, Xid};
use lmgr::{Acquired, LockMode, LockTag, WaitPolicy};
use pgerror::Result;
use txn::XactWaits;

/// Kept by the session beside its transaction, which the heap borrows during the same call.
pub(crate) struct SessionWaits {
    pub(crate) waits: XactWaits,
}

impl SessionWaits {
    pub(crate) fn new(waits: XactWaits) -> SessionWaits {
        SessionWaits { waits }
    }

    fn tuple(&self, rel: &HeapRel, tid: Tid, mode: LockMode, policy: WaitPolicy) -> Result<bool> {
        let tag = LockTag::tuple(rel.database, rel.oid, tid);
        let acquired = self.waits.locks().acquire(tag, mode, self.waits.owner, policy)?;
        Ok(acquired != Acquired::NotAvailable)
    }
}

impl WaitForXact for SessionWaits {
    fn wait_xid(&mut self, xid: Xid) -> Result<()> {
        self.waits.wait_for_xid(xid)
    }

    fn try_wait_xid(&mut self, xid: Xid) -> Result<bool> {
        self.waits.try_wait_for_xid(xid)
    }

    fn lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<()> {
        self.tuple(rel, tid, mode, WaitPolicy::Wait).map(|_| ())
    }

    fn try_lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<bool> {
        self.tuple(rel, tid, mode, WaitPolicy::Try)
    }

    fn unlock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<()> {
        let tag = LockTag::tuple(rel.database, rel.oid, tid);
        self.waits.locks().release(tag, mode, self.waits.owner);
        Ok(())
    }
}
