//! DETACH PARTITION: a partition becomes an independent table.
//!
//! CONCURRENTLY uses two transactions. The first one marks the partition: snapshots that see it
//! leave the partition out. The second one waits until no transaction uses the partitioned table
//! with an older snapshot, and then removes the connection.
//!
//! Counterpart: `ATExecDetachPartition`, `DetachPartitionFinalize`.

use super::attach::are_implied;
use super::{bound, indexes, triggers};
use crate::{constraint, foreign_key, hierarchy};
use catalog::RelDesc;
use catalog::rows::{PgClass, PgInherits, indexes as catalog_indexes};
use ids::code::PartStrategy;
use ids::{Oid, RelKind};
use lmgr::{LockMode, LockTag};
use parse::ast::RangeVar;
use partition::Detached;
use pgerror::{Result, bail, pg_err};
use std::sync::Arc;
use utility::host::CommandHost;
use utility::{class, names};

/// Detaches the partition with this name from `rel`, which is locked.
pub fn detach(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    name: &RangeVar,
    concurrent: bool,
) -> Result<()> {
    let default = bound::default_of(host, rel)?;
    if let Some(default) = default {
        if concurrent {
            bail!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot detach partitions concurrently when a default partition exists"
            );
        }
        host.lock_relation(default, names::mode::ACCESS_EXCLUSIVE)?;
    }
    let lock = match concurrent {
        true => names::mode::SHARE_UPDATE_EXCLUSIVE,
        false => names::mode::ACCESS_EXCLUSIVE,
    };
    let part = names::open(host, name, lock)?;
    if !concurrent {
        hierarchy::disconnect(host, &part, rel, false)?;
        check_references(host, &part)?;
        return finish(host, rel.oid(), part.oid(), default);
    }
    mark(host, rel, &part)?;
    check_references(host, &part)?;
    let key = partition::partition_key(&mut host.catalog(), rel)?;
    if key.strategy != PartStrategy::Hash {
        add_constraint(host, &part)?;
    }
    let (table, partition) = (rel.oid(), part.oid());
    host.catalog().invalidate_relation(table, false);
    host.next_transaction()?;
    // Waits for the transactions that use the table. They may have older snapshots.
    let tag = LockTag::relation(host.backend().database(), table);
    host.backend().wait_for_lockers(tag, LockMode::AccessExclusive)?;
    host.lock_relation(table, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
    host.lock_relation(partition, names::mode::ACCESS_EXCLUSIVE)?;
    let Some(rel) = host.catalog().try_relation(table)? else {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "partitioned table \"{}\" was removed concurrently",
            rel.name()
        );
    };
    let Some(part) = host.catalog().try_relation(partition)? else {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "partition \"{}\" was removed concurrently",
            part.name()
        );
    };
    hierarchy::disconnect(host, &part, &rel, true)?;
    finish(host, table, partition, None)
}

/// DETACH PARTITION … FINALIZE.
pub fn finalize(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, name: &RangeVar) -> Result<()> {
    let part = names::open(host, name, names::mode::ACCESS_EXCLUSIVE)?;
    // The second transaction of the first attempt may not have waited for the older snapshots.
    host.backend().wait_for_older_snapshots()?;
    hierarchy::disconnect(host, &part, rel, true)?;
    finish(host, rel.oid(), part.oid(), None)
}

/// Marks the partition as being detached. Counterpart: `MarkInheritDetached`.
fn mark(host: &mut dyn CommandHost, rel: &RelDesc, part: &RelDesc) -> Result<()> {
    let mut cat = host.catalog();
    let index = catalog_indexes::PG_INHERITS_PARENT_INDEX;
    let rows = cat.scan(index, &[rel.oid().into()])?;
    if let Some(pending) = rows.iter().find(|r| r.inhdetachpending) {
        let schema = cat.namespace_name(rel.class.relnamespace)?.unwrap_or_default();
        let name = cat.class(pending.inhrelid)?.relname;
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "partition \"{name}\" already pending detach in partitioned table \"{schema}.{}\"",
            rel.name()
        )
        .hint(hierarchy::FINALIZE_HINT));
    }
    let Some(row) = rows.iter().find(|r| r.inhrelid == part.oid()) else {
        bail!(
            UNDEFINED_TABLE,
            "relation \"{}\" is not a partition of relation \"{}\"",
            part.name(),
            rel.name()
        );
    };
    cat.update(row, &PgInherits { inhdetachpending: true, ..row.row.clone() })?;
    cat.increment_command_counter()
}

/// Error 23503 if a foreign key refers to rows of the partition. Counterpart:
/// `ATDetachCheckNoForeignKeyRefs`.
fn check_references(host: &mut dyn CommandHost, part: &RelDesc) -> Result<()> {
    for row in foreign_key::inherited_references(host, part.oid())? {
        host.lock_relation(row.conrelid, names::mode::SHARE_ROW_EXCLUSIVE)?;
        if hierarchy::is_empty(host, part.oid())? {
            continue;
        }
        trigger::check_no_references(host.trigger_host(), row.oid)?;
    }
    Ok(())
}

/// Adds the partition constraint as a CHECK constraint, unless one implies it, so that no row is
/// inserted that older snapshots must not see in the partition. Counterpart:
/// `DetachAddConstraintIfNeeded`.
fn add_constraint(host: &mut dyn CommandHost, part: &RelDesc) -> Result<()> {
    let conditions = partition::partition_qual(&mut host.catalog(), part.oid())?;
    if conditions.is_empty() || are_implied(part, &conditions)? {
        return Ok(());
    }
    let condition = partition::conjunction(conditions);
    constraint::add_known_check(host, part.oid(), &condition)
}

/// Makes the parts of the partition independent. Counterpart: `DetachPartitionFinalize`.
fn finish(
    host: &mut dyn CommandHost,
    table: Oid,
    partition: Oid,
    default: Option<Oid>,
) -> Result<()> {
    triggers::drop_clones(host, partition)?;
    foreign_key::detach(host, partition)?;
    let part = host.catalog().relation(partition)?;
    indexes::detach_all(host, &part)?;
    let mut cat = host.catalog();
    let row = class::row(&mut cat, partition)?;
    let new = PgClass { relispartition: false, relpartbound: None, ..row.row.clone() };
    cat.update(&row, &new)?;
    match default {
        Some(default) if default == partition => bound::set_default(host, table, Oid::INVALID)?,
        Some(default) => host.catalog().invalidate_relation(default, false),
        None => {}
    }
    host.catalog().invalidate_relation(table, false);
    if part.kind() == RelKind::PartitionedTable {
        let below = partition::descendants(&mut host.catalog(), partition, Detached::Include)?;
        for oid in below {
            host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
            host.catalog().invalidate_relation(oid, false);
        }
    }
    host.catalog().increment_command_counter()
}
