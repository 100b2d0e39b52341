//! Page splits and their effects on upper levels: a new downlink in the parent, or a new root.
//! Between the split and the insertion of the downlink, the left page is flagged as incompletely
//! split. An insertion that meets such a page completes the split first.
//!
//! Counterpart: the second half of nbtinsert.c.

use crate::buf::{Cx, ExclusiveGuard, RegFlags, RmgrId};
use crate::index::Index;
use crate::insert::{Posting, PostingSplit};
use crate::records;
use crate::search::StackEntry;
use crate::splitloc::find_split;
use ids::{BlockNo, OffsetNo};
use page::PageBuf;
use page::btree::{
    BTP_HAS_GARBAGE, BTP_INCOMPLETE_SPLIT, BTP_ROOT, BTP_SPLIT_END, HIGH_KEY, META_BLOCK, Meta,
    Node, Opaque, change_flags, set_prev,
};
use page::index_space;
use page::index_tuple::{self, HEADER_SIZE, IndexTuple};
use pgerror::{PgError, Result, pg_err};

/// The first data tuple of an inner page, which has no columns and counts as minus infinity.
/// Counterpart: the truncation in `_bt_pgaddtup`.
pub(crate) fn minus_infinity(child: BlockNo) -> [u8; HEADER_SIZE] {
    let mut t = [0; HEADER_SIZE];
    index_tuple::set_size(&mut t, HEADER_SIZE);
    index_tuple::set_downlink(&mut t, child);
    index_tuple::set_natts(&mut t, 0, false);
    t
}

/// The contents of both halves after a split.
struct Halves {
    left: PageBuf,
    right: PageBuf,
    /// The left half's high key, as it is logged.
    high_key: Vec<u8>,
    first_right: OffsetNo,
    new_on_left: bool,
}

