//! What the entry tree and the posting trees have in common: descent, insertion, splits.
//!
//! A split is two steps, each with its record: the page is divided, and marked as incompletely
//! split; then its parent gets the downlink, and the mark is removed. An insertion that finds such
//! a page completes the split. The root stays at its block: its split makes two new pages below it,
//! in one step.
//!
//! LOCK ORDER: a page before its parent, and from left to right. A descent has one page latched.
//!
//! Counterpart: ginbtree.c.

use crate::index::GinIndex;
use crate::leaf::{self, LeafChange};
use crate::records::{self, IS_DATA, IS_LEAF, SPLIT_ROOT};
use access::Cx;
use bufmgr::{ExclusiveGuard, ShareGuard};
use ids::{BlockNo, OffsetNo};
use page::gin::{
    self, COMPRESSED, DATA, Entry, GinPage, INCOMPLETE_SPLIT, LEAF, PostingItem, block_bytes,
};
use page::index_space;
use page::{Page, PageBuf, PageMut};
use pgerror::{PgError, Result};
use wal::RegFlags;

/// The change of a page that an insertion makes.
pub(crate) enum Change {
    /// A tuple of a leaf of the entry tree, which replaces the one at the offset or is inserted.
    Entry {
        offset: OffsetNo,
        replaces: bool,
        tuple: Vec<u8>,
    },
    /// A downlink of the entry tree; that at the offset, which moves up, becomes one to `right`.
    EntryLink {
        offset: OffsetNo,
        tuple: Vec<u8>,
        right: BlockNo,
    },
    Leaf(LeafChange),
    /// As `EntryLink`, of a posting tree.
    Link {
        offset: OffsetNo,
        item: PostingItem,
        right: BlockNo,
    },
}

/// How an insertion changes a page.
pub(crate) enum Placement {
    Nothing,
    Change(Change),
    /// The new left and right page, without their links.
    Split(Box<(PageBuf, PageBuf)>),
}

/// One of the two kinds of trees, with the key that is looked up.
pub(crate) trait Tree {
    fn root(&self) -> BlockNo;
    fn is_data(&self) -> bool;
    /// True if the key is to the right of a page that is not the rightmost.
    fn goes_right(&self, page: &Page) -> Result<bool>;
    /// The child of an inner page that has the key.
    fn child(&self, page: &Page) -> Result<BlockNo>;
    /// The child of the first downlink of an inner page.
    fn leftmost(&self, page: &Page) -> BlockNo;
    /// The offset of the downlink to a child.
    fn find_link(&self, page: &Page, child: BlockNo) -> Option<OffsetNo>;
    /// Plans the insertion of the downlink to a page that was split, into the inner page `page` at
    /// the downlink `offset`, which pointed to it and will point to its right neighbor `right`.
    fn place_link(
        &self,
        page: &Page,
        offset: OffsetNo,
        left: (&Page, BlockNo),
        right: BlockNo,
    ) -> Result<Placement>;
    /// Fills the new root with the downlinks of both pages.
    fn fill_root(
        &self,
        root: PageMut<'_>,
        left: (&Page, BlockNo),
        right: (&Page, BlockNo),
    ) -> Result<()>;
}

impl Change {
    /// Applies the change to a page that has room for it.
    fn apply(&self, page: PageMut<'_>) -> Result<()> {
        match self {
            Change::Entry { offset, replaces, tuple } => {
                put_entry(page, *offset, *replaces, None, tuple)
            }
            Change::EntryLink { offset, tuple, right } => {
                put_entry(page, *offset, false, Some(*right), tuple)
            }
            Change::Leaf(change) => leaf::apply(page, change),
            Change::Link { offset, item, right } => put_link(page, *offset, *item, *right),
        }
    }

    /// The data of the page in the record.
    fn log(&self) -> Vec<u8> {
        match self {
            Change::Entry { offset, replaces, tuple } => {
                records::entry_data(*offset, *replaces, tuple)
            }
            Change::EntryLink { offset, tuple, .. } => records::entry_data(*offset, false, tuple),
            Change::Leaf(change) => change.log.clone(),
            Change::Link { offset, item, .. } => records::posting_item_data(*offset, *item),
        }
    }
}

fn no_room() -> PgError {
    PgError::internal("failed to add item to a page of a GIN index")
}

