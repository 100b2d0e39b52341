//! Info bytes and fixed parts of the records of resource manager Gist.
//!
//! Counterpart: gistxlog.h.

use ids::{BlockNo, FullXid, Lsn, OffsetNo, RelFile, Xid};
use wal::Fields;

pub const PAGE_UPDATE: u8 = 0x00;
pub const DELETE: u8 = 0x10;
pub const PAGE_REUSE: u8 = 0x20;
pub const PAGE_SPLIT: u8 = 0x30;
pub const PAGE_DELETE: u8 = 0x60;
pub const ASSIGN_LSN: u8 = 0x70;

/// `gistxlogPageUpdate`: tuples of a page are deleted, then others appended. With one of each the
/// new one takes the place of the old one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageUpdate {
    pub deleted: u16,
    pub inserted: u16,
}

impl PageUpdate {
    pub(crate) fn encode(self) -> [u8; 4] {
        let [a, b] = self.deleted.to_le_bytes();
        let [c, d] = self.inserted.to_le_bytes();
        [a, b, c, d]
    }

    pub(crate) fn decode(b: &[u8]) -> Option<PageUpdate> {
        let mut f = Fields(b);
        Some(PageUpdate { deleted: f.u16()?, inserted: f.u16()? })
    }
}

/// `gistxlogDelete`; the offsets follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Delete {
    /// The newest transaction that deleted one of the rows.
    pub horizon: Xid,
    pub count: u16,
}

impl Delete {
    pub(crate) const SIZE: usize = 6;

    pub(crate) fn encode(self) -> [u8; Delete::SIZE] {
        let mut out = [0; Delete::SIZE];
        out[..4].copy_from_slice(&self.horizon.0.to_le_bytes());
        out[4..].copy_from_slice(&self.count.to_le_bytes());
        out
    }
}

/// `gistxlogPageReuse`.
pub(crate) fn page_reuse(rel: RelFile, block: BlockNo, xid: FullXid) -> [u8; 24] {
    let mut out = [0; 24];
    out[..4].copy_from_slice(&rel.tablespace.0.to_le_bytes());
    out[4..8].copy_from_slice(&rel.database.0.to_le_bytes());
    out[8..12].copy_from_slice(&rel.relnumber.0.to_le_bytes());
    out[12..16].copy_from_slice(&block.0.to_le_bytes());
    out[16..].copy_from_slice(&xid.0.to_le_bytes());
    out
}

/// `gistxlogPageSplit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageSplit {
    /// Right link and NSN of the page before the split.
    pub right_link: BlockNo,
    pub nsn: Lsn,
    pub leaf: bool,
    /// Number of pages: blocks 1 to `pages` of the record.
    pub pages: u16,
    pub follow_right: bool,
}

impl PageSplit {
    pub(crate) fn encode(self) -> [u8; 24] {
        let mut out = [0; 24];
        out[..4].copy_from_slice(&self.right_link.0.to_le_bytes());
        out[8..16].copy_from_slice(&self.nsn.0.to_le_bytes());
        out[16] = u8::from(self.leaf);
        out[18..20].copy_from_slice(&self.pages.to_le_bytes());
        out[20] = u8::from(self.follow_right);
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<PageSplit> {
        let mut f = Fields(b);
        let right_link = BlockNo(f.u32()?);
        f.take(4)?;
        let nsn = f.lsn()?;
        let leaf = f.u8()? != 0;
        f.take(1)?;
        Some(PageSplit { right_link, nsn, leaf, pages: f.u16()?, follow_right: f.u8()? != 0 })
    }
}

/// `gistxlogPageDelete`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageDelete {
    /// The next transaction id at the deletion.
    pub xid: FullXid,
    /// The downlink in the parent.
    pub downlink: OffsetNo,
}

impl PageDelete {
    pub(crate) fn encode(self) -> [u8; 10] {
        let mut out = [0; 10];
        out[..8].copy_from_slice(&self.xid.0.to_le_bytes());
        out[8..].copy_from_slice(&self.downlink.to_le_bytes());
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<PageDelete> {
        let mut f = Fields(b);
        Some(PageDelete { xid: FullXid(f.u64()?), downlink: f.u16()? })
    }
}

/// A list of offsets.
pub(crate) fn offsets(offsets: &[OffsetNo]) -> Vec<u8> {
    offsets.iter().flat_map(|o| o.to_le_bytes()).collect()
}

/// Reads `count` offsets of [`offsets`]; returns them and what follows.
pub(crate) fn read_offsets(b: &[u8], count: usize) -> Option<(Vec<OffsetNo>, &[u8])> {
    let (list, rest) = b.split_at_checked(2 * count)?;
    let (list, _) = list.as_chunks::<2>();
    Some((list.iter().map(|b| u16::from_le_bytes(*b)).collect(), rest))
}

/// The block data of a page of a split: the number of tuples, and the tuples.
pub(crate) fn page_data<'a>(tuples: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = (tuples.len() as i32).to_le_bytes().to_vec();
    tuples.for_each(|tuple| out.extend_from_slice(tuple));
    out
}
