//! Tables and indexes in sessions, on an in-memory disk.

use super::fixture::*;
use crate::index::{Inserted, UniqueCheck};
use crate::table::{ChangeOptions, RowOutcome, RowWait};
use crate::*;
use ids::{Fork, RelFile};
use std::time::Duration;
use types::Datum;

#[test]
fn rows_are_found_by_table_and_index_scans() {
    let (_, env) = disk(1);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    for i in 0..2000 {
        assert_eq!(t.insert(&mut be, i, &format!("row {i}")), None);
    }
    assert_eq!(t.scan(&mut be), vec![], "a command does not see its own rows");
    be.command_counter_increment().unwrap();
    let expected: Vec<_> = (0..2000).map(|i| (i, format!("row {i}"))).collect();
    assert_eq!(t.scan(&mut be), expected);
    assert_eq!(t.index_scan(&mut be), expected);
    be.commit(CommitExtras::default()).unwrap();
    be.begin(Isolation::ReadCommitted);
    assert_eq!(t.get(&mut be, 77), Some("row 77".to_owned()));
    assert_eq!(t.get(&mut be, 2000), None);
    t.update(&mut be, 77, "changed").unwrap();
    be.command_counter_increment().unwrap();
    assert_eq!(t.get(&mut be, 77), Some("changed".to_owned()));
    assert!(t.delete(&mut be, 78));
    be.abort().unwrap();
    be.begin(Isolation::ReadCommitted);
    assert_eq!(t.index_scan(&mut be), expected);
    be.commit(CommitExtras::default()).unwrap();
}

/// The time for which the session slept during its commit.
fn commit_took(be: &mut Backend, span: Duration, siblings: u32, synchronous: bool) -> Duration {
    let settings = BackendSettings {
        commit_delay: CommitDelay { span, siblings },
        synchronous_commit: synchronous,
        ..be.settings().clone()
    };
    be.configure(settings);
    let clock = be.storage().env.clock.clone();
    be.begin(Isolation::ReadCommitted);
    be.txn.top_xid().unwrap();
    // Only a transaction that has logged a record commits synchronously.
    storage::log_create(be, RelFile::new(DB, DB, DB), Fork::Main).unwrap();
    let before = clock.monotonic();
    be.commit(CommitExtras::default()).unwrap();
    clock.monotonic() - before
}

#[test]
fn a_commit_waits_for_siblings_by_its_settings() {
    const SPAN: Duration = Duration::from_micros(700);
    let (_, env) = disk(9);
    let engine = create(&env);
    let (mut be, mut other, mut reader) = (session(&engine), session(&engine), session(&engine));
    other.begin(Isolation::ReadCommitted);
    other.txn.top_xid().unwrap();
    // A transaction without an id does not count.
    reader.begin(Isolation::ReadCommitted);
    let none = Duration::ZERO;
    assert_eq!(commit_took(&mut be, SPAN, 1, true), SPAN);
    assert_eq!(commit_took(&mut be, SPAN, 2, true), none);
    assert_eq!(commit_took(&mut be, none, 1, true), none);
    assert_eq!(commit_took(&mut be, SPAN, 1, false), none);
    other.commit(CommitExtras::default()).unwrap();
    assert_eq!(commit_took(&mut be, SPAN, 1, true), none);
    assert_eq!(commit_took(&mut be, SPAN, 0, true), SPAN);
    engine.wal().configure(|wal| wal.fsync = false);
    assert_eq!(commit_took(&mut be, SPAN, 0, true), none);
    reader.abort().unwrap();
}

#[test]
fn large_values_are_stored_in_the_toast_table() {
    let (_, env) = disk(2);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    // Compressible, incompressible and very large values.
    let noise = |n: usize| -> String {
        let random = vfs::SeededRandom::new(n as u64);
        (0..n).map(|_| (b'!' + random.below(90) as u8) as char).collect()
    };
    let values = ["x".repeat(100_000), noise(3000), noise(1_000_000), noise(1996 * 3), "s".into()];
    for (i, v) in values.iter().enumerate() {
        t.insert(&mut be, i as i32, v);
    }
    be.command_counter_increment().unwrap();
    let expected: Vec<_> = values.iter().cloned().enumerate().map(|(i, v)| (i as i32, v)).collect();
    assert_eq!(t.scan(&mut be), expected);
    assert_eq!(t.index_scan(&mut be), expected);
    assert!(t.toast_rows(&mut be) > 500);
    for i in 0..values.len() {
        assert!(t.delete(&mut be, i as i32));
    }
    be.command_counter_increment().unwrap();
    assert_eq!(t.toast_rows(&mut be), 0, "chunks are deleted with their rows");
    be.commit(CommitExtras::default()).unwrap();
}

