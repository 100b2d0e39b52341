//! Functions on sessions: `pg_stat_activity`, `pg_cancel_backend`, `pg_terminate_backend`.
//! Counterpart: utils/adt/pgstatfuncs.c, storage/ipc/signalfuncs.c.

use super::settings::may_signal;
use super::{SysCall, SysFn};
use crate::instance::{Instance, SessionHandle};
use crate::state::State;
use client::activity;
use client::transport::Encryption;
use ids::builtin::role::READ_ALL_STATS;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use sync::wait::{Deadline, WaitEvent, Waiter, Woken};
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_stat_get_activity", call: SysCall::Set(activity) },
    SysFn {
        name: "pg_trigger_depth",
        call: SysCall::One(|c, _| {
            Ok(Datum::int4(i32::try_from(c.triggers.depth()).unwrap_or(i32::MAX)))
        }),
    },
    SysFn { name: "pg_cancel_backend", call: SysCall::One(cancel) },
    SysFn { name: "pg_terminate_backend", call: SysCall::One(terminate) },
    SysFn { name: "pg_stat_get_db_numbackends", call: SysCall::One(backends_of) },
    SysFn { name: "pg_stat_get_progress_info", call: SysCall::Set(progress) },
    SysFn { name: "pg_stat_get_backend_idset", call: SysCall::Set(|c, _| Ok(ids(c))) },
    SysFn {
        name: "pg_stat_get_backend_pid",
        call: SysCall::One(|c, a| {
            let pid = a[0].as_i32();
            Ok(session(c, pid).map_or(Datum::Null, |_| Datum::int4(pid)))
        }),
    },
    SysFn {
        name: "pg_stat_get_backend_activity",
        call: SysCall::One(|c, a| {
            let found = session(c, a[0].as_i32());
            Ok(found
                .map_or(Datum::Null, |s| Datum::text(complete_characters(&s.activity.get().query))))
        }),
    },
    SysFn { name: "inet_client_addr", call: SysCall::One(|c, _| Ok(own_address(c).0)) },
    SysFn { name: "inet_client_port", call: SysCall::One(|c, _| Ok(own_address(c).1)) },
    SysFn { name: "inet_server_addr", call: SysCall::One(|c, _| Ok(server_address(c).0)) },
    SysFn { name: "inet_server_port", call: SysCall::One(|c, _| Ok(server_address(c).1)) },
    SysFn {
        name: "pg_log_backend_memory_contexts",
        call: SysCall::One(|c, a| {
            let there = session(c, a[0].as_i32()).is_some();
            if !there {
                not_a_process(c, a[0].as_i32(), "server");
            }
            Ok(Datum::bool(there))
        }),
    },
];

fn server(state: &State) -> Option<Arc<Instance>> {
    state.server.as_ref().map(|(server, _)| server.clone())
}

fn session(state: &State, pid: i32) -> Option<Arc<SessionHandle>> {
    server(state)?.session(pid)
}

fn not_a_process(state: &mut State, pid: i32, kind: &str) {
    let message = format!("PID {pid} is not a PostgreSQL {kind} process");
    let warning = PgError::new(SqlState::WARNING, message).severity(Severity::Warning);
    state.notices.push(warning);
}

fn ids(state: &State) -> Vec<Vec<Datum>> {
    let sessions = server(state).map(|s| s.sessions()).unwrap_or_default();
    sessions.iter().map(|s| vec![Datum::int4(s.pid)]).collect()
}

fn backends_of(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    let database = args[0].as_oid();
    let sessions = server(state).map(|s| s.sessions()).unwrap_or_default();
    let count = sessions.iter().filter(|s| s.activity.get().database == database).count();
    Ok(Datum::int4(count as i32))
}

/// Address and port of this session's client.
fn own_address(state: &State) -> (Datum, Datum) {
    address_and_port(state.server.as_ref().and_then(|(_, own)| own.activity.get().address))
}

/// Local address and port of this session's connection.
fn server_address(state: &State) -> (Datum, Datum) {
    address_and_port(state.server.as_ref().and_then(|(_, own)| own.local))
}

