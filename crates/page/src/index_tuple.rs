//! Index tuples: header, null bitmap, aligned columns; and the two forms of B-tree tuples that
//! reuse the heap TID field for something else (pivot tuples and posting lists). Counterpart:
//! access/common/indextuple.c, access/itup.h and the tuple format of access/nbtree.h.
//!
//! ```text
//!  0        6        8            12 (16 aligned)
//!  | t_tid  | t_info | null bitmap | columns …, padded to 8 |
//!  t_info: 0x8000 nulls | 0x4000 variable-width columns | 0x2000 other meaning of t_tid | size
//!
//!  plain      t_tid = heap TID
//!  pivot      0x2000 set; t_tid block = downlink, offset = 0x1000? | number of key columns;
//!             0x1000: the last 8 bytes hold a heap TID (6 bytes, 2 of padding before the end)
//!  posting    0x2000 set; t_tid offset = 0x2000 | number of TIDs, block = offset of the TID array
//! ```
//! The bitmap always has 4 bytes. Columns start at 8, or at 16 with nulls.

use ids::{BlockNo, OffsetNo, Tid};

/// Bytes of `t_tid` and `t_info`.
pub const HEADER_SIZE: usize = 8;
/// Most columns an index may have, included ones counted.
pub const INDEX_MAX_KEYS: usize = 32;
const DATA_OFFSET_WITH_NULLS: usize = 16;

pub const SIZE_MASK: u16 = 0x1FFF;
/// Bit 13 of `t_info`: `t_tid` is not a heap TID. Counterpart: `INDEX_ALT_TID_MASK`.
pub const ALT_TID_MASK: u16 = 0x2000;
pub const VAR_MASK: u16 = 0x4000;
pub const NULL_MASK: u16 = 0x8000;

/// Low 12 bits of the offset in an alternative `t_tid`: number of columns or of TIDs.
pub const OFFSET_MASK: u16 = 0x0FFF;
pub const STATUS_OFFSET_MASK: u16 = 0xF000;
/// Pivot: a heap TID follows the columns.
pub const PIVOT_HEAP_TID_ATTR: u16 = 0x1000;
/// The tuple is a posting list.
pub const IS_POSTING: u16 = 0x2000;

/// Bytes of a TID on disk.
pub const TID_SIZE: usize = 6;

/// A varlena larger than this (header included) is compressed before it enters an index tuple,
/// where its column's storage allows. Counterpart: `TOAST_INDEX_TARGET`.
pub const TOAST_INDEX_TARGET: usize = 8160 / 16;

#[inline]
pub const fn max_align(n: usize) -> usize {
    (n + 7) & !7
}

const fn align_to(n: usize, align: u8) -> usize {
    let a = align as usize;
    (n + a - 1) & !(a - 1)
}

/// The physical properties of a column, by which it is located and written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexAttr {
    /// Bytes, -1 for a varlena, -2 for a C string.
    pub len: i16,
    /// Alignment in bytes: 1, 2, 4 or 8.
    pub align: u8,
    pub by_val: bool,
    /// A varlena may take a one-byte header (its storage is not plain).
    pub packable: bool,
}

impl IndexAttr {
    pub const fn fixed(len: i16, align: u8, by_val: bool) -> IndexAttr {
        IndexAttr { len, align, by_val, packable: false }
    }

    pub const fn varlena(align: u8) -> IndexAttr {
        IndexAttr { len: -1, align, by_val: false, packable: true }
    }
}

/// The columns of an index, with the offsets that are the same in all tuples without nulls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IndexShape {
    attrs: Box<[IndexAttr]>,
    /// Offset from the start of the columns; `u16::MAX` where it depends on the tuple.
    fixed_offsets: Box<[u16]>,
}

const NO_OFFSET: u16 = u16::MAX;