#[test]
fn keeping_a_toasted_value_copies_only_its_pointer() {
    let (_, env) = disk(3);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    let random = vfs::SeededRandom::new(5);
    let large: String = (0..50_000).map(|_| (b'!' + random.below(90) as u8) as char).collect();
    t.insert(&mut be, 1, &large);
    be.command_counter_increment().unwrap();
    let chunks = t.toast_rows(&mut be);
    let tid = t.tid_of(&mut be, 1).unwrap();
    let values = [Datum::int4(2), Datum::Null];
    let refs: Vec<_> = values.iter().map(Datum::as_ref).collect();
    let options = ChangeOptions { keep: &[2], ..ChangeOptions::default() };
    let done = table::update(&mut be, &t.table, tid, &refs, options).unwrap();
    assert_eq!(done.outcome, RowOutcome::Ok);
    assert!(done.needs_index_entries, "an indexed column changed");
    t.index_entry(&mut be, 2, done.tid, UniqueCheck::Yes);
    be.command_counter_increment().unwrap();
    assert_eq!(t.toast_rows(&mut be), chunks);
    assert_eq!(t.get(&mut be, 2), Some(large));
    assert_eq!(t.get(&mut be, 1), None);
    be.commit(CommitExtras::default()).unwrap();
}

#[test]
fn uniqueness_waits_for_the_other_transaction() {
    for commits in [true, false] {
        let (_, env) = disk(4);
        let engine = create(&env);
        let mut a = session(&engine);
        let t = Items::new(1);
        a.begin(Isolation::ReadCommitted);
        t.create(&mut a);
        a.commit(CommitExtras::default()).unwrap();
        a.begin(Isolation::ReadCommitted);
        assert_eq!(t.insert(&mut a, 5, "first"), None);
        let mut b = session(&engine);
        let pid_waits = engine.locks().clone();
        let second = std::thread::spawn(move || {
            let t = Items::new(1);
            b.begin(Isolation::ReadCommitted);
            let conflict = t.insert(&mut b, 5, "second");
            if conflict.is_some() {
                b.abort().unwrap()
            } else {
                t.commit(&mut b)
            }
            conflict
        });
        while !pid_waits.rows().iter().any(|r| !r.granted) {
            sync::yield_now();
        }
        if commits {
            t.commit(&mut a)
        } else {
            a.abort().unwrap()
        }
        assert_eq!(second.join().unwrap().is_some(), commits);
        a.begin(Isolation::ReadCommitted);
        let winner = if commits { "first" } else { "second" };
        assert_eq!(t.scan(&mut a), vec![(5, winner.to_owned())]);
        a.commit(CommitExtras::default()).unwrap();
    }
}

#[test]
fn the_message_of_a_unique_violation() {
    let t = Items::new(1);
    let error = index::unique_violation(&t.index, &t.table, Some(("id", "5")));
    assert_eq!(error.code().as_str(), "23505");
    let message = "duplicate key value violates unique constraint \"items1_pkey\"";
    assert_eq!(error.message(), message);
    assert_eq!(error.fields().detail.as_deref(), Some("Key (id)=(5) already exists."));
}

