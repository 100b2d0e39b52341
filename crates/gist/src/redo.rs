//! Redo of the records of resource manager Gist. Pages are latched one at a time, since no query
//! runs during recovery.
//!
//! INVARIANT: the change of each block depends on that block and the record only, since several
//! threads may replay the blocks of one record.
//!
//! INVARIANT: every block that a record refers to goes through [`Recovery::change`] or
//! [`Recovery::complete_split`], which restore the page if the record has an image of it.
//!
//! Counterpart: gistxlog.c.

use crate::records::{self, Delete, PageDelete, PageSplit, PageUpdate, read_offsets};
use bufmgr::redo::{Redo, RedoCx, RedoMode};
use ids::{BlockNo, Lsn, Xid};
use page::gist::{self, FOLLOW_RIGHT, GistPage, HAS_GARBAGE, LEAF, ROOT_BLOCK, change_flags};
use page::index_tuple::IndexTuple;
use page::{LinePointer, PAGE_SIZE, PageBuf, PageMut, index_space};
use pgerror::{PgError, Result, Severity};
use wal::{DecodedRecord, Fields};

fn damaged() -> PgError {
    PgError::internal("a record of a GiST index does not fit its page")
}

struct Recovery<'c, 'p, 'r> {
    cx: &'c mut RedoCx<'p>,
    record: &'r DecodedRecord,
}

impl Recovery<'_, '_, '_> {
    fn data(&self, id: u8) -> Vec<u8> {
        self.record.block_data(id).unwrap_or(&[]).to_vec()
    }

    fn block(&self, id: u8) -> Result<BlockNo> {
        self.record.block(id).map(|b| b.block).ok_or_else(damaged)
    }

    /// Changes block `id`, unless the change has been applied already or the block does not exist.
    /// Restores it if the record has its image.
    fn change(
        &mut self,
        id: u8,
        mode: RedoMode,
        change: impl FnOnce(PageMut<'_>) -> Result<()>,
    ) -> Result<()> {
        match bufmgr::redo::read_for_redo(self.cx, self.record, id, mode)? {
            Redo::Apply(mut guard) => bufmgr::redo::apply(&mut guard, self.record, change),
            Redo::Restored(_) | Redo::Done(_) | Redo::Missing => Ok(()),
        }
    }

    /// The downlink of the page to the right of block `id`, if the record has that block, was
    /// added. An image does not contain this change, because it needs the record's LSN.
    fn complete_split(&mut self, id: u8) -> Result<()> {
        if !self.record.has_block(id) {
            return Ok(());
        }
        let end = self.record.end;
        match bufmgr::redo::read_for_redo(self.cx, self.record, id, RedoMode::Normal)? {
            Redo::Apply(mut guard) | Redo::Restored(mut guard) => {
                bufmgr::redo::apply(&mut guard, self.record, |page| {
                    gist::complete_split(page, end);
                    Ok(())
                })
            }
            Redo::Done(_) | Redo::Missing => Ok(()),
        }
    }
}

/// Replays one record of resource manager Gist: the blocks that the context owns.
pub fn redo(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let mut r = Recovery { cx, record };
    match record.info() & 0xF0 {
        records::PAGE_UPDATE => page_update(&mut r),
        records::DELETE => delete(&mut r),
        records::PAGE_SPLIT => page_split(&mut r),
        records::PAGE_DELETE => page_delete(&mut r),
        // They exist for standbys, and to advance the log.
        records::PAGE_REUSE | records::ASSIGN_LSN => Ok(()),
        other => Err(PgError::internal(format!("gist_redo: unknown op code {other}"))
            .severity(Severity::Panic)),
    }
}

/// The tuples that follow each other in `data`.
fn tuples(mut data: &[u8]) -> Result<Vec<&[u8]>> {
    let mut out = Vec::new();
    while !data.is_empty() {
        let tuple = IndexTuple::new(data).bytes();
        let size = IndexTuple::new(data).size();
        if tuple.len() != size || data.len() < size {
            return Err(damaged());
        }
        out.push(tuple);
        data = &data[size..];
    }
    Ok(out)
}

