//! Temporary storage of the rows of a plan: buffered files, and row stores that move from memory to
//! a file at a limit. Counterpart: buffile.c, tuplestore.c.

use crate::services::Services;
use engine::RowFile;
use pgerror::Result;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch};

/// Rows are buffered up to this number of bytes before they are written to a file.
pub const CHUNK_BYTES: usize = 8192;

/// Number of recently read batches that are cached, for random access by window frames.
const RECENT_MAX: usize = 4;

/// A buffered writer of rows to a temporary file, which is created with the first full buffer.
#[derive(Default)]
pub struct Spool {
    pending: Batch,
    file: Option<RowFile>,
}

impl Spool {
    pub fn is_empty(&self) -> bool {
        self.pending.len == 0 && self.file.is_none()
    }

    /// Adds the rows `rows` of a batch.
    pub fn push(&mut self, sv: &mut dyn Services, batch: &Batch, rows: &[u16]) -> Result<()> {
        if self.pending.columns.len() != batch.columns.len() {
            self.pending = batch.empty_like();
        }
        for part in rows.chunks(BATCH_ROWS_MAX - self.pending.len.min(BATCH_ROWS_MAX - 1)) {
            self.pending.extend_rows(batch, part);
            if self.pending.memory() >= CHUNK_BYTES || self.pending.is_full() {
                self.flush(sv)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, sv: &mut dyn Services) -> Result<()> {
        let file = match &mut self.file {
            Some(f) => f,
            slot => slot.insert(RowFile::create(sv.backend())?),
        };
        file.push(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// Ends writing and returns a reader.
    pub fn into_reader(self) -> SpoolReader {
        SpoolReader { file: self.file, last: Some(self.pending).filter(|b| b.len > 0), at: 0 }
    }
}

/// Reads the rows of a [`Spool`] once, in order.
#[derive(Default)]
pub struct SpoolReader {
    file: Option<RowFile>,
    last: Option<Batch>,
    at: usize,
}

impl SpoolReader {
    /// The next batch; `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        if let Some(f) = &mut self.file {
            if self.at < f.len() {
                self.at += 1;
                return f.get(self.at - 1).map(Some);
            }
            self.file = None;
        }
        Ok(self.last.take())
    }
}

/// Rows that can be read several times and by several readers, by batch number. All batches are in
/// memory or, beyond the limit, all in a file.
pub struct RowStore {
    batches: Vec<Arc<Batch>>,
    bytes: usize,
    /// Limit of the memory in bytes.
    limit: usize,
    file: Option<RowFile>,
    /// Recently read batches with their numbers.
    recent: Vec<(usize, Arc<Batch>)>,
}

impl RowStore {
    /// `limit`: memory in bytes.
    pub fn new(limit: usize) -> RowStore {
        RowStore { batches: Vec::new(), bytes: 0, limit, file: None, recent: Vec::new() }
    }

    /// Number of batches.
    pub fn len(&self) -> usize {
        self.file.as_ref().map_or(self.batches.len(), RowFile::len)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn clear(&mut self) {
        self.batches.clear();
        self.bytes = 0;
        self.file = None;
        self.recent.clear();
    }

    /// Adds a batch, which must not be empty.
    pub fn push(&mut self, sv: &mut dyn Services, batch: Arc<Batch>) -> Result<()> {
        if let Some(f) = &mut self.file {
            return f.push(&batch);
        }
        self.bytes += batch.memory();
        self.batches.push(batch);
        if self.bytes > self.limit {
            let mut file = RowFile::create(sv.backend())?;
            for b in self.batches.drain(..) {
                file.push(&b)?;
            }
            self.file = Some(file);
        }
        Ok(())
    }

    pub fn get(&mut self, i: usize) -> Result<Option<Arc<Batch>>> {
        let Some(f) = &mut self.file else { return Ok(self.batches.get(i).cloned()) };
        if i >= f.len() {
            return Ok(None);
        }
        if let Some((_, b)) = self.recent.iter().find(|(at, _)| *at == i) {
            return Ok(Some(b.clone()));
        }
        let batch = Arc::new(f.get(i)?);
        if self.recent.len() >= RECENT_MAX {
            self.recent.remove(0);
        }
        self.recent.push((i, batch.clone()));
        Ok(Some(batch))
    }
}
