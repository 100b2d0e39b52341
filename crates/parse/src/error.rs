//! Completes the parser's errors, whose SQLSTATE, hint and detail are lost at the C interface: they
//! are looked up by the message. Also converts byte offsets to character positions.

use pgerror::{PgError, SqlState};

/// A message whose SQLSTATE is not 42601 or that has a hint or detail. A message that ends with `…`
/// matches as a prefix, one that begins with it as a suffix.
struct MessageFacts {
    message: &'static str,
    code: SqlState,
    hint: Option<&'static str>,
    detail: Option<&'static str>,
}

const fn known(message: &'static str, code: SqlState) -> MessageFacts {
    MessageFacts { message, code, hint: None, detail: None }
}

const fn hinted(message: &'static str, code: SqlState, hint: &'static str) -> MessageFacts {
    MessageFacts { message, code, hint: Some(hint), detail: None }
}

const MESSAGES: &[MessageFacts] = &[
    known("invalid byte sequence for encoding …", SqlState::CHARACTER_NOT_IN_REPERTOIRE),
    known("… hash partition provided more than once", SqlState::DUPLICATE_OBJECT),
    known("… constraints cannot be marked DEFERRABLE", SqlState::FEATURE_NOT_SUPPORTED),
    known("… constraints cannot be marked ENFORCED", SqlState::FEATURE_NOT_SUPPORTED),
    known("… constraints cannot be marked NOT ENFORCED", SqlState::FEATURE_NOT_SUPPORTED),
    known("… constraints cannot be marked NOT VALID", SqlState::FEATURE_NOT_SUPPORTED),
    known("… constraints cannot be marked NO INHERIT", SqlState::FEATURE_NOT_SUPPORTED),
    known("… is not yet implemented", SqlState::FEATURE_NOT_SUPPORTED),
    known("… not yet implemented", SqlState::FEATURE_NOT_SUPPORTED),
    known("CREATE EXTENSION ... FROM is no longer supported", SqlState::FEATURE_NOT_SUPPORTED),
    known("CREATE OR REPLACE CONSTRAINT TRIGGER is not supported", SqlState::FEATURE_NOT_SUPPORTED),
    known(
        "CREATE SCHEMA IF NOT EXISTS cannot include schema elements",
        SqlState::FEATURE_NOT_SUPPORTED,
    ),
    hinted(
        "UNENCRYPTED PASSWORD is no longer supported",
        SqlState::FEATURE_NOT_SUPPORTED,
        "Remove UNENCRYPTED to store the password in encrypted form instead.",
    ),
    known("WITH CHECK OPTION not supported on recursive views", SqlState::FEATURE_NOT_SUPPORTED),
    known("a column list with …", SqlState::FEATURE_NOT_SUPPORTED),
    known("aggregates cannot have output arguments", SqlState::FEATURE_NOT_SUPPORTED),
    known(
        "an ordered-set aggregate with a VARIADIC direct argument must have one VARIADIC …",
        SqlState::FEATURE_NOT_SUPPORTED,
    ),
    known("constraints cannot be altered to be NOT VALID", SqlState::FEATURE_NOT_SUPPORTED),
    known("current database cannot be changed", SqlState::FEATURE_NOT_SUPPORTED),
    known("dropping an enum value is not implemented", SqlState::FEATURE_NOT_SUPPORTED),
    known("conversion between …", SqlState::FEATURE_NOT_SUPPORTED),
    known("only string constants are supported in JSON_TABLE …", SqlState::FEATURE_NOT_SUPPORTED),
    MessageFacts {
        message: "unsafe use of string constant with Unicode escapes",
        code: SqlState::FEATURE_NOT_SUPPORTED,
        hint: None,
        detail: Some(
            "String constants with Unicode escapes cannot be used when \
             standard_conforming_strings is off.",
        ),
    },
    // For E'' strings; for U&'' strings see `from_parser`.
    hinted(
        "invalid Unicode escape",
        SqlState::INVALID_ESCAPE_SEQUENCE,
        "Unicode escapes must be \\uXXXX or \\UXXXXXXXX.",
    ),
    known("column number must be in range from …", SqlState::INVALID_PARAMETER_VALUE),
    known("precision for type float must be …", SqlState::INVALID_PARAMETER_VALUE),
    known("unrecognized JSON encoding: …", SqlState::INVALID_PARAMETER_VALUE),
    known("unrecognized partitioning strategy …", SqlState::INVALID_PARAMETER_VALUE),
    hinted(
        "unsafe use of \\' in a string literal",
        SqlState::NONSTANDARD_USE_OF_ESCAPE_CHARACTER,
        "Use '' to write quotes in strings. \\' is insecure in client-only encodings.",
    ),
    known("… cannot be used as a role name here", SqlState::RESERVED_NAME),
    known("role name …", SqlState::RESERVED_NAME),
    hinted(
        "LIMIT #,# syntax is not supported",
        SqlState::SYNTAX_ERROR,
        "Use separate LIMIT and OFFSET clauses.",
    ),
    MessageFacts {
        message: "invalid publication object list",
        code: SqlState::SYNTAX_ERROR,
        hint: None,
        detail: Some(
            "One of TABLE or TABLES IN SCHEMA must be specified before a standalone table or \
             schema name.",
        ),
    },
    hinted(
        "missing argument",
        SqlState::SYNTAX_ERROR,
        "Use NONE to denote the missing argument of a unary operator.",
    ),
    hinted(
        "unrecognized row security option …",
        SqlState::SYNTAX_ERROR,
        "Only PERMISSIVE or RESTRICTIVE policies are supported currently.",
    ),
    known("frame end cannot be …", SqlState::WINDOWING_ERROR),
    known("frame start cannot be …", SqlState::WINDOWING_ERROR),
    known("frame starting from …", SqlState::WINDOWING_ERROR),
];

