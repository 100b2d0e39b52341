//! Tests of nodes over rows in memory. Every kind of node that needs no table returns the rows of a
//! simple model: for batches of any size, after rescans, with changed parameters and with little
//! memory. It stops when the statement is cancelled.

/// The catalog of the tests of `eval`.
#[path = "../../eval/src/tests/facts.rs"]
mod facts;

mod aggregates;
mod fixture;
mod joins;
mod plans;
mod recursion;
mod rows;
mod services;
mod source;
mod windows;

/// The items of `eval` that this catalog uses.
mod api {
    pub(super) use eval::{Callee, DomainCheck, Facts, FnFacts, TypeIo, WindowKind, kernels};
}

pub(crate) use source::source_node;
