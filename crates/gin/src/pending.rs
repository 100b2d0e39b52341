//! The pending list: pages with the entries of rows that are not in the entry tree yet, in the
//! order of insertion. The entries of one row are consecutive.
//!
//! LOCK ORDER: the metapage, then pages of the list from head to tail; before pages of the trees.
//!
//! Counterpart: ginfast.c.

use crate::index::GinIndex;
use crate::key::Tuples;
use crate::records::{self, DeleteListPages, InsertListPage, UpdateMeta};
use access::{BulkDeleteResult, Cx};
use bufmgr::ExclusiveGuard;
use ids::BlockNo;
use page::gin::{self, DELETED, GinPage, LIST, LIST_FULLROW, LIST_PAGE_SIZE, Meta};
use page::index_space;
use page::{PAGE_SIZE, PageMut};
use pgerror::{PgError, Result};
use wal::RegFlags;

/// Bytes of a page of the list that count for its limit. Counterpart: `GIN_PAGE_FREESIZE`.
const PAGE_BYTES: usize = PAGE_SIZE - 24 - gin::SPECIAL_SIZE;
/// Most pages that one record removes.
const DELETE_PAGES_MAX: usize = 16;

/// New pages that are not part of the list yet.
struct SubList {
    head: BlockNo,
    tail: BlockNo,
    tail_free: u32,
    pages: u32,
}

impl GinIndex {
    /// Appends the entries of a row to the pending list, and flushes the list if it is long.
    /// Counterpart: `ginHeapTupleFastInsert`.
    pub(crate) fn insert_pending(&self, cx: &mut Cx<'_>, entries: &[u8]) -> Result<()> {
        let count = Tuples(entries).count();
        if count == 0 {
            return Ok(());
        }
        let size = entries.len() + 4 * count;
        let mut meta = None;
        if size <= LIST_PAGE_SIZE {
            let page = self.meta_exclusive(cx)?;
            let data = GinPage(&page).meta();
            let fits = data.head != BlockNo::INVALID && size <= data.tail_free as usize;
            meta = fits.then_some(page);
        }
        let pages = match meta {
            Some(meta) => self.append_row(cx, meta, entries, count)?,
            None => self.append_list(cx, entries)?,
        };
        if pages as usize * PAGE_BYTES > self.pending_list_limit(cx) {
            self.flush_pending(cx, crate::flush::Flushing::INSERT, None)?;
        }
        Ok(())
    }

