//! Rewriting a table into new files, for VACUUM FULL and CLUSTER. Dead versions are not copied; the
//! others keep their xmin and xmax, so that the same rows stay visible to older snapshots.
//!
//! The caller holds AccessExclusive on the table, has created the new files, and builds the indexes
//! afterwards. Values in the TOAST table are copied into the new TOAST table; values compressed
//! inline are copied as they are.
//!
//! WAL: a full-page image of each page when it is full.
//!
//! Counterpart: rewriteheap.c, `heapam_relation_copy_for_cluster` in heapam_handler.c.

use crate::backend::Backend;
use crate::build::Owner;
use crate::desc::{IndexDesc, TableDesc};
use crate::rows::RowReader;
use crate::table;
use crate::xlog::XLOG_FPI;
use access::SupportFunction;
use bufmgr::{PageEdit, Strategy};
use hashbrown::HashMap;
use heap::freeze::{self, Cutoffs, Kept};
use heap::visibility::Liveness;
use ids::{AttrNo, BlockNo, MultiXid, OffsetNo, Tid, Xid};
use page::heap_tuple::{infomask as m, infomask2 as m2};
use page::space::AddAt;
use page::{HeapTupleHeader, PageBuf, Value};
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use sync::Arc;
use types::{Datum, DatumRef};
use wal::{RegFlags, RmgrId};

/// Statistics of a copy, for `pg_class`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copied {
    pub tuples: f64,
    pub dead_tuples: u64,
    pub recently_dead_tuples: u64,
    pub pages: u32,
    pub frozen_xid: Xid,
    pub min_multi: MultiXid,
}

/// Computes the values of an index's key columns from the columns of the table.
pub type KeyOf<'a, O> = dyn FnMut(&mut O, &[DatumRef<'_>]) -> Result<Vec<Datum>> + 'a;

