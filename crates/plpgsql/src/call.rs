//! The entry points of the interpreter: calls of functions and procedures, DO. Counterpart:
//! `plpgsql_exec_function` of pl_exec.c.

use crate::exec::Flow;
use crate::frame::{Frame, ResultSet};
use crate::host::Host;
use crate::instance::Code;
use crate::structure::check_structure;
use crate::tree::{CodeKind, TypeKind, VarKind};
use engine::StoredRows;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use types::fn_context::{RowDesc, SessionContext, TypeCatalog};
use types::{Datum, DatumRef, oids};

/// A call: its arguments, and the structure of its result if it is composite.
pub struct Called<'a> {
    pub args: &'a [DatumRef<'a>],
    pub row: Option<Arc<RowDesc>>,
    /// The call must not end the transaction.
    pub atomic: bool,
}

/// Calls a function that does not return a set.
pub fn call(host: &mut dyn Host, code: &Code, called: &Called<'_>) -> Result<Datum> {
    entered(host, |host| call_function(host, code, called))
}

/// Runs `work`, which enters a call, and leaves the call.
pub(crate) fn entered<T>(
    host: &mut dyn Host,
    work: impl FnOnce(&mut dyn Host) -> Result<T>,
) -> Result<T> {
    let contexts = host.contexts();
    let (level, streams) = (contexts.level(), contexts.stream_count());
    let loops = contexts.writing_loops();
    let result = work(host);
    let contexts = host.contexts();
    contexts.truncate(level);
    contexts.end_streams(streams);
    contexts.set_writing_loops(loops);
    result
}

fn call_function(host: &mut dyn Host, code: &Code, called: &Called<'_>) -> Result<Datum> {
    run_with(host, code, called, None, |frame, host| {
        frame.during("while casting return value to function's return type", |frame| {
            let value = std::mem::take(&mut frame.returned.value);
            frame.result(host, value, called.row.as_ref())
        })
    })
}

/// Calls a set-returning function; `desc` is the structure of its rows. Adds the rows to `rows`,
/// without dropped columns.
pub fn call_set(
    host: &mut dyn Host,
    code: &Code,
    called: &Called<'_>,
    desc: Arc<RowDesc>,
    rows: StoredRows,
) -> Result<StoredRows> {
    let set = Box::new(ResultSet { desc, rows });
    entered(host, |host| {
        run_with(host, code, called, Some(set), |frame, _| match frame.set.take() {
            Some(set) => Ok(set.rows),
            None => Err(PgError::internal("set-returning function without a result set")),
        })
    })
}

/// Calls a procedure; returns the values of its output parameters, if it has any.
pub fn call_procedure(
    host: &mut dyn Host,
    code: &Code,
    called: &Called<'_>,
) -> Result<Option<Vec<Datum>>> {
    entered(host, |host| {
        run_with(host, code, called, None, |frame, host| match code.function.out {
            None => Ok(None),
            Some(out) => match &code.function.vars[out].kind {
                VarKind::Row(fields) => Ok(Some(frame.list_values(host, fields)?.1)),
                _ => Ok(Some(vec![frame.variable_value(host, out)?.0])),
            },
        })
    })
}

/// Runs the code of DO.
pub fn call_inline(host: &mut dyn Host, code: &Code, atomic: bool) -> Result<()> {
    let called = Called { args: &[], row: None, atomic };
    entered(host, |host| run_with(host, code, &called, None, |_, _| Ok(())))
}

/// Runs the body of a function with these arguments; see [`run`].
fn run_with<'f, T>(
    host: &mut dyn Host,
    code: &'f Code,
    called: &Called<'_>,
    set: Option<Box<ResultSet>>,
    leave: impl FnOnce(&mut Frame<'f>, &mut dyn Host) -> Result<T>,
) -> Result<T> {
    let enter =
        |frame: &mut Frame<'f>, host: &mut dyn Host| frame.store_arguments(host, called.args);
    run(host, code, (set, called.atomic), enter, leave)
}

