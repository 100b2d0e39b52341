//! The partitions of a join: which partition of one side joins which of the other. Counterpart:
//! partbounds.c (`partition_bounds_equal`, `partition_bounds_merge`).
//!
//! Two partitions join if both may have rows with the same key. The join is done partition by
//! partition only if each partition joins at most one of the other side. A region of keys that one
//! side has no partition for belongs to its default partition.

use crate::bound::{Bound, RangeDatum};
use crate::desc::{Bounds, PartitionDesc};
use crate::key::PartitionKey;
use plan::query::JoinType;
use std::cmp::Ordering;
use types::Datum;

/// The bounds of the partitions of a table or of a join. Numbers are indexes of partitions.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// The number of partitions.
    pub count: usize,
    default: Option<usize>,
    keys: Keys,
}

#[derive(Clone, PartialEq, Debug)]
enum Keys {
    List {
        /// By value, ascending.
        values: Vec<(Datum, usize)>,
        null: Option<usize>,
    },
    /// Ascending.
    Range(Vec<Span>),
    Hash(Vec<Option<usize>>),
}

/// The bounds of a range partition.
#[derive(Clone, PartialEq, Debug)]
struct Span {
    from: Vec<RangeDatum>,
    to: Vec<RangeDatum>,
    partition: usize,
}

/// The partitions of a join.
pub struct Merged {
    pub layout: Layout,
    /// The partitions of both sides that each partition of the join is computed from.
    pub pairs: Vec<(Option<usize>, Option<usize>)>,
}

impl Layout {
    /// The bounds of a table's partitions.
    pub fn of(desc: &PartitionDesc) -> Layout {
        let keys = match &desc.bounds {
            Bounds::List { values, null } => Keys::List { values: values.clone(), null: *null },
            Bounds::Hash { of } => Keys::Hash(of.clone()),
            Bounds::Range { .. } => {
                let span = |(partition, bound): (usize, &Bound)| match bound {
                    Bound::Range { from, to } => {
                        Some(Span { from: from.clone(), to: to.clone(), partition })
                    }
                    _ => None,
                };
                let bounds = desc.partitions.iter().map(|p| &p.bound);
                Keys::Range(bounds.enumerate().filter_map(span).collect())
            }
        };
        Layout { count: desc.partitions.len(), default: desc.default, keys }
    }

    /// The partitions of a join of two relations on their partition keys. `live`: the partitions of
    /// both sides that may have rows; the others do not count. `None` if a partition would join
    /// several ones. `key` is the key of either side.
    pub fn merge(
        &self,
        other: &Layout,
        key: &PartitionKey,
        jointype: JoinType,
        live: [&[bool]; 2],
    ) -> Option<Merged> {
        let is_live = |side: usize, p: usize| live[side].get(p).copied().unwrap_or(false);
        let mut m = Matcher {
            jointype,
            outer: Side::new(self, &|p| is_live(0, p)),
            inner: Side::new(other, &|p| is_live(1, p)),
            made: Vec::new(),
            default: None,
        };
        let keys = match (&self.keys, &other.keys) {
            (Keys::List { values: a, null: a_null }, Keys::List { values: b, null: b_null }) => {
                let a = a.iter().filter(|v| is_live(0, v.1)).collect();
                let b = b.iter().filter(|v| is_live(1, v.1)).collect();
                let values = m.values(key, a, b)?;
                let a_null = a_null.filter(|p| is_live(0, *p));
                let b_null = b_null.filter(|p| is_live(1, *p));
                let null = m.nulls(a_null, b_null)?;
                Keys::List { values, null }
            }
            (Keys::Range(a), Keys::Range(b)) => {
                let a = a.iter().filter(|s| is_live(0, s.partition)).collect();
                let b = b.iter().filter(|s| is_live(1, s.partition)).collect();
                Keys::Range(m.spans(key, a, b)?)
            }
            _ => return None,
        };
        m.defaults()?;
        m.finish(keys)
    }
}

/// One side of a join: the default partition, and the number in `Matcher::made` of each partition.
struct Side {
    default: Option<usize>,
    made: Vec<Option<usize>>,
}

impl Side {
    fn new(layout: &Layout, is_live: &dyn Fn(usize) -> bool) -> Side {
        let default = layout.default.filter(|p| is_live(*p));
        Side { default, made: vec![None; layout.count] }
    }
}

type Pair = (Option<usize>, Option<usize>);

/// A partition of the join, or another one that it was replaced by.
enum Made {
    Pair(Pair),
    Is(usize),
}

struct Matcher {
    jointype: JoinType,
    outer: Side,
    inner: Side,
    /// The partitions of the join, in the order in which they were found.
    made: Vec<Made>,
    default: Option<usize>,
}

