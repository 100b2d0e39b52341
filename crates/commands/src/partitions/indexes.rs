//! Partitioned indexes: an index of a partitioned table has one index of each partition as child.
//!
//! Counterpart: `DefineIndex` on partitioned tables, `IndexSetParentIndex`, `CompareIndexInfo`,
//! `AttachPartitionEnsureIndexes`, `ATExecAttachPartitionIdx`, `validatePartitionedIndex`.

use crate::hierarchy;
use crate::index::{self, IndexColumn, IndexConstraint, IndexMethod, IndexParent, NewIndex};
use catalog::rows::{
    CatalogRow, PgClass, PgConstraint, PgIndex, PgInherits, indexes as catalog_indexes,
};
use catalog::{IndexPart, ObjectAddress, RelDesc};
use clusterwide::tablespace;
use ids::builtin::am::BTREE;
use ids::code::{DepType, PartStrategy};
use ids::strategy::btree::EQUAL;
use ids::strategy::hash::EQUAL as HASH_EQUAL;
use ids::{AttrNo, Oid, Persistence, RelKind};
use parse::ast::RangeVar;
use partition::Detached;
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use std::sync::Arc;
use utility::host::{CommandHost, debug};
use utility::{class, names};

/// How an index is created.
#[derive(Clone, Copy)]
pub struct Creation {
    /// Indexes of tables are built; otherwise they stay empty, because the caller rewrites the
    /// tables.
    pub filled: bool,
    /// The indexes of partitions are created too.
    pub recurse: bool,
    pub by: Cause,
}

/// The statement that creates the index of a constraint.
#[derive(Clone, Copy)]
pub enum Cause {
    CreateTable,
    AlterTable,
    /// The index is created by its own statement, or again after a change of its columns.
    Itself,
}

/// Reports the index that a constraint creates.
fn report_implicit(host: &mut dyn CommandHost, rel: &RelDesc, new: &NewIndex, by: Cause) {
    let statement = match by {
        Cause::CreateTable => "CREATE TABLE /",
        Cause::AlterTable => "ALTER TABLE / ADD",
        Cause::Itself => return,
    };
    if new.constraint.is_some() {
        let kind = match (new.primary, new.unique) {
            (true, _) => "PRIMARY KEY",
            (_, true) => "UNIQUE",
            _ => "EXCLUDE",
        };
        host.notice(debug(format!(
            "{statement} {kind} will create implicit index \"{}\" for table \"{}\"",
            new.name,
            rel.name()
        )));
    }
}

/// Creates an index, and those of the partitions if the table is partitioned.
pub fn create(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    new: &NewIndex,
    how: Creation,
) -> Result<Oid> {
    if rel.kind() != RelKind::PartitionedTable {
        report_implicit(host, rel, new, how.by);
        return index::create(host, rel, new, how.filled);
    }
    if new.unique {
        check_key(host, rel, new)?;
    }
    report_implicit(host, rel, new, how.by);
    let desc = partition::partition_desc(&mut host.catalog(), rel, Detached::Omit)?;
    let valid = how.recurse || desc.partitions.is_empty();
    let oid = index::enter(host, rel, new, valid)?;
    if !how.recurse {
        return Ok(oid);
    }
    let parent = host.catalog().relation(oid)?;
    let mut all_valid = true;
    for child in &desc.partitions {
        host.lock_relation(child.oid, names::mode::SHARE)?;
        let child = host.catalog().relation(child.oid)?;
        if child.kind() == RelKind::ForeignTable {
            if new.unique {
                let name = rel.name();
                return Err(pg_err!(
                    WRONG_OBJECT_TYPE,
                    "cannot create unique index on partitioned table \"{name}\""
                )
                .detail(format!("Table \"{name}\" contains partitions that are foreign tables.")));
            }
            continue;
        }
        all_valid &= ensure(host, &parent, rel, &child, how, false)?;
    }
    if !all_valid {
        set_valid(host, oid, false)?;
    }
    Ok(oid)
}

