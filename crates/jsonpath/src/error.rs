//! Errors of the type.

use pgerror::{PgError, pg_err};
use std::borrow::Cow;
use values::fn_context::InterruptChecker;

/// XX001: the stored form is not valid.
#[cold]
pub fn damaged() -> PgError {
    pg_err!(DATA_CORRUPTED, "stored jsonpath is corrupted")
}

/// 42601 at a part of the text. `shown` is empty at the end of the text.
#[cold]
pub(crate) fn syntax_at(message: &str, shown: &[u8]) -> PgError {
    if shown.is_empty() {
        return pg_err!(SYNTAX_ERROR, "{message} at end of jsonpath input");
    }
    let shown: Cow<'_, str> = String::from_utf8_lossy(shown);
    pg_err!(SYNTAX_ERROR, "{message} at or near \"{shown}\" of jsonpath input")
}

/// 22P02 for surrogates that are not pairs.
#[cold]
pub(crate) fn surrogates(detail: &str) -> PgError {
    pg_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type jsonpath")
        .detail(detail.to_owned())
}

/// The deepest nesting of a path with the default of `max_stack_depth`.
const DEPTH_MAX: u32 = 10_000;

/// An error if a path is nested too deeply for the session's `max_stack_depth`: 54001.
pub(crate) fn check_depth(depth: u32, interrupts: &InterruptChecker<'_>) -> pgerror::Result<()> {
    if interrupts.allows_depth(depth, DEPTH_MAX) { Ok(()) } else { Err(interrupts.too_deep()) }
}
