//! Utility statements. Statements that concern the session are executed here, the others by crate
//! `commands`.
//!
//! Counterpart: tcop/utility.c.

use crate::core::Core;
use crate::portal::{Portal, PortalResult};
use crate::prepared::Prepared;
use crate::session::Session;
use analyze::coerce::Context;
use analyze::{Analyzer, ExprKind, Params, SessionLookup};
use client::results::query_tag;
use client::rows::RowWriter;
use client::statementlog::Work;
use eval::{Compiler, EvalState, NoColumns, RowInput, RowRef};
use ids::Oid;
use parse::RawStmt;
use parse::ast::{
    ConstraintsSetStmt, CreateTableAsStmt, DiscardMode, ExecuteStmt, Node, ObjectType, PrepareStmt,
};
use pgerror::{Result, pg_err};
use plan::Expr;
use plan::expr::{CoercionForm, Location};
use settings::Action;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef, oids};
use utility::host::Transactions;
use wire::{FieldDescription, Format, backend};

/// Maximum nesting depth of EXECUTE of utility statements, which may themselves be EXECUTE.
const NESTED_EXECUTES_MAX: u32 = 1000;

/// The description of a text column that the server generates.
pub(crate) fn text_field(name: &str) -> FieldDescription {
    FieldDescription {
        name: name.to_owned(),
        table: 0,
        column: 0,
        type_oid: oids::TEXT.0,
        type_len: -1,
        typmod: -1,
        format: Format::Text,
    }
}

/// True if a snapshot is taken before the command runs, after which SET TRANSACTION is no longer
/// allowed. Counterpart: `PlannedStmtRequiresSnapshot`.
fn takes_snapshot(node: &Node) -> bool {
    !matches!(
        node,
        Node::TransactionStmt(_)
            | Node::LockStmt(_)
            | Node::VariableSetStmt(_)
            | Node::VariableShowStmt(_)
            | Node::ConstraintsSetStmt(_)
            | Node::FetchStmt(_)
            | Node::ListenStmt(_)
            | Node::NotifyStmt(_)
            | Node::UnlistenStmt(_)
            | Node::CheckPointStmt
    )
}

impl Session {
    /// Executes the statement and returns its command tag. With `describe`, a RowDescription is
    /// sent before the rows.
    pub(crate) fn utility(
        &mut self,
        raw: &RawStmt,
        sql: &Arc<str>,
        params: &Arc<[Datum]>,
        types: &[Oid],
        describe: bool,
    ) -> Result<String> {
        if takes_snapshot(&raw.stmt) {
            self.core.transaction.mode.queried = true;
            if self.core.backend.txn.isolation().uses_transaction_snapshot() {
                // The statement decides what the whole transaction sees.
                self.core.backend.snapshot();
            }
        }
        Ok(match &raw.stmt {
            Node::TransactionStmt(stmt) => self.transaction_statement(stmt)?.to_owned(),
            Node::VariableSetStmt(stmt) => {
                let outside = self.xact.block == crate::xact::Block::Single;
                self.core.set_statement(stmt, outside)?.to_owned()
            }
            Node::VariableShowStmt(stmt) => {
                self.show_statement(&stmt.name, describe)?;
                "SHOW".to_owned()
            }
            Node::AlterSystemStmt(stmt) => {
                self.alter_system(&stmt.setstmt)?;
                "ALTER SYSTEM".to_owned()
            }
            Node::DiscardStmt(stmt) => self.discard(stmt.target)?.to_owned(),
            Node::PrepareStmt(stmt) => {
                self.prepare_statement(stmt, sql, raw.depth)?;
                "PREPARE".to_owned()
            }
            Node::ExecuteStmt(stmt) => {
                self.rows_or_error(|s| s.execute_statement(stmt, sql, describe))?
            }
            Node::DeallocateStmt(stmt) => self.deallocate(stmt.name.as_deref())?.to_owned(),
            Node::DeclareCursorStmt(stmt) => {
                self.declare_cursor(stmt, sql, params, types)?;
                "DECLARE CURSOR".to_owned()
            }
            Node::FetchStmt(stmt) => self.rows_or_error(|s| s.fetch(stmt, describe))?,
            Node::ClosePortalStmt(stmt) => self.close_cursor(stmt)?.to_owned(),
            Node::ExplainStmt(stmt) => {
                self.explain_statement(stmt, sql, (params, types), describe)?
            }
            Node::ConstraintsSetStmt(stmt) => {
                if self.xact.block == crate::xact::Block::Single {
                    self.core.warn_no_block("SET CONSTRAINTS");
                }
                self.core.set_constraints_statement(stmt)?;
                "SET CONSTRAINTS".to_owned()
            }
            Node::CallStmt(stmt) => self
                .with_early_notices(|s| {
                    s.rows_or_error(|s| s.call_statement(stmt, sql, (params, types), describe))
                })?
                .to_owned(),
            Node::DoStmt(stmt) => {
                self.core.calls.may_end_transaction = self.xact.block == crate::xact::Block::Single;
                let result = self.with_early_notices(|s| crate::docmd::run(&mut s.core, stmt, sql));
                self.core.calls.may_end_transaction = false;
                result?;
                "DO".to_owned()
            }
            Node::ListenStmt(stmt) => {
                self.core.listen(&stmt.conditionname);
                "LISTEN".to_owned()
            }
            Node::UnlistenStmt(stmt) => {
                self.core.unlisten(stmt.conditionname.as_deref());
                "UNLISTEN".to_owned()
            }
            Node::NotifyStmt(stmt) => {
                let payload = stmt.payload.as_deref().unwrap_or("");
                crate::notify::notify(&mut self.core, &stmt.conditionname, payload)?;
                "NOTIFY".to_owned()
            }
            Node::CreateTableAsStmt(stmt) => match &stmt.query {
                Node::ExecuteStmt(execute) => self.create_table_execute(stmt, execute, sql)?,
                _ if !types.is_empty() => {
                    self.create_table_bound(stmt, sql, params, (types, raw.depth))?
                }
                _ => self.command(raw, sql)?,
            },
            Node::SelectStmt(select) if !types.is_empty() => match commands::select_into(select) {
                Some(stmt) => self.create_table_bound(&stmt, sql, params, (types, raw.depth))?,
                None => self.command(raw, sql)?,
            },
            _ => self.command(raw, sql)?,
        })
    }

