//! The descriptor of a partitioned table: its partitions in the order of their bounds, and the
//! search for the partition of a row.
//!
//! Counterpart: partdesc.c, partbounds.c (`partition_bounds_create`), execPartition.c
//! (`get_partition_for_tuple`).

use crate::bound::{Bound, RangeDatum, read_bound};
use crate::key::{PartitionKey, SupportCall, partition_key};
use crate::malformed;
use crate::tree::{Detached, child_rows};
use catalog::rows::{PgClass, PgInherits};
use catalog::{CatCx, RelDesc, Row};
use ids::code::PartStrategy;
use ids::{Oid, RelKind, Xid};
use pgerror::Result;
use std::cmp::Ordering;
use std::sync::OnceLock;
use sync::Arc;
use types::{Datum, DatumRef};

/// A partition.
#[derive(Clone, Debug)]
pub struct Partition {
    pub oid: Oid,
    /// It is not partitioned itself.
    pub is_leaf: bool,
    pub bound: Bound,
}

/// The partitions of a table.
pub struct PartitionDesc {
    pub key: Arc<PartitionKey>,
    /// In the order of their bounds; the default partition is the last one.
    pub partitions: Vec<Partition>,
    /// Index of the default partition.
    pub default: Option<usize>,
    pub bounds: Bounds,
}

/// The bounds of all partitions, for searches. Numbers are indexes of `partitions`.
#[derive(Debug)]
pub enum Bounds {
    List {
        /// By value, ascending.
        values: Vec<(Datum, usize)>,
        null: Option<usize>,
    },
    Range {
        /// Distinct and ascending.
        bounds: Vec<Vec<RangeDatum>>,
        /// One entry more than `bounds`. `of[i]` contains the rows from bound `i - 1` (from minus
        /// infinity for 0) up to bound `i`; `None` for a gap.
        of: Vec<Option<usize>>,
    },
    /// The partition by hash modulo the greatest modulus, the length of the list.
    Hash { of: Vec<Option<usize>> },
}

/// What is derived from a partitioned table's descriptor on first use.
#[derive(Default)]
pub(crate) struct Cached {
    pub(crate) key: OnceLock<Arc<PartitionKey>>,
    /// All partitions.
    all: OnceLock<Arc<PartitionDesc>>,
    /// The partition that is being detached concurrently, if there is one, and the others.
    attached: OnceLock<Option<(Pending, Arc<PartitionDesc>)>>,
}

/// The transaction that marked a partition as being detached.
#[derive(Clone, Copy)]
struct Pending(Xid);

/// The derived data of a relation.
pub(crate) fn cached(rel: &RelDesc) -> &Cached {
    let data = rel.partition_data.get_or_init(|| Box::new(Cached::default()));
    data.downcast_ref().expect("only this crate sets the data of partitions")
}

/// The descriptor of a partitioned table. It is cached with the relation's descriptor, which
/// attaching and detaching partitions invalidates. Counterpart: `RelationGetPartitionDesc`.
pub fn partition_desc(
    cat: &mut CatCx<'_>,
    rel: &RelDesc,
    detached: Detached<'_>,
) -> Result<Arc<PartitionDesc>> {
    let cached = cached(rel);
    if let (Some(all), Some(attached)) = (cached.all.get(), cached.attached.get()) {
        return Ok(choose(all, attached, detached));
    }
    let key = partition_key(cat, rel)?;
    let rows = child_rows(cat, rel.oid())?;
    let mut all = Vec::with_capacity(rows.len());
    let mut pending = None;
    for row in &rows {
        all.push((read_partition(cat, row)?, row.inhdetachpending));
        if row.inhdetachpending {
            pending = Some(Pending(cat.row_xmin(row)?));
        }
    }
    let attached = pending.map(|pending| {
        let others = all.iter().filter(|(_, pending)| !pending).map(|(p, _)| p.clone());
        (pending, Arc::new(PartitionDesc::new(key.clone(), others.collect())))
    });
    let all = all.into_iter().map(|(p, _)| p).collect();
    let all = Arc::new(PartitionDesc::new(key, all));
    let all = cached.all.get_or_init(|| all);
    let attached = cached.attached.get_or_init(|| attached);
    Ok(choose(all, attached, detached))
}

