//! Calls of functions in PL/pgSQL as triggers.

use super::codes;
use crate::core::Core;
use catalog::Row;
use catalog::rows::PgProc;
use engine::table::{self, RowFetch};
use executor::{BeforeRowResult, Change, Level, OpenRel, Timing};
use ids::{AttrNo, Oid, Tid};
use pgerror::{PgError, Result};
use plpgsql::TriggerData;
use trigger::TriggerCall;
use types::Datum;

/// Calls the function; its result is used only by triggers that fire before a row is changed.
pub(super) fn call(
    core: &mut Core,
    row: &Row<PgProc>,
    call: &TriggerCall<'_>,
) -> Result<BeforeRowResult> {
    let code = codes::find(core, row, &[], (Oid::INVALID, Oid::INVALID))?;
    let (rel, trigger) = (call.rel, call.trigger);
    let for_row = trigger.level == Level::Row;
    let (new, old) = match for_row {
        false => (None, None),
        true => (new_row(core, call)?, stored_row(core, rel, call.old)?),
    };
    let relation = core.cat().relation(rel.table.oid)?;
    let schema = core.cat().namespace_name(relation.class.relnamespace)?;
    let data = TriggerData {
        name: &trigger.name,
        when: if trigger.timing == Timing::Before { "BEFORE" } else { "AFTER" },
        level: if for_row { "ROW" } else { "STATEMENT" },
        op: match call.change {
            Change::Insert => "INSERT",
            Change::Update => "UPDATE",
            Change::Delete => "DELETE",
        },
        relation: rel.table.oid,
        table: relation.name(),
        schema: schema.as_ref().map_or("", |s| s.as_str()),
        args: &[],
        row: (rel.columns.clone(), rel.row_type),
        new,
        old,
    };
    let returned = super::isolated(core, |core| plpgsql::call_trigger(core, &code, data))?;
    Ok(match returned {
        _ if trigger.timing != Timing::Before || !for_row => BeforeRowResult::Keep,
        None => BeforeRowResult::Skip,
        Some(values) if call.change != Change::Delete => BeforeRowResult::Replace(values),
        Some(_) => BeforeRowResult::Keep,
    })
}

fn new_row(core: &mut Core, call: &TriggerCall<'_>) -> Result<Option<Vec<Datum>>> {
    match call.proposed {
        Some(values) => Ok(Some(values.to_vec())),
        None => stored_row(core, call.rel, call.new),
    }
}

/// The version of a row at this place; `None` if there is none.
fn stored_row(core: &mut Core, rel: &OpenRel, tid: Tid) -> Result<Option<Vec<Datum>>> {
    if tid == Tid::INVALID {
        return Ok(None);
    }
    let columns: Vec<AttrNo> = (1..=rel.columns.columns.len()).map(|n| n as AttrNo).collect();
    let mut batch = table::new_batch(&rel.table, &columns);
    let mut fetch = RowFetch::new(&rel.table, &columns)?;
    if !fetch.version(&mut core.backend, tid, &mut batch)? {
        return Err(PgError::internal("failed to fetch tuple for a trigger"));
    }
    let all: Vec<usize> = (0..columns.len()).collect();
    Ok(Some(executor::spi::row_of(&batch, 0, &all)))
}
