//! Functions on numeric: arithmetic with NaN and infinities, rounding, casts, comparison, hash,
//! series. Counterpart: numeric.c.

use super::num::{DEC_DIGITS, DSCALE_MAX, Num, Sign, WEIGHT_MAX};
use super::order::{compare, numeric_cmp};
use super::{arith, io, small};
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::SetSource;
use values::hash;
use values::type_io::{division_by_zero, out_of_range};

fn nan() -> Num {
    Num::special(Sign::NaN)
}

fn infinity(sign: i32) -> Num {
    match sign {
        0 => nan(),
        s if s > 0 => Num::special(Sign::PosInf),
        _ => Num::special(Sign::NegInf),
    }
}

/// The sum (`flip`: the difference), infinities and NaN included.
pub fn add(a: &Num, b: &Num, flip: bool) -> Num {
    if a.is_finite() && b.is_finite() {
        return if flip { a.minus(b) } else { a.plus(b) };
    }
    if a.is_nan() || b.is_nan() {
        return nan();
    }
    let other = if flip { -b.signum() } else { b.signum() };
    match (a.is_infinite(), b.is_infinite()) {
        (true, true) if a.signum() != other => nan(),
        (true, _) => a.clone(),
        _ => infinity(other),
    }
}

/// Appends the sum (`flip`: the difference) of two payloads.
#[inline]
pub fn sum_into(a: &[u8], b: &[u8], flip: bool, out: &mut Vec<u8>) -> Result<()> {
    if small::add(a, b, flip, out).is_none() {
        let sum = add(&Num::from_payload(a), &Num::from_payload(b), flip);
        out.extend_from_slice(&sum.to_payload()?);
    }
    Ok(())
}

/// Appends the product of two payloads.
#[inline]
pub fn product_into(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if small::multiply(a, b, out).is_none() {
        let product = multiply(&Num::from_payload(a), &Num::from_payload(b));
        out.extend_from_slice(&product.to_payload()?);
    }
    Ok(())
}

/// Appends the quotient of two payloads.
pub fn quotient_into(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if small::divide(a, b, out).is_none() {
        let (a, b) = (Num::from_payload(a), Num::from_payload(b));
        let scale = arith::select_div_scale;
        let quotient = divide(&a, &b, |x, y| x.divided(y, scale(x, y), true))?;
        out.extend_from_slice(&quotient.to_payload()?);
    }
    Ok(())
}

/// Appends the remainder of a division that truncates toward zero.
pub fn remainder_into(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if small::remainder(a, b, out).is_none() {
        let rest = modulo(&Num::from_payload(a), &Num::from_payload(b))?;
        out.extend_from_slice(&rest.to_payload()?);
    }
    Ok(())
}

