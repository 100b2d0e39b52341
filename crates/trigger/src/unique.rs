//! Recheck of deferrable unique and exclusion constraints. Counterpart: commands/constraint.c
//! (`unique_key_recheck`).

use crate::call::TriggerCall;
use crate::host::TriggerHost;
use engine::index::Conflict;
use engine::table::{self, RowFetch};
use engine::{Snapshot, SnapshotKind};
use executor::{RowWriter, Services, WriteHost};
use pgerror::Result;
use std::ops::ControlFlow;
use types::DatumRef;

/// The trigger's host as that of a row writer.
struct Writing<'h>(&'h mut dyn TriggerHost);

impl WriteHost for Writing<'_> {
    fn expressions(&mut self) -> &mut dyn eval::Host {
        self.0.expressions()
    }

    fn services(&mut self) -> &mut dyn Services {
        self.0
    }
}

/// 23P01 if another row excludes the new row, or the version that replaced it; not if it is
/// deleted.
fn exclusion_recheck(
    host: &mut dyn TriggerHost,
    call: &TriggerCall<'_>,
    position: usize,
) -> Result<()> {
    let table = &call.rel.table;
    let now = Snapshot::of_kind(SnapshotKind::SelfNow);
    let tid = table::latest_tid(host.backend(), table, call.new, &now)?;
    let mut batch = table::new_batch(table, &[]);
    if !table::fetch(host.backend(), table, tid, &now, &[], &mut batch)? {
        return Ok(());
    }
    let mut host = Writing(host);
    let mut writer = RowWriter::new(call.rel, host.services().as_facts())?;
    let Some(own) = writer.stored_values(&mut host, position, tid)? else { return Ok(()) };
    match writer.find_excluding(&mut host, position, &own, (Some(tid), true))? {
        None => Ok(()),
        Some(other) => {
            let (rel, new) = (call.rel, (&own[..], false));
            let idx = &rel.indexes[position];
            Err(executor::exclusion_violation(host.services(), rel, idx, new, &other)?)
        }
    }
}

/// 23505 if the new row and another row have the same key. If the new version no longer exists, the
/// event of the version that replaced it makes the check.
pub(crate) fn unique_key_recheck(host: &mut dyn TriggerHost, call: &TriggerCall<'_>) -> Result<()> {
    let rel = call.rel;
    let index = call.trigger.constraint_index;
    let position = rel.indexes.iter().position(|i| i.desc.oid == index);
    let Some(position) = position else { return Ok(()) };
    let idx = &rel.indexes[position];
    if !idx.exclusion.is_empty() {
        return exclusion_recheck(host, call, position);
    }
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
