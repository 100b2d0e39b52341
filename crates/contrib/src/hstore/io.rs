//! Text and binary form: `"key"=>"value", "other"=>NULL`.

use super::value::{Hstore, Pair, build};
use pgerror::{PgError, Result, pg_err};
use std::borrow::Cow;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::TextBuffer;
use values::text::{char_len, for_client, from_client};
use values::type_io::{Reader, is_space};

/// Reads the text form.
struct Parser<'a, 'c> {
    text: &'a [u8],
    at: usize,
    cx: &'c dyn FnContext,
}

/// A word, and whether it was quoted.
struct Word {
    bytes: Vec<u8>,
    quoted: bool,
}

fn unexpected_end() -> PgError {
    PgError::internal("Unexpected end of string")
}

impl Parser<'_, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn syntax_error(&self) -> PgError {
        let rest = &self.text[self.at..];
        let length = char_len(rest, self.cx.settings().encoding).clamp(1, rest.len().max(1));
        let near = String::from_utf8_lossy(&rest[..length.min(rest.len())]);
        PgError::internal(format!("Syntax error near \"{near}\" at position {}", self.at))
    }

    /// The next word; `None` at the end of the text. A key ends before `=`, a value before a comma.
    fn word(&mut self, is_value: bool) -> Result<Option<Word>> {
        self.skip_space();
        let Some(first) = self.peek() else { return Ok(None) };
        let mut bytes = Vec::new();
        if first == b'"' {
            self.at += 1;
            loop {
                match self.peek().ok_or_else(unexpected_end)? {
                    b'"' => break,
                    b'\\' => {
                        self.at += 1;
                        bytes.push(self.peek().ok_or_else(unexpected_end)?);
                    }
                    byte => bytes.push(byte),
                }
                self.at += 1;
            }
            self.at += 1;
            return Ok(Some(Word { bytes, quoted: true }));
        }
        if first == b'=' && !is_value {
            return Err(self.syntax_error());
        }
        let mut started = false;
        while let Some(byte) = self.peek() {
            let ends = if is_value { byte == b',' } else { byte == b'=' };
            if started && (ends || is_space(byte)) {
                break;
            }
            if byte == b'\\' {
                self.at += 1;
                bytes.push(self.peek().ok_or_else(unexpected_end)?);
            } else {
                bytes.push(byte);
            }
            started = true;
            self.at += 1;
        }
        Ok(Some(Word { bytes, quoted: false }))
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.syntax_error()),
            None => Err(unexpected_end()),
        }
    }

    fn pairs(&mut self) -> Result<Vec<Pair<'static>>> {
        let mut pairs = Vec::new();
        let mut ticker = InterruptTicker::default();
        while let Some(key) = self.word(false)? {
            ticker.tick(self.cx)?;
            self.skip_space();
            self.expect(b'=')?;
            self.expect(b'>')?;
            let word = self.word(true)?.ok_or_else(unexpected_end)?;
            let null = !word.quoted && word.bytes.eq_ignore_ascii_case(b"null");
            let value = (!null).then_some(Cow::Owned(word.bytes));
            pairs.push(Pair { key: Cow::Owned(key.bytes), value });
            self.skip_space();
            match self.peek() {
                None => break,
                Some(b',') => self.at += 1,
                Some(_) => return Err(self.syntax_error()),
            }
        }
        Ok(pairs)
    }
}

fn hstore_in(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    build(Parser { text, at: 0, cx }.pairs()?)
}

fn push_quoted(out: &mut TextBuffer, bytes: &[u8]) {
    out.push(b'"');
    for &byte in bytes {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

fn hstore_out(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let mut out = TextBuffer::default();
    let mut ticker = InterruptTicker::default();
    for (i, (key, value)) in Hstore::new(d).pairs().enumerate() {
        ticker.tick(cx)?;
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        push_quoted(&mut out, key);
        out.extend_from_slice(b"=>");
        match value {
            Some(value) => push_quoted(&mut out, value),
            None => out.extend_from_slice(b"NULL"),
        }
    }
    out.into_datum()
}

fn hstore_recv(cx: &dyn FnContext, bytes: &[u8]) -> Result<Datum> {
    let mut reader = Reader::new(bytes);
    let count = reader.i32()?;
    const PAIRS_MAX: i32 = 0x3fff_ffff / 40;
    if !(0..=PAIRS_MAX).contains(&count) {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of pairs ({count}) exceeds the maximum allowed ({PAIRS_MAX})"
        ));
    }
    let mut pairs = Vec::new();
    for _ in 0..count {
        let length = reader.i32()?;
        let Ok(length) = usize::try_from(length) else {
            return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "null value not allowed for hstore key"));
        };
        let key = from_client(cx, reader.bytes(length)?)?;
        let value = match usize::try_from(reader.i32()?) {
            Ok(length) => Some(from_client(cx, reader.bytes(length)?)?),
            Err(_) => None,
        };
        pairs.push(Pair { key, value });
    }
    reader.end()?;
    build(pairs)
}

/// The lengths are those of the texts before they are converted, as in PostgreSQL.
fn hstore_send(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let hstore = Hstore::new(d);
    let mut out = (hstore.len() as u32).to_be_bytes().to_vec();
    for (key, value) in hstore.pairs() {
        out.extend_from_slice(&(key.len() as u32).to_be_bytes());
        out.extend_from_slice(&for_client(cx, key)?);
        match value {
            Some(value) => {
                out.extend_from_slice(&(value.len() as u32).to_be_bytes());
                out.extend_from_slice(&for_client(cx, value)?);
            }
            None => out.extend_from_slice(&(-1i32).to_be_bytes()),
        }
    }
    Ok(Datum::bytes(out))
}

scalars! { FNS;
    "hstore_in" => |cx, a| hstore_in(cx, a[0].as_bytes()),
    "hstore_out" => |cx, a| hstore_out(cx, a[0]),
    "hstore_recv" => |cx, a| hstore_recv(cx, a[0].as_bytes()),
    "hstore_send" => |cx, a| hstore_send(cx, a[0]),
    "hstore_version_diag" => |_, _| Ok(Datum::int4(2)),
}
