//! Functions on settings and configuration files. Counterpart: utils/misc/guc.c
//! (`show_all_settings`, `set_config_by_name`), utils/adt/hbafuncs.c.

use super::{SysCall, SysFn, text};
use crate::instance::ConfigFiles;
use crate::state::State;
use ids::Oid;
use ids::builtin::role::{READ_ALL_SETTINGS, SIGNAL_BACKEND};
use pgerror::{PgError, Result, pg_err};
use settings::Action;
use std::sync::Arc;
use types::{Datum, DatumRef, oids};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "show_all_settings", call: SysCall::Set(|c, _| all_settings(c)) },
    SysFn { name: "show_config_by_name", call: SysCall::One(|c, a| current(c, a[0], false)) },
    SysFn { name: "show_config_by_name_missing_ok", call: SysCall::One(current_or_null) },
    SysFn { name: "set_config_by_name", call: SysCall::One(set_config) },
    SysFn { name: "pg_settings_get_flags", call: SysCall::One(flags) },
    SysFn { name: "pg_reload_conf", call: SysCall::One(|c, _| reload(c)) },
    SysFn { name: "show_all_file_settings", call: SysCall::Set(|c, _| file_settings(c)) },
    SysFn { name: "pg_hba_file_rules", call: SysCall::Set(|c, _| hba_rules(c)) },
    SysFn { name: "pg_ident_file_mappings", call: SysCall::Set(|c, _| ident_mappings(c)) },
    SysFn { name: "pg_postmaster_start_time", call: SysCall::One(|c, _| Ok(started(c))) },
    SysFn { name: "pg_conf_load_time", call: SysCall::One(|c, _| Ok(loaded(c))) },
];

fn texts<S: AsRef<str>>(list: &[S]) -> Result<Datum> {
    let values: Vec<Datum> = list.iter().map(|s| Datum::text(s.as_ref())).collect();
    types::array::of_builtin(oids::TEXT, &values)
}

fn optional(value: Option<&str>) -> Datum {
    value.map_or(Datum::Null, Datum::text)
}

/// True if the current user may see settings that are visible to superusers only.
fn sees_all(state: &mut State) -> Result<bool> {
    let user = state.catalog.user;
    Ok(state.roles.superuser || state.cat().is_member(user, READ_ALL_SETTINGS, true)?)
}

fn all_settings(state: &mut State) -> Result<Vec<Vec<Datum>>> {
    let all = sees_all(state)?;
    let rows = state.store.rows(all);
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        let own = state.show_characteristic(&row.name);
        let enumvals = match &row.enumvals {
            Some(values) => texts(values)?,
            None => Datum::Null,
        };
        out.push(vec![
            Datum::text(&row.name),
            Datum::text(own.as_deref().unwrap_or(&row.setting)),
            optional(row.unit),
            Datum::text(row.category),
            Datum::text(""),
            Datum::Null,
            Datum::text(row.context),
            Datum::text(row.vartype),
            Datum::text(if own.is_some() { "override" } else { row.source }),
            optional(row.min_val.as_deref()),
            optional(row.max_val.as_deref()),
            enumvals,
            optional(row.boot_val.as_deref()),
            optional(row.reset_val.as_deref()),
            optional(row.sourcefile.as_deref()),
            row.sourceline.map_or(Datum::Null, Datum::int4),
            Datum::bool(row.pending_restart),
        ]);
    }
    Ok(out)
}

/// Error 42501 for a setting that the current user may not see.
pub(crate) fn check_visible(state: &mut State, name: &str) -> Result<()> {
    let registry = state.store.base().registry.clone();
    let secret = registry.find(name).is_some_and(|id| registry.setting(id).flags.superuser_only);
    if secret && !sees_all(state)? {
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "must be superuser or have privileges of pg_read_all_settings to examine \"{name}\""
        ));
    }
    Ok(())
}

fn current(state: &mut State, name: DatumRef<'_>, missing_ok: bool) -> Result<Datum> {
    let name = text(name);
    check_visible(state, &name)?;
    match state.show(&name) {
        Ok(value) => Ok(Datum::text(&value)),
        Err(e) if missing_ok && e.code() == pgerror::SqlState::UNDEFINED_OBJECT => Ok(Datum::Null),
        Err(e) => Err(e),
    }
}

fn current_or_null(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    current(state, args[0], args[1].as_bool())
}

/// Not strict: a NULL value means the default.
fn set_config(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    if args[0].is_null() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "SET requires parameter name"));
    }
    let name = text(args[0]);
    let value = (!args[1].is_null()).then(|| text(args[1]));
    let local = !args[2].is_null() && args[2].as_bool();
    let action = if local { Action::Local } else { Action::Set };
    state.set(&name, value.as_deref(), action)?;
    Ok(Datum::text(&state.show(&name)?))
}

