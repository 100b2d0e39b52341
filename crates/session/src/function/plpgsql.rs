//! Functions and procedures in language PL/pgSQL, whose compiler and interpreter are in crate
//! `plpgsql`. Counterpart: pl_handler.c.

mod codes;
pub(crate) mod compiled;
mod host;
pub(crate) mod source;
mod transaction;
mod triggers;

use super::Call;
use super::language::{Language, ReadyRows, Resolved, RunningSet, SetRows};
use crate::state::State;
use analyze::function::Column;
use catalog::Row;
use catalog::rows::PgProc;
use codes::isolated;
use compiled::{CallSite, Callable};
use define::routine::transpose::transposed;
use engine::StoredRows;
use eval::Callee;
use executor::BeforeRowResult;
use ids::Oid;
use ids::code::ProKind;
use pgerror::{Result, pg_err};
use plpgsql::{Called, Code};
use std::sync::Arc;
use trigger::TriggerCall;
use types::fn_context::{RowColumn, RowDesc, TypeCatalog};
use types::{Batch, Datum, oids};

pub(crate) struct Plpgsql;

/// The name of the library's function that calls functions of the language (`prosrc`).
pub(crate) const HANDLER: &str = "plpgsql_call_handler";

impl Language for Plpgsql {
    fn callee(&self, _: &mut State, row: &PgProc) -> Result<Callee> {
        Ok(if row.proretset { Callee::HostSet } else { Callee::Host })
    }

    fn validate(&self, state: &mut State, row: &Row<PgProc>, sql: &str) -> Result<()> {
        source::check_types(state, row)?;
        if !state.store.named("check_function_bodies").as_bool() {
            return Ok(());
        }
        let before = state.notices.len();
        let compiled = source::compile(state, row, &source::Types::sample(row), true);
        source::place_notices(state, before, sql, row.prosrc.as_str());
        compiled.map(|_| ()).map_err(|e| match transposed(e, sql, row.prosrc.as_str()) {
            Ok(e) | Err(e) => e,
        })
    }

    fn call(&self, state: &mut State, call: &Call<'_>) -> Result<Datum> {
        let found;
        let callable = match call.resolved.and_then(|resolved| resolved.plpgsql.get()) {
            Some(known) => known,
            None => {
                let code = codes::find(state, call.row, call.arg_types, site(call))?;
                refuse_trigger(call.row, &code)?;
                let row = expected_row(state, call, &[])?;
                found = Callable { code, row };
                match call.resolved {
                    Some(resolved) => resolved.plpgsql.get_or_init(|| found),
                    None => &found,
                }
            }
        };
        let (code, row) = (&callable.code, callable.row.clone());
        isolated(state, |state| {
            plpgsql::call(state, code, &Called { args: call.args, row, atomic: true })
        })
    }

    fn call_set(
        &self,
        state: &mut State,
        call: &Call<'_>,
        columns: &[Column],
    ) -> Result<RunningSet> {
        let code = codes::find(state, call.row, call.arg_types, site(call))?;
        refuse_trigger(call.row, &code)?;
        let row = expected_row(state, call, columns)?;
        let called = Called { args: call.args, row, atomic: true };
        if !call.row.proretset {
            let value = isolated(state, |state| plpgsql::call(state, &code, &called))?;
            return Ok(RunningSet { whole: true, rows: ReadyRows::one(value) });
        }
        let result = code.function.result.ty.oid;
        let (desc, is_row) = match &called.row {
            Some(row) => (row.clone(), true),
            None if result == oids::RECORD => {
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "set-valued function called in context that cannot accept a set"
                ));
            }
            None => (scalar_row(result), false),
        };
        let mut by_val = Vec::new();
        for (column, info) in desc.columns.iter().zip(desc.types(state)?) {
            if !column.is_dropped() {
                by_val.push(info.by_val);
            }
        }
        let rows = StoredRows::new(by_val, state.values.work_mem_bytes);
        let rows =
            isolated(state, |state| plpgsql::call_set(state, &code, &called, desc.clone(), rows))?;
        let row = is_row.then_some((result, desc.clone()));
        let types = desc.columns.iter().map(|c| (!c.is_dropped()).then_some(c.ty));
        let columns = types.collect::<Option<_>>();
        let set = ReturnedRows { rows, next: 0, batch: Batch::default(), at: 0, row, columns };
        Ok(RunningSet { whole: true, rows: Box::new(set) })
    }

    fn call_procedure(&self, state: &mut State, call: &Call<'_>) -> Result<Option<Vec<Datum>>> {
        let atomic = !std::mem::take(&mut state.calls.may_end_transaction);
        let code = codes::find(state, call.row, call.arg_types, site(call))?;
        let called = Called { args: call.args, row: None, atomic };
        isolated(state, |state| plpgsql::call_procedure(state, &code, &called))
    }

    fn call_trigger(
        &self,
        state: &mut State,
        resolved: &Resolved,
        call: &TriggerCall<'_>,
    ) -> Result<BeforeRowResult> {
        let callable = match resolved.plpgsql.get() {
            Some(known) => known,
            None => {
                let site = CallSite { trigger: call.trigger.oid, ..CallSite::default() };
                let code = codes::find(state, &resolved.row, &[], site)?;
                resolved.plpgsql.get_or_init(|| Callable { code, row: None })
            }
        };
        triggers::call(state, &callable.code, call)
    }

    fn call_event_trigger(
        &self,
        state: &mut State,
        row: &Row<PgProc>,
        event: &str,
        tag: &str,
    ) -> Result<()> {
        let code = codes::find(state, row, &[], CallSite::default())?;
        isolated(state, |state| plpgsql::call_event_trigger(state, &code, event, tag))
    }

    fn run_inline(&self, state: &mut State, _: &str, code: &str) -> Result<()> {
        let atomic = !std::mem::take(&mut state.calls.may_end_transaction);
        let code = source::compile_inline(state, code)?;
        isolated(state, |state| plpgsql::call_inline(state, &code, atomic))
    }
}