    /// CREATE TABLE AS EXECUTE.
    fn create_table_execute(
        &mut self,
        stmt: &CreateTableAsStmt,
        execute: &ExecuteStmt,
        sql: &str,
    ) -> Result<String> {
        self.check_may_create(stmt)?;
        if commands::table_exists(self, stmt)? {
            return Ok("CREATE TABLE AS".to_owned());
        }
        let (prepared, params) = self.execute_arguments(execute, sql)?;
        if !prepared.is_query {
            return Err(pg_err!(WRONG_OBJECT_TYPE, "prepared statement is not a SELECT"));
        }
        let count = self.create_table_of(stmt, sql, &prepared, params)?;
        // This tag is used for WITH NO DATA too.
        Ok(format!("SELECT {count}"))
    }

    /// CREATE TABLE AS with a query that has parameters.
    fn create_table_bound(
        &mut self,
        stmt: &CreateTableAsStmt,
        sql: &Arc<str>,
        params: &Arc<[Datum]>,
        (types, depth): (&[Oid], u32),
    ) -> Result<String> {
        self.check_may_create(stmt)?;
        if commands::table_exists(self, stmt)? {
            return Ok("CREATE TABLE AS".to_owned());
        }
        let raw = RawStmt::within(stmt.query.clone(), depth);
        let types = types.to_vec();
        let prepared = Prepared::new(&mut self.core, sql.clone(), Some(raw), types, None, false)?;
        let count = self.create_table_of(stmt, sql, &prepared, params.clone())?;
        Ok(match stmt.into.skip_data {
            true => "CREATE TABLE AS".to_owned(),
            false => format!("SELECT {count}"),
        })
    }

    /// Error 25006 in a read-only transaction.
    fn check_may_create(&self, stmt: &CreateTableAsStmt) -> Result<()> {
        if !self.core.transaction.mode.read_only {
            return Ok(());
        }
        let what = if stmt.is_select_into { "SELECT INTO" } else { "CREATE TABLE AS" };
        Err(pg_err!(READ_ONLY_SQL_TRANSACTION, "cannot execute {what} in a read-only transaction"))
    }

