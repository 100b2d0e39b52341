//! Rows of `pg_class` and `pg_attribute`, and the files of relations.
//!
//! Counterpart: `heap_create`, `RelationSetNewRelfilenode`, `vac_update_relstats`.

use crate::host::CommandHost;
use catalog::rows::{PgAttribute, PgClass, indexes};
use catalog::{CatCx, RelDesc, Row};
use engine::storage::create_relation_files;
use ids::{AttrNo, Oid, Persistence, RelFile, RelKind, Xid};
use pgerror::{PgError, Result, SqlState, bail};

/// Lower bounds for the transaction ids and multixacts in a new table. Counterpart: `RecentXmin`,
/// `GetOldestMultiXactId`.
pub fn oldest_ids(host: &mut dyn CommandHost) -> (Xid, Xid) {
    let be = host.backend();
    let xmin = be.catalog_snapshot().xmin;
    let multi = be.storage().txns.oldest_multixact();
    (xmin, Xid(multi.0))
}

/// The file locator of a relation that is not mapped.
pub fn file_of(host: &mut dyn CommandHost, class: &PgClass) -> RelFile {
    let database = host.backend().database();
    let own = host.catalog().session.tablespace;
    let tablespace = class.reltablespace.valid().unwrap_or(own);
    RelFile::new(tablespace, database, class.relfilenode)
}

/// The current `pg_class` row, read from the catalog for a change. Counterpart:
/// `SearchSysCacheCopy1`.
pub fn row(cat: &mut CatCx<'_>, oid: Oid) -> Result<Row<PgClass>> {
    let row = cat.scan(indexes::PG_CLASS_OID_INDEX, &[oid.into()])?.pop();
    row.ok_or_else(|| {
        PgError::new(SqlState::INTERNAL_ERROR, format!("cache lookup failed for relation {oid}"))
    })
}

/// Updates statistics in a relation's row in place; the change is not transactional. Counterpart:
/// `vac_update_relstats`, `index_update_stats`.
pub fn update_statistics(
    cat: &mut CatCx<'_>,
    oid: Oid,
    change: impl FnMut(&mut PgClass),
) -> Result<()> {
    if cat.update_in_place(indexes::PG_CLASS_OID_INDEX, &[oid.into()], change)? {
        return Ok(());
    }
    Err(PgError::internal(format!("pg_class entry for relid {oid} vanished during vacuuming")))
}

/// True if there are no files with the number in the row.
pub fn is_free(
    host: &mut dyn CommandHost,
    class: &PgClass,
    persistence: Persistence,
) -> Result<bool> {
    let file = file_of(host, class);
    Ok(!engine::storage::relation_files_exist(host.backend(), file, persistence)?)
}

/// Gives a relation new, empty files; the old ones are removed at commit. Counterpart:
/// `RelationSetNewRelfilenode`.
pub fn new_files(host: &mut dyn CommandHost, oid: Oid) -> Result<RelFile> {
    let rel = host.catalog().relation(oid)?;
    not_of_other_session(&rel, "rewrite")?;
    let mut cat = host.catalog();
    let row = row(&mut cat, oid)?;
    let new = row.row.clone();
    replace_files(host, &row, new)
}

/// Error 0A000 for a temporary table of another session; `verb` names the operation.
pub fn not_of_other_session(rel: &RelDesc, verb: &str) -> Result<()> {
    if rel.other_temp {
        bail!(FEATURE_NOT_SUPPORTED, "cannot {verb} temporary tables of other sessions");
    }
    Ok(())
}

/// As [`new_files`], and also changes the row, for example persistence or tablespace. Mapped
/// relations get new files through the relation map.
pub fn replace_files(
    host: &mut dyn CommandHost,
    row: &Row<PgClass>,
    mut new: PgClass,
) -> Result<RelFile> {
    let (xid, multi) = oldest_ids(host);
    let (was, is) = (row.relpersistence, new.relpersistence);
    loop {
        new.relfilenode = host.catalog().new_oid(indexes::PG_CLASS_OID_INDEX)?;
        if is_free(host, &new, is)? {
            break;
        }
    }
    let old_file = file_of(host, &row.row);
    let file = file_of(host, &new);
    create_relation_files(host.backend(), file, is)?;
    engine::storage::drop_relation_files(host.backend(), old_file, was);
    if new.relkind != RelKind::Sequence {
        new.relpages = 0;
        new.reltuples = -1.0;
        new.relallvisible = 0;
    }
    if new.relkind.has_table_am() {
        (new.relfrozenxid, new.relminmxid) = (xid, multi);
    }
    let mut cat = host.catalog();
    cat.update(row, &new)?;
    cat.increment_command_counter()?;
    Ok(file)
}

/// The detail of an error about a relation of the wrong kind. Counterpart:
/// `errdetail_relkind_not_supported`.
pub fn kind_not_supported(kind: RelKind) -> String {
    let what = match kind {
        RelKind::Table => "tables",
        RelKind::View => "views",
        RelKind::MaterializedView => "materialized views",
        RelKind::Sequence => "sequences",
        RelKind::Index => "indexes",
        RelKind::PartitionedIndex => "partitioned indexes",
        RelKind::CompositeType => "composite types",
        RelKind::ForeignTable => "foreign tables",
        RelKind::Toast => "TOAST tables",
        _ => "partitioned tables",
    };
    format!("This operation is not supported for {what}.")
}

/// Updates the `pg_attribute` row of a column.
pub fn change_column(
    host: &mut dyn CommandHost,
    table: Oid,
    number: AttrNo,
    change: impl FnOnce(&mut PgAttribute),
) -> Result<()> {
    let mut cat = host.catalog();
    let keys = [table.into(), number.into()];
    let row = cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop();
    let row = row.ok_or_else(|| PgError::internal("column without a row"))?;
    let mut new = row.row.clone();
    change(&mut new);
    cat.update(&row, &new)?;
    cat.increment_command_counter()
}
