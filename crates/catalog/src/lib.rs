//! The system catalogs: rows as structs, a fresh cluster's contents and how `init` makes a data
//! directory of them, shared caches with invalidation, the relation cache, and catalog writes.
//!
//! Reading order: `rows` (one struct per catalog), `facts` (a fresh cluster's rows as text).

#![forbid(unsafe_code)]

pub mod facts;
pub mod rows;
