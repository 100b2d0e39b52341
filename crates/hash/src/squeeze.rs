//! Compaction of a bucket: tuples of the last pages of its chain are moved to free space on earlier
//! pages, and pages that become empty are freed.
//!
//! Counterpart: `_hash_squeezebucket`, `_hash_freeovflpage` in hashovfl.c.

use crate::index::{HashIndex, leave};
use crate::insert::place;
use crate::records::{self, MoveContents, Squeeze};
use access::{Cx, Edit};
use bufmgr::{CleanupGuard, ExclusiveGuard, Pin};
use ids::{BlockNo, OffsetNo};
use page::hash::{
    BITMAP_BITS, HashPage, LH_BITMAP_PAGE, LH_BUCKET_PAGE, LH_OVERFLOW_PAGE, Meta, MetaMut, Opaque,
    TUPLE_SIZE, set_next, set_prev, set_used,
};
use page::index_space;
use pgerror::{Result, pg_err};
use wal::RegFlags;

/// Tuples of the read page that fit the write page.
#[derive(Default)]
struct Batch {
    /// Their offsets on the read page.
    offsets: Vec<OffsetNo>,
    tuples: Vec<[u8; TUPLE_SIZE]>,
}

impl Batch {
    fn clear(&mut self) {
        self.offsets.clear();
        self.tuples.clear();
    }

    /// True if the collected tuples and one more fit on the page.
    fn has_room(&self, page: &ExclusiveGuard<'_>) -> bool {
        let count = self.tuples.len() + 1;
        page.free_space_for(count) >= count * TUPLE_SIZE
    }
}

/// The two ends of the chain that are compacted.
struct Ends<'p> {
    /// The page that receives tuples.
    write: ExclusiveGuard<'p>,
    /// The page whose tuples are moved; after `write` in the chain.
    read: ExclusiveGuard<'p>,
    /// The primary page, unless it is `write`.
    primary: Option<Pin<'p>>,
}

/// Pages that change with a page that is freed.
struct Neighbours<'p> {
    /// The page before it, unless that is the write page.
    prev: Option<ExclusiveGuard<'p>>,
    next: Option<ExclusiveGuard<'p>>,
    bitmap: ExclusiveGuard<'p>,
    /// Bit of the freed page on the bitmap page.
    bit: u32,
    meta: ExclusiveGuard<'p>,
    /// Number of the freed page, if it becomes the first free one.
    first_free: Option<u32>,
}