/// Messages that have no position in PostgreSQL 15.
const WITHOUT_POSITION: &[&str] = &[
    "SKIP LOCKED and WITH TIES options cannot be used together",
    "WITH TIES cannot be specified without ORDER BY clause",
    "FOREIGN KEY constraints cannot be marked NOT VALID",
    "… constraints cannot be marked DEFERRABLE",
    "… constraints cannot be marked NOT VALID",
    "… constraints cannot be marked NO INHERIT",
    "unrecognized partitioning strategy …",
];

fn matches(pattern: &str, message: &str) -> bool {
    if let Some(prefix) = pattern.strip_suffix('…') {
        message.starts_with(prefix)
    } else if let Some(suffix) = pattern.strip_prefix('…') {
        message.ends_with(suffix)
    } else {
        message == pattern
    }
}

/// Builds the error that PostgreSQL raises. `function`: the C function that reported it;
/// `position`: 1-based, in characters, 0 if unknown.
#[cold]
pub(crate) fn from_parser(message: String, function: &str, position: u32) -> PgError {
    if function == "str_udeescape" && message == "invalid Unicode escape" {
        return PgError::new(SqlState::SYNTAX_ERROR, message)
            .hint("Unicode escapes must be \\XXXX or \\+XXXXXX.")
            .at(position);
    }
    let mut message = message;
    if message == "constraints cannot be altered to be NOT VALID" {
        message = "FOREIGN KEY constraints cannot be marked NOT VALID".to_owned();
    }
    let has_no_position = WITHOUT_POSITION.iter().any(|n| matches(n, &message));
    let position = if has_no_position { 0 } else { position };
    let known = MESSAGES.iter().find(|k| matches(k.message, &message));
    let code = known.map_or(SqlState::SYNTAX_ERROR, |k| k.code);
    let mut error = PgError::new(code, message).at(position);
    if let Some(hint) = known.and_then(|k| k.hint) {
        error = error.hint(hint);
    }
    if let Some(detail) = known.and_then(|k| k.detail) {
        error = error.detail(detail);
    }
    error
}

/// The 1-based character position of a byte offset in the text; 0 for an unknown one.
pub fn position(sql: &str, location: i32) -> u32 {
    let Ok(offset) = usize::try_from(location) else { return 0 };
    if sql.is_empty() {
        return 0;
    }
    let end = offset.min(sql.len());
    // Counts the bytes that are not continuation bytes of UTF-8.
    let before = sql.as_bytes()[..end].iter().filter(|b| **b & 0xC0 != 0x80).count();
    u32::try_from(before + 1).unwrap_or(0)
}
