//! The temporary schemas of a session.
//!
//! Counterpart: `AccessTempTableNamespace` and `RemoveTempRelations` of namespace.c.

use crate::deletion::drop_objects;
use catalog::ObjectAddress;
use catalog::depend::DropBehavior;
use catalog::rows::PgNamespace;
use ids::Oid;
use pgerror::Result;
use utility::host::CommandHost;

/// OID of the schema for temporary objects, created on first use.
pub fn schema(host: &mut dyn CommandHost) -> Result<Oid> {
    host.backend().note_temp_access();
    if let Some(oid) = host.catalog().session.temp_namespace.valid() {
        return Ok(oid);
    }
    host.backend().ensure_temp_pool()?;
    let (database, number) = (host.backend().database(), host.backend().backend_no().0);
    let opened = host.catalog().open_temp_schemas(database, number)?;
    if opened.has_leftovers {
        remove_contents(host, opened.schema)?;
    }
    host.temp_schema_made(opened.schema, opened.toast);
    Ok(opened.schema)
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
