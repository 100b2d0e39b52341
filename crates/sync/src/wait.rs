//! Waiting of sessions and workers: one [`Waiter`] each, with a wake-up token, an interrupt word
//! and the current wait event. Waits for a heavyweight lock, a socket or a sleep use the session's
//! `&Waiter`; waits for latches, I/O in progress and commit flushes do not end at interrupts.
//!
//! A wake-up is a token: one that comes before the sleep is not lost, and several count as one. So
//! the caller loops: test the condition, park, test again.
//!
//! Counterpart: latch.c, wait_event.c, the ProcSignal half of postgres.c.

mod event;

pub use event::WaitEvent;

use crate::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The present time of the clock that deadlines use.
pub fn now() -> Instant {
    Instant::now()
}

/// A point in time of the monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// The deadline `span` from now; `None` if the clock cannot represent it (that is: never).
    pub fn after(span: Duration) -> Option<Deadline> {
        Instant::now().checked_add(span).map(Deadline)
    }

    pub fn at(moment: Instant) -> Deadline {
        Deadline(moment)
    }

    pub fn instant(self) -> Instant {
        self.0
    }

    pub fn has_passed(self) -> bool {
        Instant::now() >= self.0
    }

    /// Time left; zero if the deadline has passed.
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

/// A request to a session from another thread: a bit of the interrupt word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Interrupt {
    /// `pg_cancel_backend`, the protocol's CancelRequest.
    QueryCancel = 1 << 0,
    /// `pg_terminate_backend`, shutdown.
    Terminate = 1 << 1,
    StatementTimeout = 1 << 2,
    LockTimeout = 1 << 3,
    IdleInTransactionTimeout = 1 << 4,
    IdleSessionTimeout = 1 << 5,
    ClientConnectionCheck = 1 << 6,
    /// The configuration files were read again.
    ConfigReload = 1 << 7,
    /// The queue of shared invalidation messages has grown long.
    Invalidation = 1 << 8,
    /// A notification for this session has been queued.
    Notify = 1 << 9,
    /// Recovery conflicts with this session's locks or snapshot.
    RecoveryConflict = 1 << 10,
    /// `pg_log_backend_memory_contexts`.
    LogMemory = 1 << 11,
    /// The server crashes: end without access to shared state.
    Crash = 1 << 12,
    TransactionTimeout = 1 << 13,
    /// A request for this worker has been queued.
    Work = 1 << 14,
}

/// A set of [`Interrupt`]s.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Interrupts(u32);

impl Interrupts {
    pub const NONE: Interrupts = Interrupts(0);
    pub const ALL: Interrupts = Interrupts(u32::MAX);

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, interrupt: Interrupt) -> bool {
        self.0 & interrupt as u32 != 0
    }

    #[must_use]
    pub fn with(self, interrupt: Interrupt) -> Interrupts {
        Interrupts(self.0 | interrupt as u32)
    }

    #[must_use]
    pub fn without(self, interrupt: Interrupt) -> Interrupts {
        Interrupts(self.0 & !(interrupt as u32))
    }
}

impl From<Interrupt> for Interrupts {
    fn from(interrupt: Interrupt) -> Interrupts {
        Interrupts(interrupt as u32)
    }
}

impl std::fmt::Debug for Interrupts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Interrupts({:#x})", self.0)
    }
}

/// Why a park ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// There was a wake-up; test the condition again.
    Notified,
    /// The deadline has passed.
    Timeout,
    /// Interrupts are pending. They stay pending until [`Waiter::take`].
    Interrupted,
}

/// The parking place of one session or worker, shared in an `Arc`.
#[derive(Debug, Default)]
pub struct Waiter {
    /// 1: a wake-up that no park has consumed yet.
    token: AtomicU32,
    interrupts: AtomicU32,
    /// Number of the current wait event, 0 for none.
    event: AtomicU16,
}

impl Waiter {
    pub fn new() -> Waiter {
        Waiter::default()
    }

    /// Sleeps until woken, interrupted or the deadline. Returns at once if an interrupt is pending.
    pub fn park(&self, event: WaitEvent, deadline: Option<Deadline>) -> Woken {
        self.park_with(event, deadline, Interrupts::ALL)
    }