impl HashIndex {
    /// Compacts a bucket. The cleanup latch excludes scans, which would miss moved tuples; the pin
    /// of the primary page excludes others until the end. Insertions are possible at the same time.
    ///
    /// WAL: MOVE_PAGE_CONTENTS, SQUEEZE_PAGE.
    pub(crate) fn squeeze<'p>(&self, cx: &mut Cx<'p>, page: CleanupGuard<'p>) -> Result<()> {
        let write = page.into_exclusive();
        let mut next = HashPage(&write).next();
        if next == BlockNo::INVALID {
            return Ok(());
        }
        let read = loop {
            if next == write.block() {
                return Err(self.corrupted(next));
            }
            let page = self.exclusive(cx, next, LH_OVERFLOW_PAGE)?;
            next = HashPage(&page).next();
            if next == BlockNo::INVALID {
                break page;
            }
            drop(page);
            (cx.check_interrupts)()?;
        };
        let mut ends = Ends { write, read, primary: None };
        loop {
            let Some((rest, batch)) = self.empty_read_page(cx, ends)? else { return Ok(()) };
            let prev = HashPage(&rest.read).prev();
            let Ends { mut write, read, mut primary } = rest;
            self.free_overflow(cx, read, &mut write, &mut primary, &batch)?;
            if prev == write.block() {
                return Ok(());
            }
            let read = self.exclusive(cx, prev, LH_OVERFLOW_PAGE)?;
            ends = Ends { write, read, primary };
        }
    }

    /// Moves tuples of the read page to write pages, until those left fit the write page; these are
    /// returned. `None`: the write page has reached the read page.
    fn empty_read_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut ends: Ends<'p>,
    ) -> Result<Option<(Ends<'p>, Batch)>> {
        let mut batch = Batch::default();
        let mut offset = 1;
        while offset <= ends.read.max_offset() {
            // Dead tuples are dropped with the page.
            if ends.read.line_pointer(offset).is_dead() {
                offset += 1;
                continue;
            }
            if batch.has_room(&ends.write) {
                let item = ends.read.item(offset);
                let tuple = item.try_into().map_err(|_| self.corrupted(ends.read.block()))?;
                batch.offsets.push(offset);
                batch.tuples.push(tuple);
                offset += 1;
                continue;
            }
            let next = HashPage(&ends.write).next();
            let next = if next == ends.read.block() {
                None
            } else {
                Some(self.page_after(cx, &ends.write)?)
            };
            if !batch.tuples.is_empty() {
                self.move_batch(cx, &mut ends, &batch)?;
                batch.clear();
                // The read page was compacted.
                offset = 1;
            }
            let Some(next) = next else { return Ok(None) };
            let full = std::mem::replace(&mut ends.write, next);
            leave(full, &mut ends.primary);
        }
        Ok(Some((ends, batch)))
    }

    /// Moves the batch from the read page to the write page.
    ///
    /// WAL: MOVE_PAGE_CONTENTS.
    fn move_batch<'p>(&self, cx: &mut Cx<'p>, ends: &mut Ends<'p>, batch: &Batch) -> Result<()> {
        ends.read.check_index_items()?;
        // LOCK ORDER: no holder of the primary page's latch waits for a page of its chain.
        let primary = ends.primary.take().map(Pin::exclusive);
        let mut edit = self.edit(cx);
        refer_primary(&mut edit, primary.as_ref());
        add_tuples(&mut edit, &mut ends.write, &batch.tuples, None)?;
        let changed = edit.change(&mut ends.read, 2, RegFlags::STANDARD);
        index_space::delete_many(changed, &batch.offsets)?;
        edit.block_data(2, &records::offsets(&batch.offsets));
        let tuples = batch.tuples.len() as u16;
        edit.main(&MoveContents { tuples, to_primary: primary.is_none() }.encode());
        edit.log(records::MOVE_PAGE_CONTENTS)?;
        ends.primary = primary.map(ExclusiveGuard::into_pin);
        Ok(())
    }

    /// Moves the last tuples of an overflow page to `write`, removes the page from its chain and
    /// marks it free. Counterpart: `_hash_freeovflpage`.
    ///
    /// WAL: SQUEEZE_PAGE.
    fn free_overflow<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut freed: ExclusiveGuard<'p>,
        write: &mut ExclusiveGuard<'p>,
        primary: &mut Option<Pin<'p>>,
        batch: &Batch,
    ) -> Result<()> {
        let Opaque { prev, next, .. } = HashPage(&freed).opaque();
        let to_prev = prev == write.block();
        // LOCK ORDER: no holder of the primary page's latch waits for a page of its chain.
        let mut main = primary.take().map(Pin::exclusive);
        // No page is latched twice.
        let held = [Some(freed.block()), main.as_ref().map(|page| page.block())];
        let cycle = held.contains(&Some(prev)) || held.contains(&Some(next));
        if cycle || next == write.block() || next == prev {
            return Err(self.corrupted(freed.block()));
        }
        let mut near = self.neighbours(cx, &freed, (!to_prev).then_some(prev), next)?;
        let mut edit = self.edit(cx);
        refer_primary(&mut edit, main.as_ref());
        add_tuples(&mut edit, write, &batch.tuples, to_prev.then_some(next))?;
        Opaque::UNUSED.init(edit.change(&mut freed, 2, RegFlags::STANDARD));
        if let Some(page) = &mut near.prev {
            set_next(edit.change(page, 3, RegFlags::STANDARD), next);
        }
        if let Some(page) = &mut near.next {
            set_prev(edit.change(page, 4, RegFlags::STANDARD), prev);
        }
        set_used(edit.change(&mut near.bitmap, 5, RegFlags::STANDARD), near.bit, false);
        edit.block_data(5, &near.bit.to_le_bytes());
        if let Some(number) = near.first_free {
            let changed = edit.change(&mut near.meta, 6, RegFlags::STANDARD);
            MetaMut(changed).set_first_free(number);
            edit.block_data(6, &number.to_le_bytes());
        }
        let tuples = batch.tuples.len() as u16;
        let to_primary = main.is_none();
        edit.main(&Squeeze { prev, next, tuples, to_primary, to_prev }.encode());
        edit.log(records::SQUEEZE_PAGE)?;
        *primary = main.take().map(ExclusiveGuard::into_pin);
        // Another session may reuse the page as soon as the bitmap page is released.
        drop(freed);
        drop(near);
        Ok(())
    }

    /// Latches the pages that change when `freed` is freed: `prev` and `next` of its chain, the
    /// bitmap page, the meta page.
    fn neighbours<'p>(
        &self,
        cx: &mut Cx<'p>,
        freed: &ExclusiveGuard<'p>,
        prev: Option<BlockNo>,
        next: BlockNo,
    ) -> Result<Neighbours<'p>> {
        let prev = match prev {
            Some(block) => Some(self.exclusive(cx, block, LH_BUCKET_PAGE | LH_OVERFLOW_PAGE)?),
            None => None,
        };
        let next = match next {
            BlockNo::INVALID => None,
            block => Some(self.exclusive(cx, block, LH_OVERFLOW_PAGE)?),
        };
        let meta = self.meta_share(cx)?;
        let block = freed.block();
        let number = Meta(&meta).map().overflow_number(block);
        let number = number.ok_or_else(|| {
            pg_err!(INVALID_PARAMETER_VALUE, "invalid overflow block number {block}")
        })?;
        let bitmap = Meta(&meta).bitmap(number / BITMAP_BITS);
        drop(meta);
        let bitmap = bitmap
            .ok_or_else(|| pg_err!(INTERNAL_ERROR, "invalid overflow bit number {number}"))?;
        let bitmap = self.exclusive(cx, bitmap, LH_BITMAP_PAGE)?;
        let meta = self.meta_exclusive(cx)?;
        let first_free = (number < Meta(&meta).first_free()).then_some(number);
        Ok(Neighbours { prev, next, bitmap, bit: number % BITMAP_BITS, meta, first_free })
    }
}

/// The record refers to the primary page, so that redo waits for its cleanup latch, if it does not
/// change that page.
fn refer_primary<'p>(edit: &mut Edit<'_, 'p>, primary: Option<&ExclusiveGuard<'p>>) {
    if let Some(page) = primary {
        edit.refer(page, 0, RegFlags::STANDARD | RegFlags::NO_IMAGE);
    }
}

/// Adds tuples to the page, as block 1 of the record; with `next`, the page gets that as its right
/// adjacent page. Counterpart: `_hash_pgaddmultitup`.
fn add_tuples<'p>(
    edit: &mut Edit<'_, 'p>,
    page: &mut ExclusiveGuard<'p>,
    tuples: &[[u8; TUPLE_SIZE]],
    next: Option<BlockNo>,
) -> Result<()> {
    let changed = edit.change(page, 1, RegFlags::STANDARD);
    let mut offsets = Vec::with_capacity(tuples.len());
    for tuple in tuples {
        offsets.push(place(changed, tuple)?);
    }
    if let Some(next) = next {
        set_next(changed, next);
    }
    if !tuples.is_empty() {
        edit.block_data(1, &records::offsets(&offsets));
        edit.block_data(1, tuples.as_flattened());
    }
    Ok(())
}
