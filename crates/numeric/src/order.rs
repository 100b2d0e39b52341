//! Comparison of numbers.

use super::num::{Num, Sign};
use super::{arith, small};
use ids::Oid;
use std::cmp::Ordering;
use values::datum::DatumRef;

/// Compares two numbers; NaN equals itself and is greater than +Infinity.
pub fn compare(a: &Num, b: &Num) -> Ordering {
    let rank = |n: &Num| match n.sign {
        Sign::NegInf => -1,
        Sign::PosInf => 1,
        Sign::NaN => 2,
        _ => 0,
    };
    match (rank(a), rank(b)) {
        (0, 0) => arith::compare_finite(a, b),
        (x, y) => x.cmp(&y),
    }
}

/// `numeric_cmp`.
pub fn numeric_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    compare_payloads(a.as_bytes(), b.as_bytes())
}

/// Compares two payloads.
#[inline]
pub fn compare_payloads(a: &[u8], b: &[u8]) -> Ordering {
    small::compare(a, b).unwrap_or_else(|| compare(&Num::from_payload(a), &Num::from_payload(b)))
}
