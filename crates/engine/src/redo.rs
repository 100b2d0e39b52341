//! Replay of one record: choice of the thread that replays it, and redo for resource managers
//! without a crate of their own. `rmgr` lists the resource managers.
//!
//! Counterpart: rmgr.c, `xlog_redo` in xlog.c, `seq_redo`.

use crate::engine::Engine;
use crate::redo_workers::RedoWorkers;
use crate::rmgr::{RecordScope, Support, describe, manager};
use crate::time::format_timestamp;
use crate::xlog::{
    XLOG_BACKUP_END, XLOG_CHECKPOINT_ONLINE, XLOG_CHECKPOINT_SHUTDOWN, XLOG_END_OF_RECOVERY,
    XLOG_FPI, XLOG_FPI_FOR_HINT, XLOG_FPW_CHANGE, XLOG_NEXTOID, XLOG_NOOP,
    XLOG_OVERWRITE_CONTRECORD, XLOG_PARAMETER_CHANGE, XLOG_RESTORE_POINT, XLOG_SWITCH,
};
use crate::{consistency, dbase, truncate};
use bufmgr::redo::{Redo, RedoCx, RedoMode, apply, read_for_redo};
use ids::{Fork, Lsn, Oid};
use pgerror::{PgError, Result, Severity};
use wal::record::XLR_CHECK_CONSISTENCY;
use wal::{CheckPoint, DecodedRecord, RecordHeader, RmgrId, desc};

/// State of replay.
pub(crate) struct Replay<'a> {
    pub engine: &'a Engine,
    pub cx: RedoCx<'a>,
    /// The threads that replay pages; `None` if this thread replays them.
    pub workers: Option<RedoWorkers>,
    /// The last known state of `full_page_writes`.
    pub full_page_writes: bool,
    /// Time of the last commit or abort, in microseconds since 2000-01-01; 0: none.
    pub last_xact_time: i64,
    /// Start of the incomplete record that the reader skipped just before this one.
    pub overwritten: Option<Lsn>,
}

fn rmgr_of(record: &DecodedRecord) -> Result<RmgrId> {
    record.header.rmgr().ok_or_else(|| {
        PgError::internal(format!("resource manager with ID {} not registered", record.header.rmid))
            .severity(Severity::Fatal)
    })
}

/// True if [`check_replayable`] needs the complete record.
pub(crate) fn may_be_unreplayable(header: &RecordHeader) -> bool {
    let Some(rmgr) = header.rmgr() else { return true };
    match manager(rmgr).support {
        Support::Full => false,
        Support::ImagesOnly => true,
    }
}

/// Error 0A000 for a record that replay does not support: a record of an access method that is not
/// implemented, unless it has images of all its pages.
pub(crate) fn check_replayable(record: &DecodedRecord) -> Result<()> {
    let rmgr = rmgr_of(record)?;
    let known = match manager(rmgr).support {
        Support::Full => true,
        Support::ImagesOnly => {
            record.block_id_end() != 0 && record.blocks().all(|(_, b)| b.applies_image())
        }
    };
    if known {
        return Ok(());
    }
    let what = desc::identify(rmgr, record.header.info);
    let e = PgError::unsupported(format!("replay of {}/{what}", rmgr.name()));
    Err(in_record(rmgr, record, e.severity(Severity::Fatal)))
}

fn scope(rmgr: RmgrId, record: &DecodedRecord) -> RecordScope {
    match (manager(rmgr).scope)(record) {
        // Pages of init forks are written at once, and pages of maps belong to many heap pages.
        RecordScope::Pages if record.blocks().any(|(_, block)| block.fork != Fork::Main) => {
            RecordScope::All
        }
        scope => scope,
    }
}

pub(crate) fn xlog_scope(record: &DecodedRecord) -> RecordScope {
    match record.info() {
        XLOG_FPI | XLOG_FPI_FOR_HINT => RecordScope::Pages,
        _ => RecordScope::All,
    }
}

/// Replays a record of [`RecordScope::Pages`] for the pages that the context owns. Checks the
/// pages if the record has images for that purpose.
pub(crate) fn replay_pages(
    cx: &mut RedoCx<'_>,
    rmgr: RmgrId,
    record: &DecodedRecord,
) -> Result<()> {
    let mut result = (manager(rmgr).pages)(cx, record);
    if result.is_ok() && record.header.info & XLR_CHECK_CONSISTENCY != 0 {
        result = consistency::check(cx, manager(rmgr).mask, record);
    }
    result.map_err(|e| in_record(rmgr, record, e))
}

