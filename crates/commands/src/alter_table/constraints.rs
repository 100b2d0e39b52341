//! Constraints of existing tables: ADD, DROP, ALTER and VALIDATE CONSTRAINT, NOT NULL.
//!
//! Counterpart: `ATExecAddConstraint`, `ATExecAlterConstraint`, `ATExecValidateConstraint`.

use super::attribute::{TABLES, TABLES_AND_FOREIGN, column, must_be};
use super::queue::{Scope, Work};
use super::recurse;
use crate::foreign_key::{self, Addition};
use crate::partitions::indexes::{Cause, Creation};
use crate::{constraint, create_table, define_table, index};
use catalog::rows::{CatalogRow, PgAttribute, PgClass, PgConstraint, PgIndex, PgTrigger, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::deletion;
use ids::builtin::proc;
use ids::code::{ColumnIdentity, ConType, DepType};
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{AlterTableCmd, ConstrType, Constraint, Node};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::{class, names};

/// Adds a table constraint that is no CHECK constraint. Existing rows are checked in phase 3;
/// indexes are filled at once unless the table is to be rewritten.
pub fn add(
    host: &mut dyn CommandHost,
    (c, scope): (&Constraint, Scope),
    work: &mut Work,
    sql: &str,
) -> Result<()> {
    match c.contype {
        ConstrType::Foreign => {
            let how = Addition { validate: true, recurse: scope.recurse };
            let added = foreign_key::add(host, work.oid, c, how)?;
            work.foreign_keys.extend(added);
            Ok(())
        }
        ConstrType::Exclusion
            if host.catalog().relation(work.oid)?.kind() == RelKind::PartitionedTable =>
        {
            Err(define_table::no_exclusion().at(parse::position(sql, c.location)))
        }
        ConstrType::Primary | ConstrType::Unique | ConstrType::Exclusion => match &c.indexname {
            Some(name) => use_index(host, c, name, work, sql),
            None => {
                (0..c.keys.len()).try_for_each(|i| create_table::check_key_twice(c, i, sql))?;
                let filled = !work.rewrite.is_needed();
                let by = if work.readds { Cause::Itself } else { Cause::AlterTable };
                let how = Creation { filled, recurse: scope.recurse, by };
                create_table::add_keys(host, work.oid, std::slice::from_ref(c), how, sql)
            }
        },
        _ => Err(PgError::unsupported("this constraint")),
    }
}

/// The key columns of an existing index that a constraint will use. An error if the index is not
/// suitable.
fn usable_index(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    c: &Constraint,
    (name, oid, row): (&str, Oid, &PgIndex),
) -> Result<Vec<AttrNo>> {
    if row.indrelid != rel.oid() {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "index \"{name}\" does not belong to table \"{}\"",
            rel.name()
        );
    }
    let owner = host.catalog().dependencies_of(ObjectAddress::relation(oid))?;
    if owner
        .iter()
        .any(|d| d.refclassid == PgConstraint::RELATION && d.deptype == DepType::Internal)
    {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "index \"{name}\" is already associated with a constraint"
        );
    }
    if !row.indisvalid {
        bail!(OBJECT_NOT_IN_PREREQUISITE_STATE, "index \"{name}\" is not valid");
    }
    let cannot = "Cannot create a primary key or unique constraint using such an index.";
    let refuse = |message: String| {
        Err(PgError::new(pgerror::SqlState::WRONG_OBJECT_TYPE, message).detail(cannot))
    };
    if !row.indisunique {
        return refuse(format!("\"{name}\" is not a unique index"));
    }
    if row.indexprs.is_some() {
        return refuse(format!("index \"{name}\" contains expressions"));
    }
    if row.indpred.is_some() {
        return refuse(format!("\"{name}\" is a partial index"));
    }
    if !row.indimmediate && !c.deferrable {
        return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{name}\" is a deferrable index")
            .detail("Cannot create a non-deferrable constraint using a deferrable index."));
    }
    let mut numbers = Vec::new();
    for (i, number) in row.indkey.iter().enumerate() {
        let Some(a) = rel.attribute(*number) else {
            bail!(FEATURE_NOT_SUPPORTED, "system columns in constraints")
        };
        if i >= row.indnkeyatts as usize {
            continue;
        }
        numbers.push(*number);
        let default = host.catalog().default_opclass(a.atttypid, catalog::lookup::BTREE_AM)?;
        if default != row.indclass.get(i).copied()
            || row.indcollation.get(i).copied() != Some(a.attcollation)
            || row.indoption.get(i).is_some_and(|o| *o != 0)
        {
            return refuse(format!(
                "index \"{name}\" column number {} does not have default sorting behavior",
                i + 1
            ));
        }
    }
    Ok(numbers)
}

