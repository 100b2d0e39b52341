//! What every operation of the heap is handed: the relation, and the session's side of things.

use crate::visibility::Visibility;
use bufmgr::{BufferPool, ForkBuffers, Strategy};
use ids::{BlockNo, CommandId, Lsn, OffsetNo, Oid, Persistence, RelFile, Tid, Xid};
use lmgr::{Acquired, LockMode, LockTag, WaitPolicy as Policy};
use pgerror::{PgError, Result, pg_err};
use std::cell::Cell;
use sync::Arc;
use sync::atomic::{AtomicU32, Ordering::Relaxed};
use txn::{HorizonKind, Transaction};
use wal::{RecordBuilder, Wal};

/// An open table (or TOAST table, or materialised view) as the heap needs it.
#[derive(Clone)]
pub struct HeapRel {
    pub oid: Oid,
    /// 0 for shared relations.
    pub database: Oid,
    pub file: RelFile,
    pub main: Arc<ForkBuffers>,
    pub fsm: Arc<ForkBuffers>,
    pub vm: Arc<ForkBuffers>,
    /// For messages.
    pub name: Box<str>,
    pub persistence: Persistence,
    /// Percent of a page that insertion may fill; 100 if not set.
    pub fillfactor: u8,
    /// Whose snapshots keep its dead rows.
    pub horizon: HorizonKind,
    /// Is it a TOAST table? (Its records say so.)
    pub is_toast: bool,
    pub is_catalog: bool,
    pub targets: InsertTargets,
}

/// Blocks of the last insertions. Sessions (up to a certain number of them) each have their own, so
/// that they insert into different blocks.
#[derive(Clone)]
pub struct InsertTargets(Arc<[AtomicU32; InsertTargets::SLOTS]>);

impl InsertTargets {
    /// What fills a cache line. A target changes once a page, so that sharing the line is no harm.
    const SLOTS: usize = 16;

    fn slot(&self, proc: lmgr::ProcNo) -> &AtomicU32 {
        &self.0[proc as usize % InsertTargets::SLOTS]
    }

    pub(crate) fn get(&self, proc: lmgr::ProcNo) -> Option<BlockNo> {
        let block = self.slot(proc).load(Relaxed);
        (block != u32::MAX).then_some(BlockNo(block))
    }

    pub(crate) fn set(&self, proc: lmgr::ProcNo, block: BlockNo) {
        let slot = self.slot(proc);
        if slot.load(Relaxed) != block.0 {
            slot.store(block.0, Relaxed);
        }
    }
}

impl Default for InsertTargets {
    fn default() -> InsertTargets {
        InsertTargets(Arc::new(std::array::from_fn(|_| AtomicU32::new(u32::MAX))))
    }
}

impl HeapRel {
    /// Are changes logged?
    pub fn is_logged(&self) -> bool {
        self.main.is_logged()
    }

    pub fn is_permanent(&self) -> bool {
        self.persistence == Persistence::Permanent
    }

    /// Bytes that insertion keeps free on each page for updates.
    /// Counterpart: `RelationGetTargetPageFreeSpace`.
    pub fn reserved_space(&self) -> usize {
        page::PAGE_SIZE * (100 - self.fillfactor.clamp(10, 100) as usize) / 100
    }

    /// Free space below which an update's failure makes pruning worthwhile.
    pub(crate) fn prune_threshold(&self) -> usize {
        self.reserved_space().max(page::PAGE_SIZE / 10)
    }
}

/// The session's side of an operation.
pub struct HeapCx<'a> {
    pub pool: &'a BufferPool,
    pub wal: &'a Wal,
    pub txn: &'a mut Transaction,
    /// Heavyweight waits.
    pub wait: &'a mut dyn WaitForXact,
    /// Reused from record to record.
    pub scratch: &'a mut RecordBuilder,
    pub strategy: &'a mut Strategy,
    /// `norsu.wal_update_delta`: log only the changed middle of an updated tuple.
    pub update_delta: bool,
    /// The line pointer that VACUUM looks at, for the context of its errors; 0: none.
    pub looking_at: OffsetNo,
}

impl HeapCx<'_> {
    /// For testing tuples on a page with this LSN.
    pub fn visibility(&self, rel: &HeapRel, page_lsn: Lsn) -> Visibility<'_> {
        Visibility {
            txn: self.txn,
            manager: self.txn.manager(),
            wal: self.wal,
            permanent: rel.is_permanent(),
            page_lsn,
            settled: Cell::new(None),
        }
    }
}

/// What happened to an update, delete or lock. Counterpart: `TM_Result`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TmResult {
    Ok,
    /// Not visible to the command at all.
    Invisible,
    /// Changed by a later command of this transaction.
    SelfModified,
    /// Another transaction updated it; the failure data lead to the next version.
    Updated,
    Deleted,
    /// Another transaction is at it (only if told not to wait).
    BeingModified,
    /// It is locked, and waiting was not wanted.
    WouldBlock,
}

/// Why an operation could not be done. Counterpart: `TM_FailureData`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TmFailure {
    /// Next version, or the tuple itself if it was deleted.
    pub ctid: Tid,
    pub xmax: Xid,
    /// Command of this transaction that changed it (only for `SelfModified`).
    pub cmax: CommandId,
    /// Did EvalPlanQual follow the update chain? (`lock_tuple` with `follow_updates`.)
    pub traversed: bool,
}

