//! The function manager: calls functions of any language by OID. Counterpart: utils/fmgr/fmgr.c.
//!
//! Reading order: `language` (the interface of a language, the table of languages, functions that
//! were called), `internal`, `outputs` (columns of results), `sql`, `plpgsql`, `transpose`
//! (positions of errors).

mod internal;
pub(crate) mod language;
pub(crate) mod outputs;
pub(crate) mod plpgsql;
mod signature;
pub(crate) mod sql;

pub(crate) use internal::on_values;

use crate::state::State;
use catalog::Row;
use catalog::rows::PgProc;
use eval::{Callee, HostCall};
use executor::{BeforeRowResult, SetStream};
use ids::Oid;
use ids::code::Volatility;
use language::{Resolved, SetRows, Site};
use pgerror::{PgError, Result};
use settings::{Action, Saved};
use stats::TrackFunctions;
use trigger::TriggerCall;
use types::{Batch, Datum, DatumRef};

/// Maximum nesting depth of calls of SQL functions, whose bodies are planned at the first call.
const DEPTH_MAX: u32 = 64;

/// Maximum nesting depth of calls of functions of any language. Each continues on a new stack
/// segment if little is left of the present one.
const CALLS_MAX: u32 = 1500;

/// A call that the manager passes to a language.
pub(crate) struct Call<'a> {
    pub row: &'a Row<PgProc>,
    /// What is kept between calls of the function, if it does not return a set.
    pub resolved: Option<&'a Resolved>,
    /// The call's collation; the invalid OID if it has none.
    pub collation: Oid,
    pub result_type: Oid,
    /// Types of the arguments after analysis; invalid for arguments of unknown type.
    pub arg_types: &'a [Oid],
    pub args: &'a [DatumRef<'a>],
}

impl<'a> Call<'a> {
    fn new(row: &'a Row<PgProc>, call: &HostCall<'a>) -> Call<'a> {
        Call {
            row,
            resolved: None,
            collation: call.collation,
            result_type: call.result_type,
            arg_types: call.arg_types,
            args: call.args,
        }
    }
}

/// The way in which a function is run. A function with a role or settings of its own is run by the
/// session, regardless of its language.
pub(crate) fn callee(state: &mut State, row: &PgProc) -> Result<Callee> {
    Ok(match language::of(state, row.prolang)?.map(|l| l.callee(state, row)).transpose()? {
        None | Some(Callee::Missing) => Callee::Missing,
        Some(_) if has_context(row) && row.proretset => Callee::HostSet,
        Some(_) if has_context(row) => Callee::Host,
        Some(callee) => callee,
    })
}

/// True if the function has a role (SECURITY DEFINER) or SET clauses.
fn has_context(row: &PgProc) -> bool {
    row.prosecdef || row.proconfig.is_some()
}

/// Calls a function and returns its value. The caller has checked that the function is not strict
/// or that no argument is NULL.
pub(crate) fn call(state: &mut State, call: &HostCall<'_>) -> Result<Datum> {
    let site = Site {
        function: call.function,
        trigger: Oid::INVALID,
        arg_types: call.arg_types,
        result_type: call.result_type,
        collation: call.collation,
    };
    let resolved = language::resolve(state, site)?;
    let row = &resolved.row;
    let Some(language) = resolved.language else { return Err(unknown_language(row)) };
    if row.provolatile == Volatility::Immutable && call.function >= Oid::FIRST_NORMAL {
        // If the call is part of planning, its result is a constant in the plan. The function may
        // read tables or settings all the same, so the plan serves this execution only.
        state.caches.planning.transient = true;
    }
    let call = Call { resolved: Some(&resolved), ..Call::new(row, call) };
    within(state, row, |state| language.call(state, &call))
}

/// Starts a call, in FROM or of a set-returning function. `columns`: see
/// [`executor::SessionCalls::call_host_set`].
pub(crate) fn call_set(
    state: &mut State,
    call: &HostCall<'_>,
    columns: &[(Oid, i32)],
) -> Result<SetStream> {
    let row = state.cat().function(call.function)?;
    let language = language_of(state, &row)?;
    let set =
        within(state, &row, |state| language.call_set(state, &Call::new(&row, call), columns))?;
    let (whole, columns) = (set.whole, set.rows.columns());
    let state = Running { row, rows: set.rows };
    Ok(SetStream { whole, columns, state: Box::new(state) })
}

/// A running set-returning call.
struct Running {
    row: Row<PgProc>,
    rows: Box<dyn SetRows>,
}

fn running(set: &mut SetStream) -> Result<&mut Running> {
    let running = set.state.downcast_mut();
    running.ok_or_else(|| PgError::internal("rows of a function that is not running"))
}

/// The next rows of a set that has been computed; `None` at its end.
pub(crate) fn next_batch_of_set(set: &mut SetStream) -> Result<Option<Batch>> {
    running(set)?.rows.next_batch()
}

/// Sets `out` to the next row of a set; false at its end.
pub(crate) fn next_of_set(
    state: &mut State,
    set: &mut SetStream,
    out: &mut Vec<Datum>,
) -> Result<bool> {
    let Running { row, rows } = running(set)?;
    out.clear();
    if rows.is_ready() {
        return rows.next(state, out);
    }
    within_uncounted(state, row, |state| rows.next(state, out))
}

