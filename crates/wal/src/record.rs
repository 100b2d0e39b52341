//! The record format, and its decoding with every check that PostgreSQL makes.
//!
//! ```text
//! header (24): tot_len u32 | xid u32 | prev u64 | info u8 | rmid u8 | pad u16 | crc u32
//! then headers, each with an id byte first, until the rest is exactly the payload they announce:
//!   0..=32  block: fork|flags u8, data_len u16, [image header], [relfile 12], block number u32
//!   252     top-level xid u32      253  replication origin u16
//!   254     main data, length u32  255  main data, length u8
//! then the payload: for each block its image and its data, then the main data.
//! ```
//!
//! Decoding trusts no byte: for any input, the result is a record or an error message. Counterpart:
//! access/xlogrecord.h, xlogreader.c.

use crate::layout::{le32, le64};
use crate::{RmgrId, image};
use ids::{BlockNo, Fork, Lsn, Oid, RelFile, Xid};
use page::Page;
use pgerror::Result;

/// Size of the fixed record header.
pub const RECORD_HEADER: usize = 24;
/// Bits of `info` used by the log itself.
pub const XLR_INFO_MASK: u8 = 0x0F;
/// Bits of `info` used by the resource manager.
pub const XLR_RMGR_INFO_MASK: u8 = 0xF0;
/// The record changes relation files that its block references do not name.
pub const XLR_SPECIAL_REL_UPDATE: u8 = 0x01;
/// Redo compares the images in the record with its own result.
pub const XLR_CHECK_CONSISTENCY: u8 = 0x02;
/// Largest block reference id.
pub const MAX_BLOCK_ID: u8 = 32;

pub const BLOCK_ID_DATA_SHORT: u8 = 255;
pub const BLOCK_ID_DATA_LONG: u8 = 254;
pub const BLOCK_ID_ORIGIN: u8 = 253;
pub const BLOCK_ID_TOPLEVEL_XID: u8 = 252;

pub const BKPBLOCK_FORK_MASK: u8 = 0x0F;
pub const BKPBLOCK_HAS_IMAGE: u8 = 0x10;
pub const BKPBLOCK_HAS_DATA: u8 = 0x20;
pub const BKPBLOCK_WILL_INIT: u8 = 0x40;
pub const BKPBLOCK_SAME_REL: u8 = 0x80;

pub const BKPIMAGE_HAS_HOLE: u8 = 0x01;
pub const BKPIMAGE_APPLY: u8 = 0x02;
pub const BKPIMAGE_COMPRESS_PGLZ: u8 = 0x04;
pub const BKPIMAGE_COMPRESS_LZ4: u8 = 0x08;
pub const BKPIMAGE_COMPRESS_ZSTD: u8 = 0x10;
/// All compression bits.
pub const BKPIMAGE_COMPRESSED: u8 =
    BKPIMAGE_COMPRESS_PGLZ | BKPIMAGE_COMPRESS_LZ4 | BKPIMAGE_COMPRESS_ZSTD;

const BLOCK_SIZE: u16 = 8192;

/// The fixed header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// Length of the whole record.
    pub total_len: u32,
    pub xid: Xid,
    /// Start of the previous record.
    pub prev: Lsn,
    pub info: u8,
    /// Number of the resource manager; [`RecordHeader::rmgr`] names the built-in ones.
    pub rmid: u8,
    pub crc: u32,
}

impl Default for RecordHeader {
    fn default() -> Self {
        RecordHeader { total_len: 0, xid: Xid::INVALID, prev: Lsn(0), info: 0, rmid: 0, crc: 0 }
    }
}

impl RecordHeader {
    /// Reads the header from the first 24 bytes.
    #[inline]
    pub fn read(b: &[u8]) -> RecordHeader {
        let b = &b[..RECORD_HEADER];
        RecordHeader {
            total_len: le32(b, 0),
            xid: Xid(le32(b, 4)),
            prev: Lsn(le64(b, 8)),
            info: b[16],
            rmid: b[17],
            crc: le32(b, 20),
        }
    }

