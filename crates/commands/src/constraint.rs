//! Constraints: catalog rows, checks of existing rows, foreign keys and their triggers.
//!
//! Counterpart: pg_constraint.c, `StoreRelCheck`, `ATAddForeignKeyConstraint`.

use crate::relation::SYSTEM_COLUMNS;
use analyze::{ExprKind, SessionLookup};
use catalog::rows::{
    Int2Vector, Name, PgClass, PgConstraint, PgOperator, PgTrigger, Text, indexes,
};
use catalog::{ObjectAddress, RelDesc};
use define::creation;
use engine::table::{ScanOptions, TableScan};
use eval::EvalState;
use ids::builtin::proc;
use ids::code::{
    CastContext, ColumnGenerated, ConType, DepType, Firing, FkAction, FkMatch, TypType,
};
use ids::strategy::btree::EQUAL;
use ids::{AttrNo, Oid, Persistence, RelKind};
use parse::ast::{self, Constraint};
use pgerror::{Result, bail, pg_err};
use plan::Expr;
use std::sync::Arc;
use types::BATCH_ROWS_MAX;
use utility::host::CommandHost;
use utility::stored;
use utility::{class, exprs, names};

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

/// Maximum number of key columns (`INDEX_MAX_KEYS`).
const KEY_COLUMNS_MAX: usize = 32;

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

/// Adds CHECK constraints to a table. If `validate` is set, returns those for which existing rows
/// must be checked.
pub fn add_checks(
    host: &mut dyn CommandHost,
    table: Oid,
    checks: &[&Constraint],
    validate: bool,
    sql: &str,
) -> Result<Vec<(String, Expr)>> {
    let rel = host.catalog().relation(table)?;
    let mut unchecked = Vec::new();
    let mut used = Vec::new();
    let mut added = Vec::new();
    for check in checks {
        let Some(node) = &check.raw_expr else { continue };
        let mut cat = SessionLookup::new(host);
        let kind = ExprKind::CheckConstraint;
        let expr = analyze::ddl::condition(&mut cat, &rel, node, sql, kind)?;
        let columns = stored::columns_used(std::slice::from_ref(&expr));
        let name = match &check.conname {
            Some(name) => {
                if used.iter().any(|u| u == &**name) {
                    bail!(DUPLICATE_OBJECT, "check constraint \"{name}\" already exists");
                }
                check_name_free(host, &rel, name)?;
                name.to_string()
            }
            None => {
                // A check of a single column is named after that column.
                let column = match columns.as_slice() {
                    [TABLEOID] => Some("tableoid".to_string()),
                    [one] => rel.attribute(*one).map(|a| a.attname.to_string()),
                    _ => None,
                };
                let (table, column) = (rel.name(), column.as_deref());
                let schema = rel.class.relnamespace;
                creation::free_constraint_name(host, table, column, "check", schema, &used)?
            }
        };
        used.push(name.clone());
        // A new table has no rows that could violate the constraint.
        let validated = !validate || !check.skip_validation;
        let mut row = row(host, &name, &rel, ConType::Check)?;
        row.convalidated = validated;
        row.connoinherit = check.is_no_inherit;
        row.conkey = (!columns.is_empty()).then(|| columns.clone());
        row.conbin = Some(stored::write(&expr));
        let this = insert(host, row, &columns)?;
        let normal = DepType::Normal;
        stored::record(host, this, std::slice::from_ref(&expr), table, normal, normal)?;
        if validate && validated {
            unchecked.push((name.clone(), expr));
        }
        added.push(name);
    }
    if !added.is_empty() {
        let mut cat = host.catalog();
        let row = class::row(&mut cat, table)?;
        let relchecks = row.relchecks + added.len() as i16;
        cat.update(&row, &PgClass { relchecks, ..row.row.clone() })?;
        cat.increment_command_counter()?;
    }
    Ok(unchecked)
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

/// Columns, index and operator classes of the primary key. Counterpart:
/// `transformFkeyGetPrimaryKey`.
fn referenced_primary_key(rel: &RelDesc) -> Result<(Vec<AttrNo>, Oid, Vec<Oid>)> {
    let Some(primary) = rel.primary_key() else {
        bail!(UNDEFINED_OBJECT, "there is no primary key for referenced table \"{}\"", rel.name())
    };
    if !primary.indimmediate {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot use a deferrable primary key for referenced table \"{}\"",
            rel.name()
        );
    }
    let count = primary.indnkeyatts as usize;
    let columns = primary.indkey.iter().take(count).copied().collect();
    let classes = primary.indclass.iter().take(count).copied().collect();
    Ok((columns, primary.indexrelid, classes))
}

