//! The page checksum: 32 parallel FNV-1a-like sums over the page as rows of 32 words, folded and
//! mixed with the block number, so that a page written to a wrong block is detected.
//!
//! Counterpart: storage/checksum_impl.h (the algorithm is part of the file format).

use crate::header::CHECKSUM_AT;
use crate::raw::{PAGE_SIZE, Page, PageBuf};
use ids::BlockNo;

const LANES: usize = 32;
const PRIME: u32 = 16_777_619;

/// Initial values of the lanes: part of the format.
const SEEDS: [u32; LANES] = [
    0x5B1F36E9, 0xB8525960, 0x02AB50AA, 0x1DE66D2A, 0x79FF467A, 0x9BB9F8A3, 0x217E7CD2, 0x83E13D2C,
    0xF8D4474F, 0xE39EB970, 0x42C6AE16, 0x993216FA, 0x7B093B5D, 0x98DAFF3C, 0xF718902A, 0x0B1C9CDB,
    0xE58F764B, 0x187636BC, 0x5D7B3BB1, 0xE73DE7DE, 0x92BEC979, 0xCCA6C0B2, 0x304A0979, 0x85AA43D4,
    0x783125BB, 0x6CA8EAA2, 0xE407EAC6, 0x4B5CFC3E, 0x9FBF8C76, 0x15CA20BE, 0xF2CA9FD3, 0x959BD756,
];

#[inline(always)]
fn mix(sum: u32, word: u32) -> u32 {
    let t = sum ^ word;
    t.wrapping_mul(PRIME) ^ (t >> 17)
}

fn fold(bytes: &[u8; PAGE_SIZE]) -> u32 {
    let mut sums = SEEDS;
    for (r, row) in bytes.chunks_exact(LANES * 4).enumerate() {
        for (lane, word) in row.chunks_exact(4).enumerate() {
            let mut w = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            if r == 0 && lane == CHECKSUM_AT / 4 {
                w &= 0xFFFF_0000; // the checksum itself counts as zero
            }
            sums[lane] = mix(sums[lane], w);
        }
    }
    for _ in 0..2 {
        for sum in &mut sums {
            *sum = mix(*sum, 0);
        }
    }
    sums.iter().fold(0, |all, sum| all ^ sum)
}

/// The checksum of a page image as block `block` of its fork; never 0. The checksum field in the
/// image is ignored. New (all-zero) pages have no checksum; the caller checks for them.
pub fn checksum_bytes(bytes: &[u8; PAGE_SIZE], block: BlockNo) -> u16 {
    ((fold(bytes) ^ block.0) % 65_535 + 1) as u16
}

impl PageBuf {
    /// The checksum that this page should carry as block `block`.
    pub fn checksum(&self, block: BlockNo) -> u16 {
        checksum_bytes(self.as_bytes(), block)
    }

    /// Stores the checksum, unless the page is new. Counterpart: `PageSetChecksumInplace`.
    pub fn set_checksum(&mut self, block: BlockNo) {
        if !self.is_new() {
            let sum = self.checksum(block);
            self.set_checksum_field(sum);
        }
    }

    /// Checks that the page can be used: its header is valid and, with `checksums`, its checksum is
    /// right. All-zero pages pass. Counterpart: `PageIsVerifiedExtended`.
    pub fn verify(&self, block: BlockNo, checksums: bool) -> Verified {
        verify_bytes(self, self.as_bytes(), block, checksums)
    }
}

impl Page {
    /// As [`PageBuf::verify`], for a frame that no other thread can reach yet.
    pub fn verify_exclusive(&mut self, block: BlockNo, checksums: bool) -> Verified {
        let sane = self.header_is_sane();
        let (new, field) = (self.is_new(), self.checksum_field());
        classify(sane, new, field, checksums, || checksum_bytes(self.bytes(), block))
    }
}

fn verify_bytes(page: &Page, bytes: &[u8; PAGE_SIZE], block: BlockNo, checksums: bool) -> Verified {
    let (new, field) = (page.is_new(), page.checksum_field());
    classify(page.header_is_sane(), new, field, checksums, || checksum_bytes(bytes, block))
}

fn classify(
    sane: bool,
    new: bool,
    found: u16,
    checksums: bool,
    compute: impl FnOnce() -> u16,
) -> Verified {
    if checksums && !new {
        let computed = compute();
        if computed != found {
            return Verified::BadChecksum { computed, found, header_sane: sane };
        }
    }
    if sane { Verified::Good } else { Verified::BadHeader }
}

/// Result of [`PageBuf::verify`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verified {
    Good,
    /// `header_sane`: the page could be used nevertheless (`ignore_checksum_failure`).
    BadChecksum {
        computed: u16,
        found: u16,
        header_sane: bool,
    },
    BadHeader,
}
