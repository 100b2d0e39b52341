//! Object descriptions, identities and visibility. Counterpart: catalog/objectaddress.c,
//! catalog/namespace.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::ObjectAddress;
use catalog::format_type::quote_identifier;
use catalog::object::ObjectClass;
use catalog::rows::{
    CatalogRow, PgAm, PgAttrdef, PgAuthid, PgCast, PgClass, PgCollation, PgConstraint,
    PgConversion, PgDatabase, PgEventTrigger, PgExtension, PgForeignDataWrapper, PgForeignServer,
    PgLanguage, PgNamespace, PgOpclass, PgOperator, PgOpfamily, PgPolicy, PgProc, PgPublication,
    PgRewrite, PgStatisticExt, PgSubscription, PgTablespace, PgTrigger, PgTsConfig, PgTsDict,
    PgTsParser, PgTsTemplate, PgType, indexes,
};
use ids::Oid;
use ids::code::ProKind;
use pgerror::Result;
use types::{Datum, DatumRef};

pub(super) fn address(a: &[DatumRef<'_>]) -> ObjectAddress {
    ObjectAddress { class: a[0].as_oid(), object: a[1].as_oid(), sub: a[2].as_i32() }
}

/// `pg_describe_object`; NULL if the object does not exist.
fn describe(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Datum> {
    if !object.class.is_valid() && !object.object.is_valid() {
        return Ok(Datum::Null);
    }
    check_part(object)?;
    if !exists(core, object)? {
        return Ok(Datum::Null);
    }
    Ok(Datum::text(&core.catalog().describe_object(object)?))
}

/// An error if an object other than a relation has a sub-object number.
pub(super) fn check_part(object: ObjectAddress) -> Result<()> {
    if object.sub != 0 && object.class != PgClass::RELATION {
        let class = object.class;
        let message = format!("invalid non-zero objectSubId for object class {class}");
        return Err(pgerror::PgError::internal(message));
    }
    Ok(())
}

/// True if the object exists. An internal error if `object.class` is no class of objects.
pub(super) fn exists(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<bool> {
    if object.class == PgClass::RELATION && object.sub != 0 {
        let column = object.sub as ids::AttrNo;
        return Ok(core.catalog().attribute(object.object, column)?.is_some());
    }
    // Objects in `pg_largeobject_metadata` have the address of the catalog of their data.
    let class =
        ObjectClass::of(object.class).filter(|c| c.address(Oid::INVALID).class == object.class);
    let Some(class) = class else {
        let message = format!("unrecognized object class: {}", object.class);
        return Err(pgerror::PgError::internal(message));
    };
    Ok(core.catalog().find_object_row(class, object.object)?.is_some())
}

/// The result of `pg_identify_object`.
#[derive(Default)]
pub(super) struct Identity {
    pub(super) kind: String,
    pub(super) schema: Option<String>,
    pub(super) name: Option<String>,
    pub(super) identity: Option<String>,
    /// For `pg_identify_object_as_address`.
    pub(super) names: Vec<String>,
    pub(super) args: Vec<String>,
}

pub(super) fn schema_of(core: &mut dyn SystemHost, oid: Oid) -> Result<String> {
    Ok(core.catalog().namespace_name(oid)?.map_or_else(String::new, |n| n.to_string()))
}

/// The identity of an object that is identified by its name in a schema.
fn in_schema(core: &mut dyn SystemHost, kind: &str, schema: Oid, name: &str) -> Result<Identity> {
    let shown = crate::events::shown_schema(core, schema)?;
    let schema = schema_of(core, schema)?;
    Ok(Identity {
        kind: kind.to_owned(),
        identity: Some(qualified_quoted(&shown, name)),
        names: vec![shown, name.to_owned()],
        schema: Some(quote_identifier(&schema)),
        name: Some(quote_identifier(name)),
        args: Vec::new(),
    })
}

fn qualified_quoted(schema: &str, name: &str) -> String {
    format!("{}.{}", quote_identifier(schema), quote_identifier(name))
}

/// The identity of an object with a name and without a schema.
fn plain(kind: &str, name: &str) -> Identity {
    Identity {
        kind: kind.to_owned(),
        schema: None,
        name: Some(quote_identifier(name)),
        identity: Some(quote_identifier(name)),
        names: vec![name.to_owned()],
        args: Vec::new(),
    }
}

/// The identity of an object that does not exist: only its kind.
pub(super) fn missing(class: Oid) -> Identity {
    let kind = match class {
        PgClass::RELATION => "relation",
        PgProc::RELATION => "routine",
        PgType::RELATION => "type",
        PgConstraint::RELATION => "constraint",
        PgOperator::RELATION => "operator",
        PgOpclass::RELATION => "operator class",
        PgOpfamily::RELATION => "operator family",
        PgAm::RELATION => "access method",
        PgNamespace::RELATION => "schema",
        PgAuthid::RELATION => "role",
        PgDatabase::RELATION => "database",
        PgTablespace::RELATION => "tablespace",
        PgCollation::RELATION => "collation",
        PgConversion::RELATION => "conversion",
        PgRewrite::RELATION => "rule",
        PgTrigger::RELATION => "trigger",
        PgPolicy::RELATION => "policy",
        PgAttrdef::RELATION => "default value",
        PgExtension::RELATION => "extension",
        PgLanguage::RELATION => "language",
        PgCast::RELATION => "cast",
        PgStatisticExt::RELATION => "statistics object",
        PgTsConfig::RELATION => "text search configuration",
        PgTsDict::RELATION => "text search dictionary",
        PgTsParser::RELATION => "text search parser",
        PgTsTemplate::RELATION => "text search template",
        PgEventTrigger::RELATION => "event trigger",
        PgPublication::RELATION => "publication",
        PgSubscription::RELATION => "subscription",
        PgForeignDataWrapper::RELATION => "foreign-data wrapper",
        PgForeignServer::RELATION => "server",
        _ => "unknown object type",
    };
    Identity { kind: kind.to_owned(), ..Identity::default() }
}

pub(super) fn qualified_type(core: &mut dyn SystemHost, ty: Oid) -> Result<String> {
    if !ty.is_valid() {
        return Ok("NONE".to_owned());
    }
    core.catalog().format_type_qualified(ty)
}

/// The row of an object; returns from the function if there is none.
macro_rules! row {
    ($core:ident, $object:ident, $index:ident) => {
        match $core.catalog().scan(indexes::$index, &[$object.object.into()])?.pop() {
            Some(row) => row,
            None => return Ok(missing($object.class)),
        }
    };
}
pub(super) use row;

pub(super) fn identify(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Identity> {
    let oid = object.object;
    check_part(object)?;
    if object.class == PgClass::RELATION {
        return identify_relation(core, object);
    }
    if !exists(core, object)? {
        return Ok(missing(object.class));
    }
    Ok(match object.class {
        PgProc::RELATION => identify_function(core, oid)?,
        PgType::RELATION => identify_type(core, oid)?,
        PgOperator::RELATION => identify_operator(core, oid)?,
        PgNamespace::RELATION => {
            plain("schema", row!(core, object, PG_NAMESPACE_OID_INDEX).nspname.as_str())
        }
        PgAuthid::RELATION => {
            plain("role", row!(core, object, PG_AUTHID_OID_INDEX).rolname.as_str())
        }
        PgDatabase::RELATION => {
            plain("database", row!(core, object, PG_DATABASE_OID_INDEX).datname.as_str())
        }
        PgTablespace::RELATION => {
            plain("tablespace", row!(core, object, PG_TABLESPACE_OID_INDEX).spcname.as_str())
        }
        PgLanguage::RELATION => {
            plain("language", row!(core, object, PG_LANGUAGE_OID_INDEX).lanname.as_str())
        }
        PgExtension::RELATION => {
            plain("extension", row!(core, object, PG_EXTENSION_OID_INDEX).extname.as_str())
        }
        PgAm::RELATION => {
            plain("access method", row!(core, object, PG_AM_OID_INDEX).amname.as_str())
        }
        PgEventTrigger::RELATION
        | PgForeignDataWrapper::RELATION
        | PgForeignServer::RELATION
        | PgPublication::RELATION
        | PgSubscription::RELATION => identify_named(core, object)?,
        PgCollation::RELATION
        | PgConversion::RELATION
        | PgTsConfig::RELATION
        | PgTsDict::RELATION
        | PgTsParser::RELATION
        | PgTsTemplate::RELATION
        | PgStatisticExt::RELATION
        | PgOpclass::RELATION
        | PgOpfamily::RELATION => identify_in_schema(core, object)?,
        PgCast::RELATION
        | PgConstraint::RELATION
        | PgRewrite::RELATION
        | PgTrigger::RELATION
        | PgPolicy::RELATION
        | PgAttrdef::RELATION => identify_part(core, object)?,
        _ => missing(object.class),
    })
}

/// An object that its name identifies.
fn identify_named(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Identity> {
    let Some(class) = ObjectClass::of(object.class) else { return Ok(missing(object.class)) };
    match core.catalog().find_object_row(class, object.object)? {
        Some(row) => Ok(plain(&missing(object.class).kind, row.name()?.as_str())),
        None => Ok(missing(object.class)),
    }
}

/// A relation or one of its columns. A missing column of a relation has only a kind.
fn identify_relation(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Identity> {
    let whole = ObjectAddress { sub: 0, ..object };
    if !exists(core, whole)? {
        return Ok(missing(object.class));
    }
    let class = core.catalog().class(object.object)?;
    let kind = catalog::relation_kind(class.relkind);
    if object.sub == 0 {
        return in_schema(core, kind, class.relnamespace, class.relname.as_str());
    }
    let kind = format!("{kind} column");
    let column = core.catalog().attribute(object.object, object.sub as ids::AttrNo)?;
    let Some(column) = column else {
        return Ok(Identity { kind, ..Identity::default() });
    };
    let name = column.attname.as_str();
    let mut id = in_schema(core, &kind, class.relnamespace, class.relname.as_str())?;
    id.identity = id.identity.map(|table| format!("{table}.{}", quote_identifier(name)));
    id.names.push(name.to_owned());
    Ok(id)
}

/// A function, procedure or aggregate.
fn identify_function(core: &mut dyn SystemHost, oid: Oid) -> Result<Identity> {
    let row = core.catalog().function(oid)?;
    let kind = match row.prokind {
        ProKind::Aggregate => "aggregate",
        ProKind::Procedure => "procedure",
        _ => "function",
    };
    let schema = schema_of(core, row.pronamespace)?;
    let mut args = Vec::new();
    for &ty in row.proargtypes.iter() {
        args.push(qualified_type(core, ty)?);
    }
    let name = qualified_quoted(&schema, row.proname.as_str());
    Ok(Identity {
        kind: kind.to_owned(),
        identity: Some(format!("{name}({})", args.join(","))),
        names: vec![schema.clone(), row.proname.to_string()],
        schema: Some(quote_identifier(&schema)),
        name: None,
        args,
    })
}

/// A type or domain.
fn identify_type(core: &mut dyn SystemHost, oid: Oid) -> Result<Identity> {
    let row = core.catalog().type_row(oid)?;
    let schema = schema_of(core, row.typnamespace)?;
    let shown = qualified_type(core, oid)?;
    Ok(Identity {
        kind: "type".to_owned(),
        schema: Some(quote_identifier(&schema)),
        name: Some(quote_identifier(row.typname.as_str())),
        identity: Some(shown.clone()),
        names: vec![shown],
        args: Vec::new(),
    })
}

/// An operator.
fn identify_operator(core: &mut dyn SystemHost, oid: Oid) -> Result<Identity> {
    let row = core.catalog().operator(oid)?;
    let schema = schema_of(core, row.oprnamespace)?;
    let operands = [row.oprleft, row.oprright];
    let shown = [qualified_type(core, row.oprleft)?, qualified_type(core, row.oprright)?];
    let present = shown.iter().zip(operands).filter(|(_, operand)| operand.is_valid());
    let args = present.map(|(name, _)| name.clone()).collect();
    Ok(Identity {
        kind: "operator".to_owned(),
        identity: Some(format!(
            "{}.{}({})",
            quote_identifier(&schema),
            row.oprname,
            shown.join(",")
        )),
        names: vec![schema.clone(), row.oprname.to_string()],
        schema: Some(quote_identifier(&schema)),
        name: None,
        args,
    })
}

/// An object whose name belongs to a schema.
fn identify_in_schema(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Identity> {
    Ok(match object.class {
        PgCollation::RELATION => {
            let row = row!(core, object, PG_COLLATION_OID_INDEX);
            in_schema(core, "collation", row.collnamespace, row.collname.as_str())?
        }
        PgConversion::RELATION => {
            let row = row!(core, object, PG_CONVERSION_OID_INDEX);
            in_schema(core, "conversion", row.connamespace, row.conname.as_str())?
        }
        PgTsConfig::RELATION => {
            let row = row!(core, object, PG_TS_CONFIG_OID_INDEX);
            let kind = "text search configuration";
            in_schema(core, kind, row.cfgnamespace, row.cfgname.as_str())?
        }
        PgTsDict::RELATION => {
            let row = row!(core, object, PG_TS_DICT_OID_INDEX);
            let kind = "text search dictionary";
            in_schema(core, kind, row.dictnamespace, row.dictname.as_str())?
        }
        PgTsParser::RELATION => {
            let row = row!(core, object, PG_TS_PARSER_OID_INDEX);
            in_schema(core, "text search parser", row.prsnamespace, row.prsname.as_str())?
        }
        PgTsTemplate::RELATION => {
            let row = row!(core, object, PG_TS_TEMPLATE_OID_INDEX);
            in_schema(core, "text search template", row.tmplnamespace, row.tmplname.as_str())?
        }
        PgStatisticExt::RELATION => {
            let row = row!(core, object, PG_STATISTIC_EXT_OID_INDEX);
            in_schema(core, "statistics object", row.stxnamespace, row.stxname.as_str())?
        }
        PgOpclass::RELATION => {
            let row = row!(core, object, PG_OPCLASS_OID_INDEX);
            let am = core.catalog().access_method_name(row.opcmethod)?;
            let name = row.opcname;
            by_method(core, "operator class", row.opcnamespace, name.as_str(), am)?
        }
        PgOpfamily::RELATION => {
            let row = row!(core, object, PG_OPFAMILY_OID_INDEX);
            let am = core.catalog().access_method_name(row.opfmethod)?;
            let name = row.opfname;
            by_method(core, "operator family", row.opfnamespace, name.as_str(), am)?
        }
        _ => missing(object.class),
    })
}

/// A cast, or an object that is part of another one.
fn identify_part(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Identity> {
    Ok(match object.class {
        PgCast::RELATION => {
            let row = row!(core, object, PG_CAST_OID_INDEX);
            let from = qualified_type(core, row.castsource)?;
            let to = qualified_type(core, row.casttarget)?;
            Identity {
                kind: "cast".to_owned(),
                identity: Some(format!("({from} AS {to})")),
                names: vec![from],
                args: vec![to],
                ..Identity::default()
            }
        }
        PgConstraint::RELATION => {
            let row = row!(core, object, PG_CONSTRAINT_OID_INDEX);
            let schema = schema_of(core, row.connamespace)?;
            let table = row.conrelid.is_valid();
            let (kind, on) = match table {
                true => ("table constraint", ObjectAddress::relation(row.conrelid)),
                false => ("domain constraint", ObjectAddress::of::<PgType>(row.contypid)),
            };
            let mut id = part_of(core, kind, on, row.conname.as_str(), Some(schema))?;
            if !table {
                id.args.extend(id.names.pop());
            }
            id
        }
        PgRewrite::RELATION => {
            let row = row!(core, object, PG_REWRITE_OID_INDEX);
            let on = ObjectAddress::relation(row.ev_class);
            part_of(core, "rule", on, row.rulename.as_str(), None)?
        }
        PgTrigger::RELATION => {
            let row = row!(core, object, PG_TRIGGER_OID_INDEX);
            let on = ObjectAddress::relation(row.tgrelid);
            part_of(core, "trigger", on, row.tgname.as_str(), None)?
        }
        PgPolicy::RELATION => {
            let row = row!(core, object, PG_POLICY_OID_INDEX);
            let on = ObjectAddress::relation(row.polrelid);
            part_of(core, "policy", on, row.polname.as_str(), None)?
        }
        PgAttrdef::RELATION => {
            let row = row!(core, object, PG_ATTRDEF_OID_INDEX);
            let column = ObjectAddress::column(row.adrelid, row.adnum);
            let id = identify(core, column)?;
            Identity {
                kind: "default value".to_owned(),
                identity: id.identity.map(|t| format!("for {t}")),
                names: id.names,
                ..Identity::default()
            }
        }
        _ => missing(object.class),
    })
}

/// An operator class or family, whose name belongs to an access method.
fn by_method(
    core: &mut dyn SystemHost,
    kind: &str,
    schema: Oid,
    name: &str,
    method: String,
) -> Result<Identity> {
    let mut id = in_schema(core, kind, schema, name)?;
    let method_quoted = quote_identifier(&method);
    id.identity = id.identity.map(|t| format!("{t} USING {method_quoted}"));
    id.names.insert(0, method);
    Ok(id)
}

/// An object that belongs to a relation or domain.
fn part_of(
    core: &mut dyn SystemHost,
    kind: &str,
    whole: ObjectAddress,
    name: &str,
    schema: Option<String>,
) -> Result<Identity> {
    let on = identify(core, whole)?;
    let quoted = quote_identifier(name);
    let mut names = on.names;
    names.push(name.to_owned());
    Ok(Identity {
        kind: kind.to_owned(),
        schema: schema.map(|s| quote_identifier(&s)),
        name: None,
        identity: on.identity.map(|t| format!("{quoted} on {t}")),
        names,
        args: Vec::new(),
    })
}

/// A visibility function: true if the unqualified name of the object refers to it.
macro_rules! visible {
    ($name:literal, $index:ident, $find:expr) => {
        SysFn {
            name: $name,
            call: SysCall::One(|c, a| {
                let oid = a[0].as_oid();
                let Some(row) = c.catalog().scan(indexes::$index, &[oid.into()])?.pop() else {
                    return Ok(Datum::Null);
                };
                let find: fn(&mut dyn SystemHost, &_) -> Result<Option<Oid>> = $find;
                Ok(Datum::bool(find(c, &row)? == Some(oid)))
            }),
        }
    };
}

/// Searches the schemas of the search path and returns the first object found.
fn first_in_path(
    core: &mut dyn SystemHost,
    mut find: impl FnMut(&mut dyn SystemHost, Oid) -> Result<Option<Oid>>,
) -> Result<Option<Oid>> {
    for schema in core.catalog().persistent_schemas()? {
        if let Some(oid) = find(core, schema)? {
            return Ok(Some(oid));
        }
    }
    Ok(None)
}

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_describe_object", call: SysCall::One(|c, a| describe(c, address(a))) },
    visible!(
        "pg_collation_is_visible",
        PG_COLLATION_OID_INDEX,
        |c, r: &catalog::Row<PgCollation>| {
            c.catalog().find_collation(None, r.collname.as_str())
        }
    ),
    visible!("pg_opclass_is_visible", PG_OPCLASS_OID_INDEX, |c, r: &catalog::Row<PgOpclass>| {
        c.catalog().find_opclass(r.opcmethod, None, r.opcname.as_str())
    }),
    visible!("pg_opfamily_is_visible", PG_OPFAMILY_OID_INDEX, |c, r: &catalog::Row<PgOpfamily>| {
        c.catalog().find_opfamily(r.opfmethod, None, r.opfname.as_str())
    }),
    visible!("pg_conversion_is_visible", PG_CONVERSION_OID_INDEX, |c,
                                                                   r: &catalog::Row<
        PgConversion,
    >| {
        c.catalog().find_conversion(None, r.conname.as_str())
    }),
    visible!(
        "pg_ts_config_is_visible",
        PG_TS_CONFIG_OID_INDEX,
        |c, r: &catalog::Row<PgTsConfig>| { c.catalog().find_ts_config(None, r.cfgname.as_str()) }
    ),
    visible!("pg_ts_dict_is_visible", PG_TS_DICT_OID_INDEX, |c, r: &catalog::Row<PgTsDict>| {
        c.catalog().find_ts_dict(None, r.dictname.as_str())
    }),
    visible!(
        "pg_ts_parser_is_visible",
        PG_TS_PARSER_OID_INDEX,
        |c, r: &catalog::Row<PgTsParser>| {
            let name = r.prsname;
            first_in_path(c, |c, schema| {
                let keys = [name.as_str().into(), schema.into()];
                let index = indexes::PG_TS_PARSER_PRSNAME_INDEX;
                Ok(c.catalog().scan(index, &keys)?.pop().map(|r| r.oid))
            })
        }
    ),
    visible!("pg_ts_template_is_visible", PG_TS_TEMPLATE_OID_INDEX, |c,
                                                                     r: &catalog::Row<
        PgTsTemplate,
    >| {
        let name = r.tmplname;
        first_in_path(c, |c, schema| {
            let keys = [name.as_str().into(), schema.into()];
            let index = indexes::PG_TS_TEMPLATE_TMPLNAME_INDEX;
            Ok(c.catalog().scan(index, &keys)?.pop().map(|r| r.oid))
        })
    }),
    visible!("pg_statistics_obj_is_visible", PG_STATISTIC_EXT_OID_INDEX, |c,
                                                                          r: &catalog::Row<
        PgStatisticExt,
    >| {
        let name = r.stxname;
        first_in_path(c, |c, schema| {
            let keys = [name.as_str().into(), schema.into()];
            let index = indexes::PG_STATISTIC_EXT_NAME_INDEX;
            Ok(c.catalog().scan(index, &keys)?.pop().map(|r| r.oid))
        })
    }),
];
