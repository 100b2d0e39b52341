//! Posting trees: the TIDs of one key. Inner pages have posting items, each with the largest TID of
//! its child. Empty leaves are deleted by VACUUM, which excludes insertions: each insertion has the
//! root pinned.
//!
//! Counterpart: gindatapage.c.

use crate::index::GinIndex;
use crate::leaf::{self, Planned, SEGMENT_SIZE_MAX};
use crate::records;
use crate::tree::{Change, Placement, Tree};
use access::Cx;
use ids::{BlockNo, OffsetNo};
use page::gin::{
    self, COMPRESSED, DATA, DATA_SIZE_MAX, DELETED, GinPage, Item, LEAF, POSTING_ITEM_SIZE,
    PostingItem, compress,
};
use page::{Page, PageBuf, PageMut};
use pgerror::{PgError, Result};
use wal::RegFlags;

/// A posting tree, with an item that is looked up.
#[derive(Clone, Copy)]
pub(crate) struct PostingTree {
    pub root: BlockNo,
    pub item: Item,
}

impl Tree for PostingTree {
    fn root(&self) -> BlockNo {
        self.root
    }

    fn is_data(&self) -> bool {
        true
    }

    fn goes_right(&self, page: &Page) -> Result<bool> {
        let own = GinPage(page);
        Ok(!own.is_rightmost() && (own.has(DELETED) || self.item > Item::of(own.right_bound())))
    }

    fn child(&self, page: &Page) -> Result<BlockNo> {
        let own = GinPage(page);
        let last = own.posting_items();
        // The last child has no upper bound.
        let (mut low, mut high) = (1, last.max(1));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.item > Item::of(own.posting_item(middle).key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(if last == 0 { BlockNo::INVALID } else { own.posting_item(high).child })
    }

    fn leftmost(&self, page: &Page) -> BlockNo {
        GinPage(page).posting_item(1).child
    }

    fn find_link(&self, page: &Page, child: BlockNo) -> Option<OffsetNo> {
        let own = GinPage(page);
        (1..=own.posting_items()).find(|n| own.posting_item(*n).child == child)
    }

    fn place_link(
        &self,
        page: &Page,
        offset: OffsetNo,
        left: (&Page, BlockNo),
        right: BlockNo,
    ) -> Result<Placement> {
        let own = GinPage(page);
        let item = PostingItem { child: left.1, key: GinPage(left.0).right_bound() };
        let count = own.posting_items();
        if (usize::from(count) + 1) * POSTING_ITEM_SIZE <= DATA_SIZE_MAX {
            return Ok(Placement::Change(Change::Link { offset, item, right }));
        }
        let mut items: Vec<PostingItem> = (1..=count).map(|n| own.posting_item(n)).collect();
        let at = usize::from(offset) - 1;
        items[at].child = right;
        items.insert(at, item);
        let (low, high) = items.split_at(items.len() / 2);
        let left = inner_page(low, low.last().map_or(own.right_bound(), |i| i.key));
        let right = inner_page(high, own.right_bound());
        let pages = left.zip(right);
        let pages = pages.ok_or_else(|| PgError::internal("a page is too full after a split"))?;
        Ok(Placement::Split(Box::new(pages)))
    }

    fn fill_root(
        &self,
        root: PageMut<'_>,
        left: (&Page, BlockNo),
        right: (&Page, BlockNo),
    ) -> Result<()> {
        for (n, (page, child)) in (1..).zip([left, right]) {
            let item = PostingItem { child, key: GinPage(page).right_bound() };
            if !gin::add_posting_item(root, item, n) {
                return Err(PgError::internal("failed to add an item to a root page"));
            }
        }
        Ok(())
    }
}

/// An inner page with these items; `None` if they do not fit.
pub(crate) fn inner_page(items: &[PostingItem], bound: ids::Tid) -> Option<PageBuf> {
    let mut page = PageBuf::new();
    gin::init(&mut page, DATA);
    for (n, item) in (1..).zip(items) {
        if !gin::add_posting_item(&mut page, *item, n) {
            return None;
        }
    }
    gin::set_right_bound(&mut page, bound);
    Some(page)
}

/// Appends the items of a leaf, at least those above `past`.
pub(crate) fn read_items(page: &Page, past: Item, out: &mut Vec<Item>) {
    let own = GinPage(page);
    if own.has(COMPRESSED) {
        gin::decode_all(own.segments(), past, out);
    } else {
        out.extend(own.uncompressed().map(Item::of));
    }
}

/// Fills a leaf page with as many of the items (ascending) as fit; returns their number.
pub(crate) fn fill_leaf(page: PageMut<'_>, items: &[Item]) -> usize {
    gin::init(page, DATA | LEAF | COMPRESSED);
    let mut bytes = Vec::with_capacity(DATA_SIZE_MAX);
    let mut done = 0;
    while done < items.len() {
        let before = bytes.len();
        let packed = compress(&items[done..], SEGMENT_SIZE_MAX, &mut bytes);
        if bytes.len() > DATA_SIZE_MAX {
            bytes.truncate(before);
            break;
        }
        done += packed;
    }
    let fits = gin::set_segments(page, 0, &bytes);
    debug_assert!(fits, "the size was checked");
    done
}

impl GinIndex {
    /// Makes a posting tree with these items (ascending). Returns its root. Counterpart:
    /// `createPostingTree`.
    ///
    /// WAL: CREATE_PTREE, and those of the insertion of items that do not fit on one page.
    pub(crate) fn create_posting_tree(&self, cx: &mut Cx<'_>, items: &[Item]) -> Result<BlockNo> {
        let mut content = PageBuf::new();
        let done = fill_leaf(&mut content, items);
        let mut page = self.new_page(cx)?;
        let root = page.block();
        let mut edit = self.edit(cx);
        content.copy_to(edit.change(&mut page, 0, RegFlags::WILL_INIT));
        let segments = GinPage(&content).segments();
        edit.main(&(segments.len() as u32).to_le_bytes());
        edit.main(segments);
        edit.log(records::CREATE_PTREE)?;
        drop(page);
        if done < items.len() {
            self.insert_items(cx, root, &items[done..])?;
        }
        Ok(root)
    }

    /// Adds items (ascending) to a posting tree. Counterpart: `ginInsertItemPointers`.
    pub(crate) fn insert_items(
        &self,
        cx: &mut Cx<'_>,
        root: BlockNo,
        items: &[Item],
    ) -> Result<()> {
        // VACUUM deletes pages only while no other thread has the root pinned.
        let _pin = cx.pin(&self.file, root)?;
        let mut rest = items;
        while let Some(first) = rest.first() {
            let tree = PostingTree { root, item: *first };
            let (page, path) = self.find_leaf_for_insert(cx, &tree)?;
            let (planned, count) = leaf::plan(&page, rest)?;
            let placement = match planned {
                Planned::Nothing => Placement::Nothing,
                Planned::Change(change) => Placement::Change(Change::Leaf(change)),
                Planned::Split(pages) => Placement::Split(pages),
            };
            self.place(cx, &tree, &path, page, placement)?;
            rest = &rest[count..];
        }
        Ok(())
    }
}
