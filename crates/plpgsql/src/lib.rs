//! PL/pgSQL: the compiler and the interpreter of its functions.
//!
//! The text of a function is compiled once to a [`tree::Function`]. In it variables are numbered,
//! and pieces of SQL are texts. A call has a frame with a slot for each variable. A piece of SQL is
//! analysed at its first evaluation, when the types of all variables in it are known; an expression
//! without tables becomes a compiled expression over the slots, anything else a statement of the
//! session. The session is reached through [`Host`].
//!
//! Reading order: `tree`, `scanner`, `names`, `parser` (compilation); `host` (the interface of the
//! session), `contexts`, `instance`, `prepare`, `words`, `leaves` and `elements` (pieces of SQL),
//! `fields` (rows in variables), `frame`, `assign`, `exec`, `loops`, `tight`, `rows`, `query`,
//! `returns`, `dynamic`, `procedures`, `cursors`, `raise`, `diagnostics` (the interpreter), `call`
//! and `triggers` (its entry points).
//!
//! Design: `docs/design/0010-plpgsql.md`. Counterpart: src/pl/plpgsql.

#![forbid(unsafe_code)]

// Compilation.
mod conditions;
mod names;
mod parser;
mod scanner;
mod source;
pub mod tree;

// Execution.
mod assign;
mod call;
mod checks;
mod contexts;
mod cursors;
mod diagnostics;
mod dynamic;
mod elements;
mod exec;
mod fields;
mod frame;
mod host;
mod instance;
mod leaves;
mod loops;
mod prepare;
mod procedures;
mod query;
mod raise;
mod returns;
mod rows;
mod structure;
mod tight;
mod triggers;
mod words;

#[cfg(test)]
mod tests;

pub use call::{Called, call, call_inline, call_procedure, call_set};
pub use checks::checks;
pub use contexts::Contexts;
pub use fields::{Fields, RowBatch};
pub use frame::SystemColumns;
pub use host::{
    Analysed, Command, CursorOptions, Cursors, Host, HostSettings, Notices, Outcome, RowStream,
    Run, Stamp, Statement, Transactions, UtilityOutcome,
};
pub use instance::Code;
pub use parser::compile;
pub use source::{Argument, Settings, Source, TypeSource, sample};
pub use triggers::{TriggerData, TriggerResult, call_event_trigger, call_trigger};
