//! System types: oid, xid, xid8, cid, tid, pg_lsn, oidvector, int2vector, uuid, void, cstring,
//! unknown. Counterpart: oid.c, xid.c, tid.c, pg_lsn.c, uuid.c, int.c, pseudotypes.c.

use ids::{BlockNo, Lsn, Oid, Tid};
use pgerror::{Result, pg_err};
use std::cmp::Ordering;
use values::array::io::read_array;
use values::array::payload::ArrayRef;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::hash::{h32, h64, hash_bytes, hash_bytes_extended, hash_int8, hash_int8_extended};
use values::oids;
use values::type_io::{Reader, bad_syntax, is_space, text_out_of_range, trim_space};

/// The value of a tid datum.
pub fn tid_of(d: DatumRef<'_>) -> Tid {
    let b = d.as_bytes();
    Tid::from_bytes([b[0], b[1], b[2], b[3], b[4], b[5]])
}

/// Elements of an oidvector: a one-dimensional array payload whose data begins at byte 20.
pub fn oidvector_of(d: DatumRef<'_>) -> Vec<u32> {
    let data = d.as_bytes().get(20..).unwrap_or_default();
    data.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// Elements of an int2vector.
pub fn int2vector_of(d: DatumRef<'_>) -> Vec<i16> {
    let data = d.as_bytes().get(20..).unwrap_or_default();
    data.chunks_exact(2).map(|c| i16::from_le_bytes([c[0], c[1]])).collect()
}

/// 42804 if an array that is cast to a vector type is not one-dimensional or contains NULLs.
/// Counterpart: `check_valid_oidvector`.
fn check_vector(d: DatumRef<'_>, name: &str) -> Result<()> {
    let word = |at: usize| {
        let bytes = d.as_bytes().get(at..).and_then(|b| b.first_chunk::<4>());
        bytes.map(|b| i32::from_le_bytes(*b))
    };
    // Without the length word: dimensions, data offset (0: no NULLs), element type, length, lower
    // bound.
    if word(0) == Some(1) && word(4) == Some(0) {
        return Ok(());
    }
    Err(pg_err!(DATATYPE_MISMATCH, "array is not a valid {name}"))
}

/// The header of a 0-based one-dimensional array without NULLs.
fn vector_head(elem: Oid, count: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(20 + 4 * count);
    for word in [1, 0, elem.0, count as u32, 0] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out
}

/// An oidvector of these elements.
pub fn oidvector(elems: &[u32]) -> Datum {
    let mut out = vector_head(oids::OID, elems.len());
    elems.iter().for_each(|e| out.extend_from_slice(&e.to_le_bytes()));
    Datum::bytes(out)
}

/// An int2vector of these elements.
pub fn int2vector(elems: &[i16]) -> Datum {
    let mut out = vector_head(oids::INT2, elems.len());
    elems.iter().for_each(|e| out.extend_from_slice(&e.to_le_bytes()));
    Datum::bytes(out)
}

/// C's `strtoul` with base 0 or 10: the value modulo 2^64, whether it overflowed, and the rest.
fn strtoul(text: &[u8], any_base: bool) -> Option<(u64, bool, &[u8])> {
    let start = text.iter().position(|&c| !is_space(c)).unwrap_or(text.len());
    let (negative, body) = match &text[start..] {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (radix, digits) = match body {
        [b'0', b'x' | b'X', d, ..] if any_base && d.is_ascii_hexdigit() => (16, &body[2..]),
        [b'0', ..] if any_base => (8, body),
        _ => (10, body),
    };
    let count = digits.iter().take_while(|&&c| (c as char).is_digit(radix)).count();
    if count == 0 {
        return None;
    }
    let mut value = 0u64;
    let mut overflow = false;
    for &c in &digits[..count] {
        let digit = u64::from((c as char).to_digit(radix).unwrap_or(0));
        match value.checked_mul(radix.into()).and_then(|v| v.checked_add(digit)) {
            Some(v) => value = v,
            None => overflow = true,
        }
    }
    let value = match (overflow, negative) {
        (true, _) => u64::MAX,
        (false, true) => value.wrapping_neg(),
        (false, false) => value,
    };
    Some((value, overflow, &digits[count..]))
}

/// Parses an OID at the start of `text`; returns it and the rest, which must be blank if `alone`.
fn oid_prefix(text: &[u8], alone: bool) -> Result<(u32, &[u8])> {
    let Some((value, overflow, rest)) = strtoul(text, false) else {
        return Err(bad_syntax("oid", text));
    };
    if alone && !overflow && !trim_space(rest).is_empty() {
        return Err(bad_syntax("oid", text));
    }
    let oid = value as u32;
    if overflow || (value != u64::from(oid) && value != oid as i32 as i64 as u64) {
        return Err(text_out_of_range("oid", text));
    }
    Ok((oid, rest))
}

/// Parses an OID by the rules of its input function.
pub fn parse_oid(text: &[u8]) -> Result<Oid> {
    Ok(Oid(oid_prefix(text, true)?.0))
}

fn parse_oidvector(text: &[u8]) -> Result<Datum> {
    let mut elems = Vec::new();
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        let (oid, tail) = oid_prefix(rest, false)?;
        elems.push(oid);
        rest = tail.trim_ascii_start();
    }
    Ok(oidvector(&elems))
}

fn parse_int2vector(text: &[u8]) -> Result<Datum> {
    let mut elems = Vec::new();
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        // The error message shows the whole rest.
        let (value, overflow, tail) =
            strtoul(rest, false).ok_or_else(|| bad_syntax("smallint", rest))?;
        let value = i16::try_from(value as i64).ok().filter(|_| !overflow);
        let value = value.ok_or_else(|| text_out_of_range("smallint", rest))?;
        if !matches!(tail.first(), None | Some(b' ')) {
            return Err(bad_syntax("smallint", rest));
        }
        elems.push(value);
        rest = tail.trim_ascii_start();
    }
    Ok(int2vector(&elems))
}

