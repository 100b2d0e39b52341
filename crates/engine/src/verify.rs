//! Verification of a table with its indexes: the heap's pages, each index's tree, and that both
//! have the same rows. The table must not change meanwhile.
//!
//! Counterpart: amcheck (`verify_heapam`, `bt_index_parent_check` with `heapallindexed`).

use crate::index::{Direction, IndexScan, IndexScanOptions};
use crate::table::{self, ScanOptions, TableScan, system};
use crate::{Backend, IndexDesc, TableDesc};
use hashbrown::HashSet;
use heap::verify::Bounds;
use ids::{BlockNo, MultiXid, OffsetNo, Tid, Xid};
use pgerror::{PgError, Result, pg_err};
use sync::Arc;
use types::BATCH_ROWS_MAX;
use types::system::tid_of;

/// Faults in the heap, by block and line pointer (0: the page). `rel_frozen_xid` and
/// `rel_min_mxid` are those of `pg_class`.
pub fn heap_faults(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    rel_frozen_xid: Xid,
    rel_min_mxid: MultiXid,
) -> Result<Vec<(BlockNo, OffsetNo, String)>> {
    let txns = be.storage().txns.clone();
    let bounds = Bounds {
        relfrozenxid: rel_frozen_xid,
        relminmxid: rel_min_mxid,
        next_xid: txns.next_full_xid().xid(),
        next_multi: txns.next_multixact(),
    };
    let rel = table.heap(be);
    let mut cx = be.heap_cx(table.persistence);
    let faults = heap::verify::verify(&mut cx, rel, table.deformer(), &bounds)?;
    Ok(faults.into_iter().map(|f| (f.block, f.offset, f.message)).collect())
}

/// Checks the index's structure, and that an index scan finds each visible row once (so the index
/// must not be partial). Returns the number of entries. Error: XX002, which describes the fault.
pub fn check_index(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    index: &Arc<IndexDesc>,
) -> Result<u64> {
    let handle = index.open(be)?;
    let mut entries: HashSet<Tid> = HashSet::new();
    let count = handle.verify(&mut be.index_cx(index.persistence()), &mut |tid| {
        if !entries.insert(tid) {
            return Err(fault(index, &format!("heap tuple {tid} has two entries")));
        }
        Ok(())
    })?;
    let rows = rows_by_heap(be, table)?;
    let mut found: HashSet<Tid> = HashSet::new();
    let columns = [system::CTID];
    let snapshot = be.snapshot();
    let options = IndexScanOptions::default();
    let mut scan = IndexScan::new(be, table, index, snapshot, vec![], &columns, options)?;
    let mut batch = table::new_batch(table, &columns);
    while scan.next_batch(be, Direction::Forward, &mut batch, BATCH_ROWS_MAX)? {
        for row in 0..batch.len {
            let tid = tid_of(batch.get(row, 0));
            if !rows.contains(&tid) || !found.insert(tid) {
                return Err(fault(index, &format!("heap tuple {tid} is found wrongly or twice")));
            }
        }
        batch.clear();
    }
    scan.end(be)?;
    match rows.difference(&found).next() {
        None => Ok(count),
        Some(tid) => Err(fault(index, &format!("heap tuple {tid} lacks matching index tuple"))),
    }
}

#[cold]
fn fault(index: &IndexDesc, what: &str) -> PgError {
    let (table, name) = (&index.def.table_name, index.name());
    pg_err!(INDEX_CORRUPTED, "{what} from table \"{table}\" within index \"{name}\"")
}

fn rows_by_heap(be: &mut Backend, table: &Arc<TableDesc>) -> Result<HashSet<Tid>> {
    let columns = [system::CTID];
    let snapshot = be.snapshot();
    let mut scan = TableScan::new(be, table, snapshot, &columns, ScanOptions::default())?;
    let mut batch = table::new_batch(table, &columns);
    let mut rows = HashSet::new();
    while scan.next_batch(be, &mut batch, BATCH_ROWS_MAX)? {
        rows.extend((0..batch.len).map(|row| tid_of(batch.get(row, 0))));
        batch.clear();
    }
    Ok(rows)
}
