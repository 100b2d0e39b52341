//! The page header: 24 bytes, then line pointers growing up to `pd_lower`, free space, tuples from
//! `pd_upper` up, and the access method's special space from `pd_special` to the end.
//!
//! ```text
//!  0        8    10   12   14   16   18   20       24
//!  | pd_lsn | sum| flg|lowr|uppr|spcl|sz|v|prune_xid| line pointers → … free … ← tuples | special
//! ```
//! `pd_lsn` is two 32-bit words, the upper half first.
//!
//! Counterpart: storage/bufpage.h, bufpage.c.

use crate::raw::{PAGE_SIZE, Page};
use ids::{Lsn, Xid};

/// Bytes of the fixed header. Counterpart: `SizeOfPageHeaderData`.
pub const HEADER_SIZE: usize = 24;
/// Counterpart: `PG_PAGE_LAYOUT_VERSION`.
pub const LAYOUT_VERSION: u16 = 4;

/// There may be unused line pointers (a hint).
pub const PD_HAS_FREE_LINES: u16 = 0x0001;
/// An update did not find space here (a hint for pruning).
pub const PD_PAGE_FULL: u16 = 0x0002;
/// All tuples are visible to all transactions.
pub const PD_ALL_VISIBLE: u16 = 0x0004;
/// All defined bits of `pd_flags`.
pub const PD_VALID_FLAG_BITS: u16 = 0x0007;

pub(crate) const CHECKSUM_AT: usize = 8;
pub(crate) const FLAGS_AT: usize = 10;
const LOWER_AT: usize = 12;
const UPPER_AT: usize = 14;
const SPECIAL_AT: usize = 16;
const SIZE_VERSION_AT: usize = 18;
pub(crate) const PRUNE_XID_AT: usize = 20;

/// Rounds up to a multiple of eight. Counterpart: `MAXALIGN`.
#[inline(always)]
pub const fn max_align(n: usize) -> usize {
    (n + 7) & !7
}

impl Page {
    #[inline]
    pub fn lsn(&self) -> Lsn {
        Lsn(self.u64_at(0).rotate_left(32))
    }

    #[inline]
    pub fn checksum_field(&self) -> u16 {
        self.u16_at(CHECKSUM_AT)
    }

    #[inline]
    pub fn flags(&self) -> u16 {
        self.u16_at(FLAGS_AT)
    }

    #[inline]
    pub fn lower(&self) -> usize {
        self.u16_at(LOWER_AT) as usize
    }

    #[inline]
    pub fn upper(&self) -> usize {
        self.u16_at(UPPER_AT) as usize
    }

    #[inline]
    pub fn special(&self) -> usize {
        self.u16_at(SPECIAL_AT) as usize
    }

    /// Size of the special space in bytes.
    #[inline]
    pub fn special_size(&self) -> usize {
        PAGE_SIZE.saturating_sub(self.special())
    }

    pub fn page_size_field(&self) -> u16 {
        self.u16_at(SIZE_VERSION_AT) & 0xFF00
    }

    pub fn layout_version(&self) -> u16 {
        self.u16_at(SIZE_VERSION_AT) & 0x00FF
    }

    /// Oldest XID whose end may make pruning useful (a hint); invalid if none.
    #[inline]
    pub fn prune_xid(&self) -> Xid {
        Xid(self.u32_at(PRUNE_XID_AT))
    }

    #[inline]
    pub fn is_all_visible(&self) -> bool {
        self.flags() & PD_ALL_VISIBLE != 0
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.flags() & PD_PAGE_FULL != 0
    }

    #[inline]
    pub fn has_free_lines(&self) -> bool {
        self.flags() & PD_HAS_FREE_LINES != 0
    }

    /// Never initialized. Counterpart: `PageIsNew`.
    #[inline]
    pub fn is_new(&self) -> bool {
        self.upper() == 0
    }

