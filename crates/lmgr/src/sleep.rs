//! Waiting for a lock.
//!
//! Counterpart: `ProcSleep` and `LockErrorCleanup` in proc.c, `RemoveFromWaitQueue` in lock.c.

use crate::deadlock::{self, Step, Verdict};
use crate::manager::{WAIT_GRANTED, WAIT_WAITING};
use crate::session::{interrupt_error, lock_timeout_error};
use crate::table::{Lock, Partition, Queued};
use crate::{LockMode, LockSession, LockTag};
use pgerror::Result;
use sync::MutexGuard;
use sync::atomic::Ordering;
use sync::wait::{Deadline, Interrupt, Interrupts, Woken};

pub(crate) enum Slept {
    Granted,
}

/// Where a request joins the queue.
enum QueuePosition {
    /// Nowhere: the request can be granted at once.
    Grant,
    /// At this index.
    At(usize),
    /// A waiter that this session blocks and that blocks this session.
    Deadlock(Queued),
}

/// Interrupts that end the wait for a lock.
const MASK: [Interrupt; 4] = [
    Interrupt::Terminate,
    Interrupt::QueryCancel,
    Interrupt::StatementTimeout,
    Interrupt::LockTimeout,
];

impl LockSession {
    /// Joins the queue and waits. Called under the partition's mutex, for a request that conflicts.
    pub(crate) fn sleep(
        &self,
        mut table: MutexGuard<'_, Partition>,
        tag: &LockTag,
        mode: LockMode,
    ) -> Result<Slept> {
        let lock = table.get_mut(tag).expect("the caller made the entry");
        let slot = &self.manager.slots[self.proc as usize];
        match self.queue_position(lock, mode) {
            QueuePosition::Grant => {
                lock.grant(self.proc, mode);
                return Ok(Slept::Granted);
            }
            QueuePosition::Deadlock(other) => {
                let steps = [
                    Step { tag: *tag, mode, pid: slot.pid.load(Ordering::Relaxed) },
                    Step { tag: *tag, mode: other.mode, pid: self.manager.pid(other.proc) },
                ];
                self.count_deadlock();
                return Err(deadlock::error(&steps));
            }
            QueuePosition::At(at) => {
                let since = now();
                lock.enqueue(at, Queued { proc: self.proc, mode, since });
                slot.begin_wait(*tag, mode);
            }
        }
        drop(table);
        match self.wait_loop(tag) {
            Ok(()) => {
                slot.end_wait();
                Ok(Slept::Granted)
            }
            Err(error) => {
                self.withdraw(tag, mode);
                Err(error)
            }
        }
    }

    fn count_deadlock(&self) {
        self.manager.count_deadlock();
        self.deadlocks.fetch_add(1, Ordering::Relaxed);
    }

    /// A session that already holds modes of this object is queued before the waiters that it
    /// blocks; after them it would deadlock with them.
    fn queue_position(&self, lock: &Lock, mode: LockMode) -> QueuePosition {
        let held = lock.held_by(self.proc);
        if held == 0 {
            return QueuePosition::At(lock.queue.len());
        }
        let mut ahead = 0;
        for (i, other) in lock.queue.iter().enumerate() {
            if other.mode.conflicts() & held != 0 {
                if mode.conflicts() & lock.held_by(other.proc) != 0 {
                    return QueuePosition::Deadlock(*other);
                }
                if mode.conflicts() & ahead == 0 && !lock.conflicts_with_holders(self.proc, mode) {
                    return QueuePosition::Grant;
                }
                return QueuePosition::At(i);
            }
            ahead |= other.mode.bit();
        }
        // This session blocks no waiter. It joins the end even if only the queue conflicts.
        QueuePosition::At(lock.queue.len())
    }

    fn wait_loop(&self, tag: &LockTag) -> Result<()> {
        let slot = &self.manager.slots[self.proc as usize];
        let event = tag.kind.wait_event();
        let mask = MASK.iter().fold(Interrupts::NONE, |all, i| all.with(*i));
        let timeout =
            (!self.lock_timeout.is_zero()).then(|| Deadline::after(self.lock_timeout)).flatten();
        let delay = self.deadlock_timeout.unwrap_or_else(|| self.manager.deadlock_timeout());
        let mut check = Deadline::after(delay);
        while slot.status.load(Ordering::Acquire) == WAIT_WAITING {
            let deadline = match (check, timeout) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            match self.waiter.park_with(event, deadline, mask) {
                Woken::Notified => {}
                Woken::Interrupted => {
                    if let Some(error) = interrupt_error(&self.waiter) {
                        return Err(error);
                    }
                }
                Woken::Timeout => {
                    if slot.status.load(Ordering::Acquire) != WAIT_WAITING {
                        break;
                    }
                    if check.is_some_and(Deadline::has_passed) {
                        check = None;
                        if let Verdict::Deadlock(steps) = deadlock::check(&self.manager, self.proc)
                        {
                            self.count_deadlock();
                            return Err(deadlock::error(&steps));
                        }
                        self.cancel_blockers(tag);
                    } else if timeout.is_some_and(Deadline::has_passed) {
                        return Err(lock_timeout_error());
                    }
                }
            }
        }
        Ok(())
    }

    /// Cancels the autovacuum workers that hold a lock in conflict with the awaited one.
    /// Counterpart: `GetBlockingAutoVacuumPgproc` and its use in `ProcSleep`.
    fn cancel_blockers(&self, tag: &LockTag) {
        let table = self.manager.partition(tag).lock();
        let slot = &self.manager.slots[self.proc as usize];
        let Some((_, mode)) = *slot.wait.lock() else { return };
        let Some(lock) = table.get(tag) else { return };
        for holder in lock.holders.iter().filter(|h| h.proc != self.proc) {
            let other = &self.manager.slots[holder.proc as usize];
            if mode.conflicts() & holder.held != 0
                && other.cancellable.load(Ordering::Acquire)
                && let Some(waiter) = &*other.waiter.lock()
            {
                waiter.raise(Interrupt::QueryCancel);
            }
        }
    }

    /// Leaves the queue after an error; releases the lock if it was granted in the meantime.
    fn withdraw(&self, tag: &LockTag, mode: LockMode) {
        let mut table = self.manager.partition(tag).lock();
        let slot = &self.manager.slots[self.proc as usize];
        let Some(lock) = table.get_mut(tag) else { return };
        if slot.status.load(Ordering::Acquire) == WAIT_GRANTED {
            lock.ungrant(self.proc, mode);
        } else {
            lock.dequeue(self.proc);
        }
        slot.end_wait();
        lock.wake(&self.manager.slots);
        if lock.is_unused() {
            table.remove(tag);
        }
    }
}

/// The current time of the clock that deadlines use.
pub(crate) use sync::wait::now;
