//! ATTACH PARTITION: an existing table becomes a partition.
//!
//! Counterpart: `ATExecAttachPartition`, `check_default_partition_contents`,
//! `QueuePartitionConstraintValidation`.

use super::indexes::{self, Cause};
use super::{bound, triggers};
use crate::{constraint, foreign_key, hierarchy};
use catalog::RelDesc;
use ids::{Oid, Persistence, RelKind};
use parse::ast::PartitionCmd;
use partition::Detached;
use pgerror::{Result, bail, pg_err};
use plan::Expr;
use plan::expr::{BoolExpr, BoolOp, Location, NullTest};
use plan::nodetree::PartitionBound;
use std::sync::Arc;
use utility::host::{CommandHost, debug};
use utility::names;

/// A condition that the existing rows of a table must satisfy.
pub struct RowCheck {
    pub table: Oid,
    /// Over the table's columns.
    pub condition: Expr,
    /// The table is, or belongs to, the default partition, whose constraint becomes narrower.
    pub is_default: bool,
}

/// The checks of existing rows that are left to the end of ALTER TABLE.
#[derive(Default)]
pub struct Pending {
    pub rows: Vec<RowCheck>,
    pub foreign_keys: Vec<Oid>,
}

/// Attaches a partition to `rel`, which is locked.
pub fn attach(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    cmd: &PartitionCmd,
    sql: &str,
) -> Result<Pending> {
    let spec = bound::of_command(cmd)?;
    let new = bound::transform(host, rel, spec, sql)?;
    let default = bound::lock_default(host, rel)?;
    let part = names::open(host, &cmd.name, names::mode::ACCESS_EXCLUSIVE)?;
    names::must_own_relation(host, &part)?;
    names::not_a_catalog(host, &part)?;
    check_kind(&part)?;
    let below = check_tree(host, rel, &part)?;
    check_persistence(rel, &part)?;
    for a in part.attributes.iter().filter(|a| !a.attisdropped) {
        if rel.column(a.attname.as_str()).is_none() {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "table \"{}\" contains column \"{}\" not found in parent \"{}\"",
                part.name(),
                a.attname,
                rel.name()
            )
            .detail("The new partition may contain only the columns present in parent."));
        }
    }
    if let Some(trigger) = hierarchy::incompatible_trigger(&part) {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "trigger \"{trigger}\" prevents table \"{}\" from becoming a partition",
            part.name()
        )
        .detail("ROW triggers with transition tables are not supported on partitions."));
    }
    bound::check(host, part.name(), rel, &new, sql)?;
    hierarchy::connect(host, part.oid(), rel)?;
    bound::store(host, part.oid(), rel.oid(), &new)?;
    let table = host.catalog().relation(rel.oid())?;
    indexes::ensure_all(host, &table, part.oid(), Cause::AlterTable)?;
    triggers::clone_to_partition(host, rel.oid(), part.oid())?;
    let mut pending = Pending {
        foreign_keys: foreign_key::clone_to_partition(host, rel.oid(), part.oid())?,
        ..Pending::default()
    };
    queue_checks(host, rel, (part.oid(), default), &new.bound, &mut pending)?;
    if part.kind() == RelKind::PartitionedTable {
        let mut cat = host.catalog();
        below.into_iter().for_each(|oid| cat.invalidate_relation(oid, false));
    }
    Ok(pending)
}

/// Errors for relations that cannot become partitions.
fn check_kind(part: &RelDesc) -> Result<()> {
    let kinds = [RelKind::Table, RelKind::PartitionedTable, RelKind::ForeignTable];
    if !kinds.contains(&part.kind()) {
        return Err(pg_err!(
            WRONG_OBJECT_TYPE,
            "ALTER action ATTACH PARTITION cannot be performed on relation \"{}\"",
            part.name()
        )
        .detail(utility::class::kind_not_supported(part.kind())));
    }
    if part.class.relispartition {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is already a partition", part.name());
    }
    if part.class.reloftype.is_valid() {
        bail!(WRONG_OBJECT_TYPE, "cannot attach a typed table as partition");
    }
    Ok(())
}

