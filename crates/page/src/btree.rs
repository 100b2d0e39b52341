//! B-tree pages: the special space, the meta page, deleted pages, size limits.
//! Counterpart: access/nbtree.h.
//!
//! ```text
//! special space (16 bytes):  0 prev | 4 next | 8 level | 12 flags | 14 cycle id
//! meta page (from byte 24):  0 magic | 4 version | 8 root | 12 level | 16 fast root |
//!                            20 fast level | 24 deleted pages at last cleanup |
//!                            32 heap tuples (f64) | 40 equal image
//! deleted page (from 24):    0 safe XID (64 bits)
//! ```
//! Line pointer 1 of a page that has a right sibling is the high key; data items follow. The first
//! data item of an inner page counts as minus infinity and has no columns.

use crate::index_tuple::{IndexTuple, NULL_MASK, SIZE_MASK};
use crate::item::{LinePointer, line_pointer_at};
use crate::raw::{PAGE_SIZE, Page, PageMut, PageRef};
use ids::{BlockNo, FullXid, OffsetNo};

pub const META_BLOCK: BlockNo = BlockNo(0);
/// "No page" in sibling and root links. Counterpart: `P_NONE`.
pub const NONE: BlockNo = BlockNo(0);

pub const MAGIC: u32 = 0x0005_3162;
pub const VERSION: u32 = 4;
/// Oldest supported version.
pub const MIN_VERSION: u32 = 2;

pub const BTP_LEAF: u16 = 1 << 0;
pub const BTP_ROOT: u16 = 1 << 1;
pub const BTP_DELETED: u16 = 1 << 2;
pub const BTP_META: u16 = 1 << 3;
pub const BTP_HALF_DEAD: u16 = 1 << 4;
pub const BTP_SPLIT_END: u16 = 1 << 5;
pub const BTP_HAS_GARBAGE: u16 = 1 << 6;
pub const BTP_INCOMPLETE_SPLIT: u16 = 1 << 7;
pub const BTP_HAS_FULLXID: u16 = 1 << 8;

/// Largest vacuum cycle id; larger values identify other index types.
pub const MAX_CYCLE_ID: u16 = 0xFF7F;

pub const SPECIAL_SIZE: usize = 16;
const SPECIAL_AT: usize = PAGE_SIZE - SPECIAL_SIZE;
const PREV_AT: usize = SPECIAL_AT;
const NEXT_AT: usize = SPECIAL_AT + 4;
const LEVEL_AT: usize = SPECIAL_AT + 8;
/// Byte offset of `btpo_flags`, for hints.
pub const FLAGS_AT: usize = SPECIAL_AT + 12;
/// Byte offset of the cycle id, for hints.
pub const CYCLE_ID_AT: usize = SPECIAL_AT + 14;
const CONTENTS_AT: usize = 24;
const META_SIZE: usize = 48;

/// Largest tuple of a version 4 index: a pivot made from it has space for a heap TID.
pub const MAX_ITEM_SIZE: usize = ((PAGE_SIZE - 56 - SPECIAL_SIZE) / 3) & !7;
/// Largest tuple of older indexes, and of pivot tuples.
pub const MAX_ITEM_SIZE_NO_HEAP_TID: usize = ((PAGE_SIZE - 40 - SPECIAL_SIZE) / 3) & !7;
/// Upper bound of the number of heap TIDs on a page.
pub const MAX_TIDS_PER_PAGE: usize = (PAGE_SIZE - 24 - SPECIAL_SIZE) / 6;

pub const MIN_FILLFACTOR: u32 = 10;
pub const DEFAULT_FILLFACTOR: u32 = 90;
pub const NONLEAF_FILLFACTOR: u32 = 70;
pub const SINGLEVAL_FILLFACTOR: u32 = 96;

/// Line pointer of the high key of a page with a right sibling.
pub const HIGH_KEY: OffsetNo = 1;
/// First data item of a page with a high key.
pub const FIRST_KEY: OffsetNo = 2;

/// The special space, decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Opaque {
    pub prev: BlockNo,
    pub next: BlockNo,
    /// 0 for leaves.
    pub level: u32,
    pub flags: u16,
    pub cycle_id: u16,
}

impl Opaque {
    pub fn of(page: PageRef<'_>) -> Opaque {
        let n = Node(page);
        Opaque {
            prev: n.prev(),
            next: n.next(),
            level: n.level(),
            flags: n.flags(),
            cycle_id: n.cycle_id(),
        }
    }

    pub fn set(self, page: PageMut<'_>) {
        page.set_u32_at(PREV_AT, self.prev.0);
        page.set_u32_at(NEXT_AT, self.next.0);
        page.set_u32_at(LEVEL_AT, self.level);
        page.set_u16_at(FLAGS_AT, self.flags);
        page.set_u16_at(CYCLE_ID_AT, self.cycle_id);
    }

