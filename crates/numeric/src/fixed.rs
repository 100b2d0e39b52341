//! e^x and ln x in binary fixed-point arithmetic: non-negative numbers with a whole number of limbs
//! after the binary point.
//!
//! Every function computes with the precision that its result needs plus its own rounding errors,
//! so that the requested decimals are correct, except that with a probability of about 10^-8 the
//! last one is rounded the other way. Costs for p bits: about 2·√p products of p/64 limbs for e^x,
//! and one e^x at full precision for ln x.

use super::natural::{Check, Divisor, Limbs, Nat};
use super::num::{DEC_DIGITS, NBASE, Num, Sign};
use super::{fixed128, natural};
use pgerror::Result;

/// Guard digits: decimals beyond the requested ones.
const GUARD: i32 = 9;
const BITS_PER_DECIMAL: f64 = std::f64::consts::LOG2_10;

/// Number of limbs of ln 2 and ln 10 after the point, sufficient for results of up to 70 digits.
const CONSTANT_LIMBS: usize = 5;
const LN_2: [u64; 5] = [
    0xe7b8_7620_6deb_ac98,
    0x8a0d_175b_8baa_fa2b,
    0x40f3_4326_7298_b62d,
    0xc9e3_b398_03f2_f6af,
    0xb172_17f7_d1cf_79ab,
];
const LN_10: [u64; 6] = [
    0x58bc_0b5e_c6a0_4173,
    0x0f18_7a08_07c0_b5ca,
    0x8a3f_b3e7_6977_e43a,
    0xa95b_58ae_0b4c_28a3,
    0x4d76_3776_aaa2_b05b,
    2,
];

/// The divisors of the first terms of a series, by value; index 0 is not used.
static SMALL_DIVISORS: [Divisor; 64] = {
    let mut all = [Divisor::new(1); 64];
    let mut d = 1;
    while d < all.len() {
        all[d] = Divisor::new(d as u64);
        d += 1;
    }
    all
};

/// Number of bits after the point for a number of decimals.
fn bits_for(decimals: i32) -> usize {
    (f64::from(decimals.max(0)) * BITS_PER_DECIMAL) as usize + 1
}

fn limbs_for(bits: usize) -> usize {
    bits.div_ceil(64).max(1)
}

/// A number whose lowest `point` limbs are after the binary point.
#[derive(Clone, Debug)]
struct Fixed {
    limbs: Limbs,
    point: usize,
}

impl Fixed {
    fn zero(point: usize) -> Fixed {
        Fixed { limbs: Limbs::from_elem(0, point + 1), point }
    }

    fn whole(v: u64, point: usize) -> Fixed {
        let mut out = Fixed::zero(point);
        out.limbs[point] = v;
        out
    }

    fn from_f64(v: f64, point: usize) -> Fixed {
        let mut out = Fixed::whole(v as u64, point);
        if let Some(first) = out.limbs[..point].last_mut() {
            *first = (v.fract() * 2f64.powi(64)) as u64;
        }
        out
    }

    fn is_zero(&self) -> bool {
        self.limbs.iter().all(|&l| l == 0)
    }

    /// The approximate value.
    fn to_f64(&self) -> f64 {
        let weight = |i: usize| 2f64.powi((i as i32 - self.point as i32) * 64);
        let top = self.limbs.iter().enumerate().rev().take(3);
        top.map(|(i, &limb)| limb as f64 * weight(i)).sum()
    }

    fn add(&mut self, other: &Fixed) {
        natural::add_in_place(&mut self.limbs, &other.limbs);
    }

    /// Subtracts; the result is 0 if `other` is larger because of rounding.
    fn subtract(&mut self, other: &Fixed) {
        if natural::subtract_in_place(&mut self.limbs, &other.limbs) {
            self.limbs.iter_mut().for_each(|l| *l = 0);
        }
    }

    fn is_less_than(&self, other: &Fixed) -> bool {
        self.limbs.iter().rev().lt(other.limbs.iter().rev())
    }

    /// The product, truncated to the common precision; its integer part must fit a limb.
    fn times(&self, other: &Fixed) -> Fixed {
        let significant = |f: &Fixed| f.limbs.iter().rposition(|&l| l != 0).map_or(0, |i| i + 1);
        let (a, b) = (&self.limbs[..significant(self)], &other.limbs[..significant(other)]);
        let mut out = Fixed::zero(self.point);
        let product = natural::product(a, b);
        for (to, &from) in out.limbs.iter_mut().zip(product.iter().skip(self.point)) {
            *to = from;
        }
        out
    }

