//! Waiting for a condition on atomics, keyed by address: for I/O in progress and pin counts of a
//! frame, where a condition variable each would be too large.

use crate::atomic::{AtomicU32, Ordering, fence};

/// A wait point of four bytes. The thread that makes the condition false calls `wake_all`
/// afterwards.
#[derive(Debug, Default)]
pub struct WaitPoint {
    /// 1: there may be sleepers.
    sleepers: AtomicU32,
}

impl WaitPoint {
    pub fn new() -> WaitPoint {
        WaitPoint::default()
    }

    /// Sleeps while the condition holds. The condition is evaluated several times, also under the
    /// queue's lock: it must only read atomics, and must not panic.
    pub fn wait_while(&self, condition: impl Fn() -> bool) {
        while condition() {
            self.sleepers.store(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            self.sleep(&condition);
        }
    }

    /// Wakes all waiting threads, which evaluate their conditions again.
    #[inline]
    pub fn wake_all(&self) {
        // Pairs with the fence in `wait_while`: either the sleeper sees the change, or this thread
        // sees the sleeper.
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.unpark();
        }
    }

    #[cfg(not(loom))]
    fn sleep(&self, condition: &impl Fn() -> bool) {
        // SAFETY: the key is this object's own address, used for no other queue; the callbacks
        // neither panic nor call into the parking lot (by contract of `wait_while`).
        unsafe {
            parking_lot_core::park(
                std::ptr::from_ref(self).addr(),
                || self.sleepers.load(Ordering::SeqCst) != 0 && condition(),
                || {},
                |_, _| {},
                parking_lot_core::DEFAULT_PARK_TOKEN,
                None,
            );
        }
    }

    #[cfg(not(loom))]
    #[cold]
    fn unpark(&self) {
        // A thread that validates from now on does not sleep; a thread that sleeps is in the queue.
        self.sleepers.store(0, Ordering::SeqCst);
        // SAFETY: as in `sleep`.
        unsafe {
            parking_lot_core::unpark_all(
                std::ptr::from_ref(self).addr(),
                parking_lot_core::DEFAULT_UNPARK_TOKEN,
            );
        }
    }

    #[cfg(loom)]
    fn sleep(&self, _condition: &impl Fn() -> bool) {
        crate::yield_now();
    }

    #[cfg(loom)]
    fn unpark(&self) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn turns_are_taken_without_a_lost_wake_up() {
        const THREADS: u32 = 4;
        const ROUNDS: u32 = 2000;
        let shared = Arc::new((WaitPoint::new(), AtomicU32::new(0)));
        let threads: Vec<_> = (0..THREADS)
            .map(|me| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    let (point, turn) = &*shared;
                    for _ in 0..ROUNDS {
                        point.wait_while(|| turn.load(Ordering::Acquire) % THREADS != me);
                        turn.fetch_add(1, Ordering::Release);
                        point.wake_all();
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(shared.1.load(Ordering::Relaxed), THREADS * ROUNDS);
    }
}
