//! Events of changed rows: foreign keys and triggers.

use crate::core::Core;
use executor::RowEvent;
use pgerror::Result;

/// Queues the events of a changed row of a relation with triggers.
pub(crate) fn row_event(core: &mut Core, event: RowEvent<'_>) -> Result<()> {
    crate::fkey::queue(core, &event)
}
