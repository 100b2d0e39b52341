//! TRUNCATE: gives tables new, empty files.
//!
//! Counterpart: `ExecuteTruncate` of tablecmds.c.

use crate::{index, sequence};
use catalog::rows::PgConstraint;
use catalog::{RelDesc, acl};
use executor::{Change, Level, OpenRel, Timing};
use ids::code::ConType;
use ids::{Oid, RelKind};
use parse::ast::{DropBehavior, TruncateStmt};
use partition::Detached;
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, Contexts, notice};
use utility::{class, names};

/// TRUNCATE.
pub fn truncate(host: &mut dyn CommandHost, stmt: &TruncateStmt) -> Result<()> {
    let mut tables: Vec<Arc<RelDesc>> = Vec::new();
    for rv in &stmt.relations {
        let rel = names::open_checked(host, rv, names::mode::ACCESS_EXCLUSIVE, &mut may_truncate)?;
        if tables.iter().any(|t| t.oid() == rel.oid()) {
            continue;
        }
        check(host, &rel)?;
        let only_partitioned = !rv.inh && rel.kind() == RelKind::PartitionedTable;
        let below = partition::descendants(&mut host.catalog(), rel.oid(), Detached::Omit)?;
        tables.push(rel);
        if only_partitioned {
            return Err(pg_err!(
                WRONG_OBJECT_TYPE,
                "cannot truncate only a partitioned table"
            )
            .hint(
                "Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly.",
            ));
        }
        for &oid in below[1..].iter().filter(|_| rv.inh) {
            add_child(host, &mut tables, oid)?;
        }
    }
    if stmt.behavior == DropBehavior::Cascade {
        loop {
            let more = referencing(host, &tables, &tables)?;
            if more.is_empty() {
                break;
            }
            for oid in more {
                host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
                let rel = host.catalog().relation(oid)?;
                host.notice(notice(pg_err!(
                    SUCCESSFUL_COMPLETION,
                    "truncate cascades to table \"{}\"",
                    rel.name()
                )));
                check(host, &rel)?;
                tables.push(rel);
            }
        }
    } else if let Some((referencing, referenced)) = first_reference(host, &tables)? {
        return Err(still_referenced(&referencing, &referenced));
    }
    let mut with_triggers = Vec::new();
    let has_own =
        |t: &RelDesc| t.triggers.iter().any(|row| row.tgtype & Change::Truncate.bit() != 0);
    for table in tables.iter().filter(|t| has_own(t)) {
        let rel = host.services().open_relation(table.oid())?;
        let fires = |timing| rel.triggers.have(timing, Level::Statement, Change::Truncate);
        if fires(Timing::Before) || fires(Timing::After) {
            with_triggers.push(rel);
        }
    }
    if with_triggers.is_empty() {
        return truncate_all(host, stmt, &tables);
    }
    let level = host.trigger_host().triggers().enter();
    let result = with_triggers.iter().try_for_each(|rel| fire(host, rel, Timing::Before));
    let result = result.and_then(|()| truncate_all(host, stmt, &tables)).and_then(|()| {
        with_triggers.iter().try_for_each(|rel| fire(host, rel, Timing::After))?;
        trigger::after_statement(host.trigger_host())
    });
    host.trigger_host().triggers().leave(level);
    result
}

/// Adds a table below one of the list. Its own privileges are not needed.
fn add_child(host: &mut dyn CommandHost, tables: &mut Vec<Arc<RelDesc>>, oid: Oid) -> Result<()> {
    // Temporary tables of other sessions are left alone.
    if host.catalog().try_relation(oid)?.is_some_and(|rel| rel.other_temp) {
        return Ok(());
    }
    host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
    let Some(rel) = host.catalog().try_relation(oid)? else { return Ok(()) };
    if tables.iter().any(|t| t.oid() == oid) {
        return Ok(());
    }
    check_kind(host, &rel)?;
    host.check_not_in_use(oid, rel.name(), "TRUNCATE")?;
    tables.push(rel);
    Ok(())
}

fn truncate_all(
    host: &mut dyn CommandHost,
    stmt: &TruncateStmt,
    tables: &[Arc<RelDesc>],
) -> Result<()> {
    if stmt.restart_seqs {
        for table in tables {
            for seq in sequence::owned_by(host, table.oid(), None)? {
                host.lock_relation(seq, names::mode::ACCESS_EXCLUSIVE)?;
                let desc = host.catalog().relation(seq)?;
                names::must_own_relation(host, &desc)?;
                sequence::restart(host, seq)?;
            }
        }
    }
    for rel in tables.iter().filter(|t| t.kind().has_storage()) {
        truncate_one(host, rel)?;
        if let Some(table) = &rel.table {
            host.backend().count_truncation(table);
        }
    }
    Ok(())
}

/// Calls the triggers before TRUNCATE, or queues those after it.
fn fire(host: &mut dyn CommandHost, rel: &Arc<OpenRel>, timing: Timing) -> Result<()> {
    let snapshot = host.backend().snapshot();
    executor::spi::with_snapshot(host, &snapshot, |host| {
        Contexts::services(host).statement_event(rel, Change::Truncate, timing, &[])
    })
}

/// The checks that are made before the lock is requested.
fn may_truncate(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    check_kind(host, rel)?;
    names::check_table_privileges(host, rel, acl::TRUNCATE)
}

