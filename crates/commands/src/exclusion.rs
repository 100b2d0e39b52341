//! Exclusion constraints: their operators, and the check of the rows of a table that gets one.
//!
//! Counterpart: `ComputeIndexAttrs` in indexcmds.c, `IndexCheckExclusion` in index.c.

use crate::index::IndexColumn;
use analyze::{Analyzer, Params, SessionLookup};
use catalog::RelDesc;
use engine::table::{self, ScanOptions, TableScan, system};
use executor::{RowWriter, WriteHost, exclusion_violation};
use ids::Oid;
use parse::ast::{IndexStmt, Name, Node};
use pgerror::{PgError, Result, pg_err};
use types::BATCH_ROWS_MAX;
use utility::host::{CommandHost, Writing};

/// The operators of the constraint that the statement creates, one for each key; none if it creates
/// another index. Error 42809 if one is not commutative or not a member of its key's family.
pub(crate) fn operators(
    host: &mut dyn CommandHost,
    stmt: &IndexStmt,
    keys: &[IndexColumn],
    rel: &RelDesc,
) -> Result<Vec<Oid>> {
    let mut out = Vec::with_capacity(stmt.exclude_op_names.len());
    for (names, key) in stmt.exclude_op_names.iter().zip(keys) {
        let names: Vec<Name> = names
            .iter()
            .filter_map(|node| match node {
                Node::String(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        let ty = match &key.expr {
            Some(e) => e.type_oid(),
            None => rel.attribute(key.number).map_or(Oid::INVALID, |a| a.atttypid),
        };
        let row = {
            let mut lookup = SessionLookup::new(host);
            let mut analyzer = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
            analyzer.compatible_operator(&names, ty, ty)?
        };
        let mut cat = host.catalog();
        if row.oprcom != row.oid {
            let shown = cat.format_operator(row.oid)?;
            return Err(pg_err!(WRONG_OBJECT_TYPE, "operator {shown} is not commutative")
                .detail("Only commutative operators can be used in exclusion constraints."));
        }
        let family = cat.opclass(key.opclass)?.opcfamily;
        if cat.operator_in_family(row.oid, family)?.is_none() {
            let shown = cat.format_operator(row.oid)?;
            let family = cat.opfamily(family)?.opfname;
            let detail = "The exclusion operator must be related to the index operator class for \
                          the constraint.";
            return Err(pg_err!(
                WRONG_OBJECT_TYPE,
                "operator {shown} is not a member of operator family \"{family}\""
            )
            .detail(detail));
        }
        out.push(row.oid);
    }
    Ok(out)
}

/// Error 23P01 if two rows of the table exclude each other by the index.
pub(crate) fn check_rows(host: &mut dyn CommandHost, table: Oid, index: Oid) -> Result<()> {
    let rel = host.services().open_relation(table)?;
    let position = rel.indexes.iter().position(|i| i.desc.oid == index);
    let position = position.ok_or_else(|| PgError::internal("the table lacks its new index"))?;
    let mut writer = RowWriter::new(&rel, host.services().as_facts())?;
    let snapshot = host.backend().catalog_snapshot();
    let columns = [system::CTID];
    let options = ScanOptions::default();
    let mut scan = TableScan::new(host.backend(), &rel.table, snapshot, &columns, options)?;
    let mut batch = table::new_batch(&rel.table, &columns);
    while scan.next_batch(host.backend(), &mut batch, BATCH_ROWS_MAX)? {
        for r in 0..batch.len {
            let tid = types::system::tid_of(batch.get(r, 0));
            let mut host = Writing(host);
            let Some(own) = writer.stored_values(&mut host, position, tid)? else { continue };
            let found = writer.find_excluding(&mut host, position, &own, (Some(tid), true))?;
            if let Some(other) = found {
                let idx = &rel.indexes[position];
                let new = (&own[..], true);
                return Err(exclusion_violation(host.services(), &rel, idx, new, &other)?);
            }
        }
        batch.clear();
    }
    Ok(())
}