    /// The 24 bytes; padding is zero.
    pub fn to_bytes(&self) -> [u8; RECORD_HEADER] {
        let mut b = [0; RECORD_HEADER];
        b[0..4].copy_from_slice(&self.total_len.to_le_bytes());
        b[4..8].copy_from_slice(&self.xid.0.to_le_bytes());
        b[8..16].copy_from_slice(&self.prev.0.to_le_bytes());
        b[16] = self.info;
        b[17] = self.rmid;
        b[20..24].copy_from_slice(&self.crc.to_le_bytes());
        b
    }

    pub fn rmgr(&self) -> Option<RmgrId> {
        RmgrId::from_u8(self.rmid)
    }

    /// The resource manager's part of `info`: the kind of record and its flags.
    pub const fn rmgr_info(&self) -> u8 {
        self.info & XLR_RMGR_INFO_MASK
    }
}

/// CRC-32C of a record: everything after the header, then the header up to the CRC itself.
pub fn record_crc(bytes: &[u8]) -> u32 {
    let crc = crc32c::crc32c(&bytes[RECORD_HEADER..]);
    crc32c::crc32c_append(crc, &bytes[..20])
}

/// The full-page image in a block reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BlockImage {
    /// Flags `BKPIMAGE_*`.
    pub info: u8,
    pub hole_offset: u16,
    pub hole_length: u16,
    /// Offset of the (compressed) bytes in the record.
    start: u32,
    len: u16,
}

impl BlockImage {
    /// True if redo restores the image, false if the image only serves comparison.
    pub const fn apply(&self) -> bool {
        self.info & BKPIMAGE_APPLY != 0
    }

    pub const fn compressed(&self) -> bool {
        self.info & BKPIMAGE_COMPRESSED != 0
    }

    /// Size of the image in the log, in bytes.
    pub const fn stored_len(&self) -> u16 {
        self.len
    }
}

/// A block reference of a decoded record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedBlock {
    pub rel: RelFile,
    pub fork: Fork,
    pub block: BlockNo,
    /// Flags `BKPBLOCK_*`, without the fork number.
    pub flags: u8,
    pub image: Option<BlockImage>,
    has_data: bool,
    data_start: u32,
    data_len: u16,
}

impl DecodedBlock {
    pub const fn has_data(&self) -> bool {
        self.has_data
    }

    pub const fn data_len(&self) -> u16 {
        self.data_len
    }

    /// True if redo initializes the page.
    pub const fn will_init(&self) -> bool {
        self.flags & BKPBLOCK_WILL_INIT != 0
    }

    /// True if redo restores the page from the image in the record.
    pub const fn applies_image(&self) -> bool {
        matches!(self.image, Some(image) if image.apply())
    }
}

/// A decoded record. Owns its bytes; the reader reuses it from record to record.
#[derive(Clone, Debug, Default)]
pub struct DecodedRecord {
    /// Where the record starts.
    pub start: Lsn,
    /// End of the record, the LSN that redo sets on pages.
    pub end: Lsn,
    pub header: RecordHeader,
    /// Replication origin, 0 if none.
    pub origin: u16,
    /// Top-level transaction of `header.xid` if the record contains it.
    pub toplevel_xid: Xid,
    bytes: Vec<u8>,
    blocks: Vec<Option<DecodedBlock>>,
    main_start: u32,
    main_len: u32,
}

impl DecodedRecord {
    /// The resource manager's part of the info byte.
    pub const fn info(&self) -> u8 {
        self.header.rmgr_info()
    }

    pub const fn xid(&self) -> Xid {
        self.header.xid
    }

    /// The main data.
    pub fn main(&self) -> &[u8] {
        &self.bytes[self.main_start as usize..][..self.main_len as usize]
    }

    /// The block reference `id`, if the record has it.
    pub fn block(&self, id: u8) -> Option<&DecodedBlock> {
        self.blocks.get(id as usize)?.as_ref()
    }

    pub fn has_block(&self, id: u8) -> bool {
        self.block(id).is_some()
    }

    /// One past the largest block id.
    pub fn block_id_end(&self) -> u8 {
        self.blocks.len() as u8
    }

    /// All block references with their ids.
    pub fn blocks(&self) -> impl Iterator<Item = (u8, &DecodedBlock)> {
        self.blocks.iter().enumerate().filter_map(|(i, b)| Some((i as u8, b.as_ref()?)))
    }

    /// The data registered for block `id`; `None` where there is none.
    pub fn block_data(&self, id: u8) -> Option<&[u8]> {
        let block = self.block(id)?;
        block.has_data.then(|| &self.bytes[block.data_start as usize..][..block.data_len as usize])
    }

