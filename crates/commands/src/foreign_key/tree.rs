//! The constraints and triggers of a foreign key, and those of the partitions of both tables.
//!
//! Counterpart: `addFkRecurseReferenced`, `addFkRecurseReferencing`, `CloneForeignKeyConstraints`,
//! `tryAttachPartitionForeignKey`, parts of `DetachPartitionFinalize`.

use crate::constraint::{self, ConstraintTrigger};
use crate::partitions::indexes as indexes_of;
use catalog::depend::DropBehavior;
use catalog::rows::{CatalogRow, Name, PgConstraint, PgOperator, PgTrigger, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::{creation, deletion};
use ids::builtin::proc;
use ids::code::{ConType, DepType, FkAction};
use ids::{AttrNo, Oid, RelKind};
use partition::Detached;
use pgerror::{PgError, Result, bail};
use utility::host::CommandHost;
use utility::names;

/// A name for a foreign key with these columns.
pub fn free_name(host: &mut dyn CommandHost, rel: &RelDesc, columns: &[AttrNo]) -> Result<String> {
    let names = columns.iter().filter_map(|c| rel.attribute(*c));
    let names: Vec<String> = names.map(|a| a.attname.to_string()).collect();
    let (addition, schema) = (creation::name_addition(&names), rel.class.relnamespace);
    creation::free_constraint_name(host, rel.name(), Some(&addition), "fkey", schema, &[])
}

/// The triggers of the parent constraint: for a delete or an insert, and for an update.
pub type Triggers = (Oid, Oid);

pub const NO_TRIGGERS: Triggers = (Oid::INVALID, Oid::INVALID);

/// Creates the constraint and the triggers of the referenced table, and constraints for its
/// partitions. `row` is that of the constraint without OID; `parent` is the constraint on the
/// partitioned referenced table. Counterpart: `addFkRecurseReferenced`.
pub fn add_referenced(
    host: &mut dyn CommandHost,
    mut row: PgConstraint,
    parent: Option<Oid>,
    parent_triggers: Triggers,
) -> Result<Oid> {
    let rel = host.catalog().relation(row.conrelid)?;
    let pk = host.catalog().relation(row.confrelid)?;
    if let Some(parent) = parent {
        row.conparentid = parent;
        (row.conislocal, row.coninhcount, row.connoinherit) = (false, 1, false);
        rename_if_taken(host, &rel, &mut row)?;
    }
    let this = store(host, &mut row)?;
    if let Some(parent) = parent {
        let parent = ObjectAddress::of::<PgConstraint>(parent);
        host.catalog().record_dependency(this, parent, DepType::Internal)?;
    }
    host.catalog().increment_command_counter()?;
    let triggers = add_action_triggers(host, &row, parent_triggers)?;
    add_referenced_partitions(host, &row, &pk, triggers)?;
    Ok(row.oid)
}

/// Creates the constraints for the partitions of the referenced table.
fn add_referenced_partitions(
    host: &mut dyn CommandHost,
    row: &PgConstraint,
    pk: &RelDesc,
    triggers: Triggers,
) -> Result<()> {
    if pk.kind() != RelKind::PartitionedTable {
        return Ok(());
    }
    let desc = partition::partition_desc(&mut host.catalog(), pk, Detached::Omit)?;
    for p in &desc.partitions {
        host.lock_relation(p.oid, names::mode::SHARE_ROW_EXCLUSIVE)?;
        let part = host.catalog().relation(p.oid)?;
        let child = for_referenced(host, row, pk, &part)?;
        add_referenced(host, child, Some(row.oid), triggers)?;
    }
    Ok(())
}

/// The constraint with a partition as the referenced table.
fn for_referenced(
    host: &mut dyn CommandHost,
    row: &PgConstraint,
    pk: &RelDesc,
    part: &RelDesc,
) -> Result<PgConstraint> {
    let conindid = partition_index(host, part, row.conindid)?;
    let confkey = mapped(row.confkey.as_deref(), pk, part)?;
    Ok(PgConstraint { confrelid: part.oid(), conindid, confkey, ..row.clone() })
}

/// The index of the partition that is a child of the partitioned index.
fn partition_index(host: &mut dyn CommandHost, part: &RelDesc, index: Oid) -> Result<Oid> {
    for i in &part.indexes {
        let parents = partition::parents(&mut host.catalog(), i.indexrelid)?;
        if parents.first() == Some(&index) {
            return Ok(i.indexrelid);
        }
    }
    let (name, index) = (part.name(), host.catalog().class(index)?.relname);
    Err(PgError::internal(format!("index for {index} not found in partition {name}")))
}

/// Column numbers of the parent as those of the child.
fn mapped(
    list: Option<&[AttrNo]>,
    parent: &RelDesc,
    child: &RelDesc,
) -> Result<Option<Vec<AttrNo>>> {
    let (Some(list), Some(map)) = (list, partition::column_map(parent, child)?) else {
        return Ok(list.map(<[AttrNo]>::to_vec));
    };
    Ok(Some(list.iter().map(|n| map[*n as usize - 1]).collect()))
}

/// Gives the constraint another name if the table has a constraint with its name.
fn rename_if_taken(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    row: &mut PgConstraint,
) -> Result<()> {
    let keys = [rel.oid().into(), Oid::INVALID.into(), row.conname.as_str().into()];
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    if !host.catalog().scan(index, &keys)?.is_empty() {
        let columns = row.conkey.clone().unwrap_or_default();
        row.conname = Name::new(free_name(host, rel, &columns)?);
    }
    Ok(())
}

/// Inserts the row with a new OID, and its dependencies on columns, index and operators.
fn store(host: &mut dyn CommandHost, row: &mut PgConstraint) -> Result<ObjectAddress> {
    row.oid = host.catalog().new_oid(indexes::PG_CONSTRAINT_OID_INDEX)?;
    let this = constraint::insert(host, row.clone(), row.conkey.as_deref().unwrap_or(&[]))?;
    let mut cat = host.catalog();
    let columns = row.confkey.iter().flatten();
    let columns: Vec<_> = columns.map(|c| ObjectAddress::column(row.confrelid, *c)).collect();
    cat.record_dependencies(this, &columns, DepType::Normal)?;
    cat.record_dependency(this, ObjectAddress::relation(row.conindid), DepType::Normal)?;
    let lists = [&row.conpfeqop, &row.conppeqop, &row.conffeqop];
    let mut all: Vec<Oid> = lists.into_iter().flatten().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    for operator in all {
        let operator = ObjectAddress::of::<PgOperator>(operator);
        cat.record_dependency(this, operator, DepType::Normal)?;
    }
    Ok(this)
}

/// Creates the triggers of the referencing table, and constraints of its partitions. Adds the
/// constraints of tables with rows to `leaves`. Counterpart: `addFkRecurseReferencing`.
pub fn add_referencing(
    host: &mut dyn CommandHost,
    constraint: Oid,
    parent_triggers: Triggers,
    leaves: &mut Vec<Oid>,
) -> Result<()> {
    let row = constraint_row(host, constraint)?;
    let triggers = add_check_triggers(host, &row, parent_triggers)?;
    let rel = host.catalog().relation(row.conrelid)?;
    if rel.kind() != RelKind::PartitionedTable {
        leaves.push(constraint);
        return Ok(());
    }
    let desc = partition::partition_desc(&mut host.catalog(), &rel, Detached::Omit)?;
    for p in &desc.partitions {
        host.lock_relation(p.oid, names::mode::SHARE_ROW_EXCLUSIVE)?;
        let part = host.catalog().relation(p.oid)?;
        host.check_not_in_use(part.oid(), part.name(), "ALTER TABLE")?;
        add_to_partition(host, &row, &rel, &part, (triggers, &mut *leaves))?;
    }
    Ok(())
}

/// Gives a partition of the referencing table the constraint, or attaches an equal one that it has.
fn add_to_partition(
    host: &mut dyn CommandHost,
    row: &PgConstraint,
    rel: &RelDesc,
    part: &RelDesc,
    (triggers, leaves): (Triggers, &mut Vec<Oid>),
) -> Result<()> {
    let mut child = PgConstraint {
        conrelid: part.oid(),
        connamespace: part.class.relnamespace,
        conparentid: row.oid,
        conislocal: false,
        coninhcount: 1,
        connoinherit: false,
        conkey: mapped(row.conkey.as_deref(), rel, part)?,
        confdelsetcols: mapped(row.confdelsetcols.as_deref(), rel, part)?,
        ..row.clone()
    };
    for own in &part.foreign_keys {
        if is_same(own, &child) {
            return attach(host, own, row.oid, triggers);
        }
    }
    rename_if_taken(host, part, &mut child)?;
    let this = store(host, &mut child)?;
    let mut cat = host.catalog();
    let parent = ObjectAddress::of::<PgConstraint>(row.oid);
    cat.record_dependency(this, parent, DepType::PartitionPrimary)?;
    let table = ObjectAddress::relation(part.oid());
    cat.record_dependency(this, table, DepType::PartitionSecondary)?;
    cat.increment_command_counter()?;
    add_referencing(host, child.oid, triggers, leaves)
}

/// Whether a partition's own foreign key is the one that it would inherit. Counterpart:
/// `tryAttachPartitionForeignKey`.
fn is_same(own: &PgConstraint, wanted: &PgConstraint) -> bool {
    !own.conparentid.is_valid()
        && own.convalidated
        && own.confrelid == wanted.confrelid
        && own.conkey == wanted.conkey
        && own.confkey == wanted.confkey
        && own.conpfeqop == wanted.conpfeqop
        && (own.condeferrable, own.condeferred) == (wanted.condeferrable, wanted.condeferred)
        && own.confupdtype == wanted.confupdtype
        && own.confdeltype == wanted.confdeltype
        && own.confmatchtype == wanted.confmatchtype
}

/// Makes a partition's own foreign key a child of the partitioned table's. The triggers of the
/// referenced table that belong to it are dropped: those of the parent have the same effect.
fn attach(
    host: &mut dyn CommandHost,
    own: &PgConstraint,
    parent: Oid,
    parent_triggers: Triggers,
) -> Result<()> {
    let this = ObjectAddress::of::<PgConstraint>(own.oid);
    let mut cat = host.catalog();
    let mut gone = Vec::new();
    for t in cat.scan(indexes::PG_TRIGGER_TGCONSTRAINT_INDEX, &[own.oid.into()])? {
        if t.tgrelid != own.confrelid || t.tgconstrrelid != own.conrelid || is_check(t.tgfoid) {
            continue;
        }
        let trigger = ObjectAddress::of::<PgTrigger>(t.oid);
        for d in cat.dependencies_of(trigger)? {
            if (d.refclassid, d.refobjid) == (this.class, this.object) {
                cat.delete(&d)?;
            }
        }
        gone.push(trigger);
    }
    cat.increment_command_counter()?;
    for trigger in gone {
        deletion::drop_objects(host, &[trigger], DropBehavior::Restrict, true)?;
    }
    indexes_of::set_constraint_parent(host, own.oid, Some(parent), own.conrelid)?;
    drop_children(host, own)?;
    for (trigger, parent) in
        check_triggers(host, own)?.into_iter().zip([parent_triggers.0, parent_triggers.1])
    {
        set_trigger_parent(host, trigger, parent)?;
    }
    Ok(())
}

/// Drops the constraints on the partitions of the referenced table. Those of the parent have the
/// same effect.
fn drop_children(host: &mut dyn CommandHost, own: &PgConstraint) -> Result<()> {
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    let rows = host.catalog().scan(index, &[own.conrelid.into()])?;
    let mut gone = Vec::new();
    for row in rows.iter().filter(|r| r.conparentid == own.oid) {
        let this = ObjectAddress::of::<PgConstraint>(row.oid);
        let mut cat = host.catalog();
        for d in cat.dependencies_of(this)? {
            if d.refclassid == PgConstraint::RELATION && d.deptype == DepType::Internal {
                cat.delete(&d)?;
            }
        }
        gone.push(this);
    }
    host.catalog().increment_command_counter()?;
    deletion::drop_objects(host, &gone, DropBehavior::Restrict, true)
}

/// Whether the function is that of a trigger of the referencing table.
fn is_check(function: Oid) -> bool {
    matches!(function, proc::RI_FKEY_CHECK_INS | proc::RI_FKEY_CHECK_UPD)
}

/// The triggers of the referencing table: for an insert and for an update.
fn check_triggers(host: &mut dyn CommandHost, row: &PgConstraint) -> Result<[Oid; 2]> {
    let mut found = [Oid::INVALID; 2];
    for t in host.catalog().scan(indexes::PG_TRIGGER_TGCONSTRAINT_INDEX, &[row.oid.into()])? {
        match t.tgfoid {
            proc::RI_FKEY_CHECK_INS if t.tgrelid == row.conrelid => found[0] = t.oid,
            proc::RI_FKEY_CHECK_UPD if t.tgrelid == row.conrelid => found[1] = t.oid,
            _ => {}
        }
    }
    Ok(found)
}

/// The triggers of the referenced table: for a delete and for an update.
fn action_triggers(host: &mut dyn CommandHost, row: &PgConstraint) -> Result<Triggers> {
    let mut found = NO_TRIGGERS;
    for t in host.catalog().scan(indexes::PG_TRIGGER_TGCONSTRAINT_INDEX, &[row.oid.into()])? {
        if t.tgrelid != row.confrelid || is_check(t.tgfoid) {
            continue;
        }
        match t.tgtype & (constraint::DELETE | constraint::UPDATE) {
            constraint::DELETE => found.0 = t.oid,
            _ => found.1 = t.oid,
        }
    }
    Ok(found)
}

/// Sets the parent of a trigger of a constraint; the invalid OID for none. Such triggers have no
/// dependencies on their parents. Counterpart: `TriggerSetParentTrigger`.
fn set_trigger_parent(host: &mut dyn CommandHost, trigger: Oid, parent: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let Some(row) = cat.scan(indexes::PG_TRIGGER_OID_INDEX, &[trigger.into()])?.pop() else {
        return Ok(());
    };
    cat.update(&row, &PgTrigger { tgparentid: parent, ..row.row.clone() })?;
    let (this, on) =
        (ObjectAddress::of::<PgTrigger>(trigger), ObjectAddress::of::<PgTrigger>(parent));
    if parent.is_valid() {
        cat.record_dependency(this, on, DepType::PartitionPrimary)?;
        let table = ObjectAddress::relation(row.tgrelid);
        cat.record_dependency(this, table, DepType::PartitionSecondary)?;
    } else {
        indexes_of::remove_partition_dependencies(host, this, PgTrigger::RELATION)?;
    }
    host.catalog().increment_command_counter()
}

fn constraint_row(host: &mut dyn CommandHost, oid: Oid) -> Result<PgConstraint> {
    let row = host.catalog().scan(indexes::PG_CONSTRAINT_OID_INDEX, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal(format!("no constraint {oid}")))?;
    Ok(row.row.clone())
}

/// The constraints among which none is the child of another one of the list.
fn without_children(list: Vec<PgConstraint>) -> Vec<PgConstraint> {
    let oids: Vec<Oid> = list.iter().map(|c| c.oid).collect();
    list.into_iter().filter(|c| !oids.contains(&c.conparentid)).collect()
}

/// Gives a new partition the foreign keys of the partitioned table, and those that reference it.
/// Returns the constraints that existing rows of the partition have to be checked against.
/// Counterpart: `CloneForeignKeyConstraints`.
pub fn clone_to_partition(
    host: &mut dyn CommandHost,
    table: Oid,
    partition: Oid,
) -> Result<Vec<Oid>> {
    let rel = host.catalog().relation(table)?;
    let rows = host.catalog().scan_all::<PgConstraint>()?;
    let to = rows.iter().filter(|c| c.contype == ConType::ForeignKey && c.confrelid == table);
    for row in without_children(to.map(|c| c.row.clone()).collect()) {
        host.lock_relation(row.conrelid, names::mode::SHARE_ROW_EXCLUSIVE)?;
        let part = host.catalog().relation(partition)?;
        let triggers = action_triggers(host, &row)?;
        let child = for_referenced(host, &row, &rel, &part)?;
        add_referenced(host, child, Some(row.oid), triggers)?;
    }
    if let Some(row) = rel.foreign_keys.iter().find(|row| row.confrelid == partition) {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot attach table \"{}\" as a partition because it is referenced by foreign key \
             \"{}\"",
            host.catalog().class(partition)?.relname,
            row.conname
        );
    }
    let mut leaves = Vec::new();
    for row in without_children(rel.foreign_keys.clone()) {
        // No referenced row may be deleted until the rows of the partition have been checked.
        let referenced =
            partition::descendants(&mut host.catalog(), row.confrelid, Detached::Include)?;
        for oid in referenced {
            host.lock_relation(oid, names::mode::SHARE_ROW_EXCLUSIVE)?;
        }
        let part = host.catalog().relation(partition)?;
        let [insert, update] = check_triggers(host, &row)?;
        add_to_partition(host, &row, &rel, &part, ((insert, update), &mut leaves))?;
    }
    Ok(leaves)
}

