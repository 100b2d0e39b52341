//! Addresses of the map's pages. The map is a tree of pages of three levels, each page with one
//! slot for each of its children (at the bottom: for each heap block); enough for 4,069^3 blocks.
//!
//! Pages are stored in depth-first order, children before the parent's next sibling:
//!
//! ```text
//! block  0: root   1: middle 0   2: bottom 0   3: bottom 1  …  4070: bottom 4068
//!        4071: middle 1  …
//! ```

use ids::BlockNo;
use page::fsm::SLOTS_PER_PAGE;

const SLOTS: u32 = SLOTS_PER_PAGE as u32;
const DEPTH: u32 = 3;
pub(crate) const BOTTOM: u32 = 0;
pub(crate) const ROOT: Address = Address { level: DEPTH - 1, page: 0 };

/// A page of the map: its level (0 is the bottom) and its number on that level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Address {
    pub level: u32,
    pub page: u32,
}

impl Address {
    /// The bottom page and slot of a heap block.
    pub(crate) fn of(heap: BlockNo) -> (Address, usize) {
        (Address { level: BOTTOM, page: heap.0 / SLOTS }, (heap.0 % SLOTS) as usize)
    }

    pub(crate) fn parent(self) -> (Address, usize) {
        let parent = Address { level: self.level + 1, page: self.page / SLOTS };
        (parent, (self.page % SLOTS) as usize)
    }

    pub(crate) fn child(self, slot: usize) -> Address {
        // A damaged page may refer to a page beyond the largest block.
        let page = self.page.saturating_mul(SLOTS).saturating_add(slot as u32);
        Address { level: self.level - 1, page }
    }

    /// The heap block of a slot of this bottom page.
    pub(crate) fn heap_block(self, slot: usize) -> BlockNo {
        debug_assert!(self.level == BOTTOM);
        BlockNo(self.page.saturating_mul(SLOTS).saturating_add(slot as u32))
    }

    /// The page's block number in the fork. Counterpart: `fsm_logical_to_physical`.
    pub(crate) fn block(self) -> BlockNo {
        // The number of bottom pages before this page's first one.
        let mut leaf = u64::from(self.page) * u64::from(SLOTS).pow(self.level);
        // On each level, the pages up to the ancestor of that leaf.
        let mut pages = 0;
        for _ in 0..DEPTH {
            pages += leaf + 1;
            leaf /= u64::from(SLOTS);
        }
        // The pages between this one and its first leaf come after it.
        BlockNo((pages - u64::from(self.level) - 1) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_depth_first_order() {
        let at = |level, page| Address { level, page }.block().0;
        assert_eq!((at(2, 0), at(1, 0), at(0, 0), at(0, 1)), (0, 1, 2, 3));
        assert_eq!((at(0, 4068), at(1, 1), at(0, 4069), at(0, 4070)), (4070, 4071, 4072, 4073));
        // Count all pages in depth-first order.
        let mut next = 1;
        for middle in 0..3 {
            assert_eq!(at(1, middle), next);
            next += 1;
            for bottom in 0..SLOTS {
                assert_eq!(at(0, middle * SLOTS + bottom), next);
                next += 1;
            }
        }
    }

    #[test]
    fn parents_and_children_agree() {
        for heap in [0, 1, 4068, 4069, 123_456_789, u32::MAX - 1] {
            let (bottom, slot) = Address::of(BlockNo(heap));
            assert_eq!(bottom.heap_block(slot), BlockNo(heap));
            let (middle, at) = bottom.parent();
            assert_eq!(middle.child(at), bottom);
            let (top, at) = middle.parent();
            assert_eq!((top, top.child(at)), (ROOT, middle));
        }
    }
}
