//! The heap tuple header: 23 bytes, then the null bitmap, then (at `t_hoff`) the columns.
//!
//! ```text
//!  0      4      8         12                18          20         22     23
//!  | xmin | xmax | cid/xvac | ctid: hi lo off | infomask2 | infomask | hoff | null bitmap …
//! ```
//! Counterpart: access/htup_details.h.

use crate::item;
use crate::raw::{Hints, Page};
use ids::{CommandId, MultiXid, OffsetNo, Tid, Xid};

/// Bytes before the null bitmap. Counterpart: `SizeofHeapTupleHeader`.
pub const HEADER_SIZE: usize = 23;
/// Counterpart: `MaxTupleAttributeNumber`.
pub const MAX_TUPLE_ATTRIBUTES: usize = 1664;
/// Most columns of a table. Counterpart: `MaxHeapAttributeNumber`.
pub const MAX_HEAP_ATTRIBUTES: usize = 1600;
/// Largest tuple that fits a page. Counterpart: `MaxHeapTupleSize`.
pub const MAX_HEAP_TUPLE_SIZE: usize = crate::raw::PAGE_SIZE
    - crate::header::max_align(crate::header::HEADER_SIZE + item::LINE_POINTER_SIZE);

pub const INFOMASK2_AT: usize = 18;
pub const INFOMASK_AT: usize = 20;

/// Bits of `t_infomask`.
pub mod infomask {
    pub const HASNULL: u16 = 0x0001;
    pub const HASVARWIDTH: u16 = 0x0002;
    pub const HASEXTERNAL: u16 = 0x0004;
    pub const HASOID_OLD: u16 = 0x0008;
    pub const XMAX_KEYSHR_LOCK: u16 = 0x0010;
    /// `t_cid` is a combo CID.
    pub const COMBOCID: u16 = 0x0020;
    pub const XMAX_EXCL_LOCK: u16 = 0x0040;
    pub const XMAX_LOCK_ONLY: u16 = 0x0080;
    pub const XMAX_SHR_LOCK: u16 = XMAX_EXCL_LOCK | XMAX_KEYSHR_LOCK;
    pub const LOCK_MASK: u16 = XMAX_SHR_LOCK | XMAX_EXCL_LOCK | XMAX_KEYSHR_LOCK;
    pub const XMIN_COMMITTED: u16 = 0x0100;
    pub const XMIN_INVALID: u16 = 0x0200;
    pub const XMIN_FROZEN: u16 = XMIN_COMMITTED | XMIN_INVALID;
    pub const XMAX_COMMITTED: u16 = 0x0400;
    pub const XMAX_INVALID: u16 = 0x0800;
    pub const XMAX_IS_MULTI: u16 = 0x1000;
    /// The tuple is a new version made by an update.
    pub const UPDATED: u16 = 0x2000;
    /// Moved by VACUUM FULL before 9.0.
    pub const MOVED_OFF: u16 = 0x4000;
    pub const MOVED_IN: u16 = 0x8000;
    pub const MOVED: u16 = MOVED_OFF | MOVED_IN;
    /// All bits that concern visibility.
    pub const XACT_MASK: u16 = 0xFFF0;
    /// All bits that define the meaning of `xmax`. Counterpart: `HEAP_XMAX_BITS`.
    pub const XMAX_BITS: u16 =
        XMAX_COMMITTED | XMAX_INVALID | XMAX_IS_MULTI | LOCK_MASK | XMAX_LOCK_ONLY;
}

/// Bits of `t_infomask2`.
pub mod infomask2 {
    pub const NATTS_MASK: u16 = 0x07FF;
    /// The updater changed key columns, or the tuple was deleted.
    pub const KEYS_UPDATED: u16 = 0x2000;
    /// The next version is heap-only, on the same page.
    pub const HOT_UPDATED: u16 = 0x4000;
    /// A heap-only tuple: no index entry points to it.
    pub const ONLY_TUPLE: u16 = 0x8000;
    pub const XACT_MASK: u16 = 0xE000;
}

/// Offset in `t_ctid` of a speculative insertion: the block number is its token.
pub const SPEC_TOKEN_OFFSET: OffsetNo = 0xFFFE;
/// Offset in `t_ctid` of a tuple whose row moved to another partition (block invalid).
pub const MOVED_PARTITIONS_OFFSET: OffsetNo = 0xFFFD;

