//! The passes over the indexes, which remove the entries of dead rows, and over the pages with dead
//! line pointers, which become unused. Counterpart: `lazy_vacuum`, `lazy_vacuum_heap_rel`.

use super::{BYPASS_PAGES_SHARE, IndexVacuumResult, Phase, Vacuum, progress};
use crate::backend::Backend;
use bufmgr::{BufferUsage, READ_AHEAD_MAX, Strategy};
use heap::HeapCx;
use heap::vacuum::free_dead;
use ids::{BlockNo, OffsetNo, Persistence, Tid};
use pgerror::{PgError, Result};

impl Vacuum<'_> {
    pub(super) fn finish_passes(&mut self, be: &mut Backend, ring: &mut Strategy) -> Result<()> {
        let few = f64::from(self.dead_pages) < f64::from(self.result.pages) * BYPASS_PAGES_SHARE
            && self.result.index_scans == 0
            && self.options.index_cleanup.is_none();
        self.check_failsafe(be);
        self.result.dead_pages = self.dead_pages;
        self.result.bypassed = !self.cleans_indexes() || few && !self.dead.is_empty();
        if self.cleans_indexes() && !few {
            self.vacuum_indexes(be, ring)?;
        }
        for n in 0..self.indexes.len() {
            if !self.cleans_indexes() {
                break;
            }
            self.clean_up_index(be, ring, n)?;
        }
        self.phase = Phase::Scan(None, 0);
        Ok(())
    }

    fn clean_up_index(&mut self, be: &mut Backend, ring: &mut Strategy, n: usize) -> Result<()> {
        let exact = (!self.skipped_visible && self.result.scanned_pages == self.result.pages)
            .then_some(self.result.live_tuples);
        self.phase = Phase::CleanUpIndex(n);
        self.progress.set(progress::PHASE, progress::CLEAN_UP_INDEXES);
        let index = &self.indexes[n];
        let handle = index.open(be)?.clone();
        let stats = self.stats[n].take();
        let done = self.with_index_cx(be, ring, index.persistence(), &mut |cx| {
            handle.vacuum_cleanup(cx, stats.clone(), exact)
        })?;
        let mut out = IndexVacuumResult { estimated: true, ..Default::default() };
        if let Some(d) = done {
            out = IndexVacuumResult {
                pages: d.num_pages,
                tuples: d.num_index_tuples,
                tuples_removed: d.tuples_removed,
                pages_newly_deleted: d.pages_newly_deleted,
                pages_deleted: d.pages_deleted,
                pages_free: d.pages_free,
                estimated: d.estimated_count,
            };
        }
        self.result.indexes.push(out);
        Ok(())
    }

    /// Calls `work` with the context of an index operation that uses the ring, and whose delay
    /// points are this VACUUM's.
    fn with_index_cx<T>(
        &self,
        be: &mut Backend,
        ring: &mut Strategy,
        persistence: Persistence,
        work: &mut dyn FnMut(&mut access::Cx<'_>) -> Result<T>,
    ) -> Result<T> {
        // What becomes dirty is counted in one place, for ring and session.
        let before = BufferUsage { dirtied: 0, ..be.buffer_usage() };
        let delay = |used: &BufferUsage| {
            let mut total = before;
            total += *used;
            self.delay.point(&total)
        };
        ring.adopt_session(&be.strategy);
        let mut cx = be.index_cx(persistence);
        cx.strategy = ring;
        if !self.delay.is_off() {
            cx.delay = Some(&delay);
        }
        work(&mut cx)
    }

    /// One pass over all indexes, which removes entries that point to dead line pointers; then
    /// makes these line pointers unused. If the failsafe is enabled meanwhile, the remaining
    /// indexes are left out, and the line pointers stay.
    pub(super) fn vacuum_indexes(&mut self, be: &mut Backend, ring: &mut Strategy) -> Result<()> {
        if self.dead.is_empty() || self.indexes.is_empty() {
            return Ok(());
        }
        for n in 0..self.indexes.len() {
            self.check_failsafe(be);
            if self.result.failsafe {
                self.dead = Default::default();
                return Ok(());
            }
            self.phase = Phase::VacuumIndex(n);
            self.progress.set(progress::PHASE, progress::VACUUM_INDEXES);
            let index = &self.indexes[n];
            let handle = index.open(be)?.clone();
            let stats = self.stats[n].take();
            let dead = &self.dead;
            let done = self.with_index_cx(be, ring, index.persistence(), &mut |cx| {
                handle.bulk_delete(cx, stats.clone(), &mut |tid: Tid| dead.contains(tid))
            })?;
            self.stats[n] = Some(done);
        }
        self.result.index_scans += 1;
        self.progress.set(progress::INDEX_PASSES, self.result.index_scans.into());
        self.free_line_pointers(be, ring)
    }

    /// Makes the dead line pointers unused.
    fn free_line_pointers(&mut self, be: &mut Backend, ring: &mut Strategy) -> Result<()> {
        self.phase = Phase::FreeDead(None, 0);
        self.progress.set(progress::PHASE, progress::VACUUM_HEAP);
        let dead = std::mem::take(&mut self.dead);
        let (mut done, mut read_to) = (0, BlockNo(0));
        dead.for_each_block::<PgError>(&mut |block, offsets| {
            self.phase = Phase::FreeDead(Some(block), 0);
            self.delay_point(be, ring)?;
            if block >= read_to {
                let main = &self.table.heap(be).main;
                let pool = be.pool(self.table.persistence);
                let ahead = dead.run_length(block, READ_AHEAD_MAX);
                read_to = BlockNo(block.0 + pool.read_ahead(main, block, ahead, ring)?.max(1));
            }
            self.free_in_block(be, ring, block, offsets)?;
            done += 1;
            self.progress.set(progress::BLOCKS_VACUUMED, done);
            Ok(())
        })?;
        self.progress.set(progress::DEAD, 0);
        Ok(())
    }

    fn free_in_block(
        &mut self,
        be: &mut Backend,
        ring: &mut Strategy,
        block: BlockNo,
        offsets: &[OffsetNo],
    ) -> Result<()> {
        let rel = self.table.heap(be);
        let pool = be.pool_arc(self.table.persistence);
        let oldest = self.cutoffs.oldest_xmin;
        let cx = be.heap_cx_with(self.table.persistence, ring);
        let mut cx = HeapCx { pool: &pool, ..cx };
        let mut slot = None;
        let freed = free_dead(&mut cx, rel, block, offsets, oldest, &mut slot);
        self.phase = Phase::FreeDead(Some(block), cx.current_offset);
        freespace::Fsm::new(&pool, &rel.fsm).record(block, freed?)
    }
}
