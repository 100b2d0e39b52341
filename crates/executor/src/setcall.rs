//! Calls of set-returning functions, and of other functions in FROM, built in or run by the
//! session. Counterpart: execSRF.c.

use crate::node::compile;
use crate::run::Run;
use eval::{CallContext, Callee, EvalState, HostCall, Program, Resolve, RowInput};
use pgerror::{PgError, Result, pg_err};
use plan::expr::Expr;
use rowops::services::SetStream;
use std::any::Any;
use types::builtin::{ScalarFn, SetSource, SrfFn};
use types::fn_context::{DefinedRow, TypeCatalog};
use types::{Batch, Column, Datum, DatumRef};

/// A call of a set-returning function, or of another function in FROM.
pub(crate) struct SetCall {
    args: Vec<(Program, EvalState)>,
    arg_types: Vec<ids::Oid>,
    pub how: SetHow,
    strict: bool,
    collation: ids::Oid,
    result_type: ids::Oid,
    st: EvalState,
    extra: Option<Box<dyn Any + Send>>,
    running: Option<Running>,
    /// Number of columns of a composite result; 0 for a scalar one.
    pub columns: usize,
    /// Types of the columns, if the caller forms composite values of them.
    pub field_types: Vec<ids::Oid>,
    /// Types and type modifiers of the column definition list.
    pub defined: Vec<(ids::Oid, i32)>,
    /// The column definition list as a row type, for built-in functions.
    pub row: Option<DefinedRow>,
    /// Each row of the running call is one value, not a list of columns.
    pub whole: bool,
    /// The function is `unnest`: its rows are elements, which may be composite values.
    unnests: bool,
    /// The row type may have more columns than the range-table entry, added since analysis.
    pub open: bool,
    /// The row type (type and type modifier) that has been checked against the declared columns.
    checked: Option<(ids::Oid, i32)>,
}

/// Number of values that a function returns between two checks for interrupts.
pub(crate) const STEP_ROWS: usize = 256;

/// A call whose rows are being read.
enum Running {
    Builtin(Box<dyn SetSource>),
    /// The session runs the function.
    Host(SetStream),
}

pub(crate) enum SetHow {
    Srf(SrfFn),
    /// A built-in function that returns one row, called with a column definition list.
    Record(ScalarFn),
    Host(ids::Oid),
    /// An expression that returns one row.
    Once(Program),
    OnceDone,
}

impl SetCall {
    /// Expands a composite value into columns of these types.
    pub(crate) fn expand_row(
        &mut self,
        run: &mut Run<'_>,
        v: &Datum,
        wanted: &[ids::Oid],
    ) -> Result<Vec<Datum>> {
        let row = match v {
            Datum::Null => return Ok(vec![Datum::Null; wanted.len()]),
            Datum::Word(_) => return Err(row_mismatch(&attribute_count(1), wanted.len())),
            Datum::Bytes(_) => v.as_ref(),
        };
        let ty = types::record::type_of(row)?;
        if self.checked != Some(ty) {
            check_row_type(run, row, wanted, self.open)?;
            self.checked = Some(ty);
        }
        let mut columns = eval::row_columns(run, row)?;
        columns.truncate(wanted.len());
        Ok(columns)
    }

    pub(crate) fn new(
        e: &Expr,
        cols: &mut dyn Resolve,
        columns: usize,
        run: &mut Run<'_>,
    ) -> Result<SetCall> {
        let mut call = SetCall {
            args: Vec::new(),
            arg_types: Vec::new(),
            how: SetHow::OnceDone,
            strict: false,
            collation: ids::Oid::INVALID,
            result_type: e.type_oid(),
            st: EvalState::default(),
            extra: None,
            running: None,
            columns,
            field_types: Vec::new(),
            defined: Vec::new(),
            row: None,
            whole: false,
            unnests: false,
            open: false,
            checked: None,
        };
        if let Expr::FuncExpr(f) = e {
            let facts = run.sv.function(f.funcid)?;
            let how = match facts.callee {
                Callee::Srf(srf) => Some(SetHow::Srf(srf)),
                Callee::HostSet => Some(SetHow::Host(f.funcid)),
                // The column definition list determines the types of its columns.
                Callee::Scalar(f) if columns > 0 && e.type_oid() == types::oids::RECORD => {
                    Some(SetHow::Record(f))
                }
                Callee::Host if columns > 0 && e.type_oid() == types::oids::RECORD => {
                    Some(SetHow::Host(f.funcid))
                }
                _ => None,
            };
            if let Some(how) = how {
                for a in eval::arguments(&f.args, &facts)?.iter() {
                    call.args.push((compile(a, cols, run)?, EvalState::default()));
                    call.arg_types.push(a.type_oid());
                }
                call.how = how;
                call.unnests = f.funcid == ids::builtin::proc::ARRAY_UNNEST;
                call.strict = facts.strict;
                call.collation = f.inputcollid;
                return Ok(call);
            }
            if f.funcretset && !matches!(facts.callee, Callee::Scalar(_)) {
                return Err(PgError::unsupported(format!("set-returning function {}", facts.name)));
            }
        }
        call.how = SetHow::Once(compile(e, cols, run)?);
        Ok(call)
    }

