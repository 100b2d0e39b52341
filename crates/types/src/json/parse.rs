//! JSON parser. Counterpart: common/jsonapi.c.

use pgerror::{PgError, Result, pg_err};
use std::ops::Range;
use values::fn_context::InterruptChecker;
use values::memory;
use values::settings::Settings;

/// The deepest nesting that is accepted. With the default of `max_stack_depth` it is about
/// PostgreSQL's.
pub(super) const DEPTH_MAX: usize = 13_000;

/// The deepest nesting of a text. It is proportional to `max_stack_depth`, up to [`DEPTH_MAX`].
fn depth_max(interrupts: &InterruptChecker<'_>) -> usize {
    let kb = interrupts.max_stack_kb().min(Settings::MAX_STACK_KB);
    DEPTH_MAX * kb as usize / Settings::MAX_STACK_KB as usize
}

/// Number of characters of the line before an error that its context shows.
const CONTEXT_MAX: usize = 50;

/// A parsed JSON value.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Byte range in the text.
    pub span: Range<usize>,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// Its text is in the span.
    Number,
    /// Unescaped, without quotes.
    String(Vec<u8>),
    Array(Vec<Node>),
    /// Pairs in the order of the text, duplicate keys included.
    Object(Vec<(Vec<u8>, Node)>),
}

/// Validates a JSON text; 22P02 if it is not valid.
pub(super) fn check(text: &[u8], interrupts: &InterruptChecker<'_>) -> Result<()> {
    Parser::<false>::document(text, interrupts).map(|_| ())
}

/// Parses a JSON text; 22P02 if it is not valid, 22P05 if an escape in a string is not a valid
/// character.
pub(super) fn tree(text: &[u8], interrupts: &InterruptChecker<'_>) -> Result<Node> {
    Parser::<true>::document(text, interrupts)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token {
    End,
    /// One of `{}[],:`.
    Sign(u8),
    String,
    Number,
    True,
    False,
    Null,
}

/// `BUILD`: build a tree. Otherwise nodes are empty, and escapes are checked but not decoded.
struct Parser<'a, const BUILD: bool> {
    text: &'a [u8],
    interrupts: &'a InterruptChecker<'a>,
    token: Token,
    start: usize,
    end: usize,
    /// The value of a string token.
    string: Vec<u8>,
    depth_max: usize,
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80
}

