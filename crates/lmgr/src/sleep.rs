//! Waiting for a lock. Counterpart: `ProcSleep`, `RemoveFromWaitQueue`, `LockErrorCleanup`.

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
enum Place {
    Grant,
    Queue(usize),
    /// A waiter whom we block and who blocks us.
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
    /// Called with the partition latched and the request found to conflict.
    pub(crate) fn sleep(
        &self,
        mut table: MutexGuard<'_, Partition>,
        tag: &LockTag,
        mode: LockMode,
    ) -> Result<Slept> {
        let lock = table.get_mut(tag).expect("the caller made the entry");
        let slot = &self.manager.slots[self.proc as usize];
        match self.place(lock, mode) {
            Place::Grant => {
                lock.grant(self.proc, mode);
                return Ok(Slept::Granted);
            }
            Place::Deadlock(other) => {
                let steps = [
                    Step { tag: *tag, mode, pid: slot.pid.load(Ordering::Relaxed) },
                    Step { tag: *tag, mode: other.mode, pid: self.manager.pid(other.proc) },
                ];
                self.manager.count_deadlock();
                return Err(deadlock::error(&steps));
            }
            Place::Queue(at) => {
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

    /// Whoever holds modes of this object already goes before waiters that wait for him, else
    /// releasing would deadlock.
    fn place(&self, lock: &Lock, mode: LockMode) -> Place {
        let held = lock.held_by(self.proc);
        if held == 0 {
            return Place::Queue(lock.queue.len());
        }
        let mut ahead = 0;
        for (i, other) in lock.queue.iter().enumerate() {
            if other.mode.conflicts() & held != 0 {
                if mode.conflicts() & lock.held_by(other.proc) != 0 {
                    return Place::Deadlock(*other);
                }
                if mode.conflicts() & ahead == 0 && !lock.conflicts_with_holders(self.proc, mode) {
                    return Place::Grant;
                }
                return Place::Queue(i);
            }
            ahead |= other.mode.bit();
        }
        // Nobody waits for us; perhaps only the queue was in the way, and we still join its end.
        Place::Queue(lock.queue.len())
    }

    fn wait_loop(&self, tag: &LockTag) -> Result<()> {
        let slot = &self.manager.slots[self.proc as usize];
        let event = tag.kind.wait_event();
        let mask = MASK.iter().fold(Interrupts::NONE, |all, i| all.with(*i));
        let timeout =
            (!self.lock_timeout.is_zero()).then(|| Deadline::after(self.lock_timeout)).flatten();
        let patience = self.deadlock_timeout.unwrap_or_else(|| self.manager.deadlock_timeout());
        let mut check = Deadline::after(patience);
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
                            self.manager.count_deadlock();
                            return Err(deadlock::error(&steps));
                        }
                    } else if timeout.is_some_and(Deadline::has_passed) {
                        return Err(lock_timeout_error());
                    }
                }
            }
        }
        Ok(())
    }

    /// Leaves the queue after an error; a lock granted in the meantime is given back.
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

/// The present moment by the clock that deadlines use.
pub(crate) use sync::wait::now;
