//! Scan of a transition table: the rows that a statement has changed, which the functions of its
//! triggers read by name. Counterpart: nodeNamedtuplestorescan.c.

use crate::instrument::Counts;
use crate::node::{Exec, Node};
use crate::project::{ByPosition, Projection};
use crate::run::Run;
use engine::StoredRows;
use pgerror::{Result, pg_err};
use plan::node::Plan;
use std::sync::Arc;
use types::Batch;

/// Scan of a transition table.
pub(crate) struct NamedTuplestoreNode {
    name: String,
    /// Found at the first row of each run.
    rows: Option<Arc<StoredRows>>,
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
