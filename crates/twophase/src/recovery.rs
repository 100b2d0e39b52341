//! Prepared transactions at start-up: files and records are collected, and after the end of replay
//! the transactions are entered in the proc array and get their locks back.

use crate::file;
use crate::registry::{Entry, Identity, Phase, Place, TwoPhase};
use crate::state::State;
use ids::Xid;
use pgerror::{PgError, Result, Severity, SqlState};
use wal::DecodedRecord;

/// Receives messages for the server's log.
type Log<'a> = &'a dyn Fn(&PgError);

fn report(log: Log<'_>, severity: Severity, message: String) {
    log(&PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(severity));
}

fn warn(log: Log<'_>, message: String) {
    log(&PgError::new(SqlState::WARNING, message).severity(Severity::Warning));
}

fn identity(state: &State) -> Identity {
    Identity {
        xid: state.xid,
        gid: state.gid.clone(),
        prepared_at: state.prepared_at,
        owner: state.owner,
        database: state.database,
    }
}

fn fatal(e: PgError) -> PgError {
    let severity = e.fields().severity.max(Severity::Fatal);
    e.severity(severity)
}

impl TwoPhase {
    /// Collects the files, before replay; also after a clean shutdown. Files of transactions that
    /// have ended, or whose id is not assigned yet, are removed. Counterpart:
    /// `restoreTwoPhaseData`.
    pub fn restore_files(&self, log: Log<'_>) -> Result<()> {
        for xid in file::list(&*self.disk).map_err(fatal)? {
            if let Some(why) = self.obsolete(xid)? {
                warn(log, format!("removing {why} two-phase state file for transaction {xid}"));
                file::remove(&*self.disk, xid, true).iter().for_each(log);
                continue;
            }
            let state = file::read(&*self.disk, xid).map_err(fatal)?;
            let entries = &mut self.entries.lock();
            self.add(entries, identity(&state), Place::File, Phase::Replayed).map_err(fatal)?;
        }
        Ok(())
    }

    /// Why the state of a transaction is not needed, if it is not. Counterpart:
    /// `ProcessTwoPhaseBuffer`.
    fn obsolete(&self, xid: Xid) -> Result<Option<&'static str>> {
        if xid.follows_or_equals(self.txns.next_full_xid().xid()) {
            return Ok(Some("future"));
        }
        let is_over = self.txns.did_commit(xid)? || self.txns.did_abort(xid)?;
        Ok(is_over.then_some("stale"))
    }

    /// Replays PREPARE TRANSACTION. Counterpart: `PrepareRedoAdd`.
    pub fn redo_prepare(&self, record: &DecodedRecord, log: Log<'_>) -> Result<()> {
        let state = State::decode(record.main())
            .ok_or_else(|| PgError::internal("invalid two-phase state in a WAL record"))?;
        // A checkpoint wrote the file, but did not complete before the crash.
        if vfs::exists(&*self.disk, &file::path(state.xid))? {
            let message =
                format!("could not recover two-phase state file for transaction {}", state.xid);
            let start = record.start;
            let detail = format!(
                "Two-phase state file has been found in WAL record {start}, but this transaction \
                 has already been restored from disk."
            );
            let warning = PgError::new(SqlState::WARNING, message).severity(Severity::Warning);
            log(&warning.detail(detail));
            return Ok(());
        }
        let place = Place::Log(record.main().into(), record.end);
        let entries = &mut self.entries.lock();
        self.add(entries, identity(&state), place, Phase::Replayed).map_err(fatal)?;
        Ok(())
    }

    /// Replays the end of a prepared transaction. Counterpart: `PrepareRedoRemove`.
    pub fn redo_finish(&self, xid: Xid, log: Log<'_>) {
        let entry = self.remove(&mut self.entries.lock(), xid);
        if entry.is_some_and(|e| matches!(e.place, Place::File)) {
            file::remove(&*self.disk, xid, false).iter().for_each(log);
        }
    }

    fn state_of(&self, entry: &Entry) -> Result<State> {
        match &entry.place {
            Place::Log(bytes, _) => State::decode(bytes)
                .ok_or_else(|| PgError::internal("invalid two-phase state in memory")),
            _ => file::read(&*self.disk, entry.identity.xid),
        }
    }

    /// After replay: the id generator passes the ids of subtransactions. Returns the oldest id of a
    /// prepared transaction. Counterpart: `PrescanPreparedTransactions`.
    pub fn prescan(&self, log: Log<'_>) -> Result<Option<Xid>> {
        let mut entries = self.entries.lock();
        let xids: Vec<Xid> = entries.list.iter().map(|e| e.identity.xid).collect();
        let mut oldest: Option<Xid> = None;
        for xid in xids {
            if let Some(why) = self.obsolete(xid)? {
                let Some(entry) = self.remove(&mut entries, xid) else { continue };
                let from_file = matches!(entry.place, Place::File);
                let place = if from_file { "file" } else { "from memory" };
                warn(log, format!("removing {why} two-phase state {place} for transaction {xid}"));
                if from_file {
                    file::remove(&*self.disk, xid, true).iter().for_each(log);
                }
                continue;
            }
            let Some(entry) = entries.list.iter().find(|e| e.identity.xid == xid) else { continue };
            let state = self.state_of(entry).map_err(fatal)?;
            state.subxacts.iter().for_each(|sub| self.txns.advance_next_xid_past(*sub));
            oldest = Some(oldest.map_or(xid, |other| other.older(xid)));
        }
        Ok(oldest)
    }

    /// Enters the prepared transactions in the proc array and gives them their locks. After
    /// [`txn::TxnManager::end_recovery`], before sessions are served. Counterpart:
    /// `RecoverPreparedTransactions`.
    pub fn recover(&self, log: Log<'_>) -> Result<()> {
        let mut entries = self.entries.lock();
        for entry in &mut entries.list {
            let state = self.state_of(entry).map_err(fatal)?;
            let (xid, proc) = (state.xid, entry.proc);
            let message = format!("recovering prepared transaction {xid} from shared memory");
            report(log, Severity::Log, message);
            self.txns.restore_prepared(proc, state.database, xid, &state.subxacts)?;
            let locks = self.txns.locks();
            state.locks.iter().for_each(|(tag, mode)| locks.grant_prepared(proc, *tag, *mode));
            if state.oldest_member.is_valid() {
                self.txns.restore_multixact_member(proc, state.oldest_member);
            }
            entry.phase = Phase::Prepared;
        }
        Ok(())
    }
}
