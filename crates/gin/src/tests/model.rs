//! Random operations, checked against a map from keys to rows.

use super::*;
use crate::records;
use std::collections::BTreeMap;

struct Run {
    w: Fixture,
    s: Session,
    /// By row: its keys.
    model: BTreeMap<Tid, BTreeSet<i32>>,
    dead: BTreeSet<Tid>,
    rows: u32,
}

impl Run {
    fn new(frames: usize, options: &[(&str, &str)]) -> Run {
        Run {
            w: Fixture::new(frames, options),
            s: Session::new(),
            model: BTreeMap::new(),
            dead: BTreeSet::new(),
            rows: 0,
        }
    }

    fn insert(&mut self, keys: &[i32]) {
        self.rows += 1;
        let tid = tid(self.rows);
        self.w.insert(&mut self.s, keys, tid);
        self.model.insert(tid, keys.iter().copied().collect());
    }

    fn rows_with(&self, test: impl Fn(&BTreeSet<i32>) -> bool) -> BTreeSet<Tid> {
        self.model.iter().filter(|(_, keys)| test(keys)).map(|(tid, _)| *tid).collect()
    }

    fn check(&mut self, rng: &mut Rng, keys: u64) {
        let a = rng.below(keys) as i32;
        let b = rng.below(5) as i32;
        assert_eq!(self.w.rows_of(&mut self.s, a), self.rows_with(|k| k.contains(&a)), "{a}");
        let both = self.w.find(&mut self.s, CONTAINS, &[a, b]);
        let expected = self.rows_with(|k| k.contains(&a) && k.contains(&b));
        assert_eq!(both.into_keys().collect::<BTreeSet<_>>(), expected, "{a} and {b}");
        let any = self.w.find(&mut self.s, OVERLAPS, &[a, b, -1]);
        let expected = self.rows_with(|k| k.contains(&a) || k.contains(&b));
        assert_eq!(any.into_keys().collect::<BTreeSet<_>>(), expected, "{a} or {b}");
        let all = self.w.find(&mut self.s, CONTAINS, &[]);
        assert_eq!(all.len(), self.model.len(), "every array contains an empty one");
    }

    fn vacuum(&mut self) {
        let dead = std::mem::take(&mut self.dead);
        self.w.vacuum(&mut self.s, &mut |tid| dead.contains(&tid));
        self.model.retain(|tid, _| !dead.contains(tid));
        // A row without keys has an entry too.
        let expected: BTreeMap<Tid, usize> =
            self.model.iter().map(|(tid, keys)| (*tid, keys.len().max(1))).collect();
        assert_eq!(self.w.verify(), expected);
    }
}

fn run(seed: u64, steps: u64, keys: u64, options: &[(&str, &str)]) -> BTreeMap<u8, usize> {
    let mut r = Run::new(96, options);
    let mut rng = Rng(seed * 7919 + 1);
    for _ in 0..steps {
        match rng.below(2000) {
            0..=1900 => {
                // A few keys are frequent.
                let own = (0..rng.below(6)).map(|_| match rng.below(3) {
                    0 => rng.below(5) as i32,
                    _ => rng.below(keys) as i32,
                });
                let own: Vec<i32> = own.collect();
                r.insert(&own);
            }
            1901..=1912 => r.check(&mut rng, keys),
            1913..=1990 => {
                let first = rng.below(u64::from(r.rows) + 1) as u32;
                r.dead.extend((first..first + rng.below(60) as u32).map(tid));
            }
            1991..=1993 => drop(r.w.checkpoint()),
            _ => r.vacuum(),
        }
    }
    (0..10).for_each(|_| r.check(&mut rng, keys));
    r.vacuum();
    (0..10).for_each(|_| r.check(&mut rng, keys));
    r.w.check_redo()
}

#[test]
fn random_operations_agree_with_a_map() {
    let mut kinds = BTreeMap::new();
    let direct = [("fastupdate", "off")];
    for (seed, keys, options) in
        [(1, 3000, &[][..]), (2, 40, &direct[..]), (3, 20_000, &direct[..]), (4, 200, &[][..])]
    {
        for (kind, n) in run(seed, 4000, keys, options) {
            *kinds.entry(kind).or_insert(0) += n;
        }
    }
    println!("{kinds:x?}");
    let expected = [
        records::INSERT,
        records::SPLIT,
        records::VACUUM_PAGE,
        records::UPDATE_META_PAGE,
        records::INSERT_LISTPAGE,
        records::DELETE_LISTPAGE,
    ];
    for kind in expected {
        assert!(kinds.contains_key(&kind), "no record {kind:#x}");
    }
}

