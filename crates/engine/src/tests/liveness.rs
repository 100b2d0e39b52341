//! Removal of index entries of dead rows without VACUUM.

use super::fixture::*;
use crate::index::UniqueCheck;
use crate::table::ChangeOptions;
use crate::*;
use ids::Persistence;
use types::Datum;

#[test]
fn entries_of_dead_rows_are_skipped() {
    let (_, env) = disk(20);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    for i in 0..300 {
        t.insert(&mut be, i, "v");
    }
    t.commit(&mut be);
    be.begin(Isolation::ReadCommitted);
    (0..200).for_each(|i| assert!(t.delete(&mut be, i)));
    t.commit(&mut be);
    be.begin(Isolation::ReadCommitted);
    assert_eq!(t.lookups(&mut be), 300, "no entry is marked yet");
    assert_eq!(t.lookups(&mut be), 100, "the first scan marked entries of dead rows");
    t.commit(&mut be);
}

#[test]
fn marks_wait_for_the_oldest_snapshot() {
    let (_, env) = disk(21);
    let engine = create(&env);
    let (mut be, mut old) = (session(&engine), session(&engine));
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    (0..50).for_each(|i| assert_eq!(t.insert(&mut be, i, "v"), None));
    t.commit(&mut be);
    old.begin(Isolation::RepeatableRead);
    let seen = old.snapshot();
    be.begin(Isolation::ReadCommitted);
    (0..50).for_each(|i| assert!(t.delete(&mut be, i)));
    t.commit(&mut be);
    be.begin(Isolation::ReadCommitted);
    assert_eq!((t.lookups(&mut be), t.lookups(&mut be)), (50, 50));
    assert_eq!(t.index_scan(&mut old).len(), 50);
    t.commit(&mut be);
    drop(seen);
    t.commit(&mut old);
    // Removal bounds are recomputed after another transaction has completed.
    be.begin(Isolation::ReadCommitted);
    t.insert(&mut be, 99, "v");
    t.commit(&mut be);
    be.begin(Isolation::ReadCommitted);
    assert_eq!((t.lookups(&mut be), t.lookups(&mut be)), (51, 1));
    t.commit(&mut be);
}

/// Number of blocks of an index after many updates that do not change its columns.
fn churn(bottom_up: bool) -> u32 {
    let (_, env) = disk(22);
    let engine = create(&env);
    let mut be = session(&engine);
    be.configure(crate::BackendSettings { bottom_up_deletion: bottom_up, ..be.settings().clone() });
    let t = Items::never_hot(1);
    let second = t.second(900);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    storage::create_relation_files(&mut be, second.file(), Persistence::Permanent).unwrap();
    index::build_empty(&mut be, &second).unwrap();
    let mut tids = Vec::new();
    let enter = |be: &mut Backend, id: i32, tid, unchanged| {
        let key = [Datum::int4(id)];
        let key = [key[0].as_ref()];
        index::insert(be, &second, &t.table, &key, tid, UniqueCheck::No, unchanged).unwrap();
    };
    for id in 0..100 {
        let tid = t.insert_row_only(&mut be, id, "0");
        enter(&mut be, id, tid, false);
        tids.push(tid);
    }
    t.commit(&mut be);
    for round in 0..5000 {
        let id = (round * 37) % 100;
        be.begin(Isolation::ReadCommitted);
        let row = [Datum::int4(id), Datum::text(&format!("round {round}"))];
        let row: Vec<_> = row.iter().map(Datum::as_ref).collect();
        let at = &mut tids[id as usize];
        let done = table::update(&mut be, &t.table, *at, &row, ChangeOptions::default()).unwrap();
        assert!(done.needs_index_entries);
        *at = done.tid;
        enter(&mut be, id, done.tid, true);
        t.commit(&mut be);
    }
    be.begin(Isolation::ReadCommitted);
    let expected: Vec<_> = t.scan(&mut be);
    assert_eq!(expected.len(), 100);
    assert_eq!(t.scan_by(&mut be, &second), expected);
    let blocks = index::nblocks(&be, &second).unwrap();
    t.commit(&mut be);
    blocks
}

#[test]
fn versions_do_not_split_pages() {
    assert_eq!(churn(true), 2, "meta page and root");
    assert!(churn(false) > 2);
}
