//! Representation of values, and what the functions of all type families share: `Datum`, columns,
//! the calling conventions and the context of functions, limits of memory, arrays, and the types
//! that other families' functions return (text, integers, floating-point numbers).
//!
//! Reading order: `datum`, `batch` (representation of values), `fncx`, `function` (calling
//! conventions), `macros` (tables of functions), `compare`, `hash`; `limits`, `memory`, `pieces`;
//! then the families. The tables of all families are put together in `types::builtin`.
//!
//! Modules of this crate import from the module that defines a name, not through this file.

#![forbid(unsafe_code)]

#[macro_use]
mod macros;

pub mod array;
pub mod batch;
pub mod builtin_types;
pub mod chars;
pub mod compare;
pub mod datum;
pub mod float;
pub mod fncx;
pub mod form;
pub mod function;
pub mod hash;
pub mod int;
pub mod limits;
pub mod memory;
pub mod pieces;
pub mod quoted;
pub mod settings;
pub mod text;
pub mod width;
pub mod zone;

pub use ids::builtin::ty as oids;
