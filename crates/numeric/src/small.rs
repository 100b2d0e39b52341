//! Arithmetic on numbers of few digits, directly on their payloads and without allocation: the
//! common case of amounts and quantities. Each function returns `None` and appends nothing if an
//! operand or the result is not small; the caller then computes with [`Num`], with bit-identical
//! results.

use super::num::{DEC_DIGITS, MAX_DISPLAY_SCALE, MIN_SIG_DIGITS};
use std::cmp::Ordering;

/// The largest number of base-10000 digits of an operand: its mantissa is then below 10^16, a
/// product below 10^32.
const DIGITS_MAX: usize = 4;
const MANTISSA_MAX: u128 = 10u128.pow(32) * 2;
/// The largest display scale of the short format.
const SCALE_MAX: i32 = 63;
/// Bounds of an operand's number of digits after the point.
const FRACTION_MIN: i32 = -8;
const FRACTION_MAX: i32 = 8;
const HALF: u64 = 10u64.pow(16);
const POWERS: [u128; 39] = {
    let mut p = [1u128; 39];
    let mut i = 1;
    while i < p.len() {
        p[i] = p[i - 1] * 10;
        i += 1;
    }
    p
};

/// `mantissa` · 10000^-`fraction`.
#[derive(Clone, Copy)]
pub(super) struct Small {
    pub mantissa: u64,
    pub fraction: i32,
    pub dscale: i32,
    pub negative: bool,
}

impl Small {
    /// Reads a payload in the short format.
    #[inline]
    pub(super) fn read(b: &[u8]) -> Option<Small> {
        if b.len() < 2 || b.len() > 2 + 2 * DIGITS_MAX {
            return None;
        }
        let header = u16::from_le_bytes([b[0], b[1]]);
        if header & 0xC000 != 0x8000 {
            return None;
        }
        let weight = i32::from(header & 0x3F) - if header & 0x40 != 0 { 64 } else { 0 };
        let mut mantissa = 0u64;
        for d in b[2..].chunks_exact(2) {
            let digit = u64::from(u16::from_le_bytes([d[0], d[1]]));
            mantissa = mantissa * 10_000 + digit.min(9_999);
        }
        let count = (b.len() as i32 - 2) / 2;
        let fraction = if count == 0 { 0 } else { count - 1 - weight };
        if !(FRACTION_MIN..=FRACTION_MAX).contains(&fraction) {
            return None;
        }
        Some(Small {
            mantissa,
            fraction,
            dscale: i32::from(header >> 7 & 0x3F),
            negative: header & 0x2000 != 0,
        })
    }

    fn of_integer(v: i128) -> Option<Small> {
        let mantissa = u64::try_from(v.unsigned_abs()).ok().filter(|&m| m < HALF)?;
        Some(Small { mantissa, fraction: 0, dscale: 0, negative: v < 0 })
    }

    /// The signed mantissa for `fraction` digits after the point, which must not be fewer than the
    /// number has.
    #[inline]
    fn aligned(self, fraction: i32) -> i128 {
        let v = match (fraction - self.fraction) as usize {
            0 => i128::from(self.mantissa),
            by => i128::from(self.mantissa) * POWERS[4 * by.min(8)] as i128,
        };
        if self.negative { -v } else { v }
    }

    /// Weight and value of the first base-10000 digit.
    fn first_digit(self) -> (i32, u64) {
        let (mut head, mut count) = (self.mantissa, 1);
        if head == 0 {
            return (0, 0);
        }
        while head >= 10_000 {
            head /= 10_000;
            count += 1;
        }
        (count - 1 - self.fraction, head)
    }
}

/// Both mantissas for the larger number of digits after the point.
#[inline]
fn aligned(a: Small, b: Small) -> Option<(i128, i128, i32)> {
    let fraction = a.fraction.max(b.fraction);
    if fraction - a.fraction.min(b.fraction) > DIGITS_MAX as i32 {
        return None;
    }
    Some((a.aligned(fraction), b.aligned(fraction), fraction))
}

/// Appends the payload of `mantissa` · 10000^-`fraction`.
#[inline]
fn write(negative: bool, mantissa: u128, fraction: i32, dscale: i32, out: &mut Vec<u8>) {
    let mut digits = [0u16; 16];
    let mut n = 0;
    let mut put = |mut v: u64, least: usize| {
        let end = n + least;
        while v > 0 || n < end {
            digits[n] = (v % 10_000) as u16;
            v /= 10_000;
            n += 1;
        }
    };
    match u64::try_from(mantissa) {
        Ok(v) => put(v, 0),
        Err(_) => {
            put((mantissa % u128::from(HALF)) as u64, 4);
            put((mantissa / u128::from(HALF)) as u64, 0);
        }
    }
    let zeros = digits[..n].iter().take_while(|&&d| d == 0).count();
    let mut header = 0x8000 | (dscale as u16) << 7;
    if zeros < n {
        let weight = n as i32 - 1 - fraction;
        header |= weight as u16 & 0x3F;
        if weight < 0 {
            header |= 0x40;
        }
        if negative {
            header |= 0x2000;
        }
    }
    out.extend_from_slice(&header.to_le_bytes());
    for d in digits[zeros.min(n)..n].iter().rev() {
        out.extend_from_slice(&d.to_le_bytes());
    }
}

