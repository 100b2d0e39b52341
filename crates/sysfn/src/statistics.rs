//! Functions on the cumulative statistics of relations, databases and functions.
//! Counterpart: utils/adt/pgstatfuncs.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use engine::StatsKind;
use ids::Oid;
use pgerror::{Result, pg_err};
use stats::{
    DatabaseField as D, DatabaseStats, FunctionField as F, FunctionStats, Key, Pending,
    RelationField as R, RelationStats,
};
use types::{Datum, DatumRef};

fn void() -> Result<Datum> {
    Ok(Datum::Word(0))
}

fn relation(core: &mut dyn SystemHost, oid: Oid) -> Option<RelationStats> {
    let clock = core.backend().storage().env.clock.clone();
    core.backend().stats.fetch_relation(oid, &|| clock.pg_micros())
}

fn database(core: &mut dyn SystemHost, oid: Oid) -> Option<DatabaseStats> {
    let clock = core.backend().storage().env.clock.clone();
    core.backend().stats.fetch_database(oid, &|| clock.pg_micros())
}

fn function(core: &mut dyn SystemHost, oid: Oid) -> Option<FunctionStats> {
    let clock = core.backend().storage().env.clock.clone();
    core.backend().stats.fetch_function(oid, &|| clock.pg_micros())
}

