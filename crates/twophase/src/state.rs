//! The state of a prepared transaction, as it is in the log record of PREPARE TRANSACTION and, with
//! a checksum at its end, in its file.
//!
//! ```text
//! header, 72 bytes:
//!   0 magic u32 | 4 total length, with the checksum u32 | 8 xid | 12 database | 16 prepared at i64
//!   24 owner | 28 counts i32: subtransactions, files (commit, abort), statistics (commit, abort),
//!   invalidations | 52 relcache init file u8 | 54 length of gid, with the final zero, u16
//!   56 origin lsn | 64 origin time
//! gid | subtransactions | files | files | statistics | statistics | invalidations
//! records: length u32, resource manager u8, 0, info u16 | data  (resource manager 0: the end)
//! ```
//!
//! Each part is padded with zeros to a multiple of eight bytes.
//!
//! Counterpart: `TwoPhaseFileHeader` and `TwoPhaseRecordOnDisk` in twophase.c, `xl_xact_prepare`,
//! `TwoPhaseLockRecord`, `TwoPhasePgStatRecord`.

use ids::{MultiXid, Oid, RelFile, Xid};
use lmgr::{LockMode, LockTag, LockTagKind};
use pgerror::{PgError, Result, SqlState};
use stats::{PreparedRows, StatsRows};
use txn::{DroppedStats, INVALIDATION_BYTES};

pub(crate) const MAGIC: u32 = 0x57F9_4534;
/// Size of the checksum at the end of a file.
pub(crate) const CRC_BYTES: usize = 4;
pub(crate) const HEADER_BYTES: usize = 72;
pub(crate) const RECORD_HEADER_BYTES: usize = 8;
const TOTAL_LENGTH_AT: usize = 4;
/// Maximum size of a file. Counterpart: `MaxAllocSize`.
pub(crate) const FILE_BYTES_MAX: usize = 0x3fff_ffff;

/// Resource managers of the records. Records of predicate locks (4) are not used.
const RM_END: u8 = 0;
const RM_LOCK: u8 = 1;
const RM_STATS: u8 = 2;
const RM_MULTIXACT: u8 = 3;

const LOCK_BYTES: usize = 20;
const STATS_BYTES: usize = 56;

/// Everything that the end of a prepared transaction, or a restart, needs to know of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub xid: Xid,
    pub database: Oid,
    /// Microseconds since 2000-01-01.
    pub prepared_at: i64,
    pub owner: Oid,
    pub gid: String,
    /// Committed subtransactions, ascending.
    pub subxacts: Vec<Xid>,
    /// Relation files to be removed at commit and at abort.
    pub files: [Vec<RelFile>; 2],
    /// Statistics to be removed at commit and at abort.
    pub stats: [Vec<DroppedStats>; 2],
    /// Shared invalidation messages in PostgreSQL's layout.
    pub invalidations: Vec<[u8; INVALIDATION_BYTES]>,
    pub relcache_init_file: bool,
    pub locks: Vec<(LockTag, LockMode)>,
    pub rows: Vec<PreparedRows>,
    /// Oldest multixact that the transaction may be a member of; invalid: none.
    pub oldest_member: MultiXid,
}

