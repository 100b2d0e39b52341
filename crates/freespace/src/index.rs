//! The map of an index: a page is free or not. Counterpart: indexfsm.c.

use crate::Fsm;
use ids::BlockNo;
use page::PAGE_SIZE;
use pgerror::Result;

/// A free page, taken out of the map. Counterpart: GetFreeIndexPage.
pub fn take_free_page(fsm: Fsm<'_>) -> Result<Option<BlockNo>> {
    let found = fsm.search(PAGE_SIZE / 2)?;
    if let Some(block) = found {
        record_used(fsm, block)?;
    }
    Ok(found)
}

/// Counterpart: RecordFreeIndexPage.
pub fn record_free(fsm: Fsm<'_>, block: BlockNo) -> Result<()> {
    fsm.record(block, PAGE_SIZE - 1)
}

/// Counterpart: RecordUsedIndexPage.
pub fn record_used(fsm: Fsm<'_>, block: BlockNo) -> Result<()> {
    fsm.record(block, 0)
}

/// Counterpart: IndexFreeSpaceMapVacuum.
pub fn vacuum(fsm: Fsm<'_>) -> Result<()> {
    fsm.vacuum()
}
