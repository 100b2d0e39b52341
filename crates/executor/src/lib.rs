//! Plans to rows. Counterpart: executor/.
//!
//! A plan becomes a tree of running nodes ([`node::Node`]); each call of `next` yields a batch of
//! at most as many rows as asked for, so that LIMIT, row locks and row-wise cursors never make a
//! node do more than its share. Expressions run in `eval`; storage is reached only through
//! `engine`; descriptors come from [`Services`] by OID.
//!
//! **Invariant:** no name is looked up here, and no page is seen.
//!
//! Reading order: `services`, `run` (a running statement), `node`, `project`, `scan`, `sample`,
//! `source`, `spill` (rows outside memory), `keys`, `pairs`, `join`, `hashjoin`, `mergejoin`,
//! `memoize`, `sorter`, `sort`, `mergeappend`, `accum`, `agg`, `window`, `setop`, `subplan`,
//! `relation`, `modify`, `lockrows`, `epq`.

#![forbid(unsafe_code)]

mod accum;
mod agg;
mod aggfn;
mod depend;
mod epq;
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
mod pace;
mod pairs;
mod probe;
mod project;
mod projectset;
mod relation;
mod run;
mod sample;
mod scan;
mod services;
mod setop;
mod sift;
mod sort;
mod sorter;
mod source;
mod spill;
mod subplan;
mod winagg;
mod window;
mod winfn;

pub use epq::tid_of;
pub use instrument::{Counts, HashCounts, NodeStats};
pub use relation::{OpenRel, RelCheck, RelIndex, RowEvent};
pub use run::{Execution, QueryDesc};
pub use services::{AggFn, AggInfo, FinalCall, Services, SetRows};
pub use sorter::SortStats;
