//! Random operations, checked against an ordered set.

use super::*;
use access::strategy::btree;
use ids::OffsetNo;

/// Rows by key and TID.
type Model = BTreeSet<(Option<i32>, Tid)>;

fn scan_all(w: &Fixture, s: &mut Session, keys: Vec<ScanKey>, dir: Direction) -> Vec<Tid> {
    let mut scan = TestScan::new(w, keys, ScanOptions::default());
    let mut out = Vec::new();
    let mut cx = s.cx(w);
    while let Some(item) = scan.next(&mut cx, dir, None) {
        out.push(item.tid);
    }
    scan.end(&mut cx);
    out
}

fn compare(w: &Fixture, s: &mut Session, model: &Model, column: usize, low: i32, high: i32) {
    use types::Datum;
    let key = |strategy, v| ScanKey::compare(column, strategy, Datum::int4(v));
    let expect: Vec<Tid> = model
        .iter()
        .filter(|(k, _)| k.is_some_and(|k| k >= low && k < high))
        .map(|r| r.1)
        .collect();
    let keys = vec![key(btree::GREATER_EQUAL, low), key(btree::LESS, high)];
    assert_eq!(scan_all(w, s, keys.clone(), Direction::Forward), expect);
    let mut back = scan_all(w, s, keys, Direction::Backward);
    back.reverse();
    assert_eq!(back, expect);
    let equal: Vec<Tid> = model.iter().filter(|(k, _)| *k == Some(low)).map(|r| r.1).collect();
    assert_eq!(scan_all(w, s, vec![key(btree::EQUAL, low)], Direction::Forward), equal);
    let nulls: Vec<Tid> = model.iter().filter(|(k, _)| k.is_none()).map(|r| r.1).collect();
    let keys = vec![ScanKey::IsNull { column }];
    assert_eq!(scan_all(w, s, keys, Direction::Forward), nulls);
    let some: Vec<Tid> = model
        .iter()
        .filter(|(k, _)| k.is_some_and(|k| k == low || k == high || k == high + 3))
        .map(|r| r.1)
        .collect();
    let values = [high + 3, low, high, low].map(Datum::int4).into_iter().chain([Datum::Null]);
    let keys = vec![ScanKey::Any { column, values: values.collect(), support: None, order: None }];
    assert_eq!(scan_all(w, s, keys.clone(), Direction::Forward), some);
    let mut back = scan_all(w, s, keys, Direction::Backward);
    back.reverse();
    assert_eq!(back, some);
}

fn run(
    seed: u64,
    steps: usize,
    keys: u64,
    frames: usize,
    deduplicate: bool,
) -> BTreeMap<u8, usize> {
    let mut schema = int4_schema();
    schema.columns[0].nulls_first = seed.is_multiple_of(2);
    schema.deduplicate_items = deduplicate;
    let w = Fixture::new(schema, frames);
    let mut rng = Rng(seed * 7919 + 1);
    let mut s = Session::new();
    let mut heap = TestHeap::default();
    let mut model = Model::new();
    let mut used: BTreeSet<Tid> = BTreeSet::new();
    for step in 0..steps {
        let near = rng.below(20) == 0;
        let mut block = rng.below(3000) as u32;
        if near {
            block = step as u32 / 50;
        }
        let tid = Tid::new(BlockNo(block), rng.below(100) as OffsetNo + 1);
        if used.insert(tid) {
            let key = if rng.below(15) == 0 { None } else { Some(rng.below(keys) as i32) };
            let value = key.map_or(DatumRef::Null, int);
            let tuple = form(&w.index.schema, &[value], tid);
            let unchanged = rng.below(3) == 0;
            let done = w
                .index
                .insert(&mut s.cx(&w), &tuple, UniqueCheck::No, unchanged, &mut heap)
                .unwrap();
            assert_eq!(done, Inserted::Done { unique: true });
            model.insert((key, tid));
        }
        if rng.below(4) == 0 {
            // A row becomes dead. Bottom-up or simple deletion may remove it, or a scan marks it.
            if let Some(&row) = model.iter().nth(rng.below(model.len() as u64) as usize) {
                heap.dead.insert(row.1);
            }
        }
        if rng.below(2500) == 0 {
            let mut scan = TestScan::new(&w, Vec::new(), ScanOptions::default());
            let mut cx = s.cx(&w);
            while let Some(i) = scan.next(&mut cx, Direction::Forward, None) {
                if heap.dead.contains(&i.tid) {
                    scan.kill_current();
                }
            }
        }
        if rng.below(3000) == 0 {
            // Occasionally most rows become dead, so that pages become empty.
            if rng.below(3) == 0 {
                let low = rng.below(keys) as i32;
                heap.dead
                    .extend(model.iter().filter(|(k, _)| k.is_none_or(|k| k >= low)).map(|r| r.1));
            }
            let stats = w
                .index
                .bulk_delete(&mut s.cx(&w), None, &mut |tid| heap.dead.contains(&tid))
                .unwrap();
            w.xids.next.fetch_add(10, Ordering::SeqCst);
            if rng.below(2) == 0 {
                w.xids.horizon.store(w.xids.next.load(Ordering::SeqCst), Ordering::SeqCst);
            }
            model.retain(|r| !heap.dead.contains(&r.1));
            for tid in std::mem::take(&mut heap.dead) {
                used.remove(&tid);
            }
            let stats = w.index.vacuum_cleanup(&mut s.cx(&w), Some(stats), None).unwrap().unwrap();
            let (_, tids) = w.verify();
            assert_eq!(tids, model.iter().map(|r| r.1).collect());
            assert_eq!(stats.num_index_tuples as usize, tids.len());
            let low = rng.below(keys) as i32;
            let null_order = w.index.schema.columns[0].nulls_first;
            let sorted = sort(&model, null_order);
            assert_eq!(scan_all(&w, &mut s, Vec::new(), Direction::Forward), sorted);
            compare(&w, &mut s, &model, 0, low, low + rng.below(keys) as i32);
        }
    }
    let (stats, tids) = w.verify();
    assert!(tids.iter().all(|t| used.contains(t)));
    assert!(model.iter().all(|r| heap.dead.contains(&r.1) || tids.contains(&r.1)));
    assert!(stats.pages > 1);
    w.check_redo()
}

