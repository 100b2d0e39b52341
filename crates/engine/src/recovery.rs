//! Start-up and crash recovery: finds the last checkpoint, replays the log from its redo pointer,
//! and continues the log at its end. After a clean shutdown there is nothing to replay. A crash
//! during recovery is harmless: the next start begins at the same checkpoint.
//!
//! Counterpart: xlogrecovery.c, `StartupXLOG` in xlog.c.

use crate::engine::Engine;
use crate::log_check::LogCheck;
use crate::redo::Replay;
use crate::redo_workers::RedoWorkers;
use crate::time::{format_seconds, format_timestamp};
use crate::unlogged::{self, Reset};
use crate::xlog::{
    XLOG_CHECKPOINT_ONLINE, XLOG_CHECKPOINT_SHUTDOWN, XLOG_END_OF_RECOVERY, XLOG_FPW_CHANGE,
    XLOG_OVERWRITE_CONTRECORD, XLOG_PARAMETER_CHANGE,
};
use bufmgr::redo::RedoCx;
use ids::{Lsn, Xid};
use pgerror::{PgError, Result, Severity, SqlState};
use std::io::ErrorKind;
use vfs::process::thread_usage;
use vfs::{Disk, FileKind, io_error};
use wal::layout::{SHORT_HEADER, WAL_PAGE};
use wal::{CheckPoint, ControlFile, DbState, RecordBuilder, RmgrId, WalLevel, WalReader, WalStart};

/// An error if the directory or the configuration requires restoring a backup, standby mode,
/// archiving, replication slots or commit timestamps. These are not supported; ignoring them would
/// damage the cluster or systems that depend on it. Called before anything is written.
pub(crate) fn refuse_unsupported(
    disk: &dyn Disk,
    commit_timestamps: bool,
    archiving: bool,
) -> Result<()> {
    let refuse = |what: String| Err(PgError::unsupported(what).severity(Severity::Fatal));
    for name in ["backup_label", "recovery.signal", "standby.signal", "tablespace_map"] {
        if vfs::exists(disk, name)? {
            return refuse(format!("starting with a file \"{name}\""));
        }
    }
    if let Some(slot) = names_in(disk, "pg_replslot")?.first() {
        return refuse(format!("keeping the replication slot \"{slot}\""));
    }
    let archive = names_in(disk, "pg_wal/archive_status")?;
    if let Some(segment) = archive.iter().find_map(|name| name.strip_suffix(".ready")) {
        return refuse(format!(
            "archiving the write-ahead log file \"{segment}\", which waits for it"
        ));
    }
    if archiving {
        return refuse("archiving (\"archive_mode\")".to_owned());
    }
    if commit_timestamps {
        return refuse("keeping commit timestamps (\"track_commit_timestamp\")".to_owned());
    }
    Ok(())
}

/// Sorted names in a directory; none if it does not exist.
fn names_in(disk: &dyn Disk, directory: &str) -> Result<Vec<String>> {
    match disk.list(directory) {
        Ok(entries) => {
            let mut names: Vec<String> = entries.into_iter().map(|e| e.name).collect();
            names.sort();
            Ok(names)
        }
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(e) => Err(io_error("open directory", directory, &e)),
    }
}

/// An error if `pg_wal` does not exist. Creates `pg_wal/archive_status` if that is missing.
/// Counterpart: `ValidateXLOGDirectoryStructure`.
fn check_log_directories(engine: &Engine) -> Result<()> {
    const ARCHIVE: &str = "pg_wal/archive_status";
    let disk = &*engine.env.disk;
    for path in ["pg_wal", ARCHIVE] {
        match disk.stat(path) {
            Ok(stat) if stat.kind == FileKind::Dir => {}
            Err(_) if path == ARCHIVE => {
                engine.log(&format!("creating missing WAL directory \"{path}\""));
                let made = disk.create_dir(path);
                made.map_err(|e| io_error("create missing directory", path, &e))?;
            }
            _ => {
                let message = format!("required WAL directory \"{path}\" does not exist");
                return Err(PgError::internal(message).severity(Severity::Fatal));
            }
        }
    }
    Ok(())
}

/// An error if one of these directories is missing. Norsu has no files in them, but PostgreSQL does
/// not start without them either, because other files may be lost too.
fn require_directories(engine: &Engine, paths: &[&str]) -> Result<()> {
    for path in paths {
        let found = engine.env.disk.list(path);
        found.map_err(|e| io_error("open directory", path, &e).severity(Severity::Fatal))?;
    }
    Ok(())
}

