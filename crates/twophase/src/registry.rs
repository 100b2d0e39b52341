//! The prepared transactions of the instance, by global identifier.

use crate::file;
use crate::state::State;
use ids::{Lsn, Oid, Xid};
use lmgr::ProcNo;
use pgerror::{PgError, Result, Severity, pg_err};
use sync::{Arc, Mutex};
use txn::TxnManager;
use vfs::Disk;

/// Exclusive upper limit of the length of a global identifier, in bytes. Counterpart: `GIDSIZE`.
const GID_BYTES_END: usize = 200;

/// What identifies a prepared transaction.
#[derive(Clone, Debug)]
pub struct Identity {
    pub xid: Xid,
    pub gid: String,
    /// Microseconds since 2000-01-01.
    pub prepared_at: i64,
    pub owner: Oid,
    pub database: Oid,
}

/// A row of `pg_prepared_xacts`.
pub type PreparedRow = Identity;

/// Where the state of a transaction is.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Nowhere yet.
    None,
    /// In the log, in a record that ends here, and in memory.
    Log(Arc<[u8]>, Lsn),
    File,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Preparing,
    /// Found in the log or in a file; recovery has not ended.
    Replayed,
    Prepared,
    /// A session is executing COMMIT PREPARED or ROLLBACK PREPARED.
    Finishing,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) identity: Identity,
    pub(crate) proc: ProcNo,
    pub(crate) place: Place,
    pub(crate) phase: Phase,
}

#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) list: Vec<Entry>,
    /// Free slots of the proc array, the next one last.
    free: Vec<ProcNo>,
}

/// The prepared transactions of an instance.
pub struct TwoPhase {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) txns: Arc<TxnManager>,
    pub(crate) entries: Mutex<Entries>,
    /// `max_prepared_transactions`.
    max: usize,
}

impl TwoPhase {
    /// `max` is the number of slots for prepared transactions in `txns`.
    pub fn new(disk: Arc<dyn Disk>, txns: Arc<TxnManager>, max: usize) -> TwoPhase {
        let first = txns.first_prepared_slot();
        let free = (first..first + max as ProcNo).rev().collect();
        let entries = Mutex::new(Entries { list: Vec::new(), free });
        TwoPhase { disk, txns, entries, max }
    }

    /// Reserves the global identifier and a slot for a transaction that is to be prepared. Errors:
    /// 22023, 55000, 42710, 53200. Counterpart: `MarkAsPreparing`.
    pub fn reserve(&self, identity: Identity) -> Result<Reservation<'_>> {
        let gid = &identity.gid;
        if gid.len() >= GID_BYTES_END {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "transaction identifier \"{gid}\" is too long"
            ));
        }
        if self.max == 0 {
            return Err(pg_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "prepared transactions are disabled"
            )
            .hint("Set max_prepared_transactions to a nonzero value."));
        }
        let mut entries = self.entries.lock();
        if entries.list.iter().any(|e| e.identity.gid == *gid) {
            return Err(pg_err!(
                DUPLICATE_OBJECT,
                "transaction identifier \"{gid}\" is already in use"
            ));
        }
        let xid = identity.xid;
        let proc = self.add(&mut entries, identity, Place::None, Phase::Preparing)?;
        Ok(Reservation { registry: self, xid, proc, complete: false })
    }

    pub(crate) fn add(
        &self,
        entries: &mut Entries,
        identity: Identity,
        place: Place,
        phase: Phase,
    ) -> Result<ProcNo> {
        let Some(proc) = entries.free.pop() else {
            let hint = format!("Increase max_prepared_transactions (currently {}).", self.max);
            let message = "maximum number of prepared transactions reached";
            return Err(pg_err!(OUT_OF_MEMORY, "{message}").hint(hint));
        };
        entries.list.push(Entry { identity, proc, place, phase });
        Ok(proc)
    }

    pub(crate) fn remove(&self, entries: &mut Entries, xid: Xid) -> Option<Entry> {
        let at = entries.list.iter().position(|e| e.identity.xid == xid)?;
        let entry = entries.list.remove(at);
        entries.free.push(entry.proc);
        Some(entry)
    }

    /// Claims the transaction with this identifier, so that no other session ends it. `user` must
    /// be its owner or a superuser, and connected to its database. Errors: 42704, 55000, 42501,
    /// 0A000.
    /// Counterpart: `LockGXact`.
    pub fn claim(
        &self,
        gid: &str,
        user: Oid,
        is_superuser: bool,
        database: Oid,
    ) -> Result<Claim<'_>> {
        let mut entries = self.entries.lock();
        let is_known = |e: &&mut Entry| {
            matches!(e.phase, Phase::Prepared | Phase::Finishing) && e.identity.gid == gid
        };
        let Some(entry) = entries.list.iter_mut().find(is_known) else {
            return Err(pg_err!(
                UNDEFINED_OBJECT,
                "prepared transaction with identifier \"{gid}\" does not exist"
            ));
        };
        if entry.phase == Phase::Finishing {
            return Err(pg_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "prepared transaction with identifier \"{gid}\" is busy"
            ));
        }
        if entry.identity.owner != user && !is_superuser {
            return Err(pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to finish prepared transaction"
            )
            .hint("Must be superuser or the user that prepared the transaction."));
        }
        if entry.identity.database != database {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "prepared transaction belongs to another database"
            )
            .hint("Connect to the database where the transaction was prepared to finish it."));
        }
        entry.phase = Phase::Finishing;
        let (xid, proc, place) = (entry.identity.xid, entry.proc, entry.place.clone());
        Ok(Claim { registry: self, xid, proc, place, ended: false })
    }

    /// The rows of `pg_prepared_xacts`.
    pub fn rows(&self) -> Vec<PreparedRow> {
        let entries = self.entries.lock();
        let known = entries.list.iter().filter(|e| e.phase != Phase::Preparing);
        known.map(|e| e.identity.clone()).collect()
    }

    /// Writes the states whose records are before the redo pointer of a checkpoint to files;
    /// returns their number. Near the end of the checkpoint, because most transactions have ended
    /// by then. Counterpart: `CheckPointTwoPhase`.
    pub fn checkpoint(&self, redo: Lsn) -> Result<usize> {
        if self.max == 0 {
            return Ok(0);
        }
        let mut written = 0;
        {
            let mut entries = self.entries.lock();
            for entry in &mut entries.list {
                if let Place::Log(state, end) = &entry.place
                    && *end <= redo
                {
                    file::write(&*self.disk, entry.identity.xid, state)?;
                    entry.place = Place::File;
                    written += 1;
                }
            }
        }
        // Also for the removals since the last checkpoint.
        let synced = self.disk.sync_dir(file::DIRECTORY);
        synced.map_err(|e| vfs::io_error("fsync file", file::DIRECTORY, &e))?;
        Ok(written)
    }
}

