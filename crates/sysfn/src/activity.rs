//! Advisory lock, session and statistics functions. Counterpart: utils/adt/lockfuncs.c,
//! utils/adt/pgstatfuncs.c.
//!
//! Counters that are not implemented are zero, and times of events that have not occurred are NULL,
//! as on an idle server.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use lmgr::{Acquired, LockMode, LockTag, LockTagKind, WaitPolicy};
use pgerror::{PgError, Result};
use types::{Datum, DatumRef};

fn void() -> Result<Datum> {
    Ok(Datum::Word(0))
}

/// The lock tag of one or two keys.
fn advisory(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> LockTag {
    let database = core.backend().database();
    match args {
        [a, b] => LockTag::advisory_ints(database, a.as_i32(), b.as_i32()),
        _ => LockTag::advisory_bigint(database, args.first().map_or(0, |a| a.as_i64())),
    }
}

fn session(core: &mut dyn SystemHost, args: &[DatumRef<'_>], mode: LockMode) -> Result<Datum> {
    let tag = advisory(core, args);
    core.backend().session_lock(tag, mode, WaitPolicy::Wait)?;
    void()
}

fn try_session(core: &mut dyn SystemHost, args: &[DatumRef<'_>], mode: LockMode) -> Result<Datum> {
    let tag = advisory(core, args);
    let got = core.backend().session_lock(tag, mode, WaitPolicy::Try)?;
    Ok(Datum::bool(got != Acquired::NotAvailable))
}

fn transaction(core: &mut dyn SystemHost, args: &[DatumRef<'_>], mode: LockMode) -> Result<Datum> {
    let tag = advisory(core, args);
    core.backend().lock(tag, mode)?;
    void()
}

fn try_transaction(
    core: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    mode: LockMode,
) -> Result<Datum> {
    let tag = advisory(core, args);
    let got = core.backend().try_lock(tag, mode)?;
    Ok(Datum::bool(got != Acquired::NotAvailable))
}

fn unlock(core: &mut dyn SystemHost, args: &[DatumRef<'_>], mode: LockMode) -> Result<Datum> {
    let tag = advisory(core, args);
    let held = core.backend().session_unlock(tag, mode);
    if !held {
        let text = format!("you don't own a lock of type {}", mode.name());
        let notice = PgError::new(pgerror::SqlState::WARNING, text);
        core.notice(notice.severity(pgerror::Severity::Warning));
    }
    Ok(Datum::bool(held))
}

/// The exclusive and the shared form of an advisory lock function, with one key or two.
macro_rules! advisory {
    ($($name:literal, $shared:literal, $f:path;)*) => {
        &[$(
            SysFn {
                name: concat!($name, "_int8"),
                call: SysCall::One(|c, a| $f(c, a, LockMode::Exclusive)),
            },
            SysFn {
                name: concat!($name, "_int4"),
                call: SysCall::One(|c, a| $f(c, a, LockMode::Exclusive)),
            },
            SysFn {
                name: concat!($shared, "_int8"),
                call: SysCall::One(|c, a| $f(c, a, LockMode::Share)),
            },
            SysFn {
                name: concat!($shared, "_int4"),
                call: SysCall::One(|c, a| $f(c, a, LockMode::Share)),
            },
        )*]
    };
}

pub(super) const ADVISORY: &[SysFn] = advisory! {
    "pg_advisory_lock", "pg_advisory_lock_shared", session;
    "pg_try_advisory_lock", "pg_try_advisory_lock_shared", try_session;
    "pg_advisory_xact_lock", "pg_advisory_xact_lock_shared", transaction;
    "pg_try_advisory_xact_lock", "pg_try_advisory_xact_lock_shared", try_transaction;
    "pg_advisory_unlock", "pg_advisory_unlock_shared", unlock;
};

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_advisory_unlock_all",
        call: SysCall::One(|c, _| {
            c.backend().txn.locks().release_session_advisory();
            void()
        }),
    },
    SysFn { name: "pg_lock_status", call: SysCall::Set(|c, _| Ok(locks(c))) },
    SysFn {
        name: "pg_blocking_pids",
        call: SysCall::One(|c, a| {
            let pids = c.backend().storage().locks.blocking_pids(a[0].as_i32());
            let pids: Vec<Datum> = pids.into_iter().map(Datum::int4).collect();
            types::array::of_builtin(types::oids::INT4, &pids)
        }),
    },
    // For the isolation tester: true if one of the sessions `a[1]` blocks `a[0]`.
    SysFn {
        name: "pg_isolation_test_session_is_blocked",
        call: SysCall::One(|c, a| {
            let blockers = c.backend().storage().locks.blocking_pids(a[0].as_i32());
            let int4 = types::builtin_types::get(types::oids::INT4)
                .ok_or_else(|| PgError::internal("int4 is a type"))?;
            let asked = types::array::ArrayRef::new(a[1])?;
            if asked.contains_null() {
                return Err(PgError::internal("array must not contain nulls"));
            }
            let mut asked = asked.iter(&int4.info);
            Ok(Datum::bool(asked.any(|pid| blockers.contains(&pid.as_i32()))))
        }),
    },
    SysFn { name: "pg_prepared_xact", call: SysCall::Set(|c, _| Ok(prepared(c))) },
    // Replication slots and origins are not implemented.
    SysFn { name: "pg_get_replication_slots", call: SysCall::Set(|_, _| Ok(Vec::new())) },
    SysFn { name: "pg_show_replication_origin_status", call: SysCall::Set(|_, _| Ok(Vec::new())) },
];

/// The rows of `pg_prepared_xacts`.
fn prepared(core: &mut dyn SystemHost) -> Vec<Vec<Datum>> {
    let row = |p: engine::PreparedRow| {
        vec![
            Datum::Word(u64::from(p.xid.0)),
            Datum::text(&p.gid),
            Datum::int8(p.prepared_at),
            Datum::oid(p.owner),
            Datum::oid(p.database),
        ]
    };
    core.backend().storage().two_phase.rows().into_iter().map(row).collect()
}

/// The rows of `pg_locks`.
fn locks(core: &mut dyn SystemHost) -> Vec<Vec<Datum>> {
    let rows = core.backend().storage().locks.rows();
    let now = core.clock_timestamp();
    let word = |v: u32| Datum::Word(u64::from(v));
    rows.into_iter()
        .map(|r| {
            let t = r.tag;
            let mut row = vec![Datum::Null; 16];
            row[0] = Datum::text(t.kind.name());
            let vxid =
                |backend: u32, local: u32| Datum::text(&format!("{}/{local}", backend as i32));
            match t.kind {
                LockTagKind::Relation
                | LockTagKind::RelationExtend
                | LockTagKind::Page
                | LockTagKind::Tuple => {
                    row[1] = word(t.field1);
                    row[2] = word(t.field2);
                    if matches!(t.kind, LockTagKind::Page | LockTagKind::Tuple) {
                        row[3] = Datum::int4(t.field3 as i32);
                    }
                    if t.kind == LockTagKind::Tuple {
                        row[4] = Datum::int2(t.field4 as i16);
                    }
                }
                LockTagKind::DatabaseFrozenIds => row[1] = word(t.field1),
                LockTagKind::Transaction => row[6] = word(t.field1),
                LockTagKind::VirtualTransaction => row[5] = vxid(t.field1, t.field2),
                LockTagKind::SpeculativeToken => {
                    row[6] = word(t.field1);
                    row[8] = word(t.field2);
                }
                _ => {
                    row[1] = word(t.field1);
                    row[7] = word(t.field2);
                    row[8] = word(t.field3);
                    row[9] = Datum::int2(t.field4 as i16);
                }
            }
            row[10] = vxid(r.vxid.backend.0, r.vxid.local);
            if r.pid != 0 {
                row[11] = Datum::int4(r.pid);
            }
            row[12] = Datum::text(r.mode.name());
            row[13] = Datum::bool(r.granted);
            row[14] = Datum::bool(r.fast_path);
            if let Some(waited) = r.waited {
                row[15] = Datum::int8(now - waited.as_micros() as i64);
            }
            row
        })
        .collect()
}

/// Statistics functions without an implementation: they return the values of an idle server.
pub(super) fn idle_value(prosrc: &str) -> Option<SysCall> {
    let rest = prosrc.strip_prefix("pg_stat_get_")?;
    const SETS: &[&str] = &["wal_senders", "recovery_prefetch"];
    const RECORDS: &[&str] = &[
        "wal",
        "archiver",
        "wal_receiver",
        "replication_slot",
        "subscription",
        "subscription_stats",
    ];
    if SETS.contains(&rest) {
        return Some(SysCall::Set(|_, _| Ok(Vec::new())));
    }
    if RECORDS.contains(&rest) {
        return None;
    }
    let never = rest.starts_with("last_")
        || rest.ends_with("_stat_reset_time")
        || rest.starts_with("backend_")
        || rest.starts_with("function_")
        || rest.starts_with("xact_function_")
        || rest.contains("checksum")
        || rest == "snapshot_timestamp";
    Some(match never {
        true => SysCall::One(|_, _| Ok(Datum::Null)),
        // Zero as an integer and as a floating-point number.
        false => SysCall::One(|_, _| Ok(Datum::Word(0))),
    })
}
