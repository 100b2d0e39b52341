//! Insertion of a tuple: the descent to a leaf, which extends the keys on its way, and the
//! downlinks of pages that were split.
//!
//! Counterpart: `gistdoinsert`, `gistinserttuples`, `gistfinishsplit`, `gistfixsplit`,
//! `gistFindPath`, `gistFindCorrectParent` in gist.c.

use crate::index::{GistIndex, Mode};
use crate::place::{Change, Half, Placed};
use access::{Cx, HeapLiveness};
use bufmgr::ExclusiveGuard;
use ids::{BlockNo, Lsn, OffsetNo};
use page::Page;
use page::gist::{self, DELETED, FOLLOW_RIGHT, GistPage, ROOT_BLOCK};
use page::index_tuple::IndexTuple;
use pgerror::Result;
use std::collections::VecDeque;

/// A page on the way from the root.
#[derive(Clone, Copy, Debug)]
struct Step {
    block: BlockNo,
    /// The page's LSN when the downlink to the next page was read.
    lsn: Lsn,
    /// Where the downlink to the page was in its parent; `None`: it may have moved.
    downlink: Option<OffsetNo>,
    /// The page was split by this insertion: its parent may have a better choice now.
    retry: bool,
}

/// The way from the root to a page. Pages are addressed by the number of levels above the last one,
/// since splits of the root make the way longer at its start.
struct Path(Vec<Step>);

impl Path {
    fn root() -> Path {
        let root = Step { block: ROOT_BLOCK, lsn: Lsn::INVALID, downlink: None, retry: false };
        Path(vec![root])
    }

    fn at(&mut self, up: usize) -> Option<&mut Step> {
        let index = self.0.len().checked_sub(up + 1)?;
        self.0.get_mut(index)
    }

    /// Replaces all steps above the one at `up`.
    fn replace_above(&mut self, up: usize, steps: Vec<Step>) {
        let kept = self.0.len() - up - 1;
        self.0.splice(..kept, steps);
    }
}

/// What all steps of an insertion need.
struct Insertion<'i, 'h> {
    index: &'i GistIndex,
    mode: Mode,
    heap: Option<&'h mut dyn HeapLiveness>,
}

impl GistIndex {
    /// Inserts a leaf tuple; `heap` looks up rows whose tuples are marked dead (during a build
    /// there are none). Counterpart: `gistdoinsert`.
    ///
    /// WAL: PAGE_UPDATE, PAGE_SPLIT, DELETE, PAGE_REUSE.
    pub(crate) fn insert_tuple(
        &self,
        cx: &mut Cx<'_>,
        tuple: &[u8],
        mode: Mode,
        heap: Option<&mut dyn HeapLiveness>,
    ) -> Result<()> {
        Insertion { index: self, mode, heap }.run(cx, tuple)
    }
}

impl Insertion<'_, '_> {
    fn run(&mut self, cx: &mut Cx<'_>, tuple: &[u8]) -> Result<()> {
        let mut path = Path::root();
        let mut steps = 0u32;
        loop {
            // Concurrent splits may force many repetitions, and damaged pages may form a cycle.
            steps += 1;
            if steps.is_multiple_of(64) {
                (cx.check_interrupts)()?;
            }
            while path.0.last().is_some_and(|step| step.retry) {
                path.0.pop();
            }
            if path.0.is_empty() {
                path = Path::root();
            }
            if self.step(cx, &mut path, tuple)? {
                return Ok(());
            }
        }
    }

    /// True if the key of the downlink to the last page may not be valid any more: the page was
    /// split or deleted since its parent was read.
    fn is_stale(path: &Path, page: &Page) -> bool {
        let parent = path.0.len().checked_sub(2).map(|n| path.0[n].lsn);
        GistPage(page).has(DELETED) || parent.is_some_and(|lsn| lsn < GistPage(page).nsn())
    }

