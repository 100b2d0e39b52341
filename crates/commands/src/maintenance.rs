//! LOCK TABLE and REINDEX.
//!
//! Counterpart: lockcmds.c, `ReindexIndex` and related functions of indexcmds.c.

use crate::{catalog_files, index};
use analyze::SessionLookup;
use catalog::RelDesc;
use catalog::rows::{CatalogRow, PgClass, indexes};
use catalog::{acl, namespace};
use clusterwide::tablespace;
use ids::builtin::tablespace::GLOBAL as GLOBAL_TABLESPACE;
use ids::{Oid, Persistence, RelKind};
use parse::ast::{LockStmt, ReindexObjectType, ReindexStmt};
use partition::Detached;
use pgerror::{PgError, Result, Severity, bail, pg_err};
use plan::query::{Query, RteKind};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::{class, names, options};

/// LOCK TABLE.
pub fn lock_table(host: &mut dyn CommandHost, stmt: &LockStmt) -> Result<()> {
    if !host.in_transaction_block() {
        bail!(NO_ACTIVE_SQL_TRANSACTION, "LOCK TABLE can only be used in transaction blocks");
    }
    for rv in &stmt.relations {
        let (schema, name) = (rv.schemaname.as_deref(), &*rv.relname);
        let Some(oid) = host.catalog().find_relation(schema, name)? else {
            return Err(names::missing(host, rv)?);
        };
        let rel = host.catalog().relation(oid)?;
        if !matches!(rel.kind(), RelKind::Table | RelKind::PartitionedTable | RelKind::View) {
            bail!(WRONG_OBJECT_TYPE, "cannot lock relation \"{}\"", rel.name());
        }
        let user = names::user(host);
        lock_one(host, stmt, &rel, rv.inh, user, &mut Vec::new())?;
    }
    Ok(())
}

/// Locks a relation with the privileges of `user`. For a view, the relations that it reads are
/// locked too. `within` are the enclosing views.
fn lock_one(
    host: &mut dyn CommandHost,
    stmt: &LockStmt,
    rel: &Arc<RelDesc>,
    with_children: bool,
    user: Oid,
    within: &mut Vec<Oid>,
) -> Result<()> {
    let oid = rel.oid();
    let changes = acl::UPDATE | acl::DELETE | acl::TRUNCATE;
    let wanted = match stmt.mode {
        names::mode::ACCESS_SHARE => acl::SELECT,
        names::mode::ROW_EXCLUSIVE => changes | acl::INSERT,
        _ => changes,
    };
    if host.catalog().relation_privileges(user, &rel.class, wanted)? == 0 {
        let what = names::relation_noun(rel.kind());
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for {what} {}", rel.name());
    }
    take_lock(host, stmt, oid)?;
    if with_children && rel.class.relhassubclass {
        lock_children(host, stmt, oid)?;
    }
    if rel.kind() != RelKind::View {
        return Ok(());
    }
    // The view's owner needs privileges on its relations, unless the view is security_invoker.
    let mut lookup = SessionLookup::new(host);
    let Some(rule) = analyze::RelationLookup::view_rule(&mut lookup, oid)? else { return Ok(()) };
    let user = match rule.security_invoker {
        true => names::user(host),
        false => rel.class.relowner,
    };
    within.push(oid);
    let mut read = Vec::new();
    relations_read(&rule.query, &mut read);
    for (other, inh) in read {
        // A view that refers to itself is already locked.
        if within.contains(&other) {
            continue;
        }
        let other = host.catalog().relation(other)?;
        lock_one(host, stmt, &other, inh, user, within)?;
    }
    within.pop();
    Ok(())
}

fn take_lock(host: &mut dyn CommandHost, stmt: &LockStmt, oid: Oid) -> Result<()> {
    if !stmt.nowait {
        return host.lock_relation(oid, stmt.mode);
    }
    if !host.try_lock_relation(oid, stmt.mode)? {
        let name = host.catalog().class(oid)?.relname;
        bail!(LOCK_NOT_AVAILABLE, "could not obtain lock on relation \"{name}\"");
    }
    Ok(())
}

