//! Descriptions of objects as used in messages.
//!
//! Counterpart: `getObjectDescription` of objectaddress.c.

use crate::cache;
use crate::cx::CatCx;
use crate::depend::ObjectAddress;
use crate::format_type::quote_identifier;
use crate::namespace::qualified;
use crate::rows::{
    CatalogRow, Name, PgAm, PgAmop, PgAmproc, PgAttrdef, PgAuthid, PgCast, PgClass, PgCollation,
    PgConstraint, PgConversion, PgDatabase, PgDefaultAcl, PgEventTrigger, PgExtension, PgLanguage,
    PgLargeobject, PgNamespace, PgOpclass, PgOperator, PgOpfamily, PgParameterAcl, PgPolicy,
    PgProc, PgPublication, PgPublicationRel, PgRewrite, PgStatisticExt, PgTablespace, PgTrigger,
    PgTsConfig, PgTsDict, PgTsParser, PgTsTemplate, PgType, indexes,
};
use ids::Oid;
use pgerror::{PgError, Result};

impl CatCx<'_> {
    /// `table public.t`, `column a of table t`, `function f(integer)`, …
    pub fn describe_object(&mut self, object: ObjectAddress) -> Result<String> {
        let oid = object.object;
        let missing =
            |what: &str| PgError::internal(format!("cache lookup failed for {what} {oid}"));
        Ok(match object.class {
            PgClass::RELATION if object.sub != 0 => {
                let relation = self.describe_relation(oid)?;
                let number = object.sub as ids::AttrNo;
                let column = self.attribute(oid, number)?.ok_or_else(|| {
                    PgError::internal(format!(
                        "cache lookup failed for column {number} of relation {oid}"
                    ))
                })?;
                format!("column {} of {relation}", column.attname)
            }
            PgClass::RELATION => self.describe_relation(oid)?,
            PgProc::RELATION => {
                let signature = self.format_function(oid)?;
                let row = self.function(oid)?;
                match row.prokind {
                    b'a' => format!("aggregate {signature}"),
                    _ => format!("function {signature}"),
                }
            }
            PgType::RELATION => format!("type {}", self.format_type(oid)?),
            PgCast::RELATION => {
                let row = self.scan(indexes::PG_CAST_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("cast"))?;
                let (from, to) =
                    (self.format_type(row.castsource)?, self.format_type(row.casttarget)?);
                format!("cast from {from} to {to}")
            }
            PgCollation::RELATION => {
                let row = self.collation(oid)?;
                let visible = self.find_collation(None, row.collname.as_str())? == Some(oid);
                let name = self.qualify(visible, row.collnamespace, row.collname)?;
                format!("collation {name}")
            }
            PgConstraint::RELATION => {
                let row = self.constraint(oid)?.ok_or_else(|| missing("constraint"))?;
                match row.conrelid.valid() {
                    Some(relation) => {
                        let relation = self.describe_relation(relation)?;
                        format!("constraint {} on {relation}", row.conname)
                    }
                    None => format!("constraint {}", row.conname),
                }
            }
            PgConversion::RELATION => {
                let row =
                    self.get(cache::CONVOID, &[oid.into()], format_args!("conversion {oid}"))?;
                let visible = self.find_conversion(None, row.conname.as_str())? == Some(oid);
                format!("conversion {}", self.qualify(visible, row.connamespace, row.conname)?)
            }
            PgAttrdef::RELATION => {
                let row = self.scan(indexes::PG_ATTRDEF_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("attrdef"))?;
                let column = ObjectAddress::column(row.adrelid, row.adnum);
                format!("default value for {}", self.describe_object(column)?)
            }
            PgLanguage::RELATION => format!("language {}", self.language(oid)?.lanname),
            PgLargeobject::RELATION => format!("large object {oid}"),
            PgOperator::RELATION => format!("operator {}", self.format_operator(oid)?),
            PgOpclass::RELATION => {
                let row = self.opclass(oid)?;
                let visible =
                    self.find_opclass(row.opcmethod, None, row.opcname.as_str())? == Some(oid);
                let name = self.qualify(visible, row.opcnamespace, row.opcname)?;
                let am = self.access_method_name(row.opcmethod)?;
                format!("operator class {name} for access method {am}")
            }
            PgOpfamily::RELATION => self.describe_family(oid)?,
            PgAm::RELATION => format!("access method {}", self.access_method_name(oid)?),
            PgRewrite::RELATION => {
                let row = self.scan(indexes::PG_REWRITE_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("rule"))?;
                let relation = self.describe_relation(row.ev_class)?;
                format!("rule {} on {relation}", row.rulename)
            }
            PgTrigger::RELATION => {
                let row = self.scan(indexes::PG_TRIGGER_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("trigger"))?;
                let relation = self.describe_relation(row.tgrelid)?;
                format!("trigger {} on {relation}", row.tgname)
            }
            PgPolicy::RELATION => {
                let row = self.scan(indexes::PG_POLICY_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("policy"))?;
                let relation = self.describe_relation(row.polrelid)?;
                format!("policy {} on {relation}", row.polname)
            }
            PgNamespace::RELATION => {
                let name = self.namespace_name(oid)?.ok_or_else(|| missing("namespace"))?;
                format!("schema {name}")
            }
            PgStatisticExt::RELATION => {
                let what = format_args!("statistics object {oid}");
                let row = self.get(cache::STATEXTOID, &[oid.into()], what)?;
                let visible = self.is_visible_statistics(oid, row.stxname.as_str())?;
                let name = self.qualify(visible, row.stxnamespace, row.stxname)?;
                format!("statistics object {name}")
            }
            PgAuthid::RELATION => format!("role {}", self.role_name(oid)?),
            PgDatabase::RELATION => {
                let row = self.database(oid)?.ok_or_else(|| missing("database"))?;
                format!("database {}", row.datname)
            }
            PgTablespace::RELATION => {
                let what = format_args!("tablespace {oid}");
                let row = self.get(cache::TABLESPACEOID, &[oid.into()], what)?;
                format!("tablespace {}", row.spcname)
            }
            PgExtension::RELATION => {
                let what = format_args!("extension {oid}");
                let row = self.get(cache::EXTENSIONOID, &[oid.into()], what)?;
                format!("extension {}", row.extname)
            }
            PgTsConfig::RELATION => {
                let what = format_args!("text search configuration {oid}");
                let row = self.get(cache::TSCONFIGOID, &[oid.into()], what)?;
                let visible = self.find_ts_config(None, row.cfgname.as_str())? == Some(oid);
                let name = self.qualify(visible, row.cfgnamespace, row.cfgname)?;
                format!("text search configuration {name}")
            }
            PgTsDict::RELATION => {
                let what = format_args!("text search dictionary {oid}");
                let row = self.get(cache::TSDICTOID, &[oid.into()], what)?;
                let visible = self.find_ts_dict(None, row.dictname.as_str())? == Some(oid);
                let name = self.qualify(visible, row.dictnamespace, row.dictname)?;
                format!("text search dictionary {name}")
            }
            PgDefaultAcl::RELATION => {
                let row = self.scan(indexes::PG_DEFAULT_ACL_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("default ACL"))?;
                let objects = match row.defaclobjtype {
                    b'r' => "relations",
                    b'S' => "sequences",
                    b'f' => "functions",
                    b'T' => "types",
                    b'n' => "schemas",
                    _ => "objects",
                };
                let role = self.role_name(row.defaclrole)?;
                let place = match row.defaclnamespace.valid() {
                    Some(schema) => {
                        let name = self.namespace_name(schema)?.unwrap_or_default();
                        format!(" in schema {name}")
                    }
                    None => String::new(),
                };
                format!("default privileges on new {objects} belonging to role {role}{place}")
            }
            PgEventTrigger::RELATION => {
                let what = format_args!("event trigger {oid}");
                let row = self.get(cache::EVENTTRIGGEROID, &[oid.into()], what)?;
                format!("event trigger {}", row.evtname)
            }
            PgPublication::RELATION => {
                let what = format_args!("publication {oid}");
                let row = self.get(cache::PUBLICATIONOID, &[oid.into()], what)?;
                format!("publication {}", row.pubname)
            }
            PgPublicationRel::RELATION => {
                let row = self.scan(indexes::PG_PUBLICATION_REL_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("publication table"))?;
                let of = ObjectAddress::of::<PgPublication>(row.prpubid);
                let (table, of) = (self.describe_relation(row.prrelid)?, self.describe_object(of)?);
                format!("publication of {table} in {of}")
            }
            PgAmop::RELATION => {
                let row = self.scan(indexes::PG_AMOP_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("access method operator"))?;
                format!(
                    "operator {} ({}, {}) of {}: {}",
                    row.amopstrategy,
                    self.format_type(row.amoplefttype)?,
                    self.format_type(row.amoprighttype)?,
                    self.describe_family(row.amopfamily)?,
                    self.format_operator(row.amopopr)?
                )
            }
            PgAmproc::RELATION => {
                let row = self.scan(indexes::PG_AMPROC_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("access method procedure"))?;
                format!(
                    "function {} ({}, {}) of {}: {}",
                    row.amprocnum,
                    self.format_type(row.amproclefttype)?,
                    self.format_type(row.amprocrighttype)?,
                    self.describe_family(row.amprocfamily)?,
                    self.format_function(row.amproc)?
                )
            }
            PgTsParser::RELATION => {
                let row = self.scan(indexes::PG_TS_PARSER_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("text search parser"))?;
                let visible = row.prsnamespace == Oid(11);
                let name = self.qualify(visible, row.prsnamespace, row.prsname)?;
                format!("text search parser {name}")
            }
            PgTsTemplate::RELATION => {
                let row = self.scan(indexes::PG_TS_TEMPLATE_OID_INDEX, &[oid.into()])?.pop();
                let row = row.ok_or_else(|| missing("text search template"))?;
                let visible = row.tmplnamespace == Oid(11);
                let name = self.qualify(visible, row.tmplnamespace, row.tmplname)?;
                format!("text search template {name}")
            }
            PgParameterAcl::RELATION => {
                let what = format_args!("parameter ACL {oid}");
                let row = self.get(cache::PARAMETERACLOID, &[oid.into()], what)?;
                format!("parameter {}", row.parname.as_str())
            }
            class => return Err(PgError::internal(format!("unrecognized object class: {class}"))),
        })
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
        let schema = schema.map(|s| quote_identifier(s.as_str()));
        Ok(qualified(schema.as_deref(), &quote_identifier(name.as_str())))
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
                quote_identifier(name.as_str()) + "."
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

    fn describe_family(&mut self, oid: Oid) -> Result<String> {
        let row = self.opfamily(oid)?;
        let visible = self.find_opfamily(row.opfmethod, None, row.opfname.as_str())? == Some(oid);
        let name = self.qualify(visible, row.opfnamespace, row.opfname)?;
        let am = self.access_method_name(row.opfmethod)?;
        Ok(format!("operator family {name} for access method {am}"))
    }
}

/// The noun for a `relkind`.
pub fn relation_kind(kind: u8) -> &'static str {
    match kind {
        b'r' | b'p' => "table",
        b'i' | b'I' => "index",
        b'S' => "sequence",
        b't' => "toast table",
        b'v' => "view",
        b'm' => "materialized view",
        b'c' => "composite type",
        b'f' => "foreign table",
        _ => "relation",
    }
}
