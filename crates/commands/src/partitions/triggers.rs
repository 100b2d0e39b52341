//! Row triggers of partitioned tables, which each partition has as well.
//!
//! Counterpart: `CloneRowTriggersToPartition`, `DropClonedTriggersFromPartition`, the recursion of
//! `CreateTriggerFiringOn` and `EnableDisableTriggerNew2`.

use super::indexes::remove_partition_dependencies;
use crate::trigger;
use catalog::depend::DropBehavior;
use catalog::rows::{CatalogRow, Int2Vector, PgTrigger, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::deletion;
use executor::trigger::kind;
use ids::code::DepType;
use ids::{AttrNo, Oid, RelKind};
use partition::Detached;
use pgerror::{PgError, Result, bail};
use plan::Expr;
use utility::host::CommandHost;
use utility::{names, stored};

/// The range-table indexes of OLD and NEW in the condition of a trigger.
const ROWS: [i32; 2] = [1, 2];

/// Gives a partition the row triggers of the partitioned table.
pub fn clone_to_partition(host: &mut dyn CommandHost, table: Oid, partition: Oid) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    for t in &rel.triggers {
        if t.tgtype & kind::ROW != 0 && !t.tgisinternal {
            let part = host.catalog().relation(partition)?;
            clone_one(host, t, (&rel, &part), false)?;
        }
    }
    Ok(())
}

/// Gives all partitions of a table its new row trigger. With `replace`, it replaces triggers of the
/// partitions with the same name.
pub fn clone_to_all(host: &mut dyn CommandHost, t: &PgTrigger, replace: bool) -> Result<()> {
    let rel = host.catalog().relation(t.tgrelid)?;
    if rel.kind() != RelKind::PartitionedTable || t.tgtype & kind::ROW == 0 || t.tgisinternal {
        return Ok(());
    }
    let desc = partition::partition_desc(&mut host.catalog(), &rel, Detached::Omit)?;
    for p in &desc.partitions {
        host.lock_relation(p.oid, names::mode::SHARE_ROW_EXCLUSIVE)?;
        let part = host.catalog().relation(p.oid)?;
        clone_one(host, t, (&rel, &part), replace)?;
    }
    Ok(())
}

fn clone_one(
    host: &mut dyn CommandHost,
    t: &PgTrigger,
    (rel, part): (&RelDesc, &RelDesc),
    replace: bool,
) -> Result<()> {
    let map = partition::column_map(rel, part)?;
    let mut condition = match &t.tgqual {
        Some(text) => Some(plan::nodetree::read_expr(text.as_str())?),
        None => None,
    };
    let mut columns: Vec<AttrNo> = t.tgattr.to_vec();
    if let Some(map) = &map {
        for e in condition.iter_mut() {
            map_condition(e, map)?;
        }
        columns.iter_mut().for_each(|n| *n = map[*n as usize - 1]);
    }
    let existing = existing(host, t, part, replace)?;
    let oid = match &existing {
        Some(row) => row.oid,
        None => host.catalog().new_oid(indexes::PG_TRIGGER_OID_INDEX)?,
    };
    let constraint = match t.tgconstraint.is_valid() {
        true => trigger::add_constraint(
            host,
            part,
            t.tgname.as_str(),
            (t.tgdeferrable, t.tginitdeferred),
        )?,
        false => Oid::INVALID,
    };
    let row = PgTrigger {
        oid,
        tgrelid: part.oid(),
        tgparentid: t.oid,
        tgconstraint: constraint,
        tgattr: Int2Vector(columns.into()),
        tgqual: condition.as_ref().map(stored::write),
        ..t.clone()
    };
    trigger::store(host, &row, existing.as_ref())?;
    let mut cat = host.catalog();
    let this = ObjectAddress::of::<PgTrigger>(oid);
    let parent = ObjectAddress::of::<PgTrigger>(t.oid);
    cat.record_dependency(this, parent, DepType::PartitionPrimary)?;
    cat.record_dependency(this, ObjectAddress::relation(part.oid()), DepType::PartitionSecondary)?;
    // As in PostgreSQL, without the columns in the condition.
    trigger::record(host, &row, None)?;
    clone_to_all(host, &row, replace)
}

fn map_condition(e: &mut Expr, map: &[AttrNo]) -> Result<()> {
    for varno in ROWS {
        if !partition::map_columns_of(e, varno, map)? {
            return Err(PgError::unsupported("whole row in the condition of a trigger"));
        }
    }
    Ok(())
}

/// The trigger of the partition that is replaced: with `replace`, the one with this name, otherwise
/// only a child of the trigger. Error 42710 for another trigger with the name.
fn existing(
    host: &mut dyn CommandHost,
    t: &PgTrigger,
    part: &RelDesc,
    replace: bool,
) -> Result<Option<catalog::Row<PgTrigger>>> {
    let (name, table) = (t.tgname.as_str(), part.name());
    let index = indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX;
    let found = host.catalog().scan(index, &[part.oid().into(), name.into()])?.pop();
    let is = match &found {
        Some(row) if replace && row.tgconstraint.is_valid() => "is a constraint trigger",
        Some(row) if !replace && row.tgparentid != t.oid => "already exists",
        _ => return Ok(found),
    };
    bail!(DUPLICATE_OBJECT, "trigger \"{name}\" for relation \"{table}\" {is}")
}

/// Drops the triggers that a detached partition has only as a partition. Those of foreign keys are
/// kept.
pub fn drop_clones(host: &mut dyn CommandHost, partition: Oid) -> Result<()> {
    let index = indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX;
    let rows = host.catalog().scan(index, &[partition.into()])?;
    let mut gone = Vec::new();
    for t in rows.iter().filter(|t| t.tgparentid.is_valid() && !t.tgconstrrelid.is_valid()) {
        let this = ObjectAddress::of::<PgTrigger>(t.oid);
        remove_partition_dependencies(host, this, PgTrigger::RELATION)?;
        gone.push(this);
    }
    host.catalog().increment_command_counter()?;
    deletion::drop_objects(host, &gone, DropBehavior::Restrict, true)
}