    /// Adds a row to the last page of the list, which has room. Returns the number of pages.
    ///
    /// WAL: UPDATE_META_PAGE.
    fn append_row<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut meta: ExclusiveGuard<'p>,
        entries: &[u8],
        count: usize,
    ) -> Result<u32> {
        let mut data = GinPage(&meta).meta();
        let mut tail = self.exclusive(cx, data.tail)?;
        let free = index_space::exact_free_space(&tail);
        let Some(free) = free.checked_sub(entries.len() + 4 * count) else {
            return Err(self.corrupted(data.tail));
        };
        data.tail_free = free as u32;
        data.pending_rows = data.pending_rows.saturating_add(1);
        let record = self.meta_record(&data, count as i32);
        let mut edit = self.edit(cx);
        data.store(edit.change(&mut meta, 0, RegFlags::WILL_INIT | RegFlags::STANDARD));
        let page = edit.change(&mut tail, 1, RegFlags::STANDARD);
        add_tuples(page, entries)?;
        gin::set_count(page, GinPage(page).count() + 1);
        edit.main(&record.encode());
        edit.block_data(1, entries);
        edit.log(records::UPDATE_META_PAGE)?;
        Ok(data.pending_pages)
    }

    fn meta_record(&self, data: &Meta, tuples: i32) -> UpdateMeta {
        UpdateMeta {
            rel: self.file.rel,
            meta: data.encode(),
            previous_tail: BlockNo::INVALID,
            new_right_link: BlockNo::INVALID,
            tuples,
        }
    }

    /// Appends new pages with a row to the list. Returns the number of pages.
    ///
    /// WAL: INSERT_LISTPAGE, UPDATE_META_PAGE.
    fn append_list(&self, cx: &mut Cx<'_>, entries: &[u8]) -> Result<u32> {
        let list = self.make_list(cx, entries)?;
        let mut meta = self.meta_exclusive(cx)?;
        let mut data = GinPage(&meta).meta();
        let mut tail = None;
        if data.head == BlockNo::INVALID {
            data.head = list.head;
            (data.pending_pages, data.pending_rows) = (0, 0);
        } else {
            tail = Some(self.exclusive(cx, data.tail)?);
        }
        let previous = data.tail;
        data.tail = list.tail;
        data.tail_free = list.tail_free;
        data.pending_pages = data.pending_pages.saturating_add(list.pages);
        data.pending_rows = data.pending_rows.saturating_add(1);
        let mut record = self.meta_record(&data, 0);
        if tail.is_some() {
            (record.previous_tail, record.new_right_link) = (previous, list.head);
        }
        let mut edit = self.edit(cx);
        data.store(edit.change(&mut meta, 0, RegFlags::WILL_INIT | RegFlags::STANDARD));
        if let Some(tail) = &mut tail {
            gin::set_right_link(edit.change(tail, 1, RegFlags::STANDARD), list.head);
        }
        edit.main(&record.encode());
        edit.log(records::UPDATE_META_PAGE)?;
        Ok(data.pending_pages)
    }

    /// Writes the entries of a row to new pages. Counterpart: `makeSublist`.
    fn make_list(&self, cx: &mut Cx<'_>, entries: &[u8]) -> Result<SubList> {
        let mut page = self.new_page(cx)?;
        let mut list = SubList { head: page.block(), tail: page.block(), tail_free: 0, pages: 1 };
        let mut rest = entries;
        loop {
            let (len, count) = first_page(rest);
            let (own, later) = rest.split_at(len);
            if count == 0 {
                return Err(self.internal("an entry does not fit on a page of the pending list"));
            }
            if later.is_empty() {
                self.write_list_page(cx, &mut page, own, count, BlockNo::INVALID)?;
                list.tail = page.block();
                list.tail_free = index_space::exact_free_space(&page) as u32;
                return Ok(list);
            }
            let next = self.new_page(cx)?;
            self.write_list_page(cx, &mut page, own, count, next.block())?;
            list.pages += 1;
            page = next;
            rest = later;
        }
    }

    /// Counterpart: `writeListPage`.
    ///
    /// WAL: INSERT_LISTPAGE.
    fn write_list_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        entries: &[u8],
        count: usize,
        right_link: BlockNo,
    ) -> Result<()> {
        let mut edit = self.edit(cx);
        let changed = edit.change(page, 0, RegFlags::WILL_INIT);
        init_list_page(changed, right_link);
        add_tuples(changed, entries)?;
        edit.main(&InsertListPage { right_link, tuples: count as i32 }.encode());
        edit.block_data(0, entries);
        edit.log(records::INSERT_LISTPAGE)?;
        Ok(())
    }

    /// Removes the pages of the list before `new_head` (invalid: all). The caller has the metapage
    /// latched. Counterpart: `shiftList`.
    ///
    /// WAL: DELETE_LISTPAGE.
    pub(crate) fn remove_pending<'p>(
        &self,
        cx: &mut Cx<'p>,
        meta: &mut ExclusiveGuard<'p>,
        new_head: BlockNo,
        mut stats: Option<&mut BulkDeleteResult>,
        reuse: bool,
    ) -> Result<()> {
        let mut data = GinPage(meta).meta();
        while data.head != new_head {
            let mut pages: Vec<ExclusiveGuard<'p>> = Vec::new();
            let mut block = data.head;
            while pages.len() < DELETE_PAGES_MAX && block != new_head {
                // A page of a circular list is latched already.
                if pages.iter().any(|page| page.block() == block) {
                    return Err(self.corrupted(block));
                }
                let page = self.exclusive(cx, block)?;
                if !GinPage(&page).has(LIST) || GinPage(&page).has(DELETED) {
                    return Err(self.corrupted(block));
                }
                let rows = i64::from(GinPage(&page).count());
                data.pending_rows = data.pending_rows.saturating_sub(rows);
                block = GinPage(&page).right_link();
                pages.push(page);
            }
            data.head = block;
            data.pending_pages = data.pending_pages.saturating_sub(pages.len() as u32);
            if block == BlockNo::INVALID {
                data.tail = BlockNo::INVALID;
                (data.tail_free, data.pending_pages, data.pending_rows) = (0, 0, 0);
            }
            if let Some(stats) = stats.as_deref_mut() {
                stats.pages_deleted += pages.len() as u32;
            }
            let mut edit = self.edit(cx);
            data.store(edit.change(meta, 0, RegFlags::WILL_INIT | RegFlags::STANDARD));
            for (id, page) in (1..).zip(&mut pages) {
                gin::set_flags(edit.change(page, id, RegFlags::WILL_INIT), DELETED);
            }
            let deleted = pages.len() as i32;
            edit.main(&DeleteListPages { meta: data.encode(), deleted }.encode());
            edit.log(records::DELETE_LISTPAGE)?;
            let blocks: Vec<BlockNo> = pages.iter().map(ExclusiveGuard::block).collect();
            drop(pages);
            if reuse {
                blocks.into_iter().try_for_each(|b| cx.record_free_page(&self.file, b))?;
            }
        }
        Ok(())
    }
}

/// Bytes and number of the tuples that fit on an empty page.
fn first_page(entries: &[u8]) -> (usize, usize) {
    let (mut len, mut count) = (0, 0);
    for tuple in Tuples(entries) {
        if len + tuple.len() + 4 * (count + 1) > LIST_PAGE_SIZE {
            break;
        }
        len += tuple.len();
        count += 1;
    }
    (len, count)
}

/// Makes the page an empty one of the pending list. The last page of a row has the flag of full
/// rows.
pub(crate) fn init_list_page(page: PageMut<'_>, right_link: BlockNo) {
    gin::init(page, LIST);
    gin::set_right_link(page, right_link);
    if right_link == BlockNo::INVALID {
        gin::add_flag(page, LIST_FULLROW);
        gin::set_count(page, 1);
    }
}

/// Appends tuples to a page with room for them.
pub(crate) fn add_tuples(page: PageMut<'_>, tuples: &[u8]) -> Result<()> {
    for tuple in Tuples(tuples) {
        if !index_space::append(page, tuple) {
            return Err(PgError::internal("failed to add item to a page of the pending list"));
        }
    }
    Ok(())
}
