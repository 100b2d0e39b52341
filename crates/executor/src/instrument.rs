//! Statistics of each node for EXPLAIN ANALYZE. Counterpart: instrument.c.

use crate::node::{Exec, Node};
use crate::run::Run;
use engine::{BufferUsage, WalUsage};
use hashbrown::HashMap;
use pgerror::Result;
use plan::node::Plan;
use rowops::sorter::SortStats;
use types::Batch;

/// Sums over all loops of a node.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct NodeStats {
    /// Number of scans of the node.
    pub loops: u64,
    pub rows: u64,
    /// Microseconds until the first rows, summed over all scans.
    pub startup_us: u64,
    /// Microseconds in the node and its children.
    pub total_us: u64,
    /// Buffer usage of the node and its children.
    pub buffers: BufferUsage,
    /// WAL written by the node and its children.
    pub wal: WalUsage,
    /// Counters that depend on the kind of node.
    pub counts: Counts,
}

/// Counters that depend on the kind of node.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Counts {
    /// Rows removed by the node's filter; for a join, by the join filter.
    pub removed: u64,
    /// For a scan: rows removed by the index recheck. For a join: rows removed by the filter above
    /// the join condition.
    pub removed_late: u64,
    /// Rows that an index-only scan fetched from the table.
    pub heap_fetches: u64,
    /// Pages of a bitmap scan with known TIDs, and pages of which all rows must be checked.
    pub exact_blocks: u64,
    pub lossy_blocks: u64,
    pub hash: Option<HashCounts>,
    pub memo: Option<MemoCounts>,
    /// Rows inserted by INSERT ON CONFLICT.
    pub inserted: u64,
    /// MERGE: numbers of rows updated and deleted.
    pub updated: u64,
    pub deleted: u64,
    pub conflicting: u64,
}

/// The size of a hash table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HashCounts {
    pub buckets: u64,
    pub buckets_original: u64,
    pub batches: u64,
    pub batches_original: u64,
    /// Peak size of the table.
    pub kilobytes: u64,
    pub disk_kilobytes: u64,
}

/// The use of the cache of a Memoize node.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct MemoCounts {
    pub hits: u64,
    pub misses: u64,
    pub evictions: u64,
    /// Keys with more rows than fit in the cache.
    pub overflows: u64,
    /// Peak size of the cache.
    pub kilobytes: u64,
}

/// Statistics of the nodes of a statement. The key is the address of the plan node, which is stable
/// because the shared plan does not move.
#[derive(Default)]
pub(crate) struct Instruments {
    /// Times are measured.
    pub timing: bool,
    pub stats: HashMap<usize, NodeStats>,
    /// Method and size of each Sort node.
    pub sorts: HashMap<usize, SortStats>,
}

pub(crate) fn key_of(plan: &Plan) -> usize {
    std::ptr::from_ref(plan).addr()
}

pub(crate) struct InstrumentNode {
    child: Node,
    key: usize,
    /// A scan has begun since the last rescan.
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
    /// Runs `work` on the child and adds its time and usage to the statistics. `rows` extracts the
    /// number of rows from the result.
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

    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn recycle(&mut self, batch: Batch) {
        self.child.recycle(batch);
    }
}
