//! The map of one relation.

use bufmgr::{BufferPool, ForkBuffers};
use ids::BlockNo;
use pgerror::Result;
use sync::Arc;

/// The free space map of a relation: a view of its fork. Cheap to make.
#[derive(Clone, Copy)]
pub struct Fsm<'a> {
    pub pool: &'a BufferPool,
    /// The relation's FSM fork (its file may not exist yet).
    pub fork: &'a Arc<ForkBuffers>,
}

impl<'a> Fsm<'a> {
    pub fn new(pool: &'a BufferPool, fork: &'a Arc<ForkBuffers>) -> Fsm<'a> {
        Fsm { pool, fork }
    }

    /// A page with at least `needed` bytes, as far as the map knows. Counterpart: GetPageWithFreeSpace.
    pub fn search(&self, _needed: usize) -> Result<Option<BlockNo>> {
        todo!()
    }

    /// Notes the space of a page; the upper levels learn of it in the next vacuum.
    /// Counterpart: RecordPageWithFreeSpace.
    pub fn record(&self, _block: BlockNo, _space: usize) -> Result<()> {
        todo!()
    }

    /// `record`, then `search`, preferring pages nearby. Counterpart: RecordAndGetPageWithFreeSpace.
    pub fn record_and_search(
        &self,
        _old: BlockNo,
        _old_space: usize,
        _needed: usize,
    ) -> Result<Option<BlockNo>> {
        todo!()
    }

    /// In redo. Counterpart: XLogRecordPageWithFreeSpace.
    pub fn record_in_redo(&self, _block: BlockNo, _space: usize) -> Result<()> {
        todo!()
    }

    /// What the map says of a page, in bytes (rounded down). Counterpart: GetRecordedFreeSpace.
    pub fn recorded(&self, _block: BlockNo) -> Result<usize> {
        todo!()
    }

    /// Brings the upper levels up to date. Counterpart: FreeSpaceMapVacuum.
    pub fn vacuum(&self) -> Result<()> {
        todo!()
    }

    /// As `vacuum`, for heap blocks from `start` up to `end` (exclusive).
    pub fn vacuum_range(&self, _start: BlockNo, _end: BlockNo) -> Result<()> {
        todo!()
    }

    /// Before the heap is cut to `nblocks`: clears what lies beyond (logged as an image) and returns the
    /// length the map's fork is to be cut to; `None` if there is nothing to cut.
    /// Counterpart: FreeSpaceMapPrepareTruncateRel.
    pub fn prepare_truncate(&self, _nblocks: u32) -> Result<Option<u32>> {
        todo!()
    }
}
