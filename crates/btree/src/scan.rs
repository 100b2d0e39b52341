//! Index scans. A leaf is read as a whole: the matches are copied under the share latch, then the
//! latch is released, and the pin too unless the caller keeps it ([`Scan::next_page_pinned`]).
//! Index tuples of dead rows are marked dead when the scan leaves the page, if the page's LSN is
//! the same as when it was read.
//!
//! Counterpart: nbtsearch.c, `_bt_killitems` in nbtutils.c.

use crate::Index;
use crate::buf::{Cx, Pin, ShareGuard};
use crate::index::Access;
use crate::scan_key::{Direction, Quals, ScanKey, Start};
use ids::{BlockNo, Lsn, OffsetNo, Tid};
use page::btree::{BTP_HAS_GARBAGE, FLAGS_AT, HIGH_KEY, NONE, Node};
use page::index_tuple::IndexTuple;
use pgerror::{Result, pg_err};
use smallvec::SmallVec;
use sync::Arc;
use types::DatumRef;

/// A match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanItem {
    pub tid: Tid,
    /// Offset of the index tuple on its page when it was read.
    pub offset: OffsetNo,
    /// The heap page was all-visible while the index tuple was latched (index-only scans).
    pub all_visible: bool,
    tuple_at: u32,
}

/// What a scan returns besides TIDs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanOptions {
    /// Copy the index tuples.
    pub want_tuples: bool,
    /// Return items marked dead too.
    pub include_killed: bool,
}

/// Returns whether a heap block is all-visible. Called while an index page is read, under its
/// latch. Only an answer from before the latch is released is safe: until then VACUUM cannot have
/// removed the page's index tuples, so it cannot have removed their dead rows from the heap and
/// then set the block all-visible.
pub type AllVisible<'a> = &'a mut dyn FnMut(BlockNo) -> Result<bool>;

/// Matches of one page.
#[derive(Debug, Default)]
struct Position {
    block: BlockNo,
    next: BlockNo,
    lsn: Lsn,
    /// In index order.
    items: Vec<ScanItem>,
    tuples: Vec<u8>,
    /// There may be matches on pages in this direction.
    more_left: bool,
    more_right: bool,
}

/// A running scan.
///
/// INVARIANT: with an MVCC snapshot, a TID stays valid as long as the snapshot. With any other, as
/// soon as the leaf is not pinned, VACUUM may remove the index tuple and the TID may be reused for
/// another row. So such scans visit the rows of a page under its pin, by
/// [`Scan::next_page_pinned`].
#[derive(Debug)]
pub struct Scan {
    quals: Quals,
    options: ScanOptions,
    /// May be shared with `mark`.
    position: Option<Arc<Position>>,
    /// The last page's memory, for reuse.
    spare: Option<Arc<Position>>,
    at: usize,
    started: bool,
    killed: Vec<u32>,
    mark: Option<Mark>,
}

#[derive(Debug)]
struct Mark {
    position: Arc<Position>,
    at: usize,
    arrays: SmallVec<[usize; 2]>,
}

impl Scan {
    pub fn new(index: &Index, keys: Vec<ScanKey>, options: ScanOptions) -> Result<Scan> {
        Ok(Scan {
            quals: Quals::new(&index.schema, keys)?,
            options,
            position: None,
            spare: None,
            at: 0,
            started: false,
            killed: Vec::new(),
            mark: None,
        })
    }

    /// Restarts the scan with other conditions.
    pub fn rescan(&mut self, index: &Index, cx: &mut Cx<'_>, keys: Vec<ScanKey>) -> Result<()> {
        self.leave_page(index, cx)?;
        self.quals.replace(&index.schema, keys)?;
        self.started = false;
        self.mark = None;
        Ok(())
    }

