//! REFRESH MATERIALIZED VIEW CONCURRENTLY: changes only the rows that differ. Counterpart:
//! matview.c (`refresh_by_match_merge`).
//!
//! The TIDs of the old rows are stored by a hash of the row. For each row of the query an equal old
//! row is searched. If there is none, the row is written to the heap at once; its index entries are
//! inserted after the old rows without a match have been deleted. So no rows are kept in memory,
//! only their TIDs.
//!
//! As in PostgreSQL, a row with NULL in a column of a unique index equals no other row.

use catalog::RelDesc;
use engine::TableDesc;
use engine::table::{self, ChangeOptions, InsertOptions, RowFetch, ScanOptions, TableScan, system};
use executor::{BulkWriter, Refs};
use utility::host::{CommandHost, Writing};
use utility::query;

use ids::{AttrNo, Oid, Tid};
use pgerror::{PgError, Result, pg_err};
use plan::query::Query;
use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch, Datum, DatumRef};

/// TIDs of rows by the hash of their values, and whether a row of the query has matched them.
type Rows = HashMap<u64, Vec<(Tid, bool)>>;

struct Merge {
    table: Arc<TableDesc>,
    columns: Vec<AttrNo>,
    /// Indexes of the columns of unique indexes.
    unique: Vec<usize>,
    fetch: RowFetch,
    version: Batch,
    old: Rows,
    new: Rows,
    /// Old rows that equal no other row because they contain NULL.
    removed: Vec<Tid>,
    /// New rows, which have no index entries yet.
    added: Vec<Tid>,
    writer: BulkWriter,
    /// The rows of the query without a match, until they are written.
    batch: Batch,
    hashes: Vec<u64>,
    duplicate: Option<Vec<Datum>>,
}

