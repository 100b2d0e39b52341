//! Info bytes and fixed parts of the records of resource manager Hash.
//!
//! Counterpart: hash_xlog.h.

use ids::{BlockNo, Oid, Xid};
use wal::Fields;

pub const INIT_META_PAGE: u8 = 0x00;
pub const INIT_BITMAP_PAGE: u8 = 0x10;
pub const INSERT: u8 = 0x20;
pub const ADD_OVFL_PAGE: u8 = 0x30;
pub const SPLIT_ALLOCATE_PAGE: u8 = 0x40;
pub const SPLIT_PAGE: u8 = 0x50;
pub const SPLIT_COMPLETE: u8 = 0x60;
pub const MOVE_PAGE_CONTENTS: u8 = 0x70;
pub const SQUEEZE_PAGE: u8 = 0x80;
pub const DELETE: u8 = 0x90;
pub const SPLIT_CLEANUP: u8 = 0xA0;
pub const UPDATE_META_PAGE: u8 = 0xB0;
pub const VACUUM_ONE_PAGE: u8 = 0xC0;

/// `XLH_SPLIT_META_UPDATE_MASKS`: the data of the meta page begins with the masks.
const UPDATES_MASKS: u8 = 1 << 0;
/// `XLH_SPLIT_META_UPDATE_SPLITPOINT`: the data of the meta page ends with a new splitpoint.
const UPDATES_SPLITPOINT: u8 = 1 << 1;

/// `xl_hash_init_meta_page`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct InitMeta {
    /// Estimated number of tuples.
    pub tuples: f64,
    /// The hash function (`pg_proc.oid`).
    pub function: Oid,
    pub per_bucket: u16,
}

impl InitMeta {
    pub(crate) fn encode(&self) -> [u8; 14] {
        let mut out = [0; 14];
        out[..8].copy_from_slice(&self.tuples.to_bits().to_le_bytes());
        out[8..12].copy_from_slice(&self.function.0.to_le_bytes());
        out[12..].copy_from_slice(&self.per_bucket.to_le_bytes());
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<InitMeta> {
        let mut f = Fields(b);
        let tuples = f64::from_bits(f.u64()?);
        Some(InitMeta { tuples, function: f.oid()?, per_bucket: f.u16()? })
    }
}

/// `xl_hash_add_ovfl_page`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AddOverflow {
    pub bitmap_size: u16,
    /// The page was used before, so a bit of a bitmap page is set.
    pub recycled: bool,
}

impl AddOverflow {
    pub(crate) fn encode(&self) -> [u8; 3] {
        let [a, b] = self.bitmap_size.to_le_bytes();
        [a, b, u8::from(self.recycled)]
    }

    pub(crate) fn decode(b: &[u8]) -> Option<AddOverflow> {
        let mut f = Fields(b);
        Some(AddOverflow { bitmap_size: f.u16()?, recycled: f.u8()? != 0 })
    }
}

/// `xl_hash_split_allocate_page`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SplitAllocate {
    pub new_bucket: u32,
    pub old_flags: u16,
    pub new_flags: u16,
    pub updates_masks: bool,
    pub updates_splitpoint: bool,
}

impl SplitAllocate {
    pub(crate) fn encode(&self) -> [u8; 9] {
        let mut out = [0; 9];
        out[..4].copy_from_slice(&self.new_bucket.to_le_bytes());
        out[4..6].copy_from_slice(&self.old_flags.to_le_bytes());
        out[6..8].copy_from_slice(&self.new_flags.to_le_bytes());
        let masks = if self.updates_masks { UPDATES_MASKS } else { 0 };
        let splitpoint = if self.updates_splitpoint { UPDATES_SPLITPOINT } else { 0 };
        out[8] = masks | splitpoint;
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<SplitAllocate> {
        let mut f = Fields(b);
        let (new_bucket, old_flags, new_flags) = (f.u32()?, f.u16()?, f.u16()?);
        let flags = f.u8()?;
        Some(SplitAllocate {
            new_bucket,
            old_flags,
            new_flags,
            updates_masks: flags & UPDATES_MASKS != 0,
            updates_splitpoint: flags & UPDATES_SPLITPOINT != 0,
        })
    }
}

/// `xl_hash_move_page_contents`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MoveContents {
    pub tuples: u16,
    /// The tuples go to the bucket's primary page.
    pub to_primary: bool,
}

impl MoveContents {
    pub(crate) fn encode(&self) -> [u8; 3] {
        let [a, b] = self.tuples.to_le_bytes();
        [a, b, u8::from(self.to_primary)]
    }

    pub(crate) fn decode(b: &[u8]) -> Option<MoveContents> {
        let mut f = Fields(b);
        Some(MoveContents { tuples: f.u16()?, to_primary: f.u8()? != 0 })
    }
}

/// `xl_hash_squeeze_page`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Squeeze {
    /// The pages before and after the freed page in the chain.
    pub prev: BlockNo,
    pub next: BlockNo,
    pub tuples: u16,
    /// The tuples go to the bucket's primary page.
    pub to_primary: bool,
    /// The tuples go to the page before the freed one.
    pub to_prev: bool,
}

impl Squeeze {
    pub(crate) fn encode(&self) -> [u8; 12] {
        let mut out = [0; 12];
        out[..4].copy_from_slice(&self.prev.0.to_le_bytes());
        out[4..8].copy_from_slice(&self.next.0.to_le_bytes());
        out[8..10].copy_from_slice(&self.tuples.to_le_bytes());
        out[10] = u8::from(self.to_primary);
        out[11] = u8::from(self.to_prev);
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<Squeeze> {
        let mut f = Fields(b);
        Some(Squeeze {
            prev: BlockNo(f.u32()?),
            next: BlockNo(f.u32()?),
            tuples: f.u16()?,
            to_primary: f.u8()? != 0,
            to_prev: f.u8()? != 0,
        })
    }
}

/// `xl_hash_delete`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Delete {
    /// No item of the page is marked dead any more.
    pub clears_dead: bool,
    /// The tuples are on the bucket's primary page.
    pub in_primary: bool,
}

impl Delete {
    pub(crate) fn encode(&self) -> [u8; 2] {
        [u8::from(self.clears_dead), u8::from(self.in_primary)]
    }

    pub(crate) fn decode(b: &[u8]) -> Option<Delete> {
        let mut f = Fields(b);
        Some(Delete { clears_dead: f.u8()? != 0, in_primary: f.u8()? != 0 })
    }
}

/// The fixed part of `xl_hash_vacuum_one_page`; the offsets follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VacuumOnePage {
    /// The newest XID that deleted one of the rows, for conflicts on standbys.
    pub horizon: Xid,
    pub tuples: u32,
}

impl VacuumOnePage {
    pub(crate) const SIZE: usize = 8;

    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut out = [0; Self::SIZE];
        out[..4].copy_from_slice(&self.horizon.0.to_le_bytes());
        out[4..].copy_from_slice(&self.tuples.to_le_bytes());
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<VacuumOnePage> {
        let mut f = Fields(b);
        Some(VacuumOnePage { horizon: f.xid()?, tuples: f.u32()? })
    }
}

/// Encodes offsets of line pointers.
pub(crate) fn offsets(offsets: &[u16]) -> Vec<u8> {
    offsets.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Decodes all of `b` as offsets of line pointers.
pub(crate) fn read_offsets(b: &[u8]) -> Vec<u16> {
    b.chunks_exact(2).map(|n| u16::from_le_bytes([n[0], n[1]])).collect()
}
