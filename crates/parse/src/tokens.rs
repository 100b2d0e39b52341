//! The tokens of SQL with their positions, for grammars that contain pieces of SQL (PL/pgSQL).
//!
//! The scanner follows PostgreSQL's rules for strings, identifiers, numbers, operators and
//! comments. It does not distinguish keywords from other identifiers. Counterpart: parser/scan.l.

use crate::lexical::end_of_comment;
use pgerror::{Result, pg_err};

/// The largest length of an identifier in bytes.
const NAME_BYTES_MAX: usize = 63;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An identifier or keyword without quotes.
    Word,
    /// An identifier in double quotes.
    Quoted,
    /// `$` and a number.
    Param,
    Integer,
    Number,
    /// A string constant of any form; not a bit string.
    String,
    /// `B'…'` and `X'…'`.
    Bits,
    /// An operator, or a sequence of special characters such as `:=`, `..`, `::`.
    Op,
    /// A single character such as `;`, `(` or `+`.
    Char(u8),
    /// The end of the text. The token is empty.
    End,
}

/// A token: bytes `start` to `end` of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// A scanner over a text.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// `standard_conforming_strings`
    conforming: bool,
}

fn starts_name(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b >= 0x80
}

fn continues_name(b: u8) -> bool {
    starts_name(b) || b.is_ascii_digit() || b == b'$'
}

fn is_operator(b: u8) -> bool {
    b"~!@#^&|`?+-*/%<>=".contains(&b)
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c')
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str, conforming: bool) -> Tokens<'a> {
        Tokens { text, at: 0, conforming }
    }

    /// The next token. Errors are those of the lexer, with a position in the text.
    pub fn next_token(&mut self) -> Result<Token> {
        self.skip_space()?;
        let start = self.at;
        let Some(b) = self.peek(0) else {
            return Ok(Token { kind: Kind::End, start, end: start });
        };
        let kind = match b {
            b'\'' => self.string(!self.conforming)?,
            b'"' => self.quoted_identifier()?,
            b'$' if self.peek(1).is_some_and(|b| b.is_ascii_digit()) => {
                self.at += 1;
                self.skip(|b| b.is_ascii_digit());
                self.no_junk(start, "parameter")?;
                Kind::Param
            }
            b'$' => self.dollar_quoted()?,
            b if starts_name(b) => self.word()?,
            b if b.is_ascii_digit() => self.number(start)?,
            b'.' if self.peek(1).is_some_and(|b| b.is_ascii_digit()) => self.number(start)?,
            b'.' if self.peek(1) == Some(b'.') => self.op(2),
            b':' if matches!(self.peek(1), Some(b':' | b'=')) => self.op(2),
            b if is_operator(b) => self.operator(),
            b => {
                // Any other character is a token, which no grammar accepts.
                self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                Kind::Char(b)
            }
        };
        Ok(Token { kind, start, end: self.at })
    }

    fn op(&mut self, bytes: usize) -> Kind {
        self.at += bytes;
        Kind::Op
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn skip(&mut self, while_: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&while_) {
            self.at += 1;
        }
    }

    fn error(&self, message: &str, start: usize) -> pgerror::PgError {
        let near = &self.text[start..];
        let place = i32::try_from(start).unwrap_or(-1);
        pg_err!(SYNTAX_ERROR, "{message} at or near \"{near}\"")
            .at(crate::position(self.text, place))
    }

    fn skip_space(&mut self) -> Result<()> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b), _) if is_space(b) => self.at += 1,
                (Some(b'-'), Some(b'-')) => self.skip(|b| b != b'\n' && b != b'\r'),
                (Some(b'/'), Some(b'*')) => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> Result<()> {
        let end = end_of_comment(self.text.as_bytes(), self.at);
        self.at = end.ok_or_else(|| self.error("unterminated /* comment", self.at))?;
        Ok(())
    }

    fn word(&mut self) -> Result<Kind> {
        let start = self.at;
        self.skip(continues_name);
        let word = &self.text.as_bytes()[start..self.at];
        match (word, self.peek(0), self.peek(1)) {
            (b"e" | b"E", Some(b'\''), _) => self.string(true),
            (b"n" | b"N", Some(b'\''), _) => self.string(!self.conforming),
            (b"b" | b"B" | b"x" | b"X", Some(b'\''), _) => {
                self.string(false)?;
                Ok(Kind::Bits)
            }
            (b"u" | b"U", Some(b'&'), Some(b'\'')) => {
                self.at += 1;
                self.string(false)
            }
            (b"u" | b"U", Some(b'&'), Some(b'"')) => {
                self.at += 1;
                self.quoted_identifier()
            }
            _ => Ok(Kind::Word),
        }
    }

    /// Reads a string from its opening quote, with its continuations on further lines.
    fn string(&mut self, escapes: bool) -> Result<Kind> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return Err(self.error("unterminated quoted string", start)),
                Some(b'\\') if escapes && self.peek(1).is_some() => self.at += 2,
                Some(b'\'') if self.peek(1) == Some(b'\'') => self.at += 2,
                Some(b'\'') => {
                    self.at += 1;
                    if !self.continued() {
                        return Ok(Kind::String);
                    }
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// After a closing quote: moves behind the quote that continues the string after white space
    /// with a line break.
    fn continued(&mut self) -> bool {
        let (mut at, mut line) = (self.at, false);
        while let Some(&b) = self.text.as_bytes().get(at) {
            match b {
                b'\n' | b'\r' => line = true,
                b'\'' if line => {
                    self.at = at + 1;
                    return true;
                }
                b if is_space(b) => {}
                _ => return false,
            }
            at += 1;
        }
        false
    }

    fn quoted_identifier(&mut self) -> Result<Kind> {
        let start = self.at;
        self.at += 1;
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => return Err(self.error("unterminated quoted identifier", start)),
                (Some(b'"'), Some(b'"')) => self.at += 2,
                (Some(b'"'), _) => {
                    self.at += 1;
                    if self.at - start == 2 {
                        return Err(self.error("zero-length delimited identifier", start));
                    }
                    return Ok(Kind::Quoted);
                }
                _ => self.at += 1,
            }
        }
    }

    fn dollar_quoted(&mut self) -> Result<Kind> {
        let start = self.at;
        self.at += 1;
        if self.peek(0).is_some_and(starts_name) {
            self.skip(|b| starts_name(b) || b.is_ascii_digit());
        }
        if self.peek(0) != Some(b'$') {
            self.at = start + 1;
            return Ok(Kind::Char(b'$'));
        }
        self.at += 1;
        let tag = &self.text[start..self.at];
        match self.text[self.at..].find(tag) {
            Some(at) => {
                self.at += at + tag.len();
                Ok(Kind::String)
            }
            None => Err(self.error("unterminated dollar-quoted string", start)),
        }
    }

    fn number(&mut self, start: usize) -> Result<Kind> {
        let mut kind = Kind::Integer;
        self.skip(|b| b.is_ascii_digit());
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            kind = Kind::Number;
            self.at += 1;
            self.skip(|b| b.is_ascii_digit());
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(|b| b.is_ascii_digit()) {
                kind = Kind::Number;
                self.at += 1 + sign;
                self.skip(|b| b.is_ascii_digit());
            }
        }
        self.no_junk(start, "numeric literal")?;
        Ok(kind)
    }

    fn no_junk(&mut self, start: usize, what: &str) -> Result<()> {
        if !self.peek(0).is_some_and(starts_name) {
            return Ok(());
        }
        self.skip(continues_name);
        let near = &self.text[start..self.at];
        let place = i32::try_from(start).unwrap_or(-1);
        Err(pg_err!(SYNTAX_ERROR, "trailing junk after {what} at or near \"{near}\"")
            .at(crate::position(self.text, place)))
    }

    /// Reads an operator: the longest run of operator characters that does not start a comment, and
    /// does not end with a sign unless it contains one of certain characters.
    fn operator(&mut self) -> Kind {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start;
        while bytes.get(end).copied().is_some_and(is_operator) {
            let comment = matches!(bytes.get(end..end + 2), Some(b"--" | b"/*"));
            if comment && end > start {
                break;
            }
            end += 1;
        }
        let free = bytes[start..end].iter().any(|b| b"~!@#^&|`?%".contains(b));
        while end > start + 1 && !free && matches!(bytes[end - 1], b'+' | b'-') {
            end -= 1;
        }
        self.at = end;
        match bytes[start..end] {
            [b] if b"+-*/%^<>=".contains(&b) => Kind::Char(b),
            _ => Kind::Op,
        }
    }
}

