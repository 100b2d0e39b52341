//! The keys of row versions, read back when a trigger fires.

use crate::call::TriggerCall;
use engine::table::{self, RowFetch};
use engine::{Backend, Snapshot, SnapshotKind, TableDesc};
use ids::{AttrNo, Oid, Tid};
use pgerror::Result;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};

/// Reads the key columns of a trigger's table.
pub(crate) struct KeyReader {
    trigger: Oid,
    table: Arc<TableDesc>,
    fetch: RowFetch,
    batch: Batch,
}

impl KeyReader {
    pub(crate) fn new(call: &TriggerCall<'_>) -> Result<KeyReader> {
        KeyReader::of_columns(call.trigger.oid, &call.rel.table, &call.trigger.key)
    }

    /// A reader of these columns of a table.
    pub(crate) fn of_columns(
        trigger: Oid,
        table: &Arc<TableDesc>,
        columns: &[AttrNo],
    ) -> Result<KeyReader> {
        Ok(KeyReader {
            trigger,
            table: table.clone(),
            fetch: RowFetch::new(table, columns)?,
            batch: table::new_batch(table, columns),
        })
    }

    /// The key of the version at `tid`; `None` if the snapshot does not see it.
    pub(crate) fn read(
        &mut self,
        be: &mut Backend,
        tid: Tid,
        snapshot: SnapshotKind,
    ) -> Result<Option<Arc<[Datum]>>> {
        self.batch.clear();
        let snapshot = Snapshot::of_kind(snapshot);
        let seen = self.fetch.fetch(be, tid, &snapshot, &mut self.batch)?;
        Ok(seen.then(|| self.batch.row(0).map(DatumRef::to_owned).collect()))
    }
}

/// Readers that the next events of the same triggers use again.
#[derive(Default)]
pub(crate) struct KeyReaders(Vec<KeyReader>);

impl KeyReaders {
    /// Largest number of readers that are kept.
    const READERS_MAX: usize = 16;
    /// Largest size in bytes of the values with which a reader is kept.
    const KEPT_BYTES_MAX: usize = 16 * 1024;

    /// The reader of a trigger, unless there is none or its table has changed.
    pub(crate) fn take(&mut self, call: &TriggerCall<'_>) -> Option<KeyReader> {
        let is_of = |r: &KeyReader| r.trigger == call.trigger.oid;
        let reader = self.0.swap_remove(self.0.iter().rposition(is_of)?);
        Arc::ptr_eq(&reader.table, &call.rel.table).then_some(reader)
    }

    /// Keeps a reader.
    pub(crate) fn put(&mut self, reader: KeyReader) {
        if reader.batch.memory() > Self::KEPT_BYTES_MAX {
            return;
        }
        if self.0.len() == Self::READERS_MAX {
            self.0.clear();
        }
        self.0.push(reader);
    }
}
