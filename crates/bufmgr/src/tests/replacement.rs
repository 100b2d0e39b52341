//! Clock, rings, and the write-ahead rule at replacement.

use super::*;
use crate::write::BackgroundWriter;

fn scan(fixture: &Fixture, fork: &Arc<ForkBuffers>, strategy: &mut Strategy) {
    for block in 0..fixture.pool.nblocks(fork).unwrap() {
        drop(fixture.pool.read(fork, BlockNo(block), strategy).unwrap().share());
    }
}

fn resident(fixture: &Fixture, fork: &Arc<ForkBuffers>) -> usize {
    let n = fixture.pool.nblocks(fork).unwrap();
    let is_in = |block: &u32| {
        fixture.pool.read_if_resident(fork, BlockNo(*block), &mut Strategy::normal()).is_some()
    };
    (0..n).filter(is_in).count()
}

#[test]
fn a_page_in_use_outlives_a_scan_only_with_a_ring() {
    for rings in [true, false] {
        let fixture = Fixture::new(64);
        fixture.pool.set_scan_rings(rings);
        let (hot, large) = (fixture.relation(1, 16), fixture.relation(2, 300));
        fixture.checkpoint();
        scan(&fixture, &hot, &mut Strategy::normal());
        assert!(fixture.pool.wants_bulk_read(300) && !fixture.pool.wants_bulk_read(16));
        let mut strategy = Strategy::bulk_read(&fixture.pool);
        assert_eq!(strategy.ring_size(), if rings { 8 } else { 0 });
        for _ in 0..3 {
            scan(&fixture, &large, &mut strategy);
        }
        let left = resident(&fixture, &hot);
        if rings {
            assert!(left >= 8, "only the ring's first round may evict others: {left}");
            assert!(resident(&fixture, &large) < 64);
        } else {
            assert_eq!(left, 0);
        }
        assert_eq!(strategy.usage.read + strategy.usage.hit, 900);
    }
}

#[test]
fn a_bulk_read_drops_ring_frames_that_need_a_log_flush() {
    let fixture = Fixture::new(128);
    let fork = fixture.relation(1, 200);
    fixture.checkpoint();
    let mut strategy = Strategy::bulk_read(&fixture.pool);
    let flushes = fixture.pool.stats().wal_flushes;
    // Every page that the scan has passed is dirtied, as by hint bits or updates.
    for block in 0..60 {
        let pin = fixture.pool.read(&fork, BlockNo(block), &mut strategy).unwrap();
        fixture.set_on(&mut pin.exclusive(), 0, 1);
    }
    assert_eq!(fixture.pool.stats().wal_flushes, flushes);
    // A vacuum keeps its frames and flushes once for many.
    let mut strategy = Strategy::vacuum(&fixture.pool, VACUUM_RING);
    let pages = 10 * strategy.ring_size() as u32;
    for block in 0..pages {
        let pin = fixture.pool.read(&fork, BlockNo(block % 200), &mut strategy).unwrap();
        fixture.set_on(&mut pin.exclusive(), 0, 2);
    }
    let flushes = fixture.pool.stats().wal_flushes - flushes;
    assert!((1..=20).contains(&flushes), "{flushes} flushes for {pages} pages");
}

#[test]
fn a_scan_ends_although_everything_is_dirty() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 100);
    let vacuum = |pool: &BufferPool| Strategy::vacuum(pool, VACUUM_RING);
    for kind in [Strategy::bulk_read, Strategy::bulk_write, vacuum] {
        let mut strategy = kind(&fixture.pool);
        for block in 0..100 {
            let pin = fixture.pool.read(&fork, BlockNo(block), &mut strategy).unwrap();
            fixture.set_on(&mut pin.exclusive(), 0, 2);
        }
    }
}

#[test]
fn no_page_is_written_before_its_record_is_durable() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 40);
    for block in 0..40 {
        fixture.set(&fork, block, 3, 77);
    }
    // Some pages were evicted.
    let durable_log = fixture.wal.flushed();
    let file = fixture.disk.open("base/5/1", vfs::OpenMode::Read).unwrap();
    let mut bytes = [0; PAGE_SIZE];
    for block in 0..16 {
        file.read_exact_at(&mut bytes, block * PAGE_SIZE as u64).unwrap();
        let page = page::PageBuf::from_bytes(&bytes);
        assert!(page.lsn() <= durable_log);
    }
    assert!(fixture.pool.stats().wal_flushes > 0);
}