impl State {
    /// The bytes of the log record. Error 54000 if they are too long for a file.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut w = Writer(Vec::new());
        self.encode_header(&mut w);
        w.part(&[self.gid.as_bytes(), &[0]].concat());
        let subxacts: Vec<u8> = self.subxacts.iter().flat_map(|x| x.0.to_le_bytes()).collect();
        w.part(&subxacts);
        for files in &self.files {
            let words = files.iter().flat_map(|f| [f.tablespace, f.database, f.relnumber]);
            let bytes: Vec<u8> = words.flat_map(|oid| oid.0.to_le_bytes()).collect();
            w.part(&bytes);
        }
        for stats in &self.stats {
            let words = stats.iter().flat_map(|s| [s.kind as u32, s.database.0, s.object.0]);
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            w.part(&bytes);
        }
        w.part(self.invalidations.as_flattened());
        for (tag, mode) in &self.locks {
            w.record(RM_LOCK, &encode_lock(tag, *mode));
        }
        for rows in &self.rows {
            w.record(RM_STATS, &encode_rows(rows));
        }
        if self.oldest_member.is_valid() {
            w.record(RM_MULTIXACT, &self.oldest_member.0.to_le_bytes());
        }
        w.record(RM_END, &[]);
        let total = w.0.len() + CRC_BYTES;
        if total > FILE_BYTES_MAX {
            return Err(PgError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                "two-phase state file maximum length exceeded",
            ));
        }
        w.0[TOTAL_LENGTH_AT..TOTAL_LENGTH_AT + 4].copy_from_slice(&(total as u32).to_le_bytes());
        Ok(w.0)
    }

    fn encode_header(&self, w: &mut Writer) {
        w.u32(MAGIC);
        w.u32(0);
        w.u32(self.xid.0);
        w.u32(self.database.0);
        w.0.extend(self.prepared_at.to_le_bytes());
        w.u32(self.owner.0);
        let [commit_files, abort_files] = &self.files;
        let [commit_stats, abort_stats] = &self.stats;
        for count in [
            self.subxacts.len(),
            commit_files.len(),
            abort_files.len(),
            commit_stats.len(),
            abort_stats.len(),
            self.invalidations.len(),
        ] {
            w.u32(count as u32);
        }
        w.0.extend([u8::from(self.relcache_init_file), 0]);
        w.0.extend((self.gid.len() as u16 + 1).to_le_bytes());
        w.0.extend([0; 16]);
    }

    /// Parses the bytes of a log record, or of a file without its checksum. `None` if they are not
    /// a state.
    pub fn decode(bytes: &[u8]) -> Option<State> {
        let mut r = Reader(bytes);
        if r.u32()? != MAGIC || r.u32()? as usize != bytes.len() + CRC_BYTES {
            return None;
        }
        let mut state = State { xid: Xid(r.u32()?), database: Oid(r.u32()?), ..State::default() };
        state.prepared_at = r.i64()?;
        state.owner = Oid(r.u32()?);
        let mut counts = [0; 6];
        for count in &mut counts {
            *count = r.u32()? as usize;
        }
        state.relcache_init_file = r.take(2)?[0] != 0;
        let gid = r.take(2)?;
        let gid_bytes = usize::from(u16::from_le_bytes([gid[0], gid[1]]));
        r.take(16)?;
        let gid = r.part(gid_bytes, 1)?.0;
        state.gid = String::from_utf8_lossy(gid.split(|b| *b == 0).next()?).into_owned();
        let mut list = r.part(counts[0], 4)?;
        state.subxacts = (0..counts[0]).map(|_| list.u32().map(Xid)).collect::<Option<_>>()?;
        for (files, count) in state.files.iter_mut().zip(&counts[1..3]) {
            let mut list = r.part(*count, 12)?;
            *files = (0..*count).map(|_| list.file()).collect::<Option<_>>()?;
        }
        for (stats, count) in state.stats.iter_mut().zip(&counts[3..5]) {
            let mut list = r.part(*count, 12)?;
            *stats = (0..*count).map(|_| list.dropped_stats()).collect::<Option<_>>()?;
        }
        let messages = r.part(counts[5], INVALIDATION_BYTES)?.0;
        state.invalidations = messages.as_chunks::<INVALIDATION_BYTES>().0.to_vec();
        state.decode_records(r)?;
        Some(state)
    }

    fn decode_records(&mut self, mut r: Reader<'_>) -> Option<()> {
        loop {
            let len = r.u32()? as usize;
            let manager = r.take(4)?[0];
            let mut data = r.part(len, 1)?;
            match manager {
                RM_END => return Some(()),
                RM_LOCK => self.locks.push(decode_lock(data.0)?),
                RM_STATS => self.rows.push(decode_rows(data)?),
                RM_MULTIXACT => self.oldest_member = MultiXid(data.u32()?),
                _ => {}
            }
        }
    }
}

