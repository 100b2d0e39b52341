//! Sorts rows: in memory while they fit, else by an external merge sort. Counterpart: tuplesort.c.
//!
//! All rows are collected in one batch. The sort moves pairs of a normalized key (a word made from
//! the first sort column) and a row number. If the word is only a prefix of the value (text,
//! numeric), equal words require a full comparison. With a bound, the buffer is reduced to the
//! first `bound` rows whenever it has twice as many, and rows after the last of these are dropped
//! on input.

use crate::services::Services;
use engine::RowFile;
use ids::Oid;
use pgerror::Result;
use std::cmp::Ordering;
use stdx::quicksort;
use types::compare::{Comparer, bpchar_trimmed};
use types::{BATCH_ROWS_MAX, Batch, Column, ColumnData, DatumRef, oids};

/// One sort column.
#[derive(Clone)]
pub struct SortColumn {
    pub column: usize,
    pub cmp: Comparer,
    pub collation: Oid,
    pub descending: bool,
    pub nulls_first: bool,
    /// Normalization of its values to words.
    pub word: WordKind,
}

impl SortColumn {
    /// True if the words of its values are abbreviations, whose order must be verified.
    pub(crate) fn is_abbreviated(&self) -> bool {
        self.word == WordKind::Abbreviation
    }

    /// As [`SortColumn::order`], for values that are not NULL, but only usually that order if the
    /// words are abbreviations.
    fn guess(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Ordering {
        let Some(cmp) = self.cmp.abbreviated() else { return self.order(a, b) };
        let o = cmp.guess(a, b, self.collation);
        if self.descending { o.reverse() } else { o }
    }

    pub fn order(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Ordering {
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if self.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if self.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let o = self.cmp.order(a, b, self.collation);
                if self.descending { o.reverse() } else { o }
            }
        }
    }
}

/// Method and size of a sort, for EXPLAIN ANALYZE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortStats {
    /// The name of the method in PostgreSQL's output.
    pub method: &'static str,
    pub on_disk: bool,
    pub kilobytes: u64,
}

/// Normalization of values of the first sort column to words with the same order. Counterpart:
/// sortsupport.h (abbreviated keys).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordKind {
    /// Words have the same order as the values, and are equal exactly if the values are.
    Signed,
    Unsigned,
    Byte,
    Float4,
    Float8,
    /// A prefix of the value, such as its first eight bytes: a smaller word implies a smaller
    /// value; equal words imply nothing.
    Bytes,
    BpChar,
    Numeric,
    /// The comparer's abbreviation: its order must be verified.
    Abbreviation,
    /// No normalization: all words are equal.
    Unknown,
}

impl WordKind {
    /// For values of a type that are ordered by a comparer.
    pub fn of(ty: ids::Oid, cmp: &Comparer) -> WordKind {
        match ty {
            _ if cmp.abbreviated().is_some() => WordKind::Abbreviation,
            oids::TEXT | oids::VARCHAR | oids::BPCHAR | oids::NAME
                if matches!(cmp, Comparer::Typed(_)) =>
            {
                WordKind::Unknown
            }
            oids::INT2
            | oids::INT4
            | oids::INT8
            | oids::DATE
            | oids::TIME
            | oids::TIMESTAMP
            | oids::TIMESTAMPTZ
            | oids::MONEY => WordKind::Signed,
            oids::BOOL | oids::OID | oids::PG_LSN | oids::XID8 => WordKind::Unsigned,
            oids::CHAR => WordKind::Byte,
            oids::FLOAT4 => WordKind::Float4,
            oids::FLOAT8 => WordKind::Float8,
            oids::TEXT | oids::VARCHAR | oids::BYTEA | oids::UUID | oids::NAME => WordKind::Bytes,
            oids::BPCHAR => WordKind::BpChar,
            oids::NUMERIC => WordKind::Numeric,
            _ => WordKind::Unknown,
        }
    }

    /// True if equal words mean equal values.
    pub fn is_exact(self) -> bool {
        matches!(
            self,
            WordKind::Signed
                | WordKind::Unsigned
                | WordKind::Byte
                | WordKind::Float4
                | WordKind::Float8
        )
    }

