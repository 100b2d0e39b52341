//! Conditions of all kinds on three columns, checked against a filter over the rows with SQL's
//! three-valued logic.

use super::*;
use crate::scan_key::ScanOp;
use access::strategy::btree;
use types::Datum;

type Key = [Option<i32>; 3];

struct Rows {
    w: Fixture,
    /// In index order.
    rows: Vec<(Key, Tid)>,
}

fn rows(seed: u64, options: [(bool, bool); 3]) -> Rows {
    let mut schema = KeySchema::new(vec![int4_column(), int4_column(), int4_column()], 3);
    schema.allequalimage = true;
    for (c, (desc, nulls_first)) in schema.columns.iter_mut().zip(options) {
        (c.desc, c.nulls_first) = (desc, nulls_first);
    }
    let w = Fixture::new(schema, 64);
    let mut rng = Rng(seed);
    let mut s = Session::new();
    let mut heap = TestHeap::default();
    let mut rows = Vec::new();
    for n in 0..4000u32 {
        let mut value = |span: u64| {
            let v = rng.below(span + 1);
            (v < span).then_some(v as i32)
        };
        let key: Key = [value(8), value(12), value(3)];
        let tid = Tid::new(BlockNo(n / 40), (n % 40 + 1) as u16);
        let values = key.map(|k| k.map_or(DatumRef::Null, int));
        let tuple = form(&w.index.schema, &values, tid);
        w.index.insert(&mut s.cx(&w), &tuple, UniqueCheck::No, false, &mut heap).unwrap();
        rows.push((key, tid));
    }
    rows.sort_by(|a, b| {
        for (n, (desc, nulls_first)) in options.into_iter().enumerate() {
            let ord = match (a.0[n], b.0[n]) {
                (Some(x), Some(y)) if desc => y.cmp(&x),
                (Some(x), Some(y)) => x.cmp(&y),
                (x, y) => (x.is_none() != nulls_first).cmp(&(y.is_none() != nulls_first)),
            };
            if ord.is_ne() {
                return ord;
            }
        }
        a.1.cmp(&b.1)
    });
    Rows { w, rows }
}

fn holds(strategy: StrategyNumber, ord: std::cmp::Ordering) -> bool {
    match ScanOp::of(strategy).unwrap() {
        ScanOp::Less => ord.is_lt(),
        ScanOp::LessEqual => ord.is_le(),
        ScanOp::Equal => ord.is_eq(),
        ScanOp::GreaterEqual => ord.is_ge(),
        ScanOp::Greater => ord.is_gt(),
    }
}

fn matches(key: &ScanKey, row: &Key) -> bool {
    let number = |d: &Datum| (!d.is_null()).then(|| d.as_ref().as_i32());
    match key {
        ScanKey::Compare { column, strategy, value, .. } => match (row[*column], number(value)) {
            (Some(a), Some(b)) => holds(*strategy, a.cmp(&b)),
            _ => false,
        },
        ScanKey::IsNull { column } => row[*column].is_none(),
        ScanKey::IsNotNull { column } => row[*column].is_some(),
        ScanKey::Any { column, values, .. } => {
            row[*column].is_some_and(|v| values.iter().any(|d| number(d) == Some(v)))
        }
        ScanKey::Row { strategy, members } => {
            for m in members {
                match (row[m.column], number(&m.value)) {
                    (Some(a), Some(b)) if a != b => return holds(*strategy, a.cmp(&b)),
                    (Some(_), Some(_)) => {}
                    _ => return false,
                }
            }
            holds(*strategy, std::cmp::Ordering::Equal)
        }
    }
}

fn random_key(rng: &mut Rng) -> ScanKey {
    let column = [0, 0, 1, 1, 2][rng.below(5) as usize];
    let spans = [8, 12, 3];
    let value = |rng: &mut Rng, column: usize| match rng.below(30) {
        0 => Datum::Null,
        _ => Datum::int4(rng.below(spans[column] + 2) as i32 - 1),
    };
    let op = StrategyNumber(rng.below(5) as u16 + 1);
    match rng.below(12) {
        0 => ScanKey::IsNull { column },
        1 => ScanKey::IsNotNull { column },
        2 | 3 => {
            let values = (0..rng.below(5)).map(|_| value(rng, column)).collect();
            ScanKey::Any { column, values, support: None, order: None }
        }
        4 | 5 => {
            let strategy = if op == btree::EQUAL { btree::LESS } else { op };
            let columns = [&[0, 1][..], &[0, 1, 2], &[1, 2], &[0, 2], &[1, 0]];
            let members = columns[rng.below(5) as usize]
                .iter()
                .map(|&column| RowMember { column, value: value(rng, column), cmp: None })
                .collect();
            ScanKey::Row { strategy, members }
        }
        6..=8 => ScanKey::compare(column, btree::EQUAL, value(rng, column)),
        _ => ScanKey::compare(column, op, value(rng, column)),
    }
}