/// Errors for a table that is already in another tree, or above `rel`. Returns the table with its
/// descendants, which are locked.
fn check_tree(host: &mut dyn CommandHost, rel: &RelDesc, part: &RelDesc) -> Result<Vec<Oid>> {
    if !partition::parents(&mut host.catalog(), part.oid())?.is_empty() {
        bail!(WRONG_OBJECT_TYPE, "cannot attach inheritance child as partition");
    }
    let below = partition::descendants(&mut host.catalog(), part.oid(), Detached::Include)?;
    if below.len() > 1 && part.kind() == RelKind::Table {
        bail!(WRONG_OBJECT_TYPE, "cannot attach inheritance parent as partition");
    }
    for oid in &below {
        host.lock_relation(*oid, names::mode::ACCESS_EXCLUSIVE)?;
    }
    if below.contains(&rel.oid()) {
        return Err(circular(rel.name(), part.name()));
    }
    Ok(below)
}

/// Error 42P07 for a table that would be its own ancestor.
pub fn circular(child: &str, parent: &str) -> pgerror::PgError {
    pg_err!(DUPLICATE_TABLE, "circular inheritance not allowed")
        .detail(format!("\"{child}\" is already a child of \"{parent}\"."))
}

fn check_persistence(rel: &RelDesc, part: &RelDesc) -> Result<()> {
    let temporary = |r: &RelDesc| r.class.relpersistence == Persistence::Temporary;
    let name = rel.name();
    match (temporary(rel), temporary(part)) {
        (false, true) => bail!(
            WRONG_OBJECT_TYPE,
            "cannot attach a temporary relation as partition of permanent relation \"{name}\""
        ),
        (true, false) => bail!(
            WRONG_OBJECT_TYPE,
            "cannot attach a permanent relation as partition of temporary relation \"{name}\""
        ),
        _ if rel.other_temp => bail!(
            WRONG_OBJECT_TYPE,
            "cannot attach as partition of temporary relation of another session"
        ),
        _ if part.other_temp => bail!(
            WRONG_OBJECT_TYPE,
            "cannot attach temporary relation of another session as partition"
        ),
        _ => Ok(()),
    }
}

/// Notes which existing rows must be checked: those of the new partition, and those of the default
/// partition.
fn queue_checks(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    (part, default): (Oid, Option<Oid>),
    new: &PartitionBound,
    pending: &mut Pending,
) -> Result<()> {
    let rel = host.catalog().relation(rel.oid())?;
    let of_bound = partition::qual_of_bound(&mut host.catalog(), &rel, new)?;
    let mut all = of_bound.clone();
    all.extend(partition::partition_qual(&mut host.catalog(), rel.oid())?);
    let part = host.catalog().relation(part)?;
    if !all.is_empty() {
        queue(host, &rel, &part, &all, (false, &mut *pending))?;
    }
    if let Some(default) = default {
        let default = host.catalog().relation(default)?;
        let condition = vec![negated(of_bound)];
        queue(host, &rel, &default, &condition, (true, pending))?;
    }
    Ok(())
}

/// The condition that rows do not satisfy the conditions.
fn negated(conditions: Vec<Expr>) -> Expr {
    let args = vec![partition::conjunction(conditions)];
    let location = Location::UNKNOWN;
    Expr::Bool(Box::new(BoolExpr { boolop: BoolOp::Not, args, location }))
}

