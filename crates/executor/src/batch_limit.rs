//! Limits the size of batches in bytes: a wrapper of nodes with variable-width columns requests
//! fewer rows if previous rows were wide. No counterpart in PostgreSQL.

use crate::instrument::Counts;
use crate::node::{Exec, Node};
use crate::run::Run;
use pgerror::Result;
use types::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, Batch};

/// Rows of the first batch, when their width is unknown.
const FIRST_ROWS: usize = 32;
/// Largest factor by which the number of rows grows from one batch to the next.
const GROWTH: usize = 4;

/// Requests no more rows from its child than are likely to fit in `BATCH_BYTES_MAX`, by the width
/// of the previous batch.
pub(crate) struct BatchLimitNode {
    child: Node,
    rows: usize,
}

impl BatchLimitNode {
    pub(crate) fn over(child: Node) -> Node {
        Box::new(BatchLimitNode { child, rows: FIRST_ROWS })
    }
}

impl Exec for BatchLimitNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let got = self.child.next(run, want.min(self.rows))?;
        if let Some(batch) = &got
            && batch.len > 0
        {
            let width = (batch.memory() / batch.len).max(1);
            let fitting = (BATCH_BYTES_MAX / width).clamp(1, BATCH_ROWS_MAX);
            self.rows = fitting.min(self.rows * GROWTH);
        }
        Ok(got)
    }

    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        self.child.skip(run, rows)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.rows = FIRST_ROWS;
        self.child.reset(run)
    }

    fn recycle(&mut self, batch: Batch) {
        self.child.recycle(batch);
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.child.set_bound(bound);
    }

    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn report(&self, counts: &mut Counts) {
        self.child.report(counts);
    }
}
