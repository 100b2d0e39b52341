//! Cumulative statistics: counters of relations, databases and functions, and the rules by which
//! autovacuum decides from them. See `docs/design/0016-statistics.md`.
//!
//! Reading order: `values` (the counters, in the order of PostgreSQL's structs), `shared` (the
//! entries that all sessions share), `session` (counting without shared writes), `pending` (what a
//! session counts for one relation, and its transactions), `fetch` (consistent reads), `file` (the
//! file that keeps them over a restart), `progress` (running commands), `thresholds` (which tables
//! autovacuum processes).

#![forbid(unsafe_code)]

mod fetch;
mod file;
mod pending;
mod progress;
mod session;
mod shared;
#[cfg(test)]
mod tests;
pub mod thresholds;
mod values;

pub use fetch::Consistency;
pub use file::{FileError, Fixed, parse, serialize};
pub use pending::{Change, Pending, PreparedRows, Rows as StatsRows};
pub use progress::{Command, Progress};
pub use session::{FunctionCall, SessionEnd, SessionState, SessionStats, TrackFunctions};
pub use shared::{Key, Kind, Stats};
pub use values::{
    DatabaseField, DatabaseStats, FunctionField, FunctionStats, RelationField, RelationStats,
};
