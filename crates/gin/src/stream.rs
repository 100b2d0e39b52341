//! Streams of the TIDs of one key, or of several keys that match partially, in ascending order.
//!
//! A stream keeps no pin: it continues a posting tree by a descent to the first item after those it
//! has returned.
//!
//! Counterpart: `startScanEntry`, `collectMatchBitmap`, `entryGetItem` in ginget.c.

use crate::entry::EntryTree;
use crate::index::GinIndex;
use crate::insert::list_of;
use crate::key::{Category, Key};
use crate::posting::{PostingTree, read_items};
use access::Cx;
use bufmgr::ShareGuard;
use ids::BlockNo;
use page::gin::{DELETED, Entry, GinPage, Item, Postings};
use pgerror::Result;
use std::cmp::Ordering;
use types::{Datum, DatumRef};

/// Which entries a stream unites.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Matching {
    /// The one with the key.
    Exact,
    /// Those that match the query's key with this number.
    Partial(usize),
    /// All of the column whose value is not NULL.
    NotNull,
    /// All of the column.
    Everything,
}

/// A stream.
pub(crate) struct Stream {
    pub column: usize,
    pub category: Category,
    pub key: Datum,
    pub matching: Matching,
    /// The last item returned; [`Item::MIN`] at the beginning.
    pub current: Item,
    pub finished: bool,
    /// Estimated number of items.
    pub expected: u64,
    items: Vec<Item>,
    /// Number of `items` that have been returned.
    at: usize,
    /// The posting tree that has more items after `items`.
    tree: Option<BlockNo>,
}

/// Compares an index key with the stream's key, which matches partially.
pub(crate) type Compare<'a> = &'a dyn Fn(usize, DatumRef<'_>) -> Ordering;

impl Stream {
    pub(crate) fn new(column: usize, category: Category, key: Datum, matching: Matching) -> Stream {
        Stream {
            column,
            category,
            key,
            matching,
            current: Item::MIN,
            finished: false,
            expected: 0,
            items: Vec::new(),
            at: 0,
            tree: None,
        }
    }

    pub(crate) fn key(&self) -> Key<'_> {
        Key { column: self.column, category: self.category, value: self.key.as_ref() }
    }

    /// Looks the key up.
    pub(crate) fn start(
        &mut self,
        index: &GinIndex,
        cx: &mut Cx<'_>,
        compare: Compare<'_>,
    ) -> Result<()> {
        self.current = Item::MIN;
        (self.finished, self.expected) = (false, 0);
        self.items.clear();
        (self.at, self.tree) = (0, None);
        if self.matching == Matching::Exact {
            self.start_exact(index, cx)?;
        } else {
            self.items = index.collect(cx, self, compare)?;
            self.expected = self.items.len() as u64;
        }
        self.finished = self.items.is_empty() && self.tree.is_none();
        Ok(())
    }

    fn start_exact(&mut self, index: &GinIndex, cx: &mut Cx<'_>) -> Result<()> {
        let tree = EntryTree { index, key: self.key() };
        let page = index.find_leaf(cx, &tree)?;
        let (offset, found) = tree.locate(&page)?;
        if !found {
            return Ok(());
        }
        let postings = Entry::new(page.item(offset)).postings();
        let Postings::Tree(root) = postings else {
            self.items = list_of(postings);
            self.expected = self.items.len() as u64;
            return Ok(());
        };
        drop(page);
        let (page, leaves) = index.first_leaf(cx, root)?;
        read_items(&page, Item::MIN, &mut self.items);
        self.expected = leaves * self.items.len() as u64;
        self.tree = (!GinPage(&page).is_rightmost()).then_some(root);
        Ok(())
    }

    /// Moves to the first item after `past`.
    pub(crate) fn advance(&mut self, index: &GinIndex, cx: &mut Cx<'_>, past: Item) -> Result<()> {
        loop {
            let rest = self.items.get(self.at..).unwrap_or(&[]);
            self.at += skip(rest, past);
            if let Some(item) = self.items.get(self.at) {
                self.current = *item;
                self.at += 1;
                return Ok(());
            }
            let Some(root) = self.tree else {
                self.finished = true;
                return Ok(());
            };
            self.items.clear();
            self.at = 0;
            let more = index.read_tree(cx, root, past, &mut self.items)?;
            self.tree = more.then_some(root);
        }
    }
}

/// The number of items up to `past`, found by steps of growing size.
fn skip(items: &[Item], past: Item) -> usize {
    let mut step = 1;
    while step < items.len() && items[step] <= past {
        step *= 2;
    }
    let from = if step == 1 { 0 } else { step / 2 };
    from + items[from..items.len().min(step + 1)].partition_point(|item| *item <= past)
}

