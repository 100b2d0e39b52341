//! Calls of functions in PL/pgSQL as triggers.

use super::codes;
use super::compiled::CallSite;
use crate::core::Core;
use catalog::Row;
use catalog::rows::PgProc;
use executor::{BeforeRowResult, Change, Level, Timing};
use pgerror::Result;
use plpgsql::TriggerData;
use trigger::TriggerCall;
use types::Datum;

/// Calls the function; its result is used only by triggers for each row that do not fire after the
/// change.
pub(super) fn call(
    core: &mut Core,
    row: &Row<PgProc>,
    call: &TriggerCall<'_>,
) -> Result<BeforeRowResult> {
    let (rel, trigger) = (call.rel, call.trigger);
    let site = CallSite { trigger: trigger.oid, ..CallSite::default() };
    let code = codes::find(core, row, &[], site)?;
    let for_row = trigger.level == Level::Row;
    let relation = core.cat().relation(rel.table.oid)?;
    let schema = core.cat().namespace_name(relation.class.relnamespace)?;
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
        table: relation.name(),
        schema: schema.as_ref().map_or("", |s| s.as_str()),
        args: &trigger.args,
        row: (rel.columns.clone(), rel.row_type),
        new: new_row(call),
        old: call.old_row.map(<[Datum]>::to_vec),
    };
    let returned = codes::isolated(core, |core| plpgsql::call_trigger(core, &code, data))?;
    Ok(match returned {
        _ if trigger.timing == Timing::After || !for_row => BeforeRowResult::Keep,
        None => BeforeRowResult::Skip,
        Some(values) if call.change != Change::Delete => BeforeRowResult::Replace(values),
        Some(_) => BeforeRowResult::Keep,
    })
}

/// The new row. Before an update its generated columns have the values of the old row, which the
/// function must not see.
fn new_row(call: &TriggerCall<'_>) -> Option<Vec<Datum>> {
    let mut row = call.new_row?.to_vec();
    if call.trigger.timing == Timing::Before {
        for (column, _) in &call.rel.generated {
            row[*column as usize - 1] = Datum::Null;
        }
    }
    Some(row)
}