#[test]
fn conditions_have_the_semantics_of_sql() {
    let mut rng = Rng(4711);
    let mut found = 0;
    for seed in 1..9u64 {
        let bit = |n: u64| seed >> n & 1 == 1;
        let options = [(bit(0), bit(1)), (bit(1), bit(2)), (bit(2), !bit(0))];
        let r = rows(seed, options);
        let mut s = Session::new();
        for _ in 0..400 {
            let keys: Vec<ScanKey> = (0..rng.below(5)).map(|_| random_key(&mut rng)).collect();
            let expect: Vec<Tid> = r
                .rows
                .iter()
                .filter(|(row, _)| keys.iter().all(|k| matches(k, row)))
                .map(|x| x.1)
                .collect();
            found += expect.len();
            for dir in [Direction::Forward, Direction::Backward] {
                let options = ScanOptions::default();
                let mut scan = TestScan::new(&r.w, keys.clone(), options);
                let mut got = Vec::new();
                while let Some(i) = scan.next(&mut s.cx(&r.w), dir, None) {
                    got.push(i.tid);
                }
                if dir == Direction::Backward {
                    got.reverse();
                }
                // Each combination of array elements is a scan of its own. If a column before the
                // array's has no equality condition, the result is not in index order.
                if keys.iter().any(|k| matches!(k, ScanKey::Any { .. })) {
                    let mut sorted = expect.clone();
                    sorted.sort_unstable();
                    got.sort_unstable();
                    assert_eq!(got, sorted, "{options:?} {keys:?} {dir:?}");
                } else {
                    assert_eq!(got, expect, "{options:?} {keys:?} {dir:?}");
                }
            }
        }
    }
    assert!(found > 300_000);
}

#[test]
fn scans_change_direction_and_return_to_marks() {
    let r = rows(3, [(false, false), (true, true), (false, true)]);
    let mut rng = Rng(8);
    let mut s = Session::new();
    let keys = vec![ScanKey::compare(0, btree::GREATER_EQUAL, Datum::int4(1))];
    let expect: Vec<Tid> =
        r.rows.iter().filter(|(row, _)| matches(&keys[0], row)).map(|x| x.1).collect();
    let options = ScanOptions { want_tuples: true, ..ScanOptions::default() };
    let mut scan = TestScan::new(&r.w, keys, options);
    // Position 0 is before the first row.
    let (mut at, mut marked) = (0, None);
    let mut moves = 0;
    while moves < 30_000 {
        let forward = rng.below(100) < 55;
        for _ in 0..rng.below(300) {
            moves += 1;
            let dir = if forward { Direction::Forward } else { Direction::Backward };
            if (forward && at == expect.len()) || (!forward && at <= 1) {
                break;
            }
            at = if forward { at + 1 } else { at - 1 };
            let mut visible = |block: BlockNo| Ok(block.0.is_multiple_of(2));
            let item = scan.next(&mut s.cx(&r.w), dir, Some(&mut visible)).unwrap();
            assert_eq!(item.tid, expect[at - 1]);
            assert_eq!(item.all_visible, item.tid.block.0.is_multiple_of(2));
            let key = r.rows.iter().find(|x| x.1 == item.tid).unwrap().0;
            let tuple = scan.tuple(&item).unwrap();
            let mut scratch = Vec::new();
            for (n, k) in key.into_iter().enumerate() {
                let value = r.w.index.schema.column(tuple, n, &mut scratch).unwrap();
                assert_eq!(value, k.map_or(DatumRef::Null, int));
            }
        }
        match rng.below(4) {
            0 if at > 0 => {
                scan.mark();
                marked = Some(at);
            }
            1 => {
                if let Some(m) = marked {
                    scan.restore(&mut s.cx(&r.w));
                    at = m;
                }
            }
            _ => {}
        }
    }
}

#[test]
fn values_are_replaced_in_place() {
    let r = rows(5, [(false, false), (false, false), (false, false)]);
    let mut s = Session::new();
    let equal = |column, value| ScanKey::compare(column, btree::EQUAL, value);
    let keys = vec![equal(1, Datum::Null), ScanKey::IsNotNull { column: 2 }, equal(0, Datum::Null)];
    let mut scan = TestScan::new(&r.w, keys, ScanOptions::default());
    let mut cx = s.cx(&r.w);
    assert!(scan.next(&mut cx, Direction::Forward, None).is_none());
    for (a, b) in (0..8).flat_map(|a| (0..12).map(move |b| (a, b))) {
        scan.rescan_values(&mut cx, &[int(b), DatumRef::Null, int(a)]);
        let mut got = Vec::new();
        while let Some(i) = scan.next(&mut cx, Direction::Forward, None) {
            got.push(i.tid);
        }
        let fits = |k: &Key| k[0] == Some(a) && k[1] == Some(b) && k[2].is_some();
        let expect: Vec<Tid> = r.rows.iter().filter(|x| fits(&x.0)).map(|x| x.1).collect();
        assert_eq!(got, expect);
    }
}
