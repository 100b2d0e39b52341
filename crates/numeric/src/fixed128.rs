//! Square roots and logarithms of numbers of few digits to few decimals, which are the usual case,
//! in 128-bit integers without loops over limbs. Each function returns `None` for other arguments,
//! which [`super::math::sqrt`] and [`super::fixed`] compute. Results are the same.
//!
//! For x = m·2^k·10^e with 1 ≤ m < 2, ln x = ln m + k·ln 2 + e·ln 10. With a, the midpoint of the
//! interval of length 1/128 that contains m, and z = (m - a) / (m + a), which is less than 2^-9, ln
//! m = ln a + 2·(z + z³/3 + z⁵/5 + …).
//!
//! A `u128` below is a fraction in units of 2^-128, unless its name indicates another unit. The
//! errors of the terms add up to less than 2^-115.

use super::num::{DEC_DIGITS, Digits, NBASE, Num, Sign};

/// The largest number of base-10000 digits of an argument: as an integer it is below 10^32.
const DIGITS_MAX: usize = 8;
/// The largest number of decimals of a logarithm. Nine more decimals are correct.
const LN_RSCALE_MAX: i32 = 25;
/// The largest power of ten: the error of its logarithm grows with it.
const EXPONENT_MAX: u32 = 1024;
/// Upper bound of a root, so that the squared error of its first estimate fits `i128`.
const ROOT_MAX: f64 = (1u128 << 85) as f64;

const LN_2: u128 = 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af;
/// ln 10 - 2.
const LN_10_ABOVE_2: u128 = 0x4d76_3776_aaa2_b05b_a95b_58ae_0b4c_28a3;

/// 1/3, 1/5, …: the coefficients of the series.
const RECIPROCALS: [u128; 6] = {
    let mut all = [0; 6];
    let mut i = 0;
    while i < all.len() {
        all[i] = u128::MAX / (2 * i as u128 + 3);
        i += 1;
    }
    all
};

/// ln (257 + 2i)/256: each is the sum of the previous one and 2·artanh of 1/(256 + 2i).
static LN_MIDDLE: [u128; 128] = {
    let mut all = [0; 128];
    all[0] = 2 * artanh_of_reciprocal(513);
    let mut i = 1;
    while i < all.len() {
        all[i] = all[i - 1] + 2 * artanh_of_reciprocal(256 + 2 * i as u128);
        i += 1;
    }
    all
};

/// 1/n + 1/3n³ + 1/5n⁵ + …
const fn artanh_of_reciprocal(n: u128) -> u128 {
    let (mut power, mut sum, mut odd) = (u128::MAX / n, 0, 1);
    while power > 0 {
        sum += power / odd;
        power /= n * n;
        odd += 2;
    }
    sum
}

/// The product of two fractions.
fn times(a: u128, b: u128) -> u128 {
    let low = |v: u128| v & u128::from(u64::MAX);
    let (a1, a0, b1, b0) = (a >> 64, low(a), b >> 64, low(b));
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let other = a0 * b1 + low(middle);
    a1 * b1 + (middle >> 64) + (other >> 64)
}

/// The product of a fraction and an integer: integer part and fraction.
fn scaled(a: u128, by: u64) -> (u64, u128) {
    let low = (a & u128::from(u64::MAX)) * u128::from(by);
    let high = (a >> 64) * u128::from(by) + (low >> 64);
    ((high >> 64) as u64, high << 64 | low & u128::from(u64::MAX))
}

/// A signed number: `whole` + `fraction`.
struct Total {
    whole: i64,
    fraction: u128,
}

impl Total {
    fn add(&mut self, whole: u64, fraction: u128) {
        let (sum, carry) = self.fraction.overflowing_add(fraction);
        self.fraction = sum;
        self.whole += whole as i64 + i64::from(carry);
    }

    fn subtract(&mut self, whole: u64, fraction: u128) {
        let (rest, borrow) = self.fraction.overflowing_sub(fraction);
        self.fraction = rest;
        self.whole -= whole as i64 + i64::from(borrow);
    }

