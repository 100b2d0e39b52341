//! Checkpoints: after one, replay does not need the log before its redo pointer.
//!
//! ```text
//! fix the redo pointer  ->  wait for sections between a commit record and its status bit
//! ->  write status files, dirty pages (paced), sync files, write states of prepared transactions
//! ->  wait for truncations  ->  log running transactions
//! ->  checkpoint record, flushed  ->  control file
//! ->  remove files of dropped relations, recycle old segments
//! ```
//!
//! LOCK ORDER: the mutex of the running checkpoint (`Checkpointer::running`) before all others.
//!
//! Counterpart: `CreateCheckPoint` in xlog.c, checkpointer.c.

use crate::config::EngineConfig;
use crate::engine::Engine;
use crate::xlog::{XLOG_CHECKPOINT_ONLINE, XLOG_CHECKPOINT_SHUTDOWN};
use ids::{Lsn, Xid};
use pgerror::{PgError, Result, Severity, SqlState};
use std::time::Duration;
use sync::Mutex;
use sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use wal::{CheckPoint, DbState, RecordBuilder, RmgrId, SegmentCounts, WalLevel};

/// Kind and cause of a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointFlags(u32);

impl CheckpointFlags {
    pub const NONE: CheckpointFlags = CheckpointFlags(0);
    pub const SHUTDOWN: CheckpointFlags = CheckpointFlags(1);
    /// The first checkpoint after recovery. The flag is used only for the log message.
    pub const END_OF_RECOVERY: CheckpointFlags = CheckpointFlags(2);
    /// Without pauses between writes.
    pub const IMMEDIATE: CheckpointFlags = CheckpointFlags(4);
    /// Even if nothing was logged after the last checkpoint.
    pub const FORCE: CheckpointFlags = CheckpointFlags(8);
    /// Pages of unlogged relations are written too.
    pub const FLUSH_ALL: CheckpointFlags = CheckpointFlags(16);
    pub const WAIT: CheckpointFlags = CheckpointFlags(32);
    pub const CAUSE_WAL: CheckpointFlags = CheckpointFlags(128);
    pub const CAUSE_TIME: CheckpointFlags = CheckpointFlags(256);

    pub const fn has(self, other: CheckpointFlags) -> bool {
        self.0 & other.0 != 0
    }

    /// The flags in the log message.
    fn names(self) -> String {
        let names = [
            (CheckpointFlags::SHUTDOWN, " shutdown"),
            (CheckpointFlags::END_OF_RECOVERY, " end-of-recovery"),
            (CheckpointFlags::IMMEDIATE, " immediate"),
            (CheckpointFlags::FORCE, " force"),
            (CheckpointFlags::WAIT, " wait"),
            (CheckpointFlags::CAUSE_WAL, " wal"),
            (CheckpointFlags::CAUSE_TIME, " time"),
            (CheckpointFlags::FLUSH_ALL, " flush-all"),
        ];
        names.iter().filter(|(flag, _)| self.has(*flag)).map(|(_, name)| *name).collect()
    }
}

impl std::ops::BitOr for CheckpointFlags {
    type Output = CheckpointFlags;
    fn bitor(self, other: CheckpointFlags) -> CheckpointFlags {
        CheckpointFlags(self.0 | other.0)
    }
}

/// State between checkpoints.
pub(crate) struct Checkpointer {
    /// Locked while a checkpoint is running.
    running: Mutex<Estimate>,
    /// Number of sessions that wait for an immediate checkpoint. A running checkpoint then makes no
    /// pauses.
    hurry: AtomicU32,
    stopping: AtomicBool,
    /// The checkpoint after recovery has not been completed.
    after_recovery: AtomicBool,
    /// Start of the last checkpoint, as microseconds of the monotonic clock.
    last_start_us: AtomicU64,
    /// Time and end LSN of the last RUNNING_XACTS record.
    last_snapshot_us: AtomicU64,
    last_snapshot_lsn: AtomicU64,
}

/// Estimated amount of WAL between checkpoints, in bytes.
#[derive(Default)]
struct Estimate {
    distance: f64,
    last_distance: f64,
}

/// Start of a paced checkpoint, from which its schedule is computed.
struct CheckpointSchedule {
    flags: CheckpointFlags,
    began: Duration,
    redo: Lsn,
}

impl Checkpointer {
    pub(crate) fn new(config: &EngineConfig) -> Checkpointer {
        Checkpointer {
            running: Mutex::new(Estimate::default()),
            hurry: AtomicU32::new(0),
            stopping: AtomicBool::new(false),
            after_recovery: AtomicBool::new(false),
            last_snapshot_us: AtomicU64::new(0),
            last_snapshot_lsn: AtomicU64::new(0),
            last_start_us: AtomicU64::new(config.env.clock.monotonic().as_micros() as u64),
        }
    }

