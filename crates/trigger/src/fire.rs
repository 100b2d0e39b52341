//! Events are queued when rows change, and their triggers called later.

use crate::call::TriggerCall;
use crate::condition;
use crate::host::{TriggerHost, no_constraint};
use crate::queue::{Event, TriggerManager};
use crate::registry::{Side, constraint_function, other_function};
use crate::ri;
use crate::rows::EventRows;
use crate::stats::{Counts, TriggerStats};
use crate::transition;
use catalog::rows::{PgConstraint, indexes};
use catalog::{CatalogState, Row};
use executor::{
    BeforeRowResult, Change, Level, Movement, OpenRel, ProposedChange, Refs, RowEvent, RowVersion,
    Timing, Trigger,
};
use ids::code::Firing;
use ids::{AttrNo, Oid, Tid};
use pgerror::{Result, pg_err};
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

/// What happens to a table.
#[derive(Clone, Copy)]
struct Occasion<'a> {
    change: Change,
    timing: Timing,
    level: Level,
    /// The columns that an UPDATE sets.
    updated: &'a [AttrNo],
}

/// The triggers of a table for this occasion, regardless of their conditions.
fn enabled<'a>(
    host: &mut dyn TriggerHost,
    rel: &'a OpenRel,
    at: Occasion<'_>,
) -> Result<SmallVec<[&'a Trigger; 4]>> {
    let replica = host.is_replica();
    let mut found = SmallVec::new();
    for t in &rel.triggers.list {
        let is_of = t.timing == at.timing && t.level == at.level && t.is_on(at.change);
        if !is_of || !is_enabled(t, replica) {
            continue;
        }
        let updates = at.change == Change::Update && !t.columns.is_empty();
        if updates && !t.columns.iter().any(|c| at.updated.contains(c)) {
            continue;
        }
        found.push(t);
    }
    Ok(found)
}

fn event_of(
    manager: &mut TriggerManager,
    rel: &OpenRel,
    t: &Trigger,
    at: Occasion<'_>,
    (old, new): (Tid, Tid),
) -> Result<Event> {
    let change = at.change;
    // Functions of constraints compare the keys.
    let updated = match constraint_function(t.function) {
        Some(_) => 0,
        None => manager.number_columns(at.updated)?,
    };
    // The event after a statement cancels an earlier one for the same rows.
    let has_tables = t.old_table.is_some() || t.new_table.is_some() || t.level == Level::Statement;
    Ok(Event {
        trigger: t.oid,
        tables: has_tables.then(|| manager.captured(rel.table.oid, change)),
        for_row: t.level == Level::Row,
        relation: rel.table.oid,
        constraint: t.constraint,
        change,
        old,
        new,
        parts: None,
        updated,
        deferrable: t.deferrable,
        initially_deferred: t.initially_deferred,
        fired: 0,
    })
}

/// Queues the events of a changed row. Counterpart: `AfterTriggerSaveEvent`.
pub fn row_event(host: &mut dyn TriggerHost, event: RowEvent<'_>) -> Result<()> {
    if let Some(Movement::Whole { source, destination }) = event.movement {
        return movement_event(host, &event, source, destination);
    }
    let (change, updated) = (event.change(), event.updated);
    let at = Occasion { change, timing: Timing::After, level: Level::Row, updated };
    let tid = |v: Option<RowVersion<'_>>| v.map_or(Tid::INVALID, |v| v.tid);
    for t in enabled(host, event.rel, at)? {
        if !condition::holds(host, event.rel, t, event.old, event.new)? {
            continue;
        }
        let required = match constraint_function(t.function).map(|f| f.side) {
            Some(Side::Unique) => event.possible_duplicates.contains(&t.constraint_index),
            Some(Side::Referencing) => ri::is_check_required(host, t, &event)?,
            // The event of the whole movement takes its place.
            Some(Side::Referenced) if event.movement.is_some() && t.is_clone => false,
            Some(Side::Referenced) => ri::is_action_required(t, &event),
            None => true,
        };
        if required {
            let versions = (tid(event.old), tid(event.new));
            let manager = host.triggers();
            let event = event_of(manager, event.rel, t, at, versions)?;
            manager.push(event)?;
        }
    }
    Ok(())
}

