//! The storage façade: recovery, checkpoints, sessions' access to tables, indexes and sequences,
//! vacuum, TOAST. Nothing above sees a page.
//!
//! Reading order: `shared` (what all sessions share), `backend` (what a session owns), `desc` (open
//! tables and indexes), `storage` (their files), `table`, `index`, `vacuum`, `sample`, `sequence`.

#![forbid(unsafe_code)]

mod backend;
mod desc;
pub mod index;
pub mod sample;
pub mod sequence;
mod shared;
pub mod storage;
pub mod table;
pub mod vacuum;

pub use backend::{Backend, BackendSettings, CommitExtras};
pub use desc::{IndexDesc, OpenIndex, OpenTable, TableDesc, ToastDesc};
pub use shared::Storage;
pub use txn::{DroppedStats, Isolation, Snapshot, SnapshotKind};
