//! int2, int4, int8. Words are sign-extended, so `as_i64` reads any of them, and every operation is
//! computed in 64 bits and checked against the result's range. Counterpart: int.c, int8.c.

use crate::batch::Column;
use crate::datum::{Datum, DatumRef};
use crate::fn_context::FnContext;
use crate::function::SetSource;
use crate::type_io::{
    Reader, bad_syntax, division_by_zero, out_of_range, text_out_of_range, trim_space,
};
use pgerror::{Result, pg_err};

/// The width of an integer result.
#[derive(Clone, Copy)]
enum Width {
    Int2,
    Int4,
    Int8,
}

impl Width {
    fn name(self) -> &'static str {
        match self {
            Width::Int2 => "smallint",
            Width::Int4 => "integer",
            Width::Int8 => "bigint",
        }
    }

    #[inline]
    fn holds(self, v: i64) -> bool {
        match self {
            Width::Int2 => v == i64::from(v as i16),
            Width::Int4 => v == i64::from(v as i32),
            Width::Int8 => true,
        }
    }

    /// The datum, or "… out of range".
    #[inline]
    fn datum(self, v: Option<i64>) -> Result<Datum> {
        match v {
            Some(v) if self.holds(v) => Ok(Datum::int8(v)),
            _ => Err(out_of_range(self.name())),
        }
    }
}

use Width::{Int2, Int4, Int8};

