//! A foreign key constraint with its tables, and its errors.

use crate::host::{TriggerHost, no_constraint};
use catalog::rows::{PgAttribute, PgConstraint};
use catalog::{RelDesc, Row};
use ids::code::ConType;
use ids::{AttrNo, Oid};
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use types::Datum;

pub(super) struct Key {
    pub(super) row: Row<PgConstraint>,
    /// The referencing table.
    pub(super) fk: Arc<RelDesc>,
    /// The referenced table.
    pub(super) pk: Arc<RelDesc>,
}

/// A table of a constraint.
#[derive(Clone, Copy)]
pub(super) enum Table {
    Referencing,
    Referenced,
}

/// The attribute of a key column.
pub(super) fn column(desc: &RelDesc, number: AttrNo) -> Result<&PgAttribute> {
    desc.attribute(number).ok_or_else(|| PgError::internal("foreign key column is missing"))
}

impl Key {
    /// Loads the constraint, after its tables were locked in these modes, unless this transaction
    /// has done so.
    pub(super) fn load(
        host: &mut dyn TriggerHost,
        constraint: Oid,
        locks: &[(Table, i32)],
    ) -> Result<Key> {
        let row = host.catalog().constraint(constraint)?;
        let row = row.ok_or_else(|| no_constraint(constraint))?;
        if row.contype != ConType::ForeignKey {
            return Err(PgError::internal("foreign key trigger of another kind of constraint"));
        }
        for &(table, mode) in locks {
            let relation = match table {
                Table::Referencing => row.conrelid,
                Table::Referenced => row.confrelid,
            };
            if !host.triggers().locked.contains(&(relation, mode)) {
                host.lock_relation(relation, mode)?;
                host.triggers().locked.push((relation, mode));
            }
        }
        let fk = host.catalog().relation(row.conrelid)?;
        let pk = host.catalog().relation(row.confrelid)?;
        Ok(Key { row, fk, pk })
    }

    /// The columns of the referencing table.
    pub(super) fn fk_columns(&self) -> &[AttrNo] {
        self.row.conkey.as_deref().unwrap_or_default()
    }

    /// The columns of the referenced table.
    pub(super) fn pk_columns(&self) -> &[AttrNo] {
        self.row.confkey.as_deref().unwrap_or_default()
    }

    /// By column: referenced column = referencing column.
    pub(super) fn operators(&self) -> &[Oid] {
        self.row.conpfeqop.as_deref().unwrap_or_default()
    }

    /// The schema of the referencing table, for the fields of errors.
    fn schema(&self, host: &mut dyn TriggerHost) -> Result<String> {
        let name = host.catalog().namespace_name(self.fk.class.relnamespace)?;
        Ok(name.map(|n| n.to_string()).unwrap_or_default())
    }

    /// The error for a referencing row, without detail.
    pub(super) fn violated(&self, host: &mut dyn TriggerHost) -> Result<PgError> {
        Ok(pg_err!(
            FOREIGN_KEY_VIOLATION,
            "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
            self.fk.name(),
            self.row.conname
        )
        .table(self.schema(host)?, self.fk.name())
        .constraint(self.row.conname.as_str()))
    }

    /// The error for a referenced row.
    pub(super) fn still_referenced(
        &self,
        host: &mut dyn TriggerHost,
        values: &[Datum],
    ) -> Result<PgError> {
        let shown = self.show(host, &self.pk, self.pk_columns(), values)?;
        Ok(pg_err!(
            FOREIGN_KEY_VIOLATION,
            "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \
             \"{}\"",
            self.pk.name(),
            self.row.conname,
            self.fk.name()
        )
        .detail(format!("Key {shown}is still referenced from table \"{}\".", self.fk.name()))
        .table(self.schema(host)?, self.fk.name())
        .constraint(self.row.conname.as_str()))
    }

    /// The error for the removal of a partition with referenced rows.
    pub(super) fn removes_referenced(
        &self,
        host: &mut dyn TriggerHost,
        values: &[Datum],
    ) -> Result<PgError> {
        let shown = self.show(host, &self.pk, self.pk_columns(), values)?;
        Ok(pg_err!(
            FOREIGN_KEY_VIOLATION,
            "removing partition \"{}\" violates foreign key constraint \"{}\"",
            self.pk.name(),
            self.row.conname
        )
        .detail(format!("Key {shown}is still referenced from table \"{}\".", self.fk.name()))
        .table(self.schema(host)?, self.fk.name())
        .constraint(self.row.conname.as_str()))
    }

    /// `(a, b)=(1, 2) `; empty if the user may not read the columns.
    pub(super) fn show(
        &self,
        host: &mut dyn TriggerHost,
        desc: &RelDesc,
        columns: &[AttrNo],
        values: &[Datum],
    ) -> Result<String> {
        if !host.may_show(desc.oid(), columns)? {
            return Ok(String::new());
        }
        let (mut names, mut texts) = (Vec::new(), Vec::new());
        for (&n, v) in columns.iter().zip(values) {
            let a = column(desc, n)?;
            names.push(a.attname.as_str().to_owned());
            texts.push(match v {
                Datum::Null => "null".to_owned(),
                v => {
                    let text = host.type_output(a.atttypid, v.as_ref())?;
                    String::from_utf8_lossy(&text).into_owned()
                }
            });
        }
        Ok(format!("({})=({}) ", names.join(", "), texts.join(", ")))
    }
}
