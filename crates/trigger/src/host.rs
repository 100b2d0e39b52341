//! What the trigger manager needs of the session.

use crate::call::TriggerCall;
use crate::event::{CommandEvent, ObjectIdentity};
use crate::queue::TriggerManager;
use catalog::ObjectAddress;
use executor::spi::QueryHost;
use executor::{BeforeRowResult, Services};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::PlannedStmt;
use std::sync::Arc;

/// What the trigger manager needs of the session.
pub trait TriggerHost: Services + analyze::Host {
    /// The session's trigger manager.
    fn triggers(&mut self) -> &mut TriggerManager;

    /// The context in which conditions are evaluated.
    fn expressions(&mut self) -> &mut dyn eval::Host;

    /// True if `session_replication_role` is set to replica.
    fn is_replica(&self) -> bool;

    /// The generic plan of a query of the server itself, with these parameter types.
    fn plan_internal(&mut self, sql: &str, param_types: &[Oid]) -> Result<Arc<PlannedStmt>>;

    /// Adds a query to the contexts of notices; returns the level for [`Self::leave_query`].
    fn enter_query(&mut self, text: &Arc<str>) -> usize;

    /// Removes the contexts from this level on.
    fn leave_query(&mut self, level: usize);

    /// Calls a trigger function other than those of constraints, in its language.
    fn call_trigger(&mut self, call: &TriggerCall<'_>) -> Result<BeforeRowResult>;

    /// Calls a function as event trigger, in its language. `tag`: that of the command.
    fn call_event_trigger(
        &mut self,
        function: Oid,
        event: CommandEvent,
        tag: &'static str,
    ) -> Result<()>;

    /// The kind and identity of an object, as `pg_identify_object` returns them.
    fn identify(&mut self, object: ObjectAddress) -> Result<ObjectIdentity>;

    /// Runs `work` with the privileges of the owner of a table.
    fn as_definer(
        &mut self,
        owner: Oid,
        work: &mut dyn FnMut(&mut dyn TriggerHost) -> Result<()>,
    ) -> Result<()>;
}

impl QueryHost for dyn TriggerHost + '_ {
    fn services(&mut self) -> &mut dyn Services {
        self
    }

    fn increment_command_counter(&mut self) -> Result<()> {
        self.catalog().increment_command_counter()
    }
}

/// The error for a constraint without a row in `pg_constraint`.
pub(crate) fn no_constraint(oid: Oid) -> PgError {
    PgError::internal(format!("cache lookup failed for constraint {oid}"))
}
