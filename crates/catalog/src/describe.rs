//! Descriptions of objects as used in messages.
//!
//! Counterpart: `getObjectDescription` of objectaddress.c.

use crate::cache::{self, Row};
use crate::cx::CatCx;
use crate::depend::ObjectAddress;
use crate::object::ObjectClass;
use crate::rows::{
    CatalogRow, Index, Name, PgAmop, PgAmproc, PgAttrdef, PgCast, PgClass, PgConstraint,
    PgDefaultAcl, PgLargeobject, PgOperator, PgOpfamily, PgParameterAcl, PgProc, PgPublication,
    PgPublicationNamespace, PgPublicationRel, PgTransform, PgType, PgUserMapping, indexes,
};
use ids::code::DefAclObject;
use ids::{Oid, RelKind};
use pgerror::{PgError, Result};

impl CatCx<'_> {
    /// `table public.t`, `column a of table t`, `function f(integer)`, …
    pub fn describe_object(&mut self, object: ObjectAddress) -> Result<String> {
        let oid = object.object;
        match object.class {
            PgClass::RELATION if object.sub != 0 => self.describe_column(object),
            PgClass::RELATION => self.describe_relation(oid),
            PgProc::RELATION => {
                self.function(oid)?;
                Ok(format!("function {}", self.format_function(oid)?))
            }
            PgType::RELATION => Ok(format!("type {}", self.format_type(oid)?)),
            PgOperator::RELATION => Ok(format!("operator {}", self.format_operator(oid)?)),
            PgConstraint::RELATION => {
                let row = self.constraint(oid)?.ok_or_else(|| missing("constraint", oid))?;
                match row.conrelid.valid() {
                    Some(relation) => {
                        let relation = self.describe_relation(relation)?;
                        Ok(format!("constraint {} on {relation}", row.conname))
                    }
                    None => Ok(format!("constraint {}", row.conname)),
                }
            }
            PgAttrdef::RELATION => {
                let row = self.one(indexes::PG_ATTRDEF_OID_INDEX, oid, "attrdef")?;
                let column = ObjectAddress::column(row.adrelid, row.adnum);
                Ok(format!("default value for {}", self.describe_object(column)?))
            }
            // Comments and privileges of large objects have this class too.
            PgLargeobject::RELATION => Ok(format!("large object {oid}")),
            PgParameterAcl::RELATION => {
                let row = self.one(indexes::PG_PARAMETER_ACL_OID_INDEX, oid, "parameter ACL")?;
                Ok(format!("parameter {}", row.parname.as_str()))
            }
            PgDefaultAcl::RELATION => self.describe_default_privileges(oid),
            PgCast::RELATION
            | PgTransform::RELATION
            | PgUserMapping::RELATION
            | PgPublicationRel::RELATION
            | PgPublicationNamespace::RELATION => self.describe_pair(object),
            PgAmop::RELATION | PgAmproc::RELATION => self.describe_member(object),
            class => {
                let class = ObjectClass::of(class).ok_or_else(|| {
                    PgError::internal(format!("unrecognized object class: {class}"))
                })?;
                self.describe_named(class, oid)
            }
        }
    }

    /// An object that is identified by the noun of its class and its name.
    fn describe_named(&mut self, class: &'static ObjectClass, oid: Oid) -> Result<String> {
        let row = self.object_row(class, oid)?;
        let noun = class.noun;
        if let Some(schema) = row.namespace()? {
            let visible = self.is_object_visible(&row)?;
            let name = self.qualify(visible, schema, row.name()?)?;
            return Ok(match row.method()? {
                Some(method) => {
                    let method = self.access_method_name(method)?;
                    format!("{noun} {name} for access method {method}")
                }
                None => format!("{noun} {name}"),
            });
        }
        let name = row.name()?;
        Ok(match row.relation()? {
            Some(relation) => format!("{noun} {name} on {}", self.describe_relation(relation)?),
            None => format!("{noun} {name}"),
        })
    }

    fn describe_column(&mut self, object: ObjectAddress) -> Result<String> {
        let relation = self.describe_relation(object.object)?;
        let number = object.sub as ids::AttrNo;
        let column = self.attribute(object.object, number)?.ok_or_else(|| {
            PgError::internal(format!(
                "cache lookup failed for column {number} of relation {}",
                object.object
            ))
        })?;
        Ok(format!("column {} of {relation}", column.attname))
    }

    /// An object that relates two others.
    fn describe_pair(&mut self, object: ObjectAddress) -> Result<String> {
        let oid = object.object;
        Ok(match object.class {
            PgCast::RELATION => {
                let row = self.one(indexes::PG_CAST_OID_INDEX, oid, "cast")?;
                let from = self.format_type(row.castsource)?;
                format!("cast from {from} to {}", self.format_type(row.casttarget)?)
            }
            PgTransform::RELATION => {
                let row = self.one(indexes::PG_TRANSFORM_OID_INDEX, oid, "transform")?;
                let of = self.format_type(row.trftype)?;
                format!("transform for {of} language {}", self.language(row.trflang)?.lanname)
            }
            PgUserMapping::RELATION => {
                let row = self.one(indexes::PG_USER_MAPPING_OID_INDEX, oid, "user mapping")?;
                let index = indexes::PG_FOREIGN_SERVER_OID_INDEX;
                let server = self.one(index, row.umserver, "foreign server")?.srvname;
                let user = match row.umuser.valid() {
                    Some(user) => self.role_name(user)?,
                    None => "public".to_owned(),
                };
                format!("user mapping for {user} on server {server}")
            }
            PgPublicationNamespace::RELATION => {
                let index = indexes::PG_PUBLICATION_NAMESPACE_OID_INDEX;
                let row = self.one(index, oid, "publication schema")?;
                let schema = self.namespace_name(row.pnnspid)?.unwrap_or_default();
                let of = ObjectAddress::of::<PgPublication>(row.pnpubid);
                format!("publication of schema {schema} in {}", self.describe_object(of)?)
            }
            _ => {
                let index = indexes::PG_PUBLICATION_REL_OID_INDEX;
                let row = self.one(index, oid, "publication table")?;
                let of = ObjectAddress::of::<PgPublication>(row.prpubid);
                let table = self.describe_relation(row.prrelid)?;
                format!("publication of {table} in {}", self.describe_object(of)?)
            }
        })
    }

    /// A member of an operator family.
    fn describe_member(&mut self, object: ObjectAddress) -> Result<String> {
        let oid = object.object;
        if object.class == PgAmop::RELATION {
            let index = indexes::PG_AMOP_OID_INDEX;
            let row = self.one(index, oid, "access method operator")?;
            return Ok(format!(
                "operator {} ({}, {}) of {}: {}",
                row.amopstrategy,
                self.format_type(row.amoplefttype)?,
                self.format_type(row.amoprighttype)?,
                self.describe_object(ObjectAddress::of::<PgOpfamily>(row.amopfamily))?,
                self.format_operator(row.amopopr)?
            ));
        }
        let row = self.one(indexes::PG_AMPROC_OID_INDEX, oid, "access method procedure")?;
        Ok(format!(
            "function {} ({}, {}) of {}: {}",
            row.amprocnum,
            self.format_type(row.amproclefttype)?,
            self.format_type(row.amprocrighttype)?,
            self.describe_object(ObjectAddress::of::<PgOpfamily>(row.amprocfamily))?,
            self.format_function(row.amproc)?
        ))
    }

    fn describe_default_privileges(&mut self, oid: Oid) -> Result<String> {
        let row = self.one(indexes::PG_DEFAULT_ACL_OID_INDEX, oid, "default ACL")?;
        let objects = match row.defaclobjtype {
            DefAclObject::Relation => "relations",
            DefAclObject::Sequence => "sequences",
            DefAclObject::Function => "functions",
            DefAclObject::Type => "types",
            DefAclObject::Namespace => "schemas",
        };
        let role = self.role_name(row.defaclrole)?;
        let location = match row.defaclnamespace.valid() {
            Some(schema) => {
                let name = self.namespace_name(schema)?.unwrap_or_default();
                format!(" in schema {name}")
            }
            None => String::new(),
        };
        Ok(format!("default privileges on new {objects} belonging to role {role}{location}"))
    }

    /// The row with this OID; an internal error that names `what` where it does not exist.
    fn one<R: CatalogRow>(&mut self, index: Index<R>, oid: Oid, what: &str) -> Result<Row<R>> {
        self.scan(index, &[oid.into()])?.pop().ok_or_else(|| missing(what, oid))
    }

    /// `table t`, `index i`, `view public.v`, …
    pub fn describe_relation(&mut self, oid: Oid) -> Result<String> {
        let row = self.class(oid)?;
        let visible = self.is_relation_visible(oid)?;
        let name = self.qualify(visible, row.relnamespace, row.relname)?;
        Ok(format!("{} {name}", relation_kind(row.relkind)))
    }

    /// The name, qualified unless it is visible, quoted where needed.
    fn qualify(&mut self, visible: bool, schema: Oid, name: Name) -> Result<String> {
        let schema = if visible { None } else { self.namespace_name(schema)? };
        let schema = schema.as_ref().map(|s| s.as_str());
        Ok(self.session.quoting.qualified(schema, name.as_str()))
    }

    /// `f(integer,text)`, qualified unless visible. Counterpart: `format_procedure`.
    pub fn format_function(&mut self, oid: Oid) -> Result<String> {
        let Some(row) = self.find_function(oid)? else { return Ok(oid.to_string()) };
        let visible = self.is_function_visible(oid)?;
        let mut out = self.qualify(visible, row.pronamespace, row.proname)?;
        out.push('(');
        for (i, &arg) in row.proargtypes.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(&self.format_type(arg)?);
        }
        out.push(')');
        Ok(out)
    }

    /// `+(integer,integer)`, `NONE` for a missing operand. Counterpart: `format_operator`.
    pub fn format_operator(&mut self, oid: Oid) -> Result<String> {
        let Some(row) = self.find_operator_row(oid)? else { return Ok(oid.to_string()) };
        let schema = match self.is_operator_visible(oid)? {
            true => String::new(),
            false => {
                let name = self.namespace_name(row.oprnamespace)?.unwrap_or_default();
                self.session.quoting.identifier(name.as_str()) + "."
            }
        };
        let left = match row.oprleft.valid() {
            Some(left) => self.format_type(left)?,
            None => "NONE".to_owned(),
        };
        let right = match row.oprright.valid() {
            Some(right) => self.format_type(right)?,
            None => "NONE".to_owned(),
        };
        Ok(format!("{schema}{}({left},{right})", row.oprname))
    }

    /// Name of an access method; an internal error where it does not exist.
    pub fn access_method_name(&mut self, oid: Oid) -> Result<String> {
        let row = self.get(cache::AMOID, &[oid.into()], format_args!("access method {oid}"))?;
        Ok(row.amname.to_string())
    }
}

fn missing(what: &str, oid: Oid) -> PgError {
    PgError::internal(format!("cache lookup failed for {what} {oid}"))
}

/// The noun for a `relkind`.
pub fn relation_kind(kind: RelKind) -> &'static str {
    match kind {
        RelKind::Table | RelKind::PartitionedTable => "table",
        RelKind::Index | RelKind::PartitionedIndex => "index",
        RelKind::Sequence => "sequence",
        RelKind::Toast => "toast table",
        RelKind::View => "view",
        RelKind::MaterializedView => "materialized view",
        RelKind::CompositeType => "composite type",
        RelKind::ForeignTable => "foreign table",
    }
}
