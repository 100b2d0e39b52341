//! The statistics file, and the counters that do not belong to an object: WAL, checkpoints,
//! background writer, archiver.
//!
//! Those counters run from the start of the server and are never reset. [`Fixed`] in the shared
//! statistics has what is added to them: their values in the statistics file, or after a reset
//! their negated values at that time.
//!
//! Counterpart: `pgstat_restore_stats`, `pgstat_discard_stats`, `pgstat_before_server_shutdown`.

use crate::engine::Engine;
use crate::shared::Storage;
use pgerror::{PgError, Severity, SqlState};
use stats::Fixed;
use sync::atomic::Ordering::Relaxed;

const FILE: &str = "pg_stat/pgstat.stat";
const TEMPORARY_FILE: &str = "pg_stat/pgstat.tmp";
/// Position of the time of the last reset in the archiver's counters.
const ARCHIVER_RESET: usize = 128;
/// Number of SLRUs, and of the words of each.
const SLRUS: usize = 8;
const SLRU_WORDS: usize = 8;

/// What `pg_stat_reset_shared` resets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FixedKind {
    Archiver,
    BackgroundWriter,
    Wal,
}

/// The present values of all counters.
pub fn fixed(storage: &Storage) -> Fixed {
    let mut sums = storage.stats.fixed.lock().clone();
    let counted = counted(storage);
    let add = |sums: &mut [i64], counted: &[i64]| {
        sums.iter_mut().zip(counted).for_each(|(sum, n)| *sum += n);
    };
    add(&mut sums.bgwriter, &counted.bgwriter);
    add(&mut sums.checkpointer, &counted.checkpointer);
    add(&mut sums.wal, &counted.wal);
    sums
}

/// The counts since the start of the server; times of resets are 0.
fn counted(storage: &Storage) -> Fixed {
    let (done, pool) = (&storage.background, storage.pool.stats());
    let wal = storage.wal.stats();
    let word = |n: u64| n as i64;
    Fixed {
        bgwriter: [
            word(pool.written_by_background),
            word(done.maxwritten.load(Relaxed)),
            word(pool.allocated),
            0,
        ],
        checkpointer: [
            word(done.timed.load(Relaxed)),
            word(done.requested.load(Relaxed)),
            word(done.write_time_ms.load(Relaxed)),
            word(done.sync_time_ms.load(Relaxed)),
            word(done.buffers_checkpoint.load(Relaxed)),
            word(pool.written_by_sessions),
            0,
        ],
        wal: [
            word(wal.records),
            word(wal.fpi),
            word(wal.bytes),
            word(wal.buffers_full),
            word(wal.write),
            word(wal.sync),
            word(wal.write_time_us),
            word(wal.sync_time_us),
            0,
        ],
        ..Fixed::default()
    }
}

/// Sets counters to zero, at this time.
pub fn reset_fixed(storage: &Storage, what: FixedKind, now: i64) {
    let counted = counted(storage);
    let mut fixed = storage.stats.fixed.lock();
    match what {
        FixedKind::Archiver => {
            fixed.archiver = Fixed::default().archiver;
            fixed.archiver[ARCHIVER_RESET..].copy_from_slice(&now.to_le_bytes());
        }
        FixedKind::BackgroundWriter => {
            fixed.bgwriter = counted.bgwriter.map(|n| -n);
            fixed.checkpointer = counted.checkpointer.map(|n| -n);
            fixed.bgwriter[3] = now;
        }
        FixedKind::Wal => {
            fixed.wal = counted.wal.map(|n| -n);
            fixed.wal[8] = now;
        }
    }
}

/// Sets the counters of one SLRU, or of all, to zero.
pub fn reset_slru(storage: &Storage, which: Option<usize>, now: i64) {
    let mut fixed = storage.stats.fixed.lock();
    for (n, slru) in fixed.slru.chunks_exact_mut(SLRU_WORDS * 8).enumerate().take(SLRUS) {
        if which.is_none_or(|which| which == n) {
            slru.fill(0);
            slru[(SLRU_WORDS - 1) * 8..].copy_from_slice(&now.to_le_bytes());
        }
    }
}

impl Engine {
    /// Reads the statistics file at the start. See [`load`].
    pub(crate) fn load_statistics(&self, crashed: bool) {
        load(self, crashed);
    }

    /// Writes the statistics file at the shutdown.
    pub(crate) fn save_statistics(&self) {
        save(self);
    }
}

/// Reads and removes the file when the server starts. After a crash it is not read, because it is
/// older than the data.
fn load(engine: &Engine, crashed: bool) {
    let (disk, stats) = (&*engine.env.disk, &engine.storage.stats);
    let contents = vfs::read_file(disk, FILE);
    let is_read = match &contents {
        Ok(bytes) if !crashed => {
            let parsed = stats::parse(stats, bytes);
            if parsed.is_err() {
                let message = format!("corrupted statistics file \"{FILE}\"");
                engine.log_error(
                    &PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Log),
                );
            }
            parsed.is_ok()
        }
        _ => false,
    };
    if contents.is_ok() {
        // If the file remains, it is replaced at the shutdown or ignored after a crash.
        let _ = disk.unlink(FILE);
    }
    if !is_read {
        let now = engine.env.clock.pg_micros();
        for what in [FixedKind::Archiver, FixedKind::BackgroundWriter, FixedKind::Wal] {
            reset_fixed(&engine.storage, what, now);
        }
        reset_slru(&engine.storage, None, now);
    }
}

/// Writes the file. Statistics that cannot be written are lost; that is only logged.
fn save(engine: &Engine) {
    let disk = &*engine.env.disk;
    let bytes = stats::serialize(&engine.storage.stats, &fixed(&engine.storage));
    let written = vfs::write_file(disk, TEMPORARY_FILE, &bytes).and_then(|()| {
        let renamed = disk.rename(TEMPORARY_FILE, FILE);
        renamed.map_err(|e| vfs::io_error("rename file", TEMPORARY_FILE, &e))
    });
    if let Err(e) = written {
        engine.log_error(&e.severity(Severity::Log));
        let _ = disk.unlink(TEMPORARY_FILE);
    }
}
