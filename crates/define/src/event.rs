//! Event triggers: their functions are called at the start and the end of commands, for objects
//! that commands drop, and before tables are rewritten.
//!
//! Reading order: this file (the events), `collect` (what a command has created or changed),
//! `dropped`, `definition` (CREATE and ALTER EVENT TRIGGER).
//!
//! Counterpart: event_trigger.c.

mod collect;
pub mod definition;
pub mod dropped;

use crate::tag::command_tag;
use catalog::rows::{PgEventTrigger, indexes};
use ids::Oid;
use ids::code::Firing;
use parse::ast::{Node, ObjectType};
use pgerror::Result;
use trigger::{CommandEvent, RunningCommand};
use utility::host::CommandHost;

/// True if event triggers fire for commands on objects of this type: not on objects of the whole
/// cluster and event triggers. Counterpart: `EventTriggerSupportsObjectType`.
fn is_observed(object_type: ObjectType) -> bool {
    !matches!(
        object_type,
        ObjectType::Database
            | ObjectType::Tablespace
            | ObjectType::Role
            | ObjectType::ParameterAcl
            | ObjectType::EventTrigger
    )
}

/// True if event triggers fire for the statement. Counterpart: the statements of
/// `ProcessUtilitySlow`.
pub fn fires(stmt: &Node) -> bool {
    match stmt {
        Node::DropStmt(s) => is_observed(s.remove_type),
        Node::RenameStmt(s) => is_observed(s.rename_type),
        Node::AlterObjectDependsStmt(s) => is_observed(s.object_type),
        Node::AlterObjectSchemaStmt(s) => is_observed(s.object_type),
        Node::AlterOwnerStmt(s) => is_observed(s.object_type),
        Node::CommentStmt(s) => is_observed(s.objtype),
        Node::SecLabelStmt(s) => is_observed(s.objtype),
        Node::GrantStmt(s) => is_observed(s.objtype),
        other => !matches!(
            other,
            Node::TruncateStmt(_)
                | Node::CreateEventTrigStmt(_)
                | Node::AlterEventTrigStmt(_)
                | Node::ReassignOwnedStmt(_)
                | Node::CreateRoleStmt(_)
                | Node::AlterRoleStmt(_)
                | Node::DropRoleStmt(_)
                | Node::GrantRoleStmt(_)
                | Node::LockStmt(_)
                | Node::ReindexStmt(_)
                | Node::ClusterStmt(_)
                | Node::VacuumStmt(_)
                | Node::CopyStmt(_)
                | Node::CreatedbStmt(_)
                | Node::DropdbStmt(_)
                | Node::AlterDatabaseStmt(_)
                | Node::AlterDatabaseSetStmt(_)
                | Node::AlterDatabaseRefreshCollStmt(_)
                | Node::AlterRoleSetStmt(_)
                | Node::CreateTableSpaceStmt(_)
                | Node::DropTableSpaceStmt(_)
                | Node::AlterTableSpaceOptionsStmt(_)
                | Node::CheckPointStmt
        ),
    }
}

/// True if there is an event trigger.
pub fn are_any(host: &mut dyn CommandHost) -> Result<bool> {
    Ok(!host.catalog().scan_all::<PgEventTrigger>()?.is_empty())
}

/// Runs a command, with the calls of the functions of event triggers. Counterpart: the frame of
/// `ProcessUtilitySlow`.
pub fn complete(
    host: &mut dyn CommandHost,
    stmt: &Node,
    work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<String>,
) -> Result<String> {
    let command = RunningCommand { tag: command_tag(stmt), ..RunningCommand::default() };
    let all = &mut host.trigger_host().triggers().commands;
    let outside = all.0.len();
    all.0.push(command);
    let noted = host.catalog().session.changed_objects.replace(Vec::new());
    let result = observed(host, stmt, work);
    host.catalog().session.changed_objects = noted;
    host.trigger_host().triggers().commands.0.truncate(outside);
    result
}

fn observed(
    host: &mut dyn CommandHost,
    stmt: &Node,
    work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<String>,
) -> Result<String> {
    fire(host, CommandEvent::Start)?;
    let subject = collect::subject(host, stmt);
    host.catalog().session.changed_objects = Some(Vec::new());
    let tag = work(host)?;
    let changed = host.catalog().session.changed_objects.take().unwrap_or_default();
    collect::collect(host, stmt, subject, &changed)?;
    let all = &mut host.trigger_host().triggers().commands;
    if all.innermost().is_some_and(|command| !command.dropped.is_empty()) {
        set_in_drop(host, true);
        let fired = fire(host, CommandEvent::Drop);
        set_in_drop(host, false);
        fired?;
    }
    fire(host, CommandEvent::End)?;
    Ok(tag)
}

fn set_in_drop(host: &mut dyn CommandHost, in_drop: bool) {
    if let Some(command) = host.trigger_host().triggers().commands.innermost() {
        command.in_drop = in_drop;
    }
}

/// Calls the functions of the event before a table is rewritten. Counterpart:
/// `EventTriggerTableRewrite`.
pub fn rewriting(host: &mut dyn CommandHost, table: Oid, reason: i32) -> Result<()> {
    let Some(command) = host.trigger_host().triggers().commands.innermost() else { return Ok(()) };
    command.rewritten = Some((table, reason));
    let noted = host.catalog().session.changed_objects.take();
    let fired = fire(host, CommandEvent::Rewrite);
    host.catalog().session.changed_objects = noted;
    if let Some(command) = host.trigger_host().triggers().commands.innermost() {
        command.rewritten = None;
    }
    fired
}

/// Calls the functions of the event triggers on this event of the innermost command, in the order
/// of their names. Counterpart: `EventTriggerCommonSetup`, `EventTriggerInvoke`.
fn fire(host: &mut dyn CommandHost, event: CommandEvent) -> Result<()> {
    let Some(command) = host.trigger_host().triggers().commands.innermost() else { return Ok(()) };
    let tag = command.tag;
    let replica = host.trigger_host().is_replica();
    let mut due = Vec::new();
    for row in host.catalog().scan(indexes::PG_EVENT_TRIGGER_EVTNAME_INDEX, &[])? {
        let is_enabled = match row.evtenabled {
            Firing::Disabled => false,
            Firing::Always => true,
            Firing::Origin => !replica,
            Firing::Replica => replica,
        };
        let tags = row.evttags.as_ref();
        let is_of_tag = tags.is_none_or(|tags| tags.iter().any(|t| t.as_str() == tag));
        if is_enabled && is_of_tag && row.evtevent.as_str() == event.name() {
            due.push(row.evtfoid);
        }
    }
    for function in due {
        host.catalog().increment_command_counter()?;
        let depth = host.backend().snapshot_depth();
        let snapshot = host.backend().snapshot();
        host.backend().push_snapshot(snapshot);
        let called = host.trigger_host().call_event_trigger(function, event, tag);
        host.backend().truncate_snapshots(depth);
        called?;
        host.catalog().increment_command_counter()?;
    }
    Ok(())
}
