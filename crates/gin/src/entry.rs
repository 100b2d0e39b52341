//! The entry tree: a B-tree of keys. A leaf's tuple has the TIDs of a key or the root of its
//! posting tree. A tuple of an inner page has the last key of its child. Entries are never removed.
//!
//! Counterpart: ginentrypage.c.

use crate::index::GinIndex;
use crate::key::Key;
use crate::tree::{Change, Placement, Tree, link_to};
use ids::{BlockNo, OffsetNo};
use page::gin::{self, Entry, GinPage, ROOT_BLOCK};
use page::index_space;
use page::{Page, PageBuf, PageMut};
use pgerror::{PgError, Result};
use std::cmp::Ordering;

/// The entry tree, with a key that is looked up.
pub(crate) struct EntryTree<'a> {
    pub index: &'a GinIndex,
    pub key: Key<'a>,
}

impl EntryTree<'_> {
    /// How the key compares with the tuple at an offset.
    fn order(&self, page: &Page, offset: OffsetNo) -> Result<Ordering> {
        let mut scratch = Vec::new();
        let other = self.index.schema.key(Entry::new(page.item(offset)), &mut scratch)?;
        Ok(self.index.schema.compare(&self.key, &other))
    }

    /// The first offset up to `max` whose key is not less; `max + 1` if there is none. Also whether
    /// it is equal.
    fn search(&self, page: &Page, max: OffsetNo) -> Result<(OffsetNo, bool)> {
        let (mut low, mut high) = (1, max + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.order(page, middle)? {
                Ordering::Equal => return Ok((middle, true)),
                Ordering::Greater => low = middle + 1,
                Ordering::Less => high = middle,
            }
        }
        Ok((high, false))
    }

    /// The offset of the key on a leaf, and whether the leaf has it.
    pub(crate) fn locate(&self, page: &Page) -> Result<(OffsetNo, bool)> {
        self.search(page, page.max_offset())
    }

    /// Plans the insertion of a leaf tuple, or the replacement of the one at the offset.
    pub(crate) fn place_tuple(
        &self,
        page: &Page,
        offset: OffsetNo,
        replaces: bool,
        tuple: Vec<u8>,
    ) -> Result<Placement> {
        let freed = if replaces { page.item(offset).len().next_multiple_of(8) + 4 } else { 0 };
        if has_room(page, freed, &tuple) {
            return Ok(Placement::Change(Change::Entry { offset, replaces, tuple }));
        }
        let mut tuples = all_tuples(page);
        let at = usize::from(offset) - 1;
        match replaces {
            true => tuples[at] = tuple,
            false => tuples.insert(at, tuple),
        }
        split(page, &tuples)
    }
}

fn has_room(page: &Page, freed: usize, tuple: &[u8]) -> bool {
    index_space::free_space(page) + freed >= tuple.len().next_multiple_of(8) + 4
}

fn all_tuples(page: &Page) -> Vec<Vec<u8>> {
    (1..=page.max_offset()).map(|offset| page.item(offset).to_vec()).collect()
}

/// Divides the tuples among two pages of about the same number of bytes.
fn split(page: &Page, tuples: &[Vec<u8>]) -> Result<Placement> {
    let width = |tuple: &Vec<u8>| tuple.len().next_multiple_of(8) + 4;
    let total: usize = tuples.iter().map(width).sum();
    let (mut left, mut right) = (PageBuf::new(), PageBuf::new());
    gin::init(&mut left, GinPage(page).flags());
    gin::init(&mut right, GinPage(page).flags());
    let mut size = 0;
    for tuple in tuples {
        let to = if size > total / 2 {
            &mut right
        } else {
            size += width(tuple);
            &mut left
        };
        if !index_space::append(to, tuple) {
            return Err(PgError::internal("an entry page is too full after a split"));
        }
    }
    Ok(Placement::Split(Box::new((left, right))))
}

impl Tree for EntryTree<'_> {
    fn root(&self) -> BlockNo {
        ROOT_BLOCK
    }

    fn is_data(&self) -> bool {
        false
    }

    fn goes_right(&self, page: &Page) -> Result<bool> {
        let last = page.max_offset();
        if GinPage(page).is_rightmost() || last == 0 {
            return Ok(false);
        }
        Ok(self.order(page, last)?.is_gt())
    }

    fn child(&self, page: &Page) -> Result<BlockNo> {
        let last = page.max_offset();
        // The last downlink of a level has no upper bound.
        let bounded = if GinPage(page).is_rightmost() { last.saturating_sub(1) } else { last };
        let (offset, _) = self.search(page, bounded)?;
        Ok(Entry::new(page.item(offset.min(last))).downlink())
    }

    fn leftmost(&self, page: &Page) -> BlockNo {
        Entry::new(page.item(1)).downlink()
    }

    fn find_link(&self, page: &Page, child: BlockNo) -> Option<OffsetNo> {
        (1..=page.max_offset()).find(|n| Entry::new(page.item(*n)).downlink() == child)
    }

    fn place_link(
        &self,
        page: &Page,
        offset: OffsetNo,
        left: (&Page, BlockNo),
        right: BlockNo,
    ) -> Result<Placement> {
        let tuple = link_to(left);
        if has_room(page, 0, &tuple) {
            return Ok(Placement::Change(Change::EntryLink { offset, tuple, right }));
        }
        let mut tuples = all_tuples(page);
        let at = usize::from(offset) - 1;
        gin::set_downlink(&mut tuples[at], right);
        tuples.insert(at, tuple);
        split(page, &tuples)
    }

    fn fill_root(
        &self,
        root: PageMut<'_>,
        left: (&Page, BlockNo),
        right: (&Page, BlockNo),
    ) -> Result<()> {
        for child in [left, right] {
            if !index_space::append(root, &link_to(child)) {
                return Err(PgError::internal("failed to add item to index root page"));
            }
        }
        Ok(())
    }
}