/// Parses a decimal integer by the rules of the input functions.
fn parse(text: &[u8], width: Width) -> Result<i64> {
    let body = trim_space(text);
    let (negative, digits) = match body {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let bad = || bad_syntax(width.name(), text);
    if digits.is_empty() {
        return Err(bad());
    }
    let mut value: i64 = 0;
    let mut overflow = false;
    for &c in digits {
        if !c.is_ascii_digit() {
            // An overflow before an invalid character is reported as an overflow.
            let fits = !overflow && width.holds(value);
            return Err(if fits { bad() } else { text_out_of_range(width.name(), text) });
        }
        let next = value.checked_mul(10).and_then(|v| v.checked_sub(i64::from(c - b'0')));
        match next {
            Some(v) => value = v,
            None => overflow = true,
        }
    }
    // The value is accumulated as a negative number: the minimum has no positive counterpart.
    match if negative { Some(value) } else { value.checked_neg() } {
        Some(v) if !overflow && width.holds(v) => Ok(v),
        _ => Err(text_out_of_range(width.name(), text)),
    }
}

/// Parses an int8 by the rules of its input function.
pub fn parse_int8(text: &[u8]) -> Result<i64> {
    parse(text, Int8)
}

/// Parses an int4 by the rules of its input function.
pub fn parse_int4(text: &[u8]) -> Result<i32> {
    Ok(parse(text, Int4)? as i32)
}

/// Parses an int2 by the rules of its input function.
pub fn parse_int2(text: &[u8]) -> Result<i16> {
    Ok(parse(text, Int2)? as i16)
}

fn quotient(a: i64, b: i64) -> Result<Option<i64>> {
    if b == 0 { Err(division_by_zero()) } else { Ok(a.checked_div(b)) }
}

fn remainder(a: i64, b: i64) -> Result<Datum> {
    if b == 0 { Err(division_by_zero()) } else { Ok(Datum::int8(a.wrapping_rem(b))) }
}

/// Greatest common divisor of the absolute values.
pub fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn gcd_datum(a: &[DatumRef<'_>], width: Width) -> Result<Datum> {
    let g = gcd(a[0].as_i64().unsigned_abs(), a[1].as_i64().unsigned_abs());
    width.datum(i64::try_from(g).ok())
}

fn lcm_datum(a: &[DatumRef<'_>], width: Width) -> Result<Datum> {
    let (x, y) = (a[0].as_i64().unsigned_abs(), a[1].as_i64().unsigned_abs());
    if x == 0 || y == 0 {
        return Ok(Datum::int8(0));
    }
    let l = u128::from(x / gcd(x, y)) * u128::from(y);
    width.datum(i64::try_from(l).ok())
}

fn text(v: i64) -> Result<Datum> {
    Ok(Datum::text(&v.to_string()))
}

macro_rules! arithmetic {
    ($table:ident; $($prefix:literal $width:ident;)*) => {
        scalars! { $table; $(
            concat!($prefix, "pl") =>
                |_, a| $width.datum(a[0].as_i64().checked_add(a[1].as_i64())),
            concat!($prefix, "mi") =>
                |_, a| $width.datum(a[0].as_i64().checked_sub(a[1].as_i64())),
            concat!($prefix, "mul") =>
                |_, a| $width.datum(a[0].as_i64().checked_mul(a[1].as_i64())),
            concat!($prefix, "div") =>
                |_, a| $width.datum(quotient(a[0].as_i64(), a[1].as_i64())?),
        )* }
    };
}

arithmetic! { ARITHMETIC;
    "int2" Int2; "int4" Int4; "int8" Int8; "int24" Int4; "int42" Int4;
    "int28" Int8; "int82" Int8; "int48" Int8; "int84" Int8;
}

macro_rules! unary {
    ($table:ident; $($prefix:literal $width:ident;)*) => {
        scalars! { $table; $(
            concat!($prefix, "mod") => |_, a| remainder(a[0].as_i64(), a[1].as_i64()),
            concat!($prefix, "um") => |_, a| $width.datum(a[0].as_i64().checked_neg()),
            concat!($prefix, "up") => |_, a| Ok(a[0].to_owned()),
            concat!($prefix, "abs") => |_, a| $width.datum(a[0].as_i64().checked_abs()),
            concat!($prefix, "and") => |_, a| Ok(Datum::Word(a[0].word() & a[1].word())),
            concat!($prefix, "or") => |_, a| Ok(Datum::Word(a[0].word() | a[1].word())),
            concat!($prefix, "xor") => |_, a| Ok(Datum::Word(a[0].word() ^ a[1].word())),
            concat!($prefix, "not") => |_, a| Ok(Datum::Word(!a[0].word())),
            concat!($prefix, "in") => |_, a| Ok(Datum::int8(parse(a[0].as_bytes(), $width)?)),
            concat!($prefix, "out") => |_, a| text(a[0].as_i64()),
        )* }
    };
}

unary! { UNARY; "int2" Int2; "int4" Int4; "int8" Int8; }

scalars! { OTHER;
    "int2recv" => |_, a| Ok(Datum::int2(Reader::new(a[0].as_bytes()).i16()?)),
    "int4recv" => |_, a| Ok(Datum::int4(Reader::new(a[0].as_bytes()).i32()?)),
    "int8recv" => |_, a| Ok(Datum::int8(Reader::new(a[0].as_bytes()).i64()?)),
    "int2send" => |_, a| Ok(Datum::bytes(a[0].as_i16().to_be_bytes())),
    "int4send" => |_, a| Ok(Datum::bytes(a[0].as_i32().to_be_bytes())),
    "int8send" => |_, a| Ok(Datum::bytes(a[0].as_i64().to_be_bytes())),
    // The shift count is taken modulo 32, as the processor does; int2 is shifted as an int4.
    "int2shl" => |_, a| Ok(Datum::int2(a[0].as_i32().wrapping_shl(a[1].as_i32() as u32) as i16)),
    "int2shr" => |_, a| Ok(Datum::int2(a[0].as_i32().wrapping_shr(a[1].as_i32() as u32) as i16)),
    "int4shl" => |_, a| Ok(Datum::int4(a[0].as_i32().wrapping_shl(a[1].as_i32() as u32))),
    "int4shr" => |_, a| Ok(Datum::int4(a[0].as_i32().wrapping_shr(a[1].as_i32() as u32))),
    "int8shl" => |_, a| Ok(Datum::int8(a[0].as_i64().wrapping_shl(a[1].as_i32() as u32))),
    "int8shr" => |_, a| Ok(Datum::int8(a[0].as_i64().wrapping_shr(a[1].as_i32() as u32))),
    "int4gcd" => |_, a| gcd_datum(a, Int4),
    "int8gcd" => |_, a| gcd_datum(a, Int8),
    "int4lcm" => |_, a| lcm_datum(a, Int4),
    "int8lcm" => |_, a| lcm_datum(a, Int8),
    "int4inc" => |_, a| Int4.datum(a[0].as_i64().checked_add(1)),
    "int8inc" => |_, a| Int8.datum(a[0].as_i64().checked_add(1)),
    "int8inc_any" => |_, a| Int8.datum(a[0].as_i64().checked_add(1)),
    "int8inc_float8_float8" => |_, a| Int8.datum(a[0].as_i64().checked_add(1)),
    "int8dec" => |_, a| Int8.datum(a[0].as_i64().checked_sub(1)),
    "int8dec_any" => |_, a| Int8.datum(a[0].as_i64().checked_sub(1)),
    "i2toi4" => |_, a| Ok(a[0].to_owned()),
    "i4toi2" => |_, a| Int2.datum(Some(a[0].as_i64())),
    "int48" => |_, a| Ok(a[0].to_owned()),
    "int84" => |_, a| Int4.datum(Some(a[0].as_i64())),
    "int28" => |_, a| Ok(a[0].to_owned()),
    "int82" => |_, a| Int2.datum(Some(a[0].as_i64())),
    "oidtoi8" => |_, a| Ok(Datum::int8(a[0].as_oid().0.into())),
    "i8tooid" => |_, a| match u32::try_from(a[0].as_i64()) {
        Ok(oid) => Ok(Datum::Word(oid.into())),
        Err(_) => Err(out_of_range("OID")),
    },
    "int4_bool" => |_, a| Ok(Datum::bool(a[0].as_i32() != 0)),
    "bool_int4" => |_, a| Ok(Datum::int4(a[0].as_bool() as i32)),
    "to_hex32" => |_, a| Ok(Datum::text(&format!("{:x}", a[0].as_i32()))),
    "to_hex64" => |_, a| Ok(Datum::text(&format!("{:x}", a[0].as_i64()))),
}

/// The rows of `generate_series`.
struct Series {
    next: Option<i64>,
    stop: i64,
    step: i64,
    width: Width,
}

impl SetSource for Series {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        let Some(v) = self.next else { return Ok(false) };
        if (self.step > 0 && v > self.stop) || (self.step < 0 && v < self.stop) {
            self.next = None;
            return Ok(false);
        }
        self.next = v.checked_add(self.step).filter(|&n| self.width.holds(n));
        out.push(Datum::int8(v));
        Ok(true)
    }

    fn fill(&mut self, _: &mut dyn FnContext, column: &mut Column, rows: usize) -> Result<bool> {
        for _ in 0..rows {
            let inside = |v: &i64| if self.step > 0 { *v <= self.stop } else { *v >= self.stop };
            self.next = self.next.filter(inside);
            let Some(v) = self.next else { return Ok(false) };
            self.next = v.checked_add(self.step).filter(|&n| self.width.holds(n));
            column.push(DatumRef::Word(v as u64));
        }
        Ok(true)
    }
}

fn series(a: &[DatumRef<'_>], width: Width) -> Result<Box<dyn SetSource>> {
    let step = a.get(2).map_or(1, |s| s.as_i64());
    if step == 0 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
    }
    Ok(Box::new(Series { next: Some(a[0].as_i64()), stop: a[1].as_i64(), step, width }))
}

builtins! { SETS;
    "generate_series_int4" => Srf(|_, a| series(a, Int4)),
    "generate_series_step_int4" => Srf(|_, a| series(a, Int4)),
    "generate_series_int8" => Srf(|_, a| series(a, Int8)),
    "generate_series_step_int8" => Srf(|_, a| series(a, Int8)),
}
