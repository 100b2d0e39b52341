//! Types: CREATE TYPE for enums and composite types, and ALTER for all types.
//!
//! Counterpart: typecmds.c, pg_enum.c.

use crate::relation;
use crate::relation::{NewColumn, NewRelation};
use analyze::SessionLookup;
use catalog::ObjectAddress;
use catalog::rows::{CatalogRow, Name, PgConstraint, PgEnum, PgNamespace, PgType, indexes};
use define::creation;
use define::object::owner;
use define::typerow::{find, insert_with_array, must_own, name_is_free, new_name};
use ids::builtin::proc;
use ids::code::{Align, ColumnStorage, TypCategory, TypType};
use ids::{Oid, Persistence, RelKind};
use parse::ast::{AlterEnumStmt, CompositeTypeStmt, CreateEnumStmt};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::names;

fn check_label(label: &str) -> Result<()> {
    if label.len() > 63 {
        return Err(pg_err!(INVALID_NAME, "invalid enum label \"{label}\"")
            .detail("Labels must be 63 bytes or less."));
    }
    Ok(())
}

/// CREATE TYPE … AS ENUM.
pub fn create_enum(host: &mut dyn CommandHost, stmt: &CreateEnumStmt) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.type_name)?;
    name_is_free(host, schema, &name)?;
    let oid = host.catalog().new_oid(indexes::PG_TYPE_OID_INDEX)?;
    let owner = names::user(host);
    let row = PgType {
        typlen: 4,
        typbyval: true,
        typtype: TypType::Enum,
        typcategory: TypCategory::ENUM,
        typinput: proc::ENUM_IN,
        typoutput: proc::ENUM_OUT,
        typreceive: proc::ENUM_RECV,
        typsend: proc::ENUM_SEND,
        typalign: Align::Int,
        typstorage: ColumnStorage::Plain,
        ..relation::row_type_row(oid, &name, schema, owner, Oid::INVALID)
    };
    insert_with_array(host, row)?;
    for (i, label) in stmt.vals.iter().enumerate() {
        check_label(label)?;
        if stmt.vals[..i].contains(label) {
            return Err(pg_err!(
                UNIQUE_VIOLATION,
                "duplicate key value violates unique constraint \"pg_enum_typid_label_index\""
            )
            .detail(format!("Key (enumtypid, enumlabel)=({oid}, {label}) already exists."))
            .table("pg_catalog", "pg_enum")
            .constraint("pg_enum_typid_label_index"));
        }
    }
    // Even OIDs ascend in label order, so that they can be compared as numbers.
    let mut oids = Vec::with_capacity(stmt.vals.len());
    while oids.len() < stmt.vals.len() {
        let oid = host.catalog().new_oid(indexes::PG_ENUM_OID_INDEX)?;
        if oid.0 & 1 == 0 {
            oids.push(oid);
        }
    }
    oids.sort_unstable();
    let mut cat = host.catalog();
    for (i, (label, value)) in stmt.vals.iter().zip(oids).enumerate() {
        cat.insert(&PgEnum {
            oid: value,
            enumtypid: oid,
            enumsortorder: (i + 1) as f32,
            enumlabel: Name::new(&**label),
        })?;
    }
    cat.increment_command_counter()
}

/// ALTER TYPE … ADD VALUE and RENAME VALUE.
pub fn alter_enum(host: &mut dyn CommandHost, stmt: &AlterEnumStmt) -> Result<()> {
    let list: Vec<&str> = stmt.type_name.iter().map(|p| &**p).collect();
    let row = find(host, &list)?;
    if row.typtype != TypType::Enum {
        let shown = host.catalog().format_type(row.oid)?;
        bail!(WRONG_OBJECT_TYPE, "{shown} is not an enum");
    }
    must_own(host, &row)?;
    let tag = lmgr::LockTag::object(host.backend().database(), PgType::RELATION, row.oid, 0);
    host.backend().lock(tag, lmgr::LockMode::Exclusive)?;
    let new = stmt.new_val.as_deref().unwrap_or("");
    match &stmt.old_val {
        Some(old) => rename_value(host, row.oid, old, new),
        None => add_value(host, row.oid, stmt, new),
    }
}

fn values(host: &mut dyn CommandHost, ty: Oid) -> Result<Vec<catalog::Row<PgEnum>>> {
    let mut rows = host.catalog().scan(indexes::PG_ENUM_TYPID_SORTORDER_INDEX, &[ty.into()])?;
    rows.sort_by(|a, b| a.enumsortorder.total_cmp(&b.enumsortorder));
    Ok(rows)
}

fn no_label(label: &str) -> PgError {
    pg_err!(INVALID_PARAMETER_VALUE, "\"{label}\" is not an existing enum label")
}

