//! Sessions that insert, scan, flush and vacuum at the same time.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// A row's keys are derived from its TID.
fn keys_of(tid: Tid, keys: u32) -> Vec<i32> {
    let n = tid.block.0.wrapping_mul(0x9E37_79B9) ^ u32::from(tid.offset);
    vec![(n % keys) as i32, (n / 7 % keys) as i32, 1_000_000]
}

fn is_dead(tid: Tid) -> bool {
    tid.offset.is_multiple_of(4)
}

/// Inserts rows with even offsets, different ones in each thread. Returns them.
fn insert(w: &Fixture, thread: u32, keys: u32, rows: u32) -> Vec<Tid> {
    let mut s = Session::new();
    let tid = |n: u32| Tid::new(BlockNo(n / 20 * 16 + thread), (n % 20 * 2 + 2) as u16);
    let all: Vec<Tid> = (0..rows).map(tid).collect();
    all.iter().for_each(|tid| w.insert(&mut s, &keys_of(*tid, keys), *tid));
    all
}

/// Scans for random keys until the end: all rows that stay are found. Returns the number of scans.
fn scan(w: &Fixture, stable: &[Tid], keys: u32, seed: u64, done: &AtomicBool) -> u64 {
    let mut s = Session::new();
    let mut rng = Rng(seed);
    let mut scans = 0;
    while !done.load(Ordering::SeqCst) {
        let key = rng.below(u64::from(keys)) as i32;
        let found = w.rows_of(&mut s, key);
        let found: BTreeSet<Tid> = found.into_iter().filter(|t| t.offset % 2 == 1).collect();
        let expected = stable.iter().filter(|tid| keys_of(**tid, keys).contains(&key));
        assert_eq!(found, expected.copied().collect(), "key {key}");
        scans += 1;
    }
    scans
}

fn stress(keys: u32, rows: u32, options: &[(&str, &str)]) {
    let w = Fixture::new(512, options);
    // Rows with odd offsets exist from the start and stay. Rows with even offsets are inserted
    // concurrently, and are dead if the offset is a multiple of four.
    let mut session = Session::new();
    let stable: Vec<Tid> =
        (0..rows).map(|n| Tid::new(BlockNo(n / 5 * 3), (n % 5 * 2 + 1) as u16)).collect();
    stable.iter().for_each(|tid| w.insert(&mut session, &keys_of(*tid, keys), *tid));
    let done = AtomicBool::new(false);
    let (w, stable, done) = (&w, &stable[..], &done);
    let inserted: Vec<Tid> = std::thread::scope(|scope| {
        let inserters: Vec<_> =
            (0..8).map(|n| scope.spawn(move || insert(w, n, keys, rows))).collect();
        let vacuum = scope.spawn(move || {
            let mut s = Session::new();
            while !done.load(Ordering::SeqCst) {
                w.vacuum(&mut s, &mut is_dead);
            }
        });
        let flush = scope.spawn(move || {
            let mut s = Session::new();
            while !done.load(Ordering::SeqCst) {
                Index::flush_pending(&*w.index, &mut s.cx(w)).unwrap();
            }
        });
        let scanners: Vec<_> =
            (0..6).map(|n| scope.spawn(move || scan(w, stable, keys, 17 + n, done))).collect();
        let inserted = inserters.into_iter().flat_map(|t| t.join().unwrap()).collect();
        done.store(true, Ordering::SeqCst);
        vacuum.join().unwrap();
        flush.join().unwrap();
        for s in scanners {
            assert!(s.join().unwrap() > 0);
        }
        inserted
    });
    let mut rows: BTreeSet<Tid> = stable.iter().copied().collect();
    rows.extend(inserted.into_iter().filter(|tid| !is_dead(*tid)));
    w.vacuum(&mut session, &mut is_dead);
    assert_eq!(w.verify().into_keys().collect::<BTreeSet<_>>(), rows);
    assert_eq!(w.rows_of(&mut session, 1_000_000), rows);
    w.check_redo();
}

#[test]
fn concurrent_changes_of_few_keys_keep_the_index_valid() {
    stress(5, 500, &[("fastupdate", "off")]);
}

#[test]
fn concurrent_changes_of_many_keys_keep_the_index_valid() {
    stress(3000, 500, &[("fastupdate", "off")]);
}

#[test]
fn concurrent_changes_of_the_pending_list_keep_the_index_valid() {
    stress(300, 500, &[]);
}
