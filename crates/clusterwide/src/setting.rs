//! Per-database and per-role settings: ALTER DATABASE and ALTER ROLE … SET and RESET.
//!
//! Counterpart: pg_db_role_setting.c.

use crate::role;
use catalog::rows::{PgDbRoleSetting, Text, indexes};
use ids::Oid;
use parse::ast::{AlterRoleSetStmt, VariableSetKind, VariableSetStmt};
use pgerror::{Result, bail, pg_err};
use utility::host::CommandHost;
use utility::names;

/// True if this is the `name=value` entry of the setting.
fn is_for(entry: &Text, name: &str) -> bool {
    entry.as_str().split_once('=').is_some_and(|(n, _)| n.eq_ignore_ascii_case(name))
}

/// Sets or removes initial settings of sessions of `role` in `database`; `INVALID` means all.
pub fn alter(
    host: &mut dyn CommandHost,
    database: Oid,
    role: Oid,
    stmt: &VariableSetStmt,
) -> Result<()> {
    let name = host.setting_name(stmt.name.as_deref().unwrap_or_default());
    let all = stmt.kind == VariableSetKind::ResetAll;
    let keys = [database.into(), role.into()];
    let index = indexes::PG_DB_ROLE_SETTING_DATABASEID_ROL_INDEX;
    let old = host.catalog().scan(index, &keys)?.pop();
    let takes = matches!(stmt.kind, VariableSetKind::Reset | VariableSetKind::SetDefault);
    if takes && old.is_none() {
        // RESET without stored settings does not check the name.
        return Ok(());
    }
    let value = if all { None } else { host.setting_value(stmt)? };
    let mut list = old.as_ref().and_then(|o| o.setconfig.clone()).unwrap_or_default();
    if all {
        list.clear();
    } else {
        match value {
            Some(value) => {
                let entry = Text::from(format!("{name}={value}"));
                match list.iter_mut().find(|e| is_for(e, &name)) {
                    Some(place) => *place = entry,
                    None => list.push(entry),
                }
            }
            None => list.retain(|e| !is_for(e, &name)),
        }
    }
    let mut cat = host.catalog();
    match (old, list.is_empty()) {
        (Some(old), true) => cat.delete(&old),
        (Some(old), false) => {
            let new = PgDbRoleSetting { setconfig: Some(list), ..old.row.clone() };
            cat.update(&old, &new).map(|_| ())
        }
        (None, true) => Ok(()),
        (None, false) => {
            let new =
                PgDbRoleSetting { setdatabase: database, setrole: role, setconfig: Some(list) };
            cat.insert(&new).map(|_| ())
        }
    }
}

/// ALTER ROLE … [IN DATABASE …] SET and RESET. Counterpart: AlterRoleSet.
pub fn alter_role_set(host: &mut dyn CommandHost, stmt: &AlterRoleSetStmt) -> Result<()> {
    let superuser = names::is_superuser(host)?;
    let role = match &stmt.role {
        Some(spec) => {
            role::not_reserved(spec)?;
            let oid = names::role_oid(host, spec)?;
            let row = host.catalog().role_row(oid)?;
            let row = row.ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "role does not exist"))?;
            let user = names::user(host);
            let creates = host.catalog().role_row(user)?.is_some_and(|r| r.rolcreaterole);
            if row.rolsuper && !superuser {
                bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to alter superusers");
            }
            if !superuser && !creates && oid != user {
                bail!(INSUFFICIENT_PRIVILEGE, "permission denied");
            }
            oid
        }
        None => Oid::INVALID,
    };
    let database = match &stmt.database {
        Some(name) => {
            let row = host.catalog().find_database(name)?;
            let row = row
                .ok_or_else(|| pg_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"))?;
            if stmt.role.is_none() && !names::is_owner(host, row.datdba)? {
                bail!(INSUFFICIENT_PRIVILEGE, "must be owner of database {name}");
            }
            row.oid
        }
        None => {
            if stmt.role.is_none() && !superuser {
                bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to alter settings globally");
            }
            Oid::INVALID
        }
    };
    alter(host, database, role, &stmt.setstmt)
}
