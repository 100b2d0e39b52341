//! Recursion of ALTER TABLE over inheritance children and partitions, and over the tables of a
//! composite type.
//!
//! Most subcommands become steps of all descendants before the first change. Those that change
//! `attinhcount` or `coninhcount` go from table to table, because they stop at a child that has the
//! column or constraint for another reason too.
//!
//! Counterpart: `ATPrepCmd`, `ATSimpleRecursion`, `ATTypedTableRecursion` and the recursive parts
//! of the `ATExec…` functions.

use super::add_column;
use super::attribute::{self, column};
use super::constraints;
use super::properties;
use super::queue::{Pass, Queue, Scope, Step};
use crate::constraint::{self, CheckMode};
use crate::create_table;
use catalog::rows::{CatalogRow, PgAttribute, PgClass, PgConstraint, PgType, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::deletion;
use ids::code::ConType;
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{
    AlterTableCmd, AlterTableType, ColumnDef, ConstrType, Constraint, DropBehavior, Node,
};
use partition::Detached;
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::{class, names, stored};

/// The hint for a subcommand that must not be restricted to the partitioned table.
const NO_ONLY: &str = "Do not specify the ONLY keyword.";

/// Queues a subcommand for a table and for those below it to which it applies.
pub fn prepare(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    table: Oid,
    cmd: &AlterTableCmd,
    scope: Scope,
) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    if rel.class.relispartition && cmd.subtype != AlterTableType::DetachPartitionFinalize {
        check_not_pending(host, &rel)?;
    }
    if !scope.recursing && rel.class.reloftype.is_valid() {
        check_typed_table(cmd)?;
    }
    let work = queue.entry(host, table)?;
    properties::prepare(host, &rel, cmd, work)?;
    work.push(Pass::of(cmd), Step::Command(cmd.clone(), scope));
    match cmd.subtype {
        AlterTableType::ColumnDefault
        | AlterTableType::SetStatistics
        | AlterTableType::SetStorage => simple(host, queue, &rel, cmd, scope),
        AlterTableType::DropNotNull => {
            if !scope.recurse && !scope.recursing && has_partitions(host, &rel)? {
                return Err(only_removes());
            }
            simple(host, queue, &rel, cmd, scope)
        }
        AlterTableType::SetNotNull => {
            let name = cmd.name.as_deref().unwrap_or("");
            prepare_not_null(host, queue, &rel, (name, cmd), scope)
        }
        AlterTableType::DropExpression => {
            drop_expression(host, &rel, cmd, scope)?;
            simple(host, queue, &rel, cmd, scope)
        }
        // The parts of partitions are dropped with the constraint.
        AlterTableType::DropConstraint if rel.kind() == RelKind::PartitionedTable => {
            descendants(host, &rel, queue.lock).map(|_| ())
        }
        AlterTableType::AlterColumnType => column_type(host, queue, &rel, cmd, scope),
        AlterTableType::AddColumn | AlterTableType::DropColumn
            if rel.kind() == RelKind::CompositeType =>
        {
            typed_tables(host, queue, &rel, cmd)
        }
        _ => Ok(()),
    }
}

/// Error 42809 for a subcommand that would change the columns of a typed table.
fn check_typed_table(cmd: &AlterTableCmd) -> Result<()> {
    let what = match cmd.subtype {
        AlterTableType::AddColumn => "add column to",
        AlterTableType::DropColumn => "drop column from",
        AlterTableType::AlterColumnType => "alter column type of",
        _ => return Ok(()),
    };
    bail!(WRONG_OBJECT_TYPE, "cannot {what} typed table")
}

/// Error 55000 for a partition that is being detached.
fn check_not_pending(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    let index = indexes::PG_INHERITS_RELID_SEQNO_INDEX;
    let rows = host.catalog().scan(index, &[rel.oid().into()])?;
    if !rows.iter().any(|r| r.inhdetachpending) {
        return Ok(());
    }
    Err(pg_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "cannot alter partition \"{}\" with an incomplete detach",
        rel.name()
    )
    .hint(crate::hierarchy::FINALIZE_HINT))
}

fn only_removes() -> PgError {
    pg_err!(
        INVALID_TABLE_DEFINITION,
        "cannot remove constraint from only the partitioned table when partitions exist"
    )
    .hint(NO_ONLY)
}

