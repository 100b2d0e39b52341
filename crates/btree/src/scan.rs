//! Index scans. A leaf is read as a whole: the matches are copied under the share latch, then the
//! latch is released; the caller decides how long it keeps the pin. Index tuples of dead rows are
//! marked dead when the scan leaves the page, if the page's LSN is the same as when it was read.
//!
//! Counterpart: nbtsearch.c, `_bt_killitems` in nbtutils.c.

use crate::buf::{Cx, Pin, ShareGuard};
use crate::index::Access;
use crate::index::Index;
use crate::scan_key::{Quals, Start};
use access::{AllVisible, Direction, IndexScan, ScanItem, ScanKey, ScanOptions, ScanPage};
use ids::{BlockNo, Lsn, OffsetNo, Tid};
use page::btree::{BTP_HAS_GARBAGE, FLAGS_AT, HIGH_KEY, NONE, Node};
use page::index_tuple::IndexTuple;
use pgerror::{Result, pg_err};
use smallvec::SmallVec;
use sync::Arc;
use types::DatumRef;

/// Pages without a match after which the caller can decide whether it waits for the next match.
const PAGES_PER_STEP: u32 = 8;

/// The page that was read last.
#[derive(Clone, Copy, Debug)]
struct Position {
    block: BlockNo,
    next: BlockNo,
    lsn: Lsn,
    /// There may be matches on pages in this direction.
    more_left: bool,
    more_right: bool,
}

/// A running scan.
pub(crate) struct Scan {
    index: Arc<Index>,
    state: State,
}

/// A scan without its index.
#[derive(Debug)]
struct State {
    quals: Quals,
    options: ScanOptions,
    position: Option<Position>,
    started: bool,
    /// Items of the page whose rows are dead.
    killed: Vec<(Tid, OffsetNo)>,
    mark: Option<Mark>,
}

#[derive(Debug)]
struct Mark {
    position: Position,
    arrays: SmallVec<[usize; 2]>,
}

impl Scan {
    pub(crate) fn new(index: Arc<Index>, keys: Vec<ScanKey>, options: ScanOptions) -> Result<Scan> {
        let state = State {
            quals: Quals::new(&index.schema, keys)?,
            options,
            position: None,
            started: false,
            killed: Vec::new(),
            mark: None,
        };
        Ok(Scan { index, state })
    }
}

impl IndexScan for Scan {
    fn next_page<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        dir: Direction,
        page: &mut ScanPage,
        mut all_visible: Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        let Scan { index, state } = self;
        page.clear();
        if state.quals.contradictory {
            return Ok(None);
        }
        let mut found = if state.position.is_some() {
            state.step(index, cx, dir, page, &mut all_visible)?
        } else {
            if !state.started {
                state.quals.start_arrays(dir);
                state.started = true;
            }
            state.first(index, cx, dir, page, &mut all_visible)?
        };
        while found.is_none() && state.quals.advance_arrays(dir) {
            found = state.first(index, cx, dir, page, &mut all_visible)?;
        }
        state.started = found.is_some();
        Ok(found)
    }

    fn kill(&mut self, _n: usize, item: &ScanItem) {
        self.state.killed.push((item.tid, item.offset));
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, keys: Vec<ScanKey>) -> Result<()> {
        self.state.leave_page(&self.index, cx)?;
        self.state.quals.replace(&self.index.schema, keys)?;
        self.state.started = false;
        self.state.mark = None;
        Ok(())
    }

    fn rescan_values(&mut self, cx: &mut Cx<'_>, values: &[DatumRef<'_>]) -> Result<()> {
        self.state.leave_page(&self.index, cx)?;
        self.state.quals.set_values(&self.index.schema, values);
        self.state.started = false;
        self.state.mark = None;
        Ok(())
    }

    fn mark(&mut self) {
        let State { position, quals, mark, .. } = &mut self.state;
        *mark = position.map(|position| Mark { position, arrays: quals.array_positions() });
    }

    fn restore(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        let state = &mut self.state;
        state.leave_page(&self.index, cx)?;
        if let Some(m) = &state.mark {
            state.position = Some(m.position);
            state.started = true;
            state.quals.set_array_positions(&m.arrays);
        }
        Ok(())
    }

    fn end(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        self.state.leave_page(&self.index, cx)
    }
}

impl State {
    fn leave_page(&mut self, index: &Index, cx: &mut Cx<'_>) -> Result<()> {
        if let Some(p) = self.position.take()
            && !self.killed.is_empty()
        {
            kill_items(index, cx, &p, &self.killed)?;
            self.killed.clear();
        }
        Ok(())
    }

