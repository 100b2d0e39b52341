//! The stored form of ltree and its text.
//!
//! ```text
//! u16 count, two bytes
//! labels: u16 length, bytes; each takes a multiple of eight bytes
//! ```

use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::borrow::Cow;
use std::cmp::Ordering;
use types::textsearch::ctype::Ctype;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::{TextBuffer, allocate_payload};
use values::type_io::Reader;

/// Number of labels of a path, and of levels of a pattern, at most.
pub(super) const LEVELS_MAX: usize = 65_535;
/// Number of characters of a label at most.
const LABEL_CHARS_MAX: i64 = 255;
/// Offset of the labels.
const LABELS_AT: usize = 4;
/// The version byte of the binary forms.
const VERSION: u8 = 1;

/// A path.
#[derive(Clone, Copy)]
pub(super) struct Ltree<'a>(&'a [u8]);

fn word(bytes: &[u8], at: usize) -> usize {
    let word = bytes.get(at..).and_then(|b| b.first_chunk());
    usize::from(word.map_or(0, |b| u16::from_le_bytes(*b)))
}

/// The bytes that a label of this length takes.
fn label_size(length: usize) -> usize {
    (2 + length).next_multiple_of(8)
}

impl<'a> Ltree<'a> {
    pub fn new(d: DatumRef<'a>) -> Ltree<'a> {
        Ltree(d.as_bytes())
    }

    /// Number of labels, each of which has at least 8 bytes.
    pub fn len(self) -> usize {
        word(self.0, 0).min(self.0.len() / 8)
    }

    pub fn labels(self) -> impl Iterator<Item = &'a [u8]> {
        let mut at = LABELS_AT;
        (0..self.len()).map(move |_| {
            let length = word(self.0, at);
            let label = self.0.get(at + 2..at + 2 + length).unwrap_or_default();
            at += label_size(length);
            label
        })
    }

    /// Whether `self` is an ancestor of another path, or equals it.
    pub fn is_ancestor_of(self, other: Ltree<'_>) -> bool {
        self.len() <= other.len() && self.labels().zip(other.labels()).all(|(a, b)| a == b)
    }

    /// The path as text.
    pub fn text(self) -> Result<Vec<u8>> {
        let mut out = TextBuffer::with_capacity(self.0.len());
        for (i, label) in self.labels().enumerate() {
            if i > 0 {
                out.push(b'.');
            }
            out.extend_from_slice(label);
        }
        out.into_bytes()
    }
}

/// The path of these labels.
pub(super) fn build<'a>(labels: impl Iterator<Item = &'a [u8]> + Clone) -> Result<Datum> {
    let count = labels.clone().count();
    with_count(count, labels)
}

/// An empty path (number of labels 0) whose payload still contains the bytes of these labels, as
/// PostgreSQL forms it.
pub(super) fn empty_with(labels: &[&[u8]]) -> Result<Datum> {
    with_count(0, labels.iter().copied())
}

/// A value with the bytes of labels, of which `count` are those of the path.
fn with_count<'a>(count: usize, labels: impl Iterator<Item = &'a [u8]> + Clone) -> Result<Datum> {
    let bytes = labels.clone().fold(LABELS_AT, |sum, label| sum + label_size(label.len()));
    let mut out = allocate_payload(bytes)?;
    out.extend_from_slice(&(count as u16).to_le_bytes());
    out.resize(LABELS_AT, 0);
    for label in labels {
        let end = out.len() + label_size(label.len());
        out.extend_from_slice(&(label.len() as u16).to_le_bytes());
        out.extend_from_slice(label);
        out.resize(end, 0);
    }
    Ok(Datum::bytes(out))
}

/// The order of two paths: by their labels, byte by byte. The collation is ignored.
pub(super) fn order(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    Ltree::new(a).labels().cmp(Ltree::new(b).labels())
}

/// The character at a position of a text, with its length in bytes.
pub(super) fn char_at(ctype: Ctype, text: &[u8], at: usize) -> Option<(u32, usize)> {
    (at < text.len()).then(|| ctype.char_at(text, at))
}

