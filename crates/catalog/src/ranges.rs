//! Range types: what their functions need, from `pg_range`. Counterpart: `load_rangetype_info` in
//! typcache.c.

use crate::cache::Row;
use crate::comparer::DEPTH_MAX;
use crate::cx::CatCx;
use crate::rows::PgRange;
use crate::session::RangeTypes;
use ids::Oid;
use ids::code::ColumnStorage;
use pgerror::{PgError, Result, pg_err};
use sync::Arc;
use types::RangeType;
use types::fn_context::TypeInfo;

impl CatCx<'_> {
    /// The range type `ty`, or the range type of the multirange type `ty`. Errors: 42704 if there
    /// is no such type, XX000 if it is of another kind, 0A000 if the order of the subtype is not
    /// supported.
    pub fn range_type(&mut self, ty: Oid) -> Result<Arc<RangeType>> {
        let state = self.session.catalog_state();
        if self.session.range_types.at != state {
            self.session.range_types = RangeTypes::at(state);
        }
        if let Some(found) = self.session.range_types.known.get(&ty) {
            return Ok(found.clone());
        }
        if self.find_type(ty)?.is_none() {
            return Err(pg_err!(UNDEFINED_OBJECT, "type with OID {ty} does not exist"));
        }
        let (base, _) = self.base_type(ty)?;
        let Some(found) = self.find_range_type(base, 0)? else {
            let name = self.format_type(ty)?;
            return match self.range_row(base)? {
                Some(_) => Err(PgError::unsupported(format!("order of the subtype of {name}"))),
                None => Err(PgError::internal(format!("type {ty} is not a range type"))),
            };
        };
        self.session.range_types.known.insert(ty, found.clone());
        Ok(found)
    }

    /// The `pg_range` row of a range type or of its multirange type.
    fn range_row(&mut self, ty: Oid) -> Result<Option<Row<PgRange>>> {
        match self.range(ty)? {
            Some(row) => Ok(Some(row)),
            None => self.range_of_multirange(ty),
        }
    }

    /// `None` if it is no range type, or if the order of the subtype is not supported. `depth`: the
    /// number of types within which it is contained.
    pub(crate) fn find_range_type(
        &mut self,
        ty: Oid,
        depth: u32,
    ) -> Result<Option<Arc<RangeType>>> {
        let Some(row) = self.range_row(ty)? else { return Ok(None) };
        if depth >= DEPTH_MAX {
            return Ok(None);
        }
        let class = self.opclass(row.rngsubopc)?;
        let (family, input) = (class.opcfamily, class.opcintype);
        let Some(function) = self.family_proc(family, input, input, 1)? else { return Ok(None) };
        let function = self.function(function)?.prosrc.clone();
        let order =
            self.comparer_at(function.as_str(), row.rngsubtype, (row.rngcollation, depth + 1))?;
        let Some(order) = order else { return Ok(None) };
        let canonical = match row.rngcanonical.valid() {
            Some(function) => {
                let row = self.function(function)?;
                let found = types::range::canonical_function(row.prosrc.as_str());
                let missing = || PgError::unsupported(format!("function {}", row.proname.as_str()));
                Some(found.ok_or_else(missing)?)
            }
            None => None,
        };
        let elem = self.type_row(row.rngsubtype)?;
        Ok(Some(Arc::new(RangeType {
            oid: row.rngtypid,
            multirange: row.rngmultitypid,
            elem: TypeInfo {
                oid: elem.oid,
                len: elem.typlen,
                by_val: elem.typbyval,
                align: elem.typalign,
                delim: elem.typdelim,
                elem: elem.typelem,
                array: elem.typarray,
                kind: elem.typtype,
                category: elem.typcategory,
                base: elem.typbasetype,
                relid: elem.typrelid,
            },
            packs: elem.typstorage != ColumnStorage::Plain,
            collation: row.rngcollation,
            order,
            canonical,
            subdiff: row.rngsubdiff,
        })))
    }
}
