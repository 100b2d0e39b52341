//! VACUUM of an index: visits all pages in physical order, each leaf under the cleanup latch. If a
//! concurrent split moved tuples to a page with a lower block number, which the scan has passed,
//! the vacuum follows the right link back to it.
//!
//! Counterpart: nbtree.c.

use crate::buf::{Cx, RegFlags, RmgrId};
use crate::delete::{DeleteKind, PostingUpdate};
use crate::index::Index;
use crate::records;
use access::{BulkDeleteResult, IsDead};
use ids::{BlockNo, FullXid, OffsetNo};
use page::btree::{BTP_SPLIT_END, CYCLE_ID_AT, META_BLOCK, Meta, NONE, Node};
use pgerror::Result;

/// State of one pass over the index. Counterpart: `BTVacState`.
pub(crate) struct VacuumState<'a> {
    stats: &'a mut BulkDeleteResult,
    cycle_id: u16,
    /// Pages deleted in this pass; recycled at its end if that is safe by then.
    pending: Vec<(BlockNo, FullXid)>,
}

impl VacuumState<'_> {
    /// Counts a newly deleted page. `pages_deleted` excludes it if the scan has not reached it yet,
    /// because it will be counted then.
    pub(crate) fn note_deleted(&mut self, block: BlockNo, scan: BlockNo, safe_xid: FullXid) {
        self.stats.pages_newly_deleted += 1;
        if block <= scan {
            self.stats.pages_deleted += 1;
        }
        self.pending.push((block, safe_xid));
    }
}

impl Index {
    /// Removes the index tuples of dead rows. Counterpart: `btbulkdelete`.
    pub fn bulk_delete(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        is_dead: IsDead<'_>,
    ) -> Result<BulkDeleteResult> {
        let mut stats = stats.unwrap_or_default();
        let cycle = self.cycles.start(self.file.rel, &self.name)?;
        self.vacuum_scan(cx, &mut stats, Some(is_dead), cycle.id)?;
        Ok(stats)
    }

    /// Called once after all passes of [`Self::bulk_delete`]. If there was no pass and many deleted
    /// pages are left, makes one to recycle them. `heap_tuples` is the exact number of rows, if
    /// known. `None`: nothing was done. Counterpart: `btvacuumcleanup`.
    pub fn vacuum_cleanup(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        heap_tuples: Option<f64>,
    ) -> Result<Option<BulkDeleteResult>> {
        let mut stats = match stats {
            Some(s) => s,
            None => {
                if !self.needs_cleanup(cx)? {
                    return Ok(None);
                }
                let mut s = BulkDeleteResult::default();
                self.vacuum_scan(cx, &mut s, None, 0)?;
                s.estimated_count = true;
                s
            }
        };
        self.set_cleanup_info(cx, stats.pages_deleted - stats.pages_free)?;
        if let Some(n) = heap_tuples {
            // Because of splits during the scan, some tuples may have been counted twice.
            stats.num_index_tuples = stats.num_index_tuples.min(n);
        }
        Ok(Some(stats))
    }

    /// Counterpart: `_bt_vacuum_needs_cleanup`.
    fn needs_cleanup(&self, cx: &mut Cx<'_>) -> Result<bool> {
        let meta = self.meta(cx)?;
        let left_over = meta.last_cleanup_num_delpages;
        Ok(left_over > 0 && left_over > cx.nblocks(&self.file)?.0 / 20)
    }

    /// Counterpart: `_bt_set_cleanup_info`.
    ///
    /// WAL: META_CLEANUP.
    fn set_cleanup_info(&self, cx: &mut Cx<'_>, num_delpages: u32) -> Result<()> {
        let old = self.meta(cx)?;
        if old.last_cleanup_num_delpages == num_delpages {
            return Ok(());
        }
        let mut page = self.exclusive(cx, META_BLOCK)?;
        let old = self.read_meta(&page)?;
        let meta = Meta {
            last_cleanup_num_delpages: num_delpages,
            last_cleanup_num_heap_tuples: -1.0,
            ..old
        };
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        meta.write(edit.change(&mut page, 0, RegFlags::WILL_INIT | RegFlags::STANDARD));
        edit.block_data(0, &records::metadata(&meta));
        edit.log(records::META_CLEANUP)?;
        Ok(())
    }

