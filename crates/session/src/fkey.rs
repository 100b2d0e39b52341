//! Foreign keys. Counterpart: ri_triggers.c.

use crate::core::Core;
use executor::RowEvent;
use pgerror::Result;

/// Notes what a changed row means for foreign keys; the checks run at the end of the statement.
pub(crate) fn queue(core: &mut Core, event: &RowEvent<'_>) -> Result<()> {
    let _ = (core, event);
    Err(pgerror::PgError::unsupported("foreign key or trigger"))
}