    pub fn word(self, v: DatumRef<'_>) -> u64 {
        match (self, v) {
            (WordKind::Signed, DatumRef::Word(w)) => w ^ 1 << 63,
            (WordKind::Unsigned, DatumRef::Word(w)) => w,
            (WordKind::Byte, DatumRef::Word(w)) => w & 0xff,
            (WordKind::Float4, DatumRef::Word(_)) => float_word(v.as_f32().into()),
            (WordKind::Float8, DatumRef::Word(_)) => float_word(v.as_f64()),
            (WordKind::Bytes, DatumRef::Bytes(b)) => prefix(b),
            (WordKind::BpChar, DatumRef::Bytes(b)) => prefix(bpchar_trimmed(b)),
            (WordKind::Numeric, DatumRef::Bytes(b)) => numeric_word(b),
            _ => 0,
        }
    }

    /// True if the word contains the whole value, as for short texts and numerics of few digits. If
    /// it does for two values, they are equal exactly if their words are.
    fn is_exact_for(self, v: DatumRef<'_>) -> bool {
        match (self, v) {
            (WordKind::Bytes, DatumRef::Bytes(b)) => is_exact_prefix(b),
            (WordKind::BpChar, DatumRef::Bytes(b)) => is_exact_prefix(bpchar_trimmed(b)),
            // A header of at most four bytes and three digits.
            (WordKind::Numeric, DatumRef::Bytes(b)) => b.len() <= 8,
            (_, DatumRef::Null) => true,
            _ => self.is_exact(),
        }
    }
}

/// True if the value can be recovered from its eight-byte prefix, which is padded with zeros.
fn is_exact_prefix(b: &[u8]) -> bool {
    b.len() <= 8 && b.last() != Some(&0)
}

fn prefix(b: &[u8]) -> u64 {
    match b.first_chunk::<8>() {
        Some(c) => u64::from_be_bytes(*c),
        None => {
            let mut c = [0; 8];
            c[..b.len()].copy_from_slice(b);
            u64::from_be_bytes(c)
        }
    }
}

/// A word with the order of `float_cmp`: both zeros are equal, NaN is the largest value.
fn float_word(v: f64) -> u64 {
    let bits = if v == 0.0 {
        0
    } else if v.is_nan() {
        return u64::MAX;
    } else {
        v.to_bits()
    };
    if bits >> 63 != 0 { !bits } else { bits | 1 << 63 }
}

/// A word made from sign, weight and the first three base-10000 digits of a numeric.
fn numeric_word(b: &[u8]) -> u64 {
    const ZERO: u64 = 1 << 62;
    let half = |i: usize| b.get(i..i + 2).map_or(0, |s| u16::from_ne_bytes([s[0], s[1]]));
    let header = half(0);
    match header & 0xF000 {
        0xC000 => return u64::MAX,
        0xD000 => return u64::MAX - 1,
        0xF000 => return 0,
        _ => {}
    }
    let (negative, weight, start) = if header & 0x8000 != 0 {
        let w = i64::from(header & 0x3F) - if header & 0x40 != 0 { 64 } else { 0 };
        (header & 0x2000 != 0, w, 2)
    } else {
        (header & 0x4000 != 0, i64::from(half(2) as i16), 4)
    };
    if b.len() <= start || half(start) == 0 {
        return ZERO;
    }
    let digit = |i: usize| u64::from(half(start + 2 * i));
    // Weights from -32768 to 32767 take 17 bits; three digits take 14 bits each.
    let magnitude = ((weight + 32_769) as u64) << 42 | digit(0) << 28 | digit(1) << 14 | digit(2);
    if negative { ZERO - magnitude } else { ZERO + magnitude }
}

/// Sort item: the normalized key and the row number.
#[derive(Clone, Copy)]
struct Item {
    word: u64,
    row: u32,
}

/// Compares two rows by the sort columns `from..`; the rows may be in different batches.
pub fn compare(
    columns: &[SortColumn],
    from: usize,
    a: (&Batch, usize),
    b: (&Batch, usize),
) -> Ordering {
    for c in &columns[from..] {
        let o = c.order(a.0.get(a.1, c.column), b.0.get(b.1, c.column));
        if o.is_ne() {
            return o;
        }
    }
    Ordering::Equal
}

