//! Utility statements. Statements that concern the session are executed here, the others by crate
//! `commands`.
//!
//! Counterpart: tcop/utility.c.

use crate::nested::Nested;
use crate::nested::explain::{ExplainParams, explain_fields};
use crate::portal::declare::CURSOR_HOLD;
use crate::portal::{Portal, PortalResult};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::state::State;
use analyze::coerce::Context;
use analyze::{Analyzer, ExprKind, Params, SessionLookup};
use client::results::query_tag;
use client::rows::RowWriter;
use client::statementlog::Work;
use eval::{Compiler, EvalState, NoColumns, RowInput, RowRef};
use ids::Oid;
use parse::RawStmt;
use parse::ast::{
    ConstraintsSetStmt, CreateTableAsStmt, DeclareCursorStmt, DiscardMode, ExecuteStmt,
    ExplainStmt, Node, ObjectType, PrepareStmt,
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
pub(crate) const NESTED_EXECUTES_MAX: u32 = 1000;

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

/// The tag of CREATE TABLE AS that has written this number of rows.
fn created(count: Option<u64>) -> String {
    count.map_or_else(|| "CREATE TABLE AS".to_owned(), |count| format!("SELECT {count}"))
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
        let mark = self.state.begin_utility(raw);
        let tag = self.run_utility(raw, sql, params, types, describe);
        self.state.end_utility(mark, (raw, sql), &tag);
        tag
    }

    fn run_utility(
        &mut self,
        raw: &RawStmt,
        sql: &Arc<str>,
        params: &Arc<[Datum]>,
        types: &[Oid],
        describe: bool,
    ) -> Result<String> {
        if takes_snapshot(&raw.stmt) {
            self.state.transaction.mode.queried = true;
            if self.state.backend.txn.isolation().uses_transaction_snapshot() {
                // The statement decides what the whole transaction sees.
                self.state.backend.snapshot();
            }
        }
        Ok(match &raw.stmt {
            Node::TransactionStmt(stmt) => self.transaction_statement(stmt)?.to_owned(),
            Node::VariableSetStmt(stmt) => {
                let outside = self.state.transaction.block == crate::xact::Block::Single;
                self.state.set_statement(stmt, outside)?.to_owned()
            }
            Node::VariableShowStmt(stmt) => {
                self.show_statement(&stmt.name, describe)?;
                "SHOW".to_owned()
            }
            Node::AlterSystemStmt(stmt) => {
                self.alter_system(&stmt.setstmt)?;
                "ALTER SYSTEM".to_owned()
            }
            Node::LoadStmt(stmt) => {
                self.state.load_library(&stmt.filename)?;
                "LOAD".to_owned()
            }
            Node::DiscardStmt(stmt) => self.discard(stmt.target)?.to_owned(),
            Node::PrepareStmt(stmt) => {
                self.state.prepare_statement(stmt, sql, raw)?;
                "PREPARE".to_owned()
            }
            Node::ExecuteStmt(stmt) => {
                self.rows_or_error(|s| s.execute_statement(stmt, sql, describe))?
            }
            Node::DeallocateStmt(stmt) => self.state.deallocate(stmt.name.as_deref())?.to_owned(),
            Node::DeclareCursorStmt(stmt) => {
                self.declare_cursor(stmt, sql, params, types)?;
                "DECLARE CURSOR".to_owned()
            }
            Node::FetchStmt(stmt) => self.rows_or_error(|s| s.fetch(stmt, describe))?,
            Node::ClosePortalStmt(stmt) => {
                if stmt.portalname.is_none() {
                    // Portals of the protocol are closed too.
                    self.xact.dead_portals.clear();
                }
                self.state.close_cursor(stmt)?.to_owned()
            }
            Node::ExplainStmt(stmt) => {
                self.explain_statement(stmt, sql, (params, types), describe)?;
                "EXPLAIN".to_owned()
            }
            Node::ConstraintsSetStmt(stmt) => {
                if self.state.transaction.block == crate::xact::Block::Single {
                    self.state.warn_no_block("SET CONSTRAINTS");
                }
                self.state.set_constraints_statement(stmt)?;
                "SET CONSTRAINTS".to_owned()
            }
            Node::CallStmt(stmt) => self
                .computing(|s| {
                    s.rows_or_error(|s| s.call_statement(stmt, sql, (params, types), describe))
                })?
                .to_owned(),
            Node::DoStmt(stmt) => {
                self.state.calls.may_end_transaction =
                    self.state.transaction.block == crate::xact::Block::Single;
                let result = self.computing(|s| crate::docmd::run(&mut s.state, stmt, sql));
                self.state.calls.may_end_transaction = false;
                result?;
                "DO".to_owned()
            }
            Node::ListenStmt(stmt) => {
                self.state.listen(&stmt.conditionname);
                "LISTEN".to_owned()
            }
            Node::UnlistenStmt(stmt) => {
                self.state.unlisten(stmt.conditionname.as_deref());
                "UNLISTEN".to_owned()
            }
            Node::NotifyStmt(stmt) => {
                let payload = stmt.payload.as_deref().unwrap_or("");
                crate::notify::notify(&mut self.state, &stmt.conditionname, payload)?;
                "NOTIFY".to_owned()
            }
            Node::CreateTableAsStmt(stmt) => match &stmt.query {
                Node::ExecuteStmt(execute) => {
                    let mut host = Nested::new(&mut self.state);
                    // The tag of a table with rows is used for WITH NO DATA too.
                    created(host.create_table_execute(stmt, execute, sql)?)
                }
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

    /// DECLARE CURSOR of a client.
    fn declare_cursor(
        &mut self,
        stmt: &DeclareCursorStmt,
        sql: &Arc<str>,
        params: &Arc<[Datum]>,
        types: &[Oid],
    ) -> Result<()> {
        let alone = self.state.transaction.block == crate::xact::Block::Single;
        if stmt.options & CURSOR_HOLD == 0 && alone {
            self.state.check_cursor(stmt, sql, types)?;
            return Err(pg_err!(
                NO_ACTIVE_SQL_TRANSACTION,
                "DECLARE CURSOR can only be used in transaction blocks"
            ));
        }
        self.state.declare_cursor(stmt, sql, params, types)
    }

    /// CREATE TABLE AS with a query that has parameters.
    fn create_table_bound(
        &mut self,
        stmt: &CreateTableAsStmt,
        sql: &Arc<str>,
        params: &Arc<[Datum]>,
        (types, depth): (&[Oid], u32),
    ) -> Result<String> {
        let count = Nested::new(&mut self.state).create_table(stmt, sql, |state| {
            let raw = RawStmt::within(stmt.query.clone(), depth);
            let prepared =
                Prepared::new(state, sql.clone(), Some(raw), types.to_vec(), None, false)?;
            let plan = prepared.plan(state, params, state.values.resolved.plan_mode)?;
            Ok((plan, params.clone()))
        })?;
        Ok(created(count.filter(|_| !stmt.into.skip_data)))
    }

    /// Sends the lines of EXPLAIN.
    fn explain_statement(
        &mut self,
        stmt: &ExplainStmt,
        sql: &Arc<str>,
        params: (&Arc<[Datum]>, &[Oid]),
        describe: bool,
    ) -> Result<()> {
        let params = ExplainParams { values: params.0, types: params.1, statement: None };
        let (lines, _) = Nested::new(&mut self.state).explained(stmt, sql, params)?;
        let lines: Vec<Vec<String>> = lines.into_iter().map(|line| vec![line]).collect();
        self.send_texts(&explain_fields(stmt), &lines, describe)
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
        let depth = self.state.backend.snapshot_depth();
        let snapshot = self.state.backend.snapshot();
        self.state.backend.push_snapshot(snapshot);
        let result = commands::run_utility(self, &raw.stmt, sql);
        self.state.backend.truncate_snapshots(depth);
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
            Node::CallStmt(stmt) => self.state.call_fields(stmt, sql, types)?,
            Node::VariableShowStmt(stmt) => Some(self.state.show_fields(&stmt.name)?),
            Node::ExecuteStmt(_) | Node::FetchStmt(_) => self.named_fields(&raw.stmt),
            Node::ExplainStmt(stmt) => Some(explain_fields(stmt)),
            _ => None,
        })
    }

    /// Result columns of EXECUTE and FETCH, by the object that has the name at present. It is not
    /// an error if the object does not exist, because it may be created or replaced before the
    /// statement is executed.
    pub(crate) fn named_fields(&self, node: &Node) -> Option<Vec<FieldDescription>> {
        let fields = match node {
            Node::ExecuteStmt(stmt) => self.state.named.prepared.get(&stmt.name)?.fields.clone(),
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
                crate::portal::declare::check_cursor(stmt)?;
                self.infer_of_query(&within(&stmt.query), sql, types)?;
                crate::portal::declare::check_cursor_query(stmt)
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
        let mut lookup = SessionLookup::new(&mut self.state);
        analyze::analyze_variable(&mut lookup, raw, sql, types).map(drop)
    }

    fn execute_statement(
        &mut self,
        stmt: &ExecuteStmt,
        sql: &Arc<str>,
        describe: bool,
    ) -> Result<String> {
        let (prepared, params) = self.state.execute_arguments(stmt, sql)?;
        if let (false, Some(raw)) = (prepared.is_query, &prepared.raw) {
            if self.state.calls.nested_executes == NESTED_EXECUTES_MAX {
                return Err(eval::too_deep());
            }
            self.state.calls.nested_executes += 1;
            let (sql, types) = (&prepared.sql, &prepared.param_types);
            let done = stdx::stack::deep(|| self.utility(raw, sql, &params, types, describe));
            self.state.calls.nested_executes -= 1;
            return done;
        }
        prepared.revalidate(&mut self.state)?;
        let fields = prepared.fields.clone();
        let level = self.state.backend.txn.nesting();
        let mut portal = Portal::new(prepared, params, self.results.clone(), fields.clone(), level);
        self.state.start_portal(&mut portal)?;
        if let Some(fields) = fields.filter(|_| describe) {
            backend::row_description(&mut self.conn.out, &fields);
        }
        let running = self.state.measure(Work::Executor);
        let ran = self.run_query_portal(&mut portal, 0)?;
        self.state.log_measured(running, "EXECUTOR STATISTICS");
        match ran {
            PortalResult::Complete(command, rows) => Ok(query_tag(command, rows)),
            PortalResult::Suspended => Ok(String::new()),
        }
    }

    fn discard(&mut self, target: DiscardMode) -> Result<&'static str> {
        match target {
            DiscardMode::All => {
                self.prevent_in_transaction_block("DISCARD ALL")?;
                self.state.named.portals.clear();
                self.state.named.prepared.clear();
                self.state.discard_plans();
                self.slots.clear();
                self.recent.clear();
                // RESET ALL does not reset `session_authorization` and `role`.
                self.state.set("session_authorization", None, Action::Set)?;
                self.state.store.reset_all(self.state.backend.txn.nesting());
                self.state.apply_settings();
                self.state.unlisten(None);
                self.state.backend.txn.locks().release_session_advisory();
                self.state.forget_sequences();
                define::temp::clear(self)?;
                Ok("DISCARD ALL")
            }
            DiscardMode::Plans => {
                self.state.discard_plans();
                self.slots.clear();
                self.recent.clear();
                Ok("DISCARD PLANS")
            }
            DiscardMode::Sequences => {
                self.state.forget_sequences();
                Ok("DISCARD SEQUENCES")
            }
            DiscardMode::Temp => {
                define::temp::clear(self)?;
                Ok("DISCARD TEMP")
            }
        }
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
            writer.write(&mut self.state, &batch, 0, &mut self.conn.out)?;
        }
        Ok(())
    }
}

impl State {
    pub(crate) fn prepare_statement(
        &mut self,
        stmt: &PrepareStmt,
        sql: &Arc<str>,
        outer: &RawStmt,
    ) -> Result<()> {
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
        // In statistics the statement has the text of PREPARE.
        let RawStmt { location, len, depth, .. } = *outer;
        let raw = RawStmt { location, len, ..RawStmt::within(stmt.query.clone(), depth) };
        let mut prepared = Prepared::new(self, sql.clone(), Some(raw), types, None, false)?;
        prepared.from_sql = true;
        self.name_statement(&name, Arc::new(prepared.named()))
    }

    fn type_named(&mut self, name: &parse::ast::TypeName, sql: &str) -> Result<Oid> {
        let mut lookup = SessionLookup::new(self);
        Analyzer::new(&mut lookup, sql, Params::Fixed(Vec::new())).typename_oid(name)
    }

    /// The prepared statement that EXECUTE names, and its parameter values.
    pub(crate) fn execute_arguments(
        &mut self,
        stmt: &ExecuteStmt,
        sql: &str,
    ) -> Result<(Arc<Prepared>, Arc<[Datum]>)> {
        let prepared = self.prepared_named(&stmt.name)?;
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
        let mut lookup = SessionLookup::new(self);
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
        let program = Compiler::new(self, &mut NoColumns).compile(expr)?;
        let mut state = EvalState::default();
        let input = RowInput::scan(RowRef::Owned(&[]));
        Ok(program.eval_row(&mut state, self, &input)?.into_owned())
    }

    pub(crate) fn deallocate(&mut self, name: Option<&str>) -> Result<&'static str> {
        match name {
            None => {
                self.named.prepared.clear();
                Ok("DEALLOCATE ALL")
            }
            Some(name) => {
                self.prepared_named(name)?;
                self.named.prepared.remove(name);
                Ok("DEALLOCATE")
            }
        }
    }

    pub(crate) fn forget_sequences(&mut self) {
        self.sequences = Default::default();
    }

    /// The prepared statement of that name.
    pub(crate) fn prepared_named(&self, name: &str) -> Result<Arc<Prepared>> {
        let found = self.named.prepared.get(name).cloned();
        found.ok_or_else(|| {
            pg_err!(UNDEFINED_PSTATEMENT, "prepared statement \"{name}\" does not exist")
        })
    }

    /// Frees cached plans that no statement needs.
    pub(crate) fn discard_plans(&mut self) {
        self.caches.codes.clear();
        self.calls.contexts.discard_idle();
        self.caches.resolved = Default::default();
    }

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