    /// As [`Waiter::park`], for waits that must not be interrupted.
    pub fn park_uninterrupted(&self, event: WaitEvent, deadline: Option<Deadline>) -> Woken {
        self.park_with(event, deadline, Interrupts::NONE)
    }

    /// As [`Waiter::park`]; only the interrupts in `mask` end the sleep.
    pub fn park_with(
        &self,
        event: WaitEvent,
        deadline: Option<Deadline>,
        mask: Interrupts,
    ) -> Woken {
        let _shown = self.waiting(event);
        loop {
            if self.interrupts.load(Ordering::Acquire) & mask.0 != 0 {
                return Woken::Interrupted;
            }
            if self.token.swap(0, Ordering::Acquire) != 0 {
                // `raise` also sets the token; the interrupt is the more specific result.
                if self.interrupts.load(Ordering::Acquire) & mask.0 != 0 {
                    return Woken::Interrupted;
                }
                return Woken::Notified;
            }
            if deadline.is_some_and(Deadline::has_passed) {
                return Woken::Timeout;
            }
            self.sleep(deadline);
        }
    }

    /// Sets the wake-up token, which ends the current park or the next one.
    #[inline]
    pub fn wake(&self) {
        if self.token.swap(1, Ordering::Release) == 0 {
            self.unpark();
        }
    }

    /// Sets a bit of the interrupt word and wakes the waiter.
    pub fn raise(&self, interrupt: Interrupt) {
        self.interrupts.fetch_or(interrupt as u32, Ordering::Release);
        self.wake();
    }

    /// Clears the interrupt word and returns its previous contents.
    pub fn take(&self) -> Interrupts {
        Interrupts(self.interrupts.swap(0, Ordering::Acquire))
    }

    /// Clears one interrupt; true if it was pending.
    pub fn take_one(&self, interrupt: Interrupt) -> bool {
        let bit = interrupt as u32;
        self.interrupts.fetch_and(!bit, Ordering::AcqRel) & bit != 0
    }

    /// True if any interrupt is pending. One relaxed load: cheap enough for every row.
    #[inline]
    pub fn pending(&self) -> bool {
        self.interrupts.load(Ordering::Relaxed) != 0
    }

    /// The pending interrupts, without clearing them.
    pub fn peek(&self) -> Interrupts {
        Interrupts(self.interrupts.load(Ordering::Acquire))
    }

    /// The current wait event, as `pg_stat_activity` shows it.
    pub fn current_event(&self) -> Option<WaitEvent> {
        WaitEvent::from_number(self.event.load(Ordering::Relaxed))
    }

    /// Sets the wait event until the guard is dropped: for waits that are not parks (I/O, latches).
    #[inline]
    pub fn waiting(&self, event: WaitEvent) -> Waiting<'_> {
        let outer = self.event.load(Ordering::Relaxed);
        self.event.store(event.number(), Ordering::Relaxed);
        Waiting { waiter: self, outer }
    }
}

/// Resets the wait event when dropped.
pub struct Waiting<'a> {
    waiter: &'a Waiter,
    outer: u16,
}

impl Drop for Waiting<'_> {
    #[inline]
    fn drop(&mut self) {
        self.waiter.event.store(self.outer, Ordering::Relaxed);
    }
}

#[cfg(not(loom))]
impl Waiter {
    fn key(&self) -> usize {
        std::ptr::from_ref(&self.token).addr()
    }

    fn sleep(&self, deadline: Option<Deadline>) {
        // SAFETY: the key is the token's own address, used for no other queue; the callbacks
        // neither panic nor call into the parking lot.
        unsafe {
            parking_lot_core::park(
                self.key(),
                || self.token.load(Ordering::Relaxed) == 0,
                || {},
                |_, _| {},
                parking_lot_core::DEFAULT_PARK_TOKEN,
                deadline.map(Deadline::instant),
            );
        }
    }

    fn unpark(&self) {
        // SAFETY: as in `sleep`. The token was set before, so a sleeper that is not yet queued
        // finds it when it validates under the queue's lock.
        unsafe {
            parking_lot_core::unpark_one(self.key(), |_| parking_lot_core::DEFAULT_UNPARK_TOKEN);
        }
    }
}

#[cfg(loom)]
impl Waiter {
    fn sleep(&self, _deadline: Option<Deadline>) {
        loom::thread::yield_now();
    }

    fn unpark(&self) {}
}

#[cfg(test)]
mod tests;
