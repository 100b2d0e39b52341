//! Growth of the index by one bucket: allocation of its primary page, then the split of an older
//! bucket between both. A split may be interrupted; scans and insertions work in that state, and a
//! later insertion or split finishes it.
//!
//! ```text
//! old bucket:  [     ] -- SPLIT_ALLOCATE --> [BEING_SPLIT] -------.  SPLIT_COMPLETE
//! new bucket:  (none)  -- SPLIT_ALLOCATE --> [BEING_POPULATED] ---+--> [     ]
//!                                             tuples are copied   |
//! old bucket:  [     ] <-- clean_bucket: SPLIT_CLEANUP -- [NEEDS_SPLIT_CLEANUP]
//! ```
//!
//! Counterpart: `_hash_expandtable`, `_hash_splitbucket`, `_hash_finish_split` in hashpage.c.

use crate::cleanup::Cleanup;
use crate::index::{HashIndex, leave};
use crate::insert::place;
use crate::records::{self, SplitAllocate};
use access::Cx;
use bufmgr::{CleanupGuard, ExclusiveGuard, Pin, ShareGuard};
use ids::{BlockNo, Tid};
use page::Page;
use page::hash::{
    BUCKET_MAX, HashPage, LH_BUCKET_BEING_POPULATED, LH_BUCKET_BEING_SPLIT,
    LH_BUCKET_NEEDS_SPLIT_CLEANUP, LH_BUCKET_PAGE, LH_OVERFLOW_PAGE, MOVED_BY_SPLIT, Masks, Meta,
    MetaMut, Opaque, TUPLE_SIZE, change_flags, set_prev, spare_index, total_buckets,
};
use pgerror::Result;
use std::collections::HashSet;
use std::ops::Deref;
use wal::{RegFlags, RmgrId};

const XLOG_FPI: u8 = 0xB0;

/// A page of the old bucket during a split: the primary page is latched exclusively, others are
/// read.
enum OldPage<'p> {
    Primary(ExclusiveGuard<'p>),
    Overflow(ShareGuard<'p>),
}

impl Deref for OldPage<'_> {
    type Target = Page;
    fn deref(&self) -> &Page {
        match self {
            OldPage::Primary(page) => page,
            OldPage::Overflow(page) => page,
        }
    }
}

/// The primary pages of the two buckets of a split.
struct Pair<'p> {
    old: ExclusiveGuard<'p>,
    new: ExclusiveGuard<'p>,
}

/// A split that is possible now.
struct Planned<'p> {
    meta: ExclusiveGuard<'p>,
    pages: Pair<'p>,
    /// After the split.
    masks: Masks,
    updates_masks: bool,
    /// The new bucket begins this splitpoint phase.
    splitpoint: Option<u32>,
}

impl HashIndex {
    /// Adds a bucket if the number of tuples still calls for one, and splits an older one. Gives up
    /// if another session has one of the pages pinned: the next insertion tries again.
    ///
    /// WAL: SPLIT_ALLOCATE_PAGE, and those of the functions called.
    pub(crate) fn expand(&self, cx: &mut Cx<'_>) -> Result<()> {
        loop {
            (cx.check_interrupts)()?;
            let meta = self.meta_exclusive(cx)?;
            let masks = Meta(&meta).masks();
            if !Meta(&meta).is_overfull() || masks.max_bucket >= BUCKET_MAX {
                return Ok(());
            }
            let bucket = (masks.max_bucket + 1) & masks.low_mask;
            let block = Meta(&meta).map().block(bucket);
            // LOCK ORDER: taken only if it is free.
            let Ok(old) = cx.pin(&self.file, block)?.try_cleanup() else { return Ok(()) };
            self.check(&old, block, LH_BUCKET_PAGE)?;
            if HashPage(&old).has(LH_BUCKET_BEING_SPLIT) {
                drop(meta);
                if !self.finish_split(cx, old.into_pin(), bucket)? {
                    return Ok(());
                }
            } else if HashPage(&old).has(LH_BUCKET_NEEDS_SPLIT_CLEANUP) {
                // The tuples that the last split has moved could not be recognized after this one.
                drop(meta);
                self.clean_bucket(cx, old, Cleanup { bucket, moved: Some(masks), dead: None })?;
            } else {
                let Some(planned) = self.plan_split(cx, meta, old)? else { return Ok(()) };
                let masks = planned.masks;
                let pages = self.begin_split(cx, planned)?;
                return self.split_bucket(cx, pages, None, masks);
            }
        }
    }

