//! Inheritance of columns and CHECK constraints by a new table.
//!
//! Counterpart: tablecmds.c (`MergeAttributes`, `MergeCheckConstraint`).

use crate::create_table::Column;
use crate::hierarchy::InheritedCheck;
use crate::relation::{COLUMNS_MAX, NewColumn};
use catalog::RelDesc;
use catalog::rows::PgAttribute;
use ids::code::{ColumnGenerated, ColumnIdentity, ColumnStorage};
use ids::{AttrNo, Oid, Persistence, RelKind};
use parse::ast::RangeVar;
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::names;

/// What a new table inherits from its parents.
pub struct Merge<'a> {
    pub parents: &'a [Arc<RelDesc>],
    pub persistence: Persistence,
    pub is_partition: bool,
}

/// Locks the parents in the statement's order. Error 42P07 for one that is listed twice.
pub fn open_parents(
    host: &mut dyn CommandHost,
    list: &[RangeVar],
    is_partition: bool,
) -> Result<Vec<Arc<RelDesc>>> {
    let lock = match is_partition {
        true => names::mode::ACCESS_EXCLUSIVE,
        false => names::mode::SHARE_UPDATE_EXCLUSIVE,
    };
    let mut parents: Vec<Arc<RelDesc>> = Vec::with_capacity(list.len());
    for rv in list {
        let rel = names::open(host, rv, lock)?;
        if parents.iter().any(|p| p.oid() == rel.oid()) {
            let name = rel.name();
            bail!(DUPLICATE_TABLE, "relation \"{name}\" would be inherited from more than once");
        }
        parents.push(rel);
    }
    Ok(parents)
}

/// A column that is inherited, and the default that it inherits.
struct Inherited {
    column: Column,
    /// Two parents have different defaults.
    conflict: bool,
}

impl Merge<'_> {
    /// The columns of the new table: those of the parents, then its own. Also returns the CHECK
    /// constraints of the parents.
    pub fn columns(
        &self,
        host: &mut dyn CommandHost,
        own: Vec<Column>,
    ) -> Result<(Vec<Column>, Vec<InheritedCheck>)> {
        let mut checks = Vec::new();
        let mut list: Vec<Inherited> = Vec::new();
        for parent in self.parents {
            self.check_parent(host, parent)?;
            let mut map = Vec::with_capacity(parent.attributes.len());
            let mut defaults = Vec::new();
            for a in &parent.attributes {
                map.push(if a.attisdropped { 0 } else { inherit_column(host, &mut list, a)? });
                if let Some(text) = parent.default(a.attnum).filter(|_| !a.attisdropped) {
                    defaults.push((map[map.len() - 1], text.clone()));
                }
            }
            for (number, text) in defaults {
                let mut e = plan::nodetree::read_expr(text.as_str())?;
                let column = &mut list[number as usize - 1];
                if !partition::map_columns(&mut e, &map)? {
                    let what = format!("Generation expression for column \"{}\"", column.name());
                    return Err(whole_row(&what, parent));
                }
                column.inherit_default(e);
            }
            inherit_checks(parent, &map, &mut checks)?;
        }
        let has_parents = !list.is_empty();
        for (i, column) in own.into_iter().enumerate() {
            let found = list.iter().position(|c| c.name() == column.column.name);
            match found {
                Some(at) if self.is_partition => list[at].set_options(column),
                Some(at) => merge_own(host, &mut list[at], column, at == i)?,
                None if self.is_partition => {
                    let name = &column.column.name;
                    bail!(UNDEFINED_COLUMN, "column \"{name}\" does not exist");
                }
                None => list.push(Inherited { column, conflict: false }),
            }
        }
        if has_parents && list.len() > COLUMNS_MAX {
            bail!(TOO_MANY_COLUMNS, "tables can have at most {COLUMNS_MAX} columns");
        }
        list.iter().try_for_each(Inherited::check_default)?;
        Ok((list.into_iter().map(|c| c.column).collect(), checks))
    }

    /// Errors for relations that the new table cannot inherit from.
    fn check_parent(&self, host: &mut dyn CommandHost, parent: &RelDesc) -> Result<()> {
        let name = parent.name();
        if self.is_partition {
            host.check_not_in_use(parent.oid(), name, "CREATE TABLE .. PARTITION OF")?;
        } else if parent.kind() == RelKind::PartitionedTable {
            bail!(WRONG_OBJECT_TYPE, "cannot inherit from partitioned table \"{name}\"");
        } else if parent.class.relispartition {
            bail!(WRONG_OBJECT_TYPE, "cannot inherit from partition \"{name}\"");
        }
        let kinds = [RelKind::Table, RelKind::ForeignTable, RelKind::PartitionedTable];
        if !kinds.contains(&parent.kind()) {
            let what = "is not a table or foreign table";
            bail!(WRONG_OBJECT_TYPE, "inherited relation \"{name}\" {what}");
        }
        let temporary = |p: Persistence| p == Persistence::Temporary;
        let of_parent = temporary(parent.class.relpersistence);
        if self.is_partition && !of_parent && temporary(self.persistence) {
            bail!(
                WRONG_OBJECT_TYPE,
                "cannot create a temporary relation as partition of permanent relation \"{name}\""
            );
        }
        if of_parent && !temporary(self.persistence) {
            if self.is_partition {
                bail!(
                    WRONG_OBJECT_TYPE,
                    "cannot create a permanent relation as partition of temporary relation \
                     \"{name}\""
                );
            }
            bail!(WRONG_OBJECT_TYPE, "cannot inherit from temporary relation \"{name}\"");
        }
        if parent.other_temp {
            let what = if self.is_partition { "create as partition of" } else { "inherit from" };
            bail!(WRONG_OBJECT_TYPE, "cannot {what} temporary relation of another session");
        }
        names::must_own_relation(host, parent)
    }
}

