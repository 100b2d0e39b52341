//! Many threads on a small pool.

use super::*;
use crate::write::BackgroundWriter;
use sync::atomic::{AtomicBool, Ordering};
use vfs::SeededRandom;

/// Two numbers on each page are changed together, and readers must see them equal. Concurrently run
/// a checkpointer, a background writer, hint setters, and a thread that extends and truncates a
/// relation.
#[test]
fn many_threads_on_sixteen_frames() {
    const BLOCKS: u64 = 60;
    const ROUNDS: u64 = 400;
    let fixture = Arc::new(Fixture::new(16));
    let fork = fixture.relation(1, BLOCKS as u32);
    let stop = Arc::new(AtomicBool::new(false));
    let checkpointer = {
        let (fixture, stop) = (fixture.clone(), stop.clone());
        std::thread::spawn(move || {
            let mut writer = BackgroundWriter::new();
            while !stop.load(Ordering::Relaxed) {
                fixture.checkpoint();
                writer.step(&fixture.pool, 4, 2.0, 0).unwrap();
            }
        })
    };
    let grower = {
        let (fixture, stop) = (fixture.clone(), stop.clone());
        let fork = fixture.relation(2, 0);
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                for n in 0..20 {
                    assert_eq!(fixture.add_page(&fork), BlockNo(n));
                    fixture.set(&fork, n, 1, 7);
                }
                fixture.pool.truncate(&[(fork.clone(), 0)], || Ok(())).unwrap();
            }
        })
    };
    let threads: Vec<_> = (0..4)
        .map(|me| {
            let (fixture, fork) = (fixture.clone(), fork.clone());
            std::thread::spawn(move || {
                let random = SeededRandom::new(me);
                let mut increments = 0;
                for _ in 0..ROUNDS {
                    let block = BlockNo(random.below(BLOCKS) as u32);
                    let mut strategy = Strategy::normal();
                    let pin = fixture.pool.read(&fork, block, &mut strategy).unwrap();
                    match random.below(4) {
                        0 => {
                            let mut scratch = scratch();
                            let mut guard = pin.exclusive();
                            let mut edit = PageEdit::begin(&fixture.wal, &mut scratch);
                            let page = edit.change(&mut guard, 0, RegFlags::NONE);
                            for slot in [0, SLOTS - 1] {
                                let old = page.u64_at(slot_at(slot));
                                page.set_u64_at(slot_at(slot), old + 1);
                            }
                            edit.log(KIND, 0x30, Xid(3)).unwrap();
                            increments += 1;
                        }
                        1 => {
                            let mut guard = pin.share();
                            guard.try_set_hints(None, |hints| {
                                hints.or_u16(slot_at(5), 1 << random.below(16));
                                true
                            });
                        }
                        _ => {
                            let guard = pin.share();
                            assert_eq!(guard.u64_at(slot_at(0)), guard.u64_at(slot_at(SLOTS - 1)));
                            assert_eq!(guard.block(), block);
                        }
                    }
                }
                increments
            })
        })
        .collect();
    let expected: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    stop.store(true, Ordering::Relaxed);
    checkpointer.join().unwrap();
    grower.join().unwrap();
    let found: u64 = (0..BLOCKS as u32).map(|block| fixture.get(&fork, block, 0)).sum();
    assert_eq!(found, expected);
    assert!(fixture.crashes.lock().is_empty());
}

/// Threads that miss the same block at once get one frame.
#[test]
fn concurrent_misses_of_a_block_use_one_frame() {
    let fixture = Arc::new(Fixture::new(16));
    let fork = fixture.relation(1, 64);
    for round in 0..100 {
        let block = BlockNo(round * 7 % 64);
        let barrier = Arc::new(std::sync::Barrier::new(4));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (fixture, fork, barrier) = (fixture.clone(), fork.clone(), barrier.clone());
                std::thread::spawn(move || {
                    barrier.wait();
                    let pin = fixture.pool.read(&fork, block, &mut Strategy::normal()).unwrap();
                    barrier.wait();
                    let frame = pin.frame();
                    assert_eq!(pin.block(), block);
                    frame
                })
            })
            .collect();
        let frames: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        assert!(frames.iter().all(|f| *f == frames[0]), "{frames:?}");
    }
}

/// Several threads extend a fork: every block is returned once.
#[test]
fn concurrent_extension_returns_every_block_once() {
    let fixture = Arc::new(Fixture::new(32));
    let fork = fixture.relation(1, 0);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (fixture, fork) = (fixture.clone(), fork.clone());
            std::thread::spawn(move || {
                (0..25).map(|_| fixture.add_page(&fork).0).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut blocks: Vec<u32> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
    blocks.sort_unstable();
    assert_eq!(blocks, (0..100).collect::<Vec<_>>());
    assert_eq!(fixture.pool.nblocks(&fork).unwrap(), 100);
}

/// A reader looks up an entry just before the frame is given to another block.
#[test]
fn a_stale_entry_is_noticed_after_pinning() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 2);
    let other = fixture.relation(2, 1);
    let mut strategy = Strategy::normal();
    let pin = fixture.pool.read(&fork, BlockNo(1), &mut strategy).unwrap();
    for (fork, block) in [(&fork, BlockNo(50)), (&other, BlockNo(1))] {
        assert!(fork.publish(block, pin.frame()));
        assert!(fixture.pool.read_if_resident(fork, block, &mut strategy).is_none());
        fork.retract(block, pin.frame());
    }
    let pin = pin.try_cleanup().ok().expect("pins on the wrong block were taken back");
    assert_eq!(pin.block(), BlockNo(1));
}
