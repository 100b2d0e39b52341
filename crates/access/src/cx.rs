//! The context of an index operation, and its access to pages, WAL and the free space map.

use bufmgr::{
    BufferPool, BufferUsage, ExclusiveGuard, ForkBuffers, PageEdit, Pin, READ_AHEAD_MAX, Strategy,
};
use ids::{BlockNo, Fork, FullXid, Lsn, Oid, Persistence, RelFile, Xid};
use page::PageMut;
use pgerror::Result;
use sync::Arc;
use txn::TxnManager;
use wal::{RecordBuilder, RegFlags, RmgrId, Wal, WalLevel};

/// Information about transactions that page recycling needs.
pub trait Xids {
    /// The next XID to be assigned.
    fn next_full_xid(&self) -> FullXid;
    /// True if `xid` is before every id that a snapshot in the cluster may see as running.
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

/// The open forks of an index.
pub struct IndexFile {
    pub rel: RelFile,
    /// The fork with the index's pages: the main fork, or the init fork ([`IndexFile::init_fork`]).
    pub main: Arc<ForkBuffers>,
    pub fsm: Arc<ForkBuffers>,
}

impl IndexFile {
    pub fn open(pool: &BufferPool, rel: RelFile, persistence: Persistence) -> IndexFile {
        IndexFile::of_fork(pool, rel, Fork::Main, persistence)
    }

    /// The init fork of an unlogged index, to which recovery resets it.
    pub fn init_fork(pool: &BufferPool, rel: RelFile) -> IndexFile {
        IndexFile::of_fork(pool, rel, Fork::Init, Persistence::Unlogged)
    }

    fn of_fork(pool: &BufferPool, rel: RelFile, fork: Fork, persistence: Persistence) -> IndexFile {
        IndexFile {
            rel,
            main: pool.open(rel, fork, persistence),
            fsm: pool.open(rel, Fork::Fsm, persistence),
        }
    }

    /// True if each change of a page, except hints, writes a record and advances the page's LSN.
    pub fn is_logged(&self) -> bool {
        self.main.is_logged()
    }
}

/// Settings that limit the memory of index operations, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `work_mem`.
    pub work_mem: usize,
    /// `maintenance_work_mem`.
    pub maintenance_work_mem: usize,
    /// `gin_pending_list_limit`.
    pub gin_pending_list: usize,
}

impl Limits {
    /// The default settings.
    pub const DEFAULT: Limits =
        Limits { work_mem: 4 << 20, maintenance_work_mem: 64 << 20, gin_pending_list: 4 << 20 };
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
    pub limits: Limits,
    /// Called between pages by operations that may run long.
    pub check_interrupts: &'p dyn Fn() -> Result<()>,
    /// Sleeps if VACUUM has used pages that cost enough; gets what the operation has used.
    pub delay: Option<&'p dyn Fn(&BufferUsage) -> Result<()>>,
}

impl<'p> Cx<'p> {
    /// Called between pages by the passes of VACUUM, without a latch.
    pub fn delay_point(&mut self) -> Result<()> {
        (self.check_interrupts)()?;
        let Some(delay) = self.delay else { return Ok(()) };
        delay(&BufferUsage { dirtied: self.scratch.dirtied, ..self.strategy.usage })?;
        (self.check_interrupts)()
    }

