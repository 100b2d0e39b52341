//! The cached bodies of SQL functions.

use crate::plancache::{Locks, Parked, Statement};
use analyze::function::{Column, ResultForm};
use hashbrown::HashMap;
use ids::Oid;
use parse::RawStmt;
use plan::PlannedStmt;
use plan::query::CmdType;
use std::sync::Arc;

/// Maximum number of cached bodies.
const BODIES_MAX: usize = 500;

/// A planned body.
pub(crate) struct Body {
    pub generation: u64,
    pub environment: u64,
    pub user: Oid,
    /// The name of the function, for contexts.
    pub name: Arc<str>,
    pub steps: Vec<Step>,
    pub form: ResultForm,
    /// The result type, and types and names of the fields of a composite result.
    pub result: Oid,
    pub types: Vec<Oid>,
    pub names: Vec<String>,
}

/// A statement of a body.
pub(crate) enum Step {
    Query(Planned),
    Utility(Command),
}

/// A utility statement of a body.
pub(crate) struct Command {
    pub raw: RawStmt,
    /// The query of CREATE TABLE AS or DECLARE CURSOR.
    pub query: Option<Arc<Statement>>,
    /// The types of the function's arguments.
    pub types: Box<[ids::Oid]>,
}

/// A planned query of a body.
pub(crate) struct Planned {
    pub plan: Arc<PlannedStmt>,
    pub locks: Locks,
    /// The statement only reads and nothing in it is volatile, so rows may be computed before they
    /// are needed.
    pub reads_ahead: bool,
    /// The execution of the last call.
    pub parked: Parked,
}

impl Step {
    /// The planned query, if it is a plain one, which may stop before its end. A statement that
    /// writes must run to its end.
    pub(super) fn stoppable(&self) -> Option<&Planned> {
        match self {
            Step::Query(query) if query.may_stop() => Some(query),
            _ => None,
        }
    }
}

impl Planned {
    fn may_stop(&self) -> bool {
        self.plan.command_type == CmdType::Select && !self.plan.has_modifying_cte
    }
}

/// The function and the collation of the call, its argument types, and the types of the column
/// definition list of the call.
pub(super) type Key = ((Oid, Oid), Vec<Oid>, Vec<Column>);

/// The cached bodies of a session.
#[derive(Default)]
pub(crate) struct Bodies {
    run: HashMap<Key, Arc<Body>>,
    inlined: HashMap<(Oid, Vec<Oid>), Inlined>,
}

impl Bodies {
    pub(super) fn find(&self, key: &Key) -> Option<Arc<Body>> {
        self.run.get(key).cloned()
    }

    pub(super) fn keep(&mut self, key: Key, body: Arc<Body>) {
        if self.run.len() >= BODIES_MAX {
            self.run.clear();
        }
        self.run.insert(key, body);
    }

    pub(super) fn find_inlined(&self, key: &(Oid, Vec<Oid>)) -> Option<&Inlined> {
        self.inlined.get(key)
    }

    pub(super) fn keep_inlined(&mut self, key: (Oid, Vec<Oid>), inlined: Inlined) {
        if self.inlined.len() >= BODIES_MAX {
            self.inlined.clear();
        }
        self.inlined.insert(key, inlined);
    }
}

/// The inlined expression of a function, if it can be inlined, and the catalog state for which it
/// is valid.
pub(super) struct Inlined {
    pub generation: u64,
    pub environment: u64,
    pub expr: Option<Arc<eval::Inline>>,
}
