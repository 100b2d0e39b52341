//! Block numbers and tuple identifiers. Counterpart: storage/block.h, storage/off.h,
//! storage/itemptr.h.

use std::fmt;

/// Number of an 8 KB block in a relation fork.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct BlockNo(pub u32);

impl BlockNo {
    pub const INVALID: BlockNo = BlockNo(u32::MAX);
    /// Largest usable block number.
    pub const MAX: BlockNo = BlockNo(u32::MAX - 1);

    #[inline]
    pub const fn is_valid(self) -> bool {
        self.0 != u32::MAX
    }

    #[must_use]
    #[inline]
    pub const fn next(self) -> BlockNo {
        BlockNo(self.0 + 1)
    }
}

impl fmt::Display for BlockNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of a line pointer on its page, 1-based; 0 is "none".
pub type OffsetNo = u16;

/// Tuple identifier: block and line pointer. Ordered by block, then offset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tid {
    pub block: BlockNo,
    pub offset: OffsetNo,
}

impl Tid {
    pub const INVALID: Tid = Tid { block: BlockNo::INVALID, offset: 0 };

    #[inline]
    pub const fn new(block: BlockNo, offset: OffsetNo) -> Tid {
        Tid { block, offset }
    }

    #[inline]
    pub const fn is_valid(self) -> bool {
        self.offset != 0
    }

    /// The six bytes on disk: block high half, block low half, offset, each little-endian.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 6] {
        let hi = ((self.block.0 >> 16) as u16).to_le_bytes();
        let lo = (self.block.0 as u16).to_le_bytes();
        let off = self.offset.to_le_bytes();
        [hi[0], hi[1], lo[0], lo[1], off[0], off[1]]
    }

    #[inline]
    pub const fn from_bytes(b: [u8; 6]) -> Tid {
        let hi = u16::from_le_bytes([b[0], b[1]]) as u32;
        let lo = u16::from_le_bytes([b[2], b[3]]) as u32;
        Tid { block: BlockNo(hi << 16 | lo), offset: u16::from_le_bytes([b[4], b[5]]) }
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.block.0, self.offset)
    }
}

impl fmt::Debug for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_put_the_high_half_first() {
        let tid = Tid::new(BlockNo(0x0001_0002), 3);
        assert_eq!(tid.to_bytes(), [1, 0, 2, 0, 3, 0]);
        assert_eq!(Tid::from_bytes(tid.to_bytes()), tid);
    }
}
