//! Keys of the entry tree: their order, and the tuples that contain them.
//!
//! A *prefix* is the part of a tuple before its posting list: the header, the key, and the category
//! byte of a NULL; its length is even. All tuples with a key are made from its prefix.
//!
//! Counterpart: `ginExtractEntries`, `ginCompareAttEntries` in ginutil.c, `GinFormTuple` in
//! ginentrypage.c.

use access::{IndexColumn, IndexDef, SupportFunction, TupleLayout};
use ids::{Oid, Tid};
use page::gin::{self, ENTRY_SIZE_MAX, Entry};
use page::index_tuple::HEADER_SIZE;
use page::tupdesc::{Align, Attr};
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use std::cmp::Ordering;
use types::compare::{self, CompareFn, Comparer};
use types::gin::{
    Column, ComparePartial, Consistent, ExtractQuery, ExtractValue, Function, Keys, TriConsistent,
};
use types::{DatumRef, TypeInfo};

/// The collation of keys if the index column has none, although the keys may be texts.
const DEFAULT_COLLATION: Oid = Oid(100);

/// What an entry stands for, in the order of entries. Counterpart: `GinNullCategory`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Category {
    /// Before all entries of a column; never stored.
    Start,
    /// A key that is not NULL.
    Normal,
    /// A NULL key.
    NullKey,
    /// A value without keys.
    EmptyItem,
    /// A value that is NULL.
    NullItem,
}

impl Category {
    fn byte(self) -> u8 {
        match self {
            Category::Start => 0xFF,
            Category::Normal => 0,
            Category::NullKey => 1,
            Category::EmptyItem => 2,
            Category::NullItem => 3,
        }
    }

    fn of_byte(byte: u8) -> Option<Category> {
        match byte {
            1 => Some(Category::NullKey),
            2 => Some(Category::EmptyItem),
            3 => Some(Category::NullItem),
            _ => None,
        }
    }
}

/// A key of the entry tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    /// Number of the index column, from 0.
    pub column: usize,
    pub category: Category,
    /// NULL unless the category is `Normal`.
    pub value: DatumRef<'a>,
}

/// How values are ordered by numbers: different numbers have the order of the values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Words {
    /// All numbers are 0.
    None,
    Int2,
    Int4,
    Int8,
    Oid,
    Unsigned,
    /// The first eight bytes.
    Bytes,
}

impl Words {
    fn of(compare: &Comparer) -> Words {
        let is = |f: CompareFn| compare.is(f);
        if is(compare::btint2cmp) {
            Words::Int2
        } else if is(compare::btint4cmp) {
            Words::Int4
        } else if is(compare::btint8cmp) {
            Words::Int8
        } else if is(compare::btoidcmp) {
            Words::Oid
        } else if is(compare::word_cmp) {
            Words::Unsigned
        } else if is(compare::bttextcmp)
            || is(compare::bttextcmp_c)
            || is(compare::bytes_cmp)
            || is(types::textsearch::functions::gin_cmp_tslexeme)
        {
            Words::Bytes
        } else {
            Words::None
        }
    }

    pub(crate) fn word(self, value: DatumRef<'_>) -> u64 {
        match (self, value) {
            (Words::Int2, DatumRef::Word(word)) => i64::from(word as i16) as u64 ^ 1 << 63,
            (Words::Int4, DatumRef::Word(word)) => i64::from(word as i32) as u64 ^ 1 << 63,
            (Words::Int8, DatumRef::Word(word)) => word ^ 1 << 63,
            (Words::Oid, DatumRef::Word(word)) => u64::from(word as u32),
            (Words::Unsigned, DatumRef::Word(word)) => word,
            (Words::Bytes, DatumRef::Bytes(bytes)) => {
                let mut first = [0; 8];
                let len = bytes.len().min(8);
                first[..len].copy_from_slice(&bytes[..len]);
                u64::from_be_bytes(first)
            }
            _ => 0,
        }
    }
}

