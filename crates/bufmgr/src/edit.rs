//! Page edits, the only way to change pages: change bytes, mark dirty, insert the record, set the
//! LSN.
//!
//! ```text
//! let mut edit = PageEdit::begin(wal, &mut scratch);
//! let page = edit.change(&mut guard, 0, RegFlags::STANDARD);   // the critical section starts here
//! …change bytes…
//! edit.block_data(0, …); edit.main(…);
//! let lsn = edit.log(RmgrId::Heap, info, xid)?;
//! ```
//! With two pages at once: `register` both, then `guard_a.page_mut(&edit)`,
//! `guard_b.page_mut(&edit)`.
//!
//! A page is marked dirty when it is registered, under its exclusive latch. A checkpoint that fixed
//! its redo pointer before the record was inserted therefore finds the flag, waits for the latch
//! and writes the change; a checkpoint that fixed it later need not write it.

use crate::frame::FrameNo;
use crate::guard::{ExclusiveGuard, registered};
use crate::pool::BufferPool;
use ids::{Lsn, Xid};
use page::{PageMut, PageRef};
use pgerror::{PgError, Result, Severity};
use smallvec::SmallVec;
use wal::{RecordBuilder, RegFlags, RmgrId, Wal};

struct Registered<'p> {
    pool: &'p BufferPool,
    frame: FrameNo,
    id: u8,
    changes: bool,
    /// Changes the page when the record's end is known.
    finally: Option<fn(PageMut<'_>, Lsn)>,
}

/// A critical section over the pages of one record. If it ends other than by `log` or
/// `finish_unlogged` after a page was registered, the server goes down. The guards (lifetime `'p`)
/// may outlive the edit; log and scratch are borrowed for `'a` only.
pub struct PageEdit<'a, 'p> {
    wal: &'a Wal,
    scratch: &'a mut RecordBuilder,
    pages: SmallVec<[Registered<'p>; 4]>,
    dirtied: u32,
}

impl<'a, 'p> PageEdit<'a, 'p> {
    /// `scratch` is reset.
    pub fn begin(wal: &'a Wal, scratch: &'a mut RecordBuilder) -> PageEdit<'a, 'p> {
        scratch.reset(RmgrId::Xlog, 0);
        PageEdit { wal, scratch, pages: SmallVec::new(), dirtied: 0 }
    }

    /// Registers the page as block `id`, marks it dirty and gives access to it.
    pub fn change<'s>(
        &'s mut self,
        guard: &'s mut ExclusiveGuard<'p>,
        id: u8,
        flags: RegFlags,
    ) -> PageMut<'s> {
        self.register(guard, id, flags);
        guard.contents_mut()
    }

    /// As `change`, without access to the page: see [`ExclusiveGuard::page_mut`].
    pub fn register(&mut self, guard: &mut ExclusiveGuard<'p>, id: u8, flags: RegFlags) {
        self.add(guard, id, flags, true);
        let pin = guard.pin();
        let clean = pin.pool().mark_dirty(pin.frame());
        self.dirtied += u32::from(clean);
        self.scratch.dirtied += u64::from(clean);
    }

    /// Registers a page that the record refers to and that does not change: not marked dirty, its
    /// LSN not set.
    pub fn refer(&mut self, guard: &ExclusiveGuard<'p>, id: u8, flags: RegFlags) {
        self.add(guard, id, flags, false);
    }

    fn add(&mut self, guard: &ExclusiveGuard<'p>, id: u8, flags: RegFlags, changes: bool) {
        let pin = guard.pin();
        let tag = pin.pool().frames.desc(pin.frame()).tag();
        self.scratch.block(id, tag.rel, tag.fork, tag.block, flags);
        let (pool, frame) = (pin.pool(), pin.frame());
        self.pages.push(Registered { pool, frame, id, changes, finally: None });
    }

    /// Calls `change` with the page of block `id` after the record has been inserted; the second
    /// argument is the end of the record. The block must be registered as changing. A page image
    /// in the record does not contain this change, so replay must make it on restored pages too.
    pub fn finally(&mut self, id: u8, change: fn(PageMut<'_>, Lsn)) {
        if let Some(page) = self.pages.iter_mut().find(|p| p.id == id && p.changes) {
            page.finally = Some(change);
        }
    }

    /// True if the guard's page is registered as changing.
    pub(crate) fn covers(&self, guard: &ExclusiveGuard<'_>) -> bool {
        let pin = guard.pin();
        self.pages
            .iter()
            .any(|p| p.changes && p.frame == pin.frame() && std::ptr::eq(p.pool, pin.pool()))
    }

    /// Appends to the record's main data.
    #[inline]
    pub fn main(&mut self, data: &[u8]) -> &mut Self {
        self.scratch.main(data);
        self
    }

    /// Appends to the data of block `id`.
    #[inline]
    pub fn block_data(&mut self, id: u8, data: &[u8]) -> &mut Self {
        self.scratch.block_data(id, data);
        self
    }

    /// The record builder, for rarely used parts (origin, top-level XID, unimportant).
    pub fn record(&mut self) -> &mut RecordBuilder {
        self.scratch
    }

    /// Inserts the record and sets the LSN of every changed page to its end.
    #[inline]
    pub fn log(mut self, rmgr: RmgrId, info: u8, xid: Xid) -> Result<Lsn> {
        // By reference, since the edit is large to move.
        self.insert(rmgr, info, xid)
    }

    fn insert(&mut self, rmgr: RmgrId, info: u8, xid: Xid) -> Result<Lsn> {
        self.scratch.set_kind(rmgr, info);
        let page_refs: SmallVec<[(u8, PageRef<'_>); 4]> =
            self.pages.iter().map(|p| (p.id, registered::page(p.pool, p.frame))).collect();
        debug_assert!(
            self.pages.iter().all(|p| !p.pool.owner_of(p.frame).skips_wal()),
            "a record of a relation that is not logged"
        );
        let inserted = self.wal.insert(self.scratch, &page_refs, xid);
        drop(page_refs);
        match inserted {
            Ok(at) => {
                self.set_lsns(at.end);
                Ok(at.end)
            }
            Err(e) => {
                self.abandon(&e);
                Err(e)
            }
        }
    }

    /// The end of the section: the changed pages get their LSN.
    fn set_lsns(&mut self, lsn: Lsn) {
        for p in self.pages.iter().filter(|p| p.changes) {
            registered::finish(p.pool, p.frame, lsn, p.finally);
        }
        self.pages.clear();
    }

    /// Ends the section without a record, and gives the changed pages an LSN of no record, by which
    /// changes of pages that are not logged can be recognized.
    pub fn finish_with_lsn(mut self, lsn: Lsn) {
        self.set_lsns(lsn);
    }

    /// Ends the section without a record, for relations that are not logged.
    pub fn finish_unlogged(mut self) {
        self.pages.clear();
    }

    /// Number of registered pages that were clean before (dirtied blocks in EXPLAIN BUFFERS).
    pub fn dirtied(&self) -> u32 {
        self.dirtied
    }

    fn abandon(&mut self, reason: &PgError) {
        let pool = self.pages.first().map(|p| p.pool);
        self.pages.clear();
        if let Some(pool) = pool {
            pool.crash(reason);
        }
    }
}

impl Drop for PageEdit<'_, '_> {
    fn drop(&mut self) {
        if self.pages.is_empty() {
            return;
        }
        let why = if std::thread::panicking() { "panic" } else { "error" };
        let reason = PgError::internal(format!("{why} inside a critical section"));
        self.abandon(&reason.severity(Severity::Panic));
    }
}
