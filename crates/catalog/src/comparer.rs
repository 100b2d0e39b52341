//! Comparison functions that need catalog data: enums, composite types, ranges, and arrays of them.
//!
//! Counterpart: enum.c, rowtypes.c.

use crate::cx::CatCx;
use crate::orders::{ArrayOrder, Column, EnumOrder, PlainOrder, RowOrder};
use ids::Oid;
use ids::code::{Align, TypCategory, TypType};
use pgerror::{Result, pg_err};
use sync::Arc;
use types::collated::collation_of;
use types::compare::{self, CompareFn, Comparer, TypedCompare};
use types::fn_context::TypeInfo;
use types::oids;
use types::ranges::order::RangeOrder;

/// Maximum nesting depth of composite types and arrays in a comparison.
pub(crate) const DEPTH_MAX: u32 = 32;

/// The layout data needed to extract a value of the type from a row or an array.
pub(crate) fn type_info(oid: Oid, len: i16, by_val: bool, align: Align) -> TypeInfo {
    TypeInfo {
        oid,
        len,
        by_val,
        align,
        delim: b',',
        elem: Oid::INVALID,
        array: Oid::INVALID,
        kind: TypType::Base,
        category: TypCategory::USER,
        base: Oid::INVALID,
        relid: Oid::INVALID,
    }
}

impl CatCx<'_> {
    /// The comparer for values of type `ty`, given the `pg_proc.prosrc` of the comparison function.
    /// `None` where there is none. The comparer is for one collation, the invalid OID if the type
    /// has none.
    pub fn comparer(&mut self, prosrc: &str, ty: Oid, collation: Oid) -> Result<Option<Comparer>> {
        self.comparer_at(prosrc, ty, (collation, 0))
    }

    /// `at`: the collation, and the depth of types.
    pub(crate) fn comparer_at(
        &mut self,
        prosrc: &str,
        ty: Oid,
        at: (Oid, u32),
    ) -> Result<Option<Comparer>> {
        let (collation, depth) = at;
        let (ty, _) = self.base_type(ty)?;
        if prosrc == "btarraycmp"
            && let Some(order) = self.array_comparer(ty, at)?
        {
            return Ok(Some(order));
        }
        if let Some(f) = compare::lookup(prosrc) {
            return self.collated(f, ty, collation).map(Some);
        }
        match prosrc {
            "btrecordcmp" if ty == oids::RECORD => {
                Ok(Some(Comparer::Typed(self.session.record_orders.clone())))
            }
            // The second one is that of btree_gin's operator class.
            "enum_cmp" | "gin_enum_cmp" => self.enum_comparer(ty),
            "range_cmp" | "multirange_cmp" => self.range_comparer(ty, depth),
            "btrecordcmp" => self.row_comparer(ty, depth),
            symbol => {
                let locale = self.locale(collation)?;
                let letters = self.session.letters();
                Ok(contrib::libraries::comparison(symbol, &letters, locale.as_ref()))
            }
        }
    }

    /// A comparison of a built-in type under a collation.
    fn collated(&mut self, plain: CompareFn, ty: Oid, collation: Oid) -> Result<Comparer> {
        let locale = self.locale(collation_of(ty, collation))?;
        let collated = locale.and_then(|locale| types::collated::comparer(plain, &locale));
        Ok(collated.unwrap_or_else(|| plain.into()))
    }

    /// For arrays of enums, composite types and types of extensions, and for arrays of texts under
    /// a collation with a locale.
    fn array_comparer(&mut self, ty: Oid, at: (Oid, u32)) -> Result<Option<Comparer>> {
        let (collation, depth) = at;
        let elem = match ty {
            oids::RECORD_ARRAY => oids::RECORD,
            ty => match self.find_type(ty)?.map(|t| t.typelem) {
                Some(elem) if depth < DEPTH_MAX => elem,
                _ => return Ok(None),
            },
        };
        let is_plain = compare::of_type(elem).is_some()
            && self.locale(collation_of(elem, collation))?.is_none();
        if !elem.is_valid() || is_plain {
            return Ok(None);
        }
        let compare: Arc<dyn TypedCompare> =
            match self.type_comparer(elem, (collation, depth + 1))? {
                Some(Comparer::Typed(compare)) => compare,
                Some(Comparer::Plain(f)) => Arc::new(PlainOrder(f)),
                None => return Ok(None),
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
            let compare = self.type_comparer(ty, (collation, 1))?;
            order.types.push(type_info(ty, row.typlen, row.typbyval, row.typalign));
            order.columns.push(Column { dropped: false, compare, collation });
        }
        Ok(Some(order))
    }

    fn range_comparer(&mut self, ty: Oid, depth: u32) -> Result<Option<Comparer>> {
        let found = if depth < DEPTH_MAX { self.find_range_type(ty, depth)? } else { None };
        Ok(found.map(|ty| Comparer::Typed(Arc::new(RangeOrder(ty)))))
    }

    fn enum_comparer(&mut self, ty: Oid) -> Result<Option<Comparer>> {
        if self.find_type(ty)?.is_none_or(|t| t.typtype != TypType::Enum) {
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
            let at = (a.attcollation, depth + 1);
            let Some(compare) = self.type_comparer(ty, at)? else { return Ok(None) };
            // Dropped columns are skipped in the row with the length and alignment kept in
            // pg_attribute.
            types.push(type_info(ty, a.attlen, a.attbyval, a.attalign));
            let (dropped, collation) = (a.attisdropped, a.attcollation);
            columns.push(Column { dropped, compare: Some(compare), collation });
        }
        Ok(Some(Comparer::Typed(Arc::new(RowOrder { types, columns }))))
    }

    /// The comparer of the type's default B-tree operator class under a collation; `None` if it is
    /// not supported. Error: 42883 if there is none.
    pub fn default_comparer(&mut self, ty: Oid, collation: Oid) -> Result<Option<Comparer>> {
        let found = self.type_comparer(ty, (collation, 0))?;
        if found.is_none() && !self.type_ops(ty)?.cmp.is_valid() {
            let name = self.format_type(ty)?;
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "could not identify a comparison function for type {name}"
            ));
        }
        Ok(found)
    }

    /// `at`: as in `comparer_at`.
    fn type_comparer(&mut self, ty: Oid, at: (Oid, u32)) -> Result<Option<Comparer>> {
        let is_array = types::builtin_types::get(ty).is_some_and(|t| t.output == "array_out");
        let is_plain_array = is_array && collation_of(ty, at.0) == Oid::INVALID;
        if let Some(f) = compare::of_type(ty).filter(|_| !is_array || is_plain_array) {
            return self.collated(f, ty, at.0).map(Some);
        }
        let Some(proc) = self.type_ops(ty)?.cmp.valid() else { return Ok(None) };
        let name = self.function(proc)?.prosrc.clone();
        self.comparer_at(name.as_str(), ty, at)
    }
}
