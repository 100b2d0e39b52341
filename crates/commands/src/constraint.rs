//! Constraints: catalog rows, CHECK constraints, internal triggers.
//!
//! Counterpart: pg_constraint.c, `StoreRelCheck`, `MergeWithExistingConstraint`.

use crate::hierarchy::InheritedCheck;
use analyze::{ExprKind, SessionLookup};
use catalog::rows::{Int2Vector, Name, PgClass, PgConstraint, PgTrigger, Text, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::creation;
use engine::table::{ScanOptions, TableScan};
use eval::EvalState;
use ids::code::{ConType, DepType, Firing, FkAction, FkMatch};
use ids::{AttrNo, Oid, RelKind};
use parse::ast::Constraint;
use pgerror::{Result, bail, pg_err};
use plan::Expr;
use std::sync::Arc;
use types::BATCH_ROWS_MAX;
use utility::host::{CommandHost, notice};
use utility::stored;
use utility::{class, exprs};

/// A `pg_constraint` row for a table constraint, with default values.
pub fn row(
    host: &mut dyn CommandHost,
    name: &str,
    rel: &RelDesc,
    kind: ConType,
) -> Result<PgConstraint> {
    let row = bare_row(host, name, rel.class.relnamespace, kind)?;
    Ok(PgConstraint { conrelid: rel.oid(), ..row })
}

/// A `pg_constraint` row without a relation, with default values.
pub fn bare_row(
    host: &mut dyn CommandHost,
    name: &str,
    schema: Oid,
    kind: ConType,
) -> Result<PgConstraint> {
    Ok(PgConstraint {
        oid: host.catalog().new_oid(indexes::PG_CONSTRAINT_OID_INDEX)?,
        conname: Name::new(name),
        connamespace: schema,
        contype: kind,
        condeferrable: false,
        condeferred: false,
        convalidated: true,
        conrelid: Oid::INVALID,
        contypid: Oid::INVALID,
        conindid: Oid::INVALID,
        conparentid: Oid::INVALID,
        confrelid: Oid::INVALID,
        confupdtype: FkAction::Unset,
        confdeltype: FkAction::Unset,
        confmatchtype: FkMatch::Unset,
        conislocal: true,
        coninhcount: 0,
        connoinherit: false,
        conkey: None,
        confkey: None,
        conpfeqop: None,
        conppeqop: None,
        conffeqop: None,
        confdelsetcols: None,
        conexclop: None,
        conbin: None,
    })
}

/// Inserts the row. The constraint depends on its columns, or on the table if it has none.
pub fn insert(
    host: &mut dyn CommandHost,
    row: PgConstraint,
    columns: &[AttrNo],
) -> Result<ObjectAddress> {
    let this = ObjectAddress::of::<PgConstraint>(row.oid);
    let mut cat = host.catalog();
    cat.insert(&row)?;
    if columns.is_empty() {
        let table = ObjectAddress::relation(row.conrelid);
        cat.record_dependency(this, table, DepType::Auto)?;
    }
    let list: Vec<_> = columns.iter().map(|c| ObjectAddress::column(row.conrelid, *c)).collect();
    cat.record_dependencies(this, &list, DepType::Auto)?;
    Ok(this)
}

const TABLEOID: AttrNo = -6;

/// Error 42710 if the table already has a constraint with this name.
pub fn check_name_free(host: &mut dyn CommandHost, rel: &RelDesc, name: &str) -> Result<()> {
    let keys = [rel.oid().into(), Oid::INVALID.into(), name.into()];
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    if !host.catalog().scan(index, &keys)?.is_empty() {
        bail!(
            DUPLICATE_OBJECT,
            "constraint \"{name}\" for relation \"{}\" already exists",
            rel.name()
        );
    }
    Ok(())
}

/// How CHECK constraints are added.
#[derive(Clone, Copy)]
pub struct CheckMode {
    /// Existing rows must be checked.
    pub validate: bool,
    /// The constraints are part of the statement's own table, and not inherited by it.
    pub local: bool,
    /// A constraint is merged with an equal one of the same name.
    pub merge: bool,
}

impl CheckMode {
    /// The constraints in CREATE TABLE.
    pub const CREATE: CheckMode = CheckMode { validate: false, local: true, merge: true };
    /// A constraint that ALTER TABLE adds.
    pub const ALTER: CheckMode = CheckMode { validate: true, local: true, merge: false };
    /// A constraint that ALTER TABLE adds to a parent.
    pub const INHERITED: CheckMode = CheckMode { validate: true, local: false, merge: true };
}

/// A CHECK constraint that was added.
pub struct AddedCheck {
    pub name: String,
    pub expr: Expr,
    /// Existing rows must be checked.
    pub unchecked: bool,
}

/// Adds CHECK constraints to a table. Those that were merged with existing ones are not returned.
pub fn add_checks(
    host: &mut dyn CommandHost,
    table: Oid,
    checks: &[&Constraint],
    mode: CheckMode,
    sql: &str,
) -> Result<Vec<AddedCheck>> {
    let rel = host.catalog().relation(table)?;
    let mut used = Vec::new();
    let mut added = Vec::new();
    for check in checks {
        let Some(node) = &check.raw_expr else { continue };
        let mut cat = SessionLookup::new(host);
        let kind = ExprKind::CheckConstraint;
        let expr = analyze::ddl::condition(&mut cat, &rel, node, sql, kind)?;
        let name = match &check.conname {
            Some(name) => {
                if used.iter().any(|u| u == &**name) {
                    bail!(DUPLICATE_OBJECT, "check constraint \"{name}\" already exists");
                }
                if merge_check(host, &rel, name, &expr, (check, mode))? {
                    used.push(name.to_string());
                    continue;
                }
                name.to_string()
            }
            None => free_check_name(host, &rel, &expr, &used)?,
        };
        used.push(name.clone());
        if check.is_no_inherit && rel.kind() == RelKind::PartitionedTable {
            bail!(
                INVALID_TABLE_DEFINITION,
                "cannot add NO INHERIT constraint to partitioned table \"{}\"",
                rel.name()
            );
        }
        // A new table has no rows that could violate the constraint.
        let validated = !mode.validate || !check.skip_validation;
        let mut row = row(host, &name, &rel, ConType::Check)?;
        row.convalidated = validated;
        row.connoinherit = check.is_no_inherit;
        if !mode.local {
            (row.conislocal, row.coninhcount) = (false, 1);
        }
        insert_check(host, row, &expr)?;
        added.push(AddedCheck { name, expr, unchecked: mode.validate && validated });
    }
    count_checks(host, table, added.len())?;
    Ok(added)
}

/// A name for a CHECK constraint. That of a single column is named after it.
fn free_check_name(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    expr: &Expr,
    used: &[String],
) -> Result<String> {
    let column = match stored::columns_used(std::slice::from_ref(expr)).as_slice() {
        [TABLEOID] => Some("tableoid".to_string()),
        [one] => rel.attribute(*one).map(|a| a.attname.to_string()),
        _ => None,
    };
    let (table, column) = (rel.name(), column.as_deref());
    creation::free_constraint_name(host, table, column, "check", rel.class.relnamespace, used)
}

/// Inserts a CHECK constraint with its condition.
fn insert_check(host: &mut dyn CommandHost, mut row: PgConstraint, expr: &Expr) -> Result<()> {
    let table = row.conrelid;
    let columns = stored::columns_used(std::slice::from_ref(expr));
    row.conkey = (!columns.is_empty()).then(|| columns.clone());
    row.conbin = Some(stored::write(expr));
    let this = insert(host, row, &columns)?;
    let normal = DepType::Normal;
    stored::record(host, this, std::slice::from_ref(expr), table, normal, normal)
}

/// Adds to `relchecks`.
fn count_checks(host: &mut dyn CommandHost, table: Oid, added: usize) -> Result<()> {
    if added == 0 {
        return Ok(());
    }
    let mut cat = host.catalog();
    let row = class::row(&mut cat, table)?;
    let relchecks = row.relchecks + added as i16;
    cat.update(&row, &PgClass { relchecks, ..row.row.clone() })?;
    cat.increment_command_counter()
}

/// Adds a CHECK constraint with an analysed condition, which existing rows satisfy.
pub fn add_known_check(host: &mut dyn CommandHost, table: Oid, expr: &Expr) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    let name = free_check_name(host, &rel, expr, &[])?;
    let row = row(host, &name, &rel, ConType::Check)?;
    insert_check(host, row, expr)?;
    count_checks(host, table, 1)
}

