//! Construction of an index from keys in order: pages of all levels are filled from left to right,
//! and none is changed after it is finished.
//!
//! The root of the entry tree is at a fixed block, so its page, the only one of the uppermost
//! level, gets its number last. Blocks of other pages are assigned in the order of their use.

use crate::key::{replace_with_list, with_tree};
use crate::posting::{fill_leaf, inner_page};
use ids::{BlockNo, Tid};
use page::gin::{
    self, DATA_SIZE_MAX, ENTRY_SIZE_MAX, Entry, GinPage, Item, LEAF, META_BLOCK, Meta,
    POSTING_ITEM_SIZE, PostingItem, ROOT_BLOCK, compress,
};
use page::{PAGE_SIZE, PageBuf, index_space};
use pgerror::{PgError, Result};

/// Bytes that stay free on a leaf of the entry tree, so that posting lists can grow.
const LEAF_RESERVE: usize = PAGE_SIZE / 10;
/// Most posting items of an inner page.
const CHILDREN_MAX: usize = DATA_SIZE_MAX / POSTING_ITEM_SIZE;

/// Called with each finished page.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(BlockNo, PageBuf) -> Result<()>;

/// The page of a level of the entry tree that is being filled.
struct Level {
    page: PageBuf,
    /// `None` until it is known that the page is not the root.
    block: Option<BlockNo>,
}

impl Level {
    fn new(number: usize, block: Option<BlockNo>) -> Level {
        let mut page = PageBuf::new();
        gin::init(&mut page, if number == 0 { LEAF } else { 0 });
        Level { page, block }
    }
}

/// Fills an index, whose file is empty.
pub(crate) struct Loader<'a> {
    sink: Sink<'a>,
    next_block: u32,
    levels: Vec<Level>,
    stats: Meta,
    /// Buffers for a posting list and its tuple.
    list: Vec<u8>,
    tuple: Vec<u8>,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(sink: Sink<'a>) -> Loader<'a> {
        Loader {
            sink,
            next_block: ROOT_BLOCK.0 + 1,
            levels: vec![Level::new(0, None)],
            stats: Meta::NEW,
            list: Vec::new(),
            tuple: Vec::new(),
        }
    }

    fn allocate(&mut self) -> BlockNo {
        let block = BlockNo(self.next_block);
        self.next_block += 1;
        block
    }

    /// Adds the next key with its items (ascending).
    pub(crate) fn add(&mut self, prefix: &[u8], items: &[Item]) -> Result<()> {
        self.list.clear();
        let packed = compress(items, ENTRY_SIZE_MAX, &mut self.list);
        let mut tuple = std::mem::take(&mut self.tuple);
        let list = (self.list.as_slice(), items.len());
        if packed < items.len() || !replace_with_list(prefix, list, &mut tuple) {
            tuple = with_tree(prefix, self.posting_tree(items)?);
        }
        self.stats.entries += 1;
        let added = self.add_tuple(0, &tuple);
        self.tuple = tuple;
        added
    }

    /// Adds a tuple to the page of a level; if it is full, begins the next one.
    fn add_tuple(&mut self, level: usize, tuple: &[u8]) -> Result<()> {
        let page = &mut self.levels[level].page;
        let reserve = if level == 0 && page.max_offset() > 2 { LEAF_RESERVE } else { 0 };
        let room = index_space::free_space(page) >= tuple.len() + reserve;
        if room && index_space::append(page, tuple) {
            return Ok(());
        }
        let next = match self.levels[level].block {
            Some(_) => self.allocate(),
            None => {
                let own = self.allocate();
                self.levels[level].block = Some(own);
                self.allocate()
            }
        };
        self.finish_page(level, next)?;
        self.levels[level] = Level::new(level, Some(next));
        if index_space::append(&mut self.levels[level].page, tuple) {
            return Ok(());
        }
        Err(PgError::internal("an entry does not fit on an empty page"))
    }

    /// Ends the page of a level: adds its downlink to the level above, and hands it over.
    fn finish_page(&mut self, level: usize, right: BlockNo) -> Result<()> {
        if level + 1 == self.levels.len() {
            self.levels.push(Level::new(level + 1, None));
        }
        let own = &mut self.levels[level];
        let mut page = std::mem::take(&mut own.page);
        let block = own.block.ok_or_else(|| PgError::internal("a page without a block"))?;
        gin::set_right_link(&mut page, right);
        let last: Entry<'_> = gin::last_entry(&page);
        let link = gin::interior(last, level == 0, block);
        self.add_tuple(level + 1, &link)?;
        self.stats.entry_pages += 1;
        (self.sink)(block, page)
    }

    /// Writes the last pages of all levels, the root and the metapage.
    pub(crate) fn finish(mut self) -> Result<()> {
        let mut level = 0;
        while level + 1 < self.levels.len() {
            self.finish_page(level, BlockNo::INVALID)?;
            level += 1;
        }
        let root = std::mem::take(&mut self.levels[level].page);
        self.stats.entry_pages += 1;
        self.stats.total_pages = self.next_block;
        let mut meta = PageBuf::new();
        self.stats.init(&mut meta);
        (self.sink)(ROOT_BLOCK, root)?;
        (self.sink)(META_BLOCK, meta)
    }

    /// Writes the pages of a posting tree. Returns its root.
    fn posting_tree(&mut self, items: &[Item]) -> Result<BlockNo> {
        let mut level = Vec::new();
        let mut rest = items;
        while !rest.is_empty() {
            let mut page = PageBuf::new();
            let count = fill_leaf(&mut page, rest);
            let last = rest[count.saturating_sub(1)];
            rest = &rest[count..];
            self.posting_page(page, rest.is_empty(), last.tid(), &mut level)?;
        }
        while level.len() > 1 {
            let mut above = Vec::new();
            let parts = level.len().div_ceil(CHILDREN_MAX);
            for (n, part) in (1..).zip(level.chunks(CHILDREN_MAX)) {
                let bound = part.last().map_or(Tid::INVALID, |item| item.key);
                let page = inner_page(part, bound);
                let page = page.ok_or_else(|| PgError::internal("an inner page is too full"))?;
                self.posting_page(page, n == parts, bound, &mut above)?;
            }
            level = above;
        }
        level.first().map(|item| item.child).ok_or_else(|| PgError::internal("a key without rows"))
    }

    /// Hands over a page of a posting tree and adds its posting item to `level`. The pages of one
    /// level are at consecutive blocks.
    fn posting_page(
        &mut self,
        mut page: PageBuf,
        is_last: bool,
        bound: Tid,
        level: &mut Vec<PostingItem>,
    ) -> Result<()> {
        let block = self.allocate();
        let key = if is_last { Tid::new(BlockNo(0), 0) } else { bound };
        gin::set_right_bound(&mut page, key);
        gin::set_right_link(
            &mut page,
            if is_last { BlockNo::INVALID } else { BlockNo(block.0 + 1) },
        );
        debug_assert!(GinPage(&page).has(gin::DATA));
        level.push(PostingItem { child: block, key });
        self.stats.data_pages += 1;
        (self.sink)(block, page)
    }
}
