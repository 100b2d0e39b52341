//! Double-quoted text within array and row values, and in JSON.

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

/// Appends a short JSON string, without checks for interrupts.
pub fn json_string(out: &mut TextBuffer, text: &[u8]) {
    out.push(b'"');
    json_escaped(out, text);
    out.push(b'"');
}

/// Appends the contents of a JSON string, escaped.
pub fn json_escaped(out: &mut TextBuffer, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|c| matches!(c, b'"' | b'\\' | 0..0x20)) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            c @ 0..0x20 => {
                let digit = |n: u8| b"0123456789abcdef"[usize::from(n & 15)];
                out.extend_printed(&[b"\\u00", &[digit(c >> 4), digit(c)]]);
            }
            c => out.extend_from_slice(&[b'\\', c]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}
