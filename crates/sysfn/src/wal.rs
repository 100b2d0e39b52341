//! Functions on WAL positions, transaction ids and the control file. Counterpart:
//! access/transam/xlogfuncs.c, utils/adt/xid8funcs.c, utils/misc/pg_controldata.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use ids::Lsn;
use pgerror::{Result, pg_err};
use types::{Datum, DatumRef};

/// Seconds from 1970-01-01 to 2000-01-01.
const EPOCH_SHIFT: i64 = 946_684_800;

/// The control file on disk.
pub(super) fn control(core: &mut dyn SystemHost) -> Result<engine::Control> {
    let env = &core.backend().storage().env;
    engine::Control::open(env.disk.clone(), env.clock.clone())
}

/// The name of the WAL segment that contains the byte before the position, and the offset of the
/// position in it.
fn file_of(core: &mut dyn SystemHost, lsn: Lsn) -> Result<(String, i32)> {
    let layout = core.backend().storage().wal.layout();
    let control = control(core)?.get();
    // The byte before position 0 is the last byte of the address space, as in PostgreSQL.
    let segment = lsn.0.wrapping_sub(1) / layout.segment_size();
    let per_id = 0x1_0000_0000 / layout.segment_size();
    let timeline = control.check_point_copy.timeline.max(1);
    let (id, within) = ((segment / per_id) as u32, segment % per_id);
    let name = format!("{timeline:08X}{id:08X}{within:08X}");
    Ok((name, layout.offset_in_segment(lsn) as i32))
}

/// Converts seconds since 1970-01-01 to timestamptz.
fn timestamp(seconds: i64) -> Datum {
    Datum::int8((seconds - EPOCH_SHIFT) * 1_000_000)
}

fn lsn(at: Lsn) -> Datum {
    Datum::int8(at.0 as i64)
}

fn word(v: u32) -> Datum {
    Datum::Word(u64::from(v))
}

fn checkpoint_row(core: &mut dyn SystemHost) -> Result<Vec<Vec<Datum>>> {
    let control = control(core)?.get();
    let c = control.check_point_copy;
    let layout = core.backend().storage().wal.layout();
    let segment = layout.segment_of(c.redo);
    let per_id = 0x1_0000_0000 / layout.segment_size();
    let file = format!("{:08X}{:08X}{:08X}", c.timeline, segment / per_id, segment % per_id);
    let next = format!("{}:{}", c.next_xid.0 >> 32, c.next_xid.0 as u32);
    Ok(vec![vec![
        lsn(control.check_point),
        lsn(c.redo),
        Datum::text(&file),
        Datum::int4(c.timeline as i32),
        Datum::int4(c.prev_timeline as i32),
        Datum::bool(c.full_page_writes),
        Datum::text(&next),
        Datum::oid(c.next_oid),
        word(c.next_multi.0),
        word(c.next_multi_offset),
        word(c.oldest_xid.0),
        Datum::oid(c.oldest_xid_db),
        word(c.oldest_active_xid.0),
        word(c.oldest_multi.0),
        Datum::oid(c.oldest_multi_db),
        word(c.oldest_commit_ts_xid.0),
        word(c.newest_commit_ts_xid.0),
        timestamp(c.time),
    ]])
}

fn init_row(core: &mut dyn SystemHost) -> Result<Vec<Vec<Datum>>> {
    let control = control(core)?.get();
    let int = |v: i32| Datum::int4(v);
    Ok(vec![vec![
        int(8),
        int(8192),
        int(131_072),
        int(8192),
        int(control.wal_segment_size as i32),
        int(64),
        int(32),
        int(1996),
        int(2048),
        Datum::bool(true),
        int(control.data_checksum_version as i32),
    ]])
}

fn system_row(core: &mut dyn SystemHost) -> Result<Vec<Vec<Datum>>> {
    let control = control(core)?.get();
    Ok(vec![vec![
        Datum::int4(1300),
        Datum::int4(202_209_061),
        Datum::int8(control.system_id as i64),
        timestamp(control.time),
    ]])
}

fn recovery_row(core: &mut dyn SystemHost) -> Result<Vec<Vec<Datum>>> {
    let control = control(core)?.get();
    Ok(vec![vec![
        lsn(control.min_recovery_point),
        Datum::int4(control.min_recovery_point_tli as i32),
        lsn(control.backup_start_point),
        lsn(control.backup_end_point),
        Datum::bool(control.backup_end_required),
    ]])
}

fn not_in_recovery() -> pgerror::PgError {
    pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "recovery is not in progress")
        .hint("Recovery control functions can only be executed during recovery.")
}

