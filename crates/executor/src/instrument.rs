//! What EXPLAIN ANALYZE shows of each node. Counterpart: instrument.c.

use crate::node::{Exec, Node};
use crate::run::Run;
use crate::sorter::SortStats;
use hashbrown::HashMap;
use pgerror::Result;
use plan::node::Plan;
use types::Batch;

/// Sums over all loops of a node.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct NodeStats {
    /// Times that the node was started.
    pub loops: u64,
    pub rows: u64,
    /// Microseconds until the first rows.
    pub startup_us: u64,
    /// Microseconds in the node and below.
    pub total_us: u64,
}

/// The figures of a statement's nodes. A node is known by its place in memory: the plan is shared and
/// stays where it is.
#[derive(Default)]
pub(crate) struct Instruments {
    /// Are times taken?
    pub timing: bool,
    pub stats: HashMap<usize, NodeStats>,
    /// How Sort nodes have sorted.
    pub sorts: HashMap<usize, SortStats>,
}

pub(crate) fn key_of(plan: &Plan) -> usize {
    std::ptr::from_ref(plan).addr()
}

pub(crate) struct InstrumentNode {
    child: Node,
    key: usize,
    /// A run has begun and not ended.
    running: bool,
    first: bool,
}

impl InstrumentNode {
    pub(crate) fn over(child: Node, plan: &Plan) -> Node {
        Box::new(InstrumentNode { child, key: key_of(plan), running: false, first: true })
    }
}

fn clock(run: &Run<'_>) -> i64 {
    match &run.st.instruments {
        Some(i) if i.timing => run.sv.clock_timestamp(),
        _ => 0,
    }
}

impl Exec for InstrumentNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let begun = !std::mem::replace(&mut self.running, true);
        if begun {
            self.first = true;
        }
        let before = clock(run);
        let out = self.child.next(run, want)?;
        let took = (clock(run) - before).max(0) as u64;
        if let Some(all) = &mut run.st.instruments {
            let s = all.stats.entry(self.key).or_default();
            s.loops += u64::from(begun);
            s.total_us += took;
            if self.first {
                s.startup_us += took;
            }
            s.rows += out.as_ref().map_or(0, |b| b.len as u64);
        }
        match &out {
            Some(b) if b.len > 0 => self.first = false,
            Some(_) => {}
            None => self.first = false,
        }
        Ok(out)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.running = false;
        self.child.rescan(run)
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.child.set_bound(bound);
    }

    fn recycle(&mut self, batch: Batch) {
        self.child.recycle(batch);
    }
}