/// Makes the foreign keys of a detached partition independent, and drops those that reference it as
/// a partition. Counterpart: part of `DetachPartitionFinalize`.
pub fn detach(host: &mut dyn CommandHost, partition: Oid) -> Result<()> {
    let part = host.catalog().relation(partition)?;
    let oids: Vec<Oid> = part.foreign_keys.iter().map(|c| c.oid).collect();
    for row in &part.foreign_keys {
        if !row.conparentid.is_valid() || oids.contains(&row.conparentid) {
            continue;
        }
        indexes_of::set_constraint_parent(host, row.oid, None, partition)?;
        for trigger in check_triggers(host, row)? {
            set_trigger_parent(host, trigger, Oid::INVALID)?;
        }
        host.lock_relation(row.confrelid, names::mode::SHARE_ROW_EXCLUSIVE)?;
        let row = constraint_row(host, row.oid)?;
        let triggers = add_action_triggers(host, &row, NO_TRIGGERS)?;
        let pk = host.catalog().relation(row.confrelid)?;
        add_referenced_partitions(host, &row, &pk, triggers)?;
    }
    let rows = host.catalog().scan_all::<PgConstraint>()?;
    for row in rows.iter().filter(|c| is_inherited_reference(c, partition)) {
        indexes_of::set_constraint_parent(host, row.oid, None, partition)?;
        let this = ObjectAddress::of::<PgConstraint>(row.oid);
        let mut cat = host.catalog();
        for d in cat.dependencies_of(this)? {
            if d.refclassid == PgConstraint::RELATION && d.deptype == DepType::Internal {
                cat.delete(&d)?;
            }
        }
        cat.increment_command_counter()?;
        deletion::drop_objects(host, &[this], DropBehavior::Restrict, false)?;
    }
    Ok(())
}