/// Calls a trigger function and returns its result.
pub(crate) fn call_trigger(state: &mut State, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    let site = Site {
        function: call.trigger.function,
        trigger: call.trigger.oid,
        arg_types: &[],
        result_type: Oid::INVALID,
        collation: Oid::INVALID,
    };
    let resolved = language::resolve(state, site)?;
    match resolved.language {
        Some(language) => within(state, &resolved.row, |state| {
            state.calls.transitions.extend_from_slice(call.tables);
            language.call_trigger(state, &resolved, call)
        }),
        None => Err(language::no_trigger(call)),
    }
}

/// Calls a function as event trigger.
pub(crate) fn call_event_trigger(
    state: &mut State,
    function: Oid,
    event: &str,
    tag: &str,
) -> Result<()> {
    let row = state.cat().function(function)?;
    let language = language_of(state, &row)?;
    within(state, &row, |state| language.call_event_trigger(state, &row, event, tag))
}

/// Runs a procedure and returns the row of its output parameters, if there are any.
pub(crate) fn call_procedure(
    state: &mut State,
    row: &Row<PgProc>,
    arg_types: &[Oid],
    args: &[DatumRef<'_>],
) -> Result<Option<Vec<Datum>>> {
    let language = language_of(state, row)?;
    let collation = Oid::INVALID;
    let result_type = row.prorettype;
    let call = Call { row, resolved: None, collation, result_type, arg_types, args };
    within(state, row, |state| language.call_procedure(state, &call))
}

fn language_of(state: &mut State, row: &PgProc) -> Result<&'static dyn language::Language> {
    language::of(state, row.prolang)?.ok_or_else(|| unknown_language(row))
}

fn unknown_language(row: &PgProc) -> PgError {
    PgError::unsupported(format!("function {}", row.proname.as_str()))
}

/// As [`within_uncounted`], for a call that counts in `pg_stat_user_functions` if `track_functions`
/// includes the function. A call that fails does not count.
fn within<T>(
    state: &mut State,
    row: &PgProc,
    work: impl FnOnce(&mut State) -> Result<T>,
) -> Result<T> {
    let measured = match row.prolang {
        ids::builtin::language::INTERNAL => None,
        ids::builtin::language::SQL | ids::builtin::language::C => {
            state.backend.stats.begin_call(row.oid, TrackFunctions::All)
        }
        _ => state.backend.stats.begin_call(row.oid, TrackFunctions::Procedural),
    };
    let result = within_uncounted(state, row, work)?;
    if let Some(measured) = measured {
        state.backend.stats.end_call(measured);
    }
    Ok(result)
}

/// Runs `work` at the next nesting level, with the role (SECURITY DEFINER) and the SET clauses of
/// the function. Counterpart: `fmgr_security_definer`.
fn within_uncounted<T>(
    state: &mut State,
    row: &PgProc,
    work: impl FnOnce(&mut State) -> Result<T>,
) -> Result<T> {
    let is_sql = u32::from(row.prolang == ids::builtin::language::SQL);
    if state.calls.sql_depth >= DEPTH_MAX || state.calls.depth >= CALLS_MAX {
        return Err(eval::too_deep());
    }
    state.calls.sql_depth += is_sql;
    state.calls.depth += 1;
    let transitions = std::mem::take(&mut state.calls.transitions);
    let result = stdx::stack::deep(|| match has_context(row) {
        true => {
            // The role and the settings could not be restored.
            state.calls.may_end_transaction = false;
            in_context(state, row, work)
        }
        false => work(state),
    });
    state.calls.sql_depth -= is_sql;
    state.calls.depth -= 1;
    state.calls.transitions = transitions;
    result
}

fn in_context<T>(
    state: &mut State,
    row: &PgProc,
    work: impl FnOnce(&mut State) -> Result<T>,
) -> Result<T> {
    let mut result = Ok(());
    let mut before = None;
    if row.prosecdef {
        result = state.switch_to_definer(row.proowner).map(|b| before = Some(b));
    }
    let (saved, set) = apply_settings_of(state, settings_of(row));
    let result = result.and(set).and_then(|()| work(state));
    restore_settings(state, saved);
    if let Some(before) = before {
        state.restore_role(before);
    }
    result
}

/// Names and values of a function's SET clauses.
fn settings_of(row: &PgProc) -> impl Iterator<Item = (&str, &str)> {
    row.proconfig.iter().flatten().filter_map(|s| s.as_str().split_once('='))
}

/// Applies the SET clauses of a function. The caller passes the old values to [`restore_settings`],
/// even after an error.
fn apply_settings_of<'a>(
    state: &mut State,
    settings: impl Iterator<Item = (&'a str, &'a str)>,
) -> (Vec<Saved>, Result<()>) {
    let mut saved = Vec::new();
    let mut result = Ok(());
    for (name, text) in settings {
        let set = state.store.save(name).and_then(|before| {
            saved.push(before);
            state.set(name, Some(text), Action::Local)
        });
        result = result.and(set);
    }
    (saved, result)
}

fn restore_settings(state: &mut State, saved: Vec<Saved>) {
    if !saved.is_empty() {
        saved.into_iter().rev().for_each(|before| state.store.restore(before));
        state.apply_settings();
    }
}

impl State {
    /// Validates a new function by the rules of its language. `sql` is the statement that creates
    /// it. Counterpart: the call of the validator in `ProcedureCreate`.
    pub(crate) fn validate_function(&mut self, function: Oid, sql: &str) -> Result<()> {
        let row = self.cat().function(function)?;
        let language = language_of(self, &row)?;
        let checks_bodies = self.store.named("check_function_bodies").as_bool();
        let settings = settings_of(&row).filter(|_| checks_bodies);
        let (saved, set) = apply_settings_of(self, settings);
        let result = set.and_then(|()| language.validate(self, &row, sql));
        restore_settings(self, saved);
        result
    }
}
