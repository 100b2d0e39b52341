//! The initial WAL segment, with one shutdown checkpoint record, and `pg_control`.
//!
//! Counterpart: `BootStrapXLOG` of xlog.c.

use super::InitOptions;
use ids::{FullXid, MultiXid, Oid, Xid};
use vfs::Env;
use wal::layout::{LONG_HEADER, Layout, PageHeader, WAL_PAGE, XLP_LONG_HEADER};
use wal::{CheckPoint, ControlFile};

pub(super) struct Start {
    pub segment_name: String,
    pub segment: Vec<u8>,
    pub control: Vec<u8>,
}

const TIMELINE: u32 = 1;

/// A new system identifier, composed of the time and random bits in PostgreSQL's layout.
fn system_id(env: &Env) -> u64 {
    let micros = env.clock.unix_micros() as u64;
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    seconds << 32 | fraction << 12 | env.random.u64() & 0xFFF
}

pub(super) fn start(env: &Env, options: &InitOptions) -> Start {
    let layout = Layout::new(options.wal_segment_size);
    // The first segment has number 1: LSN 0 must stay invalid.
    let first = layout.segment_start(1);
    let at = first + LONG_HEADER as u64;
    let seconds = env.clock.unix_seconds();
    let check_point = CheckPoint {
        redo: at,
        timeline: TIMELINE,
        prev_timeline: TIMELINE,
        full_page_writes: true,
        next_xid: FullXid::new(0, Xid::FIRST_NORMAL),
        next_oid: Oid::FIRST_NORMAL,
        next_multi: MultiXid::FIRST,
        next_multi_offset: 0,
        oldest_xid: Xid::FIRST_NORMAL,
        oldest_xid_db: Oid(1),
        oldest_multi: MultiXid::FIRST,
        oldest_multi_db: Oid(1),
        time: seconds,
        oldest_commit_ts_xid: Xid::INVALID,
        newest_commit_ts_xid: Xid::INVALID,
        oldest_active_xid: Xid::INVALID,
    };
    let system_id = system_id(env);
    let mut segment = vec![0; options.wal_segment_size as usize];
    let header = PageHeader {
        magic: wal::layout::PAGE_MAGIC,
        info: XLP_LONG_HEADER,
        timeline: TIMELINE,
        page_addr: first,
        rem_len: 0,
        long: Some((system_id, options.wal_segment_size, WAL_PAGE as u32)),
    };
    header.write(&mut segment);
    let record = checkpoint_record(&check_point);
    segment[LONG_HEADER..LONG_HEADER + record.len()].copy_from_slice(&record);

    let mut nonce = [0; 32];
    env.random.fill(&mut nonce);
    let mut control = ControlFile::of_new_cluster(
        (system_id, nonce),
        seconds,
        (at, check_point),
        options.wal_segment_size,
    );
    control.data_checksum_version = u32::from(options.checksums);
    Start { segment_name: layout.file_name(TIMELINE, 1), segment, control: control.encode() }
}

/// The complete WAL record: header, short main-data header, checkpoint data.
fn checkpoint_record(check_point: &CheckPoint) -> Vec<u8> {
    const HEADER: usize = 24;
    const MAIN_DATA_SHORT: u8 = 255;
    const CHECKPOINT_SHUTDOWN: u8 = 0x00;
    let data = check_point.to_bytes();
    let mut record = vec![0; HEADER];
    record.extend_from_slice(&[MAIN_DATA_SHORT, data.len() as u8]);
    record.extend_from_slice(&data);
    let total = record.len() as u32;
    record[..4].copy_from_slice(&total.to_le_bytes());
    // xl_tot_len is set; xl_xid and xl_prev stay zero: no transaction, no previous record.
    record[16] = CHECKPOINT_SHUTDOWN;
    record[17] = wal::RmgrId::Xlog as u8;
    let crc = crc32c::crc32c_append(crc32c::crc32c(&record[HEADER..]), &record[..20]);
    record[20..24].copy_from_slice(&crc.to_le_bytes());
    record
}
