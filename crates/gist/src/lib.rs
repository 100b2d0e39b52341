//! The GiST access method: balanced trees of keys that cover what is below them, in PostgreSQL 15's
//! format. `README.md` of this crate describes the algorithms, the lock order and the deviations
//! from PostgreSQL.
//!
//! Reading order: `am` (registration), `schema` (columns, tuples, choice of subtrees), `split` (how
//! the tuples of a page are divided), `index` (handle, pages), `place` (changes of one page),
//! `insert` (descent, downlinks), `scan`, `vacuum`, `build`; `records`, `redo`, `describe`;
//! `verify`.

#![forbid(unsafe_code)]

mod am;
mod build;
mod describe;
mod index;
mod insert;
mod place;
pub mod records;
mod redo;
mod scan;
mod schema;
mod split;
mod vacuum;
mod verify;

#[cfg(test)]
mod tests;

pub use am::{Gist, INFO};
pub use describe::describe;
pub use index::GistIndex;
pub use redo::{mask, redo};
