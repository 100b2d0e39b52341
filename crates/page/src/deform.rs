//! Deforming: reading columns from tuples.
//!
//! A [`Deformer`] is made once per row type. Columns before the first NULL or variable-width column
//! have fixed offsets, which it stores; after that, a cursor steps from column to column. A damaged
//! length ends this with an error, and never reads outside the tuple.
//!
//! Counterpart: heaptuple.c (`heap_deform_tuple`), execTuples.c (`slot_deform_heap_tuple`).

use crate::heap_tuple::HeapTuple;
use crate::tupdesc::{Align, Missing, TupleDesc};
use crate::value::Value;
use crate::varlena::{self, Compression, Varlena};
use pgerror::{Result, pg_err};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// By-value, sign-extended from `len` bytes.
    Signed,
    Unsigned,
    Fixed,
    Varlena,
    CString,
}

#[derive(Clone, Debug)]
struct Column {
    kind: Kind,
    align: Align,
    /// Bytes, for kinds of fixed length.
    len: usize,
    /// Offset in the data if no earlier column is NULL or of variable width.
    fixed_at: Option<u32>,
    missing: Option<Missing>,
}

/// Reads the columns of tuples of one row type.
#[derive(Clone, Debug)]
pub struct Deformer {
    columns: Box<[Column]>,
}

impl Deformer {
    pub fn new(desc: &TupleDesc) -> Deformer {
        let mut at = Some(0usize);
        let columns = desc.attrs.iter().map(|attr| {
            let kind = match attr.len {
                -1 => Kind::Varlena,
                -2 => Kind::CString,
                _ if !attr.by_val => Kind::Fixed,
                _ if attr.zero_extends() => Kind::Unsigned,
                _ => Kind::Signed,
            };
            // The first varlena's offset is fixed only if its alignment needs no padding: padding
            // depends on its header.
            let fixed_at = at.and_then(|at| {
                let aligned = attr.align.up(at);
                if kind == Kind::Varlena && aligned != at { None } else { Some(aligned as u32) }
            });
            let len = attr.len.max(0) as usize;
            at = if attr.len > 0 { fixed_at.map(|f| f as usize + len) } else { None };
            Column { kind, align: attr.align, len, fixed_at, missing: attr.missing.clone() }
        });
        Deformer { columns: columns.collect() }
    }

    pub fn len(&self) -> usize {
        self.columns.len()
    }

    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Reads the first `natts` columns into `out` (cleared first).
    pub fn deform<'a>(
        &'a self,
        tuple: &HeapTuple<'a>,
        natts: usize,
        out: &mut Vec<Value<'a>>,
    ) -> Result<()> {
        out.clear();
        let mut cursor = self.cursor(tuple);
        for _ in 0..natts.min(self.columns.len()) {
            out.push(cursor.next()?);
        }
        Ok(())
    }

    /// Reads all columns.
    pub fn deform_all<'a>(&'a self, tuple: &HeapTuple<'a>) -> Result<Vec<Value<'a>>> {
        let mut out = Vec::with_capacity(self.columns.len());
        self.deform(tuple, self.columns.len(), &mut out)?;
        Ok(out)
    }

    /// Reads only column `index` (from 0). Counterpart: `heap_getattr`.
    #[inline]
    pub fn get<'a>(&'a self, tuple: &HeapTuple<'a>, index: usize) -> Result<Value<'a>> {
        self.cursor(tuple).get(index)
    }

    /// The word of by-value column `index` (from 0), if it is at a fixed offset in this tuple.
    /// `None` has no meaning for the column's value.
    // Called for each value of a scan, where a call costs more than the rest of the function.
    #[inline(always)]
    pub fn word_at_fixed_offset(&self, tuple: &HeapTuple<'_>, index: usize) -> Option<u64> {
        let column = self.columns.get(index)?;
        let at = column.fixed_at? as usize;
        if index >= tuple.header.natts() || index >= tuple.leading_not_null() {
            return None;
        }
        match column.kind {
            Kind::Signed | Kind::Unsigned => word(tuple.data().get(at..)?, column),
            _ => None,
        }
    }

    /// The word of by-value column `index` (from 0); `None` if it is NULL or not a by-value column.
    #[inline]
    pub fn word(&self, tuple: &HeapTuple<'_>, index: usize) -> Result<Option<u64>> {
        if let Some(w) = self.word_at_fixed_offset(tuple, index) {
            return Ok(Some(w));
        }
        Ok(match self.get(tuple, index)? {
            Value::Word(w) => Some(w),
            _ => None,
        })
    }

    /// A cursor before the first column.
    #[inline]
    pub fn cursor<'a>(&'a self, tuple: &HeapTuple<'a>) -> Cursor<'a> {
        Cursor {
            columns: &self.columns,
            data: tuple.data(),
            bitmap: tuple.bitmap(),
            stored: tuple.header.natts().min(self.columns.len()),
            not_null: tuple.leading_not_null(),
            next: 0,
            at: 0,
        }
    }
}

