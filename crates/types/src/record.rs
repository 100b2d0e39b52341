//! Row values. The payload of a composite (the varlena without its length word) is a heap tuple:
//!
//! ```text
//! 0       4    8     14            16          18     19
//! typmod  type ctid  natts+flags2  infomask    hoff   null bitmap, padding, columns
//! ```
//!
//! Offsets of columns count from four bytes before the payload, where the length word is on disk.
//! Counterpart: rowtypes.c, htup_details.h.

use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use std::sync::Arc;
use values::array::payload;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, RowDesc, TypeInfo};
use values::limits::{ALLOCATION_BYTES_MAX, TextBuffer};
use values::quoted::Escape;
use values::type_io::{Reader, is_space};
use values::{hash, oids, quoted};

const HEADER: usize = 23;
const HAS_NULL: u16 = 1;
const HAS_VARWIDTH: u16 = 2;
/// Flags of a header that contains the type's version.
const VERSIONED: u16 = 0x0c00;
const VERSIONED_OFFSET: u16 = 0xfffc;

/// Row type and typmod of a row value. XX001 if its header is damaged.
pub fn type_of(d: DatumRef<'_>) -> Result<(Oid, i32)> {
    let b = d.as_bytes();
    Header::of(b).ok_or_else(|| pg_err!(DATA_CORRUPTED, "row value is corrupted"))?;
    let word = |at: usize| i32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
    let ty = Oid(word(4) as u32);
    // For a named type the field is a version or unused.
    Ok((ty, if ty == oids::RECORD { word(0) } else { -1 }))
}

/// What the header of a row value says about its columns.
struct Header<'a> {
    natts: usize,
    /// A bit for each column that is not NULL; `None` without NULLs.
    nulls: Option<&'a [u8]>,
    data: &'a [u8],
}

impl<'a> Header<'a> {
    /// The header of a payload; `None` if it is damaged.
    fn of(b: &'a [u8]) -> Option<Header<'a>> {
        let (fixed, _) = b.split_first_chunk::<{ HEADER - 4 }>()?;
        let natts = usize::from(u16::from_le_bytes([fixed[14], fixed[15]]) & 0x7ff);
        let has_null = u16::from_le_bytes([fixed[16], fixed[17]]) & HAS_NULL != 0;
        let start = usize::from(fixed[18]).checked_sub(4)?;
        let nulls = b.get(HEADER - 4..start)?;
        let is_long = !has_null || nulls.len() >= natts.div_ceil(8);
        is_long.then(|| Header { natts, nulls: has_null.then_some(nulls), data: &b[start..] })
    }
}

fn align_up(n: usize, to: usize) -> usize {
    n.div_ceil(to) * to
}

/// Builds a row value of type `ty` (`record` and a typmod for anonymous types). A type's `version`
/// other than 0 is stored in the header, where PostgreSQL since 15.20 looks for it: in place of the
/// typmod, its upper half in the ctid.
pub fn form(
    ty: Oid,
    typmod: i32,
    version: u64,
    columns: &[(TypeInfo, DatumRef<'_>)],
) -> Result<Datum> {
    let has_null = columns.iter().any(|(_, v)| v.is_null());
    let bitmap = if has_null { columns.len().div_ceil(8) } else { 0 };
    let hoff = align_up(HEADER + bitmap, 8);
    let mut infomask = if has_null { HAS_NULL } else { 0 };
    // There is space for the length word in front, so that offsets are those on disk.
    let data = data_bytes(columns);
    if hoff.saturating_add(data) > ALLOCATION_BYTES_MAX {
        return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "tuple is too big"));
    }
    let mut out = vec![0u8; hoff];
    out[4..8].copy_from_slice(&typmod.to_le_bytes());
    out[8..12].copy_from_slice(&ty.0.to_le_bytes());
    out[12..18].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0]);
    if version != 0 {
        let upper = (version >> 32) as u32;
        out[4..8].copy_from_slice(&(version as u32).to_le_bytes());
        out[12..14].copy_from_slice(&((upper >> 16) as u16).to_le_bytes());
        out[14..16].copy_from_slice(&(upper as u16).to_le_bytes());
        out[16..18].copy_from_slice(&VERSIONED_OFFSET.to_le_bytes());
        infomask |= VERSIONED;
    }
    for (i, (info, value)) in columns.iter().enumerate() {
        if info.len < 0 {
            infomask |= if value.is_null() { 0 } else { HAS_VARWIDTH };
        }
        if value.is_null() {
            continue;
        }
        if has_null {
            out[HEADER + i / 8] |= 1 << (i % 8);
        }
        let align = |out: &mut Vec<u8>| {
            let at = align_up(out.len() - hoff, info.align_bytes());
            out.resize(hoff + at, 0);
        };
        match (*value, info.len) {
            (DatumRef::Word(w), len) => {
                align(&mut out);
                out.extend_from_slice(&w.to_le_bytes()[..len as usize]);
            }
            (DatumRef::Bytes(b), -1) if b.len() < 127 => {
                // A value with a short header needs no alignment.
                out.push(((b.len() as u8 + 1) << 1) | 1);
                out.extend_from_slice(b);
            }
            (DatumRef::Bytes(b), -1) => {
                align(&mut out);
                out.extend_from_slice(&((b.len() as u32 + 4) << 2).to_le_bytes());
                out.extend_from_slice(b);
            }
            (DatumRef::Bytes(b), -2) => {
                out.extend_from_slice(b);
                out.push(0);
            }
            (DatumRef::Bytes(b), _) => {
                align(&mut out);
                out.extend_from_slice(b);
            }
            (DatumRef::Null, _) => {}
        }
    }
    out[18..20].copy_from_slice(&(columns.len() as u16).to_le_bytes());
    out[20..22].copy_from_slice(&infomask.to_le_bytes());
    out[22] = hoff as u8;
    out.drain(..4);
    Ok(Datum::bytes(out))
}

