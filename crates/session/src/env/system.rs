//! The implementation of the traits of system functions.

use crate::core::Core;
use catalog::CatSession;
use sysfn::SystemHost;
use sysfn::sequence::Sequences;

impl SystemHost for Core {
    fn catalog_session(&self) -> &CatSession {
        &self.catalog
    }

    fn setting(&self, name: &str) -> String {
        self.store.named(name).as_text().to_owned()
    }

    fn sequences(&mut self) -> &mut Sequences {
        &mut self.sequences
    }

    fn is_read_only(&self) -> bool {
        self.transaction.mode.read_only
    }

    fn log(&self, message: &str) {
        Core::log(self, message);
    }
}
