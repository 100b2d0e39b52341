//! Starts and stops servers, Norsu and the real PostgreSQL, in temporary directories.

#![forbid(unsafe_code)]

pub mod client;
pub mod dir;
pub mod norsu;
pub mod postgres;
