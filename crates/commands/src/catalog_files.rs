//! New files of system catalogs: REINDEX, CLUSTER and VACUUM FULL of catalogs, their indexes and
//! their TOAST tables. `docs/design/0012-catalog-rewrite.md` has the reasons.
//!
//! The command reads catalogs itself. So the new files are filled through descriptors that only
//! this module knows; then all files of the relation are switched at once, and the command goes on
//! with the new ones. Changes of `pg_class` come before the copy or after the switch, not between.
//!
//! LOCK ORDER: the caller holds AccessExclusive on the catalog; for a TOAST table, on the catalog
//! that it belongs to, too.
//!
//! Counterpart: `finish_heap_swap` and `swap_relation_files` of cluster.c, `reindex_index` of
//! index.c, `RelationSetNewRelfilenode` of relcache.c.

use crate::cluster::{self, Order};
use crate::index;
use catalog::RelDesc;
use catalog::rows::PgClass;
use engine::index::BuildResult;
use engine::rewrite::Copied;
use engine::storage::{create_relation_files, drop_relation_files};
use engine::{IndexDesc, TableDesc, ToastDesc};
use ids::{Oid, RelFile, RelKind, Xid};
use pgerror::{PgError, Result};
use std::sync::Arc;
use utility::host::CommandHost;
use utility::{class, names};

/// A relation and the file that replaces its present one.
struct Replaced {
    rel: Arc<RelDesc>,
    file: RelFile,
}

/// A new index with the result of its build.
struct Built {
    index: Oid,
    desc: Arc<IndexDesc>,
    result: BuildResult,
}

/// Rebuilds an index of a catalog or of the TOAST table of one.
pub fn rebuild_index(host: &mut dyn CommandHost, table: Oid, oid: Oid) -> Result<()> {
    check_mapping(host, oid)?;
    let catalog = catalog_of(host, table)?;
    let rel = host.catalog().relation(table)?;
    let heap = rel.table.clone().ok_or_else(|| PgError::internal("catalog without files"))?;
    let mut replaced = Vec::new();
    let built = build(host, &rel, &heap, oid, &mut replaced)?;
    switch(host, catalog, &replaced)?;
    store_statistics(host, &heap, &[built])
}

/// Copies a catalog, or the TOAST table of one, into new files, in the order of an index if one is
/// given, and builds its indexes.
pub fn rewrite(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    order: Option<Order>,
) -> Result<Copied> {
    check_mapping(host, rel.oid())?;
    let catalog = catalog_of(host, rel.oid())?;
    let old = rel.table.clone().ok_or_else(|| PgError::internal("catalog without files"))?;
    for i in &rel.indexes {
        host.lock_relation(i.indexrelid, names::mode::ACCESS_EXCLUSIVE)?;
    }
    let mut replaced = Vec::new();
    let toast = match rel.class.reltoastrelid.valid() {
        Some(toast) => Some(new_toast(host, toast, &mut replaced)?),
        None => None,
    };
    let file = new_file(host, rel, old.file, &mut replaced)?;
    let new = Arc::new(old.with_file(file, toast));
    let copied = cluster::copy_rows(host, rel, &new, order)?;
    let mut built = Vec::new();
    for i in &rel.indexes {
        built.push(build(host, rel, &new, i.indexrelid, &mut replaced)?);
    }
    switch(host, catalog, &replaced)?;
    host.catalog().invalidate_catalog(catalog);
    cluster::store_copied(host, rel.oid(), &copied)?;
    if let Some(toast) = rel.class.reltoastrelid.valid() {
        // Its rows are new, and all have the id of this transaction.
        let mut cat = host.catalog();
        let row = class::row(&mut cat, toast)?;
        let (relfrozenxid, relminmxid) = (copied.frozen_xid, Xid(copied.min_multi.0));
        cat.update(&row, &PgClass { relfrozenxid, relminmxid, ..row.row.clone() })?;
    }
    store_statistics(host, &new, &built)?;
    Ok(copied)
}

/// The error of a change of the map in a subtransaction, before any work is done.
fn check_mapping(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    match host.catalog().class(oid)?.relfilenode.is_valid() {
        true => Ok(()),
        false => host.backend().check_mapping_change(),
    }
}

/// The catalog itself, or the one that a TOAST table belongs to.
fn catalog_of(host: &mut dyn CommandHost, table: Oid) -> Result<Oid> {
    if host.catalog().class(table)?.relkind != RelKind::Toast {
        return Ok(table);
    }
    let rows = host.catalog().scan_all::<PgClass>()?;
    let owner = rows.iter().find(|c| c.reltoastrelid == table);
    Ok(owner.map_or(table, |c| c.oid))
}