/// Size of the columns' values in bytes, padding between them included.
fn data_bytes(columns: &[(TypeInfo, DatumRef<'_>)]) -> usize {
    columns.iter().fold(0usize, |at, (info, value)| match (value, info.len) {
        (DatumRef::Null, _) => at,
        (DatumRef::Bytes(b), -1) if b.len() < 127 => at.saturating_add(b.len() + 1),
        (DatumRef::Bytes(b), -1) => align_up(at, info.align_bytes()).saturating_add(b.len() + 4),
        (DatumRef::Bytes(b), -2) => at.saturating_add(b.len() + 1),
        (DatumRef::Bytes(b), _) => align_up(at, info.align_bytes()).saturating_add(b.len()),
        (DatumRef::Word(_), len) => {
            align_up(at, info.align_bytes()).saturating_add(len.max(0) as usize)
        }
    })
}

/// Extracts the columns of a row value; columns added to the type later are NULL. If the header is
/// damaged, which [`type_of`] reports, all are NULL.
pub fn deform<'a>(d: DatumRef<'a>, columns: &[TypeInfo]) -> Vec<DatumRef<'a>> {
    fields(d, columns).collect()
}

/// Like [`deform`], lazily.
pub fn fields<'a, 'c>(
    d: DatumRef<'a>,
    columns: &'c [TypeInfo],
) -> impl ExactSizeIterator<Item = DatumRef<'a>> + use<'a, 'c> {
    let header = Header::of(d.as_bytes());
    let header = header.unwrap_or(Header { natts: 0, nulls: None, data: &[] });
    let mut at = 0;
    columns.iter().enumerate().map(move |(i, info)| {
        let is_null = |nulls: &[u8]| nulls[i / 8] >> (i % 8) & 1 == 0;
        if i >= header.natts || header.nulls.is_some_and(is_null) {
            return DatumRef::Null;
        }
        let (value, end) = payload::read_element(info, header.data, at);
        at = end;
        value
    })
}

