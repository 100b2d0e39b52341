//! Objects that a command drops. Counterpart: `EventTriggerSQLDropAddObject`.

use catalog::ObjectAddress;
use catalog::depend::DropOrigin;
use catalog::object::ObjectClass;
use catalog::rows::{
    CatalogRow, PgAttrdef, PgConstraint, PgEventTrigger, PgNamespace, PgOperator, PgPolicy, PgProc,
    PgRewrite, PgTrigger, indexes,
};
use ids::Oid;
use pgerror::Result;
use trigger::DroppedObject;
use utility::host::CommandHost;

/// Schema and name of an object, and whether it is one of this session's temporary objects.
#[derive(Default)]
struct Place {
    is_temporary: bool,
    schema: Option<String>,
    name: Option<String>,
}

/// Notes an object that is about to be dropped, for the running command.
pub fn note(host: &mut dyn CommandHost, address: ObjectAddress, origin: DropOrigin) -> Result<()> {
    if host.trigger_host().triggers().commands.innermost().is_none()
        || address.class == PgEventTrigger::RELATION
    {
        return Ok(());
    }
    // Temporary objects of other sessions are not reported.
    let Some(place) = place_of(host, address)? else { return Ok(()) };
    let identity = host.trigger_host().identify(address)?;
    let Place { is_temporary, schema, name } = place;
    let DropOrigin { original, normal, .. } = origin;
    if let Some(command) = host.trigger_host().triggers().commands.innermost() {
        command.dropped.push(DroppedObject {
            address,
            original,
            normal,
            is_temporary,
            schema,
            name,
            identity,
        });
    }
    Ok(())
}

fn place_of(host: &mut dyn CommandHost, address: ObjectAddress) -> Result<Option<Place>> {
    let oid = address.object;
    match address.class {
        PgNamespace::RELATION => {
            let name = host.catalog().namespace_name(oid)?.map(|n| n.to_string());
            let is_temporary = oid == host.catalog().session.temp_namespace;
            let other = name.as_ref().is_some_and(|n| n.starts_with("pg_temp_")) && !is_temporary;
            return Ok((!other).then_some(Place { is_temporary, schema: None, name }));
        }
        PgAttrdef::RELATION => {
            let row = host.catalog().scan(indexes::PG_ATTRDEF_OID_INDEX, &[oid.into()])?.pop();
            return row.map_or(Ok(Some(Place::default())), |row| part_of(host, row.adrelid));
        }
        PgTrigger::RELATION => {
            let row = host.catalog().scan(indexes::PG_TRIGGER_OID_INDEX, &[oid.into()])?.pop();
            return row.map_or(Ok(Some(Place::default())), |row| part_of(host, row.tgrelid));
        }
        PgPolicy::RELATION => {
            let row = host.catalog().scan(indexes::PG_POLICY_OID_INDEX, &[oid.into()])?.pop();
            return row.map_or(Ok(Some(Place::default())), |row| part_of(host, row.polrelid));
        }
        PgConstraint::RELATION => {
            let row = host.catalog().scan(indexes::PG_CONSTRAINT_OID_INDEX, &[oid.into()])?.pop();
            return row.map_or(Ok(Some(Place::default())), |row| in_schema(host, row.connamespace));
        }
        _ => {}
    }
    let Some(class) = ObjectClass::of(address.class) else { return Ok(Some(Place::default())) };
    let Some(row) = host.catalog().find_object_row(class, oid)? else {
        return Ok(Some(Place::default()));
    };
    let place = match row.namespace()? {
        Some(schema) => in_schema(host, schema)?,
        None => Some(Place::default()),
    };
    let is_unique =
        !matches!(class.catalog, PgProc::RELATION | PgOperator::RELATION | PgRewrite::RELATION);
    let name = match is_unique && address.sub == 0 && class.has_name() {
        true => Some(row.name()?.to_string()),
        false => None,
    };
    Ok(place.map(|place| Place { name, ..place }))
}

/// The place of a part of a relation.
fn part_of(host: &mut dyn CommandHost, relation: Oid) -> Result<Option<Place>> {
    let class = host.catalog().find_class(relation)?;
    match class {
        Some(class) => in_schema(host, class.relnamespace),
        None => Ok(Some(Place::default())),
    }
}

/// The place of an object in this schema; `None` in the temporary schema of another session.
fn in_schema(host: &mut dyn CommandHost, schema: Oid) -> Result<Option<Place>> {
    let mut cat = host.catalog();
    let is_own = schema == cat.session.temp_namespace || schema == cat.session.temp_toast_namespace;
    let name = cat.namespace_name(schema)?.map(|n| n.to_string());
    let is_temp = |n: &String| n.starts_with("pg_temp_") || n.starts_with("pg_toast_temp_");
    if is_own && schema.is_valid() {
        let (schema, name) = (Some("pg_temp".to_owned()), None);
        return Ok(Some(Place { is_temporary: true, schema, name }));
    }
    let other = name.as_ref().is_some_and(is_temp);
    Ok((!other).then_some(Place { is_temporary: false, schema: name, name: None }))
}
