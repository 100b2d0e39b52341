//! Rows in temporary files: batches serialized to a file, and rows that move from memory to a file
//! at a limit. Counterpart: buffile.c, tuplestore.c.

use crate::backend::Backend;
use crate::tempfile::TempFile;
use pgerror::{PgError, Result};
use sync::Arc;
use types::batch::{BytesColumn, NullMask};
use types::{BATCH_ROWS_MAX, Batch, Column, ColumnData, DatumRef};

/// Offset and length of a batch in its file.
#[derive(Clone, Copy)]
struct Chunk {
    at: u64,
    len: usize,
}

/// Batches in a temporary file, in the order of insertion.
pub struct RowFile {
    file: TempFile,
    chunks: Vec<Chunk>,
    buf: Vec<u8>,
    /// Number of rows.
    pub rows: u64,
}

impl RowFile {
    /// An empty file in the session's temporary space.
    pub fn create(be: &mut Backend) -> Result<RowFile> {
        let file = be.temp_space().create()?;
        Ok(RowFile { file, chunks: Vec::new(), buf: Vec::new(), rows: 0 })
    }

    /// Adds a batch at the end.
    pub fn push(&mut self, batch: &Batch) -> Result<()> {
        if batch.len == 0 {
            return Ok(());
        }
        self.buf.clear();
        encode(batch, &mut self.buf);
        let at = self.file.append(&self.buf)?;
        self.chunks.push(Chunk { at, len: self.buf.len() });
        self.rows += batch.len as u64;
        Ok(())
    }

    /// Number of batches.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.file.len()
    }

    /// Reads batch `i`, which must exist.
    pub fn get(&mut self, i: usize) -> Result<Batch> {
        let Chunk { at, len } = self.chunks[i];
        self.buf.resize(len, 0);
        self.file.read(at, &mut self.buf)?;
        decode(&self.buf)
    }

    /// As [`Self::get`], with a buffer of its own.
    pub fn read(&self, i: usize) -> Result<Batch> {
        let Chunk { at, len } = self.chunks[i];
        let mut buf = vec![0; len];
        self.file.read(at, &mut buf)?;
        decode(&buf)
    }
}

/// Batches are closed at this number of bytes, so that readers decode small pieces.
const BATCH_BYTES: usize = 64 << 10;

/// Larger batches are divided when they are added to [`StoredRows`].
const UNDIVIDED_BYTES_MAX: usize = 8 * BATCH_BYTES;

