//! Text search: the types tsvector and tsquery in PostgreSQL's formats, the default parser, the
//! dictionaries, ranking and headlines. Nothing here reads a catalog or a file: configurations and
//! dictionaries are given by the caller, which finds them by OID.
//!
//! Reading order: `ctype` (classes of characters), `vector` and `query` (the stored forms),
//! `execute` (whether a vector matches a query), `parser` (text → tokens), `dict` and `snowball`
//! (token → lexemes), `lexize` (text → lexemes), `document` (lexemes → vectors and queries),
//! `rank`, `headline`.

#![forbid(unsafe_code)]

pub mod ctype;
pub mod dict;
pub mod document;
pub mod estimate;
pub mod execute;
pub mod functions;
pub mod gin;
pub mod gist;
pub mod headline;
mod lexeme_reader;
pub mod lexeme_stats;
pub mod lexize;
mod limits;
pub mod parser;
pub mod query;
mod query_io;
mod query_parse;
mod query_tree;
mod rank;
mod rewrite;
pub mod snowball;
pub mod stat;
pub mod vector;
mod vector_fns;
mod vector_io;

pub use functions::TABLES;
pub use limits::{LEXEME_BYTES_LIMIT, POSITION_LIMIT, POSITIONS_MAX, TEXT_BYTES_MAX};
pub use query_io::query_text;
pub use rank::{rank, rank_cover};
pub use rewrite::Rewriter;
pub use vector_io::vector_text;
