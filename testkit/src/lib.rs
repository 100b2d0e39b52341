//! Test support: starts and stops servers of Norsu and PostgreSQL in temporary directories.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod alloc;
pub mod client;
pub mod dir;
pub mod norsu;
pub mod postgres;
pub mod verify;

pub use alloc::Counting;
