//! GIN pages: the special space, the meta page, entry tuples, pages of posting trees.
//! Counterpart: access/ginblock.h.
//!
//! ```text
//! special space (8 bytes):   0 right link | 4 number of items | 6 flags
//! meta page (from byte 24):  0 head of the pending list | 4 its tail | 8 free bytes of the tail |
//!                            12 pending pages | 16 pending rows (i64) | 24 total pages |
//!                            28 entry pages | 32 data pages | 40 entries (i64) | 48 version
//! posting tree (from 24):    right bound (a TID, padded to 8 bytes), then
//!   internal page            posting items of 10 bytes: child block (two halves), TID
//!   leaf                     compressed posting lists up to `pd_lower` (see `posting`)
//! entry tuple                an index tuple: the column number (if the index has several columns),
//!                            then the key; after a NULL bitmap a category byte. The TID field is
//!   of an inner page         the child block
//!   of a leaf                block: offset of the posting list | 1 << 31, offset: number of TIDs;
//!                            or block: root of the posting tree, offset: 0xFFFF
//!   of the pending list      the TID of the row
//! ```
//! The number of items is that of posting items on an internal page of a posting tree, and that of
//! rows on a page of the pending list.

mod posting;

pub use posting::{Item, Segments, compress, decode, decode_all, merge, segment_len};

use crate::index_tuple::{HEADER_SIZE as TUPLE_HEADER, IndexTuple, NULL_MASK, SIZE_MASK};
use crate::{PAGE_SIZE, Page, PageMut, PageRef};
use ids::{BlockNo, OffsetNo, Tid, Xid};

pub const META_BLOCK: BlockNo = BlockNo(0);
/// The root of the entry tree.
pub const ROOT_BLOCK: BlockNo = BlockNo(1);
pub const VERSION: i32 = 2;

/// Flags of the special space.
pub const DATA: u16 = 1 << 0;
pub const LEAF: u16 = 1 << 1;
pub const DELETED: u16 = 1 << 2;
pub const META: u16 = 1 << 3;
pub const LIST: u16 = 1 << 4;
/// Of a page of the pending list: it has all entries of its rows, or the last ones of a row.
pub const LIST_FULLROW: u16 = 1 << 5;
/// The page was split, and its parent does not have the downlink yet.
pub const INCOMPLETE_SPLIT: u16 = 1 << 6;
/// A leaf of a posting tree with compressed posting lists.
pub const COMPRESSED: u16 = 1 << 7;

pub const SPECIAL_SIZE: usize = 8;
const SPECIAL_AT: usize = PAGE_SIZE - SPECIAL_SIZE;
const COUNT_AT: usize = SPECIAL_AT + 4;
const FLAGS_AT: usize = SPECIAL_AT + 6;
const CONTENTS_AT: usize = 24;

/// Bytes of the meta page's data.
pub const META_SIZE: usize = 56;
/// Start of the posting lists or posting items of a page of a posting tree.
pub const DATA_AT: usize = CONTENTS_AT + 8;
/// Most bytes of posting lists or posting items on a page.
pub const DATA_SIZE_MAX: usize = SPECIAL_AT - DATA_AT;
/// Bytes of a posting item.
pub const POSTING_ITEM_SIZE: usize = 10;
/// Bytes for tuples and line pointers on a page of the pending list.
pub const LIST_PAGE_SIZE: usize = SPECIAL_AT - CONTENTS_AT;
/// Most bytes of an entry tuple: three fit on a page.
pub const ENTRY_SIZE_MAX: usize = {
    let third = (PAGE_SIZE - 40 - SPECIAL_SIZE) / 3;
    let aligned = third & !7;
    if aligned < SIZE_MASK as usize { aligned } else { SIZE_MASK as usize }
};

/// Read access to a page as a page of a GIN index.
#[derive(Clone, Copy)]
pub struct GinPage<'a>(pub PageRef<'a>);

impl<'a> GinPage<'a> {
    /// True if the page has a special space of this size.
    #[inline]
    pub fn has_special(self) -> bool {
        self.0.special() == SPECIAL_AT
    }

    #[inline]
    pub fn right_link(self) -> BlockNo {
        BlockNo(self.0.u32_at(SPECIAL_AT))
    }

    #[inline]
    pub fn is_rightmost(self) -> bool {
        self.right_link() == BlockNo::INVALID
    }

    /// Posting items of an internal page of a posting tree, rows of a page of the pending list.
    #[inline]
    pub fn count(self) -> u16 {
        self.0.u16_at(COUNT_AT)
    }

