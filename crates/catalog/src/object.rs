//! Classes of objects: for each catalog whose rows are objects, the columns and indexes that
//! statements and messages for objects of any kind need. A new class is one entry of the table
//! [`CLASSES`].
//!
//! Counterpart: `ObjectProperty` of objectaddress.c.

use crate::acl::Kind;
use crate::cache::Key;
use crate::cx::CatCx;
use crate::depend::ObjectAddress;
use crate::rows::{
    AclItem, CatalogRow, Index, Name, PgAm, PgAuthid, PgClass, PgCollation, PgConversion,
    PgDatabase, PgEventTrigger, PgExtension, PgForeignDataWrapper, PgForeignServer, PgLanguage,
    PgLargeobject, PgLargeobjectMetadata, PgNamespace, PgOpclass, PgOperator, PgOpfamily, PgPolicy,
    PgProc, PgPublication, PgRewrite, PgStatisticExt, PgSubscription, PgTablespace, PgTrigger,
    PgTsConfig, PgTsDict, PgTsParser, PgTsTemplate, PgType, Value, indexes,
};
use ids::{AttrNo, Oid, Tid};
use pgerror::{PgError, Result};
use types::Datum;

/// `collencoding` of a collation that is valid for every encoding.
const ANY_ENCODING: i32 = -1;

/// The objects whose rows are in one catalog. The first column of the catalog is `oid`.
#[derive(Clone, Copy, Debug)]
pub struct ObjectClass {
    /// OID of the catalog with the objects' rows.
    pub catalog: Oid,
    /// The kind of object in messages, as in "collation \"x\" does not exist".
    pub noun: &'static str,
    /// The unique index on `oid`.
    pub oid_index: Oid,
    /// The name, and the index in which it comes first, or after the access method; `INVALID`
    /// where there is none.
    name: Option<(AttrNo, Oid)>,
    /// The schema; `None` for objects that are not in schemas.
    namespace: Option<AttrNo>,
    /// The relation that the object is a part of, within which its name is unique.
    relation: Option<AttrNo>,
    /// The access method that the name is qualified with.
    method: Option<AttrNo>,
    /// The encoding for which the object is valid; -1 for all.
    encoding: Option<AttrNo>,
    owner: Option<AttrNo>,
    /// The privileges, and the kind of object that decides which there are.
    acl: Option<(AttrNo, Kind)>,
}

/// A class without optional properties, which the functions below add.
const fn class<R: CatalogRow>(noun: &'static str, oid_index: Index<R>) -> ObjectClass {
    ObjectClass {
        catalog: R::RELATION,
        noun,
        oid_index: oid_index.oid,
        name: None,
        namespace: None,
        relation: None,
        method: None,
        encoding: None,
        owner: None,
        acl: None,
    }
}

impl ObjectClass {
    const fn name<R>(self, column: AttrNo, index: Index<R>) -> ObjectClass {
        ObjectClass { name: Some((column, index.oid)), ..self }
    }

    const fn unindexed_name(self, column: AttrNo) -> ObjectClass {
        ObjectClass { name: Some((column, Oid::INVALID)), ..self }
    }

    const fn schema(self, column: AttrNo) -> ObjectClass {
        ObjectClass { namespace: Some(column), ..self }
    }

    const fn part_of(self, column: AttrNo) -> ObjectClass {
        ObjectClass { relation: Some(column), ..self }
    }

    const fn method(self, column: AttrNo) -> ObjectClass {
        ObjectClass { method: Some(column), ..self }
    }

    const fn encoding(self, column: AttrNo) -> ObjectClass {
        ObjectClass { encoding: Some(column), ..self }
    }

    const fn owner(self, column: AttrNo) -> ObjectClass {
        ObjectClass { owner: Some(column), ..self }
    }

    const fn acl(self, column: AttrNo, kind: Kind) -> ObjectClass {
        ObjectClass { acl: Some((column, kind)), ..self }
    }

