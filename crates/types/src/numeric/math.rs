//! Roots, exponentials, logarithms and powers. The scale of every result is chosen as PostgreSQL does;
//! the calculation carries enough guard digits that the last digit shown is right.

use super::arith::select_div_scale;
use super::*;
use crate::form::out_of_range;

use std::f64::consts::{LN_10, LOG10_E};
/// Decimals beyond the result's scale.
const GUARD: i32 = 12;

fn clamp_scale(scale: i32, shown: i32) -> i32 {
    scale.max(shown).clamp(0, MAX_DISPLAY_SCALE)
}

/// log10 of the absolute value, roughly.
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

/// Square root to `rscale` decimals of a number that is not negative.
pub(crate) fn sqrt(n: &Num, rscale: i32) -> Num {
    if n.is_zero() {
        return Num::zero(rscale);
    }
    let log = log10_estimate(n);
    let work = rscale.max(-(log / 2.0) as i32) + GUARD;
    // Newton's iteration from a double of the same magnitude: N = m · 10^(2k).
    let k = (log / 2.0).floor() as i32;
    let m = 10f64.powf(log - 2.0 * f64::from(k));
    let mut x = parse(format!("{:.15}e{k}", m.sqrt()).as_bytes()).expect("a number's text");
    let half = parse(b"0.5").expect("a number's text");
    let mut digits = 12;
    let wanted = work + k.max(0) + 8;
    loop {
        let quotient = n.divided(&x, work + 4, true).expect("an estimate is not zero");
        x = x.plus(&quotient).times(&half);
        x.round(work + 4);
        x.strip();
        if digits > wanted {
            break;
        }
        digits *= 2;
    }
    x.round(rscale);
    // What was cut off before may have been just beneath a half.
    let half_unit = parse(format!("5e-{}", rscale + 1).as_bytes()).expect("a number's text");
    let below = x.minus(&half_unit);
    if compare(&below.times(&below), n).is_gt() {
        x = below.minus(&half_unit);
    }
    x.round(rscale);
    x.strip();
    x
}

/// e^x to `rscale` decimals.
pub(crate) fn exp(x: &Num, rscale: i32) -> Result<Num> {
    let val = x.to_f64();
    if val.abs() >= f64::from(2000 * 3) {
        if val > 0.0 {
            return Err(overflow());
        }
        return Ok(Num::zero(rscale));
    }
    // x / 2^halvings is small; each squaring doubles the relative error.
    let mut halvings = 0u32;
    let mut scaled = val.abs();
    while scaled > 0.01 {
        scaled /= 2.0;
        halvings += 1;
    }
    let whole = (val * LOG10_E).max(0.0) as i32;
    let work = (rscale + whole + GUARD + halvings as i32 / 3 + 4).max(GUARD);
    let divisor = Num::from(1i64 << halvings);
    let mut r = x.clone();
    r.dscale = r.dscale.max(work);
    let r = r.divided(&divisor, work + 8, true)?;
    let mut sum = Num::one().plus(&r);
    let mut term = r.clone();
    let mut i = 2i64;
    loop {
        term = term.times_rounded(&r, work + 8).divided(&Num::from(i), work + 8, true)?;
        if term.is_zero() {
            break;
        }
        sum = sum.plus(&term);
        i += 1;
    }
    for _ in 0..halvings {
        // A value below 1 keeps its significant digits: the work scale is absolute.
        sum = sum.times_rounded(&sum, work + 8);
    }
    sum.round(rscale);
    sum.strip();
    Ok(sum)
}

/// ln x to `rscale` decimals of a positive number.
pub(crate) fn ln(x: &Num, rscale: i32) -> Result<Num> {
    let work = rscale.max(0) + GUARD;
    let (low, high) = (parse(b"0.9")?, parse(b"1.1")?);
    let mut roots = 0u32;
    let mut y = x.clone();
    let extra = (x.weight.abs() + 1) * DEC_DIGITS;
    // Roots bring the argument near 1; each costs one bit of the result's precision.
    while compare(&y, &low).is_le() || compare(&y, &high).is_ge() {
        let scale = work + 10 + if y.weight < 0 { -y.weight * DEC_DIGITS } else { 0 } + extra / 8;
        y = sqrt(&y, scale);
        roots += 1;
    }
    let one = Num::one();
    let digits = work + 6 + (y.minus(&one).weight + 1).abs() * DEC_DIGITS;
    let z = y.minus(&one).divided(&y.plus(&one), digits, true)?;
    let square = z.times_rounded(&z, digits);
    let mut power = z.clone();
    let mut sum = z;
    let mut i = 3i64;
    loop {
        power = power.times_rounded(&square, digits);
        let term = power.divided(&Num::from(i), digits, true)?;
        if term.is_zero() {
            break;
        }
        sum = sum.plus(&term);
        i += 2;
    }
    let mut out = sum.times(&Num::from(1i128 << (roots + 1)));
    out.round(rscale);
    out.strip();
    Ok(out)
}