    /// Calls the function for an input row.
    pub(crate) fn start(&mut self, run: &mut Run<'_>, input: &RowInput<'_>) -> Result<SetStart> {
        self.running = None;
        match &self.how {
            SetHow::Srf(_) | SetHow::Host(_) | SetHow::Record(_) => {
                let mut vals = Vec::with_capacity(self.args.len());
                for (p, st) in &mut self.args {
                    vals.push(p.eval_row(st, run, input)?.into_owned());
                }
                if self.strict && vals.iter().any(Datum::is_null) {
                    return Ok(match self.how {
                        SetHow::Record(_) => SetStart::One(Datum::Null),
                        _ => SetStart::Empty,
                    });
                }
                let refs: Vec<DatumRef<'_>> = vals.iter().map(Datum::as_ref).collect();
                self.whole = self.unnests;
                if let Some(row) = &self.row {
                    self.extra = Some(Box::new(row.clone()));
                }
                self.running = Some(match &self.how {
                    SetHow::Record(f) => {
                        let mut cx = CallContext {
                            host: run,
                            collation: self.collation,
                            arg_types: &self.arg_types,
                            result_type: self.result_type,
                            variadic_array: false,
                            extra: &mut self.extra,
                        };
                        return f(&mut cx, &refs).map(SetStart::One);
                    }
                    SetHow::Host(function) => {
                        let call = HostCall {
                            function: *function,
                            collation: self.collation,
                            result_type: self.result_type,
                            arg_types: &self.arg_types,
                            args: &refs,
                        };
                        let stream = run.sv.call_host_set(&call, &self.defined)?;
                        self.whole = stream.whole;
                        Running::Host(stream)
                    }
                    SetHow::Srf(f) => {
                        let mut cx = CallContext {
                            host: run,
                            collation: self.collation,
                            arg_types: &self.arg_types,
                            result_type: self.result_type,
                            variadic_array: false,
                            extra: &mut self.extra,
                        };
                        Running::Builtin(f(&mut cx, &refs)?)
                    }
                    _ => return Ok(SetStart::Empty),
                });
                Ok(SetStart::Running)
            }
            SetHow::Once(p) => {
                let v = p.eval_row(&mut self.st, run, input)?.into_owned();
                Ok(SetStart::One(v))
            }
            SetHow::OnceDone => Ok(SetStart::Empty),
        }
    }

    /// Drops the running call.
    pub(crate) fn release(&mut self) {
        self.running = None;
        self.extra = None;
    }

    /// A composite value of the columns of a row of a running function.
    pub(crate) fn composite(&self, run: &mut Run<'_>, columns: &[Datum]) -> Result<Datum> {
        if self.result_type == types::oids::RECORD {
            return eval::make_record(run, &self.field_types, columns);
        }
        let desc = run.row_desc(self.result_type, -1)?;
        let pairs = desc.columns.iter().zip(columns).filter(|(c, _)| !c.is_dropped());
        let fields: Vec<Datum> = pairs.map(|(_, v)| v.clone()).collect();
        eval::make_row(run, self.result_type, &fields)
    }

    /// True if a built-in function is running whose rows are single values.
    pub(crate) fn runs_values(&self) -> bool {
        matches!(self.running, Some(Running::Builtin(_)))
            && self.columns == 0
            && (self.whole || self.field_types.is_empty())
    }

    /// True if the running function returns its rows as batches of columns of these types.
    pub(crate) fn returns_batches(&self, types: &[ids::Oid]) -> bool {
        match &self.running {
            Some(Running::Host(set)) => set.columns.as_deref() == Some(types),
            _ => false,
        }
    }

    /// The next rows of a function that returns batches; `None` at its end.
    pub(crate) fn next_batch(&mut self, run: &mut Run<'_>) -> Result<Option<Batch>> {
        match &mut self.running {
            Some(Running::Host(set)) => run.sv.next_batch_of_set(set),
            _ => Ok(None),
        }
    }

    /// True if the session runs the function.
    pub(crate) fn is_hosted(&self) -> bool {
        matches!(self.how, SetHow::Host(_))
    }