/// Locks the inheritance children of a table, without a privilege check. Counterpart:
/// `LockTableRecurse`.
fn lock_children(host: &mut dyn CommandHost, stmt: &LockStmt, parent: Oid) -> Result<()> {
    let rows = host.catalog().scan(indexes::PG_INHERITS_PARENT_INDEX, &[parent.into()])?;
    let mut children: Vec<Oid> = rows.iter().map(|r| r.inhrelid).collect();
    children.sort_unstable();
    for child in children {
        take_lock(host, stmt, child)?;
        // The table may have been dropped during the wait for the lock.
        if host.catalog().find_class(child)?.is_some() {
            lock_children(host, stmt, child)?;
        }
    }
    Ok(())
}

/// The relations that a view's query reads, each with its `inh` flag, except the OLD and NEW
/// entries of the view itself.
fn relations_read(query: &Query, out: &mut Vec<(Oid, bool)>) {
    for rte in &query.rtable {
        match &rte.kind {
            RteKind::Relation {
                relid,
                relkind: RelKind::Table | RelKind::PartitionedTable | RelKind::View,
                ..
            } if !matches!(rte.eref.aliasname.as_str(), "old" | "new") => {
                out.push((*relid, rte.inh));
            }
            RteKind::Subquery { subquery, .. } => relations_read(subquery, out),
            _ => {}
        }
    }
    query.cte_list.iter().for_each(|cte| relations_read(&cte.query, out));
    plan::walk::query_exprs(query, &mut |e| {
        plan::walk::any(e, &mut |e| {
            if let plan::Expr::SubLink(s) = e {
                relations_read(&s.subselect, out);
            }
            false
        });
    });
}

/// The options of REINDEX.
#[derive(Clone, Copy, Default)]
struct ReindexOptions {
    verbose: bool,
    concurrently: bool,
    /// Target tablespace of the indexes; 0 is the database's default.
    tablespace: Option<Oid>,
}

fn wanted(host: &mut dyn CommandHost, stmt: &ReindexStmt, sql: &str) -> Result<ReindexOptions> {
    let mut out = ReindexOptions::default();
    let mut space = None;
    for d in &stmt.params {
        match &*d.defname {
            "verbose" => out.verbose = options::boolean(d)?,
            "concurrently" => out.concurrently = options::boolean(d)?,
            "tablespace" => space = Some(options::text(d)?),
            other => {
                let e = pg_err!(SYNTAX_ERROR, "unrecognized REINDEX option \"{other}\"");
                return Err(e.at(parse::position(sql, d.location)));
            }
        }
    }
    if let Some(name) = space {
        let row = host.catalog().find_tablespace(&name)?;
        let row =
            row.ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist"))?;
        let own = host.catalog().session.tablespace;
        if row.oid != own {
            tablespace::may_create_in(host, &row)?;
        }
        out.tablespace = Some(if row.oid == own { Oid::INVALID } else { row.oid });
    }
    Ok(out)
}

/// REINDEX.
pub fn reindex(host: &mut dyn CommandHost, stmt: &ReindexStmt, sql: &str) -> Result<()> {
    let wanted = wanted(host, stmt, sql)?;
    if !wanted.concurrently {
        return reindex_wanted(host, stmt, wanted);
    }
    host.prevent_in_transaction_block("REINDEX CONCURRENTLY")?;
    reindex_wanted(host, stmt, wanted)?;
    // PostgreSQL uses several transactions, the last of which stays open in a pipeline.
    host.next_transaction()
}

