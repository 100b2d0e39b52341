//! Redo of the records of resource manager Hash. Pages are latched one at a time, since no query
//! runs during recovery.
//!
//! INVARIANT: the change of each block depends on that block and the record only, since several
//! threads may replay the blocks of one record.
//!
//! INVARIANT: every block that a record refers to goes through [`Recovery::change`], also one that
//! needs no change: that call restores the page if the record has an image of it.
//!
//! Counterpart: hash_xlog.c.

use crate::overflow::count_added;
use crate::records::{
    self, AddOverflow, Delete, InitMeta, MoveContents, SplitAllocate, Squeeze, VacuumOnePage,
    read_offsets,
};
use bufmgr::redo::{Redo, RedoCx, RedoMode};
use ids::{BlockNo, Lsn, OffsetNo, Xid};
use page::hash::{
    HashPage, LH_BUCKET_NEEDS_SPLIT_CLEANUP, LH_BUCKET_PAGE, LH_OVERFLOW_PAGE,
    LH_PAGE_HAS_DEAD_TUPLES, LH_PAGE_TYPE, Meta, MetaMut, Opaque, change_flags, init_bitmap,
    init_meta, set_flags, set_next, set_prev, set_used,
};
use page::index_space;
use page::index_tuple::{self, IndexTuple, max_align};
use page::{PageBuf, PageMut};
use pgerror::{PgError, Result, Severity};
use wal::{DecodedRecord, Fields};

fn damaged() -> PgError {
    PgError::internal("a record of a hash index does not fit its page")
}

struct Recovery<'c, 'p, 'r> {
    cx: &'c mut RedoCx<'p>,
    record: &'r DecodedRecord,
}

impl Recovery<'_, '_, '_> {
    fn main(&self) -> &[u8] {
        self.record.main()
    }

    fn data(&self, id: u8) -> &[u8] {
        self.record.block_data(id).unwrap_or(&[])
    }

    fn block_no(&self, id: u8) -> Result<BlockNo> {
        self.record.block(id).map(|b| b.block).ok_or_else(damaged)
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

    /// Waits for the cleanup latch of a block that the record only refers to.
    fn refer(&mut self, id: u8) -> Result<()> {
        if self.record.has_block(id) {
            bufmgr::redo::read_for_redo(self.cx, self.record, id, RedoMode::Cleanup)?;
        }
        Ok(())
    }

    /// Writes a page of an init fork at once: those are copied file by file at the end of recovery.
    fn flush_init_fork(&mut self, id: u8) -> Result<()> {
        let Some(block) = self.record.block(id).copied() else { return Ok(()) };
        if block.fork == ids::Fork::Init {
            let fork = self.cx.open(block.rel, block.fork)?;
            self.cx.pool.flush_fork(&fork)?;
        }
        Ok(())
    }
}

/// Replays one record of resource manager Hash: the blocks that the context owns.
pub fn redo(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let mut r = Recovery { cx, record };
    match record.info() & 0xF0 {
        records::INIT_META_PAGE => init_meta_page(&mut r),
        records::INIT_BITMAP_PAGE => init_bitmap_page(&mut r),
        records::INSERT => insert(&mut r),
        records::ADD_OVFL_PAGE => add_overflow(&mut r),
        records::SPLIT_ALLOCATE_PAGE => split_allocate(&mut r),
        records::SPLIT_PAGE => split_page(&mut r),
        records::SPLIT_COMPLETE => split_complete(&mut r),
        records::MOVE_PAGE_CONTENTS => move_contents(&mut r),
        records::SQUEEZE_PAGE => squeeze(&mut r),
        records::DELETE => delete(&mut r),
        records::SPLIT_CLEANUP => r.change(0, RedoMode::Normal, |page| {
            change_flags(page, 0, LH_BUCKET_NEEDS_SPLIT_CLEANUP);
            Ok(())
        }),
        records::UPDATE_META_PAGE => update_meta(&mut r),
        records::VACUUM_ONE_PAGE => vacuum_one_page(&mut r),
        other => Err(PgError::internal(format!("hash_redo: unknown op code {other}"))
            .severity(Severity::Panic)),
    }
}

fn init_meta_page(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = InitMeta::decode(r.main()).ok_or_else(damaged)?;
    r.change(0, RedoMode::Init, |page| {
        init_meta(page, rec.tuples, rec.function, rec.per_bucket);
        Ok(())
    })?;
    r.flush_init_fork(0)
}

