//! Compressed posting lists.
//!
//! ```text
//! 0            6          8
//! first TID  | length n | n bytes, padded to an even number
//! ```
//! The bytes are the differences between consecutive items, each an integer of 64 bits in groups of
//! seven bits, the lowest first; the high bit of a byte is set if another one follows. An item is
//! the block number shifted by 11 bits, with the line pointer's number in the lower 11 bits.
//!
//! The sum of two differences takes at most as many bytes as both, so that a list never grows when
//! items are removed. VACUUM depends on that.
//!
//! Counterpart: ginpostinglist.c.

use ids::{BlockNo, Tid};

/// Bits of the number of a line pointer.
const OFFSET_BITS: u32 = 11;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;
/// Most bytes of an encoded difference.
const DIFFERENCE_MAX: usize = 7;
/// Bytes before the differences.
const HEADER: usize = 8;

/// A heap TID as a number, in the order of TIDs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Item(pub u64);

impl Item {
    /// Before all TIDs.
    pub const MIN: Item = Item(0);
    /// After all TIDs.
    pub const MAX: Item = Item(u64::MAX);

    #[inline]
    pub fn of(tid: Tid) -> Item {
        Item(u64::from(tid.block.0) << OFFSET_BITS | u64::from(tid.offset) & OFFSET_MASK)
    }

    #[inline]
    pub fn tid(self) -> Tid {
        Tid::new(self.block(), (self.0 & OFFSET_MASK) as u16)
    }

    #[inline]
    pub fn block(self) -> BlockNo {
        BlockNo((self.0 >> OFFSET_BITS) as u32)
    }

    /// Stands for all rows of a block; after the TIDs of the block.
    #[inline]
    pub fn lossy(block: BlockNo) -> Item {
        Item(u64::from(block.0) << OFFSET_BITS | OFFSET_MASK)
    }

    #[inline]
    pub fn is_lossy(self) -> bool {
        self.0 & OFFSET_MASK == OFFSET_MASK
    }

    /// Before the TIDs of the block.
    #[inline]
    pub fn start_of(block: BlockNo) -> Item {
        Item(u64::from(block.0) << OFFSET_BITS)
    }

    /// The preceding number.
    #[inline]
    pub fn before(self) -> Item {
        Item(self.0.saturating_sub(1))
    }

    /// The following number.
    #[inline]
    pub fn after(self) -> Item {
        Item(self.0.saturating_add(1))
    }
}

/// Appends a posting list of at most `max` bytes with the first of the items (ascending, not
/// empty). Returns how many it has. Counterpart: `ginCompressPostingList`.
pub fn compress(items: &[Item], max: usize, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&items[0].tid().to_bytes());
    out.extend_from_slice(&[0, 0]);
    let end = start + (max & !1);
    let mut packed = 1;
    let mut last = items[0];
    for &item in &items[1..] {
        debug_assert!(item > last);
        let mut difference = item.0 - last.0;
        let mut bytes = [0u8; DIFFERENCE_MAX + 3];
        let mut n = 0;
        while difference > 0x7F {
            bytes[n] = 0x80 | (difference & 0x7F) as u8;
            difference >>= 7;
            n += 1;
        }
        bytes[n] = difference as u8;
        n += 1;
        if out.len() + n > end {
            break;
        }
        out.extend_from_slice(&bytes[..n]);
        last = item;
        packed += 1;
    }
    let len = (out.len() - start - HEADER) as u16;
    out[start + 6..start + 8].copy_from_slice(&len.to_le_bytes());
    if !len.is_multiple_of(2) {
        out.push(0);
    }
    packed
}

/// Bytes of the posting list at the front of `bytes`; `None` if it is not complete.
#[inline]
pub fn segment_len(bytes: &[u8]) -> Option<usize> {
    let len = HEADER + usize::from(u16::from_le_bytes([*bytes.get(6)?, *bytes.get(7)?]));
    let padded = len.next_multiple_of(2);
    (padded <= bytes.len()).then_some(padded)
}

/// The posting lists that follow one another in `bytes`; ends early if one is damaged.
#[derive(Clone, Copy)]
pub struct Segments<'a>(pub &'a [u8]);

impl<'a> Iterator for Segments<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let len = segment_len(self.0)?;
        let (segment, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(segment)
    }
}

/// The first item of a posting list.
fn first(segment: &[u8]) -> Option<Item> {
    segment.first_chunk::<6>().map(|b| Item::of(Tid::from_bytes(*b)))
}

