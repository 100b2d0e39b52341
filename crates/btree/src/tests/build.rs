//! Index builds, with sorts in memory and in runs.

use super::*;
use pgerror::PgError;

fn build(schema: KeySchema, rows: u32, keys: u64, memory: usize) -> Fixture {
    let w = Fixture::new(schema, 64);
    // An empty file.
    w.pool.truncate(&[(w.index.file.main.clone(), 0)], || Ok(())).unwrap();
    let mut s = Session::new();
    let mut rng = Rng(u64::from(rows) + keys);
    let mut sorter = Sorter::new(&w.index.schema, w.disk.clone(), "base/sort".into(), memory);
    for n in 0..rows {
        let tid = Tid::new(BlockNo(n / 50), (n % 50 + 1) as u16);
        let key = rng.below(keys);
        let value = if key == 0 { DatumRef::Null } else { int(key as i32 - 50) };
        let text = format!("{:x}", rng.below(1000));
        let values = [value, DatumRef::Bytes(text.as_bytes())];
        let tuple = form(&w.index.schema, &values[..w.index.schema.natts()], tid);
        sorter.add(&tuple, false).unwrap();
    }
    let mut none = |_: page::index_tuple::IndexTuple<'_>, _: page::index_tuple::IndexTuple<'_>| {
        PgError::internal("duplicate")
    };
    assert_eq!(w.index.build(&mut s.cx(&w), sorter, &mut none).unwrap(), u64::from(rows));
    assert!(w.disk.stat("base/sort").is_err());
    let (stats, tids) = w.verify();
    assert_eq!(tids.len(), rows as usize);
    assert_eq!(stats.tuples, u64::from(rows));
    w
}

#[test]
fn sorts_in_memory_and_in_runs_make_the_same_pages() {
    let schema = || {
        let mut s = KeySchema::new(vec![int4_column(), text_column()], 2);
        s.columns[0].desc = true;
        s
    };
    let large = build(schema(), 40_000, 3000, 1 << 26);
    let small = build(schema(), 40_000, 3000, 1);
    for (a, b) in large.pages().into_iter().zip(small.pages()) {
        let (mut a, mut b) = (a, b);
        mask(&mut a);
        mask(&mut b);
        assert!(a.as_bytes() == b.as_bytes());
    }
}

#[test]
fn duplicates_of_a_unique_index_are_found() {
    let mut schema = int4_schema();
    schema.unique = true;
    let w = Fixture::new(schema, 64);
    w.pool.truncate(&[(w.index.file.main.clone(), 0)], || Ok(())).unwrap();
    let mut s = Session::new();
    for (dead, nulls, fails) in [(false, false, true), (true, false, false), (false, true, false)] {
        let mut sorter = Sorter::new(&w.index.schema, w.disk.clone(), "base/sort".into(), 1 << 20);
        for n in 0..1000u32 {
            let key = if nulls { DatumRef::Null } else { int(n as i32 % 999) };
            let tuple = form(&w.index.schema, &[key], Tid::new(BlockNo(n), 1));
            sorter.add(&tuple, dead && n == 999).unwrap();
        }
        let mut error = |a: page::index_tuple::IndexTuple<'_>,
                         b: page::index_tuple::IndexTuple<'_>| {
            assert_eq!((a.tid_field().block.0, b.tid_field().block.0), (0, 999));
            PgError::internal("twice")
        };
        let done = w.index.build(&mut s.cx(&w), sorter, &mut error);
        assert_eq!(done.is_err(), fails);
    }
    w.verify();
}

#[test]
fn threads_sort_parts_of_a_build() {
    let w = Fixture::new(int4_schema(), 64);
    w.pool.truncate(&[(w.index.file.main.clone(), 0)], || Ok(())).unwrap();
    let disk: Arc<dyn Disk> = w.disk.clone();
    let (schema, disk) = (&w.index.schema, &disk);
    let sorter = |n: u32| Sorter::new(schema, disk.clone(), format!("base/sort{n}"), 1 << 16);
    let fill = |part: u32, sorter: &mut Sorter<'_>| {
        for n in (part..30_000).step_by(4) {
            let tuple = form(schema, &[int(n as i32 * 7919 % 5000)], Tid::new(BlockNo(n), 1));
            sorter.add(&tuple, false).unwrap();
        }
    };
    let mut leader = sorter(3);
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..3)
            .map(|part| {
                scope.spawn(move || {
                    let mut s = sorter(part);
                    fill(part, &mut s);
                    s.into_runs().unwrap()
                })
            })
            .collect();
        fill(3, &mut leader);
        parts.into_iter().for_each(|p| leader.add_runs(p.join().unwrap()));
    });
    let mut none = |_: page::index_tuple::IndexTuple<'_>, _: page::index_tuple::IndexTuple<'_>| {
        PgError::internal("duplicate")
    };
    let mut s = Session::new();
    assert_eq!(w.index.build(&mut s.cx(&w), leader, &mut none).unwrap(), 30_000);
    assert_eq!(w.verify().1.len(), 30_000);
    assert!((0..4).all(|n| w.disk.stat(&format!("base/sort{n}")).is_err()));
}

/// Least and greatest values, whose abbreviated keys equal those of NULLs, and TIDs in any order.
#[test]
fn tuples_are_sorted_by_columns_and_tids() {
    let mut rng = Rng(77);
    for variant in 0..24u32 {
        let mut schema = match variant % 3 {
            0 => KeySchema::new(vec![int4_column()], 1),
            1 => KeySchema::new(vec![int4_column(), int4_column()], 2),
            _ => KeySchema::new(vec![int4_column(), int4_column()], 1),
        };
        for (n, column) in schema.columns.iter_mut().enumerate() {
            (column.desc, column.nulls_first) =
                (variant >> (2 * n) & 4 != 0, variant >> (2 * n) & 8 != 0);
        }
        let memory = if variant < 12 { 1 << 20 } else { 1 };
        let disk: Arc<dyn Disk> = Fixture::new(int4_schema(), 64).disk.clone();
        let mut sorter = Sorter::new(&schema, disk, "sort".into(), memory);
        let mut want = Vec::new();
        for n in 0..6000u32 {
            let values: Vec<DatumRef<'_>> = (0..schema.natts())
                .map(|_| match rng.below(8) {
                    0 => DatumRef::Null,
                    1 => int(i32::MIN),
                    2 => int(i32::MAX),
                    v => int(v as i32 - 5),
                })
                .collect();
            let tuple = form(&schema, &values, Tid::new(BlockNo(n * 7919 % 6007), 1));
            sorter.add(&tuple, false).unwrap();
            want.push(tuple);
        }
        want.sort_by(|a, b| {
            let [a, b] = [a, b].map(|t| page::index_tuple::IndexTuple::new(t));
            let keys = schema.compare_keys(a, b).unwrap();
            keys.then_with(|| a.tid_field().cmp(&b.tid_field()))
        });
        let mut got = Vec::new();
        let mut each = |tuple: page::index_tuple::IndexTuple<'_>, _: bool| {
            got.push(tuple.bytes().to_vec());
            Ok(())
        };
        sorter.finish(&mut each).unwrap();
        assert!(got == want, "variant {variant}");
    }
}
