//! Temporary storage of rows: batches serialized to temporary files, and row stores that move from
//! memory to a file at a limit. Counterpart: buffile.c, tuplestore.c.

use crate::run::Run;
use engine::{Backend, TempFile};
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::batch::{BytesColumn, NullMask};
use types::{BATCH_ROWS_MAX, Batch, Column, ColumnData};

/// Rows are buffered up to this number of bytes before they are written to a file.
pub(crate) const CHUNK_BYTES: usize = 8192;

/// Number of recently read batches that are cached, for random access by window frames.
const RECENT_MAX: usize = 4;

/// Offset and length of a batch in its file.
#[derive(Clone, Copy)]
struct Chunk {
    at: u64,
    len: usize,
}

/// Batches in a temporary file, in the order of insertion.
pub(crate) struct SpillFile {
    file: TempFile,
    chunks: Vec<Chunk>,
    buf: Vec<u8>,
    pub rows: u64,
}

impl SpillFile {
    pub(crate) fn create(run: &mut Run<'_>) -> Result<SpillFile> {
        SpillFile::create_in(run.sv.backend())
    }

    pub(crate) fn create_in(be: &mut Backend) -> Result<SpillFile> {
        let file = be.temp_space().create()?;
        Ok(SpillFile { file, chunks: Vec::new(), buf: Vec::new(), rows: 0 })
    }

    pub(crate) fn push(&mut self, batch: &Batch) -> Result<()> {
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
    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.file.len()
    }

    /// Reads batch `i`, which must exist.
    pub(crate) fn get(&mut self, i: usize) -> Result<Batch> {
        let Chunk { at, len } = self.chunks[i];
        self.buf.resize(len, 0);
        self.file.read(at, &mut self.buf)?;
        decode(&self.buf)
    }

    /// As [`Self::get`], with a buffer of its own.
    pub(crate) fn read(&self, i: usize) -> Result<Batch> {
        let Chunk { at, len } = self.chunks[i];
        let mut buf = vec![0; len];
        self.file.read(at, &mut buf)?;
        decode(&buf)
    }
}

/// A buffered writer of rows to a temporary file, which is created with the first full buffer.
#[derive(Default)]
pub(crate) struct Spool {
    pending: Batch,
    file: Option<SpillFile>,
}

impl Spool {
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.len == 0 && self.file.is_none()
    }

    /// Adds the rows `rows` of a batch.
    pub(crate) fn push(&mut self, run: &mut Run<'_>, batch: &Batch, rows: &[u16]) -> Result<()> {
        if self.pending.columns.len() != batch.columns.len() {
            self.pending = batch.empty_like();
        }
        for part in rows.chunks(BATCH_ROWS_MAX - self.pending.len.min(BATCH_ROWS_MAX - 1)) {
            self.pending.extend_rows(batch, part);
            if self.pending.memory() >= CHUNK_BYTES || self.pending.is_full() {
                self.flush(run)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, run: &mut Run<'_>) -> Result<()> {
        let file = match &mut self.file {
            Some(f) => f,
            slot => slot.insert(SpillFile::create(run)?),
        };
        file.push(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// Ends writing and returns a reader.
    pub(crate) fn into_reader(self) -> SpoolReader {
        SpoolReader { file: self.file, last: Some(self.pending).filter(|b| b.len > 0), at: 0 }
    }
}

/// Reads the rows of a [`Spool`] once, in order.
#[derive(Default)]
pub(crate) struct SpoolReader {
    file: Option<SpillFile>,
    last: Option<Batch>,
    at: usize,
}

impl SpoolReader {
    pub(crate) fn next(&mut self) -> Result<Option<Batch>> {
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
pub(crate) struct RowStore {
    batches: Vec<Arc<Batch>>,
    bytes: usize,
    /// Limit of the memory in bytes.
    limit: usize,
    file: Option<SpillFile>,
    /// Recently read batches with their numbers.
    recent: Vec<(usize, Arc<Batch>)>,
}

impl RowStore {
    pub(crate) fn new(run: &Run<'_>) -> RowStore {
        RowStore::with_limit(run.sv.work_mem())
    }

    pub(crate) fn with_limit(limit: usize) -> RowStore {
        RowStore { batches: Vec::new(), bytes: 0, limit, file: None, recent: Vec::new() }
    }

    /// Number of batches.
    pub(crate) fn len(&self) -> usize {
        self.file.as_ref().map_or(self.batches.len(), SpillFile::len)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn clear(&mut self) {
        self.batches.clear();
        self.bytes = 0;
        self.file = None;
        self.recent.clear();
    }

    /// Adds a batch, which must not be empty.
    pub(crate) fn push(&mut self, run: &mut Run<'_>, batch: Arc<Batch>) -> Result<()> {
        if let Some(f) = &mut self.file {
            return f.push(&batch);
        }
        self.bytes += batch.memory();
        self.batches.push(batch);
        if self.bytes > self.limit {
            let mut file = SpillFile::create(run)?;
            for b in self.batches.drain(..) {
                file.push(&b)?;
            }
            self.file = Some(file);
        }
        Ok(())
    }

    pub(crate) fn get(&mut self, i: usize) -> Result<Option<Arc<Batch>>> {
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