/// Creates a new, empty file for the relation, and removes the present one at commit.
fn new_file(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    old: RelFile,
    replaced: &mut Vec<Replaced>,
) -> Result<RelFile> {
    let persistence = rel.class.relpersistence;
    let file = loop {
        let number = host.backend().storage().txns.new_oid()?;
        let file = RelFile { relnumber: number, ..old };
        if !engine::storage::relation_files_exist(host.backend(), file, persistence)? {
            break file;
        }
    };
    create_relation_files(host.backend(), file, persistence)?;
    drop_relation_files(host.backend(), old, persistence);
    replaced.push(Replaced { rel: rel.clone(), file });
    Ok(file)
}

/// A new, empty TOAST table with its index.
fn new_toast(
    host: &mut dyn CommandHost,
    toast: Oid,
    replaced: &mut Vec<Replaced>,
) -> Result<ToastDesc> {
    host.lock_relation(toast, names::mode::ACCESS_EXCLUSIVE)?;
    let rel = host.catalog().relation(toast)?;
    let index = match rel.indexes.first() {
        Some(i) => {
            host.lock_relation(i.indexrelid, names::mode::ACCESS_EXCLUSIVE)?;
            Some(host.catalog().relation(i.indexrelid)?)
        }
        None => None,
    };
    let open = index.as_ref().and_then(|index| index.engine_index.clone());
    let (Some(old), Some(index), Some(open)) = (&rel.table, &index, open) else {
        let what = format!("no valid index found for toast relation with Oid {toast}");
        return Err(PgError::internal(what));
    };
    let file = new_file(host, &rel, old.file, replaced)?;
    let table: Arc<TableDesc> = Arc::new(old.with_file(file, None));
    let file = new_file(host, index, open.file(), replaced)?;
    let index = Arc::new(open.with_file(file));
    engine::index::build_empty(host.backend(), &index)?;
    Ok(ToastDesc { table, index })
}

/// Builds an index of `rel` over the rows in `heap`, in a new file.
fn build(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    heap: &Arc<TableDesc>,
    oid: Oid,
    replaced: &mut Vec<Replaced>,
) -> Result<Built> {
    let index = host.catalog().relation(oid)?;
    let Some(open) = index.engine_index.clone() else {
        return Err(host.catalog().unsupported_index(&index));
    };
    let file = new_file(host, &index, open.file(), replaced)?;
    let desc = Arc::new(open.with_file(file));
    let result = index::build_entries(host, rel, &index, heap, &desc)?;
    Ok(Built { index: oid, desc, result })
}

/// Makes the new files those of the relations, for this session at once and for others at commit.
fn switch(host: &mut dyn CommandHost, catalog: Oid, replaced: &[Replaced]) -> Result<()> {
    for Replaced { rel, file } in replaced.iter().filter(|r| !r.rel.class.relfilenode.is_valid()) {
        host.catalog().change_mapping(rel.oid(), rel.class.relisshared, file.relnumber)?;
    }
    host.backend().note_replaced_catalog(catalog);
    for Replaced { rel, file } in replaced {
        let mut cat = host.catalog();
        if rel.class.relfilenode.is_valid() {
            let row = class::row(&mut cat, rel.oid())?;
            let new = PgClass { relfilenode: file.relnumber, ..row.row.clone() };
            cat.update(&row, &new)?;
        }
        cat.invalidate_relation(rel.oid(), rel.class.relisshared);
    }
    host.catalog().increment_command_counter()
}

/// Stores the sizes of the table and of its new indexes, in place. Counterpart:
/// `index_update_stats`.
fn store_statistics(
    host: &mut dyn CommandHost,
    heap: &Arc<TableDesc>,
    built: &[Built],
) -> Result<()> {
    let heap_pages = engine::table::nblocks(host.backend(), heap)?;
    for Built { index, desc, result } in built {
        let index_pages = engine::index::nblocks(host.backend(), desc)?;
        class::update_statistics(&mut host.catalog(), heap.oid, |row| {
            row.relpages = heap_pages as i32;
            row.reltuples = index::counted(result.heap_tuples, row.reltuples);
        })?;
        class::update_statistics(&mut host.catalog(), *index, |row| {
            row.relpages = index_pages as i32;
            row.reltuples = index::counted(result.index_tuples, row.reltuples);
        })?;
    }
    host.catalog().increment_command_counter()
}
