//! Sorting of index tuples for a build: in memory up to a limit, beyond it in runs in a temporary
//! file that are merged. Entries are compared by eight leading bytes of their first column where
//! its order allows, then by the columns, then by heap TID. Counterpart: tuplesortvariants.c,
//! tuplesort.c.

use crate::schema::KeySchema;
use ids::{BlockNo, Tid};
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use sync::Arc;
use types::DatumRef;
use types::compare::{self, CompareFn, Comparer};
use vfs::{Disk, File, OpenMode, io_error};

/// Smallest buffer of a run being merged, in bytes.
const RUN_BUFFER_MIN: usize = 16 * 1024;
/// Tuples that are fetched into the processor's cache together.
const FETCHED: usize = 32;
/// A row that is dead for all but old snapshots: it is indexed, but conflicts with nothing.
const DEAD: u32 = 1 << 31;

/// An entry: where its tuple begins in the arena, and what orders it first.
#[derive(Clone, Copy)]
struct Entry {
    prefix: u64,
    at: u32,
    /// Bytes; the top bit says that the row is dead.
    len: u32,
}

impl Entry {
    fn is_dead(self) -> bool {
        self.len & DEAD != 0
    }

    /// Where the tuple is in the arena.
    fn range(self) -> std::ops::Range<usize> {
        let at = self.at as usize;
        at..at + (self.len & !DEAD) as usize
    }
}

/// The entries in their order, whose tuples lie in any order in the arena: reads a byte of each of
/// the next ones at once, so that the processor waits for all of them together.
fn fetched<'e>(entries: &'e [Entry], arena: &[u8]) -> impl Iterator<Item = &'e Entry> {
    entries.chunks(FETCHED).flat_map(|chunk| {
        std::hint::black_box(chunk.iter().fold(0, |sum, e| sum ^ arena[e.at as usize]));
        chunk
    })
}

/// Gathers index tuples and gives them back in order.
pub struct Sorter<'a> {
    schema: &'a KeySchema,
    disk: Arc<dyn Disk>,
    /// Path of the temporary file, made when memory does not suffice.
    path: String,
    memory_limit: usize,
    arena: Vec<u8>,
    entries: Vec<Entry>,
    /// TID of the last entry.
    last_tid: Tid,
    /// The entries came in the order of their TIDs, as they do from a scan unless HOT chains lie
    /// crosswise.
    tids_ascend: bool,
    prefix: Prefix,
    /// Of the second column, where the first one leaves room.
    next_prefix: Option<Prefix>,
    file: Option<TempFile>,
    /// Extents of the sorted runs in the file.
    runs: Vec<(u64, u64)>,
    /// Runs of other threads.
    adopted: Vec<SortedRuns>,
    count: u64,
}

/// What one thread of a parallel build has sorted: see [`Sorter::seal`].
pub struct SortedRuns {
    file: Option<TempFile>,
    runs: Vec<(u64, u64)>,
    count: u64,
}

struct TempFile {
    disk: Arc<dyn Disk>,
    path: String,
    file: Arc<dyn File>,
    len: u64,
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Left-over temporary files are removed at start.
        let _ = self.disk.unlink(&self.path);
    }
}

/// How a column's value becomes a number of the same order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    None,
    /// An integer of at most 32 bits, which leaves room for half the next column's number.
    Small,
    Signed,
    Unsigned,
    Bytes,
}

impl Prefix {
    fn of(cmp: &Comparer) -> Prefix {
        let is = |f: CompareFn| cmp.is(f);
        if is(compare::btint4cmp) || is(compare::btint2cmp) {
            Prefix::Small
        } else if is(compare::btint8cmp) {
            Prefix::Signed
        } else if is(compare::btoidcmp) {
            Prefix::Unsigned
        } else if is(compare::bttextcmp_c) || is(compare::btnamecmp) || is(compare::bytes_cmp) {
            Prefix::Bytes
        } else {
            Prefix::None
        }
    }