/// Counterpart: `TwoPhaseLockRecord`. A lock tag of 16 bytes, the mode i32.
fn encode_lock(tag: &LockTag, mode: LockMode) -> [u8; LOCK_BYTES] {
    let mut out = [0; LOCK_BYTES];
    for (i, field) in [tag.field1, tag.field2, tag.field3].into_iter().enumerate() {
        out[4 * i..4 * i + 4].copy_from_slice(&field.to_le_bytes());
    }
    out[12..14].copy_from_slice(&tag.field4.to_le_bytes());
    out[14] = tag.kind as u8;
    // The lock method: advisory locks have their own.
    out[15] = if tag.kind >= LockTagKind::Userlock { 2 } else { 1 };
    out[16] = mode as u8;
    out
}

fn decode_lock(bytes: &[u8]) -> Option<(LockTag, LockMode)> {
    let mut r = Reader(bytes.get(..LOCK_BYTES)?);
    let (field1, field2, field3) = (r.u32()?, r.u32()?, r.u32()?);
    let rest = r.take(4)?;
    let field4 = u16::from_le_bytes([rest[0], rest[1]]);
    let kind = LockTagKind::from_number(rest[2])?;
    let mode = *LockMode::ALL.get((r.u32()? as usize).checked_sub(1)?)?;
    Some((LockTag { field1, field2, field3, field4, kind }, mode))
}

fn encode_rows(rows: &PreparedRows) -> [u8; STATS_BYTES] {
    let mut out = [0; STATS_BYTES];
    let before = rows.before_truncation.unwrap_or_default();
    let counts = [rows.rows, before].map(|r| [r.inserted, r.updated, r.deleted]);
    for (i, count) in counts.as_flattened().iter().enumerate() {
        out[8 * i..8 * i + 8].copy_from_slice(&count.to_le_bytes());
    }
    out[48..52].copy_from_slice(&rows.relation.0.to_le_bytes());
    out[52] = u8::from(rows.is_shared);
    out[53] = u8::from(rows.before_truncation.is_some());
    out
}

fn decode_rows(mut r: Reader<'_>) -> Option<PreparedRows> {
    let mut counts =
        || Some(StatsRows { inserted: r.i64()?, updated: r.i64()?, deleted: r.i64()? });
    let (rows, before) = (counts()?, counts()?);
    let relation = Oid(r.u32()?);
    let flags = r.take(2)?;
    Some(PreparedRows {
        relation,
        is_shared: flags[0] != 0,
        rows,
        before_truncation: (flags[1] != 0).then_some(before),
    })
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, n: u32) {
        self.0.extend(n.to_le_bytes());
    }

    fn part(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
    }

    fn record(&mut self, manager: u8, data: &[u8]) {
        self.u32(data.len() as u32);
        self.0.extend([manager, 0, 0, 0]);
        self.part(data);
    }
}

/// Reads little-endian fields; `None` past the end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn i64(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// A part of `count` items, with its padding.
    fn part(&mut self, count: usize, size: usize) -> Option<Reader<'a>> {
        let len = count.checked_mul(size)?;
        let all = self.take(len.checked_next_multiple_of(8)?)?;
        Some(Reader(&all[..len]))
    }

    fn file(&mut self) -> Option<RelFile> {
        Some(RelFile::new(Oid(self.u32()?), Oid(self.u32()?), Oid(self.u32()?)))
    }

    fn dropped_stats(&mut self) -> Option<DroppedStats> {
        let (kind, database, object) = (self.u32()? as i32, Oid(self.u32()?), Oid(self.u32()?));
        Some(DroppedStats { kind, database, object })
    }
}