fn init_bitmap_page(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let bytes = Fields(r.main()).u16().ok_or_else(damaged)?;
    let block = r.block_no(0)?;
    r.change(0, RedoMode::Init, |page| {
        init_bitmap(page, bytes);
        Ok(())
    })?;
    r.change(1, RedoMode::Normal, |page| {
        if MetaMut(page).add_bitmap(block) { Ok(()) } else { Err(damaged()) }
    })?;
    r.flush_init_fork(0)
}

fn insert(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let offset = Fields(r.main()).u16().ok_or_else(damaged)?;
    let tuple = r.data(0).to_vec();
    r.change(0, RedoMode::Normal, |page| {
        if index_space::add(page, &tuple, offset) { Ok(()) } else { Err(damaged()) }
    })?;
    r.change(1, RedoMode::Normal, |page| {
        MetaMut(page).add_tuples(1.0);
        Ok(())
    })
}

fn add_overflow(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = AddOverflow::decode(r.main()).ok_or_else(damaged)?;
    let (block, tail) = (r.block_no(0)?, r.block_no(1)?);
    let bitmap = r.record.block(3).map(|b| b.block);
    let bucket = Fields(r.data(0)).u32();
    r.change(0, RedoMode::Init, |page| {
        Opaque::overflow(bucket.ok_or_else(damaged)?, tail).init(page);
        Ok(())
    })?;
    r.change(1, RedoMode::Normal, |page| {
        set_next(page, block);
        Ok(())
    })?;
    let bit = Fields(r.data(2)).u32();
    r.change(2, RedoMode::Normal, |page| {
        set_used(page, bit.ok_or_else(damaged)?, true);
        Ok(())
    })?;
    r.change(3, RedoMode::Init, |page| {
        init_bitmap(page, rec.bitmap_size);
        Ok(())
    })?;
    let first_free = Fields(r.data(4)).u32();
    r.change(4, RedoMode::Normal, |page| {
        let mut meta = MetaMut(page);
        if !rec.recycled {
            count_added(&mut meta, bitmap);
        }
        meta.set_first_free(first_free.ok_or_else(damaged)?);
        Ok(())
    })
}

fn split_allocate(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = SplitAllocate::decode(r.main()).ok_or_else(damaged)?;
    r.change(0, RedoMode::Cleanup, |page| {
        set_flags(page, rec.old_flags);
        set_prev(page, BlockNo(rec.new_bucket));
        Ok(())
    })?;
    r.change(1, RedoMode::InitCleanup, |page| {
        Opaque::primary(rec.new_bucket, rec.new_bucket, rec.new_flags).init(page);
        Ok(())
    })?;
    let data = r.data(2).to_vec();
    r.change(2, RedoMode::Normal, |page| {
        let mut f = Fields(&data);
        let mut meta = MetaMut(page);
        let mut masks = Meta(meta.0).masks();
        masks.max_bucket = rec.new_bucket;
        if rec.updates_masks {
            masks.low_mask = f.u32().ok_or_else(damaged)?;
            masks.high_mask = f.u32().ok_or_else(damaged)?;
        }
        meta.set_masks(masks);
        if rec.updates_splitpoint {
            let splitpoint = f.u32().ok_or_else(damaged)?;
            meta.set_splitpoint(splitpoint, f.u32().ok_or_else(damaged)?);
        }
        Ok(())
    })
}

fn split_page(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    r.change(0, RedoMode::Normal, |_| {
        Err(PgError::internal("Hash split record did not contain a full-page image"))
    })
}

fn split_complete(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let mut f = Fields(r.main());
    let old_flags = f.u16().ok_or_else(damaged)?;
    let new_flags = f.u16().ok_or_else(damaged)?;
    for (id, flags) in [(0, old_flags), (1, new_flags)] {
        r.change(id, RedoMode::Normal, |page| {
            set_flags(page, flags);
            Ok(())
        })?;
    }
    Ok(())
}

/// Adds `count` tuples to the page: `data` has their offsets, then the tuples.
fn add_tuples(page: PageMut<'_>, data: &[u8], count: u16) -> Result<()> {
    let (offsets, mut rest) = data.split_at_checked(usize::from(count) * 2).ok_or_else(damaged)?;
    for offset in read_offsets(offsets) {
        if rest.len() < index_tuple::HEADER_SIZE {
            return Err(damaged());
        }
        let size = max_align(IndexTuple::new(rest).size());
        let (tuple, next) = rest.split_at_checked(size).ok_or_else(damaged)?;
        if size < index_tuple::HEADER_SIZE || !index_space::add(page, tuple, offset) {
            return Err(damaged());
        }
        rest = next;
    }
    Ok(())
}

