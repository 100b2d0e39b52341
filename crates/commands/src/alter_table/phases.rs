//! The phases of ALTER TABLE.
//!
//! Counterpart: `ATController` with `ATPrepCmd`, `ATRewriteCatalogs`, `ATExecCmd`,
//! `ATRewriteTables`.

use super::queue::{Pass, Queue, Scope, Step};
use super::{attribute, constraints, identity, properties, recurse, rewrite, tree, types};
use crate::hierarchy;
use crate::partitions::attach;
use ids::Oid;
use parse::ast::{AlterTableCmd, AlterTableType, ConstrType, Node};
use pgerror::{PgError, Result};
use utility::host::{CommandHost, debug};
use utility::names;

/// Runs subcommands on a locked relation.
pub fn run(
    host: &mut dyn CommandHost,
    oid: Oid,
    (cmds, recurse, lock): (&[AlterTableCmd], bool, i32),
    sql: &str,
) -> Result<()> {
    let mut queue = Queue { tables: Vec::new(), lock, pending: attach::Pending::default() };
    for cmd in cmds {
        if cmd.subtype == AlterTableType::AlterColumnType {
            types::check_using(host, oid, cmd, sql)?;
        }
        recurse::prepare(host, &mut queue, oid, cmd, Scope { recurse, recursing: false })?;
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
    for check in &queue.pending.rows {
        let name = host.catalog().class(check.table)?.relname;
        host.notice(debug(format!("verifying table \"{name}\"")));
        attach::run(host, check, check.table)?;
    }
    let added = queue.tables.iter().flat_map(|work| &work.foreign_keys);
    for constraint in added.chain(&queue.pending.foreign_keys) {
        lock_for_check(host, *constraint)?;
        let row = host.catalog().constraint(*constraint)?;
        let Some(row) = row else { continue };
        let table = row.conrelid;
        if host.catalog().class(table)?.relkind.has_storage() {
            let name = &row.conname;
            host.notice(debug(format!("validating foreign key constraint \"{name}\"")));
        }
        if hierarchy::is_empty(host, table)? {
            continue;
        }
        trigger::validate_foreign_key(host.trigger_host(), *constraint)?;
    }
    Ok(())
}

/// Locks the tables of a foreign key and their indexes, as PostgreSQL does for the query that
/// checks the rows.
fn lock_for_check(host: &mut dyn CommandHost, constraint: Oid) -> Result<()> {
    let Some(row) = host.catalog().constraint(constraint)? else { return Ok(()) };
    host.lock_relation(row.confrelid, names::mode::ROW_SHARE)?;
    for table in [row.conrelid, row.confrelid] {
        host.lock_relation(table, names::mode::ACCESS_SHARE)?;
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
    for step in queue.tables[n].take(pass) {
        match step {
            Step::Command(cmd, scope) => subcommand(host, queue, n, (&cmd, scope), sql)?,
            Step::Constraint(c, scope) => match c.contype {
                ConstrType::Check => recurse::add_check(host, queue, n, (&c, scope))?,
                _ => constraints::add(host, (&c, scope), &mut queue.tables[n], sql)?,
            },
            Step::SetNotNull(column, scope) => {
                recurse::key_not_null(host, queue, n, &column, scope)?;
            }
            Step::Recreate(saved, stmt) => types::recreate(host, &saved, &stmt, queue, n)?,
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
    queue: &mut Queue,
    n: usize,
    (cmd, scope): (&AlterTableCmd, Scope),
    sql: &str,
) -> Result<()> {
    let lock = queue.lock;
    let work = &mut queue.tables[n];
    let rel = host.catalog().relation(work.oid)?;
    match cmd.subtype {
        AlterTableType::AddColumn => recurse::add_column(host, queue, n, (cmd, scope), sql),
        AlterTableType::DropColumn => recurse::drop_column(host, &rel, (cmd, scope), lock),
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
                Some(Node::Constraint(c)) => work.push_constraint((**c).clone(), scope),
                _ => return Err(PgError::unsupported("this constraint")),
            }
            Ok(())
        }
        AlterTableType::DropConstraint => recurse::drop_constraint(host, &rel, (cmd, scope), lock),
        AlterTableType::AlterConstraint => constraints::alter(host, &rel, cmd),
        AlterTableType::ValidateConstraint => recurse::validate(host, queue, n, (cmd, scope)),
        AlterTableType::AddInherit
        | AlterTableType::DropInherit
        | AlterTableType::AddOf
        | AlterTableType::DropOf
        | AlterTableType::AttachPartition
        | AlterTableType::DetachPartition
        | AlterTableType::DetachPartitionFinalize => tree::run(host, queue, &rel, cmd, sql),
        _ => properties::set(host, &rel, cmd, scope.recurse),
    }
}