/// PRIMARY KEY and UNIQUE USING INDEX. Counterpart: `ATExecAddIndexConstraint`, the checks of
/// `transformIndexConstraint`.
fn use_index(
    host: &mut dyn CommandHost,
    c: &Constraint,
    name: &str,
    work: &mut Work,
    sql: &str,
) -> Result<()> {
    let rel = &host.catalog().relation(work.oid)?;
    if rel.kind() == RelKind::PartitionedTable {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables"
        );
    }
    let primary = c.contype == ConstrType::Primary;
    let schema = rel.class.relnamespace;
    let found = host.catalog().relation_in(schema, name)?;
    let at = |e: PgError| e.at(parse::position(sql, c.location));
    let Some(oid) = found else {
        return Err(at(pg_err!(UNDEFINED_OBJECT, "index \"{name}\" does not exist")));
    };
    let desc = host.catalog().relation(oid)?;
    let Some(part) = &desc.index else { bail!(WRONG_OBJECT_TYPE, "\"{name}\" is not an index") };
    let row = &part.row;
    let numbers = usable_index(host, rel, c, (name, oid, row)).map_err(at)?;
    if primary {
        if rel.indexes.iter().any(|i| i.indisprimary) {
            bail!(
                INVALID_TABLE_DEFINITION,
                "multiple primary keys for table \"{}\" are not allowed",
                rel.name()
            );
        }
        for a in numbers.iter().filter_map(|n| rel.attribute(*n)) {
            mark_not_null(host, work, a)?;
        }
    }
    let wanted = match &c.conname {
        Some(wanted) if **wanted != *name => {
            host.notice(notice(pg_err!(
                SUCCESSFUL_COMPLETION,
                "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{name}\" to \
                 \"{wanted}\""
            )));
            crate::relname::rename_relation(host, &desc, wanted)?;
            wanted.to_string()
        }
        _ => name.to_string(),
    };
    // From here on the index depends on the constraint instead of the columns.
    let this = ObjectAddress::relation(oid);
    let mut cat = host.catalog();
    for d in cat.dependencies_of(this)? {
        if d.deptype == DepType::Auto
            && d.refclassid == PgClass::RELATION
            && d.refobjid == rel.oid()
        {
            cat.delete(&d)?;
        }
    }
    let kind = if primary { ConType::PrimaryKey } else { ConType::Unique };
    let mut new = constraint::row(host, &wanted, rel, kind)?;
    new.condeferrable = c.deferrable;
    new.condeferred = c.initdeferred;
    new.conindid = oid;
    new.connoinherit = true;
    new.conkey = Some(numbers);
    let columns: Vec<AttrNo> = row.indkey.to_vec();
    let constraint = constraint::insert(host, new, &columns)?;
    let mut cat = host.catalog();
    cat.record_dependency(this, constraint, DepType::Internal)?;
    let old = cat.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[oid.into()])?.pop();
    if let Some(old) = old {
        let new = PgIndex { indisprimary: primary, indimmediate: !c.deferrable, ..old.row.clone() };
        if new != old.row {
            cat.update(&old, &new)?;
        }
    }
    cat.increment_command_counter()?;
    if c.deferrable {
        let (table, of) = (rel.oid(), constraint.object);
        index::add_deferred_trigger(host, table, of, oid, primary, c.initdeferred)?;
    }
    Ok(())
}

/// Marks a column NOT NULL. Existing rows are checked in phase 3.
pub fn mark_not_null(
    host: &mut dyn CommandHost,
    work: &mut Work,
    column: &PgAttribute,
) -> Result<()> {
    if column.attnotnull {
        return Ok(());
    }
    work.rewrite.verify_not_null = true;
    class::change_column(host, work.oid, column.attnum, |a| a.attnotnull = true)
}

