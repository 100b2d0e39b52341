//! LOCK TABLE and REINDEX. Counterpart: lockcmds.c, `ReindexIndex` and its siblings of indexcmds.c.

use crate::host::CommandHost;
use crate::{index, names, options, relation};
use catalog::acl;
use catalog::rows::*;
use ids::Oid;
use lmgr::{Acquired, LockTag};
use parse::ast::{LockStmt, ReindexObjectType, ReindexStmt};
use pgerror::{PgError, Result, bail};

fn lock_mode(number: i32) -> Option<lmgr::LockMode> {
    use lmgr::LockMode::*;
    Some(match number {
        1 => AccessShare,
        2 => RowShare,
        3 => RowExclusive,
        4 => ShareUpdateExclusive,
        5 => Share,
        6 => ShareRowExclusive,
        7 => Exclusive,
        8 => AccessExclusive,
        _ => return None,
    })
}

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
        if !matches!(rel.kind(), b'r' | b'p' | b'v') {
            bail!(WRONG_OBJECT_TYPE, "cannot lock relation \"{}\"", rel.name());
        }
        let any = acl::UPDATE | acl::DELETE | acl::TRUNCATE;
        let wanted = match stmt.mode {
            1 => any | acl::SELECT,
            m if m <= names::mode::ROW_EXCLUSIVE => any | acl::INSERT,
            _ => any,
        };
        let user = names::user(host);
        let have = host.catalog().relation_privileges(user, &rel.class, wanted)?;
        if have == 0 {
            let what = names::relation_noun(rel.kind());
            bail!(INSUFFICIENT_PRIVILEGE, "permission denied for {what} {}", rel.name());
        }
        if !stmt.nowait {
            host.lock_relation(oid, stmt.mode)?;
            continue;
        }
        let Some(mode) = lock_mode(stmt.mode) else { continue };
        let database = if rel.class.relisshared { Oid::INVALID } else { host.backend().database() };
        let got = host.backend().try_lock(LockTag::relation(database, oid), mode)?;
        if got == Acquired::NotAvailable {
            bail!(LOCK_NOT_AVAILABLE, "could not obtain lock on relation \"{name}\"");
        }
    }
    Ok(())
}

/// REINDEX.
pub fn reindex(host: &mut dyn CommandHost, stmt: &ReindexStmt) -> Result<()> {
    for d in &stmt.params {
        match &*d.defname {
            "verbose" | "concurrently" => {
                options::boolean(d)?;
            }
            "tablespace" => return Err(PgError::unsupported("REINDEX with TABLESPACE")),
            other => bail!(SYNTAX_ERROR, "unrecognized REINDEX option \"{other}\""),
        }
    }
    match stmt.kind {
        ReindexObjectType::Index | ReindexObjectType::Table => {
            let Some(rv) = &stmt.relation else {
                return Err(PgError::internal("REINDEX without a relation"));
            };
            let rel = names::open(host, rv, names::mode::SHARE)?;
            names::must_own_relation(host, &rel)?;
            if stmt.kind == ReindexObjectType::Index {
                if rel.kind() != b'i' {
                    bail!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", rel.name());
                }
                let table = rel.index.as_ref().map_or(Oid::INVALID, |p| p.row.indrelid);
                host.lock_relation(table, names::mode::SHARE)?;
                return rebuild(host, table, rel.oid());
            }
            if !matches!(rel.kind(), b'r' | b'm' | b't') {
                bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a table or materialized view", rel.name());
            }
            reindex_table(host, rel.oid())
        }
        kind => {
            if host.in_transaction_block() {
                let word = match kind {
                    ReindexObjectType::Schema => "SCHEMA",
                    ReindexObjectType::System => "SYSTEM",
                    _ => "DATABASE",
                };
                bail!(
                    ACTIVE_SQL_TRANSACTION,
                    "REINDEX {word} cannot run inside a transaction block"
                );
            }
            let name = stmt.name.as_deref();
            let schema = match (kind, name) {
                (ReindexObjectType::Schema, Some(name)) => Some(host.catalog().namespace(name)?),
                (ReindexObjectType::System, _) => {
                    return Err(PgError::unsupported("REINDEX SYSTEM"));
                }
                _ => None,
            };
            let rows = host.catalog().scan_all::<PgClass>()?;
            let mut tables: Vec<Oid> = rows
                .iter()
                .filter(|c| matches!(c.relkind, b'r' | b'm') && c.oid >= Oid::FIRST_NORMAL)
                .filter(|c| schema.is_none_or(|s| s == c.relnamespace))
                .map(|c| c.oid)
                .collect();
            tables.sort_unstable();
            for table in tables {
                host.next_transaction()?;
                if host.catalog().find_class(table)?.is_some() {
                    host.lock_relation(table, names::mode::SHARE)?;
                    reindex_table(host, table)?;
                }
            }
            Ok(())
        }
    }
}

/// All indexes of a table and of its TOAST table.
fn reindex_table(host: &mut dyn CommandHost, table: Oid) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    for i in &rel.indexes {
        rebuild(host, table, i.indexrelid)?;
    }
    match rel.class.reltoastrelid.valid() {
        Some(toast) => reindex_table(host, toast),
        None => Ok(()),
    }
}

fn rebuild(host: &mut dyn CommandHost, table: Oid, oid: Oid) -> Result<()> {
    host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
    let row = host.catalog().class(oid)?;
    if !row.relfilenode.is_valid() {
        return Err(PgError::unsupported("REINDEX of mapped catalogs"));
    }
    relation::new_files(host, oid)?;
    index::fill(host, table, oid)
}
