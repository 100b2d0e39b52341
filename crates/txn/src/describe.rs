//! Text descriptions of the records of transactions and status files, as `pg_waldump` prints them.
//!
//! Counterpart: xactdesc.c, clogdesc.c, committsdesc.c, mxactdesc.c, standbydesc.c.

use crate::clog::{CLOG_TRUNCATE, CLOG_ZEROPAGE};
use crate::multixact::{
    MULTIXACT_CREATE_ID, MULTIXACT_TRUNCATE_ID, MULTIXACT_ZERO_MEM_PAGE, MULTIXACT_ZERO_OFF_PAGE,
};
use crate::record::{
    DroppedStats, INVALIDATION_BYTES, XACT_ABORT, XACT_ABORT_PREPARED, XACT_ASSIGNMENT,
    XACT_COMMIT, XACT_COMMIT_PREPARED, XACT_INVALIDATIONS, XACT_OPMASK, XACT_PREPARE,
    parse_multixact, parse_xact,
};
use crate::standby::{RUNNING_XACTS, STANDBY_INVALIDATIONS, STANDBY_LOCK};
use ids::{Fork, Lsn, Oid, RelFile, Xid};
use std::fmt::Write;
use wal::{DecodedRecord, Fields, RmgrId};

/// Appends the description of a record of the resource managers Xact, Clog, CommitTs, MultiXact or
/// Standby, without its name; `None` if the record is too short. `time` formats microseconds since
/// 2000-01-01.
pub fn describe(
    record: &DecodedRecord,
    time: &dyn Fn(i64) -> String,
    out: &mut String,
) -> Option<()> {
    let main = record.main();
    let mut f = Fields(main);
    match (record.header.rmgr()?, record.info()) {
        (RmgrId::Xact, info) => xact(record, info & XACT_OPMASK, time, out),
        (RmgrId::Clog, CLOG_ZEROPAGE) => write!(out, "page {}", f.i32()?).ok(),
        (RmgrId::Clog, CLOG_TRUNCATE) => {
            write!(out, "page {}; oldestXact {}", f.i32()?, f.xid()?).ok()
        }
        // CommitTs uses the same info bytes as Clog.
        (RmgrId::CommitTs, CLOG_ZEROPAGE) => write!(out, "{}", f.i32()?).ok(),
        (RmgrId::CommitTs, CLOG_TRUNCATE) => {
            write!(out, "pageno {}, oldestXid {}", f.i32()?, f.xid()?).ok()
        }
        (RmgrId::MultiXact, MULTIXACT_ZERO_OFF_PAGE | MULTIXACT_ZERO_MEM_PAGE) => {
            write!(out, "{}", f.i32()?).ok()
        }
        (RmgrId::MultiXact, MULTIXACT_CREATE_ID) => {
            let (multi, offset, members) = parse_multixact(main).ok()?;
            write!(out, "{multi} offset {offset} nmembers {}: ", members.len()).ok()?;
            members.iter().try_for_each(|m| write!(out, "{} ({}) ", m.xid, m.status.name()).ok())
        }
        (RmgrId::MultiXact, MULTIXACT_TRUNCATE_ID) => {
            let (_database, start, end) = (f.oid()?, f.u32()?, f.u32()?);
            write!(out, "offsets [{start}, {end}), members [{}, {})", f.u32()?, f.u32()?).ok()
        }
        (RmgrId::Standby, STANDBY_LOCK) => (0..f.u32()?).try_for_each(|_| {
            write!(out, "xid {} db {} rel {} ", f.xid()?, f.oid()?, f.oid()?).ok()
        }),
        (RmgrId::Standby, RUNNING_XACTS) => running(f, out),
        (RmgrId::Standby, STANDBY_INVALIDATIONS) => {
            let (database, tablespace, init_file) = (f.oid()?, f.oid()?, f.u32()? as u8 != 0);
            let count = f.u32()? as usize;
            let init_file = init_file.then_some((database, tablespace));
            invalidations(f.take(count.checked_mul(INVALIDATION_BYTES)?)?, init_file, out)
        }
        _ => Some(()),
    }
}

fn xact(
    record: &DecodedRecord,
    op: u8,
    time: &dyn Fn(i64) -> String,
    out: &mut String,
) -> Option<()> {
    let mut f = Fields(record.main());
    let commit = match op {
        XACT_COMMIT | XACT_COMMIT_PREPARED => true,
        XACT_ABORT | XACT_ABORT_PREPARED => false,
        XACT_PREPARE => return prepare(record, time, out),
        XACT_ASSIGNMENT => {
            let (top, count) = (f.xid()?, f.u32()?);
            write!(out, "xtop {top}: subxacts:").ok()?;
            return (0..count).try_for_each(|_| write!(out, " {}", f.xid()?).ok());
        }
        XACT_INVALIDATIONS => {
            let count = f.u32()? as usize;
            return invalidations(f.take(count.checked_mul(INVALIDATION_BYTES)?)?, None, out);
        }
        _ => return Some(()),
    };
    let parsed = parse_xact(record.info(), record.main()).ok()?;
    let extras = &parsed.extras;
    if parsed.twophase_xid.is_valid() {
        write!(out, "{}: ", parsed.twophase_xid).ok()?;
    }
    out.push_str(&time(parsed.time));
    files("rels", &extras.dropped_files, out)?;
    subxacts(&parsed.subxacts, out)?;
    if commit {
        stats("", &extras.dropped_stats, out)?;
        let init_file = extras.relcache_init_file.then_some((parsed.database, parsed.tablespace));
        invalidations(extras.invalidations.as_flattened(), init_file, out)?;
        if extras.force_sync {
            out.push_str("; sync");
        }
    }
    if let Some((lsn, at)) = parsed.origin {
        origin(record.origin, lsn, &time(at), out)?;
    }
    if commit { Some(()) } else { stats("", &extras.dropped_stats, out) }
}