/// Bytes of the null bitmap for `natts` columns.
#[inline]
pub const fn bitmap_len(natts: usize) -> usize {
    natts.div_ceil(8)
}

/// True if `xmax` with these infomask bits only locks. Counterpart: `HEAP_XMAX_IS_LOCKED_ONLY`.
#[inline]
pub const fn xmax_is_locked_only(mask: u16) -> bool {
    mask & infomask::XMAX_LOCK_ONLY != 0
        || mask & (infomask::XMAX_IS_MULTI | infomask::LOCK_MASK) == infomask::XMAX_EXCL_LOCK
}

/// Was the tuple share-locked by a release before 9.3 and carried over by pg_upgrade?
/// Counterpart: `HEAP_LOCKED_UPGRADED`.
#[inline]
pub const fn locked_upgraded(mask: u16) -> bool {
    mask & infomask::XMAX_IS_MULTI != 0
        && mask & infomask::XMAX_LOCK_ONLY != 0
        && mask & (infomask::XMAX_EXCL_LOCK | infomask::XMAX_KEYSHR_LOCK) == 0
}

/// A copy of the fixed header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapTupleHeader {
    pub raw_xmin: Xid,
    pub raw_xmax: Xid,
    /// cmin, cmax, combo CID, or xvac.
    pub raw_cid: CommandId,
    pub ctid: Tid,
    pub infomask2: u16,
    pub infomask: u16,
    pub hoff: u8,
}

impl Default for HeapTupleHeader {
    fn default() -> HeapTupleHeader {
        HeapTupleHeader {
            raw_xmin: Xid::INVALID,
            raw_xmax: Xid::INVALID,
            raw_cid: CommandId::FIRST,
            ctid: Tid::INVALID,
            infomask2: 0,
            infomask: 0,
            hoff: 24,
        }
    }
}

impl HeapTupleHeader {
    /// From the first 23 bytes of a tuple. `None` if there are fewer.
    #[inline]
    pub fn read(bytes: &[u8]) -> Option<HeapTupleHeader> {
        let b: &[u8; HEADER_SIZE] = bytes.first_chunk()?;
        let u32_at = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let u16_at = |i: usize| u16::from_le_bytes([b[i], b[i + 1]]);
        Some(HeapTupleHeader {
            raw_xmin: Xid(u32_at(0)),
            raw_xmax: Xid(u32_at(4)),
            raw_cid: CommandId(u32_at(8)),
            ctid: Tid::from_bytes([b[12], b[13], b[14], b[15], b[16], b[17]]),
            infomask2: u16_at(18),
            infomask: u16_at(20),
            hoff: b[22],
        })
    }

    /// Writes the 23 bytes to the front of `bytes`.
    #[inline]
    pub fn write(&self, bytes: &mut [u8]) {
        // One bounds check for all fields.
        let bytes: &mut [u8; HEADER_SIZE] =
            bytes.first_chunk_mut().expect("space for a tuple's header");
        bytes[0..4].copy_from_slice(&self.raw_xmin.0.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.raw_xmax.0.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.raw_cid.0.to_le_bytes());
        bytes[12..18].copy_from_slice(&self.ctid.to_bytes());
        bytes[18..20].copy_from_slice(&self.infomask2.to_le_bytes());
        bytes[20..22].copy_from_slice(&self.infomask.to_le_bytes());
        bytes[22] = self.hoff;
    }

    /// Number of columns stored.
    #[inline]
    pub const fn natts(&self) -> usize {
        (self.infomask2 & infomask2::NATTS_MASK) as usize
    }

    #[inline]
    pub fn set_natts(&mut self, natts: usize) {
        self.infomask2 = self.infomask2 & !infomask2::NATTS_MASK | natts as u16;
    }

    /// True if all of `bits` are set.
    #[inline]
    pub const fn has(&self, bits: u16) -> bool {
        self.infomask & bits == bits
    }

    /// True if any of `bits` is set.
    #[inline]
    pub const fn any(&self, bits: u16) -> bool {
        self.infomask & bits != 0
    }