impl GinIndex {
    /// The first leaf of a posting tree, and the estimated number of leaves.
    fn first_leaf<'p>(&self, cx: &mut Cx<'p>, root: BlockNo) -> Result<(ShareGuard<'p>, u64)> {
        let (mut block, mut leaves) = (root, 1);
        loop {
            let page = self.share(cx, block)?;
            let own = GinPage(&page);
            if !own.has(page::gin::DATA) {
                return Err(self.corrupted(block));
            }
            if own.is_leaf() {
                return Ok((page, leaves));
            }
            leaves *= u64::from(own.posting_items().max(1));
            let child = own.posting_item(1).child;
            if child == block || own.posting_items() == 0 {
                return Err(self.corrupted(block));
            }
            block = child;
        }
    }

    /// Reads the items of the first leaf with one after `past`. Returns whether there are leaves to
    /// the right.
    fn read_tree(
        &self,
        cx: &mut Cx<'_>,
        root: BlockNo,
        past: Item,
        out: &mut Vec<Item>,
    ) -> Result<bool> {
        let mut page = self.find_leaf(cx, &PostingTree { root, item: past.after() })?;
        loop {
            let own = GinPage(&page);
            if !own.has(DELETED) {
                read_items(&page, past, out);
            }
            let more = !own.is_rightmost();
            if out.last().is_some_and(|last| *last > past) || !more {
                return Ok(more);
            }
            out.clear();
            (cx.check_interrupts)()?;
            page = self.step_share(cx, page)?;
        }
    }

    /// The items of all entries that a stream unites, in order.
    fn collect(&self, cx: &mut Cx<'_>, stream: &Stream, compare: Compare<'_>) -> Result<Vec<Item>> {
        let mut set = ItemSet::new(cx.limits.work_mem);
        if matches!(stream.matching, Matching::Partial(_)) && stream.category != Category::Normal {
            return Ok(Vec::new());
        }
        let mut trees: Vec<BlockNo> = Vec::new();
        let tree = EntryTree { index: self, key: stream.key() };
        let mut page = self.find_leaf(cx, &tree)?;
        let (mut offset, _) = tree.locate(&page)?;
        let mut scratch = Vec::new();
        'pages: loop {
            while offset <= page.max_offset() {
                let entry = Entry::new(page.item(offset));
                let key = self.schema.key(entry, &mut scratch)?;
                offset += 1;
                match wanted(stream, &key, compare) {
                    Ordering::Greater => break 'pages,
                    Ordering::Less => continue,
                    Ordering::Equal => {}
                }
                match entry.postings() {
                    Postings::Tree(root) => trees.push(root),
                    postings => set.add(&list_of(postings)),
                }
            }
            if GinPage(&page).is_rightmost() {
                break;
            }
            (cx.check_interrupts)()?;
            page = self.step_share(cx, page)?;
            offset = 1;
        }
        drop(page);
        // Posting trees are never removed, so they can be read without the entry's page.
        for root in trees {
            self.collect_tree(cx, root, &mut set)?;
        }
        Ok(set.finish())
    }

    fn collect_tree(&self, cx: &mut Cx<'_>, root: BlockNo, set: &mut ItemSet) -> Result<()> {
        let (mut page, _) = self.first_leaf(cx, root)?;
        let mut items = Vec::new();
        loop {
            let own = GinPage(&page);
            if !own.has(DELETED) {
                items.clear();
                read_items(&page, Item::MIN, &mut items);
                set.add(&items);
            }
            if own.is_rightmost() {
                return Ok(());
            }
            (cx.check_interrupts)()?;
            page = self.step_share(cx, page)?;
        }
    }
}

/// `Equal`: the stream has the entry. `Greater`: no later one.
fn wanted(stream: &Stream, key: &Key<'_>, compare: Compare<'_>) -> Ordering {
    if key.column != stream.column {
        return key.column.cmp(&stream.column);
    }
    match stream.matching {
        Matching::Partial(_) if key.category != Category::Normal => Ordering::Greater,
        Matching::Partial(n) => compare(n, key.value),
        Matching::NotNull if key.category == Category::NullItem => Ordering::Greater,
        Matching::NotNull | Matching::Everything => Ordering::Equal,
        Matching::Exact => key.category.cmp(&stream.category),
    }
}

/// A set of items of limited memory: above it, items become those of whole blocks.
struct ItemSet {
    items: Vec<Item>,
    items_max: usize,
    /// Blocks whose rows are not distinguished, ascending.
    blocks: Vec<BlockNo>,
}

impl ItemSet {
    fn new(bytes: usize) -> ItemSet {
        let items_max = (bytes / size_of::<Item>()).max(1024);
        ItemSet { items: Vec::new(), items_max, blocks: Vec::new() }
    }

    fn add(&mut self, items: &[Item]) {
        self.items.extend_from_slice(items);
        if self.items.len() > self.items_max {
            self.items.sort_unstable();
            self.items.dedup();
            if self.items.len() > self.items_max / 2 {
                self.blocks.extend(self.items.drain(..).map(Item::block));
                self.blocks.sort_unstable();
                self.blocks.dedup();
            }
        }
    }

    fn finish(mut self) -> Vec<Item> {
        self.items.sort_unstable();
        self.items.dedup();
        if !self.blocks.is_empty() {
            // A block is either lossy or has exact items.
            let blocks = &self.blocks;
            self.items.retain(|item| blocks.binary_search(&item.block()).is_err());
            self.items.extend(self.blocks.iter().map(|block| Item::lossy(*block)));
            self.items.sort_unstable();
        }
        self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_skipped_by_growing_steps() {
        let items: Vec<Item> = (1..100).map(|n| Item(n * 2)).collect();
        for past in 0..210 {
            let expected = items.partition_point(|item| item.0 <= past);
            assert_eq!(skip(&items, Item(past)), expected, "{past}");
        }
        assert_eq!(skip(&[], Item(5)), 0);
    }

    #[test]
    fn a_full_set_keeps_blocks_instead_of_items() {
        let mut set = ItemSet::new(0);
        let item = |n: u64| Item(n << 11 | 1);
        set.add(&(0..1500).map(item).collect::<Vec<_>>());
        set.add(&[item(7), item(2000)]);
        let all = set.finish();
        assert_eq!(all.len(), 1501);
        assert!(all[7].is_lossy() && all[7].block() == BlockNo(7));
        assert_eq!(all[1500], item(2000));
    }
}
