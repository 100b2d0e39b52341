//! Builds, in memory and with runs on disk.

use super::*;
use access::BuildOptions;

fn keys_of(n: u32) -> Vec<i32> {
    let n = n as i32;
    match n % 5 {
        0 => vec![],
        1 => vec![7],
        _ => vec![7, n % 11 + 100, n.wrapping_mul(0x9E37) % 5000],
    }
}

/// The number of entries of a row.
fn entries_of(n: u32) -> usize {
    keys_of(n).iter().collect::<BTreeSet<_>>().len().max(1)
}

fn build(memory_limit: usize, rows: u32) -> Fixture {
    let w = Fixture::without_index(256, &[]);
    let mut s = Session::new();
    let disk: Arc<dyn Disk> = Arc::new(w.disk.clone());
    let options =
        BuildOptions { disk, path: "base/run".into(), memory_limit, rows: f64::from(rows) };
    let mut build = w.index.begin_build(&mut s.cx(&w), options).unwrap();
    for n in 0..rows {
        // Rows of HOT chains are out of order.
        let value = array(&keys_of(n ^ 1));
        if n % 3 == 0 {
            let entries = w.form(value.as_ref(), tid(n ^ 1));
            build.add(&mut s.cx(&w), &entries, false).unwrap();
        } else {
            let row = access::Row { values: &[value.as_ref()], compressed: &[], tid: tid(n ^ 1) };
            assert!(build.add_row(&row).unwrap());
        }
    }
    let mut never = |_: page::index_tuple::IndexTuple<'_>, _: page::index_tuple::IndexTuple<'_>| {
        pgerror::PgError::internal("no duplicates")
    };
    let count = build.finish(&mut s.cx(&w), &mut never).unwrap();
    let expected: usize = (0..rows).map(entries_of).sum();
    assert_eq!(count as usize, expected);
    assert!(w.disk.stat("base/run").is_err(), "the temporary file is removed");
    w
}

fn check(w: &Fixture, rows: u32) {
    let mut s = Session::new();
    assert_eq!(w.verify(), (0..rows).map(|n| (tid(n), entries_of(n))).collect());
    for key in [7, 100, 105, 0, 4999] {
        let expected = (0..rows).filter(|n| keys_of(*n).contains(&key)).map(tid).collect();
        assert_eq!(w.rows_of(&mut s, key), expected, "{key}");
    }
}

#[test]
fn built_indexes_have_all_rows() {
    for (memory, rows) in [(64 << 20, 60_000), (300_000, 60_000), (1, 300), (64 << 20, 0)] {
        let w = build(memory, rows);
        check(&w, rows);
        // Insertions and VACUUM go on.
        let mut s = Session::new();
        for n in rows..rows + 3000 {
            w.insert(&mut s, &keys_of(n), tid(n));
        }
        w.vacuum(&mut s, &mut |_| false);
        check(&w, rows + 3000);
        w.vacuum(&mut s, &mut |tid| tid.block.0 % 3 == 1);
        let live = w.verify();
        assert!(live.keys().all(|tid| tid.block.0 % 3 != 1));
        w.check_redo();
    }
}
