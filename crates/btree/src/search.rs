//! Descent of the tree. Latches are not coupled: after the parent is released and before the child
//! is latched, the child may be split. A comparison with its high key detects that, and the descent
//! follows right links.
//!
//! Counterpart: the first half of nbtsearch.c.

use crate::buf::{Cx, ShareGuard};
use crate::index::Index;
use crate::index::{Access, Latched};
use crate::key::InsertKey;
use ids::{BlockNo, OffsetNo};
use page::btree::Node;
use pgerror::{Result, pg_err};
use smallvec::SmallVec;

/// An inner page on the path of a descent and the offset of the downlink followed: a hint for
/// finding the downlink again. Counterpart: `BTStackData`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackEntry {
    pub block: BlockNo,
    pub offset: OffsetNo,
}

/// More levels than any valid index has. Beyond it downlinks form a cycle.
const HEIGHT_MAX: usize = 64;

/// From the root down.
pub(crate) type Stack = SmallVec<[StackEntry; 6]>;

impl Index {
    /// Descends to the first leaf that may contain `key`. `None`: the index is empty and `access`
    /// is `Read`. With `Write`, completes incomplete splits on the path. Counterpart: `_bt_search`.
    pub(crate) fn search<'p>(
        &self,
        cx: &mut Cx<'p>,
        key: &InsertKey<'_>,
        access: Access,
    ) -> Result<Option<(Stack, Latched<'p>)>> {
        let mut stack = Stack::new();
        let Some(root) = self.root(cx, access)? else { return Ok(None) };
        let mut page = Latched::Share(root);
        let mut page_access = Access::Read;
        let for_update = access == Access::Write;
        loop {
            page = self.move_right(cx, key, page, for_update, &stack, page_access)?;
            let node = page.node();
            if node.is_leaf() {
                break;
            }
            let offset = self.schema.binary_search(key, node)?;
            let child = node.tuple(offset).downlink();
            if stack.len() == HEIGHT_MAX {
                return Err(self.corrupted(page.block()));
            }
            stack.push(StackEntry { block: page.block(), offset });
            if for_update && node.level() == 1 {
                page_access = Access::Write;
            }
            drop(page);
            page = self.latch(cx, child, page_access)?;
        }
        if for_update && page_access == Access::Read {
            // The root is a leaf. It may have been split while the latch was exchanged.
            page = Latched::Exclusive(page.into_exclusive());
            page = self.move_right(cx, key, page, true, &stack, Access::Write)?;
        }
        Ok(Some((stack, page)))
    }

    /// Follows right links while `key` is beyond the page's high key. Counterpart: `_bt_moveright`.
    pub(crate) fn move_right<'p>(
        &self,
        cx: &mut Cx<'p>,
        key: &InsertKey<'_>,
        mut page: Latched<'p>,
        for_update: bool,
        stack: &[StackEntry],
        access: Access,
    ) -> Result<Latched<'p>> {
        loop {
            let node = page.node();
            if node.is_rightmost() {
                break;
            }
            if for_update && node.is_incomplete_split() {
                let block = page.block();
                let g = page.into_exclusive();
                if Node(&g).is_incomplete_split() {
                    self.finish_split(cx, g, stack)?;
                } else {
                    drop(g);
                }
                page = self.latch(cx, block, access)?;
                continue;
            }
            if !node.is_ignored() && !self.schema.is_beyond_high_key(key, node)? {
                break;
            }
            let next = node.next();
            drop(page);
            // Sibling links of a damaged index may form a cycle.
            (cx.check_interrupts)()?;
            page = self.latch(cx, next, access)?;
        }
        if page.node().is_ignored() {
            return Err(self.fell_off());
        }
        Ok(page)
    }

    /// The leftmost or rightmost live page of a level. Counterpart: `_bt_get_endpoint`.
    pub(crate) fn endpoint<'p>(
        &self,
        cx: &mut Cx<'p>,
        level: u32,
        rightmost: bool,
    ) -> Result<Option<ShareGuard<'p>>> {
        let root = if level == 0 { self.root(cx, Access::Read)? } else { self.true_root(cx)? };
        let Some(mut page) = root else { return Ok(None) };
        let mut height = 0;
        loop {
            // The page that the downlink leads to may have been deleted or, for `rightmost`, split.
            while Node(&page).is_ignored() || (rightmost && !Node(&page).is_rightmost()) {
                let next = Node(&page).next();
                if Node(&page).is_rightmost() {
                    return Err(self.fell_off());
                }
                drop(page);
                page = self.share(cx, next)?;
            }
            let node = Node(&page);
            if node.level() == level {
                return Ok(Some(page));
            }
            if node.level() < level {
                return Err(pg_err!(
                    INDEX_CORRUPTED,
                    "btree level {level} not found in index \"{}\"",
                    self.name
                ));
            }
            let offset = if rightmost { node.max_offset() } else { node.first_data_key() };
            let child = node.tuple(offset).downlink();
            height += 1;
            if height > HEIGHT_MAX {
                return Err(self.corrupted(page.block()));
            }
            drop(page);
            page = self.share(cx, child)?;
        }
    }
}
