//! Sequential scans, a page at a time.
//!
//! A page is visited under the share latch: visibility of each tuple is tested, and the visible
//! ones are handed to the caller, who decodes what he needs there and then. No pin outlives the
//! visit. Hint bits found are set at the end, if the latch can be raised without waiting.
//!
//! Large scans of one table join each other: each starts where others are, and goes round.
//!
//! Counterpart: `heapgetpage`, `heapgettup_pagemode`, syncscan.c.

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
    /// The callback wanted no more; the next visit of this page starts with this line pointer.
    Until(OffsetNo),
}

/// How a page is visited.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    pub backward: bool,
    /// Line pointer to start with; 0 is the page's first (or last, backward).
    pub from: OffsetNo,
    /// Prune the page first if it is crowded.
    pub prune: bool,
}

impl Visit {
    /// Forward, the whole page.
    pub const WHOLE: Visit = Visit { backward: false, from: 0, prune: true };
}

/// Hands the tuples of block `block` that `snapshot` sees to `f`, until it answers false.
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
        // Everybody sees all of an all-visible page, but for snapshots that look for other things.
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
    /// Over a relation of `nblocks`, from block `start` round to the one before it.
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

    /// Blocks of the relation when the scan began: later ones hold nothing that its snapshot sees.
    pub fn nblocks(&self) -> u32 {
        self.nblocks
    }
}

/// Where scans of large tables are, so that new ones can join. One per instance.
/// Counterpart: syncscan.c.
#[derive(Default)]
pub struct SyncScans {
    /// Most recently used last.
    places: Mutex<Vec<(ids::RelFile, BlockNo)>>,
}

/// Tables remembered. Counterpart: `SYNC_SCAN_NELEM`.
const PLACES_MAX: usize = 20;
/// Blocks between reports. Counterpart: `SYNC_SCAN_REPORT_INTERVAL`.
pub const REPORT_INTERVAL_BLOCKS: u32 = 128 * 1024 / page::PAGE_SIZE as u32;

impl SyncScans {
    /// Where a new scan of `file` should start. Counterpart: `ss_get_location`.
    pub fn start(&self, file: ids::RelFile, nblocks: u32) -> BlockNo {
        let places = self.places.lock();
        let found = places.iter().find(|(f, _)| *f == file).map(|(_, block)| *block);
        found.filter(|block| block.0 < nblocks).unwrap_or(BlockNo(0))
    }

    /// A scan of `file` has come to `block`; call it for every block. Counterpart:
    /// `ss_report_location`.
    pub fn report(&self, file: ids::RelFile, block: BlockNo) {
        if !block.0.is_multiple_of(REPORT_INTERVAL_BLOCKS) {
            return;
        }
        let mut places = self.places.lock();
        if let Some(i) = places.iter().position(|(f, _)| *f == file) {
            places.remove(i);
        } else if places.len() >= PLACES_MAX {
            places.remove(0);
        }
        places.push((file, block));
    }
}
