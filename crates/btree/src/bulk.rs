//! Bulk loading: builds a tree from tuples in key order, page by page from the left, all levels
//! at once. Finished pages are passed to a sink, which logs and writes them.
//!
//! Each level has one open page. When it is full, its last item moves to the next page, the
//! truncated separator before that item becomes its high key, and its low key is added to the
//! level above as the key of its downlink. The line pointer of the high key is reserved from the
//! start; the high key itself fits into the space of the item that moved, since a separator is
//! never longer.
//!
//! Counterpart: nbtsort.c (`_bt_buildadd`, `_bt_uppershutdown`, `_bt_load`).

use crate::schema::KeySchema;
use ids::{BlockNo, Tid};
use page::btree::{
    BTP_LEAF, BTP_ROOT, MAX_ITEM_SIZE, Meta, NONLEAF_FILLFACTOR, Opaque, SPECIAL_SIZE,
};
use page::index_tuple::{self, IndexTuple, TID_SIZE, max_align};
use page::{PAGE_SIZE, PageBuf};
use pgerror::{PgError, Result};

const LINE_POINTER: usize = 4;
/// Bytes of a page for items and their line pointers, without the high key's line pointer.
const CAPACITY: usize = PAGE_SIZE - 24 - SPECIAL_SIZE - LINE_POINTER;
/// Largest posting list tuple that a build makes, in bytes: a tenth of a page.
const POSTING_MAX: usize = ((PAGE_SIZE * 10 / 100) & !7) - LINE_POINTER;
const NONE: BlockNo = BlockNo(0);

/// The open page of a level.
struct Level {
    block: BlockNo,
    prev: BlockNo,
    items: Items,
    used: usize,
    /// Separator before the page, which becomes the key of its downlink in the level above.
    low_key: Vec<u8>,
    /// Bytes of the last item's posting list.
    last_extra: usize,
    /// Free space in bytes below which the page is finished (from the fill factor).
    full: usize,
}

/// The items of a page, contiguous in one buffer.
#[derive(Default)]
struct Items {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Items {
    fn push(&mut self, item: &[u8]) {
        self.bytes.extend_from_slice(item);
        self.ends.push(self.bytes.len());
    }

    fn start_of(&self, n: usize) -> usize {
        n.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|n| &self.bytes[self.start_of(n)..self.ends[n]])
    }

    fn last(&self) -> Option<&[u8]> {
        let n = self.ends.len().checked_sub(1)?;
        Some(&self.bytes[self.start_of(n)..])
    }

    /// Moves the last item to `out`.
    fn pop_into(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(last) = self.last() else { return false };
        out.clear();
        out.extend_from_slice(last);
        self.bytes.truncate(self.bytes.len() - out.len());
        self.ends.pop();
        true
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// Builds an index. Tuples must be added in order of their keys, then heap TIDs.
pub struct BulkLoader<'a> {
    schema: &'a KeySchema,
    index_name: &'a str,
    table_name: &'a str,
    /// Receives each block from 1 on, in no particular order, then the meta page as block 0.
    sink: &'a mut dyn FnMut(BlockNo, PageBuf) -> Result<()>,
    levels: Vec<Level>,
    next_block: u32,
    deduplicate: bool,
    /// First tuple of the pending posting list, and the list's TIDs.
    base: Vec<u8>,
    tids: Vec<Tid>,
    posting: Vec<u8>,
}

impl<'a> BulkLoader<'a> {
    pub fn new(
        schema: &'a KeySchema,
        index_name: &'a str,
        table_name: &'a str,
        sink: &'a mut dyn FnMut(BlockNo, PageBuf) -> Result<()>,
    ) -> BulkLoader<'a> {
        let deduplicate = schema.allequalimage && !schema.unique && schema.deduplicate_items;
        BulkLoader {
            schema,
            index_name,
            table_name,
            sink,
            levels: Vec::new(),
            next_block: 1,
            deduplicate,
            base: Vec::new(),
            tids: Vec::new(),
            posting: Vec::new(),
        }
    }

    /// Adds the next leaf tuple, formed by [`KeySchema::form`].
    pub fn add(&mut self, tuple: &[u8]) -> Result<()> {
        if !self.deduplicate {
            return self.add_item(0, tuple, 0);
        }
        let new = IndexTuple::new(tuple);
        if !self.base.is_empty() {
            let base = IndexTuple::new(&self.base);
            let size = max_align(base.key_size() + (self.tids.len() + 1) * TID_SIZE);
            if self.schema.keep_natts_fast(base, new) > self.schema.key_count && size <= POSTING_MAX
            {
                self.tids.extend(new.tids());
                return Ok(());
            }
            self.finish_run()?;
        }
        self.base.clear();
        self.base.extend_from_slice(tuple);
        self.tids.clear();
        self.tids.extend(new.tids());
        Ok(())
    }

