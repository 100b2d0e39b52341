//! Deletion of tuples from a bucket: of dead rows, for VACUUM, and of those that a split has moved.
//!
//! Counterpart: `hashbucketcleanup` in hash.c.

use crate::index::{HashIndex, leave};
use crate::records::{self, Delete};
use access::{Cx, IsDead};
use bufmgr::{CleanupGuard, ExclusiveGuard, Pin};
use ids::{BlockNo, OffsetNo};
use page::hash::{
    HashPage, LH_BUCKET_NEEDS_SPLIT_CLEANUP, LH_PAGE_HAS_DEAD_TUPLES, Masks, change_flags,
};
use page::index_space;
use pgerror::{PgError, Result};
use wal::RegFlags;

/// Counts of a VACUUM.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    pub removed: f64,
    pub kept: f64,
}

/// What is deleted from a bucket.
pub(crate) struct Cleanup<'a> {
    pub bucket: u32,
    /// By which tuples that a finished split has moved are recognized; `None`: there are none.
    pub moved: Option<Masks>,
    /// The rows that VACUUM removes, and its counts.
    pub dead: Option<(IsDead<'a>, &'a mut Counts)>,
}

impl Cleanup<'_> {
    /// The offsets of the tuples on the page that are to be deleted.
    fn deletable(&mut self, page: HashPage<'_>) -> Result<Vec<OffsetNo>> {
        let mut out = Vec::new();
        for offset in 1..=page.0.max_offset() {
            if let Some((is_dead, counts)) = &mut self.dead
                && is_dead(page.tid(offset))
            {
                counts.removed += 1.0;
                out.push(offset);
                continue;
            }
            if let Some(masks) = &self.moved {
                let bucket = masks.bucket(page.hash(offset));
                if bucket != self.bucket {
                    if bucket != masks.split_off(self.bucket) {
                        return Err(PgError::internal(format!(
                            "a tuple of bucket {bucket} is in bucket {}",
                            self.bucket
                        )));
                    }
                    out.push(offset);
                    continue;
                }
            }
            if let Some((_, counts)) = &mut self.dead {
                counts.kept += 1.0;
            }
        }
        Ok(out)
    }

    fn has_removed(&self) -> bool {
        self.dead.as_ref().is_some_and(|(_, counts)| counts.removed > 0.0)
    }
}

impl HashIndex {
    /// Deletes tuples from all pages of a bucket, then compacts it. The cleanup latch of the
    /// primary page waits for scans of the bucket. Each page is latched before the one before it is
    /// released, so that no scan that started since overtakes the cleanup: it would see a tuple on
    /// a page that the cleanup has yet to visit, whose row VACUUM removes.
    ///
    /// WAL: DELETE, SPLIT_CLEANUP, and those of `squeeze`.
    pub(crate) fn clean_bucket<'p>(
        &self,
        cx: &mut Cx<'p>,
        first: CleanupGuard<'p>,
        mut what: Cleanup<'_>,
    ) -> Result<()> {
        let mut page = first.into_exclusive();
        let mut primary = None;
        let mut changed = false;
        loop {
            let offsets = what.deletable(HashPage(&page))?;
            if !offsets.is_empty() {
                let clears_dead =
                    what.has_removed() && HashPage(&page).has(LH_PAGE_HAS_DEAD_TUPLES);
                self.delete(cx, &mut page, &mut primary, &offsets, clears_dead)?;
                changed = true;
            }
            if HashPage(&page).next() == BlockNo::INVALID {
                break;
            }
            (cx.check_interrupts)()?;
            let next = self.page_after(cx, &page)?;
            leave(page, &mut primary);
            page = next;
        }
        if let Some(pin) = primary {
            drop(page);
            page = pin.exclusive();
        }
        if what.moved.is_some() {
            // Before the compaction, so that after a crash no one deletes by these masks again.
            let mut edit = self.edit(cx);
            let changed = edit.change(&mut page, 0, RegFlags::STANDARD);
            change_flags(changed, 0, LH_BUCKET_NEEDS_SPLIT_CLEANUP);
            edit.log(records::SPLIT_CLEANUP)?;
        }
        // Compaction would disturb the order of a scan that has started since.
        match page.try_into_cleanup() {
            Ok(page) if changed => self.squeeze(cx, page),
            _ => Ok(()),
        }
    }

    /// Deletes tuples of one page. `primary` is the pin of the bucket's primary page, unless `page`
    /// is that.
    ///
    /// WAL: DELETE.
    fn delete<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        primary: &mut Option<Pin<'p>>,
        offsets: &[OffsetNo],
        clears_dead: bool,
    ) -> Result<()> {
        page.check_index_items()?;
        // LOCK ORDER: no holder of the primary page's latch waits for a page of its chain.
        let first = primary.take().map(Pin::exclusive);
        let mut edit = self.edit(cx);
        if let Some(first) = &first {
            edit.refer(first, 0, RegFlags::STANDARD | RegFlags::NO_IMAGE);
        }
        let changed = edit.change(page, 1, RegFlags::STANDARD);
        index_space::delete_many(changed, offsets)?;
        if clears_dead {
            change_flags(changed, 0, LH_PAGE_HAS_DEAD_TUPLES);
        }
        edit.block_data(1, &records::offsets(offsets));
        edit.main(&Delete { clears_dead, in_primary: first.is_none() }.encode());
        edit.log(records::DELETE)?;
        *primary = first.map(ExclusiveGuard::into_pin);
        Ok(())
    }
}
