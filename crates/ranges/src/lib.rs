//! Ranges and multiranges of any subtype: their stored form, text and binary form, operators,
//! functions, aggregates, order, hashes, and estimates of how many of them an operator matches.
//!
//! Nothing here reads a catalog. A function finds its range type (`values::range::RangeType`)
//! through its context, by the OID with which each value begins, and the call site keeps it.
//!
//! Reading order: `stored` (a range and its bounds), `ops` (two ranges), `pieces` (multiranges),
//! `parse` and `io`, `functions`, `hash`, `order`, `aggregate`; `stats` (what ANALYZE collects),
//! `estimate`. The functions of single built-in range types are in `types::range`.

#![forbid(unsafe_code)]

#[macro_use]
extern crate values;

pub mod aggregate;
pub mod estimate;
pub mod functions;
pub mod gist;
pub mod hash;
pub mod io;
pub mod ops;
pub mod order;
mod parse;
pub mod pieces;
pub mod stats;
pub mod stored;

pub use functions::{TABLES, canonical};
