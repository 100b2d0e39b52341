//! The latch of a page: share, share-exclusive, exclusive, in one atomic word.
//!
//! | held \ wanted    | share | share-exclusive | exclusive |
//! |------------------|-------|-----------------|-----------|
//! | share            | yes   | yes             | no        |
//! | share-exclusive  | yes   | no              | no        |
//! | exclusive        | no    | no              | no        |
//!
//! Share-exclusive is for a thread that changes hints or writes the page out: readers continue, but
//! there is only one such thread, so a page that is being copied for a write does not change.
//!
//! ```text
//! 63        52        32         23     22     21    20         0
//!  | unused | writers  | unused  | PARKED | EXCL | SX | sharers |
//! ```
//!
//! `writers` counts threads that wait for exclusive. While it is not zero, new threads wait after
//! them, so writers do not starve. A thread that has been parked once ignores the count, so readers
//! do not starve either. A latch is therefore **not** reentrant, not even share.
//!
//! INVARIANT: a non-empty parking queue implies PARKED, and that the latch is held or that a woken
//! thread will try to take it. A release after which a waiter could take the latch unparks if
//! PARKED is set. Validation before sleeping and unparking both run under the queue's lock.
//!
//! Counterpart: lwlock.c (content locks).

use crate::atomic::{AtomicU64, Ordering, spin_loop};

const SHARER: u64 = 1;
const SHARERS: u64 = (1 << 20) - 1;
const SX: u64 = 1 << 20;
const EXCLUSIVE: u64 = 1 << 21;
const PARKED: u64 = 1 << 22;
const WRITER: u64 = 1 << 32;
const WRITERS: u64 = ((1 << 20) - 1) << 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum LatchMode {
    Share = 0,
    ShareExclusive = 1,
    Exclusive = 2,
}

impl LatchMode {
    /// Bits of the word that keep this mode from being taken.
    const fn conflicts(self) -> u64 {
        match self {
            LatchMode::Share => EXCLUSIVE,
            LatchMode::ShareExclusive => EXCLUSIVE | SX,
            LatchMode::Exclusive => EXCLUSIVE | SX | SHARERS,
        }
    }

    const fn unit(self) -> u64 {
        match self {
            LatchMode::Share => SHARER,
            LatchMode::ShareExclusive => SX,
            LatchMode::Exclusive => EXCLUSIVE,
        }
    }
}

/// A page latch of 8 bytes; not reentrant. See the module documentation.
#[derive(Debug)]
pub struct PageLatch {
    word: AtomicU64,
    #[cfg(loom)]
    queue: park::Queue,
}

impl Default for PageLatch {
    fn default() -> PageLatch {
        PageLatch::new()
    }
}

impl PageLatch {
    pub fn new() -> PageLatch {
        PageLatch {
            word: AtomicU64::new(0),
            #[cfg(loom)]
            queue: park::Queue::default(),
        }
    }

    /// Takes the latch if that needs no waiting (and no thread waits for exclusive).
    #[inline]
    pub fn try_acquire(&self, mode: LatchMode) -> bool {
        self.try_take(mode.conflicts() | WRITERS, mode)
    }

    /// Takes the latch, waiting for it if necessary.
    #[inline]
    pub fn acquire(&self, mode: LatchMode) {
        if !self.try_acquire(mode) {
            self.acquire_slow(mode);
        }
    }

    #[inline]
    pub fn release(&self, mode: LatchMode) {
        let before = self.word.fetch_sub(mode.unit(), Ordering::Release);
        debug_assert!(before & mode_mask(mode) != 0, "released a latch that was not held");
        if before & PARKED != 0 && (mode != LatchMode::Share || before & SHARERS == SHARER) {
            self.unpark();
        }
    }

