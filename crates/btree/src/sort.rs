//! External merge sort of index tuples for a build: in memory up to a limit, beyond it in sorted
//! runs in a temporary file. Entries are compared by an abbreviated key of eight bytes, if the
//! order of the first column allows, then by the columns, then by heap TID.
//!
//! Counterpart: tuplesort.c, the index part of tuplesortvariants.c.

use crate::schema::KeySchema;
use ids::{BlockNo, Tid};
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use sync::Arc;
use types::DatumRef;
use types::compare::{self, CompareFn, Comparer};
use vfs::{Disk, File, OpenMode, io_error};

/// Smallest read buffer of a run during the merge, in bytes.
const RUN_BUFFER_MIN: usize = 16 * 1024;
/// Number of tuples that are prefetched into the CPU cache together.
const PREFETCH_BATCH: usize = 32;
/// Bit of `Entry::len`: the row is dead but visible to old snapshots. It is indexed, but does not
/// count for uniqueness.
const DEAD: u32 = 1 << 31;

/// A tuple to sort: its abbreviated key, and its location in the arena.
#[derive(Clone, Copy)]
struct Entry {
    prefix: u64,
    at: u32,
    /// In bytes; the top bit is [`DEAD`].
    len: u32,
}

impl Entry {
    fn is_dead(self) -> bool {
        self.len & DEAD != 0
    }

    /// The tuple's range in the arena.
    fn range(self) -> std::ops::Range<usize> {
        let at = self.at as usize;
        at..at + (self.len & !DEAD) as usize
    }
}

/// Iterates over sorted entries, whose tuples are in any order in the arena. Reads one byte of each
/// tuple of a batch first, so that the cache misses of the batch overlap.
fn prefetched<'e>(entries: &'e [Entry], arena: &[u8]) -> impl Iterator<Item = &'e Entry> {
    entries.chunks(PREFETCH_BATCH).flat_map(|chunk| {
        std::hint::black_box(chunk.iter().fold(0, |sum, e| sum ^ arena[e.at as usize]));
        chunk
    })
}

/// Collects index tuples and returns them in order.
pub struct Sorter<'a> {
    schema: &'a KeySchema,
    disk: Arc<dyn Disk>,
    /// Path of the temporary file, which is created when the memory limit is exceeded.
    path: String,
    memory_limit: usize,
    arena: Vec<u8>,
    entries: Vec<Entry>,
    /// TID of the last entry.
    last_tid: Tid,
    /// The entries in memory were added in TID order. A heap scan adds them so, except for tuples
    /// of HOT chains, which are indexed under the chain's root.
    tids_ascend: bool,
    prefix: Prefix,
    /// The order of the abbreviated keys in memory need not be verified.
    reliable: bool,
    /// For the second column, if the first one uses only half of the abbreviated key.
    next_prefix: Option<Prefix>,
    file: Option<TempFile>,
    /// Start and end of the sorted runs in the file, in bytes.
    runs: Vec<(u64, u64)>,
    /// Runs of other threads.
    added: Vec<SortedRuns>,
    count: u64,
}

/// The sorted runs of one thread of a parallel build: see [`Sorter::into_runs`].
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
        // If this fails, the file is removed at the next start of the server.
        let _ = self.disk.unlink(&self.path);
    }
}

