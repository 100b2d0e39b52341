//! Built-in functions that need the session: its catalogs, storage, sequences or settings.

use crate::core::Core;
use pgerror::Result;
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

/// The text of an argument.
pub(crate) fn text(d: DatumRef<'_>) -> String {
    String::from_utf8_lossy(d.as_bytes()).into_owned()
}
