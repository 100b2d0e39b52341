//! The write-ahead log: records, reader, insertion, flush, segments, and the control file.
//!
//! Knows no access method: what a record means is known to the module whose resource manager it
//! carries. Reading order: `rmgr`, `layout`, `record`, `image`, `build`, `reader`, then for writing
//! `insert`, and `control`.

#![forbid(unsafe_code)]

mod build;
pub mod control;
mod image;
pub mod layout;
pub mod record;
mod rmgr;
mod wal;

pub use build::{Compression, RecordBuilder, RegFlags};
pub use control::{CheckPoint, ControlFile, DbState};
pub use record::{BlockImage, DecodedBlock, DecodedRecord, RecordHeader};
pub use rmgr::RmgrId;
pub use wal::{DelayGuard, Inserted, SyncMethod, Wal, WalConfig, WalLevel, WalStart, WalStats};