/// Whether a character can be in a label.
pub(super) fn is_label_char(ctype: Ctype, c: u32) -> bool {
    ctype.is_alpha(c) || u8::try_from(c).is_ok_and(|c| c.is_ascii_digit() || c == b'_')
}

/// 42622 if a label is too long. `position` is that of the character behind it, from 1.
pub(super) fn check_label(chars: i64, position: i64) -> Result<()> {
    if chars <= LABEL_CHARS_MAX {
        return Ok(());
    }
    Err(pg_err!(NAME_TOO_LONG, "label string is too long").detail(format!(
        "Label length is {chars}, must be at most {LABEL_CHARS_MAX}, at character {position}."
    )))
}

/// 42601 at a character.
#[cold]
pub(super) fn unexpected(what: &str, position: i64) -> PgError {
    pg_err!(SYNTAX_ERROR, "{what} syntax error at character {position}")
}

/// 42601 at the end of the text.
#[cold]
pub(super) fn unexpected_end(what: &str) -> PgError {
    pg_err!(SYNTAX_ERROR, "{what} syntax error").detail("Unexpected end of input.")
}

/// Number of characters that are `wanted`.
pub(super) fn count(ctype: Ctype, text: &[u8], wanted: u8) -> usize {
    let (mut at, mut n) = (0, 0);
    while let Some((c, length)) = char_at(ctype, text, at) {
        n += usize::from(c == u32::from(wanted));
        at += length;
    }
    n
}

/// Parses a path.
pub(super) fn parse(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let ctype = Ctype::of(cx.settings());
    let levels = count(ctype, text, b'.') + 1;
    if levels > LEVELS_MAX {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of ltree labels ({levels}) exceeds the maximum allowed ({LEVELS_MAX})"
        ));
    }
    let mut ticker = InterruptTicker::default();
    let mut labels: Vec<&[u8]> = Vec::new();
    let (mut at, mut position) = (0, 1);
    // The start and the number of characters of the label that is being read.
    let mut label: Option<(usize, i64)> = None;
    while let Some((c, length)) = char_at(ctype, text, at) {
        ticker.tick(cx)?;
        label = match label {
            None if is_label_char(ctype, c) => Some((at, 1)),
            Some((start, chars)) if c == u32::from(b'.') => {
                check_label(chars, position)?;
                labels.push(&text[start..at]);
                None
            }
            Some((start, chars)) if is_label_char(ctype, c) => Some((start, chars + 1)),
            _ => return Err(unexpected("ltree", position)),
        };
        at += length;
        position += 1;
    }
    match label {
        Some((start, chars)) => {
            check_label(chars, position)?;
            labels.push(&text[start..]);
        }
        None if labels.is_empty() => {}
        None => return Err(unexpected_end("ltree")),
    }
    build(labels.into_iter())
}

/// The text of a message in binary form. `what` is the type.
pub(super) fn received<'a>(
    cx: &dyn FnContext,
    message: &'a [u8],
    what: &str,
) -> Result<Cow<'a, [u8]>> {
    let version = Reader::new(message).u8()?;
    if version != VERSION {
        return Err(PgError::internal(format!("unsupported {what} version number {version}")));
    }
    values::text::from_client(cx, &message[1..])
}

/// The binary form of a text.
pub(super) fn sent(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let text = values::text::for_client(cx, text)?;
    Ok(Datum::bytes([&[VERSION], &text[..]].concat()))
}

scalars! { FNS;
    "ltree_in" => |cx, a| parse(cx, a[0].as_bytes()),
    "ltree_out" => |_, a| Ltree::new(a[0]).text().map(Datum::bytes),
    "ltree_recv" => |cx, a| parse(cx, &received(cx, a[0].as_bytes(), "ltree")?),
    "ltree_send" => |cx, a| sent(cx, &Ltree::new(a[0]).text()?),
    "text2ltree" => |cx, a| parse(cx, a[0].as_bytes()),
    "ltree2text" => |_, a| Ltree::new(a[0]).text().map(Datum::bytes),
}
