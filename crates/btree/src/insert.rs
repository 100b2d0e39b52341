//! Insertion of a leaf tuple: finding the page, the unique check, making room without a split, and
//! the insertion itself with what follows from it up the tree.
//! Counterpart: nbtinsert.c.

use crate::Index;
use crate::buf::{Cx, ExclusiveGuard, RegFlags};
use crate::index::{Access, Latched};
use crate::key::InsertKey;
use crate::liveness::HeapLiveness;
use crate::records;
use crate::search::{Stack, StackEntry};
use ids::{OffsetNo, Tid, Xid};
use page::btree::{BTP_INCOMPLETE_SPLIT, HIGH_KEY, META_BLOCK, Node, change_flags};
use page::index_space::{self, free_space};
use page::index_tuple::{self, IndexTuple, max_align};
use pgerror::{Result, pg_err};
use std::cmp::Ordering;
use sync::atomic::Ordering::Relaxed;

/// How an insertion treats duplicates. Counterpart: `IndexUniqueCheck`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UniqueCheck {
    /// Insert without looking.
    No,
    /// A live duplicate refuses the insertion.
    Yes,
    /// Insert anyway, but tell whether there may be a duplicate (deferrable constraints).
    Partial,
    /// Do not insert: check the tuple that is there.
    Existing,
}

/// What became of an insertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    /// Inserted (or checked). `unique`: there is certainly no duplicate; says something only if the
    /// check was not `No`.
    Done { unique: bool },
    /// Nothing was done: wait for the end of `xid` (or of its speculative insertion), then insert
    /// again.
    Wait { xid: Xid, speculative: Option<u32> },
    /// Nothing was done: the live row at `tid` has the same key. The caller reports 23505.
    Conflict { tid: Tid },
}

/// Trees lower than this do not remember their last leaf. Counterpart: `BTREE_FASTPATH_MIN_LEVEL`.
const FASTPATH_MIN_LEVEL: u32 = 2;

/// A place found on a leaf page, and the bounds of the last binary search there.
/// Counterpart: `BTInsertState`.
pub(crate) struct Place<'p, 't> {
    pub tuple: IndexTuple<'t>,
    /// Aligned, without line pointer.
    pub size: usize,
    pub key: InsertKey<'t>,
    pub page: ExclusiveGuard<'p>,
    /// Lowest offset for the key, and the first item known to be larger; valid while the page and
    /// the key do not change (a key that gains its TID narrows them).
    pub bounds: Option<(OffsetNo, OffsetNo)>,
    /// The new TID falls within the posting list at the offset found, before this position.
    pub posting: Posting,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Posting {
    No,
    Split(usize),
    /// As `Split`, but the list is marked dead.
    Dead,
}

/// A posting list that an insertion splits.
pub(crate) struct PostingSplit<'t> {
    /// The tuple as it was handed in: what is logged.
    pub original: IndexTuple<'t>,
    /// What takes the place of the list.
    pub list: Vec<u8>,
    pub position: usize,
}

