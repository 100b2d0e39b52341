//! Deletion of objects: cascading, and the rows that are removed with an object of each class.
//!
//! Counterpart: the second half of dependency.c, `heap_drop_with_catalog`.

use crate::event::dropped;
use crate::operator_links;
use catalog::depend::{Deletion, DropBehavior};
use catalog::object::ObjectClass;
use catalog::rows::{
    CatalogRow, Name, PgAttrdef, PgAttribute, PgClass, PgConstraint, PgLargeobject, PgOperator,
    PgPartitionedTable, PgProc, PgRewrite, PgStatisticExt, PgTrigger, PgTsConfig, PgType, indexes,
};
use catalog::{CatCx, ObjectAddress};
use engine::StatsKind;
use engine::storage::drop_relation_files;
use ids::code::{ColumnGenerated, ColumnIdentity, ConType, TypType};
use ids::{AttrNo, Oid, RelKind};
use parse::ast;
use pgerror::{PgError, Result, Severity, pg_err};
use utility::class;
use utility::host::{CommandHost, notice, shows_debug2};
use utility::names;

/// Converts the parser's RESTRICT or CASCADE to the catalog crate's.
pub fn behavior(b: ast::DropBehavior) -> DropBehavior {
    match b {
        ast::DropBehavior::Restrict => DropBehavior::Restrict,
        ast::DropBehavior::Cascade => DropBehavior::Cascade,
    }
}

/// Drops the objects and everything that depends on them; `quiet` suppresses the notice.
pub fn drop_objects(
    host: &mut dyn CommandHost,
    objects: &[ObjectAddress],
    behavior: DropBehavior,
    quiet: bool,
) -> Result<()> {
    let plan = host.catalog().plan_deletion(objects, behavior)?;
    report_automatic(host, &plan)?;
    if let Some((message, detail)) = plan.notice
        && !quiet
    {
        let mut n = pg_err!(SUCCESSFUL_COMPLETION, "{message}");
        if let Some(detail) = detail {
            n = n.detail(detail);
        }
        host.notice(notice(n));
    }
    if !quiet {
        for (object, origin) in plan.objects.iter().zip(&plan.origins) {
            dropped::note(host, *object, *origin)?;
        }
    }
    for object in plan.objects {
        drop_one(host, object)?;
    }
    host.catalog().increment_command_counter()
}

/// Tells a client that shows the level `debug2` which objects are dropped as parts of others.
fn report_automatic(host: &mut dyn CommandHost, plan: &Deletion) -> Result<()> {
    if !shows_debug2(host) {
        return Ok(());
    }
    for (object, origin) in plan.objects.iter().zip(&plan.origins).rev() {
        if origin.automatic {
            let what = host.catalog().describe_object(*object)?;
            let report = pg_err!(SUCCESSFUL_COMPLETION, "drop auto-cascades to {what}");
            host.notice(report.severity(Severity::Debug2));
        }
    }
    Ok(())
}

/// Drops one object without checking its dependents. Counterpart: `deleteOneObject` with
/// `doDeletion`.
pub fn drop_one(host: &mut dyn CommandHost, object: ObjectAddress) -> Result<()> {
    let oid = object.object;
    match object.class {
        PgClass::RELATION if object.sub != 0 => {
            drop_column(host, oid, object.sub as AttrNo)?;
        }
        PgClass::RELATION => drop_relation(host, oid)?,
        PgType::RELATION => drop_type(host, oid)?,
        PgConstraint::RELATION => drop_constraint(host, oid)?,
        PgAttrdef::RELATION => drop_default(host, oid)?,
        PgRewrite::RELATION => drop_rule(host, oid)?,
        PgTrigger::RELATION => drop_trigger(host, oid)?,
        class => {
            drop_parts(host, object)?;
            let class = ObjectClass::of(class).ok_or_else(|| {
                PgError::unsupported(format!("DROP of objects of catalog {class}"))
            })?;
            let mut cat = host.catalog();
            let row = cat.object_row(class, oid)?;
            cat.delete_object_row(&row)?;
        }
    }
    let mut cat = host.catalog();
    cat.delete_object_records(object)?;
    cat.increment_command_counter()
}