fn origin(id: u16, lsn: Lsn, at: &str, out: &mut String) -> Option<()> {
    write!(out, "; origin: node {id}, lsn {lsn}, at {at}").ok()
}

/// Each array after the fixed part of the record is padded to a multiple of eight bytes.
/// Counterpart: `xl_xact_prepare`, `xact_desc_prepare`.
fn prepare(record: &DecodedRecord, time: &dyn Fn(i64) -> String, out: &mut String) -> Option<()> {
    let mut f = Fields(record.main());
    let (_magic, _len, _xid, _database) = (f.u32()?, f.u32()?, f.xid()?, f.oid()?);
    let (at, _owner) = (f.u64()? as i64, f.oid()?);
    let mut count = || f.u32().map(|n| n as usize);
    let (subs, on_commit, on_abort) = (count()?, count()?, count()?);
    let (commit_stats, abort_stats, messages) = (count()?, count()?, count()?);
    let (_init_file, gid_len) = (f.u16()?, f.u16()?);
    let (origin_lsn, origin_time) = (f.lsn()?, f.u64()? as i64);
    let mut piece = |count: usize, size: usize| {
        let len = count.checked_mul(size)?;
        let all = f.take(len.checked_next_multiple_of(8)?)?;
        Some(Fields(&all[..len]))
    };
    let gid = piece(usize::from(gid_len), 1)?.0;
    let gid = String::from_utf8_lossy(gid.split(|b| *b == 0).next()?);
    let mut f = piece(subs, 4)?;
    let subs: Option<Vec<Xid>> = (0..subs).map(|_| f.xid()).collect();
    let rels = |mut f: Fields<'_>, n: usize| (0..n).map(|_| f.rel()).collect::<Option<Vec<_>>>();
    let on_commit = rels(piece(on_commit, 12)?, on_commit)?;
    let on_abort = rels(piece(on_abort, 12)?, on_abort)?;
    let items = |mut f: Fields<'_>, n: usize| {
        let one = |_| Some(DroppedStats { kind: f.i32()?, database: f.oid()?, object: f.oid()? });
        (0..n).map(one).collect::<Option<Vec<_>>>()
    };
    let commit_stats = items(piece(commit_stats, 12)?, commit_stats)?;
    let abort_stats = items(piece(abort_stats, 12)?, abort_stats)?;
    write!(out, "gid {gid}: {}", time(at)).ok()?;
    files("rels(commit)", &on_commit, out)?;
    files("rels(abort)", &on_abort, out)?;
    stats("commit ", &commit_stats, out)?;
    stats("abort ", &abort_stats, out)?;
    subxacts(&subs?, out)?;
    invalidations(piece(messages, INVALIDATION_BYTES)?.0, None, out)?;
    if record.origin == 0 {
        return Some(());
    }
    origin(record.origin, origin_lsn, &time(origin_time), out)
}

fn files(label: &str, rels: &[RelFile], out: &mut String) -> Option<()> {
    if rels.is_empty() {
        return Some(());
    }
    write!(out, "; {label}:").ok()?;
    rels.iter().try_for_each(|rel| write!(out, " {}", rel.path(Fork::Main, None)).ok())
}

fn subxacts(subs: &[Xid], out: &mut String) -> Option<()> {
    if subs.is_empty() {
        return Some(());
    }
    out.push_str("; subxacts:");
    subs.iter().try_for_each(|xid| write!(out, " {xid}").ok())
}

fn stats(label: &str, items: &[DroppedStats], out: &mut String) -> Option<()> {
    if items.is_empty() {
        return Some(());
    }
    write!(out, "; {label}dropped stats:").ok()?;
    items.iter().try_for_each(|i| write!(out, " {}/{}/{}", i.kind, i.database, i.object).ok())
}

/// Shared invalidation messages. Each starts with its kind, a signed byte; a database and an object
/// follow from byte 4. `init_file`: database and tablespace whose relation cache init file is
/// removed. Counterpart: `standby_desc_invalidations`.
fn invalidations(messages: &[u8], init_file: Option<(Oid, Oid)>, out: &mut String) -> Option<()> {
    if messages.is_empty() {
        return Some(());
    }
    if let Some((database, tablespace)) = init_file {
        write!(out, "; relcache init file inval dbid {database} tsid {tablespace}").ok()?;
    }
    out.push_str("; inval msgs:");
    for message in messages.chunks_exact(INVALIDATION_BYTES) {
        let mut f = Fields(message);
        let id = f.u32()? as i8;
        let (database, object) = (f.oid()?, f.oid()?);
        match id {
            0.. => write!(out, " catcache {id}"),
            -1 => write!(out, " catalog {object}"),
            -2 => write!(out, " relcache {object}"),
            -3 => write!(out, " smgr"),
            -4 => write!(out, " relmap db {database}"),
            -5 => write!(out, " snapshot {object}"),
            _ => write!(out, " unrecognized id {id}"),
        }
        .ok()?;
    }
    Some(())
}

fn running(mut f: Fields<'_>, out: &mut String) -> Option<()> {
    let (count, _subs, overflowed) = (f.u32()?, f.u32()?, f.u32()? as u8 != 0);
    let (next, oldest, latest) = (f.xid()?, f.xid()?, f.xid()?);
    write!(out, "nextXid {next} latestCompletedXid {latest} oldestRunningXid {oldest}").ok()?;
    if count > 0 {
        write!(out, "; {count} xacts:").ok()?;
        (0..count).try_for_each(|_| write!(out, " {}", f.xid()?).ok())?;
    }
    if overflowed {
        out.push_str("; subxid ovf");
    }
    Some(())
}