    /// Requests the checkpoint after recovery from the next step of the checkpointer. Until it is
    /// completed, another crash would replay the same log again.
    pub(crate) fn want_after_recovery(&self) {
        self.after_recovery.store(true, Release);
    }
}

impl Engine {
    /// Makes a checkpoint in the calling thread. Returns `false` if there was nothing to do. With
    /// `IMMEDIATE`, a checkpoint that is already running is first completed without pauses.
    pub fn checkpoint(&self, flags: CheckpointFlags) -> Result<bool> {
        let state = &self.checkpointer;
        if flags.has(CheckpointFlags::SHUTDOWN) {
            state.stopping.store(true, Release);
        }
        let hurry = flags.has(CheckpointFlags::IMMEDIATE);
        if hurry {
            state.hurry.fetch_add(1, AcqRel);
        }
        let mut estimate = state.running.lock();
        if hurry {
            state.hurry.fetch_sub(1, AcqRel);
        }
        let done = &self.storage.background;
        let counter =
            if flags.has(CheckpointFlags::CAUSE_TIME) { &done.timed } else { &done.requested };
        counter.fetch_add(1, Relaxed);
        let now = self.env.clock.monotonic().as_micros() as u64;
        state.last_start_us.store(now, Relaxed);
        self.create_checkpoint(flags, &mut estimate)
    }

    fn create_checkpoint(&self, flags: CheckpointFlags, estimate: &mut Estimate) -> Result<bool> {
        let shutdown = flags.has(CheckpointFlags::SHUTDOWN);
        let clock = &*self.env.clock;
        let began = clock.monotonic();
        let wal = &self.wal;
        let last = self.control.get();
        let must = shutdown || flags.has(CheckpointFlags::FORCE);
        // No important record was logged since the last checkpoint.
        if !must && wal.last_important() <= last.check_point {
            return Ok(false);
        }
        if flags.has(CheckpointFlags::SHUTDOWN) {
            self.control.update(|file| file.state = DbState::ShutDowning)?;
        }
        self.smgr.checkpoint_begin();
        let mut checkpoint = CheckPoint {
            timeline: wal.timeline(),
            prev_timeline: wal.timeline(),
            time: clock.unix_seconds(),
            full_page_writes: wal.full_page_writes(),
            ..CheckPoint::default()
        };
        checkpoint.redo = wal.begin_checkpoint();
        if self.live().log_checkpoints {
            self.log(&format!("checkpoint starting:{}", flags.names()));
        }
        self.txn.fill_checkpoint(&mut checkpoint, shutdown);
        if wal.level() == WalLevel::Minimal {
            checkpoint.oldest_active_xid = Xid::INVALID;
        }
        wal.wait_delay_start();

        let schedule = CheckpointSchedule { flags, began, redo: checkpoint.redo };
        self.relmaps.checkpoint();
        self.txn.checkpoint()?;
        let write_began = clock.monotonic();
        let written = self.write_dirty_pages(&schedule)?;
        let sync_began = clock.monotonic();
        let syncs = self.smgr.checkpoint_sync(clock)?;
        let sync_ended = clock.monotonic();
        self.write_prepared_transactions(checkpoint.redo)?;

        wal.wait_delay_end();
        let mut scratch = RecordBuilder::new(RmgrId::Xlog, XLOG_CHECKPOINT_ONLINE);
        if !shutdown && wal.level() > WalLevel::Minimal {
            self.txn.log_standby_snapshot(&mut scratch)?;
        }
        let info = if shutdown { XLOG_CHECKPOINT_SHUTDOWN } else { XLOG_CHECKPOINT_ONLINE };
        scratch.reset(RmgrId::Xlog, info);
        scratch.main(&checkpoint.to_bytes());
        let at = wal.insert(&mut scratch, &[], Xid::INVALID)?;
        wal.flush(at.end)?;
        if flags.has(CheckpointFlags::SHUTDOWN) && checkpoint.redo != at.start {
            return Err(PgError::new(
                SqlState::INTERNAL_ERROR,
                "concurrent write-ahead log activity while database system is shutting down",
            )
            .severity(Severity::Panic));
        }
        self.control.update(|file| {
            if shutdown {
                file.state = DbState::ShutDowned;
            }
            file.check_point = at.start;
            file.check_point_copy = checkpoint;
            file.min_recovery_point = Lsn::INVALID;
            file.min_recovery_point_tli = 0;
            file.unlogged_lsn = wal.unlogged_lsn();
        })?;

        for error in self.smgr.checkpoint_end() {
            self.log_error(&error.severity(Severity::Warning));
        }
        let prior = last.check_point_copy.redo;
        estimate.update((checkpoint.redo.0.saturating_sub(prior.0)) as f64);
        let ahead = (1.0 + self.live().checkpoint_completion_target) * estimate.distance * 1.1;
        let segments = wal.remove_old_segments(checkpoint.redo, ahead, !shutdown)?;
        if !shutdown {
            self.txn.truncate_subtrans()?;
        }
        let done = &self.storage.background;
        let write_time = sync_began - write_began;
        let sync_time = sync_ended - sync_began;
        done.write_time_ms.fetch_add(write_time.as_millis() as u64, Relaxed);
        done.sync_time_ms.fetch_add(sync_time.as_millis() as u64, Relaxed);
        done.buffers_checkpoint.fetch_add(written as u64, Relaxed);
        if self.live().log_checkpoints {
            let total = clock.monotonic() - began;
            let times = [write_time, sync_time, total];
            self.log(&self.complete_line(written, segments, times, syncs, estimate));
        }
        Ok(true)
    }