    /// The inserting XID; FROZEN for frozen tuples.
    pub const fn xmin(&self) -> Xid {
        if self.xmin_frozen() { Xid::FROZEN } else { self.raw_xmin }
    }

    #[inline]
    pub const fn xmin_committed(&self) -> bool {
        self.infomask & infomask::XMIN_COMMITTED != 0
    }

    /// Known aborted (and not frozen).
    #[inline]
    pub const fn xmin_invalid(&self) -> bool {
        self.infomask & infomask::XMIN_FROZEN == infomask::XMIN_INVALID
    }

    #[inline]
    pub const fn xmin_frozen(&self) -> bool {
        self.infomask & infomask::XMIN_FROZEN == infomask::XMIN_FROZEN
    }

    #[inline]
    pub const fn xmax_is_multi(&self) -> bool {
        self.infomask & infomask::XMAX_IS_MULTI != 0
    }

    #[inline]
    pub const fn xmax_invalid(&self) -> bool {
        self.infomask & infomask::XMAX_INVALID != 0
    }

    #[inline]
    pub const fn xmax_locked_only(&self) -> bool {
        xmax_is_locked_only(self.infomask)
    }

    /// `xmax` as a multixact; only if [`Self::xmax_is_multi`].
    pub const fn multi(&self) -> MultiXid {
        MultiXid(self.raw_xmax.0)
    }

    #[inline]
    pub const fn is_hot_updated(&self) -> bool {
        self.infomask2 & infomask2::HOT_UPDATED != 0
            && self.infomask & infomask::XMAX_INVALID == 0
            && !self.xmin_invalid()
    }

    #[inline]
    pub const fn is_heap_only(&self) -> bool {
        self.infomask2 & infomask2::ONLY_TUPLE != 0
    }

    #[inline]
    pub const fn keys_updated(&self) -> bool {
        self.infomask2 & infomask2::KEYS_UPDATED != 0
    }

    #[inline]
    pub const fn has_nulls(&self) -> bool {
        self.infomask & infomask::HASNULL != 0
    }

    #[inline]
    pub const fn has_external(&self) -> bool {
        self.infomask & infomask::HASEXTERNAL != 0
    }

    #[inline]
    pub const fn is_speculative(&self) -> bool {
        self.ctid.offset == SPEC_TOKEN_OFFSET
    }

    /// Token of a speculative insertion.
    pub const fn speculative_token(&self) -> u32 {
        self.ctid.block.0
    }

    #[inline]
    pub const fn moved_partitions(&self) -> bool {
        self.ctid.offset == MOVED_PARTITIONS_OFFSET && self.ctid.block.0 == u32::MAX
    }

    /// The XID of an old-style VACUUM FULL, if one moved the tuple.
    #[inline]
    pub const fn xvac(&self) -> Xid {
        if self.infomask & infomask::MOVED != 0 { Xid(self.raw_cid.0) } else { Xid::INVALID }
    }
}

/// A tuple in a page or in memory: a copy of its header and the bytes after it.
#[derive(Clone, Copy, Debug)]
pub struct HeapTuple<'a> {
    pub header: HeapTupleHeader,
    /// From byte 23 on: null bitmap, padding, columns.
    pub body: &'a [u8],
}

impl<'a> HeapTuple<'a> {
    /// From a whole tuple in private memory. `None` if it is shorter than a header.
    #[inline]
    pub fn from_bytes(bytes: &'a [u8]) -> Option<HeapTuple<'a>> {
        let header = HeapTupleHeader::read(bytes)?;
        Some(HeapTuple { header, body: &bytes[HEADER_SIZE..] })
    }

    /// Length of the whole tuple, in bytes.
    #[inline]
    pub const fn len(&self) -> usize {
        self.body.len() + HEADER_SIZE
    }

    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The columns' bytes: from `t_hoff` on.
    #[inline]
    pub fn data(&self) -> &'a [u8] {
        self.body.get((self.header.hoff as usize).wrapping_sub(HEADER_SIZE)..).unwrap_or(&[])
    }

    /// Number of leading columns that are known not to be NULL; may exceed the number of columns.
    #[inline]
    pub fn leading_not_null(&self) -> usize {
        if !self.header.has_nulls() {
            return usize::MAX;
        }
        let bitmap = self.bitmap();
        let whole = bitmap.iter().take_while(|&&b| b == 0xff).count();
        8 * whole + bitmap.get(whole).map_or(0, |b| b.trailing_ones() as usize)
    }

