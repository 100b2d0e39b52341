//! Building an index from a table's rows: heap scan, sort, load.
//!
//! Each version that may be visible to a snapshot gets an entry, under the root line pointer of its
//! HOT chain. A HOT chain whose versions may differ in the new index's columns is *broken*: only
//! its last version is indexed, and older snapshots must not use the index.
//!
//! Counterpart: `heapam_index_build_range_scan` in heapam_handler.c, nbtsort.c.

use crate::backend::Backend;
use crate::desc::{IndexDesc, TableDesc};
use crate::index::naming_table;
use crate::rows::RowReader;
use crate::shared::fork_name;
use crate::table;
use access::{BuildOptions, IndexBuild, IndexFile, Row};
use bufmgr::Strategy;
use heap::visibility::{Liveness, Visibility};
use ids::{AttrNo, BlockNo, Fork, OffsetNo, Persistence, Tid, Xid};
use page::Page;
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use sync::Arc;
use types::{Datum, DatumRef};

/// Result of a build.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BuildResult {
    /// Live rows of the table.
    pub heap_tuples: f64,
    pub index_tuples: f64,
    /// Some HOT chains are broken for this index: older snapshots must not use it
    /// (`pg_index.indcheckxmin`).
    pub broken_hot_chains: bool,
}

/// The owner of the [`Backend`] that reads a table. The callbacks get the owner, because they may
/// need other parts of the session to compute index values.
pub trait Owner {
    fn backend(&mut self) -> &mut Backend;
}

impl Owner for Backend {
    fn backend(&mut self) -> &mut Backend {
        self
    }
}

/// Computes the index values of a row. It gets the `columns` of [`build`] and appends one datum per
/// index column. Returns false if the row does not satisfy the predicate of a partial index.
pub type RowToEntry<'a, O> =
    dyn FnMut(&mut O, &[DatumRef<'_>], &mut Vec<Datum>) -> Result<bool> + 'a;

/// Formats a key as text.
pub type FormatKey<'a, O> = dyn FnMut(&mut O, &[Datum]) -> String + 'a;

/// A row version that gets an index entry.
struct Candidate {
    /// TID for the entry: the root line pointer of the HOT chain.
    tid: Tid,
    /// TID of the version itself.
    at: Tid,
    /// The version counts for uniqueness.
    alive: bool,
}

/// A new, empty index, and the table from which it is filled.
#[derive(Clone, Copy)]
pub struct NewIndex<'a> {
    /// The table. The caller has a lock that excludes changes of it.
    pub table: &'a Arc<TableDesc>,
    pub index: &'a Arc<IndexDesc>,
    /// The columns of the table from which the entries are computed.
    pub columns: &'a [AttrNo],
    /// For each column of the index, its number among `columns`; empty if the values of a row are
    /// computed.
    pub places: &'a [usize],
    /// Estimated number of rows of the table.
    pub rows: f64,
}

/// Fills a new index. `entry` computes the values of rows, if they are computed. `print` formats
/// the key values for the DETAIL of a unique violation (`(a, b)=(1, 2)`).
pub fn build<O: Owner + ?Sized>(
    owner: &mut O,
    new: NewIndex<'_>,
    entry: &mut RowToEntry<'_, O>,
    print: &mut FormatKey<'_, O>,
) -> Result<BuildResult> {
    let NewIndex { table, index, rows, .. } = new;
    let be = owner.backend();
    let storage = be.storage().clone();
    vfs::create_dir_all(&*storage.env.disk, "base/pgsql_tmp")?;
    let options = BuildOptions {
        disk: storage.env.disk.clone(),
        path: format!("base/pgsql_tmp/pgsql_tmp{}.{}", be.txn.proc(), index.oid),
        memory_limit: be.settings().maintenance_work_mem,
        rows,
    };
    let handle = index.open(be)?;
    let persistence = index.persistence();
    let mut building = handle.begin_build(&mut be.index_cx(persistence), options)?;
    let mut spool = Spool::new(be, &new)?;
    let nblocks = table::nblocks(be, table)?;
    for block in 0..nblocks {
        let be = owner.backend();
        be.check_interrupts()?;
        spool.page(be, BlockNo(block), nblocks)?;
        spool.entries(owner, entry, &mut *building)?;
    }
    let mut result = spool.result;
    let be = owner.backend();
    let mut key = None;
    let mut on_duplicate = |tuple: IndexTuple<'_>, _: IndexTuple<'_>| {
        key = key_of(index, tuple);
        pg_err!(UNIQUE_VIOLATION, "could not create unique index \"{}\"", index.name())
            .table(&*table.schema, &*table.name)
            .constraint(index.name())
    };
    let built = building.finish(&mut be.index_cx(persistence), &mut on_duplicate);
    let count = match (built, key) {
        (Ok(count), _) => count,
        (Err(e), None) => return Err(naming_table(e, table)),
        (Err(e), Some(key)) => {
            return Err(e.detail(format!("Key {} is duplicated.", print(owner, &key))));
        }
    };
    let be = owner.backend();
    if persistence == Persistence::Unlogged {
        build_init_fork(be, index)?;
    }
    result.index_tuples = count as f64;
    // As for a sequential scan of the table.
    let counts = be.stats.relation(table.oid, table.is_shared());
    counts.scans += 1;
    counts.returned += result.heap_tuples as i64;
    Ok(result)
}

/// The key columns of an entry; `None` if they cannot be decoded.
fn key_of(index: &IndexDesc, tuple: IndexTuple<'_>) -> Option<Vec<Datum>> {
    let columns = (0..index.key_count()).map(|n| {
        let mut scratch = Vec::new();
        index.def.layout.column(tuple, n, &mut scratch).map(|value| value.to_owned()).ok()
    });
    columns.collect()
}

/// The heap scan of a build.
struct Spool<'t> {
    table: &'t Arc<TableDesc>,
    index: &'t IndexDesc,
    places: &'t [usize],
    /// Versions that were deleted before this transaction id are dead to all snapshots.
    oldest: Xid,
    strategy: Strategy,
    reader: RowReader,
    /// Versions of the current page that get entries, and their columns.
    candidates: Vec<Candidate>,
    batch: types::Batch,
    roots: Vec<OffsetNo>,
    result: BuildResult,
}

