//! Insertion of a leaf tuple: finds the leaf, runs the unique check, makes room without a split if
//! possible, inserts the tuple, and inserts downlinks into upper levels.
//!
//! Counterpart: nbtinsert.c.

use crate::buf::{Cx, ExclusiveGuard, RegFlags, RmgrId};
use crate::index::Index;
use crate::index::{Access, Latched};
use crate::key::InsertKey;
use crate::records;
use crate::search::{Stack, StackEntry};
use access::{HeapLiveness, Inserted, UniqueCheck};
use ids::{OffsetNo, Tid};
use page::btree::{BTP_INCOMPLETE_SPLIT, HIGH_KEY, META_BLOCK, Node, change_flags};
use page::index_space::{self, free_space};
use page::index_tuple::{self, IndexTuple, max_align};
use pgerror::{Result, pg_err};
use std::cmp::Ordering;
use sync::atomic::Ordering::Relaxed;

/// Lowest root level at which the rightmost leaf is cached. Counterpart:
/// `BTREE_FASTPATH_MIN_LEVEL`.
const FASTPATH_MIN_LEVEL: u32 = 2;

/// State of an insertion: the leaf page, and the bounds of the last binary search on it.
/// Counterpart: `BTInsertState`.
pub(crate) struct InsertState<'p, 't> {
    pub tuple: IndexTuple<'t>,
    /// Aligned, without line pointer.
    pub size: usize,
    pub key: InsertKey<'t>,
    pub page: ExclusiveGuard<'p>,
    /// Lowest offset for the key, and the first item known to be larger. Valid while the page does
    /// not change; stays valid if the key gains its TID, which only narrows the range.
    pub bounds: Option<(OffsetNo, OffsetNo)>,
    pub posting: Posting,
}

/// True if the new TID is within the range of the posting list at the offset found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Posting {
    No,
    /// Yes, before this position of the list.
    Split(usize),
    /// As `Split`, but the list is marked dead.
    Dead,
}

/// A posting list that an insertion splits.
pub(crate) struct PostingSplit<'t> {
    /// The tuple passed by the caller, which is what is logged.
    pub original: IndexTuple<'t>,
    /// The new posting list, which replaces the old one.
    pub list: Vec<u8>,
    pub position: usize,
}

impl Index {
    /// Inserts `tuple` (formed by [`crate::schema::KeySchema::form`]). `unchanged`: the new row
    /// version has the same values in this index as the old one, so old versions are likely to be
    /// on the page.
    pub fn insert(
        &self,
        cx: &mut Cx<'_>,
        tuple: &[u8],
        check: UniqueCheck,
        unchanged: bool,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted> {
        let tuple = IndexTuple::new(tuple);
        let mut key = InsertKey::of_tuple(&self.schema, tuple)?;
        // A NULL that is distinct from all values makes the tuple unique.
        let checking = check != UniqueCheck::No && !key.any_null;
        if checking {
            key.scan_tid = None;
        }
        let size = max_align(tuple.size());
        let (mut stack, page) = self.search_for_insert(cx, &key, size)?;
        let mut state = InsertState { tuple, size, key, page, bounds: None, posting: Posting::No };
        let mut unique = true;
        if checking {
            match self.check_unique(cx, &mut state, check, heap)? {
                Inserted::Done { unique: u } => unique = u,
                other => return Ok(other),
            }
            if self.schema.heapkeyspace {
                state.key.scan_tid = tuple.heap_tid();
            }
        }
        if check == UniqueCheck::Existing {
            return Ok(Inserted::Done { unique });
        }
        let (state, offset) =
            self.find_insert_location(cx, state, checking, unchanged, &stack, heap)?;
        let posting = state.posting;
        self.insert_on_page(cx, state.page, None, &mut stack, tuple, (offset, posting), false)?;
        Ok(Inserted::Done { unique })
    }

    /// The first leaf where `key` may belong, exclusively latched. Tries the cached rightmost leaf
    /// first, which saves the descent for increasing keys. Counterpart: `_bt_search_insert`.
    fn search_for_insert<'p>(
        &self,
        cx: &mut Cx<'p>,
        key: &InsertKey<'_>,
        size: usize,
    ) -> Result<(Stack, ExclusiveGuard<'p>)> {
        let last = self.last_leaf.load(Relaxed);
        if last != 0 {
            if let Ok(page) = cx.pin(&self.file, ids::BlockNo(last))?.try_exclusive() {
                let node = Node(&page);
                let good = !page.is_new()
                    && node.has_special()
                    && node.is_rightmost()
                    && node.is_leaf()
                    && !node.is_ignored()
                    && free_space(&page) > size
                    && node.max_offset() >= HIGH_KEY
                    && self.schema.compare(key, node, HIGH_KEY)? == Ordering::Greater;
                if good {
                    return Ok((Stack::new(), page));
                }
            }
            self.last_leaf.store(0, Relaxed);
        }
        match self.search(cx, key, Access::Write)? {
            Some((stack, Latched::Exclusive(page))) => Ok((stack, page)),
            Some((stack, page)) => Ok((stack, page.into_exclusive())),
            None => Err(pg_err!(INTERNAL_ERROR, "no root page found in index \"{}\"", self.name)),
        }
    }

