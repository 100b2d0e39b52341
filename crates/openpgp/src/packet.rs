//! Packets: their headers, and sources of their contents (RFC 4880, 4.2).
//!
//! Counterpart: pgp-decrypt.c (`pgp_parse_pkt_hdr`, `pktreader_pull`).

use crate::error::Fault;
use crate::host::Context;
use crate::source::{Source, read_byte};
use pgerror::Result;

/// Numbers of kinds of packets.
pub(crate) mod tag {
    pub(crate) const PUBLIC_SESSION_KEY: u8 = 1;
    pub(crate) const SIGNATURE: u8 = 2;
    pub(crate) const SYMMETRIC_SESSION_KEY: u8 = 3;
    pub(crate) const SECRET_KEY: u8 = 5;
    pub(crate) const PUBLIC_KEY: u8 = 6;
    pub(crate) const SECRET_SUBKEY: u8 = 7;
    pub(crate) const COMPRESSED: u8 = 8;
    pub(crate) const ENCRYPTED: u8 = 9;
    pub(crate) const MARKER: u8 = 10;
    pub(crate) const LITERAL: u8 = 11;
    pub(crate) const TRUST: u8 = 12;
    pub(crate) const USER_ID: u8 = 13;
    pub(crate) const PUBLIC_SUBKEY: u8 = 14;
    pub(crate) const USER_ATTRIBUTE: u8 = 17;
    pub(crate) const ENCRYPTED_WITH_MDC: u8 = 18;
    pub(crate) const MDC: u8 = 19;
    /// GnuPG's comment.
    pub(crate) const COMMENT: u8 = 61;
}

/// The longest packet, or part of one.
const PART_BYTES_MAX: u32 = 16 << 20;

/// The length of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    Whole(usize),
    /// The first part has this length, and the header of the next part is behind it.
    Partial(usize),
    /// The packet ends where its source ends.
    Indeterminate,
}

/// The header of a packet.
pub(crate) struct Header {
    pub(crate) tag: u8,
    pub(crate) length: Length,
}

fn checked(cx: &Context<'_>, length: u32, what: &str) -> Result<usize> {
    if length > PART_BYTES_MAX {
        cx.debug(format_args!("{what}: weird length"));
        return Err(Fault::CorruptData.into());
    }
    Ok(length as usize)
}

fn read_number(cx: &Context<'_>, source: &mut dyn Source, bytes: u32) -> Result<u32> {
    (0..bytes).try_fold(0, |n: u32, _| Ok((n << 8) | u32::from(read_byte(cx, source)?)))
}

/// The length of a packet with the new kind of header, or of a part.
fn read_new_length(cx: &Context<'_>, source: &mut dyn Source) -> Result<Length> {
    let first = read_byte(cx, source)?;
    let length = match first {
        ..=191 => first.into(),
        192..=223 => ((u32::from(first) - 192) << 8) + 192 + u32::from(read_byte(cx, source)?),
        255 => read_number(cx, source, 4)?,
        _ => {
            let part = checked(cx, 1 << (first & 31), "parse_new_len")?;
            return Ok(Length::Partial(part));
        }
    };
    checked(cx, length, "parse_new_len").map(Length::Whole)
}

impl Header {
    /// The header of the next packet; `None` at the end of the source. `inside`: in a packet, where
    /// the length may be indeterminate.
    pub(crate) fn read(
        cx: &Context<'_>,
        source: &mut dyn Source,
        inside: bool,
    ) -> Result<Option<Header>> {
        let mut first = [0];
        if source.read(&mut first)? == 0 {
            return Ok(None);
        }
        let [first] = first;
        if first & 0x80 == 0 {
            cx.debug(format_args!("pgp_parse_pkt_hdr: not pkt hdr"));
            return Err(Fault::CorruptData.into());
        }
        if first & 0x40 != 0 {
            let length = read_new_length(cx, source)?;
            return Ok(Some(Header { tag: first & 0x3f, length }));
        }
        let length = match first & 3 {
            3 if inside => Length::Indeterminate,
            3 => return Err(Fault::CorruptData.into()),
            kind => {
                let length = read_number(cx, source, 1 << kind)?;
                Length::Whole(checked(cx, length, "parse_old_len")?)
            }
        };
        Ok(Some(Header { tag: (first >> 2) & 15, length }))
    }
}

/// The contents of a packet. They end early if the source does.
pub(crate) struct PacketReader<'a> {
    cx: &'a Context<'a>,
    source: &'a mut dyn Source,
    /// What is left of the packet or of the part.
    left: Length,
}

impl<'a> PacketReader<'a> {
    pub(crate) fn new(
        cx: &'a Context<'a>,
        source: &'a mut dyn Source,
        length: Length,
    ) -> PacketReader<'a> {
        PacketReader { cx, source, left: length }
    }
}

impl Source for PacketReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        while self.left == Length::Partial(0) {
            self.left = read_new_length(self.cx, self.source)?;
        }
        let left = match &mut self.left {
            Length::Whole(left) | Length::Partial(left) => left,
            Length::Indeterminate => return self.source.read(out),
        };
        let most = out.len().min(*left);
        if most == 0 {
            return Ok(0);
        }
        let count = self.source.read(&mut out[..most])?;
        *left -= count;
        Ok(count)
    }
}
