//! Variable-length values on disk: four forms, distinguished by the low bits of the first byte.
//!
//! ```text
//! xxxxxxx1  short: one byte, total length << 1 | 1 (up to 127 bytes in all), not aligned
//! 00000001  external: the next byte is a tag, then a TOAST pointer (18 bytes in all), not aligned
//! xxxxxx00  plain: four bytes, total length << 2
//! xxxxxx10  compressed: total length << 2 | 2, then raw size (30 bits) | method << 30, then data
//! ```
//! Counterpart: postgres.h, access/toast_internals.h, access/detoast.h.

use ids::Oid;
use pgerror::{Result, pg_err};

/// Bytes of the long header. Counterpart: `VARHDRSZ`.
pub const HEADER_SIZE: usize = 4;
/// Bytes of a compressed value's header. Counterpart: `VARHDRSZ_COMPRESSED`.
pub const COMPRESSED_HEADER_SIZE: usize = 8;
/// Largest total length of the short form. Counterpart: `VARATT_SHORT_MAX`.
pub const SHORT_MAX: usize = 0x7F;
/// Bytes of a TOAST pointer with its header. Counterpart: `TOAST_POINTER_SIZE`.
pub const TOAST_POINTER_SIZE: usize = 18;
/// Largest total length. Counterpart: `MaxAllocSize`.
pub const MAX_SIZE: usize = 0x3FFF_FFFF;
const TAG_ON_DISK: u8 = 18;
const SIZE_MASK: u32 = 0x3FFF_FFFF;

/// How a value was compressed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Compression {
    Pglz = 0,
    Lz4 = 1,
}

impl Compression {
    const fn from_bits(word: u32) -> Option<Compression> {
        match word >> 30 {
            0 => Some(Compression::Pglz),
            1 => Some(Compression::Lz4),
            _ => None,
        }
    }

    /// From `attcompression` (`p`, `l`).
    pub const fn from_char(c: u8) -> Option<Compression> {
        match c {
            b'p' => Some(Compression::Pglz),
            b'l' => Some(Compression::Lz4),
            _ => None,
        }
    }

    /// Largest size in bytes to which `stored` bytes can decompress; a value that declares more is
    /// damaged.
    pub const fn expanded_max(self, stored: usize) -> usize {
        // pglz: three bytes for a match of 273. LZ4: a byte for 255 more.
        let most = match self {
            Compression::Pglz => 91,
            Compression::Lz4 => 255,
        };
        stored.saturating_mul(most)
    }

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Compression::Pglz => "pglz",
            Compression::Lz4 => "lz4",
        }
    }

    pub const fn to_char(self) -> u8 {
        match self {
            Compression::Pglz => b'p',
            Compression::Lz4 => b'l',
        }
    }
}

/// A TOAST pointer: the location of a value in a TOAST table. Counterpart: `varatt_external`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ToastPointer {
    /// Size of the original value with its 4-byte header.
    pub raw_size: u32,
    /// Bytes stored: payload, or the compressed form from `va_tcinfo` on.
    pub ext_size: u32,
    /// Set if the stored value is compressed.
    pub method: Option<Compression>,
    pub value_id: Oid,
    pub toast_rel: Oid,
}

impl ToastPointer {
    /// The 18 bytes of the stored form.
    pub fn to_bytes(&self) -> [u8; TOAST_POINTER_SIZE] {
        let mut b = [0; TOAST_POINTER_SIZE];
        b[0] = 1;
        b[1] = TAG_ON_DISK;
        let method = self.method.map_or(0, |m| (m as u32) << 30);
        b[2..6].copy_from_slice(&self.raw_size.to_le_bytes());
        b[6..10].copy_from_slice(&(self.ext_size & SIZE_MASK | method).to_le_bytes());
        b[10..14].copy_from_slice(&self.value_id.0.to_le_bytes());
        b[14..18].copy_from_slice(&self.toast_rel.0.to_le_bytes());
        b
    }

    fn parse(b: &[u8]) -> Option<ToastPointer> {
        let b: &[u8; TOAST_POINTER_SIZE] = b.first_chunk()?;
        let word = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let (raw_size, info) = (word(2), word(6));
        let ext_size = info & SIZE_MASK;
        // Compressed if and only if it is smaller than the payload. Counterpart:
        // VARATT_EXTERNAL_IS_COMPRESSED.
        let compressed = (ext_size as usize) < (raw_size as usize).saturating_sub(HEADER_SIZE);
        let method = if compressed { Some(Compression::from_bits(info)?) } else { None };
        Some(ToastPointer {
            raw_size,
            ext_size,
            method,
            value_id: Oid(word(10)),
            toast_rel: Oid(word(14)),
        })
    }
}

