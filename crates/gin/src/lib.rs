//! The GIN access method: an inverted index in PostgreSQL 15's format (version 2). `README.md` of
//! this crate describes the algorithms, the lock order and the deviations from PostgreSQL.
//!
//! Reading order: `am` (registration), `index` (handle, pages), `key` (entries and their order);
//! `tree` (descent, insertion and splits of both kinds of trees), `entry` (the entry tree),
//! `posting` (posting trees), `leaf` (their leaves), `insert`; `pending` (the pending list),
//! `flush` (its transfer), `accumulate`, `build`, `load`; `query`, `stream`, `scan`; `vacuum`,
//! `delete`; `records`, `redo`, `describe`; `verify`.

#![forbid(unsafe_code)]

mod accumulate;
mod am;
mod build;
mod delete;
mod describe;
mod entry;
mod flush;
mod index;
mod insert;
mod key;
mod leaf;
mod load;
mod pending;
mod posting;
mod query;
pub mod records;
mod redo;
mod scan;
mod stream;
mod tree;
mod vacuum;
mod verify;

#[cfg(test)]
mod tests;

pub use am::{Gin, INFO};
pub use describe::describe;
pub use index::GinIndex;
pub use redo::{mask, redo};
