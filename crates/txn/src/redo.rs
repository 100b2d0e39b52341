//! Replay of the records of transactions, status files and multixacts.
//!
//! Counterpart: `xact_redo`, `clog_redo`, `multixact_redo`.

use crate::clog::{CLOG_TRUNCATE, CLOG_ZEROPAGE};
use crate::manager::{TxnManager, XidStatus};
use crate::multixact::{
    MULTIXACT_CREATE_ID, MULTIXACT_TRUNCATE_ID, MULTIXACT_ZERO_MEM_PAGE, MULTIXACT_ZERO_OFF_PAGE,
};
use crate::record::{
    ParsedXact, Reader, XACT_ABORT, XACT_ABORT_PREPARED, XACT_ASSIGNMENT, XACT_COMMIT,
    XACT_COMMIT_PREPARED, XACT_INVALIDATIONS, XACT_OPMASK, XACT_PREPARE, parse_multixact,
    parse_xact,
};
use ids::{Lsn, MultiXid, Oid, Xid};
use pgerror::{PgError, Result};
use wal::{DecodedRecord, RmgrId};

/// True if a record of the resource manager Xact with this info prepares a transaction for
/// two-phase commit. Its data is the transaction's state.
pub fn prepares(info: u8) -> bool {
    info & XACT_OPMASK == XACT_PREPARE
}

impl TxnManager {
    /// Replays a record of the resource managers Xact, Clog, MultiXact, Standby or CommitTs. For a
    /// commit or abort the result is what the caller must still do: drop files, after the log is
    /// flushed to the record's end, and process invalidations.
    pub fn redo(&self, record: &DecodedRecord) -> Result<Option<ParsedXact>> {
        match record.header.rmgr() {
            Some(RmgrId::Xact) => return self.redo_xact(record),
            Some(RmgrId::Clog) => self.redo_clog(record)?,
            Some(RmgrId::MultiXact) => self.redo_multixact(record)?,
            // Records of locks and running transactions are for standbys only; commit timestamps
            // are not kept.
            _ => {}
        }
        Ok(None)
    }

    fn redo_xact(&self, record: &DecodedRecord) -> Result<Option<ParsedXact>> {
        let info = record.info();
        let commit = match info & XACT_OPMASK {
            XACT_COMMIT | XACT_COMMIT_PREPARED => true,
            XACT_ABORT | XACT_ABORT_PREPARED => false,
            // The caller keeps the state of a prepared transaction.
            XACT_ASSIGNMENT | XACT_INVALIDATIONS | XACT_PREPARE => return Ok(None),
            op => return Err(PgError::internal(format!("xact_redo: unknown op code {op}"))),
        };
        let parsed = parse_xact(info, record.main())?;
        let prepared = matches!(info & XACT_OPMASK, XACT_COMMIT_PREPARED | XACT_ABORT_PREPARED);
        let xid = if prepared { parsed.twophase_xid } else { record.xid() };
        let last = parsed.subxacts.iter().fold(xid, |a, b| if a.precedes(*b) { *b } else { a });
        self.advance_next_xid_past(last);
        let status = if commit { XidStatus::Committed } else { XidStatus::Aborted };
        self.clog.set_tree(xid, &parsed.subxacts, status, Lsn::INVALID)?;
        Ok(Some(parsed))
    }

    fn redo_clog(&self, record: &DecodedRecord) -> Result<()> {
        let mut r = Reader { bytes: record.main() };
        let page = r.u32()?;
        match record.info() {
            CLOG_ZEROPAGE => self.clog.redo_zero_page(page),
            CLOG_TRUNCATE => {
                let (oldest, database) = (Xid(r.u32()?), Oid(r.u32()?));
                if self.oldest_xid().0.precedes(oldest) {
                    self.set_xid_limit(oldest, database);
                }
                self.clog.slru.truncate(page)
            }
            op => Err(PgError::internal(format!("clog_redo: unknown op code {op}"))),
        }
    }

    fn redo_multixact(&self, record: &DecodedRecord) -> Result<()> {
        let mut r = Reader { bytes: record.main() };
        match record.info() {
            MULTIXACT_ZERO_OFF_PAGE => self.multis.redo_zero_offsets(r.u32()?),
            MULTIXACT_ZERO_MEM_PAGE => self.multis.redo_zero_members(r.u32()?),
            MULTIXACT_CREATE_ID => {
                let (multi, offset, members) = parse_multixact(record.main())?;
                self.multis.record(multi, offset, &members)?;
                let end = offset.wrapping_add(members.len() as u32);
                self.multis.advance_next(multi.next(), end);
                members.iter().for_each(|m| self.advance_next_xid_past(m.xid));
                Ok(())
            }
            MULTIXACT_TRUNCATE_ID => {
                let database = Oid(r.u32()?);
                let (_start, end) = (r.u32()?, MultiXid(r.u32()?));
                let members = (r.u32()?, r.u32()?);
                let age = self.config.autovacuum_multixact_freeze_max_age;
                self.multis.set_limit(end, database, age)?;
                self.multis.redo_truncate(end, members)
            }
            op => Err(PgError::internal(format!("multixact_redo: unknown op code {op}"))),
        }
    }
}