    /// Rounded to `rscale` decimals.
    fn to_num(mut self, rscale: i32) -> Num {
        let sign = if self.whole < 0 { Sign::Neg } else { Sign::Pos };
        if self.whole < 0 {
            self.whole = !self.whole + i64::from(self.fraction == 0);
            self.fraction = self.fraction.wrapping_neg();
        }
        let mut digits = Digits::new();
        let (mut whole, mut fraction) = (self.whole as u64, self.fraction);
        while whole > 0 {
            digits.insert(0, (whole % NBASE as u64) as i16);
            whole /= NBASE as u64;
        }
        let weight = digits.len() as i32 - 1;
        for _ in 0..(rscale + 5) / DEC_DIGITS {
            let (digit, rest) = scaled(fraction, NBASE as u64);
            digits.push(digit as i16);
            fraction = rest;
        }
        let mut out = Num { sign, weight, dscale: rscale, digits };
        out.round(rscale);
        out.strip();
        out
    }
}

/// The digits as an integer.
fn mantissa(digits: &[i16]) -> Option<u128> {
    let fold = |part: &[i16]| part.iter().fold(0, |sum, &d| sum * NBASE as u64 + d as u64);
    let (high, low) = match digits.len() {
        0..=4 => (0, fold(digits)),
        count @ 5..=DIGITS_MAX => {
            let (high, low) = digits.split_at(count - 4);
            (fold(high), fold(low))
        }
        _ => return None,
    };
    Some(u128::from(high) * (NBASE as u128).pow(4) + u128::from(low))
}

/// |m - a| / (m + a), for m and a between 1 and 2 in units of 2^-127.
fn ratio(m: u128, a: u128) -> u128 {
    // A quarter of the sum is in [1/2, 1). Half its reciprocal is computed as a double; two Newton
    // iterations each double the number of correct bits.
    let quarter = (m >> 1) + (a >> 1);
    let estimate = (0.5 / ((quarter >> 64) as f64 / 2f64.powi(64)) * 2f64.powi(64)) as u64;
    let mut inverse = u128::from(estimate) << 64;
    for _ in 0..2 {
        let product = times(quarter, inverse);
        let step = 2 * times(inverse, product.abs_diff(1 << 127));
        inverse = if product <= 1 << 127 { inverse + step } else { inverse - step };
    }
    times(m.abs_diff(a), inverse)
}

/// ln x to `rscale` decimals, for positive x.
pub(super) fn ln(x: &Num, rscale: i32) -> Option<Num> {
    if !(0..=LN_RSCALE_MAX).contains(&rscale) {
        return None;
    }
    let n = mantissa(&x.digits).filter(|&n| n > 0)?;
    let exponent = DEC_DIGITS * (x.weight + 1 - x.digits.len() as i32);
    if exponent.unsigned_abs() > EXPONENT_MAX {
        return None;
    }
    let m = n << n.leading_zeros();
    let part = (m >> 120 & 127) as usize;
    let middle = 1 << 127 | (2 * part as u128 + 1) << 119;
    let z = ratio(m, middle);
    let square = times(z, z);
    let (mut power, mut series) = (z, z);
    for &reciprocal in &RECIPROCALS {
        power = times(power, square);
        series += times(power, reciprocal);
    }
    let mut total = Total { whole: 0, fraction: LN_MIDDLE[part] };
    if m >= middle {
        total.add(0, 2 * series);
    } else {
        total.subtract(0, 2 * series);
    }
    let (whole, fraction) = scaled(LN_2, u64::from(n.ilog2()));
    total.add(whole, fraction);
    let tens = u64::from(exponent.unsigned_abs());
    let (whole, fraction) = scaled(LN_10_ABOVE_2, tens);
    if exponent >= 0 {
        total.add(whole + 2 * tens, fraction);
    } else {
        total.subtract(whole + 2 * tens, fraction);
    }
    Some(total.to_num(rscale))
}

