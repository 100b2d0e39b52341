//! The rows of each function of a ROWS FROM list, made completely before the next function is
//! called. Counterpart: nodeFunctionscan.c (`FunctionNext`), execSRF.c
//! (`ExecMakeTableFunctionResult`).

use crate::run::Run;
use pgerror::Result;
use rowops::spill::RowStore;
use std::sync::Arc;
use types::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, Batch, Datum};

/// All rows of one function, within `work_mem`, and the position of the next one.
pub(crate) struct DrainedRows {
    rows: RowStore,
    /// Rows that are not in `rows` yet.
    open: Batch,
    template: Batch,
    /// The batch that is being read.
    reading: Option<Arc<Batch>>,
    /// Number of the next batch, and of the next row of `reading`.
    at: (usize, usize),
}

impl DrainedRows {
    /// No rows yet; `template` is an empty batch with the columns.
    pub(crate) fn new(template: Batch, run: &Run<'_>) -> DrainedRows {
        let open = template.clone();
        DrainedRows {
            rows: RowStore::new(run.sv.work_mem()),
            open,
            template,
            reading: None,
            at: (0, 0),
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, run: &mut Run<'_>, row: &[Datum]) -> Result<()> {
        for (column, v) in self.open.columns.iter_mut().zip(row) {
            column.push(v.as_ref());
        }
        self.open.len += 1;
        let full = self.open.len == BATCH_ROWS_MAX || self.open.memory() >= BATCH_BYTES_MAX / 8;
        if full { self.finish(run) } else { Ok(()) }
    }

    /// Ends a batch of rows; called after the last row.
    pub(crate) fn finish(&mut self, run: &mut Run<'_>) -> Result<()> {
        run.interrupts()?;
        if self.open.len == 0 {
            return Ok(());
        }
        let batch = std::mem::replace(&mut self.open, self.template.clone());
        self.rows.push(run.sv, Arc::new(batch))
    }

    /// Starts again with the first row.
    pub(crate) fn rewind(&mut self) {
        self.reading = None;
        self.at = (0, 0);
    }

    /// Appends the columns of the next row; false at the end.
    pub(crate) fn next(&mut self, out: &mut Vec<Datum>) -> Result<bool> {
        let (next_batch, row) = self.at;
        if let Some(batch) = &self.reading
            && row < batch.len
        {
            out.extend((0..batch.columns.len()).map(|c| batch.get(row, c).to_owned()));
            self.at.1 += 1;
            return Ok(true);
        }
        self.reading = self.rows.get(next_batch)?;
        self.at = (next_batch + 1, 0);
        match self.reading {
            Some(_) => self.next(out),
            None => Ok(false),
        }
    }
}
