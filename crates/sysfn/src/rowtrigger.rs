//! The trigger functions of the extensions autoinc, insert_username, moddatetime and tcn.
//!
//! Counterpart: contrib/spi/autoinc.c, contrib/spi/insert_username.c, contrib/spi/moddatetime.c,
//! contrib/tcn/tcn.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use executor::{BeforeRowResult, Change, Level, Timing};
use pgerror::{PgError, Result, pg_err};
use std::fmt::Write;
use trigger::TriggerCall;
use types::{Datum, DatumRef, oids};

/// The symbol of tcn's function.
pub const CHANGE_NOTIFICATION: &str = "triggered_change_notification";

/// The functions when they are not called by a trigger.
pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "autoinc", call: SysCall::One(|_, _| Err(no_trigger(""))) },
    SysFn {
        name: "insert_username",
        call: SysCall::One(|_, _| Err(no_trigger("insert_username: "))),
    },
    SysFn { name: "moddatetime", call: SysCall::One(|_, _| Err(no_trigger("moddatetime: "))) },
    SysFn {
        name: CHANGE_NOTIFICATION,
        call: SysCall::One(|_, _| {
            Err(pg_err!(
                E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
                "{CHANGE_NOTIFICATION}: must be called as trigger"
            ))
        }),
    },
];

fn no_trigger(function: &str) -> PgError {
    PgError::internal(format!("{function}not fired by trigger manager"))
}

/// The new row of a BEFORE trigger; `what` precedes the text of an error.
fn new_row<'a>(call: &TriggerCall<'a>, what: &str, insert: bool) -> Result<&'a [DatumRef<'a>]> {
    let misused = |text: &str| Err(PgError::internal(format!("{what}{text}")));
    if call.trigger.level != Level::Row {
        return misused("must be fired for row");
    }
    if call.trigger.timing != Timing::Before {
        return misused("must be fired before event");
    }
    match (call.change, call.new_row) {
        (Change::Insert, Some(row)) if insert => Ok(row),
        (Change::Insert, _) => misused("cannot process INSERT events"),
        (Change::Update, Some(row)) => Ok(row),
        _ => misused("cannot process DELETE events"),
    }
}

/// The place of the column with this name.
fn column(call: &TriggerCall<'_>, name: &str) -> Result<usize> {
    let columns = &call.rel.columns.columns;
    let found = columns.iter().position(|c| !c.is_dropped() && c.name == name);
    found.ok_or_else(|| {
        let table = &call.rel.table.name;
        pg_err!(TRIGGERED_ACTION_EXCEPTION, "\"{table}\" has no attribute \"{name}\"")
    })
}

fn wrong_type(call: &TriggerCall<'_>, name: &str, expected: &str) -> PgError {
    let table = &call.rel.table.name;
    pg_err!(
        TRIGGERED_ACTION_EXCEPTION,
        "attribute \"{name}\" of \"{table}\" must be type {expected}"
    )
}

