//! Autovacuum: which databases and tables it processes, and the work on one table. See
//! `docs/design/0016-statistics.md` and `docs/design/0002-wraparound.md`. The sessions of the
//! workers are in `session::autovacuum`, the threads in `server::workers`.
//!
//! Reading order: `databases`, `tables`, `options` (settings and storage parameters), `workers`
//! (the list of running workers, and their costs).
//!
//! Counterpart: autovacuum.c.

#![forbid(unsafe_code)]

mod databases;
mod options;
mod tables;
mod workers;

pub use databases::{Database, choose, databases};
pub use tables::{OrphanedTable, Table, drop_orphans, finish, process, tables};
pub use workers::{Worker, Workers};