/// Reads one tuple's columns in ascending order.
pub struct Cursor<'a> {
    columns: &'a [Column],
    data: &'a [u8],
    bitmap: &'a [u8],
    /// Columns present in the tuple.
    stored: usize,
    /// Columns before the first NULL.
    not_null: usize,
    next: usize,
    at: usize,
}

#[cold]
fn damaged() -> pgerror::PgError {
    pg_err!(DATA_CORRUPTED, "heap tuple is damaged: a column reaches beyond its end")
}

impl<'a> Cursor<'a> {
    #[inline]
    fn is_null(&self, index: usize) -> bool {
        index >= self.not_null
            && self.bitmap.get(index / 8).is_none_or(|b| b >> (index % 8) & 1 == 0)
    }

    /// Reads column `index` (from 0), which must not precede the columns read already.
    #[inline]
    pub fn get(&mut self, index: usize) -> Result<Value<'a>> {
        debug_assert!(index >= self.next);
        if index >= self.stored {
            self.next = index;
            return self.next();
        }
        // Before the first NULL the fixed offsets are valid; later columns are found from here.
        if index < self.not_null
            && index > self.next
            && let Some(at) = self.columns[index].fixed_at
        {
            self.next = index;
            self.at = at as usize;
        }
        while self.next < index {
            self.skip()?;
        }
        self.next()
    }

    #[inline]
    fn skip(&mut self) -> Result<()> {
        let column = &self.columns[self.next];
        if self.is_null(self.next) {
            self.next += 1;
            return Ok(());
        }
        let start = self.start(column);
        let rest = self.data.get(start..).ok_or_else(damaged)?;
        let len = match column.kind {
            Kind::Varlena => varlena::total_len(rest).ok_or_else(damaged)?,
            Kind::CString => rest.iter().position(|&b| b == 0).ok_or_else(damaged)? + 1,
            _ => column.len,
        };
        self.at = start + len;
        self.next += 1;
        Ok(())
    }

    /// Start of the present column: a varlena with a short header is not aligned; its first byte is
    /// not zero, as padding is.
    #[inline]
    fn start(&self, column: &Column) -> usize {
        if column.kind == Kind::Varlena && self.data.get(self.at).is_some_and(|&b| b != 0) {
            return self.at;
        }
        column.align.up(self.at)
    }

    /// Reads the next column; beyond the stored ones, its missing value or NULL.
    #[inline]
    #[allow(clippy::should_implement_trait)] // fallible, and never at an end
    pub fn next(&mut self) -> Result<Value<'a>> {
        let index = self.next;
        let Some(column) = self.columns.get(index) else {
            return Err(pg_err!(INTERNAL_ERROR, "invalid column number {}", index + 1));
        };
        if index >= self.stored {
            self.next += 1;
            return Ok(match &column.missing {
                None => Value::Null,
                Some(Missing::Word(w)) => Value::Word(*w),
                Some(Missing::Bytes(b)) => Value::Bytes(b),
            });
        }
        if self.is_null(index) {
            self.next += 1;
            return Ok(Value::Null);
        }
        let start = self.start(column);
        let rest = self.data.get(start..).ok_or_else(damaged)?;
        let (value, len) = match column.kind {
            Kind::Signed | Kind::Unsigned => {
                (Value::Word(word(rest, column).ok_or_else(damaged)?), column.len)
            }
            Kind::Fixed => (Value::Bytes(rest.get(..column.len).ok_or_else(damaged)?), column.len),
            Kind::CString => {
                let end = rest.iter().position(|&b| b == 0).ok_or_else(damaged)?;
                (Value::Bytes(&rest[..end]), end + 1)
            }
            Kind::Varlena => {
                let len = varlena::total_len(rest).ok_or_else(damaged)?;
                let whole = rest.get(..len).ok_or_else(damaged)?;
                let first = whole[0];
                let value = if first & 1 == 1 && first != 1 {
                    Value::Bytes(&whole[1..])
                } else if first & 3 == 0 {
                    Value::Bytes(&whole[varlena::HEADER_SIZE..])
                } else {
                    Value::Raw(whole)
                };
                (value, len)
            }
        };
        self.at = start + len;
        self.next += 1;
        Ok(value)
    }
}

