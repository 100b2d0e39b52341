//! Columns and batches: the columnar form of rows between scans, expressions and the executor.

use crate::datum::{Datum, DatumRef};
use std::sync::Arc;

/// The largest number of rows in a batch.
pub const BATCH_ROWS_MAX: usize = 1024;
/// A batch with this many bytes of values is full, regardless of its number of rows. A single row
/// may be larger.
pub const BATCH_BYTES_MAX: usize = 4 << 20;

/// The NULL rows of a column: one bit per row, set for NULL.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct NullMask {
    words: Vec<u64>,
}

impl NullMask {
    /// A mask of `len` rows without NULLs.
    pub fn none(len: usize) -> NullMask {
        NullMask { words: vec![0; len.div_ceil(64)] }
    }

    /// Whether row `i` is NULL. Rows beyond the mask are not NULL.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        self.words.get(i >> 6).is_some_and(|w| w >> (i & 63) & 1 != 0)
    }

    /// Marks row `i` as NULL; the mask grows as needed.
    #[inline]
    pub fn set(&mut self, i: usize) {
        let word = i >> 6;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (i & 63);
    }

    /// Marks row `i` as not NULL.
    pub fn clear(&mut self, i: usize) {
        if let Some(w) = self.words.get_mut(i >> 6) {
            *w &= !(1 << (i & 63));
        }
    }

    /// Removes the rows from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.words.truncate(len.div_ceil(64));
        if !len.is_multiple_of(64)
            && let Some(w) = self.words.get_mut(len / 64)
        {
            *w &= (1 << (len % 64)) - 1;
        }
    }

    /// A mask from its words, 64 rows each, the first row in the lowest bit.
    pub fn from_words(words: Vec<u64>) -> NullMask {
        NullMask { words }
    }

    /// Whether any row is NULL.
    pub fn any(&self) -> bool {
        self.words.iter().any(|&w| w != 0)
    }

    /// The words of the mask, 64 rows each. Rows after the last word are not NULL.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// A mask of the rows that are NULL in either mask.
    pub fn union(a: Option<&NullMask>, b: Option<&NullMask>) -> Option<NullMask> {
        match (a, b) {
            (None, None) => None,
            (Some(m), None) | (None, Some(m)) => Some(m.clone()),
            (Some(a), Some(b)) => {
                let (long, short) = if a.words.len() >= b.words.len() { (a, b) } else { (b, a) };
                let mut out = long.clone();
                for (o, s) in out.words.iter_mut().zip(&short.words) {
                    *o |= s;
                }
                Some(out)
            }
        }
    }
}

/// A value with at least this many bytes is shared, and not copied, by the rows and columns that
/// take it from each other.
pub const SHARED_BYTES_MIN: usize = 4096;

/// A long value that several rows or columns have.
pub type SharedBytes = Arc<Box<[u8]>>;

/// By-reference values. Row `i` is `data[offsets[i]..offsets[i + 1]]`, except for long values,
/// which have no bytes there and are in `shared`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytesColumn {
    offsets: Vec<u32>,
    data: Vec<u8>,
    /// The long values, in the order of their rows.
    shared: Vec<SharedValue>,
    /// Size of the long values; a value that is repeated in successive rows counts once.
    shared_bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SharedValue {
    row: u32,
    value: SharedBytes,
}

impl Default for BytesColumn {
    fn default() -> Self {
        BytesColumn { offsets: vec![0], data: Vec::new(), shared: Vec::new(), shared_bytes: 0 }
    }
}

impl BytesColumn {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of the values in bytes.
    pub fn bytes(&self) -> usize {
        self.data.len() + self.shared_bytes
    }

    /// Allocated memory in bytes, without the values that are shared.
    pub fn capacity(&self) -> usize {
        self.data.capacity()
            + self.offsets.capacity() * size_of::<u32>()
            + self.shared.capacity() * size_of::<SharedValue>()
    }

    /// Allocates memory for more rows with this many bytes together.
    pub fn reserve(&mut self, rows: usize, bytes: usize) {
        self.offsets.reserve(rows);
        self.data.reserve(bytes);
    }