fn choose(
    all: &Arc<PartitionDesc>,
    attached: &Option<(Pending, Arc<PartitionDesc>)>,
    detached: Detached<'_>,
) -> Arc<PartitionDesc> {
    let Some((Pending(xid), others)) = attached else { return all.clone() };
    let omit = match detached {
        Detached::Include => false,
        Detached::Omit => true,
        Detached::OmitSeen(sees) => sees(*xid),
    };
    if omit { others.clone() } else { all.clone() }
}

fn read_partition(cat: &mut CatCx<'_>, row: &Row<PgInherits>) -> Result<Partition> {
    // The cached row may be older than the row of pg_inherits, because a session that attaches a
    // partition does not exclude readers of the partitioned table.
    let mut class: Row<PgClass> = cat.class(row.inhrelid)?;
    if class.relpartbound.is_none() {
        let keys = [row.inhrelid.into()];
        let index = catalog::rows::indexes::PG_CLASS_OID_INDEX;
        class = cat.scan(index, &keys)?.pop().ok_or_else(malformed)?;
    }
    let text = class.relpartbound.as_ref().ok_or_else(malformed)?;
    Ok(Partition {
        oid: row.inhrelid,
        is_leaf: class.relkind != RelKind::PartitionedTable,
        bound: known_bound(cat, row.inhrelid, text.as_str())?,
    })
}

/// The bound of a partition, which is read from its text once in a session.
fn known_bound(cat: &mut CatCx<'_>, partition: Oid, text: &str) -> Result<Bound> {
    if let Some(known) = cat.session.derived.get::<Bound>(partition, text) {
        return Ok(Bound::clone(&known));
    }
    let bound = Arc::new(read_bound(text)?);
    cat.session.derived.keep(partition, text, bound.clone());
    Ok(Bound::clone(&bound))
}

impl PartitionDesc {
    /// A descriptor of partitions whose bounds do not overlap.
    pub fn new(key: Arc<PartitionKey>, partitions: Vec<Partition>) -> PartitionDesc {
        let (defaults, others): (Vec<_>, Vec<_>) =
            partitions.into_iter().partition(|p| p.bound == Bound::Default);
        let (mut partitions, bounds) = match key.strategy {
            PartStrategy::List => list_bounds(&key, others),
            PartStrategy::Range => range_bounds(&key, others),
            PartStrategy::Hash => hash_bounds(others),
        };
        let default = (!defaults.is_empty()).then_some(partitions.len());
        partitions.extend(defaults);
        PartitionDesc { key, partitions, default, bounds }
    }

