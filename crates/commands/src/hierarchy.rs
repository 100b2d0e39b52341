//! The rows of `pg_inherits` that connect tables with their parents, and what children inherit.
//!
//! Counterpart: tablecmds.c (`StoreCatalogInheritance`, `CreateInheritance`,
//! `RemoveInheritance`).

use catalog::rows::{PgClass, PgConstraint, PgInherits, indexes};
use catalog::{ObjectAddress, RelDesc, Row};
use deparse::Style;
use ids::code::{ColumnGenerated, ConType, DepType};
use ids::{AttrNo, Oid, RelKind};
use partition::Detached;
use pgerror::{Result, bail, pg_err};
use plan::Expr;
use std::sync::Arc;
use utility::host::CommandHost;
use utility::{class, names};

/// A CHECK constraint that a new table inherits.
pub struct InheritedCheck {
    pub name: String,
    /// Over the new table's columns.
    pub expr: Expr,
    /// The number of parents that have it.
    pub count: i32,
}

/// The dependency of a child on its parent.
pub fn child_dependency(is_partition: bool) -> DepType {
    if is_partition { DepType::Auto } else { DepType::Normal }
}

/// Whether a table, or each partition of a partitioned table, has no pages. The table is locked.
pub fn is_empty(host: &mut dyn CommandHost, table: Oid) -> Result<bool> {
    let rel = host.catalog().relation(table)?;
    let parts = match rel.kind() {
        RelKind::PartitionedTable => {
            partition::descendants(&mut host.catalog(), table, Detached::Include)?
        }
        _ => vec![table],
    };
    for oid in parts {
        host.lock_relation(oid, names::mode::ACCESS_SHARE)?;
        let Some(rel) = host.catalog().try_relation(oid)? else { continue };
        let unread = match &rel.table {
            Some(table) => engine::table::nblocks(host.backend(), table)? > 0,
            None => rel.kind() != RelKind::PartitionedTable,
        };
        if unread {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Stores that a new table has these parents.
pub fn store(
    host: &mut dyn CommandHost,
    child: Oid,
    parents: &[Arc<RelDesc>],
    is_partition: bool,
) -> Result<()> {
    for (seqno, parent) in (1..).zip(parents) {
        store_one(host, child, parent.oid(), seqno, is_partition)?;
    }
    Ok(())
}

/// Stores that a relation has a parent. Counterpart: `StoreCatalogInheritance1`.
pub fn store_one(
    host: &mut dyn CommandHost,
    child: Oid,
    parent: Oid,
    seqno: i32,
    is_partition: bool,
) -> Result<()> {
    let mut cat = host.catalog();
    cat.insert(&PgInherits {
        inhrelid: child,
        inhparent: parent,
        inhseqno: seqno,
        inhdetachpending: false,
    })?;
    let (this, on) = (ObjectAddress::relation(child), ObjectAddress::relation(parent));
    cat.record_dependency(this, on, child_dependency(is_partition))?;
    set_has_subclass(host, parent, true)
}

/// Sets `relhassubclass`, and invalidates the descriptor of the parent in any case. Counterpart:
/// `SetRelationHasSubclass`.
pub fn set_has_subclass(host: &mut dyn CommandHost, parent: Oid, has: bool) -> Result<()> {
    let mut cat = host.catalog();
    let row = class::row(&mut cat, parent)?;
    if row.relhassubclass == has {
        cat.invalidate_relation(parent, false);
    } else {
        cat.update(&row, &PgClass { relhassubclass: has, ..row.row.clone() })?;
    }
    cat.increment_command_counter()
}

/// Removes a row of `pg_inherits`. Error 42P01 if there is none. Counterpart:
/// `DeleteInheritsTuple`.
fn remove_row(
    host: &mut dyn CommandHost,
    child: &RelDesc,
    parent: &RelDesc,
    expect_pending: bool,
) -> Result<()> {
    let mut cat = host.catalog();
    let index = indexes::PG_INHERITS_RELID_SEQNO_INDEX;
    let rows = cat.scan(index, &[child.oid().into()])?;
    let (name, of) = (child.name(), parent.name());
    let Some(row) = rows.iter().find(|r| r.inhparent == parent.oid()) else {
        if parent.kind() == RelKind::PartitionedTable {
            bail!(UNDEFINED_TABLE, "relation \"{name}\" is not a partition of relation \"{of}\"");
        }
        bail!(UNDEFINED_TABLE, "relation \"{of}\" is not a parent of relation \"{name}\"");
    };
    if row.inhdetachpending && !expect_pending {
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot detach partition \"{name}\""
        )
        .detail("The partition is being detached concurrently or has an unfinished detach.")
        .hint(FINALIZE_HINT));
    }
    if !row.inhdetachpending && expect_pending {
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot complete detaching partition \"{name}\""
        )
        .detail("There's no pending concurrent detach."));
    }
    cat.delete(row)
}