/// Checks for directories that the checkpoint after recovery would need. PostgreSQL makes that
/// checkpoint before it accepts connections, so it would fail at this point.
fn check_for_checkpoint(engine: &Engine) -> Result<()> {
    let needed = ["pg_logical/snapshots", "pg_logical/mappings", "pg_subtrans"];
    require_directories(engine, &needed).map_err(|e| {
        engine.log_error(&e.severity(Severity::Error));
        let failed = PgError::internal("checkpoint request failed").severity(Severity::Fatal);
        failed.hint("Consult recent messages in the server log for details.")
    })
}

/// The hint of errors about directories that only PostgreSQL can recover.
pub(crate) const FIRST_POSTGRES: &str =
    "Start PostgreSQL on this directory and shut it down in good order first.";

/// The checkpoint from which recovery starts.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    pub checkpoint: CheckPoint,
    /// Start and end of its record.
    pub lsn: Lsn,
    pub end: Lsn,
    shutdown: bool,
}

/// Runs the start-up: recovery, if it is needed, and the preparations for normal operation.
pub(crate) fn startup(engine: &Engine) -> Result<()> {
    require_directories(engine, &["pg_notify"])?;
    report_last_state(engine)?;
    let file = engine.control.get();
    let timeline = file.check_point_copy.timeline;
    refuse_other_recoveries(&file)?;
    check_log_directories(engine)?;
    let mut reader = log_reader(engine);
    let start = find_checkpoint(engine, &mut reader, file.check_point)?;
    let checkpoint = &start.checkpoint;
    let crashed = checkpoint.redo < start.lsn || file.state != DbState::ShutDowned;
    if checkpoint.redo < start.lsn && start.shutdown {
        return Err(panic("invalid redo record in shutdown checkpoint"));
    }
    engine.load_statistics(crashed);
    engine.txn.startup(checkpoint)?;
    let mut end = LogEnd {
        end: start.end,
        prev: start.lsn,
        aborted: None,
        full_page_writes: checkpoint.full_page_writes,
    };
    if crashed {
        let disk = &*engine.env.disk;
        let check = LogCheck::start(engine, start)?;
        unlogged::sync_data_directory(disk)?;
        check.finish()?;
        engine.log("database system was not properly shut down; automatic recovery in progress");
        require_directories(engine, &["pg_replslot", "pg_twophase"])?;
        engine.control.update(|file| {
            file.state = DbState::InCrashRecovery;
            file.check_point = start.lsn;
            file.check_point_copy = *checkpoint;
            file.min_recovery_point = Lsn::INVALID;
            file.min_recovery_point_tli = 0;
        })?;
        restore_prepared(engine)?;
        require_directories(engine, &["pg_tblspc"])?;
        unlogged::reset(disk, Reset::Cleanup)?;
        end = replay(engine, &mut reader, &start, end)?;
        // Init forks are copied as files, so pages that replay has changed must be written first.
        for rel in unlogged::relations(disk)? {
            engine.pool.flush_relation(rel)?;
        }
        unlogged::reset(disk, Reset::Init)?;
        check_for_checkpoint(engine)?;
    }
    require_directories(engine, &["pg_replslot", "pg_twophase", "pg_commit_ts"])?;
    if !crashed {
        engine.storage.wal.set_unlogged_lsn(file.unlogged_lsn);
        restore_prepared(engine)?;
    }
    start_production(engine, timeline, checkpoint.redo, &end, crashed)
}

/// Collects the prepared transactions that are in files.
fn restore_prepared(engine: &Engine) -> Result<()> {
    engine.storage.two_phase.restore_files(&|e| engine.log_error(e))
}

/// An error for a log that continues on another timeline (after a promotion without a checkpoint),
/// and for a base backup that was not replayed to its end. If only the log of the current timeline
/// were replayed, later changes would be lost.
fn refuse_other_recoveries(file: &ControlFile) -> Result<()> {
    let (timeline, last) = (file.check_point_copy.timeline, file.min_recovery_point_tli);
    let backup = file.backup_start_point.is_valid() || file.backup_end_point.is_valid();
    let what = if last > timeline {
        format!("recovery from timeline {timeline} to timeline {last}")
    } else if backup || file.backup_end_required {
        "recovery of a base backup".to_owned()
    } else {
        return Ok(());
    };
    Err(PgError::unsupported(what).severity(Severity::Fatal).hint(FIRST_POSTGRES))
}

