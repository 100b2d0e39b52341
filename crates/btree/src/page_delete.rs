//! Deletion of empty pages. An empty leaf is deleted with its subtree: the inner pages above it of
//! which it is the only descendant leaf. First stage: the downlink to the subtree is removed from
//! the parent, and the leaf becomes half-dead. Second stage: the pages of the subtree are unlinked
//! from their siblings, from the top down. A deleted page stays as a tombstone until no scan can
//! hold a link to it.
//!
//! Counterpart: `_bt_pagedel` in nbtpage.c.

use crate::buf::{Cx, ExclusiveGuard, RegFlags, RmgrId};
use crate::index::Access;
use crate::index::Index;
use crate::key::InsertKey;
use crate::records::{self, MarkHalfDead, UnlinkPage};
use crate::redo::{remove_downlink, top_parent_tuple};
use crate::search::{Stack, StackEntry};
use crate::vacuum::VacuumState;
use ids::{BlockNo, OffsetNo};
use page::btree::{
    BTP_HALF_DEAD, HIGH_KEY, META_BLOCK, Meta, NONE, Node, change_flags, set_cycle_id, set_deleted,
    set_next, set_prev,
};
use page::index_space;
use page::index_tuple::{self, IndexTuple};
use pgerror::{Result, pg_err};

/// The parent page with the downlink to a subtree under deletion.
struct SubtreeParent<'p> {
    parent: ExclusiveGuard<'p>,
    offset: OffsetNo,
    top: BlockNo,
    top_right: BlockNo,
}

