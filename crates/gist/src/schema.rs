//! The columns of an index with the functions of their operator classes; forming of tuples, union
//! of keys, and the choice of the subtree for an insertion.
//!
//! Counterpart: gistutil.c, `initGISTstate` in gist.c.

use access::{IndexColumn, IndexDef, Row, SupportFunction, TupleLayout};
use ids::{BlockNo, OffsetNo, Tid};
use page::Page;
use page::gist::{self, GistPage};
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result};
use types::gist::{
    Column, Compress, Consistent, Decompress, Fetch, Function, Penalty, PickSplit, Same, Union,
};
use types::{Datum, DatumRef};

/// A key column, with the functions of its operator class.
pub(crate) struct KeyColumn {
    pub column: Column,
    pub consistent: Consistent,
    union: Union,
    compress: Option<Compress>,
    decompress: Option<Decompress>,
    penalty: Penalty,
    pub pick_split: PickSplit,
    same: Same,
    fetch: Option<Fetch>,
}

/// A key: in a tuple, or computed.
pub(crate) enum Key<'a> {
    Stored(DatumRef<'a>),
    Computed(Datum),
}

impl Key<'_> {
    pub(crate) fn value(&self) -> DatumRef<'_> {
        match self {
            Key::Stored(value) => *value,
            Key::Computed(value) => value.as_ref(),
        }
    }
}

impl KeyColumn {
    fn new(def: &IndexDef, number: usize, own: &IndexColumn) -> Result<KeyColumn> {
        let lacks = |wanted: u16| {
            let (name, column) = (&def.name, number + 1);
            PgError::internal(format!(
                "missing support function {wanted} for attribute {column} of index \"{name}\""
            ))
        };
        let function = |wanted: u16| match own.support(wanted) {
            Some(SupportFunction::Gist(function, _)) => Some(*function),
            _ => None,
        };
        let traits = match own.support(1) {
            Some(SupportFunction::Gist(_, traits)) => (**traits).clone(),
            _ => return Err(lacks(1)),
        };
        macro_rules! required {
            ($number:literal, $kind:ident) => {
                match function($number) {
                    Some(Function::$kind(f)) => f,
                    _ => return Err(lacks($number)),
                }
            };
        }
        macro_rules! optional {
            ($number:literal, $kind:ident) => {
                match function($number) {
                    Some(Function::$kind(f)) => Some(f),
                    _ => None,
                }
            };
        }
        Ok(KeyColumn {
            column: Column { traits, context: types::gist::context },
            consistent: required!(1, Consistent),
            union: required!(2, Union),
            compress: optional!(3, Compress),
            decompress: optional!(4, Decompress),
            penalty: required!(5, Penalty),
            pick_split: required!(6, PickSplit),
            same: required!(7, Same),
            fetch: optional!(9, Fetch),
        })
    }

