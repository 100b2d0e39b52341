//! The fields of a row in a variable. Rows are shared by the variables that they are assigned to,
//! and not formed or taken apart; a variable has only the fields of its own that were assigned
//! after the row. Counterpart: expandedrecord.c.

use std::sync::Arc;
use types::{Batch, Datum, DatumRef};

/// Number of fields that a variable keeps beside a shared row. A variable with more of them gets a
/// row of its own.
const CHANGED_MAX: usize = 16;

/// As [`CHANGED_MAX`], in a variable whose value is assigned to another one.
const CHANGED_SHARED_MAX: usize = 4;

/// Size in bytes of the largest batch whose rows variables refer to. The rows of larger ones are
/// copied, so that a variable does not retain the memory of many other rows.
const SHARED_BATCH_BYTES_MAX: usize = 256 << 10;

/// Rows of a query.
pub struct RowBatch {
    batch: Batch,
    /// The columns of the batch that are columns of the rows; `None` for all, in order.
    columns: Option<Box<[usize]>>,
    is_large: bool,
}

impl RowBatch {
    /// `columns` are the columns of the batch that are columns of the rows.
    pub fn new(batch: Batch, columns: &[usize]) -> RowBatch {
        let all = columns.len() == batch.columns.len() && columns.iter().copied().eq(0..);
        let columns = (!all).then(|| columns.into());
        let is_large = batch.memory() > SHARED_BATCH_BYTES_MAX;
        RowBatch { batch, columns, is_large }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.batch.len
    }

    pub fn is_empty(&self) -> bool {
        self.batch.len == 0
    }

    fn width(&self) -> usize {
        self.columns.as_ref().map_or(self.batch.columns.len(), |columns| columns.len())
    }

    #[inline]
    pub(crate) fn get(&self, row: usize, column: usize) -> DatumRef<'_> {
        let column = self.columns.as_ref().map_or(column, |columns| columns[column]);
        self.batch.get(row, column)
    }
}

/// A row in two pieces of memory, regardless of the number of its fields.
struct Packed {
    fields: Box<[PackedField]>,
    bytes: Box<[u8]>,
    /// It is the new row of the event of a trigger, unchanged.
    is_event: bool,
}

#[derive(Clone, Copy)]
enum PackedField {
    Null,
    Word(u64),
    /// Start and end among the bytes.
    Bytes(usize, usize),
}

impl Packed {
    fn new<'v>(values: impl ExactSizeIterator<Item = DatumRef<'v>> + Clone) -> Packed {
        let length = |value| match value {
            DatumRef::Bytes(b) => b.len(),
            _ => 0,
        };
        let mut bytes = Vec::with_capacity(values.clone().map(length).sum());
        let field = |value| match value {
            DatumRef::Null => PackedField::Null,
            DatumRef::Word(word) => PackedField::Word(word),
            DatumRef::Bytes(b) => {
                let start = bytes.len();
                bytes.extend_from_slice(b);
                PackedField::Bytes(start, bytes.len())
            }
        };
        let fields = values.map(field).collect();
        Packed { fields, bytes: bytes.into(), is_event: false }
    }

    #[inline]
    fn get(&self, at: usize) -> DatumRef<'_> {
        match self.fields[at] {
            PackedField::Null => DatumRef::Null,
            PackedField::Word(word) => DatumRef::Word(word),
            PackedField::Bytes(start, end) => DatumRef::Bytes(&self.bytes[start..end]),
        }
    }
}

/// A row that variables share.
#[derive(Clone)]
enum Base {
    /// That many NULLs.
    Nulls(usize),
    Values(Arc<Vec<Datum>>),
    Packed(Arc<Packed>),
    /// A row of a batch, by its number.
    Row(Arc<RowBatch>, usize),
}

impl Base {
    fn len(&self) -> usize {
        match self {
            Base::Nulls(count) => *count,
            Base::Values(values) => values.len(),
            Base::Packed(packed) => packed.fields.len(),
            Base::Row(rows, _) => rows.width(),
        }
    }

    #[inline]
    fn get(&self, at: usize) -> DatumRef<'_> {
        match self {
            Base::Nulls(_) => DatumRef::Null,
            Base::Values(values) => values[at].as_ref(),
            Base::Packed(packed) => packed.get(at),
            Base::Row(rows, row) => rows.get(*row, at),
        }
    }
}

/// The fields of a row, by column number from 0.
pub struct Fields {
    base: Base,
    /// The fields that differ from the base, in ascending order.
    changed: Vec<(usize, Datum)>,
}

impl Default for Fields {
    fn default() -> Fields {
        Fields::nulls(0)
    }
}

impl From<Vec<Datum>> for Fields {
    fn from(values: Vec<Datum>) -> Fields {
        Fields::of(Base::Values(Arc::new(values)))
    }
}

