//! Values: `Datum`, columns, type input and output, operators and functions on values.
//!
//! Reading order: `datum`, `batch` (representation of values), `fncx`, `builtin::function` (calling
//! conventions), `compare::plain`, `hash`, then one module per type family; `compare`, `builtin`
//! (look-up in the tables of all families), `basic_context`. Functions are named by
//! `pg_proc.prosrc`; input, output, receive and send functions are ordinary functions of the table.
//!
//! Modules of this crate import from the module that defines a name, not through this file.

#![forbid(unsafe_code)]

#[macro_use]
mod macros;

pub mod acl;
pub mod array;
mod basic_context;
pub mod batch;
pub mod bits;
pub mod boolean;
pub mod builtin;
pub mod builtin_types;
pub mod bytea;
pub mod chars;
pub mod compare;
pub mod datetime;
pub mod datum;
pub mod enums;
pub mod float;
pub mod float_aggregates;
pub mod float_math;
pub mod fncx;
pub mod form;
pub mod format_number;
pub mod hash;
pub mod hash_functions;
pub mod in_range;
pub mod int;
pub mod json;
pub mod limits;
pub mod locale;
pub mod memory;
pub mod network;
pub mod numeric;
pub mod oids;
pub mod operators;
pub mod outputs;
pub mod pieces;
pub mod pseudo;
mod quoted;
pub mod range;
pub mod record;
pub mod reg;
pub mod regex;
pub mod settings;
pub mod sizes;
pub mod string;
pub mod system;
pub mod text;
mod width;
pub mod xid_snapshot;
pub mod zone;

pub use basic_context::BasicContext;
pub use batch::{
    BATCH_BYTES_MAX, BATCH_ROWS_MAX, Batch, BytesColumn, Column, ColumnData, NullMask,
};
pub use builtin::{AggState, Builtin, BuiltinFn, ScalarFn, SetSource, lookup};
pub use compare::{CompareFn, Comparer};
pub use datum::{Datum, DatumRef};
pub use fncx::{FnContext, RegKind, TypeInfo};
pub use settings::Settings;
pub use width::{WIDTH_DEFAULT, average_width};

#[cfg(test)]
mod interrupt_tests;
#[cfg(test)]
mod tests;