    fn finish_run(&mut self) -> Result<()> {
        let base = std::mem::take(&mut self.base);
        if base.is_empty() {
            return Ok(());
        }
        if self.tids.len() == 1 {
            self.add_item(0, &base, 0)?;
        } else {
            let mut posting = std::mem::take(&mut self.posting);
            posting.clear();
            index_tuple::form_posting(IndexTuple::new(&base), &self.tids, &mut posting);
            let extra = posting.len() - IndexTuple::new(&posting).posting_offset();
            self.add_item(0, &posting, extra)?;
            self.posting = posting;
        }
        self.base = base;
        Ok(())
    }

    /// Finishes all levels and the meta page.
    pub fn finish(mut self) -> Result<()> {
        self.finish_run()?;
        let mut root = (NONE, 0);
        let mut level = 0;
        while level < self.levels.len() {
            let block = self.levels[level].block;
            if level + 1 == self.levels.len() {
                root = (block, level as u32);
            } else {
                let mut low_key = std::mem::take(&mut self.levels[level].low_key);
                index_tuple::set_downlink(&mut low_key, block);
                self.add_item(level + 1, &low_key, 0)?;
            }
            self.write_page(level, None, level + 1 == self.levels.len())?;
            level += 1;
        }
        let mut page = PageBuf::new();
        Meta::new(root.0, root.1, self.schema.allequalimage).init(&mut page);
        (self.sink)(BlockNo(0), page)
    }

    fn new_block(&mut self) -> BlockNo {
        let block = BlockNo(self.next_block);
        self.next_block += 1;
        block
    }

    fn add_item(&mut self, level: usize, item: &[u8], extra: usize) -> Result<()> {
        let leaf = level == 0;
        if level == self.levels.len() {
            let full = match leaf {
                true => self.schema.target_free_space(),
                false => PAGE_SIZE * (100 - NONLEAF_FILLFACTOR as usize) / 100,
            };
            let block = self.new_block();
            self.levels.push(Level {
                block,
                prev: NONE,
                items: Items::default(),
                used: 0,
                low_key: minus_infinity(&[0; 8]),
                last_extra: 0,
                full,
            });
        }
        let size = max_align(item.len());
        if size > MAX_ITEM_SIZE {
            let tuple = IndexTuple::new(item);
            self.schema.check_third_page(self.index_name, self.table_name, tuple, leaf, leaf)?;
        }
        let open = &mut self.levels[level];
        let last_extra = std::mem::replace(&mut open.last_extra, extra);
        let free = (CAPACITY - open.used).saturating_sub(LINE_POINTER);
        let tid_room = if leaf { max_align(TID_SIZE) } else { 0 };
        if free < size + tid_room || (free + last_extra < open.full && open.items.len() > 1) {
            self.next_page(level)?;
        }
        let open = &mut self.levels[level];
        if !leaf && open.items.len() == 0 {
            let first = minus_infinity(item);
            open.used += first.len() + LINE_POINTER;
            open.items.push(&first);
        } else {
            open.used += size + LINE_POINTER;
            open.items.push(item);
        }
        Ok(())
    }

    /// Finishes the level's open page and begins the next one with its last item.
    fn next_page(&mut self, level: usize) -> Result<()> {
        let leaf = level == 0;
        let new_block = self.new_block();
        let open = &mut self.levels[level];
        let mut moved = Vec::new();
        if !open.items.pop_into(&mut moved) {
            return Err(PgError::internal("index page without items"));
        }
        let high_key = match (leaf, open.items.last()) {
            (true, Some(last)) => {
                let mut key = Vec::new();
                let (left, right) = (IndexTuple::new(last), IndexTuple::new(&moved));
                self.schema.truncate(left, right, &mut key)?;
                key
            }
            _ => moved.clone(),
        };
        let block = open.block;
        let mut low_key = std::mem::replace(&mut open.low_key, high_key.clone());
        index_tuple::set_downlink(&mut low_key, block);
        self.write_page(level, Some((&high_key, new_block)), false)?;
        self.add_item(level + 1, &low_key, 0)?;
        let open = &mut self.levels[level];
        open.prev = block;
        open.block = new_block;
        let moved = if leaf { moved } else { minus_infinity(&moved) };
        open.used = max_align(moved.len()) + LINE_POINTER;
        open.items.push(&moved);
        Ok(())
    }

