//! Rows outside of plans that are kept for later readers: transition tables, the results of
//! functions. Counterpart: tuplestore.c.

use crate::spill::SpillFile;
use engine::Backend;
use pgerror::Result;
use std::sync::Arc;
use types::{Batch, DatumRef};

/// Batches are closed at this number of bytes, so that readers decode small pieces.
const BATCH_BYTES: usize = 64 << 10;

/// Rows that are complete before the first one is read, so that several readers share them without
/// locks. Beyond the memory limit, all complete batches are in a file.
pub struct StoredRows {
    batches: Vec<Arc<Batch>>,
    file: Option<SpillFile>,
    /// The rows that were added last.
    open: Batch,
    /// Size of `batches`, and its limit.
    bytes: usize,
    limit: usize,
    rows: u64,
}

impl StoredRows {
    /// No rows yet. `by_val`: for each column, whether its type is passed by value. `limit`: memory
    /// limit in bytes.
    pub fn new(by_val: impl IntoIterator<Item = bool>, limit: usize) -> StoredRows {
        let open = Batch::new(by_val);
        StoredRows { batches: Vec::new(), file: None, open, bytes: 0, limit, rows: 0 }
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row; `values` has one entry per column.
    pub fn push(&mut self, be: &mut Backend, values: &[DatumRef<'_>]) -> Result<()> {
        self.open.push_row(values);
        self.rows += 1;
        if self.open.is_full() || self.open.memory() >= BATCH_BYTES.min(self.limit) {
            self.close_batch(be)?;
        }
        Ok(())
    }

    fn close_batch(&mut self, be: &mut Backend) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.push(&self.open)?;
            self.open.clear();
            return Ok(());
        }
        self.bytes += self.open.memory();
        let next = self.open.empty_like();
        self.batches.push(Arc::new(std::mem::replace(&mut self.open, next)));
        if self.bytes > self.limit {
            let mut file = SpillFile::create_in(be)?;
            self.batches.drain(..).try_for_each(|b| file.push(&b))?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// Batch number `at`; `None` after the last one.
    pub fn batch(&self, at: usize) -> Result<Option<Batch>> {
        let closed = match &self.file {
            Some(file) if at < file.len() => return file.read(at).map(Some),
            Some(file) => file.len(),
            None => match self.batches.get(at) {
                Some(batch) => return Ok(Some((**batch).clone())),
                None => self.batches.len(),
            },
        };
        Ok((at == closed && self.open.len > 0).then(|| self.open.clone()))
    }
}
