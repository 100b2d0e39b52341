//! The partitions that may have rows with certain keys. Counterpart: partprune.c
//! (`get_matching_partitions`).

use crate::bound::RangeDatum;
use crate::desc::{Bounds, PartitionDesc};
use crate::key::{KeySupport, SupportCall};
use ids::strategy::btree::{EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL};
use ids::{Oid, StrategyNumber};
use pgerror::Result;
use plan::expr::Expr;
use plan::prune::{KeyCondition, KeyTest, Pruning};
use std::cmp::Ordering;
use types::{Comparer, Datum, DatumRef};

/// What the evaluation of conditions needs.
pub trait PruneHost: SupportCall {
    /// The value of an expression; `None` if it is not known yet.
    fn value(&mut self, expr: &Expr) -> Result<Option<Datum>>;

    /// The comparison of a value of type `left` with one of type `right` in an operator family,
    /// under a collation.
    fn comparer(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        collation: Oid,
    ) -> Result<Option<Comparer>>;

    /// This object as the caller of hash functions.
    fn as_support(&mut self) -> &mut dyn SupportCall;
}

/// A set of partitions, by their index in the descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionSet(Vec<bool>);

impl PartitionSet {
    fn filled(desc: &PartitionDesc, with: bool) -> PartitionSet {
        PartitionSet(vec![with; desc.partitions.len()])
    }

    fn insert(&mut self, partition: Option<usize>) {
        if let Some(slot) = partition.and_then(|p| self.0.get_mut(p)) {
            *slot = true;
        }
    }

    fn intersect(&mut self, other: &PartitionSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }

    fn unite(&mut self, other: &PartitionSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    pub fn contains(&self, partition: usize) -> bool {
        self.0.get(partition).copied().unwrap_or(false)
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, is)| **is).map(|(i, _)| i)
    }
}

/// A value with which a key column is compared.
struct KnownValue {
    column: usize,
    strategy: StrategyNumber,
    value: Datum,
    comparer: Option<Comparer>,
}

impl PartitionDesc {
    /// True if the rows of these partitions, one partition after another, are in the order of the
    /// partition key. Counterpart: `partitions_are_ordered`.
    pub fn is_ordered(&self, live: &[usize]) -> bool {
        if self.default.is_some_and(|d| live.contains(&d)) {
            return false;
        }
        match &self.bounds {
            Bounds::Hash { .. } => false,
            Bounds::Range { .. } => true,
            Bounds::List { values, null } => {
                // The values of a partition must be adjacent.
                let interleaved = |partition: usize| {
                    let is_own = |v: &(Datum, usize)| v.1 == partition;
                    let (first, last) =
                        (values.iter().position(is_own), values.iter().rposition(is_own));
                    let (Some(first), Some(last)) = (first, last) else { return false };
                    *null == Some(partition) || !values[first..=last].iter().all(is_own)
                };
                !live.iter().any(|p| interleaved(*p))
            }
        }
    }

    /// The partitions that may have rows that satisfy the condition.
    pub fn matching(&self, condition: &Pruning, host: &mut dyn PruneHost) -> Result<PartitionSet> {
        match condition {
            Pruning::All => Ok(PartitionSet::filled(self, true)),
            Pruning::Never => Ok(PartitionSet::filled(self, false)),
            Pruning::And(parts) => {
                let mut out = PartitionSet::filled(self, true);
                for part in parts {
                    out.intersect(&self.matching(part, host)?);
                }
                Ok(out)
            }
            Pruning::Or(parts) => {
                let mut out = PartitionSet::filled(self, false);
                for part in parts {
                    out.unite(&self.matching(part, host)?);
                }
                Ok(out)
            }
            Pruning::Keys(list) => self.matching_keys(list, host),
        }
    }

