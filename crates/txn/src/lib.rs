//! Transactions: who committed (pg_xact), who runs (the proc array), what a statement sees
//! (snapshots), who locks a row together (multixacts), which parent a subtransaction has.
//!
//! Reading order: `snapshot`, `multixact`, `manager`, `transaction`.

#![forbid(unsafe_code)]

mod manager;
mod multixact;
mod snapshot;
mod transaction;

pub use manager::{GlobalVis, HorizonKind, Horizons, TxnManager, XidStatus};
pub use multixact::{Members, MultiXactMember, MultiXactStatus};
pub use snapshot::{Snapshot, SnapshotKind};
pub use transaction::Transaction;