    /// Restarts the scan with the same conditions and other values: `values[n]` is for condition
    /// number `n`, if that is a plain comparison (other entries are ignored). Does not allocate for
    /// by-value types.
    pub fn rescan_values(
        &mut self,
        index: &Index,
        cx: &mut Cx<'_>,
        values: &[DatumRef<'_>],
    ) -> Result<()> {
        self.leave_page(index, cx)?;
        self.quals.set_values(&index.schema, values);
        self.started = false;
        self.mark = None;
        Ok(())
    }

    /// The next match.
    pub fn next(
        &mut self,
        index: &Index,
        cx: &mut Cx<'_>,
        dir: Direction,
        all_visible: Option<AllVisible<'_>>,
    ) -> Result<Option<ScanItem>> {
        let inside = match (&self.position, dir) {
            (Some(p), Direction::Forward) => self.at + 1 < p.items.len(),
            (Some(_), Direction::Backward) => self.at > 0,
            (None, _) => false,
        };
        if inside {
            match dir {
                Direction::Forward => self.at += 1,
                Direction::Backward => self.at -= 1,
            }
        } else if !self.next_page(index, cx, dir, all_visible)? {
            return Ok(None);
        }
        Ok(self.position.as_ref().map(|p| p.items[self.at]))
    }

    /// Moves to the next page with matches, whose first item in the scan's direction becomes the
    /// current one. For callers that process all matches of a page: see [`Scan::items`].
    pub fn next_page(
        &mut self,
        index: &Index,
        cx: &mut Cx<'_>,
        dir: Direction,
        all_visible: Option<AllVisible<'_>>,
    ) -> Result<bool> {
        Ok(self.next_page_pinned(index, cx, dir, all_visible)?.is_some())
    }

    /// As [`Scan::next_page`], and returns the page's pin; `None` at the end. While the caller
    /// keeps the pin, VACUUM cannot get the page's cleanup latch, so no TID of the items is reused
    /// for another row.
    ///
    /// LOCK ORDER: the caller must drop the pin before it waits for a heavyweight lock.
    pub fn next_page_pinned<'p>(
        &mut self,
        index: &Index,
        cx: &mut Cx<'p>,
        dir: Direction,
        mut all_visible: Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        if self.quals.contradictory {
            return Ok(None);
        }
        let mut found = if self.position.is_some() {
            self.step(index, cx, dir, &mut all_visible)?
        } else {
            if !self.started {
                self.quals.start_arrays(dir);
                self.started = true;
            }
            self.first(index, cx, dir, &mut all_visible)?
        };
        while found.is_none() && self.quals.advance_arrays(dir) {
            found = self.first(index, cx, dir, &mut all_visible)?;
        }
        self.started = found.is_some();
        Ok(found)
    }

    /// All matches of the current page.
    pub fn items(&self) -> &[ScanItem] {
        self.position.as_ref().map_or(&[], |p| &p.items)
    }

