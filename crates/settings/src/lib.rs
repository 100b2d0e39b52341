//! Configuration parameters: their definitions (a fact table), values with units, sources of
//! values, `SET LOCAL` and rollback, and the configuration files.
//!
//! Reading order: `registry` (definitions), `value` (parsing and display), `exclusive` (parameters
//! that exclude each other), `unsupported` (rejected values), `server` (server-wide values),
//! `session` (a session's values), `conf` (postgresql.conf), `hba` (pg_hba.conf), `ident`
//! (pg_ident.conf).
//!
//! This crate opens no files: contents are read through [`conf::Files`]. Parameters that need other
//! checks (time zones, encodings) are checked by the session.
//!
//! Counterpart: guc.c, guc-file.l, hba.c.

#![forbid(unsafe_code)]

// Definitions and values of parameters.
mod exclusive;
mod registry;
mod unsupported;
mod value;

// Values of the server and of a session.
mod server;
mod session;

// Configuration files.
pub mod conf;
pub mod hba;
pub mod ident;

#[cfg(test)]
mod tests;

pub use registry::{Context, Flags, Id, Kind, LOCALES, NEVER_EMPTY, Registry, Setting};
pub use server::{Origin, ServerValues, Source, is_overridden};
pub use session::{Action, Row, Saved, SavedAll, SessionValues};
pub use unsupported::words;
pub use value::Value;
