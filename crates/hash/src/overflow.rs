//! Allocation of overflow pages. The bitmap pages have a bit for each overflow page that was ever
//! allocated; the meta page has the number of the first one that may be free.
//!
//! Counterpart: `_hash_addovflpage` in hashovfl.c.

use crate::index::{HashIndex, leave};
use crate::records::{self, AddOverflow};
use access::Cx;
use bufmgr::{ExclusiveGuard, Pin};
use ids::BlockNo;
use page::hash::{
    BITMAP_BITS, BITMAPS_MAX, HashPage, LH_BITMAP_PAGE, LH_OVERFLOW_PAGE, META_BLOCK, Meta,
    MetaMut, Opaque, init_bitmap, set_next, set_used,
};
use pgerror::{PgError, Result, pg_err};
use wal::RegFlags;

/// A page to become an overflow page, and the pages that change with it. The meta page is latched
/// exclusively.
struct Allocation<'p> {
    meta: ExclusiveGuard<'p>,
    page: ExclusiveGuard<'p>,
    /// Number of the overflow page.
    number: u32,
    /// `first_free` of the meta page when the search began.
    first_free: u32,
    source: Source<'p>,
}

enum Source<'p> {
    /// A free page: its bit on the bitmap page.
    Recycled { bitmap: ExclusiveGuard<'p>, bit: u32 },
    /// A page at the end of the splitpoint's overflow pages; with a new bitmap page before it if
    /// the bitmaps are full.
    Added { bitmap: Option<ExclusiveGuard<'p>> },
}

impl HashIndex {
    /// Adds an empty overflow page to the end of the chain that `tail` is a page of. `primary`
    /// receives the pin of the bucket's primary page if the chain's end is that. Returns the new
    /// page.
    ///
    /// WAL: ADD_OVFL_PAGE.
    pub(crate) fn add_overflow<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut tail: ExclusiveGuard<'p>,
        primary: &mut Option<Pin<'p>>,
    ) -> Result<ExclusiveGuard<'p>> {
        loop {
            let next = HashPage(&tail).next();
            if next == BlockNo::INVALID {
                break;
            }
            leave(tail, primary);
            (cx.check_interrupts)()?;
            tail = self.exclusive(cx, next, LH_OVERFLOW_PAGE)?;
        }
        let allocation = self.allocate(cx)?;
        self.link(cx, tail, allocation, primary)
    }

    /// Finds a free overflow page, or adds one. Not changed yet is what the allocation contains.
    fn allocate<'p>(&self, cx: &mut Cx<'p>) -> Result<Allocation<'p>> {
        let mut meta = self.meta_exclusive(cx)?;
        let first_free = Meta(&meta).first_free();
        let (mut map, mut from) = (first_free / BITMAP_BITS, first_free % BITMAP_BITS);
        let last = loop {
            let last = self.last_overflow(Meta(&meta))?;
            if map > last / BITMAP_BITS {
                break last;
            }
            let block = Meta(&meta).bitmap(map).ok_or_else(|| self.corrupted(META_BLOCK))?;
            let last_bit = if map == last / BITMAP_BITS { last } else { BITMAP_BITS - 1 };
            // LOCK ORDER: bitmap pages before the meta page.
            drop(meta);
            let bitmap = self.exclusive(cx, block, LH_BITMAP_PAGE)?;
            let free = HashPage(&bitmap).first_free(from, last_bit % BITMAP_BITS);
            meta = self.meta_exclusive(cx)?;
            if let Some(bit) = free {
                let number = map * BITMAP_BITS + bit;
                let at = Meta(&meta).map().overflow_block(number);
                let page = self.unused_page(cx, &self.file, at)?;
                let source = Source::Recycled { bitmap, bit };
                return Ok(Allocation { meta, page, number, first_free, source });
            }
            map += 1;
            from = 0;
        };
        let mut number = last + 1;
        let buckets = Meta(&meta).map();
        let mut bitmap = None;
        if last % BITMAP_BITS == BITMAP_BITS - 1 {
            if Meta(&meta).bitmaps() as usize >= BITMAPS_MAX {
                return Err(self.out_of_overflow_pages());
            }
            // The bitmap page is itself an overflow page, and has the bit of the next one.
            bitmap = Some(self.unused_page(cx, &self.file, buckets.overflow_block(number))?);
            number += 1;
        }
        let page = self.unused_page(cx, &self.file, buckets.overflow_block(number))?;
        Ok(Allocation { meta, page, number, first_free, source: Source::Added { bitmap } })
    }

    /// Number of the last overflow page.
    fn last_overflow(&self, meta: Meta<'_>) -> Result<u32> {
        let count = meta.spares(meta.splitpoint());
        count.checked_sub(1).ok_or_else(|| self.corrupted(META_BLOCK))
    }

    pub(crate) fn out_of_overflow_pages(&self) -> PgError {
        let name = &self.def.name;
        pg_err!(PROGRAM_LIMIT_EXCEEDED, "out of overflow pages in hash index \"{name}\"")
    }

    /// Makes the allocated page the end of the chain after `tail`.
    fn link<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut tail: ExclusiveGuard<'p>,
        allocation: Allocation<'p>,
        primary: &mut Option<Pin<'p>>,
    ) -> Result<ExclusiveGuard<'p>> {
        let Allocation { mut meta, mut page, number, first_free, mut source } = allocation;
        let bucket = HashPage(&tail).bucket();
        let (tail_block, block) = (tail.block(), page.block());
        let bitmap_size = Meta(&meta).bitmap_size();
        let mut edit = self.edit(cx);
        Opaque::overflow(bucket, tail_block).init(edit.change(&mut page, 0, RegFlags::WILL_INIT));
        edit.block_data(0, &bucket.to_le_bytes());
        set_next(edit.change(&mut tail, 1, RegFlags::STANDARD), block);
        let mut recycled = false;
        let mut new_bitmap = None;
        match &mut source {
            Source::Recycled { bitmap, bit } => {
                recycled = true;
                set_used(edit.change(bitmap, 2, RegFlags::STANDARD), *bit, true);
                edit.block_data(2, &bit.to_le_bytes());
            }
            Source::Added { bitmap: Some(bitmap) } => {
                new_bitmap = Some(bitmap.block());
                init_bitmap(edit.change(bitmap, 3, RegFlags::WILL_INIT), bitmap_size);
            }
            Source::Added { bitmap: None } => {}
        }
        let mut changed = MetaMut(edit.change(&mut meta, 4, RegFlags::STANDARD));
        if !recycled {
            count_added(&mut changed, new_bitmap);
        }
        if Meta(changed.0).first_free() == first_free {
            changed.set_first_free(number + 1);
        }
        let now_free = Meta(changed.0).first_free();
        edit.block_data(4, &now_free.to_le_bytes());
        edit.main(&AddOverflow { bitmap_size, recycled }.encode());
        edit.log(records::ADD_OVFL_PAGE)?;
        leave(tail, primary);
        Ok(page)
    }
}

/// Counts an overflow page at the end, and the bitmap page before it.
pub(crate) fn count_added(meta: &mut MetaMut<'_>, bitmap: Option<BlockNo>) {
    meta.add_spare();
    if let Some(block) = bitmap {
        meta.add_bitmap(block);
        meta.add_spare();
    }
}
