//! ALTER TABLE and related statements: dispatch of subcommands and their order.
//!
//! Subcommands run in PostgreSQL's passes: drops first, then new column types, new columns and
//! column attributes; then the table is rewritten if needed; then constraints and indexes, which
//! check the new rows; then the rest.
//!
//! Counterpart: the `ATPrep…` and `ATExec…` functions of tablecmds.c.

mod add_column;
mod attribute;
mod constraints;
mod identity;
mod properties;
mod rewrite;
mod types;

pub use constraints::set_not_null;
pub use properties::change_owner;
pub use rewrite::Rewrite;

use crate::{class, deletion};
use catalog::rows::PgAttribute;
use catalog::{ObjectAddress, RelDesc};
use ids::{AttrNo, Oid};
use parse::ast::{
    AlterTableCmd, AlterTableStmt, AlterTableType, ConstrType, Constraint, DropBehavior, Node,
    ObjectType,
};
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::names;

/// State that subcommands leave for the end of their pass or of the statement.
pub struct Work {
    pub oid: Oid,
    /// The table rewrite, with the descriptor of the relation before the statement.
    pub rewrite: Rewrite,
    /// Constraints of new columns, for later passes.
    pub constraints: Vec<Constraint>,
    /// Constraints and indexes that were dropped because a column type changed, to be recreated.
    pub rebuild: types::Rebuild,
    /// Columns whose type has been changed.
    pub retyped: Vec<AttrNo>,
}

/// ALTER TABLE, INDEX, SEQUENCE, VIEW, TYPE with subcommands.
pub fn alter_table(host: &mut dyn CommandHost, stmt: &AlterTableStmt, sql: &str) -> Result<()> {
    let lock = stmt.cmds.iter().map(lock_of).max().unwrap_or(names::mode::ACCESS_EXCLUSIVE);
    if stmt.cmds.iter().any(|c| c.subtype == AlterTableType::SetTableSpace) {
        names::exclude_readers(host, &stmt.relation)?;
    }
    names::check_before_lock(host, &stmt.relation, &mut names::must_own_relation)?;
    let Some(oid) = names::find(host, &stmt.relation, lock)? else {
        if stmt.missing_ok {
            let shown = &stmt.relation.relname;
            host.notice(notice(pg_err!(
                SUCCESSFUL_COMPLETION,
                "relation \"{shown}\" does not exist, skipping"
            )));
            return Ok(());
        }
        if stmt.objtype == ObjectType::Type {
            bail!(UNDEFINED_OBJECT, "type \"{}\" does not exist", names::shown(&stmt.relation));
        }
        return Err(names::missing(host, &stmt.relation)?);
    };
    let rel = host.catalog().relation(oid)?;
    names::must_own_relation(host, &rel)?;
    names::not_a_catalog(&rel)?;
    check_object_type(&rel, stmt.objtype)?;
    host.catalog().check_children(&rel.class.row)?;
    if rel.attributes.iter().any(|a| a.attinhcount > 0) {
        return Err(PgError::unsupported("inheritance"));
    }
    if rel.class.reloftype.is_valid() {
        stmt.cmds.iter().try_for_each(check_typed_table)?;
    }
    let cascade = stmt.cmds.iter().any(|c| c.behavior == DropBehavior::Cascade);
    host.catalog().check_typed_tables(&rel, cascade)?;
    class::not_of_other_session(&rel, "alter")?;
    host.check_not_in_use(rel.oid(), rel.name(), "ALTER TABLE")?;
    run(host, oid, &stmt.cmds, sql)
}

/// 42809 where the object type in the statement does not match the relation. Counterpart:
/// `RangeVarCallbackForAlterRelation`.
fn check_object_type(rel: &RelDesc, wanted: ObjectType) -> Result<()> {
    let kind = rel.kind();
    let what = match wanted {
        ObjectType::View if kind != b'v' => "a view",
        ObjectType::Matview if kind != b'm' => "a materialized view",
        ObjectType::Sequence if kind != b'S' => "a sequence",
        ObjectType::Index if !matches!(kind, b'i' | b'I') => "an index",
        ObjectType::Type if kind != b'c' => "a composite type",
        ObjectType::ForeignTable if kind != b'f' => "a foreign table",
        ObjectType::Table if kind == b'c' => {
            return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is a composite type", rel.name())
                .hint("Use ALTER TYPE instead."));
        }
        _ => return Ok(()),
    };
    bail!(WRONG_OBJECT_TYPE, "\"{}\" is not {what}", rel.name())
}