/// The hint of errors that a DETACH CONCURRENTLY which was interrupted causes.
pub const FINALIZE_HINT: &str = "Use ALTER TABLE ... DETACH PARTITION ... FINALIZE to complete \
                                 the pending detach operation.";

/// Makes an existing table a child of another one, which has the same columns and CHECK
/// constraints. Counterpart: `CreateInheritance`.
pub fn connect(host: &mut dyn CommandHost, child: Oid, parent: &RelDesc) -> Result<()> {
    let index = indexes::PG_INHERITS_RELID_SEQNO_INDEX;
    let rows = host.catalog().scan(index, &[child.into()])?;
    if rows.iter().any(|r| r.inhparent == parent.oid()) {
        let name = parent.name();
        bail!(DUPLICATE_TABLE, "relation \"{name}\" would be inherited from more than once");
    }
    let last = rows.iter().map(|r| r.inhseqno).max().unwrap_or(0);
    let rel = host.catalog().relation(child)?;
    merge_columns(host, &rel, parent)?;
    merge_constraints(host, &rel, parent)?;
    store_one(host, child, parent.oid(), last + 1, parent.kind() == RelKind::PartitionedTable)
}

/// Counterpart: `MergeAttributesIntoExisting`.
fn merge_columns(host: &mut dyn CommandHost, child: &RelDesc, parent: &RelDesc) -> Result<()> {
    let is_partition = parent.kind() == RelKind::PartitionedTable;
    for a in parent.attributes.iter().filter(|a| !a.attisdropped) {
        let (name, table) = (a.attname.as_str(), child.name());
        let Some(own) = child.column(name) else {
            bail!(DATATYPE_MISMATCH, "child table is missing column \"{name}\"");
        };
        if (a.atttypid, a.atttypmod) != (own.atttypid, own.atttypmod) {
            bail!(
                DATATYPE_MISMATCH,
                "child table \"{table}\" has different type for column \"{name}\""
            );
        }
        if a.attcollation != own.attcollation {
            bail!(
                COLLATION_MISMATCH,
                "child table \"{table}\" has different collation for column \"{name}\""
            );
        }
        if a.attnotnull && !own.attnotnull {
            bail!(DATATYPE_MISMATCH, "column \"{name}\" in child table must be marked NOT NULL");
        }
        if a.attgenerated != ColumnGenerated::No {
            if own.attgenerated == ColumnGenerated::No {
                bail!(
                    DATATYPE_MISMATCH,
                    "column \"{name}\" in child table must be a generated column"
                );
            }
            let ours = shown_default(host, child, own.attnum)?;
            if ours != shown_default(host, parent, a.attnum)? {
                bail!(
                    DATATYPE_MISMATCH,
                    "column \"{name}\" in child table has a conflicting generation expression"
                );
            }
        }
        class::change_column(host, child.oid(), own.attnum, |a| {
            a.attinhcount += 1;
            a.attislocal &= !is_partition;
        })?;
    }
    Ok(())
}

/// The default or generation expression of a column as text.
fn shown_default(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    number: AttrNo,
) -> Result<Option<String>> {
    match rel.default(number) {
        Some(text) => deparse::stored_expr(host, text.as_str(), rel.oid(), Style::PLAIN),
        None => Ok(None),
    }
}

/// The constraints of a table.
fn constraints(host: &mut dyn CommandHost, table: Oid) -> Result<Vec<Row<PgConstraint>>> {
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    host.catalog().scan(index, &[table.into()])
}

