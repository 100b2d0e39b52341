//! The B-tree access method: Lehman and Yao's tree with high keys and right links, as PostgreSQL 15 has
//! it (version 4 pages, heap TIDs as the last key column, suffix truncation, posting lists).
//!
//! Reading order: `schema`, `key`, `truncate`, `splitloc`, `dedup` (what concerns single pages and
//! tuples), then …

#![forbid(unsafe_code)]

mod bulk;
mod dedup;
mod inline;
mod key;
mod schema;
mod splitloc;
mod truncate;

pub use bulk::BulkLoader;
pub use schema::{KeyColumn, KeySchema};
