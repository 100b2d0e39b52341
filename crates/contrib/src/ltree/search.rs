//! ltxtquery: conditions on the labels of a path, wherever they are in it.
//!
//! ```text
//! u32 count of items; items of 12 bytes; the words, each with a zero byte
//! item: i16 kind, i16 distance of the left operand, i32 checksum or operator,
//!       u8 flags, u8 length of the word, u16 offset of the word
//! ```
//!
//! An operator is before its operands, the right one first. As in intarray, a `|` after a pending
//! operator is applied at once.

use super::label::{self, flag_of, push_flags};
use super::value::{Ltree, char_at, is_label_char, received, sent};
use crate::citext::ascii_only;
use crate::condition::{self, Builder};
use pgerror::{PgError, Result, SqlState, pg_err};
use types::textsearch::ctype::Ctype;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::allocate_payload;

const WORD: i16 = 2;
const OPERATOR: i16 = 3;
const ITEM_BYTES: usize = 12;
/// Number of pending operators at one level of parentheses at most.
const PENDING_MAX: usize = 32;

/// A word of the text.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a [u8],
    flags: u8,
}

type Item<'a> = condition::Item<Word<'a>>;

fn syntax_error(message: &str) -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, message)
}

struct Parser<'a> {
    text: &'a [u8],
    ctype: Ctype,
    at: usize,
    out: Builder<Word<'a>>,
    /// Length of the words so far, with their zero bytes.
    words_bytes: usize,
}

impl<'a> Parser<'a> {
    fn operator(&mut self, op: u8) -> Result<()> {
        match self.out.operator(op) {
            true => Ok(()),
            false => Err(PgError::internal("stack too short")),
        }
    }

    /// Reads a word and its flags.
    fn word(&mut self) -> Result<()> {
        let (start, mut end, mut flags) = (self.at, self.at, 0);
        while let Some((c, length)) = char_at(self.ctype, self.text, self.at) {
            if is_label_char(self.ctype, c) {
                if flags != 0 {
                    return Err(syntax_error("modifiers syntax error"));
                }
                end = self.at + length;
            } else if let Some(flag) = flag_of(c) {
                flags |= flag;
            } else {
                break;
            }
            self.at += length;
        }
        let text = &self.text[start..end];
        let refused = match text.len() {
            length if length > 0xffff => Some("word is too long"),
            _ if self.words_bytes > 0xffff => Some("value is too big"),
            length if length > 0xff => Some("operand is too long"),
            _ => None,
        };
        if let Some(message) = refused {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        }
        self.words_bytes += text.len() + 1;
        self.out.value(Word { text, flags });
        Ok(())
    }

    fn parse(mut self, cx: &dyn FnContext) -> Result<Vec<Item<'a>>> {
        let mut ticker = InterruptTicker::default();
        let mut wants_operand = true;
        loop {
            ticker.tick(cx)?;
            let next = char_at(self.ctype, self.text, self.at);
            let (c, length) = next.unwrap_or((0, 0));
            let sign = if length == 1 { u8::try_from(c).unwrap_or(0) } else { 0 };
            if wants_operand {
                match sign {
                    b'!' => self.operator(b'!')?,
                    b'(' => self.out.open(),
                    _ if next.is_some() && is_label_char(self.ctype, c) => {
                        self.word()?;
                        wants_operand = false;
                        continue;
                    }
                    _ if next.is_some() && self.ctype.is_space(c) => {}
                    _ => return Err(syntax_error("operand syntax error")),
                }
            } else {
                match sign {
                    b'&' | b'|' => {
                        self.operator(sign)?;
                        wants_operand = true;
                    }
                    b')' if self.out.is_open() => self.out.close(),
                    b' ' => {}
                    _ if next.is_none() && !self.out.is_open() => return Ok(self.out.finish()),
                    // Characters of several bytes are skipped, as in PostgreSQL.
                    _ if length > 1 => {}
                    _ => return Err(syntax_error("syntax error")),
                }
            }
            self.at += length;
        }
    }
}

