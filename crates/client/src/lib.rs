//! The connection of a client to its session, and what the server keeps about it: the transport,
//! buffered messages, rows, timeouts, and the entry in `pg_stat_activity`.
//!
//! Reading order: `transport`, `connection`, `rows`, `timer`, `activity`.

#![forbid(unsafe_code)]

pub mod activity;
pub mod connection;
pub mod rows;
pub mod timer;
pub mod transport;

pub use connection::{Connection, Received};
pub use transport::{Addresses, ClientOutput, EarlyOutput, Transport};