/// Adds the record to the context of an error. Counterpart: `rm_redo_error_callback`.
fn in_record(rmgr: RmgrId, record: &DecodedRecord, e: PgError) -> PgError {
    let name = match desc::kind(rmgr, record.header.info) {
        Some(name) => name.to_owned(),
        None => format!("UNKNOWN ({:X})", record.info()),
    };
    let what = describe(record, &format_timestamp);
    let blocks = desc::blocks_in_context(record);
    e.context(format!("WAL redo at {} for {}/{name}: {what}{blocks}", record.start, rmgr.name()))
}

impl Replay<'_> {
    /// Replays a record, or sends it to the threads that do.
    pub(crate) fn apply(&mut self, record: &DecodedRecord) -> Result<()> {
        let rmgr = rmgr_of(record)?;
        if record.xid().is_normal() {
            self.engine.txn.advance_next_xid_past(record.xid());
        }
        match (scope(rmgr, record), &mut self.workers) {
            (RecordScope::Pages, Some(workers)) => return workers.send(record),
            (RecordScope::Pages, None) | (RecordScope::Status, _) => {}
            (RecordScope::All, _) => self.wait()?,
        }
        let mut result = match manager(rmgr).redo {
            Some(redo) => redo(self, record),
            None => (manager(rmgr).pages)(&mut self.cx, record),
        };
        if result.is_ok() && record.header.info & XLR_CHECK_CONSISTENCY != 0 {
            result = consistency::check(&mut self.cx, manager(rmgr).mask, record);
        }
        result.map_err(|e| in_record(rmgr, record, e))
    }

    /// Waits until all records that were sent are replayed, and closes open forks, because the next
    /// record may remove files.
    fn wait(&mut self) -> Result<()> {
        self.workers.as_mut().map_or(Ok(()), RedoWorkers::wait)?;
        self.cx.forget_forks();
        Ok(())
    }

    fn check_timeline(&self, timeline: u32) -> Result<()> {
        let current = self.engine.control.lock().check_point_copy.timeline;
        if timeline == current {
            return Ok(());
        }
        Err(PgError::internal(format!(
            "unexpected timeline ID {timeline} (should be {current}) in checkpoint record"
        ))
        .severity(Severity::Panic))
    }
}

/// Replays commits, aborts, and changes of the status of transactions.
pub(crate) fn transaction(replay: &mut Replay<'_>, record: &DecodedRecord) -> Result<()> {
    let engine = replay.engine;
    let log = |e: &PgError| engine.log_error(e);
    if record.header.rmgr() == Some(RmgrId::Xact) && txn::prepares(record.info()) {
        return engine.storage.two_phase.redo_prepare(record, &log);
    }
    let Some(xact) = engine.txn.redo(record)? else { return Ok(()) };
    replay.last_xact_time = xact.time;
    if !xact.extras.dropped_files.is_empty() {
        replay.wait()?;
        let files = &xact.extras.dropped_files;
        for warning in truncate::redo_drop(&mut replay.cx, files) {
            engine.log_error(&warning);
        }
    }
    if xact.twophase_xid.is_valid() {
        engine.storage.two_phase.redo_finish(xact.twophase_xid, &log);
    }
    Ok(())
}

pub(crate) fn files(replay: &mut Replay<'_>, record: &DecodedRecord) -> Result<()> {
    truncate::redo(&mut replay.cx, &replay.engine.wal, record)
}

pub(crate) fn database(replay: &mut Replay<'_>, record: &DecodedRecord) -> Result<()> {
    dbase::redo(replay.engine, &mut replay.cx, record)
}

pub(crate) fn tablespace(replay: &mut Replay<'_>, record: &DecodedRecord) -> Result<()> {
    dbase::redo_tablespace(replay.engine, record)
}

pub(crate) fn relation_map(replay: &mut Replay<'_>, record: &DecodedRecord) -> Result<()> {
    replay.engine.relmaps.redo(record)
}

/// Records without effect on this server.
pub(crate) fn ignored(_: &mut Replay<'_>, _: &DecodedRecord) -> Result<()> {
    Ok(())
}

/// For resource managers whose records never change pages only.
pub(crate) fn not_pages(_: &mut RedoCx<'_>, _: &DecodedRecord) -> Result<()> {
    Err(PgError::internal("a record that does not change pages only").severity(Severity::Panic))
}

