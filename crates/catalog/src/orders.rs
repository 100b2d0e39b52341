//! Orderings of enums, of rows, and of arrays of these. `comparer` builds them from the catalogs.

use hashbrown::HashMap;
use ids::Oid;
use std::cmp::Ordering;
use sync::atomic::{AtomicBool, Ordering::Relaxed};
use sync::{Arc, Mutex, RwLock};
use types::compare::{CompareFn, Comparer, TypedCompare};
use types::fn_context::TypeInfo;
use types::{Datum, DatumRef, record};

/// The sort order of an enum's labels, shared by all comparers of the type. A session that adds a
/// label adds its sort order here before the label becomes visible, so index descriptors and plans
/// stay valid. Labels of aborted transactions remain and are harmless.
#[derive(Default)]
pub(crate) struct EnumOrder {
    sort_orders: RwLock<HashMap<Oid, f32>>,
}

impl EnumOrder {
    pub(crate) fn add(&self, sort_orders: &[(Oid, f32)]) {
        self.sort_orders.write().extend(sort_orders.iter().copied());
    }
}

impl TypedCompare for EnumOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        let (a, b) = (a.as_oid(), b.as_oid());
        // As in PostgreSQL, even OIDs are in sort order.
        if a == b || (a.0 | b.0) & 1 == 0 {
            return a.cmp(&b);
        }
        let sort_orders = self.sort_orders.read();
        match (sort_orders.get(&a), sort_orders.get(&b)) {
            (Some(x), Some(y)) => x.total_cmp(y),
            _ => a.cmp(&b),
        }
    }
}

/// A column of a row type.
pub(crate) struct Column {
    pub(crate) dropped: bool,
    /// `None` where the column's type has no ordering.
    pub(crate) compare: Option<Comparer>,
    pub(crate) collation: Oid,
}

/// Ordering of one composite type: column by column, NULLs last.
pub(crate) struct RowOrder {
    pub(crate) types: Vec<TypeInfo>,
    pub(crate) columns: Vec<Column>,
}

impl RowOrder {
    /// Compares with a row of the type that `other` orders. `None`: the rows are equal up to a
    /// column that cannot be compared.
    fn order(&self, a: DatumRef<'_>, other: &RowOrder, b: DatumRef<'_>) -> Option<Ordering> {
        let (a, b) = (record::fields(a, &self.types), record::fields(b, &other.types));
        let same_length = a.len() == b.len();
        for (i, ((x, y), c)) in a.zip(b).zip(&self.columns).enumerate() {
            if c.dropped {
                continue;
            }
            if self.types[i].oid != other.types[i].oid {
                return None;
            }
            let order = match (x.is_null(), y.is_null()) {
                (false, false) => c.compare.as_ref()?.order(x, y, c.collation),
                (p, q) => p.cmp(&q),
            };
            if order.is_ne() {
                return Some(order);
            }
        }
        same_length.then_some(Ordering::Equal)
    }
}

impl TypedCompare for RowOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        self.order(a, self, b).unwrap_or(Ordering::Equal)
    }
}

/// Orderings of the session's anonymous record types, by the type's number (typmod); each as
/// [`RowOrder`].
#[derive(Default)]
pub(crate) struct RecordOrders {
    known: RwLock<HashMap<i32, Arc<RowOrder>>>,
    /// `pair` is set.
    failed: AtomicBool,
    /// Two rows that could not be compared. A comparison callback cannot return an error, so the
    /// statement reports it afterwards.
    pair: Mutex<Option<(Datum, Datum)>>,
}

impl RecordOrders {
    pub(crate) fn register(&self, number: i32, order: Option<RowOrder>) {
        let mut known = self.known.write();
        match order {
            Some(order) => known.insert(number, Arc::new(order)),
            // Record type numbers are reassigned in each transaction.
            None => known.remove(&number),
        };
    }

    /// The first two rows that could not be compared since the last call.
    pub(crate) fn take_incomparable(&self) -> Option<(Datum, Datum)> {
        if !self.failed.load(Relaxed) {
            return None;
        }
        self.failed.store(false, Relaxed);
        self.pair.lock().take()
    }

    #[cold]
    fn note_failure(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Ordering {
        self.pair.lock().get_or_insert_with(|| (a.to_owned(), b.to_owned()));
        self.failed.store(true, Relaxed);
        Ordering::Equal
    }
}

impl TypedCompare for RecordOrders {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        let (Ok((_, x)), Ok((_, y))) = (record::type_of(a), record::type_of(b)) else {
            return self.note_failure(a, b);
        };
        let known = self.known.read();
        let Some(p) = known.get(&x).cloned() else { return self.note_failure(a, b) };
        if x == y {
            drop(known);
            return p.order(a, &p, b).unwrap_or_else(|| self.note_failure(a, b));
        }
        let Some(q) = known.get(&y).cloned() else { return self.note_failure(a, b) };
        drop(known);
        p.order(a, &q, b).unwrap_or_else(|| self.note_failure(a, b))
    }
}

/// The order by a plain function.
pub(crate) struct PlainOrder(pub(crate) CompareFn);

impl TypedCompare for PlainOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, collation: Oid) -> Ordering {
        (self.0)(a, b, collation)
    }
}

/// Ordering of arrays of enums or composite values.
pub(crate) struct ArrayOrder {
    pub(crate) info: TypeInfo,
    pub(crate) compare: Arc<dyn TypedCompare>,
}

impl TypedCompare for ArrayOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, collation: Oid) -> Ordering {
        types::array::order_by(a, b, &self.info, |x, y| self.compare.compare(x, y, collation))
    }
}