/// Logs how the previous run ended, by the state in the control file.
fn report_last_state(engine: &Engine) -> Result<()> {
    let file = engine.control.get();
    let invalid = |what: &str| {
        let message = format!("control file contains invalid {what}");
        PgError::new(SqlState::DATA_CORRUPTED, message).severity(Severity::Fatal)
    };
    if (file.check_point.0 as usize) % WAL_PAGE < SHORT_HEADER {
        return Err(invalid("checkpoint location"));
    }
    let time = format_seconds(file.time);
    match file.state {
        DbState::ShutDowned => engine.log(&format!("database system was shut down at {time}")),
        DbState::ShutDownedInRecovery => {
            engine.log(&format!("database system was shut down in recovery at {time}"));
        }
        DbState::ShutDowning => {
            engine
                .log(&format!("database system shutdown was interrupted; last known up at {time}"));
        }
        DbState::InCrashRecovery => {
            let report = PgError::new(
                SqlState::SUCCESSFUL_COMPLETION,
                format!("database system was interrupted while in recovery at {time}"),
            );
            engine.log_error(&report.severity(Severity::Log).hint(
                "This probably means that some data is corrupted and you will have to use the \
                 last backup for recovery.",
            ));
        }
        DbState::InArchiveRecovery => {
            let report = PgError::new(
                SqlState::SUCCESSFUL_COMPLETION,
                format!("database system was interrupted while in recovery at log time {time}"),
            );
            engine.log_error(&report.severity(Severity::Log).hint(
                "If this has occurred more than once some data might be corrupted and you might \
                 need to choose an earlier recovery target.",
            ));
        }
        DbState::InProduction => {
            engine.log(&format!("database system was interrupted; last known up at {time}"));
        }
        DbState::Startup => return Err(invalid("database cluster state")),
    }
    Ok(())
}

fn panic(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::DATA_CORRUPTED, message).severity(Severity::Panic)
}

/// Reads the checkpoint record, and checks that there is a record at its redo pointer.
fn find_checkpoint(engine: &Engine, reader: &mut WalReader, lsn: Lsn) -> Result<Start> {
    let invalid = |why: &str| {
        engine.log(why);
        panic("could not locate a valid checkpoint record")
    };
    let Some(record) = reader.read_at(lsn).map_err(|e| e.severity(Severity::Panic))?.cloned()
    else {
        if !reader.is_out_of_segments() {
            engine.log(reader.end_reason());
        }
        return Err(invalid("invalid primary checkpoint record"));
    };
    if record.header.rmgr() != Some(RmgrId::Xlog) {
        return Err(invalid("invalid resource manager ID in primary checkpoint record"));
    }
    let shutdown = record.info() == XLOG_CHECKPOINT_SHUTDOWN;
    if !shutdown && record.info() != XLOG_CHECKPOINT_ONLINE {
        return Err(invalid("invalid xl_info in primary checkpoint record"));
    }
    let checkpoint = CheckPoint::read(record.main())
        .filter(|_| record.main().len() == wal::control::CHECKPOINT_SIZE)
        .ok_or_else(|| invalid("invalid length of primary checkpoint record"))?;
    let end = record.end;
    if lsn < checkpoint.redo {
        return Err(panic("invalid redo in checkpoint record"));
    }
    if !checkpoint.next_xid.xid().is_normal() {
        return Err(panic("invalid next transaction ID"));
    }
    if checkpoint.redo < lsn && reader.read_at(checkpoint.redo)?.is_none() {
        if !reader.is_out_of_segments() {
            engine.log(reader.end_reason());
        }
        let location = |lsn: Lsn| format!("{:X}/{:08X}", lsn.0 >> 32, lsn.0 as u32);
        return Err(panic(format!(
            "could not find redo location {} referenced by checkpoint record at {}",
            location(checkpoint.redo),
            location(lsn)
        )));
    }
    Ok(Start { checkpoint, lsn, end, shutdown })
}

/// State at the end of the log.
struct LogEnd {
    /// Start of the next record.
    end: Lsn,
    /// Start of the last valid record.
    prev: Lsn,
    /// Start of an incomplete record at the end of the log.
    aborted: Option<Lsn>,
    full_page_writes: bool,
}

pub(crate) fn log_reader(engine: &Engine) -> WalReader {
    let file = engine.control.get();
    let timeline = file.check_point_copy.timeline;
    let disk = engine.env.disk.clone();
    WalReader::new(disk, file.wal_segment_size, timeline, Some(file.system_id))
}

