//! The FunctionCall message: calls a function by OID without SQL. Counterpart: tcop/fastpath.c.

use crate::extended::Argument;
use crate::session::Session;
use crate::xact::aborted;
use catalog::Row;
use catalog::acl;
use catalog::rows::PgProc;
use client::statementlog::Timed;
use eval::Facts;
use ids::Oid;
use ids::code::ProKind;
use pgerror::{Result, pg_err};
use plan::Expr;
use plan::expr::{CoercionForm, Const, FuncExpr, Location};
use types::Datum;
use types::fn_context::TypeFunctions;
use wire::{Format, FunctionCall, backend};

/// Maximum number of arguments. Counterpart: `FUNC_MAX_ARGS`.
const ARGUMENTS_MAX: usize = 100;

impl Session {
    /// Answers a FunctionCall message, up to the ReadyForQuery that follows it.
    pub(crate) fn function_call(&mut self, call: FunctionCall<'_>) -> Result<()> {
        self.show_calling();
        if self.xact.failed {
            return Err(aborted());
        }
        self.start_command();
        let _timer = self.statement_timer();
        let depth = self.state.backend.snapshot_depth();
        let snapshot = self.state.backend.snapshot();
        self.state.backend.push_snapshot(snapshot);
        self.state.transaction.mode.queried = true;
        let mark = self.conn.mark();
        let answered = self.answer_call(call);
        self.state.backend.truncate_snapshots(depth);
        let timed = match answered {
            Ok(timed) => timed,
            Err(e) => {
                self.conn.discard_since(mark);
                return Err(e);
            }
        };
        self.finish_command()?;
        if let Some((timed, what)) = timed {
            self.end_timed_call(&timed, &what);
        }
        Ok(())
    }

    fn answer_call(&mut self, mut call: FunctionCall<'_>) -> Result<Option<(Timed, String)>> {
        let oid = Oid(call.function()?);
        let function = self.callable(oid)?;
        let timed = match self.state.values.resolved.log_statements {
            false => None,
            true => {
                let name = &function.proname;
                let what = format!("fastpath function call: \"{name}\" (OID {oid})");
                self.begin_timed_call(&what).map(|t| (t, what))
            }
        };
        self.may_call(&function)?;
        let values = self.call_arguments(&mut call, &function)?;
        let format = call.result_format()?;
        let call = self.call_expression(&function, values)?;
        let result = self.state.evaluate(&call)?;
        self.state.backend.check_interrupts()?;
        let bytes = match (&result, format) {
            (Datum::Null, _) => None,
            (_, Format::Unknown(code)) => return Err(backend::unsupported_format(code)),
            (value, Format::Text) => {
                Some(self.state.type_output(function.prorettype, value.as_ref())?)
            }
            (value, Format::Binary) => {
                Some(self.state.type_send(function.prorettype, value.as_ref())?)
            }
        };
        self.send_notices();
        backend::function_call_response(&mut self.conn.out, bytes.as_deref());
        Ok(timed)
    }

    /// The function with that OID. An error if it does not exist or cannot be called by
    /// FunctionCall.
    fn callable(&mut self, oid: Oid) -> Result<Row<PgProc>> {
        let Some(function) = self.state.cat().find_function(oid)? else {
            return Err(pg_err!(UNDEFINED_FUNCTION, "function with OID {oid} does not exist"));
        };
        if function.prokind != ProKind::Function || function.proretset {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot call function \"{}\" via fastpath interface",
                function.proname
            ));
        }
        Ok(function)
    }

    /// Error 42501 unless the user may call the function. The privilege on the schema is checked
    /// here, because there was no name lookup.
    fn may_call(&mut self, function: &PgProc) -> Result<()> {
        let (user, schema) = (self.state.catalog.user, function.pronamespace);
        if self.state.cat().schema_privileges(user, schema, acl::USAGE)? & acl::USAGE == 0 {
            let name = self.state.cat().namespace_name(schema)?.unwrap_or_default();
            return Err(pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied for schema {name}"));
        }
        crate::privileges::check_function(&mut self.state, function.oid, user)
    }

    fn call_arguments(
        &mut self,
        call: &mut FunctionCall<'_>,
        function: &PgProc,
    ) -> Result<Vec<Datum>> {
        let (formats, count) = call.begin_arguments()?;
        let types = &function.proargtypes;
        if count != types.len() || count > ARGUMENTS_MAX {
            return Err(pg_err!(
                PROTOCOL_VIOLATION,
                "function call message contains {count} arguments but function requires {}",
                types.len()
            ));
        }
        if let Some(n) = formats.count().filter(|n| *n != count) {
            return Err(pg_err!(
                PROTOCOL_VIOLATION,
                "function call message contains {n} argument formats but {count} arguments"
            ));
        }
        let mut values = Vec::with_capacity(count);
        for (i, &ty) in types.iter().enumerate() {
            let format = formats.get(i);
            values.push(match call.argument()? {
                None => self.bind_null(ty, format)?,
                Some(bytes) => self.bind_value(ty, bytes, format, Argument::FunctionCall(i))?,
            });
        }
        Ok(values)
    }

    /// The call as an expression. It has no collation, so functions that need one report an error.
    fn call_expression(&mut self, function: &PgProc, values: Vec<Datum>) -> Result<Expr> {
        let mut args = Vec::with_capacity(values.len());
        for (value, &ty) in values.into_iter().zip(function.proargtypes.iter()) {
            let info = Facts::type_info(&mut self.state, ty)?;
            args.push(Expr::Const(Const {
                consttype: ty,
                consttypmod: -1,
                constcollid: Oid::INVALID,
                constlen: info.len,
                constbyval: info.by_val,
                value,
                location: Location(-1),
            }));
        }
        Ok(Expr::FuncExpr(Box::new(FuncExpr {
            funcid: function.oid,
            funcresulttype: function.prorettype,
            funcretset: false,
            funcvariadic: false,
            funcformat: CoercionForm::ExplicitCall,
            funccollid: Oid::INVALID,
            inputcollid: Oid::INVALID,
            args,
            location: Location(-1),
        })))
    }
}
