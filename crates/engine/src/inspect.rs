//! What pages and maps of relations contain, for extensions that examine storage.
//!
//! Counterpart: contrib/pg_freespacemap, contrib/pg_visibility, contrib/pgstattuple.

use crate::backend::Backend;
use crate::desc::TableDesc;
use freespace::Fsm;
use heap::freeze::needs_eventual_freeze;
use heap::visibility::Liveness;
use heap::visibility_map;
use ids::{BlockNo, Fork, Persistence, RelFile, Tid, Xid};
use page::{PAGE_SIZE, btree, gin, hash, vm};
use pgerror::{Result, pg_err};
use sync::Arc;

/// What the visibility map and the page itself say about a block of a table.
#[derive(Clone, Copy, Default, Debug)]
pub struct BlockVisibility {
    pub all_visible: bool,
    pub all_frozen: bool,
    pub page_all_visible: bool,
}

/// The free space that the free space map records for a block, in bytes.
pub fn recorded_space(
    be: &Backend,
    file: RelFile,
    persistence: Persistence,
    block: BlockNo,
) -> Result<usize> {
    let pool = be.pool(persistence);
    let fork = pool.open(file, Fork::Fsm, persistence);
    Fsm::new(pool, &fork).recorded(block)
}

/// The bits of a block; of its page only if `with_page`. A block beyond the end has none.
pub fn visibility(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    block: BlockNo,
    with_page: bool,
) -> Result<BlockVisibility> {
    let exists = block.0 < crate::table::nblocks(be, table)?;
    let rel = table.heap(be);
    let cx = be.heap_cx(table.persistence);
    let mut slot = None;
    let bits = visibility_map::status(cx.pool, rel, block, &mut slot, cx.strategy)?;
    drop(slot);
    let page_all_visible = match with_page && exists {
        true => cx.pool.read(&rel.main, block, cx.strategy)?.share().is_all_visible(),
        false => false,
    };
    Ok(BlockVisibility {
        all_visible: bits & vm::ALL_VISIBLE != 0,
        all_frozen: bits & vm::ALL_FROZEN != 0,
        page_all_visible,
    })
}

/// The oldest transaction that may see deleted rows of a table.
fn oldest(be: &Backend, table: &TableDesc) -> Xid {
    let horizons = be.storage().txns.horizons_for(be.database(), be.txn.proc());
    horizons.of_kind(table.horizon())
}

/// Row versions that contradict the visibility map: those that are not visible to all in pages that
/// are all-visible, or, if `frozen`, those that need freezing in pages that are all-frozen.
pub fn contradictions(be: &mut Backend, table: &Arc<TableDesc>, frozen: bool) -> Result<Vec<Tid>> {
    let mut out = Vec::new();
    let oldest = oldest(be, table);
    for block in 0..crate::table::nblocks(be, table)? {
        be.check_interrupts()?;
        let block = BlockNo(block);
        let bits = visibility(be, table, block, false)?;
        if !(if frozen { bits.all_frozen } else { bits.all_visible }) {
            continue;
        }
        let rel = table.heap(be);
        let cx = be.heap_cx(table.persistence);
        let guard = cx.pool.read(&rel.main, block, cx.strategy)?.share();
        let vis = cx.visibility(rel, guard.lsn());
        for offset in 1..=guard.max_offset() {
            let contradicts = match guard.heap_tuple(offset) {
                Some(tuple) if frozen => needs_eventual_freeze(&tuple.header),
                Some(tuple) => {
                    let live = vis.liveness(&tuple.header, &mut 0)?;
                    live != Liveness::Live || !tuple.header.xmin().precedes(oldest)
                }
                None => guard.line_pointer(offset).is_dead(),
            };
            if contradicts {
                out.push(Tid::new(block, offset));
            }
        }
    }
    Ok(out)
}

/// Numbers and sizes of the row versions of a table.
#[derive(Clone, Copy, Default, Debug)]
pub struct TupleStatistics {
    pub pages: u32,
    /// The pages whose versions were counted.
    pub scanned: u32,
    pub live: u64,
    pub live_bytes: u64,
    pub dead: u64,
    pub dead_bytes: u64,
    pub free_bytes: u64,
}

impl TupleStatistics {
    fn count(&mut self, live: bool, bytes: usize) {
        let (count, sum) = match live {
            true => (&mut self.live, &mut self.live_bytes),
            false => (&mut self.dead, &mut self.dead_bytes),
        };
        *count += 1;
        *sum += bytes as u64;
    }
}

