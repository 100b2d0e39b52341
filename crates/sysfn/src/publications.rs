//! The tables of a publication. Counterpart: catalog/pg_publication.c.

use super::partition::{chain, tree_of};
use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::cache;
use catalog::rows::indexes::PG_PUBLICATION_REL_PRPUBID_INDEX;
use catalog::rows::{PgClass, PgPublication, PgPublicationNamespace, Value};
use ids::{Oid, Persistence, RelKind};
use pgerror::{Result, pg_err};
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] =
    &[SysFn { name: "pg_get_publication_tables", call: SysCall::Set(tables) }];

/// Counterpart: `is_publishable_class`.
fn publishable(class: &PgClass) -> bool {
    matches!(class.relkind, RelKind::Table | RelKind::PartitionedTable)
        && class.oid >= Oid::FIRST_NORMAL
        && class.relpersistence == Persistence::Permanent
}

/// Each published table with its column list and row filter.
fn tables(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let name = String::from_utf8_lossy(args[0].as_bytes()).into_owned();
    let found = core.catalog().search(cache::PUBLICATIONNAME, &[name.as_str().into()])?;
    let publication =
        found.ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "publication \"{name}\" does not exist"))?;
    let mut out = Vec::new();
    for table in published(core, &publication)? {
        let schema = core.catalog().class(table)?.relnamespace;
        let whole = publication.puballtables
            || core
                .catalog()
                .search(cache::PUBLICATIONNAMESPACEMAP, &[schema.into(), publication.oid.into()])?
                .is_some();
        let row = match whole {
            true => None,
            false => core
                .catalog()
                .search(cache::PUBLICATIONRELMAP, &[table.into(), publication.oid.into()])?,
        };
        let (columns, condition) = row.map_or((Datum::Null, Datum::Null), |r| {
            let columns = r.prattrs.as_ref().map_or(Datum::Null, Value::to_datum);
            (columns, r.prqual.as_ref().map_or(Datum::Null, Value::to_datum))
        });
        out.push(vec![Datum::oid(table), columns, condition]);
    }
    Ok(out)
}

/// The published tables. A partitioned table is replaced by its leaf partitions, unless changes are
/// published via the root.
fn published(core: &mut dyn SystemHost, publication: &PgPublication) -> Result<Vec<Oid>> {
    let by_root = publication.pubviaroot;
    if publication.puballtables {
        let classes = core.catalog().scan_all::<PgClass>()?;
        let wanted = classes.iter().filter(|c| publishable(c)).filter(|c| match by_root {
            true => !c.relispartition,
            false => c.relkind == RelKind::Table,
        });
        return Ok(wanted.map(|c| c.oid).collect());
    }
    let rows = core.catalog().scan(PG_PUBLICATION_REL_PRPUBID_INDEX, &[publication.oid.into()])?;
    let mut tables = Vec::new();
    for row in &rows {
        leaves(core, row.prrelid, by_root, &mut tables)?;
    }
    tables.sort_unstable();
    tables.dedup();
    let schemas = core.catalog().scan_all::<PgPublicationNamespace>()?;
    let mut schemas = schemas.iter().filter(|s| s.pnpubid == publication.oid).peekable();
    if schemas.peek().is_some() {
        let classes = core.catalog().scan_all::<PgClass>()?;
        for schema in schemas {
            let within = classes.iter().filter(|c| c.relnamespace == schema.pnnspid);
            for class in within.filter(|c| publishable(c)) {
                let mut all = Vec::new();
                leaves(core, class.oid, by_root, &mut all)?;
                all.retain(|oid| !tables.contains(oid));
                tables.extend(all);
            }
        }
    }
    if by_root {
        // A table whose ancestor is published is not published itself.
        let listed = tables.clone();
        let mut kept = Vec::with_capacity(tables.len());
        for table in tables {
            let ancestors = chain(core, table)?;
            if !ancestors.iter().skip(1).any(|a| listed.contains(a)) {
                kept.push(table);
            }
        }
        tables = kept;
    }
    Ok(tables)
}

/// The table itself, or the leaf partitions of a partitioned table.
fn leaves(core: &mut dyn SystemHost, table: Oid, by_root: bool, out: &mut Vec<Oid>) -> Result<()> {
    if by_root || core.catalog().class(table)?.relkind != RelKind::PartitionedTable {
        out.push(table);
        return Ok(());
    }
    let all = tree_of(core, table)?;
    out.extend(all.into_iter().filter(|node| node.leaf).map(|node| node.table));
    Ok(())
}
