//! The structure of rows. Counterpart: tupconvert.c.

use crate::host::Host;
use pgerror::{Result, pg_err};
use types::fn_context::RowDesc;

/// Error 42804 with this message unless rows have the columns that are expected. Counterpart:
/// `convert_tuples_by_position`.
pub(crate) fn check_structure(
    host: &mut dyn Host,
    from: &RowDesc,
    to: &RowDesc,
    message: &str,
) -> Result<()> {
    let mut given = from.columns.iter().filter(|c| !c.is_dropped());
    let mut same = true;
    for (at, column) in to.columns.iter().filter(|c| !c.is_dropped()).enumerate() {
        let Some(found) = given.next() else {
            same = false;
            continue;
        };
        let fits = found.ty == column.ty && (found.typmod == column.typmod || column.typmod < 0);
        if !fits {
            let shown = |host: &mut dyn Host, ty, typmod| {
                types::fn_context::TypeFunctions::type_name(host, ty, Some(typmod))
            };
            let returned = shown(host, found.ty, found.typmod)?;
            let expected = shown(host, column.ty, column.typmod)?;
            return Err(pg_err!(DATATYPE_MISMATCH, "{message}").detail(format!(
                "Returned type {returned} does not match expected type {expected} in column {}.",
                at + 1
            )));
        }
    }
    if same && given.next().is_none() {
        return Ok(());
    }
    let count = |desc: &RowDesc| desc.columns.iter().filter(|c| !c.is_dropped()).count();
    Err(pg_err!(DATATYPE_MISMATCH, "{message}").detail(format!(
        "Number of returned columns ({}) does not match expected column count ({}).",
        count(from),
        count(to)
    )))
}