/// Stores the CHECK constraints that a new table inherits.
pub fn add_inherited(
    host: &mut dyn CommandHost,
    table: Oid,
    checks: &[InheritedCheck],
) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    for check in checks {
        let row = row(host, &check.name, &rel, ConType::Check)?;
        let row = PgConstraint { conislocal: false, coninhcount: check.count, ..row };
        insert_check(host, row, &check.expr)?;
    }
    count_checks(host, table, checks.len())
}

/// Merges a new CHECK constraint with one of the same name and condition. False if there is none
/// with this name. Counterpart: `MergeWithExistingConstraint`.
fn merge_check(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    name: &str,
    expr: &Expr,
    (check, mode): (&Constraint, CheckMode),
) -> Result<bool> {
    let keys = [rel.oid().into(), Oid::INVALID.into(), name.into()];
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    let Some(old) = host.catalog().scan(index, &keys)?.pop() else { return Ok(false) };
    let is_partition = rel.class.relispartition;
    let equal = old.contype == ConType::Check
        && match &old.conbin {
            Some(text) => plan::nodetree::read_expr(text.as_str())? == *expr,
            None => false,
        };
    let table = rel.name();
    let merges = mode.merge || mode.local && !old.conislocal && !is_partition;
    if !equal || !merges {
        bail!(DUPLICATE_OBJECT, "constraint \"{name}\" for relation \"{table}\" already exists");
    }
    let conflict = if old.connoinherit {
        "non-inherited constraint"
    } else if old.coninhcount > 0 && check.is_no_inherit {
        "inherited constraint"
    } else if !check.skip_validation && !old.convalidated {
        "NOT VALID constraint"
    } else {
        let message = format!("merging constraint \"{name}\" with inherited definition");
        host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}")));
        let mut new = old.row.clone();
        if is_partition {
            (new.coninhcount, new.conislocal) = (1, false);
        } else if mode.local {
            new.conislocal = true;
        } else {
            new.coninhcount += 1;
        }
        new.connoinherit |= check.is_no_inherit;
        let mut cat = host.catalog();
        cat.update(&old, &new)?;
        cat.increment_command_counter()?;
        return Ok(true);
    };
    bail!(
        INVALID_OBJECT_DEFINITION,
        "constraint \"{name}\" conflicts with {conflict} on relation \"{table}\""
    )
}