    /// The index tuple of an item of the current page, if tuples are wanted.
    pub fn tuple(&self, item: &ScanItem) -> Option<IndexTuple<'_>> {
        if !self.options.want_tuples {
            return None;
        }
        let p = self.position.as_ref()?;
        p.tuples.get(item.tuple_at as usize..).map(IndexTuple::new)
    }

    /// Notes that the row of the current item is dead to all snapshots.
    pub fn kill_current(&mut self) {
        self.kill(self.at);
    }

    /// Notes that the row of item number `n` of [`Scan::items`] is dead to all snapshots.
    pub fn kill(&mut self, n: usize) {
        self.killed.push(n as u32);
    }

    /// Marks the current item, for [`Scan::restore`].
    pub fn mark(&mut self) {
        self.mark = self.position.as_ref().map(|p| Mark {
            position: p.clone(),
            at: self.at,
            arrays: self.quals.array_positions(),
        });
    }

    /// Returns to the marked item, which becomes the current one.
    pub fn restore(&mut self, index: &Index, cx: &mut Cx<'_>) -> Result<()> {
        if let (Some(m), Some(p)) = (&self.mark, &self.position)
            && Arc::ptr_eq(&m.position, p)
        {
            self.at = m.at;
            return Ok(());
        }
        self.leave_page(index, cx)?;
        if let Some(m) = &self.mark {
            self.position = Some(m.position.clone());
            self.at = m.at;
            self.started = true;
            self.quals.set_array_positions(&m.arrays);
        }
        Ok(())
    }

    /// Ends the scan; marks the items that were found dead.
    pub fn end(&mut self, index: &Index, cx: &mut Cx<'_>) -> Result<()> {
        self.leave_page(index, cx)
    }

    fn leave_page(&mut self, index: &Index, cx: &mut Cx<'_>) -> Result<()> {
        if let Some(p) = self.position.take() {
            if !self.killed.is_empty() {
                kill_items(index, cx, &p, &self.killed)?;
                self.killed.clear();
            }
            self.spare = Some(p);
        }
        Ok(())
    }

    /// Descends to where the scan begins. Counterpart: `_bt_first`.
    fn first<'p>(
        &mut self,
        index: &Index,
        cx: &mut Cx<'p>,
        dir: Direction,
        all_visible: &mut Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        let (page, offset) = match self.quals.start(&index.schema, dir) {
            Start::End => {
                let Some(page) = index.endpoint(cx, 0, dir == Direction::Backward)? else {
                    return Ok(None);
                };
                let node = Node(&page);
                let offset = match dir {
                    Direction::Forward => node.first_data_key(),
                    Direction::Backward => node.max_offset(),
                };
                (page, offset)
            }
            Start::At { key, go_back } => {
                let Some((_, page)) = index.search(cx, &key, Access::Read)? else {
                    return Ok(None);
                };
                let page = page.into_share();
                let offset = index.schema.binary_search(&key, Node(&page))?;
                (page, if go_back { offset - 1 } else { offset })
            }
        };
        let forward = dir == Direction::Forward;
        let more = (!forward, forward);
        let pin = self.read_page(index, page, offset, dir, more, all_visible)?;
        if self.has_items() {
            return Ok(Some(pin));
        }
        drop(pin);
        self.step(index, cx, dir, all_visible)
    }

    fn has_items(&self) -> bool {
        self.position.as_ref().is_some_and(|p| !p.items.is_empty())
    }

    /// Copies the matches of a page from `offset` on, and releases its latch. Counterpart:
    /// `_bt_readpage`.
    fn read_page<'p>(
        &mut self,
        index: &Index,
        page: ShareGuard<'p>,
        offset: OffsetNo,
        dir: Direction,
        more: (bool, bool),
        all_visible: &mut Option<AllVisible<'_>>,
    ) -> Result<Pin<'p>> {
        let node = Node(&page);
        let mut position = self.spare.take().unwrap_or_default();
        if Arc::get_mut(&mut position).is_none() {
            // The mark refers to the last page.
            position = Arc::default();
        }
        let p = Arc::get_mut(&mut position).expect("it is not shared, as checked above");
        p.items.clear();
        p.tuples.clear();
        p.block = page.block();
        p.next = node.next();
        p.lsn = page.lsn();
        (p.more_left, p.more_right) = more;
        let (min, max) = (node.first_data_key(), node.max_offset());
        let natts = index.schema.natts();
        let mut go_on = true;
        let mut known: Option<(BlockNo, bool)> = None;
        let mut take = |p: &mut Position, off: OffsetNo, backward: bool| -> Result<()> {
            let tuple = node.tuple(off);
            let tuple_at = p.tuples.len() as u32;
            if self.options.want_tuples {
                let key = tuple.key_size();
                p.tuples.extend_from_slice(&tuple.bytes()[..key]);
                if tuple.is_posting() {
                    // The copy is a plain tuple with the key, without the posting list.
                    let copy = &mut p.tuples[tuple_at as usize..];
                    page::index_tuple::set_size(copy, key);
                    page::index_tuple::set_plain_tid(copy, tuple.posting_tid(0));
                }
            }
            let from = p.items.len();
            for tid in tuple.tids() {
                let visible = match (known, all_visible.as_mut()) {
                    (Some((b, v)), _) if b == tid.block => v,
                    (_, Some(ask)) => {
                        let v = ask(tid.block)?;
                        known = Some((tid.block, v));
                        v
                    }
                    (_, None) => false,
                };
                p.items.push(ScanItem { tid, offset: off, all_visible: visible, tuple_at });
            }
            if backward {
                p.items[from..].reverse();
            }
            Ok(())
        };
        match dir {
            Direction::Forward => {
                for off in offset.max(min)..=max {
                    if !self.options.include_killed && node.line_pointer(off).is_dead() {
                        continue;
                    }
                    let tuple = node.tuple(off);
                    if self.quals.check(&index.schema, tuple, natts, dir, &mut go_on)? {
                        take(p, off, false)?;
                    }
                    if !go_on {
                        break;
                    }
                }
                if go_on && !node.is_rightmost() {
                    // The high key may show that the next page has no matches.
                    let high = node.tuple(HIGH_KEY);
                    let present = high.natts(natts);
                    self.quals.check(&index.schema, high, present, dir, &mut go_on)?;
                }
                p.more_right &= go_on;
            }
            Direction::Backward => {
                let mut off = offset.min(max);
                while off >= min && off > 0 {
                    let dead = !self.options.include_killed && node.line_pointer(off).is_dead();
                    if dead && off > min {
                        off -= 1;
                        continue;
                    }
                    let tuple = node.tuple(off);
                    if self.quals.check(&index.schema, tuple, natts, dir, &mut go_on)? && !dead {
                        take(p, off, true)?;
                    }
                    if !go_on {
                        break;
                    }
                    off -= 1;
                }
                p.more_left &= go_on;
                p.items.reverse();
            }
        }
        self.at = match dir {
            Direction::Forward => 0,
            Direction::Backward => p.items.len().saturating_sub(1),
        };
        self.position = Some(position);
        Ok(page.into_pin())
    }

    /// Reads further pages in the direction until one has matches. Counterpart: `_bt_steppage`,
    /// `_bt_readnextpage`.
    fn step<'p>(
        &mut self,
        index: &Index,
        cx: &mut Cx<'p>,
        dir: Direction,
        all_visible: &mut Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        loop {
            let Some(p) = &self.position else { return Ok(None) };
            let (block, next) = (p.block, p.next);
            let (more_left, more_right) = (p.more_left, p.more_right);
            self.leave_page(index, cx)?;
            // Sibling links of a damaged index may form a cycle.
            (cx.check_interrupts)()?;
            let pin = match dir {
                Direction::Forward => {
                    if !more_right || next == NONE {
                        return Ok(None);
                    }
                    let mut page = index.share(cx, next)?;
                    while Node(&page).is_ignored() {
                        let next = Node(&page).next();
                        if next == NONE {
                            return Ok(None);
                        }
                        drop(page);
                        (cx.check_interrupts)()?;
                        page = index.share(cx, next)?;
                    }
                    let node = Node(&page);
                    let first = node.first_data_key();
                    if node.next() != NONE {
                        cx.prefetch(index, node.next());
                    }
                    self.read_page(index, page, first, dir, (true, more_right), all_visible)?
                }
                Direction::Backward => {
                    if !more_left {
                        return Ok(None);
                    }
                    let mut at = block;
                    let page = loop {
                        let Some(page) = walk_left(index, cx, at)? else { return Ok(None) };
                        if !Node(&page).is_ignored() {
                            break page;
                        }
                        at = page.block();
                    };
                    let last = Node(&page).max_offset();
                    self.read_page(index, page, last, dir, (more_left, true), all_visible)?
                }
            };
            if self.has_items() {
                return Ok(Some(pin));
            }
        }
    }
}

