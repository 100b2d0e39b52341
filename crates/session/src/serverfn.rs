//! Built-in functions on the sessions of the server, on settings and configuration files, and on
//! this session's statements. Those that need only catalogs and storage are in the crate `sysfn`.

mod backends;
mod rusage;
pub(crate) mod settings;
mod statements;
mod statementstats;
mod trigrams;

use crate::state::State;
use pgerror::Result;
use sysfn::{ResultRow, text};
use types::{Datum, DatumRef};

/// A scalar function.
pub(crate) type OneFn = fn(&mut State, &[DatumRef<'_>]) -> Result<Datum>;
/// A set-returning function; the result is a list of rows.
pub(crate) type SetFn = fn(&mut State, &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>>;

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
    backends::FNS,
    rusage::FNS,
    settings::FNS,
    statements::FNS,
    statementstats::FNS,
    trigrams::FNS,
];

/// A system function, of this module or of the crate `sysfn`.
#[derive(Clone, Copy)]
pub(crate) enum SystemFunction {
    Session(SysCall),
    Catalog(sysfn::SysCall),
}

/// The result of a system function.
pub(crate) enum Returned {
    One(Datum),
    Set(Vec<Vec<Datum>>),
}

impl SystemFunction {
    /// The function with this `prosrc`.
    pub(crate) fn named(prosrc: &str) -> Option<SystemFunction> {
        let own = TABLES.iter().flat_map(|t| t.iter()).find(|f| f.name == prosrc);
        match own {
            Some(own) => Some(SystemFunction::Session(own.call)),
            None => sysfn::lookup(prosrc).map(SystemFunction::Catalog),
        }
    }

    pub(crate) fn call(
        self,
        state: &mut State,
        args: &[DatumRef<'_>],
        result: ResultRow<'_>,
    ) -> Result<Returned> {
        match self {
            SystemFunction::Session(SysCall::One(f)) => f(state, args).map(Returned::One),
            SystemFunction::Session(SysCall::Set(f)) => f(state, args).map(Returned::Set),
            SystemFunction::Catalog(sysfn::SysCall::One(f)) => f(state, args).map(Returned::One),
            SystemFunction::Catalog(sysfn::SysCall::Set(f)) => f(state, args).map(Returned::Set),
            SystemFunction::Catalog(sysfn::SysCall::Rows(f)) => {
                f(state, args, &result).map(Returned::Set)
            }
        }
    }
}
