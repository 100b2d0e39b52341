//! DROP for every kind of object: name resolution and permissions. `deletion` deletes the objects.
//!
//! Counterpart: dropcmds.c, `RemoveRelations`.

use crate::object::address;
use crate::object::kind::is_named;
use crate::{deletion, routine};
use catalog::object::ObjectClass;
use catalog::rows::PgType;
use catalog::{ObjectAddress, RelDesc};
use ids::code::TypType;
use ids::{Persistence, RelKind};
use parse::ast::{DropStmt, ObjectType};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::names;

/// Executes DROP TABLE and all other DROP statements of this form.
pub fn drop_statement(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<()> {
    if stmt.concurrent {
        check_concurrent(host, stmt)?;
    }
    let objects = loop {
        let objects = resolve(host, stmt)?;
        // An object with one of the names may have been dropped, and another one created.
        if !host.catalog().lock_for_deletion(&objects)? {
            break objects;
        }
    };
    if objects.is_empty() {
        return Ok(());
    }
    let objects = match stmt.concurrent {
        // In PostgreSQL the last one of several transactions drops the index, and stays open in a
        // pipeline. Its locks are acquired again.
        true => {
            host.next_transaction()?;
            relations(host, stmt)?
        }
        false => objects,
    };
    note_temporary(host, &objects)?;
    deletion::drop_objects(host, &objects, deletion::behavior(stmt.behavior), false)
}

/// Notes that the transaction uses temporary objects, if one of these is temporary. Counterpart:
/// the end of the loop in `RemoveObjects`.
fn note_temporary(host: &mut dyn CommandHost, objects: &[ObjectAddress]) -> Result<()> {
    let Some(temp) = host.catalog().session.temp_namespace.valid() else { return Ok(()) };
    for object in objects {
        let Some(class) = ObjectClass::of(object.class) else { continue };
        let Some(row) = host.catalog().find_object_row(class, object.object)? else { continue };
        if row.namespace()? == Some(temp) {
            host.backend().note_temp_access();
        }
    }
    Ok(())
}

/// The objects that the statement names and the user may drop.
fn resolve(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    Ok(match stmt.remove_type {
        ObjectType::Table
        | ObjectType::Index
        | ObjectType::Sequence
        | ObjectType::View
        | ObjectType::Matview
        | ObjectType::ForeignTable => relations(host, stmt)?,
        ObjectType::Type | ObjectType::Domain => types(host, stmt)?,
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            routine::to_drop(host, &stmt.objects, stmt.remove_type, stmt.missing_ok)?
        }
        ObjectType::Rule | ObjectType::Trigger | ObjectType::Policy => {
            parts_of_relations(host, stmt)?
        }
        kind if is_named(kind)
            || matches!(kind, ObjectType::Cast | ObjectType::Operator | ObjectType::Transform) =>
        {
            objects(host, stmt)?
        }
        other => {
            return Err(PgError::unsupported(format!("DROP of kind {other:?}")));
        }
    })
}

fn skip(host: &mut dyn CommandHost, what: &str, name: &str) {
    host.notice(notice(pg_err!(
        SUCCESSFUL_COMPLETION,
        "{what} \"{name}\" does not exist, skipping"
    )));
}

fn wanted(kind: ObjectType) -> (RelKind, &'static str, &'static str, &'static str) {
    match kind {
        ObjectType::Index => (RelKind::Index, "index", "an index", "DROP INDEX"),
        ObjectType::Sequence => (RelKind::Sequence, "sequence", "a sequence", "DROP SEQUENCE"),
        ObjectType::View => (RelKind::View, "view", "a view", "DROP VIEW"),
        ObjectType::Matview => (
            RelKind::MaterializedView,
            "materialized view",
            "a materialized view",
            "DROP MATERIALIZED VIEW",
        ),
        ObjectType::ForeignTable => {
            (RelKind::ForeignTable, "foreign table", "a foreign table", "DROP FOREIGN TABLE")
        }
        _ => (RelKind::Table, "table", "a table", "DROP TABLE"),
    }
}