fn sort(model: &Model, nulls_first: bool) -> Vec<Tid> {
    let mut rows: Vec<_> = model.iter().copied().collect();
    rows.sort_by_key(|(k, t)| (k.is_none() != nulls_first, *k, *t));
    rows.into_iter().map(|r| r.1).collect()
}

#[test]
fn many_duplicates_follow_the_model() {
    let mut kinds = BTreeMap::new();
    for seed in 1..4 {
        kinds.append(&mut run(seed, 30_000, 8, 64, true));
    }
    println!("{kinds:x?}");
}

#[test]
fn many_keys_follow_the_model() {
    let mut kinds = run(11, 30_000, 100_000, 32, true);
    println!("{kinds:x?}");
    kinds.append(&mut run(12, 30_000, 2_000, 64, true));
    println!("{kinds:x?}");
}

#[test]
fn an_index_without_deduplication_follows_the_model() {
    run(21, 30_000, 30, 64, false);
}

/// Wide keys make a tree of many levels from few rows; all rows are removed and inserted again.
#[test]
fn high_trees_grow_and_shrink() {
    let mut schema = KeySchema::new(vec![text_column(), int4_column(), text_column()], 2);
    schema.columns[1].desc = true;
    let w = Fixture::new(schema, 64);
    let mut s = Session::new();
    let mut heap = TestHeap::default();
    let mut rng = Rng(99);
    let mut kinds: BTreeMap<u8, usize> = BTreeMap::new();
    for round in 0..4u32 {
        let mut tids = BTreeSet::new();
        for n in 0..3000u32 {
            // One text in ten is compressible: its tail is one repeated byte.
            let mut text = format!("{:04}", rng.below(300)).into_bytes();
            let group = rng.below(10) == 0;
            let width = 300 + rng.below(900);
            text.extend((0..width).map(|_| if group { b'x' } else { rng.below(250) as u8 + 1 }));
            let tid = Tid::new(BlockNo(n), round as u16 + 1);
            let values =
                [DatumRef::Bytes(&text), int(rng.below(50) as i32), DatumRef::Bytes(b"incl")];
            let tuple = form(&w.index.schema, &values, tid);
            w.index.insert(&mut s.cx(&w), &tuple, UniqueCheck::No, false, &mut heap).unwrap();
            tids.insert(tid);
        }
        let (stats, found) = w.verify();
        assert_eq!(found, tids);
        assert!(stats.levels >= 4, "{stats:?}");
        let mut stats = None;
        for part in 0..3 {
            let gone = |t: Tid| t.block.0 % 3 <= part;
            let r = w.index.bulk_delete(&mut s.cx(&w), stats, &mut |t| gone(t)).unwrap();
            let (_, found) = w.verify();
            assert_eq!(found, tids.iter().copied().filter(|t| !gone(*t)).collect());
            stats = Some(r);
        }
        let pages = std::cell::Cell::new(0);
        let count = |_: &bufmgr::BufferUsage| {
            pages.set(pages.get() + 1);
            Ok(())
        };
        let mut cx = s.cx(&w);
        cx.delay = Some(&count);
        w.index.bulk_delete(&mut cx, None, &mut |_| false).unwrap();
        let blocks = cx.nblocks(&w.index.file).unwrap();
        assert_eq!(pages.get(), blocks.0 - 1, "a delay point before each page but the metapage");
        let r = w.index.vacuum_cleanup(&mut s.cx(&w), stats, Some(0.0)).unwrap().unwrap();
        assert!(r.pages_newly_deleted > 400, "{r:?}");
        w.xids.next.fetch_add(1, Ordering::SeqCst);
        w.xids.horizon.store(w.xids.next.load(Ordering::SeqCst), Ordering::SeqCst);
        let r = w.index.vacuum_cleanup(&mut s.cx(&w), None, None).unwrap();
        assert!(r.is_some_and(|r| r.pages_free > 400));
    }
    kinds.append(&mut w.check_redo());
    println!("{kinds:x?}");
    let all = [0x10, 0x20, 0x30, 0x40, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0];
    for kind in all {
        assert!(kinds.contains_key(&kind), "no record {kind:#x}");
    }
}