impl Matcher {
    /// True if all rows of the outer side are in the result.
    fn keeps_outer(&self) -> bool {
        matches!(self.jointype, JoinType::Left | JoinType::Anti | JoinType::Full)
    }

    fn keeps_inner(&self) -> bool {
        self.jointype == JoinType::Full
    }

    fn add(&mut self, pair: Pair) -> usize {
        self.made.push(Made::Pair(pair));
        self.made.len() - 1
    }

    fn pair_of(&self, made: usize) -> (usize, Pair) {
        match &self.made[made] {
            Made::Pair(pair) => (made, *pair),
            Made::Is(other) => self.pair_of(*other),
        }
    }

    /// Joins two partitions; `None` if one of them joins another already. Counterpart:
    /// `merge_matching_partitions`.
    fn join(&mut self, outer: usize, inner: usize) -> Option<usize> {
        let whole = (Some(outer), Some(inner));
        let known = (self.outer.made[outer], self.inner.made[inner]);
        let made = match (known.0.map(|m| self.pair_of(m)), known.1.map(|m| self.pair_of(m))) {
            (None, None) => self.add(whole),
            (Some((a, _)), Some((b, _))) if a == b => a,
            (Some((a, (_, None))), Some((b, (None, _)))) => {
                let (kept, gone) = (a.min(b), a.max(b));
                self.made[gone] = Made::Is(kept);
                kept
            }
            (Some((a, (_, None))), None) => a,
            (None, Some((b, (None, _)))) => b,
            _ => return None,
        };
        self.made[made] = Made::Pair(whole);
        self.outer.made[outer] = Some(made);
        self.inner.made[inner] = Some(made);
        Some(made)
    }

    fn outer_alone(&mut self, outer: usize) -> usize {
        match self.outer.made[outer] {
            Some(made) => self.pair_of(made).0,
            None => {
                let made = self.add((Some(outer), None));
                self.outer.made[outer] = Some(made);
                made
            }
        }
    }

    fn inner_alone(&mut self, inner: usize) -> usize {
        match self.inner.made[inner] {
            Some(made) => self.pair_of(made).0,
            None => {
                let made = self.add((None, Some(inner)));
                self.inner.made[inner] = Some(made);
                made
            }
        }
    }

    /// Keys that only the outer side has a partition for. The inner value is `None` if the result
    /// has no rows with these keys. Counterpart: `process_outer_partition`.
    fn outer_only(&mut self, outer: usize) -> Option<Option<usize>> {
        let Some(default) = self.inner.default else {
            return Some(self.keeps_outer().then(|| self.outer_alone(outer)));
        };
        // The default partition of the inner side joins that of the outer side too.
        if self.outer.default.is_some() {
            return None;
        }
        let made = self.join(outer, default)?;
        if self.keeps_inner() {
            self.default = Some(made);
        }
        Some(Some(made))
    }

    /// Counterpart: `process_inner_partition`.
    fn inner_only(&mut self, inner: usize) -> Option<Option<usize>> {
        let Some(default) = self.outer.default else {
            return Some(self.keeps_inner().then(|| self.inner_alone(inner)));
        };
        if self.inner.default.is_some() {
            return None;
        }
        let made = self.join(default, inner)?;
        if self.keeps_outer() {
            self.default = Some(made);
        }
        Some(Some(made))
    }

