//! Configuration parameters: what there is (a table of facts), values with units, where a value
//! comes from, `SET LOCAL` and rollback, the configuration files.
//!
//! Reading order: `registry` (the parameters), `value` (texts and values), `exclusive` (what cannot
//! be on together), `promises` (what is refused), `server` (the values that all sessions start
//! from), `store` (a session's own), `conf` (postgresql.conf), `hba` (pg_hba.conf), `ident`
//! (pg_ident.conf).
//!
//! Nothing here opens a file: contents come through a [`conf::Files`]. Settings that need a check
//! of their own (time zones, encodings) get it from the session, which knows those things.
//!
//! Counterpart: guc.c, guc-file.l, hba.c.

#![forbid(unsafe_code)]

pub mod conf;
mod exclusive;
pub mod hba;
pub mod ident;
mod promises;
mod registry;
mod server;
mod store;
mod value;

#[cfg(test)]
mod tests;

pub use promises::words;
pub use registry::{Context, Flags, Id, Kind, LOCALES, NEVER_EMPTY, Registry, Setting};
pub use server::{Base, Origin, Source, is_overridden};
pub use store::{Action, Row, Saved, SavedAll, Store};
pub use value::Value;