    /// The bytes of row `i`.
    #[inline]
    pub fn get(&self, i: usize) -> &[u8] {
        let (start, end) = (self.offsets[i] as usize, self.offsets[i + 1] as usize);
        if start == end && !self.shared.is_empty() {
            return self.shared_at(i).map_or(&[], |value| value);
        }
        &self.data[start..end]
    }

    /// The value of row `i` if it is long.
    #[cold]
    fn shared_at(&self, i: usize) -> Option<&SharedBytes> {
        let at = self.shared.binary_search_by_key(&i, |s| s.row as usize).ok()?;
        Some(&self.shared[at].value)
    }

    /// Appends a value. The values that are not long have less than 4 GB together: the producer of
    /// a batch ends it early when it becomes large.
    #[inline]
    pub fn push(&mut self, value: &[u8]) {
        if value.len() >= SHARED_BYTES_MIN {
            return self.push_shared(Arc::new(value.into()));
        }
        self.data.extend_from_slice(value);
        self.close_row();
    }

    /// Appends a value, which is not copied if it is long.
    #[inline]
    pub fn push_owned(&mut self, value: Box<[u8]>) {
        if value.len() >= SHARED_BYTES_MIN {
            return self.push_shared(Arc::new(value));
        }
        self.push(&value);
    }

    /// Appends the value whose bytes `write` appends to a vector.
    #[inline]
    pub fn push_with<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        write(&mut self.data)?;
        self.close_row();
        Ok(())
    }

    /// Appends an empty value.
    #[inline]
    pub fn push_empty(&mut self) {
        self.close_row();
    }

    #[cold]
    fn push_shared(&mut self, value: SharedBytes) {
        if self.shared.last().is_none_or(|last| !Arc::ptr_eq(&last.value, &value)) {
            self.shared_bytes += value.len();
        }
        let row = u32::try_from(self.len()).expect("a batch column has less than 2^32 rows");
        self.shared.push(SharedValue { row, value });
        self.close_row();
    }

    /// True if row `i` and the row before share a long value.
    pub fn repeats(&self, i: usize) -> bool {
        i > 0
            && self.get(i).len() >= SHARED_BYTES_MIN
            && self.get(i).as_ptr() == self.get(i - 1).as_ptr()
    }

    /// Appends the long value of the last row once more.
    pub fn push_repeated(&mut self) {
        if let Some(last) = self.shared.last() {
            self.push_shared(last.value.clone());
        }
    }

    #[inline]
    fn close_row(&mut self) {
        self.offsets.push(u32::try_from(self.data.len()).expect("a batch column is below 4 GB"));
    }

    /// Appends row `i` of another column `count` times.
    #[inline]
    fn push_from(&mut self, other: &BytesColumn, i: usize, count: usize) {
        let value = other.get(i);
        if value.len() >= SHARED_BYTES_MIN
            && let Some(value) = other.shared_at(i)
        {
            (0..count).for_each(|_| self.push_shared(value.clone()));
            return;
        }
        (0..count).for_each(|_| self.push(value));
    }

    fn extend_range(&mut self, other: &BytesColumn, from: usize, to: usize) {
        let base = self.len();
        let (start, end) = (other.offsets[from], other.offsets[to]);
        let shift = self.data.len();
        self.data.extend_from_slice(&other.data[start as usize..end as usize]);
        u32::try_from(self.data.len()).expect("a batch column is below 4 GB");
        let shifted = other.offsets[from + 1..=to].iter();
        self.offsets.extend(shifted.map(|o| o - start + shift as u32));
        let first = other.shared.partition_point(|s| (s.row as usize) < from);
        let moved = other.shared[first..].iter().take_while(|s| (s.row as usize) < to);
        self.shared.extend(moved.map(|s| SharedValue {
            row: (s.row as usize - from + base) as u32,
            value: s.value.clone(),
        }));
        self.count_shared();
    }

    /// Sets the size of the long values.
    fn count_shared(&mut self) {
        let mut last: Option<&SharedBytes> = None;
        self.shared_bytes = 0;
        for SharedValue { value, .. } in &self.shared {
            if last.is_none_or(|last| !Arc::ptr_eq(last, value)) {
                self.shared_bytes += value.len();
            }
            last = Some(value);
        }
    }

    fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        self.data.truncate(self.offsets[len] as usize);
        self.shared.truncate(self.shared.partition_point(|s| (s.row as usize) < len));
        self.count_shared();
    }

    /// Empties the column and keeps its memory.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.data.clear();
        self.shared.clear();
        self.shared_bytes = 0;
    }
}