    /// Allocates the new bucket's primary page. `None`: it is in use by another thread, or the
    /// index has reached its maximum size.
    fn plan_split<'p>(
        &self,
        cx: &mut Cx<'p>,
        meta: ExclusiveGuard<'p>,
        old: CleanupGuard<'p>,
    ) -> Result<Option<Planned<'p>>> {
        let map = Meta(&meta).map();
        let mut masks = map.masks;
        let bucket = masks.max_bucket + 1;
        // Right before the splitpoint changes too: it follows all overflow pages.
        let block = map.block(bucket);
        let phase = spare_index(bucket + 1);
        let splitpoint = (phase > Meta(&meta).splitpoint()).then_some(phase);
        if splitpoint.is_some() {
            let count = total_buckets(phase) - bucket;
            if !self.allocate_buckets(cx, block, count)? {
                return Ok(None);
            }
        }
        let new = self.unused_page(cx, &self.file, block)?;
        let Ok(new) = new.try_into_cleanup() else { return Ok(None) };
        let updates_masks = bucket > masks.high_mask;
        masks.max_bucket = bucket;
        if updates_masks {
            masks.low_mask = masks.high_mask;
            masks.high_mask |= bucket;
        }
        let pages = Pair { old: old.into_exclusive(), new: new.into_exclusive() };
        Ok(Some(Planned { meta, pages, masks, updates_masks, splitpoint }))
    }

    /// Extends the file by the buckets of a splitpoint phase. Only the last page is written, so
    /// that the file has the length; a crash before the split leaves pages that the next one uses.
    /// False: blocks beyond the largest number. Counterpart: `_hash_alloc_buckets`.
    ///
    /// WAL: XLOG_FPI.
    fn allocate_buckets(&self, cx: &mut Cx<'_>, first: BlockNo, count: u32) -> Result<bool> {
        let Some(last) = first.0.checked_add(count - 1).filter(|&last| last < u32::MAX - 1) else {
            return Ok(false);
        };
        let have = cx.nblocks(&self.file)?.0;
        if have <= last {
            drop(cx.pool.extend_by(&self.file.main, last + 1 - have, cx.strategy)?);
        }
        let mut page = cx.pin(&self.file, BlockNo(last))?.exclusive();
        let mut edit = self.edit(cx);
        let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
        Opaque::UNUSED.init(edit.change(&mut page, 0, flags));
        edit.log_as(RmgrId::Xlog, XLOG_FPI)?;
        Ok(true)
    }

    /// Maps hash codes to the new bucket, and marks both buckets.
    ///
    /// WAL: SPLIT_ALLOCATE_PAGE.
    fn begin_split<'p>(&self, cx: &mut Cx<'p>, planned: Planned<'p>) -> Result<Pair<'p>> {
        let Planned { mut meta, mut pages, masks, updates_masks, splitpoint } = planned;
        let new_bucket = masks.max_bucket;
        let old_flags = HashPage(&pages.old).flags() | LH_BUCKET_BEING_SPLIT;
        let new_flags = LH_BUCKET_PAGE | LH_BUCKET_BEING_POPULATED;
        let spares = Meta(&meta).spares(Meta(&meta).splitpoint());
        let mut edit = self.edit(cx);
        let page = edit.change(&mut pages.old, 0, RegFlags::STANDARD);
        change_flags(page, LH_BUCKET_BEING_SPLIT, 0);
        set_prev(page, BlockNo(new_bucket));
        let page = edit.change(&mut pages.new, 1, RegFlags::WILL_INIT);
        Opaque::primary(new_bucket, new_bucket, new_flags).init(page);
        let mut changed = MetaMut(edit.change(&mut meta, 2, RegFlags::STANDARD));
        changed.set_masks(masks);
        if let Some(phase) = splitpoint {
            changed.set_splitpoint(phase, spares);
        }
        if updates_masks {
            edit.block_data(2, &masks.low_mask.to_le_bytes());
            edit.block_data(2, &masks.high_mask.to_le_bytes());
        }
        if let Some(phase) = splitpoint {
            edit.block_data(2, &phase.to_le_bytes());
            edit.block_data(2, &spares.to_le_bytes());
        }
        let updates_splitpoint = splitpoint.is_some();
        let main =
            SplitAllocate { new_bucket, old_flags, new_flags, updates_masks, updates_splitpoint };
        edit.main(&main.encode());
        edit.log(records::SPLIT_ALLOCATE_PAGE)?;
        Ok(pages)
    }

    /// Copies the tuples of the old bucket that belong to the new one, except those of `copied`
    /// rows, and marks the split complete. Cleanup latches of both primary pages are held at the
    /// beginning, pins until the end. `masks` are those after the split.
    ///
    /// WAL: SPLIT_PAGE, SPLIT_COMPLETE, and those of the functions called.
    fn split_bucket<'p>(
        &self,
        cx: &mut Cx<'p>,
        pages: Pair<'p>,
        copied: Option<&HashSet<Tid>>,
        masks: Masks,
    ) -> Result<()> {
        let old_bucket = HashPage(&pages.old).bucket();
        let new_bucket = HashPage(&pages.new).bucket();
        let mut new = pages.new;
        let mut old_primary = None;
        let mut new_primary = None;
        let mut batch: Vec<[u8; TUPLE_SIZE]> = Vec::new();
        let mut page = OldPage::Primary(pages.old);
        loop {
            for offset in 1..=page.max_offset() {
                let tuple = HashPage(&page);
                let skip = tuple.0.line_pointer(offset).is_dead()
                    || copied.is_some_and(|tids| tids.contains(&tuple.tid(offset)))
                    || masks.bucket(tuple.hash(offset)) != new_bucket;
                if skip {
                    continue;
                }
                let count = batch.len() + 1;
                if new.free_space_for(count) < count * TUPLE_SIZE {
                    self.add_copied(cx, &mut new, &mut batch)?;
                    new = self.add_overflow(cx, new, &mut new_primary)?;
                }
                batch.push(moved(page::hash::tuple(tuple.hash(offset), tuple.tid(offset))));
            }
            let next = HashPage(&page).next();
            if let OldPage::Primary(page) = page {
                old_primary = Some(page.into_pin());
            } else {
                drop(page);
            }
            if next == BlockNo::INVALID {
                break;
            }
            page = OldPage::Overflow(self.share(cx, next, LH_OVERFLOW_PAGE)?);
        }
        self.add_copied(cx, &mut new, &mut batch)?;
        leave(new, &mut new_primary);
        let old = old_primary.expect("the first page of the old bucket is its primary page");
        let new = new_primary.expect("the primary page was left by now");
        let cleanup = Cleanup { bucket: old_bucket, moved: Some(masks), dead: None };
        self.complete_split(cx, old, new, cleanup)
    }

    /// Adds the copied tuples to a page of the new bucket.
    ///
    /// WAL: SPLIT_PAGE, an image of the page.
    fn add_copied<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        batch: &mut Vec<[u8; TUPLE_SIZE]>,
    ) -> Result<()> {
        let mut edit = self.edit(cx);
        let changed = edit.change(page, 0, RegFlags::FORCE_IMAGE | RegFlags::STANDARD);
        for tuple in batch.iter() {
            place(changed, tuple)?;
        }
        edit.log(records::SPLIT_PAGE)?;
        batch.clear();
        Ok(())
    }

    /// Marks the split complete, and deletes the copied tuples from the old bucket if no scan has
    /// it pinned.
    ///
    /// WAL: SPLIT_COMPLETE.
    fn complete_split<'p>(
        &self,
        cx: &mut Cx<'p>,
        old: Pin<'p>,
        new: Pin<'p>,
        cleanup: Cleanup<'_>,
    ) -> Result<()> {
        // LOCK ORDER: the old bucket before the new one.
        let mut old = old.exclusive();
        let mut new = new.exclusive();
        let mut edit = self.edit(cx);
        let page = edit.change(&mut old, 0, RegFlags::STANDARD);
        change_flags(page, LH_BUCKET_NEEDS_SPLIT_CLEANUP, LH_BUCKET_BEING_SPLIT);
        let old_flags = HashPage(page).flags();
        let page = edit.change(&mut new, 1, RegFlags::STANDARD);
        change_flags(page, 0, LH_BUCKET_BEING_POPULATED);
        let new_flags = HashPage(page).flags();
        edit.main(&old_flags.to_le_bytes());
        edit.main(&new_flags.to_le_bytes());
        edit.log(records::SPLIT_COMPLETE)?;
        drop(new);
        match old.try_into_cleanup() {
            Ok(old) => self.clean_bucket(cx, old, cleanup),
            Err(_) => Ok(()),
        }
    }

    /// Finishes an interrupted split of `bucket`, whose primary page is pinned. False: another
    /// session has one of the primary pages pinned.
    pub(crate) fn finish_split<'p>(
        &self,
        cx: &mut Cx<'p>,
        old: Pin<'p>,
        bucket: u32,
    ) -> Result<bool> {
        let meta = self.meta_share(cx)?;
        let map = Meta(&meta).map();
        drop(meta);
        let first = map.block(map.masks.split_off(bucket));
        let (new, copied) = self.copied_rows(cx, first)?;
        let Ok(old) = old.try_cleanup() else { return Ok(false) };
        let Ok(new) = new.try_cleanup() else { return Ok(false) };
        if !HashPage(&old).has(LH_BUCKET_BEING_SPLIT) {
            return Ok(true);
        }
        if !HashPage(&new).has(LH_BUCKET_BEING_POPULATED) {
            return Err(self.corrupted(first));
        }
        let pages = Pair { old: old.into_exclusive(), new: new.into_exclusive() };
        self.split_bucket(cx, pages, Some(&copied), map.masks)?;
        Ok(true)
    }

    /// The rows whose tuples are in the bucket with this primary page, which is returned pinned.
    fn copied_rows<'p>(&self, cx: &mut Cx<'p>, first: BlockNo) -> Result<(Pin<'p>, HashSet<Tid>)> {
        let mut page = self.share(cx, first, LH_BUCKET_PAGE)?;
        let mut primary = None;
        let mut tids = HashSet::new();
        loop {
            tids.extend((1..=page.max_offset()).map(|offset| HashPage(&page).tid(offset)));
            let next = HashPage(&page).next();
            let pin = page.into_pin();
            let kept = primary.take().unwrap_or(pin);
            if next == BlockNo::INVALID {
                return Ok((kept, tids));
            }
            primary = Some(kept);
            (cx.check_interrupts)()?;
            page = self.share(cx, next, LH_OVERFLOW_PAGE)?;
        }
    }
}

/// Marks a tuple as copied by a split.
fn moved(mut tuple: [u8; TUPLE_SIZE]) -> [u8; TUPLE_SIZE] {
    let [low, high] = MOVED_BY_SPLIT.to_le_bytes();
    tuple[6] |= low;
    tuple[7] |= high;
    tuple
}
