//! CALL and DO. Counterpart: `exec_stmt_call` of pl_exec.c.

use crate::frame::Frame;
use crate::host::Host;
use crate::host::Outcome;
use crate::instance::{Kind, Output, Prepared, ProcedureCall};
use crate::prepare::{in_sql, program};
use crate::query::not_allowed;
use crate::tree::{SqlMode, SqlNo, VarKind, VarNo};
use analyze::{Analyzer, Params, SessionLookup};
use eval::{EvalState, RowInput, RowRef};
use ids::Oid;
use ids::code::ArgMode;
use parse::ast::CallStmt;
use pgerror::{PgError, Result, pg_err};
use plan::Expr;
use plan::expr::ParamKind;
use plan::query::CmdType;
use std::sync::Arc;
use types::fn_context::{RowColumn, RowDesc};
use types::{Datum, DatumRef};

/// An analysed CALL: the arguments in the order of the parameters.
pub(crate) struct Analysed {
    procedure: Oid,
    args: Vec<Expr>,
}

/// Analyses a CALL whose arguments may refer to these parameters.
pub(crate) fn analyse(
    host: &mut dyn Host,
    stmt: &CallStmt,
    sql: &str,
    params: Params<'_>,
) -> Result<Analysed> {
    let mut lookup = SessionLookup::new(host);
    let (procedure, args) = Analyzer::new(&mut lookup, sql, params).procedure_call(stmt)?;
    Ok(Analysed { procedure, args })
}

/// The values of the input parameters of a CALL over a row of slots.
fn inputs_of(host: &mut dyn Host, call: &ProcedureCall, row: RowRef<'_>) -> Result<Vec<Datum>> {
    let mut values = Vec::with_capacity(call.inputs.len());
    for (program, _) in &call.inputs {
        let input = RowInput::scan(row);
        let value = program.eval_row(&mut EvalState::default(), host, &input)?;
        values.push(value.into_owned());
    }
    Ok(values)
}

/// The variable that an expression is.
fn variable_of(e: &Expr) -> Option<VarNo> {
    match e {
        Expr::Param(p) if p.paramkind == ParamKind::Extern => usize::try_from(p.paramid - 1).ok(),
        _ => None,
    }
}