    fn matching_keys(
        &self,
        list: &[KeyCondition],
        host: &mut dyn PruneHost,
    ) -> Result<PartitionSet> {
        let mut known = Vec::with_capacity(list.len());
        let mut different = Vec::new();
        for condition in list {
            let column = condition.column;
            let (value, value_type, strategy) = match &condition.test {
                KeyTest::Compare { strategy, value, value_type } => {
                    (value, *value_type, Some(*strategy))
                }
                KeyTest::NotEqual { value, value_type } => (value, *value_type, None),
                KeyTest::Null | KeyTest::NotNull => continue,
            };
            let Some(value) = host.value(value)? else { continue };
            if value.is_null() {
                // The operators are strict.
                return Ok(PartitionSet::filled(self, false));
            }
            let key = &self.key.columns[column];
            let comparer = match key.support {
                KeySupport::Compare(_) if value_type != key.ty && value_type != key.input => {
                    let found = host.comparer(key.family, key.input, value_type, key.collation)?;
                    if found.is_none() {
                        continue;
                    }
                    found
                }
                _ => None,
            };
            match strategy {
                Some(strategy) => known.push(KnownValue { column, strategy, value, comparer }),
                None => different.push(KnownValue { column, strategy: EQUAL, value, comparer }),
            }
        }
        let tests = |test: KeyTest| -> Vec<usize> {
            list.iter().filter(|c| c.test == test).map(|c| c.column).collect()
        };
        let (nulls, not_nulls) = (tests(KeyTest::Null), tests(KeyTest::NotNull));
        if nulls.iter().any(|n| not_nulls.contains(n) || known.iter().any(|k| k.column == *n)) {
            return Ok(PartitionSet::filled(self, false));
        }
        match &self.bounds {
            Bounds::Hash { of } => self.matching_hash(of, (&known, &nulls), host),
            Bounds::List { values, null } => {
                let tests = (!nulls.is_empty(), !not_nulls.is_empty());
                Ok(self.matching_list((values, *null), (&known, &different), tests))
            }
            Bounds::Range { bounds, of } => {
                if !nulls.is_empty() {
                    let mut out = PartitionSet::filled(self, false);
                    out.insert(self.default);
                    return Ok(out);
                }
                Ok(self.matching_range((bounds, of), &known))
            }
        }
    }

    fn matching_hash(
        &self,
        of: &[Option<usize>],
        (known, nulls): (&[KnownValue], &[usize]),
        host: &mut dyn PruneHost,
    ) -> Result<PartitionSet> {
        let mut key: Vec<DatumRef<'_>> = Vec::with_capacity(self.key.columns.len());
        for column in 0..self.key.columns.len() {
            let equal = known.iter().find(|k| k.column == column && k.strategy == EQUAL);
            match equal {
                Some(k) => key.push(k.value.as_ref()),
                None if nulls.contains(&column) => key.push(DatumRef::Null),
                None => return Ok(PartitionSet::filled(self, true)),
            }
        }
        let mut out = PartitionSet::filled(self, false);
        if !of.is_empty() {
            let hash = self.key.hash(&key, host.as_support())?;
            out.insert(of[(hash % of.len() as u64) as usize]);
        }
        Ok(out)
    }

    fn matching_list(
        &self,
        (values, null): (&[(Datum, usize)], Option<usize>),
        (known, different): (&[KnownValue], &[KnownValue]),
        (is_null, is_not_null): (bool, bool),
    ) -> PartitionSet {
        let mut out = PartitionSet::filled(self, false);
        if is_null {
            out.insert(null.or(self.default));
            return out;
        }
        let mut found = 0;
        let mut equal = false;
        for (value, partition) in values {
            let fits = |k: &KnownValue| satisfies(self.order(k, value.as_ref()), k.strategy);
            let differs = |k: &KnownValue| self.order(k, value.as_ref()).is_ne();
            if known.iter().all(fits) && different.iter().all(differs) {
                out.insert(Some(*partition));
                found += 1;
            }
        }
        for k in known {
            equal |= k.strategy == EQUAL;
        }
        if known.is_empty() && different.is_empty() && !is_not_null {
            out.insert(null);
        }
        // Other values are in the default partition.
        if !(equal && found > 0) {
            let contradicts = |k: &KnownValue| {
                k.strategy == EQUAL
                    && known.iter().any(|o| {
                        o.comparer.is_none()
                            && k.comparer.is_none()
                            && !satisfies(self.order(o, k.value.as_ref()), o.strategy)
                    })
            };
            if !known.iter().any(contradicts) {
                out.insert(self.default);
            }
        }
        out
    }

    /// The order of a value of the key relative to a known value.
    fn order(&self, known: &KnownValue, key: DatumRef<'_>) -> Ordering {
        let column = &self.key.columns[known.column];
        match &known.comparer {
            Some(comparer) => comparer.order(key, known.value.as_ref(), column.collation),
            None => column.order(key, known.value.as_ref()),
        }
    }

