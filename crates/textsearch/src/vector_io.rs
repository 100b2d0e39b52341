//! Input, output, receive and send functions of tsvector. Counterpart: tsvector.c.

use crate::ctype::Ctype;
use crate::lexeme_reader::{Form, LexemeReader};
use crate::limits::{POSITIONS_MAX, TEXT_BYTES_MAX};
use crate::vector::{Position, Vector, VectorBuilder, check_lexeme, text_too_long};
use pgerror::{PgError, Result};
use std::borrow::Cow;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::limits::TextBuffer;
use values::type_io::Reader;

/// A lexeme with its positions, as it was read.
type Word = (Box<[u8]>, Vec<Position>);

/// Sorts the positions of a lexeme; of two equal ones the heavier is kept.
fn sort_positions(positions: &mut Vec<Position>) {
    positions.sort_by_key(|p| p.place());
    positions.dedup_by(|next, kept| {
        let same = next.place() == kept.place();
        if same && next.weight() > kept.weight() {
            *kept = *next;
        }
        same
    });
    positions.truncate(POSITIONS_MAX);
}

/// A vector of these words, which are sorted and merged.
fn build(mut words: Vec<Word>) -> Result<Vec<u8>> {
    words.sort_by(|a, b| a.0.cmp(&b.0));
    words.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1.append(&mut next.1);
        }
        same
    });
    let mut out = VectorBuilder::default();
    for (word, positions) in &mut words {
        sort_positions(positions);
        out.push(word, positions.iter().copied());
    }
    out.finish()
}

pub(crate) fn input(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let interrupts = InterruptChecker::new(cx);
    let mut reader = LexemeReader::new(text, Ctype::of(cx.settings()), Form::Vector);
    let mut words: Vec<Word> = Vec::new();
    let mut bytes = 0;
    while reader.next()? {
        interrupts.tick()?;
        check_lexeme(reader.word.len())?;
        if bytes > TEXT_BYTES_MAX {
            return Err(text_too_long(bytes));
        }
        bytes += reader.word.len();
        words.push((reader.word.as_slice().into(), std::mem::take(&mut reader.positions)));
    }
    Ok(Datum::bytes(build(words)?))
}

/// Appends a lexeme in quotes, with quotes and backslashes doubled.
pub(crate) fn push_quoted(out: &mut TextBuffer, lexeme: &[u8]) {
    out.push(b'\'');
    for part in lexeme.split_inclusive(|c| matches!(c, b'\'' | b'\\')) {
        out.extend_from_slice(part);
        if let Some(c @ (b'\'' | b'\\')) = part.last() {
            out.push(*c);
        }
    }
    out.push(b'\'');
}

/// The text of a vector; an error if its payload is damaged.
pub fn vector_text(payload: &[u8]) -> Result<Vec<u8>> {
    let vector = Vector::new(payload);
    vector.check()?;
    let mut out = TextBuffer::new();
    for i in 0..vector.len() {
        if i > 0 {
            out.push(b' ');
        }
        push_quoted(&mut out, vector.lexeme(i));
        for (n, p) in vector.positions(i).enumerate() {
            out.push(if n == 0 { b':' } else { b',' });
            out.extend_from_slice(p.place().to_string().as_bytes());
            out.extend_from_slice([&b""[..], b"C", b"B", b"A"][usize::from(p.weight())]);
        }
    }
    out.into_bytes()
}

pub(crate) fn send(cx: &dyn FnContext, payload: &[u8]) -> Result<Datum> {
    let vector = Vector::new(payload);
    let mut out = (vector.len() as u32).to_be_bytes().to_vec();
    for i in 0..vector.len() {
        out.extend_from_slice(&values::text::for_client(cx, vector.lexeme(i))?);
        out.push(0);
        let positions = vector.positions(i);
        out.extend((positions.len() as u16).to_be_bytes());
        positions.for_each(|p| out.extend(p.0.to_be_bytes()));
    }
    Ok(Datum::bytes(out))
}

/// A text in a binary message, up to its terminating zero.
pub(crate) fn receive_text<'a>(
    cx: &dyn FnContext,
    reader: &mut Reader<'a>,
) -> Result<Cow<'a, [u8]>> {
    let rest = reader.rest();
    let Some(len) = rest.iter().position(|&c| c == 0) else {
        return Err(pgerror::pg_err!(PROTOCOL_VIOLATION, "invalid string in message"));
    };
    let text = reader.bytes(len)?;
    reader.bytes(1)?;
    values::text::from_client(cx, text)
}

pub(crate) fn receive(cx: &dyn FnContext, message: DatumRef<'_>) -> Result<Datum> {
    let mut reader = Reader::new(message.as_bytes());
    let count = reader.i32()?;
    if usize::try_from(count).map_or(true, |count| count > TEXT_BYTES_MAX) {
        return Err(PgError::internal("invalid size of tsvector"));
    }
    let mut words: Vec<Word> = Vec::new();
    let mut bytes = 0;
    for _ in 0..count {
        let lexeme = receive_text(cx, &mut reader)?;
        let positions = usize::from(reader.i16()? as u16);
        if lexeme.is_empty() {
            return Err(PgError::internal("invalid tsvector: empty lexeme"));
        }
        if lexeme.len() > crate::limits::LEXEME_BYTES_LIMIT {
            return Err(PgError::internal("invalid tsvector: lexeme too long"));
        }
        if bytes > TEXT_BYTES_MAX {
            return Err(PgError::internal(
                "invalid tsvector: maximum total lexeme length exceeded",
            ));
        }
        if positions > POSITIONS_MAX {
            return Err(PgError::internal("unexpected number of tsvector positions"));
        }
        let mut list: Vec<Position> = Vec::with_capacity(positions);
        for _ in 0..positions {
            let next = Position(reader.i16()? as u16);
            if list.last().is_some_and(|last| next.place() <= last.place()) {
                return Err(PgError::internal("position information is misordered"));
            }
            list.push(next);
        }
        bytes += lexeme.len();
        if positions > 0 {
            bytes = bytes.next_multiple_of(2) + 2 + 2 * positions;
        }
        words.push((lexeme.into(), list));
    }
    reader.end()?;
    words.sort_by(|a, b| a.0.cmp(&b.0));
    let mut out = VectorBuilder::default();
    words.iter().for_each(|(word, list)| out.push(word, list.iter().copied()));
    Ok(Datum::bytes(out.finish()?))
}
