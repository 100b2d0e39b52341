//! Check of the structure of an index: every page has one use, entries and TIDs are in order, the
//! keys and bounds of inner pages agree with their children, no split is incomplete.

use crate::index::GinIndex;
use crate::insert::list_of;
use crate::key::Tuples;
use crate::posting::read_items;
use access::{Cx, OnEntry};
use bufmgr::ShareGuard;
use ids::BlockNo;
use page::gin::{
    DATA, DELETED, Entry, GinPage, INCOMPLETE_SPLIT, Item, LIST, LIST_FULLROW, Postings, ROOT_BLOCK,
};
use pgerror::Result;
use std::collections::HashSet;

/// What has been visited.
struct Check<'a> {
    used: HashSet<BlockNo>,
    on_entry: OnEntry<'a>,
    count: u64,
}

impl Check<'_> {
    fn item(&mut self, item: Item) -> Result<()> {
        self.count += 1;
        (self.on_entry)(item.tid())
    }
}

impl GinIndex {
    /// Checks an index that does not change concurrently, and visits the entries: a row once for
    /// each of its keys. Returns their number. Error: XX002.
    pub(crate) fn check_structure(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        let mut check = Check { used: HashSet::new(), on_entry, count: 0 };
        self.check_pending(cx, &mut check)?;
        let mut level = vec![ROOT_BLOCK];
        let mut roots = Vec::new();
        while let Some(first) = level.first() {
            let page = self.share(cx, *first)?;
            let leaf = GinPage(&page).is_leaf();
            drop(page);
            level = self.check_entry_level(cx, &level, leaf, &mut roots, &mut check)?;
        }
        for root in roots {
            self.check_posting_tree(cx, root, &mut check)?;
        }
        Ok(check.count)
    }

