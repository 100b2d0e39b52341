//! The interface of the storage layer: recovery, checkpoints, sessions' access to tables, indexes
//! and sequences, vacuum, TOAST, control file. Code above it does not access pages.
//!
//! Reading order: `config`, `engine` (components of an instance), `cluster`, `shared` (components
//! that sessions use), `control`, `relmap`, `truncate`, `dbase`, `unlogged`, `xlog`, `rmgr`
//! (resource managers), `redo`, `redo_workers`, `consistency`, `describe`, `recovery`,
//! `checkpoint`; for sessions: `am` (index access methods), `backend` (state of a session), `desc`
//! (open tables and indexes), `storage` (their files), `mapping` (new files of catalogs), `table`,
//! `index`, `build`, `inplace`, `vacuum`, `rewrite`, `sample`, `sequence`, `verify`, `tempfile`,
//! `prewarm`, `inspect`.

#![forbid(unsafe_code)]

pub mod am;
mod backend;
mod build;
mod checkpoint;
mod cluster;
mod config;
mod consistency;
pub mod control;
mod dbase;
mod desc;
mod describe;
mod engine;
pub mod index;
pub mod inplace;
pub mod inspect;
mod liveness;
mod log_check;
mod mapping;
pub mod prewarm;
mod recovery;
mod redo;
mod redo_workers;
pub mod relmap;
pub mod rewrite;
mod rmgr;
mod row_lock;
mod rowfile;
mod rows;
pub mod sample;
pub mod sequence;
mod shared;
pub mod statistics;
pub mod storage;
pub mod table;
mod tempfile;
#[cfg(test)]
mod tests;
mod time;
pub mod toast;
pub mod truncate;
mod unlogged;
pub mod vacuum;
pub mod verify;
pub mod version;
mod xlog;

pub use backend::{Backend, BackendSettings, CommitExtras, FinishPrepared, PrepareExtras};
pub use bufmgr::{BufferInfo, BufferUsage, PoolSettings};
pub use checkpoint::CheckpointFlags;
pub use cluster::{ClusterOptions, create_cluster};
pub use config::{BackgroundConfig, EngineConfig, LogSink};
pub use control::Control;
pub use dbase::{SourceRelation, TABLESPACE_VERSION_DIRECTORY};
pub use desc::{IndexDesc, OpenIndex, OpenTable, TableDesc, ToastDesc};
pub use engine::Engine;
pub use page::varlena::Compression as ToastCompression;
pub use relmap::{DbKey, RelMap, RelMaps};
pub use rmgr::describe;
pub use rowfile::{RowFile, StoredRows};
pub use shared::Storage;
pub use stats::Kind as StatsKind;
pub use tempfile::{TempFile, TempSpace};
pub use twophase::PreparedRow;
pub use txn::{CommitDelay, DroppedStats, Isolation, Snapshot, SnapshotKind};
pub use wal::{Compression as WalCompression, RmgrId, WalStats, WalUsage};
