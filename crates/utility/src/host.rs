//! The interface that utility statements require of the session.

use catalog::rows::PgClass;
use engine::{Backend, DbKey, Engine};
use ids::Oid;
use parse::ast::VariableSetStmt;
use pgerror::{PgError, Result};
use std::sync::Arc;
use std::time::Duration;

/// Implemented by the session and borrowed while a command runs. Analysis, expressions and plans
/// reach the session through their own traits.
pub trait CommandHost: analyze::Host + Contexts + Transactions + Settings + Cluster {
    /// Sends a notice to the client.
    fn notice(&mut self, notice: PgError);

    /// The client connection during COPY FROM STDIN and COPY TO STDOUT.
    fn transport(&mut self) -> Result<&mut dyn CopyTransport>;

    /// Runs `work` with the privileges of the owner of the evaluated code, so that its functions
    /// cannot use the privileges of the current user. Changes of settings are undone, and roles
    /// cannot be changed. Counterpart: `SECURITY_RESTRICTED_OPERATION`.
    fn as_owner(
        &mut self,
        owner: Oid,
        work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<()>,
    ) -> Result<()>;

    /// Sleeps; an interrupt ends the sleep with an error.
    fn pause(&mut self, span: Duration) -> Result<()>;

    /// Validates a new function by the rules of its language. `sql` is the statement that creates
    /// it, in which errors of the body have their positions.
    fn validate_function(&mut self, function: Oid, sql: &str) -> Result<()>;

    /// The stored form of a password (`password_encryption`).
    fn password_verifier(&mut self, role: &str, password: &str) -> Result<String> {
        let _ = (role, password);
        Err(PgError::unsupported("passwords"))
    }

    /// True if the stored secret is that of an empty password.
    fn is_empty_password(&mut self, role: &str, secret: &str) -> bool {
        let _ = (role, secret);
        false
    }
}

/// The contexts in which parts of a statement run. They are borrowed from the session.
pub trait Contexts {
    /// The storage session with the current transaction.
    fn backend(&mut self) -> &mut Backend;

    /// The catalog facts that expression compilation needs.
    fn facts(&mut self) -> &mut dyn eval::Facts;

    /// The context in which expressions are evaluated.
    fn expressions(&mut self) -> &mut dyn eval::Host;

    /// The context in which plans are executed.
    fn services(&mut self) -> &mut dyn executor::Services;

    fn planner(&mut self) -> &mut dyn planner::PlannerHost;

    /// The context in which triggers fire.
    fn trigger_host(&mut self) -> &mut dyn trigger::TriggerHost;

    /// The server's storage engine, for operations on whole databases.
    fn engine(&mut self) -> Arc<Engine>;
}

/// The current transaction and the locks, cursors and temporary tables that belong to it.
pub trait Transactions {
    /// True if there are open portals with rows left to fetch.
    fn has_ready_portals(&self) -> bool;

    /// True if a transaction block is open, or if the statement is one of several in a simple
    /// query.
    fn in_transaction_block(&self) -> bool;

    /// True if a commit would also commit other statements, of a transaction block or of the same
    /// pipeline.
    fn shares_transaction(&self) -> bool;

    /// Error 25001 if a commit would include other statements; `what` names the statement.
    /// Otherwise the transaction is committed as soon as the statement ends. Counterpart:
    /// `PreventInTransactionBlock`.
    fn prevent_in_transaction_block(&mut self, what: &str) -> Result<()>;

    /// True if the transaction is read-only.
    fn read_only(&self) -> bool;

    /// Error 55006 if the session itself uses the relation: it has open cursors or pending trigger
    /// events on it. `what` is the command.
    fn check_not_in_use(&mut self, relation: Oid, name: &str, what: &str) -> Result<()>;

    /// As `lock_relation`, but returns false instead of waiting.
    fn try_lock_relation(&mut self, relation: Oid, mode: i32) -> Result<bool>;

    /// Commits, publishes invalidations and begins a transaction with the same properties, for
    /// commands that use several transactions.
    fn next_transaction(&mut self) -> Result<()>;