/// 0A000: an inherited expression refers to the whole row of the parent.
fn whole_row(what: &str, parent: &RelDesc) -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "cannot convert whole-row table reference")
        .detail(format!("{what} contains a whole-row reference to table \"{}\".", parent.name()))
}

impl Inherited {
    fn name(&self) -> &str {
        &self.column.column.name
    }

    fn inherit_default(&mut self, e: Expr) {
        match &self.column.stored_default {
            None => self.column.stored_default = Some(e),
            Some(old) => self.conflict |= *old != e,
        }
    }

    /// Applies the options of a column of a partition.
    fn set_options(&mut self, own: Column) {
        self.column.column.not_null |= own.column.not_null;
        self.replace_default(own);
    }

    fn replace_default(&mut self, own: Column) {
        if own.default.is_some() || own.stored_default.is_some() {
            self.column.default = own.default;
            self.column.stored_default = own.stored_default;
            self.conflict = false;
        }
        if own.sequence.is_some() {
            // The default of a serial column is set when its sequence exists.
            self.column.sequence = own.sequence;
            self.column.stored_default = None;
            self.conflict = false;
        }
    }

    fn check_default(&self) -> Result<()> {
        if !self.conflict {
            return Ok(());
        }
        let name = self.name();
        if self.column.generated {
            bail!(
                INVALID_COLUMN_DEFINITION,
                "column \"{name}\" inherits conflicting generation expressions"
            );
        }
        let message = format!("column \"{name}\" inherits conflicting default values");
        Err(PgError::new(pgerror::SqlState::INVALID_COLUMN_DEFINITION, message)
            .hint("To resolve the conflict, specify a default explicitly."))
    }
}

/// Adds a parent's column to the list, or merges it with that of an earlier parent. Returns its
/// number in the new table.
fn inherit_column(
    host: &mut dyn CommandHost,
    list: &mut Vec<Inherited>,
    a: &PgAttribute,
) -> Result<AttrNo> {
    let name = a.attname.as_str();
    let Some(at) = list.iter().position(|c| c.name() == name) else {
        let mut column = NewColumn::new(name, a.atttypid, a.atttypmod, a.attcollation);
        column.not_null = a.attnotnull;
        column.generated = a.attgenerated;
        column.storage = Some(a.attstorage);
        column.compression = a.attcompression;
        (column.is_local, column.inhcount) = (false, 1);
        let column = Column {
            column,
            default: None,
            stored_default: None,
            generated: a.attgenerated == ColumnGenerated::Stored,
            sequence: None,
        };
        list.push(Inherited { column, conflict: false });
        return Ok(list.len() as AttrNo);
    };
    let message = format!("merging multiple inherited definitions of column \"{name}\"");
    host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}")));
    let column = &mut list[at].column.column;
    let what = format!("inherited column \"{name}\"");
    check_types(host, &what, column, (a.atttypid, a.atttypmod, a.attcollation))?;
    check_storage(&what, column, Some(a.attstorage))?;
    check_compression(name, column, a.attcompression)?;
    column.inhcount += 1;
    column.not_null |= a.attnotnull;
    if column.generated != a.attgenerated {
        bail!(DATATYPE_MISMATCH, "inherited column \"{name}\" has a generation conflict");
    }
    Ok(at as AttrNo + 1)
}

