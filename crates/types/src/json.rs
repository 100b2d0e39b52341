//! json: text that is checked and kept as it is. jsonb is not there yet. Counterpart: json.c, jsonapi.c.

use crate::{Datum, DatumRef, FnContext};
use pgerror::{PgError, Result, pg_err};

/// Deepest nesting that is read.
const DEPTH_MAX: usize = 6000;

struct Checker<'a> {
    text: &'a [u8],
    at: usize,
}

impl Checker<'_> {
    fn bad(&self) -> PgError {
        pg_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json").detail(
            match self.text.get(self.at) {
                None => "The input string ended unexpectedly.".to_string(),
                Some(_) => {
                    let shown: String =
                        String::from_utf8_lossy(&self.text[self.at..]).chars().take(16).collect();
                    format!("Token \"{shown}\" is invalid.")
                }
            },
        )
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, c: u8) -> Result<()> {
        if self.peek() != Some(c) {
            return Err(self.bad());
        }
        self.at += 1;
        Ok(())
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.bad()) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        // Letters and digits glued to the number spoil it.
        if self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80) {
            return Err(self.bad());
        }
        Ok(())
    }

    fn string(&mut self) -> Result<()> {
        self.eat(b'"')?;
        loop {
            match self.peek() {
                None | Some(0..0x20) => return Err(self.bad()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            self.at += 1
                        }
                        Some(b'u') => {
                            let hex = self.text.get(self.at + 1..self.at + 5);
                            if !hex.is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit)) {
                                return Err(self.bad());
                            }
                            self.at += 5;
                        }
                        _ => return Err(self.bad()),
                    }
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            return Err(pg_err!(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.members(b'}', depth, true)?,
            Some(b'[') => self.members(b']', depth, false)?,
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => {
                let rest = &self.text[self.at..];
                let len =
                    rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
                if !matches!(&rest[..len], b"true" | b"false" | b"null") {
                    return Err(self.bad());
                }
                self.at += len;
            }
        }
        self.space();
        Ok(())
    }

    /// Members of an object (`keys`) or elements of an array.
    fn members(&mut self, close: u8, depth: usize, keys: bool) -> Result<()> {
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            if keys {
                self.space();
                self.string()?;
                self.space();
                self.eat(b':')?;
            }
            self.value(depth + 1)?;
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            return self.eat(close);
        }
    }
}

/// Is `text` one JSON value? 22P02 where it is not.
pub fn check(text: &[u8]) -> Result<()> {
    let mut c = Checker { text, at: 0 };
    c.value(0)?;
    if c.at == text.len() { Ok(()) } else { Err(c.bad()) }
}

fn input(d: DatumRef<'_>) -> Result<Datum> {
    check(d.as_bytes())?;
    Ok(d.to_owned())
}

fn receive(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    crate::text::verify(cx, a[0].as_bytes())?;
    input(a[0])
}

scalars! { FNS;
    "json_in" => |_, a| input(a[0]),
    "json_out" => |_, a| Ok(a[0].to_owned()),
    "json_recv" => receive,
    "json_send" => |_, a| Ok(a[0].to_owned()),
}
