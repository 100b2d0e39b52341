//! The kinds and fixed parts of the records of resource manager Btree. Counterpart: access/nbtxlog.h.

use ids::{BlockNo, FullXid};
use page::btree::Meta;

pub const INSERT_LEAF: u8 = 0x00;
pub const INSERT_UPPER: u8 = 0x10;
pub const INSERT_META: u8 = 0x20;
pub const SPLIT_L: u8 = 0x30;
pub const SPLIT_R: u8 = 0x40;
pub const INSERT_POST: u8 = 0x50;
pub const DEDUP: u8 = 0x60;
pub const DELETE: u8 = 0x70;
pub const UNLINK_PAGE: u8 = 0x80;
pub const UNLINK_PAGE_META: u8 = 0x90;
pub const NEWROOT: u8 = 0xA0;
pub const MARK_PAGE_HALFDEAD: u8 = 0xB0;
pub const VACUUM: u8 = 0xC0;
pub const REUSE_PAGE: u8 = 0xD0;
pub const META_CLEANUP: u8 = 0xE0;

/// `xl_btree_metadata`: what redo makes a meta page from.
pub(crate) fn metadata(meta: &Meta) -> [u8; 28] {
    let mut out = [0; 28];
    let fields = [
        meta.version,
        meta.root.0,
        meta.level,
        meta.fast_root.0,
        meta.fast_level,
        meta.last_cleanup_num_delpages,
    ];
    for (slot, v) in out.chunks_exact_mut(4).zip(fields) {
        slot.copy_from_slice(&v.to_le_bytes());
    }
    out[24] = u8::from(meta.allequalimage);
    out
}

pub(crate) fn read_metadata(b: &[u8]) -> Meta {
    let f = |i: usize| u32_at(b, i * 4);
    Meta {
        version: f(0),
        fast_root: BlockNo(f(3)),
        fast_level: f(4),
        last_cleanup_num_delpages: f(5),
        ..Meta::new(BlockNo(f(1)), f(2), b[24] != 0)
    }
}

pub(crate) fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

pub(crate) fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

/// `xl_btree_mark_page_halfdead`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkHalfDead {
    pub parent_offset: u16,
    pub leaf: BlockNo,
    pub left: BlockNo,
    pub right: BlockNo,
    pub top_parent: BlockNo,
}

impl MarkHalfDead {
    pub(crate) const SIZE: usize = 20;

    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        out[..2].copy_from_slice(&self.parent_offset.to_le_bytes());
        let blocks = [self.leaf, self.left, self.right, self.top_parent];
        for (slot, b) in out[4..].chunks_exact_mut(4).zip(blocks) {
            slot.copy_from_slice(&b.0.to_le_bytes());
        }
        out
    }

    pub(crate) fn decode(b: &[u8]) -> MarkHalfDead {
        let block = |i: usize| BlockNo(u32_at(b, 4 + i * 4));
        MarkHalfDead {
            parent_offset: u16_at(b, 0),
            leaf: block(0),
            left: block(1),
            right: block(2),
            top_parent: block(3),
        }
    }
}

/// `xl_btree_unlink_page`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnlinkPage {
    pub left: BlockNo,
    pub right: BlockNo,
    pub level: u32,
    pub safe_xid: FullXid,
    pub leaf_left: BlockNo,
    pub leaf_right: BlockNo,
    pub leaf_top_parent: BlockNo,
}

impl UnlinkPage {
    /// Bytes up to the meta data; the 64-bit XID is aligned to 8.
    pub(crate) const SIZE: usize = 36;

    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        let mut put = |at: usize, v: u32| out[at..at + 4].copy_from_slice(&v.to_le_bytes());
        put(0, self.left.0);
        put(4, self.right.0);
        put(8, self.level);
        put(16, self.safe_xid.0 as u32);
        put(20, (self.safe_xid.0 >> 32) as u32);
        put(24, self.leaf_left.0);
        put(28, self.leaf_right.0);
        put(32, self.leaf_top_parent.0);
        out
    }

    pub(crate) fn decode(b: &[u8]) -> UnlinkPage {
        let block = |at| BlockNo(u32_at(b, at));
        UnlinkPage {
            left: block(0),
            right: block(4),
            level: u32_at(b, 8),
            safe_xid: FullXid(u64::from(u32_at(b, 16)) | u64::from(u32_at(b, 20)) << 32),
            leaf_left: block(24),
            leaf_right: block(28),
            leaf_top_parent: block(32),
        }
    }
}
