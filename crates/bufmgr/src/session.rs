//! Settings of a session that the pool uses, and warnings of the pool for the session. Passed in
//! [`crate::Strategy`].

use crate::writeback::Writeback;
use ids::BlockNo;
use pgerror::PgError;
use smgr::{RelFork, Smgr};
use sync::Mutex;
use sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// The settings of a session that the pool uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolSettings {
    pub zero_damaged_pages: bool,
    pub ignore_checksum_failure: bool,
    /// `backend_flush_after`, in pages; 0: never.
    pub flush_after: u32,
    /// `track_io_timing`.
    pub times_io: bool,
}

/// See the module documentation.
#[derive(Debug, Default)]
pub struct PoolSession {
    zero_damaged_pages: AtomicBool,
    ignore_checksum_failure: AtomicBool,
    flush_after: AtomicU32,
    times_io: AtomicBool,
    writeback: Mutex<Writeback>,
    warnings: Mutex<Vec<PgError>>,
    warned: AtomicBool,
}

impl PoolSession {
    pub fn configure(&self, settings: PoolSettings) {
        self.zero_damaged_pages.store(settings.zero_damaged_pages, Relaxed);
        self.ignore_checksum_failure.store(settings.ignore_checksum_failure, Relaxed);
        self.flush_after.store(settings.flush_after, Relaxed);
        self.times_io.store(settings.times_io, Relaxed);
    }

    /// True if the time of reads and writes is measured.
    pub(crate) fn times_io(&self) -> bool {
        self.times_io.load(Relaxed)
    }

    pub(crate) fn zero_damaged_pages(&self) -> bool {
        self.zero_damaged_pages.load(Relaxed)
    }

    pub(crate) fn ignore_checksum_failure(&self) -> bool {
        self.ignore_checksum_failure.load(Relaxed)
    }

    /// The session has written these blocks to evict them.
    pub(crate) fn note_written(&self, smgr: &Smgr, fork: RelFork, first: BlockNo, blocks: u32) {
        let flush_after = self.flush_after.load(Relaxed);
        if flush_after > 0 {
            self.writeback.lock().add(smgr, fork, first, blocks, flush_after);
        }
    }

    /// Adds a warning for the session's client.
    pub fn warn(&self, warning: PgError) {
        self.warnings.lock().push(warning);
        self.warned.store(true, Relaxed);
    }

    /// The warnings since the last call: damaged pages that were accepted or zeroed.
    pub fn take_warnings(&self) -> Vec<PgError> {
        if !self.warned.load(Relaxed) {
            return Vec::new();
        }
        self.warned.store(false, Relaxed);
        std::mem::take(&mut *self.warnings.lock())
    }
}