    fn number(self, value: DatumRef<'_>) -> u64 {
        match (self, value) {
            (Prefix::Small, DatumRef::Word(w)) => u64::from(w as u32 ^ 1 << 31) << 32,
            (Prefix::Signed, DatumRef::Word(w)) => w ^ 1 << 63,
            (Prefix::Unsigned, DatumRef::Word(w)) => w,
            (Prefix::Bytes, DatumRef::Bytes(b)) => {
                let mut first = [0; 8];
                let n = b.len().min(8);
                first[..n].copy_from_slice(&b[..n]);
                u64::from_be_bytes(first)
            }
            _ => 0,
        }
    }
}

impl<'a> Sorter<'a> {
    /// `path` names the temporary file, below the data directory. `memory_limit` is in bytes
    /// (`maintenance_work_mem`).
    pub fn new(
        schema: &'a KeySchema,
        disk: Arc<dyn Disk>,
        path: String,
        memory_limit: usize,
    ) -> Sorter<'a> {
        let prefix = Prefix::of(&schema.columns[0].cmp);
        Sorter {
            schema,
            disk,
            path,
            memory_limit: memory_limit.clamp(64 * 1024, u32::MAX as usize / 2),
            arena: Vec::new(),
            entries: Vec::new(),
            last_tid: Tid::new(BlockNo(0), 0),
            tids_ascend: true,
            prefix,
            next_prefix: (prefix == Prefix::Small && schema.key_count > 1)
                .then(|| Prefix::of(&schema.columns[1].cmp)),
            file: None,
            runs: Vec::new(),
            adopted: Vec::new(),
            count: 0,
        }
    }

    /// Adds a leaf tuple. `dead`: its row does not count for uniqueness.
    pub fn add(&mut self, tuple: &[u8], dead: bool) -> Result<()> {
        let used = self.arena.len() + self.entries.len() * size_of::<Entry>();
        if used + tuple.len() > self.memory_limit && !self.entries.is_empty() {
            self.spill()?;
        }
        let prefix = self.prefix_of(tuple)?;
        let tid = IndexTuple::new(tuple).tid_field();
        self.tids_ascend &= self.last_tid <= tid;
        self.last_tid = tid;
        let at = self.arena.len() as u32;
        self.arena.extend_from_slice(tuple);
        let len = tuple.len() as u32 | if dead { DEAD } else { 0 };
        self.entries.push(Entry { prefix, at, len });
        self.count += 1;
        Ok(())
    }

    /// The number that orders the tuple first; where numbers are equal, the columns decide.
    fn prefix_of(&self, tuple: &[u8]) -> Result<u64> {
        if self.prefix == Prefix::None {
            return Ok(0);
        }
        let first = self.number_of(tuple, 0, self.prefix)?;
        let Some(next) = self.next_prefix else { return Ok(first) };
        // A NULL's number may be that of the least or greatest value: then the next column says
        // nothing yet.
        let high = first >> 32;
        if high == 0 || high == u64::from(u32::MAX) {
            return Ok(high << 32);
        }
        let second = self.number_of(tuple, 1, next)?;
        Ok(high << 32 | second >> 32)
    }

    /// The number of a column's value. Nulls get the number at their end; it may coincide with a
    /// value's.
    fn number_of(&self, tuple: &[u8], column: usize, prefix: Prefix) -> Result<u64> {
        let col = &self.schema.columns[column];
        let mut scratch = Vec::new(); // allocates only where a value is compressed
        let value = self.schema.column(IndexTuple::new(tuple), column, &mut scratch)?;
        if value.is_null() {
            return Ok(if col.nulls_first { 0 } else { u64::MAX });
        }
        let n = prefix.number(value);
        Ok(if col.desc && prefix != Prefix::None { !n } else { n })
    }

    /// Orders the entries. First by their numbers alone, which compares no tuples, and by where
    /// they were added; then each group of equal numbers by columns and TID, unless that order is
    /// there already.
    fn sort(&mut self) -> Result<()> {
        self.entries.sort_unstable_by_key(|e| (e.prefix, e.at));
        let mut entries = std::mem::take(&mut self.entries);
        let sorted = entries
            .chunk_by_mut(|a, b| a.prefix == b.prefix)
            .filter(|group| group.len() > 1)
            .try_for_each(|group| self.sort_group(group));
        self.entries = entries;
        sorted
    }

    /// Orders entries of one number, which are in the order of `at`.
    fn sort_group(&self, group: &mut [Entry]) -> Result<()> {
        if self.decides(group[0].prefix) {
            if !self.tids_ascend {
                group.sort_by_key(|e| self.tuple(e).tid_field());
            }
            return Ok(());
        }
        let mut failed = None;
        group.sort_by(|a, b| {
            order(self.schema, self.tuple(a), self.tuple(b)).unwrap_or_else(|e| {
                failed.get_or_insert(e);
                Ordering::Equal
            })
        });
        failed.map_or(Ok(()), Err)
    }

    fn tuple(&self, e: &Entry) -> IndexTuple<'_> {
        IndexTuple::new(&self.arena[e.range()])
    }

    /// Are the key columns of all tuples with this number equal?
    fn decides(&self, number: u64) -> bool {
        // What a NULL may have as well.
        let limit = |n: u64, max: u64| n == 0 || n == max;
        match (self.prefix, self.next_prefix, self.schema.key_count) {
            (Prefix::Small, None, 1) => !limit(number >> 32, u32::MAX.into()),
            (Prefix::Signed | Prefix::Unsigned, None, 1) => !limit(number, u64::MAX),
            (Prefix::Small, Some(Prefix::Small), 2) => {
                let max = u32::MAX.into();
                !limit(number >> 32, max) && !limit(number & max, max)
            }
            _ => false,
        }
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> Result<()> {
        self.sort()?;
        if self.file.is_none() {
            let file = self
                .disk
                .open(&self.path, OpenMode::Create)
                .map_err(|e| io_error("create", &self.path, &e))?;
            let (disk, path) = (self.disk.clone(), self.path.clone());
            self.file = Some(TempFile { disk, path, file, len: 0 });
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let start = file.len;
        let mut buf = Vec::with_capacity(1 << 18);
        for e in fetched(&self.entries, &self.arena) {
            buf.extend_from_slice(&e.len.to_le_bytes());
            buf.extend_from_slice(&self.arena[e.range()]);
            if buf.len() >= 1 << 18 {
                file.append(&buf)?;
                buf.clear();
            }
        }
        file.append(&buf)?;
        self.runs.push((start, file.len));
        self.entries.clear();
        self.arena.clear();
        self.tids_ascend = true;
        Ok(())
    }

    /// Number of tuples added.
    pub fn len(&self) -> u64 {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Ends one thread's part of a parallel build. All of it goes to the thread's temporary file
    /// (each thread has a path of its own).
    pub fn seal(mut self) -> Result<SortedRuns> {
        if !self.entries.is_empty() {
            self.spill()?;
        }
        Ok(SortedRuns { file: self.file.take(), runs: self.runs, count: self.count })
    }

    /// Takes over another thread's part.
    pub fn adopt(&mut self, runs: SortedRuns) {
        self.count += runs.count;
        self.adopted.push(runs);
    }

    /// Hands out all tuples in order: `each(tuple, dead)`.
    pub fn finish(
        mut self,
        each: &mut dyn FnMut(IndexTuple<'_>, bool) -> Result<()>,
    ) -> Result<()> {
        if self.runs.is_empty() && self.adopted.is_empty() {
            self.sort()?;
            for e in fetched(&self.entries, &self.arena) {
                each(self.tuple(e), e.is_dead())?;
            }
            return Ok(());
        }
        if !self.entries.is_empty() {
            self.spill()?;
        }
        self.arena = Vec::new();
        self.entries = Vec::new();
        self.merge(each)
    }

    fn merge(&mut self, each: &mut dyn FnMut(IndexTuple<'_>, bool) -> Result<()>) -> Result<()> {
        let own = self.file.iter().map(|f| (f, &self.runs));
        let others = self.adopted.iter().filter_map(|a| a.file.as_ref().map(|f| (f, &a.runs)));
        let runs: Vec<(&TempFile, (u64, u64))> =
            own.chain(others).flat_map(|(f, runs)| runs.iter().map(move |r| (f, *r))).collect();
        let size = (self.memory_limit / runs.len().max(1)).max(RUN_BUFFER_MIN);
        let mut readers = Vec::with_capacity(runs.len());
        // A heap of run numbers, the one with the smallest tuple first.
        let mut heap: Vec<usize> = Vec::with_capacity(runs.len());
        for (file, (start, end)) in runs {
            let mut r = Reader::new(file, start, end, size);
            if r.advance()? {
                r.prefix = self.prefix_of(r.tuple().bytes())?;
                readers.push(r);
            }
        }
        for n in 0..readers.len() {
            heap.push(n);
        }
        for at in (0..heap.len() / 2).rev() {
            self.sift(&mut heap, &readers, at)?;
        }
        while let Some(&top) = heap.first() {
            let r = &mut readers[top];
            each(r.tuple(), r.dead())?;
            if r.advance()? {
                r.prefix = self.prefix_of(r.tuple().bytes())?;
            } else {
                heap.swap_remove(0);
            }
            self.sift(&mut heap, &readers, 0)?;
        }
        Ok(())
    }

    fn sift(&self, heap: &mut [usize], readers: &[Reader<'_>], mut at: usize) -> Result<()> {
        let less = |a: usize, b: usize| -> Result<bool> {
            let (a, b) = (&readers[a], &readers[b]);
            let ord = match a.prefix.cmp(&b.prefix) {
                Ordering::Equal if self.decides(a.prefix) => {
                    a.tuple().tid_field().cmp(&b.tuple().tid_field())
                }
                Ordering::Equal => order(self.schema, a.tuple(), b.tuple())?,
                ord => ord,
            };
            Ok(ord == Ordering::Less)
        };
        loop {
            let mut child = 2 * at + 1;
            if child >= heap.len() {
                return Ok(());
            }
            if child + 1 < heap.len() && less(heap[child + 1], heap[child])? {
                child += 1;
            }
            if !less(heap[child], heap[at])? {
                return Ok(());
            }
            heap.swap(child, at);
            at = child;
        }
    }
}

fn order(schema: &KeySchema, a: IndexTuple<'_>, b: IndexTuple<'_>) -> Result<Ordering> {
    Ok(schema.compare_keys(a, b)?.then_with(|| a.tid_field().cmp(&b.tid_field())))
}

impl TempFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all_at(bytes, self.len).map_err(|e| io_error("write", &self.path, &e))?;
        self.len += bytes.len() as u64;
        Ok(())
    }
}

/// A run being read.
struct Reader<'f> {
    file: &'f TempFile,
    at: u64,
    end: u64,
    size: usize,
    buf: Vec<u8>,
    /// The current tuple within the buffer.
    tuple: std::ops::Range<usize>,
    len: u32,
    prefix: u64,
}

impl<'f> Reader<'f> {
    fn new(file: &'f TempFile, start: u64, end: u64, size: usize) -> Reader<'f> {
        Reader { file, at: start, end, size, buf: Vec::new(), tuple: 0..0, len: 0, prefix: 0 }
    }

    fn tuple(&self) -> IndexTuple<'_> {
        IndexTuple::new(&self.buf[self.tuple.clone()])
    }

    fn dead(&self) -> bool {
        self.len & DEAD != 0
    }

    /// Makes sure that `n` bytes from `from` on are in the buffer, and says where they are then;
    /// `None` at the end of the run.
    fn fill(&mut self, from: usize, n: usize) -> Result<Option<usize>> {
        if self.buf.len() >= from + n {
            return Ok(Some(from));
        }
        self.buf.drain(..from);
        let old = self.buf.len();
        let want = self.size.max(n).saturating_sub(old) as u64;
        let more = want.min(self.end - self.at) as usize;
        self.buf.resize(old + more, 0);
        self.file
            .file
            .read_exact_at(&mut self.buf[old..], self.at)
            .map_err(|e| io_error("read", &self.file.path, &e))?;
        self.at += more as u64;
        if self.buf.len() >= n {
            Ok(Some(0))
        } else if self.buf.is_empty() {
            Ok(None)
        } else {
            Err(PgError::internal("sort run is cut off"))
        }
    }

    fn advance(&mut self) -> Result<bool> {
        let Some(at) = self.fill(self.tuple.end, 4)? else { return Ok(false) };
        self.len = self.buf[at..].first_chunk().map_or(0, |head| u32::from_le_bytes(*head));
        let size = (self.len & !DEAD) as usize;
        match self.fill(at + 4, size)? {
            Some(at) => self.tuple = at..at + size,
            None => return Err(PgError::internal("sort run is cut off")),
        }
        Ok(true)
    }
}