fn flags(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    let registry = state.store.base().registry.clone();
    let Some(id) = registry.find(&text(args[0])) else { return Ok(Datum::Null) };
    let f = registry.setting(id).flags;
    let names = [
        (f.explain, "EXPLAIN"),
        (f.no_reset_all, "NO_RESET_ALL"),
        (f.no_show_all, "NO_SHOW_ALL"),
        (f.not_in_sample, "NOT_IN_SAMPLE"),
    ];
    let names: Vec<&str> = names.into_iter().filter(|(on, _)| *on).map(|(_, n)| n).collect();
    texts(&names)
}

fn files(state: &State) -> Result<Arc<dyn ConfigFiles>> {
    let files = state.server.as_ref().and_then(|(server, _)| server.files());
    files.ok_or_else(|| PgError::unsupported("configuration files without a server"))
}

/// Error 42501 unless the current user is a superuser. (PostgreSQL restricts EXECUTE privilege on
/// these functions instead.)
fn only_superuser(state: &State, function: &str) -> Result<()> {
    if state.roles.superuser {
        return Ok(());
    }
    Err(pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied for function {function}"))
}

fn reload(state: &mut State) -> Result<Datum> {
    only_superuser(state, "pg_reload_conf")?;
    files(state)?.reload();
    Ok(Datum::bool(true))
}

fn file_settings(state: &mut State) -> Result<Vec<Vec<Datum>>> {
    only_superuser(state, "pg_show_all_file_settings")?;
    let lines = files(state)?.settings();
    let rows = lines.into_iter().enumerate().map(|(i, line)| {
        vec![
            Datum::text(&line.file),
            if line.line == 0 { Datum::Null } else { Datum::int4(line.line as i32) },
            Datum::int4(i as i32 + 1),
            optional(line.name.as_deref()),
            optional(line.value.as_deref()),
            Datum::bool(line.applied),
            optional(line.error.as_deref()),
        ]
    });
    Ok(rows.collect())
}

fn hba_rules(state: &mut State) -> Result<Vec<Vec<Datum>>> {
    only_superuser(state, "pg_hba_file_rules")?;
    let mut rows = Vec::new();
    for line in files(state)?.hba()? {
        let mut row = vec![Datum::int4(line.number as i32)];
        // A valid line may have an error too, if no connection can match it.
        if line.kind.is_empty() {
            row.extend(std::iter::repeat_n(Datum::Null, 7));
        } else {
            row.push(Datum::text(&line.kind));
            row.push(texts(&line.databases)?);
            row.push(texts(&line.users)?);
            row.push(optional(line.address.as_deref()));
            row.push(optional(line.netmask.as_deref()));
            row.push(Datum::text(&line.method));
            row.push(if line.options.is_empty() { Datum::Null } else { texts(&line.options)? });
        }
        row.push(optional(line.error.as_deref()));
        rows.push(row);
    }
    Ok(rows)
}

fn ident_mappings(state: &mut State) -> Result<Vec<Vec<Datum>>> {
    only_superuser(state, "pg_ident_file_mappings")?;
    let rows = files(state)?.ident()?.into_iter().map(|line| {
        let shown = |text: &str| match line.error {
            None => Datum::text(text),
            Some(_) => Datum::Null,
        };
        vec![
            Datum::int4(line.number as i32),
            shown(&line.map),
            shown(&line.system_user),
            shown(&line.role),
            optional(line.error.as_deref()),
        ]
    });
    Ok(rows.collect())
}

pub(super) fn started(state: &State) -> Datum {
    state.server.as_ref().map_or(Datum::Null, |(s, _)| Datum::int8(s.started))
}

fn loaded(state: &State) -> Datum {
    state.server.as_ref().map_or(Datum::Null, |(s, _)| Datum::int8(s.config_loaded()))
}

/// Checks that the current user may signal a session of that role.
pub(super) fn may_signal(state: &mut State, role: Oid, what: &str) -> Result<()> {
    if state.roles.superuser {
        return Ok(());
    }
    let user = state.catalog.user;
    let (verb, object) = match what {
        "cancel" => ("cancel", "query"),
        _ => ("terminate", "process"),
    };
    if state.cat().is_superuser(role)? {
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "must be a superuser to {verb} superuser {object}"
        ));
    }
    if !state.cat().is_member(user, role, true)?
        && !state.cat().is_member(user, SIGNAL_BACKEND, true)?
    {
        let whose = match what {
            "cancel" => "whose query is being canceled",
            _ => "whose process is being terminated",
        };
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "must be a member of the role {whose} or member of pg_signal_backend"
        ));
    }
    Ok(())
}
