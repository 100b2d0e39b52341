//! The rows of events, read when their triggers fire.

use crate::queue::Event;
use engine::Backend;
use engine::table::{self, RowFetch};
use executor::{OpenRel, spi};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::{Batch, Datum};

/// Reads rows of one table. Several triggers of a row share what was read last.
pub(crate) struct EventRows {
    rel: Arc<OpenRel>,
    fetch: RowFetch,
    batch: Batch,
    all: Vec<usize>,
    read: Option<(Tid, Tid)>,
    pub(crate) old: Option<Vec<Datum>>,
    pub(crate) new: Option<Vec<Datum>>,
}

impl EventRows {
    fn open(rel: &Arc<OpenRel>) -> Result<EventRows> {
        let columns: Vec<AttrNo> = (1..=rel.columns.columns.len()).map(|n| n as AttrNo).collect();
        Ok(EventRows {
            rel: rel.clone(),
            fetch: RowFetch::new(&rel.table, &columns)?,
            batch: table::new_batch(&rel.table, &columns),
            all: (0..columns.len()).collect(),
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
            rows.old = rows.version(be, event.old)?;
            rows.new = rows.version(be, event.new)?;
            rows.read = Some((event.old, event.new));
        }
        Ok(last.insert(rows))
    }

    fn version(&mut self, be: &mut Backend, tid: Tid) -> Result<Option<Vec<Datum>>> {
        if tid == Tid::INVALID {
            return Ok(None);
        }
        self.batch.clear();
        if !self.fetch.version(be, tid, &mut self.batch)? {
            return Err(PgError::internal("failed to fetch tuple for a trigger"));
        }
        Ok(Some(spi::row_of(&self.batch, 0, &self.all)))
    }
}
