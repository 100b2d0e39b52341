//! The tokens of a function's body, read on demand and numbered. Counterpart: pl_scanner.c.

use parse::tokens::{Kind, Token, Tokens};
use pgerror::{PgError, Result, pg_err};

/// Words that are no names, not even of variables.
const RESERVED: &[&str] = &[
    "all", "begin", "by", "case", "declare", "else", "end", "execute", "for", "foreach", "from",
    "if", "in", "into", "loop", "not", "null", "or", "strict", "then", "to", "using", "when",
    "while",
];

pub(crate) struct Scanner<'a> {
    text: &'a str,
    /// `standard_conforming_strings`
    conforming: bool,
    source: Tokens<'a>,
    /// The tokens that have been read.
    read: Vec<Token>,
    /// The number of the next token.
    at: usize,
    /// The line of the last location that was asked for, and the offset of its start.
    line: (u32, usize),
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, conforming: bool) -> Scanner<'a> {
        let source = Tokens::new(text, conforming);
        Scanner { text, conforming, source, read: Vec::new(), at: 0, line: (1, 0) }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The token `ahead` tokens after the next one.
    pub(crate) fn peek_at(&mut self, ahead: usize) -> Result<Token> {
        while self.read.len() <= self.at + ahead {
            match self.read.last() {
                Some(last) if last.kind == Kind::End => return Ok(*last),
                _ => self.read.push(self.source.next_token()?),
            }
        }
        Ok(self.read[self.at + ahead])
    }

    pub(crate) fn peek(&mut self) -> Result<Token> {
        self.peek_at(0)
    }

    pub(crate) fn next(&mut self) -> Result<Token> {
        let token = self.peek()?;
        if token.kind != Kind::End {
            self.at += 1;
        }
        Ok(token)
    }

    /// Moves back by one token, which was not the end.
    pub(crate) fn back(&mut self) {
        self.at -= 1;
    }

    /// The token before the next one.
    pub(crate) fn previous(&self) -> Option<Token> {
        self.at.checked_sub(1).and_then(|at| self.read.get(at)).copied()
    }

    /// True if the token is this word, without quotes. `word` is in lower case.
    pub(crate) fn is(&self, token: Token, word: &str) -> bool {
        token.kind == Kind::Word && token.text(self.text).eq_ignore_ascii_case(word)
    }

    /// True if the next token is this word.
    pub(crate) fn at_word(&mut self, word: &str) -> Result<bool> {
        let token = self.peek()?;
        Ok(self.is(token, word))
    }

    /// Skips the next token if it is this word.
    pub(crate) fn accept(&mut self, word: &str) -> Result<bool> {
        let found = self.at_word(word)?;
        if found {
            self.next()?;
        }
        Ok(found)
    }

    /// Skips this word, or a syntax error.
    pub(crate) fn expect(&mut self, word: &str) -> Result<Token> {
        let token = self.next()?;
        if self.is(token, word) { Ok(token) } else { Err(self.syntax_error(token)) }
    }

    pub(crate) fn is_op(&self, token: Token, op: &str) -> bool {
        matches!(token.kind, Kind::Op | Kind::Char(_)) && token.text(self.text) == op
    }

    pub(crate) fn at_op(&mut self, op: &str) -> Result<bool> {
        let token = self.peek()?;
        Ok(self.is_op(token, op))
    }

    pub(crate) fn accept_op(&mut self, op: &str) -> Result<bool> {
        let found = self.at_op(op)?;
        if found {
            self.next()?;
        }
        Ok(found)
    }

    pub(crate) fn expect_op(&mut self, op: &str) -> Result<Token> {
        let token = self.next()?;
        if self.is_op(token, op) { Ok(token) } else { Err(self.syntax_error(token)) }
    }

    /// True for an identifier that is not a reserved word.
    pub(crate) fn is_name(&self, token: Token) -> bool {
        match token.kind {
            Kind::Quoted => true,
            Kind::Word => {
                let text = token.text(self.text);
                !RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word))
            }
            _ => false,
        }
    }

    /// The name that an identifier or parameter means.
    pub(crate) fn name_of(&self, token: Token) -> String {
        token.name(self.text)
    }

    pub(crate) fn string_of(&self, token: Token) -> String {
        token.string(self.text, self.conforming)
    }

    /// Reads an identifier that is not a reserved word.
    pub(crate) fn name(&mut self) -> Result<(String, Token)> {
        let token = self.next()?;
        if !self.is_name(token) {
            return Err(self.syntax_error(token));
        }
        Ok((self.name_of(token), token))
    }

    pub(crate) fn position(&self, at: usize) -> u32 {
        parse::position(self.text, i32::try_from(at).unwrap_or(-1))
    }

    pub(crate) fn syntax_error(&self, token: Token) -> PgError {
        self.error(token, "syntax error")
    }

    /// A syntax error that names the token.
    pub(crate) fn error(&self, token: Token, message: &str) -> PgError {
        let e = match token.kind {
            Kind::End => pg_err!(SYNTAX_ERROR, "{message} at end of input"),
            _ => {
                let near = token.text(self.text);
                pg_err!(SYNTAX_ERROR, "{message} at or near \"{near}\"")
            }
        };
        e.at(self.position(token.start))
    }

    pub(crate) fn end_of_function(&self, token: Token) -> PgError {
        self.error(token, "unexpected end of function definition")
    }

    /// The line of a byte offset.
    pub(crate) fn line_of(&mut self, at: usize) -> u32 {
        let (line, from) = if at < self.line.1 { (1, 0) } else { self.line };
        let breaks = self.text.as_bytes()[from..at.min(self.text.len())].iter();
        let breaks = breaks.filter(|b| **b == b'\n').count();
        self.line = (line + breaks as u32, at);
        self.line.0
    }

    /// The line of the last location that was asked for, for contexts of errors.
    pub(crate) fn latest_line(&self) -> u32 {
        self.line.0
    }
}
