//! Natural numbers in binary, for square roots and for the fixed-point arithmetic of
//! [`super::fixed`].
//!
//! All algorithms are the schoolbook ones: the largest operand (for a square root of 131,072
//! decimal digits) has 6,800 limbs, and a product of numbers of half that length takes about ten
//! milliseconds.

use super::num::Digits;
use pgerror::Result;
use smallvec::SmallVec;
use std::cmp::Ordering;

pub(crate) type Limbs = SmallVec<[u64; 8]>;

/// A check for interrupts, called from long computations; an error ends the computation.
pub type Check<'a> = &'a dyn Fn() -> Result<()>;

/// Four base-10000 digits, which are converted at a time.
pub(crate) static CHUNK: Divisor = Divisor::new(10_000_000_000_000_000);

/// Limbs, least significant first; the last one is not 0.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Nat(Limbs);

/// A divisor of one limb with its reciprocal, so that no division instruction is needed per limb.
/// Counterpart: Möller and Granlund, "Improved division by invariant integers".
#[derive(Clone, Copy)]
pub(crate) struct Divisor {
    /// Shifted left until its top bit is set.
    normal: u64,
    shift: u32,
    reciprocal: u64,
}

impl Divisor {
    /// `d` is not 0.
    pub const fn new(d: u64) -> Divisor {
        let shift = d.leading_zeros();
        let normal = d << shift;
        let reciprocal = (u128::MAX / normal as u128) as u64;
        Divisor { normal, shift, reciprocal }
    }

    /// Quotient and remainder of `high·2^64 + low`, where `high` is less than the shifted divisor.
    fn step(&self, high: u64, low: u64) -> (u64, u64) {
        let estimate = u128::from(self.reciprocal) * u128::from(high)
            + (u128::from(high) << 64 | u128::from(low));
        let (mut q, fraction) = (((estimate >> 64) as u64).wrapping_add(1), estimate as u64);
        let mut r = low.wrapping_sub(q.wrapping_mul(self.normal));
        if r > fraction {
            q = q.wrapping_sub(1);
            r = r.wrapping_add(self.normal);
        }
        if r >= self.normal {
            q = q.wrapping_add(1);
            r -= self.normal;
        }
        (q, r)
    }

    /// Divides in place and returns the remainder.
    pub fn divide(&self, limbs: &mut [u64]) -> u64 {
        let shifted = |high: u64, low: u64| match self.shift {
            0 => low,
            s => high << s | low >> (64 - s),
        };
        let Some(&top) = limbs.last() else { return 0 };
        // The bits that the shift moves above the top limb.
        let mut rest = if self.shift == 0 { 0 } else { top >> (64 - self.shift) };
        for i in (0..limbs.len()).rev() {
            let below = if i == 0 { 0 } else { limbs[i - 1] };
            let word = match self.shift {
                0 => limbs[i],
                _ => shifted(limbs[i], below),
            };
            let (q, r) = self.step(rest, word);
            limbs[i] = q;
            rest = r;
        }
        rest >> self.shift
    }
}

/// Computes `limbs·by + add` in place; returns the carry.
pub(crate) fn multiply_add(limbs: &mut [u64], by: u64, add: u64) -> u64 {
    let mut carry = add;
    for limb in limbs {
        let v = u128::from(*limb) * u128::from(by) + u128::from(carry);
        *limb = v as u64;
        carry = (v >> 64) as u64;
    }
    carry
}

/// Adds `b`, which must not be longer, in place; returns the carry.
pub(crate) fn add_in_place(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = false;
    for (x, &y) in low.iter_mut().zip(b) {
        let (v, c1) = x.overflowing_add(y);
        let (v, c2) = v.overflowing_add(carry.into());
        *x = v;
        carry = c1 | c2;
    }
    for x in high {
        if !carry {
            break;
        }
        (*x, carry) = x.overflowing_add(1);
    }
    carry
}

/// Subtracts `b`, which must not be longer, in place; true if it was larger.
pub(crate) fn subtract_in_place(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = false;
    for (x, &y) in low.iter_mut().zip(b) {
        let (v, b1) = x.overflowing_sub(y);
        let (v, b2) = v.overflowing_sub(borrow.into());
        *x = v;
        borrow = b1 | b2;
    }
    for x in high {
        if !borrow {
            break;
        }
        (*x, borrow) = x.overflowing_sub(1);
    }
    borrow
}