/// Adds a tuple to an entry page, after the tuple at the offset was deleted (`replaces`) or became
/// a downlink to `right`.
pub(crate) fn put_entry(
    page: PageMut<'_>,
    offset: OffsetNo,
    replaces: bool,
    right: Option<BlockNo>,
    tuple: &[u8],
) -> Result<()> {
    if let Some(right) = right {
        let item = page.item_mut(offset);
        if item.len() < 8 {
            return Err(no_room());
        }
        gin::set_downlink(item, right);
    }
    if replaces {
        index_space::delete(page, offset)?;
    }
    if index_space::add(page, tuple, offset) { Ok(()) } else { Err(no_room()) }
}

/// Adds a posting item to an inner page, after the one at the offset became a link to `right`.
pub(crate) fn put_link(
    page: PageMut<'_>,
    offset: OffsetNo,
    item: PostingItem,
    right: BlockNo,
) -> Result<()> {
    if offset == 0 || offset > GinPage(page).posting_items() {
        return Err(no_room());
    }
    gin::set_child(page, offset, right);
    if gin::add_posting_item(page, item, offset) { Ok(()) } else { Err(no_room()) }
}

impl GinIndex {
    /// The leaf with the tree's key, latched for reading. A deleted page of a posting tree is left
    /// to the right. Counterpart: `ginFindLeafPage` in search mode.
    pub(crate) fn find_leaf<'p>(&self, cx: &mut Cx<'p>, tree: &dyn Tree) -> Result<ShareGuard<'p>> {
        let mut block = tree.root();
        loop {
            let mut page = self.share(cx, block)?;
            self.check_tree(&page, tree)?;
            while block != tree.root() && tree.goes_right(&page)? {
                page = self.step_share(cx, page)?;
                block = page.block();
            }
            if GinPage(&page).is_leaf() {
                return Ok(page);
            }
            let child = tree.child(&page)?;
            if child == block || child == BlockNo::INVALID {
                return Err(self.corrupted(block));
            }
            block = child;
        }
    }

    fn check_tree(&self, page: &ShareGuard<'_>, tree: &dyn Tree) -> Result<()> {
        let is_data = GinPage(page).has(DATA);
        if is_data == tree.is_data() { Ok(()) } else { Err(self.corrupted(page.block())) }
    }

    /// The leaf with the tree's key, latched exclusively, and the blocks above it, from the root.
    /// Completes splits on the way.
    pub(crate) fn find_leaf_for_insert<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
    ) -> Result<(ExclusiveGuard<'p>, Vec<BlockNo>)> {
        let mut path: Vec<BlockNo> = Vec::new();
        let mut block = tree.root();
        loop {
            let page = self.share(cx, block)?;
            self.check_tree(&page, tree)?;
            let right = block != tree.root() && tree.goes_right(&page)?;
            if GinPage(&page).has(INCOMPLETE_SPLIT) {
                drop(page);
                let page = self.exclusive(cx, block)?;
                drop(self.finish_old_split(cx, tree, &path, page)?);
            } else if right {
                block = GinPage(&page).right_link();
            } else if !GinPage(&page).is_leaf() {
                let child = tree.child(&page)?;
                if child == block || child == BlockNo::INVALID || path.len() > 64 {
                    return Err(self.corrupted(block));
                }
                path.push(block);
                block = child;
            } else {
                drop(page);
                if let Some(page) = self.leaf_exclusive(cx, tree, block)? {
                    return Ok((page, path));
                }
            }
        }
    }

    /// The leaf at the block, latched exclusively; `None` if the page was split meanwhile so that
    /// the descent must look at it again.
    fn leaf_exclusive<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        block: BlockNo,
    ) -> Result<Option<ExclusiveGuard<'p>>> {
        let page = self.exclusive(cx, block)?;
        let own = GinPage(&page);
        let moved = block != tree.root() && tree.goes_right(&page)?;
        let usable = own.is_leaf() && !own.has(INCOMPLETE_SPLIT) && !moved;
        Ok(usable.then_some(page))
    }

    /// Completes the split of a page, if that has not been done yet.
    fn finish_old_split<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        path: &[BlockNo],
        page: ExclusiveGuard<'p>,
    ) -> Result<ExclusiveGuard<'p>> {
        if !GinPage(&page).has(INCOMPLETE_SPLIT) {
            return Ok(page);
        }
        self.finish_split(cx, tree, path, page)
    }

    /// Changes a page of the tree, whose ancestors are in `path`, and completes its split.
    pub(crate) fn place<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        path: &[BlockNo],
        mut page: ExclusiveGuard<'p>,
        placement: Placement,
    ) -> Result<()> {
        if !self.put(cx, tree, &mut page, placement, None)? {
            self.finish_split(cx, tree, path, page)?;
        }
        Ok(())
    }

    /// Inserts the downlink of a page that was split, and completes splits that this causes above.
    /// Returns the page, still latched. Counterpart: `ginFinishSplit`.
    fn finish_split<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        path: &[BlockNo],
        mut page: ExclusiveGuard<'p>,
    ) -> Result<ExclusiveGuard<'p>> {
        let mut path = path.to_vec();
        let mut above = self.insert_link(cx, tree, &mut path, &mut page)?;
        while let Some(mut parent) = above {
            above = self.insert_link(cx, tree, &mut path, &mut parent)?;
        }
        Ok(page)
    }

    /// Inserts the downlink of `child` into its parent, which is removed from the path. Returns the
    /// parent if it was split.
    fn insert_link<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        path: &mut Vec<BlockNo>,
        child: &mut ExclusiveGuard<'p>,
    ) -> Result<Option<ExclusiveGuard<'p>>> {
        let (mut parent, offset) = self.latch_parent(cx, tree, path, child.block())?;
        let right = GinPage(child).right_link();
        let placement = tree.place_link(&parent, offset, (child, child.block()), right)?;
        let complete = self.put(cx, tree, &mut parent, placement, Some(child))?;
        Ok((!complete).then_some(parent))
    }

    /// The parent of a page, and the offset of the downlink. `path` becomes that of the parent.
    fn latch_parent<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        path: &mut Vec<BlockNo>,
        child: BlockNo,
    ) -> Result<(ExclusiveGuard<'p>, OffsetNo)> {
        let start = path.pop().unwrap_or(tree.root());
        if let Some(found) = self.find_on_level(cx, tree, path, start, child)?.0 {
            return Ok(found);
        }
        // The root was split after the descent: the parent is on a level that the path lacks.
        path.clear();
        let mut block = tree.root();
        loop {
            let (found, next) = self.find_on_level(cx, tree, path, block, child)?;
            if let Some(found) = found {
                return Ok(found);
            }
            path.push(block);
            block = next.ok_or_else(|| self.internal("lost path"))?;
        }
    }

    /// Looks for the downlink to a child on a page and those to its right. Also returns the first
    /// page of the next level, `None` if the level consists of leaves.
    #[allow(clippy::type_complexity)]
    fn find_on_level<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        path: &[BlockNo],
        start: BlockNo,
        child: BlockNo,
    ) -> Result<(Option<(ExclusiveGuard<'p>, OffsetNo)>, Option<BlockNo>)> {
        let page = self.exclusive(cx, start)?;
        let mut page = self.finish_old_split(cx, tree, path, page)?;
        if GinPage(&page).is_leaf() {
            return Ok((None, None));
        }
        let first = tree.leftmost(&page);
        loop {
            if let Some(offset) = tree.find_link(&page, child) {
                return Ok((Some((page, offset)), Some(first)));
            }
            if GinPage(&page).is_rightmost() {
                return Ok((None, Some(first)));
            }
            let right = self.step_exclusive(cx, page)?;
            page = self.finish_old_split(cx, tree, path, right)?;
        }
    }

    /// Carries out a placement on a page. `child`: its downlink is inserted, so that its split is
    /// complete. Returns false if the page was split and its parent lacks the downlink.
    ///
    /// WAL: INSERT, SPLIT.
    fn put<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        page: &mut ExclusiveGuard<'p>,
        placement: Placement,
        child: Option<&mut ExclusiveGuard<'p>>,
    ) -> Result<bool> {
        match placement {
            Placement::Nothing => Ok(true),
            Placement::Change(change) => {
                self.put_change(cx, page, &change, child)?;
                Ok(true)
            }
            Placement::Split(pages) => {
                let (left, right) = *pages;
                if page.block() == tree.root() {
                    self.split_root(cx, tree, page, left, right, child)?;
                    return Ok(true);
                }
                self.split(cx, page, left, right, child)?;
                Ok(false)
            }
        }
    }

    fn put_change<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        change: &Change,
        child: Option<&mut ExclusiveGuard<'p>>,
    ) -> Result<()> {
        if !GinPage(page).has(DATA) {
            page.check_index_items()?;
        }
        let flags = record_flags(page);
        let mut edit = self.edit(cx);
        change.apply(edit.change(page, 0, RegFlags::STANDARD))?;
        edit.block_data(0, &change.log());
        edit.main(&flags.to_le_bytes());
        if let Some(child) = child {
            let (left, right) = (child.block(), GinPage(child).right_link());
            gin::clear_flag(edit.change(child, 1, RegFlags::STANDARD), INCOMPLETE_SPLIT);
            edit.main(&block_bytes(left));
            edit.main(&block_bytes(right));
        }
        edit.log(records::INSERT)?;
        Ok(())
    }

    fn split<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        mut left: PageBuf,
        mut right: PageBuf,
        child: Option<&mut ExclusiveGuard<'p>>,
    ) -> Result<()> {
        let mut new = self.new_page(cx)?;
        let right_link = GinPage(page).right_link();
        let record = self.split_record(page, right_link, &child, 0);
        gin::set_right_link(&mut right, right_link);
        gin::set_right_link(&mut left, new.block());
        gin::add_flag(&mut left, INCOMPLETE_SPLIT);
        let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
        let mut edit = self.edit(cx);
        left.copy_to(edit.change(page, 0, flags));
        right.copy_to(edit.change(&mut new, 1, flags));
        if let Some(child) = child {
            gin::clear_flag(edit.change(child, 3, RegFlags::STANDARD), INCOMPLETE_SPLIT);
        }
        edit.main(&record.encode());
        edit.log(records::SPLIT)?;
        Ok(())
    }

    fn split_root<'p>(
        &self,
        cx: &mut Cx<'p>,
        tree: &dyn Tree,
        root: &mut ExclusiveGuard<'p>,
        mut left: PageBuf,
        mut right: PageBuf,
        child: Option<&mut ExclusiveGuard<'p>>,
    ) -> Result<()> {
        let mut new_right = self.new_page(cx)?;
        let mut new_left = self.new_page(cx)?;
        let record = self.split_record(root, BlockNo::INVALID, &child, SPLIT_ROOT);
        gin::set_right_link(&mut right, BlockNo::INVALID);
        gin::set_right_link(&mut left, new_right.block());
        let mut new_root = PageBuf::new();
        gin::init(&mut new_root, GinPage(&left).flags() & !(LEAF | COMPRESSED));
        tree.fill_root(
            &mut new_root,
            (left.page(), new_left.block()),
            (right.page(), new_right.block()),
        )?;
        let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
        let mut edit = self.edit(cx);
        left.copy_to(edit.change(&mut new_left, 0, flags));
        right.copy_to(edit.change(&mut new_right, 1, flags));
        new_root.copy_to(edit.change(root, 2, flags));
        if let Some(child) = child {
            gin::clear_flag(edit.change(child, 3, RegFlags::STANDARD), INCOMPLETE_SPLIT);
        }
        edit.main(&record.encode());
        edit.log(records::SPLIT)?;
        Ok(())
    }

    fn split_record(
        &self,
        page: &Page,
        right_link: BlockNo,
        child: &Option<&mut ExclusiveGuard<'_>>,
        flags: u16,
    ) -> records::Split {
        let children = child.as_ref().map(|c| (c.block(), GinPage(c).right_link()));
        let (left_child, right_child) = children.unwrap_or((BlockNo::INVALID, BlockNo::INVALID));
        let flags = flags | record_flags(page);
        records::Split { rel: self.file.rel, right_link, left_child, right_child, flags }
    }
}

fn record_flags(page: &Page) -> u16 {
    let own = GinPage(page);
    let data = if own.has(DATA) { IS_DATA } else { 0 };
    data | if own.is_leaf() { IS_LEAF } else { 0 }
}

/// The tuple of an inner page for a child.
pub(crate) fn link_to(child: (&Page, BlockNo)) -> Vec<u8> {
    let (page, block) = child;
    let last: Entry<'_> = gin::last_entry(page);
    gin::interior(last, GinPage(page).is_leaf(), block)
}
