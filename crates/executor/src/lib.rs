//! Executes plans. Counterpart: executor/.
//!
//! A plan becomes a tree of running nodes ([`node::Node`]). Each call of `next` returns a batch of
//! about as many rows as the caller wants, so that LIMIT, row locks and cursors do not make a node
//! compute rows that are not needed. Expressions are evaluated by `eval`; storage is reached only
//! through `engine`; descriptors are looked up by OID through [`Services`]. See `README.md` for the
//! node contract.
//!
//! INVARIANT: the executor looks nothing up by name and accesses no page.
//!
//! The interface to the session, the row writer, sorting, spilling and hash keys are in the crate
//! `rowops`.
//!
//! Reading order: `spi` (the entry points), `execution`, `run` (the state of a statement), `node`,
//! `build` (a tree of nodes from a plan), `depend` (rescan rules), `project`, `scan`, `probe`,
//! `bitmap`, `sample`, `setcall`, `drained`, `readahead`, `source`, `projectset`, `pairs`, `join`,
//! `hashjoin`, `mergejoin`, `memoize`, `sort`, `append`, `mergeappend`, `aggfn`, `accum`, `agg`,
//! `window`,
//! `setop`, `subplan`, `transition`, `modify`, `lockrows`, `epq`, `instrument`.

#![forbid(unsafe_code)]

mod accum;
mod agg;
mod aggfn;
mod aggset;
mod append;
mod batch_limit;
mod bitmap;
mod build;
mod depend;
mod drained;
mod epq;
mod execution;
mod frame;
mod hashjoin;
mod instrument;
mod join;
mod lockrows;
mod memoize;
mod mergeappend;
mod mergejoin;
mod modify;
mod node;
mod ordered;
mod pairs;
mod probe;
mod project;
mod projectset;
mod pushdown;
mod readahead;
mod run;
mod sample;
mod scan;
mod setcall;
mod setop;
mod sort;
mod source;
pub mod spi;
mod subplan;
#[cfg(test)]
mod tests;
mod transition;
mod winagg;
mod window;
mod winfn;

pub use epq::tid_of;
pub use execution::Execution;
pub use instrument::{Counts, HashCounts, MemoCounts, NodeStats};
pub use rowops::relation::{ExclusionOperator, OpenRel, RelCalls, RelCheck, RelIndex};
pub use rowops::services::{
    AggFn, AggInfo, DescriptorLookup, FinalCall, Services, SessionCalls, SetStream, TriggerEvents,
};
pub use rowops::sorter::SortStats;
pub use rowops::trigger::{
    self, BeforeRowResult, CapturedChange, Change, Level, Movement, ProposedChange, RelTriggers,
    RowEvent, RowVersion, Timing, Trigger,
};
pub use rowops::write::{
    BulkWriter, Refs, Router, RowWriter, WriteHost, exclusion_violation, unique_violation,
    with_computed,
};