/// The stored form.
fn encode(items: &[Item<'_>]) -> Result<Datum> {
    let words = items.iter().map(|item| match item {
        Item::Value(word) => word.text.len() + 1,
        Item::Operator(_) => 0,
    });
    let mut out = allocate_payload(4 + ITEM_BYTES * items.len() + words.sum::<usize>())?;
    out.extend_from_slice(&(items.len() as u32).to_le_bytes());
    let mut encoded: Vec<[u8; ITEM_BYTES]> = Vec::with_capacity(items.len());
    let mut texts = Vec::new();
    for (item, distance) in items.iter().zip(condition::distances(items)) {
        let mut bytes = [0; ITEM_BYTES];
        let (kind, value) = match item {
            Item::Value(word) => {
                bytes[8] = word.flags;
                bytes[9] = word.text.len() as u8;
                bytes[10..].copy_from_slice(&(texts.len() as u16).to_le_bytes());
                texts.extend_from_slice(word.text);
                texts.push(0);
                (WORD, label::checksum(word.text))
            }
            Item::Operator(op) => (OPERATOR, u32::from(*op)),
        };
        let left = i16::try_from(distance)
            .map_err(|_| pg_err!(PROGRAM_LIMIT_EXCEEDED, "ltxtquery is too large"))?;
        bytes[..2].copy_from_slice(&kind.to_le_bytes());
        bytes[2..4].copy_from_slice(&left.to_le_bytes());
        bytes[4..8].copy_from_slice(&value.to_le_bytes());
        encoded.push(bytes);
    }
    encoded.iter().rev().for_each(|item| out.extend_from_slice(item));
    out.extend_from_slice(&texts);
    Ok(Datum::bytes(out))
}

/// The items in the order of evaluation.
fn items(d: DatumRef<'_>) -> Vec<Item<'_>> {
    let bytes = d.as_bytes();
    let count = bytes.first_chunk().map_or(0, |b| u32::from_le_bytes(*b)) as usize;
    let end = count.saturating_mul(ITEM_BYTES).saturating_add(4);
    let encoded = bytes.get(4..end).unwrap_or_default().chunks_exact(ITEM_BYTES);
    let texts = bytes.get(end..).unwrap_or_default();
    let item = |b: &[u8]| match i16::from_le_bytes([b[0], b[1]]) {
        OPERATOR => Item::Operator(b[4]),
        _ => {
            let start = usize::from(u16::from_le_bytes([b[10], b[11]]));
            let text = texts.get(start..start + usize::from(b[9])).unwrap_or_default();
            Item::Value(Word { text, flags: b[8] })
        }
    };
    encoded.rev().map(item).collect()
}

fn input(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let ctype = Ctype::of(cx.settings());
    let out = Builder::new(PENDING_MAX);
    encode(&Parser { text, ctype, at: 0, out, words_bytes: 0 }.parse(cx)?)
}

fn output(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Vec<u8>> {
    let text = condition::text(cx, items(d), |word| {
        let mut text = word.text.to_vec();
        push_flags(word.flags, &mut text);
        text
    });
    text?.ok_or_else(|| syntax_error("syntax error").detail("Empty query."))
}

/// Whether a path fulfils the condition.
pub(super) fn matches(cx: &dyn FnContext, tree: DatumRef<'_>, query: DatumRef<'_>) -> Result<bool> {
    let ascii = ascii_only(cx);
    let labels: Vec<&[u8]> = Ltree::new(tree).labels().collect();
    condition::holds(items(query), |word| {
        labels.iter().any(|l| label::matches(word.text, l, word.flags, ascii))
    })
}

scalars! { FNS;
    "ltxtq_in" => |cx, a| input(cx, a[0].as_bytes()),
    "ltxtq_out" => |cx, a| output(cx, a[0]).map(Datum::bytes),
    "ltxtq_recv" => |cx, a| input(cx, received(cx, a[0].as_bytes(), "ltxtquery")?),
    "ltxtq_send" => |cx, a| Ok(sent(&output(cx, a[0])?)),
    "ltxtq_exec" => |cx, a| Ok(Datum::bool(matches(cx, a[0], a[1])?)),
    "ltxtq_rexec" => |cx, a| Ok(Datum::bool(matches(cx, a[1], a[0])?)),
}