/// NULL for Unix-domain sockets.
fn address_and_port(found: Option<(IpAddr, u16)>) -> (Datum, Datum) {
    match found {
        Some((address, port)) => (types::network::datum(address), Datum::int4(i32::from(port))),
        None => (Datum::Null, Datum::Null),
    }
}

fn time(micros: i64) -> Datum {
    if micros == 0 { Datum::Null } else { Datum::int8(micros) }
}

/// The running commands of a kind. Other users see only the session and its database.
fn progress(state: &mut State, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let name = super::text(args[0]);
    let known = ["VACUUM", "ANALYZE", "CLUSTER", "CREATE INDEX", "BASEBACKUP", "COPY"];
    if !known.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid command name: \"{name}\""));
    }
    let user = state.catalog.user;
    let all = state.roles.superuser || state.cat().is_member(user, READ_ALL_STATS, true)?;
    let mut rows = Vec::new();
    for running in state.backend.storage().stats.clone().progress(&name) {
        let own = session(state, running.pid).is_some_and(|s| s.activity.get().user == user);
        let mut row = vec![Datum::int4(running.pid), Datum::oid(running.database)];
        match all || own {
            true => {
                row.push(Datum::oid(running.relation));
                row.extend(running.parameters().map(Datum::int8));
            }
            false => row.resize(23, Datum::Null),
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Number of columns of `pg_stat_get_activity`.
const COLUMNS: usize = 30;

fn event(row: &mut [Datum], waiter: &Waiter) {
    if let Some(event) = waiter.current_event() {
        row[6] = Datum::text(event.class());
        row[7] = Datum::text(event.name());
    }
}

/// The function is not strict: NULL selects all sessions.
fn activity(state: &mut State, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let wanted = (!args[0].is_null()).then(|| args[0].as_i32());
    let Some(server) = server(state) else { return Ok(Vec::new()) };
    let user = state.catalog.user;
    let all = state.roles.superuser || state.cat().is_member(user, READ_ALL_STATS, true)?;
    let mut rows = Vec::new();
    for worker in server.workers() {
        if wanted.is_some_and(|pid| pid != worker.pid) {
            continue;
        }
        let mut row = vec![Datum::Null; COLUMNS];
        row[1] = Datum::int4(worker.pid);
        row[17] = Datum::text(worker.kind);
        if all {
            row[3] = Datum::text("");
            row[5] = Datum::text("");
            event(&mut row, &worker.waiter);
            row[10] = time(worker.start);
        } else {
            row[5] = Datum::text("<insufficient privilege>");
        }
        rows.push(row);
    }
    for session in server.sessions() {
        if wanted.is_some_and(|pid| pid != session.pid) {
            continue;
        }
        let shown = session.activity.get();
        let mut row = vec![Datum::Null; COLUMNS];
        if shown.database.is_valid() {
            row[0] = Datum::oid(shown.database);
        }
        row[1] = Datum::int4(session.pid);
        if shown.user.is_valid() {
            row[2] = Datum::oid(shown.user);
        }
        row[3] = Datum::text(&shown.application);
        row[17] = Datum::text(session.kind);
        if !all && (!shown.user.is_valid() || !state.cat().is_member(user, shown.user, true)?) {
            row[5] = Datum::text("<insufficient privilege>");
            rows.push(row);
            continue;
        }
        row[4] = shown.state.name().map_or(Datum::Null, Datum::text);
        row[5] = Datum::text(complete_characters(&shown.query));
        event(&mut row, &session.waiter);
        let running = !matches!(shown.state, activity::State::Disabled);
        if running {
            row[8] = time(shown.xact_start);
            row[9] = time(shown.query_start);
            row[11] = time(shown.state_since);
        }
        row[10] = time(shown.backend_start);
        row[14] = match shown.address {
            Some((address, port)) => {
                row[12] = types::network::datum(address);
                Datum::int4(i32::from(port))
            }
            None if session.is_client() => Datum::int4(-1),
            None => Datum::Null,
        };
        if let Some(proc) = shown.proc {
            let txns = &state.backend.storage().txns;
            let xids = [txns.xid_of_proc(proc), txns.xmin_of_proc(proc)];
            for (column, xid) in [15, 16].into_iter().zip(xids) {
                if xid.0 != 0 {
                    row[column] = Datum::Word(u64::from(xid.0));
                }
            }
        }
        row[18] = Datum::bool(shown.encryption.is_some());
        if let Some(encryption) = &shown.encryption {
            show_encryption(&mut row, encryption)?;
        }
        if shown.query_id != 0 {
            row[29] = Datum::int8(shown.query_id);
        }
        row[25] = Datum::bool(false);
        row[27] = Datum::bool(false);
        rows.push(row);
    }
    Ok(rows)
}

/// A number in decimal as a numeric.
pub(super) fn numeric(text: &str) -> Result<Datum> {
    let input = types::builtin::scalar("numeric_in")
        .ok_or_else(|| PgError::internal("numeric_in exists"))?;
    let (none, any) = (Datum::oid(ids::Oid::INVALID), Datum::int4(-1));
    let mut cx = types::BasicContext::default();
    input(&mut cx, &[DatumRef::Bytes(text.as_bytes()), none.as_ref(), any.as_ref()])
}

/// The columns of an encrypted connection.
fn show_encryption(row: &mut [Datum], encryption: &Encryption) -> Result<()> {
    row[19] = Datum::text(encryption.version);
    row[20] = Datum::text(encryption.cipher);
    row[21] = Datum::int4(i32::from(encryption.bits));
    let Some(client) = &encryption.client else { return Ok(()) };
    let text = |text: &str| if text.is_empty() { Datum::Null } else { Datum::text(text) };
    row[22] = text(&client.subject);
    row[23] = numeric(&client.serial)?;
    row[24] = text(&client.issuer);
    Ok(())
}

/// The text without an incomplete character at its end.
fn complete_characters(query: &[u8]) -> &str {
    match std::str::from_utf8(query) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&query[..e.valid_up_to()]).unwrap_or_default(),
    }
}