    /// The class of the objects with addresses in this catalog.
    pub fn of(catalog: Oid) -> Option<&'static ObjectClass> {
        // The rows of large objects are not in the catalog of their data.
        let catalog = match catalog {
            PgLargeobject::RELATION => PgLargeobjectMetadata::RELATION,
            catalog => catalog,
        };
        CLASSES.iter().find(|c| c.catalog == catalog)
    }

    /// The address of an object of the class.
    pub fn address(&self, object: Oid) -> ObjectAddress {
        match self.catalog {
            PgLargeobjectMetadata::RELATION => ObjectAddress::of::<PgLargeobject>(object),
            catalog => ObjectAddress::new(catalog, object),
        }
    }

    /// The kind of object in messages about privileges.
    pub fn privilege_noun(&self) -> &'static str {
        match self.catalog {
            PgForeignServer::RELATION => "foreign server",
            _ => self.noun,
        }
    }

    /// Whether the objects of the class have names.
    pub fn has_name(&self) -> bool {
        self.name.is_some()
    }

    /// Whether the objects of the class are in schemas.
    pub fn is_in_schema(&self) -> bool {
        self.namespace.is_some()
    }

    /// Whether the objects of the class have owners of their own.
    pub fn has_owner(&self) -> bool {
        self.owner.is_some()
    }

    /// Whether names of the class are qualified with an access method, as those of operator
    /// classes.
    pub fn has_access_method(&self) -> bool {
        self.method.is_some()
    }
}

