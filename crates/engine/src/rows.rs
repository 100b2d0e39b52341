//! Tuples into batches: which columns are decoded, in which order, and what is put off until the
//! page's latch is gone.
//!
//! A large value that lies in the TOAST table is put into the batch as its pointer first, and
//! replaced by the value when the page has been left: fetching it reads other pages.

use crate::table::system;
use crate::{Backend, TableDesc, toast};
use ids::{AttrNo, Oid, Tid};
use page::{Deformer, HeapTuple, HeapTupleHeader, Value};
use pgerror::{Result, pg_err};
use types::batch::{BytesColumn, Column, ColumnData};
use types::{BATCH_BYTES_MAX, Batch, DatumRef};

/// The columns of a scan.
pub(crate) struct RowReader {
    /// Table column (from 0) and batch column, by table column.
    user: Vec<(usize, usize)>,
    system: Vec<(AttrNo, usize)>,
    table: Oid,
    /// Rows of bytes columns that hold a TOAST pointer: batch column, row.
    deferred: Vec<(usize, usize)>,
    scratch: Vec<u8>,
    /// Values wider than this when whole are left out (an empty value stands for them) and noted.
    width_max: usize,
    pub(crate) left_out: Vec<LeftOut>,
    /// Bytes that compressed and outlying values of the batch have, or will have once they are
    /// fetched.
    expanded: usize,
}

/// A compressed or outlying value that is too wide to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    pub column: usize,
    pub row: usize,
    /// Bytes in the row itself.
    pub stored: usize,
}

/// Is the column of a batch by value?
pub(crate) fn is_by_val(table: &TableDesc, column: AttrNo) -> bool {
    if column <= 0 {
        return column != system::CTID;
    }
    table.tupdesc.attrs.get(column as usize - 1).is_some_and(|a| a.by_val)
}

impl RowReader {
    pub(crate) fn new(table: &TableDesc, columns: &[AttrNo]) -> Result<RowReader> {
        let mut reader = RowReader {
            user: Vec::new(),
            system: Vec::new(),
            table: table.oid,
            deferred: Vec::new(),
            scratch: Vec::new(),
            width_max: usize::MAX,
            left_out: Vec::new(),
            expanded: 0,
        };
        for (at, &column) in columns.iter().enumerate() {
            match column {
                system::TABLEOID..=system::CTID => reader.system.push((column, at)),
                1.. if column as usize <= table.tupdesc.attrs.len() => {
                    reader.user.push((column as usize - 1, at));
                }
                _ => {
                    return Err(pg_err!(
                        INTERNAL_ERROR,
                        "table \"{}\" has no column {column}",
                        table.name
                    ));
                }
            }
        }
        reader.user.sort_unstable();
        Ok(reader)
    }

    /// As [`RowReader::new`], for whoever has no use for values that are wider than `width_max`
    /// bytes when whole.
    pub(crate) fn of_narrow(
        table: &TableDesc,
        columns: &[AttrNo],
        width_max: usize,
    ) -> Result<RowReader> {
        Ok(RowReader { width_max, ..RowReader::new(table, columns)? })
    }

    /// The columns that were asked for.
    pub(crate) fn columns(&self) -> Vec<AttrNo> {
        let mut out = vec![0; self.user.len() + self.system.len()];
        self.user.iter().for_each(|(index, at)| out[*at] = *index as AttrNo + 1);
        self.system.iter().for_each(|(column, at)| out[*at] = *column);
        out
    }