    /// Registers the action at commit: the temporary table is emptied, or dropped if `drop`.
    fn on_commit(&mut self, table: Oid, drop: bool);

    /// Called when the session's temporary schemas were created or emptied.
    fn temp_schema_made(&mut self, schema: Oid, toast: Oid);
}

/// The settings of the session.
pub trait Settings {
    /// The current value of a setting, as SHOW prints it; empty if there is no such setting.
    fn setting(&mut self, name: &str) -> String;

    /// The canonical name of a setting, as stored in catalogs.
    fn setting_name(&mut self, name: &str) -> String;

    /// The name of a parameter in privileges on it, and whether privileges can be granted on it.
    fn privileged_parameter(&mut self, name: &str) -> (String, bool);

    /// The checked value of a SET clause; `None` for DEFAULT and RESET.
    fn setting_value(&mut self, stmt: &VariableSetStmt) -> Result<Option<String>>;

    /// Settings that affect planning and differ from their defaults, by name (EXPLAIN with
    /// SETTINGS).
    fn explain_settings(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Other databases and sessions, and the operating system.
pub trait Cluster {
    /// Performs an immediate, complete checkpoint.
    fn checkpoint(&mut self) -> Result<()>;

    /// True if the C library of the server has this locale.
    fn locale_exists(&mut self, name: &str) -> bool;

    /// The `pg_class` rows of another database, read from its own catalogs.
    fn classes_of(&mut self, database: DbKey) -> Result<Vec<PgClass>>;

    /// Terminates the sessions of a database. Error 42501 if the user lacks the privilege.
    fn terminate_sessions(&mut self, database: Oid) -> Result<()>;

    /// Terminates the server's background workers in a database; they repeat their work later.
    fn terminate_workers(&mut self, database: Oid) {
        let _ = database;
    }

    /// Removes the caches of the catalogs of a database that was dropped or moved.
    fn forget_database(&mut self, database: Oid);
}

/// The data stream of a COPY between server and client.
pub trait CopyTransport {
    /// Sends CopyInResponse; called before the first [`CopyTransport::read`].
    fn begin_in(&mut self, binary: bool, columns: usize) -> Result<()>;

    /// Appends the client's next data. Returns false at the end. An error after CopyFail.
    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool>;

    /// Sends CopyOutResponse.
    fn begin_out(&mut self, binary: bool, columns: usize) -> Result<()>;

    /// Sends one row, including its line terminator.
    fn write(&mut self, row: &[u8]) -> Result<()>;

    fn end_out(&mut self) -> Result<()>;
}

impl executor::spi::QueryHost for dyn CommandHost + '_ {
    fn services(&mut self) -> &mut dyn executor::Services {
        Contexts::services(self)
    }

    fn increment_command_counter(&mut self) -> Result<()> {
        self.catalog().increment_command_counter()
    }
}

/// The host as owner of the storage session, for table scans.
pub struct Owner<'h>(pub &'h mut dyn CommandHost);

impl engine::index::Owner for Owner<'_> {
    fn backend(&mut self) -> &mut Backend {
        self.0.backend()
    }
}

/// The host as context of a row writer.
pub struct Writing<'h>(pub &'h mut dyn CommandHost);

impl executor::WriteHost for Writing<'_> {
    fn expressions(&mut self) -> &mut dyn eval::Host {
        self.0.expressions()
    }

    fn services(&mut self) -> &mut dyn executor::Services {
        self.0.services()
    }
}

/// A notice with its SQLSTATE.
pub fn notice(error: PgError) -> PgError {
    error.severity(pgerror::Severity::Notice)
}

/// A report for clients and logs that show the level `debug1`.
pub fn debug(message: String) -> PgError {
    pgerror::pg_err!(SUCCESSFUL_COMPLETION, "{message}").severity(pgerror::Severity::Debug)
}

/// Whether the client or the log shows the level `debug2`.
pub fn shows_debug2(host: &mut dyn CommandHost) -> bool {
    ["client_min_messages", "log_min_messages"]
        .iter()
        .any(|name| host.setting(name).strip_prefix("debug").is_some_and(|level| level != "1"))
}