/// Notes the check of a table, or of the leaves below it, unless existing constraints imply the
/// conditions, which are over the columns of `parent`.
fn queue(
    host: &mut dyn CommandHost,
    parent: &RelDesc,
    rel: &Arc<RelDesc>,
    conditions: &[Expr],
    (is_default, pending): (bool, &mut Pending),
) -> Result<()> {
    let mut conditions = conditions.to_vec();
    partition::map_to_child(&mut conditions, parent, rel)?;
    if are_implied(rel, &conditions)? {
        let name = rel.name();
        let which = match is_default {
            true => format!("updated partition constraint for default partition \"{name}\""),
            false => format!("partition constraint for table \"{name}\""),
        };
        host.notice(debug(format!("{which} is implied by existing constraints")));
        return Ok(());
    }
    match rel.kind() {
        RelKind::Table => {
            let condition = partition::conjunction(conditions);
            pending.rows.push(RowCheck { table: rel.oid(), condition, is_default });
        }
        RelKind::PartitionedTable => {
            let desc = partition::partition_desc(&mut host.catalog(), rel, Detached::Omit)?;
            for p in &desc.partitions {
                host.lock_relation(p.oid, names::mode::ACCESS_EXCLUSIVE)?;
                let part = host.catalog().relation(p.oid)?;
                queue(host, rel, &part, &conditions, (is_default, &mut *pending))?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether each condition is one of the table's valid CHECK constraints, or that a NOT NULL column
/// is not null. Counterpart: `PartConstraintImpliedByRelConstraint`, with a weaker proof.
pub fn are_implied(rel: &RelDesc, conditions: &[Expr]) -> Result<bool> {
    let mut known = Vec::new();
    for c in rel.checks.iter().filter(|c| c.convalidated) {
        if let Some(text) = &c.conbin {
            let check = by_operator(plan::nodetree::read_expr(text.as_str())?);
            known.extend(plan::walk::conjuncts(check));
        }
    }
    let not_null = |e: &Expr| match e {
        Expr::NullTest(test) => {
            let NullTest { arg: Expr::Var(v), is_not: true, .. } = &**test else { return false };
            rel.attribute(v.varattno).is_some_and(|a| a.attnotnull)
        }
        _ => false,
    };
    let conditions = conditions.iter().flat_map(|e| plan::walk::conjuncts(by_operator(e.clone())));
    Ok(conditions.into_iter().all(|e| not_null(&e) || known.contains(&e)))
}

/// The expression without the functions of its operators, which may be unset.
fn by_operator(mut e: Expr) -> Expr {
    fn clear(e: &mut Expr) {
        match e {
            Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => o.opfuncid = Oid::INVALID,
            Expr::ScalarArrayOp(o) => o.opfuncid = Oid::INVALID,
            _ => {}
        }
        plan::walk::each_child_mut(e, &mut clear);
    }
    clear(&mut e);
    e
}

/// Error 23514 if the default partition has a row that the new partition would accept. Counterpart:
/// `check_default_partition_contents`.
pub fn check_default(
    host: &mut dyn CommandHost,
    parent: &RelDesc,
    default: Oid,
    new: &PartitionBound,
) -> Result<()> {
    let conditions = partition::qual_of_bound(&mut host.catalog(), parent, new)?;
    let mut pending = Pending::default();
    let default = host.catalog().relation(default)?;
    let condition = vec![negated(conditions)];
    queue(host, parent, &default, &condition, (true, &mut pending))?;
    for check in &pending.rows {
        run(host, check, default.oid())?;
    }
    Ok(())
}

/// Checks the existing rows of a table. `shown` is the default partition that the error names.
pub fn run(host: &mut dyn CommandHost, check: &RowCheck, shown: Oid) -> Result<()> {
    let rel = host.catalog().relation(check.table)?;
    let condition = host.planner().fold(check.condition.clone())?;
    let fails = |v: &types::Datum| !v.is_null() && !v.as_ref().as_bool();
    if !constraint::find_row(host, &rel, &condition, fails)? {
        return Ok(());
    }
    let shown = host.catalog().relation(shown)?;
    let schema = host.catalog().namespace_name(shown.class.relnamespace)?.unwrap_or_default();
    let name = shown.name();
    let error = match check.is_default {
        true => pg_err!(
            CHECK_VIOLATION,
            "updated partition constraint for default partition \"{name}\" would be violated by \
             some row"
        ),
        false => pg_err!(
            CHECK_VIOLATION,
            "partition constraint of relation \"{name}\" is violated by some row"
        ),
    };
    Err(error.table(schema.as_str(), name))
}