/// A column of the index, with the functions of its operator class.
pub(crate) struct KeyColumn {
    /// The columns of the tuples with this column's keys.
    layout: TupleLayout,
    pub column: Column,
    /// Unless there are none, keys are equal only if their values are the same.
    pub words: Words,
    extract_value: ExtractValue,
    pub extract_query: ExtractQuery,
    pub consistent: Option<Consistent>,
    pub tri_consistent: Option<TriConsistent>,
    pub compare_partial: Option<ComparePartial>,
}

/// The columns of an index.
pub(crate) struct KeySchema {
    pub columns: Vec<KeyColumn>,
    name: Box<str>,
}

fn type_info(attr: &Attr) -> TypeInfo {
    // What is not known of a type that is not built in, operator classes do not use.
    let known = types::builtin_types::get(attr.type_oid).map(|t| t.info);
    let known = known.unwrap_or_else(|| types::array::payload::builtin_info(types::oids::INT4));
    TypeInfo {
        oid: attr.type_oid,
        len: attr.len,
        by_val: attr.by_val,
        align: match attr.align {
            Align::Char => ids::code::Align::Char,
            Align::Short => ids::code::Align::Short,
            Align::Int => ids::code::Align::Int,
            Align::Double => ids::code::Align::Double,
        },
        ..known
    }
}

impl KeyColumn {
    fn new(def: &IndexDef, number: usize, own: &IndexColumn) -> Result<KeyColumn> {
        let lacks = || {
            let (name, column) = (&def.name, number + 1);
            PgError::internal(format!(
                "missing GIN support function for attribute {column} of index \"{name}\""
            ))
        };
        let function = |wanted: u16| match own.support(wanted) {
            Some(SupportFunction::Gin(function, _)) => Some(*function),
            _ => None,
        };
        let Some(Function::ExtractValue(extract_value)) = function(2) else { return Err(lacks()) };
        let locale = match own.support(2) {
            Some(SupportFunction::Gin(_, locale)) => locale.clone(),
            _ => None,
        };
        let Some(Function::ExtractQuery(extract_query)) = function(3) else { return Err(lacks()) };
        let consistent = match function(4) {
            Some(Function::Consistent(f)) => Some(f),
            _ => None,
        };
        let compare_partial = match function(5) {
            Some(Function::ComparePartial(f)) => Some(f),
            _ => None,
        };
        let tri_consistent = match function(6) {
            Some(Function::TriConsistent(f)) => Some(f),
            _ => None,
        };
        if consistent.is_none() && tri_consistent.is_none() {
            return Err(lacks());
        }
        let number_attr = Attr::new(b"", types::oids::INT2, 2, true, Align::Short);
        let layout = match def.columns.len() {
            1 => TupleLayout::new([&own.attr].into_iter()),
            _ => TupleLayout::new([&number_attr, &own.attr].into_iter()),
        };
        let collation = own.collation.valid().unwrap_or(DEFAULT_COLLATION);
        let compare = def.comparer(number)?.clone();
        Ok(KeyColumn {
            layout,
            words: Words::of(&compare),
            column: Column { key: type_info(&own.attr), collation, compare, locale },
            extract_value,
            extract_query,
            consistent,
            tri_consistent,
            compare_partial,
        })
    }

    /// The order of two keys that are not NULL.
    #[inline]
    fn order(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Ordering {
        self.column.compare.order(a, b, self.column.collation)
    }
}

impl KeySchema {
    pub(crate) fn new(def: &IndexDef) -> Result<KeySchema> {
        let column = |(number, own)| KeyColumn::new(def, number, own);
        let columns = def.columns.iter().enumerate().map(column).collect::<Result<_>>()?;
        Ok(KeySchema { columns, name: def.name.clone() })
    }

    fn is_single(&self) -> bool {
        self.columns.len() == 1
    }

