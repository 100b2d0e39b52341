//! CLUSTER and VACUUM FULL: copies tables into new files.
//!
//! Counterpart: cluster.c.

use crate::{catalog_files, toast, truncate};
use catalog::RelDesc;
use catalog::rows::{PgAttribute, PgClass, PgIndex, indexes};
use engine::rewrite::Copied;
use engine::{IndexDesc, TableDesc};
use eval::EvalState;
use ids::{AttrNo, MultiXid, Oid, RelKind, Xid};
use parse::ast::ClusterStmt;
use partition::Detached;
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use types::{Datum, DatumRef};
use utility::host::{CommandHost, Owner};
use utility::{class, exprs, names, options};

/// CLUSTER.
pub fn cluster(host: &mut dyn CommandHost, stmt: &ClusterStmt, sql: &str) -> Result<()> {
    let mut verbose = false;
    for d in &stmt.params {
        match &*d.defname {
            "verbose" => verbose = options::boolean(d)?,
            other => {
                let e = pg_err!(SYNTAX_ERROR, "unrecognized CLUSTER option \"{other}\"");
                return Err(e.at(parse::position(sql, d.location)));
            }
        }
    }
    let Some(rv) = &stmt.relation else { return all(host, verbose) };
    let owned = &mut names::must_own_relation;
    let rel = names::open_checked(host, rv, names::mode::ACCESS_EXCLUSIVE, owned)?;
    if !rel.kind().has_table_am() && rel.kind() != RelKind::PartitionedTable {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a table or materialized view", rel.name());
    }
    let index = match &stmt.indexname {
        None => match rel.indexes.iter().find(|i| i.indisclustered) {
            Some(i) => i.indexrelid,
            None => bail!(
                UNDEFINED_OBJECT,
                "there is no previously clustered index for table \"{}\"",
                rel.name()
            ),
        },
        Some(name) => match host.catalog().relation_in(rel.class.relnamespace, name)? {
            Some(oid) => oid,
            None => bail!(
                UNDEFINED_OBJECT,
                "index \"{name}\" for table \"{}\" does not exist",
                rel.name()
            ),
        },
    };
    match rel.kind() {
        RelKind::PartitionedTable => cluster_partitions(host, &rel, index, verbose),
        _ => cluster_table(host, &rel, index, verbose),
    }
}

/// Clusters the leaves of a partitioned table by the children of a partitioned index, each in its
/// own transaction. Counterpart: `get_tables_to_cluster_partitioned`.
fn cluster_partitions(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    index: Oid,
    verbose: bool,
) -> Result<()> {
    host.prevent_in_transaction_block("CLUSTER")?;
    let name = host.catalog().class(index)?.relname;
    let Some(row) = rel.indexes.iter().find(|i| i.indexrelid == index) else {
        bail!(WRONG_OBJECT_TYPE, "\"{name}\" is not an index for table \"{}\"", rel.name())
    };
    check_clusterable(host, row, name.as_str())?;
    for oid in partition::descendants(&mut host.catalog(), index, Detached::Include)? {
        host.next_transaction()?;
        let Some(index) = host.catalog().try_relation(oid)? else { continue };
        let Some(part) = index.index.as_ref().filter(|_| index.kind() == RelKind::Index) else {
            continue;
        };
        let table = part.row.indrelid;
        let Some(class) = host.catalog().find_class(table)? else { continue };
        if !names::is_owner(host, class.relowner)? {
            continue;
        }
        host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
        let Some(rel) = host.catalog().try_relation(table)? else { continue };
        if rel.indexes.iter().any(|i| i.indexrelid == oid) {
            cluster_table(host, &rel, oid, verbose)?;
        }
    }
    host.next_transaction()
}

/// Clusters all tables that have a clustered index again, each in its own transaction.
fn all(host: &mut dyn CommandHost, verbose: bool) -> Result<()> {
    host.prevent_in_transaction_block("CLUSTER")?;
    let rows = host.catalog().scan_all::<PgIndex>()?;
    let mut list: Vec<(Oid, Oid)> =
        rows.iter().filter(|i| i.indisclustered).map(|i| (i.indrelid, i.indexrelid)).collect();
    list.sort_unstable();
    for (table, index) in list {
        host.next_transaction()?;
        let Some(class) = host.catalog().find_class(table)? else { continue };
        if !names::is_owner(host, class.relowner)? {
            continue;
        }
        host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
        let Some(rel) = host.catalog().try_relation(table)? else { continue };
        if rel.indexes.iter().any(|i| i.indexrelid == index && i.indisclustered) {
            cluster_table(host, &rel, index, verbose)?;
        }
    }
    host.next_transaction()
}