fn check_kind(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    if rel.kind() == RelKind::ForeignTable {
        return Err(PgError::unsupported(format!("foreign table \"{}\"", rel.name())));
    }
    if !matches!(rel.kind(), RelKind::Table | RelKind::PartitionedTable) {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a table", rel.name());
    }
    names::not_a_catalog(host, rel)
}

fn check(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    may_truncate(host, rel)?;
    class::not_of_other_session(rel, "truncate")?;
    host.check_not_in_use(rel.oid(), rel.name(), "TRUNCATE")
}

/// OIDs of tables, and of partitions, that have foreign keys to one of `tables` and are not in
/// `known`. If a table is only referenced as a partition, those that reference its partitioned
/// tables are included. Counterpart: `heap_truncate_find_FKs`.
fn referencing(
    host: &mut dyn CommandHost,
    tables: &[Arc<RelDesc>],
    known: &[Arc<RelDesc>],
) -> Result<Vec<Oid>> {
    let may_be_referenced =
        |t: &&Arc<RelDesc>| t.class.relhastriggers || t.kind() == RelKind::PartitionedTable;
    let mut referenced: Vec<Oid> =
        tables.iter().filter(may_be_referenced).map(|t| t.oid()).collect();
    if referenced.is_empty() {
        return Ok(Vec::new());
    }
    let rows = host.catalog().scan_all::<PgConstraint>()?;
    let keys: Vec<&PgConstraint> =
        rows.iter().map(|r| &r.row).filter(|c| c.contype == ConType::ForeignKey).collect();
    let mut next = 0;
    while let Some(&table) = referenced.get(next) {
        next += 1;
        for key in keys.iter().filter(|c| c.confrelid == table) {
            let mut top = *key;
            while let Some(parent) = keys.iter().find(|c| c.oid == top.conparentid) {
                top = parent;
            }
            if !referenced.contains(&top.confrelid) {
                referenced.push(top.confrelid);
            }
        }
    }
    let mut out: Vec<Oid> =
        keys.iter().filter(|c| referenced.contains(&c.confrelid)).map(|c| c.conrelid).collect();
    // In OID order, because the order determines which table the error names.
    out.sort_unstable();
    out.dedup();
    out.retain(|oid| known.iter().all(|k| k.oid() != *oid));
    Ok(out)
}

/// Names of the first table with a foreign key to one of `tables`, and of the referenced table.
/// Counterpart: `heap_truncate_check_FKs`.
fn first_reference(
    host: &mut dyn CommandHost,
    tables: &[Arc<RelDesc>],
) -> Result<Option<(String, String)>> {
    for table in tables {
        if let Some(&other) = referencing(host, std::slice::from_ref(table), tables)?.first() {
            let other = host.catalog().class(other)?.relname.to_string();
            return Ok(Some((other, table.name().to_owned())));
        }
    }
    Ok(None)
}

/// Error if a temporary table with ON COMMIT DELETE ROWS is referenced by a table without it.
/// Counterpart: `heap_truncate_check_FKs` with `tempTables`.
pub fn check_commit_actions(
    host: &mut dyn CommandHost,
    emptied: &[(Arc<RelDesc>, bool)],
) -> Result<()> {
    let tables: Vec<Arc<RelDesc>> = emptied.iter().map(|(rel, _)| rel.clone()).collect();
    let Some((referencing, referenced)) = first_reference(host, &tables)? else { return Ok(()) };
    Err(pg_err!(FEATURE_NOT_SUPPORTED, "unsupported ON COMMIT and foreign key combination").detail(
        format!(
            "Table \"{referencing}\" references \"{referenced}\", but they do not have the same \
         ON COMMIT setting."
        ),
    ))
}

fn still_referenced(referencing: &str, referenced: &str) -> PgError {
    let message = "cannot truncate a table referenced in a foreign key constraint";
    PgError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
        .detail(format!("Table \"{referencing}\" references \"{referenced}\"."))
        .hint(format!(
            "Truncate table \"{referencing}\" at the same time, or use TRUNCATE ... CASCADE."
        ))
}

/// Gives the table, its TOAST table and all their indexes new files.
pub fn truncate_one(host: &mut dyn CommandHost, rel: &Arc<RelDesc>) -> Result<()> {
    class::new_files(host, rel.oid())?;
    if let Some(toast) = rel.class.reltoastrelid.valid() {
        host.lock_relation(toast, names::mode::ACCESS_EXCLUSIVE)?;
        let desc = host.catalog().relation(toast)?;
        class::new_files(host, toast)?;
        rebuild_indexes(host, &desc)?;
    }
    rebuild_unchecked(host, rel)
}

/// Rebuilds all indexes of a table in new files.
pub fn rebuild_indexes(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    rebuild(host, rel, index::fill)
}

/// As [`rebuild_indexes`], for rows that were only moved: uniqueness is not checked again. An
/// invalid index of a failed command may contain duplicate keys; it remains invalid.
pub fn rebuild_unchecked(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    rebuild(host, rel, index::fill_unchecked)
}

type Fill = fn(&mut dyn CommandHost, Oid, Oid) -> Result<()>;

fn rebuild(host: &mut dyn CommandHost, rel: &RelDesc, fill: Fill) -> Result<()> {
    for i in &rel.indexes {
        host.lock_relation(i.indexrelid, names::mode::ACCESS_EXCLUSIVE)?;
        class::new_files(host, i.indexrelid)?;
        fill(host, rel.oid(), i.indexrelid)?;
    }
    Ok(())
}
