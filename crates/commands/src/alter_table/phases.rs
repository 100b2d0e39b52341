//! The phases of ALTER TABLE.
//!
//! Counterpart: `ATController` with `ATPrepCmd`, `ATRewriteCatalogs`, `ATExecCmd`,
//! `ATRewriteTables`.

use super::queue::{Pass, Queue, Step, Work};
use super::{add_column, attribute, constraints, identity, properties, rewrite, types};
use catalog::{ObjectAddress, RelDesc};
use define::deletion;
use ids::Oid;
use parse::ast::{AlterTableCmd, AlterTableType, Node};
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::names;

/// Runs subcommands on a locked relation.
pub fn run(host: &mut dyn CommandHost, oid: Oid, cmds: &[AlterTableCmd], sql: &str) -> Result<()> {
    let mut queue = Queue { tables: Vec::new() };
    let rel = host.catalog().relation(oid)?;
    let work = queue.entry(host, oid)?;
    for cmd in cmds {
        properties::prepare(host, &rel, cmd, work)?;
        work.push(Pass::of(cmd), Step::Command(cmd.clone()));
    }
    for pass in Pass::ALL {
        let mut n = 0;
        while n < queue.tables.len() {
            run_pass(host, &mut queue, n, pass, sql)?;
            n += 1;
        }
    }
    for work in &queue.tables {
        rewrite::run(host, work.oid, &work.rewrite)?;
    }
    // The rewritten rows must be visible to the checks.
    host.catalog().increment_command_counter()?;
    for constraint in queue.tables.iter().flat_map(|work| &work.foreign_keys) {
        lock_for_check(host, *constraint)?;
        trigger::validate_foreign_key(host.trigger_host(), *constraint)?;
    }
    Ok(())
}

/// Locks the referenced table and the indexes of both tables of a foreign key, as PostgreSQL does
/// for the query that checks the rows.
fn lock_for_check(host: &mut dyn CommandHost, constraint: Oid) -> Result<()> {
    let Some(row) = host.catalog().constraint(constraint)? else { return Ok(()) };
    host.lock_relation(row.confrelid, names::mode::ROW_SHARE)?;
    for table in [row.conrelid, row.confrelid] {
        let rel = host.catalog().relation(table)?;
        for index in &rel.indexes {
            host.lock_relation(index.indexrelid, names::mode::ACCESS_SHARE)?;
        }
    }
    Ok(())
}

/// Runs the steps of a pass for one table.
fn run_pass(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    n: usize,
    pass: Pass,
    sql: &str,
) -> Result<()> {
    let work = &mut queue.tables[n];
    for step in work.take(pass) {
        match step {
            Step::Command(cmd) => subcommand(host, &cmd, work, sql)?,
            Step::Constraint(c) => constraints::add(host, &c, work, sql)?,
            Step::SetNotNull(column) => constraints::set_not_null(host, &column, work)?,
            Step::Recreate(saved, stmt) => types::recreate(host, &saved, &stmt, work)?,
        }
        host.catalog().increment_command_counter()?;
    }
    match pass {
        Pass::AlterType => types::requeue(host, queue, n),
        _ => Ok(()),
    }
}

fn subcommand(
    host: &mut dyn CommandHost,
    cmd: &AlterTableCmd,
    work: &mut Work,
    sql: &str,
) -> Result<()> {
    let rel = host.catalog().relation(work.oid)?;
    match cmd.subtype {
        AlterTableType::AddColumn => add_column::add(host, &rel, cmd, work, sql),
        AlterTableType::DropColumn => drop_column(host, &rel, cmd),
        AlterTableType::AlterColumnType => types::alter(host, &rel, cmd, work, sql),
        AlterTableType::ColumnDefault => attribute::set_default(host, &rel, cmd),
        AlterTableType::SetNotNull => {
            attribute::must_be(
                &rel,
                attribute::TABLES_AND_FOREIGN,
                "ALTER COLUMN ... SET NOT NULL",
            )?;
            let a = attribute::column(&rel, cmd)?;
            constraints::mark_not_null(host, work, a)
        }
        AlterTableType::DropNotNull => constraints::drop_not_null(host, &rel, cmd),
        AlterTableType::DropExpression => attribute::drop_expression(host, &rel, cmd),
        AlterTableType::AddIdentity => identity::add(host, &rel, cmd, sql),
        AlterTableType::SetIdentity => identity::set(host, &rel, cmd, sql),
        AlterTableType::DropIdentity => identity::drop(host, &rel, cmd),
        AlterTableType::SetStatistics
        | AlterTableType::SetOptions
        | AlterTableType::ResetOptions
        | AlterTableType::SetStorage
        | AlterTableType::SetCompression => attribute::set(host, &rel, cmd),
        AlterTableType::AddConstraint => {
            attribute::must_be(&rel, attribute::TABLES_AND_FOREIGN, "ADD CONSTRAINT")?;
            match &cmd.def {
                Some(Node::Constraint(c)) => work.push_constraint((**c).clone()),
                _ => return Err(PgError::unsupported("this constraint")),
            }
            Ok(())
        }
        AlterTableType::DropConstraint => constraints::drop(host, &rel, cmd),
        AlterTableType::AlterConstraint => constraints::alter(host, &rel, cmd),
        AlterTableType::ValidateConstraint => constraints::validate(host, &rel, cmd, work),
        _ => properties::set(host, &rel, cmd),
    }
}

fn drop_column(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, cmd: &AlterTableCmd) -> Result<()> {
    let name = cmd.name.as_deref().unwrap_or("");
    attribute::must_be(rel, attribute::WITH_COLUMNS, "DROP COLUMN")?;
    let Some(a) = rel.column(name) else {
        if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == name) {
            bail!(FEATURE_NOT_SUPPORTED, "cannot drop system column \"{name}\"");
        }
        let message = format!("column \"{name}\" of relation \"{}\" does not exist", rel.name());
        if cmd.missing_ok {
            host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}, skipping")));
            return Ok(());
        }
        bail!(UNDEFINED_COLUMN, "{message}");
    };
    let object = ObjectAddress::column(rel.oid(), a.attnum);
    deletion::drop_objects(host, &[object], deletion::behavior(cmd.behavior), false)
}