/// Appends the sum (`flip`: the difference).
#[inline]
pub(super) fn add(a: &[u8], b: &[u8], flip: bool, out: &mut Vec<u8>) -> Option<()> {
    let (a, b) = (Small::read(a)?, Small::read(b)?);
    let (x, y, fraction) = aligned(a, b)?;
    let sum = if flip { x - y } else { x + y };
    write(sum < 0, sum.unsigned_abs(), fraction, a.dscale.max(b.dscale), out);
    Some(())
}

/// Appends the product.
#[inline]
pub(super) fn multiply(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (a, b) = (Small::read(a)?, Small::read(b)?);
    let dscale = a.dscale + b.dscale;
    if dscale > SCALE_MAX {
        return None;
    }
    let product = u128::from(a.mantissa) * u128::from(b.mantissa);
    write(a.negative != b.negative, product, a.fraction + b.fraction, dscale, out);
    Some(())
}

/// Appends the remainder of a division truncated toward zero.
pub(super) fn remainder(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (a, b) = (Small::read(a)?, Small::read(b)?);
    if b.mantissa == 0 {
        return None;
    }
    let (x, y, fraction) = aligned(a, b)?;
    let rest = match (i64::try_from(x), i64::try_from(y)) {
        (Ok(x), Ok(y)) => i128::from(x % y),
        _ => x % y,
    };
    write(rest < 0, rest.unsigned_abs(), fraction, a.dscale.max(b.dscale), out);
    Some(())
}

/// Appends the quotient, with the scale of `select_div_scale`.
pub(super) fn divide(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Option<()> {
    quotient(Small::read(a)?, Small::read(b)?, out)
}

/// The payload of `sum` / `count`.
pub(super) fn average(sum: i128, count: i64) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(16);
    quotient(Small::of_integer(sum)?, Small::of_integer(count.into())?, &mut out)?;
    Some(out)
}

fn quotient(a: Small, b: Small, out: &mut Vec<u8>) -> Option<()> {
    if b.mantissa == 0 {
        return None;
    }
    let ((w1, d1), (w2, d2)) = (a.first_digit(), b.first_digit());
    let scale = MIN_SIG_DIGITS - (w1 - w2 - i32::from(d1 <= d2)) * DEC_DIGITS;
    let scale = scale.max(a.dscale).max(b.dscale).clamp(0, MAX_DISPLAY_SCALE);
    let power = scale + DEC_DIGITS * (b.fraction - a.fraction);
    let factor = *POWERS.get(power.unsigned_abs() as usize)?;
    let (mut x, mut y) = (u128::from(a.mantissa), u128::from(b.mantissa));
    if power >= 0 {
        x = x.checked_mul(factor)?;
    } else {
        y = y.checked_mul(factor)?;
    }
    let (q, rest) = match (u64::try_from(x), u64::try_from(y)) {
        (Ok(x), Ok(y)) => (u128::from(x / y), u128::from(x % y)),
        _ => (x / y, x % y),
    };
    // Half away from zero.
    let q = q + u128::from(rest >= y - rest);
    let fraction = (scale + DEC_DIGITS - 1) / DEC_DIGITS;
    let q = q.checked_mul(POWERS[(fraction * DEC_DIGITS - scale) as usize])?;
    if scale > SCALE_MAX || q >= MANTISSA_MAX {
        return None;
    }
    write(a.negative != b.negative, q, fraction, scale, out);
    Some(())
}

/// Compares two payloads.
#[inline]
pub(super) fn compare(a: &[u8], b: &[u8]) -> Option<Ordering> {
    let (x, y, _) = aligned(Small::read(a)?, Small::read(b)?)?;
    Some(x.cmp(&y))
}

/// The payload of an integer.
pub(super) fn of_integer(v: i64) -> Vec<u8> {
    let mut out = Vec::with_capacity(12);
    write(v < 0, u128::from(v.unsigned_abs()), 0, 0, &mut out);
    out
}

/// The decimal text of a number, without allocation.
pub struct Text {
    bytes: [u8; 120],
    len: usize,
}

impl Text {
    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    fn zeros(&mut self, count: usize) {
        self.bytes[self.len..self.len + count].fill(b'0');
        self.len += count;
    }

    /// Appends an integer with at least `least` digits.
    fn integer(&mut self, mut v: u64, least: usize) {
        let count = v.checked_ilog10().map_or(0, |log| log as usize + 1).max(least);
        for digit in self.bytes[self.len..self.len + count].iter_mut().rev() {
            *digit = b'0' + (v % 10) as u8;
            v /= 10;
        }
        self.len += count;
    }
}

