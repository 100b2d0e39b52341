//! Check of the structure of an index: levels, links, and that each key covers all keys below it.

use crate::index::GistIndex;
use access::{Cx, OnEntry};
use ids::BlockNo;
use page::gist::{DELETED, FOLLOW_RIGHT, GistPage, ROOT_BLOCK};
use page::index_tuple::IndexTuple;
use pgerror::Result;
use std::collections::BTreeSet;

impl GistIndex {
    /// Visits all pages from the root. A page to the right of one whose split was interrupted has
    /// no downlink.
    pub(crate) fn check_structure(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        let mut seen = BTreeSet::new();
        let mut entries = 0;
        let mut leaf_level = None;
        let mut pending: Vec<(BlockNo, usize, Option<Vec<u8>>)> = vec![(ROOT_BLOCK, 0, None)];
        while let Some((block, level, downlink)) = pending.pop() {
            (cx.check_interrupts)()?;
            if !seen.insert(block) {
                return Err(self.damage(block, "a page with two downlinks"));
            }
            let page = self.share(cx, block)?;
            let own = GistPage(&page);
            if !own.is_gist() {
                return Err(self.damage(block, "a page of another type"));
            }
            if own.has(DELETED) {
                return Err(self.damage(block, "a downlink to a deleted page"));
            }
            page.check_index_items()?;
            if own.is_leaf() && *leaf_level.get_or_insert(level) != level {
                return Err(self.damage(block, "leaves on different levels"));
            }
            if !own.is_leaf() && page.max_offset() == 0 {
                return Err(self.damage(block, "an inner page without downlinks"));
            }
            if own.has(FOLLOW_RIGHT) {
                pending.push((own.right_link(), level, None));
            }
            for offset in 1..=page.max_offset() {
                let tuple = own.tuple(offset);
                if !tuple.is_complete() {
                    return Err(self.damage(block, "a damaged tuple"));
                }
                if let Some(downlink) = &downlink
                    && self.schema.adjusted(IndexTuple::new(downlink), tuple)?.is_some()
                {
                    return Err(self.damage(block, "a key that its downlink does not cover"));
                }
                if own.is_leaf() {
                    entries += 1;
                    on_entry(tuple.tid_field())?;
                } else {
                    let child = self.child(&page, block, offset)?;
                    pending.push((child, level + 1, Some(tuple.bytes().to_vec())));
                }
            }
        }
        Ok(entries)
    }
}