/// Appends the words of the first sort column, inverted for a descending order. Words of NULLs have
/// no meaning.
fn words_of(col: &Column, c: &SortColumn, from: usize, out: &mut Vec<u64>) {
    let flip = if c.descending { u64::MAX } else { 0 };
    match (&col.data, c.word) {
        (ColumnData::Word(w), WordKind::Signed) => {
            out.extend(w[from..].iter().map(|w| (w ^ 1 << 63) ^ flip));
        }
        (_, WordKind::Abbreviation) => {
            let word = |v| c.cmp.abbreviated().map_or(0, |cmp| cmp.abbreviation(v));
            let word = |i| if col.is_null(i) { 0 } else { word(col.get(i)) };
            out.extend((from..col.len()).map(|i| word(i) ^ flip));
        }
        _ => out.extend((from..col.len()).map(|i| c.word.word(col.get(i)) ^ flip)),
    }
}

fn are_exact(col: &Column, word: WordKind) -> bool {
    word.is_exact() || (0..col.len()).all(|i| word.is_exact_for(col.get(i)))
}

/// True if the order of the words needs no verification: they are no abbreviations, or exact ones.
fn are_reliable(col: &Column, c: &SortColumn) -> bool {
    match c.cmp.abbreviated() {
        Some(cmp) if c.is_abbreviated() => (0..col.len()).all(|i| {
            let value = col.get(i);
            value.is_null() || cmp.has_exact_abbreviation(value)
        }),
        _ => true,
    }
}

/// The order of two rows, equal ones in that of their input.
fn row_order(rows: &Batch, columns: &[SortColumn], a: &Item, b: &Item) -> Ordering {
    compare(columns, 0, (rows, a.row as usize), (rows, b.row as usize)).then(a.row.cmp(&b.row))
}

/// True if each row is in order with the next. Then all are, because the order of a collation is
/// transitive.
fn are_sorted(items: &[Item], rows: &Batch, columns: &[SortColumn]) -> bool {
    items.is_sorted_by(|a, b| row_order(rows, columns, a, b).is_lt())
}

/// A sort in progress: input rows, then sorted rows. Counterpart: `Tuplesortstate`.
pub struct Sorter {
    columns: Vec<SortColumn>,
    memory: usize,
    /// Only this number of leading rows will be read.
    bound: Option<usize>,
    was_bounded: bool,
    rows: Batch,
    words: Vec<u64>,
    /// The words contain the complete values of the first sort column.
    exact: bool,
    /// The order of the words need not be verified.
    reliable: bool,
    /// Bounded sort: the word of the last row kept, unless it is NULL. Input rows with a larger
    /// word are dropped.
    threshold: Option<u64>,
    order: Vec<u32>,
    at: usize,
    runs: Vec<RowFile>,
    merge: Option<Merge>,
    peak: usize,
    count: u64,
}

/// A run is written when a column exceeds this number of bytes, even if memory allows more.
const COLUMN_BYTES_MAX: usize = 1 << 31;

/// Up to this number of rows, equal rows get the order that PostgreSQL's sort leaves them in.
const SMALL_ROWS_MAX: u32 = 128;

impl Sorter {
    pub fn new(columns: Vec<SortColumn>, memory: usize, bound: Option<usize>) -> Sorter {
        let mut columns = columns;
        if let Some(c) = columns.first_mut().filter(|c| bound.is_some() && c.is_abbreviated()) {
            // A bounded sort drops rows by their words, which could not be verified.
            c.word = WordKind::Unknown;
        }
        Sorter {
            columns,
            memory,
            bound,
            was_bounded: false,
            rows: Batch::default(),
            words: Vec::new(),
            exact: true,
            reliable: true,
            threshold: None,
            order: Vec::new(),
            at: 0,
            runs: Vec::new(),
            merge: None,
            peak: 0,
            count: 0,
        }
    }