/// The product; its length is the sum of both lengths.
pub fn product(a: &[u64], b: &[u64]) -> Limbs {
    let mut out = Limbs::from_elem(0, a.len() + b.len());
    for (i, &x) in a.iter().enumerate() {
        if x == 0 {
            continue;
        }
        let mut carry = 0u64;
        for (o, &y) in out[i..].iter_mut().zip(b) {
            let v = u128::from(x) * u128::from(y) + u128::from(*o) + u128::from(carry);
            *o = v as u64;
            carry = (v >> 64) as u64;
        }
        out[i + b.len()] = carry;
    }
    out
}

impl Nat {
    pub(crate) fn from_limbs(mut limbs: Limbs) -> Nat {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Nat(limbs)
    }

    pub(crate) fn into_limbs(self) -> Limbs {
        self.0
    }

    pub(crate) fn from_u128(v: u128) -> Nat {
        Nat::from_limbs(Limbs::from_slice(&[v as u64, (v >> 64) as u64]))
    }

    fn to_u128(&self) -> Option<u128> {
        match self.0[..] {
            [] => Some(0),
            [a] => Some(a.into()),
            [a, b] => Some(u128::from(b) << 64 | u128::from(a)),
            _ => None,
        }
    }

    /// The value of base-10000 digits followed by `zeros` digits 0.
    pub(crate) fn from_digits(digits: &[i16], zeros: usize, check: Check<'_>) -> Result<Nat> {
        let mut limbs = Limbs::with_capacity((digits.len() + zeros) / 4 + 2);
        let mut all = digits.iter().copied().chain(std::iter::repeat_n(0, zeros));
        let mut left = digits.len() + zeros;
        while left > 0 {
            // The first group may have fewer than four digits.
            let count = if left.is_multiple_of(4) { 4 } else { left % 4 };
            let (mut chunk, mut unit) = (0u64, 1u64);
            for d in all.by_ref().take(count) {
                chunk = chunk * 10_000 + d as u64;
                unit *= 10_000;
            }
            let carry = multiply_add(&mut limbs, unit, chunk);
            if carry > 0 {
                limbs.push(carry);
            }
            left -= count;
            if left.is_multiple_of(4096) {
                check()?;
            }
        }
        Ok(Nat::from_limbs(limbs))
    }

    /// The base-10000 digits, most significant first; none for 0.
    pub(crate) fn to_digits(&self, check: Check<'_>) -> Result<Digits> {
        let mut limbs = self.0.clone();
        let mut out = Digits::with_capacity(limbs.len() * 5 + 4);
        while !limbs.is_empty() {
            let mut chunk = CHUNK.divide(&mut limbs);
            while limbs.last() == Some(&0) {
                limbs.pop();
            }
            for _ in 0..4 {
                out.push((chunk % 10_000) as i16);
                chunk /= 10_000;
            }
            if out.len().is_multiple_of(4096) {
                check()?;
            }
        }
        while out.last() == Some(&0) {
            out.pop();
        }
        out.reverse();
        Ok(out)
    }

    /// Number of significant bits.
    pub fn bits(&self) -> usize {
        self.0.last().map_or(0, |top| self.0.len() * 64 - top.leading_zeros() as usize)
    }

    pub(crate) fn shifted_left(&self, bits: usize) -> Nat {
        let mut out = Limbs::with_capacity(bits / 64 + self.0.len() + 2);
        out.resize(bits / 64, 0);
        let shift = bits % 64;
        if shift == 0 {
            out.extend_from_slice(&self.0);
            return Nat::from_limbs(out);
        }
        let mut carry = 0;
        for &limb in &self.0 {
            out.push(limb << shift | carry);
            carry = limb >> (64 - shift);
        }
        out.push(carry);
        Nat::from_limbs(out)
    }

    pub(crate) fn shifted_right(&self, bits: usize) -> Nat {
        let Some(kept) = self.0.get(bits / 64..) else { return Nat::default() };
        let shift = bits % 64;
        let above = |i: usize| kept.get(i + 1).copied().unwrap_or(0);
        let limb = |(i, &limb): (usize, &u64)| match shift {
            0 => limb,
            _ => limb >> shift | above(i) << (64 - shift),
        };
        Nat::from_limbs(kept.iter().enumerate().map(limb).collect())
    }

    /// The product.
    pub fn times(&self, other: &Nat) -> Nat {
        Nat::from_limbs(product(&self.0, &other.0))
    }

    fn plus(&self, other: &Nat) -> Nat {
        let (long, short) =
            if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut out = long.0.clone();
        if add_in_place(&mut out, &short.0) {
            out.push(1);
        }
        Nat(out)
    }

    /// The difference; `other` must not be larger.
    fn minus(&self, other: &Nat) -> Nat {
        let mut out = self.0.clone();
        subtract_in_place(&mut out, &other.0);
        Nat::from_limbs(out)
    }

