//! seg: intervals of float4 with the number of significant digits of their bounds, and marks that
//! a bound is approximate (`~`), or that the value is below (`<`) or above (`>`) it.
//!
//! Reading order: `io`, this file, `gist`.
//!
//! Counterpart: contrib/seg.

mod gist;
mod io;

use crate::library::{ByCase, Library};
use ids::Oid;
use std::cmp::Ordering;
use values::datum::{Datum, DatumRef};

pub static LIBRARY: Library = Library {
    name: "seg",
    functions: &[FNS, io::FNS],
    comparisons: &[ByCase::same("seg_cmp", compare)],
    gist: gist::SUPPORT,
    ..Library::EMPTY
};

/// The mark of a bound that is infinite.
const INFINITE: u8 = b'-';

/// A bound of a segment.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Bound {
    value: f32,
    /// Number of significant digits.
    digits: u8,
    /// One of `<`, `>`, `~`, [`INFINITE`]; 0: none.
    mark: u8,
}

/// A value. It is stored as the values, the digits and the marks of both bounds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Segment {
    lower: Bound,
    upper: Bound,
}

impl Segment {
    fn of(d: DatumRef<'_>) -> Segment {
        let stored: [u8; 12] = d.as_bytes().first_chunk().copied().unwrap_or_default();
        let value = |at: usize| {
            f32::from_le_bytes([stored[at], stored[at + 1], stored[at + 2], stored[at + 3]])
        };
        Segment {
            lower: Bound { value: value(0), digits: stored[8], mark: stored[10] },
            upper: Bound { value: value(4), digits: stored[9], mark: stored[11] },
        }
    }

    fn datum(self) -> Datum {
        let (lower, upper) = (self.lower, self.upper);
        let mut out = lower.value.to_le_bytes().to_vec();
        out.extend_from_slice(&upper.value.to_le_bytes());
        out.extend_from_slice(&[lower.digits, upper.digits, lower.mark, upper.mark]);
        Datum::bytes(out)
    }

    fn contains(self, other: Segment) -> bool {
        self.lower.value <= other.lower.value && self.upper.value >= other.upper.value
    }

    fn overlaps(self, other: Segment) -> bool {
        let within = |a: Segment, b: Segment| {
            a.upper.value >= b.upper.value && a.lower.value <= b.upper.value
        };
        within(self, other) || within(other, self)
    }
}

/// The order of marks of equal values; of a lower bound, an infinite one is the least.
fn by_marks(a: u8, b: u8, infinite: Ordering) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let marks = [(INFINITE, infinite), (b'<', Ordering::Less), (b'>', Ordering::Greater)];
    for (mark, order) in marks {
        if a == mark {
            return order;
        }
        if b == mark {
            return order.reverse();
        }
    }
    Ordering::Equal
}

/// The order of two bounds, where that with fewer digits comes first. `infinite`: how an infinite
/// bound compares to others.
fn by_bounds(a: Bound, b: Bound, infinite: Ordering) -> Ordering {
    if a.value < b.value {
        return Ordering::Less;
    }
    if a.value > b.value {
        return Ordering::Greater;
    }
    let approximate = || match (a.mark == b'~', b.mark == b'~') {
        _ if a.mark == b.mark => Ordering::Equal,
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    };
    // An upper bound with fewer digits, or an approximate one, is the greater.
    let fine = |order: Ordering| if infinite.is_lt() { order } else { order.reverse() };
    by_marks(a.mark, b.mark, infinite)
        .then_with(|| fine(a.digits.cmp(&b.digits)))
        .then_with(|| fine(approximate()))
}

fn compare(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    let (a, b) = (Segment::of(a), Segment::of(b));
    by_bounds(a.lower, b.lower, Ordering::Less)
        .then_with(|| by_bounds(a.upper, b.upper, Ordering::Greater))
}

fn order(a: &[DatumRef<'_>]) -> Ordering {
    compare(a[0], a[1], Oid::INVALID)
}

fn both(a: &[DatumRef<'_>]) -> (Segment, Segment) {
    (Segment::of(a[0]), Segment::of(a[1]))
}

fn test(a: &[DatumRef<'_>], f: impl Fn(Segment, Segment) -> bool) -> Datum {
    let (a, b) = both(a);
    Datum::bool(f(a, b))
}

fn union(a: &[DatumRef<'_>]) -> Datum {
    let (a, b) = both(a);
    let lower = if a.lower.value < b.lower.value { a.lower } else { b.lower };
    let upper = if a.upper.value > b.upper.value { a.upper } else { b.upper };
    Segment { lower, upper }.datum()
}

fn intersection(a: &[DatumRef<'_>]) -> Datum {
    let (a, b) = both(a);
    let lower = if a.lower.value > b.lower.value { a.lower } else { b.lower };
    let upper = if a.upper.value < b.upper.value { a.upper } else { b.upper };
    Segment { lower, upper }.datum()
}

fn center(d: DatumRef<'_>) -> Datum {
    let s = Segment::of(d);
    Datum::float4((f64::from(s.lower.value + s.upper.value) / 2.0) as f32)
}

fn size(d: DatumRef<'_>) -> Datum {
    let s = Segment::of(d);
    Datum::float4((s.upper.value - s.lower.value).abs())
}

scalars! { FNS;
    "seg_cmp" => |_, a| Ok(Datum::int4(order(a) as i32)),
    "seg_lt" => |_, a| Ok(Datum::bool(order(a).is_lt())),
    "seg_le" => |_, a| Ok(Datum::bool(order(a).is_le())),
    "seg_gt" => |_, a| Ok(Datum::bool(order(a).is_gt())),
    "seg_ge" => |_, a| Ok(Datum::bool(order(a).is_ge())),
    "seg_same" => |_, a| Ok(Datum::bool(order(a).is_eq())),
    "seg_different" => |_, a| Ok(Datum::bool(order(a).is_ne())),
    "seg_contains" => |_, a| Ok(test(a, Segment::contains)),
    "seg_contained" => |_, a| Ok(test(a, |a, b| b.contains(a))),
    "seg_overlap" => |_, a| Ok(test(a, Segment::overlaps)),
    "seg_over_left" => |_, a| Ok(test(a, |a, b| a.upper.value <= b.upper.value)),
    "seg_left" => |_, a| Ok(test(a, |a, b| a.upper.value < b.lower.value)),
    "seg_right" => |_, a| Ok(test(a, |a, b| a.lower.value > b.upper.value)),
    "seg_over_right" => |_, a| Ok(test(a, |a, b| a.lower.value >= b.lower.value)),
    "seg_union" => |_, a| Ok(union(a)),
    "seg_inter" => |_, a| Ok(intersection(a)),
    "seg_size" => |_, a| Ok(size(a[0])),
    "seg_center" => |_, a| Ok(center(a[0])),
    "seg_lower" => |_, a| Ok(Datum::float4(Segment::of(a[0]).lower.value)),
    "seg_upper" => |_, a| Ok(Datum::float4(Segment::of(a[0]).upper.value)),
}