/// Counts all versions. Those that running transactions have inserted or deleted are live.
pub fn tuples(be: &mut Backend, table: &Arc<TableDesc>) -> Result<TupleStatistics> {
    let pages = crate::table::nblocks(be, table)?;
    let mut out = TupleStatistics { pages, scanned: pages, ..TupleStatistics::default() };
    for block in 0..pages {
        be.check_interrupts()?;
        let rel = table.heap(be);
        let cx = be.heap_cx(table.persistence);
        let guard = cx.pool.read(&rel.main, BlockNo(block), cx.strategy)?.share();
        let vis = cx.visibility(rel, guard.lsn());
        out.free_bytes += guard.heap_free_space() as u64;
        for offset in 1..=guard.max_offset() {
            let Some(tuple) = guard.heap_tuple(offset) else { continue };
            let live = vis.dirty(&tuple.header, &mut 0)?.is_some();
            out.count(live, guard.line_pointer(offset).len());
        }
    }
    Ok(out)
}

/// Counts the versions of pages that are not all-visible; of the others only the free space is
/// used, as the map records it. The numbers are those of the pages scanned.
pub fn approximate_tuples(be: &mut Backend, table: &Arc<TableDesc>) -> Result<TupleStatistics> {
    let pages = crate::table::nblocks(be, table)?;
    let mut out = TupleStatistics { pages, ..TupleStatistics::default() };
    let oldest = oldest(be, table);
    for block in 0..pages {
        be.check_interrupts()?;
        let block = BlockNo(block);
        if visibility(be, table, block, false)?.all_visible {
            let free = recorded_space(be, table.file, table.persistence, block)?;
            out.live_bytes += (PAGE_SIZE - free) as u64;
            out.free_bytes += free as u64;
            continue;
        }
        out.scanned += 1;
        let rel = table.heap(be);
        let cx = be.heap_cx(table.persistence);
        let guard = cx.pool.read(&rel.main, block, cx.strategy)?.share();
        if guard.is_new() {
            out.free_bytes += (PAGE_SIZE - page::header::HEADER_SIZE) as u64;
            continue;
        }
        let vis = cx.visibility(rel, guard.lsn());
        out.free_bytes += guard.heap_free_space() as u64;
        for offset in 1..=guard.max_offset() {
            let Some(tuple) = guard.heap_tuple(offset) else { continue };
            let liveness = vis.liveness_before(&tuple.header, oldest, &mut 0)?;
            let live = matches!(liveness, Liveness::Live | Liveness::DeleteInProgress);
            out.count(live, guard.line_pointer(offset).len());
        }
    }
    Ok(out)
}

/// The pages of a B-tree index.
#[derive(Clone, Copy, Default, Debug)]
pub struct BTreeStatistics {
    pub version: u32,
    pub level: u32,
    pub root: u32,
    pub internal: u64,
    pub leaves: u64,
    pub half_dead: u64,
    pub deleted: u64,
    /// Bytes for tuples on the leaves, and those that are free.
    pub leaf_bytes: u64,
    pub free_bytes: u64,
    /// Leaves whose successor is before them in the file.
    pub fragments: u64,
}

/// Examines a B-tree index.
pub fn btree_pages(
    be: &mut Backend,
    file: RelFile,
    persistence: Persistence,
) -> Result<BTreeStatistics> {
    let mut out = BTreeStatistics::default();
    let fork = be.pool(persistence).open(file, Fork::Main, persistence);
    for block in 0..be.pool(persistence).nblocks(&fork)? {
        be.check_interrupts()?;
        let cx = be.heap_cx(persistence);
        let guard = cx.pool.read(&fork, BlockNo(block), cx.strategy)?.share();
        let page = guard.page();
        if block == 0 {
            let meta = btree::Meta::read(page);
            (out.version, out.level, out.root) = (meta.version, meta.level, meta.root.0);
            continue;
        }
        let node = btree::Node(page);
        if node.is_deleted() {
            out.deleted += 1;
        } else if node.is_ignored() {
            out.half_dead += 1;
        } else if node.is_leaf() {
            out.leaves += 1;
            out.leaf_bytes += (page.special() - page::header::HEADER_SIZE) as u64;
            out.free_bytes += page.free_space() as u64;
            out.fragments += u64::from(node.next() != btree::NONE && node.next().0 < block);
        } else {
            out.internal += 1;
        }
    }
    Ok(out)
}

