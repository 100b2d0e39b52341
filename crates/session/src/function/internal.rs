//! Built-in functions: functions on values in `types`, and functions that need catalogs or the
//! session in `sysfn` and `serverfn`.

use super::Call;
use super::language::{Language, ReadyRows, Resolved, RunningSet, SetRows, no_trigger};
use super::signature;
use crate::serverfn::{Returned, SystemFunction};
use crate::state::State;
use catalog::Row;
use catalog::rows::PgProc;
use eval::{CallContext, Callee, WindowKind};
use executor::BeforeRowResult;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::any::Any;
use sysfn::{ResultRow, rowtrigger};
use trigger::TriggerCall;
use types::builtin::{Builtin, BuiltinFn, SetSource};
use types::{Datum, DatumRef};

/// The function whose result depends on the types of its arguments.
const HASH_PARTITION: &str = "satisfies_hash_partition";

pub(crate) struct Internal;

/// The function on values that a function names: in language `c`, of a linked-in library.
pub(crate) fn on_values(row: &PgProc) -> Option<&'static Builtin> {
    let symbol = row.prosrc.as_str();
    match row.prolang == ids::builtin::language::C {
        true => contrib::libraries::function(row.probin.as_ref().map(|p| p.as_str()), symbol),
        false => types::lookup(symbol),
    }
}

/// The built-in function that a function names.
fn builtin(row: &PgProc) -> Callee {
    let name = row.prosrc.as_str();
    match on_values(row).map(|b| b.f) {
        Some(BuiltinFn::Scalar(f)) => Callee::Scalar(f),
        Some(BuiltinFn::Srf(f)) => Callee::Srf(f),
        // Support functions of aggregates are called by the executor only.
        Some(_) => Callee::Missing,
        None => match SystemFunction::named(name) {
            Some(_) if row.proretset => Callee::HostSet,
            Some(_) => Callee::Host,
            None if name == HASH_PARTITION => Callee::Host,
            None => WindowKind::named(name).map_or(Callee::Missing, Callee::Window),
        },
    }
}

impl Language for Internal {
    fn callee(&self, state: &mut State, row: &PgProc) -> Result<Callee> {
        Ok(match builtin(row) {
            callee @ (Callee::Missing | Callee::Window(_)) => callee,
            callee if signature::is_usual(state, row)? => callee,
            _ if row.proretset => Callee::HostSet,
            _ => Callee::Host,
        })
    }

    fn validate(&self, state: &mut State, row: &Row<PgProc>, _: &str) -> Result<()> {
        if row.prolang == ids::builtin::language::C {
            return check_symbol(row);
        }
        let name = row.prosrc.as_str();
        if !exists(state, name)? {
            return Err(pg_err!(
                UNDEFINED_FUNCTION,
                "there is no built-in function named \"{name}\""
            ));
        }
        Ok(())
    }

    fn call(&self, state: &mut State, call: &Call<'_>) -> Result<Datum> {
        let changed = signature::arguments(state, call)?;
        let mut args = changed.as_deref().unwrap_or(call.args);
        let with_dictionary;
        if let (sysfn::unaccent::SYMBOL, [text]) = (call.row.prosrc.as_str(), args) {
            let dictionary = sysfn::unaccent::default_dictionary(state, call.row.pronamespace)?;
            with_dictionary = [DatumRef::Word(u64::from(dictionary.0)), *text];
            args = &with_dictionary;
        }
        let value = match SystemFunction::named(call.row.prosrc.as_str()) {
            None if call.row.prosrc.as_str() == HASH_PARTITION => {
                sysfn::hash_partition::satisfies(state, call.arg_types, args)
            }
            Some(f) => match f.call(state, args, result_row(call, &[]))? {
                Returned::One(value) => Ok(value),
                Returned::Set(rows) => first_row(state, call.row, rows),
            },
            None => match builtin(call.row) {
                Callee::Scalar(f) => f(&mut context(state, call, &mut None), args),
                Callee::Srf(_) => Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "set-valued function called in context that cannot accept a set"
                )),
                _ => Err(missing(call.row)),
            },
        }?;
        signature::result(state, call.row, call.result_type, value)
    }

    fn call_procedure(&self, state: &mut State, call: &Call<'_>) -> Result<Option<Vec<Datum>>> {
        if call.row.prorettype != types::oids::VOID {
            return Err(missing(call.row));
        }
        self.call(state, call).map(|_| None)
    }

    fn call_trigger(
        &self,
        state: &mut State,
        resolved: &Resolved,
        call: &TriggerCall<'_>,
    ) -> Result<BeforeRowResult> {
        let symbol = resolved.row.prosrc.as_str();
        if symbol == rowtrigger::CHANGE_NOTIFICATION {
            let (channel, payload) = rowtrigger::change_notification(state, call)?;
            crate::notify::notify(state, &channel, &payload)?;
            return Ok(BeforeRowResult::Keep);
        }
        match sysfn::trigger_function(symbol) {
            Some(function) => function(state, call),
            None => Err(no_trigger(call)),
        }
    }

    fn call_set(
        &self,
        state: &mut State,
        call: &Call<'_>,
        columns: &[(Oid, i32)],
    ) -> Result<RunningSet> {
        let one = |value| RunningSet { whole: true, rows: ReadyRows::one(value) };
        let changed = signature::arguments(state, call)?;
        let args = changed.as_deref().unwrap_or(call.args);
        match SystemFunction::named(call.row.prosrc.as_str()) {
            Some(f) => Ok(match f.call(state, args, result_row(call, columns))? {
                Returned::One(value) => {
                    one(signature::result(state, call.row, call.result_type, value)?)
                }
                Returned::Set(rows) => RunningSet { whole: false, rows: ReadyRows::boxed(rows) },
            }),
            None => match builtin(call.row) {
                Callee::Scalar(_) => self.call(state, call).map(one),
                Callee::Srf(f) => {
                    let mut extra = None;
                    let source = f(&mut context(state, call, &mut extra), args)?;
                    let (collation, result_type) = (call.collation, call.result_type);
                    let arg_types = call.arg_types.into();
                    let rows = BuiltinRows { source, collation, result_type, arg_types, extra };
                    Ok(RunningSet { whole: false, rows: Box::new(rows) })
                }
                _ => Err(missing(call.row)),
            },
        }
    }
}

