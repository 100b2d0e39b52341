//! Guards, cleanup latches, hints, edits.

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use wal::WalStats;

fn read<'p>(world: &'p World, fork: &Arc<ForkBuffers>, block: u32) -> Pin<'p> {
    world.pool.read(fork, BlockNo(block), &mut Strategy::normal()).unwrap()
}

#[test]
fn guards_change_mode_and_release_latch_and_pin() {
    let world = World::new(16);
    let fork = world.relation(1, 1);
    let share = read(&world, &fork, 0).share();
    assert!(read(&world, &fork, 0).try_exclusive().is_err());
    let upgraded = share.try_upgrade().ok().unwrap();
    let second = read(&world, &fork, 0).try_share().ok().unwrap();
    let second = second.try_upgrade().err().expect("only one share-exclusive");
    drop((upgraded.downgrade(), second));
    let exclusive = read(&world, &fork, 0).try_exclusive().ok().unwrap();
    assert!(read(&world, &fork, 0).try_share().is_err());
    let pin = exclusive.into_pin();
    let another = pin.another();
    assert!(another.is_same(&pin));
    let pin = pin.try_cleanup().err().expect("there is another pin");
    drop(another);
    let cleanup = pin.try_cleanup().ok().unwrap();
    let share = cleanup.into_exclusive().downgrade();
    drop(read(&world, &fork, 0).try_share().ok().unwrap());
    drop(share);
    drop(read(&world, &fork, 0).exclusive());
}

#[test]
fn a_cleanup_latch_waits_for_the_last_other_pin() {
    let world = Arc::new(World::new(16));
    let fork = world.relation(1, 1);
    let blocker = read(&world, &fork, 0);
    let (other, its_fork) = (world.clone(), fork.clone());
    let thread = std::thread::spawn(move || {
        let guard = read(&other, &its_fork, 0).cleanup().unwrap();
        assert!(guard.into_exclusive().try_into_cleanup().is_ok());
    });
    // While it waits, it holds no latch, and no other thread may wait for the same.
    let waiting = || {
        let state = &world.pool.frames.desc(blocker.frame()).state;
        state.load(sync::atomic::Ordering::Relaxed) & crate::frame::PIN_WAITER != 0
    };
    while !waiting() {
        std::thread::yield_now();
    }
    let refused = read(&world, &fork, 0).cleanup().err().expect("another thread waits already");
    assert_eq!(refused.message(), "multiple backends attempting to wait for pincount 1");
    drop(read(&world, &fork, 0).share());
    drop(blocker);
    thread.join().unwrap();
}

fn images(stats: WalStats) -> u64 {
    stats.fpi
}

#[test]
fn the_first_hint_since_the_redo_pointer_logs_an_image() {
    let world = World::new(16);
    let fork = world.relation(1, 2);
    world.checkpoint();
    let hint = |block: u32| {
        let mut guard = read(&world, &fork, block).share();
        assert!(guard.try_set_hints(None, |hints| {
            hints.or_u16(slot_at(0), 1);
            true
        }));
        guard.lsn()
    };
    let (before, records) = (images(world.wal.stats()), world.wal.stats().records);
    let lsn = hint(0);
    assert_eq!(images(world.wal.stats()), before + 1);
    assert!(lsn > world.wal.redo_ptr() && lsn <= world.wal.inserted());
    hint(0);
    assert_eq!(world.wal.stats().records, records + 1, "dirty already");
    // Written and changed again within the checkpoint cycle: its LSN is past the redo pointer, no
    // image.
    world.pool.flush_fork(&fork).unwrap();
    hint(0);
    assert_eq!(world.wal.stats().records, records + 1);
    world.checkpoint();
    hint(0);
    assert_eq!(world.wal.stats().records, records + 2);
    // A hint that changes nothing does nothing.
    assert!(!read(&world, &fork, 1).share().try_set_hints(None, |_| false));
    assert_eq!(world.wal.stats().records, records + 2);
    assert_eq!(world.get(&fork, 0, 0) & 1, 1);
}

#[test]
fn without_checksums_hints_log_nothing() {
    let world = World::with(16, false);
    let fork = world.relation(1, 1);
    world.checkpoint();
    let records = world.wal.stats().records;
    read(&world, &fork, 0).share_exclusive().set_hints(None, |hints| {
        hints.or_u16(slot_at(0), 1);
        true
    });
    assert_eq!(world.wal.stats().records, records);
    assert_eq!(world.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap().written, 1);
}

#[test]
fn hints_do_not_wait_for_latches() {
    let world = World::new(16);
    let fork = world.relation(1, 1);
    let _busy = read(&world, &fork, 0).share_exclusive();
    let mut reader = read(&world, &fork, 0).try_share().ok().unwrap();
    assert!(!reader.try_set_hints(None, |_| unreachable!("not to be had")));
}

#[test]
fn an_edit_sets_the_lsn_of_all_its_pages_and_changes_several() {
    let world = World::new(16);
    let fork = world.relation(1, 3);
    let mut scratch = scratch();
    let (mut a, mut b) = (read(&world, &fork, 0).exclusive(), read(&world, &fork, 1).exclusive());
    let mut edit = PageEdit::begin(&world.wal, &mut scratch);
    edit.register(&mut a, 0, RegFlags::NONE);
    edit.register(&mut b, 1, RegFlags::NONE);
    let (from, to) = (a.page_mut(&edit), b.page_mut(&edit));
    to.set_u64_at(slot_at(0), from.u64_at(slot_at(0)) + 1);
    from.set_u64_at(slot_at(0), 9);
    edit.block_data(0, b"x").main(b"y");
    let lsn = edit.log(KIND, 0x30, Xid(3)).unwrap();
    assert_eq!((a.lsn(), b.lsn()), (lsn, lsn));
    assert!(world.crashes.lock().is_empty());
}

#[test]
fn an_abandoned_edit_takes_the_server_down() {
    let world = World::new(16);
    let fork = world.relation(1, 1);
    let mut scratch = scratch();
    // No page registered: the drop has no effect.
    drop(PageEdit::begin(&world.wal, &mut scratch));
    assert!(world.crashes.lock().is_empty());
    let mut guard = read(&world, &fork, 0).exclusive();
    let mut edit = PageEdit::begin(&world.wal, &mut scratch);
    edit.change(&mut guard, 0, RegFlags::NONE);
    drop(edit);
    assert_eq!(*world.crashes.lock(), ["error inside a critical section"]);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut edit = PageEdit::begin(&world.wal, &mut scratch);
        edit.change(&mut guard, 0, RegFlags::NONE);
        panic!("planted");
    }));
    assert!(result.is_err());
    assert_eq!(world.crashes.lock()[1..], ["panic inside a critical section"]);
}

#[test]
#[should_panic(expected = "not registered with the edit")]
fn a_page_outside_the_edit_cannot_be_changed() {
    let world = World::new(16);
    let fork = world.relation(1, 1);
    let mut scratch = scratch();
    let mut guard = read(&world, &fork, 0).exclusive();
    let edit = PageEdit::begin(&world.wal, &mut scratch);
    guard.page_mut(&edit).set_u64_at(slot_at(0), 1);
}
