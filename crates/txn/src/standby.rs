//! Records for hot standby: running transactions and AccessExclusive locks on relations.
//!
//! Counterpart: standby.c.

use crate::manager::TxnManager;
use ids::{Lsn, Oid, Xid};
use lmgr::{LockMode, LockTagKind};
use pgerror::Result;
use wal::{RecordBuilder, RmgrId, WalLevel};

pub(crate) const STANDBY_LOCK: u8 = 0x00;
pub(crate) const RUNNING_XACTS: u8 = 0x10;
pub(crate) const STANDBY_INVALIDATIONS: u8 = 0x20;

impl TxnManager {
    /// Logs the AccessExclusive locks held on relations, and the running transactions. Called at
    /// checkpoints and every few seconds. WAL: `STANDBY_LOCK`, `RUNNING_XACTS`.
    /// Counterpart: `LogStandbySnapshot`.
    pub fn log_standby_snapshot(&self, b: &mut RecordBuilder) -> Result<Lsn> {
        let locks = self.running_locks();
        if !locks.is_empty() {
            build_locks(b, &locks);
            self.wal.insert(b, &[], Xid::INVALID)?;
        }
        // Under the id generator's mutex, so that the record lists each id assigned before it.
        let xids = self.xid_gen.lock();
        let next = self.next_full_xid().xid();
        let running = self.procs.running(next);
        b.reset(RmgrId::Standby, RUNNING_XACTS);
        b.main(&(running.xids.len() as u32).to_le_bytes());
        b.main(&(running.subxids.len() as u32).to_le_bytes());
        b.main(&u32::from(running.overflowed).to_le_bytes());
        b.main(&next.0.to_le_bytes());
        b.main(&running.oldest.0.to_le_bytes());
        b.main(&running.latest_completed.0.to_le_bytes());
        for xid in running.xids.iter().chain(&running.subxids) {
            b.main(&xid.0.to_le_bytes());
        }
        b.mark_unimportant();
        let inserted = self.wal.insert(b, &[], Xid::INVALID)?;
        drop(xids);
        self.wal.note_async_commit(inserted.end);
        Ok(inserted.end)
    }

    fn running_locks(&self) -> Vec<(Xid, Oid, Oid)> {
        let rows = self.locks.rows();
        let exclusive = rows.into_iter().filter(|r| {
            r.granted && r.mode == LockMode::AccessExclusive && r.tag.kind == LockTagKind::Relation
        });
        exclusive
            .map(|r| (self.procs.xid(r.proc), Oid(r.tag.field1), Oid(r.tag.field2)))
            .filter(|(xid, ..)| xid.is_valid())
            .collect()
    }

    /// Logs one AccessExclusive lock, held by the transaction `xid`. WAL: `STANDBY_LOCK`.
    /// Counterpart: `LogAccessExclusiveLock`.
    pub fn log_access_exclusive_lock(
        &self,
        b: &mut RecordBuilder,
        xid: Xid,
        database: Oid,
        relation: Oid,
    ) -> Result<()> {
        build_locks(b, &[(xid, database, relation)]);
        b.mark_unimportant();
        self.wal.insert(b, &[], xid)?;
        Ok(())
    }

    /// True if `wal_level` requires the records that standbys need.
    pub fn standby_info(&self) -> bool {
        self.wal.level() >= WalLevel::Replica
    }
}

fn build_locks(b: &mut RecordBuilder, locks: &[(Xid, Oid, Oid)]) {
    b.reset(RmgrId::Standby, STANDBY_LOCK);
    b.main(&(locks.len() as u32).to_le_bytes());
    for (xid, database, relation) in locks {
        b.main(&xid.0.to_le_bytes()).main(&database.0.to_le_bytes());
        b.main(&relation.0.to_le_bytes());
    }
}
