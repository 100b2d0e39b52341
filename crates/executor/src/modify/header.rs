//! System columns of a row that is being changed. Expressions see them behind the user columns, in
//! the order of `COLUMNS`. Place and table are at hand; what the stored header says is read back
//! from the page, after the change: an inserted or updated row has the new version's, a deleted one
//! shows who deleted it.

use super::{ModifyNode, Refs};
use crate::relation::OpenRel;
use crate::run::Run;
use engine::table::{self, RowFetch, system};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result};
use types::{Batch, DatumRef};

/// Known without reading the row, then those of its header.
const COLUMNS: [AttrNo; 6] =
    [system::CTID, system::TABLEOID, system::XMIN, system::CMIN, system::XMAX, system::CMAX];
/// How many of `COLUMNS` are known without reading.
const KNOWN: usize = 2;

/// The place of a system column behind the user columns.
pub(super) fn place(column: AttrNo) -> Result<usize> {
    let place = COLUMNS.iter().position(|c| *c == column);
    place.ok_or_else(|| PgError::internal(format!("no system column {column}")))
}

pub(super) fn is_stored(column: AttrNo) -> bool {
    COLUMNS[KNOWN..].contains(&column)
}

/// Reads headers.
pub(super) struct Header {
    fetch: RowFetch,
    batch: Batch,
}

impl Header {
    pub(super) fn new(rel: &OpenRel) -> Result<Header> {
        let columns = &COLUMNS[KNOWN..];
        let batch = table::new_batch(&rel.table, columns);
        Ok(Header { fetch: RowFetch::new(&rel.table, columns)?, batch })
    }
}

impl ModifyNode {
    /// The row with its system columns. `place`: the TID's bytes.
    pub(super) fn with_system<'a>(
        &mut self,
        run: &mut Run<'_>,
        row: &[DatumRef<'a>],
        tid: Tid,
        place: &'a [u8],
    ) -> Result<Refs<'a>> {
        let mut full: Refs<'a> = row.iter().copied().collect();
        full.push(DatumRef::Bytes(place));
        full.push(DatumRef::Word(u64::from(self.rel.table.oid.0)));
        if let Some(header) = &mut self.header {
            header.batch.clear();
            if !header.fetch.version(run.sv.backend(), tid, &mut header.batch)? {
                return Err(PgError::internal("failed to fetch the tuple that was changed"));
            }
            let words = (0..COLUMNS.len() - KNOWN).map(|i| header.batch.get(0, i).word());
            full.extend(words.map(DatumRef::Word));
        }
        Ok(full)
    }
}
