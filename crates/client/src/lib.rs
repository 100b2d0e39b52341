//! The connection of a client to its session, and what the server keeps about it: the transport,
//! buffered messages, rows and results, timeouts, notifications, CPU time, the entry in
//! `pg_stat_activity`, and what is logged of statements.
//!
//! Reading order: `transport`, `connection`, `auth`, `rows`, `results`, `timer`, `activity`,
//! `notify`, `rusage`, `statementlog`.

#![forbid(unsafe_code)]

pub mod activity;
pub mod auth;
pub mod connection;
pub mod notify;
pub mod results;
pub mod rows;
pub mod rusage;
pub mod statementlog;
pub mod timer;
pub mod transport;

pub use connection::{Connection, Received};
pub use transport::{Addresses, ClientOutput, EarlyOutput, SEND_INTERVAL, Transport};
