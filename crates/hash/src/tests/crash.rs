//! Recovery from every kind of interruption, and power failures at random moments.

use super::*;
use crate::records;

fn row(n: u32) -> (i32, Tid) {
    let key = if n.is_multiple_of(4) { 3 } else { n.wrapping_mul(0x9E37_79B9) % 700 };
    (key as i32, Tid::new(BlockNo(n / 100), (n % 100 + 1) as u16))
}

/// VACUUM removes these.
fn is_dead(n: u32) -> bool {
    n.is_multiple_of(3)
}

/// Inserts rows, with VACUUM and checkpoints in between.
fn workload(w: &Fixture, rows: u32) {
    let mut s = Session::new();
    let mut heap = TestHeap::default();
    for n in 0..rows {
        let (key, tid) = row(n);
        w.insert(&mut s, key, tid, &mut heap);
        if n % 1500 == 1499 {
            let dead: BTreeSet<Tid> = (0..=n).filter(|&n| is_dead(n)).map(|n| row(n).1).collect();
            w.vacuum(&mut s, &dead);
        }
    }
}

/// All rows among the first `inserted` that are not dead are found, and nothing else but dead ones.
fn check_rows(w: &Fixture, inserted: u32) {
    let mut s = Session::new();
    let mut rows: BTreeMap<i32, BTreeSet<Tid>> = BTreeMap::new();
    (0..inserted).map(row).for_each(|(key, tid)| {
        rows.entry(key).or_default().insert(tid);
    });
    let dead: BTreeSet<Tid> = (0..inserted).filter(|&n| is_dead(n)).map(|n| row(n).1).collect();
    for (key, all) in rows {
        let found = w.find(&mut s, key, &BTreeSet::new());
        assert!(found.is_subset(&all), "key {key}");
        assert_eq!(&(&all - &found) - &dead, BTreeSet::new(), "key {key}");
    }
}

/// The log ends after any record: the index is consistent, and works on.
#[test]
fn every_prefix_of_the_log_is_usable() {
    let full = Fixture::new(128, 10, 0.0);
    workload(&full, 6000);
    full.wal.flush(full.wal.inserted()).unwrap();
    let mut reader = WalReader::new(Arc::new(full.disk.clone()), SEGMENT, 1, Some(SYSTEM));
    reader.seek(START);
    let mut kinds = Vec::new();
    while let Some(record) = reader.read().unwrap() {
        let hash = record.header.rmgr() == Some(RmgrId::Hash);
        kinds.push(if hash { record.info() & 0xF0 } else { 0xFF });
    }
    // The first few of each kind, and some later ones.
    let mut chosen: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (n, kind) in kinds.iter().enumerate().skip(8) {
        let of_kind = chosen.entry(*kind).or_default();
        if of_kind.len() < 3 || n.is_multiple_of(97) && of_kind.len() < 12 {
            of_kind.push(n + 1);
        }
    }
    for most in chosen.into_values().flatten() {
        let disk = MemDisk::new();
        directories(&disk);
        let w = Fixture::on(disk, 128, 10);
        w.recover(&full.disk, START, most);
        // The log of the copy begins after all pages.
        w.start_log(Lsn(full.wal.inserted().0.next_multiple_of(u64::from(SEGMENT))), Lsn(0));
        w.verify();
        let inserted = kinds[..most].iter().filter(|&&kind| kind == records::INSERT).count() as u32;
        check_rows(&w, inserted);
        let mut s = Session::new();
        for n in inserted..inserted + 400 {
            let (key, tid) = row(n);
            w.insert(&mut s, key, tid, &mut TestHeap::default());
        }
        w.verify();
        check_rows(&w, inserted + 400);
        let dead: BTreeSet<Tid> =
            (0..inserted + 400).filter(|&n| is_dead(n)).map(|n| row(n).1).collect();
        w.vacuum(&mut s, &dead);
        let live = (0..inserted + 400).filter(|&n| !is_dead(n)).count();
        assert_eq!(w.verify().len(), live, "after {most} records");
    }
}

/// Power failures: pages may be lost or torn, and are restored from images.
#[test]
fn random_crashes() {
    for seed in 0..25u64 {
        let w = Fixture::new(48, 10, 0.0);
        let mut rng = Rng(seed * 31 + 7);
        let mut s = Session::new();
        let mut heap = TestHeap::default();
        let mut redo = w.checkpoint();
        let mut flushed = 0;
        let total = 500 + rng.below(4000) as u32;
        for n in 0..total {
            let (key, tid) = row(n);
            w.insert(&mut s, key, tid, &mut heap);
            match rng.below(700) {
                0 => {
                    redo = w.checkpoint();
                    w.wal.flush(w.wal.inserted()).unwrap();
                    flushed = n + 1;
                }
                1 => {
                    let dead = (0..=n).filter(|&n| is_dead(n)).map(|n| row(n).1).collect();
                    w.vacuum(&mut s, &dead);
                }
                2..=9 => {
                    w.wal.flush(w.wal.inserted()).unwrap();
                    flushed = n + 1;
                }
                _ => {}
            }
        }
        let disk = w.disk.crash(seed);
        let after = Fixture::on(disk.clone(), 48, 10);
        after.recover(&disk, redo, usize::MAX);
        after.start_log(Lsn(w.wal.inserted().0.next_multiple_of(u64::from(SEGMENT))), Lsn(0));
        let found = after.verify();
        for n in (0..flushed).filter(|&n| !is_dead(n)) {
            assert!(found.contains(&row(n).1), "seed {seed}, row {n}");
        }
        for n in total..total + 300 {
            let (key, tid) = row(n);
            after.insert(&mut s, key, tid, &mut heap);
        }
        after.verify();
    }
}