/// Queues the events of a row that an UPDATE has moved to another partition for the foreign keys
/// that refer to the partitioned table. Other triggers of the table are also those of its
/// partitions, where they fire.
#[cold]
fn movement_event(
    host: &mut dyn TriggerHost,
    event: &RowEvent<'_>,
    source: &Arc<OpenRel>,
    destination: &Arc<OpenRel>,
) -> Result<()> {
    ri::movement::check_ancestors(host, event.rel, source)?;
    let change = Change::Update;
    let at = Occasion { change, timing: Timing::After, level: Level::Row, updated: &[] };
    let (Some(old), Some(new)) = (event.old, event.new) else { return Ok(()) };
    for t in enabled(host, event.rel, at)? {
        let side = constraint_function(t.function).map(|f| f.side);
        if side != Some(Side::Referenced) {
            continue;
        }
        let versions = [(&**source, old.tid), (&**destination, new.tid)];
        if ri::movement::is_action_required(host, (event.rel, t), versions)? {
            let manager = host.triggers();
            let parts = Some((source.table.oid, destination.table.oid));
            let queued = event_of(manager, event.rel, t, at, (old.tid, new.tid))?;
            manager.push(Event { parts, ..queued })?;
        }
    }
    Ok(())
}

/// Calls the triggers that fire before a row is changed, or in place of the change, each with the
/// answer of the one before. Counterpart: `ExecBRInsertTriggers`, `ExecBRUpdateTriggers`,
/// `ExecBRDeleteTriggers` and `ExecIRInsertTriggers` and so on.
pub fn before_row(
    host: &mut dyn TriggerHost,
    proposed: ProposedChange<'_>,
) -> Result<BeforeRowResult> {
    let ProposedChange { rel, timing, new, updated, .. } = proposed;
    let at = Occasion { change: proposed.change(), timing, level: Level::Row, updated };
    let mut replaced: Option<Vec<Datum>> = None;
    for trigger in enabled(host, rel, at)? {
        let answer = match &replaced {
            None => call_before(host, &proposed, trigger, new)?,
            Some(row) => {
                let row: Refs<'_> = row.iter().map(Datum::as_ref).collect();
                call_before(host, &proposed, trigger, Some(&row))?
            }
        };
        match answer {
            BeforeRowResult::Keep => {}
            BeforeRowResult::Skip => return Ok(BeforeRowResult::Skip),
            BeforeRowResult::Replace(values) => {
                if at.change == Change::Insert && trigger.is_clone {
                    condition::check_partition(host, rel, trigger, &values)?;
                }
                replaced = Some(values);
            }
        }
    }
    Ok(replaced.map_or(BeforeRowResult::Keep, BeforeRowResult::Replace))
}

