//! Info bytes and fixed parts of the records of resource manager Btree.
//!
//! Counterpart: nbtxlog.h.

use ids::{BlockNo, FullXid};
use page::btree::Meta;
use wal::Fields;

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

/// Encodes `xl_btree_metadata`, from which redo restores the meta page.
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

pub(crate) fn read_metadata(b: &[u8]) -> Option<Meta> {
    let mut f = Fields(b);
    let (version, root, level) = (f.u32()?, f.u32()?, f.u32()?);
    let (fast_root, fast_level, last_cleanup_num_delpages) = (f.u32()?, f.u32()?, f.u32()?);
    let fast_root = BlockNo(fast_root);
    let made = Meta::new(BlockNo(root), level, f.u8()? != 0);
    Some(Meta { version, fast_root, fast_level, last_cleanup_num_delpages, ..made })
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
    const SIZE: usize = 20;

    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        out[..2].copy_from_slice(&self.parent_offset.to_le_bytes());
        let blocks = [self.leaf, self.left, self.right, self.top_parent];
        for (slot, b) in out[4..].chunks_exact_mut(4).zip(blocks) {
            slot.copy_from_slice(&b.0.to_le_bytes());
        }
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<MarkHalfDead> {
        let mut f = Fields(b);
        let (parent_offset, _padding) = (f.u16()?, f.u16()?);
        Some(MarkHalfDead {
            parent_offset,
            leaf: BlockNo(f.u32()?),
            left: BlockNo(f.u32()?),
            right: BlockNo(f.u32()?),
            top_parent: BlockNo(f.u32()?),
        })
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
    /// In bytes. The 64-bit XID is aligned to 8.
    const SIZE: usize = 36;

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

    pub(crate) fn decode(b: &[u8]) -> Option<UnlinkPage> {
        let mut f = Fields(b);
        let (left, right, level) = (BlockNo(f.u32()?), BlockNo(f.u32()?), f.u32()?);
        let _padding = f.u32()?;
        Some(UnlinkPage {
            left,
            right,
            level,
            safe_xid: FullXid(f.u64()?),
            leaf_left: BlockNo(f.u32()?),
            leaf_right: BlockNo(f.u32()?),
            leaf_top_parent: BlockNo(f.u32()?),
        })
    }
}
