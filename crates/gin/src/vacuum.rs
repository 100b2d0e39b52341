//! VACUUM: flushes the pending list, removes the TIDs of dead rows from posting lists and posting
//! trees, and counts pages.
//!
//! Counterpart: ginvacuum.c, `ginUpdateStats` in ginutil.c.

use crate::flush::Flushing;
use crate::index::{GinIndex, is_recyclable};
use crate::insert::list_of;
use crate::leaf::{self, Leaf};
use crate::records::{self, UpdateMeta};
use access::{BulkDeleteResult, Cx, IsDead};
use bufmgr::ExclusiveGuard;
use ids::BlockNo;
use page::gin::{
    self, DATA, DELETED, Entry, GinPage, Item, LIST, META_BLOCK, Postings, ROOT_BLOCK,
};
use page::index_space;
use page::{Page, PageBuf};
use pgerror::Result;
use wal::RegFlags;

impl GinIndex {
    /// Removes the TIDs of dead rows. Counterpart: `ginbulkdelete`.
    ///
    /// WAL: VACUUM_PAGE, VACUUM_DATA_LEAF_PAGE, DELETE_PAGE, and those of the flush.
    pub(crate) fn delete_dead(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        is_dead: IsDead<'_>,
    ) -> Result<BulkDeleteResult> {
        let mut stats = match stats {
            Some(stats) => stats,
            None => {
                let mut stats = BulkDeleteResult::default();
                self.flush_pending(cx, Flushing::VACUUM, Some(&mut stats))?;
                stats
            }
        };
        stats.num_index_tuples = 0.0;
        let mut page = self.first_entry_leaf(cx)?;
        loop {
            let mut roots = Vec::new();
            self.vacuum_entries(cx, &mut page, &mut roots, &mut stats, is_dead)?;
            let next = GinPage(&page).right_link();
            drop(page);
            for root in roots {
                cx.delay_point()?;
                self.vacuum_tree(cx, root, &mut stats, is_dead)?;
            }
            if next == BlockNo::INVALID {
                return Ok(stats);
            }
            cx.delay_point()?;
            page = self.exclusive(cx, next)?;
        }
    }

