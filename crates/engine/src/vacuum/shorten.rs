//! Truncation of the empty pages at the end of a table. It needs an ACCESS EXCLUSIVE lock, for
//! which it does not wait long, and which it releases when another session waits.
//!
//! Counterpart: `lazy_truncate_heap`, `count_nondeletable_pages`.

use super::{Phase, Vacuum, progress};
use crate::backend::Backend;
use bufmgr::{READ_AHEAD_MAX, Strategy};
use ids::BlockNo;
use lmgr::{Acquired, LockMode};
use pgerror::Result;
use std::time::{Duration, Instant};
use sync::wait::{Deadline, WaitEvent};

/// Counterpart: `VACUUM_TRUNCATE_LOCK_TIMEOUT`.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two attempts to lock. Counterpart: `VACUUM_TRUNCATE_LOCK_WAIT_INTERVAL`.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two looks for waiting sessions. Counterpart:
/// `VACUUM_TRUNCATE_LOCK_CHECK_INTERVAL`.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Pages between two looks at the clock.
const LOOK_EVERY_BLOCKS: u32 = 32;

impl Vacuum<'_> {
    /// Truncates empty pages at the end of the table, if there are enough of them and the table is
    /// not in use.
    pub(super) fn shorten(&mut self, be: &mut Backend, ring: &mut Strategy) -> Result<()> {
        let pages = self.result.pages;
        let free = pages - self.nonempty_pages.min(pages);
        let worth = free > 0 && (free >= 1000 || free >= pages / 16);
        // The record of the lock for standbys contains a transaction id, which cannot be assigned
        // beyond the stop limit.
        let stopped = be.storage().txns.is_stopped();
        if !self.options.truncate || !worth || self.result.failsafe || stopped {
            return Ok(());
        }
        let tag = self.table.lock_tag();
        while self.lock_for_truncation(be)? {
            let suspended = self.truncate_once(be, ring);
            be.unlock(tag, LockMode::AccessExclusive);
            if !suspended? || self.result.pages <= self.nonempty_pages {
                break;
            }
        }
        Ok(())
    }

    /// Locks the table. False if other sessions hold it for too long.
    fn lock_for_truncation(&self, be: &mut Backend) -> Result<bool> {
        let began = Instant::now();
        let (tag, mode) = (self.table.lock_tag(), LockMode::AccessExclusive);
        while be.try_lock(tag, mode)? == Acquired::NotAvailable {
            be.check_interrupts()?;
            if began.elapsed() >= LOCK_TIMEOUT {
                return Ok(false);
            }
            let deadline = Deadline::after(LOCK_INTERVAL);
            be.waiter().clone().park(WaitEvent::VacuumTruncate, deadline);
        }
        Ok(true)
    }

    /// Truncates as many pages as were looked at before another session began to wait. True if one
    /// did.
    fn truncate_once(&mut self, be: &mut Backend, ring: &mut Strategy) -> Result<bool> {
        let rel = self.table.heap(be);
        let pool = be.pool_arc(self.table.persistence);
        // Rows may have been inserted since the pages were scanned.
        if pool.nblocks(&rel.main)? != self.result.pages {
            return Ok(false);
        }
        let pages = self.result.pages;
        let (keep, suspended) = self.count_pages_to_keep(be, ring)?;
        if keep < pages {
            self.phase = Phase::Truncate(keep);
            self.progress.set(progress::PHASE, progress::TRUNCATE);
            let xid = be.txn.current_xid_if_any();
            let (file, persistence) = (self.table.file, self.table.persistence);
            let wal = be.storage().wal.clone();
            crate::truncate::truncate(&pool, &wal, &mut be.scratch, file, persistence, keep, xid)?;
            self.result.removed_pages += pages - keep;
            self.result.pages = keep;
        }
        Ok(suspended)
    }

    /// Looks for the last page with rows, from the end of the table on. The second value is true if
    /// the search ended because another session waits for the table.
    fn count_pages_to_keep(&self, be: &mut Backend, ring: &mut Strategy) -> Result<(u32, bool)> {
        let rel = self.table.heap(be);
        let pool = be.pool_arc(self.table.persistence);
        let tag = self.table.lock_tag();
        let (mut keep, mut looked) = (self.result.pages, Instant::now());
        let mut read_from = keep;
        while keep > self.nonempty_pages {
            if keep % LOOK_EVERY_BLOCKS == 0 && looked.elapsed() >= LOOK_INTERVAL {
                if be.txn.locks().has_waiters(tag, LockMode::AccessExclusive) {
                    return Ok((keep, true));
                }
                looked = Instant::now();
            }
            be.check_interrupts()?;
            if keep <= read_from {
                // The pages before this one, too.
                read_from = (keep - 1) / READ_AHEAD_MAX * READ_AHEAD_MAX;
                pool.read_ahead(&rel.main, BlockNo(read_from), keep - read_from, ring)?;
            }
            let guard = pool.read(&rel.main, BlockNo(keep - 1), ring)?.share();
            let used = (1..=guard.max_offset()).any(|o| guard.line_pointer(o).is_used());
            if !guard.is_new() && used {
                break;
            }
            keep -= 1;
        }
        Ok((keep, false))
    }
}
