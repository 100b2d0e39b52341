//! Hash functions of hash indexes: those of the built-in types, and those that need catalog data,
//! of arrays, ranges and composite types.
//!
//! Counterpart: `hash_array` in arrayfuncs.c, `hash_record` in rowtypes.c.

use crate::comparer::{DEPTH_MAX, type_info};
use crate::cx::CatCx;
use ids::Oid;
use pgerror::{PgError, Result};
use sync::Arc;
use types::array::ArrayRef;
use types::fn_context::TypeInfo;
use types::hash::{Hasher, TypedHash};
use types::hash_functions;
use types::ranges::hash::RangeHash;
use types::{DatumRef, oids, record};

/// The hash of an array's elements.
struct ArrayHash {
    info: TypeInfo,
    hasher: Hasher,
}

/// Adds the hash of the next part to that of an array or a row. A NULL has hash 0.
fn add(sum: u32, part: u32) -> u32 {
    sum.wrapping_mul(31).wrapping_add(part)
}

impl TypedHash for ArrayHash {
    fn hash(&self, value: DatumRef<'_>, collation: Oid) -> u32 {
        ArrayRef::or_empty(value).iter(&self.info).fold(1, |sum, element| match element {
            DatumRef::Null => add(sum, 0),
            element => add(sum, self.hasher.hash(element, collation)),
        })
    }
}

struct Column {
    /// `None`: the column is dropped.
    hasher: Option<Hasher>,
    collation: Oid,
}

/// The hash of the columns of a composite value.
struct RowHash {
    types: Vec<TypeInfo>,
    columns: Vec<Column>,
}

impl TypedHash for RowHash {
    fn hash(&self, value: DatumRef<'_>, _collation: Oid) -> u32 {
        record::fields(value, &self.types).zip(&self.columns).fold(
            0,
            |sum, (field, column)| match (&column.hasher, field) {
                (None, _) => sum,
                (Some(_), DatumRef::Null) => add(sum, 0),
                (Some(hasher), field) => add(sum, hasher.hash(field, column.collation)),
            },
        )
    }
}

impl CatCx<'_> {
    /// The hash of values of type `ty`, given the `pg_proc.prosrc` of the hash function. `None`
    /// where there is none. The hash is for one collation, the invalid OID if the type has none.
    pub fn hasher(&mut self, prosrc: &str, ty: Oid, collation: Oid) -> Result<Option<Hasher>> {
        self.hasher_at(prosrc, ty, (collation, 0))
    }

    /// The hash of values of type `ty` by a hash operator family.
    pub fn family_hasher(&mut self, family: Oid, ty: Oid, collation: Oid) -> Result<Hasher> {
        let function = match self.family_proc(family, ty, ty, 1)? {
            Some(oid) => self.find_function(oid)?.map(|f| f.prosrc.clone()),
            None => None,
        };
        let found = match function {
            Some(name) => self.hasher(name.as_str(), ty, collation)?,
            None => None,
        };
        found.ok_or_else(|| {
            PgError::internal(format!("missing hash function for type {ty} in family {family}"))
        })
    }

    /// `at`: the collation, and the depth of types.
    fn hasher_at(&mut self, prosrc: &str, ty: Oid, at: (Oid, u32)) -> Result<Option<Hasher>> {
        let (collation, depth) = at;
        if let Some(f) = hash_functions::lookup(prosrc) {
            let locale = self.locale(collation)?;
            let collated = locale.and_then(|locale| types::collated::hasher(prosrc, &locale));
            return Ok(Some(collated.unwrap_or(Hasher::Plain(f))));
        }
        if depth >= DEPTH_MAX {
            return Ok(None);
        }
        let (ty, _) = self.base_type(ty)?;
        match prosrc {
            "hash_array" => self.array_hasher(ty, at),
            "hash_record" => self.row_hasher(ty, depth),
            "hash_range" | "hash_multirange" => self.range_hasher(ty, depth),
            symbol => Ok(contrib::libraries::hash(symbol, &self.session.letters())),
        }
    }

    fn array_hasher(&mut self, ty: Oid, at: (Oid, u32)) -> Result<Option<Hasher>> {
        let Some(elem) = self.find_type(ty)?.map(|t| t.typelem) else { return Ok(None) };
        let Some(row) = self.find_type(elem)? else { return Ok(None) };
        let Some(hasher) = self.type_hasher(elem, (at.0, at.1 + 1))? else { return Ok(None) };
        let info = type_info(elem, row.typlen, row.typbyval, row.typalign);
        Ok(Some(Hasher::Typed(Arc::new(ArrayHash { info, hasher }))))
    }

    fn row_hasher(&mut self, ty: Oid, depth: u32) -> Result<Option<Hasher>> {
        let relation = self.find_type(ty)?.and_then(|t| t.typrelid.valid());
        let Some(relation) = relation else { return Ok(None) };
        let desc = self.relation(relation)?;
        let (mut types, mut columns) = (Vec::new(), Vec::new());
        for a in &desc.attributes {
            let ty = if a.attisdropped { oids::INT4 } else { a.atttypid };
            // Dropped columns are skipped in the row with the length and alignment kept in
            // pg_attribute.
            types.push(type_info(ty, a.attlen, a.attbyval, a.attalign));
            let hasher = self.type_hasher(ty, (a.attcollation, depth + 1))?;
            if hasher.is_none() {
                return Ok(None);
            }
            let hasher = hasher.filter(|_| !a.attisdropped);
            columns.push(Column { hasher, collation: a.attcollation });
        }
        Ok(Some(Hasher::Typed(Arc::new(RowHash { types, columns }))))
    }

    fn range_hasher(&mut self, ty: Oid, depth: u32) -> Result<Option<Hasher>> {
        let Some(ty) = self.find_range_type(ty, depth)? else { return Ok(None) };
        let elem = self.type_hasher(ty.elem.oid, (ty.collation, depth + 1))?;
        let Some(elem) = elem else { return Ok(None) };
        Ok(Some(Hasher::Typed(Arc::new(RangeHash { ty, elem }))))
    }

    /// The hash of the type's default hash operator class. `at`: as in `hasher_at`.
    fn type_hasher(&mut self, ty: Oid, at: (Oid, u32)) -> Result<Option<Hasher>> {
        let Some(function) = self.type_ops(ty)?.hash.valid() else { return Ok(None) };
        let name = self.function(function)?.prosrc.clone();
        self.hasher_at(name.as_str(), ty, at)
    }
}