/// Removes items; an error if the page has not all of them.
fn remove(page: PageMut<'_>, offsets: &[OffsetNo]) -> Result<()> {
    if offsets.is_empty() {
        return Ok(());
    }
    page.check_index_items()?;
    index_space::delete_many(page, offsets)
}

/// The mode for the page that receives or loses tuples: redo waits for the cleanup latch of the
/// bucket's primary page.
fn mode(is_primary: bool) -> RedoMode {
    if is_primary { RedoMode::Cleanup } else { RedoMode::Normal }
}

fn move_contents(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = MoveContents::decode(r.main()).ok_or_else(damaged)?;
    r.refer(0)?;
    let data = r.data(1).to_vec();
    r.change(1, mode(rec.to_primary), |page| add_tuples(page, &data, rec.tuples))?;
    let offsets = read_offsets(r.data(2));
    r.change(2, RedoMode::Normal, |page| remove(page, &offsets))
}

fn squeeze(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = Squeeze::decode(r.main()).ok_or_else(damaged)?;
    r.refer(0)?;
    let data = r.data(1).to_vec();
    r.change(1, mode(rec.to_primary), |page| {
        add_tuples(page, &data, rec.tuples)?;
        if rec.to_prev {
            set_next(page, rec.next);
        }
        Ok(())
    })?;
    r.change(2, RedoMode::Normal, |page| {
        Opaque::UNUSED.init(page);
        Ok(())
    })?;
    r.change(3, RedoMode::Normal, |page| {
        set_next(page, rec.next);
        Ok(())
    })?;
    r.change(4, RedoMode::Normal, |page| {
        set_prev(page, rec.prev);
        Ok(())
    })?;
    let bit = Fields(r.data(5)).u32();
    r.change(5, RedoMode::Normal, |page| {
        set_used(page, bit.ok_or_else(damaged)?, false);
        Ok(())
    })?;
    let first_free = Fields(r.data(6)).u32();
    r.change(6, RedoMode::Normal, |page| {
        MetaMut(page).set_first_free(first_free.ok_or_else(damaged)?);
        Ok(())
    })
}

fn delete(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = Delete::decode(r.main()).ok_or_else(damaged)?;
    r.refer(0)?;
    let offsets = read_offsets(r.data(1));
    r.change(1, mode(rec.in_primary), |page| {
        remove(page, &offsets)?;
        if rec.clears_dead {
            change_flags(page, 0, LH_PAGE_HAS_DEAD_TUPLES);
        }
        Ok(())
    })
}

fn update_meta(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let tuples = Fields(r.main()).u64().ok_or_else(damaged)?;
    r.change(0, RedoMode::Normal, |page| {
        MetaMut(page).set_tuples(f64::from_bits(tuples));
        Ok(())
    })
}

fn vacuum_one_page(r: &mut Recovery<'_, '_, '_>) -> Result<()> {
    let rec = VacuumOnePage::decode(r.main()).ok_or_else(damaged)?;
    let offsets = read_offsets(r.main().get(VacuumOnePage::SIZE..).unwrap_or(&[]));
    r.change(0, RedoMode::Cleanup, |page| {
        remove(page, &offsets)?;
        change_flags(page, 0, LH_PAGE_HAS_DEAD_TUPLES);
        Ok(())
    })?;
    r.change(1, RedoMode::Normal, |page| {
        MetaMut(page).add_tuples(-f64::from(rec.tuples));
        Ok(())
    })
}

/// Clears the parts of a page that may differ after redo: hints and fields that are not logged.
/// Counterpart: `hash_mask`.
pub fn mask(page: &mut PageBuf) {
    page.set_lsn(Lsn::INVALID);
    page.set_checksum_field(0);
    page.set_flags(0);
    page.set_prune_xid(Xid::INVALID);
    if !HashPage(page).has_special() {
        return;
    }
    let (lower, upper) = (page.lower(), page.upper());
    if lower <= upper && upper <= page::PAGE_SIZE {
        page.bytes_mut()[lower..upper].fill(0);
    }
    let kind = HashPage(page).flags() & LH_PAGE_TYPE;
    if kind == 0 {
        page.bytes_mut()[page::header::HEADER_SIZE..].fill(0);
    } else if kind == LH_BUCKET_PAGE || kind == LH_OVERFLOW_PAGE {
        for off in 1..=page.max_offset() {
            let lp = page.line_pointer(off);
            if lp.is_used() {
                page.set_line_pointer(off, page::LinePointer::normal(lp.offset(), lp.len()));
            }
        }
        change_flags(page, 0, LH_PAGE_HAS_DEAD_TUPLES);
    }
}