    /// The bytes of block `id`'s image as stored in the log.
    pub fn image_bytes(&self, id: u8) -> Option<&[u8]> {
        let image = self.block(id)?.image?;
        Some(&self.bytes[image.start as usize..][..image.len as usize])
    }

    /// Rebuilds the page from the image of block `id`. After an error the contents of `out` are
    /// undefined.
    pub fn restore_image(&self, id: u8, out: &mut Page) -> Result<()> {
        image::restore(self, id, out)
    }

    /// The whole record as stored in the log, without page headers.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Decodes the bytes of a record that has been decoded before, and so is valid.
    ///
    /// # Panics
    /// If the bytes are not a valid record.
    pub fn load(&mut self, start: Lsn, end: Lsn, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.decode(start, end).expect("the record was decoded before");
    }

    /// Exchanges the record's bytes with `bytes`, so that the buffer is reused.
    pub(crate) fn swap_bytes(&mut self, bytes: &mut Vec<u8>) {
        std::mem::swap(&mut self.bytes, bytes);
    }

    /// Decodes the bytes set by `swap_bytes`, whose header and CRC have been checked.
    pub(crate) fn decode(&mut self, start: Lsn, end: Lsn) -> Result<(), String> {
        self.start = start;
        self.end = end;
        self.parse().map_err(|fault| fault.message(start))
    }

    fn parse(&mut self) -> Result<(), Fault> {
        self.header = RecordHeader::read(&self.bytes);
        self.origin = 0;
        self.toplevel_xid = Xid::INVALID;
        self.blocks.clear();
        self.main_start = 0;
        self.main_len = 0;
        let mut cursor = Cursor(&self.bytes[RECORD_HEADER..]);
        let mut payload: u64 = 0;
        let mut last_rel: Option<RelFile> = None;
        let mut main_len = 0;
        while cursor.left() as u64 > payload {
            let id = cursor.u8()?;
            match id {
                BLOCK_ID_DATA_SHORT => {
                    main_len = u32::from(cursor.u8()?);
                    payload += u64::from(main_len);
                    break;
                }
                BLOCK_ID_DATA_LONG => {
                    main_len = cursor.u32()?;
                    payload += u64::from(main_len);
                    break;
                }
                BLOCK_ID_ORIGIN => self.origin = cursor.u16()?,
                BLOCK_ID_TOPLEVEL_XID => self.toplevel_xid = Xid(cursor.u32()?),
                0..=MAX_BLOCK_ID => {
                    if (id as usize) < self.blocks.len() {
                        return Err(Fault::BlockOrder(id));
                    }
                    let block = cursor.block(&mut last_rel)?;
                    payload += u64::from(block.data_len)
                        + block.image.map_or(0, |image| u64::from(image.len));
                    self.blocks.resize(id as usize, None);
                    self.blocks.push(Some(block));
                }
                _ => return Err(Fault::BlockId(id)),
            }
        }
        if cursor.left() as u64 != payload {
            return Err(Fault::Length);
        }
        // The payload follows in the order of the headers; its total length has just been checked.
        let mut at = (self.bytes.len() - cursor.left()) as u32;
        for block in self.blocks.iter_mut().flatten() {
            if let Some(image) = &mut block.image {
                image.start = at;
                at += u32::from(image.len);
            }
            block.data_start = at;
            at += u32::from(block.data_len);
        }
        self.main_start = at;
        self.main_len = main_len;
        Ok(())
    }
}

/// Why a record is not valid. Small, since it is part of the result type in the decoder's hot path.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Length,
    BlockId(u8),
    BlockOrder(u8),
    NoData,
    Data(u16),
    NoPreviousRel,
    Fork(u8),
    Hole(BlockImage),
    NoHole(BlockImage),
    Compressed(u16),
    Plain(u16),
}