fn described(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Arc<RowDesc>> {
    let (ty, typmod) = type_of(d)?;
    cx.row_desc(ty, typmod)
}

fn malformed(text: &[u8], detail: &str) -> PgError {
    pg_err!(
        INVALID_TEXT_REPRESENTATION,
        "malformed record literal: \"{}\"",
        values::type_io::lossy_text(text)
    )
    .detail(detail)
}

/// Parses one field up to a comma or the closing parenthesis; `None` is NULL (an empty field).
fn field(text: &[u8], at: &mut usize) -> Result<Option<Vec<u8>>> {
    if matches!(text.get(*at), Some(b',' | b')')) {
        return Ok(None);
    }
    let mut out = Vec::new();
    let mut quoted = false;
    loop {
        let Some(&c) = text.get(*at) else {
            return Err(malformed(text, "Unexpected end of input."));
        };
        if !quoted && matches!(c, b',' | b')') {
            return Ok(Some(out));
        }
        *at += 1;
        match c {
            b'\\' => {
                let Some(&c) = text.get(*at) else {
                    return Err(malformed(text, "Unexpected end of input."));
                };
                out.push(c);
                *at += 1;
            }
            b'"' if !quoted => quoted = true,
            b'"' if text.get(*at) == Some(&b'"') => {
                out.push(b'"');
                *at += 1;
            }
            b'"' => quoted = false,
            c => out.push(c),
        }
    }
}

fn input(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let (text, ty, typmod) = (a[0].as_bytes(), a[1].as_oid(), a[2].as_i32());
    if ty == values::oids::RECORD && typmod < 0 {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "input of anonymous composite types is not implemented"
        ));
    }
    let desc = cx.row_desc(ty, typmod)?;
    let types = desc.types(cx)?;
    let mut at = text.iter().position(|&c| !is_space(c)).unwrap_or(text.len());
    if text.get(at) != Some(&b'(') {
        return Err(malformed(text, "Missing left parenthesis."));
    }
    at += 1;
    let mut values = Vec::with_capacity(types.len());
    let mut first = true;
    for c in &desc.columns {
        if c.is_dropped() {
            values.push(Datum::Null);
            continue;
        }
        if !first {
            if text.get(at) != Some(&b',') {
                return Err(malformed(text, "Too few columns."));
            }
            at += 1;
        }
        first = false;
        values.push(match field(text, &mut at)? {
            None => Datum::Null,
            Some(t) => cx.type_input(c.ty, &t, c.typmod)?,
        });
    }
    if text.get(at) != Some(&b')') {
        return Err(malformed(text, "Too many columns."));
    }
    if text[at + 1..].iter().any(|&c| !is_space(c)) {
        return Err(malformed(text, "Junk after right parenthesis."));
    }
    let columns: Vec<_> = types.iter().copied().zip(values.iter().map(Datum::as_ref)).collect();
    form(ty, typmod, desc.version, &columns)
}

/// Text form of a row.
pub fn record_out(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Vec<u8>> {
    let desc = described(cx, d)?;
    let types = desc.types(cx)?;
    let mut out = TextBuffer::from(b"(".as_slice());
    let mut first = true;
    for (c, v) in desc.columns.iter().zip(deform(d, types)) {
        if c.is_dropped() {
            continue;
        }
        if !first {
            out.push(b',');
        }
        first = false;
        if v.is_null() {
            continue;
        }
        let text = cx.type_output(c.ty, v)?;
        let quote = text.is_empty()
            || text.iter().any(|&c| matches!(c, b'"' | b'\\' | b'(' | b')' | b',') || is_space(c));
        if !quote {
            out.extend_from_slice(&text);
            out.check()?;
            continue;
        }
        quoted::push(cx, &mut out, &text, Escape::Double)?;
    }
    out.push(b')');
    out.into_bytes()
}

fn recv(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let (ty, typmod) = (a[1].as_oid(), a[2].as_i32());
    if ty == values::oids::RECORD && typmod < 0 {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "input of anonymous composite types is not implemented"
        ));
    }
    let desc = cx.row_desc(ty, typmod)?;
    let types = desc.types(cx)?;
    let mut r = Reader::new(a[0].as_bytes());
    let count = r.i32()?;
    let live = desc.columns.iter().filter(|c| !c.is_dropped()).count();
    if usize::try_from(count) != Ok(live) {
        return Err(pg_err!(
            DATATYPE_MISMATCH,
            "wrong number of columns: {count}, expected {live}"
        ));
    }
    let mut values = Vec::with_capacity(types.len());
    for (i, c) in desc.columns.iter().enumerate() {
        if c.is_dropped() {
            values.push(Datum::Null);
            continue;
        }
        let sent = Oid(r.u32()?);
        if values::type_io::is_other_type(sent, c.ty) {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "binary data has type {sent} ({}) instead of expected {} ({}) in record column {}",
                cx.type_name(sent, None).unwrap_or_else(|_| "???".into()),
                c.ty,
                cx.type_name(c.ty, None)?,
                i + 1
            ));
        }
        let len = r.i32()?;
        values.push(if len == -1 {
            Datum::Null
        } else {
            let bytes = usize::try_from(len).ok().and_then(|len| r.rest().get(..len));
            let bytes = bytes.ok_or_else(|| {
                pg_err!(INVALID_BINARY_REPRESENTATION, "insufficient data left in message")
            })?;
            let bytes = r.bytes(bytes.len())?;
            cx.type_recv(c.ty, bytes, c.typmod).map_err(
                |e| match values::type_io::is_excess_data(&e) {
                    true => pg_err!(
                        INVALID_BINARY_REPRESENTATION,
                        "improper binary format in record column {}",
                        i + 1
                    ),
                    false => e,
                },
            )?
        });
    }
    r.end()?;
    let columns: Vec<_> = types.iter().copied().zip(values.iter().map(Datum::as_ref)).collect();
    form(ty, typmod, desc.version, &columns)
}

