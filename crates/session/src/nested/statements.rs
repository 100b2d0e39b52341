//! Statements inside functions that concern the session: its settings, prepared statements, cursors
//! and notifications.

use super::explain::ExplainParams;
use super::{Nested, Utility};
use crate::portal::cursors::row_desc;
use crate::query;
use crate::state::State;
use crate::utility::NESTED_EXECUTES_MAX;
use commands::table_exists;
use executor::spi::{self, QuerySnapshot};
use ids::Oid;
use parse::ast::{
    CallStmt, CreateTableAsStmt, DiscardMode, ExecuteStmt, ExplainStmt, FetchStmt, Node,
};
use pgerror::{Result, bail};
use plan::PlannedStmt;
use plpgsql::{Fields, UtilityOutcome};
use std::sync::Arc;
use types::fn_context::{RowColumn, RowDesc};
use types::{Datum, oids};
use utility::host::Transactions;

impl Nested<'_> {
    /// Runs a statement that concerns the session. `None` if it is another one.
    pub(super) fn session_statement(
        &mut self,
        command: &Utility<'_>,
    ) -> Result<Option<UtilityOutcome>> {
        let sql = command.sql;
        match &command.raw.stmt {
            Node::TransactionStmt(_) => {
                bail!(FEATURE_NOT_SUPPORTED, "unsupported transaction command in PL/pgSQL")
            }
            Node::CopyStmt(copy) if copy.filename.is_none() => {
                bail!(FEATURE_NOT_SUPPORTED, "cannot COPY to/from client in PL/pgSQL")
            }
            Node::AlterSystemStmt(_) => self.prevent_in_transaction_block("ALTER SYSTEM")?,
            Node::VariableSetStmt(set) => {
                self.0.set_statement(set, false)?;
            }
            Node::ConstraintsSetStmt(set) => self.0.set_constraints_statement(set)?,
            Node::NotifyStmt(notify) => {
                let payload = notify.payload.as_deref().unwrap_or("");
                crate::notify::notify(self.0, &notify.conditionname, payload)?;
            }
            Node::ListenStmt(listen) => self.0.listen(&listen.conditionname),
            Node::UnlistenStmt(unlisten) => self.0.unlisten(unlisten.conditionname.as_deref()),
            Node::DoStmt(stmt) => crate::docmd::run(self.0, stmt, sql)?,
            Node::DiscardStmt(stmt) => self.discard(stmt.target)?,
            Node::PrepareStmt(stmt) => {
                self.0.prepare_statement(stmt, &sql.into(), command.raw)?;
            }
            Node::DeallocateStmt(stmt) => {
                self.0.deallocate(stmt.name.as_deref())?;
            }
            Node::DeclareCursorStmt(stmt) => match command.query {
                Some((query, params)) => self.0.declare_analysed(stmt, query, params)?,
                None => self.0.declare_cursor(stmt, &sql.into(), &Arc::from([]), &[])?,
            },
            Node::ClosePortalStmt(stmt) => {
                self.0.close_cursor(stmt)?;
            }
            Node::LoadStmt(stmt) => self.0.load_library(&stmt.filename)?,
            Node::FetchStmt(stmt) => return self.fetch(stmt).map(Some),
            Node::ExecuteStmt(stmt) => return self.execute(stmt, command).map(Some),
            Node::CallStmt(stmt) => return self.call(stmt, sql).map(Some),
            Node::VariableShowStmt(show) => return self.show(&show.name).map(Some),
            Node::ExplainStmt(stmt) => return self.explain(stmt, command).map(Some),
            _ => return Ok(None),
        }
        Ok(Some(UtilityOutcome::default()))
    }

    fn discard(&mut self, target: DiscardMode) -> Result<()> {
        match target {
            DiscardMode::All => self.prevent_in_transaction_block("DISCARD ALL"),
            DiscardMode::Temp => define::temp::clear(self),
            DiscardMode::Plans => {
                self.0.discard_plans();
                Ok(())
            }
            DiscardMode::Sequences => {
                self.0.forget_sequences();
                Ok(())
            }
        }
    }

    fn fetch(&mut self, stmt: &FetchStmt) -> Result<UtilityOutcome> {
        let desc = self.0.cursor_row_desc(&stmt.portalname)?;
        let moved = (stmt.direction, stmt.how_many);
        let (rows, _) = self.0.fetch_from_cursor(&stmt.portalname, moved, !stmt.ismove)?;
        let rows: Vec<Vec<Datum>> = rows.into_iter().map(Fields::into_values).collect();
        Ok(if stmt.ismove { UtilityOutcome::default() } else { returned(desc, rows) })
    }

    fn execute(&mut self, stmt: &ExecuteStmt, command: &Utility<'_>) -> Result<UtilityOutcome> {
        let (prepared, params) = self.0.execute_arguments(stmt, command.sql)?;
        if let (false, Some(raw)) = (prepared.is_query, &prepared.raw) {
            if self.0.calls.nested_executes == NESTED_EXECUTES_MAX {
                return Err(eval::too_deep());
            }
            self.0.calls.nested_executes += 1;
            let nested = Utility { raw, sql: &prepared.sql, query: None, ..*command };
            let done = stdx::stack::deep(|| self.run_statement(&nested));
            self.0.calls.nested_executes -= 1;
            return done;
        }
        let plan = prepared.plan(self.0, &params, self.0.values.resolved.plan_mode)?;
        if command.read_only {
            spi::check_read_only(&plan)?;
        }
        self.0.check_plan(&plan)?;
        let query = spi::Query::new(plan, params).under(QuerySnapshot::NewCommand);
        let rows = query::run_nested(self.0, query)?;
        Ok(match &prepared.fields {
            Some(fields) => returned(row_desc(fields), rows),
            None => UtilityOutcome::default(),
        })
    }

    fn call(&mut self, stmt: &CallStmt, sql: &str) -> Result<UtilityOutcome> {
        let (outputs, row) = self.0.call(stmt, sql, (&Arc::from([]), &[]), false)?;
        if outputs.is_empty() {
            return Ok(UtilityOutcome::default());
        }
        let fields = client::rows::describe(self.0, &outputs)?;
        Ok(row.map_or_else(UtilityOutcome::default, |row| returned(row_desc(&fields), vec![row])))
    }

    fn show(&mut self, name: &str) -> Result<UtilityOutcome> {
        let names: Vec<String> = self.0.show_fields(name)?.into_iter().map(|f| f.name).collect();
        let lines = self.0.shown_settings(name)?;
        Ok(texts(names, oids::TEXT, &lines))
    }

    fn explain(&mut self, stmt: &ExplainStmt, command: &Utility<'_>) -> Result<UtilityOutcome> {
        let depth = self.0.backend.snapshot_depth();
        self.0.cat().increment_command_counter()?;
        let snapshot = self.0.backend.snapshot();
        self.0.backend.push_snapshot(snapshot);
        let none: Arc<[Datum]> = Arc::from([]);
        let params = match command.query {
            Some((statement, values)) => {
                ExplainParams { values, types: &statement.param_types, statement: Some(statement) }
            }
            None => ExplainParams { values: &none, types: &[], statement: None },
        };
        let explained = self.explained(stmt, &command.sql.into(), params);
        self.0.backend.truncate_snapshots(depth);
        let (lines, ty) = explained?;
        let lines: Vec<Vec<String>> = lines.into_iter().map(|line| vec![line]).collect();
        Ok(texts(vec!["QUERY PLAN".to_owned()], ty, &lines))
    }

    /// Creates a table with the rows of a plan; returns their number unless none are asked for.
    pub(crate) fn create_table(
        &mut self,
        stmt: &CreateTableAsStmt,
        sql: &str,
        plan: impl FnOnce(&mut State) -> Result<(Arc<PlannedStmt>, Arc<[Datum]>)>,
    ) -> Result<Option<u64>> {
        if self.read_only() {
            let what = if stmt.is_select_into { "SELECT INTO" } else { "CREATE TABLE AS" };
            bail!(READ_ONLY_SQL_TRANSACTION, "cannot execute {what} in a read-only transaction");
        }
        if table_exists(self, stmt)? {
            return Ok(None);
        }
        let (plan, params) = plan(self.0)?;
        self.0.check_plan(&plan)?;
        let count = commands::create_table_of_plan(self, stmt, sql, &plan, params)?;
        self.0.cat().increment_command_counter()?;
        Ok(Some(count))
    }

    /// CREATE TABLE AS EXECUTE.
    pub(crate) fn create_table_execute(
        &mut self,
        stmt: &CreateTableAsStmt,
        execute: &ExecuteStmt,
        sql: &str,
    ) -> Result<Option<u64>> {
        self.create_table(stmt, sql, |state| {
            let (prepared, params) = state.execute_arguments(execute, sql)?;
            if !prepared.is_query {
                bail!(WRONG_OBJECT_TYPE, "prepared statement is not a SELECT");
            }
            let mode = state.values.resolved.plan_mode;
            Ok((prepared.plan(state, &params, mode)?, params))
        })
    }
}