/// Calls a trigger before a row is changed, if its condition holds. `new_row`: the row as the
/// triggers before have replaced it.
fn call_before(
    host: &mut dyn TriggerHost,
    proposed: &ProposedChange<'_>,
    trigger: &Trigger,
    new_row: Option<&[DatumRef<'_>]>,
) -> Result<BeforeRowResult> {
    let (rel, change) = (proposed.rel, proposed.change());
    let old_row = proposed.old.map(|v| v.values);
    let new_version = new_row.map(|values| RowVersion { tid: Tid::INVALID, values });
    if !condition::holds(host, rel, trigger, proposed.old, new_version)? {
        return Ok(BeforeRowResult::Keep);
    }
    let (old, new) = (proposed.old.map_or(Tid::INVALID, |v| v.tid), Tid::INVALID);
    let (parts, tables, updated) = (None, &[][..], proposed.updated);
    let call =
        TriggerCall { rel, trigger, change, old, new, parts, old_row, new_row, updated, tables };
    call_function(host, &call)
}

/// Calls the triggers that fire before a statement, or queues those that fire after it.
/// Counterpart: `ExecBSInsertTriggers`, `ExecASInsertTriggers` and so on.
pub fn statement_event(
    host: &mut dyn TriggerHost,
    rel: &Arc<OpenRel>,
    change: Change,
    timing: Timing,
    updated: &[AttrNo],
) -> Result<()> {
    if !rel.triggers.have(timing, Level::Statement, change) {
        return Ok(());
    }
    let none = Tid::INVALID;
    if timing == Timing::Before && !host.triggers().starts(rel.table.oid, change) {
        return Ok(());
    }
    let at = Occasion { change, timing, level: Level::Statement, updated };
    for trigger in enabled(host, rel, at)? {
        if !condition::holds(host, rel, trigger, None, None)? {
            continue;
        }
        if timing == Timing::After {
            let manager = host.triggers();
            let event = event_of(manager, rel, trigger, at, (none, none))?;
            manager.push_statement(event)?;
            continue;
        }
        let (old_row, new_row) = (None, None);
        let (old, new, parts, tables) = (none, none, None, &[][..]);
        let call = TriggerCall {
            rel,
            trigger,
            change,
            old,
            new,
            parts,
            old_row,
            new_row,
            updated,
            tables,
        };
        call_function(host, &call)?;
    }
    Ok(())
}

/// Fires the triggers of the running statement at its end. Their queries may queue further events,
/// which fire too. Counterpart: `AfterTriggerEndQuery`.
pub fn after_statement(host: &mut dyn TriggerHost) -> Result<()> {
    loop {
        let restricted = host.catalog().session.restricted;
        if !host.triggers().start_round(restricted)? {
            return Ok(());
        }
        let mut last = Last::default();
        while let Some(event) = host.triggers().next_event() {
            host.check_interrupts()?;
            fire(host, &event, &mut last)?;
        }
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
    let with_children = match constraints {
        Some(list) => Some(descendants(host, list)?),
        None => None,
    };
    host.triggers().set_modes(with_children.as_deref(), deferred);
    if deferred { Ok(()) } else { fire_pending(host, false) }
}

/// The constraints and their children, which are those of partitions.
fn descendants(host: &mut dyn TriggerHost, constraints: &[Oid]) -> Result<Vec<Oid>> {
    let mut out = constraints.to_vec();
    let mut at = 0;
    while let Some(&oid) = out.get(at) {
        at += 1;
        let index = indexes::PG_CONSTRAINT_CONPARENTID_INDEX;
        let children: Vec<Row<PgConstraint>> = host.catalog().scan(index, &[oid.into()])?;
        out.extend(children.iter().map(|c| c.oid));
    }
    Ok(out)
}

fn fire_all(host: &mut dyn TriggerHost, events: &[Event]) -> Result<()> {
    let mut last = Last::default();
    for event in events {
        host.check_interrupts()?;
        fire(host, event, &mut last)?;
    }
    Ok(())
}

/// What the event before has opened and read.
#[derive(Default)]
struct Last {
    /// The table, and the state of the catalogs for which it is valid.
    open: Option<(CatalogState, Arc<OpenRel>)>,
    rows: Option<EventRows>,
}

impl Last {
    /// The table of an event; `None` if it does not exist any more.
    fn relation(
        &mut self,
        host: &mut dyn TriggerHost,
        relation: Oid,
    ) -> Result<Option<Arc<OpenRel>>> {
        let state = host.catalog().session.catalog_state();
        if let Some((at, rel)) = &self.open
            && *at == state
            && rel.table.oid == relation
        {
            return Ok(Some(rel.clone()));
        }
        if host.catalog().find_class(relation)?.is_none() {
            return Ok(None);
        }
        let rel = host.open_relation(relation)?;
        self.open = Some((state, rel.clone()));
        Ok(Some(rel))
    }
}

/// Calls the trigger of an event, if it still exists: its constraint may have been dropped with the
/// other table of a foreign key. A table with events cannot be dropped or altered.
fn fire(host: &mut dyn TriggerHost, event: &Event, last: &mut Last) -> Result<()> {
    let Some(rel) = last.relation(host, event.relation)? else { return Ok(()) };
    let Some(trigger) = rel.triggers.list.iter().find(|t| t.oid == event.trigger) else {
        return Ok(());
    };
    let (old, new, change) = (event.old, event.new, event.change);
    let reads_rows = event.for_row && constraint_function(trigger.function).is_none();
    let (old_row, new_row) = match reads_rows {
        true => EventRows::of(&mut last.rows, host.backend(), &rel, event)?.both(),
        false => (None, None),
    };
    let (old_row, new_row) = (old_row.as_deref(), new_row.as_deref());
    let opened = match event.parts {
        None => None,
        Some((source, destination)) => match partitions(host, source, destination)? {
            None => return Ok(()),
            opened => opened,
        },
    };
    let parts = opened.as_ref().map(|p| p.each_ref().map(|rel| &**rel));
    let tables = transition::of_event(host, event, &rel, trigger);
    let tables = &tables[..];
    let (rel, updated) = (&rel, &*host.triggers().columns(event.updated));
    let call =
        TriggerCall { rel, trigger, change, old, new, parts, old_row, new_row, updated, tables };
    call_function(host, &call).map(|_| ())
}

/// The partitions between which a row has moved; `None` if one of them does not exist any more.
fn partitions(
    host: &mut dyn TriggerHost,
    source: Oid,
    destination: Oid,
) -> Result<Option<[Arc<OpenRel>; 2]>> {
    for oid in [source, destination] {
        if host.catalog().find_class(oid)?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some([host.open_relation(source)?, host.open_relation(destination)?]))
}

fn call_function(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    if host.triggers().counts.is_none() {
        return call_nested(host, call);
    }
    let start = host.clock_timestamp();
    let answer = call_nested(host, call)?;
    let took = (host.clock_timestamp() - start).max(0) as u64;
    host.triggers().counts.get_or_insert_default().add(call.rel, call.trigger, took);
    Ok(answer)
}

fn call_nested(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    host.triggers().calling.push(call.rel.table.oid);
    let result = call_uncounted(host, call);
    host.triggers().calling.pop();
    result
}

fn call_uncounted(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    let function = call.trigger.function;
    if let Some(f) = constraint_function(function) {
        return (f.call)(host, call).map(|()| BeforeRowResult::Keep);
    }
    if let Some(function) = other_function(function) {
        return function(call);
    }
    host.call_trigger(call)
}
