//! Building a record from its registered blocks and data.
//!
//! A builder belongs to a session or worker and is reused; once its buffers have grown, it
//! allocates nothing. Page contents are not registered but passed at insertion (`Wal::insert`):
//! only then is it known whether images are needed, and the record may have to be built again if
//! the redo pointer has moved. Counterpart: xloginsert.c (XLogBeginInsert, XLogRegister*).

use crate::image::Packer;
use crate::record::{
    BKPBLOCK_HAS_DATA, BKPBLOCK_HAS_IMAGE, BKPBLOCK_SAME_REL, BKPBLOCK_WILL_INIT, BKPIMAGE_APPLY,
    BKPIMAGE_COMPRESSED, BKPIMAGE_HAS_HOLE, BLOCK_ID_DATA_LONG, BLOCK_ID_DATA_SHORT,
    BLOCK_ID_ORIGIN, BLOCK_ID_TOPLEVEL_XID, RECORD_HEADER, XLR_CHECK_CONSISTENCY,
};
use crate::{RecordHeader, RmgrId};
use ids::{BlockNo, Fork, Lsn, RelFile, Xid};
use page::PageRef;
use pgerror::{PgError, Result, SqlState};

/// How a block is registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegFlags(u8);

impl RegFlags {
    pub const NONE: RegFlags = RegFlags(0);
    /// Always include a page image.
    pub const FORCE_IMAGE: RegFlags = RegFlags(0x01);
    /// Never include an image.
    pub const NO_IMAGE: RegFlags = RegFlags(0x02);
    /// Redo initializes the page; implies `NO_IMAGE`.
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

impl Compression {
    pub(crate) const fn from_u8(n: u8) -> Compression {
        match n {
            1 => Compression::Pglz,
            2 => Compression::Lz4,
            3 => Compression::Zstd,
            _ => Compression::Off,
        }
    }
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

/// Collects the parts of one record. See the module documentation.
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
    pub(crate) checked: Option<u32>,
    /// The assembled record: headers, images, data.
    pub(crate) out: Vec<u8>,
    /// Images, and the block data after the first image, while the headers are written.
    payload: Vec<u8>,
    /// CRC of the bytes after the header. `None` for a short record: `seal` then computes all in
    /// one pass.
    payload_crc: Option<u32>,
    packer: Packer,
    /// The insertion slot used last, tried first next time.
    pub(crate) slot_hint: usize,
    /// End of the last record inserted by this builder.
    pub(crate) last_end: Lsn,
    /// Counts of this builder's insertions.
    pub usage: WalUsage,
    /// Clean pages dirtied by edits and hints with this builder.
    pub dirtied: u64,
}

/// Counts of one session (EXPLAIN WAL, pg_stat_statements).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalUsage {
    pub records: u64,
    /// Full page images.
    pub images: u64,
    pub bytes: u64,
}

impl std::ops::AddAssign for WalUsage {
    fn add_assign(&mut self, other: WalUsage) {
        self.records += other.records;
        self.images += other.images;
        self.bytes += other.bytes;
    }
}

impl std::ops::Sub for WalUsage {
    type Output = WalUsage;

    /// What was used since `earlier`.
    fn sub(self, earlier: WalUsage) -> WalUsage {
        WalUsage {
            records: self.records - earlier.records,
            images: self.images - earlier.images,
            bytes: self.bytes - earlier.bytes,
        }
    }
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
            checked: None,
            out: Vec::new(),
            payload: Vec::new(),
            payload_crc: None,
            packer: Packer::default(),
            slot_hint: usize::MAX,
            last_end: Lsn::INVALID,
            usage: WalUsage::default(),
            dirtied: 0,
        }
    }

    /// End of the last record inserted since the last call; invalid if there was none. Tells
    /// whether a transaction has written anything that its commit should wait for.
    pub fn take_last_end(&mut self) -> Lsn {
        std::mem::replace(&mut self.last_end, Lsn::INVALID)
    }

    /// Runs `insert`, which inserts a record that the transaction's commit need not wait for.
    pub fn without_commit_wait<R>(&mut self, insert: impl FnOnce(&mut Self) -> R) -> R {
        let end = self.last_end;
        let result = insert(self);
        self.last_end = end;
        result
    }

    /// Removes everything registered; keeps the buffers and the compression setting.
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
    #[inline]
    pub fn set_kind(&mut self, rmgr: RmgrId, info: u8) {
        self.rmgr = rmgr;
        self.info = info;
    }

    /// Appends to the main data.
    #[inline]
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
    #[inline]
    pub fn block_data(&mut self, id: u8, data: &[u8]) -> &mut Self {
        let slot = &mut self.blocks[id as usize];
        assert!(slot.in_use, "no block with id {id} registered with WAL insertion");
        slot.data.extend_from_slice(data);
        self
    }

    pub fn is_registered(&self, id: u8) -> bool {
        self.blocks.get(id as usize).is_some_and(|block| block.in_use)
    }

    /// Sets the replication origin of the record.
    pub fn origin(&mut self, origin: u16) -> &mut Self {
        self.origin = origin;
        self
    }

    /// Adds the top-level XID of the record's transaction.
    pub fn toplevel_xid(&mut self, xid: Xid) -> &mut Self {
        self.toplevel_xid = xid;
        self
    }

    /// The record alone does not justify a checkpoint or an archive switch.
    pub fn mark_unimportant(&mut self) -> &mut Self {
        self.unimportant = true;
        self
    }

    /// The session's `wal_compression`; `None` takes the server's.
    pub fn set_compression(&mut self, compression: Option<Compression>) {
        self.compression = compression;
    }

    /// The session's `wal_consistency_checking` ([`RmgrId::mask`]); `None` takes the server's.
    pub fn set_checked(&mut self, checked: Option<u32>) {
        self.checked = checked;
    }
}

