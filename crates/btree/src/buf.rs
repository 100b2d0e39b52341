//! The context of an index operation, and its access to pages, WAL and the free space map.

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

/// Information about transactions that page recycling needs.
pub trait Xids {
    /// The next XID to be assigned.
    fn next_full_xid(&self) -> FullXid;
    /// Is `xid` before every id that a snapshot in the cluster may see as running?
    /// Counterpart: `GlobalVisCheckRemovableFullXid` without a relation.
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

/// The context of an index operation. Made for each call.
pub struct Cx<'p> {
    /// The buffer pool of the index: the session's own pool for a temporary index.
    pub pool: &'p BufferPool,
    pub wal: &'p Wal,
    pub xids: &'p dyn Xids,
    /// Builds WAL records; its memory is reused.
    pub scratch: &'p mut RecordBuilder,
    pub strategy: &'p mut Strategy,
    /// The current (sub)transaction's XID, for records; may be invalid in VACUUM.
    pub xid: Xid,
    /// `norsu.bottom_up_deletion`.
    pub bottom_up_deletion: bool,
    /// Called between pages by operations that may run long.
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

    /// Does each change of a page, except hints, advance its LSN?
    pub(crate) fn lsn_tracks_changes(&self, index: &Index) -> bool {
        index.fork.is_logged()
    }

    pub(crate) fn prefetch(&mut self, index: &Index, block: BlockNo) {
        self.pool.prefetch(&index.fork, block, 1);
    }

    /// Begins a change of pages that one record covers. Once the caller has registered a page, it
    /// must call [`Edit::log`] without an error in between.
    pub(crate) fn edit(&mut self, index: &Index) -> Edit<'_, 'p> {
        Edit {
            logged: index.fork.is_logged(),
            xid: self.xid,
            inner: PageEdit::begin(self.wal, self.scratch),
        }
    }
}

/// A page edit that ends with a record of resource manager Btree, if the index is logged.
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
