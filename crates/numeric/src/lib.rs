//! numeric: decimal numbers of arbitrary precision. In memory a value is an array of base-10000
//! digits (`Num`); on disk it has PostgreSQL's short or long format:
//!
//! ```text
//! short: u16 1 0 sign scale:6 wsign weight:6   digits: i16…      (scale ≤ 63, -64 ≤ weight ≤ 63)
//! long:  u16 0 sign scale:14, i16 weight       digits: i16…
//! NaN 0xC000, +Infinity 0xD000, -Infinity 0xF000, nothing after
//! ```
//!
//! The value is Σ digits[i] · 10000^(weight - i); the scale is the number of decimals shown.
//! Counterpart: numeric.c.

#![forbid(unsafe_code)]

#[macro_use]
extern crate values;

// Numbers, their text and order.
pub mod io;
pub mod num;
pub mod order;

// Arithmetic.
pub mod arith;
mod fixed;
mod fixed128;
pub(crate) mod math;
mod natural;
mod small;

// Functions.
mod aggregates;
pub mod float_aggregates;
pub mod float_math;
pub mod format_number;
pub mod functions;

pub use aggregates::{NumericTotal, int_average, int_pair_state, int_sum_state};
pub use arith::select_div_scale as div_scale;
pub use functions::{add, hash_extended, hash_of, product_into, quotient_into, sum_into};
pub use io::{from_float8, parse};
pub use num::{Num, Sign};
pub use order::{compare, compare_payloads, numeric_cmp};

use values::function::Builtin;

/// The function tables of the crate.
pub const TABLES: &[&[Builtin]] = &[
    io::FNS,
    functions::FNS,
    functions::CASTS,
    functions::COMPARISONS,
    functions::ORDERINGS,
    functions::SETS,
    math::FNS,
    aggregates::FNS,
    aggregates::SCALARS,
    float_math::FNS,
    float_aggregates::FNS,
    float_aggregates::AGGREGATES,
    format_number::FNS,
];
