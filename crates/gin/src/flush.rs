//! The transfer of the pending list to the entry tree.
//!
//! A crash after entries were inserted and before their pages were removed from the list is
//! harmless: they are inserted again, and found to be there.
//!
//! Counterpart: `ginInsertCleanup` in ginfast.c.

use crate::accumulate::Accumulator;
use crate::index::GinIndex;
use access::{BulkDeleteResult, Cx};
use ids::{BlockNo, OffsetNo};
use page::Page;
use page::gin::{GinPage, LIST_FULLROW};
use pgerror::Result;

/// How the pending list is flushed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flushing {
    /// Until the list is empty, not only up to its tail at the beginning.
    full: bool,
    /// Wait for a running flush, and use the memory of maintenance.
    force: bool,
    /// Add the removed pages to the free space map.
    reuse: bool,
}

impl Flushing {
    /// By an insertion into a long list.
    pub(crate) const INSERT: Flushing = Flushing { full: false, force: false, reuse: true };
    /// By VACUUM, which adds free pages to the map later.
    pub(crate) const VACUUM: Flushing = Flushing { full: true, force: true, reuse: false };
    /// By `gin_clean_pending_list`.
    pub(crate) const COMMAND: Flushing = Flushing { full: true, force: true, reuse: true };
}

impl GinIndex {
    /// Moves the entries of the pending list to the entry tree.
    pub(crate) fn flush_pending(
        &self,
        cx: &mut Cx<'_>,
        how: Flushing,
        mut stats: Option<&mut BulkDeleteResult>,
    ) -> Result<()> {
        let begun = match how.force {
            true => Some(self.flushes.begin(cx, self.file.rel)?),
            false => self.flushes.try_begin(self.file.rel),
        };
        let Some(_flush) = begun else { return Ok(()) };
        let memory = match how.force {
            true => cx.limits.maintenance_work_mem,
            false => cx.limits.work_mem,
        };
        let meta = self.meta_share(cx)?;
        let data = GinPage(&meta).meta();
        drop(meta);
        let mut block = data.head;
        let mut entries = Accumulator::new(&self.schema);
        let (mut removed, mut pages) = (false, 0);
        while block != BlockNo::INVALID {
            (cx.check_interrupts)()?;
            self.check_length(cx, &mut pages, block)?;
            let page = self.share(cx, block)?;
            let is_last = block == data.tail && !how.full;
            collect(&page, 1, &mut entries)?;
            let (next, max) = (GinPage(&page).right_link(), page.max_offset());
            let full_row = GinPage(&page).has(LIST_FULLROW);
            drop(page);
            if next != BlockNo::INVALID && !(full_row && (is_last || entries.bytes() >= memory)) {
                block = next;
                continue;
            }
            self.insert_collected(cx, &mut entries)?;
            block = self.finish_pages(cx, block, max, how, stats.as_deref_mut())?;
            (removed, pages) = (true, 0);
            if is_last {
                break;
            }
        }
        if removed && how.reuse {
            cx.vacuum_free_space(&self.file)?;
        }
        Ok(())
    }

    /// Removes the pages of the list up to `block`, whose first `max` entries have been inserted.
    /// Returns the new head.
    fn finish_pages(
        &self,
        cx: &mut Cx<'_>,
        block: BlockNo,
        max: OffsetNo,
        how: Flushing,
        stats: Option<&mut BulkDeleteResult>,
    ) -> Result<BlockNo> {
        let mut meta = self.meta_exclusive(cx)?;
        let page = self.share(cx, block)?;
        let next = GinPage(&page).right_link();
        let mut more = Accumulator::new(&self.schema);
        if page.max_offset() > max {
            // Rows were added meanwhile, none of which continues on another page.
            collect(&page, max + 1, &mut more)?;
        }
        drop(page);
        if !more.is_empty() {
            // The latch of the metapage excludes further insertions.
            more.drain(&mut |prefix, items| self.insert_entry(cx, prefix, items))?;
        }
        self.remove_pending(cx, &mut meta, next, stats, how.reuse)?;
        Ok(next)
    }

    fn insert_collected(&self, cx: &mut Cx<'_>, entries: &mut Accumulator<'_>) -> Result<()> {
        entries.drain(&mut |prefix, items| {
            (cx.check_interrupts)()?;
            self.insert_entry(cx, prefix, items)
        })
    }
}

/// Adds the entries of a page from an offset on.
fn collect(page: &Page, from: OffsetNo, entries: &mut Accumulator<'_>) -> Result<()> {
    (from..=page.max_offset()).try_for_each(|offset| entries.add_tuple(page.item(offset)))
}