    /// Passes the level's open page to the sink; `right` is its high key and right sibling.
    fn write_page(
        &mut self,
        level: usize,
        right: Option<(&[u8], BlockNo)>,
        root: bool,
    ) -> Result<()> {
        let open = &mut self.levels[level];
        let mut page = PageBuf::new();
        page::btree::init(&mut page);
        let leaf = if level == 0 { BTP_LEAF } else { 0 };
        let opaque = Opaque {
            prev: open.prev,
            next: right.map_or(NONE, |r| r.1),
            level: level as u32,
            flags: leaf | if root { BTP_ROOT } else { 0 },
            cycle_id: 0,
        };
        opaque.set(&mut page);
        let high_key = right.iter().map(|r| r.0);
        for item in high_key.chain(open.items.iter()) {
            if !page::index_space::append(&mut page, item) {
                return Err(PgError::internal("failed to add item to the index page"));
            }
        }
        open.items.clear();
        let block = open.block;
        (self.sink)(block, page)
    }
}

/// A pivot tuple without columns, which orders before all others, with the downlink of `item`.
fn minus_infinity(item: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 8];
    out[..TID_SIZE].copy_from_slice(&item[..TID_SIZE]);
    index_tuple::set_size(&mut out, 8);
    index_tuple::set_natts(&mut out, 0, false);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::KeyColumn;
    use page::btree::Node;
    use page::tupdesc::{Align, Attr};
    use types::DatumRef;
    use types::compare::btint4cmp;

    fn schema(unique: bool) -> KeySchema {
        let attr = Attr::new(b"k", ids::Oid(23), 4, true, Align::Int);
        let column = KeyColumn {
            cmp: types::Comparer::Plain(btint4cmp),
            desc: false,
            nulls_first: false,
            collation: ids::Oid::INVALID,
            attr,
        };
        let mut schema = KeySchema::new(vec![column], 1);
        schema.unique = unique;
        schema.allequalimage = true;
        schema
    }

    fn load(schema: &KeySchema, keys: impl Iterator<Item = i32>) -> Vec<PageBuf> {
        let mut pages: Vec<Option<PageBuf>> = Vec::new();
        let mut sink = |block: BlockNo, page: PageBuf| {
            let at = block.0 as usize;
            pages.resize_with(pages.len().max(at + 1), || None);
            assert!(pages[at].replace(page).is_none());
            Ok(())
        };
        let mut loader = BulkLoader::new(schema, "i", "t", &mut sink);
        for (n, key) in keys.enumerate() {
            let tid = Tid::new(BlockNo(n as u32 / 100), (n % 100) as u16 + 1);
            let mut tuple = Vec::new();
            schema.form(&[DatumRef::Word(key as i64 as u64)], tid, &mut tuple).unwrap();
            loader.add(&tuple).unwrap();
        }
        loader.finish().unwrap();
        pages.into_iter().map(|p| p.expect("no block is left out")).collect()
    }

    /// TIDs of all leaf pages, from the left.
    fn leaves(pages: &[PageBuf]) -> Vec<Tid> {
        let meta = Meta::read(pages[0].page());
        let mut block = meta.root;
        for _ in 0..meta.level {
            let node = Node(pages[block.0 as usize].page());
            block = node.tuple(node.first_data_key()).downlink();
        }
        let mut out = Vec::new();
        loop {
            let node = Node(pages[block.0 as usize].page());
            for off in node.first_data_key()..=node.max_offset() {
                out.extend(node.tuple(off).tids());
            }
            if node.is_rightmost() {
                return out;
            }
            block = node.next();
        }
    }

    /// An index over `generate_series(1, 100000)` in PostgreSQL, by `pageinspect`: 276 blocks, 367
    /// items on the first leaf, the root at level 1.
    #[test]
    fn pages_are_as_full_as_those_of_postgresql() {
        let pages = load(&schema(true), 1..=100_000);
        let meta = Meta::read(pages[0].page());
        assert_eq!(meta.level, 1);
        assert_eq!(pages.len(), 276);
        // 366 keys and the high key.
        assert_eq!(Node(pages[1].page()).max_offset(), 367);
        assert_eq!(leaves(&pages).len(), 100_000);
    }

    #[test]
    fn equal_keys_become_posting_lists() {
        let pages = load(&schema(false), (0..50_000).map(|n| n / 1000));
        let tids = leaves(&pages);
        assert_eq!(tids.len(), 50_000);
        assert!(tids.windows(2).all(|w| w[0] < w[1]));
        // As in PostgreSQL for the same table.
        assert_eq!(pages.len(), 47);
    }

    #[test]
    fn an_empty_index_has_only_its_meta_page() {
        let pages = load(&schema(true), 0..0);
        assert_eq!(pages.len(), 1);
        assert_eq!(Meta::read(pages[0].page()).root, BlockNo(0));
    }
}
