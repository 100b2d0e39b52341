//! Query, expression and plan nodes: the language between analysis, planning and execution.
//!
//! They mirror PostgreSQL's node kinds field by field where a field is stored in a catalog
//! (`pg_node_tree`), so that each server reads the defaults, checks, index expressions and view
//! rules that the other stored. Nodes are plain data: no look-ups, no evaluation.
//!
//! Reading order: `nodes` (the list of expression nodes), `expr`, `query`, `node`, `walk`,
//! `params`, `nodetree`.

#![forbid(unsafe_code)]

#[macro_use]
mod nodes;

pub mod expr;
pub mod levels;
pub mod node;
pub mod nodetree;
pub mod params;
pub mod prune;
pub mod query;
pub mod walk;

pub use expr::{Expr, Location};
pub use node::{Plan, PlannedStmt};
pub use query::Query;
