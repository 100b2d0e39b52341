//! ALTER … RENAME TO, SET SCHEMA and OWNER TO: dispatch by kind of object, and the implementation
//! for objects of which only one column changes.
//!
//! Counterpart: alter.c.

use crate::{domain, extension_schema as extension, rename, schema, typecmd};
use catalog::object::{ObjectClass, ObjectRow};
use catalog::rows::{CatalogRow, PgEventTrigger, PgForeignDataWrapper, PgNamespace};
use clusterwide::{database, role, tablespace};
use define::object::address;
use define::object::kind::{class_of, is_generic, is_named};
use define::object::owner;
use define::routine::lookup;
use define::{creation, routine};
use ids::Oid;
use parse::ast::{AlterObjectSchemaStmt, AlterOwnerStmt, Node, ObjectType, RenameStmt};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::CommandHost;
use utility::names;

/// ALTER … RENAME.
pub fn rename(host: &mut dyn CommandHost, stmt: &RenameStmt) -> Result<()> {
    let new = stmt.newname.as_deref().map(|n| stdx::clip(n, 63)).unwrap_or_default();
    let old = stmt.subname.as_deref().unwrap_or_default();
    let parts = || stmt.object.as_ref().map(address::parts).unwrap_or_default();
    match stmt.rename_type {
        ObjectType::Table
        | ObjectType::Index
        | ObjectType::Sequence
        | ObjectType::View
        | ObjectType::Matview
        | ObjectType::Column
        | ObjectType::Attribute
        | ObjectType::Tabconstraint
        | ObjectType::Rule
        | ObjectType::Trigger => rename::rename(host, stmt, new),
        ObjectType::Schema => schema::rename(host, old, new),
        ObjectType::Role => role::rename(host, old, new),
        ObjectType::Type | ObjectType::Domain => {
            typecmd::rename(host, &parts(), new, stmt.rename_type == ObjectType::Domain)
        }
        ObjectType::Domconstraint => domain::rename_constraint(host, &parts(), old, new),
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            let oid = lookup::named(host, stmt.object.as_ref(), stmt.rename_type)?;
            routine::rename(host, oid, new)
        }
        ObjectType::Database => database::rename(host, old, new),
        ObjectType::Tablespace => tablespace::rename(host, old, new),
        kind if is_generic(kind) => {
            // Objects without a schema are identified by their name alone.
            let name = stmt.subname.clone().map(Node::String);
            let row = find(host, kind, stmt.object.as_ref().or(name.as_ref()))?;
            rename_row(host, &row, new)
        }
        other => Err(PgError::unsupported(format!("RENAME of kind {other:?}"))),
    }
}

/// ALTER … SET SCHEMA.
pub fn set_schema(host: &mut dyn CommandHost, stmt: &AlterObjectSchemaStmt) -> Result<()> {
    match stmt.object_type {
        ObjectType::Table | ObjectType::Sequence | ObjectType::View | ObjectType::Matview => {
            rename::set_schema(host, stmt)
        }
        ObjectType::Type | ObjectType::Domain => {
            let parts = stmt.object.as_ref().map(address::parts).unwrap_or_default();
            let domain = stmt.object_type == ObjectType::Domain;
            typecmd::set_schema(host, &parts, &stmt.newschema, domain)
        }
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            let oid = lookup::named(host, stmt.object.as_ref(), stmt.object_type)?;
            routine::set_schema(host, oid, &stmt.newschema)
        }
        ObjectType::Extension => {
            let row = find(host, stmt.object_type, stmt.object.as_ref())?;
            extension::set_schema(host, row.oid()?, &stmt.newschema)
        }
        kind if is_generic(kind) && class_of(kind)?.is_in_schema() => {
            let row = find(host, kind, stmt.object.as_ref())?;
            let schema = creation::target_schema(host, &stmt.newschema)?;
            move_row(host, &row, schema)
        }
        other => Err(PgError::unsupported(format!("SET SCHEMA of kind {other:?}"))),
    }
}

/// ALTER … OWNER TO for objects other than relations.
pub fn set_owner(host: &mut dyn CommandHost, stmt: &AlterOwnerStmt) -> Result<()> {
    let owner = names::role_oid(host, &stmt.newowner)?;
    let parts = stmt.object.as_ref().map(address::parts).unwrap_or_default();
    let name = parts.last().copied().unwrap_or("");
    match stmt.object_type {
        ObjectType::Schema => schema::set_owner(host, name, owner),
        ObjectType::Database => database::set_owner(host, name, owner),
        ObjectType::Tablespace => tablespace::set_owner(host, name, owner),
        ObjectType::Type | ObjectType::Domain => {
            let domain = stmt.object_type == ObjectType::Domain;
            typecmd::set_owner(host, &parts, owner, domain)
        }
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            let oid = lookup::named(host, stmt.object.as_ref(), stmt.object_type)?;
            routine::set_owner(host, oid, owner)
        }
        kind if is_generic(kind) || kind == ObjectType::Largeobject => {
            let row = find(host, kind, stmt.object.as_ref())?;
            change_owner(host, &row, owner)
        }
        other => Err(PgError::unsupported(format!("OWNER TO of kind {other:?}"))),
    }
}

