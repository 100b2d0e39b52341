//! What a session wants of the pool besides pages, and what the pool has to tell it. Who reads
//! pages for a session carries this in its [`crate::Strategy`].

use crate::writeback::Writeback;
use ids::BlockNo;
use pgerror::PgError;
use smgr::{RelFork, Smgr};
use sync::Mutex;
use sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Settings of the session that the pool obeys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolSettings {
    pub zero_damaged_pages: bool,
    pub ignore_checksum_failure: bool,
    /// `backend_flush_after`, in pages; 0: never.
    pub flush_after: u32,
}

/// See the module's text.
#[derive(Debug, Default)]
pub struct PoolSession {
    zero_damaged_pages: AtomicBool,
    ignore_checksum_failure: AtomicBool,
    flush_after: AtomicU32,
    writeback: Mutex<Writeback>,
    warnings: Mutex<Vec<PgError>>,
    warned: AtomicBool,
}

impl PoolSession {
    pub fn configure(&self, settings: PoolSettings) {
        self.zero_damaged_pages.store(settings.zero_damaged_pages, Relaxed);
        self.ignore_checksum_failure.store(settings.ignore_checksum_failure, Relaxed);
        self.flush_after.store(settings.flush_after, Relaxed);
    }

    pub(crate) fn zero_damaged_pages(&self) -> bool {
        self.zero_damaged_pages.load(Relaxed)
    }

    pub(crate) fn ignore_checksum_failure(&self) -> bool {
        self.ignore_checksum_failure.load(Relaxed)
    }

    /// The session has written these to make room.
    pub(crate) fn written(&self, smgr: &Smgr, fork: RelFork, first: BlockNo, blocks: u32) {
        let flush_after = self.flush_after.load(Relaxed);
        if flush_after > 0 {
            self.writeback.lock().add(smgr, fork, first, blocks, flush_after);
        }
    }

    /// Is for the client of the session.
    pub fn warn(&self, warning: PgError) {
        self.warnings.lock().push(warning);
        self.warned.store(true, Relaxed);
    }

    /// Warnings that have come up since the last call: damaged pages that were let pass.
    pub fn take_warnings(&self) -> Vec<PgError> {
        if !self.warned.load(Relaxed) {
            return Vec::new();
        }
        self.warned.store(false, Relaxed);
        std::mem::take(&mut *self.warnings.lock())
    }
}