impl Frame<'_> {
    /// Compiles the arguments of a CALL; `slots` are the variables that it names.
    pub(crate) fn compile_call(
        &self,
        host: &mut dyn Host,
        call: Analysed,
        slots: &[VarNo],
    ) -> Result<Kind> {
        let row = analyze::Host::catalog(host).function(call.procedure)?;
        let modes = row.proargmodes.clone().unwrap_or_default();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (i, e) in call.args.into_iter().enumerate() {
            let mode = modes.get(i).copied().unwrap_or(ArgMode::In);
            let ty = e.type_oid();
            if matches!(mode, ArgMode::Out | ArgMode::InOut) {
                let name = row.proargnames.as_ref().and_then(|n| n.get(i));
                let name = match name.map_or("", |n| n.as_str()) {
                    "" => (i + 1).to_string(),
                    name => format!("\"{name}\""),
                };
                outputs.push(Output { var: variable_of(&e), ty, name });
            }
            if mode != ArgMode::Out {
                inputs.push((program(host, e, slots)?, ty));
            }
        }
        Ok(Kind::Call(Box::new(ProcedureCall { procedure: call.procedure, inputs, outputs })))
    }

    /// The variables that get the values of output parameters.
    fn output_variables(&self, outputs: &[Output]) -> Result<Vec<(VarNo, Oid)>> {
        let vars = &self.code.function.vars;
        let mut list = Vec::with_capacity(outputs.len());
        for Output { var, ty, name } in outputs {
            let Some(var) = *var else {
                return Err(pg_err!(
                    SYNTAX_ERROR,
                    "procedure parameter {name} is an output parameter but corresponding argument \
                     is not writable"
                ));
            };
            let owner = match vars[var].kind {
                VarKind::Field { record, .. } => record,
                _ => var,
            };
            if vars[owner].constant {
                let name = &vars[owner].name;
                return Err(pg_err!(
                    ERROR_IN_ASSIGNMENT,
                    "variable \"{name}\" is declared CONSTANT"
                ));
            }
            list.push((var, *ty));
        }
        Ok(list)
    }

    /// CALL and DO.
    pub(crate) fn call_statement(&mut self, host: &mut dyn Host, sql: SqlNo) -> Result<()> {
        let prepared = self.prepared(host, sql, None)?;
        let text = &self.code.function.sql[sql].text;
        let Kind::Call(call) = &prepared.kind else {
            return self.utility_statement(host, &prepared, text, (None, false));
        };
        let outputs = self.output_variables(&call.outputs)?;
        if self.code.function.read_only {
            return Err(in_sql(not_allowed("CALL"), text, SqlMode::Statement));
        }
        let values = self.call_inputs(host, (&prepared, text), call)?;
        let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
        let types: Vec<Oid> = call.inputs.iter().map(|(_, ty)| *ty).collect();
        let atomic = self.atomic;
        let row = self.in_statement(host, (text, SqlMode::Statement), |host| {
            host.call_procedure(call.procedure, &types, &refs, atomic)
        })?;
        self.refresh(host)?;
        for ((var, ty), value) in outputs.into_iter().zip(row.unwrap_or_default()) {
            self.assign(host, var, value, (ty, -1))?;
        }
        Ok(())
    }

    fn call_inputs(
        &mut self,
        host: &mut dyn Host,
        (prepared, text): (&Prepared, &Arc<str>),
        call: &ProcedureCall,
    ) -> Result<Vec<Datum>> {
        self.load(host, prepared)?;
        let count = host.push_snapshot()?;
        let vals = std::mem::take(&mut self.vals);
        let values = self.in_statement(host, (text, SqlMode::Statement), |host| {
            inputs_of(host, call, RowRef::Variables(&vals))
        });
        self.vals = vals;
        host.pop_snapshots(count);
        values
    }

    /// EXECUTE of a CALL, whose row of output parameters is the result.
    pub(crate) fn dynamic_call(
        &mut self,
        host: &mut dyn Host,
        stmt: &CallStmt,
        text: &Arc<str>,
        params: &[(Datum, Oid)],
    ) -> Result<(Arc<RowDesc>, Outcome)> {
        let mode = SqlMode::Statement;
        let types = params.iter().map(|(_, ty)| *ty).collect();
        let call = analyse(host, stmt, text, Params::Fixed(types));
        let call = call.map_err(|e| in_sql(e, text, mode))?;
        if self.code.function.read_only {
            return Err(in_sql(not_allowed("CALL"), text, mode));
        }
        let slots: Vec<VarNo> = (0..params.len()).collect();
        let kind = self.compile_call(host, call, &slots)?;
        let Kind::Call(call) = kind else { return Err(PgError::internal("CALL expected")) };
        let row: Vec<Datum> = params.iter().map(|(value, _)| value.clone()).collect();
        let values = self
            .in_statement(host, (text, mode), |host| inputs_of(host, &call, RowRef::Owned(&row)))?;
        let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
        let types: Vec<Oid> = call.inputs.iter().map(|(_, ty)| *ty).collect();
        let result = self.in_statement(host, (text, mode), |host| {
            host.call_procedure(call.procedure, &types, &refs, true)
        })?;
        self.refresh(host)?;
        let columns = call.outputs.iter().map(|output| RowColumn {
            name: output.name.trim_matches('"').to_owned(),
            ty: output.ty,
            typmod: -1,
            collation: Oid::INVALID,
            dropped: None,
        });
        let desc = Arc::new(RowDesc::new(columns.collect(), 0));
        let rows: Vec<Vec<Datum>> = result.into_iter().collect();
        let processed = rows.len() as u64;
        Ok((desc, Outcome { rows, processed, command: CmdType::Utility }))
    }
}
