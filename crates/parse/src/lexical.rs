//! Lexical checks of PostgreSQL 15 that the newer lexer does not have: numbers and parameters that
//! are directly followed by letters are errors, which the newer lexer reads as digits grouped by
//! underscores, as numbers of another base, or as two tokens. Counterpart: scan.l (`integer_junk`,
//! `decinteger_junk`, `real_junk`, `param_junk`).
//!
//! The same scan finds what the lexer accepts with a notice or warning: identifiers that are
//! truncated, and backslashes in plain strings. Counterpart: `truncate_identifier`,
//! `check_string_escape_warning`.

use crate::error::position;
use pgerror::{PgError, Severity, SqlState, pg_err};

/// The largest length of an identifier in bytes.
const NAME_MAX: usize = 63;

/// A notice or warning for the client, and the byte offset of its token.
pub(crate) type Notice = (usize, PgError);

/// 42622 for an identifier that is truncated; `name` is folded, its quotes are undoubled.
fn truncation_notice(name: &str) -> PgError {
    let mut end = NAME_MAX;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let truncated = &name[..end];
    pg_err!(NAME_TOO_LONG, "identifier \"{name}\" will be truncated to \"{truncated}\"")
        .severity(Severity::Notice)
}

/// 22P06 for the first backslash of a plain string, by the character after it.
fn escape(next: Option<u8>) -> PgError {
    let (what, hint) = match next {
        Some(b'\'') => (
            "\\'",
            "Use \'\' to write quotes in strings, or use the escape string syntax (E\'...\').",
        ),
        Some(b'\\') => ("\\\\", "Use the escape string syntax for backslashes, e.g., E\'\\\\\'."),
        _ => ("escape", "Use the escape string syntax for escapes, e.g., E\'\\r\\n\'."),
    };
    let message = format!("nonstandard use of {what} in a string literal");
    PgError::new(SqlState::NONSTANDARD_USE_OF_ESCAPE_CHARACTER, message)
        .severity(Severity::Warning)
        .hint(hint)
}

/// A token with trailing junk: its byte offset and length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Junk {
    pub start: usize,
    pub len: usize,
    pub parameter: bool,
}

impl Junk {
    /// The lexer's error message.
    pub(crate) fn message(&self, sql: &str) -> String {
        let what = if self.parameter { "parameter" } else { "numeric literal" };
        let text = &sql[self.start..self.start + self.len];
        format!("trailing junk after {what} at or near \"{text}\"")
    }
}

fn starts_name(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b >= 0x80
}

fn continues_name(b: u8) -> bool {
    starts_name(b) || b.is_ascii_digit() || b == b'$'
}

/// The first token with trailing junk outside strings, quoted identifiers and comments.
/// `conforming`: a backslash is an ordinary character in plain strings.
pub(crate) fn first(sql: &str, conforming: bool, notices: &mut Vec<Notice>) -> Option<Junk> {
    let mut s = Scan { text: sql.as_bytes(), at: 0 };
    while let Some(b) = s.peek(0) {
        match b {
            b'\'' => s.plain_string(sql, !conforming, notices),
            b'"' => {
                let start = s.at;
                s.quoted(b'"', false);
                if s.at - start > NAME_MAX {
                    check_quoted_length(sql, start, s.at, notices);
                }
            }
            b'-' if s.peek(1) == Some(b'-') => s.skip(|b| b != b'\n' && b != b'\r'),
            b'/' if s.peek(1) == Some(b'*') => s.comment(),
            b'$' if s.peek(1).is_some_and(|b| b.is_ascii_digit()) => {
                let start = s.at;
                s.at += 1;
                s.skip(|b| b.is_ascii_digit());
                if let Some(junk) = s.trailing_junk(start, true) {
                    return Some(junk);
                }
            }
            b'$' => s.dollar_quoted(),
            b if starts_name(b) => {
                let start = s.at;
                s.skip(continues_name);
                if s.at - start > NAME_MAX {
                    notices
                        .push((start, truncation_notice(&sql[start..s.at].to_ascii_lowercase())));
                }
                if s.peek(0) == Some(b'\'') {
                    match &s.text[start..s.at] {
                        b"e" | b"E" => s.quoted(b'\'', true),
                        b"b" | b"B" | b"x" | b"X" => s.quoted(b'\'', false),
                        _ => s.plain_string(sql, !conforming, notices),
                    }
                }
            }
            b if b.is_ascii_digit() => {
                let start = s.at;
                s.number();
                if let Some(junk) = s.trailing_junk(start, false) {
                    return Some(junk);
                }
            }
            b'.' if s.peek(1).is_some_and(|b| b.is_ascii_digit()) => {
                let start = s.at;
                s.number();
                if let Some(junk) = s.trailing_junk(start, false) {
                    return Some(junk);
                }
            }
            _ => s.at += 1,
        }
    }
    None
}

/// Reports the truncation of a quoted identifier from `start` to `end`. One with Unicode escapes is
/// ignored, because its value is shorter than its text.
fn check_quoted_length(sql: &str, start: usize, end: usize, notices: &mut Vec<Notice>) {
    let closed = end - start > 1 && sql[..end].ends_with('"');
    let inner = &sql[start + 1..end - usize::from(closed)];
    let unicode = sql[..start].ends_with("U&") || sql[..start].ends_with("u&");
    if !closed || (unicode && inner.contains('\\')) {
        return;
    }
    let name = inner.replace("\"\"", "\"");
    if name.len() > NAME_MAX {
        notices.push((start, truncation_notice(&name)));
    }
}

