//! Functions on transactions and snapshots with 64-bit ids. Counterpart: utils/adt/xid8funcs.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use ids::Xid;
use pgerror::{Result, pg_err};
use types::Datum;
use types::xid_snapshot::XidSnapshot;

/// The snapshot of the running statement.
fn current(core: &mut dyn SystemHost) -> XidSnapshot {
    let snapshot = match core.backend().active_snapshot() {
        Some(s) => s.clone(),
        None => core.backend().snapshot(),
    };
    let manager = core.backend().txn.manager();
    let wide = |x: Xid| manager.widen(x).0;
    let mut running: Vec<u64> = snapshot.xip.iter().map(|&x| wide(x)).collect();
    running.sort_unstable();
    running.dedup();
    XidSnapshot { xmin: wide(snapshot.xmin), xmax: wide(snapshot.xmax), running }
}

/// `pg_xact_status`: committed, aborted or in progress; NULL if the status is no longer stored.
fn status(core: &mut dyn SystemHost, xid: i64) -> Result<Datum> {
    let xid = xid as u64;
    let manager = core.backend().txn.manager();
    if xid >= manager.next_full_xid().0 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "transaction ID {xid} is in the future"));
    }
    let narrow = Xid(xid as u32);
    if !narrow.is_normal() {
        return Ok(match narrow.0 {
            0 => Datum::Null,
            _ => Datum::text("committed"),
        });
    }
    let oldest = super::wal::control(core)?.get().check_point_copy.oldest_xid;
    let manager = core.backend().txn.manager();
    if xid < manager.widen(oldest).0 {
        return Ok(Datum::Null);
    }
    if core.backend().txn.is_current(narrow)
        || core.backend().txn.manager().is_in_progress(narrow)?
    {
        return Ok(Datum::text("in progress"));
    }
    Ok(Datum::text(match core.backend().txn.manager().did_commit(narrow)? {
        true => "committed",
        false => "aborted",
    }))
}

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_current_snapshot", call: SysCall::One(|c, _| Ok(current(c).datum())) },
    SysFn { name: "pg_xact_status", call: SysCall::One(|c, a| status(c, a[0].as_i64())) },
    SysFn { name: "pg_xact_commit_timestamp", call: SysCall::One(|_, _| Err(no_timestamps())) },
    SysFn { name: "pg_last_committed_xact", call: SysCall::Set(|_, _| Err(no_timestamps())) },
    SysFn {
        name: "pg_xact_commit_timestamp_origin",
        call: SysCall::Set(|_, _| Err(no_timestamps())),
    },
];

fn no_timestamps() -> pgerror::PgError {
    pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "could not get commit timestamp data")
        .hint("Make sure the configuration parameter \"track_commit_timestamp\" is set.")
}
