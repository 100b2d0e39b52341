//! CREATE INDEX.
//!
//! Counterpart: `DefineIndex` of indexcmds.c.

use crate::index::{self, NewIndex};
use crate::partitions::indexes::{self, Cause, Creation};
use catalog::RelDesc;
use define::creation;
use ids::{Persistence, RelKind};
use parse::ast::IndexStmt;
use partition::Detached;
use pgerror::{Result, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::{class, names};

/// CREATE INDEX.
pub fn create_index(host: &mut dyn CommandHost, stmt: &IndexStmt, sql: &str) -> Result<()> {
    create_index_of(host, stmt, true, sql)
}

/// As [`create_index`]. Unless `filled` is set, the index stays empty, because the caller rewrites
/// the table.
pub fn create_index_of(
    host: &mut dyn CommandHost,
    stmt: &IndexStmt,
    filled: bool,
    sql: &str,
) -> Result<()> {
    if stmt.concurrent {
        host.prevent_in_transaction_block("CREATE INDEX CONCURRENTLY")?;
    }
    let rel = names::open(host, &stmt.relation, names::mode::SHARE)?;
    names::must_own_relation(host, &rel)?;
    names::not_a_catalog(host, &rel)?;
    let kinds = [RelKind::Table, RelKind::MaterializedView, RelKind::PartitionedTable];
    if !kinds.contains(&rel.kind()) {
        return Err(pg_err!(
            WRONG_OBJECT_TYPE,
            "cannot create index on relation \"{}\"",
            rel.name()
        )
        .detail(class::kind_not_supported(rel.kind())));
    }
    let partitioned = rel.kind() == RelKind::PartitionedTable;
    if partitioned && stmt.concurrent {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "cannot create index on partitioned table \"{}\" concurrently",
            rel.name()
        );
    }
    if partitioned && stmt.relation.inh {
        lock_partitions(host, &rel)?;
    }
    class::not_of_other_session(&rel, "create indexes on")?;
    host.check_not_in_use(rel.oid(), rel.name(), "CREATE INDEX")?;
    let schema = rel.class.relnamespace;
    if names::user(host) != rel.class.relowner {
        creation::may_create_in(host, schema)?;
    }
    let new = index::describe(host, stmt, &rel, sql)?;
    if host.catalog().relation_in(schema, &new.name)?.is_some() {
        if stmt.if_not_exists {
            host.notice(notice(pg_err!(
                DUPLICATE_TABLE,
                "relation \"{}\" already exists, skipping",
                new.name
            )));
            return Ok(());
        }
        bail!(DUPLICATE_TABLE, "relation \"{}\" already exists", new.name);
    }
    // Temporary tables are not visible to other sessions.
    match stmt.concurrent && rel.class.relpersistence != Persistence::Temporary {
        true => create_concurrently(host, &rel, &new),
        false => {
            let how = Creation { filled, recurse: stmt.relation.inh, by: Cause::Itself };
            indexes::create(host, &rel, &new, how).map(drop)
        }
    }
}

/// Locks the partitions of all levels before the index is created.
fn lock_partitions(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    for oid in partition::descendants(&mut host.catalog(), rel.oid(), Detached::Omit)? {
        host.lock_relation(oid, names::mode::SHARE)?;
    }
    Ok(())
}

/// CREATE INDEX CONCURRENTLY. The index is built in one step that excludes writers. As in
/// PostgreSQL, it first exists as an invalid index, and remains invalid if the build fails.
fn create_concurrently(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    new: &NewIndex,
) -> Result<()> {
    let index = index::enter(host, rel, new, false)?;
    let table = rel.oid();
    host.next_transaction()?;
    host.lock_relation(table, names::mode::SHARE)?;
    host.lock_relation(index, names::mode::ACCESS_EXCLUSIVE)?;
    if host.catalog().find_class(table)?.is_none() || host.catalog().find_class(index)?.is_none() {
        bail!(UNDEFINED_OBJECT, "index \"{}\" has been dropped by another session", new.name);
    }
    class::new_files(host, index)?;
    index::fill(host, table, index)
}
