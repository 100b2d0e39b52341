//! Exported snapshots: `pg_export_snapshot()` and SET TRANSACTION SNAPSHOT, by which several
//! connections of a dump use the same snapshot. The list is in memory, whereas PostgreSQL uses
//! files.
//!
//! INVARIANT: the transaction of a listed snapshot is still running, so that the rows which are
//! visible to the snapshot cannot be removed. A snapshot is removed from the list before its
//! transaction ends, and imported while the list is locked.
//!
//! Counterpart: utils/time/snapmgr.c (`ExportSnapshot`, `ImportSnapshot`).

pub(crate) mod transfer;

use engine::Isolation;
use ids::Oid;
use std::collections::HashMap;
use std::sync::Arc;
use sync::Mutex;
use txn::Snapshot;

/// The exported snapshots of all sessions, by name.
pub(crate) type List = Mutex<HashMap<String, Exported>>;

pub(crate) struct Exported {
    snapshot: Arc<Snapshot>,
    database: Oid,
    isolation: Isolation,
    read_only: bool,
}

/// The exported snapshots of a transaction. They are removed from the list when this is dropped.
pub(crate) struct Exports {
    list: Arc<List>,
    names: Vec<String>,
}

impl Drop for Exports {
    fn drop(&mut self) {
        let mut list = self.list.lock();
        self.names.iter().for_each(|name| {
            list.remove(name);
        });
    }
}
