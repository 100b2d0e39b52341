//! The B-tree access method: Lehman and Yao's tree with high keys and right links, in PostgreSQL
//! 15's format (version 4 pages, heap TIDs as the last key column, suffix truncation, posting
//! lists). `README.md` of this crate describes the algorithms, the lock order and the deviations
//! from PostgreSQL.
//!
//! Reading order: `schema`, `key`, `truncate`, `splitloc`, `dedup`, `bulk`, `sort` (single pages
//! and tuples); `buf`, `index`, `search`, `scan_key`, `scan`; `liveness`, `insert`,
//! `unique`, `split`, `delete`; `cycle`, `vacuum`, `page_delete`; `build`; `records`, `redo`,
//! `describe`; `verify`.

#![forbid(unsafe_code)]

mod buf;
mod build;
mod bulk;
mod cycle;
mod dedup;
mod delete;
mod describe;
mod index;
mod inline;
mod insert;
mod key;
mod liveness;
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

pub use buf::{Cx, Xids};
pub use build::OnDuplicate;
pub use bulk::BulkLoader;
pub use cycle::VacuumCycles;
pub use describe::describe;
pub use index::Index;
pub use insert::{Inserted, UniqueCheck};
pub use liveness::{DeleteCandidate, DeleteOp, DirtyState, HeapLiveness};
pub use redo::{mask, redo, redo_concerns_one_page};
pub use scan::{AllVisible, Scan, ScanItem, ScanOptions};
pub use scan_key::{Direction, RowMember, ScanKey, ScanOp};
pub use schema::{KeyColumn, KeySchema};
pub use sort::{SortedRuns, Sorter};
pub use vacuum::{BulkDeleteResult, IsDead};
pub use verify::VerifyStats;
