//! Pages of the visibility map: two bits per heap block after the page header.
//! Counterpart: access/visibilitymap.h, visibilitymapdefs.h.

use crate::header::HEADER_SIZE;
use crate::raw::{PAGE_SIZE, Page};
use ids::BlockNo;

/// All tuples of the heap block are visible to all transactions.
pub const ALL_VISIBLE: u8 = 0x01;
/// All tuples of the heap block are frozen.
pub const ALL_FROZEN: u8 = 0x02;
/// Both bits.
pub const VALID_BITS: u8 = 0x03;

/// Bytes of the map on a page.
pub const MAP_SIZE: usize = PAGE_SIZE - HEADER_SIZE;
/// Heap blocks covered by a page of the map.
pub const HEAP_BLOCKS_PER_PAGE: u32 = MAP_SIZE as u32 * 4;

/// The map block that covers heap block `heap`.
pub const fn map_block(heap: BlockNo) -> BlockNo {
    BlockNo(heap.0 / HEAP_BLOCKS_PER_PAGE)
}

const fn byte_and_shift(heap: BlockNo) -> (usize, u32) {
    let n = heap.0 % HEAP_BLOCKS_PER_PAGE;
    (HEADER_SIZE + (n / 4) as usize, n % 4 * 2)
}

/// Bits of heap block `heap` on its map page.
pub fn get(page: &Page, heap: BlockNo) -> u8 {
    let (byte, shift) = byte_and_shift(heap);
    // Read as part of an aligned word: other threads may be changing adjacent bits.
    let word = page.u16_at(byte & !1);
    (word >> ((byte & 1) * 8) >> shift) as u8 & VALID_BITS
}

/// Sets `bits` of heap block `heap`.
pub fn set(page: &mut Page, heap: BlockNo, bits: u8) {
    let (byte, shift) = byte_and_shift(heap);
    page.bytes_mut()[byte] |= (bits & VALID_BITS) << shift;
}

/// Clears `bits` of heap block `heap`; true if any was set.
pub fn clear(page: &mut Page, heap: BlockNo, bits: u8) -> bool {
    let (byte, shift) = byte_and_shift(heap);
    let mask = (bits & VALID_BITS) << shift;
    let old = page.bytes_mut()[byte];
    page.bytes_mut()[byte] = old & !mask;
    old & mask != 0
}

/// Numbers of all-visible and all-frozen heap blocks on a map page.
pub fn count(page: &Page) -> (u32, u32) {
    let mut counts = (0, 0);
    for i in HEADER_SIZE / 8..PAGE_SIZE / 8 {
        let word = page.u64_at(i * 8);
        counts.0 += (word & 0x5555_5555_5555_5555).count_ones();
        counts.1 += (word & 0xAAAA_AAAA_AAAA_AAAA).count_ones();
    }
    counts
}

/// Clears the bits of `heap` and all blocks after it on its map page.
pub fn truncate(page: &mut Page, heap: BlockNo) {
    let (byte, shift) = byte_and_shift(heap);
    let bytes = page.bytes_mut();
    bytes[byte] &= (1u8 << shift) - 1;
    bytes[byte + 1..].fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageBuf;

    #[test]
    fn bits_are_set_counted_and_truncated() {
        let mut page = PageBuf::new();
        page.init(0);
        for block in [0, 3, 4, 1001, HEAP_BLOCKS_PER_PAGE - 1] {
            set(&mut page, BlockNo(block), ALL_VISIBLE);
        }
        set(&mut page, BlockNo(1001), ALL_FROZEN);
        assert_eq!(get(&page, BlockNo(3)), ALL_VISIBLE);
        assert_eq!(get(&page, BlockNo(1001)), VALID_BITS);
        assert_eq!(get(&page, BlockNo(1002)), 0);
        assert_eq!(count(&page), (5, 1));
        assert!(clear(&mut page, BlockNo(3), VALID_BITS));
        assert!(!clear(&mut page, BlockNo(3), VALID_BITS));
        truncate(&mut page, BlockNo(1001));
        assert_eq!(count(&page), (2, 0));
        assert_eq!(map_block(BlockNo(32_671)), BlockNo(0));
        assert_eq!(map_block(BlockNo(32_672)), BlockNo(1));
    }
}
