//! Comparison functions that need catalog data: enums, composite types, and arrays of them.
//!
//! Counterpart: enum.c, rowtypes.c.

use crate::cx::CatCx;
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use sync::atomic::{AtomicBool, Ordering::Relaxed};
use sync::{Arc, Mutex, RwLock};
use types::compare::{self, Comparer, TypedCompare};
use types::fncx::TypeInfo;
use types::hash::Hasher;
use types::{Datum, DatumRef, oids, record};

/// Maximum nesting depth of composite types and arrays in a comparison.
pub(crate) const DEPTH_MAX: u32 = 32;

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

struct Column {
    dropped: bool,
    /// `None` where the column's type has no ordering.
    compare: Option<Comparer>,
    collation: Oid,
}

/// Ordering of one composite type: column by column, NULLs last.
struct RowOrder {
    types: Vec<TypeInfo>,
    columns: Vec<Column>,
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

/// The layout data needed to extract a value of the type from a row or an array.
fn type_info(oid: Oid, len: i16, by_val: bool, align: u8) -> TypeInfo {
    TypeInfo {
        oid,
        len,
        by_val,
        align,
        delim: b',',
        elem: Oid::INVALID,
        array: Oid::INVALID,
        kind: b'b',
        category: b'U',
        base: Oid::INVALID,
        relid: Oid::INVALID,
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
    fn register(&self, number: i32, order: Option<RowOrder>) {
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
        let (x, y) = (record::type_of(a).1, record::type_of(b).1);
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

/// Ordering of arrays of enums or composite values.
struct ArrayOrder {
    info: TypeInfo,
    compare: Arc<dyn TypedCompare>,
}

impl TypedCompare for ArrayOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, collation: Oid) -> Ordering {
        types::array::order_by(a, b, &self.info, |x, y| self.compare.compare(x, y, collation))
    }
}

impl CatCx<'_> {
    /// The comparer for values of type `ty`, given the `pg_proc.prosrc` of the comparison function.
    /// `None` where there is none.
    pub fn comparer(&mut self, prosrc: &str, ty: Oid) -> Result<Option<Comparer>> {
        self.comparer_at(prosrc, ty, 0)
    }

    /// The hash of values of type `ty`, given the `pg_proc.prosrc` of the hash function. `None`
    /// where there is none.
    pub fn hasher(&mut self, prosrc: &str, ty: Oid) -> Result<Option<Hasher>> {
        let _ = self.base_type(ty)?;
        Ok(types::hash::lookup(prosrc).map(Hasher::Plain))
    }

    /// The hash of values of type `ty` by a hash operator family.
    pub fn family_hasher(&mut self, family: Oid, ty: Oid) -> Result<Hasher> {
        let function = match self.family_proc(family, ty, ty, 1)? {
            Some(oid) => self.find_function(oid)?.map(|f| f.prosrc.clone()),
            None => None,
        };
        let found = match function {
            Some(name) => self.hasher(name.as_str(), ty)?,
            None => None,
        };
        found.ok_or_else(|| {
            PgError::internal(format!("missing hash function for type {ty} in family {family}"))
        })
    }

    fn comparer_at(&mut self, prosrc: &str, ty: Oid, depth: u32) -> Result<Option<Comparer>> {
        let (ty, _) = self.base_type(ty)?;
        if prosrc == "btarraycmp"
            && let Some(order) = self.array_comparer(ty, depth)?
        {
            return Ok(Some(order));
        }
        if let Some(f) = compare::lookup(prosrc) {
            return Ok(Some(f.into()));
        }
        match prosrc {
            "btrecordcmp" if ty == oids::RECORD => {
                Ok(Some(Comparer::Typed(self.session.record_orders.clone())))
            }
            "enum_cmp" => self.enum_comparer(ty),
            "btrecordcmp" => self.row_comparer(ty, depth),
            _ => Ok(None),
        }
    }

    /// For arrays of enums or composite types.
    fn array_comparer(&mut self, ty: Oid, depth: u32) -> Result<Option<Comparer>> {
        let elem = match ty {
            oids::RECORD_ARRAY => oids::RECORD,
            ty => match self.find_type(ty)?.map(|t| t.typelem) {
                Some(elem) if depth < DEPTH_MAX => elem,
                _ => return Ok(None),
            },
        };
        if !elem.is_valid() || compare::of_type(elem).is_some() {
            return Ok(None);
        }
        let Some(Comparer::Typed(compare)) = self.type_comparer(elem, depth + 1)? else {
            return Ok(None);
        };
        let Some(row) = self.find_type(elem)? else { return Ok(None) };
        let info = type_info(elem, row.typlen, row.typbyval, row.typalign);
        Ok(Some(Comparer::Typed(Arc::new(ArrayOrder { info, compare }))))
    }

    /// Registers the ordering of the anonymous record type with this number in the session.
    /// `columns` are (type, collation) pairs.
    pub fn register_record_order(&mut self, number: i32, columns: &[(Oid, Oid)]) -> Result<()> {
        let order = self.record_order(columns)?;
        self.session.record_orders.register(number, order);
        Ok(())
    }

    /// `columns` are (type, collation) pairs.
    fn record_order(&mut self, columns: &[(Oid, Oid)]) -> Result<Option<RowOrder>> {
        let mut order = RowOrder { types: Vec::new(), columns: Vec::new() };
        for &(ty, collation) in columns {
            let Some(row) = self.find_type(ty)? else { return Ok(None) };
            let compare = self.type_comparer(ty, 1)?;
            order.types.push(type_info(ty, row.typlen, row.typbyval, row.typalign));
            order.columns.push(Column { dropped: false, compare, collation });
        }
        Ok(Some(order))
    }

    fn enum_comparer(&mut self, ty: Oid) -> Result<Option<Comparer>> {
        if self.find_type(ty)?.is_none_or(|t| t.typtype != b'e') {
            return Ok(None);
        }
        let order = match self.session.catalog.enum_order(ty) {
            Some(known) => known,
            None => self.load_enum_order(ty)?,
        };
        Ok(Some(Comparer::Typed(order)))
    }

    fn load_enum_order(&mut self, ty: Oid) -> Result<Arc<EnumOrder>> {
        let rows = self.enum_values(ty)?;
        let sort_orders: Vec<(Oid, f32)> = rows.iter().map(|r| (r.oid, r.enumsortorder)).collect();
        Ok(self.session.catalog.add_enum_sort_orders(ty, &sort_orders))
    }

    /// To be called after labels were added to an enum or reordered.
    pub fn enum_order_changed(&mut self, ty: Oid) -> Result<()> {
        self.load_enum_order(ty).map(|_| ())
    }

    fn row_comparer(&mut self, ty: Oid, depth: u32) -> Result<Option<Comparer>> {
        let Some(row) = self.find_type(ty)? else { return Ok(None) };
        let Some(relation) = row.typrelid.valid().filter(|_| depth < DEPTH_MAX) else {
            return Ok(None);
        };
        let desc = self.relation(relation)?;
        let (mut types, mut columns) = (Vec::new(), Vec::new());
        for a in &desc.attributes {
            let ty = if a.attisdropped { types::oids::INT4 } else { a.atttypid };
            if self.check_collation(a.attcollation).is_err() {
                return Ok(None);
            }
            let Some(compare) = self.type_comparer(ty, depth + 1)? else { return Ok(None) };
            // Dropped columns are skipped in the row with the length and alignment kept in
            // pg_attribute.
            types.push(type_info(ty, a.attlen, a.attbyval, a.attalign));
            let (dropped, collation) = (a.attisdropped, a.attcollation);
            columns.push(Column { dropped, compare: Some(compare), collation });
        }
        Ok(Some(Comparer::Typed(Arc::new(RowOrder { types, columns }))))
    }

    /// The comparer of the type's default B-tree operator class.
    fn type_comparer(&mut self, ty: Oid, depth: u32) -> Result<Option<Comparer>> {
        if let Some(f) = compare::of_type(ty) {
            return Ok(Some(f.into()));
        }
        let Some(proc) = self.type_ops(ty)?.cmp.valid() else { return Ok(None) };
        let name = self.function(proc)?.prosrc.clone();
        self.comparer_at(name.as_str(), ty, depth)
    }
}