    /// Appends the next values of a running function to a column, at most `rows`; false at the end
    /// of the set.
    pub(crate) fn fill(
        &mut self,
        run: &mut Run<'_>,
        column: &mut Column,
        rows: usize,
    ) -> Result<bool> {
        let Some(Running::Builtin(source)) = &mut self.running else { return Ok(false) };
        let mut cx = CallContext {
            host: run,
            collation: self.collation,
            arg_types: &self.arg_types,
            result_type: self.result_type,
            variadic_array: false,
            extra: &mut self.extra,
        };
        let more = source.fill(&mut cx, column, rows)?;
        if !more {
            self.running = None;
        }
        Ok(more)
    }

    /// Appends the columns of the function's next row, which have these types; false at its end.
    /// `one` is the result of a function that returns one row, `values` memory for the row.
    pub(crate) fn next_row(
        &mut self,
        run: &mut Run<'_>,
        one: &mut Option<Datum>,
        types: &[ids::Oid],
        values: &mut Vec<Datum>,
        row: &mut Vec<Datum>,
    ) -> Result<bool> {
        if let Some(v) = one.take() {
            match self.columns {
                0 => row.push(v),
                _ => row.extend(self.expand_row(run, &v, types)?),
            }
            return Ok(true);
        }
        if !self.step(run, values)? {
            return Ok(false);
        }
        if values.len() == 1 && (types.len() > 1 || self.whole && self.columns > 0) {
            let v = values.pop().unwrap_or_default();
            row.extend(self.expand_row(run, &v, types)?);
        } else {
            row.append(values);
        }
        Ok(true)
    }

    /// The next row of a running function.
    pub(crate) fn step(&mut self, run: &mut Run<'_>, out: &mut Vec<Datum>) -> Result<bool> {
        out.clear();
        let more = match &mut self.running {
            None => return Ok(false),
            Some(Running::Host(stream)) => run.sv.next_of_set(stream, out)?,
            Some(Running::Builtin(source)) => {
                let mut cx = CallContext {
                    host: run,
                    collation: self.collation,
                    arg_types: &self.arg_types,
                    result_type: self.result_type,
                    variadic_array: false,
                    extra: &mut self.extra,
                };
                source.next(&mut cx, out)?
            }
        };
        if !more {
            self.running = None;
        }
        Ok(more)
    }

    /// The next row of a running function as one value; `None` at its end. `fields` is space for
    /// the columns of a row.
    pub(crate) fn next_value(
        &mut self,
        run: &mut Run<'_>,
        fields: &mut Vec<Datum>,
    ) -> Result<Option<Datum>> {
        if !self.step(run, fields)? {
            return Ok(None);
        }
        Ok(Some(match fields.len() {
            1 if self.whole || self.field_types.is_empty() => fields.pop().unwrap_or_default(),
            _ => self.composite(run, fields)?,
        }))
    }
}

pub(crate) enum SetStart {
    Empty,
    Running,
    One(Datum),
}

/// Fails with 42804 if the columns of a composite value do not match the declared ones.
/// Counterpart: execSRF.c (`tupledesc_match`).
fn check_row_type(
    run: &mut Run<'_>,
    row: DatumRef<'_>,
    wanted: &[ids::Oid],
    open: bool,
) -> Result<()> {
    let types = eval::row_types(run, row)?;
    if types.len() < wanted.len() || types.len() > wanted.len() && !open {
        return Err(row_mismatch(&attribute_count(types.len()), wanted.len()));
    }
    for (i, (got, &wanted)) in types.into_iter().zip(wanted).enumerate() {
        let Some(got) = got else { continue };
        let facts = run.sv.as_facts();
        // Types with the same length and passing mode are accepted, such as varchar for text or a
        // domain for its base type.
        let form = |info: types::TypeInfo| (info.len, info.by_val);
        if got != wanted && form(facts.type_info(got)?) != form(facts.type_info(wanted)?) {
            let (got, wanted) = (facts.type_name(got)?, facts.type_name(wanted)?);
            let position = i + 1;
            return Err(mismatch().detail(format!(
                "Returned type {got} at ordinal position {position}, but query expects {wanted}."
            )));
        }
    }
    Ok(())
}

fn mismatch() -> PgError {
    pg_err!(DATATYPE_MISMATCH, "function return row and query-specified return row do not match")
}

fn attribute_count(n: usize) -> String {
    format!("{n} attribute{}", if n == 1 { "" } else { "s" })
}

fn row_mismatch(got: &str, wanted: usize) -> PgError {
    mismatch().detail(format!("Returned row contains {got}, but query expects {wanted}."))
}