    /// The leftmost leaf of the entry tree.
    fn first_entry_leaf<'p>(&self, cx: &mut Cx<'p>) -> Result<ExclusiveGuard<'p>> {
        let mut block = ROOT_BLOCK;
        loop {
            let page = self.exclusive(cx, block)?;
            if GinPage(&page).has(DATA) || GinPage(&page).has(LIST) {
                return Err(self.corrupted(block));
            }
            if GinPage(&page).is_leaf() {
                return Ok(page);
            }
            let child = Entry::new(page.item(1)).downlink();
            if child == block {
                return Err(self.corrupted(block));
            }
            block = child;
        }
    }

    /// Removes dead TIDs from the posting lists of a leaf; collects the roots of posting trees.
    fn vacuum_entries<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        roots: &mut Vec<BlockNo>,
        stats: &mut BulkDeleteResult,
        is_dead: IsDead<'_>,
    ) -> Result<()> {
        page.check_index_items()?;
        let mut new: Option<PageBuf> = None;
        for offset in 1..=page.max_offset() {
            let entry = Entry::new(page.item(offset));
            let items = match entry.postings() {
                Postings::Tree(root) => {
                    roots.push(root);
                    continue;
                }
                postings => list_of(postings),
            };
            let mut live = items.clone();
            live.retain(|item| !is_dead(item.tid()));
            stats.num_index_tuples += live.len() as f64;
            if live.len() == items.len() {
                continue;
            }
            stats.tuples_removed += (items.len() - live.len()) as f64;
            let prefix = entry.0.bytes().get(..entry.posting_offset());
            let tuple = prefix.and_then(|prefix| self.list_tuple(prefix, &live));
            let tuple = tuple.ok_or_else(|| self.corrupted(page.block()))?;
            let copy = new.get_or_insert_with(|| page.to_buf());
            index_space::delete(copy, offset)?;
            if !index_space::add(copy, &tuple, offset) {
                return Err(self.internal("failed to add item to index page"));
            }
        }
        let Some(new) = new else { return Ok(()) };
        let mut edit = self.edit(cx);
        new.copy_to(edit.change(page, 0, RegFlags::FORCE_IMAGE | RegFlags::STANDARD));
        edit.log(records::VACUUM_PAGE)?;
        Ok(())
    }

    /// Removes dead TIDs from a posting tree, then its empty leaves.
    fn vacuum_tree(
        &self,
        cx: &mut Cx<'_>,
        root: BlockNo,
        stats: &mut BulkDeleteResult,
        is_dead: IsDead<'_>,
    ) -> Result<()> {
        if self.vacuum_leaves(cx, root, stats, is_dead)? {
            self.delete_empty_leaves(cx, root, stats)?;
        }
        Ok(())
    }

    /// Returns whether there are empty leaves.
    fn vacuum_leaves(
        &self,
        cx: &mut Cx<'_>,
        root: BlockNo,
        stats: &mut BulkDeleteResult,
        is_dead: IsDead<'_>,
    ) -> Result<bool> {
        let mut block = root;
        let mut page = loop {
            let page = self.exclusive(cx, block)?;
            let own = GinPage(&page);
            if !own.has(DATA) {
                return Err(self.corrupted(block));
            }
            if own.is_leaf() {
                break page;
            }
            let child = own.posting_item(1).child;
            if child == block || own.posting_items() == 0 {
                return Err(self.corrupted(block));
            }
            block = child;
        };
        let mut has_empty = false;
        loop {
            self.vacuum_leaf(cx, &mut page, stats, is_dead)?;
            has_empty |= GinPage(&page).is_empty_leaf();
            if GinPage(&page).is_rightmost() {
                return Ok(has_empty);
            }
            let next = GinPage(&page).right_link();
            drop(page);
            cx.delay_point()?;
            page = self.exclusive(cx, next)?;
        }
    }

    fn vacuum_leaf<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        stats: &mut BulkDeleteResult,
        is_dead: IsDead<'_>,
    ) -> Result<()> {
        let mut test = |item: Item| {
            let dead = is_dead(item.tid());
            let count = if dead { &mut stats.tuples_removed } else { &mut stats.num_index_tuples };
            *count += 1.0;
            dead
        };
        let Some(change) = Leaf::new(page).vacuum(&mut test)? else { return Ok(()) };
        let mut edit = self.edit(cx);
        leaf::apply(edit.change(page, 0, RegFlags::STANDARD), &change)?;
        edit.block_data(0, &change.log);
        edit.log(records::VACUUM_DATA_LEAF_PAGE)?;
        Ok(())
    }

    /// Counts the pages, adds free ones to the free space map. Counterpart: `ginvacuumcleanup`.
    ///
    /// WAL: UPDATE_META_PAGE, and those of the flush.
    pub(crate) fn finish_vacuum(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        heap_tuples: Option<f64>,
    ) -> Result<BulkDeleteResult> {
        let mut stats = match stats {
            Some(stats) => stats,
            None => {
                let mut stats = BulkDeleteResult::default();
                self.flush_pending(cx, Flushing::VACUUM, Some(&mut stats))?;
                stats
            }
        };
        // The number of rows of the table, since rows have several entries.
        stats.estimated_count = heap_tuples.is_none();
        stats.num_index_tuples = heap_tuples.unwrap_or(0.0);
        let (nblocks, mut ahead) = (cx.nblocks(&self.file)?, 1);
        let mut counts = Counts::default();
        for block in ROOT_BLOCK.0..nblocks.0 {
            cx.delay_point()?;
            cx.read_ahead(&self.file, BlockNo(block), nblocks, &mut ahead)?;
            // A new page is not an error here.
            let page = cx.pin(&self.file, BlockNo(block))?.share();
            if is_recyclable(cx, &page) {
                drop(page);
                cx.record_free_page(&self.file, BlockNo(block))?;
                counts.free += 1;
            } else {
                counts.add(&page);
            }
        }
        self.store_counts(cx, &counts, nblocks.0)?;
        cx.vacuum_free_space(&self.file)?;
        stats.pages_free = counts.free;
        stats.num_pages = cx.nblocks(&self.file)?.0;
        Ok(stats)
    }

    fn store_counts(&self, cx: &mut Cx<'_>, counts: &Counts, nblocks: u32) -> Result<()> {
        let mut meta = self.meta_exclusive(cx)?;
        let mut data = GinPage(&meta).meta();
        data.total_pages = nblocks;
        data.entry_pages = counts.entry_pages;
        data.data_pages = counts.data_pages;
        data.entries = counts.entries;
        let record = UpdateMeta {
            rel: self.file.rel,
            meta: data.encode(),
            previous_tail: BlockNo::INVALID,
            new_right_link: BlockNo::INVALID,
            tuples: 0,
        };
        let mut edit = self.edit(cx);
        data.store(edit.change(&mut meta, 0, RegFlags::WILL_INIT | RegFlags::STANDARD));
        edit.main(&record.encode());
        edit.log(records::UPDATE_META_PAGE)?;
        debug_assert_eq!(meta.block(), META_BLOCK);
        Ok(())
    }
}

/// Numbers of pages by kind.
#[derive(Default)]
struct Counts {
    entry_pages: u32,
    data_pages: u32,
    entries: i64,
    free: u32,
}

impl Counts {
    fn add(&mut self, page: &Page) {
        let own = GinPage(page);
        if own.has(DATA) {
            self.data_pages += 1;
        } else if !own.has(LIST) {
            self.entry_pages += 1;
            if own.is_leaf() && !own.has(DELETED) {
                self.entries += i64::from(page.max_offset());
            }
        }
        debug_assert!(own.has_special());
        debug_assert!(page.special() == page::PAGE_SIZE - gin::SPECIAL_SIZE);
    }
}
