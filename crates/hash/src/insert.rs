//! Insertion of an index tuple, and the removal of dead tuples from a full page.
//!
//! Counterpart: hashinsert.c.

use crate::index::{HashIndex, leave};
use crate::records::{self, VacuumOnePage};
use access::{Cx, DeleteCandidate, DeleteOp, HeapLiveness};
use bufmgr::{CleanupGuard, ExclusiveGuard, Pin};
use ids::{BlockNo, OffsetNo, Xid};
use page::hash::{
    HashPage, LH_BUCKET_BEING_SPLIT, LH_OVERFLOW_PAGE, LH_PAGE_HAS_DEAD_TUPLES, Meta, MetaMut,
    TUPLE_SIZE, change_flags, hash_of,
};
use page::{PageMut, index_space};
use pgerror::{PgError, Result};
use wal::RegFlags;

impl HashIndex {
    /// Inserts an index tuple; `heap` looks up rows whose tuples are marked dead (during a
    /// build there are none). Counterpart: `_hash_doinsert`.
    ///
    /// WAL: INSERT, and those of the functions called.
    pub(crate) fn insert_tuple(
        &self,
        cx: &mut Cx<'_>,
        tuple: &[u8],
        mut heap: Option<&mut dyn HeapLiveness>,
    ) -> Result<()> {
        let hash = hash_of(tuple);
        let mut page = self.primary_for_insert(cx, hash)?;
        let mut primary = None;
        let mut pages = 0u32;
        while index_space::free_space(&page) < TUPLE_SIZE {
            if let Some(heap) = heap.as_deref_mut() {
                page = self.remove_dead(cx, page, heap)?;
                if index_space::free_space(&page) >= TUPLE_SIZE {
                    break;
                }
            }
            // The chain of a damaged index may be a cycle.
            pages += 1;
            if pages.is_multiple_of(64) {
                (cx.check_interrupts)()?;
            }
            let next = HashPage(&page).next();
            if next == BlockNo::INVALID {
                page = self.add_overflow(cx, page, &mut primary)?;
            } else {
                leave(page, &mut primary);
                page = self.exclusive(cx, next, LH_OVERFLOW_PAGE)?;
            }
        }
        if self.insert_on_page(cx, page, primary, tuple)? {
            self.expand(cx)?;
        }
        Ok(())
    }

    /// The primary page of the bucket for `hash`. If the bucket's split was interrupted, tries once
    /// to finish it.
    fn primary_for_insert<'p>(&self, cx: &mut Cx<'p>, hash: u32) -> Result<ExclusiveGuard<'p>> {
        let page = self.find_primary(cx, hash, Pin::exclusive)?;
        if !HashPage(&page).has(LH_BUCKET_BEING_SPLIT) {
            return Ok(page);
        }
        let bucket = HashPage(&page).bucket();
        match page.try_into_cleanup() {
            // A scan or a running split has the page pinned.
            Err(page) => return Ok(page),
            Ok(page) => self.finish_split(cx, page.into_pin(), bucket)?,
        };
        self.find_primary(cx, hash, Pin::exclusive)
    }

    /// Adds the tuple to a page with space for it, and counts it. Returns whether the index should
    /// get one more bucket.
    ///
    /// WAL: INSERT.
    fn insert_on_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut page: ExclusiveGuard<'p>,
        primary: Option<Pin<'p>>,
        tuple: &[u8],
    ) -> Result<bool> {
        let mut meta = self.meta_exclusive(cx)?;
        let mut edit = self.edit(cx);
        let offset = place(edit.change(&mut page, 0, RegFlags::STANDARD), tuple)?;
        let changed = edit.change(&mut meta, 1, RegFlags::STANDARD);
        MetaMut(changed).add_tuples(1.0);
        edit.main(&offset.to_le_bytes());
        edit.block_data(0, tuple);
        edit.log(records::INSERT)?;
        let overfull = Meta(&meta).is_overfull();
        drop(meta);
        drop(page);
        drop(primary);
        Ok(overfull)
    }

    /// Removes the items of a full page that scans have marked dead, if no scan has the page
    /// pinned.
    fn remove_dead<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: ExclusiveGuard<'p>,
        heap: &mut dyn HeapLiveness,
    ) -> Result<ExclusiveGuard<'p>> {
        if !HashPage(&page).has(LH_PAGE_HAS_DEAD_TUPLES) {
            return Ok(page);
        }
        match page.try_into_cleanup() {
            Err(page) => Ok(page),
            Ok(mut page) => {
                self.vacuum_one_page(cx, &mut page, heap)?;
                Ok(page.into_exclusive())
            }
        }
    }

    /// Counterpart: `_hash_vacuum_one_page`.
    ///
    /// WAL: VACUUM_ONE_PAGE.
    fn vacuum_one_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut CleanupGuard<'p>,
        heap: &mut dyn HeapLiveness,
    ) -> Result<()> {
        let dead: Vec<OffsetNo> =
            (1..=page.max_offset()).filter(|&off| page.line_pointer(off).is_dead()).collect();
        if dead.is_empty() {
            return Ok(());
        }
        let mut horizon = Xid::INVALID;
        if self.file.is_logged() {
            horizon = heap.delete_candidates(&mut candidates(page, &dead))?;
        }
        page.check_index_items()?;
        let mut meta = self.meta_exclusive(cx)?;
        let mut edit = self.edit(cx);
        let changed = edit.change(page, 0, RegFlags::STANDARD);
        index_space::delete_many(changed, &dead)?;
        change_flags(changed, 0, LH_PAGE_HAS_DEAD_TUPLES);
        let changed = edit.change(&mut meta, 1, RegFlags::STANDARD);
        MetaMut(changed).add_tuples(-(dead.len() as f64));
        edit.main(&VacuumOnePage { horizon, tuples: dead.len() as u32 }.encode());
        edit.main(&records::offsets(&dead));
        edit.log(records::VACUUM_ONE_PAGE)?;
        Ok(())
    }
}

/// The items `dead` of a page, all known to be deletable.
fn candidates(page: &ExclusiveGuard<'_>, dead: &[OffsetNo]) -> DeleteOp {
    let candidate = |(id, &offset)| DeleteCandidate {
        tid: HashPage(page).tid(offset),
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

/// Adds a tuple to a page with space for it, in the order of hash codes: before those with the same
/// code. Returns its offset. Counterpart: `_hash_pgaddtup`.
pub(crate) fn place(page: PageMut<'_>, tuple: &[u8]) -> Result<OffsetNo> {
    let offset = HashPage(page).lower_bound(hash_of(tuple));
    if index_space::add(page, tuple, offset) {
        return Ok(offset);
    }
    Err(PgError::internal("failed to add an index tuple to a page of a hash index"))
}
