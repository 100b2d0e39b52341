//! The free space map of an index, whose pages are either free or in use. Counterpart: indexfsm.c.

use crate::Fsm;
use ids::BlockNo;
use page::PAGE_SIZE;
use pgerror::Result;

/// A free page, which is marked used in the map; `None` if there is none. Counterpart:
/// GetFreeIndexPage.
pub fn take_free_page(fsm: Fsm<'_>) -> Result<Option<BlockNo>> {
    let found = fsm.search(PAGE_SIZE / 2)?;
    if let Some(block) = found {
        record_used(fsm, block)?;
    }
    Ok(found)
}

/// Marks a page free. Counterpart: RecordFreeIndexPage.
pub fn record_free(fsm: Fsm<'_>, block: BlockNo) -> Result<()> {
    fsm.record(block, PAGE_SIZE - 1)
}

/// Marks a page used. Counterpart: RecordUsedIndexPage.
pub fn record_used(fsm: Fsm<'_>, block: BlockNo) -> Result<()> {
    fsm.record(block, 0)
}

/// Updates the upper levels of the map. Counterpart: IndexFreeSpaceMapVacuum.
pub fn vacuum(fsm: Fsm<'_>) -> Result<()> {
    fsm.vacuum()
}
