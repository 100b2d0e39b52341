//! Double-quoted text within array and row values.

use crate::fn_context::FnContext;
use crate::limits::TextBuffer;
use pgerror::Result;

/// Number of bytes between two checks for interrupts.
const PART_BYTES: usize = 64 * 1024;

/// How a quote or a backslash is escaped in quoted text.
#[derive(Clone, Copy, PartialEq)]
pub enum Escape {
    /// By a backslash before it (arrays).
    Backslash,
    /// By doubling it (rows).
    Double,
}

/// Appends `text` in double quotes. An error if the query is cancelled, or if the buffer is full.
pub fn push(cx: &dyn FnContext, out: &mut TextBuffer, text: &[u8], escape: Escape) -> Result<()> {
    out.push(b'"');
    escaped(cx, out, text, [b'"', b'\\'], escape)?;
    out.push(b'"');
    Ok(())
}

/// Appends `text` with an escape before each of two bytes.
pub fn escaped(
    cx: &dyn FnContext,
    out: &mut TextBuffer,
    text: &[u8],
    special: [u8; 2],
    escape: Escape,
) -> Result<()> {
    for (i, part) in text.chunks(PART_BYTES).enumerate() {
        if i > 0 {
            // Nested rows double their quotes at each level, so the text may become very long.
            cx.check_interrupts()?;
            out.check()?;
        }
        let mut from = 0;
        for at in memchr::memchr2_iter(special[0], special[1], part) {
            out.extend_from_slice(&part[from..at]);
            out.push(if escape == Escape::Double { part[at] } else { b'\\' });
            from = at;
        }
        out.extend_from_slice(&part[from..]);
    }
    Ok(())
}