/// Error 0A000 unless a unique key contains the whole partition key: rows with equal keys must be
/// in the same partition.
fn check_key(host: &mut dyn CommandHost, rel: &RelDesc, new: &NewIndex) -> Result<()> {
    let key = partition::partition_key(&mut host.catalog(), rel)?;
    let kind = if new.primary { "PRIMARY KEY" } else { "UNIQUE" };
    for c in &key.columns {
        let strategy = if key.strategy == PartStrategy::Hash { HASH_EQUAL } else { EQUAL };
        let equal = host.catalog().family_member(c.family, c.input, c.input, strategy)?;
        if new.method.oid != BTREE {
            bail!(
                FEATURE_NOT_SUPPORTED,
                "cannot match partition key to an index using access method \"{}\"",
                new.method.info.name
            );
        }
        if c.attno == 0 {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "unsupported {kind} constraint with partition key definition"
            )
            .detail(format!(
                "{kind} constraints cannot be used when partition keys include expressions."
            )));
        }
        let mut found = false;
        for k in new.keys.iter().filter(|k| k.number == c.attno && k.collation == c.collation) {
            let mut cat = host.catalog();
            let class = cat.opclass(k.opclass)?;
            let (family, input) = (class.opcfamily, class.opcintype);
            found |= cat.family_member(family, input, input, EQUAL)? == equal;
        }
        if !found {
            let column = rel.attribute(c.attno).map_or("", |a| a.attname.as_str());
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "unique constraint on partitioned table must include all partitioning columns"
            )
            .detail(format!(
                "{kind} constraint on table \"{}\" lacks column \"{column}\" which is part of the \
                 partition key.",
                rel.name()
            )));
        }
    }
    Ok(())
}

/// The index part of a descriptor.
fn part(index: &RelDesc) -> Result<&IndexPart> {
    index.index.as_ref().ok_or_else(|| PgError::internal("index without a row of pg_index"))
}

/// The numbers of the parent's columns in the child.
fn full_map(parent: &RelDesc, child: &RelDesc) -> Result<Vec<AttrNo>> {
    let map = partition::column_map(parent, child)?;
    Ok(map.unwrap_or_else(|| parent.attributes.iter().map(|a| a.attnum).collect()))
}

fn mapped(map: &[AttrNo], number: AttrNo) -> AttrNo {
    usize::try_from(number - 1).ok().and_then(|i| map.get(i)).copied().unwrap_or(number)
}

/// Makes an index of a partition the child of the partitioned index: one that exists and matches,
/// or a new one. Returns whether it is valid. With `only_valid`, existing invalid indexes do not
/// match.
pub fn ensure(
    host: &mut dyn CommandHost,
    parent: &Arc<RelDesc>,
    table: &RelDesc,
    child: &Arc<RelDesc>,
    how: Creation,
    only_valid: bool,
) -> Result<bool> {
    let constraint = index::constraint_of(host, parent.oid())?;
    let map = full_map(table, child)?;
    for row in &child.indexes {
        let candidate = host.catalog().relation(row.indexrelid)?;
        if candidate.class.relispartition
            || only_valid && !row.indisvalid
            || !matches(&candidate, parent, &map)?
        {
            continue;
        }
        let own = match constraint {
            Some(_) => index::constraint_of(host, candidate.oid())?,
            None => None,
        };
        if constraint.is_some() && own.is_none() {
            continue;
        }
        set_parent(host, &candidate, Some(parent.oid()))?;
        if let (Some(own), Some(constraint)) = (own, constraint) {
            set_constraint_parent(host, own, Some(constraint), child.oid())?;
        }
        host.catalog().increment_command_counter()?;
        return Ok(row.indisvalid);
    }
    let new = definition(host, parent, child, &map, constraint)?;
    create(host, child, &new, Creation { recurse: true, ..how })?;
    Ok(true)
}