fn site(call: &Call<'_>) -> CallSite {
    CallSite { result: call.result_type, collation: call.collation, trigger: Oid::INVALID }
}

/// The rows of a set-returning function that has ended.
struct ReturnedRows {
    rows: StoredRows,
    /// The number of the next batch, the present one, and the next row in it.
    next: usize,
    batch: Batch,
    at: usize,
    /// Type and structure of composite values.
    row: Option<(Oid, Arc<RowDesc>)>,
    /// The types of the columns, if none is dropped.
    columns: Option<Arc<[Oid]>>,
}

impl SetRows for ReturnedRows {
    fn next(&mut self, state: &mut State, out: &mut Vec<Datum>) -> Result<bool> {
        while self.at >= self.batch.len {
            let Some(batch) = self.next_batch()? else { return Ok(false) };
            (self.batch, self.at) = (batch, 0);
        }
        let fields = self.batch.row_owned(self.at);
        self.at += 1;
        match &self.row {
            None => out.extend(fields),
            Some((ty, desc)) => out.push(source::row_value(state, *ty, desc, &fields)?),
        }
        Ok(true)
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn columns(&self) -> Option<Arc<[Oid]>> {
        self.columns.clone()
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        self.next += 1;
        self.rows.take_batch(self.next - 1)
    }
}

/// Error 0A000 for a call of a trigger function in an expression.
fn refuse_trigger(row: &PgProc, code: &Code) -> Result<()> {
    match code.function.kind {
        plpgsql::tree::CodeKind::Trigger | plpgsql::tree::CodeKind::EventTrigger => {
            let e =
                pg_err!(FEATURE_NOT_SUPPORTED, "trigger functions can only be called as triggers");
            let name = row.proname.as_str();
            Err(e.context(format!("compilation of PL/pgSQL function \"{name}\" near line 1")))
        }
        _ => Ok(()),
    }
}

/// The structure of the result of a call, if it is known and composite.
fn expected_row(
    state: &mut State,
    call: &Call<'_>,
    columns: &[Column],
) -> Result<Option<Arc<RowDesc>>> {
    let row = call.row;
    if row.prokind == ProKind::Procedure {
        return Ok(None);
    }
    let outputs = super::outputs::outputs(state, row, call.arg_types)?;
    if let Some(list) = outputs.filter(|list| list.len() > 1) {
        let column = |(name, ty)| column(name, ty, -1);
        return Ok(Some(Arc::new(RowDesc::new(list.into_iter().map(column).collect(), 0))));
    }
    let result = codes::result_type(row, call.result_type);
    if result == oids::RECORD {
        if columns.is_empty() {
            return Ok(None);
        }
        let list = columns.iter().map(|&(ty, typmod)| column(String::new(), ty, typmod));
        return Ok(Some(Arc::new(RowDesc::new(list.collect(), 0))));
    }
    let (base, _) = state.cat().base_type(result)?;
    if state.type_facts(base)?.relid.is_valid() {
        return TypeCatalog::row_desc(state, base, -1).map(Some);
    }
    Ok(None)
}

fn column(name: String, ty: Oid, typmod: i32) -> RowColumn {
    RowColumn { name, ty, typmod, collation: Oid::INVALID, dropped: None }
}

/// The row of a set of values that are not composite.
fn scalar_row(ty: Oid) -> Arc<RowDesc> {
    Arc::new(RowDesc::new(vec![column(String::new(), ty, -1)], 0))
}
