//! INHERIT and NO INHERIT, OF and NOT OF, ATTACH and DETACH PARTITION.
//!
//! Counterpart: `ATExecAddInherit`, `ATExecDropInherit`, `ATExecAddOf`, `ATExecDropOf`,
//! `transformPartitionCmd`.

use super::attribute::{TABLES, TABLES_AND_FOREIGN, must_be};
use super::queue::Queue;
use crate::define_table::{self, composite_type};
use crate::hierarchy;
use crate::partitions::{attach, detach, indexes};
use catalog::rows::{PgClass, PgType};
use catalog::{ObjectAddress, RelDesc};
use ids::code::DepType;
use ids::{Oid, Persistence, RelKind};
use parse::ast::{AlterTableCmd, AlterTableType, Node, PartitionCmd, RangeVar};
use partition::Detached;
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::CommandHost;
use utility::{class, names};

/// Runs one of these subcommands.
pub fn run(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    rel: &Arc<RelDesc>,
    cmd: &AlterTableCmd,
    sql: &str,
) -> Result<()> {
    match (cmd.subtype, &cmd.def) {
        (AlterTableType::AddInherit, Some(Node::RangeVar(parent))) => {
            add_inherit(host, rel, parent)
        }
        (AlterTableType::DropInherit, Some(Node::RangeVar(parent))) => {
            drop_inherit(host, rel, parent)
        }
        (AlterTableType::AddOf, Some(Node::TypeName(name))) => {
            must_be(rel, TABLES, "OF")?;
            let (ty, columns) = composite_type(host, name)?;
            add_of(host, rel, ty, &columns)
        }
        (AlterTableType::DropOf, _) => {
            must_be(rel, TABLES, "NOT OF")?;
            if !rel.class.reloftype.is_valid() {
                bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a typed table", rel.name());
            }
            set_type(host, rel, Oid::INVALID)
        }
        (kind, Some(Node::PartitionCmd(of))) => {
            partition_command(host, queue, rel, (kind, of), sql)
        }
        _ => Err(PgError::internal("ALTER TABLE subcommand without a definition")),
    }
}

/// Error 42809 for typed tables, partitions and partitioned tables, for which INHERIT and NO
/// INHERIT are not allowed. Counterpart: `ATPrepAddInherit`.
fn check_child(rel: &RelDesc) -> Result<()> {
    if rel.class.reloftype.is_valid() {
        bail!(WRONG_OBJECT_TYPE, "cannot change inheritance of typed table");
    }
    if rel.class.relispartition {
        bail!(WRONG_OBJECT_TYPE, "cannot change inheritance of a partition");
    }
    if rel.kind() == RelKind::PartitionedTable {
        bail!(WRONG_OBJECT_TYPE, "cannot change inheritance of partitioned table");
    }
    Ok(())
}

fn add_inherit(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, parent: &RangeVar) -> Result<()> {
    must_be(rel, TABLES_AND_FOREIGN, "INHERIT")?;
    check_child(rel)?;
    let parent = names::open(host, parent, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
    must_be(&parent, TABLES_AND_FOREIGN, "INHERIT")?;
    names::must_own_relation(host, &parent)?;
    names::not_a_catalog(host, &parent)?;
    let temporary = |r: &RelDesc| r.class.relpersistence == Persistence::Temporary;
    let name = parent.name();
    let refused = if temporary(&parent) && !temporary(rel) {
        format!("cannot inherit from temporary relation \"{name}\"")
    } else if parent.other_temp {
        "cannot inherit from temporary relation of another session".to_string()
    } else if rel.other_temp {
        "cannot inherit to temporary relation of another session".to_string()
    } else if parent.kind() == RelKind::PartitionedTable {
        format!("cannot inherit from partitioned table \"{name}\"")
    } else if parent.class.relispartition {
        "cannot inherit from a partition".to_string()
    } else {
        String::new()
    };
    if !refused.is_empty() {
        bail!(WRONG_OBJECT_TYPE, "{refused}");
    }
    let below = partition::descendants(&mut host.catalog(), rel.oid(), Detached::Include)?;
    for &oid in &below[1..] {
        host.lock_relation(oid, names::mode::ACCESS_SHARE)?;
    }
    if below.contains(&parent.oid()) {
        return Err(attach::circular(name, rel.name()));
    }
    if let Some(trigger) = hierarchy::incompatible_trigger(rel) {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "trigger \"{trigger}\" prevents table \"{}\" from becoming an inheritance child",
            rel.name()
        )
        .detail(
            "ROW triggers with transition tables are not supported in inheritance hierarchies.",
        ));
    }
    hierarchy::connect(host, rel.oid(), &parent)
}

