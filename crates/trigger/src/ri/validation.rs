//! Validation of a new foreign key. Counterpart: `RI_Initial_Check`.

use super::key::{Key, column};
use super::query::{Query, equality, quoted, run, source};
use crate::host::TriggerHost;
use catalog::format_type::quote_identifier;
use executor::spi::{self, QuerySnapshot};
use ids::Oid;
use ids::code::FkMatch;
use pgerror::Result;
use std::sync::Arc;
use types::Datum;

fn qualified_collation(host: &mut dyn TriggerHost, collation: Oid) -> Result<String> {
    let row = host.catalog().collation(collation)?;
    let schema = host.catalog().namespace_name(row.collnamespace)?.unwrap_or_default();
    Ok(format!("{}.{}", quoted(schema.as_str()), quoted(row.collname.as_str())))
}

/// 23503 unless every row of the referencing table has a referenced row.
pub fn validate(host: &mut dyn TriggerHost, constraint: Oid) -> Result<()> {
    let key = Key::load(host, constraint, &[])?;
    if !host.may_show(key.pk.oid(), key.pk_columns())? {
        return validate_rows(host, &key);
    }
    let text = text_of(host, &key)?;
    // The plan needs the catalogs as this command has left them.
    host.catalog().increment_command_counter()?;
    let plan = host.plan_internal(&text, &[])?;
    let query = spi::Query { rows_max: 1, ..spi::Query::new(plan, Arc::from([])) };
    let rows = query.under(QuerySnapshot::Latest).rows(host)?;
    let Some(row) = rows.into_iter().next() else { return Ok(()) };
    let error = key.violated(host)?;
    if row.iter().any(Datum::is_null) {
        return Err(
            error.detail("MATCH FULL does not allow mixing of null and nonnull key values.")
        );
    }
    let shown = key.show(host, &key.fk, key.fk_columns(), &row)?;
    Err(error.detail(format!("Key {shown}is not present in table \"{}\".", key.pk.name())))
}

/// As [`validate`], row by row, for a user who may not read the referenced table: its owner checks
/// whether the rows are there.
fn validate_rows(host: &mut dyn TriggerHost, key: &Key) -> Result<()> {
    let parts = parts_of(host, key)?;
    let text = format!("SELECT DISTINCT {} FROM {} fk", parts.names.join(", "), parts.fk);
    host.catalog().increment_command_counter()?;
    let plan = host.plan_internal(&text, &[])?;
    let query = spi::Query::new(plan, Arc::from([])).under(QuerySnapshot::Latest);
    for row in query.rows(host)? {
        let nulls = row.iter().filter(|v| v.is_null()).count();
        if nulls == row.len() || nulls > 0 && key.row.confmatchtype != FkMatch::Full {
            continue;
        }
        if nulls > 0 {
            return Err(key
                .violated(host)?
                .detail("MATCH FULL does not allow mixing of null and nonnull key values."));
        }
        let values: Arc<[Datum]> = row.into();
        if !run(host, key, Query::Check, &values, true)? {
            let shown = key.show(host, &key.fk, key.fk_columns(), &values)?;
            let (error, table) = (key.violated(host)?, key.pk.name());
            return Err(error.detail(format!("Key {shown}is not present in table \"{table}\".")));
        }
    }
    Ok(())
}

/// 23503 if a row references a row of the table that the constraint refers to, a partition that is
/// being detached. Counterpart: `RI_PartitionRemove_Check`.
pub fn check_no_references(host: &mut dyn TriggerHost, constraint: Oid) -> Result<()> {
    let key = Key::load(host, constraint, &[])?;
    let parts = parts_of(host, &key)?;
    let text = format!(
        "SELECT {} FROM {} fk JOIN {} pk ON ({}) WHERE ({}) LIMIT 1",
        parts.names.join(", "),
        parts.fk,
        parts.pk,
        parts.on.join(" AND "),
        parts.present.join(" AND ")
    );
    host.catalog().increment_command_counter()?;
    let plan = host.plan_internal(&text, &[])?;
    let query = spi::Query { rows_max: 1, ..spi::Query::new(plan, Arc::from([])) };
    let rows = query.under(QuerySnapshot::Latest).rows(host)?;
    let Some(row) = rows.into_iter().next() else { return Ok(()) };
    Err(key.removes_referenced(host, &row)?)
}

/// The parts of a query that joins both tables.
struct Parts {
    fk: String,
    pk: String,
    /// The columns of the referencing table.
    names: Vec<String>,
    on: Vec<String>,
    present: Vec<String>,
    /// The condition that there is no referenced row.
    absent: String,
}

/// The query for the keys of rows that violate the constraint.
fn text_of(host: &mut dyn TriggerHost, key: &Key) -> Result<String> {
    let Parts { fk, pk, names, on, present, absent } = parts_of(host, key)?;
    let glue = if key.row.confmatchtype == FkMatch::Full { " OR " } else { " AND " };
    Ok(format!(
        "SELECT {} FROM {fk} fk LEFT OUTER JOIN {pk} pk ON ({}) WHERE {absent} AND ({}) LIMIT 1",
        names.join(", "),
        on.join(" AND "),
        present.join(glue)
    ))
}

fn parts_of(host: &mut dyn TriggerHost, key: &Key) -> Result<Parts> {
    let (fk, pk) = (source(host, &key.fk)?, source(host, &key.pk)?);
    let (mut names, mut on, mut present) = (Vec::new(), Vec::new(), Vec::new());
    let mut absent = String::new();
    for (i, (&f, &p)) in key.fk_columns().iter().zip(key.pk_columns()).enumerate() {
        let (f, p) = (column(&key.fk, f)?, column(&key.pk, p)?);
        let fk_name = format!("fk.{}", quote_identifier(f.attname.as_str()));
        let pk_name = format!("pk.{}", quote_identifier(p.attname.as_str()));
        let sides = ((&*pk_name, p.atttypid), (&*fk_name, f.atttypid));
        let mut condition = equality(host, key.operators()[i], sides.0, sides.1)?;
        if p.attcollation != f.attcollation && p.attcollation.is_valid() {
            // The collation of the referenced column applies, as in checks of single rows.
            condition.push_str(" COLLATE ");
            condition.push_str(&qualified_collation(host, p.attcollation)?);
        }
        on.push(condition);
        present.push(format!("{fk_name} IS NOT NULL"));
        if i == 0 {
            absent = format!("{pk_name} IS NULL");
        }
        names.push(fk_name);
    }
    Ok(Parts { fk, pk, names, on, present, absent })
}