    /// Visits the last page of the path. Returns true if the tuple was inserted.
    fn step(&mut self, cx: &mut Cx<'_>, path: &mut Path, tuple: &[u8]) -> Result<bool> {
        let index = self.index;
        let block = path.0[path.0.len() - 1].block;
        let page = index.share(cx, block)?;
        if GistPage(&page).has(FOLLOW_RIGHT) {
            drop(page);
            self.fix_split(cx, path, block)?;
            path.0.pop();
            return Ok(false);
        }
        if Self::is_stale(path, &page) {
            path.0.pop();
            return Ok(false);
        }
        if GistPage(&page).is_leaf() {
            drop(page);
            return self.insert_on_leaf(cx, path, block, tuple);
        }
        let offset = self.choose(&page, tuple)?;
        let own = GistPage(&page).tuple(offset);
        if gist::is_invalid_link(own) {
            return Err(index.invalid_link());
        }
        let child = index.child(&page, block, offset)?;
        let lsn = page.lsn();
        let adjusted = index.schema.adjusted(own, IndexTuple::new(tuple))?;
        drop(page);
        set_lsn(path, lsn);
        if adjusted.is_none() {
            path.0.push(Step {
                block: child,
                lsn: Lsn::INVALID,
                downlink: Some(offset),
                retry: false,
            });
            return Ok(false);
        }
        self.extend_key(cx, path, block, tuple)
    }

    fn choose(&self, page: &Page, tuple: &[u8]) -> Result<OffsetNo> {
        let index = self.index;
        if page.max_offset() == 0 {
            return Err(index.damage(ROOT_BLOCK, "an inner page without downlinks"));
        }
        index.schema.choose(page, IndexTuple::new(tuple), &mut || index.shared.coin())
    }

    /// Chooses a downlink of an inner page under its exclusive latch, extends its key, and goes on
    /// to its child, unless the page was split.
    fn extend_key(
        &mut self,
        cx: &mut Cx<'_>,
        path: &mut Path,
        block: BlockNo,
        tuple: &[u8],
    ) -> Result<bool> {
        let index = self.index;
        let page = index.exclusive(cx, block)?;
        // The page may have changed while it was not latched.
        let own = GistPage(&page);
        if own.is_leaf() || own.has(FOLLOW_RIGHT) || Self::is_stale(path, &page) {
            return Ok(false);
        }
        let offset = self.choose(&page, tuple)?;
        let link = GistPage(&page).tuple(offset);
        if gist::is_invalid_link(link) {
            return Err(index.invalid_link());
        }
        let child = index.child(&page, block, offset)?;
        set_lsn(path, page.lsn());
        if let Some(new) = index.schema.adjusted(link, IndexTuple::new(tuple))? {
            let change = Change { tuples: &[new], replaces: Some(offset) };
            if self.insert_on(cx, path, 0, page, &change)? {
                // The downlink may be on another page now.
                if block != ROOT_BLOCK {
                    path.0.pop();
                }
                return Ok(false);
            }
        }
        path.0.push(Step { block: child, lsn: Lsn::INVALID, downlink: Some(offset), retry: false });
        Ok(false)
    }

    fn insert_on_leaf(
        &mut self,
        cx: &mut Cx<'_>,
        path: &mut Path,
        block: BlockNo,
        tuple: &[u8],
    ) -> Result<bool> {
        let page = self.index.exclusive(cx, block)?;
        let own = GistPage(&page);
        // The root may have become an inner page; others may have been split or deleted.
        if !own.is_leaf() {
            return Ok(false);
        }
        if own.has(FOLLOW_RIGHT) || Self::is_stale(path, &page) {
            path.0.pop();
            return Ok(false);
        }
        set_lsn(path, page.lsn());
        let change = Change { tuples: &[tuple.to_vec()], replaces: None };
        self.insert_on(cx, path, 0, page, &change)?;
        Ok(true)
    }

