//! Recheck of deferrable unique constraints. Counterpart: commands/constraint.c
//! (`unique_key_recheck`).

use crate::call::TriggerCall;
use crate::host::TriggerHost;
use engine::index::Conflict;
use engine::table::{self, RowFetch};
use pgerror::Result;
use std::ops::ControlFlow;
use types::DatumRef;

/// 23505 if the new row and another row have the same key. If the new version no longer exists, the
/// event of the version that replaced it makes the check.
pub(crate) fn unique_key_recheck(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    let rel = call.rel;
    let index = call.trigger.constraint_index;
    let Some(idx) = rel.indexes.iter().find(|i| i.desc.oid == index) else { return Ok(()) };
    let mut batch = table::new_batch(&rel.table, &idx.desc.columns);
    let mut fetch = RowFetch::new(&rel.table, &idx.desc.columns)?;
    if !fetch.version(host.backend(), call.new, &mut batch)? {
        return Ok(());
    }
    let values: Vec<DatumRef<'_>> = batch.row(0).collect();
    loop {
        let be = host.backend();
        // A single index pass, because two passes could find two versions of one row, before and
        // after an update.
        let (mut own, mut other) = (false, None);
        let mut see = |c: Conflict| {
            if c.own && !own {
                own = true;
            } else if other.is_none() {
                other = Some(c);
            }
            if own && other.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        engine::index::for_each_conflict(be, &idx.desc, &rel.table, &values, &mut see)?;
        match other {
            Some(conflict) if own => {
                if !conflict.wait(be, &rel.table)? {
                    return Err(executor::unique_violation(host, rel, idx, &values)?);
                }
            }
            _ => return Ok(()),
        }
    }
}