/// Positions the reader at the first record to replay: the redo pointer, or the record after a
/// shutdown checkpoint, which is its own redo pointer.
pub(crate) fn seek(reader: &mut WalReader, start: &Start) {
    let from_record = start.checkpoint.redo < start.lsn;
    reader.seek(if from_record { start.checkpoint.redo } else { start.end });
}

fn replay(
    engine: &Engine,
    reader: &mut WalReader,
    start: &Start,
    mut end: LogEnd,
) -> Result<LogEnd> {
    let clock = &engine.env.clock;
    let mut replay = Replay {
        engine,
        cx: RedoCx::new(&engine.pool),
        workers: None,
        full_page_writes: end.full_page_writes,
        last_xact_time: 0,
        overwritten: None,
    };
    seek(reader, start);
    if engine.config.redo_workers > 0 {
        let count = engine.config.redo_workers;
        replay.workers = Some(RedoWorkers::start(count, &replay.cx, &engine.pool)?);
    }
    let (began, used_before) = (clock.monotonic(), thread_usage());
    let interval = engine.config.log_startup_progress_interval;
    let mut report_at = began + interval;
    let mut count = 0u64;
    while let Some(record) = reader.read()? {
        if count == 0 {
            engine.log(&format!("redo starts at {}", record.start));
        }
        count += 1;
        end.prev = record.start;
        end.end = record.end;
        // Read first, because the record borrows the reader.
        let overwritten = reader.overwritten_contrecord();
        replay.overwritten = overwritten;
        replay.apply(reader.record())?;
        if count.is_multiple_of(1024) && !interval.is_zero() && clock.monotonic() >= report_at {
            let elapsed = (clock.monotonic() - began).as_secs_f64();
            engine.log(&format!(
                "redo in progress, elapsed time: {elapsed:.2} s, current LSN: {}",
                reader.record().start
            ));
            report_at = clock.monotonic() + interval;
        }
    }
    let others = replay.workers.take().map_or(Ok(Default::default()), RedoWorkers::finish)?;
    // No message is logged if the log ends at the end of a segment.
    if !reader.is_out_of_segments() {
        engine.log(reader.end_reason());
    }
    if count == 0 {
        engine.log("redo is not required");
        end.prev = start.lsn;
        end.end = start.end;
        if reader.next_lsn() > end.end {
            end.end = reader.next_lsn();
        }
    } else {
        let elapsed = (clock.monotonic() - began).as_secs_f64();
        let used = thread_usage();
        engine.log(&format!(
            "redo done at {} system usage: CPU: user: {:.2} s, system: {:.2} s, elapsed: \
             {elapsed:.2} s",
            end.prev,
            (used.user - used_before.user + others.0).as_secs_f64(),
            (used.system - used_before.system + others.1).as_secs_f64(),
        ));
        if replay.last_xact_time != 0 {
            engine.log(&format!(
                "last completed transaction was at log time {}",
                format_timestamp(replay.last_xact_time)
            ));
        }
    }
    if let Some((aborted, page)) = reader.aborted_contrecord() {
        end.aborted = Some(aborted);
        end.end = page;
    }
    end.full_page_writes = replay.full_page_writes;
    if !engine.config.ignore_invalid_pages {
        // The server starts although these pages are missing, like PostgreSQL, which checks them
        // only for base backups.
        for missing in replay.cx.invalid().reports() {
            engine.log_error(&PgError::new(SqlState::WARNING, missing).severity(Severity::Warning));
        }
    }
    Ok(end)
}

/// Opens the log for writing and sets the control file's state to "in production".
fn start_production(
    engine: &Engine,
    timeline: u32,
    redo: Lsn,
    end: &LogEnd,
    crashed: bool,
) -> Result<()> {
    engine.pool.advise_huge_pages();
    let wal = &engine.wal;
    let wanted = engine.config.wal.full_page_writes;
    wal.configure(|config| config.full_page_writes = end.full_page_writes);
    wal.start(WalStart {
        timeline,
        end: end.end,
        prev: end.prev,
        redo,
        overwrite: end.aborted.is_some(),
    })?;
    let two_phase = &engine.storage.two_phase;
    let log = |e: &PgError| engine.log_error(e);
    let oldest_prepared = two_phase.prescan(&log)?;
    engine.txn.end_recovery(oldest_prepared)?;
    two_phase.recover(&log)?;
    let mut scratch = RecordBuilder::new(RmgrId::Xlog, XLOG_OVERWRITE_CONTRECORD);
    if let Some(aborted) = end.aborted {
        scratch.main(&aborted.0.to_le_bytes());
        scratch.main(&engine.env.clock.pg_micros().to_le_bytes());
        let at = wal.insert(&mut scratch, &[], Xid::INVALID)?;
        wal.flush(at.end)?;
    }
    if wanted != end.full_page_writes {
        engine.set_full_page_writes(wanted)?;
    }
    if crashed {
        end_recovery(engine, timeline, &mut scratch)?;
    }
    report_parameters(engine, &mut scratch)?;
    engine.control.update(|file| file.state = DbState::InProduction)
}

