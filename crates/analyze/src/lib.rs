//! Semantic analysis: turns raw parse trees into query trees. It resolves names and types and
//! checks the rules of the language that the grammar cannot express.
//!
//! Reading order: `state` (the analyzer's state), `lookup` (its interface to the catalogs),
//! `relation`, `from` and `join` (the range table and its names), `scope` (named parameters),
//! `expr`, `call`, `func`, `oper`, `candidates`, `coerce`, `polymorphic`, `collate` (expressions),
//! `target`, `sort`, `agg`, `select`, `cte`, `dml` (statements), `stored` and `rewrite` (defaults,
//! views), `ddl` and `api` (entry points); `lift` (literals of a statement become parameters).
//!
//! Counterpart: src/backend/parser.

#![forbid(unsafe_code)]

mod agg;
mod api;
mod call;
mod candidates;
pub mod coerce;
mod collate;
mod container;
mod cte;
pub mod ddl;
mod dml;
mod expr;
mod from;
mod func;
pub mod function;
mod join;
mod lift;
pub mod lookup;
mod oper;
pub mod partition;
mod polymorphic;
mod rawwalk;
mod record;
mod relation;
pub mod rewrite;
mod rowcompare;
mod scope;
mod searchcycle;
mod select;
pub mod session;
mod sort;
pub mod state;
pub mod stored;
mod sublink;
mod target;
pub mod ty;
pub mod typename;
pub mod updatable;
pub mod walk;

#[cfg(test)]
mod tests;

pub use api::{
    analyze, analyze_in_scope, analyze_variable, called_procedure, check_determined,
    function_statement, inferred_types, is_query, standalone_expr,
};
pub use lift::{Lifted, lift};
pub use lookup::{FunctionLookup, Lookup, OperatorCache, RelationLookup, TypeLookup};
pub use rewrite::rewrite;
pub use scope::{NameConflict, ParamScope, Variable};
pub use select::{lock_name, lock_strength};
pub use session::{Host, SessionLookup};
pub use state::{Analyzer, ExprKind, Params};
pub use target::figure_index_column;
