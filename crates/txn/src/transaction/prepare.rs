//! Two-phase commit: a transaction is detached from its session, and ended by any session.
//!
//! INVARIANT: PREPARE proceeds in this order: insert the record, flush it, note its end for
//! checkpoints, move the locks to the slot of the prepared transaction, move the id there, end the
//! virtual xid. From the record on the transaction survives a crash, so a later error is a PANIC.
//! Id and locks are in one of both slots at any time.
//!
//! The end proceeds as a commit does: insert the record, flush it (always), set pg_xact, leave the
//! proc array; the caller releases the locks.
//!
//! Counterpart: `PrepareTransaction` in xact.c, `EndPrepare`, `RecordTransactionCommitPrepared` and
//! `RecordTransactionAbortPrepared` in twophase.c.

use super::{Transaction, latest_xid};
use crate::manager::{TxnManager, XidStatus};
use crate::record::{self, XactExtras};
use ids::{Lsn, MultiXid, Oid, Xid};
use lmgr::{LockMode, LockTag, ProcNo};
use pgerror::{PgError, Result, Severity};
use sync::atomic::Ordering;
use wal::{Inserted, WalLevel};

/// The prepared transaction that COMMIT PREPARED or ROLLBACK PREPARED ends.
#[derive(Clone, Copy, Debug)]
pub struct PreparedEnd<'a> {
    /// Its slot.
    pub proc: ProcNo,
    pub xid: Xid,
    /// Its committed subtransactions, ascending.
    pub subxacts: &'a [Xid],
    pub gid: &'a str,
}

impl Transaction {
    /// Commits the open subtransactions and assigns an id, before PREPARE TRANSACTION. Returns the
    /// id and those of the committed subtransactions.
    pub fn begin_prepare(&mut self) -> Result<(Xid, Vec<Xid>)> {
        while self.levels.len() > 1 {
            self.commit_subxact()?;
        }
        let xid = self.top_xid()?;
        Ok((xid, self.levels[0].children.clone()))
    }

    /// Oldest multixact that the transaction may be a member of, invalid if none was announced.
    pub fn oldest_multixact_member(&self) -> MultiXid {
        MultiXid(self.manager.procs.proc(self.proc).oldest_member.load(Ordering::Relaxed))
    }

    /// Logs the state of the transaction and moves it, with these locks, to the slot `to`. The
    /// session has no transaction afterwards. `logged` is called before a checkpoint can begin that
    /// does not replay the record. An error before the record leaves the transaction running; a
    /// later one has severity PANIC. WAL: a record of PREPARE, which is flushed.
    pub fn prepare(
        &mut self,
        state: &[u8],
        to: ProcNo,
        locks: &[(LockTag, LockMode)],
        logged: &mut dyn FnMut(Inserted),
    ) -> Result<Lsn> {
        let (xid, vxid) = (self.top_xid()?, self.vxid());
        let wal = &self.manager.wal;
        record::build_prepare(&mut self.builder, state);
        let delay = wal.delay_checkpoint_start();
        let at = wal.insert(&mut self.builder, &[], xid)?;
        wal.flush(at.end).map_err(|e| e.severity(Severity::Panic))?;
        logged(at);
        drop(delay);
        self.manager.locks.begin_prepared(to, xid, vxid);
        self.locks().transfer_to_prepared(to, locks);
        self.manager.procs.prepare(self.proc, to);
        self.clear();
        self.locks().end_vxid();
        Ok(at.end)
    }

    /// Ends a prepared transaction. On return other sessions see it as ended, but its locks are
    /// still held. An error before the record leaves it prepared; a later one has severity PANIC.
    /// WAL: a record of COMMIT PREPARED or ROLLBACK PREPARED, which is flushed.
    pub fn finish_prepared(
        &mut self,
        end: &PreparedEnd<'_>,
        commit: bool,
        extras: &XactExtras,
    ) -> Result<()> {
        let manager = &self.manager;
        let wal = &manager.wal;
        if !commit && manager.did_commit(end.xid)? {
            let message = format!("cannot abort transaction {}, it was already committed", end.xid);
            return Err(PgError::internal(message).severity(Severity::Panic));
        }
        let header = record::Header {
            time: manager.env.clock.pg_micros(),
            database: self.database,
            tablespace: self.tablespace,
            subxacts: end.subxacts,
            prepared: Some((end.xid, (wal.level() == WalLevel::Logical).then_some(end.gid))),
        };
        record::build(&mut self.builder, commit, &header, extras);
        let own = self.levels.first().map_or(Xid::INVALID, |l| l.xid);
        let delay = commit.then(|| wal.delay_checkpoint_start());
        let at = wal.insert(&mut self.builder, &[], own)?;
        let status = if commit { XidStatus::Committed } else { XidStatus::Aborted };
        wal.flush(at.end)
            .and_then(|_| manager.clog.set_tree(end.xid, end.subxacts, status, Lsn::INVALID))
            .map_err(|e| e.severity(Severity::Panic))?;
        drop(delay);
        manager.procs.end(end.proc, latest_xid(end.xid, end.subxacts));
        manager.locks.end_prepared(end.proc);
        Ok(())
    }
}

/// Prepared transactions at start-up.
impl TxnManager {
    /// Number of the first slot of prepared transactions.
    pub fn first_prepared_slot(&self) -> ProcNo {
        self.config.slots as ProcNo
    }

    /// Links subtransactions to a prepared transaction after a restart, and enters it in the proc
    /// array. After [`TxnManager::end_recovery`], before sessions are served.
    pub fn restore_prepared(
        &self,
        proc: ProcNo,
        database: Oid,
        xid: Xid,
        subxacts: &[Xid],
    ) -> Result<()> {
        for sub in subxacts {
            self.subtrans.set_parent(*sub, xid)?;
        }
        self.procs.restore(proc, database, xid, subxacts);
        self.locks.begin_prepared(proc, xid, None);
        Ok(())
    }

    /// The oldest multixact that a restored prepared transaction may be a member of. Counterpart:
    /// `multixact_twophase_recover`.
    pub fn restore_multixact_member(&self, proc: ProcNo, oldest: MultiXid) {
        self.procs.proc(proc).oldest_member.store(oldest.0, Ordering::Release);
    }
}