/// Rows that are complete before the first one is read, so that several readers share them without
/// locks. Beyond the memory limit, all complete batches are in a file.
pub struct StoredRows {
    batches: Vec<Arc<Batch>>,
    file: Option<RowFile>,
    /// The rows that were added last, and the size of their values.
    open: Batch,
    open_bytes: usize,
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
        StoredRows {
            batches: Vec::new(),
            file: None,
            open,
            open_bytes: 0,
            bytes: 0,
            limit,
            rows: 0,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row; `values` has one entry per column.
    pub fn push(&mut self, be: &mut Backend, values: &[DatumRef<'_>]) -> Result<()> {
        self.open.push_row(values);
        self.rows += 1;
        self.open_bytes += values.iter().map(size_of_value).sum::<usize>();
        if self.open.len >= BATCH_ROWS_MAX || self.open_bytes >= BATCH_BYTES.min(self.limit) {
            self.close_batch(be)?;
        }
        Ok(())
    }

    /// Adds the rows of a batch. `columns` are those columns of the batch, each of them once, that
    /// are columns of the rows.
    pub fn push_batch(
        &mut self,
        be: &mut Backend,
        mut batch: Batch,
        columns: &[usize],
    ) -> Result<()> {
        let taken = columns.iter().map(|&at| {
            let empty = Column::words(Vec::new());
            std::mem::replace(&mut batch.columns[at], empty)
        });
        let batch = Batch { len: batch.len, columns: taken.collect() };
        if batch.len == 0 {
            return Ok(());
        }
        if self.open.len > 0 {
            self.close_batch(be)?;
        }
        self.rows += batch.len as u64;
        let bytes = batch.memory();
        if bytes <= UNDIVIDED_BYTES_MAX {
            return self.add(be, batch);
        }
        let step = (batch.len * BATCH_BYTES / bytes).max(1);
        for from in (0..batch.len).step_by(step) {
            self.open.extend_range(&batch, from, batch.len.min(from + step));
            self.close_batch(be)?;
        }
        Ok(())
    }

    /// Ends the rows that were added last as a batch.
    fn close_batch(&mut self, be: &mut Backend) -> Result<()> {
        self.open_bytes = 0;
        if let Some(file) = &mut self.file {
            file.push(&self.open)?;
            self.open.clear();
            return Ok(());
        }
        let next = self.open.empty_like();
        let batch = std::mem::replace(&mut self.open, next);
        self.add(be, batch)
    }

    fn add(&mut self, be: &mut Backend, batch: Batch) -> Result<()> {
        if let Some(file) = &mut self.file {
            return file.push(&batch);
        }
        self.bytes += batch.memory();
        self.batches.push(Arc::new(batch));
        if self.bytes > self.limit {
            let mut file = RowFile::create(be)?;
            self.batches.drain(..).try_for_each(|b| file.push(&b))?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// As [`Self::batch`], for a single reader that reads each batch once, in order.
    pub fn take_batch(&mut self, at: usize) -> Result<Option<Batch>> {
        if self.file.is_none()
            && let Some(batch) = self.batches.get_mut(at)
        {
            let batch = std::mem::take(batch);
            return Ok(Some(Arc::try_unwrap(batch).unwrap_or_else(|batch| (*batch).clone())));
        }
        self.batch(at)
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

/// The memory that a value takes in a batch.
fn size_of_value(value: &DatumRef<'_>) -> usize {
    match value {
        DatumRef::Bytes(b) => b.len() + size_of::<u32>(),
        _ => size_of::<u64>(),
    }
}

fn put_words(words: &[u64], out: &mut Vec<u8>) {
    out.reserve(words.len() * 8);
    words.iter().for_each(|w| out.extend_from_slice(&w.to_ne_bytes()));
}

/// In place of the length of a long value that is the same as in the row before.
const REPEATED: u32 = u32::MAX;

/// Serializes a batch, with all numbers in native byte order:
///
/// ```text
/// u32 rows, u32 columns, then for each column:
///   u8 1 = by value, 0 = bytes
///   u32 n, n * u64 NULL mask
///   by value: u32 n, n * u64 words
///   bytes:    u32 n, n * u32 length ([`REPEATED`] if the row shares the long value of the row
///             before), then the bytes of the others
/// ```
fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let number = |n: usize, out: &mut Vec<u8>| out.extend_from_slice(&(n as u32).to_ne_bytes());
    number(batch.len, out);
    number(batch.columns.len(), out);
    for c in &batch.columns {
        let nulls = c.nulls.as_ref().map_or(&[][..], NullMask::words);
        out.push(u8::from(c.is_by_val()));
        number(nulls.len(), out);
        put_words(nulls, out);
        match &c.data {
            ColumnData::Word(w) => {
                number(w.len(), out);
                put_words(w, out);
            }
            ColumnData::Bytes(b) => {
                number(b.len(), out);
                let length = |i| if b.repeats(i) { REPEATED } else { b.get(i).len() as u32 };
                (0..b.len()).for_each(|i| out.extend_from_slice(&length(i).to_ne_bytes()));
                let written = (0..b.len()).filter(|i| !b.repeats(*i));
                written.for_each(|i| out.extend_from_slice(b.get(i)));
            }
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        if n > self.0.len() {
            return Err(PgError::internal("temporary file ends early"));
        }
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        Ok(head)
    }

    fn number(&mut self) -> Result<usize> {
        let b = self.take(4)?;
        Ok(u32::from_ne_bytes([b[0], b[1], b[2], b[3]]) as usize)
    }

    fn words(&mut self, n: usize) -> Result<Vec<u64>> {
        let b = self.take(n * 8)?;
        let word = |c: &[u8]| u64::from_ne_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]);
        Ok(b.chunks_exact(8).map(word).collect())
    }
}

fn decode(bytes: &[u8]) -> Result<Batch> {
    let mut r = Reader(bytes);
    let len = r.number()?;
    let count = r.number()?;
    let mut columns = Vec::with_capacity(count);
    for _ in 0..count {
        let by_val = r.take(1)?[0] != 0;
        let n = r.number()?;
        let nulls = if n == 0 { None } else { Some(NullMask::from_words(r.words(n)?)) };
        let n = r.number()?;
        let data = if by_val {
            ColumnData::Word(r.words(n)?)
        } else {
            let lengths = r.take(n * 4)?;
            let mut values = BytesColumn::default();
            values.reserve(n, 0);
            for length in lengths.chunks_exact(4) {
                match u32::from_ne_bytes([length[0], length[1], length[2], length[3]]) {
                    REPEATED => values.push_repeated(),
                    length => values.push(r.take(length as usize)?),
                }
            }
            ColumnData::Bytes(values)
        };
        columns.push(Column { data, nulls });
    }
    Ok(Batch { len, columns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::DatumRef;

    #[test]
    fn batches_round_trip() {
        let mut batch = Batch::new([true, false, true]);
        for i in 0..300u64 {
            let text = "x".repeat(i as usize % 17);
            let word = if i % 7 == 0 { DatumRef::Null } else { DatumRef::Word(i << 40) };
            let bytes = if i % 11 == 0 { DatumRef::Null } else { DatumRef::Bytes(text.as_bytes()) };
            batch.push_row(&[word, bytes, DatumRef::Word(i)]);
        }
        for b in [batch, Batch::new([false]), Batch { len: 3, columns: Vec::new() }] {
            let mut bytes = Vec::new();
            encode(&b, &mut bytes);
            assert_eq!(decode(&bytes).unwrap(), b);
            assert!(bytes.is_empty() || decode(&bytes[..bytes.len() - 1]).is_err());
        }
    }
}
