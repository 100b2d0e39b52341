//! The one way to change pages: change bytes, mark dirty, insert the record, stamp the LSN.
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
//! A page is marked dirty when it is registered, under its exclusive latch. So a checkpoint that
//! fixed its redo pointer before the record was inserted finds the flag, waits for the latch and
//! writes the change; one that fixed it later need not.

use crate::frame::FrameNo;
use crate::guard::registered;
use crate::{BufferPool, ExclusiveGuard};
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
}

/// A critical section over the pages that one record covers. Leaving it other than by `log` or
/// `finish_unlogged` after a page was registered takes the server down. The guards (of lifetime
/// `'p`) may live on after the edit; log and scratch are borrowed for `'a` only.
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

    /// Registers the page as block `id`, marks it dirty and lends it.
    pub fn change<'s>(
        &'s mut self,
        guard: &'s mut ExclusiveGuard<'p>,
        id: u8,
        flags: RegFlags,
    ) -> PageMut<'s> {
        self.register(guard, id, flags);
        guard.lend()
    }

    /// As `change` without lending: see [`ExclusiveGuard::page_mut`].
    pub fn register(&mut self, guard: &mut ExclusiveGuard<'p>, id: u8, flags: RegFlags) {
        self.add(guard, id, flags, true);
        let pin = guard.pin();
        let clean = pin.pool().mark_dirty(pin.frame());
        self.dirtied += u32::from(clean);
        self.scratch.dirtied += u64::from(clean);
    }

    /// Registers without marking dirty or stamping: a page that the record refers to and that does
    /// not change.
    pub fn refer(&mut self, guard: &ExclusiveGuard<'p>, id: u8, flags: RegFlags) {
        self.add(guard, id, flags, false);
    }

    fn add(&mut self, guard: &ExclusiveGuard<'p>, id: u8, flags: RegFlags, changes: bool) {
        let pin = guard.pin();
        let tag = pin.pool().frames.desc(pin.frame()).tag();
        self.scratch.block(id, tag.rel, tag.fork, tag.block, flags);
        self.pages.push(Registered { pool: pin.pool(), frame: pin.frame(), id, changes });
    }

    /// Is the guard's page among those that change?
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

    /// For what is rarely needed (origin, top-level xid, unimportant).
    pub fn record(&mut self) -> &mut RecordBuilder {
        self.scratch
    }

    /// Inserts the record and stamps its end on every changed page.
    #[inline]
    pub fn log(mut self, rmgr: RmgrId, info: u8, xid: Xid) -> Result<Lsn> {
        // Not moved there, for it is large.
        self.insert(rmgr, info, xid)
    }

    fn insert(&mut self, rmgr: RmgrId, info: u8, xid: Xid) -> Result<Lsn> {
        self.scratch.set_kind(rmgr, info);
        let lent: SmallVec<[(u8, PageRef<'_>); 4]> =
            self.pages.iter().map(|p| (p.id, registered::page(p.pool, p.frame))).collect();
        debug_assert!(
            self.pages.iter().all(|p| !p.pool.owner_of(p.frame).skips_wal()),
            "a record of a relation that is not logged"
        );
        let inserted = self.wal.insert(self.scratch, &lent, xid);
        drop(lent);
        match inserted {
            Ok(at) => {
                for p in self.pages.iter().filter(|p| p.changes) {
                    registered::stamp(p.pool, p.frame, at.end);
                }
                self.pages.clear();
                Ok(at.end)
            }
            Err(e) => {
                self.abandon(&e);
                Err(e)
            }
        }
    }

    /// Ends the section for relations that are not logged.
    pub fn finish_unlogged(mut self) {
        self.pages.clear();
    }

    /// How many of the registered pages were clean before (EXPLAIN BUFFERS, dirtied).
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
