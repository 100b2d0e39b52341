//! Transition tables: the rows that a statement has changed, kept until its triggers have read
//! them. Counterpart: `AfterTriggersTableData`, `MakeTransitionCaptureState`.

use crate::call::NamedRows;
use crate::host::TriggerHost;
use crate::queue::{Event, TriggerManager};
use engine::StoredRows;
use executor::{CapturedChange, Change, OpenRel, Trigger};
use ids::Oid;
use pgerror::{PgError, Result};
use smallvec::SmallVec;
use std::sync::Arc;
use types::DatumRef;

/// The changed rows of a table, of one kind of change. Several parts of a statement, and
/// referential actions, that change the same table add to the same rows.
pub(crate) struct Captured {
    relation: Oid,
    change: Change,
    /// A trigger has read the rows, so that later changes are captured in new tables.
    is_closed: bool,
    old: Option<Arc<StoredRows>>,
    new: Option<Arc<StoredRows>>,
}

impl TriggerManager {
    /// The position of the open transition tables for this change in the running statement's level.
    /// Counterpart: `GetAfterTriggersTableData`.
    pub(crate) fn captured(&mut self, relation: Oid, change: Change) -> u32 {
        let all = &mut self.level().transitions;
        let is_it = |c: &Captured| c.relation == relation && c.change == change && !c.is_closed;
        let at = all.iter().position(is_it).unwrap_or_else(|| {
            let (old, new) = (None, None);
            all.push(Captured { relation, change, is_closed: false, old, new });
            all.len() - 1
        });
        at as u32
    }
}

/// The transition tables for the call of a trigger, with their names.
pub(crate) fn of_event(
    host: &mut dyn TriggerHost,
    event: &Event,
    rel: &OpenRel,
    trigger: &Trigger,
) -> SmallVec<[NamedRows; 2]> {
    let mut tables = SmallVec::new();
    let Some(at) = event.tables else { return tables };
    if trigger.old_table.is_none() && trigger.new_table.is_none() {
        return tables;
    }
    let work_mem = host.work_mem();
    let level = host.triggers().level();
    let Some(captured) = level.transitions.get_mut(at as usize) else { return tables };
    if !std::mem::replace(&mut captured.is_closed, true) {
        // Later changes count as those of another statement.
        let of = (captured.relation, captured.change);
        level.before.retain(|before| *before != of);
    }
    let of_trigger =
        [(&trigger.old_table, &mut captured.old), (&trigger.new_table, &mut captured.new)];
    for (name, rows) in of_trigger {
        if let Some(name) = name {
            let rows = rows.get_or_insert_with(|| empty(rel, work_mem));
            let (name, rows) = (name.clone(), rows.clone());
            tables.push(NamedRows { name, relation: rel.table.oid, rows });
        }
    }
    tables
}

fn empty(rel: &OpenRel, work_mem: usize) -> Arc<StoredRows> {
    let attrs = rel.table.tupdesc.attrs.iter();
    Arc::new(StoredRows::new(attrs.map(|a| a.by_val), work_mem))
}

/// Adds a changed row to the transition tables of the running statement. Counterpart:
/// `TransitionTableAddTuple`.
pub fn capture(host: &mut dyn TriggerHost, change: CapturedChange<'_>) -> Result<()> {
    let CapturedChange { rel, change, old, new } = change;
    let work_mem = host.work_mem();
    let at = host.triggers().captured(rel.table.oid, change) as usize;
    let captured = &mut host.triggers().level().transitions[at];
    // Taken, because a temporary file is created with the session's storage.
    let mut taken = (captured.old.take(), captured.new.take());
    let mut result = Ok(());
    for (values, rows) in [(old, &mut taken.0), (new, &mut taken.1)] {
        if let Some(values) = values
            && result.is_ok()
        {
            let rows = rows.get_or_insert_with(|| empty(rel, work_mem));
            result = push(host, rows, values);
        }
    }
    let captured = &mut host.triggers().level().transitions[at];
    (captured.old, captured.new) = taken;
    result
}

fn push(
    host: &mut dyn TriggerHost,
    rows: &mut Arc<StoredRows>,
    values: &[DatumRef<'_>],
) -> Result<()> {
    let Some(rows) = Arc::get_mut(rows) else {
        return Err(PgError::internal("a transition table is written while it is read"));
    };
    rows.push(host.backend(), values)
}
