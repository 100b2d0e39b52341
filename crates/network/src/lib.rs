//! Network addresses: inet, cidr, macaddr and macaddr8: their stored form, text and binary form,
//! operators, functions, order, hashes, and estimates for the operators of inclusion.
//!
//! Reading order: `address` (inet and cidr as stored), `parse` and `show` (their text), `io`,
//! `functions`, `mac`, `estimate`.

#![forbid(unsafe_code)]

#[macro_use]
extern crate values;

pub mod address;
pub mod estimate;
mod functions;
pub mod gist;
mod io;
pub mod mac;
mod parse;
mod show;

pub use address::{Address, datum, network_cmp};
pub use mac::scalar as mac_scalar;

use values::function::Builtin;

/// The tables of all functions of network addresses.
pub const TABLES: &[&[Builtin]] = &[
    io::FNS,
    functions::COMPARISONS,
    functions::ORDERINGS,
    functions::FNS,
    mac::FNS,
    mac::COMPARISONS,
];