impl State {
    /// LOAD. All libraries are linked in. Counterpart: `load_file`.
    pub(crate) fn load_library(&mut self, file: &str) -> Result<()> {
        if !self.roles.superuser && !file.starts_with("$libdir/plugins/") {
            bail!(INSUFFICIENT_PRIVILEGE, "access to library \"{file}\" is not allowed");
        }
        if contrib::libraries::library(file).is_none() {
            bail!(UNDEFINED_FILE, "could not access file \"{file}\": No such file or directory");
        }
        Ok(())
    }
}

/// Rows of columns of the same type.
fn texts(names: Vec<String>, ty: Oid, lines: &[Vec<String>]) -> UtilityOutcome {
    let column = |name| RowColumn { name, ty, typmod: -1, collation: Oid::INVALID, dropped: None };
    let desc = Arc::new(RowDesc::new(names.into_iter().map(column).collect(), 0));
    let rows = lines.iter().map(|line| line.iter().map(|text| Datum::text(text)).collect());
    returned(desc, rows.collect())
}

/// The result of a statement that returns rows.
fn returned(desc: Arc<RowDesc>, rows: Vec<Vec<Datum>>) -> UtilityOutcome {
    UtilityOutcome { processed: rows.len() as u64, rows: Some((desc, rows)) }
}
