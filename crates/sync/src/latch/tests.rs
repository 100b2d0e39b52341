use super::*;
use LatchMode::*;

#[cfg(not(loom))]
mod threads {
    use super::*;
    use std::cell::UnsafeCell;
    use std::sync::Arc;

    #[test]
    fn modes_conflict_as_in_the_table() {
        let table = [[true, true, false], [true, false, false], [false, false, false]];
        let modes = [Share, ShareExclusive, Exclusive];
        for (i, held) in modes.into_iter().enumerate() {
            for (j, wanted) in modes.into_iter().enumerate() {
                let latch = PageLatch::new();
                assert!(latch.try_acquire(held));
                assert_eq!(latch.try_acquire(wanted), table[i][j], "{held:?} {wanted:?}");
                if table[i][j] {
                    latch.release(wanted);
                }
                latch.release(held);
                assert!(!latch.is_held());
            }
        }
    }

    #[test]
    fn upgrade_is_exclusive_among_sharers() {
        let latch = PageLatch::new();
        latch.acquire(Share);
        latch.acquire(Share);
        assert!(latch.try_upgrade());
        assert!(!latch.try_upgrade());
        latch.downgrade(ShareExclusive);
        assert!(latch.try_upgrade());
        latch.release(ShareExclusive);
        latch.release(Share);
        assert!(!latch.is_held());
    }

    #[test]
    fn a_waiting_writer_stops_new_readers_and_gets_in() {
        let latch = Arc::new(PageLatch::new());
        latch.acquire(Share);
        let other = latch.clone();
        let writer = std::thread::spawn(move || {
            other.acquire(Exclusive);
            other.release(Exclusive);
        });
        while latch.try_acquire(Share) {
            latch.release(Share);
            std::thread::yield_now();
        }
        latch.release(Share);
        writer.join().unwrap();
        assert!(latch.try_acquire(Exclusive));
    }

    struct Shared {
        latch: PageLatch,
        cell: UnsafeCell<[u64; 2]>,
    }
    // SAFETY: the cell is read under share and written under exclusive only.
    unsafe impl Sync for Shared {}

    #[test]
    fn many_threads_see_whole_values() {
        let shared = Arc::new(Shared { latch: PageLatch::new(), cell: UnsafeCell::new([0, 0]) });
        let threads: Vec<_> = (0..6)
            .map(|n| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    for i in 0..3000 {
                        match (i + n) % 4 {
                            0 => {
                                shared.latch.acquire(Exclusive);
                                // SAFETY: exclusive.
                                unsafe {
                                    let cell = &mut *shared.cell.get();
                                    cell[0] += 1;
                                    cell[1] += 1;
                                }
                                shared.latch.release(Exclusive);
                            }
                            1 => {
                                shared.latch.acquire(ShareExclusive);
                                std::thread::yield_now();
                                shared.latch.downgrade(ShareExclusive);
                                shared.latch.release(Share);
                            }
                            _ => {
                                shared.latch.acquire(Share);
                                // SAFETY: share.
                                let cell = unsafe { *shared.cell.get() };
                                shared.latch.release(Share);
                                assert_eq!(cell[0], cell[1]);
                            }
                        }
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        // SAFETY: all others have ended.
        assert_eq!(unsafe { *shared.cell.get() }, [6 * 750; 2]);
        assert_eq!(shared.latch.word.load(Ordering::Relaxed), 0);
    }
}

#[cfg(loom)]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    struct Shared {
        latch: PageLatch,
        cell: UnsafeCell<u32>,
    }
    // SAFETY: loom checks the accesses itself.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}

    /// All interleavings with at most three preemptions; the space of all is too large.
    fn check(body: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(body);
    }

    fn increment(shared: &Shared) {
        shared.latch.acquire(Exclusive);
        // SAFETY: exclusive; loom reports any overlap.
        shared.cell.with_mut(|p| unsafe { *p += 1 });
        shared.latch.release(Exclusive);
    }

    fn read_value(shared: &Shared) -> u32 {
        shared.latch.acquire(Share);
        // SAFETY: share; loom reports any overlap with a write.
        let seen = shared.cell.with(|p| unsafe { *p });
        shared.latch.release(Share);
        seen
    }

    #[test]
    fn loom_writers_exclude_each_other() {
        check(|| {
            let shared = Arc::new(Shared { latch: PageLatch::new(), cell: UnsafeCell::new(0) });
            let other = shared.clone();
            let thread = thread::spawn(move || increment(&other));
            increment(&shared);
            thread.join().unwrap();
            assert_eq!(read_value(&shared), 2);
        });
    }

    #[test]
    fn loom_reader_and_writer() {
        check(|| {
            let shared = Arc::new(Shared { latch: PageLatch::new(), cell: UnsafeCell::new(0) });
            let other = shared.clone();
            let thread = thread::spawn(move || increment(&other));
            assert!(read_value(&shared) <= 1);
            thread.join().unwrap();
            assert_eq!(read_value(&shared), 1);
        });
    }

    #[test]
    fn loom_share_exclusive_meets_a_writer() {
        check(|| {
            let shared = Arc::new(Shared { latch: PageLatch::new(), cell: UnsafeCell::new(0) });
            let other = shared.clone();
            let thread = thread::spawn(move || increment(&other));
            shared.latch.acquire(Share);
            if shared.latch.try_upgrade() {
                shared.latch.downgrade(ShareExclusive);
            }
            shared.latch.release(Share);
            thread.join().unwrap();
            assert_eq!(read_value(&shared), 1);
        });
    }
}
