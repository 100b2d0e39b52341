//! `global/pg_control`: the state of the cluster that a start reads before anything else.
//!
//! 8192 bytes on disk, of which the first 292 carry the fields and a CRC-32C: less than a sector,
//! so that the write is atomic. Counterpart: catalog/pg_control.h, xlog.c (ReadControlFile,
//! WriteControlFile).

use crate::layout::{le32, le64};
use ids::{FullXid, Lsn, MultiXid, Oid, Xid};
use pgerror::{PgError, Result, SqlState};

/// Path below the data directory.
pub const CONTROL_FILE: &str = "global/pg_control";
/// Size of the file.
pub const CONTROL_FILE_SIZE: usize = 8192;
/// Version of the format that PostgreSQL 15 writes.
pub const CONTROL_VERSION: u32 = 1300;
/// Catalog version of PostgreSQL 15.
pub const CATALOG_VERSION: u32 = 202_209_061;
/// Size of a checkpoint record's main data.
pub const CHECKPOINT_SIZE: usize = 88;
const CRC_AT: usize = 288;

/// Body of a checkpoint record, copied to the control file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CheckPoint {
    pub redo: Lsn,
    pub timeline: u32,
    pub prev_timeline: u32,
    pub full_page_writes: bool,
    pub next_xid: FullXid,
    pub next_oid: Oid,
    pub next_multi: MultiXid,
    pub next_multi_offset: u32,
    pub oldest_xid: Xid,
    pub oldest_xid_db: Oid,
    pub oldest_multi: MultiXid,
    pub oldest_multi_db: Oid,
    /// Seconds since 1970.
    pub time: i64,
    pub oldest_commit_ts_xid: Xid,
    pub newest_commit_ts_xid: Xid,
    pub oldest_active_xid: Xid,
}

impl CheckPoint {
    /// Reads the body; `None` if `b` is too short.
    pub fn read(b: &[u8]) -> Option<CheckPoint> {
        if b.len() < CHECKPOINT_SIZE {
            return None;
        }
        Some(CheckPoint {
            redo: Lsn(le64(b, 0)),
            timeline: le32(b, 8),
            prev_timeline: le32(b, 12),
            full_page_writes: b[16] != 0,
            next_xid: FullXid(le64(b, 24)),
            next_oid: Oid(le32(b, 32)),
            next_multi: MultiXid(le32(b, 36)),
            next_multi_offset: le32(b, 40),
            oldest_xid: Xid(le32(b, 44)),
            oldest_xid_db: Oid(le32(b, 48)),
            oldest_multi: MultiXid(le32(b, 52)),
            oldest_multi_db: Oid(le32(b, 56)),
            time: le64(b, 64) as i64,
            oldest_commit_ts_xid: Xid(le32(b, 72)),
            newest_commit_ts_xid: Xid(le32(b, 76)),
            oldest_active_xid: Xid(le32(b, 80)),
        })
    }

    /// The body as stored in the record; padding is zero.
    pub fn to_bytes(&self) -> [u8; CHECKPOINT_SIZE] {
        let mut b = [0; CHECKPOINT_SIZE];
        let mut put = |at: usize, bytes: &[u8]| b[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.redo.0.to_le_bytes());
        put(8, &self.timeline.to_le_bytes());
        put(12, &self.prev_timeline.to_le_bytes());
        put(16, &[u8::from(self.full_page_writes)]);
        put(24, &self.next_xid.0.to_le_bytes());
        put(32, &self.next_oid.0.to_le_bytes());
        put(36, &self.next_multi.0.to_le_bytes());
        put(40, &self.next_multi_offset.to_le_bytes());
        put(44, &self.oldest_xid.0.to_le_bytes());
        put(48, &self.oldest_xid_db.0.to_le_bytes());
        put(52, &self.oldest_multi.0.to_le_bytes());
        put(56, &self.oldest_multi_db.0.to_le_bytes());
        put(64, &self.time.to_le_bytes());
        put(72, &self.oldest_commit_ts_xid.0.to_le_bytes());
        put(76, &self.newest_commit_ts_xid.0.to_le_bytes());
        put(80, &self.oldest_active_xid.0.to_le_bytes());
        b
    }
}

/// State of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum DbState {
    #[default]
    Startup = 0,
    ShutDowned = 1,
    ShutDownedInRecovery = 2,
    ShutDowning = 3,
    InCrashRecovery = 4,
    InArchiveRecovery = 5,
    InProduction = 6,
}

impl DbState {
    const fn from_u32(n: u32) -> Option<DbState> {
        Some(match n {
            0 => DbState::Startup,
            1 => DbState::ShutDowned,
            2 => DbState::ShutDownedInRecovery,
            3 => DbState::ShutDowning,
            4 => DbState::InCrashRecovery,
            5 => DbState::InArchiveRecovery,
            6 => DbState::InProduction,
            _ => return None,
        })
    }
}

