//! Events are queued when rows change, and their triggers called later.

use crate::queue::Event;
use crate::registry::{Side, TriggerCall, constraint_function};
use crate::stats::{Counts, TriggerStats};
use crate::{TriggerHost, no_constraint, ri};
use executor::{Firing, Level, RowEvent, Timing, Trigger};
use ids::{Oid, Tid};
use pgerror::{PgError, Result, pg_err};

/// Does the trigger fire in this mode of `session_replication_role`? Counterpart: `TriggerEnabled`.
fn is_enabled(trigger: &Trigger, replica: bool) -> bool {
    match trigger.firing {
        Firing::Never => false,
        Firing::Always => true,
        Firing::Origin => !replica,
        Firing::Replica => replica,
    }
}

/// Queues the events of a changed row. Counterpart: `AfterTriggerSaveEvent`.
pub fn row_event(host: &mut dyn TriggerHost, event: RowEvent<'_>) -> Result<()> {
    let change = event.change();
    let replica = host.is_replica();
    for t in &event.rel.triggers.list {
        if !t.is_on(change) || !is_enabled(t, replica) {
            continue;
        }
        let known = constraint_function(t.function);
        let Some(f) = known.filter(|_| t.timing == Timing::After && t.level == Level::Row) else {
            return Err(PgError::unsupported(format!("trigger \"{}\"", t.name)));
        };
        let required = match f.side {
            Side::Unique => event.possible_duplicates.contains(&t.constraint_index),
            Side::Referencing => ri::is_check_required(host, t, &event)?,
            Side::Referenced => ri::is_action_required(t, &event),
        };
        if !required {
            continue;
        }
        host.triggers().push(Event {
            trigger: t.oid,
            relation: event.rel.table.oid,
            constraint: t.constraint,
            change,
            old: event.old.map_or(Tid::INVALID, |v| v.tid),
            new: event.new.map_or(Tid::INVALID, |v| v.tid),
            deferrable: t.deferrable,
            initially_deferred: t.initially_deferred,
            fired: 0,
        })?;
    }
    Ok(())
}

/// Fires the triggers of the running statement at its end. Their queries may queue further events,
/// which fire too. Counterpart: `AfterTriggerEndQuery`.
pub fn after_statement(host: &mut dyn TriggerHost) -> Result<()> {
    loop {
        let events = host.triggers().take_immediate()?;
        if events.is_empty() {
            return Ok(());
        }
        fire_all(host, &events)?;
    }
}

/// As [`after_statement`], with statistics of the triggers that fired. `results`: the tables that
/// the statement itself changes.
pub fn after_statement_counted(
    host: &mut dyn TriggerHost,
    results: &[Oid],
) -> Result<Vec<TriggerStats>> {
    host.triggers().counts = Some(Counts::default());
    let result = after_statement(host);
    let counts = host.triggers().counts.take().unwrap_or_default();
    result?;
    counts.finish(host, results)
}

/// Fires the pending events before the commit. Counterpart: `AfterTriggerFireDeferred`.
pub fn before_commit(host: &mut dyn TriggerHost) -> Result<()> {
    after_statement(host)?;
    fire_pending(host, true)
}

/// Fires pending events: all of them, or those that are no longer deferred.
fn fire_pending(host: &mut dyn TriggerHost, all: bool) -> Result<()> {
    loop {
        let events = host.triggers().take_pending(all);
        if events.is_empty() {
            return Ok(());
        }
        fire_all(host, &events)?;
        after_statement(host)?;
    }
}

/// SET CONSTRAINTS for all or some constraints. Pending events of constraints that become immediate
/// fire now. Counterpart: `AfterTriggerSetState`.
pub fn set_constraints(
    host: &mut dyn TriggerHost,
    constraints: Option<&[Oid]>,
    deferred: bool,
) -> Result<()> {
    for &oid in constraints.unwrap_or_default() {
        let row = host.catalog().constraint(oid)?.ok_or_else(|| no_constraint(oid))?;
        if deferred && !row.condeferrable {
            return Err(pg_err!(
                WRONG_OBJECT_TYPE,
                "constraint \"{}\" is not deferrable",
                row.conname
            ));
        }
    }
    host.triggers().set_modes(constraints, deferred);
    if deferred { Ok(()) } else { fire_pending(host, false) }
}

fn fire_all(host: &mut dyn TriggerHost, events: &[Event]) -> Result<()> {
    for event in events {
        host.check_interrupts()?;
        fire(host, event)?;
    }
    Ok(())
}

/// Calls the trigger of an event, if it still exists: its constraint may have been dropped with the
/// other table of a foreign key. A table with events cannot be dropped or altered.
fn fire(host: &mut dyn TriggerHost, event: &Event) -> Result<()> {
    if host.catalog().find_class(event.relation)?.is_none() {
        return Ok(());
    }
    let rel = host.open_relation(event.relation)?;
    let Some(trigger) = rel.triggers.list.iter().find(|t| t.oid == event.trigger) else {
        return Ok(());
    };
    let Some(f) = constraint_function(trigger.function) else { return Ok(()) };
    let (old, new) = (event.old, event.new);
    let call = TriggerCall { rel: &rel, trigger, change: event.change, old, new };
    if host.triggers().counts.is_none() {
        return (f.call)(host, &call);
    }
    let start = host.clock_timestamp();
    (f.call)(host, &call)?;
    let took = (host.clock_timestamp() - start).max(0) as u64;
    host.triggers().counts.get_or_insert_default().add(&rel, trigger, took);
    Ok(())
}
