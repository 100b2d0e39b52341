//! Objects that are rows of catalogs: their names and addresses in statements, creation, deletion,
//! and the statements that define base types and range types, routines, aggregates, casts,
//! transforms, conversions, operators, operator classes, languages and extensions.
//!
//! Reading order: `object` (`kind`, `address`), `creation`, `temp`, `deletion`, `drop`, `tag`
//! (shared by all commands); `event` (event triggers), `typerow`, `basetype`, `alter_type`,
//! `rangetype`, `routine`, `aggregate`, `cast`, `transform`, `conversion`, `operator`, `opclass`,
//! `language`, `textsearch`, `extension`.

#![forbid(unsafe_code)]

pub mod access_method;
pub mod aggregate;
pub mod alter_type;
pub mod basetype;
pub mod cast;
pub mod collation;
pub mod conversion;
pub mod creation;
pub mod default_acl;
pub mod deletion;
pub mod drop;
pub mod event;
pub mod extension;
pub mod language;
pub mod object;
pub mod opclass;
pub mod operator;
mod operator_links;
pub mod rangetype;
pub mod routine;
pub mod tag;
pub mod temp;
pub mod textsearch;
pub mod transform;
pub mod typerow;