fn append(page: PageMut<'_>, data: &[u8]) -> Result<()> {
    for tuple in tuples(data)? {
        if !index_space::append(page, tuple) {
            return Err(damaged());
        }
    }
    Ok(())
}

fn page_update(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = PageUpdate::decode(r.record.main()).ok_or_else(damaged)?;
    let data = r.data(0);
    r.change(0, RedoMode::Normal, |page| {
        let (gone, new) = read_offsets(&data, rec.deleted.into()).ok_or_else(damaged)?;
        page.check_index_items()?;
        if let ([offset], 1) = (&gone[..], rec.inserted) {
            return match index_space::overwrite(page, *offset, new)? {
                true => Ok(()),
                false => Err(damaged()),
            };
        }
        if !gone.is_empty() {
            index_space::delete_many(page, &gone)?;
        }
        append(page, new)
    })?;
    r.complete_split(1)
}

fn delete(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let main = r.record.main();
    let count = Fields(main.get(4..).ok_or_else(damaged)?).u16().ok_or_else(damaged)?;
    let offsets = main.get(Delete::SIZE..).unwrap_or(&[]).to_vec();
    r.change(0, RedoMode::Normal, |page| {
        if !offsets.is_empty() {
            let (gone, _) = read_offsets(&offsets, count.into()).ok_or_else(damaged)?;
            page.check_index_items()?;
            index_space::delete_many(page, &gone)?;
        }
        change_flags(page, 0, HAS_GARBAGE);
        Ok(())
    })
}

fn page_split(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = PageSplit::decode(r.record.main()).ok_or_else(damaged)?;
    let last = u8::try_from(rec.pages).map_err(|_| damaged())?;
    let root_split = r.block(1)? == ROOT_BLOCK;
    for id in 1..=last {
        let root = r.block(id)? == ROOT_BLOCK;
        let data = r.data(id);
        let right = match id == last {
            _ if root => BlockNo::INVALID,
            true => rec.right_link,
            false => r.block(id + 1)?,
        };
        r.change(id, RedoMode::Init, |page| {
            let flags = if rec.leaf && !root { LEAF } else { 0 };
            gist::init(page, flags);
            append(page, data.get(4..).ok_or_else(damaged)?)?;
            gist::set_right_link(page, right);
            gist::set_nsn(page, rec.nsn);
            if id < last && !root_split && rec.follow_right {
                change_flags(page, FOLLOW_RIGHT, 0);
            }
            Ok(())
        })?;
    }
    r.complete_split(0)
}

fn page_delete(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = PageDelete::decode(r.record.main()).ok_or_else(damaged)?;
    r.change(0, RedoMode::Normal, |page| {
        gist::set_deleted(page, rec.xid);
        Ok(())
    })?;
    r.change(1, RedoMode::Normal, |page| index_space::delete(page, rec.downlink))
}

/// Clears the parts of a page that may differ after redo: hints, unused space, the NSN and the flag
/// that are changed after the record. Counterpart: `gist_mask`.
pub fn mask(page: &mut PageBuf) {
    page.set_lsn(Lsn::INVALID);
    page.set_checksum_field(0);
    page.set_flags(0);
    page.set_prune_xid(Xid::INVALID);
    if !GistPage(page).has_special() {
        return;
    }
    let (lower, upper) = (page.lower(), page.upper());
    if lower <= upper && upper <= PAGE_SIZE {
        page.bytes_mut()[lower..upper].fill(0);
    }
    gist::set_nsn(page, Lsn::INVALID);
    change_flags(page, FOLLOW_RIGHT, HAS_GARBAGE);
    if GistPage(page).is_leaf() && !GistPage(page).has(gist::DELETED) {
        for offset in 1..=page.max_offset() {
            let lp = page.line_pointer(offset);
            if lp.is_used() {
                page.set_line_pointer(offset, LinePointer::normal(lp.offset(), lp.len()));
            }
        }
    }
}
