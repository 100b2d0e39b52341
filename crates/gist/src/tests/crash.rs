//! Recovery from every kind of interruption.

use super::*;
use crate::records;

/// Consecutive rows are near each other, so that pages of which all rows die are deleted.
fn point_of(n: u32) -> (i32, i32) {
    let a = n.wrapping_mul(0x9E37_79B9) % 40;
    ((n + a) as i32, (a / 7) as i32)
}

fn is_dead(tid: Tid) -> bool {
    tid.block.0 % 4 < 2
}

/// Inserts rows, with VACUUM in between. Returns the end of the log after each row.
fn workload(w: &Fixture, rows: u32) -> Vec<Lsn> {
    let mut s = Session::new();
    let mut ends = Vec::new();
    for n in 0..rows {
        w.insert(&mut s, point_of(n), tid(n));
        ends.push(w.wal.inserted());
        if n % 1500 == 1499 {
            w.vacuum(&mut s, &mut is_dead);
        }
    }
    ends
}

/// All rows among the first `inserted` that are not dead are found, and nothing else but dead ones
/// and perhaps the next row.
fn check_rows(w: &Fixture, inserted: u32) {
    let mut s = Session::new();
    let mut found = w.within(&mut s, (0, 0), 10_000);
    found.remove(&tid(inserted));
    let all: BTreeSet<Tid> = (0..inserted).map(tid).collect();
    assert!(found.is_subset(&all));
    assert!((&all - &found).iter().all(|tid| is_dead(*tid)));
    for n in (0..inserted).step_by(37).filter(|n| !is_dead(tid(*n))) {
        assert!(w.within(&mut s, point_of(n), 0).contains(&tid(n)), "row {n}");
    }
    let verified: BTreeSet<Tid> = w.verify().into_keys().filter(|t| *t != tid(inserted)).collect();
    assert_eq!(verified, found);
}

/// The log ends after any record: the index is consistent, and works on.
#[test]
fn every_prefix_of_the_log_is_usable() {
    let full = Fixture::new(128, &[]);
    let ends = workload(&full, 4000);
    full.wal.flush(full.wal.inserted()).unwrap();
    let mut reader = WalReader::new(Arc::new(full.disk.clone()), SEGMENT, 1, Some(SYSTEM));
    reader.seek(START);
    let mut log = Vec::new();
    while let Some(record) = reader.read().unwrap() {
        let gist = record.header.rmgr() == Some(RmgrId::Gist);
        log.push((if gist { record.info() & 0xF0 } else { 0xFF }, record.end));
    }
    // The first few of each kind, all splits, and some later ones.
    let mut chosen: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (n, (kind, _)) in log.iter().enumerate().skip(1) {
        let of_kind = chosen.entry(*kind).or_default();
        let all = *kind == records::PAGE_SPLIT && of_kind.len() < 12;
        if all || of_kind.len() < 3 || n.is_multiple_of(97) && of_kind.len() < 6 {
            of_kind.push(n + 1);
        }
    }
    for kind in [records::PAGE_SPLIT, records::PAGE_UPDATE, records::PAGE_DELETE] {
        assert!(chosen.contains_key(&kind), "{:x?}", chosen.keys());
    }
    for most in chosen.into_values().flatten() {
        let disk = MemDisk::new();
        directories(&disk);
        let w = Fixture::on(disk, 128, &[]);
        w.recover(&full.disk, START, most);
        // The log of the copy begins after all pages.
        w.start_log(Lsn(full.wal.inserted().0.next_multiple_of(u64::from(SEGMENT))), Lsn(0));
        let end = log[most - 1].1;
        let inserted = ends.partition_point(|e| *e <= end) as u32;
        check_rows(&w, inserted);
        let mut s = Session::new();
        // The entry of the next row may be there although its insertion was interrupted.
        let there = w.within(&mut s, (0, 0), 10_000).contains(&tid(inserted));
        for n in inserted + u32::from(there)..inserted + 300 {
            w.insert(&mut s, point_of(n), tid(n));
        }
        check_rows(&w, inserted + 300);
        w.vacuum(&mut s, &mut is_dead);
        check_rows(&w, inserted + 300);
    }
}

/// Power failures: after a crash the log has at least the flushed records, and recovery from the
/// last checkpoint gives the rows that were inserted before the flush.
#[test]
fn power_failures_lose_no_flushed_row() {
    for seed in 1..8u64 {
        let mut rng = Rng(seed * 977);
        let w = Fixture::new(48, &[]);
        let mut s = Session::new();
        let mut redo = w.checkpoint();
        w.wal.flush(w.wal.inserted()).unwrap();
        let rows = 500 + rng.below(3000) as u32;
        let mut flushed = 0;
        for n in 0..rows {
            w.insert(&mut s, point_of(n), tid(n));
            match rng.below(400) {
                0 => {
                    redo = w.checkpoint();
                    w.wal.flush(w.wal.inserted()).unwrap();
                    flushed = n + 1;
                }
                1 => drop(w.vacuum(&mut s, &mut is_dead)),
                2..=40 => {
                    w.wal.flush(w.wal.inserted()).unwrap();
                    flushed = n + 1;
                }
                _ => {}
            }
        }
        let disk = w.disk.crash(seed);
        let copy = Fixture::on(disk.clone(), 128, &[]);
        copy.recover(&disk, redo, usize::MAX);
        copy.start_log(Lsn((w.wal.inserted().0 + 1).next_multiple_of(u64::from(SEGMENT))), Lsn(0));
        let found = copy.within(&mut Session::new(), (0, 0), 10_000);
        for n in (0..flushed).filter(|n| !is_dead(tid(*n))) {
            assert!(found.contains(&tid(n)), "row {n} of {flushed}, seed {seed}");
        }
        copy.verify();
    }
}