    /// Changes the page at `up`; if it is split, inserts the downlinks. Returns whether it was.
    fn insert_on<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        path: &mut Path,
        up: usize,
        page: ExclusiveGuard<'p>,
        change: &Change<'_>,
    ) -> Result<bool> {
        let heap = self.heap.as_mut().map(|heap| &mut **heap as &mut dyn HeapLiveness);
        match self.index.place(cx, page, change, None, (self.mode, heap))? {
            Placed::Here { split, .. } => Ok(split),
            Placed::Halves(halves) => {
                self.finish_split(cx, path, up, halves)?;
                Ok(true)
            }
        }
    }

    /// Completes a split that was interrupted, of the page at the end of the path. Counterpart:
    /// `gistfixsplit`.
    fn fix_split(&mut self, cx: &mut Cx<'_>, path: &mut Path, block: BlockNo) -> Result<()> {
        let index = self.index;
        let mut page = index.exclusive(cx, block)?;
        if !GistPage(&page).has(FOLLOW_RIGHT) {
            return Ok(());
        }
        let mut halves = Vec::new();
        loop {
            let downlink = self.form_downlink(cx, path, &page)?;
            let next = GistPage(&page).has(FOLLOW_RIGHT).then(|| GistPage(&page).right_link());
            halves.push(Half { page, downlink });
            match next {
                Some(BlockNo::INVALID) => return Err(index.corrupted(block)),
                Some(next) if halves.iter().any(|half| half.page.block() == next) => {
                    return Err(index.corrupted(next));
                }
                Some(next) => page = index.exclusive(cx, next)?,
                None => break,
            }
        }
        self.finish_split(cx, path, 0, halves)
    }

    /// The downlink of a page with the union of its keys; of an empty page with the key of the
    /// downlink to the last page of the path.
    fn form_downlink<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        path: &mut Path,
        page: &ExclusiveGuard<'p>,
    ) -> Result<Vec<u8>> {
        let index = self.index;
        if page.max_offset() > 0 {
            let tuples: Vec<IndexTuple<'_>> =
                (1..=page.max_offset()).map(|o| GistPage(page).tuple(o)).collect();
            let unions = index.schema.unions(&tuples)?;
            return index.schema.form_inner(&unions, page.block());
        }
        let parent = self.parent_of(cx, path, 0)?;
        let offset = path.at(0).and_then(|step| step.downlink);
        let offset = offset.ok_or_else(|| index.lost_parent(page.block()))?;
        let tuple = GistPage(&parent).tuple(offset).bytes().to_vec();
        Ok(crate::schema::with_tid(tuple, gist::downlink(page.block())))
    }

    /// Inserts the downlinks of the pages of a split from right to left; with that of the second
    /// page it replaces the one of the first, which is the page at `up`.
    fn finish_split<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        path: &mut Path,
        up: usize,
        halves: Vec<Half<'p>>,
    ) -> Result<()> {
        let index = self.index;
        let mut halves = halves;
        let mut parent = None;
        while halves.len() > 1 {
            let mut page = match parent.take() {
                Some(page) => self.correct_parent(cx, path, up, page)?,
                None => self.parent_of(cx, path, up)?,
            };
            let Some(right) = halves.pop() else { break };
            let is_last = halves.len() == 1;
            let Some(left) = halves.last_mut() else { break };
            let mut tuples = Vec::with_capacity(2);
            let mut replaces = None;
            if is_last {
                tuples.push(std::mem::take(&mut left.downlink));
                replaces = path.at(up).and_then(|step| step.downlink);
            }
            tuples.push(right.downlink);
            let change = Change { tuples: &tuples, replaces };
            let placed = index.place(cx, page, &change, Some(&mut left.page), (self.mode, None))?;
            drop(right.page);
            if is_last {
                halves.clear();
            }
            match placed {
                Placed::Here { page: same, split } => {
                    page = same;
                    if split && let Some(step) = path.at(up) {
                        step.downlink = None;
                    }
                }
                Placed::Halves(above) => {
                    let block = above.first().map(|half| half.page.block());
                    self.finish_split(cx, path, up + 1, above)?;
                    if let Some(step) = path.at(up) {
                        step.downlink = None;
                    }
                    if is_last {
                        break;
                    }
                    page = index.exclusive(cx, block.unwrap_or(ROOT_BLOCK))?;
                }
            }
            parent = Some(page);
        }
        if let Some(step) = path.at(up) {
            // The replacement has moved it, too.
            step.downlink = None;
            step.retry = true;
        }
        Ok(())
    }

    /// Latches the parent of the page at `up`, whose step then has the place of its downlink.
    fn parent_of<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        path: &mut Path,
        up: usize,
    ) -> Result<ExclusiveGuard<'p>> {
        let child = path.at(up).map_or(ROOT_BLOCK, |step| step.block);
        let Some(parent) = path.at(up + 1) else { return Err(self.index.lost_parent(child)) };
        let parent = self.index.exclusive(cx, parent.block)?;
        self.correct_parent(cx, path, up, parent)
    }

    /// From a page that was the parent of the page at `up`, goes to the one that is now.
    /// Counterpart: `gistFindCorrectParent`.
    fn correct_parent<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        path: &mut Path,
        up: usize,
        mut parent: ExclusiveGuard<'p>,
    ) -> Result<ExclusiveGuard<'p>> {
        let index = self.index;
        let Some(own) = path.at(up).copied() else { return Err(index.lost_parent(ROOT_BLOCK)) };
        loop {
            let still = own.downlink.filter(|offset| {
                *offset <= parent.max_offset() && GistPage(&parent).child(*offset) == own.block
            });
            let found = match GistPage(&parent).is_leaf() {
                // The root was a leaf when the path was made.
                true => None,
                false => still.or_else(|| GistPage(&parent).find_child(own.block)),
            };
            if let Some(offset) = found {
                if let Some(step) = path.at(up) {
                    step.downlink = Some(offset);
                }
                let block = parent.block();
                if let Some(step) = path.at(up + 1)
                    && step.block != block
                {
                    (step.block, step.downlink) = (block, None);
                }
                return Ok(parent);
            }
            let next = GistPage(&parent).right_link();
            drop(parent);
            (cx.check_interrupts)()?;
            if next == BlockNo::INVALID {
                // The root was split: the path begins with another page.
                let above = find_path(index, cx, own.block)?;
                let block = above.last().map_or(ROOT_BLOCK, |step| step.block);
                path.replace_above(up, above);
                parent = index.exclusive(cx, block)?;
                continue;
            }
            parent = index.exclusive(cx, next)?;
        }
    }
}