fn cluster_table(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    index: Oid,
    verbose: bool,
) -> Result<()> {
    if rel.class.relisshared {
        bail!(FEATURE_NOT_SUPPORTED, "cannot cluster a shared catalog");
    }
    let name = host.catalog().class(index)?.relname;
    let Some(row) = rel.indexes.iter().find(|i| i.indexrelid == index) else {
        bail!(WRONG_OBJECT_TYPE, "\"{name}\" is not an index for table \"{}\"", rel.name())
    };
    host.check_not_in_use(rel.oid(), rel.name(), "CLUSTER")?;
    check_clusterable(host, row, name.as_str())?;
    mark_clustered(host, rel, index)?;
    if rel.kind() == RelKind::MaterializedView && !rel.class.relispopulated {
        return Ok(());
    }
    rewrite(host, rel.oid(), Some(index), verbose)
}

/// Copies a locked table into new files, in the order of an index if one is given, and builds its
/// indexes. Counterpart: `rebuild_relation`.
pub fn rewrite(
    host: &mut dyn CommandHost,
    oid: Oid,
    index: Option<Oid>,
    verbose: bool,
) -> Result<()> {
    let rel = host.catalog().relation(oid)?;
    class::not_of_other_session(&rel, "cluster")?;
    if rel.table.is_none() {
        return Ok(());
    }
    let order = match index {
        Some(index) => Some(Order::new(host, &rel, index)?),
        None => None,
    };
    let schema = host.catalog().namespace_name(rel.class.relnamespace)?.unwrap_or_default();
    let shown = format!("\"{schema}.{}\"", rel.name());
    if verbose {
        let text = match index {
            Some(_) => format!("clustering {shown} using sequential scan and sort"),
            None => format!("vacuuming {shown}"),
        };
        host.notice(pg_err!(SUCCESSFUL_COMPLETION, "{text}").severity(pgerror::Severity::Info));
    }
    if rel.is_catalog() {
        let copied = catalog_files::rewrite(host, &rel, order)?;
        if verbose {
            report_copied(host, &rel, &shown, &copied);
        }
        return Ok(());
    }
    class::new_files(host, oid)?;
    toast::renew_toast(host, oid)?;
    let new = host.catalog().relation(oid)?;
    let target = new.table.clone().ok_or_else(|| PgError::internal("table without files"))?;
    let (mut order, mut copied) = (order, None);
    host.as_owner(rel.class.relowner, &mut |host| {
        copied = Some(copy_versions(host, &rel, &target, order.take())?);
        Ok(())
    })?;
    let copied = copied.ok_or_else(|| PgError::internal("rows were not copied"))?;
    if verbose {
        report_copied(host, &rel, &shown, &copied);
    }
    clear_missing(host, oid)?;
    let new = host.catalog().relation(oid)?;
    truncate::rebuild_unchecked(host, &new)
}

fn report_copied(host: &mut dyn CommandHost, rel: &RelDesc, shown: &str, copied: &Copied) {
    host.notice(
        pg_err!(
            SUCCESSFUL_COMPLETION,
            "{shown}: found {} removable, {:.0} nonremovable row versions in {} pages",
            copied.dead_tuples,
            copied.tuples + copied.recently_dead_tuples as f64,
            rel.class.relpages.max(0)
        )
        .detail(format!("{} dead row versions cannot be removed yet.", copied.recently_dead_tuples))
        .severity(pgerror::Severity::Info),
    );
}

/// Removes `attmissingval` of all columns, because all rows now contain all columns. Counterpart:
/// `RelationClearMissing`.
pub fn clear_missing(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    for row in cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &[oid.into()])? {
        if row.atthasmissing {
            let new = PgAttribute { atthasmissing: false, attmissingval: None, ..row.row.clone() };
            cat.update(&row, &new)?;
        }
    }
    cat.increment_command_counter()
}

/// Copies the rows of the old relation `rel` into its new files; xmin and xmax are preserved.
pub fn copy_versions(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    target: &Arc<TableDesc>,
    order: Option<Order>,
) -> Result<Copied> {
    let copied = copy_rows(host, rel, target, order)?;
    store_copied(host, rel.oid(), &copied)?;
    Ok(copied)
}