fn char_len(c: u8) -> usize {
    match c {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}

impl<'a, const BUILD: bool> Parser<'a, BUILD> {
    fn document(text: &'a [u8], interrupts: &'a InterruptChecker<'a>) -> Result<Node> {
        let mut p: Parser<'_, BUILD> = Parser {
            text,
            interrupts,
            token: Token::End,
            start: 0,
            end: 0,
            string: Vec::new(),
            depth_max: depth_max(interrupts),
        };
        p.advance()?;
        let node = p.value(0)?;
        if p.token == Token::End { Ok(node) } else { Err(p.expected("end of input")) }
    }

    /// The part of the line up to the token's end, for the context of an error.
    fn context(&self) -> String {
        let end = self.end.min(self.text.len());
        // Lines end between tokens. (A line break within a token is an error.)
        let before = &self.text[..self.start.min(end)];
        let line_start = before.iter().rposition(|c| *c == b'\n').map_or(0, |newline| newline + 1);
        let number = 1 + self.text[..line_start].iter().filter(|c| **c == b'\n').count();
        let mut from = line_start;
        while end - from >= CONTEXT_MAX {
            from += char_len(self.text[from]);
        }
        let from = if from - line_start <= 3 { line_start } else { from.min(end) };
        let before = if from > line_start { "..." } else { "" };
        let more = self.token != Token::End
            && self.text.get(end).is_some_and(|c| !matches!(c, b'\n' | b'\r'));
        let after = if more { "..." } else { "" };
        let shown = String::from_utf8_lossy(&self.text[from..end]);
        format!("JSON data, line {number}: {before}{shown}{after}")
    }

    fn bad(&self, detail: String) -> PgError {
        pg_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json")
            .detail(detail)
            .context(self.context())
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.text[self.start..self.end]).into_owned()
    }

    fn expected(&self, what: &str) -> PgError {
        if self.token == Token::End {
            return self.bad("The input string ended unexpectedly.".to_owned());
        }
        self.bad(format!("Expected {what}, but found \"{}\".", self.shown()))
    }

    /// The error for an invalid token that ends at `end`.
    fn invalid(&mut self, end: usize) -> PgError {
        self.end = end.min(self.text.len());
        self.token = Token::String;
        self.bad(format!("Token \"{}\" is invalid.", self.shown()))
    }

    fn at(&self, i: usize) -> Option<u8> {
        self.text.get(i).copied()
    }

    /// Reads the next token.
    fn advance(&mut self) -> Result<()> {
        let mut s = self.end;
        while matches!(self.at(s), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            s += 1;
        }
        self.start = s;
        let Some(c) = self.at(s) else {
            self.end = s;
            self.token = Token::End;
            return Ok(());
        };
        match c {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => {
                self.end = s + 1;
                self.token = Token::Sign(c);
            }
            b'"' => self.read_string()?,
            b'-' | b'0'..=b'9' => self.read_number()?,
            _ => {
                let len = self.text[s..].iter().take_while(|c| is_word(**c)).count();
                self.token = match &self.text[s..s + len] {
                    b"true" => Token::True,
                    b"false" => Token::False,
                    b"null" => Token::Null,
                    _ => return Err(self.invalid(s + len.max(1))),
                };
                self.end = s + len;
            }
        }
        Ok(())
    }

    fn read_number(&mut self) -> Result<()> {
        let mut s = self.start;
        let mut ok = true;
        let digits = |s: &mut usize| {
            let from = *s;
            while self.text.get(*s).is_some_and(u8::is_ascii_digit) {
                *s += 1;
            }
            *s > from
        };
        if self.at(s) == Some(b'-') {
            s += 1;
        }
        if self.at(s) == Some(b'0') {
            s += 1;
        } else {
            ok &= digits(&mut s);
        }
        if self.at(s) == Some(b'.') {
            s += 1;
            ok &= digits(&mut s);
        }
        // The token continues after an error.
        if matches!(self.at(s), Some(b'e' | b'E')) {
            s += 1;
            if matches!(self.at(s), Some(b'+' | b'-')) {
                s += 1;
            }
            ok &= digits(&mut s);
        }
        // Letters and digits directly after a number are part of the invalid token.
        while self.at(s).is_some_and(is_word) {
            s += 1;
            ok = false;
        }
        if !ok {
            return Err(self.invalid(s));
        }
        self.end = s;
        self.token = Token::Number;
        Ok(())
    }

    fn read_string(&mut self) -> Result<()> {
        self.token = Token::String;
        self.string.clear();
        // The high surrogate of a character that takes two escapes.
        let mut high: Option<u32> = None;
        let lone = "Unicode low surrogate must follow a high surrogate.";
        let mut s = self.start + 1;
        loop {
            if high.is_none() {
                s = self.read_plain(s)?;
            }
            let Some(c) = self.at(s) else { return Err(self.invalid(s)) };
            if BUILD && high.is_some() && !(c == b'\\' && self.at(s + 1) == Some(b'u')) {
                self.end = s + 1;
                return Err(self.bad(lone.to_owned()));
            }
            match c {
                b'"' => {
                    self.end = s + 1;
                    return Ok(());
                }
                0..0x20 => {
                    self.end = s;
                    let detail = format!("Character with value 0x{c:02x} must be escaped.");
                    return Err(self.bad(detail));
                }
                b'\\' => {
                    let Some(e) = self.at(s + 1) else { return Err(self.invalid(s + 1)) };
                    let plain = match e {
                        b'"' | b'\\' | b'/' => e,
                        b'b' => 8,
                        b'f' => 12,
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        b'u' => {
                            self.read_escape(s + 2, &mut high)?;
                            s += 6;
                            continue;
                        }
                        _ => {
                            self.start = s + 1;
                            self.end = (s + 1 + char_len(e)).min(self.text.len());
                            let detail =
                                format!("Escape sequence \"\\{}\" is invalid.", self.shown());
                            return Err(self.bad(detail));
                        }
                    };
                    if BUILD {
                        self.string.push(plain);
                    }
                    s += 2;
                }
                _ => {
                    if BUILD {
                        self.string.push(c);
                    }
                    s += 1;
                }
            }
        }
    }

    /// Reads characters without escapes; returns the offset of their end.
    fn read_plain(&mut self, from: usize) -> Result<usize> {
        let plain = |c: &u8| *c >= 0x20 && *c != b'"' && *c != b'\\';
        let rest = &self.text[from..];
        let part = &rest[..rest.iter().position(|c| !plain(c)).unwrap_or(rest.len())];
        if BUILD {
            memory::append(&mut self.string, part)?;
        }
        // A long part is followed by a check for interrupts.
        if part.len() > 64 << 10 {
            self.interrupts.check()?
        } else {
            self.interrupts.tick()?
        }
        Ok(from + part.len())
    }

    /// Reads four hexadecimal digits after `\u`.
    fn read_escape(&mut self, from: usize, high: &mut Option<u32>) -> Result<()> {
        let mut code = 0;
        for i in from..from + 4 {
            let Some(c) = self.at(i) else { return Err(self.invalid(i)) };
            let Some(digit) = (c as char).to_digit(16) else {
                self.end = (i + char_len(c)).min(self.text.len());
                return Err(
                    self.bad("\"\\u\" must be followed by four hexadecimal digits.".to_owned())
                );
            };
            code = code * 16 + digit;
        }
        if !BUILD {
            return Ok(());
        }
        self.end = from + 4;
        let code = match (code, high.take()) {
            (0xd800..0xdc00, None) => {
                *high = Some(code);
                return Ok(());
            }
            (0xd800..0xdc00, Some(_)) => {
                let detail = "Unicode high surrogate must not follow a high surrogate.";
                return Err(self.bad(detail.to_owned()));
            }
            (0xdc00..0xe000, Some(h)) => 0x10000 + ((h & 0x3ff) << 10) + (code & 0x3ff),
            (0xdc00..0xe000, None) | (_, Some(_)) => {
                let detail = "Unicode low surrogate must follow a high surrogate.";
                return Err(self.bad(detail.to_owned()));
            }
            (0, None) => {
                return Err(pg_err!(
                    UNTRANSLATABLE_CHARACTER,
                    "unsupported Unicode escape sequence"
                )
                .detail("\\u0000 cannot be converted to text.")
                .context(self.context()));
            }
            (code, None) => code,
        };
        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.string.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node> {
        if depth > self.depth_max {
            return Err(self.interrupts.too_deep());
        }
        self.interrupts.tick()?;
        let start = self.start;
        let kind = match self.token {
            Token::Sign(b'{') => self.object(depth)?,
            Token::Sign(b'[') => self.array(depth)?,
            Token::String => Kind::String(std::mem::take(&mut self.string)),
            Token::Number => Kind::Number,
            Token::True => Kind::Bool(true),
            Token::False => Kind::Bool(false),
            Token::Null => Kind::Null,
            _ => return Err(self.expected("JSON value")),
        };
        let span = start..self.end;
        self.advance()?;
        Ok(Node { span, kind })
    }

    /// Leaves the closing bracket as the current token.
    fn array(&mut self, depth: usize) -> Result<Kind> {
        let mut elements = Vec::new();
        self.advance()?;
        if self.token != Token::Sign(b']') {
            loop {
                let element = self.value(depth + 1)?;
                if BUILD {
                    memory::reserve(&mut elements, 1)?;
                    elements.push(element);
                }
                match self.token {
                    Token::Sign(b',') => self.advance()?,
                    Token::Sign(b']') => break,
                    _ => return Err(self.expected("\",\" or \"]\"")),
                }
            }
        }
        Ok(Kind::Array(elements))
    }

    fn object(&mut self, depth: usize) -> Result<Kind> {
        let mut pairs = Vec::new();
        self.advance()?;
        if self.token == Token::Sign(b'}') {
            return Ok(Kind::Object(pairs));
        }
        if self.token != Token::String {
            return Err(self.expected("string or \"}\""));
        }
        loop {
            if self.token != Token::String {
                return Err(self.expected("string"));
            }
            let key = std::mem::take(&mut self.string);
            self.advance()?;
            if self.token != Token::Sign(b':') {
                return Err(self.expected("\":\""));
            }
            self.advance()?;
            let value = self.value(depth + 1)?;
            if BUILD {
                memory::reserve(&mut pairs, 1)?;
                pairs.push((key, value));
            }
            match self.token {
                Token::Sign(b',') => self.advance()?,
                Token::Sign(b'}') => return Ok(Kind::Object(pairs)),
                _ => return Err(self.expected("\",\" or \"}\"")),
            }
        }
    }
}