impl Token {
    /// The token's text.
    pub fn text(self, sql: &str) -> &str {
        &sql[self.start..self.end]
    }

    /// The name that an identifier means: folded to lower case unless it is quoted, and truncated.
    pub fn name(self, sql: &str) -> String {
        let text = self.text(sql);
        let mut name = match self.kind {
            Kind::Quoted => {
                let unicode = !text.starts_with('"');
                let inner = &text[if unicode { 3 } else { 1 }..text.len() - 1];
                let inner = inner.replace("\"\"", "\"");
                if unicode { unicode_escapes(&inner) } else { inner }
            }
            _ => text.to_ascii_lowercase(),
        };
        let end = stdx::clip(&name, NAME_BYTES_MAX).len();
        name.truncate(end);
        name
    }

    /// The value of a string constant.
    pub fn string(self, sql: &str, conforming: bool) -> String {
        let text = self.text(sql);
        if let Some(rest) = text.strip_prefix('$') {
            let tag = rest.find('$').map_or(1, |at| at + 2);
            return text[tag..text.len() - tag].to_owned();
        }
        let prefix = text.find('\'').unwrap_or_default();
        let (prefix, quoted) = text.split_at(prefix);
        let escapes = match prefix.as_bytes() {
            b"e" | b"E" => true,
            [] | [_] => !conforming,
            _ => false,
        };
        let plain = unquoted(quoted, escapes);
        if prefix.len() > 1 { unicode_escapes(&plain) } else { plain }
    }
}

