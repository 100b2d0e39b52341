//! The heap access method: unordered rows with multiple versions.
//!
//! A row version (tuple) is identified by its TID. An insertion adds one to a page with room; a
//! deletion sets `xmax`; an update does both and links the old version to the new one by `t_ctid`.
//! If no indexed column changes and the page has room, the new version is *heap-only* (HOT): index
//! entries point to the first member of the HOT chain. Dead members are removed by *pruning*,
//! under the cleanup latch. VACUUM removes the rest, freezes old XIDs and sets the visibility map.
//! `README.md` of this crate describes the algorithms and the deviations from PostgreSQL.
//!
//! LOCK ORDER: heap pages in ascending block number. A visibility-map page is pinned before the
//! heap page is latched, and latched after it. FSM pages are accessed while no heap page is
//! latched, if possible. A session waits for another transaction without holding a latch.
//!
//! Reading order: `context`, `visibility`, `infomask` (meaning of `xmax`), `record` (WAL records),
//! `hio` (finding a page), `insert`, `delete`, `update`, `lock`, `inplace`, `scan`, `fetch`,
//! `prune`, `freeze`, `vacuum`, `visibility_map`, `redo`, `describe`, `verify`.
//!
//! **Architecture Invariant**: the heap knows no index and no catalog.

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
pub use update::{
    Columns, PendingUpdate, UpdateOptions, Updated, begin_update, finish_update, update,
};
pub use visibility::{Liveness, Visibility};

#[cfg(test)]
mod tests;