/// A unique index that a foreign key can reference, and its operator classes in the order of the
/// key. Counterpart: `transformFkeyCheckAttrs`.
fn referenced_index(rel: &RelDesc, columns: &[AttrNo]) -> Result<(Oid, Vec<Oid>)> {
    if columns.iter().enumerate().any(|(i, c)| columns[..i].contains(c)) {
        bail!(
            INVALID_FOREIGN_KEY,
            "foreign key referenced-columns list must not contain duplicates"
        );
    }
    let mut deferrable = false;
    for index in &rel.indexes {
        let plain = index.indisunique
            && index.indisvalid
            && index.indpred.is_none()
            && index.indexprs.is_none()
            && index.indnkeyatts as usize == columns.len();
        let keys = &index.indkey[..(index.indnkeyatts as usize).min(index.indkey.len())];
        if !plain || !columns.iter().all(|c| keys.contains(c)) {
            continue;
        }
        if !index.indimmediate {
            deferrable = true;
            continue;
        }
        let classes = columns.iter().map(|c| {
            let place = keys.iter().position(|k| k == c).unwrap_or(0);
            index.indclass.get(place).copied().unwrap_or_default()
        });
        return Ok((index.indexrelid, classes.collect()));
    }
    if deferrable {
        bail!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot use a deferrable unique constraint for referenced table \"{}\"",
            rel.name()
        );
    }
    bail!(
        INVALID_FOREIGN_KEY,
        "there is no unique constraint matching given keys for referenced table \"{}\"",
        rel.name()
    )
}

/// Counterpart: `transformColumnNameList`.
fn key_columns(rel: &RelDesc, list: &[ast::Name]) -> Result<Vec<AttrNo>> {
    let mut out = Vec::new();
    for name in list {
        let Some(a) = rel.column(name) else {
            if SYSTEM_COLUMNS.iter().any(|c| **name == *c.0) {
                bail!(FEATURE_NOT_SUPPORTED, "system columns cannot be used in foreign keys");
            }
            bail!(
                UNDEFINED_COLUMN,
                "column \"{name}\" referenced in foreign key constraint does not exist"
            )
        };
        if out.len() >= KEY_COLUMNS_MAX {
            bail!(
                TOO_MANY_COLUMNS,
                "cannot have more than {KEY_COLUMNS_MAX} keys in a foreign key"
            );
        }
        out.push(a.attnum);
    }
    Ok(out)
}

