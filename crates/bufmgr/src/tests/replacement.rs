//! Clock, rings, and the write-ahead rule at replacement.

use super::*;
use crate::write::BackgroundWriter;

fn scan(world: &World, fork: &Arc<ForkBuffers>, strategy: &mut Strategy) {
    for block in 0..world.pool.nblocks(fork).unwrap() {
        drop(world.pool.read(fork, BlockNo(block), strategy).unwrap().share());
    }
}

fn resident(world: &World, fork: &Arc<ForkBuffers>) -> usize {
    let n = world.pool.nblocks(fork).unwrap();
    let is_in = |block: &u32| {
        world.pool.read_if_resident(fork, BlockNo(*block), &mut Strategy::normal()).is_some()
    };
    (0..n).filter(is_in).count()
}

#[test]
fn a_page_in_use_outlives_a_scan_only_with_a_ring() {
    for rings in [true, false] {
        let world = World::new(64);
        world.pool.set_scan_rings(rings);
        let (hot, large) = (world.relation(1, 16), world.relation(2, 300));
        world.checkpoint();
        scan(&world, &hot, &mut Strategy::normal());
        assert!(world.pool.wants_bulk_read(300) && !world.pool.wants_bulk_read(16));
        let mut strategy = Strategy::bulk_read(&world.pool);
        assert_eq!(strategy.ring_size(), if rings { 8 } else { 0 });
        for _ in 0..3 {
            scan(&world, &large, &mut strategy);
        }
        let left = resident(&world, &hot);
        if rings {
            assert!(left >= 8, "only the ring's first round may evict others: {left}");
            assert!(resident(&world, &large) < 64);
        } else {
            assert_eq!(left, 0);
        }
        assert_eq!(strategy.usage.read + strategy.usage.hit, 900);
    }
}

#[test]
fn a_bulk_read_drops_ring_frames_that_need_a_log_flush() {
    let world = World::new(128);
    let fork = world.relation(1, 200);
    world.checkpoint();
    let mut strategy = Strategy::bulk_read(&world.pool);
    let flushes = world.pool.stats().wal_flushes;
    // Every page that the scan has passed is dirtied, as by hint bits or updates.
    for block in 0..60 {
        let pin = world.pool.read(&fork, BlockNo(block), &mut strategy).unwrap();
        world.set_on(&mut pin.exclusive(), 0, 1);
    }
    assert_eq!(world.pool.stats().wal_flushes, flushes);
    // A vacuum keeps its frames and flushes once for many.
    let mut strategy = Strategy::vacuum(&world.pool);
    let pages = 10 * strategy.ring_size() as u32;
    for block in 0..pages {
        let pin = world.pool.read(&fork, BlockNo(block % 200), &mut strategy).unwrap();
        world.set_on(&mut pin.exclusive(), 0, 2);
    }
    let flushes = world.pool.stats().wal_flushes - flushes;
    assert!((1..=20).contains(&flushes), "{flushes} flushes for {pages} pages");
}

#[test]
fn a_scan_ends_although_everything_is_dirty() {
    let world = World::new(16);
    let fork = world.relation(1, 100);
    for kind in [Strategy::bulk_read, Strategy::bulk_write, Strategy::vacuum] {
        let mut strategy = kind(&world.pool);
        for block in 0..100 {
            let pin = world.pool.read(&fork, BlockNo(block), &mut strategy).unwrap();
            world.set_on(&mut pin.exclusive(), 0, 2);
        }
    }
}

#[test]
fn no_page_is_written_before_its_record_is_durable() {
    let world = World::new(16);
    let fork = world.relation(1, 40);
    for block in 0..40 {
        world.set(&fork, block, 3, 77);
    }
    // Some pages were evicted.
    let durable_log = world.wal.flushed();
    let file = world.disk.open("base/5/1", vfs::OpenMode::Read).unwrap();
    let mut bytes = [0; PAGE_SIZE];
    for block in 0..16 {
        file.read_exact_at(&mut bytes, block * PAGE_SIZE as u64).unwrap();
        let page = page::PageBuf::from_bytes(&bytes);
        assert!(page.lsn() <= durable_log);
    }
    assert!(world.pool.stats().wal_flushes > 0);
}