impl Index {
    /// Deletes the empty (or half-dead) leaf and, if its right sibling is empty too, that one.
    /// Releases the page.
    pub(crate) fn delete_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        mut leaf: ExclusiveGuard<'p>,
        vacuum: &mut VacuumState<'_>,
    ) -> Result<()> {
        let scan_block = leaf.block();
        let mut stack: Option<Stack> = None;
        loop {
            let node = Node(&leaf);
            let corrupt = !node.is_leaf() || node.is_deleted();
            let needed = node.is_rightmost()
                || node.is_root()
                || node.first_data_key() <= node.max_offset()
                || node.is_incomplete_split();
            if corrupt || needed {
                return Ok(());
            }
            if !node.is_half_dead() {
                let Some(stack) = &mut stack else {
                    // The parent is found by a search for the high key, for which the latch is
                    // released.
                    let high_key = node.high_key().bytes().to_vec();
                    let left = node.prev();
                    let pin = leaf.into_pin();
                    if self.is_split_left(cx, left, scan_block)? {
                        return Ok(());
                    }
                    let mut key = InsertKey::of_tuple(&self.schema, IndexTuple::new(&high_key))?;
                    key.pivot_search = true;
                    let Some((found, page)) = self.search(cx, &key, Access::Read)? else {
                        return Ok(());
                    };
                    drop(page);
                    stack = Some(found);
                    leaf = pin.exclusive();
                    continue;
                };
                if !self.mark_half_dead(cx, &mut leaf, stack)? {
                    return Ok(());
                }
            }
            let mut right_empty = false;
            while Node(&leaf).is_half_dead() {
                match self.unlink_half_dead(cx, leaf, scan_block, vacuum)? {
                    Some((page, empty)) => (leaf, right_empty) = (page, empty),
                    None => return Ok(()),
                }
            }
            let right = Node(&leaf).next();
            drop(leaf);
            if !right_empty {
                return Ok(());
            }
            leaf = self.exclusive(cx, right)?;
        }
    }

    /// True if `left` is the left half of an incomplete split that created `target`.
    fn is_split_left(&self, cx: &mut Cx<'_>, left: BlockNo, target: BlockNo) -> Result<bool> {
        if left == NONE {
            return Ok(false);
        }
        let page = self.share(cx, left)?;
        let node = Node(&page);
        Ok(node.next() == target && node.is_incomplete_split())
    }

    /// First stage. `false`: the page cannot be deleted now. Counterpart: `_bt_mark_page_halfdead`.
    ///
    /// WAL: MARK_PAGE_HALFDEAD.
    fn mark_half_dead<'p>(
        &self,
        cx: &mut Cx<'p>,
        leaf: &mut ExclusiveGuard<'p>,
        stack: &mut Stack,
    ) -> Result<bool> {
        let block = leaf.block();
        let (left, right) = (Node(leaf).prev(), Node(leaf).next());
        // A half-dead right sibling has no downlink in the parent, so the key space of this page
        // could not be transferred to it.
        let sibling = self.share(cx, right)?;
        if Node(&sibling).is_half_dead() {
            return Ok(false);
        }
        drop(sibling);
        let Some(mut subtree) = self.lock_subtree_parent(cx, block, right, stack)? else {
            return Ok(false);
        };
        let parent = Node(&subtree.parent);
        let next = parent.tuple(subtree.offset + 1).downlink();
        if next != subtree.top_right {
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "right sibling {} of block {} is not next child {next} of block {} in index \"{}\"",
                subtree.top_right,
                subtree.top,
                subtree.parent.block(),
                self.name
            ));
        }
        let top = if subtree.top == block { BlockNo::INVALID } else { subtree.top };
        let rec = MarkHalfDead {
            parent_offset: subtree.offset,
            leaf: block,
            left,
            right,
            top_parent: top,
        };
        leaf.check_index_items()?;
        subtree.parent.check_index_items()?;
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        let page = edit.change(leaf, 0, RegFlags::WILL_INIT);
        change_flags(page, BTP_HALF_DEAD, 0);
        let shrunk = index_space::overwrite(page, HIGH_KEY, &top_parent_tuple(top))?;
        assert!(shrunk, "a high key is no smaller than a tuple header");
        remove_downlink(edit.change(&mut subtree.parent, 1, RegFlags::STANDARD), subtree.offset)?;
        edit.main(&rec.encode());
        edit.log(records::MARK_PAGE_HALFDEAD)?;
        Ok(true)
    }

    /// Latches the page with the downlink to the subtree of `leaf`. `None` if the subtree cannot be
    /// deleted. A page that is the only child of its parent is deleted with the parent; one that is
    /// the last of several children cannot be deleted. Counterpart: `_bt_lock_subtree_parent`.
    fn lock_subtree_parent<'p>(
        &self,
        cx: &mut Cx<'p>,
        leaf: BlockNo,
        leaf_right: BlockNo,
        stack: &mut [StackEntry],
    ) -> Result<Option<SubtreeParent<'p>>> {
        let (mut top, mut top_right) = (leaf, leaf_right);
        for level in (1..=stack.len()).rev() {
            let Some((parent, offset)) = self.find_parent(cx, &mut stack[..level], top)? else {
                return Ok(None);
            };
            let node = Node(&parent);
            if offset < node.max_offset() {
                return Ok(Some(SubtreeParent { parent, offset, top, top_right }));
            }
            if offset != node.first_data_key() || node.is_rightmost() {
                return Ok(None);
            }
            // No downlink can be added to the parent while its only leaf is latched, so it may be
            // released.
            let left = node.prev();
            (top, top_right) = (parent.block(), node.next());
            drop(parent);
            if self.is_split_left(cx, left, top)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Second stage, for one page: unlinks the topmost page of the subtree. Returns the leaf,
    /// latched again, and whether the unlinked page's right sibling is empty; `None` if sibling
    /// links are damaged. Counterpart: `_bt_unlink_halfdead_page`.
    ///
    /// WAL: UNLINK_PAGE, UNLINK_PAGE_META.
    fn unlink_half_dead<'p>(
        &self,
        cx: &mut Cx<'p>,
        leaf: ExclusiveGuard<'p>,
        scan_block: BlockNo,
        vacuum: &mut VacuumState<'_>,
    ) -> Result<Option<(ExclusiveGuard<'p>, bool)>> {
        let leaf_block = leaf.block();
        let node = Node(&leaf);
        let top = node.high_key().top_parent();
        let (leaf_left, leaf_right) = (node.prev(), node.next());
        let leaf_pin = leaf.into_pin();

        // LOCK ORDER: the leaf; then on the target's level the left sibling, the target, the right
        // sibling; then the meta page.
        let mut leaf_page = None;
        let (target, target_pin, mut left, level);
        if top.is_valid() {
            let page = self.share(cx, top)?;
            (target, left, level) = (top, Node(&page).prev(), Node(&page).level());
            target_pin = page.into_pin();
            leaf_page = Some(leaf_pin.exclusive());
        } else {
            (target, target_pin, left, level) = (leaf_block, leaf_pin, leaf_left, 0);
        }
        let mut left_page = None;
        while left != NONE {
            let page = self.exclusive(cx, left)?;
            let n = Node(&page);
            if !n.is_deleted() && n.next() == target {
                left_page = Some(page);
                break;
            }
            if n.is_rightmost() || n.is_deleted() || n.next() == left {
                return Ok(None);
            }
            left = n.next();
        }
        let mut page = target_pin.exclusive();
        let leaf_top_parent = self.check_target(Node(&page), target, leaf_block, left, level)?;
        let right = Node(&page).next();
        let mut right_page = self.exclusive(cx, right)?;
        let n = Node(&right_page);
        if n.prev() != target {
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "right sibling's left-link doesn't match: block {right} links to {} instead of \
                 expected {target} in index \"{}\"",
                n.prev(),
                self.name
            ));
        }
        let right_empty = n.first_data_key() > n.max_offset();
        let mut meta_page = None;
        if left == NONE && n.is_rightmost() {
            // The right sibling becomes the only page of its level, so it becomes the fast root.
            let meta = self.exclusive(cx, META_BLOCK)?;
            let old = self.read_meta(&meta)?;
            if old.fast_level <= level + 1 {
                let new = Meta { fast_root: right, fast_level: level, ..old };
                meta_page = Some((meta, new));
            }
        }
        // A scan that holds a link to the page has an xmin that is not after this id.
        let safe_xid = cx.xids.next_full_xid();
        let rec =
            UnlinkPage { left, right, level, safe_xid, leaf_left, leaf_right, leaf_top_parent };
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        if let Some(p) = &mut left_page {
            set_next(edit.change(p, 1, RegFlags::STANDARD), right);
        }
        set_prev(edit.change(&mut right_page, 2, RegFlags::STANDARD), left);
        if let Some(p) = &mut leaf_page {
            let high_key = edit.change(p, 3, RegFlags::WILL_INIT).item_mut(HIGH_KEY);
            index_tuple::set_top_parent(high_key, leaf_top_parent);
        }
        let p = edit.change(&mut page, 0, RegFlags::WILL_INIT);
        set_deleted(p, safe_xid);
        set_cycle_id(p, 0);
        edit.main(&rec.encode());
        let info = match &mut meta_page {
            None => records::UNLINK_PAGE,
            Some((p, meta)) => {
                meta.write(edit.change(p, 4, RegFlags::WILL_INIT | RegFlags::STANDARD));
                edit.block_data(4, &records::metadata(meta));
                records::UNLINK_PAGE_META
            }
        };
        edit.log(info)?;
        vacuum.note_deleted(target, scan_block, safe_xid);
        Ok(Some((leaf_page.unwrap_or(page), right_empty)))
    }

    /// Checks the page to unlink; returns the next lower page of the subtree (invalid: the leaf).
    fn check_target(
        &self,
        node: Node<'_>,
        target: BlockNo,
        leaf: BlockNo,
        left: BlockNo,
        level: u32,
    ) -> Result<BlockNo> {
        if node.is_rightmost() || node.is_root() || node.is_deleted() {
            return Err(pg_err!(
                INTERNAL_ERROR,
                "target page changed status unexpectedly in block {target} of index \"{}\"",
                self.name
            ));
        }
        if node.prev() != left {
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "target page left link unexpectedly changed from {left} to {} in block {target} of \
                 index \"{}\"",
                node.prev(),
                self.name
            ));
        }
        let (first, max) = (node.first_data_key(), node.max_offset());
        if target == leaf {
            if first <= max || !node.is_leaf() || !node.is_half_dead() {
                return Err(pg_err!(
                    INTERNAL_ERROR,
                    "target leaf page changed status unexpectedly in block {target} of index \
                     \"{}\"",
                    self.name
                ));
            }
            return Ok(BlockNo::INVALID);
        }
        if first != max || node.is_leaf() {
            return Err(pg_err!(
                INTERNAL_ERROR,
                "target internal page on level {level} changed status unexpectedly in block \
                 {target} of index \"{}\"",
                self.name
            ));
        }
        let next = node.tuple(first).downlink();
        Ok(if next == leaf { BlockNo::INVALID } else { next })
    }
}
