//! Changes of one page: tuples are added, one of them may be replaced, and the page is split if
//! they do not fit.
//!
//! Counterpart: `gistplacetopage`, `gistprunepage` in gist.c.

use crate::index::{GistIndex, Mode};
use crate::records::{self, Delete, PageSplit, PageUpdate};
use crate::split::Part;
use access::{Cx, DeleteCandidate, DeleteOp, Edit, HeapLiveness};
use bufmgr::ExclusiveGuard;
use ids::{BlockNo, Lsn, OffsetNo, Xid};
use page::gist::{self, FOLLOW_RIGHT, GistPage, HAS_GARBAGE, LEAF, ROOT_BLOCK, change_flags};
use page::item::LINE_POINTER_SIZE;
use page::{Page, PageMut, index_space};
use pgerror::{PgError, Result};
use wal::RegFlags;

/// Most pages into which a page is split: the blocks of a record, without that of a left child.
const PARTS_MAX: usize = 30;

/// A page of a split whose downlink is to be inserted into the parent.
pub(crate) struct Half<'p> {
    pub page: ExclusiveGuard<'p>,
    pub downlink: Vec<u8>,
}

/// The result of a change.
pub(crate) enum Placed<'p> {
    /// The tuples are on the page, or, if that is the root and was split, on pages below it.
    Here { page: ExclusiveGuard<'p>, split: bool },
    /// The page was split into these, from left to right; the first one is the page itself.
    Halves(Vec<Half<'p>>),
}

/// What is changed on a page.
pub(crate) struct Change<'c> {
    pub tuples: &'c [Vec<u8>],
    /// The tuple that is removed.
    pub replaces: Option<OffsetNo>,
}

impl Change<'_> {
    /// True if the page lacks the space. Counterpart: `gistnospace`.
    fn overflows(&self, page: &Page, reserve: usize) -> bool {
        let needs: usize = self.tuples.iter().map(|t| t.len() + LINE_POINTER_SIZE).sum();
        let gains = self.replaces.map_or(0, |o| page.item(o).len() + LINE_POINTER_SIZE);
        index_space::free_space(page) + gains < needs + reserve
    }

    fn apply(&self, page: PageMut<'_>) -> Result<bool> {
        match (self.replaces, self.tuples) {
            (Some(offset), [tuple]) => return index_space::overwrite(page, offset, tuple),
            (Some(offset), _) => index_space::delete(page, offset)?,
            (None, _) => {}
        }
        Ok(self.tuples.iter().all(|tuple| index_space::append(page, tuple)))
    }
}

