//! Input, output and binary forms of ranges and multiranges. Counterpart: rangetypes.c,
//! multirangetypes.c, first part.

use crate::functions::{not_a_range, range_type, type_of_value, written_flags};
use crate::parse;
use crate::pieces::{self, Pieces};
use crate::stored::{
    Bound, Bounds, EMPTY, LOWER_INCLUSIVE, LOWER_INFINITE, UPPER_INCLUSIVE, UPPER_INFINITE, empty,
    flags_of, has_lower, has_upper, make,
};
use ids::Oid;
use pgerror::{PgError, Result, SqlState};
use std::sync::Arc;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::{self, TextBuffer};
use values::range::RangeType;
use values::type_io::{Reader, is_excess_data};

/// The type modifier among the arguments of an input or receive function.
fn typmod(a: &[DatumRef<'_>]) -> i32 {
    a.get(2).map_or(-1, |t| t.as_i32())
}

/// The range with these flags and bounds.
fn assemble(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    flags: u8,
    (lower, upper): (&Datum, &Datum),
) -> Result<Vec<u8>> {
    if flags & EMPTY != 0 {
        return Ok(empty(ty));
    }
    let (low, high) = written_flags(flags);
    let lower =
        Bound { infinite: flags & LOWER_INFINITE != 0, ..Bound::lower(lower.as_ref(), low) };
    let upper =
        Bound { infinite: flags & UPPER_INFINITE != 0, ..Bound::upper(upper.as_ref(), high) };
    make(cx, ty, &lower, &upper)
}

fn read_text(cx: &mut dyn FnContext, ty: &RangeType, text: &[u8], typmod: i32) -> Result<Vec<u8>> {
    let written = parse::range(text)?;
    let mut value = |text: &Option<Vec<u8>>| match text {
        Some(text) => cx.type_input(ty.elem.oid, text, typmod),
        None => Ok(Datum::Null),
    };
    let (lower, upper) = (value(&written.lower)?, value(&written.upper)?);
    assemble(cx, ty, written.flags, (&lower, &upper))
}

fn range_in(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = range_type(cx, a[1].as_oid())?;
    if ty.oid != a[1].as_oid() {
        return Err(not_a_range(a[1].as_oid()));
    }
    Ok(Datum::bytes(read_text(cx, &ty, a[0].as_bytes(), typmod(a))?))
}

/// The range type whose multirange type has this OID. Error XX000 if there is none.
fn of_multirange(cx: &mut dyn FnContext, multirange: Oid) -> Result<Arc<RangeType>> {
    let wrong = || PgError::internal(format!("type {multirange} is not a multirange type"));
    match range_type(cx, multirange) {
        Ok(ty) if ty.multirange == multirange => Ok(ty),
        Ok(_) => Err(wrong()),
        Err(e) if e.code() == SqlState::INTERNAL_ERROR => Err(wrong()),
        Err(e) => Err(e),
    }
}

fn multirange_in(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = of_multirange(cx, a[1].as_oid())?;
    let mut ranges = Vec::new();
    let typmod = typmod(a);
    let mut ticker = InterruptTicker::default();
    parse::multirange(a[0].as_bytes(), |text| {
        ticker.tick(cx)?;
        values::memory::reserve(&mut ranges, 1)?;
        ranges.push(read_text(cx, &ty, text, typmod)?);
        Ok(())
    })?;
    pieces::make(cx, &ty, ranges)
}

/// Appends the text of a range.
fn push_text(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    out: &mut TextBuffer,
    flags: u8,
    bounds: Option<Bounds<'_>>,
) -> Result<()> {
    let mut text = |bound: Option<&Bound<'_>>, present: bool| match bound {
        Some(bound) if present => cx.type_output(ty.elem.oid, bound.value),
        _ => Ok(Vec::new()),
    };
    let lower = text(bounds.as_ref().map(|b| &b.0), has_lower(flags))?;
    let upper = text(bounds.as_ref().map(|b| &b.1), has_upper(flags))?;
    parse::push_range(out, flags, (&lower, &upper));
    out.check()
}

/// The output function of ranges.
pub fn range_out(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = type_of_value(cx, a[0])?;
    let payload = a[0].as_bytes();
    let mut out = TextBuffer::new();
    let bounds = crate::stored::bounds(&ty, payload)?;
    push_text(cx, &ty, &mut out, flags_of(payload)?, bounds)?;
    Ok(Datum::bytes(out.into_bytes()?))
}

/// The output function of multiranges.
pub fn multirange_out(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = type_of_value(cx, a[0])?;
    let pieces = Pieces::new(&ty, a[0].as_bytes())?;
    let mut out = TextBuffer::new();
    let mut ticker = InterruptTicker::default();
    out.push(b'{');
    for i in 0..pieces.len() {
        ticker.tick(cx)?;
        if i > 0 {
            out.push(b',');
        }
        push_text(cx, &ty, &mut out, pieces.flags(i), Some(pieces.get(i)))?;
    }
    out.push(b'}');
    Ok(Datum::bytes(out.into_bytes()?))
}