/// The square root, rounded down, of the number with these base-10000 digits followed by `zeros`
/// zeros: its base-10000 digits, most significant first.
pub(super) fn sqrt(digits: &[i16], zeros: usize) -> Option<Digits> {
    let n = mantissa(digits)?;
    // The number itself may exceed 128 bits; its difference from a nearby square does not.
    let wrapped = n.wrapping_mul((NBASE as u128).wrapping_pow(zeros as u32));
    let n = n as f64 * f64::from(NBASE).powi(zeros as i32);
    if n >= ROOT_MAX * ROOT_MAX {
        return None;
    }
    let rest = |root: u128| wrapped.wrapping_sub(root.wrapping_mul(root)) as i128;
    let first = n.sqrt();
    let step = (rest(first as u128) as f64 / (2.0 * first.max(1.0))) as i128;
    let mut root = (first as u128).saturating_add_signed(step);
    while rest(root) < 0 {
        root -= 1;
    }
    while rest(root + 1) >= 0 {
        root += 1;
    }
    let mut out = Digits::new();
    let (mut high, low) = (root / (NBASE as u128).pow(4), root % (NBASE as u128).pow(4));
    let mut low = low as u64;
    while high > 0 || low > 0 {
        for _ in 0..4 {
            out.push((low % NBASE as u64) as i16);
            low /= NBASE as u64;
        }
        low = (high % (NBASE as u128).pow(4)) as u64;
        high /= (NBASE as u128).pow(4);
    }
    while out.last() == Some(&0) {
        out.pop();
    }
    out.reverse();
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixed, natural::Nat, parse};

    /// Numbers of all lengths, near powers of two and ten and near the bounds of the table's
    /// intervals.
    fn numbers() -> Vec<Num> {
        let mut texts: Vec<String> =
            ["1", "2", "0.5", "1.0001", "0.9999", "1e-40", "7e300", "9e-300", "10", "0.1"]
                .map(String::from)
                .into();
        let mut seed = 5u64;
        for round in 0..3000usize {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let long = format!("{}{}", seed >> 5, seed.rotate_left(31) >> 9);
            let digits = &long[..1 + round % long.len().min(34)];
            texts.push(format!("{digits}e{}", (seed % 61) as i32 - 40));
        }
        for i in 0..=512u32 {
            for off in [-1e-17, 0.0, 1e-17] {
                texts.push(format!("{:.20}", 1.0 + f64::from(i) / 512.0 + off));
            }
        }
        let number = |text: String| {
            let mut n = parse(text.as_bytes()).expect("a number");
            n.strip();
            n
        };
        texts.into_iter().map(number).filter(|n| !n.is_zero()).collect()
    }

    #[test]
    fn logarithms_are_those_of_the_long_arithmetic() {
        let mut supported = 0;
        for n in numbers() {
            for rscale in [0, 5, 16, 20, LN_RSCALE_MAX] {
                let Some(ln) = ln(&n, rscale) else { continue };
                let long = fixed::ln_long(&n, rscale, &|| Ok(())).expect("no interrupt");
                assert_eq!(ln.to_string(), long.to_string(), "{n} to {rscale}");
                supported += 1;
            }
        }
        assert!(supported > 15_000, "{supported}");
    }

    #[test]
    fn roots_are_those_of_the_long_arithmetic() {
        let mut supported = 0;
        for n in numbers() {
            for zeros in 0..12 {
                let Some(root) = sqrt(&n.digits, zeros) else { continue };
                let check = || Ok(());
                let long = Nat::from_digits(&n.digits, zeros, &check).expect("no interrupt");
                let long = long.sqrt(&check).and_then(|r| r.to_digits(&check));
                assert_eq!(root, long.expect("no interrupt"), "{n} and {zeros}");
                supported += 1;
            }
        }
        assert!(supported > 15_000, "{supported}");
    }
}
