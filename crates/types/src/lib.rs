//! Type input and output, operators and functions on values, of all type families.
//!
//! The representation of values and what all families share are in the crate `values`; `numeric`,
//! `datetime`, `textsearch`, `ranges`, `network` and `geometry` are crates of their own. Their
//! modules are re-exported here, so that crates above need this one only. Reading order: `values`,
//! then one module per type family; `compare`, `hash_functions` and `builtin` (look-up in the
//! tables of all families), `basic_context`.
//!
//! Functions are named by `pg_proc.prosrc`; input, output, receive and send functions are ordinary
//! functions of the table.
//!
//! Modules of this crate import from the module that defines a name, not through this file.

#![forbid(unsafe_code)]

#[macro_use]
extern crate values;

// Type families.
pub mod acl;
pub mod array;
pub mod bits;
pub mod boolean;
pub mod bytea;
pub mod enums;
pub mod extstats;
pub mod json;
mod money;
pub mod outputs;
pub mod pseudo;
pub mod range;
pub mod record;
pub mod reg;
pub mod regex;
pub mod string;
pub mod system;
pub mod xid_snapshot;

// Functions over several families.
pub mod collated;
pub mod gin;
pub mod gist;
pub mod in_range;
pub mod operators;
pub mod sizes;
mod stored_form;

// Look-up of functions of all families, and a context without catalogs.
mod basic_context;
pub mod builtin;
pub mod compare;
pub mod hash_functions;

pub use basic_context::BasicContext;
pub use builtin::{AggState, Builtin, BuiltinFn, ScalarFn, SetSource, lookup};
pub use compare::{CompareFn, Comparer};
pub use datetime;
pub use geometry;
pub use network;
pub use numeric::{self, float_aggregates, float_math, format_number};
pub use ranges;
pub use textsearch;
pub use values::batch::{
    BATCH_BYTES_MAX, BATCH_ROWS_MAX, Batch, BytesColumn, Column, ColumnData, NullMask,
    SHARED_BYTES_MIN, SharedBytes,
};
pub use values::datum::{Datum, DatumRef};
pub use values::fn_context::{FnContext, RegKind, TypeInfo};
pub use values::range::RangeType;
pub use values::settings::Settings;
pub use values::width::{WIDTH_DEFAULT, average_width};
pub use values::{
    batch, builtin_types, chars, datum, delegate_fn_context, float, fn_context, hash, int, limits,
    memory, oids, pieces, random, settings, text, type_io, zone,
};

#[cfg(test)]
mod interrupt_tests;
#[cfg(test)]
mod tests;