/// Flags that a message may contain; others are ignored.
const SENT_FLAGS: u8 = EMPTY | LOWER_INCLUSIVE | LOWER_INFINITE | UPPER_INCLUSIVE | UPPER_INFINITE;

fn receive(cx: &mut dyn FnContext, ty: &RangeType, message: &[u8], typmod: i32) -> Result<Vec<u8>> {
    let mut r = Reader::new(message);
    let flags = r.byte()? & SENT_FLAGS;
    let mut value = |present: bool| -> Result<Datum> {
        if !present {
            return Ok(Datum::Null);
        }
        let len = r.u32()? as usize;
        bound(cx, ty, r.bytes(len)?, typmod)
    };
    let (lower, upper) = (value(has_lower(flags))?, value(has_upper(flags))?);
    r.end_of_message()?;
    assemble(cx, ty, flags, (&lower, &upper))
}

/// Reads a bound; bytes that its type does not read are ignored.
fn bound(cx: &mut dyn FnContext, ty: &RangeType, bytes: &[u8], typmod: i32) -> Result<Datum> {
    let mut receive = |len: usize| cx.type_recv(ty.elem.oid, &bytes[..len], typmod);
    let whole = receive(bytes.len());
    let is_excess = |value: &Result<Datum>| matches!(value, Err(e) if is_excess_data(e));
    if !is_excess(&whole) {
        return whole;
    }
    // The number of bytes that are read, by bisection: more are too many, fewer are too few.
    let (mut low, mut high) = (0, bytes.len());
    while high - low > 1 {
        let middle = low.midpoint(high);
        match is_excess(&receive(middle)) {
            true => high = middle,
            false => low = middle,
        }
    }
    receive(low)
}

fn range_recv(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = range_type(cx, a[1].as_oid())?;
    Ok(Datum::bytes(receive(cx, &ty, a[0].as_bytes(), typmod(a))?))
}

fn multirange_recv(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = of_multirange(cx, a[1].as_oid())?;
    let mut r = Reader::new(a[0].as_bytes());
    let count = r.i32()?;
    // PostgreSQL allocates a list of pointers first.
    if count < 0 {
        let (each, count) = (8, i64::from(count) as u64);
        let message = format!("invalid memory allocation request size {each} * {count}");
        return Err(PgError::new(pgerror::SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    if count as usize > limits::ALLOCATION_BYTES_MAX / 8 {
        return Err(limits::invalid_allocation((count as usize).wrapping_mul(8)));
    }
    let mut ranges = Vec::new();
    let mut ticker = InterruptTicker::default();
    for _ in 0..count {
        ticker.tick(cx)?;
        let len = r.u32()? as usize;
        values::memory::reserve(&mut ranges, 1)?;
        ranges.push(receive(cx, &ty, r.bytes(len)?, typmod(a))?);
    }
    r.end_of_message()?;
    pieces::make(cx, &ty, ranges)
}

/// Appends the binary form of a range.
fn push_sent(
    cx: &mut dyn FnContext,
    ty: &RangeType,
    out: &mut TextBuffer,
    flags: u8,
    bounds: Option<Bounds<'_>>,
) -> Result<()> {
    out.push(flags);
    let Some((lower, upper)) = bounds else { return Ok(()) };
    for (bound, present) in [(lower, has_lower(flags)), (upper, has_upper(flags))] {
        if present {
            let sent = cx.type_send(ty.elem.oid, bound.value)?;
            out.extend_from_slice(&(sent.len() as u32).to_be_bytes());
            out.extend_from_slice(&sent);
        }
    }
    out.check()
}

fn range_send(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = type_of_value(cx, a[0])?;
    let payload = a[0].as_bytes();
    let mut out = TextBuffer::new();
    let bounds = crate::stored::bounds(&ty, payload)?;
    push_sent(cx, &ty, &mut out, flags_of(payload)?, bounds)?;
    out.into_datum()
}

fn multirange_send(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty = type_of_value(cx, a[0])?;
    let pieces = Pieces::new(&ty, a[0].as_bytes())?;
    let mut out = TextBuffer::new();
    let mut ticker = InterruptTicker::default();
    out.extend_from_slice(&(pieces.len() as u32).to_be_bytes());
    for i in 0..pieces.len() {
        ticker.tick(cx)?;
        let mut one = TextBuffer::new();
        push_sent(cx, &ty, &mut one, pieces.flags(i), Some(pieces.get(i)))?;
        out.extend_from_slice(&(one.len() as u32).to_be_bytes());
        out.extend_from_slice(one.as_slice());
        out.check()?;
    }
    out.into_datum()
}

scalars! { FNS;
    "range_in" => range_in,
    "range_out" => range_out,
    "range_recv" => range_recv,
    "range_send" => range_send,
    "multirange_in" => multirange_in,
    "multirange_out" => multirange_out,
    "multirange_recv" => multirange_recv,
    "multirange_send" => multirange_send,
    "anyrange_out" => range_out,
    "anycompatiblerange_out" => range_out,
    "anymultirange_out" => multirange_out,
    "anycompatiblemultirange_out" => multirange_out,
}
