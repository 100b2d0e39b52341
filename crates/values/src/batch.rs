//! Columns and batches: the columnar form of rows between scans, expressions and the executor.

use crate::datum::{Datum, DatumRef};

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

/// By-reference values one after another: row `i` is `data[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytesColumn {
    pub offsets: Vec<u32>,
    pub data: Vec<u8>,
}

impl Default for BytesColumn {
    fn default() -> Self {
        BytesColumn { offsets: vec![0], data: Vec::new() }
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

    /// The bytes of row `i`.
    #[inline]
    pub fn get(&self, i: usize) -> &[u8] {
        &self.data[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Appends a value. A column has less than 4 GB: a value has at most 1 GB, and the producer of
    /// a batch ends it early when it becomes large.
    #[inline]
    pub fn push(&mut self, value: &[u8]) {
        self.data.extend_from_slice(value);
        self.close_row();
    }

    /// Ends a row whose bytes were appended to `data` directly.
    #[inline]
    pub fn close_row(&mut self) {
        self.offsets.push(u32::try_from(self.data.len()).expect("a batch column is below 4 GB"));
    }

    /// Empties the column and keeps its memory.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.data.clear();
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

    /// Appends a NULL.
    pub fn push_null(&mut self) {
        let row = self.len();
        self.nulls.get_or_insert_default().set(row);
        match &mut self.data {
            ColumnData::Word(w) => w.push(0),
            ColumnData::Bytes(b) => b.close_row(),
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
            ColumnData::Bytes(b) => b.data.len() + b.offsets.len() * 4,
        };
        data + self.nulls.as_ref().map_or(0, |n| n.words.len() * 8)
    }

    /// Appends rows `from..to` of a column of the same physical form.
    pub fn extend_range(&mut self, other: &Column, from: usize, to: usize) {
        let base = self.len();
        match (&mut self.data, &other.data) {
            (ColumnData::Word(w), ColumnData::Word(v)) => w.extend_from_slice(&v[from..to]),
            (ColumnData::Bytes(b), ColumnData::Bytes(v)) => {
                let (start, end) = (v.offsets[from], v.offsets[to]);
                let shift = b.data.len();
                b.data.extend_from_slice(&v.data[start as usize..end as usize]);
                u32::try_from(b.data.len()).expect("a batch column is below 4 GB");
                let shifted = v.offsets[from + 1..=to].iter();
                b.offsets.extend(shifted.map(|o| o - start + shift as u32));
            }
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
                b.offsets.reserve(rows.len());
                for &r in rows {
                    b.data.extend_from_slice(v.get(at(r)));
                    b.close_row();
                }
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
            ColumnData::Bytes(b) => {
                b.offsets.truncate(len + 1);
                b.data.truncate(b.offsets[len] as usize);
            }
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
}