/// Adds a foreign key. Returns the constraint if `validate` is set and existing rows must be
/// checked.
pub fn add_foreign_key(
    host: &mut dyn CommandHost,
    table: Oid,
    def: &Constraint,
    validate: bool,
) -> Result<Option<Oid>> {
    let rel = host.catalog().relation(table)?;
    if let Some(name) = &def.conname {
        check_name_free(host, &rel, name)?;
    }
    let Some(pk_name) = &def.pktable else {
        bail!(SYNTAX_ERROR, "foreign key without referenced table")
    };
    let pk = names::open(host, pk_name, names::mode::SHARE_ROW_EXCLUSIVE)?;
    if !matches!(pk.kind(), RelKind::Table | RelKind::PartitionedTable) {
        bail!(WRONG_OBJECT_TYPE, "referenced relation \"{}\" is not a table", pk.name());
    }
    names::not_a_catalog(&pk)?;
    match (rel.class.relpersistence, pk.class.relpersistence) {
        (Persistence::Permanent, Persistence::Unlogged | Persistence::Temporary) => bail!(
            INVALID_TABLE_DEFINITION,
            "constraints on permanent tables may reference only permanent tables"
        ),
        (Persistence::Unlogged, Persistence::Temporary) => bail!(
            INVALID_TABLE_DEFINITION,
            "constraints on unlogged tables may reference only permanent or unlogged tables"
        ),
        (Persistence::Temporary, Persistence::Permanent | Persistence::Unlogged) => bail!(
            INVALID_TABLE_DEFINITION,
            "constraints on temporary tables may reference only temporary tables"
        ),
        _ => {}
    }
    let fk_columns = key_columns(&rel, &def.fk_attrs)?;
    let set_columns = delete_set_columns(&rel, def, &fk_columns)?;
    let (pk_columns, index, classes) = match def.pk_attrs.is_empty() {
        true => referenced_primary_key(&pk)?,
        false => {
            let columns = key_columns(&pk, &def.pk_attrs)?;
            let (index, classes) = referenced_index(&pk, &columns)?;
            (columns, index, classes)
        }
    };
    // PostgreSQL opens the index, and both tables once more.
    host.lock_relation(index, names::mode::ACCESS_SHARE)?;
    host.lock_relation(pk.oid(), names::mode::ACCESS_SHARE)?;
    host.lock_relation(table, names::mode::ACCESS_SHARE)?;
    host.lock_relation(table, names::mode::SHARE_ROW_EXCLUSIVE)?;
    names::check_table_privileges(host, &pk, catalog::acl::REFERENCES)?;
    actions_on_generated(&rel, def, &fk_columns)?;
    if fk_columns.len() != pk_columns.len() {
        bail!(
            INVALID_FOREIGN_KEY,
            "number of referencing and referenced columns for foreign key disagree"
        );
    }
    let schema = rel.class.relnamespace;
    let name = match &def.conname {
        Some(name) => name.to_string(),
        None => {
            let columns: Vec<String> = def.fk_attrs.iter().map(|n| n.to_string()).collect();
            let columns = creation::name_addition(&columns);
            creation::free_constraint_name(host, rel.name(), Some(&columns), "fkey", schema, &[])?
        }
    };
    let operators = key_operators(host, &name, &rel, &pk, &fk_columns, &pk_columns, &classes)?;
    let mut row = row(host, &name, &rel, ConType::ForeignKey)?;
    row.condeferrable = def.deferrable;
    row.condeferred = def.initdeferred;
    row.convalidated = !validate || !def.skip_validation;
    row.conindid = index;
    row.confrelid = pk.oid();
    row.confupdtype = def.fk_upd_action;
    row.confdeltype = def.fk_del_action;
    row.confmatchtype = def.fk_matchtype;
    row.connoinherit = true;
    row.conkey = Some(fk_columns.clone());
    row.confkey = Some(pk_columns.clone());
    (row.conpfeqop, row.conppeqop, row.conffeqop) =
        (Some(operators.0.clone()), Some(operators.1.clone()), Some(operators.2.clone()));
    row.confdelsetcols = set_columns;
    let constraint = row.oid;
    let this = insert(host, row, &fk_columns)?;
    let mut cat = host.catalog();
    let columns: Vec<_> = pk_columns.iter().map(|c| ObjectAddress::column(pk.oid(), *c)).collect();
    cat.record_dependencies(this, &columns, DepType::Normal)?;
    cat.record_dependency(this, ObjectAddress::relation(index), DepType::Normal)?;
    let mut all: Vec<_> = [operators.0, operators.1, operators.2].concat();
    all.sort_unstable();
    all.dedup();
    for operator in all {
        let operator = ObjectAddress::of::<PgOperator>(operator);
        cat.record_dependency(this, operator, DepType::Normal)?;
    }
    cat.increment_command_counter()?;
    add_triggers(host, def, &rel, &pk, constraint, index)?;
    Ok((validate && !def.skip_validation).then_some(constraint))
}

/// Error 42P16 for referential actions that would set a generated column.
fn actions_on_generated(rel: &RelDesc, def: &Constraint, fk_columns: &[AttrNo]) -> Result<()> {
    let generated =
        |c: &AttrNo| rel.attribute(*c).is_some_and(|a| a.attgenerated != ColumnGenerated::No);
    if !fk_columns.iter().any(generated) {
        return Ok(());
    }
    let sets = |action| matches!(action, FkAction::SetNull | FkAction::SetDefault);
    let action = if sets(def.fk_upd_action) || def.fk_upd_action == FkAction::Cascade {
        "ON UPDATE"
    } else if sets(def.fk_del_action) {
        "ON DELETE"
    } else {
        return Ok(());
    };
    bail!(
        SYNTAX_ERROR,
        "invalid {action} action for foreign key constraint containing generated column"
    )
}

/// The columns listed in ON DELETE SET NULL or SET DEFAULT.
fn delete_set_columns(
    rel: &RelDesc,
    def: &Constraint,
    fk_columns: &[AttrNo],
) -> Result<Option<Vec<AttrNo>>> {
    if def.fk_del_set_cols.is_empty() {
        return Ok(None);
    }
    let mut columns: Vec<AttrNo> = Vec::new();
    let named = key_columns(rel, &def.fk_del_set_cols)?;
    for (number, name) in named.into_iter().zip(&def.fk_del_set_cols) {
        if !fk_columns.contains(&number) {
            bail!(
                INVALID_COLUMN_REFERENCE,
                "column \"{name}\" referenced in ON DELETE SET action must be part of foreign key"
            );
        }
        if !columns.contains(&number) {
            columns.push(number);
        }
    }
    Ok(Some(columns))
}