/// The inputs of the decision about page images: valid as long as the redo pointer does not move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImagePolicy {
    pub redo: Lsn,
    pub full_page_writes: bool,
    pub compression: Compression,
    /// Managers whose records carry images for checking ([`RmgrId::bit`]).
    pub checked: u32,
}

impl ImagePolicy {
    /// True if the record needs an image of block `id`. An error if that depends on a page that was
    /// not passed.
    #[inline(always)]
    fn needs_image(&self, flags: RegFlags, page: Option<PageRef<'_>>, id: usize) -> Result<bool> {
        if flags.has(RegFlags::FORCE_IMAGE) {
            return Ok(true);
        }
        if flags.has(RegFlags::NO_IMAGE) || !self.full_page_writes {
            return Ok(false);
        }
        let page = page.ok_or_else(|| missing_page(id))?;
        Ok(page.lsn() <= self.redo)
    }
}

/// The byte with a block's fork and flags. `previous`: the relation of the block before it.
#[inline(always)]
fn fork_flags(block: &RegBlock, has_data: bool, has_image: bool, previous: Option<RelFile>) -> u8 {
    let mut flags = block.fork as u8;
    if block.flags.has(RegFlags::WILL_INIT) {
        flags |= BKPBLOCK_WILL_INIT;
    }
    if has_data {
        flags |= BKPBLOCK_HAS_DATA;
    }
    if has_image {
        flags |= BKPBLOCK_HAS_IMAGE;
    }
    if previous == Some(block.rel) {
        flags |= BKPBLOCK_SAME_REL;
    }
    flags
}

/// Appends the headers after those of the blocks: origin, top-level transaction, and the length of
/// the main data.
#[inline(always)]
fn put_last_headers(
    out: &mut Vec<u8>,
    origin: u16,
    toplevel_xid: Xid,
    main_len: usize,
) -> Result<()> {
    if origin != 0 {
        out.push(BLOCK_ID_ORIGIN);
        out.extend_from_slice(&origin.to_le_bytes());
    }
    if toplevel_xid.is_valid() {
        out.push(BLOCK_ID_TOPLEVEL_XID);
        out.extend_from_slice(&toplevel_xid.0.to_le_bytes());
    }
    match main_len {
        0 => {}
        len @ 1..=255 => out.extend_from_slice(&[BLOCK_ID_DATA_SHORT, len as u8]),
        len => {
            let len = u32::try_from(len).map_err(|_| too_long())?;
            out.push(BLOCK_ID_DATA_LONG);
            out.extend_from_slice(&len.to_le_bytes());
        }
    }
    Ok(())
}

