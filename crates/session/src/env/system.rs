//! The implementation of the traits of system functions.

use crate::nested::Nested;
use crate::state::State;
use catalog::CatSession;
use executor::spi;
use pgerror::Result;
use plan::PlannedStmt;
use std::sync::Arc;
use sysfn::SystemHost;
use sysfn::sequence::Sequences;
use types::Datum;
use utility::host::CommandHost;

impl SystemHost for State {
    fn catalog_session(&self) -> &CatSession {
        &self.catalog
    }

    fn running_commands(&mut self) -> &mut trigger::RunningCommands {
        &mut self.triggers.commands
    }

    fn open_temp_schema(&mut self) -> Result<()> {
        self.backend.note_temp_access();
        self.backend.ensure_temp_pool()?;
        let (database, number) = (self.backend.database(), self.backend.backend_no().0);
        let opened = self.cat().open_temp_schemas(database, number)?;
        if !opened.has_leftovers {
            self.use_temp_schema(opened.schema, opened.toast);
        }
        Ok(())
    }

    fn setting(&self, name: &str) -> String {
        self.store.show(name).unwrap_or_default()
    }

    fn sequences(&mut self) -> &mut Sequences {
        &mut self.sequences
    }

    fn large_objects(&mut self) -> &mut largeobject::Descriptors {
        &mut self.transaction.large_objects
    }

    fn as_command(
        &mut self,
        work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<()>,
    ) -> Result<()> {
        work(&mut Nested::new(self))
    }

    fn search_cache(&mut self) -> &mut dictionaries::Cache {
        &mut self.caches.search
    }

    fn is_read_only(&self) -> bool {
        self.transaction.mode.read_only
    }

    fn plan_queries(&mut self, sql: &str) -> Result<Vec<Arc<PlannedStmt>>> {
        crate::query::plan_text(self, sql, &[])
    }

    fn run_plan(&mut self, plan: Arc<PlannedStmt>) -> Result<Vec<Vec<Datum>>> {
        crate::query::run_nested(self, spi::Query::new(plan, Arc::from([])))
    }

    fn log(&self, message: &str) {
        State::log(self, message);
    }
}
