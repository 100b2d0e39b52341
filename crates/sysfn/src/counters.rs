//! Statistics of WAL, checkpoints, background writer and archiver since their last reset.
//! Counterpart: utils/activity/pgstat_wal.c, pgstat_bgwriter.c, pgstat_checkpointer.c,
//! pgstat_archiver.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use engine::statistics::{FixedKind, fixed, reset_fixed};
use pgerror::{Result, pg_err};
use stats::Fixed;
use types::{Datum, DatumRef};

fn now(core: &mut dyn SystemHost) -> Fixed {
    fixed(core.backend().storage())
}

fn wal(core: &mut dyn SystemHost) -> Result<Vec<Vec<Datum>>> {
    let [records, images, bytes, full, writes, syncs, write_us, sync_us, reset] = now(core).wal;
    let numeric = types::builtin::scalar("int8_numeric")
        .ok_or_else(|| pgerror::PgError::internal("int8_numeric exists"))?;
    let mut cx = types::BasicContext::default();
    let millis = |micros: i64| Datum::float8(micros as f64 / 1000.0);
    Ok(vec![vec![
        Datum::int8(records),
        Datum::int8(images),
        numeric(&mut cx, &[Datum::int8(bytes).as_ref()])?,
        Datum::int8(full),
        Datum::int8(writes),
        Datum::int8(syncs),
        millis(write_us),
        millis(sync_us),
        Datum::int8(reset),
    ]])
}

/// An entry for a counter of the background writer or the checkpointer.
macro_rules! background {
    ($name:literal, $part:ident[$n:literal]) => {
        SysFn { name: $name, call: SysCall::One(|c, _| Ok(Datum::int8(now(c).$part[$n]))) }
    };
    ($name:literal, $part:ident[$n:literal], float) => {
        SysFn { name: $name, call: SysCall::One(|c, _| Ok(Datum::float8(now(c).$part[$n] as f64))) }
    };
}

/// The archiver's counters, which only PostgreSQL counts: WAL archiving is not implemented.
fn archiver(core: &mut dyn SystemHost) -> Vec<Vec<Datum>> {
    let bytes = now(core).archiver;
    let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| i64::from_le_bytes(*word));
    let name = |at: usize| {
        let name: Vec<u8> = bytes[at..at + 40].iter().copied().take_while(|b| *b != 0).collect();
        String::from_utf8_lossy(&name).into_owned()
    };
    let half = |at: usize| {
        let (count, name, time) = (word(at), name(at + 8), word(at + 56));
        let time = if time == 0 { Datum::Null } else { Datum::int8(time) };
        let name = if name.is_empty() { Datum::Null } else { Datum::text(&name) };
        [Datum::int8(count), name, time]
    };
    vec![half(0).into_iter().chain(half(64)).chain([Datum::int8(word(128))]).collect()]
}

fn reset(core: &mut dyn SystemHost, target: &str) -> Result<Datum> {
    let what = match target {
        "archiver" => FixedKind::Archiver,
        "bgwriter" => FixedKind::BackgroundWriter,
        "wal" => FixedKind::Wal,
        // There is no prefetching in recovery.
        "recovery_prefetch" => return Ok(Datum::Word(0)),
        _ => {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "unrecognized reset target: \"{target}\""
            )
            .hint(
                "Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".",
            ));
        }
    };
    let now = core.backend().storage().env.clock.pg_micros();
    reset_fixed(core.backend().storage(), what, now);
    Ok(Datum::Word(0))
}

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_stat_get_wal", call: SysCall::Set(|c, _| wal(c)) },
    SysFn { name: "pg_stat_get_archiver", call: SysCall::Set(|c, _| Ok(archiver(c))) },
    background!("pg_stat_get_bgwriter_timed_checkpoints", checkpointer[0]),
    background!("pg_stat_get_bgwriter_requested_checkpoints", checkpointer[1]),
    background!("pg_stat_get_checkpoint_write_time", checkpointer[2], float),
    background!("pg_stat_get_checkpoint_sync_time", checkpointer[3], float),
    background!("pg_stat_get_bgwriter_buf_written_checkpoints", checkpointer[4]),
    background!("pg_stat_get_bgwriter_buf_written_clean", bgwriter[0]),
    background!("pg_stat_get_bgwriter_maxwritten_clean", bgwriter[1]),
    background!("pg_stat_get_buf_written_backend", checkpointer[5]),
    background!("pg_stat_get_buf_alloc", bgwriter[2]),
    SysFn {
        name: "pg_stat_get_bgwriter_stat_reset_time",
        call: SysCall::One(|c, _| Ok(Datum::int8(now(c).bgwriter[3]))),
    },
    SysFn {
        name: "pg_stat_reset_shared",
        call: SysCall::One(|c, a: &[DatumRef<'_>]| reset(c, &text(a[0]))),
    },
];
