//! Compiled expressions. An analysed expression is compiled once into a [`Program`], which is
//! immutable and may be shared; what changes while it runs (compiled patterns, nested placeholders)
//! lives in an [`EvalState`].
//!
//! A program runs over a row or over a batch. The row evaluator knows every node; the batch
//! evaluator has column forms of the frequent nodes and runs the row evaluator under a selection
//! for the rest, so that no error or side effect appears that row order would not show.
//!
//! **Invariant:** this crate looks nothing up by name and opens no relation. Functions, types and
//! operators come by OID through [`Facts`]; sub-selects, sequences and functions in SQL go through
//! [`Host`].
//!
//! Reading order: `facts`, `host`, `program`, `compile`, `row`, `nodes`, `arrays`, `rows`,
//! `batch`, `fold`, `inline`, `bound`.

#![forbid(unsafe_code)]

mod arrays;
mod batch;
mod bound;
mod compile;
mod elements;
mod facts;
mod fold;
mod host;
mod inline;
mod nodes;
mod program;
mod row;
mod rows;

pub use arrays::{array_of, array_of_arrays};
pub use batch::{Selection, select_into, select_true};
pub use bound::bound_parts;
pub use compile::{
    Compiler, NoColumns, Resolve, arguments, compares_text, hashed_parts,
    undetermined as undetermined_collation,
};
pub use facts::{Callee, DomainCheck, Facts, FnFacts, TypeIo};
pub use fold::{
    FoldEnv, Volatility, bool_const, fold, fold_query, is_foldable, own_volatility,
    query_volatility, volatility,
};
pub use host::{CallContext, Host};
pub use inline::Inline;

pub use program::{EvalState, Program, Slot, Source};
pub use row::{RowInput, RowRef, Val};
pub use rows::{make_named_record, make_record, make_row, row_columns, row_fields, row_types};

/// Deepest nesting of an expression, in nodes: beyond, 54001. Statements that come near it run on a
/// wider stack ([`stdx::stack::wide`]); the parser's own limit is lower for most nodes.
pub const DEPTH_MAX: u32 = 12_000;

/// The error for nesting beyond [`DEPTH_MAX`].
pub fn too_deep() -> pgerror::PgError {
    pgerror::pg_err!(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(
        "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring \
         the platform's stack depth limit is adequate.",
    )
}