    fn matching_range(
        &self,
        (bounds, of): (&[Vec<RangeDatum>], &[Option<usize>]),
        known: &[KnownValue],
    ) -> PartitionSet {
        let mut prefix: Vec<&KnownValue> = Vec::new();
        let columns = self.key.columns.len();
        while let Some(k) = known.iter().find(|k| k.column == prefix.len() && k.strategy == EQUAL) {
            prefix.push(k);
        }
        let next = prefix.len();
        let mut lowest: Vec<Option<&KnownValue>> = vec![None];
        let mut highest: Vec<Option<&KnownValue>> = vec![None];
        for k in known.iter().filter(|k| k.column == next) {
            match k.strategy {
                GREATER | GREATER_EQUAL => lowest.push(Some(k)),
                LESS | LESS_EQUAL => highest.push(Some(k)),
                _ => {}
            }
        }
        let (mut from, mut to) = (0, of.len() - 1);
        for k in lowest {
            from = from.max(self.first_place(bounds, &prefix, k));
        }
        for k in highest {
            to = to.min(self.last_place(bounds, &prefix, k));
        }
        let mut out = PartitionSet::filled(self, false);
        let bounded = prefix.len() + usize::from(known.iter().any(|k| k.column == next));
        if bounded < columns {
            // Rows with NULL in another column are in the default partition.
            out.insert(self.default);
        }
        // No row is below MINVALUE or above MAXVALUE.
        let starts = bounds.first().is_some_and(|b| b[0] == RangeDatum::Least);
        let ends = bounds.last().is_some_and(|b| b[0] == RangeDatum::Greatest);
        for place in from..(to + 1).max(from) {
            match of.get(place).copied().flatten() {
                Some(partition) => out.insert(Some(partition)),
                None if place == 0 && starts || place == of.len() - 1 && ends => {}
                None => out.insert(self.default),
            }
        }
        out
    }

    /// The order of the bound's leading columns relative to the values.
    fn prefix_order(&self, bound: &[RangeDatum], values: &[&KnownValue]) -> Ordering {
        for (datum, known) in bound.iter().zip(values) {
            let order = match datum {
                RangeDatum::Least => Ordering::Less,
                RangeDatum::Greatest => Ordering::Greater,
                RangeDatum::Value(datum) => self.order(known, datum.as_ref()),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// The first place of `Bounds::Range::of` with rows at or above the values of `prefix`,
    /// followed by a lower bound on the next column.
    fn first_place(
        &self,
        bounds: &[Vec<RangeDatum>],
        prefix: &[&KnownValue],
        lower: Option<&KnownValue>,
    ) -> usize {
        let exclusive = lower.is_some_and(|k| k.strategy == GREATER);
        let values: Vec<&KnownValue> = prefix.iter().copied().chain(lower).collect();
        if values.is_empty() {
            return 0;
        }
        bounds.partition_point(|b| match self.prefix_order(b, &values) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal if exclusive => true,
            Ordering::Equal => {
                matches!(b.get(values.len()), None | Some(RangeDatum::Least))
            }
        })
    }

    /// The last place of `Bounds::Range::of` with rows at or below the values of `prefix`, followed
    /// by an upper bound on the next column.
    fn last_place(
        &self,
        bounds: &[Vec<RangeDatum>],
        prefix: &[&KnownValue],
        upper: Option<&KnownValue>,
    ) -> usize {
        let exclusive = upper.is_some_and(|k| k.strategy == LESS);
        let values: Vec<&KnownValue> = prefix.iter().copied().chain(upper).collect();
        if values.is_empty() {
            return bounds.len();
        }
        bounds.partition_point(|b| match self.prefix_order(b, &values) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => {
                !exclusive && !matches!(b.get(values.len()), Some(RangeDatum::Greatest))
            }
        })
    }
}

/// Whether a key with this order relative to a value satisfies the comparison.
fn satisfies(order: Ordering, strategy: StrategyNumber) -> bool {
    match strategy {
        LESS => order.is_lt(),
        LESS_EQUAL => order.is_le(),
        EQUAL => order.is_eq(),
        GREATER_EQUAL => order.is_ge(),
        GREATER => order.is_gt(),
        _ => true,
    }
}
