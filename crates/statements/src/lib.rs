//! Statistics of statements: their identifiers, normalized texts, and counters, which the extension
//! `pg_stat_statements` shows.
//!
//! A query is identified by a hash of its analysed tree (`jumble`), a utility statement by one of
//! its text. Equal statements differ only in constants, names of output columns, comments and white
//! space. `normalize` replaces the constants of a text by `$n`. An entry (`registry`) is for a
//! user, a database, an identifier, and statements that run inside others or not. A session counts
//! through its `Collector`, which keeps the entries that it has used: to count an execution takes
//! one mutex, which few sessions share, and no allocation.
//!
//! Reading order: `jumble`, `normalize`, `counters`, `registry`, `collector`, `file`.
//!
//! Counterpart: utils/misc/queryjumble.c, contrib/pg_stat_statements.

#![forbid(unsafe_code)]

mod collector;
mod counters;
mod file;
mod jumble;
mod normalize;
mod registry;

#[cfg(test)]
mod tests;

pub use collector::{Collector, Mark, Settings, Tally, Track};
pub use counters::{Counters, Phase, Times, Usage};
pub use file::{load, save};
pub use jumble::{identify, identify_utility};
pub use registry::{Entry, Key, Registry, Selection};
