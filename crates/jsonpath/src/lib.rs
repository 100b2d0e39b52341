//! The type jsonpath: PostgreSQL's representation, the grammar of its text, and its output. The
//! evaluation over jsonb is in `types::json::path`, because it needs jsonb, dates and regular
//! expressions.
//!
//! Reading order: `format` (the stored form), `scan` (text → tokens), `parse` (tokens →
//! `tree`), `write` (tree → stored form), `print` (stored form → text).

#![forbid(unsafe_code)]

mod error;
mod format;
mod parse;
mod print;
mod scan;
mod tree;
mod write;

pub use error::damaged;
pub use format::{Item, Kind, Path, Pattern, PatternFlags};
pub use parse::{Input, parse};
pub use print::text_of;