    /// Descends to where the scan begins. Counterpart: `_bt_first`.
    fn first<'p>(
        &mut self,
        index: &Index,
        cx: &mut Cx<'p>,
        dir: Direction,
        out: &mut ScanPage,
        all_visible: &mut Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        out.searches += 1;
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
        let pin = self.read_page(index, page, (offset, dir), more, out, all_visible)?;
        if !out.items.is_empty() {
            return Ok(Some(pin));
        }
        drop(pin);
        self.step(index, cx, dir, out, all_visible)
    }

    /// Copies the matches of a page from an offset on, and releases its latch. Counterpart:
    /// `_bt_readpage`.
    fn read_page<'p>(
        &mut self,
        index: &Index,
        page: ShareGuard<'p>,
        (offset, dir): (OffsetNo, Direction),
        more: (bool, bool),
        out: &mut ScanPage,
        all_visible: &mut Option<AllVisible<'_>>,
    ) -> Result<Pin<'p>> {
        let node = Node(&page);
        let (mut more_left, mut more_right) = more;
        out.clear();
        let (min, max) = (node.first_data_key(), node.max_offset());
        let natts = index.schema.natts();
        let mut go_on = true;
        let mut copy = Copy { want_tuples: self.options.want_tuples, known: None, all_visible };
        match dir {
            Direction::Forward => {
                for off in offset.max(min)..=max {
                    if !self.options.include_killed && node.line_pointer(off).is_dead() {
                        continue;
                    }
                    let tuple = node.tuple(off);
                    if self.quals.check(&index.schema, tuple, natts, dir, &mut go_on)? {
                        copy.item(out, tuple, off, false)?;
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
                more_right &= go_on;
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
                        copy.item(out, tuple, off, true)?;
                    }
                    if !go_on {
                        break;
                    }
                    off -= 1;
                }
                more_left &= go_on;
                out.items.reverse();
            }
        }
        let (block, next, lsn) = (page.block(), node.next(), page.lsn());
        self.position = Some(Position { block, next, lsn, more_left, more_right });
        Ok(page.into_pin())
    }

    /// Reads further pages in the direction until one has matches, at most `PAGES_PER_STEP`.
    /// Counterpart: `_bt_steppage`, `_bt_readnextpage`.
    fn step<'p>(
        &mut self,
        index: &Index,
        cx: &mut Cx<'p>,
        dir: Direction,
        out: &mut ScanPage,
        all_visible: &mut Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        let mut pages = 0;
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
                        cx.prefetch(&index.file, node.next());
                    }
                    self.read_page(index, page, (first, dir), (true, more_right), out, all_visible)?
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
                    self.read_page(index, page, (last, dir), (more_left, true), out, all_visible)?
                }
            };
            pages += 1;
            if !out.items.is_empty() || pages == PAGES_PER_STEP {
                return Ok(Some(pin));
            }
        }
    }
}

/// Copies the matches of one page.
struct Copy<'c, 'v> {
    want_tuples: bool,
    /// The last answer of `all_visible`.
    known: Option<(BlockNo, bool)>,
    all_visible: &'c mut Option<AllVisible<'v>>,
}

impl Copy<'_, '_> {
    /// Appends the items of an index tuple; those of a posting list in the scan's direction.
    #[inline]
    fn item(
        &mut self,
        out: &mut ScanPage,
        tuple: IndexTuple<'_>,
        offset: OffsetNo,
        backward: bool,
    ) -> Result<()> {
        let tuple_at = out.tuples.len() as u32;
        if self.want_tuples {
            let key = tuple.key_size();
            out.tuples.extend_from_slice(&tuple.bytes()[..key]);
            if tuple.is_posting() {
                // The copy is a plain tuple with the key, without the posting list.
                let copy = &mut out.tuples[tuple_at as usize..];
                page::index_tuple::set_size(copy, key);
                page::index_tuple::set_plain_tid(copy, tuple.posting_tid(0));
            }
        }
        let from = out.items.len();
        for tid in tuple.tids() {
            let all_visible = self.is_visible(tid.block)?;
            out.items.push(ScanItem { tid, offset, all_visible, recheck: false, tuple_at });
        }
        if backward {
            out.items[from..].reverse();
        }
        Ok(())
    }

    #[inline]
    fn is_visible(&mut self, block: BlockNo) -> Result<bool> {
        match (self.known, self.all_visible.as_mut()) {
            (Some((b, visible)), _) if b == block => Ok(visible),
            (_, Some(ask)) => {
                let visible = ask(block)?;
                self.known = Some((block, visible));
                Ok(visible)
            }
            (_, None) => Ok(false),
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
fn kill_items(
    index: &Index,
    cx: &mut Cx<'_>,
    p: &Position,
    killed: &[(Tid, OffsetNo)],
) -> Result<()> {
    if !index.file.is_logged() {
        return Ok(());
    }
    let mut tids: Vec<Tid> = killed.iter().map(|k| k.0).collect();
    tids.sort_unstable();
    let offsets = killed.iter().map(|k| k.1);
    let (Some(first), Some(last)) = (offsets.clone().min(), offsets.max()) else { return Ok(()) };
    let mut page = cx.pin(&index.file, p.block)?.share_exclusive();
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