/// How a value is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredForm {
    /// Bytes with the header; of a value in the TOAST table those there.
    pub size: usize,
    pub compression: Option<Compression>,
}

impl Deformer {
    /// How the value of column `index` (from 0) is stored; `None` if it is NULL.
    pub fn stored_form(&self, tuple: &HeapTuple<'_>, index: usize) -> Result<Option<StoredForm>> {
        let plain = |size| Some(StoredForm { size, compression: None });
        let mut cursor = self.cursor(tuple);
        let Some(column) = self.columns.get(index) else { return Ok(None) };
        if index >= cursor.stored {
            // The missing value has a long header.
            return Ok(match (&column.missing, column.kind) {
                (None, _) => None,
                (Some(Missing::Bytes(b)), Kind::Varlena) => plain(b.len() + varlena::HEADER_SIZE),
                _ => plain(column.len),
            });
        }
        if cursor.is_null(index) {
            return Ok(None);
        }
        while cursor.next < index {
            cursor.skip()?;
        }
        let rest = tuple.data().get(cursor.start(column)..).ok_or_else(damaged)?;
        if column.kind == Kind::CString {
            return Ok(plain(rest.iter().position(|&b| b == 0).ok_or_else(damaged)? + 1));
        }
        if column.kind != Kind::Varlena {
            return Ok(plain(column.len));
        }
        let len = varlena::total_len(rest).ok_or_else(damaged)?;
        Ok(Some(match Varlena::parse(rest).ok_or_else(damaged)? {
            Varlena::Plain(_) => StoredForm { size: len, compression: None },
            Varlena::Compressed { method, .. } => {
                StoredForm { size: len, compression: Some(method) }
            }
            Varlena::External(pointer) => {
                StoredForm { size: pointer.ext_size as usize, compression: pointer.method }
            }
        }))
    }
}

#[inline]
fn word(rest: &[u8], column: &Column) -> Option<u64> {
    let signed = column.kind == Kind::Signed;
    Some(match column.len {
        8 => u64::from_le_bytes(*rest.first_chunk()?),
        4 => {
            let w = u32::from_le_bytes(*rest.first_chunk()?);
            if signed { w as i32 as i64 as u64 } else { u64::from(w) }
        }
        2 => {
            let w = u16::from_le_bytes(*rest.first_chunk()?);
            if signed { w as i16 as i64 as u64 } else { u64::from(w) }
        }
        1 => {
            let w = *rest.first()?;
            if signed { w as i8 as i64 as u64 } else { u64::from(w) }
        }
        _ => return None,
    })
}