/// Checks the restrictions of DROP INDEX CONCURRENTLY.
fn check_concurrent(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<()> {
    host.prevent_in_transaction_block("DROP INDEX CONCURRENTLY")?;
    if stmt.objects.len() != 1 {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "DROP INDEX CONCURRENTLY does not support dropping multiple objects"
        );
    }
    if stmt.behavior == parse::ast::DropBehavior::Cascade {
        bail!(FEATURE_NOT_SUPPORTED, "DROP INDEX CONCURRENTLY does not support CASCADE");
    }
    Ok(())
}

fn relations(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    let (kind, noun, article, _) = wanted(stmt.remove_type);
    let mut out = Vec::new();
    for node in &stmt.objects {
        let rv = names::range_var_of(&address::parts(node))?;
        let mut may_drop =
            |host: &mut dyn CommandHost, rel: &RelDesc| may_drop(host, rel, kind, article);
        names::check_before_lock(host, &rv, &mut may_drop)?;
        if kind == RelKind::Index {
            names::exclude_readers(host, &rv)?;
        }
        let Some(oid) = names::find(host, &rv, names::mode::ACCESS_EXCLUSIVE)? else {
            if let Some(schema) = rv.schemaname.as_deref()
                && host.catalog().find_namespace(schema)?.is_none()
            {
                if !stmt.missing_ok {
                    bail!(INVALID_SCHEMA_NAME, "schema \"{schema}\" does not exist");
                }
                skip(host, "schema", schema);
                continue;
            }
            if !stmt.missing_ok {
                let code = if matches!(kind, RelKind::Index | RelKind::ForeignTable) {
                    pgerror::SqlState::UNDEFINED_OBJECT
                } else {
                    pgerror::SqlState::UNDEFINED_TABLE
                };
                let message = format!("{noun} \"{}\" does not exist", rv.relname);
                return Err(PgError::new(code, message));
            }
            skip(host, noun, &rv.relname);
            continue;
        };
        let rel = host.catalog().relation(oid)?;
        may_drop(host, &rel)?;
        let temporary = rel.class.relpersistence == Persistence::Temporary;
        if stmt.concurrent && !temporary && rel.kind() == RelKind::PartitionedIndex {
            bail!(
                FEATURE_NOT_SUPPORTED,
                "cannot drop partitioned index \"{}\" concurrently",
                rel.name()
            );
        }
        out.push(ObjectAddress::relation(oid));
    }
    Ok(out)
}

/// Error 42809 unless the relation is of the kind that the statement names; error 42501 unless the
/// user owns it. Counterpart: `RangeVarCallbackForDropRelation`.
fn may_drop(host: &mut dyn CommandHost, rel: &RelDesc, kind: RelKind, article: &str) -> Result<()> {
    let actual = match rel.kind() {
        RelKind::PartitionedTable => RelKind::Table,
        RelKind::PartitionedIndex => RelKind::Index,
        k => k,
    };
    if actual != kind {
        return Err(wrong_kind(rel, actual, article));
    }
    let owns_schema = {
        let schema = rel.class.relnamespace;
        let what = format_args!("namespace {schema}");
        let row = host.catalog().get(catalog::cache::NAMESPACEOID, &[schema.into()], what)?;
        names::is_owner(host, row.nspowner)?
    };
    if !owns_schema {
        names::must_own_relation(host, rel)?;
    }
    names::not_a_catalog(host, rel)
}

fn wrong_kind(rel: &RelDesc, actual: RelKind, article: &str) -> PgError {
    let e = pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is not {article}", rel.name());
    match actual {
        RelKind::Table => e.hint("Use DROP TABLE to remove a table."),
        RelKind::Index => e.hint("Use DROP INDEX to remove an index."),
        RelKind::Sequence => e.hint("Use DROP SEQUENCE to remove a sequence."),
        RelKind::View => e.hint("Use DROP VIEW to remove a view."),
        RelKind::MaterializedView => {
            e.hint("Use DROP MATERIALIZED VIEW to remove a materialized view.")
        }
        RelKind::ForeignTable => e.hint("Use DROP FOREIGN TABLE to remove a foreign table."),
        RelKind::CompositeType => e.hint("Use DROP TYPE to remove a type."),
        _ => e,
    }
}

