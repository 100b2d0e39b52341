//! Addition, subtraction, multiplication, division, rounding and comparison of finite numbers.

use super::num::{DEC_DIGITS, Digits, MAX_DISPLAY_SCALE, MIN_SIG_DIGITS, NBASE, Num, Sign};
use pgerror::Result;
use smallvec::SmallVec;
use std::cmp::Ordering;
use values::type_io::division_by_zero;

const POW10: [i32; 4] = [1, 10, 100, 1000];

/// Order of the absolute values.
pub(crate) fn compare_abs(a: &Num, b: &Num) -> Ordering {
    let digit = |n: &Num, i: i32| {
        if i < 0 { 0 } else { n.digits.get(i as usize).copied().unwrap_or(0) }
    };
    // Positions run from the higher weight down.
    let top = a.weight.max(b.weight);
    let low = (a.weight - a.digits.len() as i32).min(b.weight - b.digits.len() as i32);
    if a.digits.is_empty() || b.digits.is_empty() {
        return a.digits.len().min(1).cmp(&b.digits.len().min(1));
    }
    if a.weight != b.weight && a.digits[0] != 0 && b.digits[0] != 0 {
        return a.weight.cmp(&b.weight);
    }
    for w in (low..=top).rev() {
        let order = digit(a, a.weight - w).cmp(&digit(b, b.weight - w));
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

pub(crate) fn compare_finite(a: &Num, b: &Num) -> Ordering {
    match (a.signum(), b.signum()) {
        (1, 1) => compare_abs(a, b),
        (-1, -1) => compare_abs(b, a),
        (x, y) => x.cmp(&y),
    }
}

/// The digits of `a` at their places in the result of an operation on `a` and `b`, with `spare`
/// zero digits in front; the weight of the first digit; and the range of the digits of `b` in them.
fn aligned(a: &Num, b: &Num, spare: i32) -> (Digits, i32, std::ops::Range<usize>) {
    let top = a.weight.max(b.weight) + spare;
    let low = (a.weight - a.digits.len() as i32).min(b.weight - b.digits.len() as i32) + 1;
    let mut out = Digits::from_elem(0, (top - low + 1).max(1) as usize);
    let place = |n: &Num| (top - n.weight) as usize..(top - n.weight) as usize + n.digits.len();
    out[place(a)].copy_from_slice(&a.digits);
    (out, top, place(b))
}

fn add_abs(a: &Num, b: &Num) -> (Digits, i32) {
    let (mut out, top, place) = aligned(a, b, 1);
    let first = place.start;
    // Sums of two digits fit; without carries the loop is vectorized.
    for (sum, &y) in out[place.clone()].iter_mut().zip(&b.digits) {
        *sum = sum.wrapping_add(y);
    }
    let mut carry = 0;
    for (i, sum) in out[..place.end].iter_mut().enumerate().rev() {
        if i < first && carry == 0 {
            break;
        }
        let v = sum.wrapping_add(carry);
        carry = i16::from(v >= NBASE as i16);
        *sum = v.wrapping_sub(carry.wrapping_mul(NBASE as i16));
    }
    (out, top)
}

/// |a| - |b| where |a| ≥ |b|.
fn sub_abs(a: &Num, b: &Num) -> (Digits, i32) {
    let (mut out, top, place) = aligned(a, b, 0);
    let first = place.start;
    for (rest, &y) in out[place.clone()].iter_mut().zip(&b.digits) {
        *rest = rest.wrapping_sub(y);
    }
    let mut borrow = 0;
    for (i, rest) in out[..place.end].iter_mut().enumerate().rev() {
        if i < first && borrow == 0 {
            break;
        }
        let v = rest.wrapping_sub(borrow);
        borrow = i16::from(v < 0);
        *rest = v.wrapping_add(borrow.wrapping_mul(NBASE as i16));
    }
    (out, top)
}

impl Num {
    fn add_signed(&self, other: &Num, flip: bool) -> Num {
        let other_sign = match (other.sign, flip) {
            (Sign::Pos, true) => Sign::Neg,
            (Sign::Neg, true) => Sign::Pos,
            (s, _) => s,
        };
        let dscale = self.dscale.max(other.dscale);
        let (sign, (digits, weight)) = if self.sign == other_sign {
            (self.sign, add_abs(self, other))
        } else if compare_abs(self, other).is_ge() {
            (self.sign, sub_abs(self, other))
        } else {
            (other_sign, sub_abs(other, self))
        };
        let mut out = Num { sign, weight, dscale, digits };
        out.strip();
        out
    }

    /// Sum of finite numbers.
    pub fn plus(&self, other: &Num) -> Num {
        self.add_signed(other, false)
    }

    /// Difference of finite numbers.
    pub fn minus(&self, other: &Num) -> Num {
        self.add_signed(other, true)
    }

    /// The exact product of finite numbers; its scale is the sum of the scales.
    pub fn times(&self, other: &Num) -> Num {
        let dscale = self.dscale + other.dscale;
        if self.digits.is_empty() || other.digits.is_empty() {
            return Num::zero(dscale);
        }
        let (short, long) =
            if self.digits.len() < other.digits.len() { (self, other) } else { (other, self) };
        let sign = if self.sign == other.sign { Sign::Pos } else { Sign::Neg };
        if short.digits.len() >= PACKED_DIGITS_MIN {
            let (digits, weight) = packed_product(short, long);
            let mut out = Num { sign, weight, dscale, digits };
            out.strip();
            return out;
        }
        let len = short.digits.len() + long.digits.len();
        // Fewer than 24 products below 10^8 and a carry fit 32 bits. Wrapping arithmetic, which
        // never wraps here, has no overflow checks and so can be vectorized.
        let mut sums: SmallVec<[u32; 64]> = SmallVec::from_elem(0, len);
        for (i, &x) in short.digits.as_slice().iter().enumerate() {
            let x = u32::from(x as u16);
            for (s, &y) in sums[i + 1..].iter_mut().zip(long.digits.as_slice()) {
                *s = s.wrapping_add(x.wrapping_mul(u32::from(y as u16)));
            }
        }
        let digits = carried(&mut sums);
        let mut out = Num { sign, weight: self.weight + other.weight + 1, dscale, digits };
        out.strip();
        out
    }

    /// The product rounded to `rscale` decimals.
    pub(crate) fn times_rounded(&self, other: &Num, rscale: i32) -> Num {
        let mut out = self.times(other);
        out.round(rscale);
        out.strip();
        out
    }

    /// The quotient to `rscale` decimals, rounded half away from zero or truncated.
    pub fn divided(&self, other: &Num, rscale: i32, round: bool) -> Result<Num> {
        let mut divisor = other.clone();
        divisor.strip();
        if divisor.digits.is_empty() {
            return Err(division_by_zero());
        }
        let mut dividend = self.clone();
        dividend.strip();
        if dividend.digits.is_empty() {
            return Ok(Num::zero(rscale));
        }
        let weight = dividend.weight - divisor.weight;
        let count = (weight + 1 + (rscale + DEC_DIGITS - 1).div_euclid(DEC_DIGITS)).max(1) + 1;
        let digits = if divisor.digits.len() >= PACKED_DIGITS_MIN {
            packed_quotient(&dividend.digits, &divisor.digits, count as usize)
        } else {
            long_division(&dividend.digits, &divisor.digits, count as usize)
        };
        let sign = if dividend.sign == divisor.sign { Sign::Pos } else { Sign::Neg };
        let mut out = Num { sign, weight, dscale: rscale, digits };
        if round {
            out.round(rscale);
        } else {
            out.truncate(rscale);
        }
        out.strip();
        Ok(out)
    }

    /// Remainder of division truncated toward zero.
    pub fn modulo(&self, other: &Num) -> Result<Num> {
        let whole = self.divided(other, 0, false)?;
        Ok(self.minus(&whole.times(other)))
    }

    /// Rounds half away from zero to `rscale` decimals (negative: before the decimal point).
    pub fn round(&mut self, rscale: i32) {
        self.limit_decimals(rscale, true);
    }

    /// Truncates after `rscale` decimals.
    pub fn truncate(&mut self, rscale: i32) {
        self.limit_decimals(rscale, false);
    }

    fn limit_decimals(&mut self, rscale: i32, round: bool) {
        self.dscale = rscale;
        let decimals = (self.weight + 1) * DEC_DIGITS + rscale;
        if decimals < 0 {
            self.digits.clear();
            self.weight = 0;
            self.sign = Sign::Pos;
            return;
        }
        let mut keep = ((decimals + DEC_DIGITS - 1) / DEC_DIGITS) as usize;
        let part = decimals % DEC_DIGITS;
        let len = self.digits.len();
        if keep > len || (keep == len && part == 0) {
            return;
        }
        let mut carry;
        if part == 0 {
            carry = i32::from(round && self.digits[keep] >= (NBASE / 2) as i16);
            self.digits.truncate(keep);
        } else {
            self.digits.truncate(keep);
            keep -= 1;
            let unit = POW10[(DEC_DIGITS - part) as usize];
            let digit = i32::from(self.digits[keep]);
            let extra = digit % unit;
            let mut digit = digit - extra;
            carry = 0;
            if round && extra >= unit / 2 {
                digit += unit;
                if digit >= NBASE {
                    digit -= NBASE;
                    carry = 1;
                }
            }
            self.digits[keep] = digit as i16;
        }
        while carry != 0 && keep > 0 {
            keep -= 1;
            let v = i32::from(self.digits[keep]) + 1;
            carry = i32::from(v >= NBASE);
            self.digits[keep] = if carry != 0 { 0 } else { v as i16 };
        }
        if carry != 0 {
            self.digits.insert(0, 1);
            self.weight += 1;
        }
        if self.digits.is_empty() {
            self.weight = 0;
            self.sign = Sign::Pos;
        }
    }
}

/// Products of at least this many digits take their carries by [`carry_at_once`].
const CARRIES_AT_ONCE_MIN: usize = 64;

/// The digits of a product, of the sums of the products of digits.
fn carried(sums: &mut [u32]) -> Digits {
    const BASE: u32 = NBASE as u32;
    let mut digits = Digits::from_elem(0, sums.len());
    let mut carry = 0;
    if sums.len() < CARRIES_AT_ONCE_MIN {
        for (digit, sum) in digits.iter_mut().zip(sums).rev() {
            let v = sum.wrapping_add(carry);
            *digit = (v % BASE) as i16;
            carry = v / BASE;
        }
        return digits;
    }
    // Sums below 2^32 become less than 2^32 / BASE + BASE, and those less than 2 · BASE.
    carry_at_once(sums);
    carry_at_once(sums);
    for (digit, sum) in digits.iter_mut().zip(sums).rev() {
        let v = sum.wrapping_add(carry);
        carry = u32::from(v >= BASE);
        *digit = v.wrapping_sub(carry.wrapping_mul(BASE)) as i16;
    }
    digits
}

/// Adds to each sum the carry of the sum below it, as it was before. So no division waits for the
/// one before it, and the loop is vectorized.
fn carry_at_once(sums: &mut [u32]) {
    const BASE: u32 = NBASE as u32;
    let Some(last) = sums.len().checked_sub(1) else { return };
    for i in 0..last {
        sums[i] = (sums[i] % BASE).wrapping_add(sums[i + 1] / BASE);
    }
    sums[last] %= BASE;
}

/// Numbers with at least this many digits are computed in base 10^8, in a quarter of the steps.
const PACKED_DIGITS_MIN: usize = 24;

const PACKED_BASE: u64 = 100_000_000;

/// Two base-10000 digits per limb; the last limb ends with the last digit.
fn packed(digits: &[i16]) -> Vec<u32> {
    let pair = |p: &[i16]| p.iter().fold(0, |v, &d| v * NBASE as u32 + d as u32);
    let (first, rest) = digits.split_at(digits.len() % 2);
    let lead = if first.is_empty() { None } else { Some(pair(first)) };
    lead.into_iter().chain(rest.chunks_exact(2).map(pair)).collect()
}

fn unpack(limbs: impl Iterator<Item = u64>, out: &mut Digits) {
    for limb in limbs {
        out.push((limb / NBASE as u64) as i16);
        out.push((limb % NBASE as u64) as i16);
    }
}

/// Digits and weight of the product of two long numbers.
fn packed_product(a: &Num, b: &Num) -> (Digits, i32) {
    /// Products are below 10^16: the sum of this many and a carry fits 64 bits.
    const SUMS_MAX: usize = 1800;
    let (x, y) = (packed(&a.digits), packed(&b.digits));
    let mut sums = vec![0u64; x.len() + y.len()];
    let carry_on = |sums: &mut [u64]| {
        let mut carry = 0;
        for s in sums.iter_mut().rev() {
            let v = *s + carry;
            *s = v % PACKED_BASE;
            carry = v / PACKED_BASE;
        }
    };
    for (i, &f) in x.iter().enumerate() {
        // Wrapping arithmetic, which never wraps here, can be vectorized.
        for (s, &g) in sums[i + 1..].iter_mut().zip(&y) {
            *s = s.wrapping_add(u64::from(f) * u64::from(g));
        }
        if i % SUMS_MAX == SUMS_MAX - 1 {
            carry_on(&mut sums);
        }
    }
    carry_on(&mut sums);
    let mut digits = Digits::with_capacity(2 * sums.len());
    unpack(sums.into_iter(), &mut digits);
    let last = |n: &Num| n.weight - (n.digits.len() as i32 - 1);
    let weight = last(a) + last(b) + digits.len() as i32 - 1;
    (digits, weight)
}

/// Like [`long_division`], in base 10^8. Digits are paired from the front in the dividend and in
/// the divisor, which scales both alike; so the first limb of the quotient is its first digit, and
/// each following limb contains two digits.
fn packed_quotient(u: &[i16], v: &[i16], count: usize) -> Digits {
    let from_front = |digits: &[i16]| -> Vec<u64> {
        let pair = |p: &[i16]| p[0] as u64 * NBASE as u64 + p.get(1).map_or(0, |&d| d as u64);
        digits.chunks(2).map(pair).collect()
    };
    let (mut rest, mut divisor) = (from_front(u), from_front(v));
    let scale = PACKED_BASE / (divisor[0] + 1);
    let scaled = |limbs: &mut [u64]| {
        let mut carry = 0;
        for x in limbs.iter_mut().rev() {
            let product = *x * scale + carry;
            *x = product % PACKED_BASE;
            carry = product / PACKED_BASE;
        }
        carry
    };
    scaled(&mut divisor);
    let n = divisor.len();
    let limbs = 1 + count.saturating_sub(1).div_ceil(2);
    let top = scaled(&mut rest);
    rest.insert(0, top);
    rest.resize((limbs + n + 1).max(rest.len()), 0);
    let mut out = Digits::with_capacity(2 * limbs);
    for j in 0..limbs {
        let q = quotient_limb(&mut rest[j..j + n + 2], &divisor);
        match j {
            0 => out.push(q as i16),
            _ => unpack(std::iter::once(q), &mut out),
        }
    }
    out.truncate(count);
    out
}

/// The first limb of `rest / divisor`, both normalized; subtracts its multiple from `rest`, which
/// has two more limbs than the divisor.
fn quotient_limb(rest: &mut [u64], divisor: &[u64]) -> u64 {
    let head = rest[0] * PACKED_BASE + rest[1];
    let (mut q, mut r) = (head / divisor[0], head % divisor[0]);
    while q >= PACKED_BASE || q * divisor[1] > r * PACKED_BASE + rest[2] {
        q -= 1;
        r += divisor[0];
        if r >= PACKED_BASE {
            break;
        }
    }
    if q == 0 {
        return 0;
    }
    let n = divisor.len();
    let mut carry = 0;
    for (x, &d) in rest[1..=n].iter_mut().zip(divisor).rev() {
        let product = q * d + carry;
        carry = product / PACKED_BASE;
        let low = product % PACKED_BASE;
        if *x < low {
            *x += PACKED_BASE;
            carry += 1;
        }
        *x -= low;
    }
    if rest[0] < carry {
        // The estimate was one too large.
        q -= 1;
        let mut carry = 0;
        for (x, &d) in rest[1..=n].iter_mut().zip(divisor).rev() {
            let sum = *x + d + carry;
            carry = sum / PACKED_BASE;
            *x = sum % PACKED_BASE;
        }
    }
    rest[0] = 0;
    q
}

/// `count` base-10000 digits of the fraction `u / v` (both read as 0 ≤ d₀.d₁d₂… in base 10000,
/// first digits not 0). Knuth's algorithm D.
fn long_division(u: &[i16], v: &[i16], count: usize) -> Digits {
    let base = NBASE as u32;
    let mut out = Digits::with_capacity(count);
    if v.len() == 1 {
        let d = v[0] as u32;
        let mut rest = 0u32;
        for i in 0..count {
            let cur = rest * base + u.get(i).map_or(0, |&x| x as u32);
            out.push((cur / d) as i16);
            rest = cur % d;
        }
        return out;
    }
    let n = v.len();
    let scale = base / (v[0] as u32 + 1);
    let mut divisor = vec![0u32; n];
    let mut carry = 0;
    for i in (0..n).rev() {
        let x = v[i] as u32 * scale + carry;
        divisor[i] = x % base;
        carry = x / base;
    }
    // rest[0] is the digit above the first digit of the dividend.
    let len = count + n + 1;
    let mut rest = vec![0u32; len.max(u.len() + 1)];
    carry = 0;
    for i in (0..u.len()).rev() {
        let x = u[i] as u32 * scale + carry;
        rest[i + 1] = x % base;
        carry = x / base;
    }
    rest[0] = carry;
    for j in 0..count {
        let head = rest[j] * base + rest[j + 1];
        let mut q = head / divisor[0];
        let mut r = head % divisor[0];
        while q >= base || q * divisor[1] > r * base + rest[j + 2] {
            q -= 1;
            r += divisor[0];
            if r >= base {
                break;
            }
        }
        if q > 0 {
            let mut borrow = 0i64;
            for i in (0..n).rev() {
                let x = i64::from(rest[j + 1 + i]) - i64::from(q) * i64::from(divisor[i]) + borrow;
                rest[j + 1 + i] = x.rem_euclid(i64::from(base)) as u32;
                borrow = x.div_euclid(i64::from(base));
            }
            let top = i64::from(rest[j]) + borrow;
            if top < 0 {
                q -= 1;
                let mut carry = 0;
                for i in (0..n).rev() {
                    let x = rest[j + 1 + i] + divisor[i] + carry;
                    rest[j + 1 + i] = x % base;
                    carry = x / base;
                }
            }
            rest[j] = 0;
        }
        out.push(q as i16);
    }
    out
}

/// The scale of a quotient: at least 16 significant digits, and no less than the inputs' scales.
pub fn select_div_scale(a: &Num, b: &Num) -> i32 {
    let first = |n: &Num| {
        let i = n.digits.iter().position(|&d| d != 0);
        i.map_or((0, 0), |i| (n.weight - i as i32, n.digits[i]))
    };
    let ((w1, d1), (w2, d2)) = (first(a), first(b));
    let weight = w1 - w2 - i32::from(d1 <= d2);
    let scale = MIN_SIG_DIGITS - weight * DEC_DIGITS;
    scale.max(a.dscale).max(b.dscale).clamp(0, MAX_DISPLAY_SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::compare;

    /// Numbers with runs of zeros and nines, in which carries propagate far.
    fn digits(seed: &mut u64, len: usize) -> Vec<i16> {
        let mut next = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            match *seed >> 61 {
                0 => 0,
                1 => 9999,
                2 => 1,
                _ => (*seed >> 33) as i16 & 0x1fff,
            }
        };
        let mut out: Vec<i16> = (0..len).map(|_| next()).collect();
        out[0] = out[0].max(1);
        out
    }

    #[test]
    fn both_divisions_agree() {
        let mut seed = 3;
        for round in 0..2000usize {
            let (u, v) = (digits(&mut seed, round % 70 + 1), digits(&mut seed, round % 31 + 3));
            for count in [1, 2, 7, 40] {
                let want = long_division(&u, &v, count);
                assert_eq!(packed_quotient(&u, &v, count), want, "{u:?} / {v:?}");
            }
        }
    }

    #[test]
    fn a_long_product_divided_gives_the_factor() {
        let mut seed = 5;
        for round in 0..500usize {
            let number = |digits: Vec<i16>| {
                let mut n = Num {
                    sign: Sign::Pos,
                    weight: round as i32 % 50 - 10,
                    dscale: 0,
                    digits: Digits::from_vec(digits),
                };
                n.strip();
                n
            };
            let a = number(digits(&mut seed, round % 90 + 24));
            let b = number(digits(&mut seed, round % 67 + 24));
            let quotient = a.times(&b).divided(&b, 500, false).expect("not 0");
            assert!(compare(&quotient, &a).is_eq(), "{a:?} · {b:?}");
        }
    }

    /// A number whose last digit has the weight `last`.
    fn number(digits: Vec<i16>, last: i32) -> Num {
        let weight = last + digits.len() as i32 - 1;
        let digits = Digits::from_vec(digits);
        let mut n = Num { sign: Sign::Pos, weight, dscale: 0, digits };
        n.strip();
        n
    }

    #[test]
    fn products_with_a_short_factor_agree_with_long_ones() {
        let mut seed = 7;
        for round in 0..2000usize {
            let a = number(digits(&mut seed, round % 200 + 1), -5);
            let b = number(digits(&mut seed, round % 23 + 1), 3);
            let (digits, weight) = packed_product(&a, &b);
            let mut want = Num { sign: Sign::Pos, weight, dscale: 0, digits };
            want.strip();
            let product = a.times(&b);
            assert_eq!((product.weight, product.digits), (want.weight, want.digits));
        }
    }

    /// Sums, differences, of numbers that overlap, or lie apart, on either side.
    #[test]
    fn a_sum_less_one_part_is_the_other() {
        let mut seed = 9;
        for round in 0..5000usize {
            let a = number(digits(&mut seed, round % 37 + 1), round as i32 % 41 - 20);
            let b = number(digits(&mut seed, round % 11 + 1), round as i32 % 53 - 26);
            let sum = a.plus(&b);
            assert!(compare(&sum.minus(&b), &a).is_eq(), "{a:?} + {b:?}");
            assert!(compare(&sum.minus(&a), &b).is_eq(), "{a:?} + {b:?}");
            assert!(compare(&b.minus(&sum).plus(&a), &Num::zero(0)).is_eq(), "{a:?} + {b:?}");
            // The carry into the digit in front.
            let doubled = sum.plus(&sum);
            assert!(compare(&doubled, &sum.times(&Num::from(2i64))).is_eq(), "{sum:?}");
        }
    }
}