/// As [`mark_not_null`], for a key column of a new primary key.
pub fn set_not_null(host: &mut dyn CommandHost, name: &str, work: &mut Work) -> Result<()> {
    let rel = host.catalog().relation(work.oid)?;
    match rel.column(name) {
        Some(a) => mark_not_null(host, work, a),
        None => bail!(
            UNDEFINED_COLUMN,
            "column \"{name}\" of relation \"{}\" does not exist",
            rel.name()
        ),
    }
}

pub fn drop_not_null(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    must_be(rel, TABLES_AND_FOREIGN, "ALTER COLUMN ... DROP NOT NULL")?;
    let a = column(rel, cmd)?;
    if a.attidentity != ColumnIdentity::No {
        bail!(
            SYNTAX_ERROR,
            "column \"{}\" of relation \"{}\" is an identity column",
            a.attname,
            rel.name()
        );
    }
    for i in &rel.indexes {
        let keys = &i.indkey[..(i.indnkeyatts as usize).min(i.indkey.len())];
        if !keys.contains(&a.attnum) {
            continue;
        }
        if i.indisprimary {
            bail!(INVALID_TABLE_DEFINITION, "column \"{}\" is in a primary key", a.attname);
        }
        if i.indisreplident {
            bail!(
                INVALID_TABLE_DEFINITION,
                "column \"{}\" is in index used as replica identity",
                a.attname
            );
        }
    }
    recurse::check_parent_nullable(host, rel, a.attname.as_str())?;
    class::change_column(host, rel.oid(), a.attnum, |a| a.attnotnull = false)
}

/// The constraint with this name on the table.
pub fn named(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    name: &str,
) -> Result<Option<catalog::Row<PgConstraint>>> {
    let keys = [rel.oid().into(), Oid::INVALID.into(), name.into()];
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    Ok(host.catalog().scan(index, &keys)?.pop())
}

/// The error for a constraint that does not exist.
pub fn undefined(rel: &RelDesc, name: &str) -> PgError {
    pg_err!(UNDEFINED_OBJECT, "constraint \"{name}\" of relation \"{}\" does not exist", rel.name())
}

/// Drops a constraint of one table, and returns its row.
pub fn drop(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    scope: Scope,
) -> Result<Option<PgConstraint>> {
    must_be(rel, TABLES_AND_FOREIGN, "DROP CONSTRAINT")?;
    let name = cmd.name.as_deref().unwrap_or("");
    let Some(row) = named(host, rel, name)? else {
        let e = undefined(rel, name);
        if cmd.missing_ok && !scope.recursing {
            host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{}, skipping", e.message())));
            return Ok(None);
        }
        return Err(e);
    };
    if row.coninhcount > 0 && !scope.recursing {
        bail!(
            INVALID_TABLE_DEFINITION,
            "cannot drop inherited constraint \"{name}\" of relation \"{}\"",
            rel.name()
        );
    }
    if row.contype == ConType::ForeignKey && row.confrelid.is_valid() && row.confrelid != rel.oid()
    {
        host.lock_relation(row.confrelid, names::mode::ACCESS_EXCLUSIVE)?;
        let referenced = host.catalog().relation(row.confrelid)?;
        host.check_not_in_use(referenced.oid(), referenced.name(), "ALTER TABLE")?;
    }
    let object = ObjectAddress::of::<PgConstraint>(row.oid);
    deletion::drop_objects(host, &[object], deletion::behavior(cmd.behavior), false)?;
    Ok(Some(row.row.clone()))
}

/// ALTER CONSTRAINT: the deferrability of a foreign key.
pub fn alter(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    must_be(rel, TABLES, "ALTER CONSTRAINT")?;
    let (name, deferrable, deferred) = match &cmd.def {
        Some(Node::AtAlterConstraint(c)) => {
            if c.alter_inheritability && c.noinherit {
                bail!(FEATURE_NOT_SUPPORTED, "FOREIGN KEY constraints cannot be marked NO INHERIT");
            }
            (c.conname.as_deref().unwrap_or(""), c.deferrable, c.initdeferred)
        }
        Some(Node::Constraint(c)) => {
            (c.conname.as_deref().unwrap_or(""), c.deferrable, c.initdeferred)
        }
        _ => return Err(PgError::internal("ALTER CONSTRAINT without a definition")),
    };
    let row = named(host, rel, name)?.ok_or_else(|| undefined(rel, name))?;
    if row.contype != ConType::ForeignKey {
        bail!(
            WRONG_OBJECT_TYPE,
            "constraint \"{name}\" of relation \"{}\" is not a foreign key constraint",
            rel.name()
        );
    }
    if row.conparentid.is_valid() {
        return Err(derived(host, rel, &row)?);
    }
    let same = row.condeferrable == deferrable && row.condeferred == deferred;
    match same && rel.kind() != RelKind::PartitionedTable {
        true => Ok(()),
        false => set_deferrability(host, &row, (deferrable, deferred)),
    }
}