    pub const fn is_rightmost(&self) -> bool {
        self.next.0 == NONE.0
    }

    pub const fn is_leaf(&self) -> bool {
        self.flags & BTP_LEAF != 0
    }

    pub const fn first_data_key(&self) -> OffsetNo {
        if self.is_rightmost() { HIGH_KEY } else { FIRST_KEY }
    }
}

/// Read access to a page as a B-tree page.
#[derive(Clone, Copy)]
pub struct Node<'a>(pub PageRef<'a>);

impl<'a> Node<'a> {
    #[inline]
    pub fn prev(self) -> BlockNo {
        BlockNo(self.0.u32_at(PREV_AT))
    }

    #[inline]
    pub fn next(self) -> BlockNo {
        BlockNo(self.0.u32_at(NEXT_AT))
    }

    #[inline]
    pub fn level(self) -> u32 {
        self.0.u32_at(LEVEL_AT)
    }

    #[inline]
    pub fn flags(self) -> u16 {
        self.0.u16_at(FLAGS_AT)
    }

    #[inline]
    pub fn cycle_id(self) -> u16 {
        self.0.u16_at(CYCLE_ID_AT)
    }

    #[inline]
    fn has(self, flag: u16) -> bool {
        self.flags() & flag != 0
    }

    #[inline]
    pub fn is_leftmost(self) -> bool {
        self.prev() == NONE
    }

    #[inline]
    pub fn is_rightmost(self) -> bool {
        self.next() == NONE
    }

    #[inline]
    pub fn is_leaf(self) -> bool {
        self.has(BTP_LEAF)
    }

    pub fn is_root(self) -> bool {
        self.has(BTP_ROOT)
    }

    pub fn is_deleted(self) -> bool {
        self.has(BTP_DELETED)
    }

    pub fn is_meta(self) -> bool {
        self.has(BTP_META)
    }

    pub fn is_half_dead(self) -> bool {
        self.has(BTP_HALF_DEAD)
    }

    /// Deleted or half-dead: searches skip it. Counterpart: `P_IGNORE`.
    #[inline]
    pub fn is_ignored(self) -> bool {
        self.has(BTP_DELETED | BTP_HALF_DEAD)
    }

    pub fn has_garbage(self) -> bool {
        self.has(BTP_HAS_GARBAGE)
    }

    #[inline]
    pub fn is_incomplete_split(self) -> bool {
        self.has(BTP_INCOMPLETE_SPLIT)
    }

    pub fn has_full_xid(self) -> bool {
        self.has(BTP_HAS_FULLXID)
    }

    #[inline]
    pub fn max_offset(self) -> OffsetNo {
        self.0.max_offset()
    }

    /// Line pointer of the first data item. Counterpart: `P_FIRSTDATAKEY`.
    #[inline]
    pub fn first_data_key(self) -> OffsetNo {
        if self.is_rightmost() { HIGH_KEY } else { FIRST_KEY }
    }

    #[inline]
    pub fn tuple(self, off: OffsetNo) -> IndexTuple<'a> {
        IndexTuple::new(self.0.item(off))
    }

    /// The first eight bytes after the header of the tuple at `off`: the first column, if that has
    /// a fixed width of at most eight bytes, then padding or other columns. `None` if the tuple has
    /// NULLs, no column, or is damaged.
    #[inline]
    pub fn first_word(self, off: OffsetNo) -> Option<u64> {
        const WIDEST: usize = PAGE_SIZE - 16;
        let at = LinePointer(self.0.u32_at(line_pointer_at(off))).offset();
        if at > WIDEST || !at.is_multiple_of(8) {
            return None;
        }
        let info = self.0.u16_at(at + 6);
        if info & NULL_MASK != 0 || info & SIZE_MASK < 16 {
            return None;
        }
        Some(self.0.u64_at(at + 8))
    }

    /// The high key of a page that is not rightmost.
    #[inline]
    pub fn high_key(self) -> IndexTuple<'a> {
        self.tuple(HIGH_KEY)
    }

    /// True if the page has a B-tree special space. Counterpart: the tests of `_bt_checkpage`.
    pub fn has_special(self) -> bool {
        self.0.special() == SPECIAL_AT
    }

    /// The XID that must be visible to all before the page may be reused: older scans may still
    /// follow links to it.
    pub fn delete_xid(self) -> FullXid {
        debug_assert!(self.is_deleted());
        if self.has_full_xid() { FullXid(self.0.u64_at(CONTENTS_AT)) } else { FullXid(3) }
    }
}

impl std::ops::Deref for Node<'_> {
    type Target = Page;
    fn deref(&self) -> &Page {
        self.0
    }
}

/// Makes an empty B-tree page. Counterpart: `_bt_pageinit`.
pub fn init(page: PageMut<'_>) {
    page.init(SPECIAL_SIZE);
}

pub fn set_prev(page: PageMut<'_>, block: BlockNo) {
    page.set_u32_at(PREV_AT, block.0);
}