/// Every class of objects.
#[rustfmt::skip]
pub static CLASSES: &[ObjectClass] = &[
    class("access method", indexes::PG_AM_OID_INDEX)
        .name(PgAm::amname, indexes::PG_AM_NAME_INDEX),
    class("operator of operator family", indexes::PG_AMOP_OID_INDEX),
    class("function of operator family", indexes::PG_AMPROC_OID_INDEX),
    class("default value", indexes::PG_ATTRDEF_OID_INDEX),
    class("role", indexes::PG_AUTHID_OID_INDEX)
        .name(PgAuthid::rolname, indexes::PG_AUTHID_ROLNAME_INDEX),
    class("cast", indexes::PG_CAST_OID_INDEX),
    class("relation", indexes::PG_CLASS_OID_INDEX)
        .name(PgClass::relname, indexes::PG_CLASS_RELNAME_NSP_INDEX)
        .schema(PgClass::relnamespace)
        .owner(PgClass::relowner)
        .acl(PgClass::relacl, Kind::Table),
    class("collation", indexes::PG_COLLATION_OID_INDEX)
        .name(PgCollation::collname, indexes::PG_COLLATION_NAME_ENC_NSP_INDEX)
        .schema(PgCollation::collnamespace)
        .encoding(PgCollation::collencoding)
        .owner(PgCollation::collowner),
    class("constraint", indexes::PG_CONSTRAINT_OID_INDEX),
    class("conversion", indexes::PG_CONVERSION_OID_INDEX)
        .name(PgConversion::conname, indexes::PG_CONVERSION_NAME_NSP_INDEX)
        .schema(PgConversion::connamespace)
        .owner(PgConversion::conowner),
    class("database", indexes::PG_DATABASE_OID_INDEX)
        .name(PgDatabase::datname, indexes::PG_DATABASE_DATNAME_INDEX)
        .owner(PgDatabase::datdba)
        .acl(PgDatabase::datacl, Kind::Database),
    class("default ACL", indexes::PG_DEFAULT_ACL_OID_INDEX),
    class("event trigger", indexes::PG_EVENT_TRIGGER_OID_INDEX)
        .name(PgEventTrigger::evtname, indexes::PG_EVENT_TRIGGER_EVTNAME_INDEX)
        .owner(PgEventTrigger::evtowner),
    class("extension", indexes::PG_EXTENSION_OID_INDEX)
        .name(PgExtension::extname, indexes::PG_EXTENSION_NAME_INDEX)
        .owner(PgExtension::extowner),
    class("foreign-data wrapper", indexes::PG_FOREIGN_DATA_WRAPPER_OID_INDEX)
        .name(PgForeignDataWrapper::fdwname, indexes::PG_FOREIGN_DATA_WRAPPER_NAME_INDEX)
        .owner(PgForeignDataWrapper::fdwowner)
        .acl(PgForeignDataWrapper::fdwacl, Kind::ForeignDataWrapper),
    class("server", indexes::PG_FOREIGN_SERVER_OID_INDEX)
        .name(PgForeignServer::srvname, indexes::PG_FOREIGN_SERVER_NAME_INDEX)
        .owner(PgForeignServer::srvowner)
        .acl(PgForeignServer::srvacl, Kind::ForeignServer),
    class("language", indexes::PG_LANGUAGE_OID_INDEX)
        .name(PgLanguage::lanname, indexes::PG_LANGUAGE_NAME_INDEX)
        .owner(PgLanguage::lanowner)
        .acl(PgLanguage::lanacl, Kind::Language),
    class("large object", indexes::PG_LARGEOBJECT_METADATA_OID_INDEX)
        .owner(PgLargeobjectMetadata::lomowner)
        .acl(PgLargeobjectMetadata::lomacl, Kind::LargeObject),
    class("schema", indexes::PG_NAMESPACE_OID_INDEX)
        .name(PgNamespace::nspname, indexes::PG_NAMESPACE_NSPNAME_INDEX)
        .owner(PgNamespace::nspowner)
        .acl(PgNamespace::nspacl, Kind::Schema),
    class("operator class", indexes::PG_OPCLASS_OID_INDEX)
        .name(PgOpclass::opcname, indexes::PG_OPCLASS_AM_NAME_NSP_INDEX)
        .method(PgOpclass::opcmethod)
        .schema(PgOpclass::opcnamespace)
        .owner(PgOpclass::opcowner),
    class("operator", indexes::PG_OPERATOR_OID_INDEX)
        .name(PgOperator::oprname, indexes::PG_OPERATOR_OPRNAME_L_R_N_INDEX)
        .schema(PgOperator::oprnamespace)
        .owner(PgOperator::oprowner),
    class("operator family", indexes::PG_OPFAMILY_OID_INDEX)
        .name(PgOpfamily::opfname, indexes::PG_OPFAMILY_AM_NAME_NSP_INDEX)
        .method(PgOpfamily::opfmethod)
        .schema(PgOpfamily::opfnamespace)
        .owner(PgOpfamily::opfowner),
    class("parameter ACL", indexes::PG_PARAMETER_ACL_OID_INDEX),
    class("policy", indexes::PG_POLICY_OID_INDEX)
        .unindexed_name(PgPolicy::polname)
        .part_of(PgPolicy::polrelid),
    class("function", indexes::PG_PROC_OID_INDEX)
        .name(PgProc::proname, indexes::PG_PROC_PRONAME_ARGS_NSP_INDEX)
        .schema(PgProc::pronamespace)
        .owner(PgProc::proowner)
        .acl(PgProc::proacl, Kind::Function),
    class("publication", indexes::PG_PUBLICATION_OID_INDEX)
        .name(PgPublication::pubname, indexes::PG_PUBLICATION_PUBNAME_INDEX)
        .owner(PgPublication::pubowner),
    class("publication schema", indexes::PG_PUBLICATION_NAMESPACE_OID_INDEX),
    class("publication relation", indexes::PG_PUBLICATION_REL_OID_INDEX),
    class("rule", indexes::PG_REWRITE_OID_INDEX)
        .unindexed_name(PgRewrite::rulename)
        .part_of(PgRewrite::ev_class),
    class("statistics object", indexes::PG_STATISTIC_EXT_OID_INDEX)
        .name(PgStatisticExt::stxname, indexes::PG_STATISTIC_EXT_NAME_INDEX)
        .schema(PgStatisticExt::stxnamespace)
        .owner(PgStatisticExt::stxowner),
    class("subscription", indexes::PG_SUBSCRIPTION_OID_INDEX)
        .unindexed_name(PgSubscription::subname)
        .owner(PgSubscription::subowner),
    class("tablespace", indexes::PG_TABLESPACE_OID_INDEX)
        .name(PgTablespace::spcname, indexes::PG_TABLESPACE_SPCNAME_INDEX)
        .owner(PgTablespace::spcowner)
        .acl(PgTablespace::spcacl, Kind::Tablespace),
    class("transform", indexes::PG_TRANSFORM_OID_INDEX),
    class("trigger", indexes::PG_TRIGGER_OID_INDEX)
        .unindexed_name(PgTrigger::tgname)
        .part_of(PgTrigger::tgrelid),
    class("text search configuration", indexes::PG_TS_CONFIG_OID_INDEX)
        .name(PgTsConfig::cfgname, indexes::PG_TS_CONFIG_CFGNAME_INDEX)
        .schema(PgTsConfig::cfgnamespace)
        .owner(PgTsConfig::cfgowner),
    class("text search dictionary", indexes::PG_TS_DICT_OID_INDEX)
        .name(PgTsDict::dictname, indexes::PG_TS_DICT_DICTNAME_INDEX)
        .schema(PgTsDict::dictnamespace)
        .owner(PgTsDict::dictowner),
    class("text search parser", indexes::PG_TS_PARSER_OID_INDEX)
        .name(PgTsParser::prsname, indexes::PG_TS_PARSER_PRSNAME_INDEX)
        .schema(PgTsParser::prsnamespace),
    class("text search template", indexes::PG_TS_TEMPLATE_OID_INDEX)
        .name(PgTsTemplate::tmplname, indexes::PG_TS_TEMPLATE_TMPLNAME_INDEX)
        .schema(PgTsTemplate::tmplnamespace),
    class("type", indexes::PG_TYPE_OID_INDEX)
        .name(PgType::typname, indexes::PG_TYPE_TYPNAME_NSP_INDEX)
        .schema(PgType::typnamespace)
        .owner(PgType::typowner)
        .acl(PgType::typacl, Kind::Type),
    class("user mapping", indexes::PG_USER_MAPPING_OID_INDEX),
];