/// Counterpart: `xlog_redo`.
pub(crate) fn xlog(replay: &mut Replay<'_>, record: &DecodedRecord) -> Result<()> {
    let engine = replay.engine;
    let main = record.main();
    match record.info() {
        XLOG_NEXTOID => {
            let oid = main.get(..4).ok_or_else(short)?;
            engine.txn.set_next_oid(Oid(u32::from_le_bytes([oid[0], oid[1], oid[2], oid[3]])));
        }
        info @ (XLOG_CHECKPOINT_SHUTDOWN | XLOG_CHECKPOINT_ONLINE) => {
            let checkpoint = CheckPoint::read(main).ok_or_else(short)?;
            engine.txn.redo_checkpoint(&checkpoint, info == XLOG_CHECKPOINT_SHUTDOWN)?;
            replay.check_timeline(checkpoint.timeline)?;
            replay.full_page_writes = checkpoint.full_page_writes;
        }
        XLOG_END_OF_RECOVERY => {
            let timeline = main.get(8..12).ok_or_else(short)?;
            let bytes = [timeline[0], timeline[1], timeline[2], timeline[3]];
            replay.check_timeline(u32::from_le_bytes(bytes))?;
        }
        XLOG_OVERWRITE_CONTRECORD => {
            let b = main.get(..8).ok_or_else(short)?;
            let lsn = Lsn(u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]));
            let skipped = replay.overwritten.unwrap_or(Lsn::INVALID);
            if skipped != lsn {
                return Err(PgError::internal(format!(
                    "mismatching overwritten LSN {lsn} -> {skipped}"
                ))
                .severity(Severity::Fatal));
            }
            engine.log(&format!("successfully skipped missing contrecord at {lsn}"));
        }
        XLOG_FPI | XLOG_FPI_FOR_HINT => images(&mut replay.cx, record)?,
        XLOG_PARAMETER_CHANGE => {
            let word = |at: usize| match main.get(at..at + 4) {
                Some(b) => Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                None => Err(short()),
            };
            let flag = |at: usize| main.get(at).map(|b| *b != 0).ok_or_else(short);
            let (connections, workers, senders) = (word(0)?, word(4)?, word(8)?);
            let (prepared, locks, level) = (word(12)?, word(16)?, word(20)?);
            let (hints, commit_ts) = (flag(24)?, flag(25)?);
            engine.control.update(|file| {
                file.max_connections = connections;
                file.max_worker_processes = workers;
                file.max_wal_senders = senders;
                file.max_prepared_xacts = prepared;
                file.max_locks_per_xact = locks;
                file.wal_level = level;
                file.wal_log_hints = hints;
                file.track_commit_timestamp = commit_ts;
            })?;
        }
        XLOG_FPW_CHANGE => replay.full_page_writes = *main.first().ok_or_else(short)? != 0,
        XLOG_NOOP | XLOG_SWITCH | XLOG_BACKUP_END | XLOG_RESTORE_POINT => {}
        op => {
            return Err(PgError::internal(format!("xlog_redo: unknown op code {op}"))
                .severity(Severity::Panic));
        }
    }
    Ok(())
}

/// Generic records: all pages stay latched until the last one has been changed.
pub(crate) fn generic(replay: &mut Replay<'_>, record: &DecodedRecord) -> Result<()> {
    access::generic::redo(&mut replay.cx, record)
}

/// Records of an access method that is not implemented. They have images of all their pages
/// ([`check_replayable`]).
pub(crate) fn images_only(replay: &mut Replay<'_>, record: &DecodedRecord) -> Result<()> {
    check_replayable(record)?;
    for (id, _) in record.blocks() {
        read_for_redo(&mut replay.cx, record, id, RedoMode::Normal)?;
    }
    Ok(())
}

/// Records that consist of page images.
pub(crate) fn images(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    for (id, block) in record.blocks() {
        if block.image.is_none() {
            // The image for a hint may have become unnecessary while the record was built.
            if record.info() == XLOG_FPI {
                return Err(PgError::internal("missing full page image in XLOG_FPI record"));
            }
            continue;
        }
        let is_owned = cx.owns(block.rel, block.block);
        match read_for_redo(cx, record, id, RedoMode::Normal)? {
            Redo::Restored(_) => {}
            Redo::Missing if !is_owned => {}
            _ => {
                return Err(PgError::internal(
                    "unexpected XLogReadBufferForRedo result when restoring backup block",
                ));
            }
        }
    }
    Ok(())
}

/// Counterpart: `seq_redo`.
pub(crate) fn sequence(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    const REL_SIZE: usize = 12;
    if record.info() != 0 {
        return Err(PgError::internal(format!("seq_redo: unknown op code {}", record.info()))
            .severity(Severity::Panic));
    }
    let tuple = record.main().get(REL_SIZE..).ok_or_else(short)?;
    if let Redo::Apply(mut guard) = read_for_redo(cx, record, 0, RedoMode::Init)? {
        apply(&mut guard, record, |page| {
            if page::sequence::init_page(page, tuple) {
                Ok(())
            } else {
                Err(PgError::internal("seq_redo: failed to add item to page")
                    .severity(Severity::Panic))
            }
        })?;
    }
    Ok(())
}

#[cold]
fn short() -> PgError {
    PgError::internal("WAL record too short").severity(Severity::Panic)
}
