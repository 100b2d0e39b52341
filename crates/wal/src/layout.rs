//! The log's pages and segments, and the conversion between its two ways of counting bytes.
//!
//! ```text
//! segment (1 MB .. 1 GB):  | page | page | page | ...
//! first page:   long header (40 bytes) | records ...
//! other pages:  short header (24 bytes) | records ...
//! ```
//!
//! [`Lsn`]s count every byte of every file. Inserters count *usable* bytes instead (`pos` in this
//! crate), which leave out page headers: a reservation is then a plain addition. Counterpart:
//! access/xlog_internal.h.

use ids::Lsn;

/// Size of a page of the log (`XLOG_BLCKSZ`).
pub const WAL_PAGE: usize = 8192;
const PAGE: u64 = WAL_PAGE as u64;
/// Page magic of PostgreSQL 15.
pub const PAGE_MAGIC: u16 = 0xD110;
/// Size of the header of a page that is not a segment's first.
pub const SHORT_HEADER: usize = 24;
/// Size of the header of a segment's first page.
pub const LONG_HEADER: usize = 40;
/// Page flag: the page begins with the rest of a record.
pub const XLP_FIRST_IS_CONTRECORD: u16 = 0x0001;
/// Page flag: the header is a long one.
pub const XLP_LONG_HEADER: u16 = 0x0002;
/// Page flag: full page images up to here may be removed by tools that compress the log.
pub const XLP_BKP_REMOVABLE: u16 = 0x0004;
/// Page flag: the page replaces one that should have held the rest of a record.
pub const XLP_FIRST_IS_OVERWRITE_CONTRECORD: u16 = 0x0008;
/// All known page flags.
pub const XLP_ALL_FLAGS: u16 = 0x000F;
/// Default segment size.
pub const DEFAULT_SEGMENT_SIZE: u32 = 16 * 1024 * 1024;

/// True if this is a possible segment size.
pub const fn valid_segment_size(size: u32) -> bool {
    size.is_power_of_two() && size >= 1 << 20 && size <= 1 << 30
}

/// Geometry of the log: all that follows from the segment size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    segment_size: u64,
    usable_in_segment: u64,
}

const USABLE_IN_PAGE: u64 = PAGE - SHORT_HEADER as u64;

impl Layout {
    /// `segment_size` must satisfy [`valid_segment_size`].
    pub const fn new(segment_size: u32) -> Layout {
        assert!(valid_segment_size(segment_size));
        let size = segment_size as u64;
        let usable = size / PAGE * USABLE_IN_PAGE - (LONG_HEADER - SHORT_HEADER) as u64;
        Layout { segment_size: size, usable_in_segment: usable }
    }

    pub const fn segment_size(self) -> u64 {
        self.segment_size
    }

    /// Number of the segment that holds the byte at `lsn`.
    pub const fn segment_of(self, lsn: Lsn) -> u64 {
        lsn.0 / self.segment_size
    }

    /// Number of the segment that holds the byte before `lsn`.
    pub const fn segment_before(self, lsn: Lsn) -> u64 {
        (lsn.0 - 1) / self.segment_size
    }

    pub const fn offset_in_segment(self, lsn: Lsn) -> u64 {
        lsn.0 & (self.segment_size - 1)
    }

    pub const fn segment_start(self, segment: u64) -> Lsn {
        Lsn(segment * self.segment_size)
    }

    /// Size of the header of the page that starts at (or holds) `lsn`.
    pub const fn header_size(self, lsn: Lsn) -> usize {
        if self.offset_in_segment(lsn) < PAGE { LONG_HEADER } else { SHORT_HEADER }
    }

    /// Usable bytes before the position at `lsn`, which must not lie inside a page header.
    pub const fn to_byte_pos(self, lsn: Lsn) -> u64 {
        let full_segments = lsn.0 / self.segment_size;
        let pages = self.offset_in_segment(lsn) / PAGE;
        let offset = lsn.0 % PAGE;
        let in_segment = if pages == 0 {
            if offset == 0 { 0 } else { offset - LONG_HEADER as u64 }
        } else {
            let first = PAGE - LONG_HEADER as u64;
            let rest = (pages - 1) * USABLE_IN_PAGE;
            first + rest + if offset == 0 { 0 } else { offset - SHORT_HEADER as u64 }
        };
        full_segments * self.usable_in_segment + in_segment
    }

