//! CALL. Counterpart: commands/functioncmds.c (`ExecuteCallStmt`), parser/analyze.c
//! (`transformCallStmt`).

use crate::function;
use crate::session::Session;
use crate::state::State;
use analyze::{Analyzer, Params, SessionLookup};
use catalog::Row;
use catalog::rows::PgProc;
use client::rows::{self, RowWriter};
use eval::Facts;
use ids::Oid;
use ids::code::ArgMode;
use parse::ast::CallStmt;
use pgerror::Result;
use plan::Expr;
use plan::expr::TargetEntry;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};
use wire::{FieldDescription, backend};

/// An analysed call: the procedure, the expressions for its input parameters, and its output
/// parameters.
struct Call {
    row: Row<PgProc>,
    inputs: Vec<Expr>,
    outputs: Vec<TargetEntry>,
}

impl State {
    /// Analyses a call. Also returns the parameter types, which are inferred if `params` permits
    /// it.
    fn analyse_call(
        &mut self,
        stmt: &CallStmt,
        sql: &str,
        params: Params,
    ) -> Result<(Call, Vec<Oid>)> {
        let mut lookup = SessionLookup::new(self);
        let infers = matches!(params, Params::Variable(_));
        let mut cx = Analyzer::new(&mut lookup, sql, params);
        let (procedure, args) = cx.procedure_call(stmt)?;
        let types = match infers {
            true => analyze::inferred_types(&cx, &|f| {
                args.iter().for_each(|e| analyze::walk::expr_deep(e, 0, f));
            })?,
            false => Vec::new(),
        };
        Ok((self.call_of(procedure, args)?, types))
    }

    fn call_of(&mut self, procedure: Oid, args: Vec<Expr>) -> Result<Call> {
        let row = self.cat().function(procedure)?;
        let modes = row.proargmodes.clone().unwrap_or_default();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (i, e) in args.into_iter().enumerate() {
            let mode = modes.get(i).copied().unwrap_or(ArgMode::In);
            if matches!(mode, ArgMode::Out | ArgMode::InOut) {
                let name = row.proargnames.as_ref().and_then(|n| n.get(i));
                let name = name.map(|n| n.as_str()).filter(|n| !n.is_empty());
                let name = name.map_or_else(|| format!("column{}", i + 1), str::to_owned);
                let number = outputs.len() as i16 + 1;
                outputs.push(TargetEntry {
                    expr: e.clone(),
                    resno: number,
                    resname: Some(name),
                    ressortgroupref: 0,
                    resorigtbl: Oid::INVALID,
                    resorigcol: 0,
                    resjunk: false,
                });
            }
            if mode != ArgMode::Out {
                inputs.push(e);
            }
        }
        Ok(Call { row, inputs, outputs })
    }

    /// Runs a CALL in a function in SQL, whose arguments are `params`.
    pub(crate) fn call_in_function(
        &mut self,
        stmt: &CallStmt,
        (function, types): (&PgProc, &[Oid]),
        params: &Arc<[Datum]>,
    ) -> Result<()> {
        let (text, name) = (function.prosrc.as_str(), function.proname.as_str());
        let names = function::outputs::argument_names(function);
        let mut lookup = SessionLookup::new(self);
        let (procedure, args) =
            analyze::call_in_function(&mut lookup, stmt, text, name, types, &names)?;
        let call = self.call_of(procedure, args)?;
        self.cat().increment_command_counter()?;
        self.run_analysed(&call, params, false).map(|_| ())
    }

    /// The columns of the row that the call returns, if it returns one. Infers the parameter types
    /// that are not declared.
    pub(crate) fn call_fields(
        &mut self,
        stmt: &CallStmt,
        sql: &str,
        types: &mut Vec<Oid>,
    ) -> Result<Option<Vec<FieldDescription>>> {
        let given = Params::Variable(std::mem::take(types));
        let (call, found) = self.analyse_call(stmt, sql, given)?;
        *types = found;
        if call.outputs.is_empty() {
            return Ok(None);
        }
        rows::describe(self, &call.outputs).map(Some)
    }

    /// Runs the procedure. Returns its output parameters and their values.
    /// `may_end_transaction`: it may commit or roll back.
    pub(crate) fn call(
        &mut self,
        stmt: &CallStmt,
        sql: &str,
        (params, types): (&Arc<[Datum]>, &[Oid]),
        may_end_transaction: bool,
    ) -> Result<(Vec<TargetEntry>, Option<Vec<Datum>>)> {
        let (call, _) = self.analyse_call(stmt, sql, Params::Fixed(types.to_vec()))?;
        let result = self.run_analysed(&call, params, may_end_transaction)?;
        Ok((call.outputs, result))
    }

    fn run_analysed(
        &mut self,
        call: &Call,
        params: &Arc<[Datum]>,
        may_end_transaction: bool,
    ) -> Result<Option<Vec<Datum>>> {
        let user = self.catalog.user;
        crate::privileges::check_function(self, call.row.oid, user)?;
        let depth = self.backend.snapshot_depth();
        let snapshot = self.backend.snapshot();
        self.backend.push_snapshot(snapshot);
        let saved = std::mem::replace(&mut self.params, params.clone());
        let result = self.run_call(call, may_end_transaction);
        self.calls.may_end_transaction = false;
        self.params = saved;
        self.backend.truncate_snapshots(depth);
        result
    }

    fn run_call(&mut self, call: &Call, may_end_transaction: bool) -> Result<Option<Vec<Datum>>> {
        let mut values = Vec::with_capacity(call.inputs.len());
        for e in &call.inputs {
            values.push(self.evaluate(e)?);
        }
        let types: Vec<Oid> = call.inputs.iter().map(Expr::type_oid).collect();
        let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
        self.calls.may_end_transaction = may_end_transaction;
        function::call_procedure(self, &call.row, &types, &refs)
    }
}

impl Session {
    /// Runs the procedure and sends the row of its output parameters.
    pub(crate) fn call_statement(
        &mut self,
        stmt: &CallStmt,
        sql: &str,
        params: (&Arc<[Datum]>, &[Oid]),
        describe: bool,
    ) -> Result<&'static str> {
        let alone = self.state.transaction.block == crate::xact::Block::Single;
        let (outputs, row) = self.state.call(stmt, sql, params, alone)?;
        if outputs.is_empty() {
            return Ok("CALL");
        }
        let fields = rows::describe(&mut self.state, &outputs)?;
        if describe {
            backend::row_description(&mut self.conn.out, &fields);
        }
        let types: Vec<Oid> = outputs.iter().map(|t| t.expr.type_oid()).collect();
        let mut by_val = Vec::with_capacity(types.len());
        for &ty in &types {
            by_val.push(Facts::type_info(&mut self.state, ty)?.by_val);
        }
        let writer = RowWriter::for_types(&types, &self.results);
        let mut batch = Batch::new(by_val);
        for (column, value) in batch.columns.iter_mut().zip(row.unwrap_or_default().iter()) {
            column.push(value.as_ref());
        }
        batch.len = 1;
        writer.write(&mut self.state, &batch, 0, &mut self.conn.out)?;
        Ok("CALL")
    }
}