fn has_partitions(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<bool> {
    Ok(rel.kind() == RelKind::PartitionedTable && has_children(host, rel)?)
}

fn has_children(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<bool> {
    if !rel.class.relhassubclass {
        return Ok(false);
    }
    Ok(!partition::children(&mut host.catalog(), rel.oid(), Detached::Omit)?.is_empty())
}

/// Locks a child. Error 55006 if the session uses it. `None` if it was dropped meanwhile.
fn open_child(host: &mut dyn CommandHost, child: Oid, lock: i32) -> Result<Option<Arc<RelDesc>>> {
    host.lock_relation(child, lock)?;
    let Some(rel) = host.catalog().try_relation(child)? else { return Ok(None) };
    class::not_of_other_session(&rel, "alter")?;
    host.check_not_in_use(child, rel.name(), "ALTER TABLE")?;
    Ok(Some(rel))
}

/// The children of a table, which are locked.
pub fn children(host: &mut dyn CommandHost, rel: &RelDesc, lock: i32) -> Result<Vec<Arc<RelDesc>>> {
    let mut out = Vec::new();
    if !rel.class.relhassubclass {
        return Ok(out);
    }
    for child in partition::children(&mut host.catalog(), rel.oid(), Detached::Omit)? {
        out.extend(open_child(host, child, lock)?);
    }
    Ok(out)
}

/// The descendants of a table, which are locked, each with the number of its parents among them.
pub fn descendants(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    lock: i32,
) -> Result<Vec<(Arc<RelDesc>, i32)>> {
    let mut out = Vec::new();
    if !rel.class.relhassubclass {
        return Ok(out);
    }
    let all = partition::descendants(&mut host.catalog(), rel.oid(), Detached::Omit)?;
    for &child in &all[1..] {
        let Some(rel) = open_child(host, child, lock)? else { continue };
        let parents = partition::parents(&mut host.catalog(), child)?;
        let among = parents.iter().filter(|p| all.contains(p)).count();
        out.push((rel, among as i32));
    }
    Ok(out)
}

/// Queues the subcommand for all descendants.
fn simple(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    scope: Scope,
) -> Result<()> {
    if !scope.recurse {
        return Ok(());
    }
    for (child, _) in descendants(host, rel, queue.lock)? {
        prepare(host, queue, child.oid(), cmd, Scope::CHILD)?;
    }
    Ok(())
}

/// Queues SET NOT NULL for the descendants. With ONLY, the partitions must have it already.
fn prepare_not_null(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    rel: &RelDesc,
    (name, cmd): (&str, &AlterTableCmd),
    scope: Scope,
) -> Result<()> {
    if scope.recursing || !rel.class.relhassubclass {
        return Ok(());
    }
    if rel.kind() == RelKind::PartitionedTable {
        if attribute::column(rel, cmd)?.attnotnull {
            return Ok(());
        }
        if !scope.recurse {
            for (child, _) in descendants(host, rel, queue.lock)? {
                check_not_null(&child, name)?;
            }
            return Ok(());
        }
    }
    simple(host, queue, rel, cmd, scope)
}

/// Error 42P16 unless the child's column is marked NOT NULL.
fn check_not_null(child: &RelDesc, name: &str) -> Result<()> {
    if child.column(name).is_none_or(|a| a.attnotnull) {
        return Ok(());
    }
    Err(pg_err!(INVALID_TABLE_DEFINITION, "constraint must be added to child tables too")
        .detail(format!(
            "Column \"{name}\" of relation \"{}\" is not already NOT NULL.",
            child.name()
        ))
        .hint(NO_ONLY))
}

/// Marks a key column of a new primary key NOT NULL in a table and in those below it.
pub fn key_not_null(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    n: usize,
    name: &str,
    scope: Scope,
) -> Result<()> {
    let rel = host.catalog().relation(queue.tables[n].oid)?;
    let done = rel.column(name).is_some_and(|a| a.attnotnull);
    constraints::set_not_null(host, name, &mut queue.tables[n])?;
    if done && rel.kind() == RelKind::PartitionedTable || scope.recursing {
        return Ok(());
    }
    for (child, _) in descendants(host, &rel, queue.lock)? {
        if !scope.recurse && rel.kind() == RelKind::PartitionedTable {
            check_not_null(&child, name)?;
        } else if scope.recurse {
            let work = queue.entry(host, child.oid())?;
            constraints::set_not_null(host, name, work)?;
        }
    }
    Ok(())
}

fn drop_expression(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    scope: Scope,
) -> Result<()> {
    if scope.recursing {
        return Ok(());
    }
    if !scope.recurse && has_children(host, rel)? {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "ALTER TABLE / DROP EXPRESSION must be applied to child tables too"
        );
    }
    if column(rel, cmd)?.attinhcount > 0 {
        bail!(INVALID_TABLE_DEFINITION, "cannot drop generation expression from inherited column");
    }
    Ok(())
}

/// Queues ALTER COLUMN TYPE for the descendants, or for the tables of the composite type.
fn column_type(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    scope: Scope,
) -> Result<()> {
    let a = column(rel, cmd)?;
    let name = a.attname.as_str();
    if a.attinhcount > 0 && !scope.recursing {
        bail!(INVALID_TABLE_DEFINITION, "cannot alter inherited column \"{name}\"");
    }
    check_not_key(rel, a, "alter")?;
    if scope.recurse {
        for (child, parents) in descendants(host, rel, queue.lock)? {
            let Some(own) = child.column(name) else { return Err(no_column(&child, name)) };
            if own.attinhcount > parents {
                bail!(
                    INVALID_TABLE_DEFINITION,
                    "cannot alter inherited column \"{name}\" of relation \"{}\"",
                    child.name()
                );
            }
            prepare(host, queue, child.oid(), cmd, Scope::CHILD)?;
        }
    } else if !scope.recursing && has_children(host, rel)? {
        bail!(
            INVALID_TABLE_DEFINITION,
            "type of inherited column \"{name}\" must be changed in child tables too"
        );
    }
    if rel.kind() == RelKind::CompositeType {
        typed_tables(host, queue, rel, cmd)?;
    }
    Ok(())
}

fn no_column(rel: &RelDesc, name: &str) -> PgError {
    pg_err!(UNDEFINED_COLUMN, "column \"{name}\" of relation \"{}\" does not exist", rel.name())
}

/// Error 42P16 for a column of the partition key.
fn check_not_key(rel: &RelDesc, a: &PgAttribute, verb: &str) -> Result<()> {
    let Some(row) = &rel.partitioned else { return Ok(()) };
    let mut used: Vec<AttrNo> = row.partattrs.to_vec();
    let in_expr = match &row.partexprs {
        Some(text) => stored::columns_used(&plan::nodetree::read_exprs(text.as_str())?),
        None => Vec::new(),
    };
    let whole_row = in_expr.contains(&0);
    used.extend(in_expr);
    if whole_row || used.contains(&a.attnum) {
        bail!(
            INVALID_TABLE_DEFINITION,
            "cannot {verb} column \"{}\" because it is part of the partition key of relation \
             \"{}\"",
            a.attname,
            rel.name()
        );
    }
    Ok(())
}

/// Queues the subcommand for the tables of a composite type. Error 2BP01 if there are some and
/// CASCADE is not given.
fn typed_tables(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
) -> Result<()> {
    for table in tables_of_type(host, rel, cmd.behavior == DropBehavior::Cascade)? {
        let Some(table) = open_child(host, table, queue.lock)? else { continue };
        let scope = Scope { recurse: true, recursing: true };
        prepare(host, queue, table.oid(), cmd, scope)?;
    }
    Ok(())
}

/// The tables of a composite type. Counterpart: `find_typed_table_dependencies`.
pub fn tables_of_type(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cascade: bool,
) -> Result<Vec<Oid>> {
    let ty = rel.class.reltype;
    let mut out = Vec::new();
    for d in host.catalog().dependents_of(ObjectAddress::of::<PgType>(ty))? {
        if d.classid != PgClass::RELATION || d.objsubid != 0 {
            continue;
        }
        let table = host.catalog().find_class(d.objid)?.filter(|c| c.reloftype == ty);
        if table.is_some() && !cascade {
            return Err(pg_err!(
                DEPENDENT_OBJECTS_STILL_EXIST,
                "cannot alter type \"{}\" because it is the type of a typed table",
                rel.name()
            )
            .hint("Use ALTER ... CASCADE to alter the typed tables too."));
        }
        out.extend(table.map(|c| c.oid));
    }
    Ok(out)
}

/// ADD COLUMN in a table and in those below it.
pub fn add_column(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    n: usize,
    (cmd, scope): (&AlterTableCmd, Scope),
    sql: &str,
) -> Result<()> {
    let rel = host.catalog().relation(queue.tables[n].oid)?;
    let Some(Node::ColumnDef(def)) = &cmd.def else {
        return Err(PgError::internal("ADD COLUMN without a column"));
    };
    if rel.class.relispartition && !scope.recursing {
        bail!(WRONG_OBJECT_TYPE, "cannot add column to a partition");
    }
    let identity = def.constraints.iter().any(|c| c.contype == ConstrType::Identity);
    let added = add_column::add(host, &rel, (cmd, scope), &mut queue.tables[n], sql)?;
    let Some(new) = added else { return Ok(()) };
    let below = children(host, &rel, queue.lock)?;
    if below.is_empty() {
        return Ok(());
    }
    if identity && scope.recurse {
        bail!(
            INVALID_TABLE_DEFINITION,
            "cannot recursively add identity column to table that has child tables"
        );
    }
    if !scope.recurse {
        bail!(INVALID_TABLE_DEFINITION, "column must be added to child tables too");
    }
    let of_child = AlterTableCmd {
        def: Some(Node::ColumnDef(Box::new(child_definition(def, &new)))),
        missing_ok: false,
        ..cmd.clone()
    };
    for child in below {
        queue.entry(host, child.oid())?;
        let at = queue.position(child.oid());
        let scope = Scope { recurse: scope.recurse, recursing: true };
        add_column(host, queue, at, (&of_child, scope), sql)?;
    }
    Ok(())
}

/// The definition of the column in a child: constraints other than NOT NULL are inherited in steps
/// of their own, and a serial column uses the sequence of the parent.
fn child_definition(def: &ColumnDef, new: &create_table::Column) -> ColumnDef {
    let constraint = |contype, raw_expr| Constraint { contype, raw_expr, ..Constraint::default() };
    let mut constraints = Vec::new();
    if new.column.not_null {
        constraints.push(constraint(ConstrType::NotNull, None));
    }
    if let Some(node) = &new.default {
        let kind = if new.generated { ConstrType::Generated } else { ConstrType::Default };
        constraints.push(constraint(kind, Some(node.clone())));
    }
    let type_name = match &new.sequence {
        Some((_, false)) => match create_table::type_option(new.column.ty).arg {
            Some(Node::TypeName(name)) => Some(name),
            _ => None,
        },
        _ => def.type_name.clone(),
    };
    ColumnDef { type_name, constraints, ..def.clone() }
}

/// DROP COLUMN in a table and in those below it.
pub fn drop_column(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    (cmd, scope): (&AlterTableCmd, Scope),
    lock: i32,
) -> Result<()> {
    let mut gone = Vec::new();
    collect_column(host, rel, (cmd, scope), lock, &mut gone)?;
    deletion::drop_objects(host, &gone, deletion::behavior(cmd.behavior), false)
}

/// Collects the columns to drop, and decrements `attinhcount` of those that stay.
fn collect_column(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    (cmd, scope): (&AlterTableCmd, Scope),
    lock: i32,
    gone: &mut Vec<ObjectAddress>,
) -> Result<()> {
    let name = cmd.name.as_deref().unwrap_or("");
    attribute::must_be(rel, attribute::WITH_COLUMNS, "DROP COLUMN")?;
    let Some(a) = rel.column(name) else {
        if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == name) {
            bail!(FEATURE_NOT_SUPPORTED, "cannot drop system column \"{name}\"");
        }
        let e = no_column(rel, name);
        if cmd.missing_ok && !scope.recursing {
            host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{}, skipping", e.message())));
            return Ok(());
        }
        return Err(e);
    };
    if a.attinhcount > 0 && !scope.recursing {
        bail!(INVALID_TABLE_DEFINITION, "cannot drop inherited column \"{name}\"");
    }
    check_not_key(rel, a, "drop")?;
    let below = children(host, rel, lock)?;
    if !below.is_empty() && rel.kind() == RelKind::PartitionedTable && !scope.recurse {
        return Err(pg_err!(
            INVALID_TABLE_DEFINITION,
            "cannot drop column from only the partitioned table when partitions exist"
        )
        .hint(NO_ONLY));
    }
    for child in below {
        let own = child.column(name).ok_or_else(|| no_column(&child, name))?;
        if own.attinhcount <= 0 {
            let oid = child.oid();
            let message = format!("relation {oid} has non-inherited attribute \"{name}\"");
            return Err(PgError::internal(message));
        }
        if scope.recurse && own.attinhcount == 1 && !own.attislocal {
            let scope = Scope { recurse: true, recursing: true };
            collect_column(host, &child, (cmd, scope), lock, gone)?;
        } else {
            class::change_column(host, child.oid(), own.attnum, |a| {
                a.attinhcount -= 1;
                a.attislocal |= !scope.recurse;
            })?;
        }
    }
    gone.push(ObjectAddress::column(rel.oid(), a.attnum));
    Ok(())
}

