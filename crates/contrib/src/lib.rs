//! The extensions that are linked into the server: their control data and scripts, and the
//! functions of their libraries, by symbol.
//!
//! A function in language `c` names a library (`pg_proc.probin`, `$libdir/citext`) and a symbol
//! (`prosrc`). The names are those of PostgreSQL 15, which uses its own libraries when it opens the
//! data directory. A script has the declarations of all objects of the extension in the version
//! that PostgreSQL 15 installs.
//!
//! Reading order: `control` (the list of extensions), `libraries` (look-up of symbols),
//! `library`, `declarations`, `condition` (conditions of intarray and ltree), then one module per
//! extension. Symbols that only index methods without an implementation call are declared in
//! [`Library::declared`]: functions can be created with them, and not called.

#![forbid(unsafe_code)]

#[macro_use]
extern crate values;

mod btree_gin;
mod citext;
mod condition;
pub mod control;
mod cube;
pub mod declarations;
mod earthdistance;
mod fuzzystrmatch;
pub mod hstore;
pub mod intarray;
pub mod libraries;
mod library;
mod ltree;
pub mod pg_trgm;
mod pgcrypto;
mod seg;
mod sign_key;
mod uuid_ossp;

pub use control::{EXTENSIONS, Extension};
pub use libraries::Symbol;
pub use library::Library;
