//! Random operations, checked against a map from keys to rows.

use super::*;
use crate::records;

type Model = BTreeMap<i32, BTreeSet<Tid>>;

struct Run {
    w: Fixture,
    s: Session,
    heap: TestHeap,
    model: Model,
    /// Rows that VACUUM removes, and scans may mark.
    dead: BTreeSet<Tid>,
    rows: u32,
}

impl Run {
    fn new(frames: usize, fillfactor: u32) -> Run {
        Run {
            w: Fixture::new(frames, fillfactor, 0.0),
            s: Session::new(),
            heap: TestHeap::default(),
            model: Model::new(),
            dead: BTreeSet::new(),
            rows: 0,
        }
    }

    fn insert(&mut self, key: i32) {
        self.rows += 1;
        let tid = Tid::new(BlockNo(self.rows / 100), (self.rows % 100 + 1) as u16);
        self.w.insert(&mut self.s, key, tid, &mut self.heap);
        self.model.entry(key).or_default().insert(tid);
    }

    /// Some or all rows of a key die.
    fn kill(&mut self, key: i32, some: bool) {
        let Some(rows) = self.model.get(&key) else { return };
        let dying = rows.iter().enumerate().filter(|(n, _)| !some || n % 3 == 0).map(|(_, t)| *t);
        self.dead.extend(dying);
    }

    fn check_key(&mut self, key: i32) {
        let found = self.w.find(&mut self.s, key, &self.dead);
        let rows = self.model.get(&key).cloned().unwrap_or_default();
        assert!(found.is_subset(&rows), "key {key}");
        let lost: BTreeSet<Tid> = &(&rows - &found) - &self.dead;
        assert_eq!(lost, BTreeSet::new(), "key {key}");
    }

    fn vacuum(&mut self) {
        let counted = self.w.vacuum(&mut self.s, &self.dead);
        for rows in self.model.values_mut() {
            rows.retain(|tid| !self.dead.contains(tid));
        }
        self.dead.clear();
        let rows: BTreeSet<Tid> = self.model.values().flatten().copied().collect();
        assert_eq!(self.w.verify(), rows);
        assert_eq!(counted as usize, rows.len());
    }
}

fn run(seed: u64, steps: u64, keys: u64, fillfactor: u32) -> BTreeMap<u8, usize> {
    let mut r = Run::new(64, fillfactor);
    let mut rng = Rng(seed * 7919 + 1);
    for _ in 0..steps {
        // A few keys have many rows.
        let key = if rng.below(3) == 0 { rng.below(3) } else { rng.below(keys) } as i32;
        match rng.below(1000) {
            0..=900 => r.insert(key),
            901..=960 => r.check_key(key),
            961..=994 => r.kill(key, rng.below(2) == 0),
            995..=996 => drop(r.w.checkpoint()),
            _ => r.vacuum(),
        }
    }
    (0..keys as i32).for_each(|key| r.check_key(key));
    r.vacuum();
    r.w.check_redo()
}

#[test]
fn random_operations_agree_with_a_map() {
    let mut kinds = BTreeMap::new();
    for (seed, keys, fillfactor) in [(1, 2000, 75), (2, 300, 10), (3, 20_000, 10), (4, 40, 30)] {
        for (kind, n) in run(seed, 12_000, keys, fillfactor) {
            *kinds.entry(kind).or_insert(0) += n;
        }
    }
    println!("{kinds:x?}");
    for kind in (0..=12).map(|n| n << 4) {
        assert!(kinds.contains_key(&kind), "no record {kind:#x}");
    }
}

/// All rows have one hash code: one long chain. Then most of them die, so that many pages are
/// freed, and are used again.
#[test]
fn long_chains_shrink_and_grow() {
    let mut r = Run::new(256, 75);
    for _ in 0..3 {
        (0..20_000).for_each(|_| r.insert(5));
        let pages = r.w.pages().len();
        r.kill(5, true);
        r.vacuum();
        r.check_key(5);
        r.kill(5, false);
        r.vacuum();
        r.check_key(5);
        assert!(r.w.pages().len() < pages + 2);
    }
    let kinds = r.w.check_redo();
    let moved = kinds[&records::MOVE_PAGE_CONTENTS];
    assert!(moved > 10 && kinds[&records::SQUEEZE_PAGE] > 100, "{kinds:?}");
}

/// More overflow pages than one bitmap page has bits.
#[test]
fn second_bitmap_page() {
    let w = Fixture::new(512, 75, 0.0);
    let mut s = Session::new();
    let bits = page::hash::BITMAP_BITS;
    {
        // As if all overflow pages of the first bitmap had been allocated.
        let mut cx = s.cx(&w);
        let mut meta = w.index.meta_exclusive(&mut cx).unwrap();
        let mut edit = w.index.edit(&mut cx);
        let page = edit.change(&mut meta, 0, wal::RegFlags::FORCE_IMAGE);
        let mut m = page::hash::MetaMut(page);
        let splitpoint = page::hash::Meta(m.0).splitpoint();
        m.set_splitpoint(splitpoint, bits);
        m.set_first_free(bits);
        edit.log_as(RmgrId::Xlog, 0xB0).unwrap();
        drop(meta);
        let end = w.pool.nblocks(&w.index.file.main).unwrap();
        let count = bits + 2 + 1 - end;
        drop(cx.pool.extend_by(&w.index.file.main, count, cx.strategy).unwrap());
    }
    let mut heap = TestHeap::default();
    for n in 0..2000u32 {
        w.insert(&mut s, 5, Tid::new(BlockNo(n / 100), (n % 100 + 1) as u16), &mut heap);
    }
    assert_eq!(w.find(&mut s, 5, &BTreeSet::new()).len(), 2000);
    let mut cx = s.cx(&w);
    let meta = w.index.meta_share(&mut cx).unwrap();
    assert_eq!(page::hash::Meta(&meta).bitmaps(), 2);
    assert!(page::hash::Meta(&meta).first_free() > bits + 1);
}

/// Insertion removes dead items from a full page.
#[test]
fn dead_items_make_room() {
    let w = Fixture::new(64, 100, 0.0);
    let mut s = Session::new();
    let mut heap = TestHeap::default();
    let mut rows = BTreeSet::new();
    let mut row = 0u32;
    for _ in 0..20 {
        for _ in 0..200 {
            row += 1;
            let tid = Tid::new(BlockNo(row / 100), (row % 100 + 1) as u16);
            w.insert(&mut s, 7, tid, &mut heap);
            rows.insert(tid);
        }
        let found = w.find(&mut s, 7, &rows);
        assert!(found.is_superset(&rows));
        rows.clear();
        assert_eq!(w.find(&mut s, 7, &rows).len(), 0, "killed items are not returned");
    }
    assert!(heap.deletions > 5);
    assert!(w.pages().len() < 12, "{} pages", w.pages().len());
    assert!(w.check_redo()[&records::VACUUM_ONE_PAGE] > 5);
}
