//! System functions that need catalogs, storage or the session: information functions, privileges,
//! sequences, advisory locks, sizes, files, definitions of objects. They are found by their name in
//! `pg_proc.prosrc`. Functions on sessions of the server and on its configuration are in crate
//! `session`.
//!
//! Reading order: `host` (the interface of the session), `function`, this file (the table of all
//! functions), one module for each kind of function.

#![forbid(unsafe_code)]

mod activity;
mod collations;
mod convert;
mod counters;
mod definition;
mod events;
mod extension;
mod files;
mod function;
pub mod hash_partition;
mod host;
mod identity;
pub mod info;
mod inspect;
mod inventory;
mod large_objects;
mod mcv_items;
mod object;
mod partition;
mod pending;
mod prewarm;
mod privilege;
mod property;
mod publications;
mod queries;
mod query;
pub mod reg;
pub mod rowtrigger;
mod rowversion;
mod searchtrigger;
pub mod sequence;
mod server;
mod size;
mod snapshot;
mod statistics;
mod tablefunc;
mod textsearch;
pub mod unaccent;
mod validate;
mod wal;

pub use events::identify;
pub use function::{OneFn, ResultRow, RowsFn, SetFn, SysCall, SysFn, TriggerFn, text};
pub use host::SystemHost;
pub use textsearch::vector_of_texts;

const TABLES: &[&[SysFn]] = &[
    activity::ADVISORY,
    activity::FNS,
    convert::FNS,
    counters::FNS,
    definition::FNS,
    events::FNS,
    extension::FNS,
    files::FNS,
    identity::FNS,
    info::FNS,
    collations::FNS,
    inspect::CHECKS,
    inspect::FNS,
    inspect::STATISTICS,
    inventory::FNS,
    large_objects::FNS,
    object::FNS,
    partition::FNS,
    publications::FNS,
    mcv_items::FNS,
    queries::FNS,
    pending::FNS,
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
    rowtrigger::FNS,
    rowversion::FNS,
    searchtrigger::FNS,
    sequence::FNS,
    server::FNS,
    size::FNS,
    snapshot::FNS,
    statistics::DATABASES,
    statistics::FNS,
    statistics::RELATIONS,
    tablefunc::FNS,
    textsearch::FNS,
    unaccent::FNS,
    validate::FNS,
    wal::FNS,
];

/// The trigger function with this `prosrc`.
pub fn trigger_function(prosrc: &str) -> Option<TriggerFn> {
    Some(match prosrc {
        "tsvector_update_trigger_byid" => searchtrigger::by_id,
        "tsvector_update_trigger_bycolumn" => searchtrigger::by_column,
        "lo_manage" => large_objects::manage,
        "autoinc" => rowtrigger::increment,
        "insert_username" => rowtrigger::user_name,
        "moddatetime" => rowtrigger::time,
        _ => return None,
    })
}

/// The function with this `prosrc`.
pub fn lookup(prosrc: &str) -> Option<SysCall> {
    TABLES
        .iter()
        .flat_map(|t| t.iter())
        .find(|f| f.name == prosrc)
        .map(|f| f.call)
        .or_else(|| activity::idle_value(prosrc))
}