/// The values of a column in their physical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnData {
    Word(Vec<u64>),
    Bytes(BytesColumn),
}

/// A column of a batch. A NULL row has a placeholder in `data` (0 or no bytes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub data: ColumnData,
    pub nulls: Option<NullMask>,
}

impl Column {
    /// An empty column of a by-value (`by_val`) or by-reference type.
    pub fn new(by_val: bool) -> Column {
        let data = if by_val {
            ColumnData::Word(Vec::new())
        } else {
            ColumnData::Bytes(BytesColumn::default())
        };
        Column { data, nulls: None }
    }

    /// A column of `Word` values without NULLs.
    pub fn words(values: Vec<u64>) -> Column {
        Column { data: ColumnData::Word(values), nulls: None }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.data {
            ColumnData::Word(w) => w.len(),
            ColumnData::Bytes(b) => b.len(),
        }
    }

    /// Whether the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the values are passed by value.
    pub fn is_by_val(&self) -> bool {
        matches!(self.data, ColumnData::Word(_))
    }

    /// Whether row `i` is NULL.
    #[inline]
    pub fn is_null(&self, i: usize) -> bool {
        self.nulls.as_ref().is_some_and(|n| n.get(i))
    }

    /// The value of row `i`.
    #[inline]
    pub fn get(&self, i: usize) -> DatumRef<'_> {
        if self.is_null(i) {
            return DatumRef::Null;
        }
        match &self.data {
            ColumnData::Word(w) => DatumRef::Word(w[i]),
            ColumnData::Bytes(b) => DatumRef::Bytes(b.get(i)),
        }
    }

    /// Appends a value of the column's physical form, or NULL.
    #[inline]
    pub fn push(&mut self, value: DatumRef<'_>) {
        match (&mut self.data, value) {
            (ColumnData::Word(w), DatumRef::Word(v)) => w.push(v),
            (ColumnData::Bytes(b), DatumRef::Bytes(v)) => b.push(v),
            (_, DatumRef::Null) => self.push_null(),
            (_, other) => panic!("datum {other:?} in a column of the other form"),
        }
    }

    /// Appends a value of the column's physical form, or NULL. A long value is not copied.
    #[inline]
    pub fn push_owned(&mut self, value: Datum) {
        match (&mut self.data, value) {
            (ColumnData::Bytes(b), Datum::Bytes(v)) => b.push_owned(v),
            (_, value) => self.push(value.as_ref()),
        }
    }

    /// Appends a value to a column of a by-reference type.
    pub fn push_shared(&mut self, value: SharedBytes) {
        match &mut self.data {
            ColumnData::Bytes(b) if value.len() >= SHARED_BYTES_MIN => b.push_shared(value),
            _ => self.push(DatumRef::Bytes(&value)),
        }
    }

    /// Appends row `i` of a column of the same physical form `count` times. A long value is shared.
    #[inline]
    pub fn push_from(&mut self, other: &Column, i: usize, count: usize) {
        match (&mut self.data, &other.data) {
            (ColumnData::Bytes(b), ColumnData::Bytes(v)) if !other.is_null(i) => {
                b.push_from(v, i, count);
            }
            _ => {
                let value = other.get(i);
                (0..count).for_each(|_| self.push(value));
            }
        }
    }

    /// Appends a NULL.
    pub fn push_null(&mut self) {
        let row = self.len();
        self.nulls.get_or_insert_default().set(row);
        match &mut self.data {
            ColumnData::Word(w) => w.push(0),
            ColumnData::Bytes(b) => b.push_empty(),
        }
    }

    /// Empties the column and keeps its memory.
    pub fn clear(&mut self) {
        match &mut self.data {
            ColumnData::Word(w) => w.clear(),
            ColumnData::Bytes(b) => b.clear(),
        }
        self.nulls = None;
    }

    /// Size of the values in bytes.
    pub fn memory(&self) -> usize {
        let data = match &self.data {
            ColumnData::Word(w) => w.len() * 8,
            ColumnData::Bytes(b) => b.bytes() + (b.len() + 1) * 4,
        };
        data + self.nulls.as_ref().map_or(0, |n| n.words.len() * 8)
    }

    /// Appends rows `from..to` of a column of the same physical form.
    pub fn extend_range(&mut self, other: &Column, from: usize, to: usize) {
        let base = self.len();
        match (&mut self.data, &other.data) {
            (ColumnData::Word(w), ColumnData::Word(v)) => w.extend_from_slice(&v[from..to]),
            (ColumnData::Bytes(b), ColumnData::Bytes(v)) => b.extend_range(v, from, to),
            _ => panic!("columns of different forms"),
        }
        if let Some(nulls) = &other.nulls {
            for i in (from..to).filter(|&i| nulls.get(i)) {
                self.nulls.get_or_insert_default().set(base + i - from);
            }
        }
    }

    /// Appends the rows with the given indexes of a column of the same physical form.
    pub fn extend_rows<I: Copy + Into<u32>>(&mut self, other: &Column, rows: &[I]) {
        let base = self.len();
        let at = |r: I| r.into() as usize;
        match (&mut self.data, &other.data) {
            (ColumnData::Word(w), ColumnData::Word(v)) => w.extend(rows.iter().map(|&r| v[at(r)])),
            (ColumnData::Bytes(b), ColumnData::Bytes(v)) => {
                b.reserve(rows.len(), 0);
                rows.iter().for_each(|&r| b.push_from(v, at(r), 1));
            }
            _ => panic!("columns of different forms"),
        }
        if let Some(nulls) = &other.nulls {
            for (i, _) in rows.iter().enumerate().filter(|&(_, &r)| nulls.get(at(r))) {
                self.nulls.get_or_insert_default().set(base + i);
            }
        }
    }

    /// A column of the rows with the given indexes.
    pub fn gather<I: Copy + Into<u32>>(&self, rows: &[I]) -> Column {
        let mut out = Column::new(self.is_by_val());
        out.extend_rows(self, rows);
        out
    }

    /// Keeps the first `len` rows.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len() {
            return;
        }
        match &mut self.data {
            ColumnData::Word(w) => w.truncate(len),
            ColumnData::Bytes(b) => b.truncate(len),
        }
        if let Some(nulls) = &mut self.nulls {
            nulls.truncate(len);
        }
    }
}

