//! What commands ask of the session that runs them.

use engine::Backend;
use ids::Oid;
use pgerror::{PgError, Result};

/// Lent by the session while a command runs. Analysis, expressions and plans get the session through
/// their own traits.
pub trait CommandHost: analyze::Host {
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

    /// Is a transaction block open, or does the statement share its transaction with others?
    fn in_transaction_block(&self) -> bool;

    /// Commits, publishes, and begins a transaction of the same kind: for commands that use several.
    fn next_transaction(&mut self) -> Result<()>;

    /// An immediate, complete checkpoint.
    fn checkpoint(&mut self) -> Result<()>;

    /// The form in which a password is kept (`password_encryption`).
    fn password_verifier(&mut self, password: &str) -> Result<String> {
        let _ = password;
        Err(PgError::unsupported("passwords"))
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

/// A notice with its SQLSTATE.
pub(crate) fn notice(error: PgError) -> PgError {
    error.severity(pgerror::Severity::Notice)
}