impl RecordBuilder {
    /// Assembles the record in `out`, all but the prev link and the CRC over the header. Returns
    /// the number of images, those for consistency checking included.
    pub(crate) fn assemble(
        &mut self,
        pages: &[(u8, PageRef<'_>)],
        xid: Xid,
        policy: &ImagePolicy,
    ) -> Result<u32> {
        let mut info = self.info;
        let used = &self.blocks[..self.block_end];
        // Redo compares every block of a record with this flag, so all pages must have been passed.
        let page_of =
            |id: usize| pages.iter().find(|(n, _)| *n as usize == id).map(|(_, page)| *page);
        if self.checked.unwrap_or(policy.checked) & self.rmgr.bit() != 0
            && self.rmgr.is_checkable()
            && used.iter().enumerate().all(|(id, block)| !block.in_use || page_of(id).is_some())
        {
            info |= XLR_CHECK_CONSISTENCY;
        }
        let check = info & XLR_CHECK_CONSISTENCY != 0;
        let compression = self.compression.unwrap_or(policy.compression);
        let out = &mut self.out;
        out.clear();
        out.extend_from_slice(&[0; RECORD_HEADER]);
        self.payload.clear();
        let mut images = 0;
        // Before the first image, the payload is only the blocks' data, appended after the headers.
        let mut payload_from = None;
        let mut previous: Option<RelFile> = None;
        for (id, block) in used.iter().enumerate() {
            if !block.in_use {
                continue;
            }
            let page = page_of(id);
            let needs_image = policy.needs_image(block.flags, page, id)?;
            let needs_data =
                !block.data.is_empty() && (!needs_image || block.flags.has(RegFlags::KEEP_DATA));
            let has_image = needs_image || check;
            let fork_flags = fork_flags(block, needs_data, has_image, previous);
            let data_len = if needs_data { block.data.len() } else { 0 };
            let data_len = u16::try_from(data_len).map_err(|_| too_long())?;
            let mut header = BlockHeader::default();
            header.put([id as u8, fork_flags]);
            header.put(data_len.to_le_bytes());
            if has_image {
                let page = page.ok_or_else(|| missing_page(id))?;
                let standard = block.flags.has(RegFlags::STANDARD);
                payload_from.get_or_insert(id);
                let image = self.packer.pack(page, standard, compression, &mut self.payload);
                let mut image_info = image.info;
                images += 1;
                if needs_image {
                    image_info |= BKPIMAGE_APPLY;
                }
                header.put(image.len.to_le_bytes());
                header.put(image.hole_offset.to_le_bytes());
                header.put([image_info]);
                if image_info & BKPIMAGE_HAS_HOLE != 0 && image_info & BKPIMAGE_COMPRESSED != 0 {
                    header.put(image.hole_length.to_le_bytes());
                }
            }
            if needs_data && payload_from.is_some() {
                self.payload.extend_from_slice(&block.data);
            }
            if previous != Some(block.rel) {
                let rel = block.rel;
                for oid in [rel.tablespace, rel.database, rel.relnumber] {
                    header.put(oid.0.to_le_bytes());
                }
                previous = Some(rel);
            }
            header.put(block.block.0.to_le_bytes());
            // The whole array is copied, since a copy of fixed length is cheaper, then truncated to
            // the used part.
            let end = out.len() + header.len;
            out.extend_from_slice(&header.bytes);
            out.truncate(end);
        }
        put_last_headers(out, self.origin, self.toplevel_xid, self.main.len())?;
        for block in &used[..payload_from.unwrap_or(used.len())] {
            if block.in_use {
                out.extend_from_slice(&block.data);
            }
        }
        out.extend_from_slice(&self.payload);
        out.extend_from_slice(&self.main);
        if out.len() > MAX_RECORD {
            return Err(too_long());
        }
        let header = RecordHeader {
            total_len: out.len() as u32,
            xid,
            prev: Lsn::INVALID,
            info,
            rmid: self.rmgr as u8,
            crc: 0,
        };
        out[..RECORD_HEADER].copy_from_slice(&header.to_bytes());
        self.payload_crc = (out.len() > ONE_PASS).then(|| crc32c::crc32c(&out[RECORD_HEADER..]));
        Ok(images)
    }

    /// Sets the prev link and the CRC: the record is complete.
    pub(crate) fn seal(&mut self, prev: Lsn) {
        let out = &mut self.out;
        out[8..16].copy_from_slice(&prev.0.to_le_bytes());
        let crc = match self.payload_crc {
            Some(crc) => crc32c::crc32c_append(crc, &out[..CRC_AT]),
            None => {
                // The CRC covers the header last, so a copy of it is appended for the computation.
                let end = out.len();
                out.extend_from_within(..CRC_AT);
                let crc = crc32c::crc32c(&out[RECORD_HEADER..]);
                out.truncate(end);
                crc
            }
        };
        out[CRC_AT..RECORD_HEADER].copy_from_slice(&crc.to_le_bytes());
    }

    /// Releases large buffers that an unusual record left.
    pub fn shrink(&mut self) {
        const KEEP: usize = 256 * 1024;
        for buffer in [&mut self.out, &mut self.payload, &mut self.main] {
            if buffer.capacity() > KEEP {
                *buffer = Vec::new();
            }
        }
    }
}

/// A block header under construction: the record then grows once for it.
#[derive(Default)]
struct BlockHeader {
    /// Size of the longest header: id, flags, length, image with hole, relation, block.
    bytes: [u8; 32],
    len: usize,
}

impl BlockHeader {
    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes[self.len..self.len + N].copy_from_slice(&bytes);
        self.len += N;
    }
}

/// Offset of the CRC in the header; it covers the header up to there.
const CRC_AT: usize = 20;
/// Records up to this length have their CRC computed in one pass: two calls would cost more than
/// the bytes.
const ONE_PASS: usize = 512;

/// Longest record that the reader accepts.
const MAX_RECORD: usize = 1020 * 1024 * 1024;

#[cold]
fn too_long() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "oversized WAL record")
}

#[cold]
fn missing_page(id: usize) -> PgError {
    PgError::internal(format!("no page passed for block {id} of a WAL record"))
}

#[cfg(test)]
mod tests;
