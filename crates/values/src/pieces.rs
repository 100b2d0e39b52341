//! Processing of long values in pieces, with a check for interrupts after each. A value may have up
//! to 1 GB. One pass over that many bytes can take seconds, but a statement must end soon after it
//! is cancelled.

use crate::datum::Datum;
use crate::fn_context::FnContext;
use crate::limits::{TextBuffer, allocate_payload};
use pgerror::Result;

/// Number of bytes between two checks.
pub const PIECE_BYTES: usize = 1 << 20;

/// Calls `work` with each piece of `bytes`, at least once.
#[inline]
pub fn each<'a>(
    cx: &dyn FnContext,
    bytes: &'a [u8],
    mut work: impl FnMut(&'a [u8]) -> Result<()>,
) -> Result<()> {
    let mut rest = bytes;
    loop {
        let (piece, more) = rest.split_at(rest.len().min(PIECE_BYTES));
        work(piece)?;
        if more.is_empty() {
            return Ok(());
        }
        cx.check_interrupts()?;
        rest = more;
    }
}

/// Like [`each`], for text: no piece ends within a character.
#[inline]
pub fn each_str(
    cx: &dyn FnContext,
    text: &str,
    mut work: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut rest = text;
    loop {
        let mut end = rest.len().min(PIECE_BYTES);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, more) = rest.split_at(end);
        work(piece)?;
        if more.is_empty() {
            return Ok(());
        }
        cx.check_interrupts()?;
        rest = more;
    }
}

/// Appends to a vector that has the capacity.
#[inline]
pub fn append(cx: &dyn FnContext, out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    each(cx, bytes, |piece| {
        out.extend_from_slice(piece);
        Ok(())
    })
}

/// Appends to a text buffer.
#[inline]
pub fn append_text(cx: &dyn FnContext, out: &mut TextBuffer, bytes: &[u8]) -> Result<()> {
    each(cx, bytes, |piece| {
        out.extend_from_slice(piece);
        Ok(())
    })
}

/// Appends repetitions of `period` until they have `total` bytes, for which the vector has the
/// capacity.
pub fn append_repeated(
    cx: &dyn FnContext,
    out: &mut Vec<u8>,
    period: &[u8],
    total: usize,
) -> Result<()> {
    let start = out.len();
    append(cx, out, &period[..period.len().min(total)])?;
    while let written = out.len() - start
        && written > 0
        && written < total
    {
        // Until the last iteration the result is a whole number of periods, so doubling it copies
        // large pieces.
        let more = written.min(total - written);
        for from in (0..more).step_by(PIECE_BYTES) {
            if from > 0 {
                cx.check_interrupts()?;
            }
            out.extend_from_within(start + from..start + more.min(from + PIECE_BYTES));
        }
    }
    Ok(())
}

/// Concatenates the parts to one value.
pub fn joined(cx: &dyn FnContext, parts: &[&[u8]]) -> Result<Datum> {
    let total = parts.iter().map(|p| p.len()).sum();
    let mut out = allocate_payload(total)?;
    for part in parts {
        append(cx, &mut out, part)?;
    }
    Ok(Datum::bytes(out))
}

/// Copies a part of an argument to a value of its own.
#[inline]
pub fn copied(cx: &dyn FnContext, bytes: &[u8]) -> Result<Datum> {
    if bytes.len() <= PIECE_BYTES { Ok(Datum::bytes(bytes)) } else { joined(cx, &[bytes]) }
}