/// Creates or attaches the indexes that a new partition must have. Counterpart:
/// `AttachPartitionEnsureIndexes`.
pub fn ensure_all(
    host: &mut dyn CommandHost,
    table: &RelDesc,
    child: Oid,
    by: Cause,
) -> Result<()> {
    for row in &table.indexes {
        let parent = host.catalog().relation(row.indexrelid)?;
        if parent.kind() != RelKind::PartitionedIndex {
            continue;
        }
        let child = host.catalog().relation(child)?;
        if child.kind() == RelKind::ForeignTable {
            continue;
        }
        let how = Creation { filled: true, recurse: true, by };
        ensure(host, &parent, table, &child, how, true)?;
    }
    Ok(())
}

/// Whether the index of a partition has the definition of the partitioned index. Counterpart:
/// `CompareIndexInfo`.
fn matches(child: &RelDesc, parent: &RelDesc, map: &[AttrNo]) -> Result<bool> {
    let (a, b) = (part(child)?, part(parent)?);
    let (x, y) = (&a.row, &b.row);
    let columns: Vec<AttrNo> = y.indkey.iter().map(|n| mapped(map, *n)).collect();
    if x.indisunique != y.indisunique
        || x.indnullsnotdistinct != y.indnullsnotdistinct
        || a.am != b.am
        || (x.indnatts, x.indnkeyatts) != (y.indnatts, y.indnkeyatts)
        || x.indkey.to_vec() != columns
        || x.indcollation.to_vec() != y.indcollation.to_vec()
        || a.opfamilies != b.opfamilies
        || x.indisexclusion
        || y.indisexclusion
    {
        return Ok(false);
    }
    let exprs = |row: &PgIndex| match &row.indexprs {
        Some(text) => plan::nodetree::read_exprs(text.as_str()),
        None => Ok(Vec::new()),
    };
    let predicate = |row: &PgIndex| match &row.indpred {
        Some(text) => plan::nodetree::read_exprs(text.as_str()),
        None => Ok(Vec::new()),
    };
    for (own, of_parent) in [(exprs(x)?, exprs(y)?), (predicate(x)?, predicate(y)?)] {
        let mut of_parent = of_parent;
        for e in &mut of_parent {
            if !partition::map_columns(e, map)? {
                return Ok(false);
            }
        }
        if own != of_parent {
            return Ok(false);
        }
    }
    Ok(true)
}

/// 0A000: an expression of an index refers to the whole row.
fn mapped_expr(mut e: Expr, map: &[AttrNo], index: &RelDesc) -> Result<Expr> {
    if partition::map_columns(&mut e, map)? {
        return Ok(e);
    }
    let e = pg_err!(FEATURE_NOT_SUPPORTED, "cannot convert whole-row table reference");
    Err(e.detail(format!("Index \"{}\" contains a whole-row table reference.", index.name())))
}