    /// Creates the table with the rows of the prepared query; returns their number.
    fn create_table_of(
        &mut self,
        stmt: &CreateTableAsStmt,
        sql: &str,
        prepared: &Prepared,
        params: Arc<[Datum]>,
    ) -> Result<u64> {
        let mode = self.core.values.resolved.plan_mode;
        let plan = prepared.plan(&mut self.core, &params, mode)?;
        self.check_plan(&plan)?;
        let count = commands::create_table_of_plan(self, stmt, sql, &plan, params)?;
        self.core.cat().increment_command_counter()?;
        Ok(count)
    }

    /// Runs a utility statement that returns rows. After an error, the rows that are still buffered
    /// are discarded; if there were many rows, the first ones may have been sent.
    fn rows_or_error<T>(&mut self, run: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
        let mark = self.conn.mark();
        let result = run(self);
        if result.is_err() {
            self.conn.discard_since(mark);
        }
        result
    }

    /// Executes a statement of `commands`.
    fn command(&mut self, raw: &RawStmt, sql: &Arc<str>) -> Result<String> {
        if !takes_snapshot(&raw.stmt) {
            return commands::run_utility(self, &raw.stmt, sql);
        }
        let depth = self.core.backend.snapshot_depth();
        let snapshot = self.core.backend.snapshot();
        self.core.backend.push_snapshot(snapshot);
        let result = commands::run_utility(self, &raw.stmt, sql);
        self.core.backend.truncate_snapshots(depth);
        result
    }

    /// Result columns of a utility statement that returns rows. Infers the parameter types that are
    /// not declared, if the statement contains a query or a call.
    pub(crate) fn utility_fields(
        &mut self,
        raw: &RawStmt,
        sql: &str,
        types: &mut Vec<Oid>,
    ) -> Result<Option<Vec<FieldDescription>>> {
        self.infer_parameters(raw, &raw.stmt, sql, types)?;
        Ok(match &raw.stmt {
            Node::CallStmt(stmt) => self.call_fields(stmt, sql, types)?,
            Node::VariableShowStmt(stmt) => Some(self.show_fields(&stmt.name)?),
            Node::ExecuteStmt(_) | Node::FetchStmt(_) => self.named_fields(&raw.stmt),
            Node::ExplainStmt(stmt) => Some(Session::explain_fields(stmt)),
            _ => None,
        })
    }

    /// Result columns of EXECUTE and FETCH, by the object that has the name at present. It is not
    /// an error if the object does not exist, because it may be created or replaced before the
    /// statement is executed.
    pub(crate) fn named_fields(&self, node: &Node) -> Option<Vec<FieldDescription>> {
        let fields = match node {
            Node::ExecuteStmt(stmt) => self.core.named.prepared.get(&stmt.name)?.fields.clone(),
            Node::FetchStmt(stmt) if !stmt.ismove => self.cursor_fields(&stmt.portalname),
            _ => None,
        };
        fields.map(|f| f.to_vec())
    }

