//! CREATE TRANSFORM.
//!
//! Counterpart: functioncmds.c (`CreateTransform`).

use crate::routine::lookup::{find, type_of};
use analyze::typename::type_name_text;
use catalog::ObjectAddress;
use catalog::acl::{self, Kind};
use catalog::rows::{PgLanguage, PgProc, PgTransform, PgType, indexes};
use ids::Oid;
use ids::code::{DepType, ProKind, TypType, Volatility};
use parse::ast::{CreateTransformStmt, ObjectType, ObjectWithArgs, TypeName};
use pgerror::{PgError, Result, SqlState, bail};
use types::oids;
use utility::host::CommandHost;
use utility::names;

fn invalid(message: &str) -> PgError {
    PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// The type, which the user must own.
fn transformed_type(host: &mut dyn CommandHost, name: &TypeName) -> Result<Oid> {
    let oid = type_of(host, name)?;
    let row = host.catalog().type_row(oid)?;
    let shown = type_name_text(name);
    match row.typtype {
        TypType::Pseudo => bail!(WRONG_OBJECT_TYPE, "data type {shown} is a pseudo-type"),
        TypType::Domain => bail!(WRONG_OBJECT_TYPE, "data type {shown} is a domain"),
        _ => {}
    }
    crate::typerow::must_own(host, &row)?;
    names::check_type_privilege(host, oid)?;
    Ok(oid)
}

fn usable_language(host: &mut dyn CommandHost, name: &str) -> Result<Oid> {
    let user = names::user(host);
    let Some(row) = host.catalog().find_language(name)? else {
        bail!(UNDEFINED_OBJECT, "language \"{name}\" does not exist");
    };
    let (owner, list) = (row.lanowner, row.lanacl.as_deref());
    if !host.catalog().has_privilege(user, owner, list, Kind::Language, acl::USAGE)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for language {name}");
    }
    Ok(row.oid)
}

/// The function of one direction, which the user must own; `result` is what it must return, as an
/// OID and in words.
fn function(
    host: &mut dyn CommandHost,
    named: Option<&ObjectWithArgs>,
    result: (Oid, &str),
) -> Result<Oid> {
    let Some(named) = named else { return Ok(Oid::INVALID) };
    let oid = find(host, named, ObjectType::Function, false)?
        .ok_or_else(|| PgError::internal("routine was not found"))?;
    let row = host.catalog().function(oid)?;
    let name = row.proname.as_str();
    if !names::is_owner(host, row.proowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of function {name}");
    }
    let (user, list) = (names::user(host), row.proacl.as_deref());
    if !host.catalog().has_privilege(user, row.proowner, list, Kind::Function, acl::EXECUTE)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for function {name}");
    }
    let (ty, text) = result;
    if row.prorettype != ty {
        return Err(invalid(text));
    }
    if row.provolatile == Volatility::Volatile {
        return Err(invalid("transform function must not be volatile"));
    }
    if row.prokind != ProKind::Function {
        return Err(invalid("transform function must be a normal function"));
    }
    if row.proretset {
        return Err(invalid("transform function must not return a set"));
    }
    let args = &row.proargtypes.0;
    if args.len() != 1 {
        return Err(invalid("transform function must take one argument"));
    }
    if args[0] != oids::INTERNAL {
        return Err(invalid("first argument of transform function must be type internal"));
    }
    Ok(oid)
}

/// CREATE [OR REPLACE] TRANSFORM.
pub fn create(host: &mut dyn CommandHost, stmt: &CreateTransformStmt) -> Result<()> {
    let ty = transformed_type(host, &stmt.type_name)?;
    let language = usable_language(host, &stmt.lang)?;
    let from = (oids::INTERNAL, "return data type of FROM SQL function must be internal");
    let from = function(host, stmt.fromsql.as_deref(), from)?;
    let to = (ty, "return data type of TO SQL function must be the transform data type");
    let to = function(host, stmt.tosql.as_deref(), to)?;
    let mut cat = host.catalog();
    let keys = [ty.into(), language.into()];
    let old = cat.scan(indexes::PG_TRANSFORM_TYPE_LANG_INDEX, &keys)?.pop();
    let oid = match &old {
        Some(_) if !stmt.replace => {
            let (ty, name) = (cat.format_type(ty)?, &stmt.lang);
            bail!(DUPLICATE_OBJECT, "transform for type {ty} language \"{name}\" already exists");
        }
        Some(old) => old.oid,
        None => cat.new_oid(indexes::PG_TRANSFORM_OID_INDEX)?,
    };
    let row = PgTransform { oid, trftype: ty, trflang: language, trffromsql: from, trftosql: to };
    let this = ObjectAddress::of::<PgTransform>(oid);
    match &old {
        Some(old) => {
            cat.update(old, &row)?;
            cat.delete_dependencies(this, true)?;
        }
        None => {
            cat.insert(&row)?;
        }
    }
    let functions = [from, to];
    let functions = functions.iter().filter_map(|f| f.valid());
    let objects = [ObjectAddress::of::<PgLanguage>(language), ObjectAddress::of::<PgType>(ty)];
    let functions: Vec<ObjectAddress> = functions.map(ObjectAddress::of::<PgProc>).collect();
    for object in objects.into_iter().chain(functions) {
        cat.record_dependency(this, object, DepType::Normal)?;
    }
    cat.increment_command_counter()
}

/// The transform of a type for a language; 42704 if there is none.
pub(crate) fn named(host: &mut dyn CommandHost, ty: Oid, language: &PgLanguage) -> Result<Oid> {
    let keys = [ty.into(), language.oid.into()];
    let found = host.catalog().scan(indexes::PG_TRANSFORM_TYPE_LANG_INDEX, &keys)?.pop();
    match found {
        Some(row) => Ok(row.oid),
        None => {
            let (ty, name) = (host.catalog().format_type(ty)?, &language.lanname);
            bail!(UNDEFINED_OBJECT, "transform for type {ty} language \"{name}\" does not exist")
        }
    }
}
