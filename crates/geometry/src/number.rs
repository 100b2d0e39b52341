//! Arithmetic of coordinates with checks of the range, and comparisons with a tolerance.
//!
//! Counterpart: utils/float.h, the macros of geo_decls.h.

use pgerror::Result;
use values::float::{overflow, underflow};
use values::type_io::division_by_zero;

/// Numbers that differ by at most this much are equal.
pub const EPSILON: f64 = 1.0e-6;

fn in_range(result: f64, exact: bool) -> Result<f64> {
    if result.is_infinite() && exact { Err(overflow()) } else { Ok(result) }
}

/// The sum; 22003 if it overflows.
pub fn add(a: f64, b: f64) -> Result<f64> {
    in_range(a + b, a.is_finite() && b.is_finite())
}

/// The difference; 22003 if it overflows.
pub fn sub(a: f64, b: f64) -> Result<f64> {
    in_range(a - b, a.is_finite() && b.is_finite())
}

/// The product; 22003 if it overflows or underflows.
pub fn mul(a: f64, b: f64) -> Result<f64> {
    let result = a * b;
    if result == 0.0 && a != 0.0 && b != 0.0 {
        return Err(underflow());
    }
    in_range(result, !a.is_infinite() && !b.is_infinite())
}

/// The quotient; 22012 for a division by zero, 22003 if it overflows or underflows.
pub fn div(a: f64, b: f64) -> Result<f64> {
    if b == 0.0 && !a.is_nan() {
        return Err(division_by_zero());
    }
    let result = a / b;
    if result == 0.0 && a != 0.0 && !b.is_infinite() {
        return Err(underflow());
    }
    in_range(result, !a.is_infinite())
}

/// The length of the hypotenuse; 22003 if it overflows or underflows.
pub fn hypot(a: f64, b: f64) -> Result<f64> {
    if a.is_infinite() || b.is_infinite() {
        return Ok(f64::INFINITY);
    }
    if a.is_nan() || b.is_nan() {
        return Ok(f64::NAN);
    }
    let (a, b) = (a.abs(), b.abs());
    let (long, short) = if a < b { (b, a) } else { (a, b) };
    if short == 0.0 {
        return Ok(long);
    }
    let ratio = short / long;
    let result = long * (1.0 + ratio * ratio).sqrt();
    match result {
        r if r.is_infinite() => Err(overflow()),
        0.0 => Err(underflow()),
        r => Ok(r),
    }
}

pub fn is_zero(a: f64) -> bool {
    a.abs() <= EPSILON
}

pub fn eq(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= EPSILON
}

pub fn lt(a: f64, b: f64) -> bool {
    a + EPSILON < b
}

pub fn le(a: f64, b: f64) -> bool {
    a <= b + EPSILON
}

pub fn gt(a: f64, b: f64) -> bool {
    a > b + EPSILON
}

pub fn ge(a: f64, b: f64) -> bool {
    a + EPSILON >= b
}

/// Less in the order of float8, in which NaN is the greatest.
pub fn less(a: f64, b: f64) -> bool {
    !a.is_nan() && (b.is_nan() || a < b)
}

/// Equal in the order of float8.
pub fn same(a: f64, b: f64) -> bool {
    if a.is_nan() { b.is_nan() } else { a == b }
}

/// The smaller in the order of float8.
pub fn min(a: f64, b: f64) -> f64 {
    if less(a, b) { a } else { b }
}

/// The larger in the order of float8.
pub fn max(a: f64, b: f64) -> f64 {
    if less(b, a) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_out_of_range_are_errors() {
        assert!(add(f64::MAX, f64::MAX).is_err());
        assert_eq!(add(f64::INFINITY, 1.0).expect("an infinite operand"), f64::INFINITY);
        assert!(mul(1e-300, 1e-300).is_err());
        assert!(div(1.0, 0.0).is_err());
        assert!(div(f64::NAN, 0.0).expect("NaN").is_nan());
        assert!(hypot(f64::MAX, f64::MAX).is_err());
        assert_eq!(hypot(f64::NAN, f64::INFINITY).expect("infinite"), f64::INFINITY);
    }

    #[test]
    fn comparisons_have_a_tolerance() {
        assert!(eq(1.0, 1.0 + 0.9e-6) && !lt(1.0, 1.0 + 0.9e-6) && le(1.0 + 0.9e-6, 1.0));
        assert!(lt(1.0, 1.0 + 1.1e-6) && gt(1.0 + 1.1e-6, 1.0));
        assert!(eq(f64::INFINITY, f64::INFINITY) && !eq(f64::NAN, f64::NAN));
        assert!(less(1.0, f64::NAN) && same(f64::NAN, f64::NAN));
    }
}