/// A received array that must have one dimension from 0 and no NULLs.
fn recv_vector(
    cx: &mut dyn FnContext,
    message: DatumRef<'_>,
    elem: Oid,
    name: &str,
) -> Result<Datum> {
    let mut r = Reader::new(message.as_bytes());
    let array = read_array(cx, &mut r, elem, -1)?;
    let lower = ArrayRef::new(array.as_ref())?.lower_bounds();
    if lower != [0] || check_vector(array.as_ref(), name).is_err() {
        return Err(pg_err!(INVALID_BINARY_REPRESENTATION, "invalid {name} data"));
    }
    r.end()?;
    Ok(array)
}

fn send_vector(elem: Oid, fields: Vec<Vec<u8>>) -> Datum {
    let mut out = Vec::new();
    for word in [1, 0, elem.0, fields.len() as u32, 0] {
        out.extend_from_slice(&word.to_be_bytes());
    }
    for f in fields {
        out.extend_from_slice(&(f.len() as u32).to_be_bytes());
        out.extend_from_slice(&f);
    }
    Datum::bytes(out)
}

fn joined(words: impl Iterator<Item = String>) -> Datum {
    Datum::text(&words.collect::<Vec<_>>().join(" "))
}

fn parse_tid(text: &[u8]) -> Result<Datum> {
    let bad = || bad_syntax("tid", text);
    let shown = std::str::from_utf8(text).map_err(|_| bad())?;
    let start = shown.find('(').ok_or_else(bad)?;
    let (block, rest) = shown[start + 1..].split_once(',').ok_or_else(bad)?;
    let (offset, _) = rest.split_once(')').ok_or_else(bad)?;
    let (block, overflow, after) = strtoul(block.as_bytes(), false).ok_or_else(bad)?;
    let fits = block <= u32::MAX.into() || block == block as u32 as i32 as i64 as u64;
    if overflow || !after.is_empty() || !fits {
        return Err(bad());
    }
    let (offset, overflow, after) = strtoul(offset.as_bytes(), false).ok_or_else(bad)?;
    if overflow || !after.is_empty() || offset > u16::MAX.into() {
        return Err(bad());
    }
    Ok(Datum::bytes(Tid::new(BlockNo(block as u32), offset as u16).to_bytes()))
}

