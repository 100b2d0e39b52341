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
//! Reading order: `services`, `spi` (the entry points), `execution`, `run` (the state of a
//! statement), `node`, `build` (a tree of nodes from a plan), `depend` (rescan rules), `project`,
//! `scan`, `probe`, `tidbitmap`, `bitmap`, `sample`, `setcall`, `drained`, `readahead`, `source`,
//! `projectset`, `spill` (temporary files), `spare`, `keys`, `pairs`, `join`, `hashjoin`,
//! `mergejoin`, `memoize`, `sorter`, `sort`, `mergeappend`, `aggfn`, `accum`, `agg`, `window`,
//! `setop`, `subplan`, `relation`, `trigger`, `transition`, `write` (the row writer), `modify`,
//! `lockrows`, `epq`, `instrument`.

#![forbid(unsafe_code)]

mod accum;
mod agg;
mod aggfn;
mod aggset;
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
mod keys;
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
mod relation;
mod run;
mod sample;
mod scan;
mod services;
mod setcall;
mod setop;
mod sort;
mod sorter;
mod source;
mod spare;
pub mod spi;
mod spill;
mod subplan;
#[cfg(test)]
mod tests;
mod tidbitmap;
mod transition;
pub mod trigger;
mod winagg;
mod window;
mod winfn;
mod write;

pub use epq::tid_of;
pub use execution::Execution;
pub use instrument::{Counts, HashCounts, NodeStats, SortStats};
pub use relation::{OpenRel, RelCheck, RelIndex};
pub use services::{
    AggFn, AggInfo, DescriptorLookup, FinalCall, Services, SessionCalls, SetStream, TriggerEvents,
};
pub use trigger::{
    BeforeRowResult, CapturedChange, Change, Level, ProposedChange, RelTriggers, RowEvent,
    RowVersion, Timing, Trigger,
};
pub use write::{BulkWriter, Refs, RowWriter, WriteHost, unique_violation, with_computed};
