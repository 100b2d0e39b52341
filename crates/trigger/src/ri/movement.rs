//! Foreign keys that refer to a row which an UPDATE moves to another partition: the actions of the
//! UPDATE are those of the constraint on the partitioned table that the statement names.
//! Counterpart: `ExecCrossPartitionUpdateForeignKey`.

use super::read::KeyReader;
use crate::host::TriggerHost;
use crate::registry::{Side, constraint_function};
use engine::SnapshotKind;
use executor::{Change, OpenRel, Trigger};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use types::Datum;

/// 0A000 if a foreign key refers to a table between the partition and `root`, because no event of
/// that table is queued.
pub(crate) fn check_ancestors(
    host: &mut dyn TriggerHost,
    root: &OpenRel,
    source: &OpenRel,
) -> Result<()> {
    for oid in host.index_ancestors(source.table.oid)? {
        if oid == root.table.oid {
            break;
        }
        let rel = host.open_relation(oid)?;
        let is_referenced = |t: &Trigger| {
            let side = constraint_function(t.function).map(|f| f.side);
            t.is_on(Change::Update) && !t.is_clone && side == Some(Side::Referenced)
        };
        if rel.triggers.list.iter().any(is_referenced) {
            let (name, root) = (&rel.table.name, &root.table.name);
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "cannot move tuple across partitions when a non-root ancestor of the source \
                 partition is directly referenced in a foreign key"
            )
            .detail(format!(
                "A foreign key points to ancestor \"{name}\" but not the root ancestor \"{root}\"."
            ))
            .hint(format!("Consider defining the foreign key on table \"{root}\".")));
        }
    }
    Ok(())
}

/// The key of a version in a partition, in the order of the trigger's key columns.
pub(crate) fn key_values(
    host: &mut dyn TriggerHost,
    (root, trigger): (&OpenRel, &Trigger),
    (part, tid): (&OpenRel, Tid),
) -> Result<Option<Arc<[Datum]>>> {
    let mut columns = Vec::with_capacity(trigger.key.len());
    for &n in &trigger.key {
        let name = &root.columns.columns[n as usize - 1].name;
        let own = part.columns.columns.iter();
        let at = own.clone().position(|c| !c.is_dropped() && c.name == *name);
        let at = at.ok_or_else(|| PgError::internal("partition without a key column"))?;
        columns.push(at as AttrNo + 1);
    }
    let mut reader = KeyReader::of_columns(trigger.oid, &part.table, &columns)?;
    reader.read(host.backend(), tid, SnapshotKind::Any)
}

/// True if the key has changed, and rows can refer to the old one.
pub(crate) fn is_action_required(
    host: &mut dyn TriggerHost,
    of: (&OpenRel, &Trigger),
    [old, new]: [(&OpenRel, Tid); 2],
) -> Result<bool> {
    let (Some(old), Some(new)) = (key_values(host, of, old)?, key_values(host, of, new)?) else {
        return Ok(false);
    };
    Ok(!old.iter().any(Datum::is_null) && old != new)
}