    /// Counterpart: `btvacuumscan`.
    fn vacuum_scan(
        &self,
        cx: &mut Cx<'_>,
        stats: &mut BulkDeleteResult,
        mut is_dead: Option<IsDead<'_>>,
        cycle_id: u16,
    ) -> Result<()> {
        stats.num_index_tuples = 0.0;
        stats.pages_deleted = 0;
        stats.pages_free = 0;
        let mut vacuum = VacuumState { stats, cycle_id, pending: Vec::new() };
        let mut block = META_BLOCK.next();
        let mut ahead = 1;
        loop {
            // Pages added during the scan must be visited too.
            let end = cx.nblocks(&self.file)?;
            if block >= end {
                vacuum.stats.num_pages = end.0;
                break;
            }
            while block < end {
                cx.delay_point()?;
                cx.read_ahead(&self.file, block, end, &mut ahead)?;
                self.vacuum_block(cx, &mut vacuum, block, &mut is_dead)?;
                block = block.next();
            }
        }
        let VacuumState { stats, pending, .. } = vacuum;
        for (block, safe_xid) in pending {
            if !cx.xids.is_removable(safe_xid) {
                break;
            }
            cx.record_free_page(&self.file, block)?;
            stats.pages_free += 1;
        }
        if stats.pages_free > 0 {
            cx.vacuum_free_space(&self.file)?;
        }
        Ok(())
    }

    /// Vacuums one block, and blocks before it that received tuples from it by splits.
    /// Counterpart: `btvacuumpage`.
    fn vacuum_block(
        &self,
        cx: &mut Cx<'_>,
        vacuum: &mut VacuumState<'_>,
        scan_block: BlockNo,
        is_dead: &mut Option<IsDead<'_>>,
    ) -> Result<()> {
        let mut block = scan_block;
        loop {
            let page = cx.pin(&self.file, block)?.share();
            let node = Node(&page);
            let new = page.is_new();
            if !new && !node.has_special() {
                drop(page);
                self.share(cx, block)?;
                return Ok(());
            }
            if block != scan_block {
                let unprocessed = !new
                    && node.is_leaf()
                    && !node.is_ignored()
                    && node.cycle_id() == vacuum.cycle_id;
                if !unprocessed {
                    return Ok(());
                }
            }
            if new || (node.is_deleted() && cx.xids.is_removable(node.delete_xid())) {
                drop(page);
                cx.record_free_page(&self.file, block)?;
                vacuum.stats.pages_deleted += 1;
                vacuum.stats.pages_free += 1;
                return Ok(());
            }
            if node.is_deleted() {
                vacuum.stats.pages_deleted += 1;
                return Ok(());
            }
            if node.is_half_dead() {
                // Left by an interrupted vacuum.
                let page = page.into_pin().exclusive();
                return self.delete_page(cx, page, vacuum);
            }
            if !node.is_leaf() {
                return Ok(());
            }
            let mut page = page.into_pin().cleanup()?.into_exclusive();
            let node = Node(&page);
            // The page may have changed while it was not latched.
            if node.is_ignored() || !node.is_leaf() {
                return Ok(());
            }
            let split_since = vacuum.cycle_id != 0 && node.cycle_id() == vacuum.cycle_id;
            let back_to = (split_since
                && node.flags() & BTP_SPLIT_END == 0
                && !node.is_rightmost()
                && node.next() < scan_block)
                .then(|| node.next());

            let mut live = 0u32;
            let mut removed = 0u32;
            let mut deleted: Vec<OffsetNo> = Vec::new();
            let mut updated: Vec<PostingUpdate> = Vec::new();
            if let Some(is_dead) = is_dead {
                for off in node.first_data_key()..=node.max_offset() {
                    let tuple = node.tuple(off);
                    let dead: Vec<u16> = tuple
                        .tids()
                        .enumerate()
                        .filter(|(_, t)| is_dead(*t))
                        .map(|(i, _)| i as u16)
                        .collect();
                    removed += dead.len() as u32;
                    live += (tuple.tid_count() - dead.len()) as u32;
                    if dead.len() == tuple.tid_count() {
                        deleted.push(off);
                    } else if !dead.is_empty() {
                        updated.push(PostingUpdate { offset: off, dead });
                    }
                }
            }
            if !deleted.is_empty() || !updated.is_empty() {
                self.delete_items(cx, &mut page, DeleteKind::Vacuum, &deleted, &updated)?;
                vacuum.stats.tuples_removed += f64::from(removed);
            } else if split_since {
                page.set_hints(Some(cx.scratch), |hints| {
                    hints.store_u16(CYCLE_ID_AT, 0);
                    true
                });
            }
            let node = Node(&page);
            let items = (node.max_offset() + 1).saturating_sub(node.first_data_key());
            if items == 0 {
                if block == scan_block {
                    self.delete_page(cx, page, vacuum)?;
                } else {
                    drop(page);
                }
            } else {
                let count = if is_dead.is_some() { live } else { u32::from(items) };
                vacuum.stats.num_index_tuples += f64::from(count);
                drop(page);
            }
            match back_to {
                Some(back) if back != NONE => block = back,
                _ => return Ok(()),
            }
        }
    }
}