    /// Turns the caller's share latch into share-exclusive, if no other thread has that. Undone by
    /// [`PageLatch::downgrade`].
    #[inline]
    pub fn try_upgrade(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            debug_assert!(word & SHARERS != 0);
            if word & (SX | EXCLUSIVE) != 0 {
                return false;
            }
            match self.word.compare_exchange_weak(
                word,
                word - SHARER + SX,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// Turns the caller's share-exclusive (or exclusive) latch into a share latch.
    #[inline]
    pub fn downgrade(&self, from: LatchMode) {
        debug_assert!(from != LatchMode::Share);
        let before = self.word.fetch_sub(from.unit() - SHARER, Ordering::Release);
        if before & PARKED != 0 {
            self.unpark();
        }
    }

    /// True if the latch is held in any mode. For assertions.
    pub fn is_held(&self) -> bool {
        self.word.load(Ordering::Relaxed) & (SHARERS | SX | EXCLUSIVE) != 0
    }

    /// True if the latch is held exclusively. For assertions.
    pub fn is_exclusive(&self) -> bool {
        self.word.load(Ordering::Relaxed) & EXCLUSIVE != 0
    }

    #[inline]
    fn try_take(&self, blockers: u64, mode: LatchMode) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & blockers == 0 {
            match self.word.compare_exchange_weak(
                word,
                word + mode.unit(),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    #[cold]
    fn acquire_slow(&self, mode: LatchMode) {
        if mode == LatchMode::Exclusive {
            self.word.fetch_add(WRITER, Ordering::Relaxed);
        }
        // Waiting writers do not block each other.
        let mut blockers = mode.conflicts();
        if mode != LatchMode::Exclusive {
            blockers |= WRITERS;
        }
        let mut spins = 0;
        loop {
            if self.try_take(blockers, mode) {
                break;
            }
            if spins < SPINS_MAX {
                spins += 1;
                for _ in 0..1 << spins.min(6) {
                    spin_loop();
                }
                continue;
            }
            let word = self.word.load(Ordering::Relaxed);
            if word & blockers == 0 {
                continue;
            }
            if word & PARKED == 0
                && self
                    .word
                    .compare_exchange_weak(
                        word,
                        word | PARKED,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    )
                    .is_err()
            {
                continue;
            }
            if self.park(mode, blockers) {
                blockers = mode.conflicts();
                spins = 0;
            }
        }
        if mode == LatchMode::Exclusive {
            self.word.fetch_sub(WRITER, Ordering::Relaxed);
        }
    }

    /// True if the thread must still wait. Called under the queue's lock.
    fn must_wait(&self, blockers: u64) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & PARKED != 0 && word & blockers != 0
    }
}

const fn mode_mask(mode: LatchMode) -> u64 {
    match mode {
        LatchMode::Share => SHARERS,
        LatchMode::ShareExclusive => SX,
        LatchMode::Exclusive => EXCLUSIVE,
    }
}

#[cfg(not(loom))]
const SPINS_MAX: u32 = 10;
#[cfg(loom)]
const SPINS_MAX: u32 = 0;

#[cfg(not(loom))]
mod park {
    use super::{LatchMode, Ordering, PARKED, PageLatch};
    use parking_lot_core::{FilterOp, ParkToken, UnparkToken};

    impl PageLatch {
        fn key(&self) -> usize {
            std::ptr::from_ref(self).addr()
        }

        /// Sleeps until unparked; false if it did not need to sleep.
        pub(super) fn park(&self, mode: LatchMode, blockers: u64) -> bool {
            // SAFETY: the key is the latch's own address, used for no other queue; the callbacks
            // neither panic nor call into the parking lot.
            let result = unsafe {
                parking_lot_core::park(
                    self.key(),
                    || self.must_wait(blockers),
                    || {},
                    |_, _| {},
                    ParkToken(mode as usize),
                    None,
                )
            };
            result.is_unparked()
        }

        /// Wakes from the head of the queue: one writer, or the readers before the next writer
        /// with at most one share-exclusive among them.
        #[cold]
        pub(super) fn unpark(&self) {
            let (mut first, mut stop, mut sx_woken) = (true, false, false);
            let filter = |token: ParkToken| {
                if stop {
                    return FilterOp::Stop;
                }
                let only = std::mem::take(&mut first);
                if token.0 == LatchMode::Exclusive as usize {
                    stop = true;
                    return if only { FilterOp::Unpark } else { FilterOp::Stop };
                }
                if token.0 == LatchMode::ShareExclusive as usize
                    && std::mem::replace(&mut sx_woken, true)
                {
                    return FilterOp::Skip;
                }
                FilterOp::Unpark
            };
            let callback = |result: parking_lot_core::UnparkResult| {
                if !result.have_more_threads {
                    self.word.fetch_and(!PARKED, Ordering::Relaxed);
                }
                UnparkToken(0)
            };
            // SAFETY: as in `park`.
            unsafe { parking_lot_core::unpark_filter(self.key(), filter, callback) };
        }
    }
}

#[cfg(loom)]
mod park {
    //! One condition variable per latch, all waiters woken: the same protocol with a simpler queue.
    use super::{LatchMode, Ordering, PARKED, PageLatch};
    use crate::{Condvar, Mutex};

    #[derive(Debug, Default)]
    pub(super) struct Queue {
        sleepers: Mutex<u32>,
        woken: Condvar,
    }

    impl PageLatch {
        pub(super) fn park(&self, _mode: LatchMode, blockers: u64) -> bool {
            let mut sleepers = self.queue.sleepers.lock();
            if !self.must_wait(blockers) {
                return false;
            }
            *sleepers += 1;
            drop(self.queue.woken.park_on(sleepers));
            true
        }

        pub(super) fn unpark(&self) {
            let mut sleepers = self.queue.sleepers.lock();
            self.word.fetch_and(!PARKED, Ordering::Relaxed);
            *sleepers = 0;
            self.queue.woken.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