fn send(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let desc = described(cx, d)?;
    let types = desc.types(cx)?;
    let live = desc.columns.iter().filter(|c| !c.is_dropped()).count();
    let mut out = TextBuffer::from((live as u32).to_be_bytes().as_slice());
    for (c, v) in desc.columns.iter().zip(deform(d, types)) {
        if c.is_dropped() {
            continue;
        }
        out.extend_from_slice(&c.ty.0.to_be_bytes());
        if v.is_null() {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            continue;
        }
        let bytes = cx.type_send(c.ty, v)?;
        out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        out.extend_from_slice(&bytes);
        out.check()?;
    }
    out.into_datum()
}

/// Indexes of the columns that are not dropped.
fn live(d: &RowDesc) -> Vec<usize> {
    (0..d.columns.len()).filter(|&i| !d.columns[i].is_dropped()).collect()
}

/// Compares two rows column by column, NULLs last.
pub fn compare(cx: &mut dyn FnContext, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<Ordering> {
    compare_by(cx, a, b, |cx, ty, x, y, collation| cx.type_compare(ty, x, y, collation))
}

/// Equality of two rows. The columns' types need not have an ordering.
fn equal(cx: &mut dyn FnContext, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    let order = compare_by(cx, a, b, |cx, ty, x, y, collation| {
        let equal = cx.type_equal(ty, x, y, collation)?;
        Ok(if equal { Ordering::Equal } else { Ordering::Less })
    })?;
    Ok(order.is_eq())
}

/// Like [`compare`], with a given comparison of two values of a type under a collation.
fn compare_by(
    cx: &mut dyn FnContext,
    a: DatumRef<'_>,
    b: DatumRef<'_>,
    values: impl Fn(&mut dyn FnContext, Oid, DatumRef<'_>, DatumRef<'_>, Oid) -> Result<Ordering>,
) -> Result<Ordering> {
    let (d1, d2) = (described(cx, a)?, described(cx, b)?);
    let (t1, t2) = (d1.types(cx)?, d2.types(cx)?);
    let (v1, v2) = (deform(a, t1), deform(b, t2));
    let (l1, l2) = (live(&d1), live(&d2));
    for (n, (&i, &j)) in l1.iter().zip(&l2).enumerate() {
        let (c1, c2) = (&d1.columns[i], &d2.columns[j]);
        check_same_type(cx, c1.ty, c2.ty, n)?;
        let order = match (v1[i].is_null(), v2[j].is_null()) {
            (true, true) => Ordering::Equal,
            (false, false) => {
                let collation = if c1.collation == c2.collation { c1.collation } else { Oid(0) };
                values(cx, c1.ty, v1[i], v2[j], collation)?
            }
            (x, y) => x.cmp(&y),
        };
        if order.is_ne() {
            return Ok(order);
        }
    }
    if l1.len() != l2.len() {
        return Err(pg_err!(
            DATATYPE_MISMATCH,
            "cannot compare record types with different numbers of columns"
        ));
    }
    Ok(Ordering::Equal)
}

/// 42804 if column `n` (0-based) has different types in the two rows.
fn check_same_type(cx: &mut dyn FnContext, a: Oid, b: Oid, n: usize) -> Result<()> {
    if a == b {
        return Ok(());
    }
    Err(pg_err!(
        DATATYPE_MISMATCH,
        "cannot compare dissimilar column types {} and {} at record column {}",
        cx.type_name(a, None)?,
        cx.type_name(b, None)?,
        n + 1
    ))
}

/// Compares the images of two rows: the bytes of the columns. A value that is a prefix of another
/// one is less.
fn compare_images(cx: &mut dyn FnContext, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<Ordering> {
    let (d1, d2) = (described(cx, a)?, described(cx, b)?);
    let (t1, t2) = (d1.types(cx)?, d2.types(cx)?);
    let (v1, v2) = (deform(a, t1), deform(b, t2));
    let (l1, l2) = (live(&d1), live(&d2));
    for (n, (&i, &j)) in l1.iter().zip(&l2).enumerate() {
        check_same_type(cx, d1.columns[i].ty, d2.columns[j].ty, n)?;
        let order = match (v1[i], v2[j]) {
            (DatumRef::Null, DatumRef::Null) => Ordering::Equal,
            (DatumRef::Word(x), DatumRef::Word(y)) => x.cmp(&y),
            (DatumRef::Bytes(x), DatumRef::Bytes(y)) => x.cmp(y),
            (x, y) => x.is_null().cmp(&y.is_null()),
        };
        if order.is_ne() {
            return Ok(order);
        }
    }
    if l1.len() != l2.len() {
        return Err(pg_err!(
            DATATYPE_MISMATCH,
            "cannot compare record types with different numbers of columns"
        ));
    }
    Ok(Ordering::Equal)
}

fn hash_row(cx: &mut dyn FnContext, d: DatumRef<'_>, seed: Option<u64>) -> Result<u64> {
    let desc = described(cx, d)?;
    let types = desc.types(cx)?;
    let (mut h32, mut h64) = (0u32, 0u64);
    for (c, v) in desc.columns.iter().zip(deform(d, types)) {
        if c.is_dropped() {
            continue;
        }
        // Nothing is known about the columns of an anonymous row in advance.
        if matches!(c.ty, oids::RECORD | oids::UNKNOWN) {
            let name = cx.type_name(c.ty, None)?;
            let message = format!("could not identify a hash function for type {name}");
            return Err(PgError::new(pgerror::SqlState::UNDEFINED_FUNCTION, message));
        }
        let h = if v.is_null() { 0 } else { cx.type_hash(c.ty, v, c.collation, seed)? };
        h32 = (h32 << 5).wrapping_sub(h32).wrapping_add(h as u32);
        h64 = (h64 << 5).wrapping_sub(h64).wrapping_add(h);
    }
    Ok(if seed.is_some() { h64 } else { h32.into() })
}

scalars! { FNS;
    "record_in" => input,
    "record_out" => |cx, a| Ok(Datum::bytes(record_out(cx, a[0])?)),
    "record_recv" => recv,
    "record_send" => |cx, a| send(cx, a[0]),
    "record_eq" => |cx, a| Ok(Datum::bool(equal(cx, a[0], a[1])?)),
    "record_ne" => |cx, a| Ok(Datum::bool(!equal(cx, a[0], a[1])?)),
    "record_lt" => |cx, a| Ok(Datum::bool(compare(cx, a[0], a[1])?.is_lt())),
    "record_le" => |cx, a| Ok(Datum::bool(compare(cx, a[0], a[1])?.is_le())),
    "record_gt" => |cx, a| Ok(Datum::bool(compare(cx, a[0], a[1])?.is_gt())),
    "record_ge" => |cx, a| Ok(Datum::bool(compare(cx, a[0], a[1])?.is_ge())),
    "btrecordcmp" => |cx, a| Ok(Datum::int4(compare(cx, a[0], a[1])? as i32)),
    "record_image_eq" => |cx, a| Ok(Datum::bool(compare_images(cx, a[0], a[1])?.is_eq())),
    "record_image_ne" => |cx, a| Ok(Datum::bool(compare_images(cx, a[0], a[1])?.is_ne())),
    "record_image_lt" => |cx, a| Ok(Datum::bool(compare_images(cx, a[0], a[1])?.is_lt())),
    "record_image_le" => |cx, a| Ok(Datum::bool(compare_images(cx, a[0], a[1])?.is_le())),
    "record_image_gt" => |cx, a| Ok(Datum::bool(compare_images(cx, a[0], a[1])?.is_gt())),
    "record_image_ge" => |cx, a| Ok(Datum::bool(compare_images(cx, a[0], a[1])?.is_ge())),
    "btrecordimagecmp" => |cx, a| Ok(Datum::int4(compare_images(cx, a[0], a[1])? as i32)),
    "hash_record" => |cx, a| Ok(hash::h32(hash_row(cx, a[0], None)? as u32)),
    "hash_record_extended" => |cx, a| Ok(hash::h64(hash_row(cx, a[0], Some(a[1].word()))?)),
}