/// Notes the LSN of the last page of the path.
fn set_lsn(path: &mut Path, lsn: Lsn) {
    if let Some(step) = path.at(0) {
        step.lsn = lsn;
    }
}

/// The path to the parent of a page, found by a search of all inner pages, level by level. Latches
/// one page at a time. Counterpart: `gistFindPath`.
fn find_path(index: &GistIndex, cx: &mut Cx<'_>, child: BlockNo) -> Result<Vec<Step>> {
    let mut visited: Vec<(Step, Option<usize>)> = Vec::new();
    let mut queue = VecDeque::from([(ROOT_BLOCK, None, None)]);
    while let Some((block, downlink, parent)) = queue.pop_front() {
        (cx.check_interrupts)()?;
        let page = index.share(cx, block)?;
        let own = GistPage(&page);
        // All inner pages have been visited.
        if own.is_leaf() {
            break;
        }
        if own.has(FOLLOW_RIGHT) {
            return Err(index.incomplete_split());
        }
        let parent_lsn = parent.map(|n: usize| visited[n].0.lsn);
        if parent_lsn.is_some_and(|lsn| lsn < own.nsn()) && own.right_link() != BlockNo::INVALID {
            // Split since the parent was read, which had no downlink of the right page then. Inner
            // pages are visited before leaves.
            queue.push_front((own.right_link(), None, parent));
        }
        let number = visited.len();
        visited.push((Step { block, lsn: page.lsn(), downlink, retry: false }, parent));
        if own.find_child(child).is_some() {
            let mut path = Vec::new();
            let mut at = Some(number);
            while let Some(n) = at {
                path.push(visited[n].0);
                at = visited[n].1;
            }
            path.reverse();
            return Ok(path);
        }
        if number > index_pages(index, cx)? {
            return Err(index.corrupted(block));
        }
        for offset in 1..=page.max_offset() {
            queue.push_back((index.child(&page, block, offset)?, Some(offset), Some(number)));
        }
    }
    Err(index.lost_parent(child))
}

fn index_pages(index: &GistIndex, cx: &mut Cx<'_>) -> Result<usize> {
    Ok(cx.nblocks(&index.file)?.0 as usize)
}