/// As [`copy_versions`], without a change of `pg_class`.
pub fn copy_rows(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    target: &Arc<TableDesc>,
    order: Option<Order>,
) -> Result<Copied> {
    let old = rel.table.clone().ok_or_else(|| PgError::internal("table without files"))?;
    let promised = (rel.class.relfrozenxid, MultiXid(rel.class.relminmxid.0));
    match order {
        None => engine::rewrite::copy_table(host.backend(), &old, target, promised, None),
        Some(mut order) => {
            let index = order.index.clone();
            let mut key = |host: &mut Owner<'_>, values: &[DatumRef<'_>]| order.key(host.0, values);
            let order = Some((&index, &mut key as &mut engine::rewrite::KeyOf<'_, Owner<'_>>));
            engine::rewrite::copy_table(&mut Owner(host), &old, target, promised, order)
        }
    }
}

/// Stores the results of a copy in the row of `pg_class`.
pub fn store_copied(host: &mut dyn CommandHost, oid: Oid, copied: &Copied) -> Result<()> {
    let mut cat = host.catalog();
    let row = class::row(&mut cat, oid)?;
    let class = PgClass {
        relfrozenxid: copied.frozen_xid,
        relminmxid: Xid(copied.min_multi.0),
        relpages: copied.pages as i32,
        reltuples: copied.tuples as f32,
        ..row.row.clone()
    };
    cat.update(&row, &class)?;
    cat.increment_command_counter()
}

/// The sort order of an index: computes its key from a row.
pub struct Order {
    index: Arc<IndexDesc>,
    /// Attribute number in the table; 0 for the next expression.
    columns: Vec<AttrNo>,
    programs: Vec<eval::Program>,
    state: EvalState,
}

impl Order {
    fn new(host: &mut dyn CommandHost, rel: &RelDesc, index: Oid) -> Result<Order> {
        let desc = host.catalog().relation(index)?;
        let (Some(open), Some(part)) = (&desc.engine_index, &desc.index) else {
            return Err(host.catalog().unsupported_index(&desc));
        };
        let list = match &part.row.indexprs {
            Some(text) => plan::nodetree::read_exprs(text.as_str())?,
            None => Vec::new(),
        };
        let mut programs = Vec::new();
        for e in &list {
            programs.push(exprs::compile_over(host, rel, e)?);
        }
        let keys = part.row.indnkeyatts as usize;
        Ok(Order {
            index: open.clone(),
            columns: part.row.indkey.iter().take(keys).copied().collect(),
            programs,
            state: EvalState::default(),
        })
    }

    fn key(&mut self, host: &mut dyn CommandHost, values: &[DatumRef<'_>]) -> Result<Vec<Datum>> {
        let mut programs = self.programs.iter();
        let mut out = Vec::with_capacity(self.columns.len());
        let mut row: Vec<Datum> = Vec::new();
        for &column in &self.columns {
            if column > 0 {
                out.push(DatumRef::to_owned(values[column as usize - 1]));
                continue;
            }
            let Some(program) = programs.next() else {
                return Err(PgError::internal("too few entries in indexprs list"));
            };
            if row.is_empty() {
                row = values.iter().map(|v| DatumRef::to_owned(*v)).collect();
            }
            out.push(exprs::value(program, &mut self.state, host.expressions(), &row)?);
        }
        Ok(out)
    }
}

/// An error if the index cannot be used for CLUSTER. Counterpart: `check_index_is_clusterable`.
pub fn check_clusterable(host: &mut dyn CommandHost, row: &PgIndex, name: &str) -> Result<()> {
    let am = host.catalog().class(row.indexrelid)?.relam;
    let method = host.catalog().access_method(am)?;
    if !method.is_some_and(|m| m.info.capabilities.clusterable) {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot cluster on index \"{name}\" because access method does not support clustering"
        );
    }
    if row.indpred.is_some() {
        bail!(FEATURE_NOT_SUPPORTED, "cannot cluster on partial index \"{name}\"");
    }
    if !row.indisvalid {
        bail!(FEATURE_NOT_SUPPORTED, "cannot cluster on invalid index \"{name}\"");
    }
    Ok(())
}

/// Marks the index on which the table is clustered; with `INVALID` removes the mark.
pub fn mark_clustered(host: &mut dyn CommandHost, rel: &RelDesc, chosen: Oid) -> Result<()> {
    if rel.kind() == RelKind::PartitionedTable {
        bail!(FEATURE_NOT_SUPPORTED, "cannot mark index clustered in partitioned table");
    }
    let mut cat = host.catalog();
    for i in &rel.indexes {
        let wanted = i.indexrelid == chosen;
        if i.indisclustered == wanted {
            continue;
        }
        let row = cat.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[i.indexrelid.into()])?.pop();
        if let Some(row) = row {
            cat.update(&row, &PgIndex { indisclustered: wanted, ..row.row.clone() })?;
        }
    }
    cat.increment_command_counter()
}
