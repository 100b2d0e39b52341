//! The rows of events, read when their triggers fire.

use crate::queue::Event;
use engine::Backend;
use engine::table::{self, RowFetch};
use executor::{OpenRel, Refs};
use ids::{AttrNo, Oid, Tid};
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::{Batch, Datum};

/// The system columns of a row: ctid, xmin, cmin, xmax, cmax and tableoid, in the order of their
/// numbers.
const SYSTEM_COLUMNS: [AttrNo; 6] = [-1, -2, -3, -4, -5, -6];

/// The position of a system column in the result of [`system_columns`].
pub(crate) fn system_position(column: AttrNo) -> usize {
    (-1 - column).clamp(0, SYSTEM_COLUMNS.len() as AttrNo - 1) as usize
}

/// The system columns of a row version in the order of their numbers, from -1 to -6. A row that is
/// not stored, whose TID is invalid, has those of a composite value.
pub fn system_columns(be: &mut Backend, rel: &OpenRel, tid: Tid) -> Result<[Datum; 6]> {
    if tid == Tid::INVALID {
        return Ok(unstored(rel.row_type));
    }
    let mut batch = table::new_batch(&rel.table, &SYSTEM_COLUMNS);
    if !RowFetch::new(&rel.table, &SYSTEM_COLUMNS)?.version(be, tid, &mut batch)? {
        return Err(PgError::internal("failed to fetch tuple for a trigger"));
    }
    Ok(std::array::from_fn(|i| batch.columns[i].get(0).to_owned()))
}

/// The system columns of a composite value: the header of one has its type modifier and its type
/// in place of xmax and cmin.
fn unstored(row_type: Oid) -> [Datum; 6] {
    let (ty, typmod) = (Datum::oid(row_type), Datum::oid(Oid(u32::MAX)));
    let none = Datum::oid(Oid::INVALID);
    [Datum::bytes(Tid::INVALID.to_bytes()), none.clone(), ty.clone(), typmod, ty, none]
}

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
