//! RENAME and SET SCHEMA of relations, and RENAME of their columns, constraints, rules and
//! triggers.
//!
//! Counterpart: `RenameRelation`, `renameatt`, `RenameConstraint`, `AlterTableNamespace`.

use crate::relname::{move_relation, rename_relation};
use crate::{alter_table, relation};
use catalog::RelDesc;
use catalog::rows::{Name, PgConstraint, PgRewrite, PgTrigger, indexes};
use define::creation;
use ids::code::ConType;
use ids::{Oid, RelKind};
use parse::ast::{AlterObjectSchemaStmt, DropBehavior, ObjectType, RangeVar, RenameStmt};
use partition::Detached;
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::{class, names};

/// ALTER … RENAME of a relation or of a part of one.
pub fn rename(host: &mut dyn CommandHost, stmt: &RenameStmt, new: &str) -> Result<()> {
    let old = stmt.subname.as_deref().unwrap_or_default();
    let lock = rename_lock(host, stmt)?;
    let Some(rel) = target(host, &stmt.relation, lock, stmt.missing_ok)? else { return Ok(()) };
    match stmt.rename_type {
        ObjectType::Attribute if rel.kind() != RelKind::CompositeType => {
            bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a composite type", rel.name())
        }
        ObjectType::Column | ObjectType::Attribute => {
            let cascade = stmt.behavior == DropBehavior::Cascade;
            let recurse = stmt.relation.as_ref().is_none_or(|rv| rv.inh);
            rename_column(host, &rel, (old, new), (recurse, cascade))
        }
        ObjectType::Tabconstraint => {
            let recurse = stmt.relation.as_ref().is_none_or(|rv| rv.inh);
            rename_constraint(host, &rel, (old, new), recurse)
        }
        ObjectType::Rule => rename_rule(host, &rel, old, new),
        ObjectType::Trigger => rename_trigger(host, &rel, old, new),
        _ => {
            check_kind(&rel, stmt.rename_type)?;
            rename_relation(host, &rel, new)
        }
    }
}

/// The lock for RENAME. An index can be used while ALTER INDEX renames it. Counterpart:
/// `RenameRelation`.
fn rename_lock(host: &mut dyn CommandHost, stmt: &RenameStmt) -> Result<i32> {
    let index = match &stmt.relation {
        Some(rv) if stmt.rename_type == ObjectType::Index => {
            let mut cat = host.catalog();
            match cat.find_relation(rv.schemaname.as_deref(), &rv.relname)? {
                Some(oid) => cat.class(oid)?.relkind.is_index(),
                None => true,
            }
        }
        _ => false,
    };
    Ok(if index { names::mode::SHARE_UPDATE_EXCLUSIVE } else { names::mode::ACCESS_EXCLUSIVE })
}

/// ALTER … SET SCHEMA of a relation.
pub fn set_schema(host: &mut dyn CommandHost, stmt: &AlterObjectSchemaStmt) -> Result<()> {
    let lock = names::mode::ACCESS_EXCLUSIVE;
    let Some(rel) = target(host, &stmt.relation, lock, stmt.missing_ok)? else { return Ok(()) };
    check_kind(&rel, stmt.object_type)?;
    let schema = creation::target_schema(host, &stmt.newschema)?;
    creation::check_move(host, rel.class.relnamespace, schema)?;
    if schema == rel.class.relnamespace {
        return Ok(());
    }
    move_relation(host, &rel, schema)
}

/// Error 42809 if the statement is not one for relations of this kind. ALTER TABLE changes all of
/// them but composite types. Counterpart: `RangeVarCallbackForAlterRelation`.
fn check_kind(rel: &RelDesc, object_type: ObjectType) -> Result<()> {
    let (wanted, what) = match object_type {
        ObjectType::View => (RelKind::View, "a view"),
        ObjectType::Matview => (RelKind::MaterializedView, "a materialized view"),
        ObjectType::Sequence => (RelKind::Sequence, "a sequence"),
        ObjectType::ForeignTable => (RelKind::ForeignTable, "a foreign table"),
        _ if rel.kind() == RelKind::CompositeType => {
            let e = pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is a composite type", rel.name());
            return Err(e.hint("Use ALTER TYPE instead."));
        }
        _ => return Ok(()),
    };
    if rel.kind() != wanted {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is not {what}", rel.name());
    }
    Ok(())
}