/// The row with other values in some columns.
fn changed(row: &[DatumRef<'_>], values: Vec<(usize, Datum)>) -> BeforeRowResult {
    if values.is_empty() {
        return BeforeRowResult::Keep;
    }
    let mut new: Vec<Datum> = row.iter().copied().map(DatumRef::to_owned).collect();
    for (at, value) in values {
        new[at] = value;
    }
    BeforeRowResult::Replace(new)
}

/// Sets columns that are NULL or 0 to the next values of sequences.
pub(crate) fn increment(
    core: &mut dyn SystemHost,
    call: &TriggerCall<'_>,
) -> Result<BeforeRowResult> {
    let row = new_row(call, "", true)?;
    let args = &call.trigger.args;
    if args.is_empty() || !args.len().is_multiple_of(2) {
        let table = &call.rel.table.name;
        return Err(PgError::internal(format!(
            "autoinc ({table}): even number gt 0 of arguments was expected"
        )));
    }
    let mut values = Vec::new();
    for pair in args.chunks_exact(2) {
        let at = column(call, &pair[0])?;
        if call.rel.columns.columns[at].ty != oids::INT4 {
            return Err(wrong_type(call, &pair[0], "INT4"));
        }
        if !row[at].is_null() && row[at].as_i32() != 0 {
            continue;
        }
        let sequence = super::definition::relation_named(core, &pair[1])?;
        let mut next =
            || -> Result<i32> { Ok(crate::sequence::nextval(core, sequence, true)? as i32) };
        let value = match next()? {
            0 => next()?,
            value => value,
        };
        values.push((at, Datum::int4(value)));
    }
    Ok(changed(row, values))
}

/// The only argument, which names a column; `missing` is the error text after the table.
fn only_argument<'a>(call: &'a TriggerCall<'_>, function: &str, missing: &str) -> Result<&'a str> {
    match &*call.trigger.args {
        [name] => Ok(name),
        _ => {
            let table = &call.rel.table.name;
            Err(PgError::internal(format!("{function} ({table}): {missing} was expected")))
        }
    }
}

/// Sets a column to the name of the current user.
pub(crate) fn user_name(
    core: &mut dyn SystemHost,
    call: &TriggerCall<'_>,
) -> Result<BeforeRowResult> {
    let row = new_row(call, "insert_username: ", true)?;
    let name = only_argument(call, "insert_username", "one argument")?;
    let at = column(call, name)?;
    if call.rel.columns.columns[at].ty != oids::TEXT {
        return Err(wrong_type(call, name, "TEXT"));
    }
    let user = core.catalog_session().user;
    let user = core.catalog().role_name(user)?;
    Ok(changed(row, vec![(at, Datum::text(&user))]))
}

/// Sets a column to the start time of the transaction.
pub(crate) fn time(core: &mut dyn SystemHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    let row = new_row(call, "moddatetime: ", false)?;
    let name = only_argument(call, "moddatetime", "A single argument")?;
    let at = column(call, name)?;
    let ty = call.rel.columns.columns[at].ty;
    if !matches!(ty, oids::TIMESTAMP | oids::TIMESTAMPTZ) {
        return Err(wrong_type(call, name, "TIMESTAMP or TIMESTAMPTZ"));
    }
    let now = core.functions().type_input(ty, b"now", -1)?;
    Ok(changed(row, vec![(at, now)]))
}

/// Appends a text in quotes, which are doubled in it.
fn push_quoted(out: &mut String, text: &str, quote: char) {
    out.push(quote);
    for c in text.chars() {
        if c == quote {
            out.push(quote);
        }
        out.push(c);
    }
    out.push(quote);
}

/// The channel and the payload of a notification of a changed row: table, change, key.
pub fn change_notification(
    core: &mut dyn SystemHost,
    call: &TriggerCall<'_>,
) -> Result<(String, String)> {
    let misused = |text: &str| {
        Err(pg_err!(E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, "{CHANGE_NOTIFICATION}: must {text}"))
    };
    if call.trigger.timing != Timing::After {
        return misused("be called after the change");
    }
    if call.trigger.level != Level::Row {
        return misused("be called for each row");
    }
    let (letter, row) = match call.change {
        Change::Insert => ('I', call.new_row),
        // The key is that of the old version.
        Change::Update => ('U', call.old_row),
        _ => ('D', call.old_row),
    };
    let channel = match &*call.trigger.args {
        [] => "tcn",
        [channel] => channel,
        _ => return misused("not be called with more than one parameter"),
    };
    let relation = call.rel.table.oid;
    let index = catalog::rows::indexes::PG_INDEX_INDRELID_INDEX;
    let rows = core.catalog().scan(index, &[relation.into()])?;
    let key = rows.into_iter().find(|row| row.indisprimary && row.indisvalid);
    let (Some(key), Some(row)) = (key, row) else {
        return misused("be called on a table with a primary key");
    };
    let mut payload = String::new();
    push_quoted(&mut payload, &call.rel.table.name, '"');
    let _ = write!(payload, ",{letter}");
    for number in key.indkey.iter().take(usize::from(key.indnkeyatts.unsigned_abs())) {
        let at = usize::from(number.unsigned_abs()).saturating_sub(1);
        let column = &call.rel.columns.columns[at];
        payload.push(',');
        push_quoted(&mut payload, &column.name, '"');
        payload.push('=');
        let text = core.functions().type_output(column.ty, row[at])?;
        push_quoted(&mut payload, &String::from_utf8_lossy(&text), '\'');
    }
    Ok((channel.to_owned(), payload))
}