    /// The null bitmap (bit set: not null); empty if the tuple has no nulls.
    #[inline]
    pub fn bitmap(&self) -> &'a [u8] {
        if self.header.has_nulls() {
            self.body.get(..bitmap_len(self.header.natts())).unwrap_or(&[])
        } else {
            &[]
        }
    }

    /// The whole tuple, copied.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = vec![0; HEADER_SIZE];
        self.header.write(&mut out);
        out.extend_from_slice(self.body);
        out
    }
}

impl Page {
    /// The heap tuple at a normal line pointer. `None` for other line pointers, and for an item
    /// that cannot be a tuple (shorter than a header, outside the page).
    #[inline]
    pub fn heap_tuple(&self, offset: OffsetNo) -> Option<HeapTuple<'_>> {
        self.heap_tuple_lp(self.line_pointer(offset))
    }

    /// As [`Page::heap_tuple`], with the line pointer read already.
    #[inline]
    pub fn heap_tuple_lp(&self, lp: item::LinePointer) -> Option<HeapTuple<'_>> {
        let header = self.heap_header_lp(lp)?;
        let body = self.slice(lp.offset() + HEADER_SIZE, lp.len() - HEADER_SIZE);
        Some(HeapTuple { header, body })
    }

    /// The header of the heap tuple at `offset`.
    #[inline]
    pub fn heap_header(&self, offset: OffsetNo) -> Option<HeapTupleHeader> {
        self.heap_header_lp(self.line_pointer(offset))
    }

    /// Reads the header of the heap tuple at `offset` into `header`; false, with `header`
    /// unchanged, if there is no tuple.
    #[inline]
    pub fn read_heap_header(&self, offset: OffsetNo, header: &mut HeapTupleHeader) -> bool {
        let lp = self.line_pointer(offset);
        self.heap_header_into(lp, header)
    }

    #[inline]
    fn heap_header_lp(&self, lp: item::LinePointer) -> Option<HeapTupleHeader> {
        let mut header = HeapTupleHeader::default();
        self.heap_header_into(lp, &mut header).then_some(header)
    }

    #[inline(always)]
    fn heap_header_into(&self, lp: item::LinePointer, header: &mut HeapTupleHeader) -> bool {
        let at = lp.offset();
        if !lp.is_normal()
            || lp.len() < HEADER_SIZE
            || !at.is_multiple_of(8)
            || at > crate::raw::PAGE_SIZE - 24
            || at + lp.len() > crate::raw::PAGE_SIZE
        {
            return false;
        }
        // Three aligned words hold the 23 bytes (tuples are padded to eight).
        let (w0, w1, w2) = (self.u64_at(at), self.u64_at(at + 8), self.u64_at(at + 16));
        let block = ((w1 >> 32 & 0xFFFF) as u32) << 16 | (w1 >> 48) as u32;
        header.raw_xmin = Xid(w0 as u32);
        header.raw_xmax = Xid((w0 >> 32) as u32);
        header.raw_cid = CommandId(w1 as u32);
        header.ctid = Tid::new(ids::BlockNo(block), w2 as u16);
        header.infomask2 = (w2 >> 16) as u16;
        header.infomask = (w2 >> 32) as u16;
        header.hoff = (w2 >> 48) as u8;
        true
    }

    /// Replaces the header of the heap tuple at `offset` (a normal line pointer).
    #[inline]
    pub fn set_heap_header(&mut self, offset: OffsetNo, header: &HeapTupleHeader) {
        let bytes = self.item_mut(offset);
        if bytes.len() >= HEADER_SIZE {
            header.write(bytes);
        }
    }
}

impl Hints<'_> {
    /// Sets visibility hint bits in the infomask of the heap tuple at `offset`.
    #[inline]
    pub fn set_infomask(&self, offset: OffsetNo, bits: u16) {
        let lp = self.line_pointer(offset);
        if lp.is_normal() && lp.offset() + HEADER_SIZE <= crate::raw::PAGE_SIZE {
            self.or_u16(lp.offset() + INFOMASK_AT, bits);
        }
    }
}
