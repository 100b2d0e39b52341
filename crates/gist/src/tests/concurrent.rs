//! Sessions that insert, scan and vacuum at the same time.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// A row's point is derived from its TID.
fn point_of(tid: Tid, extent: u32) -> (i32, i32) {
    let n = tid.block.0.wrapping_mul(0x9E37_79B9) ^ u32::from(tid.offset);
    ((n % extent) as i32, (n / 7 % extent) as i32)
}

fn is_dead(tid: Tid) -> bool {
    tid.offset.is_multiple_of(4)
}

/// Inserts rows with even offsets, different ones in each thread. Returns them.
fn insert(w: &Fixture, thread: u32, extent: u32, rows: u32) -> Vec<Tid> {
    let mut s = Session::new();
    let tid = |n: u32| Tid::new(BlockNo(n / 20 * 16 + thread), (n % 20 * 2 + 2) as u16);
    let all: Vec<Tid> = (0..rows).map(tid).collect();
    all.iter().for_each(|tid| w.insert(&mut s, point_of(*tid, extent), *tid));
    all
}

/// Scans for random squares until the end: all rows that stay are found. Returns the number of
/// scans.
fn scan(w: &Fixture, stable: &[Tid], extent: u32, seed: u64, done: &AtomicBool) -> u64 {
    let mut s = Session::new();
    let mut rng = Rng(seed);
    let mut scans = 0;
    while !done.load(Ordering::SeqCst) {
        let mut random = || rng.below(u64::from(extent)) as i32;
        let ((x, y), side) = ((random(), random()), random() / 4);
        let found = w.within(&mut s, (x, y), side);
        let found: BTreeSet<Tid> = found.into_iter().filter(|t| t.offset % 2 == 1).collect();
        let expected = stable.iter().filter(|tid| {
            let (a, b) = point_of(**tid, extent);
            (x..=x + side).contains(&a) && (y..=y + side).contains(&b)
        });
        assert_eq!(found, expected.copied().collect(), "{x} {y} {side}");
        scans += 1;
    }
    scans
}

fn stress(extent: u32, rows: u32) {
    let mut w = Fixture::new(512, &[]);
    w.recycles = false;
    // Rows with odd offsets exist from the start and stay. Rows with even offsets are inserted
    // concurrently, and are dead if the offset is a multiple of four.
    let mut session = Session::new();
    let stable: Vec<Tid> =
        (0..rows).map(|n| Tid::new(BlockNo(n / 5 * 3), (n % 5 * 2 + 1) as u16)).collect();
    stable.iter().for_each(|tid| w.insert(&mut session, point_of(*tid, extent), *tid));
    let done = AtomicBool::new(false);
    let (w, stable, done) = (&w, &stable[..], &done);
    let inserted: Vec<Tid> = std::thread::scope(|scope| {
        let inserters: Vec<_> =
            (0..8).map(|n| scope.spawn(move || insert(w, n, extent, rows))).collect();
        let vacuum = scope.spawn(move || {
            let mut s = Session::new();
            while !done.load(Ordering::SeqCst) {
                w.vacuum(&mut s, &mut is_dead);
            }
        });
        let scanners: Vec<_> =
            (0..6).map(|n| scope.spawn(move || scan(w, stable, extent, 17 + n, done))).collect();
        let inserted = inserters.into_iter().flat_map(|t| t.join().unwrap()).collect();
        done.store(true, Ordering::SeqCst);
        vacuum.join().unwrap();
        for s in scanners {
            assert!(s.join().unwrap() > 0);
        }
        inserted
    });
    let mut rows: BTreeSet<Tid> = stable.iter().copied().collect();
    rows.extend(inserted.into_iter().filter(|tid| !is_dead(*tid)));
    w.vacuum(&mut session, &mut is_dead);
    assert_eq!(w.verify().into_keys().collect::<BTreeSet<_>>(), rows);
    assert_eq!(w.within(&mut session, (0, 0), extent as i32), rows);
    w.check_redo();
}

#[test]
fn concurrent_changes_of_few_points_keep_the_index_valid() {
    stress(5, 1500);
}

#[test]
fn concurrent_changes_of_many_points_keep_the_index_valid() {
    stress(30_000, 1500);
}
