//! Parameters of heap operations: the relation, and the session's context.
//!
//! Counterpart: `RelationData` in rel.h, `TM_Result` and `TM_FailureData` in tableam.h.

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

/// An open table, TOAST table or materialized view.
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
    /// Percent of a page that insertions may fill; 100 if not set.
    pub fillfactor: u8,
    /// Which sessions' snapshots hold back the removal of its dead rows.
    pub horizon: HorizonKind,
    /// True for a TOAST table.
    pub is_toast: bool,
    pub is_catalog: bool,
    pub targets: InsertTargets,
}

/// Blocks of the last insertions, one per slot. Sessions are distributed over the slots, so that
/// they insert into different blocks. Counterpart: `RelationGetTargetBlock`.
#[derive(Clone)]
pub struct InsertTargets(Arc<[AtomicU32; InsertTargets::SLOTS]>);

impl InsertTargets {
    /// One cache line. A target changes once per filled page, so false sharing costs little.
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
    /// True if changes are logged.
    pub fn is_logged(&self) -> bool {
        self.main.is_logged()
    }

    pub fn is_permanent(&self) -> bool {
        self.persistence == Persistence::Permanent
    }

    /// Bytes that insertions leave free on each page for updates.
    /// Counterpart: `RelationGetTargetPageFreeSpace`.
    pub fn reserved_space(&self) -> usize {
        page::PAGE_SIZE * (100 - self.fillfactor.clamp(10, 100) as usize) / 100
    }

    /// Free space in bytes below which a prunable page is pruned.
    pub(crate) fn prune_threshold(&self) -> usize {
        self.reserved_space().max(page::PAGE_SIZE / 10)
    }
}

/// The session's context of an operation.
pub struct HeapCx<'a> {
    pub pool: &'a BufferPool,
    pub wal: &'a Wal,
    pub txn: &'a mut Transaction,
    /// Heavyweight waits.
    pub wait: &'a mut dyn WaitForXact,
    /// Builds WAL records; its memory is reused.
    pub scratch: &'a mut RecordBuilder,
    pub strategy: &'a mut Strategy,
    /// `norsu.wal_update_delta`: log an updated tuple without the prefix and suffix that it shares
    /// with the old version.
    pub update_delta: bool,
    /// The line pointer that VACUUM is processing, for the context of its errors; 0: none.
    pub current_offset: OffsetNo,
}

impl HeapCx<'_> {
    /// Visibility tests of tuples on a page with this LSN.
    pub fn visibility(&self, rel: &HeapRel, page_lsn: Lsn) -> Visibility<'_> {
        Visibility {
            txn: self.txn,
            manager: self.txn.manager(),
            wal: self.wal,
            permanent: rel.is_permanent(),
            page_lsn,
            committed_xmin: Cell::new(None),
        }
    }
}

/// Outcome of an update, delete or lock. Counterpart: `TM_Result`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TmResult {
    Ok,
    /// Not visible to the command.
    Invisible,
    /// Changed by this transaction, in the current command or a later one.
    SelfModified,
    /// Another transaction updated it; [`TmFailure::ctid`] is the next version.
    Updated,
    Deleted,
    /// A running transaction holds it (only if the caller does not want to wait).
    BeingModified,
    /// It is locked, and the wait policy is to skip it.
    WouldBlock,
}

/// Details of a failed operation. Counterpart: `TM_FailureData`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TmFailure {
    /// Next version, or the tuple itself if it was deleted.
    pub ctid: Tid,
    pub xmax: Xid,
    /// Command of this transaction that changed it (only for `SelfModified`).
    pub cmax: CommandId,
    /// True if an update chain was followed.
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

/// The operation for which a session waits, for the context of an error. Counterpart: `XLTW_Oper`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitOperation {
    None,
    Update,
    Delete,
    Lock,
    LockUpdated,
}

impl WaitOperation {
    /// The context line of an error that ends the wait.
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

/// What to do if a row is locked by another transaction. Counterpart: `LockWaitPolicy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WaitPolicy {
    #[default]
    Block,
    /// SKIP LOCKED.
    Skip,
    /// NOWAIT.
    Error,
}

/// Waits for transactions and heavyweight tuple locks.
///
/// LOCK ORDER: no latch is held during a call.
pub trait WaitForXact {
    /// Waits until `xid` (or the top-level transaction that it belongs to) has ended.
    /// Counterpart: `XactLockTableWait`.
    fn wait_xid(&mut self, xid: Xid) -> Result<()>;
    /// False if `xid` is running. Counterpart: `ConditionalXactLockTableWait`.
    fn try_wait_xid(&mut self, xid: Xid) -> Result<bool>;
    /// Acquires the heavyweight lock of a row, which gives a session the right to wait for the
    /// row's holders next. Counterpart: `LockTuple`.
    fn lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<()>;
    /// Counterpart: `ConditionalLockTuple`.
    fn try_lock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<bool>;
    fn unlock_row(&mut self, rel: &HeapRel, tid: Tid, mode: LockMode) -> Result<()>;
}

/// [`WaitForXact`] over the heavyweight locks of a session.
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

/// The error for a locked row under NOWAIT.
#[cold]
pub(crate) fn lock_not_available(rel: &HeapRel) -> PgError {
    pg_err!(LOCK_NOT_AVAILABLE, "could not obtain lock on row in relation \"{}\"", rel.name)
}

/// The error for a TID that does not point to a tuple.
#[cold]
pub(crate) fn no_tuple(rel: &HeapRel, tid: Tid) -> PgError {
    pg_err!(DATA_CORRUPTED, "invalid tuple {tid} in relation \"{}\"", rel.name)
}

/// Sets hint bits in the infomask of the tuple at `offset`, if there are any. Under a share latch
/// only if the latch can be upgraded without waiting.
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
