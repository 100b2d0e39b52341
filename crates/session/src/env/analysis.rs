//! The implementation of the traits of crate `analyze`.

use crate::state::State;
use analyze::{OperatorCache, TransitionTable};
use catalog::CatCx;
use ids::Oid;
use pgerror::Result;
use plan::Query;
use types::FnContext;

impl analyze::Host for State {
    fn catalog(&mut self) -> CatCx<'_> {
        self.cat()
    }

    fn functions(&mut self) -> &mut dyn FnContext {
        self
    }

    fn lock_relation(&mut self, relation: Oid, mode: i32) -> Result<()> {
        State::lock_relation(self, relation, mode)
    }

    fn database_name(&mut self) -> Result<String> {
        Ok(self.database_name.clone())
    }

    fn identify_statement(&mut self, query: &mut Query, sql: &str) {
        self.identify_query(query, sql, false);
    }

    fn views_are_restricted(&mut self) -> bool {
        let registry = &self.store.base().registry;
        let Some(id) = registry.find("restrict_nonsystem_relation_kind") else { return false };
        match self.store.value(id) {
            settings::Value::Text(kinds) => {
                settings::words(kinds).any(|kind| kind.eq_ignore_ascii_case("view"))
            }
            _ => false,
        }
    }

    fn transition_table(&mut self, name: &str) -> Option<TransitionTable> {
        let mut tables = self.calls.transitions.iter();
        let table = tables.find(|table| *table.name == *name)?;
        Some(TransitionTable { relid: table.relation, rows: table.rows.rows() })
    }

    fn transform_null_equals(&mut self) -> bool {
        self.store.named("transform_null_equals").as_bool()
    }

    fn operator_cache(&mut self) -> Option<&mut OperatorCache> {
        let state = self.catalog.catalog_state();
        let path = self.catalog.search_path();
        if self.caches.operators_at.0 != state || self.caches.operators_at.1 != path {
            self.caches.operators.clear();
            self.caches.operators_at = (state, path.to_string());
        }
        Some(&mut self.caches.operators)
    }
}
