//! Random operations, checked against a map from rows to points.

use super::*;
use crate::records;

struct Run {
    w: Fixture,
    s: Session,
    model: BTreeMap<Tid, (i32, i32)>,
    dead: BTreeSet<Tid>,
    rows: u32,
    /// Coordinates are less.
    extent: i32,
}

impl Run {
    fn new(frames: usize, extent: i32) -> Run {
        Run {
            w: Fixture::new(frames, &[]),
            s: Session::new(),
            model: BTreeMap::new(),
            dead: BTreeSet::new(),
            rows: 0,
            extent,
        }
    }

    fn insert(&mut self, p: (i32, i32)) {
        self.rows += 1;
        let tid = tid(self.rows);
        self.w.insert(&mut self.s, p, tid);
        self.model.insert(tid, p);
    }

    fn check(&mut self, rng: &mut Rng) {
        let mut random = || rng.below(self.extent as u64) as i32;
        let ((x, y), side) = ((random(), random()), random() / 8);
        let inside =
            |(a, b): (i32, i32)| (x..=x + side).contains(&a) && (y..=y + side).contains(&b);
        let keys = vec![ScanKey::compare(0, WITHIN, square(x, y, side))];
        let found = self.w.find(&mut self.s, keys);
        let rows = self.model.iter().filter(|(_, p)| inside(**p));
        let expected: BTreeMap<Tid, Vec<u8>> =
            rows.map(|(tid, p)| (*tid, point(p.0, p.1).as_ref().as_bytes().to_vec())).collect();
        assert_eq!(found, expected);
        assert_eq!(self.w.find(&mut self.s, Vec::new()).len(), self.model.len());
    }

    fn vacuum(&mut self) -> access::BulkDeleteResult {
        let dead = std::mem::take(&mut self.dead);
        let stats = self.w.vacuum(&mut self.s, &mut |tid| dead.contains(&tid));
        self.model.retain(|tid, _| !dead.contains(tid));
        assert_eq!(stats.num_index_tuples, self.model.len() as f64);
        let expected: BTreeMap<Tid, usize> = self.model.keys().map(|tid| (*tid, 1)).collect();
        assert_eq!(self.w.verify(), expected);
        stats
    }
}

fn run(seed: u64, steps: u64, extent: i32) -> BTreeMap<u8, usize> {
    let mut r = Run::new(96, extent);
    let mut rng = Rng(seed * 7919 + 1);
    for _ in 0..steps {
        match rng.below(2000) {
            0..=1900 => {
                // Half of the points are near each other.
                let near = if rng.below(2) == 0 { 1 } else { 20 };
                let mut random = || rng.below((extent as u64 / near).max(1)) as i32;
                let p = (random(), random());
                r.insert(p);
            }
            1901..=1912 => r.check(&mut rng),
            1913..=1990 => {
                let first = rng.below(u64::from(r.rows) + 1) as u32;
                let last = (first + rng.below(60) as u32).min(r.rows);
                r.dead.extend((first..last).map(tid));
            }
            1991..=1993 => drop(r.w.checkpoint()),
            _ => drop(r.vacuum()),
        }
    }
    (0..10).for_each(|_| r.check(&mut rng));
    r.vacuum();
    (0..10).for_each(|_| r.check(&mut rng));
    r.w.check_redo()
}

#[test]
fn random_operations_agree_with_a_map() {
    let mut kinds = BTreeMap::new();
    for (seed, extent) in [(1, 3000), (2, 10), (3, 100_000), (4, 1)] {
        for (kind, n) in run(seed, 6000, extent) {
            *kinds.entry(kind).or_insert(0) += n;
        }
    }
    for kind in [records::PAGE_UPDATE, records::PAGE_SPLIT] {
        assert!(kinds.contains_key(&kind), "no record {kind:#x}");
    }
}

/// Ranges of rows that are near each other die, so that pages are deleted, and are used again.
#[test]
fn empty_pages_are_deleted_and_used_again() {
    let mut r = Run::new(256, 1 << 20);
    let mut pages = 0;
    for round in 0..3 {
        let first = r.rows;
        (0..8000).for_each(|n| r.insert((round * 9000 + n, n)));
        r.dead.extend((first + 100..first + 7900).map(tid));
        let stats = r.vacuum();
        assert!(stats.pages_newly_deleted > 10, "{stats:?}");
        let again = r.vacuum();
        assert!(again.pages_free >= stats.pages_newly_deleted, "{again:?}");
        let size = r.w.pages().len();
        assert!(round == 0 || size < pages + 40, "{size} pages after {pages}");
        pages = size;
    }
    let kinds = r.w.check_redo();
    assert!(kinds[&records::PAGE_DELETE] > 30, "{kinds:?}");
    assert!(kinds[&records::PAGE_REUSE] > 30, "{kinds:?}");
}