impl IndexShape {
    pub fn new(attrs: &[IndexAttr]) -> IndexShape {
        let mut fixed = vec![NO_OFFSET; attrs.len()];
        let mut off = 0usize;
        for (slot, a) in fixed.iter_mut().zip(attrs) {
            let aligned = align_to(off, a.align);
            // A varlena's offset is fixed only if it needs no padding, since one with a short
            // header is not padded.
            if a.len < 0 && aligned != off {
                break;
            }
            if aligned >= SIZE_MASK as usize {
                break;
            }
            *slot = aligned as u16;
            if a.len < 0 {
                break;
            }
            off = aligned + a.len as usize;
        }
        IndexShape { attrs: attrs.into(), fixed_offsets: fixed.into() }
    }

    #[inline]
    pub fn attrs(&self) -> &[IndexAttr] {
        &self.attrs
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.attrs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.attrs.is_empty()
    }
}

/// Size of the stored value at the front of `b`, header included.
#[inline]
fn stored_len(attr: &IndexAttr, b: &[u8]) -> usize {
    match attr.len {
        -1 => varlena_size(b),
        -2 => b.iter().position(|&c| c == 0).map_or(b.len(), |n| n + 1),
        n => n as usize,
    }
}

/// Size of the varlena at the front of `b`, header included. External forms do not occur in
/// indexes.
#[inline]
fn varlena_size(b: &[u8]) -> usize {
    match *b {
        [first, ..] if first & 1 == 1 => usize::from(first >> 1),
        [a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]) >> 2) as usize,
        _ => 0,
    }
}

/// The stored value at the front of `b`; on a damaged page, as much of it as there is.
#[inline]
fn stored<'a>(attr: &IndexAttr, b: &'a [u8]) -> &'a [u8] {
    b.get(..stored_len(attr, b)).unwrap_or(b)
}

/// Substitute for an item shorter than a header, which occurs only on a damaged page.
const EMPTY_TUPLE: &[u8; HEADER_SIZE] = &[0; HEADER_SIZE];

/// A tuple on a page or in memory: exactly its own bytes. Parts that a damaged tuple lacks are read
/// as empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IndexTuple<'a>(&'a [u8]);