impl Index {
    /// Inserts `tuple` (formed by [`crate::KeySchema::form`]). `unchanged` says that the row's new
    /// version has the same values in this index, so that older versions are likely to be here.
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
        // A NULL that equals nothing makes the tuple unique.
        let checking = check != UniqueCheck::No && !key.any_null;
        if checking {
            key.scan_tid = None;
        }
        let size = max_align(tuple.size());
        let (mut stack, page) = self.search_for_insert(cx, &key, size)?;
        let mut place = Place { tuple, size, key, page, bounds: None, posting: Posting::No };
        let mut unique = true;
        if checking {
            match self.check_unique(cx, &mut place, check, heap)? {
                Inserted::Done { unique: u } => unique = u,
                other => return Ok(other),
            }
            if self.schema.heapkeyspace {
                place.key.scan_tid = tuple.heap_tid();
            }
        }
        if check == UniqueCheck::Existing {
            return Ok(Inserted::Done { unique });
        }
        let (place, offset) = self.find_place(cx, place, checking, unchanged, &stack, heap)?;
        let posting = place.posting;
        self.insert_on_page(cx, place.page, None, &mut stack, tuple, offset, posting, false)?;
        Ok(Inserted::Done { unique })
    }

    /// The leaf where `key` may belong, exclusively latched. Increasing keys find the last leaf
    /// without a descent. Counterpart: `_bt_search_insert`.
    fn search_for_insert<'p>(
        &self,
        cx: &mut Cx<'p>,
        key: &InsertKey<'_>,
        size: usize,
    ) -> Result<(Stack, ExclusiveGuard<'p>)> {
        let last = self.last_leaf.load(Relaxed);
        if last != 0 {
            if let Ok(page) = cx.pin(self, ids::BlockNo(last))?.try_exclusive() {
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

    /// The binary search of an insertion, within the bounds known. Counterpart:
    /// `_bt_binsrch_insert`.
    pub(crate) fn search_page(&self, place: &mut Place<'_, '_>) -> Result<OffsetNo> {
        let node = Node(&place.page);
        let (mut low, mut high) = match place.bounds {
            Some(b) => b,
            None => (node.first_data_key(), node.max_offset() + 1),
        };
        if high < low || node.max_offset() < node.first_data_key() {
            place.bounds = None;
            return Ok(low);
        }
        let mut strict = high;
        while high > low {
            let mid = low + (high - low) / 2;
            match self.schema.compare(&place.key, node, mid)? {
                Ordering::Greater => low = mid + 1,
                ord => {
                    high = mid;
                    if ord == Ordering::Less {
                        strict = mid;
                    } else if place.key.scan_tid.is_some() {
                        if place.posting != Posting::No {
                            return Err(pg_err!(
                                INDEX_CORRUPTED,
                                "table tid from new index tuple {} cannot find insert offset \
                                 between offsets {low} and {strict} of block {} in index \"{}\"",
                                place.tuple.tid_field(),
                                place.page.block(),
                                self.name
                            ));
                        }
                        place.posting = self.posting_place(place, mid)?;
                    }
                }
            }
        }
        place.bounds = Some((low, strict));
        Ok(low)
    }

    fn posting_place(&self, place: &Place<'_, '_>, off: OffsetNo) -> Result<Posting> {
        let node = Node(&place.page);
        let old = node.tuple(off);
        let tid = place.key.scan_tid.unwrap_or(Tid::INVALID);
        if !old.is_posting() {
            return Ok(Posting::No);
        }
        if node.line_pointer(off).is_dead() {
            return Ok(Posting::Dead);
        }
        let at = crate::KeySchema::posting_position(old, tid);
        if at == 0 || at >= old.posting_count() || old.posting_tid(at) == tid {
            return Err(self.overlap(tid, off, place.page.block()));
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

    /// Finds where on which page the tuple goes, making room where that is possible without a
    /// split. Counterpart: `_bt_findinsertloc`.
    fn find_place<'p, 't>(
        &self,
        cx: &mut Cx<'p>,
        mut place: Place<'p, 't>,
        checking: bool,
        unchanged: bool,
        stack: &Stack,
        heap: &mut dyn HeapLiveness,
    ) -> Result<(Place<'p, 't>, OffsetNo)> {
        let heapkeyspace = self.schema.heapkeyspace;
        self.schema.check_third_page(
            &self.name,
            &self.table_name,
            place.tuple,
            true,
            heapkeyspace,
        )?;
        if heapkeyspace {
            let mut duplicates = unchanged;
            if checking {
                // The descent was without TID: the page may be further right.
                duplicates |= place.bounds.is_some_and(|(low, strict)| low < strict);
                loop {
                    let node = Node(&place.page);
                    let inside =
                        place.bounds.is_some_and(|(low, s)| low <= s && s <= node.max_offset());
                    if inside
                        || node.is_rightmost()
                        || self.schema.compare(&place.key, node, HIGH_KEY)? != Ordering::Greater
                    {
                        break;
                    }
                    place = self.step_right(cx, place, stack)?;
                    duplicates = true;
                }
            }
            if free_space(&place.page) < place.size {
                self.make_room(cx, &mut place, false, checking, duplicates, unchanged, heap)?;
            }
        } else {
            // Old indexes: any page that the equal keys span will do.
            while free_space(&place.page) < place.size {
                if Node(&place.page).has_garbage() {
                    self.make_room(cx, &mut place, true, false, false, false, heap)?;
                    if free_space(&place.page) >= place.size {
                        break;
                    }
                }
                let node = Node(&place.page);
                if node.is_rightmost()
                    || self.schema.compare(&place.key, node, HIGH_KEY)? != Ordering::Equal
                {
                    break;
                }
                place = self.step_right(cx, place, stack)?;
            }
        }
        let mut offset = self.search_page(&mut place)?;
        if place.posting == Posting::Dead {
            // The dead list goes away first, or its mark would be lost in the split.
            self.make_room(cx, &mut place, true, false, false, false, heap)?;
            place.bounds = None;
            place.posting = Posting::No;
            offset = self.search_page(&mut place)?;
        }
        Ok((place, offset))
    }

    /// Moves to the right neighbour, which is latched before this page is let go: no inserter of
    /// the same key may slip through between them. Counterpart: `_bt_stepright`.
    fn step_right<'p, 't>(
        &self,
        cx: &mut Cx<'p>,
        mut place: Place<'p, 't>,
        stack: &Stack,
    ) -> Result<Place<'p, 't>> {
        let mut next = Node(&place.page).next();
        loop {
            (cx.check_interrupts)()?;
            let page = self.exclusive(cx, next)?;
            let node = Node(&page);
            if node.is_incomplete_split() {
                self.finish_split(cx, page, stack)?;
                continue;
            }
            if !node.is_ignored() {
                place.page = page;
                place.bounds = None;
                return Ok(place);
            }
            if node.is_rightmost() {
                return Err(self.fell_off());
            }
            next = node.next();
        }
    }

    /// Inserts `tuple` at `offset` of the page, splitting it if it has to be. On inner pages
    /// `child` is the page whose split this completes. All pages are let go. `only` says that the
    /// split page was alone on its level without being the root. Counterpart: `_bt_insertonpg`.
    ///
    /// WAL: INSERT_LEAF, INSERT_POST, INSERT_UPPER, INSERT_META.
    pub(crate) fn insert_on_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut page: ExclusiveGuard<'p>,
        mut child: Option<ExclusiveGuard<'p>>,
        stack: &mut [StackEntry],
        tuple: IndexTuple<'_>,
        mut offset: OffsetNo,
        posting: Posting,
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
                let new = page::btree::Meta {
                    version: old.version.max(page::btree::NOVAC_VERSION),
                    fast_root: page.block(),
                    fast_level: level,
                    ..old
                };
                meta_page = Some((meta, new));
            }
        }
        let mut edit = cx.edit(self);
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