    fn compare(&self, other: &Nat) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// The quotient, rounded down, by Knuth's algorithm D. The divisor must not be 0.
    pub fn divided(&self, divisor: &Nat) -> Nat {
        if self.compare(divisor).is_lt() {
            return Nat::default();
        }
        if let [d] = divisor.0[..] {
            let mut out = self.0.clone();
            Divisor::new(d).divide(&mut out);
            return Nat::from_limbs(out);
        }
        let shift = (64 * divisor.0.len() - divisor.bits()) % 64;
        let v = divisor.shifted_left(shift).0;
        let mut u = self.shifted_left(shift).0;
        u.push(0);
        let n = v.len();
        let top = Divisor::new(v[n - 1]);
        let mut out = Limbs::from_elem(0, u.len() - n);
        for j in (0..u.len() - n).rev() {
            let mut q =
                if u[j + n] >= v[n - 1] { u64::MAX } else { top.step(u[j + n], u[j + n - 1]).0 };
            let mut borrow = 0u64;
            for (x, &y) in u[j..j + n].iter_mut().zip(&v) {
                let part = u128::from(q) * u128::from(y) + u128::from(borrow);
                let (low, under) = x.overflowing_sub(part as u64);
                *x = low;
                borrow = (part >> 64) as u64 + u64::from(under);
            }
            let (mut head, mut negative) = u[j + n].overflowing_sub(borrow);
            // The estimate is at most two too large.
            while negative {
                q -= 1;
                let carry = add_in_place(&mut u[j..j + n], &v);
                let (sum, over) = head.overflowing_add(carry.into());
                head = sum;
                negative = !over;
            }
            u[j + n] = head;
            out[j] = q;
        }
        Nat::from_limbs(out)
    }

    /// The square root, rounded down.
    pub(crate) fn sqrt(&self, check: Check<'_>) -> Result<Nat> {
        if let Some(v) = self.to_u128() {
            return Ok(Nat::from_u128(v.isqrt()));
        }
        check()?;
        // The root of the upper half, rounded up, is within 2^k of the root. One step of Newton's
        // iteration from above never falls below the root rounded down, and leaves an error of at
        // most (2^k)² / 2√self < 1.
        let k = self.bits() / 4 - 1;
        let upper = self.shifted_right(2 * k).sqrt(check)?;
        let first = upper.plus(&Nat::from_u128(1)).shifted_left(k);
        let quotient = self.divided(&first);
        check()?;
        let mut root = first.plus(&quotient).shifted_right(1);
        while root.times(&root).compare(self).is_gt() {
            root = root.minus(&Nat::from_u128(1));
        }
        Ok(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(seed: &mut u64, limbs: usize) -> Nat {
        let mut next = || {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            // Limbs of all ones and of zero exercise the carries.
            match *seed >> 60 {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << 63,
                _ => *seed ^ *seed >> 29,
            }
        };
        Nat::from_limbs((0..limbs).map(|_| next()).collect())
    }

    #[test]
    fn a_quotient_times_its_divisor_is_the_dividend() {
        let mut seed = 1;
        for round in 0..3000usize {
            let (a, b) = (number(&mut seed, round % 13), number(&mut seed, round % 5 + 1));
            if b.0.is_empty() {
                continue;
            }
            let q = a.divided(&b);
            let below = q.times(&b);
            assert!(below.compare(&a).is_le(), "{a:?} / {b:?}");
            assert!(a.minus(&below).compare(&b).is_lt(), "{a:?} / {b:?}");
        }
    }

    #[test]
    fn a_root_is_the_largest_whose_square_fits() {
        let mut seed = 7;
        for round in 0..2000usize {
            let n = number(&mut seed, round % 17);
            let square = n.times(&n);
            for n in [n, square.clone(), square.plus(&Nat::from_u128(1))] {
                let root = n.sqrt(&|| Ok(())).expect("no interrupt");
                assert!(root.times(&root).compare(&n).is_le(), "{n:?}");
                let more = root.plus(&Nat::from_u128(1));
                assert!(more.times(&more).compare(&n).is_gt(), "{n:?}");
            }
        }
    }

    #[test]
    fn digits_round_trip() {
        for digits in [vec![], vec![1], vec![9999; 9], vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 42]] {
            let n = Nat::from_digits(&digits, 3, &|| Ok(())).expect("no interrupt");
            let back = n.to_digits(&|| Ok(())).expect("no interrupt");
            let zeros = if digits.is_empty() { 0 } else { 3 };
            assert_eq!(back[..], [digits, vec![0; zeros]].concat()[..]);
        }
    }
}
