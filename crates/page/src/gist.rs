//! Pages of GiST indexes: the special space, deleted pages, downlinks.
//! Counterpart: access/gist.h, access/gist_private.h.
//!
//! ```text
//! special space (16 bytes):  0 NSN: high word, 4 low word | 8 right link | 12 flags | 14 page id
//! deleted page (from 24):    the next transaction id when it was deleted (u64)
//! tuple of a leaf            an index tuple of all columns, with the TID of the row
//! tuple of an inner page     an index tuple of the key columns; TID: the child block, 0xFFFF
//! ```
//! The NSN of a page is the LSN of the record that added the downlink of its right neighbor, when
//! it was split last.

use crate::header::HEADER_SIZE;
use crate::index_tuple::IndexTuple;
use crate::{PAGE_SIZE, PageMut, PageRef};
use ids::{BlockNo, FullXid, Lsn, OffsetNo, Tid};

pub const ROOT_BLOCK: BlockNo = BlockNo(0);

/// Flags of the special space.
pub const LEAF: u16 = 1 << 0;
pub const DELETED: u16 = 1 << 1;
/// Tuples have been deleted; set by earlier releases only, and not used.
pub const TUPLES_DELETED: u16 = 1 << 2;
/// The page to the right has no downlink yet.
pub const FOLLOW_RIGHT: u16 = 1 << 3;
/// Some items may be marked dead.
pub const HAS_GARBAGE: u16 = 1 << 4;

pub const SPECIAL_SIZE: usize = 16;
const SPECIAL_AT: usize = PAGE_SIZE - SPECIAL_SIZE;
const RIGHT_AT: usize = SPECIAL_AT + 8;
pub const FLAGS_AT: usize = SPECIAL_AT + 12;
const PAGE_ID_AT: usize = SPECIAL_AT + 14;
const PAGE_ID: u16 = 0xFF81;

const DELETE_XID_AT: usize = 24;
const DELETED_LOWER: usize = DELETE_XID_AT + 8;

/// Bytes for tuples and line pointers on a page.
pub const ROOM: usize = PAGE_SIZE - HEADER_SIZE - SPECIAL_SIZE;
/// The LSN of all pages during a build, and of the splits then.
pub const BUILD_LSN: Lsn = Lsn(1);

/// The offset in the TID of a downlink.
const DOWNLINK_OFFSET: OffsetNo = 0xFFFF;
/// That of a downlink left by an incomplete split before PostgreSQL 9.1.
const INVALID_OFFSET: OffsetNo = 0xFFFE;

/// The TID field of a downlink to a page.
pub const fn downlink(child: BlockNo) -> Tid {
    Tid::new(child, DOWNLINK_OFFSET)
}

/// True if the downlink matches every condition: its key is not valid.
pub fn is_invalid_link(tuple: IndexTuple<'_>) -> bool {
    tuple.tid_field().offset == INVALID_OFFSET
}

/// Read access to a page as a page of a GiST index.
#[derive(Clone, Copy)]
pub struct GistPage<'a>(pub PageRef<'a>);

impl<'a> GistPage<'a> {
    /// True if the page has a special space of this size.
    #[inline]
    pub fn has_special(self) -> bool {
        self.0.special() == SPECIAL_AT
    }

    /// True if the page is marked as one of a GiST index.
    pub fn is_gist(self) -> bool {
        self.has_special() && self.0.u16_at(PAGE_ID_AT) == PAGE_ID
    }

    /// The node sequence number.
    #[inline]
    pub fn nsn(self) -> Lsn {
        let (high, low) = (self.0.u32_at(SPECIAL_AT), self.0.u32_at(SPECIAL_AT + 4));
        Lsn(u64::from(high) << 32 | u64::from(low))
    }

    #[inline]
    pub fn right_link(self) -> BlockNo {
        BlockNo(self.0.u32_at(RIGHT_AT))
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

    /// The next transaction id when the page was deleted. A page that was deleted before
    /// PostgreSQL 12 has none.
    pub fn delete_xid(self) -> FullXid {
        match self.0.lower() >= DELETED_LOWER {
            true => FullXid(self.0.u64_at(DELETE_XID_AT)),
            false => FullXid(3),
        }
    }

    /// The tuple at an offset.
    #[inline]
    pub fn tuple(self, offset: OffsetNo) -> IndexTuple<'a> {
        IndexTuple::new(self.0.item(offset))
    }

    /// The child of an inner page's tuple.
    pub fn child(self, offset: OffsetNo) -> BlockNo {
        self.tuple(offset).tid_field().block
    }

    /// The offset of the downlink to a page.
    pub fn find_child(self, child: BlockNo) -> Option<OffsetNo> {
        (1..=self.0.max_offset()).find(|offset| self.child(*offset) == child)
    }
}

/// Makes an empty page. Counterpart: `gistinitpage`.
pub fn init(page: PageMut<'_>, flags: u16) {
    page.init(SPECIAL_SIZE);
    set_right_link(page, BlockNo::INVALID);
    set_flags(page, flags);
    page.set_u16_at(PAGE_ID_AT, PAGE_ID);
}

pub fn set_nsn(page: PageMut<'_>, nsn: Lsn) {
    page.set_u32_at(SPECIAL_AT, (nsn.0 >> 32) as u32);
    page.set_u32_at(SPECIAL_AT + 4, nsn.0 as u32);
}

pub fn set_right_link(page: PageMut<'_>, block: BlockNo) {
    page.set_u32_at(RIGHT_AT, block.0);
}

pub fn set_flags(page: PageMut<'_>, flags: u16) {
    page.set_u16_at(FLAGS_AT, flags);
}

/// Sets and clears flags.
pub fn change_flags(page: PageMut<'_>, set: u16, clear: u16) {
    let flags = GistPage(page).flags();
    set_flags(page, flags & !clear | set);
}

/// The downlink of the page to the right has been added by the record that ends at `lsn`.
pub fn complete_split(page: PageMut<'_>, lsn: Lsn) {
    set_nsn(page, lsn);
    change_flags(page, 0, FOLLOW_RIGHT);
}

/// Marks the page deleted. Counterpart: `GistPageSetDeleted`.
pub fn set_deleted(page: PageMut<'_>, xid: FullXid) {
    change_flags(page, DELETED, 0);
    page.set_lower(DELETED_LOWER);
    page.set_u64_at(DELETE_XID_AT, xid.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageBuf;

    #[test]
    fn special_space_is_where_postgresql_has_it() {
        let mut page = PageBuf::new();
        init(&mut page, LEAF);
        set_nsn(&mut page, Lsn(0x0000_0001_0203_0405));
        let bytes = page.as_bytes();
        assert_eq!(
            bytes[8176..],
            [1, 0, 0, 0, 5, 4, 3, 2, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0x81, 0xFF]
        );
        assert_eq!(GistPage(&page).nsn(), Lsn(0x0000_0001_0203_0405));
        change_flags(&mut page, FOLLOW_RIGHT, 0);
        complete_split(&mut page, Lsn(9));
        assert_eq!((GistPage(&page).flags(), GistPage(&page).nsn()), (LEAF, Lsn(9)));
        set_deleted(&mut page, FullXid(77));
        assert_eq!(GistPage(&page).delete_xid(), FullXid(77));
        assert!(GistPage(&page).has(DELETED) && GistPage(&page).is_gist());
    }
}