/// Rejects subcommands that would change the columns of a typed table.
fn check_typed_table(cmd: &AlterTableCmd) -> Result<()> {
    let what = match cmd.subtype {
        AlterTableType::AddColumn => "add column to",
        AlterTableType::DropColumn => "drop column from",
        AlterTableType::AlterColumnType => "alter column type of",
        _ => return Ok(()),
    };
    bail!(WRONG_OBJECT_TYPE, "cannot {what} typed table")
}

/// Runs subcommands on a locked relation.
pub fn run(host: &mut dyn CommandHost, oid: Oid, cmds: &[AlterTableCmd], sql: &str) -> Result<()> {
    let rel = host.catalog().relation(oid)?;
    let mut work = Work {
        oid,
        rewrite: Rewrite::new(rel.clone()),
        constraints: Vec::new(),
        rebuild: types::Rebuild::default(),
        retyped: Vec::new(),
    };
    for cmd in cmds {
        properties::prepare(host, &rel, cmd, &mut work)?;
    }
    let mut sorted: Vec<&AlterTableCmd> = cmds.iter().collect();
    sorted.sort_by_key(|c| pass_of(c));
    let mut sorted = sorted.into_iter().peekable();
    while let Some(cmd) = sorted.next_if(|c| pass_of(c) <= PASS_COLUMN_ATTRIBUTES) {
        subcommand(host, cmd, &mut work, sql)?;
        host.catalog().increment_command_counter()?;
    }
    rewrite::run(host, oid, &mut work.rewrite)?;
    // Later checks must see the rewritten rows.
    host.catalog().increment_command_counter()?;
    types::rebuild(host, &mut work)?;
    let mut later: Vec<Constraint> = std::mem::take(&mut work.constraints);
    later.sort_by_key(|c| constraint_pass(c.contype));
    let mut later = later.into_iter().peekable();
    for cmd in sorted {
        while let Some(c) = later.next_if(|c| constraint_pass(c.contype) <= pass_of(cmd)) {
            constraints::add(host, oid, &c, sql)?;
            host.catalog().increment_command_counter()?;
        }
        subcommand(host, cmd, &mut work, sql)?;
        host.catalog().increment_command_counter()?;
    }
    for c in later {
        constraints::add(host, oid, &c, sql)?;
        host.catalog().increment_command_counter()?;
    }
    Ok(())
}

fn lock_of(cmd: &AlterTableCmd) -> i32 {
    match cmd.subtype {
        AlterTableType::AddConstraint => match &cmd.def {
            Some(Node::Constraint(c)) if c.contype == ConstrType::Foreign => {
                names::mode::SHARE_ROW_EXCLUSIVE
            }
            _ => names::mode::ACCESS_EXCLUSIVE,
        },
        AlterTableType::EnableTrig
        | AlterTableType::EnableAlwaysTrig
        | AlterTableType::EnableReplicaTrig
        | AlterTableType::EnableTrigAll
        | AlterTableType::EnableTrigUser
        | AlterTableType::DisableTrig
        | AlterTableType::DisableTrigAll
        | AlterTableType::DisableTrigUser => names::mode::SHARE_ROW_EXCLUSIVE,
        AlterTableType::SetRelOptions | AlterTableType::ResetRelOptions => lock_of_options(cmd),
        AlterTableType::SetStatistics
        | AlterTableType::ValidateConstraint
        | AlterTableType::SetOptions
        | AlterTableType::ResetOptions
        | AlterTableType::ClusterOn
        | AlterTableType::DropCluster => names::mode::SHARE_UPDATE_EXCLUSIVE,
        _ => names::mode::ACCESS_EXCLUSIVE,
    }
}

/// Storage parameters that need ACCESS EXCLUSIVE, since plans or concurrent changes depend on them.
const STRONG_OPTIONS: [&str; 4] =
    ["check_option", "security_barrier", "security_invoker", "user_catalog_table"];

/// Counterpart: `AlterTableGetRelOptionsLockLevel`.
fn lock_of_options(cmd: &AlterTableCmd) -> i32 {
    let Some(Node::List(list)) = &cmd.def else { return names::mode::ACCESS_EXCLUSIVE };
    let is_strong = |name: &str| STRONG_OPTIONS.iter().any(|o| name.eq_ignore_ascii_case(o));
    let strong = |n: &Node| matches!(n, Node::DefElem(d) if is_strong(&d.defname));
    match list.iter().any(strong) {
        true => names::mode::ACCESS_EXCLUSIVE,
        false => names::mode::SHARE_UPDATE_EXCLUSIVE,
    }
}

const PASS_COLUMN_ATTRIBUTES: i32 = 5;

