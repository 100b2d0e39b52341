//! VACUUM: removes the tuples of dead rows, and lists the pages with free space.
//!
//! Counterpart: blvacuum.c.

use crate::index::BloomIndex;
use access::generic::{NewContent, change_pages};
use access::{BulkDeleteResult, Cx, IsDead};
use ids::BlockNo;
use page::bloom::{self, BloomPage, FIRST_BLOCK, LIST_MAX, META_BLOCK, is_unused};
use pgerror::Result;

impl BloomIndex {
    /// Removes the tuples of dead rows. Pages that are added meanwhile have none.
    ///
    /// WAL: GENERIC for each page that changes, and for the metapage.
    pub(crate) fn delete_dead(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        is_dead: IsDead<'_>,
    ) -> Result<BulkDeleteResult> {
        let mut stats = stats.unwrap_or_default();
        let options = self.options(cx)?;
        let mut with_space = Vec::new();
        let (end, mut ahead) = (cx.nblocks(&self.file)?, 1);
        for block in (FIRST_BLOCK.0..end.0).map(BlockNo) {
            cx.delay_point()?;
            cx.read_ahead(&self.file, block, end, &mut ahead)?;
            let mut page = cx.pin(&self.file, block)?.exclusive();
            self.check(&page, block)?;
            // Unused pages wait for the cleanup.
            if is_unused(&page) {
                continue;
            }
            if BloomPage(&page).tuples(options).is_none() {
                return Err(self.damaged(block));
            }
            let mut change = NewContent::of(&mut page);
            let removed = bloom::remove(&mut change.content, options, is_dead);
            let new = BloomPage(&change.content);
            if new.count() != 0 && new.has_space(options) && with_space.len() < LIST_MAX {
                with_space.push(block);
            }
            if removed != 0 {
                stats.tuples_removed += removed as f64;
                change_pages(cx, &self.file, [change])?;
            }
        }
        // The list may be outdated already: insertions check the pages.
        let mut meta = cx.pin(&self.file, META_BLOCK)?.exclusive();
        let mut list = NewContent::of(&mut meta);
        bloom::set_list(&mut list.content, &with_space);
        change_pages(cx, &self.file, [list])?;
        Ok(stats)
    }

    /// Counts the tuples; adds unused pages to the free space map.
    pub(crate) fn finish_vacuum(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
    ) -> Result<BulkDeleteResult> {
        let mut stats = stats.unwrap_or_default();
        let (nblocks, mut ahead) = (cx.nblocks(&self.file)?, 1);
        (stats.num_pages, stats.pages_free, stats.num_index_tuples) = (nblocks.0, 0, 0.0);
        for block in (FIRST_BLOCK.0..nblocks.0).map(BlockNo) {
            cx.delay_point()?;
            cx.read_ahead(&self.file, block, nblocks, &mut ahead)?;
            let page = cx.pin(&self.file, block)?.share();
            self.check(&page, block)?;
            if is_unused(&page) {
                drop(page);
                cx.record_free_page(&self.file, block)?;
                stats.pages_free += 1;
            } else {
                stats.num_index_tuples += BloomPage(&page).count() as f64;
            }
        }
        cx.vacuum_free_space(&self.file)?;
        Ok(stats)
    }
}
