//! Text descriptions of the WAL records of resource managers that have no crate of their own, in
//! the format of `pg_waldump`.
//!
//! Counterpart: the `*_desc` functions in src/backend/access/rmgrdesc.

pub(crate) mod unsupported;

use crate::xlog::{
    XLOG_BACKUP_END, XLOG_CHECKPOINT_ONLINE, XLOG_CHECKPOINT_SHUTDOWN, XLOG_END_OF_RECOVERY,
    XLOG_FPW_CHANGE, XLOG_NEXTOID, XLOG_OVERWRITE_CONTRECORD, XLOG_PARAMETER_CHANGE,
    XLOG_RESTORE_POINT,
};
use std::fmt::Write;
use wal::{CheckPoint, DecodedRecord, Fields};

const REPLORIGIN_SET: u8 = 0x00;
const REPLORIGIN_DROP: u8 = 0x10;
const LOGICAL_MESSAGE: u8 = 0x00;

pub(crate) fn xlog(
    record: &DecodedRecord,
    time: &dyn Fn(i64) -> String,
    out: &mut String,
) -> Option<()> {
    let mut f = Fields(record.main());
    match record.info() {
        info @ (XLOG_CHECKPOINT_SHUTDOWN | XLOG_CHECKPOINT_ONLINE) => {
            let kind = if info == XLOG_CHECKPOINT_SHUTDOWN { "shutdown" } else { "online" };
            checkpoint(&CheckPoint::read(record.main())?, kind, out)
        }
        XLOG_NEXTOID => write!(out, "{}", f.oid()?).ok(),
        XLOG_RESTORE_POINT => {
            f.u64()?;
            out.push_str(&text(f.0));
            Some(())
        }
        XLOG_BACKUP_END => write!(out, "{}", f.lsn()?).ok(),
        XLOG_PARAMETER_CHANGE => parameters(f, out),
        XLOG_FPW_CHANGE => write!(out, "{}", f.u8()? != 0).ok(),
        XLOG_END_OF_RECOVERY => {
            let (at, timeline, previous) = (f.u64()? as i64, f.u32()?, f.u32()?);
            write!(out, "tli {timeline}; prev tli {previous}; time {}", time(at)).ok()
        }
        XLOG_OVERWRITE_CONTRECORD => {
            let (lsn, at) = (f.lsn()?, f.u64()? as i64);
            write!(out, "lsn {lsn}; time {}", time(at)).ok()
        }
        _ => Some(()),
    }
}

fn checkpoint(c: &CheckPoint, kind: &str, out: &mut String) -> Option<()> {
    let (xid, fpw) = (c.next_xid, c.full_page_writes);
    write!(
        out,
        "redo {}; tli {}; prev tli {}; fpw {fpw}; xid {}:{}; oid {}; multi {}; offset {}; ",
        c.redo,
        c.timeline,
        c.prev_timeline,
        xid.epoch(),
        xid.xid(),
        c.next_oid,
        c.next_multi,
        c.next_multi_offset,
    )
    .ok()?;
    write!(
        out,
        "oldest xid {} in DB {}; oldest multi {} in DB {}; oldest/newest commit timestamp xid: \
         {}/{}; oldest running xid {}; {kind}",
        c.oldest_xid,
        c.oldest_xid_db,
        c.oldest_multi,
        c.oldest_multi_db,
        c.oldest_commit_ts_xid,
        c.newest_commit_ts_xid,
        c.oldest_active_xid,
    )
    .ok()
}

/// Counterpart: `xl_parameter_change`.
fn parameters(mut f: Fields<'_>, out: &mut String) -> Option<()> {
    for name in [
        "max_connections",
        "max_worker_processes",
        "max_wal_senders",
        "max_prepared_xacts",
        "max_locks_per_xact",
    ] {
        write!(out, "{name}={} ", f.i32()?).ok()?;
    }
    let level = ["minimal", "replica", "logical"].get(f.u32()? as usize).unwrap_or(&"?");
    let on = |flag: u8| if flag != 0 { "on" } else { "off" };
    let (hints, timestamps) = (on(f.u8()?), on(f.u8()?));
    write!(out, "wal_level={level} wal_log_hints={hints} track_commit_timestamp={timestamps}").ok()
}

pub(crate) fn origin(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let mut f = Fields(record.main());
    match record.info() {
        REPLORIGIN_SET => {
            let (lsn, node, force) = (f.lsn()?, f.u16()?, f.u8()?);
            write!(out, "set {node}; lsn {lsn}; force: {force}").ok()
        }
        REPLORIGIN_DROP => write!(out, "drop {}", f.u16()?).ok(),
        _ => Some(()),
    }
}

/// Counterpart: `xl_logical_message`.
pub(crate) fn message(record: &DecodedRecord, out: &mut String) -> Option<()> {
    if record.info() != LOGICAL_MESSAGE {
        return Some(());
    }
    let mut f = Fields(record.main());
    let (_database, transactional) = (f.oid()?, f.u32()? as u8 != 0);
    let (prefix, size) = (f.u64()? as usize, f.u64()? as usize);
    let kind = if transactional { "transactional" } else { "non-transactional" };
    let prefix = text(f.take(prefix)?);
    write!(out, "{kind}, prefix \"{prefix}\"; payload ({size} bytes): ").ok()?;
    let mut gap = "";
    for byte in f.take(size)? {
        write!(out, "{gap}{byte:02X}").ok()?;
        gap = " ";
    }
    Some(())
}

/// The text before the first zero byte.
pub(crate) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