/// A reserved identifier; dropping it before the record is logged gives it back.
pub struct Reservation<'a> {
    registry: &'a TwoPhase,
    xid: Xid,
    proc: ProcNo,
    complete: bool,
}

impl Reservation<'_> {
    /// The slot of the transaction in the proc array.
    pub fn proc(&self) -> ProcNo {
        self.proc
    }

    /// The state is in the log, in a record with this end. From now on checkpoints see it.
    pub fn logged(&self, state: &Arc<[u8]>, end: Lsn) {
        let mut entries = self.registry.entries.lock();
        if let Some(entry) = entries.list.iter_mut().find(|e| e.identity.xid == self.xid) {
            entry.place = Place::Log(state.clone(), end);
        }
    }

    /// The transaction is detached from its session: any session may end it.
    pub fn complete(mut self) {
        self.complete = true;
        let mut entries = self.registry.entries.lock();
        if let Some(entry) = entries.list.iter_mut().find(|e| e.identity.xid == self.xid) {
            entry.phase = Phase::Prepared;
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.complete {
            return;
        }
        let mut entries = self.registry.entries.lock();
        let own = entries.list.iter().find(|e| e.identity.xid == self.xid);
        if own.is_some_and(|e| matches!(e.place, Place::None)) {
            self.registry.remove(&mut entries, self.xid);
        }
    }
}

/// The right to end a prepared transaction; dropping it gives the right back.
pub struct Claim<'a> {
    registry: &'a TwoPhase,
    xid: Xid,
    proc: ProcNo,
    place: Place,
    ended: bool,
}

impl Claim<'_> {
    pub fn proc(&self) -> ProcNo {
        self.proc
    }

    /// Reads the transaction's state, from memory or from its file.
    pub fn state(&self) -> Result<State> {
        match &self.place {
            Place::Log(bytes, _) => State::decode(bytes)
                .ok_or_else(|| PgError::internal("the state of a prepared transaction is damaged")),
            _ => file::read(&*self.registry.disk, self.xid),
        }
    }

    /// The transaction has ended and holds no locks: removes it and its file. The error is a
    /// warning about the file.
    pub fn finish(mut self) -> Option<PgError> {
        self.ended = true;
        let entry = self.registry.remove(&mut self.registry.entries.lock(), self.xid);
        let has_file = entry.is_some_and(|e| matches!(e.place, Place::File));
        let warning = has_file.then(|| file::remove(&*self.registry.disk, self.xid, true));
        warning.flatten().map(|e| e.severity(Severity::Warning))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let mut entries = self.registry.entries.lock();
        if let Some(entry) = entries.list.iter_mut().find(|e| e.identity.xid == self.xid) {
            entry.phase = Phase::Prepared;
        }
    }
}
