//! Objects that are rows of catalogs: their names and addresses in statements, creation, deletion,
//! and the statements that define routines, aggregates, casts and extensions.
//!
//! Reading order: `object` (`kind`, `address`), `creation`, `temp`, `deletion`, `drop`, `tag`
//! (shared by all commands); `event` (event triggers), `typerow`, `routine`, `aggregate`, `cast`,
//! `extension`.

#![forbid(unsafe_code)]

pub mod aggregate;
pub mod cast;
pub mod creation;
pub mod default_acl;
pub mod deletion;
pub mod drop;
pub mod event;
pub mod extension;
pub mod object;
pub mod routine;
pub mod tag;
pub mod temp;
pub mod typerow;