/// The first value of the fake LSN counter for unlogged relations. Counterpart:
/// `FirstNormalUnloggedLSN`.
pub const FIRST_UNLOGGED_LSN: Lsn = Lsn(1000);

/// The fields of `pg_control` that vary; those fixed by the format are checked on reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFile {
    pub system_id: u64,
    pub state: DbState,
    /// Time of the last change, seconds since 1970.
    pub time: i64,
    /// Start of the last checkpoint record.
    pub check_point: Lsn,
    pub check_point_copy: CheckPoint,
    pub unlogged_lsn: Lsn,
    pub min_recovery_point: Lsn,
    pub min_recovery_point_tli: u32,
    pub backup_start_point: Lsn,
    pub backup_end_point: Lsn,
    pub backup_end_required: bool,
    pub wal_level: u32,
    pub wal_log_hints: bool,
    pub max_connections: u32,
    pub max_worker_processes: u32,
    pub max_wal_senders: u32,
    pub max_prepared_xacts: u32,
    pub max_locks_per_xact: u32,
    pub track_commit_timestamp: bool,
    pub wal_segment_size: u32,
    /// 0 is off, 1 is on.
    pub data_checksum_version: u32,
    pub mock_authentication_nonce: [u8; 32],
}

fn incompatible(detail: String, hint: &str) -> PgError {
    PgError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        "database files are incompatible with server",
    )
    .severity(pgerror::Severity::Fatal)
    .detail(detail)
    .hint(hint)
}

/// Errors if the bytes are damaged, or made by a server with other formats.
fn check_compatible(b: &[u8]) -> Result<()> {
    let version = le32(b, 8);
    let initdb = "It looks like you need to initdb.";
    if version != CONTROL_VERSION && version.is_multiple_of(65_536) && version / 65_536 != 0 {
        return Err(incompatible(
            format!(
                "The database cluster was initialized with PG_CONTROL_VERSION {version} \
                 (0x{version:08x}), but the server was compiled with PG_CONTROL_VERSION \
                 {CONTROL_VERSION} (0x{CONTROL_VERSION:08x})."
            ),
            "This could be a problem of mismatched byte ordering.  It looks like you need to \
             initdb.",
        ));
    }
    let fixed = |name: &str, found: u32, expected: u32, hint: &str| -> Result<()> {
        if found == expected {
            return Ok(());
        }
        Err(incompatible(
            format!(
                "The database cluster was initialized with {name} {found}, but the server was \
                 compiled with {name} {expected}."
            ),
            hint,
        ))
    };
    fixed("PG_CONTROL_VERSION", version, CONTROL_VERSION, initdb)?;
    if le32(b, CRC_AT) != crc32c::crc32c(&b[..CRC_AT]) {
        return Err(PgError::new(SqlState::INTERNAL_ERROR, "incorrect checksum in control file")
            .severity(pgerror::Severity::Fatal));
    }
    let recompile = "It looks like you need to recompile or initdb.";
    fixed("CATALOG_VERSION_NO", le32(b, 12), CATALOG_VERSION, initdb)?;
    fixed("MAXALIGN", le32(b, 204), 8, initdb)?;
    if f64::from_bits(le64(b, 208)) != 1_234_567.0 {
        return Err(incompatible(
            "The database cluster appears to use a different floating-point number format \
             than the server executable."
                .into(),
            initdb,
        ));
    }
    fixed("BLCKSZ", le32(b, 216), 8192, recompile)?;
    fixed("RELSEG_SIZE", le32(b, 220), 131_072, recompile)?;
    fixed("XLOG_BLCKSZ", le32(b, 224), 8192, recompile)?;
    fixed("NAMEDATALEN", le32(b, 232), 64, recompile)?;
    fixed("INDEX_MAX_KEYS", le32(b, 236), 32, recompile)?;
    fixed("TOAST_MAX_CHUNK_SIZE", le32(b, 240), 1996, recompile)?;
    fixed("LOBLKSIZE", le32(b, 244), 2048, recompile)?;
    if b[248] == 0 {
        return Err(incompatible(
            "The database cluster was initialized without USE_FLOAT8_BYVAL but the server was \
             compiled with USE_FLOAT8_BYVAL."
                .into(),
            recompile,
        ));
    }
    Ok(())
}

