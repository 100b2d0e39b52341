//! The B-tree access method: Lehman and Yao's tree with high keys and right links, in PostgreSQL
//! 15's format (version 4 pages, heap TIDs as the last key column, suffix truncation, posting
//! lists). `README.md` of this crate describes the algorithms, the lock order and the deviations
//! from PostgreSQL.
//!
//! Reading order: `am` (the interface of crate `access`); `schema`, `key`, `truncate`, `splitloc`,
//! `dedup`, `bulk`, `sort` (single pages and tuples); `buf`, `index`, `search`, `scan_key`, `scan`;
//! `insert`, `unique`, `split`, `delete`; `cycle`, `vacuum`, `page_delete`; `build`; `records`,
//! `redo`, `describe`; `verify`.

#![forbid(unsafe_code)]

mod am;
mod buf;
mod build;
mod bulk;
mod cycle;
mod dedup;
mod delete;
mod describe;
mod index;
mod insert;
mod key;
mod page_delete;
pub mod records;
mod redo;
mod scan;
mod scan_key;
mod schema;
mod search;
mod sort;
mod split;
mod splitloc;
mod truncate;
mod unique;
mod vacuum;
mod verify;

#[cfg(test)]
mod tests;

pub use am::{BTree, INFO};
pub use bulk::BulkLoader;
pub use cycle::VacuumCycles;
pub use describe::describe;
pub use index::Index;
pub use redo::{mask, redo, redo_concerns_one_page};
pub use schema::{KeyColumn, KeySchema};
pub use sort::{SortedRuns, Sorter};
pub use verify::VerifyStats;