/// Version, pages and rows of the pending list of a GIN index.
pub fn gin_pending(
    be: &mut Backend,
    file: RelFile,
    persistence: Persistence,
) -> Result<(i32, u32, i64)> {
    let fork = be.pool(persistence).open(file, Fork::Main, persistence);
    let cx = be.heap_cx(persistence);
    let guard = cx.pool.read(&fork, BlockNo(0), cx.strategy)?.share();
    let meta = gin::GinPage(guard.page()).meta();
    Ok((meta.version, meta.pending_pages, meta.pending_rows))
}

/// The pages of a hash index.
#[derive(Clone, Copy, Default, Debug)]
pub struct HashStatistics {
    pub version: u32,
    pub pages: u64,
    pub buckets: u64,
    pub overflow: u64,
    pub bitmaps: u64,
    pub unused: u64,
    pub live: u64,
    pub dead: u64,
    /// Without unused pages.
    pub free_bytes: u64,
}

/// Bytes for tuples on a page of a hash index.
pub const HASH_PAGE_BYTES: u64 =
    (PAGE_SIZE - page::header::HEADER_SIZE - hash::SPECIAL_SIZE) as u64;

/// Examines a hash index; `name` is for messages.
pub fn hash_pages(
    be: &mut Backend,
    file: RelFile,
    persistence: Persistence,
    name: &str,
) -> Result<HashStatistics> {
    let fork = be.pool(persistence).open(file, Fork::Main, persistence);
    let pages = be.pool(persistence).nblocks(&fork)?;
    let mut out = HashStatistics { pages: u64::from(pages), ..HashStatistics::default() };
    for block in 0..pages {
        be.check_interrupts()?;
        let cx = be.heap_cx(persistence);
        let guard = cx.pool.read(&fork, BlockNo(block), cx.strategy)?.share();
        let page = guard.page();
        if block == 0 {
            out.version = hash::Meta(page).version();
            continue;
        }
        if page.is_new() {
            out.unused += 1;
            continue;
        }
        let flags = hash::HashPage(page).flags();
        match flags & hash::LH_PAGE_TYPE {
            hash::LH_BUCKET_PAGE => out.buckets += 1,
            hash::LH_OVERFLOW_PAGE => out.overflow += 1,
            hash::LH_BITMAP_PAGE => {
                out.bitmaps += 1;
                continue;
            }
            0 => {
                out.unused += 1;
                continue;
            }
            _ => {
                return Err(pg_err!(
                    INDEX_CORRUPTED,
                    "unexpected page type 0x{flags:04X} in HASH index \"{name}\" block {block}"
                ));
            }
        }
        for offset in 1..=page.max_offset() {
            match page.line_pointer(offset).is_dead() {
                true => out.dead += 1,
                false => out.live += 1,
            }
        }
        out.free_bytes += page.exact_free_space() as u64;
    }
    Ok(out)
}

/// Counts the tuples on the pages of a B-tree index (its leaves) or of a hash index.
pub fn index_tuples(
    be: &mut Backend,
    file: RelFile,
    persistence: Persistence,
    is_hash: bool,
) -> Result<TupleStatistics> {
    let fork = be.pool(persistence).open(file, Fork::Main, persistence);
    let pages = be.pool(persistence).nblocks(&fork)?;
    let mut out = TupleStatistics { pages, scanned: pages, ..TupleStatistics::default() };
    for block in 1..pages {
        be.check_interrupts()?;
        let cx = be.heap_cx(persistence);
        let guard = cx.pool.read(&fork, BlockNo(block), cx.strategy)?.share();
        let page = guard.page();
        // The first tuple of a page with tuples of rows.
        let first = match is_hash {
            _ if page.is_new() => None,
            true => match hash::HashPage(page).flags() & hash::LH_PAGE_TYPE {
                hash::LH_BUCKET_PAGE | hash::LH_OVERFLOW_PAGE => Some(1),
                0 => None,
                _ => continue,
            },
            false => match btree::Node(page) {
                node if node.is_ignored() => None,
                node if node.is_leaf() => Some(node.first_data_key()),
                _ => continue,
            },
        };
        let Some(first) = first else {
            out.free_bytes += PAGE_SIZE as u64;
            continue;
        };
        out.free_bytes += page.free_space() as u64;
        for offset in first..=page.max_offset() {
            let lp = page.line_pointer(offset);
            out.count(!lp.is_dead(), lp.len());
        }
    }
    Ok(out)
}