/// How a column's value is abbreviated to a number of the same order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    None,
    /// An integer of at most 32 bits, so that the upper half of the next column's number fits too.
    Small,
    Signed,
    Unsigned,
    Bytes,
    /// The comparer's abbreviation: a sort by it must be verified.
    Abbreviation,
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
        } else if [compare::bttextcmp, compare::bttextcmp_c, compare::btnamecmp, compare::bytes_cmp]
            .into_iter()
            .any(is)
        {
            Prefix::Bytes
        } else if cmp.abbreviated().is_some() {
            Prefix::Abbreviation
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
    /// `path` is that of the temporary file, relative to the data directory. `memory_limit` is in
    /// bytes (`maintenance_work_mem`).
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
            reliable: true,
            next_prefix: (prefix == Prefix::Small && schema.key_count > 1)
                .then(|| Prefix::of(&schema.columns[1].cmp)),
            file: None,
            runs: Vec::new(),
            added: Vec::new(),
            count: 0,
        }
    }

    /// Adds a leaf tuple. `dead`: its row does not count for uniqueness.
    pub fn add(&mut self, tuple: &[u8], dead: bool) -> Result<()> {
        let used = self.arena.len() + self.entries.len() * size_of::<Entry>();
        if used + tuple.len() > self.memory_limit && !self.entries.is_empty() {
            self.spill()?;
        }
        let (prefix, reliable) = self.prefix_of(tuple)?;
        self.reliable &= reliable;
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

    /// The tuple's abbreviated key, and whether its order need not be verified. If the keys of two
    /// tuples are equal, the columns decide.
    fn prefix_of(&self, tuple: &[u8]) -> Result<(u64, bool)> {
        if self.prefix == Prefix::None {
            return Ok((0, true));
        }
        let (first, reliable) = self.number_of(tuple, 0, self.prefix)?;
        let Some(next) = self.next_prefix else { return Ok((first, reliable)) };
        // The number of a NULL equals that of the least or greatest value. They must compare as
        // equal here, so the next column must not be added.
        let high = first >> 32;
        if high == 0 || high == u64::from(u32::MAX) {
            return Ok((high << 32, reliable));
        }
        let (second, reliable) = self.number_of(tuple, 1, next)?;
        Ok((high << 32 | second >> 32, reliable))
    }

    /// The number of a column's value, and whether its order need not be verified. A NULL has the
    /// least or greatest number, which may also be that of a value.
    fn number_of(&self, tuple: &[u8], column: usize, prefix: Prefix) -> Result<(u64, bool)> {
        let col = &self.schema.columns[column];
        let mut scratch = Vec::new(); // allocates only where a value is compressed
        let value = self.schema.column(IndexTuple::new(tuple), column, &mut scratch)?;
        if value.is_null() {
            return Ok((if col.nulls_first { 0 } else { u64::MAX }, true));
        }
        let (n, reliable) = match (prefix, col.cmp.abbreviated()) {
            (Prefix::Abbreviation, Some(cmp)) => {
                (cmp.abbreviation(value), cmp.has_exact_abbreviation(value))
            }
            _ => (prefix.number(value), true),
        };
        Ok((if col.desc && prefix != Prefix::None { !n } else { n }, reliable))
    }

    /// Sorts the entries: first by abbreviated key and order of addition, without comparing tuples;
    /// then each group of equal keys by columns and TID, unless it is in that order already.
    fn sort(&mut self) -> Result<()> {
        self.entries.sort_unstable_by_key(|e| (e.prefix, e.at));
        let mut entries = std::mem::take(&mut self.entries);
        let sorted = entries
            .chunk_by_mut(|a, b| a.prefix == b.prefix)
            .filter(|group| group.len() > 1)
            .try_for_each(|group| self.sort_group(group));
        self.entries = entries;
        sorted?;
        debug_assert!(!self.reliable || !self.has_abbreviations() || self.is_sorted()?);
        if !self.reliable && !self.is_sorted()? {
            let mut entries = std::mem::take(&mut self.entries);
            let sorted = self.sort_by_columns(&mut entries);
            self.entries = entries;
            sorted?;
        }
        Ok(())
    }

    /// True if a column has abbreviated keys. The order of other types is not transitive if their
    /// values are damaged.
    fn has_abbreviations(&self) -> bool {
        self.prefix == Prefix::Abbreviation || self.next_prefix == Some(Prefix::Abbreviation)
    }

    /// Whether entries that were sorted by abbreviated keys are in the order of the columns: since
    /// that order is transitive, they are if each is in order with the next.
    fn is_sorted(&self) -> Result<bool> {
        for pair in self.entries.windows(2) {
            if order(self.schema, self.tuple(&pair[0]), self.tuple(&pair[1]))?.is_gt() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sorts entries of one abbreviated key, which are in the order of `at`.
    fn sort_group(&self, group: &mut [Entry]) -> Result<()> {
        if self.decides(group[0].prefix) {
            if !self.tids_ascend {
                group.sort_by_key(|e| self.tuple(e).tid_field());
            }
            return Ok(());
        }
        match self.prefix {
            Prefix::Abbreviation => self.sort_entries(group, |a, b| self.guess(a, b)),
            _ => self.sort_by_columns(group),
        }
    }

    fn sort_by_columns(&self, group: &mut [Entry]) -> Result<()> {
        self.sort_entries(group, |a, b| order(self.schema, a, b))
    }

    fn sort_entries(
        &self,
        group: &mut [Entry],
        order: impl Fn(IndexTuple<'_>, IndexTuple<'_>) -> Result<Ordering>,
    ) -> Result<()> {
        let mut failed = None;
        group.sort_by(|a, b| {
            order(self.tuple(a), self.tuple(b)).unwrap_or_else(|e| {
                failed.get_or_insert(e);
                Ordering::Equal
            })
        });
        failed.map_or(Ok(()), Err)
    }

    /// The order of tuples with the guess of the first column in place of its comparison.
    fn guess(&self, a: IndexTuple<'_>, b: IndexTuple<'_>) -> Result<Ordering> {
        let column = &self.schema.columns[0];
        let (mut x, mut y) = (Vec::new(), Vec::new()); // allocate only where values are compressed
        let (x, y) = (self.schema.column(a, 0, &mut x)?, self.schema.column(b, 0, &mut y)?);
        if let Some(cmp) = column.cmp.abbreviated().filter(|_| !x.is_null() && !y.is_null()) {
            let first = cmp.guess(x, y, column.collation);
            if first.is_ne() {
                return Ok(if column.desc { first.reverse() } else { first });
            }
        }
        order(self.schema, a, b)
    }

    fn tuple(&self, e: &Entry) -> IndexTuple<'_> {
        IndexTuple::new(&self.arena[e.range()])
    }

    /// True if an equal abbreviated key implies equal key columns.
    fn decides(&self, number: u64) -> bool {
        // The number of a NULL too.
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

    /// Writes the entries in memory as a sorted run.
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
        for e in prefetched(&self.entries, &self.arena) {
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
        (self.tids_ascend, self.reliable) = (true, true);
        Ok(())
    }

    /// Number of tuples added.
    pub fn len(&self) -> u64 {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Ends one thread's part of a parallel build: writes all of it to the thread's temporary file
    /// (each thread has its own path).
    pub fn into_runs(mut self) -> Result<SortedRuns> {
        if !self.entries.is_empty() {
            self.spill()?;
        }
        Ok(SortedRuns { file: self.file.take(), runs: self.runs, count: self.count })
    }

    /// Adds the runs of another thread, to be merged.
    pub fn add_runs(&mut self, runs: SortedRuns) {
        self.count += runs.count;
        self.added.push(runs);
    }

    /// Calls `each(tuple, dead)` with all tuples in order.
    pub fn finish(
        mut self,
        each: &mut dyn FnMut(IndexTuple<'_>, bool) -> Result<()>,
    ) -> Result<()> {
        if self.runs.is_empty() && self.added.is_empty() {
            self.sort()?;
            for e in prefetched(&self.entries, &self.arena) {
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
        let others = self.added.iter().filter_map(|a| a.file.as_ref().map(|f| (f, &a.runs)));
        let runs: Vec<(&TempFile, (u64, u64))> =
            own.chain(others).flat_map(|(f, runs)| runs.iter().map(move |r| (f, *r))).collect();
        let size = (self.memory_limit / runs.len().max(1)).max(RUN_BUFFER_MIN);
        let mut readers = Vec::with_capacity(runs.len());
        // A binary heap of run numbers; the root has the smallest current tuple.
        let mut heap: Vec<usize> = Vec::with_capacity(runs.len());
        for (file, (start, end)) in runs {
            let mut r = Reader::new(file, start, end, size);
            if r.advance()? {
                (r.prefix, r.reliable) = self.prefix_of(r.tuple().bytes())?;
                readers.push(r);
            }
        }
        for n in 0..readers.len() {
            heap.push(n);
        }
        for at in (0..heap.len() / 2).rev() {
            self.sift_down(&mut heap, &readers, at)?;
        }
        while let Some(&top) = heap.first() {
            let r = &mut readers[top];
            each(r.tuple(), r.dead())?;
            if r.advance()? {
                (r.prefix, r.reliable) = self.prefix_of(r.tuple().bytes())?;
            } else {
                heap.swap_remove(0);
            }
            self.sift_down(&mut heap, &readers, 0)?;
        }
        Ok(())
    }

    fn sift_down(&self, heap: &mut [usize], readers: &[Reader<'_>], mut at: usize) -> Result<()> {
        let less = |a: usize, b: usize| -> Result<bool> {
            let (a, b) = (&readers[a], &readers[b]);
            // Runs are in the order of the columns, with which that of abbreviations may conflict.
            let by_prefix = match a.reliable && b.reliable {
                true => a.prefix.cmp(&b.prefix),
                false => Ordering::Equal,
            };
            let ord = match by_prefix {
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

/// Reads a run.
struct Reader<'f> {
    file: &'f TempFile,
    at: u64,
    end: u64,
    size: usize,
    buf: Vec<u8>,
    /// The current tuple within the buffer.
    tuple: std::ops::Range<usize>,
    len: u32,
    /// The abbreviated key of the current tuple, and whether its order is reliable.
    prefix: u64,
    reliable: bool,
}

impl<'f> Reader<'f> {
    fn new(file: &'f TempFile, start: u64, end: u64, size: usize) -> Reader<'f> {
        Reader {
            file,
            at: start,
            end,
            size,
            buf: Vec::new(),
            tuple: 0..0,
            len: 0,
            prefix: 0,
            reliable: true,
        }
    }

    fn tuple(&self) -> IndexTuple<'_> {
        IndexTuple::new(&self.buf[self.tuple.clone()])
    }

    fn dead(&self) -> bool {
        self.len & DEAD != 0
    }

    /// Ensures that `n` bytes from `from` on are in the buffer; returns their new start, or `None`
    /// at the end of the run.
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
