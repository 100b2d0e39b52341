//! Tokens of a path's text. Counterpart: jsonpath_scan.l.
//!
//! Where several tokens match, the longest is taken. An error shows the part of the text that was
//! matched last: of a name it is the white space behind it, or nothing.

use crate::error::{surrogates, syntax_at};
use pgerror::{Result, pg_err};
use std::ops::Range;
use values::fn_context::InterruptChecker;
use values::memory;
use values::settings::Encoding;

/// A token; its text is [`Scanner::value`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    End,
    /// A special character.
    Sign(u8),
    And,
    Or,
    Not,
    /// `**`
    AnyLevels,
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
    String,
    Variable,
    /// A number without fraction and exponent.
    Integer,
    Number,
    /// A name that is no keyword.
    Name,
    Keyword(Keyword),
}

macro_rules! keywords {
    ($($keyword:ident $text:literal $exact:literal,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Keyword { $($keyword,)* }

        /// The keywords, and whether they must be written in lower case.
        const KEYWORDS: &[(Keyword, &str, bool)] = &[$((Keyword::$keyword, $text, $exact),)*];
    };
}

keywords! {
    Is "is" false, To "to" false, Abs "abs" false, Lax "lax" false, Flag "flag" false,
    Last "last" false, Null "null" true, Size "size" false, True "true" true, Type "type" false,
    With "with" false, False "false" true, Floor "floor" false, Double "double" false,
    Exists "exists" false, Starts "starts" false, Strict "strict" false, Ceiling "ceiling" false,
    Unknown "unknown" false, Datetime "datetime" false, KeyValue "keyvalue" false,
    LikeRegex "like_regex" false,
}

fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

fn is_special(c: u8) -> bool {
    b"?%$.[]{}()|&!=<>@#,*:-+/".contains(&c)
}

/// A character of names.
fn is_other(c: u8) -> bool {
    !is_blank(c) && !is_special(c) && c != b'\\' && c != b'"'
}

/// Number of bytes at the start of `text` for which `f` is true.
fn run(text: &[u8], f: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|c| f(**c)).count()
}

/// Reads a text token by token.
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    encoding: Encoding,
    interrupts: &'a InterruptChecker<'a>,
    /// The text of the last token: a name or string without quotes and escapes, a number.
    pub value: Vec<u8>,
    /// The part of the text that errors at the last token show.
    shown: Range<usize>,
}