/// All rows have one key: a large posting tree. Then ranges of rows die, so that pages are deleted,
/// and are used again.
#[test]
fn posting_trees_shrink_and_grow() {
    let mut r = Run::new(256, &[("fastupdate", "off")]);
    for round in 0..2 {
        let first = r.rows;
        (0..20_000).for_each(|n| r.insert(&[5, n % 7 + 10]));
        let (from, to) = (first + 500, first + 19_500);
        r.dead.extend((from..to).map(tid));
        r.vacuum();
        assert_eq!(r.w.rows_of(&mut r.s, 5), r.rows_with(|k| k.contains(&5)), "round {round}");
    }
    let kinds = r.w.check_redo();
    assert!(kinds[&records::DELETE_PAGE] > 1, "{kinds:?}");
    assert!(kinds[&records::VACUUM_DATA_LEAF_PAGE] > 10, "{kinds:?}");
}

/// Rows are inserted in descending order, so that all splits are in the middle of the tree.
#[test]
fn descending_rows_split_the_first_page() {
    let w = Fixture::new(256, &[("fastupdate", "off")]);
    let mut s = Session::new();
    for n in (1..12_000).rev() {
        w.insert(&mut s, &[5], tid(n * 37));
    }
    let found = w.rows_of(&mut s, 5);
    assert_eq!(found, (1..12_000).map(|n| tid(n * 37)).collect());
    assert_eq!(w.verify().len(), 11_999);
    w.check_redo();
}

/// NULL arrays, empty arrays and NULL elements have entries of their own kinds.
#[test]
fn nulls_and_empty_arrays_have_entries() {
    for options in [&[][..], &[("fastupdate", "off")][..]] {
        let w = Fixture::new(64, options);
        let mut s = Session::new();
        let with_null =
            types::array::of_builtin(oids::INT4, &[Datum::int4(1), Datum::Null, Datum::Null]);
        w.insert_value(&mut s, DatumRef::Null, tid(1));
        w.insert(&mut s, &[], tid(2));
        w.insert_value(&mut s, with_null.unwrap().as_ref(), tid(3));
        w.insert(&mut s, &[1, 2], tid(4));
        let rows = |found: BTreeMap<Tid, bool>| found.into_keys().collect::<Vec<_>>();
        for _ in 0..2 {
            assert_eq!(rows(w.find(&mut s, CONTAINS, &[1])), [tid(3), tid(4)]);
            // Every array contains an empty one, except NULL.
            assert_eq!(rows(w.find(&mut s, CONTAINS, &[])), [tid(2), tid(3), tid(4)]);
            let contained = w.find(&mut s, StrategyNumber(3), &[1]);
            assert!(contained.values().all(|recheck| *recheck));
            assert_eq!(rows(contained), [tid(2), tid(3), tid(4)]);
            assert_eq!(rows(w.find(&mut s, StrategyNumber(4), &[])), [tid(2)]);
            w.vacuum(&mut s, &mut |_| false);
        }
        assert_eq!(w.verify().values().copied().collect::<Vec<_>>(), [1, 1, 2, 2]);
    }
}

/// A row with so many keys that its entries need several pages of the pending list.
#[test]
fn a_row_spans_pages_of_the_pending_list() {
    let w = Fixture::new(64, &[("gin_pending_list_limit", "1000")]);
    let mut s = Session::new();
    let keys: Vec<i32> = (0..2000).collect();
    w.insert(&mut s, &[1, 3000], tid(1));
    w.insert(&mut s, &keys, tid(2));
    w.insert(&mut s, &[1999, 3000], tid(3));
    for _ in 0..2 {
        let rows = |found: BTreeSet<Tid>| found.into_iter().collect::<Vec<_>>();
        assert_eq!(rows(w.rows_of(&mut s, 1)), [tid(1), tid(2)]);
        assert_eq!(rows(w.rows_of(&mut s, 1999)), [tid(2), tid(3)]);
        assert_eq!(rows(w.rows_of(&mut s, 3000)), [tid(1), tid(3)]);
        let both = w.find(&mut s, CONTAINS, &[0, 1999]);
        assert_eq!(both.into_keys().collect::<Vec<_>>(), [tid(2)]);
        w.vacuum(&mut s, &mut |_| false);
    }
    let kinds = w.check_redo();
    assert!(kinds[&records::INSERT_LISTPAGE] > 4, "{kinds:?}");
}