    /// The partition for a row with this key, one value per key column. It allocates no memory.
    pub fn find(&self, key: &[DatumRef<'_>], call: &mut dyn SupportCall) -> Result<Option<usize>> {
        let found = match &self.bounds {
            Bounds::Hash { of } => {
                if of.is_empty() {
                    return Ok(None);
                }
                return Ok(of[(self.key.hash(key, call)? % of.len() as u64) as usize]);
            }
            Bounds::List { values, null } => match key[0] {
                DatumRef::Null => *null,
                value => self.find_value(values, value),
            },
            Bounds::Range { bounds, of } => {
                if key.iter().any(|v| v.is_null()) {
                    None
                } else {
                    of[self.position(bounds, key)]
                }
            }
        };
        Ok(found.or(self.default))
    }

    /// As [`Self::find`], for rows that are likely to belong to the same partition as the last one:
    /// `last` is tried first.
    pub fn find_from(
        &self,
        last: usize,
        key: &[DatumRef<'_>],
        call: &mut dyn SupportCall,
    ) -> Result<Option<usize>> {
        if let Some(Partition { bound: Bound::Range { from, to }, .. }) = self.partitions.get(last)
            && !key.iter().any(|v| v.is_null())
            && self.key.compare_bound_to_key(from, key).is_le()
            && self.key.compare_bound_to_key(to, key).is_gt()
        {
            return Ok(Some(last));
        }
        self.find(key, call)
    }

    fn find_value(&self, values: &[(Datum, usize)], value: DatumRef<'_>) -> Option<usize> {
        let column = &self.key.columns[0];
        let at = values.binary_search_by(|v| column.order(v.0.as_ref(), value));
        at.ok().map(|at| values[at].1)
    }

    /// The number of bounds at or below the key: the index in `of`.
    fn position(&self, bounds: &[Vec<RangeDatum>], key: &[DatumRef<'_>]) -> usize {
        bounds.partition_point(|b| self.key.compare_bound_to_key(b, key).is_le())
    }
}

fn list_bounds(key: &PartitionKey, partitions: Vec<Partition>) -> (Vec<Partition>, Bounds) {
    let (mut values, mut null): (Vec<(Datum, usize)>, _) = (Vec::new(), None);
    for (i, p) in partitions.iter().enumerate() {
        let Bound::List(list) = &p.bound else { continue };
        null = null.or(list.iter().any(Datum::is_null).then_some(i));
        values.extend(list.iter().filter(|v| !v.is_null()).map(|v| (v.clone(), i)));
    }
    let order = |a: &Datum, b: &Datum| key.columns[0].order(a.as_ref(), b.as_ref());
    values.sort_by(|a, b| order(&a.0, &b.0));
    let mut new = Renumbering::new(partitions.len());
    values.iter_mut().for_each(|v| v.1 = new.of(v.1));
    let null = null.map(|i| new.of(i));
    (new.apply(partitions), Bounds::List { values, null })
}

fn range_bounds(key: &PartitionKey, mut list: Vec<Partition>) -> (Vec<Partition>, Bounds) {
    let ends = |p: &Partition| match &p.bound {
        Bound::Range { from, to } => Some((from.clone(), to.clone())),
        _ => None,
    };
    list.sort_by(|a, b| match (&a.bound, &b.bound) {
        (Bound::Range { from: a, .. }, Bound::Range { from: b, .. }) => key.compare_bounds(a, b).0,
        _ => Ordering::Equal,
    });
    let (mut bounds, mut of): (Vec<Vec<RangeDatum>>, _) = (Vec::new(), vec![]);
    for (i, (from, to)) in list.iter().filter_map(ends).enumerate() {
        if !bounds.last().is_some_and(|last| key.compare_bounds(last, &from).0.is_eq()) {
            bounds.push(from);
            of.push(None);
        }
        bounds.push(to);
        of.push(Some(i));
    }
    of.push(None);
    (list, Bounds::Range { bounds, of })
}

fn hash_bounds(mut list: Vec<Partition>) -> (Vec<Partition>, Bounds) {
    let place = |p: &Partition| match p.bound {
        Bound::Hash { modulus, remainder } => (modulus, remainder),
        _ => (0, 0),
    };
    list.sort_by_key(place);
    let greatest = list.iter().map(|p| place(p).0).max().unwrap_or(0).max(0) as usize;
    let mut of = vec![None; greatest];
    for (i, p) in list.iter().enumerate() {
        let (modulus, remainder) = place(p);
        let every = of.iter_mut().skip(remainder.max(0) as usize).step_by(modulus.max(1) as usize);
        every.for_each(|slot| *slot = Some(i));
    }
    (list, Bounds::Hash { of })
}

/// Numbers partitions in the order in which they are first asked for.
struct Renumbering {
    new: Vec<Option<usize>>,
    next: usize,
}

impl Renumbering {
    fn new(count: usize) -> Renumbering {
        Renumbering { new: vec![None; count], next: 0 }
    }

    fn of(&mut self, old: usize) -> usize {
        let next = &mut self.next;
        *self.new[old].get_or_insert_with(|| {
            *next += 1;
            *next - 1
        })
    }

    /// The items in the new order; those without a number come last.
    fn apply<T>(mut self, items: Vec<T>) -> Vec<T> {
        let mut numbered: Vec<(usize, T)> =
            items.into_iter().enumerate().map(|(i, item)| (self.of(i), item)).collect();
        numbered.sort_by_key(|n| n.0);
        numbered.into_iter().map(|n| n.1).collect()
    }
}