#[test]
fn when_all_frames_are_pinned_the_next_read_fails_and_recovers() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 17);
    let mut strategy = Strategy::normal();
    let pins: Vec<_> =
        (0..16).map(|n| fixture.pool.read(&fork, BlockNo(n), &mut strategy).unwrap()).collect();
    let error = fixture.pool.read(&fork, BlockNo(16), &mut strategy).err().unwrap();
    assert_eq!(error.message(), "no unpinned buffers available");
    drop(pins);
    assert_eq!(fixture.get(&fork, 16, 0), 0);
}

/// A thread that holds all pins may not be scheduled for a while.
#[test]
fn a_read_waits_for_pins_that_last_some_milliseconds() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 17);
    let all_pinned = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut strategy = Strategy::normal();
            let pins: Vec<_> = (0..16)
                .map(|n| fixture.pool.read(&fork, BlockNo(n), &mut strategy).unwrap())
                .collect();
            all_pinned.wait();
            std::thread::sleep(std::time::Duration::from_millis(100));
            drop(pins);
        });
        all_pinned.wait();
        assert_eq!(fixture.get(&fork, 16, 0), 0);
    });
}

/// A write of many consecutive pages leaves most frames of a small pool unpinned.
#[test]
fn a_checkpoint_pins_a_small_part_of_a_small_pool() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 16);
    for block in 0..16 {
        fixture.set(&fork, block, 0, 1);
    }
    let mut written = Vec::new();
    fixture
        .pool
        .checkpoint_write(false, 0, &mut |progress| written.push(progress.written))
        .unwrap();
    assert_eq!(written.last(), Some(&16));
    assert!(written.windows(2).all(|two| two[1] - two[0] <= 2), "{written:?}");
}

#[test]
fn the_background_writer_writes_ahead_of_the_clock_hand() {
    let fixture = Fixture::new(64);
    let fork = fixture.relation(1, 200);
    fixture.checkpoint();
    let mut writer = BackgroundWriter::new();
    writer.step(&fixture.pool, 100, 2.0, 0).unwrap();
    assert_eq!(writer.step(&fixture.pool, 100, 2.0, 0).unwrap(), None, "no demand, no work");
    let mut cleaned = 0;
    for block in 0..200 {
        fixture.set(&fork, block, 0, 1);
        if block % 10 == 9 {
            cleaned += writer.step(&fixture.pool, 100, 2.0, 0).unwrap().unwrap_or(0);
        }
    }
    let stats = fixture.pool.stats();
    assert_eq!(stats.written_by_background, cleaned as u64);
    assert!(cleaned > 50, "{stats:?}");
    assert!((0..200).all(|block| fixture.get(&fork, block, 0) == 1));
}

#[test]
fn consecutive_blocks_are_read_in_one_call() {
    let fixture = Fixture::new(256);
    let fork = fixture.relation(1, 60);
    for block in 0..60 {
        fixture.set(&fork, block, 0, u64::from(block) + 1);
    }
    fixture.checkpoint();
    fixture.pool.drop_relation(fork.name().rel);
    let fork = fixture.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    let mut strategy = Strategy::normal();
    drop(fixture.pool.read(&fork, BlockNo(5), &mut strategy).unwrap());
    let calls = fixture.disk.count(vfs::Op::Read);
    // Up to the block that is in the pool, then up to the segment's end (16 blocks in this test).
    assert_eq!(fixture.pool.read_ahead(&fork, BlockNo(0), 100, &mut strategy).unwrap(), 5);
    assert_eq!(fixture.pool.read_ahead(&fork, BlockNo(5), 100, &mut strategy).unwrap(), 0);
    assert_eq!(fixture.pool.read_ahead(&fork, BlockNo(6), 100, &mut strategy).unwrap(), 10);
    assert_eq!(fixture.pool.read_ahead(&fork, BlockNo(58), 100, &mut strategy).unwrap(), 2);
    assert_eq!(fixture.pool.read_ahead(&fork, BlockNo(60), 100, &mut strategy).unwrap(), 0);
    assert_eq!(fixture.disk.count(vfs::Op::Read) - calls, 3);
    assert_eq!(fixture.pool.load(&fork, BlockNo(0), BlockNo(60), &mut strategy).unwrap(), 60);
    assert_eq!(resident(&fixture, &fork), 60);
    assert!((0..60).all(|block| fixture.get(&fork, block, 0) == u64::from(block) + 1));
    assert_eq!(strategy.usage.read, 60);
}

