//! The rows of events, read when their triggers fire.

use crate::queue::Event;
use engine::Backend;
use engine::table::{self, RowFetch};
use executor::{OpenRel, Refs};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::Batch;

/// Reads rows of one table. Several triggers of a row share what was read last.
pub(crate) struct EventRows {
    rel: Arc<OpenRel>,
    fetch: RowFetch,
    batch: Batch,
    read: Option<(Tid, Tid)>,
    /// The positions of the old and the new row in the batch.
    old: Option<usize>,
    new: Option<usize>,
}

impl EventRows {
    fn open(rel: &Arc<OpenRel>) -> Result<EventRows> {
        let columns: Vec<AttrNo> = (1..=rel.columns.columns.len()).map(|n| n as AttrNo).collect();
        Ok(EventRows {
            rel: rel.clone(),
            fetch: RowFetch::new(&rel.table, &columns)?,
            batch: table::new_batch(&rel.table, &columns),
            read: None,
            old: None,
            new: None,
        })
    }

    /// The rows of the event. `last` is what was read for the event before.
    pub(crate) fn of<'a>(
        last: &'a mut Option<EventRows>,
        be: &mut Backend,
        rel: &Arc<OpenRel>,
        event: &Event,
    ) -> Result<&'a EventRows> {
        let is_same = last.as_ref().is_some_and(|l| Arc::ptr_eq(&l.rel, rel));
        let known = last.take().filter(|_| is_same);
        let mut rows = match known {
            Some(rows) => rows,
            None => EventRows::open(rel)?,
        };
        if rows.read != Some((event.old, event.new)) {
            rows.batch.clear();
            rows.old = rows.version(be, event.old)?;
            rows.new = rows.version(be, event.new)?;
            rows.read = Some((event.old, event.new));
        }
        Ok(last.insert(rows))
    }

    /// The old and the new row.
    pub(crate) fn both(&self) -> (Option<Refs<'_>>, Option<Refs<'_>>) {
        let row = |at: Option<usize>| at.map(|at| self.batch.row(at).collect());
        (row(self.old), row(self.new))
    }

    fn version(&mut self, be: &mut Backend, tid: Tid) -> Result<Option<usize>> {
        if tid == Tid::INVALID {
            return Ok(None);
        }
        let at = self.batch.len;
        if !self.fetch.version(be, tid, &mut self.batch)? {
            return Err(PgError::internal("failed to fetch tuple for a trigger"));
        }
        Ok(Some(at))
    }
}