impl<'a> IndexTuple<'a> {
    /// `bytes` begin with the header; bytes after the tuple's size are removed. Bytes shorter than
    /// their own size field are kept unchanged.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> IndexTuple<'a> {
        let t = IndexTuple(if bytes.len() < HEADER_SIZE { EMPTY_TUPLE } else { bytes });
        let size = t.size();
        if size < bytes.len() && size >= HEADER_SIZE { IndexTuple(&bytes[..size]) } else { t }
    }

    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    #[inline]
    pub fn info(self) -> u16 {
        u16::from_le_bytes([self.0[6], self.0[7]])
    }

    /// Size by the header, a multiple of 8.
    #[inline]
    pub fn size(self) -> usize {
        usize::from(self.info() & SIZE_MASK)
    }

    /// True if the size and the posting list that the header declares are within the tuple's bytes.
    /// On a damaged page they may not be.
    pub fn is_complete(self) -> bool {
        let room = self.0.len();
        if room < HEADER_SIZE || self.size() < HEADER_SIZE || self.size() > room {
            return false;
        }
        let list =
            |from: usize| from >= HEADER_SIZE && from + self.posting_count() * TID_SIZE <= room;
        !self.is_posting() || self.posting_count() > 0 && list(self.posting_offset())
    }

    #[inline]
    pub fn has_nulls(self) -> bool {
        self.info() & NULL_MASK != 0
    }

    pub fn has_varwidths(self) -> bool {
        self.info() & VAR_MASK != 0
    }

    /// As [`crate::btree::Node::first_word`].
    #[inline]
    pub fn first_word(self) -> Option<u64> {
        if self.has_nulls() {
            return None;
        }
        let bytes = self.0.get(HEADER_SIZE..HEADER_SIZE + 8)?;
        bytes.first_chunk::<8>().map(|b| u64::from_le_bytes(*b))
    }

    /// The TID field. Its meaning depends on the kind of tuple.
    #[inline]
    pub fn tid_field(self) -> Tid {
        tid_at(self.0, 0)
    }

    #[inline]
    fn offset_field(self) -> u16 {
        u16::from_le_bytes([self.0[4], self.0[5]])
    }

    #[inline]
    pub fn is_pivot(self) -> bool {
        self.info() & ALT_TID_MASK != 0 && self.offset_field() & IS_POSTING == 0
    }

    #[inline]
    pub fn is_posting(self) -> bool {
        self.info() & ALT_TID_MASK != 0 && self.offset_field() & IS_POSTING != 0
    }

    /// Block of the child page (of a pivot tuple).
    #[inline]
    pub fn downlink(self) -> BlockNo {
        self.tid_field().block
    }

    /// In the high key of a half-dead leaf: top of the subtree that is being deleted (invalid: the
    /// leaf itself).
    pub fn top_parent(self) -> BlockNo {
        self.tid_field().block
    }

    /// Number of columns present; `natts` is that of the index. A pivot tuple's heap TID is not
    /// counted.
    #[inline]
    pub fn natts(self, natts: usize) -> usize {
        if self.is_pivot() { usize::from(self.offset_field() & OFFSET_MASK) } else { natts }
    }

    /// Number of TIDs in a posting list.
    #[inline]
    pub fn posting_count(self) -> usize {
        debug_assert!(self.is_posting());
        usize::from(self.offset_field() & OFFSET_MASK)
    }

    #[inline]
    pub fn posting_offset(self) -> usize {
        debug_assert!(self.is_posting());
        self.tid_field().block.0 as usize
    }

    /// The `n`-th TID of a posting list.
    #[inline]
    pub fn posting_tid(self, n: usize) -> Tid {
        tid_at(self.0, self.posting_offset() + n * TID_SIZE)
    }

    /// The TID array of a posting list, 6 bytes each.
    pub fn posting_bytes(self) -> &'a [u8] {
        let from = self.posting_offset();
        self.0.get(from..from + self.posting_count() * TID_SIZE).unwrap_or(&[])
    }

    /// Number of heap TIDs of a leaf tuple.
    #[inline]
    pub fn tid_count(self) -> usize {
        if self.is_posting() { self.posting_count() } else { 1 }
    }

    /// The heap TIDs of a leaf tuple, in order.
    pub fn tids(self) -> impl ExactSizeIterator<Item = Tid> + 'a {
        let posting = self.is_posting();
        (0..self.tid_count())
            .map(move |n| if posting { self.posting_tid(n) } else { self.tid_field() })
    }

    /// The tie-breaking TID of the tuple: the (first) heap TID of a leaf tuple; the heap TID of a
    /// pivot tuple, `None` if it was truncated. Counterpart: `BTreeTupleGetHeapTID`.
    #[inline]
    pub fn heap_tid(self) -> Option<Tid> {
        if self.info() & ALT_TID_MASK == 0 {
            return Some(self.tid_field());
        }
        let off = self.offset_field();
        if off & IS_POSTING != 0 {
            Some(self.posting_tid(0))
        } else if off & PIVOT_HEAP_TID_ATTR != 0 {
            Some(tid_at(self.0, self.size().wrapping_sub(TID_SIZE)))
        } else {
            None
        }
    }

    /// The largest heap TID of a leaf tuple.
    #[inline]
    pub fn max_heap_tid(self) -> Tid {
        if self.is_posting() {
            self.posting_tid(self.posting_count() - 1)
        } else {
            self.tid_field()
        }
    }

    /// Size of the part before the posting list, or of the whole tuple: the header and the key.
    #[inline]
    pub fn key_size(self) -> usize {
        if self.is_posting() {
            self.posting_offset().clamp(HEADER_SIZE, self.0.len())
        } else {
            self.0.len()
        }
    }

    #[inline]
    pub fn data_offset(self) -> usize {
        if self.has_nulls() { DATA_OFFSET_WITH_NULLS } else { HEADER_SIZE }
    }

    #[inline]
    pub fn is_null(self, n: usize) -> bool {
        self.has_nulls()
            && self.0.get(HEADER_SIZE + n / 8).is_none_or(|bits| bits & (1 << (n % 8)) == 0)
    }

    /// The stored bytes of column `n` (0-based), varlena header included; `None` for NULL. The
    /// column must be present (see [`Self::natts`]).
    #[inline]
    pub fn attr(self, shape: &IndexShape, n: usize) -> Option<&'a [u8]> {
        if !self.has_nulls() {
            let fixed = shape.fixed_offsets[n];
            if fixed != NO_OFFSET {
                let rest = self.0.get(HEADER_SIZE + fixed as usize..).unwrap_or(&[]);
                return Some(stored(&shape.attrs[n], rest));
            }
        } else if self.is_null(n) {
            return None;
        }
        Some(self.attr_slow(shape, n))
    }

    fn attr_slow(self, shape: &IndexShape, n: usize) -> &'a [u8] {
        let data = self.0.get(self.data_offset()..).unwrap_or(&[]);
        let mut off = 0;
        for (i, a) in shape.attrs[..=n].iter().enumerate() {
            if self.is_null(i) {
                continue;
            }
            off = Self::value_offset(data, a, off);
            let value = stored(a, data.get(off..).unwrap_or(&[]));
            if i == n {
                return value;
            }
            off += value.len();
        }
        unreachable!("the last column of the range is the one looked for, and it is not null")
    }

    /// Offset of the value that follows `off`: a varlena with a one-byte header is not aligned, and
    /// its first byte is never zero, as padding is.
    #[inline]
    fn value_offset(data: &[u8], a: &IndexAttr, off: usize) -> usize {
        if a.len == -1 && data.get(off).is_some_and(|&b| b != 0) {
            off
        } else {
            align_to(off, a.align)
        }
    }

    /// The stored bytes of the first `upto` columns present, in order.
    pub fn deform(self, shape: &IndexShape, upto: usize, out: &mut Vec<Option<&'a [u8]>>) {
        let data = self.0.get(self.data_offset()..).unwrap_or(&[]);
        let mut off = 0;
        for (i, a) in shape.attrs.iter().take(upto).enumerate() {
            if self.is_null(i) {
                out.push(None);
                continue;
            }
            off = Self::value_offset(data, a, off);
            let value = stored(a, data.get(off..).unwrap_or(&[]));
            out.push(Some(value));
            off += value.len();
        }
    }
}

