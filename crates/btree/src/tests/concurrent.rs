//! Concurrent insertions, scans and vacuums.

use super::*;
use ids::OffsetNo;
use std::sync::atomic::AtomicBool;

/// A row's key is derived from its TID: the block is `key * 64` plus 0 to 63.
fn key_of(tid: Tid) -> i32 {
    (tid.block.0 / 64) as i32
}

/// Scans again and again until `done`; returns the number of scans. Each must be in order and find
/// exactly the `stable` rows with odd offsets. `n`: the number of the scanner.
fn scan_until(
    w: &Fixture,
    n: usize,
    dir: Direction,
    stable: &BTreeSet<Tid>,
    done: &AtomicBool,
) -> usize {
    let mut s = Session::new();
    let mut scans = 0;
    while !done.load(Ordering::SeqCst) {
        w.xids.enter(4 + n);
        let options = ScanOptions::default();
        let mut scan = TestScan::new(w, Vec::new(), options);
        let mut seen: Vec<Tid> = Vec::new();
        while let Some(i) = scan.next(&mut s.cx(w), dir, None) {
            seen.push(i.tid);
            if i.tid.offset % 4 == 0 {
                scan.kill_current();
            }
        }
        scan.end(&mut s.cx(w));
        w.xids.leave(4 + n);
        if dir == Direction::Backward {
            seen.reverse();
        }
        let key = |t: &Tid| (key_of(*t), *t);
        assert!(seen.is_sorted_by(|a, b| key(a) < key(b)), "{dir:?}");
        let old: BTreeSet<Tid> = seen.into_iter().filter(|t| t.offset % 2 == 1).collect();
        assert_eq!(&old, stable, "{dir:?}");
        scans += 1;
    }
    scans
}

fn stress(keys: u64, width: usize, rows: u64, seed: u64) {
    let mut schema = KeySchema::new(vec![int4_column(), text_column()], 2);
    schema.allequalimage = true;
    let w = Fixture::new(schema, 128);
    let pad = vec![b'p'; width];
    let row = |tid: Tid| form(&w.index.schema, &[int(key_of(tid)), DatumRef::Bytes(&pad)], tid);
    // Rows with odd offsets exist from the start and stay live. Rows with even offsets are inserted
    // concurrently, and are dead if the offset is a multiple of four.
    let mut session = Session::new();
    let mut stable: BTreeSet<Tid> = BTreeSet::new();
    let mut rng = Rng(seed);
    for _ in 0..rows / 4 {
        let block = rng.below(keys) * 64 + rng.below(64);
        let tid = Tid::new(BlockNo(block as u32), rng.below(20) as OffsetNo * 2 + 1);
        if stable.insert(tid) {
            let mut heap = TestHeap::default();
            w.index
                .insert(&mut session.cx(&w), &row(tid), UniqueCheck::No, false, &mut heap)
                .unwrap();
        }
    }
    let done = AtomicBool::new(false);
    let (w, row, stable, done) = (&w, &row, &stable, &done);
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
                        let tid = Tid::new(BlockNo(block as u32), offset as OffsetNo);
                        if mine.insert(tid) {
                            w.xids.enter(thread as usize);
                            w.index
                                .insert(&mut s.cx(w), &row(tid), UniqueCheck::No, false, &mut heap)
                                .unwrap();
                            w.xids.leave(thread as usize);
                        }
                    }
                    mine
                })
            })
            .collect();
        let vacuum = scope.spawn(move || {
            let mut s = Session::new();
            let mut deleted = 0;
            while !done.load(Ordering::SeqCst) {
                let mut is_dead = |t: Tid| t.offset.is_multiple_of(4);
                let stats = w.index.bulk_delete(&mut s.cx(w), None, &mut is_dead).unwrap();
                deleted += stats.pages_newly_deleted;
                w.index.vacuum_cleanup(&mut s.cx(w), Some(stats), None).unwrap();
                let next = w.xids.next.fetch_add(1, Ordering::SeqCst);
                w.xids.horizon.store(next, Ordering::SeqCst);
            }
            deleted
        });
        let scanners: Vec<_> = [Direction::Forward, Direction::Backward]
            .into_iter()
            .enumerate()
            .map(|(n, dir)| scope.spawn(move || scan_until(w, n, dir, stable, done)))
            .collect();
        let inserted = inserters.into_iter().map(|t| t.join().unwrap()).collect();
        done.store(true, Ordering::SeqCst);
        vacuum.join().unwrap();
        for s in scanners {
            assert!(s.join().unwrap() > 0);
        }
        inserted
    });
    let mut heap_rows = stable.clone();
    for mine in &inserted {
        heap_rows.extend(mine.iter().copied().filter(|t| t.offset % 4 != 0));
    }
    let mut s = Session::new();
    w.index.bulk_delete(&mut s.cx(w), None, &mut |t| t.offset % 4 == 0).unwrap();
    let (_, found) = w.verify();
    assert_eq!(found, heap_rows);
    w.check_redo();
}

#[test]
fn few_keys() {
    stress(5, 0, 6000, 3);
}

#[test]
fn many_keys() {
    stress(5000, 30, 6000, 4);
}

#[test]
fn wide_keys_in_a_high_tree() {
    stress(300, 400, 4000, 5);
}