/// Merges a column of the new table's own definition with the inherited one.
fn merge_own(
    host: &mut dyn CommandHost,
    inherited: &mut Inherited,
    own: Column,
    in_place: bool,
) -> Result<()> {
    let name = own.column.name.clone();
    host.notice(notice(match in_place {
        true => {
            pg_err!(SUCCESSFUL_COMPLETION, "merging column \"{name}\" with inherited definition")
        }
        false => pg_err!(
            SUCCESSFUL_COMPLETION,
            "moving and merging column \"{name}\" with inherited definition"
        )
        .detail("User-specified column moved to the position of the inherited column."),
    }));
    let column = &mut inherited.column.column;
    let what = format!("column \"{name}\"");
    let new = &own.column;
    check_types(host, &what, column, (new.ty, new.typmod, new.collation))?;
    column.identity = new.identity;
    check_storage(&what, column, new.storage)?;
    check_compression(&name, column, new.compression)?;
    column.is_local = true;
    column.not_null |= new.not_null;
    if column.generated == ColumnGenerated::Stored {
        if own.generated {
            let message = format!("child column \"{name}\" specifies generation expression");
            return Err(PgError::new(pgerror::SqlState::INVALID_COLUMN_DEFINITION, message).hint(
                "Omit the generation expression in the definition of the child table column to \
                 inherit the generation expression from the parent table.",
            ));
        }
        let specifies = if own.default.is_some() || own.sequence.as_ref().is_some_and(|s| !s.1) {
            "default"
        } else if new.identity != ColumnIdentity::No {
            "identity"
        } else {
            return Ok(());
        };
        bail!(
            INVALID_COLUMN_DEFINITION,
            "column \"{name}\" inherits from generated column but specifies {specifies}"
        );
    }
    column.generated = new.generated;
    inherited.column.generated = own.generated;
    inherited.replace_default(own);
    Ok(())
}

/// Error 42804 or 42P21 if the inherited column has another type or collation.
fn check_types(
    host: &mut dyn CommandHost,
    what: &str,
    column: &NewColumn,
    (ty, typmod, collation): (Oid, i32, Oid),
) -> Result<()> {
    let mut cat = host.catalog();
    if (column.ty, column.typmod) != (ty, typmod) {
        let old = cat.format_type_mod(column.ty, column.typmod)?;
        let new = cat.format_type_mod(ty, typmod)?;
        return Err(pg_err!(DATATYPE_MISMATCH, "{what} has a type conflict")
            .detail(format!("{old} versus {new}")));
    }
    if column.collation != collation {
        let mut name = |oid: Oid| -> Result<String> {
            Ok(match oid.valid() {
                Some(oid) => cat.collation(oid)?.collname.to_string(),
                None => String::new(),
            })
        };
        let (old, new) = (name(column.collation)?, name(collation)?);
        return Err(pg_err!(COLLATION_MISMATCH, "{what} has a collation conflict")
            .detail(format!("\"{old}\" versus \"{new}\"")));
    }
    Ok(())
}

/// The name of a storage strategy. Counterpart: `storage_name`.
fn storage_name(storage: ColumnStorage) -> &'static str {
    match storage {
        ColumnStorage::Plain => "PLAIN",
        ColumnStorage::Main => "MAIN",
        ColumnStorage::Extended => "EXTENDED",
        ColumnStorage::External => "EXTERNAL",
    }
}

fn check_storage(what: &str, column: &mut NewColumn, new: Option<ColumnStorage>) -> Result<()> {
    match (column.storage, new) {
        (None, new) => column.storage = new,
        (Some(old), Some(new)) if old != new => {
            let detail = format!("{} versus {}", storage_name(old), storage_name(new));
            return Err(pg_err!(DATATYPE_MISMATCH, "{what} has a storage parameter conflict")
                .detail(detail));
        }
        _ => {}
    }
    Ok(())
}

/// The name of a compression method.
fn compression_name(method: u8) -> &'static str {
    if method == b'l' { "lz4" } else { "pglz" }
}

fn check_compression(name: &str, column: &mut NewColumn, new: u8) -> Result<()> {
    match (column.compression, new) {
        (_, 0) => {}
        (0, new) => column.compression = new,
        (old, new) if old != new => {
            let detail = format!("{} versus {}", compression_name(old), compression_name(new));
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "column \"{name}\" has a compression method conflict"
            )
            .detail(detail));
        }
        _ => {}
    }
    Ok(())
}

/// Adds the CHECK constraints of a parent. Error 42710 if another parent has one with the same name
/// and another condition.
fn inherit_checks(parent: &RelDesc, map: &[AttrNo], out: &mut Vec<InheritedCheck>) -> Result<()> {
    for check in parent.checks.iter().filter(|c| !c.connoinherit) {
        let Some(text) = &check.conbin else { continue };
        let name = check.conname.as_str();
        let mut expr = plan::nodetree::read_expr(text.as_str())?;
        if !partition::map_columns(&mut expr, map)? {
            return Err(whole_row(&format!("Constraint \"{name}\""), parent));
        }
        match out.iter_mut().find(|c| c.name == name) {
            None => out.push(InheritedCheck { name: name.to_string(), expr, count: 1 }),
            Some(known) if known.expr == expr => known.count += 1,
            Some(_) => bail!(
                DUPLICATE_OBJECT,
                "check constraint name \"{name}\" appears multiple times but with different \
                 expressions"
            ),
        }
    }
    Ok(())
}
