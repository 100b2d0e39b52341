//! Bulk insertion: writes batches of rows that a command produces outside of a plan. Counterpart:
//! copyfrom.c (`CopyMultiInsertBuffer…`).

use super::{EntryOptions, RowWriter, WriteHost};
use engine::table::{self, BulkInsert, InsertOptions};
use ids::{AttrNo, Oid, Tid};
use pgerror::Result;
use types::Batch;

/// Writes batches of rows into a table.
pub struct BulkWriter {
    pub rows: RowWriter,
    how: InsertOptions,
    bulk: BulkInsert,
    /// Index entries are inserted with the rows. If not, the caller builds the indexes after all
    /// rows are written.
    keeps_indexes: bool,
    tids: Vec<Tid>,
}

impl BulkWriter {
    /// Opens the table, which must be locked. All rows get the current command number: rows of
    /// earlier batches are visible to functions that are called for later rows.
    pub fn open<H: WriteHost + ?Sized>(
        host: &mut H,
        table: Oid,
        how: InsertOptions,
    ) -> Result<BulkWriter> {
        let rel = host.services().open_relation(table)?;
        let rows = RowWriter::new(&rel, host.services().as_facts())?;
        let be = host.services().backend();
        let bulk = BulkInsert::new(be, &rel.table);
        let how = InsertOptions { command: Some(be.txn.current_command(true)), ..how };
        Ok(BulkWriter { rows, how, bulk, keeps_indexes: true, tids: Vec::new() })
    }

    /// Writes only the heap. The caller builds the indexes when the table is complete.
    pub fn without_indexes(mut self) -> BulkWriter {
        self.keeps_indexes = false;
        self
    }

    /// An empty batch with all columns.
    pub fn batch(&self) -> Batch {
        let table = &self.rows.rel.table;
        let columns: Vec<AttrNo> = (1..=table.tupdesc.len() as AttrNo).collect();
        table::new_batch(table, &columns)
    }

    /// Writes complete rows. After an error, `at_fault` is the index of the row that caused it, if
    /// it is known.
    pub fn write<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        rows: &Batch,
        at_fault: &mut Option<usize>,
    ) -> Result<()> {
        if rows.len == 0 {
            return Ok(());
        }
        let BulkWriter { rows: writer, how, bulk, tids, .. } = self;
        if self.keeps_indexes {
            return writer.insert_batch(host, rows, *how, bulk, (tids, at_fault));
        }
        tids.clear();
        table::multi_insert(host.services().backend(), &writer.rel.table, rows, *how, bulk, tids)
    }

    /// TIDs of the rows that were written last.
    pub fn written(&self) -> &[Tid] {
        &self.tids
    }

    /// Inserts the index entries of a row that was written without them.
    pub fn index<H: WriteHost + ?Sized>(&mut self, host: &mut H, tid: Tid) -> Result<()> {
        self.rows.insert_entries_of(host, tid, EntryOptions::default())
    }

    /// Ends the bulk insertion.
    pub fn finish<H: WriteHost + ?Sized>(self, host: &mut H) -> Result<()> {
        self.bulk.finish(host.services().backend(), &self.rows.rel.table)
    }
}
