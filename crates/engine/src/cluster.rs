//! Creation of a new cluster: directories, first WAL segment, status files and control file, which
//! the engine needs to open it. The catalogs are filled afterwards, through the opened engine.
//!
//! Counterpart: `BootStrapXLOG` in xlog.c, `create_data_directory` and `subdirs` in initdb.c.

use crate::control::Control;
use ids::{FullXid, Lsn, MultiXid, Oid, Xid};
use lmgr::LockManager;
use pgerror::Result;
use txn::{TxnConfig, TxnManager};
use vfs::{Env, io_error};
use wal::layout::{LONG_HEADER, Layout};
use wal::{CheckPoint, ControlFile, RecordBuilder, RmgrId, Wal, WalConfig, WalStart};

/// Directories of a cluster, parents first.
const DIRECTORIES: [&str; 23] = [
    "global",
    "pg_wal",
    "pg_wal/archive_status",
    "pg_commit_ts",
    "pg_dynshmem",
    "pg_notify",
    "pg_serial",
    "pg_snapshots",
    "pg_subtrans",
    "pg_twophase",
    "pg_multixact",
    "pg_multixact/members",
    "pg_multixact/offsets",
    "base",
    "base/1",
    "pg_replslot",
    "pg_tblspc",
    "pg_stat",
    "pg_stat_tmp",
    "pg_xact",
    "pg_logical",
    "pg_logical/snapshots",
    "pg_logical/mappings",
];
/// The database `template1`.
const TEMPLATE1: Oid = Oid(1);

/// Properties of a new cluster.
#[derive(Clone, Copy, Debug)]
pub struct ClusterOptions {
    pub segment_size: u32,
    pub checksums: bool,
}

impl Default for ClusterOptions {
    fn default() -> ClusterOptions {
        ClusterOptions { segment_size: wal::layout::DEFAULT_SEGMENT_SIZE, checksums: true }
    }
}

/// Creates a cluster in an empty data directory, in the state of one that was shut down, for
/// [`crate::engine::Engine::open`].
pub fn create_cluster(env: &Env, options: &ClusterOptions) -> Result<()> {
    let disk = &*env.disk;
    for dir in DIRECTORIES {
        disk.create_dir(dir).map_err(|e| io_error("create directory", dir, &e))?;
        disk.set_mode(dir, 0o700).map_err(|e| io_error("set permissions of directory", dir, &e))?;
    }
    for path in ["PG_VERSION", "base/1/PG_VERSION"] {
        vfs::write_file(disk, path, b"15\n")?;
    }
    let seconds = env.clock.unix_seconds();
    // The system identifier consists of the time and of random bits, which distinguish clusters
    // that are created at the same time.
    let system_id = (seconds as u64) << 32 | (env.random.u64() & 0xffff_ffff);
    let layout = Layout::new(options.segment_size);
    let first = layout.segment_start(1);
    let checkpoint = CheckPoint {
        redo: first + LONG_HEADER as u64,
        timeline: 1,
        prev_timeline: 1,
        full_page_writes: true,
        next_xid: FullXid::new(0, Xid::FIRST_NORMAL),
        next_oid: Oid::FIRST_GENBKI,
        next_multi: MultiXid::FIRST,
        oldest_xid: Xid::FIRST_NORMAL,
        oldest_xid_db: TEMPLATE1,
        oldest_multi: MultiXid::FIRST,
        oldest_multi_db: TEMPLATE1,
        time: seconds,
        ..CheckPoint::default()
    };
    let wal = Wal::new(env.clone(), WalConfig::new(options.segment_size, system_id));
    let start = WalStart {
        timeline: 1,
        end: first,
        prev: Lsn::INVALID,
        redo: checkpoint.redo,
        overwrite: false,
    };
    wal.start(start)?;
    let mut record = RecordBuilder::new(RmgrId::Xlog, crate::xlog::XLOG_CHECKPOINT_SHUTDOWN);
    record.main(&checkpoint.to_bytes());
    let at = wal.insert(&mut record, &[], Xid::INVALID)?;
    wal.flush(at.end)?;
    let config = TxnConfig { slots: 8, ..TxnConfig::default() };
    let locks = LockManager::new(config.slots);
    let txn = TxnManager::new(env.clone(), wal, locks, config);
    txn.bootstrap()?;
    txn.checkpoint()?;
    let mut nonce = [0; 32];
    env.random.fill(&mut nonce);
    let mut file = ControlFile::of_new_cluster(
        (system_id, nonce),
        seconds,
        (at.start, checkpoint),
        options.segment_size,
    );
    file.data_checksum_version = u32::from(options.checksums);
    Control::create(disk, &file)?;
    for dir in DIRECTORIES.iter().copied().chain(["."]) {
        disk.sync_dir(dir).map_err(|e| io_error("fsync file", dir, &e))?;
    }
    Ok(())
}