/// True if there is a row for which `expr` satisfies the test.
pub fn find_row(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    expr: &Expr,
    test: impl Fn(&types::Datum) -> bool,
) -> Result<bool> {
    class::not_of_other_session(rel, "access")?;
    let Some(table) = &rel.table else { return Ok(false) };
    let columns: Vec<AttrNo> = (1..=rel.attributes.len() as AttrNo).collect();
    let program = exprs::compile_over(host, rel, expr)?;
    let mut state = EvalState::default();
    let snapshot = host.backend().catalog_snapshot();
    let options = ScanOptions::default();
    let mut scan = TableScan::new(host.backend(), table, snapshot, &columns, options)?;
    let mut batch = engine::table::new_batch(table, &columns);
    while scan.next_batch(host.backend(), &mut batch, BATCH_ROWS_MAX)? {
        for r in 0..batch.len {
            let row = batch.row_owned(r);
            if test(&exprs::value(&program, &mut state, host.expressions(), &row)?) {
                return Ok(true);
            }
        }
        batch.clear();
    }
    Ok(false)
}

/// Bits of `pg_trigger.tgtype`.
pub const ROW: i16 = 1;
pub const INSERT: i16 = 4;
pub const DELETE: i16 = 8;
pub const UPDATE: i16 = 16;

/// An internal trigger that enforces a constraint.
pub struct ConstraintTrigger<'a> {
    /// The name of the trigger consists of this and its OID.
    pub name: &'a str,
    pub function: Oid,
    /// `pg_trigger.tgtype`.
    pub kind: i16,
    /// The table at the other end of a foreign key; 0 if there is none.
    pub other: Oid,
    pub index: Oid,
    pub constraint: Oid,
    pub deferrable: bool,
    pub deferred: bool,
    /// The trigger of the partitioned table, for a trigger of a partition.
    pub parent: Oid,
}

/// Creates an internal trigger of a constraint, and returns its OID.
pub fn add_trigger(
    host: &mut dyn CommandHost,
    table: Oid,
    trigger: ConstraintTrigger<'_>,
) -> Result<Oid> {
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_TRIGGER_OID_INDEX)?;
    cat.insert(&PgTrigger {
        oid,
        tgrelid: table,
        tgparentid: trigger.parent,
        tgname: Name::new(format!("{}_{oid}", trigger.name)),
        tgfoid: trigger.function,
        tgtype: trigger.kind,
        tgenabled: Firing::Origin,
        tgisinternal: true,
        tgconstrrelid: trigger.other,
        tgconstrindid: trigger.index,
        tgconstraint: trigger.constraint,
        tgdeferrable: trigger.deferrable,
        tginitdeferred: trigger.deferred,
        tgnargs: 0,
        tgattr: Int2Vector::default(),
        tgargs: Text::default(),
        tgqual: None,
        tgoldtable: None,
        tgnewtable: None,
    })?;
    let of = ObjectAddress::of::<PgConstraint>(trigger.constraint);
    let this = ObjectAddress::of::<PgTrigger>(oid);
    cat.record_dependency(this, of, DepType::Internal)?;
    let row = class::row(&mut cat, table)?;
    if row.relhastriggers {
        cat.invalidate_relation(table, false);
    } else {
        cat.update(&row, &PgClass { relhastriggers: true, ..row.row.clone() })?;
    }
    cat.increment_command_counter()?;
    Ok(oid)
}