/// A hash of all values.
fn hash(row: &[DatumRef<'_>]) -> u64 {
    let mut state = std::hash::DefaultHasher::new();
    for value in row {
        match value {
            DatumRef::Null => state.write_u8(0),
            DatumRef::Word(w) => {
                state.write_u8(1);
                state.write_u64(*w);
            }
            DatumRef::Bytes(b) => {
                state.write_u8(2);
                state.write_usize(b.len());
                state.write(b);
            }
        }
    }
    state.finish()
}

/// Replaces the rows by those of the query. The changes become visible at commit.
pub(super) fn merge(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, query: &Query) -> Result<()> {
    let Some(table) = rel.table.clone() else { return Ok(()) };
    let usable = super::usable_indexes(host, rel)?;
    let mut merge = Merge::new(host, rel, table, &usable)?;
    merge.read_old(host)?;
    host.as_owner(rel.class.relowner, &mut |host| {
        query::run(host, query, &mut |host, rows, indexes| merge.take(host, rows, indexes))?;
        merge.write(host)
    })?;
    if let Some(row) = merge.duplicate.take() {
        return Err(duplicate_rows(host, rel, &row)?);
    }
    // The query may have dropped them.
    let now = host.catalog().relation(rel.oid())?;
    if super::usable_indexes(host, &now)?.is_empty() {
        let message = "could not find suitable unique index on materialized view";
        return Err(PgError::internal(message));
    }
    merge.finish(host, rel)
}

/// The context of errors about new rows: the statement that inserts them in PostgreSQL, from a
/// temporary table with the view's OID in its name.
fn insertion(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<String> {
    let schema = host.catalog().namespace_name(rel.class.relnamespace)?;
    let view = parse::keywords::quote_qualified(schema.as_ref().map(|n| n.as_str()), rel.name());
    let (session, oid) = (host.backend().backend_no().0, rel.oid());
    Ok(format!(
        "SQL statement \"INSERT INTO {view} SELECT (diff.newdata).* FROM \
         pg_temp_{session}.pg_temp_{oid}_2 diff WHERE tid IS NULL\""
    ))
}

fn duplicate_rows(host: &mut dyn CommandHost, rel: &RelDesc, row: &[Datum]) -> Result<PgError> {
    let cx = host.functions();
    let value = eval::make_row(cx, rel.class.reltype, row)?;
    let text = cx.type_output(rel.class.reltype, value.as_ref())?;
    Ok(pg_err!(
        CARDINALITY_VIOLATION,
        "new data for materialized view \"{}\" contains duplicate rows without any null columns",
        rel.name()
    )
    .detail(format!("Row: {}", String::from_utf8_lossy(&text))))
}

impl Merge {
    fn new(
        host: &mut dyn CommandHost,
        rel: &Arc<RelDesc>,
        table: Arc<TableDesc>,
        usable: &[Oid],
    ) -> Result<Merge> {
        let columns: Vec<AttrNo> = (1..=table.tupdesc.len() as AttrNo).collect();
        let keys = rel.indexes.iter().filter(|i| usable.contains(&i.indexrelid));
        let keys = keys.flat_map(|i| i.indkey.iter().take(i.indnkeyatts as usize));
        let unique = keys.map(|&n| n as usize - 1).collect();
        let writer = BulkWriter::open(&mut Writing(host), rel.oid(), InsertOptions::default())?;
        let batch = writer.batch();
        Ok(Merge {
            fetch: RowFetch::new(&table, &columns)?,
            version: table::new_batch(&table, &columns),
            table,
            columns,
            unique,
            old: Rows::new(),
            new: Rows::new(),
            removed: Vec::new(),
            added: Vec::new(),
            writer: writer.without_indexes(),
            batch,
            hashes: Vec::new(),
            duplicate: None,
        })
    }

    fn equals_none(&self, row: &[DatumRef<'_>]) -> bool {
        self.unique.iter().any(|&i| row[i].is_null())
    }

    /// Reads the TIDs and hashes of the current rows.
    fn read_old(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        let columns = [&self.columns[..], &[system::CTID]].concat();
        let snapshot = host.backend().catalog_snapshot();
        let options = ScanOptions::default();
        let mut scan = TableScan::new(host.backend(), &self.table, snapshot, &columns, options)?;
        let mut batch = table::new_batch(&self.table, &columns);
        while scan.next_batch(host.backend(), &mut batch, BATCH_ROWS_MAX)? {
            types::memory::check()?;
            for r in 0..batch.len {
                let mut row: Refs<'_> = batch.row(r).collect();
                let Some(tid) = row.pop().and_then(executor::tid_of) else { continue };
                if self.equals_none(&row) {
                    self.removed.push(tid);
                } else {
                    self.old.entry(hash(&row)).or_default().push((tid, false));
                }
            }
            batch.clear();
        }
        Ok(())
    }

    /// Searches an old row with these values and marks it. Returns `None` if there is none,
    /// otherwise whether it was already marked.
    fn find(
        &mut self,
        host: &mut dyn CommandHost,
        is_new: bool,
        hash: u64,
        row: &[DatumRef<'_>],
    ) -> Result<Option<bool>> {
        let rows = if is_new { &mut self.new } else { &mut self.old };
        for (tid, marked) in rows.get_mut(&hash).into_iter().flatten() {
            self.version.clear();
            if self.fetch.version(host.backend(), *tid, &mut self.version)?
                && self.version.row(0).eq(row.iter().copied())
            {
                return Ok(Some(std::mem::replace(marked, true)));
            }
        }
        Ok(None)
    }

    /// Adds rows of the query.
    fn take(&mut self, host: &mut dyn CommandHost, rows: &Batch, indexes: &[usize]) -> Result<()> {
        for r in 0..rows.len {
            let row: Refs<'_> = indexes.iter().map(|&i| rows.get(r, i)).collect();
            let hash = hash(&row);
            if !self.equals_none(&row) {
                let is_full = row.iter().all(|v| !v.is_null());
                let found = match self.find(host, false, hash, &row)? {
                    None if is_full => {
                        // The batch may contain equal rows of the query.
                        if self.hashes.contains(&hash) {
                            self.write(host)?;
                        }
                        self.find(host, true, hash, &row)?.map(|_| true)
                    }
                    found => found,
                };
                if found == Some(true) && is_full && self.duplicate.is_none() {
                    self.duplicate = Some(row.iter().map(|d| DatumRef::to_owned(*d)).collect());
                }
                if found.is_some() {
                    continue;
                }
            }
            self.batch.push_row(&row);
            self.hashes.push(hash);
            if self.batch.is_full() {
                self.write(host)?;
            }
        }
        Ok(())
    }

    /// Writes the rows of the batch, without index entries.
    fn write(&mut self, host: &mut dyn CommandHost) -> Result<()> {
        types::memory::check()?;
        self.writer.write(&mut Writing(host), &self.batch, &mut None)?;
        if self.batch.len > 0 {
            for (&tid, &hash) in self.writer.written().iter().zip(&self.hashes) {
                self.added.push(tid);
                self.new.entry(hash).or_default().push((tid, false));
            }
        }
        self.batch.clear();
        self.hashes.clear();
        Ok(())
    }

    /// Deletes the old rows without a match and inserts the index entries of the new rows.
    fn finish(mut self, host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
        let unmarked = self.old.values().flatten().filter(|(_, marked)| !marked);
        self.removed.extend(unmarked.map(|(tid, _)| *tid));
        self.removed.sort_unstable();
        for &tid in &self.removed {
            host.backend().check_interrupts()?;
            table::delete(host.backend(), &self.table, tid, ChangeOptions::default())?;
        }
        host.catalog().increment_command_counter()?;
        for &tid in &self.added {
            host.backend().check_interrupts()?;
            if let Err(e) = self.writer.index(&mut Writing(host), tid) {
                return Err(e.context(insertion(host, rel)?));
            }
        }
        self.writer.finish(&mut Writing(host))
    }
}