/// Parses a uuid to 16 bytes: 32 hexadecimal digits, optional hyphens after each group of four,
/// optional braces around all.
fn parse_uuid(text: &[u8]) -> Result<Datum> {
    let bad = || bad_syntax("uuid", text);
    let body = match text {
        [b'{', body @ .., b'}'] => body,
        [b'{', ..] => return Err(bad()),
        body => body,
    };
    let mut out = Vec::with_capacity(16);
    let mut i = 0;
    for n in 0..16 {
        let pair = body.get(i..i + 2).and_then(|p| std::str::from_utf8(p).ok()).ok_or_else(bad)?;
        if !pair.bytes().all(|c| c.is_ascii_hexdigit()) {
            return Err(bad());
        }
        out.push(u8::from_str_radix(pair, 16).map_err(|_| bad())?);
        i += 2;
        if body.get(i) == Some(&b'-') && n % 2 == 1 && n < 15 {
            i += 1;
        }
    }
    if i != body.len() {
        return Err(bad());
    }
    Ok(Datum::bytes(out))
}

fn uuid_text(b: &[u8]) -> String {
    let mut out = String::with_capacity(36);
    for (i, byte) in b.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.push_str(&format!("{byte:02x}"));
    }
    out
}

fn parse_lsn(text: &[u8]) -> Result<Datum> {
    let lsn = std::str::from_utf8(text).ok().and_then(Lsn::parse);
    lsn.map(|l| Datum::Word(l.0)).ok_or_else(|| bad_syntax("pg_lsn", text))
}

fn c_number(text: &[u8]) -> u64 {
    strtoul(text, true).map_or(0, |(v, _, _)| v)
}

/// Orders by block, then by offset number.
pub fn bttidcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    tid_of(a).cmp(&tid_of(b))
}

