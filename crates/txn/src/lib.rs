//! Transactions: who committed (pg_xact), who runs (the proc array), what a statement sees
//! (snapshots), who locks a row together (multixacts), which parent a subtransaction has.
//!
//! One [`TxnManager`] an instance, one [`Transaction`] a session.
//!
//! LOCK ORDER: multixact `truncation`, multixact `state`, the id generator, the proc array's lock,
//! then the mutexes of status page sets; the log is inserted into under any of them, flushed under
//! the last kind only.
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
pub use transaction::{CommitDelay, Isolation, Transaction, XactWaits};

#[cfg(test)]
mod tests;
