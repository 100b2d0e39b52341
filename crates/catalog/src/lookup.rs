//! Lookups of properties of types, functions, operators and access methods.
//!
//! Counterpart: lsyscache.c, typcache.c.

use crate::cache::{self, Row};
use crate::cx::{CatCx, undefined};
use crate::rows::{
    PgAggregate, PgAm, PgAmop, PgAttribute, PgAuthid, PgCast, PgClass, PgCollation, PgConstraint,
    PgDatabase, PgEnum, PgExtension, PgLanguage, PgOpclass, PgOperator, PgOpfamily, PgProc,
    PgRange, PgTablespace, PgType, indexes,
};
use crate::typeops::KnownTypeOps;
pub use crate::typeops::TypeOps;
use engine::am::Method;
use hashbrown::HashMap;
pub use ids::builtin::am::{BTREE as BTREE_AM, HASH as HASH_AM, HEAP as HEAP_AM};
use ids::builtin::proc::ARRAY_SUBSCRIPT_HANDLER;
use ids::code::{AmType, CastContext, CastMethod, TypType};
use ids::strategy::{btree, hash};
use ids::{AttrNo, Oid, StrategyNumber};
use pgerror::{PgError, Result, SqlState};
use sync::Arc;
use types::oids;

impl CatCx<'_> {
    // Types

    /// The row of a type; `None` where it does not exist.
    pub fn find_type(&mut self, oid: Oid) -> Result<Option<Row<PgType>>> {
        self.search(cache::TYPEOID, &[oid.into()])
    }

    /// The row of a type; an internal error where it does not exist.
    pub fn type_row(&mut self, oid: Oid) -> Result<Row<PgType>> {
        self.get(cache::TYPEOID, &[oid.into()], format_args!("type {oid}"))
    }

    /// The base type of a domain, and the type modifier that the domain applies (else -1).
    pub fn base_type(&mut self, oid: Oid) -> Result<(Oid, i32)> {
        let (mut oid, mut typmod) = (oid, -1);
        loop {
            let row = self.type_row(oid)?;
            if row.typtype != TypType::Domain {
                return Ok((oid, typmod));
            }
            if typmod < 0 {
                typmod = row.typtypmod;
            }
            oid = row.typbasetype;
        }
    }

    /// Element type of a true array type, else 0.
    pub fn element_type(&mut self, oid: Oid) -> Result<Oid> {
        let row = self.find_type(oid)?;
        // True arrays are subscripted by array_subscript_handler.
        Ok(row
            .filter(|t| t.typsubscript == ARRAY_SUBSCRIPT_HANDLER)
            .map_or(Oid::INVALID, |t| t.typelem))
    }

    /// The array type over this element type, else 0.
    pub fn array_type(&mut self, oid: Oid) -> Result<Oid> {
        Ok(self.find_type(oid)?.map_or(Oid::INVALID, |t| t.typarray))
    }

    /// Relation whose row type this is, else 0.
    pub fn type_relation(&mut self, oid: Oid) -> Result<Oid> {
        Ok(self.find_type(oid)?.map_or(Oid::INVALID, |t| t.typrelid))
    }

    /// The `pg_range` row of a range type.
    pub fn range(&mut self, oid: Oid) -> Result<Option<Row<PgRange>>> {
        self.search(cache::RANGETYPE, &[oid.into()])
    }

    /// The `pg_range` row of a multirange type.
    pub fn range_of_multirange(&mut self, oid: Oid) -> Result<Option<Row<PgRange>>> {
        self.search(cache::RANGEMULTIRANGE, &[oid.into()])
    }

    /// The `pg_enum` row with this OID.
    pub fn enum_value(&mut self, oid: Oid) -> Result<Option<Row<PgEnum>>> {
        self.search(cache::ENUMOID, &[oid.into()])
    }

    /// The `pg_enum` row of a label of an enum type.
    pub fn enum_label(&mut self, oid: Oid, label: &str) -> Result<Option<Row<PgEnum>>> {
        self.search(cache::ENUMTYPOIDNAME, &[oid.into(), label.into()])
    }

    /// The labels of an enum in sort order.
    pub fn enum_values(&mut self, oid: Oid) -> Result<Vec<Row<PgEnum>>> {
        self.scan(indexes::PG_ENUM_TYPID_SORTORDER_INDEX, &[oid.into()])
    }

    // Casts

    /// The cast from `source` to `target`, if one is declared.
    pub fn cast(&mut self, source: Oid, target: Oid) -> Result<Option<Row<PgCast>>> {
        self.search(cache::CASTSOURCETARGET, &[source.into(), target.into()])
    }

    // Functions

    /// The row of a function; `None` where it does not exist.
    pub fn find_function(&mut self, oid: Oid) -> Result<Option<Row<PgProc>>> {
        self.search(cache::PROCOID, &[oid.into()])
    }

    /// The row of a function; an internal error where it does not exist.
    pub fn function(&mut self, oid: Oid) -> Result<Row<PgProc>> {
        self.get(cache::PROCOID, &[oid.into()], format_args!("function {oid}"))
    }

    /// The `pg_aggregate` row of a function; `None` where it is not an aggregate.
    pub fn find_aggregate(&mut self, oid: Oid) -> Result<Option<Row<PgAggregate>>> {
        self.search(cache::AGGFNOID, &[oid.into()])
    }

    /// The `pg_aggregate` row of a function; an internal error where it is not an aggregate.
    pub fn aggregate(&mut self, oid: Oid) -> Result<Row<PgAggregate>> {
        self.get(cache::AGGFNOID, &[oid.into()], format_args!("aggregate {oid}"))
    }

    /// All functions with this name, in every schema.
    pub fn functions_named(&mut self, name: &str) -> Result<Arc<[Row<PgProc>]>> {
        self.list(cache::PROCNAMEARGSNSP, &[name.into()])
    }

    /// The row of a procedural language; an internal error where it does not exist.
    pub fn language(&mut self, oid: Oid) -> Result<Row<PgLanguage>> {
        self.get(cache::LANGOID, &[oid.into()], format_args!("language {oid}"))
    }

    /// The row of the procedural language with this name.
    pub fn find_language(&mut self, name: &str) -> Result<Option<Row<PgLanguage>>> {
        self.search(cache::LANGNAME, &[name.into()])
    }

    // Operators

    /// The row of an operator; an internal error where it does not exist.
    pub fn operator(&mut self, oid: Oid) -> Result<Row<PgOperator>> {
        self.get(cache::OPEROID, &[oid.into()], format_args!("operator {oid}"))
    }

    /// The row of an operator; `None` where it does not exist.
    pub fn find_operator_row(&mut self, oid: Oid) -> Result<Option<Row<PgOperator>>> {
        self.search(cache::OPEROID, &[oid.into()])
    }

    /// All operators with this name, in every schema.
    pub fn operators_named(&mut self, name: &str) -> Result<Arc<[Row<PgOperator>]>> {
        self.list(cache::OPERNAMENSP, &[name.into()])
    }

    /// The `pg_amop` rows in which an operator is a search (`s`) or ordering (`o`) operator.
    pub fn operator_families(&mut self, operator: Oid) -> Result<Arc<[Row<PgAmop>]>> {
        self.list(cache::AMOPOPID, &[operator.into()])
    }

    /// Counterpart: `get_opfamily_member`.
    pub fn family_member(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        strategy: StrategyNumber,
    ) -> Result<Option<Oid>> {
        let keys = [family.into(), left.into(), right.into(), strategy.into()];
        Ok(self.search(cache::AMOPSTRATEGY, &keys)?.map(|r| r.amopopr))
    }

    /// Counterpart: `get_opfamily_proc`.
    pub fn family_proc(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        number: i16,
    ) -> Result<Option<Oid>> {
        let keys = [family.into(), left.into(), right.into(), number.into()];
        Ok(self.search(cache::AMPROCNUM, &keys)?.map(|r| r.amproc))
    }

    /// The `pg_amop` row of a search operator in a family. Counterpart: `op_in_opfamily`,
    /// `get_op_opfamily_properties`.
    pub fn operator_in_family(
        &mut self,
        operator: Oid,
        family: Oid,
    ) -> Result<Option<Row<PgAmop>>> {
        self.search(cache::AMOPOPID, &[operator.into(), b's'.into(), family.into()])
    }

    /// The row of an operator class; an internal error where it does not exist.
    pub fn opclass(&mut self, oid: Oid) -> Result<Row<PgOpclass>> {
        self.get(cache::CLAOID, &[oid.into()], format_args!("opclass {oid}"))
    }

    /// The row of an operator family; an internal error where it does not exist.
    pub fn opfamily(&mut self, oid: Oid) -> Result<Row<PgOpfamily>> {
        self.get(cache::OPFAMILYOID, &[oid.into()], format_args!("operator family {oid}"))
    }

    /// The default operator class of an access method for a type: one declared for the type itself,
    /// else one for a type to which it is binary-coercible, with preference for a preferred type.
    /// Counterpart: `GetDefaultOpClass`.
    pub fn default_opclass(&mut self, type_oid: Oid, am: Oid) -> Result<Option<Oid>> {
        let (type_oid, _) = self.base_type(type_oid)?;
        let category = self.type_row(type_oid)?.typcategory;
        let classes = self.list(cache::CLAAMNAMENSP, &[am.into()])?;
        let (mut coercible, mut preferred) = (None, None);
        for class in classes.iter().filter(|c| c.opcdefault) {
            if class.opcintype == type_oid {
                return Ok(Some(class.oid));
            }
            let target = class.opcintype;
            if self.is_binary_coercible(type_oid, target)? {
                let row = self.type_row(target)?;
                if row.typcategory == category && row.typispreferred {
                    preferred = preferred.or(Some(class.oid));
                } else {
                    coercible = coercible.or(Some(class.oid));
                }
            }
        }
        Ok(preferred.or(coercible))
    }

    /// Whether a value of type `source` can be used as one of type `target` without conversion.
    /// Counterpart: `IsBinaryCoercible`.
    pub fn is_binary_coercible(&mut self, source: Oid, target: Oid) -> Result<bool> {
        if source == target || matches!(target, oids::ANY | oids::ANYELEMENT | oids::ANYCOMPATIBLE)
        {
            return Ok(true);
        }
        let (source, _) = self.base_type(source)?;
        if source == target {
            return Ok(true);
        }
        let polymorphic = match target {
            oids::ANYARRAY | oids::ANYCOMPATIBLEARRAY => self.element_type(source)?.is_valid(),
            oids::ANYENUM => self.type_row(source)?.typtype == TypType::Enum,
            oids::ANYRANGE | oids::ANYCOMPATIBLERANGE => {
                self.type_row(source)?.typtype == TypType::Range
            }
            oids::ANYMULTIRANGE | oids::ANYCOMPATIBLEMULTIRANGE => {
                self.type_row(source)?.typtype == TypType::Multirange
            }
            oids::ANYNONARRAY | oids::ANYCOMPATIBLENONARRAY => {
                !self.element_type(source)?.is_valid()
            }
            _ => false,
        };
        if polymorphic {
            return Ok(true);
        }
        if target == oids::RECORD && self.type_row(source)?.typtype == TypType::Composite {
            return Ok(true);
        }
        if target == oids::RECORD_ARRAY {
            // It accepts arrays of composite types.
            let element = self.element_type(source)?;
            if element.is_valid() && self.type_row(element)?.typtype == TypType::Composite {
                return Ok(true);
            }
        }
        let cast = self.cast(source, target)?;
        Ok(cast.is_some_and(|c| {
            c.castmethod == CastMethod::Binary && c.castcontext == CastContext::Implicit
        }))
    }

    /// The comparison and hash support of a type. Counterpart: `lookup_type_cache`.
    pub fn type_ops(&mut self, type_oid: Oid) -> Result<TypeOps> {
        let at = self.session.catalog_state();
        let cache = &mut self.session.type_ops;
        if cache.at != at {
            *cache = KnownTypeOps { at, known: HashMap::new() };
        }
        if let Some(known) = cache.known.get(&type_oid) {
            return Ok(*known);
        }
        let ops = self.type_ops_at(type_oid, 0)?;
        if self.session.catalog_state() == at {
            self.session.type_ops.known.insert(type_oid, ops);
        }
        Ok(ops)
    }

    fn type_ops_at(&mut self, type_oid: Oid, depth: u32) -> Result<TypeOps> {
        let (base, _) = self.base_type(type_oid)?;
        let mut ops = self.type_ops_unchecked(base)?;
        if ops.btree_input == oids::ANYARRAY || ops.hash_input == oids::ANYARRAY {
            let element = self.element_type(base)?;
            self.require_element_support(&mut ops, &[element], depth)?;
        } else if base == oids::RECORD {
            // The columns are known only at run time: comparison is assumed to work, hashing not.
            ops.without_hash();
        } else if matches!(ops.hash_input, oids::ANYRANGE | oids::ANYMULTIRANGE) {
            // Every subtype has an order, but not a hash.
            let row = match self.range(base)? {
                Some(row) => Some(row),
                None => self.range_of_multirange(base)?,
            };
            if let Some(row) = row
                && depth < crate::comparer::DEPTH_MAX
                && !self.type_ops_at(row.rngsubtype, depth + 1)?.hash.is_valid()
            {
                ops.without_hash();
            }
        } else if ops.btree_input == oids::RECORD || ops.hash_input == oids::RECORD {
            let relation = self.find_type(base)?.map_or(Oid::INVALID, |t| t.typrelid);
            let desc = self.relation(relation)?;
            let columns = desc.attributes.iter().filter(|a| !a.attisdropped);
            let columns: Vec<Oid> = columns.map(|a| a.atttypid).collect();
            self.require_element_support(&mut ops, &columns, depth)?;
        }
        Ok(ops)
    }

    /// As [`Self::type_ops`] for a type that is not a domain, without a check of element or column
    /// types.
    pub fn type_ops_unchecked(&mut self, base: Oid) -> Result<TypeOps> {
        let mut ops = TypeOps::default();
        if let Some(class) = self.default_opclass(base, BTREE_AM)? {
            let class = self.opclass(class)?;
            let (family, input) = (class.opcfamily, class.opcintype);
            ops.btree_family = family;
            ops.btree_input = input;
            ops.lt = self.family_member(family, input, input, btree::LESS)?.unwrap_or_default();
            ops.eq = self.family_member(family, input, input, btree::EQUAL)?.unwrap_or_default();
            ops.gt = self.family_member(family, input, input, btree::GREATER)?.unwrap_or_default();
            ops.cmp = self.family_proc(family, input, input, 1)?.unwrap_or_default();
        }
        if let Some(class) = self.default_opclass(base, HASH_AM)? {
            let class = self.opclass(class)?;
            let (family, input) = (class.opcfamily, class.opcintype);
            let eq = self.family_member(family, input, input, hash::EQUAL)?.unwrap_or_default();
            if !ops.eq.is_valid() || ops.eq == eq {
                ops.eq = eq;
                ops.hash_family = family;
                ops.hash_input = input;
                ops.hash = self.family_proc(family, input, input, 1)?.unwrap_or_default();
            }
        }
        Ok(ops)
    }

    /// Arrays and composite values are comparable (hashable) only if all element or column types
    /// are. Counterpart: `cache_array_element_properties`, `cache_record_field_properties`.
    fn require_element_support(
        &mut self,
        ops: &mut TypeOps,
        parts: &[Oid],
        depth: u32,
    ) -> Result<()> {
        if depth >= crate::comparer::DEPTH_MAX {
            return Ok(());
        }
        for &part in parts {
            let part = if part.is_valid() {
                self.type_ops_at(part, depth + 1)?
            } else {
                TypeOps::default()
            };
            if !part.cmp.is_valid() {
                (ops.lt, ops.gt, ops.cmp) = Default::default();
            }
            if !part.hash.is_valid() {
                ops.without_hash();
            }
            if !part.eq.is_valid() {
                ops.eq = Oid::INVALID;
            }
        }
        Ok(())
    }

    // Relations and columns

    /// The `pg_class` row of a relation; `None` where it does not exist.
    pub fn find_class(&mut self, oid: Oid) -> Result<Option<Row<PgClass>>> {
        self.search(cache::RELOID, &[oid.into()])
    }

    /// The `pg_class` row of a relation; an internal error where it does not exist.
    pub fn class(&mut self, oid: Oid) -> Result<Row<PgClass>> {
        self.get(cache::RELOID, &[oid.into()], format_args!("relation {oid}"))
    }

    /// The `pg_attribute` row of a column, dropped ones included.
    pub fn attribute(&mut self, relation: Oid, number: AttrNo) -> Result<Option<Row<PgAttribute>>> {
        self.search(cache::ATTNUM, &[relation.into(), number.into()])
    }

    /// The `pg_attribute` row of the column with this name.
    pub fn attribute_named(
        &mut self,
        relation: Oid,
        name: &str,
    ) -> Result<Option<Row<PgAttribute>>> {
        self.search(cache::ATTNAME, &[relation.into(), name.into()])
    }

    /// The row of a constraint; `None` where it does not exist.
    pub fn constraint(&mut self, oid: Oid) -> Result<Option<Row<PgConstraint>>> {
        self.search(cache::CONSTROID, &[oid.into()])
    }

    // Collations, roles, databases

    /// The row of a collation; an internal error where it does not exist.
    pub fn collation(&mut self, oid: Oid) -> Result<Row<PgCollation>> {
        self.get(cache::COLLOID, &[oid.into()], format_args!("collation {oid}"))
    }

    /// The row of the role with this name; `None` where it does not exist.
    pub fn find_role(&mut self, name: &str) -> Result<Option<Row<PgAuthid>>> {
        self.search(cache::AUTHNAME, &[name.into()])
    }

    /// The role with this name; 42704 where it does not exist.
    pub fn role(&mut self, name: &str) -> Result<Row<PgAuthid>> {
        self.find_role(name)?.ok_or_else(|| {
            undefined(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
        })
    }

    /// The row of a role; `None` where it does not exist.
    pub fn role_row(&mut self, oid: Oid) -> Result<Option<Row<PgAuthid>>> {
        self.search(cache::AUTHOID, &[oid.into()])
    }

    /// Name of a role; `unknown (OID=…)` where it does not exist. Counterpart: `pg_get_userbyid`.
    pub fn role_name(&mut self, oid: Oid) -> Result<String> {
        let row = self.role_row(oid)?;
        Ok(row.map_or_else(|| format!("unknown (OID={oid})"), |r| r.rolname.to_string()))
    }

    /// The relation that the relation map (shared, or of the database) assigns this file number.
    /// Counterpart: `RelationMapFilenodeToOid`.
    pub fn mapped_relation(&mut self, file: Oid, shared: bool) -> Result<Option<Oid>> {
        self.store.mapped_relation(file, shared)
    }

    /// The row of the tablespace with this name; `None` where it does not exist.
    pub fn find_tablespace(&mut self, name: &str) -> Result<Option<Row<PgTablespace>>> {
        let rows = self.scan(indexes::PG_TABLESPACE_SPCNAME_INDEX, &[name.into()])?;
        Ok(rows.into_iter().next())
    }

    /// The row of the database with this name; `None` where it does not exist.
    pub fn find_database(&mut self, name: &str) -> Result<Option<Row<PgDatabase>>> {
        let rows = self.scan(indexes::PG_DATABASE_DATNAME_INDEX, &[name.into()])?;
        Ok(rows.into_iter().next())
    }

    /// The row of a database; `None` where it does not exist.
    pub fn database(&mut self, oid: Oid) -> Result<Option<Row<PgDatabase>>> {
        self.search(cache::DATABASEOID, &[oid.into()])
    }

    /// The row of the access method with this name; `None` where it does not exist.
    pub fn find_access_method(&mut self, name: &str) -> Result<Option<Row<PgAm>>> {
        self.search(cache::AMNAME, &[name.into()])
    }

    /// The index access method with this OID. A method that was created is found by its handler
    /// function. `None` if this server does not implement the method.
    pub fn access_method(&mut self, oid: Oid) -> Result<Option<&'static Method>> {
        if let Some(method) = engine::am::by_oid(oid) {
            return Ok(Some(method));
        }
        let row = self.search(cache::AMOID, &[oid.into()])?;
        let Some(row) = row.filter(|r| r.amtype == AmType::Index) else { return Ok(None) };
        let handler = self.find_function(row.amhandler)?;
        Ok(handler.and_then(|f| engine::am::by_handler(f.prosrc.as_str())))
    }

    /// The row of the extension with this name; `None` where it does not exist.
    pub fn find_extension(&mut self, name: &str) -> Result<Option<Row<PgExtension>>> {
        let rows = self.scan(indexes::PG_EXTENSION_NAME_INDEX, &[name.into()])?;
        Ok(rows.into_iter().next())
    }

    /// As [`Self::type_ops`]; 42883 where the type has no ordering operator.
    pub fn require_ordering(&mut self, type_oid: Oid) -> Result<TypeOps> {
        let ops = self.type_ops(type_oid)?;
        if ops.lt.is_valid() && ops.eq.is_valid() {
            return Ok(ops);
        }
        let name = self.format_type(type_oid)?;
        Err(PgError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("could not identify an ordering operator for type {name}"),
        )
        .hint("Use an explicit ordering operator or modify the query."))
    }
}

#[cfg(test)]
mod tests;