/// Appends the items of a posting list; those before damaged bytes.
#[inline]
pub fn decode(segment: &[u8], out: &mut Vec<Item>) {
    let Some(mut value) = first(segment) else { return };
    out.push(value);
    let Some(&[a, b]) = segment.get(6..8).and_then(|b| b.first_chunk::<2>()) else { return };
    let len = usize::from(u16::from_le_bytes([a, b]));
    let mut rest = segment.get(HEADER..HEADER + len).unwrap_or(&[]).iter();
    out.reserve(rest.len());
    while let Some(&byte) = rest.next() {
        let mut difference = u64::from(byte & 0x7F);
        let mut shift = 7;
        let mut more = byte & 0x80 != 0;
        while more {
            let Some(&byte) = rest.next() else { return };
            difference |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            more = byte & 0x80 != 0 && shift < 63;
        }
        value = Item(value.0.wrapping_add(difference));
        out.push(value);
    }
}

/// Appends the items of posting lists that follow one another, without those lists that have no
/// item above `past`. Counterpart: `GinDataLeafPageGetItems`.
pub fn decode_all(segments: &[u8], past: Item, out: &mut Vec<Item>) {
    let mut lists = Segments(segments);
    let Some(mut current) = lists.next() else { return };
    if past > Item::MIN {
        let mut rest = lists;
        while let Some(next) = rest.next() {
            if first(next).is_none_or(|first| first > past) {
                break;
            }
            current = next;
            lists = rest;
        }
    }
    decode(current, out);
    lists.for_each(|segment| decode(segment, out));
}

/// The union of two ascending lists. Counterpart: `ginMergeItemPointers`.
pub fn merge(a: &[Item], b: &[Item]) -> Vec<Item> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a, b);
    while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
        out.push(*x.min(y));
        if x <= y {
            a = rest_a;
        }
        if y <= x {
            b = rest_b;
        }
    }
    out.extend_from_slice(a);
    out.extend_from_slice(b);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(n: u64, step: u64) -> Vec<Item> {
        (1..=n)
            .map(|i| {
                Item::of(Tid::new(BlockNo((i * step / 100) as u32), (i * step % 100) as u16 + 1))
            })
            .collect()
    }

    #[test]
    fn items_have_the_order_of_tids() {
        let tid = Tid::new(BlockNo(u32::MAX - 1), 291);
        assert_eq!(Item::of(tid).tid(), tid);
        assert!(Item::of(Tid::new(BlockNo(1), 291)) < Item::lossy(BlockNo(1)));
        assert!(Item::lossy(BlockNo(1)) < Item::of(Tid::new(BlockNo(2), 1)));
        assert!(Item::lossy(BlockNo(1)).is_lossy());
    }

    #[test]
    fn lists_return_the_items_that_formed_them() {
        for step in [1, 7, 99, 5000, 3_000_000] {
            let all = items(500, step);
            let mut bytes = Vec::new();
            let packed = compress(&all, 10_000, &mut bytes);
            assert_eq!(packed, all.len());
            assert_eq!(segment_len(&bytes), Some(bytes.len()));
            let mut back = Vec::new();
            decode(&bytes, &mut back);
            assert_eq!(back, all);
        }
    }

    #[test]
    fn a_list_is_filled_up_to_its_limit() {
        let all = items(500, 99);
        for max in [8, 9, 10, 11, 64, 255, 256] {
            let mut bytes = vec![1];
            let packed = compress(&all, max, &mut bytes);
            assert!(bytes.len() - 1 <= max && packed >= 1);
            let mut back = Vec::new();
            decode(&bytes[1..], &mut back);
            assert_eq!(back, all[..packed]);
            if packed < all.len() {
                assert!(
                    bytes.len() - 1 + 3 > max,
                    "at most a difference of three bytes is missing"
                );
            }
        }
    }

    #[test]
    fn a_list_without_some_items_is_not_longer() {
        let all = items(300, 77_777);
        let mut whole = Vec::new();
        compress(&all, 10_000, &mut whole);
        for keep in [2, 3, 5] {
            let some: Vec<Item> = all.iter().copied().step_by(keep).collect();
            let mut bytes = Vec::new();
            compress(&some, 10_000, &mut bytes);
            assert!(bytes.len() <= whole.len());
        }
    }

    #[test]
    fn lists_before_a_position_are_skipped() {
        let all = items(300, 50);
        let mut bytes = Vec::new();
        for part in all.chunks(100) {
            compress(part, 1000, &mut bytes);
        }
        assert_eq!(Segments(&bytes).count(), 3);
        for (past, from) in [(Item::MIN, 0), (all[99], 0), (all[100], 100), (all[299], 200)] {
            let mut some = Vec::new();
            decode_all(&bytes, past, &mut some);
            assert_eq!(some, all[from..]);
        }
        decode_all(&bytes[..bytes.len() - 3], Item::MIN, &mut Vec::new());
        decode(&[0x80; 12], &mut Vec::new());
    }

    #[test]
    fn a_merged_list_has_no_duplicates() {
        let list = |v: &[u64]| v.iter().map(|n| Item(*n)).collect::<Vec<_>>();
        assert_eq!(merge(&list(&[1, 4, 5]), &list(&[2, 4, 9])), list(&[1, 2, 4, 5, 9]));
        assert_eq!(merge(&list(&[]), &list(&[2])), list(&[2]));
    }
}
