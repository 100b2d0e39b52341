//! Index scans: pages of items.
//!
//! Counterpart: `amgettuple`, `amgetbitmap`, `ammarkpos`, `amrestrpos` in amapi.h.

use crate::{Cx, ScanKey};
use bufmgr::Pin;
use ids::{BlockNo, OffsetNo, Tid};
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result};
use types::DatumRef;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Forward,
    Backward,
}

/// A match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanItem {
    /// Of bitmap scans by lossy methods also [`ScanItem::whole_block`].
    pub tid: Tid,
    /// Offset of the index tuple on its page when it was read, for [`IndexScan::kill`].
    pub offset: OffsetNo,
    /// The heap page was all-visible while the index tuple was latched (index-only scans).
    pub all_visible: bool,
    /// The row may fail the conditions: they must be evaluated again.
    pub recheck: bool,
    /// Start of the index tuple in [`ScanPage::tuples`].
    pub tuple_at: u32,
}

impl ScanItem {
    /// A TID that stands for all rows of a block; such an item has `recheck`.
    pub const fn whole_block(block: BlockNo) -> Tid {
        Tid::new(block, OffsetNo::MAX)
    }
}

/// What a scan returns besides TIDs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanOptions {
    /// Copy the index tuples (methods with `index_only`).
    pub want_tuples: bool,
    /// Return items marked dead too.
    pub include_killed: bool,
}

/// Returns whether a heap block is all-visible. Called while an index page is read, under its
/// latch. Only an answer from before the latch is released is safe: until then VACUUM cannot have
/// removed the page's index tuples, so it cannot have removed their dead rows from the heap and
/// then set the block all-visible.
pub type AllVisible<'a> = &'a mut dyn FnMut(BlockNo) -> Result<bool>;

/// The matches of one page (or of several that the method reads together). The caller owns the
/// memory, which is reused from page to page.
#[derive(Clone, Debug, Default)]
pub struct ScanPage {
    /// In index order, regardless of the scan's direction.
    pub items: Vec<ScanItem>,
    /// The index tuples of the items, if they are wanted.
    pub tuples: Vec<u8>,
    /// Number of searches that were begun, for the statistics: one for each combination of array
    /// elements. The caller resets it.
    pub searches: u32,
}

impl ScanPage {
    pub fn clear(&mut self) {
        self.items.clear();
        self.tuples.clear();
    }

    /// The index tuple of an item, in the layout of the definition; `None` if tuples are not
    /// wanted.
    pub fn tuple(&self, item: &ScanItem) -> Option<IndexTuple<'_>> {
        let bytes = self.tuples.get(item.tuple_at as usize..).filter(|b| !b.is_empty())?;
        Some(IndexTuple::new(bytes))
    }
}

/// A running scan. May be dropped at any time; then items that were found dead are not marked.
///
/// INVARIANT: with an MVCC snapshot, a TID stays valid as long as the snapshot. With any other, as
/// soon as the index page is not pinned, VACUUM may remove the index tuple and the TID may be
/// reused for another row. So such scans visit the rows of a page under the pin that
/// [`IndexScan::next_page`] returns.
pub trait IndexScan: Send {
    /// Replaces `page` by the next matches in this direction; the first call after the beginning or
    /// a rescan starts at the scan's end in this direction. `page` is empty if a number of index
    /// pages had no match, so that the caller need not wait for the next match. `None`: there are
    /// no more; the next call starts again.
    ///
    /// While the caller keeps the pin, VACUUM removes none of the items, so that none of their TIDs
    /// is reused for another row.
    ///
    /// LOCK ORDER: the caller drops the pin before it waits for a heavyweight lock. `all_visible`
    /// is called with an index page latched.
    fn next_page<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        direction: Direction,
        page: &mut ScanPage,
        all_visible: Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>>;

    /// Notes that the row of item number `n` of the current page is dead to all snapshots. The
    /// index tuple is marked when the scan leaves the page, if that is still safe.
    fn kill(&mut self, n: usize, item: &ScanItem);

    /// Restarts the scan with other conditions.
    fn rescan(&mut self, cx: &mut Cx<'_>, keys: Vec<ScanKey>) -> Result<()>;

    /// Restarts the scan with the same conditions and other values: `values[n]` is for condition
    /// number `n`, if that is a plain comparison (other entries are ignored). Does not allocate for
    /// by-value types.
    fn rescan_values(&mut self, cx: &mut Cx<'_>, values: &[DatumRef<'_>]) -> Result<()>;

    /// Marks the current page, for [`IndexScan::restore`]. The caller keeps its items.
    fn mark(&mut self) {}

    /// Returns to the marked page: the next one is that after it. The caller has the items. Not
    /// called while the marked page is the current one.
    fn restore(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        let _ = cx;
        Err(PgError::internal("the access method has no marks"))
    }

    /// Leaves the current page; marks the items that were found dead. A rescan starts the scan
    /// again.
    fn end(&mut self, cx: &mut Cx<'_>) -> Result<()>;
}