    /// Number of input rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn memory(&self) -> usize {
        self.rows.memory() + self.rows.len * 24
    }

    /// Adds input rows.
    pub fn push(&mut self, sv: &mut dyn Services, batch: &Batch) -> Result<()> {
        if batch.len == 0 {
            return Ok(());
        }
        self.count += batch.len as u64;
        if self.rows.columns.len() != batch.columns.len() {
            self.rows = batch.empty_like();
        }
        let first = self.columns.first().cloned();
        if let Some(c) = &first {
            let col = &batch.columns[c.column];
            self.exact = self.exact && are_exact(col, c.word);
            self.reliable = self.reliable && are_reliable(col, c);
        }
        if let (Some(limit), Some(c)) = (self.threshold, &first) {
            self.push_below(batch, limit, c);
        } else {
            self.rows.extend_range(batch, 0, batch.len);
            if let Some(c) = &first {
                words_of(&batch.columns[c.column], c, 0, &mut self.words);
            }
        }
        if let Some(bound) = self.bound {
            if self.rows.len >= (2 * bound).max(BATCH_ROWS_MAX) {
                self.keep_first(bound);
            }
            if self.memory() <= self.memory {
                return Ok(());
            }
            // Even the first `bound` rows do not fit in memory: sort all rows.
            self.bound = None;
            self.threshold = None;
            self.was_bounded = false;
        }
        let large =
            |c: &Column| matches!(&c.data, ColumnData::Bytes(b) if b.bytes() > COLUMN_BYTES_MAX);
        if self.memory() > self.memory || self.rows.columns.iter().any(large) {
            self.write_run(sv)?;
        }
        Ok(())
    }

    /// Bounded sort: adds those rows of a batch that may be among the first.
    fn push_below(&mut self, batch: &Batch, limit: u64, c: &SortColumn) {
        let col = &batch.columns[c.column];
        let mut words = Vec::with_capacity(batch.len);
        words_of(col, c, 0, &mut words);
        let ties = self.columns.len() > 1 || !c.word.is_exact();
        let mut keep: Vec<u16> = Vec::new();
        for (r, &w) in words.iter().enumerate() {
            let good =
                if col.is_null(r) { c.nulls_first } else { w < limit || (ties && w == limit) };
            if good {
                keep.push(r as u16);
            }
        }
        self.rows.extend_rows(batch, &keep);
        self.words.extend(keep.iter().map(|&r| words[r as usize]));
    }

    fn keep_first(&mut self, bound: usize) {
        self.was_bounded = true;
        self.peak = self.peak.max(self.memory());
        self.sort_buffer();
        self.order.truncate(bound);
        self.rows = self.rows.gather(&self.order);
        self.words = self.order.iter().map(|&r| self.words[r as usize]).collect();
        self.order.clear();
        self.threshold = match (self.columns.first(), self.rows.len.checked_sub(1)) {
            (Some(c), Some(last)) if self.rows.len >= bound => {
                let null = self.rows.columns[c.column].is_null(last);
                // If the last row that is kept is NULL, any row may still be among the first.
                if null { None } else { Some(self.words[last]) }
            }
            _ => None,
        };
    }

    /// Sorts the buffer: stores the row numbers in sorted order in `order`.
    fn sort_buffer(&mut self) {
        let n = self.rows.len as u32;
        self.order.clear();
        if n == 0 {
            // The columns are unknown if there are no rows.
            return;
        }
        let Some(c) = self.columns.first().cloned() else {
            self.order.extend(0..n);
            return;
        };
        let col = &self.rows.columns[c.column];
        let (rows, columns) = (&self.rows, &self.columns);
        if n <= SMALL_ROWS_MAX && self.bound.is_none_or(|bound| n as usize <= 2 * bound) {
            let (from, words) = (usize::from(self.exact), &self.words);
            let has_null = col.nulls.is_some() || c.is_abbreviated();
            self.order.extend(0..n);
            quicksort::sort(&mut self.order, &|a, b| {
                let (x, y) = (a as usize, b as usize);
                match words[x].cmp(&words[y]) {
                    _ if has_null => compare(columns, 0, (rows, x), (rows, y)),
                    Ordering::Equal => compare(columns, from, (rows, x), (rows, y)),
                    order => order,
                }
            });
            return;
        }
        let mut nulls: Vec<u32> = Vec::new();
        let mut items: Vec<Item> = Vec::with_capacity(n as usize);
        if col.nulls.is_some() {
            for row in 0..n {
                if col.is_null(row as usize) {
                    nulls.push(row);
                } else {
                    items.push(Item { word: self.words[row as usize], row });
                }
            }
            nulls.sort_unstable_by(|&a, &b| {
                compare(columns, 1, (rows, a as usize), (rows, b as usize)).then(a.cmp(&b))
            });
        } else {
            items.extend(self.words.iter().zip(0..n).map(|(&word, row)| Item { word, row }));
        }
        self.sort_items(&mut items);
        let sorted = items.iter().map(|i| i.row);
        if c.nulls_first {
            self.order.extend(nulls);
            self.order.extend(sorted);
        } else {
            self.order.extend(sorted);
            self.order.extend(nulls);
        }
    }

    /// Sorts rows whose first sort column is not NULL.
    fn sort_items(&self, items: &mut [Item]) {
        let (rows, columns) = (&self.rows, self.columns.as_slice());
        let Some(c) = columns.first() else { return };
        if self.exact && columns.len() == 1 {
            items.sort_unstable_by_key(|i| u128::from(i.word) << 32 | u128::from(i.row));
        } else if c.is_abbreviated() {
            let col = &rows.columns[c.column];
            items.sort_unstable_by(|a, b| {
                a.word
                    .cmp(&b.word)
                    .then_with(|| {
                        let (x, y) = (a.row as usize, b.row as usize);
                        let first = c.guess(col.get(x), col.get(y));
                        first.then_with(|| compare(columns, 1, (rows, x), (rows, y)))
                    })
                    .then(a.row.cmp(&b.row))
            });
            debug_assert!(!self.reliable || are_sorted(items, rows, columns));
            if !self.reliable && !are_sorted(items, rows, columns) {
                items.sort_unstable_by(|a, b| row_order(rows, columns, a, b));
            }
        } else {
            let from = usize::from(self.exact);
            items.sort_unstable_by(|a, b| {
                a.word
                    .cmp(&b.word)
                    .then_with(|| {
                        let (x, y) = (a.row as usize, b.row as usize);
                        compare(columns, from, (rows, x), (rows, y))
                    })
                    .then(a.row.cmp(&b.row))
            });
        }
    }

    /// Size of a batch in a run in bytes.
    fn chunk_bytes(&self) -> usize {
        (self.memory / 64).clamp(8192, 1 << 18)
    }

    fn chunk_rows(&self, bytes: usize, rows: usize) -> usize {
        let each = (bytes / rows.max(1)).max(1);
        (self.chunk_bytes() / each).clamp(1, BATCH_ROWS_MAX)
    }

    fn write_run(&mut self, sv: &mut dyn Services) -> Result<()> {
        if self.rows.len == 0 {
            return Ok(());
        }
        self.sort_buffer();
        let mut file = RowFile::create(sv.backend())?;
        let step = self.chunk_rows(self.rows.memory(), self.rows.len);
        for part in self.order.chunks(step) {
            sv.check_interrupts()?;
            file.push(&self.rows.gather(part))?;
        }
        self.runs.push(file);
        self.rows.clear();
        self.words.clear();
        (self.exact, self.reliable) = (true, true);
        self.order.clear();
        Ok(())
    }

    /// Ends the input and sorts. Merges runs until they can be merged in one final pass.
    pub fn finish(&mut self, sv: &mut dyn Services) -> Result<()> {
        self.peak = self.peak.max(self.memory());
        if self.runs.is_empty() {
            self.sort_buffer();
            if let Some(bound) = self.bound {
                self.was_bounded |= bound < self.order.len();
                self.order.truncate(bound);
            }
            self.words = Vec::new();
            return Ok(());
        }
        self.write_run(sv)?;
        self.rows = Batch::default();
        self.words = Vec::new();
        let most = (self.memory / self.chunk_bytes()).clamp(4, 256);
        while self.runs.len() > most {
            let some: Vec<RowFile> = self.runs.drain(..most).collect();
            let rows: u64 = some.iter().map(|r| r.rows).sum();
            let bytes: u64 = some.iter().map(RowFile::bytes).sum();
            let step = self.chunk_rows(bytes as usize, rows as usize);
            let mut merge = Merge::new(some, &self.columns)?;
            let mut file = RowFile::create(sv.backend())?;
            while let Some(b) = merge.next(&self.columns, step)? {
                sv.check_interrupts()?;
                file.push(&b)?;
            }
            self.runs.push(file);
        }
        Ok(())
    }

    /// The next sorted rows.
    pub fn next(&mut self, want: usize) -> Result<Option<Batch>> {
        if self.runs.is_empty() && self.merge.is_none() {
            let end = (self.at + want.min(BATCH_ROWS_MAX)).min(self.order.len());
            if self.at >= end {
                return Ok(None);
            }
            let out = self.rows.gather(&self.order[self.at..end]);
            self.at = end;
            return Ok(Some(out));
        }
        let merge = match &mut self.merge {
            Some(m) => m,
            slot => slot.insert(Merge::new(std::mem::take(&mut self.runs), &self.columns)?),
        };
        merge.next(&self.columns, want.min(BATCH_ROWS_MAX))
    }

    /// Returns to the first sorted row.
    pub fn rewind(&mut self) {
        self.at = 0;
        if let Some(m) = self.merge.take() {
            self.runs = m.readers.into_iter().map(|r| r.file).collect();
        }
    }

    pub fn stats(&self) -> SortStats {
        let on_disk: u64 = match &self.merge {
            Some(m) => m.readers.iter().map(|r| r.file.bytes()).sum(),
            None => self.runs.iter().map(RowFile::bytes).sum(),
        };
        if on_disk > 0 {
            let kilobytes = on_disk.div_ceil(1024);
            return SortStats { method: "external merge", on_disk: true, kilobytes };
        }
        let method = if self.was_bounded { "top-N heapsort" } else { "quicksort" };
        SortStats { method, on_disk: false, kilobytes: self.peak.div_ceil(1024).max(25) as u64 }
    }
}

