//! Sources of bytes, which read from each other.
//!
//! Counterpart: mbuf.c (`PullFilter`).

use crate::error::Fault;
use crate::host::Context;
use pgerror::Result;

/// A sequence of bytes that is read once.
pub(crate) trait Source {
    /// Reads up to `out.len()` bytes; 0 only at the end.
    fn read(&mut self, out: &mut [u8]) -> Result<usize>;
}

/// The largest number of bytes that one call reads.
pub(crate) const READ_BYTES: usize = 8192;

/// Bytes in memory.
impl Source for &[u8] {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let (now, rest) = self.split_at(self.len().min(out.len()));
        out[..now.len()].copy_from_slice(now);
        *self = rest;
        Ok(now.len())
    }
}

/// Reads until `out` is full or the source ends.
pub(crate) fn read_most(source: &mut dyn Source, out: &mut [u8]) -> Result<usize> {
    let mut total = 0;
    while total < out.len() {
        match source.read(&mut out[total..])? {
            0 => break,
            count => total += count,
        }
    }
    Ok(total)
}

/// Fills `out`. It is an error if the source has fewer bytes.
pub(crate) fn read_exact(cx: &Context<'_>, source: &mut dyn Source, out: &mut [u8]) -> Result<()> {
    let count = read_most(source, out)?;
    if count == out.len() {
        return Ok(());
    }
    cx.debug(format_args!("pullf_read_fixed: need={} got={count}", out.len()));
    Err(Fault::CorruptData.into())
}

pub(crate) fn read_byte(cx: &Context<'_>, source: &mut dyn Source) -> Result<u8> {
    let mut byte = [0];
    read_exact(cx, source, &mut byte)?;
    Ok(byte[0])
}

/// Reads to the end.
pub(crate) fn skip(cx: &Context<'_>, source: &mut dyn Source) -> Result<()> {
    let mut buffer = [0; READ_BYTES];
    while source.read(&mut buffer)? > 0 {
        cx.check_interrupts()?;
    }
    Ok(())
}

/// An error if the source has more bytes.
pub(crate) fn expect_end(cx: &Context<'_>, source: &mut dyn Source) -> Result<()> {
    if source.read(&mut [0])? > 0 {
        cx.debug(format_args!("pgp_expect_packet_end: got data"));
        return Err(Fault::CorruptData.into());
    }
    Ok(())
}
