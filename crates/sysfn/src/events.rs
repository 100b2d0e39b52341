//! Functions that describe the event for functions of event triggers. Counterpart: event_trigger.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use crate::identity::identify_any;
use crate::object;
use catalog::ObjectAddress;
use catalog::object::ObjectClass;
use catalog::rows::{CatalogRow, PgConstraint, indexes};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use trigger::{ChangedObject, DroppedObject, ObjectIdentity};
use types::{Datum, DatumRef};

/// Kind and identity of an object.
pub fn identify(host: &mut dyn SystemHost, object: ObjectAddress) -> Result<ObjectIdentity> {
    let object::Identity { kind, identity, names, args, .. } = identify_any(host, object)?;
    Ok(ObjectIdentity { kind, identity, names, args })
}

fn misplaced(function: &str, place: &str) -> PgError {
    pg_err!(
        E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED,
        "{function} can only be called in {place} event trigger function"
    )
}

fn text(value: Option<&str>) -> Datum {
    value.map_or(Datum::Null, Datum::text)
}

fn dropped(host: &mut dyn SystemHost, _: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let command = host.running_commands().innermost().filter(|command| command.in_drop);
    let Some(command) = command else {
        return Err(misplaced("pg_event_trigger_dropped_objects()", "a sql_drop"));
    };
    // The objects that were dropped last come first.
    command.dropped.iter().rev().map(dropped_row).collect()
}

fn dropped_row(object: &DroppedObject) -> Result<Vec<Datum>> {
    let (address, identity) = (object.address, &object.identity);
    let has_names = identity.identity.is_some();
    let list = |values: &[String]| match has_names {
        true => crate::identity::texts(values),
        false => Ok(Datum::Null),
    };
    Ok(vec![
        Datum::oid(address.class),
        Datum::oid(address.object),
        Datum::int4(address.sub),
        Datum::bool(object.original),
        Datum::bool(object.normal),
        Datum::bool(object.is_temporary),
        Datum::text(&identity.kind),
        text(object.schema.as_deref()),
        text(object.name.as_deref()),
        text(identity.identity.as_deref()),
        list(&identity.names)?,
        list(&identity.args)?,
    ])
}

fn commands(host: &mut dyn SystemHost, _: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let Some(command) = host.running_commands().innermost() else {
        return Err(misplaced("pg_event_trigger_ddl_commands()", "an"));
    };
    let list = command.commands.clone();
    let mut rows = Vec::new();
    for command in list {
        let (tag, in_extension) = (command.tag, command.in_extension);
        let (address, described) = match command.object {
            ChangedObject::Privileges(kind) => {
                let described = [Datum::text(kind), Datum::Null, Datum::Null];
                ([Datum::Null, Datum::Null, Datum::Null], described)
            }
            ChangedObject::One(object) => {
                let ObjectIdentity { kind, identity, .. } = identify(host, object)?;
                // The command may have dropped the object again.
                let Some(identity) = identity else { continue };
                let schema = schema_of(host, object)?;
                let ObjectAddress { class, object, sub } = object;
                let described =
                    [Datum::text(&kind), text(schema.as_deref()), Datum::text(&identity)];
                ([Datum::oid(class), Datum::oid(object), Datum::int4(sub)], described)
            }
        };
        let mut row = Vec::from(address);
        row.push(Datum::text(tag));
        row.extend(described);
        row.extend([Datum::bool(in_extension), Datum::Word(0)]);
        rows.push(row);
    }
    Ok(rows)
}

/// The name of an object's schema, if it is in one.
fn schema_of(host: &mut dyn SystemHost, object: ObjectAddress) -> Result<Option<String>> {
    let schema = if object.class == PgConstraint::RELATION {
        let keys = [object.object.into()];
        let row = host.catalog().scan(indexes::PG_CONSTRAINT_OID_INDEX, &keys)?.pop();
        row.map(|row| row.connamespace)
    } else {
        let Some(class) = ObjectClass::of(object.class) else { return Ok(None) };
        let row = host.catalog().find_object_row(class, object.object)?;
        row.map(|row| row.namespace()).transpose()?.flatten()
    };
    schema.map(|schema| shown_schema(host, schema)).transpose()
}

/// The name of a schema; `pg_temp` for that of the session's temporary objects.
pub(crate) fn shown_schema(host: &mut dyn SystemHost, schema: Oid) -> Result<String> {
    match schema == host.catalog_session().temp_namespace && schema.is_valid() {
        true => Ok("pg_temp".to_owned()),
        false => object::schema_of(host, schema),
    }
}

fn rewrite(host: &mut dyn SystemHost, function: &str) -> Result<(Oid, i32)> {
    let rewritten = host.running_commands().innermost().and_then(|command| command.rewritten);
    rewritten.ok_or_else(|| misplaced(function, "a table_rewrite"))
}

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_event_trigger_dropped_objects", call: SysCall::Set(dropped) },
    SysFn { name: "pg_event_trigger_ddl_commands", call: SysCall::Set(commands) },
    SysFn {
        name: "pg_event_trigger_table_rewrite_oid",
        call: SysCall::One(|host, _| {
            let (table, _) = rewrite(host, "pg_event_trigger_table_rewrite_oid()")?;
            Ok(Datum::oid(table))
        }),
    },
    SysFn {
        name: "pg_event_trigger_table_rewrite_reason",
        call: SysCall::One(|host, _| {
            let (_, reason) = rewrite(host, "pg_event_trigger_table_rewrite_reason()")?;
            Ok(Datum::int4(reason))
        }),
    },
];
