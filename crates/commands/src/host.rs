//! What commands ask of the session that runs them.

use crate::explain::TriggerFigures;
use catalog::rows::PgClass;
use engine::{Backend, DbKey, Engine};
use ids::Oid;
use parse::ast::VariableSetStmt;
use pgerror::{PgError, Result};
use std::sync::Arc;
use std::time::Duration;

/// Lent by the session while a command runs. Analysis, expressions and plans get the session
/// through their own traits.
pub trait CommandHost: analyze::Host {
    /// As `lock_relation`; false instead of waiting.
    fn try_lock_relation(&mut self, relation: Oid, mode: i32) -> Result<bool>;

    /// Storage, for the current transaction.
    fn backend(&mut self) -> &mut Backend;

    /// Facts by which expressions are compiled.
    fn facts(&mut self) -> &mut dyn eval::Facts;

    /// Surroundings in which expressions run.
    fn expressions(&mut self) -> &mut dyn eval::Host;

    /// Surroundings in which plans run.
    fn services(&mut self) -> &mut dyn executor::Services;

    fn planner(&mut self) -> &mut dyn planner::PlannerFacts;

    /// Sends a notice to the client.
    fn notice(&mut self, notice: PgError);

    /// The present value of a setting, as SHOW prints it; empty where there is none.
    fn setting(&mut self, name: &str) -> String;

    /// The client's side of COPY FROM STDIN and TO STDOUT.
    fn transport(&mut self) -> Result<&mut dyn CopyTransport>;

    /// Are there portals from which rows can still be fetched?
    fn has_ready_portals(&self) -> bool;

    /// Is a transaction block open, or is the statement one of several of a simple query?
    fn in_transaction_block(&self) -> bool;

    /// Would a commit also end what other statements have done: those of a block, or of the same
    /// pipeline?
    fn shares_transaction(&self) -> bool;

    /// 25001 where a commit would end more than this statement, which `what` names; else the
    /// transaction is committed as soon as the statement has ended. Counterpart:
    /// `PreventInTransactionBlock`.
    fn prevent_in_transaction_block(&mut self, what: &str) -> Result<()>;

    /// Must the transaction not write?
    fn read_only(&self) -> bool;

    /// 55006 where a command cannot have the relation because the session itself is at work on it:
    /// it has open cursors there, or checks that wait. `what` is the command.
    fn check_not_in_use(&mut self, relation: Oid, name: &str, what: &str) -> Result<()>;

    /// Commits, publishes, and begins a transaction of the same kind: for commands that use
    /// several.
    fn next_transaction(&mut self) -> Result<()>;

    /// An immediate, complete checkpoint.
    fn checkpoint(&mut self) -> Result<()>;

    /// The server's storage, for what concerns whole databases.
    fn engine(&mut self) -> Arc<Engine>;

    /// The value that a SET clause gives to its parameter, checked; nothing for DEFAULT and RESET.
    fn setting_value(&mut self, stmt: &VariableSetStmt) -> Result<Option<String>>;

    /// Does the work with the rights of a role that owns what it evaluates, so that functions of
    /// that role's get no others. Settings that they change are put back; roles cannot be changed.
    /// Counterpart: SECURITY_RESTRICTED_OPERATION.
    fn as_owner(
        &mut self,
        owner: Oid,
        work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<()>,
    ) -> Result<()>;

    /// Does the work under these settings, as a function's SET clauses give them.
    fn with_settings(
        &mut self,
        settings: &[(String, Option<String>)],
        work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<()>,
    ) -> Result<()>;

    /// A parameter's name as catalogs keep it.
    fn setting_name(&mut self, name: &str) -> String;

    /// Sleeps, unless interrupted.
    fn pause(&mut self, span: Duration) -> Result<()>;

    /// Does the server know a locale of this name?
    fn locale_exists(&mut self, name: &str) -> bool;

    /// `pg_class` of another database, by that one's own catalogs.
    fn classes_of(&mut self, database: DbKey) -> Result<Vec<PgClass>>;

    /// Asks the sessions of a database to end. 42501 if the user may not.
    fn terminate_sessions(&mut self, database: Oid) -> Result<()>;

    /// Asks the server's own sessions in a database to end: what they do can be done again.
    fn terminate_workers(&mut self, database: Oid) {
        let _ = database;
    }

    /// A database is gone, or its files are elsewhere: caches of its catalogs go too.
    fn forget_database(&mut self, database: Oid);

    /// Do all rows of the referencing table have their referenced ones? 23503 otherwise.
    fn validate_foreign_key(&mut self, constraint: Oid) -> Result<()>;

    /// Is there a built-in function of this name (`prosrc`)?
    fn builtin_exists(&mut self, name: &str) -> bool;

    /// When a transaction commits, the temporary table is emptied, or goes.
    fn on_commit(&mut self, table: Oid, drop: bool);

    /// The form in which a password is kept (`password_encryption`).
    fn password_verifier(&mut self, role: &str, password: &str) -> Result<String> {
        let _ = (role, password);
        Err(PgError::unsupported("passwords"))
    }

    /// Is it a secret whose password is the empty one?
    fn is_empty_password(&mut self, role: &str, secret: &str) -> bool {
        let _ = (role, secret);
        false
    }

    /// Settings that bear on plans and differ from their defaults, by name (EXPLAIN's SETTINGS).
    fn explain_settings(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Works off what the statement has left for its end (foreign keys, triggers).
    fn fire_triggers(&mut self) -> Result<Vec<TriggerFigures>> {
        Ok(Vec::new())
    }

    /// The session's temporary schemas have been made, or cleared: nothing to do for most.
    fn temp_schema_made(&mut self, schema: Oid, toast: Oid);
}

/// The bytes of a COPY between server and client.
pub trait CopyTransport {
    /// Tells the client to send; called before the first [`CopyTransport::read`].
    fn begin_in(&mut self, binary: bool, columns: usize) -> Result<()>;

    /// Appends what the client sends next; false at its end. An error if the client gives up.
    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool>;

    /// Tells the client that rows come.
    fn begin_out(&mut self, binary: bool, columns: usize) -> Result<()>;

    /// Sends one row, its line end included.
    fn write(&mut self, row: &[u8]) -> Result<()>;

    fn end_out(&mut self) -> Result<()>;
}

/// The host as storage sees it that reads a table for it.
pub(crate) struct Owner<'h>(pub &'h mut dyn CommandHost);

impl engine::index::Owner for Owner<'_> {
    fn backend(&mut self) -> &mut Backend {
        self.0.backend()
    }
}

/// A notice with its SQLSTATE.
pub(crate) fn notice(error: PgError) -> PgError {
    error.severity(pgerror::Severity::Notice)
}