fn of_relation(core: &mut dyn SystemHost, args: &[DatumRef<'_>], field: R) -> Result<Datum> {
    Ok(Datum::int8(relation(core, args[0].as_oid()).map_or(0, |values| values[field])))
}

/// NULL for an event that never occurred.
fn time(micros: i64) -> Datum {
    if micros == 0 { Datum::Null } else { Datum::int8(micros) }
}

fn relation_time(core: &mut dyn SystemHost, args: &[DatumRef<'_>], field: R) -> Result<Datum> {
    Ok(time(relation(core, args[0].as_oid()).map_or(0, |values| values[field])))
}

/// A count of this session that has not been flushed.
fn unflushed(
    core: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    count: fn(&Pending) -> i64,
) -> Result<Datum> {
    let counts = core.backend().stats.unflushed(args[0].as_oid());
    Ok(Datum::int8(counts.as_ref().map_or(0, count)))
}

fn of_database(core: &mut dyn SystemHost, args: &[DatumRef<'_>], field: D) -> Result<Datum> {
    Ok(Datum::int8(database(core, args[0].as_oid()).map_or(0, |values| values[field])))
}

fn database_millis(core: &mut dyn SystemHost, args: &[DatumRef<'_>], field: D) -> Result<Datum> {
    let micros = database(core, args[0].as_oid()).map_or(0, |values| values[field]);
    Ok(Datum::float8(micros as f64 / 1000.0))
}

/// A count or a time of a function; NULL if it was never called.
fn of_function(values: Option<FunctionStats>, field: F) -> Result<Datum> {
    Ok(match (values, field) {
        (None, _) => Datum::Null,
        (Some(values), F::Calls) => Datum::int8(values[field]),
        (Some(values), _) => Datum::float8(values[field] as f64 / 1000.0),
    })
}

/// An entry for a function that returns a field.
macro_rules! value {
    ($name:literal, $function:ident, $field:expr) => {
        SysFn { name: $name, call: SysCall::One(|c, a| $function(c, a, $field)) }
    };
}

/// An entry for a function that returns a count that has not been flushed.
macro_rules! xact {
    ($name:literal, $count:ident) => {
        SysFn { name: $name, call: SysCall::One(|c, a| unflushed(c, a, |n| n.$count)) }
    };
}

pub(super) const RELATIONS: &[SysFn] = &[
    value!("pg_stat_get_numscans", of_relation, R::Scans),
    xact!("pg_stat_get_xact_numscans", scans),
    value!("pg_stat_get_tuples_returned", of_relation, R::Returned),
    xact!("pg_stat_get_xact_tuples_returned", returned),
    value!("pg_stat_get_tuples_fetched", of_relation, R::Fetched),
    xact!("pg_stat_get_xact_tuples_fetched", fetched),
    value!("pg_stat_get_tuples_inserted", of_relation, R::Inserted),
    xact!("pg_stat_get_xact_tuples_inserted", inserted),
    value!("pg_stat_get_tuples_updated", of_relation, R::Updated),
    xact!("pg_stat_get_xact_tuples_updated", updated),
    value!("pg_stat_get_tuples_deleted", of_relation, R::Deleted),
    xact!("pg_stat_get_xact_tuples_deleted", deleted),
    value!("pg_stat_get_tuples_hot_updated", of_relation, R::HotUpdated),
    xact!("pg_stat_get_xact_tuples_hot_updated", hot_updated),
    value!("pg_stat_get_live_tuples", of_relation, R::Live),
    value!("pg_stat_get_dead_tuples", of_relation, R::Dead),
    value!("pg_stat_get_mod_since_analyze", of_relation, R::ChangedSinceAnalyze),
    value!("pg_stat_get_ins_since_vacuum", of_relation, R::InsertedSinceVacuum),
    value!("pg_stat_get_blocks_fetched", of_relation, R::BlocksFetched),
    xact!("pg_stat_get_xact_blocks_fetched", blocks_fetched),
    value!("pg_stat_get_blocks_hit", of_relation, R::BlocksHit),
    xact!("pg_stat_get_xact_blocks_hit", blocks_hit),
    value!("pg_stat_get_vacuum_count", of_relation, R::VacuumCount),
    value!("pg_stat_get_autovacuum_count", of_relation, R::AutovacuumCount),
    value!("pg_stat_get_analyze_count", of_relation, R::AnalyzeCount),
    value!("pg_stat_get_autoanalyze_count", of_relation, R::AutoanalyzeCount),
    value!("pg_stat_get_last_vacuum_time", relation_time, R::VacuumTime),
    value!("pg_stat_get_last_autovacuum_time", relation_time, R::AutovacuumTime),
    value!("pg_stat_get_last_analyze_time", relation_time, R::AnalyzeTime),
    value!("pg_stat_get_last_autoanalyze_time", relation_time, R::AutoanalyzeTime),
];

pub(super) const DATABASES: &[SysFn] = &[
    value!("pg_stat_get_db_xact_commit", of_database, D::Commits),
    value!("pg_stat_get_db_xact_rollback", of_database, D::Rollbacks),
    value!("pg_stat_get_db_blocks_fetched", of_database, D::BlocksFetched),
    value!("pg_stat_get_db_blocks_hit", of_database, D::BlocksHit),
    value!("pg_stat_get_db_tuples_returned", of_database, D::Returned),
    value!("pg_stat_get_db_tuples_fetched", of_database, D::Fetched),
    value!("pg_stat_get_db_tuples_inserted", of_database, D::Inserted),
    value!("pg_stat_get_db_tuples_updated", of_database, D::Updated),
    value!("pg_stat_get_db_tuples_deleted", of_database, D::Deleted),
    value!("pg_stat_get_db_temp_files", of_database, D::TempFiles),
    value!("pg_stat_get_db_temp_bytes", of_database, D::TempBytes),
    value!("pg_stat_get_db_conflict_tablespace", of_database, D::TablespaceConflicts),
    value!("pg_stat_get_db_conflict_lock", of_database, D::LockConflicts),
    value!("pg_stat_get_db_conflict_snapshot", of_database, D::SnapshotConflicts),
    value!("pg_stat_get_db_conflict_bufferpin", of_database, D::BufferpinConflicts),
    value!("pg_stat_get_db_conflict_startup_deadlock", of_database, D::DeadlockConflicts),
    value!("pg_stat_get_db_deadlocks", of_database, D::Deadlocks),
    value!("pg_stat_get_db_sessions", of_database, D::Sessions),
    value!("pg_stat_get_db_sessions_abandoned", of_database, D::Abandoned),
    value!("pg_stat_get_db_sessions_fatal", of_database, D::Fatal),
    value!("pg_stat_get_db_sessions_killed", of_database, D::Killed),
    value!("pg_stat_get_db_blk_read_time", database_millis, D::BlockReadTime),
    value!("pg_stat_get_db_blk_write_time", database_millis, D::BlockWriteTime),
    value!("pg_stat_get_db_session_time", database_millis, D::SessionTime),
    value!("pg_stat_get_db_active_time", database_millis, D::ActiveTime),
    value!("pg_stat_get_db_idle_in_transaction_time", database_millis, D::IdleInTransactionTime),
    SysFn {
        name: "pg_stat_get_db_conflict_all",
        call: SysCall::One(|c, a| {
            const ALL: [D; 5] = [
                D::TablespaceConflicts,
                D::LockConflicts,
                D::SnapshotConflicts,
                D::BufferpinConflicts,
                D::DeadlockConflicts,
            ];
            let values = database(c, a[0].as_oid()).unwrap_or_default();
            Ok(Datum::int8(ALL.iter().map(|field| values[*field]).sum()))
        }),
    },
    SysFn {
        name: "pg_stat_get_db_stat_reset_time",
        call: SysCall::One(|c, a| {
            Ok(time(database(c, a[0].as_oid()).map_or(0, |values| values[D::ResetTime])))
        }),
    },
];

/// The kind of an entry, by its name.
fn kind(name: &str) -> Result<Option<StatsKind>> {
    Ok(match name {
        "database" => Some(StatsKind::Database),
        "relation" => Some(StatsKind::Relation),
        "function" => Some(StatsKind::Function),
        "replslot" => Some(StatsKind::ReplicationSlot),
        "subscription" => Some(StatsKind::Subscription),
        "archiver" | "bgwriter" | "checkpointer" | "slru" | "wal" => None,
        _ => {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid statistics kind: \"{name}\""));
        }
    })
}

fn have_stats(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let found = match kind(&text(args[0]))? {
        // Counters that do not belong to an object always exist.
        None => true,
        Some(kind) => {
            let key = Key { database: args[1].as_oid(), object: args[2].as_oid() };
            core.backend().storage().stats.exists(kind, key)
        }
    };
    Ok(Datum::bool(found))
}

fn reset_one(core: &mut dyn SystemHost, kind: StatsKind, object: Oid) -> Result<Datum> {
    let now = core.clock_timestamp();
    let is_shared = kind == StatsKind::Relation && catalog::write::is_shared_catalog(object);
    let key = core.backend().stats.key(object, is_shared);
    core.backend().storage().stats.reset_object(kind, key, now);
    void()
}

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_stat_get_function_calls",
        call: SysCall::One(|c, a| of_function(function(c, a[0].as_oid()), F::Calls)),
    },
    SysFn {
        name: "pg_stat_get_function_total_time",
        call: SysCall::One(|c, a| of_function(function(c, a[0].as_oid()), F::TotalTime)),
    },
    SysFn {
        name: "pg_stat_get_function_self_time",
        call: SysCall::One(|c, a| of_function(function(c, a[0].as_oid()), F::SelfTime)),
    },
    SysFn {
        name: "pg_stat_get_xact_function_calls",
        call: SysCall::One(|c, a| {
            of_function(c.backend().stats.unflushed_function(a[0].as_oid()), F::Calls)
        }),
    },
    SysFn {
        name: "pg_stat_get_xact_function_total_time",
        call: SysCall::One(|c, a| {
            of_function(c.backend().stats.unflushed_function(a[0].as_oid()), F::TotalTime)
        }),
    },
    SysFn {
        name: "pg_stat_get_xact_function_self_time",
        call: SysCall::One(|c, a| {
            of_function(c.backend().stats.unflushed_function(a[0].as_oid()), F::SelfTime)
        }),
    },
    SysFn {
        name: "pg_stat_get_snapshot_timestamp",
        call: SysCall::One(|c, _| {
            Ok(c.backend().stats.snapshot_time().map_or(Datum::Null, Datum::int8))
        }),
    },
    SysFn { name: "pg_stat_have_stats", call: SysCall::One(have_stats) },
    SysFn {
        name: "pg_stat_clear_snapshot",
        call: SysCall::One(|c, _| {
            c.backend().stats.clear_snapshot();
            void()
        }),
    },
    SysFn {
        name: "pg_stat_force_next_flush",
        call: SysCall::One(|c, _| {
            c.backend().stats.force_next_flush();
            void()
        }),
    },
    SysFn {
        name: "pg_stat_reset",
        call: SysCall::One(|c, _| {
            let (now, database) = (c.clock_timestamp(), c.backend().database());
            c.backend().storage().stats.reset_database(database, now);
            void()
        }),
    },
    SysFn {
        name: "pg_stat_reset_single_table_counters",
        call: SysCall::One(|c, a| reset_one(c, StatsKind::Relation, a[0].as_oid())),
    },
    SysFn {
        name: "pg_stat_reset_single_function_counters",
        call: SysCall::One(|c, a| reset_one(c, StatsKind::Function, a[0].as_oid())),
    },
    SysFn {
        name: "pg_stat_reset_slru",
        call: SysCall::One(|c, a| {
            let which = match a[0] {
                DatumRef::Null => None,
                name => {
                    let name = text(name);
                    let known = SLRUS.iter().position(|known| *known == name);
                    Some(known.unwrap_or(SLRUS.len() - 1))
                }
            };
            let now = c.clock_timestamp();
            engine::statistics::reset_slru(c.backend().storage(), which, now);
            void()
        }),
    },
    SysFn { name: "pg_stat_get_slru", call: SysCall::Set(|c, _| Ok(slrus(c))) },
];

/// The names of the SLRUs in PostgreSQL's order; other ones share the last entry.
const SLRUS: [&str; 8] = [
    "CommitTs",
    "MultiXactMember",
    "MultiXactOffset",
    "Notify",
    "Serial",
    "Subtrans",
    "Xact",
    "other",
];

/// The rows of `pg_stat_slru`. Accesses are not counted.
fn slrus(core: &mut dyn SystemHost) -> Vec<Vec<Datum>> {
    let fixed = engine::statistics::fixed(core.backend().storage());
    let words = |bytes: &[u8]| -> Vec<Datum> {
        let words = bytes.as_chunks::<8>().0.iter();
        words.map(|word| Datum::int8(i64::from_le_bytes(*word))).collect()
    };
    let rows = SLRUS.iter().zip(fixed.slru.chunks_exact(64));
    rows.map(|(name, bytes)| [vec![Datum::text(name)], words(bytes)].concat()).collect()
}