/// A datum of the payload that `f` appends to a vector.
#[inline]
fn datum_of(f: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<Datum> {
    let mut out = Vec::with_capacity(2 + 2 * 8);
    f(&mut out)?;
    Ok(Datum::bytes(out))
}

fn multiply(a: &Num, b: &Num) -> Num {
    if a.is_finite() && b.is_finite() {
        let mut out = a.times(b);
        if out.dscale > DSCALE_MAX {
            out.round(DSCALE_MAX);
        }
        return out;
    }
    if a.is_nan() || b.is_nan() {
        return nan();
    }
    infinity(a.signum() * b.signum())
}

/// The quotient, infinities and NaN included; `f` divides finite numbers.
pub fn divide(a: &Num, b: &Num, f: impl Fn(&Num, &Num) -> Result<Num>) -> Result<Num> {
    if a.is_finite() && b.is_finite() {
        return f(a, b);
    }
    if a.is_nan() || b.is_nan() {
        return Ok(nan());
    }
    if a.is_infinite() {
        if b.is_infinite() {
            return Ok(nan());
        }
        if b.is_zero() {
            return Err(division_by_zero());
        }
        return Ok(infinity(a.signum() * b.signum()));
    }
    Ok(Num::zero(0))
}

fn modulo(a: &Num, b: &Num) -> Result<Num> {
    if a.is_finite() && b.is_finite() {
        return a.modulo(b);
    }
    if a.is_nan() || b.is_nan() || (a.is_infinite() && b.is_infinite()) {
        return Ok(nan());
    }
    if a.is_infinite() {
        return if b.is_zero() { Err(division_by_zero()) } else { Ok(nan()) };
    }
    Ok(a.clone())
}

fn rounded(d: DatumRef<'_>, scale: i32, round: bool) -> Result<Datum> {
    let mut n = Num::of(d);
    if !n.is_finite() {
        return n.datum();
    }
    let scale = scale.clamp(-(WEIGHT_MAX + 1) * DEC_DIGITS - 1, DSCALE_MAX);
    if round {
        n.round(scale);
    } else {
        n.truncate(scale);
    }
    n.dscale = n.dscale.max(0);
    n.datum()
}

/// The next integer toward +∞ (`up`) or -∞.
/// The largest integer that is not greater; `up`: the smallest that is not less.
pub fn to_integral(n: Num, up: bool) -> Num {
    if !n.is_finite() {
        return n;
    }
    let mut t = n.clone();
    t.truncate(0);
    t.strip();
    if compare(&t, &n).is_ne() {
        if up && n.sign == Sign::Pos {
            t = t.plus(&Num::one());
        } else if !up && n.sign == Sign::Neg {
            t = t.minus(&Num::one());
        }
    }
    t.dscale = 0;
    t
}

/// The number without its sign.
pub fn absolute(n: Num) -> Num {
    if matches!(n.sign, Sign::Neg | Sign::NegInf) { n.negated() } else { n }
}

/// The smallest scale that represents the value exactly.
fn min_scale(n: &Num) -> i32 {
    let Some(&last) = n.digits.last() else { return 0 };
    let scale = (n.digits.len() as i32 - n.weight - 1) * DEC_DIGITS;
    if scale <= 0 {
        return 0;
    }
    let mut zeros = 0;
    let mut last = last;
    while last % 10 == 0 && last != 0 {
        last /= 10;
        zeros += 1;
    }
    (scale - zeros).max(0)
}

fn finite_scale(n: &Num, f: impl Fn(&Num) -> i32) -> Datum {
    if n.is_finite() { Datum::int4(f(n)) } else { Datum::Null }
}

fn to_int(d: DatumRef<'_>, name: &str, fits: impl Fn(i64) -> bool) -> Result<Datum> {
    integer(&Num::of(d), name, fits).map(Datum::int8)
}

/// The number as bigint, rounded; an error for NaN, infinity and numbers that do not fit.
pub fn to_int8(n: &Num) -> Result<i64> {
    integer(n, "bigint", |_| true)
}

fn integer(n: &Num, name: &str, fits: impl Fn(i64) -> bool) -> Result<i64> {
    if n.is_nan() {
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot convert NaN to {name}"));
    }
    if n.is_infinite() {
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot convert infinity to {name}"));
    }
    match n.to_i64() {
        Some(v) if fits(v) => Ok(v),
        _ => Err(out_of_range(name)),
    }
}

/// Hashes the digits and the weight. Equal values have equal digits, because leading and trailing
/// zeros are never stored; the scale is ignored.
fn hashed<T>(d: DatumRef<'_>, zero: T, special: T, f: impl Fn(&[u8], i32) -> T) -> T {
    let mut n = Num::of(d);
    if !n.is_finite() {
        return special;
    }
    n.strip();
    if n.digits.is_empty() {
        return zero;
    }
    let bytes: Vec<u8> = n.digits.iter().flat_map(|d| d.to_le_bytes()).collect();
    f(&bytes, n.weight)
}

/// The hash of a number.
pub fn hash_of(d: DatumRef<'_>) -> u32 {
    hashed(d, u32::MAX, 0, |b, w| hash::hash_bytes(b) ^ w as u32)
}

/// The 64-bit hash of a number under a seed.
pub fn hash_extended(d: DatumRef<'_>, seed: u64) -> u64 {
    hashed(d, seed.wrapping_sub(1), seed, |b, w| {
        hash::hash_bytes_extended(b, seed) ^ w as i64 as u64
    })
}

scalars! { FNS;
    "numeric_add" => |_, a| datum_of(|out| sum_into(a[0].as_bytes(), a[1].as_bytes(), false, out)),
    "numeric_sub" => |_, a| datum_of(|out| sum_into(a[0].as_bytes(), a[1].as_bytes(), true, out)),
    "numeric_mul" => |_, a| datum_of(|out| product_into(a[0].as_bytes(), a[1].as_bytes(), out)),
    "numeric_mod" => |_, a| datum_of(|out| remainder_into(a[0].as_bytes(), a[1].as_bytes(), out)),
    "numeric_inc" => |_, a| add(&Num::of(a[0]), &Num::one(), false).datum(),
    "numeric_uminus" => |_, a| Num::of(a[0]).negated().datum(),
    "numeric_uplus" => |_, a| Ok(a[0].to_owned()),
    "numeric_abs" => |_, a| absolute(Num::of(a[0])).datum(),
    "numeric_sign" => |_, a| {
        let n = Num::of(a[0]);
        if n.is_nan() { n.datum() } else { Num::from(i64::from(n.signum())).datum() }
    },
    "numeric_round" => |_, a| rounded(a[0], a[1].as_i32(), true),
    "numeric_trunc" => |_, a| rounded(a[0], a[1].as_i32(), false),
    "numeric_ceil" => |_, a| to_integral(Num::of(a[0]), true).datum(),
    "numeric_floor" => |_, a| to_integral(Num::of(a[0]), false).datum(),
    "numeric_scale" => |_, a| Ok(finite_scale(&Num::of(a[0]), |n| n.dscale)),
    "numeric_min_scale" => |_, a| Ok(finite_scale(&Num::of(a[0]), min_scale)),
    "numeric_trim_scale" => |_, a| {
        let mut n = Num::of(a[0]);
        if n.is_finite() {
            n.dscale = min_scale(&n);
        }
        n.datum()
    },
    "hash_numeric" => |_, a| Ok(hash::h32(hash_of(a[0]))),
    "hash_numeric_extended" => |_, a| Ok(hash::h64(hash_extended(a[0], a[1].word()))),
}

scalars! { CASTS;
    "int2_numeric" => |_, a| Ok(Datum::bytes(small::of_integer(a[0].as_i64()))),
    "int4_numeric" => |_, a| Ok(Datum::bytes(small::of_integer(a[0].as_i64()))),
    "int8_numeric" => |_, a| Ok(Datum::bytes(small::of_integer(a[0].as_i64()))),
    "numeric_int2" => |_, a| to_int(a[0], "smallint", |v| v == i64::from(v as i16)),
    "numeric_int4" => |_, a| to_int(a[0], "integer", |v| v == i64::from(v as i32)),
    "numeric_int8" => |_, a| to_int(a[0], "bigint", |_| true),
    "float4_numeric" => |_, a| io::from_float(a[0].as_f32().into(), 6).datum(),
    "float8_numeric" => |_, a| io::from_float(a[0].as_f64(), 15).datum(),
    "numeric_float8" => |_, a| {
        let n = Num::of(a[0]);
        Ok(Datum::float8(match n.exact_f64() {
            Some(v) => v,
            None => io::with_text(a[0].as_bytes(), values::float::parse_float8)?,
        }))
    },
    "numeric_float4" => |_, a| {
        Ok(Datum::float4(io::with_text(a[0].as_bytes(), values::float::parse_float4)?))
    },
    "numeric_pg_lsn" => |_, a| to_lsn(&Num::of(a[0])),
    "pg_lsn_mi" => |_, a| {
        Num::from(i128::from(a[0].word()) - i128::from(a[1].word())).datum()
    },
    "pg_lsn_pli" => |_, a| lsn_moved(a, false),
    "pg_lsn_mii" => |_, a| lsn_moved(a, true),
}

fn lsn_moved(a: &[DatumRef<'_>], back: bool) -> Result<Datum> {
    let n = Num::of(a[1]);
    if n.is_nan() {
        let verb = if back { "subtract NaN from" } else { "add NaN to" };
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot {verb} pg_lsn"));
    }
    to_lsn(&add(&Num::from(i128::from(a[0].word())), &n, back))
}

fn to_lsn(n: &Num) -> Result<Datum> {
    if n.is_nan() {
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot convert NaN to pg_lsn"));
    }
    if n.is_infinite() {
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot convert infinity to pg_lsn"));
    }
    let v = n.to_i128().and_then(|v| u64::try_from(v).ok());
    v.map(Datum::Word).ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "pg_lsn out of range"))
}

