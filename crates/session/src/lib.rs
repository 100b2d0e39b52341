//! The query loop: portals, prepared statements, plan cache; and what a session lends to the crates
//! below it: catalogs to analysis and planning, surroundings to functions, storage to the executor.
//!
//! Reading order: `core` (what a session owns), `env` (how it is lent), `query` (a query from text to rows),
//! `sysfn` (functions that need the session), `rowevent`, `fkey` (foreign keys).

#![forbid(unsafe_code)]

pub mod core;
mod env;
mod fkey;
pub mod query;
mod rowevent;
mod sysfn;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;

pub use crate::core::Core;
pub use crate::sysfn::sequence::CachedSequence;