    #[inline]
    pub fn flags(self) -> u16 {
        self.0.u16_at(FLAGS_AT)
    }

    #[inline]
    pub fn has(self, flag: u16) -> bool {
        self.flags() & flag != 0
    }

    #[inline]
    pub fn is_leaf(self) -> bool {
        self.has(LEAF)
    }

    /// The transaction id at the deletion of a page: scans of older snapshots may still reach it.
    pub fn delete_xid(self) -> Xid {
        self.0.prune_xid()
    }

    /// The largest TID of the subtree; of a rightmost page without meaning.
    pub fn right_bound(self) -> Tid {
        let bytes = self.0.slice(CONTENTS_AT, 6).first_chunk::<6>();
        bytes.map_or(Tid::INVALID, |b| Tid::from_bytes(*b))
    }

    /// The posting lists of a compressed leaf of a posting tree.
    #[inline]
    pub fn segments(self) -> &'a [u8] {
        let end = self.0.lower().clamp(DATA_AT, SPECIAL_AT);
        self.0.slice(DATA_AT, end - DATA_AT)
    }

    /// The TIDs of a leaf in the format of version 1: an array.
    pub fn uncompressed(self) -> impl Iterator<Item = Tid> + 'a {
        let len = (usize::from(self.count()) * 6).min(DATA_SIZE_MAX);
        let (tids, _) = self.0.slice(DATA_AT, len).as_chunks::<6>();
        tids.iter().map(|b| Tid::from_bytes(*b))
    }

    /// Posting item number `n`, from 1.
    #[inline]
    pub fn posting_item(self, n: OffsetNo) -> PostingItem {
        let at = DATA_AT + (usize::from(n).wrapping_sub(1)).wrapping_mul(POSTING_ITEM_SIZE);
        let bytes = self.0.slice(at, POSTING_ITEM_SIZE).first_chunk::<POSTING_ITEM_SIZE>();
        bytes.map_or(PostingItem { child: BlockNo::INVALID, key: Tid::INVALID }, |b| {
            PostingItem::from_bytes(b)
        })
    }

    /// The number of posting items, limited to what the page can hold.
    pub fn posting_items(self) -> OffsetNo {
        self.count().min((DATA_SIZE_MAX / POSTING_ITEM_SIZE) as u16)
    }

    /// True if a leaf of a posting tree has no TIDs.
    pub fn is_empty_leaf(self) -> bool {
        if self.has(COMPRESSED) { self.segments().is_empty() } else { self.count() == 0 }
    }

    /// The meta page's data.
    pub fn meta(self) -> Meta {
        let u32_at = |at: usize| self.0.u32_at(CONTENTS_AT + at);
        let u64_at = |at: usize| self.0.u64_at(CONTENTS_AT + at);
        Meta {
            head: BlockNo(u32_at(0)),
            tail: BlockNo(u32_at(4)),
            tail_free: u32_at(8),
            pending_pages: u32_at(12),
            pending_rows: u64_at(16) as i64,
            total_pages: u32_at(24),
            entry_pages: u32_at(28),
            data_pages: u32_at(32),
            entries: u64_at(40) as i64,
            version: u32_at(48) as i32,
        }
    }
}

/// Makes the page empty with these flags. Counterpart: `GinInitPage`.
pub fn init(page: PageMut<'_>, flags: u16) {
    page.init(SPECIAL_SIZE);
    set_flags(page, flags);
    set_right_link(page, BlockNo::INVALID);
}

pub fn set_flags(page: PageMut<'_>, flags: u16) {
    page.set_u16_at(FLAGS_AT, flags);
}

pub fn clear_flag(page: PageMut<'_>, flag: u16) {
    let flags = GinPage(page).flags();
    set_flags(page, flags & !flag);
}

pub fn add_flag(page: PageMut<'_>, flag: u16) {
    let flags = GinPage(page).flags();
    set_flags(page, flags | flag);
}

pub fn set_right_link(page: PageMut<'_>, block: BlockNo) {
    page.set_u32_at(SPECIAL_AT, block.0);
}

pub fn set_count(page: PageMut<'_>, count: u16) {
    page.set_u16_at(COUNT_AT, count);
}

pub fn set_right_bound(page: PageMut<'_>, bound: Tid) {
    page.bytes_mut()[CONTENTS_AT..CONTENTS_AT + 6].copy_from_slice(&bound.to_bytes());
}

