//! Deletion of the empty pages of a posting tree, by VACUUM.
//!
//! The cleanup latch of the root excludes insertions, each of which has the root pinned. Scans may
//! be anywhere: a deleted page keeps its right link, and its block is not used again until no
//! snapshot is older than its deletion. The first and the last page of a level stay.
//!
//! LOCK ORDER: the pages from the root down to a leaf, on each level the left neighbor first. A
//! scan has no page of another level latched while it waits.
//!
//! Counterpart: `ginScanToDelete`, `ginDeletePage` in ginvacuum.c.

use crate::index::GinIndex;
use crate::records::{self, DeletePage};
use access::{BulkDeleteResult, Cx};
use bufmgr::ExclusiveGuard;
use ids::{BlockNo, OffsetNo};
use page::gin::{self, DATA, DELETED, GinPage};
use pgerror::{PgError, Result};
use wal::RegFlags;

/// Most levels of a posting tree.
const LEVELS_MAX: usize = 32;

/// By level below the root: the last page that stays.
type Left<'p> = Vec<Option<ExclusiveGuard<'p>>>;

impl GinIndex {
    /// Deletes the empty pages of a posting tree.
    ///
    /// WAL: DELETE_PAGE.
    pub(crate) fn delete_empty_leaves(
        &self,
        cx: &mut Cx<'_>,
        root: BlockNo,
        stats: &mut BulkDeleteResult,
    ) -> Result<()> {
        let mut page = cx.pin(&self.file, root)?.cleanup()?;
        if GinPage(&page).is_leaf() {
            return Ok(());
        }
        let mut left: Left<'_> = Vec::new();
        self.delete_children(cx, &mut page, 0, &mut left, stats)
    }

    /// Deletes the empty children of an inner page.
    fn delete_children<'p>(
        &self,
        cx: &mut Cx<'p>,
        parent: &mut ExclusiveGuard<'p>,
        level: usize,
        left: &mut Left<'p>,
        stats: &mut BulkDeleteResult,
    ) -> Result<()> {
        if level == LEVELS_MAX {
            return Err(self.corrupted(parent.block()));
        }
        if left.len() == level {
            left.push(None);
        }
        let mut n = 1;
        while n <= GinPage(parent).posting_items() {
            (cx.check_interrupts)()?;
            let block = GinPage(parent).posting_item(n).child;
            if block == parent.block() {
                return Err(self.corrupted(block));
            }
            let mut page = self.exclusive(cx, block)?;
            if !GinPage(&page).has(DATA) {
                return Err(self.corrupted(block));
            }
            let empty = if GinPage(&page).is_leaf() {
                GinPage(&page).is_empty_leaf()
            } else {
                self.delete_children(cx, &mut page, level + 1, left, stats)?;
                GinPage(&page).posting_items() == 0
            };
            match &mut left[level] {
                Some(left) if empty && !GinPage(&page).is_rightmost() => {
                    self.delete_page(cx, page, left, (parent, n))?;
                    stats.pages_newly_deleted += 1;
                    stats.pages_deleted += 1;
                }
                slot => {
                    *slot = Some(page);
                    n += 1;
                }
            }
        }
        Ok(())
    }

    fn delete_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut page: ExclusiveGuard<'p>,
        left: &mut ExclusiveGuard<'p>,
        (parent, offset): (&mut ExclusiveGuard<'p>, OffsetNo),
    ) -> Result<()> {
        let right_link = GinPage(&page).right_link();
        if GinPage(left).right_link() != page.block() {
            return Err(self.corrupted(left.block()));
        }
        let xid = cx.xids.next_full_xid().xid();
        let mut edit = self.edit(cx);
        let deleted = edit.change(&mut page, 0, RegFlags::NONE);
        gin::add_flag(deleted, DELETED);
        deleted.set_prune_xid(xid);
        if !gin::delete_posting_item(edit.change(parent, 1, RegFlags::STANDARD), offset) {
            return Err(PgError::internal("a parent without the downlink"));
        }
        gin::set_right_link(edit.change(left, 2, RegFlags::NONE), right_link);
        edit.main(&DeletePage { parent_offset: offset, right_link, xid }.encode());
        edit.log(records::DELETE_PAGE)?;
        Ok(())
    }
}