    /// Appends the tuple's columns to `batch`; one without columns counts the rows alone. May run
    /// under the page's latch: does no I/O.
    #[inline]
    pub(crate) fn push(
        &mut self,
        deformer: &Deformer,
        tid: Tid,
        tuple: &HeapTuple<'_>,
        batch: &mut Batch,
    ) -> Result<()> {
        if batch.columns.is_empty() {
            batch.len += 1;
            return Ok(());
        }
        let mut cursor = deformer.cursor(tuple);
        let mut previous: Option<(usize, Value<'_>)> = None;
        for &(index, at) in &self.user {
            if let Some(w) = deformer.word_at_fixed_offset(tuple, index) {
                batch.columns[at].push(DatumRef::Word(w));
                continue;
            }
            let value = match previous {
                Some((same, value)) if same == index => value,
                _ => cursor.get(index)?,
            };
            previous = Some((index, value));
            let column = &mut batch.columns[at];
            match value {
                Value::Null => column.push_null(),
                Value::Word(w) => column.push(DatumRef::Word(w)),
                Value::Bytes(b) => column.push(DatumRef::Bytes(b)),
                Value::Raw(raw) if page::varlena::raw_datum_size(raw) > self.width_max => {
                    let stored = raw.len();
                    self.left_out.push(LeftOut { column: at, row: column.len(), stored });
                    column.push(DatumRef::Bytes(&[]));
                }
                Value::Raw(raw) if page::varlena::is_external(raw) => {
                    self.expanded += page::varlena::raw_datum_size(raw);
                    self.deferred.push((at, column.len()));
                    column.push(DatumRef::Bytes(raw));
                }
                Value::Raw(raw) => {
                    toast::decompress(raw, &mut self.scratch)?;
                    self.expanded += self.scratch.len();
                    column.push(DatumRef::Bytes(&self.scratch));
                }
            }
        }
        for &(column, at) in &self.system {
            push_system(self.table, tid, &tuple.header, column, &mut batch.columns[at]);
        }
        batch.len += 1;
        Ok(())
    }

    /// Begins a batch.
    pub(crate) fn begin(&mut self) {
        self.expanded = 0;
    }

    /// Has the batch become so large that no more rows should be added?
    pub(crate) fn is_full(&self) -> bool {
        self.expanded >= BATCH_BYTES_MAX
    }

    /// Fetches what was put off. No page is latched.
    #[inline]
    pub(crate) fn finish(
        &mut self,
        be: &mut Backend,
        table: &TableDesc,
        batch: &mut Batch,
    ) -> Result<()> {
        if self.deferred.is_empty() {
            return Ok(());
        }
        let mut deferred = std::mem::take(&mut self.deferred);
        deferred.sort_unstable();
        for run in deferred.chunk_by(|a, b| a.0 == b.0) {
            let column = &mut batch.columns[run[0].0];
            resolve(be, table, column, run)?;
        }
        deferred.clear();
        self.deferred = deferred;
        Ok(())
    }
}

/// Replaces the pointers in `rows` (ascending) of one column.
fn resolve(
    be: &mut Backend,
    table: &TableDesc,
    column: &mut Column,
    rows: &[(usize, usize)],
) -> Result<()> {
    let ColumnData::Bytes(bytes) = &mut column.data else { return Ok(()) };
    let first = rows[0].1;
    let old = std::mem::take(bytes);
    let kept = old.offsets[first] as usize;
    let mut new =
        BytesColumn { offsets: old.offsets[..=first].to_vec(), data: old.data[..kept].to_vec() };
    let mut next = 0;
    for row in first..old.len() {
        if rows.get(next).is_some_and(|r| r.1 == row) {
            next += 1;
            toast::fetch(be, table, old.get(row), &mut new.data)?;
            if new.data.len() > u32::MAX as usize {
                return Err(pg_err!(OUT_OF_MEMORY, "out of memory"));
            }
            new.close_row();
        } else {
            new.push(old.get(row));
        }
    }
    *bytes = new;
    Ok(())
}

fn push_system(table: Oid, tid: Tid, header: &HeapTupleHeader, column: AttrNo, out: &mut Column) {
    let word = match column {
        system::CTID => return out.push(DatumRef::Bytes(&tid.to_bytes())),
        system::XMIN => header.raw_xmin.0,
        system::XMAX => header.raw_xmax.0,
        // PostgreSQL shows the raw field for both.
        system::CMIN | system::CMAX => header.raw_cid.0,
        _ => table.0,
    };
    out.push(DatumRef::Word(u64::from(word)));
}