#[test]
fn when_all_frames_are_pinned_the_next_read_fails_and_recovers() {
    let world = World::new(16);
    let fork = world.relation(1, 17);
    let mut strategy = Strategy::normal();
    let pins: Vec<_> =
        (0..16).map(|n| world.pool.read(&fork, BlockNo(n), &mut strategy).unwrap()).collect();
    let error = world.pool.read(&fork, BlockNo(16), &mut strategy).err().unwrap();
    assert_eq!(error.message(), "no unpinned buffers available");
    drop(pins);
    assert_eq!(world.get(&fork, 16, 0), 0);
}

/// A thread that holds all pins may not be scheduled for a while.
#[test]
fn a_read_waits_for_pins_that_last_some_milliseconds() {
    let world = World::new(16);
    let fork = world.relation(1, 17);
    let all_pinned = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut strategy = Strategy::normal();
            let pins: Vec<_> = (0..16)
                .map(|n| world.pool.read(&fork, BlockNo(n), &mut strategy).unwrap())
                .collect();
            all_pinned.wait();
            std::thread::sleep(std::time::Duration::from_millis(100));
            drop(pins);
        });
        all_pinned.wait();
        assert_eq!(world.get(&fork, 16, 0), 0);
    });
}

/// A write of many consecutive pages leaves most frames of a small pool unpinned.
#[test]
fn a_checkpoint_pins_a_small_part_of_a_small_pool() {
    let world = World::new(16);
    let fork = world.relation(1, 16);
    for block in 0..16 {
        world.set(&fork, block, 0, 1);
    }
    let mut written = Vec::new();
    world.pool.checkpoint_write(false, 0, &mut |progress| written.push(progress.written)).unwrap();
    assert_eq!(written.last(), Some(&16));
    assert!(written.windows(2).all(|two| two[1] - two[0] <= 2), "{written:?}");
}

#[test]
fn the_background_writer_writes_ahead_of_the_clock_hand() {
    let world = World::new(64);
    let fork = world.relation(1, 200);
    world.checkpoint();
    let mut writer = BackgroundWriter::new();
    writer.step(&world.pool, 100, 2.0, 0).unwrap();
    assert_eq!(writer.step(&world.pool, 100, 2.0, 0).unwrap(), None, "no demand, no work");
    let mut cleaned = 0;
    for block in 0..200 {
        world.set(&fork, block, 0, 1);
        if block % 10 == 9 {
            cleaned += writer.step(&world.pool, 100, 2.0, 0).unwrap().unwrap_or(0);
        }
    }
    let stats = world.pool.stats();
    assert_eq!(stats.written_by_background, cleaned as u64);
    assert!(cleaned > 50, "{stats:?}");
    assert!((0..200).all(|block| world.get(&fork, block, 0) == 1));
}

#[test]
fn consecutive_blocks_are_read_in_one_call() {
    let world = World::new(256);
    let fork = world.relation(1, 60);
    for block in 0..60 {
        world.set(&fork, block, 0, u64::from(block) + 1);
    }
    world.checkpoint();
    world.pool.drop_relation(fork.name().rel);
    let fork = world.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    let mut strategy = Strategy::normal();
    drop(world.pool.read(&fork, BlockNo(5), &mut strategy).unwrap());
    let calls = world.disk.count(vfs::Op::Read);
    // Up to the block that is in the pool, then up to the segment's end (16 blocks in this test).
    assert_eq!(world.pool.read_ahead(&fork, BlockNo(0), 100, &mut strategy).unwrap(), 5);
    assert_eq!(world.pool.read_ahead(&fork, BlockNo(5), 100, &mut strategy).unwrap(), 0);
    assert_eq!(world.pool.read_ahead(&fork, BlockNo(6), 100, &mut strategy).unwrap(), 10);
    assert_eq!(world.pool.read_ahead(&fork, BlockNo(58), 100, &mut strategy).unwrap(), 2);
    assert_eq!(world.pool.read_ahead(&fork, BlockNo(60), 100, &mut strategy).unwrap(), 0);
    assert_eq!(world.disk.count(vfs::Op::Read) - calls, 3);
    assert_eq!(world.pool.load(&fork, BlockNo(0), BlockNo(60), &mut strategy).unwrap(), 60);
    assert_eq!(resident(&world, &fork), 60);
    assert!((0..60).all(|block| world.get(&fork, block, 0) == u64::from(block) + 1));
    assert_eq!(strategy.usage.read, 60);
}

