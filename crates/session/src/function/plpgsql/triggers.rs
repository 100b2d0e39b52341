//! Calls of functions in PL/pgSQL as triggers.

use super::codes;
use crate::core::Core;
use executor::{BeforeRowResult, Change, Level, Timing};
use pgerror::Result;
use plpgsql::{Code, TriggerData};
use trigger::TriggerCall;
use types::{Datum, DatumRef};

/// Calls the function; its result is used only by triggers for each row that do not fire after the
/// change.
pub(super) fn call(
    core: &mut Core,
    code: &Code,
    call: &TriggerCall<'_>,
) -> Result<BeforeRowResult> {
    let (rel, trigger) = (call.rel, call.trigger);
    let for_row = trigger.level == Level::Row;
    let mentions = code.function.mentions;
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
        old: call.old_row.filter(|_| mentions.old).map(owned),
    };
    let returned = codes::isolated(core, |core| plpgsql::call_trigger(core, code, data))?;
    Ok(match returned {
        _ if trigger.timing == Timing::After || !for_row => BeforeRowResult::Keep,
        None => BeforeRowResult::Skip,
        Some(values) if call.change != Change::Delete => BeforeRowResult::Replace(values),
        Some(_) => BeforeRowResult::Keep,
    })
}

fn owned(row: &[DatumRef<'_>]) -> Vec<Datum> {
    row.iter().map(|value| DatumRef::to_owned(*value)).collect()
}

/// The new row. Before an update its generated columns have the values of the old row, which the
/// function must not see.
fn new_row(call: &TriggerCall<'_>, row: &[DatumRef<'_>]) -> Vec<Datum> {
    let mut row = owned(row);
    if call.trigger.timing == Timing::Before {
        for (column, _) in &call.rel.generated {
            row[*column as usize - 1] = Datum::Null;
        }
    }
    row
}