    /// No line pointers. Counterpart: `PageIsEmpty`.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lower() <= HEADER_SIZE
    }

    /// True if all bytes are zero.
    pub fn is_all_zeros(&self) -> bool {
        (0..PAGE_SIZE / 8).all(|i| self.u64_at(i * 8) == 0)
    }

    /// Makes an empty page with a special space of `special_size` bytes (rounded up to eight).
    /// Counterpart: `PageInit`.
    pub fn init(&mut self, special_size: usize) {
        let special = PAGE_SIZE - max_align(special_size);
        assert!(special > HEADER_SIZE);
        self.bytes_mut().fill(0);
        self.set_lower(HEADER_SIZE);
        self.set_upper(special);
        self.set_special(special);
        self.set_u16_at(SIZE_VERSION_AT, PAGE_SIZE as u16 | LAYOUT_VERSION);
    }

    #[inline]
    pub fn set_lsn(&mut self, lsn: Lsn) {
        self.set_u64_at(0, lsn.0.rotate_left(32));
    }

    pub fn set_checksum_field(&mut self, sum: u16) {
        self.set_u16_at(CHECKSUM_AT, sum);
    }

    pub fn set_flags(&mut self, flags: u16) {
        self.set_u16_at(FLAGS_AT, flags);
    }

    /// Sets (or clears) the flag bits `bits`.
    #[inline]
    pub fn set_flag(&mut self, bits: u16, on: bool) {
        let flags = self.flags();
        self.set_flags(if on { flags | bits } else { flags & !bits });
    }

    #[inline]
    pub fn set_lower(&mut self, lower: usize) {
        self.set_u16_at(LOWER_AT, lower as u16);
    }

    #[inline]
    pub fn set_upper(&mut self, upper: usize) {
        self.set_u16_at(UPPER_AT, upper as u16);
    }

    pub fn set_special(&mut self, special: usize) {
        self.set_u16_at(SPECIAL_AT, special as u16);
    }

    #[inline]
    pub fn set_all_visible(&mut self, on: bool) {
        self.set_flag(PD_ALL_VISIBLE, on);
    }

    #[inline]
    pub fn set_full(&mut self, on: bool) {
        self.set_flag(PD_PAGE_FULL, on);
    }

    #[inline]
    pub fn set_prune_xid(&mut self, xid: Xid) {
        self.set_u32_at(PRUNE_XID_AT, xid.0);
    }

    /// Records that the page has something to prune once `xid` (normal) has ended, if `xid` is
    /// older than the recorded XID. Counterpart: `PageSetPrunable`.
    #[inline]
    pub fn set_prunable(&mut self, xid: Xid) {
        let recorded = self.prune_xid();
        if !recorded.is_valid() || xid.precedes(recorded) {
            self.set_prune_xid(xid);
        }
    }

    /// The special space as bytes. Not for a special space with hint fields (a B-tree's
    /// `btpo_flags`) under a latch that lets others set them: read those by [`Page::u16_at`].
    pub fn special_bytes(&self) -> &[u8] {
        self.slice(self.special(), self.special_size())
    }

    pub fn special_bytes_mut(&mut self) -> &mut [u8] {
        let special = self.special().min(PAGE_SIZE);
        &mut self.bytes_mut()[special..]
    }

    /// True if the header is valid. All-zero pages pass. Does not check the checksum. Counterpart:
    /// the header tests of `PageIsVerifiedExtended`.
    pub fn header_is_sane(&self) -> bool {
        if self.is_new() {
            return self.is_all_zeros();
        }
        self.flags() & !PD_VALID_FLAG_BITS == 0
            && self.lower() <= self.upper()
            && self.upper() <= self.special()
            && self.special() <= PAGE_SIZE
            && self.special().is_multiple_of(8)
    }
}

impl crate::raw::Hints<'_> {
    /// Sets PD_PAGE_FULL.
    #[inline]
    pub fn set_full(&self) {
        self.or_u16(FLAGS_AT, PD_PAGE_FULL);
    }

    pub fn clear_full(&self) {
        self.clear_u16(FLAGS_AT, PD_PAGE_FULL);
    }

    #[inline]
    pub fn set_prune_xid(&self, xid: Xid) {
        self.store_u32(PRUNE_XID_AT, xid.0);
    }
}