/// A foreign key that references the table because it is a partition.
fn is_inherited_reference(row: &PgConstraint, partition: Oid) -> bool {
    row.contype == ConType::ForeignKey && row.confrelid == partition && row.conparentid.is_valid()
}

/// The foreign keys that reference the table because it is a partition.
pub fn inherited_references(
    host: &mut dyn CommandHost,
    partition: Oid,
) -> Result<Vec<PgConstraint>> {
    let rows = host.catalog().scan_all::<PgConstraint>()?;
    let list = rows.iter().filter(|c| is_inherited_reference(c, partition));
    Ok(list.map(|c| c.row.clone()).collect())
}

/// Creates the triggers of the referenced table, for a delete and for an update. Counterpart:
/// `createForeignKeyActionTriggers`.
fn add_action_triggers(
    host: &mut dyn CommandHost,
    row: &PgConstraint,
    parents: Triggers,
) -> Result<Triggers> {
    let action = |action: FkAction, delete: bool| -> (Oid, bool) {
        let (of_delete, of_update) = match action {
            FkAction::Cascade => (proc::RI_FKEY_CASCADE_DEL, proc::RI_FKEY_CASCADE_UPD),
            FkAction::Restrict => (proc::RI_FKEY_RESTRICT_DEL, proc::RI_FKEY_RESTRICT_UPD),
            FkAction::SetNull => (proc::RI_FKEY_SETNULL_DEL, proc::RI_FKEY_SETNULL_UPD),
            FkAction::SetDefault => (proc::RI_FKEY_SETDEFAULT_DEL, proc::RI_FKEY_SETDEFAULT_UPD),
            FkAction::NoAction | FkAction::Unset => {
                (proc::RI_FKEY_NOACTION_DEL, proc::RI_FKEY_NOACTION_UPD)
            }
        };
        // Only NO ACTION is deferrable.
        let waits = matches!(action, FkAction::NoAction | FkAction::Unset);
        (if delete { of_delete } else { of_update }, waits)
    };
    let (del, del_waits) = action(row.confdeltype, true);
    let (upd, upd_waits) = action(row.confupdtype, false);
    let both = (row.confrelid, row.conrelid);
    let (delete, update) = (constraint::DELETE, constraint::UPDATE);
    let first = add_one(host, row, (both, 'a'), (del, delete, del_waits), parents.0)?;
    let second = add_one(host, row, (both, 'a'), (upd, update, upd_waits), parents.1)?;
    Ok((first, second))
}

