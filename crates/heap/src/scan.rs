//! Sequential scans, a page at a time.
//!
//! A page is visited under the share latch: the visibility of each tuple is tested, and the caller
//! decodes the visible ones in a callback. The pin ends with the visit. Hint bits are set at the
//! end, if the latch can be upgraded without waiting.
//!
//! Scans of one large table are synchronized: each starts at the block where another one is, and
//! wraps around at the end of the table.
//!
//! Counterpart: `heapgetpage`, `heapgettup_pagemode` in heapam.c; syncscan.c.

use crate::context::{HeapCx, HeapRel};
use crate::prune;
use ids::{BlockNo, OffsetNo};
use page::HeapTuple;
use pgerror::Result;
use sync::Mutex;
use txn::{Snapshot, SnapshotKind};

/// Where the visit of a page ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visited {
    /// The page is done.
    All,
    /// The callback returned false; the next visit of this page starts with this line pointer.
    Until(OffsetNo),
}

/// How to visit a page.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    pub backward: bool,
    /// Line pointer to start with; 0: the first one (backward: the last one).
    pub from: OffsetNo,
    /// Prune the page first if that looks worthwhile.
    pub prune: bool,
}

impl Visit {
    /// Forward, the whole page.
    pub const WHOLE: Visit = Visit { backward: false, from: 0, prune: true };
}

/// Calls `f` with the tuples of `block` that are visible to `snapshot`, until it returns false.
pub fn visit_page<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    block: BlockNo,
    snapshot: &Snapshot,
    visit: Visit,
    mut f: impl FnMut(OffsetNo, HeapTuple<'_>) -> Result<bool>,
) -> Result<Visited> {
    let pin = cx.pool.read(&rel.main, block, cx.strategy)?;
    let mut guard = if visit.prune && visit.from == 0 {
        prune::share_pruned(cx, rel, pin)?
    } else {
        pin.share()
    };
    let mut hints: Vec<(OffsetNo, u16)> = Vec::new();
    let max = guard.max_offset();
    let mut result = Visited::All;
    {
        let page: &page::Page = &guard;
        // All tuples of an all-visible page are visible to each MVCC snapshot.
        let all_visible = page.is_all_visible()
            && matches!(snapshot.kind, SnapshotKind::Mvcc | SnapshotKind::Any);
        let vis = cx.visibility(rel, page.lsn());
        let mut pointers = match (visit.backward, visit.from) {
            (false, from) => page.line_pointers(from, max),
            (true, 0) => page.line_pointers(1, max),
            (true, from) => page.line_pointers(1, from),
        };
        let mut next = || if visit.backward { pointers.next_back() } else { pointers.next() };
        while let Some((offset, lp)) = next() {
            let Some(tuple) = page.heap_tuple_lp(lp) else { continue };
            let mut hint = 0;
            let visible = all_visible || vis.visible(&tuple.header, snapshot, &mut hint)?;
            if hint != 0 {
                hints.push((offset, hint));
            }
            if visible && !f(offset, tuple)? {
                result = next().map_or(Visited::All, |(offset, _)| Visited::Until(offset));
                break;
            }
        }
    }
    if !hints.is_empty() {
        guard.try_set_hints(Some(cx.scratch), |h| {
            for &(offset, bits) in &hints {
                h.set_infomask(offset, bits);
            }
            true
        });
    }
    Ok(result)
}

/// The order in which a scan visits blocks.
#[derive(Clone, Debug)]
pub struct BlockOrder {
    nblocks: u32,
    start: u32,
    /// Blocks visited so far.
    done: u32,
    backward: bool,
}

impl BlockOrder {
    /// Over a relation of `nblocks`, from block `start` to the one before it, with wraparound.
    pub fn new(nblocks: u32, start: BlockNo, backward: bool) -> BlockOrder {
        let start = if nblocks == 0 { 0 } else { start.0 % nblocks };
        BlockOrder { nblocks, start, done: 0, backward }
    }

    /// The next block, `None` at the end.
    pub fn next_block(&mut self) -> Option<BlockNo> {
        if self.done >= self.nblocks {
            return None;
        }
        let step = self.done;
        self.done += 1;
        let n = u64::from(self.nblocks);
        let at = u64::from(self.start);
        let block = if self.backward {
            (at + n + n - 1 - u64::from(step)) % n
        } else {
            (at + u64::from(step)) % n
        };
        Some(BlockNo(block as u32))
    }

    /// Number of blocks when the scan began. Blocks added later have no rows that are visible to
    /// its snapshot.
    pub fn nblocks(&self) -> u32 {
        self.nblocks
    }
}

/// Current locations of scans of large tables, where new scans start. One per instance.
/// Counterpart: syncscan.c.
#[derive(Default)]
pub struct SyncScans {
    /// Most recently used last.
    locations: Mutex<Vec<(ids::RelFile, BlockNo)>>,
}

/// Number of tables whose locations are kept. Counterpart: `SYNC_SCAN_NELEM`.
const LOCATIONS_MAX: usize = 20;
/// Blocks between reports. Counterpart: `SYNC_SCAN_REPORT_INTERVAL`.
pub const REPORT_INTERVAL_BLOCKS: u32 = 128 * 1024 / page::PAGE_SIZE as u32;

impl SyncScans {
    /// The block where a new scan of `file` should start. Counterpart: `ss_get_location`.
    pub fn start(&self, file: ids::RelFile, nblocks: u32) -> BlockNo {
        let locations = self.locations.lock();
        let found = locations.iter().find(|(f, _)| *f == file).map(|(_, block)| *block);
        found.filter(|block| block.0 < nblocks).unwrap_or(BlockNo(0))
    }

    /// Reports that a scan of `file` has reached `block`; to be called for each block.
    /// Counterpart: `ss_report_location`.
    pub fn report(&self, file: ids::RelFile, block: BlockNo) {
        if !block.0.is_multiple_of(REPORT_INTERVAL_BLOCKS) {
            return;
        }
        let mut locations = self.locations.lock();
        if let Some(i) = locations.iter().position(|(f, _)| *f == file) {
            locations.remove(i);
        } else if locations.len() >= LOCATIONS_MAX {
            locations.remove(0);
        }
        locations.push((file, block));
    }
}