/// The relation of an ALTER statement; `None`, after a notice, if it does not exist and IF EXISTS
/// was given.
fn target(
    host: &mut dyn CommandHost,
    rv: &Option<Box<RangeVar>>,
    lock: i32,
    missing_ok: bool,
) -> Result<Option<Arc<RelDesc>>> {
    let Some(rv) = rv else { return Err(PgError::internal("statement without a relation")) };
    let Some(oid) = names::find(host, rv, lock)? else {
        if !missing_ok {
            return Err(names::missing(host, rv)?);
        }
        let shown = &rv.relname;
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "relation \"{shown}\" does not exist, skipping"
        )));
        return Ok(None);
    };
    let rel = host.catalog().relation(oid)?;
    names::must_own_relation(host, &rel)?;
    names::not_a_catalog(host, &rel)?;
    Ok(Some(rel))
}

/// Renames a column of a table and of those below it, or of a composite type and its tables.
/// Counterpart: `renameatt`.
fn rename_column(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    (old, new): (&str, &str),
    (recurse, cascade): (bool, bool),
) -> Result<()> {
    if rel.class.reloftype.is_valid() {
        bail!(WRONG_OBJECT_TYPE, "cannot rename column of typed table");
    }
    let lock = names::mode::ACCESS_EXCLUSIVE;
    let below = alter_table::descendants(host, rel, lock)?;
    if !recurse && !below.is_empty() {
        bail!(
            INVALID_TABLE_DEFINITION,
            "inherited column \"{old}\" must be renamed in child tables too"
        );
    }
    for (child, parents) in below {
        rename_one(host, &child, (old, new), parents)?;
    }
    if rel.kind() == RelKind::CompositeType {
        for table in alter_table::tables_of_type(host, rel, cascade)? {
            host.lock_relation(table, lock)?;
            let table = host.catalog().relation(table)?;
            for (child, parents) in alter_table::descendants(host, &table, lock)? {
                rename_one(host, &child, (old, new), parents)?;
            }
            rename_one(host, &table, (old, new), 0)?;
        }
    }
    rename_one(host, rel, (old, new), 0)
}

/// Renames a column of one table, `parents` of whose parents are renamed too.
fn rename_one(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    (old, new): (&str, &str),
    parents: i32,
) -> Result<()> {
    let Some(a) = rel.column(old) else {
        if relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == old) {
            bail!(FEATURE_NOT_SUPPORTED, "cannot rename system column \"{old}\"");
        }
        bail!(UNDEFINED_COLUMN, "column \"{old}\" does not exist")
    };
    if a.attinhcount > parents {
        bail!(INVALID_TABLE_DEFINITION, "cannot rename inherited column \"{old}\"");
    }
    if relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == new) {
        bail!(DUPLICATE_COLUMN, "column name \"{new}\" conflicts with a system column name");
    }
    if rel.column(new).is_some() {
        bail!(DUPLICATE_COLUMN, "column \"{new}\" of relation \"{}\" already exists", rel.name());
    }
    // The column names of indexes do not change.
    class::change_column(host, rel.oid(), a.attnum, |a| a.attname = Name::new(new))
}

/// Renames a constraint of a table, and an inherited one of those below it too. Counterpart:
/// `rename_constraint_internal`.
fn rename_constraint(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    (old, new): (&str, &str),
    recurse: bool,
) -> Result<()> {
    let lock = names::mode::ACCESS_EXCLUSIVE;
    let row = constraint_named(host, rel, old)?;
    if row.contype == ConType::Check && !row.connoinherit {
        let below = alter_table::descendants(host, rel, lock)?;
        if !recurse && !below.is_empty() {
            bail!(
                INVALID_TABLE_DEFINITION,
                "inherited constraint \"{old}\" must be renamed in child tables too"
            );
        }
        for (child, parents) in below {
            rename_one_constraint(host, &child, (old, new), parents)?;
        }
    }
    rename_one_constraint(host, rel, (old, new), 0)
}

fn constraint_named(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    name: &str,
) -> Result<catalog::Row<PgConstraint>> {
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    let keys = [rel.oid().into(), Oid::INVALID.into(), name.into()];
    let found = host.catalog().scan(index, &keys)?.pop();
    found.ok_or_else(|| {
        let table = rel.name();
        pg_err!(UNDEFINED_OBJECT, "constraint \"{name}\" for table \"{table}\" does not exist")
    })
}

fn rename_one_constraint(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    (old, new): (&str, &str),
    parents: i32,
) -> Result<()> {
    let row = constraint_named(host, rel, old)?;
    let inherits = row.contype == ConType::Check && !row.connoinherit;
    if inherits && row.coninhcount > parents {
        bail!(INVALID_TABLE_DEFINITION, "cannot rename inherited constraint \"{old}\"");
    }
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    let keys = [rel.oid().into(), Oid::INVALID.into(), new.into()];
    if !host.catalog().scan(index, &keys)?.is_empty() {
        bail!(
            DUPLICATE_OBJECT,
            "constraint \"{new}\" for relation \"{}\" already exists",
            rel.name()
        );
    }
    if matches!(row.contype, ConType::PrimaryKey | ConType::Unique | ConType::Exclusion)
        && let Some(index) = row.conindid.valid()
    {
        let index = host.catalog().relation(index)?;
        return rename_relation(host, &index, new);
    }
    let mut cat = host.catalog();
    cat.update(&row, &PgConstraint { conname: Name::new(new), ..row.row.clone() })?;
    cat.invalidate_relation(rel.oid(), false);
    cat.increment_command_counter()
}

