//! The write-ahead log: records, reader, insertion, flush, segments, and the control file.
//!
//! Knows no access method: the meaning of a record belongs to the module of its resource manager.
//! Reading order: `rmgr`, `layout`, `record`, `image`, `build`, `reader`, `fields`, `desc`; for
//! writing `reserve`, `slots`, `ring`, `segment`, `writer`, `delay`, and `wal`, which joins them;
//! then `control`. `README.md` of this crate describes the algorithm and its memory-order
//! argument.

#![forbid(unsafe_code)]

mod build;
pub mod control;
mod delay;
pub mod desc;
mod fields;
mod image;
pub mod layout;
#[cfg(all(loom, test))]
mod model;
mod reader;
pub mod record;
mod reserve;
mod ring;
mod rmgr;
mod segment;
mod slots;
#[cfg(all(test, not(loom)))]
mod tests;
mod wal;
mod writer;

pub use build::{Compression, RecordBuilder, RegFlags, WalUsage};
pub use control::{CheckPoint, ControlFile, DbState};
pub use delay::DelayGuard;
pub use fields::Fields;
pub use reader::WalReader;
pub use record::{BlockImage, DecodedBlock, DecodedRecord, RecordHeader};
pub use rmgr::RmgrId;
pub use segment::SegmentCounts;
pub use wal::{Inserted, SyncMethod, Wal, WalConfig, WalLevel, WalStart, WalStats};
