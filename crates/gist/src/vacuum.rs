//! VACUUM: reads all pages in physical order, removes the tuples of dead rows, then unlinks leaves
//! that have become empty.
//!
//! A leaf is latched for cleanup, so that no scan has its tuples in use while rows are removed. If
//! it was split since VACUUM began and its right neighbor is at a lower block, which has been
//! visited already, that is visited again.
//!
//! Counterpart: gistvacuum.c.

use crate::index::{GistIndex, Mode, is_recyclable};
use crate::records::{self, PageDelete, PageUpdate};
use access::{BulkDeleteResult, Cx, IsDead};
use bufmgr::ExclusiveGuard;
use ids::{BlockNo, Lsn, OffsetNo};
use page::gist::{self, DELETED, FOLLOW_RIGHT, GistPage};
use page::index_space;
use pgerror::Result;
use std::collections::BTreeSet;
use wal::RegFlags;

/// The state of one pass.
struct Pass {
    /// Pages with a greater NSN were split since the pass began.
    began: Lsn,
    inner: Vec<BlockNo>,
    empty: BTreeSet<BlockNo>,
}

impl GistIndex {
    /// One pass over the index; `is_dead` is `None` if it only counts. Counterpart:
    /// `gistvacuumscan`.
    ///
    /// WAL: PAGE_UPDATE, PAGE_DELETE.
    pub(crate) fn vacuum(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        mut is_dead: Option<IsDead<'_>>,
    ) -> Result<BulkDeleteResult> {
        let mut stats = stats.unwrap_or_default();
        stats.estimated_count = false;
        stats.num_index_tuples = 0.0;
        (stats.pages_deleted, stats.pages_free) = (0, 0);
        let began = match self.unlogged_lsn(cx, Mode::NORMAL)? {
            Some(lsn) => lsn,
            None => cx.wal.inserted(),
        };
        let mut pass = Pass { began, inner: Vec::new(), empty: BTreeSet::new() };
        let (mut next, mut ahead) = (0, 1);
        loop {
            // Pages that are added meanwhile may have tuples of pages not visited yet.
            let end = cx.nblocks(&self.file)?.0;
            if next >= end {
                break;
            }
            for block in (next..end).map(BlockNo) {
                cx.read_ahead(&self.file, block, BlockNo(end), &mut ahead)?;
                let mut again = Some(block);
                let mut visits = 0;
                while let Some(own) = again {
                    cx.delay_point()?;
                    visits += 1;
                    if visits > u64::from(end) + 1 {
                        return Err(self.corrupted(own));
                    }
                    again = self.visit(cx, (own, block), &mut pass, &mut stats, &mut is_dead)?;
                }
            }
            next = end;
        }
        if stats.pages_free > 0 {
            cx.vacuum_free_space(&self.file)?;
        }
        stats.num_pages = next;
        self.unlink_empty(cx, pass, &mut stats)?;
        Ok(stats)
    }

    /// Visits a page; `highest` is the block that the pass has reached. Returns a page that is to
    /// be visited again.
    fn visit(
        &self,
        cx: &mut Cx<'_>,
        (block, highest): (BlockNo, BlockNo),
        pass: &mut Pass,
        stats: &mut BulkDeleteResult,
        is_dead: &mut Option<IsDead<'_>>,
    ) -> Result<Option<BlockNo>> {
        let mut page = cx.pin(&self.file, block)?.cleanup()?.into_exclusive();
        if is_recyclable(cx, &page) {
            drop(page);
            cx.record_free_page(&self.file, block)?;
            stats.pages_deleted += 1;
            stats.pages_free += 1;
            return Ok(None);
        }
        if !GistPage(&page).has_special() {
            return Err(self.corrupted(block));
        }
        if GistPage(&page).has(DELETED) {
            stats.pages_deleted += 1;
            return Ok(None);
        }
        if !GistPage(&page).is_leaf() {
            if block == highest {
                pass.inner.push(block);
            }
            return Ok(None);
        }
        let own = GistPage(&page);
        let right = own.right_link();
        let split = own.has(FOLLOW_RIGHT) || pass.began < own.nsn();
        let again = split && right != BlockNo::INVALID && right < highest;
        if let Some(is_dead) = is_dead {
            self.remove_dead(cx, &mut page, stats, *is_dead)?;
        }
        match page.max_offset() {
            // The next VACUUM finds one that is visited again.
            0 if block == highest => {
                pass.empty.insert(block);
            }
            count => stats.num_index_tuples += f64::from(count),
        }
        Ok(again.then_some(right))
    }