/// Decimal weight of ln x.
fn estimate_ln_dweight(x: &Num) -> Result<i32> {
    if x.signum() <= 0 {
        return Ok(0);
    }
    if compare(x, &parse(b"0.9")?).is_ge() && compare(x, &parse(b"1.1")?).is_le() {
        let y = x.minus(&Num::one());
        let Some(&first) = y.digits.first() else { return Ok(0) };
        return Ok(y.weight * DEC_DIGITS + f64::from(first).log10() as i32);
    }
    let mut digits = f64::from(x.digits[0]);
    let mut dweight = x.weight * DEC_DIGITS;
    if let Some(&second) = x.digits.get(1) {
        digits = digits * 10_000.0 + f64::from(second);
        dweight -= DEC_DIGITS;
    }
    let ln = digits.ln() + f64::from(dweight) * LN_10;
    Ok(ln.abs().log10() as i32)
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

fn numeric_ln(n: &Num) -> Result<Num> {
    if !n.is_finite() {
        if let Some(e) = log_error(n) {
            return Err(e);
        }
        return Ok(n.clone());
    }
    if let Some(e) = log_error(n) {
        return Err(e);
    }
    let rscale = clamp_scale(MIN_SIG_DIGITS - estimate_ln_dweight(n)?, n.dscale);
    ln(n, rscale)
}

fn numeric_log(base: &Num, n: &Num) -> Result<Num> {
    if base.is_nan() || n.is_nan() {
        return Ok(Num::special(Sign::NaN));
    }
    if let Some(e) = log_error(base).or_else(|| log_error(n)) {
        return Err(e);
    }
    match (base.is_infinite(), n.is_infinite()) {
        (true, true) => return Ok(Num::special(Sign::NaN)),
        (true, false) => return Ok(Num::zero(0)),
        (false, true) => return Ok(Num::special(Sign::PosInf)),
        _ => {}
    }
    let (wb, wn) = (estimate_ln_dweight(base)?, estimate_ln_dweight(n)?);
    let weight = wn - wb;
    let rscale = clamp_scale(MIN_SIG_DIGITS - weight, base.dscale.max(n.dscale));
    let ln_base = ln(base, (rscale + weight - wb + 8).max(0))?;
    let ln_n = ln(n, (rscale + weight - wn + 8).max(0))?;
    ln_n.divided(&ln_base, rscale, true)
}

fn numeric_exp(n: &Num) -> Result<Num> {
    match n.sign {
        Sign::NaN | Sign::PosInf => return Ok(n.clone()),
        Sign::NegInf => return Ok(Num::zero(0)),
        _ => {}
    }
    let val = (n.to_f64() * LOG10_E).clamp(-2000.0, 2000.0);
    exp(n, clamp_scale(MIN_SIG_DIGITS - val as i32, n.dscale))
}

fn numeric_sqrt(n: &Num) -> Result<Num> {
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
    Ok(sqrt(n, clamp_scale(MIN_SIG_DIGITS - sweight, n.dscale)))
}

/// `base` to an integer power.
fn power_int(base: &Num, exponent: i32, rscale_shown: i32) -> Result<Num> {
    let f = if base.is_zero() { 0.0 } else { f64::from(exponent) * log10_estimate(base) };
    if f > f64::from((WEIGHT_MAX + 1) * DEC_DIGITS) {
        return Err(overflow());
    }
    let rscale = clamp_scale(MIN_SIG_DIGITS, rscale_shown);
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
            // Significant digits that square-and-multiply must carry.
            let sig = 1 + rscale + f as i32 + (f64::from(exponent).abs().ln() as i32) + 8;
            let mut result: Option<Num> = None;
            let mut square = base.clone();
            let mut mask = exponent.unsigned_abs();
            let tidy = |n: &mut Num| {
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
                    tidy(&mut next);
                    result = Some(next);
                }
                mask >>= 1;
                if mask == 0 {
                    break;
                }
                square = square.times(&square);
                tidy(&mut square);
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

fn power_finite(base: &Num, exponent: &Num) -> Result<Num> {
    let integer = if exponent.is_integral() { exponent.to_i64() } else { None };
    if let Some(e) = integer.and_then(|e| i32::try_from(e).ok()) {
        return power_int(base, e, base.dscale);
    }
    if base.is_zero() {
        return Ok(Num::zero(MIN_SIG_DIGITS));
    }
    let mut negative = false;
    let mut abs = base.clone();
    if base.sign == Sign::Neg {
        // Only an integral exponent comes here; its parity gives the sign.
        negative = exponent.weight >= 0
            && exponent.digits.len() as i32 == exponent.weight + 1
            && exponent.digits.last().is_some_and(|d| d % 2 == 1);
        abs = abs.negated();
    }
    let dweight = estimate_ln_dweight(&abs)?;
    let rough = ln(&abs, (8 - dweight).max(0))?;
    let val = rough.times_rounded(exponent, (8 - dweight).max(0)).to_f64();
    if val.abs() > 6020.0 {
        if val > 0.0 {
            return Err(overflow());
        }
        return Ok(Num::zero(MAX_DISPLAY_SCALE));
    }
    let val = val * LOG10_E;
    let rscale = clamp_scale(MIN_SIG_DIGITS - val as i32, base.dscale.max(exponent.dscale));
    let sig = (rscale + val as i32).max(0);
    let ln_scale = (sig - dweight + 8).max(0) + 8 + (exponent.weight + 1).max(0) * DEC_DIGITS;
    let ln_base = ln(&abs, ln_scale)?;
    let product = ln_base.times(exponent);
    let out = exp(&product, rscale)?;
    Ok(if negative { out.negated() } else { out })
}

fn is_odd_integer(n: &Num) -> bool {
    n.is_integral()
        && n.digits.len() as i32 == n.weight + 1
        && n.digits.last().is_some_and(|d| d % 2 == 1)
}

pub(crate) fn numeric_power(base: &Num, exponent: &Num) -> Result<Num> {
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
    power_finite(base, exponent)
}

fn factorial(n: i64) -> Result<Num> {
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
    }
    Ok(out)
}

/// Greatest common divisor of finite numbers.
fn gcd(a: &Num, b: &Num) -> Result<Num> {
    let dscale = a.dscale.max(b.dscale);
    let abs = |n: &Num| if n.sign == Sign::Neg { n.clone().negated() } else { n.clone() };
    let (mut a, mut b) = (abs(a), abs(b));
    while !b.is_zero() {
        let r = a.modulo(&b)?;
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
    let numerator = op.minus(low).times(&Num::from(i64::from(count)));
    let width = high.minus(low);
    let bucket = numerator.divided(&width, 0, false)?;
    let bucket = bucket.to_i64().unwrap_or(i64::MAX).min(i64::from(count) - 1) + 1;
    Ok(Datum::int4(bucket as i32))
}

scalars! { FNS;
    "numeric_sqrt" => |_, a| numeric_sqrt(&Num::of(a[0]))?.datum(),
    "numeric_exp" => |_, a| numeric_exp(&Num::of(a[0]))?.datum(),
    "numeric_ln" => |_, a| numeric_ln(&Num::of(a[0]))?.datum(),
    "numeric_log" => |_, a| numeric_log(&Num::of(a[0]), &Num::of(a[1]))?.datum(),
    "numeric_power" => |_, a| numeric_power(&Num::of(a[0]), &Num::of(a[1]))?.datum(),
    "numeric_fac" => |_, a| factorial(a[0].as_i64())?.datum(),
    "numeric_gcd" => |_, a| {
        let (x, y) = (Num::of(a[0]), Num::of(a[1]));
        if either_special(&x, &y) {
            return Num::special(Sign::NaN).datum();
        }
        gcd(&x, &y)?.datum()
    },
    "numeric_lcm" => |_, a| {
        let (x, y) = (Num::of(a[0]), Num::of(a[1]));
        if either_special(&x, &y) {
            return Num::special(Sign::NaN).datum();
        }
        let dscale = x.dscale.max(y.dscale);
        if x.is_zero() || y.is_zero() {
            return Num::zero(dscale).datum();
        }
        let g = gcd(&x, &y)?;
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