fn reindex_wanted(
    host: &mut dyn CommandHost,
    stmt: &ReindexStmt,
    wanted: ReindexOptions,
) -> Result<()> {
    match stmt.kind {
        ReindexObjectType::Index | ReindexObjectType::Table => {
            let Some(rv) = &stmt.relation else {
                return Err(PgError::internal("REINDEX without a relation"));
            };
            names::check_before_lock(host, rv, &mut names::must_own_relation)?;
            names::exclude_readers(host, rv)?;
            let rel = names::open(host, rv, names::mode::SHARE)?;
            names::must_own_relation(host, &rel)?;
            if matches!(rel.kind(), RelKind::PartitionedIndex | RelKind::PartitionedTable) {
                return reindex_partitions(host, stmt.kind, &rel, wanted);
            }
            if stmt.kind == ReindexObjectType::Index {
                if rel.kind() != RelKind::Index {
                    bail!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", rel.name());
                }
                check_concurrent(&rel, wanted)?;
                let table = rel.index.as_ref().map_or(Oid::INVALID, |p| p.row.indrelid);
                return rebuild(host, table, rel.oid(), wanted);
            }
            if !rel.kind().has_table_am() {
                bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a table or materialized view", rel.name());
            }
            check_concurrent(&rel, wanted)?;
            if !reindex_table(host, rel.oid(), wanted)? {
                let name = rel.name();
                let info = match wanted.concurrently {
                    true => "has no indexes that can be reindexed concurrently",
                    false => "has no indexes to reindex",
                };
                host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "table \"{name}\" {info}")));
            }
            Ok(())
        }
        kind => reindex_many(host, kind, stmt.name.as_deref(), wanted),
    }
}

/// REINDEX of a partitioned table or index: of the leaves, each in its own transaction.
/// Counterpart: `ReindexPartitions`.
fn reindex_partitions(
    host: &mut dyn CommandHost,
    kind: ReindexObjectType,
    rel: &RelDesc,
    wanted: ReindexOptions,
) -> Result<()> {
    let is_index = rel.kind() == RelKind::PartitionedIndex;
    match (kind, is_index) {
        (ReindexObjectType::Index, false) => {
            bail!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", rel.name());
        }
        (ReindexObjectType::Table, true) => {
            bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a table or materialized view", rel.name());
        }
        _ => {}
    }
    let what = if is_index { "REINDEX INDEX" } else { "REINDEX TABLE" };
    let schema = host.catalog().namespace_name(rel.class.relnamespace)?.unwrap_or_default();
    let noun = if is_index { "index" } else { "table" };
    let context = format!("while reindexing partitioned {noun} \"{schema}.{}\"", rel.name());
    host.prevent_in_transaction_block(what).map_err(|e| e.context(context))?;
    let below = partition::descendants(&mut host.catalog(), rel.oid(), Detached::Include)?;
    for oid in below {
        host.next_transaction()?;
        let Some(class) = host.catalog().find_class(oid)? else { continue };
        match class.relkind {
            RelKind::Index => {
                let keys = [oid.into()];
                let row = host.catalog().scan(indexes::PG_INDEX_INDEXRELID_INDEX, &keys)?.pop();
                let Some(table) = row.map(|r| r.indrelid) else { continue };
                host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
                if host.catalog().find_class(oid)?.is_some() {
                    rebuild(host, table, oid, wanted)?;
                }
            }
            RelKind::Table | RelKind::MaterializedView => {
                host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
                if host.catalog().find_class(oid)?.is_some() {
                    reindex_table(host, oid, wanted)?;
                }
            }
            _ => {}
        }
    }
    host.next_transaction()
}

