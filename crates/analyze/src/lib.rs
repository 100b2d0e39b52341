//! Semantic analysis: turns raw parse trees into query trees. It resolves names and types and
//! checks the rules of the language that the grammar cannot express.
//!
//! Reading order: `state` (the analyzer's state), `lookup` (its interface to the catalogs),
//! `relation`, `from`, `join` and `missing` (the range table and its names), `scope` (named
//! parameters), `expr`, `call`, `func`, `oper`, `candidates`, `coerce`, `polymorphic`, `collate`
//! (expressions), `target`, `sort`, `agg`, `select`, `cte`, `dml` (statements), `stored` and
//! `rewrite` (defaults, views), `ddl` and `api` (entry points); `template` and `parameterize`
//! (literals of a statement become parameters), `plpgsql` (assignments and casts of PL/pgSQL).
//!
//! Counterpart: src/backend/parser.

#![forbid(unsafe_code)]

// State, names and scopes.
mod from;
mod join;
pub mod lookup;
mod merge;
mod missing;
mod record;
mod relation;
mod scope;
pub mod session;
pub mod state;
pub mod ty;
pub mod typename;

// Expressions.
mod call;
mod candidates;
pub mod coerce;
mod collate;
mod container;
mod expr;
mod func;
mod oper;
mod polymorphic;
mod row_compare;
mod sublink;
pub mod walk;

// Clauses and statements.
mod agg;
mod cte;
mod dml;
mod raw_walk;
mod select;
mod sort;
mod target;

// Rewriting, and stored trees.
pub mod rewrite;
mod search_cycle;
pub mod stored;
pub mod updatable;

// Entry points.
mod api;
pub mod ddl;
pub mod function;
mod parameterize;
pub mod plpgsql;
pub mod template;

#[cfg(test)]
mod tests;

pub use api::{
    analyze, analyze_in_scope, analyze_variable, call_in_function, called_procedure,
    check_determined, function_statement, inferred_types, is_query, standalone_expr,
};
pub use func::FuncDetail;
pub use lookup::{
    FunctionLookup, Lookup, OperatorCache, RelationLookup, TransitionTable, TypeLookup,
};
pub use parameterize::{ParameterizedLiteral, parameterize_literals};
pub use relation::system_column;
pub use rewrite::rewrite;
pub use scope::{NameConflict, ParamScope, Variable};
pub use select::{lock_name, lock_strength};
pub use session::{Host, SessionLookup};
pub use state::{Analyzer, ExprKind, Params};
pub use target::figure_index_column;
