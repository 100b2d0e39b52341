//! The compiled functions that a session keeps.

use catalog::Row;
use catalog::rows::PgProc;
use hashbrown::HashMap;
use ids::Oid;
use plpgsql::Code;
use std::sync::Arc;
use types::fn_context::RowDesc;

/// Maximum number of compiled functions.
pub(super) const CODES_MAX: usize = 1000;

/// What the compilation of a function depends on besides its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct CallSite {
    /// The type of the result.
    pub(super) result: Oid,
    /// The invalid OID for none.
    pub(super) collation: Oid,
    /// The trigger that calls the function: the columns of its table and its transition tables.
    pub(super) trigger: Oid,
}

/// A function, the types of its arguments (none if they are as declared), and the rest.
pub(super) type Key = (Oid, Vec<Oid>, CallSite);

/// A compiled function, valid for its row of `pg_proc`.
pub(super) struct Compiled {
    pub(super) row: Row<PgProc>,
    pub(super) code: Arc<Code>,
    /// The catalog generation for which it is valid, if it has variables of types that can change.
    pub(super) generation: Option<u64>,
}

/// Compiled functions.
#[derive(Default)]
pub(crate) struct Codes(pub(super) HashMap<Key, Compiled>);

impl Codes {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The code of a function and the structure of its result, if it is known and composite.
pub(crate) struct Callable {
    pub(super) code: Arc<Code>,
    pub(super) row: Option<Arc<RowDesc>>,
}