    fn complete_line(
        &self,
        written: usize,
        segments: SegmentCounts,
        [write, sync, total]: [Duration; 3],
        syncs: smgr::SyncStats,
        estimate: &Estimate,
    ) -> String {
        let seconds = |d: Duration| format!("{}.{:03}", d.as_secs(), d.subsec_millis());
        let share = written as f64 * 100.0 / self.config.shared_buffers as f64;
        let average = syncs.total / u32::try_from(syncs.files.max(1)).unwrap_or(u32::MAX);
        format!(
            "checkpoint complete: wrote {written} buffers ({share:.1}%); {} WAL file(s) added, {} \
             removed, {} recycled; write={} s, sync={} s, total={} s; sync files={}, \
             longest={} s, average={} s; distance={} kB, estimate={} kB",
            segments.added,
            segments.removed,
            segments.recycled,
            seconds(write),
            seconds(sync),
            seconds(total),
            syncs.files,
            seconds(syncs.longest),
            seconds(average),
            (estimate.last_distance / 1024.0) as u64,
            (estimate.distance / 1024.0) as u64,
        )
    }

    /// Writes the states of prepared transactions to files, as late as possible.
    fn write_prepared_transactions(&self, redo: Lsn) -> Result<()> {
        let written = self.storage.two_phase.checkpoint(redo)?;
        if written > 0 && self.live().log_checkpoints {
            let (files, end) = match written {
                1 => ("file was", "a long-running prepared transaction"),
                _ => ("files were", "long-running prepared transactions"),
            };
            self.log(&format!("{written} two-phase state {files} written for {end}"));
        }
        Ok(())
    }

    /// Writes all pages that are dirty now. Counterpart: `CheckPointBuffers`.
    fn write_dirty_pages(&self, schedule: &CheckpointSchedule) -> Result<usize> {
        let flags = schedule.flags;
        let all = flags.has(CheckpointFlags::SHUTDOWN) || flags.has(CheckpointFlags::FLUSH_ALL);
        let flush_after = self.live().checkpoint_flush_after;
        let mut before = 0;
        let result = self.pool.checkpoint_write(all, flush_after, &mut |progress| {
            let pages = progress.done - before;
            before = progress.done;
            self.pause(schedule, progress.done as f64 / progress.total.max(1) as f64, pages);
        })?;
        Ok(result.written)
    }

    /// Announces a shutdown: a running checkpoint makes no further pauses. Called before the thread
    /// of the checkpointer is joined.
    pub fn announce_shutdown(&self) {
        self.checkpointer.stopping.store(true, Release);
    }

    /// Sleeps while a paced checkpoint is ahead of its schedule, but at most 100 ms per written
    /// page. So a checkpoint with few dirty pages does not take the whole interval. Counterpart:
    /// `CheckpointWriteDelay`.
    fn pause(&self, schedule: &CheckpointSchedule, progress: f64, pages: usize) {
        const NAP: Duration = Duration::from_millis(100);
        let state = &self.checkpointer;
        for _ in 0..pages {
            if schedule.flags.has(CheckpointFlags::IMMEDIATE)
                || state.hurry.load(Acquire) > 0
                || state.stopping.load(Acquire)
                || !self.is_ahead(schedule, progress)
            {
                return;
            }
            self.env.clock.sleep(NAP);
        }
    }

    /// True if the checkpoint is ahead of its schedule. Counterpart: `IsCheckpointOnSchedule`.
    fn is_ahead(&self, schedule: &CheckpointSchedule, progress: f64) -> bool {
        let progress = progress * self.live().checkpoint_completion_target;
        let used = self.wal.inserted().0.saturating_sub(schedule.redo.0) as f64;
        let segment = self.wal.layout().segment_size() as f64;
        if progress < used / segment / self.checkpoint_segments() as f64 {
            return false;
        }
        let elapsed = (self.env.clock.monotonic() - schedule.began).as_secs_f64();
        progress >= elapsed / self.live().checkpoint_timeout.as_secs_f64()
    }

