//! What changes of rows set in motion: foreign keys and triggers.

use crate::core::Core;
use executor::RowEvent;
use pgerror::Result;

/// A row of a relation with triggers has changed.
pub(crate) fn row_event(core: &mut Core, event: RowEvent<'_>) -> Result<()> {
    crate::fkey::queue(core, &event)
}