/// ADD CONSTRAINT … CHECK in a table and in those below it.
pub fn add_check(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    n: usize,
    (c, scope): (&Constraint, Scope),
) -> Result<()> {
    let table = queue.tables[n].oid;
    let mode = match (scope.recursing, queue.tables[n].readds) {
        (true, _) => CheckMode::INHERITED,
        (false, true) => CheckMode { merge: true, ..CheckMode::ALTER },
        (false, false) => CheckMode::ALTER,
    };
    let added = constraint::add_checks(host, table, &[c], mode, "")?;
    let Some(added) = added.into_iter().next() else { return Ok(()) };
    let name = added.name.clone();
    if added.unchecked {
        queue.tables[n].rewrite.checks.push((added.name, added.expr));
    }
    host.catalog().increment_command_counter()?;
    if c.is_no_inherit {
        return Ok(());
    }
    let rel = host.catalog().relation(table)?;
    let below = children(host, &rel, queue.lock)?;
    if !scope.recurse && !below.is_empty() {
        bail!(INVALID_TABLE_DEFINITION, "constraint must be added to child tables too");
    }
    let of_child = Constraint { conname: Some(name.as_str().into()), ..c.clone() };
    for child in below {
        queue.entry(host, child.oid())?;
        let at = queue.position(child.oid());
        let scope = Scope { recurse: scope.recurse, recursing: true };
        add_check(host, queue, at, (&of_child, scope))?;
    }
    Ok(())
}