    fn stored_form<'a>(&self, value: DatumRef<'a>, leaf: bool) -> Result<Key<'a>> {
        if let (Some(compress), false) = (self.compress, value.is_null())
            && let Some(stored) = compress(&self.column, value, leaf)?
        {
            return Ok(Key::Computed(stored));
        }
        Ok(Key::Stored(value))
    }

    /// The cost of inserting `new` below the key `old`; infinite if only one of them is NULL.
    pub(crate) fn penalty(&self, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
        match (old.is_null(), new.is_null()) {
            (false, false) => {
                let penalty = (self.penalty)(&self.column, old, new)?;
                Ok(if penalty > 0.0 { penalty } else { 0.0 })
            }
            (true, true) => Ok(0.0),
            // Do not mix NULLs with other keys.
            _ => Ok(f32::INFINITY),
        }
    }

    /// The union of keys that are not NULL; NULL if there is none.
    pub(crate) fn union(&self, keys: &[DatumRef<'_>]) -> Result<Datum> {
        match keys {
            [] => Ok(Datum::Null),
            // The functions may expect two keys.
            [key] => (self.union)(&self.column, &[*key, *key]),
            _ => (self.union)(&self.column, keys),
        }
    }

    pub(crate) fn union_of_two(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<Datum> {
        match (a.is_null(), b.is_null()) {
            (true, true) => Ok(Datum::Null),
            (false, false) => self.union(&[a, b]),
            (false, true) => self.union(&[a]),
            (true, false) => self.union(&[b]),
        }
    }

    pub(crate) fn same(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
        (self.same)(&self.column, a, b)
    }
}

/// The columns of an index.
pub(crate) struct Schema {
    pub columns: Vec<KeyColumn>,
    /// Tuples of leaves: all columns; of inner pages: the key columns.
    leaf: TupleLayout,
    inner: TupleLayout,
    /// The tuples that index-only scans return.
    fetched: TupleLayout,
    pub name: Box<str>,
}

impl Schema {
    pub(crate) fn new(def: &IndexDef) -> Result<Schema> {
        let columns = def.keys().iter().enumerate();
        Ok(Schema {
            columns: columns.map(|(n, c)| KeyColumn::new(def, n, c)).collect::<Result<_>>()?,
            leaf: def.layout.clone(),
            inner: TupleLayout::new(def.keys().iter().map(|c| &c.attr)),
            fetched: def.fetched_layout().clone(),
            name: def.name.clone(),
        })
    }

    /// Appends the leaf tuple of a row.
    pub(crate) fn form_leaf(&self, row: &Row<'_>, out: &mut Vec<u8>) -> Result<()> {
        let mut keys = Vec::with_capacity(row.values.len());
        for (n, value) in row.values.iter().enumerate() {
            keys.push(match self.columns.get(n) {
                Some(column) => column.stored_form(*value, true)?,
                None => Key::Stored(*value),
            });
        }
        let values: Vec<DatumRef<'_>> = keys.iter().map(Key::value).collect();
        let is_plain = |n: usize| self.columns.get(n).is_none_or(|c| c.compress.is_none());
        let compressed: Vec<_> =
            row.compressed.iter().filter(|(n, _)| is_plain(*n)).cloned().collect();
        self.leaf.form(&values, &compressed, row.tid, out)
    }

    /// The tuple of an inner page with these keys.
    pub(crate) fn form_inner(&self, keys: &[Datum], child: BlockNo) -> Result<Vec<u8>> {
        let mut stored = Vec::with_capacity(keys.len());
        for (column, key) in self.columns.iter().zip(keys) {
            stored.push(column.stored_form(key.as_ref(), false)?);
        }
        let values: Vec<DatumRef<'_>> = stored.iter().map(Key::value).collect();
        let mut out = Vec::new();
        self.inner.form(&values, &[], gist::downlink(child), &mut out)?;
        Ok(out)
    }

    /// The key of a column in a tuple of any page.
    pub(crate) fn key<'a>(&self, tuple: IndexTuple<'a>, column: usize) -> Result<Key<'a>> {
        let Some(raw) = tuple.attr(self.leaf.shape(), column) else {
            return Ok(Key::Stored(DatumRef::Null));
        };
        let key = match self.leaf.plain_datum(column, raw) {
            Some(value) => Key::Stored(value),
            None => {
                let mut bytes = Vec::new();
                access::decompress(raw, &mut bytes)?;
                Key::Computed(Datum::bytes(bytes))
            }
        };
        let own = &self.columns[column];
        if let Some(decompress) = own.decompress
            && let Some(value) = decompress(&own.column, key.value())?
        {
            return Ok(Key::Computed(value));
        }
        Ok(key)
    }

    /// All keys of a tuple.
    pub(crate) fn keys<'a>(&self, tuple: IndexTuple<'a>) -> Result<Vec<Key<'a>>> {
        (0..self.columns.len()).map(|n| self.key(tuple, n)).collect()
    }

    /// Appends the tuple that index-only scans return for a leaf tuple: columns whose values cannot
    /// be had from their keys are NULL. Counterpart: `gistFetchTuple`.
    pub(crate) fn fetch(&self, tuple: IndexTuple<'_>, out: &mut Vec<u8>) -> Result<()> {
        let mut values = Vec::with_capacity(self.leaf.natts());
        let mut scratch = Vec::new();
        for n in 0..self.leaf.natts() {
            let stored = self.leaf.column(tuple, n, &mut scratch)?;
            values.push(match self.columns.get(n) {
                Some(_) if stored.is_null() => Datum::Null,
                Some(KeyColumn { fetch: Some(fetch), column, .. }) => fetch(column, stored)?,
                Some(KeyColumn { compress: Some(_), .. }) => Datum::Null,
                _ => DatumRef::to_owned(stored),
            });
        }
        let values: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
        self.fetched.form(&values, &[], tuple.tid_field(), out)
    }

    /// The unions of the keys of tuples, by column.
    pub(crate) fn unions(&self, tuples: &[IndexTuple<'_>]) -> Result<Vec<Datum>> {
        let mut unions = Vec::with_capacity(self.columns.len());
        for (n, column) in self.columns.iter().enumerate() {
            let keys = tuples.iter().map(|t| self.key(*t, n)).collect::<Result<Vec<_>>>()?;
            let values: Vec<DatumRef<'_>> =
                keys.iter().map(Key::value).filter(|v| !v.is_null()).collect();
            unions.push(column.union(&values)?);
        }
        Ok(unions)
    }

    /// The downlink `old` with a key that covers `new` too; `None` if its key does already.
    /// Counterpart: `gistgetadjusted`.
    pub(crate) fn adjusted(
        &self,
        old: IndexTuple<'_>,
        new: IndexTuple<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let mut unions = Vec::with_capacity(self.columns.len());
        let mut changed = false;
        for (n, column) in self.columns.iter().enumerate() {
            let (a, b) = (self.key(old, n)?, self.key(new, n)?);
            let (a, b) = (a.value(), b.value());
            let union = column.union_of_two(a, b)?;
            // NULLs are below any key.
            if !changed && !b.is_null() {
                changed = a.is_null() || !column.same(a, union.as_ref())?;
            }
            unions.push(union);
        }
        if !changed {
            return Ok(None);
        }
        self.form_inner(&unions, old.tid_field().block).map(Some)
    }

    /// The downlink of an inner page whose key grows least if `tuple` is inserted below it; an
    /// earlier column is more important than a later one. Among equal ones `coin` decides whether
    /// the present one is kept, so that insertions of equal keys do not all fill the first of
    /// several pages, while most of them find the same page. Counterpart: `gistchoose`.
    pub(crate) fn choose(
        &self,
        page: &Page,
        tuple: IndexTuple<'_>,
        coin: &mut dyn FnMut() -> bool,
    ) -> Result<OffsetNo> {
        let new = self.keys(tuple)?;
        let mut best: Vec<f32> = Vec::with_capacity(new.len());
        let mut chosen = 1;
        // Whether the chosen one is kept if there is an equal one; not decided yet: `None`.
        let mut keep: Option<bool> = None;
        for offset in 1..=page.max_offset() {
            let own = GistPage(page).tuple(offset);
            let (mut zero, mut worse) = (true, false);
            for (n, column) in self.columns.iter().enumerate() {
                let penalty = column.penalty(self.key(own, n)?.value(), new[n].value())?;
                zero &= penalty == 0.0;
                match best.get(n) {
                    Some(known) if penalty > *known => {
                        worse = true;
                        break;
                    }
                    Some(known) if penalty == *known => {}
                    _ => {
                        best.truncate(n);
                        best.push(penalty);
                        chosen = offset;
                        keep = None;
                    }
                }
            }
            if worse {
                continue;
            }
            if chosen != offset && !*keep.get_or_insert_with(&mut *coin) {
                chosen = offset;
                keep = None;
            }
            if zero && *keep.get_or_insert_with(&mut *coin) {
                break;
            }
        }
        Ok(chosen)
    }
}

/// The tuple with another TID field.
pub(crate) fn with_tid(mut tuple: Vec<u8>, tid: Tid) -> Vec<u8> {
    tuple[..6].copy_from_slice(&tid.to_bytes());
    tuple
}