    /// Analyses the query of EXPLAIN, CREATE TABLE AS or DECLARE CURSOR to infer parameter types.
    /// Counterpart: `transformExplainStmt`, `transformCreateTableAsStmt`,
    /// `transformDeclareCursorStmt`.
    fn infer_parameters(
        &mut self,
        raw: &RawStmt,
        node: &Node,
        sql: &str,
        types: &mut Vec<Oid>,
    ) -> Result<()> {
        let within = |query: &Node| RawStmt::within(query.clone(), raw.depth);
        match node {
            Node::ExplainStmt(stmt) => match &stmt.query {
                query if analyze::is_query(query) => {
                    self.infer_of_query(&within(query), sql, types)
                }
                other => self.infer_parameters(raw, other, sql, types),
            },
            Node::DeclareCursorStmt(stmt) => {
                crate::portal::run::check_cursor(stmt)?;
                self.infer_of_query(&within(&stmt.query), sql, types)?;
                crate::portal::run::check_cursor_query(stmt)
            }
            Node::CreateTableAsStmt(stmt) if analyze::is_query(&stmt.query) => {
                self.infer_of_query(&within(&stmt.query), sql, types)?;
                match stmt.objtype == ObjectType::Matview && !types.is_empty() {
                    true => Err(pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "materialized views may not be defined using bound parameters"
                    )),
                    false => Ok(()),
                }
            }
            Node::SelectStmt(select) => match commands::select_into(select) {
                Some(stmt) => self.infer_of_query(&within(&stmt.query), sql, types),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn infer_of_query(&mut self, raw: &RawStmt, sql: &str, types: &mut Vec<Oid>) -> Result<()> {
        let mut lookup = SessionLookup::new(&mut self.core);
        analyze::analyze_variable(&mut lookup, raw, sql, types).map(drop)
    }

    fn prepare_statement(&mut self, stmt: &PrepareStmt, sql: &Arc<str>, depth: u32) -> Result<()> {
        let name = stmt.name.to_string();
        if name.is_empty() {
            return Err(pg_err!(
                INVALID_SQL_STATEMENT_NAME,
                "invalid statement name: must not be empty"
            ));
        }
        let mut types = Vec::new();
        for t in &stmt.argtypes {
            types.push(self.type_named(t, sql)?);
        }
        let raw = RawStmt::within(stmt.query.clone(), depth);
        let mut prepared =
            Prepared::new(&mut self.core, sql.clone(), Some(raw), types, None, false)?;
        prepared.from_sql = true;
        self.core.name_statement(&name, Arc::new(prepared.named()))
    }

    fn type_named(&mut self, name: &parse::ast::TypeName, sql: &str) -> Result<Oid> {
        let mut lookup = SessionLookup::new(&mut self.core);
        Analyzer::new(&mut lookup, sql, Params::Fixed(Vec::new())).typename_oid(name)
    }

    fn execute_statement(
        &mut self,
        stmt: &ExecuteStmt,
        sql: &Arc<str>,
        describe: bool,
    ) -> Result<String> {
        let (prepared, params) = self.execute_arguments(stmt, sql)?;
        if let (false, Some(raw)) = (prepared.is_query, &prepared.raw) {
            if self.nested_executes == NESTED_EXECUTES_MAX {
                return Err(eval::too_deep());
            }
            self.nested_executes += 1;
            let (sql, types) = (&prepared.sql, &prepared.param_types);
            let done = stdx::stack::deep(|| self.utility(raw, sql, &params, types, describe));
            self.nested_executes -= 1;
            return done;
        }
        prepared.revalidate(&mut self.core)?;
        let fields = prepared.fields.clone();
        let level = self.core.backend.txn.nesting();
        let mut portal = Portal::new(prepared, params, self.results.clone(), fields.clone(), level);
        self.core.start_portal(&mut portal)?;
        if let Some(fields) = fields.filter(|_| describe) {
            backend::row_description(&mut self.conn.out, &fields);
        }
        let running = self.core.measure(Work::Executor);
        let ran = self.run_query_portal(&mut portal, 0)?;
        self.core.log_measured(running, "EXECUTOR STATISTICS");
        match ran {
            PortalResult::Complete(command, rows) => Ok(query_tag(command, rows)),
            PortalResult::Suspended => Ok(String::new()),
        }
    }

    /// The prepared statement that EXECUTE names, and its parameter values.
    pub(crate) fn execute_arguments(
        &mut self,
        stmt: &ExecuteStmt,
        sql: &str,
    ) -> Result<(Arc<Prepared>, Arc<[Datum]>)> {
        let prepared = self.find_prepared(&stmt.name)?;
        let wanted = prepared.param_types.len();
        if stmt.params.len() != wanted {
            return Err(pg_err!(
                SYNTAX_ERROR,
                "wrong number of parameters for prepared statement \"{}\"",
                stmt.name
            )
            .detail(format!("Expected {wanted} parameters but got {}.", stmt.params.len())));
        }
        let mut params = Vec::with_capacity(wanted);
        for (i, (node, &ty)) in stmt.params.iter().zip(prepared.param_types.iter()).enumerate() {
            params.push(self.argument(i + 1, node, ty, sql)?);
        }
        Ok((prepared, params.into()))
    }

    /// The value of the `number`-th argument of EXECUTE.
    fn argument(&mut self, number: usize, node: &Node, ty: Oid, sql: &str) -> Result<Datum> {
        let mut lookup = SessionLookup::new(&mut self.core);
        let mut cx = Analyzer::new(&mut lookup, sql, Params::Fixed(Vec::new()));
        let expr = cx.expr_in(node, ExprKind::ExecuteParameter)?;
        let (from, place) = (expr.type_oid(), expr.location());
        let coerced = cx.coerce_to_target(
            expr,
            ty,
            -1,
            Context::Assignment,
            CoercionForm::ImplicitCast,
            Location(-1),
        )?;
        let Some(mut expr) = coerced else {
            let (from, to) = (cx.format_type(from), cx.format_type(ty));
            let e = pg_err!(
                DATATYPE_MISMATCH,
                "parameter ${number} of type {from} cannot be coerced to the expected type {to}"
            )
            .hint("You will need to rewrite or cast the expression.");
            return Err(cx.at(e, place));
        };
        cx.assign_collations(&mut expr)?;
        self.evaluate(&expr)
    }

    /// Evaluates an expression without columns.
    pub(crate) fn evaluate(&mut self, expr: &Expr) -> Result<Datum> {
        let program = Compiler::new(&mut self.core, &mut NoColumns).compile(expr)?;
        let mut state = EvalState::default();
        let input = RowInput::scan(RowRef::Owned(&[]));
        Ok(program.eval_row(&mut state, &mut self.core, &input)?.into_owned())
    }

    fn deallocate(&mut self, name: Option<&str>) -> Result<&'static str> {
        match name {
            None => {
                self.core.named.prepared.clear();
                Ok("DEALLOCATE ALL")
            }
            Some(name) => {
                self.find_prepared(name)?;
                self.core.named.prepared.remove(name);
                Ok("DEALLOCATE")
            }
        }
    }

    fn discard(&mut self, target: DiscardMode) -> Result<&'static str> {
        match target {
            DiscardMode::All => {
                self.prevent_in_transaction_block("DISCARD ALL")?;
                self.core.named.portals.clear();
                self.core.named.prepared.clear();
                self.core.caches.codes.clear();
                self.core.caches.resolved.known.clear();
                self.slots.clear();
                self.recent.clear();
                // RESET ALL does not reset `session_authorization` and `role`.
                self.core.set("session_authorization", None, Action::Set)?;
                self.core.store.reset_all(self.core.backend.txn.nesting());
                self.core.apply_settings();
                self.core.unlisten(None);
                self.core.backend.txn.locks().release_session_advisory();
                self.forget_sequences();
                define::temp::clear(self)?;
                Ok("DISCARD ALL")
            }
            DiscardMode::Plans => {
                self.core.caches.codes.clear();
                self.core.caches.resolved.known.clear();
                self.slots.clear();
                self.recent.clear();
                Ok("DISCARD PLANS")
            }
            DiscardMode::Sequences => {
                self.forget_sequences();
                Ok("DISCARD SEQUENCES")
            }
            DiscardMode::Temp => {
                define::temp::clear(self)?;
                Ok("DISCARD TEMP")
            }
        }
    }