/// Names of the WAL resource managers, in the order of their ids.
const MANAGERS: [&str; 22] = [
    "XLOG",
    "Transaction",
    "Storage",
    "CLOG",
    "Database",
    "Tablespace",
    "MultiXact",
    "RelMap",
    "Standby",
    "Heap2",
    "Heap",
    "Btree",
    "Hash",
    "Gin",
    "Gist",
    "Sequence",
    "SPGist",
    "BRIN",
    "CommitTs",
    "ReplicationOrigin",
    "Generic",
    "LogicalMessage",
];

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_current_wal_lsn",
        call: SysCall::One(|c, _| Ok(Datum::int8(c.backend().storage().wal.written().0 as i64))),
    },
    SysFn {
        name: "pg_current_wal_insert_lsn",
        call: SysCall::One(|c, _| Ok(Datum::int8(c.backend().storage().wal.inserted().0 as i64))),
    },
    SysFn {
        name: "pg_current_wal_flush_lsn",
        call: SysCall::One(|c, _| Ok(Datum::int8(c.backend().storage().wal.flushed().0 as i64))),
    },
    SysFn { name: "pg_is_in_recovery", call: SysCall::One(|_, _| Ok(Datum::bool(false))) },
    SysFn { name: "pg_is_wal_replay_paused", call: SysCall::One(|_, _| Err(not_in_recovery())) },
    SysFn {
        name: "pg_current_xact_id",
        call: SysCall::One(|c, _| {
            c.backend().txn.top_xid()?;
            Ok(Datum::int8(c.backend().txn.full_xid_if_any().0 as i64))
        }),
    },
    SysFn {
        name: "pg_current_xact_id_if_assigned",
        call: SysCall::One(|c, _| {
            let xid = c.backend().txn.full_xid_if_any();
            Ok(if xid.0 == 0 { Datum::Null } else { Datum::int8(xid.0 as i64) })
        }),
    },
    SysFn {
        name: "pg_switch_wal",
        call: SysCall::One(|c, _| c.backend().storage().wal.switch().map(lsn)),
    },
    SysFn {
        name: "pg_walfile_name",
        call: SysCall::One(|c, a| Ok(Datum::text(&file_of(c, Lsn(a[0].as_i64() as u64))?.0))),
    },
    SysFn {
        name: "pg_wal_lsn_diff",
        call: SysCall::One(|_, a| {
            let at = |d: DatumRef<'_>| i128::from(d.as_i64() as u64);
            let text = (at(a[0]) - at(a[1])).to_string();
            let input = types::builtin::scalar("numeric_in")
                .ok_or_else(|| pgerror::PgError::internal("numeric_in exists"))?;
            let (none, any) = (Datum::oid(ids::Oid::INVALID), Datum::int4(-1));
            let mut cx = types::BasicContext::default();
            input(&mut cx, &[DatumRef::Bytes(text.as_bytes()), none.as_ref(), any.as_ref()])
        }),
    },
    SysFn {
        name: "pg_walfile_name_offset",
        call: SysCall::Set(|c, a| {
            let (name, offset) = file_of(c, Lsn(a[0].as_i64() as u64))?;
            Ok(vec![vec![Datum::text(&name), Datum::int4(offset)]])
        }),
    },
    SysFn {
        name: "pg_create_restore_point",
        call: SysCall::One(|c, a| {
            let name = text(a[0]);
            let end = c.backend().create_restore_point(&name)?;
            c.log(&format!("restore point \"{name}\" created at {end}"));
            Ok(lsn(end))
        }),
    },
    SysFn { name: "pg_last_wal_receive_lsn", call: SysCall::One(|_, _| Ok(Datum::Null)) },
    SysFn { name: "pg_last_wal_replay_lsn", call: SysCall::One(|_, _| Ok(Datum::Null)) },
    SysFn { name: "pg_last_xact_replay_timestamp", call: SysCall::One(|_, _| Ok(Datum::Null)) },
    SysFn { name: "pg_wal_replay_pause", call: SysCall::One(|_, _| Err(not_in_recovery())) },
    SysFn { name: "pg_wal_replay_resume", call: SysCall::One(|_, _| Err(not_in_recovery())) },
    SysFn { name: "pg_promote", call: SysCall::One(|_, _| Err(not_in_recovery())) },
    SysFn {
        name: "pg_get_wal_replay_pause_state",
        call: SysCall::One(|_, _| Err(not_in_recovery())),
    },
    SysFn { name: "pg_control_checkpoint", call: SysCall::Set(|c, _| checkpoint_row(c)) },
    SysFn { name: "pg_control_init", call: SysCall::Set(|c, _| init_row(c)) },
    SysFn { name: "pg_control_system", call: SysCall::Set(|c, _| system_row(c)) },
    SysFn { name: "pg_control_recovery", call: SysCall::Set(|c, _| recovery_row(c)) },
    SysFn {
        name: "pg_get_wal_resource_managers",
        call: SysCall::Set(|_, _| {
            let row = |(i, n): (usize, &&str)| {
                vec![Datum::int4(i as i32), Datum::text(n), Datum::bool(true)]
            };
            Ok(MANAGERS.iter().enumerate().map(row).collect())
        }),
    },
];