/// The row of an object.
#[derive(Clone, Debug)]
pub struct ObjectRow {
    pub class: &'static ObjectClass,
    tid: Tid,
    columns: Vec<Datum>,
}

impl ObjectRow {
    fn column<V: Value>(&self, number: AttrNo) -> Result<V> {
        let value = self.columns.get(number as usize - 1).map(Datum::as_ref);
        V::from_datum(value.unwrap_or_default()).ok_or_else(|| {
            PgError::internal(format!(
                "unexpected value in column {number} of catalog {}",
                self.class.catalog
            ))
        })
    }

    /// The OID of the object.
    pub fn oid(&self) -> Result<Oid> {
        self.column(1)
    }

    /// The name without its schema; that of a large object is its OID.
    pub fn name(&self) -> Result<Name> {
        match self.class.name {
            Some((column, _)) => self.column(column),
            None => Ok(Name::new(self.oid()?.to_string())),
        }
    }

    /// The schema; `None` if objects of the class are not in schemas.
    pub fn namespace(&self) -> Result<Option<Oid>> {
        self.class.namespace.map(|column| self.column(column)).transpose()
    }

    /// The relation that the object is a part of.
    pub fn relation(&self) -> Result<Option<Oid>> {
        self.class.relation.map(|column| self.column(column)).transpose()
    }

    /// The access method of an operator class or family.
    pub fn method(&self) -> Result<Option<Oid>> {
        self.class.method.map(|column| self.column(column)).transpose()
    }

    /// The owner; `None` if objects of the class have no owners of their own.
    pub fn owner(&self) -> Result<Option<Oid>> {
        self.class.owner.map(|column| self.column(column)).transpose()
    }

    /// The column with privileges (`None` where it is NULL) and their kind; `None` if objects of
    /// the class have no privileges.
    pub fn acl(&self) -> Result<Option<(Option<Vec<AclItem>>, Kind)>> {
        self.class.acl.map(|(column, kind)| Ok((self.column(column)?, kind))).transpose()
    }

    /// The row with another name.
    pub fn with_name(&self, name: &str) -> ObjectRow {
        self.with(self.class.name.map(|(column, _)| column), Name::new(name).to_datum())
    }

    /// The row in another schema.
    pub fn with_namespace(&self, schema: Oid) -> ObjectRow {
        self.with(self.class.namespace, schema.to_datum())
    }

    /// The row with another owner.
    pub fn with_owner(&self, owner: Oid) -> ObjectRow {
        self.with(self.class.owner, owner.to_datum())
    }

    /// The row with other privileges.
    pub fn with_acl(&self, acl: &Option<Vec<AclItem>>) -> ObjectRow {
        self.with(self.class.acl.map(|(column, _)| column), acl.to_datum())
    }

    fn with(&self, column: Option<AttrNo>, value: Datum) -> ObjectRow {
        debug_assert!(column.is_some(), "{} has no such column", self.class.noun);
        let mut new = self.clone();
        if let Some(column) = column {
            new.columns[column as usize - 1] = value;
        }
        new
    }
}

