//! The identity of a relation fork, and the paths of its files.

use ids::{BackendNo, Fork, RelFile};
use std::fmt;

/// A fork of a relation; `backend` for temporary relations. Counterpart: `SMgrRelation` + fork.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RelFork {
    pub rel: RelFile,
    pub backend: Option<BackendNo>,
    pub fork: Fork,
}

impl RelFork {
    pub const fn new(rel: RelFile, fork: Fork) -> RelFork {
        RelFork { rel, backend: None, fork }
    }

    pub const fn temporary(rel: RelFile, backend: BackendNo, fork: Fork) -> RelFork {
        RelFork { rel, backend: Some(backend), fork }
    }

    /// Another fork of the same relation.
    pub const fn with_fork(self, fork: Fork) -> RelFork {
        RelFork { fork, ..self }
    }

    /// Path of the first segment, by which messages name the relation.
    pub fn path(&self) -> String {
        self.rel.path(self.fork, self.backend)
    }

    /// Path of the `n`th segment, from 0.
    pub fn segment_path(&self, n: u32) -> String {
        if n == 0 { self.path() } else { format!("{}.{n}", self.path()) }
    }
}

impl fmt::Display for RelFork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}