impl Fault {
    /// PostgreSQL's message.
    #[cold]
    fn message(self, lsn: Lsn) -> String {
        match self {
            Fault::Length => format!("record with invalid length at {lsn}"),
            Fault::BlockId(id) => format!("invalid block_id {id} at {lsn}"),
            Fault::BlockOrder(id) => format!("out-of-order block_id {id} at {lsn}"),
            Fault::NoData => {
                format!("BKPBLOCK_HAS_DATA set, but no data included at {lsn}")
            }
            Fault::Data(len) => {
                format!("BKPBLOCK_HAS_DATA not set, but data length is {len} at {lsn}")
            }
            Fault::NoPreviousRel => {
                format!("BKPBLOCK_SAME_REL set but no previous rel at {lsn}")
            }
            // PostgreSQL accepts an unknown fork number here; its file layer refuses it.
            Fault::Fork(n) => format!("invalid fork number {n} at {lsn}"),
            Fault::Hole(BlockImage { hole_offset, hole_length, len, .. }) => format!(
                "BKPIMAGE_HAS_HOLE set, but hole offset {hole_offset} length {hole_length} \
                 block image length {len} at {lsn}"
            ),
            Fault::NoHole(BlockImage { hole_offset, hole_length, .. }) => format!(
                "BKPIMAGE_HAS_HOLE not set, but hole offset {hole_offset} length {hole_length} \
                 at {lsn}"
            ),
            Fault::Compressed(len) => {
                format!("BKPIMAGE_COMPRESSED set, but block image length {len} at {lsn}")
            }
            Fault::Plain(len) => format!(
                "neither BKPIMAGE_HAS_HOLE nor BKPIMAGE_COMPRESSED set, but block image length \
                 is {len} at {lsn}"
            ),
        }
    }
}

/// Reads header fields from the rest of a record; an error past its end.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn left(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (bytes, rest) = self.0.split_first_chunk::<N>().ok_or(Fault::Length)?;
        self.0 = rest;
        Ok(*bytes)
    }

    #[inline]
    fn u8(&mut self) -> Result<u8, Fault> {
        self.take().map(|[byte]| byte)
    }

    #[inline]
    fn u16(&mut self) -> Result<u16, Fault> {
        self.take().map(u16::from_le_bytes)
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, Fault> {
        self.take().map(u32::from_le_bytes)
    }

    fn block(&mut self, last_rel: &mut Option<RelFile>) -> Result<DecodedBlock, Fault> {
        let fork_flags = self.u8()?;
        let flags = fork_flags & !BKPBLOCK_FORK_MASK;
        let has_data = flags & BKPBLOCK_HAS_DATA != 0;
        let data_len = self.u16()?;
        if has_data && data_len == 0 {
            return Err(Fault::NoData);
        }
        if !has_data && data_len != 0 {
            return Err(Fault::Data(data_len));
        }
        let image = if flags & BKPBLOCK_HAS_IMAGE != 0 { Some(self.image()?) } else { None };
        let rel = if flags & BKPBLOCK_SAME_REL == 0 {
            RelFile::new(Oid(self.u32()?), Oid(self.u32()?), Oid(self.u32()?))
        } else {
            (*last_rel).ok_or(Fault::NoPreviousRel)?
        };
        *last_rel = Some(rel);
        let block = BlockNo(self.u32()?);
        let fork = fork_flags & BKPBLOCK_FORK_MASK;
        let fork = Fork::from_u8(fork).ok_or(Fault::Fork(fork))?;
        Ok(DecodedBlock { rel, fork, block, flags, image, has_data, data_start: 0, data_len })
    }

    fn image(&mut self) -> Result<BlockImage, Fault> {
        let len = self.u16()?;
        let hole_offset = self.u16()?;
        let info = self.u8()?;
        let has_hole = info & BKPIMAGE_HAS_HOLE != 0;
        let compressed = info & BKPIMAGE_COMPRESSED != 0;
        let hole_length = match (compressed, has_hole) {
            (true, true) => self.u16()?,
            (true, false) => 0,
            (false, _) => BLOCK_SIZE.wrapping_sub(len),
        };
        let image = BlockImage { info, hole_offset, hole_length, start: 0, len };
        if has_hole && (hole_offset == 0 || hole_length == 0 || len == BLOCK_SIZE) {
            return Err(Fault::Hole(image));
        }
        if !has_hole && (hole_offset != 0 || hole_length != 0) {
            return Err(Fault::NoHole(image));
        }
        if compressed && len == BLOCK_SIZE {
            return Err(Fault::Compressed(len));
        }
        if !has_hole && !compressed && len != BLOCK_SIZE {
            return Err(Fault::Plain(len));
        }
        Ok(image)
    }
}
