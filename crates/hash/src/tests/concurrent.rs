//! Concurrent insertions, scans and vacuums.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

type Rows = BTreeMap<i32, BTreeSet<Tid>>;

/// A row's key is derived from its TID.
fn key_of(tid: Tid) -> i32 {
    (tid.block.0 / 64) as i32
}

/// A row of a random key.
fn random_row(rng: &mut Rng, keys: u64, offset: u64) -> Tid {
    let block = rng.below(keys) * 64 + rng.below(64);
    Tid::new(BlockNo(block as u32), offset as u16)
}

fn is_dead(tid: Tid) -> bool {
    tid.offset.is_multiple_of(4)
}

/// Inserts rows with even offsets, different ones in each thread. Returns them.
fn insert(w: &Fixture, thread: u64, keys: u64, rows: u64, seed: u64) -> BTreeSet<Tid> {
    let mut rng = Rng(seed * 31 + thread + 1);
    let mut s = Session::new();
    let mut heap = TestHeap::default();
    let mut mine = BTreeSet::new();
    for n in 0..rows {
        let tid = random_row(&mut rng, keys, (n % 500 * 3 + thread) * 2 + 2);
        if mine.insert(tid) {
            w.insert(&mut s, key_of(tid), tid, &mut heap);
        }
    }
    mine
}

/// Scans for random keys until the end: all rows that stay are found. Returns the number of scans.
fn scan(w: &Fixture, stable: &Rows, keys: u64, seed: u64, done: &AtomicBool) -> u64 {
    let mut s = Session::new();
    let mut rng = Rng(seed);
    let mut scans = 0;
    while !done.load(Ordering::SeqCst) {
        let key = rng.below(keys) as i32;
        let found = w.find(&mut s, key, &BTreeSet::new());
        let found: BTreeSet<Tid> = found.into_iter().filter(|t| t.offset % 2 == 1).collect();
        assert_eq!(found, stable.get(&key).cloned().unwrap_or_default(), "key {key}");
        scans += 1;
    }
    scans
}

fn stress(keys: u64, rows: u64, seed: u64) {
    let w = Fixture::new(256, 10, 0.0);
    // Rows with odd offsets exist from the start and stay. Rows with even offsets are inserted
    // concurrently, and are dead if the offset is a multiple of four.
    let mut session = Session::new();
    let mut stable = Rows::new();
    let mut rng = Rng(seed);
    for _ in 0..rows / 4 {
        let offset = rng.below(20) * 2 + 1;
        let tid = random_row(&mut rng, keys, offset);
        if stable.entry(key_of(tid)).or_default().insert(tid) {
            w.insert(&mut session, key_of(tid), tid, &mut TestHeap::default());
        }
    }
    let done = AtomicBool::new(false);
    let (w, stable, done) = (&w, &stable, &done);
    let inserted: Vec<BTreeSet<Tid>> = std::thread::scope(|scope| {
        let inserters: Vec<_> =
            (0..3).map(|n| scope.spawn(move || insert(w, n, keys, rows, seed))).collect();
        let vacuum = scope.spawn(move || {
            let mut s = Session::new();
            while !done.load(Ordering::SeqCst) {
                w.index.delete_dead(&mut s.cx(w), None, &mut |tid| is_dead(tid)).unwrap();
            }
        });
        let scanners: Vec<_> = (0..2)
            .map(|n| scope.spawn(move || scan(w, stable, keys, seed * 17 + n + 1, done)))
            .collect();
        let inserted = inserters.into_iter().map(|t| t.join().unwrap()).collect();
        done.store(true, Ordering::SeqCst);
        vacuum.join().unwrap();
        for s in scanners {
            assert!(s.join().unwrap() > 0);
        }
        inserted
    });
    let mut rows: BTreeSet<Tid> = stable.values().flatten().copied().collect();
    for mine in &inserted {
        rows.extend(mine.iter().copied().filter(|tid| !is_dead(*tid)));
    }
    w.index.delete_dead(&mut session.cx(w), None, &mut |tid| is_dead(tid)).unwrap();
    assert_eq!(w.verify(), rows);
    w.check_redo();
}

#[test]
fn concurrent_changes_of_few_keys_keep_the_index_valid() {
    stress(5, 6000, 3);
}

#[test]
fn concurrent_changes_of_many_keys_keep_the_index_valid() {
    stress(3000, 6000, 4);
}
