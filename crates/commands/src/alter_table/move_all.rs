//! ALTER TABLE, INDEX and MATERIALIZED VIEW ALL IN TABLESPACE.
//!
//! Counterpart: `AlterTableMoveAll` of tablecmds.c.

use super::phases;
use catalog::rows::PgClass;
use clusterwide::tablespace;
use ids::builtin::namespace::{PG_CATALOG, PG_TOAST};
use ids::{Oid, Persistence, RelFile, RelKind};
use parse::ast::{AlterTableCmd, AlterTableMoveAllStmt, AlterTableType, ObjectType};
use pgerror::{Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::names;

/// Moves all tables, indexes or materialized views of a tablespace to another one.
pub fn move_all(host: &mut dyn CommandHost, stmt: &AlterTableMoveAllStmt, sql: &str) -> Result<()> {
    let kinds: &[RelKind] = match stmt.objtype {
        ObjectType::Table => &[RelKind::Table, RelKind::PartitionedTable],
        ObjectType::Index => &[RelKind::Index, RelKind::PartitionedIndex],
        ObjectType::Matview => &[RelKind::MaterializedView],
        _ => bail!(
            FEATURE_NOT_SUPPORTED,
            "only tables, indexes, and materialized views exist in tablespaces"
        ),
    };
    let from =
        tablespace::named_unchecked(host, stmt.orig_tablespacename.as_deref().unwrap_or(""))?;
    let name = stmt.new_tablespacename.as_deref().unwrap_or("");
    let to = tablespace::named_unchecked(host, name)?;
    let mut roles = Vec::with_capacity(stmt.roles.len());
    for role in &stmt.roles {
        roles.push(names::role_oid(host, role)?);
    }
    if [from, to].contains(&RelFile::GLOBAL_TABLESPACE) {
        bail!(
            INVALID_PARAMETER_VALUE,
            "cannot move relations in to or out of pg_global tablespace"
        );
    }
    if to.is_valid()
        && let Some(row) = host.catalog().find_tablespace(name)?
    {
        tablespace::may_create_in(host, &row)?;
    }
    if from == to {
        return Ok(());
    }
    let found = lock_all(host, stmt, |c| {
        c.reltablespace == from
            && kinds.contains(&c.relkind)
            && (roles.is_empty() || roles.contains(&c.relowner))
    })?;
    if found.is_empty() {
        let shown = match from.is_valid() {
            true => tablespace::name_of(host, from)?.to_string(),
            false => "(database default)".to_owned(),
        };
        host.notice(notice(pg_err!(
            NO_DATA_FOUND,
            "no matching relations in tablespace \"{shown}\" found"
        )));
    }
    let cmd = AlterTableCmd {
        subtype: AlterTableType::SetTableSpace,
        name: stmt.new_tablespacename.clone(),
        ..AlterTableCmd::default()
    };
    for relation in found {
        let cmds = std::slice::from_ref(&cmd);
        phases::run(host, relation, (cmds, true, names::mode::ACCESS_EXCLUSIVE), sql)?;
        host.catalog().increment_command_counter()?;
    }
    Ok(())
}

/// Locks all relations that are wanted, in the order of their OIDs. Relations of other sessions,
/// catalogs and TOAST tables are left out.
fn lock_all(
    host: &mut dyn CommandHost,
    stmt: &AlterTableMoveAllStmt,
    wanted: impl Fn(&PgClass) -> bool,
) -> Result<Vec<Oid>> {
    let mut rows = host.catalog().scan_all::<PgClass>()?;
    rows.retain(|c| {
        wanted(c)
            && !c.relisshared
            && c.relpersistence != Persistence::Temporary
            && ![PG_CATALOG, PG_TOAST].contains(&c.relnamespace)
    });
    rows.sort_unstable_by_key(|c| c.oid);
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        if !names::is_owner(host, row.relowner)? {
            let rel = host.catalog().relation(row.oid)?;
            names::must_own_relation(host, &rel)?;
        }
        // Readers of an index lock only its table.
        let rel = host.catalog().relation(row.oid)?;
        let table = rel.index.as_ref().map_or(row.oid, |part| part.row.indrelid);
        for relation in [table, row.oid] {
            if !stmt.nowait {
                host.lock_relation(relation, names::mode::ACCESS_EXCLUSIVE)?;
            } else if !host.try_lock_relation(relation, names::mode::ACCESS_EXCLUSIVE)? {
                let schema = host.catalog().namespace_name(row.relnamespace)?.unwrap_or_default();
                bail!(
                    OBJECT_IN_USE,
                    "aborting because lock on relation \"{schema}.{}\" is not available",
                    row.relname
                );
            }
        }
        out.push(row.oid);
    }
    Ok(out)
}