impl<'t> Spool<'t> {
    fn new(be: &Backend, new: &NewIndex<'t>) -> Result<Spool<'t>> {
        let NewIndex { table, index, columns, places, .. } = *new;
        let horizons = be.storage().txns.horizons_for(be.database(), be.txn.proc());
        let pool = be.pool(table.persistence);
        let large = pool.wants_bulk_read(table::nblocks(be, table)?);
        Ok(Spool {
            table,
            index,
            places,
            oldest: horizons.of_kind(table.horizon()),
            strategy: if large { Strategy::bulk_read(pool) } else { Strategy::normal() },
            reader: RowReader::new(table, columns)?,
            candidates: Vec::new(),
            batch: table::new_batch(table, columns),
            roots: Vec::new(),
            result: BuildResult::default(),
        })
    }

    /// Collects the versions of a page that get entries.
    fn page(&mut self, be: &mut Backend, block: BlockNo, nblocks: u32) -> Result<()> {
        let rel = self.table.heap(be);
        let pool = be.pool(self.table.persistence);
        pool.read_ahead(&rel.main, block, nblocks - block.0, &mut self.strategy)?;
        let before = self.result;
        loop {
            let wait = self.read_page(be, block)?;
            if !wait.is_valid() {
                break;
            }
            self.result = before;
            self.reader = RowReader::new(self.table, &self.reader.columns())?;
            be.txn.wait_for_xid(wait)?;
        }
        be.add_usage(&mut self.strategy);
        self.reader.finish(be, self.table, &mut self.batch)
    }

    /// Adds entries for the collected versions.
    fn entries<O: Owner + ?Sized>(
        &self,
        owner: &mut O,
        entry: &mut RowToEntry<'_, O>,
        building: &mut dyn IndexBuild,
    ) -> Result<()> {
        let (mut computed, mut tuple) = (Vec::new(), Vec::new());
        for (row, candidate) in self.candidates.iter().enumerate() {
            let columns: SmallVec<[DatumRef<'_>; 8]> = self.batch.row(row).collect();
            let mut values: SmallVec<[DatumRef<'_>; 8]> = SmallVec::new();
            if self.places.is_empty() {
                computed.clear();
                if !entry(owner, &columns, &mut computed)? {
                    continue;
                }
                values.extend(computed.iter().map(Datum::as_ref));
            } else {
                values.extend(self.places.iter().map(|place| columns[*place]));
            }
            tuple.clear();
            let tids = (candidate.tid, candidate.at);
            let row = Row { values: &values, compressed: &[], tid: candidate.tid };
            let added = building.add_row(&row);
            if added.map_err(|e| naming_table(e, self.table))? {
                continue;
            }
            let be = owner.backend();
            if crate::index::form(be, self.table, self.index, &values, tids, &mut tuple)? {
                let mut cx = be.index_cx(self.index.persistence());
                let added = building.add(&mut cx, &tuple, !candidate.alive);
                added.map_err(|e| naming_table(e, self.table))?;
            }
        }
        Ok(())
    }

    /// Collects the versions of a page that get entries. Returns a transaction that must end before
    /// the page is read again; invalid if there is none.
    fn read_page(&mut self, be: &mut Backend, block: BlockNo) -> Result<Xid> {
        let (table, index) = (self.table, self.index);
        let rel = table.heap(be);
        self.batch.clear();
        self.candidates.clear();
        let result = &mut self.result;
        let cx = be.heap_cx_with(table.persistence, &mut self.strategy);
        let guard = cx.pool.read(&rel.main, block, cx.strategy)?.share();
        let vis = cx.visibility(rel, guard.lsn());
        root_offsets(&guard, &vis, &mut self.roots)?;
        for offset in 1..=guard.max_offset() {
            let Some(tuple) = guard.heap_tuple(offset) else { continue };
            let header = tuple.header;
            let mut hint = 0;
            let (add, alive) = match vis.liveness_before(&header, self.oldest, &mut hint)? {
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
                        // An insertion by another session is possible only in a catalog, since
                        // other tables are locked against changes.
                        return Ok(header.xmin());
                    }
                    result.heap_tuples += 1.0;
                    (true, true)
                }
                Liveness::DeleteInProgress => {
                    let xmax = vis.update_xid(&header)?;
                    if !cx.txn.is_current(xmax) && index.unique {
                        return Ok(xmax);
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
            let root = match self.roots[offset as usize] {
                0 => return Err(no_root(table, Tid::new(block, offset))),
                root => root,
            };
            let tid = Tid::new(block, offset);
            self.reader.push(table.deformer(), tid, &tuple, &mut self.batch)?;
            self.candidates.push(Candidate { tid: Tid::new(block, root), at: tid, alive });
        }
        Ok(Xid::INVALID)
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

/// For each line pointer, the root line pointer of its HOT chain; 0 if there is none.
/// Counterpart: `heap_get_root_tuples`.
fn root_offsets(page: &Page, vis: &Visibility<'_>, roots: &mut Vec<OffsetNo>) -> Result<()> {
    let max = page.max_offset();
    roots.clear();
    roots.resize(max as usize + 1, 0);
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
    Ok(())
}

/// Writes the file of a new index without entries; for an unlogged one the init fork too.
pub fn build_empty(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<()> {
    let persistence = index.persistence();
    let file = IndexFile::open(be.pool(persistence), index.file(), persistence);
    index.open(be)?.build_empty(&mut be.index_cx(persistence), &file)?;
    if persistence == Persistence::Unlogged {
        build_init_fork(be, index)?;
    }
    Ok(())
}

/// Writes the init fork of an unlogged index, to which recovery resets it. It is logged.
fn build_init_fork(be: &mut Backend, index: &Arc<IndexDesc>) -> Result<()> {
    let storage = be.storage().clone();
    let file = IndexFile::init_fork(&storage.pool, index.file());
    index.open(be)?.build_empty(&mut be.index_cx(Persistence::Unlogged), &file)?;
    storage.pool.flush_relation(index.file())?;
    // A checkpoint that is already running may not sync the new file.
    storage.smgr.immediate_sync(fork_name(index.file(), Fork::Init, None))
}
