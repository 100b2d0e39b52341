//! Forming tuples from values.
//!
//! Each column is aligned as its type requires; varlenas that fit are stored with a one-byte header
//! and then unaligned, as are TOAST pointers. Padding is zero.
//!
//! Counterpart: heaptuple.c (`heap_compute_data_size`, `heap_fill_tuple`, `heap_form_tuple`).

use crate::header::max_align;
use crate::heap_tuple::{HEADER_SIZE, HeapTupleHeader, bitmap_len, infomask};
use crate::tupdesc::{Attr, TupleDesc};
use crate::value::Value;
use crate::{heap_tuple, varlena};
use pgerror::{Result, pg_err};

/// The stored form of a value.
enum Stored<'a> {
    Word(u64),
    Fixed(&'a [u8]),
    /// Zero-terminated.
    CString(&'a [u8]),
    /// Payload with a one-byte header.
    Short(&'a [u8]),
    /// Payload with a four-byte header, aligned.
    Long(&'a [u8]),
    /// With its own header, not aligned.
    Unaligned(&'a [u8]),
    Aligned(&'a [u8]),
}

#[cold]
fn wrong_form(attr: &Attr, value: &Value<'_>) -> pgerror::PgError {
    let name = String::from_utf8_lossy(&attr.name).into_owned();
    pg_err!(INTERNAL_ERROR, "value of column \"{name}\" has the wrong form: {value:?}")
}

/// The stored form of `value` (not NULL) in a column like `attr`.
#[inline]
fn stored<'a>(attr: &Attr, value: &Value<'a>) -> Result<Stored<'a>> {
    Ok(match (*value, attr.len) {
        (Value::Word(w), 1..=8) if attr.by_val => Stored::Word(w),
        (Value::Bytes(b), -1) => {
            if attr.is_packable() && b.len() < varlena::SHORT_MAX {
                Stored::Short(b)
            } else {
                Stored::Long(b)
            }
        }
        (Value::Raw(b), -1) => match b.first() {
            Some(f) if f & 1 == 1 => Stored::Unaligned(b),
            Some(f) if f & 3 == 0 && attr.is_packable() && b.len() - 3 <= varlena::SHORT_MAX => {
                Stored::Short(b.get(varlena::HEADER_SIZE..).unwrap_or(&[]))
            }
            Some(_) => Stored::Aligned(b),
            None => return Err(wrong_form(attr, value)),
        },
        (Value::Bytes(b), -2) => Stored::CString(b),
        (Value::Bytes(b), n) if n > 0 && b.len() == n as usize && !attr.by_val => Stored::Fixed(b),
        _ => return Err(wrong_form(attr, value)),
    })
}

impl Stored<'_> {
    /// Start and end of the value if the column data so far ends at `at`.
    #[inline]
    fn range(&self, attr: &Attr, at: usize) -> (usize, usize) {
        let aligned = attr.align.up(at);
        match self {
            Stored::Word(_) => (aligned, aligned + attr.len as usize),
            Stored::Fixed(b) => (aligned, aligned + b.len()),
            Stored::CString(b) => (aligned, aligned + b.len() + 1),
            Stored::Short(b) => (at, at + b.len() + 1),
            Stored::Long(b) => (aligned, aligned + b.len() + varlena::HEADER_SIZE),
            Stored::Unaligned(b) => (at, at + b.len()),
            Stored::Aligned(b) => (aligned, aligned + b.len()),
        }
    }
}

/// Size of the columns' data in bytes. Counterpart: `heap_compute_data_size`.
pub fn data_size(desc: &TupleDesc, values: &[Value<'_>]) -> Result<usize> {
    let mut end = 0;
    for (attr, value) in desc.attrs.iter().zip(values) {
        if !value.is_null() {
            end = stored(attr, value)?.range(attr, end).1;
        }
    }
    Ok(end)
}

/// Appends the columns to `out`, offsets counted from its present end, and returns the infomask
/// bits (HASVARWIDTH, HASEXTERNAL). NULLs take no space; the caller writes the bitmap.
pub fn fill(desc: &TupleDesc, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<u16> {
    let base = out.len();
    let mut mask = 0;
    for (attr, value) in desc.attrs.iter().zip(values) {
        if value.is_null() {
            continue;
        }
        let form = stored(attr, value)?;
        let (begin, _) = form.range(attr, out.len() - base);
        out.resize(base + begin, 0);
        if attr.len < 0 {
            mask |= infomask::HASVARWIDTH;
        }
        match form {
            // Copies of constant length are cheaper.
            Stored::Word(w) if attr.len == 4 => out.extend_from_slice(&(w as u32).to_le_bytes()),
            Stored::Word(w) if attr.len == 8 => out.extend_from_slice(&w.to_le_bytes()),
            Stored::Word(w) => out.extend_from_slice(&w.to_le_bytes()[..attr.len as usize]),
            Stored::Fixed(b) | Stored::Aligned(b) => out.extend_from_slice(b),
            Stored::Unaligned(b) => {
                if varlena::is_external(b) {
                    mask |= infomask::HASEXTERNAL;
                }
                out.extend_from_slice(b);
            }
            Stored::CString(b) => {
                out.extend_from_slice(b);
                out.push(0);
            }
            Stored::Short(b) => {
                out.push(((b.len() + 1) << 1 | 1) as u8);
                out.extend_from_slice(b);
            }
            Stored::Long(b) => {
                out.extend_from_slice(&varlena::long_header(b.len()));
                out.extend_from_slice(b);
            }
        }
    }
    Ok(mask)
}

/// Forms a heap tuple into `out` (cleared first): header with the number of columns, `t_hoff`, null
/// bitmap and data bits; XIDs and the TID are left invalid for the heap to fill in.
/// `values.len()` must be the number of columns. Counterpart: `heap_form_tuple`.
pub fn form_into(desc: &TupleDesc, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    form_append(desc, values, out)
}

/// As [`form_into`], but appends to `out`.
pub fn form_append(desc: &TupleDesc, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
    let natts = desc.attrs.len();
    if natts > heap_tuple::MAX_TUPLE_ATTRIBUTES {
        return Err(pg_err!(
            TOO_MANY_COLUMNS,
            "number of columns ({natts}) exceeds limit ({})",
            heap_tuple::MAX_TUPLE_ATTRIBUTES
        ));
    }
    if values.len() != natts {
        return Err(pg_err!(INTERNAL_ERROR, "{} values for {natts} columns", values.len()));
    }
    let base = out.len();
    let has_nulls = values.iter().any(Value::is_null_ref);
    let hoff = max_align(HEADER_SIZE + if has_nulls { bitmap_len(natts) } else { 0 });
    out.resize(base + hoff, 0);
    if has_nulls {
        let bitmap = &mut out[base + HEADER_SIZE..];
        for (i, value) in values.iter().enumerate() {
            if !value.is_null() {
                bitmap[i / 8] |= 1 << (i % 8);
            }
        }
    }
    let mut mask = fill(desc, values, out)?;
    if has_nulls {
        mask |= infomask::HASNULL;
    }
    let mut header =
        HeapTupleHeader { infomask: mask, hoff: hoff as u8, ..HeapTupleHeader::default() };
    header.set_natts(natts);
    header.write(&mut out[base..]);
    Ok(())
}

/// As [`form_into`], into a new vector.
pub fn form(desc: &TupleDesc, values: &[Value<'_>]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    form_into(desc, values, &mut out)?;
    Ok(out)
}
