//! Nodes over rows in memory: every kind of node that needs no table returns the rows of a simple
//! model, for batches of any size, after rescans, with changed parameters, with little memory, and
//! stops when the statement is cancelled.

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

/// What that catalog uses of `eval`.
mod api {
    pub(super) use eval::{Callee, DomainCheck, Facts, FnFacts, TypeIo, WindowKind, kernels};
}

pub(crate) use source::source_node;
