//! Utility statements inside functions: the part of the session that they can reach without the
//! client's connection.

use super::host::{cached, rows_of_tag};
use crate::core::Core;
use crate::function;
use crate::plancache::plans::Mode;
use crate::prepared::Prepared;
use analyze::{OperatorCache, TransitionTable};
use catalog::rows::PgClass;
use catalog::{CatCx, CatSession};
use engine::Backend;
use ids::Oid;
use parse::RawStmt;
use parse::ast::{ExplainStmt, Node, VariableSetStmt};
use pgerror::{PgError, Result, bail, pg_err};
use plpgsql::{Command, Run, Statement, UtilityOutcome};
use std::sync::Arc;
use std::time::Duration;
use types::fn_context::{RowColumn, RowDesc};
use types::{Datum, FnContext, oids};
use utility::host::{Cluster, CommandHost, Contexts, CopyTransport, Settings, Transactions};
use wire::password::{SALT_BYTES, Secret};

/// The session, while a statement runs inside a function.
pub(super) struct Nested<'c>(&'c mut Core);

impl<'c> Nested<'c> {
    pub(super) fn new(core: &'c mut Core) -> Nested<'c> {
        Nested(core)
    }

    /// Runs a statement.
    pub(super) fn run(mut self, command: &Command<'_>) -> Result<UtilityOutcome> {
        let has_query =
            matches!(command.raw.stmt, Node::CreateTableAsStmt(_) | Node::ExplainStmt(_));
        if has_query {
            return self.run_statement(command);
        }
        // Other statements do not see transition tables.
        let hidden = std::mem::take(&mut self.0.calls.transitions);
        let outcome = self.run_statement(command);
        self.0.calls.transitions = hidden;
        outcome
    }

    fn run_statement(&mut self, command: &Command<'_>) -> Result<UtilityOutcome> {
        let (stmt, sql) = (&command.raw.stmt, command.sql);
        let tag = define::tag::command_tag(stmt);
        if command.read_only && !is_read_only(stmt) {
            bail!(FEATURE_NOT_SUPPORTED, "{tag} is not allowed in a non-volatile function");
        }
        match stmt {
            Node::TransactionStmt(_) => {
                bail!(FEATURE_NOT_SUPPORTED, "unsupported transaction command in PL/pgSQL")
            }
            Node::CopyStmt(copy) if copy.filename.is_none() => {
                bail!(FEATURE_NOT_SUPPORTED, "cannot COPY to/from client in PL/pgSQL")
            }
            Node::VariableSetStmt(set) => {
                self.0.set_statement(set, false)?;
                return Ok(UtilityOutcome::default());
            }
            Node::ConstraintsSetStmt(set) => {
                self.0.set_constraints_statement(set)?;
                return Ok(UtilityOutcome::default());
            }
            Node::NotifyStmt(notify) => {
                let payload = notify.payload.as_deref().unwrap_or("");
                crate::notify::notify(self.0, &notify.conditionname, payload)?;
                return Ok(UtilityOutcome::default());
            }
            Node::ListenStmt(listen) => {
                self.0.listen(&listen.conditionname);
                return Ok(UtilityOutcome::default());
            }
            Node::UnlistenStmt(unlisten) => {
                self.0.unlisten(unlisten.conditionname.as_deref());
                return Ok(UtilityOutcome::default());
            }
            Node::DoStmt(stmt) => {
                crate::docmd::run(self.0, stmt, sql)?;
                return Ok(UtilityOutcome::default());
            }
            Node::VariableShowStmt(show) => return self.show(&show.name),
            Node::ExplainStmt(stmt) => return self.explain(stmt, sql),
            other if is_of_session(other) => {
                return Err(PgError::unsupported(format!("{tag} inside a function")));
            }
            _ => {}
        }
        let depth = self.0.backend.snapshot_depth();
        self.0.cat().increment_command_counter()?;
        let snapshot = self.0.backend.snapshot();
        self.0.backend.push_snapshot(snapshot);
        let created = match command.query {
            Some(query) => self.create_table(stmt, sql, query),
            None => commands::run_utility(self, stmt, sql).map(|tag| rows_of_tag(&tag)),
        };
        self.0.backend.truncate_snapshots(depth);
        let created = created?;
        self.0.cat().increment_command_counter()?;
        Ok(UtilityOutcome { created, rows: None })
    }

    /// CREATE TABLE AS with a query that has parameters.
    fn create_table(
        &mut self,
        stmt: &Node,
        sql: &str,
        (statement, run): (&Statement, &Run),
    ) -> Result<Option<u64>> {
        let Node::CreateTableAsStmt(stmt) = stmt else {
            return Err(PgError::internal("CREATE TABLE AS expected"));
        };
        if self.read_only() {
            bail!(
                READ_ONLY_SQL_TRANSACTION,
                "cannot execute CREATE TABLE AS in a read-only transaction"
            );
        }
        if commands::table_exists(self, stmt)? {
            return Ok(None);
        }
        let mode = self.0.values.resolved.plan_mode;
        let plan = cached(statement)?.choose(self.0, &run.params, mode)?.plan;
        self.0.check_plan(&plan)?;
        let count = commands::create_table_of_plan(self, stmt, sql, &plan, run.params.clone())?;
        Ok((!stmt.into.skip_data).then_some(count))
    }

    /// SHOW of one setting.
    fn show(&mut self, name: &str) -> Result<UtilityOutcome> {
        if name == "all" {
            return Err(PgError::unsupported("SHOW ALL inside a function"));
        }
        crate::serverfn::settings::check_visible(self.0, name)?;
        let value = self.0.show(name)?;
        let registry = &self.0.store.base().registry;
        let column = registry.find(name).map_or(name, |id| registry.setting(id).name).to_owned();
        Ok(texts(column, oids::TEXT, vec![value]))
    }

    /// EXPLAIN of a query.
    fn explain(&mut self, stmt: &ExplainStmt, sql: &str) -> Result<UtilityOutcome> {
        if !analyze::is_query(&stmt.query) {
            return Err(PgError::unsupported("EXPLAIN of this statement inside a function"));
        }
        let options = explain::options(stmt, sql)?;
        let mut out = explain::Explanation::new(options);
        let raw = RawStmt::within(stmt.query.clone(), 0);
        let sql: Arc<str> = sql.into();
        let prepared = Prepared::new(self.0, sql.clone(), Some(raw), Vec::new(), None, false)?;
        let before = (self.0.now(), self.0.backend.buffer_usage());
        let params: Arc<[Datum]> = Arc::from([]);
        let plan = prepared.plan(self.0, &params, Mode::Custom)?;
        let planning_us = (self.0.now() - before.0).max(0) as u64;
        let planning_buffers = self.0.backend.buffer_usage() - before.1;
        if options.analyze {
            self.0.check_plan(&plan)?;
        }
        let into = None;
        let subject =
            explain::Subject { plan, params, planning_us, planning_buffers, into, sql: &sql };
        let depth = self.0.backend.snapshot_depth();
        self.0.cat().increment_command_counter()?;
        let snapshot = self.0.backend.snapshot();
        self.0.backend.push_snapshot(snapshot);
        let result = out.plan(self, &subject);
        self.0.backend.truncate_snapshots(depth);
        result?;
        Ok(texts("QUERY PLAN".to_owned(), options.format.type_oid(), out.rows()))
    }
}

/// Rows of one column.
fn texts(name: String, ty: Oid, lines: Vec<String>) -> UtilityOutcome {
    let column = RowColumn { name, ty, typmod: -1, collation: Oid::INVALID, dropped: None };
    let desc = Arc::new(RowDesc::new(vec![column], 0));
    let rows = lines.iter().map(|line| vec![Datum::text(line)]).collect();
    UtilityOutcome { created: None, rows: Some((desc, rows)) }
}

/// True for utility statements that functions may contain which are not volatile.
fn is_read_only(stmt: &Node) -> bool {
    matches!(stmt, Node::ExplainStmt(_) | Node::VariableShowStmt(_))
}

/// True for statements that need the connection or the session's statements and cursors.
fn is_of_session(stmt: &Node) -> bool {
    matches!(
        stmt,
        Node::AlterSystemStmt(_)
            | Node::DiscardStmt(_)
            | Node::PrepareStmt(_)
            | Node::ExecuteStmt(_)
            | Node::DeallocateStmt(_)
            | Node::DeclareCursorStmt(_)
            | Node::FetchStmt(_)
            | Node::ClosePortalStmt(_)
            | Node::CallStmt(_)
    )
}

impl analyze::Host for Nested<'_> {
    fn catalog(&mut self) -> CatCx<'_> {
        self.0.cat()
    }

    fn functions(&mut self) -> &mut dyn FnContext {
        self.0
    }

    fn lock_relation(&mut self, relation: Oid, mode: i32) -> Result<()> {
        self.0.lock_relation(relation, mode)
    }

    fn database_name(&mut self) -> Result<String> {
        Ok(self.0.database_name.clone())
    }

    fn views_are_restricted(&mut self) -> bool {
        analyze::Host::views_are_restricted(self.0)
    }

    fn transition_table(&mut self, name: &str) -> Option<TransitionTable> {
        analyze::Host::transition_table(self.0, name)
    }

    fn transform_null_equals(&mut self) -> bool {
        analyze::Host::transform_null_equals(self.0)
    }

    fn operator_cache(&mut self) -> Option<&mut OperatorCache> {
        analyze::Host::operator_cache(self.0)
    }
}