    /// Position of the usable byte `pos`: at the first usable byte of a page, the position after
    /// the page header.
    pub const fn start_lsn(self, pos: u64) -> Lsn {
        self.to_lsn(pos, false)
    }

    /// Like [`Layout::start_lsn`], but a position that ends a page exactly is the page boundary.
    pub const fn end_lsn(self, pos: u64) -> Lsn {
        self.to_lsn(pos, true)
    }

    /// End of `len` usable bytes (a multiple of 8) that begin at `start`, usable byte `pos`. Equal
    /// to [`Layout::end_lsn`] of `pos + len`, but without a division in the common case that both
    /// are on one page.
    #[inline]
    pub const fn end_after(self, start: Lsn, pos: u64, len: u64) -> Lsn {
        if start.0 % PAGE + len <= PAGE { Lsn(start.0 + len) } else { self.end_lsn(pos + len) }
    }

    /// Position of the usable byte `before`, at most `pos`; `start` is the position of `pos`. Equal
    /// to [`Layout::start_lsn`] of `before`, without a division if both are on one page.
    #[inline]
    pub const fn start_before(self, start: Lsn, pos: u64, before: u64) -> Lsn {
        let back = pos - before;
        if start.0 % PAGE >= back + self.header_size(start) as u64 {
            Lsn(start.0 - back)
        } else {
            self.start_lsn(before)
        }
    }

    const fn to_lsn(self, pos: u64, end: bool) -> Lsn {
        let segments = pos / self.usable_in_segment;
        let mut left = pos % self.usable_in_segment;
        let first = PAGE - LONG_HEADER as u64;
        let offset = if left < first {
            if end && left == 0 { 0 } else { left + LONG_HEADER as u64 }
        } else {
            left -= first;
            let pages = left / USABLE_IN_PAGE;
            left %= USABLE_IN_PAGE;
            let header = if end && left == 0 { 0 } else { SHORT_HEADER as u64 };
            PAGE + pages * PAGE + left + header
        };
        Lsn(segments * self.segment_size + offset)
    }

    /// File name of a segment: timeline, high and low part of its number, 8 hex digits each.
    pub fn file_name(self, timeline: u32, segment: u64) -> String {
        let per_id = 0x1_0000_0000 / self.segment_size;
        format!("{timeline:08X}{:08X}{:08X}", segment / per_id, segment % per_id)
    }

    /// Path of a segment below the data directory.
    pub fn path(self, timeline: u32, segment: u64) -> String {
        format!("pg_wal/{}", self.file_name(timeline, segment))
    }

    /// Timeline and number of the segment with this file name.
    pub fn parse_file_name(self, name: &str) -> Option<(u32, u64)> {
        if !is_segment_name(name) {
            return None;
        }
        let part = |i: usize| u32::from_str_radix(&name[i..i + 8], 16).ok();
        let per_id = 0x1_0000_0000 / self.segment_size;
        let low = u64::from(part(16)?);
        if low >= per_id {
            return None;
        }
        Some((part(0)?, u64::from(part(8)?) * per_id + low))
    }
}

/// True if `name` has the form of a segment file name.
pub fn is_segment_name(name: &str) -> bool {
    name.len() == 24 && name.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b))
}

/// The header of a page of the log, short or long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageHeader {
    pub magic: u16,
    pub info: u16,
    pub timeline: u32,
    pub page_addr: Lsn,
    /// Bytes of the record continued here that are on this and later pages.
    pub rem_len: u32,
    /// `system identifier, segment size, page size`, in a long header.
    pub long: Option<(u64, u32, u32)>,
}

impl PageHeader {
    /// Reads the header at the start of `page`, which must hold at least 40 bytes.
    pub fn read(page: &[u8]) -> PageHeader {
        let info = le16(page, 2);
        let long =
            (info & XLP_LONG_HEADER != 0).then(|| (le64(page, 24), le32(page, 32), le32(page, 36)));
        PageHeader {
            magic: le16(page, 0),
            info,
            timeline: le32(page, 4),
            page_addr: Lsn(le64(page, 8)),
            rem_len: le32(page, 16),
            long,
        }
    }

