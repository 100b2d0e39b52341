//! The trigger manager: the queue of row events, the modes of deferrable constraints, and the calls
//! of trigger functions. Foreign keys and deferrable unique constraints are trigger functions like
//! others, found through their rows of `pg_trigger`.
//!
//! Before a statement and before each row, triggers are called at once ([`statement_event`],
//! [`before_row`]). A changed row queues an event for each trigger that it concerns ([`row_event`]). At the end of
//! the statement the triggers fire ([`after_statement`]); those of deferred constraints before the
//! commit ([`before_commit`]).
//!
//! Reading order: `descriptor`, `queue`, `fire`, `registry` (functions), `ri` (foreign keys),
//! `unique`, `stats` (EXPLAIN ANALYZE).
//!
//! Counterpart: commands/trigger.c.

#![forbid(unsafe_code)]

mod descriptor;
mod fire;
mod queue;
mod registry;
mod ri;
mod stats;
mod unique;

pub use descriptor::describe;
pub use fire::{
    after_statement, after_statement_counted, before_commit, before_row, row_event,
    set_constraints, start_counting, statement_event,
};
pub use queue::TriggerManager;
pub use registry::{TriggerCall, TriggerFunction};
pub use ri::validate as validate_foreign_key;
pub use stats::TriggerStats;

use executor::Services;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::PlannedStmt;
use std::sync::Arc;

/// What the trigger manager needs of the session.
pub trait TriggerHost: Services + analyze::Host {
    /// The session's trigger manager.
    fn triggers(&mut self) -> &mut TriggerManager;

    /// Is `session_replication_role` set to replica?
    fn is_replica(&self) -> bool;

    /// The generic plan of a query of the server itself, with these parameter types.
    fn plan_internal(&mut self, sql: &str, param_types: &[Oid]) -> Result<Arc<PlannedStmt>>;

    /// Runs `work` with the privileges of the owner of a table.
    fn as_definer(
        &mut self,
        owner: Oid,
        work: &mut dyn FnMut(&mut dyn TriggerHost) -> Result<()>,
    ) -> Result<()>;
}

/// The error for a constraint without a row in `pg_constraint`.
fn no_constraint(oid: Oid) -> PgError {
    PgError::internal(format!("cache lookup failed for constraint {oid}"))
}