/// Length first, then the elements as OIDs.
pub fn btoidvectorcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    let (a, b) = (oidvector_of(a), oidvector_of(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
}

scalars! { FNS;
    "oidin" => |_, a| Ok(Datum::oid(parse_oid(a[0].as_bytes())?)),
    "oidout" => |_, a| Ok(Datum::text(&a[0].as_oid().to_string())),
    "oidrecv" => |_, a| Ok(Datum::Word(Reader::new(a[0].as_bytes()).u32()?.into())),
    "oidsend" => |_, a| Ok(Datum::bytes(a[0].as_oid().0.to_be_bytes())),
    "xidin" => |_, a| Ok(Datum::Word((c_number(a[0].as_bytes()) as u32).into())),
    "xidout" => |_, a| Ok(Datum::text(&(a[0].word() as u32).to_string())),
    "xidrecv" => |_, a| Ok(Datum::Word(Reader::new(a[0].as_bytes()).u32()?.into())),
    "xidsend" => |_, a| Ok(Datum::bytes((a[0].word() as u32).to_be_bytes())),
    "xideq" => |_, a| Ok(Datum::bool(a[0].word() as u32 == a[1].word() as u32)),
    "xidneq" => |_, a| Ok(Datum::bool(a[0].word() as u32 != a[1].word() as u32)),
    "xid8in" => |_, a| Ok(Datum::Word(c_number(a[0].as_bytes()))),
    "xid8out" => |_, a| Ok(Datum::text(&a[0].word().to_string())),
    "xid8recv" => |_, a| Ok(Datum::int8(Reader::new(a[0].as_bytes()).i64()?)),
    "xid8send" => |_, a| Ok(Datum::bytes(a[0].word().to_be_bytes())),
    "xid8toxid" => |_, a| Ok(Datum::Word((a[0].word() as u32).into())),
    "cidin" => |_, a| Ok(Datum::Word((c_number(a[0].as_bytes()) as u32).into())),
    "cidout" => |_, a| Ok(Datum::text(&(a[0].word() as u32).to_string())),
    "cidrecv" => |_, a| Ok(Datum::Word(Reader::new(a[0].as_bytes()).u32()?.into())),
    "cidsend" => |_, a| Ok(Datum::bytes((a[0].word() as u32).to_be_bytes())),
    "cideq" => |_, a| Ok(Datum::bool(a[0].word() as u32 == a[1].word() as u32)),
    "tidin" => |_, a| parse_tid(a[0].as_bytes()),
    "tidout" => |_, a| Ok(Datum::text(&tid_of(a[0]).to_string())),
    "tidrecv" => |_, a| {
        let mut r = Reader::new(a[0].as_bytes());
        Ok(Datum::bytes(Tid::new(BlockNo(r.u32()?), r.i16()? as u16).to_bytes()))
    },
    "tidsend" => |_, a| {
        let tid = tid_of(a[0]);
        let mut out = tid.block.0.to_be_bytes().to_vec();
        out.extend_from_slice(&tid.offset.to_be_bytes());
        Ok(Datum::bytes(out))
    },
    "pg_lsn_in" => |_, a| parse_lsn(a[0].as_bytes()),
    "pg_lsn_out" => |_, a| Ok(Datum::text(&Lsn(a[0].word()).to_string())),
    "pg_lsn_recv" => |_, a| Ok(Datum::int8(Reader::new(a[0].as_bytes()).i64()?)),
    "pg_lsn_send" => |_, a| Ok(Datum::bytes(a[0].word().to_be_bytes())),
    "pg_lsn_hash" => |_, a| Ok(hash_int8(a[0])),
    "pg_lsn_hash_extended" => |_, a| Ok(hash_int8_extended(a[0], a[1])),
    "oidvectorin" => |_, a| parse_oidvector(a[0].as_bytes()),
    "oidvectorout" => |_, a| {
        check_vector(a[0], "oidvector")?;
        Ok(joined(oidvector_of(a[0]).iter().map(u32::to_string)))
    },
    "oidvectorrecv" => |cx, a| recv_vector(cx, a[0], oids::OID, "oidvector"),
    "oidvectorsend" => |_, a| {
        let fields = oidvector_of(a[0]).iter().map(|e| e.to_be_bytes().to_vec()).collect();
        Ok(send_vector(oids::OID, fields))
    },
    "hashoidvector" => |_, a| Ok(h32(hash_bytes(&a[0].as_bytes()[20..]))),
    "hashoidvectorextended" =>
        |_, a| Ok(h64(hash_bytes_extended(&a[0].as_bytes()[20..], a[1].word()))),
    "oidvectortypes" => |cx, a| {
        let mut names = Vec::new();
        for ty in oidvector_of(a[0]) {
            names.push(cx.type_name(Oid(ty), None).unwrap_or_else(|_| "???".into()));
        }
        Ok(Datum::text(&names.join(", ")))
    },
    "int2vectorin" => |_, a| parse_int2vector(a[0].as_bytes()),
    "int2vectorout" => |_, a| {
        check_vector(a[0], "int2vector")?;
        Ok(joined(int2vector_of(a[0]).iter().map(i16::to_string)))
    },
    "int2vectorrecv" => |cx, a| recv_vector(cx, a[0], oids::INT2, "int2vector"),
    "int2vectorsend" => |_, a| {
        let fields = int2vector_of(a[0]).iter().map(|e| e.to_be_bytes().to_vec()).collect();
        Ok(send_vector(oids::INT2, fields))
    },
    "uuid_in" => |_, a| parse_uuid(a[0].as_bytes()),
    "uuid_out" => |_, a| Ok(Datum::text(&uuid_text(a[0].as_bytes()))),
    "uuid_recv" => |_, a| Ok(Datum::bytes(Reader::new(a[0].as_bytes()).bytes(16)?)),
    "uuid_send" => |_, a| Ok(a[0].to_owned()),
    "gen_random_uuid" => |cx, _| {
        let mut b = [0u8; 16];
        cx.random_bytes(&mut b)?;
        b[6] = b[6] & 0x0f | 0x40;
        b[8] = b[8] & 0x3f | 0x80;
        Ok(Datum::bytes(b))
    },
    "void_in" => |_, _| Ok(Datum::Word(0)),
    "void_out" => |_, _| Ok(Datum::bytes([])),
    "void_recv" => |_, a| Reader::new(a[0].as_bytes()).end().map(|()| Datum::Word(0)),
    "void_send" => |_, _| Ok(Datum::bytes([])),
    "cstring_in" => |_, a| Ok(a[0].to_owned()),
    "cstring_out" => |_, a| Ok(a[0].to_owned()),
    "cstring_recv" => |cx, a| values::text::receive(cx, a[0]),
    "cstring_send" => |cx, a| values::text::send(cx, a[0]),
    "unknownin" => |_, a| Ok(a[0].to_owned()),
    "unknownout" => |_, a| Ok(a[0].to_owned()),
    "unknownrecv" => |cx, a| values::text::receive(cx, a[0]),
    "unknownsend" => |cx, a| values::text::send(cx, a[0]),
    "btequalimage" => |_, a| Ok(Datum::bool(a[0].as_oid() != oids::BPCHAR)),
    "btvarstrequalimage" => |_, a| Ok(Datum::bool(a[0].as_oid() != oids::BPCHAR)),
}
