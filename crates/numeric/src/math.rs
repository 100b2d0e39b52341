//! Roots, exponentials, logarithms and powers. The scale of every result is chosen as in
//! PostgreSQL; the computation has enough guard digits that the last digit shown is correct.
//! Counterpart: numeric.c.

use super::arith::select_div_scale;
use super::fixed::ln;
use super::natural::{Check, Nat};
use super::num::{DEC_DIGITS, MAX_DISPLAY_SCALE, MIN_SIG_DIGITS, Num, Sign, WEIGHT_MAX, overflow};
use super::order::compare;
use super::{arith, fixed, fixed128};
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use std::f64::consts::{LN_10, LOG10_E};
use values::datum::Datum;
use values::fn_context::FnContext;
use values::type_io::out_of_range;

/// `NUMERIC_MAX_RESULT_SCALE`: e^x overflows for x of at least three times this.
const RESULT_DIGITS_MAX: f64 = 2000.0;

fn clamp_scale(scale: i32, shown: i32) -> i32 {
    scale.max(shown).clamp(0, MAX_DISPLAY_SCALE)
}

/// Approximate log10 of the absolute value.
fn log10_estimate(n: &Num) -> f64 {
    let mut f = 0.0;
    let mut p = f64::from(n.weight) * 4.0;
    for (i, &d) in n.digits.iter().take(5).enumerate() {
        f = f * 10_000.0 + f64::from(d);
        if i > 0 {
            p -= 4.0;
        }
    }
    if f == 0.0 { 0.0 } else { f.log10() + p }
}

/// Square root to `rscale` decimals of a non-negative number.
pub(crate) fn sqrt(n: &Num, rscale: i32, check: Check<'_>) -> Result<Num> {
    if n.is_zero() {
        return Ok(Num::zero(rscale));
    }
    // The root of n·10000^(2·places), rounded down, has at least one more decimal than requested,
    // which is all that rounding half away from zero needs.
    let places = (rscale + 1 + DEC_DIGITS - 1).div_euclid(DEC_DIGITS).max(0);
    let zeros = n.weight + 1 + 2 * places - n.digits.len() as i32;
    let (digits, zeros) = match usize::try_from(zeros) {
        Ok(zeros) => (&n.digits[..], zeros),
        // Digits that cannot affect the last decimal of the root.
        Err(_) => (&n.digits[..(n.weight + 1 + 2 * places).max(0) as usize], 0),
    };
    let digits = match fixed128::sqrt(digits, zeros) {
        Some(root) => root,
        None => Nat::from_digits(digits, zeros, check)?.sqrt(check)?.to_digits(check)?,
    };
    let weight = digits.len() as i32 - 1 - places;
    let mut root = Num { sign: Sign::Pos, weight, dscale: rscale, digits };
    root.round(rscale);
    root.strip();
    Ok(root)
}

/// e^x to `rscale` decimals.
fn exp(x: &Num, rscale: i32, check: Check<'_>) -> Result<Num> {
    let val = x.to_f64();
    if val.abs() >= RESULT_DIGITS_MAX * 3.0 {
        if val > 0.0 {
            return Err(overflow());
        }
        return Ok(Num::zero(rscale));
    }
    fixed::exp(x, rscale, check)
}

/// Whether a number without leading zeros is between 0.9 and 1.1.
fn is_about_one(x: &Num) -> bool {
    match (x.weight, &x.digits[..]) {
        (-1, [first, ..]) => *first >= 9000,
        (0, [1]) => true,
        (0, [1, second, rest @ ..]) => {
            *second < 1000 || (*second == 1000 && rest.iter().all(|&d| d == 0))
        }
        _ => false,
    }
}

/// Estimated decimal weight of ln x.
fn estimate_ln_dweight(x: &Num) -> i32 {
    if x.signum() <= 0 {
        return 0;
    }
    if is_about_one(x) {
        let y = x.minus(&Num::one());
        let Some(&first) = y.digits.first() else { return 0 };
        return y.weight * DEC_DIGITS + f64::from(first).log10() as i32;
    }
    let mut digits = f64::from(x.digits[0]);
    let mut dweight = x.weight * DEC_DIGITS;
    if let Some(&second) = x.digits.get(1) {
        digits = digits * 10_000.0 + f64::from(second);
        dweight -= DEC_DIGITS;
    }
    let ln = digits.ln() + f64::from(dweight) * LN_10;
    ln.abs().log10() as i32
}

