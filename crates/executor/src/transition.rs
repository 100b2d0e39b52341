//! Transition tables: the rows that a statement has changed, which the functions of its triggers
//! read by name. Counterpart: the tuplestores of trigger.c, nodeNamedtuplestorescan.c.

use crate::instrument::Counts;
use crate::node::{Exec, Node};
use crate::project::{ByPosition, Projection};
use crate::run::Run;
use crate::spill::SpillFile;
use engine::Backend;
use ids::Oid;
use pgerror::{Result, pg_err};
use plan::node::Plan;
use std::sync::Arc;
use types::{Batch, DatumRef};

/// Batches are closed at this number of bytes, so that readers decode small pieces.
const BATCH_BYTES: usize = 64 << 10;

/// The rows of a transition table. They are complete before the first reader, so readers share them
/// without locks. Beyond the memory limit, all complete batches are in a file.
pub struct TransitionRows {
    relation: Oid,
    batches: Vec<Arc<Batch>>,
    file: Option<SpillFile>,
    /// The rows that were added last.
    open: Batch,
    /// Size of `batches`, and its limit.
    bytes: usize,
    limit: usize,
    rows: u64,
}

impl TransitionRows {
    /// No rows of this relation yet. `by_val`: for each column, whether its type is passed by
    /// value. `limit`: memory limit in bytes.
    pub fn new(
        relation: Oid,
        by_val: impl IntoIterator<Item = bool>,
        limit: usize,
    ) -> TransitionRows {
        let open = Batch::new(by_val);
        TransitionRows { relation, batches: Vec::new(), file: None, open, bytes: 0, limit, rows: 0 }
    }

    /// The relation whose columns the rows have.
    pub fn relation(&self) -> Oid {
        self.relation
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row; `values` has one entry per column.
    pub fn push(&mut self, be: &mut Backend, values: &[DatumRef<'_>]) -> Result<()> {
        self.open.push_row(values);
        self.rows += 1;
        if self.open.is_full() || self.open.memory() >= BATCH_BYTES.min(self.limit) {
            self.close_batch(be)?;
        }
        Ok(())
    }

    fn close_batch(&mut self, be: &mut Backend) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.push(&self.open)?;
            self.open.clear();
            return Ok(());
        }
        self.bytes += self.open.memory();
        let next = self.open.empty_like();
        self.batches.push(Arc::new(std::mem::replace(&mut self.open, next)));
        if self.bytes > self.limit {
            let mut file = SpillFile::create_in(be)?;
            self.batches.drain(..).try_for_each(|b| file.push(&b))?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// Batch number `at`; `None` after the last one.
    fn batch(&self, at: usize) -> Result<Option<Batch>> {
        let closed = match &self.file {
            Some(file) if at < file.len() => return file.read(at).map(Some),
            Some(file) => file.len(),
            None => match self.batches.get(at) {
                Some(batch) => return Ok(Some((**batch).clone())),
                None => self.batches.len(),
            },
        };
        Ok((at == closed && self.open.len > 0).then(|| self.open.clone()))
    }
}

/// Scan of a transition table.
pub(crate) struct NamedTuplestoreNode {
    name: String,
    /// Found at the first row of each run.
    rows: Option<Arc<TransitionRows>>,
    at: usize,
    projection: Projection,
}

impl NamedTuplestoreNode {
    pub(crate) fn boxed(plan: &Plan, name: &str, run: &mut Run<'_>) -> Result<Node> {
        let mut cols = ByPosition::of(plan, run)?;
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        Ok(Box::new(NamedTuplestoreNode { name: name.to_string(), rows: None, at: 0, projection }))
    }
}

impl Exec for NamedTuplestoreNode {
    fn next(&mut self, run: &mut Run<'_>, _: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        let rows = match &mut self.rows {
            Some(rows) => rows,
            slot => slot.insert(run.sv.transition_rows(&self.name).ok_or_else(|| {
                let name = &self.name;
                pg_err!(INTERNAL_ERROR, "executor could not find named tuplestore \"{name}\"")
            })?),
        };
        let Some(batch) = rows.batch(self.at)? else { return Ok(None) };
        self.at += 1;
        self.projection.apply(run, batch).map(Some)
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        self.projection.restart();
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        self.rows = None;
        self.at = 0;
        self.projection.restart();
        Ok(true)
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }
}