/// Sets the end of the posting lists or posting items. Counterpart: `GinDataPageSetDataSize`.
pub fn set_data_size(page: PageMut<'_>, size: usize) {
    debug_assert!(size <= DATA_SIZE_MAX);
    page.set_lower(DATA_AT + size);
}

/// Replaces the posting lists of a leaf from byte `from` on. False if they do not fit.
#[must_use]
pub fn set_segments(page: PageMut<'_>, from: usize, tail: &[u8]) -> bool {
    let size = from + tail.len();
    if size > DATA_SIZE_MAX {
        return false;
    }
    page.bytes_mut()[DATA_AT + from..DATA_AT + size].copy_from_slice(tail);
    set_data_size(page, size);
    true
}

/// A child of an internal page of a posting tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PostingItem {
    pub child: BlockNo,
    /// The largest TID of the child's subtree; of the last item of a level without meaning.
    pub key: Tid,
}

impl PostingItem {
    /// The bytes on disk.
    pub fn to_bytes(self) -> [u8; POSTING_ITEM_SIZE] {
        let mut out = [0; POSTING_ITEM_SIZE];
        out[..4].copy_from_slice(&block_bytes(self.child));
        out[4..].copy_from_slice(&self.key.to_bytes());
        out
    }

    pub fn from_bytes(b: &[u8; POSTING_ITEM_SIZE]) -> PostingItem {
        let [a, c, d, e, key @ ..] = *b;
        PostingItem { child: block_of([a, c, d, e]), key: Tid::from_bytes(key) }
    }
}

/// A block number as two halves, the upper one first. Counterpart: `BlockIdData`.
pub fn block_bytes(block: BlockNo) -> [u8; 4] {
    let [a, b, c, d, _, _] = Tid::new(block, 0).to_bytes();
    [a, b, c, d]
}

/// Reads [`block_bytes`].
pub fn block_of(b: [u8; 4]) -> BlockNo {
    let [a, c, d, e] = b;
    Tid::from_bytes([a, c, d, e, 0, 0]).block
}

/// Changes the child of posting item `n`.
pub fn set_child(page: PageMut<'_>, n: OffsetNo, child: BlockNo) {
    let item = GinPage(page).posting_item(n);
    let at = DATA_AT + (usize::from(n) - 1) * POSTING_ITEM_SIZE;
    let bytes = PostingItem { child, ..item }.to_bytes();
    page.bytes_mut()[at..at + POSTING_ITEM_SIZE].copy_from_slice(&bytes);
}

/// Adds a posting item as number `n`, before those at `n` and after. False if it does not fit or
/// leaves a gap. Counterpart: `GinDataPageAddPostingItem`.
#[must_use]
pub fn add_posting_item(page: PageMut<'_>, item: PostingItem, n: OffsetNo) -> bool {
    let count = GinPage(page).count();
    let size = (usize::from(count) + 1) * POSTING_ITEM_SIZE;
    if n == 0 || n > count + 1 || size > DATA_SIZE_MAX {
        return false;
    }
    let at = DATA_AT + (usize::from(n) - 1) * POSTING_ITEM_SIZE;
    let end = DATA_AT + usize::from(count) * POSTING_ITEM_SIZE;
    let bytes = page.bytes_mut();
    bytes.copy_within(at..end, at + POSTING_ITEM_SIZE);
    bytes[at..at + POSTING_ITEM_SIZE].copy_from_slice(&item.to_bytes());
    set_count(page, count + 1);
    set_data_size(page, size);
    true
}

/// Removes posting item `n`. False if there is none. Counterpart: `GinPageDeletePostingItem`.
#[must_use]
pub fn delete_posting_item(page: PageMut<'_>, n: OffsetNo) -> bool {
    let count = GinPage(page).posting_items();
    if n == 0 || n > count {
        return false;
    }
    let at = DATA_AT + (usize::from(n) - 1) * POSTING_ITEM_SIZE;
    let end = DATA_AT + usize::from(count) * POSTING_ITEM_SIZE;
    page.bytes_mut().copy_within(at + POSTING_ITEM_SIZE..end, at);
    set_count(page, count - 1);
    set_data_size(page, usize::from(count - 1) * POSTING_ITEM_SIZE);
    true
}

/// The data of the meta page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meta {
    /// First page of the pending list; invalid if it is empty.
    pub head: BlockNo,
    pub tail: BlockNo,
    /// Free bytes of the last page of the pending list.
    pub tail_free: u32,
    pub pending_pages: u32,
    pub pending_rows: i64,
    /// Statistics as of the last VACUUM.
    pub total_pages: u32,
    pub entry_pages: u32,
    pub data_pages: u32,
    pub entries: i64,
    pub version: i32,
}

