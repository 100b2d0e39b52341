//! Statistics of WAL, checkpoints, background writer and archiver since their last reset.
//! Counterpart: utils/activity/pgstat_wal.c, pgstat_bgwriter.c, pgstat_checkpointer.c,
//! pgstat_archiver.c.
//!
//! The counters themselves are never reset. A reset stores their current values, and the views show
//! the differences.

use super::{SysCall, SysFn, text};
use crate::core::Core;
use crate::resets::{BACKGROUND_COUNTERS, Resets};
use engine::WalStats;
use pgerror::{Result, pg_err};
use std::array;
use std::sync::atomic::Ordering;
use types::{Datum, DatumRef};

/// A counter of `pg_stat_bgwriter`.
#[derive(Clone, Copy)]
enum Background {
    Timed,
    Requested,
    WriteTime,
    SyncTime,
    WrittenCheckpoint,
    WrittenClean,
    MaxWritten,
    WrittenBackend,
    Allocated,
}

fn resets<R>(core: &Core, read: impl FnOnce(&mut Resets) -> R) -> R {
    match &core.server {
        Some((server, _)) => read(&mut server.resets.lock()),
        None => read(&mut Resets::default()),
    }
}

fn since(core: &Core, reset: Option<i64>) -> Datum {
    reset.map_or_else(|| super::settings::started(core), Datum::int8)
}

fn wal(core: &Core) -> Result<Vec<Vec<Datum>>> {
    let now = core.backend.storage().wal.stats();
    let (before, reset) = match resets(core, |r| r.wal) {
        Some((before, at)) => (before, Some(at)),
        None => (WalStats::default(), None),
    };
    let count = |get: fn(&WalStats) -> u64| Datum::int8((get(&now) - get(&before)) as i64);
    let millis =
        |get: fn(&WalStats) -> u64| Datum::float8((get(&now) - get(&before)) as f64 / 1000.0);
    let numeric = types::builtin::scalar("int8_numeric")
        .ok_or_else(|| pgerror::PgError::internal("int8_numeric exists"))?;
    let mut cx = types::BasicContext::default();
    Ok(vec![vec![
        count(|s| s.records),
        count(|s| s.fpi),
        numeric(&mut cx, &[count(|s| s.bytes).as_ref()])?,
        count(|s| s.buffers_full),
        count(|s| s.write),
        count(|s| s.sync),
        millis(|s| s.write_time_us),
        millis(|s| s.sync_time_us),
        since(core, reset),
    ]])
}

fn background(core: &Core) -> [u64; BACKGROUND_COUNTERS] {
    let storage = core.backend.storage();
    let (done, pool) = (&storage.background, storage.pool.stats());
    [
        done.timed.load(Ordering::Relaxed),
        done.requested.load(Ordering::Relaxed),
        done.write_time_ms.load(Ordering::Relaxed),
        done.sync_time_ms.load(Ordering::Relaxed),
        done.buffers_checkpoint.load(Ordering::Relaxed),
        pool.written_by_background,
        done.maxwritten.load(Ordering::Relaxed),
        pool.written_by_sessions,
        pool.allocated,
    ]
}

/// The value of a counter since its last reset.
fn counted(core: &Core, what: Background) -> u64 {
    let before = resets(core, |r| r.background).map_or(0, |(before, _)| before[what as usize]);
    background(core)[what as usize].saturating_sub(before)
}

macro_rules! background {
    ($name:literal, $what:ident) => {
        SysFn {
            name: $name,
            call: SysCall::One(|c, _| Ok(Datum::int8(counted(c, Background::$what) as i64))),
        }
    };
    ($name:literal, $what:ident, milliseconds) => {
        SysFn {
            name: $name,
            call: SysCall::One(|c, _| Ok(Datum::float8(counted(c, Background::$what) as f64))),
        }
    };
}

fn archiver(core: &Core) -> Vec<Vec<Datum>> {
    let reset = resets(core, |r| r.archiver);
    // WAL archiving is not implemented.
    let (zero, none) = (Datum::int8(0), [Datum::Null, Datum::Null]);
    let counter = || array::from_ref(&zero).iter().chain(&none).cloned();
    vec![counter().chain(counter()).chain([since(core, reset)]).collect()]
}

fn reset(core: &mut Core, target: &str) -> Result<Datum> {
    let now = core.now();
    match target {
        "archiver" => resets(core, |r| r.archiver = Some(now)),
        "bgwriter" => {
            let counted = background(core);
            resets(core, |r| r.background = Some((counted, now)));
        }
        "wal" => {
            let counted = core.backend.storage().wal.stats();
            resets(core, |r| r.wal = Some((counted, now)));
        }
        // There is no prefetching in recovery.
        "recovery_prefetch" => {}
        _ => {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "unrecognized reset target: \"{target}\""
            )
            .hint(
                "Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".",
            ));
        }
    }
    Ok(Datum::Word(0))
}

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_stat_get_wal", call: SysCall::Set(|c, _| wal(c)) },
    SysFn { name: "pg_stat_get_archiver", call: SysCall::Set(|c, _| Ok(archiver(c))) },
    background!("pg_stat_get_bgwriter_timed_checkpoints", Timed),
    background!("pg_stat_get_bgwriter_requested_checkpoints", Requested),
    background!("pg_stat_get_checkpoint_write_time", WriteTime, milliseconds),
    background!("pg_stat_get_checkpoint_sync_time", SyncTime, milliseconds),
    background!("pg_stat_get_bgwriter_buf_written_checkpoints", WrittenCheckpoint),
    background!("pg_stat_get_bgwriter_buf_written_clean", WrittenClean),
    background!("pg_stat_get_bgwriter_maxwritten_clean", MaxWritten),
    background!("pg_stat_get_buf_written_backend", WrittenBackend),
    background!("pg_stat_get_buf_alloc", Allocated),
    SysFn {
        name: "pg_stat_get_bgwriter_stat_reset_time",
        call: SysCall::One(|c, _| Ok(since(c, resets(c, |r| r.background.map(|(_, at)| at))))),
    },
    SysFn {
        name: "pg_stat_reset_shared",
        call: SysCall::One(|c, a: &[DatumRef<'_>]| reset(c, &text(a[0]))),
    },
];
