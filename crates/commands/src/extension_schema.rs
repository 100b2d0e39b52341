//! ALTER EXTENSION … SET SCHEMA: moves the members of the extension.
//!
//! Counterpart: `AlterExtensionNamespace`.

use crate::relname::move_relation;
use catalog::ObjectAddress;
use catalog::object::ObjectClass;
use catalog::rows::{CatalogRow, PgClass, PgExtension, PgNamespace, PgType, indexes};
use define::creation;
use define::object::address;
use ids::Oid;
use ids::code::DepType;
use pgerror::{PgError, Result, bail};
use utility::host::CommandHost;
use utility::names;

/// ALTER EXTENSION … SET SCHEMA.
pub fn set_schema(host: &mut dyn CommandHost, extension: Oid, schema: &str) -> Result<()> {
    let row = host.catalog().scan(indexes::PG_EXTENSION_OID_INDEX, &[extension.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal("extension without a row"))?;
    let schema = creation::target_schema(host, schema)?;
    if !names::is_owner(host, row.extowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of extension {}", row.extname);
    }
    let this = ObjectAddress::of::<PgExtension>(extension);
    if !row.extrelocatable {
        bail!(FEATURE_NOT_SUPPORTED, "extension \"{}\" does not support SET SCHEMA", row.extname);
    }
    if row.extnamespace == schema {
        return Ok(());
    }
    creation::check_move(host, row.extnamespace, schema)?;
    let dependents = host.catalog().dependents_of(this)?;
    for d in dependents.iter().filter(|d| d.deptype == DepType::Extension) {
        let member = ObjectAddress { class: d.classid, object: d.objid, sub: d.objsubid };
        move_member(host, &row, member, schema)?;
    }
    let old = row.extnamespace;
    let mut cat = host.catalog();
    cat.update(&row, &PgExtension { extnamespace: schema, ..row.row.clone() })?;
    cat.change_dependency(this, PgNamespace::RELATION, old, schema)?;
    cat.increment_command_counter()
}

/// Moves an object that is in a schema, with its parts.
fn move_member(
    host: &mut dyn CommandHost,
    extension: &PgExtension,
    member: ObjectAddress,
    schema: Oid,
) -> Result<()> {
    if member.class == PgClass::RELATION {
        let rel = host.catalog().relation(member.object)?;
        return move_relation(host, &rel, schema);
    }
    let Some(class) = ObjectClass::of(member.class).filter(|c| c.is_in_schema()) else {
        return Ok(());
    };
    let mut cat = host.catalog();
    let row = cat.object_row(class, member.object)?;
    let old = row.namespace()?.unwrap_or_default();
    if old != extension.extnamespace {
        let (what, name) = (cat.describe_object(member)?, extension.extname);
        let shown = cat.namespace_name(extension.extnamespace)?.unwrap_or_default();
        return Err(pgerror::pg_err!(
            FEATURE_NOT_SUPPORTED,
            "extension \"{name}\" does not support SET SCHEMA"
        )
        .detail(format!("{what} is not in the extension's schema \"{shown}\"")));
    }
    if member.class != PgType::RELATION && !names::is_superuser(host)? {
        let name = row.name()?;
        address::must_own_row(host, &row, name.as_str())?;
    }
    let mut cat = host.catalog();
    cat.update_object(&row, &row.with_namespace(schema))?;
    cat.change_dependency(member, PgNamespace::RELATION, old, schema)?;
    if member.class == PgType::RELATION {
        let ty = cat.type_row(member.object)?;
        if let Some(array) = ty.typarray.valid() {
            let array = cat.type_row(array)?;
            cat.update(&array, &PgType { typnamespace: schema, ..array.row.clone() })?;
        }
        if ty.typrelid.is_valid() {
            let relation = ty.typrelid;
            drop(cat);
            let rel = host.catalog().relation(relation)?;
            return move_relation(host, &rel, schema);
        }
    }
    host.catalog().increment_command_counter()
}