/// Counterpart: `MergeConstraintsIntoExisting`.
fn merge_constraints(host: &mut dyn CommandHost, child: &RelDesc, parent: &RelDesc) -> Result<()> {
    let is_partition = parent.kind() == RelKind::PartitionedTable;
    let own = constraints(host, child.oid())?;
    let table = child.name();
    for check in parent.checks.iter().filter(|c| !c.connoinherit) {
        let name = check.conname.as_str();
        let same = |c: &&Row<PgConstraint>| c.contype == ConType::Check && c.conname == name;
        let Some(found) = own.iter().find(same) else {
            bail!(DATATYPE_MISMATCH, "child table is missing constraint \"{name}\"");
        };
        let shown = |host: &mut dyn CommandHost, c: &PgConstraint| match &c.conbin {
            Some(text) => deparse::stored_expr(host, text.as_str(), c.conrelid, Style::PLAIN),
            None => Ok(None),
        };
        if (found.condeferrable, found.condeferred) != (check.condeferrable, check.condeferred)
            || shown(host, found)? != shown(host, check)?
        {
            bail!(
                DATATYPE_MISMATCH,
                "child table \"{table}\" has different definition for check constraint \"{name}\""
            );
        }
        let conflict = match (found.connoinherit, check.convalidated && !found.convalidated) {
            (true, _) => Some("non-inherited constraint"),
            (_, true) => Some("NOT VALID constraint"),
            _ => None,
        };
        if let Some(conflict) = conflict {
            bail!(
                INVALID_OBJECT_DEFINITION,
                "constraint \"{name}\" conflicts with {conflict} on child table \"{table}\""
            );
        }
        let new = PgConstraint {
            coninhcount: found.coninhcount + 1,
            conislocal: found.conislocal && !is_partition,
            ..found.row.clone()
        };
        host.catalog().update(found, &new)?;
    }
    host.catalog().increment_command_counter()
}

/// Makes a child independent of a parent: columns and constraints that it inherits from no other
/// table become its own. `expect_pending`: its concurrent detachment is finished. Counterpart:
/// `RemoveInheritance`.
pub fn disconnect(
    host: &mut dyn CommandHost,
    child: &RelDesc,
    parent: &RelDesc,
    expect_pending: bool,
) -> Result<()> {
    remove_row(host, child, parent, expect_pending)?;
    for a in child.attributes.iter().filter(|a| !a.attisdropped && a.attinhcount > 0) {
        if parent.column(a.attname.as_str()).is_some() {
            class::change_column(host, child.oid(), a.attnum, |a| {
                a.attinhcount -= 1;
                a.attislocal |= a.attinhcount == 0;
            })?;
        }
    }
    let names: Vec<&str> = parent.checks.iter().map(|c| c.conname.as_str()).collect();
    for c in constraints(host, child.oid())? {
        if c.contype != ConType::Check || c.coninhcount <= 0 || !names.contains(&c.conname.as_str())
        {
            continue;
        }
        let coninhcount = c.coninhcount - 1;
        let conislocal = c.conislocal || coninhcount == 0;
        host.catalog().update(&c, &PgConstraint { coninhcount, conislocal, ..c.row.clone() })?;
    }
    let kind = child_dependency(parent.kind() == RelKind::PartitionedTable);
    drop_dependency(host, child.oid(), ObjectAddress::relation(parent.oid()), kind)?;
    let mut cat = host.catalog();
    cat.invalidate_relation(parent.oid(), false);
    cat.increment_command_counter()
}

/// Deletes the dependency of a relation on an object. Counterpart: `drop_parent_dependency`.
pub fn drop_dependency(
    host: &mut dyn CommandHost,
    relation: Oid,
    on: ObjectAddress,
    kind: DepType,
) -> Result<()> {
    let mut cat = host.catalog();
    for d in cat.dependencies_of(ObjectAddress::relation(relation))? {
        let same = (d.refclassid, d.refobjid, d.refobjsubid) == (on.class, on.object, on.sub);
        if d.objsubid == 0 && same && d.deptype == kind {
            cat.delete(&d)?;
        }
    }
    Ok(())
}

/// The name of a trigger that a child must not have: one for each row with transition tables.
/// Counterpart: `FindTriggerIncompatibleWithInheritance`.
pub fn incompatible_trigger(rel: &RelDesc) -> Option<&str> {
    let row_level = |t: &&catalog::rows::PgTrigger| t.tgtype & executor::trigger::kind::ROW != 0;
    let mut triggers = rel.triggers.iter().filter(row_level);
    let found = triggers.find(|t| t.tgoldtable.is_some() || t.tgnewtable.is_some());
    found.map(|t| t.tgname.as_str())
}
