//! Events are queued when rows change, and their triggers called later.

use crate::call::TriggerCall;
use crate::host::{TriggerHost, no_constraint};
use crate::queue::Event;
use crate::registry::{Side, constraint_function};
use crate::ri;
use crate::stats::{Counts, TriggerStats};
use executor::{BeforeRowResult, Change, Level, OpenRel, RowEvent, RowVersion, Timing, Trigger};
use ids::code::Firing;
use ids::{Oid, Tid};
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use std::sync::Arc;
use types::{Datum, DatumRef};

/// True if the trigger fires in this mode of `session_replication_role`. Counterpart:
/// `TriggerEnabled`.
fn is_enabled(trigger: &Trigger, replica: bool) -> bool {
    match trigger.firing {
        Firing::Disabled => false,
        Firing::Always => true,
        Firing::Origin => !replica,
        Firing::Replica => replica,
    }
}

/// The enabled triggers of a table on a change. An error where a property of one of them is not
/// supported.
fn enabled<'a>(
    host: &mut dyn TriggerHost,
    rel: &'a OpenRel,
    change: Change,
    (timing, level): (Timing, Level),
) -> Result<SmallVec<[&'a Trigger; 4]>> {
    let replica = host.is_replica();
    let mut found = SmallVec::new();
    for t in &rel.triggers.list {
        if t.timing != timing || t.level != level || !t.is_on(change) || !is_enabled(t, replica) {
            continue;
        }
        if !t.is_plain && constraint_function(t.function).is_none() {
            return Err(PgError::unsupported(format!("trigger \"{}\"", t.name)));
        }
        found.push(t);
    }
    Ok(found)
}

fn event_of(rel: &OpenRel, t: &Trigger, change: Change, old: Tid, new: Tid) -> Event {
    Event {
        trigger: t.oid,
        relation: rel.table.oid,
        constraint: t.constraint,
        change,
        old,
        new,
        deferrable: t.deferrable,
        initially_deferred: t.initially_deferred,
        fired: 0,
    }
}

/// Queues the events of a changed row. Counterpart: `AfterTriggerSaveEvent`.
pub fn row_event(host: &mut dyn TriggerHost, event: RowEvent<'_>) -> Result<()> {
    let change = event.change();
    let tid = |v: Option<RowVersion<'_>>| v.map_or(Tid::INVALID, |v| v.tid);
    for t in enabled(host, event.rel, change, (Timing::After, Level::Row))? {
        let required = match constraint_function(t.function).map(|f| f.side) {
            Some(Side::Unique) => event.possible_duplicates.contains(&t.constraint_index),
            Some(Side::Referencing) => ri::is_check_required(host, t, &event)?,
            Some(Side::Referenced) => ri::is_action_required(t, &event),
            None => true,
        };
        if required {
            let event = event_of(event.rel, t, change, tid(event.old), tid(event.new));
            host.triggers().push(event)?;
        }
    }
    Ok(())
}

/// Calls the triggers that fire before a row is changed, each with the answer of the one before.
/// Counterpart: `ExecBRInsertTriggers`, `ExecBRUpdateTriggers`, `ExecBRDeleteTriggers`.
pub fn before_row(
    host: &mut dyn TriggerHost,
    rel: &Arc<OpenRel>,
    old: Option<RowVersion<'_>>,
    new: Option<&[DatumRef<'_>]>,
) -> Result<BeforeRowResult> {
    let change = match (&old, new) {
        (None, _) => Change::Insert,
        (_, None) => Change::Delete,
        _ => Change::Update,
    };
    let old = old.map_or(Tid::INVALID, |v| v.tid);
    let mut row: Option<Vec<Datum>> =
        new.map(|values| values.iter().map(|d| DatumRef::to_owned(*d)).collect());
    let mut is_replaced = false;
    for trigger in enabled(host, rel, change, (Timing::Before, Level::Row))? {
        let proposed = row.as_deref();
        let call = TriggerCall { rel, trigger, change, old, new: Tid::INVALID, proposed };
        match call_function(host, &call)? {
            BeforeRowResult::Keep => {}
            BeforeRowResult::Skip => return Ok(BeforeRowResult::Skip),
            BeforeRowResult::Replace(values) => {
                is_replaced = true;
                row = Some(values);
            }
        }
    }
    Ok(match row {
        Some(values) if is_replaced => BeforeRowResult::Replace(values),
        _ => BeforeRowResult::Keep,
    })
}

/// Calls the triggers that fire before a statement, or queues those that fire after it.
/// Counterpart: `ExecBSInsertTriggers`, `ExecASInsertTriggers` and so on.
pub fn statement_event(
    host: &mut dyn TriggerHost,
    rel: &Arc<OpenRel>,
    change: Change,
    timing: Timing,
) -> Result<()> {
    let none = Tid::INVALID;
    for trigger in enabled(host, rel, change, (timing, Level::Statement))? {
        if timing == Timing::After {
            host.triggers().push(event_of(rel, trigger, change, none, none))?;
            continue;
        }
        let call = TriggerCall { rel, trigger, change, old: none, new: none, proposed: None };
        call_function(host, &call)?;
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

/// Counts the triggers that fire from now on, for [`after_statement_counted`].
pub fn start_counting(host: &mut dyn TriggerHost) {
    host.triggers().counts = Some(Counts::default());
}

/// As [`after_statement`], with statistics of the triggers that fired since [`start_counting`].
/// `results`: the tables that the statement itself changes.
pub fn after_statement_counted(
    host: &mut dyn TriggerHost,
    results: &[Oid],
) -> Result<Vec<TriggerStats>> {
    let result = after_statement(host);
    let counts = host.triggers().counts.take().unwrap_or_default();
    result?;
    let mut out = Vec::new();
    for (mut stats, constraint) in counts.finish(results) {
        if constraint.is_valid() {
            let row = host.catalog().constraint(constraint)?;
            stats.constraint = row.map(|row| row.conname.to_string());
        }
        out.push(stats);
    }
    Ok(out)
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
    let (old, new, change) = (event.old, event.new, event.change);
    let call = TriggerCall { rel: &rel, trigger, change, old, new, proposed: None };
    call_function(host, &call).map(|_| ())
}

fn call_function(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    if host.triggers().counts.is_none() {
        return call_uncounted(host, call);
    }
    let start = host.clock_timestamp();
    let answer = call_uncounted(host, call)?;
    let took = (host.clock_timestamp() - start).max(0) as u64;
    host.triggers().counts.get_or_insert_default().add(call.rel, call.trigger, took);
    Ok(answer)
}

fn call_uncounted(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    let function = call.trigger.function;
    if let Some(f) = constraint_function(function) {
        return (f.call)(host, call).map(|()| BeforeRowResult::Keep);
    }
    host.call_trigger(call)
}
