//! The query loop: protocol messages, transactions, prepared statements, portals, plan cache. A
//! session implements the traits through which the crates of lower layers access catalogs, settings
//! and storage.
//!
//! Reading order: `instance` (the state that sessions share), `connect` (session start),
//! `session` (its messages), `xact`, `simple`, `slots`, `extended`, `paramarrays`, `fastpath`,
//! `prepared`, `plancache`, `portal`, `resolved`, `utility`, `nested` (utility statements of
//! functions), `setcmd`, `early` (notices), `guc` (settings), `statementlog`, `activity`,
//! `autovacuum`; `state` (the state of a session), `caches`, `roles`, `env` (the traits that it
//! implements), `query` (a query from text to rows), `function` (calls of functions by OID, and
//! languages), `serverfn` (functions on sessions and settings), `triggers` (the trigger manager's
//! access to the session).
//!
//! A module such as `portal` contains data, without access to the session; its child modules (such
//! as `run`) contain the code that works on the session. So `state` can contain the data without an
//! import cycle.
//!
//! Counterpart: src/backend/tcop.

#![forbid(unsafe_code)]

mod activity;
pub mod autovacuum;
mod caches;
mod callcmd;
mod command;
mod connect;
mod docmd;
mod early;
mod env;
mod extended;
mod fastpath;
mod function;
mod guc;
mod instance;
mod nested;
mod notify;
mod paramarrays;
mod plancache;
mod portal;
mod prepared;
pub mod privileges;
pub mod query;
mod resolved;
mod roles;
mod rusage;
mod serverfn;
mod session;
mod setcmd;
mod simple;
mod slots;
mod snapshots;
mod state;
mod statementlog;
mod statementstats;
pub mod switched_role;
mod triggers;
mod utility;
mod xact;

#[cfg(test)]
mod tests;

pub use crate::connect::{is_library, no_library, refuse_not_ready, serve, serve_alone};
pub use crate::instance::{Admission, Config, ConfigFiles, FileSetting, Instance, SessionHandle};
pub use crate::plancache::PlanCache;
pub use crate::session::Session;
pub use crate::state::State;
pub use client::transport::{ClientCertificate, ClientOutput, Encryption, TlsAcceptor, Transport};
pub use parameters::canonical_value;
pub use parameters::{Log, LogLevels, LogOrigin, Verbosity};
