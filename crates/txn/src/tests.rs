//! Tests of sessions over a log and an in-memory disk, of crashes, and of the file format.

mod crash;
mod files;
mod model;
mod multi;
mod sessions;

use crate::*;
use ids::{FullXid, Lsn, MultiXid, Oid, Xid};
use lmgr::LockManager;
use sync::Arc;
use sync::wait::Waiter;
use vfs::{Disk, Env, MemDisk};
use wal::{CheckPoint, Wal, WalConfig, WalReader, WalStart};

pub(super) const SEGMENT: u32 = 1 << 20;
const SYSTEM: u64 = 7;
pub(super) const DB: Oid = Oid(5);

pub(super) fn env() -> (Arc<MemDisk>, Env) {
    let disk = Arc::new(MemDisk::new());
    let mut env = Env::memory(1);
    env.disk = disk.clone();
    for dir in ["pg_wal", "pg_xact", "pg_subtrans", "pg_multixact"] {
        disk.create_dir(dir).unwrap();
    }
    disk.create_dir("pg_multixact/offsets").unwrap();
    disk.create_dir("pg_multixact/members").unwrap();
    for dir in [".", "pg_multixact"] {
        disk.sync_dir(dir).unwrap();
    }
    (disk, env)
}

pub(super) fn checkpoint_at(next: FullXid) -> CheckPoint {
    CheckPoint {
        redo: Lsn(u64::from(SEGMENT)),
        timeline: 1,
        prev_timeline: 1,
        full_page_writes: true,
        next_xid: next,
        next_oid: Oid(16384),
        next_multi: MultiXid(1),
        next_multi_offset: 0,
        oldest_xid: Xid(3),
        oldest_xid_db: Oid(1),
        oldest_multi: MultiXid(1),
        oldest_multi_db: Oid(1),
        time: 0,
        oldest_commit_ts_xid: Xid(0),
        newest_commit_ts_xid: Xid(0),
        oldest_active_xid: Xid(0),
    }
}

pub(super) fn new_manager(env: &Env, config: TxnConfig) -> Arc<TxnManager> {
    let mut wal_config = WalConfig::new(SEGMENT, SYSTEM);
    wal_config.buffers = 16;
    let wal = Wal::new(env.clone(), wal_config);
    let locks = LockManager::new(config.slots);
    locks.set_deadlock_timeout(std::time::Duration::from_millis(5));
    TxnManager::new(env.clone(), wal, locks, config)
}

pub(super) fn small() -> TxnConfig {
    TxnConfig { slots: 16, clog_pages: 8, subtrans_pages: 8, ..TxnConfig::default() }
}

/// A new cluster that accepts transactions.
pub(super) fn fresh_at(env: &Env, next: FullXid) -> Arc<TxnManager> {
    let m = new_manager(env, small());
    m.bootstrap().unwrap();
    m.clog.slru.zero_page(crate::clog::page_of(next.xid())).unwrap();
    m.checkpoint().unwrap();
    m.startup(&checkpoint_at(next)).unwrap();
    let at = Lsn(u64::from(SEGMENT));
    let start = WalStart { timeline: 1, end: at, prev: Lsn(0), redo: at, overwrite: false };
    m.wal.start(start).unwrap();
    m.end_recovery(None).unwrap();
    m
}

pub(super) fn fresh(env: &Env) -> Arc<TxnManager> {
    fresh_at(env, FullXid(3))
}

/// Replays the log from its beginning and ends recovery.
pub(super) fn recover(disk: Arc<dyn Disk>) -> (Arc<TxnManager>, u64) {
    let env = Env { disk: disk.clone(), ..Env::memory(2) };
    let m = new_manager(&env, small());
    m.startup(&checkpoint_at(FullXid(3))).unwrap();
    let mut reader = WalReader::new(disk, SEGMENT, 1, Some(SYSTEM));
    reader.seek(Lsn(u64::from(SEGMENT)));
    let mut count = 0;
    while let Some(record) = reader.read().unwrap() {
        m.redo(record).unwrap();
        count += 1;
    }
    let first = Lsn(u64::from(SEGMENT));
    let overwrite = reader.aborted_contrecord();
    let end = overwrite.map_or(reader.next_lsn(), |(_, page)| page);
    m.wal
        .start(WalStart {
            timeline: 1,
            end: if count == 0 { first } else { end },
            prev: if count == 0 { Lsn(0) } else { reader.last_lsn() },
            redo: first,
            overwrite: overwrite.is_some(),
        })
        .unwrap();
    m.end_recovery(None).unwrap();
    (m, count)
}

pub(super) fn connect(m: &Arc<TxnManager>) -> Transaction {
    m.connect(1, DB, Oid(1663), Arc::new(Waiter::new())).unwrap()
}

pub(super) fn begin(t: &mut Transaction) {
    t.begin(Isolation::ReadCommitted, 0);
}

/// Commits as if the transaction had logged a change.
pub(super) fn commit(t: &mut Transaction) {
    t.note_record(Lsn(1));
    t.commit(&XactExtras::default(), true, 1).unwrap();
    t.release_locks();
}

pub(super) fn abort(t: &mut Transaction) {
    t.abort(&XactExtras::default()).unwrap();
    t.release_locks();
}