    /// The quotient, truncated to the common precision; its integer part must fit a limb, and
    /// `other` must not be 0.
    fn divided(&self, other: &Fixed) -> Fixed {
        let mut dividend = Limbs::from_elem(0, self.point);
        dividend.extend_from_slice(&self.limbs);
        let divisor = Nat::from_limbs(other.limbs.clone());
        let quotient = Nat::from_limbs(dividend).divided(&divisor);
        let mut limbs = quotient.into_limbs();
        limbs.resize(self.point + 1, 0);
        Fixed { limbs, point: self.point }
    }

    fn multiply_small(&mut self, by: u64) {
        natural::multiply_add(&mut self.limbs, by, 0);
    }

    fn divide_small(&mut self, by: u64) {
        let used = self.limbs.iter().rposition(|&l| l != 0).map_or(0, |i| i + 1);
        let divisor = SMALL_DIVISORS.get(by as usize).copied();
        divisor.unwrap_or_else(|| Divisor::new(by)).divide(&mut self.limbs[..used]);
    }

    fn halve(&mut self, times: u32) {
        let nat = Nat::from_limbs(std::mem::take(&mut self.limbs)).shifted_right(times as usize);
        self.limbs = nat.into_limbs();
        self.limbs.resize(self.point + 1, 0);
    }

    /// The number with another precision.
    fn with_point(&self, point: usize) -> Fixed {
        let mut limbs = self.limbs.clone();
        if point < self.point {
            limbs.drain(..self.point - point);
        } else {
            limbs.insert_many(0, std::iter::repeat_n(0, point - self.point));
        }
        Fixed { limbs, point }
    }

    /// The absolute value of a number; its integer part must fit a limb.
    fn from_num(n: &Num, point: usize) -> Fixed {
        let digit = |weight: i32| {
            let i = n.weight - weight;
            usize::try_from(i).ok().and_then(|i| n.digits.get(i)).map_or(0, |&d| d as u64)
        };
        let integer = (0..=n.weight)
            .rev()
            .fold(0u64, |v, w| v.wrapping_mul(NBASE as u64).wrapping_add(digit(w)));
        // Digits beyond the precision are ignored.
        let held = n.digits.len() as i32 - n.weight - 1;
        let wanted = (point as f64 * 64.0 / BITS_PER_DECIMAL) as i32 / DEC_DIGITS + 2;
        let count = held.min(wanted).max(0);
        let chunks = (count + 3) / 4;
        let mut out = Fixed::zero(point);
        for chunk in (0..chunks).rev() {
            let first = -1 - 4 * chunk;
            let value = (0..4).fold(0, |v, i| v * NBASE as u64 + digit(first - i));
            out.limbs[point] = value;
            natural::CHUNK.divide(&mut out.limbs);
        }
        out.limbs[point] = integer;
        out
    }

    /// Converts the number times 2^`exponent`, rounded to `rscale` decimals.
    fn to_num(&self, exponent: i64, sign: Sign, rscale: i32, check: Check<'_>) -> Result<Num> {
        let places = (rscale.max(0) + 5).div_euclid(DEC_DIGITS);
        let mut limbs = self.limbs.clone();
        let mut left = places;
        while left > 0 {
            let step = left.min(4);
            let carry = natural::multiply_add(&mut limbs, (NBASE as u64).pow(step as u32), 0);
            if carry > 0 {
                limbs.push(carry);
            }
            left -= step;
        }
        let shift = exponent - 64 * self.point as i64;
        let scaled = Nat::from_limbs(limbs);
        let scaled = match usize::try_from(shift) {
            Ok(left) => scaled.shifted_left(left),
            Err(_) => scaled.shifted_right(shift.unsigned_abs() as usize),
        };
        let digits = scaled.to_digits(check)?;
        let weight = digits.len() as i32 - 1 - places;
        let mut out = Num { sign, weight, dscale: rscale, digits };
        out.round(rscale);
        out.strip();
        Ok(out)
    }
}

/// arcoth n = 1/n + 1/3n³ + 1/5n⁵ + …
fn arcoth(n: u64, point: usize) -> Fixed {
    let mut power = Fixed::whole(1, point);
    power.divide_small(n);
    let mut sum = power.clone();
    for odd in (3u64..).step_by(2) {
        power.divide_small(n * n);
        if power.is_zero() {
            break;
        }
        let mut term = power.clone();
        term.divide_small(odd);
        sum.add(&term);
    }
    sum
}

/// `a·arcoth 31 + b·arcoth 49 + c·arcoth 161`, the form of the logarithms of 2, 3 and 5.
fn combined([a, b, c]: [u64; 3], point: usize) -> Fixed {
    let mut sum = Fixed::zero(point + 1);
    for (n, factor) in [(31, a), (49, b), (161, c)] {
        let mut part = arcoth(n, point + 1);
        part.multiply_small(factor);
        sum.add(&part);
    }
    sum.with_point(point)
}