/// A parsed varlena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Varlena<'a> {
    /// The payload of the plain or the short form.
    Plain(&'a [u8]),
    Compressed {
        /// Payload bytes after decompression.
        raw_size: usize,
        method: Compression,
        data: &'a [u8],
    },
    External(ToastPointer),
}

impl<'a> Varlena<'a> {
    /// Parses the varlena at the front of `bytes`. `None` if it is damaged.
    pub fn parse(bytes: &'a [u8]) -> Option<Varlena<'a>> {
        let whole = bytes.get(..total_len(bytes)?)?;
        let first = whole[0];
        if first == 1 {
            return ToastPointer::parse(whole).map(Varlena::External);
        }
        if first & 1 == 1 {
            return Some(Varlena::Plain(&whole[1..]));
        }
        if first & 3 == 0 {
            return Some(Varlena::Plain(whole.get(HEADER_SIZE..)?));
        }
        let info = whole.get(4..8)?;
        let info = u32::from_le_bytes([info[0], info[1], info[2], info[3]]);
        Some(Varlena::Compressed {
            raw_size: (info & SIZE_MASK) as usize,
            method: Compression::from_bits(info)?,
            data: &whole[COMPRESSED_HEADER_SIZE..],
        })
    }
}

/// Decodes the word after the length of a compressed value: payload size in bytes, and compression
/// method. A compressed value in a TOAST table begins with it. XX000 if the method is unknown.
/// Counterpart: `va_tcinfo`.
pub fn compression_of(info: u32) -> Result<(usize, Compression)> {
    let method = Compression::from_bits(info)
        .ok_or_else(|| pg_err!(INTERNAL_ERROR, "invalid compression method id {}", info >> 30))?;
    Ok(((info & SIZE_MASK) as usize, method))
}

/// Total length in bytes of the varlena at the front of `bytes`, header included.
#[inline]
pub fn total_len(bytes: &[u8]) -> Option<usize> {
    let first = *bytes.first()?;
    if first & 1 == 1 {
        if first != 1 {
            return Some((first >> 1) as usize);
        }
        return match *bytes.get(1)? {
            TAG_ON_DISK => Some(TOAST_POINTER_SIZE),
            _ => None,
        };
    }
    let word = bytes.first_chunk::<4>()?;
    let len = (u32::from_le_bytes(*word) >> 2) as usize;
    if len < HEADER_SIZE { None } else { Some(len) }
}

/// Size of the value after detoasting, with its header; 0 if it is damaged. Counterpart:
/// `toast_raw_datum_size`.
pub fn raw_datum_size(bytes: &[u8]) -> usize {
    match Varlena::parse(bytes) {
        Some(Varlena::Plain(payload)) => payload.len() + HEADER_SIZE,
        Some(Varlena::Compressed { raw_size, .. }) => raw_size + HEADER_SIZE,
        Some(Varlena::External(pointer)) => pointer.raw_size as usize,
        None => 0,
    }
}

/// The four header bytes for a payload of `len` bytes.
#[inline]
pub fn long_header(len: usize) -> [u8; 4] {
    (((len + HEADER_SIZE) as u32) << 2).to_le_bytes()
}

/// True if the value at the front of `bytes` is a TOAST pointer.
pub fn is_external(bytes: &[u8]) -> bool {
    bytes.first() == Some(&1)
}

/// True if the value at the front of `bytes` is compressed in place.
pub fn is_compressed(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|b| b & 3 == 2)
}

/// True if the value at the front of `bytes` has the short form (and is no TOAST pointer).
pub fn is_short(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|b| b & 1 == 1 && *b != 1)
}

/// `payload` with a four-byte header.
pub fn plain(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + HEADER_SIZE);
    out.extend_from_slice(&long_header(payload.len()));
    out.extend_from_slice(payload);
    out
}

/// The compressed form: `data` compressed by `method` from `raw_size` payload bytes.
pub fn compressed(raw_size: usize, method: Compression, data: &[u8]) -> Vec<u8> {
    let total = data.len() + COMPRESSED_HEADER_SIZE;
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(&((total as u32) << 2 | 2).to_le_bytes());
    out.extend_from_slice(&(raw_size as u32 & SIZE_MASK | (method as u32) << 30).to_le_bytes());
    out.extend_from_slice(data);
    out
}