impl std::fmt::Debug for IndexTuple<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IndexTuple {{ tid: {}, info: {:#06x} }}", self.tid_field(), self.info())
    }
}

#[inline]
fn tid_at(b: &[u8], at: usize) -> Tid {
    let bytes = b.get(at..).and_then(|b| b.first_chunk());
    bytes.map_or(Tid::new(BlockNo(0), 0), |bytes| Tid::from_bytes(*bytes))
}

/// A value to be stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored<'a> {
    Null,
    /// By-value types: the low bytes are stored.
    Word(u64),
    /// A payload without header.
    Payload(&'a [u8]),
    /// A varlena with its header, written as it is (compressed, or copied from another tuple).
    Raw(&'a [u8]),
}

/// The tuple would be larger than the size field can express.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge {
    pub size: usize,
}

/// Appends a plain tuple of the first `values.len()` columns to `out`. Padding is zero.
pub fn form(
    shape: &IndexShape,
    values: &[Stored<'_>],
    tid: Tid,
    out: &mut Vec<u8>,
) -> Result<(), TooLarge> {
    let start = out.len();
    let nulls = values.contains(&Stored::Null);
    let data_offset = if nulls { DATA_OFFSET_WITH_NULLS } else { HEADER_SIZE };
    out.extend_from_slice(&tid.to_bytes());
    out.resize(start + data_offset, 0);
    let mut info = if nulls { NULL_MASK } else { 0 };
    for (i, (v, a)) in values.iter().zip(shape.attrs.iter()).enumerate() {
        if *v == Stored::Null {
            continue;
        }
        if nulls {
            out[start + HEADER_SIZE + i / 8] |= 1 << (i % 8);
        }
        if a.len < 0 {
            info |= VAR_MASK;
        }
        store(a, *v, start, out);
    }
    let size = max_align(out.len() - start);
    if size > usize::from(SIZE_MASK) {
        out.truncate(start);
        return Err(TooLarge { size });
    }
    out.resize(start + size, 0);
    info |= size as u16;
    out[start + 6..start + 8].copy_from_slice(&info.to_le_bytes());
    Ok(())
}

fn pad(out: &mut Vec<u8>, start: usize, align: u8) {
    let at = align_to(out.len() - start, align);
    out.resize(start + at, 0);
}

fn store(a: &IndexAttr, v: Stored<'_>, start: usize, out: &mut Vec<u8>) {
    match v {
        Stored::Null => {}
        Stored::Word(w) => {
            pad(out, start, a.align);
            out.extend_from_slice(&w.to_le_bytes()[..a.len as usize]);
        }
        Stored::Payload(b) if a.len == -1 => {
            if a.packable && b.len() < 127 {
                out.push((b.len() as u8 + 1) << 1 | 1);
            } else {
                pad(out, start, a.align);
                out.extend_from_slice(&((b.len() as u32 + 4) << 2).to_le_bytes());
            }
            out.extend_from_slice(b);
        }
        Stored::Payload(b) => {
            pad(out, start, a.align);
            if a.len == -2 {
                // Names are passed padded to their full length.
                out.extend(b.iter().take_while(|&&c| c != 0));
                out.push(0);
            } else {
                out.extend_from_slice(b);
            }
        }
        Stored::Raw(b) => {
            let short = a.len == -1 && b.first().is_some_and(|h| h & 1 == 1);
            if !short {
                pad(out, start, a.align);
            }
            out.extend_from_slice(b);
        }
    }
}

/// Appends a copy of `tuple` truncated to its first `natts` columns; the TID field is copied.
/// Counterpart: `index_truncate_tuple`.
pub fn truncate(shape: &IndexShape, tuple: IndexTuple<'_>, natts: usize, out: &mut Vec<u8>) {
    if natts == shape.len() && !tuple.is_posting() {
        out.extend_from_slice(tuple.bytes());
        return;
    }
    let mut fields = Vec::with_capacity(natts);
    tuple.deform(shape, natts, &mut fields);
    let stored: Vec<Stored<'_>> =
        fields.into_iter().map(|f| f.map_or(Stored::Null, Stored::Raw)).collect();
    form(shape, &stored, tuple.tid_field(), out).expect("a part of a tuple is not larger than it");
}

/// Sets the TID field.
pub fn set_tid(tuple: &mut [u8], tid: Tid) {
    tuple[..TID_SIZE].copy_from_slice(&tid.to_bytes());
}

fn set_offset_field(tuple: &mut [u8], off: OffsetNo) {
    tuple[4..6].copy_from_slice(&off.to_le_bytes());
}

fn set_info(tuple: &mut [u8], info: u16) {
    tuple[6..8].copy_from_slice(&info.to_le_bytes());
}

/// Replaces the size in the header.
pub fn set_size(tuple: &mut [u8], size: usize) {
    debug_assert!(size <= usize::from(SIZE_MASK));
    let info = IndexTuple(tuple).info() & !SIZE_MASK | size as u16;
    set_info(tuple, info);
}

/// Sets the child block of a pivot tuple; the offset part stays.
pub fn set_downlink(tuple: &mut [u8], block: BlockNo) {
    let off = IndexTuple(tuple).offset_field();
    set_tid(tuple, Tid::new(block, off));
}

/// Makes the tuple a pivot of `natts` key columns, with or without a heap TID at its end. The block
/// part of the TID field stays. Counterpart: `BTreeTupleSetNAtts`.
pub fn set_natts(tuple: &mut [u8], natts: usize, heap_tid: bool) {
    let info = IndexTuple(tuple).info() | ALT_TID_MASK;
    set_info(tuple, info);
    let flag = if heap_tid { PIVOT_HEAP_TID_ATTR } else { 0 };
    set_offset_field(tuple, natts as u16 | flag);
}

/// Half-dead leaf: records the top of the subtree being deleted in a high key of zero columns.
/// Counterpart: `BTreeTupleSetTopParent`.
pub fn set_top_parent(tuple: &mut [u8], block: BlockNo) {
    set_downlink(tuple, block);
    set_natts(tuple, 0, false);
}

/// Makes the tuple a posting list whose TID array is at `posting_offset`.
pub fn set_posting(tuple: &mut [u8], count: usize, posting_offset: usize) {
    debug_assert!(count > 1 && count <= usize::from(OFFSET_MASK));
    debug_assert_eq!(posting_offset, max_align(posting_offset));
    let info = IndexTuple(tuple).info() | ALT_TID_MASK;
    set_info(tuple, info);
    set_tid(tuple, Tid::new(BlockNo(posting_offset as u32), count as u16 | IS_POSTING));
}

/// Sets a heap TID and clears the alternative meaning of the TID field: a plain leaf tuple.
pub fn set_plain_tid(tuple: &mut [u8], tid: Tid) {
    let info = IndexTuple(tuple).info() & !ALT_TID_MASK;
    set_info(tuple, info);
    set_tid(tuple, tid);
}

/// Appends the tuple with `base`'s key and the heap TIDs given (in order, at least one): a posting
/// list, or a plain tuple for a single one. Counterpart: `_bt_form_posting`.
pub fn form_posting(base: IndexTuple<'_>, tids: &[Tid], out: &mut Vec<u8>) {
    debug_assert!(!tids.is_empty() && !base.is_pivot());
    let start = out.len();
    let key_size = base.key_size();
    out.extend_from_slice(&base.bytes()[..key_size]);
    if let [only] = tids {
        set_size(&mut out[start..], key_size);
        set_plain_tid(&mut out[start..], *only);
        return;
    }
    for t in tids {
        out.extend_from_slice(&t.to_bytes());
    }
    let size = max_align(out.len() - start);
    out.resize(start + size, 0);
    set_size(&mut out[start..], size);
    set_posting(&mut out[start..], tids.len(), key_size);
}

/// Splits a posting list: `new_tid` sorts before the TID at `at` of the list `old` (0 < `at`).
/// Appends to `out` the list that replaces it (with `new_tid`, without its last TID; same size) and
/// returns the TID that was removed, for the new tuple that is inserted after the list.
/// Counterpart: `_bt_swap_posting`.
pub fn swap_posting(old: IndexTuple<'_>, at: usize, new_tid: Tid, out: &mut Vec<u8>) -> Tid {
    let n = old.posting_count();
    assert!(at > 0 && at < n, "posting list split at {at} of {n}");
    let start = out.len();
    out.extend_from_slice(old.bytes());
    let last = old.max_heap_tid();
    let from = start + old.posting_offset();
    out.copy_within(from + at * TID_SIZE..from + (n - 1) * TID_SIZE, from + (at + 1) * TID_SIZE);
    out[from + at * TID_SIZE..][..TID_SIZE].copy_from_slice(&new_tid.to_bytes());
    last
}

/// Appends `old` without the TIDs whose positions are in `dead` (ascending, not all of them).
/// Counterpart: `_bt_update_posting`.
pub fn posting_without(old: IndexTuple<'_>, dead: impl Iterator<Item = u16>, out: &mut Vec<u8>) {
    let mut dead = dead.peekable();
    let mut left = Vec::with_capacity(old.posting_count());
    for (i, tid) in old.tids().enumerate() {
        if dead.peek() == Some(&(i as u16)) {
            dead.next();
        } else {
            left.push(tid);
        }
    }
    form_posting(old, &left, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> IndexShape {
        IndexShape::new(&[
            IndexAttr::fixed(4, 4, true),
            IndexAttr::varlena(4),
            IndexAttr::fixed(8, 8, true),
        ])
    }

    #[test]
    fn columns_round_trip_with_and_without_nulls() {
        let s = shape();
        let tid = Tid::new(BlockNo(7), 3);
        let mut b = Vec::new();
        form(&s, &[Stored::Word(5), Stored::Payload(b"abc"), Stored::Word(9)], tid, &mut b)
            .unwrap();
        // 8 header, 4 int, 1 + 3 text, 8 int: 24 bytes, the int8 at 16.
        assert_eq!(b.len(), 24);
        assert_eq!(b[6..8], (0x4000u16 | 24).to_le_bytes());
        let t = IndexTuple::new(&b);
        assert_eq!(t.attr(&s, 0), Some(&5u32.to_le_bytes()[..]));
        assert_eq!(t.attr(&s, 1), Some(&b"\x09abc"[..]));
        assert_eq!(t.attr(&s, 2), Some(&9u64.to_le_bytes()[..]));

        let mut b = Vec::new();
        form(&s, &[Stored::Null, Stored::Payload(&[b'x'; 200]), Stored::Word(9)], tid, &mut b)
            .unwrap();
        let t = IndexTuple::new(&b);
        assert!(t.has_nulls());
        assert_eq!(t.attr(&s, 0), None);
        assert_eq!(t.attr(&s, 1).unwrap().len(), 204);
        assert_eq!(t.attr(&s, 2), Some(&9u64.to_le_bytes()[..]));
        assert_eq!(t.heap_tid(), Some(tid));
        let mut fields = Vec::new();
        t.deform(&s, 3, &mut fields);
        assert_eq!(fields, [t.attr(&s, 0), t.attr(&s, 1), t.attr(&s, 2)]);
    }

    #[test]
    fn truncation_drops_trailing_columns() {
        let s = shape();
        let mut b = Vec::new();
        let tid = Tid::new(BlockNo(1), 1);
        form(&s, &[Stored::Word(5), Stored::Payload(b"abc"), Stored::Null], tid, &mut b).unwrap();
        let mut cut = Vec::new();
        truncate(&s, IndexTuple::new(&b), 1, &mut cut);
        assert_eq!(cut.len(), 16);
        set_natts(&mut cut, 1, false);
        set_downlink(&mut cut, BlockNo(70_000));
        let t = IndexTuple::new(&cut);
        assert!(t.is_pivot() && !t.is_posting() && !t.has_nulls());
        assert_eq!((t.natts(3), t.downlink(), t.heap_tid()), (1, BlockNo(70_000), None));
    }

    #[test]
    fn posting_lists_split_and_shrink() {
        let s = IndexShape::new(&[IndexAttr::fixed(4, 4, true)]);
        let tid = |n| Tid::new(BlockNo(n), 1);
        let mut base = Vec::new();
        form(&s, &[Stored::Word(1)], tid(1), &mut base).unwrap();
        let mut p = Vec::new();
        form_posting(IndexTuple::new(&base), &[tid(1), tid(3), tid(5)], &mut p);
        assert_eq!(p.len(), 16 + 24);
        let t = IndexTuple::new(&p);
        assert_eq!(t.tids().collect::<Vec<_>>(), [tid(1), tid(3), tid(5)]);
        assert_eq!((t.heap_tid(), t.max_heap_tid(), t.key_size()), (Some(tid(1)), tid(5), 16));
        assert_eq!(t.attr(&s, 0), Some(&1u32.to_le_bytes()[..]));

        let mut q = Vec::new();
        assert_eq!(swap_posting(t, 1, tid(2), &mut q), tid(5));
        assert_eq!(IndexTuple::new(&q).tids().collect::<Vec<_>>(), [tid(1), tid(2), tid(3)]);

        let mut one = Vec::new();
        posting_without(t, [0u16, 2].into_iter(), &mut one);
        assert_eq!(one.len(), 16);
        let t = IndexTuple::new(&one);
        assert!(!t.is_posting());
        assert_eq!(t.heap_tid(), Some(tid(3)));
    }
}