    /// Writes the header; the padding is zero.
    pub fn write(&self, page: &mut [u8]) {
        page[0..2].copy_from_slice(&self.magic.to_le_bytes());
        page[2..4].copy_from_slice(&self.info.to_le_bytes());
        page[4..8].copy_from_slice(&self.timeline.to_le_bytes());
        page[8..16].copy_from_slice(&self.page_addr.0.to_le_bytes());
        page[16..20].copy_from_slice(&self.rem_len.to_le_bytes());
        page[20..24].fill(0);
        if let Some((system_id, segment_size, page_size)) = self.long {
            page[24..32].copy_from_slice(&system_id.to_le_bytes());
            page[32..36].copy_from_slice(&segment_size.to_le_bytes());
            page[36..40].copy_from_slice(&page_size.to_le_bytes());
        }
    }

    pub const fn size(&self) -> usize {
        if self.info & XLP_LONG_HEADER != 0 { LONG_HEADER } else { SHORT_HEADER }
    }
}

/// Rounds up to the log's alignment of 8.
pub const fn maxalign(n: u64) -> u64 {
    (n + 7) & !7
}

#[inline]
pub(crate) fn le16(b: &[u8], at: usize) -> u16 {
    let bytes = b[at..at + 2].first_chunk::<2>().expect("the slice has two bytes");
    u16::from_le_bytes(*bytes)
}

#[inline]
pub(crate) fn le32(b: &[u8], at: usize) -> u32 {
    let bytes = b[at..at + 4].first_chunk::<4>().expect("the slice has four bytes");
    u32::from_le_bytes(*bytes)
}

#[inline]
pub(crate) fn le64(b: &[u8], at: usize) -> u64 {
    let bytes = b[at..at + 8].first_chunk::<8>().expect("the slice has eight bytes");
    u64::from_le_bytes(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_positions_skip_headers_and_round_trip() {
        for size in [1 << 20, 16 << 20, 1 << 30] {
            let layout = Layout::new(size);
            // Independent model: visit all usable bytes of the first pages of some segments.
            for base in [0u64, 1, 3] {
                let start = base * u64::from(size);
                let mut pos = layout.to_byte_pos(Lsn(start));
                for page in 0..3u64 {
                    let header = if page == 0 { 40 } else { 24 };
                    for off in header..8192u64 {
                        let lsn = Lsn(start + page * 8192 + off);
                        assert_eq!(layout.to_byte_pos(lsn), pos);
                        assert_eq!(layout.start_lsn(pos), lsn);
                        if off != header {
                            assert_eq!(layout.end_lsn(pos), lsn);
                        } else {
                            assert_eq!(layout.end_lsn(pos), Lsn(start + page * 8192));
                        }
                        pos += 1;
                    }
                }
            }
            let boundary = Lsn(5 * u64::from(size));
            assert_eq!(layout.end_lsn(layout.to_byte_pos(boundary)), boundary);
        }
    }

    #[test]
    fn positions_on_one_page_need_no_division() {
        for size in [1 << 20, 16 << 20] {
            let layout = Layout::new(size);
            for base in [0u64, 1, 3] {
                let first = layout.to_byte_pos(Lsn(base * u64::from(size)));
                for pos in (first..first + 3 * 8192).step_by(8) {
                    let start = layout.start_lsn(pos);
                    for len in [8, 24, 64, 8128, 8152, 8160, 8168, 8184, 20_000] {
                        assert_eq!(layout.end_after(start, pos, len), layout.end_lsn(pos + len));
                        if let Some(before) = pos.checked_sub(len) {
                            let found = layout.start_before(start, pos, before);
                            assert_eq!(found, layout.start_lsn(before));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn file_names_are_formed_and_parsed() {
        let layout = Layout::new(16 << 20);
        assert_eq!(layout.file_name(1, 1), "000000010000000000000001");
        assert_eq!(layout.file_name(1, 0x100), "000000010000000100000000");
        assert_eq!(layout.parse_file_name("000000010000000100000003"), Some((1, 0x103)));
        assert_eq!(layout.parse_file_name("000000010000000100000100"), None);
        assert_eq!(layout.parse_file_name("00000001000000010000000g"), None);
        assert_eq!(Layout::new(1 << 30).file_name(2, 5), "000000020000000100000001");
    }
}
