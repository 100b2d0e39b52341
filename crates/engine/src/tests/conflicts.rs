//! The search for conflicting rows (ON CONFLICT, deferred checks), concurrent with VACUUM and other
//! sessions.

use super::fixture::*;
use crate::*;
use ids::{BlockNo, Fork, Persistence, Tid};
use sync::Arc;
use sync::atomic::{AtomicBool, Ordering};
use types::Datum;

fn vacuum(be: &mut Backend, t: &Items) {
    be.begin(Isolation::ReadCommitted);
    let options = vacuum::VacuumOptions {
        rel_frozen_xid: ids::Xid(3),
        rel_min_mxid: ids::MultiXid(1),
        ..Default::default()
    };
    vacuum::vacuum(be, &t.table, std::slice::from_ref(&t.index), &options).unwrap();
    t.commit(be);
}

fn conflict(be: &mut Backend, t: &Items, id: i32) -> Option<index::Conflict> {
    let key = [Datum::int4(id)];
    let refs: Vec<_> = key.iter().map(Datum::as_ref).collect();
    index::find_conflict(be, &t.index, &t.table, &refs).unwrap()
}

/// True if VACUUM can get the cleanup latch of the only leaf of the index, which is its block 1.
fn leaf_is_unpinned(engine: &Engine, t: &Items) -> bool {
    let pool = &engine.storage().pool;
    let fork = pool.open(t.index.file(), Fork::Main, Persistence::Permanent);
    let mut strategy = bufmgr::Strategy::normal();
    pool.read(&fork, BlockNo(1), &mut strategy).unwrap().try_cleanup().is_ok()
}

#[test]
fn an_entry_does_not_lead_to_a_row_that_reuses_its_tid() {
    let (_, env) = disk(30);
    let engine = create(&env);
    let (mut be, mut other) = (session(&engine), session(&engine));
    let t = Arc::new(Items::new(1));
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    for id in 1..=3 {
        assert_eq!(t.insert(&mut be, id, "v"), None);
    }
    let tid = Tid::new(BlockNo(0), 3);
    t.commit(&mut be);
    be.begin(Isolation::ReadCommitted);
    assert_eq!(t.tid_of(&mut be, 3), Some(tid));
    assert!(t.delete(&mut be, 3));
    t.commit(&mut be);

    // VACUUM runs after the entries are read and before their rows are visited, unless a pin
    // prevents it.
    let passed = Arc::new(AtomicBool::new(false));
    be.entries_read = Some(Box::new({
        let (engine, t, passed) = (engine.clone(), t.clone(), passed.clone());
        let mut other = session(&engine);
        move || {
            passed.store(true, Ordering::Relaxed);
            if leaf_is_unpinned(&engine, &t) {
                vacuum(&mut other, &t);
                other.begin(Isolation::ReadCommitted);
                assert_eq!(t.insert(&mut other, 4, "another row"), None);
                other.command_counter_increment().unwrap();
                assert_eq!(t.tid_of(&mut other, 4), Some(tid), "the TID is not reused");
                t.commit(&mut other);
            }
        }
    }));
    be.begin(Isolation::ReadCommitted);
    let _snapshot = be.snapshot();
    assert_eq!(conflict(&mut be, &t, 3), None, "key 3 has no row");
    assert!(passed.load(Ordering::Relaxed), "the failpoint was not reached");
    assert!(leaf_is_unpinned(&engine, &t), "the pin outlives the search");
    t.commit(&mut be);
    // Without a pin VACUUM makes the TID reusable.
    vacuum(&mut other, &t);
    other.begin(Isolation::ReadCommitted);
    t.insert(&mut other, 5, "v");
    other.command_counter_increment().unwrap();
    assert_eq!(t.tid_of(&mut other, 5), Some(tid));
    t.commit(&mut other);
}

#[test]
fn a_row_whose_inserter_aborts_during_the_search_is_no_conflict() {
    let (_, env) = disk(31);
    let engine = create(&env);
    let (mut be, mut other) = (session(&engine), session(&engine));
    let t = Arc::new(Items::new(1));
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    t.commit(&mut be);
    other.begin(Isolation::ReadCommitted);
    assert_eq!(t.insert(&mut other, 7, "v"), None);
    be.begin(Isolation::ReadCommitted);
    let found = conflict(&mut be, &t, 7).unwrap();
    assert_eq!((found.waits_for, found.own), (other.current_xid().unwrap(), false));
    assert!(conflict(&mut other, &t, 7).unwrap().own);
    be.entries_read = Some(Box::new(move || other.abort().unwrap()));
    assert_eq!(conflict(&mut be, &t, 7), None);
    t.commit(&mut be);
}