impl Meta {
    /// Of an empty index.
    pub const NEW: Meta = Meta {
        head: BlockNo::INVALID,
        tail: BlockNo::INVALID,
        tail_free: 0,
        pending_pages: 0,
        pending_rows: 0,
        total_pages: 0,
        entry_pages: 0,
        data_pages: 0,
        entries: 0,
        version: VERSION,
    };

    /// The bytes on disk, and in log records.
    pub fn encode(&self) -> [u8; META_SIZE] {
        let mut out = [0; META_SIZE];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.head.0.to_le_bytes());
        put(4, &self.tail.0.to_le_bytes());
        put(8, &self.tail_free.to_le_bytes());
        put(12, &self.pending_pages.to_le_bytes());
        put(16, &self.pending_rows.to_le_bytes());
        put(24, &self.total_pages.to_le_bytes());
        put(28, &self.entry_pages.to_le_bytes());
        put(32, &self.data_pages.to_le_bytes());
        put(40, &self.entries.to_le_bytes());
        put(48, &self.version.to_le_bytes());
        out
    }

    /// Makes the page a meta page with this data.
    pub fn init(&self, page: PageMut<'_>) {
        init_meta(page, &self.encode());
    }

    /// Changes the data of a meta page, and the end of its contents.
    pub fn store(&self, page: PageMut<'_>) {
        page.bytes_mut()[CONTENTS_AT..CONTENTS_AT + META_SIZE].copy_from_slice(&self.encode());
        page.set_lower(CONTENTS_AT + META_SIZE);
    }
}

/// Makes the page a meta page with these bytes as its data.
pub fn init_meta(page: PageMut<'_>, data: &[u8; META_SIZE]) {
    init(page, META);
    page.bytes_mut()[CONTENTS_AT..CONTENTS_AT + META_SIZE].copy_from_slice(data);
    page.set_lower(CONTENTS_AT + META_SIZE);
}

/// Value of the offset of an entry whose TIDs are in a posting tree.
const TREE: u16 = 0xFFFF;
/// Bit of the block of an entry whose posting list is compressed.
const LIST_COMPRESSED: u32 = 1 << 31;

/// Where the TIDs of an entry of a leaf are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Postings<'a> {
    /// A posting list of `count` TIDs in the tuple; empty bytes if there are none.
    List { count: u16, bytes: &'a [u8] },
    /// An array of TIDs, in the format of version 1.
    Array(&'a [u8]),
    /// The root of a posting tree.
    Tree(BlockNo),
}

/// A tuple of the entry tree or of the pending list.
#[derive(Clone, Copy)]
pub struct Entry<'a>(pub IndexTuple<'a>);

impl<'a> Entry<'a> {
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Entry<'a> {
        Entry(IndexTuple::new(bytes))
    }

    /// The child of a tuple of an inner page.
    #[inline]
    pub fn downlink(self) -> BlockNo {
        self.0.tid_field().block
    }

    /// Where the TIDs of a tuple of a leaf are.
    pub fn postings(self) -> Postings<'a> {
        let field = self.0.tid_field();
        if field.offset == TREE {
            return Postings::Tree(field.block);
        }
        let from = (field.block.0 & !LIST_COMPRESSED) as usize;
        let bytes = self.0.bytes().get(from..).unwrap_or(&[]);
        if field.block.0 & LIST_COMPRESSED == 0 {
            let len = usize::from(field.offset) * 6;
            return Postings::Array(bytes.get(..len).unwrap_or(bytes));
        }
        let bytes = if field.offset == 0 { &[] } else { bytes };
        Postings::List { count: field.offset, bytes }
    }

    /// Number of bytes before the posting list: the header and the key, aligned to two bytes.
    pub fn posting_offset(self) -> usize {
        (self.0.tid_field().block.0 & !LIST_COMPRESSED) as usize
    }

    /// Start of the columns: after the header, and the NULL bitmap if there is one.
    pub fn data_offset(self) -> usize {
        if self.0.has_nulls() { 2 * TUPLE_HEADER } else { TUPLE_HEADER }
    }

    /// The category byte at `at` of a tuple with a NULL bitmap.
    pub fn category_byte(self, at: usize) -> u8 {
        self.0.bytes().get(at).copied().unwrap_or(0)
    }
}

