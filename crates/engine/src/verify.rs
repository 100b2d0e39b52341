//! Verification of a table with its indexes: the pages of the heap, the tree of each index, and
//! that both contain the same rows. The table must not change meanwhile.
//!
//! Counterpart: amcheck (`verify_heapam`, `bt_index_parent_check` with `heapallindexed`).

use crate::backend::Backend;
use crate::desc::{IndexDesc, TableDesc};
use crate::index::{Direction, IndexScan, IndexScanOptions, ScanKey};
use crate::table::{self, ScanOptions, TableScan, system};
use hashbrown::HashSet;
use heap::verify::Bounds;
use ids::{BlockNo, MultiXid, OffsetNo, Tid, Xid};
use pgerror::{PgError, Result, pg_err};
use sync::Arc;
use types::system::tid_of;
use types::{BATCH_ROWS_MAX, DatumRef};

/// Errors in the heap, by block and line pointer (0 for the page). `rel_frozen_xid` and
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

/// Checks the structure of the index; returns the number of entries. Error XX002 describes an
/// inconsistency.
pub fn check_structure(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<u64> {
    let handle = index.open(be)?;
    handle.verify(&mut be.index_cx(index.persistence()), &mut |_| Ok(()))
}

/// Checks the structure of the index, and that an index scan finds each visible row once, so the
/// index must not be partial. If the method cannot scan a whole index, each row is looked up by its
/// key. Returns the number of entries. Error XX002 describes the inconsistency.
pub fn check_index(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    index: &Arc<IndexDesc>,
) -> Result<u64> {
    let handle = index.open(be)?;
    // Methods for bitmaps only may have several entries of a row.
    let repeats = !index.capabilities().plain_scan;
    let mut entries: HashSet<Tid> = HashSet::new();
    let count = handle.verify(&mut be.index_cx(index.persistence()), &mut |tid| {
        if !entries.insert(tid) && !repeats {
            return Err(fault(index, &format!("heap tuple {tid} has two entries")));
        }
        Ok(())
    })?;
    if !index.capabilities().optional_key {
        check_keys(be, table, index)?;
        return Ok(count);
    }
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
            let is_new = found.insert(tid);
            if !rows.contains(&tid) || !is_new && !repeats {
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

/// Looks up each visible row by its key. An index with expressions is not checked in this way.
fn check_keys(be: &mut Backend, table: &Arc<TableDesc>, index: &Arc<IndexDesc>) -> Result<()> {
    let Some(&column) = index.columns.first().filter(|column| **column != 0) else {
        return Ok(());
    };
    let columns = [system::CTID, column];
    let snapshot = be.snapshot();
    let mut scan = TableScan::new(be, table, snapshot, &columns, ScanOptions::default())?;
    let mut batch = table::new_batch(table, &columns);
    while scan.next_batch(be, &mut batch, BATCH_ROWS_MAX)? {
        for row in 0..batch.len {
            let (tid, value) = (tid_of(batch.get(row, 0)), batch.get(row, 1));
            if !value.is_null() && !is_found(be, table, index, value, tid)? {
                let what = format!("heap tuple {tid} lacks matching index tuple");
                return Err(fault(index, &what));
            }
        }
        batch.clear();
    }
    Ok(())
}

/// True if a scan for the value finds the row at `tid`.
fn is_found(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    index: &Arc<IndexDesc>,
    value: DatumRef<'_>,
    tid: Tid,
) -> Result<bool> {
    let equality = index.capabilities().equality;
    let keys = vec![ScanKey::compare(0, equality, value.to_owned())];
    let columns = [system::CTID];
    let (snapshot, options) = (be.snapshot(), IndexScanOptions::default());
    let mut scan = IndexScan::new(be, table, index, snapshot, keys, &columns, options)?;
    let mut batch = table::new_batch(table, &columns);
    let mut found = false;
    while scan.next_batch(be, Direction::Forward, &mut batch, BATCH_ROWS_MAX)? {
        found |= (0..batch.len).any(|row| tid_of(batch.get(row, 0)) == tid);
        batch.clear();
    }
    scan.end(be)?;
    Ok(found)
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