/// Formats a payload.
pub(super) fn text(b: &[u8]) -> Option<Text> {
    let n = Small::read(b)?;
    let mut out = Text { bytes: [0; 120], len: 0 };
    if n.negative {
        out.push(b'-');
    }
    let places = 4 * n.fraction.unsigned_abs() as usize;
    let (whole, part) = match n.fraction {
        ..=0 => (n.mantissa, 0),
        1..=4 => {
            let unit = POWERS[places] as u64;
            (n.mantissa / unit, n.mantissa % unit)
        }
        _ => (0, n.mantissa),
    };
    out.integer(whole, 1);
    if n.fraction < 0 && whole > 0 {
        out.zeros(places);
    }
    if n.dscale > 0 {
        out.push(b'.');
        let end = out.len + n.dscale as usize;
        if n.fraction > 0 {
            out.integer(part, places);
        }
        out.zeros(end.saturating_sub(out.len));
        out.len = end;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::select_div_scale;
    use crate::{Num, functions, parse};

    /// Payloads of numbers near the limits of the short format.
    fn pool() -> Vec<Vec<u8>> {
        let texts = [
            "0",
            "0.00",
            "1",
            "-1",
            "1.0",
            "0.05",
            "-0.10",
            "99.99",
            "10000",
            "9999",
            "0.0001",
            "0.00001",
            "12345678.90",
            "-99999999.99999999",
            "9999999999999999",
            "10000000000000000",
            "0.0000000000000001",
            "-123456789012.3400",
            "1000000000000",
            "1e20",
            "-5e-12",
            "3",
            "7",
            "0.3333333333333333",
            "2.5",
            "1e30",
            "1e-20",
            "50000",
            "0.5",
            "4.99999999",
            "NaN",
            "Infinity",
            "123456789012345678901234567890",
            "9999.9999",
            "-9999.9999",
            "100000000",
            "0.00010000",
            "1.000000000000000000000000000000000000",
        ];
        let stored = |t: &&str| parse(t.as_bytes()).expect("a number").to_payload().expect("fits");
        texts.iter().map(stored).collect()
    }

    fn check(name: &str, got: Option<()>, out: &[u8], want: &Num) {
        if got.is_some() {
            assert_eq!(out, want.to_payload().expect("fits"), "{name} {want:?}");
        } else {
            assert!(out.is_empty(), "{name} wrote and refused");
        }
    }

    #[test]
    fn small_results_are_those_of_long_arithmetic() {
        let pool = pool();
        let mut small = 0;
        for a in &pool {
            for b in &pool {
                let (x, y) = (Num::from_payload(a), Num::from_payload(b));
                let mut out = Vec::new();
                let got = add(a, b, false, &mut out);
                small += usize::from(got.is_some());
                check("add", got, &out, &functions::add(&x, &y, false));
                out.clear();
                check("subtract", add(a, b, true, &mut out), &out, &functions::add(&x, &y, true));
                out.clear();
                if x.is_finite() && y.is_finite() {
                    check("multiply", multiply(a, b, &mut out), &out, &x.times(&y));
                    out.clear();
                    if let Ok(q) = x.divided(&y, select_div_scale(&x, &y), true) {
                        check("divide", divide(a, b, &mut out), &out, &q);
                        out.clear();
                        let rest = x.modulo(&y).expect("y is not 0");
                        check("remainder", remainder(a, b, &mut out), &out, &rest);
                    }
                    if let Some(order) = compare(a, b) {
                        assert_eq!(order, crate::compare(&x, &y), "{x:?} {y:?}");
                    }
                }
            }
        }
        assert!(small > 500, "few operands are small: {small}");
    }

    #[test]
    fn texts_are_those_of_long_arithmetic() {
        let mut small = 0;
        for stored in &pool() {
            let want = crate::io::long_text(stored);
            if let Some(got) = text(stored) {
                small += 1;
                assert_eq!(String::from_utf8_lossy(got.as_bytes()), want);
            }
        }
        assert!(small > 25, "few operands are small: {small}");
    }

    #[test]
    fn averages_are_those_of_long_arithmetic() {
        let mut small = 0;
        for sum in [0, 1, -1, 7, 9999, 10_000, -123_456_789, i128::from(HALF) - 1, HALF.into()] {
            for count in [1, 3, 7, 10_000, 99_999_999, 1_000_000_007, i64::MAX] {
                let (x, y) = (Num::from(sum), Num::from(count));
                let want = x.divided(&y, select_div_scale(&x, &y), true).expect("a quotient");
                if let Some(got) = average(sum, count) {
                    small += 1;
                    assert_eq!(got, want.to_payload().expect("fits"), "{sum} / {count}");
                }
            }
        }
        assert!(small > 30, "few operands are small: {small}");
    }

    #[test]
    fn integers_are_stored_as_numbers() {
        for v in [0, 1, -1, 9999, 10000, -10000, 100_000_000, i64::MAX, i64::MIN, 1 << 40] {
            assert_eq!(of_integer(v), Num::from(v).to_payload().expect("fits"), "{v}");
        }
    }
}