fn set_tid_field(tuple: &mut [u8], tid: Tid) {
    tuple[..6].copy_from_slice(&tid.to_bytes());
}

/// Makes a tuple one of an inner page.
pub fn set_downlink(tuple: &mut [u8], child: BlockNo) {
    set_tid_field(tuple, Tid::new(child, 0));
}

/// The TIDs of the tuple are in the posting tree with this root.
pub fn set_posting_tree(tuple: &mut [u8], root: BlockNo) {
    set_tid_field(tuple, Tid::new(root, TREE));
}

/// The tuple has a posting list of `count` TIDs at byte `at`.
pub fn set_posting_list(tuple: &mut [u8], at: usize, count: u16) {
    set_tid_field(tuple, Tid::new(BlockNo(at as u32 | LIST_COMPRESSED), count));
}

/// The tuple is one of the pending list.
pub fn set_row(tuple: &mut [u8], tid: Tid) {
    set_tid_field(tuple, tid);
}

/// Sets the size in the tuple's header.
pub fn set_size(tuple: &mut [u8], size: usize) {
    let info = IndexTuple::new(tuple).info() & !SIZE_MASK | size as u16;
    tuple[6..8].copy_from_slice(&info.to_le_bytes());
}

/// True if the tuple's header says that it has a NULL bitmap.
pub fn has_nulls(tuple: &[u8]) -> bool {
    tuple.get(6..8).is_some_and(|b| u16::from_le_bytes([b[0], b[1]]) & NULL_MASK != 0)
}

/// A tuple of an inner page: the key of `entry`, without its posting list, and the child.
/// `from_leaf`: the entry is one of a leaf. Counterpart: `GinFormInteriorTuple`.
pub fn interior(entry: Entry<'_>, from_leaf: bool, child: BlockNo) -> Vec<u8> {
    let bytes = entry.0.bytes();
    let mut out = match entry.postings() {
        Postings::Tree(_) => bytes.to_vec(),
        _ if !from_leaf => bytes.to_vec(),
        _ => {
            let size = entry.posting_offset().next_multiple_of(8).clamp(TUPLE_HEADER, bytes.len());
            bytes[..size].to_vec()
        }
    };
    let size = out.len();
    set_size(&mut out, size);
    set_downlink(&mut out, child);
    out
}

/// The last tuple of an entry page.
pub fn last_entry(page: &Page) -> Entry<'_> {
    Entry::new(page.item(page.max_offset()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageBuf;

    #[test]
    fn the_meta_page_has_the_layout_of_postgresql() {
        let mut page = PageBuf::new();
        let meta = Meta { head: BlockNo(7), entries: -3, data_pages: 9, ..Meta::NEW };
        meta.init(&mut page);
        assert_eq!(GinPage(&page).meta(), meta);
        assert_eq!((page.lower(), page.special()), (80, 8184));
        assert!(GinPage(&page).has(META) && GinPage(&page).is_rightmost());
        assert_eq!(page.u32_at(24 + 48), 2);
    }

    #[test]
    fn posting_items_are_inserted_and_deleted() {
        let mut page = PageBuf::new();
        init(&mut page, DATA);
        let item =
            |n: u32| PostingItem { child: BlockNo(n + (9 << 16)), key: Tid::new(BlockNo(n), 3) };
        for (value, at) in [(1, 1), (3, 2), (2, 2), (4, 4)] {
            assert!(add_posting_item(&mut page, item(value), at));
        }
        assert!(!add_posting_item(&mut page, item(9), 6));
        set_child(&mut page, 4, BlockNo(5));
        let all = |page: &Page| {
            let p = GinPage(page);
            (1..=p.posting_items()).map(|n| p.posting_item(n)).collect::<Vec<_>>()
        };
        let fourth = PostingItem { child: BlockNo(5), key: item(4).key };
        assert_eq!(all(&page), [item(1), item(2), item(3), fourth]);
        assert!(delete_posting_item(&mut page, 2) && !delete_posting_item(&mut page, 4));
        assert_eq!(all(&page), [item(1), item(3), fourth]);
        assert_eq!(page.lower(), 32 + 30);
    }

    #[test]
    fn three_entries_of_the_largest_size_fit_on_a_page() {
        assert_eq!(ENTRY_SIZE_MAX, 2712);
        let mut page = PageBuf::new();
        init(&mut page, LEAF);
        for _ in 0..3 {
            assert!(crate::index_space::append(&mut page, &[0; ENTRY_SIZE_MAX]));
        }
    }
}