/// The end of the comment that starts with `/*` at byte `start`; comments are nested. `None` if it
/// is not terminated.
pub(crate) fn end_of_comment(text: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0);
    while at < text.len() {
        match text.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// A tokenizer with PostgreSQL's rules for strings, identifiers, numbers and comments.
pub(crate) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    /// A scan that starts at byte `at`, which must be a token boundary.
    pub(crate) fn new(text: &str, at: usize) -> Scan<'_> {
        Scan { text: text.as_bytes(), at }
    }

    /// Start and end of the next token. Each character of an operator is a token of its own.
    pub(crate) fn token(&mut self, conforming: bool) -> Option<(usize, usize)> {
        loop {
            match self.peek(0)? {
                b'-' if self.peek(1) == Some(b'-') => self.skip(|b| b != b'\n' && b != b'\r'),
                b'/' if self.peek(1) == Some(b'*') => self.comment(),
                b if b.is_ascii_whitespace() || b == b'\x0b' => self.at += 1,
                _ => break,
            }
        }
        let start = self.at;
        match self.peek(0)? {
            b'\'' => self.quoted(b'\'', !conforming),
            b'"' => self.quoted(b'"', false),
            b'$' if self.peek(1).is_some_and(|b| b.is_ascii_digit()) => {
                self.at += 1;
                self.skip(|b| b.is_ascii_digit());
            }
            b'$' => self.dollar_quoted(),
            b if starts_name(b) => {
                self.skip(continues_name);
                let prefix = &self.text[start..self.at];
                if self.peek(0) == Some(b'\'') && prefix.len() == 1 {
                    let escapes = prefix.eq_ignore_ascii_case(b"e");
                    if escapes || matches!(prefix, b"b" | b"B" | b"x" | b"X" | b"n" | b"N") {
                        self.quoted(b'\'', escapes);
                    }
                }
            }
            b if b.is_ascii_digit() => self.number(),
            _ => self.at += 1,
        }
        Some((start, self.at))
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn skip(&mut self, while_: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&while_) {
            self.at += 1;
        }
    }

    /// Reads the identifier that begins directly at the end of the token, if there is one.
    fn trailing_junk(&mut self, start: usize, parameter: bool) -> Option<Junk> {
        if !self.peek(0).is_some_and(starts_name) {
            return None;
        }
        // The sign of an exponent without digits is the last character of the junk.
        let number = &self.text[start..self.at];
        let exponent = matches!(self.peek(0), Some(b'e' | b'E'))
            && !number.iter().any(|b| matches!(b, b'e' | b'E'));
        if !parameter && exponent && matches!(self.peek(1), Some(b'+' | b'-')) {
            self.at += 2;
            return Some(Junk { start, len: self.at - start, parameter });
        }
        self.skip(continues_name);
        Some(Junk { start, len: self.at - start, parameter })
    }

    /// Reads digits, a decimal point and an exponent, as far as they form a number.
    fn number(&mut self) {
        self.skip(|b| b.is_ascii_digit());
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            self.at += 1;
            self.skip(|b| b.is_ascii_digit());
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(|b| b.is_ascii_digit()) {
                self.at += 1 + sign;
                self.skip(|b| b.is_ascii_digit());
            }
        }
    }

    /// Reads a string whose prefix does not determine whether backslashes are escapes.
    fn plain_string(&mut self, sql: &str, escapes: bool, notices: &mut Vec<Notice>) {
        let start = self.at;
        self.quoted(b'\'', escapes);
        let found = escapes.then(|| self.text[start..self.at].iter().position(|b| *b == b'\\'));
        if let Some(at) = found.flatten() {
            let char_position = i32::try_from(start).map_or(0, |start| position(sql, start));
            notices.push((start, escape(self.text.get(start + at + 1).copied()).at(char_position)));
        }
    }

    /// Reads from the opening quote to after the closing one.
    fn quoted(&mut self, quote: u8, escapes: bool) {
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let special = if escapes { b'\\' } else { quote };
            let Some(skipped) = memchr::memchr2(quote, special, rest) else {
                self.at = self.text.len();
                return;
            };
            self.at += skipped;
            let b = rest[skipped];
            self.at += if escapes && b == b'\\' { 2 } else { 1 };
            if b == quote {
                // A doubled quote continues the string.
                if self.peek(0) != Some(quote) && !(quote == b'\'' && self.continued()) {
                    return;
                }
                self.at += 1;
            }
        }
    }

    /// Skips to the quote that continues the string: on a later line, after white space only.
    fn continued(&mut self) -> bool {
        let end = self.at;
        let mut line_ended = false;
        loop {
            match self.peek(0) {
                Some(b'\n' | b'\r') => {
                    line_ended = true;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\x0b' | b'\x0c') => self.at += 1,
                Some(b'\'') if line_ended => return true,
                _ => {
                    self.at = end;
                    return false;
                }
            }
        }
    }

    fn comment(&mut self) {
        self.at = end_of_comment(self.text, self.at).unwrap_or(self.text.len());
    }

    fn dollar_quoted(&mut self) {
        let start = self.at;
        self.at += 1;
        if self.peek(0).is_some_and(starts_name) {
            self.skip(|b| starts_name(b) || b.is_ascii_digit());
        }
        if self.peek(0) != Some(b'$') {
            return;
        }
        self.at += 1;
        let tag = &self.text[start..self.at];
        let rest = &self.text[self.at..];
        let end = rest.windows(tag.len()).position(|w| w == tag);
        self.at = end.map_or(self.text.len(), |i| self.at + i + tag.len());
    }
}