    /// Counterpart: `merge_list_bounds`.
    fn values(
        &mut self,
        key: &PartitionKey,
        a: Vec<&(Datum, usize)>,
        b: Vec<&(Datum, usize)>,
    ) -> Option<Vec<(Datum, usize)>> {
        let mut out = Vec::new();
        let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => key.columns[0].order(x.0.as_ref(), y.0.as_ref()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Some(out),
            };
            let outer = if order.is_le() { a.next() } else { None };
            let inner = if order.is_ge() { b.next() } else { None };
            let (value, made) = match (outer, inner) {
                (Some(x), Some(y)) => (x, Some(self.join(x.1, y.1)?)),
                (Some(x), None) => (x, self.outer_only(x.1)?),
                (None, Some(y)) => (y, self.inner_only(y.1)?),
                (None, None) => return Some(out),
            };
            out.extend(made.map(|made| (value.0.clone(), made)));
        }
    }

    /// The partition with NULL keys, which join nothing. Counterpart: `merge_null_partitions`.
    fn nulls(&mut self, outer: Option<usize>, inner: Option<usize>) -> Option<Option<usize>> {
        let new_outer = outer.filter(|p| self.outer.made[*p].is_none());
        let new_inner = inner.filter(|p| self.inner.made[*p].is_none());
        let (keeps_outer, keeps_inner) = (self.keeps_outer(), self.keeps_inner());
        Some(match (new_outer, new_inner) {
            (Some(outer), Some(inner)) if keeps_outer => Some(self.join(outer, inner)?),
            (Some(outer), None) if keeps_outer => Some(self.outer_alone(outer)),
            (None, Some(inner)) if keeps_inner => Some(self.inner_alone(inner)),
            _ => outer.filter(|_| keeps_outer).and_then(|p| self.outer.made[p]),
        })
    }

    /// Counterpart: `merge_range_bounds`.
    fn spans(&mut self, key: &PartitionKey, a: Vec<&Span>, b: Vec<&Span>) -> Option<Vec<Span>> {
        let order = |x: &[RangeDatum], y: &[RangeDatum]| key.compare_bounds(x, y).0;
        let mut out = Vec::new();
        let (mut i, mut j) = (0, 0);
        loop {
            let (outer, inner) = match (a.get(i), b.get(j)) {
                (Some(x), Some(y)) if order(&x.to, &y.from).is_le() => (Some(*x), None),
                (Some(x), Some(y)) if order(&y.to, &x.from).is_le() => (None, Some(*y)),
                (None, None) => return Some(out),
                (x, y) => (x.copied(), y.copied()),
            };
            let (span, made) = match (outer, inner) {
                (Some(x), Some(y)) => {
                    let (low, high) = (order(&x.from, &y.from), order(&x.to, &y.to));
                    // Keys outside of the other partition join the other side's default partition.
                    let inner_sticks_out = low.is_gt() || high.is_lt();
                    let outer_sticks_out = low.is_lt() || high.is_gt();
                    let reaches_next = match high {
                        Ordering::Less => a.get(i + 1).map(|next| order(&next.from, &y.to)),
                        Ordering::Greater => b.get(j + 1).map(|next| order(&next.from, &x.to)),
                        Ordering::Equal => None,
                    };
                    if (self.outer.default.is_some() && inner_sticks_out)
                        || (self.inner.default.is_some() && outer_sticks_out)
                        || reaches_next.is_some_and(Ordering::is_lt)
                    {
                        return None;
                    }
                    (self.both(x, y, (low, high)), Some(self.join(x.partition, y.partition)?))
                }
                (Some(x), None) => (x.clone(), self.outer_only(x.partition)?),
                (None, Some(y)) => (y.clone(), self.inner_only(y.partition)?),
                (None, None) => return Some(out),
            };
            i += usize::from(outer.is_some());
            j += usize::from(inner.is_some());
            out.extend(made.map(|partition| Span { partition, ..span }));
        }
    }

    /// The keys of the joined rows of two partitions. Counterpart: `get_merged_range_bounds`.
    fn both(&self, x: &Span, y: &Span, (low, high): (Ordering, Ordering)) -> Span {
        let (from, to) = match self.jointype {
            JoinType::Left | JoinType::Anti => (x, x),
            JoinType::Full => (if low.is_le() { x } else { y }, if high.is_ge() { x } else { y }),
            _ => (if low.is_ge() { x } else { y }, if high.is_le() { x } else { y }),
        };
        Span { from: from.from.clone(), to: to.to.clone(), partition: 0 }
    }

    /// Counterpart: `merge_default_partitions`.
    fn defaults(&mut self) -> Option<()> {
        match (self.outer.default, self.inner.default) {
            (Some(outer), Some(inner)) => self.default = Some(self.join(outer, inner)?),
            (Some(outer), None) if self.keeps_outer() => {
                self.default = Some(self.outer_alone(outer));
            }
            (None, Some(inner)) if self.keeps_inner() => {
                self.default = Some(self.inner_alone(inner));
            }
            _ => {}
        }
        Some(())
    }

    /// Numbers the partitions of the join; `None` if it has none.
    fn finish(self, mut keys: Keys) -> Option<Merged> {
        let mut numbers = Vec::with_capacity(self.made.len());
        let mut pairs = Vec::new();
        for made in &self.made {
            numbers.push(pairs.len());
            if let Made::Pair(pair) = made {
                pairs.push(*pair);
            }
        }
        let number = |made: usize| numbers[self.pair_of(made).0];
        match &mut keys {
            Keys::List { values, null } => {
                values.iter_mut().for_each(|v| v.1 = number(v.1));
                *null = null.map(number);
            }
            Keys::Range(spans) => {
                spans.iter_mut().for_each(|s| s.partition = number(s.partition));
            }
            Keys::Hash(_) => {}
        }
        let layout = Layout { count: pairs.len(), default: self.default.map(number), keys };
        (!pairs.is_empty()).then_some(Merged { layout, pairs })
    }
}
