//! Redo of the records of resource manager Gin. Pages are latched one at a time, since no query
//! runs during recovery.
//!
//! INVARIANT: the change of each block depends on that block and the record only, since several
//! threads may replay the blocks of one record.
//!
//! INVARIANT: every block that a record refers to goes through [`Recovery::change`], also one that
//! needs no change: that call restores the page if the record has an image of it.
//!
//! Counterpart: ginxlog.c.

use crate::leaf;
use crate::pending::{add_tuples, init_list_page};
use crate::records::{
    self, DeleteListPages, DeletePage, IS_DATA, IS_LEAF, InsertListPage, SPLIT_ROOT, Split,
    UpdateMeta,
};
use crate::tree::{put_entry, put_link};
use bufmgr::redo::{Redo, RedoCx, RedoMode};
use ids::{BlockNo, Lsn, Xid};
use page::gin::{self, COMPRESSED, DATA, DELETED, GinPage, INCOMPLETE_SPLIT, LEAF, block_of};
use page::header::HEADER_SIZE;
use page::{PAGE_SIZE, PageBuf, PageMut};
use pgerror::{PgError, Result, Severity};
use wal::{DecodedRecord, Fields};

fn damaged() -> PgError {
    PgError::internal("a record of a GIN index does not fit its page")
}

struct Recovery<'c, 'p, 'r> {
    cx: &'c mut RedoCx<'p>,
    record: &'r DecodedRecord,
}

impl Recovery<'_, '_, '_> {
    fn main(&self) -> &[u8] {
        self.record.main()
    }

    fn data(&self, id: u8) -> Vec<u8> {
        self.record.block_data(id).unwrap_or(&[]).to_vec()
    }

    /// Changes block `id`, if the record has it, unless the change has been applied already or the
    /// block does not exist. Restores it if the record has its image.
    fn change(
        &mut self,
        id: u8,
        mode: RedoMode,
        change: impl FnOnce(PageMut<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.record.has_block(id) {
            return Ok(());
        }
        match bufmgr::redo::read_for_redo(self.cx, self.record, id, mode)? {
            Redo::Apply(mut guard) => bufmgr::redo::apply(&mut guard, self.record, change),
            Redo::Restored(_) | Redo::Done(_) | Redo::Missing => Ok(()),
        }
    }

    /// Restores block `id` from its image, which the record must have.
    fn restore(&mut self, id: u8, what: &str) -> Result<()> {
        self.change(id, RedoMode::Normal, |_| Err(PgError::internal(what)))
    }

    /// Removes the mark of an incomplete split.
    fn complete_split(&mut self, id: u8) -> Result<()> {
        self.change(id, RedoMode::Normal, |page| {
            gin::clear_flag(page, INCOMPLETE_SPLIT);
            Ok(())
        })
    }
}

/// Replays one record of resource manager Gin: the blocks that the context owns.
pub fn redo(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let mut r = Recovery { cx, record };
    match record.info() & 0xF0 {
        records::CREATE_PTREE => create_posting_tree(&mut r),
        records::INSERT => insert(&mut r),
        records::SPLIT => split(&mut r),
        records::VACUUM_PAGE => {
            r.restore(0, "replay of gin entry tree page vacuum did not restore the page")
        }
        records::VACUUM_DATA_LEAF_PAGE => {
            let data = r.data(0);
            r.change(0, RedoMode::Normal, |page| leaf::recompress(page, &data))
        }
        records::DELETE_PAGE => delete_page(&mut r),
        records::UPDATE_META_PAGE => update_meta(&mut r),
        records::INSERT_LISTPAGE => insert_list_page(&mut r),
        records::DELETE_LISTPAGE => delete_list_pages(&mut r),
        other => Err(PgError::internal(format!("gin_redo: unknown op code {other}"))
            .severity(Severity::Panic)),
    }
}

fn create_posting_tree(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let mut f = Fields(r.main());
    let size = f.u32().ok_or_else(damaged)? as usize;
    let segments = f.take(size).ok_or_else(damaged)?.to_vec();
    r.change(0, RedoMode::Init, |page| {
        gin::init(page, DATA | LEAF | COMPRESSED);
        if gin::set_segments(page, 0, &segments) { Ok(()) } else { Err(damaged()) }
    })
}

