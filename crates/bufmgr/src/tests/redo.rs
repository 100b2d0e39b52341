//! Page access of redo.

use super::*;
use crate::redo::{IfMissing, RedoCx, read_block};

#[test]
fn a_lost_pool_is_rebuilt_from_the_log() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 40);
    for n in 0..400u64 {
        fixture.set(&fork, (n % 40) as u32, (n / 40) as usize, n * n);
    }
    fixture.wal.flush(fixture.wal.inserted()).unwrap();
    let after = Fixture::unstarted(fixture.disk.crash_losing_all(), 16, true);
    assert_eq!(after.recover(START), 440);
    let fork = after.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    assert_eq!(after.pool.nblocks(&fork).unwrap(), 40);
    for n in 0..400u64 {
        assert_eq!(after.get(&fork, (n % 40) as u32, (n / 40) as usize), n * n);
    }
    // Once more, with pages that have most of the changes already.
    after.checkpoint();
    let again = Fixture::unstarted(after.disk.crash_losing_all(), 16, true);
    again.recover(START);
    let fork = again.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
    assert_eq!(again.get(&fork, 39, 9), 399 * 399);
}

#[test]
fn torn_pages_are_restored_from_their_images() {
    let fixture = Fixture::new(64);
    let fork = fixture.relation(1, 20);
    let redo = fixture.checkpoint();
    for block in 0..20 {
        fixture.set(&fork, block, 0, 1);
        fixture.set(&fork, block, SLOTS - 1, 2);
    }
    // Written but not synced: a power failure tears them.
    fixture.pool.flush_fork(&fork).unwrap();
    for seed in 0..10 {
        let after = Fixture::unstarted(fixture.disk.crash(seed), 16, true);
        after.recover(redo);
        let fork = after.pool.open(fork.name().rel, Fork::Main, Persistence::Permanent);
        for block in 0..20 {
            assert_eq!((after.get(&fork, block, 0), after.get(&fork, block, SLOTS - 1)), (1, 2));
        }
    }
}

#[test]
fn missing_pages_are_reported_unless_dropped_or_truncated() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 10);
    fixture.checkpoint();
    let redo = fixture.checkpoint();
    fixture.wal.configure(|config| config.full_page_writes = false);
    fixture.wal.set_full_page_writes(false);
    fixture.set(&fork, 8, 0, 1);
    fixture.set(&fork, 9, 0, 1);
    fixture.wal.flush(fixture.wal.inserted()).unwrap();
    fixture.pool.truncate(&[(fork.clone(), 9)], || Ok(())).unwrap();
    fixture.smgr.immediate_sync(fork.name()).unwrap();
    let after = Fixture::unstarted(fixture.disk.crash_losing_all(), 16, true);
    let mut reader = WalReader::new(Arc::new(after.disk.clone()), SEGMENT, 1, Some(SYSTEM));
    reader.seek(redo);
    let mut cx = RedoCx::new(&after.pool);
    while let Some(record) = reader.read().unwrap() {
        replay(&mut cx, record);
    }
    assert_eq!(cx.invalid().len(), 1);
    cx.invalid().forget_relation(fork.name().rel, Fork::Vm, BlockNo(0));
    cx.invalid().forget_relation(fork.name().rel, Fork::Main, BlockNo(10));
    let reports: Vec<_> = cx.invalid().reports().collect();
    assert_eq!(reports, ["page 9 of relation base/5/1 did not exist"]);
    cx.invalid().forget_relation(fork.name().rel, Fork::Main, BlockNo(9));
    assert!(cx.invalid().is_empty());
}

#[test]
fn missing_map_pages_are_ignored_or_zeroed() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 2);
    let rel = fork.name().rel;
    let after = Fixture::unstarted(fixture.disk.killed(), 16, true);
    let mut cx = RedoCx::new(&after.pool);
    let none = read_block(&mut cx, rel, Fork::Vm, BlockNo(3), IfMissing::Ignore).unwrap();
    assert!(none.is_none());
    let some = read_block(&mut cx, rel, Fork::Fsm, BlockNo(3), IfMissing::ZeroOnError).unwrap();
    assert!(some.unwrap().is_all_zeros());
    let fsm = after.pool.open(rel, Fork::Fsm, Persistence::Permanent);
    assert_eq!(after.pool.nblocks(&fsm).unwrap(), 4);
    assert!(cx.invalid().is_empty());
}