#[test]
fn read_ahead_does_not_report_damage_and_loses_no_frame() {
    let world = World::new(64);
    let fork = world.relation(1, 40);
    world.checkpoint();
    world.pool.drop_relation(fork.name().rel);
    let fork = world.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    let file = world.disk.open("base/5/1", vfs::OpenMode::ReadWrite).unwrap();
    file.write_all_at(b"damage", 2 * PAGE_SIZE as u64 + 5000).unwrap();
    let mut strategy = Strategy::normal();
    assert_eq!(world.pool.read_ahead(&fork, BlockNo(0), 4, &mut strategy).unwrap(), 2);
    assert!(world.pool.read(&fork, BlockNo(2), &mut strategy).is_err());
    assert_eq!(world.get(&fork, 3, 0), 0);
    for _ in 0..100 {
        world.disk.fail_nth(vfs::Op::Read, 1, 5);
        assert!(world.pool.read_ahead(&fork, BlockNo(10), 4, &mut strategy).is_err());
        for block in 10..40 {
            world.get(&fork, block, 0);
        }
        world.pool.truncate(&[(fork.clone(), 10)], || Ok(())).unwrap();
        while world.pool.nblocks(&fork).unwrap() < 40 {
            world.add_page(&fork);
        }
        world.checkpoint();
        world.pool.drop_relation(fork.name().rel);
        discard_all(&world, &fork);
    }
}

/// Discards all blocks of the fork, and keeps its handle.
fn discard_all(world: &World, fork: &Arc<ForkBuffers>) {
    for block in 0..world.pool.nblocks(fork).unwrap() {
        world.pool.discard_block(fork, BlockNo(block));
    }
}

#[test]
fn a_file_extended_in_advance_is_truncated_to_its_used_length() {
    let world = World::new(64);
    let fork = world.relation(1, 3);
    let in_file = || world.pool.smgr().nblocks(fork.name()).unwrap();
    let mut strategy = Strategy::normal();
    for n in 3..8 {
        let guard = world.pool.extend_in_advance(&fork, 8, &mut strategy).unwrap();
        assert_eq!(guard.block(), BlockNo(n));
    }
    assert_eq!((world.pool.nblocks(&fork).unwrap(), in_file()), (8, 11));
    // An extension without `ahead` uses the blocks that are there.
    drop(world.pool.extend(&fork, &mut strategy).unwrap());
    assert_eq!((world.pool.nblocks(&fork).unwrap(), in_file()), (9, 11));
    world.pool.trim(&fork).unwrap();
    assert_eq!(in_file(), 9);
    world.pool.trim(&fork).unwrap();
    drop(world.pool.extend(&fork, &mut strategy).unwrap());
    assert_eq!((world.pool.nblocks(&fork).unwrap(), in_file()), (10, 10));
}

#[test]
fn blocks_added_together_are_in_the_pool() {
    let world = World::new(64);
    let fork = world.relation(1, 1);
    let mut strategy = Strategy::bulk_write(&world.pool);
    assert_eq!(strategy.ring_size(), 8);
    drop(world.pool.extend_by(&fork, 10, &mut strategy).unwrap());
    assert_eq!(world.pool.nblocks(&fork).unwrap(), 11);
    let is_in = |block| {
        world.pool.read_if_resident(&fork, BlockNo(block), &mut Strategy::normal()).is_some()
    };
    // At most half the ring is in the pool; the other blocks are zeros in the file.
    assert!((1..5).all(is_in) && !(5..11).any(is_in));
    let guard = world.pool.read(&fork, BlockNo(10), &mut strategy).unwrap().share();
    assert!(guard.is_new());
}