impl ControlFile {
    /// The control file of a new cluster that has been shut down, with its checkpoint record at
    /// `check_point`. The limits are those of the default settings, which also wrote the first log
    /// records.
    pub fn of_new_cluster(
        (system_id, mock_authentication_nonce): (u64, [u8; 32]),
        time: i64,
        (check_point, check_point_copy): (Lsn, CheckPoint),
        wal_segment_size: u32,
    ) -> ControlFile {
        ControlFile {
            system_id,
            state: DbState::ShutDowned,
            time,
            check_point,
            check_point_copy,
            unlogged_lsn: FIRST_UNLOGGED_LSN,
            min_recovery_point: Lsn::INVALID,
            min_recovery_point_tli: 0,
            backup_start_point: Lsn::INVALID,
            backup_end_point: Lsn::INVALID,
            backup_end_required: false,
            wal_level: 1,
            wal_log_hints: false,
            max_connections: 100,
            max_worker_processes: 8,
            max_wal_senders: 10,
            max_prepared_xacts: 0,
            max_locks_per_xact: 64,
            track_commit_timestamp: false,
            wal_segment_size,
            data_checksum_version: 0,
            mock_authentication_nonce,
        }
    }

    /// Reads and checks the bytes of the file.
    pub fn decode(b: &[u8]) -> Result<ControlFile> {
        if b.len() < CRC_AT + 4 {
            return Err(PgError::new(
                SqlState::DATA_CORRUPTED,
                format!(
                    "could not read file \"{CONTROL_FILE}\": read {} of {}",
                    b.len(),
                    CRC_AT + 8
                ),
            )
            .severity(pgerror::Severity::Panic));
        }
        check_compatible(b)?;
        let segment_size = le32(b, 228);
        if !crate::layout::valid_segment_size(segment_size) {
            return Err(PgError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!(
                    "WAL segment size must be a power of two between 1 MB and 1 GB, but the \
                     control file specifies {segment_size} bytes"
                ),
            ));
        }
        let state = DbState::from_u32(le32(b, 16)).ok_or_else(|| {
            PgError::new(
                SqlState::DATA_CORRUPTED,
                "control file contains invalid database cluster state",
            )
            .severity(pgerror::Severity::Fatal)
        })?;
        let mut nonce = [0; 32];
        nonce.copy_from_slice(&b[256..288]);
        Ok(ControlFile {
            system_id: le64(b, 0),
            state,
            time: le64(b, 24) as i64,
            check_point: Lsn(le64(b, 32)),
            check_point_copy: CheckPoint::read(&b[40..]).unwrap_or_default(),
            unlogged_lsn: Lsn(le64(b, 128)),
            min_recovery_point: Lsn(le64(b, 136)),
            min_recovery_point_tli: le32(b, 144),
            backup_start_point: Lsn(le64(b, 152)),
            backup_end_point: Lsn(le64(b, 160)),
            backup_end_required: b[168] != 0,
            wal_level: le32(b, 172),
            wal_log_hints: b[176] != 0,
            max_connections: le32(b, 180),
            max_worker_processes: le32(b, 184),
            max_wal_senders: le32(b, 188),
            max_prepared_xacts: le32(b, 192),
            max_locks_per_xact: le32(b, 196),
            track_commit_timestamp: b[200] != 0,
            wal_segment_size: segment_size,
            data_checksum_version: le32(b, 252),
            mock_authentication_nonce: nonce,
        })
    }

    /// The whole file, zero-filled to its size.
    pub fn encode(&self) -> Vec<u8> {
        let mut b = vec![0; CONTROL_FILE_SIZE];
        let mut put = |at: usize, bytes: &[u8]| b[at..at + bytes.len()].copy_from_slice(bytes);
        let mut put32 = |at: usize, n: u32| put(at, &n.to_le_bytes());
        put32(8, CONTROL_VERSION);
        put32(12, CATALOG_VERSION);
        put32(16, self.state as u32);
        put32(144, self.min_recovery_point_tli);
        put32(168, u32::from(self.backup_end_required));
        put32(172, self.wal_level);
        put32(176, u32::from(self.wal_log_hints));
        put32(180, self.max_connections);
        put32(184, self.max_worker_processes);
        put32(188, self.max_wal_senders);
        put32(192, self.max_prepared_xacts);
        put32(196, self.max_locks_per_xact);
        put32(200, u32::from(self.track_commit_timestamp));
        put32(204, 8);
        put32(216, 8192);
        put32(220, 131_072);
        put32(224, 8192);
        put32(228, self.wal_segment_size);
        put32(232, 64);
        put32(236, 32);
        put32(240, 1996);
        put32(244, 2048);
        put32(248, 1);
        put32(252, self.data_checksum_version);
        let mut put64 = |at: usize, n: u64| put(at, &n.to_le_bytes());
        put64(0, self.system_id);
        put64(24, self.time as u64);
        put64(32, self.check_point.0);
        put64(128, self.unlogged_lsn.0);
        put64(136, self.min_recovery_point.0);
        put64(152, self.backup_start_point.0);
        put64(160, self.backup_end_point.0);
        put64(208, 1_234_567.0f64.to_bits());
        put(40, &self.check_point_copy.to_bytes());
        put(256, &self.mock_authentication_nonce);
        let crc = crc32c::crc32c(&b[..CRC_AT]);
        b[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
        b
    }
}

const _: () = assert!(CONTROL_FILE_SIZE > CRC_AT);
