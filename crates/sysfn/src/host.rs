//! The interface that system functions require of the session.

use crate::sequence::Sequences;
use catalog::CatSession;
use executor::Services;
use pgerror::Result;
use plan::PlannedStmt;
use std::sync::Arc;
use types::Datum;
use utility::host::CommandHost;

/// The session, as system functions see it.
pub trait SystemHost: Services + analyze::Host {
    /// Roles, temporary schemas and database of the session.
    fn catalog_session(&self) -> &CatSession;

    /// The commands for which event triggers fire.
    fn running_commands(&mut self) -> &mut trigger::RunningCommands;

    /// Creates the session's temporary schema, or opens an existing one. Does nothing if it has
    /// objects of a session that ended in a crash: the first statement that creates an object
    /// there removes them.
    fn open_temp_schema(&mut self) -> Result<()>;

    /// The value of a setting that exists, as SHOW prints it.
    fn setting(&self, name: &str) -> String;

    /// The sequences that the session has used.
    fn sequences(&mut self) -> &mut Sequences;

    /// The large objects that the transaction has opened.
    fn large_objects(&mut self) -> &mut largeobject::Descriptors;

    /// Runs `work` with the interface of utility statements.
    fn as_command(
        &mut self,
        work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<()>,
    ) -> Result<()>;

    /// The text search dictionaries and configurations that the session has used.
    fn search_cache(&mut self) -> &mut dictionaries::Cache;

    /// True if the transaction is read-only.
    fn is_read_only(&self) -> bool;

    /// The plans of the queries of a text.
    fn plan_queries(&mut self, sql: &str) -> Result<Vec<Arc<PlannedStmt>>>;

    /// Runs a plan as a statement of its own inside the present one; its rows.
    fn run_plan(&mut self, plan: Arc<PlannedStmt>) -> Result<Vec<Vec<Datum>>>;

    /// Writes a line of the session to the server log.
    fn log(&self, message: &str);
}