    /// WAL: PAGE_UPDATE.
    fn remove_dead<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        stats: &mut BulkDeleteResult,
        is_dead: IsDead<'_>,
    ) -> Result<()> {
        page.check_index_items()?;
        let dead: Vec<OffsetNo> = (1..=page.max_offset())
            .filter(|offset| is_dead(GistPage(page).tuple(*offset).tid_field()))
            .collect();
        if dead.is_empty() {
            return Ok(());
        }
        let unlogged = self.unlogged_lsn(cx, Mode::NORMAL)?;
        let mut edit = self.edit(cx);
        let changed = edit.change(page, 0, RegFlags::STANDARD);
        index_space::delete_many(changed, &dead)?;
        edit.main(&PageUpdate { deleted: dead.len() as u16, inserted: 0 }.encode());
        edit.block_data(0, &records::offsets(&dead));
        edit.log_or_set(records::PAGE_UPDATE, unlogged)?;
        stats.tuples_removed += dead.len() as f64;
        Ok(())
    }

    /// Unlinks the empty leaves, except the last one of each parent. Counterpart:
    /// `gistvacuum_delete_empty_pages`.
    fn unlink_empty(
        &self,
        cx: &mut Cx<'_>,
        pass: Pass,
        stats: &mut BulkDeleteResult,
    ) -> Result<()> {
        let mut remaining = pass.empty.len();
        for block in pass.inner {
            if remaining == 0 {
                return Ok(());
            }
            (cx.check_interrupts)()?;
            let page = self.share(cx, block)?;
            let own = GistPage(&page);
            if own.has(DELETED) || own.is_leaf() {
                continue;
            }
            let last = page.max_offset();
            let found: Vec<(OffsetNo, BlockNo)> = (1..=last)
                .map(|offset| (offset, own.child(offset)))
                .filter(|(_, child)| pass.empty.contains(child))
                .take(usize::from(last).saturating_sub(1))
                .collect();
            drop(page);
            // LOCK ORDER: the child is latched before its parent.
            let mut gone = 0;
            for (offset, child) in &found {
                let leaf = self.exclusive(cx, *child)?;
                let parent = self.exclusive(cx, block)?;
                if self.unlink(cx, leaf, parent, offset - gone)? {
                    gone += 1;
                    stats.pages_newly_deleted += 1;
                    stats.pages_deleted += 1;
                }
            }
            remaining -= found.len().min(remaining);
        }
        Ok(())
    }

    /// Deletes a leaf, if it is still empty and the downlink is still there. Counterpart:
    /// `gistdeletepage`.
    ///
    /// WAL: PAGE_DELETE.
    fn unlink<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut leaf: ExclusiveGuard<'p>,
        mut parent: ExclusiveGuard<'p>,
        downlink: OffsetNo,
    ) -> Result<bool> {
        let own = GistPage(&leaf);
        if !own.is_leaf() || own.has(FOLLOW_RIGHT) || own.has(DELETED) || leaf.max_offset() != 0 {
            return Ok(false);
        }
        let above = GistPage(&parent);
        if above.is_leaf() || above.has(DELETED) || parent.max_offset() <= 1 {
            return Ok(false);
        }
        if downlink > parent.max_offset() || above.child(downlink) != leaf.block() {
            return Ok(false);
        }
        parent.check_index_items()?;
        // Scans that have read the downlink may still visit the page.
        let xid = cx.xids.next_full_xid();
        let unlogged = self.unlogged_lsn(cx, Mode::NORMAL)?;
        let mut edit = self.edit(cx);
        gist::set_deleted(edit.change(&mut leaf, 0, RegFlags::STANDARD), xid);
        index_space::delete(edit.change(&mut parent, 1, RegFlags::STANDARD), downlink)?;
        edit.main(&PageDelete { xid, downlink }.encode());
        edit.log_or_set(records::PAGE_DELETE, unlogged)?;
        Ok(true)
    }

    /// Counterpart: `gistvacuumcleanup`.
    pub(crate) fn finish_vacuum(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        heap_tuples: Option<f64>,
    ) -> Result<BulkDeleteResult> {
        let mut stats = match stats {
            Some(stats) => stats,
            None => self.vacuum(cx, None, None)?,
        };
        // Concurrent splits may have made the pass count tuples twice.
        if let Some(tuples) = heap_tuples {
            stats.num_index_tuples = stats.num_index_tuples.min(tuples);
        }
        Ok(stats)
    }
}
