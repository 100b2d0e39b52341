//! System columns of a row that is being changed. In expressions they follow the user columns, in
//! the order of `COLUMNS`. `ctid` and `tableoid` are known; the columns of the tuple header are
//! read from the page after the change. The header of an inserted or updated row is that of the new
//! version; in that of a deleted row `xmax` is the deleting transaction.

use super::ModifyNode;
use crate::run::Run;
use engine::table::{self, RowFetch, system};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result};
use rowops::relation::OpenRel;
use rowops::write::Refs;
use types::{Batch, DatumRef};

/// The columns known without reading the tuple, followed by those of its header.
const COLUMNS: [AttrNo; 6] =
    [system::CTID, system::TABLEOID, system::XMIN, system::CMIN, system::XMAX, system::CMAX];
/// Number of `COLUMNS` that are known without reading the tuple.
const KNOWN: usize = 2;

/// Position of a system column after the user columns.
pub(super) fn position(column: AttrNo) -> Result<usize> {
    let position = COLUMNS.iter().position(|c| *c == column);
    position.ok_or_else(|| PgError::internal(format!("no system column {column}")))
}

pub(super) fn is_stored(column: AttrNo) -> bool {
    COLUMNS[KNOWN..].contains(&column)
}

/// Reads tuple headers.
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
    /// The row with its system columns. `tid_bytes` is the TID as bytes, which the result borrows.
    pub(super) fn with_system<'a>(
        &mut self,
        run: &mut Run<'_>,
        row: &[DatumRef<'a>],
        tid: Tid,
        tid_bytes: &'a [u8],
    ) -> Result<Refs<'a>> {
        let mut full: Refs<'a> = row.iter().copied().collect();
        full.push(DatumRef::Bytes(tid_bytes));
        full.push(DatumRef::Word(u64::from(self.target.rel.table.oid.0)));
        if let Some(header) = &mut self.target.header {
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