/// The definition of a partition's index with the properties of the partitioned index. Counterpart:
/// `generateClonedIndexStmt`.
fn definition(
    host: &mut dyn CommandHost,
    parent: &RelDesc,
    child: &Arc<RelDesc>,
    map: &[AttrNo],
    constraint: Option<Oid>,
) -> Result<NewIndex> {
    let from = part(parent)?;
    let row = &from.row;
    let method = host.catalog().access_method(from.am)?;
    let method = method.ok_or_else(|| PgError::internal("unknown access method"))?;
    let exprs = match &row.indexprs {
        Some(text) => plan::nodetree::read_exprs(text.as_str())?,
        None => Vec::new(),
    };
    let mut exprs = exprs.into_iter();
    let (mut keys, mut include, mut used) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (&number, a)) in row.indkey.iter().zip(&parent.attributes).enumerate() {
        let name = index::free_column_name(&used, a.attname.as_str());
        used.push(name.clone());
        let number = if number == 0 { 0 } else { mapped(map, number) };
        if i >= row.indnkeyatts as usize {
            include.push((name, number));
            continue;
        }
        let expr = match number {
            0 => {
                let e = exprs.next().ok_or_else(|| PgError::internal("too few expressions"))?;
                Some(mapped_expr(e, map, parent)?)
            }
            _ => None,
        };
        keys.push(IndexColumn {
            name,
            number,
            expr,
            collation: row.indcollation.get(i).copied().unwrap_or_default(),
            opclass: row.indclass.get(i).copied().unwrap_or_default(),
            option: row.indoption.get(i).copied().unwrap_or_default(),
            class_options: a.attoptions.clone(),
        });
    }
    let mut predicate = Vec::new();
    if let Some(text) = &row.indpred {
        for e in plan::nodetree::read_exprs(text.as_str())? {
            predicate.extend(plan::walk::conjuncts(mapped_expr(e, map, parent)?));
        }
    }
    let of_constraint = match constraint {
        Some(oid) => {
            let c = host.catalog().constraint(oid)?;
            let c = c.ok_or_else(|| PgError::internal("index of a constraint without a row"))?;
            Some(IndexConstraint { deferrable: c.condeferrable, deferred: c.condeferred })
        }
        None => None,
    };
    let tablespace = match parent.class.reltablespace.valid() {
        Some(oid) => oid,
        None => {
            let temporary = child.class.relpersistence == Persistence::Temporary;
            tablespace::of_relation(host, None, temporary)?
        }
    };
    let name = index::free_name(host, child, &used, (row.indisprimary, constraint.is_some()))?;
    Ok(NewIndex {
        name,
        method: IndexMethod { oid: from.am, info: method.info, am: method.am },
        keys,
        include,
        unique: row.indisunique,
        // Partitioned tables have none.
        exclusion: Vec::new(),
        primary: row.indisprimary,
        nulls_not_distinct: row.indnullsnotdistinct,
        constraint: of_constraint,
        predicate,
        options: parent.class.reloptions.clone(),
        tablespace,
        parent: Some(IndexParent { index: parent.oid(), constraint }),
    })
}