comparisons! { COMPARISONS;
    numeric_cmp => "numeric_eq" "numeric_ne" "numeric_lt" "numeric_le" "numeric_gt" "numeric_ge";
}

orderings! { ORDERINGS;
    numeric_cmp => "numeric_larger" "numeric_smaller";
}

struct Series {
    next: Num,
    stop: Num,
    step: Num,
}

impl SetSource for Series {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        let past = compare(&self.next, &self.stop);
        if if self.step.signum() > 0 { past.is_gt() } else { past.is_lt() } {
            return Ok(false);
        }
        out.push(self.next.datum()?);
        self.next = self.next.plus(&self.step);
        Ok(true)
    }
}

fn series(a: &[DatumRef<'_>]) -> Result<Box<dyn SetSource>> {
    let step = a.get(2).map_or_else(Num::one, |s| Num::of(*s));
    for (n, what) in [(Num::of(a[0]), "start"), (Num::of(a[1]), "stop"), (step.clone(), "step")] {
        let noun = if what == "step" { "step size" } else { what };
        let noun = if what == "step" { noun.to_string() } else { format!("{noun} value") };
        if n.is_nan() {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "{noun} cannot be NaN"));
        }
        if n.is_infinite() {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "{noun} cannot be infinity"));
        }
    }
    if step.is_zero() {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
    }
    Ok(Box::new(Series { next: Num::of(a[0]), stop: Num::of(a[1]), step }))
}

builtins! { SETS;
    "generate_series_numeric" => Srf(|_, a| series(a)),
    "generate_series_step_numeric" => Srf(|_, a| series(a)),
}