/// The row of an object of which only one column changes.
fn find(host: &mut dyn CommandHost, kind: ObjectType, node: Option<&Node>) -> Result<ObjectRow> {
    let Some(node) = node else { return Err(PgError::internal("statement without an object")) };
    if is_named(kind) {
        return address::named(host, kind, node);
    }
    let found = address::resolve(host, kind, node, false)?;
    let object = found.ok_or_else(|| PgError::internal("object was not found"))?;
    let class = ObjectClass::of(object.class);
    let class = class.ok_or_else(|| PgError::internal("object without a class"))?;
    host.catalog().object_row(class, object.object)
}

/// Counterpart: `AlterObjectRename_internal`.
fn rename_row(host: &mut dyn CommandHost, row: &ObjectRow, new: &str) -> Result<()> {
    let old = row.name()?;
    if !names::is_superuser(host)? {
        if !row.class.has_owner() {
            let what = host.catalog().describe_object(row.class.address(row.oid()?))?;
            bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to rename {what}");
        }
        address::must_own_row(host, row, old.as_str())?;
        if let Some(schema) = row.namespace()? {
            creation::may_create_in(host, schema)?;
        }
    }
    name_is_free(host, row, row.namespace()?, new)?;
    let mut cat = host.catalog();
    cat.update_object(row, &row.with_name(new))?;
    cat.increment_command_counter()
}

/// Error 42710 if the schema has an object of this class and name.
fn name_is_free(
    host: &mut dyn CommandHost,
    row: &ObjectRow,
    schema: Option<Oid>,
    name: &str,
) -> Result<()> {
    let mut cat = host.catalog();
    if cat.object_in(row.class, row.method()?, schema, name)?.is_none() {
        return Ok(());
    }
    let mut what = format!("{} \"{name}\"", row.class.noun);
    if let Some(method) = row.method()? {
        let method = cat.access_method_name(method)?;
        what += &format!(" for access method \"{method}\"");
    }
    let Some(schema) = schema else { bail!(DUPLICATE_OBJECT, "{what} already exists") };
    let schema = cat.namespace_name(schema)?.unwrap_or_default();
    bail!(DUPLICATE_OBJECT, "{what} already exists in schema \"{schema}\"")
}

/// Counterpart: `AlterObjectNamespace_internal`.
fn move_row(host: &mut dyn CommandHost, row: &ObjectRow, schema: Oid) -> Result<()> {
    let Some(old) = row.namespace()? else {
        return Err(PgError::internal("object without a schema"));
    };
    if old == schema {
        return Ok(());
    }
    creation::check_move(host, old, schema)?;
    let this = row.class.address(row.oid()?);
    let name = row.name()?;
    if !names::is_superuser(host)? {
        if !row.class.has_owner() {
            let what = host.catalog().describe_object(this)?;
            bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to set schema of {what}");
        }
        address::must_own_row(host, row, name.as_str())?;
    }
    // Operators with different operand types may have the same name; only the unique index checks
    // them.
    if row.class.noun != "operator" {
        name_is_free(host, row, Some(schema), name.as_str())?;
    }
    let mut cat = host.catalog();
    cat.update_object(row, &row.with_namespace(schema))?;
    cat.change_dependency(this, PgNamespace::RELATION, old, schema)?;
    cat.increment_command_counter()
}

/// Counterpart: `AlterObjectOwner_internal`.
fn change_owner(host: &mut dyn CommandHost, row: &ObjectRow, new: Oid) -> Result<()> {
    if row.owner()? == Some(new) {
        return Ok(());
    }
    let name = row.name()?;
    if row.class.catalog == PgForeignDataWrapper::RELATION {
        only_superusers(host, name.as_str(), new)?;
    }
    if row.class.catalog == PgEventTrigger::RELATION {
        address::must_own_row(host, row, name.as_str())?;
        if !host.catalog().is_superuser(new)? {
            let message = format!("permission denied to change owner of event trigger \"{name}\"");
            return Err(pg_err!(INSUFFICIENT_PRIVILEGE, "{message}")
                .hint("The owner of an event trigger must be a superuser."));
        }
        return owner::set(host, row, new);
    }
    if !names::is_superuser(host)? {
        address::must_own_row(host, row, name.as_str())?;
        names::must_be_member(host, new)?;
        if let Some(schema) = row.namespace()? {
            owner::may_create_in(host, new, schema)?;
        }
    }
    owner::set(host, row, new)
}

/// Error 42501 unless the user and the new owner of a foreign-data wrapper are superusers.
fn only_superusers(host: &mut dyn CommandHost, name: &str, owner: Oid) -> Result<()> {
    let message = || {
        pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied to change owner of foreign-data wrapper \"{name}\""
        )
    };
    if !names::is_superuser(host)? {
        return Err(message().hint("Must be superuser to change owner of a foreign-data wrapper."));
    }
    if !host.catalog().is_superuser(owner)? {
        return Err(message().hint("The owner of a foreign-data wrapper must be a superuser."));
    }
    Ok(())
}
