//! ALTER TABLE and related statements: the checks and locks before the first change.
//!
//! Reading order: `queue` (the work queue), `phases` (the order of the changes), `recurse` (tables
//! below); `attribute`, `add_column`, `types`, `identity` (columns); `constraints`; `tree` (parents
//! and partitions); `properties`; `rewrite` (the rows); `move_all` (all relations of a tablespace).
//!
//! Counterpart: the `ATPrep…` and `ATExec…` functions of tablecmds.c.

mod add_column;
mod attribute;
mod constraints;
mod identity;
mod move_all;
mod phases;
mod properties;
mod queue;
mod recurse;
mod rewrite;
mod tree;
mod types;

pub use move_all::move_all;
pub use properties::change_owner;
pub use recurse::{descendants, tables_of_type};

use catalog::RelDesc;
use ids::RelKind;
use parse::ast::{AlterTableCmd, AlterTableStmt, AlterTableType, ConstrType, Node, ObjectType};
use pgerror::{PgError, Result, bail, pg_err};
use utility::class;
use utility::host::{CommandHost, notice};
use utility::names;

/// ALTER TABLE, INDEX, SEQUENCE, VIEW, TYPE with subcommands.
pub fn alter_table(host: &mut dyn CommandHost, stmt: &AlterTableStmt, sql: &str) -> Result<()> {
    if stmt.cmds.iter().any(detaches_concurrently) {
        host.prevent_in_transaction_block("ALTER TABLE ... DETACH CONCURRENTLY")?;
    }
    let lock = stmt.cmds.iter().map(lock_of).max().unwrap_or(names::mode::ACCESS_EXCLUSIVE);
    names::check_before_lock(host, &stmt.relation, &mut names::must_own_relation)?;
    if stmt.cmds.iter().any(|c| c.subtype == AlterTableType::SetTableSpace) {
        names::exclude_readers(host, &stmt.relation)?;
    }
    let Some(oid) = names::find(host, &stmt.relation, lock)? else {
        if stmt.missing_ok {
            let shown = &stmt.relation.relname;
            host.notice(notice(pg_err!(
                SUCCESSFUL_COMPLETION,
                "relation \"{shown}\" does not exist, skipping"
            )));
            return Ok(());
        }
        return Err(names::missing(host, &stmt.relation)?);
    };
    let rel = host.catalog().relation(oid)?;
    names::must_own_relation(host, &rel)?;
    names::not_a_catalog(host, &rel)?;
    check_object_type(&rel, stmt.objtype)?;
    if rel.kind() == RelKind::ForeignTable {
        return Err(PgError::unsupported(format!("foreign table \"{}\"", rel.name())));
    }
    class::not_of_other_session(&rel, "alter")?;
    host.check_not_in_use(rel.oid(), rel.name(), "ALTER TABLE")?;
    phases::run(host, oid, (&stmt.cmds, stmt.relation.inh, lock), sql)
}

/// True for DETACH PARTITION … CONCURRENTLY.
fn detaches_concurrently(cmd: &AlterTableCmd) -> bool {
    cmd.subtype == AlterTableType::DetachPartition
        && matches!(&cmd.def, Some(Node::PartitionCmd(of)) if of.concurrent)
}

/// Error 42809 if the object type in the statement does not match the relation. Counterpart:
/// `RangeVarCallbackForAlterRelation`.
fn check_object_type(rel: &RelDesc, wanted: ObjectType) -> Result<()> {
    let kind = rel.kind();
    let what = match wanted {
        ObjectType::View if kind != RelKind::View => "a view",
        ObjectType::Matview if kind != RelKind::MaterializedView => "a materialized view",
        ObjectType::Sequence if kind != RelKind::Sequence => "a sequence",
        ObjectType::Index if !kind.is_index() => "an index",
        ObjectType::Type if kind != RelKind::CompositeType => "a composite type",
        ObjectType::ForeignTable if kind != RelKind::ForeignTable => "a foreign table",
        ObjectType::Table if kind == RelKind::CompositeType => {
            return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is a composite type", rel.name())
                .hint("Use ALTER TYPE instead."));
        }
        _ => return Ok(()),
    };
    bail!(WRONG_OBJECT_TYPE, "\"{}\" is not {what}", rel.name())
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
        | AlterTableType::DropCluster
        | AlterTableType::AttachPartition
        | AlterTableType::DetachPartitionFinalize => names::mode::SHARE_UPDATE_EXCLUSIVE,
        AlterTableType::DetachPartition => match &cmd.def {
            Some(Node::PartitionCmd(of)) if of.concurrent => names::mode::SHARE_UPDATE_EXCLUSIVE,
            _ => names::mode::ACCESS_EXCLUSIVE,
        },
        _ => names::mode::ACCESS_EXCLUSIVE,
    }
}

/// Storage parameters that need ACCESS EXCLUSIVE, because plans or concurrent changes depend on
/// them.
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
