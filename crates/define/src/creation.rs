//! New objects: their schema and persistence, and generated names.
//!
//! Counterpart: namespace.c (`RangeVarGetCreationNamespace`), indexcmds.c (`ChooseRelationName`).

use crate::temp;
use catalog::rows::{CatalogRow, PgNamespace, indexes};
use catalog::{ObjectAddress, acl};
use ids::{Oid, Persistence};
use parse::ast::RangeVar;
use pgerror::{Result, bail};
use stdx::clip;
use utility::host::CommandHost;
use utility::names;

/// The schema of SET SCHEMA, in which the user must have CREATE. This is checked before the owner
/// of the object is. Counterpart: `LookupCreationNamespace`.
pub fn target_schema(host: &mut dyn CommandHost, name: &str) -> Result<Oid> {
    let schema = match name {
        "pg_temp" => temp::schema(host)?,
        // The privilege USAGE is not required.
        name => match host.catalog().find_namespace(name)? {
            Some(oid) => oid,
            None => bail!(INVALID_SCHEMA_NAME, "schema \"{name}\" does not exist"),
        },
    };
    may_create_in(host, schema)?;
    Ok(schema)
}

/// Error 0A000 if an object is moved into or out of a temporary schema or that of TOAST tables.
/// Counterpart: `CheckSetNamespace`.
pub fn check_move(host: &mut dyn CommandHost, old: Oid, new: Oid) -> Result<()> {
    for schema in [old, new] {
        let name = host.catalog().namespace_name(schema)?.unwrap_or_default();
        let name = name.as_str();
        if name.starts_with("pg_temp_") || name.starts_with("pg_toast_temp_") {
            bail!(FEATURE_NOT_SUPPORTED, "cannot move objects into or out of temporary schemas");
        }
    }
    if [old, new].contains(&catalog::namespace::PG_TOAST) {
        bail!(FEATURE_NOT_SUPPORTED, "cannot move objects into or out of TOAST schema");
    }
    Ok(())
}

/// Error 42501 unless the user has CREATE on the schema.
pub fn may_create_in(host: &mut dyn CommandHost, schema: Oid) -> Result<()> {
    let user = names::user(host);
    let mut cat = host.catalog();
    if cat.schema_privileges(user, schema, acl::CREATE)? == 0 {
        let name = cat.namespace_name(schema)?.unwrap_or_default();
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for schema {name}");
    }
    Ok(())
}

/// The session's temporary schema. The role may have lost the right to create objects in it.
fn own_temp_schema(host: &mut dyn CommandHost) -> Result<Oid> {
    let schema = temp::schema(host)?;
    may_create_in(host, schema)?;
    Ok(schema)
}

/// Schema and persistence of a new relation. Counterpart: `RangeVarGetAndCheckCreationNamespace`,
/// `RangeVarAdjustRelationPersistence`.
pub fn creation_target(host: &mut dyn CommandHost, rv: &RangeVar) -> Result<(Oid, Persistence)> {
    names::check_database(host, rv)?;
    let mut persistence = rv.relpersistence;
    let named = rv.schemaname.as_deref();
    if persistence == Persistence::Temporary {
        if let Some(schema) = named
            && schema != "pg_temp"
        {
            let oid = host.catalog().namespace(schema)?;
            if oid != host.catalog().session.temp_namespace {
                bail!(
                    INVALID_TABLE_DEFINITION,
                    "cannot create temporary relation in non-temporary schema"
                );
            }
        }
        return Ok((own_temp_schema(host)?, persistence));
    }
    let into_temp =
        named == Some("pg_temp") || named.is_none() && host.catalog().search_path()?.temp_creation;
    if into_temp {
        if persistence == Persistence::Unlogged {
            bail!(
                INVALID_TABLE_DEFINITION,
                "only temporary relations may be created in temporary schemas"
            );
        }
        return Ok((own_temp_schema(host)?, Persistence::Temporary));
    }
    let schema = loop {
        let schema = host.catalog().creation_namespace(named)?;
        // A schema that is being dropped: its name is looked up again.
        if !host.catalog().keep_object(ObjectAddress::new(PgNamespace::RELATION, schema))? {
            break schema;
        }
    };
    let temp = host.catalog().session.temp_namespace;
    if temp.is_valid() && schema == temp {
        persistence = Persistence::Temporary;
    }
    may_create_in(host, schema)?;
    Ok((schema, persistence))
}

