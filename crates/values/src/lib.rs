//! Representation of values, and what the functions of all type families share: `Datum`, columns,
//! the calling conventions and the context of functions, limits of memory, arrays, and the types
//! that other families' functions return (text, integers, floating-point numbers).
//!
//! Reading order: `datum`, `batch` (representation of values), `fn_context`, `function` (calling
//! conventions), `macros` (tables of functions), `compare`, `hash`; `limits`, `memory`, `pieces`;
//! then the families. `types::builtin` combines the tables of all families.
//!
//! Modules of this crate import from the module that defines a name, not through this file.

#![forbid(unsafe_code)]

#[macro_use]
mod macros;

// Representation of values.
pub mod batch;
pub mod builtin_types;
pub mod datum;
pub mod width;

// Functions: context, calling conventions, comparison, hashing.
pub mod compare;
pub mod fn_context;
pub mod function;
pub mod gin;
pub mod gist;
pub mod hash;
pub mod range;
pub mod settings;
pub mod signature;
pub mod type_io;

// Limits, memory, and work in pieces.
pub mod limits;
pub mod memory;
pub mod pieces;
pub mod quoted;
pub mod random;

// Type families.
pub mod array;
pub mod chars;
pub mod float;
pub mod int;
pub mod text;
pub mod zone;

pub use ids::builtin::ty as oids;
/// For the macros of this crate.
pub use locale;
