//! What an operation on an index carries, and its way to pages, log and free space.

use crate::Index;
use ids::{BlockNo, FullXid, Lsn, Oid, Xid};
use page::PageMut;
use pgerror::Result;
use txn::TxnManager;
use wal::{RecordBuilder, RmgrId, Wal, WalLevel};

pub(crate) use bufmgr::{
    BufferPool, ExclusiveGuard, PageEdit, Pin, ShareExclusiveGuard, ShareGuard, Strategy,
};
pub(crate) use wal::RegFlags;

/// What page recycling must know of transactions.
pub trait Xids {
    /// The next XID to be assigned.
    fn next_full_xid(&self) -> FullXid;
    /// Is every transaction that ran before `xid` was assigned over for every snapshot of the
    /// cluster? Counterpart: `GlobalVisCheckRemovableFullXid` without a relation.
    fn is_removable(&self, xid: FullXid) -> bool;
}

impl Xids for TxnManager {
    fn next_full_xid(&self) -> FullXid {
        TxnManager::next_full_xid(self)
    }

    fn is_removable(&self, xid: FullXid) -> bool {
        xid < self.widen(self.horizons(Oid::INVALID).shared_oldest_nonremovable)
    }
}

/// What an operation on an index carries. Made for each call.
pub struct Cx<'p> {
    /// The pool that the index's pages are in (a session's own for temporary ones).
    pub pool: &'p BufferPool,
    pub wal: &'p Wal,
    pub xids: &'p dyn Xids,
    /// Reused from record to record.
    pub scratch: &'p mut RecordBuilder,
    pub strategy: &'p mut Strategy,
    /// The current (sub)transaction's XID, for records; may be invalid in VACUUM.
    pub xid: Xid,
    /// `norsu.bottom_up_deletion`.
    pub bottom_up_deletion: bool,
    /// Called between pages by what may run long.
    pub check_interrupts: &'p dyn Fn() -> Result<()>,
}

impl<'p> Cx<'p> {
    #[inline]
    pub(crate) fn pin(&mut self, index: &Index, block: BlockNo) -> Result<Pin<'p>> {
        self.pool.read(&index.fork, block, self.strategy)
    }

    pub(crate) fn nblocks(&mut self, index: &Index) -> Result<BlockNo> {
        Ok(BlockNo(self.pool.nblocks(&index.fork)?))
    }

    pub(crate) fn extend(&mut self, index: &Index) -> Result<ExclusiveGuard<'p>> {
        self.pool.extend(&index.fork, self.strategy)
    }

    pub(crate) fn take_free_page(&mut self, index: &Index) -> Result<Option<BlockNo>> {
        freespace::index::take_free_page(freespace::Fsm::new(self.pool, &index.fsm))
    }

    pub(crate) fn record_free_page(&mut self, index: &Index, block: BlockNo) -> Result<()> {
        freespace::index::record_free(freespace::Fsm::new(self.pool, &index.fsm), block)
    }

    pub(crate) fn vacuum_free_space(&mut self, index: &Index) -> Result<()> {
        freespace::index::vacuum(freespace::Fsm::new(self.pool, &index.fsm))
    }

    pub(crate) fn logs_for_standby(&self, index: &Index) -> bool {
        index.fork.is_logged() && self.wal.level() >= WalLevel::Replica
    }

    /// Does every change of a page but hints move its LSN?
    pub(crate) fn lsn_tells_changes(&self, index: &Index) -> bool {
        index.fork.is_logged()
    }

    pub(crate) fn prefetch(&mut self, index: &Index, block: BlockNo) {
        self.pool.prefetch(&index.fork, block, 1);
    }

    /// Begins a change of pages that one record covers. Whoever calls this and then registers a
    /// page must come to [`Edit::log`] without failing.
    pub(crate) fn edit(&mut self, index: &Index) -> Edit<'_, 'p> {
        Edit {
            logged: index.fork.is_logged(),
            xid: self.xid,
            inner: PageEdit::begin(self.wal, self.scratch),
        }
    }
}

/// A page edit that ends with a record of resource manager Btree.
pub(crate) struct Edit<'a, 'p> {
    inner: PageEdit<'a, 'p>,
    logged: bool,
    xid: Xid,
}

impl<'p> Edit<'_, 'p> {
    #[inline]
    pub(crate) fn change<'s>(
        &'s mut self,
        guard: &'s mut ExclusiveGuard<'p>,
        id: u8,
        flags: RegFlags,
    ) -> PageMut<'s> {
        self.inner.change(guard, id, flags)
    }

    #[inline]
    pub(crate) fn block_data(&mut self, id: u8, data: &[u8]) {
        self.inner.block_data(id, data);
    }

    #[inline]
    pub(crate) fn main(&mut self, data: &[u8]) {
        self.inner.main(data);
    }

    pub(crate) fn log(self, info: u8) -> Result<Lsn> {
        self.log_as(RmgrId::Btree, info)
    }

    pub(crate) fn log_as(self, rmgr: RmgrId, info: u8) -> Result<Lsn> {
        if self.logged {
            return self.inner.log(rmgr, info, self.xid);
        }
        self.inner.finish_unlogged();
        Ok(Lsn::INVALID)
    }
}
