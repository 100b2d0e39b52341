//! The temporary schemas of a session.
//!
//! Counterpart: `InitTempTableNamespace` of namespace.c.

use crate::deletion::drop_objects;
use catalog::ObjectAddress;
use catalog::depend::DropBehavior;
use catalog::rows::{PgNamespace, indexes};
use ids::Oid;
use ids::builtin::role;
use pgerror::{Result, bail};
use utility::host::CommandHost;

/// OID of the schema for temporary objects, created on first use.
pub fn schema(host: &mut dyn CommandHost) -> Result<Oid> {
    if let Some(oid) = host.catalog().session.temp_namespace.valid() {
        return Ok(oid);
    }
    let user = utility::names::user(host);
    let database = host.backend().database();
    let row = host.catalog().database(database)?;
    if let Some(row) = row {
        let (kind, right) = (catalog::acl::Kind::Database, catalog::acl::CREATE_TEMP);
        let list = row.datacl.as_deref();
        if !host.catalog().has_privilege(user, row.datdba, list, kind, right)? {
            bail!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to create temporary tables in database \"{}\"",
                row.datname
            );
        }
    }
    host.backend().ensure_temp_pool()?;
    let number = host.backend().backend_no().0;
    let temp = open_or_create(host, &format!("pg_temp_{number}"), true)?;
    let toast = open_or_create(host, &format!("pg_toast_temp_{number}"), false)?;
    host.catalog().session.set_temp_namespace(temp, toast);
    host.temp_schema_made(temp, toast);
    Ok(temp)
}

/// The schema with this name; objects left by a crashed session are dropped.
fn open_or_create(host: &mut dyn CommandHost, name: &str, clear: bool) -> Result<Oid> {
    let mut cat = host.catalog();
    if let Some(oid) = cat.find_namespace(name)? {
        if clear {
            remove_contents(host, oid)?;
        }
        return Ok(oid);
    }
    let oid = cat.new_oid(indexes::PG_NAMESPACE_OID_INDEX)?;
    cat.insert(&PgNamespace {
        oid,
        nspname: name.into(),
        nspowner: role::BOOTSTRAP_SUPERUSER,
        nspacl: None,
    })?;
    cat.increment_command_counter()?;
    Ok(oid)
}

/// Drops all temporary objects of the schema. Counterpart: `RemoveTempRelations`.
pub fn remove_contents(host: &mut dyn CommandHost, schema: Oid) -> Result<()> {
    let dependents = host.catalog().dependents_of(ObjectAddress::of::<PgNamespace>(schema))?;
    let objects: Vec<ObjectAddress> = dependents
        .iter()
        .map(|d| ObjectAddress { class: d.classid, object: d.objid, sub: d.objsubid })
        .collect();
    if objects.is_empty() {
        return Ok(());
    }
    drop_objects(host, &objects, DropBehavior::Cascade, true)
}

/// DISCARD TEMP, and the end of a session: drops the objects in the temporary schema.
pub fn clear(host: &mut dyn CommandHost) -> Result<()> {
    match host.catalog().session.temp_namespace.valid() {
        Some(schema) => remove_contents(host, schema),
        None => Ok(()),
    }
}