/// Creates the triggers of the referencing table, for an insert and for an update. Counterpart:
/// `createForeignKeyCheckTriggers`.
fn add_check_triggers(
    host: &mut dyn CommandHost,
    row: &PgConstraint,
    parents: Triggers,
) -> Result<Triggers> {
    let both = (row.conrelid, row.confrelid);
    let (insert, update) = (constraint::INSERT, constraint::UPDATE);
    let insert = (proc::RI_FKEY_CHECK_INS, insert, true);
    let update = (proc::RI_FKEY_CHECK_UPD, update, true);
    let first = add_one(host, row, (both, 'c'), insert, parents.0)?;
    let second = add_one(host, row, (both, 'c'), update, parents.1)?;
    Ok((first, second))
}

/// Creates a trigger on the first of two tables.
fn add_one(
    host: &mut dyn CommandHost,
    row: &PgConstraint,
    ((on, other), letter): ((Oid, Oid), char),
    (function, event, waits): (Oid, i16, bool),
    parent: Oid,
) -> Result<Oid> {
    let trigger = ConstraintTrigger {
        name: &format!("RI_ConstraintTrigger_{letter}"),
        function,
        kind: constraint::ROW | event,
        other,
        index: row.conindid,
        constraint: row.oid,
        deferrable: waits && row.condeferrable,
        deferred: waits && row.condeferred,
        parent,
    };
    constraint::add_trigger(host, on, trigger)
}