/// Copies the rows of `old` into `new`, the same table with other files. `bounds` are its
/// `relfrozenxid` and `relminmxid`. With `order`, the rows are copied in the order of that index.
pub fn copy_table<O: Owner + ?Sized>(
    owner: &mut O,
    old: &Arc<TableDesc>,
    new: &Arc<TableDesc>,
    bounds: (Xid, MultiXid),
    order: Option<(&Arc<IndexDesc>, &mut KeyOf<'_, O>)>,
) -> Result<Copied> {
    let be = owner.backend();
    let txns = be.storage().txns.clone();
    let oldest_xmin = txns.horizons_for(be.database(), be.txn.proc()).of_kind(old.horizon());
    let oldest_multi = txns.oldest_multixact();
    let cutoffs = Cutoffs {
        relfrozenxid: bounds.0,
        relminmxid: bounds.1,
        oldest_xmin,
        freeze_limit: oldest_xmin,
        multi_cutoff: oldest_multi,
    };
    let mut copier = Copier {
        old: old.clone(),
        new: new.clone(),
        cutoffs,
        columns: (1..=old.tupdesc.len() as AttrNo).collect(),
        page: PageBuf::new(),
        is_open: false,
        block: table::nblocks(be, new)?,
        moved: HashMap::new(),
        links: Vec::new(),
        writing: Strategy::normal().like(&be.strategy),
        done: Copied { frozen_xid: oldest_xmin, min_multi: oldest_multi, ..Copied::default() },
    };
    let blocks = table::nblocks(be, old)?;
    match order {
        None => {
            for block in 0..blocks {
                for (offset, page) in copier.visible_versions(be, BlockNo(block))? {
                    copier.copy(be, Tid::new(BlockNo(block), offset), &page)?;
                }
            }
        }
        Some((index, _)) if !index.capabilities().ordered => {
            // In the order of a scan. Versions without an entry of their own, which an update
            // without new entries has made, come last.
            let mut ranks = HashMap::new();
            crate::index::scan_tids(be, index, Vec::new(), &mut |tid, _| {
                let rank = ranks.len();
                ranks.entry(tid).or_insert(rank);
            })?;
            let mut list = Vec::new();
            for block in (0..blocks).map(BlockNo) {
                for (offset, _) in copier.visible_versions(be, block)? {
                    let tid = Tid::new(block, offset);
                    list.push((ranks.get(&tid).copied().unwrap_or(usize::MAX), tid));
                }
            }
            list.sort_unstable();
            for (_, tid) in list {
                let page = copier.read(be, tid.block)?;
                copier.copy(be, tid, &page)?;
            }
        }
        Some((index, key)) => {
            let mut list = Vec::new();
            for block in (0..blocks).map(BlockNo) {
                for (offset, page) in copier.visible_versions(owner.backend(), block)? {
                    let tid = Tid::new(block, offset);
                    let batch = copier.row(owner.backend(), tid, &page)?;
                    let values: Vec<DatumRef<'_>> = batch.row(0).collect();
                    list.push((key(owner, &values)?, tid));
                }
            }
            let be = owner.backend();
            for tid in in_order(list, index) {
                let page = copier.read(be, tid.block)?;
                copier.copy(be, tid, &page)?;
            }
        }
    }
    copier.finish(owner.backend())?;
    Ok(copier.done)
}

/// The TIDs in the index's order.
fn in_order(mut list: Vec<(Vec<Datum>, Tid)>, index: &IndexDesc) -> impl Iterator<Item = Tid> {
    let columns = index.def.keys();
    list.sort_by(|(a, at), (b, bt)| {
        for ((x, y), c) in a.iter().zip(b).zip(columns) {
            let order = match (x.is_null(), y.is_null()) {
                (true, true) => Ordering::Equal,
                (true, false) if c.nulls_first => Ordering::Less,
                (true, false) => Ordering::Greater,
                (false, true) if c.nulls_first => Ordering::Greater,
                (false, true) => Ordering::Less,
                _ => {
                    let cmp = c.support(1).and_then(SupportFunction::comparer);
                    let cmp = cmp.expect("only ordered indexes define an order of rows");
                    let order = cmp.order(x.as_ref(), y.as_ref(), c.collation);
                    if c.desc { order.reverse() } else { order }
                }
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        at.cmp(bt)
    });
    list.into_iter().map(|(_, tid)| tid)
}

struct Copier {
    old: Arc<TableDesc>,
    new: Arc<TableDesc>,
    cutoffs: Cutoffs,
    columns: Vec<AttrNo>,
    page: PageBuf,
    /// `page` has tuples that are not written yet.
    is_open: bool,
    /// Block number of `page`.
    block: u32,
    /// New TIDs of versions that were created by updates, by their old TIDs.
    moved: HashMap<Tid, Tid>,
    /// For each updated version: its new TID, and the old TID of the next version.
    links: Vec<(Tid, Tid)>,
    writing: Strategy,
    done: Copied,
}

impl Copier {
    fn read(&self, be: &mut Backend, block: BlockNo) -> Result<Arc<PageBuf>> {
        be.check_interrupts()?;
        let pool = be.pool_arc(self.old.persistence);
        let rel = self.old.heap(be);
        let pin = pool.read(&rel.main, block, &mut be.strategy)?;
        let copy = pin.share().to_buf();
        Ok(Arc::new(copy))
    }

    /// The versions of a page that may be visible to a snapshot.
    fn visible_versions(
        &mut self,
        be: &mut Backend,
        block: BlockNo,
    ) -> Result<Vec<(OffsetNo, Arc<PageBuf>)>> {
        let page = self.read(be, block)?;
        let view = page.page();
        let mut out = Vec::new();
        if view.is_new() {
            return Ok(out);
        }
        let old = self.old.clone();
        let rel = old.heap(be);
        let cx = be.heap_cx(old.persistence);
        let vis = cx.visibility(rel, view.lsn());
        for offset in 1..=view.max_offset() {
            let Some(header) = view.heap_header(offset) else { continue };
            if !view.line_pointer(offset).is_normal() {
                continue;
            }
            match vis.liveness_before(&header, self.cutoffs.oldest_xmin, &mut 0)? {
                Liveness::Dead => {
                    self.done.dead_tuples += 1;
                    continue;
                }
                Liveness::RecentlyDead(_) => self.done.recently_dead_tuples += 1,
                _ => self.done.tuples += 1.0,
            }
            out.push((offset, page.clone()));
        }
        Ok(out)
    }

    fn row(&self, be: &mut Backend, tid: Tid, page: &PageBuf) -> Result<types::Batch> {
        let mut batch = table::new_batch(&self.old, &self.columns);
        let mut reader = RowReader::new(&self.old, &self.columns)?;
        let tuple = page.page().heap_tuple(tid.offset);
        let tuple =
            tuple.ok_or_else(|| PgError::internal("the tuple to be copied does not exist"))?;
        reader.push(self.old.deformer(), tid, &tuple, &mut batch)?;
        reader.finish(be, &self.old, &mut batch)?;
        Ok(batch)
    }

    fn copy(&mut self, be: &mut Backend, tid: Tid, page: &PageBuf) -> Result<()> {
        let header = page.page().heap_header(tid.offset);
        let header =
            header.ok_or_else(|| PgError::internal("the tuple to be copied does not exist"))?;
        let old = self.old.clone();
        let stored = page.page().heap_tuple(tid.offset);
        let stored =
            stored.ok_or_else(|| PgError::internal("the tuple to be copied does not exist"))?;
        let mut values = old.deformer().deform_all(&stored)?;
        // Values in the old TOAST table are fetched. Values that are compressed inline stay
        // compressed, even if the storage of their column has changed.
        let fetched = header.has_external().then(|| self.row(be, tid, page)).transpose()?;
        for (i, (value, a)) in values.iter_mut().zip(&self.new.tupdesc.attrs).enumerate() {
            match (&value, &fetched) {
                _ if a.dropped => *value = Value::Null,
                (Value::Raw(raw), Some(batch)) if page::varlena::is_external(raw) => {
                    *value = table::value(batch.get(0, i));
                }
                _ => {}
            }
        }
        let mut tuple = Vec::new();
        let new = self.new.clone();
        table::form(be, &new, &values, &mut tuple)?;
        let header = self.new_header(be, &header, &tuple)?;
        if tuple.len() > page::heap_tuple::MAX_HEAP_TUPLE_SIZE {
            return Err(pgerror::pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "row is too big: size {}, maximum size {}",
                tuple.len(),
                page::heap_tuple::MAX_HEAP_TUPLE_SIZE
            ));
        }
        self.add_tuple(be, tid, header, &mut tuple)
    }

    /// The header of the new tuple, with the transaction fields of the old version, in which old
    /// ids are frozen.
    fn new_header(
        &mut self,
        be: &mut Backend,
        old: &HeapTupleHeader,
        tuple: &[u8],
    ) -> Result<HeapTupleHeader> {
        let mut h = HeapTupleHeader::read(tuple)
            .ok_or_else(|| PgError::internal("a formed tuple has a header"))?;
        h.raw_xmin = old.raw_xmin;
        h.raw_xmax = old.raw_xmax;
        h.raw_cid = old.raw_cid;
        h.ctid = old.ctid;
        h.infomask = h.infomask & !m::XACT_MASK | old.infomask & m::XACT_MASK;
        h.infomask2 &= !m2::XACT_MASK;
        let mut kept = Kept { xid: self.cutoffs.freeze_limit, multi: self.cutoffs.multi_cutoff };
        let prepared = freeze::prepare(&mut be.txn, &h, 1, &self.cutoffs, &mut kept)?;
        if let Some(plan) = prepared.plan {
            h.raw_xmax = plan.xmax;
            h.infomask = plan.infomask;
            h.infomask2 = plan.infomask2;
        }
        if kept.xid.precedes(self.done.frozen_xid) {
            self.done.frozen_xid = kept.xid;
        }
        if kept.multi.precedes(self.done.min_multi) {
            self.done.min_multi = kept.multi;
        }
        Ok(h)
    }

    /// Adds the tuple to the page being filled.
    fn add_tuple(
        &mut self,
        be: &mut Backend,
        from: Tid,
        mut header: HeapTupleHeader,
        tuple: &mut [u8],
    ) -> Result<()> {
        let reserved = self.new.heap(be).reserved_space();
        if self.is_open {
            let free = self.page.page().heap_free_space();
            let room = tuple.len().next_multiple_of(8) + reserved;
            if free < room {
                self.write_page(be)?;
            }
        }
        if !self.is_open {
            self.page = PageBuf::new();
            self.page.page_mut().init(0);
            self.is_open = true;
        }
        let offset = self.page.page().max_offset() + 1;
        let to = Tid::new(BlockNo(self.block), offset);
        let next = header.ctid;
        let was_updated = !header.xmax_invalid()
            && !header.xmax_locked_only()
            && next != from
            && next.offset < page::heap_tuple::MOVED_PARTITIONS_OFFSET;
        header.ctid = to;
        header.write(tuple);
        let added = self.page.page_mut().add_item(tuple, AddAt::Any, true);
        if added != Some(offset) {
            return Err(PgError::internal("failed to add tuple"));
        }
        if header.any(m::UPDATED) {
            self.moved.insert(from, to);
        }
        if was_updated {
            self.links.push((to, next));
        }
        Ok(())
    }

    fn write_page(&mut self, be: &mut Backend) -> Result<()> {
        let pool = be.pool_arc(self.new.persistence);
        let new = self.new.clone();
        let rel = new.heap(be);
        let storage = be.storage().clone();
        let xid = be.txn.current_xid()?;
        let mut guard = pool.extend(&rel.main, &mut self.writing)?;
        let mut edit = PageEdit::begin(&storage.wal, &mut be.scratch);
        let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
        let bytes = edit.change(&mut guard, 0, flags).bytes_mut();
        bytes.copy_from_slice(self.page.as_bytes());
        if rel.main.is_logged() {
            edit.log(RmgrId::Xlog, XLOG_FPI, xid)?;
        } else {
            edit.finish_unlogged();
        }
        self.is_open = false;
        self.block += 1;
        self.done.pages = self.block;
        Ok(())
    }

    /// Writes the last page, and sets the `t_ctid` of updated versions to the new TID of the next
    /// version.
    fn finish(&mut self, be: &mut Backend) -> Result<()> {
        if self.is_open {
            self.write_page(be)?;
        }
        let new = self.new.clone();
        let pool = be.pool_arc(new.persistence);
        let storage = be.storage().clone();
        let xid = be.txn.current_xid()?;
        for (at, old_next) in std::mem::take(&mut self.links) {
            let Some(next) = self.moved.get(&old_next) else { continue };
            let rel = new.heap(be);
            let pin = pool.read(&rel.main, at.block, &mut self.writing)?;
            let mut guard = pin.exclusive();
            let Some(mut header) = guard.heap_header(at.offset) else { continue };
            header.ctid = *next;
            let mut edit = PageEdit::begin(&storage.wal, &mut be.scratch);
            let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
            edit.change(&mut guard, 0, flags).set_heap_header(at.offset, &header);
            if rel.main.is_logged() {
                edit.log(RmgrId::Xlog, XLOG_FPI, xid)?;
            } else {
                edit.finish_unlogged();
            }
        }
        Ok(())
    }
}