/// DROP CONSTRAINT in a table and in those below it.
pub fn drop_constraint(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    (cmd, scope): (&AlterTableCmd, Scope),
    lock: i32,
) -> Result<()> {
    let name = cmd.name.as_deref().unwrap_or("");
    let Some(row) = constraints::drop(host, rel, cmd, scope)? else { return Ok(()) };
    if row.contype != ConType::Check && rel.kind() == RelKind::PartitionedTable || row.connoinherit
    {
        return Ok(());
    }
    let below = children(host, rel, lock)?;
    if !below.is_empty() && rel.kind() == RelKind::PartitionedTable && !scope.recurse {
        return Err(only_removes());
    }
    for child in below {
        let own = constraints::named(host, &child, name)?;
        let own = own.ok_or_else(|| constraints::undefined(&child, name))?;
        if own.contype != ConType::Check {
            return Err(PgError::internal("inherited constraint is not a CHECK constraint"));
        }
        if scope.recurse && own.coninhcount == 1 && !own.conislocal {
            let scope = Scope { recurse: true, recursing: true };
            drop_constraint(host, &child, (cmd, scope), lock)?;
        } else {
            let new = PgConstraint {
                coninhcount: own.coninhcount - 1,
                conislocal: own.conislocal || !scope.recurse,
                ..own.row.clone()
            };
            let mut cat = host.catalog();
            cat.update(&own, &new)?;
            cat.increment_command_counter()?;
        }
    }
    Ok(())
}

