//! Building a record: what is registered, and the bytes it becomes.
//!
//! A builder belongs to a session or worker and is reused; warm, it allocates nothing. Page contents
//! are not registered but lent at insertion (`Wal::insert`), since only then is known whether images
//! are needed, and the record may have to be built again when the redo pointer moved meanwhile.
//! Counterpart: xloginsert.c (XLogBeginInsert, XLogRegister*).

use crate::RmgrId;
use ids::{BlockNo, Fork, RelFile, Xid};

/// How a block is registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegFlags(u8);

impl RegFlags {
    pub const NONE: RegFlags = RegFlags(0);
    /// Include the page image whether needed or not.
    pub const FORCE_IMAGE: RegFlags = RegFlags(0x01);
    /// Never include an image.
    pub const NO_IMAGE: RegFlags = RegFlags(0x02);
    /// Redo makes the page from nothing; implies `NO_IMAGE`.
    pub const WILL_INIT: RegFlags = RegFlags(0x04 | 0x02);
    /// The space between the header's `lower` and `upper` is unused and may be left out of images.
    pub const STANDARD: RegFlags = RegFlags(0x08);
    /// Include the block's data even if an image is taken.
    pub const KEEP_DATA: RegFlags = RegFlags(0x10);

    pub const fn has(self, other: RegFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for RegFlags {
    type Output = RegFlags;
    fn bitor(self, other: RegFlags) -> RegFlags {
        RegFlags(self.0 | other.0)
    }
}

/// How page images are compressed (`wal_compression`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    #[default]
    Off,
    Pglz,
    Lz4,
    Zstd,
}

/// A registered block.
#[derive(Debug)]
pub(crate) struct RegBlock {
    pub in_use: bool,
    pub rel: RelFile,
    pub fork: Fork,
    pub block: BlockNo,
    pub flags: RegFlags,
    pub data: Vec<u8>,
}

/// Collects the parts of one record. See the module text.
#[derive(Debug)]
pub struct RecordBuilder {
    pub(crate) rmgr: RmgrId,
    pub(crate) info: u8,
    pub(crate) main: Vec<u8>,
    pub(crate) blocks: Vec<RegBlock>,
    /// One past the largest block id in use.
    pub(crate) block_end: usize,
    pub(crate) origin: u16,
    pub(crate) toplevel_xid: Xid,
    pub(crate) unimportant: bool,
    pub(crate) compression: Option<Compression>,
    /// The assembled record: headers, images, data.
    pub(crate) out: Vec<u8>,
    pub(crate) packed: Vec<u8>,
}

impl RecordBuilder {
    pub fn new(rmgr: RmgrId, info: u8) -> RecordBuilder {
        RecordBuilder {
            rmgr,
            info,
            main: Vec::new(),
            blocks: Vec::new(),
            block_end: 0,
            origin: 0,
            toplevel_xid: Xid::INVALID,
            unimportant: false,
            compression: None,
            out: Vec::new(),
            packed: Vec::new(),
        }
    }

    /// Forgets everything registered, keeps the memory and the compression setting.
    pub fn reset(&mut self, rmgr: RmgrId, info: u8) {
        self.set_kind(rmgr, info);
        self.main.clear();
        for block in &mut self.blocks[..self.block_end] {
            block.in_use = false;
            block.data.clear();
        }
        self.block_end = 0;
        self.origin = 0;
        self.toplevel_xid = Xid::INVALID;
        self.unimportant = false;
    }

    /// Sets the resource manager and its info bits (`XLR_SPECIAL_REL_UPDATE` and
    /// `XLR_CHECK_CONSISTENCY` are allowed too).
    pub fn set_kind(&mut self, rmgr: RmgrId, info: u8) {
        self.rmgr = rmgr;
        self.info = info;
    }

    /// Appends to the main data.
    pub fn main(&mut self, data: &[u8]) -> &mut Self {
        self.main.extend_from_slice(data);
        self
    }

    /// Registers block `id` (at most 32). Ids may come in any order, each once.
    pub fn block(
        &mut self,
        id: u8,
        rel: RelFile,
        fork: Fork,
        block: BlockNo,
        flags: RegFlags,
    ) -> &mut Self {
        let id = id as usize;
        assert!(id <= crate::record::MAX_BLOCK_ID as usize, "too many registered buffers");
        while self.blocks.len() <= id {
            self.blocks.push(RegBlock {
                in_use: false,
                rel: RelFile::default(),
                fork: Fork::Main,
                block: BlockNo(0),
                flags: RegFlags::NONE,
                data: Vec::new(),
            });
        }
        let slot = &mut self.blocks[id];
        assert!(!slot.in_use, "block {id} registered twice");
        slot.in_use = true;
        (slot.rel, slot.fork, slot.block, slot.flags) = (rel, fork, block, flags);
        self.block_end = self.block_end.max(id + 1);
        self
    }

    /// Appends to the data of block `id`, which must be registered.
    pub fn block_data(&mut self, id: u8, data: &[u8]) -> &mut Self {
        let slot = &mut self.blocks[id as usize];
        assert!(slot.in_use, "no block with id {id} registered with WAL insertion");
        slot.data.extend_from_slice(data);
        self
    }

    pub fn is_registered(&self, id: u8) -> bool {
        self.blocks.get(id as usize).is_some_and(|block| block.in_use)
    }

    /// Stamps a replication origin on the record.
    pub fn origin(&mut self, origin: u16) -> &mut Self {
        self.origin = origin;
        self
    }

    /// Announces the top-level transaction of the record's transaction.
    pub fn toplevel_xid(&mut self, xid: Xid) -> &mut Self {
        self.toplevel_xid = xid;
        self
    }

    /// The record does not by itself justify a checkpoint or archive switch.
    pub fn mark_unimportant(&mut self) -> &mut Self {
        self.unimportant = true;
        self
    }

    /// The session's `wal_compression`; `None` takes the server's.
    pub fn set_compression(&mut self, compression: Option<Compression>) {
        self.compression = compression;
    }
}