    /// The order of two keys.
    #[inline]
    pub(crate) fn compare(&self, a: &Key<'_>, b: &Key<'_>) -> Ordering {
        let by_kind = a.column.cmp(&b.column).then(a.category.cmp(&b.category));
        if by_kind.is_ne() || a.category != Category::Normal {
            return by_kind;
        }
        self.columns[a.column].order(a.value, b.value)
    }

    /// The key of a tuple. `scratch` is used for compressed values.
    #[inline]
    pub(crate) fn key<'a>(&self, entry: Entry<'a>, scratch: &'a mut Vec<u8>) -> Result<Key<'a>> {
        let column = self.column(entry)?;
        let own = &self.columns[column];
        let at = usize::from(!self.is_single());
        if entry.0.has_nulls() {
            let byte = entry.category_byte(entry.data_offset() + 2 * at);
            let category = Category::of_byte(byte).ok_or_else(|| self.damaged())?;
            return Ok(Key { column, category, value: DatumRef::Null });
        }
        let value = own.layout.column(entry.0, at, scratch)?;
        Ok(Key { column, category: Category::Normal, value })
    }

    /// The column of a tuple, from 0.
    #[inline]
    pub(crate) fn column(&self, entry: Entry<'_>) -> Result<usize> {
        if self.is_single() {
            return Ok(0);
        }
        let at = entry.data_offset();
        let number = match entry.0.bytes().get(at..at + 2) {
            Some(b) => usize::from(u16::from_le_bytes([b[0], b[1]])),
            None => 0,
        };
        if number == 0 || number > self.columns.len() {
            return Err(self.damaged());
        }
        Ok(number - 1)
    }

    #[cold]
    fn damaged(&self) -> PgError {
        let name = &self.name;
        pg_err!(INDEX_CORRUPTED, "index \"{name}\" contains a corrupted entry")
            .hint("Please REINDEX it.")
    }

    /// Appends the prefix of the tuples with a key; its TID field is zero.
    pub(crate) fn push_prefix(&self, key: &Key<'_>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let own = &self.columns[key.column];
        let number = DatumRef::Word(key.column as u64 + 1);
        let tid = Tid::new(ids::BlockNo(0), 0);
        match self.is_single() {
            true => own.layout.form(&[key.value], &[], tid, out)?,
            false => own.layout.form(&[number, key.value], &[], tid, out)?,
        }
        if key.category != Category::Normal {
            let at = 2 * HEADER_SIZE + if self.is_single() { 0 } else { 2 };
            if out.len() <= start + at {
                out.resize((start + at + 1).next_multiple_of(2), 0);
            }
            out[start + at] = key.category.byte();
            let size = out.len() - start;
            gin::set_size(&mut out[start..], size);
        }
        self.check_size((out.len() - start).next_multiple_of(8))
    }