#[test]
fn read_ahead_does_not_report_damage_and_loses_no_frame() {
    let fixture = Fixture::new(64);
    let fork = fixture.relation(1, 40);
    fixture.checkpoint();
    fixture.pool.drop_relation(fork.name().rel);
    let fork = fixture.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    let file = fixture.disk.open("base/5/1", vfs::OpenMode::ReadWrite).unwrap();
    file.write_all_at(b"damage", 2 * PAGE_SIZE as u64 + 5000).unwrap();
    let mut strategy = Strategy::normal();
    assert_eq!(fixture.pool.read_ahead(&fork, BlockNo(0), 4, &mut strategy).unwrap(), 2);
    assert!(fixture.pool.read(&fork, BlockNo(2), &mut strategy).is_err());
    assert_eq!(fixture.get(&fork, 3, 0), 0);
    for _ in 0..100 {
        fixture.disk.fail_nth(vfs::Op::Read, 1, 5);
        assert!(fixture.pool.read_ahead(&fork, BlockNo(10), 4, &mut strategy).is_err());
        for block in 10..40 {
            fixture.get(&fork, block, 0);
        }
        fixture.pool.truncate(&[(fork.clone(), 10)], || Ok(())).unwrap();
        while fixture.pool.nblocks(&fork).unwrap() < 40 {
            fixture.add_page(&fork);
        }
        fixture.checkpoint();
        fixture.pool.drop_relation(fork.name().rel);
        discard_all(&fixture, &fork);
    }
}

/// Discards all blocks of the fork, and keeps its handle.
fn discard_all(fixture: &Fixture, fork: &Arc<ForkBuffers>) {
    for block in 0..fixture.pool.nblocks(fork).unwrap() {
        fixture.pool.discard_block(fork, BlockNo(block));
    }
}

#[test]
fn a_file_extended_in_advance_is_truncated_to_its_used_length() {
    let fixture = Fixture::new(64);
    let fork = fixture.relation(1, 3);
    let in_file = || fixture.pool.smgr().nblocks(fork.name()).unwrap();
    let mut strategy = Strategy::normal();
    for n in 3..8 {
        let guard = fixture.pool.extend_in_advance(&fork, 8, &mut strategy).unwrap();
        assert_eq!(guard.block(), BlockNo(n));
    }
    assert_eq!((fixture.pool.nblocks(&fork).unwrap(), in_file()), (8, 11));
    // An extension without `ahead` uses the blocks that are there.
    drop(fixture.pool.extend(&fork, &mut strategy).unwrap());
    assert_eq!((fixture.pool.nblocks(&fork).unwrap(), in_file()), (9, 11));
    fixture.pool.trim(&fork).unwrap();
    assert_eq!(in_file(), 9);
    fixture.pool.trim(&fork).unwrap();
    drop(fixture.pool.extend(&fork, &mut strategy).unwrap());
    assert_eq!((fixture.pool.nblocks(&fork).unwrap(), in_file()), (10, 10));
}

#[test]
fn blocks_added_together_are_in_the_pool() {
    let fixture = Fixture::new(64);
    let fork = fixture.relation(1, 1);
    let mut strategy = Strategy::bulk_write(&fixture.pool);
    assert_eq!(strategy.ring_size(), 8);
    drop(fixture.pool.extend_by(&fork, 10, &mut strategy).unwrap());
    assert_eq!(fixture.pool.nblocks(&fork).unwrap(), 11);
    let is_in = |block| {
        fixture.pool.read_if_resident(&fork, BlockNo(block), &mut Strategy::normal()).is_some()
    };
    // At most half the ring is in the pool; the other blocks are zeros in the file.
    assert!((1..5).all(is_in) && !(5..11).any(is_in));
    let guard = fixture.pool.read(&fork, BlockNo(10), &mut strategy).unwrap().share();
    assert!(guard.is_new());
}
