//! Compiled expressions. An analysed expression is compiled once into a [`Program`], which is
//! immutable and may be shared; the state of its evaluation (compiled patterns, placeholders) is in
//! an [`EvalState`].
//!
//! A program is evaluated over a row or over a batch. The row evaluator handles every node. The
//! batch evaluator computes frequent node kinds by column and calls the row evaluator for the
//! selected rows otherwise; nodes with side effects are always evaluated in row order.
//!
//! INVARIANT: this crate looks nothing up by name and opens no relation. Functions, types and
//! operators are looked up by OID through [`Facts`]; sub-selects, sequences and SQL functions are
//! run through [`Host`].
//!
//! Reading order: `facts`, `host`, `program`, `compile`, `relabel`, `variables`, `row`, `direct`,
//! `nodes`, `arrays`, `rows`, `elements`, `kernels`, `batch`, `volatility`, `fold`, `inline`,
//! `bound`.

#![forbid(unsafe_code)]

// Interfaces, and the compiled form.
mod compile;
mod depth;
mod facts;
mod host;
mod program;
mod relabel;
mod window;

// Evaluation by row.
mod arrays;
mod direct;
mod elements;
mod nodes;
mod row;
mod rows;
mod variables;

// Evaluation by batch.
mod batch;
pub mod kernels;

// Simplification before execution.
mod bound;
mod calls;
mod fold;
mod inline;
mod volatility;

#[cfg(test)]
mod tests;

pub use arrays::{array_of, array_of_arrays};
pub use batch::{Selection, select_into, select_true};
pub use bound::bound_parts;
pub use calls::called;
pub use compile::{
    Compiler, NoColumns, Resolve, arguments, compares_text, hashed_parts,
    undetermined as undetermined_collation,
};
pub use depth::{DEPTH_MAX, too_deep};
pub use direct::DirectCall;
pub use facts::{Callee, DomainCheck, Facts, FnFacts, TypeIo};
pub use fold::{FoldEnv, bool_const, fold, fold_query};
pub use host::{CallContext, Host, HostCall};
pub use inline::Inline;
pub use volatility::{Volatility, is_foldable, own_volatility, query_volatility, volatility};
pub use window::WindowKind;

pub use program::{EvalState, Program, Slot, Source};
pub use row::{RowInput, RowRef, Val};
pub use rows::{make_named_record, make_record, make_row, row_columns, row_fields, row_types};
pub use variables::Variables;