    fn visit<'p>(
        &self,
        cx: &mut Cx<'p>,
        block: BlockNo,
        check: &mut Check<'_>,
    ) -> Result<ShareGuard<'p>> {
        (cx.check_interrupts)()?;
        let page = self.share(cx, block)?;
        if !check.used.insert(block) {
            return Err(self.damage(block, "page with two uses"));
        }
        if GinPage(&page).has(DELETED) {
            return Err(self.damage(block, "deleted page in use"));
        }
        Ok(page)
    }

    fn check_pending(&self, cx: &mut Cx<'_>, check: &mut Check<'_>) -> Result<()> {
        let meta = self.meta_share(cx)?;
        let data = GinPage(&meta).meta();
        drop(meta);
        let (mut block, mut pages, mut last) = (data.head, 0, BlockNo::INVALID);
        while block != BlockNo::INVALID {
            let page = self.visit(cx, block, check)?;
            if !GinPage(&page).has(LIST) {
                return Err(self.damage(block, "page of another kind in the pending list"));
            }
            for offset in 1..=page.max_offset() {
                let tuple = page.item(offset);
                if Tuples(tuple).count() != 1 {
                    return Err(self.damage(block, "damaged entry in the pending list"));
                }
                let mut scratch = Vec::new();
                self.schema.key(Entry::new(tuple), &mut scratch)?;
                check.item(Item::of(Entry::new(tuple).0.tid_field()))?;
            }
            if GinPage(&page).is_rightmost() && !GinPage(&page).has(LIST_FULLROW) {
                return Err(self.damage(block, "incomplete row in the pending list"));
            }
            pages += 1;
            (last, block) = (block, GinPage(&page).right_link());
        }
        if pages != data.pending_pages || last != data.tail {
            return Err(self.damage(last, "wrong size of the pending list"));
        }
        Ok(())
    }

    /// Checks a level of the entry tree, whose pages are those to which the level above has
    /// downlinks. Returns the pages of the next one.
    fn check_entry_level(
        &self,
        cx: &mut Cx<'_>,
        blocks: &[BlockNo],
        leaf: bool,
        roots: &mut Vec<BlockNo>,
        check: &mut Check<'_>,
    ) -> Result<Vec<BlockNo>> {
        let mut below = Vec::new();
        let mut last: Option<Vec<u8>> = None;
        for (n, block) in blocks.iter().enumerate() {
            let page = self.visit(cx, *block, check)?;
            let own = GinPage(&page);
            if own.has(DATA) || own.is_leaf() != leaf || own.has(INCOMPLETE_SPLIT) {
                return Err(self.damage(*block, "wrong kind of entry page"));
            }
            let right = blocks.get(n + 1).copied().unwrap_or(BlockNo::INVALID);
            if own.right_link() != right {
                return Err(self.damage(*block, "broken link"));
            }
            for offset in 1..=page.max_offset() {
                let tuple = page.item(offset).to_vec();
                if let Some(last) = &last {
                    let order = crate::accumulate::compare(&self.schema, last, &tuple)?;
                    // The last key of an inner level has no meaning.
                    let is_last = !leaf && right == BlockNo::INVALID && offset == page.max_offset();
                    if !order.is_lt() && !is_last {
                        return Err(self.damage(*block, "entries out of order"));
                    }
                }
                let entry = Entry::new(&tuple);
                if !leaf {
                    below.push(entry.downlink());
                } else if let Postings::Tree(root) = entry.postings() {
                    roots.push(root);
                } else {
                    self.check_list(*block, &list_of(entry.postings()), entry, check)?;
                }
                last = Some(tuple);
            }
        }
        Ok(below)
    }

    fn check_list(
        &self,
        block: BlockNo,
        items: &[Item],
        entry: Entry<'_>,
        check: &mut Check<'_>,
    ) -> Result<()> {
        let count = match entry.postings() {
            Postings::List { count, .. } => usize::from(count),
            _ => items.len(),
        };
        if count != items.len() || !items.is_sorted_by(|a, b| a < b) {
            return Err(self.damage(block, "damaged posting list"));
        }
        items.iter().try_for_each(|item| check.item(*item))
    }

    fn check_posting_tree(
        &self,
        cx: &mut Cx<'_>,
        root: BlockNo,
        check: &mut Check<'_>,
    ) -> Result<()> {
        // The pages of a level, each with the largest TID that its parent states.
        let mut level: Vec<(BlockNo, Option<Item>)> = vec![(root, None)];
        while !level.is_empty() {
            let mut below = Vec::new();
            let mut last = Item::MIN;
            for (n, (block, bound)) in level.iter().enumerate() {
                let page = self.visit(cx, *block, check)?;
                let own = GinPage(&page);
                if !own.has(DATA) || own.has(INCOMPLETE_SPLIT) {
                    return Err(self.damage(*block, "wrong kind of page in a posting tree"));
                }
                let right = level.get(n + 1).map_or(BlockNo::INVALID, |(b, _)| *b);
                if own.right_link() != right {
                    return Err(self.damage(*block, "broken link"));
                }
                let own_bound = Item::of(own.right_bound());
                let upper = if own.is_rightmost() { Item::MAX } else { own_bound };
                // After a deletion the parent's key may be less than that of the page.
                if bound.is_some_and(|bound| !own.is_rightmost() && bound < last) {
                    return Err(self.damage(*block, "bounds out of order"));
                }
                if own.is_leaf() {
                    let mut items = Vec::new();
                    read_items(&page, Item::MIN, &mut items);
                    for item in items {
                        if item <= last || item > upper {
                            return Err(self.damage(*block, "TIDs out of order"));
                        }
                        last = item;
                        check.item(item)?;
                    }
                } else {
                    for n in 1..=own.posting_items() {
                        let item = own.posting_item(n);
                        below.push((item.child, Some(Item::of(item.key))));
                    }
                }
                last = last.max(if own.is_rightmost() { last } else { own_bound });
            }
            level = below;
        }
        Ok(())
    }
}