/// Makes an index the child of a partitioned index, or detaches it from its parent. Counterpart:
/// `IndexSetParentIndex`.
pub fn set_parent(host: &mut dyn CommandHost, child: &RelDesc, parent: Option<Oid>) -> Result<()> {
    let oid = child.oid();
    let mut cat = host.catalog();
    let index = catalog_indexes::PG_INHERITS_RELID_SEQNO_INDEX;
    let old = cat.scan(index, &[oid.into()])?.pop();
    let this = ObjectAddress::relation(oid);
    match (&old, parent) {
        (None, Some(parent)) => {
            cat.insert(&PgInherits {
                inhrelid: oid,
                inhparent: parent,
                inhseqno: 1,
                inhdetachpending: false,
            })?;
            let on = ObjectAddress::relation(parent);
            cat.record_dependency(this, on, DepType::PartitionPrimary)?;
            let table = ObjectAddress::relation(part(child)?.row.indrelid);
            cat.record_dependency(this, table, DepType::PartitionSecondary)?;
        }
        (Some(old), None) => {
            cat.delete(old)?;
            remove_partition_dependencies(host, this, PgClass::RELATION)?;
        }
        _ => {}
    }
    let mut cat = host.catalog();
    let row = class::row(&mut cat, oid)?;
    if row.relispartition != parent.is_some() {
        let relispartition = parent.is_some();
        cat.update(&row, &PgClass { relispartition, ..row.row.clone() })?;
    }
    cat.increment_command_counter()?;
    if let Some(parent) = parent {
        host.lock_relation(parent, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
        hierarchy::set_has_subclass(host, parent, true)?;
    }
    Ok(())
}

/// Deletes an object's dependencies on its parent, an object of the catalog `class`, and on the
/// table that it belongs to.
pub fn remove_partition_dependencies(
    host: &mut dyn CommandHost,
    object: ObjectAddress,
    class: Oid,
) -> Result<()> {
    let mut cat = host.catalog();
    for d in cat.dependencies_of(object)? {
        let primary = d.deptype == DepType::PartitionPrimary && d.refclassid == class;
        let secondary =
            d.deptype == DepType::PartitionSecondary && d.refclassid == PgClass::RELATION;
        if primary || secondary {
            cat.delete(&d)?;
        }
    }
    Ok(())
}

/// Makes a constraint of a partition the child of the partitioned table's, or detaches it.
/// Counterpart: `ConstraintSetParentConstraint`.
pub fn set_constraint_parent(
    host: &mut dyn CommandHost,
    child: Oid,
    parent: Option<Oid>,
    table: Oid,
) -> Result<()> {
    let mut cat = host.catalog();
    let keys = [child.into()];
    let row = cat.scan(catalog_indexes::PG_CONSTRAINT_OID_INDEX, &keys)?.pop();
    let row = row.ok_or_else(|| PgError::internal(format!("no constraint {child}")))?;
    let this = ObjectAddress::of::<PgConstraint>(child);
    match parent {
        Some(parent) => {
            if row.conparentid.is_valid() {
                let message = format!("constraint {child} already has a parent constraint");
                return Err(PgError::internal(message));
            }
            cat.update(
                &row,
                &PgConstraint {
                    conislocal: false,
                    coninhcount: row.coninhcount + 1,
                    conparentid: parent,
                    ..row.row.clone()
                },
            )?;
            let on = ObjectAddress::of::<PgConstraint>(parent);
            cat.record_dependency(this, on, DepType::PartitionPrimary)?;
            let table = ObjectAddress::relation(table);
            cat.record_dependency(this, table, DepType::PartitionSecondary)?;
        }
        None => {
            cat.update(
                &row,
                &PgConstraint {
                    conislocal: true,
                    coninhcount: row.coninhcount - 1,
                    conparentid: Oid::INVALID,
                    ..row.row.clone()
                },
            )?;
            remove_partition_dependencies(host, this, PgConstraint::RELATION)?;
        }
    }
    host.catalog().increment_command_counter()
}

/// Detaches the indexes of a partition from those of the partitioned table.
pub fn detach_all(host: &mut dyn CommandHost, partition: &RelDesc) -> Result<()> {
    for row in &partition.indexes {
        let child = host.catalog().relation(row.indexrelid)?;
        let parent = partition::parents(&mut host.catalog(), child.oid())?;
        let Some(&parent) = parent.first() else { continue };
        host.lock_relation(child.oid(), names::mode::ACCESS_EXCLUSIVE)?;
        set_parent(host, &child, None)?;
        let own = index::constraint_of(host, child.oid())?;
        if let (Some(own), Some(_)) = (own, index::constraint_of(host, parent)?) {
            set_constraint_parent(host, own, None, partition.oid())?;
        }
    }
    Ok(())
}

fn set_valid(host: &mut dyn CommandHost, index: Oid, indisvalid: bool) -> Result<()> {
    let mut cat = host.catalog();
    let keys = [index.into()];
    let row = cat.scan(catalog_indexes::PG_INDEX_INDEXRELID_INDEX, &keys)?.pop();
    let row = row.ok_or_else(|| PgError::internal("index without a row"))?;
    cat.update(&row, &PgIndex { indisvalid, ..row.row.clone() })?;
    cat.invalidate_relation(row.indrelid, false);
    cat.increment_command_counter()
}

/// Marks a partitioned index valid if all partitions have a valid child of it; then also its
/// ancestors. Counterpart: `validatePartitionedIndex`.
fn validate(host: &mut dyn CommandHost, parent: &RelDesc) -> Result<()> {
    let children = partition::children(&mut host.catalog(), parent.oid(), Detached::Include)?;
    let mut valid = 0;
    for child in children {
        let child = host.catalog().relation(child)?;
        valid += usize::from(part(&child)?.row.indisvalid);
    }
    let table = host.catalog().relation(part(parent)?.row.indrelid)?;
    let desc = partition::partition_desc(&mut host.catalog(), &table, Detached::Omit)?;
    if valid != desc.partitions.len() {
        return Ok(());
    }
    set_valid(host, parent.oid(), true)?;
    if !parent.class.relispartition {
        return Ok(());
    }
    let above = partition::parents(&mut host.catalog(), parent.oid())?;
    match above.first() {
        Some(&above) => {
            host.lock_relation(above, names::mode::ACCESS_EXCLUSIVE)?;
            let above = host.catalog().relation(above)?;
            validate(host, &above)
        }
        None => Ok(()),
    }
}

/// ALTER INDEX … ATTACH PARTITION.
pub fn attach(host: &mut dyn CommandHost, parent: &Arc<RelDesc>, name: &RangeVar) -> Result<()> {
    let table = part(parent)?.row.indrelid;
    host.lock_relation(table, names::mode::ACCESS_SHARE)?;
    let mut check = |host: &mut dyn CommandHost, rel: &RelDesc| {
        if !rel.kind().is_index() {
            bail!(INVALID_OBJECT_DEFINITION, "\"{}\" is not an index", rel.name());
        }
        let table = part(rel)?.row.indrelid;
        host.lock_relation(table, names::mode::ACCESS_SHARE)
    };
    names::check_before_lock(host, name, &mut check)?;
    let Some(oid) = names::find(host, name, names::mode::ACCESS_EXCLUSIVE)? else {
        return Err(names::missing(host, name)?);
    };
    let child = host.catalog().relation(oid)?;
    check(host, &child)?;
    let table = host.catalog().relation(table)?;
    let partition = host.catalog().relation(part(&child)?.row.indrelid)?;
    let current = partition::parents(&mut host.catalog(), oid)?.first().copied();
    if current == Some(parent.oid()) {
        return match part(parent)?.row.indisvalid {
            true => Ok(()),
            false => validate(host, parent),
        };
    }
    let (own, constraint) = attachable(host, (parent, &table), (&child, &partition), current)?;
    set_parent(host, &child, Some(parent.oid()))?;
    if let (Some(own), Some(constraint)) = (own, constraint) {
        set_constraint_parent(host, own, Some(constraint), partition.oid())?;
    }
    let parent = host.catalog().relation(parent.oid())?;
    validate(host, &parent)
}

/// Errors for an index that cannot become a child of the partitioned index. Returns the constraints
/// of the child and of the parent.
fn attachable(
    host: &mut dyn CommandHost,
    (parent, table): (&RelDesc, &RelDesc),
    (child, partition): (&RelDesc, &RelDesc),
    current: Option<Oid>,
) -> Result<(Option<Oid>, Option<Oid>)> {
    let message = format!(
        "cannot attach index \"{}\" as a partition of index \"{}\"",
        child.name(),
        parent.name()
    );
    let refuse =
        |detail: String| Err(pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "{message}").detail(detail));
    for row in &partition.indexes {
        let parents = partition::parents(&mut host.catalog(), row.indexrelid)?;
        if parents.first() == Some(&parent.oid()) {
            let name = partition.name();
            return refuse(format!("Another index is already attached for partition \"{name}\"."));
        }
    }
    if current.is_some() {
        let name = child.name();
        return refuse(format!("Index \"{name}\" is already attached to another index."));
    }
    let desc = match table.kind() {
        RelKind::PartitionedTable => {
            Some(partition::partition_desc(&mut host.catalog(), table, Detached::Omit)?)
        }
        _ => None,
    };
    if !desc.is_some_and(|d| d.partitions.iter().any(|p| p.oid == partition.oid())) {
        return refuse(format!(
            "Index \"{}\" is not an index on any partition of table \"{}\".",
            child.name(),
            table.name()
        ));
    }
    let map = full_map(table, partition)?;
    if !matches(child, parent, &map)? {
        return Err(pg_err!(INVALID_OBJECT_DEFINITION, "{message}")
            .detail("The index definitions do not match."));
    }
    let constraint = index::constraint_of(host, parent.oid())?;
    let own = index::constraint_of(host, child.oid())?;
    if constraint.is_some() && own.is_none() {
        return Err(pg_err!(INVALID_OBJECT_DEFINITION, "{message}").detail(format!(
            "The index \"{}\" belongs to a constraint in table \"{}\" but no constraint exists \
             for index \"{}\".",
            parent.name(),
            table.name(),
            child.name()
        )));
    }
    Ok((own, constraint))
}