fn ln_2(point: usize) -> Fixed {
    if point <= CONSTANT_LIMBS {
        let mut limbs = Limbs::from_slice(&LN_2);
        limbs.push(0);
        return Fixed { limbs, point: CONSTANT_LIMBS }.with_point(point);
    }
    combined([14, 10, 6], point)
}

fn ln_10(point: usize) -> Fixed {
    if point <= CONSTANT_LIMBS {
        let limbs = Limbs::from_slice(&LN_10);
        return Fixed { limbs, point: CONSTANT_LIMBS }.with_point(point);
    }
    combined([46, 34, 20], point)
}

/// e^x as `m·2^k` with m in [1, 2]; `negative` is the sign of x.
fn exp_parts(x: &Fixed, negative: bool, check: Check<'_>) -> Result<(Fixed, i64)> {
    let point = x.point;
    let ln_2 = ln_2(point);
    let estimate = (x.to_f64() / std::f64::consts::LN_2) as u64;
    // Adjusts k so that the remainder r of x = k·ln 2 + r is in [0, ln 2).
    let mut k = estimate.saturating_sub(1);
    let mut multiple = ln_2.clone();
    multiple.multiply_small(k);
    let mut r = x.clone();
    r.subtract(&multiple);
    while !r.is_less_than(&ln_2) {
        r.subtract(&ln_2);
        k += 1;
    }
    let mut exponent = k as i64;
    if negative {
        exponent = -exponent;
        if !r.is_zero() {
            exponent -= 1;
            let mut rest = ln_2;
            rest.subtract(&r);
            r = rest;
        }
    }
    let halvings = (64.0 * point as f64).sqrt() as u32 * 3 / 4;
    r.halve(halvings);
    let mut sum = Fixed::whole(1, point);
    sum.add(&r);
    let mut term = r.clone();
    for i in 2.. {
        term = term.times(&r);
        term.divide_small(i);
        if term.is_zero() {
            break;
        }
        sum.add(&term);
        check()?;
    }
    for _ in 0..halvings {
        sum = sum.times(&sum);
        check()?;
    }
    Ok((sum, exponent))
}

/// Upper bound of the bits lost by the halvings of [`exp_parts`] and by its other errors.
fn exp_loss(bits: usize) -> usize {
    (bits as f64).sqrt() as usize + 32
}

/// e^x to `rscale` decimals, for |x| below 6000.
pub(crate) fn exp(x: &Num, rscale: i32, check: Check<'_>) -> Result<Num> {
    let growth = (x.to_f64() / std::f64::consts::LN_2) as i64;
    let wanted = bits_for(rscale + GUARD) as i64 + growth;
    let wanted = wanted.max(16) as usize;
    let point = limbs_for(wanted + exp_loss(wanted));
    let (m, k) = exp_parts(&Fixed::from_num(x, point), x.sign == Sign::Neg, check)?;
    m.to_num(k, Sign::Pos, rscale, check)
}

/// ln m for m in [1, 10), to about `bits` bits.
fn ln_small(m: &Fixed, bits: usize, check: Check<'_>) -> Result<Fixed> {
    // Starts with a double of 48 correct bits, or with a third of the precision; then one step of y
    // + t - t²/2 + t³/3 with t = m·e^-y - 1 triples the precision.
    let start = if bits <= 180 {
        Fixed::from_f64(m.to_f64().ln(), limbs_for(bits))
    } else {
        ln_small(m, bits / 3 + 16, check)?
    };
    let point = limbs_for(bits + exp_loss(bits));
    let m = m.with_point(point);
    let mut y = start.with_point(point);
    let (inverse, k) = exp_parts(&y, true, check)?;
    let mut product = m.times(&inverse);
    product.halve(k.unsigned_abs() as u32);
    let one = Fixed::whole(1, point);
    let above = !product.is_less_than(&one);
    let (mut t, less) = if above { (product, one) } else { (one, product) };
    t.subtract(&less);
    let mut square = t.times(&t);
    let mut cube = square.times(&t);
    square.divide_small(2);
    cube.divide_small(3);
    if above {
        y.add(&t);
        y.add(&cube);
        y.subtract(&square);
    } else {
        t.add(&square);
        t.add(&cube);
        y.subtract(&t);
    }
    Ok(y)
}

