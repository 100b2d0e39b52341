//! The hash access method: linear hashing with overflow chains, in PostgreSQL 15's format (version
//! 4). `README.md` of this crate describes the algorithms, the lock order and the deviations from
//! PostgreSQL.
//!
//! Reading order: `am` (registration), `index` (handle, buckets, pages), `insert`, `overflow`
//! (allocation), `squeeze` (compaction, freeing), `cleanup` (deletion within a bucket), `split`,
//! `vacuum`, `scan`, `build`; `records`, `redo`, `describe`; `verify`.

#![forbid(unsafe_code)]

mod am;
mod build;
mod cleanup;
mod describe;
mod index;
mod insert;
mod overflow;
pub mod records;
mod redo;
mod scan;
mod split;
mod squeeze;
mod vacuum;
mod verify;

#[cfg(test)]
mod tests;

pub use am::{Hash, INFO};
pub use describe::describe;
pub use index::HashIndex;
pub use redo::{mask, redo};