impl CommandHost for Nested<'_> {
    fn notice(&mut self, notice: PgError) {
        self.0.add_notice(notice);
    }

    fn transport(&mut self) -> Result<&mut dyn CopyTransport> {
        Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot COPY to/from client in PL/pgSQL"))
    }

    fn as_owner(
        &mut self,
        owner: Oid,
        work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<()>,
    ) -> Result<()> {
        let settings = self.0.store.save_all();
        let before = self.0.switch_to_owner(owner)?;
        let result = work(self);
        self.0.store.restore_all(settings);
        self.0.apply_settings();
        self.0.restore_role(before);
        result
    }

    fn pause(&mut self, _: Duration) -> Result<()> {
        self.0.backend.check_interrupts()
    }

    fn validate_function(&mut self, function: Oid, sql: &str) -> Result<()> {
        function::validate(self.0, function, sql)
    }

    fn password_verifier(&mut self, role: &str, password: &str) -> Result<String> {
        if Secret::parse(password).is_some() {
            return Ok(password.to_owned());
        }
        let md5 = self.0.store.named("password_encryption").as_text() == "md5";
        let mut salt = [0; SALT_BYTES];
        self.0.backend.storage().env.random.fill(&mut salt);
        Ok(Secret::make(password, role, md5, &salt))
    }

    fn is_empty_password(&mut self, role: &str, secret: &str) -> bool {
        Secret::parse(secret).is_some_and(|s| s.is_plain("", role))
    }
}

