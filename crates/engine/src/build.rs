//! Building an index from a table's rows: read, sort, load.
//!
//! All versions that some snapshot may still see get an entry, under the line pointer of their HOT
//! chain's root. A chain with versions that differ in the new index's columns is *broken*: only its
//! live end is indexed, and older snapshots must not use the index.
//!
//! Counterpart: `heapam_index_build_range_scan`, nbtsort.c.

use crate::rows::RowReader;
use crate::{Backend, IndexDesc, TableDesc, table};
use btree::Sorter;
use bufmgr::PageEdit;
use heap::visibility::{Liveness, Visibility};
use ids::{AttrNo, BlockNo, Fork, OffsetNo, Persistence, Tid, Xid};
use page::Page;
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result, pg_err};
use sync::Arc;
use types::{Datum, DatumRef};
use wal::{RegFlags, RmgrId};

/// Info byte of an XLOG record with full page images.
const XLOG_FPI: u8 = 0xB0;

/// What a build found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuildResult {
    /// Live rows of the table.
    pub heap_tuples: f64,
    pub index_tuples: f64,
    /// Some HOT chains are broken for this index: older snapshots must not use it
    /// (`pg_index.indcheckxmin`).
    pub broken_hot_chains: bool,
}

/// Computes the index values of a row: gets the columns that [`build`] was asked for, appends one datum
/// per index column; false if the row does not belong into the index (partial indexes).
pub type RowToEntry<'a> =
    dyn FnMut(&mut Backend, &[DatumRef<'_>], &mut Vec<Datum>) -> Result<bool> + 'a;

/// How a version is dealt with.
struct Candidate {
    tid: Tid,
    /// Counts for uniqueness.
    alive: bool,
}

/// Fills a new, empty index from the table, whose changes the caller has locked out. `columns`: what of
/// the table `entry` needs. `print` makes the text of key values for the DETAIL of a violated
/// uniqueness (`(a, b)=(1, 2)`).
pub fn build(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    index: &Arc<IndexDesc>,
    columns: &[AttrNo],
    entry: &mut RowToEntry<'_>,
    print: &dyn Fn(&[Datum]) -> String,
) -> Result<BuildResult> {
    let mut result = BuildResult::default();
    let storage = be.storage().clone();
    vfs::create_dir_all(&*storage.env.disk, "base/pgsql_tmp")?;
    let path = format!("base/pgsql_tmp/pgsql_tmp{}.{}", be.txn.proc(), index.oid);
    let disk = storage.env.disk.clone();
    let mut sorter = Sorter::new(&index.schema, disk, path, be.settings().maintenance_work_mem);
    for block in 0..table::nblocks(be, table)? {
        be.check_interrupts()?;
        let block = BlockNo(block);
        spool_page(be, table, index, block, columns, entry, &mut sorter, &mut result)?;
    }
    let tree = index.btree(be);
    let mut on_duplicate =
        |_: IndexTuple<'_>, tuple: IndexTuple<'_>| duplicate(index, table, tuple, print);
    let count = tree.build(&mut be.index_cx(index.persistence), sorter, &mut on_duplicate)?;
    result.index_tuples = count as f64;
    Ok(result)
}

fn duplicate(
    index: &IndexDesc,
    table: &TableDesc,
    tuple: IndexTuple<'_>,
    print: &dyn Fn(&[Datum]) -> String,
) -> PgError {
    let error = pg_err!(UNIQUE_VIOLATION, "could not create unique index \"{}\"", index.name)
        .table(&*table.schema, &*table.name)
        .constraint(&*index.name);
    let mut key = Vec::new();
    for n in 0..index.schema.key_count {
        let mut scratch = Vec::new();
        match index.schema.column(tuple, n, &mut scratch) {
            Ok(value) => key.push(value.to_owned()),
            Err(_) => return error,
        }
    }
    error.detail(format!("Key {} is duplicated.", print(&key)))
}

fn spool_page(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    index: &IndexDesc,
    block: BlockNo,
    columns: &[AttrNo],
    entry: &mut RowToEntry<'_>,
    sorter: &mut Sorter<'_>,
    result: &mut BuildResult,
) -> Result<()> {
    let mut batch = table::new_batch(table, columns);
    let mut reader = RowReader::new(table, columns)?;
    let candidates = read_page(be, table, index, block, &mut reader, &mut batch, result)?;
    reader.finish(be, table, &mut batch)?;
    let (mut values, mut tuple) = (Vec::new(), Vec::new());
    for (row, candidate) in candidates.iter().enumerate() {
        values.clear();
        let columns: Vec<DatumRef<'_>> = batch.row(row).collect();
        if !entry(be, &columns, &mut values)? {
            continue;
        }
        let values: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
        tuple.clear();
        index.schema.form(&values, candidate.tid, &mut tuple)?;
        sorter.add(&tuple, !candidate.alive)?;
    }
    Ok(())
}

/// The versions of a page that get entries, their columns in `batch`.
fn read_page(
    be: &mut Backend,
    table: &TableDesc,
    index: &IndexDesc,
    block: BlockNo,
    reader: &mut RowReader,
    batch: &mut types::Batch,
    result: &mut BuildResult,
) -> Result<Vec<Candidate>> {
    let rel = table.heap(be);
    let horizons = be.storage().txns.horizons_for(be.database(), be.txn.proc());
    let oldest = horizons.of_kind(table.horizon());
    loop {
        let mut out = Vec::new();
        let mut wait = Xid::INVALID;
        let before = *result;
        batch.clear();
        {
            let cx = be.heap_cx(table.persistence);
            let guard = cx.pool.read(&rel.main, block, cx.strategy)?.share();
            let vis = cx.visibility(rel, guard.lsn());
            let roots = root_offsets(&guard, &vis)?;
            for offset in 1..=guard.max_offset() {
                let Some(tuple) = guard.heap_tuple(offset) else { continue };
                let header = tuple.header;
                let mut hint = 0;
                let (add, alive) = match vis.liveness_before(&header, oldest, &mut hint)? {
                    Liveness::Dead => (false, false),
                    Liveness::Live => {
                        result.heap_tuples += 1.0;
                        (true, true)
                    }
                    Liveness::RecentlyDead(_) => {
                        result.broken_hot_chains |= header.is_hot_updated();
                        (!header.is_hot_updated(), false)
                    }
                    Liveness::InsertInProgress => {
                        if !cx.txn.is_current(header.xmin()) && index.unique {
                            // Only catalogs are written to by others at this point.
                            wait = header.xmin();
                            break;
                        }
                        result.heap_tuples += 1.0;
                        (true, true)
                    }
                    Liveness::DeleteInProgress => {
                        let xmax = vis.update_xid(&header)?;
                        if !cx.txn.is_current(xmax) && index.unique {
                            wait = xmax;
                            break;
                        }
                        if !cx.txn.is_current(xmax) {
                            result.heap_tuples += 1.0;
                        }
                        result.broken_hot_chains |= header.is_hot_updated();
                        (!header.is_hot_updated(), false)
                    }
                };
                if !add {
                    continue;
                }
                let root = match roots[offset as usize] {
                    0 => return Err(no_root(table, Tid::new(block, offset))),
                    root => root,
                };
                reader.push(table.deformer(), Tid::new(block, offset), &tuple, batch)?;
                out.push(Candidate { tid: Tid::new(block, root), alive });
            }
        }
        if !wait.is_valid() {
            return Ok(out);
        }
        *result = before;
        *reader = RowReader::new(table, &reader.columns())?;
        be.txn.wait_for_xid(wait)?;
    }
}

#[cold]
fn no_root(table: &TableDesc, tid: Tid) -> PgError {
    pg_err!(
        DATA_CORRUPTED,
        "failed to find parent tuple for heap-only tuple at {tid} in table \"{}\"",
        table.name
    )
}

/// For each line pointer the one that index entries of its chain name; 0 where there is none.
/// Counterpart: `heap_get_root_tuples`.
fn root_offsets(page: &Page, vis: &Visibility<'_>) -> Result<Vec<OffsetNo>> {
    let max = page.max_offset();
    let mut roots = vec![0; max as usize + 1];
    for offset in 1..=max {
        let lp = page.line_pointer(offset);
        let (mut next, mut prior) = if lp.is_redirected() {
            (lp.redirect_to(), Xid::INVALID)
        } else if lp.is_normal() {
            let Some(header) = page.heap_header(offset) else { continue };
            if header.is_heap_only() {
                continue;
            }
            roots[offset as usize] = offset;
            if !header.is_hot_updated() {
                continue;
            }
            (header.ctid.offset, vis.update_xid(&header)?)
        } else {
            continue;
        };
        while next >= 1 && next <= max {
            let Some(header) = page.heap_header(next) else { break };
            if !page.line_pointer(next).is_normal()
                || prior.is_valid() && header.xmin() != prior
                || roots[next as usize] != 0
            {
                break;
            }
            roots[next as usize] = offset;
            if !header.is_hot_updated() {
                break;
            }
            prior = vis.update_xid(&header)?;
            next = header.ctid.offset;
        }
    }
    Ok(roots)
}

/// Fills the file of a new index without entries; for unlogged ones the init fork too.
pub fn build_empty(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<()> {
    let tree = index.btree(be);
    tree.build_empty(&mut be.index_cx(index.persistence))?;
    if index.persistence == Persistence::Unlogged {
        build_init_fork(be, index)?;
    }
    Ok(())
}

/// The init fork of an unlogged index: what recovery resets it to. WAL: a full page image.
pub fn build_init_fork(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<()> {
    let tree = index.btree(be);
    let mut image = tree.empty_meta();
    let storage = be.storage().clone();
    let buffers = storage.pool.open(index.file, Fork::Init, index.persistence);
    let xid = be.txn.current_xid_if_any();
    let mut guard = storage.pool.extend(&buffers, &mut be.strategy)?;
    let mut edit = PageEdit::begin(&storage.wal, &mut be.scratch);
    let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
    edit.change(&mut guard, 0, flags).bytes_mut().copy_from_slice(image.bytes());
    edit.log(RmgrId::Xlog, XLOG_FPI, xid)?;
    drop(guard);
    storage.pool.flush_relation(index.file)
}