/// An error if no linked-in library has the symbol that a function in language `c` names.
fn check_symbol(row: &PgProc) -> Result<()> {
    let (file, symbol) = (row.probin.as_ref().map_or("", |p| p.as_str()), row.prosrc.as_str());
    let Some(library) = contrib::libraries::library(file) else {
        return Err(pg_err!(
            UNDEFINED_FILE,
            "could not access file \"{file}\": No such file or directory"
        ));
    };
    if library.symbol(symbol).is_none() {
        return Err(pg_err!(
            UNDEFINED_FUNCTION,
            "could not find function \"{symbol}\" in file \"{file}\""
        ));
    }
    Ok(())
}

/// True if PostgreSQL has a built-in function with this `prosrc`. It need not be implemented here;
/// then a call raises 0A000.
fn exists(state: &mut State, name: &str) -> Result<bool> {
    if types::lookup(name).is_some() || SystemFunction::named(name).is_some() {
        return Ok(true);
    }
    let built_in = |p: &PgProc| {
        p.oid < Oid::FIRST_NORMAL
            && p.prolang == ids::builtin::language::INTERNAL
            && p.prosrc.as_str() == name
    };
    Ok(state.cat().scan_all::<PgProc>()?.iter().any(|p| built_in(p)))
}

fn context<'a>(
    state: &'a mut State,
    call: &Call<'a>,
    extra: &'a mut Option<Box<dyn Any + Send>>,
) -> CallContext<'a> {
    CallContext {
        host: state,
        collation: call.collation,
        arg_types: call.arg_types,
        result_type: call.result_type,
        variadic_array: false,
        extra,
    }
}

/// The rows of a set-returning function on values.
struct BuiltinRows {
    source: Box<dyn SetSource>,
    collation: Oid,
    result_type: Oid,
    arg_types: Box<[Oid]>,
    extra: Option<Box<dyn Any + Send>>,
}

impl SetRows for BuiltinRows {
    fn next(&mut self, state: &mut State, out: &mut Vec<Datum>) -> Result<bool> {
        let mut cx = CallContext {
            host: state,
            collation: self.collation,
            arg_types: &self.arg_types,
            result_type: self.result_type,
            variadic_array: false,
            extra: &mut self.extra,
        };
        self.source.next(&mut cx, out)
    }
}

fn result_row<'a>(call: &Call<'a>, list: &'a [(Oid, i32)]) -> ResultRow<'a> {
    ResultRow { ty: call.result_type, function: &call.row.row, list }
}

fn missing(row: &PgProc) -> PgError {
    PgError::unsupported(format!("function {}", row.proname.as_str()))
}

/// The result of a function that returns a single row: a record, or the only column.
fn first_row(state: &mut State, row: &PgProc, rows: Vec<Vec<Datum>>) -> Result<Datum> {
    let Some(mut first) = rows.into_iter().next() else { return Ok(Datum::Null) };
    let outputs: Vec<Oid> = match (&row.proallargtypes, &row.proargmodes) {
        (Some(types), Some(modes)) if row.prorettype == types::oids::RECORD => {
            types.iter().zip(modes).filter(|(_, m)| m.is_output()).map(|(t, _)| *t).collect()
        }
        _ => Vec::new(),
    };
    if outputs.len() > 1 && outputs.len() == first.len() {
        return eval::make_record(state, &outputs, &first);
    }
    Ok(if first.is_empty() { Datum::Null } else { first.swap_remove(0) })
}
