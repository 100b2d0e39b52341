//! Built-in functions that need the session: its catalogs, storage, sequences or settings. SQL
//! functions are called through the same interface.

use crate::core::Core;
use catalog::rows::PgProc;
use executor::SetRows;
use ids::Oid;
use pgerror::{PgError, Result};
use types::{Datum, DatumRef};

mod activity;
mod backends;
mod convert;
pub(crate) mod counters;
mod definition;
mod files;
pub(crate) mod info;
mod inventory;
mod object;
mod partition;
mod prewarm;
mod privilege;
mod property;
mod publications;
pub(crate) mod reg;
mod rusage;
pub(crate) mod sequence;
mod server;
pub(crate) mod settings;
pub(crate) mod size;
mod snapshot;
pub(crate) mod sql;
pub(crate) mod wal;

/// A scalar function.
pub(crate) type OneFn = fn(&mut Core, &[DatumRef<'_>]) -> Result<Datum>;
/// A set-returning function; the result is a list of rows.
pub(crate) type SetFn = fn(&mut Core, &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>>;

#[derive(Clone, Copy)]
pub(crate) enum SysCall {
    One(OneFn),
    Set(SetFn),
}

/// A function with its name in `pg_proc.prosrc`.
pub(crate) struct SysFn {
    pub name: &'static str,
    pub call: SysCall,
}

const TABLES: &[&[SysFn]] = &[
    activity::ADVISORY,
    activity::FNS,
    backends::FNS,
    convert::FNS,
    counters::FNS,
    definition::FNS,
    files::FNS,
    info::FNS,
    inventory::FNS,
    object::FNS,
    partition::FNS,
    publications::FNS,
    prewarm::FNS,
    privilege::ANY_COLUMN,
    privilege::COLUMN,
    privilege::DATABASE,
    privilege::FUNCTION,
    privilege::LANGUAGE,
    privilege::PARAMETER,
    privilege::ROLE,
    privilege::SCHEMA,
    privilege::SEQUENCE,
    privilege::SERVER,
    privilege::TABLE,
    privilege::TABLESPACE,
    privilege::TYPE,
    privilege::WRAPPER,
    property::FNS,
    rusage::FNS,
    sequence::FNS,
    server::FNS,
    settings::FNS,
    size::FNS,
    snapshot::FNS,
    wal::FNS,
];

/// The function with this `prosrc`.
pub(crate) fn lookup(prosrc: &str) -> Option<SysCall> {
    TABLES
        .iter()
        .flat_map(|t| t.iter())
        .find(|f| f.name == prosrc)
        .map(|f| f.call)
        .or_else(|| activity::idle_value(prosrc))
}

const SQL_LANGUAGE: Oid = Oid(14);

/// Calls an SQL function or a function of the session.
pub(crate) fn call(
    core: &mut Core,
    function: Oid,
    arg_types: &[Oid],
    args: &[DatumRef<'_>],
) -> Result<Datum> {
    let row = core.cat().function(function)?;
    if row.prolang == SQL_LANGUAGE {
        return sql::call(core, &row, arg_types, args);
    }
    match lookup(row.prosrc.as_str()) {
        Some(SysCall::One(f)) => f(core, args),
        // A function that returns a single row: its result is a record, or the only column.
        Some(SysCall::Set(f)) => {
            let rows = f(core, args)?;
            first_row(core, &row, rows)
        }
        None => Err(PgError::unsupported(format!("function {}", row.proname.as_str()))),
    }
}

/// Calls a set-returning SQL function or function of the session.
pub(crate) fn call_set(
    core: &mut Core,
    function: Oid,
    arg_types: &[Oid],
    columns: &[(Oid, i32)],
    args: &[DatumRef<'_>],
) -> Result<SetRows> {
    let row = core.cat().function(function)?;
    if row.prolang == SQL_LANGUAGE {
        return sql::call_set(core, &row, arg_types, columns, args);
    }
    match lookup(row.prosrc.as_str()) {
        Some(SysCall::Set(f)) => f(core, args).map(SetRows::Columns),
        Some(SysCall::One(f)) => Ok(SetRows::Values(vec![f(core, args)?])),
        None => Err(PgError::unsupported(format!("function {}", row.proname.as_str()))),
    }
}

/// The result of a function that returns a single row: a record, or the only column.
fn first_row(core: &mut Core, row: &PgProc, rows: Vec<Vec<Datum>>) -> Result<Datum> {
    let Some(mut first) = rows.into_iter().next() else { return Ok(Datum::Null) };
    let outputs: Vec<Oid> = match (&row.proallargtypes, &row.proargmodes) {
        (Some(types), Some(modes)) if row.prorettype == types::oids::RECORD => types
            .iter()
            .zip(modes)
            .filter(|(_, m)| matches!(m, b'o' | b'b' | b't'))
            .map(|(t, _)| *t)
            .collect(),
        _ => Vec::new(),
    };
    if outputs.len() > 1 && outputs.len() == first.len() {
        return eval::make_record(core, &outputs, &first);
    }
    Ok(if first.is_empty() { Datum::Null } else { first.swap_remove(0) })
}

/// The text of an argument.
pub(crate) fn text(d: DatumRef<'_>) -> String {
    String::from_utf8_lossy(d.as_bytes()).into_owned()
}
