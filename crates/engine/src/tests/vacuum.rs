//! VACUUM's use of buffers and locks.

use super::fixture::*;
use crate::*;
use lmgr::LockMode;
use std::time::Duration;
use sync::Arc;

fn options() -> vacuum::VacuumOptions {
    vacuum::VacuumOptions {
        rel_frozen_xid: ids::Xid(3),
        rel_min_mxid: ids::MultiXid(1),
        ..Default::default()
    }
}

fn run(be: &mut Backend, t: &Items) -> vacuum::VacuumResult {
    be.begin(Isolation::ReadCommitted);
    let indexes = std::slice::from_ref(&t.index);
    let result = vacuum::vacuum(be, &t.table, indexes, &options()).unwrap();
    t.commit(be);
    result
}

/// A table of which the rows with these numbers are deleted.
fn with_deleted(be: &mut Backend, n: u32, rows: i32, deleted: impl Fn(i32) -> bool) -> Items {
    let t = Items::new(n);
    be.begin(Isolation::ReadCommitted);
    t.create(be);
    for i in 0..rows {
        t.insert(be, i, &"v".repeat(40));
    }
    t.commit(be);
    be.begin(Isolation::ReadCommitted);
    for i in (0..rows).filter(|i| deleted(*i)) {
        assert!(t.delete(be, i));
    }
    t.commit(be);
    t
}

/// Number of pages of a relation's files in the pool.
fn resident(engine: &Engine, file: ids::RelFile) -> usize {
    let pool = &engine.storage().pool;
    let all = (0..pool.frames() as u32).filter_map(|frame| pool.buffer(frame));
    all.filter(|page| page.rel == file).count()
}

#[test]
fn all_passes_evict_few_pages_of_other_tables() {
    let (_, env) = disk(40);
    let engine = create(&env);
    let mut be = session(&engine);
    let large = with_deleted(&mut be, 1, 9000, |i| i % 10 == 3);
    let (table, index) = (large.table.file, large.index.file());
    let hot = with_deleted(&mut be, 2, 2000, |_| false);
    be.begin(Isolation::ReadCommitted);
    for _ in 0..6 {
        hot.scan(&mut be);
    }
    hot.commit(&mut be);
    let before = resident(&engine, hot.table.file);
    assert!(before > 15, "{before}");
    // A ring takes at most an eighth of the pool; the maps are read without it.
    let result = run(&mut be, &large);
    assert!(result.index_scans == 1 && result.pages > 64, "{result:?}");
    let lost = before - resident(&engine, hot.table.file);
    let own = (resident(&engine, table), resident(&engine, index));
    assert!(lost <= 12, "{lost} of {before} pages were evicted, {own:?} are resident");
}

#[test]
fn truncation_waits_a_moment_for_other_sessions() {
    let (_, env) = disk(41);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = with_deleted(&mut be, 1, 3000, |i| i >= 100);
    let (tag, mode) = (t.table.lock_tag(), LockMode::AccessShare);
    let mut reader = session(&engine);
    reader.begin(Isolation::ReadCommitted);
    reader.lock(tag, mode).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(120));
            reader.commit(CommitExtras::default()).unwrap();
        });
        let result = run(&mut be, &t);
        assert!(result.removed_pages > 10, "{result:?}");
    });
    be.begin(Isolation::ReadCommitted);
    assert_eq!(t.scan(&mut be).len(), 100);
    t.commit(&mut be);
}

#[test]
fn truncation_yields_to_a_session_that_waits_and_goes_on_later() {
    let (_, env) = disk(42);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = with_deleted(&mut be, 1, 12_000, |i| i >= 100);
    let stop = Arc::new(sync::atomic::AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (engine, stop) = (&engine, &stop);
        let (tag, mode) = (t.table.lock_tag(), LockMode::AccessShare);
        scope.spawn(move || {
            // Readers that come and go; each waits at most for one look of the truncation.
            let mut reader = session(engine);
            while !stop.load(sync::atomic::Ordering::Relaxed) {
                reader.begin(Isolation::ReadCommitted);
                reader.lock(tag, mode).unwrap();
                reader.commit(CommitExtras::default()).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let result = run(&mut be, &t);
        stop.store(true, sync::atomic::Ordering::Relaxed);
        assert_eq!(result.pages, table::nblocks(&be, &t.table).unwrap());
        assert!(result.removed_pages > 50, "{result:?}");
    });
    be.begin(Isolation::ReadCommitted);
    assert_eq!(t.scan(&mut be).len(), 100);
    t.commit(&mut be);
}

#[test]
fn little_memory_leads_to_several_passes_with_the_same_result() {
    let (_, env) = disk(43);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = with_deleted(&mut be, 1, 6000, |i| i % 3 != 0);
    be.begin(Isolation::ReadCommitted);
    let options = vacuum::VacuumOptions { maintenance_work_mem: 200, ..options() };
    let indexes = std::slice::from_ref(&t.index);
    let result = vacuum::vacuum(&mut be, &t.table, indexes, &options).unwrap();
    t.commit(&mut be);
    assert!(result.index_scans > 3 && result.indexes[0].tuples == 2000.0, "{result:?}");
    be.begin(Isolation::ReadCommitted);
    let expected: Vec<_> = (0..2000).map(|i| (3 * i, "v".repeat(40))).collect();
    assert_eq!(t.scan(&mut be), expected);
    assert_eq!(t.index_scan(&mut be), expected);
    t.commit(&mut be);
}