/// The left sibling of a page that may have been split or deleted since it was read; `None` if
/// there is none. It may be half-dead. Counterpart: `_bt_walk_left`.
fn walk_left<'p>(index: &Index, cx: &mut Cx<'p>, block: BlockNo) -> Result<Option<ShareGuard<'p>>> {
    let mut page = index.share(cx, block)?;
    loop {
        let from = page.block();
        let left = Node(&page).prev();
        if left == NONE {
            return Ok(None);
        }
        drop(page);
        (cx.check_interrupts)()?;
        page = index.share(cx, left)?;
        // If the left sibling was split, the page wanted is to the right of it. If it is not found
        // within a few steps, `from` has probably been deleted.
        for _ in 0..5 {
            let node = Node(&page);
            if !node.is_deleted() && node.next() == from {
                return Ok(Some(page));
            }
            let next = node.next();
            if next == NONE {
                break;
            }
            drop(page);
            page = index.share(cx, next)?;
        }
        drop(page);
        page = index.share(cx, from)?;
        if Node(&page).is_deleted() {
            // Its key space was transferred to the next live page on the right.
            while Node(&page).is_deleted() {
                let next = Node(&page).next();
                if next == NONE {
                    return Err(index.fell_off());
                }
                drop(page);
                page = index.share(cx, next)?;
            }
        } else if Node(&page).prev() == left {
            return Err(pg_err!(
                INTERNAL_ERROR,
                "could not find left sibling of block {from} in index \"{}\"",
                index.name
            ));
        }
    }
}

/// Marks items dead whose rows are dead to all snapshots, if the page has not changed since it was
/// read. An unchanged LSN proves that; so nothing is marked in an unlogged index.
fn kill_items(index: &Index, cx: &mut Cx<'_>, p: &Position, killed: &[u32]) -> Result<()> {
    if !cx.lsn_tracks_changes(index) {
        return Ok(());
    }
    let mut tids: Vec<Tid> = killed.iter().map(|&n| p.items[n as usize].tid).collect();
    tids.sort_unstable();
    let offsets = killed.iter().map(|&n| p.items[n as usize].offset);
    let (Some(first), Some(last)) = (offsets.clone().min(), offsets.max()) else { return Ok(()) };
    let mut page = cx.pin(index, p.block)?.share_exclusive();
    if page.lsn() != p.lsn {
        return Ok(());
    }
    let node = Node(&page);
    let dead: Vec<OffsetNo> = (first..=last.min(node.max_offset()))
        .filter(|&off| {
            !node.line_pointer(off).is_dead()
                && node.tuple(off).tids().all(|t| tids.binary_search(&t).is_ok())
        })
        .collect();
    if !dead.is_empty() {
        page.set_hints(Some(cx.scratch), |hints| {
            for off in &dead {
                hints.mark_dead(*off);
            }
            hints.or_u16(FLAGS_AT, BTP_HAS_GARBAGE);
            true
        });
    }
    Ok(())
}