type Operators = (Vec<Oid>, Vec<Oid>, Vec<Oid>);

/// The equality operators primary-foreign, primary-primary and foreign-foreign of each column.
fn key_operators(
    host: &mut dyn CommandHost,
    name: &str,
    rel: &RelDesc,
    pk: &RelDesc,
    fk_columns: &[AttrNo],
    pk_columns: &[AttrNo],
    classes: &[Oid],
) -> Result<Operators> {
    let mut out: Operators = Default::default();
    for ((f, p), class) in fk_columns.iter().zip(pk_columns).zip(classes) {
        let (Some(fa), Some(pa)) = (rel.attribute(*f), pk.attribute(*p)) else { continue };
        let mut cat = host.catalog();
        let class = cat.opclass(*class)?;
        let (family, input) = (class.opcfamily, class.opcintype);
        let pp = cat.family_member(family, input, input, EQUAL)?;
        let fk_type = cat.base_type(fa.atttypid)?.0;
        let mut pf = cat.family_member(family, input, fk_type, EQUAL)?;
        let mut ff = cat.family_member(family, fk_type, fk_type, EQUAL)?;
        if pf.is_none() || ff.is_none() {
            // The referencing value may be implicitly cast to the input type of the index. For a
            // pseudo-type, the referenced column must have the same type.
            let same = cat.type_row(input)?.typtype != TypType::Pseudo
                || cat.base_type(pa.atttypid)?.0 == fk_type;
            let implicit = cat.is_binary_coercible(fk_type, input)?
                || cat
                    .cast(fk_type, input)?
                    .is_some_and(|c| c.castcontext == CastContext::Implicit);
            if same && implicit {
                (pf, ff) = (pp, pp);
            }
        }
        let (Some(pf), Some(pp), Some(ff)) = (pf, pp, ff) else {
            let (ft, pt) = (cat.format_type(fa.atttypid)?, cat.format_type(pa.atttypid)?);
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "foreign key constraint \"{name}\" cannot be implemented"
            )
            .detail(format!(
                "Key columns \"{}\" and \"{}\" are of incompatible types: {ft} and {pt}.",
                fa.attname, pa.attname
            )));
        };
        out.0.push(pf);
        out.1.push(pp);
        out.2.push(ff);
    }
    Ok(out)
}

/// Bits of `pg_trigger.tgtype`.
pub const ROW: i16 = 1;
pub const INSERT: i16 = 4;
const DELETE: i16 = 8;
pub const UPDATE: i16 = 16;

/// Creates the four triggers of a foreign key. Counterpart: `createForeignKeyActionTriggers`,
/// `createForeignKeyCheckTriggers`.
fn add_triggers(
    host: &mut dyn CommandHost,
    def: &Constraint,
    rel: &RelDesc,
    pk: &RelDesc,
    constraint: Oid,
    index: Oid,
) -> Result<()> {
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
    let (del, del_waits) = action(def.fk_del_action, true);
    let (upd, upd_waits) = action(def.fk_upd_action, false);
    let both = (pk.oid(), rel.oid());
    let list = [
        (both, 'a', del, ROW | DELETE, del_waits),
        (both, 'a', upd, ROW | UPDATE, upd_waits),
        ((rel.oid(), pk.oid()), 'c', proc::RI_FKEY_CHECK_INS, ROW | INSERT, true),
        ((rel.oid(), pk.oid()), 'c', proc::RI_FKEY_CHECK_UPD, ROW | UPDATE, true),
    ];
    for ((on, other), letter, function, kind, waits) in list {
        let trigger = ConstraintTrigger {
            name: &format!("RI_ConstraintTrigger_{letter}"),
            function,
            kind,
            other,
            index,
            constraint,
            deferrable: waits && def.deferrable,
            deferred: waits && def.initdeferred,
        };
        add_trigger(host, on, trigger)?;
    }
    Ok(())
}

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
}

/// Creates an internal trigger of a constraint.
pub fn add_trigger(
    host: &mut dyn CommandHost,
    table: Oid,
    trigger: ConstraintTrigger<'_>,
) -> Result<()> {
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_TRIGGER_OID_INDEX)?;
    cat.insert(&PgTrigger {
        oid,
        tgrelid: table,
        tgparentid: Oid::INVALID,
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
    cat.increment_command_counter()
}
