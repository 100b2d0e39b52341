//! Line pointers: four bytes each, after the page header. A tuple's identifier contains the number
//! of its line pointer, so that tuples can move within the page.
//!
//! ```text
//! bit 0        15      17        32
//!     | lp_off | flags | lp_len  |
//! ```
//! Counterpart: storage/itemid.h.

use crate::header::HEADER_SIZE;
use crate::raw::{Hints, PAGE_SIZE, Page};
use ids::OffsetNo;

/// Bytes of a line pointer.
pub const LINE_POINTER_SIZE: usize = 4;
/// Most line pointers that a page can hold. Counterpart: `MaxOffsetNumber` (in practice).
pub const MAX_OFFSET: OffsetNo = (PAGE_SIZE / LINE_POINTER_SIZE) as OffsetNo;
/// First line pointer.
pub const FIRST_OFFSET: OffsetNo = 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum LpFlags {
    /// Free for reuse; length 0.
    Unused = 0,
    /// Points to a tuple; length above 0.
    Normal = 1,
    /// HOT redirect: the offset field is the line pointer of the chain's first live member.
    Redirect = 2,
    /// Dead, may or may not have storage.
    Dead = 3,
}

/// A line pointer's value.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct LinePointer(pub u32);

impl LinePointer {
    pub const UNUSED: LinePointer = LinePointer(0);
    /// Dead without storage.
    pub const DEAD: LinePointer = LinePointer::new(0, LpFlags::Dead, 0);

    #[inline]
    pub const fn new(offset: usize, flags: LpFlags, len: usize) -> LinePointer {
        LinePointer((offset as u32 & 0x7FFF) | (flags as u32) << 15 | (len as u32) << 17)
    }

    #[inline]
    pub const fn normal(offset: usize, len: usize) -> LinePointer {
        LinePointer::new(offset, LpFlags::Normal, len)
    }

    #[inline]
    pub const fn redirect(to: OffsetNo) -> LinePointer {
        LinePointer::new(to as usize, LpFlags::Redirect, 0)
    }

    /// Byte offset of the tuple on the page.
    #[inline(always)]
    pub const fn offset(self) -> usize {
        (self.0 & 0x7FFF) as usize
    }

    /// Length of the tuple, in bytes.
    #[inline(always)]
    pub const fn len(self) -> usize {
        (self.0 >> 17) as usize
    }

    #[inline(always)]
    pub const fn flags(self) -> LpFlags {
        match self.0 >> 15 & 3 {
            0 => LpFlags::Unused,
            1 => LpFlags::Normal,
            2 => LpFlags::Redirect,
            _ => LpFlags::Dead,
        }
    }

    /// Target line pointer of a redirect.
    #[inline]
    pub const fn redirect_to(self) -> OffsetNo {
        self.offset() as OffsetNo
    }

    #[inline(always)]
    pub const fn is_normal(self) -> bool {
        self.0 >> 15 & 3 == 1
    }

    #[inline(always)]
    pub const fn is_dead(self) -> bool {
        self.0 >> 15 & 3 == 3
    }

    #[inline(always)]
    pub const fn is_redirected(self) -> bool {
        self.0 >> 15 & 3 == 2
    }

    /// Anything but unused. Counterpart: `ItemIdIsUsed`.
    #[inline(always)]
    pub const fn is_used(self) -> bool {
        self.0 >> 15 & 3 != 0
    }

    #[inline(always)]
    pub const fn has_storage(self) -> bool {
        !self.is_empty()
    }

    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Debug for LinePointer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}({}+{})", self.flags(), self.offset(), self.len())
    }
}

#[inline(always)]
pub(crate) const fn line_pointer_at(offset: OffsetNo) -> usize {
    HEADER_SIZE + (offset as usize - 1) * LINE_POINTER_SIZE
}

impl Page {
    /// Number of the last line pointer, 0 if there is none. Counterpart: `PageGetMaxOffsetNumber`.
    #[inline(always)]
    pub fn max_offset(&self) -> OffsetNo {
        (self.lower().clamp(HEADER_SIZE, PAGE_SIZE) - HEADER_SIZE) as OffsetNo / 4
    }

    /// Line pointer number `offset` (from 1). Beyond the last one: unused.
    #[inline(always)]
    pub fn line_pointer(&self, offset: OffsetNo) -> LinePointer {
        if offset == 0 || offset > self.max_offset() {
            return LinePointer::UNUSED;
        }
        LinePointer(self.u32_at(line_pointer_at(offset)))
    }

    /// The existing line pointers from number `from` (0 counts as 1) to `to`.
    #[inline]
    pub fn line_pointers(
        &self,
        from: OffsetNo,
        to: OffsetNo,
    ) -> impl DoubleEndedIterator<Item = (OffsetNo, LinePointer)> {
        let end = to.min(self.max_offset()) + 1;
        let value = |offset| LinePointer(self.u32_at(line_pointer_at(offset)));
        (from.max(1)..end).map(move |offset| (offset, value(offset)))
    }

    /// Sets line pointer `offset`, which may be one beyond `max_offset` only if `pd_lower` is moved
    /// by the caller.
    #[inline]
    pub fn set_line_pointer(&mut self, offset: OffsetNo, value: LinePointer) {
        self.set_u32_at(line_pointer_at(offset), value.0);
    }

    /// Bytes of the item at line pointer `offset`; empty if it has no storage or points outside the
    /// page. For index tuples under any latch; for a heap tuple only under a latch that excludes
    /// hint setters (otherwise see [`Page::heap_tuple`](crate::Page::heap_tuple)).
    #[inline]
    pub fn item(&self, offset: OffsetNo) -> &[u8] {
        let lp = self.line_pointer(offset);
        self.slice(lp.offset(), lp.len())
    }

    /// Bytes of the item at line pointer `offset`, for changing.
    #[inline]
    pub fn item_mut(&mut self, offset: OffsetNo) -> &mut [u8] {
        let lp = self.line_pointer(offset);
        self.bytes_mut().get_mut(lp.offset()..lp.offset() + lp.len()).unwrap_or(&mut [])
    }

    /// Marks `offset` dead, keeping its storage. Counterpart: `ItemIdMarkDead`.
    pub fn mark_dead(&mut self, offset: OffsetNo) {
        let lp = self.line_pointer(offset);
        self.set_line_pointer(offset, LinePointer::new(lp.offset(), LpFlags::Dead, lp.len()));
    }
}

impl Hints<'_> {
    /// Marks line pointer `offset` dead (an index's hint), keeping its storage.
    pub fn mark_dead(&self, offset: OffsetNo) {
        let lp = self.line_pointer(offset);
        if lp.is_used() {
            let dead = LinePointer::new(lp.offset(), LpFlags::Dead, lp.len());
            self.store_u32(line_pointer_at(offset), dead.0);
        }
    }
}
