//! Building and parsing of transaction records: commit, abort, assignment of subtransactions.
//!
//! ```text
//! commit, abort: time i64 | [xinfo u32] | [database, tablespace] | [n, subtransactions]
//!   | [n, dropped files (12 bytes each)] | [n, dropped statistics (12)] | [n, invalidations (16)]
//!   | [two-phase xid] | [gid] | [origin lsn, time]
//! assignment: top xid u32 | n i32 | subtransactions
//! ```
//!
//! Counterpart: xact.h, `XactLogCommitRecord` in xact.c, `ParseCommitRecord` in xactdesc.c.

use crate::multixact::{Members, MultiXactMember, MultiXactStatus};
use ids::{Lsn, MultiXid, Oid, RelFile, Xid};
use pgerror::{PgError, Result};
use wal::{RecordBuilder, RmgrId};

pub(crate) const XACT_COMMIT: u8 = 0x00;
pub(crate) const XACT_PREPARE: u8 = 0x10;
pub(crate) const XACT_ABORT: u8 = 0x20;
pub(crate) const XACT_COMMIT_PREPARED: u8 = 0x30;
pub(crate) const XACT_ABORT_PREPARED: u8 = 0x40;
pub(crate) const XACT_ASSIGNMENT: u8 = 0x50;
pub(crate) const XACT_INVALIDATIONS: u8 = 0x60;
pub(crate) const XACT_OPMASK: u8 = 0x70;
const XACT_HAS_INFO: u8 = 0x80;

const HAS_DBINFO: u32 = 1 << 0;
const HAS_SUBXACTS: u32 = 1 << 1;
const HAS_RELFILENODES: u32 = 1 << 2;
const HAS_INVALS: u32 = 1 << 3;
const HAS_TWOPHASE: u32 = 1 << 4;
const HAS_ORIGIN: u32 = 1 << 5;
const HAS_AE_LOCKS: u32 = 1 << 6;
const HAS_GID: u32 = 1 << 7;
const HAS_DROPPED_STATS: u32 = 1 << 8;
const UPDATE_RELCACHE_FILE: u32 = 1 << 30;
const FORCE_SYNC_COMMIT: u32 = 1 << 31;

/// Size of a shared invalidation message in the log.
pub const INVALIDATION_BYTES: usize = 16;

/// A cumulative-statistics entry that is dropped with the transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DroppedStats {
    pub kind: i32,
    pub database: Oid,
    pub object: Oid,
}

/// Effects of a transaction's end besides its status: files, statistics and invalidations.
#[derive(Clone, Default, Debug)]
pub struct XactExtras {
    /// Relation files to be removed once the record is durable.
    pub dropped_files: Vec<RelFile>,
    pub dropped_stats: Vec<DroppedStats>,
    /// Shared invalidation messages in PostgreSQL's layout.
    pub invalidations: Vec<[u8; INVALIDATION_BYTES]>,
    /// The relation cache's init file must be removed.
    pub relcache_init_file: bool,
    /// Flush although `synchronous_commit` is off.
    pub force_sync: bool,
    /// AccessExclusive locks were logged.
    pub access_exclusive_locks: bool,
}

/// A parsed commit or abort record.
#[derive(Clone, Default, Debug)]
pub struct ParsedXact {
    /// Microseconds since 2000-01-01.
    pub time: i64,
    pub database: Oid,
    pub tablespace: Oid,
    pub subxacts: Vec<Xid>,
    pub extras: XactExtras,
    /// The transaction's id, if it was a prepared transaction.
    pub twophase_xid: Xid,
    /// LSN and time of a replicated transaction's commit at its origin, which the record names.
    pub origin: Option<(Lsn, i64)>,
}

