//! Check of the structure of an index: every page has one use, chains are linked both ways, tuples
//! are in the buckets of their hash codes, the bitmaps agree with the chains.

use crate::index::HashIndex;
use access::{Cx, OnEntry};
use ids::BlockNo;
use page::hash::{
    BITMAP_BITS, BucketMap, HashPage, LH_BITMAP_PAGE, LH_BUCKET_BEING_POPULATED,
    LH_BUCKET_BEING_SPLIT, LH_BUCKET_NEEDS_SPLIT_CLEANUP, LH_BUCKET_PAGE, LH_OVERFLOW_PAGE,
    META_BLOCK, Meta, TUPLE_SIZE,
};
use page::index_space;
use pgerror::{PgError, Result, pg_err};
use std::collections::HashSet;

impl HashIndex {
    /// Checks an index that does not change concurrently, and visits the entries. Returns their
    /// number. Error: XX002.
    pub(crate) fn check_structure(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        let meta = self.meta_share(cx)?;
        let map = Meta(&meta).map();
        let bitmaps = (0..Meta(&meta).bitmaps())
            .map(|n| Meta(&meta).bitmap(n).ok_or_else(|| self.corrupted(META_BLOCK)))
            .collect::<Result<Vec<BlockNo>>>()?;
        let first_free = Meta(&meta).first_free();
        drop(meta);
        let mut count = 0;
        let mut used: HashSet<u32> = HashSet::new();
        for bucket in 0..=map.masks.max_bucket {
            (cx.check_interrupts)()?;
            count += self.check_bucket(cx, &map, bucket, &mut used, on_entry)?;
        }
        for block in &bitmaps {
            self.note_overflow(&map, *block, &mut used)?;
        }
        self.check_bitmaps(cx, &bitmaps, &map, &used, first_free)?;
        Ok(count)
    }

    fn damage(&self, block: BlockNo, what: &str) -> PgError {
        let name = &self.def.name;
        pg_err!(INDEX_CORRUPTED, "{what} in index \"{name}\"").detail(format!("Block {block}."))
    }

    /// Notes that an overflow page is in use.
    fn note_overflow(
        &self,
        map: &BucketMap,
        block: BlockNo,
        used: &mut HashSet<u32>,
    ) -> Result<()> {
        let number = map.overflow_number(block);
        let number = number.ok_or_else(|| self.damage(block, "overflow page without a number"))?;
        if used.insert(number) { Ok(()) } else { Err(self.damage(block, "page with two uses")) }
    }

    /// Checks the chain of a bucket. Returns its number of entries.
    fn check_bucket(
        &self,
        cx: &mut Cx<'_>,
        map: &BucketMap,
        bucket: u32,
        used: &mut HashSet<u32>,
        on_entry: OnEntry<'_>,
    ) -> Result<u64> {
        let first = map.block(bucket);
        let mut page = self.share(cx, first, LH_BUCKET_PAGE)?;
        let flags = HashPage(&page).flags();
        let has_copied = flags & (LH_BUCKET_BEING_SPLIT | LH_BUCKET_NEEDS_SPLIT_CLEANUP) != 0;
        let populated = flags & LH_BUCKET_BEING_POPULATED != 0;
        let mut count = 0;
        loop {
            let block = page.block();
            let own = HashPage(&page);
            if own.bucket() != bucket {
                return Err(self.damage(block, "page of another bucket in a chain"));
            }
            let mut last = 0;
            for offset in 1..=page.max_offset() {
                if page.item(offset).len() != TUPLE_SIZE {
                    return Err(self.damage(block, "tuple of wrong size"));
                }
                let hash = own.hash(offset);
                if hash < last {
                    return Err(self.damage(block, "tuples out of order"));
                }
                last = hash;
                let target = map.masks.bucket(hash);
                let copied = has_copied && target == map.masks.split_off(bucket);
                if target != bucket && !copied {
                    return Err(self.damage(block, "tuple in a wrong bucket"));
                }
                // Until the split is complete, the tuple of the old bucket counts.
                let counts = if flags & LH_BUCKET_BEING_SPLIT != 0 {
                    true
                } else {
                    !(copied || populated && own.is_moved(offset))
                };
                if counts {
                    count += 1;
                    on_entry(own.tid(offset))?;
                }
            }
            if index_space::exact_free_space(&page) > page::PAGE_SIZE {
                return Err(self.damage(block, "bad page header"));
            }
            let next = own.next();
            if next == BlockNo::INVALID {
                return Ok(count);
            }
            drop(page);
            self.note_overflow(map, next, used)?;
            page = self.share(cx, next, LH_OVERFLOW_PAGE)?;
            if HashPage(&page).prev() != block {
                return Err(self.damage(next, "broken link"));
            }
        }
    }

    /// The bits of exactly the overflow pages in use are set.
    fn check_bitmaps(
        &self,
        cx: &mut Cx<'_>,
        bitmaps: &[BlockNo],
        map: &BucketMap,
        used: &HashSet<u32>,
        first_free: u32,
    ) -> Result<()> {
        let count = map.overflow_pages();
        for (n, block) in (0..).zip(bitmaps) {
            let page = self.share(cx, *block, LH_BITMAP_PAGE)?;
            for bit in 0..BITMAP_BITS {
                let number = n * BITMAP_BITS + bit;
                // Pages that do not exist yet count as used.
                let expected = number >= count || used.contains(&number);
                let set = HashPage(&page).is_used(bit);
                if set != expected || !set && number < first_free {
                    return Err(self.damage(*block, "wrong bit of an overflow page"));
                }
            }
        }
        if count.div_ceil(BITMAP_BITS) as usize > bitmaps.len() {
            return Err(self.damage(META_BLOCK, "missing bitmap page"));
        }
        Ok(())
    }
}