/// Runs the body of a function, after `enter` has set its variables; `leave` returns the result.
pub(crate) fn run<'f, T>(
    host: &mut dyn Host,
    code: &'f Code,
    (set, atomic): (Option<Box<ResultSet>>, bool),
    enter: impl FnOnce(&mut Frame<'f>, &mut dyn Host) -> Result<()>,
    leave: impl FnOnce(&mut Frame<'f>, &mut dyn Host) -> Result<T>,
) -> Result<T> {
    SessionContext::check_interrupts(host)?;
    let stamp = host.stamp()?;
    let mut frame = Frame::new(code, stamp, host);
    frame.set = set;
    frame.atomic = atomic;
    frame
        .during("while storing call arguments into local variables", |frame| enter(frame, host))?;
    frame.vals.set(code.function.found, Datum::bool(false));
    let body = &code.function.body;
    frame.place.stmt = Some((body.line, "statement block"));
    let flow = frame.block(host, body);
    frame.place.stmt = None;
    let flow = flow.map_err(|e| frame.report(e))?;
    let needs_return = !matches!(code.function.kind, CodeKind::Inline | CodeKind::Procedure);
    if flow != Flow::Return && needs_return {
        let e = match code.function.kind {
            CodeKind::Trigger => pg_err!(
                S_R_E_FUNCTION_EXECUTED_NO_RETURN_STATEMENT,
                "control reached end of trigger procedure without RETURN"
            ),
            _ => pg_err!(
                S_R_E_FUNCTION_EXECUTED_NO_RETURN_STATEMENT,
                "control reached end of function without RETURN"
            ),
        };
        return Err(frame.report(e));
    }
    let result = leave(&mut frame, host)?;
    frame.finish(host);
    Ok(result)
}

impl Frame<'_> {
    fn store_arguments(&mut self, host: &mut dyn Host, args: &[DatumRef<'_>]) -> Result<()> {
        for (&var, value) in self.code.function.args.iter().zip(args) {
            match &self.code.function.vars[var].kind {
                VarKind::Scalar { .. } => self.vals.set(var, DatumRef::to_owned(*value)),
                VarKind::Record { .. } if value.is_null() => self.assign_null(host, var)?,
                VarKind::Record { ty, .. } => {
                    self.assign_composite(host, var, *value, (ty.oid, "a record"))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The returned value as a value of the function's result type.
    fn result(
        &mut self,
        host: &mut dyn Host,
        value: Datum,
        row: Option<&Arc<RowDesc>>,
    ) -> Result<Datum> {
        let function = &self.code.function;
        let result = &function.result.ty;
        let from = (self.returned.ty, self.returned.typmod);
        if result.oid == oids::VOID {
            return Ok(if from.0 == oids::VOID { Datum::Word(0) } else { value });
        }
        if result.kind != TypeKind::Row {
            let is_domain = result.oid >= Oid::FIRST_NORMAL;
            if value.is_null() && !is_domain {
                return Ok(value);
            }
            return self.cast(host, value, from, (result.oid, result.typmod));
        }
        if value.is_null() {
            return Ok(value);
        }
        self.result_row(host, value, row)
    }

    fn result_row(
        &mut self,
        host: &mut dyn Host,
        value: Datum,
        row: Option<&Arc<RowDesc>>,
    ) -> Result<Datum> {
        let result = self.code.function.result.ty.oid;
        let (ty, typmod) = types::record::type_of(value.as_ref())?;
        let (base, _) = eval::Facts::base_type(host, result)?;
        if result != oids::RECORD && base == ty {
            return self.checked_domain(host, value, (base, result));
        }
        let wanted = match (row, result) {
            (Some(row), _) => row.clone(),
            (None, oids::RECORD) => return Ok(value),
            _ => TypeCatalog::row_desc(host, base, -1)?,
        };
        let from = TypeCatalog::row_desc(host, ty, typmod)?;
        let message = "returned record type does not match expected record type";
        check_structure(host, &from, &wanted, message)?;
        let fields = crate::assign::fields_of(host, &from, value.as_ref())?;
        let live = from.columns.iter().zip(fields.iter()).filter(|(c, _)| !c.is_dropped());
        let mut live = live.map(|(_, v)| v.to_owned());
        let to = wanted.columns.iter().map(|c| match c.is_dropped() {
            true => Datum::Null,
            false => live.next().unwrap_or_default(),
        });
        let values: Vec<Datum> = to.collect();
        let named = Some(base).filter(|ty| *ty != oids::RECORD);
        let whole = crate::assign::row_datum(host, named, &wanted, &values.into())?;
        self.checked_domain(host, whole, (base, result))
    }

    fn checked_domain(
        &mut self,
        host: &mut dyn Host,
        value: Datum,
        (base, result): (Oid, Oid),
    ) -> Result<Datum> {
        match base == result {
            true => Ok(value),
            false => self.cast(host, value, (base, -1), (result, -1)),
        }
    }
}