fn drop_inherit(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, parent: &RangeVar) -> Result<()> {
    must_be(rel, TABLES_AND_FOREIGN, "NO INHERIT")?;
    if rel.class.relispartition {
        bail!(WRONG_OBJECT_TYPE, "cannot change inheritance of a partition");
    }
    let parent = names::open(host, parent, names::mode::ACCESS_SHARE)?;
    hierarchy::disconnect(host, rel, &parent, false)
}

/// Makes a table with the columns of a composite type a typed one.
fn add_of(host: &mut dyn CommandHost, rel: &RelDesc, ty: Oid, columns: &RelDesc) -> Result<()> {
    if !partition::parents(&mut host.catalog(), rel.oid())?.is_empty() {
        bail!(WRONG_OBJECT_TYPE, "typed tables cannot inherit");
    }
    let mut own = rel.attributes.iter().filter(|a| !a.attisdropped);
    for wanted in columns.attributes.iter().filter(|a| !a.attisdropped) {
        let name = wanted.attname.as_str();
        let Some(a) = own.next() else {
            bail!(DATATYPE_MISMATCH, "table is missing column \"{name}\"");
        };
        if a.attname != wanted.attname {
            bail!(
                DATATYPE_MISMATCH,
                "table has column \"{}\" where type requires \"{name}\"",
                a.attname
            );
        }
        let definition = |a: &catalog::rows::PgAttribute| (a.atttypid, a.atttypmod, a.attcollation);
        if definition(a) != definition(wanted) {
            bail!(
                DATATYPE_MISMATCH,
                "table \"{}\" has different type for column \"{name}\"",
                rel.name()
            );
        }
    }
    if let Some(extra) = own.next() {
        bail!(DATATYPE_MISMATCH, "table has extra column \"{}\"", extra.attname);
    }
    set_type(host, rel, ty)
}

/// Sets or removes the composite type of the table.
fn set_type(host: &mut dyn CommandHost, rel: &RelDesc, ty: Oid) -> Result<()> {
    if let Some(old) = rel.class.reloftype.valid() {
        let old = ObjectAddress::of::<PgType>(old);
        hierarchy::drop_dependency(host, rel.oid(), old, DepType::Normal)?;
    }
    if ty.is_valid() {
        return define_table::set_type(host, rel.oid(), ty);
    }
    let mut cat = host.catalog();
    let row = class::row(&mut cat, rel.oid())?;
    cat.update(&row, &PgClass { reloftype: ty, ..row.row.clone() })?;
    Ok(())
}

/// ATTACH and DETACH PARTITION of a table, ATTACH PARTITION of an index.
fn partition_command(
    host: &mut dyn CommandHost,
    queue: &mut Queue,
    rel: &Arc<RelDesc>,
    (kind, of): (AlterTableType, &PartitionCmd),
    sql: &str,
) -> Result<()> {
    let name = rel.name();
    match rel.kind() {
        RelKind::PartitionedTable => {}
        RelKind::PartitionedIndex if kind == AlterTableType::AttachPartition => {
            if of.bound.is_some() {
                bail!(INVALID_OBJECT_DEFINITION, "\"{name}\" is not a partitioned table");
            }
            return indexes::attach(host, rel, &of.name);
        }
        RelKind::Table => bail!(INVALID_OBJECT_DEFINITION, "table \"{name}\" is not partitioned"),
        RelKind::Index if kind == AlterTableType::AttachPartition => {
            bail!(INVALID_OBJECT_DEFINITION, "index \"{name}\" is not partitioned")
        }
        _ => must_be(rel, TABLES, action(kind))?,
    }
    match kind {
        AlterTableType::AttachPartition => {
            let pending = attach::attach(host, rel, of, sql)?;
            queue.pending.rows.extend(pending.rows);
            queue.pending.foreign_keys.extend(pending.foreign_keys);
            Ok(())
        }
        AlterTableType::DetachPartition => detach::detach(host, rel, &of.name, of.concurrent),
        _ => detach::finalize(host, rel, &of.name),
    }
}

fn action(kind: AlterTableType) -> &'static str {
    match kind {
        AlterTableType::AttachPartition => "ATTACH PARTITION",
        AlterTableType::DetachPartition => "DETACH PARTITION",
        _ => "DETACH PARTITION ... FINALIZE",
    }
}
