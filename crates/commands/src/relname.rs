//! Changes of name and schema of existing relations and types, and of their parts.
//!
//! Counterpart: `RenameRelationInternal`, `RenameTypeInternal`, `AlterTableNamespaceInternal`.

use crate::sequence;
use catalog::rows::{CatalogRow, Name, PgClass, PgConstraint, PgNamespace, PgType, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::typerow;
use ids::Oid;
use ids::code::DepType;
use pgerror::{Result, bail};
use std::sync::Arc;
use utility::class;
use utility::host::CommandHost;

/// Counterpart: `RenameRelationInternal`.
pub fn rename_relation(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, new: &str) -> Result<()> {
    let schema = rel.class.relnamespace;
    if host.catalog().relation_in(schema, new)?.is_some() {
        bail!(DUPLICATE_TABLE, "relation \"{new}\" already exists");
    }
    let mut cat = host.catalog();
    let row = class::row(&mut cat, rel.oid())?;
    cat.update(&row, &PgClass { relname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()?;
    if let Some(ty) = rel.class.reltype.valid() {
        rename_type(host, ty, new)?;
    }
    if rel.index.is_some() {
        // An index and its constraint have the same name.
        let object = ObjectAddress::relation(rel.oid());
        let mut cat = host.catalog();
        for d in cat.dependencies_of(object)? {
            if d.refclassid != PgConstraint::RELATION || d.deptype != DepType::Internal {
                continue;
            }
            let keys = [d.refobjid.into()];
            for row in cat.scan(indexes::PG_CONSTRAINT_OID_INDEX, &keys)? {
                cat.update(&row, &PgConstraint { conname: Name::new(new), ..row.row.clone() })?;
            }
        }
        if let Some(part) = &rel.index {
            cat.invalidate_relation(part.row.indrelid, false);
        }
    }
    host.catalog().increment_command_counter()
}

pub fn rename_type(host: &mut dyn CommandHost, ty: Oid, new: &str) -> Result<()> {
    let row = host.catalog().type_row(ty)?;
    let before = host.catalog().type_in(row.typnamespace, new)?;
    typerow::name_is_free(host, row.typnamespace, new)?;
    let mut cat = host.catalog();
    cat.update(&row, &PgType { typname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()?;
    // If the new name was that of its own array type, that type was renamed already.
    if let Some(array) = row.typarray.valid().filter(|a| before != Some(*a)) {
        let name = typerow::array_type_name(host, new, row.typnamespace)?;
        let mut cat = host.catalog();
        let row = cat.type_row(array)?;
        cat.update(&row, &PgType { typname: Name::new(name), ..row.row.clone() })?;
        cat.increment_command_counter()?;
    }
    Ok(())
}

/// Moves a relation with its row type, indexes, constraints and owned sequences to another schema.
pub fn move_relation(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, schema: Oid) -> Result<()> {
    let old = rel.class.relnamespace;
    if host.catalog().relation_in(schema, rel.name())?.is_some() {
        let shown = host.catalog().namespace_name(schema)?.unwrap_or_default();
        bail!(DUPLICATE_TABLE, "relation \"{}\" already exists in schema \"{shown}\"", rel.name());
    }
    let mut cat = host.catalog();
    let row = class::row(&mut cat, rel.oid())?;
    cat.update(&row, &PgClass { relnamespace: schema, ..row.row.clone() })?;
    if rel.index.is_none() {
        let this = ObjectAddress::relation(rel.oid());
        cat.change_dependency(this, PgNamespace::RELATION, old, schema)?;
    }
    if let Some(ty) = rel.class.reltype.valid() {
        let row = cat.type_row(ty)?;
        cat.update(&row, &PgType { typnamespace: schema, ..row.row.clone() })?;
        if let Some(array) = row.typarray.valid() {
            let row = cat.type_row(array)?;
            cat.update(&row, &PgType { typnamespace: schema, ..row.row.clone() })?;
        }
    }
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    for row in cat.scan(index, &[rel.oid().into()])? {
        cat.update(&row, &PgConstraint { connamespace: schema, ..row.row.clone() })?;
    }
    cat.increment_command_counter()?;
    let mut parts: Vec<Oid> = rel.indexes.iter().map(|i| i.indexrelid).collect();
    parts.extend(sequence::owned_by(host, rel.oid(), None)?);
    for part in parts {
        let part = host.catalog().relation(part)?;
        move_relation(host, &part, schema)?;
    }
    Ok(())
}