    /// Number of segments after which a checkpoint must start so that `max_wal_size` is not
    /// exceeded before its end. Counterpart: `CalculateCheckpointSegments`.
    fn checkpoint_segments(&self) -> u64 {
        let most = self.wal.config().max_wal_size / self.wal.layout().segment_size();
        let segments = most as f64 / (1.0 + self.live().checkpoint_completion_target);
        (segments as u64).max(1)
    }

    /// One step of the checkpointer: makes a checkpoint if `checkpoint_timeout` or the amount of
    /// WAL requires one. Returns the time to sleep, unless [`wal::Wal::checkpointer_waiter`] is
    /// woken before.
    pub fn checkpointer_step(&self) -> Result<Duration> {
        const TICK: Duration = Duration::from_millis(200);
        let state = &self.checkpointer;
        if state.stopping.load(Acquire) {
            return Ok(TICK);
        }
        if state.after_recovery.load(Acquire) {
            let flags = CheckpointFlags::END_OF_RECOVERY | CheckpointFlags::IMMEDIATE;
            self.checkpoint(flags | CheckpointFlags::FORCE)?;
            state.after_recovery.store(false, Release);
        }
        let now = self.env.clock.monotonic();
        let since = now.saturating_sub(Duration::from_micros(state.last_start_us.load(Relaxed)));
        if self.wal.take_segment_filled()
            && self.wal.segments_since_redo() >= self.checkpoint_segments()
        {
            if since < self.live().checkpoint_warning {
                let seconds = since.as_secs();
                let unit = if seconds == 1 { "second" } else { "seconds" };
                let report = PgError::new(
                    SqlState::SUCCESSFUL_COMPLETION,
                    format!("checkpoints are occurring too frequently ({seconds} {unit} apart)"),
                );
                self.log_error(
                    &report
                        .severity(Severity::Log)
                        .hint("Consider increasing the configuration parameter \"max_wal_size\"."),
                );
            }
            self.checkpoint(CheckpointFlags::CAUSE_WAL)?;
        } else if since >= self.live().checkpoint_timeout {
            self.checkpoint(CheckpointFlags::CAUSE_TIME)?;
        }
        Ok(TICK)
    }

    /// One step of the WAL writer. Returns the time to sleep.
    pub fn walwriter_step(&self) -> Result<Duration> {
        self.wal.background_flush()?;
        Ok(self.wal.config().writer_delay)
    }

    /// One step of the background writer. Returns the time to sleep.
    pub fn bgwriter_step(&self) -> Result<Duration> {
        let config = self.live();
        self.log_running_transactions()?;
        let written = self.background_writer.lock().step(
            &self.pool,
            config.bgwriter_lru_maxpages,
            config.bgwriter_lru_multiplier,
            config.bgwriter_flush_after,
        )?;
        let most = config.bgwriter_lru_maxpages;
        if most > 0 && written.is_some_and(|n| n >= most) {
            self.storage.background.maxwritten.fetch_add(1, Relaxed);
        }
        // The background writer hibernates if there is no demand for buffers.
        Ok(config.bgwriter_delay * if written.is_none() { 50 } else { 1 })
    }

    /// Logs the running transactions every 15 seconds, if an important record was logged in the
    /// meantime. Standbys that start need this. WAL: `RUNNING_XACTS`.
    fn log_running_transactions(&self) -> Result<()> {
        const INTERVAL_US: u64 = 15_000_000;
        let state = &self.checkpointer;
        if self.wal.in_recovery() || self.wal.level() == WalLevel::Minimal {
            return Ok(());
        }
        let now = self.env.clock.monotonic().as_micros() as u64;
        let last = state.last_snapshot_us.load(Relaxed);
        let important = self.wal.last_important();
        if now < last + INTERVAL_US || important.0 <= state.last_snapshot_lsn.load(Relaxed) {
            return Ok(());
        }
        let mut scratch = RecordBuilder::new(RmgrId::Standby, 0);
        let lsn = self.txn.log_standby_snapshot(&mut scratch)?;
        state.last_snapshot_us.store(now, Relaxed);
        state.last_snapshot_lsn.store(lsn.0, Relaxed);
        Ok(())
    }
}

impl Estimate {
    /// Follows an increase immediately and a decrease slowly. Counterpart:
    /// `UpdateCheckPointDistanceEstimate`.
    fn update(&mut self, bytes: f64) {
        self.last_distance = bytes;
        self.distance =
            if self.distance < bytes { bytes } else { 0.9 * self.distance + 0.1 * bytes };
    }
}
