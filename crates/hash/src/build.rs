//! Creation of an index: its first pages, and the build from the rows of a table. A large index is
//! built from batches of tuples in the order of buckets, since rows in the order of the table would
//! read and write the pages of all buckets in random order.
//!
//! Counterpart: `hashbuild` in hash.c, hashsort.c, `_hash_init` in hashpage.c.

use crate::index::HashIndex;
use crate::records::{self, InitMeta};
use access::{BuildOptions, Cx, IndexBuild, IndexFile, OnDuplicate};
use bufmgr::ExclusiveGuard;
use page::PAGE_SIZE;
use page::hash::{
    DEFAULT_FILLFACTOR, LH_BUCKET_PAGE, META_BLOCK, Masks, Meta, MetaMut, Opaque, TUPLE_SIZE,
    hash_of, init_bitmap, init_meta, tuples_per_bucket,
};
use pgerror::Result;
use wal::{RegFlags, RmgrId};

const XLOG_FPI: u8 = 0xB0;

impl HashIndex {
    /// Writes the meta page, the buckets for an estimated number of tuples, and a bitmap page, to
    /// an empty file. Returns the number of buckets. Counterpart: `_hash_init`.
    ///
    /// WAL: INIT_META_PAGE, XLOG_FPI, INIT_BITMAP_PAGE.
    pub(crate) fn init(&self, cx: &mut Cx<'_>, file: &IndexFile, tuples: f64) -> Result<u32> {
        let per_bucket = tuples_per_bucket(self.fillfactor());
        let function = self.function();
        let mut meta = self.unused_page(cx, file, META_BLOCK)?;
        let mut edit = cx.edit(file, RmgrId::Hash);
        let page = edit.change(&mut meta, 0, RegFlags::WILL_INIT | RegFlags::STANDARD);
        init_meta(page, tuples, function, per_bucket);
        edit.main(&InitMeta { tuples, function, per_bucket }.encode());
        edit.log(records::INIT_META_PAGE)?;
        let map = Meta(&meta).map();
        let max_bucket = map.masks.max_bucket;
        for bucket in 0..=max_bucket {
            if bucket.is_multiple_of(1024) {
                (cx.check_interrupts)()?;
            }
            let mut page = self.unused_page(cx, file, map.block(bucket))?;
            let mut edit = cx.edit(file, RmgrId::Hash);
            let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
            let opaque = Opaque::primary(bucket, max_bucket, LH_BUCKET_PAGE);
            opaque.init(edit.change(&mut page, 0, flags));
            edit.log_as(RmgrId::Xlog, XLOG_FPI)?;
        }
        self.init_first_bitmap(cx, file, meta, max_bucket + 2)?;
        Ok(max_bucket + 1)
    }

    /// In percent. A value with a fraction is rounded, as for any integer parameter.
    fn fillfactor(&self) -> u32 {
        let value = self.def.option("fillfactor").and_then(|value| value.parse::<f64>().ok());
        value.map_or(DEFAULT_FILLFACTOR, |percent| percent.round_ties_even() as u32)
    }

    /// Adds the first bitmap page, after the buckets.
    ///
    /// WAL: INIT_BITMAP_PAGE.
    fn init_first_bitmap<'p>(
        &self,
        cx: &mut Cx<'p>,
        file: &IndexFile,
        mut meta: ExclusiveGuard<'p>,
        block: u32,
    ) -> Result<()> {
        let bytes = Meta(&meta).bitmap_size();
        let mut bitmap = self.unused_page(cx, file, ids::BlockNo(block))?;
        let mut edit = cx.edit(file, RmgrId::Hash);
        init_bitmap(edit.change(&mut bitmap, 0, RegFlags::WILL_INIT), bytes);
        let page = edit.change(&mut meta, 1, RegFlags::STANDARD);
        MetaMut(page).add_bitmap(ids::BlockNo(block));
        edit.main(&bytes.to_le_bytes());
        edit.log(records::INIT_BITMAP_PAGE)?;
        Ok(())
    }
}

/// A build in progress.
pub(crate) struct HashBuild<'a> {
    index: &'a HashIndex,
    /// Tuples to be inserted in the order of buckets. `None`: they are inserted at once.
    batch: Option<Batch>,
    count: u64,
}

struct Batch {
    tuples: Vec<[u8; TUPLE_SIZE]>,
    tuples_max: usize,
    /// Of the index as it was created.
    masks: Masks,
}

impl<'a> HashBuild<'a> {
    pub(crate) fn new(
        index: &'a HashIndex,
        cx: &mut Cx<'_>,
        options: &BuildOptions,
    ) -> Result<HashBuild<'a>> {
        let buckets = index.init(cx, &index.file, options.rows)?;
        index.forget_map();
        let pages_max = (options.memory_limit / PAGE_SIZE).min(cx.pool.frames());
        let sorted = buckets as usize >= pages_max;
        let batch = sorted.then(|| Batch {
            tuples: Vec::new(),
            tuples_max: (options.memory_limit / TUPLE_SIZE).max(1024),
            masks: Masks::of(buckets),
        });
        Ok(HashBuild { index, batch, count: 0 })
    }

    /// Inserts the batch.
    fn flush(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        let Some(batch) = &mut self.batch else { return Ok(()) };
        let masks = batch.masks;
        batch.tuples.sort_by_cached_key(|tuple| masks.bucket(hash_of(tuple)));
        for (n, tuple) in batch.tuples.iter().enumerate() {
            if n.is_multiple_of(256) {
                (cx.check_interrupts)()?;
            }
            self.index.insert_tuple(cx, tuple, None)?;
        }
        batch.tuples.clear();
        Ok(())
    }
}

impl IndexBuild for HashBuild<'_> {
    fn add(&mut self, cx: &mut Cx<'_>, entry: &[u8], _dead: bool) -> Result<()> {
        self.count += 1;
        let Some(batch) = &mut self.batch else {
            return self.index.insert_tuple(cx, entry, None);
        };
        if let Some(tuple) = entry.first_chunk() {
            batch.tuples.push(*tuple);
        }
        if batch.tuples.len() >= batch.tuples_max { self.flush(cx) } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>, cx: &mut Cx<'_>, _on_duplicate: OnDuplicate<'_>) -> Result<u64> {
        self.flush(cx)?;
        Ok(self.count)
    }
}
