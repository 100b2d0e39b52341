//! The trigger manager's access to the session.

use crate::state::State;
use crate::{function, query};
use catalog::ObjectAddress;
use executor::BeforeRowResult;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::PlannedStmt;
use std::sync::Arc;
use trigger::{CommandEvent, ObjectIdentity, TriggerCall, TriggerHost, TriggerManager};

impl TriggerHost for State {
    fn triggers(&mut self) -> &mut TriggerManager {
        &mut self.triggers
    }

    fn expressions(&mut self) -> &mut dyn eval::Host {
        self
    }

    fn is_replica(&self) -> bool {
        self.values.resolved.is_replica
    }

    fn plan_internal(&mut self, sql: &str, param_types: &[Oid]) -> Result<Arc<PlannedStmt>> {
        // Parameter values are removed, so that the plan is generic.
        let saved = std::mem::replace(&mut self.params, Arc::from([]));
        self.caches.planning.of_constraint = true;
        let plans = query::plan_text(self, sql, param_types);
        self.caches.planning.of_constraint = false;
        self.params = saved;
        plans?.pop().ok_or_else(|| PgError::internal("empty internal query"))
    }

    fn enter_query(&mut self, text: &Arc<str>) -> usize {
        self.calls.contexts.push_query(text.clone())
    }

    fn leave_query(&mut self, level: usize) {
        self.calls.contexts.truncate(level);
    }

    fn call_trigger(&mut self, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
        function::call_trigger(self, call)
    }

    fn call_event_trigger(
        &mut self,
        function: Oid,
        event: CommandEvent,
        tag: &'static str,
    ) -> Result<()> {
        function::call_event_trigger(self, function, event.name(), tag)
    }

    fn identify(&mut self, object: ObjectAddress) -> Result<ObjectIdentity> {
        sysfn::identify(self, object)
    }

    fn as_definer(
        &mut self,
        owner: Oid,
        work: &mut dyn FnMut(&mut dyn TriggerHost) -> Result<()>,
    ) -> Result<()> {
        let before = self.switch_to_definer(owner)?;
        let result = work(self);
        self.restore_role(before);
        result
    }
}

impl State {
    /// Fires the triggers of the running statement.
    #[inline]
    pub fn after_statement(&mut self) -> Result<()> {
        match self.triggers.is_idle() {
            true => Ok(()),
            false => trigger::after_statement(self),
        }
    }

    /// The constraints of that name in the first schema of the search path that has any.
    pub(crate) fn constraints_named(
        &mut self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Vec<Oid>> {
        let mut cat = self.cat();
        let schemas = match schema {
            Some(schema) => vec![cat.namespace(schema)?],
            None => cat.search_path()?.schemas.to_vec(),
        };
        for schema in schemas {
            let index = catalog::rows::indexes::PG_CONSTRAINT_CONNAME_NSP_INDEX;
            let rows = cat.scan(index, &[name.into(), schema.into()])?;
            if !rows.is_empty() {
                return Ok(rows.iter().map(|r| r.oid).collect());
            }
        }
        Err(pg_err!(UNDEFINED_OBJECT, "constraint \"{name}\" does not exist"))
    }
}
