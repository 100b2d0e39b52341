//! How many addresses the operators of inclusion and overlap select, by common values and
//! histograms. Counterpart: network_selfuncs.c.

use crate::address::Address;
use ids::Oid;
use std::cmp::Ordering;
use values::datum::Datum;

/// Only this number of common values and bounds are considered for each column.
const CONSIDERED_MAX: usize = 1024;

/// What an operator requires of the netmasks: the left operand contains the right one (negative) or
/// is contained in it (positive), or either (zero); an odd code permits equality.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inclusion(i8);

/// The operators, by OID.
const OPERATORS: [(u32, Inclusion); 5] = [
    (931, Inclusion(2)),
    (932, Inclusion(1)),
    (933, Inclusion(-2)),
    (934, Inclusion(-1)),
    (3552, Inclusion(0)),
];

/// What an operator tests; `None` if it is none of `<<`, `<<=`, `>>`, `>>=` and `&&`.
pub fn inclusion(operator: Oid) -> Option<Inclusion> {
    OPERATORS.iter().find(|o| o.0 == operator.0).map(|o| o.1)
}

/// The values of a column as ANALYZE has collected them.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    pub null_frac: f64,
    pub common: &'a [Datum],
    pub frequencies: &'a [f64],
    pub histogram: &'a [Datum],
}

impl Column<'_> {
    fn has_values(&self) -> bool {
        !self.common.is_empty() || !self.histogram.is_empty()
    }

    /// The common values that are considered, with their frequencies.
    fn commons(&self) -> impl Iterator<Item = (Address, f64)> {
        let pairs = self.common.iter().zip(self.frequencies).take(CONSIDERED_MAX);
        pairs.map(|(v, f)| (Address::of(v.as_ref()), *f))
    }

    /// The fraction of the rows that the histogram represents.
    fn rest(&self) -> f64 {
        1.0 - self.null_frac - self.commons().map(|c| c.1).sum::<f64>()
    }

    /// The inner bounds of the histogram, at most [`CONSIDERED_MAX`].
    fn inner(&self) -> Vec<Address> {
        let Some(inner) = self.histogram.len().checked_sub(2).filter(|n| *n > 0) else {
            return Vec::new();
        };
        let step = (inner - 1) / CONSIDERED_MAX + 1;
        let bounds = self.histogram[1..=inner].iter().step_by(step);
        bounds.map(|v| Address::of(v.as_ref())).collect()
    }
}

impl Inclusion {
    /// The estimate where nothing is known.
    pub fn assumed(self) -> f64 {
        if self.0 == 0 { 0.01 } else { 0.005 }
    }

    /// The operator with exchanged operands.
    pub fn commuted(self) -> Inclusion {
        Inclusion(-self.0)
    }

    /// Whether the operator succeeds.
    fn test(self, a: &Address, b: &Address) -> bool {
        a.family == b.family && self.order(a, b).is_eq()
    }

    /// Whether the netmask lengths satisfy the operator; otherwise on which side of the right
    /// operand the left one is.
    fn lengths(self, a: &Address, b: &Address) -> Ordering {
        let fits = match a.bits.cmp(&b.bits) {
            Ordering::Greater => self.0 >= 0,
            Ordering::Equal => self.0.abs() <= 1,
            Ordering::Less => self.0 <= 0,
        };
        if fits { Ordering::Equal } else { self.0.cmp(&0) }
    }

    /// Equal if the operator succeeds, otherwise the B-tree order. Counterpart:
    /// `inet_inclusion_cmp`.
    fn order(self, a: &Address, b: &Address) -> Ordering {
        (a.family.cmp(&b.family))
            .then_with(|| a.compare_bits(b, a.bits.min(b.bits)))
            .then_with(|| self.lengths(a, b))
    }

    /// Number of bits in which a bound differs from the address within the network that should
    /// contain the other one. `None` if they cannot match. Counterpart: `inet_hist_match_divider`.
    fn divider(self, bound: &Address, query: &Address) -> Option<u8> {
        if bound.family != query.family || self.lengths(bound, query).is_ne() {
            return None;
        }
        let least = bound.bits.min(query.bits);
        let decisive = match self.0 {
            ..0 => bound.bits,
            0 => least,
            _ => query.bits,
        };
        Some(decisive - bound.common_bits(query, least))
    }

    /// The fraction of a histogram for which `value operator query` succeeds. Counterpart:
    /// `inet_hist_value_sel`.
    fn of_histogram(self, histogram: &[Datum], query: &Address) -> f64 {
        if histogram.len() <= 1 {
            return 0.0;
        }
        let step = (histogram.len() - 2) / CONSIDERED_MAX + 1;
        let mut left = Address::of(histogram[0].as_ref());
        let mut left_order = self.order(&left, query);
        let (mut sum, mut bins) = (0.0, 0.0);
        for bound in histogram.iter().skip(step).step_by(step) {
            let right = Address::of(bound.as_ref());
            let right_order = self.order(&right, query);
            if left_order.is_eq() && right_order.is_eq() {
                sum += 1.0;
            } else if left_order.is_le() && right_order.is_ge()
                || left_order.is_ge() && right_order.is_le()
            {
                // A part of the bin, the smaller the more bits differ.
                let dividers = [self.divider(&left, query), self.divider(&right, query)];
                if let Some(bits) = dividers.into_iter().flatten().max() {
                    sum += 0.5f64.powi(bits.into());
                }
            }
            (left, left_order) = (right, right_order);
            bins += 1.0;
        }
        sum / bins
    }

