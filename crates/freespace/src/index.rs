//! The map of an index: a page is free or not. Counterpart: indexfsm.c.

use crate::Fsm;
use ids::BlockNo;
use pgerror::Result;

/// A free page, taken out of the map. Counterpart: GetFreeIndexPage.
pub fn take_free_page(_fsm: Fsm<'_>) -> Result<Option<BlockNo>> {
    todo!()
}

/// Counterpart: RecordFreeIndexPage.
pub fn record_free(_fsm: Fsm<'_>, _block: BlockNo) -> Result<()> {
    todo!()
}

/// Counterpart: RecordUsedIndexPage.
pub fn record_used(_fsm: Fsm<'_>, _block: BlockNo) -> Result<()> {
    todo!()
}

/// Counterpart: IndexFreeSpaceMapVacuum.
pub fn vacuum(fsm: Fsm<'_>) -> Result<()> {
    fsm.vacuum()
}