/// `name1_name2_label`, with the longer name truncated so that the result fits. Counterpart:
/// `makeObjectName`.
pub fn object_name(name1: &str, name2: Option<&str>, label: Option<&str>) -> String {
    let mut room = 63usize;
    if name2.is_some() {
        room -= 1;
    }
    if let Some(label) = label {
        room = room.saturating_sub(label.len() + 1);
    }
    let (mut len1, mut len2) = (name1.len(), name2.map_or(0, str::len));
    while len1 + len2 > room {
        if len1 > len2 {
            len1 -= 1;
        } else {
            len2 -= 1;
        }
    }
    let mut out = clip(name1, len1).to_string();
    if let Some(name2) = name2 {
        out.push('_');
        out.push_str(clip(name2, len2));
    }
    if let Some(label) = label {
        out.push('_');
        out.push_str(label);
    }
    out
}

/// An unused relation name in the schema; with `constraint`, also unused by constraints.
/// Counterpart: `ChooseRelationName`.
pub fn free_relation_name(
    host: &mut dyn CommandHost,
    name1: &str,
    name2: Option<&str>,
    label: &str,
    schema: Oid,
    constraint: bool,
) -> Result<String> {
    let mut numbered = label.to_string();
    for pass in 1.. {
        let candidate = object_name(name1, name2, Some(&numbered));
        if host.catalog().relation_in(schema, &candidate)?.is_none()
            && !(constraint && constraint_name_taken(host, schema, &candidate)?)
        {
            return Ok(candidate);
        }
        numbered = format!("{label}{pass}");
    }
    unreachable!("one of the numbers is free")
}

fn constraint_name_taken(host: &mut dyn CommandHost, schema: Oid, name: &str) -> Result<bool> {
    let keys = [name.into(), schema.into()];
    Ok(!host.catalog().scan(indexes::PG_CONSTRAINT_CONNAME_NSP_INDEX, &keys)?.is_empty())
}

/// A constraint name unused in the schema and not in `others`. Counterpart: `ChooseConstraintName`.
pub fn free_constraint_name(
    host: &mut dyn CommandHost,
    name1: &str,
    name2: Option<&str>,
    label: &str,
    schema: Oid,
    others: &[String],
) -> Result<String> {
    let mut numbered = label.to_string();
    for pass in 1.. {
        let candidate = object_name(name1, name2, Some(&numbered));
        if !others.contains(&candidate) && !constraint_name_taken(host, schema, &candidate)? {
            return Ok(candidate);
        }
        numbered = format!("{label}{pass}");
    }
    unreachable!("one of the numbers is free")
}

/// Counterpart: `ChooseIndexNameAddition`.
pub fn name_addition(columns: &[String]) -> String {
    let mut out = String::new();
    for column in columns {
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(column);
        if out.len() >= 64 {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that PostgreSQL generates for `create table <name>(<column> int primary key)`.
    #[test]
    fn object_names_are_truncated_as_by_postgresql() {
        assert_eq!(object_name("t", Some("a"), Some("key")), "t_a_key");
        assert_eq!(object_name("t", None, Some("pkey")), "t_pkey");
        let long = "x".repeat(63);
        assert_eq!(object_name(&long, None, Some("pkey")), format!("{}_pkey", "x".repeat(58)));
        let both = object_name(&long, Some(&long), Some("idx"));
        assert_eq!(both, format!("{}_{}_idx", "x".repeat(29), "x".repeat(29)));
    }
}