#[test]
fn concurrent_updates_of_one_row() {
    let (_, env) = disk(5);
    let engine = create(&env);
    let mut a = session(&engine);
    let t = Items::new(1);
    a.begin(Isolation::ReadCommitted);
    t.create(&mut a);
    t.insert(&mut a, 1, "0");
    a.commit(CommitExtras::default()).unwrap();
    // Each thread adds one as EvalPlanQual does: it locks the newest version, reads it and updates
    // it.
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let mut be = session(&engine);
            std::thread::spawn(move || {
                let t = Items::new(1);
                for _ in 0..50 {
                    be.begin(Isolation::ReadCommitted);
                    t.add_one(&mut be, 1);
                    t.commit(&mut be);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    a.begin(Isolation::ReadCommitted);
    assert_eq!(t.scan(&mut a), vec![(1, "200".to_owned())]);
    let tid = t.tid_of(&mut a, 1).unwrap();
    // SKIP LOCKED and NOWAIT.
    let mut b = session(&engine);
    b.begin(Isolation::ReadCommitted);
    let mut batch = table::new_batch(&t.table, &[]);
    let mut lock = |be: &mut Backend, wait| {
        let how = table::LockRow { wait, ..table::LockRow::version(table::RowLock::Update) };
        table::lock_row(be, &t.table, tid, how, &[], &mut batch)
    };
    assert_eq!(lock(&mut a, RowWait::Block).unwrap().0, RowOutcome::Ok);
    assert_eq!(lock(&mut b, RowWait::Skip).unwrap().0, RowOutcome::WouldBlock);
    let error = lock(&mut b, RowWait::Error).unwrap_err();
    assert_eq!(error.code().as_str(), "55P03");
    assert_eq!(error.message(), "could not obtain lock on row in relation \"items1\"");
    b.abort().unwrap();
    a.abort().unwrap();
}

#[test]
fn files_are_kept_or_removed_by_the_outcome_of_their_transaction() {
    let (_, env) = disk(6);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = Items::new(1);
    let exists = || vfs::exists(&*env.disk, &t.table.file.path(ids::Fork::Main, None)).unwrap();
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    assert!(exists());
    be.abort().unwrap();
    engine.checkpoint(CheckpointFlags::IMMEDIATE).unwrap();
    assert!(!exists());
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    be.begin_subxact().unwrap();
    t.create(&mut be);
    be.commit_subxact().unwrap();
    be.commit(CommitExtras::default()).unwrap();
    assert!(exists());
    be.begin(Isolation::ReadCommitted);
    be.begin_subxact().unwrap();
    storage::drop_relation_files(&mut be, t.table.file, ids::Persistence::Permanent);
    be.abort_subxact().unwrap();
    be.commit(CommitExtras::default()).unwrap();
    assert!(exists(), "the drop was undone");
    be.begin(Isolation::ReadCommitted);
    storage::drop_relation_files(&mut be, t.table.file, ids::Persistence::Permanent);
    be.commit(CommitExtras::default()).unwrap();
    engine.checkpoint(CheckpointFlags::IMMEDIATE).unwrap();
    assert!(!exists());
}

#[test]
fn an_index_built_later_finds_all_rows() {
    let (_, env) = disk(7);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    let order = |i: i32| (i * 7919) % 3001;
    for i in 0..3000 {
        t.insert_row_only(&mut be, order(i), "v");
    }
    be.command_counter_increment().unwrap();
    let result = t.build_second(&mut be, 900).unwrap();
    assert_eq!((result.heap_tuples, result.index_tuples), (3000.0, 3000.0));
    let mut expected: Vec<_> = (0..3000).map(|i| (order(i), "v".to_owned())).collect();
    expected.sort();
    assert_eq!(t.scan_by(&mut be, &t.second(900)), expected);
    t.insert_row_only(&mut be, 5, "twice");
    be.command_counter_increment().unwrap();
    let error = t.build_second(&mut be, 901).unwrap_err();
    assert_eq!(error.code().as_str(), "23505");
    assert_eq!(error.message(), "could not create unique index \"items1_901\"");
    assert_eq!(error.fields().detail.as_deref(), Some("Key (id)=(5) is duplicated."));
    be.abort().unwrap();
}

#[test]
fn a_conflict_is_found_without_inserting() {
    let (_, env) = disk(8);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    t.insert(&mut be, 3, "three");
    let key = [Datum::int4(3)];
    let refs: Vec<_> = key.iter().map(Datum::as_ref).collect();
    let found = index::find_conflict(&mut be, &t.index, &t.table, &refs).unwrap().unwrap();
    assert!(!found.waits_for.is_valid());
    let token = table::begin_speculative(&mut be).unwrap();
    let options = table::InsertOptions { speculative_token: token, ..Default::default() };
    let row = [Datum::int4(4), Datum::text("four")];
    let row: Vec<_> = row.iter().map(Datum::as_ref).collect();
    let tid = table::insert(&mut be, &t.table, &row, options).unwrap();
    let got =
        index::insert(&mut be, &t.index, &t.table, &row[..1], tid, UniqueCheck::Partial, false);
    assert_eq!(got.unwrap(), Inserted::Done { unique: true });
    table::finish_speculative(&mut be, &t.table, tid, token, true).unwrap();
    be.command_counter_increment().unwrap();
    assert_eq!(t.scan(&mut be).len(), 2);
    be.commit(CommitExtras::default()).unwrap();
}

#[test]
fn vacuum_removes_dead_rows_and_truncates_the_table() {
    let (_, env) = disk(9);
    let engine = create(&env);
    let mut be = session(&engine);
    let t = Items::new(1);
    be.begin(Isolation::ReadCommitted);
    t.create(&mut be);
    for i in 0..3000 {
        t.insert(&mut be, i, &"v".repeat(100));
    }
    be.commit(CommitExtras::default()).unwrap();
    be.begin(Isolation::ReadCommitted);
    for i in (0..3000).filter(|i| *i >= 500 || i % 2 == 0) {
        assert!(t.delete(&mut be, i));
    }
    be.commit(CommitExtras::default()).unwrap();
    let before = table::nblocks(&be, &t.table).unwrap();
    be.begin(Isolation::ReadCommitted);
    let options = vacuum::VacuumOptions {
        rel_frozen_xid: ids::Xid(3),
        rel_min_mxid: ids::MultiXid(1),
        ..Default::default()
    };
    let result =
        vacuum::vacuum(&mut be, &t.table, std::slice::from_ref(&t.index), &options).unwrap();
    be.commit(CommitExtras::default()).unwrap();
    assert_eq!(result.live_tuples, 250.0);
    assert_eq!(result.index_scans, 1);
    assert_eq!(result.indexes[0].tuples, 250.0);
    assert!(table::nblocks(&be, &t.table).unwrap() < before / 4);
    be.begin(Isolation::ReadCommitted);
    let expected: Vec<_> = (0..250).map(|i| (2 * i + 1, "v".repeat(100))).collect();
    assert_eq!(t.scan(&mut be), expected);
    assert_eq!(t.index_scan(&mut be), expected);
    let sample = sample::sample_rows(&mut be, &t.table, &[1], 100, 1024).unwrap();
    assert_eq!(sample.batches.iter().map(|b| b.rows.len).sum::<usize>(), 100);
    be.commit(CommitExtras::default()).unwrap();
}