/// VALIDATE CONSTRAINT in a table and in those below it.
pub fn validate(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    n: usize,
    (cmd, scope): (&AlterTableCmd, Scope),
) -> Result<()> {
    let rel = host.catalog().relation(queue.tables[n].oid)?;
    let Some(row) = constraints::validate(host, &rel, cmd, &mut queue.tables[n])? else {
        return Ok(());
    };
    if row.contype != ConType::Check || row.connoinherit || scope.recursing {
        return Ok(());
    }
    for (child, _) in descendants(host, &rel, queue.lock)? {
        if !scope.recurse {
            bail!(INVALID_TABLE_DEFINITION, "constraint must be validated on child tables too");
        }
        let work = queue.entry(host, child.oid())?;
        constraints::validate(host, &child, cmd, work)?;
    }
    Ok(())
}

/// Error 42P16 if the parent of a partition has the column NOT NULL.
pub fn check_parent_nullable(host: &mut dyn CommandHost, rel: &RelDesc, name: &str) -> Result<()> {
    if !rel.class.relispartition {
        return Ok(());
    }
    let parents = partition::parents(&mut host.catalog(), rel.oid())?;
    let Some(&parent) = parents.first() else { return Ok(()) };
    host.lock_relation(parent, names::mode::ACCESS_SHARE)?;
    let parent = host.catalog().relation(parent)?;
    if parent.column(name).is_some_and(|a| a.attnotnull) {
        bail!(INVALID_TABLE_DEFINITION, "column \"{name}\" is marked NOT NULL in parent table");
    }
    Ok(())
}
