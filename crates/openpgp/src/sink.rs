//! Sinks of bytes, which write to each other.
//!
//! Counterpart: mbuf.c (`PushFilter`).

use crate::host::Context;
use pgerror::Result;
use values::limits::{ALLOCATION_BYTES_MAX, VARLENA_HEADER_BYTES, invalid_allocation};
use values::memory;

/// A receiver of bytes.
pub(crate) trait Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<()>;
}

/// A result in memory. Its limit is that of PostgreSQL's buffer, which is one allocation with a
/// header and free space at its end.
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// The size of PostgreSQL's buffer.
    buffer: usize,
}

/// PostgreSQL's buffer grows by a multiple of this.
const STEP_BYTES: usize = 16 * 1024;

impl Output {
    /// An empty result. `buffer`: the size of the buffer at first, without the header.
    pub(crate) fn new(buffer: usize) -> Output {
        Output { bytes: Vec::new(), buffer: buffer + VARLENA_HEADER_BYTES }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Sink for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.bytes.len() + VARLENA_HEADER_BYTES + bytes.len() > self.buffer {
            self.buffer += (bytes.len() + 2 * STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
        }
        if self.buffer > ALLOCATION_BYTES_MAX {
            return Err(invalid_allocation(self.buffer));
        }
        memory::append(&mut self.bytes, bytes)
    }
}

/// A packet whose length is not known before its end: parts of 16 kB, and a last part.
pub(crate) struct PacketWriter<'a> {
    cx: &'a Context<'a>,
    next: &'a mut dyn Sink,
    part: Vec<u8>,
}

const PART_SHIFT: u8 = 14;
const PART_BYTES: usize = 1 << PART_SHIFT;

/// The length of a packet, or of its last part.
pub(crate) fn length_header(length: usize) -> Vec<u8> {
    match length {
        ..=191 => vec![length as u8],
        192..=8383 => ((length - 192 + (192 << 8)) as u16).to_be_bytes().to_vec(),
        _ => {
            let mut out = vec![255];
            out.extend_from_slice(&(length as u32).to_be_bytes());
            out
        }
    }
}

impl<'a> PacketWriter<'a> {
    pub(crate) fn new(
        cx: &'a Context<'a>,
        next: &'a mut dyn Sink,
        tag: u8,
    ) -> Result<PacketWriter<'a>> {
        next.write(&[0xc0 | tag])?;
        Ok(PacketWriter { cx, next, part: Vec::with_capacity(PART_BYTES) })
    }

    /// Writes the last part.
    pub(crate) fn finish(self) -> Result<()> {
        self.next.write(&length_header(self.part.len()))?;
        self.next.write(&self.part)
    }
}

impl Sink for PacketWriter<'_> {
    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(PART_BYTES - self.part.len()));
            self.part.extend_from_slice(now);
            bytes = rest;
            if self.part.len() == PART_BYTES {
                self.next.write(&[0xe0 | PART_SHIFT])?;
                self.next.write(&self.part)?;
                self.part.clear();
                self.cx.check_interrupts()?;
            }
        }
        Ok(())
    }
}

/// Writes LF as CR LF.
pub(crate) struct NetworkLines<'a> {
    pub(crate) next: &'a mut dyn Sink,
}

impl Sink for NetworkLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            match line.strip_suffix(b"\n") {
                None => self.next.write(line)?,
                Some(line) => {
                    self.next.write(line)?;
                    self.next.write(b"\r\n")?;
                }
            }
        }
        Ok(())
    }
}

/// Writes CR LF as LF, if that is wanted. The text comes in pieces.
pub(crate) struct UnixLines {
    converts: bool,
    /// The last piece ended in CR.
    has_return: bool,
    converted: Vec<u8>,
}

impl UnixLines {
    pub(crate) fn new(converts: bool) -> UnixLines {
        UnixLines { converts, has_return: false, converted: Vec::new() }
    }

    pub(crate) fn write(&mut self, piece: &[u8], out: &mut dyn Sink) -> Result<()> {
        if !self.converts {
            return out.write(piece);
        }
        self.converted.clear();
        for &byte in piece {
            if self.has_return && byte != b'\n' {
                self.converted.push(b'\r');
            }
            self.has_return = byte == b'\r';
            if !self.has_return {
                self.converted.push(byte);
            }
        }
        out.write(&self.converted)
    }

    /// Writes what was held back.
    pub(crate) fn finish(&mut self, out: &mut dyn Sink) -> Result<()> {
        if self.has_return { out.write(b"\r") } else { Ok(()) }
    }
}