/// The error for a constraint that belongs to one of a partitioned table.
fn derived(host: &mut dyn CommandHost, rel: &RelDesc, row: &PgConstraint) -> Result<PgError> {
    let mut cat = host.catalog();
    let mut top = row.clone();
    while let Some(parent) = cat.constraint(top.conparentid)? {
        top = parent.row.clone();
    }
    let (name, table) = (&row.conname, cat.class(top.conrelid)?.relname);
    let e = pg_err!(
        INTERNAL_ERROR,
        "cannot alter constraint \"{name}\" on relation \"{}\"",
        rel.name()
    );
    Ok(e.detail(format!(
        "Constraint \"{name}\" is derived from constraint \"{}\" of relation \"{table}\".",
        top.conname
    ))
    .hint("You may alter the constraint it derives from, instead."))
}

/// Counterpart: `ATExecAlterConstrRecurse`.
fn set_deferrability(
    host: &mut dyn CommandHost,
    row: &catalog::Row<PgConstraint>,
    (deferrable, deferred): (bool, bool),
) -> Result<()> {
    let mut cat = host.catalog();
    if row.condeferrable != deferrable || row.condeferred != deferred {
        let new =
            PgConstraint { condeferrable: deferrable, condeferred: deferred, ..row.row.clone() };
        cat.update(row, &new)?;
        for t in cat.scan(indexes::PG_TRIGGER_TGCONSTRAINT_INDEX, &[row.oid.into()])? {
            cat.invalidate_relation(t.tgrelid, false);
            // Only the check triggers and NO ACTION are deferrable: see `add_triggers`.
            if !matches!(
                t.tgfoid,
                proc::RI_FKEY_CHECK_INS
                    | proc::RI_FKEY_CHECK_UPD
                    | proc::RI_FKEY_NOACTION_DEL
                    | proc::RI_FKEY_NOACTION_UPD
            ) {
                continue;
            }
            let (tgdeferrable, tginitdeferred) = (deferrable, deferred);
            cat.update(&t, &PgTrigger { tgdeferrable, tginitdeferred, ..t.row.clone() })?;
        }
        cat.invalidate_relation(row.conrelid, false);
        cat.invalidate_relation(row.confrelid, false);
    }
    for child in cat.scan(indexes::PG_CONSTRAINT_CONPARENTID_INDEX, &[row.oid.into()])? {
        host.lock_relation(child.conrelid, names::mode::ACCESS_EXCLUSIVE)?;
        set_deferrability(host, &child, (deferrable, deferred))?;
    }
    Ok(())
}

/// VALIDATE CONSTRAINT of one table. The rows are checked in phase 3. Returns the constraint unless
/// it was valid.
pub fn validate(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    work: &mut Work,
) -> Result<Option<PgConstraint>> {
    must_be(rel, TABLES, "VALIDATE CONSTRAINT")?;
    let name = cmd.name.as_deref().unwrap_or("");
    let row = named(host, rel, name)?.ok_or_else(|| undefined(rel, name))?;
    if !matches!(row.contype, ConType::Check | ConType::ForeignKey) {
        bail!(
            WRONG_OBJECT_TYPE,
            "constraint \"{name}\" of relation \"{}\" is not a foreign key or check constraint",
            rel.name()
        );
    }
    if row.convalidated {
        return Ok(None);
    }
    if row.contype == ConType::Check {
        let text = row.conbin.as_ref();
        let text = text.ok_or_else(|| PgError::internal("null conbin for a constraint"))?;
        let expr = plan::nodetree::read_expr(text.as_str())?;
        work.rewrite.checks.push((name.to_string(), expr));
    } else {
        host.lock_relation(row.confrelid, names::mode::ROW_SHARE)?;
        work.foreign_keys.push(row.oid);
    }
    let mut cat = host.catalog();
    cat.update(&row, &PgConstraint { convalidated: true, ..row.row.clone() })?;
    cat.increment_command_counter()?;
    Ok(Some(row.row.clone()))
}