impl<'a> Scanner<'a> {
    pub fn new(
        text: &'a [u8],
        encoding: Encoding,
        interrupts: &'a InterruptChecker<'a>,
    ) -> Scanner<'a> {
        Scanner { text, at: 0, encoding, interrupts, value: Vec::new(), shown: 0..0 }
    }

    /// The syntax error at the last token.
    pub fn unexpected(&self) -> pgerror::PgError {
        syntax_at("syntax error", &self.text[self.shown.clone()])
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Ends a token of this length at the current position.
    fn end(&mut self, length: usize, token: Token) -> Token {
        self.shown = self.at..self.at + length;
        self.at += length;
        token
    }

    /// Reads the next token.
    pub fn next(&mut self) -> Result<Token> {
        loop {
            self.interrupts.tick()?;
            let rest = self.rest();
            let Some(&c) = rest.first() else { return Ok(self.end(0, Token::End)) };
            let second = rest.get(1).copied().unwrap_or(0);
            return Ok(match (c, second) {
                (c, _) if is_blank(c) => {
                    self.at += run(rest, is_blank);
                    continue;
                }
                (b'/', b'*') => {
                    self.comment()?;
                    continue;
                }
                (b'"', _) => {
                    self.at += 1;
                    return self.quoted(Token::String);
                }
                (b'$', b'"') => {
                    self.at += 2;
                    return self.quoted(Token::Variable);
                }
                (b'$', other) if is_other(other) && rest.len() > 1 => {
                    let length = 1 + run(&rest[1..], is_other);
                    self.value = rest[1..length].to_vec();
                    self.end(length, Token::Variable)
                }
                (b'0'..=b'9', _) | (b'.', b'0'..=b'9') => match self.number()? {
                    Some(token) => token,
                    None => match self.name()? {
                        Some(token) => token,
                        None => continue,
                    },
                },
                (c, _) if is_special(c) => self.sign(c, second),
                _ => match self.name()? {
                    Some(token) => token,
                    None => continue,
                },
            });
        }
    }

    fn sign(&mut self, first: u8, second: u8) -> Token {
        let (length, token) = match (first, second) {
            (b'&', b'&') => (2, Token::And),
            (b'|', b'|') => (2, Token::Or),
            (b'*', b'*') => (2, Token::AnyLevels),
            (b'!', b'=') | (b'<', b'>') => (2, Token::NotEqual),
            (b'<', b'=') => (2, Token::LessOrEqual),
            (b'=', b'=') => (2, Token::Equal),
            (b'>', b'=') => (2, Token::GreaterOrEqual),
            (b'!', _) => (1, Token::Not),
            (b'<', _) => (1, Token::Less),
            (b'>', _) => (1, Token::Greater),
            _ => (1, Token::Sign(first)),
        };
        self.end(length, token)
    }

    /// Skips a comment.
    fn comment(&mut self) -> Result<()> {
        let body = self.at + 2;
        match comment_end(&self.text[body..]) {
            Some(length) => self.at = body + length + 2,
            None => return Err(syntax_at("unexpected end of comment", b"")),
        }
        Ok(())
    }

    /// Reads a number; `None` if a name matches a longer part of the text.
    fn number(&mut self) -> Result<Option<Token>> {
        let rest = self.rest();
        let m = Number::at(rest);
        let named = run(rest, is_other);
        let junk = m.length + usize::from(rest.get(m.length).is_some_and(|c| is_other(*c)));
        let failed = if m.fails { m.length + 2 } else { 0 };
        let longest = named.max(junk).max(failed);
        if m.length == longest {
            self.value = rest[..longest].to_vec();
            let token = if m.is_integer { Token::Integer } else { Token::Number };
            return Ok(Some(self.end(longest, token)));
        }
        if failed == longest {
            return Err(syntax_at("invalid numeric literal", &rest[..longest]));
        }
        if junk == longest {
            return Err(syntax_at("trailing junk after numeric literal", &rest[..longest]));
        }
        Ok(None)
    }

    /// Reads a string or a quoted variable after the opening quote.
    fn quoted(&mut self, token: Token) -> Result<Token> {
        self.value.clear();
        loop {
            let rest = self.rest();
            match rest.first() {
                None => return Err(syntax_at("unexpected end of quoted string", b"")),
                Some(b'"') => return Ok(self.end(1, token)),
                Some(b'\\') => self.escape()?,
                Some(_) => {
                    let length = run(rest, |c| c != b'"' && c != b'\\');
                    memory::append(&mut self.value, &rest[..length])?;
                    self.interrupts.tick()?;
                    self.at += length;
                }
            }
        }
    }

    /// Reads a name or a keyword; `None` if a comment follows directly, which drops the name.
    fn name(&mut self) -> Result<Option<Token>> {
        self.value.clear();
        loop {
            let rest = self.rest();
            match (rest.first().copied(), rest.get(1).copied()) {
                (Some(b'\\'), _) => self.escape()?,
                (Some(b'/'), Some(b'*')) => {
                    self.comment()?;
                    return Ok(None);
                }
                (Some(c), _) if is_other(c) => {
                    let length = run(rest, is_other);
                    memory::append(&mut self.value, &rest[..length])?;
                    self.at += length;
                }
                _ => {
                    let blanks = run(rest, is_blank);
                    let token = keyword(&self.value).map_or(Token::Name, Token::Keyword);
                    return Ok(Some(self.end(blanks, token)));
                }
            }
        }
    }

    /// Reads an escape sequence.
    fn escape(&mut self) -> Result<()> {
        let rest = self.rest();
        let c = match rest.get(1) {
            None | Some(b'\n') => {
                return Err(syntax_at("unexpected end after backslash", &rest[..1]));
            }
            Some(b'u') => return self.unicode_escapes(),
            Some(b'x') => {
                let digits = run(&rest[2..rest.len().min(4)], |c| c.is_ascii_hexdigit());
                if digits < 2 {
                    let shown = &rest[..2 + digits];
                    return Err(syntax_at("invalid hex character sequence", shown));
                }
                self.at += 4;
                return self.push_char(code(&rest[2..4]));
            }
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(other) => *other,
        };
        self.value.push(c);
        self.at += 2;
        Ok(())
    }

    /// Reads consecutive escapes of Unicode characters.
    fn unicode_escapes(&mut self) -> Result<()> {
        let rest = self.rest();
        let mut codes = Vec::new();
        let mut length = 0;
        while rest[length..].starts_with(b"\\u") {
            let (digits, used) = unicode_escape(&rest[length..]);
            length += used;
            match digits {
                Some(digits) => codes.push(code(digits)),
                None => return Err(syntax_at("invalid unicode sequence", &rest[..length])),
            }
        }
        self.at += length;
        let mut high = None;
        for code in codes {
            let code = match (code, high.take()) {
                (0xd800..0xdc00, Some(_)) => {
                    return Err(surrogates(
                        "Unicode high surrogate must not follow a high surrogate.",
                    ));
                }
                (0xd800..0xdc00, None) => {
                    high = Some(code);
                    continue;
                }
                (0xdc00..0xe000, Some(high)) => 0x10000 + ((high & 0x3ff) << 10) + (code & 0x3ff),
                (0xdc00..0xe000, None) | (_, Some(_)) => return Err(lone_surrogate()),
                (code, None) => code,
            };
            self.push_char(code)?;
        }
        if high.is_some() { Err(lone_surrogate()) } else { Ok(()) }
    }

    /// Appends a character in the database's encoding.
    fn push_char(&mut self, code: u32) -> Result<()> {
        if code == 0 {
            return Err(pg_err!(UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
                .detail("\\u0000 cannot be converted to text."));
        }
        let Some(c) = char::from_u32(code) else {
            return Err(pg_err!(SYNTAX_ERROR, "invalid Unicode code point"));
        };
        if !c.is_ascii() && self.encoding != Encoding::Utf8 {
            let name = self.encoding.name();
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "conversion between UTF8 and {name} is not supported"
            ));
        }
        self.value.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }
}