pub fn set_next(page: PageMut<'_>, block: BlockNo) {
    page.set_u32_at(NEXT_AT, block.0);
}

pub fn set_level(page: PageMut<'_>, level: u32) {
    page.set_u32_at(LEVEL_AT, level);
}

pub fn set_cycle_id(page: PageMut<'_>, id: u16) {
    page.set_u16_at(CYCLE_ID_AT, id);
}

/// Sets the flags `on` and clears the flags `off`.
pub fn change_flags(page: PageMut<'_>, on: u16, off: u16) {
    let flags = page.u16_at(FLAGS_AT);
    page.set_u16_at(FLAGS_AT, flags & !off | on);
}

/// Marks the page deleted; it may be reused when `safe_xid` is visible to all. Counterpart:
/// `BTPageSetDeleted`.
pub fn set_deleted(page: PageMut<'_>, safe_xid: FullXid) {
    change_flags(page, BTP_DELETED | BTP_HAS_FULLXID, BTP_HALF_DEAD);
    page.set_lower(CONTENTS_AT + 8);
    let special = page.special();
    page.set_upper(special);
    page.set_u64_at(CONTENTS_AT, safe_xid.0);
}

/// The contents of the metapage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Meta {
    pub magic: u32,
    pub version: u32,
    pub root: BlockNo,
    pub level: u32,
    pub fast_root: BlockNo,
    pub fast_level: u32,
    /// Deleted pages that could not be recycled yet at the last cleanup.
    pub last_cleanup_num_delpages: u32,
    /// Deprecated, -1.
    pub last_cleanup_num_heap_tuples: f64,
    pub allequalimage: bool,
}

impl Meta {
    pub fn new(root: BlockNo, level: u32, allequalimage: bool) -> Meta {
        Meta {
            magic: MAGIC,
            version: VERSION,
            root,
            level,
            fast_root: root,
            fast_level: level,
            last_cleanup_num_delpages: 0,
            last_cleanup_num_heap_tuples: -1.0,
            allequalimage,
        }
    }

    pub fn read(page: PageRef<'_>) -> Meta {
        let u32_at = |at| page.u32_at(CONTENTS_AT + at);
        Meta {
            magic: u32_at(0),
            version: u32_at(4),
            root: BlockNo(u32_at(8)),
            level: u32_at(12),
            fast_root: BlockNo(u32_at(16)),
            fast_level: u32_at(20),
            last_cleanup_num_delpages: u32_at(24),
            last_cleanup_num_heap_tuples: f64::from_bits(page.u64_at(CONTENTS_AT + 32)),
            allequalimage: page.u16_at(CONTENTS_AT + 40) & 0xFF != 0,
        }
    }

    /// Writes the contents to an initialized page.
    pub fn write(&self, page: PageMut<'_>) {
        let mut put = |at, v| page.set_u32_at(CONTENTS_AT + at, v);
        put(0, self.magic);
        put(4, self.version);
        put(8, self.root.0);
        put(12, self.level);
        put(16, self.fast_root.0);
        put(20, self.fast_level);
        put(24, self.last_cleanup_num_delpages);
        page.set_u64_at(CONTENTS_AT + 32, self.last_cleanup_num_heap_tuples.to_bits());
        page.set_u16_at(CONTENTS_AT + 40, u16::from(self.allequalimage));
        page.set_lower(CONTENTS_AT + META_SIZE);
    }

    /// Initializes a metapage. Counterpart: `_bt_initmetapage`.
    pub fn init(&self, page: PageMut<'_>) {
        init(page);
        change_flags(page, BTP_META, 0);
        self.write(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageBuf;

    #[test]
    fn limits_are_those_of_postgresql() {
        assert_eq!(
            (MAX_ITEM_SIZE, MAX_ITEM_SIZE_NO_HEAP_TID, MAX_TIDS_PER_PAGE),
            (2704, 2712, 1358)
        );
    }

    #[test]
    fn meta_page_round_trips() {
        let mut page = PageBuf::new();
        let meta = Meta::new(BlockNo(3), 1, true);
        meta.init(&mut page);
        assert_eq!(Meta::read(&page), meta);
        assert!(Node(&page).is_meta() && Node(&page).has_special());
        assert_eq!(page.lower(), 72);
    }

    #[test]
    fn deleted_page_keeps_its_xid() {
        let mut page = PageBuf::new();
        init(&mut page);
        Opaque {
            prev: BlockNo(1),
            next: BlockNo(2),
            flags: BTP_LEAF | BTP_HALF_DEAD,
            ..Opaque::default()
        }
        .set(&mut page);
        set_deleted(&mut page, FullXid(0x1_0000_0005));
        let n = Node(&page);
        assert!(n.is_deleted() && !n.is_half_dead() && n.is_leaf());
        assert_eq!(n.delete_xid(), FullXid(0x1_0000_0005));
    }
}