fn target(state: &mut State, pid: i32, what: &str) -> Result<Option<Arc<SessionHandle>>> {
    let Some(found) = session(state, pid) else {
        not_a_process(state, pid, "backend");
        return Ok(None);
    };
    let role = found.activity.get().user;
    may_signal(state, role, what)?;
    Ok(Some(found))
}

fn cancel(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    let Some(session) = target(state, args[0].as_i32(), "cancel")? else {
        return Ok(Datum::bool(false));
    };
    session.cancel();
    // If the target is this session, the interrupt ends the statement here, as a signal would.
    state.backend.check_interrupts()?;
    Ok(Datum::bool(true))
}

fn terminate(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    let pid = args[0].as_i32();
    let timeout = args.get(1).map_or(0, |t| t.as_i64());
    let Ok(timeout) = u64::try_from(timeout) else {
        return Err(pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "\"timeout\" must not be negative"));
    };
    let Some(session) = target(state, pid, "terminate")? else { return Ok(Datum::bool(false)) };
    session.terminate();
    state.backend.check_interrupts()?;
    if timeout == 0 {
        return Ok(Datum::bool(true));
    }
    let deadline = Deadline::after(Duration::from_millis(timeout));
    loop {
        let there = server(state).and_then(|s| s.session(pid));
        if there.is_none_or(|s| !Arc::ptr_eq(&s, &session)) {
            return Ok(Datum::bool(true));
        }
        state.backend.check_interrupts()?;
        if deadline.is_some_and(Deadline::has_passed) {
            let message =
                format!("backend with PID {pid} did not terminate within {timeout} milliseconds");
            let warning = PgError::new(SqlState::WARNING, message).severity(Severity::Warning);
            state.notices.push(warning);
            return Ok(Datum::bool(false));
        }
        // As in PostgreSQL, this polls every 100 ms.
        let next = Deadline::after(Duration::from_millis(100));
        if state.backend.waiter().park(WaitEvent::BackendTermination, next) == Woken::Interrupted {
            state.backend.check_interrupts()?;
        }
    }
}
