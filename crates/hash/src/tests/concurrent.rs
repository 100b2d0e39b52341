//! Concurrent insertions, scans and vacuums.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// A row's key is derived from its TID.
fn key_of(tid: Tid) -> i32 {
    (tid.block.0 / 64) as i32
}

fn stress(keys: u64, rows: u64, seed: u64) {
    let w = World::new(256, 10, 0.0);
    // Rows with odd offsets exist from the start and stay. Rows with even offsets are inserted
    // concurrently, and are dead if the offset is a multiple of four.
    let mut session = Session::new();
    let mut stable: BTreeMap<i32, BTreeSet<Tid>> = BTreeMap::new();
    let mut rng = Rng(seed);
    for _ in 0..rows / 4 {
        let block = rng.below(keys) * 64 + rng.below(64);
        let tid = Tid::new(BlockNo(block as u32), rng.below(20) as u16 * 2 + 1);
        if stable.entry(key_of(tid)).or_default().insert(tid) {
            w.insert(&mut session, key_of(tid), tid, &mut TestHeap::default());
        }
    }
    let done = AtomicBool::new(false);
    let (w, stable, done) = (&w, &stable, &done);
    let inserted: Vec<BTreeSet<Tid>> = std::thread::scope(|scope| {
        let inserters: Vec<_> = (0..3u64)
            .map(|thread| {
                scope.spawn(move || {
                    let mut rng = Rng(seed * 31 + thread + 1);
                    let mut s = Session::new();
                    let mut heap = TestHeap::default();
                    let mut mine = BTreeSet::new();
                    for n in 0..rows {
                        let block = rng.below(keys) * 64 + rng.below(64);
                        let offset = (n % 500 * 3 + thread) * 2 + 2;
                        let tid = Tid::new(BlockNo(block as u32), offset as u16);
                        if mine.insert(tid) {
                            w.insert(&mut s, key_of(tid), tid, &mut heap);
                        }
                    }
                    mine
                })
            })
            .collect();
        let vacuum = scope.spawn(move || {
            let mut s = Session::new();
            while !done.load(Ordering::SeqCst) {
                let mut is_dead = |t: Tid| t.offset.is_multiple_of(4);
                w.index.delete_dead(&mut s.cx(w), None, &mut is_dead).unwrap();
            }
        });
        let scanners: Vec<_> = (0..2u64)
            .map(|n| {
                scope.spawn(move || {
                    let mut s = Session::new();
                    let mut rng = Rng(seed * 17 + n + 1);
                    let mut scans = 0;
                    while !done.load(Ordering::SeqCst) {
                        let key = rng.below(keys) as i32;
                        let found = w.find(&mut s, key, &BTreeSet::new());
                        let found: BTreeSet<Tid> =
                            found.into_iter().filter(|t| t.offset % 2 == 1).collect();
                        let expected = stable.get(&key).cloned().unwrap_or_default();
                        assert_eq!(found, expected, "key {key}");
                        scans += 1;
                    }
                    scans
                })
            })
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
        rows.extend(mine.iter().copied().filter(|t| t.offset % 4 != 0));
    }
    let mut is_dead = |t: Tid| t.offset.is_multiple_of(4);
    w.index.delete_dead(&mut session.cx(w), None, &mut is_dead).unwrap();
    assert_eq!(w.verify(), rows);
    w.check_redo();
}

#[test]
fn few_keys() {
    stress(5, 6000, 3);
}

#[test]
fn many_keys() {
    stress(3000, 6000, 4);
}