impl Index {
    /// Splits the page to insert `tuple` at `offset`. Returns the right half, latched. On an inner
    /// page `child` is the page whose own split the new downlink completes; it is released.
    /// Counterpart: `_bt_split`.
    ///
    /// WAL: SPLIT_L, SPLIT_R.
    pub(crate) fn split<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        mut child: Option<ExclusiveGuard<'p>>,
        offset: OffsetNo,
        size: usize,
        tuple: IndexTuple<'_>,
        posting: Option<&PostingSplit<'_>>,
    ) -> Result<ExclusiveGuard<'p>> {
        let block = page.block();
        let old = Opaque::of(page);
        let mut halves = self.plan_split(Node(page), offset, size, tuple, posting)?;
        let mut right_page = self.allocate(cx)?;
        let right_block = right_page.block();
        let cycle_id = self.cycles.current(self.file.rel);

        let mut sibling = None;
        let mut right_flags = old.flags & !(BTP_ROOT | BTP_SPLIT_END | BTP_HAS_GARBAGE);
        let left_flags = right_flags | BTP_INCOMPLETE_SPLIT;
        if !old.is_rightmost() {
            let s = self.exclusive(cx, old.next)?;
            let node = Node(&s);
            if node.prev() != block {
                return Err(pg_err!(
                    INDEX_CORRUPTED,
                    "right sibling's left-link doesn't match: block {} links to {} instead of \
                     expected {block} in index \"{}\"",
                    old.next,
                    node.prev(),
                    self.name
                ));
            }
            if node.cycle_id() != cycle_id {
                right_flags |= BTP_SPLIT_END;
            }
            sibling = Some(s);
        }
        let o = Opaque { next: right_block, flags: left_flags, cycle_id, ..old };
        o.set(&mut halves.left);
        let o = Opaque { prev: block, flags: right_flags, cycle_id, ..old };
        o.set(&mut halves.right);

        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        let lsn = page.lsn();
        let p = edit.change(page, 0, RegFlags::STANDARD);
        halves.left.set_lsn(lsn);
        halves.left.copy_to(p);
        let p = edit.change(&mut right_page, 1, RegFlags::WILL_INIT);
        halves.right.copy_to(p);
        if let Some(s) = &mut sibling {
            set_prev(edit.change(s, 2, RegFlags::STANDARD), right_block);
        }
        if let Some(c) = &mut child {
            change_flags(edit.change(c, 3, RegFlags::STANDARD), 0, BTP_INCOMPLETE_SPLIT);
        }
        // If the posting list stays on the left, redo splits it again from the original tuple.
        let logged = posting.filter(|_| offset - 1 < halves.first_right);
        edit.main(&old.level.to_le_bytes());
        edit.main(&halves.first_right.to_le_bytes());
        edit.main(&offset.to_le_bytes());
        edit.main(&logged.map_or(0, |s| s.position as u16).to_le_bytes());
        if let Some(s) = logged {
            edit.block_data(0, s.original.bytes());
        } else if halves.new_on_left {
            edit.block_data(0, tuple.bytes());
        }
        edit.block_data(0, &halves.high_key);
        let from = halves.right.upper();
        let tuples = halves.right.slice(from, halves.right.special() - from);
        edit.block_data(1, tuples);
        edit.log(if halves.new_on_left { records::SPLIT_L } else { records::SPLIT_R })?;
        Ok(right_page)
    }

    fn plan_split(
        &self,
        node: Node<'_>,
        offset: OffsetNo,
        size: usize,
        tuple: IndexTuple<'_>,
        posting: Option<&PostingSplit<'_>>,
    ) -> Result<Halves> {
        let (first_right, new_on_left) = find_split(&self.schema, node, offset, size, tuple)?;
        // From here on items are read as if the posting list had been replaced already.
        let list_at = posting.map_or(0, |_| offset - 1);
        let item = |off: OffsetNo| match posting {
            Some(s) if off == list_at => IndexTuple::new(&s.list),
            _ => node.tuple(off),
        };
        let new_here = first_right == offset;
        let first_right_tuple = if new_here && !new_on_left { tuple } else { item(first_right) };
        let mut high_key = Vec::new();
        if node.is_leaf() {
            let last_left = if new_here && new_on_left { tuple } else { item(first_right - 1) };
            self.schema.truncate(last_left, first_right_tuple, &mut high_key)?;
        } else {
            high_key.extend_from_slice(first_right_tuple.bytes());
        }
        let mut left = new_page();
        let mut right = new_page();
        put(&mut left, &high_key)?;
        if !node.is_rightmost() {
            put(&mut right, node.item(HIGH_KEY))?;
        }
        let minus_infinity_at = right.max_offset() + 1;
        let mut put_right = |t: IndexTuple<'_>| {
            if !node.is_leaf() && right.max_offset() + 1 == minus_infinity_at {
                put(&mut right, &minus_infinity(t.downlink()))
            } else {
                put(&mut right, t.bytes())
            }
        };
        for off in node.first_data_key()..=node.max_offset() {
            if off == offset {
                if new_on_left {
                    put(&mut left, tuple.bytes())?;
                } else {
                    put_right(tuple)?;
                }
            }
            if off < first_right {
                put(&mut left, item(off).bytes())?;
            } else {
                put_right(item(off))?;
            }
        }
        if offset > node.max_offset() {
            debug_assert!(!new_on_left);
            put_right(tuple)?;
        }
        Ok(Halves { left, right, high_key, first_right, new_on_left })
    }

    /// Inserts the downlink of the right half of a split into the parent. Releases both halves.
    /// Counterpart: `_bt_insert_parent`.
    pub(crate) fn insert_parent<'p>(
        &self,
        cx: &mut Cx<'p>,
        left: ExclusiveGuard<'p>,
        right: ExclusiveGuard<'p>,
        stack: &mut [StackEntry],
        is_root: bool,
        is_only: bool,
    ) -> Result<()> {
        if is_root {
            return self.new_root(cx, left, right);
        }
        let mut fake;
        let stack = if stack.is_empty() {
            // The root was split after the descent began, or there was no descent.
            let level = Node(&left).level() + 1;
            let parent = self.endpoint(cx, level, false)?.ok_or_else(|| self.fell_off())?;
            fake = [StackEntry { block: parent.block(), offset: 0 }];
            &mut fake[..]
        } else {
            stack
        };
        let (left_block, right_block) = (left.block(), right.block());
        let mut entry = Node(&left).high_key().bytes().to_vec();
        index_tuple::set_downlink(&mut entry, right_block);
        let parent = self.find_parent(cx, stack, left_block)?;
        drop(right);
        let Some((parent, offset)) = parent else {
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "failed to re-find parent key in index \"{}\" for split pages \
                 {left_block}/{right_block}",
                self.name
            ));
        };
        let above = stack.len() - 1;
        self.insert_on_page(
            cx,
            parent,
            Some(left),
            &mut stack[..above],
            IndexTuple::new(&entry),
            (offset + 1, Posting::No),
            is_only,
        )
    }

    /// Latches the page of the parent level that has the downlink to `child`; starts at the last
    /// entry of `stack`, and corrects it. Counterpart: `_bt_getstackbuf`.
    pub(crate) fn find_parent<'p>(
        &self,
        cx: &mut Cx<'p>,
        stack: &mut [StackEntry],
        child: BlockNo,
    ) -> Result<Option<(ExclusiveGuard<'p>, OffsetNo)>> {
        let Some((entry, above)) = stack.split_last_mut() else {
            return Err(PgError::internal("no parent level is known"));
        };
        let (mut block, mut start) = (entry.block, entry.offset);
        loop {
            let page = self.exclusive(cx, block)?;
            let node = Node(&page);
            if node.is_incomplete_split() {
                self.finish_split(cx, page, above)?;
                continue;
            }
            if !node.is_ignored() {
                let (min, max) = (node.first_data_key(), node.max_offset());
                let from = start.clamp(min, max + 1);
                let is_it = |off: &OffsetNo| node.tuple(*off).downlink() == child;
                // Insertions move entries to the right, page deletions to the left.
                let found = (from..=max).find(is_it).or_else(|| (min..from).rev().find(is_it));
                if let Some(offset) = found {
                    *entry = StackEntry { block, offset };
                    return Ok(Some((page, offset)));
                }
            }
            if node.is_rightmost() {
                return Ok(None);
            }
            block = node.next();
            start = 0;
        }
    }

    /// Completes an incomplete split of `left`: inserts the downlink of its right sibling into the
    /// parent. Releases the page. Counterpart: `_bt_finish_split`.
    pub(crate) fn finish_split<'p>(
        &self,
        cx: &mut Cx<'p>,
        left: ExclusiveGuard<'p>,
        stack: &[StackEntry],
    ) -> Result<()> {
        let right = self.exclusive(cx, Node(&left).next())?;
        let was_root = if stack.is_empty() {
            let meta_page = self.exclusive(cx, META_BLOCK)?;
            self.read_meta(&meta_page)?.root == left.block()
        } else {
            false
        };
        let was_only = Node(&left).is_leftmost() && Node(&right).is_rightmost();
        let mut stack: crate::search::Stack = stack.into();
        self.insert_parent(cx, left, right, &mut stack, was_root, was_only)
    }

    /// Makes a new root above the halves of the old one. Counterpart: `_bt_newroot`.
    ///
    /// WAL: NEWROOT.
    fn new_root<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut left: ExclusiveGuard<'p>,
        right: ExclusiveGuard<'p>,
    ) -> Result<()> {
        let mut root_page = self.allocate(cx)?;
        let mut meta_page = self.exclusive(cx, META_BLOCK)?;
        let old = self.read_meta(&meta_page)?;
        let root = root_page.block();
        let level = Node(&left).level() + 1;
        let mut second = Node(&left).high_key().bytes().to_vec();
        index_tuple::set_downlink(&mut second, right.block());
        let mut page = new_page();
        Opaque { level, flags: BTP_ROOT, ..Opaque::default() }.set(&mut page);
        put(&mut page, &minus_infinity(left.block()))?;
        put(&mut page, &second)?;
        let meta = Meta { root, level, fast_root: root, fast_level: level, ..old };
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        page.copy_to(edit.change(&mut root_page, 0, RegFlags::WILL_INIT));
        change_flags(edit.change(&mut left, 1, RegFlags::STANDARD), 0, BTP_INCOMPLETE_SPLIT);
        meta.write(edit.change(&mut meta_page, 2, RegFlags::WILL_INIT | RegFlags::STANDARD));
        edit.main(&root.0.to_le_bytes());
        edit.main(&level.to_le_bytes());
        edit.block_data(0, page.slice(page.upper(), page.special() - page.upper()));
        edit.block_data(2, &records::metadata(&meta));
        edit.log(records::NEWROOT)?;
        Ok(())
    }
}

pub(crate) fn new_page() -> PageBuf {
    let mut page = PageBuf::new();
    page::btree::init(&mut page);
    page
}

/// Appends an item that is known to fit.
pub(crate) fn put(page: &mut PageBuf, bytes: &[u8]) -> Result<()> {
    if index_space::append(page, bytes) {
        return Ok(());
    }
    Err(PgError::internal("failed to add an item to a page of an index"))
}
