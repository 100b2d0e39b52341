//! Descriptors of a table's triggers, made from `pg_trigger`.

use crate::registry;
use catalog::rows::PgTrigger;
use catalog::{CatCx, RelDesc};
use executor::{Level, RelTriggers, Timing, Trigger};
use ids::AttrNo;
use pgerror::Result;

/// Bits of `pg_trigger.tgtype`.
const ROW: i16 = 1 << 0;
const BEFORE: i16 = 1 << 1;
const INSTEAD: i16 = 1 << 6;

/// The triggers of a table.
pub fn describe(cat: &mut CatCx<'_>, rel: &RelDesc) -> Result<RelTriggers> {
    let mut list = Vec::new();
    let mut columns = Vec::new();
    let mut all_known = true;
    for row in &rel.triggers {
        let key = key_of(cat, row)?;
        all_known &= key.is_some();
        columns.extend_from_slice(key.as_deref().unwrap_or_default());
        list.push(of_row(row, key.unwrap_or_default()));
    }
    columns.sort_unstable();
    columns.dedup();
    Ok(RelTriggers { list: list.into(), update_columns: all_known.then(|| columns.into()) })
}

/// The columns of the trigger's table on which its constraint depends; `None` if the trigger is not
/// that of a constraint.
fn key_of(cat: &mut CatCx<'_>, row: &PgTrigger) -> Result<Option<Box<[AttrNo]>>> {
    let Some(function) = registry::constraint_function(row.tgfoid) else { return Ok(None) };
    let Some(constraint) = cat.constraint(row.tgconstraint)? else { return Ok(None) };
    let key = match function.side {
        registry::Side::Referenced => &constraint.confkey,
        registry::Side::Referencing | registry::Side::Unique => &constraint.conkey,
    };
    Ok(Some(key.clone().unwrap_or_default().into()))
}

fn of_row(row: &PgTrigger, key: Box<[AttrNo]>) -> Trigger {
    use catalog::unsupported::event;
    let has = |bit: i16| row.tgtype & bit != 0;
    Trigger {
        oid: row.oid,
        name: row.tgname.as_str().into(),
        function: row.tgfoid,
        timing: match () {
            () if has(BEFORE) => Timing::Before,
            () if has(INSTEAD) => Timing::Instead,
            () => Timing::After,
        },
        level: if has(ROW) { Level::Row } else { Level::Statement },
        on_insert: has(event::INSERT),
        on_update: has(event::UPDATE),
        on_delete: has(event::DELETE),
        firing: row.tgenabled,
        constraint: row.tgconstraint,
        constraint_index: row.tgconstrindid,
        is_plain: row.tgnargs == 0
            && row.tgqual.is_none()
            && row.tgattr.is_empty()
            && row.tgoldtable.is_none()
            && row.tgnewtable.is_none(),
        deferrable: row.tgdeferrable,
        initially_deferred: row.tginitdeferred,
        key,
    }
}