/// Deletes the rows that belong to an object besides its own.
fn drop_parts(host: &mut dyn CommandHost, object: ObjectAddress) -> Result<()> {
    let oid = object.object;
    if object.class == PgProc::RELATION {
        host.backend().count_dropped(StatsKind::Function, oid, false);
    }
    let mut cat = host.catalog();
    match object.class {
        PgLargeobject::RELATION => largeobject::delete_data(&mut cat, oid)?,
        PgOperator::RELATION => operator_links::unlink(&mut cat, oid)?,
        PgProc::RELATION => {
            if let Some(row) = cat.find_aggregate(oid)? {
                cat.delete(&row)?;
            }
        }
        PgStatisticExt::RELATION => {
            for row in cat.scan(indexes::PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX, &[oid.into()])? {
                cat.delete(&row)?;
            }
        }
        PgTsConfig::RELATION => {
            for row in cat.scan(indexes::PG_TS_CONFIG_MAP_INDEX, &[oid.into()])? {
                cat.delete(&row)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Locks the partitioned table of a partition and its default partition, whose constraint changes
/// when the partition is dropped; for an index of a partition, its table.
fn lock_parent(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let Some(class) = host.catalog().find_class(oid)?.filter(|c| c.relispartition) else {
        return Ok(());
    };
    if class.relkind.is_index() {
        // Readers lock only the table.
        let row = host.catalog().scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[oid.into()])?.pop();
        return match row {
            Some(row) => host.lock_relation(row.indrelid, names::mode::ACCESS_EXCLUSIVE),
            None => Ok(()),
        };
    }
    let rows = host.catalog().scan(indexes::PG_INHERITS_RELID_SEQNO_INDEX, &[oid.into()])?;
    let Some(parent) = rows.first().map(|r| r.inhparent) else { return Ok(()) };
    host.lock_relation(parent, names::mode::ACCESS_EXCLUSIVE)?;
    let index = indexes::PG_PARTITIONED_TABLE_PARTRELID_INDEX;
    let key = host.catalog().scan(index, &[parent.into()])?.pop();
    match key.and_then(|k| k.partdefid.valid()).filter(|default| *default != oid) {
        Some(default) => host.lock_relation(default, names::mode::ACCESS_EXCLUSIVE),
        None => Ok(()),
    }
}

/// Counterpart: `heap_drop_with_catalog`, `index_drop`.
fn drop_relation(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    lock_parent(host, oid)?;
    host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
    // The descriptor cannot be built, because the TOAST table is already dropped.
    let row = class::row(&mut host.catalog(), oid)?;
    let class = &row.row;
    if matches!(
        class.relkind,
        RelKind::Table | RelKind::MaterializedView | RelKind::View | RelKind::Sequence
    ) {
        host.check_not_in_use(oid, class.relname.as_str(), "DROP TABLE")?;
    }
    if class.relfilenode.is_valid() {
        let file = class::file_of(host, class);
        let persistence = class.relpersistence;
        drop_relation_files(host.backend(), file, persistence);
    }
    host.backend().count_dropped(StatsKind::Relation, oid, class.relisshared);
    let mut cat = host.catalog();
    for row in cat.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
        cat.invalidate_relation(row.indrelid, false);
    }
    if class.relkind == RelKind::Sequence {
        for row in cat.scan(indexes::PG_SEQUENCE_SEQRELID_INDEX, &[oid.into()])? {
            cat.delete(&row)?;
        }
    }
    if class.relkind == RelKind::PartitionedTable {
        for row in cat.scan(indexes::PG_PARTITIONED_TABLE_PARTRELID_INDEX, &[oid.into()])? {
            cat.delete(&row)?;
        }
    }
    if class.relkind == RelKind::ForeignTable {
        for row in cat.scan(indexes::PG_FOREIGN_TABLE_RELID_INDEX, &[oid.into()])? {
            cat.delete(&row)?;
        }
    }
    for row in cat.scan(indexes::PG_INHERITS_RELID_SEQNO_INDEX, &[oid.into()])? {
        if class.relispartition {
            clear_default_partition(&mut cat, row.inhparent, oid)?;
        }
        cat.delete(&row)?;
    }
    for row in cat.scan(indexes::PG_STATISTIC_RELID_ATT_INH_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
    }
    for row in cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
    }
    cat.delete(&row)
}

/// Clears the partitioned table's default partition if it is this one, and invalidates the parent's
/// descriptor.
fn clear_default_partition(cat: &mut CatCx<'_>, parent: Oid, partition: Oid) -> Result<()> {
    let index = indexes::PG_PARTITIONED_TABLE_PARTRELID_INDEX;
    if let Some(row) = cat.scan(index, &[parent.into()])?.pop() {
        if row.partdefid == partition {
            cat.update(&row, &PgPartitionedTable { partdefid: Oid::INVALID, ..row.row.clone() })?;
        } else if row.partdefid.is_valid() {
            // Its constraint depends on the other partitions.
            cat.invalidate_relation(row.partdefid, false);
        }
    }
    cat.invalidate_relation(parent, false);
    Ok(())
}

/// Marks the column as dropped; rows keep its attribute number. Counterpart: `RemoveAttributeById`.
fn drop_column(host: &mut dyn CommandHost, table: Oid, number: AttrNo) -> Result<()> {
    host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
    let mut cat = host.catalog();
    let keys = [table.into(), number.into()];
    let row = cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop();
    let row = row.ok_or_else(|| PgError::internal("column to be dropped has no row"))?;
    let new = PgAttribute {
        attname: Name::new(format!("........pg.dropped.{number}........")),
        atttypid: Oid::INVALID,
        attnotnull: false,
        attstattarget: 0,
        attgenerated: ColumnGenerated::No,
        attidentity: ColumnIdentity::No,
        atthasdef: row.atthasdef,
        atthasmissing: false,
        attmissingval: None,
        attisdropped: true,
        attacl: None,
        attfdwoptions: None,
        ..row.row.clone()
    };
    cat.update(&row, &new)?;
    for row in cat.scan(indexes::PG_STATISTIC_RELID_ATT_INH_INDEX, &keys)? {
        cat.delete(&row)?;
    }
    cat.invalidate_relation(table, false);
    Ok(())
}

fn drop_type(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let row = host.catalog().type_row(oid)?;
    if row.typtype == TypType::Enum {
        let mut cat = host.catalog();
        for label in cat.scan(indexes::PG_ENUM_TYPID_LABEL_INDEX, &[oid.into()])? {
            cat.delete(&label)?;
        }
    }
    if row.typtype == TypType::Range {
        let mut cat = host.catalog();
        for range in cat.scan(indexes::PG_RANGE_RNGTYPID_INDEX, &[oid.into()])? {
            cat.delete(&range)?;
        }
    }
    host.catalog().delete(&row)
}

/// Counterpart: `RemoveConstraintById`.
fn drop_constraint(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_CONSTRAINT_OID_INDEX, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal(format!("no constraint {oid}")))?;
    if row.contype == ConType::Check && row.conrelid.is_valid() {
        let class = class::row(&mut cat, row.conrelid)?;
        let relchecks = class.relchecks - 1;
        cat.update(&class, &PgClass { relchecks, ..class.row.clone() })?;
    }
    cat.delete(&row)
}

/// Counterpart: `RemoveAttrDefaultById`.
fn drop_default(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_ATTRDEF_OID_INDEX, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal(format!("no default {oid}")))?;
    let keys = [row.adrelid.into(), row.adnum.into()];
    cat.delete(&row)?;
    if let Some(column) = cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop() {
        cat.update(&column, &PgAttribute { atthasdef: false, ..column.row.clone() })?;
    }
    Ok(())
}

fn drop_rule(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_REWRITE_OID_INDEX, &[oid.into()])?.pop();
    let row =
        row.ok_or_else(|| PgError::internal(format!("could not find tuple for rule {oid}")))?;
    cat.delete(&row)?;
    cat.invalidate_relation(row.ev_class, false);
    Ok(())
}

fn drop_trigger(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_TRIGGER_OID_INDEX, &[oid.into()])?.pop();
    let row =
        row.ok_or_else(|| PgError::internal(format!("could not find tuple for trigger {oid}")))?;
    let table = row.tgrelid;
    drop(cat);
    host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
    let mut cat = host.catalog();
    cat.delete(&row)?;
    cat.invalidate_relation(table, false);
    Ok(())
}
