//! Foreign keys: their definition and checks. `tree` has the rows and triggers, also of the
//! partitions of both tables.
//!
//! The foreign key of a partitioned table has one child for each of its partitions, with the
//! triggers that check rows. A foreign key that references a partitioned table has one child for
//! each partition of the referenced table, with the triggers of the referential actions.
//!
//! Counterpart: `ATAddForeignKeyConstraint`.

mod tree;

pub use tree::{clone_to_partition, detach, inherited_references};

use crate::constraint::{self, check_name_free};
use crate::relation::SYSTEM_COLUMNS;
use catalog::{RelDesc, acl};
use ids::code::{CastContext, ColumnGenerated, ConType, FkAction, TypType};
use ids::strategy::btree::EQUAL;
use ids::{AttrNo, Oid, Persistence, RelKind};
use parse::ast::{self, Constraint};
use pgerror::{Result, bail, pg_err};
use tree::{NO_TRIGGERS, add_referenced, add_referencing, free_name};
use utility::host::CommandHost;
use utility::names;

/// Maximum number of key columns (`INDEX_MAX_KEYS`).
const KEY_COLUMNS_MAX: usize = 32;

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

/// How a foreign key is added.
#[derive(Clone, Copy)]
pub struct Addition {
    /// Existing rows must be checked.
    pub validate: bool,
    /// ONLY is not given.
    pub recurse: bool,
}

/// Error 42501 unless the user has REFERENCES on the referenced table or on all these columns of
/// it. Counterpart: `checkFkeyPermissions`.
fn check_references(host: &mut dyn CommandHost, pk: &RelDesc, columns: &[AttrNo]) -> Result<()> {
    let user = names::user(host);
    if host.catalog().may_columns(user, &pk.class.row, acl::REFERENCES, columns)? {
        return Ok(());
    }
    names::check_table_privileges(host, pk, acl::REFERENCES)
}

/// Adds a foreign key to a table, and to its partitions and those of the referenced table. Returns
/// the constraints that the existing rows have to be checked against.
pub fn add(
    host: &mut dyn CommandHost,
    table: Oid,
    def: &Constraint,
    how: Addition,
) -> Result<Vec<Oid>> {
    let rel = host.catalog().relation(table)?;
    if let Some(name) = &def.conname {
        check_name_free(host, &rel, name)?;
    }
    let Some(pk_name) = &def.pktable else {
        bail!(SYNTAX_ERROR, "foreign key without referenced table")
    };
    let pk = names::open(host, pk_name, names::mode::SHARE_ROW_EXCLUSIVE)?;
    if rel.kind() == RelKind::PartitionedTable {
        check_partitioned(&rel, &pk, def, how)?;
    }
    if !matches!(pk.kind(), RelKind::Table | RelKind::PartitionedTable) {
        bail!(WRONG_OBJECT_TYPE, "referenced relation \"{}\" is not a table", pk.name());
    }
    names::not_a_catalog(host, &pk)?;
    check_persistence(&rel, &pk)?;
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
    check_references(host, &pk, &pk_columns)?;
    actions_on_generated(&rel, def, &fk_columns)?;
    if fk_columns.len() != pk_columns.len() {
        bail!(
            INVALID_FOREIGN_KEY,
            "number of referencing and referenced columns for foreign key disagree"
        );
    }
    let name = match &def.conname {
        Some(name) => name.to_string(),
        None => free_name(host, &rel, &fk_columns)?,
    };
    let operators = key_operators(host, &name, &rel, &pk, &fk_columns, &pk_columns, &classes)?;
    let mut row = constraint::row(host, &name, &rel, ConType::ForeignKey)?;
    row.condeferrable = def.deferrable;
    row.condeferred = def.initdeferred;
    row.convalidated = !how.validate || !def.skip_validation;
    row.conindid = index;
    row.confrelid = pk.oid();
    row.confupdtype = def.fk_upd_action;
    row.confdeltype = def.fk_del_action;
    row.confmatchtype = def.fk_matchtype;
    row.connoinherit = rel.kind() != RelKind::PartitionedTable;
    row.conkey = Some(fk_columns);
    row.confkey = Some(pk_columns);
    (row.conpfeqop, row.conppeqop, row.conffeqop) =
        (Some(operators.0), Some(operators.1), Some(operators.2));
    row.confdelsetcols = set_columns;
    let constraint = add_referenced(host, row, None, NO_TRIGGERS)?;
    let mut unchecked = Vec::new();
    add_referencing(host, constraint, NO_TRIGGERS, &mut unchecked)?;
    if !how.validate || def.skip_validation {
        unchecked.clear();
    }
    Ok(unchecked)
}

/// Error 42809 for a foreign key of a partitioned table that would not be one of its partitions.
fn check_partitioned(rel: &RelDesc, pk: &RelDesc, def: &Constraint, how: Addition) -> Result<()> {
    let (table, other) = (rel.name(), pk.name());
    if !how.recurse {
        bail!(
            WRONG_OBJECT_TYPE,
            "cannot use ONLY for foreign key on partitioned table \"{table}\" referencing \
             relation \"{other}\""
        );
    }
    if how.validate && def.skip_validation && !def.initially_valid {
        return Err(pg_err!(
            WRONG_OBJECT_TYPE,
            "cannot add NOT VALID foreign key on partitioned table \"{table}\" referencing \
             relation \"{other}\""
        )
        .detail("This feature is not yet supported on partitioned tables."));
    }
    Ok(())
}

fn check_persistence(rel: &RelDesc, pk: &RelDesc) -> Result<()> {
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
        _ => Ok(()),
    }
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
