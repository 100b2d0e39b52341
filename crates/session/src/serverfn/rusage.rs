//! The rows of `norsu_stat_rusage`.

use super::{SysCall, SysFn};
use crate::state::State;
use catalog::acl::roles::READ_ALL_STATS;
use client::rusage::{Reading, Times};
use pgerror::Result;
use types::Datum;
use vfs::process;

pub(super) const FNS: &[SysFn] =
    &[SysFn { name: "norsu_stat_get_rusage", call: SysCall::Set(|c, _| rusage(c)) }];

fn times(times: Option<Times>) -> [Datum; 2] {
    match times {
        Some(t) => [t.user, t.system].map(|d| Datum::float8(d.as_micros() as f64 / 1000.0)),
        None => [Datum::Null, Datum::Null],
    }
}

/// A row of the view. Without a reading (no privilege), the numbers are NULL.
fn row(pid: i32, kind: &str, seen: Option<Reading>) -> Vec<Datum> {
    let mut row = vec![Datum::int4(pid), Datum::text(kind)];
    row.extend(times(seen.and_then(|r| r.total)));
    let last = seen.and_then(|r| r.last);
    row.push(seen.and_then(|r| r.queries).map_or(Datum::Null, |n| Datum::int8(n as i64)));
    row.extend(times(last));
    row
}

/// Rows for the process, for background threads and for sessions.
fn rusage(state: &mut State) -> Result<Vec<Vec<Datum>>> {
    let Some(server) = state.server.as_ref().map(|(server, _)| server.clone()) else {
        return Ok(Vec::new());
    };
    let user = state.catalog.user;
    let all = state.roles.superuser || state.cat().is_member(user, READ_ALL_STATS, true)?;
    let whole = Reading { total: Some(process::process_usage().into()), queries: None, last: None };
    let mut rows = vec![row(std::process::id() as i32, "server process", all.then_some(whole))];
    for worker in server.workers() {
        rows.push(row(
            worker.pid,
            worker.kind,
            all.then(|| Reading { queries: None, ..worker.meter.read() }),
        ));
    }
    for session in server.sessions() {
        let owner = session.activity.get().user;
        let own = owner.is_valid() && state.cat().is_member(user, owner, true)?;
        let seen = (all || own).then(|| session.meter.read());
        rows.push(row(session.pid, session.kind, seen));
    }
    Ok(rows)
}