    /// The fraction of the rows for which `column operator value` succeeds. Counterpart:
    /// `networksel`.
    pub fn selectivity(self, column: &Column<'_>, value: &Datum) -> f64 {
        let query = Address::of(value.as_ref());
        let pairs = column.common.iter().zip(column.frequencies);
        let common: f64 =
            pairs.filter(|(v, _)| self.test(&Address::of(v.as_ref()), &query)).map(|p| p.1).sum();
        let rest = 1.0 - column.null_frac - column.frequencies.iter().sum::<f64>();
        let of_rest = match column.histogram.is_empty() {
            true => self.assumed(),
            false => self.of_histogram(column.histogram, &query),
        };
        (common + rest * of_rest).clamp(0.0, 1.0)
    }

    /// The fraction of pairs of rows for which the operator succeeds. Counterpart:
    /// `networkjoinsel_inner`.
    pub fn join(self, a: &Column<'_>, b: &Column<'_>) -> f64 {
        if !a.has_values() || !b.has_values() {
            return (1.0 - a.null_frac) * (1.0 - b.null_frac) * self.assumed();
        }
        let mut sum = 0.0;
        for (x, f) in a.commons() {
            let matches = b.commons().filter(|(y, _)| self.test(&x, y)).map(|c| c.1);
            sum += f * matches.sum::<f64>();
            sum += b.rest() * f * self.commuted().of_histogram(b.histogram, &x);
        }
        for (y, f) in b.commons() {
            sum += a.rest() * f * self.of_histogram(a.histogram, &y);
        }
        let inner = b.inner();
        if !inner.is_empty() {
            let all: f64 = inner.iter().map(|y| self.of_histogram(a.histogram, y)).sum();
            sum += a.rest() * b.rest() * all / inner.len() as f64;
        }
        sum.clamp(0.0, 1.0)
    }

    /// The fraction of the rows of `a` that match one of the `rows` rows of `b`. Counterpart:
    /// `networkjoinsel_semi`.
    pub fn semi_join(self, a: &Column<'_>, b: &Column<'_>, rows: f64) -> f64 {
        if !a.has_values() || !b.has_values() {
            return (1.0 - a.null_frac) * (1.0 - b.null_frac) * self.assumed();
        }
        let weight = b.rest() * rows;
        let one = |x: &Address| {
            if b.commons().any(|(y, _)| self.test(x, &y)) {
                return 1.0;
            }
            (weight * self.commuted().of_histogram(b.histogram, x)).clamp(0.0, 1.0)
        };
        let mut sum: f64 = a.commons().map(|(x, f)| f * one(&x)).sum();
        let inner = a.inner();
        if !inner.is_empty() {
            let all: f64 = inner.iter().map(one).sum();
            sum += a.rest() * all / inner.len() as f64;
        }
        sum.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::IPV4;

    fn address(n: u32, bits: u8) -> Datum {
        Address::new(IPV4, bits, &n.to_be_bytes()).datum()
    }

    /// 256 hosts, one in each network of 24 bits of 10.0.0.0/16.
    fn hosts() -> Vec<Datum> {
        (0..=255).map(|i| address(0x0A00_0001 + (i << 8), 32)).collect()
    }

    #[test]
    fn histograms_decide_on_inclusion() {
        let histogram = hosts();
        let column =
            Column { null_frac: 0.0, common: &[], frequencies: &[], histogram: &histogram };
        let contained = inclusion(Oid(931)).unwrap();
        let half = contained.selectivity(&column, &address(0x0A00_0000, 17));
        assert!((half - 0.5).abs() < 0.01, "{half}");
        assert_eq!(contained.selectivity(&column, &address(0x0B00_0000, 8)), 0.0);
        assert_eq!(contained.commuted().selectivity(&column, &address(0x0A00_0000, 8)), 0.0);
        let join = contained.join(&column, &column);
        assert_eq!(join, 0.0);
    }

    #[test]
    fn common_values_are_tested() {
        let common = [address(0x0A01_0203, 32), address(0x0B00_0000, 8)];
        let column =
            Column { null_frac: 0.1, common: &common, frequencies: &[0.5, 0.2], histogram: &[] };
        let within = inclusion(Oid(932)).unwrap();
        let found = within.selectivity(&column, &address(0x0A00_0000, 8));
        assert!((found - (0.5 + 0.2 * 0.005)).abs() < 1e-9, "{found}");
    }
}
