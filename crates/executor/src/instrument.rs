//! What EXPLAIN ANALYZE shows of each node. Counterpart: instrument.c.

use crate::node::{Exec, Node};
use crate::run::Run;
use crate::sorter::SortStats;
use engine::{BufferUsage, WalUsage};
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
    /// Buffers used in the node and below.
    pub buffers: BufferUsage,
    /// Log written in the node and below.
    pub wal: WalUsage,
    /// What only nodes of its kind count.
    pub counts: Counts,
}

/// What nodes count of their own work, by kind.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Counts {
    /// Rows that the node's conditions turned away; of a join: its own conditions.
    pub removed: u64,
    /// Of a scan: rows that failed the recheck of what its index had found. Of a join: rows turned
    /// away by the conditions above it.
    pub removed_late: u64,
    /// Rows that an index-only scan looked up in the table.
    pub heap_fetches: u64,
    /// Pages of a bitmap scan of which the rows, or only the page itself, were known.
    pub exact_blocks: u64,
    pub lossy_blocks: u64,
    pub hash: Option<HashCounts>,
    /// INSERT ON CONFLICT.
    pub inserted: u64,
    pub conflicting: u64,
}

/// The size of a hash table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HashCounts {
    pub buckets: u64,
    pub buckets_original: u64,
    pub batches: u64,
    pub batches_original: u64,
    /// At its largest.
    pub kilobytes: u64,
    pub disk_kilobytes: u64,
}

/// The figures of a statement's nodes. A node is known by its place in memory: the plan is shared
/// and stays where it is.
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

pub(crate) fn clock(run: &Run<'_>) -> i64 {
    match &run.st.instruments {
        Some(i) if i.timing => run.sv.clock_timestamp(),
        _ => 0,
    }
}

impl InstrumentNode {
    /// Counts what the child does in `work`; `rows` are those that came of it.
    fn counted<T>(
        &mut self,
        run: &mut Run<'_>,
        work: impl FnOnce(&mut Node, &mut Run<'_>) -> Result<T>,
        rows: impl FnOnce(&T) -> Option<usize>,
    ) -> Result<T> {
        let begun = !std::mem::replace(&mut self.running, true);
        if begun {
            self.first = true;
        }
        let backend = run.sv.backend();
        let (buffers, wal) = (backend.buffer_usage(), backend.wal_usage());
        let before = clock(run);
        let out = work(&mut self.child, run)?;
        let rows = rows(&out);
        let took = (clock(run) - before).max(0) as u64;
        let backend = run.sv.backend();
        let (buffers, wal) = (backend.buffer_usage() - buffers, backend.wal_usage() - wal);
        if let Some(all) = &mut run.st.instruments {
            let s = all.stats.entry(self.key).or_default();
            s.loops += u64::from(begun);
            s.total_us += took;
            if self.first {
                s.startup_us += took;
            }
            s.rows += rows.map_or(0, |n| n as u64);
            s.buffers += buffers;
            s.wal += wal;
            self.child.report(&mut s.counts);
        }
        self.first &= rows == Some(0);
        Ok(out)
    }
}

impl Exec for InstrumentNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let rows = |out: &Option<Batch>| out.as_ref().map(|b| b.len);
        self.counted(run, |child, run| child.next(run, want), rows)
    }

    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        self.counted(run, |child, run| child.skip(run, rows), |out| out.or(Some(0)))
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