/// The leading fields of a commit or abort record.
pub(crate) struct Header<'a> {
    pub(crate) time: i64,
    pub(crate) database: Oid,
    pub(crate) tablespace: Oid,
    pub(crate) subxacts: &'a [Xid],
    /// Id and global identifier, if this is the end of a prepared transaction. With the
    /// identifier the record names it and the database (`wal_level = logical`).
    pub(crate) prepared: Option<(Xid, Option<&'a str>)>,
}

/// Fills `b` with a commit or abort record.
pub(crate) fn build(b: &mut RecordBuilder, commit: bool, header: &Header<'_>, extras: &XactExtras) {
    let mut xinfo = 0;
    let mut set = |on: bool, bit: u32| {
        if on {
            xinfo |= bit;
        }
    };
    set(!header.subxacts.is_empty(), HAS_SUBXACTS);
    set(!extras.dropped_files.is_empty(), HAS_RELFILENODES);
    set(!extras.dropped_stats.is_empty(), HAS_DROPPED_STATS);
    set(extras.access_exclusive_locks, HAS_AE_LOCKS);
    if commit {
        set(!extras.invalidations.is_empty(), HAS_DBINFO | HAS_INVALS);
        set(extras.relcache_init_file, UPDATE_RELCACHE_FILE);
        set(extras.force_sync, FORCE_SYNC_COMMIT);
    }
    if let Some((_, gid)) = header.prepared {
        xinfo |= HAS_TWOPHASE;
        if gid.is_some() {
            xinfo |= HAS_GID | HAS_DBINFO;
        }
    }
    let mut info = match (commit, header.prepared) {
        (true, None) => XACT_COMMIT,
        (false, None) => XACT_ABORT,
        (true, Some(_)) => XACT_COMMIT_PREPARED,
        (false, Some(_)) => XACT_ABORT_PREPARED,
    };
    if xinfo != 0 {
        info |= XACT_HAS_INFO;
    }
    if xinfo & HAS_RELFILENODES != 0 {
        info |= wal::record::XLR_SPECIAL_REL_UPDATE;
    }
    b.reset(RmgrId::Xact, info);
    b.main(&header.time.to_le_bytes());
    if xinfo == 0 {
        return;
    }
    let put = |b: &mut RecordBuilder, n: u32| {
        b.main(&n.to_le_bytes());
    };
    put(b, xinfo);
    if xinfo & HAS_DBINFO != 0 {
        put(b, header.database.0);
        put(b, header.tablespace.0);
    }
    if xinfo & HAS_SUBXACTS != 0 {
        put(b, header.subxacts.len() as u32);
        header.subxacts.iter().for_each(|x| put(b, x.0));
    }
    if xinfo & HAS_RELFILENODES != 0 {
        put(b, extras.dropped_files.len() as u32);
        for file in &extras.dropped_files {
            [file.tablespace, file.database, file.relnumber].iter().for_each(|o| put(b, o.0));
        }
    }
    if xinfo & HAS_DROPPED_STATS != 0 {
        put(b, extras.dropped_stats.len() as u32);
        for item in &extras.dropped_stats {
            [item.kind as u32, item.database.0, item.object.0].iter().for_each(|n| put(b, *n));
        }
    }
    if xinfo & HAS_INVALS != 0 {
        put(b, extras.invalidations.len() as u32);
        extras.invalidations.iter().for_each(|m| {
            b.main(m);
        });
    }
    if let Some((xid, gid)) = header.prepared {
        put(b, xid.0);
        if let Some(gid) = gid {
            b.main(gid.as_bytes()).main(&[0]);
        }
    }
}

/// Fills `b` with the record of PREPARE TRANSACTION, whose data is the transaction's state.
pub(crate) fn build_prepare(b: &mut RecordBuilder, state: &[u8]) {
    b.reset(RmgrId::Xact, XACT_PREPARE);
    b.main(state);
}