#[cold]
fn lone_surrogate() -> pgerror::PgError {
    surrogates("Unicode low surrogate must follow a high surrogate.")
}

/// The offset of the end of a comment.
fn comment_end(text: &[u8]) -> Option<usize> {
    text.windows(2).position(|pair| pair == b"*/")
}

/// The keyword with this text.
fn keyword(text: &[u8]) -> Option<Keyword> {
    KEYWORDS.iter().find_map(|(keyword, name, exact)| {
        let same = match exact {
            true => text == name.as_bytes(),
            false => text.eq_ignore_ascii_case(name.as_bytes()),
        };
        same.then_some(*keyword)
    })
}

/// The digits of an escape `\uXXXX` or `\u{X…}` and its length; `None` and the length of the part
/// that matches if it is not complete.
fn unicode_escape(text: &[u8]) -> (Option<&[u8]>, usize) {
    let hex = |from: usize, most: usize| {
        let end = text.len().min(from + most);
        run(&text[from.min(end)..end], |c| c.is_ascii_hexdigit())
    };
    if text.get(2) == Some(&b'{') {
        let digits = hex(3, 6);
        return match (digits, text.get(3 + digits)) {
            (1.., Some(b'}')) => (Some(&text[3..3 + digits]), 4 + digits),
            _ => (None, 3 + digits),
        };
    }
    match hex(2, 4) {
        4 => (Some(&text[2..6]), 6),
        digits => (None, 2 + digits),
    }
}

/// The number that hexadecimal digits mean.
fn code(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |code, d| code << 4 | char::from(*d).to_digit(16).unwrap_or(0))
}

/// The longest number at the start of a text.
struct Number {
    length: usize,
    is_integer: bool,
    /// A sign without digits follows the number and the letter of an exponent.
    fails: bool,
}

impl Number {
    fn at(text: &[u8]) -> Number {
        let digits = |from: usize| run(&text[from.min(text.len())..], |c| c.is_ascii_digit());
        let whole = match text.first() {
            Some(b'0') => 1,
            _ => digits(0),
        };
        let mut length = whole;
        if text.get(whole) == Some(&b'.') {
            length = whole + 1 + digits(whole + 1);
        }
        let is_integer = length == whole;
        if !matches!(text.get(length), Some(b'e' | b'E')) {
            return Number { length, is_integer, fails: false };
        }
        let signed = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        match digits(length + 1 + signed) {
            0 => Number { length, is_integer, fails: signed == 1 },
            n => Number { length: length + 1 + signed + n, is_integer: false, fails: false },
        }
    }
}