/// A sorted run during a merge.
struct Reader {
    file: RowFile,
    next: usize,
    batch: Batch,
    words: Vec<u64>,
    /// The words of the batch have the order of its rows, where they differ.
    reliable: bool,
    at: usize,
}

impl Reader {
    /// Reads the next batch; false at the end.
    fn refill(&mut self, columns: &[SortColumn]) -> Result<bool> {
        if self.next >= self.file.len() {
            self.batch = Batch::default();
            return Ok(false);
        }
        self.batch = self.file.get(self.next)?;
        self.next += 1;
        self.at = 0;
        self.words.clear();
        if let Some(c) = columns.first() {
            // Runs are in the order of the comparison, with which that of the words may conflict.
            self.reliable = are_reliable(&self.batch.columns[c.column], c);
            words_of(&self.batch.columns[c.column], c, 0, &mut self.words);
        }
        Ok(true)
    }
}

/// A k-way merge: a min-heap of readers, ordered by their current rows.
struct Merge {
    readers: Vec<Reader>,
    heap: Vec<u32>,
}

impl Merge {
    fn new(files: Vec<RowFile>, columns: &[SortColumn]) -> Result<Merge> {
        let mut readers = Vec::with_capacity(files.len());
        let mut heap = Vec::new();
        for file in files {
            let mut r = Reader {
                file,
                next: 0,
                batch: Batch::default(),
                words: Vec::new(),
                reliable: true,
                at: 0,
            };
            if r.refill(columns)? {
                heap.push(readers.len() as u32);
            }
            readers.push(r);
        }
        let mut merge = Merge { readers, heap };
        for i in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(i, columns);
        }
        Ok(merge)
    }

    fn less(&self, a: u32, b: u32, columns: &[SortColumn]) -> bool {
        let (x, y) = (&self.readers[a as usize], &self.readers[b as usize]);
        let o = match columns.first() {
            None => Ordering::Equal,
            Some(c) => {
                let (xn, yn) = (
                    x.batch.columns[c.column].is_null(x.at),
                    y.batch.columns[c.column].is_null(y.at),
                );
                let word = match (xn, yn) {
                    (false, false) if x.reliable && y.reliable => x.words[x.at].cmp(&y.words[y.at]),
                    (false, false) => Ordering::Equal,
                    (true, true) => Ordering::Equal,
                    (xn, _) => {
                        if xn == c.nulls_first {
                            Ordering::Less
                        } else {
                            Ordering::Greater
                        }
                    }
                };
                let from = usize::from(c.word.is_exact() || xn);
                word.then_with(|| compare(columns, from, (&x.batch, x.at), (&y.batch, y.at)))
            }
        };
        o.then(a.cmp(&b)).is_lt()
    }

    fn sift_down(&mut self, mut at: usize, columns: &[SortColumn]) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.less(self.heap[child], self.heap[least], columns)
                {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn next(&mut self, columns: &[SortColumn], want: usize) -> Result<Option<Batch>> {
        let Some(&top) = self.heap.first() else { return Ok(None) };
        let mut out = self.readers[top as usize].batch.empty_like();
        let mut picks: Vec<(u32, u32)> = Vec::with_capacity(want);
        while out.len + picks.len() < want
            && let Some(&top) = self.heap.first()
        {
            let r = &mut self.readers[top as usize];
            picks.push((top, r.at as u32));
            r.at += 1;
            if r.at >= r.batch.len {
                // Copy the picked rows before their batch is replaced.
                self.take(&mut out, &picks);
                picks.clear();
                if !self.readers[top as usize].refill(columns)? {
                    self.heap.swap_remove(0);
                }
            }
            self.sift_down(0, columns);
        }
        self.take(&mut out, &picks);
        Ok(Some(out))
    }

    fn take(&self, out: &mut Batch, picks: &[(u32, u32)]) {
        for (c, column) in out.columns.iter_mut().enumerate() {
            for &(reader, row) in picks {
                column.push(self.readers[reader as usize].batch.get(row as usize, c));
            }
        }
        out.len += picks.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Datum;

    #[test]
    fn words_have_the_order_of_the_values() {
        let floats = [f64::NEG_INFINITY, -1e300, -1.5, -0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        for pair in floats.windows(2) {
            assert!(float_word(pair[0]) < float_word(pair[1]), "{pair:?}");
        }
        assert_eq!(float_word(0.0), float_word(-0.0));
        let ints = [i64::MIN, -5, -1, 0, 1, 77, i64::MAX];
        for pair in ints.windows(2) {
            let w = |v: i64| WordKind::Signed.word(Datum::int8(v).as_ref());
            assert!(w(pair[0]) < w(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn equal_words_of_exact_values_mean_equal_values() {
        let numbers = [
            "0",
            "0.0",
            "1",
            "1.00",
            "12345",
            "123456789",
            "1.0001",
            "1.00010001",
            "1.000100010001",
            "NaN",
        ];
        let stored = |t: &&str| types::numeric::parse(t.as_bytes()).unwrap().datum().unwrap();
        let numbers: Vec<Datum> = numbers.iter().map(stored).collect();
        let texts: [&[u8]; 9] =
            [b"", b"\0", b"a", b"a\0", b"abcdefgh", b"abcdefg", b"abcdefghi", b"abcdefg\0", b"b"];
        let texts: Vec<Datum> = texts.iter().map(|t| Datum::bytes(*t)).collect();
        let mut pairs = 0;
        for (kind, values) in [(WordKind::Numeric, numbers), (WordKind::Bytes, texts)] {
            let exact = values.iter().filter(|v| kind.is_exact_for(v.as_ref()));
            let exact: Vec<&Datum> = exact.collect();
            for (a, b) in exact.iter().flat_map(|a| exact.iter().map(move |b| (a, b))) {
                pairs += 1;
                let (a, b) = (a.as_ref(), b.as_ref());
                let order = match kind {
                    WordKind::Numeric => types::numeric::numeric_cmp(a, b, ids::Oid::INVALID),
                    _ => a.as_bytes().cmp(b.as_bytes()),
                };
                assert_eq!(kind.word(a).cmp(&kind.word(b)), order, "{a:?} {b:?}");
            }
        }
        assert_eq!(pairs, 9 * 9 + 5 * 5);
    }

    #[test]
    fn words_of_numerics_do_not_contradict_their_order() {
        let texts = [
            "-Infinity",
            "-123456789012345678901234567890",
            "-10000",
            "-9999.9999",
            "-1.00001",
            "-1",
            "-0.5",
            "-0.00000001",
            "0",
            "0.000",
            "0.00000001",
            "0.00001",
            "0.5",
            "1",
            "1.00000000000000000001",
            "9999",
            "10000",
            "12345678",
            "12345679",
            "123456789012345678901234567890",
            "1e500",
            "Infinity",
            "NaN",
        ];
        let values: Vec<Datum> = texts
            .iter()
            .map(|t| types::numeric::parse(t.as_bytes()).unwrap().datum().unwrap())
            .collect();
        for pair in values.windows(2) {
            let w = |d: &Datum| WordKind::Numeric.word(d.as_ref());
            assert!(w(&pair[0]) <= w(&pair[1]));
        }
    }
}