fn rename_rule(host: &mut dyn CommandHost, rel: &RelDesc, old: &str, new: &str) -> Result<()> {
    let index = indexes::PG_REWRITE_REL_RULENAME_INDEX;
    let mut cat = host.catalog();
    let Some(row) = cat.scan(index, &[rel.oid().into(), old.into()])?.pop() else {
        bail!(UNDEFINED_OBJECT, "rule \"{old}\" for relation \"{}\" does not exist", rel.name())
    };
    if !cat.scan(index, &[rel.oid().into(), new.into()])?.is_empty() {
        bail!(DUPLICATE_OBJECT, "rule \"{new}\" for relation \"{}\" already exists", rel.name());
    }
    if row.ev_type == b'1' {
        bail!(INVALID_OBJECT_DEFINITION, "renaming an ON SELECT rule is not allowed");
    }
    cat.update(&row, &PgRewrite { rulename: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()
}

fn rename_trigger(host: &mut dyn CommandHost, rel: &RelDesc, old: &str, new: &str) -> Result<()> {
    let kinds = [RelKind::Table, RelKind::View, RelKind::PartitionedTable, RelKind::ForeignTable];
    if !kinds.contains(&rel.kind()) {
        let name = rel.name();
        let e = pg_err!(WRONG_OBJECT_TYPE, "relation \"{name}\" cannot have triggers");
        return Err(e.detail(class::kind_not_supported(rel.kind())));
    }
    let index = indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX;
    let mut cat = host.catalog();
    let Some(row) = cat.scan(index, &[rel.oid().into(), old.into()])?.pop() else {
        bail!(UNDEFINED_OBJECT, "trigger \"{old}\" for table \"{}\" does not exist", rel.name())
    };
    if row.tgparentid.is_valid() {
        let parents = partition::parents(&mut cat, rel.oid())?;
        let parent = parents.first().copied().unwrap_or_default();
        let table = cat.find_class(parent)?.map_or_else(String::new, |c| c.relname.to_string());
        return Err(pg_err!(
            INTERNAL_ERROR,
            "cannot rename trigger \"{old}\" on table \"{}\"",
            rel.name()
        )
        .hint(format!("Rename the trigger on the partitioned table \"{table}\" instead.")));
    }
    if old == new {
        return Ok(());
    }
    if !cat.scan(index, &[rel.oid().into(), new.into()])?.is_empty() {
        bail!(DUPLICATE_OBJECT, "trigger \"{new}\" for relation \"{}\" already exists", rel.name());
    }
    cat.update(&row, &PgTrigger { tgname: Name::new(new), ..row.row.clone() })?;
    cat.invalidate_relation(rel.oid(), false);
    cat.increment_command_counter()?;
    rename_below(host, rel, row.oid, new)
}

/// Renames the triggers of partitions that are children of a trigger. Counterpart:
/// `renametrig_partition`.
fn rename_below(host: &mut dyn CommandHost, rel: &RelDesc, trigger: Oid, new: &str) -> Result<()> {
    if rel.kind() != RelKind::PartitionedTable {
        return Ok(());
    }
    for oid in partition::children(&mut host.catalog(), rel.oid(), Detached::Include)? {
        host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
        let part = host.catalog().relation(oid)?;
        for t in part.triggers.iter().filter(|t| t.tgparentid == trigger) {
            let index = indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX;
            let mut cat = host.catalog();
            if !cat.scan(index, &[oid.into(), new.into()])?.is_empty() {
                bail!(
                    DUPLICATE_OBJECT,
                    "trigger \"{new}\" for relation \"{}\" already exists",
                    part.name()
                );
            }
            let Some(row) = cat.scan(indexes::PG_TRIGGER_OID_INDEX, &[t.oid.into()])?.pop() else {
                continue;
            };
            if row.tgname != t.tgname {
                continue;
            }
            cat.update(&row, &PgTrigger { tgname: Name::new(new), ..row.row.clone() })?;
            cat.invalidate_relation(oid, false);
            cat.increment_command_counter()?;
            rename_below(host, &part, t.oid, new)?;
        }
    }
    Ok(())
}
