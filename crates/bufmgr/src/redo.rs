//! Pages for redo. Counterpart: xlogutils.c.

use crate::{BufferPool, ExclusiveGuard};
use ids::{BlockNo, Fork, Oid, RelFile};
use pgerror::Result;
use wal::DecodedRecord;

/// What redo has to do with a block.
pub enum Redo<'a> {
    /// The change is not on the page yet: apply it (and stamp `record.end`).
    Apply(ExclusiveGuard<'a>),
    /// The page is as after the record: its image was restored.
    Restored(ExclusiveGuard<'a>),
    /// The page has this change already.
    Done(ExclusiveGuard<'a>),
    /// The block or file does not exist (dropped or truncated later in the log).
    Missing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RedoMode {
    /// Read the page and latch it exclusively.
    Normal,
    /// As Normal, waiting for a cleanup latch.
    Cleanup,
    /// The record has WILL_INIT: a zeroed page, always to be applied.
    Init,
}

/// Pages that redo missed. Must be empty when recovery reaches consistency.
#[derive(Debug, Default)]
pub struct InvalidPages {}

impl InvalidPages {
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    /// The relation was dropped.
    pub fn forget_relation(&mut self, _rel: RelFile, _fork: Fork, _from: BlockNo) {
        todo!()
    }
    pub fn forget_database(&mut self, _database: Oid) {
        todo!()
    }
    /// At consistency: a PANIC naming the first if there are any.
    pub fn check(&self) -> Result<()> {
        todo!()
    }
}

/// State of redo's page access; one per recovery.
pub struct RedoCx<'a> {
    pub pool: &'a BufferPool,
    pub invalid: InvalidPages,
}

impl<'a> RedoCx<'a> {
    pub fn new(pool: &'a BufferPool) -> RedoCx<'a> {
        RedoCx { pool, invalid: InvalidPages::default() }
    }
}

/// Latches block `id` of the record and says what to do with it.
/// Counterpart: XLogReadBufferForRedoExtended.
pub fn read_for_redo<'a>(
    _cx: &mut RedoCx<'a>,
    _record: &DecodedRecord,
    _id: u8,
    _mode: RedoMode,
) -> Result<Redo<'a>> {
    todo!()
}

/// As `read_for_redo`, for a block that the record does not reference (visibility map pages).
/// Counterpart: XLogReadBufferExtended.
pub fn read_block<'a>(
    _cx: &mut RedoCx<'a>,
    _rel: RelFile,
    _fork: Fork,
    _block: BlockNo,
) -> Result<Option<ExclusiveGuard<'a>>> {
    todo!()
}

/// For `Redo::Apply`: changes the page, marks it dirty and stamps the record's end on it.
pub fn apply(
    _guard: &mut ExclusiveGuard<'_>,
    _record: &DecodedRecord,
    _change: impl FnOnce(page::PageMut<'_>) -> Result<()>,
) -> Result<()> {
    todo!()
}
