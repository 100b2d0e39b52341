//! The trigger function that skips updates which change nothing. Counterpart:
//! utils/adt/trigfuncs.c.

use crate::call::TriggerCall;
use executor::{BeforeRowResult, Change, Level, Timing};
use pgerror::{PgError, Result, pg_err};

const NAME: &str = "suppress_redundant_updates_trigger";

fn violated(what: &str) -> PgError {
    pg_err!(E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, "{NAME}: must be called {what}")
}

/// Skips the update if all columns of both rows are equal.
pub(crate) fn suppress(call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    if call.change != Change::Update {
        return Err(violated("on update"));
    }
    if call.trigger.timing != Timing::Before {
        return Err(violated("before update"));
    }
    if call.trigger.level != Level::Row {
        return Err(violated("for each row"));
    }
    Ok(match call.old_row == call.new_row {
        true => BeforeRowResult::Skip,
        false => BeforeRowResult::Keep,
    })
}