/// REINDEX of a schema, a database or its system catalogs.
fn reindex_many(
    host: &mut dyn CommandHost,
    kind: ReindexObjectType,
    name: Option<&str>,
    wanted: ReindexOptions,
) -> Result<()> {
    host.prevent_in_transaction_block(match kind {
        ReindexObjectType::Schema => "REINDEX SCHEMA",
        ReindexObjectType::System => "REINDEX SYSTEM",
        _ => "REINDEX DATABASE",
    })?;
    if kind == ReindexObjectType::System && wanted.concurrently {
        return Err(concurrent_catalog());
    }
    if kind != ReindexObjectType::Schema {
        check_database(host, name)?;
    }
    let schema = match (kind, name) {
        (ReindexObjectType::Schema, Some(name)) => Some(crate::schema::row(host, name)?.oid),
        _ => None,
    };
    let tables = reindex_targets(host, kind, schema, wanted)?;
    for table in tables {
        host.next_transaction()?;
        if host.catalog().find_class(table)?.is_none() {
            continue;
        }
        host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
        // The table may have been dropped during the wait for the lock.
        let Some(rel) = host.catalog().try_relation(table)? else { continue };
        if reindex_table(host, table, wanted)? && wanted.verbose {
            let schema = host.catalog().namespace_name(rel.class.relnamespace)?;
            let schema = schema.unwrap_or_default();
            info(host, &format!("table \"{schema}.{}\" was reindexed", rel.name()));
        }
    }
    Ok(())
}

/// The tables that REINDEX of a schema, a database or its system catalogs processes: `pg_class`
/// first, the others by OID. Counterpart: `ReindexMultipleTables`.
fn reindex_targets(
    host: &mut dyn CommandHost,
    kind: ReindexObjectType,
    schema: Option<Oid>,
    wanted: ReindexOptions,
) -> Result<Vec<Oid>> {
    let own_temp = host.catalog().session.temp_namespace;
    let mut rows = host.catalog().scan_all::<PgClass>()?;
    rows.sort_unstable_by_key(|c| (c.oid != PgClass::RELATION, c.oid));
    let (mut tables, mut is_moved, mut is_concurrent) = (Vec::new(), false, false);
    for c in &rows {
        let is_catalog = c.oid < Oid::FIRST_UNPINNED;
        if !matches!(c.relkind, RelKind::Table | RelKind::MaterializedView)
            || schema.is_some_and(|s| s != c.relnamespace)
            || c.relpersistence == Persistence::Temporary && c.relnamespace != own_temp
            || kind == ReindexObjectType::System && !is_catalog
        {
            continue;
        }
        // The owner of a database or schema may reindex all its tables, but not the shared ones.
        if c.relisshared && !names::is_owner(host, c.relowner)? {
            continue;
        }
        if wanted.concurrently && is_catalog {
            is_concurrent = true;
        } else if wanted.tablespace.is_some() && is_system(c.oid, c.relnamespace) {
            is_moved = true;
        } else {
            tables.push(c.oid);
        }
    }
    if is_concurrent {
        let what = "cannot reindex system catalogs concurrently, skipping all";
        let e = pg_err!(FEATURE_NOT_SUPPORTED, "{what}");
        host.notice(e.severity(Severity::Warning));
    }
    if is_moved {
        let e = pg_err!(INSUFFICIENT_PRIVILEGE, "cannot move system relations, skipping all");
        host.notice(e.severity(Severity::Warning));
    }
    Ok(tables)
}

/// An error unless the name is that of the current database and the user owns it.
fn check_database(host: &mut dyn CommandHost, name: Option<&str>) -> Result<()> {
    let own = host.database_name()?;
    if name.is_some_and(|n| n != own) {
        bail!(FEATURE_NOT_SUPPORTED, "can only reindex the currently open database");
    }
    clusterwide::database::must_own_named(host, &own)
}

fn concurrent_catalog() -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "cannot reindex system catalogs concurrently")
}

/// Initial checks with CONCURRENTLY. Counterpart: `ReindexRelationConcurrently`.
fn check_concurrent(rel: &RelDesc, wanted: ReindexOptions) -> Result<()> {
    if !wanted.concurrently || rel.class.relpersistence == Persistence::Temporary {
        return Ok(());
    }
    if rel.is_catalog() {
        return Err(concurrent_catalog());
    }
    if wanted.tablespace.is_some() && is_system(rel.oid(), rel.class.relnamespace) {
        bail!(FEATURE_NOT_SUPPORTED, "cannot move system relation \"{}\"", rel.name());
    }
    if wanted.tablespace == Some(GLOBAL_TABLESPACE) {
        bail!(FEATURE_NOT_SUPPORTED, "cannot move non-shared relation to tablespace \"pg_global\"");
    }
    Ok(())
}

