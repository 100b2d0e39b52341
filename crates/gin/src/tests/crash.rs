//! Recovery from every kind of interruption.

use super::*;
use crate::records;

fn keys_of(n: u32) -> Vec<i32> {
    let a = n.wrapping_mul(0x9E37_79B9) % 300;
    vec![3, a as i32, (a / 7 + 1000) as i32]
}

/// The TIDs of consecutive rows differ by two bytes in posting lists.
fn row(n: u32) -> Tid {
    tid(n * 29)
}

fn is_dead(tid: Tid) -> bool {
    tid.block.0 % 4 < 2
}

/// Inserts rows, with VACUUM in between. Returns the end of the log after each row.
fn workload(w: &Fixture, rows: u32) -> Vec<Lsn> {
    let mut s = Session::new();
    let mut ends = Vec::new();
    for n in 0..rows {
        w.insert(&mut s, &keys_of(n), row(n));
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
    let mut rows: BTreeMap<i32, BTreeSet<Tid>> = BTreeMap::new();
    for n in 0..inserted {
        for key in keys_of(n) {
            rows.entry(key).or_default().insert(row(n));
        }
    }
    for (key, all) in rows {
        let mut found = w.rows_of(&mut s, key);
        found.remove(&row(inserted));
        assert!(found.is_subset(&all), "key {key}");
        assert!((&all - &found).iter().all(|tid| is_dead(*tid)), "key {key}");
    }
}

/// The log ends after any record: the index is consistent, and works on.
fn check_prefixes(options: &[(&str, &str)]) -> BTreeSet<u8> {
    let full = Fixture::new(128, options);
    let ends = workload(&full, 3200);
    full.wal.flush(full.wal.inserted()).unwrap();
    let mut reader = WalReader::new(Arc::new(full.disk.clone()), SEGMENT, 1, Some(SYSTEM));
    reader.seek(START);
    let mut log = Vec::new();
    while let Some(record) = reader.read().unwrap() {
        let gin = record.header.rmgr() == Some(RmgrId::Gin);
        log.push((if gin { record.info() & 0xF0 } else { 0xFF }, record.end));
    }
    // The first few of each kind, and some later ones.
    let mut chosen: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (n, (kind, _)) in log.iter().enumerate().skip(2) {
        let of_kind = chosen.entry(*kind).or_default();
        if of_kind.len() < 2 || n.is_multiple_of(97) && of_kind.len() < 5 {
            of_kind.push(n + 1);
        }
    }
    let kinds = chosen.keys().copied().collect();
    for most in chosen.into_values().flatten() {
        let disk = MemDisk::new();
        directories(&disk);
        let w = Fixture::on(disk, 128, options);
        w.recover(&full.disk, START, most);
        // The log of the copy begins after all pages.
        w.start_log(Lsn(full.wal.inserted().0.next_multiple_of(u64::from(SEGMENT))), Lsn(0));
        let end = log[most - 1].1;
        let inserted = ends.partition_point(|e| *e <= end) as u32;
        check_rows(&w, inserted);
        let mut s = Session::new();
        for n in inserted..inserted + 300 {
            w.insert(&mut s, &keys_of(n), row(n));
        }
        check_rows(&w, inserted + 300);
        w.vacuum(&mut s, &mut is_dead);
        check_rows(&w, inserted + 300);
    }
    kinds
}

#[test]
fn every_prefix_of_the_log_is_usable() {
    let mut kinds = check_prefixes(&[("gin_pending_list_limit", "64")]);
    kinds.extend(check_prefixes(&[("fastupdate", "off")]));
    for kind in [records::CREATE_PTREE, records::VACUUM_DATA_LEAF_PAGE, records::DELETE_LISTPAGE] {
        assert!(kinds.contains(&kind), "{kinds:x?}");
    }
}

/// Power failures: after a crash the log has at least the flushed records, and recovery from the
/// last checkpoint gives the rows that were inserted before the flush.
#[test]
fn power_failures_lose_no_flushed_row() {
    for seed in 1..8u64 {
        let mut rng = Rng(seed * 977);
        let options: &[(&str, &str)] = if seed % 2 == 0 {
            &[("fastupdate", "off")]
        } else {
            &[("gin_pending_list_limit", "64")]
        };
        let w = Fixture::new(48, options);
        let mut s = Session::new();
        let mut redo = w.checkpoint();
        w.wal.flush(w.wal.inserted()).unwrap();
        let rows = 500 + rng.below(3000) as u32;
        let mut flushed = 0;
        for n in 0..rows {
            w.insert(&mut s, &keys_of(n), row(n));
            match rng.below(400) {
                0 => {
                    redo = w.checkpoint();
                    w.wal.flush(w.wal.inserted()).unwrap();
                    flushed = n + 1;
                }
                1 => w.vacuum(&mut s, &mut is_dead),
                2..=40 => {
                    w.wal.flush(w.wal.inserted()).unwrap();
                    flushed = n + 1;
                }
                _ => {}
            }
        }
        let disk = w.disk.crash(seed);
        let copy = Fixture::on(disk.clone(), 128, options);
        copy.recover(&disk, redo, usize::MAX);
        copy.start_log(Lsn((w.wal.inserted().0 + 1).next_multiple_of(u64::from(SEGMENT))), Lsn(0));
        let mut s = Session::new();
        let found = copy.rows_of(&mut s, 3);
        for n in (0..flushed).filter(|n| !is_dead(row(*n))) {
            assert!(found.contains(&row(n)), "row {n} of {flushed}, seed {seed}");
        }
    }
}