/// Objects of kinds that need no special treatment. Counterpart: `RemoveObjects`.
fn objects(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    let mut out = Vec::new();
    for node in &stmt.objects {
        let found = address::resolve(host, stmt.remove_type, node, stmt.missing_ok)?;
        let Some(object) = found else { continue };
        if !owns_schema_of(host, object)? {
            address::must_own(host, object, node)?;
        }
        out.push(object);
    }
    Ok(out)
}

/// True if the user owns the schema that contains the object.
fn owns_schema_of(host: &mut dyn CommandHost, object: ObjectAddress) -> Result<bool> {
    let Some(class) = ObjectClass::of(object.class) else { return Ok(false) };
    let schema = host.catalog().object_row(class, object.object)?.namespace()?;
    let Some(schema) = schema else { return Ok(false) };
    let what = format_args!("namespace {schema}");
    let row = host.catalog().get(catalog::cache::NAMESPACEOID, &[schema.into()], what)?;
    names::is_owner(host, row.nspowner)
}

/// Rules, triggers and policies, which are named together with their relation.
fn parts_of_relations(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    let mut out = Vec::new();
    for node in &stmt.objects {
        let list = address::parts(node);
        let [table @ .., name] = list.as_slice() else { continue };
        let rv = names::range_var_of(table)?;
        let noun = match stmt.remove_type {
            ObjectType::Rule => "rule",
            ObjectType::Trigger => "trigger",
            _ => "policy",
        };
        let Some(oid) = names::find(host, &rv, names::mode::ACCESS_EXCLUSIVE)? else {
            if !stmt.missing_ok {
                return Err(names::missing(host, &rv)?);
            }
            match &rv.schemaname {
                Some(schema) if host.catalog().find_namespace(schema)?.is_none() => {
                    skip(host, "schema", schema);
                }
                _ => skip(host, "relation", &rv.relname),
            }
            continue;
        };
        let rel = host.catalog().relation(oid)?;
        match address::part_of(host, &rel, stmt.remove_type, name) {
            Ok(object) => {
                names::must_own_parts(host, &rel)?;
                out.push(object);
            }
            Err(_) if stmt.missing_ok => {
                host.notice(notice(pg_err!(
                    SUCCESSFUL_COMPLETION,
                    "{noun} \"{name}\" for relation \"{}\" does not exist, skipping",
                    rv.relname
                )));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(out)
}

fn types(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    let mut out = Vec::new();
    for node in &stmt.objects {
        let list = address::parts(node);
        let (schema, name) = match list.as_slice() {
            [.., schema, name] => (Some(*schema), *name),
            [name] => (None, *name),
            [] => continue,
        };
        let Some(oid) = host.catalog().find_type_by_name(schema, name)? else {
            let shown = catalog::namespace::qualified(schema, name);
            if stmt.missing_ok {
                skip(host, "type", &shown);
                continue;
            }
            bail!(UNDEFINED_OBJECT, "type \"{shown}\" does not exist");
        };
        let row = host.catalog().type_row(oid)?;
        if stmt.remove_type == ObjectType::Domain && row.typtype != TypType::Domain {
            let shown = catalog::namespace::qualified(schema, name);
            bail!(WRONG_OBJECT_TYPE, "\"{shown}\" is not a domain");
        }
        if !names::is_owner(host, row.typowner)? {
            let shown = host.catalog().format_type(oid)?;
            bail!(INSUFFICIENT_PRIVILEGE, "must be owner of type {shown}");
        }
        out.push(ObjectAddress::of::<PgType>(oid));
    }
    Ok(out)
}