    /// The binary search of an insertion, within the cached bounds. Counterpart:
    /// `_bt_binsrch_insert`.
    pub(crate) fn search_page(&self, state: &mut InsertState<'_, '_>) -> Result<OffsetNo> {
        let node = Node(&state.page);
        let (mut low, mut high) = match state.bounds {
            Some(b) => b,
            None => (node.first_data_key(), node.max_offset() + 1),
        };
        if high < low || node.max_offset() < node.first_data_key() {
            state.bounds = None;
            return Ok(low);
        }
        let mut strict = high;
        while high > low {
            let mid = low + (high - low) / 2;
            match self.schema.compare(&state.key, node, mid)? {
                Ordering::Greater => low = mid + 1,
                ord => {
                    high = mid;
                    if ord == Ordering::Less {
                        strict = mid;
                    } else if state.key.scan_tid.is_some() {
                        if state.posting != Posting::No {
                            return Err(pg_err!(
                                INDEX_CORRUPTED,
                                "table tid from new index tuple {} cannot find insert offset \
                                 between offsets {low} and {strict} of block {} in index \"{}\"",
                                state.tuple.tid_field(),
                                state.page.block(),
                                self.name
                            ));
                        }
                        state.posting = self.posting_overlap(state, mid)?;
                    }
                }
            }
        }
        state.bounds = Some((low, strict));
        Ok(low)
    }

    /// How the new TID relates to the posting list at `off`. Counterpart: `_bt_binsrch_posting`.
    fn posting_overlap(&self, state: &InsertState<'_, '_>, off: OffsetNo) -> Result<Posting> {
        let node = Node(&state.page);
        let old = node.tuple(off);
        let tid = state.key.scan_tid.unwrap_or(Tid::INVALID);
        if !old.is_posting() {
            return Ok(Posting::No);
        }
        if node.line_pointer(off).is_dead() {
            return Ok(Posting::Dead);
        }
        let at = crate::schema::KeySchema::posting_position(old, tid);
        if at == 0 || at >= old.posting_count() || old.posting_tid(at) == tid {
            return Err(self.overlap(tid, off, state.page.block()));
        }
        Ok(Posting::Split(at))
    }

    #[cold]
    fn overlap(&self, tid: Tid, off: OffsetNo, block: ids::BlockNo) -> pgerror::PgError {
        pg_err!(
            INDEX_CORRUPTED,
            "table tid from new index tuple {tid} overlaps with invalid duplicate tuple at offset \
             {off} of block {block} in index \"{}\"",
            self.name
        )
    }

    /// Finds the page and the offset for the tuple; makes room if that is possible without a split.
    /// Counterpart: `_bt_findinsertloc`.
    fn find_insert_location<'p, 't>(
        &self,
        cx: &mut Cx<'p>,
        mut state: InsertState<'p, 't>,
        checking: bool,
        unchanged: bool,
        stack: &Stack,
        heap: &mut dyn HeapLiveness,
    ) -> Result<(InsertState<'p, 't>, OffsetNo)> {
        let heapkeyspace = self.schema.heapkeyspace;
        self.schema.check_third_page(
            &self.name,
            &self.table_name,
            state.tuple,
            true,
            heapkeyspace,
        )?;
        if heapkeyspace {
            let mut duplicates = unchanged;
            if checking {
                // The descent was without TID, so the tuple may belong further right.
                duplicates |= state.bounds.is_some_and(|(low, strict)| low < strict);
                loop {
                    let node = Node(&state.page);
                    let inside =
                        state.bounds.is_some_and(|(low, s)| low <= s && s <= node.max_offset());
                    if inside
                        || node.is_rightmost()
                        || self.schema.compare(&state.key, node, HIGH_KEY)? != Ordering::Greater
                    {
                        break;
                    }
                    state = self.step_right(cx, state, stack)?;
                    duplicates = true;
                }
            }
            if free_space(&state.page) < state.size {
                self.make_room(cx, &mut state, false, checking, duplicates, unchanged, heap)?;
            }
        } else {
            // Indexes before version 4: any page that the equal keys span is valid.
            while free_space(&state.page) < state.size {
                if Node(&state.page).has_garbage() {
                    self.make_room(cx, &mut state, true, false, false, false, heap)?;
                    if free_space(&state.page) >= state.size {
                        break;
                    }
                }
                let node = Node(&state.page);
                if node.is_rightmost()
                    || self.schema.compare(&state.key, node, HIGH_KEY)? != Ordering::Equal
                {
                    break;
                }
                state = self.step_right(cx, state, stack)?;
            }
        }
        let mut offset = self.search_page(&mut state)?;
        if state.posting == Posting::Dead {
            // The posting list is marked dead. It is deleted first; a posting list split would
            // lose the mark.
            self.make_room(cx, &mut state, true, false, false, false, heap)?;
            state.bounds = None;
            state.posting = Posting::No;
            offset = self.search_page(&mut state)?;
        }
        Ok((state, offset))
    }

