//! `Datum`, columns, type input and output, operators and functions on values.

pub mod compare;
pub mod datum;

pub use datum::{Datum, DatumRef};