impl Default for TmFailure {
    fn default() -> TmFailure {
        TmFailure {
            ctid: Tid::INVALID,
            xmax: Xid::INVALID,
            cmax: CommandId::INVALID,
            traversed: false,
        }
    }
}

/// What somebody waits to do, for the error's context line. Counterpart: `XLTW_Oper`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitOperation {
    None,
    Update,
    Delete,
    Lock,
    LockUpdated,
}

impl WaitOperation {
    /// The context line of an error while waiting.
    pub fn context(self, rel: &HeapRel, tid: Tid) -> Option<String> {
        let what = match self {
            WaitOperation::None => return None,
            WaitOperation::Update => "updating",
            WaitOperation::Delete => "deleting",
            WaitOperation::Lock => "locking",
            WaitOperation::LockUpdated => "locking updated version",
        };
        let row = match self {
            WaitOperation::LockUpdated => format!("{what} {tid} of tuple"),
            _ => format!("{what} tuple {tid}"),
        };
        Some(format!("while {row} in relation \"{}\"", rel.name))
    }
}

/// What to do where a row is locked by others. Counterpart: `LockWaitPolicy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WaitPolicy {
    #[default]
    Block,
    /// SKIP LOCKED.
    Skip,
    /// NOWAIT.
    Error,
}

/// Heavyweight waits, implemented above with the lock manager. No latch is held during a call.
pub trait WaitForXact {
    /// Waits until `xid` (or the top-level transaction that it belongs to) is over.
    /// Counterpart: `XactLockTableWait`.
    fn wait_xid(&mut self, xid: Xid) -> Result<()>;
    /// False if `xid` still runs. Counterpart: `ConditionalXactLockTableWait`.
    fn try_wait_xid(&mut self, xid: Xid) -> Result<bool>;
    /// Queues for a row: whoever waits for its holder has this. Counterpart: `LockTuple`.
    fn lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<()>;
    /// Counterpart: `ConditionalLockTuple`.
    fn try_lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<bool>;
    fn unlock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<()>;
}

/// The waits of a session, over its heavyweight locks.
pub struct SessionWaits(pub txn::XactWaits);

impl SessionWaits {
    fn acquire(&self, rel: &HeapRel, tid: Tid, mode: LockMode, policy: Policy) -> Result<bool> {
        let tag = LockTag::tuple(rel.database, rel.oid, tid);
        let acquired = self.0.locks().acquire(tag, mode, self.0.owner, policy)?;
        Ok(acquired != Acquired::NotAvailable)
    }
}

impl WaitForXact for SessionWaits {
    fn wait_xid(&mut self, xid: Xid) -> Result<()> {
        self.0.wait_for_xid(xid)
    }

    fn try_wait_xid(&mut self, xid: Xid) -> Result<bool> {
        self.0.try_wait_for_xid(xid)
    }

    fn lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<()> {
        self.acquire(rel, tid, mode, Policy::Wait).map(|_| ())
    }

    fn try_lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<bool> {
        self.acquire(rel, tid, mode, Policy::Try)
    }

    fn unlock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<()> {
        let tag = LockTag::tuple(rel.database, rel.oid, tid);
        self.0.locks().release(tag, mode, self.0.owner);
        Ok(())
    }
}

/// Waits for `xid` on behalf of `operation` on `tid`.
pub(crate) fn wait_xid(
    wait: &mut dyn WaitForXact,
    xid: Xid,
    rel: &HeapRel,
    tid: Tid,
    operation: WaitOperation,
) -> Result<()> {
    wait.wait_xid(xid).map_err(|e| with_context(e, operation, rel, tid))
}

pub(crate) fn with_context(e: PgError, op: WaitOperation, rel: &HeapRel, tid: Tid) -> PgError {
    match op.context(rel, tid) {
        Some(line) => e.context(line),
        None => e,
    }
}

/// NOWAIT met a locked row.
#[cold]
pub(crate) fn lock_not_available(rel: &HeapRel) -> PgError {
    pg_err!(LOCK_NOT_AVAILABLE, "could not obtain lock on row in relation \"{}\"", rel.name)
}

/// A TID led to something that is no tuple.
#[cold]
pub(crate) fn no_tuple(rel: &HeapRel, tid: Tid) -> PgError {
    pg_err!(DATA_CORRUPTED, "invalid tuple {tid} in relation \"{}\"", rel.name)
}

/// Sets hint bits in the infomask of the tuple at `offset`, if there are any and the latch lets us.
pub(crate) trait SetHint {
    fn hint(&mut self, scratch: &mut RecordBuilder, offset: ids::OffsetNo, bits: u16);
}

impl SetHint for bufmgr::ExclusiveGuard<'_> {
    fn hint(&mut self, scratch: &mut RecordBuilder, offset: ids::OffsetNo, bits: u16) {
        if bits != 0 {
            self.set_hints(Some(scratch), |h| {
                h.set_infomask(offset, bits);
                true
            });
        }
    }
}

impl SetHint for bufmgr::ShareGuard<'_> {
    fn hint(&mut self, scratch: &mut RecordBuilder, offset: ids::OffsetNo, bits: u16) {
        if bits != 0 {
            self.try_set_hints(Some(scratch), |h| {
                h.set_infomask(offset, bits);
                true
            });
        }
    }
}
