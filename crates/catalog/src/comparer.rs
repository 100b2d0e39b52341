//! How values are compared whose order is in the catalogs: enums and rows. Counterpart: enum.c, rowtypes.c.

use crate::cx::CatCx;
use hashbrown::HashMap;
use ids::Oid;
use pgerror::Result;
use std::cmp::Ordering;
use sync::{Arc, RwLock};
use types::compare::{self, Comparer, TypedCompare};
use types::fncx::TypeInfo;
use types::{DatumRef, record};

/// Rows within rows are looked into so deep.
const DEPTH_MAX: u32 = 32;

/// The order of an enum's labels, shared by all who compare them: descriptors of indexes and plans need not be made anew
/// when a label is added, since its place is put in here by who adds it, before anybody can see it. Labels whose addition
/// was rolled back do no harm.
#[derive(Default)]
pub(crate) struct EnumOrder {
    places: RwLock<HashMap<Oid, f32>>,
}

impl EnumOrder {
    pub(crate) fn learn(&self, places: &[(Oid, f32)]) {
        self.places.write().extend(places.iter().copied());
    }
}

impl TypedCompare for EnumOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        let (a, b) = (a.as_oid(), b.as_oid());
        // Even numbers are given out in order.
        if a == b || (a.0 | b.0) & 1 == 0 {
            return a.cmp(&b);
        }
        let places = self.places.read();
        match (places.get(&a), places.get(&b)) {
            (Some(x), Some(y)) => x.total_cmp(y),
            _ => a.cmp(&b),
        }
    }
}

struct Column {
    dropped: bool,
    compare: Comparer,
    collation: Oid,
}

/// Rows of one composite type: column by column, NULLs last.
struct RowOrder {
    types: Vec<TypeInfo>,
    columns: Vec<Column>,
}

impl TypedCompare for RowOrder {
    fn compare(&self, a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
        let (a, b) = (record::deform(a, &self.types), record::deform(b, &self.types));
        for ((x, y), c) in a.into_iter().zip(b).zip(&self.columns) {
            let order = match (x.is_null(), y.is_null()) {
                _ if c.dropped => Ordering::Equal,
                (false, false) => c.compare.order(x, y, c.collation),
                (p, q) => p.cmp(&q),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

impl CatCx<'_> {
    /// The comparison with this `pg_proc.prosrc`, for values of that type; `None` where there is none.
    pub fn comparer(&mut self, prosrc: &str, ty: Oid) -> Result<Option<Comparer>> {
        self.comparer_at(prosrc, ty, 0)
    }

    fn comparer_at(&mut self, prosrc: &str, ty: Oid, depth: u32) -> Result<Option<Comparer>> {
        if let Some(f) = compare::lookup(prosrc) {
            return Ok(Some(f.into()));
        }
        let (ty, _) = self.base_type(ty)?;
        match prosrc {
            "enum_cmp" => self.enum_comparer(ty),
            "btrecordcmp" => self.row_comparer(ty, depth),
            _ => Ok(None),
        }
    }

    fn enum_comparer(&mut self, ty: Oid) -> Result<Option<Comparer>> {
        if self.find_type(ty)?.is_none_or(|t| t.typtype != b'e') {
            return Ok(None);
        }
        let order = match self.session.catalog.enum_order(ty) {
            Some(known) => known,
            None => self.learn_enum(ty)?,
        };
        Ok(Some(Comparer::Typed(order)))
    }

    fn learn_enum(&mut self, ty: Oid) -> Result<Arc<EnumOrder>> {
        let rows = self.enum_values(ty)?;
        let places: Vec<(Oid, f32)> = rows.iter().map(|r| (r.oid, r.enumsortorder)).collect();
        Ok(self.session.catalog.learn_enum_order(ty, &places))
    }

    /// To be called when labels were added to an enum or took other places.
    pub fn enum_order_changed(&mut self, ty: Oid) -> Result<()> {
        self.learn_enum(ty).map(|_| ())
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
            let Some(compare) = self.type_comparer(ty, depth + 1)? else { return Ok(None) };
            // Dropped columns are passed over by what pg_attribute kept of their types.
            types.push(TypeInfo {
                oid: ty,
                len: a.attlen,
                by_val: a.attbyval,
                align: a.attalign,
                delim: b',',
                elem: Oid::INVALID,
                array: Oid::INVALID,
                kind: b'b',
                category: b'U',
                base: Oid::INVALID,
                relid: Oid::INVALID,
            });
            columns.push(Column { dropped: a.attisdropped, compare, collation: a.attcollation });
        }
        Ok(Some(Comparer::Typed(Arc::new(RowOrder { types, columns }))))
    }

    /// By the type's default operator class.
    fn type_comparer(&mut self, ty: Oid, depth: u32) -> Result<Option<Comparer>> {
        if let Some(f) = compare::of_type(ty) {
            return Ok(Some(f.into()));
        }
        let Some(proc) = self.type_ops(ty)?.cmp.valid() else { return Ok(None) };
        let name = self.function(proc)?.prosrc.clone();
        self.comparer_at(name.as_str(), ty, depth)
    }
}
