//! VACUUM of an index: visits all buckets under the cleanup latch of their primary pages.
//!
//! Counterpart: `hashbulkdelete`, `hashvacuumcleanup` in hash.c.

use crate::cleanup::{Cleanup, Counts};
use crate::index::HashIndex;
use crate::records;
use access::{BulkDeleteResult, Cx, IsDead};
use page::hash::{
    HashPage, LH_BUCKET_BEING_SPLIT, LH_BUCKET_NEEDS_SPLIT_CLEANUP, LH_BUCKET_PAGE, Meta, MetaMut,
};
use pgerror::Result;
use wal::RegFlags;

impl HashIndex {
    /// Removes the tuples of dead rows, and those that splits have left.
    ///
    /// WAL: UPDATE_META_PAGE, and those of `clean_bucket`.
    pub(crate) fn delete_dead(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
        is_dead: IsDead<'_>,
    ) -> Result<BulkDeleteResult> {
        let meta = self.meta_share(cx)?;
        let (first_max, first_tuples) = (Meta(&meta).masks().max_bucket, Meta(&meta).tuples());
        drop(meta);
        let mut counts = Counts::default();
        let mut bucket = 0;
        let mut last = first_max;
        let mut meta = loop {
            while bucket <= last {
                cx.delay_point()?;
                self.vacuum_bucket(cx, bucket, is_dead, &mut counts)?;
                bucket += 1;
            }
            let meta = self.meta_exclusive(cx)?;
            // Splits since the beginning have added buckets.
            if Meta(&meta).masks().max_bucket == last {
                break meta;
            }
            last = Meta(&meta).masks().max_bucket;
        };
        let tuples = Meta(&meta).tuples();
        if last == first_max && tuples == first_tuples {
            // Nothing was inserted, so the count is exact.
        } else {
            counts.kept = (tuples - counts.removed).max(0.0);
        }
        let mut edit = self.edit(cx);
        MetaMut(edit.change(&mut meta, 0, RegFlags::STANDARD)).set_tuples(counts.kept);
        edit.main(&counts.kept.to_bits().to_le_bytes());
        edit.log(records::UPDATE_META_PAGE)?;
        drop(meta);
        let mut stats = stats.unwrap_or_default();
        stats.estimated_count = false;
        stats.num_index_tuples = counts.kept;
        stats.tuples_removed += counts.removed;
        Ok(stats)
    }

    fn vacuum_bucket(
        &self,
        cx: &mut Cx<'_>,
        bucket: u32,
        is_dead: IsDead<'_>,
        counts: &mut Counts,
    ) -> Result<()> {
        let known = self.with_map(cx, |map| map.masks.max_bucket)?;
        if known < bucket {
            self.refresh_map(cx)?;
        }
        let block = self.with_map(cx, |map| map.block(bucket))?;
        let page = cx.pin(&self.file, block)?.cleanup()?;
        self.check(&page, block, LH_BUCKET_PAGE)?;
        let own = HashPage(&page);
        // Scans need the tuples that a running split has copied.
        let split = own.has(LH_BUCKET_NEEDS_SPLIT_CLEANUP) && !own.has(LH_BUCKET_BEING_SPLIT);
        let mut moved = None;
        if split {
            // The bucket cannot be split again while it is latched, but the masks may be older than
            // its last split.
            if own.max_bucket_at_split() > self.with_map(cx, |map| map.masks.max_bucket)? {
                self.refresh_map(cx)?;
            }
            moved = Some(self.with_map(cx, |map| map.masks)?);
        }
        let mut is_dead = |tid| is_dead(tid);
        let dead = Some((&mut is_dead as IsDead<'_>, counts));
        self.clean_bucket(cx, page, Cleanup { bucket, moved, dead })
    }

    /// Fills in the size of the index, if a pass was made.
    pub(crate) fn finish_vacuum(
        &self,
        cx: &mut Cx<'_>,
        stats: Option<BulkDeleteResult>,
    ) -> Result<Option<BulkDeleteResult>> {
        let Some(mut stats) = stats else { return Ok(None) };
        stats.num_pages = cx.nblocks(&self.file)?.0;
        Ok(Some(stats))
    }
}