/// True for a catalog or a TOAST table. Counterpart: `IsSystemClass`.
fn is_system(oid: Oid, namespace: Oid) -> bool {
    oid < Oid::FIRST_UNPINNED || namespace == namespace::PG_TOAST
}

fn info(host: &mut dyn CommandHost, text: &str) {
    host.notice(pg_err!(SUCCESSFUL_COMPLETION, "{text}").severity(Severity::Info));
}

/// Warns that an invalid index, left by a failed concurrent build, is skipped.
fn warn_skipped(host: &mut dyn CommandHost, index: Oid) -> Result<()> {
    let row = host.catalog().class(index)?;
    let schema = host.catalog().namespace_name(row.relnamespace)?.unwrap_or_default();
    let e = pg_err!(
        FEATURE_NOT_SUPPORTED,
        "cannot reindex invalid index \"{schema}.{}\" concurrently, skipping",
        row.relname
    );
    host.notice(e.severity(Severity::Warning));
    Ok(())
}

/// Rebuilds all indexes of a table and of its TOAST table. Returns false if there are none.
fn reindex_table(host: &mut dyn CommandHost, table: Oid, wanted: ReindexOptions) -> Result<bool> {
    let rel = host.catalog().relation(table)?;
    let mut some = false;
    for i in &rel.indexes {
        if wanted.concurrently
            && rel.class.relpersistence != Persistence::Temporary
            && !i.indisvalid
        {
            warn_skipped(host, i.indexrelid)?;
            continue;
        }
        rebuild(host, table, i.indexrelid, wanted)?;
        some = true;
    }
    // The indexes of the TOAST table stay in their tablespace.
    let toast = match rel.class.reltoastrelid.valid() {
        Some(toast) => reindex_table(host, toast, ReindexOptions { tablespace: None, ..wanted })?,
        None => false,
    };
    Ok(toast || some)
}

fn rebuild(host: &mut dyn CommandHost, table: Oid, oid: Oid, wanted: ReindexOptions) -> Result<()> {
    host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
    let rel = host.catalog().relation(oid)?;
    class::not_of_other_session(&rel, "reindex")?;
    let row = host.catalog().class(oid)?;
    if wanted.tablespace.is_some() && is_system(oid, row.relnamespace) {
        bail!(FEATURE_NOT_SUPPORTED, "cannot move system relation \"{}\"", row.relname)
    }
    if wanted.tablespace == Some(GLOBAL_TABLESPACE) {
        bail!(
            INVALID_PARAMETER_VALUE,
            "only shared relations can be placed in pg_global tablespace"
        );
    }
    if rel.is_catalog() {
        host.check_not_in_use(oid, row.relname.as_str(), "REINDEX INDEX")?;
        catalog_files::rebuild_index(host, table, oid)?;
        if wanted.verbose {
            info(host, &format!("index \"{}\" was reindexed", row.relname));
        }
        return Ok(());
    }
    match wanted.tablespace {
        Some(space) if space != row.reltablespace => {
            let row = class::row(&mut host.catalog(), oid)?;
            let new = PgClass { reltablespace: space, ..row.row.clone() };
            class::replace_files(host, &row, new)?;
        }
        _ => {
            class::new_files(host, oid)?;
        }
    }
    host.check_not_in_use(oid, row.relname.as_str(), "REINDEX INDEX")?;
    index::fill(host, table, oid)?;
    if wanted.verbose {
        info(host, &format!("index \"{}\" was reindexed", row.relname));
    }
    Ok(())
}
