//! To analysis.

use crate::core::Core;
use catalog::CatCx;
use ids::Oid;
use pgerror::Result;
use types::FnContext;

impl analyze::Host for Core {
    fn catalog(&mut self) -> CatCx<'_> {
        self.cat()
    }

    fn functions(&mut self) -> &mut dyn FnContext {
        self
    }

    fn lock_relation(&mut self, relation: Oid, mode: i32) -> Result<()> {
        Core::lock_relation(self, relation, mode)
    }

    fn database_name(&mut self) -> Result<String> {
        Ok(self.database_name.clone())
    }
}
