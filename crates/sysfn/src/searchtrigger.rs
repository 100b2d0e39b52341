//! The trigger functions that compute a tsvector column from text columns. Counterpart:
//! tsvector_op.c (`tsvector_update_trigger`).

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use executor::{BeforeRowResult, Change, Level, Timing};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use trigger::TriggerCall;
use types::fn_context::RowDesc;
use types::{Datum, DatumRef, RegKind, oids};

/// Direct calls of the trigger functions.
pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "tsvector_update_trigger_byid",
        call: SysCall::One(|_, _| Err(misused("not fired by trigger manager"))),
    },
    SysFn {
        name: "tsvector_update_trigger_bycolumn",
        call: SysCall::One(|_, _| Err(misused("not fired by trigger manager"))),
    },
];

fn misused(what: &str) -> PgError {
    PgError::internal(format!("tsvector_update_trigger: {what}"))
}

/// The column with this name; 42703 with `what` in the message if there is none.
fn column(columns: &RowDesc, name: &str, what: &str) -> Result<usize> {
    let found = columns.columns.iter().position(|c| !c.is_dropped() && c.name == name);
    found.ok_or_else(|| pg_err!(UNDEFINED_COLUMN, "{what} \"{name}\" does not exist"))
}

/// The type of a column below its domains.
fn base_type(core: &mut dyn SystemHost, columns: &RowDesc, i: usize) -> Result<Oid> {
    Ok(types::fn_context::TypeCatalog::domain_base(core, columns.columns[i].ty)?.0)
}

fn wrong_type(name: &str, expected: &str) -> PgError {
    pg_err!(DATATYPE_MISMATCH, "column \"{name}\" is not of {expected} type")
}

/// The configuration that the second argument names, or that is in the column that it names.
fn configuration(
    core: &mut dyn SystemHost,
    columns: &RowDesc,
    row: &[DatumRef<'_>],
    name: &str,
    by_column: bool,
) -> Result<Oid> {
    if by_column {
        let i = column(columns, name, "configuration column")?;
        if base_type(core, columns, i)? != oids::REGCONFIG {
            return Err(wrong_type(name, "regconfig"));
        }
        return match row[i] {
            DatumRef::Word(oid) => Ok(Oid(oid as u32)),
            _ => Err(pg_err!(
                NULL_VALUE_NOT_ALLOWED,
                "configuration column \"{name}\" must not be null"
            )),
        };
    }
    let parts = types::string::split_identifiers_at(name, '.');
    if parts.is_none_or(|parts| parts.len() < 2) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "text search configuration name \"{name}\" must be schema-qualified"
        ));
    }
    let found = types::fn_context::TypeCatalog::reg_lookup(core, RegKind::Config, name)?;
    found.ok_or_else(|| {
        pg_err!(UNDEFINED_OBJECT, "text search configuration \"{name}\" does not exist")
    })
}

/// Sets the vector column of the new row; the configuration is named.
pub(crate) fn by_id(core: &mut dyn SystemHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    update(core, call, false)
}

/// As [`by_id`]; the configuration is in a column.
pub(crate) fn by_column(
    core: &mut dyn SystemHost,
    call: &TriggerCall<'_>,
) -> Result<BeforeRowResult> {
    update(core, call, true)
}

fn update(
    core: &mut dyn SystemHost,
    call: &TriggerCall<'_>,
    by_column: bool,
) -> Result<BeforeRowResult> {
    if call.trigger.level != Level::Row {
        return Err(misused("must be fired for row"));
    }
    if call.trigger.timing != Timing::Before {
        return Err(misused("must be fired BEFORE event"));
    }
    let row = match (call.change, call.new_row) {
        (Change::Insert | Change::Update, Some(row)) => row,
        _ => return Err(misused("must be fired for INSERT or UPDATE")),
    };
    let [vector, config, texts @ ..] = &*call.trigger.args else {
        return Err(misused("arguments must be tsvector_field, ts_config, text_field1, ...)"));
    };
    if texts.is_empty() {
        return Err(misused("arguments must be tsvector_field, ts_config, text_field1, ...)"));
    }
    let columns = &*call.rel.columns;
    let target = column(columns, vector, "tsvector column")?;
    if base_type(core, columns, target)? != oids::TSVECTOR {
        return Err(wrong_type(vector, "tsvector"));
    }
    let config = configuration(core, columns, row, config, by_column)?;
    let mut changed = call.change == Change::Insert;
    let mut parts: Vec<&[u8]> = Vec::new();
    for name in texts {
        let i = column(columns, name, "column")?;
        if !matches!(base_type(core, columns, i)?, oids::TEXT | oids::VARCHAR | oids::BPCHAR) {
            return Err(wrong_type(name, "a character"));
        }
        changed |= call.old_row.is_some_and(|old| old[i] != row[i]);
        if let DatumRef::Bytes(text) = row[i] {
            parts.push(text);
        }
    }
    if !changed {
        return Ok(BeforeRowResult::Keep);
    }
    let mut new: Vec<Datum> = row.iter().copied().map(DatumRef::to_owned).collect();
    new[target] = crate::textsearch::vector_of_texts(core, config, &parts)?;
    Ok(BeforeRowResult::Replace(new))
}
