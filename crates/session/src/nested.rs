//! Utility statements inside functions: the part of the session that they can reach without the
//! client's connection.

pub(crate) mod explain;
mod statements;

use crate::plancache::Statement;
use crate::state::State;
use crate::xact::Block;
use analyze::{OperatorCache, TransitionTable};
use catalog::rows::PgClass;
use catalog::{CatCx, CatSession};
use engine::Backend;
use ids::Oid;
use parse::RawStmt;
use parse::ast::{Node, VariableSetStmt};
use pgerror::{PgError, Result, pg_err};
use plan::Query;
use plpgsql::UtilityOutcome;
use std::sync::Arc;
use std::time::Duration;
use types::{Datum, FnContext};
use utility::host::{Cluster, CommandHost, Contexts, CopyTransport, Settings, Transactions};
use wire::password::{SALT_BYTES, Secret};

/// The session, while a statement runs inside a function.
pub(crate) struct Nested<'c>(&'c mut State);

/// A utility statement.
pub(crate) struct Utility<'a> {
    pub raw: &'a RawStmt,
    pub sql: &'a str,
    /// The function is not volatile.
    pub read_only: bool,
    /// The query of CREATE TABLE AS, EXPLAIN or DECLARE CURSOR with the values of its parameters,
    /// if it has parameters.
    pub query: Option<(&'a Arc<Statement>, &'a Arc<[Datum]>)>,
}

impl<'c> Nested<'c> {
    pub(crate) fn new(state: &'c mut State) -> Nested<'c> {
        Nested(state)
    }

    /// Runs a statement.
    pub(crate) fn run(mut self, command: &Utility<'_>) -> Result<UtilityOutcome> {
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

    fn run_statement(&mut self, command: &Utility<'_>) -> Result<UtilityOutcome> {
        let stmt = &command.raw.stmt;
        if command.read_only {
            return Err(writes(stmt));
        }
        if let Some(outcome) = self.session_statement(command)? {
            return Ok(outcome);
        }
        let depth = self.0.backend.snapshot_depth();
        self.0.cat().increment_command_counter()?;
        let snapshot = self.0.backend.snapshot();
        self.0.backend.push_snapshot(snapshot);
        let processed = self.command(command);
        self.0.backend.truncate_snapshots(depth);
        let processed = processed?;
        self.0.cat().increment_command_counter()?;
        Ok(UtilityOutcome { processed, rows: None })
    }

    /// Executes a statement that changes catalogs or tables. Returns the number of rows that it
    /// copies, or writes to a table that it creates.
    fn command(&mut self, command: &Utility<'_>) -> Result<u64> {
        let (stmt, sql) = (&command.raw.stmt, command.sql);
        if let Node::CreateTableAsStmt(create) = stmt {
            if let Some((statement, params)) = command.query {
                let mode = self.0.values.resolved.plan_mode;
                let created = self.create_table(create, sql, |state| {
                    Ok((statement.choose(state, params, mode)?.plan, params.clone()))
                })?;
                return Ok(created.unwrap_or_default());
            }
            if let Node::ExecuteStmt(execute) = &create.query {
                let created = self.create_table_execute(create, execute, sql)?;
                return Ok(created.unwrap_or_default());
            }
        }
        let tag = commands::run_utility(self, stmt, sql)?;
        let counted = matches!(stmt, Node::CreateTableAsStmt(_) | Node::CopyStmt(_));
        let count = tag.rsplit_once(' ').filter(|_| counted).and_then(|(_, n)| n.parse().ok());
        Ok(count.unwrap_or_default())
    }
}

/// Error 0A000 for a utility statement in a function that is not volatile. Counterpart:
/// `CommandIsReadOnly`.
pub(crate) fn writes(stmt: &Node) -> PgError {
    let tag = define::tag::command_tag(stmt);
    pg_err!(FEATURE_NOT_SUPPORTED, "{tag} is not allowed in a non-volatile function")
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

    fn identify_statement(&mut self, query: &mut Query, sql: &str) {
        self.0.identify_query(query, sql, false);
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
        // Positions in the body are converted to those in the text of the client's statement.
        let statement = self.0.activity.statement.clone();
        self.0.validate_function(function, statement.as_deref().unwrap_or(sql))
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
        self.0.named.portals.values().any(|portal| portal.is_ready())
    }

    fn in_transaction_block(&self) -> bool {
        true
    }

    fn shares_transaction(&self) -> bool {
        true
    }

    fn prevent_in_transaction_block(&mut self, what: &str) -> Result<()> {
        let place = match self.0.transaction.block {
            Block::None | Block::Single if self.0.backend.txn.nesting() == 1 => {
                "cannot be executed from a function"
            }
            _ => "cannot run inside a transaction block",
        };
        Err(pg_err!(ACTIVE_SQL_TRANSACTION, "{what} {place}"))
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

    fn privileged_parameter(&mut self, name: &str) -> (String, bool) {
        self.0.store.base().registry.privileged(name)
    }

    fn setting_value(&mut self, stmt: &VariableSetStmt) -> Result<Option<String>> {
        self.0.checked_setting(stmt)
    }

    fn explain_settings(&mut self) -> Vec<(String, String)> {
        self.0.explained_settings()
    }
}

impl Cluster for Nested<'_> {
    fn checkpoint(&mut self) -> Result<()> {
        self.0.checkpoint()
    }

    fn locale_exists(&mut self, name: &str) -> bool {
        !name.is_empty() && locale::codeset(name).is_some()
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
