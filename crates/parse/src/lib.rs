//! The parser: SQL text to the raw parse tree [`ast`]. No names are looked up here.
//!
//! PostgreSQL's own parser (the grammar of version 18) parses the text; its tree is translated at
//! the only module that calls C code, `ffi`.
//!
//! Syntax that is newer than version 15 is a syntax error, as far as `ffi/newer` and `ffi/json`
//! recognize it. XML syntax is accepted by the grammar and refused with 0A000. Words that are
//! keywords only in the newer grammar cannot be used as names everywhere: `CREATE FUNCTION
//! json_value` needs quotes.
//!
//! Counterpart: parser/parser.c.

#![deny(unsafe_code)]

// The raw parse tree and the settings of the parser.
pub mod ast;
pub mod keywords;
mod options;

// The C parser, and checks that its lexer does not have.
mod error;
#[allow(unsafe_code)]
mod ffi;
mod lexical;

// Tokens, for other grammars than that of SQL.
pub mod tokens;

#[cfg(test)]
mod tests;

pub use ast::{Node, RawStmt};
pub use error::position;
pub use keywords::quote_identifier;
pub use options::{DEEP_NODES, DEPTH_BYTES_MAX, Mode, Options};

use pgerror::{PgError, Result, SqlState};

/// Memory of the grammar's nodes per token, in bytes: 115 were measured for a list of numbers, in
/// which a token has two bytes.
const TOKEN_BYTES: usize = 160;
/// Number of copies of the text in the scanner and the tree.
const TEXT_COPIES: usize = 3;

/// Parses a query string with default settings.
pub fn parse(sql: &str) -> Result<Vec<RawStmt>> {
    parse_with(sql, Options::default())
}

/// Parses a query string under the session's settings.
pub fn parse_with(sql: &str, options: Options) -> Result<Vec<RawStmt>> {
    parse_with_notices(sql, options, &mut Vec::new())
}

/// Like [`parse_with`]; also returns the lexer's notices and warnings up to the first error.
pub fn parse_with_notices(
    sql: &str,
    options: Options,
    notices: &mut Vec<PgError>,
) -> Result<Vec<RawStmt>> {
    admit(sql)?;
    let parsed = ffi::parse(sql, options);
    let mut found = Vec::new();
    let junk = lexical::first(sql, options.standard_conforming_strings, &mut found);
    let position_of = |at: usize| i32::try_from(at).map_or(0, |at| position(sql, at));
    let parsed = match (parsed, junk) {
        (parsed, None) => parsed,
        (Err(e), Some(j)) if e.fields().position.is_some_and(|p| p < position_of(j.start)) => {
            Err(e)
        }
        (_, Some(j)) => {
            Err(pgerror::pg_err!(SYNTAX_ERROR, "{}", j.message(sql)).at(position_of(j.start)))
        }
    };
    if !found.is_empty() {
        let end = parsed.as_ref().err().and_then(|e| e.fields().position).unwrap_or(u32::MAX);
        let wanted = found.into_iter().filter(|(at, notice)| {
            let is_escape = notice.code() == SqlState::NONSTANDARD_USE_OF_ESCAPE_CHARACTER;
            position_of(*at) <= end && (options.escape_string_warning || !is_escape)
        });
        notices.extend(wanted.map(|(_, notice)| notice));
    }
    parsed
}

/// The C parser's memory is not counted by the allocator, so an upper bound of it is requested in
/// advance. The parser creates a few nodes per token; a token is a word, or at least one byte other
/// than white space.
fn admit(sql: &str) -> Result<()> {
    if sql.len() < sync::memory::LARGE_BYTES {
        return Ok(());
    }
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
    let (mut tokens, mut within) = (0, false);
    for b in sql.bytes() {
        let is_word = word(b);
        tokens += usize::from(if is_word { !within } else { !b.is_ascii_whitespace() });
        within = is_word;
    }
    sync::memory::admit(tokens * TOKEN_BYTES + sql.len() * TEXT_COPIES)
        .map_err(|r| pgerror::pg_err!(OUT_OF_MEMORY, "out of memory").detail(r.to_string()))
}

/// Parses the name of a type, as in `CAST(x AS …)`.
pub fn parse_type_name(text: &str) -> Result<ast::TypeName> {
    let options = Options { mode: Mode::TypeName, ..Options::default() };
    match ffi::parse(text, options)?.pop().map(|s| s.stmt) {
        Some(Node::TypeName(name)) => Ok(*name),
        _ => Err(pgerror::pg_err!(SYNTAX_ERROR, "invalid type name \"{text}\"")),
    }
}
