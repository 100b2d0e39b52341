//! Merges sorted inputs into one sorted output. Counterpart: nodeMergeAppend.c.

use crate::append::Pruner;
use crate::node::{Exec, Node, batch_for, reset_all};
use crate::run::Run;
use crate::sort::sort_columns;
use pgerror::Result;
use plan::expr::TargetEntry;
use plan::node::SortKeys;
use rowops::sorter::SortColumn;
use std::cmp::Ordering;
use types::{BATCH_ROWS_MAX, Batch};

struct Input {
    node: Node,
    batch: Batch,
    at: usize,
}

impl Input {
    /// Reads the next batch that is not empty; false at the end.
    fn refill(&mut self, run: &mut Run<'_>, want: usize) -> Result<bool> {
        loop {
            run.interrupts()?;
            match self.node.next(run, want)? {
                None => {
                    self.batch = Batch::default();
                    return Ok(false);
                }
                Some(b) if b.len > 0 => {
                    self.batch = b;
                    self.at = 0;
                    return Ok(true);
                }
                Some(_) => {}
            }
        }
    }
}

pub(crate) struct MergeAppendNode {
    inputs: Vec<Input>,
    columns: Vec<SortColumn>,
    template: Batch,
    /// Min-heap of the inputs that have rows, ordered by their current row.
    heap: Vec<usize>,
    started: bool,
    pruner: Option<Pruner>,
}

impl MergeAppendNode {
    pub(crate) fn boxed(
        (children, pruner): (Vec<Node>, Option<Pruner>),
        keys: &SortKeys,
        targets: &[TargetEntry],
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let inputs =
            children.into_iter().map(|node| Input { node, batch: Batch::default(), at: 0 });
        Ok(Box::new(MergeAppendNode {
            inputs: inputs.collect(),
            columns: sort_columns(keys, targets, run)?,
            template: batch_for(targets, run)?,
            heap: Vec::new(),
            started: false,
            pruner,
        }))
    }

    fn less(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.inputs[a], &self.inputs[b]);
        for c in &self.columns {
            let o = c.order(x.batch.get(x.at, c.column), y.batch.get(y.at, c.column));
            if o != Ordering::Equal {
                return o.is_lt();
            }
        }
        a < b
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.less(self.heap[child], self.heap[least]) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }
}

impl Exec for MergeAppendNode {
    fn is_volatile(&self) -> bool {
        self.inputs.iter().any(|i| i.node.is_volatile())
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if !std::mem::replace(&mut self.started, true) {
            let live = match &mut self.pruner {
                Some(pruner) => pruner.now(run)?,
                None => None,
            };
            for (i, input) in self.inputs.iter_mut().enumerate() {
                if live.as_ref().is_none_or(|live| live[i])
                    && input.refill(run, want.min(BATCH_ROWS_MAX))?
                {
                    self.heap.push(i);
                }
            }
            for i in (0..self.heap.len() / 2).rev() {
                self.sift_down(i);
            }
        }
        let mut out = self.template.clone();
        while out.len < want
            && let Some(&top) = self.heap.first()
        {
            let input = &mut self.inputs[top];
            out.extend_range(&input.batch, input.at, input.at + 1);
            input.at += 1;
            if input.at >= input.batch.len {
                let more = want.saturating_sub(out.len).max(1);
                if !input.refill(run, more)? {
                    self.heap.swap_remove(0);
                }
            }
            self.sift_down(0);
        }
        Ok(if out.len == 0 { None } else { Some(out) })
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.started = false;
        self.heap.clear();
        self.inputs.iter_mut().for_each(|i| i.batch = Batch::default());
        let same = !self.pruner.as_ref().is_some_and(Pruner::depends_on_start);
        Ok(reset_all(self.inputs.iter_mut().map(|i| &mut i.node), run)? && same)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.started = false;
        self.heap.clear();
        self.inputs.iter_mut().try_for_each(|i| i.node.rescan(run))
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.inputs.iter_mut().for_each(|i| i.node.set_bound(bound));
    }
}