/// Counterpart: `AlterTablePass`.
fn pass_of(cmd: &AlterTableCmd) -> i32 {
    match cmd.subtype {
        AlterTableType::DropColumn
        | AlterTableType::DropConstraint
        | AlterTableType::DropNotNull
        | AlterTableType::DropExpression
        | AlterTableType::DropIdentity => 0,
        AlterTableType::AlterColumnType => 1,
        AlterTableType::AddColumn => 4,
        AlterTableType::ColumnDefault if cmd.def.is_none() => 0,
        // Before the table rewrite, so that new defaults and NOT NULL are checked by it.
        AlterTableType::ColumnDefault
        | AlterTableType::AddIdentity
        | AlterTableType::SetIdentity
        | AlterTableType::SetNotNull
        | AlterTableType::SetStorage
        | AlterTableType::SetCompression => PASS_COLUMN_ATTRIBUTES,
        AlterTableType::AddConstraint => match &cmd.def {
            Some(Node::Constraint(c)) => constraint_pass(c.contype),
            _ => 10,
        },
        _ => 11,
    }
}

fn constraint_pass(kind: ConstrType) -> i32 {
    match kind {
        ConstrType::Primary => 7,
        ConstrType::Unique => 8,
        ConstrType::Check => 9,
        _ => 10,
    }
}

/// The column of a subcommand, given by name or (for indexes) by number.
fn column<'a>(rel: &'a RelDesc, cmd: &AlterTableCmd) -> Result<&'a PgAttribute> {
    let Some(name) = cmd.name.as_deref() else {
        let found = rel.attribute(cmd.num).filter(|a| !a.attisdropped);
        return found.ok_or_else(|| {
            pg_err!(
                UNDEFINED_COLUMN,
                "column number {} of relation \"{}\" does not exist",
                cmd.num,
                rel.name()
            )
        });
    };
    match rel.column(name) {
        Some(a) => Ok(a),
        None if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == name) => {
            bail!(FEATURE_NOT_SUPPORTED, "cannot alter system column \"{name}\"")
        }
        None => bail!(
            UNDEFINED_COLUMN,
            "column \"{name}\" of relation \"{}\" does not exist",
            rel.name()
        ),
    }
}

/// 42809 unless the relation's kind is one of `kinds`.
fn must_be(rel: &RelDesc, kinds: &[u8], action: &str) -> Result<()> {
    if kinds.contains(&rel.kind()) {
        return Ok(());
    }
    Err(pg_err!(
        WRONG_OBJECT_TYPE,
        "ALTER action {action} cannot be performed on relation \"{}\"",
        rel.name()
    )
    .detail(class::kind_not_supported(rel.kind())))
}

fn subcommand(
    host: &mut dyn CommandHost,
    cmd: &AlterTableCmd,
    work: &mut Work,
    sql: &str,
) -> Result<()> {
    let oid = work.oid;
    let rel = host.catalog().relation(oid)?;
    match cmd.subtype {
        AlterTableType::AddColumn => add_column::add(host, &rel, cmd, work, sql),
        AlterTableType::DropColumn => drop_column(host, &rel, cmd),
        AlterTableType::AlterColumnType => types::alter(host, &rel, cmd, work, sql),
        AlterTableType::ColumnDefault => attribute::set_default(host, &rel, cmd),
        AlterTableType::SetNotNull => {
            must_be(&rel, b"rpf", "ALTER COLUMN ... SET NOT NULL")?;
            let number = column(&rel, cmd)?.attnum;
            if work.rewrite.is_needed() || work.rewrite.verify_not_null {
                if !column(&rel, cmd)?.attnotnull {
                    work.rewrite.verify_not_null = true;
                    class::change_column(host, oid, number, |a| a.attnotnull = true)?;
                }
                return Ok(());
            }
            set_not_null(host, &rel, &[number])
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
            must_be(&rel, b"rpf", "ADD CONSTRAINT")?;
            match &cmd.def {
                Some(Node::Constraint(c)) => constraints::add(host, oid, c, sql),
                _ => Err(PgError::unsupported("this constraint")),
            }
        }
        AlterTableType::DropConstraint => constraints::drop(host, &rel, cmd),
        AlterTableType::AlterConstraint => constraints::alter(host, &rel, cmd),
        AlterTableType::ValidateConstraint => constraints::validate(host, &rel, cmd),
        _ => properties::set(host, &rel, cmd),
    }
}

fn drop_column(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, cmd: &AlterTableCmd) -> Result<()> {
    let name = cmd.name.as_deref().unwrap_or("");
    must_be(rel, b"rpcf", "DROP COLUMN")?;
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
