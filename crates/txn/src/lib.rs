//! Transactions: commit status (pg_xact), running transactions (the proc array), snapshots, row
//! locks held by several transactions (multixacts), parents of subtransactions (pg_subtrans).
//!
//! There is one [`TxnManager`] per instance and one [`Transaction`] per session. `README.md` of
//! this crate describes the algorithms and the deviations from PostgreSQL.
//!
//! LOCK ORDER: multixact `truncation`, multixact `state`, the id generator, the proc array's lock,
//! then the mutexes of status page sets. WAL records are inserted under any of them; the log is
//! flushed only under `truncation` and under the mutexes of page sets.
//!
//! Reading order: `snapshot`, `slru`, `clog`, `subtrans`, `multixact`, `procarray`, `varsup`,
//! `record`, `manager`, `transaction`, `redo`, `standby`, `describe`.

#![forbid(unsafe_code)]

mod clog;
mod combocid;
mod describe;
mod manager;
mod multixact;
mod procarray;
mod record;
mod redo;
mod slru;
mod snapshot;
mod standby;
mod subtrans;
mod transaction;
mod varsup;

pub use describe::describe;
pub use manager::{GlobalVis, HorizonKind, Horizons, TxnConfig, TxnManager, XidStatus};
pub use multixact::{Members, MultiXactMember, MultiXactStatus};
pub use procarray::{PROC_IN_SAFE_IC, PROC_IN_VACUUM, PROC_VACUUM_FOR_WRAPAROUND};
pub use record::{DroppedStats, INVALIDATION_BYTES, ParsedXact, XactExtras, parse_xact};
pub use redo::prepares;
pub use snapshot::{Snapshot, SnapshotKind};
pub use transaction::{CommitDelay, Isolation, PreparedEnd, Transaction, XactWaits};

#[cfg(test)]
mod tests;