    fn forget_sequences(&mut self) {
        self.core.sequences = Default::default();
    }

    /// Sends rows of text columns that the server generates.
    pub(crate) fn send_texts(
        &mut self,
        fields: &[FieldDescription],
        lines: &[Vec<String>],
        describe: bool,
    ) -> Result<()> {
        if describe {
            backend::row_description(&mut self.conn.out, fields);
        }
        let types = vec![oids::TEXT; fields.len()];
        let writer = RowWriter::for_types(&types, &self.results);
        for line in lines {
            let mut batch = Batch::new(fields.iter().map(|_| false));
            for (column, text) in batch.columns.iter_mut().zip(line) {
                column.push(DatumRef::Bytes(text.as_bytes()));
            }
            batch.len = 1;
            writer.write(&mut self.core, &batch, 0, &mut self.conn.out)?;
        }
        Ok(())
    }
}

impl Core {
    /// SET CONSTRAINTS.
    pub(crate) fn set_constraints_statement(&mut self, stmt: &ConstraintsSetStmt) -> Result<()> {
        let mut list = Vec::new();
        for name in &stmt.constraints {
            let schema = name.schemaname.as_ref().map(|s| s.to_string());
            list.extend(self.constraints_named(schema.as_deref(), &name.relname)?);
        }
        let all = stmt.constraints.is_empty();
        let list = (!all).then_some(&list[..]);
        trigger::set_constraints(self, list, stmt.deferred)
    }
}