    #[inline]
    pub fn pin(&mut self, file: &IndexFile, block: BlockNo) -> Result<Pin<'p>> {
        self.pool.read(&file.main, block, self.strategy)
    }

    pub fn nblocks(&mut self, file: &IndexFile) -> Result<BlockNo> {
        Ok(BlockNo(self.pool.nblocks(&file.main)?))
    }

    /// Adds a page at the end of the file; it is new (all zeros).
    pub fn extend(&mut self, file: &IndexFile) -> Result<ExclusiveGuard<'p>> {
        self.pool.extend(&file.main, self.strategy)
    }

    /// Removes a block from the free space map.
    pub fn take_free_page(&mut self, file: &IndexFile) -> Result<Option<BlockNo>> {
        freespace::index::take_free_page(freespace::Fsm::new(self.pool, &file.fsm))
    }

    pub fn record_free_page(&mut self, file: &IndexFile, block: BlockNo) -> Result<()> {
        freespace::index::record_free(freespace::Fsm::new(self.pool, &file.fsm), block)
    }

    /// Updates the upper levels of the free space map.
    pub fn vacuum_free_space(&mut self, file: &IndexFile) -> Result<()> {
        freespace::index::vacuum(freespace::Fsm::new(self.pool, &file.fsm))
    }

    /// True if records that only standbys need must be written.
    pub fn logs_for_standby(&self, file: &IndexFile) -> bool {
        file.is_logged() && self.wal.level() >= WalLevel::Replica
    }

    /// Before a scan in physical order reads `block`: reads this block and those behind it up to
    /// `end`, if they are not in the pool. `ahead` is the number of blocks to read, 1 at first.
    pub fn read_ahead(
        &mut self,
        file: &IndexFile,
        block: BlockNo,
        end: BlockNo,
        ahead: &mut u32,
    ) -> Result<()> {
        let count = (*ahead).min(end.0 - block.0);
        if self.pool.read_ahead(&file.main, block, count, self.strategy)? > 0 {
            *ahead = (2 * *ahead).min(READ_AHEAD_MAX);
        }
        Ok(())
    }

    /// The next LSN for pages of an index that is not logged because it is unlogged or temporary.
    /// Counterpart: `GetFakeLSNForUnloggedRel`.
    pub fn unlogged_lsn(&self) -> Lsn {
        self.wal.next_unlogged_lsn()
    }

    pub fn prefetch(&mut self, file: &IndexFile, block: BlockNo) {
        self.pool.prefetch(&file.main, block, 1);
    }

    /// Begins a change of pages that one record of `rmgr` covers. Once the caller has registered a
    /// page, it must call [`Edit::log`] without an error in between.
    #[inline]
    pub fn edit(&mut self, file: &IndexFile, rmgr: RmgrId) -> Edit<'_, 'p> {
        Edit {
            logged: file.is_logged(),
            xid: self.xid,
            rmgr,
            inner: PageEdit::begin(self.wal, self.scratch),
        }
    }
}

/// A page edit that ends with a record of the method's resource manager, if the index is logged.
pub struct Edit<'a, 'p> {
    inner: PageEdit<'a, 'p>,
    logged: bool,
    xid: Xid,
    rmgr: RmgrId,
}

impl<'p> Edit<'_, 'p> {
    /// The page as block `id` of the record, to be changed.
    #[inline]
    pub fn change<'s>(
        &'s mut self,
        guard: &'s mut ExclusiveGuard<'p>,
        id: u8,
        flags: RegFlags,
    ) -> PageMut<'s> {
        self.inner.change(guard, id, flags)
    }

    /// Registers a page that the record refers to and that does not change.
    pub fn refer(&mut self, guard: &ExclusiveGuard<'p>, id: u8, flags: RegFlags) {
        self.inner.refer(guard, id, flags);
    }

    /// Block `id`, which is registered as changing, is changed once the record's end is known, the
    /// second argument.
    pub fn finally(&mut self, id: u8, change: fn(PageMut<'_>, Lsn)) {
        self.inner.finally(id, change);
    }

    #[inline]
    pub fn block_data(&mut self, id: u8, data: &[u8]) {
        self.inner.block_data(id, data);
    }

    #[inline]
    pub fn main(&mut self, data: &[u8]) {
        self.inner.main(data);
    }

    /// Writes the record; `info` is its kind. Returns its end, invalid if the index is not logged.
    #[inline]
    pub fn log(self, info: u8) -> Result<Lsn> {
        let rmgr = self.rmgr;
        self.log_as(rmgr, info)
    }

    /// As [`Edit::log`]; with `Some` no record is written, and the changed pages get this LSN, from
    /// [`Cx::unlogged_lsn`].
    pub fn log_or_set(self, info: u8, unlogged: Option<Lsn>) -> Result<Lsn> {
        match unlogged {
            None => self.log(info),
            Some(lsn) => {
                self.inner.finish_with_lsn(lsn);
                Ok(lsn)
            }
        }
    }

    /// As [`Edit::log`], with a record of another resource manager (images of whole pages).
    pub fn log_as(self, rmgr: RmgrId, info: u8) -> Result<Lsn> {
        if self.logged {
            return self.inner.log(rmgr, info, self.xid);
        }
        self.inner.finish_unlogged();
        Ok(Lsn::INVALID)
    }
}