fn insert(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let mut f = Fields(r.main());
    let flags = f.u16().ok_or_else(damaged)?;
    let is_leaf = flags & IS_LEAF != 0;
    let mut right = BlockNo::INVALID;
    if !is_leaf {
        f.take(4).ok_or_else(damaged)?;
        right = block_of(*f.0.first_chunk().ok_or_else(damaged)?);
    }
    let data = r.data(0);
    r.change(0, RedoMode::Normal, |page| {
        if flags & IS_DATA == 0 {
            let (offset, replaces, tuple) = records::read_entry_data(&data).ok_or_else(damaged)?;
            page.check_index_items()?;
            return put_entry(page, offset, replaces, (!is_leaf).then_some(right), tuple);
        }
        if is_leaf {
            return leaf::recompress(page, &data);
        }
        let (offset, item) = records::read_posting_item_data(&data).ok_or_else(damaged)?;
        put_link(page, offset, item, right)
    })?;
    r.complete_split(1)
}

fn split(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let flags = Split::flags_of(r.main()).ok_or_else(damaged)?;
    r.complete_split(3)?;
    r.restore(0, "GIN split record did not contain a full-page image of left page")?;
    r.restore(1, "GIN split record did not contain a full-page image of right page")?;
    if flags & SPLIT_ROOT != 0 {
        r.restore(2, "GIN split record did not contain a full-page image of root page")?;
    }
    Ok(())
}

fn delete_page(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = DeletePage::decode(r.main()).ok_or_else(damaged)?;
    r.change(2, RedoMode::Normal, |page| {
        gin::set_right_link(page, rec.right_link);
        Ok(())
    })?;
    r.change(0, RedoMode::Normal, |page| {
        gin::add_flag(page, DELETED);
        page.set_prune_xid(rec.xid);
        Ok(())
    })?;
    r.change(1, RedoMode::Normal, |page| {
        if gin::delete_posting_item(page, rec.parent_offset) { Ok(()) } else { Err(damaged()) }
    })
}

fn update_meta(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = UpdateMeta::decode(r.main()).ok_or_else(damaged)?;
    r.change(0, RedoMode::Init, |page| {
        gin::init_meta(page, &rec.meta);
        Ok(())
    })?;
    let data = r.data(1);
    r.change(1, RedoMode::Normal, |page| {
        if rec.tuples > 0 {
            add_tuples(page, &data)?;
            gin::set_count(page, GinPage(page).count() + 1);
        } else if rec.previous_tail != BlockNo::INVALID {
            gin::set_right_link(page, rec.new_right_link);
        }
        Ok(())
    })
}

fn insert_list_page(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = InsertListPage::decode(r.main()).ok_or_else(damaged)?;
    let data = r.data(0);
    r.change(0, RedoMode::Init, |page| {
        init_list_page(page, rec.right_link);
        add_tuples(page, &data)
    })
}

fn delete_list_pages(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = DeleteListPages::decode(r.main()).ok_or_else(damaged)?;
    r.change(0, RedoMode::Init, |page| {
        gin::init_meta(page, &rec.meta);
        Ok(())
    })?;
    for id in (1..).take(usize::try_from(rec.deleted).unwrap_or(0)) {
        r.change(id, RedoMode::Init, |page| {
            gin::init(page, DELETED);
            Ok(())
        })?;
    }
    Ok(())
}

/// Clears the parts of a page that may differ after redo: hints, unused space, and the contents of
/// deleted pages. Counterpart: `gin_mask`.
pub fn mask(page: &mut PageBuf) {
    page.set_lsn(Lsn::INVALID);
    page.set_checksum_field(0);
    page.set_flags(0);
    page.set_prune_xid(Xid::INVALID);
    if !GinPage(page).has_special() {
        return;
    }
    let (lower, upper) = (page.lower(), page.upper());
    if GinPage(page).has(DELETED) {
        page.bytes_mut()[HEADER_SIZE..PAGE_SIZE].fill(0);
        // The redo of a removed page of the pending list makes it empty.
        page.set_lower(HEADER_SIZE);
        page.set_upper(HEADER_SIZE);
    } else if lower > HEADER_SIZE && lower <= upper && upper <= PAGE_SIZE {
        page.bytes_mut()[lower..upper].fill(0);
    }
}
