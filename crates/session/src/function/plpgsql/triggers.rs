//! Calls of functions in PL/pgSQL as triggers.

use super::codes;
use crate::state::State;
use executor::{BeforeRowResult, Change, Level, Timing};
use ids::Tid;
use pgerror::Result;
use plpgsql::{Code, Fields, SystemColumns, TriggerData, TriggerResult};
use trigger::TriggerCall;
use types::DatumRef;

/// Calls the function; its result is used only by triggers for each row that do not fire after the
/// change.
pub(super) fn call(
    state: &mut State,
    code: &Code,
    call: &TriggerCall<'_>,
) -> Result<BeforeRowResult> {
    let (rel, trigger) = (call.rel, call.trigger);
    let for_row = trigger.level == Level::Row;
    let mentions = code.function.mentions;
    let (new_system, old_system) = match mentions.system && for_row {
        true => (
            system_columns(state, call, call.new_row, call.new)?,
            system_columns(state, call, call.old_row, call.old)?,
        ),
        false => (None, None),
    };
    let data = TriggerData {
        name: &trigger.name,
        when: match trigger.timing {
            Timing::Before => "BEFORE",
            Timing::After => "AFTER",
            Timing::Instead => "INSTEAD OF",
        },
        level: if for_row { "ROW" } else { "STATEMENT" },
        op: match call.change {
            Change::Insert => "INSERT",
            Change::Update => "UPDATE",
            Change::Delete => "DELETE",
            Change::Truncate => "TRUNCATE",
        },
        relation: rel.table.oid,
        table: rel.table.name.as_ref(),
        schema: rel.table.schema.as_ref(),
        args: &trigger.args,
        row: (rel.columns.clone(), rel.row_type),
        new: call.new_row.filter(|_| mentions.new).map(|row| new_row(call, row)),
        old: call.old_row.filter(|_| mentions.old).map(copied),
        new_system,
        old_system,
    };
    let returned = codes::isolated(state, |state| plpgsql::call_trigger(state, code, data))?;
    Ok(match returned {
        _ if trigger.timing == Timing::After || !for_row => BeforeRowResult::Keep,
        TriggerResult::Null => BeforeRowResult::Skip,
        TriggerResult::Row(values) if call.change != Change::Delete => {
            BeforeRowResult::Replace(values)
        }
        TriggerResult::Row(_) | TriggerResult::New => BeforeRowResult::Keep,
    })
}

/// The system columns of a row of the event, if it has this row.
#[cold]
fn system_columns(
    state: &mut State,
    call: &TriggerCall<'_>,
    row: Option<&[DatumRef<'_>]>,
    tid: Tid,
) -> Result<Option<Box<SystemColumns>>> {
    match row {
        Some(_) => Ok(Some(Box::new(trigger::system_columns(&mut state.backend, call.rel, tid)?))),
        None => Ok(None),
    }
}

fn copied(row: &[DatumRef<'_>]) -> Fields {
    Fields::copied(row.iter().copied())
}

/// The new row. Before an update its generated columns have the values of the old row, which the
/// function must not see.
fn new_row(call: &TriggerCall<'_>, row: &[DatumRef<'_>]) -> Fields {
    if call.trigger.timing != Timing::Before || call.rel.generated.is_empty() {
        return Fields::of_event(row.iter().copied());
    }
    let mut row = row.to_vec();
    for (column, _) in &call.rel.generated {
        row[*column as usize - 1] = DatumRef::Null;
    }
    Fields::of_event(row.iter().copied())
}