    fn check_size(&self, size: usize) -> Result<()> {
        if size <= ENTRY_SIZE_MAX {
            return Ok(());
        }
        let name = &self.name;
        Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "index row size {size} exceeds maximum {ENTRY_SIZE_MAX} for index \"{name}\""
        ))
    }

    /// Length of the prefix of a tuple of the pending list.
    pub(crate) fn prefix_len(&self, entry: Entry<'_>) -> usize {
        let size = entry.0.bytes().len();
        // The header, the NULL bitmap and the category byte.
        if entry.0.has_nulls() && self.is_single() { size.min(2 * HEADER_SIZE + 2) } else { size }
    }

    /// Appends the tuples of the pending list for a row's column, in order and without duplicates.
    pub(crate) fn push_entries(
        &self,
        column: usize,
        value: DatumRef<'_>,
        tid: Tid,
        keys: &mut Keys,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.each_key_in(column, value, (keys, true), &mut |key| {
            let start = out.len();
            self.push_prefix(key, out)?;
            let size = (out.len() - start).next_multiple_of(8);
            out.resize(start + size, 0);
            gin::set_size(&mut out[start..], size);
            gin::set_row(&mut out[start..], tid);
            Ok(())
        })
    }

    /// Calls `each` with the keys of a row's column, in any order, equal ones without others
    /// between them or with the same bytes.
    pub(crate) fn each_key(
        &self,
        column: usize,
        value: DatumRef<'_>,
        keys: &mut Keys,
        each: &mut dyn FnMut(&Key<'_>) -> Result<()>,
    ) -> Result<()> {
        let sort = self.columns[column].words == Words::None;
        self.each_key_in(column, value, (keys, sort), each)
    }

    /// Calls `each` with the keys of a row's column; with `sort` in order and without duplicates.
    fn each_key_in(
        &self,
        column: usize,
        value: DatumRef<'_>,
        (keys, sort): (&mut Keys, bool),
        each: &mut dyn FnMut(&Key<'_>) -> Result<()>,
    ) -> Result<()> {
        let own = &self.columns[column];
        let mut of_kind =
            |category: Category, value: DatumRef<'_>| each(&Key { column, category, value });
        if value.is_null() {
            return of_kind(Category::NullItem, DatumRef::Null);
        }
        keys.clear();
        (own.extract_value)(&own.column, value, keys)?;
        if keys.is_empty() {
            return of_kind(Category::EmptyItem, DatumRef::Null);
        }
        let mut of_value = |key: DatumRef<'_>| {
            of_kind(if key.is_null() { Category::NullKey } else { Category::Normal }, key)
        };
        if !sort {
            return keys.iter().try_for_each(of_value);
        }
        let order = |a: &DatumRef<'_>, b: &DatumRef<'_>| match (a.is_null(), b.is_null()) {
            (false, false) => own.order(*a, *b),
            (a_null, b_null) => a_null.cmp(&b_null),
        };
        let mut sorted: SmallVec<[DatumRef<'_>; 16]> = keys.iter().collect();
        sorted.sort_by(order);
        sorted.dedup_by(|a, b| order(a, b).is_eq());
        sorted.into_iter().try_for_each(&mut of_value)
    }
}

/// A leaf tuple with a posting list of `count` TIDs; `None` if it would be too large.
pub(crate) fn with_list(prefix: &[u8], list: &[u8], count: usize) -> Option<Vec<u8>> {
    let mut tuple = Vec::new();
    replace_with_list(prefix, (list, count), &mut tuple).then_some(tuple)
}

/// Replaces `tuple` by a leaf tuple with a posting list of `count` TIDs; false if it would be too
/// large.
pub(crate) fn replace_with_list(
    prefix: &[u8],
    (list, count): (&[u8], usize),
    tuple: &mut Vec<u8>,
) -> bool {
    let size = (prefix.len() + list.len()).next_multiple_of(8);
    if size > ENTRY_SIZE_MAX || count >= usize::from(u16::MAX) {
        return false;
    }
    tuple.clear();
    tuple.reserve(size);
    tuple.extend_from_slice(prefix);
    tuple.extend_from_slice(list);
    tuple.resize(size, 0);
    gin::set_size(tuple, size);
    gin::set_posting_list(tuple, prefix.len(), count as u16);
    true
}

/// A leaf tuple whose TIDs are in a posting tree.
pub(crate) fn with_tree(prefix: &[u8], root: ids::BlockNo) -> Vec<u8> {
    let size = prefix.len().next_multiple_of(8);
    let mut tuple = prefix.to_vec();
    tuple.resize(size, 0);
    gin::set_size(&mut tuple, size);
    gin::set_posting_tree(&mut tuple, root);
    tuple
}

/// The tuples that follow one another in `bytes`, each of a size that is a multiple of eight.
#[derive(Clone, Copy)]
pub(crate) struct Tuples<'a>(pub &'a [u8]);

impl<'a> Iterator for Tuples<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.len() < HEADER_SIZE {
            return None;
        }
        let size = Entry::new(self.0).0.size();
        if size < HEADER_SIZE {
            return None;
        }
        let (tuple, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(tuple)
    }
}