/// Parses the main data of a commit or abort record. `info` is the record's info byte.
pub fn parse_xact(info: u8, main: &[u8]) -> Result<ParsedXact> {
    let mut r = Reader { bytes: main };
    let mut out = ParsedXact { time: r.u64()? as i64, ..ParsedXact::default() };
    if info & XACT_HAS_INFO == 0 {
        return Ok(out);
    }
    let xinfo = r.u32()?;
    let has = |bit| xinfo & bit != 0;
    out.extras.access_exclusive_locks = has(HAS_AE_LOCKS);
    out.extras.relcache_init_file = has(UPDATE_RELCACHE_FILE);
    out.extras.force_sync = has(FORCE_SYNC_COMMIT);
    if has(HAS_DBINFO) {
        out.database = Oid(r.u32()?);
        out.tablespace = Oid(r.u32()?);
    }
    if has(HAS_SUBXACTS) {
        for _ in 0..r.count(4)? {
            out.subxacts.push(Xid(r.u32()?));
        }
    }
    if has(HAS_RELFILENODES) {
        for _ in 0..r.count(12)? {
            let file = RelFile::new(Oid(r.u32()?), Oid(r.u32()?), Oid(r.u32()?));
            out.extras.dropped_files.push(file);
        }
    }
    if has(HAS_DROPPED_STATS) {
        for _ in 0..r.count(12)? {
            out.extras.dropped_stats.push(DroppedStats {
                kind: r.u32()? as i32,
                database: Oid(r.u32()?),
                object: Oid(r.u32()?),
            });
        }
    }
    if has(HAS_INVALS) {
        for _ in 0..r.count(INVALIDATION_BYTES)? {
            let bytes = r.take(INVALIDATION_BYTES)?;
            let mut message = [0; INVALIDATION_BYTES];
            message.copy_from_slice(bytes);
            out.extras.invalidations.push(message);
        }
    }
    if has(HAS_TWOPHASE) {
        out.twophase_xid = Xid(r.u32()?);
    }
    if has(HAS_GID) {
        let end = r.bytes.iter().position(|b| *b == 0);
        let end = end.ok_or_else(|| PgError::internal("transaction record is too short"))?;
        r.take(end + 1)?;
    }
    if has(HAS_ORIGIN) {
        out.origin = Some((Lsn(r.u64()?), r.u64()? as i64));
    }
    Ok(out)
}

pub(crate) fn build_assignment(b: &mut RecordBuilder, top: Xid, subs: &[Xid]) {
    b.reset(RmgrId::Xact, XACT_ASSIGNMENT);
    b.main(&top.0.to_le_bytes()).main(&(subs.len() as u32).to_le_bytes());
    subs.iter().for_each(|s| {
        b.main(&s.0.to_le_bytes());
    });
}

/// Parses the main data of a record that creates a multixact: its id, the number of its first
/// member, its members.
pub(crate) fn parse_multixact(main: &[u8]) -> Result<(MultiXid, u32, Members)> {
    let mut r = Reader { bytes: main };
    let (multi, offset) = (MultiXid(r.u32()?), r.u32()?);
    let mut members = Members::new();
    for _ in 0..r.count(8)? {
        let xid = Xid(r.u32()?);
        let status = MultiXactStatus::from_u8(r.u32()? as u8)
            .ok_or_else(|| PgError::internal("invalid multixact member status"))?;
        members.push(MultiXactMember { xid, status });
    }
    Ok((multi, offset, members))
}

/// Reads little-endian fields; an error past the end.
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let Some((head, rest)) = self.bytes.split_at_checked(n) else {
            return Err(PgError::internal("transaction record is too short"));
        };
        self.bytes = rest;
        Ok(head)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from(self.u32()?) | u64::from(self.u32()?) << 32)
    }

    /// Reads a count of items of `item` bytes; an error unless they all follow.
    pub(crate) fn count(&mut self, item: usize) -> Result<usize> {
        let n = self.u32()? as usize;
        if n.checked_mul(item).is_none_or(|len| len > self.bytes.len()) {
            return Err(PgError::internal("transaction record is too short"));
        }
        Ok(n)
    }
}