    /// Moves to the right sibling, which is latched before this page is released: otherwise a
    /// concurrent inserter of the same key could pass its unique check in between.
    /// Counterpart: `_bt_stepright`.
    fn step_right<'p, 't>(
        &self,
        cx: &mut Cx<'p>,
        mut state: InsertState<'p, 't>,
        stack: &Stack,
    ) -> Result<InsertState<'p, 't>> {
        let mut next = Node(&state.page).next();
        loop {
            (cx.check_interrupts)()?;
            let page = self.exclusive(cx, next)?;
            let node = Node(&page);
            if node.is_incomplete_split() {
                self.finish_split(cx, page, stack)?;
                continue;
            }
            if !node.is_ignored() {
                state.page = page;
                state.bounds = None;
                return Ok(state);
            }
            if node.is_rightmost() {
                return Err(self.fell_off());
            }
            next = node.next();
        }
    }

    /// Inserts `tuple` at `offset` of the page, with a split if there is no room. On inner pages
    /// `child` is the page whose split this completes. Releases all pages. `only`: the split page
    /// was the only one of its level, but not the root. Counterpart: `_bt_insertonpg`.
    ///
    /// WAL: INSERT_LEAF, INSERT_POST, INSERT_UPPER, INSERT_META.
    pub(crate) fn insert_on_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut page: ExclusiveGuard<'p>,
        mut child: Option<ExclusiveGuard<'p>>,
        stack: &mut [StackEntry],
        tuple: IndexTuple<'_>,
        (mut offset, posting): (OffsetNo, Posting),
        only: bool,
    ) -> Result<()> {
        let node = Node(&page);
        let (leaf, root, rightmost) = (node.is_leaf(), node.is_root(), node.is_rightmost());
        debug_assert_eq!(leaf, child.is_none());
        if node.is_incomplete_split() {
            return Err(pg_err!(
                INTERNAL_ERROR,
                "cannot insert to incompletely split page {}",
                page.block()
            ));
        }
        let mut swapped = Vec::new();
        let mut new_tuple = tuple;
        let mut split_list = None;
        if let Posting::Split(position) = posting {
            let old = node.tuple(offset);
            let mut list = Vec::with_capacity(old.size());
            let out = index_tuple::swap_posting(old, position, tuple.tid_field(), &mut list);
            swapped.extend_from_slice(tuple.bytes());
            index_tuple::set_tid(&mut swapped, out);
            new_tuple = IndexTuple::new(&swapped);
            split_list = Some(PostingSplit { original: tuple, list, position });
            offset += 1;
        }
        let size = max_align(new_tuple.size());
        if free_space(&page) < size {
            let is_only = node.is_leftmost() && node.is_rightmost();
            let right =
                self.split(cx, &mut page, child, offset, size, new_tuple, split_list.as_ref())?;
            return self.insert_parent(cx, page, right, stack, root, is_only);
        }

        let mut meta_page = None;
        if only {
            let level = node.level();
            let meta = self.exclusive(cx, META_BLOCK)?;
            let old = self.read_meta(&meta)?;
            if old.fast_level < level {
                let new = page::btree::Meta { fast_root: page.block(), fast_level: level, ..old };
                meta_page = Some((meta, new));
            }
        }
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        let p = edit.change(&mut page, 0, RegFlags::STANDARD);
        if let Some(s) = &split_list {
            p.item_mut(offset - 1)[..s.list.len()].copy_from_slice(&s.list);
        }
        let added = index_space::add(p, new_tuple.bytes(), offset);
        assert!(added, "free space was checked");
        edit.main(&offset.to_le_bytes());
        let info = match (&split_list, &mut child) {
            (Some(s), _) => {
                edit.block_data(0, &(s.position as u16).to_le_bytes());
                edit.block_data(0, s.original.bytes());
                records::INSERT_POST
            }
            (None, None) => {
                edit.block_data(0, new_tuple.bytes());
                records::INSERT_LEAF
            }
            (None, Some(child)) => {
                edit.block_data(0, new_tuple.bytes());
                let c = edit.change(child, 1, RegFlags::STANDARD);
                change_flags(c, 0, BTP_INCOMPLETE_SPLIT);
                match &mut meta_page {
                    None => records::INSERT_UPPER,
                    Some((page, meta)) => {
                        let m = edit.change(page, 2, RegFlags::WILL_INIT | RegFlags::STANDARD);
                        meta.write(m);
                        edit.block_data(2, &records::metadata(meta));
                        records::INSERT_META
                    }
                }
            }
        };
        edit.log(info)?;
        drop(meta_page);
        drop(child);
        if rightmost && leaf && !root && self.cached_height() >= FASTPATH_MIN_LEVEL {
            self.last_leaf.store(page.block().0, Relaxed);
        }
        Ok(())
    }
}