#[test]
fn nulls_are_found_by_null_tests_only() {
    let w = Fixture::new(64, &[]);
    let mut s = Session::new();
    for n in 1..2000 {
        match n % 3 {
            0 => w.insert_value(&mut s, DatumRef::Null, tid(n)),
            _ => w.insert(&mut s, (n as i32, 5), tid(n)),
        }
    }
    let nulls = w.find(&mut s, vec![ScanKey::IsNull { column: 0 }]);
    assert_eq!(
        nulls.into_keys().collect::<Vec<_>>(),
        (1..667).map(|n| tid(3 * n)).collect::<Vec<_>>()
    );
    assert_eq!(w.find(&mut s, vec![ScanKey::IsNotNull { column: 0 }]).len(), 1333);
    assert_eq!(w.within(&mut s, (0, 0), 3000).len(), 1333);
    let key = ScanKey::compare(0, WITHIN, Datum::Null);
    assert_eq!(w.find(&mut s, vec![key]).len(), 0);
    w.verify();
    w.check_redo();
}

/// Items that a scan reports as dead are skipped, and removed when their page is full.
#[test]
fn killed_items_are_removed_by_insertions() {
    let w = Fixture::new(64, &[]);
    let mut s = Session::new();
    (1..100).for_each(|n| w.insert(&mut s, (n as i32, 0), tid(n)));
    let mut scan = w.index.clone().begin_scan(Vec::new(), ScanOptions::default()).unwrap();
    let mut page = ScanPage::default();
    let mut cx = s.cx(&w);
    drop(scan.next_page(&mut cx, Direction::Forward, &mut page, None).unwrap());
    for (n, item) in page.items.iter().enumerate() {
        if item.tid.offset % 2 == 0 {
            scan.kill(n, item);
        }
    }
    scan.end(&mut cx).unwrap();
    let found = w.within(&mut s, (0, 0), 1000);
    assert!(found.iter().all(|tid| tid.offset % 2 == 1) && found.len() > 40);
    (1..200).for_each(|n| w.insert(&mut s, (n as i32, 1), tid(1000 + n)));
    let kinds = w.check_redo();
    assert_eq!(kinds.get(&records::DELETE), Some(&1), "{kinds:?}");
}

/// Two columns, in each of which many values are NULL or equal.
#[test]
fn columns_with_nulls_are_divided() {
    for seed in 1..6 {
        let mut w = Fixture::new(256, &[]);
        let def = definition_of(w.index.file.rel, &[], Persistence::Permanent, 2);
        let file = IndexFile::open(&w.pool, def.file, def.persistence);
        w.index = Arc::new(GistIndex::new(file, &def, Arc::new(Shared::new(seed))).unwrap());
        let (mut s, mut rng) = (Session::new(), Rng(seed * 77));
        let mut rows = Vec::new();
        for n in 1..4000 {
            let mut random = || match rng.below(4) {
                0 => None,
                1 => Some((7, 7)),
                _ => Some((rng.below(500) as i32, rng.below(500) as i32)),
            };
            let row = [random(), random()];
            let values = row.map(|p| p.map_or(Datum::Null, |(x, y)| point(x, y)));
            let mut entry = Vec::new();
            let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
            let new = Row { values: &refs, compressed: &[], tid: tid(n) };
            w.index.form(&new, &mut entry).unwrap();
            let how = Insert { check: UniqueCheck::No, unchanged: false };
            w.index.insert(&mut s.cx(&w), &entry, how, &mut NoHeap).unwrap();
            rows.push((tid(n), row));
        }
        assert_eq!(w.verify().len(), rows.len());
        let inside = |p: Option<(i32, i32)>| {
            p.is_some_and(|(x, y)| (0..=90).contains(&x) && (0..=90).contains(&y))
        };
        let key = |column| ScanKey::compare(column, WITHIN, square(0, 0, 90));
        for (keys, test) in [
            (vec![key(0)], &(|r: &[_; 2]| inside(r[0])) as &dyn Fn(&[_; 2]) -> bool),
            (vec![key(1)], &|r| inside(r[1])),
            (vec![key(1), ScanKey::IsNull { column: 0 }], &|r| inside(r[1]) && r[0].is_none()),
            (vec![key(0), ScanKey::IsNotNull { column: 1 }], &|r| inside(r[0]) && r[1].is_some()),
        ] {
            let expected: Vec<Tid> =
                rows.iter().filter(|(_, r)| test(r)).map(|(tid, _)| *tid).collect();
            assert_eq!(w.find(&mut s, keys).into_keys().collect::<Vec<_>>(), expected);
        }
        w.check_redo();
    }
}
