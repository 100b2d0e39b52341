//! Building an index from a table's rows: read, sort, load.
//!
//! All versions that some snapshot may still see get an entry, under the line pointer of their HOT
//! chain's root. A chain with versions that differ in the new index's columns is *broken*: only its
//! live end is indexed, and older snapshots must not use the index.
//!
//! Counterpart: `heapam_index_build_range_scan`, nbtsort.c.

use crate::rows::RowReader;
use crate::{Backend, IndexDesc, TableDesc, table};
use btree::BulkLoader;
use bufmgr::PageEdit;
use heap::visibility::{Liveness, Visibility};
use ids::{AttrNo, BlockNo, Fork, OffsetNo, Persistence, Tid, Xid};
use page::index_tuple::IndexTuple;
use page::{Page, PageBuf};
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
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

/// Formed index tuples, one behind the other.
#[derive(Default)]
struct Spool {
    bytes: Vec<u8>,
    entries: Vec<(usize, bool)>,
}

impl Spool {
    fn tuple(&self, entry: &(usize, bool)) -> IndexTuple<'_> {
        IndexTuple::new(&self.bytes[entry.0..])
    }

    fn bytes_of(&self, entry: &(usize, bool)) -> &[u8] {
        &self.bytes[entry.0..][..self.tuple(entry).size()]
    }

    /// By keys, then by TID.
    fn sort(&mut self, index: &IndexDesc) -> Result<()> {
        let mut entries = std::mem::take(&mut self.entries);
        let mut failed = None;
        entries.sort_by(|a, b| {
            let (a, b) = (self.tuple(a), self.tuple(b));
            match index.schema.compare_keys(a, b) {
                Ok(Ordering::Equal) => a.heap_tid().cmp(&b.heap_tid()),
                Ok(order) => order,
                Err(error) => {
                    failed.get_or_insert(error);
                    Ordering::Equal
                }
            }
        });
        self.entries = entries;
        failed.map_or(Ok(()), Err)
    }

    /// A pair of live rows with equal keys. Of a run of equal keys the live ones need not be
    /// neighbours.
    fn duplicate(&self, index: &IndexDesc) -> Result<Option<usize>> {
        let mut last_alive: Option<&(usize, bool)> = None;
        for (i, entry) in self.entries.iter().enumerate() {
            if !entry.1 {
                continue;
            }
            if let Some(last) = last_alive {
                let (a, b) = (self.tuple(last), self.tuple(entry));
                let null = (0..index.schema.key_count).any(|n| a.is_null(n));
                if (!null || index.schema.nulls_not_distinct)
                    && index.schema.compare_keys(a, b)? == Ordering::Equal
                {
                    return Ok(Some(i));
                }
            }
            last_alive = Some(entry);
        }
        Ok(None)
    }
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
    let mut spool = Spool::default();
    for block in 0..table::nblocks(be, table)? {
        be.check_interrupts()?;
        spool_page(be, table, index, BlockNo(block), columns, entry, &mut spool, &mut result)?;
    }
    spool.sort(index)?;
    if index.unique
        && let Some(at) = spool.duplicate(index)?
    {
        let tuple = spool.tuple(&spool.entries[at]);
        let mut key = Vec::new();
        let mut scratch = Vec::new();
        for n in 0..index.schema.key_count {
            key.push(index.schema.column(tuple, n, &mut scratch)?.to_owned());
        }
        return Err(pg_err!(UNIQUE_VIOLATION, "could not create unique index \"{}\"", index.name)
            .detail(format!("Key {} is duplicated.", print(&key)))
            .table(&*table.schema, &*table.name)
            .constraint(&*index.name));
    }
    result.index_tuples = spool.entries.len() as f64;
    load(be, index, Fork::Main, &spool)?;
    Ok(result)
}

fn spool_page(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    index: &IndexDesc,
    block: BlockNo,
    columns: &[AttrNo],
    entry: &mut RowToEntry<'_>,
    spool: &mut Spool,
    result: &mut BuildResult,
) -> Result<()> {
    let mut batch = table::new_batch(table, columns);
    let mut reader = RowReader::new(table, columns)?;
    let candidates = read_page(be, table, index, block, &mut reader, &mut batch, result)?;
    reader.finish(be, table, &mut batch)?;
    let mut values = Vec::new();
    for (row, candidate) in candidates.iter().enumerate() {
        values.clear();
        let columns: Vec<DatumRef<'_>> = batch.row(row).collect();
        if !entry(be, &columns, &mut values)? {
            continue;
        }
        let values: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
        let at = spool.bytes.len();
        index.schema.form(&values, candidate.tid, &mut spool.bytes)?;
        spool.entries.push((at, candidate.alive));
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

/// Writes the tree into the fork, which is empty. WAL: full page images.
fn load(be: &mut Backend, index: &Arc<IndexDesc>, fork: Fork, spool: &Spool) -> Result<()> {
    let pool = be.pool_arc(index.persistence);
    let storage = be.storage().clone();
    let buffers = pool.open(index.file, fork, index.persistence);
    let logged = index.persistence == Persistence::Permanent || fork == Fork::Init;
    let xid = be.txn.current_xid_if_any();
    let waiter = be.waiter().clone();
    let (scratch, strategy) = (&mut be.scratch, &mut be.strategy);
    let mut sink = |block: BlockNo, image: PageBuf| -> Result<()> {
        crate::backend::check_waiter(&waiter)?;
        // Pages come in no particular order; those before are filled in later.
        while pool.nblocks(&buffers)? <= block.0 {
            drop(pool.extend(&buffers, strategy)?);
        }
        let mut guard = pool.read(&buffers, block, strategy)?.exclusive();
        let mut edit = PageEdit::begin(&storage.wal, scratch);
        let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
        let page = edit.change(&mut guard, 0, flags);
        page.bytes_mut().copy_from_slice(image.bytes());
        if logged {
            edit.log(RmgrId::Xlog, XLOG_FPI, xid)?;
        } else {
            edit.finish_unlogged();
        }
        Ok(())
    };
    let (name, table_name) = (&*index.name, &*index.table_name);
    let mut loader = BulkLoader::new(&index.schema, name, table_name, &mut sink);
    for entry in &spool.entries {
        loader.add(spool.bytes_of(entry))?;
    }
    loader.finish()
}

/// Fills the file of a new index without entries; for unlogged ones the init fork too.
pub fn build_empty(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<()> {
    load(be, index, Fork::Main, &Spool::default())?;
    if index.persistence == Persistence::Unlogged {
        load(be, index, Fork::Init, &Spool::default())?;
        be.storage().pool.flush_relation(index.file)?;
    }
    Ok(())
}