/// ln x from z = (x - 1) / (x + 1) near 0: 2·(z + z³/3 + z⁵/5 + …).
fn ln_near_one(difference: &Num, bits: usize, rscale: i32, check: Check<'_>) -> Result<Num> {
    let point = limbs_for(bits);
    let d = Fixed::from_num(difference, point);
    let mut divisor = Fixed::whole(2, point);
    match difference.sign {
        Sign::Neg => divisor.subtract(&d),
        _ => divisor.add(&d),
    }
    let mut power = d.divided(&divisor);
    let square = power.times(&power);
    let mut sum = power.clone();
    for odd in (3u64..).step_by(2) {
        power = power.times(&square);
        if power.is_zero() {
            break;
        }
        let mut term = power.clone();
        term.divide_small(odd);
        sum.add(&term);
        check()?;
    }
    sum.to_num(1, difference.sign, rscale, check)
}

/// Whether the series of [`ln_near_one`] needs fewer products than the computation of e^x, which
/// needs about 2·√bits. If z is below 2^-n, each term of the series adds 2n bits.
fn is_near_one(difference: &Num, bits: usize) -> bool {
    let Some(&first) = difference.digits.first() else { return false };
    let log2 =
        f64::from(first + 1).log2() + f64::from(difference.weight * DEC_DIGITS) * BITS_PER_DECIMAL;
    let missing_bits = 1.0 - log2;
    missing_bits >= 4.0 && missing_bits >= (bits as f64).sqrt() / 3.0
}

/// ln x to `rscale` decimals, for positive x.
pub(crate) fn ln(x: &Num, rscale: i32, check: Check<'_>) -> Result<Num> {
    match fixed128::ln(x, rscale) {
        Some(out) => Ok(out),
        None => ln_long(x, rscale, check),
    }
}

/// [`ln`] for arguments and results of any length.
pub(super) fn ln_long(x: &Num, rscale: i32, check: Check<'_>) -> Result<Num> {
    let difference = x.minus(&Num::one());
    if difference.is_zero() {
        return Ok(Num::zero(rscale));
    }
    // Each of the few terms of the series has an error of at most two units in the last place.
    let near_bits = bits_for(rscale + GUARD) + 16;
    if is_near_one(&difference, near_bits) {
        return ln_near_one(&difference, near_bits, rscale, check);
    }
    // x = m·10^e with 1 ≤ m < 10.
    let mut x = x.clone();
    x.strip();
    let first = x.digits.first().copied().unwrap_or(1);
    let above = i32::from(first >= 10) + i32::from(first >= 100) + i32::from(first >= 1000);
    let e = i64::from(x.weight * DEC_DIGITS + above);
    let wanted = bits_for(rscale + GUARD) + 24;
    let point = limbs_for(wanted + exp_loss(wanted));
    let mut mantissa = Num { weight: 0, ..x };
    // Digits beyond the precision.
    mantissa.digits.truncate((point as f64 * 64.0 / BITS_PER_DECIMAL) as usize / 4 + 4);
    let mut m = Fixed::from_num(&mantissa, point);
    m.divide_small(10u64.pow(above as u32));
    let mut y = ln_small(&m, wanted, check)?.with_point(point);
    let mut shift = ln_10(point);
    shift.multiply_small(e.unsigned_abs());
    if e >= 0 {
        y.add(&shift);
        return y.to_num(0, Sign::Pos, rscale, check);
    }
    // ln m is less than ln 10.
    shift.subtract(&y);
    shift.to_num(0, Sign::Neg, rscale, check)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never() -> Result<()> {
        Ok(())
    }

    #[test]
    fn the_constants_are_those_of_the_series() {
        for point in 1..=CONSTANT_LIMBS {
            assert_eq!(
                ln_2(point).limbs,
                combined([14, 10, 6], CONSTANT_LIMBS).with_point(point).limbs
            );
            assert_eq!(
                ln_10(point).limbs,
                combined([46, 34, 20], CONSTANT_LIMBS).with_point(point).limbs
            );
        }
    }

    #[test]
    fn exp_of_ln_is_the_number() {
        let texts = [
            "2",
            "0.5",
            "9.999",
            "1.0002",
            "1.1",
            "0.93",
            "0.99999999",
            "1.12",
            "1.04",
            "1.000000001",
            "123456789.000001",
            "1e-40",
            "7e300",
        ];
        for text in texts {
            for rscale in [0, 5, 30, 200, 1200] {
                let x = crate::parse(text.as_bytes()).expect("a number");
                let y = ln(&x, rscale + 320, &never).expect("no interrupt");
                let mut want = x.clone();
                want.round(rscale);
                want.strip();
                let back = exp(&y, rscale, &never).expect("no interrupt");
                assert_eq!(back.to_string(), want.to_string(), "{text} to {rscale}");
            }
        }
    }
}
