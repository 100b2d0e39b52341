//! RENAME and SET SCHEMA of relations, and RENAME of their columns, constraints, rules and
//! triggers.
//!
//! Counterpart: `RenameRelation`, `renameatt`, `RenameConstraint`, `AlterTableNamespace`.

use crate::relation;
use crate::relname::{move_relation, rename_relation};
use catalog::RelDesc;
use catalog::rows::{Name, PgConstraint, PgRewrite, PgTrigger, indexes};
use define::creation;
use ids::code::ConType;
use ids::{Oid, RelKind};
use parse::ast::{AlterObjectSchemaStmt, DropBehavior, ObjectType, RangeVar, RenameStmt};
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::{class, names};

/// ALTER … RENAME of a relation or of a part of one.
pub fn rename(host: &mut dyn CommandHost, stmt: &RenameStmt, new: &str) -> Result<()> {
    let old = stmt.subname.as_deref().unwrap_or_default();
    let Some(rel) = target(host, &stmt.relation, stmt.missing_ok)? else { return Ok(()) };
    match stmt.rename_type {
        ObjectType::Attribute if rel.kind() != RelKind::CompositeType => {
            bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a composite type", rel.name())
        }
        ObjectType::Column | ObjectType::Attribute => {
            let cascade = stmt.behavior == DropBehavior::Cascade;
            rename_column(host, &rel, old, new, cascade)
        }
        ObjectType::Tabconstraint => rename_constraint(host, &rel, old, new),
        ObjectType::Rule => rename_rule(host, &rel, old, new),
        ObjectType::Trigger => rename_trigger(host, &rel, old, new),
        _ => rename_relation(host, &rel, new),
    }
}

/// ALTER … SET SCHEMA of a relation.
pub fn set_schema(host: &mut dyn CommandHost, stmt: &AlterObjectSchemaStmt) -> Result<()> {
    let Some(rel) = target(host, &stmt.relation, stmt.missing_ok)? else { return Ok(()) };
    let schema = host.catalog().namespace(&stmt.newschema)?;
    if schema == rel.class.relnamespace {
        return Ok(());
    }
    creation::may_create_in(host, schema)?;
    move_relation(host, &rel, schema)
}

/// The relation of an ALTER statement; `None`, after a notice, if it does not exist and IF EXISTS
/// was given.
fn target(
    host: &mut dyn CommandHost,
    rv: &Option<Box<RangeVar>>,
    missing_ok: bool,
) -> Result<Option<Arc<RelDesc>>> {
    let Some(rv) = rv else { return Err(PgError::internal("statement without a relation")) };
    let Some(oid) = names::find(host, rv, names::mode::ACCESS_EXCLUSIVE)? else {
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
    names::not_a_catalog(&rel)?;
    Ok(Some(rel))
}

fn rename_column(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    old: &str,
    new: &str,
    cascade: bool,
) -> Result<()> {
    if rel.class.reloftype.is_valid() {
        bail!(WRONG_OBJECT_TYPE, "cannot rename column of typed table");
    }
    host.catalog().check_typed_tables(rel, cascade)?;
    let Some(a) = rel.column(old) else {
        if relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == old) {
            bail!(FEATURE_NOT_SUPPORTED, "cannot rename system column \"{old}\"");
        }
        bail!(UNDEFINED_COLUMN, "column \"{old}\" does not exist")
    };
    if relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == new) {
        bail!(DUPLICATE_COLUMN, "column name \"{new}\" conflicts with a system column name");
    }
    if rel.column(new).is_some() {
        bail!(DUPLICATE_COLUMN, "column \"{new}\" of relation \"{}\" already exists", rel.name());
    }
    if a.attinhcount > 0 {
        bail!(INVALID_TABLE_DEFINITION, "cannot rename inherited column \"{old}\"");
    }
    if matches!(rel.kind(), RelKind::Table | RelKind::PartitionedTable) {
        host.catalog().check_children(&rel.class.row)?;
    }
    let number = a.attnum;
    class::change_column(host, rel.oid(), number, |a| a.attname = Name::new(new))?;
    // The column names of indexes do not change.
    Ok(())
}

fn rename_constraint(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    old: &str,
    new: &str,
) -> Result<()> {
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    let mut cat = host.catalog();
    let found = |cat: &mut catalog::CatCx<'_>, name: &str| {
        cat.scan(index, &[rel.oid().into(), Oid::INVALID.into(), name.into()])
    };
    let Some(row) = found(&mut cat, old)?.pop() else {
        bail!(UNDEFINED_OBJECT, "constraint \"{old}\" for table \"{}\" does not exist", rel.name())
    };
    if !found(&mut cat, new)?.is_empty() {
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
    if row.contype == ConType::Check && !row.connoinherit {
        if row.coninhcount > 0 {
            bail!(INVALID_TABLE_DEFINITION, "cannot rename inherited constraint \"{old}\"");
        }
        cat.check_children(&rel.class.row)?;
    }
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
    if old == new {
        return Ok(());
    }
    if !cat.scan(index, &[rel.oid().into(), new.into()])?.is_empty() {
        bail!(DUPLICATE_OBJECT, "trigger \"{new}\" for relation \"{}\" already exists", rel.name());
    }
    cat.update(&row, &PgTrigger { tgname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()
}
