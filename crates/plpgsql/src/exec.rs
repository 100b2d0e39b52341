//! Execution of statements: blocks with their handlers, IF, CASE, RETURN. Counterpart:
//! `exec_stmts`, `exec_stmt_block` of pl_exec.c.

use crate::assign::Row;
use crate::fields::Fields;
use crate::frame::{Frame, Record, Returned};
use crate::host::Host;
use crate::tree::{
    Block, Case, CodeKind, Condition, Exceptions, Handler, If, SqlNo, Stmt, StmtKind, VarKind,
    VarNo,
};
use ids::Oid;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use std::sync::Arc;
use stdx::stack::deep;
use types::fn_context::RowDesc;
use types::{Datum, oids};

/// The way in which a statement ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow<'f> {
    Next,
    Exit(Option<&'f str>),
    Continue(Option<&'f str>),
    Return,
}

impl<'f> Frame<'f> {
    pub(crate) fn statements(&mut self, host: &mut dyn Host, list: &'f [Stmt]) -> Result<Flow<'f>> {
        let outer = self.place.stmt;
        for stmt in list {
            self.place.stmt = Some((stmt.line, stmt.name));
            if let StmtKind::Assign { target, value } = stmt.kind {
                match self.assigned_fast(host, target, value) {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(e) => return Err(self.report(e)),
                }
            }
            let flow = match self.statement(host, stmt) {
                Ok(flow) => self.vals.check().map(|()| flow),
                failed => failed,
            };
            if self.used_host {
                self.note_notices(host);
            }
            match flow {
                Ok(Flow::Next) => {}
                Ok(flow) => {
                    self.place.stmt = outer;
                    return Ok(flow);
                }
                Err(e) => return Err(self.report(e)),
            }
        }
        self.place.stmt = outer;
        Ok(Flow::Next)
    }

    /// Calls and the iterations of loops check for interrupts, so that assignments and conditions
    /// need not.
    fn statement(&mut self, host: &mut dyn Host, stmt: &'f Stmt) -> Result<Flow<'f>> {
        match &stmt.kind {
            StmtKind::Assign { target, value } => {
                self.assign_expression(host, *target, *value)?;
                Ok(Flow::Next)
            }
            StmtKind::If(stmt) => self.if_statement(host, stmt),
            StmtKind::Loop { label, condition, body } => {
                self.plain_loop(host, label.as_deref(), *condition, body)
            }
            StmtKind::ForInteger(stmt) => self.for_integer(host, stmt),
            StmtKind::Exit { is_exit, label, condition } => {
                if let Some(condition) = condition
                    && !self.test(host, *condition)?
                {
                    return Ok(Flow::Next);
                }
                let label = label.as_deref();
                Ok(if *is_exit { Flow::Exit(label) } else { Flow::Continue(label) })
            }
            StmtKind::Return { value, var } => {
                self.return_statement(host, *value, *var)?;
                Ok(Flow::Return)
            }
            StmtKind::Block(block) => deep(|| self.block(host, block)),
            other => self.infrequent(host, other),
        }
    }

    fn infrequent(&mut self, host: &mut dyn Host, kind: &'f StmtKind) -> Result<Flow<'f>> {
        self.check_interrupts(host)?;
        self.sync(host);
        match kind {
            StmtKind::Case(stmt) => return self.case(host, stmt),
            StmtKind::ForQuery(stmt) => return self.for_query(host, stmt),
            StmtKind::ForEach(stmt) => return self.for_each(host, stmt),
            StmtKind::ReturnNext { value, var } => self.return_next(host, *value, *var)?,
            StmtKind::ReturnQuery(stmt) => self.return_query(host, stmt)?,
            StmtKind::Raise(stmt) => self.raise(host, stmt)?,
            StmtKind::Assert { condition, message } => {
                self.assert(host, *condition, *message)?;
            }
            StmtKind::Sql(stmt) => self.sql(host, stmt)?,
            StmtKind::DynamicSql(stmt) => self.dynamic_sql(host, stmt)?,
            StmtKind::Perform(sql) => self.perform(host, *sql)?,
            StmtKind::Call { sql, .. } => self.call_statement(host, *sql)?,
            StmtKind::GetDiagnostics { is_stacked, items } => {
                self.get_diagnostics(host, *is_stacked, items)?;
            }
            StmtKind::Open(stmt) => self.open(host, stmt)?,
            StmtKind::Fetch(stmt) => self.fetch(host, stmt)?,
            StmtKind::Close(cursor) => self.close(host, *cursor)?,
            StmtKind::Commit { chain } => self.end_transaction(host, true, *chain)?,
            StmtKind::Rollback { chain } => self.end_transaction(host, false, *chain)?,
            StmtKind::Null => {}
            _ => return Err(PgError::internal("statement is not executed here")),
        }
        Ok(Flow::Next)
    }

    fn end_transaction(&mut self, host: &mut dyn Host, commit: bool, chain: bool) -> Result<()> {
        if self.atomic {
            return Err(pg_err!(
                INVALID_TRANSACTION_TERMINATION,
                "invalid transaction termination"
            ));
        }
        host.end_transaction(commit, chain)?;
        self.refresh(host)
    }

    /// Evaluates an expression and assigns its value.
    pub(crate) fn assign_expression(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        sql: SqlNo,
    ) -> Result<()> {
        if self.assigned_directly(host, var, sql)? {
            return Ok(());
        }
        let wanted = match &self.code.function.vars[var].kind {
            VarKind::Scalar { ty, .. } => Some((ty.oid, ty.typmod)),
            _ => None,
        };
        let (value, ty, typmod) = self.value(host, sql, wanted)?;
        self.assign(host, var, value, (ty, typmod))
    }

    fn if_statement(&mut self, host: &mut dyn Host, stmt: &'f If) -> Result<Flow<'f>> {
        for (condition, _, body) in &stmt.arms {
            if self.test(host, *condition)? {
                return self.statements(host, body);
            }
        }
        self.statements(host, &stmt.otherwise)
    }

    fn case(&mut self, host: &mut dyn Host, stmt: &'f Case) -> Result<Flow<'f>> {
        if let Some((sql, var)) = stmt.test {
            let (value, ty, typmod) = self.value(host, sql, None)?;
            self.set_case_type(var, ty);
            self.assign(host, var, value, (ty, typmod))?;
        }
        let mut chosen = None;
        for (condition, _, body) in &stmt.arms {
            if self.test(host, *condition)? {
                chosen = Some(body);
                break;
            }
        }
        if let Some((_, var)) = stmt.test {
            self.vals.set(var, Datum::Null);
        }
        match (chosen, &stmt.otherwise) {
            (Some(body), _) | (None, Some(body)) => self.statements(host, body),
            (None, None) => Err(pg_err!(CASE_NOT_FOUND, "case not found")
                .hint("CASE statement is missing ELSE part.")),
        }
    }

    /// Sets the type of the variable for the value after CASE.
    fn set_case_type(&mut self, var: VarNo, ty: Oid) {
        if self.instance.case_types.insert(var, ty) != Some(ty) {
            // The conditions refer to a variable of another type.
            for state in &mut self.instance.sql {
                state.prepared = None;
            }
        }
    }

    pub(crate) fn block(&mut self, host: &mut dyn Host, block: &'f Block) -> Result<Flow<'f>> {
        self.during("during statement block local variable initialization", |frame| {
            let before = frame.place.var_line;
            let result = frame.initialize(host, block);
            // The line stays that of the variable for the context of an error.
            if result.is_ok() {
                frame.place.var_line = before;
            }
            let result = result.map_err(|e| frame.report(e));
            frame.place.var_line = before;
            result
        })?;
        let flow = match &block.exceptions {
            None => self.statements(host, &block.body)?,
            Some(exceptions) => self.protected(host, block, exceptions)?,
        };
        Ok(match flow {
            Flow::Exit(Some(label)) if block.label.as_deref() == Some(label) => Flow::Next,
            flow => flow,
        })
    }

    fn initialize(&mut self, host: &mut dyn Host, block: &'f Block) -> Result<()> {
        for &var in &block.vars {
            let variable = &self.code.function.vars[var];
            self.place.var_line = Some(variable.line);
            match (&variable.kind, variable.default) {
                (VarKind::Scalar { .. }, Some(default)) => {
                    self.vals.set(var, Datum::Null);
                    self.assign_expression(host, var, default)?;
                }
                (VarKind::Scalar { ty, .. }, None) => {
                    self.vals.set(var, Datum::Null);
                    if ty.oid >= Oid::FIRST_NORMAL {
                        // A domain may not allow NULL.
                        self.assign(host, var, Datum::Null, (oids::UNKNOWN, -1))?;
                    }
                }
                (VarKind::Record { .. }, Some(default)) => {
                    self.assign_expression(host, var, default)?;
                }
                (VarKind::Record { .. }, None) => self.assign_null(host, var)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Runs the body of a block with handlers in a subtransaction.
    fn protected(
        &mut self,
        host: &mut dyn Host,
        block: &'f Block,
        exceptions: &'f Exceptions,
    ) -> Result<Flow<'f>> {
        let outer = self.place.stmt;
        let level = self.during("during statement block entry", |_| host.begin_subtransaction())?;
        let (streams, loops) = (host.contexts().stream_count(), host.contexts().writing_loops());
        let result = self.statements(host, &block.body);
        let e = match result {
            Ok(flow) => {
                self.during("during statement block exit", |_| host.commit_subtransaction())?;
                return Ok(flow);
            }
            Err(e) => e,
        };
        host.contexts().end_streams(streams);
        host.contexts().set_writing_loops(loops);
        self.place.stmt = outer;
        if let Err(failure) = host.abort_subtransaction(level) {
            self.reported = false;
            return self.during("during exception cleanup", |_| Err(failure));
        }
        let handler = match e.fields().severity {
            Severity::Error => exceptions.handlers.iter().find(|h| handles(h, e.code())),
            _ => None,
        };
        let Some(handler) = handler else { return Err(e) };
        self.reported = false;
        host.contexts().note_handled();
        self.refresh(host)?;
        self.vals.set(exceptions.sqlstate, Datum::text(e.code().as_str()));
        self.vals.set(exceptions.sqlerrm, Datum::text(e.message()));
        let before = self.caught.replace(e);
        let flow = self.statements(host, &handler.body);
        self.caught = before;
        flow
    }

    fn return_statement(
        &mut self,
        host: &mut dyn Host,
        value: Option<SqlNo>,
        var: Option<VarNo>,
    ) -> Result<()> {
        let result = &self.code.function.result;
        if result.is_set {
            return Ok(());
        }
        if let (None, Some(var), CodeKind::Trigger) = (value, var, self.code.function.kind)
            && let VarKind::Record { record, .. } = self.code.function.vars[var].kind
            && let Record { desc: Some(_), is_null: false, .. } = self.records[record]
        {
            let (value, record) = (Datum::Null, Some(record));
            self.returned = Returned { value, ty: oids::RECORD, typmod: -1, record };
            return Ok(());
        }
        let scalar = result.ty.kind == crate::tree::TypeKind::Scalar;
        let (value, ty, typmod) = match (value, var) {
            (Some(sql), _) => {
                let wanted = None;
                self.value(host, sql, wanted)?
            }
            (None, Some(var)) => self.variable_value(host, var)?,
            (None, None) => (Datum::Null, oids::VOID, -1),
        };
        let composite = result.ty.kind == crate::tree::TypeKind::Row;
        if composite && !scalar && !value.is_null() && !self.is_composite(host, ty)? {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "cannot return non-composite value from function returning composite type"
            ));
        }
        self.returned = Returned { value, ty, typmod, record: None };
        Ok(())
    }

    /// True for composite types, domains over them, and record.
    pub(crate) fn is_composite(&mut self, host: &mut dyn Host, ty: Oid) -> Result<bool> {
        if ty == oids::RECORD {
            return Ok(true);
        }
        let (base, _) = eval::Facts::base_type(host, ty)?;
        Ok(eval::Facts::type_info(host, base)?.relid.is_valid())
    }

    /// Assigns a row of a query to a variable; NULLs without a row.
    pub(crate) fn assign_row(
        &mut self,
        host: &mut dyn Host,
        var: VarNo,
        desc: &Arc<RowDesc>,
        fields: Option<Fields>,
    ) -> Result<()> {
        self.move_row(host, var, Row { desc, fields, ty: None })
    }
}

/// True if the handler handles errors with this SQLSTATE.
fn handles(handler: &Handler, code: SqlState) -> bool {
    handler.conditions.iter().any(|condition| match condition {
        Condition::Others => code != SqlState::QUERY_CANCELED && code != SqlState::ASSERT_FAILURE,
        Condition::Code(wanted) => {
            let code = code.as_str().as_bytes();
            match wanted.strip_suffix(b"000") {
                Some(class) => code.starts_with(class),
                None => code == wanted,
            }
        }
    })
}
