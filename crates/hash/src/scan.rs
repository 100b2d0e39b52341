//! Scans: all tuples with one hash code. The chain of the bucket is read as a whole under the pin
//! of its primary page, which excludes that tuples are moved between its pages; the pin is not
//! needed afterwards.
//!
//! While a split populates the bucket, some of its tuples are still in the old bucket only. Then
//! the scan skips the copied tuples and reads the old bucket too, where all of them are until the
//! split is complete and no scan has the old bucket pinned.
//!
//! Counterpart: hashsearch.c, parts of hash.c and hashutil.c.

use crate::index::HashIndex;
use access::strategy::hash::EQUAL;
use access::{
    AllVisible, Cx, Direction, IndexScan, ScanItem, ScanKey, ScanOptions, ScanPage, SupportFunction,
};
use bufmgr::{Pin, ShareGuard};
use ids::{BlockNo, Lsn, OffsetNo, Tid};
use page::hash::{
    FLAGS_AT, HashPage, LH_BUCKET_BEING_POPULATED, LH_BUCKET_PAGE, LH_OVERFLOW_PAGE,
    LH_PAGE_HAS_DEAD_TUPLES, is_type, split_from,
};
use pgerror::{Result, pg_err};
use sync::Arc;
use types::DatumRef;

/// A page that was read, for marking its dead items.
#[derive(Clone, Copy, Debug)]
struct ReadPage {
    block: BlockNo,
    lsn: Lsn,
    /// Index of its first item in the scan's page.
    first: usize,
}

/// Which tuples of the pages are read.
#[derive(Clone, Copy)]
struct Wanted {
    hash: u32,
    include_killed: bool,
    /// Skip tuples copied by the running split.
    skip_moved: bool,
}

pub(crate) struct HashScan {
    index: Arc<HashIndex>,
    keys: Vec<ScanKey>,
    /// The hash code; `None` if the condition is not true for any row.
    hash: Option<u32>,
    include_killed: bool,
    /// The items of the chain have been returned.
    returned: bool,
    pages: Vec<ReadPage>,
    /// Items found dead: index in the scan's page, TID and offset.
    killed: Vec<(usize, Tid, OffsetNo)>,
}

impl HashScan {
    pub(crate) fn new(
        index: Arc<HashIndex>,
        keys: Vec<ScanKey>,
        options: ScanOptions,
    ) -> Result<HashScan> {
        let hash = index.hash_of_keys(&keys)?;
        Ok(HashScan {
            index,
            keys,
            hash,
            include_killed: options.include_killed,
            returned: false,
            pages: Vec::new(),
            killed: Vec::new(),
        })
    }

