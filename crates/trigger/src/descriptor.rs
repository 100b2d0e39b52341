//! Descriptors of a table's triggers, made from `pg_trigger`.

use crate::registry::{self, Side};
use catalog::rows::PgTrigger;
use catalog::{CatCx, RelDesc};
use executor::trigger::kind;
use executor::{Change, Level, RelTriggers, Timing, Trigger};
use ids::AttrNo;
use ids::code::Firing;
use pgerror::Result;
use plan::nodetree;

/// The triggers of a table.
pub fn describe(cat: &mut CatCx<'_>, rel: &RelDesc) -> Result<RelTriggers> {
    let mut list = Vec::new();
    let mut columns = Some(Vec::new());
    for row in &rel.triggers {
        let key = key_of(cat, row)?;
        let is_constraint = key.is_some();
        let trigger = of_row(row, key.unwrap_or_default())?;
        if let Some(all) = &mut columns {
            match update_columns(&trigger, is_constraint) {
                Some(some) => all.extend_from_slice(some),
                None => columns = None,
            }
        }
        list.push(trigger);
    }
    if let Some(columns) = &mut columns {
        columns.sort_unstable();
        columns.dedup();
    }
    Ok(RelTriggers::new(list, columns))
}

/// The columns whose update needs an event for this trigger; `None`: any column.
fn update_columns(t: &Trigger, is_constraint: bool) -> Option<&[AttrNo]> {
    let is_after_row = t.timing == Timing::After && t.level == Level::Row;
    match () {
        () if is_constraint => Some(&t.key),
        () if !is_after_row || !t.is_on(Change::Update) => Some(&[]),
        () if t.firing == Firing::Disabled => Some(&[]),
        () if t.columns.is_empty() => None,
        () => Some(&t.columns),
    }
}

/// The columns of the trigger's table on which its constraint depends; `None` if the trigger is not
/// that of a constraint.
fn key_of(cat: &mut CatCx<'_>, row: &PgTrigger) -> Result<Option<Box<[AttrNo]>>> {
    let Some(function) = registry::constraint_function(row.tgfoid) else { return Ok(None) };
    let Some(constraint) = cat.constraint(row.tgconstraint)? else { return Ok(None) };
    let key = match function.side {
        Side::Referenced => &constraint.confkey,
        Side::Referencing | Side::Unique => &constraint.conkey,
    };
    Ok(Some(key.clone().unwrap_or_default().into()))
}

fn of_row(row: &PgTrigger, key: Box<[AttrNo]>) -> Result<Trigger> {
    let has = |bit: i16| row.tgtype & bit != 0;
    let condition = match &row.tgqual {
        Some(text) => {
            let mut e = nodetree::read_expr(text.as_str())?;
            plan::walk::fix_tableoid(&mut e, row.tgrelid);
            Some(e)
        }
        None => None,
    };
    Ok(Trigger {
        oid: row.oid,
        name: row.tgname.as_str().into(),
        function: row.tgfoid,
        timing: match () {
            () if has(kind::BEFORE) => Timing::Before,
            () if has(kind::INSTEAD) => Timing::Instead,
            () => Timing::After,
        },
        level: if has(kind::ROW) { Level::Row } else { Level::Statement },
        events: row.tgtype & (kind::INSERT | kind::UPDATE | kind::DELETE | kind::TRUNCATE),
        firing: row.tgenabled,
        constraint: row.tgconstraint,
        constraint_index: row.tgconstrindid,
        deferrable: row.tgdeferrable,
        initially_deferred: row.tginitdeferred,
        is_internal: row.tgisinternal,
        args: arguments(row),
        columns: row.tgattr.iter().copied().collect(),
        condition,
        old_table: row.tgoldtable.as_ref().map(|n| n.as_str().into()),
        new_table: row.tgnewtable.as_ref().map(|n| n.as_str().into()),
        key,
        is_clone: row.tgparentid.is_valid(),
    })
}

/// The arguments, which are stored as zero-terminated strings.
fn arguments(row: &PgTrigger) -> Box<[Box<str>]> {
    let count = usize::try_from(row.tgnargs).unwrap_or(0);
    let all = row.tgargs.split(|b| *b == 0).take(count);
    all.map(|arg| String::from_utf8_lossy(arg).into()).collect()
}
