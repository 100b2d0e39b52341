//! Guards, cleanup latches, hints, edits.

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use wal::WalStats;

fn read<'p>(fixture: &'p Fixture, fork: &Arc<ForkBuffers>, block: u32) -> Pin<'p> {
    fixture.pool.read(fork, BlockNo(block), &mut Strategy::normal()).unwrap()
}

#[test]
fn guards_change_mode_and_release_latch_and_pin() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 1);
    let share = read(&fixture, &fork, 0).share();
    assert!(read(&fixture, &fork, 0).try_exclusive().is_err());
    let upgraded = share.try_upgrade().ok().unwrap();
    let second = read(&fixture, &fork, 0).try_share().ok().unwrap();
    let second = second.try_upgrade().err().expect("only one share-exclusive");
    drop((upgraded.downgrade(), second));
    let exclusive = read(&fixture, &fork, 0).try_exclusive().ok().unwrap();
    assert!(read(&fixture, &fork, 0).try_share().is_err());
    let pin = exclusive.into_pin();
    let another = pin.another();
    assert!(another.is_same(&pin));
    let pin = pin.try_cleanup().err().expect("there is another pin");
    drop(another);
    let cleanup = pin.try_cleanup().ok().unwrap();
    let share = cleanup.into_exclusive().downgrade();
    drop(read(&fixture, &fork, 0).try_share().ok().unwrap());
    drop(share);
    drop(read(&fixture, &fork, 0).exclusive());
}

#[test]
fn a_cleanup_latch_waits_for_the_last_other_pin() {
    let fixture = Arc::new(Fixture::new(16));
    let fork = fixture.relation(1, 1);
    let blocker = read(&fixture, &fork, 0);
    let (other, its_fork) = (fixture.clone(), fork.clone());
    let thread = std::thread::spawn(move || {
        let guard = read(&other, &its_fork, 0).cleanup().unwrap();
        assert!(guard.into_exclusive().try_into_cleanup().is_ok());
    });
    // While it waits, it holds no latch, and no other thread may wait for the same.
    let waiting = || {
        let state = &fixture.pool.frames.desc(blocker.frame()).state;
        state.load(sync::atomic::Ordering::Relaxed) & crate::frame::PIN_WAITER != 0
    };
    while !waiting() {
        std::thread::yield_now();
    }
    let refused = read(&fixture, &fork, 0).cleanup().err().expect("another thread waits already");
    assert_eq!(refused.message(), "multiple backends attempting to wait for pincount 1");
    drop(read(&fixture, &fork, 0).share());
    drop(blocker);
    thread.join().unwrap();
}

fn images(stats: WalStats) -> u64 {
    stats.fpi
}

#[test]
fn the_first_hint_since_the_redo_pointer_logs_an_image() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 2);
    fixture.checkpoint();
    let hint = |block: u32| {
        let mut guard = read(&fixture, &fork, block).share();
        assert!(guard.try_set_hints(None, |hints| {
            hints.or_u16(slot_at(0), 1);
            true
        }));
        guard.lsn()
    };
    let (before, records) = (images(fixture.wal.stats()), fixture.wal.stats().records);
    let lsn = hint(0);
    assert_eq!(images(fixture.wal.stats()), before + 1);
    assert!(lsn > fixture.wal.redo_ptr() && lsn <= fixture.wal.inserted());
    hint(0);
    assert_eq!(fixture.wal.stats().records, records + 1, "dirty already");
    // Written and changed again within the checkpoint cycle: its LSN is past the redo pointer, no
    // image.
    fixture.pool.flush_fork(&fork).unwrap();
    hint(0);
    assert_eq!(fixture.wal.stats().records, records + 1);
    fixture.checkpoint();
    hint(0);
    assert_eq!(fixture.wal.stats().records, records + 2);
    // A hint that changes nothing does nothing.
    assert!(!read(&fixture, &fork, 1).share().try_set_hints(None, |_| false));
    assert_eq!(fixture.wal.stats().records, records + 2);
    assert_eq!(fixture.get(&fork, 0, 0) & 1, 1);
}

#[test]
fn without_checksums_hints_log_nothing() {
    let fixture = Fixture::with(16, false);
    let fork = fixture.relation(1, 1);
    fixture.checkpoint();
    let records = fixture.wal.stats().records;
    read(&fixture, &fork, 0).share_exclusive().set_hints(None, |hints| {
        hints.or_u16(slot_at(0), 1);
        true
    });
    assert_eq!(fixture.wal.stats().records, records);
    assert_eq!(fixture.pool.checkpoint_write(false, 0, &mut |_| {}).unwrap().written, 1);
}

#[test]
fn hints_do_not_wait_for_latches() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 1);
    let _busy = read(&fixture, &fork, 0).share_exclusive();
    let mut reader = read(&fixture, &fork, 0).try_share().ok().unwrap();
    assert!(!reader.try_set_hints(None, |_| unreachable!("not to be had")));
}

#[test]
fn an_edit_sets_the_lsn_of_all_its_pages_and_changes_several() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 3);
    let mut scratch = scratch();
    let (mut a, mut b) =
        (read(&fixture, &fork, 0).exclusive(), read(&fixture, &fork, 1).exclusive());
    let mut edit = PageEdit::begin(&fixture.wal, &mut scratch);
    edit.register(&mut a, 0, RegFlags::NONE);
    edit.register(&mut b, 1, RegFlags::NONE);
    let (from, to) = (a.page_mut(&edit), b.page_mut(&edit));
    to.set_u64_at(slot_at(0), from.u64_at(slot_at(0)) + 1);
    from.set_u64_at(slot_at(0), 9);
    edit.block_data(0, b"x").main(b"y");
    let lsn = edit.log(KIND, 0x30, Xid(3)).unwrap();
    assert_eq!((a.lsn(), b.lsn()), (lsn, lsn));
    assert!(fixture.crashes.lock().is_empty());
}

#[test]
fn an_abandoned_edit_takes_the_server_down() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 1);
    let mut scratch = scratch();
    // No page registered: the drop has no effect.
    drop(PageEdit::begin(&fixture.wal, &mut scratch));
    assert!(fixture.crashes.lock().is_empty());
    let mut guard = read(&fixture, &fork, 0).exclusive();
    let mut edit = PageEdit::begin(&fixture.wal, &mut scratch);
    edit.change(&mut guard, 0, RegFlags::NONE);
    drop(edit);
    assert_eq!(*fixture.crashes.lock(), ["error inside a critical section"]);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut edit = PageEdit::begin(&fixture.wal, &mut scratch);
        edit.change(&mut guard, 0, RegFlags::NONE);
        panic!("planted");
    }));
    assert!(result.is_err());
    assert_eq!(fixture.crashes.lock()[1..], ["panic inside a critical section"]);
}

#[test]
#[should_panic(expected = "not registered with the edit")]
fn a_page_outside_the_edit_cannot_be_changed() {
    let fixture = Fixture::new(16);
    let fork = fixture.relation(1, 1);
    let mut scratch = scratch();
    let mut guard = read(&fixture, &fork, 0).exclusive();
    let edit = PageEdit::begin(&fixture.wal, &mut scratch);
    guard.page_mut(&edit).set_u64_at(slot_at(0), 1);
}