    /// Reads the bucket; returns the pin of its primary page if there are matches.
    fn read<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        hash: u32,
        out: &mut Vec<ScanItem>,
    ) -> Result<Option<Pin<'p>>> {
        let index = self.index.clone();
        let first = index.find_primary(cx, hash, Pin::share)?;
        let mut wanted = Wanted { hash, include_killed: self.include_killed, skip_moved: false };
        if !HashPage(&first).has(LH_BUCKET_BEING_POPULATED) {
            let pin = self.read_chain(cx, first, wanted, out)?;
            return Ok((!out.is_empty()).then_some(pin));
        }
        // The old bucket is pinned first, so that its tuples stay there, then the new one is looked
        // at again.
        let old_block = {
            let old = split_from(HashPage(&first).bucket());
            index.with_map(cx, |map| map.block(old))?
        };
        let pin = first.into_pin();
        let old = index.share(cx, old_block, LH_BUCKET_PAGE)?.into_pin();
        let first = pin.share();
        wanted.skip_moved = HashPage(&first).has(LH_BUCKET_BEING_POPULATED);
        let pin = self.read_chain(cx, first, wanted, out)?;
        if wanted.skip_moved {
            wanted.skip_moved = false;
            let old = self.read_chain(cx, old.share(), wanted, out)?;
            drop(old);
        }
        Ok((!out.is_empty()).then_some(pin))
    }

    /// Appends the matches on the chain that begins with the primary page `first`. Returns its pin.
    fn read_chain<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        first: ShareGuard<'p>,
        wanted: Wanted,
        out: &mut Vec<ScanItem>,
    ) -> Result<Pin<'p>> {
        let mut next = self.read_page(&first, wanted, out);
        let primary = first.into_pin();
        while next != BlockNo::INVALID {
            (cx.check_interrupts)()?;
            let page = self.index.share(cx, next, LH_OVERFLOW_PAGE)?;
            next = self.read_page(&page, wanted, out);
        }
        Ok(primary)
    }

    /// Appends the matches of one page. Returns the next block.
    fn read_page(
        &mut self,
        page: &ShareGuard<'_>,
        wanted: Wanted,
        out: &mut Vec<ScanItem>,
    ) -> BlockNo {
        let first = out.len();
        let items = HashPage(page);
        for offset in items.lower_bound(wanted.hash)..=page.max_offset() {
            if items.hash(offset) != wanted.hash {
                break;
            }
            let dead = !wanted.include_killed && page.line_pointer(offset).is_dead();
            if dead || wanted.skip_moved && items.is_moved(offset) {
                continue;
            }
            out.push(ScanItem {
                tid: items.tid(offset),
                offset,
                all_visible: false,
                // Only hash codes are stored.
                recheck: true,
                tuple_at: 0,
            });
        }
        if out.len() > first {
            self.pages.push(ReadPage { block: page.block(), lsn: page.lsn(), first });
        }
        items.next()
    }

    /// Marks the items that were found dead, on pages that have not changed since they were read.
    /// An unchanged LSN proves that; so nothing is marked in an index that is not logged.
    fn mark_killed(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        if self.killed.is_empty() || !self.index.file.is_logged() {
            self.killed.clear();
            self.pages.clear();
            return Ok(());
        }
        let mut killed = std::mem::take(&mut self.killed);
        let pages = std::mem::take(&mut self.pages);
        killed.sort_unstable_by_key(|(n, _, _)| *n);
        for (i, page) in pages.iter().enumerate() {
            let end = pages.get(i + 1).map_or(usize::MAX, |next| next.first);
            let from = killed.partition_point(|(n, _, _)| *n < page.first);
            let upto = killed.partition_point(|(n, _, _)| *n < end);
            if from < upto {
                self.mark_on_page(cx, page, &killed[from..upto])?;
            }
        }
        Ok(())
    }

    /// Counterpart: `_hash_kill_items`.
    fn mark_on_page(
        &self,
        cx: &mut Cx<'_>,
        read: &ReadPage,
        killed: &[(usize, Tid, OffsetNo)],
    ) -> Result<()> {
        let mut page = cx.pin(&self.index.file, read.block)?.share_exclusive();
        let own = is_type(&page, LH_BUCKET_PAGE | LH_OVERFLOW_PAGE);
        if page.lsn() != read.lsn || !own {
            return Ok(());
        }
        let dead: Vec<OffsetNo> = killed
            .iter()
            .map(|(_, tid, offset)| (*tid, *offset))
            .filter(|&(tid, offset)| {
                offset <= page.max_offset()
                    && !page.line_pointer(offset).is_dead()
                    && HashPage(&page).tid(offset) == tid
            })
            .map(|(_, offset)| offset)
            .collect();
        if !dead.is_empty() {
            page.set_hints(Some(cx.scratch), |hints| {
                for offset in &dead {
                    hints.mark_dead(*offset);
                }
                hints.or_u16(FLAGS_AT, LH_PAGE_HAS_DEAD_TUPLES);
                true
            });
        }
        Ok(())
    }
}

impl IndexScan for HashScan {
    fn next_page<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        _direction: Direction,
        page: &mut ScanPage,
        _all_visible: Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        self.mark_killed(cx)?;
        page.clear();
        let again = std::mem::replace(&mut self.returned, false);
        if again {
            return Ok(None);
        }
        page.searches += 1;
        let Some(hash) = self.hash else { return Ok(None) };
        let pin = self.read(cx, hash, &mut page.items)?;
        self.returned = pin.is_some();
        Ok(pin)
    }

    fn kill(&mut self, n: usize, item: &ScanItem) {
        self.killed.push((n, item.tid, item.offset));
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, keys: Vec<ScanKey>) -> Result<()> {
        self.end(cx)?;
        self.hash = self.index.hash_of_keys(&keys)?;
        self.keys = keys;
        Ok(())
    }

    fn rescan_values(&mut self, cx: &mut Cx<'_>, values: &[DatumRef<'_>]) -> Result<()> {
        self.end(cx)?;
        // The first condition decides; the executor checks all of them on the row.
        if let (Some(ScanKey::Compare { support, .. }), Some(value)) =
            (self.keys.first(), values.first())
        {
            self.hash = self.index.hash_value(*value, support.as_ref());
        }
        Ok(())
    }

    fn end(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        self.returned = false;
        self.mark_killed(cx)
    }
}

impl HashIndex {
    /// The hash code of a value; `None` for NULL. `support`: the hash function, if the value's type
    /// is not the column's.
    pub(crate) fn hash_value(
        &self,
        value: DatumRef<'_>,
        support: Option<&SupportFunction>,
    ) -> Option<u32> {
        if matches!(value, DatumRef::Null) {
            return None;
        }
        let hasher = support.and_then(SupportFunction::hasher).unwrap_or(&self.hasher);
        Some(hasher.hash(value, self.collation))
    }

    /// The hash code that satisfies the first condition; other conditions are checked on the rows.
    fn hash_of_keys(&self, keys: &[ScanKey]) -> Result<Option<u32>> {
        match keys.first() {
            Some(ScanKey::Compare { column: 0, strategy: EQUAL, value, support }) => {
                Ok(self.hash_value(value.as_ref(), support.as_ref()))
            }
            _ => {
                Err(pg_err!(FEATURE_NOT_SUPPORTED, "hash indexes do not support whole-index scans"))
            }
        }
    }
}
