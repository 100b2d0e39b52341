//! Raw tree to query: names resolved, types known, every rule of the language checked.
//!
//! Reading order: `state` (what is known while a statement is analysed), `lookup` (what is asked of the
//! catalogs), `relation` and `from` (the range table and its names), `expr`, `func`, `oper`,
//! `candidates`, `coerce`, `polymorphic`, `collate` (expressions), `target`, `sort`, `agg`, `select`, `cte`,
//! `dml` (statements).
//!
//! Counterpart: src/backend/parser.

#![forbid(unsafe_code)]

mod agg;
mod candidates;
pub mod coerce;
mod collate;
mod cte;
mod dml;
mod expr;
mod from;
mod func;
pub mod lookup;
mod oper;
mod polymorphic;
mod rawwalk;
mod relation;
mod select;
mod sort;
pub mod state;
mod stored;
mod sublink;
mod target;
pub mod ty;
pub mod typename;
pub mod walk;

pub use lookup::Lookup;
pub use state::{Analyzer, ExprKind, Params};
