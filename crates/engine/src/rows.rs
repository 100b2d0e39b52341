//! Decoding of tuples into batches.
//!
//! A value in the TOAST table is first added to the batch as its TOAST pointer. It is fetched after
//! the page's latch is released, because that reads other pages.

use crate::backend::Backend;
use crate::desc::TableDesc;
use crate::table::system;
use crate::toast;
use ids::stored::{StoredFacet, described};
use ids::{AttrNo, Oid, Tid};
use page::deform::StoredForm;
use page::{Deformer, HeapTuple, HeapTupleHeader, Value};
use pgerror::{Result, pg_err};
use types::batch::{Column, ColumnData};
use types::{BATCH_BYTES_MAX, Batch, DatumRef};

/// Decodes the columns of a scan.
pub(crate) struct RowReader {
    /// Table column (from 0) and batch column, by table column.
    user: Vec<(usize, usize)>,
    system: Vec<(AttrNo, usize)>,
    table: Oid,
    /// Values of the batch that are TOAST pointers: batch column, row.
    deferred: Vec<(usize, usize)>,
    scratch: Vec<u8>,
    /// Values whose decompressed size exceeds this are replaced by an empty value. If there is a
    /// limit, `packed` lists all compressed and TOASTed values.
    width_max: Option<usize>,
    pub(crate) packed: Vec<PackedValue>,
    /// Decompressed size in bytes of the compressed and TOASTed values of the batch.
    expanded: usize,
}

/// A compressed or TOASTed value.
#[derive(Clone, Debug)]
pub struct PackedValue {
    pub column: usize,
    pub row: usize,
    /// Its size in the stored row, in bytes.
    pub stored: usize,
    /// The stored form of a value that was not read because it is too wide.
    pub omitted: Option<Box<[u8]>>,
}

/// True if the column is passed by value in a batch.
pub(crate) fn is_by_val(table: &TableDesc, column: AttrNo) -> bool {
    if column <= 0 {
        let is_name = matches!(described(column), Some((StoredFacet::Compression, _)));
        return column != system::CTID && !is_name;
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
            width_max: None,
            packed: Vec::new(),
            expanded: 0,
        };
        for (at, &column) in columns.iter().enumerate() {
            match column {
                system::TABLEOID..=system::CTID => reader.system.push((column, at)),
                1.. if column as usize <= table.tupdesc.attrs.len() => {
                    reader.user.push((column as usize - 1, at));
                }
                _ if described(column)
                    .is_some_and(|(_, of)| of as usize <= table.tupdesc.attrs.len()) =>
                {
                    reader.system.push((column, at));
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

    /// As [`RowReader::new`], but omits compressed and TOASTed values whose decompressed size
    /// exceeds `width_max` bytes.
    pub(crate) fn with_width_max(
        table: &TableDesc,
        columns: &[AttrNo],
        width_max: usize,
    ) -> Result<RowReader> {
        Ok(RowReader { width_max: Some(width_max), ..RowReader::new(table, columns)? })
    }

    /// The requested columns.
    pub(crate) fn columns(&self) -> Vec<AttrNo> {
        let mut out = vec![0; self.user.len() + self.system.len()];
        self.user.iter().for_each(|(index, at)| out[*at] = *index as AttrNo + 1);
        self.system.iter().for_each(|(column, at)| out[*at] = *column);
        out
    }

    /// Appends the tuple's columns to `batch`; a batch without columns only counts rows. This does
    /// no I/O, so it may run while the page is latched.
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
                Value::Raw(raw)
                    if self.width_max.is_some_and(|max| {
                        let (row, stored) = (column.len(), raw.len());
                        let omits = page::varlena::raw_datum_size(raw) > max;
                        let omitted = omits.then(|| raw.into());
                        self.packed.push(PackedValue { column: at, row, stored, omitted });
                        omits
                    }) =>
                {
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
            if column < system::TABLEOID {
                push_stored(deformer, tuple, column, &mut batch.columns[at])?;
                continue;
            }
            push_system(self.table, tid, &tuple.header, column, &mut batch.columns[at]);
        }
        batch.len += 1;
        Ok(())
    }

    /// Starts a batch.
    pub(crate) fn begin(&mut self) {
        self.expanded = 0;
    }

    /// True if the batch is so large that no more rows should be added.
    pub(crate) fn is_full(&self) -> bool {
        self.expanded >= BATCH_BYTES_MAX
    }

    /// Fetches the TOASTed values of the batch. LOCK ORDER: no page is latched.
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

/// Replaces the TOAST pointers in `rows` (ascending) of one column by their values.
fn resolve(
    be: &mut Backend,
    table: &TableDesc,
    column: &mut Column,
    rows: &[(usize, usize)],
) -> Result<()> {
    let ColumnData::Bytes(bytes) = &mut column.data else { return Ok(()) };
    let old = std::mem::take(bytes);
    bytes.reserve(old.len(), old.bytes());
    let mut pointers = rows.iter().map(|r| r.1).peekable();
    for row in 0..old.len() {
        if pointers.next_if_eq(&row).is_none() {
            bytes.push(old.get(row));
            continue;
        }
        let mut value = Vec::new();
        toast::fetch(be, table, old.get(row), &mut value)?;
        bytes.push_owned(value.into_boxed_slice());
    }
    Ok(())
}

/// The value of a compressed or TOASTed column of a row.
pub(crate) fn expand(be: &mut Backend, table: &TableDesc, raw: &[u8]) -> Result<Vec<u8>> {
    let mut value = Vec::new();
    match page::varlena::is_external(raw) {
        true => toast::fetch(be, table, raw, &mut value)?,
        false => toast::decompress(raw, &mut value)?,
    }
    Ok(value)
}

/// Appends the value of a column that describes how another one is stored.
#[cold]
fn push_stored(
    deformer: &Deformer,
    tuple: &HeapTuple<'_>,
    column: AttrNo,
    out: &mut Column,
) -> Result<()> {
    let Some((facet, of)) = described(column) else { return Ok(()) };
    let form = deformer.stored_form(tuple, of as usize - 1)?;
    match (facet, form) {
        (StoredFacet::Size, Some(form)) => out.push(DatumRef::Word(form.size as u64)),
        (StoredFacet::Compression, Some(StoredForm { compression: Some(method), .. })) => {
            out.push(DatumRef::Bytes(method.name().as_bytes()));
        }
        _ => out.push_null(),
    }
    Ok(())
}

fn push_system(table: Oid, tid: Tid, header: &HeapTupleHeader, column: AttrNo, out: &mut Column) {
    let word = match column {
        system::CTID => return out.push(DatumRef::Bytes(&tid.to_bytes())),
        system::XMIN => header.raw_xmin.0,
        system::XMAX => header.raw_xmax.0,
        // PostgreSQL returns the raw field for both columns.
        system::CMIN | system::CMAX => header.raw_cid.0,
        _ => table.0,
    };
    out.push(DatumRef::Word(u64::from(word)));
}