fn rename_value(host: &mut dyn CommandHost, ty: Oid, old: &str, new: &str) -> Result<()> {
    check_label(new)?;
    let list = values(host, ty)?;
    let Some(row) = list.iter().find(|v| v.enumlabel == old) else { return Err(no_label(old)) };
    if list.iter().any(|v| v.enumlabel == new) {
        bail!(DUPLICATE_OBJECT, "enum label \"{new}\" already exists");
    }
    let mut cat = host.catalog();
    cat.update(row, &PgEnum { enumlabel: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()
}

/// Counterpart: `AddEnumLabel`.
fn add_value(host: &mut dyn CommandHost, ty: Oid, stmt: &AlterEnumStmt, new: &str) -> Result<()> {
    check_label(new)?;
    let mut list = values(host, ty)?;
    if list.iter().any(|v| v.enumlabel == new) {
        if !stmt.skip_if_new_val_exists {
            bail!(DUPLICATE_OBJECT, "enum label \"{new}\" already exists");
        }
        host.notice(notice(pg_err!(
            DUPLICATE_OBJECT,
            "enum label \"{new}\" already exists, skipping"
        )));
        return Ok(());
    }
    let position = match &stmt.new_val_neighbor {
        None => list.len(),
        Some(neighbor) => {
            let at = list.iter().position(|v| v.enumlabel == **neighbor);
            let at = at.ok_or_else(|| no_label(neighbor))?;
            at + usize::from(stmt.new_val_is_after)
        }
    };
    let order = match sort_order_between(&list, position) {
        Some(order) => order,
        None => {
            // There is no float between the orders of the two adjacent labels, so all are
            // renumbered.
            let mut cat = host.catalog();
            for (i, v) in list.iter().enumerate().rev() {
                let enumsortorder = (i + 1) as f32;
                if v.enumsortorder != enumsortorder {
                    cat.update(v, &PgEnum { enumsortorder, ..v.row.clone() })?;
                }
            }
            cat.increment_command_counter()?;
            list = values(host, ty)?;
            sort_order_between(&list, position)
                .ok_or_else(|| PgError::internal("no free sort order for a label"))?
        }
    };
    let oid = loop {
        let oid = host.catalog().new_oid(indexes::PG_ENUM_OID_INDEX)?;
        let sorts = list
            .iter()
            .filter(|v| v.oid.0 & 1 == 0)
            .all(|v| (v.enumsortorder < order) == (v.oid < oid));
        // The OID is even if its order agrees with the order of the labels, otherwise odd.
        if sorts == (oid.0 & 1 == 0) {
            break oid;
        }
    };
    let mut cat = host.catalog();
    cat.insert(&PgEnum { oid, enumtypid: ty, enumsortorder: order, enumlabel: Name::new(new) })?;
    cat.increment_command_counter()?;
    cat.enum_order_changed(ty)?;
    cat.session.overlay.note_new_enum_value(oid);
    cat.increment_command_counter()
}

/// A sort order for a label that is inserted at index `position`.
fn sort_order_between(list: &[catalog::Row<PgEnum>], position: usize) -> Option<f32> {
    let before = position.checked_sub(1).and_then(|i| list.get(i)).map(|v| v.enumsortorder);
    let after = list.get(position).map(|v| v.enumsortorder);
    let order = match (before, after) {
        (None, None) => 1.0,
        (Some(b), None) => b + 1.0,
        (None, Some(a)) => a - 1.0,
        (Some(b), Some(a)) => (b + a) / 2.0,
    };
    (before != Some(order) && after != Some(order)).then_some(order)
}

/// CREATE TYPE … AS (…).
pub fn create_composite(host: &mut dyn CommandHost, stmt: &CompositeTypeStmt) -> Result<()> {
    let (schema, persistence) = creation::creation_target(host, &stmt.typevar)?;
    let name = stdx::clip(&stmt.typevar.relname, 63).to_string();
    name_is_free(host, schema, &name)?;
    let mut columns = Vec::new();
    for def in &stmt.coldeflist {
        analyze::ddl::check_not_set(def)?;
        let (ty, typmod, collation) =
            analyze::ddl::column_type(&mut SessionLookup::new(host), def, "")?;
        let column = stdx::clip(def.colname.as_deref().unwrap_or(""), 63);
        let mut new = NewColumn::new(column, ty, typmod, collation);
        new.ndims = def.type_name.as_ref().map_or(0, |t| t.array_bounds.len() as i32);
        columns.push(new);
    }
    let _ = persistence;
    let spec = NewRelation {
        name: &name,
        namespace: schema,
        kind: RelKind::CompositeType,
        persistence: Persistence::Permanent,
        owner: names::user(host),
        tablespace: Oid::INVALID,
        access_method: Oid::INVALID,
        columns: &columns,
        options: None,
    };
    relation::create(host, &spec)?;
    Ok(())
}

/// RENAME TO of a type other than a table's row type.
pub fn rename(host: &mut dyn CommandHost, parts: &[&str], new: &str, domain: bool) -> Result<()> {
    let row = find(host, parts)?;
    must_own(host, &row)?;
    not_a_table_type(host, &row, domain)?;
    if row.typtype == TypType::Composite {
        let rel = host.catalog().relation(row.typrelid)?;
        return crate::relname::rename_relation(host, &rel, new);
    }
    crate::relname::rename_type(host, row.oid, new)
}

/// Error 42809 for row types of tables and for array types.
fn not_a_table_type(host: &mut dyn CommandHost, row: &PgType, domain: bool) -> Result<()> {
    let shown = host.catalog().format_type(row.oid)?;
    if domain && row.typtype != TypType::Domain {
        bail!(WRONG_OBJECT_TYPE, "{shown} is not a domain");
    }
    if row.typtype == TypType::Composite
        && host.catalog().class(row.typrelid)?.relkind != RelKind::CompositeType
    {
        return Err(pg_err!(WRONG_OBJECT_TYPE, "{shown} is a table's row type")
            .hint("Use ALTER TABLE instead."));
    }
    let element = row.typelem.valid();
    if let Some(element) = element
        && host.catalog().find_type(element)?.is_some_and(|e| e.typarray == row.oid)
    {
        let of = host.catalog().format_type(element)?;
        return Err(pg_err!(WRONG_OBJECT_TYPE, "cannot alter array type {shown}")
            .hint(format!("You can alter type {of}, which will alter the array type as well.")));
    }
    Ok(())
}

/// SET SCHEMA of a type.
pub fn set_schema(
    host: &mut dyn CommandHost,
    parts: &[&str],
    schema: &str,
    domain: bool,
) -> Result<()> {
    let row = find(host, parts)?;
    let schema = creation::target_schema(host, schema)?;
    must_own(host, &row)?;
    not_a_table_type(host, &row, domain)?;
    if schema == row.typnamespace {
        return Ok(());
    }
    creation::check_move(host, row.typnamespace, schema)?;
    if row.typtype == TypType::Composite {
        let rel = host.catalog().relation(row.typrelid)?;
        crate::relname::move_relation(host, &rel, schema)?;
        return host
            .catalog()
            .change_dependency(
                ObjectAddress::of::<PgType>(row.oid),
                PgNamespace::RELATION,
                row.typnamespace,
                schema,
            )
            .map(|_| ());
    }
    let name = row.typname.to_string();
    if host.catalog().type_in(schema, &name)?.is_some() {
        let shown = host.catalog().namespace_name(schema)?.unwrap_or_default();
        bail!(DUPLICATE_OBJECT, "type \"{name}\" already exists in schema \"{shown}\"");
    }
    let mut cat = host.catalog();
    cat.update(&row, &PgType { typnamespace: schema, ..row.row.clone() })?;
    let this = ObjectAddress::of::<PgType>(row.oid);
    cat.change_dependency(this, PgNamespace::RELATION, row.typnamespace, schema)?;
    if let Some(array) = row.typarray.valid() {
        let array = cat.type_row(array)?;
        cat.update(&array, &PgType { typnamespace: schema, ..array.row.clone() })?;
    }
    for c in cat.scan(indexes::PG_CONSTRAINT_CONTYPID_INDEX, &[row.oid.into()])? {
        cat.update(&c, &PgConstraint { connamespace: schema, ..c.row.clone() })?;
    }
    cat.increment_command_counter()
}

/// OWNER TO of a type.
pub fn set_owner(
    host: &mut dyn CommandHost,
    parts: &[&str],
    owner: Oid,
    domain: bool,
) -> Result<()> {
    let row = find(host, parts)?;
    not_a_table_type(host, &row, domain)?;
    if row.typowner == owner {
        return Ok(());
    }
    if !names::is_superuser(host)? {
        must_own(host, &row)?;
        names::must_be_member(host, owner)?;
        creation::may_create_in(host, row.typnamespace)?;
    }
    if row.typtype == TypType::Composite {
        return crate::alter_table::change_owner(host, row.typrelid, owner, false);
    }
    let mut cat = host.catalog();
    let typacl = owner::acl_of(row.typacl.clone(), row.typowner, owner);
    cat.update(&row, &PgType { typowner: owner, typacl, ..row.row.clone() })?;
    if let Some(array) = row.typarray.valid() {
        let array = cat.type_row(array)?;
        cat.update(&array, &PgType { typowner: owner, ..array.row.clone() })?;
    }
    owner::record(host, ObjectAddress::of::<PgType>(row.oid), owner)
}