impl Fields {
    fn of(base: Base) -> Fields {
        Fields { base, changed: Vec::new() }
    }

    /// That many NULLs.
    pub fn nulls(count: usize) -> Fields {
        Fields::of(Base::Nulls(count))
    }

    /// A copy of these values.
    pub fn copied<'v>(values: impl ExactSizeIterator<Item = DatumRef<'v>> + Clone) -> Fields {
        Fields::of(Base::Packed(Arc::new(Packed::new(values))))
    }

    /// As [`Fields::copied`], for the new row of the event of a trigger; see
    /// [`Fields::is_event`].
    pub fn of_event<'v>(values: impl ExactSizeIterator<Item = DatumRef<'v>> + Clone) -> Fields {
        let packed = Packed { is_event: true, ..Packed::new(values) };
        Fields::of(Base::Packed(Arc::new(packed)))
    }

    /// Row number `row` of a batch.
    pub fn of_row(rows: &Arc<RowBatch>, row: usize) -> Fields {
        match rows.is_large {
            true => Fields::copied((0..rows.width()).map(|at| rows.get(row, at))),
            false => Fields::of(Base::Row(rows.clone(), row)),
        }
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.base.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A field.
    #[inline]
    pub fn get(&self, at: usize) -> DatumRef<'_> {
        if !self.changed.is_empty()
            && let Ok(place) = self.place(at)
        {
            return self.changed[place].1.as_ref();
        }
        self.base.get(at)
    }

    #[inline]
    fn place(&self, at: usize) -> Result<usize, usize> {
        self.changed.binary_search_by_key(&at, |(column, _)| *column)
    }

    /// All fields.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DatumRef<'_>> + Clone {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Assigns a field.
    pub(crate) fn set(&mut self, at: usize, value: Datum) {
        let place = match self.place(at) {
            Ok(place) => return self.changed[place].1 = value,
            Err(place) => place,
        };
        if let Base::Values(values) = &mut self.base
            && let Some(values) = Arc::get_mut(values)
        {
            values[at] = value;
        } else if let Base::Packed(packed) = &mut self.base
            && let Some(packed) = Arc::get_mut(packed)
            && let Datum::Word(word) = value
        {
            packed.fields[at] = PackedField::Word(word);
            packed.is_event = false;
        } else if self.changed.len() < CHANGED_MAX {
            self.changed.insert(place, (at, value));
        } else {
            let mut values: Vec<Datum> = self.iter().map(DatumRef::to_owned).collect();
            values[at] = value;
            *self = values.into();
        }
    }

    /// Moves a value out of its field if it is this variable's own, else copies it.
    pub(crate) fn take(&mut self, at: usize) -> Datum {
        if let Ok(place) = self.place(at) {
            return std::mem::take(&mut self.changed[place].1);
        }
        match &mut self.base {
            Base::Values(values) => match Arc::get_mut(values) {
                Some(values) => std::mem::take(&mut values[at]),
                None => values[at].clone(),
            },
            base => base.get(at).to_owned(),
        }
    }

    /// The same row for another variable.
    pub(crate) fn shared(&mut self) -> Fields {
        if self.changed.len() > CHANGED_SHARED_MAX {
            *self = Fields::copied(self.iter());
        }
        Fields { base: self.base.clone(), changed: self.changed.clone() }
    }

    /// Makes the row another one of the batch; false if it is no row of this batch.
    #[inline]
    pub(crate) fn advance(&mut self, rows: &Arc<RowBatch>, row: usize) -> bool {
        match &mut self.base {
            Base::Row(known, at) if Arc::ptr_eq(known, rows) => {
                *at = row;
                self.changed.clear();
                true
            }
            _ => false,
        }
    }

    /// True if the row is the new row of the event of a trigger, and none of its fields was
    /// assigned. False if that is not known.
    pub(crate) fn is_event(&self) -> bool {
        self.changed.is_empty() && matches!(&self.base, Base::Packed(packed) if packed.is_event)
    }

    /// The fields as values.
    pub fn into_values(self) -> Vec<Datum> {
        match self.base {
            Base::Values(values) if self.changed.is_empty() => Arc::unwrap_or_clone(values),
            _ => self.iter().map(DatumRef::to_owned).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(fields: &Fields) -> Vec<Option<u64>> {
        let word = |value| match value {
            DatumRef::Word(word) => Some(word),
            DatumRef::Bytes(b) => Some(b.len() as u64),
            DatumRef::Null => None,
        };
        fields.iter().map(word).collect()
    }

    /// Rows of three columns in each form.
    fn rows() -> Vec<Fields> {
        let row = vec![Datum::Word(1), Datum::text("ab"), Datum::Null];
        let mut batch = Batch::new([false, true, true, false]);
        for word in 0..3 {
            let value = |at: usize| row[at].as_ref();
            batch.push_row(&[value(1), DatumRef::Word(word), value(0), DatumRef::Null]);
        }
        let rows = Arc::new(RowBatch::new(batch, &[2, 0, 3]));
        let mut last = Fields::nulls(3);
        last.set(0, Datum::Word(1));
        last.set(1, Datum::text("ab"));
        vec![
            Fields::copied(row.iter().map(Datum::as_ref)),
            Fields::of_row(&rows, 1),
            last,
            row.into(),
        ]
    }

    #[test]
    fn a_shared_row_does_not_change_with_a_variable() {
        for mut row in rows() {
            assert_eq!(values(&row), [Some(1), Some(2), None]);
            let mut other = row.shared();
            other.set(2, Datum::Word(7));
            other.set(1, Datum::Null);
            assert_eq!(values(&row), [Some(1), Some(2), None]);
            assert_eq!(values(&other), [Some(1), None, Some(7)]);
            row.set(0, Datum::text("four"));
            assert_eq!(values(&row), [Some(4), Some(2), None]);
            assert_eq!(row.take(0), Datum::text("four"));
            assert_eq!(row.take(1), Datum::text("ab"));
            assert_eq!(values(&other), [Some(1), None, Some(7)]);
            assert_eq!(other.into_values(), [Datum::Word(1), Datum::Null, Datum::Word(7)]);
        }
    }

    #[test]
    fn changes_of_a_row_that_was_shared_stay() {
        let mut row = Fields::from(vec![Datum::Word(1), Datum::Word(2)]);
        let other = row.shared();
        row.set(0, Datum::Word(3));
        drop(other);
        for word in 4..6 {
            row.set(0, Datum::Word(word));
            row.set(1, Datum::Word(word));
            assert_eq!(values(&row), [Some(word), Some(word)]);
        }
    }

    #[test]
    fn a_variable_with_many_changes_gets_a_row_of_its_own() {
        let count = 3 * CHANGED_MAX;
        let mut row = Fields::nulls(count);
        for at in (0..count).rev() {
            row.set(at, Datum::Word(at as u64));
            assert!(row.changed.len() <= CHANGED_MAX);
        }
        let mut other = row.shared();
        for at in 0..CHANGED_SHARED_MAX + 1 {
            other.set(at, Datum::Null);
        }
        let third = other.shared();
        assert!(third.changed.is_empty());
        let expected = |at: usize| (at > CHANGED_SHARED_MAX).then_some(at as u64);
        assert_eq!(values(&third), (0..count).map(expected).collect::<Vec<_>>());
        assert_eq!(values(&row), (0..count).map(|at| Some(at as u64)).collect::<Vec<_>>());
    }

    #[test]
    fn rows_of_large_batches_are_copied() {
        let mut batch = Batch::new([false]);
        let long = Datum::bytes(vec![b'x'; SHARED_BATCH_BYTES_MAX]);
        batch.push_row(&[long.as_ref()]);
        batch.push_row(&[DatumRef::Bytes(b"y")]);
        let rows = Arc::new(RowBatch::new(batch, &[0]));
        let row = Fields::of_row(&rows, 1);
        assert_eq!(Arc::strong_count(&rows), 1);
        assert_eq!(row.get(0), DatumRef::Bytes(b"y"));
        assert!(!row.is_event());
    }

    #[test]
    fn the_row_of_an_event_is_known_until_a_field_is_assigned() {
        let values = [Datum::Word(1), Datum::text("a")];
        let event = || Fields::of_event(values.iter().map(Datum::as_ref));
        for value in [Datum::Word(1), Datum::Null, Datum::text("b")] {
            let mut row = event();
            let other = row.shared();
            assert!(row.is_event() && other.is_event());
            row.set(0, value.clone());
            assert!(!row.is_event() && other.is_event());
            assert_eq!(other.get(0), DatumRef::Word(1));
            drop(other);
            let mut alone = event();
            alone.set(0, value.clone());
            assert!(!alone.is_event());
            assert_eq!(alone.into_values(), [value, Datum::text("a")]);
        }
        assert!(!Fields::copied(values.iter().map(Datum::as_ref)).is_event());
    }

    #[test]
    fn a_row_advances_in_its_batch_only() {
        let mut batch = Batch::new([true]);
        for word in 0..3 {
            batch.push_row(&[DatumRef::Word(word)]);
        }
        let rows = Arc::new(RowBatch::new(batch.clone(), &[0]));
        let mut row = Fields::of_row(&rows, 0);
        row.set(0, Datum::Word(7));
        assert!(row.advance(&rows, 2));
        assert_eq!(row.get(0), DatumRef::Word(2));
        assert!(!row.advance(&Arc::new(RowBatch::new(batch, &[0])), 1));
        assert!(!Fields::nulls(1).advance(&rows, 1));
        assert_eq!(row.get(0), DatumRef::Word(2));
    }
}
