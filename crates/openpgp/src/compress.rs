//! Compressed data: zip is DEFLATE alone, zlib has a header and a checksum.
//!
//! The decompressor holds one piece of output at a time, so a small message that decompresses to
//! many bytes needs memory only for what its reader keeps.
//!
//! Counterpart: pgp-compress.c.

use crate::algorithms::ZLIB;
use crate::error::Fault;
use crate::host::Context;
use crate::sink::Sink;
use crate::source::{READ_BYTES, Source};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use pgerror::Result;

/// Decompressed bytes of a source.
pub(crate) struct Inflate<'a> {
    cx: &'a Context<'a>,
    source: &'a mut dyn Source,
    state: Decompress,
    input: Vec<u8>,
    /// The part of `input` that is not decompressed yet.
    unread: std::ops::Range<usize>,
    output: Vec<u8>,
    /// How much of `output` has been read.
    taken: usize,
    ended: bool,
}

impl<'a> Inflate<'a> {
    /// `algorithm`: zip or zlib.
    pub(crate) fn new(
        cx: &'a Context<'a>,
        source: &'a mut dyn Source,
        algorithm: u8,
    ) -> Inflate<'a> {
        Inflate {
            cx,
            source,
            state: Decompress::new(algorithm == ZLIB),
            input: vec![0; READ_BYTES],
            unread: 0..0,
            output: Vec::with_capacity(READ_BYTES),
            taken: 0,
            ended: false,
        }
    }

    fn corrupt(&self, message: std::fmt::Arguments<'_>) -> pgerror::PgError {
        self.cx.debug(format_args!("decompress_read: {message}"));
        Fault::CorruptData.into()
    }

    /// Decompresses the next piece.
    fn fill(&mut self) -> Result<()> {
        self.cx.check_interrupts()?;
        if self.unread.is_empty() {
            self.unread = 0..self.source.read(&mut self.input)?;
        }
        let input = &self.input[self.unread.clone()];
        let last = input.is_empty();
        let flush = if last { FlushDecompress::Finish } else { FlushDecompress::Sync };
        let before = self.state.total_in();
        self.taken = 0;
        self.output.clear();
        let status = self.state.decompress_vec(input, &mut self.output, flush);
        self.unread.start += (self.state.total_in() - before) as usize;
        match status {
            Ok(Status::Ok) => Ok(()),
            Ok(Status::StreamEnd) => {
                // Also reads the empty part that may end the packet.
                if self.source.read(&mut [0])? > 0 {
                    return Err(self.corrupt(format_args!("extra bytes after end of stream")));
                }
                self.ended = true;
                Ok(())
            }
            Ok(Status::BufError) => Err(self.corrupt(format_args!("inflate error: -5"))),
            Err(_) => Err(self.corrupt(format_args!("inflate error: -3"))),
        }
    }
}

impl Source for Inflate<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        while self.taken == self.output.len() {
            if self.ended {
                return Ok(0);
            }
            self.fill()?;
        }
        let ready = &self.output[self.taken..];
        let count = ready.len().min(out.len());
        out[..count].copy_from_slice(&ready[..count]);
        self.taken += count;
        Ok(count)
    }
}

/// Compresses what is written.
pub(crate) struct Deflate<'a> {
    next: &'a mut dyn Sink,
    state: Compress,
    output: Vec<u8>,
}

impl<'a> Deflate<'a> {
    /// `algorithm`: zip or zlib.
    pub(crate) fn new(next: &'a mut dyn Sink, algorithm: u8, level: u32) -> Deflate<'a> {
        let state = Compress::new(Compression::new(level), algorithm == ZLIB);
        Deflate { next, state, output: Vec::with_capacity(READ_BYTES) }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<()> {
        while self.step(&[], FlushCompress::Finish)?.1 != Status::StreamEnd {}
        Ok(())
    }

    /// Compresses some of the input; how much, and the state after it.
    fn step(&mut self, input: &[u8], flush: FlushCompress) -> Result<(usize, Status)> {
        let before = self.state.total_in();
        self.output.clear();
        let status = self.state.compress_vec(input, &mut self.output, flush);
        let status = status.map_err(|_| Fault::Internal)?;
        self.next.write(&self.output)?;
        Ok(((self.state.total_in() - before) as usize, status))
    }
}

impl Sink for Deflate<'_> {
    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let piece = &bytes[..bytes.len().min(READ_BYTES)];
            let (count, _) = self.step(piece, FlushCompress::None)?;
            bytes = &bytes[count..];
        }
        Ok(())
    }
}
