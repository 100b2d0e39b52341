//! The one way to change pages: change bytes, mark dirty, insert the record, stamp the LSN.
//!
//! ```text
//! let mut edit = PageEdit::begin(wal, &mut scratch);
//! let page = edit.change(&mut guard, 0, RegFlags::STANDARD);   // the critical section starts here
//! …change bytes…
//! edit.block_data(0, …); edit.main(…);
//! let lsn = edit.log(RmgrId::Heap, info, xid)?;
//! ```
//! With two pages at once: `register` both, then `guard_a.page_mut(&edit)`, `guard_b.page_mut(&edit)`.

use crate::{BufferPool, ExclusiveGuard};
use ids::{Lsn, Xid};
use page::PageMut;
use pgerror::Result;
use std::marker::PhantomData;
use wal::{RecordBuilder, RegFlags, RmgrId, Wal};

/// A critical section over the pages that one record covers. Leaving it other than by `log` or
/// `finish_unlogged` after a page was registered takes the server down. The guards (of lifetime `'p`)
/// may live on after the edit; log and scratch are borrowed for `'a` only.
pub struct PageEdit<'a, 'p> {
    _wal: &'a Wal,
    scratch: &'a mut RecordBuilder,
    pages: PhantomData<&'p BufferPool>,
}

impl<'a, 'p> PageEdit<'a, 'p> {
    /// `scratch` is reset.
    pub fn begin(wal: &'a Wal, scratch: &'a mut RecordBuilder) -> PageEdit<'a, 'p> {
        PageEdit { _wal: wal, scratch, pages: PhantomData }
    }

    /// Registers the page as block `id`, marks it dirty and lends it.
    pub fn change<'s>(
        &'s mut self,
        _guard: &'s mut ExclusiveGuard<'p>,
        _id: u8,
        _flags: RegFlags,
    ) -> PageMut<'s> {
        todo!()
    }

    /// As `change` without lending: see [`ExclusiveGuard::page_mut`].
    pub fn register(&mut self, _guard: &mut ExclusiveGuard<'p>, _id: u8, _flags: RegFlags) {
        todo!()
    }

    /// Registers without marking dirty or stamping: a page that the record refers to and that does not
    /// change (REGBUF_NO_CHANGE is its later name).
    pub fn refer(&mut self, _guard: &ExclusiveGuard<'p>, _id: u8, _flags: RegFlags) {
        todo!()
    }

    pub fn main(&mut self, data: &[u8]) -> &mut Self {
        self.scratch.main(data);
        self
    }

    pub fn block_data(&mut self, id: u8, data: &[u8]) -> &mut Self {
        self.scratch.block_data(id, data);
        self
    }

    /// For what is rarely needed (origin, top-level xid, unimportant).
    pub fn record(&mut self) -> &mut RecordBuilder {
        self.scratch
    }

    /// Inserts the record and stamps its end on every registered page.
    pub fn log(self, _rmgr: RmgrId, _info: u8, _xid: Xid) -> Result<Lsn> {
        todo!()
    }

    /// Ends the section for relations that are not logged.
    pub fn finish_unlogged(self) {
        todo!()
    }

    /// How many of the registered pages were clean before (EXPLAIN BUFFERS, dirtied).
    pub fn dirtied(&self) -> u32 {
        todo!()
    }
}