impl CatCx<'_> {
    /// The row of an object; `None` where it does not exist.
    pub fn find_object_row(
        &mut self,
        class: &'static ObjectClass,
        oid: Oid,
    ) -> Result<Option<ObjectRow>> {
        Ok(self.object_rows(class, class.oid_index, &[1], &[oid.into()])?.pop())
    }

    /// As [`CatCx::find_object_row`]; an internal error where it does not exist.
    pub fn object_row(&mut self, class: &'static ObjectClass, oid: Oid) -> Result<ObjectRow> {
        self.find_object_row(class, oid)?.ok_or_else(|| {
            PgError::internal(format!("cache lookup failed for {} {oid}", class.noun))
        })
    }

    fn object_rows(
        &mut self,
        class: &'static ObjectClass,
        index: Oid,
        columns: &[AttrNo],
        keys: &[Key<'_>],
    ) -> Result<Vec<ObjectRow>> {
        let mut rows = Vec::new();
        self.store.scan(class.catalog, index, columns, keys, &mut |tid, row| {
            let columns = row.iter().map(|value| (*value).to_owned()).collect();
            rows.push(ObjectRow { class, tid, columns });
            Ok(())
        })?;
        Ok(rows)
    }

    /// The objects with this name that are valid for the encoding of the database, in all schemas.
    /// `method` is the access method, where names are qualified with one.
    fn objects_named(
        &mut self,
        class: &'static ObjectClass,
        method: Option<Oid>,
        name: &str,
    ) -> Result<Vec<ObjectRow>> {
        let Some((column, index)) = class.name else { return Ok(Vec::new()) };
        let rows = match (class.method, method) {
            (Some(first), Some(method)) => {
                self.object_rows(class, index, &[first, column], &[method.into(), name.into()])?
            }
            _ => self.object_rows(class, index, &[column], &[name.into()])?,
        };
        let here = self.session.encoding;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let encoding = match class.encoding {
                Some(column) => row.column(column)?,
                None => ANY_ENCODING,
            };
            if row.name()? == *name && (encoding == here || encoding == ANY_ENCODING) {
                found.push(row);
            }
        }
        Ok(found)
    }

    /// The object with this name in a schema; without a schema, of a class without schemas.
    pub fn object_in(
        &mut self,
        class: &'static ObjectClass,
        method: Option<Oid>,
        schema: Option<Oid>,
        name: &str,
    ) -> Result<Option<ObjectRow>> {
        for row in self.objects_named(class, method, name)? {
            if row.namespace()? == schema {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// The object with this name, in the given schema or the search path; the temporary schema is
    /// not searched. 3F000 where the given schema does not exist.
    pub fn find_object(
        &mut self,
        class: &'static ObjectClass,
        method: Option<Oid>,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<ObjectRow>> {
        if !class.is_in_schema() {
            return self.object_in(class, method, None, name);
        }
        let schemas = match schema {
            Some(schema) => vec![self.namespace(schema)?],
            None => self.persistent_schemas()?,
        };
        let rows = self.objects_named(class, method, name)?;
        for schema in schemas {
            for row in &rows {
                if row.namespace()? == Some(schema) {
                    return Ok(Some(row.clone()));
                }
            }
        }
        Ok(None)
    }

    /// Whether the unqualified name finds the object along the search path.
    pub fn is_object_visible(&mut self, row: &ObjectRow) -> Result<bool> {
        let name = row.name()?;
        let found = self.find_object(row.class, row.method()?, None, name.as_str())?;
        Ok(match found {
            Some(found) => found.oid()? == row.oid()?,
            None => false,
        })
    }

    /// Replaces the row of an object by a changed one.
    pub fn update_object(&mut self, old: &ObjectRow, new: &ObjectRow) -> Result<()> {
        self.update_row(old.class.catalog, old.tid, &old.columns, new.columns.clone()).map(|_| ())
    }

    /// Deletes the row of an object.
    pub fn delete_object_row(&mut self, row: &ObjectRow) -> Result<()> {
        self.delete_row(row.class.catalog, row.tid, &row.columns)
    }
}

#[cfg(test)]
mod tests;