fn log_error(n: &Num) -> Option<PgError> {
    match n.signum() {
        0 if !n.is_nan() => {
            Some(pg_err!(INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of zero"))
        }
        -1 => Some(pg_err!(INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of a negative number")),
        _ => None,
    }
}

fn numeric_ln(n: &Num, check: Check<'_>) -> Result<Num> {
    if !n.is_finite() {
        if let Some(e) = log_error(n) {
            return Err(e);
        }
        return Ok(n.clone());
    }
    if let Some(e) = log_error(n) {
        return Err(e);
    }
    let rscale = clamp_scale(MIN_SIG_DIGITS - estimate_ln_dweight(n), n.dscale);
    ln(n, rscale, check)
}

fn numeric_log(base: &Num, n: &Num, check: Check<'_>) -> Result<Num> {
    if base.is_nan() || n.is_nan() {
        return Ok(Num::special(Sign::NaN));
    }
    let special = !base.is_finite() || !n.is_finite();
    let negative_first = special && n.signum() < 0 && base.is_zero();
    let error = if negative_first { log_error(n) } else { log_error(base) };
    if let Some(e) = error.or_else(|| log_error(n)) {
        return Err(e);
    }
    match (base.is_infinite(), n.is_infinite()) {
        (true, true) => return Ok(Num::special(Sign::NaN)),
        (true, false) => return Ok(Num::zero(0)),
        (false, true) => return Ok(Num::special(Sign::PosInf)),
        _ => {}
    }
    let (wb, wn) = (estimate_ln_dweight(base), estimate_ln_dweight(n));
    let weight = wn - wb;
    let rscale = clamp_scale(MIN_SIG_DIGITS - weight, base.dscale.max(n.dscale));
    let ln_base = ln(base, (rscale + weight - wb + 8).max(0), check)?;
    let ln_n = ln(n, (rscale + weight - wn + 8).max(0), check)?;
    ln_n.divided(&ln_base, rscale, true)
}

fn numeric_exp(n: &Num, check: Check<'_>) -> Result<Num> {
    match n.sign {
        Sign::NaN | Sign::PosInf => return Ok(n.clone()),
        Sign::NegInf => return Ok(Num::zero(0)),
        _ => {}
    }
    let val = (n.to_f64() * LOG10_E).clamp(-2000.0, 2000.0);
    exp(n, clamp_scale(MIN_SIG_DIGITS - val as i32, n.dscale), check)
}

fn numeric_sqrt(n: &Num, check: Check<'_>) -> Result<Num> {
    match n.sign {
        Sign::NaN | Sign::PosInf => return Ok(n.clone()),
        _ => {}
    }
    if n.signum() < 0 {
        return Err(pg_err!(
            INVALID_ARGUMENT_FOR_POWER_FUNCTION,
            "cannot take square root of a negative number"
        ));
    }
    let sweight = if n.weight >= 0 {
        n.weight * DEC_DIGITS / 2 + 1
    } else {
        1 - (1 - n.weight * DEC_DIGITS) / 2
    };
    sqrt(n, clamp_scale(MIN_SIG_DIGITS - sweight, n.dscale), check)
}

/// `base` to the power of an integer.
fn power_int(base: &Num, exponent: i32, check: Check<'_>) -> Result<Num> {
    let f = if base.is_zero() { 0.0 } else { f64::from(exponent) * log10_estimate(base) };
    if f > f64::from((WEIGHT_MAX + 1) * DEC_DIGITS) {
        return Err(overflow());
    }
    let rscale = clamp_scale(MIN_SIG_DIGITS, base.dscale);
    if f + 1.0 < -f64::from(MAX_DISPLAY_SCALE) {
        return Ok(Num::zero(rscale));
    }
    let mut out = match exponent {
        0 => {
            let mut one = Num::one();
            one.dscale = rscale;
            return Ok(one);
        }
        1 => base.clone(),
        -1 => return Num::one().divided(base, rscale, true),
        2 => base.times(base),
        _ => {
            // Number of significant digits for the exponentiation by squaring.
            let sig = 1 + rscale + f as i32 + (f64::from(exponent).abs().ln() as i32) + 8;
            let mut result: Option<Num> = None;
            let mut square = base.clone();
            let mut mask = exponent.unsigned_abs();
            let normalize_references = |n: &mut Num| {
                let scale = (sig - (n.weight + 1) * DEC_DIGITS + 8).max(0);
                if n.dscale > scale {
                    n.round(scale);
                    n.strip();
                }
            };
            loop {
                if mask & 1 != 0 {
                    let mut next = match &result {
                        None => square.clone(),
                        Some(r) => r.times(&square),
                    };
                    normalize_references(&mut next);
                    result = Some(next);
                }
                mask >>= 1;
                if mask == 0 {
                    break;
                }
                check()?;
                square = square.times(&square);
                normalize_references(&mut square);
                if square.weight > WEIGHT_MAX
                    || result.as_ref().is_some_and(|r| r.weight > WEIGHT_MAX)
                {
                    if exponent > 0 {
                        return Err(overflow());
                    }
                    return Ok(Num::zero(rscale));
                }
            }
            let result = result.unwrap_or_else(Num::one);
            if exponent < 0 {
                return Num::one().divided(&result, rscale, true);
            }
            result
        }
    };
    out.round(rscale);
    out.strip();
    Ok(out)
}

fn power_finite(base: &Num, exponent: &Num, check: Check<'_>) -> Result<Num> {
    let integer = if exponent.is_integral() { exponent.to_i64() } else { None };
    if let Some(e) = integer.and_then(|e| i32::try_from(e).ok()) {
        return power_int(base, e, check);
    }
    if base.is_zero() {
        return Ok(Num::zero(MIN_SIG_DIGITS));
    }
    let mut negative = false;
    let mut abs = base.clone();
    if base.sign == Sign::Neg {
        // The exponent is an integer here; the sign of the result depends on its parity.
        negative = exponent.weight >= 0
            && exponent.digits.len() as i32 == exponent.weight + 1
            && exponent.digits.last().is_some_and(|d| d % 2 == 1);
        abs = abs.negated();
    }
    let dweight = estimate_ln_dweight(&abs);
    let rough = ln(&abs, (8 - dweight).max(0), check)?;
    let val = rough.times_rounded(exponent, (8 - dweight).max(0)).to_f64();
    if val.abs() > RESULT_DIGITS_MAX * 3.01 {
        if val > 0.0 {
            return Err(overflow());
        }
        return Ok(Num::zero(MAX_DISPLAY_SCALE));
    }
    let val = val * LOG10_E;
    let rscale = clamp_scale(MIN_SIG_DIGITS - val as i32, base.dscale.max(exponent.dscale));
    let sig = (rscale + val as i32).max(0);
    let ln_scale = (sig - dweight + 8).max(0) + 8 + (exponent.weight + 1).max(0) * DEC_DIGITS;
    let ln_base = ln(&abs, ln_scale, check)?;
    let product = ln_base.times(exponent);
    let out = exp(&product, rscale, check)?;
    Ok(if negative { out.negated() } else { out })
}

fn is_odd_integer(n: &Num) -> bool {
    n.is_integral()
        && n.digits.len() as i32 == n.weight + 1
        && n.digits.last().is_some_and(|d| d % 2 == 1)
}

pub(crate) fn numeric_power(base: &Num, exponent: &Num, check: Check<'_>) -> Result<Num> {
    let is_one = |n: &Num| n.is_finite() && compare(n, &Num::one()).is_eq();
    if base.is_nan() {
        return Ok(if exponent.is_zero() { Num::one() } else { Num::special(Sign::NaN) });
    }
    if exponent.is_nan() {
        return Ok(if is_one(base) { Num::one() } else { Num::special(Sign::NaN) });
    }
    if base.signum() == 0 && exponent.signum() < 0 {
        return Err(pg_err!(
            INVALID_ARGUMENT_FOR_POWER_FUNCTION,
            "zero raised to a negative power is undefined"
        ));
    }
    let complex = || {
        pg_err!(
            INVALID_ARGUMENT_FOR_POWER_FUNCTION,
            "a negative number raised to a non-integer power yields a complex result"
        )
    };
    if base.signum() < 0 && exponent.is_finite() && !exponent.is_integral() {
        return Err(complex());
    }
    if base.is_infinite() || exponent.is_infinite() {
        if is_one(base) || exponent.is_zero() {
            return Ok(Num::one());
        }
        if base.is_zero() {
            return Ok(Num::zero(0));
        }
        if exponent.is_infinite() {
            let order = if base.is_finite() {
                arith::compare_abs(base, &Num::one())
            } else {
                Ordering::Greater
            };
            if order.is_eq() {
                return Ok(Num::one());
            }
            return Ok(if order.is_gt() == (exponent.sign == Sign::PosInf) {
                Num::special(Sign::PosInf)
            } else {
                Num::zero(0)
            });
        }
        if exponent.signum() < 0 {
            return Ok(Num::zero(0));
        }
        let negative = base.sign == Sign::NegInf && is_odd_integer(exponent);
        return Ok(Num::special(if negative { Sign::NegInf } else { Sign::PosInf }));
    }
    power_finite(base, exponent, check)
}

fn factorial(n: i64, check: Check<'_>) -> Result<Num> {
    if n < 0 {
        return Err(pg_err!(
            NUMERIC_VALUE_OUT_OF_RANGE,
            "factorial of a negative number is undefined"
        ));
    }
    if n > 32_177 {
        return Err(overflow());
    }
    let mut out = Num::one();
    for i in 2..=n {
        out = out.times(&Num::from(i));
        check()?;
    }
    Ok(out)
}

/// Greatest common divisor of finite numbers.
fn gcd(a: &Num, b: &Num, check: Check<'_>) -> Result<Num> {
    let dscale = a.dscale.max(b.dscale);
    let abs = |n: &Num| if n.sign == Sign::Neg { n.clone().negated() } else { n.clone() };
    let (mut a, mut b) = (abs(a), abs(b));
    while !b.is_zero() {
        let r = a.modulo(&b)?;
        check()?;
        (a, b) = (b, r);
    }
    a.dscale = dscale;
    Ok(a)
}

fn either_special(a: &Num, b: &Num) -> bool {
    !a.is_finite() || !b.is_finite()
}

fn width_bucket(op: &Num, low: &Num, high: &Num, count: i32) -> Result<Datum> {
    let bad = |m: &str| pg_err!(INVALID_ARGUMENT_FOR_WIDTH_BUCKET_FUNCTION, "{m}");
    if count <= 0 {
        return Err(bad("count must be greater than zero"));
    }
    if op.is_nan() || low.is_nan() || high.is_nan() {
        return Err(bad("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(bad("lower and upper bounds must be finite"));
    }
    let past = |_| count.checked_add(1).map(Datum::int4).ok_or_else(|| out_of_range("integer"));
    let ascending = match compare(low, high) {
        Ordering::Equal => return Err(bad("lower bound cannot equal upper bound")),
        order => order.is_lt(),
    };
    let (below, beyond) = if ascending {
        (compare(op, low).is_lt(), compare(op, high).is_ge())
    } else {
        (compare(op, low).is_gt(), compare(op, high).is_le())
    };
    if below {
        return Ok(Datum::int4(0));
    }
    if beyond {
        return past(());
    }
    // As in PostgreSQL 15, a quotient just below `count` may be rounded up to it.
    let sides = if ascending { (op, low, high, low) } else { (low, op, low, high) };
    let numerator = sides.0.minus(sides.1).times(&Num::from(i64::from(count)));
    let width = sides.2.minus(sides.3);
    let scale = select_div_scale(&numerator, &width);
    let mut quotient = numerator.divided(&width, scale, true)?;
    quotient.truncate(0);
    let bucket = quotient.to_i64().and_then(|n| i32::try_from(n).ok()?.checked_add(1));
    bucket.map(Datum::int4).ok_or_else(|| out_of_range("integer"))
}

/// The check for interrupts of a computation.
pub fn checked(cx: &dyn FnContext) -> impl Fn() -> Result<()> {
    || cx.check_interrupts()
}

scalars! { FNS;
    "numeric_sqrt" => |cx, a| numeric_sqrt(&Num::of(a[0]), &checked(cx))?.datum(),
    "numeric_exp" => |cx, a| numeric_exp(&Num::of(a[0]), &checked(cx))?.datum(),
    "numeric_ln" => |cx, a| numeric_ln(&Num::of(a[0]), &checked(cx))?.datum(),
    "numeric_log" => |cx, a| numeric_log(&Num::of(a[0]), &Num::of(a[1]), &checked(cx))?.datum(),
    "numeric_power" => |cx, a| numeric_power(&Num::of(a[0]), &Num::of(a[1]), &checked(cx))?.datum(),
    "numeric_fac" => |cx, a| factorial(a[0].as_i64(), &checked(cx))?.datum(),
    "numeric_gcd" => |cx, a| {
        let (x, y) = (Num::of(a[0]), Num::of(a[1]));
        if either_special(&x, &y) {
            return Num::special(Sign::NaN).datum();
        }
        gcd(&x, &y, &checked(cx))?.datum()
    },
    "numeric_lcm" => |cx, a| {
        let (x, y) = (Num::of(a[0]), Num::of(a[1]));
        if either_special(&x, &y) {
            return Num::special(Sign::NaN).datum();
        }
        let dscale = x.dscale.max(y.dscale);
        if x.is_zero() || y.is_zero() {
            return Num::zero(dscale).datum();
        }
        let g = gcd(&x, &y, &checked(cx))?;
        let mut l = x.divided(&g, 0, false)?.times(&y);
        if l.sign == Sign::Neg {
            l = l.negated();
        }
        l.dscale = dscale;
        l.datum()
    },
    "width_bucket_numeric" => |_, a| {
        width_bucket(&Num::of(a[0]), &Num::of(a[1]), &Num::of(a[2]), a[3].as_i32())
    },
    "numeric_div" => |_, a| {
        let (x, y) = (Num::of(a[0]), Num::of(a[1]));
        super::functions::divide(&x, &y, |x, y| x.divided(y, select_div_scale(x, y), true))?.datum()
    },
    "numeric_div_trunc" => |_, a| {
        let (x, y) = (Num::of(a[0]), Num::of(a[1]));
        super::functions::divide(&x, &y, |x, y| x.divided(y, 0, false))?.datum()
    },
}
