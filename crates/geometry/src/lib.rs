//! Geometric types: point, lseg, line, box, path, polygon and circle: their stored form, text and
//! binary form, operators and functions. Comparisons permit a difference of [`number::EPSILON`].
//!
//! Reading order: `number` (arithmetic and comparisons), `shape` (the types), `io`, `straight`
//! (points, segments, lines), `boxes`, `outline` (paths and polygons), `circle`.
//!
//! Counterpart: geo_ops.c.

#![forbid(unsafe_code)]

#[macro_use]
extern crate values;

mod boxes;
mod circle;
pub mod gist;
mod io;
pub mod number;
mod outline;
mod parse;
pub mod shape;
mod straight;

use values::function::Builtin;

/// The tables of all functions of geometric types.
pub const TABLES: &[&[Builtin]] =
    &[io::FNS, straight::FNS, straight::DISTANCES, boxes::FNS, outline::FNS, circle::FNS];
