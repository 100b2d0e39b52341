//! Full page images: the page without its hole, optionally compressed. Counterpart: xloginsert.c
//! (XLogCompressBackupBlock), xlogreader.c (RestoreBlockImage).

use crate::record::{
    BKPIMAGE_COMPRESS_LZ4, BKPIMAGE_COMPRESS_PGLZ, BKPIMAGE_COMPRESS_ZSTD, BKPIMAGE_HAS_HOLE,
};
use crate::{Compression, DecodedRecord};
use page::{PAGE_SIZE, Page, PageRef, pglz};
use pgerror::{Result, pg_err};

/// Size of a page header: the least offset of a hole.
const PAGE_HEADER: usize = 24;
/// The compression level PostgreSQL uses for zstd.
const ZSTD_LEVEL: i32 = 3;

/// The fields of an image header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    /// `BKPIMAGE_*` flags, without `APPLY`.
    pub info: u8,
    pub hole_offset: u16,
    pub hole_length: u16,
    /// Length of the stored bytes.
    pub len: u16,
}

/// Buffers and compression state, reused from image to image.
#[derive(Default)]
pub(crate) struct Packer {
    page: Vec<u8>,
    pglz: Option<Box<pglz::History>>,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Packer")
    }
}

impl Packer {
    /// Appends the image of `page` to `out`. The caller's latch excludes other changes.
    pub(crate) fn pack(
        &mut self,
        page: PageRef<'_>,
        standard: bool,
        compression: Compression,
        out: &mut Vec<u8>,
    ) -> Packed {
        let (hole_offset, hole_length) = if standard { hole(page) } else { (0, 0) };
        let after = hole_offset + hole_length;
        let info = if hole_length > 0 { BKPIMAGE_HAS_HOLE } else { 0 };
        let base = out.len();
        let plain_len = PAGE_SIZE - hole_length;
        if compression != Compression::Off {
            self.page.clear();
            self.page.extend_from_slice(page.slice(0, hole_offset));
            self.page.extend_from_slice(page.slice(after, PAGE_SIZE - after));
            // A compressed image with a hole has two more header bytes, the hole's length.
            let extra = if hole_length > 0 { 2 } else { 0 };
            if let Some(bit) = self.compress(compression, out)
                && out.len() - base + extra < plain_len
            {
                return Packed {
                    info: info | bit,
                    hole_offset: hole_offset as u16,
                    hole_length: hole_length as u16,
                    len: (out.len() - base) as u16,
                };
            }
            out.truncate(base);
        }
        out.extend_from_slice(page.slice(0, hole_offset));
        out.extend_from_slice(page.slice(after, PAGE_SIZE - after));
        Packed {
            info,
            hole_offset: hole_offset as u16,
            hole_length: hole_length as u16,
            len: plain_len as u16,
        }
    }

    /// Appends `self.page` compressed; returns the flag of the method, or `None` if it does not
    /// compress.
    fn compress(&mut self, compression: Compression, out: &mut Vec<u8>) -> Option<u8> {
        let base = out.len();
        match compression {
            Compression::Off => None,
            Compression::Pglz => {
                let history = self.pglz.get_or_insert_default();
                pglz::compress_with(history, &self.page, &pglz::Strategy::DEFAULT, out)?;
                Some(BKPIMAGE_COMPRESS_PGLZ)
            }
            Compression::Lz4 => {
                out.resize(base + lz4_flex::block::get_maximum_output_size(self.page.len()), 0);
                let len = lz4_flex::block::compress_into(&self.page, &mut out[base..]).ok()?;
                out.truncate(base + len);
                Some(BKPIMAGE_COMPRESS_LZ4)
            }
            Compression::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = zstd::bulk::Compressor::new(ZSTD_LEVEL).ok();
                }
                out.resize(base + zstd::zstd_safe::compress_bound(self.page.len()), 0);
                let zstd = self.zstd.as_mut()?;
                let len = zstd.compress_to_buffer(&self.page, &mut out[base..]).ok()?;
                out.truncate(base + len);
                Some(BKPIMAGE_COMPRESS_ZSTD)
            }
        }
    }
}

/// Offset and length of the unused middle of a standard page.
fn hole(page: PageRef<'_>) -> (usize, usize) {
    let (lower, upper) = (page.u16_at(12) as usize, page.u16_at(14) as usize);
    if lower >= PAGE_HEADER && upper > lower && upper <= PAGE_SIZE {
        (lower, upper - lower)
    } else {
        (0, 0)
    }
}

/// Rebuilds the page of block `id`. After an error the contents of `out` are undefined.
pub(crate) fn restore(record: &DecodedRecord, id: u8, out: &mut Page) -> Result<()> {
    let lsn = record.start;
    let block = record.block(id).ok_or_else(|| {
        pg_err!(
            INTERNAL_ERROR,
            "could not restore image at {lsn} with invalid block {id} specified"
        )
    })?;
    let (Some(image), Some(stored)) = (block.image, record.image_bytes(id)) else {
        return Err(pg_err!(
            INTERNAL_ERROR,
            "could not restore image at {lsn} with invalid state, block {id}"
        ));
    };
    let (hole, hole_len) = (image.hole_offset as usize, image.hole_length as usize);
    let plain_len = PAGE_SIZE - hole_len.min(PAGE_SIZE);
    let bytes = out.bytes_mut();
    let damaged = || pg_err!(INTERNAL_ERROR, "could not decompress image at {lsn}, block {id}");
    if hole > plain_len {
        return Err(damaged());
    }
    if image.compressed() {
        // The bytes are decompressed to the start of the page, then those after the hole are moved
        // up.
        let plain = &mut bytes[..plain_len];
        let len = if image.info & BKPIMAGE_COMPRESS_PGLZ != 0 {
            pglz::decompress(stored, plain, true)
        } else if image.info & BKPIMAGE_COMPRESS_LZ4 != 0 {
            lz4_flex::block::decompress_into(stored, plain).ok()
        } else {
            zstd::bulk::decompress_to_buffer(stored, plain).ok()
        };
        if len != Some(plain_len) {
            return Err(damaged());
        }
        if hole_len > 0 {
            bytes.copy_within(hole..plain_len, hole + hole_len);
        }
    } else {
        if stored.len() != plain_len {
            return Err(damaged());
        }
        bytes[..hole].copy_from_slice(&stored[..hole]);
        bytes[hole + hole_len..].copy_from_slice(&stored[hole..]);
    }
    bytes[hole..hole + hole_len].fill(0);
    Ok(())
}
