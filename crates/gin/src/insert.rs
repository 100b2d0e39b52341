//! Insertion of the rows of one key.
//!
//! Counterpart: `ginEntryInsert` in gininsert.c.

use crate::entry::EntryTree;
use crate::index::GinIndex;
use crate::key::{with_list, with_tree};
use access::Cx;
use page::gin::{ENTRY_SIZE_MAX, Entry, Item, Postings, compress, decode, merge};
use pgerror::Result;

impl GinIndex {
    /// Adds items (ascending) to the key of a prefix.
    ///
    /// WAL: INSERT, SPLIT, CREATE_PTREE.
    pub(crate) fn insert_entry(
        &self,
        cx: &mut Cx<'_>,
        prefix: &[u8],
        items: &[Item],
    ) -> Result<()> {
        let mut scratch = Vec::new();
        let key = self.schema.key(Entry::new(prefix), &mut scratch)?;
        let tree = EntryTree { index: self, key };
        let (page, path) = self.find_leaf_for_insert(cx, &tree)?;
        let (offset, found) = tree.locate(&page)?;
        let tuple = if found {
            let entry = Entry::new(page.item(offset));
            if let Postings::Tree(root) = entry.postings() {
                drop(page);
                return self.insert_items(cx, root, items);
            }
            let own = entry.0.bytes();
            let Some(own) = own.get(..entry.posting_offset()).map(<[u8]>::to_vec) else {
                return Err(self.corrupted(page.block()));
            };
            let old = list_of(entry.postings());
            match self.list_tuple(&own, &merge(&old, items)) {
                Some(tuple) => tuple,
                None => {
                    let root = match old.is_empty() {
                        true => self.create_posting_tree(cx, items)?,
                        false => {
                            let root = self.create_posting_tree(cx, &old)?;
                            self.insert_items(cx, root, items)?;
                            root
                        }
                    };
                    with_tree(&own, root)
                }
            }
        } else {
            match self.list_tuple(prefix, items) {
                Some(tuple) => tuple,
                None => with_tree(prefix, self.create_posting_tree(cx, items)?),
            }
        };
        let placement = tree.place_tuple(&page, offset, found, tuple)?;
        self.place(cx, &tree, &path, page, placement)
    }

    /// The leaf tuple with these items as its posting list; `None` if that is too large.
    pub(crate) fn list_tuple(&self, prefix: &[u8], items: &[Item]) -> Option<Vec<u8>> {
        let mut list = Vec::new();
        if !items.is_empty() && compress(items, ENTRY_SIZE_MAX, &mut list) < items.len() {
            return None;
        }
        with_list(prefix, &list, items.len())
    }
}

/// The items of a posting list.
pub(crate) fn list_of(postings: Postings<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    match postings {
        Postings::List { bytes, count } => {
            if count > 0 {
                decode(bytes, &mut items);
            }
        }
        Postings::Array(bytes) => {
            let (tids, _) = bytes.as_chunks::<6>();
            items.extend(tids.iter().map(|b| Item::of(ids::Tid::from_bytes(*b))));
        }
        Postings::Tree(_) => {}
    }
    items
}