/// The contents of a quoted string with its continuations.
fn unquoted(quoted: &str, escapes: bool) -> String {
    let mut out = Vec::with_capacity(quoted.len());
    let bytes = quoted.as_bytes();
    let mut at = 1;
    while let Some(&b) = bytes.get(at) {
        match (b, bytes.get(at + 1)) {
            (b'\'', Some(b'\'')) => {
                out.push(b'\'');
                at += 2;
            }
            (b'\'', Some(_)) => {
                // The string continues after white space.
                let next = bytes[at + 1..].iter().position(|b| *b == b'\'');
                at += next.map_or(bytes.len(), |n| n + 2);
            }
            (b'\'', None) => break,
            (b'\\', Some(_)) if escapes => at += escape(&quoted[at..], &mut out),
            _ => {
                out.push(b);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends the character of an escape sequence; returns the length of the sequence.
fn escape(text: &str, out: &mut Vec<u8>) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize, max: usize, radix: u32| {
        let rest = bytes.get(from..).unwrap_or_default().iter().take(max);
        rest.take_while(|b| char::from(**b).is_digit(radix)).count()
    };
    let number = |from: usize, count: usize, radix: u32| {
        text.get(from..from + count).and_then(|t| u32::from_str_radix(t, radix).ok())
    };
    let (value, length) = match bytes[1] {
        b'n' => (Some('\n'), 2),
        b't' => (Some('\t'), 2),
        b'r' => (Some('\r'), 2),
        b'b' => (Some('\u{8}'), 2),
        b'f' => (Some('\u{c}'), 2),
        b'v' => (Some('\u{b}'), 2),
        b'x' if digits(2, 2, 16) > 0 => {
            let n = digits(2, 2, 16);
            out.push(number(2, n, 16).unwrap_or_default() as u8);
            return 2 + n;
        }
        b'0'..=b'7' => {
            let n = digits(1, 3, 8);
            out.push(number(1, n, 8).unwrap_or_default() as u8);
            return 1 + n;
        }
        b'u' => (number(2, 4, 16).and_then(char::from_u32), 6),
        b'U' => (number(2, 8, 16).and_then(char::from_u32), 10),
        _ => {
            let c = text[1..].chars().next().unwrap_or_default();
            (Some(c), 1 + c.len_utf8())
        }
    };
    let mut buffer = [0; 4];
    let c = value.unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
    length.min(text.len())
}

/// Decodes `\XXXX` and `\+XXXXXX`.
fn unicode_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('\\') {
            out.push('\\');
            rest = after;
            continue;
        }
        let (from, to) = if rest.starts_with('+') { (1, 7) } else { (0, 4) };
        let code = rest.get(from..to).and_then(|t| u32::from_str_radix(t, 16).ok());
        match code.and_then(char::from_u32) {
            Some(c) => {
                out.push(c);
                rest = &rest[to..];
            }
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{Kind, Tokens};

    fn scan(text: &str) -> Vec<(Kind, &str)> {
        let mut tokens = Tokens::new(text, true);
        let mut out = Vec::new();
        loop {
            let token = tokens.next_token().unwrap();
            if token.kind == Kind::End {
                return out;
            }
            out.push((token.kind, token.text(text)));
        }
    }

    #[test]
    fn tokens_have_their_kinds_and_texts() {
        let found = scan("x := a.\"B c\"[1..$2] + 'it''s' -- end\n;");
        let wanted = [
            (Kind::Word, "x"),
            (Kind::Op, ":="),
            (Kind::Word, "a"),
            (Kind::Char(b'.'), "."),
            (Kind::Quoted, "\"B c\""),
            (Kind::Char(b'['), "["),
            (Kind::Integer, "1"),
            (Kind::Op, ".."),
            (Kind::Param, "$2"),
            (Kind::Char(b']'), "]"),
            (Kind::Char(b'+'), "+"),
            (Kind::String, "'it''s'"),
            (Kind::Char(b';'), ";"),
        ];
        assert_eq!(found, wanted);
        assert_eq!(
            scan("a<<b/*c*/>=-1").iter().map(|t| t.1).collect::<Vec<_>>(),
            ["a", "<<", "b", ">=", "-", "1"]
        );
    }

    #[test]
    fn names_and_strings_have_values() {
        let value = |text: &str| {
            let token = Tokens::new(text, true).next_token().unwrap();
            match token.kind {
                Kind::String => token.string(text, true),
                _ => token.name(text),
            }
        };
        assert_eq!(value("AbC"), "abc");
        assert_eq!(value("\"A\"\"b\""), "A\"b");
        assert_eq!(value("'a''b'"), "a'b");
        assert_eq!(value("'a'\n  'b'"), "ab");
        assert_eq!(value("E'\\n\\x41\\u00e4\\''"), "\nA\u{e4}'");
        assert_eq!(value("$q$a$b$q$"), "a$b");
        assert_eq!(value("U&'\\0041'"), "A");
    }

    #[test]
    fn unterminated_tokens_are_errors() {
        for text in ["'a", "\"a", "$$a", "/* a", "\"\"", "12a"] {
            assert!(Tokens::new(text, true).next_token().is_err(), "{text}");
        }
    }
}