/// Logs the end of recovery and leaves the checkpoint after it to the checkpointer. The log
/// continues as if there had been no crash, so until that checkpoint another crash replays it from
/// the old redo pointer. WAL: `XLOG_END_OF_RECOVERY`, then `RUNNING_XACTS`, which tells standbys
/// that only the prepared transactions are running. Counterpart: `CreateEndOfRecoveryRecord`, which
/// PostgreSQL uses only for promotions.
fn end_recovery(engine: &Engine, timeline: u32, scratch: &mut RecordBuilder) -> Result<()> {
    scratch.reset(RmgrId::Xlog, XLOG_END_OF_RECOVERY);
    scratch.main(&engine.env.clock.pg_micros().to_le_bytes());
    scratch.main(&timeline.to_le_bytes());
    scratch.main(&timeline.to_le_bytes());
    let mut at = engine.wal.insert(scratch, &[], Xid::INVALID)?.end;
    if engine.wal.level() > WalLevel::Minimal {
        at = engine.txn.log_standby_snapshot(scratch)?;
    }
    engine.wal.flush(at)?;
    engine.checkpointer.want_after_recovery();
    Ok(())
}

/// Logs the settings on which replay by a standby depends, if they have changed. WAL:
/// `XLOG_PARAMETER_CHANGE`. Counterpart: `XLogReportParameters`.
fn report_parameters(engine: &Engine, scratch: &mut RecordBuilder) -> Result<()> {
    let config = &engine.config;
    let level = config.wal.level;
    let wanted = [
        config.max_connections,
        config.max_worker_processes,
        config.max_wal_senders,
        config.max_prepared_xacts,
        config.max_locks_per_xact,
        level as u32,
    ];
    let flags = [config.wal_log_hints, config.track_commit_timestamp];
    let file = engine.control.get();
    let known = [
        file.max_connections,
        file.max_worker_processes,
        file.max_wal_senders,
        file.max_prepared_xacts,
        file.max_locks_per_xact,
        file.wal_level,
    ];
    if wanted == known && flags == [file.wal_log_hints, file.track_commit_timestamp] {
        return Ok(());
    }
    if level as u32 != file.wal_level || level > WalLevel::Minimal {
        scratch.reset(RmgrId::Xlog, XLOG_PARAMETER_CHANGE);
        for n in wanted {
            scratch.main(&n.to_le_bytes());
        }
        scratch.main(&[u8::from(flags[0]), u8::from(flags[1]), 0, 0]);
        let at = engine.wal.insert(scratch, &[], Xid::INVALID)?;
        engine.wal.flush(at.end)?;
    }
    engine.control.update(|file| {
        [
            file.max_connections,
            file.max_worker_processes,
            file.max_wal_senders,
            file.max_prepared_xacts,
            file.max_locks_per_xact,
            file.wal_level,
        ] = wanted;
        [file.wal_log_hints, file.track_commit_timestamp] = flags;
    })
}

impl Engine {
    /// Changes `full_page_writes`. It is turned on before the record and turned off after the
    /// record, so that replay can rely on images between the two records. WAL: `XLOG_FPW_CHANGE`.
    /// Counterpart: `UpdateFullPageWrites`.
    pub fn set_full_page_writes(&self, on: bool) -> Result<()> {
        if self.wal.full_page_writes() == on {
            return Ok(());
        }
        if on {
            self.wal.set_full_page_writes(true);
        }
        if self.wal.level() > WalLevel::Minimal {
            let mut record = RecordBuilder::new(RmgrId::Xlog, XLOG_FPW_CHANGE);
            record.main(&[u8::from(on)]);
            self.wal.insert(&mut record, &[], Xid::INVALID)?;
        }
        if !on {
            self.wal.set_full_page_writes(false);
        }
        Ok(())
    }
}