impl Contexts for Nested<'_> {
    fn backend(&mut self) -> &mut Backend {
        &mut self.0.backend
    }

    fn facts(&mut self) -> &mut dyn eval::Facts {
        self.0
    }

    fn expressions(&mut self) -> &mut dyn eval::Host {
        self.0
    }

    fn services(&mut self) -> &mut dyn executor::Services {
        self.0
    }

    fn planner(&mut self) -> &mut dyn planner::PlannerHost {
        self.0
    }

    fn trigger_host(&mut self) -> &mut dyn trigger::TriggerHost {
        self.0
    }

    fn engine(&mut self) -> Arc<engine::Engine> {
        let server = self.0.server.as_ref().expect("a session with a connection has an instance");
        server.0.engine.clone()
    }
}

impl Transactions for Nested<'_> {
    fn has_ready_portals(&self) -> bool {
        self.0.named.portals.values().any(crate::portal::Portal::is_ready)
    }

    fn in_transaction_block(&self) -> bool {
        true
    }

    fn shares_transaction(&self) -> bool {
        true
    }

    fn prevent_in_transaction_block(&mut self, what: &str) -> Result<()> {
        Err(pg_err!(ACTIVE_SQL_TRANSACTION, "{what} cannot be executed from a function"))
    }

    fn read_only(&self) -> bool {
        self.0.transaction.mode.read_only
    }

    fn check_not_in_use(&mut self, relation: Oid, name: &str, what: &str) -> Result<()> {
        self.0.check_not_in_use(relation, name, what)
    }

    fn try_lock_relation(&mut self, relation: Oid, mode: i32) -> Result<bool> {
        self.0.try_lock_relation(relation, mode)
    }

    fn next_transaction(&mut self) -> Result<()> {
        Err(PgError::internal("command with several transactions inside a function"))
    }

    fn on_commit(&mut self, table: Oid, drop: bool) {
        self.0.transaction.on_commit.push((table, drop));
    }

    fn temp_schema_made(&mut self, schema: Oid, toast: Oid) {
        self.0.use_temp_schema(schema, toast);
    }
}

impl Settings for Nested<'_> {
    fn setting(&mut self, name: &str) -> String {
        let store = &self.0.store;
        let registry = &store.base().registry;
        match registry.find(name) {
            Some(id) => registry.setting(id).show(store.value(id)),
            None => String::new(),
        }
    }

    fn setting_name(&mut self, name: &str) -> String {
        let registry = &self.0.store.base().registry;
        match registry.find(name) {
            Some(id) => registry.setting(id).name.to_owned(),
            None => name.to_owned(),
        }
    }

    fn setting_value(&mut self, stmt: &VariableSetStmt) -> Result<Option<String>> {
        self.0.checked_setting(stmt)
    }
}

impl Cluster for Nested<'_> {
    fn checkpoint(&mut self) -> Result<()> {
        Err(PgError::unsupported("CHECKPOINT inside a function"))
    }

    fn locale_exists(&mut self, name: &str) -> bool {
        matches!(name, "C" | "POSIX" | "C.UTF-8" | "C.utf8")
    }

    fn classes_of(&mut self, database: engine::DbKey) -> Result<Vec<PgClass>> {
        let catalog = self.0.catalogs.database(database.1);
        let mut other = CatSession::new(catalog, self.0.catalog.user);
        other.tablespace = database.0;
        let rows = CatCx::new(&mut self.0.backend, &mut other).scan_all::<PgClass>()?;
        Ok(rows.iter().map(|r| r.row.clone()).collect())
    }

    fn terminate_sessions(&mut self, _: Oid) -> Result<()> {
        Err(PgError::unsupported("changes of databases inside a function"))
    }

    fn forget_database(&mut self, database: Oid) {
        self.0.catalogs.forget(database);
    }
}
