//! Rows of `pg_type`: look-up, names of types and their array types, insertion.
//!
//! Counterpart: pg_type.c.

use crate::{creation, default_acl};
use catalog::rows::{Name, PgCollation, PgNamespace, PgType, indexes};
use catalog::{ObjectAddress, Row};
use ids::Oid;
use ids::builtin::proc;
use ids::code::{Align, ColumnStorage, DepType, TypCategory, TypType};
use parse::ast::{Name as AstName, ObjectType, RangeVar};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::CommandHost;
use utility::names;

/// The type with this qualified name. Error 42704 if there is none.
pub fn find(host: &mut dyn CommandHost, parts: &[&str]) -> Result<Row<PgType>> {
    let (schema, name) = match parts {
        [.., schema, name] => (Some(*schema), *name),
        [name] => (None, *name),
        [] => return Err(PgError::internal("type without a name")),
    };
    match host.catalog().find_type_by_name(schema, name)? {
        Some(oid) => {
            let row = host.catalog().scan(indexes::PG_TYPE_OID_INDEX, &[oid.into()])?.pop();
            row.ok_or_else(|| PgError::internal(format!("cache lookup failed for type {oid}")))
        }
        None => {
            if let Some(schema) = schema {
                host.catalog().namespace(schema)?;
            }
            let shown = catalog::namespace::qualified(schema, name);
            bail!(UNDEFINED_OBJECT, "type \"{shown}\" does not exist")
        }
    }
}

/// Error 42501 unless the user owns the type.
pub fn must_own(host: &mut dyn CommandHost, row: &PgType) -> Result<()> {
    if !names::is_owner(host, row.typowner)? {
        let shown = host.catalog().format_type(row.oid)?;
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of type {shown}");
    }
    Ok(())
}

/// Schema and name of a new type or function from a qualified name.
pub fn new_name(host: &mut dyn CommandHost, parts: &[AstName]) -> Result<(Oid, String)> {
    let list: Vec<&str> = parts.iter().map(|p| &**p).collect();
    let rv: RangeVar = names::range_var_of(&list)?;
    let (schema, _) = creation::creation_target(host, &rv)?;
    Ok((schema, stdx::clip(&rv.relname, 63).to_string()))
}

/// Error 42710 if a type with this name exists. A conflicting automatic array type is renamed.
pub fn name_is_free(host: &mut dyn CommandHost, schema: Oid, name: &str) -> Result<()> {
    let Some(old) = host.catalog().type_in(schema, name)? else { return Ok(()) };
    let row = host.catalog().type_row(old)?;
    let made = row.typelem.is_valid()
        && host.catalog().find_type(row.typelem)?.is_some_and(|e| e.typarray == old);
    if !made {
        bail!(DUPLICATE_OBJECT, "type \"{name}\" already exists");
    }
    let free = array_type_name(host, name, schema)?;
    let new = PgType { typname: Name::new(&free), ..row.row.clone() };
    host.catalog().update(&row, &new)?;
    host.catalog().increment_command_counter()
}

/// Inserts a type and its array type, with their dependencies.
pub fn insert_with_array(host: &mut dyn CommandHost, mut row: PgType) -> Result<()> {
    let name = row.typname.to_string();
    let array = host.catalog().new_oid(indexes::PG_TYPE_OID_INDEX)?;
    let array_name = array_type_name(host, &name, row.typnamespace)?;
    row.typarray = array;
    let (owner, schema) = (row.typowner, row.typnamespace);
    row.typacl = default_acl::of_new_object(host, ObjectType::Type, owner, schema)?;
    let array_row = array_type_row(array, &array_name, &row);
    let ty = ObjectAddress::of::<PgType>;
    let mut cat = host.catalog();
    cat.insert(&row)?;
    let this = ty(row.oid);
    let schema = ObjectAddress::of::<PgNamespace>(row.typnamespace);
    cat.record_dependency(this, schema, DepType::Normal)?;
    cat.record_owner(this, row.typowner)?;
    if let Some(base) = row.typbasetype.valid() {
        cat.record_dependency(this, ty(base), DepType::Normal)?;
    }
    if let Some(collation) = row.typcollation.valid() {
        let collation = ObjectAddress::of::<PgCollation>(collation);
        cat.record_dependency(this, collation, DepType::Normal)?;
    }
    drop(cat);
    default_acl::record_acl_dependencies(host, this, row.typacl.as_deref(), owner)?;
    let mut cat = host.catalog();
    cat.insert(&array_row)?;
    cat.record_dependency(ty(array), this, DepType::Internal)?;
    if let Some(collation) = row.typcollation.valid() {
        let collation = ObjectAddress::of::<PgCollation>(collation);
        cat.record_dependency(ty(array), collation, DepType::Normal)?;
    }
    cat.increment_command_counter()
}

/// A free name for the array type of `name`. Counterpart: `makeArrayTypeName`.
pub fn array_type_name(host: &mut dyn CommandHost, name: &str, schema: Oid) -> Result<String> {
    let mut candidate = name.to_string();
    for _ in 1..63 {
        candidate = stdx::clip(&format!("_{candidate}"), 63).to_string();
        if host.catalog().type_in(schema, &candidate)?.is_none() {
            return Ok(candidate);
        }
    }
    bail!(DUPLICATE_OBJECT, "could not form array type name for type \"{name}\"")
}

/// The `pg_type` row of the array type of `element`.
pub fn array_type_row(oid: Oid, name: &str, element: &PgType) -> PgType {
    PgType {
        oid,
        typname: Name::new(name),
        typlen: -1,
        typbyval: false,
        typtype: TypType::Base,
        typcategory: TypCategory::ARRAY,
        typrelid: Oid::INVALID,
        typsubscript: proc::ARRAY_SUBSCRIPT_HANDLER,
        typelem: element.oid,
        typarray: Oid::INVALID,
        typinput: proc::ARRAY_IN,
        typoutput: proc::ARRAY_OUT,
        typreceive: proc::ARRAY_RECV,
        typsend: proc::ARRAY_SEND,
        typmodin: element.typmodin,
        typmodout: element.typmodout,
        typanalyze: proc::ARRAY_TYPANALYZE,
        typalign: if element.typalign == Align::Double { Align::Double } else { Align::Int },
        typstorage: ColumnStorage::Extended,
        typnotnull: false,
        typbasetype: Oid::INVALID,
        typtypmod: -1,
        typndims: 0,
        typcollation: element.typcollation,
        typdefaultbin: None,
        typdefault: None,
        typacl: None,
        ..element.clone()
    }
}

/// Error 42710 if a type with the relation's name exists. A conflicting automatic array type is
/// renamed.
pub fn check_row_type_name(host: &mut dyn CommandHost, schema: Oid, name: &str) -> Result<()> {
    let Some(old) = host.catalog().type_in(schema, name)? else { return Ok(()) };
    let row = host.catalog().type_row(old)?;
    let is_auto_array = row.typelem.is_valid()
        && host.catalog().find_type(row.typelem)?.is_some_and(|e| e.typarray == old);
    if is_auto_array {
        let free = array_type_name(host, name, schema)?;
        let new = PgType { typname: Name::new(&free), ..row.row.clone() };
        host.catalog().update(&row, &new)?;
        return host.catalog().increment_command_counter();
    }
    Err(pg_err!(DUPLICATE_OBJECT, "type \"{}\" already exists", name).hint(
        "A relation has an associated type of the same name, so you must use a name that \
         doesn't conflict with any existing type.",
    ))
}
