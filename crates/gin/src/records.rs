//! Info bytes and fixed parts of the records of resource manager Gin, and the changes of single
//! pages that insertions log.
//!
//! Counterpart: ginxlog.h.

use ids::{BlockNo, OffsetNo, RelFile, Xid};
use page::gin::{META_SIZE, PostingItem};
use wal::Fields;

pub const CREATE_PTREE: u8 = 0x10;
pub const INSERT: u8 = 0x20;
pub const SPLIT: u8 = 0x30;
pub const VACUUM_PAGE: u8 = 0x40;
pub const DELETE_PAGE: u8 = 0x50;
pub const UPDATE_META_PAGE: u8 = 0x60;
pub const INSERT_LISTPAGE: u8 = 0x70;
pub const DELETE_LISTPAGE: u8 = 0x80;
pub const VACUUM_DATA_LEAF_PAGE: u8 = 0x90;

/// Flags of INSERT and SPLIT: the page is one of a posting tree; it is a leaf; the root is split.
pub(crate) const IS_DATA: u16 = 1;
pub(crate) const IS_LEAF: u16 = 2;
pub(crate) const SPLIT_ROOT: u16 = 4;

/// Actions on the segments of a leaf of a posting tree.
pub(crate) const SEGMENT_DELETE: u8 = 1;
pub(crate) const SEGMENT_INSERT: u8 = 2;
pub(crate) const SEGMENT_REPLACE: u8 = 3;
pub(crate) const SEGMENT_ADD_ITEMS: u8 = 4;

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    out[at..at + bytes.len()].copy_from_slice(bytes);
}

fn put_rel(out: &mut [u8], rel: RelFile) {
    put(out, 0, &rel.tablespace.0.to_le_bytes());
    put(out, 4, &rel.database.0.to_le_bytes());
    put(out, 8, &rel.relnumber.0.to_le_bytes());
}

/// `ginxlogSplit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Split {
    pub rel: RelFile,
    /// The right link of the page that was split; invalid if it is the root.
    pub right_link: BlockNo,
    pub left_child: BlockNo,
    pub right_child: BlockNo,
    pub flags: u16,
}

impl Split {
    pub(crate) fn encode(&self) -> [u8; 28] {
        let mut out = [0; 28];
        put_rel(&mut out, self.rel);
        put(&mut out, 12, &self.right_link.0.to_le_bytes());
        put(&mut out, 16, &self.left_child.0.to_le_bytes());
        put(&mut out, 20, &self.right_child.0.to_le_bytes());
        put(&mut out, 24, &self.flags.to_le_bytes());
        out
    }

    pub(crate) fn flags_of(b: &[u8]) -> Option<u16> {
        let mut f = Fields(b);
        f.take(24)?;
        f.u16()
    }
}

/// `ginxlogUpdateMeta`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UpdateMeta {
    pub rel: RelFile,
    pub meta: [u8; META_SIZE],
    /// The former tail of the pending list, to which a list is appended; else invalid.
    pub previous_tail: BlockNo,
    pub new_right_link: BlockNo,
    /// Tuples that are added to the tail.
    pub tuples: i32,
}

impl UpdateMeta {
    pub(crate) fn encode(&self) -> [u8; 88] {
        let mut out = [0; 88];
        put_rel(&mut out, self.rel);
        put(&mut out, 16, &self.meta);
        put(&mut out, 72, &self.previous_tail.0.to_le_bytes());
        put(&mut out, 76, &self.new_right_link.0.to_le_bytes());
        put(&mut out, 80, &self.tuples.to_le_bytes());
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<UpdateMeta> {
        let mut f = Fields(b);
        let rel = f.rel()?;
        f.take(4)?;
        Some(UpdateMeta {
            rel,
            meta: *f.take(META_SIZE)?.first_chunk()?,
            previous_tail: BlockNo(f.u32()?),
            new_right_link: BlockNo(f.u32()?),
            tuples: f.i32()?,
        })
    }
}

/// `ginxlogInsertListPage`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InsertListPage {
    pub right_link: BlockNo,
    pub tuples: i32,
}

impl InsertListPage {
    pub(crate) fn encode(&self) -> [u8; 8] {
        let mut out = [0; 8];
        put(&mut out, 0, &self.right_link.0.to_le_bytes());
        put(&mut out, 4, &self.tuples.to_le_bytes());
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<InsertListPage> {
        let mut f = Fields(b);
        Some(InsertListPage { right_link: BlockNo(f.u32()?), tuples: f.i32()? })
    }
}

/// `ginxlogDeleteListPages`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DeleteListPages {
    pub meta: [u8; META_SIZE],
    pub deleted: i32,
}

impl DeleteListPages {
    pub(crate) fn encode(&self) -> [u8; META_SIZE + 8] {
        let mut out = [0; META_SIZE + 8];
        put(&mut out, 0, &self.meta);
        put(&mut out, META_SIZE, &self.deleted.to_le_bytes());
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<DeleteListPages> {
        let mut f = Fields(b);
        Some(DeleteListPages { meta: *f.take(META_SIZE)?.first_chunk()?, deleted: f.i32()? })
    }
}

/// `ginxlogDeletePage`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DeletePage {
    /// Number of the posting item in the parent.
    pub parent_offset: OffsetNo,
    pub right_link: BlockNo,
    /// The next transaction id at the deletion.
    pub xid: Xid,
}

impl DeletePage {
    pub(crate) fn encode(&self) -> [u8; 12] {
        let mut out = [0; 12];
        put(&mut out, 0, &self.parent_offset.to_le_bytes());
        put(&mut out, 4, &self.right_link.0.to_le_bytes());
        put(&mut out, 8, &self.xid.0.to_le_bytes());
        out
    }

    pub(crate) fn decode(b: &[u8]) -> Option<DeletePage> {
        let mut f = Fields(b);
        let parent_offset = f.u16()?;
        f.take(2)?;
        Some(DeletePage { parent_offset, right_link: BlockNo(f.u32()?), xid: f.xid()? })
    }
}

/// The block data of an insertion into an entry page (`ginxlogInsertEntry`).
pub(crate) fn entry_data(offset: OffsetNo, replaces: bool, tuple: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(4 + tuple.len());
    out.extend_from_slice(&offset.to_le_bytes());
    out.extend_from_slice(&[u8::from(replaces), 0]);
    out.extend_from_slice(tuple);
    out
}

/// Reads [`entry_data`].
pub(crate) fn read_entry_data(b: &[u8]) -> Option<(OffsetNo, bool, &[u8])> {
    let mut f = Fields(b);
    let (offset, replaces) = (f.u16()?, f.u8()? != 0);
    f.take(1)?;
    Some((offset, replaces, f.0))
}

/// The block data of an insertion into an inner page of a posting tree
/// (`ginxlogInsertDataInternal`).
pub(crate) fn posting_item_data(offset: OffsetNo, item: PostingItem) -> Vec<u8> {
    [&offset.to_le_bytes()[..], &item.to_bytes()].concat()
}

/// Reads [`posting_item_data`].
pub(crate) fn read_posting_item_data(b: &[u8]) -> Option<(OffsetNo, PostingItem)> {
    let mut f = Fields(b);
    Some((f.u16()?, PostingItem::from_bytes(f.0.first_chunk()?)))
}