impl GistIndex {
    /// Changes a page. With `left`, the change adds the downlink of the page to the right of it,
    /// whose split is complete then.
    ///
    /// WAL: PAGE_UPDATE or PAGE_SPLIT; DELETE.
    pub(crate) fn place<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut page: ExclusiveGuard<'p>,
        change: &Change<'_>,
        left: Option<&mut ExclusiveGuard<'p>>,
        (mode, heap): (Mode, Option<&mut dyn HeapLiveness>),
    ) -> Result<Placed<'p>> {
        // Descents complete splits. This one was interrupted meanwhile; the next insertion does.
        if GistPage(&page).has(FOLLOW_RIGHT) {
            return Err(self.incomplete_split());
        }
        page.check_index_items()?;
        if change.overflows(&page, mode.reserve) {
            if let Some(heap) = heap {
                self.prune(cx, &mut page, heap)?;
            }
            if change.overflows(&page, mode.reserve) {
                return self.split_page(cx, page, change, left, mode);
            }
        }
        let unlogged = self.unlogged_lsn(cx, mode)?;
        let mut edit = self.edit(cx);
        if !change.apply(edit.change(&mut page, 0, RegFlags::STANDARD))? {
            return Err(self.does_not_fit());
        }
        let (deleted, inserted) = (change.replaces.iter().len(), change.tuples.len());
        let rec = PageUpdate { deleted: deleted as u16, inserted: inserted as u16 };
        edit.main(&rec.encode());
        if let Some(offset) = change.replaces {
            edit.block_data(0, &offset.to_le_bytes());
        }
        change.tuples.iter().for_each(|tuple| edit.block_data(0, tuple));
        complete_left(&mut edit, left, 1);
        edit.log_or_set(records::PAGE_UPDATE, unlogged)?;
        Ok(Placed::Here { page, split: false })
    }

    /// Splits the page into as many as the tuples need.
    ///
    /// WAL: PAGE_SPLIT.
    fn split_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: ExclusiveGuard<'p>,
        change: &Change<'_>,
        left: Option<&mut ExclusiveGuard<'p>>,
        mode: Mode,
    ) -> Result<Placed<'p>> {
        let mut tuples: Vec<Vec<u8>> =
            (1..=page.max_offset()).map(|o| page.item(o).to_vec()).collect();
        if let Some(offset) = change.replaces {
            tuples.remove(usize::from(offset) - 1);
        }
        tuples.extend(change.tuples.iter().cloned());
        let parts = self.schema.split(tuples)?;
        if parts.len() > PARTS_MAX {
            return Err(PgError::internal(format!(
                "GiST page split into too many halves ({}, maximum {PARTS_MAX})",
                parts.len()
            )));
        }
        match page.block() == ROOT_BLOCK {
            true => self.split_root(cx, page, parts, left, mode),
            false => self.split_inner(cx, page, parts, left, mode),
        }
    }

    /// Splits a page other than the root; the new pages are to the right of it.
    fn split_inner<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: ExclusiveGuard<'p>,
        mut parts: Vec<Part>,
        left: Option<&mut ExclusiveGuard<'p>>,
        mode: Mode,
    ) -> Result<Placed<'p>> {
        let rec = PageSplit {
            right_link: GistPage(&page).right_link(),
            nsn: GistPage(&page).nsn(),
            leaf: GistPage(&page).is_leaf(),
            pages: parts.len() as u16,
            follow_right: true,
        };
        let mut pages = vec![page];
        for _ in 1..parts.len() {
            pages.push(self.new_page(cx)?);
        }
        let downlinks = links(&mut parts, &pages);
        let unlogged = self.unlogged_lsn(cx, mode)?;
        let mut edit = self.edit(cx);
        edit.main(&rec.encode());
        self.fill(&mut edit, 1, &rec, &mut pages, &parts)?;
        complete_left(&mut edit, left, 0);
        edit.log_or_set(records::PAGE_SPLIT, unlogged)?;
        let halves = pages.into_iter().zip(downlinks);
        Ok(Placed::Halves(halves.map(|(page, downlink)| Half { page, downlink }).collect()))
    }

    /// Moves the contents of the root to new pages, whose downlinks it gets.
    fn split_root<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut root: ExclusiveGuard<'p>,
        mut parts: Vec<Part>,
        left: Option<&mut ExclusiveGuard<'p>>,
        mode: Mode,
    ) -> Result<Placed<'p>> {
        let rec = PageSplit {
            right_link: BlockNo::INVALID,
            nsn: Lsn::INVALID,
            leaf: GistPage(&root).is_leaf(),
            pages: parts.len() as u16 + 1,
            follow_right: true,
        };
        let mut pages = Vec::with_capacity(parts.len());
        for _ in 0..parts.len() {
            pages.push(self.new_page(cx)?);
        }
        let downlinks = links(&mut parts, &pages);
        let unlogged = self.unlogged_lsn(cx, mode)?;
        let mut edit = self.edit(cx);
        edit.main(&rec.encode());
        let changed = edit.change(&mut root, 1, RegFlags::WILL_INIT);
        gist::init(changed, 0);
        if !downlinks.iter().all(|tuple| index_space::append(changed, tuple)) {
            return Err(self.does_not_fit());
        }
        edit.block_data(1, &records::page_data(downlinks.iter().map(Vec::as_slice)));
        self.fill(&mut edit, 2, &rec, &mut pages, &parts)?;
        complete_left(&mut edit, left, 0);
        edit.log_or_set(records::PAGE_SPLIT, unlogged)?;
        drop(pages);
        Ok(Placed::Here { page: root, split: true })
    }

    /// Writes the contents of the pages of a split, which are blocks `first`, … of the record.
    fn fill<'p>(
        &self,
        edit: &mut Edit<'_, 'p>,
        first: u8,
        rec: &PageSplit,
        pages: &mut [ExclusiveGuard<'p>],
        parts: &[Part],
    ) -> Result<()> {
        let blocks: Vec<BlockNo> = pages.iter().map(|p| p.block()).collect();
        for (n, (page, part)) in pages.iter_mut().zip(parts).enumerate() {
            let id = first + n as u8;
            let changed = edit.change(page, id, RegFlags::WILL_INIT);
            gist::init(changed, if rec.leaf { LEAF } else { 0 });
            if !part.tuples.iter().all(|tuple| index_space::append(changed, tuple)) {
                return Err(self.does_not_fit());
            }
            let next = blocks.get(n + 1).copied();
            gist::set_right_link(changed, next.unwrap_or(rec.right_link));
            gist::set_nsn(changed, rec.nsn);
            // The downlinks of a split root are part of the same change.
            if next.is_some() && first == 1 {
                change_flags(changed, FOLLOW_RIGHT, 0);
            }
            edit.block_data(id, &records::page_data(part.tuples.iter().map(Vec::as_slice)));
        }
        Ok(())
    }

    /// Removes the items of a full leaf that scans have marked dead.
    ///
    /// WAL: DELETE.
    fn prune<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        heap: &mut dyn HeapLiveness,
    ) -> Result<()> {
        let own = GistPage(page);
        if !own.is_leaf() || !own.has(HAS_GARBAGE) {
            return Ok(());
        }
        let dead: Vec<OffsetNo> =
            (1..=page.max_offset()).filter(|&off| page.line_pointer(off).is_dead()).collect();
        if dead.is_empty() {
            return Ok(());
        }
        let mut horizon = Xid::INVALID;
        if cx.logs_for_standby(&self.file) {
            horizon = heap.delete_candidates(&mut candidates(page, &dead))?;
        }
        let unlogged = self.unlogged_lsn(cx, Mode::NORMAL)?;
        let mut edit = self.edit(cx);
        let changed = edit.change(page, 0, RegFlags::STANDARD);
        index_space::delete_many(changed, &dead)?;
        change_flags(changed, 0, HAS_GARBAGE);
        edit.main(&Delete { horizon, count: dead.len() as u16 }.encode());
        edit.main(&records::offsets(&dead));
        edit.log_or_set(records::DELETE, unlogged)?;
        Ok(())
    }
}

/// The downlinks of the pages of a split.
fn links(parts: &mut [Part], pages: &[ExclusiveGuard<'_>]) -> Vec<Vec<u8>> {
    parts.iter_mut().zip(pages).map(|(part, page)| part.downlink_to(page.block())).collect()
}

/// Registers the left page of a split whose right page gets its downlink by this record.
fn complete_left<'p>(edit: &mut Edit<'_, 'p>, left: Option<&mut ExclusiveGuard<'p>>, id: u8) {
    if let Some(left) = left {
        edit.change(left, id, RegFlags::STANDARD);
        edit.finally(id, gist::complete_split);
    }
}

/// The items `dead` of a page, all known to be deletable.
fn candidates(page: &ExclusiveGuard<'_>, dead: &[OffsetNo]) -> DeleteOp {
    let candidate = |(id, &offset)| DeleteCandidate {
        tid: GistPage(page).tuple(offset).tid_field(),
        id,
        index_offset: offset,
        deletable: true,
        promising: false,
        free_space: 0,
    };
    DeleteOp {
        index_block: page.block(),
        bottom_up: false,
        free_space_target: 0,
        candidates: (0..).zip(dead).map(candidate).collect(),
    }
}
