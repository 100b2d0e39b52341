//! The heap access method: rows in no order, every update a new version beside the old one.
//!
//! A row version (tuple) is named by its TID. Insertion puts one into a page with room; deletion
//! stamps `xmax`; an update does both and links old to new through `t_ctid`. If no indexed column
//! changes and the page has room, the new version is *heap-only* (HOT): index entries lead to the
//! chain's first member, and dead members are *pruned* whenever somebody has the page to himself.
//! VACUUM removes the rest, freezes old XIDs and keeps the visibility map.
//!
//! LOCK ORDER: heap pages by ascending block number; visibility-map pages are pinned before the
//! heap page is latched and latched after it; FSM pages while no heap page is latched, if possible.
//! The wait for another transaction happens without any latch.
//!
//! Reading order: `context`, `visibility`, `infomask` (what `xmax` may mean), `record` (the log's
//! structs), `hio` (finding a page), `insert`, `delete`, `update`, `lock`, `scan`, `fetch`,
//! `prune`, `freeze`, `vacuum`, `visibility_map`, `toast`, `redo`, `describe`, `verify`.
//!
//! **Architecture Invariant**: knows no index and no catalog.

#![forbid(unsafe_code)]

mod context;
mod delete;
mod describe;
mod fetch;
pub mod freeze;
mod hio;
mod infomask;
mod inplace;
mod insert;
mod lock;
pub mod prune;
pub mod record;
pub mod redo;
pub mod scan;
mod update;
pub mod vacuum;
pub mod verify;
pub mod visibility;
pub mod visibility_map;

pub use context::{
    HeapCx, HeapRel, InsertTargets, SessionWaits, TmFailure, TmResult, WaitForXact, WaitOperation,
    WaitPolicy,
};
pub use delete::{DeleteOptions, abort_speculative, delete};
pub use describe::describe;
pub use fetch::{Fetched, fetch_entries, fetch_row_version, fetch_tid, get_latest_tid, hot_search};
pub use hio::BulkInsert;
pub use inplace::{InPlace, inplace_update};
pub use insert::{InsertOptions, Tuples, finish_speculative, insert, multi_insert};
pub use lock::{LockOptions, Locked, TupleLockMode, lock_tuple};
pub use update::{Columns, Held, Updated, hold_for_update, update, update_held};
pub use visibility::{Liveness, Visibility};

#[cfg(test)]
mod tests;
