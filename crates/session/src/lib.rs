//! The query loop: portals, prepared statements, plan cache; and what a session lends to the crates
//! below it: catalogs to analysis and planning, surroundings to functions, storage to the executor.
//!
//! Reading order: `instance` (what sessions share), `transport`, `connection`, `connect` (how a
//! session begins), `auth`, `session` (its messages), `xact`, `simple`, `slots`, `extended`,
//! `fastpath`, `prepared`, `plancache`, `portal`, `rows`, `resolved`, `utility`, `setcmd`, `guc`
//! (parameters), `statementlog`, `activity`, `autovacuum`; `core` (what a session owns), `env` (how
//! it is lent), `query` (a query from text to rows), `sysfn` (functions that need the session),
//! `rowevent`, `fkey` (foreign keys).

#![forbid(unsafe_code)]

pub mod acting;
pub mod activity;
mod auth;
pub mod autovacuum;
mod callcmd;
mod command;
mod connect;
mod connection;
mod core;
mod env;
mod explain;
mod extended;
mod fastpath;
mod fkey;
mod guc;
mod instance;
mod notify;
mod plancache;
mod portal;
mod prepared;
pub mod query;
mod resolved;
pub mod rights;
mod rowevent;
mod rows;
pub mod rusage;
mod session;
mod setcmd;
mod simple;
mod slots;
mod snapshots;
mod statementlog;
mod sysfn;
mod timer;
mod transport;
mod utility;
mod xact;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;

pub use crate::connect::{no_library, serve, serve_alone, turn_away};
pub use crate::core::Core;
pub use crate::guc::canonical_value;
pub use crate::instance::{
    Admission, Config, ConfigFiles, FileSetting, Instance, Log, LogLevels, SessionHandle, Speaker,
    Verbosity,
};
pub use crate::plancache::PlanCache;
pub use crate::session::Session;
pub use crate::sysfn::sequence::CachedSequence;
pub use crate::transport::{Outlet, Transport};