/// Up to [`BATCH_ROWS_MAX`] rows. `len` is the number of rows also of a batch without columns.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Batch {
    pub len: usize,
    pub columns: Vec<Column>,
}

impl Batch {
    /// An empty batch. `by_val` has one entry per column: whether its type is passed by value.
    pub fn new(by_val: impl IntoIterator<Item = bool>) -> Batch {
        Batch { len: 0, columns: by_val.into_iter().map(Column::new).collect() }
    }

    /// Whether the batch is full, so that the producer must return it before it adds rows.
    pub fn is_full(&self) -> bool {
        self.len >= BATCH_ROWS_MAX || self.memory() >= BATCH_BYTES_MAX
    }

    /// A value by row and column.
    pub fn get(&self, row: usize, column: usize) -> DatumRef<'_> {
        self.columns[column].get(row)
    }

    /// The row's values, borrowed.
    pub fn row(&self, row: usize) -> impl Iterator<Item = DatumRef<'_>> {
        self.columns.iter().map(move |c| c.get(row))
    }

    /// The row's values, owned.
    pub fn row_owned(&self, row: usize) -> Vec<Datum> {
        self.row(row).map(DatumRef::to_owned).collect()
    }

    /// Appends a row; `values` has one entry per column.
    pub fn push_row(&mut self, values: &[DatumRef<'_>]) {
        debug_assert_eq!(values.len(), self.columns.len());
        for (column, &value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
        self.len += 1;
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.columns.iter_mut().for_each(Column::clear);
    }

    /// Size of the values in bytes.
    pub fn memory(&self) -> usize {
        self.columns.iter().map(Column::memory).sum()
    }

    /// An empty batch with columns of the same physical forms.
    pub fn empty_like(&self) -> Batch {
        Batch::new(self.columns.iter().map(Column::is_by_val))
    }

    /// Appends rows `from..to` of a batch with columns of the same physical forms.
    pub fn extend_range(&mut self, other: &Batch, from: usize, to: usize) {
        for (c, o) in self.columns.iter_mut().zip(&other.columns) {
            c.extend_range(o, from, to);
        }
        self.len += to - from;
    }

    /// Appends the rows with the given indexes of a batch with columns of the same physical forms.
    pub fn extend_rows<I: Copy + Into<u32>>(&mut self, other: &Batch, rows: &[I]) {
        for (c, o) in self.columns.iter_mut().zip(&other.columns) {
            c.extend_rows(o, rows);
        }
        self.len += rows.len();
    }

    /// A batch of the rows with the given indexes.
    pub fn gather<I: Copy + Into<u32>>(&self, rows: &[I]) -> Batch {
        let columns = self.columns.iter().map(|c| c.gather(rows)).collect();
        Batch { len: rows.len(), columns }
    }

    /// Keeps the first `len` rows.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.len = len;
            self.columns.iter_mut().for_each(|c| c.truncate(len));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_return_the_pushed_rows() {
        let mut batch = Batch::new([true, false]);
        for i in 0..200u64 {
            let text = i.to_string();
            let word = if i % 3 == 0 { DatumRef::Null } else { DatumRef::Word(i) };
            let bytes = if i % 5 == 0 { DatumRef::Null } else { DatumRef::Bytes(text.as_bytes()) };
            batch.push_row(&[word, bytes]);
        }
        for i in 0..200usize {
            assert_eq!(batch.get(i, 0).is_null(), i % 3 == 0);
            assert_eq!(batch.get(i, 1).is_null(), i % 5 == 0);
            if i % 3 != 0 {
                assert_eq!(batch.get(i, 0), DatumRef::Word(i as u64));
            }
            if i % 5 != 0 {
                assert_eq!(batch.get(i, 1), DatumRef::Bytes(i.to_string().as_bytes()));
            }
        }
        let mut parts = batch.empty_like();
        parts.extend_range(&batch, 0, 70);
        parts.extend_rows(&batch, &(70..200u32).collect::<Vec<_>>());
        assert_eq!(parts, batch);
        parts.truncate(100);
        assert_eq!(parts, batch.gather(&(0..100u16).collect::<Vec<_>>()));
        batch.clear();
        assert_eq!(batch, Batch::new([true, false]));
    }

    #[test]
    fn long_values_are_shared() {
        let long = vec![b'x'; SHARED_BYTES_MIN];
        let mut column = Column::new(false);
        column.push(DatumRef::Bytes(b""));
        column.push(DatumRef::Bytes(&long));
        column.push_null();
        column.push(DatumRef::Bytes(b"short"));
        let address = |column: &Column, row: usize| match column.get(row) {
            DatumRef::Bytes(b) => b.as_ptr(),
            other => panic!("{other:?}"),
        };
        let mut copy = column.gather(&[3u16, 1, 1, 2, 0, 1]);
        copy.push_from(&column, 1, 3);
        copy.extend_range(&column, 1, 4);
        copy.push_owned(Datum::bytes(long.clone()));
        let rows: Vec<Option<usize>> = (0..copy.len())
            .map(|row| match copy.get(row) {
                DatumRef::Bytes(b) => Some(b.len()),
                _ => None,
            })
            .collect();
        let n = Some(SHARED_BYTES_MIN);
        let expected = [Some(5), n, n, None, Some(0), n, n, n, n, n, None, Some(5), n];
        assert_eq!(rows, expected);
        for row in [1, 2, 5, 6, 7, 8, 9] {
            assert_eq!(address(&copy, row), address(&column, 1));
        }
        // The shared value and the last one count once each.
        assert_eq!(copy.memory(), 2 * SHARED_BYTES_MIN + 10 + 14 * 4 + 8);
        copy.truncate(5);
        assert_eq!(copy.memory(), SHARED_BYTES_MIN + 5 + 6 * 4 + 8);
        assert_eq!(copy.get(2), DatumRef::Bytes(&long));
        copy.clear();
        assert_eq!(copy, Column::new(false));
    }
}
